// Constraints as the integrators see them: evaluation, and the index-1 form
//   [ M  -D^T ] [   v'   ]   [   f   ]
//   [ G    0  ] [ lambda ] = [ gamma - 2 alpha (G v + b) - beta^2 g ]   over the equations in use, the same in all stages
// with Baumgarte's terms where requested (Rodrigues da Silva et al. 2024, eq 26 and 27; over independent equations: contrary to its claim, the
// Schur form fails with redundant ones). The whole system is factored, not M alone: bodies without mass are allowed where constraints carry them.
// gamma = -(dG/dt v + db/dt). Where the system does not provide it, it is the difference of G v + b along the motion with v
// held: -(F(t + e, q + e q') - F(t - e, q - e q')) / 2e, good to about 1e-10.
#include "integrate/constrained.h"

#include <math.h>
#include <string.h>

#define DEPENDENT_HERE 1e-9  // distance of a row from the others, in a stage

// ---- life -------------------------------------------------------------------------------------------------------------

bool sri_ways_asked(const srIntegratorOptions* o) {
  return o->alpha > 0 || o->beta > 0 || o->augmented || o->partition;
}

bool sri_solves_constraints(const srIntegratorOps* ops, const srSystem* s, const srIntegratorOptions* o) {
  return s->ng > 0 && (ops->needs_constrained != 0 || s->rates == NULL || sri_ways_asked(o));
}

bool sri_constrained_wanted(const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  return s->ng > 0 && (sri_solves_constraints(integrator->ops, s, &integrator->options) ||
                       integrator->options.project > SR_PROJECT_NONE);
}

// Lays out the arrays in one block.
static bool allocate(srConstrained* c, const srSystem* s) {
  const size_t nv = (size_t)s->nv, nq = (size_t)s->nq, ng = (size_t)s->ng;
  const srPart parts[] = {{&c->M, c->nM},
                          {&c->f, nv},
                          {&c->D, c->nG},
                          {&c->G, c->nG},
                          {&c->b, ng},
                          {&c->g, ng},
                          {&c->G_stage, c->nG},
                          {&c->r, ng},
                          {&c->lambda, ng},
                          {&c->length, ng},
                          {&c->scale, ng},
                          {&c->longest, ng},
                          {&c->u, ng},
                          {&c->dv, nv},
                          {&c->vdot, nv},
                          {&c->gamma, ng},
                          {&c->q, nq},
                          {&c->slope, nq},
                          {&c->y_rate, (size_t)s->ny},
                          {&c->x, nq + nv + (size_t)s->ny},
                          {&c->other, nq + nv + (size_t)s->ny}};
  if (!sr_take_parts(parts, SR_COUNT(parts), 5 * ng + nv, &c->block, &c->kept)) return false;
  c->position = c->kept + ng;
  c->trial = c->position + ng;
  c->before = c->trial + ng;
  c->active = c->before + ng;
  c->dependent = c->active + ng;
  return true;
}

bool sri_constrained_create(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  const srIntegratorOptions* o = &integrator->options;
  srConstrained* c = sr_alloc(sizeof *c);
  integrator->constrained = c;
  if (c == NULL) return false;
  c->shape = (srmSaddleShape){.nv = s->nv, .ng = s->ng, .M = s->M_sparsity, .G = s->G_sparsity, .mass = true};
  c->nM = sri_mass_count(s);
  c->nG = sri_rows_count(s);
  c->stage = srm_saddle_create(&c->shape);
  c->end = srm_saddle_create(&c->shape);
  c->rows = srm_rows_create(&c->shape);
  c->metric = s->dynamics != NULL ? o->metric : SR_METRIC_IDENTITY;
  c->tau = fmax(o->rank_tolerance > 0 ? o->rank_tolerance : 1e-5, 10 * o->geometry_error);
  c->index1 = s->dynamics != NULL && sri_solves_constraints(integrator->ops, s, o);
  c->may_be_free = c->index1 && integrator->ops->index1 && s->rates_free != NULL && !sri_ways_asked(o);
  c->rank = c->rank_phase = -1;
  if (o->partition) c->partition = sri_partition_create(s, o);
  if (o->augmented) c->augmented = sri_augmented_create(s);
  if ((o->partition && c->partition == NULL) || (o->augmented && c->augmented == NULL)) return false;
  return c->stage != NULL && c->end != NULL && c->rows != NULL && allocate(c, s);
}

void sri_constrained_destroy(srConstrained* c) {
  if (c == NULL) return;
  srm_saddle_destroy(c->stage);
  srm_saddle_destroy(c->end);
  srm_rows_destroy(c->rows);
  sr_free(c->partition);
  sr_free(c->augmented);
  sr_free(c->block);
  sr_free(c);
}

bool sri_constrained_activate(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  bool changed = false;
  c->nactive = 0;
  for (int k = 0; k < s->ng; ++k) {
    const unsigned char now = s->active == NULL ? 1 : s->active[k];
    changed = changed || now != c->active[k];
    c->active[k] = now;
    c->nactive += now != 0;
  }
  return changed;
}

static void begin_phase(srConstrained* c) {
  if (c->rank >= 0) c->rank_phase = c->rank;
  c->rank = -1;
}

void sri_constrained_start(srIntegrator* integrator) {
  srConstrained* c = integrator->constrained;
  if (c == NULL) return;
  // The rank of another set of equations is not a change of rank.
  if (sri_constrained_activate(integrator)) begin_phase(c);
  c->chosen = c->confirmed = c->u_known = c->goes_on = false;
  c->sigma = c->sigma_chosen = -1;
  c->h_short = 0;
  c->start_singular = false;
  c->history.count = 0;
}

void sri_constrained_restart(srIntegrator* integrator, double t) {
  srConstrained* c = integrator->constrained;
  if (c == NULL) return;
  const int rank = c->rank;
  if (sri_constrained_activate(integrator)) begin_phase(c);
  if (rank < 0 || c->rank < 0) {
    sri_constrained_start(integrator);
    return;
  }
  sri_crossing_restart(&c->crossing, integrator->h, integrator->t - t);
  c->chosen = false;
  c->goes_on = true;
}

// ---- evaluation -------------------------------------------------------------------------------------------------------

int sri_dynamics(srIntegrator* integrator, double t, const double* x, double tau, double* ydot) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  ++integrator->stats.evaluations;
  return sri_outcome(
      s->dynamics(s->user, t, x, x + s->nq, x + s->nq + s->nv, tau, c->M, c->f, ydot, s->D_differs ? c->D : NULL));
}

// Zeros in the equations that are not active.
static void clear_rows(const srConstrained* c, int np, double* g, double* G, double* b) {
  const int* row = c->shape.G != NULL ? c->shape.G->row : NULL;
  for (int k = 0; k < c->shape.ng; ++k) {
    if (c->active[k] != 0) continue;
    const size_t first = row != NULL ? (size_t)row[k] : (size_t)k * (size_t)c->shape.nv;
    const size_t end = row != NULL ? (size_t)row[k + 1] : first + (size_t)c->shape.nv;
    if (g != NULL && k < np) g[k] = 0;
    if (b != NULL) b[k] = 0;
    for (size_t p = first; G != NULL && p < end; ++p) G[p] = 0;
  }
}

int sri_constraint(srIntegrator* integrator, double t, const double* q, double* g, double* G, double* b) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const int answer = s->constraint(s->user, t, q, g, G, b);
  if (answer == 0 && c->nactive < s->ng) clear_rows(c, s->np, g, G, b);
  return sri_outcome(answer);
}

void sri_spread_row(const srConstrained* c, const double* G, int k, double* out) {
  const srEntries row = sri_entries(c->shape.G, c->shape.nv, G, k);
  memset(out, 0, (size_t)c->shape.nv * sizeof *out);
  for (int e = 0; e < row.n; ++e) out[sri_column(&row, e)] = row.value[e];
}

int sri_qdot(srIntegrator* integrator, const double* q, const double* v, double* qdot) {
  const srSystem* s = &integrator->system;
  if (s->qdot != NULL) return sri_outcome(s->qdot(s->user, q, v, qdot));
  if (s->nq > 0) memcpy(qdot, v, (size_t)s->nq * sizeof *qdot);
  return SRI_DONE;
}

int sri_power(srIntegrator* integrator, double t, const double* x, const double* lambda, double* other, double* wdot) {
  const srSystem* s = &integrator->system;
  const double *v = x + s->nq, *y = v + s->nv;
  if (s->nw == 0) return SRI_DONE;
  if (s->power != NULL) return sri_outcome(s->power(s->user, t, x, v, y, lambda, wdot));
  if (s->rates == NULL) {
    memset(wdot, 0, (size_t)s->nw * sizeof *wdot);
    return SRI_DONE;
  }
  ++integrator->stats.evaluations;
  return sri_outcome(s->rates(s->user, t, x, v, y, SR_TAU_ELEMENT, other, other + s->nq, other + s->nq + s->nv, wdot));
}

static void velocity_form(const srConstrained* c, const double* G, const double* b, const double* v, double* out) {
  srm_rows_times(&c->shape, G, v, out);
  for (int k = 0; k < c->shape.ng; ++k) out[k] += b[k];
}

double sri_residual_velocity(srIntegrator* integrator, const double* v) {
  srConstrained* c = integrator->constrained;
  velocity_form(c, c->G, c->b, v, c->r);
  return sri_largest(c->shape.ng, c->r);
}

// gamma by a central difference along the motion; overwrites b and G_stage.
static int gamma_by_difference(srIntegrator* integrator, double t, const double* q, const double* v, double* gamma) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  int outcome = sri_qdot(integrator, q, v, c->slope);
  const double size = fmax(1e-3, sri_largest(s->nq, q)), rate = fmax(1e-3, sri_largest(s->nq, c->slope));
  // Cube root of the rounding unit, times the time in which q changes by its own size.
  const double e = 6e-6 * fmin(size / rate, 1.0);
  for (int k = 0; k < s->ng; ++k) gamma[k] = 0;
  for (int side = -1; side <= 1 && outcome == SRI_DONE; side += 2) {
    for (int i = 0; i < s->nq; ++i) c->q[i] = q[i] + side * e * c->slope[i];
    outcome = sri_constraint(integrator, t + side * e, c->q, NULL, c->G_stage, c->b);
    velocity_form(c, c->G_stage, c->b, v, c->lambda);
    for (int k = 0; k < s->ng; ++k) gamma[k] -= side * c->lambda[k] / (2 * e);
  }
  return outcome;
}

int sri_gamma(srIntegrator* integrator, double t, const double* q, const double* v, double* gamma) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  if (s->gamma == NULL) return gamma_by_difference(integrator, t, q, v, gamma);
  const int answer = s->gamma(s->user, t, q, v, gamma);
  for (int k = 0; c->nactive < s->ng && k < s->ng; ++k) gamma[k] = c->active[k] != 0 ? gamma[k] : 0;
  return sri_outcome(answer);
}

// Over the equations in use. Where they are dependent at this point, a stage has hit a singular position: one less counts.
static bool solve_rows(srIntegrator* integrator, double* vdot) {
  const double* D = integrator->system.D_differs ? integrator->constrained->D : NULL;
  srConstrained* c = integrator->constrained;
  const srmRowsChoice choice = {.tau = DEPENDENT_HERE};
  ++integrator->stats.factorizations;
  if (!srm_saddle_factor(c->stage, c->M, D, c->G, c->kept)) {
    ++integrator->stats.factorizations;
    if (srm_rows_classify(c->rows, c->M, c->G, &choice, c->trial) < 0) return false;
    if (!srm_saddle_factor(c->stage, c->M, D, c->G, c->trial)) return false;
  }
  integrator->stats.factor_entries = (long)srm_saddle_fill(c->stage);
  srm_saddle_solve(c->stage, c->f, c->gamma, vdot, c->lambda);
  return true;
}

// gamma with Baumgarte's terms, with v, b and g of the same state.
static void stabilize(srIntegrator* integrator, const double* v) {
  const double alpha2 = 2 * integrator->options.alpha, beta2 = integrator->options.beta * integrator->options.beta;
  srConstrained* c = integrator->constrained;
  (void)sri_residual_velocity(integrator, v);
  for (int k = 0; k < c->shape.ng; ++k) {
    c->gamma[k] -= alpha2 * c->r[k] + (k < integrator->system.np ? beta2 * c->g[k] : 0);
  }
}

double sri_residual_acceleration(srConstrained* c) {
  srm_rows_times(&c->shape, c->G, c->vdot, c->r);
  for (int k = 0; k < c->shape.ng; ++k) c->r[k] -= c->gamma[k];
  return sri_largest(c->shape.ng, c->r);
}

int sri_index1(srIntegrator* integrator, double t, const double* x, double tau, double* xdot) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const int v = s->nq, y = v + s->nv;
  const bool stabilized = integrator->options.alpha > 0 || integrator->options.beta > 0;
  double smallest;
  int outcome = SRI_DONE;
  if (integrator->options.partition && !integrator->ops->method.implicit) {
    memcpy(c->x, x, (size_t)integrator->ncontrol * sizeof *x);
    outcome = sri_partition_solve(integrator, t, c->x, c->x + v, &smallest);
    x = c->x;
  }
  if (outcome == SRI_DONE) outcome = sri_dynamics(integrator, t, x, tau, xdot + y);
  if (outcome == SRI_DONE) outcome = sri_gamma(integrator, t, x, x + v, c->gamma);
  if (outcome == SRI_DONE) {
    outcome = sri_constraint(integrator, t, x, stabilized ? c->g : NULL, c->G, stabilized ? c->b : NULL);
  }
  if (outcome != SRI_DONE) return outcome;
  if (stabilized) stabilize(integrator, x + v);
  const bool solved =
      integrator->options.augmented ? sri_augmented_solve(c, c->gamma, xdot + v) : solve_rows(integrator, xdot + v);
  if (!solved) return SRI_REFUSED;
  memcpy(c->vdot, xdot + v, (size_t)s->nv * sizeof *xdot);
  outcome = sri_qdot(integrator, x, x + v, xdot);
  return outcome == SRI_DONE ? sri_power(integrator, t, x, c->lambda, c->other, xdot + integrator->ncontrol) : outcome;
}
