// Where two shapes are nearest, whatever pair they are.
#include "collide/collision.h"

#include "math/pose.h"

bool sr_shapes_are_far(const srCollisionShape* a, const srCollisionShape* b, const double pose[16]) {
  if (a->convex.kind == SR_KIND_PLANE) return pose[14] > b->reach;
  return srm_norm3(pose + 12) > a->reach + b->reach;
}

void sr_pair_point(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                   const double pose[16], srPairPoint* out) {
  if (pair->place) {
    srPairPlace at;
    pair->place(size, pose + 12, &at);
    out->gap = at.gap;
    for (int i = 0; i < 3; i++) {
      out->n[i] = at.n[i];
      out->r[i] = -at.arm * at.n[i];
    }
    return;
  }
  srNearest at;
  sr_shape_distance(&a->convex, &b->convex, pose, NULL, SR_DISTANCE_SURE, &at);
  out->gap = at.gap;
  for (int i = 0; i < 3; i++) {
    out->n[i] = at.n[i];
    out->r[i] = 0.5 * (at.point_a[i] + at.point_b[i]) - pose[12 + i];
  }
}
