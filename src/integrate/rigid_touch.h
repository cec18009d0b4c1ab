// Contacts that touch at an event, for the files of sri_rigid_settle.   rigid_touch.c which, their velocities and parts | rigid_impact.c impacts | rigid_status.c statuses |
// rigid_stop.c slip that ends in space | rigid_accumulation.c the end of accumulations | rigid_place.c what stays closed
#ifndef SR_INTEGRATE_RIGID_TOUCH_H
#define SR_INTEGRATE_RIGID_TOUCH_H

#include "integrate/rigid.h"

struct srTouch {
  long id;
  int was;  // closed contact, -1: it was open
  srRigidStatus before, status;
  double mu, mu_static, restitution;
  double clamp;           // as in srClosed
  int work;               // the same
  bool held;              // a clamp that the equations leave no mobility
  bool planar, still;     // still: without slip, it may stick
  bool missed, straight;  // as in srClosed
  double t_missed;
  double line[2];                       // direction of a slip that is held
  double along[2], s[2], slip, normal;  // s: slip; normal: normal velocity
  double mobility;                      // the least of A_TT, over directions
  double drift[3];
  double force[3];
  bool closed, shock;
  bool hops;   // it would not hop high, and
  double end;  // its impacts would have ended then
};
typedef struct srTouch srTouch;

int sri_rigid_fail(srRigid* x, const char* sentence);  // -1
void sri_rigid_tell(srRigid* x, const srRigidEvent* event);

// ---- rigid_touch.c
int sri_touch_collect(srRigid* x, double t);                           // x->touch. < 0: too many
const srUnilateral* sri_touch_contact(srRigid* x, const srTouch* at);  // as listed; NULL: not any more
void sri_touch_velocities(srRigid* x, const double* v);                // of all of them
void sri_touch_part(srRigid* x, srTouch* at, srRigidPart* out);        // as a cone
void sri_touch_build(srRigid* x);  // all contacts as cones, without clamps: x->part in their order

// ---- rigid_impact.c
int sri_rigid_strike(srRigid* x, double t, double* v);         // after sri_touch_build
double sri_rigid_kinetic_change(srRigid* x, const double* v);  // from x->v_new to v: (v + v_new).M (v - v_new)/2

// ---- rigid_status.c
int sri_touch_drifts(srRigid* x, double t, const double* q, const double* v);  // rates of the rows of all of them
void sri_touch_build_closed(srRigid* x);  // parts of the closed ones; x->owner: their places among the touching ones
int sri_touch_solve_closed(srRigid* x);   // their forces, and accelerations into x->rhs
void sri_touch_decide(srRigid* x);        // statuses of that solution
// Statuses from the accelerations at a later state of the old motion; then the contacts of the event are listed again.
int sri_touch_decide_ahead(srRigid* x, double t, const double* q, const double* v, const double* y,
                           const signed char* cause);

// ---- rigid_stop.c
void sri_touch_stop(srRigid* x, double t, const double* q, double* v,
                    int i);  // touching contact i has little slip left

// ---- rigid_accumulation.c
// Closes contacts that would not hop high. Accelerations are those of the closed ones. False: there is none.
bool sri_touch_close_hops(srRigid* x, double t, double* v);

// ---- rigid_place.c
void sri_rigid_put_closed(srRigid* x);  // x->closed from the statuses
int sri_rigid_place_position(srRigid* x, double t, double* q);
void sri_rigid_place_velocity(srRigid* x, double* v);
void sri_rigid_combine(srRigid* x);

#endif
