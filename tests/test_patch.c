// Tests of src/collide/patch: the pressure over the patch of two solids, against closed forms, its potential and sampling.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/patch.h"
#include "math/pose.h"
#include "runner.h"

#define PI 3.14159265358979323846

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

static void random_pose(uint64_t* seed, double turn, const double at[3], double pose[16]) {
  double q[4] = {1, turn * noise(seed), turn * noise(seed), turn * noise(seed)};
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) q[i] /= length;
  srm_pose_identity(pose);
  srm_pose_from_quaternion(q, pose);
  memcpy(pose + 12, at, 3 * sizeof *at);
}

// p = d^power: force on b and moment about the origin of a, energy d^(power + 1)/(power + 1).
typedef struct Sum {
  double power, f[3], m[3], energy, area;
} Sum;

static void add_point(void* user, const srPatchPoint* p) {
  Sum* s = user;
  const double pressure = p->area * pow(p->depth, s->power);
  double moment[3], f[3] = {pressure * p->n[0], pressure * p->n[1], pressure * p->n[2]};
  srm_cross3(p->x, f, moment);
  for (int i = 0; i < 3; i++) {
    s->f[i] += f[i];
    s->m[i] += moment[i];
  }
  s->energy += p->store * pow(p->depth, s->power + 1) / (s->power + 1);
  s->area += p->area;
}

static Sum sum_of(const srPatch* patch, const double pose[16], double power, bool energy) {
  Sum s = {.power = power};
  const srPatchVisitor v = {.at = add_point, .user = &s, .fine = power != 1, .energy = energy};
  (void)sr_patch_visit(patch, pose, &v);
  return s;
}

typedef struct Solids {
  srPool pool;
  srPatchBody ground, box, slab, hull, cylinder, cone;
} Solids;

static void make_solids(Solids* s) {
  const double half[3] = {0.3, 0.4, 0.5}, flat[3] = {0.9, 0.8, 0.35};
  uint64_t seed = 11;
  double point[36];
  for (int i = 0; i < 36; i++) point[i] = 0.5 * noise(&seed);
  *s = (Solids){0};
  s->ground.polytope = &sr_half_space;
  s->box.polytope = sr_polytope_of_box(&s->pool, half);
  s->slab.polytope = sr_polytope_of_box(&s->pool, flat);
  s->hull.polytope = sr_polytope_of_hull(&s->pool, point, 12);
  s->cylinder = (srPatchBody){.radius = {0.2, 0.2}, .z = {-0.3, 0.3}};
  s->cone = (srPatchBody){.radius = {0, 0.3}, .z = {0, 0.6}};
}

TEST(faces_of_a_polytope_are_seen_counterclockwise_and_enclose_it) {
  Solids s;
  make_solids(&s);
  const srPolytope* all[] = {s.box.polytope, s.slab.polytope, s.hull.polytope};
  for (int k = 0; k < 3; k++) {
    const srPolytope* p = all[k];
    for (int i = 0; i < p->nface; i++) {
      const double *a = p->vertex + 3 * p->corner[p->first[i]], *m = p->plane + 4 * p->on[i];
      const double *b = p->vertex + 3 * p->corner[p->first[i] + 1], *c = p->vertex + 3 * p->corner[p->first[i] + 2];
      double u[3], v[3], n[3];
      for (int j = 0; j < 3; j++) {
        u[j] = b[j] - a[j];
        v[j] = c[j] - a[j];
      }
      srm_cross3(u, v, n);
      ENSURE_NEAR(srm_dot3(n, m), srm_norm3(n), 1e-12);
      for (int j = 0; j < p->nvertex; j++) ENSURE(srm_dot3(m, p->vertex + 3 * j) <= m[3] + 1e-12);
    }
  }
  ENSURE_NEAR(s.box.polytope->largest, 0.8, 1e-15);
  sr_pool_free(&s.pool);
}

TEST(a_hull_of_the_corners_of_a_box_is_the_box) {
  Solids s;
  srPatch one, two;
  make_solids(&s);
  const srPatchBody hull = {.polytope = sr_polytope_of_hull(&s.pool, s.box.polytope->vertex, 8)};
  ENSURE_EQUAL(hull.polytope->nplane, 6);
  ENSURE_NEAR(hull.polytope->largest, s.box.polytope->largest, 1e-14);
  ENSURE(sr_patch_of(&s.slab, &s.box, &one) && sr_patch_of(&s.slab, &hull, &two));
  uint64_t seed = 3;
  for (int k = 0; k < 20; k++) {
    double pose[16];
    const double at[3] = {0.5 * noise(&seed), 0.5 * noise(&seed), 0.7};
    random_pose(&seed, 0.3, at, pose);
    const Sum a = sum_of(&one, pose, 1, true), b = sum_of(&two, pose, 1, true);
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(a.f[i], b.f[i], 1e-13);
      ENSURE_NEAR(a.m[i], b.m[i], 1e-13);
    }
    ENSURE_NEAR(a.energy, b.energy, 1e-13);
  }
  sr_pool_free(&s.pool);
}

TEST(a_turned_box_keeps_its_six_planes_as_a_hull) {
  Solids s;
  make_solids(&s);
  uint64_t seed = 7;
  for (int k = 0; k < 10; k++) {
    double pose[16], corner[24];
    const double at[3] = {noise(&seed), noise(&seed), noise(&seed)};
    random_pose(&seed, 1, at, pose);
    for (int i = 0; i < 8; i++) srm_pose_point(pose, s.box.polytope->vertex + 3 * i, corner + 3 * i);
    const srPolytope* hull = sr_polytope_of_hull(&s.pool, corner, 8);
    ENSURE_EQUAL(hull->nplane, 6);
    ENSURE_NEAR(hull->largest, 0.8, 1e-12);
  }
  sr_pool_free(&s.pool);
}

// At equal distance from two faces of the other solid, throughout: the face counts once.
TEST(a_face_in_the_middle_of_the_other_solid_counts_once) {
  Solids s;
  make_solids(&s);
  const srPatchBody* bodies[] = {&s.box, &s.cylinder};
  for (int b = 0; b < 2; b++) {
    srPatch patch;
    double pose[16];
    srm_pose_identity(pose);
    pose[14] = b == 0 ? 0.5 : 0.3;
    ENSURE(sr_patch_of(&s.slab, bodies[b], &patch) && patch.rigid == 1);
    const Sum exact = sum_of(&patch, pose, 1, true);
    pose[14] += 1e-9;
    const Sum near = sum_of(&patch, pose, 1, true);
    ENSURE_NEAR(exact.f[2], near.f[2], 1e-8);
    ENSURE(exact.f[2] > 0.01);
  }
  sr_pool_free(&s.pool);
}

TEST(a_face_in_full_contact_has_area_times_depth) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  double pose[16];
  const double at[3] = {0.1, -0.2, 0.5 - 0.01};
  srm_pose_identity(pose);
  memcpy(pose + 12, at, sizeof at);
  ENSURE(sr_patch_of(&s.ground, &s.box, &patch));
  ENSURE_EQUAL(patch.rigid, 1);
  ENSURE_NEAR(patch.area, 0.8, 1e-15);
  const Sum a = sum_of(&patch, pose, 1, true);
  ENSURE_NEAR(a.f[2], 0.48 * 0.01, 1e-16);
  ENSURE_SMALL(hypot(a.f[0], a.f[1]), 1e-17);
  ENSURE_NEAR(a.m[0], at[1] * a.f[2], 1e-16);
  ENSURE_NEAR(a.m[1], -at[0] * a.f[2], 1e-16);
  ENSURE_NEAR(a.energy, 0.48 * 0.01 * 0.01 / 2, 1e-17);
  sr_pool_free(&s.pool);
}

// A corner below the plane by h: V = h^3/(6 n1 n2 n3), n the normal in the axes of the box; its centroid is h/4 below the plane.
TEST(a_corner_in_a_half_space_has_the_volume_of_its_tetrahedron) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  ENSURE(sr_patch_of(&s.ground, &s.box, &patch));
  uint64_t seed = 5;
  for (int k = 0; k < 10; k++) {
    double pose[16], corner[3], tip[3] = {-0.3, -0.4, -0.5};
    const double origin[3] = {0}, q[4] = {0.88 + 0.05 * noise(&seed), -0.33, 0.3 + 0.05 * noise(&seed), 0.1}, h = 0.02;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double unit[4] = {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
    srm_pose_identity(pose);
    srm_pose_from_quaternion(unit, pose);
    memcpy(pose + 12, origin, sizeof origin);
    const double n[3] = {pose[2], pose[6], pose[10]};  // z of the plane in the axes of the box
    for (int i = 0; i < 3; i++) tip[i] = n[i] > 0 ? -fabs(tip[i]) : fabs(tip[i]);
    srm_pose_point(pose, tip, corner);
    pose[14] = -corner[2] - h;
    const double V = h * h * h / 6 / fabs(n[0] * n[1] * n[2]);
    const Sum a = sum_of(&patch, pose, 1, true);
    ENSURE_NEAR(a.f[2], V, 1e-9 * V);
    ENSURE_SMALL(hypot(a.f[0], a.f[1]), 1e-9 * V);
    ENSURE_NEAR(a.energy, V * h / 4, 1e-9 * V * h);
    ENSURE_NEAR(sum_of(&patch, pose, 4, false).f[2], V * h * h * h / 5, 1e-9 * V * h * h * h);  // p = d^4
  }
  sr_pool_free(&s.pool);
}

TEST(cylinders_and_cones_on_a_plane_have_their_volumes) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  double pose[16];
  const double d = 0.01, r = 0.2, standing[3] = {0, 0, 0.3 - d}, lying[3] = {0, 0, r - d}, tip[3] = {0, 0, -0.1};
  ENSURE(sr_patch_of(&s.ground, &s.cylinder, &patch));
  srm_pose_identity(pose);
  memcpy(pose + 12, standing, sizeof standing);
  Sum a = sum_of(&patch, pose, 1, true);
  ENSURE_NEAR(a.f[2], PI * r * r * d, 1e-12);
  ENSURE_NEAR(a.energy, PI * r * r * d * d / 2, 1e-13);
  const double quarter[4] = {sqrt(0.5), sqrt(0.5), 0, 0};
  srm_pose_from_quaternion(quarter, pose);
  memcpy(pose + 12, lying, sizeof lying);
  a = sum_of(&patch, pose, 1, true);
  ENSURE_NEAR(a.f[2], 0.6 * (r * r * acos(1 - d / r) - (r - d) * sqrt(2 * r * d - d * d)), 1e-12);
  ENSURE_SMALL(a.f[0], 1e-14);
  ENSURE_SMALL(a.f[1], 1e-14);
  ENSURE(sr_patch_of(&s.ground, &s.cone, &patch));
  srm_pose_identity(pose);
  memcpy(pose + 12, tip, sizeof tip);
  a = sum_of(&patch, pose, 1, true);
  ENSURE_NEAR(a.f[2], PI * 0.25 * 1e-3 / 3, 1e-12);
  ENSURE_NEAR(a.energy, PI * 0.25 * 1e-4 / 12, 1e-13);
  sr_pool_free(&s.pool);
}

// ---- the potential ------------------------------------------------------------------------------------------------------

// Moves b by a small screw along direction j of (rotation about the origin of a, translation).
static void move(const double pose[16], int j, double h, double out[16]) {
  double small[16];
  srm_pose_identity(small);
  if (j < 3) {
    double q[4] = {cos(h / 2), 0, 0, 0};
    q[1 + j] = sin(h / 2);
    srm_pose_from_quaternion(q, small);
  } else {
    small[12 + j - 3] = h;
  }
  srm_pose_compose(small, pose, out);
}

static double worst_against_potential(const srPatch* patch, const double pose[16], double power) {
  const Sum a = sum_of(patch, pose, power, true);
  double worst = 0;
  for (int j = 0; j < 6; j++) {
    const double h = 1e-5, f = j < 3 ? a.m[j] : a.f[j - 3];
    double up[16], down[16];
    move(pose, j, h, up);
    move(pose, j, -h, down);
    const double slope = (sum_of(patch, up, power, true).energy - sum_of(patch, down, power, true).energy) / (2 * h);
    worst = fmax(worst, fabs(f + slope));
  }
  return worst / srm_norm3(a.f);
}

// A pose of b at which it overlaps with a slab, also across its edges; or with the ground.
static void overlap(const srPatch* patch, uint64_t* seed, double pose[16]) {
  for (int k = 0; k < 1000; k++) {
    const double at[3] = {noise(seed), noise(seed), 0.35 + 0.5 * noise(seed)};
    random_pose(seed, 1, at, pose);
    const Sum a = sum_of(patch, pose, 1, false);
    if (srm_norm3(a.f) > 1e-3 && a.energy < 5e-2) return;
  }
  ENSURE(false);
}

TEST(the_force_of_a_patch_is_the_gradient_of_its_energy) {
  Solids s;
  make_solids(&s);
  const srPatchBody* bodies[] = {&s.box, &s.hull, &s.cylinder, &s.cone};
  const srPatchBody* floors[] = {&s.ground, &s.slab, &s.hull};
  uint64_t seed = 17;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 3; j++) {
      srPatch patch;
      double pose[16], worst = 0;
      const bool round = bodies[i]->polytope == NULL;
      ENSURE(sr_patch_of(floors[j], bodies[i], &patch));
      for (int k = 0; k < (round ? 3 : 10); k++) {
        overlap(&patch, &seed, pose);
        worst = fmax(worst, worst_against_potential(&patch, pose, 1));
      }
      ENSURE_SMALL(worst, !round ? 1e-7 : j == 0 ? 1e-4 : 3e-2);  // across edges its lines have kinks
    }
  }
  sr_pool_free(&s.pool);
}

TEST(other_exponents_keep_a_potential_to_the_rule) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  ENSURE(sr_patch_of(&s.slab, &s.box, &patch));
  uint64_t seed = 23;
  double worst = 0;
  for (int k = 0; k < 10; k++) {
    double pose[16];
    overlap(&patch, &seed, pose);
    worst = fmax(worst, worst_against_potential(&patch, pose, 1.5));
  }
  ENSURE_SMALL(worst, 2e-2);
  sr_pool_free(&s.pool);
}

static bool is_inside(const srPatchBody* b, const double x[3], double* depth) {
  *depth = HUGE_VAL;
  for (int i = 0; b->polytope && i < b->polytope->nplane; i++) {
    *depth = fmin(*depth, b->polytope->plane[4 * i + 3] - srm_dot3(b->polytope->plane + 4 * i, x));
  }
  if (b->polytope) return *depth >= 0;
  const double s = (x[2] - b->z[0]) / (b->z[1] - b->z[0]);
  return s >= 0 && s <= 1 && hypot(x[0], x[1]) <= b->radius[0] + s * (b->radius[1] - b->radius[0]);
}

// Integral of the depth over the overlap, by a lattice over the slab.
static double sampled_energy(const srPatch* patch, const double pose[16], int n) {
  double back[16], sum = 0, depth, other;
  const double half[3] = {0.9, 0.8, 0.35};
  srm_pose_invert(pose, back);
  for (int i = 0; i < n * n * n; i++) {
    const int at[3] = {i % n, i / n % n, i / n / n};
    double x[3], y[3];
    for (int k = 0; k < 3; k++) x[k] = half[k] * ((2 * at[k] + 1.0) / n - 1);
    srm_pose_point(back, x, y);
    if (is_inside(&patch->body[1], y, &other) && is_inside(&patch->body[0], x, &depth)) sum += depth;
  }
  return sum * 8 * half[0] * half[1] * half[2] / n / n / n;
}

TEST(the_energy_is_the_integral_of_the_depth_over_the_overlap) {
  Solids s;
  make_solids(&s);
  const srPatchBody* bodies[] = {&s.box, &s.hull, &s.cylinder, &s.cone};
  uint64_t seed = 29;
  const int n = runner_long() ? 150 : 50;
  for (int i = 0; i < 4; i++) {
    srPatch patch;
    double pose[16];
    ENSURE(sr_patch_of(&s.slab, bodies[i], &patch));
    ENSURE_EQUAL(patch.rigid, 1);
    overlap(&patch, &seed, pose);
    const double energy = sum_of(&patch, pose, 1, true).energy;
    ENSURE_NEAR(energy, sampled_energy(&patch, pose, n), 0.02 * energy + 1e-6);
  }
  sr_pool_free(&s.pool);
}

// ---- symmetry, continuity -----------------------------------------------------------------------------------------------

TEST(exchanging_the_solids_reverses_the_force) {
  Solids s;
  make_solids(&s);
  const srPatchBody* bodies[] = {&s.box, &s.hull, &s.cylinder, &s.ground};
  uint64_t seed = 31;
  for (int i = 0; i < 4; i++) {
    srPatch one, two;
    double pose[16], back[16], f[3];
    ENSURE(sr_patch_of(&s.slab, bodies[i], &one) && sr_patch_of(bodies[i], &s.slab, &two));
    ENSURE_EQUAL(one.rigid, 1 - two.rigid);
    overlap(&one, &seed, pose);
    srm_pose_invert(pose, back);
    const Sum a = sum_of(&one, pose, 1, true), b = sum_of(&two, back, 1, true);
    srm_pose_rotate(pose, b.f, f);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(f[k], -a.f[k], 1e-12);
    ENSURE_NEAR(a.energy, b.energy, 1e-12);
  }
  sr_pool_free(&s.pool);
}

// Slides off an edge, turns about the vertical, tilts through flat: the largest change of force and moment in one of many small steps.
TEST(the_force_has_no_jumps_where_features_change) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  const int n = 800;
  const srPatchBody* bodies[] = {&s.box, &s.cylinder};
  for (int b = 0; b < 2; b++) {
    const double height = 0.35 + (b == 0 ? 0.5 : 0.3) - 1e-3;
    ENSURE(sr_patch_of(&s.slab, bodies[b], &patch));
    for (int motion = 0; motion < 3; motion++) {
      Sum last = {0};
      double jump = 0, most = 0;
      for (int i = 0; i <= n; i++) {
        const double u = (double)i / n, angle = motion == 1 ? PI / 2 * u : motion == 2 ? 0.02 * (u - 0.5) : 0;
        const double q[4] = {cos(angle / 2), motion == 2 ? sin(angle / 2) : 0, 0, motion == 1 ? sin(angle / 2) : 0};
        double pose[16] = {0};
        srm_pose_identity(pose);
        srm_pose_from_quaternion(q, pose);
        pose[12] = motion == 0 ? 0.5 + u : motion == 1 ? 0.8 : 0.1;
        pose[13] = motion == 1 ? 0.7 : 0.05;
        pose[14] = height;
        const Sum a = sum_of(&patch, pose, 1, false);
        double change = 0;
        for (int k = 0; k < 3; k++) change = fmax(change, fmax(fabs(a.f[k] - last.f[k]), fabs(a.m[k] - last.m[k])));
        if (i > 0) jump = fmax(jump, change);
        most = fmax(most, srm_norm3(a.f));
        last = a;
      }
      ENSURE_SMALL(jump / most, 2e-2);  // a jump of one of discrete points: 0.12 to 1
    }
  }
  sr_pool_free(&s.pool);
}

TEST(solids_apart_have_no_points_and_roles_are_by_shape) {
  Solids s;
  srPatch patch;
  make_solids(&s);
  double pose[16];
  srm_pose_identity(pose);
  pose[14] = 0.5 + 0.35 + 1e-9;
  ENSURE(sr_patch_of(&s.slab, &s.box, &patch));
  ENSURE_SMALL(sum_of(&patch, pose, 1, true).area, 0);
  pose[14] = NAN;
  ENSURE_SMALL(sum_of(&patch, pose, 1, true).area, 0);
  ENSURE(!sr_patch_of(&s.ground, &s.ground, &patch));
  ENSURE(sr_patch_of(&s.cylinder, &s.ground, &patch) && patch.rigid == 0);
  sr_pool_free(&s.pool);
}

// ---- two cylinders or cones ---------------------------------------------------------------------------------------------

// Depth d of the disc of radius r in the face of a wider cylinder: the whole disc. As wide: the pressure falls to zero within d of the side,
//   integral of min(d, R - r) 2 pi r dr = pi (R^2 d - R d^2 + d^3/3)
TEST(discs_of_cylinders_face_to_face_have_their_volumes) {
  const srPatchBody wide = {.radius = {0.5, 0.5}, .z = {-0.4, 0.4}}, slim = {.radius = {0.2, 0.2}, .z = {-0.3, 0.3}};
  const double d = 0.01;
  srPatch patch;
  double pose[16];
  ENSURE(sr_patch_of(&wide, &slim, &patch) && patch.rigid == 1);
  ENSURE_NEAR(patch.area, PI * 0.04, 1e-15);
  srm_pose_identity(pose);
  pose[12] = 0.1;
  pose[13] = -0.15;
  pose[14] = 0.7 - d;
  Sum a = sum_of(&patch, pose, 1, false);
  ENSURE_NEAR(a.f[2], PI * 0.04 * d, 1e-13);
  ENSURE_NEAR(a.m[0], -0.15 * a.f[2], 1e-8 * a.f[2]);  // 8 points of Gauss in each quarter
  ENSURE_NEAR(a.m[1], -0.1 * a.f[2], 1e-8 * a.f[2]);
  ENSURE_SMALL(hypot(a.f[0], a.f[1]), 1e-8 * a.f[2]);
  ENSURE(sr_patch_of(&wide, &wide, &patch));
  pose[12] = pose[13] = 0;
  pose[14] = 0.8 - d;
  a = sum_of(&patch, pose, 1, false);
  ENSURE_NEAR(a.f[2], PI * (0.25 * d - 0.5 * d * d + d * d * d / 3), 1e-12);
}

// Parallel sides: in a section the depth of the circle of radius r, its centre at c, below the other circle, integrated by a fine sum of the test's own.
static double side_by_side(double R, double r, double c) {
  const int n = 20000;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double u = (i + 0.5) / n, most = acos((c * c + r * r - R * R) / (2 * c * r)), phi = most * u;
    const double x = c - r * cos(phi), y = r * sin(phi), depth = R - hypot(x, y);
    sum += 2 * fmax(0, depth) * cos(phi) * r * most / n;
  }
  return sum;
}

TEST(cylinders_side_by_side_have_the_pressure_of_their_section) {
  const srPatchBody wide = {.radius = {0.5, 0.5}, .z = {-0.4, 0.4}}, slim = {.radius = {0.2, 0.2}, .z = {-0.3, 0.3}};
  srPatch patch;
  double pose[16];
  ENSURE(sr_patch_of(&wide, &slim, &patch));
  for (int k = 0; k < 4; k++) {
    const double depth[4] = {1e-7, 1e-5, 1e-3, 1e-2}, c = 0.7 - depth[k];
    srm_pose_identity(pose);
    pose[12] = c * cos(0.3);
    pose[13] = c * sin(0.3);
    pose[14] = 0.05;
    const Sum a = sum_of(&patch, pose, 1, false);
    const double expected =
        0.6 * side_by_side(0.5, 0.2, c);  // the ends of the wide one are 0.05 m away: farther than deep
    ENSURE_NEAR(hypot(a.f[0], a.f[1]), expected, 3e-6 * expected);  // 8 points of Gauss between the ends of the chord
    ENSURE_NEAR(a.f[1] / a.f[0], tan(0.3), 1e-9);
    ENSURE_SMALL(a.f[2], 1e-7 * expected);
    ENSURE_NEAR(a.m[0], -0.05 * a.f[1], 1e-8 * expected);
  }
}

// U by the work on a straight way apart: the rule of the midpoint in t, the rest of the way being its t^2.
static double work_apart(const srPatch* patch, const double pose[16], const double way[3]) {
  const int n = 40;
  double at[16], sum = 0, low = 0, high = 4;
  memcpy(at, pose, sizeof at);
  for (int i = 0; i < 26; i++) {
    const double middle = 0.5 * (low + high);
    for (int k = 0; k < 3; k++) at[12 + k] = pose[12 + k] + middle * way[k];
    *(sum_of(patch, at, 1, false).area > 0 ? &low : &high) = middle;
  }
  for (int i = 0; i < n; i++) {
    const double t = (i + 0.5) / n;
    for (int k = 0; k < 3; k++) at[12 + k] = pose[12 + k] + high * (1 - t * t) * way[k];
    sum += srm_dot3(sum_of(patch, at, 1, false).f, way) * high * 2 * t / n;
  }
  return sum;
}

// Depth in a frustum; < 0: outside.
static double depth_in(const srPatchBody* b, const double x[3]) {
  const double slope = (b->radius[1] - b->radius[0]) / (b->z[1] - b->z[0]);
  const double side = b->radius[0] + slope * (x[2] - b->z[0]) - hypot(x[0], x[1]);
  return fmin(side / sqrt(1 + slope * slope), fmin(x[2] - b->z[0], b->z[1] - x[2]));
}

// Integral of the depth over the overlap, by a lattice about b, the rigid one.
static double lattice_energy(const srPatch* patch, const double pose[16], int n) {
  const srPatchBody* b = &patch->body[1];
  const double r = fmax(b->radius[0], b->radius[1]), high = b->z[1] - b->z[0];
  double sum = 0;
  for (int i = 0; i < n * n * n; i++) {
    const int at[3] = {i % n, i / n % n, i / n / n};
    const double y[3] = {r * ((2 * at[0] + 1.0) / n - 1), r * ((2 * at[1] + 1.0) / n - 1),
                         b->z[0] + high * (at[2] + 0.5) / n};
    double x[3];
    srm_pose_point(pose, y, x);
    if (depth_in(b, y) >= 0) sum += fmax(0, depth_in(&patch->body[0], x));
  }
  return sum * 4 * r * r * high / n / n / n;
}

// Three ways apart have the same work; it is the integral of the depth; its gradient is the force.
TEST(two_cylinders_or_cones_have_the_force_of_a_potential) {
  const srPatchBody soft[2] = {{.radius = {0.4, 0.4}, .z = {-0.5, 0.5}}, {.radius = {0.9, 0}, .z = {-0.5, 0.5}}};
  const srPatchBody rigid[2] = {{.radius = {0.2, 0.2}, .z = {-0.3, 0.3}}, {.radius = {0.3, 0}, .z = {-0.3, 0.3}}};
  uint64_t seed = 41;
  double worst[3] = {0};
  for (int k = 0; k < (runner_long() ? 40 : 4); k++) {
    srPatch patch;
    double pose[16];
    if (!runner_takes(k)) continue;
    ENSURE(sr_patch_of(&soft[k % 2], &rigid[k / 2 % 2], &patch) && patch.rigid == 1);
    Sum a;
    for (int j = 0; j < 1000; j++) {
      const double at[3] = {0.7 * noise(&seed), 0.7 * noise(&seed), 0.7 * noise(&seed)};
      random_pose(&seed, 1, at, pose);
      a = sum_of(&patch, pose, 1, false);
      if (srm_norm3(a.f) > 1e-3 && srm_norm3(a.f) < 1e-2) break;
    }
    const double size = srm_norm3(a.f);
    double way[3], U[3], out[3] = {pose[12], pose[13], pose[14]};
    for (int i = 0; i < 3; i++) out[i] /= sqrt(srm_dot3(pose + 12, pose + 12));
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 3; i++) way[i] = j == 0 ? out[i] : a.f[i] / size + (j == 2 ? 0.3 * noise(&seed) : 0);
      U[j] = work_apart(&patch, pose, way);
    }
    worst[0] = fmax(worst[0], fmax(fabs(U[1] - U[0]), fabs(U[2] - U[0])) / U[0]);
    worst[1] = fmax(worst[1], fabs(lattice_energy(&patch, pose, 60) - U[0]) / U[0]);
    for (int j = 0; j < 6; j++) {
      double up[16], down[16];
      const double h = 1e-4, f = j < 3 ? a.m[j] : a.f[j - 3];
      move(pose, j, h, up);
      move(pose, j, -h, down);
      const double slope = (work_apart(&patch, up, out) - work_apart(&patch, down, out)) / (2 * h);
      worst[2] = fmax(worst[2], fabs(f + slope) / size);
    }
  }
  ENSURE_SMALL(worst[0], 1e-3);  // 40 midpoints
  ENSURE_SMALL(worst[1], 3e-2);  // 60 x 60 x 60 points
  ENSURE_SMALL(worst[2], 5e-3);  // kinks within the arcs
}

// Tilting through parallel sides, crossing them, sliding off along them, sliding off a face and tilting through flat: the largest change between
// neighbours of n, of the largest force.
static double largest_change(const srPatch* patch, int motion, int n) {
  const double depth = 2e-3;
  Sum last = {0};
  double jump = 0, most = 0;
  for (int i = 0; i <= n; i++) {
    const bool faces = motion >= 3, tilts = motion == 0 || motion == 4;
    const double u = (double)i / n, angle = tilts ? 0.02 * (u - 0.5) : motion == 1 ? PI / 2 * u : 0;
    const double q[4] = {cos(angle / 2), tilts ? sin(angle / 2) : 0, motion == 1 ? sin(angle / 2) : 0, 0};
    double pose[16];
    srm_pose_identity(pose);
    srm_pose_from_quaternion(q, pose);
    pose[12] = motion == 3 ? 0.7 * u : 0.01;
    pose[13] = faces ? 0.05 : 0.6 - depth;
    pose[14] = faces ? 0.8 - depth : motion == 2 ? u : 0.1;
    const Sum a = sum_of(patch, pose, 1, false);
    double change = 0;
    for (int k = 0; k < 3; k++) change = fmax(change, fmax(fabs(a.f[k] - last.f[k]), fabs(a.m[k] - last.m[k])));
    if (i > 0) jump = fmax(jump, change);
    most = fmax(most, srm_norm3(a.f));
    last = a;
  }
  return jump / most;
}

TEST(the_force_of_two_cylinders_changes_as_little_as_their_pose) {
  const srPatchBody lower = {.radius = {0.4, 0.4}, .z = {-0.5, 0.5}}, upper = {.radius = {0.2, 0.2}, .z = {-0.3, 0.3}};
  srPatch patch;
  ENSURE(sr_patch_of(&lower, &upper, &patch));
  for (int motion = 0; motion < 5; motion++) {
    const double coarse = largest_change(&patch, motion, 200), fine = largest_change(&patch, motion, 800);
    ENSURE(coarse > 0 && coarse < 0.05);  // a point that jumps from end to end: 1
    ENSURE_NEAR(fine / coarse, 0.25, 0.1);
  }
}

// Turned about its own axis a cylinder or cone is the same, but all angles of the sum are others: the mean and the largest change of the force, at depths of a fiftieth.
TEST(turning_about_the_own_axis_changes_no_force) {
  const srPatchBody body[2] = {{.radius = {0.2, 0.2}, .z = {-0.25, 0.25}}, {.radius = {0.25, 0}, .z = {-0.3, 0.3}}};
  uint64_t seed = 47;
  double most = 0, mean = 0;
  const int n = 200;
  for (int k = 0; k < n; k++) {
    srPatch patch;
    double pose[16], turned[16], turn[16], direction[3], low = 0, high = 1;
    ENSURE(sr_patch_of(&body[k % 2], &body[k / 2 % 2], &patch));
    for (int i = 0; i < 3; i++) direction[i] = noise(&seed);
    random_pose(&seed, 3, direction, pose);
    for (int i = 0; i < 30; i++) {  // apart along the direction, then a little back
      const double s = 0.5 * (low + high) / srm_norm3(direction);
      for (int j = 0; j < 3; j++) pose[12 + j] = s * direction[j];
      *(sum_of(&patch, pose, 1, false).area > 0 ? &low : &high) = 0.5 * (low + high);
    }
    for (int j = 0; j < 3; j++) pose[12 + j] = (low - 5e-3) * direction[j] / srm_norm3(direction);
    const double angle = 0.3 + noise(&seed);
    srm_pose_identity(turn);
    srm_pose_from_quaternion((double[]){cos(angle), 0, 0, sin(angle)}, turn);
    srm_pose_compose(pose, turn, turned);
    const Sum a = sum_of(&patch, pose, 1, false), b = sum_of(&patch, turned, 1, false);
    double change[3];
    for (int i = 0; i < 3; i++) change[i] = a.f[i] - b.f[i];
    most = fmax(most, srm_norm3(change) / srm_norm3(a.f));
    mean += srm_norm3(change) / srm_norm3(a.f) / n;
  }
  ENSURE_SMALL(most, 1e-3);
  ENSURE_SMALL(mean, 1e-5);
}
