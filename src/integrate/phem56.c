// PHEM56: partitioned half-explicit Runge-Kutta of order 5 with an embedded method of order 4 for index 2.  Murua (1997),
// Arnold and Murua (1998); coefficients of Murua's code, all of them rational. a, b, bhat, c are those of Dormand and Prince.
//   X_i = x_0 + h sum_{j<i} a_ij X'_j          x = (q, v, y, w)              i = 2..6, and X_7 = x_1 = x_0 + h sum b_j X'_j
//   Q~_i = q_0 + h sum_{j<=i} a~_ij H(Q_j) V_j
//   [ M(Q_i)    -D(Q_i)^T ] [ A_i ]   [ f(X_i) ]
//   [ G(Q~_i)       0     ] [ L_i ] = [  r_i   ]    r_i: G(Q~_i) V~_i + b(t_0 + c~_i h, Q~_i) = 0,  V~_i = v_0 + h sum_{j<=i} a~_ij A_j
// The stage itself is explicit; the constraint holds at another position, Q~_i. Row 6 of a~ is b, so v_1 = V~_6 satisfies its
// constraints to rounding. Stage 7 has the constraint at 19/30 of the step just made: A_7 is A_1 of the next one. The error of A_1
// along the constraints does not reach A_7, so that errors do not accumulate; after a crossing, or where the state has been
// moved by more than a hundredth of its tolerance, A_1 is solved at acceleration level instead. Positions drift by the error of the method and are
// projected (projection.c). The equations in use are the same in all stages (rank.c). Without constraints this is dopri5.
// Error: x_1 - xhat_1, where vhat_1 is first projected on G(qhat_1) v + b = 0 with the matrix of stage 7: without that it
// has an error of h^4, not h^5.
// Dense output of order 4, without further evaluations: the quartic through value and derivative at both ends and Murua's value at 19/30,
// a sum over the stages, for q, v, y and w alike:  x(theta) = Hermite(theta) + theta^2 (1-theta)^2 h sum d_j X'_j
#include "integrate/phem56.h"

#include <math.h>
#include <string.h>

#include "integrate/dopri5.h"
#include "integrate/half_step.h"

#define STAGES SRI_PHEM56_STAGES
// Where in a step a singular position should be: both positions of every stage on the same side of it, and far from it.
#define THETA_CROSSING 0.55
// A projection that moves the state by less than this part of its tolerance leaves A_7 good enough for the next step.
#define MOVED_LITTLE 0.01

// clang-format off
const srPhem56Tableau sri_phem56_tableau = {
    .c = {0.0, 3.0 / 10, 3.0 / 8, 5.0 / 7, 1.0, 1.0, 19.0 / 30},
    .a = {{0.0},
          {3.0 / 40, 9.0 / 40},
          {21.0 / 256, 45.0 / 256, 15.0 / 128},
          {19235.0 / 98784, -225.0 / 392, 6235.0 / 6174, 2755.0 / 32928},
          {-293.0 / 1152, 85.0 / 48, -2275.0 / 1908, 35.0 / 32, -2835.0 / 6784},
          {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
          {10752038939.0 / 66307507200.0, -19259.0 / 50160, 19581770468.0 / 24023520675.0, 9941999.0 / 650073600,
           180060831.0 / 4820710400.0, -11331659.0 / 439538400, 1.0 / 76}},
};
const double sri_phem56_dense[STAGES] = {
    -145.0 / 128, 0.0, 1000.0 / 371, -375.0 / 64, 25515.0 / 6784, -55.0 / 28, 5.0 / 2};
// clang-format on

typedef struct srPhem56 {
  srRungeKutta rk;  // rates of the stages, packed (q, v, y, w); the seventh is the closing evaluation
  srControl control;
  double* x_stage;  // X_i; then the error
  double* x_tilde;  // Q~_i, and V~_i without its last term; then xhat
  double* x_end;    // end of the step before projection
  int rank;         // of the constraints that A_1 was solved with
} srPhem56;

static size_t room(const srSystem* system, int n) {
  (void)system;
  return sri_rk_room(&sri_dopri5_tableau, n) + 3 * (size_t)n;
}

static void init(srIntegrator* integrator) {
  srPhem56* work = integrator->work;
  const size_t n = (size_t)integrator->n;
  sri_rk_init(integrator, &work->rk, &sri_dopri5_tableau);
  work->x_stage = integrator->room + sri_rk_room(&sri_dopri5_tableau, integrator->n);
  work->x_tilde = work->x_stage + n;
  work->x_end = work->x_tilde + n;
}

static void start(srIntegrator* integrator) {
  srPhem56* work = integrator->work;
  work->rk.first = SRI_FIRST_UNKNOWN;
  sri_control_start(integrator, &work->control, THETA_CROSSING, 5);
}

// ---- stages -----------------------------------------------------------------------------------------------------------

static double time_of(const srIntegrator* integrator, double c, srTrial trial) {
  return c == 1.0 ? trial.t_new : integrator->t + c * trial.h;
}

// Rates of stage r (from 0) at its state x with the constraint at Q~_r. G at x is in c->G_stage unless D differs.
static int half_stage(srIntegrator* integrator, srPhem56* work, int r, srTrial trial, double t, const double* x) {
  const srSystem* s = &integrator->system;
  const double* a = sri_phem56_tableau.a[r];
  double *k = work->rk.k[r], *tilde = work->x_tilde;
  const int outcome = sri_qdot(integrator, x, x + s->nq, k);
  if (outcome != SRI_DONE) return outcome;
  // Positions with the rate of this stage; velocities without: it is to be solved for.
  sri_combine(s->nq, integrator->x, trial.h, r + 1, a, work->rk.k, tilde);
  sri_combine_velocity(integrator, integrator->x, trial.h, r, a, work->rk.k, tilde);
  if (!sri_all_finite(s->nq + s->nv, tilde)) return SRI_NOT_FINITE;
  const srHalfStep half = {.number = r,
                           .t = t,
                           .t_next = time_of(integrator, sri_phem56_tableau.c[r], trial),
                           .x = x,
                           .q_next = tilde,
                           .v_known = tilde + s->nq,
                           .factor = trial.h * a[r],
                           .k = k};
  return sri_half_step(integrator, &half);
}

// Stage r = 1 .. 5: its state and its rates.
static int stage(srIntegrator* integrator, srPhem56* work, int r, srTrial trial) {
  const srTableau* tableau = work->rk.tableau;
  srConstrained* c = integrator->constrained;
  const double t = time_of(integrator, tableau->c[r], trial);
  double* x = work->x_stage;
  sri_combine(integrator->n, integrator->x, trial.h, r, tableau->a[r], work->rk.k, x);
  if (sri_not_finite(integrator, x) >= 0) return SRI_NOT_FINITE;
  if (c == NULL) return sri_rates(integrator, t, x, SR_TAU_ELEMENT, work->rk.k[r]);
  if (!integrator->system.D_differs) {
    const int outcome = sri_constraint(integrator, t, x, NULL, c->G_stage, NULL);
    if (outcome != SRI_DONE) return outcome;
  }
  return half_stage(integrator, work, r, trial, t, x);
}

// Stage 7, at the end of the step. There G is known: stage 6 had its constraint there.
static int last_stage(srIntegrator* integrator, srPhem56* work, srTrial trial) {
  const int r = STAGES - 1;
  int outcome;
  if (integrator->constrained == NULL) {
    outcome = sri_rates(integrator, trial.t_new, integrator->x_new, SR_TAU_ELEMENT, work->rk.k[r]);
  } else {
    sri_swap_rows(integrator->constrained);
    outcome = half_stage(integrator, work, r, trial, trial.t_new, integrator->x_new);
  }
  if (outcome != SRI_DONE) return outcome;
  return sri_not_finite(integrator, work->rk.k[r]) >= 0 ? SRI_NOT_FINITE : SRI_DONE;
}

// All stages, and the end of the step into x_new.
static int stages(srIntegrator* integrator, srPhem56* work, srTrial trial) {
  for (int r = 1; r < STAGES - 1; ++r) {
    const int outcome = stage(integrator, work, r, trial);
    if (outcome != SRI_DONE) return outcome;
  }
  const double* b = work->rk.tableau->a[STAGES - 1];
  sri_combine(integrator->n, integrator->x, trial.h, STAGES - 1, b, work->rk.k, integrator->x_new);
  if (sri_not_finite(integrator, integrator->x_new) >= 0) return SRI_NOT_FINITE;
  return last_stage(integrator, work, trial);
}

// ---- error ------------------------------------------------------------------------------------------------------------

// Takes from the error of v the part by which vhat = v_1 - error is off its constraint at qhat.
static int project_error(srIntegrator* integrator, srPhem56* work, double t_new, double* error) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  double* hat = work->x_tilde;
  for (int i = 0; i < s->nq + s->nv; ++i) hat[i] = integrator->x_new[i] - error[i];
  const int outcome = sri_constraint(integrator, t_new, hat, NULL, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  (void)sri_residual_velocity(integrator, hat + s->nq);
  for (int k = 0; k < s->ng; ++k) c->r[k] = -c->r[k];
  srm_saddle_solve(c->stage, NULL, c->r, c->dv, NULL);
  for (int i = 0; i < s->nv; ++i) error[s->nq + i] -= c->dv[i];
  return SRI_DONE;
}

// Norm of x_1 - xhat_1.
static int error_norm(srIntegrator* integrator, srPhem56* work, srTrial trial, double* err) {
  double* error = work->x_stage;
  const int n = sri_controls_work(integrator) ? integrator->n : integrator->ncontrol;
  for (int i = 0; i < n; ++i) {
    error[i] = 0.0;
    for (int j = 0; j < STAGES; ++j) error[i] += trial.h * sri_dopri5_error[j] * work->rk.k[j][i];
  }
  if (integrator->constrained != NULL && sri_counts_velocities(integrator)) {
    const int outcome = project_error(integrator, work, trial.t_new, error);
    if (outcome != SRI_DONE) return outcome;
  }
  *err = fmax(sri_error_norm(integrator, error, 1), sri_work_norm(integrator, error + integrator->ncontrol));
  return isfinite(*err) ? SRI_DONE : SRI_NOT_FINITE;
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// Has the end of the step moved so little, since its rates were computed, that they serve for the next one?
static bool moved_little(const srIntegrator* integrator, const srPhem56* work) {
  if (integrator->constrained == NULL || (integrator->system.accepted != NULL && integrator->system.nz > 0))
    return false;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    const double size = fabs(work->x_end[i]);
    const double most = fmin(MOVED_LITTLE * sri_allowed_error(integrator, i, size), 1e-6 * fmax(1.0, size));
    if (!(fabs(integrator->x[i] - work->x_end[i]) <= most)) return false;
  }
  return true;
}

static int rank_of(const srIntegrator* integrator) {
  return integrator->constrained != NULL ? integrator->constrained->rank : 0;
}

// Stage 1 again, where a trial has found more independent equations than it used.
static int first_stage(srIntegrator* integrator, srPhem56* work) {
  if (work->rank == rank_of(integrator)) return SRI_DONE;
  work->rank = rank_of(integrator);
  return sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, work->rk.k[0]);
}

static int try_step(srIntegrator* integrator, srTrial trial, double* err) {
  srPhem56* work = integrator->work;
  bool same = false;
  int outcome = first_stage(integrator, work);
  if (outcome == SRI_DONE) outcome = stages(integrator, work, trial);
  if (outcome == SRI_DONE && sri_is_adaptive(integrator)) outcome = error_norm(integrator, work, trial, err);
  if (outcome != SRI_DONE) return outcome;
  if (!sri_error_accepted(trial.limit, *err)) return SRI_REFUSED;
  memcpy(work->x_end, integrator->x_new, (size_t)integrator->n * sizeof(double));
  outcome = sri_accept(integrator, trial.t_new, trial.h, &same);
  if (outcome != SRI_DONE) return outcome;
  const bool carries =
      !trial.crossings && work->rank == rank_of(integrator) && (same || moved_little(integrator, work));
  work->rk.first = carries ? SRI_FIRST_CLOSING : SRI_FIRST_UNKNOWN;
  if (integrator->constrained != NULL) integrator->acceleration = work->rk.k[STAGES - 1] + integrator->system.nq;
  return SRI_DONE;
}

static srStatus step(srIntegrator* integrator, double t_limit) {
  srPhem56* work = integrator->work;
  const srStatus status = sri_rk_first(integrator, &work->rk, SR_TAU_ELEMENT);
  if (status != SR_OK) return status;
  work->rank = rank_of(integrator);
  if (sri_control_needs_first(integrator, &work->control)) {
    work->control.h = sri_first_step(integrator, &work->control, work->rk.k[0], work->rk.k[1]);
  }
  return sri_control_step(integrator, &work->control, t_limit, try_step);
}

static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  srPhem56* work = integrator->work;
  sri_rk_interpolate(integrator, &work->rk, sri_phem56_dense, theta, first, count, out);
}

const srIntegratorOps sri_phem56_ops = {
    .method = {.name = "phem56",
               .order = 5,
               .adaptive = true,
               .index = 2,
               .partitions = true,
               .family = "dormand-prince",
               .about = "partitioned half-explicit Runge-Kutta 5(4), index 2: velocity constraints exact, positions "
                        "projected"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srPhem56),
    .room = room,
    .init = init,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
