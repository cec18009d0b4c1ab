// Rows of a sweep on the disk as they are done, in FILE.journal next to the table. A sweep that was killed goes on from there.
//   # sarrus sweep journal 1
//   # version, # command, # content, # rows     what makes it the same sweep
//   # columns ...
//   ROW TAB line of the table TAB checksum      each with one write, in the order of arrival
// Only the end of the file can be damaged: what follows the last whole line is cut off. Two sweeps cannot have one journal: it is locked (fcntl), and the lock
// ends with the process.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep.h"

enum { PAUSE = 5 };  // seconds between synchronisations with the disk

uint64_t hash_bytes(uint64_t hash, const void* bytes, size_t n) {
  for (const unsigned char* p = bytes; n > 0; p++, n--) hash = (hash ^ *p) * 1099511628211ull;
  return hash;
}

// ------------------------------------------------------------------------------------------------------------------- head
static void put_word(srText* out, const char* word) {
  sr_text_add(out, " ", 1);
  put_quoted(out, word, strlen(word));
}

// The lines of the head that must be the same, in this order.
void sweep_command(const Sweep* s, srText* out) {
  sr_text_print(out, "%s", s->verb->name);
  put_word(out, s->model);
  for (int i = 0; i < s->grids.n; i++) sr_text_print(out, " --sweep"), put_word(out, s->grids.item[i]);
  for (int i = 0; i < s->randoms.n; i++) sr_text_print(out, " --random"), put_word(out, s->randoms.item[i]);
  if (!isnan(s->sample)) sr_text_print(out, " --sample %.17g --seed %.17g", s->sample, isnan(s->seed) ? 0 : s->seed);
  for (int i = 0; i < s->results.n; i++) sr_text_print(out, " --result"), put_word(out, s->results.item[i]);
  if (!isnan(s->timeout)) sr_text_print(out, " --timeout %.17g", s->timeout);
  if (s->ninner > 0) sr_text_print(out, " --");
  for (int i = 0; i < s->ninner; i++) put_word(out, s->inner[i]);
}

// The lines that must be the same, in this order.
enum { LINES = 5 };
static void put_head(const Sweep* s, srText* out) {
  sr_text_print(out, "# sarrus sweep journal 1\n# version %s\n# command ", sr_version());
  sweep_command(s, out);
  sr_text_print(out, "\n# content %016" PRIx64 "\n# rows %lld\n", s->content, s->rows);
}

static void put_columns(const Sweep* s, srText* out) {
  sr_text_print(out, "# columns");
  for (int i = 0; i < s->columns.n; i++) put_word(out, s->columns.item[i]);
  sr_text_add(out, "\n", 1);
}

// The quoted words of a line.
static bool read_columns(const char* line, const char* end, Paths* out) {
  srText word = {0};
  bool good = true;
  for (const char* p = line; good && p < end; p++) {
    if (*p != '"') continue;
    sr_text_free(&word);
    for (p++; p < end && (*p != '"' || p[1] == '"'); p++) {
      if (*p == '"') p++;
      sr_text_add(&word, p, 1);
    }
    good = paths_add(out, word.data ? word.data : "", word.n);
  }
  sr_text_free(&word);
  return good;
}

static const char* next_line(const char* p, const char* end) {
  const char* line = memchr(p, '\n', (size_t)(end - p));
  return line ? line + 1 : NULL;
}

// Compares the head with that of this sweep. Returns what is behind it; NULL: there is none, or another one, then reported.
static const char* check_head(const Journal* j, Sweep* s, const char* text, const char* end) {
  static const char* const differs[LINES] = {
      "is no journal of a sweep", "belongs to a sweep by another version of Sarrus",
      "belongs to another sweep: the command differs",
      "belongs to another sweep: the model or a file of its options has changed since",
      "belongs to another sweep: the number of rows differs"};
  srText head = {0};
  put_head(s, &head);
  const char *p = text, *own = head.data, *behind = NULL;
  if (head.failed) return sr_text_free(&head), NULL;
  for (int i = 0; i < LINES; i++) {
    const char *next = next_line(p, end), *own_next = strchr(own, '\n') + 1;
    if (!next) break;  // killed while it was written
    if (next - p != own_next - own || memcmp(p, own, (size_t)(next - p)) != 0) {
      cli_error(s->cli, "'%s' %s; finish that sweep, or remove the file to begin anew", j->path, differs[i]);
      break;
    }
    p = next;
    own = own_next;
    if (i == LINES - 1) behind = p;
  }
  sr_text_free(&head);
  const char* next = behind ? next_line(behind, end) : NULL;
  if (!next) return NULL;
  return strncmp(behind, "# columns", 9) == 0 && read_columns(behind, next, &s->columns) ? next : NULL;
}

// ------------------------------------------------------------------------------------------------------------------- rows
static uint64_t line_hash(long long row, const char* line, size_t n) {
  return hash_bytes(hash_bytes(HASH_BEGIN, &row, sizeof row), line, n);
}

static void keep_place(Journal* j, long long row, long long offset, size_t n) {
  if (j->offset[row] >= 0) return;
  j->offset[row] = offset;
  j->length[row] = (int)n;
  j->done++;
}

// One line from p to end; false: it is not whole.
static bool read_line(Journal* j, const char* text, const char* p, const char* end) {
  char* behind;
  const long long row = strtoll(p, &behind, 10);
  if (behind == p || *behind != '\t' || row < 0 || row >= j->rows || end - behind < 19 || end[-18] != '\t')
    return false;
  const char* line = behind + 1;
  const size_t n = (size_t)(end - 18 - line);
  char hash[20];
  snprintf(hash, sizeof hash, "%016" PRIx64, line_hash(row, line, n));
  if (strncmp(hash, end - 17, 16) != 0) return false;
  keep_place(j, row, line - text, n);
  return true;
}

static bool read_rows(Journal* j, Sweep* s, const char* text, size_t size) {
  const char *end = text + size, *p = check_head(j, s, text, end);
  if (!p) return sr_messages_errors(s->cli->messages) == 0;
  for (const char* next; (next = next_line(p, end)) != NULL && read_line(j, text, p, next);) p = next;
  j->end = p - text;
  j->resumed = j->done;
  return true;
}

// ------------------------------------------------------------------------------------------------------------------- file
static bool refuse(const Journal* j, Cli* cli, const char* reason) {
  cli_error(cli, "'%s' %s", j->path ? j->path : "a temporary file", reason);
  return false;
}

static bool read_file(Journal* j, Sweep* s) {
  struct stat there;
  if (fstat(j->file, &there) != 0 || !S_ISREG(there.st_mode))
    return refuse(j, s->cli, "is in the way of the journal of the sweep");
  const size_t size = (size_t)there.st_size;
  char* text = malloc(size + 1);
  size_t n = 0;
  for (ssize_t got = 1; text && n < size && got > 0; n += got > 0 ? (size_t)got : 0)
    got = pread(j->file, text + n, size - n, (off_t)n);
  const bool good = text ? (text[n] = 0, read_rows(j, s, text, n)) : refuse(j, s->cli, "is too large for the memory");
  free(text);
  return good;
}

// The folders of the table are made, and it can be written there: known before anything is computed.
static bool try_table(const Sweep* s) {
  srOutput* table;
  if (sr_output_create(s->out, s->cli->messages, &table) != SR_OK) return false;
  sr_output_discard(table);
  return true;
}

static bool open_named(Journal* j, Sweep* s) {
  if (!try_table(s)) return false;
  j->file = open(j->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (j->file < 0) return refuse(j, s->cli, strerror(errno));
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(j->file, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN))
    return refuse(j, s->cli, "is being written by another sweep");
  return read_file(j, s);
}

static bool open_nameless(Journal* j, Sweep* s) {
  FILE* file = tmpfile();
  j->file = file ? dup(fileno(file)) : -1;
  if (file) fclose(file);
  return j->file >= 0 || refuse(j, s->cli, "could not be made");
}

bool journal_open(Journal* j, Sweep* s) {
  *j = (Journal){.file = -1, .rows = s->rows};
  j->offset = malloc((size_t)s->rows * sizeof *j->offset);
  j->length = calloc((size_t)s->rows, sizeof *j->length);
  if (!j->offset || !j->length) return cli_error(s->cli, "out of memory"), false;
  for (long long i = 0; i < s->rows; i++) j->offset[i] = -1;
  if (!s->out || output_is_stdout(s->out)) return open_nameless(j, s);
  const size_t size = strlen(s->out) + sizeof ".journal";
  j->path = malloc(size);
  if (!j->path) return cli_error(s->cli, "out of memory"), false;
  snprintf(j->path, size, "%s.journal", s->out);
  return open_named(j, s);
}

bool journal_begin(Journal* j, Sweep* s) {
  if (j->end > 0)  // goes on: what is damaged behind the last line is cut off
    return ftruncate(j->file, (off_t)j->end) == 0 || refuse(j, s->cli, strerror(errno));
  if (ftruncate(j->file, 0) != 0) return refuse(j, s->cli, strerror(errno));
  put_head(s, &j->pending);
  put_columns(s, &j->pending);
  return journal_flush(j, s->cli);
}

bool journal_has(const Journal* j, long long row) { return j->offset[row] >= 0; }

void journal_put(Journal* j, long long row, const char* line, size_t n) {
  char number[40];
  if (journal_has(j, row)) return;
  const int begin = snprintf(number, sizeof number, "%lld\t", row);
  sr_text_add(&j->pending, number, (size_t)begin);
  keep_place(j, row, j->end + (long long)j->pending.n, n);
  sr_text_add(&j->pending, line, n);
  sr_text_print(&j->pending, "\t%016" PRIx64 "\n", line_hash(row, line, n));
}

bool journal_flush(Journal* j, Cli* cli) {
  size_t n = 0;
  errno = 0;
  while (n < j->pending.n && !j->pending.failed) {
    const ssize_t got = pwrite(j->file, j->pending.data + n, j->pending.n - n, (off_t)(j->end + (long long)n));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    n += (size_t)got;
  }
  if (n < j->pending.n || j->pending.failed) {
    cli_error(cli, "'%s' could not be written: %s; the rows before are in it, and the same command continues",
              j->path ? j->path : "a temporary file", j->pending.failed ? "out of memory" : strerror(errno));
    return false;
  }
  j->end += (long long)n;
  sr_text_free(&j->pending);
  if (j->path && time(NULL) >= j->synced + PAUSE) {  // a power cut costs the rows of so many seconds
    (void)fdatasync(j->file);
    j->synced = time(NULL);
  }
  return true;
}

bool journal_line(const Journal* j, long long row, srText* out) {
  if (!journal_has(j, row)) return false;
  char small[4096], *bytes = j->length[row] <= (int)sizeof small ? small : malloc((size_t)j->length[row]);
  const bool good = bytes && pread(j->file, bytes, (size_t)j->length[row], (off_t)j->offset[row]) == j->length[row];
  if (good) sr_text_add(out, bytes, (size_t)j->length[row]);
  if (bytes != small) free(bytes);
  return good;
}

void journal_close(Journal* j, bool remove) {
  struct stat there;
  if (j->path && j->file >= 0 && (remove || (fstat(j->file, &there) == 0 && there.st_size == 0))) (void)unlink(j->path);
  if (j->file >= 0) close(j->file);
  free(j->path);
  free(j->offset);
  free(j->length);
  sr_text_free(&j->pending);
}
