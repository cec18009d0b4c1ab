// Residuals of the constraint equations at acceleration level.
#ifndef SR_SIMULATE_ROWS_H
#define SR_SIMULATE_ROWS_H

#include <sarrus/simulate.h>

// The largest of |G a - gamma| at d's state (sr_velocity done), with the accelerations a of a method; NULL: 0.
double sr_acceleration_residual(const srModel* m, srData* d, const double* a);
// At the start, d evaluated: the first equation whose acceleration contradicts those it depends on, -1: none. *has, *wants: G a, gamma.
int sr_contradicting_row(const srModel* m, const srData* d, double* has, double* wants);

#endif
