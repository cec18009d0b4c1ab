// Gaps between the shapes of a model at one state.
#include <math.h>
#include <string.h>

#include <sarrus/analysis.h>

#include "collide/collision.h"
#include "dynamics/link.h"
#include "math/pose.h"
#include "model/private.h"

static void world_pose(const srModel* m, const srData* d, int shape, double out[16]) {
  double body[16];
  sr_point_frame(m, d, m->shape[shape].body, body);  // the first points are the bodies
  srm_pose_compose(body, m->shape[shape].pose, out);
}

// Of the second in the first, both given in the world: far from its origin the difference of positions is taken once.
static void relative_pose(const double first[16], const double second[16], double out[16]) {
  double from[16], to[16], back[16];
  memcpy(from, first, sizeof from);
  memcpy(to, second, sizeof to);
  for (int i = 0; i < 3; i++) {
    to[12 + i] -= from[12 + i];
    from[12 + i] = 0;
  }
  srm_pose_transpose(from, back);
  srm_pose_compose(back, to, out);
}

// A sphere b within a hollow sphere: not convex, by its closed form.
static void hollow_points(const srPairKind* pair, const double size[2], const double pose[16], srNearest* out) {
  srPairPoint at;
  sr_pair_point(pair, size, NULL, NULL, pose, &at);
  *out = (srNearest){.state = SR_NEAREST_FOUND, .gap = at.gap};
  for (int i = 0; i < 3; i++) {
    out->n[i] = at.n[i];
    out->point_b[i] = pose[12 + i] - size[1] * at.n[i];
    out->point_a[i] = out->point_b[i] - at.gap * at.n[i];
  }
}

static void exchange(double a[3], double b[3]) {
  for (int i = 0; i < 3; i++) {
    const double x = a[i];
    a[i] = b[i];
    b[i] = x;
  }
}

// In the axes of the first argument of the distance, whose pose in the world is given.
static void put(const srNearest* at, const double pose[16], srShapePair* out) {
  out->gap = at->gap;
  srm_pose_rotate(pose, at->n, out->normal);
  srm_pose_point(pose, at->point_a, out->point_a);
  srm_pose_point(pose, at->point_b, out->point_b);
}

bool sr_shape_pair(const srModel* m, const srData* d, int a, int b, srShapePair* out) {
  const srCollisionShape *one = &m->collision[a], *two = &m->collision[b];
  bool swap;
  const srPairKind* pair = sr_pair_find(one->convex.kind, two->convex.kind, &swap);
  const double size[2] = {m->shape[swap ? b : a].size[0], m->shape[swap ? a : b].size[0]};
  if (!pair || (pair->fits && !pair->fits(size[0], size[1]))) return false;
  double first[16], second[16], pose[16];
  srNearest at;
  world_pose(m, d, swap ? b : a, first);
  world_pose(m, d, swap ? a : b, second);
  relative_pose(first, second, pose);
  if (pair->a == SR_KIND_HOLLOW || pair->a == SR_KIND_BORE)
    hollow_points(pair, size, pose, &at);
  else
    sr_shapes_nearest(swap ? two : one, swap ? one : two, pose, &at);
  if (at.state != SR_NEAREST_FOUND) return false;
  *out = (srShapePair){.a = a, .b = b};
  put(&at, first, out);
  if (!swap) return true;
  for (int i = 0; i < 3; i++) out->normal[i] = -out->normal[i];
  exchange(out->point_a, out->point_b);
  return true;
}

// Balls around both are farther apart than the margin: then nothing else needs to be computed.
static bool is_far(const double* centre, const double* reach, int a, int b, double margin) {
  double r[3];
  for (int i = 0; i < 3; i++) r[i] = centre[3 * b + i] - centre[3 * a + i];
  return srm_norm3(r) - reach[a] - reach[b] > margin;
}

srStatus sr_shape_pairs(const srModel* m, srData* d, bool all, double margin, srShapePairVisitor* visit, void* user) {
  const size_t n = (size_t)m->nshape;
  double *centre = sr_alloc((4 * n + 1) * sizeof *centre), *reach = centre ? centre + 3 * n : NULL;
  if (!centre) return SR_MEMORY;
  for (int i = 0; i < m->nshape; i++) {
    double pose[16];
    world_pose(m, d, i, pose);
    memcpy(centre + 3 * i, pose + 12, 3 * sizeof *centre);
    reach[i] = m->collision[i].reach;
  }
  for (int a = 0; a < m->nshape; a++) {
    for (int b = a + 1; b < m->nshape; b++) {
      srShapePair pair;
      if (!(all ? sr_shapes_move(m, a, b) : sr_shapes_may_touch(m, a, b))) continue;
      if (!all && is_far(centre, reach, a, b, margin)) continue;
      if (sr_shape_pair(m, d, a, b, &pair) && (all || pair.gap <= margin)) visit(user, &pair);
    }
  }
  sr_free(centre);
  return SR_OK;
}
