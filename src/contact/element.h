// Friction and contact as force elements: what compile, the run and the tangent use of this folder.
#ifndef SR_CONTACT_ELEMENT_H
#define SR_CONTACT_ELEMENT_H

#include <sarrus/laws.h>
#include <sarrus/model.h>

// One evaluation of a friction law for an element, and its derivatives.
typedef struct srFrictionForce {
  double f[SR_FRICTION_MAX_N];  // resists
  double dissipation;
  bool sticks;
} srFrictionForce;
// N: factor of the limits, 1 for a joint. edot: rates of its states.
int sr_friction_force(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                      srFrictionForce* out, double* edot);
double sr_friction_force_energy(const srDryFriction* x, const double* v, const double* e, double tau);
// slope: (n + ne) x (n + ne + 1), row-major: derivative of (f, edot) by (v, e, N).
int sr_friction_force_jacobian(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                               double* jacobian);
#define SR_FRICTION_FORCE_MOST (SR_FRICTION_MAX_N * (1 + SR_FRICTION_MAX_ELEMENTS))  // n + ne
#define SR_FRICTION_FORCE_WORK 24576  // doubles for the derivative of the largest law, iwan with all its elements
#define SR_PRESS_WORK 128

// Normal force at penetration d with rate ddot; z: discrete states of the element, NULL: none.
int sr_normal_force(const srSurfaceLaws* c, double d, double ddot, const double* z, srNormalOut* out);
// Its derivatives by d and ddot.
int sr_normal_force_jacobian(const srSurfaceLaws* c, double d, double ddot, const double* z, double jacobian[2]);
double sr_normal_force_energy(const srSurfaceLaws* c, double d, const double* z);

// Gap and its rate of an element that is a contact, at the motion of its port.
void sr_contact_gap(const srSurfaceLaws* c, const srImpedanceIn* in, double* gap, double* rate);

// A contact at the motion of its port, for those who record it. Vectors of shapes are in the axes of a; of a gap by formula and of the end
// of a joint only [0] is used: along the slip.
typedef enum srContactState { SR_CONTACT_OPEN, SR_CONTACT_STICKS, SR_CONTACT_SLIDES } srContactState;
typedef struct srContactForce {
  double gap;            // > 0 apart
  double normal;         // force, >= 0
  double n[3];           // from a to b
  double friction[3];    // force on b
  double slip[3];        // velocity of b relative to a at the contact
  srContactState state;  // without friction it slides
} srContactForce;
// ydot: memory for the rates of its states.
int sr_contact_force(const srForceElement* element, const srImpedanceIn* in, double* ydot, srContactForce* out);
int sr_contact_shapes_force(const srImpedanceIn* in, double* ydot, srContactForce* out);  // shapes.c

#endif
