// Contact points of two convex shapes with identities that persist: what rigid contact needs. On math alone.
//
// All points share the normal of the gap (distance.h). They are where the features that face each other overlap, seen along the normal: faces and
// edges are clipped against each other, and what is round touches at one point. The smallest gap of the points is the gap of the shapes; of a circular face that
// is flat on the other it may be larger by 2e-6 of the size.
#ifndef SR_COLLIDE_MANIFOLD_H
#define SR_COLLIDE_MANIFOLD_H

#include <stdint.h>

#include "collide/distance.h"

#define SR_MANIFOLD_MOST 9  // a circular face has 8 corners, and the nearest point

typedef struct srManifoldPoint {
  // On the surfaces of a and b; at an end of a capsule that is not the nearest one within it by r (1 - cosine of its slope). In the axes of a, seen from its origin
  double point_a[3], point_b[3];
  double gap;   // n.(point_b - point_a)
  uint64_t id;  // the features of a and b that meet here: the same as long as they do
} srManifoldPoint;

typedef struct srManifold {
  double n[3];  // from a to b
  int count;    // 0: the shapes cannot touch, or are farther from each other than the margin
  srManifoldPoint point[SR_MANIFOLD_MOST];  // the one with the smallest gap first, the others in the order of their ids
} srManifold;

// near: the answer of sr_shape_distance for the same shapes and pose. Points with a gap above `margin` are left out. Features are taken as facing each
// other where their normals are within SR_MANIFOLD_SINE. most: 1 to SR_MANIFOLD_MOST; of more points those that span the largest area are kept.
#define SR_MANIFOLD_SINE 0.1
void sr_shape_manifold(const srConvex* a, const srConvex* b, const double pose[16], const srNearest* near,
                       double margin, int most, srManifold* out);

#endif
