// Dormand and Prince's 5(4) pair with step control and dense output of order 4.
//   x_1 = x_0 + h sum b_i k_i,   error = h sum (b_i - bhat_i) k_i,   i = 1..7, k_7 = F(t_1, x_1) is k_1 of the next step
//   x(t_0 + theta h) = Hermite(theta) + theta^2 (1-theta)^2 h sum d_i k_i
// Dormand, Prince (1980); coefficients, first step and controller as in Hairer, Norsett, Wanner I, II.4 to II.6 and their
// code dopri5. Error norm: root mean square over (q, v, y) of error_i / (atol + rtol max(|x_0i|, |x_1i|)); the quadratures
// w are left out. The method is explicit: stiff systems make it take small steps.
#include "integrate/dopri5.h"

#include <float.h>
#include <math.h>

// clang-format off
const srTableau sri_dopri5_tableau = {
    .stages = 6,
    .c = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0},
    .a = {{0.0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
};
const double sri_dopri5_error[7] = {
    71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
const double sri_dopri5_dense[7] = {
    -12715105075.0 / 11282082432.0, 0.0,                           87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,  701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0};
// clang-format on

// Controller of Gustafsson in the form of Hairer's dopri5:
//   h_next = h * min(10, max(0.2, safety * err^-alpha * err_before^beta)),   alpha = 1/5 - 3/4 beta
#define SAFETY 0.9
#define BETA 0.04
#define ALPHA (0.2 - 0.75 * BETA)
#define SHRINK_MOST 0.2
#define GROW_MOST 10.0

typedef struct srDopri5 {
  srRungeKutta rk;
  double h;           // step to try next; 0: not chosen yet
  double err_before;  // error of the last step that the controller was free to choose
} srDopri5;

// A step cut to a limit of time: which length, and does it end on the limit?
typedef struct srTrial {
  double h, t_new;
  bool cut;
} srTrial;

static size_t room(const srSystem* system, int n) {
  (void)system;
  return sri_rk_room(&sri_dopri5_tableau, n);
}

static void init(srIntegrator* integrator) {
  srDopri5* work = integrator->work;
  sri_rk_init(integrator, &work->rk, &sri_dopri5_tableau);
}

static void start(srIntegrator* integrator) {
  srDopri5* work = integrator->work;
  work->rk.first = SRI_FIRST_UNKNOWN;
  work->h = integrator->options.step;
  work->err_before = 1e-4;
}

// ---- size of the step -------------------------------------------------------------------------------------------------

static double largest_step(const srIntegrator* integrator) {
  return integrator->options.step_max > 0.0 ? integrator->options.step_max : HUGE_VAL;
}

static double smallest_step(const srIntegrator* integrator) {
  double ulp = nextafter(fabs(integrator->t), HUGE_VAL) - fabs(integrator->t);
  return fmax(integrator->options.step_min, 16.0 * ulp);
}

// What entry i may be wrong by. Not zero, so that an entry that stays 0 under rtol alone counts as exact.
static double allowed_error(const srIntegrator* integrator, double size) {
  return fmax(integrator->options.atol + integrator->options.rtol * size, DBL_MIN);
}

// Root mean square over (q, v, y) of (a - b) / allowed(x); b may be NULL.
static double scaled_norm(const srIntegrator* integrator, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    double ratio = (a[i] - (b != NULL ? b[i] : 0.0)) / allowed_error(integrator, fabs(integrator->x[i]));
    sum += ratio * ratio;
  }
  return integrator->ncontrol > 0 ? sqrt(sum / integrator->ncontrol) : 0.0;
}

// Norm of the error estimate h sum e_i k_i of the step to x_new.
static double error_norm(const srIntegrator* integrator, const srDopri5* work, double h) {
  double sum = 0.0;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    double error = 0.0;
    for (int j = 0; j < 7; ++j) error += sri_dopri5_error[j] * work->rk.k[j][i];
    double size = fmax(fabs(integrator->x[i]), fabs(integrator->x_new[i]));
    double ratio = h * error / allowed_error(integrator, size);
    sum += ratio * ratio;
  }
  return integrator->ncontrol > 0 ? sqrt(sum / integrator->ncontrol) : 0.0;
}

// First step: Hairer, Norsett, Wanner I, II.4. An Euler step of h0 gives x''; then h^5 max(|x'|, |x''|) = 0.01.
static double first_step(srIntegrator* integrator, srDopri5* work) {
  double** k = work->rk.k;
  const double most = largest_step(integrator), one = 1.0;
  const double d0 = scaled_norm(integrator, integrator->x, NULL), d1 = scaled_norm(integrator, k[0], NULL);
  double h0 = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, most);
  sri_combine(integrator->n, integrator->x, h0, 1, &one, k, integrator->x_new);
  if (sri_not_finite(integrator, integrator->x_new) >= 0) return h0;
  int outcome = sri_rates(integrator, integrator->t + h0, integrator->x_new, SR_TAU_ELEMENT, k[1]);
  // The error control will find out; here only a guess is wanted.
  if (outcome != SRI_DONE || sri_not_finite(integrator, k[1]) >= 0) return h0;
  const double d2 = scaled_norm(integrator, k[1], k[0]) / h0;
  const double dmax = fmax(d1, d2);
  double h1 = dmax <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / dmax, 0.2);
  return fmin(fmin(100.0 * h0, h1), most);
}

// Lets a step of length h end on t_limit when it would pass it or nearly reach it, and halves the rest where it would
// leave a crumb.
static srTrial cut_step(const srIntegrator* integrator, double h, double t_limit) {
  const double rest = t_limit - integrator->t;
  // Stretched by 1 %, but not over step_max by more than rounding.
  const double reach = fmax(fmin(1.01 * h, largest_step(integrator)), h * (1.0 + 1e-12));
  if (rest <= reach) return (srTrial){.h = rest, .t_new = t_limit, .cut = rest < h};
  if (rest < 2.0 * h) return (srTrial){.h = 0.5 * rest, .t_new = integrator->t + 0.5 * rest, .cut = true};
  return (srTrial){.h = h, .t_new = integrator->t + h};
}

// The step after an accepted one of length trial.h with error err.
static void plan_next(const srIntegrator* integrator, srDopri5* work, srTrial trial, double err, bool rejected) {
  double factor = SAFETY * pow(fmax(err, 1e-30), -ALPHA) * pow(work->err_before, BETA);
  factor = fmin(GROW_MOST, fmax(SHRINK_MOST, factor));
  if (rejected) factor = fmin(factor, 1.0);
  double h = trial.h * factor;
  if (!trial.cut) {
    work->err_before = fmax(err, 1e-4);
  } else if (factor >= GROW_MOST) {
    // The limit made this step so short that its error says little: what the controller had planned still stands.
    h = fmax(h, work->h);
  }
  work->h = fmin(fmax(h, smallest_step(integrator)), largest_step(integrator));
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// Stages, error, acceptance. *err is the error over the tolerance, where it could be computed.
static int try_step(srIntegrator* integrator, srDopri5* work, srTrial trial, double* err) {
  bool same = false;
  *err = 0.0;
  int outcome = sri_rk_stages(integrator, &work->rk, trial.h, trial.t_new);
  if (outcome == SRI_DONE) outcome = sri_rk_close(integrator, &work->rk, trial.t_new, SR_TAU_ELEMENT);
  if (outcome != SRI_DONE) return outcome;
  *err = error_norm(integrator, work, trial.h);
  if (!(*err <= 1.0)) return isfinite(*err) ? SRI_REFUSED : SRI_NOT_FINITE;
  outcome = sri_accept(integrator, trial.t_new, trial.h, &same);
  if (outcome == SRI_DONE) work->rk.first = same ? SRI_FIRST_CLOSING : SRI_FIRST_UNKNOWN;
  return outcome;
}

// Factor for the next trial after one that was not accepted.
static double shrink(int outcome, double err) {
  if (outcome == SRI_NOT_FINITE) return SHRINK_MOST;
  if (err <= 1.0) return 0.5;  // a callback refused
  return fmax(SHRINK_MOST, SAFETY * pow(err, -ALPHA));
}

static srStatus give_up(srIntegrator* integrator, int outcome, double h, double err) {
  char reason[128];
  sri_reason(integrator, outcome, reason, sizeof reason);
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

static srStatus step(srIntegrator* integrator, double t_limit) {
  srDopri5* work = integrator->work;
  srStatus status = sri_rk_first(integrator, &work->rk, SR_TAU_ELEMENT);
  if (status != SR_OK) return status;
  if (work->h <= 0.0) work->h = first_step(integrator, work);
  work->h = fmin(fmax(work->h, smallest_step(integrator)), largest_step(integrator));

  for (bool rejected = false;; rejected = true) {
    double err;
    srTrial trial = cut_step(integrator, work->h, t_limit);
    int outcome = try_step(integrator, work, trial, &err);
    if (outcome == SRI_DONE) {
      plan_next(integrator, work, trial, err, rejected);
      return SR_OK;
    }
    double least = smallest_step(integrator);
    if (outcome < 0 || trial.h <= least) return give_up(integrator, outcome, trial.h, err);
    ++integrator->stats.rejected;
    work->h = fmax(trial.h * shrink(outcome, err), least);
  }
}

// Hermite, and the quartic that lifts it to order 4.
static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srRungeKutta* rk = &((const srDopri5*)integrator->work)->rk;
  const double bubble = theta * theta * (1.0 - theta) * (1.0 - theta);
  sri_hermite(integrator, rk->k[0], rk->k[6], theta, first, count, out);
  for (int i = 0; i < count; ++i) {
    double sum = 0.0;
    for (int j = 0; j < 7; ++j) sum += sri_dopri5_dense[j] * rk->k[j][first + i];
    out[i] += bubble * integrator->h * sum;
  }
}

const srIntegratorOps sri_dopri5_ops = {
    .method = {.name = "dopri5", .order = 5, .adaptive = true, .about = "Dormand-Prince 5(4), adaptive step"},
    .needs = SRI_NEEDS(rates),
    .work_size = sizeof(srDopri5),
    .room = room,
    .init = init,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
