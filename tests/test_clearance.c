// Joints with clearance as contact: a pin in a bore (journal in bearing), a ball in a socket.
#include <math.h>

#include "contact/element.h"
#include "surface_scene.h"

#define G 9.81

// ---- at rest, and in flight ---------------------------------------------------------------------------------------------

// shape: the bearing, with its axis along y; a planar motion of the pin.
#define PIN(bearing, more)                                                                                             \
  "<sarrus version='1'><ground><shape name='bearing' " bearing                                                         \
  "/></ground><body name='pin'>"                                                                                       \
  "<joint name='pin' type='planar' rpy='0.5*pi 0 0' " more                                                             \
  "/><inertial mass='2' inertia='0.01 0.01 0.01'/>"                                                                    \
  "<shape name='pin' type='sphere' size='0.02'/></body><contact a='bearing' b='pin' normal='kelvin-voigt' K='1e6' "    \
  "D='500' mu-k='0.3' bristle-K='1e6' bristle-B='100'/><run rtol='1e-8' atol='1e-10'/></sarrus>"
#define BORE "type='cylinder' size='-0.021 0.05' rpy='0.5*pi 0 0'"
#define SOCKET "type='sphere' size='-0.021'"

static double below(const Loaded* x) {
  srShapePair pair;
  ENSURE(sr_shape_pair(x->m, x->d, 0, 1, &pair));
  return -pair.gap;
}

// A pin of 2 kg sinks by m g/K below the clearance of 1 mm, and stays.
TEST(a_pin_hangs_in_its_bearing_by_the_clearance_and_its_weight_over_the_stiffness) {
  static const char* const bearings[] = {PIN(BORE, "q='0 -0.001-2*9.81e-6 0'"),
                                         PIN(SOCKET, "q='0 -0.001-2*9.81e-6 0'")};
  for (int i = 0; i < 2; i++) {
    Loaded x = open_text(bearings[i]);
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->a[k], 0, 1e-9);
    ENSURE_NEAR(below(&x), 2 * G / 1e6, 1e-15);
    close_model(&x);
  }
}

// Released in the middle it falls freely through the clearance: first contact at sqrt(2 c/g); then it comes to rest at the bottom.
TEST(a_pin_released_in_the_middle_of_its_bearing_falls_through_the_clearance) {
  static const char* const bearings[] = {PIN(BORE, ""), PIN(SOCKET, "")};
  for (int i = 0; i < 2; i++) {
    Loaded x = open_text(bearings[i]);
    run_scene(&x, 0.5);
    ENSURE(x.result.impacts >= 1);
    ENSURE_NEAR(x.result.event[0].t, sqrt(2 * 0.001 / G), 1e-9);
    ENSURE_NEAR(below(&x), 2 * G / 1e6, 1e-9);
    close_model(&x);
  }
}

// ---- pendulum -----------------------------------------------------------------------------------------------------------

// A pendulum, mass m at l with the moment of inertia J, on a pin of radius r in a bore with the clearance c, at rest at the bottom of the bore.
#define MASS 2.0
#define LENGTH 0.3
#define INERTIA 0.02
#define RADIUS 0.03
#define CLEARANCE 0.02

static Loaded open_pendulum(double angle, const char* friction, bool absolute) {
  char text[2000];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><ground><shape name='bearing' type='cylinder' size='-%g 0.1' rpy='0.5*pi 0 0'/></ground>"
      "<body name='pin'><joint name='pin' type='planar' rpy='0.5*pi 0 0' q='0 -%.17g %.17g'/>"
      "<inertial mass='%g' com='0 -%g 0' inertia='0.01 0.01 %g'/><shape name='pin' type='sphere' size='%g'/></body>"
      "<contact a='bearing' b='pin' normal='kelvin-voigt' K='1e7' D='3000' %s/><run rtol='1e-6' atol='1e-9'/>"
      "</sarrus>",
      RADIUS + CLEARANCE, CLEARANCE + MASS * G / 1e7, angle, MASS, LENGTH, INERTIA, RADIUS, friction);
  return absolute ? open_absolute(text) : open_text(text);
}

// Without friction it is a double pendulum whose first link, of length c, has no mass:
//   com = c (sin a, -cos a) + l (sin b, -cos b)
static void double_pendulum(const double* x, double* rate) {
  const double a = x[0], b = x[1], cc = MASS * CLEARANCE * CLEARANCE, cl = MASS * CLEARANCE * LENGTH * cos(a - b);
  const double ll = MASS * LENGTH * LENGTH + INERTIA, s = MASS * CLEARANCE * LENGTH * sin(a - b);
  const double f = -s * x[3] * x[3] - MASS * G * CLEARANCE * sin(a), h = s * x[2] * x[2] - MASS * G * LENGTH * sin(b);
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = (ll * f - cl * h) / (cc * ll - cl * cl);
  rate[3] = (cc * h - cl * f) / (cc * ll - cl * cl);
}

static void integrate(double t_end, double* x) {
  const int n = 20000;
  const double h = t_end / n, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int i = 0; i < n; i++) {
    double k[4] = {0}, sum[4] = {0};
    for (int r = 0; r < 4; r++) {
      double y[4];
      for (int j = 0; j < 4; j++) y[j] = x[j] + h * at[r] * k[j];
      double rate[4];
      double_pendulum(y, rate);
      for (int j = 0; j < 4; j++) sum[j] += weight[r] * (k[j] = rate[j]);
    }
    for (int j = 0; j < 4; j++) x[j] += h / 6 * sum[j];
  }
}

TEST(a_pendulum_slides_in_its_bearing_without_friction_like_a_double_pendulum) {
  double at[4] = {0, 0.2, 0, 0};
  integrate(0.6, at);
  for (int absolute = 0; absolute < 2; absolute++) {
    Loaded x = open_pendulum(0.2, "friction='none'", absolute);
    run_scene(&x, 0.6);
    ENSURE_NEAR(x.d->jq[0], CLEARANCE * sin(at[0]), 2e-5);  // 1.5e-5, proportional to 1/K
    ENSURE_NEAR(x.d->jq[1], -CLEARANCE * cos(at[0]), 1e-5);
    ENSURE_NEAR(x.d->jq[2], at[1], 1e-4);
    ENSURE_SMALL(energy_residual(&x), 1e-5);
    close_model(&x);
  }
}

// With friction the pin rolls: c a' = -r b', one degree of freedom, and small swings are about b0 with
//   w^2 = m g (l + r^2/c)/(m (l - r)^2 + J)        b0 = start r^2/c/(l + r^2/c)
TEST(a_pendulum_rolls_in_its_bearing_with_the_frequency_of_rolling) {
  const double start = 0.02, extra = RADIUS * RADIUS / CLEARANCE, middle = start * extra / (LENGTH + extra);
  const double w = sqrt(MASS * G * (LENGTH + extra) / (MASS * (LENGTH - RADIUS) * (LENGTH - RADIUS) + INERTIA));
  for (int absolute = 0; absolute < 2; absolute++) {
    Loaded x = open_pendulum(start, "mu-k='0.5' bristle-K='1e7' bristle-B='3000'", absolute);
    run_scene(&x, 2.5 * 3.14159265358979323846 / w);  // a period and a quarter
    ENSURE_NEAR(x.d->jq[2], middle, 0.02 * (start - middle));
    ENSURE_NEAR(x.d->jq[0], -CLEARANCE * sin(RADIUS / CLEARANCE * (x.d->jq[2] - start)), 1e-5);
    ENSURE_NEAR(x.d->jv[2], -w * (start - middle), 0.01 * w * start);
    close_model(&x);
  }
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

// Of force and rates of a sphere in a bore, by differences, in every direction of the motion.
TEST(derivatives_of_a_sphere_in_a_bore_are_those_of_its_force) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint type='free'/><inertial mass='1' inertia='1 1 1'/><shape name='s' "
      "type='cylinder' size='-0.5 1'/></body><body name='b'><joint type='free'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='s' type='sphere' size='0.2'/></body><contact a='a/s' b='b/s' normal='hunt-crossley' n='1.5' "
      "K='1e5' "
      "restitution='0.5' friction='dahl' mu-k='0.4' bristle-K='2e3' mu-roll='0.01' mu-spin='0.01'/></sarrus>");
  const srForceElement* e = &x.m->force[0];
  const int width = 12 + e->ny;
  double at[12 + 16] = {0.3,  -0.2, 0.4,  0.2,  -0.23, 0.7,  1,    -2,   0.5, 0.3,
                        -0.2, 0.4,  1e-5, 2e-5, -1e-5, 1e-4, 1e-4, 2e-4, 3e-4};
  const double z[2] = {1, 1};
  double J[(6 + 16) * (12 + 16)] = {0};
  const srImpedanceIn in = {.tau = 1e-4, .x = at, .xdot = at + 6, .y = at + 12, .z = z, .data = e->contact};
  ENSURE_EQUAL(e->ny, 7);
  ENSURE_EQUAL(e->jacobian(&in, J), 0);
  for (int j = 0; j < width; j++) {
    double f[2][22] = {{0}};
    const double kept = at[j], h = j < 6 ? 1e-6 : j < 12 ? 1e-5 : 1e-9;
    for (int side = 0; side < 2; side++) {
      at[j] = kept + (side ? h : -h);
      srImpedanceOut out = {.f = f[side], .ydot = f[side] + 6};
      ENSURE_EQUAL(e->law->evaluate(&in, &out), 0);
    }
    at[j] = kept;
    for (int r = 0; r < 6 + e->ny; r++) {
      const double difference = (f[1][r] - f[0][r]) / (2 * h);
      ENSURE_NEAR(J[r * width + j], difference, 1e-4 * fabs(difference) + 1e-3);
    }
  }
  ENSURE(fabs(J[3 * width + 3]) > 1e3);  // it touches
  close_model(&x);
}

TEST(what_does_not_fit_into_a_bore_is_reported) {
  ensure_refused(PIN("type='cylinder' size='-0.019 0.05'", ""), "holds spheres that are smaller");
  ensure_refused(
      "<sarrus version='1'><ground><shape name='bearing' type='cylinder' size='-0.1 0.05'/></ground>"
      "<body name='pin'><joint type='free'/><inertial mass='2' inertia='1 1 1'/><shape name='pin' "
      "type='cylinder' size='0.02 1'/></body><contact a='bearing' b='pin' normal='hooke' K='1e6' "
      "friction='none'/></sarrus>",
      "of a pin, one at each end");
  ensure_refused(
      "<sarrus version='1'><body name='b'><joint type='free'/><shape type='cylinder' size='-0.1 0.05' "
      "density='1000'/></body></sarrus>",
      "must be positive");
}
