// cvode: CVODES of SUNDIALS. Formulas of backward differentiation of variable step and order 1 to 5, with Newton, on the
// index-1 form
//   q' = H(q) v,   [ M  -D^T ] [   v'   ]   [   f   ]
//                  [ G    0  ] [ lambda ] = [ gamma ],   y' = r                                 (constrained.c)
// After each corrector, before the error test, the state is projected on g = 0 and G v + b = 0 over the equations in use, and its
// quaternions on length 1 (projection of CVODE: Eich, SIAM J. Numer. Anal. 30 (1993)); the error estimate of v loses
// what is across the constraints. Quadratures w' are CVODES' own, without error control.
#include <cvodes/cvodes.h>
#include <cvodes/cvodes_ls.h>
#include <cvodes/cvodes_proj.h>
#include <string.h>

#include "integrate/projection.h"
#include "sundials/bdf.h"

#define MOST_FAILURES 30   // in one step: the least step decides, not their number
#define SHORTENED 0.5      // a step on which Newton's iteration has failed (CVODE's own: 0.25)
#define NEWTON_PART 0.033  // of the error test, that Newton's iteration may leave (CVODE's own: 0.1)
#define BEGIN_PART 0.1     // of the tolerance, for a step while history begins: until
#define BEGUN_ORDER 3      // this order, or
#define BEGUN_STEPS 12     // so many steps

static int size_of(const srSystem* s) { return s->nq + s->nv + s->ny; }

// ---- what CVODE calls -------------------------------------------------------------------------------------------------

static int right_side(realtype t, N_Vector x, N_Vector xdot, void* user) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  // Before the first step CVODE evaluates in the neighbourhood of t.
  if (!b->first && sri_bdf_too_short(integrator, t)) return -1;
  const int answer = sri_bdf_rates(integrator, t, NV_DATA_S(x), b->rate);
  N_VConst(0, xdot);
  if (answer == 0 && integrator->ncontrol > 0) {
    memcpy(NV_DATA_S(xdot), b->rate, (size_t)integrator->ncontrol * sizeof(double));
  }
  return answer;
}

static int quadrature(realtype t, N_Vector x, N_Vector wdot, void* user) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  const int answer = sri_bdf_rates(integrator, t, NV_DATA_S(x), b->rate);
  if (answer == 0) {
    memcpy(NV_DATA_S(wdot), b->rate + integrator->ncontrol, (size_t)integrator->system.nw * sizeof(double));
  }
  return answer;
}

// History begins with order 1, whose errors in a row have the same sign and add up: a run that is cut or that meets many events would
// consist of them. Until order 3 is reached, or for the first steps where it never is, each may take a part of the tolerance.
static bool begins(srBdf* b) {
  int order = 0;
  long steps = 0;
  (void)CVodeGetCurrentOrder(b->memory, &order);
  (void)CVodeGetNumSteps(b->memory, &steps);
  b->begun = b->begun || order >= BEGUN_ORDER || steps >= BEGUN_STEPS;
  return !b->begun;
}

static int weights(N_Vector x, N_Vector weight, void* user) {
  const srIntegrator* integrator = user;
  N_VConst(1, weight);
  sri_bdf_weights(integrator, NV_DATA_S(x), begins(integrator->work) ? 1 / BEGIN_PART : 1, NV_DATA_S(weight));
  return 0;
}

// ---- projection -------------------------------------------------------------------------------------------------------

static bool projects(const srIntegrator* integrator) {
  return integrator->constrained != NULL && (integrator->project > SR_PROJECT_NONE || integrator->options.partition);
}

static bool projects_velocities(const srIntegrator* integrator) {
  return projects(integrator) && integrator->project != SR_PROJECT_POSITION;
}

// The error of v loses what the projection takes away: with stiff springs the prediction of v is off across the rows by O(h)
// when the step changes. That of q stays: a mechanism that is wholly driven has no other.
static void project_error(srIntegrator* integrator, double* error) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  if (!projects_velocities(integrator)) return;
  srm_rows_times(&c->shape, c->G, error + s->nq, c->r);
  srm_saddle_solve(c->end, NULL, c->r, c->dv, NULL);
  for (int i = 0; i < s->nv; ++i) error[s->nq + i] -= c->dv[i];
}

// On the constraints: by the least change, or by the dependent coordinates alone.
static int project_rows(srIntegrator* integrator, double t, double* x) {
  double* v = x + integrator->system.nq;
  double smallest;
  if (!integrator->options.partition) return sri_project_state(integrator, t, x, v);
  const int outcome = sri_partition_solve(integrator, t, x, v, &smallest);
  if (outcome != SRI_DONE) return outcome;
  return sri_factor_end(integrator, integrator->constrained->kept) ? SRI_DONE : SRI_REFUSED;
}

static int project(realtype t, N_Vector x, N_Vector correction, realtype tolerance, N_Vector error, void* user) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  const double* now = NV_DATA_S(x);
  const size_t n = (size_t)integrator->ncontrol;
  const bool rows = projects(integrator);
  (void)tolerance;  // to rounding
  if (!sri_all_finite(integrator->ncontrol, now)) return sri_bdf_answer(integrator, SRI_NOT_FINITE);
  memcpy(b->moved, now, n * sizeof *now);
  int outcome = SRI_DONE;
  if (sri_bdf_normalizes(&integrator->system)) outcome = sri_bdf_normalize(integrator, now, b->moved);
  if (outcome == SRI_DONE && rows) outcome = project_rows(integrator, t, b->moved);
  if (outcome == SRI_DONE && rows && error != NULL) project_error(integrator, NV_DATA_S(error));
  if (outcome == SRI_DONE && !sri_all_finite(integrator->ncontrol, b->moved)) outcome = SRI_NOT_FINITE;
  for (size_t i = 0; i < n; ++i) NV_DATA_S(correction)[i] = b->moved[i] - now[i];
  return sri_bdf_answer(integrator, outcome);
}

// ---- Newton -----------------------------------------------------------------------------------------------------------

// (1 - gamma J), factored as (1/gamma - J).
static int linear_system(realtype t, N_Vector x, N_Vector xdot, SUNMatrix matrix, booleantype jok, booleantype* fresh,
                         realtype gamma, void* user, N_Vector t1, N_Vector t2, N_Vector t3) {
  srIntegrator* integrator = user;
  srBdf* b = integrator->work;
  const double* now = NV_DATA_S(x);
  (void)xdot, (void)matrix, (void)t1, (void)t2, (void)t3;
  *fresh = jok ? SUNFALSE : SUNTRUE;
  int outcome = SRI_DONE;
  if (!jok && b->newton.saddle) {
    outcome = sri_bdf_rates(integrator, t, now, b->rate) == 0 ? SRI_DONE : b->outcome;
    if (outcome == SRI_DONE) {
      const double* a = b->rate + integrator->system.nq;
      outcome = sri_newton_tangent(integrator, &b->newton, t, now, a, integrator->constrained->lambda);
    }
  } else if (!jok) {
    outcome = sri_newton_rates(integrator, &b->newton, sri_bdf_rates, t, now, gamma);
  }
  if (outcome != SRI_DONE) return sri_bdf_answer(integrator, outcome);
  return sri_newton_factor(integrator, &b->newton, 1 / gamma) ? 0 : 1;
}

static int solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector right, realtype tolerance) {
  srIntegrator* integrator = solver->content;
  srBdf* b = integrator->work;
  srNewton* newton = &b->newton;
  const srSystem* s = &integrator->system;
  const int v = s->nq, y = s->nq + s->nv;
  (void)matrix, (void)tolerance;
  N_VScale(newton->c, right, x);
  if (!newton->saddle) {
    return sri_bdf_answer(integrator, sri_newton_solve_rates(integrator, newton, NV_DATA_S(x)));
  }
  // c q, c M v, c y, and G v of the right side.
  srConstrained* c = integrator->constrained;
  double* scaled = b->rate;
  memcpy(scaled, NV_DATA_S(x), (size_t)integrator->ncontrol * sizeof *scaled);
  sri_mass_times(s, newton->M, NV_DATA_S(x) + v, scaled + v);
  srm_rows_times(&c->shape, newton->G, NV_DATA_S(right) + v, c->gamma);
  const srNewtonParts from = {.q = scaled, .v = scaled + v, .y = scaled + y, .row = c->gamma};
  const srNewtonParts to = {.q = NV_DATA_S(x), .v = NV_DATA_S(x) + v, .y = NV_DATA_S(x) + y};
  return sri_bdf_answer(integrator, sri_newton_solve_motion(integrator, newton, &from, &to));
}

// What the projection takes away is no error either: the test of the step has lost it (project), the choice of the order not yet.
static int filter(srIntegrator* integrator, N_Vector e, N_Vector out) {
  srBdf* b = integrator->work;
  if (projects(integrator)) project_error(integrator, NV_DATA_S(e));
  return solve(b->solver, b->matrix, out, e, 0);
}

// (1 - gamma J) dx = -r, gamma J dx = dx + r
static bool stiffness(const srIntegrator* integrator, const double* increment, double* residual) {
  for (int i = 0; i < integrator->ncontrol; ++i) residual[i] += increment[i];
  return true;
}

// ---- the solver -------------------------------------------------------------------------------------------------------

static bool set_limits(const srIntegrator* integrator, void* m) {
  const double most = integrator->options.step_max;
  return CVodeSetMaxErrTestFails(m, MOST_FAILURES) == CV_SUCCESS &&
         CVodeSetMaxConvFails(m, MOST_FAILURES) == CV_SUCCESS && CVodeSetMaxHnilWarns(m, -1) == CV_SUCCESS &&
         CVodeSetNonlinConvCoef(m, NEWTON_PART) == CV_SUCCESS && CVodeSetEtaConvFail(m, SHORTENED) == CV_SUCCESS &&
         CVodeSetMinStep(m, integrator->options.step_min) == CV_SUCCESS &&
         (most <= 0 || CVodeSetMaxStep(m, most) == CV_SUCCESS);
}

static bool set_projection(void* m) {
  return CVodeSetProjFn(m, project) == CV_SUCCESS && CVodeSetMaxNumProjFails(m, MOST_FAILURES) == CV_SUCCESS &&
         CVodeSetProjErrEst(m, SUNTRUE) == CV_SUCCESS;
}

static bool create(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  if (!sri_newton_create(&b->newton, integrator, false) || !sri_bdf_solver(integrator, solve)) return false;
  b->memory = CVodeCreate(CV_BDF, b->context);
  if (b->memory == NULL) return false;
  return CVodeSetErrHandlerFn(b->memory, sri_bdf_silent, NULL) == CV_SUCCESS &&
         CVodeInit(b->memory, right_side, 0, b->x) == CV_SUCCESS &&
         CVodeSetUserData(b->memory, integrator) == CV_SUCCESS && CVodeWFtolerances(b->memory, weights) == CV_SUCCESS &&
         CVodeSetNonlinearSolver(b->memory, b->nonlinear) == CV_SUCCESS &&
         CVodeSetLinearSolver(b->memory, b->solver, b->matrix) == CV_SUCCESS &&
         CVodeSetLinSysFn(b->memory, linear_system) == CV_SUCCESS && set_limits(integrator, b->memory) &&
         set_projection(b->memory) && (b->w == NULL || CVodeQuadInit(b->memory, quadrature, b->w) == CV_SUCCESS);
}

static void destroy(srBdf* b) { CVodeFree(&b->memory); }

static bool begin(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  b->begun = false;
  b->flag = CVodeReInit(b->memory, integrator->t, b->x);
  if (b->flag == CV_SUCCESS && b->w != NULL) b->flag = CVodeQuadReInit(b->memory, b->w);
  if (b->flag == CV_SUCCESS) b->flag = CVodeSetInitStep(b->memory, b->h_first);
  return b->flag == CV_SUCCESS;
}

static srBdfEnd end_of(int flag) {
  switch (flag) {
    case CV_SUCCESS:
    case CV_TSTOP_RETURN: return SRI_BDF_DONE;
    case CV_TOO_MUCH_ACC: return SRI_BDF_ACCURACY;
    case CV_ERR_FAILURE: return SRI_BDF_ERROR;
    case CV_CONV_FAILURE:
    case CV_LSETUP_FAIL:
    case CV_LSOLVE_FAIL: return SRI_BDF_NEWTON;
    case CV_RHSFUNC_FAIL:
    case CV_FIRST_RHSFUNC_ERR:
    case CV_REPTD_RHSFUNC_ERR:
    case CV_UNREC_RHSFUNC_ERR:
    case CV_QRHSFUNC_FAIL:
    case CV_FIRST_QRHSFUNC_ERR:
    case CV_REPTD_QRHSFUNC_ERR:
    case CV_UNREC_QRHSFUNC_ERR:
    case CV_PROJFUNC_FAIL:
    case CV_REPTD_PROJFUNC_ERR: return SRI_BDF_CALLBACK;
    default: return SRI_BDF_OTHER;
  }
}

static srBdfEnd advance(srIntegrator* integrator, double t_out, double t_limit, double* t_new) {
  srBdf* b = integrator->work;
  b->flag = CVodeSetStopTime(b->memory, t_limit);
  if (b->flag == CV_SUCCESS) b->flag = CVode(b->memory, t_out, b->x, t_new, CV_ONE_STEP);
  realtype t;
  if (b->flag >= 0 && b->w != NULL && CVodeGetQuad(b->memory, &t, b->w) != CV_SUCCESS) return SRI_BDF_OTHER;
  if (b->flag >= 0 && CVodeGetDky(b->memory, *t_new, 1, b->xdot) != CV_SUCCESS) return SRI_BDF_OTHER;
  return end_of(b->flag);
}

static bool dense(srBdf* b, double t) {
  return CVodeGetDky(b->memory, t, 0, b->dense) == CV_SUCCESS &&
         (b->w == NULL || CVodeGetQuadDky(b->memory, t, 0, b->dense_w) == CV_SUCCESS);
}

static double planned(srBdf* b) {
  realtype h = 0;
  (void)CVodeGetCurrentStep(b->memory, &h);
  return h;
}

static void counts(srBdf* b, long* rejected, long* iterations) {
  long errors = 0, failures = 0;
  (void)CVodeGetNumErrTestFails(b->memory, &errors);
  (void)CVodeGetNumNonlinSolvConvFails(b->memory, &failures);
  (void)CVodeGetNumNonlinSolvIters(b->memory, iterations);
  *rejected = errors + failures;
}

static const srBdfOps cvode = {.size = size_of,
                               .create = create,
                               .destroy = destroy,
                               .begin = begin,
                               .advance = advance,
                               .dense = dense,
                               .planned = planned,
                               .counts = counts,
                               .filter = filter,
                               .stiffness = stiffness};

static void init(srIntegrator* integrator) { sri_bdf_lay_out(integrator, &cvode); }

const srIntegratorOps sri_cvode_ops = {
    .method = {.name = "cvode",
               .order = 5,
               .adaptive = true,
               .implicit = true,
               .index = 1,
               .partitions = true,
               .baumgarte = true,
               .family = "bdf",
               .about = "SUNDIALS: backward differentiation of order 1 to 5, projected on the constraints"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(constraint),
    .index1 = true,
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srBdf),
    .room = sri_bdf_room,
    .init = init,
    .create = sri_bdf_create,
    .start = sri_bdf_start,
    .step = sri_bdf_step,
    .interpolate = sri_bdf_interpolate,
    .destroy = sri_bdf_destroy,
};
