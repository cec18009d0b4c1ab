// One run of a comparison: it samples the motion once, then runs again without samples for timing, as often as the clock's resolution
// requires. And its executor for hosts that carry out runs in their own process, one after the other.
#include <math.h>
#include <sarrus/compare.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

#define ENOUGH_SECONDS 0.1  // of processor time in timed runs: its clock may have steps of some ms
#define MOST_SECONDS 5.0    // of wall clock in them
#define LEAST_RUNS 3
#define MOST_RUNS 10000
#define LONG_SECONDS 1.0  // from here on the samples cost nothing worth a second run

typedef struct Trial {
  const srComparison* c;
  const srComparedRun* e;
  const srComparedModel* s;
  const srTrialWatch* watch;
  srRunOptions options;
  srMessages* messages;
  srData* data;
  srTrajectory* samples;
  srRunResult result;
  double started;
  bool late, stopped;
  srTrialRecord* record;
} Trial;

static double seconds_of_processor(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double wall_clock(void) {
  struct timespec now = {0};
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool asked_to_stop(const srTrialWatch* watch) {
  return watch != NULL && watch->stop != NULL && watch->stop(watch->user) != 0;
}

static int on_progress(void* user, double t, double t_end) {
  Trial* x = user;
  (void)t, (void)t_end;
  x->late = x->late || seconds_of_processor() - x->started > x->c->timeout;
  x->stopped = x->stopped || asked_to_stop(x->watch);
  return x->late || x->stopped;
}

static void set_options(Trial* x) {
  const srComparedRun* e = x->e;
  x->options = x->s->options;
  if (e->reference) {  // the stabilization of the model, not the one to be judged
    x->options = sr_run_options(x->s->m);
    x->options.t_end = x->s->options.t_end;
    x->options.control = SR_CONTROL_DEFAULT;
    x->options.contact = x->s->options.contact;
    x->options.impact = x->s->options.impact;
    x->options.impact_friction = x->s->options.impact_friction;
    x->options.impact_order = x->s->options.impact_order;
  }
  x->options.method = sri_method(e->method)->name;
  if (!isnan(e->rtol)) x->options.rtol = e->rtol, x->options.atol = e->atol;
  if (!isnan(e->step)) x->options.step = e->step;
  x->options.progress = on_progress;
  x->options.user = x;
}

// From the start; with samples where requested.
static srStatus run_once(Trial* x, bool sampled, double* wall, double* processor) {
  const srModel* m = x->s->m;
  sr_data_copy(m, x->s->start, x->data);
  if (x->watch != NULL && x->watch->begins != NULL) x->watch->begins(x->watch->user, true);
  x->started = seconds_of_processor();
  const double before = wall_clock();
  const srStatus status = sampled ? sr_run_sampled(m, x->data, &x->options, x->messages, &x->result, x->samples)
                                  : sr_run(m, x->data, &x->options, x->messages, &x->result);
  *processor = seconds_of_processor() - x->started;
  *wall = wall_clock() - before;
  if (x->watch != NULL && x->watch->begins != NULL) x->watch->begins(x->watch->user, false);
  return status;
}

static bool is_cut(const Trial* x) { return x->late || x->stopped; }

static void tell_statistics(Trial* x) {
  const srRunResult* r = &x->result;
  srTrialRecord* out = x->record;
  const double violation[3] = {r->violation_position, r->violation_velocity, r->violation_acceleration};
  out->t = r->t;
  out->steps = r->stats.steps;
  out->rejected = r->stats.rejected;
  out->evaluations = r->stats.evaluations;
  out->rank_changes = r->stats.rank_changes + r->stats.rank_phases;
  out->redundant = r->stats.redundant_most;
  for (int i = 0; i < 3; i++) out->violation[i] = fmax(out->violation[i], violation[i]);
}

// The sentence: of the run, else the first error.
static void report_reason(Trial* x, srStatus status) {
  srTrialRecord* out = x->record;
  const char* reason = x->result.error_message[0] ? x->result.error_message : sr_status_text(status);
  for (int i = 0; status != SR_FAILED && i < sr_messages_count(x->messages); i++) {
    const srMessage* message = sr_messages_get(x->messages, i);
    if (message->severity != SR_SEVERITY_ERROR) continue;
    reason = message->text;
    break;
  }
  if (x->late)
    snprintf(out->reason, sizeof out->reason, "took longer than %g s of processor time", x->c->timeout);
  else
    snprintf(out->reason, sizeof out->reason, "%s", x->stopped ? "stopped by the user" : reason);
  out->timed_out = x->late;
}

// Runs that are timed: the least by the wall clock, or the mean by that of the processor, where it is less and its steps
// do not count. What disturbs only adds to the first, and others that run meanwhile do not count in the second.
static srStatus time_runs(Trial* x) {
  const int wanted = x->c->repeat;
  double walls = 0, processors = 0, least = (double)INFINITY, wall, processor;
  int n = 0;
  while (wanted > 0 ? n < wanted
                    : n < LEAST_RUNS || (n < MOST_RUNS && processors < ENOUGH_SECONDS && walls < MOST_SECONDS)) {
    const srStatus status = run_once(x, false, &wall, &processor);
    if (status != SR_OK || is_cut(x)) return status == SR_OK ? SR_FAILED : status;
    if (n++ == 0) tell_statistics(x);
    least = fmin(least, wall);
    walls += wall;
    processors += processor;
  }
  x->record->timed = n;
  x->record->seconds = processors >= 0.5 * ENOUGH_SECONDS ? fmin(least, processors / n) : least;
  return SR_OK;
}

static void simulate(Trial* x) {
  double wall, processor;
  srStatus status = run_once(x, true, &wall, &processor);
  tell_statistics(x);
  if (processor > LONG_SECONDS && x->c->repeat == 0) {
    x->record->seconds = fmin(wall, processor);
    x->record->timed = 1;
  } else if (status == SR_OK && !is_cut(x) && !x->e->reference) {
    status = time_runs(x);
  }
  x->record->done = status == SR_OK && !is_cut(x);
  if (!x->record->done) report_reason(x, status);
  x->record->samples = x->samples->filled;
}

srStatus sr_trial_run(const srComparison* c, const srComparedRun* run, const srTrialWatch* watch, srTrialRecord* record,
                      srTrajectory* samples) {
  Trial x = {.c = c, .e = run, .s = &c->model[run->model], .watch = watch, .samples = samples, .record = record};
  *record = (srTrialRecord){.seconds = (double)NAN};
  x.messages = sr_messages_create();
  x.data = sr_data_create(x.s->m);
  const bool good = x.messages != NULL && x.data != NULL;
  if (good) {
    set_options(&x);
    simulate(&x);
  }
  sr_data_destroy(x.data);
  sr_messages_destroy(x.messages);
  return good ? SR_OK : SR_MEMORY;
}

void sr_trial_leave_out(srTrialRecord* record, const char* reason) {
  const double none = (double)NAN;
  *record = (srTrialRecord){.t = none, .seconds = none, .violation = {none, none, none}};
  snprintf(record->reason, sizeof record->reason, "%s", reason);
}

// ---- in this process ----------------------------------------------------------------------------------------------------

static srStatus run_here(void* user, srComparison* c, srComparedRun* runs, int n, srRunFilter wanted) {
  const srTrialWatch* watch = user;
  for (int i = 0; i < n; i++) {
    srComparedRun* e = &runs[i];
    if (!wanted(c, e)) continue;
    c->interrupted = c->interrupted || asked_to_stop(watch);
    const srComparedModel* s = &c->model[e->model];
    srTrajectory* samples = c->interrupted ? NULL : sr_trajectory_create(s->m, s->samples);
    if (c->interrupted) {
      sr_trial_leave_out(&e->record, "stopped by the user");
    } else if (samples == NULL || sr_trial_run(c, e, watch, &e->record, samples) != SR_OK) {
      sr_trajectory_destroy(samples);
      return SR_MEMORY;
    }
    e->samples = samples;
    c->done++;
  }
  c->interrupted = c->interrupted || asked_to_stop(watch);
  return SR_OK;
}

srExecutor sr_executor_here(srTrialWatch* watch) { return (srExecutor){.user = watch, .run = run_here}; }
