// Two convex cores as one set, their difference C = {a - b}, and simplices of its points. The work of GJK, EPA and the Newton
// iteration on the normal; everything in the axes of a.
#ifndef SR_COLLIDE_SIMPLEX_H
#define SR_COLLIDE_SIMPLEX_H

#include "collide/shape.h"

typedef struct srConvexPair {
  const srConvex *a, *b;
  const double* pose;  // of b in the frame of a
  double size;         // length that rounding is relative to
  int hint_a, hint_b;  // features of the last support points
} srConvexPair;

// A point w = a - b of C, and the features that the two points belong to.
typedef struct srCorner {
  double w[3], a[3], b[3];
  int feature_a, feature_b;
} srCorner;

typedef struct srSimplex {
  int n;  // 1 to 4
  srCorner corner[4];
  double weight[4];  // of the point nearest to the origin: positive, sum 1
} srSimplex;

// h(n) = max n.w over C, and its corner; n has any length but 0.
double sr_pair_support(srConvexPair* pair, const double n[3], srCorner* out);
// The corner of the same features for another unit vector n.
void sr_pair_corner_at(const srConvexPair* pair, const double n[3], srCorner* corner);

// Point v of the simplex nearest to the point x, and its weights; corners without weight are removed. Returns |v - x|^2.
double sr_simplex_reduce(srSimplex* s, const double x[3], double v[3]);
// Points of a and of b with the weights.
void sr_simplex_points(const srSimplex* s, double a[3], double b[3]);
// Is the corner bitwise one of the simplex?
bool sr_simplex_has(const srSimplex* s, const srCorner* corner);

#endif
