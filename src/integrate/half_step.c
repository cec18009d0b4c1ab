// One half-explicit solve, for hem5 and phem56. The equations in use are the same in all stages (rank.c), but for the option free_rows.
#include "integrate/half_step.h"

#include <stdio.h>

// Equations chosen in each stage separately: what the fixed set improves on (Haddouni et al. 2017, section 4.5).
static int choose_in_stage(srIntegrator* integrator, int number) {
  srConstrained* c = integrator->constrained;
  const srmRowsChoice choice = {.tau = 1e-8};
  const int rank = srm_rows_classify(c->rows, c->M, c->G, &choice, c->kept);
  const int before = c->rank;
  if (rank == before) return SRI_DONE;
  (void)snprintf(integrator->reason, sizeof integrator->reason,
                 "the rank of the constraints is %d in stage %d and %d in stage %d", before, number, rank, number + 1);
  return SRI_STOP;
}

int sri_half_step(srIntegrator* integrator, const srHalfStep* step) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  int outcome = sri_dynamics(integrator, step->t, step->x, SR_TAU_ELEMENT, step->k + s->nq + s->nv);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, step->t_next, step->q_next, NULL, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  if (integrator->options.free_rows && step->number > 0) outcome = choose_in_stage(integrator, step->number);
  if (outcome != SRI_DONE) return outcome;
  (void)sri_residual_velocity(integrator, step->v_known);
  for (int k = 0; k < s->ng; ++k) c->r[k] /= -step->factor;
  ++integrator->stats.factorizations;
  if (!srm_saddle_factor(c->stage, c->M, s->D_differs ? c->D : c->G_stage, c->G, c->kept)) {
    (void)snprintf(integrator->reason, sizeof integrator->reason, "the constraints are singular in a stage");
    return SRI_REFUSED;
  }
  integrator->stats.factor_entries = (long)srm_saddle_fill(c->stage);
  srm_saddle_solve(c->stage, c->f, c->r, step->k + s->nq, c->lambda);
  return sri_power(integrator, step->t, step->x, c->lambda, c->other, step->k + integrator->ncontrol);
}

void sri_combine_velocity(const srIntegrator* integrator, const double* x, double h, int count, const double* a,
                          double* const* k, double* out) {
  const int first = integrator->system.nq, end = first + integrator->system.nv;
  for (int i = first; i < end; ++i) {
    double sum = 0.0;
    for (int j = 0; j < count; ++j) sum += a[j] * k[j][i];
    out[i] = x[i] + h * sum;
  }
}

void sri_swap_rows(srConstrained* c) {
  double* const G = c->G_stage;
  c->G_stage = c->G;
  c->G = G;
}
