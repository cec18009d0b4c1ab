// Forces within friction cones that satisfy linear equations.
#ifndef SR_ANALYSIS_CONE_FORCES_H
#define SR_ANALYSIS_CONE_FORCES_H

#include "analysis/linear_basis.h"

// A contact among the unknowns: its normal force, then `tangents` tangential ones.
typedef struct srForceCone {
  int first, tangents;
  double mu;
  double limit;  // > 0: no contact but one force of at most this size: dry friction of a joint
} srForceCone;

// p (columns of `rows`) with  A p = b  in its independent equations and  |p_T| <= mu p_N  for all cones: the one of least norm where that is inside, else one near it. size: of the
// forces. False: there is none; *worst is then the cone that is violated most by forces that satisfy the equations, which p has.
bool sr_cone_forces(srPool* pool, const srRowBasis* rows, const double* A, int nrow, const double* b,
                    const srForceCone* cone, int ncone, double size, double* p, int* worst);

#endif
