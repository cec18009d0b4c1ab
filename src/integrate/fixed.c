// Steps of fixed length: t_k = t_origin + k h, so that rounding does not accumulate in time.
// The last step before t_limit is shortened to end on it; the grid then starts anew there.
#include "integrate/fixed.h"

#include <float.h>
#include <math.h>

#include "integrate/constrained.h"

void sri_fixed_start(srIntegrator* integrator) {
  srFixed* work = integrator->work;
  work->rk.first = SRI_FIRST_UNKNOWN;
  sri_grid_start(&work->grid, integrator->t);
}

// ---- grid -------------------------------------------------------------------------------------------------------------

void sri_grid_start(srGrid* grid, double t) { *grid = (srGrid){.t_origin = t}; }

// The length is exactly the nominal one wherever that is right to rounding.
double sri_grid_next(const srGrid* grid, const srIntegrator* integrator, double t_limit, double* h) {
  const double step = integrator->options.step;
  const double t_next = grid->t_origin + (double)(grid->count + 1) * step;
  const double rounding = 8.0 * DBL_EPSILON * fmax(fabs(grid->t_origin), fabs(t_next));
  *h = step;
  // A remainder of 1e-9 steps is absorbed: it is never intended.
  if (t_limit - t_next > 1e-9 * step + rounding) return t_next;
  if (fabs(t_limit - t_next) > rounding) *h = t_limit - integrator->t;
  return t_limit;
}

void sri_grid_taken(srGrid* grid, const srIntegrator* integrator, double t_limit) {
  if (integrator->t == t_limit) {
    sri_grid_start(grid, t_limit);
  } else {
    ++grid->count;
  }
}

srStatus sri_grid_failed(srIntegrator* integrator, double t_new, int outcome) {
  char reason[sizeof integrator->reason];
  const char* advice = integrator->ops->method.adaptive ? "; the steps are all of one length, a smaller one may help"
                                                        : "; the method has a fixed step, a smaller one may help";
  sri_reason(integrator, outcome, reason, sizeof reason);
  return sri_fail(integrator, "the step from t = %.9g to %.9g failed: %s%s", integrator->t, t_new, reason,
                  outcome > 0 ? advice : "");
}

// ---- explicit methods -------------------------------------------------------------------------------------------------

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
  double t_new = sri_grid_next(&work->grid, integrator, t_limit, &h);
  if (!(t_new > integrator->t)) {
    return sri_fail(integrator, "the step %.3g is too small to advance t = %.17g", h, integrator->t);
  }
  // The closing evaluation assumed a step of nominal length; another length means another tau.
  if (work->rk.tableau->tau != NULL && h != integrator->options.step) work->rk.first = SRI_FIRST_UNKNOWN;
  srStatus status = sri_rk_first(integrator, &work->rk, sri_rk_tau(work->rk.tableau, 0, h));
  if (status != SR_OK) return status;

  int outcome = try_step(integrator, work, h, t_new);
  if (outcome == SRI_REFUSED && sri_partition_exchange(integrator)) outcome = try_step(integrator, work, h, t_new);
  if (outcome != SRI_DONE) {
    work->rk.first = SRI_FIRST_UNKNOWN;
    return sri_grid_failed(integrator, t_new, outcome);
  }
  sri_grid_taken(&work->grid, integrator, t_limit);
  return SR_OK;
}
