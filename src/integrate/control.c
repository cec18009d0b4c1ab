// Step-size control of the adaptive methods, for an error estimate that falls like h^e; err is the error over the tolerance.
//   default   h_next = h * min(10, max(0.2, 0.9 err^-alpha err_before^beta)),   alpha = 1/e - 3/4 beta,   beta = 0.2/e
//   positions h_next = h * min(10, max(0.2, 0.3 err^(-1/p))),                   p = e - 1
//   fixed     t_k = t_0 + k h; the error is not used
// err is one norm for all methods, sri_error_norm: the root mean square over (q, v, y); under positions over (q, y). Where the system bounds the errors of its quadratures (w_most), the largest of these counts too.
// default: Hairer, Norsett, Wanner I, II.4, and the controller of Gustafsson in the form of Hairer's dopri5 (e = 5). positions:
// Haddouni et al. (2017), whose errors are those of positions (eq. 29, 33 and section 3.3), eq. 30, with its exponent
// 1/p where 1/(p+1) is usual, and its safety factor. The generalized-alpha methods have e = 3, the pairs of order 5(4) and hem5
// e = 5. A step across a singular position is planned by crossing.c, except under `fixed`.
#include "integrate/control.h"

#include <float.h>
#include <math.h>

#include "integrate/constrained.h"

#define SAFETY 0.9
#define SAFETY_POSITIONS 0.3
#define BETA 0.04  // where the estimate falls like h^5
#define SHRINK_MOST 0.2
#define GROW_MOST 10.0
#define NO_ERROR 1e-9
#define AFTER_CROSSING 0.3  // of the crossing: the step after it
// After so many accepted steps their progress is checked. They have collapsed when the limit is out of reach at their
// rate: with steps far shorter than before, or over so many windows of ADVANCE_STEPS in a row.
#define ADVANCE_STEPS 5000
#define ADVANCE_MOST 1e9    // remaining steps allowed where they have become short
#define ADVANCE_SHORT 1e-3  // of the largest step
#define ADVANCE_NEVER 1e12  // remaining steps allowed where they have always been short: months, whatever the model is
#define ADVANCE_WINDOWS 10

void sri_control_start(srIntegrator* integrator, srControl* control, double theta, int estimate) {
  control->estimate = estimate;
  // Without history the iteration of an implicit method begins farther from its solution: it starts anew.
  const bool kept =
      integrator->continues && integrator->options.keeps_step && control->h > 0 && !integrator->ops->method.implicit;
  if (!kept) control->h = integrator->options.step;
  control->err_before = 1e-4;
  sri_grid_start(&control->grid, integrator->t);
  srConstrained* c = integrator->constrained;
  if (c != NULL && !c->goes_on) sri_crossing_start(&c->crossing, theta);
  if (c != NULL) c->crossing.theta = theta;
}

bool sri_control_needs_first(const srIntegrator* integrator, const srControl* control) {
  return control->h <= 0.0 && sri_is_adaptive(integrator);
}

bool sri_is_adaptive(const srIntegrator* integrator) {
  return integrator->ops->method.adaptive && integrator->options.control != SR_CONTROL_FIXED;
}

double sri_largest_step(const srIntegrator* integrator) {
  return integrator->options.step_max > 0.0 ? integrator->options.step_max : HUGE_VAL;
}

static inline double larger(double a, double b) { return a > b ? a : b; }  // fmax is a call
static inline double smaller(double a, double b) { return a < b ? a : b; }

static double smallest_step(const srIntegrator* integrator) {
  double ulp = nextafter(fabs(integrator->t), HUGE_VAL) - fabs(integrator->t);
  return fmax(integrator->options.step_min, 16.0 * ulp);
}

// Not below the smallest step, which is computed where it matters, nor above the largest.
static double bounded_step(const srIntegrator* integrator, double h) {
  const double clear = 64 * DBL_EPSILON * fabs(integrator->t) + DBL_MIN;
  if (!(h > clear && h >= integrator->options.step_min)) h = fmax(h, smallest_step(integrator));
  return smaller(h, sri_largest_step(integrator));
}

static inline double allowed_error(const srIntegrator* integrator, int i, double size) {
  const srSystem* s = &integrator->system;
  const double allowed = larger(integrator->options.atol + integrator->options.rtol * size, DBL_MIN);
  const double most = s->y_most != NULL && i >= s->nq + s->nv ? s->y_most[i - s->nq - s->nv] : 0;
  return most > 0 ? fmin(allowed, most) : allowed;
}

double sri_allowed_error(const srIntegrator* integrator, int i, double size) {
  return allowed_error(integrator, i, size);
}

bool sri_counts_velocities(const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  // A system that has only velocities is measured by them.
  return integrator->options.control != SR_CONTROL_POSITIONS || s->nq + s->ny == 0;
}

int sri_unused_states(const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  int n = 0;
  for (int i = 0; s->y_most != NULL && i < s->ny; ++i) n += s->y_most[i] < 0;
  return n;
}

double sri_error_norm(const srIntegrator* integrator, const double* error, double tolerances) {
  const srSystem* s = &integrator->system;
  const int left_out = sri_counts_velocities(integrator) ? 0 : s->nv, n = integrator->ncontrol - left_out;
  const double slack = fmax(1.0, integrator->velocity_slack);
  double sum = 0.0;
  for (int k = 0; k < n; ++k) {
    const int i = k < s->nq ? k : k + left_out;
    const double size = larger(fabs(integrator->x[i]), fabs(integrator->x_new[i]));
    const double allowed = allowed_error(integrator, i, size) * (i >= s->nq && i < s->nq + s->nv ? slack : 1.0);
    const double ratio = error[i] / (tolerances * allowed);
    sum += ratio * ratio;
  }
  const int counted = n - sri_unused_states(integrator);  // unused entries have no error
  return counted > 0 ? sqrt(sum / counted) : 0.0;
}

bool sri_controls_work(const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  return s->nw > 0 && s->w_most != NULL && *s->w_most > 0 && integrator->options.control == SR_CONTROL_DEFAULT;
}

double sri_work_norm(const srIntegrator* integrator, const double* error) {
  double most = 0.0;
  for (int k = 0; sri_controls_work(integrator) && k < integrator->system.nw; ++k) {
    const double ratio = fabs(error[k]) / *integrator->system.w_most;
    if (!(ratio <= most)) most = ratio;  // not a number too
  }
  return isfinite(most) ? most : 0.0;  // what is not finite cannot stop a run
}

double sri_scaled_norm(const srIntegrator* integrator, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    double ratio = (a[i] - (b != NULL ? b[i] : 0.0)) / sri_allowed_error(integrator, i, fabs(integrator->x[i]));
    sum += ratio * ratio;
  }
  const int n = integrator->ncontrol - sri_unused_states(integrator);
  return n > 0 ? sqrt(sum / n) : 0.0;
}

// An Euler step of h0 gives x''; then h^estimate max(|x'|, |x''|) = 0.01.
double sri_first_step(srIntegrator* integrator, const srControl* control, double* k0, double* k1) {
  const double most = sri_largest_step(integrator), one = 1.0;
  const double d0 = sri_scaled_norm(integrator, integrator->x, NULL), d1 = sri_scaled_norm(integrator, k0, NULL);
  double h0 = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, most);
  sri_combine(integrator->n, integrator->x, h0, 1, &one, &k0, integrator->x_new);
  if (sri_not_finite(integrator, integrator->x_new) >= 0) return h0;
  int outcome = sri_rates(integrator, integrator->t + h0, integrator->x_new, SR_TAU_ELEMENT, k1);
  // Error control will correct it; only a guess is needed here.
  if (outcome != SRI_DONE || sri_not_finite(integrator, k1) >= 0) return h0;
  const double d2 = sri_scaled_norm(integrator, k1, k0) / h0;
  const double dmax = fmax(d1, d2);
  double h1 = dmax <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / dmax, 1.0 / control->estimate);
  return fmin(fmin(100.0 * h0, h1), most);
}

// Lets a step of length h end on t_limit when it would pass it or nearly reach it, and halves the remainder where that
// would be tiny.
static srTrial cut_step(const srIntegrator* integrator, double h, double t_limit) {
  const double rest = t_limit - integrator->t;
  // Stretched by 1 %, but not over step_max by more than rounding.
  const double reach = larger(smaller(1.01 * h, sri_largest_step(integrator)), h * (1.0 + 1e-12));
  if (rest <= reach) return (srTrial){.h = rest, .t_new = t_limit, .cut = rest < h, .limit = {.limit = 1}};
  if (rest < 2.0 * h) {
    return (srTrial){.h = 0.5 * rest, .t_new = integrator->t + 0.5 * rest, .cut = true, .limit = {.limit = 1}};
  }
  return (srTrial){.h = h, .t_new = integrator->t + h, .limit = {.limit = 1}};
}

// The next step to try: as error control requests, or as a nearby singular position requires.
static srTrial plan_trial(const srIntegrator* integrator, const srControl* control, double t_limit) {
  const double rest = t_limit - integrator->t;
  const srConstrained* c = integrator->constrained;
  if (c == NULL || !sri_crosses(integrator)) {
    return cut_step(integrator, control->h, t_limit);
  }
  srCrossingPlan plan =
      sri_crossing_plan(&c->crossing, control->h, rest, 1 / fmax(integrator->options.rtol, DBL_EPSILON));
  if (c->h_short > 0) plan = (srCrossingPlan){.h = c->h_short, .err = {.limit = 1}};
  if (!plan.crossings && plan.h == control->h) return cut_step(integrator, control->h, t_limit);
  srTrial trial = {.h = fmin(plan.h, rest), .cut = true, .crossings = plan.crossings, .limit = plan.err};
  trial.t_new = trial.h == rest ? t_limit : integrator->t + trial.h;
  return trial;
}

// Factor of the step size after a step of this error. An error of 0 lets it grow as far as it may: so does one of rounding, whose factor is above that for every e up to 6.
static double rule_factor(const srIntegrator* integrator, const srControl* control, double err, bool accepted) {
  const double given = integrator->options.safety, e = control->estimate;
  if (err < NO_ERROR && accepted && e <= 6 && given == 0 && integrator->options.control != SR_CONTROL_POSITIONS)
    return GROW_MOST;
  err = fmax(err, 1e-30);
  if (integrator->options.control == SR_CONTROL_POSITIONS) {
    return (given > 0.0 ? given : SAFETY_POSITIONS) * pow(err, -1.0 / (e - 1.0));
  }
  const double beta = BETA * (5.0 / e), alpha = 1.0 / e - 0.75 * beta;
  const double factor = (given > 0.0 ? given : SAFETY) * pow(err, -alpha);
  return accepted ? factor * pow(control->err_before, beta) : factor;
}

// The step after an accepted one of length trial.h with error err.
static void plan_next(const srIntegrator* integrator, srControl* control, srTrial trial, double err, bool rejected) {
  double factor = rule_factor(integrator, control, err, true);
  factor = smaller(GROW_MOST, larger(SHRINK_MOST, factor));
  if (rejected) factor = smaller(factor, 1.0);
  double h = trial.h * factor;
  if (trial.crossings) {
    h = AFTER_CROSSING * trial.h;
  } else if (!trial.cut) {
    control->err_before = larger(err, 1e-4);
  } else if (factor >= GROW_MOST) {
    // The limit made this step so short that its error is not informative: the planned step is kept.
    h = fmax(h, control->h);
  }
  control->h = bounded_step(integrator, h);
}

// Factor for the next trial after one that was not accepted.
static double shrink(const srIntegrator* integrator, const srControl* control, int outcome, double err) {
  if (outcome == SRI_NOT_FINITE) return SHRINK_MOST;
  if (err <= 1.0) return 0.5;  // a callback refused
  return fmax(SHRINK_MOST, rule_factor(integrator, control, err, false));
}

static srStatus give_up(srIntegrator* integrator, int outcome, double h, double err) {
  char reason[sizeof integrator->reason];
  sri_reason(integrator, outcome, reason, sizeof reason);
  integrator->told_to_stop = outcome < 0;
  if (outcome < 0) {
    return sri_fail(integrator, "the step from t = %.9g of length %.3g failed: %s", integrator->t, h, reason);
  }
  if (outcome == SRI_REFUSED && err > 1.0) {
    return sri_fail(
        integrator,
        "at t = %.9g the error is still %.3g times the tolerance with a step of %.3g, and the least step is "
        "%.3g",
        integrator->t, err, h, smallest_step(integrator));
  }
  return sri_fail(integrator, "at t = %.9g no step succeeds, the last try was %.3g and the least step is %.3g: %s",
                  integrator->t, h, smallest_step(integrator), reason);
}

static void note_accepted(srIntegrator* integrator, srTrial trial) {
  srConstrained* c = integrator->constrained;
  if (c == NULL) return;
  if (trial.crossings && c->crossing.rate < 0) {
    ++integrator->stats.crossings;
    const double distance = c->crossing.sigma / -c->crossing.rate;
    sri_rank_event(integrator, integrator->t_before + distance, SR_RANK_PASSED, c->rank, c->rank, -1);
  }
  sri_crossing_accepted(&c->crossing, trial.h, trial.crossings || c->h_short > 0, c->rechosen, c->sigma);
  c->h_short = 0;
}

// ---- progress ---------------------------------------------------------------------------------------------------------

void sri_advance_start(srIntegrator* integrator) {
  srAdvance* advance = &integrator->advance;
  // Restarts at events do not reset the count: many short spans are no progress either.
  if (advance->steps > 0 && integrator->t >= advance->t) return;
  *advance = (srAdvance){.t = integrator->t};
}

static srStatus fail_collapsed(srIntegrator* integrator, double advanced, double left) {
  const srMethod* method = &integrator->ops->method;
  return sri_fail(
      integrator,
      "at t = %.9g the steps of %s have collapsed: the last %d of them went only %.3g, and about %.1g more are left; "
      "%s",
      integrator->t, method->name, ADVANCE_STEPS, advanced, left,
      method->implicit
          ? "a law jumps or chatters here, or rounding is larger than the tolerance: take a larger rtol and "
            "atol, or a smoother law"
          : "the motion is stiff here, or a law jumps or chatters: take an implicit method (radau5), or a "
            "larger rtol and atol");
}

srStatus sri_advance_check(srIntegrator* integrator, double t_limit) {
  srAdvance* advance = &integrator->advance;
  // auto leaves this to its two methods: one that makes no progress hands over to the other.
  if (advance->steps < ADVANCE_STEPS || !sri_is_adaptive(integrator) || integrator->ops->method.switches) return SR_OK;
  const double advanced = integrator->t - advance->t, mean = advanced / ADVANCE_STEPS, rest = t_limit - integrator->t;
  const bool never = rest > ADVANCE_NEVER * mean, shorter = mean < ADVANCE_SHORT * integrator->stats.step_largest;
  *advance = (srAdvance){.t = integrator->t, .windows = never ? advance->windows + 1 : 0};
  if ((shorter && rest > ADVANCE_MOST * mean) || advance->windows == ADVANCE_WINDOWS) {
    return fail_collapsed(integrator, advanced, rest / mean);
  }
  return SR_OK;
}

// One step of the grid. It is retried only where an equation that had been left out was added.
static srStatus fixed_step(srIntegrator* integrator, srControl* control, double t_limit, srTryStep try_step) {
  const srConstrained* c = integrator->constrained;
  srTrial trial = {.limit = {.limit = HUGE_VAL}};
  trial.t_new = sri_grid_next(&control->grid, integrator, t_limit, &trial.h);
  if (!(trial.t_new > integrator->t)) {
    return sri_fail(integrator, "the step %.3g is too small to advance t = %.17g", trial.h, integrator->t);
  }
  double err = 0.0;
  int outcome = SRI_REFUSED;
  for (bool again = true; again && outcome == SRI_REFUSED;) {
    const int rank = c != NULL ? c->rank : 0;
    integrator->reason[0] = '\0';
    outcome = try_step(integrator, trial, &err);
    again = c != NULL && c->rank > rank;
  }
  if (outcome != SRI_DONE) return sri_grid_failed(integrator, trial.t_new, outcome);
  sri_grid_taken(&control->grid, integrator, t_limit);
  return SR_OK;
}

srStatus sri_control_step(srIntegrator* integrator, srControl* control, double t_limit, srTryStep try_step) {
  if (!sri_is_adaptive(integrator)) return fixed_step(integrator, control, t_limit, try_step);
  control->h = bounded_step(integrator, control->h);
  for (bool rejected = false;; rejected = true) {
    double err = 0.0;
    integrator->reason[0] = '\0';
    const srTrial trial = plan_trial(integrator, control, t_limit);
    const int outcome = try_step(integrator, trial, &err);
    if (outcome == SRI_DONE) {
      plan_next(integrator, control, trial, err, rejected);
      note_accepted(integrator, trial);
      return SR_OK;
    }
    const double least = smallest_step(integrator);
    if (outcome < 0 || trial.h <= least) return give_up(integrator, outcome, trial.h, err);
    ++integrator->stats.rejected;
    srConstrained* c = integrator->constrained;
    if (trial.crossings) {
      sri_crossing_refused(&c->crossing, trial.h, err);
    } else if (c != NULL && c->h_short > 0) {
      if (trial.h <= c->h_short) c->h_short *= 0.5;
    } else {
      control->h = fmax(trial.h * shrink(integrator, control, outcome, err), least);
    }
  }
}
