// Coefficients of the Dormand-Prince 5(4) pair.
#ifndef SR_INTEGRATE_DOPRI5_H
#define SR_INTEGRATE_DOPRI5_H

#include "integrate/explicit.h"

extern const srTableau sri_dopri5_tableau;
extern const double sri_dopri5_error[7];  // b - bhat: error estimate
extern const double sri_dopri5_dense[7];  // d: dense output of order 4

#endif
