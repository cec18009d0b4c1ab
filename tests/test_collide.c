// Convex shapes and the distance of two of them: against exact cases, by the properties of the gap, at awkward poses, and derivatives
// against differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/distance.h"
#include "collide/motion.h"
#include "contact_cases.h"
#include "math/vector3.h"
#include "runner.h"

static const char* const kind_names[SR_KINDS] = {"none",     "plane", "sphere",    "hollow", "box", "capsule",
                                                 "cylinder", "cone",  "ellipsoid", "hull",   "bore"};

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
  const unsigned long long before = state;
  if (hulls[0] != NULL) return;
  state = 5;
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
  state = before;
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
  for (int k = 0; k < 3; k++) n[k] = -srm_dot3(pose + 4 * k, near.n);
  if (sr_shape_bounded(a->kind))
    ENSURE_NEAR(srm_dot3(near.n, near.point_a), sr_convex_support(a, near.n, x), 1e-12 * size + near.error);
  srm_sub3(near.point_b, pose + 12, r);
  ENSURE_NEAR(-srm_dot3(near.n, r), sr_convex_support(b, n, x), 1e-12 * size + near.error);
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
static void ensure_worst(const Worst* w, double apart, const char* one, const char* two) {
  if (getenv("COLLIDE_PRINT") != NULL)
    printf("    %-9s %-9s apart %.1e depth %.1e swap %.1e convex %.1e normal %.1e\n", one, two, w->apart, w->depth,
           w->swap, w->convex, w->kkt);
  ENSURE_SMALL(w->apart, apart);
  ENSURE_SMALL(w->depth, 2 * SR_DISTANCE_SURE);
  ENSURE_SMALL(w->swap, 1e-11);
  ENSURE_SMALL(w->convex, 1e-13);
  ENSURE_SMALL(w->kkt, 1e-14);
}

TEST(the_gap_of_long_and_of_distant_shapes_is_proven_too) {
  static const double stretch[] = {100, 1e4};
  for (int k = 0; k < 2; k++)
    for (int i = SR_KIND_SPHERE; i < SR_KIND_BORE; i++) {
      const int j = SR_KIND_BOX + (i + 3 * k) % (SR_KIND_BORE - SR_KIND_BOX);
      Worst worst = {0};
      if (i == SR_KIND_HOLLOW) continue;
      state = 9 + 100 * (unsigned)i + (unsigned)j;
      check_kinds((srShapeKind)i, (srShapeKind)j, runner_long() ? 300 : 6, stretch[k], &worst);
      ensure_worst(&worst, k ? 1e-11 : 1e-13, kind_names[i], kind_names[j]);
    }
  state = 3;
  for (double far = 10; far < 1e9; far *= 10) {
    const srConvex a = random_shape(SR_KIND_CYLINDER, 1), b = random_shape(SR_KIND_HULL, 1);
    double pose[16], n[3];
    srNearest near;
    random_rotation(pose);
    random_unit(n);
    srm_scale3(far, n, pose + 12);
    sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE(near.error <= 1e-15 * far && fabs(near.gap - far) < 3);
  }
}

TEST(the_gap_of_every_two_kinds_is_proven_symmetric_and_convex) {
  const int count = runner_long() ? 10000 / 35 + 1 : 12;
  for (int i = SR_KIND_PLANE; i < SR_KIND_BORE; i++)
    for (int j = i; j < SR_KIND_BORE; j++) {
      if (i == SR_KIND_HOLLOW || !sr_shape_bounded((srShapeKind)j)) continue;
      Worst worst = {0};
      state = 7 + 100 * (unsigned)i + (unsigned)j;
      check_kinds((srShapeKind)i, (srShapeKind)j, count, 1, &worst);
      ensure_worst(&worst, 1e-13, kind_names[i], kind_names[j]);
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
  for (int i = SR_KIND_PLANE; i < SR_KIND_BORE; i++)
    for (int j = SR_KIND_PLANE; j < SR_KIND_BORE; j++) {
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

// ------------------------------------------------------------------------------------------------------ awkward poses
// Two shapes that face each other along z: that of a upwards, that of b downwards. Turned about z and shifted, gap and normal stay.
typedef struct Facing {
  const char* name;
  srConvex a, b;
  double tilt_a, tilt_b;  // about x
  double shift[2];        // by this at most
  bool sharp;             // overlapping, another direction is shorter
} Facing;

static double height_of(const srConvex* shape, double tilt, double side) {
  double x[3];
  const double n[3] = {0, side * sin(tilt), side * cos(tilt)};
  return sr_convex_support(shape, n, x);
}

static void check_facing(const Facing* f, double gap, double twist, double worst[2]) {
  double a[16], b[16], back[16], pose[16], turn[16], tilt[16], n[3];
  srNearest near;
  pose_of((double[]){cos(0.5 * f->tilt_a), sin(0.5 * f->tilt_a), 0, 0}, (double[3]){0}, a);
  pose_of((double[]){cos(0.5 * f->tilt_b), sin(0.5 * f->tilt_b), 0, 0}, (double[3]){0}, tilt);
  pose_of((double[]){cos(0.5 * twist), 0, 0, sin(0.5 * twist)}, (double[3]){0}, turn);
  srm_pose_compose(turn, tilt, b);
  for (int k = 0; k < 2; k++) b[12 + k] = f->shift[k];
  b[14] = height_of(&f->a, f->tilt_a, 1) + height_of(&f->b, f->tilt_b, -1) + gap;
  srm_pose_invert(a, back);
  srm_pose_compose(back, b, pose);
  sr_shape_distance(&f->a, &f->b, pose, NULL, SR_DISTANCE_SURE, &near);
  srm_pose_rotate(a, near.n, n);
  larger(&worst[0], fabs(near.gap - gap));
  // Two parallel edges have the normal of the line between them, known to rounding by the gap; at an angle of 1e-10 that of their cross
  // product, known to 1e-16/1e-10.
  if (!f->sharp || gap > 1e-9) larger(&worst[1], fmax(fabs(n[0]), fabs(n[1])) + (n[2] < 0));
  if (getenv("COLLIDE_PRINT") != NULL && (fabs(near.gap - gap) > 1e-14 || fabs(n[0]) + fabs(n[1]) > 1e-8))
    printf("    %s gap %g twist %g: error %.1e normal %.1e %.1e certificate %.1e\n", f->name, gap, twist,
           near.gap - gap, n[0], n[1], near.error);
  ENSURE(near.error <= 1e-12 || gap < 0);
  srNearestDerivative d;
  sr_nearest_derivative(&near, &d);
  for (int i = 0; i < 18; i++) ENSURE(isfinite(d.n[i / 6][i % 6]) && isfinite(d.point_a[i / 6][i % 6]));
}

TEST(faces_edges_and_corners_that_face_each_other_exactly) {
  static const double corners[24] = {1,  1, 1, 1,  1, -1, 1,  -1, 1, 1,  -1, -1,
                                     -1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1, -1};
  static const double gaps[] = {0.1, 1e-6, 1e-12, 0, -1e-12, -1e-6, -0.05};
  static const double twists[] = {0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.5};
  const double quarter = 1.5707963267948966, eighth = 0.78539816339744831;
  srPool pool;
  sr_pool_init(&pool);
  const srConvex box = sr_convex_box((double[]){0.5, 0.4, 0.3}), bar = sr_convex_box((double[]){0.5, 0.3, 0.3}),
                 cylinder = sr_convex_cylinder(0.4, 0.3), cone = sr_convex_cone(0.4, 0.3),
                 capsule = sr_convex_capsule(0.5, 0.2),
                 cube = sr_convex_of_hull(sr_convex_hull_create(&pool, corners, 8));
  const Facing facing[] = {
      {"box on box", box, box, 0, 0, {0.1, 0.05}, false},
      {"box on hull", cube, box, 0, 0, {0.3, 0.9}, false},
      {"cylinder on box", box, cylinder, 0, 0, {0.1, 0.05}, false},
      {"cylinder on cylinder", cylinder, cylinder, 0, 0, {0.1, 0.05}, false},
      {"cylinder on cylinder, centred", cylinder, cylinder, 0, 0, {0, 0}, false},
      {"cone on box", box, cone, 0, 0, {0.4, 0.3}, false},
      {"cone on cylinder", cylinder, cone, 0, 0, {0.2, 0.2}, false},
      {"cylinders side by side", cylinder, cylinder, quarter, quarter, {0, 0.1}, false},
      {"cylinder lying on box", box, cylinder, 0, quarter, {0.1, 0.1}, false},
      {"cylinder lying on cap", cylinder, cylinder, 0, quarter, {0.1, 0.1}, false},
      {"capsules side by side", capsule, capsule, quarter, quarter, {0, 0.2}, false},
      {"capsule lying on box", box, capsule, 0, quarter, {0.1, 0.3}, false},
      {"edge on face", box, bar, 0, eighth, {0.1, 0}, false},
      {"edge on edge", bar, bar, eighth, eighth, {0.1, 0}, true},
      {"edge on hull", cube, bar, eighth, eighth, {0.1, 0}, true},
  };
  for (size_t i = 0; i < sizeof facing / sizeof *facing; i++) {
    double worst[2] = {0};
    for (int g = 0; g < 7; g++)
      for (int t = 0; t < 10; t++)
        if (!facing[i].sharp || gaps[g] >= 0) check_facing(&facing[i], gaps[g], twists[t], worst);
    ENSURE_SMALL(worst[0], 1e-12);
    ENSURE_SMALL(worst[1], facing[i].sharp ? 1e-5 : 1e-7);
  }
  sr_pool_free(&pool);
}

// Sliding b along a line through the touch, the gap has no jump: it is 1-Lipschitz, also where cores begin to overlap.
TEST(the_gap_is_continuous_through_the_touch) {
  for (int i = SR_KIND_SPHERE; i < SR_KIND_BORE; i++) {
    const int j = SR_KIND_BOX + i % (SR_KIND_BORE - SR_KIND_BOX);
    double pose[16], start[3], warm[3] = {0}, last = 0;
    if (i == SR_KIND_HOLLOW) continue;
    state = 31 + (unsigned)i;
    const srConvex a = random_shape((srShapeKind)i, 1), b = random_shape((srShapeKind)j, 1);
    random_rotation(pose);
    place_at_gap(&a, &b, pose, 1e-7);
    srm_set3(start, pose + 12);
    for (int k = 0; k <= 400; k++) {
      srNearest near, cold;
      const double reach = sr_convex_reach(&a) + sr_convex_reach(&b);
      for (int c = 0; c < 3; c++) pose[12 + c] = start[c] * (1 - 1e-9 * k / srm_norm3(start));
      sr_shape_distance(&a, &b, pose, warm, SR_DISTANCE_SURE, &near);
      sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &cold);
      ENSURE_NEAR(near.gap, cold.gap, 1e-14 * reach);
      ENSURE(k == 0 || (near.gap <= last + 1e-15 && near.gap >= last - 1e-9 - 4e-15 * reach));
      last = near.gap;
    }
    ENSURE(last < 0);
  }
}

TEST(input_that_is_not_finite_is_answered_as_apart) {
  double pose[16];
  srNearest near;
  srNearestDerivative d;
  srConvex a = sr_convex_box((double[]){1, 1, 1}), b = sr_convex_cylinder(1, 1);
  const srConvex plane = sr_convex_plane(), none = {.kind = SR_KIND_NONE},
                 hollow = {.kind = SR_KIND_HOLLOW, .radius = -1};
  for (int i = 0; i < 16; i++) {
    if (i % 4 == 3) continue;
    srm_pose_identity(pose);
    pose[i] = i % 2 ? (double)NAN : (double)INFINITY;
    sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE(near.state == SR_NEAREST_NOT_FINITE && isinf(near.gap));
    sr_nearest_derivative(&near, &d);
    ENSURE(!d.smooth && d.gap[5] == 0);
  }
  srm_pose_identity(pose);
  a.size[1] = NAN;
  sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_NOT_FINITE);
  a.size[1] = 1;
  double warm[3] = {NAN, 0, 0};
  pose[14] = 5;
  sr_shape_distance(&a, &b, pose, warm, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_FOUND && near.gap == 3 && warm[2] == 1);
  sr_shape_distance(&plane, &plane, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_NONE && isinf(near.gap));
  sr_shape_distance(&none, &b, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_NONE);
  sr_shape_distance(&b, &hollow, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.state == SR_NEAREST_NONE);
}

// Shapes without volume, all at one place. Their h is concave in the squares of the components of n, so that the least is along an axis.
TEST(shapes_without_volume_have_a_gap) {
  const srConvex flat[] = {sr_convex_box((double[]){1, 0.5, 0}),
                           sr_convex_box((double[]){1, 0, 0}),
                           sr_convex_box((double[]){0, 0, 0}),
                           sr_convex_cylinder(0, 0.5),
                           sr_convex_cylinder(1, 0),
                           sr_convex_cone(0, 0.5),
                           sr_convex_capsule(1, 0),
                           sr_convex_capsule(0, 0.5),
                           sr_convex_ellipsoid((double[]){1, 0.5, 0}),
                           sr_convex_ellipsoid((double[]){0, 0, 0}),
                           sr_convex_sphere(0)};
  const int n = (int)(sizeof flat / sizeof *flat);
  for (int i = 0; i < n * n; i++) {
    double pose[16], up[16];
    srNearest near;
    srNearestDerivative d;
    srm_pose_identity(pose);
    sr_shape_distance(&flat[i / n], &flat[i % n], pose, NULL, SR_DISTANCE_SURE, &near);
    double gap = -INFINITY;
    for (int k = 0; k < 3; k++)
      gap = fmax(gap, -support_of_pair(&flat[i / n], &flat[i % n], pose, (double[]){k == 0, k == 1, k == 2}));
    ENSURE_NEAR(near.gap, gap, 1e-12);
    ENSURE(!near.unique);
    sr_nearest_derivative(&near, &d);
    for (int k = 0; k < 18; k++) ENSURE(isfinite(d.n[k / 6][k % 6]) && isfinite(d.point_b[k / 6][k % 6]));
    memcpy(up, pose, sizeof up);
    double x[3];
    const double z[3] = {0, 0, 1};
    up[14] = 2 + sr_convex_support(&flat[i / n], z, x) + sr_convex_support(&flat[i % n], (double[]){0, 0, -1}, x);
    sr_shape_distance(&flat[i / n], &flat[i % n], up, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, 2, 1e-14);
    ENSURE_NEAR(near.n[2], 1, 1e-14);
  }
}

// --------------------------------------------------------------------------------------------------------------- shapes
TEST(support_points_hessians_and_bounds_of_every_kind) {
  for (int i = SR_KIND_SPHERE; i < SR_KIND_BORE; i++)
    for (int k = 0; k < 20 && i != SR_KIND_HOLLOW; k++) {
      state = 50 + 100 * (unsigned)i + (unsigned)k;
      const srConvex whole = random_shape((srShapeKind)i, 1), s = k % 2 ? sr_convex_peel(&whole) : whole;
      double n[3], x[3], other[3], H[9], pose[16], low[3], high[3];
      int feature;
      random_unit(n);
      const double support = sr_convex_support(&s, n, x);
      ENSURE_NEAR(support, srm_dot3(n, x), 1e-15);
      ENSURE(srm_norm3(x) <= sr_convex_reach(&s) * (1 + 1e-15));
      (void)sr_convex_core_support(&s, n, -1, x, &feature);
      sr_convex_feature_point(&s, feature, n, other);
      ENSURE(memcmp(x, other, sizeof x) == 0);
      sr_convex_feature_hessian(&s, feature, n, H);
      for (int c = 0; c < 3; c++) {  // dx/dn by differences
        double plus[3], minus[3], m[3];
        srm_set3(m, n);
        m[c] += 1e-5;
        sr_convex_feature_point(&s, feature, m, plus);
        m[c] -= 2e-5;
        sr_convex_feature_point(&s, feature, m, minus);
        for (int r = 0; r < 3; r++) ENSURE_NEAR((plus[r] - minus[r]) / 2e-5, H[3 * r + c], 1e-7);
      }
      random_rotation(pose);
      pose[12] = 3;
      sr_convex_bounds(&s, pose, low, high);
      sr_convex_support(&s, n, x);
      srm_pose_point(pose, x, other);
      for (int c = 0; c < 3; c++)
        ENSURE(other[c] >= low[c] - 1e-14 && other[c] <= high[c] + 1e-14 && high[c] - low[c] > 0.1);
    }
}

TEST(a_hull_has_corners_neighbours_and_flat_faces) {
  srPool pool;
  double point[3 * 1000], cube[3 * 27];
  sr_pool_init(&pool);
  for (int i = 0; i < 81; i++) cube[i] = (double)(i % 3 == 0 ? i / 3 % 3 : i % 3 == 1 ? i / 9 % 3 : i / 27) - 1;
  const srConvexHull* h = sr_convex_hull_create(&pool, cube, 27);
  ENSURE_EQUAL(h->nface, 6);
  ENSURE_NEAR(h->reach, sqrt(3), 1e-15);
  const srConvex s = sr_convex_of_hull(h), box = sr_convex_box((double[]){1, 1, 1});
  for (int i = 0; i < 6; i++) {
    double n[3] = {0};
    srFlat flat, of_box;
    n[i / 2] = i % 2 ? -1 : 1;
    sr_convex_flat(&s, n, 1e-6, &flat);
    sr_convex_flat(&box, n, 1e-6, &of_box);
    ENSURE(flat.dimension == 2 && of_box.dimension == 2 && of_box.n == 4 && flat.n >= 4);
    for (int f = 0; f < 2; f++) {  // area 4, counterclockwise
      const srFlat* x = f ? &of_box : &flat;
      double area[3] = {0}, part[3];
      for (int c = 0; c < x->n; c++) {
        srm_cross3(x->corner[c], x->corner[(c + 1) % x->n], part);
        srm_add_scaled3(area, 0.5, part, area);
      }
      ENSURE_NEAR(srm_dot3(area, n), 4, 1e-14);
      ENSURE_NEAR(srm_dot3(x->normal, n), 1, 1e-14);
    }
  }
  state = 17;
  for (int i = 0; i < 1000; i++) random_unit(point + 3 * i);
  const srConvex ball = sr_convex_of_hull(sr_convex_hull_create(&pool, point, 1000));
  ENSURE(ball.hull->n == 1000);
  for (int i = 0; i < 200; i++) {
    double n[3], x[3], most = -1;
    int feature;
    random_unit(n);
    for (int k = 0; k < 1000; k++) most = fmax(most, srm_dot3(n, point + 3 * k));
    ENSURE_NEAR(sr_convex_core_support(&ball, n, i * 5, x, &feature), most, 1e-15);
  }
  point[5] = NAN;
  ENSURE(sr_convex_hull_create(&pool, point, 1000) == NULL && sr_convex_hull_create(&pool, point, 0) == NULL);
  sr_pool_free(&pool);
}

TEST(the_flat_feature_that_faces_a_direction) {
  const srConvex box = sr_convex_box((double[]){1, 2, 3}), cylinder = sr_convex_cylinder(2, 1),
                 cone = sr_convex_cone(1, 1), capsule = sr_convex_capsule(2, 1);
  srFlat f;
  const double e = 1e-3, tilted[3] = {e, sqrt(1 - e * e), 0}, half = sqrt(0.5);
  sr_convex_flat(&box, tilted, 2 * e, &f);
  ENSURE(f.dimension == 2 && f.n == 4 && f.normal[1] == 1 && f.corner[0][1] == 2);
  const int face = f.id;
  sr_convex_flat(&box, tilted, 0.5 * e, &f);  // the edge along z
  ENSURE(f.dimension == 1 && f.n == 2 && f.id != face && f.corner[0][0] == 1 && f.corner[0][2] == -3 &&
         f.corner[1][2] == 3);
  sr_convex_flat(&box, (double[]){0.6, -0.64, 0.48}, 0.1, &f);
  ENSURE(f.dimension == 0 && f.n == 1 && f.corner[0][0] == 1 && f.corner[0][1] == -2 && f.corner[0][2] == 3);
  sr_convex_flat(&cylinder, (double[]){0, 0, -1}, e, &f);
  ENSURE(f.dimension == 2 && f.n == 0 && f.disc == 1 && f.centre[2] == -2 && f.normal[2] == -1);
  sr_convex_flat(&cylinder, (double[]){0, 1, 0}, e, &f);
  ENSURE(f.dimension == 1 && f.corner[0][1] == 1 && f.corner[1][2] == 2);
  sr_convex_flat(&cylinder, (double[]){0.6, 0, 0.8}, e, &f);
  ENSURE(f.dimension == 0 && f.corner[0][0] == 1 && f.corner[0][2] == 2);
  const double slope[3] = {2 / sqrt(5), 0, 1 / sqrt(5)};  // of a cone of radius 1 and height 2
  sr_convex_flat(&cone, slope, e, &f);
  ENSURE(f.dimension == 1 && f.corner[0][0] == 1 && f.corner[0][2] == -1 && f.corner[1][0] == 0 && f.corner[1][2] == 1);
  sr_convex_flat(&cone, (double[]){0, 0, 1}, e, &f);
  ENSURE(f.dimension == 0 && f.corner[0][2] == 1);
  sr_convex_flat(&capsule, (double[]){half, half, 0}, e, &f);
  ENSURE(f.dimension == 1 && f.n == 2);
  sr_convex_flat(&capsule, (double[]){half, 0, -half}, e, &f);
  ENSURE(f.dimension == 0 && f.corner[0][2] == -2);
}

// -------------------------------------------------------------------------------------------------------------- motions
// A body that turns at a constant rate while its origin has a constant acceleration.
typedef struct Tumbling {
  srConvex shape;
  double pose[16], velocity[3], acceleration[3], angular[3];
} Tumbling;

static Tumbling random_tumbling(int kind, double from_origin) {
  Tumbling x = {.shape = random_shape((srShapeKind)kind, 1)};
  double n[3];
  random_rotation(x.pose);
  random_unit(n);
  srm_scale3(from_origin, n, x.pose + 12);
  srm_scale3(-uniform(0, 4), n, x.velocity);
  random_unit(n);
  srm_scale3(uniform(0, 20), n, x.angular);
  random_unit(n);
  srm_scale3(uniform(0, 10), n, x.acceleration);
  return x;
}

static void pose_at(const Tumbling* x, double s, double pose[16]) {
  double turn[3], shift[3];
  for (int k = 0; k < 3; k++) {
    turn[k] = s * x->angular[k];
    shift[k] = s * x->velocity[k] + 0.5 * s * s * x->acceleration[k];
  }
  moved_pose(x->pose, turn, shift, pose);
}

static double gap_at(const Tumbling* a, const Tumbling* b, double s, double n[3]) {
  double pose_a[16], pose_b[16], back[16], pose[16];
  srNearest near;
  pose_at(a, s, pose_a);
  pose_at(b, s, pose_b);
  srm_pose_invert(pose_a, back);
  srm_pose_compose(back, pose_b, pose);
  sr_shape_distance(&a->shape, &b->shape, pose, NULL, SR_DISTANCE_SURE, &near);
  srm_pose_rotate(pose_a, near.n, n);
  return near.gap;
}

static srShapeMotion motion_of(const Tumbling* x) {
  srShapeMotion m = {.linear_most = srm_norm3(x->acceleration), .angular_most = srm_norm3(x->angular)};
  memcpy(m.pose, x->pose, sizeof m.pose);
  srm_set3(m.velocity, x->velocity);
  srm_set3(m.angular, x->angular);
  return m;
}

TEST(a_moving_plane_bounds_the_gap_of_moving_shapes_from_below) {
  double proven = 0;
  int tried = 0;
  state = 23;
  for (int i = 0; i < (runner_long() ? 20000 : 60); i++) {
    const Tumbling a = random_tumbling(SR_KIND_BOX + i % (SR_KIND_BORE - SR_KIND_BOX), 1.5),
                   b = random_tumbling(i % 2 ? SR_KIND_CONE : SR_KIND_HULL, 1.5);
    const srShapeMotion x = motion_of(&a), y = motion_of(&b);
    double n[3], other[3], last = 1;
    const double gap = gap_at(&a, &b, 0, n);
    if (gap <= 0) continue;
    ENSURE_NEAR(sr_motion_bound(&a.shape, &b.shape, &x, &y, n, 0), gap, 1e-13);
    tried++;
    for (int k = 1; k <= 8; k++) {
      const double s = 0.01 * k, bound = sr_motion_bound(&a.shape, &b.shape, &x, &y, n, s);
      ENSURE(gap_at(&a, &b, s, other) >= bound - 1e-13);
      ENSURE(bound <= 0 || last > 0);  // once lost, the proof stays lost
      if (bound > 0) proven = fmax(proven, s);
      last = bound;
    }
  }
  ENSURE(tried > 20 && proven >= 0.03);
}

TEST(the_bound_of_a_moving_plane_is_the_gap_of_faces_that_approach) {
  const srConvex box = sr_convex_box((double[]){0.5, 0.4, 0.3});
  srShapeMotion x = {.linear_most = 3}, y = {.velocity = {0.5, 0, -2}, .linear_most = 1};
  srm_pose_identity(x.pose);
  srm_pose_identity(y.pose);
  y.pose[14] = 1.6;
  for (double s = 0; s < 0.3; s += 0.1)  // both accelerations close the gap
    ENSURE_NEAR(sr_motion_bound(&box, &box, &x, &y, (double[]){0, 0, 1}, s), 1 - 2 * s - 0.5 * (3 + 1) * s * s, 1e-15);
  x.turning_most = 2, y.angular_most = 3;
  const double reach = sr_convex_reach(&box);
  ENSURE_NEAR(sr_motion_bound(&box, &box, &x, &y, (double[]){0, 0, 1}, 0.1), 0.78 - 0.005 * (2 + 9) * reach, 1e-15);
  const srConvex plane = sr_convex_plane();
  ENSURE(isinf(sr_motion_bound(&plane, &box, &x, &y, (double[]){0, 0, 1}, 0)));
}

// ------------------------------------------------------------------------------------------------- fast thin bodies
// A plate, a blade, a needle, a disc, a lens or a foil of some points, a millimetre thick or less.
static srConvex thin_shape(int kind) {
  const double thin = uniform(1e-4, 1e-3), wide = uniform(0.05, 0.3), other = uniform(0.02, 0.3);
  switch (kind) {
    case 0: return sr_convex_box((double[]){wide, other, thin});
    case 1: return sr_convex_box((double[]){wide, thin, 5 * thin});
    case 2: return sr_convex_capsule(wide, thin);
    case 3: return sr_convex_cylinder(thin, wide);
    case 4: return sr_convex_ellipsoid((double[]){wide, other, thin});
    default: return sr_convex_cone(thin, wide);
  }
}

static Tumbling thin_tumbling(int kind) {
  Tumbling x = {.shape = thin_shape(kind)};
  double n[3];
  random_rotation(x.pose);
  random_unit(n);
  srm_scale3(uniform(0, 300), n, x.velocity);
  random_unit(n);
  srm_scale3(uniform(0, 1) < 0.5 ? uniform(0, 20) : uniform(0, 2000), n, x.angular);
  random_unit(n);
  srm_scale3(uniform(0, 1e4), n, x.acceleration);
  return x;
}

// The motion after time s, with the bounds of the whole motion.
static void tumbling_at(void* user, double s, srShapeMotion* out) {
  const Tumbling* x = user;
  *out = motion_of(x);
  pose_at(x, s, out->pose);
  srm_add_scaled3(x->velocity, s, x->acceleration, out->velocity);
}

// The two overlap at time `met`: near an inner point of a they have one of b.
static void let_meet(const Tumbling* a, Tumbling* b, double met) {
  double n[3], there[16], at[16], inside[3];
  random_unit(n);
  pose_at(a, met, there);
  for (int k = 0; k < 3; k++) n[k] *= 0.6 * (a->shape.kind == SR_KIND_CAPSULE ? 1e-4 : 1) * (k == 2 ? 1e-4 : 0.03);
  srm_pose_point(there, n, inside);
  memset(b->pose + 12, 0, 3 * sizeof(double));
  pose_at(b, met, at);
  for (int k = 0; k < 3; k++) b->pose[12 + k] = inside[k] - at[12 + k];
}

// Most of these are apart both before and after it, and pass through each other in microseconds.
TEST(no_contact_of_fast_thin_bodies_is_missed) {
  const int n = runner_long() ? 1000000 : 2000;
  int touched = 0, brief = 0;
  state = 77;
  for (int i = 0; i < n; i++) {
    Tumbling a = thin_tumbling(i % 6), b = thin_tumbling(i / 6 % 6);
    const double end = uniform(1e-3, 1e-2), met = uniform(0, 1) * end;
    const srMoving x = {&a.shape, tumbling_at, &a}, y = {&b.shape, tumbling_at, &b};
    double normal[3], s = -1;
    let_meet(&a, &b, met);
    if (gap_at(&a, &b, met, normal) > 0 || gap_at(&a, &b, 0, normal) <= 1e-5) continue;
    const bool found = sr_motion_first(&x, &y, end, 1e-6, &s);
    ENSURE(found && s <= met);
    ENSURE(gap_at(&a, &b, s, normal) <= 1.1e-6);
    ENSURE(gap_at(&a, &b, 0.5 * s, normal) > 0.4e-6);
    touched++;
    brief += gap_at(&a, &b, end, normal) > 0;
  }
  ENSURE(touched > 0.5 * n && brief > 0.3 * n);
}

// Bodies that are proven to be apart are apart at all times that are tried; the same search with shapes as large as a ball finds them.
TEST(fast_thin_bodies_that_are_proven_apart_are_apart) {
  int apart = 0;
  state = 78;
  for (int i = 0; i < (runner_long() ? 20000 : 60); i++) {
    Tumbling a = thin_tumbling(i % 6), b = thin_tumbling(i / 6 % 6);
    const srMoving x = {&a.shape, tumbling_at, &a}, y = {&b.shape, tumbling_at, &b};
    double normal[3], s, end = 1e-3, least = HUGE_VAL;
    random_unit(normal);
    srm_scale3(0.3, normal, b.pose + 12);
    if (gap_at(&a, &b, 0, normal) <= 1e-5) continue;
    const bool found = sr_motion_first(&x, &y, end, 1e-6, &s);
    for (int k = 0; k <= 40; k++) least = fmin(least, gap_at(&a, &b, (found ? s : end) * k / 40, normal));
    ENSURE(least > (found ? 0.4e-6 : 0.5e-6));
    apart += !found;
  }
  ENSURE(apart > 10);
}

TEST(a_plate_reaches_a_wall_when_it_should) {
  Tumbling wall = {.shape = sr_convex_box((double[]){1, 1, 0.0005})},
           plate = {.shape = sr_convex_box((double[]){0.1, 0.1, 0.0005}), .velocity = {30, 0, -100}};
  srm_pose_identity(wall.pose);
  srm_pose_identity(plate.pose);
  plate.pose[14] = 0.501;
  const srMoving x = {&wall.shape, tumbling_at, &wall}, y = {&plate.shape, tumbling_at, &plate};
  double s;
  ENSURE(sr_motion_first(&x, &y, 0.1, 1e-9, &s));
  ENSURE_NEAR(s, 0.005, 1e-11);
  ENSURE(!sr_motion_first(&x, &y, 0.00499, 1e-9, &s));
  plate.velocity[2] = 100;
  ENSURE(!sr_motion_first(&x, &y, 10, 1e-9, &s));
}

TEST(the_ball_within_a_shape_says_how_thin_it_is) {
  srPool pool;
  sr_pool_init(&pool);
  const double corner[] = {1,  1, 1,  -1, -1, 1,
                           -1, 1, -1, 1,  -1, -1};  // a tetrahedron: 1/3 of the distance of its corners
  const srConvex hull = sr_convex_of_hull(sr_convex_hull_create(&pool, corner, 4));
  ENSURE_NEAR(sr_convex_inner(&hull), sqrt(3.0) / 3, 1e-15);
  const srConvex box = sr_convex_box((double[]){3, 1, 2}), cone = sr_convex_cone(2, 3), can = sr_convex_cylinder(2, 1);
  ENSURE_NEAR(sr_convex_inner(&box), 1, 0);
  ENSURE_NEAR(sr_convex_inner(&cone), 1.5, 1e-15);  // radius 3, height 4, side 5: 3*4/(3 + 5)
  ENSURE_NEAR(sr_convex_inner(&can), 1, 0);
  const srConvex ball = sr_convex_sphere(0.3), plane = sr_convex_plane();
  ENSURE(sr_convex_inner(&ball) == 0.3 && isinf(sr_convex_inner(&plane)));
  const double flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const srConvex sheet = sr_convex_of_hull(sr_convex_hull_create(&pool, flat, 3));
  ENSURE(sr_convex_inner(&sheet) == 0);
  sr_pool_free(&pool);
}

// A body whose support function less that of a ball is convex is the sum of the ball and another body (radii of curvature: eigenvalues of the Hessian).
TEST(an_ellipsoid_is_a_ball_rolled_around_its_core) {
  state = 43;
  for (int i = 0; i < 100; i++) {
    const srConvex whole = random_shape(SR_KIND_ELLIPSOID, i % 2 ? 5 : 1), peeled = sr_convex_peel(&whole);
    const double* a = whole.size;
    const double least = fmin(a[0], fmin(a[1], a[2])), most = fmax(a[0], fmax(a[1], a[2]));
    double n[3], x[3], y[3], H[9], u[3], v[3], w[3];
    ENSURE_NEAR(peeled.radius, least * least / most, 1e-15);
    ENSURE_NEAR(sr_convex_inner(&peeled), least, 1e-15);
    ENSURE_NEAR(sr_convex_reach(&peeled), most, 1e-15);
    random_unit(n);
    ENSURE_NEAR(sr_convex_support(&peeled, n, x), sr_convex_support(&whole, n, y), 1e-14);
    ensure_vector(x, y, 1e-14, "ellipsoid", "point");
    sr_convex_feature_hessian(&peeled, 0, n, H);
    srm_tangents3(n, u, v);
    for (int k = 0; k < 20; k++) {
      srm_scale3(cos(0.31415926535897931 * k), u, w);
      srm_add_scaled3(w, sin(0.31415926535897931 * k), v, w);
      srm_mul3(H, w, x);
      ENSURE(srm_dot3(w, x) >= -1e-14);
    }
  }
  const srConvex flat = sr_convex_ellipsoid((double[]){1, 1, 0}), other = sr_convex_peel(&flat);
  ENSURE(other.radius == 0 && other.peeled == 0);
}

// The lowest point of an ellipsoid is at the height x.n - sqrt(n.R E R^T n) above its centre's plane. Beyond an edge the face has no such point:
// there a hull of the same corners, which is not asked for faces, has the answer.
TEST(the_gap_of_an_ellipsoid_above_a_face) {
  int above = 0, beyond = 0;
  make_hulls();
  state = 47;
  for (int i = 0; i < 600; i++) {
    const srConvex box = random_shape(SR_KIND_BOX, 1), b = random_shape(SR_KIND_ELLIPSOID, 1);
    const srConvex round =
        i % 3 ? sr_convex_cylinder(box.size[2], box.size[0]) : sr_convex_cone(box.size[2], box.size[0]);
    const bool is_box = i % 2 == 0;
    const srConvex* a = is_box ? &box : &round;
    const int k = is_box ? i / 2 % 3 : 2;
    const double side = !is_box && i % 3 == 0 ? -1 : i % 4 < 2 ? 1 : -1;
    double pose[16], m[3], lowest[3], square = 0, x[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}, corner[24];
    srNearest near;
    random_rotation(pose);
    for (int j = 0; j < 3; j++) {
      m[j] = -side * pose[4 * j + k];  // -R^T n
      square += b.size[j] * b.size[j] * m[j] * m[j];
    }
    const double gap = uniform(-0.02, 0.2), height = sqrt(square);
    x[k] = side * (a->size[k] + gap + height);
    srm_set3(pose + 12, x);
    for (int j = 0; j < 3; j++) m[j] *= b.size[j] * b.size[j] / height;
    srm_pose_point(pose, m, lowest);
    bool inside = is_box || hypot(lowest[0], lowest[1]) < a->size[0];
    for (int j = 0; j < 3 && is_box; j++) inside &= j == k || fabs(lowest[j]) < a->size[j];
    for (int swap = 0; swap < 2; swap++) {
      double back[16], n[3];
      srm_pose_invert(pose, back);
      sr_shape_distance(swap ? &b : a, swap ? a : &b, swap ? back : pose, NULL, SR_DISTANCE_SURE, &near);
      srm_set3(n, near.n);
      if (swap) srm_pose_rotate(pose, near.n, n);
      if (inside) {
        above++;
        ENSURE_NEAR(near.gap, gap, 4e-15);
        ENSURE_NEAR((swap ? -1 : 1) * n[k], side, 1e-14);
        srm_pose_point(pose, near.point_a, x);
        ensure_vector(swap ? x : near.point_b, lowest, 1e-14, "ellipsoid above a face", "point");
        ENSURE(near.unique && (swap ? near.b : near.a).dimension == 2);
      } else if (is_box) {
        srPool pool;
        srNearest other;
        sr_pool_init(&pool);
        for (int c = 0; c < 24; c++) corner[c] = (c / 3 >> c % 3 & 1 ? -1 : 1) * box.size[c % 3];
        const srConvex hull = sr_convex_of_hull(sr_convex_hull_create(&pool, corner, 8));
        sr_shape_distance(&hull, &b, pose, NULL, SR_DISTANCE_SURE, &other);
        ENSURE_NEAR(near.gap, other.gap, 1e-14);
        sr_pool_free(&pool);
        beyond++;
      }
    }
  }
  ENSURE(above > 200 && beyond > 100);
}

// Starts from the last normal, from its opposite and from anywhere reach the answer of a start without one: it is proven, not followed.
static void check_starts(const srConvex* a, const srConvex* b, const double pose[16], const double last[3],
                         double size) {
  srNearest cold, other;
  double start[3][3];
  srm_set3(start[0], last);
  srm_scale3(-1, last, start[1]);
  random_unit(start[2]);
  sr_shape_distance(a, b, pose, NULL, SR_DISTANCE_SURE, &cold);
  const bool proven = cold.core > 0;
  for (int i = 0; i < 3; i++) {
    double d[3], x[3];
    sr_shape_distance(a, b, pose, start[i], SR_DISTANCE_SURE, &other);
    ENSURE_NEAR(other.gap, cold.gap, (proven ? 2e-14 : 4e-10) * size);
    srm_sub3(other.n, cold.n, d);
    if (proven && cold.core > 1e-3 * size) ENSURE_SMALL(srm_norm3(d), 1e-7);
    ENSURE_NEAR(srm_dot3(other.n, other.point_a), sr_convex_support(a, other.n, x), 1e-12 * size);
    ENSURE(memcmp(start[i], other.n, sizeof other.n) == 0);
  }
}

TEST(the_answer_does_not_depend_on_the_start) {
  static const double gaps[] = {0.3, 0.05, 1e-6, -1e-6, -0.05, -0.2};
  static const double motion[] = {1e-6, 1e-3, 0.03, 1};
  const int count = runner_long() ? 2000 : 204;  // 10 000 pairs of all kinds
  for (int i = SR_KIND_SPHERE; i < SR_KIND_BORE; i++)
    for (int j = SR_KIND_SPHERE; j < SR_KIND_BORE; j++) {
      if (i == SR_KIND_HOLLOW || j == SR_KIND_HOLLOW) continue;
      state = 90 + 100 * (unsigned)i + (unsigned)j;
      for (int k = 0; k < count; k++) {
        const srConvex a = random_shape((srShapeKind)i, 1), b = random_shape((srShapeKind)j, 1);
        double pose[16], moved[16], turn[3], shift[3], warm[3] = {0};
        srNearest near;
        random_rotation(pose);
        place_at_gap(&a, &b, pose, gaps[k % 6]);
        sr_shape_distance(&a, &b, pose, warm, SR_DISTANCE_SURE, &near);
        random_unit(turn);
        random_unit(shift);
        srm_scale3(motion[k % 4], turn, turn);
        srm_scale3(0.3 * motion[k % 4], shift, shift);
        moved_pose(pose, turn, shift, moved);
        check_starts(&a, &b, moved, warm, fmax(sr_convex_reach(&a), sr_convex_reach(&b)));
      }
    }
}

// Near the normal of a circular face another feature may be nearest: a point above the face is a proof only in its plane.
TEST(a_circular_face_that_nearly_faces_a_hull) {
  Worst worst = {0};
  state = 53;
  for (int i = 0; i < 400; i++) {
    const srConvex a = i % 2 ? sr_convex_cylinder(uniform(0.3, 1), 1) : sr_convex_cone(uniform(0.3, 1), 1);
    const srConvex b = random_shape(i % 4 < 2 ? SR_KIND_HULL : SR_KIND_BOX, 1);
    double pose[16], turned[16], turn[3], side = i % 2 ? 1 : -1;
    random_rotation(pose);
    srNearest near;
    pose[12] = uniform(-0.3, 0.3), pose[13] = uniform(-0.3, 0.3), pose[14] = 5 * side;
    sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &near);
    // From the pose with an edge of b along the face, tilted a little.
    for (int k = 0; k < 3; k++) turn[k] = k < 2 ? uniform(-1, 1) * pow(10, uniform(-5, -2)) : 0;
    moved_pose(pose, turn, (double[]){0, 0, side * (0.1 * (i % 5 + 1) - near.gap)}, turned);
    check_properties(&a, &b, turned, 1, &worst);
  }
  ENSURE_SMALL(worst.apart, 1e-13);
  ENSURE_SMALL(worst.swap, 1e-13);
}

TEST(a_warm_start_saves_iterations) {
  int warm_count = 0, cold_count = 0;
  state = 41;
  for (int i = 0; i < 20; i++) {
    const srConvex a = random_shape(SR_KIND_ELLIPSOID, 1), b = random_shape(SR_KIND_CYLINDER, 1);
    double pose[16], moved[16], warm[3] = {0};
    srNearest near;
    random_rotation(pose);
    place_at_gap(&a, &b, pose, 0.1);
    sr_shape_distance(&a, &b, pose, warm, SR_DISTANCE_SURE, &near);
    moved_pose(pose, (double[]){1e-3, 0, 0}, (double[3]){0}, moved);
    sr_shape_distance(&a, &b, moved, NULL, SR_DISTANCE_SURE, &near);
    cold_count += near.iterations;
    sr_shape_distance(&a, &b, moved, warm, SR_DISTANCE_SURE, &near);
    warm_count += near.iterations;
  }
  ENSURE(warm_count < 0.9 * cold_count);
}

TEST(closed_forms_at_ties_and_at_the_touch) {
  const srConvex box = sr_convex_box((double[]){1, 2, 3}), sphere = sr_convex_sphere(0.5),
                 capsule = sr_convex_capsule(1, 0.25), cylinder = sr_convex_cylinder(1, 2);
  double pose[16];
  srNearest near;
  srm_pose_identity(pose);
  pose[12] = 0.5, pose[13] = 1.5;  // as far from the side x = 1 as from y = 2
  sr_shape_distance(&box, &sphere, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.gap == -1 && !near.unique);
  pose[13] = 1.25;
  sr_shape_distance(&box, &sphere, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.gap == -1 && near.unique && near.n[0] == 1);
  pose[12] = 0.75, pose[13] = 0;  // far from the side of the cylinder
  sr_shape_distance(&cylinder, &sphere, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.gap == -1.5 && !near.unique);  // both caps
  pose[14] = 0.25;
  sr_shape_distance(&cylinder, &sphere, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE(near.gap == -1.25 && near.unique && near.n[2] == 1);
  // Axes that cross at a distance of a few roundings: the normal is that of both.
  const double half = sqrt(0.5);
  pose_of((double[]){half, half, 0, 0}, (double[]){1e-13, 0.2, 0.3}, pose);
  sr_shape_distance(&capsule, &capsule, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE_NEAR(near.gap, 1e-13 - 0.5, 1e-16);
  ENSURE_NEAR(near.n[0], 1, 1e-15);
  ENSURE(near.unique);
  // Parallel axes: the middle of what faces each other, z from -0.4 to 1.
  pose_of((double[]){1, 0, 0, 0}, (double[]){0, 2, 0.6}, pose);
  sr_shape_distance(&capsule, &capsule, pose, NULL, SR_DISTANCE_SURE, &near);
  ENSURE_NEAR(near.point_a[2], 0.3, 1e-15);
  ENSURE_NEAR(near.point_b[2], 0.3, 1e-15);
  ENSURE_NEAR(near.point_b[1], 1.75, 1e-15);
}

// All directions of a grid: ids tell corners, edges and faces apart, and a feature has one id wherever it is seen from.
static int count_features(const srConvex* s, double sine) {
  double seen[256][4];
  int count = 0;
  for (int i = 0; i < 27; i++) {
    double n[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1}, middle[3] = {0};
    srFlat f;
    if (i == 13) continue;
    for (int k = 0; k < 3; k++) n[k] *= 1 + 1e-4 * k;  // beside the edge
    (void)srm_unit3(n);
    sr_convex_flat(s, n, sine, &f);
    for (int c = 0; c < f.n; c++) srm_add_scaled3(middle, 1.0 / f.n, f.corner[c], middle);
    int k = 0;
    while (k < count && seen[k][3] != f.id) k++;
    if (k == count) {
      memcpy(seen[count], middle, sizeof middle);
      seen[count++][3] = f.id;
    }
    for (int c = 0; c < 3; c++) ENSURE_NEAR(seen[k][c], middle[c], 1e-14);
    ENSURE(f.dimension == 2 - (abs(i % 3 - 1) + abs(i / 3 % 3 - 1) + abs(i / 9 - 1) - 1));
  }
  return count;
}

// At the apex many directions are nearly the least deep: EPA alone was off by up to 2e-4 m where the centre of the sphere is there.
TEST(a_sphere_at_the_apex_of_a_cone_has_the_gap_of_its_radius) {
  state = 61;
  for (int i = 0; i < 300; i++) {
    const double r = uniform(0.3, 1), l = uniform(0.3, 1), L = hypot(r, 2 * l);
    const srConvex cone = sr_convex_cone(l, r), ball = sr_convex_sphere(0.1);
    srNearest near;
    double pose[16];
    srm_pose_identity(pose);
    for (int k = 0; k < 2; k++) pose[12 + k] = 1e-16 * floor(uniform(-2, 3));
    pose[14] = l + 1e-16 * floor(uniform(-2, 3));
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, -0.1, 1e-15);
    pose[14] = l - 0.05;  // on the axis, within: the side is nearest, at 0.05 times the sine of half of the angle
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, -0.05 * r / L - 0.1, 1e-14);
    pose[12] = 3 * r, pose[14] = -l - 0.4;  // at the rim
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, hypot(2 * r, 0.4) - 0.1, 1e-14);
    pose[14] = -l + 1e-3;  // beside it, higher
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, hypot(2 * r, 1e-3) - 0.1, 1e-14);
    pose[12] = 0.5 * r, pose[14] = -l - 0.4;  // under the base
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    ENSURE_NEAR(near.gap, 0.3, 1e-14);
    pose[14] = 2 * l;  // beyond the apex or beside it
    sr_shape_distance(&cone, &ball, pose, NULL, SR_DISTANCE_SURE, &near);
    const double along = 0.5 * r * r / L + 6 * l * l / L;
    ENSURE_NEAR(near.gap + 0.1, along > L ? hypot(0.5 * r, l) : (-0.5 * r * 2 * l + 3 * l * r) / L, 1e-14);
  }
}

TEST(the_id_of_a_flat_feature_is_its_own) {
  static const double corners[24] = {1,  1, 1, 1,  1, -1, 1,  -1, 1, 1,  -1, -1,
                                     -1, 1, 1, -1, 1, -1, -1, -1, 1, -1, -1, -1};
  srPool pool;
  sr_pool_init(&pool);
  const srConvex cube = sr_convex_of_hull(sr_convex_hull_create(&pool, corners, 8)),
                 box = sr_convex_box((double[]){1, 1, 1});
  ENSURE_EQUAL(count_features(&box, 0.01), 26);
  ENSURE_EQUAL(count_features(&cube, 0.01), 26);
  const srConvex plate = sr_convex_of_hull(sr_convex_hull_create(&pool, (double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}, 3));
  srFlat f;
  sr_convex_flat(&plate, (double[]){0.6, 0, 0.8}, 0.01, &f);
  ENSURE(f.dimension == 0 && f.n == 1 && f.corner[0][0] == 1);
  sr_pool_free(&pool);
}
