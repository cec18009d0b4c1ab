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
// A table of four legs of which one is 0.5 um too long: four normals of rank 3, which contradict each other by that. It slides v^2/(2 mu g) and stands on all four.
TEST(a_table_with_a_leg_that_is_too_long_by_less_than_a_micrometre_slides_to_rest) {
  const double v = 0.5, mu = 0.3;
  char text[1600];
  for (int k = 0; k < 2; ++k) {
    const double longer = k == 0 ? 5e-7 : -5e-10;
    snprintf(text, sizeof text,
             "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
             "<body name='top'><joint name='top' type='free' q='0 0 0.5 1 0 0 0' v='0 0 0 %g 0 0'/>"
             "<inertial mass='4' inertia='0.3 0.3 0.5'/>"
             "<shape name='a' type='sphere' size='0.02' at='0.3 0.2 -0.48' group='feet'/>"
             "<shape name='b' type='sphere' size='0.02' at='-0.3 0.2 -0.48' group='feet'/>"
             "<shape name='c' type='sphere' size='0.02' at='-0.3 -0.2 -0.48' group='feet'/>"
             "<shape name='d' type='sphere' size='0.02' at='0.3 -0.2 -0.48-%g' group='feet'/></body>"
             "<contact a='floor' b='feet' mu-k='%g' restitution='0'" LAW "/></sarrus>",
             v, longer, mu);
    Loaded x = open_text(text);
    run_quiet(&x, "mdop5", 0.4, 1e-8);
    ENSURE_NEAR(x.d->q[0], v * v / (2 * mu * G), 3e-6);
    for (int i = 0; i < 6; ++i) ENSURE_SMALL(x.d->v[i], 1e-12);
    ENSURE_NEAR(x.d->q[2], 0.5, fabs(longer));
    close_model(&x);
  }
}

// A spinning ball that just fits between two walls falls between them: their forces cancel, and are 0, as are the accelerations along their normals, to rounding.
TEST(a_ball_that_just_fits_between_walls_falls_freely) {
  static const char* const methods[] = {"mdop5", "hem5", "radau5"};
  for (int k = 0; k < (int)SR_COUNT(methods); ++k) {
    Loaded x = open_text(
        "<sarrus version='1'><ground><shape name='floor' type='plane'/>"
        "<shape name='w1' type='plane' at='1 0 0' rpy='0 -pi/2 0'/><shape name='w2' type='plane' at='-1 0 0' rpy='0 "
        "pi/2 0'/>"
        "</ground><body name='b'><joint name='b' type='free' q='0 0 2 1 0 0 0' v='3 1 2 0 0 0'/>"
        "<inertial mass='1' inertia='0.4 0.4 0.4'/><shape name='s' type='sphere' size='1'/></body>"
        "<contact a='floor' b='s' mu-k='0.3' restitution='0.5'" LAW
        "/>"
        "<contact a='w1' b='s' mu-k='0.3' restitution='0.5'" LAW
        "/>"
        "<contact a='w2' b='s' mu-k='0.3' restitution='0.5'" LAW "/></sarrus>");
    run_quiet(&x, methods[k], 0.4, 1e-8);
    ENSURE_EQUAL(x.result.nevent, 0);
    ENSURE_NEAR(x.d->q[2], 2 - 0.5 * G * 0.16, 1e-7);
    ENSURE_SMALL(x.d->q[0], 1e-12);
    ENSURE_SMALL(x.d->q[1], 1e-7);
    ENSURE_NEAR(sqrt(x.d->v[0] * x.d->v[0] + x.d->v[1] * x.d->v[1] + x.d->v[2] * x.d->v[2]), sqrt(14), 1e-7);
    close_model(&x);
  }
}

// A box slides at 1 m/s and rolls at 1e-7 rad/s about the direction of its slip: its corners separate and approach by the slip times 1.5e-8. That is an error of directions, neither an impact nor an
// opening: it goes on flat on all corners. Without slip the same is an impact.
TEST(what_slides_fast_is_not_struck_by_the_errors_of_its_direction) {
  for (int k = 0; k < 2; ++k) {
    char text[900];
    snprintf(text, sizeof text,
             "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
             "<body name='b'><joint name='b' type='free' q='0 0 0.1 1 0 0 0' v='1e-7 0 0 %d 0 0'/>"
             "<inertial mass='2' inertia='0.02 0.03 0.04'/><shape name='s' type='box' size='0.4 0.3 0.2'/></body>"
             "<contact a='floor' b='s' mu-k='0.3' restitution='0'" LAW "/></sarrus>",
             k == 0);
    Loaded x = open_text(text);
    run_quiet(&x, "mdop5", 0.2, 1e-8);
    ENSURE((count_of(&x.result, "impact") > 0) == (k == 1));
    ENSURE_NEAR(x.d->q[2], 0.1, 1e-12);
    ENSURE_SMALL(x.d->v[0], 1e-12);
    if (k == 0) ENSURE_NEAR(x.d->q[0], 0.2 - 0.5 * 0.3 * G * 0.04, 1e-8);
    close_model(&x);
  }
}

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

// ---- what is pinched ------------------------------------------------------------------------------------------------------

// A ball between the floor and one that is a million times as heavy bounces faster and faster until there is no room left. At the end both rest on each other; nothing
// has been inside of the floor, wherever steps have gone before they were cut.
TEST(a_light_ball_pinched_by_a_heavy_one_does_not_pass_the_floor) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
      "<body name='a'><joint name='a' type='prismatic' axis='0 0 1' q='0.3'/><inertial mass='1'/>"
      "<shape name='a' type='sphere' size='0.1'/></body>"
      "<body name='b'><joint name='b' type='prismatic' axis='0 0 1' q='0.6'/><inertial mass='1e6'/>"
      "<shape name='b' type='sphere' size='0.1'/></body>"
      "<contact a='floor' b='a' restitution='0.5' friction='none' K='1e6'/>"
      "<contact a='a' b='b' restitution='0.5' friction='none' K='1e6'/></sarrus>");
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_EVENT;
  o.t_end = 1.5;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
  sr_messages_destroy(messages);
  ENSURE_NEAR(x.d->q[0], 0.1, 1e-8);
  ENSURE_NEAR(x.d->q[1], 0.3, 1e-8);
  ENSURE_SMALL(x.d->v[0], 1e-9);
  ENSURE_SMALL(x.d->v[1], 1e-9);
  ENSURE_SMALL(x.result.penetration, 1e-8);
  ENSURE_SMALL(x.result.energy.residual, 1e-7 * x.result.energy.scale);
  close_model(&x);
}

// A ball at rest touches a second one and is struck by a third one with 1 m/s; the outer two have the mass m. Newton's law of all contacts together leaves u1 = 0.7, u2 = 0:
// from the momentum, m va + vb + m vc = m with vb = vc = va + 0.7.
TEST(a_ball_between_two_that_are_far_heavier_or_lighter_is_struck_by_newtons_law) {
  static const double masses[] = {1e-9, 1e-4, 1, 1e4, 1e9};
  for (int i = 0; i < SR_COUNT(masses); ++i) {
    const double m = masses[i], va = (m - 0.7 * (1 + m)) / (1 + 2 * m), tolerance = m > 1e8 ? 1e-5 : 1e-9;
    char text[1200];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/>"
             "<body name='a'><joint name='a' type='prismatic' axis='1 0 0' v='1'/><inertial mass='%g'/>"
             "<shape name='a' type='sphere' size='0.1'/></body>"
             "<body name='b'><joint name='b' type='prismatic' axis='1 0 0' q='0.5'/><inertial mass='1'/>"
             "<shape name='b' type='sphere' size='0.1'/></body>"
             "<body name='c'><joint name='c' type='prismatic' axis='1 0 0' q='0.7'/><inertial mass='%g'/>"
             "<shape name='c' type='sphere' size='0.1'/></body>"
             "<contact a='a' b='b' restitution='0.7' friction='none' K='1e6'/>"
             "<contact a='b' b='c' restitution='0.7' friction='none' K='1e6'/></sarrus>",
             m, m);
    Loaded x = open_text(text);
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_EVENT;
    o.t_end = 0.4;
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
    sr_messages_destroy(messages);
    ENSURE_NEAR(x.d->v[0], va, tolerance);
    ENSURE_NEAR(x.d->v[1], va + 0.7, tolerance);
    ENSURE_NEAR(x.d->v[2], va + 0.7, tolerance);
    close_model(&x);
  }
}

// A driven piston pushes a box along the floor and against a wall, where no impulse stops it: x = 0.1 + t/2 until 1.7 s. Hybrid contact goes on from there, not from the state at the start of the step.
TEST(hybrid_contact_goes_on_from_the_event_that_cannot_be_solved) {
  Loaded x = open_text(
      "<sarrus version='1'><material name='m' restitution='0' mu-k='0.5'/><ground><shape name='floor' type='plane' "
      "group='all' material='m'/>"
      "<shape name='w' type='plane' at='1 0 0' rpy='0 -pi/2 0' group='all' material='m'/></ground>"
      "<body name='piston'><joint name='p' type='prismatic' axis='1 0 0'/><inertial mass='1'/>"
      "<shape name='s' type='box' size='0.1 0.1 0.1' at='0 0 0.06' group='all' material='m'/></body>"
      "<body name='a'><joint name='a' type='free' q='0.3 0 0.05 1 0 0 0'/><inertial mass='1' inertia='0.01 0.012 "
      "0.013'/>"
      "<shape name='s' type='box' size='0.1 0.1 0.1' group='all' material='m'/></body>"
      "<driver joint='p' motion='0.5*t'/>"
      "<contact a='all' b='all' most='60' K='1e6' n='1.5' friction='coulomb'/></sarrus>");
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_HYBRID;
  o.t_end = 1.75;
  o.step = 1e-3;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
  const srRunEvent* taken = NULL;
  for (int i = 0; i < x.result.nevent && taken == NULL; ++i) {
    if (strcmp(x.result.event[i].kind, "time-stepping") == 0) taken = &x.result.event[i];
  }
  ENSURE(taken != NULL);
  ENSURE_NEAR(taken->t, 1.7, 1e-6);
  ENSURE(strstr(taken->reason, "at t = 1.7 ") != NULL);
  ENSURE(x.d->q[1] > 0.9);
  ENSURE(x.result.unsolved > 0);  // and that is said, whichever side ends the run
  ENSURE(sr_messages_count(messages) > 0);
  sr_messages_destroy(messages);
  close_model(&x);
}

// A load that keeps its direction carries the weight of a ball that flies: it goes on straight and does not turn.
TEST(a_load_on_a_body_that_flies_does_not_turn_it) {
  const char* text =
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
      "<body name='a'><joint name='a' type='free' q='0 0 1 0.8 0 0.6 0' v='0 0 0 0 10 0'/><inertial mass='1' "
      "inertia='0.001 0.001 0.001'/>"
      "<shape name='s' type='sphere' size='0.05'/></body>"
      "<force body='a' f='0 0 9.81'/><contact a='floor' b='a/s' K='1e6' restitution='0' friction='none'/></sarrus>";
  static const double steps[] = {1e-2, 1e-3};
  for (int k = 0; k < 2; ++k) {
    Loaded x = open_text(text);
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_TIMESTEPPING;
    o.method = "moreau";
    o.t_end = 2;
    o.step = steps[k];
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
    ENSURE_EQUAL(sr_messages_count(messages), 0);
    ENSURE_NEAR(x.d->q[0], 0, 1e-9);
    ENSURE_NEAR(x.d->q[1], 20, 1e-9);
    ENSURE_NEAR(x.d->q[2], 1, 1e-9);
    for (int i = 0; i < 3; ++i) ENSURE_SMALL(x.d->v[i], 1e-9);
    ENSURE_SMALL(energy_residual(&x), 1e-9);
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

// A push jumps from 2 N to 10 N at 0.5 s: an event, from which on the block slips.
TEST(a_change_of_load_is_an_event_of_rigid_contact) {
  static const srContactMode modes[] = {SR_CONTACT_EVENT, SR_CONTACT_TIMESTEPPING};
  for (int k = 0; k < 2; ++k) {
    Loaded x = open_text(
        "<sarrus version='1'><material name='m' restitution='0' mu-k='0.5'/><ground><shape name='floor' type='plane' "
        "material='m'/></ground>"
        "<body name='a'><joint name='a' type='free' q='0 0 0.05 1 0 0 0'/><inertial mass='1' inertia='0.004 0.004 "
        "0.006'/>"
        "<shape name='s' type='box' size='0.2 0.2 0.1' material='m'/></body><contact a='floor' b='a/s' K='1e6' "
        "friction='coulomb'/>"
        "<force name='push' body='a' f='8*step(t - 0.5) + 2 0 0'/></sarrus>");
    srRunOptions o = sr_run_options(x.m);
    o.contact = modes[k];
    if (modes[k] == SR_CONTACT_TIMESTEPPING) o.method = "moreau";
    o.t_end = 1;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    ENSURE(x.result.nevent > 0);
    ENSURE_TEXT(x.result.event[0].kind, "load");
    ENSURE_TEXT(x.result.event[0].a, "push");
    ENSURE_NEAR(x.result.event[0].t, 0.5, 1e-12);
    ENSURE_NEAR(x.d->v[3], (10 - 0.5 * 9.81) * 0.5, 5e-3);
    close_model(&x);
  }
}
