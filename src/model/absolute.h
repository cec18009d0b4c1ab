// Compiling a spec in another formulation: what sr_formulate passes to the compiler.
#ifndef SR_MODEL_ABSOLUTE_H
#define SR_MODEL_ABSOLUTE_H

#include <sarrus/model.h>

// Initial state, from the relative model.
typedef struct srAbsolute {
  srFormulation formulation;          // absolute or penalty
  double t;                           // s
  const double* q;                    // 7 per body: position, quaternion of its frame in the ground's
  const double* v;                    // 6 per body: angular velocity, velocity of its origin, in its axes
  const double *jq, *jv;              // joint coordinates
  const struct srModelPrivate* tree;  // of the relative model: the inertias of its coordinates
} srAbsolute;

#endif
