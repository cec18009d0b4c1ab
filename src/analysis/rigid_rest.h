// Closed rigid contacts of a model at rest, as rows for its linear equations.
#ifndef SR_ANALYSIS_RIGID_REST_H
#define SR_ANALYSIS_RIGID_REST_H

#include "analysis/rest.h"

typedef struct srRigidRows {
  int n;
  double* W;  // n x nv: normal of each closed contact, and its tangents where friction may hold it
  double* p;  // n: their forces
  double*
      turned;  // nv x nv: d(W^T p)/dq with p held, along the motions that W and the constraints allow; NULL: not known
  double* lambda;  // ng: multipliers of the constraint equations
  bool loose;      // do contacts without force hold a motion?
} srRigidRows;

// Of sr_rest_rigid_create; NULL: of contacts by force laws.
const srRigidRows* sr_rigid_rows(const srRest* rest);

#endif
