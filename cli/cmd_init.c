// sarrus init DIR: writes a project that builds: a model, laws of its own in C, a Makefile.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "template.h"

// A folder that is new or empty; nobody's files are overwritten.
static bool folder_ready(Cli* cli, const char* path) {
  if (mkdir(path, 0777) == 0) return true;
  if (errno != EEXIST) return cli_error(cli, "the folder '%s' could not be made: %s", path, strerror(errno)), false;
  DIR* folder = opendir(path);
  if (!folder) return cli_error(cli, "'%s' is not a folder that can be read: %s", path, strerror(errno)), false;
  bool empty = true;
  for (const struct dirent* entry; empty && (entry = readdir(folder)) != NULL;)
    empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
  closedir(folder);
  if (!empty) cli_error(cli, "the folder '%s' is not empty; give the name of a new one", path);
  return empty;
}

// The folder of the headers that belong to this program: beside it in a build, or in the tree where it is installed. False: not found.
static bool find_headers(char* out, size_t size) {
  static const char* const places[] = {"include", "../include"};
  char program[PROGRAM_FOLDER_SIZE], path[4200], header[4300];
  if (!program_folder(program)) return false;
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", program, places[i]);
    snprintf(header, sizeof header, "%s/sarrus/force.h", path);
    char* real = access(header, R_OK) == 0 ? realpath(path, NULL) : NULL;
    const bool found = real && strlen(real) < size;
    if (found) strcpy(out, real);
    free(real);
    if (found) return true;
  }
  return false;
}

// The lines of the Makefile that say where the headers are. What make would read in a path is escaped.
static bool put_headers(FILE* file) {
  char folder[4096];
  bool good = fputs(
                  "# Builds the laws of this project with the headers of Sarrus: those of the program that wrote this "
                  "file, or others:\n"
                  "#   make SARRUS_INCLUDE=/path/to/sarrus/include\n"
                  "# Without a folder they are found by pkg-config.\n"
                  "SARRUS_INCLUDE ?= ",
                  file) >= 0;
  if (find_headers(folder, sizeof folder)) {
    for (const char* p = folder; *p; p++) {
      if (*p == '$') fputc('$', file);
      if (*p == '#') fputc('\\', file);
      good = fputc(*p, file) >= 0 && good;
    }
  }
  return fputc('\n', file) >= 0 && good;
}

static bool write_file(Cli* cli, const char* folder, const TemplateFile* f) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, f->name) >= (int)sizeof path)
    return cli_error(cli, "the name of the folder is too long"), false;
  FILE* file = fopen(path, "wx");
  bool good = file != NULL;
  if (file) {
    good = strcmp(f->name, "Makefile") != 0 || put_headers(file);
    good = fputs(f->text, file) >= 0 && fputs(f->rest, file) >= 0 && good;
    good = fclose(file) == 0 && good;
  }
  if (!good) cli_error(cli, "'%s' could not be written: %s", path, strerror(errno));
  return good;
}

int cmd_init(Cli* cli, const Verb* verb, int argc, char** argv) {
  const char* folder = NULL;
  int status = EXIT_DONE;
  const Option options[] = {VERBOSE_OPTION(cli),
                            {"--json", OPTION_FLAG, &cli->json, NULL, "print one JSON object on standard output"}};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &folder, &status) != 0)
    return status;
  if (!folder_ready(cli, folder)) return cli_refuse(cli, EXIT_INPUT);
  for (int i = 0; i < template_file_count; i++)
    if (!write_file(cli, folder, &template_files[i])) return cli_refuse(cli, EXIT_INPUT);
  if (cli->json) {
    srText text = {0};
    srJson json = sr_json_begin(&text);
    sr_json_text(&json, "folder", folder);
    sr_json_array(&json, "files");
    for (int i = 0; i < template_file_count; i++) sr_json_text(&json, NULL, template_files[i].name);
    sr_json_array_end(&json);
    sr_json_end(&json);
    cli_print(cli, &text);
    return EXIT_DONE;
  }
  if (cli->quiet) return EXIT_DONE;
  printf("%s/ holds a new project:\n", folder);
  for (int i = 0; i < template_file_count; i++) printf("  %s\n", template_files[i].name);
  printf("next:\n  make -C %s\n  sarrus run %s/model.xml --plugins\n", folder, folder);
  return EXIT_DONE;
}
