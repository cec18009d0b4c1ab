// What cvode and ida share. SUNDIALS takes the step; this file has what happens before and after it.
//
// The state of SUNDIALS is never changed behind its back. The state handed out is that of SUNDIALS after sri_accept (constraints
// checked, `accepted` called). Where this moves it by less than the tolerance, as normalising a quaternion does, history goes
// on from where it was; else it restarts from the moved state. So it does where `accepted` has changed discrete states in
// a way that the rates show.
#include "sundials/bdf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/control.h"

#define MOST_MOVED 1.0  // tolerances, root mean square, by which `accepted` may move a state that history goes on from
#define RATE_JUMP 0.1   // of a tolerance, that a change of the rates may make in one step, likewise
#define FEW_ROUNDINGS 64  // units in the last place of t: a step this short is a straight line

// ---- life -------------------------------------------------------------------------------------------------------------

size_t sri_bdf_room(const srSystem* s, int n) {
  return 5 * (size_t)n + (size_t)s->nq + (size_t)s->ng / sizeof(double) + 1;
}

void sri_bdf_lay_out(srIntegrator* integrator, const srBdfOps* ops) {
  srBdf* b = integrator->work;
  const size_t n = (size_t)integrator->n;
  b->ops = ops;
  b->rate = integrator->room;
  b->rate_before = b->rate + n;
  b->moved = b->rate_before + n;
  b->nothing = b->moved + n;
  b->lack = b->nothing + integrator->system.nq;
  b->kept = (unsigned char*)(b->lack + 2 * n);
  b->restart = true;
}

static bool create_vectors(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  const int size = b->ops->size(&integrator->system), nw = integrator->system.nw;
  // A system without states still has time: SUNDIALS gets one number that stays 0.
  b->x = sri_bdf_vector(integrator, size > 0 ? size : 1);
  if (b->x == NULL) return false;
  N_Vector* others[] = {&b->xdot, &b->dense, &b->part, &b->once, &b->twice};
  for (int i = 0; i < SR_COUNT(others); ++i) {
    *others[i] = N_VClone(b->x);
    if (*others[i] == NULL) return false;
    N_VConst(0, *others[i]);
  }
  N_VConst(0, b->x);
  if (nw == 0) return true;
  b->w = N_VNew_Serial(nw, b->context);
  b->dense_w = b->w != NULL ? N_VClone(b->w) : NULL;
  if (b->dense_w == NULL) return false;
  N_VConst(0, b->w);
  return true;
}

static srStatus refuse(srMessages* messages, srStatus status, const char* reason, const char* name) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the method '%s' %s", name, reason);
  return status;
}

srStatus sri_bdf_create(srIntegrator* integrator, srMessages* messages) {
  srBdf* b = integrator->work;
  const srSystem* s = &integrator->system;
  const char* name = integrator->ops->method.name;
  if (integrator->options.control == SR_CONTROL_FIXED) {
    return refuse(messages, SR_INPUT, "chooses step and order by the error and has no fixed step: take rtol and atol",
                  name);
  }
  const bool by_motion = s->ng > 0 && s->dynamics != NULL;
  if (by_motion && s->nq != s->nv && (s->difference == NULL || s->qdot == NULL)) {
    return refuse(
        messages, SR_INPUT,
        "needs the rates of the positions and the difference of two positions where there are constraints and "
        "more positions than velocities (callbacks 'qdot', 'difference')",
        name);
  }
  const bool good = SUNContext_Create(NULL, &b->context) == 0 && create_vectors(integrator) &&
                    sri_iteration_create(b, integrator->ncontrol, b->lack) && b->ops->create(integrator);
  return good ? SR_OK : refuse(messages, SR_MEMORY, "has not got the memory that it needs", name);
}

void sri_bdf_destroy(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  if (b->memory != NULL) b->ops->destroy(b);
  if (b->nonlinear != NULL) SUNNonlinSolFreeEmpty(b->nonlinear);
  if (b->solver != NULL) SUNLinSolFreeEmpty(b->solver);
  if (b->matrix != NULL) SUNMatFreeEmpty(b->matrix);
  N_Vector vectors[] = {b->x, b->xdot, b->w, b->dense, b->dense_w, b->part, b->once, b->twice, b->iteration.increment};
  for (int i = 0; i < SR_COUNT(vectors); ++i) {
    if (vectors[i] != NULL) N_VDestroy(vectors[i]);
  }
  sri_newton_destroy(&b->newton);
  if (b->context != NULL) (void)SUNContext_Free(&b->context);
}

void sri_bdf_start(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  b->restart = true;
  b->h_first = integrator->options.step;
  b->straight = b->dense_known = false;
  integrator->acceleration = NULL;
}

// ---- a linear solver of our own ---------------------------------------------------------------------------------------

static SUNLinearSolver_Type solver_type(SUNLinearSolver solver) {
  (void)solver;
  return SUNLINEARSOLVER_DIRECT;
}

static SUNLinearSolver_ID solver_id(SUNLinearSolver solver) {
  (void)solver;
  return SUNLINEARSOLVER_CUSTOM;
}

static int solver_nothing(SUNLinearSolver solver) {
  (void)solver;
  return 0;
}

static int solver_setup(SUNLinearSolver solver, SUNMatrix matrix) {
  (void)solver, (void)matrix;  // factored where it was evaluated
  return 0;
}

static SUNMatrix_ID matrix_id(SUNMatrix matrix) {
  (void)matrix;
  return SUNMATRIX_CUSTOM;
}

static int matrix_nothing(SUNMatrix matrix) {
  (void)matrix;
  return 0;
}

bool sri_bdf_solver(srIntegrator* integrator, srBdfSolve solve) {
  srBdf* b = integrator->work;
  b->solver = SUNLinSolNewEmpty(b->context);
  b->matrix = SUNMatNewEmpty(b->context);
  if (b->solver == NULL || b->matrix == NULL) return false;
  b->solver->content = integrator;
  b->solver->ops->gettype = solver_type;
  b->solver->ops->getid = solver_id;
  b->solver->ops->initialize = solver_nothing;
  b->solver->ops->setup = solver_setup;
  b->solver->ops->solve = solve;
  b->matrix->ops->getid = matrix_id;
  b->matrix->ops->zero = matrix_nothing;
  return true;
}

void sri_bdf_silent(int code, const char* module, const char* function, char* message, void* user) {
  (void)code, (void)module, (void)function, (void)message, (void)user;  // sri_error_message has its own message
}

// ---- evaluation -------------------------------------------------------------------------------------------------------

int sri_bdf_answer(srIntegrator* integrator, int outcome) {
  srBdf* b = integrator->work;
  if (outcome == SRI_DONE) return 0;
  b->outcome = outcome;
  return outcome > 0 ? 1 : -1;
}

int sri_bdf_rates(srIntegrator* integrator, double t, const double* x, double* rate) {
  const int n = integrator->ncontrol;
  if (!sri_all_finite(n, x)) return sri_bdf_answer(integrator, SRI_NOT_FINITE);
  int outcome = sri_rates(integrator, t, x, SR_TAU_ELEMENT, rate);
  if (outcome == SRI_DONE && !sri_all_finite(n, rate)) outcome = SRI_NOT_FINITE;
  return sri_bdf_answer(integrator, outcome);
}

bool sri_bdf_normalizes(const srSystem* s) { return s->nq != s->nv && s->retract != NULL; }

int sri_bdf_normalize(srIntegrator* integrator, const double* q, double* out) {
  const srSystem* s = &integrator->system;
  srBdf* b = integrator->work;
  memset(b->nothing, 0, (size_t)s->nq * sizeof *b->nothing);
  return sri_retract(s, q, b->nothing, out);
}

// SUNDIALS divides by all entries: states that are not used have no error, and must not reduce those of the others.
void sri_bdf_weights(const srIntegrator* integrator, const double* x, double factor, double* weight) {
  const int n = integrator->ncontrol, used = n - sri_unused_states(integrator);
  const double part = used > 0 ? factor * sqrt((double)n / used) : factor;
  for (int i = 0; i < n; ++i) weight[i] = part / sri_allowed_error(integrator, i, fabs(x[i]));
}

// ---- sentences --------------------------------------------------------------------------------------------------------

static double least_step(const srIntegrator* integrator) {
  const double t = fabs(integrator->t);
  return fmax(integrator->options.step_min, 16 * (nextafter(t, HUGE_VAL) - t));
}

bool sri_bdf_too_short(srIntegrator* integrator, double t) {
  srBdf* b = integrator->work;
  const double h = t - integrator->t, least = fmin(least_step(integrator), 0.5 * (b->t_limit - integrator->t));
  if (h >= 0.999 * least || h <= 0) return false;
  b->too_short = true;
  return true;
}

static srStatus fail_evaluation(srIntegrator* integrator, double h) {
  const srBdf* b = integrator->work;
  char reason[sizeof integrator->reason];
  sri_reason(integrator, b->outcome, reason, sizeof reason);
  if (b->outcome < 0) {
    return sri_fail(integrator, "the step from t = %.9g of length %.3g failed: %s", integrator->t, h, reason);
  }
  return sri_fail(integrator, "at t = %.9g no step succeeds, the last try was %.3g and the least step is %.3g: %s",
                  integrator->t, h, least_step(integrator), reason);
}

static srStatus fail_step(srIntegrator* integrator, srBdfEnd end) {
  srBdf* b = integrator->work;
  const double t = integrator->t, h = b->ops->planned(b), least = least_step(integrator);
  switch (end) {
    case SRI_BDF_ACCURACY:
      return sri_fail(integrator, "at t = %.9g rtol = %.3g and atol = %.3g ask for more digits than numbers have", t,
                      integrator->options.rtol, integrator->options.atol);
    case SRI_BDF_ERROR:
      return sri_fail(integrator,
                      "at t = %.9g the error is still above the tolerance with a step of %.3g, and the least step is "
                      "%.3g",
                      t, h, least);
    case SRI_BDF_NEWTON:
      return sri_fail(integrator,
                      "at t = %.9g Newton's iteration finds no solution, the last try was a step of %.3g and the least "
                      "step is %.3g",
                      t, h, least);
    case SRI_BDF_SHORT:
      return sri_fail(integrator,
                      "at t = %.9g the error or Newton's iteration asks for a step of %.3g, and the least step is %.3g",
                      t, h, least);
    case SRI_BDF_CALLBACK: return fail_evaluation(integrator, h);
    default:
      return sri_fail(integrator, "at t = %.9g SUNDIALS gives up for a reason that is not foreseen (%d)", t, b->flag);
  }
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// Rows in use, and the rates at the present state into b->rate.
static srStatus evaluate_here(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  const srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (sri_bdf_rates(integrator, integrator->t, integrator->x, b->rate) == 0) return SR_OK;
  // A smaller step does not help here: the rates at the present state are part of every step.
  if (b->outcome == SRI_NOT_FINITE) {
    char entry[32];
    const int bad = sri_not_finite(integrator, b->rate);
    sri_entry_name(integrator, bad >= 0 ? bad : 0, entry, sizeof entry);
    return sri_fail(integrator, "the rate of %s is not a finite number at t = %.9g", entry, integrator->t);
  }
  return sri_fail(integrator, "the equations of motion could not be evaluated at t = %.9g", integrator->t);
}

// The first entry of history.
static srStatus begin(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  const size_t n = (size_t)integrator->ncontrol, nw = (size_t)integrator->system.nw;
  const srStatus status = evaluate_here(integrator);
  if (status != SR_OK) return status;
  N_VConst(0, b->x);
  if (n > 0) memcpy(NV_DATA_S(b->x), integrator->x, n * sizeof(double));
  if (nw > 0) memcpy(NV_DATA_S(b->w), integrator->x + n, nw * sizeof(double));
  if (integrator->constrained != NULL) memcpy(b->kept, integrator->constrained->kept, (size_t)integrator->system.ng);
  b->iteration.proper = 0;
  if (!b->ops->begin(integrator)) return fail_step(integrator, SRI_BDF_OTHER);
  b->rejected = b->iterations = 0;
  b->restart = false;
  b->first = true;
  return SR_OK;
}

static void count(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  long rejected = 0, iterations = 0;
  b->ops->counts(b, &rejected, &iterations);
  integrator->stats.rejected += rejected - b->rejected;
  integrator->stats.iterations += iterations - b->iterations;
  b->rejected = rejected;
  b->iterations = iterations;
}

// Root mean square of h (a - b) in tolerances, over (q, v, y).
static double distance(const srIntegrator* integrator, double h, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    const double ratio = h * (a[i] - b[i]) / sri_allowed_error(integrator, i, fabs(integrator->x[i]));
    sum += ratio * ratio;
  }
  return integrator->ncontrol > 0 ? sqrt(sum / integrator->ncontrol) : 0;
}

// How far the state was moved from that of SUNDIALS, in tolerances. The length of quaternions does not count: all the
// equations are those of q/|q|.
static double moved_by(srIntegrator* integrator) {
  srBdf* b = integrator->work;
  const double* x = NV_DATA_S(b->x);
  if (!sri_bdf_normalizes(&integrator->system)) return distance(integrator, 1, integrator->x, x);
  memcpy(b->moved, x, (size_t)integrator->ncontrol * sizeof *x);
  if (sri_bdf_normalize(integrator, x, b->moved) != SRI_DONE) return HUGE_VAL;
  return distance(integrator, 1, integrator->x, b->moved);
}

// After an accepted step: does history still belong to the state and to the equations?
static bool history_holds(srIntegrator* integrator, bool discrete) {
  srBdf* b = integrator->work;
  const srConstrained* c = integrator->constrained;
  const double* x = NV_DATA_S(b->x);
  if (c != NULL && b->rows_matter && memcmp(b->kept, c->kept, (size_t)integrator->system.ng) != 0) return false;
  if (!(moved_by(integrator) <= MOST_MOVED)) return false;
  if (!discrete) return true;
  if (sri_bdf_rates(integrator, integrator->t, x, b->rate) != 0) return false;
  return distance(integrator, integrator->h, b->rate, b->rate_before) <= RATE_JUMP;
}

// Takes the state that SUNDIALS has reached. Outcomes as in explicit.h.
static int take(srIntegrator* integrator, double t_new) {
  srBdf* b = integrator->work;
  const srSystem* s = &integrator->system;
  const size_t n = (size_t)integrator->ncontrol;
  const bool discrete = s->nz > 0 && s->accepted != NULL;
  const int rank = integrator->stats.rank;
  bool same = false;
  if (n > 0) memcpy(integrator->x_new, NV_DATA_S(b->x), n * sizeof(double));
  if (s->nw > 0) memcpy(integrator->x_new + n, NV_DATA_S(b->w), (size_t)s->nw * sizeof(double));
  if (!sri_all_finite(integrator->ncontrol, integrator->x_new)) return SRI_NOT_FINITE;
  if (discrete) {
    // Discrete states are not visible: the rates before and after show whether they have changed.
    if (sri_bdf_rates(integrator, t_new, NV_DATA_S(b->x), b->rate) != 0) return b->outcome;
    memcpy(b->rate_before, b->rate, n * sizeof(double));
  }
  const int outcome = sri_accept(integrator, t_new, t_new - integrator->t, &same);
  if (outcome != SRI_DONE) return outcome;
  b->restart = integrator->stats.rank != rank || !history_holds(integrator, discrete);
  if (b->restart) b->h_first = 0;
  b->first = b->straight = b->dense_known = false;
  // Not where the state was moved away from what the formula gave.
  integrator->acceleration = b->restart || s->nv == 0 ? NULL : NV_DATA_S(b->xdot) + s->nq;
  return SRI_DONE;
}

// A limit that is a few roundings away: x + h x'.
static srStatus straight_step(srIntegrator* integrator, double t_limit) {
  srBdf* b = integrator->work;
  bool same = false;
  const double h = t_limit - integrator->t;
  const srStatus status = evaluate_here(integrator);
  if (status != SR_OK) return status;
  b->restart = b->straight = true;
  b->h_first = 0;
  integrator->acceleration = NULL;
  for (int i = 0; i < integrator->n; ++i) integrator->x_new[i] = integrator->x[i] + h * b->rate[i];
  b->outcome = sri_accept(integrator, t_limit, h, &same);
  return b->outcome == SRI_DONE ? SR_OK : fail_evaluation(integrator, h);
}

srStatus sri_bdf_step(srIntegrator* integrator, double t_limit) {
  srBdf* b = integrator->work;
  const double t = integrator->t;
  if (t_limit - t < FEW_ROUNDINGS * (nextafter(fabs(t), HUGE_VAL) - fabs(t))) return straight_step(integrator, t_limit);
  b->t_limit = t_limit;
  integrator->acceleration = NULL;
  for (;;) {
    const srStatus status = b->restart ? begin(integrator) : SR_OK;
    if (status != SR_OK) return status;
    double t_new = t;
    b->outcome = SRI_DONE;
    b->too_short = b->filters = false;
    // SUNDIALS searches its first step between t and t_out.
    const double t_out = isfinite(t_limit) ? t_limit : t + 1 + fabs(t);
    srBdfEnd end = b->ops->advance(integrator, t_out, fmin(t_limit, DBL_MAX), &t_new);
    count(integrator);
    if (end != SRI_BDF_DONE) {
      b->restart = true;
      if (b->too_short && b->first && b->h_first < integrator->options.step_min) {
        b->h_first = integrator->options.step_min;  // the first step that SUNDIALS has chosen is below the least one
        continue;
      }
      b->h_first = 0;
      if (b->outcome < 0) end = SRI_BDF_CALLBACK;
      return fail_step(integrator, b->too_short ? SRI_BDF_SHORT : end);
    }
    const double h = t_new - t;
    b->outcome = take(integrator, t_new);
    if (b->outcome == SRI_DONE) return SR_OK;
    // Refused after the fact: SUNDIALS has advanced, so history restarts before the step.
    b->restart = true;
    b->h_first = 0.25 * h;
    ++integrator->stats.rejected;
    if (b->outcome < 0 || b->h_first <= least_step(integrator)) return fail_evaluation(integrator, h);
  }
}

// ---- dense output -----------------------------------------------------------------------------------------------------

void sri_bdf_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  srBdf* b = integrator->work;
  const double h = integrator->t - integrator->t_before, t = integrator->t_before + theta * h;
  if (!b->straight && (!b->dense_known || b->t_dense != t)) {
    b->dense_known = b->ops->dense(b, t);
    b->t_dense = t;
  }
  if (b->straight || !b->dense_known) {
    for (int i = 0; i < count; ++i) {
      const double from = integrator->x_before[first + i], to = integrator->x[first + i];
      out[i] = from + theta * (to - from);
    }
    return;
  }
  const int n = integrator->ncontrol;
  for (int i = 0; i < count; ++i) {
    const int k = first + i;
    out[i] = k < n ? NV_DATA_S(b->dense)[k] : NV_DATA_S(b->dense_w)[k - n];
  }
}
