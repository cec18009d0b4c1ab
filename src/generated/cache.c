#define _XOPEN_SOURCE 700
#include "generated/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generated/sha256.h"

#define SEAL "sarrus-generated "
enum { SEAL_SIZE = sizeof SEAL - 1 + 64, LARGEST = 1 << 28 };

// ---- the folder -----------------------------------------------------------------------------------------------------

static bool is_private(const char* path, bool of_root_too) {
  struct stat s;
  if ((of_root_too ? stat(path, &s) : lstat(path, &s)) != 0 || !S_ISDIR(s.st_mode)) return false;
  return (s.st_uid == geteuid() || (of_root_too && s.st_uid == 0)) && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool enter(char folder[SR_PATH_SIZE], const char* sub, bool of_root_too, srReason* reason) {
  const size_t n = strlen(folder);
  const int more = snprintf(folder + n, SR_PATH_SIZE - n, "%s", sub);
  if (n + (size_t)more >= SR_PATH_SIZE - 100) {
    (void)snprintf(reason->text, sizeof reason->text, "the path of the cache folder is too long");
    return false;
  }
  if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) {
    (void)snprintf(reason->text, sizeof reason->text, "the folder '%.80s' cannot be made: %s", folder, strerror(errno));
    return false;
  }
  if (is_private(folder, of_root_too)) return true;
  (void)snprintf(reason->text, sizeof reason->text,
                 "the folder '%.80s' is not the user's own, or others may write there", folder);
  return false;
}

bool sr_cache_folder(char folder[SR_PATH_SIZE], srReason* reason) {
  const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  const bool cache = given != NULL && given[0] == '/';
  if (!cache && (home == NULL || home[0] != '/')) {
    (void)snprintf(reason->text, sizeof reason->text, "neither XDG_CACHE_HOME nor HOME names a folder");
    return false;
  }
  folder[0] = '\0';
  if (cache ? !enter(folder, given, true, reason)
            : !enter(folder, home, true, reason) || !enter(folder, "/.cache", true, reason))
    return false;
  return enter(folder, "/sarrus", false, reason) && enter(folder, "/generated", false, reason);
}

// ---- files ----------------------------------------------------------------------------------------------------------

// All of a file of the user alone; NULL: it is none, or is larger than any code.
static unsigned char* content_of(const char* path, size_t* n) {
  struct stat s;
  const int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return NULL;
  unsigned char* out = NULL;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
      s.st_size > 0 && s.st_size < LARGEST)
    out = sr_alloc((size_t)s.st_size);
  size_t at = 0;
  for (ssize_t got = 1; out != NULL && got > 0; at += got > 0 ? (size_t)got : 0)
    got = at < (size_t)s.st_size ? read(file, out + at, (size_t)s.st_size - at) : 0;
  (void)close(file);
  if (out != NULL && at == (size_t)s.st_size) {
    *n = at;
    return out;
  }
  sr_free(out);
  return NULL;
}

static void seal_of(const unsigned char* content, size_t n, const char* key, char seal[SEAL_SIZE + 1]) {
  srSha256 x;
  memcpy(seal, SEAL, sizeof SEAL - 1);
  sr_sha256_begin(&x);
  sr_sha256_add(&x, content, n);
  sr_sha256_add(&x, key, strlen(key));
  sr_sha256_end(&x, seal + sizeof SEAL - 1);
}

bool sr_cache_holds(const char* path, const char* key) {
  size_t n = 0;
  unsigned char* content = content_of(path, &n);
  char seal[SEAL_SIZE + 1];
  if (content != NULL && n > SEAL_SIZE) seal_of(content, n - SEAL_SIZE, key, seal);
  const bool good = content != NULL && n > SEAL_SIZE && memcmp(content + n - SEAL_SIZE, seal, SEAL_SIZE) == 0;
  sr_free(content);
  return good;
}

bool sr_cache_seal(const char* path, const char* key) {
  size_t n = 0;
  unsigned char* content = chmod(path, S_IRWXU) == 0 ? content_of(path, &n) : NULL;
  if (content == NULL) return false;
  char seal[SEAL_SIZE + 1];
  seal_of(content, n, key, seal);
  sr_free(content);
  const int file = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  const bool written = file >= 0 && write(file, seal, SEAL_SIZE) == SEAL_SIZE;
  return (file < 0 || close(file) == 0) && written;
}

bool sr_cache_work(const char* folder, char work[SR_PATH_SIZE]) {
  const int n = snprintf(work, SR_PATH_SIZE, "%s/sarrus-build.XXXXXX", folder);
  return n < SR_PATH_SIZE - 64 && mkdtemp(work) != NULL;
}

void sr_cache_work_end(const char* work) {
  DIR* folder = opendir(work);
  char path[SR_PATH_SIZE];
  for (const struct dirent* e; folder != NULL && (e = readdir(folder)) != NULL;) {
    const int n = snprintf(path, sizeof path, "%s/%s", work, e->d_name);
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && n < SR_PATH_SIZE) (void)unlink(path);
  }
  if (folder != NULL) (void)closedir(folder);
  (void)rmdir(work);
}
