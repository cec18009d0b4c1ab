// Events of a run: their actions, and a restart from there. Contact instances, between steps.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "force/instances.h"
#include "simulate/passing.h"
#include "simulate/run.h"
#include "system/bristle.h"

static srStatus fail_formula(srRun* run, double t_good) {
  char sentence[160];
  const char* name = sr_events_bad(run->events);
  if (name == NULL && run->rigid != NULL && run->m->nevent == 0)
    return sr_run_fail_at(run, t_good, "the forces of contacts cannot be evaluated");
  (void)snprintf(sentence, sizeof sentence, "the formula of %s%.80s%s cannot be evaluated",
                 name != NULL ? "the event '" : "an event", name != NULL ? name : "", name != NULL ? "'" : "");
  return sr_run_fail_at(run, t_good, sentence);
}

static srStatus fail_gathered(srRun* run, double t, const char* name) {
  char sentence[240];
  (void)snprintf(
      sentence, sizeof sentence,
      "the event '%.80s' comes ever sooner, without end: end the run there (stop), let another event end the "
      "motion where it is slow, or take a contact",
      name);
  return sr_run_fail_at(run, t, sentence);
}

// An action that cannot be carried out.
static srStatus fail_action(srRun* run, double t, double t_good) {
  char sentence[400];
  if (run->rigid != NULL && sri_rigid_error(run->rigid)[0] != '\0') {
    (void)snprintf(sentence, sizeof sentence, "at t = %.9g %s", t, sri_rigid_error(run->rigid));
    return sr_run_fail(run, t_good, sentence);
  }
  if (sr_events_gathered(run->events) != NULL) return fail_gathered(run, t_good, sr_events_gathered(run->events));
  if (sr_motion_leaps(&run->events->motion, t, sentence, sizeof sentence)) return sr_run_fail(run, t_good, sentence);
  return sr_run_fail_at(run, t_good,
                        "the action of an event cannot be carried out: a value is not a number, or the constraints "
                        "forbid a velocity");
}

// All that happens at one instant, t: actions, and what they trigger.
static srStatus act(srRun* run, double t) {
  const double t_good = run->other != NULL ? t : sri_time_before(run->integrator);  // time-stepping goes on from t
  bool ends = false;
  const srStatus status = sri_events_act(run->events->events, t, run->q, run->v, run->y, &ends);
  run->ended = run->ended || ends;
  if (status == SR_OK) return SR_OK;
  switch (sri_events_error(run->events->events).kind) {
    case SR_EVENTS_ACTION: return fail_action(run, t, t_good);
    case SR_EVENTS_CROWD: return sr_run_fail_at(run, t, "events follow each other without end");
    default: return fail_formula(run, t_good);
  }
}

// Dense output is off the constraints by the error of the step. Rows of closed contacts are redundant more often than not, and a choice among them would turn a symmetric
// state: the rigid side has its own way.
static bool put_on_constraints(srRun* run, double t) {
  int closed = 0, stick;
  if (run->rigid != NULL) (void)sri_rigid_contradicts(run->rigid, &closed, &stick);
  if (closed > 0) return sri_rigid_put(run->rigid, t, run->q, run->v, run->y) == 0;
  if (!run->m->constrained) return true;
  return sri_put_on_constraints(run->integrator, t, run->q, run->v, run->y) == SR_OK;
}

srStatus sr_run_happen(srRun* run, double t) {
  const double t_good = sri_time_before(run->integrator);
  if (sr_run_rows_until(run, t) != SR_OK) return sr_run_fail_at(run, t_good, "an output row cannot be evaluated");
  if (sri_interpolate(run->integrator, t, run->q, run->v, run->y, run->w) != SR_OK) {
    return sr_run_fail_at(run, t_good, "the state at an event cannot be found");
  }
  sr_normalize(run->m, run->q);
  sr_run_put_followers(run, t);
  if (!put_on_constraints(run, t)) return sr_run_fail_at(run, t_good, "the constraints cannot be met at an event");
  const srIntegrator* before = run->integrator;
  const srStatus status = act(run, t);
  if (status != SR_OK || run->integrator != before) return status;  // the other side of hybrid contact has started
  sr_run_restart_work(run);
  return sri_restart(run->integrator, t, run->q, run->v, run->y) == SR_OK
             ? SR_OK
             : sr_run_fail(run, t, sri_error_message(run->integrator));
}

srStatus sr_run_take_events(srRun* run) {
  double t = HUGE_VAL;
  if (!sr_events_any(run->events, sri_time(run->integrator))) return SR_OK;
  if (sri_events_step(run->events->events, run->integrator, &t) != SR_OK) {
    return fail_formula(run, sri_time_before(run->integrator));
  }
  return t < HUGE_VAL ? sr_run_happen(run, t) : SR_OK;
}

// The state at the end of the last step into run->q, v, with y; work done so far is kept.
static void take_state(srRun* run, const double* y) {
  const srModel* m = run->m;
  const srIntegrator* x = run->integrator;
  memcpy(run->q, sri_q(x), (size_t)m->nq * sizeof(double));
  memcpy(run->v, sri_v(x), (size_t)m->nv * sizeof(double));
  if (y != run->y) memcpy(run->y, y, (size_t)m->ny * sizeof(double));
  memcpy(run->w, sri_w(x), (size_t)run->nw * sizeof *run->w);
  sr_run_restart_work(run);
}

static srStatus restart(srRun* run) {
  const double t = sri_time(run->integrator);
  return sri_restart(run->integrator, t, run->q, run->v, run->y) == SR_OK
             ? SR_OK
             : sr_run_fail(run, t, sri_error_message(run->integrator));
}

srStatus sr_run_change(srRun* run, const double* y) {
  take_state(run, y);
  const srStatus status = run->events->nsource > 0 ? act(run, sri_time(run->integrator)) : SR_OK;
  return status == SR_OK ? restart(run) : status;
}

#define BEYOND 1e-6    // of the time to an opening: a step goes so much farther, and sees it
#define SHORTEST 1e-9  // s, of such a step

// Where a law is clamped, or near its end, bodies are free and steps grow: over the opening of the contact, and with it over the end of its dissipation, whose integral has no
// error control. So none goes much farther than to where the gap opens at its present rate.
static void limit_by_openings(const srRun* run, double* limit) {
  const srContactMonitor* x = run->contacts;
  for (int i = 0; i < x->nlocated; ++i) {
    if (!(x->gap[i] < 0.0) || !(x->rate[i] > 0.0) || !sr_contact_monitor_closed(x, i)) continue;
    *limit = fmin(*limit, sri_time(run->integrator) + fmax(SHORTEST, -(1.0 + BEYOND) * x->gap[i] / x->rate[i]));
  }
}

// Fast thin bodies must not pass through each other.
static void limit_step(srRun* run, double* limit) {
  const srIntegrator* x = run->integrator;
  if (run->contacts->passing == NULL || run->contacts->nlocated == 0 || !sr_run_is_adaptive(run->options)) return;
  const double last = sri_stats(x)->step_last;
  (void)sr_run_evaluate_last(run, SR_STAGE_VELOCITY);
  if (run->contacts->measured != run->contacts->version) (void)sr_contact_monitor_measure_located(run->contacts);
  limit_by_openings(run, limit);
  sr_passing_limit(run->contacts->passing, run->contacts, x, last > 0 ? 2.0 * last : run->t_end - sri_time(x), limit);
}

static srStatus prepare_instances(srRun* run, double* limit) {
  if (run->d->instances == NULL || run->d->rigid) return SR_OK;
  const srIntegratorStats* stats = sri_stats(run->integrator);
  const double step = sr_run_is_adaptive(run->options) ? 2.0 * stats->step_last : run->options->step;
  if (sr_contact_monitor_prepare(run->contacts, run->integrator, step, limit)) sr_events_renumber(run->events);
  if (run->contacts->full) return sr_run_fail_at(run, sri_time(run->integrator), "a contact has no room");
  memcpy(run->y, sri_y(run->integrator), (size_t)run->m->ny * sizeof(double));
  const double dissipation = sr_contact_monitor_release(run->contacts, run->y);
  if (dissipation >= 0.0) {
    take_state(run, run->y);
    sr_run_add_heat(run, dissipation);
    const srStatus restarted = restart(run);
    if (restarted != SR_OK) return restarted;
  }
  if (run->d->instances->changed) sr_bristle_slots(run->m, run->d, run->system.y_most);
  run->d->instances->changed = false;
  return SR_OK;
}

srStatus sr_run_prepare_contacts(srRun* run, double* limit) {
  *limit = run->t_end;
  const srStatus status = prepare_instances(run, limit);
  if (status == SR_OK) limit_step(run, limit);
  return status;
}
