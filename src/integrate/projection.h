// Drift control by projection: position on g = 0, velocity on G v + b = 0, with least change.
#ifndef SR_INTEGRATE_PROJECTION_H
#define SR_INTEGRATE_PROJECTION_H

#include "integrate/constrained.h"

// Puts q on g = 0 over the equations in use that have a position form. *moved: q changed. c->M is the metric where
// that is the mass. Leaves c->end factored at the old q when *moved or not needed at all: see projection.c.
int sri_project_position(srIntegrator* integrator, double t, double* q, bool* moved);
// Puts v on G v + b = 0 over the equations in use; c->G and c->b are those at q, and c->end is factored near q.
void sri_project_velocity(srIntegrator* integrator, double* v);
// Both as requested; G, b, g at the new q and a factor near it are left in c. rank.c
int sri_project_state(srIntegrator* integrator, double t, double* q, double* v);
int sri_move_positions(srIntegrator* integrator, double* q);  // q = q (+) c->dv
// c->end = [N -G^T; G 0] over the selected rows (ng). False: singular.
bool sri_factor_end(srIntegrator* integrator, const unsigned char* rows);

#endif
