// Contact points with identities: against closed forms, on the surfaces of both shapes, with the gap of the shapes, and with ids that persist.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/manifold.h"
#include "math/vector3.h"
#include "runner.h"

static unsigned long long state = 1;

static double uniform(double low, double high) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return low + (high - low) * ((double)(state >> 11) / 9007199254740992.0);
}

// A rotation by a vector, at a place.
static void pose_of(const double turn[3], const double at[3], double pose[16]) {
  const double angle = srm_norm3(turn), s = angle > 0 ? sin(0.5 * angle) / angle : 0.5;
  srm_pose_identity(pose);
  srm_pose_from_quaternion((double[]){cos(0.5 * angle), s * turn[0], s * turn[1], s * turn[2]}, pose);
  srm_set3(pose + 12, at);
}

static srManifold manifold(const srConvex* a, const srConvex* b, const double pose[16], double margin, int most) {
  srNearest near;
  srManifold m;
  sr_shape_distance(a, b, pose, NULL, SR_DISTANCE_SURE, &near);
  sr_shape_manifold(a, b, pose, &near, margin, most, &m);
  return m;
}

static bool has(const srManifold* m, uint64_t id) {
  for (int i = 0; i < m->count; i++) {
    if (m->point[i].id == id) return true;
  }
  return false;
}

static bool same_ids(const srManifold* x, const srManifold* y) {
  if (x->count != y->count) return false;
  for (int i = 0; i < x->count; i++) {
    if (!has(y, x->point[i].id)) return false;
  }
  return true;
}

static void ensure_distinct(const srManifold* m) {
  for (int i = 0; i < m->count; i++) {
    for (int k = 0; k < i; k++) ENSURE(m->point[i].id != m->point[k].id);
  }
}

// ---- closed forms -----------------------------------------------------------------------------------------------------

// Four corners, whose heights are those of the tilted box; the ids are the same at every tilt, down to an edge and a corner.
TEST(a_box_on_a_plane_stands_on_four_corners_with_their_heights) {
  const srConvex plane = sr_convex_plane(), box = sr_convex_box((double[]){0.3, 0.2, 0.1});
  srManifold flat = {0};
  for (int k = 0; k <= 8; k++) {
    const double tilt = 0.01 * k;
    double pose[16];
    pose_of((double[]){0, tilt, 0}, (double[]){5, -3, 0.1 + 0.001}, pose);
    const srManifold m = manifold(&plane, &box, pose, 1, 8);
    ENSURE_EQUAL(m.count, 4);
    ensure_distinct(&m);
    if (k == 0) flat = m;
    ENSURE(same_ids(&m, &flat));
    for (int i = 0; i < 4; i++) {
      const srManifoldPoint* p = &m.point[i];
      const double side = p->point_b[0] > 5 - 0.1 * sin(tilt) ? 1 : -1;  // x of the corner, up or down with the tilt
      ENSURE_NEAR(p->gap, 0.101 - 0.3 * side * sin(tilt) - 0.1 * cos(tilt), 1e-15);
      ENSURE_NEAR(p->point_a[2], 0, 1e-15);
      ENSURE_NEAR(fabs(p->point_b[1] + 3), 0.2, 1e-15);
    }
    ENSURE_NEAR(m.point[0].gap, 0.101 - 0.3 * sin(tilt) - 0.1 * cos(tilt), 1e-15);
  }
  double pose[16];
  pose_of((double[]){0, 0.3, 0}, (double[]){5, -3, 0.5}, pose);  // beyond the angle of a face: on an edge
  const srManifold edge = manifold(&plane, &box, pose, 1, 8);
  ENSURE_EQUAL(edge.count, 2);
  ENSURE(has(&flat, edge.point[0].id) && has(&flat, edge.point[1].id));
  pose_of((double[]){0.2, 0.3, 0}, (double[]){5, -3, 0.5}, pose);  // on a corner
  const srManifold corner = manifold(&plane, &box, pose, 1, 8);
  ENSURE_EQUAL(corner.count, 1);
  ENSURE(has(&flat, corner.point[0].id));
}

// Squares with sides 2, one turned by 45 degrees: an octagon with corners at (1, sqrt(2) - 1).
TEST(two_squares_overlap_in_an_octagon) {
  const srConvex box = sr_convex_box((double[]){1, 1, 0.5});
  double pose[16];
  pose_of((double[]){0, 0, acos(-1.0) / 4}, (double[]){0, 0, 0.999}, pose);
  const srManifold m = manifold(&box, &box, pose, 0.01, 8);
  ENSURE_EQUAL(m.count, 8);
  ensure_distinct(&m);
  for (int i = 0; i < 8; i++) {
    const double x = fabs(m.point[i].point_a[0]), y = fabs(m.point[i].point_a[1]);
    ENSURE_NEAR(fmax(x, y), 1, 1e-14);
    ENSURE_NEAR(fmin(x, y), sqrt(2.0) - 1, 1e-14);
    ENSURE_NEAR(m.point[i].gap, -0.001, 1e-14);
    ENSURE_NEAR(m.point[i].point_a[2], 0.5, 1e-14);
    ENSURE_NEAR(m.point[i].point_b[2], 0.499, 1e-14);
  }
  const srManifold four = manifold(&box, &box, pose, 0.01, 4);
  ENSURE_EQUAL(four.count, 4);
  double most = 0;
  for (int i = 1; i < 4; i++) {
    ENSURE(has(&m, four.point[i].id));
    for (int k = 0; k < i; k++)
      most = fmax(most, hypot(four.point[i].point_a[0] - four.point[k].point_a[0],
                              four.point[i].point_a[1] - four.point[k].point_a[1]));
  }
  ENSURE_NEAR(most, 2 * hypot(1, sqrt(2.0) - 1), 1e-14);  // the diameter
}

// A small box on a large one has its own corners; one that overhangs has two of them and two crossings; a large one has those of the small one.
TEST(corners_and_crossings_of_boxes_that_overlap) {
  const srConvex large = sr_convex_box((double[]){1, 1, 0.5}), small = sr_convex_box((double[]){0.2, 0.3, 0.1});
  double pose[16];
  pose_of((double[]){0, 0, 0}, (double[]){0.9, 0.1, 0.6}, pose);
  const srManifold m = manifold(&large, &small, pose, 0.01, 8);
  ENSURE_EQUAL(m.count, 4);
  int crossings = 0;
  for (int i = 0; i < 4; i++) {
    const double *x = m.point[i].point_a, along = x[0] < 0.8 ? 0.7 : 1;
    ENSURE_NEAR(x[0], along, 1e-14);
    ENSURE_NEAR(fabs(x[1] - 0.1), 0.3, 1e-14);
    ENSURE_NEAR(m.point[i].gap, 0, 1e-14);
    crossings += m.point[i].id >> 62 == 1;  // an edge of the large one
  }
  ENSURE_EQUAL(crossings, 2);
  double back[16];
  srm_pose_invert(pose, back);
  const srManifold other = manifold(&small, &large, back, 0.01, 8);
  ENSURE_EQUAL(other.count, 4);
  for (int i = 0; i < 4; i++) ENSURE_NEAR(other.point[i].gap, 0, 1e-14);
}

TEST(lying_capsules_and_cylinders_touch_with_both_ends) {
  const srConvex plane = sr_convex_plane(), box = sr_convex_box((double[]){1, 1, 0.5});
  const srConvex capsule = sr_convex_capsule(0.4, 0.1), can = sr_convex_cylinder(0.4, 0.1);
  for (int k = 0; k < 4; k++) {
    const srConvex *lower = k < 2 ? &plane : &box, *upper = k % 2 ? &can : &capsule;
    double pose[16];
    pose_of((double[]){0, acos(-1.0) / 2 + 0.01, 0}, (double[]){0.2, 0.1, (k < 2 ? 0 : 0.5) + 0.1 + 0.004}, pose);
    const srManifold m = manifold(lower, upper, pose, 0.1, 8);
    ENSURE_EQUAL(m.count, 2);
    ENSURE_NEAR(fabs(m.point[0].point_b[0] - m.point[1].point_b[0]), 0.8 * cos(0.01), 2e-3);
    const double ends = upper == &capsule ? 0.1 : 0.1 * cos(0.01);
    ENSURE_NEAR(m.point[0].gap, 0.104 - 0.4 * sin(0.01) - ends, 1e-13);
    ENSURE_NEAR(m.point[1].gap, 0.104 + 0.4 * sin(0.01) - 0.1 * cos(0.01), 2e-5);
  }
  double pose[16];
  pose_of((double[]){0, 0, 0}, (double[]){0.2, 0, 0.3}, pose);  // side by side: the ends of what they share
  const srManifold two = manifold(&capsule, &capsule, pose, 0.1, 8);
  ENSURE_EQUAL(two.count, 2);
  for (int i = 0; i < 2; i++) ENSURE_SMALL(two.point[i].gap, 1e-14);
  ENSURE_NEAR(fabs(two.point[0].point_a[2] - two.point[1].point_a[2]), 0.5, 1e-14);
  pose_of((double[]){0.3, 0, 0}, (double[]){0.2, 0, 0}, pose);  // crossing: one point
  ENSURE_EQUAL(manifold(&capsule, &capsule, pose, 0.1, 8).count, 1);
}

TEST(a_can_stands_on_its_rim) {
  const srConvex plane = sr_convex_plane(), can = sr_convex_cylinder(0.2, 0.1);
  double pose[16];
  pose_of((double[]){0, 0, 0.4}, (double[]){0, 0, 0.2}, pose);
  const srManifold m = manifold(&plane, &can, pose, 0.01, 8);
  ENSURE_EQUAL(m.count, 8);
  for (int i = 0; i < 8; i++) ENSURE_NEAR(hypot(m.point[i].point_b[0], m.point[i].point_b[1]), 0.1, 1e-15);
  pose_of((double[]){0.02, 0.01, 0}, (double[]){0, 0, 0.2}, pose);
  const srManifold tilted = manifold(&plane, &can, pose, 0.01, 8);
  const double c = pose[10], s = sqrt(1 - c * c);
  ENSURE_NEAR(tilted.point[0].gap, 0.2 - 0.2 * c - 0.1 * s, 1e-14);  // the lowest point of the rim
  ENSURE_EQUAL(tilted.count, 8);
}

// The point of a cylinder on a plane at the given slope of its axis, turned about it.
static srManifold lowest(double slope, double turn, double* place) {
  const srConvex plane = sr_convex_plane(), can = sr_convex_cylinder(0.2, 0.1);
  const double c = cos(0.5 * slope), e = sin(0.5 * slope), ct = cos(0.5 * turn), et = sin(0.5 * turn);
  double pose[16];
  srm_pose_identity(pose);
  srm_pose_from_quaternion((double[]){c * ct, e * et, e * ct, c * et}, pose);
  pose[14] = 0.4;
  const srManifold m = manifold(&plane, &can, pose, 1, SR_MANIFOLD_MOST);
  *place = m.point[0].point_b[0];
  return m;
}

// Whatever else faces the plane: the end of the lowest line of the wall, and the lowest point of the rim, are one feature from a can that stands almost upright to one
// that almost lies.
TEST(the_lowest_point_of_a_rim_keeps_its_feature_while_it_rolls_and_tilts) {
  double place;
  const srManifold first = lowest(0.5, 0, &place);
  for (int i = 0; i <= 150; i++) {
    const double slope = 0.01 * (1 + i);  // the lower end is that at -z, up to 90 degrees
    for (int k = 0; k < 40; k++) {
      const srManifold m = lowest(slope, 0.16 * k + 1e-9 * i, &place);
      ENSURE(m.point[0].id == first.point[0].id);
      ENSURE_NEAR(m.point[0].gap, 0.4 - 0.2 * cos(slope) - 0.1 * sin(slope), 1e-13);
      ENSURE_NEAR(fabs(place), fabs(0.1 * cos(slope) - 0.2 * sin(slope)), 1e-9);
      for (int j = 1; j < m.count; j++) ENSURE(m.point[j].id != first.point[0].id);
    }
  }
  for (int i = 0; i < 16; i++) {  // over the corners of the face exactly
    const srManifold m = lowest(0.05, acos(-1.0) * i / 8, &place);
    ENSURE(m.point[0].id == first.point[0].id);
    // No other point as low: the next corner is 3/16 of a turn further, between two of them.
    for (int j = 1; j < m.count; j++) ENSURE(m.point[j].gap > m.point[0].gap + 0.07 * 0.1 * sin(0.05));
  }
}

// ---- all pairs --------------------------------------------------------------------------------------------------------

static srPool pool;
static srConvex random_shape(int kind) {
  const double size[3] = {uniform(0.3, 1), uniform(0.3, 1), uniform(0.3, 1)};
  switch (kind) {
    case SR_KIND_PLANE: return sr_convex_plane();
    case SR_KIND_SPHERE: return sr_convex_sphere(size[0]);
    case SR_KIND_BOX: return sr_convex_box(size);
    case SR_KIND_CAPSULE: return sr_convex_capsule(size[2], size[0]);
    case SR_KIND_CYLINDER: return sr_convex_cylinder(size[2], size[0]);
    case SR_KIND_CONE: return sr_convex_cone(size[2], size[0]);
    case SR_KIND_ELLIPSOID: return sr_convex_ellipsoid(size);
    default: break;
  }
  double corner[3 * 12];  // a prism of six sides, or points anywhere
  const bool prism = uniform(0, 1) < 0.5;
  for (int i = 0; i < 12; i++) {
    const double angle = acos(-1.0) / 3 * i;
    for (int k = 0; k < 3; k++) corner[3 * i + k] = uniform(-1, 1);
    if (prism) corner[3 * i] = cos(angle), corner[3 * i + 1] = sin(angle), corner[3 * i + 2] = i < 6 ? -0.5 : 0.5;
  }
  return sr_convex_of_hull(sr_convex_hull_create(&pool, corner, 12));
}

// b is turned at random, or nearly along the axes of a so that faces meet, and put at a gap from a.
static void random_pose(const srConvex* a, const srConvex* b, double gap, double pose[16]) {
  const double quarter = acos(-1.0) / 2;
  double turn[3], at[3];
  const bool aligned = uniform(0, 1) < 0.7;
  for (int k = 0; k < 3; k++) turn[k] = aligned ? 0 : uniform(-2, 2), at[k] = uniform(-0.3, 0.3);
  if (aligned) turn[(int)uniform(0, 3)] = quarter * floor(uniform(-1, 3));
  for (int k = 0; k < 3 && aligned; k++) turn[k] += uniform(-0.03, 0.03);
  at[(int)uniform(0, 3)] += 10;
  pose_of(turn, at, pose);
  for (int i = 0; i < 60; i++) {  // the gap is convex and has slope at most 1 along the translation
    srNearest near;
    sr_shape_distance(a, b, pose, NULL, SR_DISTANCE_SURE, &near);
    if (fabs(near.gap - gap) < 1e-9) return;
    for (int k = 0; k < 3; k++) pose[12 + k] += (gap - near.gap) * near.n[k];
  }
}

// On the surface of a shape; ends of capsules may be within it by r (1 - cos), where they lie as an edge.
static bool on_surface(const srConvex* shape, const double pose[16], const double x[3], double tolerance) {
  const srConvex point = sr_convex_sphere(0);
  double back[16], at[16];
  srNearest near;
  srm_pose_invert(pose, back);
  srm_pose_identity(at);
  srm_pose_point(back, x, at + 12);
  sr_shape_distance(shape, &point, at, NULL, SR_DISTANCE_SURE, &near);
  const double within =
      shape->kind == SR_KIND_CAPSULE ? 0.50126 * SR_MANIFOLD_SINE * SR_MANIFOLD_SINE * shape->radius : 0;
  return near.gap <= tolerance && near.gap >= -tolerance - within;
}

// Is the smallest gap that of the shapes?
static bool check_points(const srConvex* a, const srConvex* b, const double pose[16], const srManifold* m,
                         const srNearest* near, double margin) {
  double self[16], r[3], least = HUGE_VAL;
  const double tolerance =
      1e-9 + 2 * near->error;  // of cones that overlap at their apexes the nearest points are not better known
  srm_pose_identity(self);
  for (int i = 0; i < m->count; i++) {
    const srManifoldPoint* p = &m->point[i];
    ENSURE(p->gap >= near->gap - 1e-9 && p->gap <= margin);
    least = fmin(least, p->gap);
    srm_sub3(p->point_b, p->point_a, r);
    ENSURE_NEAR(srm_dot3(m->n, r), p->gap, 1e-12);
    ENSURE(on_surface(a, self, p->point_a, tolerance));
    ENSURE(on_surface(b, pose, p->point_b, tolerance));
  }
  // A circular face that is flat within 1e-6 rad is its corners alone: the lowest point of its rim is up to 2e-6 of the size below them. That is rare.
  const bool round =
      a->kind == SR_KIND_CYLINDER || a->kind == SR_KIND_CONE || b->kind == SR_KIND_CYLINDER || b->kind == SR_KIND_CONE;
  ENSURE_NEAR(least, near->gap, round ? 4e-6 : 2e-9);
  ENSURE(m->point[0].gap == least);
  return fabs(least - near->gap) <= 2e-9;
}

// The smallest gap is that of the shapes, and all points are on both. A small motion keeps all ids.
TEST(points_of_every_two_kinds_are_on_both_shapes_and_keep_their_ids) {
  static const int kinds[] = {SR_KIND_PLANE,    SR_KIND_SPHERE, SR_KIND_BOX,       SR_KIND_CAPSULE,
                              SR_KIND_CYLINDER, SR_KIND_CONE,   SR_KIND_ELLIPSOID, SR_KIND_HULL};
  int pairs = 0, changed = 0, points = 0, above = 0;
  sr_pool_init(&pool);
  state = 11;
  for (int i = 0; i < 8; i++) {
    for (int j = 1; j < 8; j++) {
      for (int k = 0; k < (runner_long() ? 2000 : 12); k++) {
        const srConvex a = random_shape(kinds[i]), b = random_shape(kinds[j]);
        const double gap = k % 3 == 0 ? uniform(0, 0.05) : k % 3 == 1 ? 1e-6 : -uniform(0, 0.02);
        double pose[16];
        srNearest near;
        random_pose(&a, &b, gap, pose);
        sr_shape_distance(&a, &b, pose, NULL, SR_DISTANCE_SURE, &near);
        const double margin = fmax(near.gap, 0) + 0.1;
        srManifold m, moved;
        sr_shape_manifold(&a, &b, pose, &near, margin, 8, &m);
        ENSURE(m.count >= 1);
        ensure_distinct(&m);
        above += !check_points(&a, &b, pose, &m, &near, margin);
        for (int c = 0; c < 3; c++) pose[12 + c] += uniform(-1e-10, 1e-10);
        moved = manifold(&a, &b, pose, margin, 8);
        changed += !same_ids(&m, &moved);
        pairs++;
        points += m.count;
      }
    }
  }
  ENSURE(points > pairs);
  ENSURE(above <= 1e-4 * pairs);
  ENSURE(changed <= 0.002 * pairs + 2);  // some are at the edge of a feature, or of the margin
  sr_pool_free(&pool);
}

// Two boxes of equal size, whose corners nearly coincide: the least stable case of clipping.
TEST(equal_boxes_on_each_other_keep_their_ids_while_they_tremble) {
  const srConvex box = sr_convex_box((double[]){0.5, 0.5, 0.5});
  srManifold first = {0};
  state = 3;
  for (int i = 0; i < 300; i++) {
    double pose[16], turn[3], at[3] = {0, 0, 1};
    for (int k = 0; k < 3; k++) turn[k] = uniform(-1e-4, 1e-4), at[k] += uniform(-1e-4, 1e-4);
    pose_of(turn, at, pose);
    const srManifold m = manifold(&box, &box, pose, 0.01, 8);
    ENSURE_EQUAL(m.count, 4);
    if (i == 0) first = m;
    ENSURE(same_ids(&m, &first));
  }
}

TEST(shapes_that_cannot_touch_or_are_nowhere_have_no_points) {
  const srConvex plane = sr_convex_plane(), box = sr_convex_box((double[]){1, 1, 1});
  double pose[16];
  pose_of((double[]){0, 0, 0}, (double[]){0, 0, 3}, pose);
  ENSURE_EQUAL(manifold(&plane, &plane, pose, 10, 8).count, 0);
  ENSURE_EQUAL(manifold(&plane, &box, pose, 1.9, 8).count, 0);
  ENSURE_EQUAL(manifold(&plane, &box, pose, 2.1, 8).count, 4);
  ENSURE_EQUAL(manifold(&plane, &box, pose, 2.1, 1).count, 1);
  pose[13] = NAN;
  ENSURE_EQUAL(manifold(&plane, &box, pose, 10, 8).count, 0);
}
