// Workers of a sweep: processes that are started once, take numbers of rows from a pipe and write the lines of their results to another. A crash or
// an endless row costs that row alone: a new worker takes the place of the old one and goes on with the rows behind it.
//   to a worker     the number of a row; or a command below, and what belongs to it
//   from a worker   Reply, and n bytes
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "sweep.h"

enum { COMMAND_COLUMNS = -1, COMMAND_PROBE = -2 };
enum { REPLY_LINE = 0, REPLY_COLUMNS = 1, REPLY_FAILED = 2, REPLY_WRONG = 3 };

typedef struct Reply {
  long long row;
  int kind, n;
} Reply;

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// -------------------------------------------------------------------------------------------------------------- both ends
static bool write_all(int file, const void* bytes, size_t size) {
  for (const char* p = bytes; size > 0;) {
    const ssize_t n = write(file, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

static bool read_all(int file, void* bytes, size_t size) {
  for (char* p = bytes; size > 0;) {
    const ssize_t n = read(file, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

// Texts with zeros between them.
static void join(const Paths* paths, srText* out) {
  for (int i = 0; i < paths->n; i++) sr_text_add(out, paths->item[i], strlen(paths->item[i]) + 1);
}

static bool divide(const char* bytes, size_t n, Paths* out) {
  paths_free(out);
  for (const char* p = bytes; p < bytes + n; p += strlen(p) + 1)
    if (!paths_add(out, p, strlen(p))) return false;
  return true;
}

// ----------------------------------------------------------------------------------------------------------------- worker
// The last row, which the probe for columns has already run.
typedef struct Last {
  long long row;
  Row result;
} Last;

static void answer(int to, long long row, int kind, const srText* text) {
  const Reply reply = {row, kind, (int)text->n};
  if (text->failed || !write_all(to, &reply, sizeof reply) || (text->n > 0 && !write_all(to, text->data, text->n)))
    _exit(EXIT_FAILED);
}

static void run_row(Sweep* s, Last* last, long long row) {
  if (last->row == row) return;
  row_free(&last->result);
  row_run(s, row, false, &last->result);
  last->row = row;
}

static void probe(Sweep* s, Last* last, long long row, int to) {
  srText text = {0};
  srJsonTree tree = {0};
  int kind = REPLY_FAILED;
  run_row(s, last, row);
  const srText* json = &last->result.kept.json;
  if (last->result.status == EXIT_DONE && sr_json_read(json->data, json->n, &tree, NULL)) {
    Paths columns = {0};
    kind = cells_expand(&tree, &s->wanted, s->by_default, &columns, &text) ? REPLY_COLUMNS : REPLY_WRONG;
    if (kind == REPLY_COLUMNS) join(&columns, &text);
  }
  answer(to, row, kind, &text);
}

static bool take_columns(Sweep* s, int from) {
  int n;
  if (!read_all(from, &n, sizeof n)) return false;
  char* bytes = malloc((size_t)n + 1);
  const bool good = bytes && read_all(from, bytes, (size_t)n) && divide(bytes, (size_t)n, &s->columns);
  free(bytes);
  return good;
}

static _Noreturn void work(Sweep* s, int from, int to) {
  Last last = {.row = -1};
  for (long long row; read_all(from, &row, sizeof row);) {
    if (row == COMMAND_COLUMNS) {
      if (!take_columns(s, from)) _exit(EXIT_FAILED);
    } else if (row == COMMAND_PROBE) {
      if (!read_all(from, &row, sizeof row)) break;
      probe(s, &last, row, to);
    } else {
      srText line = {0};
      run_row(s, &last, row);
      row_line(s, &last.result, &line);
      answer(to, row, REPLY_LINE, &line);
      sr_text_free(&line);
      last.row = -1;
    }
  }
  _exit(EXIT_DONE);
}

// Signals are for the process that leads: a row that is stopped half-way is no result. Where that one ends, so do its workers.
static void become_worker(const Pool* pool, const Worker* own, int parent) {
  sigset_t all;
  stop_end();
  sigemptyset(&all);
  sigaddset(&all, SIGINT), sigaddset(&all, SIGTERM), sigaddset(&all, SIGHUP);
  sigprocmask(SIG_BLOCK, &all, NULL);
  signal(SIGPIPE, SIG_DFL);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) _exit(EXIT_FAILED);
  for (int i = 0; i < pool->n; i++) {
    const Worker* w = &pool->worker[i];
    if (w != own && w->pid) close(w->to), close(w->from);
  }
}

// ----------------------------------------------------------------------------------------------------------------- starting
static bool send_columns(const Sweep* s, Worker* w) {
  srText text = {0};
  join(&s->columns, &text);
  const long long command = COMMAND_COLUMNS;
  const int n = (int)text.n;
  const bool good = !text.failed && write_all(w->to, &command, sizeof command) && write_all(w->to, &n, sizeof n) &&
                    (n == 0 || write_all(w->to, text.data, text.n));
  sr_text_free(&text);
  return good;
}

static bool start(Pool* pool, Worker* w) {
  int down[2], up[2];
  const int parent = (int)getpid();
  if (pipe(down) != 0) return false;
  if (pipe(up) != 0) return close(down[0]), close(down[1]), false;
  fflush(NULL);  // nothing that is not written yet may be written twice
  const pid_t pid = fork();
  if (pid == 0) {
    become_worker(pool, w, parent);
    close(down[1]), close(up[0]);
    work(pool->sweep, down[0], up[1]);
  }
  close(down[0]), close(up[1]);
  if (pid < 0) return close(down[1]), close(up[0]), false;
  free(w->bytes);
  *w = (Worker){.pid = (int)pid, .to = down[1], .from = up[0]};
  return pool->sweep->columns.n == 0 || send_columns(pool->sweep, w);
}

bool pool_begin(Pool* pool, Sweep* s, int n) {
  pool->sweep = s;
  pool->n = n;
  pool->worker = calloc((size_t)n, sizeof *pool->worker);
  if (!pool->worker) return cli_error(s->cli, "out of memory"), false;
  signal(SIGPIPE, SIG_IGN);  // a worker that has ended is seen by what it answers
  for (int i = 0; i < n; i++)
    if (!start(pool, &pool->worker[i]) && i == 0)
      return cli_error(s->cli, "no process could be started for the rows"), false;
  return true;
}

bool pool_set_columns(Pool* pool) {
  for (int i = 0; i < pool->n; i++)
    if (pool->worker[i].pid) (void)send_columns(pool->sweep, &pool->worker[i]);
  return true;
}

// ------------------------------------------------------------------------------------------------------------------ ending
// Why a worker has ended, as status and message of the row that it had.
static const char* end_worker(const Pool* pool, Worker* w, char* message, size_t size) {
  int status = 0;
  close(w->to), close(w->from);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  w->pid = 0;
  if (w->late) return snprintf(message, size, "took longer than %g s", pool->sweep->timeout), "timeout";
  if (WIFSIGNALED(status))
    snprintf(message, size, "the process of the row was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else
    snprintf(message, size, "the process of the row ended with status %d and no result", WEXITSTATUS(status));
  return "crashed";
}

static bool put_waiting(Pool* pool, long long row) {
  if (pool->first + pool->nwaiting == pool->room) {
    if (pool->first > 0) {
      memmove(pool->waiting, pool->waiting + pool->first, (size_t)pool->nwaiting * sizeof *pool->waiting);
      pool->first = 0;
    } else {
      const long long room = pool->room ? 2 * pool->room : 256;
      long long* waiting = realloc(pool->waiting, (size_t)room * sizeof *waiting);
      if (!waiting) return false;
      pool->waiting = waiting;
      pool->room = room;
    }
  }
  pool->waiting[pool->first + pool->nwaiting++] = row;
  return true;
}

static void fail_row(Pool* pool, long long row, const char* status, const char* message) {
  srText line = {0};
  row_line_failed(pool->sweep, status, message, &line);
  pool->done(pool->user, row, line.data, line.n);
  sr_text_free(&line);
}

static void lose_worker(Pool* pool, Worker* w) {
  char message[200];
  const char* status = end_worker(pool, w, message, sizeof message);
  for (int i = 0; i < w->n; i++) {
    if (i == 0)
      fail_row(pool, w->given[i], status, message);
    else if (!put_waiting(pool, w->given[i]))
      fail_row(pool, w->given[i], "failed", "out of memory");
  }
  w->n = 0;
}

void pool_end(Pool* pool) {
  char message[200];
  for (int i = 0; i < pool->n && pool->worker; i++) {
    Worker* w = &pool->worker[i];
    if (w->pid) kill(w->pid, SIGKILL), end_worker(pool, w, message, sizeof message);
    free(w->bytes);
  }
  free(pool->worker);
  free(pool->waiting);
  signal(SIGPIPE, SIG_DFL);
}

// ----------------------------------------------------------------------------------------------------------------- replies
static bool read_bytes(Worker* w) {
  enum { PIECE = 65536 };
  if (w->room < w->size + PIECE) {
    char* bytes = realloc(w->bytes, 2 * w->room + PIECE);
    if (!bytes) return false;
    w->bytes = bytes;
    w->room = 2 * w->room + PIECE;
  }
  const ssize_t n = read(w->from, w->bytes + w->size, PIECE);
  if (n > 0) w->size += (size_t)n;
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

// The first whole reply; false: there is none.
static bool first_reply(const Worker* w, Reply* reply) {
  if (w->size < sizeof *reply) return false;
  memcpy(reply, w->bytes, sizeof *reply);
  return w->size >= sizeof *reply + (size_t)reply->n;
}

static void drop_reply(Worker* w, const Reply* reply) {
  const size_t n = sizeof *reply + (size_t)reply->n;
  w->size -= n;
  memmove(w->bytes, w->bytes + n, w->size);
}

static void take_replies(Pool* pool, Worker* w) {
  const double now = wall_clock();
  for (Reply reply; first_reply(w, &reply); drop_reply(w, &reply)) {
    if (w->n == 0) continue;
    const double part = now - w->started;
    pool->mean = pool->mean > 0 ? 0.9 * pool->mean + 0.1 * part : part;
    w->started = now;
    memmove(w->given, w->given + 1, (size_t)--w->n * sizeof *w->given);
    pool->done(pool->user, reply.row, w->bytes + sizeof reply, (size_t)reply.n);
  }
}

// ------------------------------------------------------------------------------------------------------------------- rows
// Rows that take this time together, at least 1.
static int rows_of(const Pool* pool, double seconds) {
  return pool->mean > 0 ? (int)fmax(1, fmin(AHEAD, seconds / pool->mean)) : 1;
}

long long pool_wants(const Pool* pool, double seconds) {
  long long load = pool->nwaiting;
  for (int i = 0; i < pool->n; i++) load += pool->worker[i].n;
  return (long long)pool->n * (1 + rows_of(pool, seconds)) - load;
}

bool pool_add(Pool* pool, long long row) { return put_waiting(pool, row); }

static bool give_rows(Pool* pool) {
  const int most = rows_of(pool, 0.02);
  int alive = 0;
  for (int i = 0; i < pool->n; i++) {
    Worker* w = &pool->worker[i];
    if (pool->nwaiting > 0 && !w->pid && !start(pool, w)) continue;
    alive += w->pid != 0;
    while (w->pid && pool->nwaiting > 0 && w->n < most) {
      const long long row = pool->waiting[pool->first];
      if (!write_all(w->to, &row, sizeof row)) break;  // it has ended, as its pipe will tell
      pool->first++;
      pool->nwaiting--;
      if (w->n == 0) w->started = wall_clock();
      w->given[w->n++] = row;
    }
  }
  return alive > 0 || pool->nwaiting == 0;
}

static void end_late(Pool* pool) {
  const double now = wall_clock();
  for (int i = 0; i < pool->n; i++) {
    Worker* w = &pool->worker[i];
    if (!w->pid || w->n == 0 || !(now - w->started > pool->sweep->timeout)) continue;  // NaN: no bound
    w->late = true;
    kill(w->pid, SIGKILL);
  }
}

bool pool_step(Pool* pool, int milliseconds) {
  if (!give_rows(pool)) return false;
  struct pollfd* list = calloc((size_t)pool->n, sizeof *list);
  if (!list) return false;
  for (int i = 0; i < pool->n; i++) {
    const Worker* w = &pool->worker[i];
    list[i] = (struct pollfd){.fd = w->pid ? w->from : -1, .events = POLLIN};
  }
  if (poll(list, (nfds_t)pool->n, milliseconds) > 0) {
    for (int i = 0; i < pool->n; i++) {
      Worker* w = &pool->worker[i];
      if (!list[i].revents) continue;
      const bool alive = read_bytes(w);
      take_replies(pool, w);
      if (!alive) lose_worker(pool, w);
    }
  }
  free(list);
  end_late(pool);
  return true;
}

// ------------------------------------------------------------------------------------------------------------------ columns
int pool_probe(Pool* pool, long long row, Paths* out) {
  Worker* w = &pool->worker[0];
  const long long command[2] = {COMMAND_PROBE, row};
  if (!w->pid && !start(pool, w)) return 0;
  if (!write_all(w->to, command, sizeof command)) return 0;
  w->started = wall_clock();
  for (;;) {
    struct pollfd one = {.fd = w->from, .events = POLLIN};
    if (stop_asked()) return 2;
    if (wall_clock() - w->started > pool->sweep->timeout) kill(w->pid, SIGKILL);
    if (poll(&one, 1, 100) <= 0) continue;
    const bool alive = read_bytes(w);
    Reply reply;
    if (first_reply(w, &reply)) {
      const char* bytes = w->bytes + sizeof reply;
      int found = reply.kind == REPLY_COLUMNS ? divide(bytes, (size_t)reply.n, out)
                  : reply.kind == REPLY_WRONG ? -1
                                              : 0;
      if (found < 0) cli_error(pool->sweep->cli, "%.*s", reply.n, bytes);
      drop_reply(w, &reply);
      return found;
    }
    if (!alive) {
      char message[200];
      end_worker(pool, w, message, sizeof message);
      w->size = 0;
      return 0;
    }
  }
}
