// Convex shapes and the distance of two of them: against exact cases, by the properties of the gap, at awkward poses, and derivatives
// against differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/distance.h"
#include "contact_cases.h"
#include "math/vector3.h"
#include "runner.h"

static const char* const kind_names[SR_KINDS] = {"none",    "plane",    "sphere", "hollow",    "box",
                                                 "capsule", "cylinder", "cone",   "ellipsoid", "hull"};

// ------------------------------------------------------------------------------------------------------------- numbers
static unsigned long long state = 1;

static double uniform(double low, double high) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return low + (high - low) * ((double)(state >> 11) / 9007199254740992.0);
}

static void random_unit(double n[3]) {
  do
    for (int k = 0; k < 3; k++) n[k] = uniform(-1, 1);
  while (srm_dot3(n, n) > 1 || srm_dot3(n, n) < 0.01);
  (void)srm_unit3(n);
}

static void pose_of(const double quaternion[4], const double position[3], double pose[16]) {
  double q[4], square = 0;
  for (int k = 0; k < 4; k++) square += quaternion[k] * quaternion[k];
  for (int k = 0; k < 4; k++) q[k] = quaternion[k] / sqrt(square);
  srm_pose_identity(pose);
  srm_pose_from_quaternion(q, pose);
  for (int k = 0; k < 3; k++) pose[12 + k] = position[k];
}

static void random_rotation(double pose[16]) {
  double q[4];
  do
    for (int k = 0; k < 4; k++) q[k] = uniform(-1, 1);
  while (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 0.01);
  pose_of(q, (double[3]){0}, pose);
}

// pose turned by a rotation vector about the origin of the body and moved, both in the outer axes.
static void moved_pose(const double pose[16], const double turn[3], const double shift[3], double out[16]) {
  double axis[3], outer[16], body[16];
  srm_set3(axis, turn);
  const double angle = srm_unit3(axis), s = sin(0.5 * angle);
  pose_of((double[]){cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]}, (double[3]){0}, outer);
  memcpy(body, pose, sizeof body);
  body[12] = body[13] = body[14] = 0;
  srm_pose_compose(outer, body, out);
  for (int k = 0; k < 3; k++) out[12 + k] = pose[12 + k] + shift[k];
}

// -------------------------------------------------------------------------------------------------------------- shapes
#define HULLS 4
static srPool hull_pool;
static const srConvexHull* hulls[HULLS];

static void make_hulls(void) {
  static const int size[HULLS] = {20, 20, 300, 8};
  if (hulls[0] != NULL) return;
  sr_pool_init(&hull_pool);
  for (int i = 0; i < HULLS; i++) {
    double point[3 * 300];
    for (int j = 0; j < size[i]; j++) {
      random_unit(point + 3 * j);
      srm_scale3(uniform(0.5, 0.9), point + 3 * j, point + 3 * j);
      if (i == 2) srm_scale3(1 / srm_norm3(point + 3 * j), point + 3 * j, point + 3 * j);
    }
    hulls[i] = sr_convex_hull_create(&hull_pool, point, size[i]);
  }
}

static srConvex random_shape(srShapeKind kind, double stretch) {
  const double size[3] = {uniform(0.3, 1), uniform(0.3, 1), stretch * uniform(0.3, 1)};
  make_hulls();
  switch (kind) {
    case SR_KIND_SPHERE: return sr_convex_sphere(size[0]);
    case SR_KIND_BOX: return sr_convex_box(size);
    case SR_KIND_CAPSULE: return sr_convex_capsule(size[2], size[0]);
    case SR_KIND_CYLINDER: return sr_convex_cylinder(size[2], size[0]);
    case SR_KIND_CONE: return sr_convex_cone(size[2], size[0]);
    case SR_KIND_ELLIPSOID: return sr_convex_ellipsoid(size);
    case SR_KIND_HULL: return sr_convex_of_hull(hulls[(int)uniform(0, HULLS)]);
    default: return sr_convex_plane();
  }
}

// h(n) of the whole shapes, by their support functions.
static double support_of_pair(const srConvex* a, const srConvex* b, const double pose[16], const double n[3]) {
  double m[3], x[3];
  for (int k = 0; k < 3; k++) m[k] = -srm_dot3(pose + 4 * k, n);
  return sr_convex_support(a, n, x) + sr_convex_support(b, m, x) - srm_dot3(n, pose + 12);
}

// Moves b along a direction until the gap is about `gap`: first far away, then by its value, which is convex in the motion.
static void place_at_gap(const srConvex* a, const srConvex* b, double pose[16], double gap) {
  double direction[3], warm[3] = {0};
  srNearest near;
  random_unit(direction);
  double along = 3 * fmin(10, sr_convex_reach(a) + sr_convex_reach(b));
  for (int i = 0; i < 12; i++) {
    srm_scale3(along, direction, pose + 12);
    sr_shape_distance(a, b, pose, warm, SR_DISTANCE_SURE, &near);
    if (srm_dot3(near.n, direction) < 0.2) srm_set3(direction, near.n);
    const double slope = srm_dot3(near.n, direction);
    if (fabs(near.gap - gap) < 0.02 * fabs(gap)) break;
    along -= (near.gap - gap) / slope;
  }
}

// --------------------------------------------------------------------------------------------------------- exact cases
static void shape_of_case(srPool* pool, const ContactCaseBody* body, srConvex* shape) {
  *shape = body->shape;
  if (body->point != NULL) shape->hull = sr_convex_hull_create(pool, body->point, body->npoint);
}

static void ensure_vector(const double got[3], const double expected[3], double tolerance, const char* name,
                          const char* what) {
  double r[3];
  srm_sub3(got, expected, r);
  if (!(srm_norm3(r) <= tolerance))
    printf("    %s: %s (%.17g %.17g %.17g), expected (%.17g %.17g %.17g)\n", name, what, got[0], got[1], got[2],
           expected[0], expected[1], expected[2]);
  ENSURE_SMALL(srm_norm3(r), tolerance);
}

static void check_case(const ContactCase* c, bool swap) {
  srPool pool;
  srConvex shape[2];
  double pose[2][16], back[16], relative[16], n[3], point[2][3];
  const ContactCaseBody* body[2] = {swap ? &c->b : &c->a, swap ? &c->a : &c->b};
  srNearest near;
  sr_pool_init(&pool);
  for (int i = 0; i < 2; i++) {
    shape_of_case(&pool, body[i], &shape[i]);
    pose_of(body[i]->quaternion, body[i]->position, pose[i]);
  }
  srm_pose_invert(pose[0], back);
  for (int k = 0; k < 3; k++) back[12 + k] = 0;
  srm_pose_compose(back, pose[1], relative);
  double x[3];
  srm_sub3(pose[1] + 12, pose[0] + 12, x);
  srm_pose_rotate(back, x, relative + 12);
  sr_shape_distance(&shape[0], &shape[1], relative, NULL, SR_DISTANCE_SURE, &near);
  const double far = fmax(1, srm_norm3(pose[0] + 12)), rounding = 1e-12 + 2e-16 * far;
  if (fabs(near.gap - c->gap) > rounding) printf("    %s: gap %.17g, expected %.17g\n", c->name, near.gap, c->gap);
  ENSURE_NEAR(near.gap, c->gap, rounding);
  srm_pose_rotate(pose[0], near.n, n);
  if (swap) srm_scale3(-1, n, n);
  if (c->has_normal) ensure_vector(n, c->normal, 1e-9, c->name, "normal");
  srm_pose_point(pose[0], near.point_a, point[swap]);
  srm_pose_point(pose[0], near.point_b, point[!swap]);
  if (c->has_points) ensure_vector(point[0], c->point_a, 1e-9 * far, c->name, "point_a");
  if (c->has_points) ensure_vector(point[1], c->point_b, 1e-9 * far, c->name, "point_b");
  ENSURE(near.unique || !c->has_normal || c->gap == 0);
  sr_pool_free(&pool);
}

TEST(gap_normal_and_points_of_exact_cases) {
  for (size_t i = 0; i < sizeof contact_cases / sizeof *contact_cases; i++)
    for (int swap = 0; swap < 2; swap++) check_case(&contact_cases[i], swap);
}

// ---------------------------------------------------------------------------------------------------------- properties
typedef struct Worst {
  double apart, depth;  // error of the answer by its own certificate
  double swap, convex, kkt;
  int count;
} Worst;

static void larger(double* worst, double x) {
  if (!(x <= *worst)) *worst = x;
}

// What holds for the gap of any two convex shapes, at one pose.
static void check_properties(const srConvex* a, const srConvex* b, const double pose[16], double size, Worst* worst) {
  srNearest near, other;
  double back[16], n[3], r[3], x[3];
  sr_shape_distance(a, b, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_FOUND && isfinite(near.gap));
  ENSURE_NEAR(srm_norm3(near.n), 1, 1e-14);
  const double rounding = 1e-16 * size;
  larger(near.core > 0 ? &worst->apart : &worst->depth, near.error / size);
  // The normal gives the gap, and the points are on both shapes: within both supports of the normal, a gap apart.
  if (sr_shape_bounded(a->kind)) larger(&worst->kkt, fabs(near.gap + support_of_pair(a, b, pose, near.n)) / size);
  srm_sub3(near.point_b, near.point_a, r);
  srm_add_scaled3(r, -near.gap, near.n, r);
  ENSURE_SMALL(srm_norm3(r), 4 * rounding + 1e-15);
  for (int i = 0; i < 8 && sr_shape_bounded(a->kind); i++) {  // no direction is better; point_a is inside of a
    random_unit(n);
    ENSURE(-support_of_pair(a, b, pose, n) <= near.gap + near.error + 20 * rounding);
    ENSURE(srm_dot3(n, near.point_a) <= sr_convex_support(a, n, x) + 1e-12 * size);
  }
  srm_pose_invert(pose, back);
  sr_shape_distance(b, a, back, NULL, SR_DISTANCE_SURE, &other);
  larger(&worst->swap, fabs(other.gap - near.gap) / size);
  double shifted[16];
  memcpy(shifted, pose, sizeof shifted);
  random_unit(n);
  srm_scale3(uniform(0, 0.3), n, r);
  srm_add_scaled3(shifted + 12, 1, r, shifted + 12);
  sr_shape_distance(a, b, shifted, NULL, SR_DISTANCE_SURE, &other);
  larger(&worst->convex, (near.gap + srm_dot3(near.n, r) - other.gap) / size);
  ENSURE(fabs(other.gap - near.gap) <= srm_norm3(r) + near.error + other.error + 20 * rounding);
  worst->count++;
}

static void check_kinds(srShapeKind one, srShapeKind two, int count, double stretch, Worst* worst) {
  static const double gaps[] = {0.3, 0.05, 1e-6, -1e-6, -0.05, -0.2};
  for (int i = 0; i < count; i++) {
    const srConvex a = random_shape(one, stretch), b = random_shape(two, i % 2 ? stretch : 1);
    double pose[16];
    random_rotation(pose);
    place_at_gap(&a, &b, pose, gaps[i % 6]);
    const double reach = fmax(sr_convex_reach(&b), sr_shape_bounded(a.kind) ? sr_convex_reach(&a) : 0);
    check_properties(&a, &b, pose, reach, worst);
  }
}

// Relative to the larger shape. Where cores overlap the certificate is the tolerance of EPA, the answer is as good as apart: swapping compares
// two answers found in different ways.
static void ensure_worst(const Worst* w, const char* one, const char* two) {
  if (getenv("COLLIDE_PRINT") != NULL)
    printf("    %-9s %-9s apart %.1e depth %.1e swap %.1e convex %.1e normal %.1e\n", one, two, w->apart, w->depth,
           w->swap, w->convex, w->kkt);
  ENSURE_SMALL(w->apart, 1e-13);
  ENSURE_SMALL(w->depth, 2 * SR_DISTANCE_SURE);
  ENSURE_SMALL(w->swap, 1e-11);
  ENSURE_SMALL(w->convex, 1e-13);
  ENSURE_SMALL(w->kkt, 1e-14);
}

TEST(the_gap_of_every_two_kinds_is_proven_symmetric_and_convex) {
  const int count = runner_long() ? 10000 / 35 + 1 : 12;
  for (int i = SR_KIND_PLANE; i < SR_KINDS; i++)
    for (int j = i; j < SR_KINDS; j++) {
      if (i == SR_KIND_HOLLOW || !sr_shape_bounded((srShapeKind)j)) continue;
      Worst worst = {0};
      state = 7 + 100 * (unsigned)i + (unsigned)j;
      check_kinds((srShapeKind)i, (srShapeKind)j, count, 1, &worst);
      ensure_worst(&worst, kind_names[i], kind_names[j]);
    }
}

// --------------------------------------------------------------------------------------------------------- derivatives
typedef struct Slopes {
  double gap, n, point_a, point_b;  // largest deviation from differences
  int smooth, count;
} Slopes;

// Differences by one motion, of fourth order. False: those of second order with one and two steps disagree, since features change in between.
static bool differences(const srConvex* a, const srConvex* b, const double pose[16], int j, double out[10]) {
  const double e = 2e-4;
  double slope[2][10];
  for (int i = 0; i < 2; i++)
    for (int side = -1; side <= 1; side += 2) {
      const double d = side * (i + 1) * e, f = 1 / (2 * d);
      const double turn[3] = {(j == 0) * d, (j == 1) * d, (j == 2) * d},
                   shift[3] = {(j == 3) * d, (j == 4) * d, (j == 5) * d};
      double moved[16];
      srNearest near;
      moved_pose(pose, turn, shift, moved);
      sr_shape_distance(a, b, moved, NULL, SR_DISTANCE_SURE, &near);
      for (int k = 0; k < 10; k++) {
        const double value = k == 0  ? near.gap
                             : k < 4 ? near.n[k - 1]
                             : k < 7 ? near.point_a[k - 4]
                                     : near.point_b[k - 7];
        slope[i][k] = f * value + (side > 0 ? slope[i][k] : 0);
      }
    }
  for (int k = 0; k < 10; k++) {
    if (fabs(slope[0][k] - slope[1][k]) > 1e-3) return false;
    out[k] = (4 * slope[0][k] - slope[1][k]) / 3;
  }
  return true;
}

// Features with large curvature of the gap change within the steps of the differences, or have large errors there: left out.
static bool is_tame(const srNearestDerivative* d) {
  for (int i = 0; i < 18; i++)
    if (fabs(d->n[i / 6][i % 6]) > 10 || fabs(d->point_a[i / 6][i % 6]) > 30) return false;
  return d->smooth;
}

static void check_derivatives(const srConvex* a, const srConvex* b, const double pose[16], Slopes* worst) {
  srNearest near;
  srNearestDerivative d;
  double slope[6][10];
  sr_shape_distance(a, b, pose, NULL, SR_DISTANCE_SURE, &near);
  sr_nearest_derivative(&near, &d);
  worst->count++;
  if (!is_tame(&d)) return;
  for (int j = 0; j < 6; j++)
    if (!differences(a, b, pose, j, slope[j])) return;
  worst->smooth++;
  for (int j = 0; j < 6; j++) {
    larger(&worst->gap, fabs(slope[j][0] - d.gap[j]));
    for (int k = 0; k < 3; k++) {
      larger(&worst->n, fabs(slope[j][1 + k] - d.n[k][j]));
      larger(&worst->point_a, fabs(slope[j][4 + k] - d.point_a[k][j]));
      larger(&worst->point_b, fabs(slope[j][7 + k] - d.point_b[k][j]));
    }
  }
}

TEST(derivatives_of_gap_normal_and_points_agree_with_differences) {
  static const double gaps[] = {0.5, 0.2, -0.05, -0.2};
  int all = 0, smooth = 0;
  for (int i = SR_KIND_PLANE; i < SR_KINDS; i++)
    for (int j = SR_KIND_PLANE; j < SR_KINDS; j++) {
      Slopes worst = {0};
      if (i == SR_KIND_HOLLOW || j == SR_KIND_HOLLOW || (i == SR_KIND_PLANE && j == i)) continue;
      state = 70 + 100 * (unsigned)i + (unsigned)j;
      for (int k = 0; k < 8; k++) {
        const srConvex a = random_shape((srShapeKind)i, 1), b = random_shape((srShapeKind)j, 1);
        double pose[16];
        random_rotation(pose);
        place_at_gap(&a, &b, pose, gaps[k % 4]);
        check_derivatives(&a, &b, pose, &worst);
      }
      if (getenv("COLLIDE_PRINT") != NULL)
        printf("    %-9s %-9s %d of %d: gap %.1e n %.1e points %.1e %.1e\n", kind_names[i], kind_names[j], worst.smooth,
               worst.count, worst.gap, worst.n, worst.point_a, worst.point_b);
      all += worst.count;
      smooth += worst.smooth;
      ENSURE_SMALL(worst.gap, 1e-8);
      ENSURE_SMALL(worst.n, 1e-5);
      ENSURE_SMALL(worst.point_a, 1e-5);
      ENSURE_SMALL(worst.point_b, 1e-5);
    }
  ENSURE(smooth > 0.8 * all);
}
