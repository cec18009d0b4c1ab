// Where two shapes touch, and the normal force there: what the contact of two shapes (shapes.c) has of its geometry.
//
// Motion is that of a port between two frames: b at x observed from a, rotated by theta, moving with (w, u); all in the axes of a.
#ifndef SR_CONTACT_PLACE_H
#define SR_CONTACT_PLACE_H

#include "contact/element.h"

typedef struct srContactPlace {
  double n[3];                 // unit normal, from a to b
  double r[3];                 // from b's origin to the point of contact, or to the centre of pressure
  double slip[3];              // P (u + w x r + b),  P = 1 - n n^T; b: velocity of the surfaces in their bodies
  double belt[3];              // P b
  double turn[3], spin;        // P w, n.w
  double turning[3];           // n'
  double N, N_spin;            // normal force; the same times the lever of a patch, for the friction of spinning
  double force[3], moment[3];  // of the normal force on b, the moment about b's origin
  double dissipation;          // of the normal law
  double along[3], excess;     // friction along k differs: A = 1 + excess k k^T (place_direction.c); 0: it does not
  double renewal;              // rate at which a wheel that rolls renews its bristles (place_wheel.c), 1/s
} srContactPlace;

// What changes of it along one direction: j of theta (as a small rotation of b), x, w, u.
typedef struct srContactChange {
  double n[3], r[3], slip[3], turn[3], spin, turning[3];
  double N, N_spin;
  double force[3], moment[3];
  double along[3], renewal;
} srContactChange;

// One kind of geometry. `change`: all 12 directions.
typedef struct srContactGeometry {
  int (*place)(const srImpedanceIn* in, srContactPlace* out);
  int (*change)(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]);
  double (*energy)(const srImpedanceIn* in);  // of the normal law
} srContactGeometry;
extern const srContactGeometry sr_place_pair;     // closed forms of spheres and planes: collide/pair.h
extern const srContactGeometry sr_place_nearest;  // one point between the nearest points of two convex shapes
extern const srContactGeometry sr_place_points;   // points of a surface that may touch at several
extern const srContactGeometry
    sr_place_patch;  // pressure over the patch of two shapes with flat faces, or on both ends of a capsule

extern const srContactGeometry sr_place_line;   // pressure along the core of a capsule
extern const srContactGeometry sr_place_round;  // pressure over the patch of two cylinders or cones

const srContactGeometry* sr_contact_geometry(const srSurfaceLaws* c);
void sr_contact_pose(const srImpedanceIn* in, double pose[16]);  // of b in a
// Where two shapes are certainly apart: without a force, and without the cost of their distance. False: they may touch.
bool sr_place_far(const srImpedanceIn* in, const double pose[16], srContactPlace* out);

// slip, turn and spin from n and r; and their changes where those of n and r are known.
void sr_place_motion(const srImpedanceIn* in, srContactPlace* at);
void sr_change_motion(const srImpedanceIn* in, const srContactPlace* at, int direction, srContactChange* d);

// The direction of friction of a shape, in the axes of a.
typedef struct srFrictionDirection {
  double d[3];
  double side;  // outward normal of its shape = side n
  const double* turn;
} srFrictionDirection;
// directed: 0 or 1, which of the two the shape is; pose: of b in a, where it is 1.
srFrictionDirection sr_friction_direction(const struct srCollisionShape* shape, int directed, const double pose[16]);
// m = |m| t in the tangent plane of n; returns its length, or that from which on friction depends on the direction less.
double sr_direction_at(const srFrictionDirection* x, const double* n, double m[3]);
void sr_direction_change(const srFrictionDirection* x, const double* n, const double* dn, const double* dd,
                         double dm[3]);

// The direction of friction where n is known, and its changes where those of n are; A x and d(A x).
void sr_place_direction(const srImpedanceIn* in, srContactPlace* at);
void sr_change_direction(const srImpedanceIn* in, const srContactPlace* at, srContactChange change[12]);
void sr_stretch(const srContactPlace* at, const double* x, double* out);
void sr_stretch_change(const srContactPlace* at, const srContactChange* d, const double* x, const double* dx,
                       double* out);

// The renewal of bristles where the motion is known, and its changes where those of the motion are.
void sr_place_wheel(const srImpedanceIn* in, srContactPlace* at);
void sr_change_wheel(const srImpedanceIn* in, const srContactPlace* at, srContactChange change[12]);

// P a, and d(P a) = P da - dn (n.a) - n (dn.a)
void sr_flat(const double* n, const double* a, double* out);
void sr_flat_change(const double* n, const double* dn, const double* a, const double* da, double* out);

#endif
