// Rigid contact by events where shapes roll over their features, contacts replace each other, jam or overlap. Expected values are closed forms and conservation laws.
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "loading.h"

#define LAW " normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'"
#define G 9.81

static void run(Loaded* x, const char* method, double t_end, double rtol, srMessages* messages) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = SR_CONTACT_EVENT;
  o.method = method;
  o.t_end = t_end;
  o.rtol = rtol;
  o.atol = 1e-3 * rtol;
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  if (status != SR_OK) printf("  %s: %s\n", method, x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(x->result.unsolved, 0);
}

static void run_quiet(Loaded* x, const char* method, double t_end, double rtol) {
  srMessages* messages = sr_messages_create();
  run(x, method, t_end, rtol, messages);
  sr_messages_destroy(messages);
}

static int count_of(const srRunResult* r, const char* kind) {
  int n = 0;
  for (int i = 0; i < r->nevent; ++i) n += strcmp(r->event[i].kind, kind) == 0;
  return n;
}

// ---- features -----------------------------------------------------------------------------------------------------------

// Time from the top to the take-off of a point that slides without friction on a circle of radius rho from the speed v0 on, by Simpson's rule.
static double time_to_take_off(double rho, double v0) {
  const double end = acos(2.0 / 3 + v0 * v0 / (3 * G * rho));
  enum { PARTS = 2000 };
  double sum = 0;
  for (int i = 0; i <= PARTS; ++i) {
    const double weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
    sum += weight / sqrt(v0 * v0 + 2 * G * rho * (1 - cos(end * i / PARTS)));
  }
  return rho * sum * end / PARTS / 3;
}

// A capsule slides across another one that is fixed, without friction: along its wall, and over its end, where gap and normal are continuous. On the end it is a point on a
// circle, which leaves at cos(phi) = 2/3 + v0^2/(3 g rho).
TEST(a_contact_goes_on_from_the_wall_of_a_capsule_to_its_end) {
  static const char* const methods[] = {"dopri5", "hem5", "radau5"};
  const double r = 0.1, R = 0.3, l = 0.2, v0 = 0.4, leaves = l / v0 + time_to_take_off(r + R, v0);
  char text[900];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 -9.81'/>"
           "<ground><shape name='log' type='capsule' size='%.17g %.17g' rpy='0 pi/2 0'/></ground>"
           "<body name='b'><joint name='b' type='free' q='0 0 %.17g 1 0 0 0' v='0 0 0 %.17g 0 0'/>"
           "<inertial mass='2' inertia='0.01 0.01 0.01'/>"
           "<shape name='s' type='capsule' size='%.17g 0.3' rpy='pi/2 0 0'/></body>"
           "<contact a='log' b='s' restitution='0' mu-k='0'" LAW "/></sarrus>",
           R, 2 * l, R + r, v0, r);
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_text(text);
    run_quiet(&x, methods[i], leaves + 0.01, 1e-10);
    ENSURE_EQUAL(x.result.nevent, 1);
    ENSURE_EQUAL(count_of(&x.result, "take-off"), 1);
    ENSURE_NEAR(x.result.event[0].t, leaves, 1e-7);
    ENSURE_SMALL(x.result.energy.residual, 1e-8 * x.result.energy.scale);
    close_model(&x);
  }
}

// ---- equations ----------------------------------------------------------------------------------------------------------

// A box lands on four corners and stays, and a capsule lands beside it and slides: as many equations as before, but others.
TEST(contacts_that_take_the_places_of_others_are_enforced) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='3.820194 0 -9.035608'/><ground><shape name='floor' type='plane'/>"
      "<shape name='wall' type='plane' at='1.2 0 0' rpy='0 -pi/2 0'/></ground>"
      "<body name='box'><joint name='box' type='free' q='0 0 0.6221144028743291 -0.371319687807 0.471976966058 "
      "0.316129252617 -0.734453353589' v='2.097189 0.113653 -2.949655 0.784714 0.806707 -0.888657'/>"
      "<inertial mass='10' inertia='0.155390953049 0.274445793279 0.136439134591'/>"
      "<shape name='box' type='box' size='0.39153082240426773 0.10213019444290033 0.41956950203980814'/></body>"
      "<body name='can'><joint name='can' type='free' q='0 0 1.6859829280100116 0.924981374668 0.003061199020 "
      "0.364583187594 0.107140958101' v='-2.080592 -1.924213 1.512411 -2.284518 0.969904 -0.198911'/>"
      "<inertial mass='10' inertia='0.071823561203 0.071823561203 0.020047051401'/>"
      "<shape name='can' type='capsule' size='0.06331990429784784 0.2723234154507159'/></body>"
      "<contact a='floor' b='box' restitution='0' mu-k='0.5'" LAW
      "/>"
      "<contact a='floor' b='can' restitution='0' mu-k='0.5'" LAW
      "/>"
      "<contact a='wall' b='can' restitution='0' mu-k='0.5'" LAW
      "/>"
      "<contact a='box' b='can' restitution='0' mu-k='0.5'" LAW "/></sarrus>");
  run_quiet(&x, "dopri5", 1.5, 1e-6);
  ENSURE_SMALL(x.result.penetration, 1e-8);
  ENSURE_SMALL(x.result.energy.residual, 1e-6 * x.result.energy.scale);
  close_model(&x);
}

// ---- accumulations --------------------------------------------------------------------------------------------------------

// A ball rolls into the corner of a floor and a wall with mu = 1, where both contacts accumulate and friction jams: no energy appears.
TEST(accumulations_in_a_corner_that_jams_gain_no_energy) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='1.5 0 -9.7'/><ground><shape name='floor' type='plane'/>"
      "<shape name='wall' type='plane' at='1.2 0 0' rpy='0 -pi/2 0'/></ground>"
      "<body name='b'><joint name='b' type='free' q='0.5 0 0.453 1 0 0 0' v='1.373 -2.234 1.137 1.756 0.029 0'/>"
      "<inertial mass='10' inertia='0.16 0.16 0.16'/><shape name='s' type='sphere' size='0.2'/></body>"
      "<contact a='floor' b='s' restitution='0.5' mu-k='1'" LAW
      "/>"
      "<contact a='wall' b='s' restitution='0.5' mu-k='1'" LAW "/></sarrus>");
  run_quiet(&x, "dopri5", 3, 1e-8);
  ENSURE(count_of(&x.result, "accumulation") >= 2);
  const srEnergy* energy = &x.result.energy;
  ENSURE(energy->scale <= energy->kinetic0 + energy->potential0);  // none is ever larger
  ENSURE_SMALL(x.result.energy.residual, 1e-6 * x.result.energy.scale);
  ENSURE_NEAR(x.d->q[0], 1, 1e-9);
  ENSURE_NEAR(x.d->q[2], 0.2, 1e-9);
  close_model(&x);
}

// ---- start ----------------------------------------------------------------------------------------------------------------

TEST(the_balance_counts_from_the_state_at_the_start) {
  Loaded x = open_model("nonsmooth/woodpecker", "");
  run_quiet(&x, "dopri5", 0.1, 1e-9);
  ENSURE_SMALL(x.result.energy.residual, 1e-7 * x.result.energy.scale);
  close_model(&x);
}

TEST(an_overlap_at_the_start_is_reported) {
  for (int deep = 0; deep < 2; ++deep) {
    char text[600], line[400] = "";
    snprintf(text, sizeof text,
             "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
             "<body name='b'><joint name='z' type='prismatic' axis='0 0 1' q='%.17g'/><inertial mass='2'/>"
             "<shape name='s' type='sphere' size='0.1'/></body>"
             "<contact a='floor' b='s' restitution='0' mu-k='0'" LAW "/></sarrus>",
             deep ? 0.099 : 0.1);
    Loaded x = open_text(text);
    srMessages* messages = sr_messages_create();
    run(&x, "dopri5", 0.1, 1e-8, messages);
    ENSURE_EQUAL(sr_messages_count(messages), deep);
    if (deep) sr_message_format(sr_messages_get(messages, 0), line, sizeof line);
    ENSURE((strstr(line, "'ground/floor' and 'b/s' overlap by 0.001 at the start") != NULL) == deep);
    ENSURE_NEAR(x.d->q[0], 0.1, 1e-12);
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

// ---- drivers ----------------------------------------------------------------------------------------------------------------

// A table driven by A (1 - cos(w t)) throws a ball, which leaves at cos(w t) = -g/(A w^2) and lands where its parabola meets the table again: the impulse of the driver does work
// on both, and the energies balance.
TEST(the_balance_has_the_impulses_of_drivers) {
  const double A = 0.05, w = 20, t0 = acos(-G / (A * w * w)) / w;
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/>"
      "<body name='table'><joint name='table' type='prismatic' axis='0 0 1'/><inertial mass='1'/>"
      "<shape name='top' type='box' size='1 1 0.1' at='0 0 -0.05'/></body>"
      "<driver joint='table' motion='0.05*(1 - cos(20*t))'/>"
      "<body name='ball'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='1'/>"
      "<shape name='s' type='sphere' size='0.1'/></body>"
      "<contact a='top' b='s' restitution='0' mu-k='0'" LAW "/></sarrus>");
  run_quiet(&x, "dopri5", 1, 1e-10);
  double low = t0 + 0.1, high = t0 + 0.3;  // height of the parabola over the table, by bisection
  for (int i = 0; i < 60; ++i) {
    const double t = 0.5 * (low + high), s = t - t0;
    const double z = A * (1 - cos(w * t0)) + A * w * sin(w * t0) * s - 0.5 * G * s * s - A * (1 - cos(w * t));
    *(z > 0 ? &low : &high) = t;
  }
  ENSURE_EQUAL(count_of(&x.result, "take-off"), 3);
  ENSURE_NEAR(x.result.event[0].t, t0, 1e-9);
  ENSURE_NEAR(x.result.event[1].t, low, 1e-9);
  ENSURE_SMALL(x.result.energy.residual, 1e-7 * x.result.energy.scale);
  close_model(&x);
}
