// Faces that touch and do not press: gaps are 0 but for rounding, and their signs mean nothing. A run must not stop at each of them.
#include <math.h>
#include <stdio.h>

#include "loading.h"

enum { FEW_STEPS = 1000 };

// An arm of two joints with a closed gripper: eight pads face to face, tied to each other by a coupling.
static const char* gripper(const char* contact) {
  static char text[2400];
  (void)snprintf(text, sizeof text,
                 "<sarrus version='1'>"
                 "<body name='upper'><joint name='a' type='revolute' axis='0.2 1 0.3' at='0.1 0.2 0.3'/>"
                 "<inertial mass='1' com='0.3 0 0' inertia='0.1 0.1 0.1'/></body>"
                 "<body name='lower' parent='upper'><joint name='b' type='revolute' axis='0.5 -0.3 0.8' "
                 "at='0.3 0 0.1' rpy='0.3 0.2 0.1'/><inertial mass='1' com='0.3 0 0' inertia='0.1 0.1 0.1'/></body>"
                 "<body name='left' parent='lower'><joint name='l' type='prismatic' axis='0 1 0' at='0.7 0 0' "
                 "stiffness='100' damping='10'/><inertial mass='0.1' inertia='1e-4 1e-4 1e-4'/><repeat count='4'>"
                 "<shape name='pad{i}' type='box' size='0.02 0.03 0.01' at='0 0.015 0.011*i'/></repeat></body>"
                 "<body name='right' parent='lower'><joint name='r' type='prismatic' axis='0 1 0' at='0.7 0 0' "
                 "rot='0 0 0 1' stiffness='100' damping='10'/><inertial mass='0.1' inertia='1e-4 1e-4 1e-4'/>"
                 "<repeat count='4'><shape name='pad{i}' type='box' size='0.02 0.03 0.01' at='0 0.015 0.011*i'/>"
                 "</repeat></body><coupling joint='l' to='r'/>%s</sarrus>",
                 contact);
  return text;
}

static Loaded run_text(const char* text, const char* method, double t_end) {
  Loaded x = open_text(text);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  options.t_end = t_end;
  options.rtol = 1e-8;
  options.atol = 1e-10;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, messages, &x.result), SR_OK);
  ENSURE(x.result.stats.steps < FEW_STEPS);
  sr_messages_destroy(messages);
  return x;
}

// It moves as without contacts: the pads are held by their springs, both by the same forces.
TEST(a_closed_gripper_moves_with_its_arm) {
  static const char* const methods[] = {"auto", "dopri5", "radau5"};
  static const char* const more[] = {"", "most='16'"};
  Loaded without = run_text(gripper(""), "dopri5", 1);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 2; k++) {
      char contact[160];
      (void)snprintf(contact, sizeof contact,
                     "<contact a='left' b='right' normal='kelvin-voigt' K='1e5' D='100' mu-k='0.5' %s/>", more[k]);
      Loaded x = run_text(gripper(contact), methods[i], 1);
      ENSURE_EQUAL(x.result.impacts, 0);
      ENSURE_NEAR(x.d->q[0], without.d->q[0], 1e-6);
      ENSURE_NEAR(x.d->q[1], without.d->q[1], 1e-6);
      close_model(&x);
    }
  }
  close_model(&without);
}

// Bricks side by side, on a floor and beside a wall: each sinks by m g/K, and none pushes another one away.
TEST(bricks_of_a_row_come_to_rest_side_by_side) {
  Loaded x = run_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane'/>"
      "<shape name='wall' type='box' size='0.1 1 1' at='-0.05 0 0.5'/></ground>"
      "<repeat count='5'><body name='b{i}'><joint name='b{i}' type='free' q='0.1+0.2*i 0 0.05 1 0 0 0'/>"
      "<inertial mass='1' inertia='0.01 0.01 0.01'/><shape name='s' type='box' size='0.2 0.1 0.1' "
      "group='bricks'/></body>"
      "</repeat><contact a='floor' b='bricks' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5'/>"
      "<contact a='wall' b='bricks' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5'/>"
      "<contact a='bricks' b='bricks' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5'/></sarrus>",
      "auto", 1);
  for (int i = 0; i < 5; i++) {
    ENSURE_NEAR(x.d->q[7 * i], 0.1 + 0.2 * i, 1e-9);
    ENSURE_NEAR(x.d->q[7 * i + 2], 0.05 - 9.81 / 1e5, 1e-9);
  }
  close_model(&x);
}
