// Runs of the comparison, some at a time, each in a process: a crash, an endless run or too much memory costs one entry. A
// child returns its result through a pipe; its position in the list does not depend on the order of arrival.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"

#define PATIENCE 10.0        // times --timeout of wall clock until a child that does not work is ended too ...
#define LEAST_PATIENCE 15.0  // ... and so many seconds more

typedef struct Slot {
  pid_t pid;  // 0: free
  int in;     // end of the pipe
  int entry;
  double started;  // wall clock
  bool ended;      // by us
  char* bytes;
  size_t size, room;
} Slot;

typedef struct Pool {
  Compare* c;
  srComparedRun* entries;
  Slot* slot;
  struct pollfd* poll;
  int nslot, busy;
  Progress progress;
} Pool;

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// --------------------------------------------------------------------------------------------------------- beginning
static bool start_child(Pool* pool, Slot* slot, int entry) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  fflush(NULL);  // nothing that is not written yet may be written twice
  const pid_t pid = fork();
  if (pid == 0) {
    stop_end();
    close(ends[0]);
    child_run(pool->c, &pool->entries[entry], ends[1]);
  }
  close(ends[1]);
  if (pid < 0) return close(ends[0]), false;
  *slot = (Slot){.pid = pid, .in = ends[0], .entry = entry, .started = wall_clock()};
  pool->busy++;
  return true;
}

// ------------------------------------------------------------------------------------------------------------ ending
static void tell_end(const Compare* c, srTrialRecord* r, const Slot* slot, int status) {
  *r = (srTrialRecord){.t = (double)NAN, .seconds = (double)NAN};
  for (int i = 0; i < 3; i++) r->violation[i] = (double)NAN;
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  r->timed_out = slot->ended || number == SIGPROF;
  if (c->all.interrupted || stop_asked() || number == SIGINT)
    snprintf(r->reason, sizeof r->reason, "stopped by the user");
  else if (number == SIGPROF)
    snprintf(r->reason, sizeof r->reason, "took longer than %g s of processor time, inside of a step", c->all.timeout);
  else if (slot->ended)
    snprintf(r->reason, sizeof r->reason, "took longer than %g s; it did not use the processor", c->all.timeout);
  else if (number)
    snprintf(r->reason, sizeof r->reason, "the process of the run was ended by signal %d (%s)", number,
             strsignal(number));
  else
    snprintf(r->reason, sizeof r->reason, "the process of the run ended with status %d and no result",
             WEXITSTATUS(status));
}

// The record and samples that came through the pipe, where they are whole.
static bool take_result(const Compare* c, srComparedRun* e, const Slot* slot) {
  if (slot->size < sizeof e->record) return false;
  memcpy(&e->record, slot->bytes, sizeof e->record);
  const srComparedModel* s = &c->all.model[e->model];
  e->samples = sr_trajectory_create(s->m, s->samples);
  if (!e->samples) return false;
  const size_t width = (size_t)sr_trajectory_width(e->samples) * sizeof(double);
  const int n = e->record.samples;
  if (n < 0 || n > e->samples->n || slot->size != sizeof e->record + (size_t)n * width) return false;
  memcpy(e->samples->sample, slot->bytes + sizeof e->record, (size_t)n * width);
  e->samples->filled = n;
  return true;
}

static void end_child(Pool* pool, Slot* slot) {
  srComparedRun* e = &pool->entries[slot->entry];
  int status = 0;
  close(slot->in);
  while (waitpid(slot->pid, &status, 0) < 0 && errno == EINTR) continue;
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE && take_result(pool->c, e, slot);
  if (!good) tell_end(pool->c, &e->record, slot, status);
  free(slot->bytes);
  *slot = (Slot){0};
  pool->busy--;
  pool->c->all.done++;
  (void)progress_count(&pool->progress, pool->c->all.done, pool->c->all.planned, "runs");
}

// ----------------------------------------------------------------------------------------------------------- meantime
// Reads what is there; the end of the pipe is the end of the child.
static void read_child(Pool* pool, Slot* slot) {
  enum { PIECE = 65536 };
  if (slot->room < slot->size + PIECE) {
    char* bytes = realloc(slot->bytes, 2 * slot->room + PIECE);
    if (!bytes) {
      kill(slot->pid, SIGKILL);
      end_child(pool, slot);
      return;
    }
    slot->bytes = bytes;
    slot->room = 2 * slot->room + PIECE;
  }
  const ssize_t n = read(slot->in, slot->bytes + slot->size, PIECE);
  if (n > 0) slot->size += (size_t)n;
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) end_child(pool, slot);
}

// A child that works ends by its own clock.
static void end_sleepers(Pool* pool) {
  const double now = wall_clock();
  for (int i = 0; i < pool->nslot; i++) {
    Slot* s = &pool->slot[i];
    const double runs = 1 + fmax(1, pool->c->all.repeat);
    const double most = runs * PATIENCE * pool->c->all.timeout + LEAST_PATIENCE;
    if (!s->pid || s->ended || (!stop_asked() && now - s->started < most)) continue;
    s->ended = !stop_asked();
    kill(s->pid, SIGKILL);
  }
}

static void wait_for_children(Pool* pool) {
  for (int i = 0; i < pool->nslot; i++)
    pool->poll[i] = (struct pollfd){.fd = pool->slot[i].pid ? pool->slot[i].in : -1, .events = POLLIN};
  if (poll(pool->poll, (nfds_t)pool->nslot, 200) > 0) {
    for (int i = 0; i < pool->nslot; i++)
      if (pool->poll[i].revents && pool->slot[i].pid) read_child(pool, &pool->slot[i]);
  }
  end_sleepers(pool);
}

static Slot* free_slot(Pool* pool) {
  for (int i = 0; i < pool->nslot; i++)
    if (!pool->slot[i].pid) return &pool->slot[i];
  return NULL;
}

static void leave_out(Compare* c, srComparedRun* e, const char* reason) {
  sr_trial_leave_out(&e->record, reason);
  c->all.done++;
}

static void run_all(Pool* pool, int n, srRunFilter wanted) {
  for (int next = 0; next < n || pool->busy > 0;) {
    Slot* slot = free_slot(pool);
    if (next >= n || !slot) {
      wait_for_children(pool);
    } else if (!wanted(&pool->c->all, &pool->entries[next])) {
      next++;
    } else if (stop_asked() || pool->c->all.interrupted) {
      leave_out(pool->c, &pool->entries[next++], "stopped by the user");
    } else if (start_child(pool, slot, next)) {
      next++;
    } else if (pool->busy > 0) {
      wait_for_children(pool);  // no more processes just now
    } else {
      leave_out(pool->c, &pool->entries[next++], "no process could be started for the run");
    }
  }
}

srStatus pool_run(void* user, srComparison* all, srComparedRun* entries, int n, srRunFilter wanted) {
  Compare* c = user;
  Pool pool = {.c = c, .entries = entries, .nslot = all->jobs};
  pool.slot = calloc((size_t)pool.nslot, sizeof *pool.slot);
  pool.poll = calloc((size_t)pool.nslot, sizeof *pool.poll);
  const bool good = pool.slot && pool.poll;
  pool.progress = progress_begin(c->cli);
  if (good) run_all(&pool, n, wanted);
  all->interrupted = all->interrupted || stop_asked();
  progress_end(&pool.progress);
  free(pool.slot);
  free(pool.poll);
  if (!good) cli_error(c->cli, "out of memory");
  return good ? SR_OK : SR_MEMORY;
}
