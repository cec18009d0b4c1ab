// Hybrid rigid contact: by events while they are sparse, by time-stepping where they are not, and back.
//
//   to time-stepping    the event-driven side cannot go on (no solution, steps or events without end); or it has taken WORK steps and rejections for less time than
//                       STEPS_WORTH steps of time-stepping would have covered
//   back                `quiet` steps in a row without an impact, with the same contacts closed, sticking and sliding, and no more than DENSE of them; after each return
//                       that did not last, twice as many

// Both sides are whole integrators of the same model with their own sources of events, and the run has one of them at a time. At a hand-over the state is that of the last
// good time; events settle it: penetrations of time-stepping are lifted, statuses decided anew.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "simulate/run.h"
#include "system/system.h"
#include "system/tangent.h"

enum { WORK = 200, ITERATIONS_OF_A_STEP = 5, DENSE = 16, STEPS_WORTH = 10, QUIET = 40, QUIET_MOST = 2560 };

static void swap_sides(srRun* run) {
  srRunSide* s = run->other;
  const srRunSide kept = {.options = run->options,
                          .method = run->method,
                          .integrator = run->integrator,
                          .events = run->events,
                          .jumps = run->jumps,
                          .rigid = run->rigid};
  run->options = s->options;
  run->method = s->method;
  run->integrator = s->integrator;
  run->events = s->events;
  run->jumps = s->jumps;
  run->rigid = s->rigid;
  s->options = kept.options;
  s->method = kept.method;
  s->integrator = kept.integrator;
  s->events = kept.events;
  s->jumps = kept.jumps;
  s->rigid = kept.rigid;
}

// ---- life -----------------------------------------------------------------------------------------------------------------

srStatus sr_hybrid_create(srRun* run) {
  srRunSide* s = run->other = sr_alloc(sizeof *s);
  if (s == NULL) return SR_MEMORY;
  s->own = *run->options;
  s->own.contact = SR_CONTACT_TIMESTEPPING;
  s->own.method = "moreau";
  s->options = &s->own;
  s->method = sri_method_find(s->own.method);
  s->quiet_least = QUIET;
  s->system = (srModelSystem){.m = run->m,
                              .d = run->d,
                              .y_most = run->system.y_most,
                              .meter = run->system.meter,
                              .nmeter = run->system.nmeter,
                              .sparse = !sr_run_has_forces(run->m),
                              .points = true};
  if (sr_run_has_forces(run->m)) s->system.tangent = sr_tangent_create_as(run->m, SR_SOLVE_RIGID);
  if (sr_run_has_forces(run->m) && s->system.tangent == NULL) return SR_MEMORY;
  srSystem system = sr_system(&s->system);
  const srIntegratorOptions options = sr_run_integrator_options(run->m, &s->own);
  if (run->m->elimination != NULL) system.rates = NULL;
  const srStatus status = sri_create(s->own.method, &system, &options, run->messages, &s->integrator);
  if (status != SR_OK) return status;
  swap_sides(run);
  const bool good = sr_run_make_events(run, &system);
  swap_sides(run);
  return good ? SR_OK : SR_MEMORY;
}

void sr_hybrid_destroy(srRun* run) {
  srRunSide* s = run->other;
  if (s == NULL) return;
  sr_events_destroy(s->events);
  sr_jumps_destroy(s->jumps);
  sri_rigid_destroy(s->rigid);
  sri_destroy(s->integrator);
  sr_tangent_destroy(s->system.tangent);
  sr_free(s);
  run->other = NULL;
}

// ---- hand-over --------------------------------------------------------------------------------------------------------------

static bool is_stepping(const srRun* run) { return run->method->impulses; }

// The state at t, of the last step, into run->q, v, y; work done up to there is kept.
static srStatus take_state(srRun* run, double t) {
  if (sri_interpolate(run->integrator, t, run->q, run->v, run->y, run->w) != SR_OK) return SR_FAILED;
  sr_run_restart_work(run);
  sr_normalize(run->m, run->q);
  sr_run_put_followers(run, t);
  return SR_OK;
}

static srStatus hand_over(srRun* run, double t, const char* reason) {
  if (sr_run_rows_until(run, t) != SR_OK || take_state(run, t) != SR_OK) return SR_FAILED;
  swap_sides(run);
  srRunSide* s = run->other;
  if (run->rigid != NULL && sri_rigid_start(run->rigid, t, run->q, run->v, run->y) != 0) {
    swap_sides(run);  // it cannot begin here: time-stepping goes on
    s->quiet = 0;
    s->quiet_least = s->quiet_least < QUIET_MOST ? 2 * s->quiet_least : QUIET_MOST;
    return sri_restart(run->integrator, t, run->q, run->v, run->y);
  }
  sr_run_tell_hybrid(run, t, is_stepping(run) ? "time-stepping" : "event-driven", reason);
  s->quiet = 0;
  s->t_window = t;
  s->work_window = 0;
  s->lasted = t;
  if (sr_jumps_start(run->jumps) != 0) return SR_FAILED;
  if (sri_start(run->integrator, t, run->q, run->v, run->y) != SR_OK) return SR_FAILED;
  return sri_events_start(run->events->events, run->integrator);
}

bool sr_hybrid_takes_over(srRun* run, double t_good, const char* reason) {
  if (run->other == NULL || is_stepping(run) || !run->stepping) return false;
  run->result->error_message[0] = '\0';
  run->d->error_message[0] = '\0';
  return hand_over(run, t_good, reason) == SR_OK;
}

// ---- which side ---------------------------------------------------------------------------------------------------------------

// Contacts that are closed, and which of them slide, as one number.
static uint64_t contact_state(const srRun* run, int* closed) {
  uint64_t sum = 0;
  *closed = 0;

  for (int i = 0;; ++i) {
    const srUnilateral* c = sri_contact_of_step(run->integrator, i);
    const double* p = c != NULL ? sri_impulse_of(run->integrator, c->id) : NULL;
    if (c == NULL) return sum;
    if (p == NULL || !(p[0] > 0)) continue;
    *closed += c->clamp == 0;

    const bool slides = hypot(p[1], p[2]) >= 0.999 * c->mu * p[0];
    sum += ((uint64_t)c->id * 2 + slides) * 0x9e3779b97f4a7c15u;
  }
}

static srStatus monitor_stepping(srRun* run) {
  srRunSide* s = run->other;
  const srImpulses* x = sri_impulses(run->integrator);
  const uint64_t state = contact_state(run, &s->nclosed);
  s->nclosed += x->asleep;
  s->quiet = x->nstruck == 0 && state == s->state ? s->quiet + 1 : 0;
  s->state = state;
  if (s->quiet < s->quiet_least || s->nclosed > DENSE) return SR_OK;

  char reason[100];
  (void)snprintf(reason, sizeof reason, "%d steps without an impact or a change of contacts", s->quiet);
  return hand_over(run, sri_time(run->integrator), reason);
}

static srStatus monitor_events(srRun* run) {
  srRunSide* s = run->other;
  const srIntegratorStats* stats = sri_stats(run->integrator);
  const long work = stats->steps + stats->rejected + sri_rigid_stats(run->rigid)->iterations / ITERATIONS_OF_A_STEP;
  const double t = sri_time(run->integrator), worth = STEPS_WORTH * s->own.step;
  if (s->work_window == 0) s->work_window = work;
  if (work - s->work_window < WORK) return SR_OK;
  const double covered = t - s->t_window;
  s->work_window = work;
  s->t_window = t;
  if (covered >= worth) {
    s->quiet_least = QUIET;  // it lasts
    return SR_OK;
  }
  if (s->lasted > 0) s->quiet_least = s->quiet_least < QUIET_MOST ? 2 * s->quiet_least : QUIET_MOST;
  char reason[100];
  (void)snprintf(reason, sizeof reason, "the work of %d event-driven steps for %.3g s", WORK, covered);
  return hand_over(run, t, reason);
}

srStatus sr_hybrid_monitor(srRun* run) {
  if (run->other == NULL || run->stopped || run->ended) return SR_OK;
  return is_stepping(run) ? monitor_stepping(run) : monitor_events(run);
}

void sr_hybrid_add_stats(srRun* run) {
  const srRunSide* s = run->other;
  if (s == NULL || s->integrator == NULL) return;
  const srIntegratorStats* stats = sri_stats(s->integrator);
  srIntegratorStats* sum = &run->result->stats;
  sum->steps += stats->steps;
  sum->rejected += stats->rejected;
  sum->evaluations += stats->evaluations;
  sum->rank_changes += stats->rank_changes;
  sum->rank_phases += stats->rank_phases;
  if (stats->redundant_most > sum->redundant_most) sum->redundant_most = stats->redundant_most;
  sum->violation_position = fmax(sum->violation_position, stats->violation_position);
  sum->violation_velocity = fmax(sum->violation_velocity, stats->violation_velocity);
}
