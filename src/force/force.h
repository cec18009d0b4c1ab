// What the folders above use of the force elements in addition to sr_forces and sr_forward.
#ifndef SR_FORCE_INTERNAL_H
#define SR_FORCE_INTERNAL_H

#include <sarrus/dynamics.h>

#include "expr/expr.h"
#include "model/private.h"

// Inputs of the law program at d's state, measured.
static inline srInputs sr_law_inputs(const srData* d) {
  return (srInputs){
      .t = d->t, .q = d->jq, .v = d->jv, .state = d->y, .sensor = d->sensor, .arg = d->distance_arg, .held = d->held};
}

// Is its force at rest not a function of the motion? Friction of a joint by such a law is solved with the motion, as rigid contact.
static inline bool sr_is_set_valued(const srForceElement* e) {
  return e->contact != NULL && e->contact->law == NULL && e->contact->slip.law->set_valued;
}

// Is it a rigid contact or set-valued friction, which has no force law in a run with rigid contact?
static inline bool sr_force_is_rigid(const srData* d, const srForceElement* e) {
  return d->rigid && e->contact != NULL && (e->contact->law != NULL || sr_is_set_valued(e));
}

// Does nothing but tau act, and what the run itself adds? Then no element needs to be evaluated.
static inline bool sr_only_tau(const srModel* m, const srData* d) { return d->rigid && m->priv->only_contacts; }

// Motion of the drivers at d->t: d->motion.
void sr_driver_motion(const srModel* m, srData* d);

// The scalars of frame sensors that formulas use, at d's state: d->sensor. Needs the velocity stage.
void sr_sense(const srModel* m, srData* d);

// Inputs of force-law formulas other than the coordinates: sensors and distances of points. Needs the velocity stage; > 0: d->error_message.
int sr_measure_arguments(const srModel* m, srData* d);
// All inputs of force laws other than the coordinates: sensors, distances of points, formulas. Needs the velocity stage; > 0: d->error_message.
int sr_measure(const srModel* m, srData* d);

// Energy stored in the force elements at d's state; needs the velocity stage.
double sr_stored_energy(const srModel* m, srData* d);

// Adds the forces of all elements that act on bodies (not inside joints) to wrench: 6 numbers per body, moment about the
// ground's origin and force, inertial axes. Needs the velocity stage and the results of sr_forces; overwrites link_wrench.
int sr_body_forces(const srModel* m, srData* d, double* wrench);

// One element at d's state, with its own time constant. Needs the velocity stage and the results of sr_forces; rewrites its rates in d->ydot.
struct srPortMotion;
typedef struct srElementForce {
  double f[6];                              // as defined by srPort
  double power;                             // f . x': what it gives to the motion, W
  double dissipated, friction_dissipation;  // as srImpedanceOut
  double driven;                            // as srImpedanceOut
  double energy;                            // stored, J
} srElementForce;
int sr_element_force(const srModel* m, srData* d, const srForceElement* element, struct srPortMotion* motion,
                     srElementForce* out);
// What its law is given there.
srImpedanceIn sr_element_input(const srData* d, const srForceElement* element, const struct srPortMotion* motion);

// A soft closure (penalty formulation) at d's state: its wrench over the twist that its equations act on. soft.c
typedef struct srSoft {
  double wrench[6];            // moment, force
  double lambda[6];            // forces of its equations
  double energy, dissipation;  // J, W
  double gap;                  // largest residual, m or rad
} srSoft;
int sr_soft_closure(const srModel* m, srData* d, const srClosure* c, srSoft* out);
int sr_soft_closures(const srModel* m, srData* d);  // all of them: to link_wrench, power and soft_energy

// The element whose force on a velocity coordinate is largest, and that force, for messages. -1: none acts on it.
// Needs the velocity stage and the results of sr_forces; overwrites d->f, ydot, power and link_wrench.
int sr_force_source(const srModel* m, srData* d, int dof, double* force);

#endif
