// Dormand-Prince 5(4): coefficients, and the parts that mdop5 shares.
#ifndef SR_INTEGRATE_DOPRI5_H
#define SR_INTEGRATE_DOPRI5_H

#include "integrate/control.h"
#include "integrate/explicit.h"
#include "integrate/stiffness.h"

extern const srTableau sri_dopri5_tableau;
extern const double sri_dopri5_error[7];  // b - bhat: error estimate
extern const double sri_dopri5_dense[7];  // d: dense output of order 4

typedef struct srDopri5 {
  srRungeKutta rk;
  srControl control;
  srStiffness stiffness;
} srDopri5;

size_t sri_dopri5_room(const srSystem* system, int n);
void sri_dopri5_init(srIntegrator* integrator);
void sri_dopri5_start(srIntegrator* integrator);
srStatus sri_dopri5_step(srIntegrator* integrator, double t_limit);
void sri_dopri5_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out);

#endif
