// The answer of src/collide for peers.cc.
#include <math.h>
#include <string.h>

#include "collide/distance.h"
#include "math/pose.h"

#define NPOINT 20

struct Shape {
  int kind;
  double size[3];
  double point[3 * NPOINT];
};

struct Answer {
  double gap, error, n[3];
};

void ours(const struct Shape* a, const struct Shape* b, const double quaternion[4], const double x[3],
          struct Answer* out);

static srConvex shape_of(const struct Shape* s, srPool* pool) {
  switch (s->kind) {
    case 0: return sr_convex_sphere(s->size[0]);
    case 1: return sr_convex_box(s->size);
    case 2: return sr_convex_capsule(s->size[2], s->size[0]);
    case 3: return sr_convex_cylinder(s->size[2], s->size[0]);
    case 4: return sr_convex_cone(s->size[2], s->size[0]);
    case 5: return sr_convex_ellipsoid(s->size);
    default: return sr_convex_of_hull(sr_convex_hull_create(pool, s->point, NPOINT));
  }
}

void ours(const struct Shape* a, const struct Shape* b, const double quaternion[4], const double x[3],
          struct Answer* out) {
  srPool pool;
  double pose[16];
  srNearest near;
  sr_pool_init(&pool);
  const srConvex one = shape_of(a, &pool), two = shape_of(b, &pool);
  srm_pose_identity(pose);
  srm_pose_from_quaternion(quaternion, pose);
  memcpy(pose + 12, x, 3 * sizeof *x);
  sr_shape_distance(&one, &two, pose, NULL, SR_DISTANCE_SURE, &near);
  out->gap = near.gap;
  out->error = near.error;
  memcpy(out->n, near.n, sizeof near.n);
  sr_pool_free(&pool);
}
