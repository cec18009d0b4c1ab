// Coefficients of the classical Runge-Kutta method.
#ifndef SR_INTEGRATE_RK4_H
#define SR_INTEGRATE_RK4_H

#include "integrate/explicit.h"

extern const srTableau sri_rk4_tableau;

#endif
