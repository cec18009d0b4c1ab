// Crossing of passing singularities.
// Where two branches of motion cross, the smallest singular value sigma of the constraint rows goes to 0 like |t - t_s|, and an error
// delta of a stage turns the direction of the missing row by delta/sigma. Approaching with small steps makes it worse; one step
// of ordinary length across, with t_s away from the nodes of the method, costs an error of h^4.
//   D = -sigma / sigma'                       distance to t_s, from the ends of the last two steps
//   h_ref                                     the largest of the last 40 steps, not the shrunken one
//   D <= 0.9 h_ref:         crossing step, h = D/theta, accepted where err <= 1/s, s = h |sigma'|
//   D <= 0.9 h_ref + h:     a step of min(h, D - theta h_ref) first
//   crossing refused:       h_ref = 0.6 h
// In a crossing err is about h^2 over the tolerance while the true error is h^4, so err h^2 falls like h^4 from one refused crossing to
// the next. Where it does not, err is rounding over sigma^2 and shorter crossings do not help: then it is accepted up to 1/s^2. Neither is accepted beyond
// the number of tolerances that the state itself is large: dense output of such a step, in which events are located, is none of the motion.
// A restart within a step keeps what is known of t_s. One next to t_s, before or after it, steps away by an ordinary
// length, with t_s before the first node; small steps would approach it slowly.
// Measured in docs/theory/half-explicit.md. Where a sigma of some tenths falls, no singularity is near: only small ones are considered.
#include "integrate/crossing.h"

#include <math.h>

#define SIGMA_SMALL 0.06
#define WINDOW 0.9
#define AT_ONCE 0.02      // of the reference step: a restart nearer to t_s than this ...
#define STEP_AWAY 0.5     // ... continues with a step of this part of it
#define REACH_LEAST 1e-4  // of the reference step, where the rate of sigma is unknown

void sri_crossing_start(srCrossing* crossing, double theta) {
  *crossing = (srCrossing){.theta = theta, .cap = HUGE_VAL, .measure = HUGE_VAL};
}

// Before t_s sigma falls at its present rate, after it sigma rises at the same rate.
void sri_crossing_restart(srCrossing* crossing, double h, double back) {
  crossing->cap = crossing->measure = HUGE_VAL;
  if (crossing->crossed) {
    crossing->rate = h - back < crossing->passed ? crossing->rate_before : -crossing->rate_before;
    crossing->rate_known = true;
  }
  crossing->crossed = false;
}

void sri_crossing_restarted(srCrossing* crossing, double sigma) {
  crossing->restarted = true;
  crossing->sigma = sigma;
  crossing->sigma_known = sigma >= 0;
}

static double reference_step(const srCrossing* crossing, double h) {
  double most = h;
  for (int i = 0; i < crossing->nstep; ++i) most = fmax(most, crossing->step[i]);
  return fmin(most, crossing->cap);
}

double sri_crossing_reach(const srCrossing* crossing, double sigma) {
  const double least = REACH_LEAST * reference_step(crossing, 0);
  return crossing->rate_known && crossing->rate != 0 ? sigma / fabs(crossing->rate) : least;
}

static void limit_error(srCrossingPlan* plan, const srCrossing* crossing, double most) {
  const double s = plan->h * fabs(crossing->rate);
  plan->err.limit = fmax(1, fmin(1 / s, most));
  plan->err.rounding_from = 0.5 * crossing->measure / (plan->h * plan->h);
  plan->err.rounding_to = fmin(1 / (s * s), most);
}

srCrossingPlan sri_crossing_plan(const srCrossing* crossing, double h, double rest, double most) {
  srCrossingPlan plan = {.h = h, .err = {.limit = 1}};
  if (!crossing->rate_known || !crossing->sigma_known || crossing->sigma > SIGMA_SMALL) return plan;
  const double theta = crossing->theta, reference = reference_step(crossing, h);
  if (crossing->restarted && crossing->sigma < AT_ONCE * reference * fabs(crossing->rate)) {
    plan.h = fmin(STEP_AWAY * reference, rest);
    plan.crossings = true;
    limit_error(&plan, crossing, most);
    return plan;
  }
  if (!(crossing->rate < 0)) return plan;
  plan.distance = crossing->sigma / -crossing->rate;
  if (plan.distance > WINDOW * reference) {
    if (plan.distance <= WINDOW * reference + h) plan.h = fmin(h, plan.distance - theta * reference);
    return plan;
  }
  plan.h = plan.distance / theta;
  plan.crossings = true;
  if (plan.h > rest && plan.distance < rest) {
    // The limit cuts the crossing: a short step first, so that t_s is well placed in the remainder.
    const double first = (plan.distance - theta * rest) / (1 - theta);
    if (first > 0.02 * rest && first < 0.98 * plan.distance) {
      // No longer than error control requests: what it refuses must be tried shorter the next time.
      plan.h = fmin(h, first);
      plan.crossings = false;
    } else {
      plan.h = rest;
    }
  }
  if (plan.crossings) limit_error(&plan, crossing, most);
  return plan;
}

void sri_crossing_refused(srCrossing* crossing, double h, double err) {
  // A shorter one from nearby, whatever theta is: the same state must not request the same crossing again.
  crossing->cap = fmin(0.6, 0.999 * crossing->theta / WINDOW) * h;
  crossing->measure = err * h * h;
}

bool sri_error_accepted(srErrorLimit limit, double err) {
  return err <= limit.limit || (err >= limit.rounding_from && err <= limit.rounding_to);
}

void sri_crossing_accepted(srCrossing* crossing, double h, bool crossed, bool exchanged, double sigma) {
  crossing->crossed = crossed && crossing->rate < 0;
  crossing->rate_before = crossing->rate;
  crossing->passed = crossing->crossed && crossing->sigma_known ? crossing->sigma / -crossing->rate : 0;
  crossing->restarted = false;
  // Over a crossing sigma has turned round: its rate is known again after the next step.
  crossing->rate_known = crossing->sigma_known && !crossed && !exchanged;
  crossing->rate = (sigma - crossing->sigma) / h;
  crossing->sigma = sigma;
  crossing->sigma_known = true;
  if (crossed || crossing->rate > 0) crossing->cap = crossing->measure = HUGE_VAL;
  if (crossed) return;
  crossing->step[crossing->next] = h;
  crossing->next = (crossing->next + 1) % SRI_CROSSING_MEMORY;
  if (crossing->nstep < SRI_CROSSING_MEMORY) ++crossing->nstep;
}
