// Steady motions: closed forms of pendulums, tops, discs, governors, satellites, motors; the bicycle that corners against its published linear equations; stability; refusals.
#include <complex.h>
#include <stdlib.h>

#include "balanced.h"

static const double g = 9.81;

typedef struct Modes {
  srLinear* l;
  srModes* m;
} Modes;

static Modes modes_of(const Balanced* x) {
  srMessages* messages = sr_messages_create();
  Modes f = {0};
  srStatus status = sr_linearize(x->m, x->d, messages, &f.l);
  if (status == SR_OK) status = sr_modes_create(f.l, messages, &f.m);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return f;
}

static void drop(Modes* f) {
  sr_modes_destroy(f->m);
  sr_linear_destroy(f->l);
}

// Distance of the nearest eigenvalue.
static double away(const Modes* f, double complex lambda) {
  double best = (double)INFINITY;
  for (int i = 0; i < f->m->n; i++)
    best = fmin(best, cabs(f->m->mode[i].re + f->m->mode[i].im * (double complex)I - lambda));
  return best;
}

// In absolute coordinates no joint accelerates there either.
static void check_absolute(const Balanced* x) {
  srMessages* messages = sr_messages_create();
  srModel* m;
  srData* d;
  double a[64] = {0};
  ENSURE_EQUAL(sr_formulate(x->spec, x->m, x->d, SR_FORMULATION_ABSOLUTE, messages, &m, &d), SR_OK);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  ENSURE(m->njv <= 64);
  sr_joint_accelerations(m, d, a);
  for (int i = 0; i < m->njv; i++) ENSURE_SMALL(a[i], 1e-8);  // of the gravity, or of Omega^2
  sr_data_destroy(d);
  sr_model_destroy(m);
  sr_messages_destroy(messages);
}

static void found(Balanced* x, srEquilibriumOptions options) {
  balanced_find(x, options);
  if (x->status != SR_OK) printf("%s", x->said);
  ENSURE_EQUAL(x->status, SR_OK);
}

// ---- pendulums -------------------------------------------------------------------------------------------------------------

// Below the critical speed theta = 0 is the only one, and stable; above it is unstable, and cos(theta) = g/(Omega^2 l) is stable. Eigenvalues as in the model's head.
TEST(steady_rotating_pendulum_exchanges_stability_at_the_critical_speed) {
  const double l = 0.5, D = 0.05 / 0.25, critical = sqrt(g / l);
  for (int i = -3; i <= 3; i++) {
    if (i == 0) continue;
    const double Omega = critical * (1 + 0.02 * i);
    char settings[80];
    snprintf(settings, sizeof settings, "Omega=%.17g start=1e-3", Omega);
    Balanced x = balanced_open("rotating-pendulum", settings);
    found(&x, (srEquilibriumOptions){.steady = true});
    ENSURE_SMALL(x.d->q[1], 1e-12);
    ENSURE_NEAR(x.d->v[0], Omega, 0);
    ENSURE_TEXT(balanced_stability(&x), i < 0 ? "stable" : "unstable");
    Modes f = modes_of(&x);
    const double complex root = csqrt(D * D / 4 - g / l + Omega * Omega);
    ENSURE_EQUAL(f.m->n, 2);
    ENSURE_SMALL(away(&f, -D / 2 + root), 1e-9);
    ENSURE_SMALL(away(&f, -D / 2 - root), 1e-9);
    drop(&f);
    if (i > 0) {
      const double theta = acos(g / (Omega * Omega * l));
      x.d->q[1] = theta + 0.02;
      x.d->v[0] = 0;  // the driver gives it
      found(&x, (srEquilibriumOptions){.steady = true});
      ENSURE_NEAR(x.d->q[1], theta, 1e-11);
      ENSURE_TEXT(balanced_stability(&x), "stable");
      f = modes_of(&x);
      ENSURE_SMALL(away(&f, -D / 2 + csqrt(D * D / 4 - pow(Omega * sin(theta), 2))), 1e-9);
      drop(&f);
      ENSURE_NEAR(x.d->lambda[x.m->row_driver], 0, 1e-12);
      ENSURE(x.e->nnonsensitive == 1 && strcmp(x.e->nonsensitive_name[0], "shaft") == 0);
      check_absolute(&x);
    }
    balanced_close(&x);
  }
}

#define CONICAL                                                                                                        \
  "<sarrus version='1'><parameter name='T' value='0'/><parameter name='d' value='0'/><parameter name='l' "             \
  "value='0.5'/>"                                                                                                      \
  "<option gravity='0 0 -9.81'/><body name='shaft'><joint name='shaft' type='revolute' axis='0 0 1' damping='d'/>"     \
  "<inertial mass='1' inertia='0.1 0.1 0.1'/></body><body name='rod' parent='shaft'><joint name='rod' "                \
  "type='revolute' "                                                                                                   \
  "axis='0 -1 0' q='0.9'/><inertial mass='2' com='0 0 -l'/></body><torque joint='shaft' law='T'/></sarrus>"

// The shaft turns freely: with the torque held constant its angular momentum is, and the pendulum swings in V = L^2/(2 f) - m g l cos, f = I + m l^2 sin^2.
TEST(steady_conical_pendulum_with_a_given_speed) {
  const double Omega = 6, l = 0.5, mass = 2, shaft = 0.1, c = g / (Omega * Omega * l), s = sqrt(1 - c * c);
  Balanced x = balanced_open(CONICAL, "");
  found(&x, (srEquilibriumOptions){SPEED({"shaft", "6"})});
  ENSURE_NEAR(x.d->q[1], acos(c), 1e-11);
  ENSURE(x.d->v[0] == Omega && x.d->v[1] == 0);
  Modes f = modes_of(&x);
  const double J = shaft + mass * l * l * s * s, J1 = 2 * mass * l * l * s * c, J2 = 2 * mass * l * l * (c * c - s * s),
               L = J * Omega, V2 = L * L * (J1 * J1 / (J * J * J) - J2 / (2 * J * J)) + mass * g * l * c;
  ENSURE_SMALL(away(&f, sqrt(V2 / (mass * l * l)) * (double complex)I), 1e-8);
  ENSURE_EQUAL(f.m->zeros, 2);
  ENSURE_TEXT(balanced_stability(&x), "marginal");
  drop(&f);
  check_absolute(&x);
  balanced_close(&x);
}

// The force for a speed, the speed for a force, and a length for speed and angle.
TEST(steady_speed_torque_and_length_are_found_for_each_other) {
  const double d = 0.2, T = 1.5;
  Balanced x = balanced_open(CONICAL, "d=0.2");
  found(&x, (srEquilibriumOptions){SPEED({"shaft", "6"}), EXCHANGE({"shaft", "T"})});
  ENSURE_NEAR(x.e->exchanged_value[0], 6 * d, 1e-12);
  ENSURE_NEAR(x.d->q[1], acos(g / (36 * 0.5)), 1e-11);
  balanced_close(&x);
  x = balanced_open(CONICAL, "d=0.2 T=1.5");
  found(&x, (srEquilibriumOptions){EXCHANGE({"shaft", "v(shaft)"})});
  ENSURE_TEXT(x.e->exchanged[0], "v(shaft)");
  ENSURE_NEAR(x.e->exchanged_value[0], T / d, 1e-11);
  ENSURE_NEAR(x.d->v[0], T / d, 1e-11);
  ENSURE_NEAR(x.d->q[1], acos(g / (T * T / (d * d) * 0.5)), 1e-11);
  balanced_close(&x);
  x = balanced_open(CONICAL, "");
  found(&x, (srEquilibriumOptions){SPEED({"shaft", "6"}), EXCHANGE({"rod", "l"})});
  ENSURE_NEAR(x.e->exchanged_value[0], g / (36 * cos(0.9)), 1e-12);
  ENSURE(x.d->q[1] == 0.9);
  balanced_close(&x);
  x = balanced_open(CONICAL, "");  // by an equation for the radius, and the speed as its unknown
  x.d->v[0] = 5;
  found(&x, (srEquilibriumOptions){EQUATION("l*sin(q(rod)) = 0.3", "v(shaft)")});
  ENSURE_NEAR(x.d->q[1], asin(0.6), 1e-11);
  ENSURE_NEAR(x.e->exchanged_value[0], sqrt(g / (0.5 * 0.8)), 1e-10);
  balanced_close(&x);
}

TEST(steady_motor_reaches_the_speed_of_its_voltage) {
  const double u = 24, R = 1.2, kt = 0.08, d = 1e-4;
  Balanced x = balanced_open("dc-motor", "");
  found(&x, (srEquilibriumOptions){.steady = true});
  ENSURE_NEAR(x.d->v[0], kt * u / (d * R + kt * kt), 1e-9);
  ENSURE_NEAR(x.d->y[0], d * x.d->v[0] / kt, 1e-12);
  found(&x, (srEquilibriumOptions){SPEED({"shaft", "200"}), EXCHANGE({"shaft", "u"})});
  ENSURE_NEAR(x.e->exchanged_value[0], (d * R + kt * kt) * 200 / kt, 1e-10);
  balanced_close(&x);
}

TEST(steady_pendulum_that_stands_has_an_unstable_pair) {
  Balanced x = balanced_open(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><body name='rod'><joint name='rod' type='revolute' axis='0 1 "
      "0' "
      "q='3'/><inertial mass='2' com='0 0 -0.4'/></body></sarrus>",
      "");
  found(&x, (srEquilibriumOptions){0});
  ENSURE_NEAR(x.d->q[0], 3.14159265358979323846, 1e-12);
  Modes f = modes_of(&x);
  ENSURE_SMALL(away(&f, sqrt(g / 0.4)), 1e-10);
  ENSURE_SMALL(away(&f, -sqrt(g / 0.4)), 1e-10);
  ENSURE_TEXT(balanced_stability(&x), "unstable");
  drop(&f);
  balanced_close(&x);
}

// ---- tops and discs -----------------------------------------------------------------------------------------------------------

// A Omega^2 cos(theta) - C s Omega + m g l = 0, s = spin + Omega cos(theta): the angle for given speeds, and the spin for a given angle.
TEST(steady_top_precesses) {
  const char* text =
      "<sarrus version='1'><option gravity='0 0 -9.81'/>"
      "<body name='a'><joint name='precession' type='revolute' axis='0 0 1'/></body>"
      "<body name='b' parent='a'><joint name='nutation' type='revolute' axis='0 1 0' q='0.6'/></body>"
      "<body name='top' parent='b'><joint name='spin' type='revolute' axis='0 0 1' v='170'/><inertial mass='0.5' "
      "com='0 0 0.1' inertia='4e-4 4e-4 6e-4'/></body></sarrus>";
  const double A = 4e-4 + 0.5 * 0.01, C = 6e-4, mgl = 0.5 * g * 0.1, Omega = 5;
  Balanced x = balanced_open(text, "");
  const double spin = (A * Omega * Omega * cos(0.5) + mgl) / (C * Omega) - Omega * cos(0.5);
  char number[40];
  snprintf(number, sizeof number, "%.17g", spin);
  found(&x, (srEquilibriumOptions){SPEED({"precession", "5"}, {"spin", number})});
  ENSURE_NEAR(x.d->q[1], 0.5, 1e-10);
  ENSURE_EQUAL(x.e->nnonsensitive, 2);
  ENSURE_TEXT(balanced_stability(&x), "marginal");
  x.d->q[1] = 0.7;
  found(&x, (srEquilibriumOptions){SPEED({"precession", "5"}), EXCHANGE({"nutation", "v(spin)"})});
  ENSURE_NEAR(x.e->exchanged_value[0], (A * Omega * Omega * cos(0.7) + mgl) / (C * Omega) - Omega * cos(0.7), 1e-9);
  balanced_close(&x);
}

// Upright: it sleeps where C^2 s^2 > 4 A m g l.
TEST(steady_top_sleeps_where_its_spin_is_fast) {
  const double A = 4e-4 + 0.5 * 0.01, C = 6e-4, critical = sqrt(4 * A * 0.5 * g * 0.1) / C;
  for (int i = -1; i <= 1; i += 2) {
    char speed[40];
    snprintf(speed, sizeof speed, "%.17g", critical * (1 + 0.01 * i));
    Balanced x = balanced_open("top", "theta=0 Omega=5");
    found(&x, (srEquilibriumOptions){SPEED({"top.wz", speed})});
    ENSURE_NEAR(x.d->q[0], 1, 1e-14);
    ENSURE_TEXT(balanced_stability(&x), i < 0 ? "unstable" : "marginal");
    balanced_close(&x);
  }
}

// A disc that rolls on a circle, with a hinge for its spin in a frame that does not (a ball in its centre, whose inertia has no moment): given spin, lean and precession satisfy the closed form of models/mechanisms/rolling-disc.xml, for three leans.
TEST(steady_disc_rolls_on_a_circle) {
  const double r = 0.3, mass = 2.5, A = 2 * r * r / 4, C = 2 * r * r / 2, Omega = 2;
  for (int i = 0; i < 3; i++) {
    const double lean = 0.8 + 0.3 * i,
                 s = (A * Omega * Omega * sin(lean) * cos(lean) - mass * g * r * cos(lean)) /
                     ((C + mass * r * r) * Omega * sin(lean)),
                 begin = lean + 0.03;
    char text[1400], wy[40], spin[40];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><point name='plane'/></ground>"
             "<body name='frame'><joint name='frame' type='free' q='0 0 %.17g %.17g %.17g 0 0' v='0 %.17g %.17g %.17g "
             "0 0'/><inertial mass='0.5' inertia='0.01 0.01 0.01'/></body>"
             "<body name='disc' parent='frame'><joint name='spin' type='revolute' axis='0 0 1' v='%.17g'/><inertial "
             "mass='2' "
             "inertia='%.17g %.17g %.17g'/></body><closure name='contact' type='roll' shape='disc' a='disc' "
             "b='ground/plane' axis='0 0 1' radius='0.3'/></sarrus>",
             r * sin(begin), cos(begin / 2), sin(begin / 2), Omega * sin(begin), Omega * cos(begin), -r * s,
             s - Omega * cos(begin), A, A, C);
    snprintf(wy, sizeof wy, "%.17g", Omega * sin(lean));
    snprintf(spin, sizeof spin, "%.17g", s - Omega * cos(lean));
    Balanced x = balanced_open(text, "");
    found(&x, (srEquilibriumOptions){SPEED({"frame.wy", wy}, {"spin", spin})});
    ENSURE_NEAR(x.d->q[2], r * sin(lean), 1e-10);
    ENSURE_NEAR(x.d->v[2], Omega * cos(lean), 1e-9);
    ENSURE_NEAR(x.d->v[3], -r * s, 1e-9);
    check_absolute(&x);
    (void)balanced_stability(&x);  // the linear equations are constant
    balanced_close(&x);
  }
}

// ---- machines -------------------------------------------------------------------------------------------------------------------

// Derivatives of V - Omega^2 J/2 by the angle a of the rods and the height z of the slider vanish; J, V as written by hand.
TEST(steady_governor_balances_weight_springs_and_centrifugal_force) {
  const double w = 0.01, e = 0.1, ball = 5, k = 8e5, z0 = 0.5, rod = 3000 * w * w, slider = 3000 * e * e * e;
  static const double speed[] = {5, 6, 9};
  for (int i = 0; i < 3; i++) {
    char number[20];
    snprintf(number, sizeof number, "%g", speed[i]);
    Balanced x = balanced_open("benchmark/flyball-governor", "");
    found(&x, (srEquilibriumOptions){SPEED({"spin", number})});
    const double z = x.d->q[1], a = x.d->q[2], c = cos(a), s = sin(a), W2 = speed[i] * speed[i];
    ENSURE_NEAR(x.d->q[3], a, 1e-9);
    // Middle of a rod: (e/2 + c/2, 1 - s/2) seen from the slider's side at (e/2, z); length of the spring.
    const double h = 1 - s / 2 - z, length = hypot(c / 2, h), F = k * (length - z0) / length;
    const double by_z = slider * g - 2 * F * h;
    const double J1 = 2 * (rod * 2 * (e / 2 + c / 2) * (-s / 2) +
                           rod * (2 * w * w / 12 - (1 + w * w) / 12) * 2 * s * c + ball * 2 * (e / 2 + c) * (-s));
    const double by_a = 2 * (-rod * g * c / 2 - ball * g * c) + 2 * F * (-c * s / 4 - h * c / 2) - W2 * J1 / 2;
    ENSURE_SMALL(by_z, 1e-6);  // N of 1000; the springs make 1e-9 of a length that
    ENSURE_SMALL(by_a, 1e-6);
    balanced_close(&x);
  }
}

// Nutation of stiff panels, with the inertias of all; modes of the panels of a satellite at rest.
TEST(steady_satellite_nutates_and_its_panels_swing) {
  const double p = 12, r = 1.5, at = 0.8, Jp = p * 9 / 12, Jw = p * 1.5 * 1.5 / 12, Omega = 0.1, h = 0.1 * 200;
  const double A = 120 + 0.06 + 2 * (Jp + p * pow(at + r, 2)), B = 150 + 0.06 + 2 * Jw,
               C = 180 + 0.1 + 2 * (Jp + Jw + p * pow(at + r, 2));
  Balanced x = balanced_open("satellite", "k=1e9");
  found(&x, (srEquilibriumOptions){.steady = true});
  ENSURE(x.d->v[2] == Omega && x.d->v[6] == 200);
  Modes f = modes_of(&x);
  ENSURE_SMALL(away(&f, sqrt(((C - B) * Omega + h) * ((C - A) * Omega + h) / (A * B)) * (double complex)I), 1e-7);
  drop(&f);
  balanced_close(&x);
  x = balanced_open("satellite", "s=0 Omega=0");
  found(&x, (srEquilibriumOptions){0});
  f = modes_of(&x);
  const double b = 2 * (Jp + p * r * r), a1 = 400 + 10 + 2 * p, e1 = 2 * p * r, a2 = A,
               e2 = 2 * (Jp + p * r * (r + at));
  ENSURE_SMALL(away(&f, sqrt(120 * a1 / (a1 * b - e1 * e1)) * (double complex)I), 1e-9);
  ENSURE_SMALL(away(&f, sqrt(120 * a2 / (a2 * b - e2 * e2)) * (double complex)I), 1e-9);
  drop(&f);
  balanced_close(&x);
}

TEST(steady_quarter_car_has_its_closed_forms) {
  const double m1 = 320, m2 = 40, k = 20000, c = 1500, kt = 180000;
  Balanced x = balanced_open("quarter-car", "");
  found(&x, (srEquilibriumOptions){0});
  ENSURE_NEAR(x.d->q[0], -(m1 + m2) * g / kt, 1e-12);
  ENSURE_NEAR(x.d->q[1], -m1 * g / k, 1e-12);
  Modes f = modes_of(&x);
  for (int i = 0; i < f.m->n; i++) {
    const double complex s = f.m->mode[i].re + f.m->mode[i].im * (double complex)I, e = c * s + k, one = m1 * s * s + e,
                         two = m2 * s * s + e + kt;
    ENSURE_SMALL(cabs(one * two - e * e) / (cabs(one * two) + cabs(e * e)), 1e-10);
  }
  ENSURE_TEXT(balanced_stability(&x), "stable");
  drop(&f);
  x.d->q[1] = -0.1;  // the spring for a given deflection
  found(&x, (srEquilibriumOptions){EXCHANGE({"travel", "k"})});
  ENSURE_NEAR(x.e->exchanged_value[0], m1 * g / 0.1, 1e-7);
  balanced_close(&x);
}

// Rider's torque on the handlebar for a small lean at a given speed: (g K0 + v^2 K2) (lean, steer) = (0, torque), K0 and K2 of Meijaard and others (2007), equation 5.3, seven digits.
TEST(steady_bicycle_corners_as_its_linear_equations) {
  static const double speeds[] = {3, 5, 8};
  const double K0[3] = {-80.95, -2.59951685249872, -0.80329488458618}, K2[2] = {76.59734589573222, 2.65431523794604},
               lean = 1e-4;
  for (int i = 0; i < 3; i++) {
    Balanced x = balanced_open("benchmark/bicycle", "");
    srs_add_parameter(x.spec, SR_NO_OWNER, &(srParameterDef){.name = sr_text("rider"), .value = sr_number(0)});
    srs_add_torque(x.spec, SR_NO_OWNER, &(srTorqueDef){.joint = sr_text("steer"), .law = sr_text("rider")});
    sr_data_destroy(x.d);
    sr_model_destroy(x.m);
    ENSURE_EQUAL(sr_compile(x.spec, NULL, &x.m), SR_OK);
    x.d = sr_data_create(x.m);
    char speed[20];
    const double v = speeds[i], steer = -g * K0[0] * lean / (g * K0[1] + v * v * K2[0]),
                 torque = g * K0[1] * lean + (g * K0[2] + v * v * K2[1]) * steer;
    snprintf(speed, sizeof speed, "%g", v);
    found(&x, (srEquilibriumOptions){SPEED({"frame.vx", speed}), EQUATION("sensor(lean) = 1e-4", "rider")});
    ENSURE_NEAR(fabs(x.d->q[8]), fabs(steer), 1e-6 * fabs(steer));
    ENSURE_NEAR(fabs(x.e->exchanged_value[0]), fabs(torque), 2e-6 * (fabs(g * K0[1] * lean) + fabs(torque)));
    ENSURE((x.d->q[8] * x.e->exchanged_value[0] > 0) == (steer * torque > 0));
    // Kinematic steering: yaw rate = v steer cos(tilt)/wheelbase.
    ENSURE_NEAR(fabs(x.d->v[2]), v * fabs(steer) * cos(3.14159265358979323846 / 10) / 1.02, 1e-6 * v * fabs(steer));
    balanced_close(&x);
  }
}

// Tyres with relaxation, a controller of the speed, loops: a moment of steady cornering is one of no acceleration. Few iterations: rates of states are weighed with the forces.
TEST(steady_car_corners) {
  Balanced x = balanced_open("vehicles/car", "steer=0.02");
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, NULL), SR_OK);
  found(&x, (srEquilibriumOptions){.steady = true});
  ENSURE(x.e->iterations <= 12);
  ENSURE_NEAR(balanced_sensor(&x, "speed"), 20, 1e-9);
  ENSURE(balanced_sensor(&x, "yaw rate") > 0.1);
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < x.m->nv; i++) ENSURE_SMALL(x.d->a[i], 1e-6);  // of a centripetal acceleration of 2 m/s^2
  for (int i = 0; i < x.m->ny; i++) ENSURE_SMALL(x.d->ydot[i], 1e-8);
  ENSURE_EQUAL(x.e->nnonsensitive, 10);  // six of the chassis, that leans, and four wheels
  balanced_close(&x);
}

// M, C, K at the ride height that was found, against the accelerations beside it: each state moves by its column of shape and rate.
TEST(steady_suspension_at_a_found_ride_height_has_the_modes_of_its_accelerations) {
  enum { NV = 9, NX = 4 };
  Balanced x = balanced_open("mechanisms/five-rod-suspension", "");
  x.d->q[0] = 0.015;
  found(&x, (srEquilibriumOptions){EXCHANGE({"chassis", "rest"})});
  check_absolute(&x);
  ENSURE_TEXT(balanced_stability(&x), "stable");
  Modes f = modes_of(&x);
  const double h = 1e-5;
  double q[10], xi[NV], a[2][NV];
  ENSURE(f.l->nx == NX && x.m->nv == NV && f.l->nvel == 2);
  memcpy(q, x.d->q, sizeof q);
  for (int j = 0; j < NX; j++) {
    for (int side = 0; side < 2; side++) {
      for (int i = 0; i < NV; i++) {
        xi[i] = (side ? -h : h) * f.l->shape[i * NX + j];
        x.d->v[i] = (side ? -h : h) * f.l->rate[i * NX + j];
      }
      sr_retract(x.m, q, xi, x.d->q);
      ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
      memcpy(a[side], x.d->a, sizeof a[side]);
    }
    for (int i = 0; i < 2; i++) {
      const int v = f.l->velocity[i];
      const double* row = f.l->A + (2 + i) * NX;
      ENSURE_NEAR((a[0][v] - a[1][v]) / (2 * h), row[j], 1e-5 * (fabs(row[0]) + fabs(row[1])));
    }
  }
  drop(&f);
  balanced_close(&x);
}

// ---- refusals -------------------------------------------------------------------------------------------------------------------

static void refuse(const char* model, srEquilibriumOptions options, srStatus status, const char* part) {
  Balanced x = balanced_open(model, "");
  balanced_find(&x, options);
  if (x.status != status || !strstr(x.said, part)) printf("%s: %s", model, x.said);
  ENSURE_EQUAL(x.status, status);
  ENSURE(x.e == NULL && strstr(x.said, part) != NULL);
  balanced_close(&x);
}

TEST(steady_motion_that_does_not_exist_is_refused) {
  refuse("rotating-pendulum", (srEquilibriumOptions){SPEED({"shaft", "3"})}, SR_INPUT, "'shaft' is driven");
  refuse("rotating-pendulum", (srEquilibriumOptions){SPEED({"theta", "3"})}, SR_FAILED, "none of a steady motion");
  refuse(CONICAL, (srEquilibriumOptions){SPEED({"shaft", "3"}, {"shaft", "4"})}, SR_INPUT, "given twice");
  refuse(CONICAL, (srEquilibriumOptions){SPEED({"shaft", "3"}), EXCHANGE({"shaft", "v(shaft)"})}, SR_INPUT,
         "leave one out");
  refuse(CONICAL, (srEquilibriumOptions){SPEED({"shaft", "fast"})}, SR_INPUT, "not a number");
  refuse("dc-motor", (srEquilibriumOptions){SPEED({"shaft", "3"})}, SR_FAILED, "the force on 'shaft' stays at");
  // A driver whose speed changes, and a crank: no constant velocities.
  refuse(
      "<sarrus version='1'><body name='a'><joint name='a' type='revolute'/><inertial mass='1' com='0.1 0 0' "
      "inertia='1 1 1'/></body><body name='b' parent='a'><joint name='b' type='prismatic' stiffness='100'/><inertial "
      "mass='1'/></body>"
      "<driver joint='a' motion='2*t + sin(3*t)'/></sarrus>",
      (srEquilibriumOptions){.steady = true}, SR_FAILED, "no steady motion");
  refuse("paper2/slider-crank", (srEquilibriumOptions){SPEED({"crank", "3"})}, SR_FAILED, "steady motion");
}
