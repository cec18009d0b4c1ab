// Shipped models of contact against values that do not come from this program: chains of Hertz springs integrated here, a rigid slider-crank, Klingel's wavelength, weights and periods.
#include <math.h>

#include "surface_scene.h"

#define G 9.81
static const double pi = 3.14159265358979323846;

// ---- Newton's cradle ----------------------------------------------------------------------------------------------------

// Equal masses in a row, in contact by d^1.5, the first one with the speed 1: their speeds when all are apart. Stiffness and mass only set the time.
static void hertz_chain(int n, double* v) {
  enum { MOST = 8 };
  const double h = 2e-3;
  double x[MOST] = {0};
  for (int i = 0; i < n; i++) v[i] = i == 0;
  for (int step = 0; step < 20000; step++) {  // velocity Verlet: two half kicks and a drift
    for (int half = 0; half < 2; half++) {
      for (int i = 0; i + 1 < n; i++) {
        const double d = fmax(0, x[i] - x[i + 1]), f = d * sqrt(d);
        v[i] -= 0.5 * h * f;
        v[i + 1] += 0.5 * h * f;
      }
      for (int i = 0; i < n && half == 0; i++) x[i] += h * v[i];
    }
  }
}

// Speeds after the first blow, over that of the first ball before it: m g l (1 - cos start) = (m l^2 + J) w^2/2, J = 2/5 m R^2.
static void ensure_speeds(const char* settings, int n, double t, const double* expected, double tolerance) {
  Loaded x = open_model("contact/newtons-cradle", settings);
  const double l = 0.3, R = 0.02, w = -sqrt(2 * G * l * (1 - cos(0.5)) / (l * l + 0.4 * R * R));
  run_scene(&x, t);
  for (int i = 0; i < n; i++) ENSURE_NEAR(x.d->v[i] / w, expected[i], tolerance);
  ENSURE_SMALL(energy_residual(&x), 1e-5);
  close_model(&x);
}

TEST(the_balls_of_a_cradle_with_gaps_pass_the_momentum_on_one_by_one) {
  const double last[] = {0, 0, 0, 0, 1};
  ensure_speeds("", 5, 0.288, last, 3e-3);  // gravity within the gaps
}

TEST(the_balls_of_a_cradle_that_touch_leave_as_a_chain_of_hertz_springs_does) {
  double three[3], five[5];
  hertz_chain(3, three);
  hertz_chain(5, five);
  ENSURE_NEAR(three[0], -0.071, 5e-4);  // as stated in the file
  ENSURE_NEAR(three[2], 0.995, 5e-4);
  ensure_speeds("n=3 gap=0", 3, 0.2815, three, 3e-3);
  ensure_speeds("n=5 gap=0", 5, 0.2815, five, 3e-3);
}

// ---- tower of boxes -----------------------------------------------------------------------------------------------------

TEST(a_tower_of_boxes_stands_below_the_overhang_of_statics_and_falls_above_it) {
  Loaded x = open_model("contact/tower-of-boxes", "n=3 lean=0");
  const double sag = 1 * G / 1e5;  // m g/K
  run_scene(&x, 0.8);
  ENSURE_NEAR(x.d->q[2], 0.05 - 3 * sag, 1e-9);
  ENSURE_NEAR(x.d->q[9], 0.15 - 5 * sag, 1e-6);  // two boxes: the patch changes with the depth, by some 0.2 % here
  ENSURE_NEAR(x.d->q[16], 0.25 - 6 * sag, 1e-6);
  close_model(&x);
  x = open_model("contact/tower-of-boxes", "n=3 lean=0.3");
  run_scene(&x, 0.4);
  ENSURE_NEAR(x.d->q[16], 0.25 - 6 * sag, 5e-4);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
  x = open_model("contact/tower-of-boxes", "n=3 lean=1.2");
  run_scene(&x, 0.4);
  ENSURE(x.d->q[16] < 0.2);
  close_model(&x);
}

// ---- slider-crank with clearance ----------------------------------------------------------------------------------------

// Equations of motion before the first contact (Flores, Leine and Glocker 2010): angles of crank and rod from the x axis.
static void free_motion(const double* x, double* rate) {
  const double l1 = 0.153, l2 = 0.306, m1 = 0.038, m2 = 0.038, m3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4;
  const double M11 = J1 + (m1 / 4 + m2 + m3) * l1 * l1, M12 = (m2 / 2 + m3) * l1 * l2 * cos(x[1] - x[0]);
  const double M22 = J2 + (m2 / 4 + m3) * l2 * l2, s = (m2 / 2 + m3) * l1 * l2 * sin(x[0] - x[1]);
  const double h1 = s * x[3] * x[3] + (m1 / 2 + m2 + m3) * G * l1 * cos(x[0]);
  const double h2 = -s * x[2] * x[2] + (m2 / 2 + m3) * G * l2 * cos(x[1]);
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = -(M22 * h1 - M12 * h2) / (M11 * M22 - M12 * M12);
  rate[3] = -(M11 * h2 - M12 * h1) / (M11 * M22 - M12 * M12);
}

// When the slider has moved up by its clearance of 1 mm.
static double first_contact(void) {
  double x[4] = {0, 0, 150, -75}, t = 0, before = 0;
  const double h = 1e-6, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (;; t += h) {
    const double height = 0.153 * sin(x[0]) + 0.306 * sin(x[1]);
    if (height > 1e-3) return t - h * (height - 1e-3) / (height - before);
    before = height;
    double k[4] = {0}, sum[4] = {0};
    for (int r = 0; r < 4; r++) {
      double y[4], rate[4];
      for (int j = 0; j < 4; j++) y[j] = x[j] + h * at[r] * k[j];
      free_motion(y, rate);
      for (int j = 0; j < 4; j++) sum[j] += weight[r] * (k[j] = rate[j]);
    }
    for (int j = 0; j < 4; j++) x[j] += h / 6 * sum[j];
  }
}

// 18.176877 rad: rigid contact with Newton's impact law, without friction, by an event-driven method elsewhere.
TEST(a_slider_with_clearance_strikes_its_guide_when_it_should_and_ends_as_a_rigid_one_does) {
  Loaded x = open_model("contact/slider-crank-clearance", "mu=0");
  run_scene(&x, 0.2);
  ENSURE_NEAR(x.result.event[0].t, first_contact(), 1e-8);
  ENSURE(x.result.impacts > 50);
  ENSURE_NEAR(x.d->q[0], 18.176877, 1e-3);
  ENSURE_SMALL(energy_residual(&x), 1e-5);
  close_model(&x);
}

// ---- wheel on rail ------------------------------------------------------------------------------------------------------

// Half a wavelength is between two passages of the middle. Klingel's formula is that of small conicities: the deviation is proportional to it.
static double klingel_deviation(const char* settings, double gamma, double t_end) {
  Loaded x = open_model("contact/wheel-on-rail", settings);
  double at[2] = {0};
  int n = 0;
  run_scene(&x, t_end);
  for (int i = 0; i < x.result.nevent && n < 2; i++) {
    if (strcmp(x.result.event[i].kind, "event") == 0) at[n++] = x.result.event[i].t;
  }
  ENSURE_EQUAL(n, 2);
  ENSURE_NEAR(x.d->q[0], 0.5 * t_end, 1e-3 * t_end);
  close_model(&x);
  return 2 * 0.5 * (at[1] - at[0]) / (2 * pi * sqrt(0.05 * 0.08 / gamma)) - 1;
}

TEST(a_wheelset_hunts_with_the_wavelength_of_klingel) {
  const double steep = klingel_deviation("", 0.1, 2), flat = klingel_deviation("gamma=0.05", 0.05, 2.8);
  ENSURE_NEAR(steep, 0, 0.015);
  ENSURE_NEAR(flat, 0.5 * steep, 0.002);
}

// ---- crane --------------------------------------------------------------------------------------------------------------

// The rope holds the weight; lowered, the load touches the ground when the rope is let out by its height, and comes to rest there, the rope slack.
TEST(the_load_of_a_crane_swings_touches_the_ground_and_rests) {
  Loaded x = open_model("contact/crane", "");
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  for (int k = 0; k < 7; k++) ENSURE_NEAR(x.d->a[k], 0, 1e-9);
  run_scene(&x, 12);
  ENSURE_EQUAL(x.result.impacts, 1);
  // 1.4 m down with 0.5 m/s from 6 s on, the rope a little longer by its weight and shorter by its slant
  ENSURE_NEAR(x.result.event[0].t, 6 + 1.4 / 0.5, 0.1);
  ENSURE_NEAR(x.d->jq[3], 0.3 - 200 * G / 1e6, 1e-6);
  ENSURE(fabs(x.d->jq[1] - 2) < 0.3 && x.result.energy.kinetic < 1e-6);
  close_model(&x);
}
