// Coefficients of HEM5.
#ifndef SR_INTEGRATE_HEM5_H
#define SR_INTEGRATE_HEM5_H

#include "integrate/integrator.h"

typedef struct srHem5Tableau {
  double c[9];
  double a[9][8];  // row 9: the weights b
} srHem5Tableau;

extern const srHem5Tableau sri_hem5_tableau;
extern const double
    sri_hem5_dense[4][6];  // weights of dense output: powers theta .. theta^4, stages 4..8 and the extra one

#endif
