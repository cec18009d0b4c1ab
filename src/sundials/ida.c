// ida: IDAS of SUNDIALS. Formulas of backward differentiation of variable step and order 1 to 5 on the stabilised index-2 form
// of Gear, Gupta and Leimkuhler (J. Comput. Appl. Math. 12 (1985)), over the equations in use:
//   q' - H(q) (v + G^T mu) + kappa (q - q/|q|) = 0
//   M v' - f - D^T lambda                      = 0
//   y' - r                                     = 0
//   G v + b                                    = 0        lambda
//   g                                          = 0        mu, rows with a position form alone
// Rows left out have lambda_k = 0, mu_k = 0 instead, so that the size stays. mu is 0 in the exact solution. The term kappa,
// a tenth of the coefficient of the formula (about 0.1/h), is there where positions are more than velocities: the exact solution
// has unit quaternions whatever kappa is, and the error of length of the numerical one stays at some ten times that of a step.
// More of it makes q' noisy, and steps short: with the whole coefficient twice as many for a free body.
//
// Multipliers have no part in the error test nor in the test of Newton's convergence (weight near 0): the equations are linear
// in them. Without constraints: x' - rates(x) = 0. The matrix: newton.c. Consistent start: accelerations and lambda of the
// index-1 form, mu = 0.
#include <float.h>
#include <idas/idas.h>
#include <idas/idas_ls.h>
#include <math.h>
#include <string.h>

#include "sundials/bdf.h"

#define MOST_FAILURES 30  // in one step: the least step decides, not their number
#define KAPPA 0.1         // of the coefficient of the formula
#define SLOW_GROWTH 1.2   // of the step at order 1 (IDA: 2)
#define NO_WEIGHT 1e-100  // of multipliers
#define ROUNDINGS 256     // of the largest position or velocity: the attainable accuracy of Newton's iteration

static int size_of(const srSystem* s) {
  const int n = s->nq + s->nv + s->ny;
  return s->ng > 0 ? n + s->ng + s->np : n;
}

// ---- residual ---------------------------------------------------------------------------------------------------------

// rate (nq) -= kappa (q - q/|q|)
static int draw_back(srIntegrator* integrator, const double* q, double* rate) {
  srBdf* b = integrator->work;
  if (!sri_bdf_normalizes(&integrator->system)) return SRI_DONE;
  realtype cj = 0;
  if (IDAGetCurrentCj(b->memory, &cj) != IDA_SUCCESS || !(cj > 0)) cj = 0;
  const int outcome = sri_bdf_normalize(integrator, q, b->moved);
  for (int i = 0; i < integrator->system.nq; ++i) rate[i] -= KAPPA * cj * (q[i] - b->moved[i]);
  return outcome;
}

// What x' is to be without constraints.
static int free_rates(srIntegrator* integrator, double t, const double* x, double* rate) {
  const int answer = sri_bdf_rates(integrator, t, x, rate);
  return answer == 0 ? sri_bdf_answer(integrator, draw_back(integrator, x, rate)) : answer;
}

static int free_residual(realtype t, N_Vector x, N_Vector xdot, N_Vector residual, void* user) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  if (sri_bdf_too_short(integrator, t)) return -1;
  const int answer = free_rates(integrator, t, NV_DATA_S(x), b->rate);
  N_VScale(1, xdot, residual);
  if (answer != 0) return answer;
  for (int i = 0; i < integrator->ncontrol; ++i) NV_DATA_S(residual)[i] -= b->rate[i];
  return 0;
}

// out = v + G^T mu
static void stabilized_velocity(srIntegrator* integrator, const double* v, const double* mu, double* out) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  for (int k = 0; k < s->ng; ++k) c->r[k] = k < s->np && c->kept[k] != 0 ? mu[k] : 0;
  srm_rows_transposed_times(&c->shape, c->G, c->r, out);
  for (int i = 0; i < s->nv; ++i) out[i] += v[i];
}

// E = M a - f - D^T lambda (nv)
static void motion_rows(srIntegrator* integrator, const double* a, const double* lambda, double* E) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const srSparsity* m = s->M_sparsity;
  for (int k = 0; k < s->ng; ++k) c->r[k] = c->kept[k] != 0 ? lambda[k] : 0;
  srm_rows_transposed_times(&c->shape, s->D_differs ? c->D : c->G, c->r, c->dv);
  for (int i = 0; i < s->nv; ++i) {
    const int first = m != NULL ? m->row[i] : i * s->nv, end = m != NULL ? m->row[i + 1] : (i + 1) * s->nv;
    double sum = -c->f[i] - c->dv[i];
    for (int p = first; p < end; ++p) sum += c->M[p] * a[m != NULL ? m->column[p] : p - first];
    E[i] = sum;
  }
}

// Rows of the velocities and of the positions.
static void constraint_rows(srIntegrator* integrator, const double* z, double* F) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const int l = integrator->ncontrol, u = l + s->ng;
  (void)sri_residual_velocity(integrator, z + s->nq);
  for (int k = 0; k < s->ng; ++k) F[l + k] = c->kept[k] != 0 ? c->r[k] : z[l + k];
  for (int k = 0; k < s->np; ++k) F[u + k] = c->kept[k] != 0 ? c->g[k] : z[u + k];
}

static int residual_of(srIntegrator* integrator, double t, const double* z, const double* zdot, double* F) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const int v = s->nq, y = v + s->nv, l = y + s->ny, u = l + s->ng;
  int outcome = sri_dynamics(integrator, t, z, SR_TAU_ELEMENT, F + y);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, z, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  stabilized_velocity(integrator, z + v, z + u, c->dv);
  outcome = sri_qdot(integrator, z, c->dv, F);
  if (outcome == SRI_DONE) outcome = draw_back(integrator, z, F);
  if (outcome != SRI_DONE) return outcome;
  for (int i = 0; i < s->nq; ++i) F[i] = zdot[i] - F[i];
  motion_rows(integrator, zdot + v, z + l, F + v);
  for (int i = y; i < l; ++i) F[i] = zdot[i] - F[i];
  constraint_rows(integrator, z, F);
  return SRI_DONE;
}

static int residual(realtype t, N_Vector z, N_Vector zdot, N_Vector F, void* user) {
  srIntegrator* integrator = user;
  const int n = size_of(&integrator->system);
  if (sri_bdf_too_short(integrator, t)) return -1;
  if (!sri_all_finite(n, NV_DATA_S(z))) return sri_bdf_answer(integrator, SRI_NOT_FINITE);
  int outcome = residual_of(integrator, t, NV_DATA_S(z), NV_DATA_S(zdot), NV_DATA_S(F));
  if (outcome == SRI_DONE && !sri_all_finite(n, NV_DATA_S(F))) outcome = SRI_NOT_FINITE;
  return sri_bdf_answer(integrator, outcome);
}

static int quadrature(realtype t, N_Vector z, N_Vector zdot, N_Vector wdot, void* user) {
  srIntegrator* integrator = user;
  const srSystem* s = &integrator->system;
  srBdf* b = integrator->work;
  srConstrained* c = integrator->constrained;
  const double* x = NV_DATA_S(z);
  (void)zdot;
  if (!b->newton.saddle) {
    const int answer = sri_bdf_rates(integrator, t, x, b->rate);
    if (answer == 0) memcpy(NV_DATA_S(wdot), b->rate + integrator->ncontrol, (size_t)s->nw * sizeof(double));
    return answer;
  }
  int outcome = sri_dynamics(integrator, t, x, SR_TAU_ELEMENT, c->y_rate);
  for (int k = 0; k < s->ng; ++k) c->lambda[k] = c->kept[k] != 0 ? x[integrator->ncontrol + k] : 0;
  if (outcome == SRI_DONE) outcome = sri_power(integrator, t, x, c->lambda, c->other, NV_DATA_S(wdot));
  return sri_bdf_answer(integrator, outcome);
}

// Tolerances of one block are not below the rounding of its largest entry, which the rows carry over to the others.
static void round_off(double factor, const double* x, double* weight, int n) {
  const double most = sri_largest(n, x);
  for (int i = 0; most > 0 && i < n; ++i) weight[i] = fmin(weight[i], factor / (ROUNDINGS * DBL_EPSILON * most));
}

// The norm divides by all entries: the factor makes it that of (q, v, y).
static int weights(N_Vector z, N_Vector weight, void* user) {
  const srIntegrator* integrator = user;
  const srSystem* s = &integrator->system;
  const int n = integrator->ncontrol;
  const bool rows = integrator->constrained != NULL;
  double *x = NV_DATA_S(z), *w = NV_DATA_S(weight);
  N_VConst(rows ? NO_WEIGHT : 1, weight);
  const double factor = rows && n > 0 ? sqrt((double)NV_LENGTH_S(z) / n) : 1;
  sri_bdf_weights(integrator, x, factor, w);
  if (!rows) return 0;
  round_off(factor, x, w, s->nq);
  round_off(factor, x + s->nq, w + s->nq, s->nv);
  return 0;
}

// ---- Newton -----------------------------------------------------------------------------------------------------------

// M, D, G at the state, then the tangent with v' and lambda held.
static int motion_matrix(srIntegrator* integrator, double t, const double* z, const double* zdot) {
  const srSystem* s = &integrator->system;
  srBdf* b = integrator->work;
  srConstrained* c = integrator->constrained;
  int outcome = sri_dynamics(integrator, t, z, SR_TAU_ELEMENT, c->y_rate);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, z, NULL, c->G, NULL);
  if (outcome != SRI_DONE) return outcome;
  for (int k = 0; k < s->ng; ++k) c->lambda[k] = c->kept[k] != 0 ? z[integrator->ncontrol + k] : 0;
  return sri_newton_tangent(integrator, &b->newton, t, z, zdot + s->nq, c->lambda);
}

static int jacobian(realtype t, realtype cj, N_Vector z, N_Vector zdot, N_Vector F, SUNMatrix matrix, void* user,
                    N_Vector t1, N_Vector t2, N_Vector t3) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  (void)F, (void)matrix, (void)t1, (void)t2, (void)t3;
  const int outcome = b->newton.saddle ? motion_matrix(integrator, t, NV_DATA_S(z), NV_DATA_S(zdot))
                                       : sri_newton_rates(integrator, &b->newton, free_rates, t, NV_DATA_S(z), 1 / cj);
  if (outcome != SRI_DONE) return sri_bdf_answer(integrator, outcome);
  return sri_newton_factor(integrator, &b->newton, cj) ? 0 : 1;
}

static srNewtonParts parts_of(const srIntegrator* integrator, N_Vector vector) {
  const srSystem* s = &integrator->system;
  double* z = NV_DATA_S(vector);
  const int y = s->nq + s->nv, l = integrator->ncontrol;
  return (srNewtonParts){.q = z, .v = z + s->nq, .y = z + y, .row = z + l, .place = z + l + s->ng};
}

static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector right, realtype tolerance) {
  srIntegrator* integrator = solver->content;
  srBdf* b = integrator->work;
  (void)matrix, (void)tolerance;
  if (!b->newton.saddle) {
    N_VScale(1, right, x);
    return sri_bdf_answer(integrator, sri_newton_solve_rates(integrator, &b->newton, NV_DATA_S(x)));
  }
  const srNewtonParts from = parts_of(integrator, right), to = parts_of(integrator, x);
  return sri_bdf_answer(integrator, sri_newton_solve_motion(integrator, &b->newton, &from, &to));
}

// c B e, and the rows of e itself: what is across the constraints stays.
static int filter(srIntegrator* integrator, N_Vector e, N_Vector out) {
  srBdf* b = integrator->work;
  const srSystem* s = &integrator->system;
  const double* from = NV_DATA_S(e);
  N_Vector right = b->dense;
  double* r = NV_DATA_S(right);
  b->dense_known = false;
  N_VScale(b->newton.c, e, right);
  if (!b->newton.saddle) return solve(b->solver, b->matrix, out, right, 0);
  sri_mass_times(s, b->newton.M, from + s->nq, r + s->nq);
  for (int i = s->nq; i < s->nq + s->nv; ++i) r[i] *= b->newton.c;
  const srNewtonParts parts = parts_of(integrator, e), to = parts_of(integrator, right);
  const int outcome = sri_newton_rows(integrator, &b->newton, &parts, &to);
  return outcome == SRI_DONE ? solve(b->solver, b->matrix, out, right, 0) : 1;
}

// Without constraints (c - J) dx = -F, J dx/c = dx + F/c; with them Kq dxi + Kv dv from the tangent.
static bool stiffness(const srIntegrator* integrator, const double* increment, double* residual) {
  const srSystem* s = &integrator->system;
  const srNewton* newton = &((const srBdf*)integrator->work)->newton;
  if (!newton->saddle) {
    for (int i = 0; i < integrator->ncontrol; ++i) residual[i] = increment[i] + residual[i] / newton->c;
    return true;
  }
  memset(residual, 0, (size_t)s->nq * sizeof *residual);
  sri_stiffness_times(&newton->tangent, s, newton->xi, newton->dx, residual + s->nq);
  for (int i = 0; i < s->nv + s->ny; ++i) {
    residual[s->nq + i] /= newton->c * (i < s->nv ? fmax(sri_mass_of(&newton->tangent, s, newton->M, i), DBL_MIN) : 1);
  }
  return false;
}

// ---- the solver -------------------------------------------------------------------------------------------------------

// Part of the error test that Newton's iteration may leave. IDA's own 0.33 leaves noise in the history that makes steps a third
// shorter, and far more in stiff systems. But less than rounding cannot be required.
static double newton_part(const srIntegratorOptions* o) {
  return fmin(0.33, fmax(0.01, 1e-13 / fmax(o->rtol, o->atol)));
}

static bool set_limits(const srIntegrator* integrator, void* m) {
  const double most = integrator->options.step_max;
  return IDASetMaxErrTestFails(m, MOST_FAILURES) == IDA_SUCCESS &&
         IDASetMaxConvFails(m, MOST_FAILURES) == IDA_SUCCESS &&
         IDASetNonlinConvCoef(m, newton_part(&integrator->options)) == IDA_SUCCESS &&
         (most <= 0 || IDASetMaxStep(m, most) == IDA_SUCCESS);
}

static bool create(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  b->rows_matter = true;
  if (!sri_newton_create(&b->newton, integrator, true) || !sri_bdf_solver(integrator, solve)) {
    return false;
  }
  if (sri_bdf_normalizes(&integrator->system)) b->newton.across = 1 / (1 + KAPPA);
  b->memory = IDACreate(b->context);
  if (b->memory == NULL) return false;
  return IDASetErrHandlerFn(b->memory, sri_bdf_silent, NULL) == IDA_SUCCESS &&
         IDAInit(b->memory, b->newton.saddle ? residual : free_residual, 0, b->x, b->xdot) == IDA_SUCCESS &&
         IDASetUserData(b->memory, integrator) == IDA_SUCCESS && IDAWFtolerances(b->memory, weights) == IDA_SUCCESS &&
         IDASetNonlinearSolver(b->memory, b->nonlinear) == IDA_SUCCESS &&
         IDASetLinearSolver(b->memory, b->solver, b->matrix) == IDA_SUCCESS &&
         IDASetJacFn(b->memory, jacobian) == IDA_SUCCESS && set_limits(integrator, b->memory) &&
         (b->w == NULL || IDAQuadInit(b->memory, quadrature, b->w) == IDA_SUCCESS);
}

static void destroy(srBdf* b) { IDAFree(&b->memory); }

static bool begin(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  const srConstrained* c = integrator->constrained;
  N_VConst(0, b->xdot);
  if (integrator->ncontrol > 0) memcpy(NV_DATA_S(b->xdot), b->rate, (size_t)integrator->ncontrol * sizeof(double));
  for (int k = 0; c != NULL && k < integrator->system.ng; ++k) {
    NV_DATA_S(b->x)[integrator->ncontrol + k] = c->kept[k] != 0 ? c->lambda[k] : 0;
  }
  b->flag = IDAReInit(b->memory, integrator->t, b->x, b->xdot);
  if (b->flag == IDA_SUCCESS && b->w != NULL) b->flag = IDAQuadReInit(b->memory, b->w);
  if (b->flag == IDA_SUCCESS) b->flag = IDASetInitStep(b->memory, b->h_first);
  return b->flag == IDA_SUCCESS;
}

static srBdfEnd end_of(int flag) {
  switch (flag) {
    case IDA_SUCCESS:
    case IDA_TSTOP_RETURN: return SRI_BDF_DONE;
    case IDA_TOO_MUCH_ACC: return SRI_BDF_ACCURACY;
    case IDA_ERR_FAIL: return SRI_BDF_ERROR;
    case IDA_CONV_FAIL:
    case IDA_LSETUP_FAIL:
    case IDA_LSOLVE_FAIL:
    case IDA_NLS_FAIL: return SRI_BDF_NEWTON;
    case IDA_RES_FAIL:
    case IDA_REP_RES_ERR:
    case IDA_FIRST_RES_FAIL:
    case IDA_QRHS_FAIL:
    case IDA_FIRST_QRHS_ERR:
    case IDA_REP_QRHS_ERR: return SRI_BDF_CALLBACK;
    default: return SRI_BDF_OTHER;
  }
}

// Where the order has fallen to 1 the step grows slowly: doubled, it throws the prediction of a velocity that a stiff spring dictates
// off so far that the next step fails, and so on for ever.
static int set_growth(srBdf* b) {
  int order = 0;
  int flag = IDAGetCurrentOrder(b->memory, &order);
  const bool slow = !b->first && order == 1;
  if (flag == IDA_SUCCESS) flag = IDASetEtaFixedStepBounds(b->memory, 1, slow ? SLOW_GROWTH : 2);
  return flag == IDA_SUCCESS ? IDASetEtaMax(b->memory, slow ? SLOW_GROWTH : 2) : flag;
}

static srBdfEnd advance(srIntegrator* integrator, double t_out, double t_limit, double* t_new) {
  srBdf* b = integrator->work;
  b->flag = IDASetStopTime(b->memory, t_limit);
  if (b->flag == IDA_SUCCESS) b->flag = set_growth(b);
  if (b->flag == IDA_SUCCESS) b->flag = IDASolve(b->memory, t_out, t_new, b->x, b->xdot, IDA_ONE_STEP);
  realtype t;
  if (b->flag >= 0 && b->w != NULL && IDAGetQuad(b->memory, &t, b->w) != IDA_SUCCESS) return SRI_BDF_OTHER;
  return end_of(b->flag);
}

static bool dense(srBdf* b, double t) {
  return IDAGetDky(b->memory, t, 0, b->dense) == IDA_SUCCESS &&
         (b->w == NULL || IDAGetQuadDky(b->memory, t, 0, b->dense_w) == IDA_SUCCESS);
}

static double planned(srBdf* b) {
  realtype h = 0;
  (void)IDAGetCurrentStep(b->memory, &h);
  return h;
}

static void counts(srBdf* b, long* rejected, long* iterations) {
  long errors = 0, failures = 0;
  (void)IDAGetNumErrTestFails(b->memory, &errors);
  (void)IDAGetNumNonlinSolvConvFails(b->memory, &failures);
  (void)IDAGetNumNonlinSolvIters(b->memory, iterations);
  *rejected = errors + failures;
}

static const srBdfOps ida = {.size = size_of,
                             .create = create,
                             .destroy = destroy,
                             .begin = begin,
                             .advance = advance,
                             .dense = dense,
                             .planned = planned,
                             .counts = counts,
                             .filter = filter,
                             .stiffness = stiffness};

static void init(srIntegrator* integrator) { sri_bdf_lay_out(integrator, &ida); }

const srIntegratorOps sri_ida_ops = {
    .method = {.name = "ida",
               .order = 5,
               .adaptive = true,
               .implicit = true,
               .index = 2,
               .partitions = true,
               .family = "bdf",
               .about = "SUNDIALS: backward differentiation of order 1 to 5 on the stabilised index-2 form"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),
    .project = SR_PROJECT_NONE,
    .work_size = sizeof(srBdf),
    .room = sri_bdf_room,
    .init = init,
    .create = sri_bdf_create,
    .start = sri_bdf_start,
    .step = sri_bdf_step,
    .interpolate = sri_bdf_interpolate,
    .destroy = sri_bdf_destroy,
};
