// Files that verbs write: one rule for all of them (docs/using/cli.md, "Files that are written").
//   -  is standard output; the report goes to standard error then, and --json, which is for standard output too, is refused
//   an output is none of the inputs, and its suffix is that of what it holds
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char standard_output[] = "/dev/stdout";

bool output_is_stdout(const char* path) {
  return path &&
         (strcmp(path, standard_output) == 0 || strcmp(path, "/dev/fd/1") == 0 || strcmp(path, "/proc/self/fd/1") == 0);
}

static bool is_same_file(const struct stat* a, const struct stat* b) {
  return S_ISREG(a->st_mode) && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

// "--out x.csv > x.csv": the report would be written into the table, or lost.
static bool is_redirected_to(const char* path) {
  struct stat a, b;
  return stat(path, &a) == 0 && fstat(STDOUT_FILENO, &b) == 0 && is_same_file(&a, &b);
}

bool output_begin(Cli* cli, const char* option, const char** path, srContent content) {
  if (!*path) return true;
  if (strcmp(*path, "-") == 0) *path = standard_output;
  if (output_is_stdout(*path)) {
    if (cli->json) return cli_error(cli, "--json and %s - both want standard output", option), false;
    cli->report = stderr;
    return true;
  }
  if (is_redirected_to(*path))
    return cli_error(cli, "%s: standard output goes to the file '%s', too", option, *path), false;
  return sr_output_fits(*path, content, cli->messages);
}

bool output_is_free(Cli* cli, const char* output, const char* input) {
  struct stat a, b;
  if (!output || !input || output_is_stdout(output) || stat(output, &a) != 0 || stat(input, &b) != 0) return true;
  if (!is_same_file(&a, &b)) return true;
  cli_error(cli, "'%s' is read and would be replaced by the result: give the result another name", output);
  return false;
}

bool folder_begin(Cli* cli, const char* option, const char* path) {
  struct stat there;
  if (!path) return true;
  if (strcmp(path, "-") == 0)
    return cli_error(cli, "%s takes a folder for its figures, not '-', which is standard output", option), false;
  if (stat(path, &there) == 0 && !S_ISDIR(there.st_mode))
    return cli_error(cli, "%s takes a folder for its figures; '%s' is a file", option, path), false;
  return true;
}
