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

// What a point is where it is found, whatever name it has: its motion follows from that (point_rates.c).
typedef enum srPointOf {
  SR_POINT_OF_OTHERS,    // ends of an overlap of edges, of a generator of a cone
  SR_POINT_OF_NEAREST,   // the nearest points
  SR_POINT_OF_CORNER_A,  // a corner of a on a face of b
  SR_POINT_OF_CORNER_B,  // a corner of b on a face of a
  SR_POINT_OF_CROSSING,  // an edge of a and one of b, one of them around a face
} srPointOf;

typedef struct srManifoldPoint {
  // On the surfaces of a and b; at an end of a capsule that is not the nearest one within it by r (1 - cosine of its slope). In the axes of a, seen from its origin
  double point_a[3], point_b[3];
  double gap;   // n.(point_b - point_a)
  uint64_t id;  // the features of a and b that meet here: the same as long as they do
  srPointOf of;
  bool rolls[2];      // the corner or edge of a, of b, is on a generator of a cylinder, which turns with n
  double edge[2][3];  // of a crossing: directions of both edges
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
