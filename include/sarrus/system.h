// The model as the equations that integrators see: connects the model to the system interface of integrate.h.
#ifndef SARRUS_SYSTEM_H
#define SARRUS_SYSTEM_H

#include <sarrus/dynamics.h>
#include <sarrus/integrate.h>
#include <sarrus/record.h>

#ifdef __cplusplus
extern "C" {
#endif

// The model as the equations that integrators see. What the callbacks work on must outlive the system.
typedef struct srModelSystem {
  const srModel* m;
  srData* d;                       // their workspace; tau in it is applied throughout
  struct srModelTangent* tangent;  // exact derivatives for implicit methods; NULL: the system offers none
  const srMeter*
      meter;  // nmeter: the quadratures behind those of the energy balance; element_power of d must be there for elements
  int nmeter;
  bool sparse;  // M and G of a tree by their patterns too, where it has contact sets; of other models they are anyway
  bool points;  // contacts by their points, where all links are free bodies; sr_system clears it where they are not
  const int* asleep;     // nv: those that are not 0 do not move (srSystem.sleep); NULL: none
  const double* w_most;  // as in srSystem
  double* y_most;        // memory for the largest errors of states (ny); NULL: bristles have no bounds of their own
  // Filled by the callbacks, largest over accepted steps: for trees, of the driven coordinates before they are put back on their
  // motion; of springs that represent joints.
  double violation_position, violation_velocity;
  srSparsity M_sparsity, G_sparsity;
} srModelSystem;
SR_API srSystem sr_system(srModelSystem* user);

// Pattern and memory of the exact tangent of a model (docs/theory/tangent.md), for one srModelSystem at a time. The model must outlive
// it. NULL: out of memory.
typedef struct srModelTangent srModelTangent;
SR_API srModelTangent* sr_tangent_create(const srModel* m);
SR_API void sr_tangent_destroy(srModelTangent* tangent);

#ifdef __cplusplus
}
#endif
#endif
