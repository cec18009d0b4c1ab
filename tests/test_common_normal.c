// Parametric surfaces: frames at poles, common normals against closed forms and against the convex route, through touch, along motions; the
// search against random starts; faults.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/smooth.h"
#include "heap.h"
#include "math/vector3.h"
#include "runner.h"

#define PI 3.14159265358979323846

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

static void turned_pose(const double axis[3], double angle, double pose[16]) {
  double n[3];
  srm_set3(n, axis);
  (void)srm_unit3(n);
  const double s = sin(0.5 * angle);
  srm_pose_identity(pose);
  srm_pose_from_quaternion((double[4]){cos(0.5 * angle), s * n[0], s * n[1], s * n[2]}, pose);
}

static void random_pose(double pose[16]) {
  double axis[3];
  random_unit(axis);
  turned_pose(axis, uniform(-PI, PI), pose);
}

// ------------------------------------------------------------------------------------------------------------- surfaces
typedef struct Sizes {
  double a[3];
} Sizes;

static void ellipsoid_at(const void* self, const double at[2], srSmoothPoint* y) {
  const double* a = ((const Sizes*)self)->a;
  const double cu = cos(at[0]), su = sin(at[0]), cv = cos(at[1]), sv = sin(at[1]);
  *y = (srSmoothPoint){
      .x = {a[0] * cu * sv, a[1] * su * sv, a[2] * cv},
      .first = {{-a[0] * su * sv, a[1] * cu * sv, 0}, {a[0] * cu * cv, a[1] * su * cv, -a[2] * sv}},
      .second = {{-a[0] * cu * sv, -a[1] * su * sv, 0},
                 {-a[0] * su * cv, a[1] * cu * cv, 0},
                 {-a[0] * cu * sv, -a[1] * su * sv, -a[2] * cv}},
  };
}

// a[0]: radius of the circle, a[1]: of the tube; the axis is z.
static void torus_at(const void* self, const double at[2], srSmoothPoint* y) {
  const double *a = ((const Sizes*)self)->a, R = a[0], r = a[1];
  const double cu = cos(at[0]), su = sin(at[0]), cv = cos(at[1]), sv = sin(at[1]), q = R + r * cv;
  *y = (srSmoothPoint){
      .x = {q * cu, q * su, r * sv},
      .first = {{-q * su, q * cu, 0}, {-r * sv * cu, -r * sv * su, r * cv}},
      .second = {{-q * cu, -q * su, 0}, {r * sv * su, -r * sv * cu, 0}, {-r * cv * cu, -r * cv * su, -r * sv}},
  };
}

// The bowl z = a (x^2 + y^2)/2 in polar coordinates (u: angle, v: radius); the solid is below.
static void bowl_at(const void* self, const double at[2], srSmoothPoint* y) {
  const double a = ((const Sizes*)self)->a[0], c = cos(at[0]), s = sin(at[0]), r = at[1];
  *y = (srSmoothPoint){
      .x = {r * c, r * s, 0.5 * a * r * r},
      .first = {{-r * s, r * c, 0}, {c, s, a * r}},
      .second = {{-r * c, -r * s, 0}, {-s, c, 0}, {0, 0, a}},
  };
}

// The sheet z = a[0] sin(a[1] x) cos(a[1] y); the solid is below.
static void waves_at(const void* self, const double at[2], srSmoothPoint* y) {
  const double *a = ((const Sizes*)self)->a, h = a[0], k = a[1];
  const double su = sin(k * at[0]), cu = cos(k * at[0]), sv = sin(k * at[1]), cv = cos(k * at[1]);
  *y = (srSmoothPoint){
      .x = {at[0], at[1], h * su * cv},
      .first = {{1, 0, h * k * cu * cv}, {0, 1, -h * k * su * sv}},
      .second = {{0, 0, -h * k * k * su * cv}, {0, 0, -h * k * k * cu * sv}, {0, 0, -h * k * k * su * cv}},
  };
}

// A cylinder of radius a[0] about z, u the angle.
static void tube_at(const void* self, const double at[2], srSmoothPoint* y) {
  const double r = ((const Sizes*)self)->a[0], c = cos(at[0]), s = sin(at[0]);
  *y = (srSmoothPoint){
      .x = {r * c, r * s, at[1]}, .first = {{-r * s, r * c, 0}, {0, 0, 1}}, .second = {{-r * c, -r * s, 0}}};
}

static srSmooth prepared(srSmooth s) {
  double place[2];
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_GOOD);
  return s;
}

static srSmooth ellipsoid(const Sizes* a) {
  return prepared((srSmooth){.at = ellipsoid_at, .self = a, .high = {2 * PI, PI}, .periodic = {true}, .inward = true});
}
static srSmooth torus(const Sizes* a) {
  return prepared((srSmooth){.at = torus_at, .self = a, .high = {2 * PI, 2 * PI}, .periodic = {true, true}});
}
static srSmooth bowl(const Sizes* a) {
  return prepared((srSmooth){.at = bowl_at, .self = a, .high = {2 * PI, 1}, .periodic = {true}, .inward = true});
}

// u and v of the point of the ellipsoid with the outward normal n.
static void ellipsoid_facing(const Sizes* a, const double n[3], double at[2]) {
  const double w[3] = {a->a[0] * n[0], a->a[1] * n[1], a->a[2] * n[2]};
  at[0] = atan2(w[1], w[0]);
  if (at[0] < 0) at[0] += 2 * PI;
  at[1] = atan2(hypot(w[0], w[1]), w[2]);
}

static void ensure_points(const srNearest* near) {
  double r[3];
  srm_sub3(near->point_b, near->point_a, r);
  srm_add_scaled3(r, -near->gap, near->n, r);
  ENSURE_SMALL(srm_norm3(r), 1e-14);
}

// --------------------------------------------------------------------------------------------------------------- frames
// At the pole v = 0 of an ellipsoid the normal is z and the curvatures are c/a^2, c/b^2.
TEST(the_pole_of_an_ellipsoid_has_a_normal_and_curvatures) {
  const Sizes a = {{0.7, 0.4, 0.3}};
  const srSmooth s = ellipsoid(&a);
  ENSURE(s.pole[1][0].is && s.pole[1][1].is && !s.pole[0][0].is && !s.pole[0][1].is);
  for (int i = 0; i < 12; i++) {
    static const double off[] = {0, 1e-12, 1e-8, 5.9e-6 * PI, 6.1e-6 * PI, 1e-4};
    const double r = off[i % 6], at[2] = {0.4 + i, i < 6 ? r : PI - r}, sign = i < 6 ? 1 : -1;
    srSmoothFrame f;
    ENSURE(sr_smooth_frame(&s, at, &f));
    // Exact unit normal: x/a^2, y/b^2, z/c^2
    double n[3] = {f.x[0] / 0.49, f.x[1] / 0.16, f.x[2] / 0.09};
    (void)srm_unit3(n);
    srm_sub3(n, f.n, n);
    ENSURE_SMALL(srm_norm3(n), 2e-9);  // 2e-16/r or (4 r)^2/2 near r = 2e-5
    const double k1 = 0.3 / 0.49, k2 = 0.3 / 0.16, tolerance = r > 1e-5 ? 1e-4 : 1e-8;
    ENSURE_NEAR(f.W[0] + f.W[2], k1 + k2, tolerance);
    ENSURE_NEAR(f.W[0] * f.W[2] - f.W[1] * f.W[1], k1 * k2, tolerance);
    ENSURE(f.n[2] * sign > 0.99);
  }
}

TEST(a_step_passes_the_pole) {
  const Sizes a = {{0.5, 0.5, 0.5}};
  const srSmooth s = ellipsoid(&a);
  double at[2] = {1, 0.01};
  srSmoothFrame f, g;
  ENSURE(sr_smooth_frame(&s, at, &f));
  // Along the meridian through the pole by 0.03 rad: the other side, 0.02 from it.
  double delta[2], dx[3] = {-cos(1.0), -sin(1.0), 0};
  for (int i = 0; i < 2; i++) delta[i] = 0.015 * srm_dot3(dx, f.e[i]);
  sr_smooth_step(&s, &f, delta, at);
  ENSURE_NEAR(at[0], 1 + PI, 1e-4);
  ENSURE_NEAR(at[1], 0.02, 1e-4);
  ENSURE(sr_smooth_frame(&s, at, &g));
  ENSURE(srm_dot3(f.n, g.n) > 0.999);
}

// --------------------------------------------------------------------------------------------------------- closed forms
// gap = n.p - sqrt(sum a_i^2 n_i^2) (contact_geometry.md, section 4), at any attitude, poles included.
TEST(an_ellipsoid_on_a_plane_has_the_gap_of_its_support_function) {
  const Sizes a = {{0.7, 0.4, 0.3}};
  const srSmooth s = ellipsoid(&a);
  srPool pool;
  sr_pool_init(&pool);
  const srConvex plane = sr_convex_plane();
  const srSmoothPair pair = {.a = sr_smooth_tree_create(&pool, &s), .convex = &plane};
  for (int i = 0; i < 60; i++) {
    double pose[16], n[3], x[3];
    random_pose(pose);
    if (i < 3) turned_pose((double[3]){i == 1, 1, 0}, i == 2 ? PI : 0, pose);  // on a pole
    srm_set3(n, pose + 8);                                                     // the plane's z axis
    const double w[3] = {0.7 * n[0], 0.4 * n[1], 0.3 * n[2]}, s_a = srm_norm3(w);
    const double gap = i % 3 == 0 ? 0 : uniform(-0.1, 0.1);
    random_unit(x);
    srm_add_scaled3(x, -srm_dot3(x, n) - s_a - gap, n, pose + 12);  // n.(0 - origin) = s + gap
    srSmoothContact c;
    ENSURE_EQUAL(sr_smooth_search(&pair, pose, (srSmoothReach){0.2, 0.2}, &c, 1, NULL), 1);
    ENSURE_NEAR(c.near.gap, gap, 1e-15 * 4);
    for (int k = 0; k < 3; k++) {
      ENSURE_NEAR(c.near.n[k], -n[k], 1e-15);
      ENSURE_NEAR(c.near.point_a[k], -a.a[k] * a.a[k] * n[k] / s_a, 2e-9);
    }
    ensure_points(&c.near);
  }
  sr_pool_free(&pool);
}

// gap = |(rho - R, z)| - r - r_s, in the hole, inside of it, above and outside.
static void check_sphere_torus(const srSmoothPair* pair, const Sizes* t, double radius, const double p[3]) {
  double pose[16];
  srSmoothContact c[4];
  srm_pose_identity(pose);
  srm_set3(pose + 12, p);
  const double gap = hypot(hypot(p[0], p[1]) - t->a[0], p[2]) - t->a[1] - radius;
  const int found = sr_smooth_search(pair, pose, (srSmoothReach){1, 0.09}, c, 4, NULL);
  ENSURE(found >= 1);
  ENSURE_NEAR(c[0].near.gap, gap, 2e-15);
  ensure_points(&c[0].near);
  double centre[3];
  srm_add_scaled3(c[0].near.point_b, radius, c[0].near.n, centre);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(centre[k], p[k], 1e-9);
}

TEST(a_sphere_and_a_torus_have_the_closed_form_gap_hole_included) {
  const Sizes t = {{0.5, 0.2}}, ball = {{0.1, 0.1, 0.1}};
  const srSmooth a = torus(&t), b = ellipsoid(&ball);
  const srConvex sphere = sr_convex_sphere(0.1);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  const srSmoothPair pairs[2] = {{.a = tree, .b = sr_smooth_tree_create(&pool, &b)}, {.a = tree, .convex = &sphere}};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 40; i++) {
      const double turn = uniform(-PI, PI), tilt = uniform(-PI, PI), off = i % 4 == 0 ? 0 : uniform(-0.08, 0.25);
      const double rho = fabs(0.5 + (0.3 + off) * cos(tilt));
      if (rho < 0.02) continue;  // on the axis the whole ring is nearest
      check_sphere_torus(&pairs[k], &t, 0.1, (double[3]){rho * cos(turn), rho * sin(turn), (0.3 + off) * sin(tilt)});
    }
  sr_pool_free(&pool);
}

// Gap and normal to 16 digits, from a computation with 60 digits; both solids turned and moved.
typedef struct TorusCase {
  double place[3], quaternion[4], ball[3], radius, gap, n[3], point_a[3];
} TorusCase;
static const TorusCase torus_cases[3] = {
    {{0.32, 0.92, -0.82},
     {6, 2, 0, -3},
     {1.8697, 0.243, -0.4639},
     0.2,
     0.3027644264744763228,
     {0.8072223306681554019, -0.4685609667427565524, 0.3589466942538467883},
     {1.4638573278842348, 0.47857578571274817, -0.6443656288714444}},
    {{0.58, 0.16, 0.73},  // in the hole
     {4, 2, -2, 1},
     {0.6843, -0.1116, 0.5156},
     0.3,
     0.1061961697415529924,
     {-0.4833326283027033801, 0.4550424263539739619, 0.7478809802608226235},
     {0.8806278623276759, -0.2964364906548869, 0.21181361039549584}},
    {{-0.71, -0.4, 0.14},  // overlapping from above
     {9, 1, 3, -3},
     {0.2936, 0.0455, 0.2259},
     0.25,
     -0.1087797218175561890,
     {0.5393730707696777775, -0.3153116518375665052, 0.7808042345837741491},
     {0.21742958490178715, 0.09002839918666701, 0.1156346087860493}},
};

TEST(exact_cases_of_a_torus_and_a_ball_agree) {
  const Sizes t = {{1, 0.25}};
  const srSmooth a = torus(&t);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  for (int i = 0; i < 6; i++) {
    const TorusCase* c = &torus_cases[i / 2];
    const Sizes size = {{c->radius, c->radius, c->radius}};
    const srSmooth bead = ellipsoid(&size);
    const srConvex ball = sr_convex_sphere(c->radius);
    const srSmoothPair pair = {.a = tree, .b = i % 2 ? sr_smooth_tree_create(&pool, &bead) : NULL, .convex = &ball};
    double place[16], back[16], at[16], pose[16], q[4], n[3], x[3], length = 0;
    for (int k = 0; k < 4; k++) length = hypot(length, c->quaternion[k]);
    for (int k = 0; k < 4; k++) q[k] = c->quaternion[k] / length;
    srm_pose_identity(place);
    srm_pose_from_quaternion(q, place);
    srm_set3(place + 12, c->place);
    srm_pose_invert(place, back);
    srm_pose_identity(at);
    srm_set3(at + 12, c->ball);
    srm_pose_compose(back, at, pose);
    srSmoothContact got;
    ENSURE(sr_smooth_search(&pair, pose, (srSmoothReach){0.5, 0.2}, &got, 1, NULL) >= 1);
    ENSURE_NEAR(got.near.gap, c->gap, 2e-15);
    srm_pose_rotate(place, got.near.n, n);
    srm_pose_point(place, got.near.point_a, x);
    for (int k = 0; k < 3; k++) {
      ENSURE_NEAR(n[k], c->n[k], 1e-13);
      ENSURE_NEAR(x[k], c->point_a[k], 1e-13);
    }
  }
  sr_pool_free(&pool);
}

// On the axis of the torus a whole circle is nearest: the gap is right and the answer says that it is not the only one.
TEST(a_ring_of_contacts_is_found_and_called_not_unique) {
  const Sizes t = {{0.5, 0.2}}, ball = {{0.25, 0.25, 0.25}};
  const srSmooth a = torus(&t), b = ellipsoid(&ball);
  const srConvex sphere = sr_convex_sphere(0.25);
  double pose[16];
  srm_pose_identity(pose);
  pose[14] = 0.1;
  for (int k = 0; k < 2; k++) {
    srSmoothContact c = {.at = {{0.3, 2.8}, {0.35, 1.7}}};
    if (k == 0)
      ENSURE(sr_common_normal(&a, &b, pose, &c));
    else
      ENSURE(sr_common_normal_convex(&a, &sphere, pose, &c));
    ENSURE_NEAR(c.near.gap, hypot(0.5, 0.1) - 0.45, 1e-15);
    ENSURE(!c.near.unique);
  }
}

// ---------------------------------------------------------------------------------------------------------- convex route
static void random_ellipsoid(Sizes* a) {
  for (int k = 0; k < 3; k++) a->a[k] = uniform(0.3, 1);
}

// b moved along a direction until the gap by the convex route is about `gap`.
static void place_at_gap(const srConvex* a, const srConvex* b, double pose[16], double gap, srNearest* near) {
  double direction[3], warm[3] = {0}, along = 6;
  random_unit(direction);
  for (int i = 0; i < 20; i++) {
    srm_scale3(along, direction, pose + 12);
    sr_shape_distance(a, b, pose, warm, SR_DISTANCE_SURE, near);
    if (fabs(near->gap - gap) < 1e-3 * fabs(gap) + 1e-12) break;
    along -= (near->gap - gap) / fmax(0.2, srm_dot3(near->n, direction));
  }
}

static void check_ellipsoids(const srNearest* expected, const srSmoothContact* c) {
  double r[3];
  ENSURE_NEAR(c->near.gap, expected->gap, 1e-12);
  srm_sub3(c->near.n, expected->n, r);
  ENSURE_SMALL(srm_norm3(r), 1e-9);
  srm_sub3(c->near.point_a, expected->point_a, r);
  ENSURE_SMALL(srm_norm3(r), 1e-8);
  ensure_points(&c->near);
}

// From the points that face each other along the line of centres; wrong roots are rejected, and then the search decides.
TEST(pairs_of_ellipsoids_agree_with_the_convex_route) {
  const int n = runner_long() ? 10000 : 100;
  int direct = 0, iterations = 0;
  for (int i = 0; i < n; i++) {
    Sizes size[2];
    double pose[16], back[3];
    srNearest expected;
    random_ellipsoid(&size[0]);
    random_ellipsoid(&size[1]);
    const srConvex one = sr_convex_ellipsoid(size[0].a), two = sr_convex_ellipsoid(size[1].a);
    random_pose(pose);
    place_at_gap(&one, &two, pose,
                 i % 3 == 0   ? uniform(0.05, 1)
                 : i % 3 == 1 ? 1e-6
                              : uniform(-0.05, -0.01),
                 &expected);
    const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
    srSmoothContact c = {.near.iterations = 0};
    for (int k = 0; k < 3; k++) back[k] = -srm_dot3(pose + 4 * k, pose + 12);
    ellipsoid_facing(&size[0], pose + 12, c.at[0]);
    ellipsoid_facing(&size[1], back, c.at[1]);
    if (sr_common_normal(&a, &b, pose, &c)) {
      direct++;
      iterations += c.near.iterations;
      check_ellipsoids(&expected, &c);
      continue;
    }
    srPool pool;
    sr_pool_init(&pool);
    const srSmoothPair pair = {.a = sr_smooth_tree_create(&pool, &a), .b = sr_smooth_tree_create(&pool, &b)};
    ENSURE(sr_smooth_search(&pair, pose, (srSmoothReach){1.1, 0.06}, &c, 1, NULL) >= 1);
    check_ellipsoids(&expected, &c);
    sr_pool_free(&pool);
  }
  printf("    %d of %d from the line of centres, %.2f iterations\n", direct, n, (double)iterations / direct);
  ENSURE(direct >= 0.9 * n);
}

// Flat ellipsoids have far sides nearby, which are common normals with a large overlap and pass the test of second order. Short steps do not jump to
// them.
TEST(the_iteration_does_not_jump_to_the_far_side_of_flat_ellipsoids) {
  int direct = 0, n = 60;
  state = 99;
  for (int i = 0; i < n; i++) {
    Sizes size[2];
    double pose[16], back[3];
    srNearest expected;
    for (int k = 0; k < 2; k++) {
      random_ellipsoid(&size[k]);
      size[k].a[2] /= 3;
    }
    const srConvex one = sr_convex_ellipsoid(size[0].a), two = sr_convex_ellipsoid(size[1].a);
    random_pose(pose);
    place_at_gap(&one, &two, pose, i % 2 == 0 ? 1e-6 : -0.01, &expected);
    const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
    srSmoothContact c = {.near.iterations = 0};
    for (int k = 0; k < 3; k++) back[k] = -srm_dot3(pose + 4 * k, pose + 12);
    ellipsoid_facing(&size[0], pose + 12, c.at[0]);
    ellipsoid_facing(&size[1], back, c.at[1]);
    if (!sr_common_normal(&a, &b, pose, &c)) continue;
    direct++;
    check_ellipsoids(&expected, &c);
  }
  ENSURE(direct >= 40);
}

// The same pair from +0.1 to -0.05, the last answer as the start: no break at touch, where equation 33 as printed is singular.
TEST(the_gap_passes_through_touch_without_a_break) {
  const Sizes size[2] = {{{0.8, 0.5, 0.3}}, {{0.4, 0.9, 0.6}}};
  const srConvex one = sr_convex_ellipsoid(size[0].a), two = sr_convex_ellipsoid(size[1].a);
  const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
  static const double gaps[] = {0.1,    1e-2,  1e-4,  1e-6,  1e-8,  1e-10, 1e-12, 0,
                                -1e-12, -1e-8, -1e-6, -1e-4, -1e-3, -1e-2, -0.03, -0.05};
  srNearest near;
  double pose[16], back[3], start[3];
  state = 5;
  random_pose(pose);
  place_at_gap(&one, &two, pose, 0.1, &near);
  srm_add_scaled3(pose + 12, 0.1 - near.gap, near.n, start);
  srSmoothContact c = {.near.iterations = 0};
  const double n[3] = {near.n[0], near.n[1], near.n[2]};
  for (int k = 0; k < 3; k++) back[k] = -srm_dot3(pose + 4 * k, n);
  ellipsoid_facing(&size[0], n, c.at[0]);
  ellipsoid_facing(&size[1], back, c.at[1]);
  for (int i = 0; i < (int)(sizeof gaps / sizeof *gaps); i++) {
    srm_add_scaled3(start, gaps[i] - 0.1, n, pose + 12);  // along the normal, which stays the same
    c.at[0][0] += 0.02, c.at[1][1] += 0.02;               // off the answer
    ENSURE(sr_common_normal(&a, &b, pose, &c));
    ENSURE_NEAR(c.near.gap, gaps[i], 1e-14);
    ENSURE(c.near.iterations <= 5);
    double r[3];
    srm_sub3(c.near.n, n, r);
    ENSURE_SMALL(srm_norm3(r), 1e-12);
  }
}

TEST(a_warm_start_follows_a_turning_ellipsoid) {
  static const double turn[4] = {1e-3, 1e-2, 5e-2, 0.2};
  const Sizes size[2] = {{{0.8, 0.5, 0.3}}, {{0.4, 0.9, 0.6}}};
  const srConvex one = sr_convex_ellipsoid(size[0].a), two = sr_convex_ellipsoid(size[1].a);
  const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
  for (int k = 0; k < 4; k++) {
    double pose[16], step[16], next[16], axis[3], back[3];
    srSmoothContact c = {.near.iterations = 0};
    srNearest near;
    long iterations = 0;
    int lost = 0, steps = 300;
    state = 7;
    random_pose(pose);
    place_at_gap(&one, &two, pose, 0.3, &near);
    for (int i = 0; i < steps; i++) {
      random_unit(axis);
      turned_pose(axis, turn[k], step);
      srm_pose_compose(pose, step, next);
      memcpy(pose, next, sizeof pose);
      if (i == 0 || !sr_common_normal(&a, &b, pose, &c)) {
        lost += i != 0;
        sr_shape_distance(&one, &two, pose, NULL, SR_DISTANCE_SURE, &near);
        for (int m = 0; m < 3; m++) back[m] = -srm_dot3(pose + 4 * m, near.n);
        ellipsoid_facing(&size[0], near.n, c.at[0]);
        ellipsoid_facing(&size[1], back, c.at[1]);
        ENSURE(sr_common_normal(&a, &b, pose, &c));
      }
      iterations += c.near.iterations;
      sr_shape_distance(&one, &two, pose, NULL, SR_DISTANCE_SURE, &near);
      check_ellipsoids(&near, &c);
    }
    printf("    %.0f mrad: %.2f iterations, lost %d of %d\n", 1e3 * turn[k], (double)iterations / steps, lost, steps);
    ENSURE(lost <= (k < 3 ? 0 : 3));
    ENSURE((double)iterations / steps < 4.5);
  }
}

// The far side and the side points solve the equations; they are not contacts.
TEST(wrong_roots_are_rejected) {
  const Sizes size[2] = {{{0.7, 0.5, 0.4}}, {{0.6, 0.5, 0.45}}};
  const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
  double pose[16];
  srm_pose_identity(pose);
  static const double axes[6][2] = {{0, PI / 2}, {PI, PI / 2}, {PI / 2, PI / 2}, {3 * PI / 2, PI / 2}, {0, 0}, {0, PI}};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      // On the x axis, 0.2 apart: only +x of a with -x of b has the solids on opposite sides and is a minimum.
      pose[12] = 1.5;
      srSmoothContact c = {.at = {{axes[i][0], axes[i][1]}, {axes[j][0], axes[j][1]}}};
      const bool right = i == 0 && j == 1, accepted = sr_common_normal(&a, &b, pose, &c);
      if (right) ENSURE(accepted);
      if (accepted) ENSURE_NEAR(c.near.gap, 0.2, 1e-14);
    }
  // From the outer equator of a torus to the far inner one of another: a common normal with the solids on the same side.
  const Sizes t = {{0.5, 0.2}};
  const srSmooth ring = torus(&t);
  pose[12] = 1.6;
  srSmoothContact saddle = {.at = {{0, 0}, {0, PI}}};
  if (sr_common_normal(&ring, &ring, pose, &saddle)) ENSURE_NEAR(saddle.near.gap, 0.2, 1e-12);
  // A ball above the centre of curvature of the bottom of a bowl: the bottom is a common normal and no minimum.
  const Sizes steep = {{4}};
  const srSmooth cup = bowl(&steep);
  const srConvex ball = sr_convex_sphere(0.1);
  pose[12] = 0, pose[14] = 0.6;  // above 1/a = 0.25
  srSmoothContact c = {.at = {{0, 0}}};
  ENSURE(!sr_common_normal_convex(&cup, &ball, pose, &c));
  c.at[0][1] = 0.01;
  ENSURE(sr_common_normal_convex(&cup, &ball, pose, &c));
  // Nearest points of z = 2 r^2 to (0, 0, h): z = h - 1/4, distance sqrt(r^2 + 1/16)
  ENSURE_NEAR(c.near.gap, sqrt(0.35 / 2 + 1.0 / 16) - 0.1, 1e-14);
  const Sizes small = {{0.1, 0.1, 0.1}};
  const srSmooth bead = ellipsoid(&small);
  srSmoothContact d = {.at = {{0, 0}, {0, PI}}};
  ENSURE(!sr_common_normal(&cup, &bead, pose, &d));
  // The same from an earlier contact at the bottom: the search finds the ring.
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothPair pair = {.a = sr_smooth_tree_create(&pool, &cup), .convex = &ball};
  srSmoothContact last = {.near = {.state = SR_NEAREST_FOUND, .gap = 0.1}};
  sr_smooth_nearest(&pair, pose, (srSmoothReach){1, 0.1}, &last);
  ENSURE_EQUAL(last.near.state, SR_NEAREST_FOUND);
  ENSURE_NEAR(last.near.gap, sqrt(0.35 / 2 + 1.0 / 16) - 0.1, 1e-14);
  sr_pool_free(&pool);
  // A ball within a solid is near its surface from the wrong side.
  pose[14] = 0.25;
  srSmoothContact inside = {.at = {{0.1, 0.1}}};
  ENSURE(!sr_common_normal_convex(&a, &ball, pose, &inside));
}

// Spheres that overlap more than their radii: gap = distance - r_a - r_b all the same.
TEST(a_deep_overlap_of_convex_points_is_a_contact) {
  const Sizes size[2] = {{{0.1, 0.1, 0.1}}, {{0.12, 0.12, 0.12}}};
  const srSmooth a = ellipsoid(&size[0]), b = ellipsoid(&size[1]);
  double pose[16];
  srm_pose_identity(pose);
  pose[12] = 0.07;
  srSmoothContact c = {.at = {{0.1, PI / 2 + 0.1}, {PI - 0.1, PI / 2}}};
  ENSURE(sr_common_normal(&a, &b, pose, &c));
  ENSURE_NEAR(c.near.gap, -0.15, 1e-15);
  ENSURE(c.near.unique);
}

// --------------------------------------------------------------------------------------------------------------- bowls
// Contacts made by construction: a point of the bowl, a gap along its normal.
TEST(a_bead_in_a_bowl_touches_where_it_was_put_the_bottom_included) {
  const Sizes shape = {{2}}, small = {{0.1, 0.1, 0.1}};
  const srSmooth s = bowl(&shape), bead = ellipsoid(&small);
  const srConvex ball = sr_convex_sphere(0.1);
  ENSURE(s.pole[1][0].is && !s.pole[1][1].is);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &s);
  const srSmoothPair pairs[2] = {{.a = tree, .b = sr_smooth_tree_create(&pool, &bead)}, {.a = tree, .convex = &ball}};
  for (int i = 0; i < 20; i++) {
    static const double radius[] = {0, 1e-9, 1e-5, 0.01, 0.3, 0.8};
    const double at[2] = {uniform(0, 2 * PI), radius[i % 6]}, gap = i < 6 ? 0 : uniform(-0.04, 0.2);
    double pose[16];
    srSmoothFrame f;
    srSmoothContact c;
    ENSURE(sr_smooth_frame(&s, at, &f));
    ENSURE(f.n[2] > 0);
    random_pose(pose);
    srm_add_scaled3(f.x, 0.1 + gap, f.n, pose + 12);
    for (int k = 0; k < 2; k++) {
      ENSURE(sr_smooth_search(&pairs[k], pose, (srSmoothReach){0.3, 0.05}, &c, 1, NULL) >= 1);
      ENSURE_NEAR(c.near.gap, gap, 1e-14);
      for (int m = 0; m < 3; m++) ENSURE_NEAR(c.near.point_a[m], f.x[m], 1e-8);
    }
  }
  sr_pool_free(&pool);
}

// Beam on a cylinder: crossing axes touch at a point, parallel ones along a line.
TEST(two_tubes_have_the_distance_of_their_axes) {
  const Sizes r1 = {{0.3}}, r2 = {{0.2}};
  const srSmooth a =
      prepared((srSmooth){.at = tube_at, .self = &r1, .low = {0, -1}, .high = {2 * PI, 1}, .periodic = {true, false}});
  const srSmooth b =
      prepared((srSmooth){.at = tube_at, .self = &r2, .low = {0, -1}, .high = {2 * PI, 1}, .periodic = {true, false}});
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothPair pair = {.a = sr_smooth_tree_create(&pool, &a), .b = sr_smooth_tree_create(&pool, &b)};
  for (int i = 0; i < 12; i++) {
    double pose[16];
    srSmoothContact c[2];
    const double angle = i == 0 ? PI / 2 : i == 11 ? 1e-3 : uniform(0.2, 1.3), gap = uniform(-0.05, 0.05);
    turned_pose((double[3]){1, 0, 0}, angle, pose);
    pose[12] = 0.5 + gap;
    ENSURE_EQUAL(sr_smooth_search(&pair, pose, (srSmoothReach){0.1, 0.1}, c, 2, NULL), 1);
    ENSURE_NEAR(c[0].near.gap, gap, 1e-14);
    ENSURE_SMALL(c[0].near.point_a[2], 1e-8);
    ENSURE(c[0].near.unique);
  }
  // Derivatives with a straight direction on both: the gap by a turn about y is -(z of the axes' feet), by a shift along x one.
  double pose[16];
  srSmoothContact crossed;
  srNearestDerivative by;
  turned_pose((double[3]){1, 0, 0}, 1, pose);
  pose[12] = 0.52, pose[13] = 0.1;
  ENSURE_EQUAL(sr_smooth_search(&pair, pose, (srSmoothReach){0.1, 0.1}, &crossed, 1, NULL), 1);
  sr_nearest_derivative(&crossed.near, &by);
  ENSURE(by.smooth);
  ENSURE_NEAR(by.gap[3], 1, 1e-12);
  ENSURE_SMALL(by.gap[4], 1e-12);
  ENSURE_SMALL(by.n[1][4], 1e-12);                       // shifted across, the normal stays along x,
  ENSURE_NEAR(by.point_a[2][4], cos(1) / sin(1), 1e-9);  // and the point slides to the crossing of the axes
  srm_pose_identity(pose);
  pose[12] = 0.51;
  srSmoothContact c = {.at = {{0.2, 0.3}, {PI - 0.1, 0.2}}};
  ENSURE(sr_common_normal(&a, &b, pose, &c));
  ENSURE_NEAR(c.near.gap, 0.01, 1e-14);
  ENSURE(!c.near.unique);
  sr_pool_free(&pool);
}

// -------------------------------------------------------------------------------------------------------- convex shapes
// Least distance over a fine grid of the surface: an upper bound, and near it.
TEST(a_sheet_of_waves_touches_convex_shapes_where_sampling_says) {
  const Sizes w = {{0.1, 6}};
  const srSmooth s = prepared((srSmooth){.at = waves_at, .self = &w, .low = {-1, -1}, .high = {1, 1}});
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &s);
  const srConvex shapes[4] = {sr_convex_sphere(0.3), sr_convex_capsule(0.2, 0.15),
                              sr_convex_ellipsoid((double[3]){0.3, 0.2, 0.25}), sr_convex_cylinder(0.2, 0.2)};
  for (int i = 0; i < 8; i++) {
    const srSmoothPair pair = {.a = tree, .convex = &shapes[i % 4]};
    srSmoothContact c[8];
    double pose[16], least = INFINITY;
    random_pose(pose);
    pose[12] = uniform(-0.3, 0.3), pose[13] = uniform(-0.3, 0.3), pose[14] = 0.5;
    const int side = runner_long() ? 400 : 80;
    for (int j = 0; j <= side * side; j++) {
      const double at[2] = {-1 + 2.0 * (j % side) / side, -1 + 2.0 * (j / side) / side};
      srSmoothPoint y;
      srNearest near;
      waves_at(&w, at, &y);
      if (hypot(y.x[0] - pose[12], y.x[1] - pose[13]) > 0.5) continue;
      sr_smooth_point_distance(y.x, &shapes[i % 4], pose, NULL, &near);
      least = fmin(least, near.gap);
    }
    const int found = sr_smooth_search(&pair, pose, (srSmoothReach){0.6, 0.1}, c, 8, NULL);
    ENSURE(found >= 1);
    ENSURE(c[0].near.gap <= least + 1e-12);
    ENSURE_NEAR(c[0].near.gap, least, 20.0 / side / side);  // curvature 7.6 and h/2 = 1/side: 3.6 of bend, both ways
    for (int k = 1; k < found && k < 8; k++) ENSURE(c[k].near.gap >= c[k - 1].near.gap);
  }
  sr_pool_free(&pool);
}

// --------------------------------------------------------------------------------------------------------------- search
// Links of a chain: every contact that some of many random starts reach is among those of the search.
TEST(the_search_of_linked_tori_misses_nothing_that_random_starts_find) {
  const Sizes t = {{0.5, 0.15}};
  const srSmooth a = torus(&t);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  const srSmoothPair pair = {.a = tree, .b = tree};
  const int poses = runner_long() ? 300 : 12, starts = runner_long() ? 500 : 60;
  long contacts = 0, several = 0;
  srSmoothWork sum = {0};
  state = 11;
  for (int i = 0; i < poses; i++) {
    double pose[16];
    srSmoothContact c[16];
    srSmoothWork work;
    random_pose(pose);
    random_unit(pose + 12);
    srm_scale3(uniform(0.4, 0.9), pose + 12, pose + 12);
    if (i % 3 == 0) {  // one on the other, tilted: touching at several places
      turned_pose((double[3]){1, uniform(-1, 1), 0}, uniform(-0.3, 0.3), pose);
      pose[12] = uniform(-0.3, 0.3), pose[13] = uniform(-0.3, 0.3), pose[14] = uniform(0.2, 0.35);
    }
    const srSmoothReach reach = {0.1, 0.1};
    const int found = sr_smooth_search(&pair, pose, reach, c, 16, &work);
    ENSURE(found <= 16);
    contacts += found;
    several += found > 1;
    sum.patches += work.patches;
    sum.newtons += work.newtons;
    for (int j = 0; j < starts; j++) {
      srSmoothContact d = {.near.iterations = 0};
      for (int k = 0; k < 4; k++) d.at[k / 2][k % 2] = uniform(0, 2 * PI);
      if (!sr_common_normal(&a, &a, pose, &d) || d.near.gap > reach.margin || d.near.gap < -reach.depth) continue;
      double least = INFINITY;
      for (int k = 0; k < found; k++) {
        double r[3];
        srm_sub3(c[k].near.point_a, d.near.point_a, r);
        least = fmin(least, srm_norm3(r));
      }
      ENSURE_SMALL(least, 1e-6);
    }
  }
  printf(
      "    %ld contacts, %ld poses with several, %ld patches of the tree; per search %ld pairs, %ld iterations begun\n",
      contacts, several, (long)sr_smooth_tree_patches(tree), sum.patches / poses, sum.newtons / poses);
  ENSURE(contacts > 0 && several > 0);
  sr_pool_free(&pool);
}

// Where patches know a contact the search does not look for another one: with several contacts within reach, from waves shorter and longer than the other
// shape, saddles, poles and bowls, none is lost that a grid of starts finds, after small and large motions. `follow`: from the last contact as well.
typedef struct Scene {
  const srSmooth *a, *b;
  const srConvex* convex;
  double low[3], high[3];  // of the origin of b
  bool turns;
} Scene;

static bool reach_contact(const Scene* s, const double pose[16], srSmoothContact* d) {
  return s->b ? sr_common_normal(s->a, s->b, pose, d) : sr_common_normal_convex(s->a, s->convex, pose, d);
}

static bool is_listed(const srSmoothContact* c, int found, const srSmoothContact* d) {
  for (int k = 0; k < found; k++) {
    double r[3];
    srm_sub3(c[k].near.point_a, d->near.point_a, r);
    if (srm_norm3(r) < 1e-6 && fabs(c[k].near.gap - d->near.gap) < 1e-9) return true;
  }
  return false;
}

// Of some random points the nearest to x: most contacts are there.
static void start_at(const srSmooth* s, const double x[3], double at[2]) {
  double least = INFINITY;
  for (int i = 0; i < 12; i++) {
    const double next[2] = {uniform(s->low[0], s->high[0]), uniform(s->low[1], s->high[1])};
    srSmoothPoint y;
    double r[3];
    s->at(s->self, next, &y);
    srm_sub3(y.x, x, r);
    if (!(srm_norm3(r) < least)) continue;
    least = srm_norm3(r);
    memcpy(at, next, sizeof next);
  }
}

typedef struct Tally {
  long contacts, several, newtons, searches;
} Tally;

static void check_scene(const Scene* s, const srSmoothPair* pair, const double pose[16], int starts, Tally* tally) {
  const srSmoothReach reach = {0.1, 0.1};
  srSmoothContact c[32];
  srSmoothWork work;
  double back[16];
  srm_pose_invert(pose, back);
  const int found = sr_smooth_search(pair, pose, reach, c, 32, &work);
  ENSURE(found <= 32);
  for (int j = 0; j < starts; j++) {
    srSmoothContact d = {.near.iterations = 0};
    start_at(s->a, pose + 12, d.at[0]);
    if (s->b) start_at(s->b, back + 12, d.at[1]);
    if (!reach_contact(s, pose, &d) || !d.near.unique) continue;
    if (d.near.gap > reach.margin - 1e-9 || d.near.gap < -reach.depth + 1e-9) continue;
    ENSURE(is_listed(c, found, &d));
  }
  for (int k = 0; k < found; k++) {  // warm: each of them from itself, and it is a contact
    srSmoothContact d = c[k];
    ENSURE(reach_contact(s, pose, &d) && is_listed(&c[k], 1, &d));
    for (int l = 0; l < k && c[k].near.unique; l++) ENSURE(!is_listed(&c[l], 1, &c[k]));
  }
  tally->contacts += found;
  tally->several += found > 1;
  tally->newtons += work.newtons;
  tally->searches++;
}

static void check_scenes(srPool* pool, const Scene* s, int poses, int starts, Tally* tally) {
  static const double motion[] = {1e-3, 0.02, 0.3};
  const srSmoothTree* tree = sr_smooth_tree_create(pool, s->a);
  const srSmoothPair pair = {.a = tree, .b = s->b ? sr_smooth_tree_create(pool, s->b) : NULL, .convex = s->convex};
  for (int i = 0; i < poses; i++) {
    double pose[16], axis[3], turn[16], was[16];
    srm_pose_identity(pose);
    if (s->turns) random_pose(pose);
    for (int k = 0; k < 3; k++) pose[12 + k] = uniform(s->low[k], s->high[k]);
    check_scene(s, &pair, pose, starts, tally);
    memcpy(was, pose, sizeof was);
    random_unit(axis);
    turned_pose(axis, motion[i % 3], turn);
    srm_pose_compose(was, turn, pose);
    for (int k = 0; k < 3; k++) pose[12 + k] = was[12 + k] + 0.3 * motion[i % 3] * axis[k];
    check_scene(s, &pair, pose, starts, tally);
  }
}

TEST(no_contact_is_lost_where_patches_know_one) {
  const Sizes waves = {{0.05, 9}}, ripples = {{0.004, 40}}, ring = {{0.4, 0.12}}, bow = {{2}}, egg = {{0.3, 0.2, 0.15}};
  const srSmooth w = prepared((srSmooth){.at = waves_at, .self = &waves, .low = {-1, -1}, .high = {1, 1}});
  const srSmooth r = prepared((srSmooth){.at = waves_at, .self = &ripples, .low = {-0.3, -0.3}, .high = {0.3, 0.3}});
  const srSmooth t = torus(&ring), b = bowl(&bow), e = ellipsoid(&egg);
  const srConvex small = sr_convex_sphere(0.05), ball = sr_convex_sphere(0.25), broad = sr_convex_sphere(0.7),
                 box = sr_convex_box((double[]){0.3, 0.2, 0.1});
  const srConvex lens = sr_convex_ellipsoid((double[]){0.3, 0.25, 0.1}), rod = sr_convex_capsule(0.3, 0.05);
  const Scene scene[] = {
      {&w, NULL, &small, {-0.5, -0.5, 0}, {0.5, 0.5, 0.15}, true},
      {&w, NULL, &broad, {-0.2, -0.2, 0.65}, {0.2, 0.2, 0.8}, true},
      {&w, NULL, &lens, {-0.5, -0.5, 0.1}, {0.5, 0.5, 0.3}, true},
      {&w, NULL, &box, {-0.5, -0.5, 0.1}, {0.5, 0.5, 0.3}, true},
      {&r, NULL, &ball, {-0.1, -0.1, 0.24}, {0.1, 0.1, 0.3}, true},
      {&t, NULL, &ball, {-0.4, -0.4, 0.1}, {0.4, 0.4, 0.4}, true},
      {&t, NULL, &rod, {-0.3, -0.3, -0.2}, {0.3, 0.3, 0.2}, true},
      {&b, NULL, &small, {-0.3, -0.3, 0.04}, {0.3, 0.3, 0.2}, true},
      {&b, NULL, &lens, {-0.3, -0.3, 0.1}, {0.3, 0.3, 0.4}, true},
      {&b, &e, NULL, {-0.3, -0.3, 0.1}, {0.3, 0.3, 0.4}, true},
      {&w, &e, NULL, {-0.3, -0.3, 0.1}, {0.3, 0.3, 0.35}, true},
      {&t, &e, NULL, {-0.4, -0.4, 0.1}, {0.4, 0.4, 0.4}, true},
  };
  const int poses = runner_long() ? 60 : 3, starts = runner_long() ? 60 : 16;  // two poses each
  Tally all = {0};
  srPool pool;
  sr_pool_init(&pool);
  state = 29;
  for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
    Tally tally = {0};
    check_scenes(&pool, &scene[i], poses, starts, &tally);
    if (getenv("SMOOTH_PRINT") != NULL)
      printf("    scene %zu: %ld contacts, %ld of %ld poses with several, %.1f iterations begun\n", i, tally.contacts,
             tally.several, tally.searches, (double)tally.newtons / (double)tally.searches);
    all.contacts += tally.contacts, all.several += tally.several;
  }
  ENSURE(all.contacts > 12 * poses && all.several > poses);
  sr_pool_free(&pool);
}

// Random points of surfaces of all kinds, between the samples: within the bounds of their patches.
TEST(patches_hold_the_points_and_normals_between_their_samples) {
  const Sizes e = {{1, 0.6, 0.4}}, w = {{0.1, 6}}, p = {{2}};
  const Sizes arch = {
      {4, 4 * PI / 3}};  // highest between two samples of the whole, and farther from the middle than its ends
  const srSmooth s[4] = {prepared((srSmooth){.at = waves_at, .self = &arch, .low = {-1, -0.01}, .high = {1, 0.01}}),
                         ellipsoid(&e),
                         prepared((srSmooth){.at = waves_at, .self = &w, .low = {-1, -1}, .high = {1, 1}}), bowl(&p)};
  srPool pool;
  sr_pool_init(&pool);
  for (int i = 0; i < 4; i++) {
    const srSmoothTree* tree = sr_smooth_tree_create(&pool, &s[i]);
    for (int j = 0; j < (runner_long() ? 200000 : 2500); j++) {
      const double at[2] = {uniform(s[i].low[0], s[i].high[0]), uniform(s[i].low[1], s[i].high[1])};
      ENSURE(sr_smooth_tree_holds(tree, at));
    }
  }
  sr_pool_free(&pool);
}

// Two links pulled along x: the inner equators touch; exactly one contact, gap as in the plane of symmetry.
TEST(two_links_at_right_angles_touch_at_the_inner_sides) {
  const Sizes t = {{0.5, 0.15}};
  const srSmooth a = torus(&t);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  const srSmoothPair pair = {.a = tree, .b = tree};
  for (int i = 0; i < 5; i++) {
    const double gap = -0.02 + 0.01 * i;
    double pose[16];
    srSmoothContact c[4];
    turned_pose((double[3]){1, 0, 0}, PI / 2, pose);
    pose[12] = 0.7 - gap;  // inner sides at x = 0.35 of a and x - 0.35 of b
    ENSURE(sr_smooth_search(&pair, pose, (srSmoothReach){0.04, 0.04}, c, 4, NULL) >= 1);
    ENSURE_NEAR(c[0].near.gap, gap, 1e-14);
    ENSURE_NEAR(c[0].near.n[0], -1, 1e-14);
    srSmoothContact next = {.near.state = SR_NEAREST_NONE};
    sr_smooth_nearest(&pair, pose, (srSmoothReach){0.04, 0.04}, &next);
    ENSURE_NEAR(next.near.gap, gap, 1e-14);
    next.at[0][0] = PI;  // lost: the search finds it again
    sr_smooth_nearest(&pair, pose, (srSmoothReach){0.04, 0.04}, &next);
    ENSURE_EQUAL(next.near.state, SR_NEAREST_FOUND);
    ENSURE_NEAR(next.near.gap, gap, 1e-14);
  }
  double pose[16];
  srm_pose_identity(pose);
  pose[14] = 5;
  srSmoothContact none = {.near.state = SR_NEAREST_NONE};
  sr_smooth_nearest(&pair, pose, (srSmoothReach){0.04, 0.04}, &none);
  ENSURE_EQUAL(none.near.state, SR_NEAREST_NONE);
  sr_pool_free(&pool);
}

TEST(searches_and_iterations_allocate_nothing) {
  const Sizes t = {{0.5, 0.15}};
  const srSmooth a = torus(&t);
  const srConvex ball = sr_convex_sphere(0.2);
  srPool pool;
  Heap heap = {0};
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  const srSmoothPair pairs[2] = {{.a = tree, .b = tree}, {.a = tree, .convex = &ball}};
  double pose[16];
  srSmoothContact c = {.near.state = SR_NEAREST_NONE};
  turned_pose((double[3]){1, 0.1, 0.2}, 1.3, pose);
  pose[12] = 0.69;
  sr_set_allocator(heap_allocator, &heap);
  for (int k = 0; k < 2; k++) {
    sr_smooth_nearest(&pairs[k], pose, (srSmoothReach){0.5, 0.3}, &c);
    pose[13] += 0.01;
    sr_smooth_nearest(&pairs[k], pose, (srSmoothReach){0.5, 0.3}, &c);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(c.near.state, SR_NEAREST_FOUND);
  ENSURE_EQUAL(heap.calls, 0);
  sr_pool_free(&pool);
}

TEST(poses_that_are_not_finite_have_no_contact) {
  const Sizes t = {{0.5, 0.15}};
  const srSmooth a = torus(&t);
  const srConvex ball = sr_convex_sphere(0.2);
  srPool pool;
  sr_pool_init(&pool);
  const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
  const srSmoothPair pairs[2] = {{.a = tree, .b = tree}, {.a = tree, .convex = &ball}};
  static const double bad[2] = {NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    double pose[16];
    srm_pose_identity(pose);
    pose[13] = bad[k / 2];
    srSmoothContact c = {.near = {.state = SR_NEAREST_FOUND, .gap = 0.01}};
    sr_smooth_nearest(&pairs[k % 2], pose, (srSmoothReach){0.5, 0.1}, &c);
    ENSURE_EQUAL(c.near.state, SR_NEAREST_NONE);
  }
  sr_pool_free(&pool);
}

// ---------------------------------------------------------------------------------------------------------- derivatives
// sr_nearest_derivative takes the answer as that of a convex pair: curvatures of any sign, against central differences.
TEST(derivatives_of_gap_normal_and_points_agree_with_differences) {
  const Sizes t = {{0.5, 0.2}}, e = {{0.12, 0.1, 0.08}};
  const srSmooth a = torus(&t), b = ellipsoid(&e);
  const srConvex convex = sr_convex_ellipsoid(e.a);
  double pose[16];
  state = 3;
  random_pose(pose);
  pose[12] = 0.21, pose[13] = 0.02, pose[14] = 0.05;  // in the hole: a saddle of the torus
  srPool pool;
  sr_pool_init(&pool);
  for (int way = 0; way < 2; way++) {
    const srSmoothTree* tree = sr_smooth_tree_create(&pool, &a);
    const srSmoothPair pair = {.a = tree, .b = way == 0 ? sr_smooth_tree_create(&pool, &b) : NULL, .convex = &convex};
    srSmoothContact c;
    srNearestDerivative by;
    ENSURE(sr_smooth_search(&pair, pose, (srSmoothReach){0.3, 0.1}, &c, 1, NULL) >= 1);
    sr_nearest_derivative(&c.near, &by);
    ENSURE(by.smooth);
    for (int j = 0; j < 6; j++) {
      const double h = 1e-5;
      srSmoothContact at[2] = {c, c};
      for (int s = 0; s < 2; s++) {
        double turn[16], body[16], moved[16], axis[3] = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
        memcpy(body, pose, sizeof body);
        body[12] = body[13] = body[14] = 0;
        turned_pose(axis, j < 3 ? (s == 0 ? -h : h) : 0, turn);
        srm_pose_compose(turn, body, moved);
        for (int k = 0; k < 3; k++) moved[12 + k] = pose[12 + k] + (j >= 3 ? (s == 0 ? -h : h) * axis[k] : 0);
        sr_smooth_nearest(&pair, moved, (srSmoothReach){0.3, 0.1}, &at[s]);
      }
      ENSURE_NEAR(by.gap[j], (at[1].near.gap - at[0].near.gap) / (2 * h), 1e-8);
      for (int k = 0; k < 3; k++) {
        ENSURE_NEAR(by.n[k][j], (at[1].near.n[k] - at[0].near.n[k]) / (2 * h), 1e-6);
        ENSURE_NEAR(by.point_a[k][j], (at[1].near.point_a[k] - at[0].near.point_a[k]) / (2 * h), 1e-6);
        ENSURE_NEAR(by.point_b[k][j], (at[1].near.point_b[k] - at[0].near.point_b[k]) / (2 * h), 1e-6);
      }
    }
  }
  sr_pool_free(&pool);
}

// --------------------------------------------------------------------------------------------------------------- faults
// z = 0, x = u^2: the sheet folds at u = 0.
static void folded_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  const double u = at[0];
  *y = (srSmoothPoint){.x = {u * u, at[1], 0}, .first = {{2 * u, 0, 0}, {0, 1, 0}}, .second = {{2, 0, 0}}};
}

// A cone with its tip at v = 0.
static void cone_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  const double c = cos(at[0]), s = sin(at[0]), v = at[1];
  *y = (srSmoothPoint){.x = {v * c, v * s, v},
                       .first = {{-v * s, v * c, 0}, {c, s, 1}},
                       .second = {{-v * c, -v * s, 0}, {-s, c, 0}, {0, 0, 0}}};
}

static void root_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  *y = (srSmoothPoint){.x = {at[0], at[1], sqrt(at[0])},
                       .first = {{1, 0, 0.5 / sqrt(at[0])}, {0, 1, 0}},
                       .second = {{0, 0, -0.25 / pow(at[0], 1.5)}}};
}

static void line_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  *y = (srSmoothPoint){.x = {at[0] + at[1]}, .first = {{1}, {1}}};
}

// A drop: the curve closes with a corner.
static void drop_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  const double u = PI * at[0];
  *y = (srSmoothPoint){.x = {sin(2 * u), sin(u), at[1]},
                       .first = {{2 * PI * cos(2 * u), PI * cos(u), 0}, {0, 0, 1}},
                       .second = {{-4 * PI * PI * sin(2 * u), -PI * PI * sin(u), 0}}};
}

// z = v^2 cos(3 u) about a pole: three waves whose curvature has no value there.
static void saddle_at(const void* self, const double at[2], srSmoothPoint* y) {
  (void)self;
  const double c = cos(at[0]), s = sin(at[0]), c3 = cos(3 * at[0]), s3 = sin(3 * at[0]), v = at[1];
  *y = (srSmoothPoint){.x = {v * c, v * s, v * v * c3},
                       .first = {{-v * s, v * c, -3 * v * v * s3}, {c, s, 2 * v * c3}},
                       .second = {{-v * c, -v * s, -9 * v * v * c3}, {-s, c, -6 * v * s3}, {0, 0, 2 * c3}}};
}

TEST(faults_of_a_surface_are_reported_with_their_place) {
  const Sizes flat = {{1, 1, 1e-3}}, r = {{0.3}};
  double place[2];
  srSmooth s = {.at = folded_at, .low = {-0.9, -1}, .high = {1, 1}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_FOLD);
  ENSURE_SMALL(place[0], 1e-6);
  s = (srSmooth){.at = cone_at, .high = {2 * PI, 1}, .periodic = {true}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_DEGENERATE);
  ENSURE(place[1] == 0);
  s.low[1] = 0.1;  // without its tip
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_GOOD);
  s = (srSmooth){.at = root_at, .low = {0, 0}, .high = {1, 1}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_NOT_FINITE);
  ENSURE(place[0] == 0);
  s = (srSmooth){.at = line_at, .low = {0, 0}, .high = {1, 1}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_DEGENERATE);
  s = (srSmooth){.at = tube_at, .self = &r, .high = {PI, 1}, .periodic = {true}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_OPEN);
  s = (srSmooth){.at = drop_at, .high = {1, 1}, .periodic = {true}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_OPEN);
  s = (srSmooth){.at = saddle_at, .high = {2 * PI, 1}, .periodic = {true}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_DEGENERATE);
  s = (srSmooth){.at = tube_at, .self = &r, .high = {0, 1}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_RANGE);
  s = (srSmooth){.at = tube_at, .self = &r, .high = {NAN, 1}};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_RANGE);
  // Sharp, but no fold: a disc of 1 mm, rounded.
  s = (srSmooth){.at = ellipsoid_at, .self = &flat, .high = {2 * PI, PI}, .periodic = {true}, .inward = true};
  ENSURE_EQUAL(sr_smooth_prepare(&s, place), SR_SMOOTH_GOOD);
}
