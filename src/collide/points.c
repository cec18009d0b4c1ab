// The points of two shapes, whatever pair they are.
//
// Convex shapes, a mesh on a plane as its hull: the manifold of the features that face each other (manifold.h). Triangles: the contacts of
// surface.h, identified by the corner of the shape and by the triangle's edge or corner; of a face by its direction, so that a shape that slides over triangles in one
// plane keeps its points. Smooth surfaces: their common normals (smooth.h) in the order of their places. All others have one point.
#include "collide/points.h"

#include <math.h>
#include <string.h>

#include "collide/manifold.h"
#include "math/pose.h"
#include "math/vector3.h"

#define NEAR 0.125    // of the smaller shape: contacts with surfaces are searched for within this distance
#define CORNER 1e-3   // of the reach: a point so near a corner of a shape is at that corner
#define RIM 12        // parts of a circular face, as in surface_convex.c
#define DIRECTION 64  // steps in a component of a face's normal: faces of one direction are one feature

enum { ON_FACE, ON_EDGE, ON_CORNER, ON_ROUND };  // kinds of features

static bool is_surface(srShapeKind kind) { return kind > SR_KINDS; }
static bool has_one_point(srShapeKind kind) { return kind == SR_KIND_SPHERE || kind == SR_KIND_ELLIPSOID; }

int sr_pair_points_most(const srPairKind* pair, srShapeKind a, srShapeKind b) {
  if (pair->place) return 1;
  if (is_surface(a)) return SR_POINTS_MOST;
  return has_one_point(a) || has_one_point(b) ? 1 : SR_MANIFOLD_MOST;
}

static void put(const double n[3], const double point_a[3], const double point_b[3], double gap, const double pose[16],
                srPairPoint* out) {
  out->gap = gap;
  for (int i = 0; i < 3; i++) {
    out->n[i] = n[i];
    out->r[i] = 0.5 * (point_a[i] + point_b[i]) - pose[12 + i];
  }
}

// ---- convex shapes ------------------------------------------------------------------------------------------------------

static int convex_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16],
                         srFeaturePoint* out) {
  const srConvex hull = sr_convex_of_hull(b->convex.hull), *two = b->surface ? &hull : &b->convex;
  srNearest near;
  srManifold all;
  sr_shape_distance(&a->convex, two, pose, NULL, SR_DISTANCE_SURE, &near);
  const bool far = near.gap > fmin(a->size, b->size);
  sr_shape_manifold(&a->convex, two, pose, &near, INFINITY, far ? 1 : SR_MANIFOLD_MOST, &all);
  for (int i = 0; i < all.count; i++) {
    const srManifoldPoint* p = &all.point[i];
    put(all.n, p->point_a, p->point_b, p->gap, pose, &out[i].at);
    out[i].feature = p->id;
  }
  return all.count;
}

// ---- triangles ----------------------------------------------------------------------------------------------------------

static uint32_t code(int kind, uint32_t value) { return (uint32_t)kind << 30 | (value & 0x3fffffffu); }

static uint32_t triangle_code(const srTouch* t) {
  uint32_t value = 0;
  if (t->feature > 0)
    return code(t->feature < 4 ? ON_EDGE : ON_CORNER, 8 * (uint32_t)t->triangle + (uint32_t)t->feature);
  for (int i = 0; i < 3; i++) value = value << 8 | (uint32_t)lround(DIRECTION * (1 + t->n[i]));
  return code(ON_FACE, value);
}

// The corner of a shape at a point of its core, else the flat part that faces there.
static uint32_t convex_code(const srConvex* shape, const double pose[16], const srTouch* t) {
  double back[16], x[3], from[3], m[3], local[3];
  srFlat flat;
  if (has_one_point(shape->kind)) return code(ON_ROUND, 0);
  srm_pose_transpose(pose, back);
  srm_scale3(-1, t->n, m);
  srm_pose_rotate(back, m, local);
  sr_convex_flat(shape, local, SR_MANIFOLD_SINE, &flat);
  srm_add_scaled3(t->point, t->gap + shape->radius, t->n, x);
  srm_sub3(x, pose + 12, from);
  srm_pose_rotate(back, from, x);
  if (flat.n == 0) {
    const double part = (atan2(x[1], x[0]) / (2 * 3.141592653589793) + 1) * RIM;
    return code(ON_CORNER, (uint32_t)(RIM * (1 + flat.id) + (int)lround(part) % RIM));
  }
  const double most = CORNER * sr_convex_reach(shape);
  for (int i = 0; i < flat.n; i++) {
    srm_sub3(x, flat.corner[i], from);
    if (srm_norm3(from) <= most) return code(ON_CORNER, (uint32_t)flat.corner_id[i]);
  }
  return code(flat.dimension == 2 ? ON_FACE : ON_EDGE, (uint32_t)flat.id);
}

static bool is_before(const srFeaturePoint* x, const srFeaturePoint* y) {
  if (x->feature != y->feature) return x->feature < y->feature;
  for (int i = 0; i < 3; i++) {
    if (x->at.r[i] != y->at.r[i]) return x->at.r[i] < y->at.r[i];
  }
  return false;
}

// In the order of features, then of places; those of equal features get different ones.
static void tell_apart(srFeaturePoint* out, int n) {
  for (int i = 1; i < n; i++) {
    const srFeaturePoint x = out[i];
    int k = i;
    for (; k > 0 && is_before(&x, &out[k - 1]); k--) out[k] = out[k - 1];
    out[k] = x;
  }
  for (int i = 1; i < n; i++) {
    if (out[i].feature <= out[i - 1].feature) out[i].feature = out[i - 1].feature + 1;
  }
}

static int triangle_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                           srFeaturePoint* out) {
  srTouch touch[SR_TOUCH_MOST];
  const int n = sr_surface_touches(a, b, pose, margin, touch), most = n < SR_POINTS_MOST ? n : SR_POINTS_MOST;
  for (int i = 0; i < most; i++) {
    double point[3];
    int k = i;
    for (int j = i + 1; j < n; j++) {
      if (touch[j].gap < touch[k].gap) k = j;
    }
    const srTouch t = touch[k];
    touch[k] = touch[i];
    srm_add_scaled3(t.point, t.gap, t.n, point);
    put(t.n, t.point, point, t.gap, pose, &out[i].at);
    out[i].feature = (uint64_t)triangle_code(&t) << 32 | convex_code(&b->convex, pose, &t);
  }
  return most;
}

// ---- smooth surfaces ----------------------------------------------------------------------------------------------------

static int smooth_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                         srFeaturePoint* out) {
  srNearest all[SR_POINTS_MOST];
  const int n = sr_surface_contacts(a, b, pose, margin, all, SR_POINTS_MOST);
  for (int i = 0; i < n; i++) {
    put(all[i].n, all[i].point_a, all[i].point_b, all[i].gap, pose, &out[i].at);
    out[i].feature = 1;
  }
  return n;
}

// ---- pairs --------------------------------------------------------------------------------------------------------------

static int many_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16],
                       srFeaturePoint* out) {
  const double margin = NEAR * fmin(a->size, b->size);
  const int n = a->smooth    ? smooth_points(a, b, pose, margin, out)
                : a->surface ? triangle_points(a, b, pose, margin, out)
                             : convex_points(a, b, pose, out);
  if (a->smooth || a->surface) tell_apart(out, n);
  return n;
}

int sr_pair_points(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                   const double pose[16], srFeaturePoint* out) {
  if (sr_pair_points_most(pair, a->convex.kind, b->convex.kind) > 1) {
    const int n = many_points(a, b, pose, out);
    if (n > 0) return n;
  }
  sr_pair_point(pair, size, a, b, pose, &out[0].at);
  out[0].feature = 0;
  return 1;
}
