// Proof that two moving convex shapes do not touch over a time: a moving separating plane. On math alone.
#ifndef SR_COLLIDE_MOTION_H
#define SR_COLLIDE_MOTION_H

#include "collide/shape.h"

// A shape at one time, all in the axes of one frame, and how it goes on.
typedef struct srShapeMotion {
  double pose[16];
  double velocity[3];   // of its origin
  double angular[3];    // angular velocity
  double linear_most;   // bound of the acceleration of its origin over the time considered
  double angular_most;  // bounds of the angular velocity ...
  double turning_most;  // ... and of the angular acceleration
} srShapeMotion;

// A lower bound of the gap after time s >= 0, from a unit direction n (from a to b). Concave in s: if it is positive at 0 and at s,
// the shapes do not touch in between. With n the normal of the gap at time 0 it begins as that gap. Backwards in time: velocities with the
// other sign. -INFINITY for shapes without bounds.
double sr_motion_bound(const srConvex* a, const srConvex* b, const srShapeMotion* motion_a,
                       const srShapeMotion* motion_b, const double n[3], double s);

// A time up to which that bound is at least `least` <= its value at 0, at most `most`: no less than half of the longest one where that is short of
// `most`. n as above.
double sr_motion_reach(const srConvex* a, const srConvex* b, const srShapeMotion* motion_a,
                       const srShapeMotion* motion_b, const double n[3], double least, double most);

// A shape that moves: its motion at time s, with bounds that hold from s on.
typedef struct srMoving {
  const srConvex* shape;
  void (*at)(void* user, double s, srShapeMotion* out);
  void* user;
} srMoving;

// When two moving shapes are first nearer than `near` > 0, from s = 0 to `end`. True: at *s, to which they are proven to be at least half of `near`
// apart; false: they are apart all the time.
bool sr_motion_first(const srMoving* a, const srMoving* b, double end, double near, double* s);

#endif
