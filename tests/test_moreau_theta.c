// The theta method of Moreau and Jean below theta = 1: order 2 while nothing touches, and contacts as with theta = 1. Expected values are closed forms.
#include "constrained.h"
#include "loading.h"

#define G 10.0
#define HALF 0.5

// ---- one mass -------------------------------------------------------------------------------------------------------------

// 2 kg over a floor at q = 0, with load, spring, dampers and a force of time.
typedef struct Mass {
  double weight, k, d, drag, wave, e;
} Mass;

static int mass_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  const Mass* x = user;
  (void)y, (void)tau, (void)ydot, (void)D;
  M[0] = 2;
  f[0] = 2 * (-x->weight - x->k * q[0] - x->d * v[0] - x->drag * v[0] * v[0] + x->wave * cos(t));
  return 0;
}

static int mass_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                        const double* a, const double* lambda, srTangent* out) {
  const Mass* x = user;
  (void)t, (void)q, (void)y, (void)tau, (void)a, (void)lambda;
  out->Kq[0] = 2 * x->k;
  out->Kv[0] = 2 * (x->d + 2 * x->drag * v[0]);
  return 0;
}

static int mass_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Mass* x = user;
  (void)t;
  out[0] = (srUnilateral){.id = 7, .gap = q[0], .restitution = x->e, .n = 1, .column = out[0].column, .W = out[0].W};
  out[0].column[0] = 0;
  out[0].W[0] = 1;
  *count = 1;
  return 0;
}

static srIntegrator* start(Mass* x, bool floor, bool tangent, double theta, double step, double q, double v) {
  const srSystem system = {.nq = 1,
                           .nv = 1,
                           .ncontact = floor ? 1 : 0,
                           .ncolumn = 1,
                           .user = x,
                           .dynamics = mass_dynamics,
                           .contacts = floor ? mass_contacts : NULL,
                           .tangent = tangent ? mass_tangent : NULL};
  srIntegratorOptions o = sri_default_options();
  o.step = step;
  o.theta = theta;
  srIntegrator* integrator = create("moreau", &system, o);
  ENSURE(sri_start(integrator, 0, &q, &v, NULL) == SR_OK);
  return integrator;
}

static void advance(srIntegrator* integrator, double t_end) {
  while (sri_time(integrator) < t_end) ENSURE(sri_step(integrator, t_end) == SR_OK);
}

TEST(theta_one_half_is_exact_in_free_flight) {
  Mass x = {.weight = G};
  srIntegrator* half = start(&x, true, false, HALF, 0.125, 100, 3);
  srIntegrator* other = start(&x, true, false, 0.75, 0.125, 100, 3);
  advance(half, 2);
  advance(other, 2);
  ENSURE_NEAR(*sri_q(half), 100 + 3 * 2 - 0.5 * G * 4, 1e-13);
  ENSURE_NEAR(*sri_v(half), 3 - G * 2, 1e-13);
  ENSURE_NEAR(*sri_q(other), 100 + 3 * 2 - 0.5 * G * 4 - 0.25 * 0.125 * G * 2, 1e-12);  // (theta - 1/2) h g t too low
  sri_destroy(half);
  sri_destroy(other);
}

// Within the last step: velocities are linear.
TEST(theta_interpolates_a_flight_to_second_order) {
  Mass x = {.weight = G};
  double q, v;
  srIntegrator* half = start(&x, true, false, HALF, 0.125, 100, 0);
  advance(half, 1);
  ENSURE(sri_interpolate(half, 1 - 0.125 / 2, &q, &v, NULL, NULL) == SR_OK);
  ENSURE_NEAR(v, -G * (1 - 0.125 / 2), 1e-13);
  ENSURE_NEAR(q, 100 - 0.5 * G * (1 - 0.125 / 2) * (1 - 0.125 / 2), G * 0.125 * 0.125 / 8 + 1e-12);
  sri_destroy(half);
}

static double error_of(Mass x, bool tangent, double theta, double step, double v0, double q_end, double v_end,
                       double t) {
  srIntegrator* a = start(&x, false, tangent, theta, step, 0, v0);
  advance(a, t);
  const double error = fmax(fabs(*sri_q(a) - q_end), fabs(*sri_v(a) - v_end));
  sri_destroy(a);
  return error;
}

// Errors with h and h/2: of order 2 with theta = 1/2, of order 1 above.
static void ensure_order(Mass x, bool tangent, double v0, double q_end, double v_end, double t) {
  const double h = 1.0 / 128;
  const double coarse = error_of(x, tangent, HALF, h, v0, q_end, v_end, t),
               fine = error_of(x, tangent, HALF, h / 2, v0, q_end, v_end, t);
  const double slow = error_of(x, tangent, 0.75, h, v0, q_end, v_end, t),
               slower = error_of(x, tangent, 0.75, h / 2, v0, q_end, v_end, t);
  ENSURE(coarse > 1e-9);
  ENSURE_NEAR(coarse / fine, 4, 0.3);
  ENSURE_NEAR(slow / slower, 2, 0.2);
}

TEST(theta_one_half_is_of_order_two_while_nothing_touches) {
  for (int tangent = 0; tangent < 2; ++tangent) {
    ensure_order((Mass){.k = 25}, tangent, 5, sin(5.0), 5 * cos(5.0), 1);
    // Damped: q = v0/w exp(-d t/2) sin(w t)
    const double w = sqrt(25 - 1.0);
    ensure_order((Mass){.k = 25, .d = 2}, tangent, w, exp(-1.0) * sin(w), exp(-1.0) * (w * cos(w) - sin(w)), 1);
    ensure_order((Mass){.drag = 1}, tangent, 3, log(4.0), 3.0 / 4, 1);                 // v' = -v^2
    ensure_order((Mass){.wave = 3}, tangent, 0, 3 * (1 - cos(1.0)), 3 * sin(1.0), 1);  // v' = 3 cos t
  }
}

// The trapezoidal rule keeps the energy of a linear oscillator, the leapfrog method to h^2, however long; theta = 1 damps.
TEST(theta_one_half_keeps_the_energy_of_an_oscillator) {
  for (int tangent = 0; tangent < 2; ++tangent) {
    Mass x = {.k = 25};
    srIntegrator* a = start(&x, false, tangent, HALF, 0.02, 0, 5);
    double most = 0;
    while (sri_time(a) < 100) {
      ENSURE(sri_step(a, 100) == SR_OK);
      most = fmax(most, fabs(25 * *sri_q(a) * *sri_q(a) + *sri_v(a) * *sri_v(a) - 25) / 25);
    }
    ENSURE_SMALL(most, tangent ? 1e-11 : 0.1 * 0.1 / 4 * 1.1);  // (w h)^2/4
    sri_destroy(a);
  }
}

TEST(theta_takes_stiff_springs_and_dampers) {
  Mass x = {.k = 1e12, .d = 1e6};
  srIntegrator* a = start(&x, false, true, HALF, 0.01, 1e-3, 0);
  advance(a, 20);
  ENSURE(fabs(*sri_q(a)) <= 1e-3);
  sri_destroy(a);
}

// ---- contact --------------------------------------------------------------------------------------------------------------

// Height of a ball that fell from h, at time t, with restitution e.
static double ball_height(double h, double e, double t) {
  double u = sqrt(2 * G * h), begin = u / G;
  if (t < begin) return h - 0.5 * G * t * t;
  for (int i = 0; i < 10000; ++i) {
    u *= e;
    if (t < begin + 2 * u / G) return u * (t - begin) - 0.5 * G * (t - begin) * (t - begin);
    begin += 2 * u / G;
  }
  return 0;
}

static double ball_error(double theta, double step) {
  Mass ball = {.weight = G, .e = 0.8};
  srIntegrator* x = start(&ball, true, false, theta, step, 1, 0);
  double worst = 0;
  for (int k = 1; k <= 30; ++k) {
    advance(x, 0.1 * k);
    worst = fmax(worst, fabs(*sri_q(x) - ball_height(1, 0.8, 0.1 * k)));
    ENSURE(*sri_q(x) > -1e-9 * step);  // the tolerance of the contact problem: nothing sinks in
  }
  sri_destroy(x);
  return worst;
}

// Above 1/2 flights are too low by (theta - 1/2) h g t, 12 h after 3 s at 0.9, and bounces add as much. At 1/2 an impact within a step is off by g h^2 at the most, and 4 m/s of each, g h/4.
TEST(theta_bounces_a_ball_and_does_not_let_it_sink_in) {
  const double theta[] = {0.6, 0.75, 0.9};
  for (int i = 0; i < 3; ++i) {
    for (double h = 1e-3; h > 5e-6; h /= 10) ENSURE_SMALL(ball_error(theta[i], h), 25 * h);
  }
  for (double h = 1e-3; h > 5e-6; h /= 10) ENSURE_SMALL(ball_error(HALF, h), 60 * h * h + 1e-11);
}

TEST(theta_leaves_a_ball_at_rest_and_gives_it_no_energy) {
  Mass ball = {.weight = G, .e = 0.5};
  srIntegrator* x = start(&ball, true, false, HALF, 1e-3, 1, 0);
  double energy = G;
  while (sri_time(x) < 2) {
    ENSURE(sri_step(x, 2) == SR_OK);
    const double now = G * *sri_q(x) + 0.5 * *sri_v(x) * *sri_v(x);
    ENSURE(now <= energy + 1e-11);  // exact in flight, and every impact takes some
    energy = fmin(energy, now);
  }
  advance(x, 100);
  ENSURE_SMALL(*sri_v(x), 1e-9);
  ENSURE_SMALL(*sri_q(x), 1e-8);
  sri_destroy(x);
}

// T + V changes by the work of the impulses alone, whenever in a step they act.
TEST(theta_counts_the_work_of_impacts_within_steps) {
  Mass ball = {.weight = G, .e = 0.8};
  srIntegrator* x = start(&ball, true, false, HALF, 1e-2, 1, 0);
  double work = 0;
  while (sri_time(x) < 3) {
    ENSURE(sri_step(x, 3) == SR_OK);
    work += sri_impulses(x)->normal;
    ENSURE_NEAR(2 * G * *sri_q(x) + *sri_v(x) * *sri_v(x), 2 * G + work, 1e-11);
  }
  ENSURE(work < -10);
  sri_destroy(x);
}

// Plastic, at 30 m/s: half of a step is beyond the floor where the step is evaluated, and the ball ends on it, at rest.
TEST(theta_stops_a_ball_on_the_floor_without_bounce) {
  for (int k = 0; k < 20; ++k) {
    Mass ball = {.weight = G};
    srIntegrator* x = start(&ball, true, false, HALF, 1e-2, 1 + 0.015 * k, -30);
    while (sri_time(x) < 0.2) {
      ENSURE(sri_step(x, 0.2) == SR_OK);
      ENSURE(*sri_q(x) > -1e-9);
      ENSURE(*sri_v(x) < 1e-9);
    }
    ENSURE_SMALL(*sri_q(x), 1e-8);
    sri_destroy(x);
  }
}

// A beam of mass 2 and moment 2 over two posts at +-1/2: velocities of its middle and of its angle.
typedef struct Beam {
  double e, post[2];  // heights
} Beam;

static int beam_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  M[0] = M[3] = 2;
  M[1] = M[2] = f[0] = f[1] = 0;
  return 0;
}

static int beam_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Beam* x = user;
  (void)t;
  for (int k = 0; k < 2; ++k) {
    const double arm = k == 0 ? 0.5 : -0.5;
    srUnilateral* c = &out[k];
    *c = (srUnilateral){.id = k, .restitution = x->e, .n = 2, .column = c->column, .W = c->W};
    c->gap = q[0] + arm * q[1] - x->post[k];
    c->column[0] = 0;
    c->column[1] = 1;
    c->W[0] = 1;
    c->W[1] = arm;
  }
  *count = 2;
  return 0;
}

static void strike(Beam* x, double v[2]) {
  const srSystem system = {
      .nq = 2, .nv = 2, .ncontact = 2, .ncolumn = 2, .user = x, .dynamics = beam_dynamics, .contacts = beam_contacts};
  srIntegratorOptions o = sri_default_options();
  o.step = 0.1;
  o.theta = HALF;
  srIntegrator* a = create("moreau", &system, o);
  ENSURE(sri_start(a, 0, (double[]){0, 0}, (double[]){-1, 0}, NULL) == SR_OK);
  ENSURE(sri_step(a, 0.1) == SR_OK);
  memcpy(v, sri_v(a), 2 * sizeof *v);
  for (int k = 0; k < 2; ++k) ENSURE(sri_q(a)[0] + (k == 0 ? 0.5 : -0.5) * sri_q(a)[1] - x->post[k] > -1e-9);
  sri_destroy(a);
}

// The right end strikes first. W = (0.625, 0.375; 0.375, 0.625): its impulse (1 + e)/0.625 turns the other end's -1 m/s into -1 + 0.6 (1 + e), which does not reach its post with e = 1,
// and does within the same step with e = 0: then it stops there, too.
TEST(theta_solves_impacts_of_a_step_one_after_the_other) {
  double v[2];
  strike(&(Beam){.e = 1, .post = {-0.03, -0.06}}, v);
  ENSURE_NEAR(v[0] + 0.5 * v[1], 1, 1e-8);
  ENSURE_NEAR(v[0] - 0.5 * v[1], 0.2, 1e-8);
  strike(&(Beam){.e = 0, .post = {-0.03, -0.031}}, v);
  ENSURE_SMALL(v[0] + 0.5 * v[1], 1e-8);
  ENSURE_SMALL(v[0] - 0.5 * v[1], 1e-8);
  strike(&(Beam){.e = 0, .post = {-0.03, -0.08}}, v);
  ENSURE_SMALL(v[0] + 0.5 * v[1], 1e-8);
  ENSURE_NEAR(v[0] - 0.5 * v[1], -0.4, 1e-8);
}

// ---- loops ----------------------------------------------------------------------------------------------------------------

// Back at the start after a period, T = 4 sqrt(L/g) K(1/2) from the horizontal.
static double pendulum_error(double theta, int steps) {
  const double period = 4 * sqrt(1 / 9.81) * 1.8540746773013719;
  srIntegratorOptions o = sri_default_options();
  o.step = period / steps;
  o.theta = theta;
  const srSystem system = pendulum(&one_row);
  srIntegrator* x = create("moreau", &system, o);
  ENSURE(sri_start(x, 0, (double[]){1, 0}, (double[]){0, 0}, NULL) == SR_OK);
  for (int k = 0; k < steps; ++k) ENSURE(sri_step(x, period) == SR_OK);
  const double error = hypot(sri_q(x)[0] - 1, sri_q(x)[1]) + hypot(sri_v(x)[0], sri_v(x)[1]);
  sri_destroy(x);
  return error;
}

TEST(theta_one_half_is_of_order_two_with_constraints) {
  const double coarse = pendulum_error(HALF, 200), fine = pendulum_error(HALF, 400);
  ENSURE_NEAR(coarse / fine, 4, 0.4);
  ENSURE(fine < 0.1 * pendulum_error(1, 400));
}

// ---- free bodies ----------------------------------------------------------------------------------------------------------

static void fly(Loaded* x, double theta, double step) {
  srRunOptions o = sr_run_options(x->m);
  srMessages* messages = sr_messages_create();
  o.contact = SR_CONTACT_TIMESTEPPING;
  o.method = "moreau";
  o.theta = theta;
  o.t_end = 1;
  o.step = step;
  ENSURE_EQUAL(sr_run(x->m, x->d, &o, messages, &x->result), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_destroy(messages);
}

#define FLOOR "<ground><shape name='floor' type='plane' at='0 0 -100'/></ground>"
#define TOUCH "<contact a='floor' b='s' normal='hunt-crossley' restitution='0' K='1e6' friction='none'/></sarrus>"

// A ball that turns by 1.3 rad in a step flies along the parabola.
TEST(theta_one_half_is_exact_for_a_ball_that_spins) {
  Loaded x =
      open_text("<sarrus version='1'><option gravity='0 0 -10'/>" FLOOR
                "<body name='b'><joint name='b' type='free' q='0 0 0 1 0 0 0' v='8 6 24 1 2 3'/>"
                "<inertial mass='2' inertia='0.1 0.1 0.1'/><shape name='s' type='sphere' size='0.1'/></body>" TOUCH);
  fly(&x, HALF, 0.05);
  ENSURE_NEAR(x.d->q[0], 1, 1e-12);
  ENSURE_NEAR(x.d->q[1], 2, 1e-12);
  ENSURE_NEAR(x.d->q[2], 3 - 5, 1e-12);
  close_model(&x);
}

// Euler's equations of a body with the moments A, A, C: w_x + i w_y turns with (C - A)/A w_z in its own axes.
static double top_error(double theta, double step) {
  Loaded x =
      open_text("<sarrus version='1'><option gravity='0 0 0'/>" FLOOR
                "<body name='b'><joint name='b' type='free' q='0 0 0 1 0 0 0' v='1 0 4 0 0 0'/>"
                "<inertial mass='2' inertia='0.1 0.1 0.15'/><shape name='s' type='sphere' size='0.1'/></body>" TOUCH);
  fly(&x, theta, step);
  const double error = hypot(x.d->v[0] - cos(2.0), x.d->v[1] - sin(2.0));
  close_model(&x);
  return error;
}

TEST(theta_one_half_turns_a_free_body_with_order_two) {
  const double coarse = top_error(HALF, 0.01), fine = top_error(HALF, 0.005);
  ENSURE_NEAR(coarse / fine, 4, 0.3);
  ENSURE_NEAR(top_error(1, 0.01) / top_error(1, 0.005), 2, 0.1);
  ENSURE(coarse < 0.02 * top_error(1, 0.01));
}

// A billiard ball slips along a parabola until 2 s/(7 mu g), s = v + (-R wy, R wx) its slip at the start, then rolls with v - 2/7 s: contacts that last are taken with theta = 1, where
// the torque of friction acts in the axes of the start of the step.
TEST(theta_lets_a_ball_slip_and_roll_as_theta_one_does) {
  const double s[2] = {1.2 - 0.03 * 55, 0.3 + 0.03 * 30}, v[2] = {1.2, 0.3}, a = 0.2 * 9.81;
  const double size = hypot(s[0], s[1]), t = 2 * size / (7 * a);
  Loaded x = open_model("nonsmooth/billiard-ball", "");
  fly(&x, HALF, 1e-3);
  for (int k = 0; k < 2; ++k) {
    const double end = v[k] * t - 0.5 * a * s[k] / size * t * t + (v[k] - 2.0 / 7 * s[k]) * (1 - t);
    ENSURE_NEAR(x.d->q[k], end, 2e-4);
  }
  close_model(&x);
}
