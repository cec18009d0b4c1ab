// radau5: the three-stage Radau IIA method, order 5, on the stabilised index-2 form of Gear, Gupta and Leimkuhler (1985)
//   q' = H(q) (v + u),  N u = G_p^T mu       M v' = f + D^T lambda       y' = r
//   0 = g(t, q)  (equations with a position form)       0 = G v + b
// over the equations in use. Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8 and VII. mu is 0 on the solution: u only
// keeps the stages on g = 0, and any metric N and any G_p near the present one will do. They are taken where the tangent was
// evaluated last, N = M or the identity by the option `metric`; M weighs metres against radians as the motion does.
//
// Positions are added as in the explicit methods: q' = H(q) v in the entries of q, and `accepted` puts unit quaternions back
// on the sphere. Newton increments are in the directions of v. The method is stiffly accurate: the last stage is the end of the
// step, with its multipliers.
//
// Error: e = (s B - J)^-1 (F(x_0) + B sum_i e_i Z_i / h), s = gamma/h, of order 3, over q, v and y, which are differential here;
// lambda and mu do not count. It is compared with 0.1 tol^(2/3): the estimate falls like h^4, the error of a step like h^6.
#include "integrate/radau5.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define THETA_CROSSING 0.4  // a singular position should be between the nodes, away from all of them
#define THETA_KEEP 0.05     // rate of convergence up to which the tangent serves for the next step
#define COUPLED_SMALL 120   // unknowns
#define COUPLED_STEPS 8     // tried with the coupled matrix at once after one that needed it
#define FAR 5               // times the last step: farther ahead its polynomial is not extrapolated
#define KEEP_MOST 1.2       // growth of the step that is not worth new factors
#define SAFETY 0.9
#define STEADY_ITERATIONS 10
#define FIRST_STEP 1e-6  // where the system provides no rates to estimate one from

static const srRadau5Tableau* const tableau = &sri_radau5_tableau;

// ---- life -------------------------------------------------------------------------------------------------------------

// Lays out the arrays from `at` on, or counts them where at is NULL.
static size_t lay_out(srRadau5* w, const srSystem* s, int n, double* at) {
  const size_t nv = (size_t)s->nv, m = nv + (size_t)s->ny, ng = (size_t)s->ng, nx = (size_t)n;
  const size_t full = s->solver != NULL ? 0 : 1;  // no matrices where the system solves
  const size_t nM = full * sri_mass_count(s);
  const size_t nG = sri_rows_count(s);
  const size_t nK = full * (s->K_sparsity != NULL ? (size_t)s->K_sparsity->row[m] : m * m);
  struct {
    double** to;
    int copies;
    size_t count;
  } parts[] = {{w->X, 3, nx},
               {w->dense, 3, nx},
               {w->Z, 3, m},
               {w->R, 3, m},
               {w->dZ, 3, m},
               {w->U, 3, nv},
               {w->dU, 3, nv},
               {w->P, 3, nv},
               {w->slope, 3, (size_t)s->nq},
               {w->L, 3, ng},
               {w->L_before, 3, ng},
               {w->rg, 3, ng},
               {w->rv, 3, ng},
               {w->wdot, 4, (size_t)s->nw},
               {&w->M0, 1, nM},
               {&w->F0, 1, m},
               {&w->M, 1, nM},
               {&w->G, 1, nG},
               {&w->D, 1, nG},
               {&w->a0, 1, nv},
               {&w->l0, 1, ng},
               {&w->K_re, 1, nK},
               {&w->K_im, 1, nK},
               {&w->k, 1, 2 * m},
               {&w->r, 1, 2 * ng},
               {&w->g, 1, 2 * ng},
               {&w->l, 1, 2 * ng},
               {&w->u, 1, 2 * nv},
               {&w->p, 1, 2 * nv},
               {&w->a, 1, m},
               {&w->e, 1, nx},
               {&w->lack, 1, m},
               {&w->lack_before, 1, m}};
  size_t count = 0;
  for (int i = 0; i < SR_COUNT(parts); ++i) {
    for (int k = 0; k < parts[i].copies; ++k, count += parts[i].count) {
      if (at != NULL) parts[i].to[k] = at + count;
    }
  }
  if (at != NULL) w->kept = (unsigned char*)(at + count);
  return count + ng / sizeof(double) + 1;
}

static size_t room(const srSystem* system, int n) {
  srRadau5 unused;
  return lay_out(&unused, system, n, NULL) + sri_radau5_coupled_room(system);
}

static void init(srIntegrator* integrator) {
  srRadau5* work = integrator->work;
  const size_t used = lay_out(work, &integrator->system, integrator->n, integrator->room);
  sri_radau5_coupled_init(&integrator->system, &work->coupled, integrator->room + used);
}

// Patterns and factors.
static bool take_memory(srRadau5* work, const srSystem* s) {
  if (!sri_tangent_create(&work->tangent, s)) return false;
  if (s->solver != NULL) return true;
  srmShiftedShape shape = {
      .n = s->nv + s->ny, .nv = s->nv, .ng = s->ng, .K = &work->tangent.pattern, .G = s->G_sparsity};
  work->real = srm_shifted_create(&shape);
  shape.complex = true;
  work->complex = srm_shifted_create(&shape);
  if (s->np > 0) {
    work->position =
        srm_saddle_create(&(srmSaddleShape){.nv = s->nv, .ng = s->ng, .M = s->M_sparsity, .G = s->G_sparsity});
  }
  return work->real != NULL && work->complex != NULL && (s->np == 0 || work->position != NULL);
}

#define COMPLAIN(messages, ...) sr_messages_add((messages), SR_SEVERITY_ERROR, (srPlace){0}, __VA_ARGS__)

static srStatus create(srIntegrator* integrator, srMessages* messages) {
  const srSystem* s = &integrator->system;
  const char* name = integrator->ops->method.name;
  if (s->nq != s->nv && s->qdot == NULL) {
    COMPLAIN(messages,
             "the method '%s' needs the rates of the positions where these are not the velocities, and the system does "
             "not offer them (callback 'qdot')",
             name);
    return SR_INPUT;
  }
  if (take_memory(integrator->work, s)) return SR_OK;
  COMPLAIN(messages, "out of memory for the matrices of the method '%s'", name);
  return SR_MEMORY;
}

static void destroy(srIntegrator* integrator) {
  srRadau5* work = integrator->work;
  srm_shifted_destroy(work->real);
  srm_shifted_destroy(work->complex);
  srm_saddle_destroy(work->position);
  sri_tangent_destroy(&work->tangent);
}

static void start(srIntegrator* integrator) {
  srRadau5* work = integrator->work;
  const srIntegratorOptions* o = &integrator->options;
  const double tol = o->rtol > 0 ? o->rtol : o->atol;
  sri_control_start(integrator, &work->control, THETA_CROSSING, 4);
  work->power_known = false;
  work->known = work->fresh = work->base_known = work->rejected = false;
  work->first = true;
  integrator->lambda = NULL;
  work->coupled_steps = 0;
  work->rows_hold = false;
  work->h_factored = work->h_before = 0;
  // The rule `positions` compares the error with the tolerance as it is.
  work->tolerance = o->control == SR_CONTROL_POSITIONS ? 1 : 0.1 * pow(tol, -1.0 / 3);
  const double inner = work->tolerance * tol;
  work->newton = sri_is_adaptive(integrator) ? fmax(10 * DBL_EPSILON / inner, fmin(0.03, sqrt(inner))) : 1e-3;
}

// ---- start of a step --------------------------------------------------------------------------------------------------

// Lagrange polynomials of the nodes c_1, c_2, 1 at theta; with the node 0 too, whose own is not wanted.
static void weights_at(double theta, bool with_start, double weight[3]) {
  for (int j = 0; j < 3; ++j) {
    weight[j] = with_start ? theta / tableau->c[j] : 1;
    for (int k = 0; k < 3; ++k) {
      if (k != j) weight[j] *= (theta - tableau->c[k]) / (tableau->c[j] - tableau->c[k]);
    }
  }
}

// Weights of the stages of the last step in Z and L of stage i: its polynomials extrapolated, or their tangents at its end.
static void prediction(const srRadau5* work, double h, int i, double of_Z[3], double of_L[3]) {
  const double ahead = tableau->c[i] * h / work->h_before;
  const bool far = h > FAR * work->h_before;
  weights_at(1 + ahead, true, of_Z);
  weights_at(1 + ahead, false, of_L);
  of_Z[2] -= 1;
  for (int j = 0; far && j < 3; ++j) {
    of_Z[j] = ahead * tableau->W[2][j];
    of_L[j] = j == 2;
  }
}

// Where Newton starts. Without a step before, with the state and its multipliers held.
static void predict(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  double* const* l = work->L_before;
  for (int i = 0; i < 3; ++i) {
    double of_Z[3] = {0}, of_L[3] = {0};
    if (work->h_before > 0) prediction(work, h, i, of_Z, of_L);
    for (int j = 0; j < s->nv + s->ny; ++j) {
      const int k = s->nq + j;
      work->Z[i][j] = of_Z[0] * work->dense[0][k] + of_Z[1] * work->dense[1][k] + of_Z[2] * work->dense[2][k];
    }
    for (int k = 0; k < s->ng; ++k) {
      const double value = work->rows_hold ? of_L[0] * l[0][k] + of_L[1] * l[1][k] + of_L[2] * l[2][k] : work->l0[k];
      work->L[i][k] = integrator->constrained->kept[k] != 0 ? value : 0;
    }
    memset(work->U[i], 0, (size_t)s->nv * sizeof(double));
    sri_copy(work->X[i], integrator->x, s->nq);
  }
}

// ---- error ------------------------------------------------------------------------------------------------------------

// What the constraints fix is exact at the end of a step and gives no error there. But the polynomials in between are as accurate in these
// directions as in the others, so the defect is not removed from positions and velocities: else a fully driven mechanism
// would have no error and steps of any length.
//
// The estimate into e, with F at the start of the step or near it; v: the velocities there.
static int error_vector(srIntegrator* integrator, srRadau5* work, double h, const double* F, const double* v) {
  const srSystem* s = &integrator->system;
  const int nv = s->nv, n = nv + s->ny;
  const double* e = tableau->e;
  for (int j = 0; j < n; ++j) {
    work->a[j] = (e[0] * work->Z[0][j] + e[1] * work->Z[1][j] + e[2] * work->Z[2][j]) / h;
    work->k[j] = F[j] + (j < nv ? 0 : work->a[j]);
  }
  if (s->solver != NULL) {
    const int answer = s->solver->mass_times(s->user, integrator->x, work->a, work->u);
    if (answer != 0) return sri_outcome(answer);
  } else {
    sri_mass_times(s, work->M0, work->a, work->u);
  }
  for (int j = 0; j < nv; ++j) work->k[j] += work->u[j];
  // p is input and output of the solution: its second half holds the input.
  double* p = work->p + nv;
  for (int j = 0; j < nv; ++j) {
    p[j] = v[j] + (e[0] * work->P[0][j] + e[1] * work->P[1][j] + e[2] * work->P[2][j]) / h;
  }
  if (integrator->constrained != NULL) {
    for (int j = 0; j < nv; ++j) work->u[j] = (work->a0[j] + work->a[j]) * (h / tableau->gamma);
    srm_rows_times(&integrator->constrained->shape, work->G, work->u, work->r);
  }
  sri_radau5_solve(integrator, work, h, false, p, NULL);
  const int outcome = sri_qdot(integrator, integrator->x, work->p, work->e);
  sri_copy(work->e + s->nq, work->k, n);
  return outcome;
}

static double error_norm(const srIntegrator* integrator, const srRadau5* work) {
  return sri_error_norm(integrator, work->e, work->tolerance);
}

// Where the first estimate refuses a step without evidence (no step before, or one just refused), it is filtered once
// more, with the forces at x_0 + e: decayed fast components then have no effect.
static int estimate(srIntegrator* integrator, srRadau5* work, double h, double* err) {
  const srSystem* s = &integrator->system;
  int outcome = error_vector(integrator, work, h, work->F0, sri_v(integrator));
  if (outcome != SRI_DONE) return outcome;
  *err = error_norm(integrator, work);
  if (!(*err >= 1) || !(work->first || work->rejected)) return SRI_DONE;
  for (int i = 0; i < integrator->ncontrol; ++i) work->e[i] += integrator->x[i];
  const int refused =
      sri_radau5_evaluate(integrator, work, integrator->t, work->e, NULL, work->l0, work->R[0], NULL, NULL);
  if (refused != SRI_DONE) return SRI_DONE;  // the first estimate is kept
  for (int j = 0; j < s->nv + s->ny; ++j) work->R[0][j] = -work->R[0][j];
  sri_copy(work->dU[0], work->e + s->nq, s->nv);
  outcome = error_vector(integrator, work, h, work->R[0], work->dU[0]);
  if (outcome == SRI_DONE) *err = error_norm(integrator, work);
  return outcome;
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// w' at stage i, its M left in c.
static int stage_power(srIntegrator* integrator, srRadau5* work, double t, int i) {
  const double* x = work->X[i];
  const int outcome = sri_radau5_evaluate(integrator, work, t, x, NULL, work->L[i], work->R[i], NULL, NULL);
  return outcome == SRI_DONE ? sri_power(integrator, t, x, work->L[i], work->e, work->wdot[i]) : outcome;
}

// Quadratures of the stages, with the same weights.
static int quadratures(srIntegrator* integrator, srRadau5* work, double h, double t_new) {
  const int nw = integrator->system.nw, first = integrator->ncontrol;
  for (int i = 0; i < 3 && nw > 0; ++i) {
    const int outcome = stage_power(integrator, work, i == 2 ? t_new : integrator->t + tableau->c[i] * h, i);
    if (outcome != SRI_DONE) return outcome;
  }
  for (int i = 0; i < 3; ++i) {
    const double* a = tableau->A[i];
    for (int k = 0; k < nw; ++k) {
      const double sum = a[0] * work->wdot[0][k] + a[1] * work->wdot[1][k] + a[2] * work->wdot[2][k];
      work->X[i][first + k] = integrator->x[first + k] + h * sum;
    }
  }
  return SRI_DONE;
}

// Largest error of the quadratures over what the system allows: against the rule through the start of the step, its second stage and its end, which falls like h^4 as the estimate of the state does.
static double work_error(const srIntegrator* integrator, const srRadau5* work, double h) {
  const int first = integrator->ncontrol;
  const double c = tableau->c[1], middle = 1 / (6 * c * (1 - c)), end = 0.5 - c * middle, begin = 1 - end - middle;
  double* error = work->wdot[0];
  if (!work->power_known) return 0;
  for (int k = 0; k < integrator->system.nw; ++k) {
    const double sum = begin * work->wdot[3][k] + middle * work->wdot[1][k] + end * work->wdot[2][k];
    error[k] = h * sum - (work->X[2][first + k] - integrator->x[first + k]);
  }
  return sri_work_norm(integrator, error);
}

// Powers at the start of the first step.
static int first_power(srIntegrator* integrator, srRadau5* work) {
  if (work->power_known) return SRI_DONE;
  const int outcome = sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, work->e);
  sri_copy(work->wdot[3], work->e + integrator->ncontrol, integrator->system.nw);
  work->power_known = outcome == SRI_DONE;
  return outcome;
}

// Equations were exchanged, added or chosen: the known multipliers are not theirs.
static int renew_multipliers(srIntegrator* integrator, srRadau5* work) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  if (c == NULL || memcmp(work->kept, c->kept, (size_t)s->ng) == 0) return SRI_DONE;
  const int outcome = sri_index1(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, work->e);
  if (outcome != SRI_DONE) return outcome;
  sri_copy(work->a0, work->e + s->nq, s->nv);
  sri_copy(work->l0, c->lambda, s->ng);
  memcpy(work->kept, c->kept, (size_t)s->ng);
  work->known = work->base_known = work->rows_hold = false;
  return SRI_DONE;
}

// All stages in one matrix; then the tangent is reevaluated in the middle of the step, now known, for the error estimate.
static int solve_coupled(srIntegrator* integrator, srRadau5* work, double h, double t_new) {
  predict(integrator, work, h);
  int outcome = sri_radau5_coupled(integrator, work, h, t_new);
  work->known = false;
  if (outcome != SRI_DONE) return outcome;
  const int iterations = work->iterations;
  outcome = sri_radau5_prepare(integrator, work, h);
  work->iterations = iterations;
  work->theta = 0;
  return outcome;
}

// The stages; where they do not converge with an old tangent, again with a new one, and then with a matrix of all stages.
static int solve_stages(srIntegrator* integrator, srRadau5* work, srTrial trial) {
  const double h = trial.h;
  const bool at_once = work->coupled.possible && (trial.crossings || work->coupled_steps > 0);
  int outcome = renew_multipliers(integrator, work);
  if (outcome != SRI_DONE) return outcome;
  for (bool fresh = at_once; !fresh;) {
    predict(integrator, work, h);
    outcome = sri_radau5_prepare(integrator, work, h);
    if (outcome != SRI_DONE) return outcome;
    fresh = work->fresh;
    outcome = sri_radau5_newton(integrator, work, h, trial.t_new);
    if (outcome <= 0) return outcome;
    work->known = false;
  }
  if (!work->coupled.possible) return outcome;
  outcome = solve_coupled(integrator, work, h, trial.t_new);
  // A crossing concerns a position, not a property of the system; and a large matrix is worth another attempt each time.
  if (trial.crossings || work->coupled.size > COUPLED_SMALL) return outcome;
  work->coupled_steps = outcome != SRI_DONE ? 0 : work->coupled_steps > 0 ? work->coupled_steps - 1 : COUPLED_STEPS;
  return outcome;
}

// What the next step needs from this one, which was accepted.
static void remember(srIntegrator* integrator, srRadau5* work, double h, double err) {
  const srSystem* s = &integrator->system;
  const double* w = tableau->W[2];
  for (int j = 0; j < s->nv; ++j) {
    work->a0[j] = (w[0] * work->Z[0][j] + w[1] * work->Z[1][j] + w[2] * work->Z[2][j]) / h;
  }
  sri_copy(work->l0, work->L[2], s->ng);
  for (int i = 0; i < 3; ++i) {
    sri_copy(work->L_before[i], work->L[i], s->ng);
    for (int j = 0; j < integrator->n; ++j) work->dense[i][j] = work->X[i][j] - integrator->x_before[j];
  }
  work->rows_hold = true;
  work->first = work->rejected = work->base_known = false;
  if (work->theta > THETA_KEEP) work->known = false;
  work->err_last = err;
  integrator->lambda = s->ng > 0 ? work->l0 : NULL;
  integrator->acceleration = work->a0;
}

static int try_step(srIntegrator* integrator, srTrial trial, double* err) {
  srRadau5* work = integrator->work;
  const double h = trial.h;
  bool same = false;
  int outcome = solve_stages(integrator, work, trial);
  if (outcome != SRI_DONE) work->rejected = true;
  if (outcome != SRI_DONE) return outcome;
  sri_copy(integrator->x_new, work->X[2], integrator->ncontrol);
  const bool controlled = sri_is_adaptive(integrator) && sri_controls_work(integrator);
  if (sri_is_adaptive(integrator)) {
    outcome = estimate(integrator, work, h, err);
    if (outcome == SRI_DONE && controlled) outcome = first_power(integrator, work);
    if (outcome == SRI_DONE && controlled) outcome = quadratures(integrator, work, h, trial.t_new);
    if (outcome == SRI_DONE && controlled) *err = fmax(*err, work_error(integrator, work, h));
    if (outcome == SRI_DONE && !sri_error_accepted(trial.limit, *err)) {
      outcome = isfinite(*err) ? SRI_REFUSED : SRI_NOT_FINITE;
    }
  }
  if (outcome == SRI_DONE && !controlled) outcome = quadratures(integrator, work, h, trial.t_new);
  if (outcome == SRI_DONE) {
    sri_copy(integrator->x_new, work->X[2], integrator->n);
    outcome = sri_accept(integrator, trial.t_new, h, &same);
  }
  work->rejected = true;
  work->fresh = false;  // a shorter step has another middle
  if (outcome == SRI_DONE) {
    sri_copy(work->wdot[3], work->wdot[2], integrator->system.nw);
    work->power_known = true;
    remember(integrator, work, h, *err);
  }
  return outcome;
}

// Accelerations and multipliers at a start, for the tangent; from them the first step where none is given.
static srStatus first_rates(srIntegrator* integrator, srRadau5* work) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  double *k0 = work->X[0], *k1 = work->X[1];
  const bool guess = sri_control_needs_first(integrator, &work->control);
  memset(work->a0, 0, (size_t)s->nv * sizeof(double));
  if (c == NULL && s->rates == NULL) {
    if (guess) work->control.h = fmin(FIRST_STEP, sri_largest_step(integrator));
    return SR_OK;
  }
  if (sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, k0) != SRI_DONE ||
      sri_not_finite(integrator, k0) >= 0) {
    return sri_fail(integrator, "the equations of motion could not be evaluated at t = %.9g", integrator->t);
  }
  sri_copy(work->a0, k0 + s->nq, s->nv);
  if (c != NULL) {
    sri_copy(work->l0, c->lambda, s->ng);
    memcpy(work->kept, c->kept, (size_t)s->ng);
  }
  if (guess) work->control.h = sri_first_step(integrator, &work->control, k0, k1);
  return SR_OK;
}

// The predictive controller of Gustafsson (1994), on top of the rule: it sees the step shrink before the error is too large.
// Where the step would grow by little, it stays, and so do the factors.
static void predict_step(srIntegrator* integrator, srRadau5* work, double err_before, double h_planned) {
  srControl* control = &work->control;
  const double h = integrator->h, err = fmax(work->err_last, 1e-2);
  if (integrator->options.control != SR_CONTROL_DEFAULT) return;
  const double effort = (1.0 + 2 * STEADY_ITERATIONS) / (work->iterations + 2 * STEADY_ITERATIONS);
  const double safety = SAFETY * fmin(1, effort);
  if (work->h_before > 0 && h == h_planned) {
    const double ratio = h / work->h_before * pow(fmax(err_before, 1e-2) / (err * err), 0.25);
    control->h = fmin(control->h, h * fmax(0.2, safety * ratio));
  }
  if (work->known && control->h >= h && control->h <= KEEP_MOST * h) control->h = h;
}

static srStatus step(srIntegrator* integrator, double t_limit) {
  srRadau5* work = integrator->work;
  srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (work->first && !work->rejected) {
    status = first_rates(integrator, work);
    if (status != SR_OK) return status;
  }
  const double err_before = work->err_last, h_planned = work->control.h;
  status = sri_control_step(integrator, &work->control, t_limit, try_step);
  if (status != SR_OK) return status;
  predict_step(integrator, work, err_before, h_planned);
  work->h_before = integrator->h;
  return SR_OK;
}

// ---- dense output -----------------------------------------------------------------------------------------------------

// The collocation polynomial, of degree 3 with the start of the step. Projection and `accepted` have moved the end: by less
// than the error, and here in proportion.
static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srRadau5* work = integrator->work;
  double weight[3];
  weights_at(theta, true, weight);
  for (int i = 0; i < count; ++i) {
    const int j = first + i;
    const double x0 = integrator->x_before[j], moved = integrator->x[j] - x0 - work->dense[2][j];
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += weight[k] * work->dense[k][j];
    out[i] = x0 + sum + theta * moved;
  }
}

const srIntegratorOps sri_radau5_ops = {
    .method = {.name = "radau5",
               .order = 5,
               .adaptive = true,
               .implicit = true,
               .index = 2,
               .partitions = true,
               .about = "Radau IIA of order 5, implicit, stabilised index 2: stiff systems, constraints exact"},
    .needs = SRI_NEEDS(dynamics),
    .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srRadau5),
    .room = room,
    .init = init,
    .create = create,
    .start = start,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
};
