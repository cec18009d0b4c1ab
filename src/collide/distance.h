// Gap, normal and nearest points of two convex shapes, apart or overlapping, with a bound of the error and exact derivatives.
// On math alone. Equations and measured accuracy: docs/theory/contact-geometry.md.
//
//   gap = max over unit n of -h(n),  h(n) = s_a(n) + s_b(-n) - n.x      s: support functions, x: origin of b observed from a
//
// Apart, the gap is the distance; overlapping, minus the least length of a translation that ends the overlap. It is 1-Lipschitz and convex in
// translations: gap(x + d) >= gap(x) + n.d.
#ifndef SR_COLLIDE_DISTANCE_H
#define SR_COLLIDE_DISTANCE_H

#include "collide/shape.h"

typedef enum srNearestState {
  SR_NEAREST_FOUND,
  SR_NEAREST_NONE,        // the two kinds cannot touch (two planes, no shape): gap INFINITY
  SR_NEAREST_NOT_FINITE,  // a size or the pose is not finite or above 1e100: gap INFINITY, nothing else is to be used
} srNearestState;

// Flat features that are active at the answer, in the axes of a: the nearest points can slide along `edge` without a change of
// the gap to first order. dimension 0: a point, 1: an edge or a generator, 2: a face (edges span it).
typedef struct srActive {
  int dimension;
  double edge[2][3];
  double hessian[9];  // dx/dn of the core's support point, in the axes of a, symmetric
} srActive;

typedef struct srNearest {
  srNearestState state;
  double gap;                     // < 0: overlap
  double n[3];                    // unit normal, from a to b. All vectors are in the axes of a
  double point_a[3], point_b[3];  // point_b = point_a + gap n; seen from the origin of a
  double error;                   // |gap - exact gap| <= error + rounding. Overlapping round cores: up to the tolerance
  bool unique;                    // the normal is the only one
  int iterations;                 // of all loops
  double x[3];                    // origin of b
  double core;                    // gap of the cores
  double radius[2];               // around the cores
  srActive a, b;
} srNearest;

// Accuracy of GJK and EPA before the Newton iteration, relative to the sizes of the shapes. Answers are as accurate with both, but where
// two directions of overlap are this close to a tie, the other one may be taken.
#define SR_DISTANCE_FAST 1e-5
#define SR_DISTANCE_SURE 1e-10  // where events are located

// pose: of b in the frame of a (srm_pose). warm: the normal of an earlier call nearby, or zeros; set to the new one; or NULL.
void sr_shape_distance(const srConvex* a, const srConvex* b, const double pose[16], double warm[3], double tolerance,
                       srNearest* out);

// Derivatives with respect to the relative motion of b: columns 0 to 2 a small rotation of b about its origin, 3 to 5 the translation
// of its origin, both in the axes of a. The derivative of the gap is exact wherever the normal is unique:
//   d gap = n.(dx + dtheta x (point_b - x))
typedef struct srNearestDerivative {
  double gap[6];
  double n[3][6];
  double point_a[3][6];  // in the axes of a, of the points as they slide on both shapes
  double point_b[3][6];
  bool
      smooth;  // false: features change here (face on face, parallel edges, touching corners): n and points are the derivatives
               // on one side at best
} srNearestDerivative;
void sr_nearest_derivative(const srNearest* nearest, srNearestDerivative* out);
// Of these the derivative of the normal by translations alone: columns 3 to 5 of n.
void sr_nearest_turn(const srNearest* nearest, double out[3][3]);

// ---------------------------------------------------------------------------------------------------------- closed forms
// The nearest points of two cores in closed form. To add one: write distance_<name>.c with one srDistanceKind, and add a row to
// SR_DISTANCE_LIST. Where no row holds for a pair: GJK, EPA and the Newton iteration on the normal.
typedef struct srDistanceKind {
  srShapeKind a, b;  // SR_KINDS: any bounded shape
  // Sets core, n, points of the cores, unique, and what is active. out is zeroed; error 0 and unique are set.
  void (*place)(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out);
} srDistanceKind;

#define SR_DISTANCE_LIST(X)                                                                                            \
  X(plane)                                                                                                             \
  X(sphere_sphere)                                                                                                     \
  X(capsule_sphere)                                                                                                    \
  X(capsule_capsule)                                                                                                   \
  X(box_sphere)                                                                                                        \
  X(cylinder_sphere)                                                                                                   \
  X(cone_sphere)

#define SR_DISTANCE_DECLARE(name) extern const srDistanceKind sr_distance_##name;
SR_DISTANCE_LIST(SR_DISTANCE_DECLARE)
#undef SR_DISTANCE_DECLARE

// An ellipsoid b above a flat face of a, cores apart (distance_face.c): sets the same as a closed form. False: it is not, core, points and n may be set.
bool sr_distance_face(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out);

// The Newton iteration on the normal (normal_newton.c): from the answer of GJK or EPA to rounding. Sets the same as a closed form, and
// error. False: the nearest points do not agree with the normal, a better start may help.
struct srConvexPair;
struct srCoreNear;
bool sr_normal_newton(struct srConvexPair* pair, const struct srCoreNear* near, srNearest* out);

#endif
