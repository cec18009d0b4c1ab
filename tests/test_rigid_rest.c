// Rigid contacts at rest: admissible forces, what slides or tips, modes of bodies that stick, roll or slide without friction.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "messages.h"

static char said[2000];
static const double g = 9.81;

static srStatus rest_at(const srModel* m, srData* d, srRest** rest) {
  srMessages* messages = sr_messages_create();
  srStatus status = sr_assemble(m, d, messages, NULL);
  if (status == SR_OK) status = sr_rest_rigid_create(m, d, 0, messages, rest);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

static srModes* modes_at(const srModel* m, srData* d, const srRest* rest) {
  srMessages* messages = sr_messages_create();
  srLinear* l = NULL;
  srModes* modes = NULL;
  const srStatus status = sr_linearize_rest(m, d, rest, messages, &l);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(sr_modes_create(l, messages, &modes), SR_OK);
  sr_linear_destroy(l);
  sr_messages_destroy(messages);
  return modes;
}

static double nearest(const srModes* m, double omega) {
  double best = (double)INFINITY;
  for (int i = 0; i < m->n; i++) {
    const double off = hypot(m->mode[i].re, m->mode[i].im - omega);
    if (fabs(off) < fabs(best)) best = off;
  }
  return best;
}

// Eigenvalues of a model at rest with rigid contacts: n of them, and +- i omega among them.
static void expect_modes(const char* text, srFormulation formulation, int n, const double* omega, int count,
                         double tolerance) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel *m = NULL, *other = NULL;
  srData* d_other = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_assemble(m, d, messages, NULL), SR_OK);
  if (formulation != SR_FORMULATION_RELATIVE)
    ENSURE_EQUAL(sr_formulate(spec, m, d, formulation, messages, &other, &d_other), SR_OK);
  srRest* rest = NULL;
  const srStatus status = rest_at(other ? other : m, d_other ? d_other : d, &rest);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  srModes* modes = modes_at(other ? other : m, d_other ? d_other : d, rest);
  ENSURE_EQUAL(modes->n, n);
  for (int i = 0; i < count; i++) ENSURE_SMALL(nearest(modes, omega[i]), tolerance);
  sr_modes_destroy(modes);
  sr_rest_destroy(rest);
  sr_data_destroy(d_other);
  sr_model_destroy(other);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

static double normal_sum(const srRest* rest) {
  double sum = 0;
  for (int i = 0; i < rest->n; i++) sum += rest->contact[i].normal_force;
  return sum;
}

#define LAW "normal='kelvin-voigt' K='1e6' D='10' bristle-K='1e6' bristle-B='10' "
#define FLOOR "<ground><shape name='floor' type='plane'/></ground>"

// ---- forces -----------------------------------------------------------------------------------------------------------------

// 18 drivers and six feet hold six degrees of freedom of the torso: 18 rows of contacts, 12 of them undetermined.
TEST(rigid_rest_of_the_parked_hexapod) {
  Loaded x = open_model("paper1/hexapod", "walk=0");
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_EQUAL(rest->closed, 6);
  ENSURE_EQUAL(rest->indeterminate, 12);
  ENSURE_NEAR(normal_sum(rest), (4 + 6 * 0.39) * g, 1e-10);
  for (int i = 0; i < 6; i++) ENSURE(rest->contact[i].status == SR_REST_STICKS && !rest->contact[i].unique);
  ENSURE_NEAR(x.d->q[2], 0.15, 1e-9);  // on its feet, not 0.75 mm deep
  srModes* m = modes_at(x.m, x.d, rest);
  ENSURE_EQUAL(m->n, 0);
  sr_modes_destroy(m);
  sr_rest_destroy(rest);
  close_model(&x);
}

// Three feet: their normal forces follow from statics (here by hand), friction does not.
TEST(rigid_rest_of_three_feet_has_unique_normal_forces) {
  Loaded x = open_text(
      "<sarrus version='1'>" FLOOR
      "<body name='t'><joint name='t' type='free' q='0 0 0.3 1 0 0 0'/><inertial mass='3' com='0.1 0.05 0' inertia='1 "
      "1 "
      "1'/>"
      "<shape name='a' type='sphere' size='0.02' at='1 0 -0.28' group='f'/><shape name='b' type='sphere' size='0.02' "
      "at='-1 1 -0.28' group='f'/><shape name='c' type='sphere' size='0.02' at='-1 -1 -0.28' group='f'/></body>"
      "<contact a='floor' b='f' " LAW "mu-k='0.3'/></sarrus>");
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_EQUAL(rest->n, 3);
  ENSURE_EQUAL(rest->indeterminate, 3);
  // a - b - c = 0.1 W, b - c = 0.05 W, a + b + c = W
  const double W = 3 * g, a = 0.55 * W, expected[3] = {a, (0.45 * W + 0.05 * W) / 2, (0.45 * W - 0.05 * W) / 2};
  for (int i = 0; i < 3; i++) {
    const srRestContact* c = &rest->contact[i];
    const int which = c->b[strlen(c->b) - 1] - 'a';
    ENSURE_NEAR(c->normal_force, expected[which], 1e-11);
    ENSURE(c->unique && fabs(c->gap) < 1e-13);
  }
  sr_rest_destroy(rest);
  close_model(&x);
}

// A ladder between two walls of friction: least norm leaves a cone, other forces do not. mu = 0.6 holds it at 50 degrees (limit 33), mu = 0.2 does not (limit 67).
static const char* ladder_text(double mu) {
  static char text[1200];
  const double a = 50 * acos(-1.0) / 180, half = 1, r = 0.02;
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><ground><shape name='floor' type='plane' group='walls'/><shape name='wall' type='plane' "
      "rpy='0 1.5707963267948966 0' group='walls'/></ground><body name='ladder'><joint name='ladder' type='free' "
      "q='%.17g 0 %.17g %.17g 0 %.17g 0'/><inertial mass='4' inertia='0.1 1.4 1.4'/>"
      "<shape name='foot' type='sphere' size='0.02' at='1 0 0' group='ends'/><shape name='top' type='sphere' "
      "size='0.02' at='-1 0 0' group='ends'/></body><contact a='walls' b='ends' " LAW "mu-k='%g'/></sarrus>",
      half * cos(a) + r, half * sin(a) + r, cos(a / 2), sin(a / 2), mu);
  return text;
}

TEST(rigid_rest_of_a_ladder_is_decided_by_its_cones) {
  Loaded x = open_text(ladder_text(0.6));
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_EQUAL(rest->closed, 2);
  ENSURE_EQUAL(rest->indeterminate, 1);  // 6 rows; turning about its own line is free
  double up = 0, side[2];
  for (int i = 0; i < 2; i++) {
    const srRestContact* c = &rest->contact[i];
    const bool floor = strstr(c->a, "floor") != NULL;
    ENSURE(c->friction_force <= 0.6 * c->normal_force + 1e-7 * 4 * g && c->normal_force > 0 && !c->unique);
    up += floor ? c->normal_force : c->friction_force;
    side[floor] = floor ? c->friction_force : c->normal_force;
  }
  ENSURE_NEAR(up, 4 * g, 1e-8);  // both hold it up
  ENSURE_NEAR(side[0], side[1], 1e-8);
  sr_rest_destroy(rest);
  close_model(&x);
  x = open_text(ladder_text(0.2));
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE(strstr(said, "slides on") != NULL && strstr(said, "ladder/") != NULL);
  ENSURE(x.d->q[2] < 0.7);  // it has slid down
  sr_rest_destroy(rest);
  close_model(&x);
}

static Loaded box_on_slope(double angle, double mu, double com) {
  static char text[900];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='%.17g 0 %.17g'/>" FLOOR
           "<body name='box'><joint name='box' type='free' q='0 0 0.25 1 0 0 0'/><inertial mass='2' com='%g 0 0' "
           "inertia='1e-2 1e-2 1e-2'/><shape name='box' type='box' size='0.2 0.3 0.5'/></body>"
           "<contact a='floor' b='box' " LAW "mu-k='%g'/></sarrus>",
           g * sin(angle), -g * cos(angle), com, mu);
  return open_text(text);
}

TEST(rigid_rest_of_a_box_that_holds_slides_or_tips) {
  srRest* rest;
  Loaded x = box_on_slope(0.3, 0.4, 0);
  double friction = 0;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_NEAR(normal_sum(rest), 2 * g * cos(0.3), 1e-9);
  for (int i = 0; i < rest->n; i++) friction += rest->contact[i].friction_force;
  ENSURE_NEAR(friction, 2 * g * sin(0.3), 1e-6);  // all along the slope
  ENSURE_EQUAL(rest->indeterminate, 6);
  sr_rest_destroy(rest);
  close_model(&x);
  x = box_on_slope(0.3, 0.3, 0);  // tan 0.3 = 0.309
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_FAILED);
  ENSURE(strstr(said, "'box/box' slides on 'ground/floor'") != NULL);
  close_model(&x);
  x = box_on_slope(0, 0.4, 0.11);  // beyond the edge
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE(strstr(said, "tips") != NULL && strstr(said, "'box/box' opens") != NULL);
  ENSURE(fabs(x.d->q[5]) > 0.1);  // it has turned about y
  ENSURE_NEAR(normal_sum(rest), 2 * g, 1e-9);
  sr_rest_destroy(rest);
  close_model(&x);
}

// Held by a spring on a belt that moves it slides, with mu m g; rigid contacts at rest would stick to it. A belt that stands still is a floor.
TEST(rigid_rest_on_a_belt_that_moves_is_refused) {
  for (int moves = 0; moves < 2; moves++) {
    char text[900];
    (void)snprintf(text, sizeof text,
                   "<sarrus version='1'><ground><shape name='belt' type='plane' surface-velocity='%g*t 0 0'/></ground>"
                   "<body name='slide'><joint name='x' type='prismatic' axis='1 0 0' stiffness='100'/></body>"
                   "<body name='box' parent='slide'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial "
                   "mass='2'/><shape name='box' type='box' size='0.2 0.2 0.2'/></body>"
                   "<contact a='belt' b='box' " LAW "mu-k='0.4'/></sarrus>",
                   0.5 * moves);
    Loaded x = open_text(text);
    srRest* rest;
    x.d->t = 1;
    ENSURE_EQUAL(rest_at(x.m, x.d, &rest), moves ? SR_FAILED : SR_OK);
    ENSURE((strstr(said, "'ground/belt' and 'box/box' moves (surface-velocity)") != NULL) == (moves == 1));
    if (!moves) sr_rest_destroy(rest);
    close_model(&x);
  }
}

// Two coefficients: pulled at 45 degrees a ball that cannot rotate is held by the friction that it takes, up to the ellipse (f/sqrt 2)^2 (1/mu^2 + 1/mu2^2) = N^2; across rollers it is held,
// and along them it is not.
TEST(rigid_rest_of_a_block_with_two_coefficients) {
  static const struct {
    double x, y, mu2;
    bool holds;
  } cases[] = {{1.2, 1.2, 0.2, true}, {1.9, 1.9, 0.2, false}, {0, 4, 0, true}, {0.1, 4, 0, false}};
  for (int i = 0; i < 4; i++) {
    char text[1500];
    srRest* rest = NULL;
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='%g %g -10'/><ground><shape name='floor' type='plane' "
             "friction-direction='1 0 0'/></ground><body name='x'><joint type='prismatic' axis='1 0 0'/></body>"
             "<body name='y' parent='x'><joint type='prismatic' axis='0 1 0'/></body><body name='b' parent='y'><joint "
             "type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='1'/><shape type='sphere' size='0.1'/></body>"
             "<contact a='floor' b='b' " LAW "mu-k='0.5' mu2='%g'/></sarrus>",
             cases[i].x, cases[i].y, cases[i].mu2);
    Loaded x = open_text(text);
    ENSURE_EQUAL(rest_at(x.m, x.d, &rest), cases[i].holds ? SR_OK : SR_FAILED);
    if (cases[i].holds) ENSURE_NEAR(rest->contact[0].friction_force, hypot(cases[i].x, cases[i].y), 1e-9);
    if (i == 1) {  // 10 times the radius of the ellipse at 45 degrees
      char limit[100];
      snprintf(limit, sizeof limit, "friction of %.6g N under a normal force of 10 N, and mu is %.6g", 1.9 * sqrt(2),
               sqrt(2 / (1 / 0.25 + 1 / 0.04)));
      ENSURE(strstr(said, limit) != NULL);
    }
    if (rest != NULL) sr_rest_destroy(rest);
    close_model(&x);
  }
}

// What is above the floor falls on it first, by the force laws.
TEST(rigid_rest_of_a_body_that_falls) {
  Loaded x = open_text("<sarrus version='1'>" FLOOR
                       "<body name='box'><joint name='box' type='free' q='0 0 0.07 1 0 0 0'/><inertial mass='2' "
                       "inertia='1e-2 1e-2 1e-2'/><shape name='box' type='box' size='0.2 0.3 0.1'/></body>"
                       "<contact a='floor' b='box' " LAW "mu-k='0.4'/></sarrus>");
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_NEAR(x.d->q[2], 0.05, 1e-12);
  ENSURE_NEAR(normal_sum(rest), 2 * g, 1e-10);
  sr_rest_destroy(rest);
  close_model(&x);
}

// Coulomb's friction of a joint holds up to F.
TEST(rigid_rest_of_a_joint_that_friction_holds) {
  static const double limit[] = {3, 2.5};  // 2 g 0.5 sin(0.3) = 2.899
  for (int i = 0; i < 2; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 -9.81 0'/><body name='rod'><joint name='rod' type='revolute' "
             "q='0.3'/><inertial mass='2' com='0 -0.5 0'/></body><friction name='dry' joint='rod' law='coulomb' "
             "F='%g'/></sarrus>",
             limit[i]);
    Loaded x = open_text(text);
    srRest* rest;
    ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
    ENSURE_NEAR(x.d->q[0], i == 0 ? 0.3 : 0, 1e-10);  // else it hangs, as without friction
    ENSURE_EQUAL(rest->n, 1);
    ENSURE_NEAR(rest->contact[0].friction_force, i == 0 ? 2 * g * 0.5 * sin(0.3) : 0, 1e-9);
    srModes* m = modes_at(x.m, x.d, rest);
    ENSURE_EQUAL(m->n, 0);
    sr_modes_destroy(m);
    sr_rest_destroy(rest);
    close_model(&x);
  }
}

// ---- modes ------------------------------------------------------------------------------------------------------------------

// A box on a table on springs: they move together, sqrt(k/(M + m)), also sideways while it sticks; without friction the table has sqrt(k/M).
TEST(rigid_modes_of_a_box_on_a_table) {
  char text[1200];
  for (int i = 0; i < 2; i++) {
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><body name='lift'><joint name='z' type='prismatic' axis='0 0 1' stiffness='5000'/></body>"
        "<body name='table' parent='lift'><joint name='x' type='prismatic' axis='1 0 0' stiffness='800'/><inertial "
        "mass='3'/><shape name='top' type='plane'/></body>"
        "<body name='box'><joint name='box' type='free' q='0 0 0.05 1 0 0 0'/><inertial mass='2' inertia='1e-2 "
        "1e-2 1e-2'/><shape name='box' type='box' size='0.2 0.3 0.1'/></body>"
        "<contact a='top' b='box' " LAW "mu-k='%g'/></sarrus>",
        i == 0 ? 0.5 : 0.0);
    const double omega[] = {sqrt(5000 / 5.0), sqrt(800 / (i == 0 ? 5.0 : 3.0))};
    expect_modes(text, SR_FORMULATION_RELATIVE, i == 0 ? 4 : 10, omega, 2, 1e-9);
    expect_modes(text, SR_FORMULATION_ABSOLUTE, i == 0 ? 4 : 10, omega, 2, 1e-9);
  }
}

static const char* rocker_text(const char* shape, double mu) {
  static char text[900];
  snprintf(text, sizeof text,
           "<sarrus version='1'>" FLOOR
           "<body name='b'><joint name='b' type='free' q='0 0 0.1 1 0 0 0'/><inertial mass='2' com='0 0 -0.03' "
           "inertia='4e-3 5e-3 6e-3'/><shape name='s' %s/></body><contact a='floor' b='s' " LAW "mu-k='%g'/></sarrus>",
           shape, mu);
  return text;
}

// A round body whose centre of mass is e below its centre rocks (Routh):  omega^2 = m g e/(J + m (R - e)^2) where it rolls, m g e/J where nothing resists.
TEST(rigid_modes_of_bodies_that_rock) {
  const double m = 2, e = 0.03, a = 0.07;
  const double rolls[] = {sqrt(m * g * e / (4e-3 + m * a * a)), sqrt(m * g * e / (5e-3 + m * a * a))};
  const double slides[] = {sqrt(m * g * e / 4e-3), sqrt(m * g * e / 5e-3)};
  const char *ball = "type='sphere' size='0.1'", *cylinder = "type='cylinder' size='0.1 0.2' rpy='pi/2 0 0'";
  expect_modes(rocker_text(ball, 0.5), SR_FORMULATION_RELATIVE, 6, rolls, 2, 1e-9);
  expect_modes(rocker_text(ball, 0.5), SR_FORMULATION_ABSOLUTE, 6, rolls, 2, 1e-9);
  expect_modes(rocker_text(ball, 0), SR_FORMULATION_RELATIVE, 10, slides, 2, 1e-9);
  expect_modes(rocker_text(cylinder, 0.5), SR_FORMULATION_RELATIVE, 2, rolls + 1, 1, 1e-9);
}

// A ball in a bowl rolls to its bottom and has omega^2 = 5 g/(7 (R - r)) there. It begins aside.
TEST(rigid_modes_of_a_ball_that_rolls_in_a_bowl) {
  const double omega = sqrt(5 * g / (7 * 0.9));
  expect_modes(
      "<sarrus version='1'><ground><shape name='bowl' type='sphere' size='-1' at='0 0 1'/></ground><body "
      "name='b'><joint "
      "name='b' type='free' q='0.01 0 0.1000556 1 0 0 0'/><inertial mass='2' inertia='8e-3 8e-3 8e-3'/><shape name='s' "
      "type='sphere' size='0.1'/></body><contact a='bowl' b='s' " LAW "mu-k='0.5'/></sarrus>",
      SR_FORMULATION_RELATIVE, 6, &omega, 1, 1e-9);
}

// A table on three springy legs with round feet, rigid and on contacts of stiffness K: frequencies differ by O(1/K).
static Loaded legs(double K) {
  static char text[2000];
  snprintf(text, sizeof text,
           "<sarrus version='1'>" FLOOR
           "<body name='top'><joint name='top' type='free' q='0 0 0.02 + 0.28*cos(0.005) 1 0 0 0'/><inertial mass='3' "
           "com='0.02 0 0' "
           "inertia='0.03 0.04 0.06'/></body><repeat count='3' index='i'><body name='hip{i}' parent='top'><joint "
           "name='hip{i}' type='revolute' axis='1 0 0' rpy='0 0 2*pi*i/3' at='0.2*cos(2*pi*i/3) 0.2*sin(2*pi*i/3) 0' "
           "stiffness='200'/><inertial mass='0.1' inertia='1e-4 1e-4 1e-4'/></body><body name='leg{i}' "
           "parent='hip{i}'><joint name='leg{i}' type='revolute' axis='0 1 0' stiffness='300' q='-0.005'/><inertial "
           "mass='0.2' com='0 0 -0.15' inertia='2e-3 2e-3 1e-5'/><shape name='foot' "
           "type='sphere' size='0.02' at='0 0 -0.28' group='feet'/></body></repeat><contact a='floor' b='feet' "
           "normal='kelvin-voigt' K='%g' D='0' mu-k='0.8' bristle-K='%g' tau='1e-12'/></sarrus>",
           K, K);
  return open_text(text);
}

static void frequencies(Loaded* x, const srRest* rest, int n, double* out) {
  srModes* m = modes_at(x->m, x->d, rest);
  int found = 0;
  for (int i = 0; i < m->n && found < n; i++) {
    if (m->mode[i].im > 0) out[found++] = m->mode[i].im;
  }
  ENSURE_EQUAL(found, n);
  sr_modes_destroy(m);
}

TEST(rigid_modes_are_the_limit_of_stiff_contacts) {
  enum { N = 3 };
  static const double K[] = {1e7, 1e8};
  double rigid[N], soft[2][N];
  Loaded x = legs(1e6);
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_EQUAL(rest->closed, 3);
  frequencies(&x, rest, N, rigid);
  double q[16];
  memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
  sr_rest_destroy(rest);
  close_model(&x);
  for (int i = 0; i < 2; i++) {
    x = legs(K[i]);
    srMessages* messages = sr_messages_create();
    srEquilibrium* e;
    memcpy(x.d->q, q, (size_t)x.m->nq * sizeof *q);
    x.d->q[2] -= 3.9 * g / (3 * K[i]);
    ENSURE_EQUAL(sr_equilibrium_create(x.m, x.d, NULL, messages, &e), SR_OK);
    frequencies(&x, NULL, N, soft[i]);
    sr_equilibrium_destroy(e);
    sr_messages_destroy(messages);
    close_model(&x);
  }
  for (int k = 0; k < N; k++) {
    const double one = soft[0][k] - rigid[k], two = soft[1][k] - rigid[k];
    ENSURE(fabs(one) > 1e-6 * rigid[k] && fabs(one) < 0.01 * rigid[k]);
    ENSURE_NEAR(one / two, 10, 0.3);
  }
}

// A rod on a damped hinge, upright beside a wall (plane x = -0.02, its normal along x) that its ball touches. The wall holds its only motion: pressed against it by a part of gravity it is stable; without force it would fall to the other side.
static srStability beside_a_wall(double gx) {
  static char text[700];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><option gravity='%g 0 -9.81'/><ground><shape name='wall' type='plane' at='-0.02 0 0' rpy='0 "
      "1.5707963267948966 0'/></ground><body name='rod'><joint name='rod' type='revolute' axis='0 1 0' "
      "damping='0.1'/><inertial mass='2' com='0 0 1' inertia='0.1 0.1 0.1'/><shape name='ball' type='sphere' "
      "size='0.02' at='0 0 1'/></body><contact a='wall' b='ball' " LAW "mu-k='0'/></sarrus>",
      gx);
  Loaded x = open_text(text);
  srRest* rest;
  ENSURE_EQUAL(rest_at(x.m, x.d, &rest), SR_OK);
  ENSURE_EQUAL(rest->closed, 1);
  ENSURE_NEAR(rest->contact[0].normal_force, -2 * gx, 1e-12);
  srModes* modes = modes_at(x.m, x.d, rest);
  const srStability stability = sr_modes_stability(modes);
  sr_modes_destroy(modes);
  sr_rest_destroy(rest);
  close_model(&x);
  return stability;
}

TEST(rigid_rest_against_a_wall_without_force_is_not_called_stable) {
  ENSURE_EQUAL(beside_a_wall(-1), SR_STABLE);
  ENSURE_EQUAL(beside_a_wall(0), SR_MARGINAL);
  ENSURE(strstr(said, "'ground/wall' and 'rod/ball' touches without force") != NULL);
}
