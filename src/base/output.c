// Files that are written: replaced as a whole, or not at all. What is written goes to NAME.part in the same folder; when all of
// it is on the disk, the part takes the name (rename is atomic: POSIX.1-2017, rename). A lock on the part (flock) keeps a second
// program out; the lock ends with its holder, so that what a crash has left behind stops nobody.
//
// Pipes, terminals and devices cannot be replaced: they are written to as they are. Folders that are missing are made.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define MOST_LINKS 40
#define LONGEST_NAME 250  // of a file whose part still has a name that file systems take
#define PART ".part"

struct srOutput {
  FILE* stream;
  bool direct;                // written to as it is: there is no part
  bool rescued;               // the part stays after an error
  bool failed;                // reported by a writer that opened it by name
  char path[SR_PATH_SIZE];    // as the caller gave it, for messages
  char target[SR_PATH_SIZE];  // without the links at its end
  char part[SR_PATH_SIZE + sizeof PART];
};

// -------------------------------------------------------------------------------------------------------------- target
static bool starts_with(const char* text, const char* start) { return strncmp(text, start, strlen(start)) == 0; }

// What these name is open already: replacing a file under it would take it from whoever holds it.
static bool is_open_file(const char* path) { return starts_with(path, "/proc/") || starts_with(path, "/dev/fd/"); }

static size_t folder_length(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool fail_with(int code) {
  errno = code;
  return false;
}

// One link at the end of o->target, seen from its folder.
static bool follow(srOutput* o) {
  char link[SR_PATH_SIZE];
  const ssize_t n = readlink(o->target, link, sizeof link - 1);
  if (n < 0) return false;
  link[n] = 0;
  const size_t folder = link[0] == '/' ? 0 : folder_length(o->target);
  if (folder + (size_t)n >= sizeof o->target) return fail_with(ENAMETOOLONG);
  memcpy(o->target + folder, link, (size_t)n + 1);
  return true;
}

// Finds what the path names in the end; a file that is not there yet is one, too.
static bool find_target(srOutput* o, struct stat* old, bool* exists) {
  memcpy(o->target, o->path, strlen(o->path) + 1);
  for (int i = 0; i < MOST_LINKS; i++) {
    *exists = lstat(o->target, old) == 0;
    if (!*exists && errno != ENOENT) return false;
    o->direct = is_open_file(o->target) || (*exists && !S_ISREG(old->st_mode) && !S_ISLNK(old->st_mode));
    if (o->direct || !*exists || !S_ISLNK(old->st_mode)) return true;
    if (!follow(o)) return false;
  }
  return fail_with(ELOOP);
}

// ---------------------------------------------------------------------------------------------------------------- part
// "out.csv.part"; of a name that is very long another one, which depends on it.
static bool name_part(srOutput* o) {
  const size_t folder = folder_length(o->target), length = strlen(o->target + folder);
  int n;
  if (length == 0) return fail_with(EISDIR);
  if (length <= LONGEST_NAME) {
    n = snprintf(o->part, sizeof o->part, "%s%s", o->target, PART);
  } else {
    unsigned long long hash = 14695981039346656037ull;  // FNV-1a
    for (const char* p = o->target + folder; *p; p++) hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
    n = snprintf(o->part, sizeof o->part, "%.*ssarrus-%016llx%s", (int)folder, o->target, hash, PART);
  }
  return n > 0 && (size_t)n < sizeof o->part ? true : fail_with(ENAMETOOLONG);
}

typedef enum PartState { PART_READY, PART_GONE, PART_TAKEN, PART_IN_THE_WAY, PART_ERROR } PartState;

// The lock is worth something only while the name still leads to the file that is locked: its former holder may have
// given the file its final name in between.
static PartState lock_part(const srOutput* o, int handle) {
  struct stat own, named;
  if (fstat(handle, &own) != 0) return PART_ERROR;
  if (!S_ISREG(own.st_mode) || own.st_nlink > 1) return PART_IN_THE_WAY;
  if (flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return PART_TAKEN;  // else: no locks here
  if (lstat(o->part, &named) != 0 || named.st_ino != own.st_ino || named.st_dev != own.st_dev) return PART_GONE;
  return ftruncate(handle, 0) == 0 ? PART_READY : PART_ERROR;
}

static PartState open_part(srOutput* o, int* handle) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    *handle = open(o->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (*handle < 0) return errno == ELOOP ? PART_IN_THE_WAY : PART_ERROR;
    const PartState state = lock_part(o, *handle);
    if (state == PART_READY) return state;
    const int code = errno;
    close(*handle);
    errno = code;
    if (state != PART_GONE) return state;
  }
  return PART_TAKEN;
}

// The new file belongs to whom the old one belonged, and may be read by the same people.
static void keep_rights(int handle, const struct stat* old) {
  if (fchown(handle, old->st_uid, old->st_gid) != 0) errno = 0;  // no permission to change the owner
  if (fchmod(handle, old->st_mode & 0777) != 0) errno = 0;
}

// Makes the folders of o->target that are missing. A folder that another program makes meanwhile is there all the same.
static bool make_folders(const srOutput* o) {
  char folder[SR_PATH_SIZE];
  const size_t length = folder_length(o->target);
  memcpy(folder, o->target, length);
  for (size_t i = 1; i < length; i++) {
    if (folder[i] != '/' || folder[i - 1] == '/') continue;
    folder[i] = 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
      struct stat there;  // a file system that nobody may write to answers so for a folder that exists
      if (stat(folder, &there) != 0 || !S_ISDIR(there.st_mode)) return false;
    }
    folder[i] = '/';
  }
  return true;
}

// -------------------------------------------------------------------------------------------------------------- public
static srStatus refuse(srOutput* o, srMessages* messages, const char* reason) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = o->path}, "cannot be written: %s", reason);
  sr_free(o);
  return SR_IO;
}

static srStatus refuse_part(srOutput* o, PartState state, srMessages* messages) {
  if (state == PART_ERROR) return refuse(o, messages, strerror(errno));
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = o->path},
                  state == PART_TAKEN
                      ? "cannot be written: another run is writing it (%s)"
                      : "cannot be written: '%s' is in the way, and is not a file of its own; remove it",
                  o->part);
  sr_free(o);
  return SR_IO;
}

static int open_direct(const srOutput* o) {
  if (strcmp(o->path, "/dev/stdout") == 0) return dup(STDOUT_FILENO);  // one place in the file for both
  return open(o->path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
}

srStatus sr_output_create(const char* path, srMessages* messages, srOutput** out) {
  struct stat old;
  bool exists = false;
  int handle = -1;
  *out = NULL;
  srOutput* o = sr_alloc(sizeof *o);
  if (!o) return SR_MEMORY;
  snprintf(o->path, sizeof o->path, "%s", path);
  if (strlen(path) >= sizeof o->path) return refuse(o, messages, strerror(ENAMETOOLONG));
  if (!find_target(o, &old, &exists)) return refuse(o, messages, strerror(errno));
  if (o->direct) {
    handle = open_direct(o);
    if (handle < 0) return refuse(o, messages, strerror(errno));
  } else {
    if ((exists ? access(o->target, W_OK) != 0 : !make_folders(o)) || !name_part(o))
      return refuse(o, messages, strerror(errno));
    const PartState state = open_part(o, &handle);
    if (state != PART_READY) return refuse_part(o, state, messages);
    if (exists) keep_rights(handle, &old);
  }
  o->stream = fdopen(handle, "wb");
  if (!o->stream) {
    const int code = errno;
    close(handle);
    if (!o->direct) (void)unlink(o->part);
    return refuse(o, messages, strerror(code));
  }
  *out = o;
  return SR_OK;
}

FILE* sr_output_stream(const srOutput* output) { return output->stream; }

const char* sr_output_file(const srOutput* output) { return output->direct ? output->path : output->part; }

void sr_output_rescue(srOutput* output) { output->rescued = true; }

void sr_output_fail(srOutput* output) { output->failed = true; }

// A folder that cannot be opened or synchronised (some network file systems) has the new name all the same.
static void sync_folder(const srOutput* o) {
  char folder[SR_PATH_SIZE];
  snprintf(folder, sizeof folder, "%.*s", (int)folder_length(o->target), o->target);
  const int handle = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  (void)fsync(handle);
  close(handle);
}

// On the disk first, then under its name: after a power cut there is the old file or the new one.
static bool finish(srOutput* o) {
  bool done = !o->failed && !ferror(o->stream);
  if (fflush(o->stream) != 0) done = false;
  if (done && !o->direct) {
    done = (fsync(fileno(o->stream)) == 0 || errno == EINVAL || errno == EROFS) && rename(o->part, o->target) == 0;
    if (done) sync_folder(o);
  }
  return done;
}

static void end(srOutput* o) {
  fclose(o->stream);  // and gives the lock back
  sr_free(o);
}

srStatus sr_output_close(srOutput* o, srMessages* messages) {
  if (!o) return SR_OK;
  errno = 0;
  const bool done = finish(o);
  const int code = errno;
  if (!done) {
    const char* reason = code ? strerror(code) : "a write failed";
    if (o->direct)
      sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = o->path}, "could not be written to its end: %s",
                      reason);
    else if (o->rescued)
      sr_messages_add(
          messages, SR_SEVERITY_ERROR, (srPlace){.file = o->path},
          "could not be written to its end: %s; the file is what it was before, and what could be written is "
          "in '%s'",
          reason, o->part);
    else
      sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = o->path},
                      "could not be written to its end: %s; the file is what it was before", reason);
    if (!o->direct && !o->rescued) (void)unlink(o->part);
  }
  end(o);
  return done ? SR_OK : SR_FAILED;
}

void sr_output_discard(srOutput* o) {
  if (!o) return;
  if (!o->direct) (void)unlink(o->part);
  end(o);
}

// -------------------------------------------------------------------------------------------------------------- suffixes
// A suffix says what a file holds. A file that holds something else under it takes the place of what a user keeps there, or is
// opened by the wrong program. The names of pipes, terminals and devices have no such meaning.
typedef struct Suffix {
  const char* text;
  int content;  // srContent, or OTHER
} Suffix;
enum { OTHER = -1 };

static const Suffix suffixes[] = {{".csv", SR_CONTENT_TABLE},
                                  {".txt", SR_CONTENT_TABLE},
                                  {".dat", SR_CONTENT_TABLE},
                                  {".h5", SR_CONTENT_TABLE},
                                  {".hdf5", SR_CONTENT_TABLE},
                                  {".svg", SR_CONTENT_FIGURE},
                                  {".xml", SR_CONTENT_MODEL},
                                  {".urdf", SR_CONTENT_MODEL},
                                  {".mjcf", SR_CONTENT_MODEL},
                                  {".sarrus", SR_CONTENT_MODEL},
                                  {".xacro", SR_CONTENT_MODEL},
                                  {".mbs", SR_CONTENT_MODEL},
                                  {".png", SR_CONTENT_FIGURE},
                                  {".pdf", SR_CONTENT_FIGURE},
                                  {".jpg", OTHER},
                                  {".jpeg", OTHER},
                                  {".eps", OTHER},
                                  {".gif", OTHER},
                                  {".json", SR_CONTENT_JSON},
                                  {".yaml", OTHER},
                                  {".yml", OTHER},
                                  {".stl", OTHER},
                                  {".obj", OTHER},
                                  {".dae", OTHER},
                                  {".so", OTHER},
                                  {".html", SR_CONTENT_PAGE},
                                  {".htm", SR_CONTENT_PAGE},
                                  {".glb", SR_CONTENT_SCENE},
                                  {".mp4", SR_CONTENT_VIDEO},
                                  {".webm", SR_CONTENT_VIDEO},
                                  {".c", OTHER},
                                  {".h", OTHER},
                                  {".py", OTHER},
                                  {".m", OTHER},
                                  {".md", OTHER}};

// What it holds is written as it is: standard output may be redirected to a file of any name.
static bool has_no_suffix(const char* path) {
  struct stat there;
  return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 ||
         (stat(path, &there) == 0 && !S_ISREG(there.st_mode));
}

static bool is_same_word(const char* given, const char* small) {  // capitals count as small letters
  for (; *given && *small; given++, small++)
    if ((*given >= 'A' && *given <= 'Z' ? *given - 'A' + 'a' : *given) != *small) return false;
  return *given == *small;
}

static const Suffix* find_suffix(const char* path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  for (int i = 0; dot && dot > name && i < SR_COUNT(suffixes); i++)
    if (is_same_word(dot, suffixes[i].text)) return &suffixes[i];
  return NULL;
}

bool sr_output_fits(const char* path, srContent content, srMessages* messages) {
  static const char* const wanted[] = {"a table: write to a name that ends in .csv, or in .h5 for HDF5",
                                       "a figure: write to a name that ends in .svg, .png or .pdf",
                                       "a model: write to a name that ends in .xml, .urdf, .mjcf or .sarrus",
                                       "a JSON object: write to a name that ends in .json",
                                       "a page: write to a name that ends in .html",
                                       "a scene: write to a name that ends in .glb",
                                       "a video: write to a name that ends in .mp4 or .webm"};
  if (has_no_suffix(path)) return true;
  const Suffix* suffix = find_suffix(path);
  if (suffix ? suffix->content == (int)content : content != SR_CONTENT_FIGURE && content < SR_CONTENT_PAGE) return true;
  if (suffix)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "%s is not the suffix of %s", suffix->text,
                    wanted[content]);
  else
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){.file = path}, "this is not the name of %s",
                    wanted[content]);
  return false;
}
