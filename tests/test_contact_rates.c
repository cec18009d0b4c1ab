// Rates of the velocities of contacts along the motion (srSystem.contacts_chosen) against differences of the velocities themselves, for every pair of shapes, in
// relative and absolute coordinates: two ways that share nothing but the points of contact.
#include <math.h>

#include "loading.h"
#include "system/system.h"

enum { MOST = 40, WIDTH = 20 };

typedef struct Case {
  const char *a, *b;  // shapes
  const char* q;      // pose of b
  bool flat;          // both turn about z alone: faces stay parallel
  int points, known;  // how many are listed, and have rates
} Case;

#define MESHES                                                                                                         \
  "<mesh name='slab' vertices='-1 -1 0  1 -1 0  1 1 0  -1 1 0  -1 -1 -1  1 -1 -1  1 1 -1  -1 1 -1' "                   \
  "faces='0 1 2 0 2 3 4 6 5 4 7 6 0 5 1 0 4 5 1 6 2 1 5 6 2 7 3 2 6 7 3 4 0 3 7 4'/>"                                  \
  "<mesh name='wedge' vertices='-0.1 -0.1 -0.1 0.15 -0.1 -0.1 -0.1 0.2 -0.1 -0.1 -0.1 0.2 0.1 0.1 0.1'/>"
#define BOX "type='box' size='0.4 0.3 0.2'"
#define SLAB "type='box' size='2 2 0.4' at='0 0 -0.2'"
#define ROD "type='cylinder' size='0.1 0.5'"
#define EGG "type='ellipsoid' size='0.1 0.2 0.15'"
#define TORUS                                                                                                          \
  "type='surface' x='(0.4+0.1*cos(v))*cos(u)' y='(0.4+0.1*cos(v))*sin(u)' z='0.1*sin(v)' u='0 2*pi' v='0 2*pi'"
#define FIELD "type='heightfield' size='2 2' columns='3' heights='0.01 0.02 -0.01 0 0.01 0.02 0.03 -0.01 0'"
#define TILTED " 0.9 0.3 -0.2 0.25"  // quaternions
#define SLIGHTLY " 1 0.011 -0.007 0.3"
#define YAWED " 1 0 0 0.2"
#define LIES " 1 1.01 -0.02 0.015"  // the z axis of the shape is nearly horizontal

static const Case all[] = {
    {"type='plane'", "type='sphere' size='0.1'", "0.1 0.2 0.101" TILTED, false, 1, 1},
    {"type='plane'", BOX, "0.1 0.2 0.11" SLIGHTLY, false, 4, 4},
    {"type='plane'", BOX, "0.1 0.2 0.101" YAWED, true, 4, 4},
    {"type='plane'", BOX, "0.1 0.2 0.2" TILTED, false, 1, 1},
    {"type='plane'", "type='hull' mesh='wedge'", "0.1 0.2 0.2" TILTED, false, 1, 1},
    {"type='plane'", "type='capsule' size='0.1 0.4'", "0.1 0.2 0.105" LIES, false, 2, 2},
    {"type='plane'", "type='capsule' size='0.1 0.4'", "0.1 0.2 0.4" TILTED, false, 1, 1},
    {"type='plane'", ROD, "0.1 0.2 0.105" LIES, false, 2, 2},
    {"type='plane'", ROD, "0.1 0.2 0.26" TILTED, false, 1, 1},
    {"type='plane'", ROD, "0.1 0.2 0.251" YAWED, true, 8, 8},
    {"type='plane'", EGG, "0.1 0.2 0.16" TILTED, false, 1, 1},
    {"type='plane'", "type='cone' size='0.1 0.3'", "0.1 0.2 0.2" TILTED, false, 1, 1},
    {"type='sphere' size='0.2'", "type='sphere' size='0.1'", "0.1 0.17 0.22" TILTED, false, 1, 1},
    {"type='sphere' size='-0.5'", "type='sphere' size='0.1'", "0.1 0.2 0.3" TILTED, false, 1, 1},
    {"type='cylinder' size='-0.5 1'", "type='sphere' size='0.1'", "0.1 0.35 0.1" TILTED, false, 1, 1},
    {"type='capsule' size='0.1 0.4'", "type='sphere' size='0.1'", "0.1 0.2 0.1" TILTED, false, 1, 1},
    {"type='capsule' size='0.1 0.4'", "type='capsule' size='0.1 0.4'", "0.21 0.02 0.01" TILTED, false, 1, 1},
    {BOX, "type='sphere' size='0.1'", "0.1 0.05 0.201" TILTED, false, 1, 1},
    {BOX, "type='sphere' size='0.1'", "0.26 0.20 0.05" TILTED, false, 1, 1},
    {BOX, "type='sphere' size='0.1'", "0.26 0.20 0.15" TILTED, false, 1, 1},
    {ROD, "type='sphere' size='0.1'", "0.15 0.14 0.1" TILTED, false, 1, 1},
    {"type='cone' size='0.2 0.4'", "type='sphere' size='0.1'", "0.15 0.14 0.05" TILTED, false, 1, 1},
    {EGG, EGG, "0.18 0.1 0.15" TILTED, false, 1, 1},
    {BOX, EGG, "0.1 0.05 0.3" TILTED, false, 1, 1},
    {BOX, BOX, "0.05 0.02 0.201" YAWED, true, 6, 6},
    {SLAB, BOX, "0.1 0.2 0.101" YAWED, true, 4, 4},
    {SLAB, BOX, "0.1 0.2 0.11" SLIGHTLY, false, 4, 4},
    {BOX, SLAB, "0.1 0.2 0.501" YAWED, true, 4, 4},
    {SLAB, BOX, "0.1 0.2 0.22" TILTED, false, 1, 1},
    {BOX, "type='box' size='0.4 0.3 0.2' rpy='0.7 0 0.8'", "0.3 0.02 0.22" TILTED, false, 1, 1},
    {SLAB, ROD, "0.1 0.2 0.105" LIES, false, 2, 2},
    {SLAB, "type='capsule' size='0.1 0.4' rpy='0 pi/2 0'", "0.95 0.2 0.101" YAWED, true, 2, 2},
    {SLAB, "type='cylinder' size='0.1 0.4' rpy='0 pi/2 0'", "0.95 0.2 0.101" YAWED, true, 2, 2},
    {"type='plane'", "type='cone' size='0.1 0.3' rpy='0 pi/2+atan(1/3) 0'", "0.1 0.2 0.05" YAWED, true, 2, 0},
    {ROD, EGG, "0.2 0.1 0.1" TILTED, false, 1, 1},
    {ROD, ROD, "0.2 0.05 0.1" LIES, false, 1, 1},
    {"type='mesh' mesh='slab'", "type='sphere' size='0.1'", "0.1 0.2 0.101" TILTED, false, 1, 1},
    {"type='mesh' mesh='slab'", "type='sphere' size='0.1'", "1.05 0.2 0.07" TILTED, false, 1, 1},
    {"type='mesh' mesh='slab'", BOX, "0.1 0.2 0.101" YAWED, true, 4, 4},
    {FIELD, "type='sphere' size='0.1'", "0.1 0.23 0.115" TILTED, false, 1, 1},
    {TORUS, "type='sphere' size='0.1'", "0.42 0.05 0.201" TILTED, false, 1, 1},
    {TORUS, EGG, "0.42 0.05 0.25" TILTED, false, 1, 1},
};

// a turns about an axis that passes through its origin.
static void write_case(const Case* x, char* text, size_t size) {
  snprintf(
      text, size,
      "<sarrus version='1'>" MESHES
      "<body name='a'><joint name='a' type='revolute' axis='%s' v='0.7'/><inertial "
      "mass='1' inertia='1 1 1'/><shape name='a' %s/></body><body name='b'><joint name='b' type='free' q='%s' "
      "v='%s 0.4 -0.3 0.2'/><inertial mass='1' com='0.1 0 0' inertia='1 2 2'/><shape name='b' %s/></body>"
      "<contact a='a' b='b' normal='kelvin-voigt' K='1e5' D='1' mu-k='0.3' friction='threlfall' v0='0.1'/></sarrus>",
      x->flat ? "0 0 1" : "0.3 1 0.2", x->a, x->q, x->flat ? "0 0 -1.3" : "0.5 -0.8 1.1", x->b);
}

typedef struct Listed {
  srModelSystem user;
  srSystem system;
  srUnilateral* contact;
  int count;
} Listed;

// u of a contact at a time of the motion with v held; false: it is not listed.
static bool velocity_at(Listed* x, const double* q, const double* v, double t, long id, double u[3]) {
  double step[WIDTH], moved[WIDTH];
  for (int i = 0; i < x->system.nv; i++) step[i] = t * v[i];
  x->system.retract(x->system.user, q, step, moved);
  ENSURE_EQUAL(x->system.contacts(x->system.user, t, moved, x->contact, &x->count), 0);
  for (int i = 0; i < x->count; i++) {
    if (x->contact[i].id != id) continue;
    for (int k = 0; k < 3; k++) u[k] = sri_contact_velocity(&x->contact[i], k, v);
    return true;
  }
  return false;
}

// Of sixth order: error of about 1e-10 by rounding.
static bool difference(Listed* x, const double* q, const double* v, long id, double out[3]) {
  const double h = 2e-4, weight[3] = {45, -9, 1};
  for (int k = 0; k < 3; k++) out[k] = 0;
  for (int i = 1; i <= 3; i++) {
    double more[3], less[3];
    if (!velocity_at(x, q, v, i * h, id, more) || !velocity_at(x, q, v, -i * h, id, less)) return false;
    for (int k = 0; k < 3; k++) out[k] += weight[i - 1] * (more[k] - less[k]) / (60 * h);
  }
  return true;
}

static void compare(Listed* x, const double* q, const double* v, int points, int known) {
  double rate[3 * MOST];
  long id[MOST];
  const srContactChoice none = {.alone = true}, list = {.npair = 0};
  ENSURE_EQUAL(x->system.contacts_chosen(x->system.user, 0, q, &none, x->contact, &x->count), 0);
  ENSURE_EQUAL(x->count, 0);
  ENSURE_EQUAL(x->system.contacts_chosen(x->system.user, 0, q, &list, x->contact, &x->count), 0);
  ENSURE_EQUAL(x->count, points);
  long pair[MOST];
  for (int i = 0; i < points; i++) pair[i] = x->contact[i].pair;
  const srContactChoice choice = {.npair = points, .pair = pair, .alone = true, .rate = rate, .v = v};
  ENSURE_EQUAL(x->system.contacts_chosen(x->system.user, 0, q, &choice, x->contact, &x->count), 0);
  ENSURE_EQUAL(x->count, points);
  int found = 0;
  for (int i = 0; i < points; i++) id[i] = x->contact[i].id;
  for (int i = 0; i < points; i++) {
    double expected[3];
    if (isnan(rate[3 * i])) continue;
    found++;
    ENSURE(difference(x, q, v, id[i], expected));
    for (int k = 0; k < 3; k++) ENSURE_NEAR(rate[3 * i + k], expected[k], 1e-8 * (1 + fabs(expected[k])));
  }
  ENSURE_EQUAL(found, known);
}

static void compare_model(const srModel* m, srData* d, int points, int known) {
  Listed x = {.user = {.m = m, .d = d}};
  double q[WIDTH], v[WIDTH];
  x.system = sr_system(&x.user);
  x.contact = sri_contacts_create(&x.system);
  ENSURE(x.system.nq <= WIDTH);
  memcpy(q, d->q, (size_t)x.system.nq * sizeof *q);
  memcpy(v, d->v, (size_t)x.system.nv * sizeof *v);
  compare(&x, q, v, points, known);
  sri_contacts_destroy(x.contact);
}

static void compare_formulations(const char* text, bool absolute, int points, int known) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel *m = NULL, *free_bodies = NULL;
  srData* e = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  const srStatus status = sr_compile(spec, messages, &m);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  srData* d = sr_data_create(m);
  compare_model(m, d, points, known);
  if (absolute) {
    sr_data_reset(m, d);
    ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &free_bodies, &e), SR_OK);
    compare_model(free_bodies, e, points, known);
  }
  sr_data_destroy(d);
  sr_data_destroy(e);
  sr_model_destroy(m);
  sr_model_destroy(free_bodies);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

static void compare_cases(int first, int step) {
  for (int i = first; i < (int)(sizeof all / sizeof *all); i += step) {
    char text[3000];
    if (!runner_takes(i / step)) continue;
    write_case(&all[i], text, sizeof text);
    compare_formulations(text, i % 4 == first, all[i].points, all[i].known);
  }
}

TEST(rates_of_pairs_of_shapes_are_those_of_their_velocities) { compare_cases(0, 2); }
TEST(rates_of_other_pairs_of_shapes_are_those_of_their_velocities) { compare_cases(1, 2); }

// Tangents that turn with the direction of friction: of the body that turns, of the other one, turned about the normal, near to it (where the ellipse becomes a circle), and of rollers.
TEST(rates_of_contacts_with_a_direction_of_friction_are_those_of_their_velocities) {
  static const struct {
    const char *a, *b, *mu2, *turn;
  } cases[] = {{"", "friction-direction='1 2 0.5'", "0.1", "0.5 -0.8 1.1"},
               {"", "friction-direction='1 2 0.5' friction-turn='0.6'", "0.7", "0.5 -0.8 1.1"},
               {"friction-direction='1 -0.3 0.2' friction-turn='-0.6'", "", "0.1", "0.5 -0.8 1.1"},
               {"friction-direction='0.004 -0.003 1'", "", "0.1", "0.5 -0.8 1.1"},
               {"", "friction-direction='0.515 0.44 0.7425'", "0.1",
                "0.05 -0.08 0.11"},  // 0.005 rad off the normal: tangents turn 200 times as fast
               {"", "friction-direction='1 2 0.5'", "0", "0.5 -0.8 1.1"}};
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    char text[3000];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='a'><joint name='a' type='revolute' axis='0.3 1 0.2' v='0.07'/><inertial "
             "mass='1' inertia='1 1 1'/><shape name='a' type='box' size='2 2 0.2' at='0 0 -0.1' %s/></body><body "
             "name='b'><joint name='b' type='free' q='0.1 0.2 0.101" TILTED
             "' v='%s 0.4 -0.3 0.2'/><inertial mass='1' inertia='1 2 2'/><shape name='b' type='sphere' "
             "size='0.1' %s/></body><contact a='a' b='b' normal='kelvin-voigt' K='1e5' D='1' mu-k='0.3' mu2='%s' "
             "friction='threlfall' v0='0.1'/></sarrus>",
             cases[i].a, cases[i].turn, cases[i].b, cases[i].mu2);
    compare_formulations(text, i == 0, 1, 1);
  }
}

// The stops of a cardan shaft's second joint, seen in absolute coordinates by its two bodies.
TEST(rates_of_joint_stops_are_those_of_their_velocities) {
  compare_formulations(
      "<sarrus version='1'><body name='a'><joint name='a' type='revolute' axis='0 0 1' v='0.7' q='0.2'/><inertial "
      "mass='1' inertia='1 1 1'/></body><body name='b' parent='a'><joint name='b' type='revolute' axis='0 1 0.3' at='0 "
      "0.1 "
      "0.2' q='0.4' v='-1.2' limits='-0.9 0.9' limit-law='hunt-crossley' limit-restitution='0.4' "
      "limit-stiffness='20'/><inertial mass='1' inertia='1 2 2'/></body></sarrus>",
      true, 2, 2);
}

// Of products of coordinates, sensors and the time; a slip speed whose coefficients turn.
TEST(rates_of_gaps_by_formula_are_those_of_their_velocities) {
  compare_formulations(
      "<sarrus version='1'><body name='a'><joint name='a' type='revolute' axis='0.3 0 1' v='0.7' q='0.2'/><inertial "
      "mass='1' inertia='1 1 1'/></body><body name='b' parent='a'><joint name='b' type='revolute' axis='0 1 0.3' at='0 "
      "0.1 "
      "0.2' q='0.4' v='-1.2'/><inertial mass='1' inertia='1 2 2'/><point name='tip' at='0.3 0.1 0'/></body>"
      "<sensor name='tip' point='b/tip' relative-to='a'/><sensor name='far' point='b/tip'/>"
      "<contact name='one' gap='q(a)^2*sin(q(b)) + sensor(tip, x)*(1 + t) - 0.3*t^2' "
      "slip-speed='q(b)*v(a) - cos(q(a))*sensor(far, vx) + sensor(far, wy)*t + 0.7*t' normal='kelvin-voigt' K='20' "
      "D='0.4' "
      "mu-k='0.2' friction='threlfall' v0='0.1'/>"
      "<contact name='two' gap='sensor(far, z)*q(a)' slip='sensor(tip, y)^2 + t*q(b)' normal='kelvin-voigt' K='20' "
      "D='0.4' "
      "mu-k='0.2' friction='threlfall' v0='0.1'/></sarrus>",
      true, 2, 2);
}
