// Contacts of a convex shape with a surface of triangles, one triangle after the other by the distance of convex shapes (distance.h).
//
// Where the nearest point of a triangle is on an edge or a corner and the normal is in its polar cone, that is a contact. Where the normal leaves
// the cone, the edge belongs to the neighbours: the normal of the face replaces it. On a face, the part of the shape that faces it (an
// edge, a face, a point) is clipped by the triangle; of all points with nearly the same normal, over all triangles, at most four are kept: the
// deepest, the one farthest from it, and the farthest on both sides of the line through them. So a floor of many triangles holds a box by the
// same points as a floor of two.
#include <math.h>
#include <string.h>

#include "collide/distance.h"
#include "collide/surface.h"
#include "math/vector3.h"

#define FACING 0.1    // sine: a flat part of the shape so far from parallel to the triangle is clipped
#define ALIGNED 1e-6  // chord: the normal is that of the face
#define ON_EDGE 1e-7  // a nearest point so near an edge, relative to the shape, is on it
#define LEVEL 1e-9    // depths that differ by less, relative to the shape, are equal
#define RIM 12        // corners that stand for a circular face
#define POINTS 256    // candidates of one shape

typedef struct Search {
  const srSurface* surface;
  const srConvex* shape;
  const double* pose;
  double margin, reach;
  int n;
  srTouch item[POINTS];
} Search;

static void add(Search* s, const srTouch* touch) {
  if (!(touch->gap < s->margin)) return;
  for (int i = 0; i < s->n; i++) {
    double d[3];
    srm_sub3(touch->point, s->item[i].point, d);
    if (srm_norm3(d) > 1e-9 * s->reach || srm_dot3(touch->n, s->item[i].n) < 1 - 1e-12) continue;
    if (touch->gap < s->item[i].gap) s->item[i] = *touch;
    return;
  }
  if (s->n < POINTS) s->item[s->n++] = *touch;
}

// ---- flat parts on a triangle -----------------------------------------------------------------------------------------

typedef struct Polygon {
  int n;
  double corner[SR_FLAT_MOST + 6][3];
} Polygon;

// The part of the shape that faces -n, in the frame of the surface.
static void find_flat(const Search* s, const double n[3], Polygon* out) {
  double back[16], m[3], local[3];
  srFlat flat;
  srm_pose_transpose(s->pose, back);
  srm_scale3(-1, n, m);
  srm_pose_rotate(back, m, local);
  memset(&flat, 0, sizeof flat);
  sr_convex_flat(s->shape, local, FACING, &flat);
  out->n = flat.n > 0 ? flat.n : RIM;
  for (int i = 0; i < out->n; i++) {
    double x[3];
    if (flat.n > 0) {
      srm_set3(x, flat.corner[i]);
    } else {
      const double angle = 2 * 3.141592653589793 * i / RIM;  // circular faces are across the z axis
      const double rim[3] = {flat.disc * cos(angle), flat.disc * sin(angle), 0};
      srm_add_scaled3(flat.centre, 1, rim, x);
    }
    srm_pose_point(s->pose, x, out->corner[i]);
  }
}

// The part of a polygon, an edge or a point with side.(x - at) >= 0 (Sutherland and Hodgman 1974).
static void clip(Polygon* p, const double at[3], const double side[3], double slack) {
  Polygon out = {0};
  for (int i = 0; i < p->n; i++) {
    const double *a = p->corner[i], *b = p->corner[(i + 1) % p->n];
    double d[3], e[3];
    srm_sub3(a, at, d);
    srm_sub3(b, at, e);
    const double da = srm_dot3(side, d), db = srm_dot3(side, e);
    if (da >= -slack) srm_set3(out.corner[out.n++], a);
    if (!((da < -slack && db > slack) || (da > slack && db < -slack))) continue;
    srm_sub3(b, a, d);
    srm_add_scaled3(a, da / (da - db), d, out.corner[out.n++]);
  }
  *p = out;
}

// Contacts of the part of the shape above the triangle, along its normal.
static void add_face(Search* s, int triangle, const double corner[9], const double n[3]) {
  Polygon flat;
  find_flat(s, n, &flat);
  for (int k = 0; k < 3 && flat.n > 0; k++) {
    double e[3], side[3];
    srm_sub3(corner + 3 * ((k + 1) % 3), corner + 3 * k, e);
    srm_cross3(n, e, side);
    (void)srm_unit3(side);
    // To the side of the triangle, whichever side n is on.
    srm_sub3(corner + 3 * ((k + 2) % 3), corner + 3 * k, e);
    if (srm_dot3(side, e) < 0) srm_scale3(-1, side, side);
    clip(&flat, corner + 3 * k, side, 1e-12 * s->reach);
  }
  for (int i = 0; i < flat.n; i++) {
    srTouch touch = {.triangle = triangle};
    double d[3];
    srm_sub3(flat.corner[i], corner, d);
    const double height = srm_dot3(n, d);
    srm_set3(touch.n, n);
    touch.gap = height - s->shape->radius;
    srm_add_scaled3(flat.corner[i], -height, n, touch.point);
    add(s, &touch);
  }
}

// ---- one triangle -----------------------------------------------------------------------------------------------------

// The triangle seen from its first corner: differences of far coordinates are taken once.
static void find_nearest(const Search* s, const double corner[9], srNearest* out) {
  double local[9], pose[16];
  for (int k = 0; k < 3; k++) srm_sub3(corner + 3 * k, corner, local + 3 * k);
  memcpy(pose, s->pose, sizeof pose);
  srm_sub3(s->pose + 12, corner, pose + 12);
  const srConvexHull hull = {.n = 3, .corner = local, .reach = fmax(srm_norm3(local + 3), srm_norm3(local + 6))};
  const srConvex triangle = sr_convex_of_hull(&hull);
  sr_shape_distance(&triangle, s->shape, pose, NULL, SR_DISTANCE_FAST, out);
  srm_add_scaled3(out->point_a, 1, corner, out->point_a);
}

// The corner or edge that a point is on, within the rounding of the nearest points; 0: it is within the face.
static int feature_at(const Search* s, const double corner[9], const double x[3]) {
  const double near = ON_EDGE * s->reach;
  for (int k = 0; k < 6; k++) {
    const double *a = corner + 3 * (k % 3), *b = corner + 3 * ((k + 1) % 3);
    double e[3], d[3];
    srm_sub3(x, a, d);
    if (k >= 3) {  // corners first
      srm_sub3(b, a, e);
      srm_add_scaled3(d, -srm_dot3(d, e) / srm_dot3(e, e), e, d);
    }
    if (srm_norm3(d) <= near) return k < 3 ? 4 + k : k - 2;
  }
  return 0;
}

static void visit(void* to, int triangle) {
  Search* s = to;
  double corner[9], n[3], d[3];
  srNearest nearest;
  s->surface->corners(s->surface->user, triangle, corner);
  find_nearest(s, corner, &nearest);
  if (nearest.state != SR_NEAREST_FOUND || !(nearest.gap < s->margin)) return;
  sr_triangle_normal(corner, n);
  srm_sub3(s->pose + 12, corner, d);
  // Cores that overlap have the direction of the least way out, on whichever side that is.
  const double side = nearest.core > 0 ? srm_dot3(nearest.n, n) : srm_dot3(d, n);
  if (s->surface->solid && srm_dot3(nearest.n, n) < -ALIGNED) return;  // from behind
  if (!s->surface->solid && side < 0) srm_scale3(-1, n, n);
  srm_sub3(nearest.n, n, d);
  const bool aligned = srm_norm3(d) <= ALIGNED;
  const int feature = aligned ? 0 : feature_at(s, corner, nearest.point_a);
  srTouch touch = {.triangle = triangle, .feature = feature, .gap = nearest.gap};
  srm_set3(touch.point, nearest.point_a);
  srm_set3(touch.n, aligned ? n : nearest.n);
  const bool own = feature > 0 && sr_surface_polar(s->surface, triangle, feature, nearest.n);
  if (aligned || own) add(s, &touch);
  if (!own) add_face(s, triangle, corner, n);
}

// ---- at most four for each normal -------------------------------------------------------------------------------------

// The farthest of the candidates from the ones chosen so far: from a point, from a line on either side. -1: none.
static int find_far(const Search* s, const bool* open, const int* chosen, int nchosen) {
  const srTouch* first = &s->item[chosen[0]];
  double line[3] = {0}, across[3] = {0}, most = 1e-6 * s->reach;
  int far = -1;
  if (nchosen > 1) srm_sub3(s->item[chosen[1]].point, first->point, line);
  srm_cross3(line, first->n, across);
  (void)srm_unit3(across);
  if (nchosen == 3) {  // the side opposite to the third
    double d[3];
    srm_sub3(s->item[chosen[2]].point, first->point, d);
    if (srm_dot3(across, d) > 0) srm_scale3(-1, across, across);
  }
  for (int i = 0; i < s->n; i++) {
    double d[3];
    if (!open[i]) continue;
    srm_sub3(s->item[i].point, first->point, d);
    const double part = srm_dot3(across, d), far_by = nchosen == 1 ? srm_norm3(d) : nchosen == 2 ? fabs(part) : part;
    if (far_by <= most) continue;
    most = far_by;
    far = i;
  }
  return far;
}

// The deepest of those that are open; of equally deep ones the farthest from the middle of all. -1: none.
static int find_deepest(const Search* s, const bool* open) {
  double least = HUGE_VAL, middle[3] = {0}, most = -1;
  int n = 0, found = -1;
  for (int i = 0; i < s->n; i++) {
    if (!open[i]) continue;
    least = fmin(least, s->item[i].gap);
    srm_add_scaled3(middle, 1, s->item[i].point, middle);
    n++;
  }
  for (int i = 0; i < s->n; i++) {
    double d[3];
    srm_add_scaled3(s->item[i].point, -1.0 / n, middle, d);
    if (!open[i] || s->item[i].gap > least + LEVEL * s->reach || srm_norm3(d) <= most) continue;
    most = srm_norm3(d);
    found = i;
  }
  return found;
}

// Clusters of normals, from the deepest on.
static int choose(const Search* s, srTouch* out, int most) {
  bool left[POINTS];
  int n = 0, deepest;
  for (int i = 0; i < s->n; i++) left[i] = true;
  while ((deepest = find_deepest(s, left)) >= 0) {
    bool open[POINTS] = {false};
    const srTouch* lead = &s->item[deepest];
    for (int i = 0; i < s->n; i++) {
      open[i] = left[i] && (i == deepest || sr_surface_one(s->item[i].n, lead->n, -lead->gap, s->reach));
      left[i] &= !open[i];
    }
    int chosen[4] = {find_deepest(s, open)}, nchosen = 1, next;
    open[chosen[0]] = false;
    while (nchosen < 4 && (next = find_far(s, open, chosen, nchosen)) >= 0) {
      open[next] = false;
      chosen[nchosen++] = next;
    }
    for (int k = 0; k < nchosen && n < most; k++) out[n++] = s->item[chosen[k]];
  }
  return n;
}

int sr_surface_convex(const srSurface* surface, const srConvex* shape, const double pose[16], double margin,
                      srTouch* out, int most) {
  Search s = {.surface = surface, .shape = shape, .pose = pose, .margin = margin, .reach = sr_convex_reach(shape)};
  double low[3], high[3];
  if (!isfinite(s.reach)) return 0;
  sr_convex_bounds(shape, pose, low, high);
  for (int k = 0; k < 3; k++) {
    low[k] -= margin;
    high[k] += margin;
  }
  surface->near(surface->user, low, high, visit, &s);
  return choose(&s, out, most);
}
