// Files and paths. The only place of the readers that asks the operating system for anything.
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700  // realpath
#endif
#include "io/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#define LONGEST_PATH 4096
static bool real_path(const char* path, char* out) { return _fullpath(out, path, LONGEST_PATH) != NULL; }
#else
#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#define LONGEST_PATH PATH_MAX
static bool real_path(const char* path, char* out) { return realpath(path, out) != NULL; }
#endif

static const char* reason(srPool* pool, int code) { return sr_pool_printf(pool, "cannot be read: %s", strerror(code)); }

// Reads until the end; the buffer doubles. The copy in the pool is the last one made.
static char* read_all(srPool* pool, FILE* file, size_t max_size, size_t* size, const char** why) {
  size_t n = 0, capacity = 1 << 16;
  char* buffer = sr_alloc(capacity);
  for (size_t got = 1; buffer && got > 0 && n <= max_size;) {
    got = fread(buffer + n, 1, capacity - n, file);
    n += got;
    if (n < capacity) continue;
    char* larger = sr_alloc(2 * capacity);
    if (larger) memcpy(larger, buffer, n);
    sr_free(buffer);
    buffer = larger;
    capacity *= 2;
  }
  const int code = errno;
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (!buffer) longjmp(*pool->on_fail, 1);

  if (failed || n > max_size) {
    sr_free(buffer);
    *why = failed ? reason(pool, code) : sr_pool_printf(pool, "is larger than %d MiB", (int)(max_size >> 20));
    return NULL;
  }
  jmp_buf* outer = pool->on_fail;
  pool->on_fail = NULL;
  char* text = sr_pool_text_n(pool, buffer, n);
  pool->on_fail = outer;
  sr_free(buffer);
  if (!text) longjmp(*pool->on_fail, 1);
  *size = n;
  return text;
}

char* sr_file_read(srPool* pool, const char* path, size_t max_size, size_t* size, const char** why) {
  errno = 0;
  FILE* file = fopen(path, "rb");
  if (!file) {
    *why = reason(pool, errno);
    return NULL;
  }
  return read_all(pool, file, max_size, size, why);
}

static bool is_separator(char c) {
#ifdef _WIN32
  return c == '/' || c == '\\';
#else
  return c == '/';
#endif
}

const char* sr_path_folder(srPool* pool, const char* path) {
  size_t n = strlen(path);
  while (n > 0 && !is_separator(path[n - 1])) n--;
  if (n == 0) return ".";
  while (n > 1 && is_separator(path[n - 1])) n--;
  return sr_pool_text_n(pool, path, n);
}

const char* sr_path_join(srPool* pool, const char* folder, const char* name) {
  if (!folder || !*folder || strcmp(folder, ".") == 0) return sr_pool_text(pool, name);
  const bool slash = is_separator(folder[strlen(folder) - 1]);
  return sr_pool_printf(pool, slash ? "%s%s" : "%s/%s", folder, name);
}

// Backslashes and drive letters are refused everywhere, so that a model is as safe on one system as on another.
const char* sr_path_problem(const char* path) {
  if (!*path) return "is empty";
  if (path[0] == '/') return "is an absolute path; it must lie in the folder of the model";
  if (strchr(path, '\\') || strchr(path, ':'))
    return "holds \\ or :; write it with / and inside the folder of the model";
  for (const char* p = path; p; p = strchr(p, '/')) {
    if (*p == '/') p++;
    if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
      return "leaves the folder of the model by ..; it must lie inside";
  }
  return NULL;
}

static bool lies_inside(const char* folder, const char* path) {
  const size_t n = strlen(folder);
  if (strncmp(folder, path, n) != 0) return false;
  return is_separator(path[n]) || (n > 0 && is_separator(folder[n - 1]));
}

const char* sr_path_inside(srPool* pool, const char* folder, const char* name, const char** why) {
  char real_folder[LONGEST_PATH + 1], real[LONGEST_PATH + 1];
  *why = sr_path_problem(name);
  if (*why) return NULL;
  const char* path = sr_path_join(pool, folder, name);
  if (!real_path(folder && *folder ? folder : ".", real_folder) || !real_path(path, real)) {
    *why = reason(pool, errno);
    return NULL;
  }
  if (!lies_inside(real_folder, real)) {
    *why = "is a link that leads out of the folder of the model";
    return NULL;
  }
  return sr_pool_text(pool, real);
}

bool sr_path_same_folder(const char* a, const char* b) {
  char real_a[LONGEST_PATH + 1], real_b[LONGEST_PATH + 1];
  const char *left = a && *a ? a : ".", *right = b && *b ? b : ".";
  if (strcmp(left, right) == 0) return true;
  return real_path(left, real_a) && real_path(right, real_b) && strcmp(real_a, real_b) == 0;
}

const char* sr_path_real(srPool* pool, const char* path) {
  char real[LONGEST_PATH + 1];
  return real_path(path && *path ? path : ".", real) ? sr_pool_text(pool, real) : NULL;
}

bool sr_path_is_file(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && (about.st_mode & S_IFMT) == S_IFREG;
}

const char* sr_path_relative(srPool* pool, const char* folder, const char* path) {
  const char *base = sr_path_real(pool, folder), *real = sr_path_real(pool, path);
  const size_t length = folder ? strlen(folder) : 0;
  if (!base || !real) {
    const bool below = length > 0 && strncmp(path, folder, length) == 0 && is_separator(path[length]);
    return sr_pool_text(pool, below ? path + length + 1 : path);
  }
  size_t same = 0, i = 0;  // same: length of what both have, up to behind a separator
  for (; base[i] && base[i] == real[i]; i++)
    if (is_separator(base[i])) same = i + 1;
  if (!base[i] && is_separator(real[i])) same = i + 1;  // the folder itself holds it
  if (same <= 1 && !(base[0] && !base[1])) return real;
  const char* climb = "";
  for (const char* p = base + (same > i ? i : same); *p; p++)
    if (p == base + same || is_separator(p[-1])) climb = sr_pool_printf(pool, "../%s", climb);
  return sr_pool_printf(pool, "%s%s", climb, real + same);
}

// Where the two paths part: behind the last separator that both have.
static size_t common_part(const char* a, const char* b) {
  size_t n = 0, i = 0;
  for (; a[i] && a[i] == b[i]; i++)
    if (is_separator(a[i])) n = i + 1;
  return !a[i] && is_separator(b[i]) ? i + 1 : n;
}

const char* sr_path_seen_from(srPool* pool, const char* viewer, const char* folder, const char* name) {
  char from[LONGEST_PATH + 1], to[LONGEST_PATH + 1];
  if (is_separator(name[0]) || sr_path_same_folder(viewer, folder)) return sr_pool_text(pool, name);
  const char* path = sr_path_join(pool, folder, name);
  if (!real_path(viewer && *viewer ? viewer : ".", from) || !real_path(sr_path_folder(pool, path), to)) return path;
  const char* base = path + strlen(path);
  while (base > path && !is_separator(base[-1])) base--;
  const size_t n = common_part(from, to), length = strlen(from);
  const char* up = "";
  for (size_t i = n; i < length; i++)
    if (i == n || is_separator(from[i])) up = sr_pool_printf(pool, "../%s", up);
  const char* down = n < strlen(to) ? to + n : "";
  return sr_pool_printf(pool, "%s%s%s%s", up, down, *down ? "/" : "", base);
}
