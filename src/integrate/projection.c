// Projection on the constraints, Haddouni et al. (2017), eq. 35 and 36:
//   N dq + G^T mu = 0, g(q (+) dq) = 0          Newton with G and N held; reevaluated where it converges slowly
//   N dv + G^T eta = 0, G (v + dv) + b = 0
// N is M or the identity. Positions move by `retract` where the system has one, else by q + H(q) dq. Only the equations in use
// take part, so that redundant ones do no harm; velocity equations (np and beyond) do not affect the positions.
#include "integrate/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/control.h"

#define ITERATIONS 12

bool sri_factor_end(srIntegrator* integrator, const unsigned char* rows) {
  srConstrained* c = integrator->constrained;
  const double* metric = c->metric == SR_METRIC_MASS ? c->M : NULL;
  ++integrator->stats.factorizations;
  c->singular = !srm_saddle_factor(c->end, metric, NULL, c->G, rows);
  if (!c->singular || sri_is_adaptive(integrator)) return !c->singular;
  // Steps of fixed length may end in a singular position: there one equation less counts.
  const srmRowsChoice choice = {.tau = c->tau, .scale = c->scale};
  if (srm_rows_classify(c->rows, metric, c->G, &choice, c->trial) < 0) return false;
  for (int k = 0; k < c->shape.ng; ++k) c->trial[k] = c->trial[k] != 0 && rows[k] != 0;
  return srm_saddle_factor(c->end, metric, NULL, c->G, c->trial);
}

int sri_move_positions(srIntegrator* integrator, double* q) {
  srConstrained* c = integrator->constrained;
  const int outcome = sri_retract(&integrator->system, q, c->dv, c->q);
  if (outcome == SRI_DONE) sri_copy(q, c->q, integrator->system.nq);
  return outcome;
}

int sri_project_position(srIntegrator* integrator, double t, double* q, bool* moved) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  *moved = false;
  for (int k = 0; k < s->ng; ++k) c->position[k] = k < s->np && c->kept[k] != 0;
  int outcome = sri_constraint(integrator, t, q, c->g, c->G, NULL);
  if (outcome != SRI_DONE) return outcome;
  // Lengths are of the size of q, or of 1 where q is small: below this g is rounding.
  const double rounding = 4 * DBL_EPSILON * fmax(1, sri_largest(s->nq, q));
  double now = sri_largest_of(c->position, s->np, c->g);
  bool fresh = false;
  for (int i = 0; now > rounding && i < ITERATIONS; ++i) {
    if (!fresh && !sri_factor_end(integrator, c->position)) return SRI_REFUSED;
    fresh = true;
    for (int k = 0; k < s->ng; ++k) c->r[k] = k < s->np ? -c->g[k] : 0;
    srm_saddle_solve(c->end, NULL, c->r, c->dv, NULL);
    outcome = sri_move_positions(integrator, q);
    *moved = true;
    const double before = now;
    // G is reevaluated only where the first iteration did not suffice: otherwise it is held.
    if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, q, c->g, NULL, NULL);
    if (outcome != SRI_DONE) return outcome;
    now = sri_largest_of(c->position, s->np, c->g);
    if (!isfinite(now)) return SRI_NOT_FINITE;
    if (now > 0.5 * before && now < 1e3 * rounding) break;  // rounding of g itself
    if (now > 0.05 * before) {
      outcome = sri_constraint(integrator, t, q, NULL, c->G, NULL);
      if (outcome != SRI_DONE) return outcome;
      fresh = false;
    }
  }
  return now <= 1e-6 * fmax(1, sri_largest(s->nq, q)) ? SRI_DONE : SRI_REFUSED;
}

void sri_project_velocity(srIntegrator* integrator, double* v) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  // Twice where the factor is that of a nearby state: the second pass removes what the first has left.
  for (int i = 0; i < 3; ++i) {
    (void)sri_residual_velocity(integrator, v);
    if (sri_largest_of(c->kept, s->ng, c->r) <= 2 * DBL_EPSILON * fmax(1, sri_largest(s->nv, v))) return;
    for (int k = 0; k < s->ng; ++k) c->r[k] = -c->r[k];
    srm_saddle_solve(c->end, NULL, c->r, c->dv, NULL);
    for (int j = 0; j < s->nv; ++j) v[j] += c->dv[j];
  }
}
