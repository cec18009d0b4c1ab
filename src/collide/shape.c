// Support functions s(n) = max n.x of convex cores, their points x(n) and Hessians dx/dn, one row of a table per kind.
//
//   ellipsoid         x = E n/s,  s = sqrt(n^T E n),  H = (E - x x^T)/s,  E = diag(a^2);  peeled by r:  x - r n,  s - r,  H - r (1 - n n^T)
//   rim of radius r   x = r u + z, u = p/|p|, p the part of n normal to the axis;  H = r (1 - u u^T)/|p| in its plane
//   corner            x constant, H = 0
//
// With n of any length, s is homogeneous of degree one and x of degree 0; H is taken at |n| = 1 (Rockafellar, Convex Analysis,
// section 13).
#include "collide/shape.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

// Above so many corners a hull is searched from corner to neighbour.
#define SCAN_MOST 50

typedef struct Kind {
  double (*support)(const srConvex* s, const double n[3], int hint, double x[3], int* feature);
  void (*point)(const srConvex* s, int feature, const double n[3], double x[3]);
  void (*hessian)(const srConvex* s, int feature, const double n[3], double H[9]);  // NULL: 0
  double (*reach)(const srConvex* s);                                               // of the core
} Kind;

// ---------------------------------------------------------------------------------------------------------------- point
static void at_origin(const srConvex* s, int feature, const double n[3], double x[3]) {
  (void)s, (void)feature, (void)n;
  x[0] = x[1] = x[2] = 0;
}

static double support_point(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = 0;
  at_origin(s, 0, n, x);
  return 0;
}

static double no_reach(const srConvex* s) {
  (void)s;
  return 0;
}

// ------------------------------------------------------------------------------------------------------------------ box
// Bit k of a corner: it is at the negative side of axis k.
static void box_corner(const srConvex* s, int feature, const double n[3], double x[3]) {
  (void)n;
  for (int k = 0; k < 3; k++) x[k] = feature >> k & 1 ? -s->size[k] : s->size[k];
}

static double support_box(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = (n[0] < 0) | (n[1] < 0) << 1 | (n[2] < 0) << 2;
  box_corner(s, *feature, n, x);
  return srm_dot3(n, x);
}

static double box_reach(const srConvex* s) { return srm_norm3(s->size); }

// -------------------------------------------------------------------------------------------------------------- capsule
static void axis_end(const srConvex* s, int feature, const double n[3], double x[3]) {
  (void)n;
  x[0] = x[1] = 0;
  x[2] = feature ? s->size[2] : -s->size[2];
}

static double support_axis(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = n[2] > 0;
  axis_end(s, *feature, n, x);
  return n[2] * x[2];
}

static double axis_reach(const srConvex* s) { return s->size[2]; }

// ---------------------------------------------------------------------------------------------------- cylinder and cone
// A direction exactly along the axis has the whole disc as support: its centre stands for it.
static void rim_point(const srConvex* s, double z, const double n[3], double x[3]) {
  const double p = hypot(n[0], n[1]);
  for (int k = 0; k < 2; k++) x[k] = p > 0 ? s->size[0] * (n[k] / p) : 0;
  x[2] = z;
}

static void rim_hessian(const srConvex* s, const double n[3], double H[9]) {
  const double p = hypot(n[0], n[1]);
  if (!(p > 0)) return;
  const double u[2] = {n[0] / p, n[1] / p}, c = s->size[0] / p;
  H[0] = c * u[1] * u[1];
  H[4] = c * u[0] * u[0];
  H[1] = H[3] = -c * u[0] * u[1];
}

static void cylinder_point(const srConvex* s, int feature, const double n[3], double x[3]) {
  rim_point(s, feature ? s->size[2] : -s->size[2], n, x);
}

static double support_cylinder(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = n[2] > 0;
  cylinder_point(s, *feature, n, x);
  return srm_dot3(n, x);
}

static void cylinder_hessian(const srConvex* s, int feature, const double n[3], double H[9]) {
  (void)feature;
  rim_hessian(s, n, H);
}

static void cone_point(const srConvex* s, int feature, const double n[3], double x[3]) {
  if (feature)
    axis_end(s, 1, n, x);
  else
    rim_point(s, -s->size[2], n, x);
}

static double support_cone(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = 2 * s->size[2] * n[2] > s->size[0] * hypot(n[0], n[1]);
  cone_point(s, *feature, n, x);
  return srm_dot3(n, x);
}

static void cone_hessian(const srConvex* s, int feature, const double n[3], double H[9]) {
  if (!feature) rim_hessian(s, n, H);
}

static double rim_reach(const srConvex* s) { return hypot(s->size[0], s->size[2]); }

// ------------------------------------------------------------------------------------------------------------ ellipsoid
static void ellipsoid_point(const srConvex* s, int feature, const double n[3], double x[3]) {
  (void)feature;
  const double y[3] = {s->size[0] * n[0], s->size[1] * n[1], s->size[2] * n[2]}, length = srm_norm3(y);
  for (int k = 0; k < 3; k++) x[k] = length > 0 ? s->size[k] * (y[k] / length) : 0;
  if (s->peeled > 0) srm_add_scaled3(x, -s->peeled / srm_norm3(n), n, x);
}

static double support_ellipsoid(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  (void)hint;
  *feature = 0;
  ellipsoid_point(s, 0, n, x);
  return srm_dot3(n, x);
}

static void ellipsoid_hessian(const srConvex* s, int feature, const double n[3], double H[9]) {
  const srConvex whole = {.size = {s->size[0], s->size[1], s->size[2]}};
  double x[3];
  ellipsoid_point(&whole, feature, n, x);
  const double length = srm_dot3(n, x);
  if (!(length > 0)) return;
  for (int i = 0; i < 9; i++) {
    H[i] = ((i % 4 == 0 ? s->size[i / 3] * s->size[i / 3] : 0) - x[i / 3] * x[i % 3]) / length;
    H[i] -= s->peeled * ((i % 4 == 0) - n[i / 3] * n[i % 3]);
  }
}

static double largest_size(const srConvex* s) { return fmax(s->size[0], fmax(s->size[1], s->size[2])); }

static double ellipsoid_reach(const srConvex* s) { return largest_size(s) - s->peeled; }

// ----------------------------------------------------------------------------------------------------------------- hull
static const double* corner(const srConvex* s, int i) { return s->hull->corner + 3 * (size_t)i; }

static void hull_corner(const srConvex* s, int feature, const double n[3], double x[3]) {
  (void)n;
  srm_set3(x, corner(s, feature));
}

static int scan(const srConvex* s, const double n[3]) {
  int best = 0;
  double most = srm_dot3(n, corner(s, 0));
  for (int i = 1; i < s->hull->n; i++) {
    const double d = srm_dot3(n, corner(s, i));
    if (d > most) most = d, best = i;
  }
  return best;
}

// A corner that no neighbour exceeds is the farthest of a convex polyhedron (linear programming). d grows with every step: it ends.
static int climb(const srConvex* s, const double n[3], int from) {
  const srConvexHull* h = s->hull;
  int best = from >= 0 && from < h->n ? from : 0;
  double most = srm_dot3(n, corner(s, best));
  for (int last = -1; last != best;) {
    last = best;
    for (int k = h->first[last]; k < h->first[last + 1]; k++) {
      const double d = srm_dot3(n, corner(s, h->neighbour[k]));
      if (d > most) most = d, best = h->neighbour[k];
    }
  }
  return best;
}

static double support_hull(const srConvex* s, const double n[3], int hint, double x[3], int* feature) {
  *feature = s->hull->n > SCAN_MOST && s->hull->first != NULL ? climb(s, n, hint) : scan(s, n);
  srm_set3(x, corner(s, *feature));
  return srm_dot3(n, x);
}

static double hull_reach(const srConvex* s) { return s->hull->reach; }

// ---------------------------------------------------------------------------------------------------------------- table
static const Kind kinds[SR_KINDS] = {
    [SR_KIND_SPHERE] = {support_point, at_origin, NULL, no_reach},
    [SR_KIND_BOX] = {support_box, box_corner, NULL, box_reach},
    [SR_KIND_CAPSULE] = {support_axis, axis_end, NULL, axis_reach},
    [SR_KIND_CYLINDER] = {support_cylinder, cylinder_point, cylinder_hessian, rim_reach},
    [SR_KIND_CONE] = {support_cone, cone_point, cone_hessian, rim_reach},
    [SR_KIND_ELLIPSOID] = {support_ellipsoid, ellipsoid_point, ellipsoid_hessian, ellipsoid_reach},
    [SR_KIND_HULL] = {support_hull, hull_corner, NULL, hull_reach},
};

bool sr_shape_bounded(srShapeKind kind) { return kind > SR_KINDS || kinds[kind].support != NULL; }

double sr_convex_core_support(const srConvex* s, const double n[3], int hint, double point[3], int* feature) {
  return kinds[s->kind].support(s, n, hint, point, feature);
}

double sr_convex_support(const srConvex* s, const double n[3], double point[3]) {
  int feature;
  const double core = sr_convex_core_support(s, n, -1, point, &feature);
  srm_add_scaled3(point, s->radius, n, point);
  return core + s->radius;
}

void sr_convex_feature_point(const srConvex* s, int feature, const double n[3], double point[3]) {
  kinds[s->kind].point(s, feature, n, point);
}

void sr_convex_feature_hessian(const srConvex* s, int feature, const double n[3], double H[9]) {
  memset(H, 0, 9 * sizeof *H);
  if (kinds[s->kind].hessian != NULL) kinds[s->kind].hessian(s, feature, n, H);
}

bool sr_convex_cap(const srConvex* s, const double n[3], double sine, double normal[3]) {
  if (s->kind != SR_KIND_CYLINDER && s->kind != SR_KIND_CONE) return false;
  if (s->kind == SR_KIND_CONE && n[2] > 0) return false;
  normal[0] = normal[1] = 0;
  normal[2] = n[2] > 0 ? 1 : -1;
  return hypot(n[0], n[1]) <= sine;
}

double sr_convex_reach(const srConvex* s) {
  return sr_shape_bounded(s->kind) ? kinds[s->kind].reach(s) + s->radius : (double)INFINITY;
}

// About the mean of the corners.
static double hull_inner(const srConvexHull* h) {
  double middle[3] = {0}, least = INFINITY;
  for (int i = 0; i < h->n; i++) srm_add_scaled3(middle, 1.0 / h->n, h->corner + 3 * (size_t)i, middle);
  for (int i = 0; i < h->nface; i++) {
    double r[3];
    srm_sub3(h->corner + 3 * (size_t)h->face_corner[h->face_first[i]], middle, r);
    least = fmin(least, srm_dot3(h->face_normal + 3 * (size_t)i, r));
  }
  return isfinite(least) ? fmax(least, 0) : 0;
}

double sr_convex_inner(const srConvex* s) {
  const double r = s->size[0], l = s->size[2];
  switch (s->kind) {
    case SR_KIND_PLANE: return INFINITY;
    case SR_KIND_BOX:
    case SR_KIND_ELLIPSOID: return s->radius - s->peeled + fmin(r, fmin(s->size[1], l));
    case SR_KIND_CYLINDER: return s->radius + fmin(r, l);
    case SR_KIND_CONE: return s->radius + (r > 0 ? 2 * r * l / (r + hypot(r, 2 * l)) : 0);  // the ball inscribed
    case SR_KIND_HULL: return s->radius + hull_inner(s->hull);
    default: return s->radius;
  }
}

// The support functions of the six directions of the frame: s(R^T e).
void sr_convex_bounds(const srConvex* s, const double pose[16], double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    double n[3] = {pose[k], pose[4 + k], pose[8 + k]}, x[3];
    if (!sr_shape_bounded(s->kind)) {
      low[k] = -INFINITY, high[k] = INFINITY;
      continue;
    }
    high[k] = pose[12 + k] + sr_convex_support(s, n, x);
    srm_scale3(-1, n, n);
    low[k] = pose[12 + k] - sr_convex_support(s, n, x);
  }
}

srConvex sr_convex_plane(void) { return (srConvex){.kind = SR_KIND_PLANE}; }
srConvex sr_convex_sphere(double radius) { return (srConvex){.kind = SR_KIND_SPHERE, .radius = radius}; }
srConvex sr_convex_box(const double half[3]) {
  return (srConvex){.kind = SR_KIND_BOX, .size = {half[0], half[1], half[2]}};
}
srConvex sr_convex_capsule(double half_length, double radius) {
  return (srConvex){.kind = SR_KIND_CAPSULE, .size = {0, 0, half_length}, .radius = radius};
}
srConvex sr_convex_cylinder(double half_length, double radius) {
  return (srConvex){.kind = SR_KIND_CYLINDER, .size = {radius, radius, half_length}};
}
srConvex sr_convex_cone(double half_length, double radius) {
  return (srConvex){.kind = SR_KIND_CONE, .size = {radius, radius, half_length}};
}
srConvex sr_convex_ellipsoid(const double semi_axes[3]) {
  return (srConvex){.kind = SR_KIND_ELLIPSOID, .size = {semi_axes[0], semi_axes[1], semi_axes[2]}};
}
srConvex sr_convex_of_hull(const srConvexHull* hull) { return (srConvex){.kind = SR_KIND_HULL, .hull = hull}; }

// A convex body is the sum of a ball and another body if no radius of curvature is below that of the ball (Schneider, Convex Bodies, theorem 3.2.12);
// those of an ellipsoid are between a_min^2/a_max and a_max^2/a_min.
srConvex sr_convex_peel(const srConvex* s) {
  srConvex out = *s;
  if (s->kind != SR_KIND_ELLIPSOID || s->peeled > 0) return out;
  const double least = fmin(s->size[0], fmin(s->size[1], s->size[2]));
  if (!(least > 0)) return out;
  out.peeled = least * (least / largest_size(s));
  out.radius += out.peeled;
  return out;
}
