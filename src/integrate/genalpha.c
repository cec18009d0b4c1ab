// Generalized-alpha methods for constrained motion: Chung, Hulbert (1993); Arnold, Bruls (2007); Haddouni et al. (2017), eq 14 to 30 and
// algorithm 1, with its errata corrected (docs/theory/implicit.md).
//   (1-am) a_1 + am a_0 = (1-af) v'_1 + af v'_0                                             eq 15
//   q_1 = q_0 (+) (h v_0 + h^2 ((1/2-beta) a_0 + beta a_1) + U)                             eq 16; U: GGL alone
//   v_1 = v_0 + h ((1-gamma) a_0 + gamma a_1)
//   M v'_1 = f + G^T lambda_1 at (t_1, q_1, v_1);    g(q_1) = 0  and/or  G v_1 + b = 0      genalpha_newton.c
//   (1-am) z_1 + am z_0 = (1-af) y'_1 + af y'_0,   y_1 = y_0 + h ((1-gamma) z_0 + gamma z_1)     user states, their own am, gamma
// The increment of positions is along the group (Bruls, Cardona 2010): `retract` applies it, quaternions stay of length 1. y: Jansen,
// Whiting, Hulbert (2000). w: trapezoidal rule on its rates at both ends.
//
// a_n approximates the acceleration at t_n + (am - af) h, so it depends on the step. Its distance from v'_n over h is kept; each
// step begins with
//   a_0 = v'_0 + h slope,   slope = (a_1 - v'_1)/h of the step before                       (Jay, Negrut 2007)
// and order 2 is kept where steps change. Likewise index 3 leaves G v + b = h^2 bend, with a bend that is smooth along the
// motion: another h requires another v_0, or lambda oscillates with O(h) (Arnold, Bruls, Cardona 2015). Each step begins with
//   v_0 + M^-1 G^T (...)   such that   G v_0 + b = h^2 bend
// At a start both come from v'' by a difference: slope = (am - af) v'', bend = (gamma/2 - beta - 1/12) G v''.
//
// Error of a step, with D the second divided difference of the rates at the last three ends of steps:
//   of q   h v_0 + h^2 ((1/2-beta) a_0 + beta a_1) + U - h v_0 - h^2/3 v'_0 - h^2/6 v'_1         eq 29
//   of v   h ((1-gamma) a_0 + gamma a_1) - h/2 (v'_0 + v'_1) + h^3/6 D                           third-order Adams-Moulton; likewise y
// Both fall like h^3. Under control = positions only that of q (and y) counts.
//
// Index 3 knows positions to eps |q|, and so velocities to eps |q|/h and accelerations to eps |q|/h^2, across the constraints:
// along M^-1 G^T. An estimate that contains it grows where the step falls. So for index 3 the error of v counts along the
// constraints only, e - M^-1 G^T (G M^-1 G^T)^-1 G e; across them that of q does, in which rounding is eps |q|.
#include "integrate/genalpha.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/projection.h"

// Where in a step a singular position should be. Constraints are evaluated only at its ends.
#define THETA_CROSSING 0.5
#define GROW_MOST 2.0       // of the step, from one to the next: the sequences carry memory that scales with it
#define GROW_LEAST 1.2      // less is not worth a new matrix
#define SHORT_STEP 0.25     // of the one before: slopes from a shorter one are only rounding
#define FIRST_ROUNDS 3      // attempts at the first step
#define RISES_MOST 3        // shorter steps in a row whose error does not fall
#define SINGULAR_NEAR 1e-3  // smallest singular value of the constraint rows: a failure there is attributed to it
#define JERK_PART 1e-3      // of the first step, for the difference that gives v''
#define JERK_MOST 0.5       // of v' that h v'' may be at a start: faster motion is not followed

// ---- parameters -------------------------------------------------------------------------------------------------------

static srGenCoefficients coefficients_of(srFamily family, double rho) {
  srGenCoefficients k = {0};
  switch (family) {
    case SR_FAMILY_CHUNG_HULBERT:  // Haddouni et al. (2017), after eq 16
      k.am = (2 * rho - 1) / (rho + 1);
      k.af = rho / (rho + 1);
      k.gamma = 0.5 + k.af - k.am;
      break;
    case SR_FAMILY_HHT:
      k.af = (1 - rho) / (1 + rho);
      k.gamma = 0.5 + k.af;
      break;
    case SR_FAMILY_NEWMARK: k.gamma = (3 - rho) / (2 * (1 + rho)); break;
  }
  k.beta = 0.25 * (k.gamma + 0.5) * (k.gamma + 0.5);
  k.kappa = (1 - k.af) / (1 - k.am);
  return k;
}

// Jansen, Whiting, Hulbert: their alpha_m = (3-rho)/(2(1+rho)) and alpha_f = 1/(1+rho) are 1-am and 1-af here.
static srGenCoefficients first_order_coefficients(double rho) {
  srGenCoefficients k = {.am = (3 * rho - 1) / (2 * (1 + rho)), .af = rho / (1 + rho), .gamma = 1 / (1 + rho)};
  k.kappa = (1 - k.af) / (1 - k.am);
  return k;
}

// ---- life -------------------------------------------------------------------------------------------------------------

size_t sri_genalpha_room(const srSystem* s, int n) {
  return 4 * (size_t)n + 7 * (size_t)(s->nv + s->ny) + 4 * (size_t)s->nv + 9 * (size_t)s->ng;
}

void sri_genalpha_init(srIntegrator* integrator, srGenForm form) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const size_t n = (size_t)integrator->n, m = (size_t)(s->nv + s->ny), nv = (size_t)s->nv, ng = (size_t)s->ng;
  struct {
    double** to;
    size_t count;
  } parts[] = {{&work->rate_before, n}, {&work->rate, n},        {&work->rate_new, n},
               {&work->scratch, n},     {&work->slope, m},       {&work->a0, m},
               {&work->a1, m},          {&work->E, m},           {&work->delta, m},
               {&work->lack, m},        {&work->lack_before, m}, {&work->v0, nv},
               {&work->dxi, nv},        {&work->U, nv},          {&work->jump, nv},
               {&work->bend, ng},       {&work->g, ng},          {&work->nu, ng},
               {&work->b, ng},          {&work->lambda, ng},     {&work->lambda_before, ng},
               {&work->lambda_new, ng}, {&work->r, ng},          {&work->dlambda, ng}};
  double* at = integrator->room;
  for (int i = 0; i < SR_COUNT(parts); ++i) {
    *parts[i].to = at;
    at += parts[i].count;
  }
  work->form = form;
  work->v = coefficients_of(integrator->options.family, integrator->options.rho);
  work->y = first_order_coefficients(integrator->options.rho);
}

#define COMPLAIN(messages, ...) sr_messages_add((messages), SR_SEVERITY_ERROR, (srPlace){0}, __VA_ARGS__)

static bool fits(const srIntegrator* integrator, srMessages* messages) {
  const srSystem* s = &integrator->system;
  const srIntegratorOptions* o = &integrator->options;
  const char* name = integrator->ops->method.name;
  const bool index3 = ((const srGenAlpha*)integrator->work)->form == SRI_GEN_INDEX3;
  bool good =
      sri_expect(messages, o->family != SR_FAMILY_HHT || o->rho >= 0.5,
                 "the method '%s' was given family = hht with rho = %g: expected a number from 0.5 to 1", name, o->rho);
  good &= sri_expect(messages, !index3 || s->np == s->ng,
                     "the method '%s' solves constraints at position level, and %d of the %d constraint equations of "
                     "this system have no position form (nonholonomic): take genalpha-index2 or genalpha-ggl",
                     name, s->ng - s->np, s->ng);
  if (index3 && s->ng > 0 && o->rho == 1) {
    sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                    "the method '%s' with rho = 1 damps nothing of what a start or a change of the step leaves in the "
                    "multipliers: they oscillate and grow with the number of steps; take rho below 1",
                    name);
  }
  good &= sri_expect(
      messages, (s->nq == s->nv && s->qdot == NULL) || s->retract != NULL,
      "the method '%s' needs the step along a motion where positions are not the integrals of velocities, and the "
      "system does not offer it (callback 'retract')",
      name);
  return good;
}

// The rows of G over (v, y): the same numbers, with empty columns appended.
static bool take_rows(srGenAlpha* work, const srSystem* s) {
  const int n = s->nv + s->ny;
  const srSparsity* g = s->G_sparsity;
  if (g != NULL) {
    const srSparsity given = {.nrow = s->ng, .ncol = n, .row = g->row, .column = g->column};
    return srm_pattern_copy(&given, &work->G_pattern);
  }
  return srm_pattern_full(s->ng, s->nv, n, &work->G_pattern);
}

srStatus sri_genalpha_create(srIntegrator* integrator, srMessages* messages) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  if (!fits(integrator, messages)) return SR_INPUT;
  bool good = sri_tangent_create(&work->tangent, s) && take_rows(work, s);
  if (good && s->solver == NULL) {
    work->saddle = srm_saddle_create(
        &(srmSaddleShape){.nv = s->nv + s->ny, .ng = s->ng, .M = &work->tangent.pattern, .G = &work->G_pattern});
    good = srm_take_numbers(&work->S, work->tangent.count) && work->saddle != NULL;
  }
  work->kept = sr_alloc((size_t)s->ng + 1);
  good = good && work->kept != NULL;
  if (good) return SR_OK;
  COMPLAIN(messages, "out of memory for the tangent matrix in the integrator '%s'", integrator->ops->method.name);
  return SR_MEMORY;
}

void sri_genalpha_destroy(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  sri_tangent_destroy(&work->tangent);
  srm_pattern_free(&work->G_pattern);
  srm_saddle_destroy(work->saddle);
  sr_free(work->S);
  sr_free(work->kept);
}

void sri_genalpha_start(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  work->known = work->tangent_known = work->slow = false;
  memset(work->jump, 0, (size_t)integrator->system.nv * sizeof(double));
  work->h_matrix = 0;
  work->rate_newton = 1;
  integrator->lambda = NULL;
  sri_control_start(integrator, &work->control, THETA_CROSSING, 3);
}

// ---- start ------------------------------------------------------------------------------------------------------------

// Rates and multipliers of the index-1 equations at x. The matrix of Newton's method is lost.
static int index1_rates(srIntegrator* integrator, double t, const double* x, double* rate, double* lambda) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  int outcome = sri_genalpha_evaluate(integrator, t, x, work->E + s->nv);
  if (outcome == SRI_DONE && c != NULL) outcome = sri_gamma(integrator, t, x, x + s->nq, work->r);
  if (outcome != SRI_DONE) return outcome;
  memcpy(work->E, work->tangent.f, (size_t)s->nv * sizeof(double));
  if (s->solver != NULL) {  // M of this state; the accelerations are held at 0, still unknown
    memset(work->delta, 0, (size_t)s->nv * sizeof(double));
    outcome = sri_tangent(integrator, &work->tangent, t, x, work->delta, NULL);
    if (outcome != SRI_DONE) return outcome;
  }
  if (!sri_genalpha_factor(integrator, 0)) return SRI_REFUSED;
  sri_genalpha_backsolve(integrator, work->E, work->r, rate + s->nq, lambda);
  outcome = sri_qdot(integrator, x, x + s->nq, rate);
  if (outcome == SRI_DONE) outcome = sri_power(integrator, t, x, lambda, work->scratch, rate + integrator->ncontrol);
  return outcome == SRI_DONE && sri_not_finite(integrator, rate) >= 0 ? SRI_NOT_FINITE : outcome;
}

// (rates at t + d - rates at t)/d into rate_before, by a Taylor step. False: not possible.
static bool second_rates(srIntegrator* integrator, double d) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const double *x = integrator->x, *rate = work->rate;
  double *to = integrator->x_new, *out = work->rate_before;
  for (int i = 0; i < s->nv; ++i) work->dxi[i] = d * x[s->nq + i] + 0.5 * d * d * rate[s->nq + i];
  if (sri_retract(s, x, work->dxi, to) != SRI_DONE) return false;
  for (int i = s->nq; i < integrator->n; ++i) to[i] = x[i] + d * rate[i];
  if (sri_not_finite(integrator, to) >= 0) return false;
  if (index1_rates(integrator, integrator->t + d, to, out, work->dlambda) != SRI_DONE) return false;
  for (int i = 0; i < integrator->n; ++i) out[i] = (out[i] - rate[i]) / d;
  return sri_not_finite(integrator, out) < 0;
}

// Where none is given: h^3 max(|x'|, |x''|) = 0.01, as for the explicit methods. From rest h0 is far too small, as velocities of 0
// may be wrong by atol alone: then once more from 100 h0.
static double first_step(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  const double most = sri_largest_step(integrator);
  const double d0 = sri_scaled_norm(integrator, integrator->x, NULL),
               d1 = sri_scaled_norm(integrator, work->rate, NULL);
  double h0 = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, most), h1 = h0;
  for (int i = 0; i < FIRST_ROUNDS && second_rates(integrator, h0); ++i) {
    const double top = fmax(d1, sri_scaled_norm(integrator, work->rate_before, NULL));
    h1 = top <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : cbrt(0.01 / top);
    if (h1 <= 100 * h0) break;
    h0 = h1 = fmin(100 * h0, most);
  }
  return fmin(h1, most);
}

// Second rates that change the rates by more than a part within a step are no start values: they become 0.
static void forget_if_fast(int n, double h, const double* x, const double* rate, double* second) {
  const double size = fmax(sri_largest(n, rate), sri_largest(n, x) / h);
  if (h * sri_largest(n, second) > JERK_MOST * size) memset(second, 0, (size_t)n * sizeof *second);
}

// Slope and bend from the second rates.
static void begin_sequences(srIntegrator* integrator, double h, bool jerk_known) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  double* jerk = work->rate_before;
  if (!jerk_known) memset(jerk, 0, (size_t)integrator->n * sizeof *jerk);
  forget_if_fast(s->nv, h, integrator->x + s->nq, work->rate + s->nq, jerk + s->nq);
  forget_if_fast(s->ny, h, integrator->x + s->nq + s->nv, work->rate + s->nq + s->nv, jerk + s->nq + s->nv);
  for (int i = 0; i < s->nv + s->ny; ++i) {
    const srGenCoefficients* k = i < s->nv ? &work->v : &work->y;
    work->slope[i] = (k->am - k->af) * jerk[s->nq + i];
  }
  if (s->ng > 0) {
    const double factor = 0.5 * work->v.gamma - work->v.beta - 1.0 / 12;
    srm_rows_times(&integrator->constrained->shape, work->tangent.G, jerk + s->nq, work->bend);
    for (int k = 0; k < s->ng; ++k) work->bend[k] *= factor;
  }
  for (int i = 0; i < integrator->n; ++i) work->rate_before[i] = work->rate[i] - h * jerk[i];
  memcpy(work->lambda_before, work->lambda, (size_t)s->ng * sizeof(double));
  work->h_before = work->h_jacobian = h;
}

// The matrix of the constraints at the present state. Where equations are newly in use, velocities may violate them:
// index 2 and GGL then continue with the nearest ones that do not.
static bool begin_constraints(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  memcpy(c->M, work->tangent.M, c->nM * sizeof(double));
  if (sri_constraint(integrator, integrator->t, integrator->x, c->g, c->G, c->b) != SRI_DONE) return false;
  if (!sri_factor_end(integrator, c->kept)) return false;
  memset(work->jump, 0, (size_t)s->nv * sizeof(double));
  if (work->form != SRI_GEN_INDEX3) {
    (void)sri_residual_velocity(integrator, integrator->x + s->nq);
    srm_saddle_solve(c->end, NULL, c->r, work->jump, NULL);
    for (int i = 0; i < s->nv; ++i) work->jump[i] = -work->jump[i];
  }
  integrator->lambda = work->lambda;
  work->placed = true;
  return true;
}

// Accelerations, multipliers and sequences at a start or where the forces have changed; the first step.
static srStatus begin(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  const srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (index1_rates(integrator, integrator->t, integrator->x, work->rate, work->lambda) != SRI_DONE) {
    return sri_fail(integrator, "the accelerations could not be determined at t = %.9g", integrator->t);
  }
  if (sri_control_needs_first(integrator, &work->control)) work->control.h = first_step(integrator);
  const double h = sri_is_adaptive(integrator) ? work->control.h : integrator->options.step;
  const bool jerk = second_rates(integrator, JERK_PART * h);
  // G of the start, for the bend and for the corrections of v and q.
  if (sri_genalpha_evaluate(integrator, integrator->t, integrator->x, work->scratch) != SRI_DONE) {
    return sri_fail(integrator, "the equations of motion could not be evaluated at t = %.9g", integrator->t);
  }
  begin_sequences(integrator, h, jerk);
  if (c != NULL && !begin_constraints(integrator)) {
    return sri_fail(integrator, "the constraints are singular at t = %.9g", integrator->t);
  }
  work->known = true;
  return SR_OK;
}

// ---- a step -----------------------------------------------------------------------------------------------------------

// For index 3, v_0 with G v_0 + b = h^2 bend, by the constraints' matrix, G and b of the present state.
static int start_velocity(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  const double* v = integrator->x + s->nq;
  for (int i = 0; i < s->nv; ++i) work->v0[i] = v[i] + work->jump[i];
  if (c == NULL || work->form != SRI_GEN_INDEX3) return SRI_DONE;
  if (!work->placed) {
    const int outcome = sri_constraint(integrator, integrator->t, integrator->x, c->g, c->G, c->b);
    if (outcome != SRI_DONE) return outcome;
    if (!sri_factor_end(integrator, c->kept)) return SRI_REFUSED;
    work->placed = true;
  }
  (void)sri_residual_velocity(integrator, work->v0);
  for (int k = 0; k < s->ng; ++k) c->r[k] = h * h * work->bend[k] - c->r[k];
  srm_saddle_solve(c->end, NULL, c->r, c->dv, NULL);
  for (int i = 0; i < s->nv; ++i) work->v0[i] += c->dv[i];
  return SRI_DONE;
}

// The method damps what is fast compared with the step, and its error with it: e = S^-1 diag(M, s I) e along the constraints and
// unchanged across them. Where nothing is fast, S is diag(M, s I). Hairer, Wanner II, IV.8, do the same.
static void damp_error(srIntegrator* integrator, double* e) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const double scale = work->v.gamma * work->v.kappa / (work->y.gamma * work->y.kappa);
  sri_genalpha_mass_times(integrator, e, work->E);
  for (int i = s->nv; i < s->nv + s->ny; ++i) work->E[i] = scale * e[i];
  if (s->ng > 0) srm_rows_times(&integrator->constrained->shape, work->tangent.G, e, work->r);
  sri_genalpha_backsolve(integrator, work->E, work->r, e, NULL);
}

// The error e of v along the constraints, G e = 0, by their matrix at the start of the step: the part across them, M^-1 G^T (...),
// has rounding of eps |q|/h in index 3. Where that matrix has a metric other than M, that of the step is used, which may be
// older.
static void take_along(srIntegrator* integrator, double* e) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  if (c->metric == SR_METRIC_MASS) {
    srm_rows_times(&c->shape, c->G, e, c->r);
    srm_saddle_solve(c->end, NULL, c->r, c->dv, NULL);
  } else {
    memset(work->E, 0, (size_t)(s->nv + s->ny) * sizeof(double));
    srm_rows_times(&c->shape, work->tangent.G, e, work->r);
    srm_saddle_solve(work->saddle, work->E, work->r, work->delta, NULL);
    memcpy(c->dv, work->delta, (size_t)s->nv * sizeof(double));
  }
  for (int i = 0; i < s->nv; ++i) e[i] -= c->dv[i];
}

// Error over the tolerance of the step in a0, a1, rate, rate_new.
static double error_norm(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const int nq = s->nq, n = s->nv + s->ny;
  const bool of_velocity = sri_counts_velocities(integrator);
  const double *f0 = work->rate + nq, *f1 = work->rate_new + nq, *before = work->rate_before + nq;
  const double H = work->h_before;
  double* e = work->scratch;
  for (int i = 0; i < s->nv; ++i) {
    work->delta[i] = work->dxi[i] - h * work->v0[i] - h * h * (f0[i] / 3 + f1[i] / 6);
  }
  if (sri_qdot(integrator, integrator->x_new, work->delta, e) != SRI_DONE) return HUGE_VAL;
  for (int i = 0; i < n; ++i) {
    const srGenCoefficients* k = i < s->nv ? &work->v : &work->y;
    const double D = ((f1[i] - f0[i]) / h - (f0[i] - before[i]) / H) / (h + H);
    const double mean = (1 - k->gamma) * work->a0[i] + k->gamma * work->a1[i] - 0.5 * (f0[i] + f1[i]);
    e[nq + i] = of_velocity || i >= s->nv ? h * mean + h * h * h / 6 * D : 0;
  }
  damp_error(integrator, e + nq);
  if (of_velocity && work->form == SRI_GEN_INDEX3 && s->ng > 0) take_along(integrator, e + nq);
  return sri_error_norm(integrator, e, 1);
}

// Rates of q and w at x_new, and w there.
static int close_step(srIntegrator* integrator, double h, double t_new) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  double* x = integrator->x_new;
  int outcome = sri_qdot(integrator, x, x + s->nq, work->rate_new);
  if (outcome != SRI_DONE || s->nw == 0) return outcome;
  outcome = sri_genalpha_evaluate(integrator, t_new, x, work->scratch);
  if (outcome == SRI_DONE)
    outcome = sri_power(integrator, t_new, x, work->lambda_new, work->scratch, work->rate_new + integrator->ncontrol);
  for (int i = integrator->ncontrol; i < integrator->n; ++i) {
    x[i] = integrator->x[i] + 0.5 * h * (work->rate[i] + work->rate_new[i]);
  }
  return outcome;
}

// Start values of the next step, from the accepted one. The velocities at its end are in dxi.
static void take_sequences(srIntegrator* integrator, double h, const double* bend) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  double* before = work->rate_before;
  // The second short step in a row counts: else the slope of a step long ago, far too large for them, would stay for good.
  if (h >= SHORT_STEP * fmin(work->h_jacobian, work->h_before)) {
    for (int i = 0; i < s->nv + s->ny; ++i) work->slope[i] = (work->a1[i] - work->rate_new[s->nq + i]) / h;
    for (int k = 0; k < s->ng; ++k) work->bend[k] = bend[k] / (h * h);
    work->h_jacobian = h;
  }
  for (int k = 0; k < s->ng; ++k) {
    work->lambda_before[k] = work->lambda[k];
    work->lambda[k] = work->lambda_new[k];
  }
  // Index 3 continues with its own velocities where `accepted` or a projection has put them on the constraints.
  const bool own = work->form == SRI_GEN_INDEX3 && s->ng > 0;
  for (int i = 0; i < s->nv; ++i) {
    work->jump[i] = own ? work->dxi[i] - integrator->x[s->nq + i] : 0;
  }
  work->rate_before = work->rate;
  work->rate = work->rate_new;
  work->rate_new = before;
  work->h_before = h;
  integrator->acceleration = work->rate + s->nq;
}

// Has `accepted` changed the forces? Then the sequences restart.
static bool forces_hold(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  double *x = integrator->x_new, *kept = work->scratch;
  double most = 0, moved = 0;
  memcpy(kept, work->tangent.f, (size_t)s->nv * sizeof(double));
  memcpy(x, integrator->x, (size_t)integrator->n * sizeof(double));
  if (sri_genalpha_evaluate(integrator, integrator->t, x, work->E + s->nv) != SRI_DONE) return false;
  for (int i = 0; i < s->nv; ++i) {
    most = fmax(most, fmax(fabs(kept[i]), fabs(work->tangent.f[i])));
    moved = fmax(moved, fabs(work->tangent.f[i] - kept[i]));
  }
  const double* ydot = work->rate + s->nq + s->nv;
  double most_y = 0, moved_y = 0;
  for (int i = 0; i < s->ny; ++i) {
    most_y = fmax(most_y, fabs(ydot[i]));
    moved_y = fmax(moved_y, fabs(ydot[i] - work->E[s->nv + i]));
  }
  return moved <= 1e-3 * most && moved_y <= 1e-3 * most_y;
}

// An equation that was redundant is no longer so at the end of a step: the step is refused and repeated with that equation. Off g = 0 every
// redundant equation is independent, and a method that drifts cannot distinguish: it would come to rest where the mechanism moves on.
static int rows_returned(srIntegrator* integrator, int outcome) {
  if (integrator->ops->method.drifts) {
    (void)snprintf(integrator->reason, sizeof integrator->reason,
                   "a constraint that was redundant is so no more, as positions have drifted: take genalpha-ggl");
    return SRI_STOP;
  }
  return begin(integrator) == SR_OK ? outcome : SRI_STOP;
}

// A step was refused for its error. Where shorter ones do not reduce it, and rounding is as large as the allowed error of
// a velocity, none will: SRI_STOP, with a clause for the message.
static int error_refused(srIntegrator* integrator, double h, double err) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  if (!isfinite(err)) return SRI_NOT_FINITE;
  const bool rises = h < work->h_refused && err > 0.9 * work->err_refused;
  work->rises = rises ? work->rises + 1 : 0;
  work->h_refused = h;
  work->err_refused = err;
  if (work->form != SRI_GEN_INDEX3 || s->ng == 0 || work->rises < RISES_MOST) return SRI_REFUSED;
  double least = HUGE_VAL;
  for (int i = 0; i < s->nv; ++i) {
    least = fmin(least, sri_allowed_error(integrator, s->nq + i, fabs(integrator->x[s->nq + i])));
  }
  if (DBL_EPSILON * fmax(1, sri_largest(s->nq, integrator->x)) / h < least) return SRI_REFUSED;
  (void)snprintf(integrator->reason, sizeof integrator->reason,
                 "the error is %.2g tolerances and does not fall with the step: rounding of index 3, eps |q|/h in the "
                 "velocities; take a larger tolerance or genalpha-ggl",
                 err);
  return SRI_STOP;
}

static int try_step(srIntegrator* integrator, srTrial trial, double* err) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  const double h = trial.h;
  bool same = false;
  for (int i = 0; i < s->nv + s->ny; ++i) work->a0[i] = work->rate[s->nq + i] + h * work->slope[i];
  int outcome = start_velocity(integrator, h);
  if (outcome == SRI_DONE) outcome = sri_genalpha_solve(integrator, h, trial.t_new);
  if (outcome != SRI_DONE) return outcome;
  *err = error_norm(integrator, h);
  if (!sri_error_accepted(trial.limit, *err)) return error_refused(integrator, h, *err);
  outcome = close_step(integrator, h, trial.t_new);
  if (outcome != SRI_DONE) return outcome;
  if (c != NULL) {
    // G v + b of all equations before v changes; M and G for the rank monitor.
    srm_rows_times(&c->shape, work->tangent.G, integrator->x_new + s->nq, work->dlambda);
    for (int k = 0; k < s->ng; ++k) work->dlambda[k] += work->b[k];
    memcpy(c->M, work->tangent.M, c->nM * sizeof(double));
  }
  memcpy(work->dxi, integrator->x_new + s->nq, (size_t)s->nv * sizeof(double));
  outcome = sri_accept(integrator, trial.t_new, h, &same);
  work->placed = outcome == SRI_DONE;  // a refused step has left its own matrix there
  const bool rows_changed = c != NULL && memcmp(work->kept, c->kept, (size_t)s->ng) != 0;
  if (outcome != SRI_DONE) return rows_changed ? rows_returned(integrator, outcome) : outcome;
  take_sequences(integrator, h, work->dlambda);
  if (rows_changed || (!same && !forces_hold(integrator))) work->known = false;
  return SRI_DONE;
}

// A step that grows little is not worth a new matrix, and one that grows much disturbs the sequences.
static void steady(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  const double last = work->h_jacobian, ratio = work->control.h / last;
  if (!sri_is_adaptive(integrator) || integrator->h <= 0) return;
  if (ratio > GROW_MOST) work->control.h = GROW_MOST * last;
  if (ratio > 1 && ratio < GROW_LEAST) work->control.h = last;
}

// A failure at a singular position, of a method that drifts: where g is not 0 the branches that cross there do not meet, and the motion
// would have to turn from one into the other instantly.
static srStatus failed(srIntegrator* integrator) {
  const srConstrained* c = integrator->constrained;
  if (!integrator->ops->method.drifts || c == NULL || !c->crossing.sigma_known || c->crossing.sigma > SINGULAR_NEAR)
    return SR_FAILED;
  char reason[160];
  (void)snprintf(reason, sizeof reason, "%.159s", integrator->error_message);
  return sri_fail(integrator,
                  "%s; a singular position is at hand, where branches of the motion cross, and positions that have "
                  "drifted do not meet it: take genalpha-ggl",
                  reason);
}

srStatus sri_genalpha_step(srIntegrator* integrator, double t_limit) {
  srGenAlpha* work = integrator->work;
  if (!work->known) {
    const srStatus status = begin(integrator);
    if (status != SR_OK) return status;
  }
  steady(integrator);
  work->h_refused = 0;
  work->rises = 0;
  const srStatus status = sri_control_step(integrator, &work->control, t_limit, try_step);
  return status == SR_FAILED ? failed(integrator) : status;
}

// ---- dense output -----------------------------------------------------------------------------------------------------

// Cubic through both ends with their rates; those of v are the accelerations of the method.
void sri_genalpha_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srGenAlpha* work = integrator->work;
  sri_hermite(integrator, work->rate_before, work->rate, theta, first, count, out);
}
