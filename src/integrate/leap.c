// Leaps over passing singularities.
// Where two branches of motion cross, the smallest singular value sigma of the rows goes to 0 like |t - t_s|, and an error
// delta of a stage turns the direction of the missing row by delta/sigma. Creeping up with small steps makes it worse; one step
// of ordinary length across, with t_s away from the nodes of the method, costs an error of h^4.
//   D = -sigma / sigma'                       distance to t_s, from the ends of the last two steps
//   h_ref                                     the largest of the last 40 steps, not the shrunken one
//   D <= 0.9 h_ref:         leap, h = D/theta, accepted where err <= 1/s, s = h |sigma'|
//   D <= 0.9 h_ref + h:     a step of min(h, D - theta h_ref) first
//   leap refused:           h_ref = 0.6 h
// In a leap err is about h^2 over the tolerance while the true error is h^4, so err h^2 falls like h^4 from one refused leap to
// the next. Where it does not, err is rounding over sigma^2 and no smaller leap is better: then it is accepted up to 1/s^2.
// A restart within a step keeps what is known of t_s. One that falls next to t_s, before or after it, steps away by an ordinary
// length, with t_s before the first node; small steps would creep.
// Measured in docs/theory/half-explicit.md. Where a sigma of some tenths falls, nothing is near: only small ones are looked at.
#include "integrate/leap.h"

#include <math.h>

#define SIGMA_SMALL 0.06
#define WINDOW 0.9
#define AT_ONCE 0.02      // of the reference step: a restart nearer to t_s than this ...
#define STEP_AWAY 0.5     // ... goes on with a step of this part of it
#define REACH_LEAST 1e-4  // of the reference step, where the slope of sigma is not known

void sri_leap_start(srLeap* leap, double theta) {
  *leap = (srLeap){.theta = theta, .cap = HUGE_VAL, .measure = HUGE_VAL};
}

// Before t_s sigma falls as it did, after it sigma rises like that.
void sri_leap_restart(srLeap* leap, double h, double back) {
  leap->cap = leap->measure = HUGE_VAL;
  if (leap->leapt) {
    leap->rate = h - back < leap->passed ? leap->rate_before : -leap->rate_before;
    leap->rate_known = true;
  }
  leap->leapt = false;
}

void sri_leap_restarted(srLeap* leap, double sigma) {
  leap->restarted = true;
  leap->sigma = sigma;
  leap->sigma_known = sigma >= 0;
}

static double reference_step(const srLeap* leap, double h) {
  double most = h;
  for (int i = 0; i < leap->nstep; ++i) most = fmax(most, leap->step[i]);
  return fmin(most, leap->cap);
}

double sri_leap_reach(const srLeap* leap, double sigma) {
  const double least = REACH_LEAST * reference_step(leap, 0);
  return leap->rate_known && leap->rate != 0 ? sigma / fabs(leap->rate) : least;
}

static void limit_error(srLeapPlan* plan, const srLeap* leap) {
  const double s = plan->h * fabs(leap->rate);
  plan->err.limit = fmax(1, 1 / s);
  plan->err.rounding_from = 0.5 * leap->measure / (plan->h * plan->h);
  plan->err.rounding_to = 1 / (s * s);
}

srLeapPlan sri_leap_plan(const srLeap* leap, double h, double rest) {
  srLeapPlan plan = {.h = h, .err = {.limit = 1}};
  if (!leap->rate_known || !leap->sigma_known || leap->sigma > SIGMA_SMALL) return plan;
  const double theta = leap->theta, reference = reference_step(leap, h);
  if (leap->restarted && leap->sigma < AT_ONCE * reference * fabs(leap->rate)) {
    plan.h = fmin(STEP_AWAY * reference, rest);
    plan.leaps = true;
    limit_error(&plan, leap);
    return plan;
  }
  if (!(leap->rate < 0)) return plan;
  plan.distance = leap->sigma / -leap->rate;
  if (plan.distance > WINDOW * reference) {
    if (plan.distance <= WINDOW * reference + h) plan.h = fmin(h, plan.distance - theta * reference);
    return plan;
  }
  plan.h = plan.distance / theta;
  plan.leaps = true;
  if (plan.h > rest && plan.distance < rest) {
    // The limit cuts the leap: a short step first, so that t_s lies right in what is left.
    const double first = (plan.distance - theta * rest) / (1 - theta);
    if (first > 0.02 * rest && first < 0.98 * plan.distance) {
      // No longer than the error control wants: what it refuses must be tried shorter the next time.
      plan.h = fmin(h, first);
      plan.leaps = false;
    } else {
      plan.h = rest;
    }
  }
  if (plan.leaps) limit_error(&plan, leap);
  return plan;
}

void sri_leap_refused(srLeap* leap, double h, double err) {
  // A smaller one from nearer by, whatever theta is: the same place must not ask for the same leap again.
  leap->cap = fmin(0.6, 0.999 * leap->theta / WINDOW) * h;
  leap->measure = err * h * h;
}

bool sri_error_accepted(srErrorLimit limit, double err) {
  return err <= limit.limit || (err >= limit.rounding_from && err <= limit.rounding_to);
}

void sri_leap_accepted(srLeap* leap, double h, bool leapt, bool exchanged, double sigma) {
  leap->leapt = leapt && leap->rate < 0;
  leap->rate_before = leap->rate;
  leap->passed = leap->leapt && leap->sigma_known ? leap->sigma / -leap->rate : 0;
  leap->restarted = false;
  // Over a leap sigma has turned round: its slope is known again after the next step.
  leap->rate_known = leap->sigma_known && !leapt && !exchanged;
  leap->rate = (sigma - leap->sigma) / h;
  leap->sigma = sigma;
  leap->sigma_known = true;
  if (leapt || leap->rate > 0) leap->cap = leap->measure = HUGE_VAL;
  if (leapt) return;
  leap->step[leap->next] = h;
  leap->next = (leap->next + 1) % SRI_LEAP_MEMORY;
  if (leap->nstep < SRI_LEAP_MEMORY) ++leap->nstep;
}
