// Coefficients of PHEM56 beyond those of dopri5.
#ifndef SR_INTEGRATE_PHEM56_H
#define SR_INTEGRATE_PHEM56_H

#include "integrate/control.h"
#include "integrate/explicit.h"

#define SRI_PHEM56_STAGES 7

// Where the constraint of a stage holds: Q~_i = q_0 + h sum_{j<=i} a~_ij q'_j at t_0 + c~_i h. Row 1 is not used; row 6 is b.
typedef struct srPhem56Tableau {
  double c[SRI_PHEM56_STAGES];
  double a[SRI_PHEM56_STAGES][SRI_PHEM56_STAGES];
} srPhem56Tableau;

extern const srPhem56Tableau sri_phem56_tableau;
extern const double sri_phem56_dense[SRI_PHEM56_STAGES];  // d: dense output of order 4

#endif
