// The matrix of a step whose forces are taken at its end, or between its ends, to first order: for methods that solve for the velocity at the end of a step.
#ifndef SR_INTEGRATE_STEP_MASS_H
#define SR_INTEGRATE_STEP_MASS_H

#include "integrate/tangent.h"

typedef struct srStepMass srStepMass;

// Needs the system's `tangent`. NULL: out of memory.
srStepMass* sri_step_mass_create(const srSystem* system);
void sri_step_mass_destroy(srStepMass* mass);
// Of A, with the diagonal and all entries of M; NULL: dense, row-major. It lives as long as mass.
const srSparsity* sri_step_mass_pattern(const srStepMass* mass);
const double* sri_step_mass_values(const srStepMass* mass);  // A
// The derivatives of the forces at the packed state x. Outcomes as in explicit.h.
int sri_step_mass_tangent(srIntegrator* integrator, srStepMass* mass, double t, const double* x);
// A from M of the same state, as `dynamics` writes it; f (nv) to the right side of a = (v_1 - v_0)/h; v: at the start of the step; v_at: of the state of f and the
// derivatives.
void sri_step_mass_set(srStepMass* mass, const srSystem* system, double h, double theta, const double* M,
                       const double* v, const double* v_at, double* f);

#endif
