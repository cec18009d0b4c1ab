// Simulation: closed forms (pendulum, top, free body, motor), conservation, measured orders, output rows, energy balance, no allocation
// while stepping, and the message of a run that cannot continue.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
static const double pi = 3.14159265358979323846;

// ---- models out of text -----------------------------------------------------------------------------------------------

typedef struct Bench {
  srModel* m;
  srData* d;
} Bench;

static void show(const srMessages* messages) {
  char line[512];
  for (int i = 0; i < sr_messages_count(messages); ++i) {
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    printf("  %s\n", line);
  }
}

static Bench load(const char* text) {
  Bench bench = {0};
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  if (sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec) != SR_OK ||
      sr_compile(spec, messages, &bench.m) != SR_OK)
    show(messages);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  ENSURE(bench.m != NULL);
  bench.d = sr_data_create(bench.m);
  ENSURE(bench.d != NULL);
  return bench;
}

static void unload(Bench bench) {
  sr_data_destroy(bench.d);
  sr_model_destroy(bench.m);
}

static srRunOptions precise(const Bench* b, double t_end) {
  srRunOptions options = sr_run_options(b->m);
  options.method = "dopri5";
  options.t_end = t_end;
  options.rtol = 1e-12;
  options.atol = 1e-14;
  return options;
}

static srRunResult run(const Bench* b, const srRunOptions* options) {
  srRunResult result;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(b->m, b->d, options, messages, &result);
  show(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("  %s\n", result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  return result;
}

static double agm(double a, double b) {
  while (fabs(a - b) > 1e-15 * a) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return a;
}

// ---- closed forms -----------------------------------------------------------------------------------------------------

// Quarter period of a pendulum released at theta0:  T = 2 pi sqrt(l/g) / agm(1, cos(theta0/2)).
TEST(a_pendulum_keeps_the_period_of_the_elliptic_integral) {
  Bench b = load(
      "<sarrus version='1'><body name='bob'><joint name='theta' type='revolute' axis='0 1 0' q='2'/>"
      "<inertial mass='0.7' com='0 0 -1.3'/></body></sarrus>");
  const double T = 2 * pi * sqrt(1.3 / 9.81) / agm(1.0, cos(1.0));
  const srRunOptions options = precise(&b, 2.25 * T);
  const srRunResult result = run(&b, &options);
  const double late = b.d->q[0] / b.d->v[0];  // s by which it has passed the lowest point
  ENSURE_SMALL(late / (2.25 * T), 1e-10);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-10);
  unload(b);
}

// A mass on a spring, damped: x = x0 exp(-d t) (cos(w t) + d/w sin(w t)), d = c/(2 m), w = sqrt(k/m - d^2), about the length where
// preload - k (z - length) + m g = 0.
TEST(a_mass_on_a_spring_between_points_swings_with_its_natural_frequency) {
  const double m = 2, k = 300, c = 6, rest = 0.5 + (40 - m * 9.81) / k, x0 = 0.1, t = 1.7;
  Bench b = load(
      "<sarrus version='1'><ground><point name='foot' at='0 0 -1'/></ground><body name='mass'><joint type='prismatic' "
      "q='0'/>"
      "<inertial mass='2' inertia='1 1 1'/></body><spring a='ground/foot' b='mass' stiffness='100' length='0.5' "
      "preload='40'/>"
      "<spring a='mass' b='ground/foot' stiffness='200' length='0.5' damping='4'/>"
      "<damper a='mass' b='ground/foot' damping='2'/></sarrus>");
  b.d->q[0] = rest - 1 + x0;
  const srRunOptions options = precise(&b, t);
  const srRunResult result = run(&b, &options);
  const double d = c / (2 * m), w = sqrt(k / m - d * d);
  ENSURE_NEAR(b.d->q[0] + 1 - rest, x0 * exp(-d * t) * (cos(w * t) + d / w * sin(w * t)), 1e-11);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-11);
  // What is dissipated is the energy that the swing has lost, and nothing is work of an element.
  const double v = b.d->v[0], x = b.d->q[0] + 1 - rest;
  ENSURE_NEAR(-result.energy.work[SR_ACCOUNT_DISSIPATED], 0.5 * k * (x0 * x0 - x * x) - 0.5 * m * v * v, 1e-11);
  ENSURE(result.energy.work[SR_ACCOUNT_DISTANCE] == 0);
  unload(b);
}

// On an elastic pendulum that whirls: no damper, so the energy stays.
TEST(a_spring_between_points_conserves_energy) {
  Bench b = load(
      "<sarrus version='1'><body name='bob'><joint type='free' q='0.3 0.2 -1 1 0 0 0' v='0.5 -0.3 0.2 1 0.8 0'/>"
      "<inertial mass='1' com='0.05 0 0' inertia='0.02 0.03 0.04'/><point name='eye' at='0 0.1 0.2'/></body>"
      "<spring a='ground' b='bob/eye' stiffness='80' length='0.6' preload='-5'/></sarrus>");
  srRunOptions options = precise(&b, 2);
  options.rtol = 1e-13;
  const srRunResult result = run(&b, &options);
  const srEnergy* e = &result.energy;
  ENSURE_SMALL((e->kinetic + e->potential - e->kinetic0 - e->potential0) / e->scale, 1e-12);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-12);
  for (int i = 0; i < SR_ACCOUNTS; ++i) ENSURE(result.energy.work[i] == 0);
  unload(b);
}

// Steady precession:  I3 w3 W - I1 W^2 cos(theta) = m g l,  I1 about the fixed point.
TEST(a_top_precesses_steadily) {
  const double m = 0.5, l = 0.1, I1 = 0.002 + m * l * l, I3 = 0.001, theta = 0.6, W = 2.0;
  const double w3 = (m * 9.81 * l + I1 * W * W * cos(theta)) / (I3 * W);
  Bench b = load(
      "<sarrus version='1'><body name='top'><joint name='tip' type='ball'/>"
      "<inertial mass='0.5' com='0 0 0.1' inertia='0.002 0.002 0.001'/><point name='c' at='0 0 1'/></body></sarrus>");
  b.d->q[0] = cos(theta / 2);
  b.d->q[1] = sin(theta / 2);
  b.d->v[1] = W * sin(theta);
  b.d->v[2] = w3;
  const double t = 10.0;
  const srRunOptions options = precise(&b, t);
  (void)run(&b, &options);
  srFrameMotion axis;
  sr_frame_motion(b.m, b.d, sr_point_find(b.m, "top/c"), 0, &axis);
  ENSURE_NEAR(axis.position[0], sin(theta) * sin(W * t), 1e-9);
  ENSURE_NEAR(axis.position[1], -sin(theta) * cos(W * t), 1e-9);
  ENSURE_NEAR(axis.position[2], cos(theta), 1e-9);
  unload(b);
}

static const char* const tumbler =
    "<sarrus version='1'><option gravity='0 0 0'/><body name='box'>"
    "<joint type='free' v='0 1 0.01 0.02 0 0'/><inertial mass='1' inertia='1 2 3'/></body></sarrus>";

TEST(a_free_body_keeps_energy_and_momentum_over_1000_turns) {
  Bench b = load(tumbler);
  const double turns = runner_sanitized() ? 50 : 1000;
  double before[6], after[6], scale = 0.0;
  const srRunOptions options = precise(&b, 2 * pi * turns);
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  sr_momentum(b.m, b.d, before, NULL, NULL);
  const srRunResult result = run(&b, &options);
  sr_momentum(b.m, b.d, after, NULL, NULL);
  for (int i = 0; i < 6; ++i) scale = fmax(scale, fabs(before[i]));
  for (int i = 0; i < 6; ++i) ENSURE_NEAR(after[i], before[i], 1e-10 * scale);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-10);
  unload(b);
}

// Landau & Lifshitz, Mechanics, section 37; starts where w2 is largest, so half a period later it is -w2.
TEST(a_body_spun_about_its_middle_axis_flips_on_time) {
  Bench b = load(tumbler);
  const double I1 = 1, I2 = 2, I3 = 3, w2 = 1, w3 = 0.01;
  const double E2 = I2 * w2 * w2 + I3 * w3 * w3, L2 = I2 * I2 * w2 * w2 + I3 * I3 * w3 * w3;
  const double k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1));
  const double K = pi / (2 * agm(1.0, sqrt(1 - k2)));
  const double T = 4 * K * sqrt(I1 * I2 * I3 / ((I3 - I2) * (L2 - E2 * I1)));
  srRunOptions options = precise(&b, 0.5 * T);
  (void)run(&b, &options);
  ENSURE_NEAR(b.d->v[1], -w2, 1e-9);
  ENSURE_NEAR(b.d->v[2], w3, 1e-8);
  options.t_end = 0.75 * T;  // w2 passes through zero here, and is fastest
  (void)run(&b, &options);
  ENSURE_SMALL(b.d->v[1], 1e-7);
  unload(b);
}

// J w' = kt i,  L i' = u - R i - kt w:  x = xs + exp(A t) (x0 - xs).
TEST(a_motor_with_a_flywheel_follows_its_linear_equations) {
  Bench b = load(
      "<sarrus version='1'><parameter name='kt' value='0.2'/><parameter name='R' value='1.5'/>"
      "<parameter name='L' value='0.4'/><body name='wheel'><joint name='shaft' type='revolute' armature='0.01'/>"
      "<inertial mass='3' inertia='0.01 0.01 0.02'/></body>"
      "<state name='current' initial='0.3' rate='(12 - R*current - kt*v(shaft))/L'/>"
      "<torque joint='shaft' law='kt*current'/></sarrus>");
  const double kt = 0.2, R = 1.5, L = 0.4, J = 0.03, u = 12, t = 0.8;
  const double A[2][2] = {{0, kt / J}, {-kt / L, -R / L}};
  const double s = 0.5 * (A[0][0] + A[1][1]), det = A[0][0] * A[1][1] - A[0][1] * A[1][0], r2 = s * s - det;
  ENSURE(r2 > 0);
  const double r = sqrt(r2), c = exp(s * t) * cosh(r * t), h = exp(s * t) * sinh(r * t) / r;
  const double ws = u / kt, x0 = 0.0 - ws, y0 = 0.3;  // at rest the current is zero
  const double w = ws + c * x0 + h * ((A[0][0] - s) * x0 + A[0][1] * y0);
  const double i = c * y0 + h * (A[1][0] * x0 + (A[1][1] - s) * y0);
  const srRunOptions options = precise(&b, t);
  const srRunResult result = run(&b, &options);
  ENSURE_NEAR(b.d->v[0], w, 1e-10 * fabs(w));
  ENSURE_NEAR(b.d->y[0], i, 1e-10);
  ENSURE_NEAR(result.energy.work[SR_ACCOUNT_TORQUE], 0.5 * J * w * w, 1e-9);
  ENSURE_NEAR(result.energy.kinetic, 0.5 * J * w * w, 1e-9);  // with the armature
  ENSURE_SMALL(result.energy.residual, 1e-9);
  unload(b);
}

// State feedback with an integral of the position: poles near -2, held against a constant push.
TEST(a_controller_holds_the_cart_pole) {
  Bench b = load(
      "<sarrus version='1'>"
      "<body name='cart'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<body name='pole' parent='cart'><joint name='phi' type='revolute' axis='0 1 0' q='0.3'/>"
      "<inertial mass='0.1' com='0 0 0.5'/></body>"
      "<state name='sum' rate='q(x)'/><force body='cart' f='0.3 0 0'/>"
      "<torque joint='x' law='23.2*q(phi) + 4.82*v(phi) + 0.816*q(x) + 1.63*v(x) + 0.1*sum'/></sarrus>");
  srRunOptions options = sr_run_options(b.m);
  options.t_end = 120;
  (void)run(&b, &options);
  ENSURE_SMALL(b.d->q[0], 1e-4);
  ENSURE_SMALL(b.d->q[1], 1e-5);
  ENSURE_NEAR(0.1 * b.d->y[0], -0.3, 1e-3);
  unload(b);
}

// ---- conservation, energy balance -----------------------------------------------------------------------------------

static const char* const pair =
    "<sarrus version='1'><option gravity='0 0 0'/>"
    "<body name='a'><joint type='free' v='0.3 2 0.1 0.2 0 0'/><inertial mass='1' com='0.1 0 0' inertia='1 2 2.5'/>"
    "<point name='p' at='0.3 0.1 0' rpy='1 2 3'/></body>"
    "<body name='b'><joint type='free' q='1 0.5 0.2 1 0 0 0' v='0 -1 0 0 0.5 0'/><inertial mass='2' inertia='2 3 4'/>"
    "<point name='p' at='0 0.2 0.4' rpy='1 2 3'/></body>"
    "<bushing a='a/p' b='b/p' stiffness='1 20 5 40 50 10' %s/>%s</sarrus>";

static Bench load_pair(const char* damping, const char* more) {
  char text[2048];
  (void)snprintf(text, sizeof text, pair, damping, more);
  return load(text);
}

static void momentum(const Bench* b, double* out) {
  sr_kinematics(b->m, b->d);
  sr_velocity(b->m, b->d);
  sr_momentum(b->m, b->d, out, NULL, NULL);
}

TEST(an_anisotropic_bushing_conserves_energy_and_momentum_at_large_rotation) {
  Bench b = load_pair("", "");
  double before[6], after[6];
  momentum(&b, before);
  const srRunOptions options = precise(&b, 20.0);
  const srRunResult result = run(&b, &options);
  momentum(&b, after);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-10);
  for (int i = 0; i < SR_ACCOUNTS; ++i) ENSURE(result.energy.work[i] == 0.0);
  for (int i = 0; i < 6; ++i) ENSURE_NEAR(after[i], before[i], 1e-10);
  unload(b);
}

TEST(what_the_energy_balance_misses_falls_with_the_tolerance) {
  Bench b = load_pair("damping='0.1 0.2 0.1 1 1 1'", "<link a='a' b='b' law='-8*(z - 0.5) - zdot'/>");
  double last = 1.0;
  for (int k = 0; k < 4; ++k) {
    srRunOptions options = precise(&b, 5.0);
    options.rtol = pow(10.0, -4 - 2 * k);
    options.atol = 1e-2 * options.rtol;
    sr_data_reset(b.m, b.d);
    const srRunResult result = run(&b, &options);
    const double miss = fabs(result.energy.residual) / result.energy.scale;
    ENSURE(result.energy.work[SR_ACCOUNT_DISSIPATED] < 0.0);
    ENSURE(miss < 0.2 * last);
    ENSURE(miss < 20 * options.rtol);
    last = miss;
  }
  unload(b);
}

TEST(driven_coordinates_stay_on_their_motion_and_their_work_is_counted) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='s' type='revolute' axis='0 1 0'/><inertial mass='1' com='0.5 0 "
      "0' "
      "inertia='0.1 0.1 0.1'/></body><body name='b' parent='a'><joint name='e' type='revolute' axis='0 1 0' at='1 0 "
      "0'/>"
      "<inertial mass='1' com='0.5 0 0' inertia='0.1 0.1 0.1'/></body>"
      "<driver joint='s' motion='0.2 + sin(2*t)'/></sarrus>");
  const srRunOptions options = precise(&b, 3.0);
  const srRunResult result = run(&b, &options);
  ENSURE_NEAR(b.d->q[0], 0.2 + sin(6.0), 0.0);
  ENSURE_NEAR(b.d->v[0], 2 * cos(6.0), 0.0);
  ENSURE(result.violation_position > 0.0 && result.violation_position < 1e-10);
  ENSURE(result.violation_velocity < 1e-10);
  ENSURE(fabs(result.energy.work[SR_ACCOUNT_DRIVER]) > 0.1);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-10);
  unload(b);
}

TEST(a_joint_beyond_its_limits_is_pushed_back_and_counted) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='s' type='prismatic' axis='0 0 1' v='-1' limits='-0.2 1' "
      "limit-stiffness='1e4' limit-damping='0.5'/><inertial mass='1'/></body></sarrus>");
  const srRunOptions options = precise(&b, 0.25);
  const srRunResult result = run(&b, &options);
  ENSURE(b.d->q[0] > -0.2 && b.d->v[0] > 0.0);
  ENSURE(result.limits_passed > 0 && result.limits_passed < result.stats.steps);
  ENSURE(result.energy.work[SR_ACCOUNT_DISSIPATED] < 0.0);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-9);
  unload(b);
}

// ---- orders -----------------------------------------------------------------------------------------------------------

// State after 0.6 s in n equal steps.
static void march(const Bench* b, const char* method, int n, double* q, double* v) {
  srModelSystem user = {.m = b->m, .d = b->d};
  const srSystem system = sr_system(&user);
  srIntegratorOptions options = sri_default_options();
  srIntegrator* integrator = NULL;
  options.step = options.step_max = options.step_min = 0.6 / n;
  options.rtol = options.atol = 1e3;  // every step is accepted
  ENSURE_EQUAL(sri_create(method, &system, &options, NULL, &integrator), SR_OK);
  ENSURE_EQUAL(sri_start(integrator, 0.0, b->m->q0, b->m->v0, b->m->y0), SR_OK);
  while (sri_time(integrator) < 0.6) ENSURE_EQUAL(sri_step(integrator, 0.6), SR_OK);
  memcpy(q, sri_q(integrator), (size_t)b->m->nq * sizeof(double));
  memcpy(v, sri_v(integrator), (size_t)b->m->nv * sizeof(double));
  sri_destroy(integrator);
}

static double error_of(const Bench* b, const char* method, int n, const double* q_exact, const double* v_exact) {
  double q[32], v[32], dq[32], sum = 0.0;
  march(b, method, n, q, v);
  sr_difference(b->m, q_exact, q, dq);
  for (int i = 0; i < b->m->nv; ++i) sum += dq[i] * dq[i] + (v[i] - v_exact[i]) * (v[i] - v_exact[i]);
  return sqrt(sum);
}

TEST(methods_keep_their_order_on_bodies_with_quaternions) {
  static const struct {
    const char* method;
    int n;
    double order;
  } cases[] = {{"euler", 8000, 1}, {"rk4", 200, 4}, {"dopri5", 200, 5}};
  Bench b = load_pair("damping='0.1 0.2 0.1 1 1 1'", "");
  double q[32], v[32];
  march(&b, "dopri5", 6000, q, v);
  for (int i = 0; i < COUNT(cases); ++i) {
    const double coarse = error_of(&b, cases[i].method, cases[i].n, q, v);
    const double fine = error_of(&b, cases[i].method, 2 * cases[i].n, q, v);
    ENSURE_NEAR(log2(coarse / fine), cases[i].order, 0.1);
  }
  unload(b);
}

// The parts of M v' = f + D^T lambda, G v + b = 0 agree with the rates that are made of them.
TEST(mass_forces_and_constraints_of_the_system_agree_with_its_rates) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='s' type='revolute' axis='0 1 0' armature='0.3' v='1'/><inertial "
      "mass='1' com='0.5 0 0' inertia='0.1 0.1 0.1'/></body><body name='b' parent='a'><joint name='e' type='revolute' "
      "axis='0 1 1' at='1 0 0' q='0.4' v='-0.6' damping='0.2'/><inertial mass='1' com='0.5 0 0' inertia='0.1 0.1 0.1'/>"
      "</body><driver joint='s' motion='t + 0.5*t^2'/></sarrus>");
  srModelSystem user = {.m = b.m, .d = b.d};
  const srSystem s = sr_system(&user);
  double qdot[2], vdot[2], wdot[SR_ACCOUNTS], none[1], M[4], f[2], G[2], g, rate, gamma;
  ENSURE_EQUAL(s.rates(s.user, 0, b.m->q0, b.m->v0, none, SR_TAU_ELEMENT, qdot, vdot, none, wdot), 0);
  const double lambda = b.d->lambda[0];
  ENSURE_EQUAL(s.dynamics(s.user, 0, b.m->q0, b.m->v0, none, SR_TAU_ELEMENT, M, f, none, NULL), 0);
  ENSURE_EQUAL(s.constraint(s.user, 0, b.m->q0, &g, G, &rate), 0);
  ENSURE_EQUAL(s.gamma(s.user, 0, b.m->q0, b.m->v0, &gamma), 0);
  for (int i = 0; i < 2; ++i) {
    ENSURE_NEAR(M[2 * i] * vdot[0] + M[2 * i + 1] * vdot[1], f[i] + G[i] * lambda, 1e-12);
  }
  ENSURE_NEAR(G[0] * vdot[0] + G[1] * vdot[1], gamma, 1e-14);
  ENSURE_SMALL(g, 0.0);
  ENSURE_SMALL(G[0] * b.m->v0[0] + G[1] * b.m->v0[1] + rate, 1e-15);
  unload(b);
}

// ---- output rows ----------------------------------------------------------------------------------------------------

typedef struct Rows {
  int n, width, stop_after;
  double row[64][64];
} Rows;

static int keep_row(void* user, const double* row) {
  Rows* rows = user;
  ENSURE(rows->n < COUNT(rows->row));
  memcpy(rows->row[rows->n++], row, (size_t)rows->width * sizeof(double));
  return rows->stop_after > 0 && rows->n >= rows->stop_after;
}

static const char* const swing =
    "<sarrus version='1'><body name='bob'><joint name='theta' type='revolute' axis='0 1 0' q='1'/>"
    "<inertial mass='1' com='0 0 -1'/><point name='tip' at='0 0 -1'/></body>"
    "<body name='sled'><joint name='x' type='prismatic'/><inertial mass='2'/></body>"
    "<driver joint='x' motion='t^2'/><state name='age' rate='1'/>"
    "<sensor name='tip' point='bob/tip'/><sensor name='double' expr='2*q(theta)' unit='rad'/></sarrus>";

TEST(rows_are_at_exact_times_with_named_columns) {
  static const char* const names[] = {"t",      "q.theta", "q.x",    "v.theta", "v.x",       "age",     "driver.x",
                                      "tip.x",  "tip.y",   "tip.z",  "tip.vx",  "tip.vy",    "tip.vz",  "tip.wx",
                                      "tip.wy", "tip.wz",  "double", "kinetic", "potential", "residual"};
  static const struct {
    double t_end, every;
    int rows;
  } cases[] = {{1.0, 0.1, 11}, {0.95, 0.1, 11}, {0.9, 0.3, 4}, {0.5, 2.0, 2}, {0.0, 0.1, 1}, {0.3, 0.1, 4}};
  Bench b = load(swing);
  srColumns* columns = sr_columns_create(b.m);
  ENSURE(columns != NULL);
  ENSURE_EQUAL(columns->count, COUNT(names));
  for (int i = 0; i < COUNT(names); ++i) ENSURE_TEXT(columns->names[i], names[i]);
  ENSURE_TEXT(columns->units[1], "rad");
  ENSURE_TEXT(columns->units[6], "N");
  ENSURE_TEXT(columns->units[16], "rad");
  for (int k = 0; k < COUNT(cases); ++k) {
    Rows rows = {.width = columns->count};
    srRunOptions options = precise(&b, cases[k].t_end);
    options.every = cases[k].every;
    options.row = keep_row;
    options.user = &rows;
    sr_data_reset(b.m, b.d);
    const srRunResult result = run(&b, &options);
    ENSURE_EQUAL(rows.n, cases[k].rows);
    ENSURE_EQUAL(result.rows, cases[k].rows);
    for (int i = 0; i < rows.n; ++i) {
      const double* row = rows.row[i];
      ENSURE(row[0] == (i < rows.n - 1 ? i * cases[k].every : cases[k].t_end));
      ENSURE_NEAR(row[2], row[0] * row[0], 0.0);       // driven
      ENSURE_NEAR(row[5], row[0], 1e-12);              // a state of rate 1
      ENSURE_NEAR(row[6], 2.0 * (2.0 + 9.81), 1e-12);  // m (a + g)
      ENSURE_NEAR(row[7], -sin(row[1]), 1e-12);        // sensors
      ENSURE_NEAR(row[14], row[3], 1e-12);
      ENSURE_NEAR(row[16], 2 * row[1], 1e-12);
      ENSURE_SMALL(row[19], 1e-9);
    }
  }
  sr_columns_destroy(columns);
  unload(b);
}

TEST(a_callback_stops_the_run) {
  Bench b = load(swing);
  srColumns* columns = sr_columns_create(b.m);
  Rows rows = {.width = columns->count, .stop_after = 4};
  srRunOptions options = precise(&b, 1.0);
  options.every = 0.1;
  options.row = keep_row;
  options.user = &rows;
  const srRunResult result = run(&b, &options);
  ENSURE_EQUAL(rows.n, 4);
  ENSURE(result.t >= 0.3 && result.t < 1.0);
  ENSURE(strstr(result.error_message, "stopped") != NULL);
  sr_columns_destroy(columns);
  unload(b);
}

TEST(options_that_make_no_sense_are_refused) {
  Bench b = load(swing);
  srRunResult result;
  srMessages* messages = sr_messages_create();
  srRunOptions options = precise(&b, -1.0);
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, messages, &result), SR_INPUT);
  options = precise(&b, 1.0);
  options.method = "rk5";
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, messages, &result), SR_INPUT);
  options = precise(&b, 1.0);
  options.method = "rk4";
  options.step = 0.0;
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, messages, &result), SR_INPUT);
  ENSURE_EQUAL(sr_messages_errors(messages), 3);
  sr_messages_destroy(messages);
  unload(b);
}

// ---- memory -----------------------------------------------------------------------------------------------------------

typedef struct Meter {
  long calls, at_first_row, at_last_row, rows;
} Meter;

static void* count_calls(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)old_size;
  ++((Meter*)user)->calls;
  if (new_size > 0) return realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

static int read_meter(void* user, const double* row) {
  Meter* meter = user;
  (void)row;
  if (meter->rows++ == 0) meter->at_first_row = meter->calls;
  meter->at_last_row = meter->calls;
  return 0;
}

TEST(stepping_allocates_nothing) {
  Bench b = load_pair("damping='1 2 3 4 5 6'",
                      "<link a='a' b='b' law='-8*(z - 0.5) - zdot'/><sensor name='p' point='a/p'/>"
                      "<state name='s' rate='-s + sensor(p, x)'/><force body='a' f='0 0 sin(t)'/>");
  for (int i = 0; i < sri_method_count(); ++i) {
    Meter meter = {0};
    srRunOptions options = precise(&b, 1.0);
    srRunResult result;
    options.method = sri_method(i)->name;
    options.step = 1e-3;
    options.every = 0.01;
    options.rtol = options.atol = 1e-16;
    if (sri_method(i)->adaptive) options.rtol = options.atol = 1e-13;
    options.row = read_meter;
    options.user = &meter;
    sr_data_reset(b.m, b.d);
    sr_set_allocator(count_calls, &meter);
    const srStatus status = sr_run(b.m, b.d, &options, NULL, &result);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(status, SR_OK);
    ENSURE(result.stats.steps >= (sri_method(i)->adaptive ? 100 : 1000));
    ENSURE_EQUAL(meter.rows, 101);
    ENSURE(meter.calls > 0);
    ENSURE_EQUAL(meter.at_last_row, meter.at_first_row);
  }
  unload(b);
}

// Fails the call whose number is in *user.
static void* fail_at_call(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)old_size;
  if (new_size > 0) return --*(long*)user == 0 ? NULL : realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

TEST(running_out_of_memory_is_reported_and_leaks_nothing) {
  Bench b = load(swing);
  srRunResult result;
  const srRunOptions options = precise(&b, 0.1);
  for (long n = 1;; ++n) {
    long left = n;
    sr_data_reset(b.m, b.d);
    sr_set_allocator(fail_at_call, &left);
    srColumns* columns = sr_columns_create(b.m);
    sr_columns_destroy(columns);
    const srStatus status = sr_run(b.m, b.d, &options, NULL, &result);
    sr_set_allocator(NULL, NULL);
    if (left > 0) break;  // enough for all
    ENSURE(columns == NULL || status == SR_MEMORY);
  }
  unload(b);
}

// ---- failures ---------------------------------------------------------------------------------------------------------

// The driving torque of a lone pendulum is known: J q'' + m g l sin q, with q through the points of the file.
TEST(a_motion_from_a_csv_file_drives_a_joint_through_its_points) {
  Bench b = {0};
  srSpec* spec = NULL;
  ENSURE(sr_load(SARRUS_SOURCE_DIR "/tests/io/driven.xml", NULL, NULL, &spec) == SR_OK);
  ENSURE(sr_compile(spec, NULL, &b.m) == SR_OK);
  srs_destroy(spec);
  b.d = sr_data_create(b.m);
  const double t[] = {1.0, 2.0}, q[] = {0.5, 0.25};  // rows of tests/io/parts/gait.csv
  for (int i = 0; i < COUNT(t); ++i) {
    srRunOptions options = precise(&b, t[i]);
    run(&b, &options);
    ENSURE_NEAR(b.d->q[0], q[i], 1e-14);
    const double torque = (0.06 + 2.0 * 0.09) * b.d->motion[2] + 2.0 * 9.81 * 0.3 * sin(q[i]);
    ENSURE_NEAR(b.d->lambda[0], torque, 1e-12);
  }
  ENSURE_SMALL(b.d->v[0], 1e-14);  // the quintic comes to rest at its last point
  unload(b);
}

static srRunResult run_into_failure(const Bench* b, const char* method, double t_end, Rows* rows) {
  srRunResult result;
  srRunOptions options = sr_run_options(b->m);
  options.method = method;
  options.step = 1e-3;
  options.t_end = t_end;
  options.every = t_end / 20;
  options.row = keep_row;
  options.user = rows;
  rows->width = 1;
  sr_data_reset(b->m, b->d);
  ENSURE_EQUAL(sr_run(b->m, b->d, &options, NULL, &result), SR_FAILED);
  ENSURE(isfinite(b->d->q[0]) && isfinite(b->d->v[0]) && b->d->t == result.t && result.t < t_end);
  ENSURE_EQUAL(rows->n, result.rows);
  ENSURE(rows->row[rows->n - 1][0] <= result.t);
  return result;
}

TEST(a_motion_that_blows_up_names_joint_time_and_force) {
  Bench b = load(
      "<sarrus version='1'><body name='rotor'><joint name='shaft' type='revolute'/><inertial mass='1' inertia='1 1 1'/>"
      "</body><body name='calm'><joint name='still' type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>"
      "<torque name='whip' joint='shaft' law='0.1 + 300*v(shaft)'/><torque name='mild' joint='shaft' law='-v(shaft)'/>"
      "</sarrus>");
  for (int i = 0; i < sri_method_count(); ++i) {
    Rows rows = {0};
    const srRunResult result = run_into_failure(&b, sri_method(i)->name, 0.5, &rows);
    ENSURE(rows.n > 2);
    ENSURE(strstr(result.error_message, "'shaft'") != NULL && strstr(result.error_message, "'rotor'") != NULL);
    ENSURE(strstr(result.error_message, "'whip'") != NULL && strstr(result.error_message, "t = 0.1") != NULL);
    ENSURE(strstr(result.error_message, "'still'") == NULL && strstr(result.error_message, "'mild'") == NULL);
  }
  unload(b);
}

TEST(a_force_between_two_bodies_and_a_state_are_blamed_by_name_too) {
  Rows rows = {0};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<body name='b' parent='a'><joint name='dx' type='prismatic' axis='1 0 0' q='1'/><inertial mass='1'/></body>"
      "<link name='repeller' a='a' b='b' law='1e5*z'/></sarrus>");
  srRunResult result = run_into_failure(&b, "dopri5", 1.0, &rows);
  ENSURE(strstr(result.error_message, "'dx' of body 'b'") != NULL &&
         strstr(result.error_message, "'repeller'") != NULL);
  unload(b);
  rows.n = 0;
  b = load(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<state name='heat' initial='1' rate='300*heat'/></sarrus>");
  result = run_into_failure(&b, "rk4", 1.0, &rows);
  ENSURE(strstr(result.error_message, "the state 'heat'") != NULL);
  unload(b);
}

TEST(steps_that_collapse_stop_the_run) {
  static const char* const methods[] = {"dopri5", "hem5"};
  for (int i = 0; i < COUNT(methods); ++i) {
    Bench b = load(
        "<sarrus version='1'><body name='a'><joint type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>"
        "<torque joint='a' law='if(t &lt; 0.1, 0, 1e9*sin(1e11*t))'/></sarrus>");
    srRunOptions options = precise(&b, 1.0);
    options.method = methods[i];
    options.rtol = 1e-6;
    options.atol = 1e-9;
    srRunResult result;
    ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &result), SR_FAILED);
    ENSURE_NEAR(result.t, 0.1, 1e-6);
    ENSURE(strstr(result.error_message, "have collapsed: the last 5000 of them went only") != NULL);
    ENSURE(result.stats.steps < 20000);
    unload(b);
  }
}

TEST(a_model_in_which_nothing_moves_runs_to_its_end) {
  Bench b = load(
      "<sarrus version='1'><body name='post'><joint type='weld'/><inertial mass='1' com='0 0 2'/></body></sarrus>");
  srRunOptions options = precise(&b, 1.0);
  const srRunResult result = run(&b, &options);
  ENSURE(result.t == 1.0);
  unload(b);
}

TEST(a_force_that_stops_being_a_number_ends_the_run_with_its_name) {
  Bench b = load(
      "<sarrus version='1'><body name='rotor'><joint name='shaft' type='revolute'/><inertial mass='1' inertia='1 1 1'/>"
      "</body><torque name='fuse' joint='shaft' law='sqrt(0.5 - t)'/></sarrus>");
  for (int i = 0; i < sri_method_count(); ++i) {
    Rows rows = {0};
    const srRunResult result = run_into_failure(&b, sri_method(i)->name, 1.0, &rows);
    ENSURE_NEAR(result.t, 0.5, 2e-3);
    ENSURE(rows.n >= 10);
    ENSURE(strstr(result.error_message, "'fuse'") != NULL && strstr(result.error_message, "'shaft'") != NULL);
  }
  unload(b);
}

TEST(a_start_that_cannot_be_evaluated_is_reported) {
  Bench b = load(
      "<sarrus version='1'><body name='rotor'><joint name='shaft' type='revolute'/><inertial mass='1' inertia='1 1 1'/>"
      "</body><torque name='fuse' joint='shaft' law='sqrt(-1 - t)'/></sarrus>");
  srRunResult result;
  srRunOptions options = sr_run_options(b.m);
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &result), SR_FAILED);
  ENSURE(strstr(result.error_message, "'fuse'") != NULL);
  ENSURE_EQUAL(result.rows, 0);
  unload(b);
}
