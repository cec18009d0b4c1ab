// The points of two shapes, whatever pair they are.
//
// Convex shapes, a mesh on a plane as its hull: the manifold of the features that face each other (manifold.h). Triangles: the contacts of
// surface.h, identified by the corner of the shape and by the triangle's edge or corner; of a face by its direction, so that a shape that slides over triangles in one
// plane keeps its points. An edge that lies along a face has two, the ends of what they have in common. Smooth surfaces: their common normals (smooth.h) in the order of their places. All others have one point.
#include "collide/points.h"

#include <math.h>
#include <string.h>

#include "collide/manifold.h"
#include "math/pose.h"
#include "math/vector3.h"

#define NEAR 0.125    // of the smaller shape: contacts with surfaces are searched for within this distance
#define CORNER 1e-3   // of the reach: a point so near a corner of a shape is at that corner
#define EXACT 1e-9    // the same where it is that corner, whatever its name
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

// Where rates are wanted: a twist, and their place.
typedef struct Moving {
  const double* twist;
  srPointRates* rates;
} Moving;

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
                         const Moving* moving, srFeaturePoint* out) {
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
  if (moving != NULL) sr_point_rates_of_manifold(&all, &near, moving->twist, moving->rates);
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

// The flat part of a shape that faces a contact, and the place of that on its core, in its axes.
static void face_contact(const srConvex* shape, const double pose[16], const srTouch* t, srFlat* flat, double x[3]) {
  double back[16], core[3], from[3], m[3], local[3];
  srm_pose_transpose(pose, back);
  srm_scale3(-1, t->n, m);
  srm_pose_rotate(back, m, local);
  sr_convex_flat(shape, local, SR_MANIFOLD_SINE, flat);
  srm_add_scaled3(t->point, t->gap + shape->radius, t->n, core);
  srm_sub3(core, pose + 12, from);
  srm_pose_rotate(back, from, x);
}

// -1: none.
static int corner_within(const srFlat* flat, const double x[3], double most) {
  for (int i = 0; i < flat->n; i++) {
    double from[3];
    srm_sub3(x, flat->corner[i], from);
    if (srm_norm3(from) <= most) return i;
  }
  return -1;
}

// The corner of a shape at a point of its core, else the flat part that faces there.
static uint32_t convex_code(const srConvex* shape, const double pose[16], const srTouch* t) {
  double x[3];
  srFlat flat;
  if (has_one_point(shape->kind)) return code(ON_ROUND, 0);
  face_contact(shape, pose, t, &flat, x);
  if (flat.n == 0) {
    const double part = (atan2(x[1], x[0]) / (2 * 3.141592653589793) + 1) * RIM;
    return code(ON_CORNER, (uint32_t)(RIM * (1 + flat.id) + (int)lround(part) % RIM));
  }
  const int corner = corner_within(&flat, x, CORNER * sr_convex_reach(shape));
  if (corner >= 0) return code(ON_CORNER, (uint32_t)flat.corner_id[corner]);
  return code(flat.dimension == 2 ? ON_FACE : ON_EDGE, (uint32_t)flat.id);
}

// The features that touches.c knows: balls, capsules and ellipsoids on anything, corners of boxes and hulls on faces.
static void triangle_rates(const srCollisionShape* a, const srConvex* shape, const double pose[16], srTouch t,
                           const double twist[6], srPointRates* out) {
  const bool round = has_one_point(shape->kind) || shape->kind == SR_KIND_CAPSULE;
  const bool corners = shape->kind == SR_KIND_BOX || shape->kind == SR_KIND_HULL;
  srNearest near;
  srFlat flat;
  double x[3];
  sr_touch_nearest(a->surface, shape, pose, &t, &near);
  sr_point_rates_of_nearest(&near, twist, out);
  if (round) return;
  face_contact(shape, pose, &t, &flat, x);
  out->known &= corners && t.feature == 0 && corner_within(&flat, x, EXACT * sr_convex_reach(shape)) >= 0;
}

static bool is_before(const srFeaturePoint* x, const srFeaturePoint* y) {
  if (x->feature != y->feature) return x->feature < y->feature;
  for (int i = 0; i < 3; i++) {
    if (x->at.r[i] != y->at.r[i]) return x->at.r[i] < y->at.r[i];
  }
  return false;
}

// In the order of features, then of places; those of equal features get different ones.
static void tell_apart(srFeaturePoint* out, srPointRates* rates, int n) {
  for (int i = 1; i < n; i++) {
    const srFeaturePoint x = out[i];
    const srPointRates y = rates != NULL ? rates[i] : (srPointRates){0};
    int k = i;
    for (; k > 0 && is_before(&x, &out[k - 1]); k--) {
      out[k] = out[k - 1];
      if (rates != NULL) rates[k] = rates[k - 1];
    }
    out[k] = x;
    if (rates != NULL) rates[k] = y;
  }
  for (int i = 1; i < n; i++) {
    if (out[i].feature <= out[i - 1].feature) out[i].feature = out[i - 1].feature + 1;
  }
}

// The face of a shape that faces against n, in the frame of the surface, and its unit normal. False: an edge, a corner or a disc does.
static bool find_face(const srConvex* shape, const double pose[16], const double n[3], srFlat* flat, double normal[3]) {
  double back[16], m[3], local[3], d[3], e[3];
  srm_pose_transpose(pose, back);
  srm_scale3(-1, n, m);
  srm_pose_rotate(back, m, local);
  sr_convex_flat(shape, local, SR_MANIFOLD_SINE, flat);
  if (flat->dimension != 2 || flat->n < 3) return false;
  for (int i = 0; i < flat->n; i++) {
    double x[3];
    srm_set3(x, flat->corner[i]);
    srm_pose_point(pose, x, flat->corner[i]);
  }
  srm_sub3(flat->corner[1], flat->corner[0], d);
  srm_sub3(flat->corner[2], flat->corner[0], e);
  srm_cross3(d, e, normal);
  return srm_unit3(normal) > 0;
}

// The part of the segment from a to b over the face, as two numbers from 0 to 1. False: there is none.
static bool clip_segment(const srFlat* face, const double normal[3], const double a[3], const double b[3],
                         double part[2]) {
  part[0] = 0;
  part[1] = 1;
  for (int i = 0; i < face->n; i++) {
    const double *c = face->corner[i], *next = face->corner[(i + 1) % face->n];
    double e[3], side[3], d[3];
    srm_sub3(next, c, e);
    srm_cross3(normal, e, side);  // inward: the corners run around the normal
    srm_sub3(a, c, d);
    const double at_a = srm_dot3(side, d);
    srm_sub3(b, c, d);
    const double at_b = srm_dot3(side, d);
    if (at_a < 0 && at_b < 0) return false;
    if (at_a < 0) part[0] = fmax(part[0], at_a / (at_a - at_b));
    if (at_b < 0) part[1] = fmin(part[1], at_a / (at_a - at_b));
  }
  return part[0] < part[1];
}

// An edge of a triangle that lies along a face of the shape: the ends of what they have in common, in place of the nearest point, which jumps from one to the other. Returns their number, 1 where there is no such
// face.
static int edge_ends(const srSurface* surface, const srConvex* shape, const double pose[16], const srTouch* t,
                     srTouch out[2]) {
  double corner[9], normal[3], along[3], part[2];
  srFlat face;
  out[0] = *t;
  if (t->feature < 1 || t->feature > 3 || has_one_point(shape->kind)) return 1;
  surface->corners(surface->user, t->triangle, corner);
  const double *a = corner + 3 * (t->feature - 1), *b = corner + 3 * (t->feature % 3);
  if (!find_face(shape, pose, t->n, &face, normal) || !clip_segment(&face, normal, a, b, part)) return 1;
  srm_sub3(b, a, along);
  if ((part[1] - part[0]) * srm_norm3(along) <= CORNER * sr_convex_reach(shape)) return 1;
  for (int k = 0; k < 2; k++) {
    double d[3];
    out[k] = *t;
    srm_add_scaled3(a, part[k], along, out[k].point);
    srm_sub3(face.corner[0], out[k].point, d);
    out[k].gap = srm_dot3(d, normal) / srm_dot3(t->n, normal) - shape->radius;
  }
  return 2;
}

// With the edges along faces by their ends, at most `most`.
static int find_touches(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                        srTouch* out, int most) {
  srTouch touch[SR_TOUCH_MOST], end[2];
  const int all = sr_surface_touches(a, b, pose, margin, touch);
  int n = 0;
  for (int i = 0; i < all; i++) {
    const int ends = edge_ends(a->surface, &b->convex, pose, &touch[i], end);
    for (int k = 0; k < ends && n < most; k++) {
      if (end[k].gap < margin) out[n++] = end[k];
    }
  }
  return n;
}

static int triangle_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                           const Moving* moving, srFeaturePoint* out) {
  srTouch touch[2 * SR_TOUCH_MOST];
  const int n = find_touches(a, b, pose, margin, touch, 2 * SR_TOUCH_MOST);
  const int most = n < SR_POINTS_MOST ? n : SR_POINTS_MOST;
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
    if (moving != NULL) triangle_rates(a, &b->convex, pose, t, moving->twist, &moving->rates[i]);
  }
  return most;
}

// ---- smooth surfaces ----------------------------------------------------------------------------------------------------

static int smooth_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                         const Moving* moving, srFeaturePoint* out) {
  srNearest all[SR_POINTS_MOST];
  const int n = sr_surface_contacts(a, b, pose, margin, all, SR_POINTS_MOST);
  for (int i = 0; i < n; i++) {
    put(all[i].n, all[i].point_a, all[i].point_b, all[i].gap, pose, &out[i].at);
    out[i].feature = 1;
    if (moving != NULL) sr_point_rates_of_nearest(&all[i], moving->twist, &moving->rates[i]);
  }
  return n;
}

// ---- pairs --------------------------------------------------------------------------------------------------------------

static int many_points(const srCollisionShape* a, const srCollisionShape* b, const double pose[16],
                       const Moving* moving, srFeaturePoint* out) {
  const double margin = NEAR * fmin(a->size, b->size);
  const int n = a->smooth    ? smooth_points(a, b, pose, margin, moving, out)
                : a->surface ? triangle_points(a, b, pose, margin, moving, out)
                             : convex_points(a, b, pose, moving, out);
  if (a->smooth || a->surface) tell_apart(out, moving != NULL ? moving->rates : NULL, n);
  return n;
}

static void one_point(const srPairKind* pair, const double size[2], const srCollisionShape* a,
                      const srCollisionShape* b, const double pose[16], const Moving* moving, srPairPoint* out) {
  srPairPlace place;
  srNearest near;
  sr_pair_point(pair, size, a, b, pose, out);
  if (moving == NULL) return;
  if (pair->place) {
    pair->place(size, pose + 12, &place);
    sr_point_rates_of_place(&place, moving->twist, moving->rates);
  } else {
    sr_shapes_nearest(a, b, pose, &near);
    sr_point_rates_of_nearest(&near, moving->twist, moving->rates);
  }
}

static int points(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                  const double pose[16], const Moving* moving, srFeaturePoint* out) {
  if (sr_pair_points_most(pair, a->convex.kind, b->convex.kind) > 1) {
    const int n = many_points(a, b, pose, moving, out);
    if (n > 0) return n;
  }
  one_point(pair, size, a, b, pose, moving, &out[0].at);
  out[0].feature = 0;
  return 1;
}

int sr_pair_points(const srPairKind* pair, const double size[2], const srCollisionShape* a, const srCollisionShape* b,
                   const double pose[16], srFeaturePoint* out) {
  return points(pair, size, a, b, pose, NULL, out);
}

int sr_pair_points_moving(const srPairKind* pair, const double size[2], const srCollisionShape* a,
                          const srCollisionShape* b, const double pose[16], const double twist[6], srFeaturePoint* out,
                          srPointRates* rates) {
  return points(pair, size, a, b, pose, &(Moving){twist, rates}, out);
}
