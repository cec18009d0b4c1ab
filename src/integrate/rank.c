// Which constraint equations are in use, and what happens at the end of a step.
//
// Equations that are redundant on g = 0 need not be so in the stages, which leave it by O(h^2): there the rank is one higher, and a
// half-explicit step with all of them fails (Haddouni et al. 2017, section 4.5). So an independent set is chosen once, at a start, and
// kept for all stages; it is confirmed at the end of the first step and grows, never shrinks, until the next start. Equations left
// out are checked after each step. Thresholds: docs/theory/half-explicit.md.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/control.h"
#include "integrate/projection.h"

#define SIGMA_NEAR 0.3
#define SIGMA_FAR 0.8     // of its largest value, above which no singular position is near
#define SIGMA_LEAST 1e-2  // and its own least value there
#define SIGMA_RESTS 7     // steps for which it is not found there, if nothing else needs a factor
// Distance of a row from the others below which it is not used to project a state of dense output: the correction would be its
// error over this.
#define PLACE_TAU 1e-3
#define REACH 3  // thresholds of the rank, at the end of a step that begins in a singular position

void sri_rank_event(srIntegrator* integrator, double t, srRankEventKind kind, int before, int after, int row) {
  srConstrained* c = integrator->constrained;
  if (c->nevent == SRI_RANK_EVENTS) return;
  c->event[c->nevent++] = (srRankEvent){.t = t, .kind = kind, .before = before, .after = after, .row = row};
}

static const double* metric_of(const srConstrained* c) { return c->metric == SR_METRIC_MASS ? c->M : NULL; }

static void set_rank(srIntegrator* integrator, int rank) {
  integrator->constrained->rank = rank;
  integrator->stats.rank = rank;
  integrator->stats.redundant = integrator->constrained->nactive - rank;
  if (integrator->stats.redundant > integrator->stats.redundant_most)
    integrator->stats.redundant_most = integrator->stats.redundant;
}

// Ten times what the error control allows for a number of this size.
static double ten_tolerances(const srIntegrator* integrator, double size) {
  const srIntegratorOptions* o = &integrator->options;
  if (!sri_is_adaptive(integrator)) return 1e-6 * fmax(1, size);
  return 10 * (o->atol + o->rtol * fmax(1, size));
}

// ---- distance from singular positions --------------------------------------------------------------------------------

// Smallest singular value of the rows in use, each relative to the largest length it has had (a row that vanishes in a
// singular position must show it), by inverse iteration with the present factor:
//   u <- N (G M^-1 G^T)^-1 N u,  N: lengths of the rows
static double smallest_singular_value(srConstrained* c) {
  const int ng = c->shape.ng;
  const int iterations = c->u_known ? 3 : 8;
  double value = 1;
  if (c->rank <= 0) return 1;
  if (c->singular) return 0;
  srm_rows_lengths(&c->shape, metric_of(c), c->G, c->lambda);
  for (int k = 0; k < ng; ++k) c->length[k] = fmax(c->length[k], c->lambda[k]);
  // The vector of the last step, and a little of every row: a part of the mechanism not coupled to the one
  // nearest to a singular position so far must be able to take over.
  const double some = (c->u_known ? 0.2 : 1.0) / sqrt(c->rank);
  for (int k = 0; k < ng; ++k) {
    if (!c->u_known) c->u[k] = 0;
    if (c->kept[k] != 0) c->u[k] += some * (0.3 + (double)(k % 13) / 10);
  }
  for (int i = 0; i <= iterations; ++i) {
    double norm = 0;
    for (int k = 0; k < ng; ++k) norm += c->u[k] * c->u[k];
    norm = sqrt(norm);
    if (!(norm > 0) || !isfinite(norm)) return 0;
    if (i > 0) value = 1 / sqrt(norm);
    for (int k = 0; k < ng; ++k) c->u[k] /= norm;
    if (i == iterations) break;
    for (int k = 0; k < ng; ++k) c->r[k] = c->u[k] * c->length[k];
    srm_saddle_solve_rows(c->end, c->r, c->lambda);
    for (int k = 0; k < ng; ++k) c->u[k] = c->kept[k] != 0 ? c->lambda[k] * c->length[k] : 0;
  }
  c->u_known = true;
  return value;
}

// ---- choice -----------------------------------------------------------------------------------------------------------

// Selects rows into c->trial, with M, G, b, g of the state x available; `first` (or NULL) go first. Returns the rank, -1: no metric.
static int classify(srIntegrator* integrator, const double* v, double tau, const unsigned char* first) {
  srConstrained* c = integrator->constrained;
  // Off g = 0 by |g|, a row that is redundant there shows a distance of about |g|: it must stay below tau.
  const double drift = integrator->system.np > 0 ? sri_largest(integrator->system.np, c->g) : 0;
  (void)sri_residual_velocity(integrator, v);
  srmRowsChoice choice = {.tau = fmax(tau, fmin(100 * drift, 1e-2)),
                          .first = first,
                          .scale = c->scale,
                          .residual = c->r,
                          .residual_limit = ten_tolerances(integrator, sri_largest(integrator->system.nv, v))};
  return srm_rows_classify(c->rows, metric_of(c), c->G, &choice, c->trial);
}

// First row in which two sets differ, -1: none.
static int first_difference(int n, const unsigned char* a, const unsigned char* b) {
  for (int k = 0; k < n; ++k) {
    if (a[k] != b[k]) return k;
  }
  return -1;
}

// The motion continues after a restart: its equations stay in use. Where they are dependent just there, in a singular position, the
// independent ones suffice for a step so short that no error can grow; at its end the others are back.
static bool take_over(srIntegrator* integrator) {
  srConstrained* c = integrator->constrained;
  const srmRowsChoice choice = {.tau = c->tau, .first = c->kept, .scale = c->scale};
  const int rank = srm_rows_classify(c->rows, metric_of(c), c->G, &choice, c->trial);
  c->h_short = 0;
  if (rank < 0) return false;
  if (rank >= c->rank && sri_factor_end(integrator, c->kept)) {
    set_rank(integrator, c->rank);
    c->sigma = smallest_singular_value(c);
    sri_crossing_restarted(&c->crossing, c->sigma);
    return true;
  }
  if (rank >= c->rank) return false;
  c->start_singular = false;
  c->h_short = sri_crossing_reach(&c->crossing, REACH * c->tau);
  c->rank_left = c->rank;
  c->confirmed = c->u_known = false;
  memcpy(c->kept, c->trial, (size_t)integrator->system.ng);
  set_rank(integrator, rank);
  sri_crossing_restarted(&c->crossing, -1);
  return true;
}

// `rows` are in use from now on, of this rank.
static void count_rank(srIntegrator* integrator, int rank, const unsigned char* rows) {
  const srConstrained* c = integrator->constrained;
  if (c->rank < 0 && c->rank_phase >= 0 && rank != c->rank_phase) ++integrator->stats.rank_phases;
  if (c->rank < 0 || rank == c->rank) return;
  ++integrator->stats.rank_changes;
  sri_rank_event(integrator, integrator->t, SR_RANK_CHOSEN, c->rank, rank,
                 first_difference(integrator->system.ng, c->kept, rows));
}

// No equation is active: nothing is in use, and violations are 0.
static void choose_none(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  memset(c->trial, 0, (size_t)s->ng);
  count_rank(integrator, 0, c->trial);
  memset(c->kept, 0, (size_t)s->ng);
  memset(c->lambda, 0, (size_t)s->ng * sizeof *c->lambda);
  set_rank(integrator, 0);
  c->goes_on = c->projected = c->rechosen = c->u_known = c->singular = false;
  c->chosen = c->confirmed = true;
  c->h_short = 0;
  c->sigma = 1;
  c->sigma_chosen = c->sigma_most = -1;
}

srStatus sri_choose_rows(srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  if (c == NULL || c->chosen) return SR_OK;
  if (sri_is_free(integrator)) {
    choose_none(integrator);
    return SR_OK;
  }
  int outcome = SRI_DONE;
  if (s->dynamics != NULL) outcome = sri_dynamics(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, c->y_rate);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, integrator->t, integrator->x, c->g, c->G, c->b);
  if (outcome != SRI_DONE) {
    return sri_fail(integrator, "the constraints could not be evaluated at t = %.9g", integrator->t);
  }
  if (c->partition != NULL && !c->goes_on) sri_partition_choose(integrator, integrator->t);
  c->chosen = c->goes_on && take_over(integrator);
  c->goes_on = false;
  if (c->chosen) return SR_OK;
  memset(c->scale, 0, (size_t)s->ng * sizeof *c->scale);
  memset(c->length, 0, (size_t)s->ng * sizeof *c->length);
  memset(c->longest, 0, (size_t)s->ng * sizeof *c->longest);
  const int rank = classify(integrator, sri_v(integrator), c->tau, NULL);
  if (rank < 0) {
    return sri_fail(
        integrator,
        "at t = %.9g the mass matrix is singular along a motion that the constraints allow: the accelerations "
        "are not determined",
        integrator->t);
  }
  count_rank(integrator, rank, c->trial);
  memcpy(c->kept, c->trial, (size_t)s->ng);
  set_rank(integrator, rank);
  // The sparse choice is not pivoted: independent equations, but maybe ill-conditioned ones.
  if (rank < c->nactive)
    (void)srm_rows_exchange(c->rows, metric_of(c), c->G, &(srmRowsChoice){.tau = c->tau, .scale = c->scale}, c->kept);
  c->chosen = true;
  c->u_known = false;
  c->sigma_chosen = c->sigma_most = -1;
  return SR_OK;
}

// Are more equations independent at the end of the step? Then they are added.
static bool rows_return(srIntegrator* integrator, double t, const double* v, double tau) {
  srConstrained* c = integrator->constrained;
  const int rank = classify(integrator, v, tau, c->kept);
  if (rank <= c->rank) return false;
  if (c->h_short > 0 && rank == c->rank_left && !c->start_singular) {
    sri_rank_event(integrator, integrator->t, SR_RANK_PASSED, rank, rank, -1);
  } else {
    ++integrator->stats.rank_changes;
    sri_rank_event(integrator, t, SR_RANK_RETURNED, c->rank, rank,
                   first_difference(integrator->system.ng, c->kept, c->trial));
  }
  memcpy(c->kept, c->trial, (size_t)integrator->system.ng);
  set_rank(integrator, rank);
  c->u_known = false;
  c->sigma_chosen = c->sigma_most = -1;
  return true;
}

// ---- end of a step ----------------------------------------------------------------------------------------------------

static int evaluate_metric(srIntegrator* integrator, double t) {
  srConstrained* c = integrator->constrained;
  // Methods that evaluate the dynamics themselves did so at the end of the step, or closer to it than its error.
  if (c->metric != SR_METRIC_MASS || c->index1) return SRI_DONE;
  return sri_dynamics(integrator, t, integrator->x_new, SR_TAU_ELEMENT, c->y_rate);
}

// Is x_new close enough to the constraints to stay unprojected? Then G, b, g there are left in c. Near a singular position drift
// would turn the intersection of two branches into a bend: there it is always projected.
static int within_violation(srIntegrator* integrator, double t, bool* within) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const double most = integrator->options.violation_most;
  *within = false;
  if (most <= 0 || integrator->project == SR_PROJECT_NONE || (c->sigma >= 0 && c->sigma < SIGMA_NEAR)) return SRI_DONE;
  const int outcome = sri_constraint(integrator, t, integrator->x_new, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  (void)sri_residual_velocity(integrator, integrator->x_new + s->nq);
  *within = sri_largest_of(c->kept, s->np, c->g) <= most && sri_largest_of(c->kept, s->ng, c->r) <= most;
  return SRI_DONE;
}

int sri_project_state(srIntegrator* integrator, double t, double* q, double* v) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const srProject what = integrator->project;
  bool moved = false;
  int outcome = SRI_DONE;
  if (s->np > 0 && (what == SR_PROJECT_POSITION || what == SR_PROJECT_BOTH))
    outcome = sri_project_position(integrator, t, q, &moved);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, q, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  // The factor of the position is that of a nearby state over the same equations, unless some have no position form.
  if ((!moved || s->np < s->ng) && !sri_factor_end(integrator, c->kept)) return SRI_REFUSED;
  if (what == SR_PROJECT_VELOCITY || what == SR_PROJECT_BOTH) sri_project_velocity(integrator, v);
  return SRI_DONE;
}

// Steps of fixed length whose ends are not projected need a factor there for sigma alone, which costs as much as the step itself: far
// from singular positions it is found at the end of every eighth step.
static bool sigma_rests(const srIntegrator* integrator) {
  const srConstrained* c = integrator->constrained;
  return integrator->ops->index1 && c->index1 && !sri_is_adaptive(integrator) && !integrator->options.partition &&
         integrator->project == SR_PROJECT_NONE && c->confirmed && c->sigma_age < SIGMA_RESTS &&
         c->sigma >= fmax(SIGMA_LEAST, SIGMA_FAR * c->sigma_most);
}

// Projects x_new as requested; G, b, g at the new q and, unless sigma rests, a factor near it are left in c.
static int project(srIntegrator* integrator, double t) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  double *q = integrator->x_new, *v = q + s->nq;
  bool within = false;
  if (integrator->options.partition) {
    const int solved = sri_partition_accept(integrator, t, q, v);
    if (solved != SRI_DONE) return solved;
  }
  if (c->sigma_rests) {
    c->projected = false;
    return sri_constraint(integrator, t, q, c->g, c->G, c->b);
  }
  int outcome = within_violation(integrator, t, &within);
  if (outcome != SRI_DONE) return outcome;
  c->projected = integrator->project > SR_PROJECT_NONE && !within;
  if (within) return sri_factor_end(integrator, c->kept) ? SRI_DONE : SRI_REFUSED;
  return sri_project_state(integrator, t, q, v);
}

// The equations in use may come near dependence where others, now left out, do not: an exchange at equal rank, between steps, is
// harmless. A lower rank here is a singular position, and no equation is dropped for that.
static bool exchange_rows(srIntegrator* integrator) {
  const int ng = integrator->system.ng;
  srConstrained* c = integrator->constrained;
  const srmRowsChoice choice = {.tau = c->tau, .scale = c->scale};
  memcpy(c->trial, c->kept, (size_t)ng);
  if (!srm_rows_exchange(c->rows, metric_of(c), c->G, &choice, c->kept)) {
    memcpy(c->kept, c->trial, (size_t)ng);
    return false;
  }
  if (sri_factor_end(integrator, c->kept)) return true;
  memcpy(c->kept, c->trial, (size_t)ng);
  return false;
}

// Sigma at the end of the step; equations are exchanged where it has fallen to half its value at their choice.
static void find_sigma(srIntegrator* integrator) {
  srConstrained* c = integrator->constrained;
  c->sigma = smallest_singular_value(c);
  if (c->sigma_chosen < 0) c->sigma_chosen = c->sigma;
  if (c->rank == c->nactive || c->sigma >= 0.5 * c->sigma_chosen || integrator->options.free_rows) return;
  c->rechosen = exchange_rows(integrator);
  if (c->rechosen) {
    c->u_known = false;
    c->sigma = smallest_singular_value(c);
  }
  c->sigma_chosen = c->sigma_most = c->sigma;
}

// Largest violation over the equations left out, relative to ten tolerances.
static double dropped_violation(srIntegrator* integrator, const double* q, const double* v) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const double error = 10 * integrator->options.geometry_error;
  const double most_g = fmax(ten_tolerances(integrator, sri_largest(s->nq, q)), error);
  const double most_v = fmax(ten_tolerances(integrator, sri_largest(s->nv, v)), error * fmax(1, sri_largest(s->nv, v)));
  double most = 0;
  for (int k = 0; k < s->ng; ++k) {
    if (c->kept[k] != 0) continue;
    if (k < s->np) most = fmax(most, fabs(c->g[k]) / most_g);
    most = fmax(most, fabs(c->r[k]) / most_v);
  }
  return most;
}

// The end of the first step with the equations of a start. Where more of them are independent than at the start, that was a singular
// position: a step of ordinary length with fewer equations has gone astray, and is repeated, no longer than needed to leave it.
static int confirm(srIntegrator* integrator, double t_new, const double* v) {
  srConstrained* c = integrator->constrained;
  const srIntegratorStats stats = integrator->stats;
  const int rank = c->rank, nevent = c->nevent;
  const double h = t_new - integrator->t;
  if (c->rank == c->nactive) return SRI_DONE;  // there are no more
  memcpy(c->before, c->kept, (size_t)integrator->system.ng);
  if (!rows_return(integrator, t_new, v, c->tau)) return SRI_DONE;
  const int outcome = project(integrator, t_new);
  if (outcome != SRI_DONE || c->h_short > 0 || !sri_is_adaptive(integrator)) return outcome;
  const double reach = h * REACH * c->tau / smallest_singular_value(c);
  if (!(reach < h)) return SRI_DONE;
  c->h_short = reach;
  c->rank_left = c->rank;
  c->start_singular = true;
  integrator->stats = stats;
  c->nevent = nevent;
  memcpy(c->kept, c->before, (size_t)integrator->system.ng);
  set_rank(integrator, rank);
  c->u_known = false;
  (void)snprintf(integrator->reason, sizeof integrator->reason, "the step begins in a singular position");
  return SRI_REFUSED;
}

// With g of the state in c; rate: the largest residual of the velocities.
static void note_violation(srIntegrator* integrator, double rate) {
  const srConstrained* c = integrator->constrained;
  srIntegratorStats* stats = &integrator->stats;
  if (integrator->system.np > 0)
    stats->violation_position = fmax(stats->violation_position, sri_largest(integrator->system.np, c->g));
  stats->violation_velocity = fmax(stats->violation_velocity, rate);
}

int sri_finish_constraints(srIntegrator* integrator, double t_new) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  srIntegratorStats* stats = &integrator->stats;
  const double *q = integrator->x_new, *v = q + s->nq;
  if (sri_is_free(integrator)) return SRI_DONE;
  const double off = c->index1 && integrator->ops->index1 ? sri_residual_acceleration(c) : 0;
  c->sigma_rests = sigma_rests(integrator);
  c->sigma_age = c->sigma_rests ? c->sigma_age + 1 : 0;
  int outcome = evaluate_metric(integrator, t_new);
  if (outcome == SRI_DONE) outcome = project(integrator, t_new);
  if (outcome != SRI_DONE) return outcome;
  if (!c->confirmed) outcome = confirm(integrator, t_new, v);
  if (outcome != SRI_DONE) return outcome;
  c->confirmed = true;
  const double rate = sri_residual_velocity(integrator, v);
  const double g = s->np > 0 ? sri_largest(s->np, c->g) : 0;
  outcome = sri_monitor_rows(integrator, t_new);
  if (outcome != SRI_DONE) return outcome;
  // An equation returns with a margin over the threshold by which it was dropped.
  const int rank = c->rank, nevent = c->nevent;
  if (c->rank < c->nactive && dropped_violation(integrator, q, v) > 1 &&
      rows_return(integrator, t_new, v, fmax(10 * c->tau, fmin(1e3 * g, 1e-2)))) {
    (void)snprintf(integrator->reason, sizeof integrator->reason, "a constraint that was redundant is so no more");
    outcome = sri_monitor_rise(integrator, rank);
    if (outcome == SRI_DONE) return SRI_REFUSED;
    c->nevent = nevent;
    return outcome;
  }
  c->rechosen = false;
  if (!c->sigma_rests) {
    find_sigma(integrator);
    outcome = sri_monitor_correction(integrator, t_new);
    if (outcome != SRI_DONE) return outcome;
    sri_monitor_passing(integrator, t_new);
  }
  note_violation(integrator, rate);
  stats->violation_acceleration = fmax(stats->violation_acceleration, off);
  stats->projections += c->projected;
  return SRI_DONE;
}

srStatus sri_put_on_constraints(srIntegrator* integrator, double t, double* q, double* v, const double* y) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const bool asked = integrator->ops->method.index > 1 ? integrator->options.project != SR_PROJECT_NONE
                                                       : integrator->project > SR_PROJECT_NONE;
  if (c == NULL || !asked || sri_is_free(integrator)) return SR_OK;
  double* x = integrator->x_new;
  memcpy(x, q, (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, v, (size_t)s->nv * sizeof *x);
  if (s->ny > 0) memcpy(x + s->nq + s->nv, y, (size_t)s->ny * sizeof *x);
  int outcome = s->dynamics != NULL ? sri_dynamics(integrator, t, x, SR_TAU_ELEMENT, c->y_rate) : SRI_DONE;
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, x, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return SR_FAILED;
  // Independent equations of this state only: those in use are kept, and near a singular position not all of them are suitable.
  const srmRowsChoice choice = {.tau = PLACE_TAU};
  if (srm_rows_classify(c->rows, metric_of(c), c->G, &choice, c->trial) < 0) return SR_FAILED;
  memcpy(c->before, c->kept, (size_t)s->ng);
  memcpy(c->kept, c->trial, (size_t)s->ng);
  bool moved = false;
  if (s->np > 0) outcome = sri_project_position(integrator, t, x, &moved);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, x, c->g, c->G, c->b);
  if (outcome == SRI_DONE && !sri_factor_end(integrator, c->kept)) outcome = SRI_REFUSED;
  if (outcome == SRI_DONE) sri_project_velocity(integrator, x + s->nq);
  memcpy(c->kept, c->before, (size_t)s->ng);
  if (outcome != SRI_DONE) return SR_FAILED;
  memcpy(q, x, (size_t)s->nq * sizeof *x);
  memcpy(v, x + s->nq, (size_t)s->nv * sizeof *x);
  note_violation(integrator, sri_residual_velocity(integrator, v));
  return SR_OK;
}

// ---- what can be asked ------------------------------------------------------------------------------------------------

const srRankEvent* sri_rank_events(const srIntegrator* integrator, int* count) {
  *count = integrator->constrained != NULL ? integrator->constrained->nevent : 0;
  return integrator->constrained != NULL ? integrator->constrained->event : NULL;
}

const unsigned char* sri_dependent(srIntegrator* integrator) {
  srConstrained* c = integrator->constrained;
  if (c == NULL || c->partition == NULL || sri_choose_rows(integrator) != SR_OK) return NULL;
  sri_partition_mark(c->partition, c->dependent);
  return c->dependent;
}

const unsigned char* sri_kept_rows(const srIntegrator* integrator) {
  return integrator->constrained != NULL && integrator->constrained->rank >= 0 ? integrator->constrained->kept : NULL;
}

srStatus sri_dependence(srIntegrator* integrator, int row, double* coefficient) {
  srConstrained* c = integrator->constrained;
  if (c == NULL || !integrator->started || row < 0 || row >= integrator->system.ng) return SR_INPUT;
  const srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (c->kept[row] != 0 || c->active[row] == 0) return SR_INPUT;
  srm_rows_dependence(c->rows, row, coefficient);
  return SR_OK;
}

srStatus sri_multipliers(srIntegrator* integrator, double* lambda, unsigned char* unique) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  if (c == NULL || !integrator->started || s->dynamics == NULL) return SR_INPUT;
  srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  const double t = integrator->t, *x = integrator->x, *v = sri_v(integrator);
  int outcome = sri_dynamics(integrator, t, x, SR_TAU_ELEMENT, c->y_rate);
  if (outcome == SRI_DONE) outcome = sri_gamma(integrator, t, x, v, c->gamma);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, x, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return sri_fail(integrator, "the multipliers could not be evaluated at t = %.9g", t);
  // The same equations as in the steps, with their dependence at this state.
  (void)sri_residual_velocity(integrator, v);
  srmRowsChoice choice = {.tau = c->tau, .first = c->kept, .scale = c->scale};
  const int rank = srm_rows_classify(c->rows, metric_of(c), c->G, &choice, c->trial);
  ++integrator->stats.factorizations;
  if (rank < 0 || !srm_saddle_factor(c->stage, c->M, s->D_differs ? c->D : NULL, c->G, c->trial)) {
    return sri_fail(integrator, "the multipliers are not determined at t = %.9g", t);
  }
  srm_saddle_solve(c->stage, c->f, c->gamma, c->dv, lambda);
  if (!s->D_differs) srm_rows_least_norm(c->rows, lambda);
  if (unique != NULL) srm_rows_unique(c->rows, unique);
  for (int k = 0; unique != NULL && k < s->ng; ++k) unique[k] = unique[k] != 0 || c->active[k] == 0;
  return SR_OK;
}
