// Where two shapes are nearest, whatever pair they are.
#include "collide/collision.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "math/vector3.h"

static bool is_plane(const srCollisionShape* x) { return x->convex.kind == SR_KIND_PLANE; }

bool sr_shapes_are_far(const srCollisionShape* a, const srCollisionShape* b, const double pose[16]) {
  if (is_plane(a)) return pose[14] > b->reach;
  if (is_plane(b)) return -srm_dot3(pose + 8, pose + 12) > a->reach;
  return srm_norm3(pose + 12) > a->reach + b->reach;
}

// ---- surfaces -----------------------------------------------------------------------------------------------------------

// A shape whose centre is in a solid, deeper than contacts are found: out by the nearest point.
static bool find_inside(const srCollisionShape* a, const double pose[16], srNearest* out) {
  srTouch touch;
  if (!a->surface || !a->surface->solid || sr_surface_ball(a->surface, pose + 12, 0, 0, &touch, 1) == 0) return false;
  if (!(touch.gap < 0)) return false;
  *out = (srNearest){.state = SR_NEAREST_FOUND, .gap = touch.gap};
  srm_set3(out->n, touch.n);
  srm_set3(out->point_a, touch.point);
  srm_add_scaled3(touch.point, touch.gap, touch.n, out->point_b);
  srm_set3(out->x, pose + 12);
  return true;
}

static double most_of(const srCollisionShape* a, const srCollisionShape* b, const double pose[16]) {
  return (is_plane(b) ? fabs(srm_dot3(pose + 8, pose + 12)) : srm_norm3(pose + 12) + b->reach) + a->reach;
}

static void put_none(const double pose[16], double gap, srNearest* out) {
  *out = (srNearest){.state = SR_NEAREST_NONE, .gap = gap};
  out->n[2] = 1;
  srm_set3(out->x, pose + 12);
}

// Of all points with a common normal the one with the least |gap|, however deep: a body that has passed through is behind the surface.
static void smooth_nearest(const srCollisionShape* a, const srCollisionShape* b, const double pose[16],
                           srNearest* out) {
  const double size = fmin(a->size, b->size), most = most_of(a, b, pose);
  put_none(pose, 4 * most, out);
  for (double margin = 0.125 * size; margin < 4 * most; margin *= 2) {
    srNearest all[SR_CONTACTS_MOST];
    const int n = sr_smooth_contacts(a, b, pose, (srSmoothReach){margin, most}, all, SR_CONTACTS_MOST);
    for (int i = 0; i < n; i++) {
      if (fabs(all[i].gap) < fabs(out->gap)) *out = all[i];
    }
    if (fabs(out->gap) <= margin) return;
  }
}

// A margin that grows until something is within it.
static void surface_nearest(const srCollisionShape* a, const srCollisionShape* b, const double pose[16],
                            srNearest* out) {
  const double size = fmin(a->size, b->size), most = most_of(a, b, pose);
  if (sr_surface_contacts(a, b, pose, 0, out, 1) > 0) return;
  for (double margin = 0.125 * size; margin < 4 * most; margin *= 2) {
    if (find_inside(a, pose, out) || sr_surface_contacts(a, b, pose, margin, out, 1) > 0) return;
  }
  put_none(pose, 4 * most, out);
}

// A mesh on a plane is as near as its hull.
void sr_shapes_nearest(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], srNearest* out) {
  const srConvex hull = sr_convex_of_hull(b->convex.hull);
  if (a->smooth)
    smooth_nearest(a, b, pose, out);
  else if (a->surface)
    surface_nearest(a, b, pose, out);
  else
    sr_shape_distance(&a->convex, b->surface ? &hull : &b->convex, pose, NULL, SR_DISTANCE_SURE, out);
}

// ---- pairs --------------------------------------------------------------------------------------------------------------

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
  sr_shapes_nearest(a, b, pose, &at);
  out->gap = at.gap;
  for (int i = 0; i < 3; i++) {
    out->n[i] = at.n[i];
    out->r[i] = 0.5 * (at.point_a[i] + at.point_b[i]) - pose[12 + i];
  }
}
