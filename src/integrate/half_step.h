// What the half-explicit methods share: one solve with M, f, D of a stage and G of another position.
#ifndef SR_INTEGRATE_HALF_STEP_H
#define SR_INTEGRATE_HALF_STEP_H

#include "integrate/constrained.h"

//   [ M(x)       -D(x)^T ] [ A ]   [ f(x) ]
//   [ G(q_next)     0    ] [ L ] = [  r   ]        r: G(q_next) (v_known + factor A) + b(q_next) = 0
// The state of the stage is x: its M, f, D and y' are evaluated here; where D is not written by the system it is the G of the
// stage, which is in c->G_stage. Writes v', y' and w' of the rates k; q' is the caller's. G of q_next is left in c->G, the
// multipliers in c->lambda.
typedef struct srHalfStep {
  int number;  // of the stage, from 1; 0: equations are not chosen in it even where requested
  double t, t_next;
  const double *x, *q_next, *v_known;
  double factor;
  double* k;
} srHalfStep;

int sri_half_step(srIntegrator* integrator, const srHalfStep* step);
// The velocities in out: x + h sum a_j k_j, j < count.
void sri_combine_velocity(const srIntegrator* integrator, const double* x, double h, int count, const double* a,
                          double* const* k, double* out);
// The G that a solve used as that of the next position is now the G of the stage.
void sri_swap_rows(srConstrained* c);

#endif
