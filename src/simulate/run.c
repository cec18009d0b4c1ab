// Simulation: the model's system, an integrator, rows at exact output times, the energy balance, and failures (run.h).
//
// A step, in order (step_to_end):
//   1. expired contact instances are removed, the others cover the step, which ends where a function of the time alone switches
//   2. the integrator takes it; stop requests are honoured only here
//   3. a state beyond all bounds ends the run; a method limited by stability is reported; the work of impulses of rigid contacts is counted
//   4. events within it: rows up to the first one, its actions, a restart from there
//   5. contacts that it has closed, force laws that jump
//   6. late events: what the end of the step has triggered
//   7. joints beyond their limits are counted
//   8. rows of the time grid up to its end, by dense output
//   9. the energy balance, with the violation of the constraints
#include "simulate/run.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "constraint/constraint.h"
#include "math/v4.h"
#include "model/private.h"
#include "simulate/passing.h"

#define STATE_BOUND 1e15  // beyond it a state has no significant digit left

int sr_run_evaluate_last(srRun* run, srStage stage) {
  const srIntegrator* x = run->integrator;
  return sr_evaluate_motion(run->m, run->d, sri_time(x), sri_q(x), sri_v(x), sri_y(x), stage);
}

// ---- watching -----------------------------------------------------------------------------------------------------------

// Joint coordinates after the last step.
static const double* joint_positions(srRun* run) {
  if (!run->m->absolute) return sri_q(run->integrator);
  (void)sr_run_evaluate_last(run, SR_STAGE_POSITION);
  return run->d->jq;
}

void sr_run_count_limits(srRun* run) {
  const srModel* m = run->m;
  const double* q = m->priv->has_limits ? joint_positions(run) : NULL;
  for (int j = 0; q != NULL && j < m->njoint; ++j) {
    const double lower = m->priv->limits[2 * j], upper = m->priv->limits[2 * j + 1];
    if (isnan(lower)) continue;
    for (int i = m->joint_q[j]; i < m->joint_q[j] + m->joint_nq[j]; ++i) {
      if (q[i] >= lower && q[i] <= upper) continue;
      ++run->result->limits_passed;
      return;
    }
  }
}

SRM_CLONES static bool within(const double* x, int n) {
  int i = 0;
  for (; i + 8 <= n; i += 8) {  // eight in one decision
    const v4_any* at = (const v4_any*)(x + i);
    const v4u good = (v4u)(v4_abs(at[0]) <= STATE_BOUND) & (v4u)(v4_abs(at[1]) <= STATE_BOUND);
    if ((good[0] & good[1] & good[2] & good[3]) == 0) return false;
  }
  for (; i < n; ++i) {
    if (!(fabs(x[i]) <= STATE_BOUND)) return false;
  }
  return true;
}

static bool state_within_bounds(const srRun* run) {
  return within(sri_q(run->integrator), run->m->nq) && within(sri_v(run->integrator), run->m->nv) &&
         within(sri_y(run->integrator), run->m->ny);
}

// An explicit method requested by name keeps its name, and a warning reports where it is unsuitable.
static void monitor_crawling(srRun* run) {
  double since, factor;
  if (run->crawled || !sri_crawls(run->integrator, &since, &factor)) return;
  run->crawled = true;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "the motion is stiff for %s from t = %.6g s on: its steps are bounded by stability, %.2g times "
                  "shorter than accuracy asks "
                  "for; try method auto or radau5",
                  run->options->method, since, factor);
}

// ---- the loop -----------------------------------------------------------------------------------------------------------

// 1 to 6 of a step. A stop request leaves the state before it.
static srStatus step(srRun* run) {
  double limit;
  const srStatus ready = sr_run_prepare_contacts(run, &limit);
  if (ready != SR_OK) return ready;
  limit = fmin(limit, sr_jumps_next(run->jumps, sri_time(run->integrator), sri_stats(run->integrator)->step_last));
  sr_run_listen(run, true);
  const srStatus stepped = sri_step(run->integrator, limit);
  sr_run_listen(run, false);
  if (stepped != SR_OK) return run->stopped ? SR_OK : sr_run_fail_step(run);
  if (!state_within_bounds(run)) return sr_run_fail_bounds(run);
  monitor_crawling(run);
  sr_run_take_impulses(run);
  sr_run_tell_struck(run);
  sr_run_tell_jam(run);
  sr_run_tell_sleep(run);
  const double t = sri_time(run->integrator);
  const srIntegrator* before = run->integrator;
  const srStatus status = sr_run_take_events(run);
  if (status != SR_OK || run->integrator != before) return status;
  const bool whole = sri_time(run->integrator) == t;
  if (sr_contact_monitor_step(run->contacts, run->integrator, run, sr_run_tell_impact) != 0) {
    return sr_run_fail_at(run, sri_time_before(run->integrator), "a contact cannot be evaluated");
  }
  if (whole && run->contacts->passing != NULL) {
    sr_passing_check(run->contacts->passing, run->contacts, run->integrator, run, sr_run_tell_passed);
  }
  if (sr_jumps_step(run->jumps) != 0) {
    return sr_run_fail_at(run, sri_time_before(run->integrator), "the formula of a law cannot be evaluated");
  }
  double t_late = sri_time(run->integrator);
  return sr_events_late(run->events, &t_late) ? sr_run_happen(run, t_late) : SR_OK;
}

srStatus sr_run_step(srRun* run) {
  srStatus status = step(run);
  if (status == SR_OK) status = sr_hybrid_monitor(run);
  return status == SR_OK ? sr_run_check_stall(run) : status;
}

bool sr_run_goes_on(const srRun* run) { return sri_time(run->integrator) < run->t_end && !run->stopped && !run->ended; }

static srStatus step_to_end(srRun* run) {
  while (sr_run_goes_on(run)) {
    const srIntegrator* before = run->integrator;
    const long steps = sri_stats(before)->steps;
    const srStatus status = sr_run_step(run);
    const bool taken =
        run->integrator != before || sri_stats(before)->steps > steps;  // or abandoned, by a stop request
    if (status != SR_OK || !taken) return status;
    sr_run_count_limits(run);
    if (sr_run_rows_until(run, sri_time(run->integrator)) != SR_OK) {
      return sr_run_fail_at(run, sri_time_before(run->integrator), "an output row cannot be evaluated");
    }
    sr_run_balance_step(run);
  }
  return SR_OK;
}

// d holds the last state, evaluated; the last row.
static srStatus finish(srRun* run) {
  if (!run->stepping) {
    sr_run_say(run, "stopped at t = %.9g by the caller, in the assembly", run->t0);
    return SR_OK;
  }
  const double t = sri_time(run->integrator);
  run->result->t = t;
  if (sr_run_evaluate_at(run, t, SR_STAGE_FRAMES) != 0) {
    return sr_run_fail_at(run, t, "the equations of motion cannot be evaluated at the end");
  }
  sr_run_balance(run);
  if (run->stopped) {
    sr_run_say(run, "stopped at t = %.9g by the caller", t);
  } else {
    sr_run_hand_out(run);
  }
  return SR_OK;
}

void sr_run_gather(srRun* run) {
  srRunResult* result = run->result;
  if (run->integrator != NULL) {
    result->stats = *sri_stats(run->integrator);
    sr_hybrid_add_stats(run);
  }
  result->violation_position = fmax(run->system.violation_position, result->stats.violation_position);
  result->violation_velocity = fmax(run->system.violation_velocity, result->stats.violation_velocity);
  sr_run_note_acceleration(run, result->stats.violation_acceleration);
  result->rank = run->m->elimination != NULL ? run->m->ng : result->stats.rank;
  if (run->contacts != NULL) result->clamps = run->contacts->clamps;
  if (run->contacts != NULL) result->penetration = run->contacts->deepest;
  const srRigid* rigid = run->rigid != NULL || run->other == NULL ? run->rigid : run->other->rigid;
  if (rigid != NULL) {
    const srRigidStats* of = sri_rigid_stats(rigid);
    result->penetration = fmax(result->penetration, -of->gap);
    result->complementarity = of->residual;
    result->problems = of->problems;
    result->impact = of->impact;
    result->unsolved = of->unsolved;
  }
  if (run->jumps != NULL) result->jumps = run->jumps->jumps;
  result->asleep = sr_run_count_asleep(run);
}

// What the parts of the run tell when it is over.
static void conclude(srRun* run) {
  sr_run_gather(run);
  if (run->integrator != NULL) sr_run_tell_integrator(run);
  sr_run_tell_odd_rows(run);
  sr_run_tell_impulses(run);
  run->result->seconds = sr_run_clock() - run->started;
}

// Entries of the list of events are written before they count.
static void clear(srRunResult* result) {
  const size_t list = offsetof(srRunResult, event), behind = list + sizeof result->event;
  memset(result, 0, list);
  memset((char*)result + behind, 0, sizeof *result - behind);
}

srStatus sr_run(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages, srRunResult* result) {
  clear(result);
  result->t = d->t;
  srRun run = {.m = m, .d = d, .options = options, .result = result, .messages = messages};
  run.method = sri_method_find(options->method);
  run.stop = d->stop;
  run.stop_user = d->stop_user;
  run.started = run.reported = sr_run_clock();
  srStatus status = sr_run_check(&run);
  if (status == SR_OK) status = sr_run_prepare(&run);
  if (status == SR_OK) status = sr_run_start(&run);
  if (status == SR_OK) status = step_to_end(&run);
  if (status == SR_OK) status = finish(&run);
  d->stop = run.stop;
  d->stop_user = run.stop_user;
  conclude(&run);
  sr_run_release(&run);
  return status;
}
