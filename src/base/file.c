// Files that are read. Every reader of the library opens its files here.
#define _XOPEN_SOURCE 700
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE* refuse(srReason* reason, const char* text, const char* detail) {
  snprintf(reason->text, sizeof reason->text, "%s%s", text, detail);
  return NULL;
}

static const char* kind_of(mode_t mode) {
  return S_ISDIR(mode) ? "folder" : S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
}

// Asked before it is opened, because opening a device may do something, and again behind, because names change hands.
FILE* sr_file_open(const char* path, srReason* reason) {
  struct stat about;
  if (stat(path, &about) != 0) return refuse(reason, "cannot be read: ", strerror(errno));
  int handle = -1;
  if (S_ISREG(about.st_mode)) {
    handle = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (handle < 0 || fstat(handle, &about) != 0) {
      const int code = errno;
      if (handle >= 0) close(handle);
      return refuse(reason, "cannot be read: ", strerror(code));
    }
  }
  if (!S_ISREG(about.st_mode)) {
    if (handle >= 0) close(handle);
    snprintf(reason->text, sizeof reason->text, "is a %s; only regular files are read", kind_of(about.st_mode));
    return NULL;
  }
  FILE* file = fdopen(handle, "rb");
  if (file) return file;
  const int code = errno;
  close(handle);
  return refuse(reason, "cannot be read: ", strerror(code));
}

bool sr_file_real(const char* path, char real[SR_PATH_SIZE]) {
  char* found = realpath(path && *path ? path : ".", NULL);
  const bool fits = found && strlen(found) < SR_PATH_SIZE;
  if (fits) memcpy(real, found, strlen(found) + 1);
  if (found && !fits) errno = ENAMETOOLONG;
  free(found);
  return fits;
}

bool sr_file_is_inside(const char* folder, const char* path) {
  const size_t n = strlen(folder);
  if (strncmp(folder, path, n) != 0) return false;
  return path[n] == '/' || (n > 0 && folder[n - 1] == '/');
}
