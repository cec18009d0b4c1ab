// Meshes, height fields and parametric surfaces in models: forces on flat floors of triangles against volumes of solids, power and derivatives of contacts
// with uneven ones, sets, files, and what is wrong with them.
#include <math.h>

#include <sarrus/io.h>

#include "base/base.h"
#include "contact/element.h"
#include "loading.h"
#include "math/pose.h"

#define GRID "heights='0 0.02 -0.01 0.03 0.01 -0.02 0.02 0 0.03 0 0.01 -0.01 0 0.02 -0.02 0.01'"
#define FIELD "type='heightfield' size='1 1' columns='4' " GRID
#define FLAT "type='heightfield' size='2 2' columns='5' heights='0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0'"
#define MESH "type='mesh' mesh='t'"
#define TORUS                                                                                                          \
  "type='surface' x='(0.4+0.1*cos(v))*cos(u)' y='(0.4+0.1*cos(v))*sin(u)' z='0.1*sin(v)' u='0 2*pi' v='0 2*pi'"
#define EGG "type='surface' x='0.1*cos(v)*cos(u)' y='0.12*cos(v)*sin(u)' z='0.08*sin(v)' u='0 2*pi' v='-pi/2 pi/2'"
// A roof: a concave and a convex edge, closed.
#define MESHES                                                                                                         \
  "<mesh name='t' vertices='-1 -1 0  1 -1 0  1 1 0  -1 1 0  -1 -1 -1  1 -1 -1  1 1 -1  -1 1 -1  0 -1 -0.1  0 1 -0.1' " \
  "faces='0 8 9 0 9 3 8 1 2 8 2 9 4 6 5 4 7 6 0 4 8 8 4 5 8 5 1 1 5 6 1 6 2 2 6 9 9 6 7 9 7 3 3 7 4 3 4 0'/>"          \
  "<mesh name='flat' vertices='-1 -1 0 0.1 -1 0 1 -1 0 -1 1 0 0.1 1 0 1 1 0 0.013 0.02 0' "                            \
  "faces='0 1 6 1 4 6 4 3 6 3 0 6 1 2 5 1 5 4'/>"                                                                      \
  "<mesh name='m' vertices='-0.1 -0.1 -0.1 0.15 -0.1 -0.1 -0.1 0.2 -0.1 -0.1 -0.1 0.2 0.1 0.1 0.1'/>"

#define PAIR(a, b, law)                                                                                                \
  "<sarrus version='1'>" MESHES                                                                                        \
  "<body name='a'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " a                          \
  "/></body><body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " b                 \
  "/></body><contact a='a/s' b='b/s' " law "/></sarrus>"
#define SPHERE "type='sphere' size='0.1'"
#define CAPSULE "type='capsule' size='0.05 0.2'"
#define ELLIPSOID "type='ellipsoid' size='0.15 0.1 0.12'"
#define BOX "type='box' size='0.2 0.3 0.1'"
#define CYLINDER "type='cylinder' size='0.1 0.15'"
#define CONE "type='cone' size='0.1 0.2'"
#define HULL "type='hull' mesh='m'"
#define PLANE "type='plane'"
#define LINEAR "normal='kelvin-voigt' K='1e4' D='50' friction='none'"
#define ELASTIC "normal='hooke' K='1e5' friction='none'"
#define RUBBING                                                                                                        \
  "normal='hunt-crossley' K='1e4' n='1' restitution='0.5' friction='dahl' mu-k='0.4' bristle-K='2e3' mu-roll='0.01'"

// ---- one element ----------------------------------------------------------------------------------------------------------

static unsigned seed = 1;
static double uniform(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (double)(seed >> 8) / 0x1000000;
}

typedef struct Motion {
  double x[6], xdot[6], y[16], z[2];
} Motion;

static const srForceElement* element_of(const Loaded* x) {
  for (int i = 0; i < x->m->nforce; i++) {
    if (x->m->force[i].contact && x->m->force[i].contact->pair) return &x->m->force[i];
  }
  ENSURE(false);
  return NULL;
}

static srImpedanceIn input(const srForceElement* e, const Motion* motion) {
  return (srImpedanceIn){
      .tau = 1e-4, .x = motion->x, .xdot = motion->xdot, .y = motion->y, .z = motion->z, .data = e->contact};
}

static double gap_of(const srForceElement* e, const Motion* motion) {
  double gap, rate;
  const srImpedanceIn in = input(e, motion);
  sr_contact_gap(e->contact, &in, &gap, &rate);
  return gap;
}

// Above the surface, about `x`, overlapping by `depth`, at a random rotation.
static Motion random_motion(const srForceElement* e, double x, double tilt, double depth) {
  Motion m = {.z = {2, 1}};
  for (int i = 0; i < 3; i++) {
    m.x[i] = tilt * uniform(-1, 1);
    m.xdot[i] = uniform(-1, 1);
    m.xdot[3 + i] = uniform(-0.1, 0.1);
  }
  for (int i = 0; i < 16; i++) m.y[i] = 1e-9 * uniform(-1, 1);
  m.x[3] = x + uniform(-0.3, 0.3) * (x > 0 ? 0.1 : 1);
  m.x[4] = uniform(-0.3, 0.3) * (x > 0 ? 0.1 : 1);
  double low = x > 0 ? 0.14 : -0.1, high = 1;
  for (int k = 0; k < 45; k++) {
    m.x[5] = 0.5 * (low + high);
    *(gap_of(e, &m) < -depth ? &low : &high) = m.x[5];
  }
  return m;
}

static void evaluate(const srForceElement* e, const Motion* m, double* out, double* dissipated) {
  const srImpedanceIn in = input(e, m);
  srImpedanceOut to = {.f = out, .ydot = out + 6};
  memset(out, 0, 22 * sizeof *out);
  ENSURE_EQUAL(e->law->evaluate(&in, &to), 0);
  if (dissipated) *dissipated = to.dissipated;
}

// Translations alone: rotations are those of the power of other shapes, and of the derivatives below.
static void check_power(const char* text, double x0, double tilt, double tolerance) {
  Loaded x = open_text(text);
  seed = 1;
  const srForceElement* e = element_of(&x);
  for (int k = 0; k < 3; k++) {
    Motion m = random_motion(e, x0, tilt, 1e-3);
    double f[22], dissipated, power = 0, rate = 0, size = 0;
    for (int i = 0; i < 3; i++) m.xdot[i] = 0;
    evaluate(e, &m, f, &dissipated);
    for (int i = 3; i < 6; i++) {
      power += f[i] * m.xdot[i];
      size += fabs(f[i] * m.xdot[i]);
    }
    ENSURE(size > 0 && dissipated >= 0);
    const double h = 1e-6;
    for (int side = -1; side <= 1; side += 2) {
      Motion at = m;
      for (int i = 3; i < 6; i++) at.x[i] += side * h * m.xdot[i];
      const srImpedanceIn in = input(e, &at);
      rate += side * e->law->energy(&in) / (2 * h);
    }
    ENSURE_NEAR(power, -rate - dissipated, tolerance * size + 1e-8);
  }
  close_model(&x);
}

// Energies of boxes and hulls are exact on a face and have the error of a rule of degree 5 where the cells of a corner or an edge meet below the surface;
// those of cylinders and cones are sums of four pieces along a line.
TEST(power_of_a_contact_with_a_surface_is_the_change_of_its_energy_and_dissipation) {
  check_power(PAIR(FIELD, SPHERE, LINEAR), 0, 1, 1e-6);
  check_power(PAIR(FIELD, CAPSULE, LINEAR), 0, 1, 1e-6);
  check_power(PAIR(MESH, ELLIPSOID, LINEAR), 0, 1, 1e-6);
  check_power(PAIR(FIELD, BOX, LINEAR), 0, 0.01, 1e-2);
  check_power(PAIR(MESH, BOX, LINEAR), 0, 0.01, 1e-2);
  check_power(PAIR(FIELD, HULL, LINEAR), 0, 0.01, 1e-2);
  check_power(PAIR(FIELD, CYLINDER, LINEAR), 0, 0.01, 3e-2);
  check_power(PAIR(MESH, CONE, LINEAR), 0, 0.01, 3e-2);
  check_power(PAIR(TORUS, SPHERE, LINEAR), 0.4, 1, 1e-6);
  check_power(PAIR(TORUS, EGG, LINEAR), 0.4, 1, 1e-6);
}

static void check_jacobian(const char* text, double x0, double tilt, double tolerance) {
  Loaded x = open_text(text);
  seed = 1;
  const srForceElement* e = element_of(&x);
  const int k = e->ny, width = 12 + k;
  ENSURE(k <= 16);
  for (int sample = 0; sample < 2; sample++) {
    Motion m = random_motion(e, x0, tilt, 2e-3);
    double J[22 * 28] = {0}, f[2][22];
    const srImpedanceIn in = input(e, &m);
    ENSURE_EQUAL(e->jacobian(&in, J), 0);
    for (int j = 0; j < width; j++) {
      double* at = j < 6 ? &m.x[j] : j < 12 ? &m.xdot[j - 6] : &m.y[j - 12];
      const double kept = *at, h = j < 6 ? 2e-7 : j < 12 ? 1e-5 : 1e-11;
      for (int side = 0; side < 2; side++) {
        *at = kept + (side ? h : -h);
        evaluate(e, &m, f[side], NULL);
      }
      *at = kept;
      for (int r = 0; r < 6; r++) {
        double scale = 0;
        for (int row = r / 3 * 3; row < r / 3 * 3 + 3; row++)
          for (int c = j < 6 ? 0 : j < 12 ? 6 : 12; c < (j < 6 ? 6 : j < 12 ? 12 : width); c++)
            scale = fmax(scale, fabs(J[row * width + c]));
        ENSURE_NEAR(J[r * width + j], (f[1][r] - f[0][r]) / (2 * h), tolerance * scale + 1e-3);
      }
    }
  }
  close_model(&x);
}

TEST(derivatives_of_contacts_with_surfaces_are_those_of_their_forces) {
  check_jacobian(PAIR(FIELD, SPHERE, ELASTIC), 0, 1, 1e-5);
  check_jacobian(PAIR(FIELD, CAPSULE, ELASTIC), 0, 1, 1e-5);
  check_jacobian(PAIR(MESH, ELLIPSOID, ELASTIC), 0, 1, 1e-5);
  check_jacobian(PAIR(FIELD, BOX, ELASTIC), 0, 0.01, 1e-4);
  check_jacobian(PAIR(TORUS, SPHERE, ELASTIC), 0.4, 1, 1e-5);
  check_jacobian(PAIR(TORUS, EGG, ELASTIC), 0.4, 1, 1e-5);
  check_jacobian(PAIR(FIELD, SPHERE, RUBBING), 0, 1, 0.12);
  check_jacobian(PAIR(TORUS, SPHERE, RUBBING), 0.4, 1, 0.12);
}

// ---- flat floors of triangles -----------------------------------------------------------------------------------------------

#define ON(floor, shape, law)                                                                                          \
  "<sarrus version='1'><option gravity='0 0 0'/>" MESHES "<ground><shape name='floor' " floor                          \
  "/></ground><body name='b'><joint name='b' type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " shape  \
  "/></body><contact a='floor' b='s' " law "/></sarrus>"

// Wrench on a body at (x, y, z), at rest and not turned.
static void wrench_at(const Loaded* x, double px, double py, double pz, double out[6]) {
  const double q[7] = {px, py, pz, 1};
  ENSURE_EQUAL(sr_evaluate(x->m, x->d, 0, q, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  memcpy(out, x->d->a, 6 * sizeof *out);
}

// Wherever it is on the triangles (across edges, on a corner of six): force K V/A, without a moment about its centre but that of the rounding.
static void check_flat(const char* text, double height, double force, double tolerance) {
  Loaded x = open_text(text);
  static const double place[][2] = {{0.013, 0.02}, {0.1, 0.3}, {0, 0}, {-0.213, 0.377}, {0.07, -0.41}, {0.5, 0.5}};
  for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
    double a[6];
    wrench_at(&x, place[i][0], place[i][1], height, a);
    ENSURE_NEAR(a[5], force, tolerance * force);
    for (int k = 0; k < 5; k++) ENSURE_SMALL(a[k], tolerance * force);
  }
  close_model(&x);
}

// Depth d in the pressure field of the solid is the distance from the nearest of its faces: what it displaces of a flat floor has sloped sides. Box: a frustum
// of a pyramid; cylinder: of a cone; sphere: K d as on a plane.
TEST(a_flat_floor_of_triangles_is_a_plane_whatever_edges_cross_it) {
  const double d = 1e-3, K = 1e4, A = 0.2 * 0.3, B = (0.2 - 2 * d) * (0.3 - 2 * d);
  const double box = K * d / 3 * (A + B + sqrt(A * B)) / A;
  const double middle = K / A * (d * A - d * d * (0.2 + 0.3) + 4.0 / 3 * d * d * d);  // the same for any ratio of edges
  ENSURE_NEAR(box, middle, 1e-4 * box);
  check_flat(ON("type='mesh' mesh='flat'", BOX, "normal='hooke' K='1e4' friction='none'"), 0.05 - d, middle, 1e-11);
  check_flat(ON(FLAT, BOX, "normal='hooke' K='1e4' friction='none'"), 0.05 - d, middle, 1e-11);
  const double R = 0.1, cylinder = K * d / 3 * (R * R + R * (R - d) + (R - d) * (R - d)) / (R * R);
  check_flat(ON(FLAT, CYLINDER, "normal='hooke' K='1e4' friction='none'"), 0.075 - d, cylinder, 2e-5);
  check_flat(ON("type='mesh' mesh='flat'", SPHERE, "normal='hooke' K='1e4' friction='none'"), 0.1 - d, K * d, 1e-12);
  check_flat(ON(FLAT, SPHERE, "normal='hooke' K='1e4' friction='none'"), 0.1 - d, K * d, 1e-12);
}

// A cylinder that lies: depth R - sqrt(t^2 + h^2), h = R - d, over its length, less where the ends are nearer.
TEST(a_cylinder_lying_on_triangles_has_the_force_of_its_segment) {
  const double d = 1e-3, K = 1e4, R = 0.1, h = R - d, length = 0.15;
  const int n = 400;
  double sum = 0;
  const double wide = sqrt(R * R - h * h);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {  // midpoints
      const double t = wide * (i + 0.5) / n, s = 0.5 * length * (k + 0.5) / n;
      sum += 4 * fmin(R - sqrt(t * t + h * h), 0.5 * length - s) * wide / n * 0.5 * length / n;
    }
  }
  Loaded x =
      open_text(ON(FLAT, "type='cylinder' size='0.1 0.15' rpy='pi/2 0 0.3'", "normal='hooke' K='1e4' friction='none'"));
  double a[6];
  wrench_at(&x, 0.113, 0.02, h, a);
  ENSURE_NEAR(a[5], K * sum / (3.14159265358979 * R * R), 1e-3 * a[5]);
  close_model(&x);
}

static void run_to(Loaded* x, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = options.every = t_end;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

#define SLIDING(floor, shape, z)                                                                                       \
  "<sarrus version='1'>" MESHES "<ground><shape name='floor' " floor                                                   \
  "/></ground><body name='b'><joint name='b' type='free' q='-0.2 0.02 " z                                              \
  " 1 0 0 0' v='0 0 0 0.5 0.2 0'/><inertial mass='1' inertia='0.004 0.004 0.004'/><shape name='s' " shape              \
  "/></body><contact a='floor' b='s' normal='hunt-crossley' n='1' K='2e5' restitution='0.5' mu-k='0.1' "               \
  "bristle-K='1e5' bristle-B='100'/></sarrus>"

// Over some ten edges. Positions after 0.2 s: the arm of friction differs by half of the depth, 25 micrometres, that of a box on a plane by its sloped sides.
TEST(spheres_and_boxes_slide_over_triangles_as_over_a_plane) {
  static const char* const text[][2] = {
      {SLIDING(PLANE, SPHERE, "0.1-4.9e-5"), SLIDING("type='mesh' mesh='flat'", SPHERE, "0.1-4.9e-5")},
      {SLIDING(PLANE, BOX, "0.05-4.9e-5"), SLIDING(FLAT, BOX, "0.05-4.9e-5")}};
  for (int i = 0; i < 2; i++) {
    Loaded plane = open_text(text[i][0]), triangles = open_text(text[i][1]);
    run_to(&plane, 0.2);
    run_to(&triangles, 0.2);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(triangles.d->q[k], plane.d->q[k], 2e-5);
    ENSURE(plane.d->q[0] > -0.15);
    close_model(&plane);
    close_model(&triangles);
  }
}

// A mesh is as a box of the same size: on a plane the same polygons.
TEST(a_closed_mesh_lies_on_a_plane_as_the_box_it_is) {
#define CUBE                                                                                                           \
  "<mesh name='c' vertices='-0.1 -0.1 -0.1 0.1 -0.1 -0.1 0.1 0.1 -0.1 -0.1 0.1 -0.1 -0.1 -0.1 0.1 0.1 -0.1 0.1 0.1 "   \
  "0.1 0.1 -0.1 0.1 0.1' faces='0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7'/>"
#define LYING(shape)                                                                                                   \
  "<sarrus version='1'>" CUBE                                                                                          \
  "<ground><shape name='floor' type='plane'/></ground><body name='b'><joint name='b' "                                 \
  "type='free' q='0 0 0.0995 0.999 0.03 0.02 0.01' v='0.1 0.2 0.3 0.1 0 -0.05'/><inertial mass='1' inertia='0.01 "     \
  "0.01 "                                                                                                              \
  "0.01'/><shape name='s' " shape "/></body><contact a='floor' b='s' " LINEAR "/></sarrus>"
  Loaded mesh = open_text(LYING("type='mesh' mesh='c'")), box = open_text(LYING("type='box' size='0.2 0.2 0.2'"));
  ENSURE_EQUAL(sr_evaluate(mesh.m, mesh.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  ENSURE_EQUAL(sr_evaluate(box.m, box.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  ENSURE(fabs(box.d->a[0]) > 1);
  for (int k = 0; k < 6; k++) ENSURE_NEAR(mesh.d->a[k], box.d->a[k], 1e-9);
  close_model(&mesh);
  close_model(&box);
}

// ---- gaps -------------------------------------------------------------------------------------------------------------------

typedef struct Found {
  int n;
  srShapePair pair;
} Found;

static void keep_pair(void* user, const srShapePair* pair) {
  Found* x = user;
  x->n++;
  x->pair = *pair;
}

static srShapePair pair_of(const char* text) {
  Loaded x = open_text(text);
  Found found = {0};
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_VELOCITY), 0);
  ENSURE_EQUAL(sr_shape_pairs(x.m, x.d, true, 0, keep_pair, &found), SR_OK);
  ENSURE_EQUAL(found.n, 1);
  close_model(&x);
  return found.pair;
}

#define TWO(a, b, q)                                                                                                   \
  "<sarrus version='1'>" MESHES CUBE "<ground><shape name='s' " a "/></ground><body name='b'><joint type='free' q='" q \
  "'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " b "/></body></sarrus>"

TEST(eval_lists_gaps_of_surfaces_near_and_far_and_inside) {
  srShapePair p = pair_of(TWO("type='mesh' mesh='c'", SPHERE, "0 0.02 3 1 0 0 0"));
  ENSURE_NEAR(p.gap, 2.8, 1e-12);
  ENSURE_NEAR(p.normal[2], 1, 1e-15);
  ENSURE_NEAR(p.point_a[2], 0.1, 1e-12);
  p = pair_of(TWO("type='mesh' mesh='c'", SPHERE, "0 0.02 0.03 1 0 0 0"));  // inside, nearest to the top
  ENSURE_NEAR(p.gap, -0.17, 1e-12);
  p = pair_of(TWO(SPHERE, "type='mesh' mesh='c'", "0 0 -0.3 1 0 0 0"));  // the mesh is b
  ENSURE_NEAR(p.gap, 0.1, 1e-12);
  ENSURE_NEAR(p.normal[2], -1, 1e-15);
  p = pair_of(TWO(PLANE, "type='mesh' mesh='c'", "0 0 0.5 0.92387953251128674 0.38268343236508978 0 0"));  // on an edge
  ENSURE_NEAR(p.gap, 0.5 - 0.1 * sqrt(2), 1e-12);
  p = pair_of(TWO(FLAT, BOX, "0.1 0 7 1 0 0 0"));
  ENSURE_NEAR(p.gap, 6.95, 1e-9);
  p = pair_of(TWO(TORUS, SPHERE, "0.9 0 0 1 0 0 0"));
  ENSURE_NEAR(p.gap, 0.3, 1e-12);
  p = pair_of(TWO(TORUS, PLANE, "0 0 -0.6 1 0 0 0"));  // a plane below: its other side is solid
  ENSURE_NEAR(p.gap, 0.5, 1e-9);
}

// ---- sets, files, round trip ------------------------------------------------------------------------------------------------

#define BALLS(most)                                                                                                    \
  "<sarrus version='1'>" MESHES "<ground><shape name='floor' " FIELD                                                   \
  "/></ground><repeat count='3' index='i'><body name='b{i}'><joint name='b{i}' type='free' q='-0.25+0.25*i 0.1 0.13 "  \
  "1 "                                                                                                                 \
  "0 0 0'/><inertial mass='1' inertia='0.004 0.004 0.004'/><shape name='s' " BOX                                       \
  " group='boxes'/></body></repeat><contact a='floor' b='boxes' normal='kelvin-voigt' K='1e4' D='100' mu-k='0.5' "     \
  "bristle-K='1e4' bristle-B='30' " most "/></sarrus>"

TEST(a_contact_set_on_a_height_field_moves_as_elements_do) {
  Loaded one = open_text(BALLS("")), set = open_text(BALLS("most='8'"));
  ENSURE(set.m->nset == 1 && one.m->nset == 0);
  run_to(&one, 0.15);
  run_to(&set, 0.15);
  for (int k = 0; k < one.m->nq; k++) ENSURE_NEAR(set.d->q[k], one.d->q[k], 1e-5);
  ENSURE(one.d->q[2] < 0.08);  // they have landed
  close_model(&one);
  close_model(&set);
}

TEST(heights_come_from_a_file_and_surfaces_survive_writing) {
  static const char text[] =
      "<sarrus version='1'><parameter name='R' value='0.3'/><ground><shape name='land' type='heightfield' size='2 1 "
      "0.1' "
      "file='heights.csv'/><shape name='bowl' type='surface' x='u*cos(v)' y='u*sin(v)' z='R - sqrt(R^2 - u^2)' "
      "u='0 0.2' v='0 2*pi' at='0 0 5'/></ground><body name='b'><joint type='free' q='0 0 2 1 0 0 0'/>"
      "<inertial mass='1' inertia='1 1 1'/><shape type='sphere' size='0.1'/></body></sarrus>";
  srMessages* said = sr_messages_create();
  srSpec *spec = NULL, *again = NULL;
  srModel *m = NULL, *n = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", SARRUS_SOURCE_DIR "/tests/mesh", NULL, said, &spec), SR_OK);
  loading_print(said);
  ENSURE_EQUAL(sr_compile(spec, said, &m), SR_OK);
  ENSURE_EQUAL(m->shape[0].rows, 3);
  ENSURE_EQUAL(m->shape[0].columns, 4);
  ENSURE_NEAR(m->shape[0].height[5], 0.15, 1e-15);  // 1.5 in the second line, times the factor
  size_t size;
  char* written = sr_save_text(spec, &size);
  ENSURE(strstr(written, "heights.csv") != NULL && strstr(written, "heights=") == NULL);
  ENSURE_EQUAL(sr_load_text(written, size, "again", SARRUS_SOURCE_DIR "/tests/mesh", NULL, said, &again), SR_OK);
  ENSURE_EQUAL(sr_compile(again, said, &n), SR_OK);
  ENSURE_NEAR(n->shape[0].height[5], 0.15, 1e-15);
  ENSURE_EQUAL(n->shape[1].type, SR_SHAPE_SURFACE);
  sr_free(written);
  sr_model_destroy(m);
  sr_model_destroy(n);
  srs_destroy(spec);
  srs_destroy(again);
  sr_messages_destroy(said);
}

// ---- what is wrong ------------------------------------------------------------------------------------------------------------

static void ensure_says(const char* text, srStatus status, const char* place, const char* expected) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  char line[600] = "", all[600];
  srStatus got = sr_load_text(text, strlen(text), "test", SARRUS_SOURCE_DIR "/tests/mesh", NULL, messages, &spec);
  if (got == SR_OK) got = sr_compile(spec, messages, &m);
  for (int i = 0; i < sr_messages_count(messages) && !strstr(line, expected); i++)
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
  snprintf(all, sizeof all, "%s", place);
  if (!strstr(line, expected) || strncmp(line, all, strlen(all)) != 0)
    printf("  expected '%s...%s' in: %s\n", place, expected, line);
  ENSURE(strstr(line, expected) != NULL && strncmp(line, all, strlen(all)) == 0);
  ENSURE_EQUAL(got, status);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

#define HERE "test:2:"
#define SCENE(mesh, a)                                                                                                 \
  "<sarrus version='1'>\n" mesh "<ground><shape name='floor' " a                                                       \
  "/></ground><body name='b'><joint type='free' q='0 0 3 1 0 0 0'/><inertial mass='1' inertia='1 1 1'/><shape "        \
  "name='s' type='sphere' size='0.1'/></body><contact a='floor' b='s' " ELASTIC "/></sarrus>"
#define TRIANGLES(vertices, faces) SCENE("<mesh name='t' vertices='" vertices "' faces='" faces "'/>", MESH)

TEST(what_is_wrong_with_a_mesh_is_reported_with_its_place) {
  ensure_says(TRIANGLES("0 0 0 1 0 0 2 0 0", "0 1 2"), SR_INPUT, HERE, "has no triangle with an area");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 0", "0 1 3"), SR_INPUT, HERE, "has the corner 3; its vertices are 0 to 2");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 nan", "0 1 2"), SR_INPUT, HERE, "nan");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 1e16", "0 1 2"), SR_INPUT, HERE, "not a number below 1e15");
  ensure_says(SCENE("<mesh name='t' vertices='0 0 0 1 0 0 0 1 0'/>", MESH), SR_INPUT, HERE, "needs 'faces' too");
  // mended or tolerated
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 0 2 0 0", "0 1 2 0 1 3"), SR_OK, HERE,
              "1 triangles without area are left out");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 0", "0 1 2"), SR_OK, HERE, "a hole or a border");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 0 0 0 1", "0 1 2 0 3 1 0 2 3 1 3 2"), SR_OK, HERE,
              "all normals inward: they are turned round");
  ensure_says(TRIANGLES("0 0 0 1 0 0 0 1 0 0 0 1", "0 2 1 0 1 3 0 2 3 1 2 3"), SR_OK, HERE, "opposite winding");
}

TEST(what_is_wrong_with_a_height_field_is_reported_with_its_place) {
  ensure_says(SCENE("", "type='heightfield' size='1 1' columns='2' heights='0 0 0'"), SR_INPUT, HERE,
              "'heights' of <shape> takes 4 or more");
  ensure_says(SCENE("", "type='heightfield' size='1 1' columns='3' heights='0 0 0 0'"), SR_INPUT, HERE,
              "do not make rows of 3");
  ensure_says(SCENE("", "type='heightfield' size='1 1' columns='4' heights='0 0 0 0'"), SR_INPUT, HERE,
              "two or more rows");
  ensure_says(SCENE("", "type='heightfield' size='1 1' heights='0 0 0 0'"), SR_INPUT, HERE, "need 'columns'");
  ensure_says(SCENE("", "type='heightfield' size='1 0' columns='2' heights='0 0 0 0'"), SR_INPUT, HERE,
              "must be positive, got 0");
  ensure_says(SCENE("", "type='heightfield' size='1' columns='2' heights='0 0 0 0'"), SR_INPUT, HERE,
              "takes 2 or 3 values, got 1");
  ensure_says(SCENE("", "type='heightfield' size='1 1' columns='2' heights='0 0 1/0 0'"), SR_INPUT, HERE,
              "not a finite number");
  ensure_says(SCENE("", "type='heightfield' size='1 1'"), SR_INPUT, HERE, "needs 'heights' and 'columns', or 'file'");
  ensure_says(SCENE("", "type='heightfield' size='1 1' file='nowhere.csv'"), SR_INPUT, HERE, "nowhere.csv");
  ensure_says(SCENE("", "type='heightfield' size='1 1' columns='2' file='heights.csv'"), SR_INPUT, HERE, "not both");
}

TEST(what_is_wrong_with_a_parametric_surface_is_reported_with_its_place) {
#define SURFACE(x, y, z, u, v) SCENE("", "type='surface' x='" x "' y='" y "' z='" z "' u='" u "' v='" v "'")
  ensure_says(SURFACE("u", "v", "0", "0 0", "0 1"), SR_INPUT, HERE, "the range of u is empty");
  ensure_says(SURFACE("u", "v", "w", "0 1", "0 1"), SR_INPUT, HERE, "w");
  ensure_says(SURFACE("u", "v", "t", "0 1", "0 1"), SR_INPUT, HERE, "t");
  ensure_says(SURFACE("u", "v", "sqrt(u)", "-1 1", "0 1"), SR_INPUT, HERE, "not finite");
  ensure_says(SURFACE("u", "u", "u", "0 1", "0 1"), SR_INPUT, HERE, "has no normal");
  ensure_says(SURFACE("u^2", "v", "0", "-1 1", "0 1"), SR_INPUT, HERE, "at u = ");
  ensure_says(SCENE("", "type='surface' x='u' y='v' u='0 1' v='0 1'"), SR_INPUT, HERE, "needs the formula 'z'");
  ensure_says(SCENE("", "type='surface' x='u' y='v' z='0' u='0 1'"), SR_INPUT, HERE, "needs the range of v");
}

TEST(pairs_of_surfaces_that_have_no_contact_are_named_with_what_to_do) {
#define AGAINST(mesh, a, b)                                                                                            \
  "<sarrus version='1'>\n" mesh "<ground><shape name='floor' " a                                                       \
  "/></ground><body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " b               \
  "/></body><contact a='floor' b='s' " ELASTIC "/></sarrus>"
  ensure_says(AGAINST(CUBE, "type='mesh' mesh='c'", "type='mesh' mesh='c'"), SR_INPUT, HERE,
              "contact between a mesh ('ground/floor') and a mesh ('b/s')");
  ensure_says(AGAINST(CUBE, FLAT, "type='mesh' mesh='c'"), SR_INPUT, HERE, "give one of the two the type hull");
  ensure_says(AGAINST("", PLANE, FLAT), SR_INPUT, HERE, "a height field and a plane have none");
  ensure_says(AGAINST("", TORUS, FLAT), SR_INPUT, HERE, "a parametric surface touches spheres");
}

// ---- other formats ------------------------------------------------------------------------------------------------------------

// MuJoCo: the least elevation is 0, the largest the third size; the first row has the largest y.
TEST(height_fields_of_mjcf_carry_what_falls_on_them_and_are_not_written_where_a_format_has_none) {
  static const char text[] =
      "<mujoco><asset><hfield name='h' nrow='3' ncol='2' size='1 2 0.5 0.1' elevation='5 5 1 1 3 "
      "3'/></asset><worldbody>"
      "<geom name='land' type='hfield' hfield='h'/><body name='b' pos='0.5 0 1'><freejoint/><geom name='ball' "
      "size='0.1' "
      "mass='1'/></body></worldbody></mujoco>";
  Loaded x = open_text(text);
  Found found = {0};
  ENSURE_EQUAL(x.m->shape[0].type, SR_SHAPE_HEIGHTFIELD);
  ENSURE_EQUAL(x.m->shape[0].rows, 3);
  ENSURE_NEAR(x.m->shape[0].size[1], 4, 1e-15);
  const double expected[6] = {0.25, 0.25, 0, 0, 0.5, 0.5};
  for (int k = 0; k < 6; k++) ENSURE_NEAR(x.m->shape[0].height[k], expected[k], 1e-15);
  ENSURE(x.m->ncontact == 1);
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_VELOCITY), 0);
  ENSURE_EQUAL(sr_shape_pairs(x.m, x.d, true, 0, keep_pair, &found), SR_OK);
  ENSURE_EQUAL(found.n, 1);
  ENSURE(found.pair.gap > 0.8 && found.pair.gap < 0.9);  // 1 m above the valley, whose sides rise by 0.125 and 0.25
  close_model(&x);
  ensure_says(
      "<mujoco>\n<asset><hfield name='h' nrow='1' ncol='2' size='1 2 0.5 0.1' elevation='5 5'/></asset><worldbody>"
      "<geom type='hfield' hfield='h'/></worldbody></mujoco>",
      SR_INPUT, HERE, "'nrow', a whole number from 2 on");
}

// ---- shipped models -----------------------------------------------------------------------------------------------------------

#define G 9.81

// The same start in absolute coordinates moves the same.
static void ensure_same_absolute(const char* file, double t_end, double tolerance) {
  char path[512];
  srSpec* spec = NULL;
  Loaded one = open_model(file, ""), two = {0};
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_formulate(spec, one.m, one.d, SR_FORMULATION_ABSOLUTE, NULL, &two.m, &two.d), SR_OK);
  srs_destroy(spec);
  run_to(&one, t_end);
  run_to(&two, t_end);
  for (int b = 1; b <= one.m->nbody; b++) {
    srFrameMotion p, q;
    sr_frame_motion(one.m, one.d, b, 0, &p);
    sr_frame_motion(two.m, two.d, b, 0, &q);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(p.position[k], q.position[k], tolerance);
    for (int k = 0; k < 9; k++) ENSURE_NEAR(p.rotation[k], q.rotation[k], tolerance);
  }
  close_model(&one);
  close_model(&two);
}

// A quarter of the period, from rest at u0: integral of |c'|/v over the centre's curve c = (u - r sin a, u^2/2R + r cos a), tan a = u/R. u = u0 sin(phi).
static double bead_quarter(double R, double r, double u0) {
  const int n = 2000;
  double sum = 0;
  const double top = u0 * u0 / (2 * R) + r / hypot(1, u0 / R);
  for (int i = 0; i < n; i++) {
    const double phi = 0.5 * 3.14159265358979 * (i + 0.5) / n, u = u0 * sin(phi), s = hypot(1, u / R);
    const double da = 1 / (R * s * s), cx = 1 - r / s * da, cz = u / R - r * u / (R * s) * da;
    const double height = u * u / (2 * R) + r / s;
    sum += hypot(cx, cz) / sqrt(2 * G * (top - height)) * u0 * cos(phi);
  }
  return sum * 0.5 * 3.14159265358979 / n;
}

// Where it is after a quarter of the period: its distance from the bottom in parts of the amplitude, pi/2 times the error of the period. The bead is 10 micrometres
// deep in the bowl: 3e-5 of its curve's radius.
TEST(a_bead_in_a_bowl_swings_with_the_period_of_its_centres_curve) {
  Loaded x = open_model("contact/bead-in-bowl", "");
  run_to(&x, bead_quarter(0.2, 0.02, 0.12));
  ENSURE_SMALL(x.d->q[0], 2e-4 * 0.12);
  close_model(&x);
  const double small = 0.5 * 3.14159265358979 * sqrt((0.2 - 0.02) / G);
  ENSURE_NEAR(bead_quarter(0.2, 0.02, 0.004), small, 1e-3 * small);
  x = open_model("contact/bead-in-bowl", "u0=0.004");
  run_to(&x, small);
  ENSURE_SMALL(x.d->q[0], 1e-3 * 0.004);
  close_model(&x);
  ensure_same_absolute("contact/bead-in-bowl", 0.1, 1e-6);
}

// From rest at the tilt: (k^2 + R^2 a^2) a'^2/2 + g [(R + h/2) cos a + R a sin a] is constant, k^2 = l^2/12 + h^2/3.
static double beam_quarter(double R, double h, double l, double tilt) {
  const int n = 2000;
  double sum = 0;
  const double k2 = l * l / 12 + h * h / 3, top = (R + h / 2) * cos(tilt) + R * tilt * sin(tilt);
  for (int i = 0; i < n; i++) {
    const double phi = 0.5 * 3.14159265358979 * (i + 0.5) / n, a = tilt * sin(phi);
    const double height = (R + h / 2) * cos(a) + R * a * sin(a);
    sum += sqrt((k2 + R * R * a * a) / (2 * G * (top - height))) * tilt * cos(phi);
  }
  return sum * 0.5 * 3.14159265358979 / n;
}

TEST(a_beam_rocks_on_a_cylinder_with_the_period_of_rolling) {
  const double R = 0.1, h = 0.04, l = 0.6;
  Loaded x = open_model("contact/beam-on-cylinder", "tilt=0.3");
  run_to(&x, beam_quarter(R, h, l, 0.3));
  ENSURE_SMALL(x.d->q[2], 2e-3 * 0.3);
  close_model(&x);
  const double omega = sqrt(G * (R - h / 2) / (l * l / 12 + h * h / 3));
  x = open_model("contact/beam-on-cylinder", "tilt=0.01");
  run_to(&x, 0.5 * 3.14159265358979 / omega);
  ENSURE_SMALL(x.d->q[2], 2e-3 * 0.01);
  close_model(&x);
  ensure_same_absolute("contact/beam-on-cylinder", 0.03, 1e-6);
}

// Without the damping of the tyre, which is its rolling resistance. The tyre rolls on the radius r to its patch, 4 mm less than R.
TEST(a_wheel_rolls_down_a_height_field_with_the_acceleration_of_its_rolling_radius) {
  const double R = 0.3, r = R - 0.004, sine = 0.1 / sqrt(1.01), k = 1 / sqrt(1.01);
  double v[2];
  Loaded x = open_model("contact/wheel-on-terrain", "D=0");
  for (int i = 0; i < 2; i++) {
    run_to(&x, i == 0 ? 0.2 : 0.4);
    v[i] = k * x.d->v[0] - sine * x.d->v[1];
    ENSURE_NEAR(v[i] / -x.d->v[2], r, 1e-3 * r);
  }
  ENSURE_NEAR((v[1] - v[0]) / 0.2, G * sine / (1 + 0.6 * R * R / (r * r)), 2e-3);
  ENSURE_SMALL(x.result.energy.residual, 1e-5 * x.result.energy.scale);
  close_model(&x);
}

// Friction carries the weight: its bristles, of two pads, are bent by m g/(2 K).
TEST(a_gripper_holds_a_mug_without_drift) {
  Loaded x = open_model("contact/gripper-mug", "");
  run_to(&x, 0.3);
  const double sunk = 0.34 - x.d->q[4];
  ENSURE_NEAR(sunk, 0.3 * G / (2 * 2e5), 1e-9);
  const double before[3] = {x.d->q[2], x.d->q[3], x.d->q[4]};
  run_to(&x, 1);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->q[2 + k], before[k], 1e-9);
  close_model(&x);
  x = open_model("contact/gripper-mug", "F=2");  // 2 mu F = 2.4 N < 2.94 N: it slides down
  run_to(&x, 0.05);
  const double first = x.d->v[7];
  run_to(&x, 0.1);
  ENSURE_NEAR((x.d->v[7] - first) / 0.05, -(G - 2 * 0.6 * 2 / 0.3), 0.01);
  close_model(&x);
  ensure_same_absolute("contact/gripper-mug", 0.1, 1e-7);
}
