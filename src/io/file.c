// Files and paths of the readers. Opening and resolving is done by base/file.c.
#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char* cannot_read(srPool* pool, int code) {
  return sr_pool_printf(pool, "cannot be read: %s", strerror(code));
}

// Reads until the end; the buffer doubles. The copy in the pool is the last one made.
static char* read_all(srPool* pool, FILE* file, size_t max_size, size_t* size, const char** reason) {
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
    *reason = failed ? cannot_read(pool, code) : sr_pool_printf(pool, "is larger than %d MiB", (int)(max_size >> 20));
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

char* sr_file_read(srPool* pool, const char* path, size_t max_size, size_t* size, const char** reason) {
  srReason error_message;
  FILE* file = sr_file_open(path, &error_message);
  if (!file) {
    *reason = sr_pool_text(pool, error_message.text);
    return NULL;
  }
  errno = 0;
  return read_all(pool, file, max_size, size, reason);
}

srStatus sr_file_write(const char* path, const char* text, size_t size, srMessages* messages) {
  srOutput* output;
  if (!sr_output_fits(path, SR_CONTENT_MODEL, messages)) return SR_INPUT;
  const srStatus status = sr_output_create(path, messages, &output);
  if (status != SR_OK) return status;
  (void)fwrite(text, 1, size, sr_output_stream(output));  // the stream keeps the error
  return sr_output_close(output, messages);
}

// -------------------------------------------------------------------------------------------------------------- paths
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

bool sr_path_is_fixed(const char* path) {
  return path[0] == '/' || strstr(path, "://") != NULL || (path[0] && path[1] == ':');
}

// Backslashes and drive letters are refused everywhere, so that a model is as safe on one system as on another.
const char* sr_path_problem(const char* path) {
  if (!*path) return "is empty";
  if (path[0] == '/') return "is an absolute path; it must be in the folder of the model";
  if (strchr(path, '\\') || strchr(path, ':'))
    return "holds \\ or :; write it with / and inside the folder of the model";
  for (const char* p = path; p; p = strchr(p, '/')) {
    if (*p == '/') p++;
    if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
      return "leaves the folder of the model by ..; it must stay inside";
  }
  return NULL;
}

const char* sr_path_inside(srPool* pool, const char* folder, const char* name, const char** reason) {
  char real_folder[SR_PATH_SIZE], real[SR_PATH_SIZE];
  *reason = sr_path_problem(name);
  if (*reason) return NULL;
  const char* path = sr_path_join(pool, folder, name);
  if (!sr_file_real(folder, real_folder) || !sr_file_real(path, real)) {
    *reason = cannot_read(pool, errno);
    return NULL;
  }
  if (!sr_file_is_inside(real_folder, real)) {
    *reason = "is a link that leads out of the folder of the model";
    return NULL;
  }
  return sr_pool_text(pool, real);
}

bool sr_path_same_folder(const char* a, const char* b) {
  char real_a[SR_PATH_SIZE], real_b[SR_PATH_SIZE];
  const char *left = a && *a ? a : ".", *right = b && *b ? b : ".";
  if (strcmp(left, right) == 0) return true;
  return sr_file_real(left, real_a) && sr_file_real(right, real_b) && strcmp(real_a, real_b) == 0;
}

const char* sr_path_real(srPool* pool, const char* path) {
  char real[SR_PATH_SIZE];
  return sr_file_real(path, real) ? sr_pool_text(pool, real) : NULL;
}

bool sr_path_is_file(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool sr_path_is_folder(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

typedef struct Folders {
  srPool* pool;
  const char* path;
  const char** name;
  int n, capacity, entries;
} Folders;

static void keep_folder(Folders* f, const char* name) {
  f->entries++;
  if (name[0] == '.' || !sr_path_is_folder(sr_path_join(f->pool, f->path, name))) return;
  SR_PUSH(f->pool, f->name, f->n, f->capacity) = sr_pool_text(f->pool, name);
}

// Memory that runs out jumps; the handle of the system is closed first.
static void list_folder(Folders* f) {
  DIR* folder = opendir(f->path);
  if (!folder) return;
  jmp_buf *outer = f->pool->on_fail, here;
  f->pool->on_fail = &here;
  const bool failed = setjmp(here) != 0;
  for (struct dirent* entry; !failed && f->entries < SR_PATH_MAX_ENTRIES && (entry = readdir(folder)) != NULL;)
    keep_folder(f, entry->d_name);
  f->pool->on_fail = outer;
  closedir(folder);
  if (failed) longjmp(*outer, 1);
}

static int by_name(const void* a, const void* b) { return strcmp(*(const char* const*)a, *(const char* const*)b); }

const char** sr_path_folders(srPool* pool, const char* path, int* n) {
  Folders f = {.pool = pool, .path = path};
  list_folder(&f);
  if (f.n > 1) qsort(f.name, (size_t)f.n, sizeof *f.name, by_name);
  *n = f.n;
  return f.name;
}

// Where the paths of two folders part: behind the last separator that both have, or behind the end of one.
static size_t common_part(const char* a, const char* b) {
  size_t n = 0, i = 0;
  for (; a[i] && a[i] == b[i]; i++)
    if (is_separator(a[i])) n = i + 1;
  return (!a[i] || is_separator(a[i])) && (!b[i] || is_separator(b[i])) ? i + 1 : n;
}

static const char* behind_separator(const char* path) {
  const char* p = path + strlen(path);
  while (p > path && !is_separator(p[-1])) p--;
  return p;
}

const char* sr_path_relative(srPool* pool, const char* viewer, const char* path) {
  const char *from = sr_path_real(pool, viewer), *to = sr_path_real(pool, sr_path_folder(pool, path));
  const char *name = behind_separator(path), *up = "";
  if (!from || !to) {
    const size_t n = viewer ? strlen(viewer) : 0;
    const bool below = n > 0 && strncmp(path, viewer, n) == 0 && is_separator(path[n]);
    return sr_pool_text(pool, below ? path + n + 1 : path);
  }
  const size_t n = common_part(from, to), length = strlen(from);
  if (n <= 1 && length > 1) return sr_path_join(pool, to, name);
  for (size_t i = n; i < length; i++)
    if (i == n || is_separator(from[i])) up = sr_pool_printf(pool, "../%s", up);
  const char* down = n < strlen(to) ? to + n : "";
  return sr_pool_printf(pool, "%s%s", up, *down ? sr_path_join(pool, down, name) : name);
}

const char* sr_path_seen_from(srPool* pool, const char* viewer, const char* folder, const char* name) {
  if (is_separator(name[0]) || sr_path_same_folder(viewer, folder)) return sr_pool_text(pool, name);
  return sr_path_relative(pool, viewer, sr_path_join(pool, folder, name));
}
