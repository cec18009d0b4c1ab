// Progress of a run, and stop requests.
#include <time.h>

#include "simulate/run.h"

#define PROGRESS_SECONDS 0.05
#define ASKED_PER_CLOCK 8  // the clock is read once in so many evaluations or rows

double sr_run_clock(void) {
  struct timespec now = {0};
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void report_progress(srRun* run, double t) {
  if (run->options->progress == NULL) return;
  const double now = sr_run_clock();
  if (now - run->reported < PROGRESS_SECONDS) return;
  run->reported = now;
  if (run->options->progress(run->options->user, t, run->t_end) != 0) run->stopped = true;
}

int sr_run_ask(void* user) {
  srRun* run = user;
  if (run->stopped) return 1;
  if (run->stop != NULL && run->stop(run->stop_user) != 0) run->stopped = true;
  if (run->options->progress != NULL && !run->stopped && ++run->asked % ASKED_PER_CLOCK == 0) {
    report_progress(run, run->stepping ? sri_time(run->integrator) : run->t0);
  }
  return run->stopped;
}

void sr_run_listen(srRun* run, bool on) {
  run->d->stop = on ? sr_run_ask : NULL;
  run->d->stop_user = on ? run : NULL;
}
