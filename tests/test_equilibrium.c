// Static equilibrium: closed forms of springs, pendulums, loops, states, contacts; what keeps its value; what has none.
#include <math.h>
#include <string.h>

#include "loading.h"
#include "messages.h"

static char said[2000];

static srStatus balance(Loaded* x, srEquilibrium** out) {
  srMessages* messages = sr_messages_create();
  srStatus status = sr_assemble(x->m, x->d, messages, NULL);
  if (status == SR_OK) status = sr_equilibrium_create(x->m, x->d, NULL, messages, out);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

#define MASS(name, more)                                                                                               \
  "<body name='" name "'><joint name='" name "' type='prismatic' axis='0 0 1' " more "/><inertial mass='2'/></body>"

// Two masses in a row, each on a spring of the one above: z1 = -(m1 + m2) g/k1, z2 = -m2 g/k2.
TEST(equilibrium_of_hanging_masses) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/>" MASS("a", "stiffness='100' q='0.3'")
      "<body name='b' parent='a'><joint name='b' type='prismatic' axis='0 0 1' stiffness='50'/><inertial mass='3'/></body></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[0], -5 * 9.81 / 100, 1e-12);
  ENSURE_NEAR(x.d->q[1], -3 * 9.81 / 50, 1e-12);
  ENSURE(e->residual < 1e-11 && e->nnonsensitive == 0);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

// A load of 0.01 N on a spring k z^3 that pushes with 1e9 N at the start: what is small beside that force is not small beside the weight, z = -(m g/k)^(1/3).
TEST(equilibrium_of_a_small_load_far_from_a_start_of_large_forces) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><body name='b'><joint name='z' type='prismatic' axis='0 0 1' "
      "q='-1'/><inertial mass='0.001'/></body><torque joint='z' law='-1e9*q(z)^3'/></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[0], -cbrt(0.00981 / 1e9), 1e-14);
  ENSURE(e->residual < 1e-9);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

// A pendulum that a torsion spring holds: m g l sin(q) = -k q; the nearest position to the start is taken, also the inverted one.
TEST(equilibrium_of_a_pendulum_is_the_nearest) {
  static const double start[] = {0.4, 3.0};
  for (int i = 0; i < 2; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 -9.81 0'/><body name='rod'><joint name='rod' type='revolute' "
             "stiffness='0.2' q='%g'/><inertial mass='1' com='0 -0.5 0'/></body></sarrus>",
             start[i]);
    Loaded x = open_text(text);
    srEquilibrium* e;
    ENSURE_EQUAL(balance(&x, &e), SR_OK);
    ENSURE_SMALL(0.5 * 9.81 * sin(x.d->q[0]) + 0.2 * x.d->q[0], 1e-10);
    ENSURE_NEAR(x.d->q[0], start[i], 0.5);
    sr_equilibrium_destroy(e);
    close_model(&x);
  }
}

// A loop: the height of a parallelogram's load is least where its cranks hang, here held aside by a horizontal spring of the coupler.
TEST(equilibrium_of_a_loop_by_virtual_work) {
  Loaded x = open_model("mechanisms/parallelogram", "start=0.4");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  for (int i = 0; i < x.m->nv; i++) ENSURE_SMALL(x.d->q[i], 1e-10);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

// Bennett's linkage: V = c sin(theta2), so that it rests at theta2 = -pi/2, tan(theta1/2) = -K (mod 2 pi), theta3 = -theta1. Three of its five equations depend on the
// two that are solved, which alone would have other positions; from most starts it is a long way down.
TEST(equilibrium_of_an_overconstrained_loop_is_one_of_all_its_equations) {
  static const char* const starts[] = {"start=1.5 speed=0", "start=0.5 speed=0", "start=-0.5 speed=0",
                                       "start=5 speed=0"};
  const double alpha = 0.6, beta = asin(0.4 * sin(alpha) / 0.3);
  const double K = sin((beta + alpha) / 2) / sin((beta - alpha) / 2);
  for (int i = 0; i < 4; i++) {
    Loaded x = open_model("mechanisms/bennett-linkage", starts[i]);
    srEquilibrium* e;
    ENSURE_EQUAL(balance(&x, &e), SR_OK);
    ENSURE_NEAR(sin(x.d->q[0]), sin(-2 * atan(K)), 1e-9);
    ENSURE_NEAR(cos(x.d->q[0]), cos(2 * atan(K)), 1e-9);
    ENSURE_NEAR(sin(x.d->q[1]), -1, 1e-12);
    ENSURE_NEAR(sin(x.d->q[2] + x.d->q[0]), 0, 1e-9);
    ENSURE_NEAR(cos(x.d->q[2] + x.d->q[0]), 1, 1e-12);
    sr_equilibrium_destroy(e);
    close_model(&x);
  }
}

// A ball falls on a plane: it ends m g/K deep; where it is on the plane, and how it is turned, is of no importance.
TEST(equilibrium_of_a_ball_that_falls_on_a_plane) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground><body "
      "name='ball'><joint "
      "name='ball' type='free' q='0.3 0.2 0.25 1 0 0 0'/><inertial mass='2' inertia='1e-2 1e-2 1e-2'/><shape name='s' "
      "type='sphere' size='0.1'/></body><contact a='floor' b='s' normal='kelvin-voigt' K='1e5' D='100' "
      "friction='none'/></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[2], 0.1 - 2 * 9.81 / 1e5, 1e-12);
  ENSURE_NEAR(x.d->q[0], 0.3, 0);
  ENSURE_EQUAL(e->nnonsensitive, 5);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

// A state that follows a coordinate, and a force that follows the state: y' = 5 (q - y), f = -40 y.
TEST(equilibrium_includes_states) {
  Loaded x = open_text("<sarrus version='1'><option gravity='0 0 -9.81'/>" MASS(
      "a", "q='0.1'") "<state name='s' rate='5*(q(a) - s)'/><torque joint='a' law='-40*s'/></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[0], -2 * 9.81 / 40, 1e-12);
  ENSURE_NEAR(x.d->y[0], -2 * 9.81 / 40, 1e-12);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

TEST(equilibrium_of_driven_joints_has_the_force_that_holds_them) {
  Loaded x = open_text("<sarrus version='1'><option gravity='0 0 -9.81'/>" MASS(
      "a", "") "<driver joint='a' motion='0.7 + t'/></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[0], 0.7, 0);
  ENSURE_NEAR(x.d->lambda[x.m->row_driver], 2 * 9.81, 1e-12);
  ENSURE_NEAR(e->force[0], 2 * 9.81, 1e-12);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

TEST(equilibrium_that_does_not_exist_is_refused) {
  Loaded x = open_text("<sarrus version='1'><option gravity='0 0 -9.81'/>" MASS("a", "") "</sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_FAILED);
  ENSURE(e == NULL && strstr(said, "the force on 'a' stays at 19.62") != NULL);
  close_model(&x);
}

// A disc that leans rolls up until it is upright, without sliding: the nearest place where it stays.
TEST(equilibrium_of_a_disc_that_rolls) {
  Loaded x = open_model("mechanisms/rolling-disc", "lean=1.45 Omega=0.001");
  srEquilibrium* e;
  ENSURE_EQUAL(balance(&x, &e), SR_OK);
  ENSURE_NEAR(x.d->q[2], 0.3, 1e-12);  // height of the centre: the radius
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < 6; i++) ENSURE_SMALL(x.d->a[i], 1e-8);
  sr_equilibrium_destroy(e);
  close_model(&x);
}

// The lower mass is held relative to the upper one, which bears both; the joint takes the weight of the lower one and its spring.
TEST(equilibrium_with_a_coordinate_that_keeps_its_value) {
  Loaded x = open_text("<sarrus version='1'><option gravity='0 0 -9.81'/>" MASS(
      "a",
      "stiffness='100'") "<body name='b' parent='a'><joint name='b' type='prismatic' axis='0 0 1' stiffness='50' "
                         "q='0.2'/><inertial "
                         "mass='3'/></body></sarrus>");
  srEquilibrium* e;
  ENSURE_EQUAL(
      sr_equilibrium_create(x.m, x.d, &(srEquilibriumOptions){.fixed = (const unsigned char[]){0, 1}}, NULL, &e),
      SR_OK);
  ENSURE_NEAR(x.d->q[0], -5 * 9.81 / 100, 1e-12);
  ENSURE_NEAR(x.d->q[1], 0.2, 0);
  ENSURE_NEAR(e->force[1], 3 * 9.81 + 50 * 0.2, 1e-12);
  sr_equilibrium_destroy(e);
  close_model(&x);
}
