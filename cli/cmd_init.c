// sarrus init DIR: writes a project that builds: a model, laws of its own in C, a Makefile.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

static bool write_file(Cli* cli, const char* folder, const TemplateFile* f) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, f->name) >= (int)sizeof path)
    return cli_error(cli, "the name of the folder is too long"), false;
  FILE* file = fopen(path, "wx");
  bool good = file != NULL;
  if (file) {
    good = fputs(f->text, file) >= 0;
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
