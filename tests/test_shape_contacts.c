// Contact of shapes other than spheres on planes: gaps that a model reports, the elements with one point and with a patch, their derivatives and power,
// and what rests, slides, rocks and stands on what.
#include <math.h>
#include <stdlib.h>

#include "contact/element.h"
#include "contact_cases.h"
#include "loading.h"
#include "math/pose.h"

// ---- gaps ---------------------------------------------------------------------------------------------------------------

static int print_points(char* out, size_t room, const double* x, int n) {
  int used = 0;
  for (int i = 0; i < n; i++) used += snprintf(out + used, room - (size_t)used, " %.17g", x[i]);
  return used;
}

// A shape of the file from a case: full lengths.
static void print_shape(const ContactCaseBody* x, char* out, size_t room) {
  const double* s = x->shape.size;
  switch (x->shape.kind) {
    case SR_KIND_PLANE: snprintf(out, room, "type='plane'"); break;
    case SR_KIND_SPHERE: snprintf(out, room, "type='sphere' size='%.17g'", x->shape.radius); break;
    case SR_KIND_BOX: snprintf(out, room, "type='box' size='2*%.17g 2*%.17g 2*%.17g'", s[0], s[1], s[2]); break;
    case SR_KIND_CAPSULE: snprintf(out, room, "type='capsule' size='%.17g 2*%.17g'", x->shape.radius, s[2]); break;
    case SR_KIND_CYLINDER: snprintf(out, room, "type='cylinder' size='%.17g 2*%.17g'", s[0], s[2]); break;
    case SR_KIND_CONE: snprintf(out, room, "type='cone' size='%.17g 2*%.17g'", s[0], s[2]); break;
    case SR_KIND_ELLIPSOID: snprintf(out, room, "type='ellipsoid' size='%.17g %.17g %.17g'", s[0], s[1], s[2]); break;
    default: ENSURE(x->point != NULL); break;
  }
}

static int print_body(const ContactCaseBody* x, const char* name, char* out, size_t room) {
  char shape[256], pose[256], mesh[4096] = "";
  const double* q = x->quaternion;
  if (x->point) {
    int used = snprintf(mesh, sizeof mesh, "<mesh name='m%s' vertices='", name);
    used += print_points(mesh + used, sizeof mesh - (size_t)used, x->point, 3 * x->npoint);
    snprintf(mesh + used, sizeof mesh - (size_t)used, "'/>");
    snprintf(shape, sizeof shape, "type='hull' mesh='m%s'", name);
  } else {
    print_shape(x, shape, sizeof shape);
  }
  snprintf(pose, sizeof pose, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g", x->position[0], x->position[1],
           x->position[2], q[0], q[1], q[2], q[3]);
  return snprintf(out, room,
                  "%s<body name='%s'><joint name='%s' type='free' q='%s'/><inertial mass='1' inertia='1 1 1'/>"
                  "<shape name='s' %s/></body>",
                  mesh, name, name, pose, shape);
}

typedef struct Found {
  int n;
  srShapePair pair;
} Found;

static void keep_pair(void* user, const srShapePair* pair) {
  Found* x = user;
  x->n++;
  x->pair = *pair;
}

// swap: the second one comes first in the file, and is a.
static void check_case(const ContactCase* c, bool swap) {
  char text[10000];
  const double side = swap ? -1 : 1, size = fmax(1, srm_norm3(c->a.position));
  int used = snprintf(text, sizeof text, "<sarrus version='1'>");
  used += print_body(swap ? &c->b : &c->a, "a", text + used, sizeof text - (size_t)used);
  used += print_body(swap ? &c->a : &c->b, "b", text + used, sizeof text - (size_t)used);
  snprintf(text + used, sizeof text - (size_t)used, "</sarrus>");
  Loaded x = open_text(text);
  Found found = {0};
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_VELOCITY), 0);
  ENSURE_EQUAL(sr_shape_pairs(x.m, x.d, true, 0, keep_pair, &found), SR_OK);
  ENSURE_EQUAL(found.n, 1);
  const srShapePair* p = &found.pair;
  const double *a = swap ? c->point_b : c->point_a, *b = swap ? c->point_a : c->point_b;
  ENSURE_NEAR(p->gap, c->gap, fmax(1e-12, 1e-15 * size));  // positions are rounded, to 1e-16 of their size
  for (int k = 0; k < 3; k++) {
    if (c->has_normal) ENSURE_NEAR(p->normal[k], side * c->normal[k], 1e-9);
    if (c->has_points) ENSURE_NEAR(p->point_a[k], a[k], 1e-9 * size);
    if (c->has_points) ENSURE_NEAR(p->point_b[k], b[k], 1e-9 * size);
    ENSURE_NEAR(p->point_b[k] - p->point_a[k], p->gap * p->normal[k], 1e-12 * size);
  }
  close_model(&x);
}

TEST(gaps_normals_and_points_of_shapes_of_a_model_are_those_of_the_reference) {
  int n = 0;
  for (size_t i = 0; i < sizeof contact_cases / sizeof *contact_cases; i++) {
    if (contact_cases[i].a.npoint == 3 || contact_cases[i].b.npoint == 3) continue;  // a triangle: no solid
    check_case(&contact_cases[i], false);
    check_case(&contact_cases[i], true);
    n++;
  }
  ENSURE(n >= 50);
}

#define BODY(name, parent, joint, shape)                                                                               \
  "<body name='" name "' parent='" parent "'><joint name='" name "' " joint                                            \
  "/><inertial mass='1' "                                                                                              \
  "inertia='0.002 0.004 0.004'/>" shape "</body>"

TEST(eval_lists_the_pairs_that_may_touch_and_all_of_them_on_request) {
  Loaded x =
      open_text("<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>" BODY(
          "arm", "ground", "type='revolute' axis='0 1 0' at='0 0 1'", "<shape name='rod' type='capsule' size='0.1 1'/>")
                    BODY("hand", "arm", "type='revolute' axis='0 1 0' at='0 0 -0.5'",
                         "<shape name='ball' type='sphere' size='0.3' at='0 0 -0.2005'/>"
                         "<shape name='paint' type='sphere' size='0.4' use='visual'/>")
                        BODY("tool", "hand", "type='weld'", "<shape type='box' size='0.2 0.2 0.2'/>") "</sarrus>");
  srEvaluation* e = NULL;
  ENSURE_EQUAL(sr_evaluation_create(x.m, x.d, false, NULL, &e), SR_OK);
  srText text = {0};
  sr_report_evaluation(e, SR_REPORT_JSON, &text);
  // of the ball, the floor alone: the arm is joined to it, the tool welded
  ENSURE(strstr(text.data, "\"contacts\"") != NULL && strstr(text.data, "hand/ball") != NULL);
  ENSURE(strstr(text.data, "arm/rod") == NULL && strstr(text.data, "paint") == NULL);
  ENSURE(strstr(text.data, "point_a") != NULL && strstr(text.data, "normal") != NULL);
  sr_text_free(&text);
  e->all_contacts = true;
  sr_report_evaluation(e, SR_REPORT_JSON, &text);
  int pairs = 0;
  for (const char* p = strstr(text.data, "point_b"); p; p = strstr(p + 1, "point_b")) pairs++;
  ENSURE_EQUAL(pairs, 5);  // floor with rod, ball and box; rod with ball and box
  ENSURE(strstr(text.data, "arm/rod") != NULL && strstr(text.data, "paint") == NULL);
  sr_text_free(&text);
  sr_report_evaluation(e, SR_REPORT_TEXT, &text);
  ENSURE(strstr(text.data, "pairs of shapes") != NULL && strstr(text.data, "hand/ball") != NULL);
  sr_text_free(&text);
  sr_evaluation_destroy(e);
  close_model(&x);
}

// ---- one element --------------------------------------------------------------------------------------------------------

#define PAIR(a, b, law)                                                                                                \
  "<sarrus version='1'><mesh name='m' vertices='-0.1 -0.1 -0.1 0.15 -0.1 -0.1 -0.1 0.2 -0.1 -0.1 -0.1 0.2 0.1 0.1 "    \
  "0.1'/>"                                                                                                             \
  "<body name='a'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " a                          \
  "/></body>"                                                                                                          \
  "<body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' " b                          \
  "/></body><contact a='a/s' b='b/s' " law "/></sarrus>"

#define ELLIPSOID "type='ellipsoid' size='0.3 0.2 0.4'"
#define CAPSULE "type='capsule' size='0.1 0.5'"
#define BOX "type='box' size='0.4 0.3 0.2'"
#define CYLINDER "type='cylinder' size='0.15 0.3'"
#define CONE "type='cone' size='0.2 0.3'"
#define HULL "type='hull' mesh='m'"
#define PLANE "type='plane'"
#define SPHERE "type='sphere' size='0.2'"
#define SLAB "type='box' size='40 40 0.2'"
#define LINEAR "normal='kelvin-voigt' K='1e4' D='50' friction='none'"
#define ELASTIC "normal='hooke' K='1e5' friction='none'"
#define SMOOTH "normal='hunt-crossley' K='1e4' n='1' restitution='0.5' friction='none'"
#define RUBBING                                                                                                        \
  "normal='hunt-crossley' K='1e4' n='1' restitution='0.5' friction='dahl' mu-k='0.4' bristle-K='2e3' mu-roll='0.01'"
#define HERTZIAN "normal='hunt-crossley' K='1e5' n='1.5' restitution='0.5' friction='none'"
#define EACH_PAIR(X, law)                                                                                              \
  X(PAIR(ELLIPSOID, ELLIPSOID, law)), X(PAIR(CAPSULE, ELLIPSOID, law)), X(PAIR(SPHERE, BOX, law)),                     \
      X(PAIR(CAPSULE, CAPSULE, law)), X(PAIR(CYLINDER, ELLIPSOID, law)), X(PAIR(CONE, SPHERE, law)),                   \
      X(PAIR(HULL, ELLIPSOID, law)), X(PAIR(PLANE, ELLIPSOID, law)), X(PAIR(PLANE, CAPSULE, law)),                     \
      X(PAIR(PLANE, BOX, law)), X(PAIR(PLANE, CYLINDER, law)), X(PAIR(PLANE, HULL, law)), X(PAIR(BOX, BOX, law)),      \
      X(PAIR(BOX, CYLINDER, law)), X(PAIR(HULL, BOX, law)), X(PAIR(PLANE, CONE, law)), X(PAIR(BOX, HULL, law)),        \
      X(PAIR(BOX, CAPSULE, law)), X(PAIR(CAPSULE, BOX, law)), X(PAIR(CAPSULE, CYLINDER, law)),                         \
      X(PAIR(CAPSULE, HULL, law)), X(PAIR(CONE, CAPSULE, law)), X(PAIR(CYLINDER, CYLINDER, law)),                      \
      X(PAIR(CONE, CYLINDER, law)), X(PAIR(CONE, CONE, law))
#define SAME(x) x

static unsigned seed = 1;
static double uniform(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (double)(seed >> 8) / 0x1000000;
}

// Motion of a port between two frames.
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
  static const double belts[6] = {0.3, -0.2, 0.1, -0.1, 0.4, 0.2};  // of the surfaces that have one
  return (srImpedanceIn){.tau = 1e-4,
                         .x = motion->x,
                         .xdot = motion->xdot,
                         .y = motion->y,
                         .z = motion->z,
                         .formula = e->formula >= 0 ? belts : NULL,
                         .data = e->contact};
}

static double gap_of(const srForceElement* e, const Motion* motion) {
  double gap, rate;
  const srImpedanceIn in = input(e, motion);
  sr_contact_gap(e->contact, &in, &gap, &rate);
  return gap;
}

// Overlapping by `depth` at a random rotation.
static Motion random_motion(const srForceElement* e, double depth) {
  Motion m = {.z = {2, 1}};  // closed, with the speed of the approach known
  double direction[3];
  for (int i = 0; i < 3; i++) {
    m.x[i] = uniform(-1, 1);
    direction[i] = uniform(-1, 1) + 2 * (i == 2);
    m.xdot[i] = uniform(-1, 1);
    m.xdot[3 + i] = uniform(-0.1, 0.1);
  }
  for (int i = 0; i < 16; i++) m.y[i] = 1e-9 * uniform(-1, 1);  // also a corner holds that
  const double length = srm_norm3(direction);
  double low = 0, high = 3;  // the gap grows along the direction once they are apart
  for (int k = 0; k < 60; k++) {
    const double s = 0.5 * (low + high);
    for (int i = 0; i < 3; i++) m.x[3 + i] = s * direction[i] / length;
    *(gap_of(e, &m) < -depth ? &low : &high) = s;
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

// The pose after the time h: exp[h w] exp[theta], x + h u.
static Motion advanced(const Motion* m, double h) {
  Motion out = *m;
  double q[2][4], p[4];
  for (int k = 0; k < 2; k++) {
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = k == 0 ? h * m->xdot[i] : m->x[i];
    const double angle = srm_norm3(v), s = angle > 0 ? sin(0.5 * angle) / angle : 0.5;
    q[k][0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) q[k][1 + i] = s * v[i];
  }
  double cross[3];
  srm_cross3(q[0] + 1, q[1] + 1, cross);
  p[0] = q[0][0] * q[1][0] - srm_dot3(q[0] + 1, q[1] + 1);
  for (int i = 0; i < 3; i++) p[1 + i] = q[0][0] * q[1][1 + i] + q[1][0] * q[0][1 + i] + cross[i];
  const double s = srm_norm3(p + 1), scale = 2 * atan2(s, p[0]) / s;
  for (int i = 0; i < 3; i++) {
    out.x[i] = scale * p[1 + i];
    out.x[3 + i] = m->x[3 + i] + h * m->xdot[3 + i];
  }
  return out;
}

// What the element gives to the motion is what its energy loses, less what it dissipates.
static void check_power(const char* text, double tolerance) {
  Loaded x = open_text(text);
  seed = 1;
  const srForceElement* e = element_of(&x);
  for (int k = 0; k < 4; k++) {
    const Motion m = random_motion(e, 1e-3);
    double f[22], dissipated, power = 0, rate = 0, size = 0;
    evaluate(e, &m, f, &dissipated);
    for (int i = 0; i < 6; i++) {
      power += f[i] * m.xdot[i];
      size += fabs(f[i] * m.xdot[i]);
    }
    const double h = 1e-6;
    for (int side = -1; side <= 1; side += 2) {
      const Motion at = advanced(&m, side * h);
      const srImpedanceIn in = input(e, &at);
      rate += side * e->law->energy(&in) / (2 * h);
    }
    ENSURE(dissipated >= 0);
    ENSURE_NEAR(power, -rate - dissipated, tolerance * size + 1e-8);
  }
  close_model(&x);
}

// Integration over round faces that several cells of a field of depths share is not exact; over polygons it is, where the law is linear.
static bool is_coarse(const char* text) { return strstr(text, BOX) && strstr(text, CYLINDER); }
// Two cylinders or cones: arcs between the angles where the sum changes its form have points of Gauss, and kinks where cells meet.
static bool is_round(const char* text) {
  int n = 0;
  static const char* const kinds[] = {CYLINDER, CONE};
  for (int k = 0; k < 2; k++) {
    for (const char* p = strstr(text, kinds[k]); p; p = strstr(p + 1, kinds[k])) n++;
  }
  return n == 2;
}

TEST(power_of_a_contact_of_any_two_shapes_is_the_change_of_its_energy_and_dissipation) {
  static const char* const linear[] = {EACH_PAIR(SAME, LINEAR)};
  static const char* const hertz[] = {EACH_PAIR(SAME, HERTZIAN)};
  for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
    check_power(linear[i], is_coarse(linear[i]) ? 3e-2 : is_round(linear[i]) ? 5e-3 : 1e-6);
  for (size_t i = 0; i < sizeof hertz / sizeof *hertz; i++) check_power(hertz[i], 0.1);
}

// A bristle stays in the tangent plane: n.e' = -n'.e, n' by differences along the motion.
TEST(bristles_turn_with_the_normal) {
  static const char* const pairs[] = {
      PAIR(ELLIPSOID, ELLIPSOID, RUBBING), PAIR(CAPSULE, ELLIPSOID, RUBBING), PAIR(SPHERE, BOX, RUBBING),
      PAIR(CYLINDER, ELLIPSOID, RUBBING),  PAIR(BOX, CAPSULE, RUBBING),       PAIR(CAPSULE, CYLINDER, RUBBING),
      PAIR(CYLINDER, CYLINDER, RUBBING),   PAIR(CONE, CYLINDER, RUBBING),     PAIR(CYLINDER, CONE, RUBBING),
      PAIR(CAPSULE, CAPSULE, RUBBING),     PAIR(SLAB, CYLINDER, RUBBING),     PAIR(CYLINDER, SLAB, RUBBING)};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    Loaded x = open_text(pairs[i]);
    const srForceElement* e = element_of(&x);
    seed = 1;
    for (int k = 0; k < 5; k++) {
      Motion m = random_motion(e, 1e-3);
      double rates[16], f[22], turning[3];
      srContactForce at[3];
      for (int side = -1; side <= 1; side++) {
        const Motion moved = advanced(&m, 1e-6 * side);
        const srImpedanceIn in = input(e, &moved);
        ENSURE_EQUAL(sr_contact_shapes_force(&in, rates, &at[side + 1]), 0);
      }
      const double* n = at[1].n;
      for (int j = 0; j < 3; j++) turning[j] = (at[2].n[j] - at[0].n[j]) / 2e-6;
      const double along = srm_dot3(n, m.y);
      for (int j = 0; j < 3; j++) m.y[j] -= along * n[j];  // the slip's
      evaluate(e, &m, f, NULL);
      const bool round = is_round(pairs[i]);
      const double speed = srm_norm3(turning) + (round ? 1 : 1e-3) * srm_norm3(m.xdot);  // of a face it does not turn
      const double error = round ? 1e-2 : 1e-5;
      ENSURE_NEAR(srm_dot3(n, f + 6), -srm_dot3(turning, m.y), error * speed * srm_norm3(m.y) + 1e-15);
    }
    close_model(&x);
  }
}

// The derivatives of force and rates against differences.
// bend: factor of the bristles.
static void check_jacobian_bent(const char* text, double tolerance, double bend) {
  Loaded x = open_text(text);
  seed = 1;
  const srForceElement* e = element_of(&x);
  const int k = e->ny, width = 12 + k;
  ENSURE(k <= 16);
  for (int sample = 0; sample < 3; sample++) {
    Motion m = random_motion(e, 2e-3);
    for (int i = 0; i < k; i++) m.y[i] *= bend;
    double J[22 * 28] = {0}, f[2][22], here[22];
    const srImpedanceIn in = input(e, &m);
    ENSURE_EQUAL(e->jacobian(&in, J), 0);
    evaluate(e, &m, here, NULL);
    for (int j = 0; j < width; j++) {
      double* at = j < 6 ? &m.x[j] : j < 12 ? &m.xdot[j - 6] : &m.y[j - 12];
      const double kept = *at, h = j < 6 ? 2e-7 : j < 12 ? 1e-5 : 1e-11;
      for (int side = 0; side < 2; side++) {
        *at = kept + (side ? h : -h);
        evaluate(e, &m, f[side], NULL);
      }
      *at = kept;
      for (int r = 0; r < 6; r++) {
        double scale = 0;  // of moments or forces, over the kind of column
        for (int row = r / 3 * 3; row < r / 3 * 3 + 3; row++)
          for (int c = j < 6 ? 0 : j < 12 ? 6 : 12; c < (j < 6 ? 6 : j < 12 ? 12 : width); c++)
            scale = fmax(scale, fabs(J[row * width + c]));
        ENSURE_NEAR(J[r * width + j], (f[1][r] - f[0][r]) / (2 * h), tolerance * scale + 1e-3);
      }
    }
  }
  close_model(&x);
}

static void check_jacobian(const char* text, double tolerance) { check_jacobian_bent(text, tolerance, 1); }

// Elastic forces to the error of the differences, and of the integration over round faces. Damping jumps between the cells of a field of depths, which move with the pose: that part of the derivative is left out.
TEST(derivatives_of_contacts_of_any_two_shapes_are_those_of_their_forces) {
  static const char* const elastic[] = {EACH_PAIR(SAME, ELASTIC)};
  static const char* const smooth[] = {EACH_PAIR(SAME, SMOOTH)};
  static const char* const rubbing[] = {EACH_PAIR(SAME, RUBBING)};
  for (size_t i = 0; i < sizeof elastic / sizeof *elastic; i++)
    check_jacobian(elastic[i], is_coarse(elastic[i]) ? 0.15 : is_round(elastic[i]) ? 0.05 : 1e-5);
  for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) check_jacobian(smooth[i], 0.12);
  for (size_t i = 0; i < sizeof rubbing / sizeof *rubbing; i++) check_jacobian(rubbing[i], 0.12);
}

// Surfaces with a direction of friction or a velocity, of a and of b.
#define DIRECTED " friction-direction='1 0.5 0.2' friction-turn='0.4'"
#define BELT " surface-velocity='0.1*t 1 2'"
#define ROUND_SURFACES(X, law)                                                                                         \
  X(PAIR(ELLIPSOID DIRECTED, ELLIPSOID, law)), X(PAIR(CAPSULE BELT, ELLIPSOID DIRECTED, law)),                         \
      X(PAIR(SPHERE, BOX DIRECTED BELT, law)), X(PAIR(SPHERE DIRECTED BELT, SPHERE BELT, law)),                        \
      X(PAIR(PLANE DIRECTED BELT, ELLIPSOID, law)), X(PAIR(PLANE, SPHERE DIRECTED, law)),                              \
      X(PAIR(PLANE BELT, SPHERE BELT DIRECTED, law))
#define FLAT_SURFACES(X, law) X(PAIR(PLANE, BOX DIRECTED BELT, law)), X(PAIR(BOX BELT, HULL DIRECTED, law))
#define DIRECTIONAL RUBBING " mu2='0.1'"
#define SLIDING                                                                                                        \
  "normal='hooke' K='1e4' friction='dahl' mu-k='0.4' mu2='0.7' bristle-K='2e3' mu-roll='0.01' mu-spin='0.01'"

#define REGULARISED "normal='hooke' K='1e4' friction='threlfall' v0='3' mu-k='0.4' mu2='0.7'"

TEST(derivatives_of_directed_and_moving_surfaces_are_those_of_their_forces) {
  static const char* const damped[] = {ROUND_SURFACES(SAME, DIRECTIONAL), FLAT_SURFACES(SAME, DIRECTIONAL)};
  static const char* const elastic[] = {ROUND_SURFACES(SAME, SLIDING), ROUND_SURFACES(SAME, REGULARISED)};
  for (size_t i = 0; i < sizeof damped / sizeof *damped; i++) check_jacobian(damped[i], 0.02);  // of patches, as above
  // bristles that bear a part of the limit: so small a tolerance that the derivatives of their force count beside the stiffness
  for (size_t i = 0; i < sizeof elastic / sizeof *elastic; i++) check_jacobian_bent(elastic[i], 1e-6, 1e6);
}

// Power of the motion and of what moves the surfaces, with the energy of bristles that go on at their rates.
TEST(power_of_directed_and_moving_surfaces_is_the_change_of_energy_and_dissipation) {
  static const char* const pairs[] = {ROUND_SURFACES(SAME, SLIDING), FLAT_SURFACES(SAME, SLIDING)};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    Loaded x = open_text(pairs[i]);
    const srForceElement* e = element_of(&x);
    seed = 1;
    for (int k = 0; k < 4; k++) {
      Motion m = random_motion(e, 1e-3);
      double f[22] = {0}, power = 0, rate = 0, size = 0;
      const srImpedanceIn in = input(e, &m);
      srContactForce at_start;
      ENSURE_EQUAL(sr_contact_shapes_force(&in, f + 6, &at_start), 0);
      for (int j = 0; j < e->ny; j++) m.y[j] *= 1e6;
      for (int j = 0; j + 3 <= e->ny && e->contact->slip.n == 3; j += 3) {  // sliding and rolling, in the tangent plane
        const double along = srm_dot3(at_start.n, m.y + j);
        for (int l = 0; l < 3; l++) m.y[j + l] -= along * at_start.n[l];
      }
      srImpedanceOut out = {.f = f, .ydot = f + 6};
      ENSURE_EQUAL(e->law->evaluate(&in, &out), 0);
      for (int j = 0; j < 6; j++) {
        power += f[j] * m.xdot[j];
        size += fabs(f[j] * m.xdot[j]);
      }
      for (int side = -1; side <= 1; side += 2) {
        Motion at = advanced(&m, side * 1e-6);
        for (int j = 0; j < e->ny; j++) at.y[j] += side * 1e-6 * f[6 + j];
        const srImpedanceIn there = input(e, &at);
        rate += side * e->law->energy(&there) / 2e-6;
      }
      ENSURE((out.driven != 0) == (strstr(pairs[i], "velocity") != NULL));
      ENSURE_NEAR(power, -rate - out.dissipated + out.driven, 1e-5 * size + 1e-8);
    }
    close_model(&x);
  }
}

// ---- forces along a motion ----------------------------------------------------------------------------------------------

// Largest change of the force and of its moment about the point c of a between neighbours, of n samples between two poses, as parts of the largest ones.
static void largest_jumps(const srForceElement* e, const Motion* from, const Motion* to, int n, double jump[2]) {
  double last[6] = {0}, most[2] = {0};
  jump[0] = jump[1] = 0;
  for (int k = 0; k <= n; k++) {
    Motion m = *from;
    double f[22], change[2] = {0}, size[2] = {0}, about[3];
    for (int i = 0; i < 6; i++) m.x[i] += (to->x[i] - from->x[i]) * k / n;
    evaluate(e, &m, f, NULL);
    srm_cross3(m.x + 3, f + 3, about);
    for (int i = 0; i < 6; i++) {
      const double value = i < 3 ? f[i] + about[i] : f[i];
      change[i / 3] += (value - last[i]) * (value - last[i]);
      size[i / 3] += value * value;
      last[i] = value;
    }
    for (int i = 0; i < 2; i++) {
      most[i] = fmax(most[i], sqrt(size[i]));
      if (k > 0) jump[i] = fmax(jump[i], sqrt(change[i]));
    }
  }
  for (int i = 0; i < 2; i++) jump[i] /= most[i];
}

// A box 1 mm deep in another one: it tilts through flat, slides off the edge, and yaws with a corner beyond. With points at corners the force
// jumps there by up to 100 %, its moment by up to 470 %; here neighbours differ by the slope.
TEST(the_force_of_a_rocking_and_sliding_box_is_continuous) {
  Loaded x = open_text(PAIR("type='box' size='1 1 0.5'", "type='box' size='0.6 0.6 0.4'", ELASTIC));
  const srForceElement* e = element_of(&x);
  const double z = 0.45 - 1e-3;
  const struct {
    Motion from, to;
  } way[] = {
      {{.x = {-4e-3, 0, 0, 0.1, 0, z}, .z = {0, 1}}, {.x = {4e-3, 0, 0, 0.1, 0, z}}},
      {{.x = {0, 0, 0, 0.1, 0.05, z}, .z = {0, 1}}, {.x = {0, 0, 0, 0.9, 0.05, z}}},
      {{.x = {0, 2e-3, 0, 0.1, 0.05, z}, .z = {0, 1}}, {.x = {0, 2e-3, 0, 0.9, 0.05, z}}},
      {{.x = {0, 0, 0, 0.4, 0.3, z}, .z = {0, 1}}, {.x = {0, 0, 1.6, 0.4, 0.3, z}}},
  };
  for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
    double jump[2];
    largest_jumps(e, &way[i].from, &way[i].to, 2000, jump);
    ENSURE(jump[0] < 3e-3 && jump[1] < 3e-3);  // 2000 samples: the whole change is 1 to 4 of the largest
  }
  close_model(&x);
}

// Where damping cancels the elastic part, the sum over a patch has no direction; the normal stays what it is at rest.
TEST(the_normal_of_a_patch_that_separates_is_that_at_rest) {
  Loaded x = open_text(PAIR(SLAB, CYLINDER, "normal='kelvin-voigt' K='1e4' D='50' friction='none'"));
  const srForceElement* e = element_of(&x);
  seed = 1;
  for (int k = 0; k < 5; k++) {
    Motion m = random_motion(e, 1e-3);
    double rates[16], still = 0;
    for (int part = 0; part < 2; part++) {
      srContactForce at;
      for (int i = 0; i < 6; i++) m.xdot[i] = i == 5 ? 10 * part : 0;
      const srImpedanceIn in = input(e, &m);
      ENSURE_EQUAL(sr_contact_shapes_force(&in, rates, &at), 0);
      if (part == 0) still = at.normal;
      ENSURE(part == 0 ? still > 0 : at.normal < 0.01 * still);
      ENSURE_NEAR(at.n[2], 1, 1e-6);
    }
  }
  close_model(&x);
}

// ---- lines --------------------------------------------------------------------------------------------------------------

// A capsule on a plane has the law at both of its ends; a large box below it makes no difference, whatever the tilt, nor which of both comes first.
TEST(a_capsule_on_a_box_has_the_force_of_a_capsule_on_a_plane) {
  Loaded plane = open_text(PAIR(PLANE, "type='capsule' size='0.05 0.3'", LINEAR));
  Loaded box = open_text(PAIR(SLAB, "type='capsule' size='0.05 0.3'", LINEAR));
  const struct {
    double tilt, depth, rate, rocking;  // of the deeper end; the rate is that of a translation
  } cases[] = {{0, 1e-3, 0, 0},     {0, 1e-3, -0.2, 0},   {0, 1e-3, -0.1, 0.5}, {1e-3, 1e-3, 0, 0},
               {-2e-3, 1e-3, 0, 0}, {0.1, 1e-3, -0.1, 0}, {1, 2e-4, -1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    // lying along y: a quarter turn about x, and the tilt
    const double turn = 1.57079632679489661923 + cases[i].tilt, rise = 0.15 * fabs(sin(cases[i].tilt));
    Motion m = {.x = {turn, 0, 0, 0.1, 0.2, 0.05 + rise - cases[i].depth}, .z = {0, 1}};
    double one[22], two[22], energy[2];
    m.xdot[5] = cases[i].rate;
    m.xdot[0] = cases[i].rocking;
    evaluate(element_of(&plane), &m, one, NULL);
    srImpedanceIn in = input(element_of(&plane), &m);
    energy[0] = element_of(&plane)->law->energy(&in);
    m.x[5] += 0.1;
    evaluate(element_of(&box), &m, two, NULL);
    in = input(element_of(&box), &m);
    energy[1] = element_of(&box)->law->energy(&in);
    ENSURE(one[5] > 1);
    for (int k = 0; k < 6; k++) ENSURE_NEAR(one[k], two[k], 1e-10 * one[5]);
    ENSURE_NEAR(energy[0], energy[1], 1e-12 * energy[0]);
  }
  close_model(&plane);
  close_model(&box);
}

// Across an edge or another capsule the depth is a parabola of the place along the core: with d = h (1 - t^2),
//   W = K (integral of d^3)/(integral of d) = K h^2 (32/35)/(4/3) = 48/35 E(h)
// up to terms of the order of the depth over the radii.
TEST(a_capsule_across_another_one_has_the_force_of_a_parabola) {
  Loaded x = open_text(PAIR("type='capsule' size='0.05 0.3'", "type='capsule' size='0.03 0.2'", ELASTIC));
  Motion m = {.x = {1.2, 0, 0, 0, 0, 0}, .z = {0, 1}};  // the axes at an angle of 1.2 rad, one above the other along x
  double f[22];
  m.x[3] = 0.08 - 1e-7;
  evaluate(element_of(&x), &m, f, NULL);
  ENSURE_NEAR(f[3], 48.0 / 35 * 1e5 * 1e-7, 1e-5 * f[3]);
  for (int k = 0; k < 6; k++) {
    if (k != 3) ENSURE_SMALL(f[k], 1e-9 * f[3]);
  }
  close_model(&x);
}

// Through every pose in which a point would jump from end to end: neighbours differ by the slope of the motion, four times less with four times as
// many.
TEST(the_force_of_lines_is_continuous) {
  static const struct {
    const char* pair;
    Motion from, to;
  } way[] = {
#define LONG "type='capsule' size='0.05 0.4'"
#define TABLE "type='box' size='1 1 0.5'"
#define LIES 1.57079632679489661923
      // through flat; lengthwise over the edge, flat and tilted; rolling over the edge; yawing with an end beyond
      {PAIR(TABLE, LONG, ELASTIC),
       {.x = {LIES - 8e-3, 0, 0, 0, 0, 0.299}, .z = {0, 1}},
       {.x = {LIES + 8e-3, 0, 0, 0, 0, 0.299}}},
      {PAIR(TABLE, LONG, ELASTIC), {.x = {LIES, 0, 0, 0, 0.2, 0.299}, .z = {0, 1}}, {.x = {LIES, 0, 0, 0, 0.8, 0.299}}},
      {PAIR(TABLE, LONG, ELASTIC),
       {.x = {LIES - 4e-3, 0, 0, 0, 0.2, 0.299}, .z = {0, 1}},
       {.x = {LIES - 4e-3, 0, 0, 0, 0.8, 0.299}}},
      {PAIR(TABLE, LONG, ELASTIC),
       {.x = {LIES, 0, 0, 0.4, 0, 0.299}, .z = {0, 1}},
       {.x = {LIES, 0, 0, 0.52, 0, 0.299}}},
      {PAIR(TABLE, LONG, ELASTIC),
       {.x = {1.2, 0.7, 0.7, 0.4, 0.4, 0.299}, .z = {0, 1}},
       {.x = {1.2, -0.7, -0.7, 0.4, 0.4, 0.299}}},
      // through parallel axes: of two capsules, of a capsule and a cylinder, and of a capsule on a hull
      {PAIR(LONG, LONG, ELASTIC), {.x = {-0.1, 0, 0, 0.099, 0, 0.1}, .z = {0, 1}}, {.x = {0.1, 0, 0, 0.099, 0, 0.1}}},
      {PAIR(LONG, LONG, ELASTIC), {.x = {0, -0.02, 0, 0.099, 0, 0.1}, .z = {0, 1}}, {.x = {0, 0.02, 0, 0.099, 0, 0.1}}},
      {PAIR(CYLINDER, LONG, ELASTIC),
       {.x = {0, -0.02, 0, 0.199, 0, 0.1}, .z = {0, 1}},
       {.x = {0, 0.02, 0, 0.199, 0, 0.1}}},
      {PAIR(HULL, LONG, ELASTIC),
       {.x = {LIES - 8e-3, 0, 0, 0, 0, -0.149}, .z = {0, 1}},
       {.x = {LIES + 8e-3, 0, 0, 0, 0, -0.149}}},
      // the side of a cylinder and of a cone on a box: patches
      {PAIR(TABLE, CYLINDER, ELASTIC),
       {.x = {LIES - 8e-3, 0, 0, 0, 0, 0.399}, .z = {0, 1}},
       {.x = {LIES + 8e-3, 0, 0, 0, 0, 0.399}}},
      {PAIR(TABLE, CYLINDER, ELASTIC),
       {.x = {LIES, 0, 0, 0, 0.2, 0.399}, .z = {0, 1}},
       {.x = {LIES, 0, 0, 0, 0.8, 0.399}}},
      {PAIR(TABLE, CONE, ELASTIC),
       {.x = {LIES + 0.57, 0, 0, 0, 0, 0.33}, .z = {0, 1}},
       {.x = {LIES + 0.6, 0, 0, 0, 0, 0.33}}},
  };
  const int n = runner_long() ? 4000 : 200;
  for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
    double coarse[2], fine[2];
    Loaded x = open_text(way[i].pair);
    largest_jumps(element_of(&x), &way[i].from, &way[i].to, n, coarse);
    largest_jumps(element_of(&x), &way[i].from, &way[i].to, 4 * n, fine);
    for (int k = 0; k < 2; k++) ENSURE(fine[k] < 0.35 * coarse[k]);  // a jump would stay
    for (int k = 0; k < 2 && runner_long(); k++) ENSURE(fine[k] < 5e-3);
    close_model(&x);
  }
}

// ---- scenes -------------------------------------------------------------------------------------------------------------

#define FLOOR "<ground><shape name='floor' type='plane'/></ground>"
#define LAW "normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5' bristle-K='1e5' bristle-B='300'"
#define BOUNCING "normal='hunt-crossley' n='1' K='1e5' restitution='0.3' mu-k='0.5' bristle-K='1e5' bristle-B='300'"
#define BLOCK(name, q, shape)                                                                                          \
  "<body name='" name "'><joint name='" name "' type='free' q='" q                                                     \
  "'/><inertial mass='1' inertia='0.003 0.004 "                                                                        \
  "0.005'/><shape name='s' " shape "/></body>"

static void run_to(Loaded* x, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.every = t_end;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// K is that of a face in full contact, so that a box sinks by m g/K whatever its size; a capsule has two ends. A pyramid, of height 0.15 m, has a
// little less volume below the floor than a prism: K (V/A - d) = -K d^2/h (1 - d/3h).
TEST(what_lies_on_a_floor_sinks_by_its_weight_over_the_stiffness) {
  static const struct {
    const char* text;
    double depth, a;
  } scenes[] = {
      {"<sarrus version='1'>" FLOOR BLOCK("b", "0 0 0.05-9.81e-5 1 0 0 0",
                                          "type='box' size='0.3 0.2 0.1'") "<contact a='floor' b='b' " LAW
                                                                           "/></sarrus>",
       1, 0},
      {"<sarrus version='1'>" FLOOR BLOCK("b", "0 0 0.05-9.81e-5 1 0 0 0",
                                          "type='cylinder' size='0.2 0.1'") "<contact a='floor' b='b' " LAW
                                                                            "/></sarrus>",
       1, 0},
      {"<sarrus version='1'>" FLOOR BLOCK("b", "0 0 0.05-9.81e-5/2 1 1 0 0",
                                          "type='capsule' size='0.05 0.3'") "<contact a='floor' b='b' " LAW
                                                                            "/></sarrus>",
       0.5, 0},
      {"<sarrus version='1'>" FLOOR BLOCK("b", "0 0 0.05-9.81e-5 1 0 0 0",
                                          "type='ellipsoid' size='0.2 0.1 0.05'") "<contact a='floor' b='b' " LAW
                                                                                  "/></sarrus>",
       1, 0},
      {"<sarrus version='1'><mesh name='m' vertices='-0.1 -0.1 -0.05 0.1 -0.1 -0.05 0.1 0.1 -0.05 -0.1 0.1 -0.05 0 0 "
       "0.1'/>" FLOOR BLOCK("b", "0 0 0.05-9.81e-5 1 0 0 0", "type='hull' mesh='m'") "<contact a='floor' b='b' " LAW
                                                                                     "/></sarrus>",
       1, -1e5 * 9.81e-5 * 9.81e-5 / 0.15 * (1 - 9.81e-5 / 0.45)},
  };
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    Loaded x = open_text(scenes[i].text);
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
    for (int k = 0; k < 6; k++) ENSURE_NEAR(x.d->a[k], k == 5 ? scenes[i].a : 0, 1e-9 * 9.81);
    srShapePair pair;
    ENSURE(sr_shape_pair(x.m, x.d, 0, 1, &pair));
    ENSURE_NEAR(pair.gap, -scenes[i].depth * 9.81e-5, 1e-15);
    close_model(&x);
  }
}

// A cylinder of radius r at the depth d in the end of a wider one: the disc has the depth d, the side below falls to 0, with E = K d^2/2
//   W = 2 (integral of E p)/(integral of p) = K d^2 (r + d/2)/(r + d),   force dW/dd
TEST(a_cylinder_on_the_end_of_another_one_has_the_law_twice) {
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='floor' type='cylinder' size='0.5 0.4' at='0 0.1 -0.2'/></ground>" BLOCK(
          "b", "0 0 0.05-1e-3 1 0 0 0", "type='cylinder' size='0.2 0.1'") "<contact a='floor' b='b' " LAW
                                                                          "/></sarrus>");
  const double d = 1e-3, r = 0.2, N = 1e5 * d * (2 * r * r + 2.5 * r * d + d * d) / ((r + d) * (r + d));
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  for (int k = 3; k < 6; k++) ENSURE_NEAR(x.d->a[k], k == 5 ? N - 9.81 : 0, 1e-8 * N);
  for (int k = 0; k < 3; k++) ENSURE_SMALL(x.d->a[k], 1e-6 * N);  // inertia 0.003 kg m^2
  close_model(&x);
}

// Sides that cross at a right angle: a paraboloid of depths has the law at one point; parallel ones 48/35 of it. Both for depths that are small beside the radii.
TEST(sides_of_cylinders_have_the_law_of_a_point_and_of_a_parabola) {
  for (int k = 0; k < 2; k++) {
    Loaded x = open_text(k == 0 ? PAIR("type='cylinder' size='0.3 1'", "type='cylinder' size='0.1 1'", ELASTIC)
                                : PAIR("type='cylinder' size='0.3 1'", "type='cylinder' size='0.1 0.5'", ELASTIC));
    const srForceElement* e = element_of(&x);
    Motion m = {.z = {2, 1}};
    double f[22];
    m.x[3] = 0.4 - 1e-5;
    if (k == 0) m.x[0] = 0.5 * 3.14159265358979323846;  // of its frame
    evaluate(e, &m, f, NULL);
    ENSURE_NEAR(f[3], (k == 0 ? 1 : 48.0 / 35) * 1e5 * 1e-5, 1e-3);  // depths beside radii: 1e-4
    ENSURE_SMALL(hypot(f[4], f[5]), 1e-6);
    close_model(&x);
  }
}

// A ball on the side of a cylinder or capsule, of steel: curvatures 1/R + 1/r and 1/R. Parallel axes of the same curvatures are those of a ball in a groove elsewhere; here
// the force at a depth is the law's with K of sr_hertz_ellipse, as an element and in a set.
TEST(a_ball_on_the_side_of_a_cylinder_has_the_stiffness_of_hertz) {
  static const char* const other[] = {"type='cylinder' size='0.03 0.4'", "type='capsule' size='0.03 0.4'"};
  const double sigma = 2 * (1 - 0.09) / 207e9, d = 1e-6, R = 0.02, k[2] = {1 / R + 1 / 0.03, 1 / R};
  const double K = sr_hertz_ellipse((srElastic){207e9, 0.3, R}, (srElastic){207e9, 0.3, R}, k);
  const double circle =
      4 / (3 * sigma) / pow(k[0] * k[1], 0.25);  // Johnson 1985: the circle of the mean radius, F_2 = 0.97
  ENSURE_NEAR(K / circle, 1, 0.05);
  for (int i = 0; i < 4; i++) {
    char text[900];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><option gravity='0 0 0'/><material name='steel' E='207e9' nu='0.3' restitution='0.5'/>"
        "<ground><shape name='rod' material='steel' %s/></ground><body name='ball'><joint type='prismatic' axis='1 0 "
        "0' "
        "q='0.05-1e-6'/><inertial mass='1'/><shape name='s' material='steel' type='sphere' size='0.02'/></body>"
        "<contact a='rod' b='s' normal='hertz' friction='none' %s/></sarrus>",
        other[i % 2], i < 2 ? "" : "most='2'");
    Loaded x = open_text(text);
    if (i < 2) {
      ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
      ENSURE_NEAR(x.d->a[0], K * pow(d, 1.5), 1e-6 * K * pow(d, 1.5));
    } else {
      run_to(&x, 1e-3);
    }
    if (i >= 2)
      ENSURE_NEAR(x.d->v[0], sqrt(0.8 * K * pow(d, 2.5)),
                  1e-3 * sqrt(0.8 * K * pow(d, 2.5)));  // the energy K d^2.5/2.5
    close_model(&x);
  }
}

// On a slope of inclination a: at rest while tan a < mu, else with the acceleration g (sin a - mu cos a).
TEST(a_box_on_a_slope_holds_below_mu_and_slides_above_with_the_right_acceleration) {
  static const double slope[] = {0.45, 0.6};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    const double c = 1 / hypot(1, slope[i]), s = slope[i] * c;
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='%.17g 0 %.17g'/>" FLOOR BLOCK(
                 "b", "0 0 0.05-%.17g 1 0 0 0", "type='box' size='0.3 0.2 0.1'") "<contact a='floor' b='b' " LAW
                                                                                 "/></sarrus>",
             9.81 * s, -9.81 * c, 9.81 * c / 1e5);
    Loaded x = open_text(text);
    run_to(&x, 0.5);
    const double q = x.d->q[0], v = x.d->v[3];
    ENSURE_SMALL(energy_residual(&x), 1e-6);
    if (i == 0) ENSURE(q > 0 && q < 3e-4);  // put down, its bristles give way
    run_to(&x, 1);
    if (i == 0) ENSURE_NEAR(x.d->q[0], q, 1e-9);
    if (i == 1) ENSURE_NEAR((x.d->v[3] - v) / 0.5, 9.81 * (s - 0.5 * c), 1e-5);
    close_model(&x);
  }
}

TEST(a_tower_of_boxes_stands) {
  Loaded x = open_text(
      "<sarrus version='1'>" FLOOR BLOCK("one", "0 0 0.0497 1 0 0 0", "type='box' size='0.3 0.2 0.1' group='box'")
          BLOCK("two", "0.03 0.01 0.1496 1 0 0 0.1", "type='box' size='0.2 0.2 0.1' group='box'")
              BLOCK("three", "0.01 0 0.2495 1 0 0 -0.05",
                    "type='box' size='0.2 0.2 0.1' group='box'") "<contact a='floor' b='box' " LAW
                                                                 "/><contact a='box' b='box' " LAW "/></sarrus>");
  run_to(&x, 1);
  for (int b = 0; b < 3; b++) {
    ENSURE_NEAR(x.d->q[7 * b + 2], 0.05 + 0.1 * b, 1e-3);
    ENSURE(fabs(x.d->q[7 * b + 4]) < 1e-3 && fabs(x.d->q[7 * b + 5]) < 1e-3);
  }
  for (int k = 0; k < 18; k++) ENSURE_NEAR(x.d->v[k], 0, 1e-3);
  close_model(&x);
}

TEST(a_parked_box_does_not_move_in_100_s) {
  Loaded x = open_text("<sarrus version='1'><option gravity='2 0.5 -9.6'/>" FLOOR BLOCK(
      "b", "0 0 0.0498 1 0 0 0.2", "type='box' size='0.3 0.2 0.1'") "<contact a='floor' b='b' " LAW "/></sarrus>");
  run_to(&x, 3);
  double q[7];
  memcpy(q, x.d->q, sizeof q);
  run_to(&x, 103);
  for (int k = 0; k < 7; k++) ENSURE_NEAR(x.d->q[k], q[k], 1e-9);
  close_model(&x);
}

// Dropped on an edge: bounces, rocks, comes to rest; energy is lost all the time.
TEST(a_box_that_is_dropped_on_an_edge_comes_to_rest_and_gains_no_energy) {
  Loaded x = open_text("<sarrus version='1'>" FLOOR BLOCK(
      "b", "0 0 0.2 1 0.2 0.1 0.3", "type='box' size='0.3 0.2 0.1'") "<contact a='floor' b='b' " LAW "/></sarrus>");
  run_to(&x, 2);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  ENSURE(x.result.energy.kinetic < 1e-12);
  ENSURE(x.result.energy.work[SR_ACCOUNT_CONTACT] <= 0 && x.result.energy.work[SR_ACCOUNT_FRICTION] <= 0);
  ENSURE_NEAR(x.d->q[2], 0.05 - 9.81e-5, 1e-8);
  close_model(&x);
}

// The same as elements and as a set. Nothing overlaps at the start, and no pair grazes: there an impact time is the root of the error.
TEST(boxes_and_capsules_of_a_contact_set_move_as_elements_do) {
#define SCENE(most)                                                                                                    \
  "<sarrus version='1'>" FLOOR BLOCK("one", "0 0 0.06 1 0.05 0 0", "type='box' size='0.3 0.2 0.1' group='g'")          \
      BLOCK("two", "0.02 0.01 0.225 1 0.1 0.05 0", "type='capsule' size='0.05 0.1' group='g'")                         \
          BLOCK("three", "0.05 0.02 0.36 1 0 0.1 0",                                                                   \
                "type='ellipsoid' size='0.06 0.05 0.04' group='g'") "<contact a='floor' b='g' " BOUNCING most          \
                                                                    "/><contact a='g' b='g' " BOUNCING most            \
                                                                    "/><run rtol='1e-9' atol='1e-10'/></sarrus>"
  Loaded x = open_text(SCENE("")), y = open_text(SCENE(" most='20'"));
  run_to(&x, 0.12);
  run_to(&y, 0.12);
  ENSURE(x.result.impacts == 4 && y.result.impacts == 4);
  for (int k = 0; k < 21; k++) ENSURE_NEAR(x.d->q[k], y.d->q[k], 1e-4);  // steps differ; bounces amplify it
  ENSURE_SMALL(energy_residual(&y), 1e-6);
  close_model(&x);
  close_model(&y);
}

// ---- pairs by default ---------------------------------------------------------------------------------------------------

#define ROBOT(more)                                                                                                    \
  "<sarrus version='1'><material name='rubber' mu-k='0.5'/><ground><shape name='floor' type='plane' "                  \
  "material='rubber'/></ground>" BLOCK("base", "0 0 0.06 1 0.05 0 0", "type='box' size='0.3 0.2 0.1'")                 \
      BODY("upper", "base", "type='revolute' axis='0 1 0' at='0.1 0 0.1'",                                             \
           "<shape type='capsule' size='0.02 0.2' at='0 0 0.1'/><shape type='sphere' size='0.5' use='visual'/>")       \
          BODY("lower", "upper", "type='revolute' axis='0 1 0' at='0 0 0.25' q='2'",                                   \
               "<shape name='foot' type='sphere' size='0.03' at='0 0 0.2' material='rubber'/>") more "</sarrus>"

static int contacts_of(const char* text) {
  Loaded x = open_text(text);
  const int n = x.m->ncontact;
  close_model(&x);
  return n;
}

TEST(a_default_contact_has_all_pairs_but_those_across_joints_and_excluded_ones) {
  ENSURE_EQUAL(contacts_of(ROBOT("<contact default='all' " BOUNCING "/>")), 4);  // floor with three, base with foot
  ENSURE_EQUAL(contacts_of(ROBOT("<contact default='all' joined='yes' " BOUNCING "/>")), 6);
  ENSURE_EQUAL(contacts_of(ROBOT("<contact default='materials' " BOUNCING "/>")), 1);
  ENSURE_EQUAL(contacts_of(ROBOT("<contact default='all' " BOUNCING "/><exclude a='base' b='lower/foot'/>")), 3);
  ENSURE_EQUAL(contacts_of(ROBOT("<contact a='base' b='floor' " BOUNCING "/><contact a='floor' b='lower' " BOUNCING
                                 "/><exclude a='upper' b='floor'/>")),
               2);
}

TEST(a_default_contact_moves_as_its_pairs_do_as_elements_and_as_a_set) {
  Loaded x = open_text(ROBOT("<contact default='all' " BOUNCING "/>"));
  Loaded y = open_text(ROBOT("<contact default='all' most='9' " BOUNCING "/>"));
  run_to(&x, 0.2);
  run_to(&y, 0.2);
  ENSURE(y.m->nset == 1 && x.m->nset == 0 && y.result.impacts > 0);
  for (int k = 0; k < x.m->nq; k++) ENSURE_NEAR(x.d->q[k], y.d->q[k], 1e-3);
  close_model(&x);
  close_model(&y);
}

static void ensure_said(const char* text, const char* expected) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  char line[500] = "";
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
  for (int i = 0; i < sr_messages_count(messages) && !strstr(line, expected); i++)
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
  if (!strstr(line, expected)) printf("  expected '%s' in: %s\n", expected, line);
  ENSURE(strstr(line, expected) != NULL);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

TEST(what_is_wrong_with_default_contacts_is_reported) {
  ensure_said(ROBOT("<contact default='all' a='floor' b='base' " BOUNCING "/>"), "'a' and 'b', or 'default', or 'gap'");
  ensure_said(ROBOT("<contact default='all' restitution='0.3' friction='none'/>"), "needs 'K'");
  ensure_said(ROBOT("<contact default='all' normal='kelvin-voigt' K='1e4' D='1' bristle-K='1'/>"),
              "needs 'mu-s' or 'mu-k'");
  ensure_said(ROBOT("<exclude a='base' b='foto'/>"), "unknown shape, group or body 'foto'; did you mean 'foot'");
  ensure_said(ROBOT("<contact a='floor' b='base' " BOUNCING "/><exclude a='base' b='ground'/>"), "or are excluded");
}

// A disc that spins on a floor: the friction of a constant pressure has the moment mu N 2/3 a. A capsule turns about its centre on its two ends.
TEST(friction_stops_a_spinning_disc_with_two_thirds_of_its_radius) {
  static const struct {
    const char *shape, *turned;
    double depth, lever;
  } scenes[] = {{"type='cylinder' size='0.2 0.1'", "1 0 0 0", 1, 2.0 / 3 * 0.2},
                {"type='capsule' size='0.05 0.3'", "1 1 0 0", 0.5, 0.15}};
  for (int i = 0; i < 2; i++) {
    char text[1000];
    const double J = i == 0 ? 0.005 : 0.004;  // about the vertical
    snprintf(text, sizeof text,
             "<sarrus version='1'>" FLOOR
             "<body name='b'><joint name='b' type='free' q='0 0 0.05-%.17g %s' v='0 %s 0 0 0'/>"
             "<inertial mass='1' inertia='0.003 0.004 0.005'/><shape name='s' %s/></body><contact a='floor' b='b' " LAW
             "/></sarrus>",
             scenes[i].depth * 9.81e-5, scenes[i].turned, i == 0 ? "0 10" : "10 0", scenes[i].shape);
    Loaded x = open_text(text);
    run_to(&x, 0.02);
    const int axis = i == 0 ? 2 : 1;
    const double w = x.d->v[axis];
    run_to(&x, 0.04);
    ENSURE_NEAR((w - x.d->v[axis]) / 0.02, 0.5 * 9.81 * scenes[i].lever / J, 0.02 * 0.5 * 9.81 * scenes[i].lever / J);
    close_model(&x);
  }
}

// Dropped with a tilt on a table it bounces from end to end, rocks, and comes to rest at m g/(2 K); then nothing moves. With one point of contact this
// took steps of 1e-9 s.
TEST(a_capsule_that_is_dropped_on_a_box_comes_to_rest_and_stays) {
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='table' type='box' size='1 1 0.1' at='0 0 -0.05'/></ground>"
      "<body name='b'><joint name='b' type='free' q='0 0 0.15 1 0.3 0.4 0.1'/><inertial mass='0.3' "
      "inertia='3e-4 3e-4 1.4e-4'/><shape type='capsule' size='0.03 0.1'/></body><contact default='all' "
      "normal='kelvin-voigt' K='2e4' D='20' mu-k='0.4' bristle-K='2e4' bristle-B='10'/></sarrus>");
  double q[7];
  run_to(&x, 2);
  ENSURE(x.result.stats.steps < 2000 && x.result.impacts > 3);
  ENSURE_SMALL(energy_residual(&x), 1e-4);
  ENSURE_NEAR(x.d->q[2], 0.03 - 0.3 * 9.81 / 4e4, 1e-12);
  memcpy(q, x.d->q, sizeof q);
  run_to(&x, 102);
  ENSURE(x.result.stats.steps < 200);
  for (int k = 0; k < 7; k++) ENSURE_NEAR(x.d->q[k], q[k], 1e-9);
  close_model(&x);
}

// A column of two cylinders, dropped with a tilt, and a log that lies on another one between two walls: they rock and come to rest, the column at m g/(2 K). With one
// point of contact it jumped from end to end.
TEST(cylinders_on_cylinders_come_to_rest) {
#define LOG "type='cylinder' size='0.05 0.2'"
#define WALL(name, x) "<shape name='" name "' type='box' size='0.02 0.4 0.3' at='" x " 0 0.1'/>"
  static const char* const scenes[] = {
      "<sarrus version='1'><ground><shape name='base' type='cylinder' size='0.2 0.1' at='0 0 -0.05'/></ground>" BLOCK(
          "b", "0.02 0.01 0.06 1 0.05 0.03 0", "type='cylinder' size='0.08 0.1'") "<contact default='all' " LAW
                                                                                  "/></sarrus>",
      "<sarrus version='1'><ground><shape name='base' type='cylinder' size='0.05 0.3' rpy='pi/2 0 0'/>" WALL("left",
                                                                                                             "-0.0605")
          WALL("right", "0.0605") "</ground>" BLOCK("b", "0 0.02 0.105 1 1.02 0 0", LOG) "<contact default='all' " LAW
                                                                                         "/></sarrus>"};
  for (int i = 0; i < 2; i++) {
    Loaded x = open_text(scenes[i]);
    run_to(&x, 1.5);
    ENSURE_SMALL(energy_residual(&x), 3e-5);  // rtol 1e-6
    ENSURE(x.result.energy.kinetic < 1e-9);
    ENSURE(x.result.energy.work[SR_ACCOUNT_CONTACT] <= 0 && x.result.energy.work[SR_ACCOUNT_FRICTION] <= 0);
    if (i == 0) ENSURE_NEAR(x.d->q[2], 0.05 - 0.5 * 9.81e-5, 1e-7);  // 2 K, less d/r of it
    close_model(&x);
  }
}

// On a table of boxes, with gravity tilted where friction has to hold; what can roll is held by rolling friction.
TEST(what_is_parked_on_a_table_does_not_move_in_100_s) {
#define MUG                                                                                                            \
  "<mesh name='m' vertices='0.04 0 -0.045 0.02 0.035 -0.045 -0.02 0.035 -0.045 -0.04 0 -0.045 -0.02 -0.035 -0.045 "    \
  "0.02 -0.035 -0.045 0.04 0 0.045 0.02 0.035 0.045 -0.02 0.035 0.045 -0.04 0 0.045 -0.02 -0.035 0.045 0.02 -0.035 "   \
  "0.045'/>"
#define PARKED(gravity, q, shape)                                                                                      \
  "<sarrus version='1'><option gravity='" gravity "'/>" MUG                                                            \
  "<ground><shape type='box' size='1 1 0.1' at='0 0 -0.05'/></ground><body name='b'><joint type='free' q='" q          \
  "'/><inertial mass='0.3' inertia='3e-4 3e-4 1.4e-4'/><shape " shape                                                  \
  "/></body><contact default='all' "                                                                                   \
  "normal='kelvin-voigt' K='2e4' D='20' mu-k='0.4' bristle-K='2e4' bristle-B='10' mu-roll='1e-3'/></sarrus>"
  static const char* const scenes[] = {
      PARKED("1 0.5 -9.7", "0 0 0.0299 1 0 0 0.1", "type='box' size='0.06 0.08 0.06'"),
      PARKED("1 0.5 -9.7", "0 0 0.0449 1 0 0 0.1", "type='cylinder' size='0.04 0.09'"),
      PARKED("1 0.5 -9.7", "0 0 0.0449 1 0 0 0.1", "type='hull' mesh='m'"),
      PARKED("0 2 -9.6", "0 0 0.0299 1 1 0 0", "type='capsule' size='0.03 0.1'"),  // lying along y
      PARKED("0 2 -9.6", "0 0 0.0295 1 1 0 0", "type='cylinder' size='0.03 0.1'"),
      PARKED("0 0 -9.81", "0 0 0.0136 0.589 0.526 0.6136 0", "type='cone' size='0.03 0.1'"),
  };
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    Loaded x = open_text(scenes[i]);
    double q[7];
    run_to(&x, 3);
    memcpy(q, x.d->q, sizeof q);
    run_to(&x, 103);
    ENSURE(x.result.stats.steps < 500);
    for (int k = 0; k < 7; k++) ENSURE_NEAR(x.d->q[k], q[k], 1e-9);
    close_model(&x);
  }
}

// Ways to the same motion.
typedef struct Way {
  const char* method;
  bool absolute;
  double cut;  // the run is cut here; 0: it is not
} Way;

static Loaded open_scene(const char* text, bool absolute) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = {0};
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &x.m), SR_OK);
  x.d = sr_data_create(x.m);
  if (absolute) {
    Loaded y = {0};
    ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, messages, &y.m, &y.d), SR_OK);
    close_model(&x);
    x = y;
  }
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return x;
}

static void run_way(const char* text, const Way* way, double t_end, double q[7]) {
  Loaded x = open_scene(text, way->absolute);
  for (int part = way->cut > 0 ? 0 : 1; part < 2; part++) {
    srRunOptions options = sr_run_options(x.m);
    options.t_end = part == 0 ? way->cut : t_end;
    options.method = way->method;
    options.rtol = 1e-8;
    options.atol = 1e-10;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE_SMALL(energy_residual(&x), 1e-5);
    ENSURE(x.result.stats.steps < 3000);
  }
  memcpy(q, x.d->jq, 7 * sizeof *q);
  close_model(&x);
}

// Along the table, over its edge and off: rolling, and sliding lengthwise with a yaw.
TEST(a_capsule_leaves_a_table_alike_by_all_methods_and_formulations) {
#define LEAVING(q, v)                                                                                                  \
  "<sarrus version='1'><ground><shape type='box' size='0.4 0.4 0.1' at='0 0 -0.05'/></ground><body name='b'><joint "   \
  "type='free' q='" q "' v='" v                                                                                        \
  "'/><inertial mass='0.3' inertia='3e-4 3e-4 1.4e-4'/><shape type='capsule' size='0.03 0.1'/></body><contact "        \
  "default='all' normal='kelvin-voigt' K='2e4' D='20' mu-k='0.4' bristle-K='2e4' bristle-B='10'/></sarrus>"
  static const char* const scenes[] = {LEAVING("0.1 0 0.02994 1 1 0 0", "0 0 -10 0.3 0 0"),
                                       LEAVING("0 0.1 0.02994 1 1 0.2 0", "0 0 0 0 0 -1")};
  static const Way ways[] = {{"dopri5", false, 0}, {"radau5", false, 0}, {"dopri5", true, 0}, {"dopri5", false, 0.31}};
  for (int s = 0; s < 2; s++) {
    double first[7], q[7];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      run_way(scenes[s], &ways[i], 0.5, i == 0 ? first : q);
      for (int k = 0; k < 7 && i > 0; k++) ENSURE_NEAR(q[k], first[k], 3e-6);
    }
    ENSURE(first[2] < -0.05);  // below the top of the table
  }
}
