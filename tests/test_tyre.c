// A wheel with a tyre (relaxation-length): slip stiffness, relaxation and the limit of friction against closed forms.
#include <math.h>

#include "surface_scene.h"

#define G 9.81
#define K 2e4       // N/m of the bristles
#define SIGMA 0.25  // m
#define MASS 50.0
#define RADIUS 0.3

// A wheel with its carriage, with the speed V along x and free along y and z, rolls on a plane or on a box; its axis is y. gravity: along y. more: of the
// body of the wheel; law: of the contact.
static Loaded open_wheel(const char* ground, double side, double V, double spin, const char* v, const char* more,
                         const char* law) {
  char text[3000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 %.17g -9.81'/><ground><shape name='road' %s/></ground>"
           "<body name='x'><joint name='x' type='prismatic' axis='1 0 0' v='%g'/></body>"
           "<body name='y' parent='x'><joint name='y' type='prismatic' axis='0 1 0' v='%s'/></body>"
           "<body name='z' parent='y'><joint name='z' type='prismatic' axis='0 0 1' q='%.17g'/>"
           "<inertial mass='%g'/></body>"
           "<body name='wheel' parent='z'><joint name='spin' type='revolute' axis='0 1 0' v='%.17g'/>"
           "<inertial mass='1e-9' inertia='0.1 0.1 0.1'/><shape type='sphere' size='%g'/></body>%s"
           "<contact a='road' b='wheel' normal='kelvin-voigt' K='1e9' D='1e5' bristle-K='2e4' relaxation-length='0.25' "
           "%s/><run method='radau5' rtol='1e-9' atol='1e-12'/></sarrus>",
           side, ground, V, v, RADIUS - MASS * G / 1e9, MASS, spin, RADIUS, more, law);
  return open_text(text);
}

#define PLANE "type='plane'"
#define BOX "type='box' size='40 40 1' at='0 0 -0.5'"
#define DRIVEN "<driver joint='x' motion='5*t'/>"

// m v' = -K e,  e' = v - V/sigma e  with v(0) = 0.02, e(0) = 0: a damped oscillation. On a plane the wheel is the second shape, on a box the first one.
TEST(the_side_slip_of_a_tyre_is_a_spring_and_a_relaxation_length_in_series) {
  const double V = 5, v0 = 0.02, c = 0.5 * V / SIGMA, w = sqrt(K / MASS - c * c), t = 0.2;
  const double e = v0 / w * exp(-c * t) * sin(w * t), edot = v0 * exp(-c * t) * (cos(w * t) - c / w * sin(w * t));
  static const char* const road[] = {PLANE, BOX};
  for (int i = 0; i < 2; i++) {
    Loaded x = open_wheel(road[i], 0, V, V / RADIUS, "0.02", DRIVEN, "mu-k='1' tau='1e-7'");
    run_scene(&x, t);
    ENSURE_NEAR(x.d->v[1], edot + V / SIGMA * e, 2e-6);
    ENSURE_SMALL(energy_residual(&x), 1e-7);
    close_model(&x);
  }
}

// Force over slip is K sigma: across a road with the inclination g_y/g the wheel, whose surface has the speed V, drifts with g_y m V/(K sigma); pulled by a torque T about its axis it slips
// by T/R V/(K sigma).
TEST(a_tyre_slips_in_proportion_to_its_force) {
  const double side = 0.3;
  Loaded x = open_wheel(PLANE, side, 5, 5 / RADIUS, "0", DRIVEN "<force body='wheel' m='0 6 0'/>", "mu-k='1'");
  run_scene(&x, 1.5);
  const double V = x.d->v[3] * RADIUS;  // of the surface of the wheel
  ENSURE_NEAR(x.d->v[1], side * MASS * V / (K * SIGMA), 3e-7);
  ENSURE_NEAR(V - 5, 6 / RADIUS * V / (K * SIGMA), 2e-5);
  close_model(&x);
}

// A wheel that does not turn slides with mu g: K sigma = 5000 N is ten times the limit.
TEST(a_locked_wheel_brakes_with_the_limit_of_friction) {
  Loaded x = open_wheel(PLANE, 0, 5, 0, "0", "<driver joint='spin' motion='0'/>", "mu-k='0.6'");
  run_scene(&x, 0.3);
  ENSURE_NEAR(x.d->v[0], 5 - 0.6 * G * 0.3, 0.02);  // the bristles bend by mu m g/K = 15 mm first
  const double v = x.d->v[0];
  run_scene(&x, 0.5);
  ENSURE_NEAR(x.d->v[0], v - 0.6 * G * 0.2, 1e-6);
  close_model(&x);
}

// At rest it holds as bristles do.
TEST(a_tyre_at_rest_does_not_creep) {
  Loaded x = open_wheel(PLANE, 1, 0, 0, "0", "<driver joint='x' motion='0'/>", "mu-k='1' bristle-B='800'");
  run_scene(&x, 3);
  const double y = x.d->q[1];
  ENSURE_NEAR(y, MASS * 1 / K, 1e-6);
  run_scene(&x, 103);
  ENSURE_NEAR(x.d->q[1], y, 1e-9);
  close_model(&x);
}

TEST(a_tyre_needs_a_wheel_a_length_and_a_bristle) {
#define ON(ground, shape, law)                                                                                         \
  "<sarrus version='1'><ground><shape name='g' " ground                                                                \
  "/></ground><body name='b'><joint name='b' type='free'/>"                                                            \
  "<inertial mass='1' inertia='1 1 1'/><shape " shape                                                                  \
  "/></body>"                                                                                                          \
  "<contact a='g' b='b' normal='hooke' K='1e4' mu-k='0.5' " law "/></sarrus>"
  ensure_refused(ON(PLANE, "type='sphere' size='0.1'", "relaxation-length='0'"), "above 0");
  ensure_refused(ON(PLANE, "type='box' size='1 1 1'", "relaxation-length='0.1'"), "is for a wheel");
  ensure_refused(ON("type='sphere' size='1'", "type='sphere' size='0.1'", "relaxation-length='0.1'"), "is for a wheel");
  ensure_refused(ON(PLANE, "type='sphere' size='0.1'", "relaxation-length='0.1' friction='iwan'"), "one bristle");
  ensure_refused(ON(PLANE, "type='sphere' size='0.1'", "relaxation-length='0.1' friction='threlfall'"), "one bristle");
}
