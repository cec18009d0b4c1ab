// Coefficients of HEM5.
#ifndef SR_INTEGRATE_HEM5_H
#define SR_INTEGRATE_HEM5_H

#include "integrate/integrator.h"

typedef struct srHem5Tableau {
  double c[9];
  double a[9][8];  // row 9: the weights b
} srHem5Tableau;

// The extra stage of dense output, from stages 6 and 7 and the end of the step.
typedef struct srHem5Extra {
  double c, a[3];
} srHem5Extra;

extern const srHem5Tableau sri_hem5_tableau;
extern const srHem5Extra sri_hem5_extra;
extern const double
    sri_hem5_dense[4][6];  // weights of dense output: powers theta .. theta^4, stages 4..8 and the extra one

#endif
