// Steps of fixed length for explicit Runge-Kutta methods.
#ifndef SR_INTEGRATE_FIXED_H
#define SR_INTEGRATE_FIXED_H

#include "integrate/explicit.h"

// Private work of a fixed-step method.
typedef struct srFixed {
  srRungeKutta rk;
  bool closes;      // evaluates the rates at the end of the step, for dense output
  double t_origin;  // the grid is t_origin + count*step
  long count;
} srFixed;

void sri_fixed_start(srIntegrator* integrator);
srStatus sri_fixed_step(srIntegrator* integrator, double t_limit);

#endif
