// Fused multiply-adds round once where the recursions round twice: the results agree to rounding, and no flag may change more (-ffast-math would).
#define _XOPEN_SOURCE 700
#include "generated/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void add(srCompilerCall* c, char* word) {
  if (c->n < SR_COMPILER_WORDS) c->argument[c->n++] = word;
  c->argument[c->n] = NULL;
}

// The file of a command: its own path, or the first of that name in the folders of PATH.
static bool path_of(const char* command, char path[SR_PATH_SIZE]) {
  const char* folders = getenv("PATH");
  if (strchr(command, '/'))
    return snprintf(path, SR_PATH_SIZE, "%s", command) < SR_PATH_SIZE && access(path, X_OK) == 0;
  for (const char* at = folders; at != NULL && *at != '\0';) {
    const size_t n = strcspn(at, ":");
    const int size = snprintf(path, SR_PATH_SIZE, "%.*s/%s", (int)n, at, command);
    if (n > 0 && size < SR_PATH_SIZE && access(path, X_OK) == 0) return true;
    at += n + (at[n] == ':');
  }
  return false;
}

bool sr_compiler_find(srCompilerCall* c, bool large, int lanes, srReason* reason) {
  static char flags[][24] = {"-std=gnu99", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fPIC", "-shared",
                             "-w"};
  static char low[] = "-O1", high[] = "-O3", four[] = "-DSR_LANES=4", eight[] = "-DSR_LANES=8";
  const char* given = getenv("CC");
  char path[SR_PATH_SIZE], *rest = NULL;
  *c = (srCompilerCall){0};
  (void)snprintf(c->words, sizeof c->words, "%s", given != NULL && *given != '\0' ? given : "cc");
  for (char* word = strtok_r(c->words, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) add(c, word);
  if (c->n == 0 || c->n > SR_COMPILER_WORDS / 2 || !path_of(c->argument[0], path)) {
    (void)snprintf(reason->text, sizeof reason->text, "there is no C compiler '%.60s' (install one, or set CC)",
                   c->n > 0 ? c->argument[0] : "");
    return false;
  }
  for (int i = 0; i < SR_COUNT(flags); i++) add(c, flags[i]);
  add(c, large ? low : high);
  if (lanes == 4 || lanes == 8) add(c, lanes == 4 ? four : eight);
  return true;
}

// The line of /proc/cpuinfo that names the instructions of the processor: -march=native depends on it.
static void hash_processor(srSha256* to) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  char line[4096];
  int found = 0;
  while (file != NULL && found < 2 && fgets(line, sizeof line, file) != NULL) {
    const bool instructions = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
    if (!instructions && strncmp(line, "model name", 10) != 0) continue;
    sr_sha256_add(to, line, strlen(line));
    found++;
  }
  if (file != NULL) (void)fclose(file);
}

void sr_compiler_hash(const srCompilerCall* c, srSha256* to) {
  char path[SR_PATH_SIZE];
  struct stat s;
  for (int i = 0; i < c->n; i++) sr_sha256_add(to, c->argument[i], strlen(c->argument[i]) + 1);
  if (path_of(c->argument[0], path) && stat(path, &s) == 0) {
    const long long version[] = {(long long)s.st_size, (long long)s.st_mtime, (long long)s.st_ino};
    sr_sha256_add(to, path, strlen(path) + 1);
    sr_sha256_add(to, version, sizeof version);
  }
  hash_processor(to);
}

static void first_line(const char* path, srReason* reason) {
  FILE* file = fopen(path, "r");
  char line[120] = "";
  while (file != NULL && fgets(line, sizeof line, file) != NULL && line[strspn(line, " \t\r\n")] == '\0') {}
  line[strcspn(line, "\r\n")] = '\0';
  if (file != NULL) (void)fclose(file);
  (void)snprintf(reason->text, sizeof reason->text, "the compiler failed: %s", line[0] ? line : "it says nothing");
}

static int call(char* const* argument, const char* log) {
  posix_spawn_file_actions_t files;
  pid_t child;
  int status = -1;
  if (posix_spawn_file_actions_init(&files) != 0) return -1;
  (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
  (void)posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int error = posix_spawnp(&child, argument[0], &files, NULL, argument, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  if (error != 0) return -1;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool sr_compiler_run(const srCompilerCall* c, const char* work, const char* source, srReason* reason) {
  char paths[3][SR_PATH_SIZE], to[] = "-o", mathematics[] = "-lm";
  srCompilerCall full = *c;
  const char* const names[] = {source, "code.so", "log"};
  for (int i = 0; i < 3; i++) (void)snprintf(paths[i], sizeof paths[i], "%s/%s", work, names[i]);
  char* const more[] = {to, paths[1], paths[0], mathematics, NULL};
  memcpy(full.argument + c->n, more, sizeof more);
  if (call(full.argument, paths[2]) == 0 && access(paths[1], R_OK) == 0) return true;
  first_line(paths[2], reason);
  return false;
}
