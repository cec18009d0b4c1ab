// The stages of radau5: residuals, the simplified Newton method, its linear algebra.   Hairer, Wanner II, IV.8
//
// Unknown are Z_i (increments of v and y), U_i (corrections of the positions) and lambda_i of the three stages, with
//   P_i = h sum_j a_ij (v_0 + Z_j + U_j),   Q_i = q_0 + h sum_j a_ij H(Q_j) (v_0 + Z_j + U_j)
// The residuals, with Z'_i = 1/h sum_j w_ij Z_j,
//   M(Q_i) Z'_i - f_i - D_i^T lambda_i,   Y'_i - r_i,   g(Q_i),   G(Q_i) V_i + b_i
// are transformed by T^-1 (x) I, which leaves one real system of shift s = gamma/h and one complex of s = (alpha + i beta)/h:
//   [ sM + Kv + Kq/s  -D^T ] [   dV    ]   [ -R - Kq u/s ]      N u = G_p^T mu,  G_p u = -s g + (G v + b)_p
//   [       G           0  ] [ dlambda ] = [ -(G v + b)  ]      dP = (dV + u)/s
// with Kq, Kv, M, G, D, N of one state, that of the last tangent. The position corrections come first, by a real matrix that
// does not contain h; then the velocities. d(G v)/dq is omitted from the matrix, not from the residuals: measured, it gains nothing:
// its part is h |omega|/s, and G itself changes by h |omega| over the step. So the state is in the middle of the step.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/radau5.h"

#define ITERATIONS 10
#define ITERATIONS_FIXED 30  // where no smaller step can be taken
#define SWEEPS 40            // of the positions of the stages
#define ROUNDING 1e-14       // relative increments below it are rounding
#define ROUNDING_SLOW 1e-12  // and below it where they do not fall any more
// Positions are known to eps, and a stiff force responds with K eps, which a step turns into velocities of s eps, s = gamma/h or (alpha + i beta)/h,
// whatever K is: 4 eps/h, in short steps above the tolerance. So an increment within the allowed error that moves positions (and y) by no
// more than this, relatively, is rounding, too, from the second on. Measured are up to 2 eps.
#define ROUNDING_PATH (4 * DBL_EPSILON)
#define ROUNDING_PATH_SLOW (16 * DBL_EPSILON)

static const srRadau5Tableau* const tableau = &sri_radau5_tableau;

// ---- evaluation -------------------------------------------------------------------------------------------------------

int sri_radau5_evaluate(srIntegrator* integrator, srRadau5* work, double t, const double* x, const double* a,
                        const double* lambda, double* E, double* g, double* rv) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const double *v = x + s->nq, *y = v + s->nv;
  double *M = c != NULL ? c->M : work->tangent.M, *f = c != NULL ? c->f : work->tangent.f;
  int answer;
  if (!sri_all_finite(integrator->ncontrol, x)) return SRI_NOT_FINITE;
  ++integrator->stats.evaluations;
  if (s->solver != NULL) {
    answer = s->solver->residual(s->user, t, x, v, y, SR_TAU_ELEMENT, a, E);
    for (int i = s->nv; a != NULL && i < s->nv + s->ny; ++i) E[i] += a[i];
    return sri_outcome(answer);
  }
  answer = s->dynamics(s->user, t, x, v, y, SR_TAU_ELEMENT, M, f, E + s->nv, c != NULL && s->D_differs ? c->D : NULL);
  if (answer != 0) return sri_outcome(answer);
  for (int i = 0; i < s->nv; ++i) E[i] = -f[i];
  for (int i = s->nv; i < s->nv + s->ny; ++i) E[i] = -E[i];
  if (a != NULL) {
    sri_mass_times(s, M, a, work->tangent.e1);
    for (int i = 0; i < s->nv + s->ny; ++i) E[i] += i < s->nv ? work->tangent.e1[i] : a[i];
  }
  if (c == NULL) return SRI_DONE;
  const int outcome = sri_constraint(integrator, t, x, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  (void)sri_residual_velocity(integrator, v);
  if (rv != NULL) sri_copy(rv, c->r, s->ng);
  for (int k = 0; g != NULL && k < s->ng; ++k) g[k] = k < s->np ? c->g[k] : 0;
  srm_rows_transposed_times(&c->shape, s->D_differs ? c->D : c->G, lambda, c->dv);
  for (int i = 0; i < s->nv; ++i) E[i] -= c->dv[i];
  return SRI_DONE;
}

// ---- the matrix -------------------------------------------------------------------------------------------------------

// Forces, M, G at the start of the step.
static int evaluate_base(srIntegrator* integrator, srRadau5* work) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const int n = s->nv + s->ny;
  if (work->base_known) return SRI_DONE;
  const int outcome =
      sri_radau5_evaluate(integrator, work, integrator->t, integrator->x, NULL, work->l0, work->F0, NULL, NULL);
  if (outcome != SRI_DONE) return outcome;
  for (int i = 0; i < n; ++i) work->F0[i] = -work->F0[i];
  if (!sri_all_finite(n, work->F0)) return SRI_NOT_FINITE;
  memcpy(work->M0, c != NULL ? c->M : work->tangent.M, work->tangent.nmass * sizeof(double));
  work->base_known = true;
  return SRI_DONE;
}

// Where the matrix is evaluated.
typedef struct srRadau5Place {
  double t;
  const double *x, *a, *lambda;
} srRadau5Place;

static int evaluate_tangent(srIntegrator* integrator, srRadau5* work, const srRadau5Place* at) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  int outcome = SRI_DONE;
  if (s->solver == NULL) {
    outcome = sri_radau5_evaluate(integrator, work, at->t, at->x, NULL, at->lambda, work->R[0], NULL, NULL);
  }
  if (outcome != SRI_DONE) return outcome;
  memcpy(work->M, c != NULL ? c->M : work->tangent.M, work->tangent.nmass * sizeof(double));
  if (c != NULL) {
    memcpy(work->G, c->G, c->nG * sizeof(double));
    memcpy(work->D, s->D_differs ? c->D : c->G, c->nG * sizeof(double));
  }
  outcome = sri_tangent(integrator, &work->tangent, at->t, at->x, at->a, c != NULL ? at->lambda : NULL);
  if (outcome != SRI_DONE) return outcome;
  if (work->position != NULL) {
    for (int k = 0; k < s->ng; ++k) c->position[k] = k < s->np && c->kept[k] != 0;
    ++integrator->stats.factorizations;
    // Bodies without mass: the equations with a position form alone may leave M singular. Any metric will do.
    if (!srm_saddle_factor(work->position, c->metric == SR_METRIC_MASS ? work->M : NULL, NULL, work->G, c->position) &&
        !srm_saddle_factor(work->position, NULL, NULL, work->G, c->position))
      return SRI_REFUSED;
  }
  work->known = work->fresh = true;
  work->h_factored = 0;
  return SRI_DONE;
}

// At the second stage as predicted, from where all stages are half a step away; else at the start of the step.
static int find_tangent(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  const double* w = tableau->W[1];
  if (work->h_before > 0 && sri_radau5_states(integrator, work, h) == SRI_DONE) {
    for (int j = 0; j < s->nv; ++j) {
      work->dU[0][j] = (w[0] * work->Z[0][j] + w[1] * work->Z[1][j] + w[2] * work->Z[2][j]) / h;
    }
    const srRadau5Place middle = {integrator->t + tableau->c[1] * h, work->X[1], work->dU[0], work->L[1]};
    const int outcome = evaluate_tangent(integrator, work, &middle);
    if (outcome <= 0) return outcome;
  }
  const srRadau5Place start = {integrator->t, integrator->x, work->a0, work->l0};
  return evaluate_tangent(integrator, work, &start);
}

// The same matrices, factored by the system.
static bool factor_by_system(const srSystem* s, double g, double a, double b) {
  const double size = a * a + b * b;
  const srShift real = {.cM = {g}, .cI = {g}, .cq = {1 / g}, .cv = {1}};
  const srShift complex = {.cM = {a, b}, .cI = {a, b}, .cq = {a / size, -b / size}, .cv = {1}};
  return s->solver->factor(s->user, &real, false) && s->solver->factor(s->user, &complex, true);
}

static bool factor(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  const double g = tableau->gamma / h, a = tableau->alpha / h, b = tableau->beta / h, size = a * a + b * b;
  integrator->stats.factorizations += 2;
  work->h_factored = 0;
  if (s->solver != NULL) {
    if (factor_by_system(s, g, a, b)) work->h_factored = h;
    return work->h_factored == h;
  }
  sri_tangent_combine(&work->tangent, s, work->M, g, g, 1 / g, 1, work->K_re);
  if (!srm_shifted_factor(work->real, work->K_re, NULL, work->D, work->G, work->kept)) return false;
  sri_tangent_combine(&work->tangent, s, work->M, a, a, a / size, 1, work->K_re);
  sri_tangent_combine(&work->tangent, s, work->M, b, b, -b / size, 0, work->K_im);
  if (!srm_shifted_factor(work->complex, work->K_re, work->K_im, work->D, work->G, work->kept)) return false;
  work->h_factored = h;
  return true;
}

int sri_radau5_prepare(srIntegrator* integrator, srRadau5* work, double h) {
  int outcome = evaluate_base(integrator, work);
  if (outcome != SRI_DONE) return outcome;
  if (!work->known) outcome = find_tangent(integrator, work, h);
  if (outcome != SRI_DONE) return outcome;
  if (work->h_factored == h || factor(integrator, work, h)) return SRI_DONE;
  (void)snprintf(integrator->reason, sizeof integrator->reason, "the matrix of the Newton method is singular");
  return SRI_REFUSED;
}

// ---- linear algebra ---------------------------------------------------------------------------------------------------

// Complex a /= b, entry by entry, imaginary parts behind the real ones.
static void divide(int n, double* a, double re, double im) {
  const double size = re * re + im * im;
  for (int i = 0; i < n; ++i) {
    const double x = a[i], y = a[n + i];
    a[i] = (x * re + y * im) / size;
    a[n + i] = (y * re - x * im) / size;
  }
}

// work->p = (u + p) / s, p NULL: 0.
static void position_part(srRadau5* work, int nv, bool complex, const double s[2], const double* p) {
  for (int i = 0; i < (complex ? 2 : 1) * nv; ++i) work->p[i] = work->u[i] + (p != NULL ? p[i] : 0);
  if (complex) {
    divide(nv, work->p, s[0], s[1]);
  } else {
    for (int i = 0; i < nv; ++i) work->p[i] /= s[0];
  }
}

// u with G_p u = s g - r_p.
static void correct_positions(srIntegrator* integrator, srRadau5* work, bool complex, const double s[2],
                              const double* g) {
  const int nv = integrator->system.nv, ng = integrator->system.ng;
  double* r = integrator->constrained->r;
  for (int part = 0; part < (complex ? 2 : 1); ++part) {
    for (int k = 0; k < ng; ++k) {
      r[k] = s[0] * g[part * ng + k] - work->r[part * ng + k];
      if (complex) r[k] += (part == 0 ? -s[1] : s[1]) * g[(1 - part) * ng + k];
    }
    srm_saddle_solve(work->position, NULL, r, work->u + part * nv, NULL);
  }
}

void sri_radau5_solve(srIntegrator* integrator, srRadau5* work, double h, bool complex, const double* p,
                      const double* g) {
  const int nv = integrator->system.nv, n = nv + integrator->system.ny;
  const double s[2] = {(complex ? tableau->alpha : tableau->gamma) / h, complex ? tableau->beta / h : 0};
  memset(work->u, 0, 2 * (size_t)nv * sizeof(double));
  if (g != NULL && work->position != NULL) correct_positions(integrator, work, complex, s, g);
  position_part(work, nv, complex, s, p);
  for (int part = 0; part < (complex ? 2 : 1); ++part) {
    sri_subtract_stiffness(&work->tangent, &integrator->system, work->p + part * nv, work->k + part * n);
  }
  if (integrator->system.solver != NULL) {
    integrator->system.solver->solve(integrator->system.user, complex, work->k);
  } else {
    srm_shifted_solve(complex ? work->complex : work->real, work->k, work->r, work->k, work->l);
  }
  for (int i = 0; !complex && i < nv; ++i) work->p[i] += work->k[i] / s[0];
}

// out_i = -sum_j B_ij in_j for `count` rows of the three; from and to may not overlap.
static void transform(const double B[3][3], int first, int count, int n, double* const* in, double* out) {
  for (int i = 0; i < count; ++i) {
    const double* row = B[first + i];
    for (int k = 0; k < n; ++k) out[i * n + k] = -(row[0] * in[0][k] + row[1] * in[1][k] + row[2] * in[2][k]);
  }
}

// to_i += T_i,first+j from_j, j < count.
static void transform_back(int first, int count, int n, const double* from, double* const* to) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < count; ++j) {
      for (int k = 0; k < n; ++k) to[i][k] += tableau->T[i][first + j] * from[j * n + k];
    }
  }
}

// dZ, dU from the residuals; the multipliers are updated at once.
static void increments(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  const int n = s->nv + s->ny;
  for (int i = 0; i < 3; ++i) {
    memset(work->dZ[i], 0, (size_t)n * sizeof(double));
    memset(work->dU[i], 0, (size_t)s->nv * sizeof(double));
  }
  for (int pair = 0; pair < 2; ++pair) {
    const int first = pair, count = 1 + pair;
    transform(tableau->T_inverse, first, count, n, work->R, work->k);
    transform(tableau->T_inverse, first, count, s->ng, work->rv, work->r);
    transform(tableau->T_inverse, first, count, s->ng, work->rg, work->g);
    sri_radau5_solve(integrator, work, h, pair == 1, NULL, s->ng > 0 ? work->g : NULL);
    transform_back(first, count, n, work->k, work->dZ);
    transform_back(first, count, s->nv, work->u, work->dU);
    transform_back(first, count, s->ng, work->l, work->L);
  }
}

// ---- stages -----------------------------------------------------------------------------------------------------------

// Allowed change of entry i in the last Newton increment, over `newton`.
static double scale_of(const srIntegrator* integrator, const srRadau5* work, int i) {
  const double x = integrator->x[i], size = fmax(1, fabs(x));
  if (!sri_is_adaptive(integrator)) return 1e-11 * size;
  return fmin(work->tolerance * sri_allowed_error(integrator, i, fabs(x)), 1e-4 * size);
}

// x_i = x_0 + h sum_j a_ij k_j for all three stages.
static void integrate(int n, const double* x, double h, double* const* k, double* const* out) {
  for (int i = 0; i < 3; ++i) {
    const double* a = tableau->A[i];
    for (int j = 0; j < n; ++j) {
      out[i][j] = (x != NULL ? x[j] : 0) + h * (a[0] * k[0][j] + a[1] * k[1][j] + a[2] * k[2][j]);
    }
  }
}

// Largest change of the positions of the stages to q_0 + h sum a_ij q'_j, over what is allowed; the change is made.
static double sweep(const srIntegrator* integrator, const srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    const double* a = tableau->A[i];
    for (int j = 0; j < s->nq; ++j) {
      const double q0 = integrator->x[j];
      const double q = q0 + h * (a[0] * work->slope[0][j] + a[1] * work->slope[1][j] + a[2] * work->slope[2][j]);
      const double allowed = fmax(0.01 * work->newton * scale_of(integrator, work, j), 4 * DBL_EPSILON * fabs(q));
      const double change = fabs(q - work->X[i][j]);
      // Not the largest but the first NaN: comparisons with it are false.
      if (!(change <= most * allowed)) most = change / allowed;
      work->X[i][j] = q;
    }
  }
  return most;
}

// Positions of the stages: q' = H(q) (v + U) by fixed-point iteration, at a rate of h |omega| and without a force evaluated.
static int stage_positions(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  const double* v = sri_v(integrator);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < s->nv; ++j) work->dU[i][j] = v[j] + work->Z[i][j] + work->U[i][j];
    if (!sri_all_finite(s->nv, work->dU[i])) return SRI_NOT_FINITE;
  }
  integrate(s->nv, NULL, h, work->dU, work->P);
  if (s->qdot == NULL) {
    integrate(s->nq, integrator->x, h, work->dU, work->X);
    return SRI_DONE;
  }
  for (int sweeps = 0; sweeps < SWEEPS; ++sweeps) {
    for (int i = 0; i < 3; ++i) {
      const int outcome = sri_qdot(integrator, work->X[i], work->dU[i], work->slope[i]);
      if (outcome != SRI_DONE) return outcome;
    }
    const double change = sweep(integrator, work, h);
    if (!isfinite(change)) return SRI_NOT_FINITE;
    if (change <= 1) return SRI_DONE;
  }
  (void)snprintf(integrator->reason, sizeof integrator->reason, "the positions of the stages do not converge");
  return SRI_REFUSED;
}

int sri_radau5_states(srIntegrator* integrator, srRadau5* work, double h) {
  const srSystem* s = &integrator->system;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < s->nv + s->ny; ++j) work->X[i][s->nq + j] = integrator->x[s->nq + j] + work->Z[i][j];
  }
  return stage_positions(integrator, work, h);
}

int sri_radau5_residuals(srIntegrator* integrator, srRadau5* work, double h, double t_new, double* most) {
  const srSystem* s = &integrator->system;
  const int n = s->nv + s->ny;
  *most = 0;
  for (int i = 0; i < 3; ++i) {
    const double t = i == 2 ? t_new : integrator->t + tableau->c[i] * h, *w = tableau->W[i];
    for (int j = 0; j < n; ++j) {
      work->a[j] = (w[0] * work->Z[0][j] + w[1] * work->Z[1][j] + w[2] * work->Z[2][j]) / h;
    }
    const int outcome =
        sri_radau5_evaluate(integrator, work, t, work->X[i], work->a, work->L[i], work->R[i], work->rg[i], work->rv[i]);
    if (outcome != SRI_DONE) return outcome;
    for (int k = 0; k < s->ng; ++k) {
      if (work->kept[k] == 0) work->rg[i][k] = work->rv[i][k] = 0;
    }
    if (!sri_all_finite(n, work->R[i]) || !sri_all_finite(s->ng, work->rv[i]) || !sri_all_finite(s->ng, work->rg[i]))
      return SRI_NOT_FINITE;
    *most = fmax(*most, fmax(sri_largest(n, work->R[i]),
                             fmax(sri_largest(s->ng, work->rg[i]), sri_largest(s->ng, work->rv[i]))));
  }
  return SRI_DONE;
}

int sri_radau5_measure(srIntegrator* integrator, srRadau5* work, double h, srRadau5Size* size) {
  const srSystem* s = &integrator->system;
  const int m = integrator->ncontrol, n = s->nv + s->ny;
  double sum = 0;
  *size = (srRadau5Size){0};
  for (int i = 0; i < 3; ++i) {
    const double* a = tableau->A[i];
    for (int j = 0; j < s->nv; ++j) {
      double dp = 0;
      for (int k = 0; k < 3; ++k) dp += a[k] * (work->dZ[k][j] + work->dU[k][j]);
      work->p[j] = h * dp;
    }
    const int outcome = sri_qdot(integrator, integrator->x, work->p, work->e);
    if (outcome != SRI_DONE) return outcome;
    sri_copy(work->e + s->nq, work->dZ[i], n);
    for (int j = 0; j < m; ++j) {
      const double x = integrator->x[j], ratio = work->e[j] / scale_of(integrator, work, j);
      const double relative = fabs(work->e[j]) / fmax(1, fabs(x));
      sum += ratio * ratio;
      size->relative = fmax(size->relative, relative);
      if (s->nq == 0 || j < s->nq || j >= s->nq + s->nv) size->path = fmax(size->path, relative);
    }
  }
  size->norm = m > 0 ? sqrt(sum / (3 * m)) : 0;
  return isfinite(size->norm) ? SRI_DONE : SRI_NOT_FINITE;
}

// What remains after an increment of size norm.
static double rest(const srRadau5* work, double norm) { return work->theta / (1 - work->theta) * norm; }

// Can the iteration still converge? Updates theta after increment number k (from 1) of size norm.
static bool converges(srRadau5* work, int k, int most, double norm, double before) {
  if (k == 1) return true;
  const double ratio = norm / before;
  work->theta = k == 2 ? ratio : sqrt(ratio * work->theta);
  if (!(work->theta < 0.99)) return false;
  return rest(work, norm) * pow(work->theta, most - k - 1) <= work->newton;
}

static int refuse(srIntegrator* integrator) {
  (void)snprintf(integrator->reason, sizeof integrator->reason, "the Newton method does not converge");
  return SRI_REFUSED;
}

void sri_radau5_move(const srIntegrator* integrator, srRadau5* work) {
  const srSystem* s = &integrator->system;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < s->nv + s->ny; ++j) work->Z[i][j] += work->dZ[i][j];
    for (int j = 0; j < s->nv; ++j) work->U[i][j] += work->dU[i][j];
  }
}

// Is an increment, number k (from 1), nothing but rounding? The bounds are wider where the increments do not fall any more.
static bool is_rounding(const srIntegrator* integrator, const srRadau5Size* size, int k, bool falls) {
  if (size->relative <= (falls ? ROUNDING : ROUNDING_SLOW)) return true;
  if (k == 1 || size->norm > 1 || (falls && !sri_is_adaptive(integrator))) return false;
  return size->path <= (falls ? ROUNDING_PATH : ROUNDING_PATH_SLOW);
}

// Consecutive decreases of the stiffness response to dZ and dU; the largest of the three stages counts.
static int stiffness_falls(const srIntegrator* integrator, srRadau5* work, double h, int falls) {
  const srSystem* s = &integrator->system;
  const int n = s->nv + s->ny;
  memset(work->lack, 0, (size_t)n * sizeof(double));
  for (int stage = 0; stage < 3; ++stage) {
    const double* a = tableau->A[stage];
    for (int j = 0; j < s->nv; ++j) {
      work->p[j] = 0;
      for (int k = 0; k < 3; ++k) work->p[j] += h * a[k] * (work->dZ[k][j] + work->dU[k][j]);
    }
    sri_stiffness_times(&work->tangent, s, work->p, work->dZ[stage], work->a);
    for (int i = 0; i < n; ++i) work->lack[i] = fmax(work->lack[i], fabs(work->a[i]));
  }
  for (int i = 0; i < n; ++i) {
    const double mass = i < s->nv ? fmax(sri_mass_of(&work->tangent, s, work->M, i), DBL_MIN) : 1;
    work->lack[i] *= h / (mass * scale_of(integrator, work, s->nq + i));
  }
  return sri_stiffness_falls(n, SRI_NEGLIGIBLE, work->lack, work->lack_before, falls);
}

// The first increment never ends the iteration, however small, and the stiffness response has to fall (reasons: tangent.h). With a new
// tangent as with a kept one: it was taken at the prediction, which may be on a branch of a force that the solution has left.
int sri_radau5_newton(srIntegrator* integrator, srRadau5* work, double h, double t_new) {
  const double given = integrator->options.newton_tolerance;
  const int last = sri_is_adaptive(integrator) ? ITERATIONS : ITERATIONS_FIXED;
  double before = 0;
  int falls = -1;
  work->theta = 0;
  for (int k = 1; k <= last; ++k) {
    double most;
    srRadau5Size size;
    work->iterations = k;
    int outcome = sri_radau5_states(integrator, work, h);
    if (outcome == SRI_DONE) outcome = sri_radau5_residuals(integrator, work, h, t_new, &most);
    if (outcome != SRI_DONE) return outcome;
    if (given > 0 && most <= given) return SRI_DONE;
    ++integrator->stats.iterations;
    increments(integrator, work, h);
    falls = stiffness_falls(integrator, work, h, falls);
    outcome = sri_radau5_measure(integrator, work, h, &size);
    if (outcome != SRI_DONE) return outcome;
    const bool goes_on = converges(work, k, last, size.norm, before);
    const bool rounding = is_rounding(integrator, &size, k, goes_on);
    if (!goes_on && !rounding) return refuse(integrator);
    sri_radau5_move(integrator, work);
    const bool enough = given == 0 && k > 1 && falls >= SRI_FALLS_ENOUGH && rest(work, size.norm) <= work->newton;
    if (rounding || enough) return sri_radau5_states(integrator, work, h);
    before = size.norm;
  }
  return refuse(integrator);
}
