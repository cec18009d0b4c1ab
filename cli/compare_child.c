// One run of the comparison, in a process of its own: whatever becomes of it, the others go on. It samples the motion once,
// then runs again without samples for timing, as often as the clock's resolution requires.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"

// The sanitizer reserves more memory than exists, and must be allowed to. gcc has a macro for it, clang a feature test.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define ENOUGH_SECONDS 0.1  // of processor time in timed runs: its clock may have steps of some ms
#define MOST_SECONDS 5.0    // of wall clock in them
#define LEAST_RUNS 3
#define MOST_RUNS 10000
#define LONG_SECONDS 1.0  // from here on the samples cost nothing worth a second run
#define SLACK 0.2         // s that a run may exceed its time: it checks the clock between steps

typedef struct Child {
  const Compare* c;
  const srComparedRun* e;
  const srComparedModel* s;
  srRunOptions options;
  srMessages* messages;
  srData* data;
  srTrajectory* samples;
  srRunResult result;
  double started;
  bool late;
  srTrialRecord record;
} Child;

static double clock_seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double seconds_of_processor(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }
static double wall_clock(void) { return clock_seconds(CLOCK_MONOTONIC); }

static int on_progress(void* user, double t, double t_end) {
  Child* x = user;
  (void)t, (void)t_end;
  x->late = x->late || seconds_of_processor() - x->started > x->c->timeout;
  return x->late;
}

// Ends the process where the run itself does not check the clock.
static void set_alarm(double seconds) {
  struct itimerval timer = {0};
  timer.it_value.tv_sec = (time_t)seconds;
  timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec));
  setitimer(ITIMER_PROF, &timer, NULL);
}

// A part of the memory of the machine is enough for one run: beyond it allocations fail, with a sentence.
static void limit_memory(const Compare* c) {
#if !SANITIZED
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return;
  const double bytes = fmax(0.8 * (double)pages * (double)page / c->jobs, 256e6);
  const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
  setrlimit(RLIMIT_DATA, &limit);
#else
  (void)c;
#endif
}

static void set_options(Child* x) {
  const srComparedRun* e = x->e;
  x->options = x->s->options;
  if (e->reference) {  // the stabilization of the model, not the one to be judged
    x->options = sr_run_options(x->s->m);
    x->options.t_end = x->s->options.t_end;
    x->options.control = SR_CONTROL_DEFAULT;
  }
  x->options.method = sri_method(e->method)->name;
  if (!isnan(e->rtol)) x->options.rtol = e->rtol, x->options.atol = e->atol;
  if (!isnan(e->step)) x->options.step = e->step;
  x->options.progress = on_progress;
  x->options.user = x;
}

// From the start; with samples where requested.
static srStatus run_once(Child* x, bool sampled, double* wall, double* processor) {
  sr_data_copy(x->s->m, x->s->start, x->data);
  set_alarm(x->c->timeout + SLACK);
  x->started = seconds_of_processor();
  const double before = wall_clock();
  const srModel* m = x->s->m;
  const srStatus status = sampled ? sr_run_sampled(m, x->data, &x->options, x->messages, &x->result, x->samples)
                                  : sr_run(m, x->data, &x->options, x->messages, &x->result);
  *processor = seconds_of_processor() - x->started;
  *wall = wall_clock() - before;
  set_alarm(0);
  return status;
}

static void tell_statistics(Child* x) {
  const srRunResult* r = &x->result;
  srTrialRecord* out = &x->record;
  const double violation[3] = {r->violation_position, r->violation_velocity, r->violation_acceleration};
  out->t = r->t;
  out->steps = r->stats.steps;
  out->rejected = r->stats.rejected;
  out->evaluations = r->stats.evaluations;
  for (int i = 0; i < 3; i++) out->violation[i] = fmax(out->violation[i], violation[i]);
}

// The sentence: of the run, else the first error.
static void tell_why(Child* x, srStatus status) {
  srTrialRecord* out = &x->record;
  const char* why = x->result.trouble[0] ? x->result.trouble : sr_status_text(status);
  for (int i = 0; status != SR_FAILED && i < sr_messages_count(x->messages); i++) {
    const srMessage* message = sr_messages_get(x->messages, i);
    if (message->severity != SR_SEVERITY_ERROR) continue;
    why = message->text;
    break;
  }
  if (x->late)
    snprintf(out->why, sizeof out->why, "took longer than %g s of processor time", x->c->timeout);
  else
    snprintf(out->why, sizeof out->why, "%s", why);
  out->timed_out = x->late;
}

// Runs that are timed: the least by the wall clock, or the mean by that of the processor, where it is less and its steps
// do not count. What disturbs only adds to the first, and others that run meanwhile do not count in the second.
static srStatus time_runs(Child* x) {
  const int wanted = (int)x->c->repeat;
  double walls = 0, processors = 0, least = (double)INFINITY, wall, processor;
  int n = 0;
  while (wanted > 0 ? n < wanted
                    : n < LEAST_RUNS || (n < MOST_RUNS && processors < ENOUGH_SECONDS && walls < MOST_SECONDS)) {
    const srStatus status = run_once(x, false, &wall, &processor);
    if (status != SR_OK || x->late) return status == SR_OK ? SR_FAILED : status;
    if (n++ == 0) tell_statistics(x);
    least = fmin(least, wall);
    walls += wall;
    processors += processor;
  }
  x->record.timed = n;
  x->record.seconds = processors >= 0.5 * ENOUGH_SECONDS ? fmin(least, processors / n) : least;
  return SR_OK;
}

static void simulate(Child* x) {
  double wall, processor;
  srStatus status = run_once(x, true, &wall, &processor);
  tell_statistics(x);
  if (processor > LONG_SECONDS && x->c->repeat == 0) {
    x->record.seconds = fmin(wall, processor);
    x->record.timed = 1;
  } else if (status == SR_OK && !x->late && !x->e->reference) {
    status = time_runs(x);
  }
  x->record.done = status == SR_OK && !x->late;
  if (!x->record.done) tell_why(x, status);
  x->record.samples = x->samples->filled;
}

static bool send(int out, const void* bytes, size_t size) {
  for (const char* p = bytes; size > 0;) {
    const ssize_t n = write(out, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

_Noreturn void child_run(const Compare* c, const srComparedRun* e, int out) {
  Child x = {.c = c, .e = e, .s = &c->all.model[e->model], .record = {.seconds = (double)NAN}};
  x.messages = sr_messages_create();
  x.data = sr_data_create(x.s->m);
  x.samples = sr_trajectory_create(x.s->m, x.s->samples);
  if (!x.messages || !x.data || !x.samples) _exit(EXIT_FAILED);
  limit_memory(c);
  set_options(&x);
  simulate(&x);
  const size_t size = (size_t)x.record.samples * (size_t)sr_trajectory_width(x.samples) * sizeof(double);
  _exit(send(out, &x.record, sizeof x.record) && send(out, x.samples->sample, size) ? EXIT_DONE : EXIT_FAILED);
}
