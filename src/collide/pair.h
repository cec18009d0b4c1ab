// Pairs of shape kinds: the nearest points of two shapes, from the pose of one observed from the other. On math alone.
//
// To add a pair: write pair_<name>.c with one srPairKind, and add a row to SR_PAIR_LIST. A new kind of shape is one more row of
// srShapeKind (shape.h).
#ifndef SR_COLLIDE_PAIR_H
#define SR_COLLIDE_PAIR_H

#include "collide/shape.h"

// Two shapes at their nearest points, in the axes of a.
typedef struct srPairPlace {
  double n[3];        // unit normal, from a to b
  double gap;         // > 0: apart
  double curve;       // dn/dx = curve (1 - n n^T), x the origin of b; straight: curve (1 - n n^T - z z^T)
  bool straight;      // n is the same along z
  double arm, share;  // the point of contact is at -arm n from the origin of b; share = d arm/d gap
} srPairPlace;

typedef struct srPairKind {
  const char* name;
  srShapeKind a, b;
  int nt;                                      // components of a tangent vector in the axes of a: 2 or 3
  bool (*fits)(double size_a, double size_b);  // NULL: all sizes can touch
  // x: origin of b observed from a, in the axes of a. NULL: there is no closed form that is independent of rotations (collision.h).
  void (*place)(const double size[2], const double x[3], srPairPlace* out);
} srPairKind;

#define SR_PAIR_LIST(X)                                                                                                \
  X(plane_sphere)                                                                                                      \
  X(sphere_sphere)                                                                                                     \
  X(hollow_sphere)                                                                                                     \
  X(bore_sphere)

#define SR_PAIR_DECLARE(name) extern const srPairKind sr_pair_##name;
SR_PAIR_LIST(SR_PAIR_DECLARE)
#undef SR_PAIR_DECLARE

// Two convex shapes without a row: on a plane, and others.
extern const srPairKind sr_pair_on_plane, sr_pair_convex;
// A convex shape on a mesh or height field; a convex shape or a second surface on a smooth surface.
extern const srPairKind sr_pair_on_triangles, sr_pair_on_smooth;

// The row of two kinds, in either order; else that of convex shapes. *swap: the first one is b. NULL: they cannot touch.
const srPairKind* sr_pair_find(srShapeKind one, srShapeKind two, bool* swap);

// What two spheres share, also where one contains the other (side -1; its size is negative).
void sr_pair_of_spheres(double side, const double size[2], const double x[3], srPairPlace* out);

#endif
