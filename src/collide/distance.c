// Gap, normal and nearest points of any two convex shapes: a closed form where there is one, else GJK on the cores (EPA where they overlap)
// and the Newton iteration on the normal; then the radii.
//
// Of cores that are apart, two points at the distance -h(n) prove the answer, wherever the iteration began: GJK need not be accurate, and the last
// answer is not needed. An ellipsoid is the sum of a ball and a smaller core, so that its cores are apart in a shallow overlap, too.
#include "collide/distance.h"

#include <math.h>
#include <string.h>

#include "collide/gjk.h"
#include "math/vector3.h"

#define LARGEST 1e100
#define QUICK_DISTANCE                                                                                                 \
  1e-3  // relative, of the first attempt: Newton's iteration does the rest, and its points prove the answer
#define TIGHT_DISTANCE 1e-14  // relative, of the second attempt
#define TIGHT_DEPTH 1e-12     // of the size
#define TOUCHING 1e-9         // of the size: v is too short for a direction, EPA has a better one

// ----------------------------------------------------------------------------------------------------------------- input
static bool all_finite(const double* x, int n) {
  for (int i = 0; i < n; i++)
    if (!(fabs(x[i]) <= LARGEST)) return false;
  return true;
}

static bool is_finite(const srConvex* s) {
  return all_finite(s->size, 3) && all_finite(&s->radius, 1) && (s->hull == NULL || all_finite(&s->hull->reach, 1));
}

static bool pose_is_finite(const double pose[16]) {
  return all_finite(pose, 3) && all_finite(pose + 4, 3) && all_finite(pose + 8, 3) && all_finite(pose + 12, 3);
}

// The direction to start from: that of an earlier answer, else the line of the origins.
static void first_direction(const double warm[3], const double x[3], double n[3]) {
  srm_set3(n, x);
  if (warm != NULL && all_finite(warm, 3) && srm_norm3(warm) > 0.5) srm_set3(n, warm);
  if (!(srm_unit3(n) > 0)) n[0] = 1;
}

// ---------------------------------------------------------------------------------------------------------- closed forms
static const srDistanceKind* find_row(srShapeKind one, srShapeKind two, bool* swap) {
  static const srDistanceKind* const rows[] = {
#define DISTANCE_ROW(name) &sr_distance_##name,
      SR_DISTANCE_LIST(DISTANCE_ROW)
#undef DISTANCE_ROW
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const srDistanceKind* row = rows[i];
    for (int k = 0; k < 2; k++) {
      const srShapeKind a = k ? two : one, b = k ? one : two;
      *swap = k;
      if (row->a == a && (row->b == b || (row->b == SR_KINDS && sr_shape_bounded(b)))) return row;
    }
  }
  return NULL;
}

static void turn_active(const double pose[16], srActive* x) {
  double H[9];
  for (int i = 0; i < 2; i++) srm_pose_rotate(pose, x->edge[i], x->edge[i]);
  srm_pose_rotate_tensor(pose, x->hessian, H);
  memcpy(x->hessian, H, sizeof H);
}

// The answer for b and a, in the axes of b, becomes that for a and b.
static void exchange(const double pose[16], srNearest* out) {
  const srNearest was = *out;
  double n[3];
  srm_pose_rotate(pose, was.n, n);
  srm_scale3(-1, n, out->n);
  srm_pose_point(pose, was.point_b, out->point_a);
  srm_pose_point(pose, was.point_a, out->point_b);
  out->a = was.b;
  out->b = was.a;
  turn_active(pose, &out->a);
  turn_active(pose, &out->b);
}

static void closed_form(const srDistanceKind* row, bool swap, const srConvex* a, const srConvex* b,
                        const double pose[16], srNearest* out) {
  double back[16];
  out->unique = true;
  if (!swap) {
    row->place(a, b, pose, out);
    return;
  }
  srm_pose_invert(pose, back);
  row->place(b, a, back, out);
  exchange(pose, out);
}

// Either shape above a face of the other.
static bool above_face(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  double back[16];
  if (sr_distance_face(a, b, pose, out)) return true;
  if (a->kind != SR_KIND_ELLIPSOID) return false;
  srm_pose_invert(pose, back);
  if (!sr_distance_face(b, a, back, out)) return false;
  exchange(pose, out);
  return true;
}

// --------------------------------------------------------------------------------------------------------- general pairs
static bool attempt(srConvexPair* p, const double start[3], double distance_tolerance, double depth_tolerance,
                    srNearest* out) {
  srCoreNear near = {.n = {0}};
  if (!sr_gjk(p, start, distance_tolerance, &near)) sr_epa(p, depth_tolerance, &near);
  out->iterations += near.iterations;
  bool proven = sr_normal_newton(p, &near, out);
  if (near.apart && !proven && near.high <= TOUCHING * p->size) {
    srNearest other = *out;
    sr_epa(p, depth_tolerance, &near);
    near.apart = true;
    proven = sr_normal_newton(p, &near, &other);
    if (other.core >= out->core && other.error <= out->error) *out = other;
  }
  return proven;
}

static void general(const srConvex* a, const srConvex* b, const double pose[16], const double warm[3], double tolerance,
                    srNearest* out) {
  const double reach = fmax(sr_convex_reach(a) - a->radius, sr_convex_reach(b) - b->radius);
  srConvexPair p = {
      .a = a, .b = b, .pose = pose, .size = fmax(reach, srm_norm3(pose + 12)), .hint_a = -1, .hint_b = -1};
  srNearest other = *out;
  double start[3];
  if (above_face(a, b, pose, out)) return;
  first_direction(warm, pose + 12, start);
  if (attempt(&p, start, QUICK_DISTANCE, tolerance, out)) return;
  other.iterations = out->iterations;
  (void)attempt(&p, start, TIGHT_DISTANCE, fmin(TIGHT_DEPTH, tolerance), &other);
  if (other.core > out->core || other.error < out->error) *out = other;
  out->iterations = other.iterations;
}

// Adds the balls around the cores; the two points are exactly a gap apart.
static void add_radii(const srConvex* a, const srConvex* b, srNearest* out) {
  double middle[3];
  out->radius[0] = a->radius;
  out->radius[1] = b->radius;
  out->gap = out->core - a->radius - b->radius;
  for (int k = 0; k < 3; k++)
    middle[k] = 0.5 * (out->point_a[k] + out->point_b[k] + (a->radius - b->radius) * out->n[k]);
  srm_add_scaled3(middle, -0.5 * out->gap, out->n, out->point_a);
  srm_add_scaled3(middle, 0.5 * out->gap, out->n, out->point_b);
}

void sr_shape_distance(const srConvex* a, const srConvex* b, const double pose[16], double warm[3], double tolerance,
                       srNearest* out) {
  bool swap = false;
  const srDistanceKind* row = find_row(a->kind, b->kind, &swap);
  memset(out, 0, sizeof *out);
  out->gap = INFINITY;
  out->n[2] = 1;
  out->state = SR_NEAREST_NONE;
  if (row == NULL && !(sr_shape_bounded(a->kind) && sr_shape_bounded(b->kind))) return;
  out->state = SR_NEAREST_NOT_FINITE;
  if (!is_finite(a) || !is_finite(b) || !pose_is_finite(pose)) return;
  out->state = SR_NEAREST_FOUND;
  srm_set3(out->x, pose + 12);
  if (row != NULL) {
    closed_form(row, swap, a, b, pose, out);
    add_radii(a, b, out);
  } else {
    const srConvex one = sr_convex_peel(a), two = sr_convex_peel(b);
    general(&one, &two, pose, warm, tolerance, out);
    add_radii(&one, &two, out);
  }
  if (warm != NULL) srm_set3(warm, out->n);
}
