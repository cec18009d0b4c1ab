// Dormand and Prince's 5(4) pair with step control and dense output of order 4.
//   x_1 = x_0 + h sum b_i k_i,   error = h sum (b_i - bhat_i) k_i,   i = 1..7, k_7 = F(t_1, x_1) is k_1 of the next step
//   x(t_0 + theta h) = Hermite(theta) + theta^2 (1-theta)^2 h sum d_i k_i
// Dormand, Prince (1980); coefficients as in Hairer, Norsett, Wanner I, II.4 to II.6 and their
// code dopri5; step control in control.c. Error norm: root mean square over (q, v, y) of error_i / (atol + rtol max(|x_0i|, |x_1i|)); the quadratures
// w are left out unless the system bounds their errors. The method is explicit: stiff systems force small steps.
#include "integrate/dopri5.h"

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

// Where in a step of mdop5 a singular position should be: away from the nodes 0.2, 0.3, 0.8, 8/9 and 1.
#define THETA 0.55

size_t sri_dopri5_room(const srSystem* system, int n) {
  return sri_rk_room(&sri_dopri5_tableau, n) + sri_stiffness_room(n - system->nw);
}

void sri_dopri5_init(srIntegrator* integrator) {
  srDopri5* work = integrator->work;
  sri_rk_init(integrator, &work->rk, &sri_dopri5_tableau);
  sri_stiffness_init(&work->stiffness, integrator->ncontrol,
                     integrator->room + sri_rk_room(&sri_dopri5_tableau, integrator->n));
  integrator->stiffness = &work->stiffness;
}

void sri_dopri5_start(srIntegrator* integrator) {
  srDopri5* work = integrator->work;
  work->rk.first = SRI_FIRST_UNKNOWN;
  sri_control_start(integrator, &work->control, THETA, 5);
  sri_stiffness_start(integrator, &work->stiffness);
}

// Norm of the error estimate h sum e_i k_i of the step to x_new.
static double error_norm(srIntegrator* integrator, const srDopri5* work, double h) {
  double* error = integrator->x_before;
  const int n = sri_controls_work(integrator) ? integrator->n : integrator->ncontrol;
  sri_sum(sri_fours(n), h, 7, sri_dopri5_error, work->rk.k, error);
  return fmax(sri_error_norm(integrator, error, 1), sri_work_norm(integrator, error + integrator->ncontrol));
}

// h times the rate of the fastest mode in the last step, by the two stages at its end: with dk = k_7 - k_6 and dx = x_7 - X_6
//   r_w = |dk| / |dx| in the weights of the error norm,     r_g = sqrt( |dk_v| / |dx_q| )
// For a mode (q, v) r_w is anywhere between 2 zeta omega and omega^2, whatever the weights; r_g does not depend on units. States y of their
// own enter r_w only.
static double stability_ratio(const srIntegrator* integrator, const srDopri5* work) {
  const double *a = sri_dopri5_tableau.a[6], *b = sri_dopri5_tableau.a[5], h = integrator->h;
  const int nq = integrator->system.nq, nv = integrator->system.nv;
  double dk_w = 0.0, dx_w = 0.0, dk_v = 0.0, dx_q = 0.0, difference[6], *last = integrator->x_new;
  for (int j = 0; j < 6; ++j) difference[j] = a[j] - b[j];
  sri_sum(sri_fours(integrator->ncontrol), h, 6, difference, work->rk.k, last);
  for (int i = 0; i < integrator->ncontrol; ++i) {
    const double dk = work->rk.k[6][i] - work->rk.k[5][i], dx = last[i],
                 scale = sri_allowed_error(integrator, i, fabs(integrator->x[i]));
    dk_w += dk / scale * (dk / scale);
    dx_w += dx / scale * (dx / scale);
    if (i < nq) dx_q += dx * dx;
    if (i >= nq && i < nq + nv) dk_v += dk * dk;
  }
  const double r_w = dx_w > 0.0 ? sqrt(dk_w / dx_w) : 0.0, r_g = dx_q > 0.0 ? sqrt(sqrt(dk_v / dx_q)) : 0.0;
  return h * fmax(r_w, r_g);
}

// ---- a step -----------------------------------------------------------------------------------------------------------

static int try_step(srIntegrator* integrator, srTrial trial, double* err) {
  srDopri5* work = integrator->work;
  bool same = false;
  int outcome = sri_rk_stages(integrator, &work->rk, trial.h, trial.t_new);
  if (outcome == SRI_DONE) outcome = sri_rk_close(integrator, &work->rk, trial.t_new, SR_TAU_ELEMENT);
  if (outcome != SRI_DONE) return outcome;
  *err = error_norm(integrator, work, trial.h);
  if (!sri_error_accepted(trial.limit, *err)) return isfinite(*err) ? SRI_REFUSED : SRI_NOT_FINITE;
  outcome = sri_accept(integrator, trial.t_new, trial.h, &same);
  if (outcome == SRI_DONE) work->rk.first = same ? SRI_FIRST_CLOSING : SRI_FIRST_UNKNOWN;
  return outcome;
}

srStatus sri_dopri5_step(srIntegrator* integrator, double t_limit) {
  srDopri5* work = integrator->work;
  srStatus status = sri_rk_first(integrator, &work->rk, SR_TAU_ELEMENT);
  if (status != SR_OK) return status;
  if (sri_control_needs_first(integrator, &work->control)) {
    work->control.h = sri_first_step(integrator, &work->control, work->rk.k[0], work->rk.k[1]);
  }
  status = sri_control_step(integrator, &work->control, t_limit, try_step);
  // Thresholds apply to steps chosen by the default rule.
  if (status == SR_OK && integrator->options.control == SR_CONTROL_DEFAULT) {
    sri_stiffness_step(integrator, &work->stiffness, stability_ratio(integrator, work));
  }
  return status;
}

void sri_dopri5_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  srDopri5* work = integrator->work;
  sri_rk_interpolate(integrator, &work->rk, sri_dopri5_dense, theta, first, count, out);
}

const srIntegratorOps sri_dopri5_ops = {
    .method = {.name = "dopri5",
               .order = 5,
               .adaptive = true,
               .baumgarte = true,
               .partitions = true,
               .family = "dormand-prince",
               .about = "Dormand-Prince 5(4), adaptive step"},
    .needs = SRI_NEEDS(rates),
    .index1 = true,
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srDopri5),
    .room = sri_dopri5_room,
    .init = sri_dopri5_init,
    .start = sri_dopri5_start,
    .step = sri_dopri5_step,
    .interpolate = sri_dopri5_interpolate,
};
