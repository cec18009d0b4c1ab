// All points where two shapes touch or are about to, each with the features that meet there: what rigid contact needs. On math alone.
#ifndef SR_COLLIDE_POINTS_H
#define SR_COLLIDE_POINTS_H

#include <stdint.h>

#include "collide/collision.h"
#include "collide/manifold.h"

#define SR_POINTS_MOST 16  // of one pair of shapes

typedef struct srFeaturePoint {
  srPairPoint at;
  uint64_t feature;  // of both shapes; the same as long as they meet here. 0: the pair has one point
} srFeaturePoint;

// Most points that two shapes can have, at most SR_POINTS_MOST.
int sr_pair_points_most(const srPairKind* pair, srShapeKind a, srShapeKind b);

// Arguments as for sr_pair_point. Returns their number, at least 1, at most sr_pair_points_most: one of them has the gap of the pair. Shapes that are farther
// apart than their size have one. No feature occurs twice.
int sr_pair_points(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                   const double pose[16], srFeaturePoint* out);

// The same, and how they move with the twist of b observed from a (angular velocity, velocity of its origin; in the axes of a), as far as
// that is known in closed form: rates (as many as points), where the features that meet stay.
typedef struct srPointRates {
  bool known;
  double n[3], r[3];  // of the normal and of the arm, in the axes of a
} srPointRates;
int sr_pair_points_moving(const srPairKind* pair, const double size[2], const srCollisionShape* a,
                          const srCollisionShape* b, const double pose[16], const double twist[6], srFeaturePoint* out,
                          srPointRates* rates);

// ---- point_rates.c
void sr_point_rates_of_place(const srPairPlace* at, const double twist[6], srPointRates* out);
void sr_point_rates_of_nearest(const srNearest* near, const double twist[6], srPointRates* out);
void sr_point_rates_of_manifold(const srManifold* m, const srNearest* near, const double twist[6], srPointRates* out);

#endif
