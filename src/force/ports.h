// Ports: motion from the kinematics to a force law, and its force back to the links.
#ifndef SR_FORCE_PORTS_H
#define SR_FORCE_PORTS_H

#include <sarrus/model.h>

typedef struct srPortMotion {
  double x[6], xdot[6];          // as defined by srPort
  double at[2][3];               // where the force acts on a and on b (a point alone: [0]), ground axes
  double direction[3];           // SR_PORT_DISTANCE: unit vector from a to b, ground axes
  _Alignas(32) double axes[16];  // SR_PORT_FRAMES: rotation of frame a, as a pose
  const double* formula;         // SR_PORT_GAP: values of its formulas
} srPortMotion;

typedef struct srPointState {  // a point of the model in ground axes
  double p[3], w[3], v[3];
} srPointState;
void sr_port_point(const srModel* m, const srData* d, int point, srPointState* out);

int sr_port_width(srPort port);  // 1, 2 or 6: how many of x, xdot, f there are

// Motion at the port of an element; needs the velocity stage. > 0 when it is undefined: then d->error_message has the
// message.
int sr_port_motion(const srModel* m, srData* d, const srForceElement* element, srPortMotion* out);

// Adds the force of an element to d->f (joints) or to d->link_wrench (all others), the reaction too.
void sr_port_force(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                   const double* f);
// Of a gap by formula: what acts on the frames of its sensors.
void sr_port_gap_wrenches(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                          const double* f);

// Adds a moment and a force at a point in the ground frame, inertial axes, to the link that carries a point.
void sr_port_wrench(const srModel* m, srData* d, int point, const double* at, const double* moment, const double* force,
                    double sign);

// f_i += S_i^T W_i from the tips to the ground, W carried to the parent. d->link_wrench is consumed.
void sr_gather_wrenches(const srModel* m, srData* d);

#endif
