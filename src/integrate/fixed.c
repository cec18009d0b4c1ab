// Steps of fixed length for explicit Runge-Kutta methods: t_k = t_origin + k h, so that times do not gather rounding.
// The last step before t_limit is shortened to end on it; the grid then starts anew there.
#include "integrate/fixed.h"

#include <float.h>
#include <math.h>

void sri_fixed_start(srIntegrator* integrator) {
  srFixed* work = integrator->work;
  work->rk.first = SRI_FIRST_UNKNOWN;
  work->t_origin = integrator->t;
  work->count = 0;
}

// End of the next step; *h is its length, the nominal one exactly wherever that is right to rounding.
static double next_time(const srIntegrator* integrator, double t_limit, double* h) {
  const srFixed* work = integrator->work;
  const double step = integrator->options.step;
  const double t_next = work->t_origin + (double)(work->count + 1) * step;
  const double rounding = 8.0 * DBL_EPSILON * fmax(fabs(work->t_origin), fabs(t_next));
  *h = step;
  // A remainder of 1e-9 steps is swallowed: nobody means it.
  if (t_limit - t_next > 1e-9 * step + rounding) return t_next;
  if (fabs(t_limit - t_next) > rounding) *h = t_limit - integrator->t;
  return t_limit;
}

// Stages, closing evaluation, acceptance.
static int try_step(srIntegrator* integrator, srFixed* work, double h, double t_new) {
  bool same = false;
  int outcome = sri_rk_stages(integrator, &work->rk, h, t_new);
  // The closing evaluation is the first stage of the next step, so it takes the tau of that one.
  double tau_next = sri_rk_tau(work->rk.tableau, 0, integrator->options.step);
  if (outcome == SRI_DONE && work->closes) outcome = sri_rk_close(integrator, &work->rk, t_new, tau_next);
  if (outcome == SRI_DONE) outcome = sri_accept(integrator, t_new, h, &same);
  if (outcome == SRI_DONE) work->rk.first = same && work->closes ? SRI_FIRST_CLOSING : SRI_FIRST_UNKNOWN;
  return outcome;
}

srStatus sri_fixed_step(srIntegrator* integrator, double t_limit) {
  srFixed* work = integrator->work;
  double h = 0.0;
  double t_new = next_time(integrator, t_limit, &h);
  if (!(t_new > integrator->t)) {
    return sri_fail(integrator, "the step %.3g is too small to advance t = %.17g", h, integrator->t);
  }
  // The closing evaluation was made for a step of nominal length; another length means another tau.
  if (work->rk.tableau->tau != NULL && h != integrator->options.step) work->rk.first = SRI_FIRST_UNKNOWN;
  srStatus status = sri_rk_first(integrator, &work->rk, sri_rk_tau(work->rk.tableau, 0, h));
  if (status != SR_OK) return status;

  int outcome = try_step(integrator, work, h, t_new);
  if (outcome != SRI_DONE) {
    char reason[128];
    work->rk.first = SRI_FIRST_UNKNOWN;
    sri_reason(integrator, outcome, reason, sizeof reason);
    return sri_fail(integrator, "the step from t = %.9g to %.9g failed: %s%s", integrator->t, t_new, reason,
                    outcome > 0 ? "; the method has a fixed step, a smaller one may help" : "");
  }
  if (t_new == t_limit) {
    work->t_origin = t_new;
    work->count = 0;
  } else {
    ++work->count;
  }
  return SR_OK;
}
