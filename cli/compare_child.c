// One run of the comparison (sr_trial_run), in a process of its own: whatever becomes of it, the others go on.
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

// s that a run may exceed its time: it checks the clock between steps, and on a busy machine the timer is ahead of that.
#define SLACK 1.0

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
  const double bytes = fmax(0.8 * (double)pages * (double)page / c->all.jobs, 256e6);
  const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
  setrlimit(RLIMIT_DATA, &limit);
#else
  (void)c;
#endif
}

static void on_run(void* user, bool begins) {
  const Compare* c = user;
  set_alarm(begins ? c->all.timeout + SLACK : 0);
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
  const srComparedModel* s = &c->all.model[e->model];
  const srTrialWatch watch = {.user = (void*)c, .begins = on_run};
  srTrajectory* samples = sr_trajectory_create(s->m, s->samples);
  srTrialRecord record;
  if (!samples) _exit(EXIT_FAILED);
  limit_memory(c);
  if (sr_trial_run(&c->all, e, &watch, &record, samples) != SR_OK) _exit(EXIT_FAILED);
  const size_t size = (size_t)record.samples * (size_t)sr_trajectory_width(samples) * sizeof(double);
  _exit(send(out, &record, sizeof record) && send(out, samples->sample, size) ? EXIT_DONE : EXIT_FAILED);
}
