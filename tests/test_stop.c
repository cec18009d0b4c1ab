// Stops of joints: the law against its closed form on both ways, its derivative, the restitution and the return from far outside
// against integrals of the law, and what a return costs.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "force/derivative.h"
#include "force/laws.h"
#include "runner.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ---- the law ------------------------------------------------------------------------------------------------------------

static double stop_force(const double* p, double x, double xdot) {
  double f = 0.0;
  const srImpedanceIn in = {.x = &x, .xdot = &xdot, .p = p};
  srImpedanceOut out = {.f = &f};
  ENSURE_EQUAL(sr_law_joint_stop.evaluate(&in, &out), 0);
  return f;
}

static const double range[4] = {-1.0, 2.0, 100.0, 0.5};  // lower, upper, k, c

// The force of 1 + c d' that clamps at zero switches at d' = -1/c; this one has no kink on its way back.
TEST(a_stop_lets_go_smoothly_and_never_altogether) {
  for (int side = -1; side <= 1; side += 2) {
    const double x = side > 0 ? 2.1 : -1.1;
    double before = -side * stop_force(range, x, 0.0);
    ENSURE_NEAR(before, 100 * 0.1, 1e-12);  // at rest k d
    for (double u = 0.01; u < 40.0; u += 0.01) {
      const double force = -side * stop_force(range, x, -side * u);
      ENSURE(force > 0.0 && force < before);
      ENSURE_NEAR(log(force / 10.0), -0.5 * u, 1e-12 * (1.0 + u));
      before = force;
    }
  }
}

TEST(the_derivative_of_a_stop_is_exact_on_both_ways_and_at_both_ends) {
  static const double at[][2] = {{2.3, 1.5},  {2.3, -1.5}, {2.3, -3.0}, {-1.4, -0.7},
                                 {-1.4, 0.7}, {-1.4, 4.0}, {0.5, 3.0}};
  static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, step[4] = {-2, -1, 1, 2};
  const srForceElement element = {.law = &sr_law_joint_stop, .formula = -1};
  srPool pool;
  sr_pool_init(&pool);
  const srProgram* derivative = sr_law_derivative(&pool, &sr_law_joint_stop);
  double work[64];
  ENSURE(sr_law_jacobian_work(&element, derivative) <= COUNT(work));
  for (int i = 0; i < COUNT(at); ++i) {
    double J[2] = {0}, by_x = 0.0, by_xdot = 0.0;
    const double h = 1e-3;
    const srImpedanceIn in = {.x = &at[i][0], .xdot = &at[i][1], .p = range};
    ENSURE_EQUAL(sr_law_jacobian(&element, derivative, &in, work, J), 0);
    for (int k = 0; k < 4; ++k) {
      by_x += weight[k] / h * stop_force(range, at[i][0] + step[k] * h, at[i][1]);
      by_xdot += weight[k] / h * stop_force(range, at[i][0], at[i][1] + step[k] * h);
    }
    ENSURE_NEAR(J[0], by_x, 1e-8 * 100);
    ENSURE_NEAR(J[1], by_xdot, 1e-8 * 100);
  }
  sr_pool_free(&pool);
}

// ---- motions ------------------------------------------------------------------------------------------------------------

typedef struct Bench {
  srModel* m;
  srData* d;
} Bench;

// A mass m on a slider with the stop at 0 on its lower end, towards which its weight acts.
static Bench slider(double m, double k, double c, double g, double q, double v) {
  char text[512];
  Bench b = {0};
  srSpec* spec = NULL;
  (void)snprintf(
      text, sizeof text,
      "<sarrus version='1'><option gravity='%.17g 0 0'/><body name='a'><joint name='s' type='prismatic' axis='1 0 0'"
      " q='%.17g' v='%.17g' limits='0 1e9' limit-stiffness='%.17g' limit-damping='%.17g'/>"
      "<inertial mass='%.17g'/></body></sarrus>",
      -g, q, v, k, c, m);
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &b.m), SR_OK);
  srs_destroy(spec);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

static void unload(Bench b) {
  sr_data_destroy(b.d);
  sr_model_destroy(b.m);
}

static srRunResult run(Bench b, const char* method, double t_end, double rtol, double atol) {
  srRunOptions options = sr_run_options(b.m);
  srRunResult result;
  options.method = method;
  options.t_end = t_end;
  options.rtol = rtol;
  options.atol = atol;
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &result), SR_OK);
  return result;
}

// k d dd = -m v dv/phi(c v). In: integral of x/(1 + x) = a - log(1 + a), a = c v. Out: of x exp(x) = 1 + (b - 1) exp(b).
static double speed_out(double integral) {
  double low = 0.0, high = 60.0;
  for (int i = 0; i < 200; ++i) {
    const double b = 0.5 * (low + high);
    if (1.0 + (b - 1.0) * exp(b) < integral)
      low = b;
    else
      high = b;
  }
  return low;
}

// The same for every stiffness and mass.
TEST(a_stop_has_the_restitution_of_its_damping_times_the_speed) {
  static const double m[] = {1.0, 0.02}, k[] = {1e4, 3e5}, a[] = {0.1, 0.5, 2.0, 10.0};
  for (int i = 0; i < COUNT(m); ++i) {
    for (int j = 0; j < COUNT(a); ++j) {
      const double c = 0.4, v = a[j] / c;
      Bench b = slider(m[i], k[i], c, 0.0, 0.0, -v);
      const srRunResult result = run(b, "dopri5", 10 * sqrt(m[i] / k[i]) * (1.0 + a[j]), 1e-10, 1e-13);
      ENSURE(b.d->q[0] > 0.0);
      ENSURE_NEAR(c * b.d->v[0], speed_out(a[j] - log1p(a[j])), 1e-6);
      ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-7);  // rtol 1e-10 over two kinks
      unload(b);
    }
  }
  ENSURE_NEAR(speed_out(0.1 - log1p(0.1)) / 0.1, 1.0 - 2.0 / 3 * 0.1, 0.006);  // next term 0.5 (c v)^2
}

// From rest the whole integral of the law is that of the way back.
TEST(a_joint_far_outside_of_a_stop_comes_back_with_the_speed_of_its_integral) {
  const double m = 0.01, k = 1e5, c = 1.0, d = 0.9;
  const double w = speed_out(c * c * k * d * d / (2 * m)) / c;
  ENSURE(w > 10.0 && w < 15.0);  // without damping 2846
  Bench b = slider(m, k, c, 0.0, -d, 0.0);
  (void)run(b, "dopri5", 0.2, 1e-9, 1e-9);
  ENSURE(b.d->q[0] > 0.0);
  ENSURE_NEAR(b.d->v[0], w, 1e-5);
  unload(b);
}

// m u' = k d exp(-c u) - m g, d' = -u with s = exp(c u):  s' = c (k d/m - g s), d' = -log(s)/c,  by rk4 up to t.
static void rates(double m, double k, double c, double g, const double x[2], double out[2]) {
  out[0] = -log(x[1]) / c;
  out[1] = c * (k * x[0] / m - g * x[1]);
}

static double speed_at(double m, double k, double c, double g, double d, double t) {
  enum { STEPS = 20000 };
  double x[2] = {d, 1.0}, r[4][2], z[2];
  const double h = t / STEPS, part[4] = {0.0, 0.5, 0.5, 1.0};
  for (int i = 0; i < STEPS; ++i) {
    for (int j = 0; j < 4; ++j) {
      for (int n = 0; n < 2; ++n) z[n] = x[n] + (j > 0 ? part[j] * h * r[j - 1][n] : 0.0);
      rates(m, k, c, g, z, r[j]);
    }
    for (int n = 0; n < 2; ++n) x[n] += h / 6 * (r[0][n] + 2 * r[1][n] + 2 * r[2][n] + r[3][n]);
  }
  ENSURE(x[0] > 0.0);  // still outside
  return log(x[1]) / c;
}

// Far outside of a hard stop and pushed out by its weight, as many robots begin at q = 0. A damped law that clamps slides here at
// the speed 1/c, in 73 362 steps of dopri5 for this motion.
TEST(a_joint_far_outside_of_a_stop_comes_back_in_few_steps) {
  static const struct {
    const char* method;
    long most;
  } cases[] = {{"dopri5", 1000}, {"mdop5", 1000}, {"radau5", 2000}, {"genalpha-ggl", 5000}};
  const double m = 0.01, k = 1e5, c = 1.0, d = 0.9, t = 0.05, w = speed_at(m, k, c, 9.81, d, t);
  for (int i = 0; i < COUNT(cases); ++i) {
    Bench b = slider(m, k, c, 9.81, -d, 0.0);
    const srRunResult result = run(b, cases[i].method, t, 1e-6, 1e-6);
    ENSURE_NEAR(b.d->v[0], w, 2e-4 * w);
    if (result.stats.evaluations >= cases[i].most) printf("  %s: %ld\n", cases[i].method, result.stats.evaluations);
    ENSURE(result.stats.evaluations < cases[i].most);
    unload(b);
  }
}
