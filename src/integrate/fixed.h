// Steps of fixed length: the grid that all methods share, and the explicit Runge-Kutta methods that have no other.
#ifndef SR_INTEGRATE_FIXED_H
#define SR_INTEGRATE_FIXED_H

#include "integrate/explicit.h"

// Times t_origin + count*step.
typedef struct srGrid {
  double t_origin;
  long count;
} srGrid;

void sri_grid_start(srGrid* grid, double t);
// End of the next step, with options.step; *h is its length.
double sri_grid_next(const srGrid* grid, const srIntegrator* integrator, double t_limit, double* h);
// After a step to integrator->t: a limit that was reached is the origin of a new grid.
void sri_grid_taken(srGrid* grid, const srIntegrator* integrator, double t_limit);
// The message after a failed step.
srStatus sri_grid_failed(srIntegrator* integrator, double t_new, int outcome);

// Private work of a fixed-step method.
typedef struct srFixed {
  srRungeKutta rk;
  bool closes;  // evaluates the rates at the end of the step, for dense output
  srGrid grid;
} srFixed;

void sri_fixed_start(srIntegrator* integrator);
srStatus sri_fixed_step(srIntegrator* integrator, double t_limit);

#endif
