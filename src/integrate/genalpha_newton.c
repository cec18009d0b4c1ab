// The equations of one step of the generalized-alpha methods, and their solution by Newton's method with a matrix that is kept.
//
// Unknown are the accelerations v'_1 (and y'_1) and lambda_1; everything else follows from them:
//   a_1 = ((1-af) v'_1 + af v'_0 - am a_0)/(1-am)                      kappa = (1-af)/(1-am)
//   v_1 = v_0 + h ((1-gamma) a_0 + gamma a_1)                           dv   = h gamma kappa dv'
//   q_1 = q_0 (+) (h v_0 + h^2 ((1/2-beta) a_0 + beta a_1) + U)         dxi  = h^2 beta kappa dv'
//   [ M + h gamma kappa Kv + h^2 beta kappa Kq  -G^T ] [  dv'    ]   [ -E ]       r = g/(h^2 beta kappa)      index 3
//   [ G                                          0   ] [ dlambda ] = [ -r ]       r = (G v + b)/(h gamma kappa)   index 2, GGL
// In these unknowns the matrix tends to [M -G^T; G 0] for small h: Haddouni et al. (2017), eq 19 and 22, with rows and columns scaled as Bottasso,
// Bauchau, Cardona (2007) recommend; its condition does not grow as h falls. What the group adds to the derivative of q_1 is O(h)
// and left out, as is the derivative of G v by q in eq 22.
// GGL: M U = G^T nu and g = 0 are solved with the matrix [M -G^T; G 0] of the start of the step, including the effect of dv'
// on g. This is Haddouni et al. (2017), algorithm 1, with both corrections from one evaluation: dU is normal to the constraints and dv' moves q
// along them, so they interact only through curvature.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/genalpha.h"
#include "integrate/projection.h"

#define ITERATIONS 10
#define POLISH 8
#define NEWTON_PART 0.01   // of the error tolerance, for the remaining correction
#define TINY 1e-2          // of that: converged whatever the rate is
#define RATE_TURNED 0.05   // convergence beyond which M and G are reevaluated: they are outdated
#define RATE_SLOW 0.3      // convergence beyond which the next step gets a new tangent
#define RATE_HOPELESS 0.9  // beyond which it does not converge
#define STEP_CHANGE 0.2    // of the step, up to which the matrix is kept

// ---- equations --------------------------------------------------------------------------------------------------------

// f and y' where the system keeps its matrices to itself.
static int evaluate_by_solver(srIntegrator* integrator, double t, const double* x, double* ydot) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srTangentWork* k = &work->tangent;
  const double *v = x + s->nq, *y = v + s->nv;
  const int answer = s->solver->residual(s->user, t, x, v, y, SR_TAU_ELEMENT, NULL, k->e0);
  for (int i = 0; i < s->nv; ++i) k->f[i] = -k->e0[i];
  for (int i = 0; i < s->ny; ++i) ydot[i] = -k->e0[s->nv + i];
  memcpy(k->x, x, (size_t)s->nq * sizeof *x);  // M is that of these positions
  return sri_outcome(answer);
}

int sri_genalpha_evaluate(srIntegrator* integrator, double t, const double* x, double* ydot) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srTangentWork* k = &work->tangent;
  srConstrained* c = integrator->constrained;
  ++integrator->stats.evaluations;
  if (s->solver != NULL) return evaluate_by_solver(integrator, t, x, ydot);
  const int outcome = sri_outcome(s->dynamics(s->user, t, x, x + s->nq, x + s->nq + s->nv, SR_TAU_ELEMENT, k->M, k->f,
                                              ydot, s->D_differs ? k->D : NULL));
  return outcome == SRI_DONE && c != NULL ? sri_constraint(integrator, t, x, work->g, k->G, work->b) : outcome;
}

// The state at the end of the step from rate_new and U.
static int form_state(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const double *x = integrator->x, *rate = work->rate + s->nq, *rate_new = work->rate_new + s->nq;
  double* x_new = integrator->x_new;
  for (int i = 0; i < s->nv + s->ny; ++i) {
    const srGenCoefficients* k = i < s->nv ? &work->v : &work->y;
    work->a1[i] = ((1 - k->af) * rate_new[i] + k->af * rate[i] - k->am * work->a0[i]) / (1 - k->am);
    const double mean = (1 - k->gamma) * work->a0[i] + k->gamma * work->a1[i];
    x_new[s->nq + i] = (i < s->nv ? work->v0[i] : x[s->nq + i]) + h * mean;
  }
  for (int i = 0; i < s->nv; ++i) {
    const double mean = (0.5 - work->v.beta) * work->a0[i] + work->v.beta * work->a1[i];
    work->dxi[i] = h * work->v0[i] + h * h * mean + work->U[i];
    if (!isfinite(work->dxi[i])) return SRI_NOT_FINITE;
  }
  const int outcome = sri_retract(s, x, work->dxi, x_new);
  return outcome == SRI_DONE && sri_not_finite(integrator, x_new) >= 0 ? SRI_NOT_FINITE : outcome;
}

void sri_genalpha_mass_times(const srIntegrator* integrator, const double* x, double* out) {
  const srSystem* s = &integrator->system;
  const srTangentWork* k = &((const srGenAlpha*)integrator->work)->tangent;
  if (s->solver == NULL) {
    sri_mass_times(s, k->M, x, out);
  } else {
    // A nonzero return value is reported with the residual of the same positions.
    (void)s->solver->mass_times(s->user, k->x, x, out);
  }
}

// E = (M v' - f - D^T lambda; y'_1 - y'(x)) as evaluated last; returns the largest of its terms.
static double form_residual(srIntegrator* integrator, const double* ydot) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const srTangentWork* k = &work->tangent;
  const double* eta = work->rate_new + s->nq + s->nv;
  double most = 0;
  sri_genalpha_mass_times(integrator, work->rate_new + s->nq, work->E);
  for (int i = 0; i < s->nv; ++i) work->delta[i] = 0;
  if (s->ng > 0) {
    const srmSaddleShape* shape = &integrator->constrained->shape;
    srm_rows_transposed_times(shape, s->D_differs ? k->D : k->G, work->lambda_new, work->delta);
  }
  for (int i = 0; i < s->nv + s->ny; ++i) {
    const double a = i < s->nv ? work->E[i] : eta[i - s->nv], f = i < s->nv ? k->f[i] : ydot[i - s->nv];
    const double pull = i < s->nv ? work->delta[i] : 0, size = fmax(fabs(a), fmax(fabs(f), fabs(pull)));
    work->E[i] = a - (f + pull);
    most = fmax(most, size);
  }
  return most;
}

// ---- matrix -----------------------------------------------------------------------------------------------------------

bool sri_genalpha_factor(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srTangentWork* k = &work->tangent;
  const srConstrained* c = integrator->constrained;
  const double cv = h * work->v.gamma * work->v.kappa, cq = h * h * work->v.beta * work->v.kappa;
  // The unknowns of y are scaled so that the columns of Kv have one factor: dy = h gamma kappa (unknown), v's numbers.
  const double cI = work->v.gamma * work->v.kappa / (work->y.gamma * work->y.kappa);
  ++integrator->stats.factorizations;
  work->h_matrix = 0;
  if (s->solver != NULL) {
    const srShift shift = {.cM = {1}, .cI = {h > 0 ? cI : 1}, .cq = {cq}, .cv = {cv}};
    if (!s->solver->factor(s->user, &shift, false)) return false;
    work->h_matrix = h;
    return true;
  }
  sri_tangent_combine(k, s, k->M, 1, h > 0 ? cI : 1, cq, cv, work->S);
  if (!srm_saddle_factor(work->saddle, work->S, s->D_differs ? k->D : NULL, k->G, c != NULL ? c->kept : NULL)) {
    return false;
  }
  if (c != NULL) memcpy(work->kept, c->kept, (size_t)s->ng);
  work->h_matrix = h;
  return true;
}

void sri_genalpha_backsolve(srIntegrator* integrator, const double* f, const double* r, double* x, double* lambda) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  if (s->solver == NULL) {
    srm_saddle_solve(work->saddle, f, r, x, lambda);
    return;
  }
  memmove(x, f, (size_t)(s->nv + s->ny) * sizeof *x);
  s->solver->solve(s->user, false, x);
}

static bool matrix_serves(const srIntegrator* integrator, double h) {
  const srGenAlpha* work = integrator->work;
  const srConstrained* c = integrator->constrained;
  if (!(work->h_matrix > 0) || fabs(h / work->h_matrix - 1) > STEP_CHANGE || work->rate_newton > RATE_TURNED)
    return false;
  return c == NULL || memcmp(work->kept, c->kept, (size_t)integrator->system.ng) == 0;
}

// New Kq and Kv: at the predicted state, or at the start of the step where that failed.
static int make_tangent(srIntegrator* integrator, double t_new, bool at_start) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const double t = at_start ? integrator->t : t_new, *x = at_start ? integrator->x : integrator->x_new;
  const double* rate = at_start ? work->rate : work->rate_new;
  const double* lambda = at_start ? work->lambda : work->lambda_new;
  int outcome = sri_tangent(integrator, &work->tangent, t, x, rate + s->nq, s->ng > 0 ? lambda : NULL);
  work->tangent_known = outcome == SRI_DONE;
  // Differences overwrite these with values of other states.
  if (outcome == SRI_DONE && s->solver == NULL &&
      (s->tangent == NULL || integrator->options.tangent == SR_TANGENT_DIFFERENCE)) {
    outcome = sri_genalpha_evaluate(integrator, t_new, integrator->x_new, work->scratch);
  }
  return outcome;
}

// ---- corrections ------------------------------------------------------------------------------------------------------

// Residuals of the constraints at x_new into r, scaled as the rows of the matrix require. Returns the ratio of the worst to
// what rounding makes unavoidable.
static double form_rows(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  const double* v = integrator->x_new + s->nq;
  double worst = 0, length = 0;
  for (size_t p = 0; p < c->nG; ++p) length = fmax(length, fabs(work->tangent.G[p]));
  // For small mechanisms g is known better than to eps, and must be: accelerations of index 3 contain g/h^2.
  // Without an active equation there is no length, and no violation.
  const double rounding_q =
      fmax(4 * DBL_EPSILON * fmin(1, length) * fmax(1, sri_largest(s->nq, integrator->x_new)), DBL_MIN);
  if (work->form != SRI_GEN_INDEX2) worst = sri_largest_of(c->kept, s->np, work->g) / rounding_q;
  if (work->form == SRI_GEN_INDEX3) {
    for (int k = 0; k < s->ng; ++k) work->r[k] = -work->g[k] / (h * h * work->v.beta * work->v.kappa);
    return worst;
  }
  length = fmax(length, 1);
  srm_rows_times(&c->shape, work->tangent.G, v, c->r);
  for (int k = 0; k < s->ng; ++k) {
    c->r[k] += work->b[k];
    work->r[k] = -c->r[k] / (h * work->v.gamma * work->v.kappa);
  }
  return fmax(worst,
              sri_largest_of(c->kept, s->ng, c->r) / (4 * DBL_EPSILON * length * fmax(1, sri_largest(s->nv, v))));
}

// GGL, Haddouni et al. (2017), eq 24: the part of the increment that puts q on g = 0, including the effect of the correction of v.
//   N dU - G^T dnu = -(N U - G^T nu),   G dU = h beta/gamma (G v + b) - g        N: M, or the identity where that is the metric
static void correct_position(srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  for (int k = 0; k < s->ng; ++k) {
    c->r[k] = k < s->np ? h * work->v.beta / work->v.gamma * c->r[k] - work->g[k] : 0;
  }
  srm_rows_transposed_times(&c->shape, work->tangent.G, work->nu, c->f);
  if (c->metric == SR_METRIC_MASS) {
    sri_genalpha_mass_times(integrator, work->U, c->dv);
  } else {
    memcpy(c->dv, work->U, (size_t)s->nv * sizeof(double));
  }
  for (int i = 0; i < s->nv; ++i) c->f[i] -= c->dv[i];
  srm_saddle_solve(c->end, c->f, c->r, c->dv, c->lambda);
  for (int i = 0; i < s->nv; ++i) work->U[i] += c->dv[i];
  for (int k = 0; k < s->ng; ++k) work->nu[k] += c->lambda[k];
}

// One correction of v', y', lambda and U; `whole` false: of the constraints alone. delta is then (dv', unknowns of y).
static void correct(srIntegrator* integrator, double h, bool whole) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  double* rate = work->rate_new + s->nq;
  for (int i = 0; i < s->nv + s->ny; ++i) work->E[i] = whole ? -work->E[i] : 0;
  sri_genalpha_backsolve(integrator, work->E, work->r, work->delta, work->dlambda);
  const double scale = work->v.gamma * work->v.kappa / (work->y.gamma * work->y.kappa);
  for (int i = 0; i < s->nv + s->ny; ++i) rate[i] += i < s->nv ? work->delta[i] : scale * work->delta[i];
  for (int k = 0; k < s->ng; ++k) work->lambda_new[k] += work->dlambda[k];
  if (work->form == SRI_GEN_GGL && s->np > 0) correct_position(integrator, h);
}

// The correction over what error control allows, root mean square over (v, y) and the increment of q.
static double correction_norm(const srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  const srGenAlpha* work = integrator->work;
  const double cv = h * work->v.gamma * work->v.kappa, cq = h * h * work->v.beta * work->v.kappa;
  const double *x0 = integrator->x + s->nq, *x1 = integrator->x_new + s->nq;
  const double size_q = fmax(sri_largest(s->nq, integrator->x), 1e-3);
  double sum = 0;
  for (int i = 0; i < s->nv + s->ny; ++i) {
    const double of_v = cv * work->delta[i] / sri_allowed_error(integrator, s->nq + i, fmax(fabs(x0[i]), fabs(x1[i])));
    const double of_q = i < s->nv ? cq * work->delta[i] / sri_allowed_error(integrator, 0, size_q) : 0;
    sum += of_v * of_v + of_q * of_q;
  }
  const int n = 2 * s->nv + s->ny;
  return n > 0 ? sqrt(sum / n) : 0;
}

// The last correction of the constraints over what error control allows. Index 3: positions only, velocities and accelerations
// carry eps |q|/h and eps |q|/h^2 there. Index 2: none, its positions carry no information.
static double constraint_norm(const srIntegrator* integrator, double h) {
  const srSystem* s = &integrator->system;
  const srGenAlpha* work = integrator->work;
  const double allowed = sri_allowed_error(integrator, 0, fmax(sri_largest(s->nq, integrator->x), 1e-3));
  if (work->form == SRI_GEN_INDEX2) return HUGE_VAL;
  if (work->form == SRI_GEN_INDEX3)
    return h * h * work->v.beta * work->v.kappa * sri_largest(s->nv, work->delta) / allowed;
  const double of_U =
      work->form == SRI_GEN_GGL && s->np > 0 ? sri_largest(s->nv, integrator->constrained->dv) / allowed : 0;
  return fmax(correction_norm(integrator, h), of_U);
}

// Is the correction no more than the rounding of the velocities and of what they are summed from, or of the positions where it does
// not fall any more?
static bool correction_is_rounding(const srIntegrator* integrator, double h, bool stagnates) {
  const srSystem* s = &integrator->system;
  const srGenAlpha* work = integrator->work;
  const double size = sri_largest(s->nv + s->ny, work->delta), cv = h * work->v.gamma * work->v.kappa;
  const double of_q = 32 * DBL_EPSILON * fmax(1, sri_largest(s->nq, integrator->x));
  const double summed = h * fmax(sri_largest(s->nv + s->ny, work->a0), sri_largest(s->nv + s->ny, work->a1));
  const double of_v = 8 * DBL_EPSILON * fmax(sri_largest(s->nv + s->ny, integrator->x_new + s->nq), summed);
  return cv * size <= of_v || (stagnates && h * cv * size <= of_q);
}

// ---- Newton -----------------------------------------------------------------------------------------------------------

// Accelerations and multipliers are extrapolated from the last step; where that failed, held; or 0, as in algorithm 1 of Haddouni et al. (2017).
static void predict(srIntegrator* integrator, double h, int attempt) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  const double ratio = attempt == 0 ? h / work->h_before : 0, some = attempt < 2 ? 1 : 0;
  for (int i = 0; i < s->nq + s->nv + s->ny; ++i) {
    work->rate_new[i] = some * work->rate[i] + ratio * (work->rate[i] - work->rate_before[i]);
  }
  for (int k = 0; k < s->ng; ++k) {
    work->lambda_new[k] = some * work->lambda[k] + ratio * (work->lambda[k] - work->lambda_before[k]);
  }
  memset(work->U, 0, (size_t)s->nv * sizeof(double));
  memset(work->nu, 0, (size_t)s->ng * sizeof(double));
}

// State, residual and constraint equations from rate_new. *solved: newton_tolerance is given, and all is below it.
static int form_all(srIntegrator* integrator, double h, double t_new, bool* solved) {
  const srSystem* s = &integrator->system;
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  int outcome = form_state(integrator, h);
  if (outcome == SRI_DONE) outcome = sri_genalpha_evaluate(integrator, t_new, integrator->x_new, work->scratch);
  if (outcome != SRI_DONE) return outcome;
  const double size = form_residual(integrator, work->scratch), most = integrator->options.newton_tolerance;
  const double residual = sri_largest(s->nv + s->ny, work->E);
  if (!isfinite(residual)) return SRI_NOT_FINITE;
  *solved = most > 0 && residual <= fmax(most, 64 * DBL_EPSILON * size);
  if (c == NULL) return SRI_DONE;
  (void)form_rows(integrator, h);
  if (work->form != SRI_GEN_INDEX2) *solved = *solved && sri_largest_of(c->kept, s->np, work->g) <= most;
  if (work->form != SRI_GEN_INDEX3) *solved = *solved && sri_largest_of(c->kept, s->ng, c->r) <= most;
  return SRI_DONE;
}

// What remains after a correction of this size, at this rate, is small enough.
static bool small_enough(double theta, double size) {
  return size <= TINY * NEWTON_PART || (theta < 1 && theta / (1 - theta) * size <= NEWTON_PART);
}

// Consecutive decreases of the stiffness response to the correction.
static int stiffness_falls(const srIntegrator* integrator, double h, int falls) {
  const srSystem* s = &integrator->system;
  const srGenAlpha* work = integrator->work;
  const int n = s->nv + s->ny;
  const double cv = h * work->v.gamma * work->v.kappa, cq = h * h * work->v.beta * work->v.kappa;
  const double* x = integrator->x + s->nq;
  for (int i = 0; i < n; ++i) {
    work->a1[i] = cv * work->delta[i];  // a1 is formed anew with the next state
    work->E[i] = cq * work->delta[i];
  }
  sri_stiffness_times(&work->tangent, s, work->E, work->a1, work->lack);
  for (int i = 0; i < n; ++i) {
    const double mass = i < s->nv ? fmax(sri_mass_of(&work->tangent, s, work->tangent.M, i), DBL_MIN) : 1;
    work->lack[i] = cv * fabs(work->lack[i]) / (mass * sri_allowed_error(integrator, s->nq + i, fabs(x[i])));
  }
  return sri_stiffness_falls(n, SRI_NEGLIGIBLE, work->lack, work->lack_before, falls);
}

// Iterates with the present matrix, from the residual that is formed. *converged false: it does not.
static int iterate(srIntegrator* integrator, double h, double t_new, bool solved, bool* converged) {
  srGenAlpha* work = integrator->work;
  const bool by_residual = integrator->options.newton_tolerance > 0;
  // A rate observed in another step is trusted less and less.
  double before = 0, theta = fmax(work->rate_newton, RATE_TURNED), seen = pow(work->rate_newton, 0.8);
  double rate_before = work->rate_newton < 1 ? theta : 0;
  bool measured = false;
  int falls = -1;
  *converged = solved;
  work->contracts = false;
  for (int i = 0; i < ITERATIONS && !*converged; ++i) {
    ++integrator->stats.iterations;
    correct(integrator, h, true);
    const double size = correction_norm(integrator, h);
    if (!isfinite(size)) return SRI_NOT_FINITE;
    const bool rounding = correction_is_rounding(integrator, h, i > 0 && size > 0.5 * before);
    if (i > 0 && !rounding) {
      // With an old G errors go from v' to lambda and back: the worse of two rates counts.
      theta = seen = fmax(size / before, rate_before);
      rate_before = size / before;
      measured = true;
    }
    before = size;
    // The first correction does not reveal errors of lambda: the second may well be as large.
    work->contracts = i > 1 && theta < RATE_HOPELESS;
    if (i > 0 && theta > (i == 1 ? 2 : RATE_HOPELESS) && !rounding) return SRI_DONE;
    // It would not converge with this matrix.
    if (work->contracts && !by_residual && pow(theta, ITERATIONS - i) * size > NEWTON_PART && !rounding) {
      return form_state(integrator, h);
    }
    falls = stiffness_falls(integrator, h, falls);
    *converged = rounding || (!by_residual && falls >= SRI_FALLS_ENOUGH && small_enough(theta, size));
    const int outcome = *converged ? form_state(integrator, h) : form_all(integrator, h, t_new, converged);
    if (outcome != SRI_DONE) return outcome;
  }
  if (*converged) {
    // Where the first correction was small by far, or the residual shows it, the matrix is kept, whatever its rate is.
    if (!measured && (before <= TINY * NEWTON_PART || by_residual)) seen = fmin(seen, RATE_TURNED);
    work->slow = seen > RATE_SLOW && seen < 1;
    work->rate_newton = fmin(fmax(seen, 1e-3), 1);
  }
  return SRI_DONE;
}

// [M -G^T; G 0] of GGL at the state evaluated last, where that of the start of the step does not suffice.
static bool factor_position(srIntegrator* integrator) {
  srGenAlpha* work = integrator->work;
  srConstrained* c = integrator->constrained;
  memcpy(c->M, work->tangent.M, c->nM * sizeof(double));
  memcpy(c->G, work->tangent.G, c->nG * sizeof(double));
  return sri_factor_end(integrator, c->kept);
}

// The constraints alone, to rounding: dynamics stays solved to first order, since the same matrix corrects it. Where it is
// slow, with M and G of this state. The size of q does not always give the rounding: a gear counts turns that unit quaternions do not show, and
// its equation carries eps of hundreds of radians. So residuals that do not fall with that matrix are rounding too, where the corrections that
// they call for are no more than Newton's method may leave.
static int polish(srIntegrator* integrator, double h, double t_new, bool* converged) {
  srGenAlpha* work = integrator->work;
  double before = HUGE_VAL, size = HUGE_VAL;
  bool anew = false;
  for (int i = 0; i <= POLISH; ++i) {
    int outcome = sri_constraint(integrator, t_new, integrator->x_new, work->g, work->tangent.G, work->b);
    if (outcome != SRI_DONE) return outcome;
    const double worst = form_rows(integrator, h);
    if (!isfinite(worst)) return SRI_NOT_FINITE;
    *converged = worst <= 1 || (anew && worst > 0.5 * before && (worst < 1e3 || size <= NEWTON_PART));
    if (*converged || i == POLISH || (anew && worst > RATE_HOPELESS * before)) return SRI_DONE;
    if (!anew && worst > RATE_SLOW * before) {
      anew = true;
      work->rate_newton = 1;
      if (!sri_genalpha_factor(integrator, h)) return SRI_REFUSED;
      if (work->form == SRI_GEN_GGL && !factor_position(integrator)) return SRI_REFUSED;
    }
    before = worst;
    correct(integrator, h, false);
    size = constraint_norm(integrator, h);
    outcome = form_state(integrator, h);
    if (outcome != SRI_DONE) return outcome;
  }
  return SRI_DONE;
}

// One try from a prediction. anew: with new Kq and Kv.
static int solve_once(srIntegrator* integrator, double h, double t_new, int attempt, bool anew, bool* converged) {
  srGenAlpha* work = integrator->work;
  const srConstrained* c = integrator->constrained;
  bool solved = false;
  // An iteration that converges, but slowly, continues from where it is.
  if (attempt != 1 || !work->contracts) predict(integrator, h, attempt);
  int outcome = form_all(integrator, h, t_new, &solved);
  if (outcome == SRI_DONE && (anew || !matrix_serves(integrator, h))) {
    work->rate_newton = 1;
    // A system that solves has M of the tangent's state in its factor: both are reevaluated together.
    if (anew || integrator->system.solver != NULL) outcome = make_tangent(integrator, t_new, attempt > 1);
    if (outcome == SRI_DONE && !sri_genalpha_factor(integrator, h)) {
      (void)snprintf(integrator->reason, sizeof integrator->reason, "the matrix of Newton's method is singular");
      outcome = SRI_REFUSED;
    }
  }
  if (outcome == SRI_DONE && attempt > 0 && work->form == SRI_GEN_GGL && c != NULL) {
    outcome = factor_position(integrator) ? SRI_DONE : SRI_REFUSED;
  }
  if (outcome == SRI_DONE) outcome = iterate(integrator, h, t_new, solved, converged);
  if (outcome == SRI_DONE && *converged && c != NULL) outcome = polish(integrator, h, t_new, converged);
  return outcome;
}

int sri_genalpha_solve(srIntegrator* integrator, double h, double t_new) {
  srGenAlpha* work = integrator->work;
  bool converged = false;
  int outcome = SRI_DONE;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const bool anew = attempt > 0 || !work->tangent_known || work->slow;
    outcome = solve_once(integrator, h, t_new, attempt, anew, &converged);
    if (outcome < 0 || (outcome == SRI_DONE && converged)) return outcome;
  }
  work->slow = true;
  if (outcome != SRI_DONE) return outcome;
  (void)snprintf(integrator->reason, sizeof integrator->reason, "Newton's method does not converge");
  return SRI_REFUSED;
}
