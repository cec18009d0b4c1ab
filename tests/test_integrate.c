// Tests of src/integrate on textbook systems without bodies: orders, dense output, step control, failures, memory.
#include <float.h>
#include <math.h>
#include <sarrus/integrate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "heap.h"
#include "integrate/dopri5.h"
#include "integrate/rk4.h"
#include "runner.h"

#define PI 3.14159265358979323846
#define MAX_STATE 8

// ---- the textbook ---------------------------------------------------------------------------------------------------

// A system with a known solution, packed x = (q, v, y, w).
typedef struct Case {
  const char* name;
  srSystem system;
  double t_end;
  void (*exact)(double t, double* x);
} Case;

// Harmonic oscillator; w is the work of the spring.
static int oscillator_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot;
  qdot[0] = v[0];
  vdot[0] = -q[0];
  wdot[0] = -q[0] * v[0];
  return 0;
}

static void oscillator_exact(double t, double* x) {
  x[0] = cos(t) + 0.5 * sin(t);
  x[1] = -sin(t) + 0.5 * cos(t);
  x[2] = 0.5 * (1.0 - x[0] * x[0]);
}

// Two bodies, eccentricity 0.6; period 2 pi.
static int kepler_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                        double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  double r2 = q[0] * q[0] + q[1] * q[1], r3 = r2 * sqrt(r2);
  for (int i = 0; i < 2; ++i) {
    qdot[i] = v[i];
    vdot[i] = -q[i] / r3;
  }
  return 0;
}

static void kepler_exact(double t, double* x) {
  const double e = 0.6;
  double E = t + e * sin(t);
  for (int i = 0; i < 50; ++i) E -= (E - e * sin(E) - t) / (1.0 - e * cos(E));
  double rate = 1.0 / (1.0 - e * cos(E)), b = sqrt(1.0 - e * e);
  x[0] = cos(E) - e;
  x[1] = b * sin(E);
  x[2] = -sin(E) * rate;
  x[3] = b * cos(E) * rate;
}

// y' = -2 t y^2: the time enters by itself.
static int timed_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)q, (void)v, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = -2.0 * t * y[0] * y[0];
  return 0;
}

static void timed_exact(double t, double* x) { x[0] = 1.0 / (1.0 + t * t); }

// Free symmetric top: q a quaternion w x y z, v the angular velocity in body axes, inertia (A, A, C).
//   q' = 1/2 q o omega with q/|q|;   omega = (a cos(lt), a sin(lt), n), l = (C-A)/A n;   q(t) = rot(L, |L|t/A) o rot(z, -lt)
static const double top_A = 1.0, top_C = 1.7, top_a = 0.8, top_n = 1.3;

static void quaternion_product(const double* a, const double* b, double* out) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static double quaternion_norm(const double* q) { return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); }

static int top_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                     double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  const double l = (top_C - top_A) / top_A * v[2], s = 0.5 / quaternion_norm(q);
  const double omega[4] = {0.0, v[0] * s, v[1] * s, v[2] * s};
  quaternion_product(q, omega, qdot);
  vdot[0] = -l * v[1];
  vdot[1] = l * v[0];
  vdot[2] = 0.0;
  return 0;
}

static int top_accepted(void* user, double t, double* q, double* v, double* y) {
  (void)user, (void)t, (void)v, (void)y;
  double norm = quaternion_norm(q);
  for (int i = 0; i < 4; ++i) q[i] /= norm;
  return 0;
}

static void top_exact(double t, double* x) {
  const double Lx = top_A * top_a, Lz = top_C * top_n, L = hypot(Lx, Lz), l = (top_C - top_A) / top_A * top_n;
  const double s = sin(0.5 * L * t / top_A) / L;
  const double precession[4] = {cos(0.5 * L * t / top_A), Lx * s, 0.0, Lz * s};
  const double spin[4] = {cos(0.5 * l * t), 0.0, 0.0, -sin(0.5 * l * t)};
  quaternion_product(precession, spin, x);
  x[4] = top_a * cos(l * t);
  x[5] = top_a * sin(l * t);
  x[6] = top_n;
}

// A pulled mass held by friction with memory (Kikuuwe) that sticks: f = (B + tau K) v + K e, e' = v. Solution of tau = 0.
static const double stick_B = 0.4, stick_K = 1.0;

static int stick_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)wdot;
  if (tau < 0.0) tau = 0.0;  // the constant of this element
  qdot[0] = v[0];
  vdot[0] = 1.0 - (stick_B + tau * stick_K) * v[0] - stick_K * y[0];
  ydot[0] = v[0];
  return 0;
}

static void stick_exact(double t, double* x) {
  const double d = 0.5 * stick_B, w = sqrt(stick_K - d * d);
  x[0] = x[2] = 1.0 - exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
  x[1] = exp(-d * t) * sin(w * t) / w;
}

static const Case oscillator = {
    "oscillator", {.nq = 1, .nv = 1, .nw = 1, .rates = oscillator_rates}, 4.0, oscillator_exact};
static const Case kepler = {"kepler", {.nq = 2, .nv = 2, .rates = kepler_rates}, 4.0, kepler_exact};
static const Case timed = {"timed", {.ny = 1, .rates = timed_rates}, 2.0, timed_exact};
static const Case top = {"top", {.nq = 4, .nv = 3, .rates = top_rates, .accepted = top_accepted}, 4.0, top_exact};
static const Case stick = {"stick", {.nq = 1, .nv = 1, .ny = 1, .rates = stick_rates}, 4.0, stick_exact};

// ---- helpers --------------------------------------------------------------------------------------------------------

static int state_size(const srSystem* s) { return s->nq + s->nv + s->ny + s->nw; }

static srIntegrator* create(const char* method, const srSystem* system, srIntegratorOptions options) {
  srIntegrator* integrator = NULL;
  ENSURE(sri_create(method, system, &options, NULL, &integrator) == SR_OK);
  return integrator;
}

static srStatus start(srIntegrator* integrator, const srSystem* s, double t, const double* x) {
  return sri_start(integrator, t, x, x + s->nq, x + s->nq + s->nv);
}

// A fixed step also for adaptive methods: step = step_max and a tolerance that accepts everything.
static srIntegratorOptions fixed(double h) {
  return (srIntegratorOptions){.step = h, .step_max = h, .rtol = 1e30, .atol = 1e30};
}

static void get_state(const srIntegrator* integrator, const srSystem* s, double* x) {
  memcpy(x, sri_q(integrator), (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, sri_v(integrator), (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + s->nv, sri_y(integrator), (size_t)s->ny * sizeof *x);
  memcpy(x + s->nq + s->nv + s->ny, sri_w(integrator), (size_t)s->nw * sizeof *x);
}

static double distance(const double* a, const double* b, int n) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

static double error_at(const srIntegrator* integrator, const Case* c) {
  double x[MAX_STATE], exact[MAX_STATE];
  get_state(integrator, &c->system, x);
  c->exact(sri_time(integrator), exact);
  return distance(x, exact, state_size(&c->system));
}

static void run_to(srIntegrator* integrator, double t_end) {
  while (sri_time(integrator) < t_end) ENSURE(sri_step(integrator, t_end) == SR_OK);
}

static double error_of_run(const char* method, const Case* c, srIntegratorOptions options) {
  double x[MAX_STATE];
  c->exact(0.0, x);
  srIntegrator* integrator = create(method, &c->system, options);
  ENSURE(start(integrator, &c->system, 0.0, x) == SR_OK);
  run_to(integrator, c->t_end);
  double error = error_at(integrator, c);
  sri_destroy(integrator);
  return error;
}

static bool verbose(void) { return getenv("SARRUS_TEST_VERBOSE") != NULL; }

// Order from steps h and h/2, h small enough for the asymptote and large enough to be above rounding.
static double measured_order(const char* method, const Case* c, double h) {
  double coarse = error_of_run(method, c, fixed(h)), fine = error_of_run(method, c, fixed(0.5 * h));
  double order = log2(coarse / fine);
  if (verbose()) printf("order of %s on %s: %.3f (error %.2e at h = %g)\n", method, c->name, order, fine, 0.5 * h);
  return order;
}

// Power of h in the error of dense output within one step from the exact state.
static double dense_error(const char* method, const Case* c, double t, double h) {
  double x[MAX_STATE], exact[MAX_STATE], largest = 0.0;
  const srSystem* s = &c->system;
  srIntegrator* integrator = create(method, s, fixed(h));
  c->exact(t, x);
  ENSURE(start(integrator, s, t, x) == SR_OK);
  ENSURE(sri_step(integrator, t + 100.0 * h) == SR_OK);
  for (int i = 1; i < 20; ++i) {
    double ti = t + h * i / 20.0;
    ENSURE(sri_interpolate(integrator, ti, x, x + s->nq, x + s->nq + s->nv, NULL) == SR_OK);
    c->exact(ti, exact);
    largest = fmax(largest, distance(x, exact, s->nq + s->nv + s->ny));
  }
  sri_destroy(integrator);
  return largest;
}

static double measured_dense_power(const char* method, const Case* c, double h) {
  double power = log2(dense_error(method, c, 0.5, h) / dense_error(method, c, 0.5, 0.5 * h));
  if (verbose()) printf("dense output of %s on %s: h^%.3f\n", method, c->name, power);
  return power;
}

// ---- coefficients ---------------------------------------------------------------------------------------------------

typedef long double Row[SRI_STAGES_MAX + 1];

// z = A x
static void times_A(const srTableau* tableau, const Row x, Row z) {
  for (int i = 0; i <= tableau->stages; ++i) {
    z[i] = 0.0L;
    for (int j = 0; j < i && j < tableau->stages; ++j) z[i] += (long double)tableau->a[i][j] * x[j];
  }
}

static void times(const Row x, const Row y, Row z) {
  for (int i = 0; i <= SRI_STAGES_MAX; ++i) z[i] = x[i] * y[i];
}

// Largest residual of the conditions b . Phi(tree) = theta^p / gamma(tree) over the 17 rooted trees, those of order <= p.
static double order_residual(const srTableau* tableau, const Row b, int order, long double theta) {
  Row phi[17] = {{0.0L}};
  const Row one = {1, 1, 1, 1, 1, 1, 1, 1};
  static const int p[17] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  static const long double gamma[17] = {1, 2, 3, 6, 4, 8, 12, 24, 5, 10, 20, 15, 30, 20, 40, 60, 120};
  memcpy(phi[0], one, sizeof one);
  times_A(tableau, phi[0], phi[1]);                                  // c
  times(phi[1], phi[1], phi[2]);                                     // c^2
  times_A(tableau, phi[1], phi[3]);                                  // A c
  times(phi[2], phi[1], phi[4]);                                     // c^3
  times(phi[1], phi[3], phi[5]);                                     // c A c
  times_A(tableau, phi[2], phi[6]);                                  // A c^2
  times_A(tableau, phi[3], phi[7]);                                  // A A c
  times(phi[2], phi[2], phi[8]);                                     // c^4
  times(phi[2], phi[3], phi[9]);                                     // c^2 A c
  times(phi[3], phi[3], phi[10]);                                    // (A c)^2
  times(phi[1], phi[6], phi[11]);                                    // c A c^2
  times(phi[1], phi[7], phi[12]);                                    // c A A c
  for (int i = 4; i < 8; ++i) times_A(tableau, phi[i], phi[i + 9]);  // A c^3, A (c A c), A A c^2, A A A c
  double largest = 0.0;
  for (int tree = 0; tree < 17 && p[tree] <= order; ++tree) {
    long double sum = 0.0L;
    for (int i = 0; i <= tableau->stages; ++i) sum += b[i] * phi[tree][i];
    largest = fmax(largest, (double)fabsl(sum - powl(theta, p[tree]) / gamma[tree]));
  }
  return largest;
}

TEST(coefficients_of_rk4_satisfy_the_order_conditions) {
  Row b = {0};
  for (int i = 0; i < 4; ++i) b[i] = (long double)sri_rk4_tableau.a[4][i];
  ENSURE_SMALL(order_residual(&sri_rk4_tableau, b, 4, 1.0L), 1e-16);
  ENSURE(order_residual(&sri_rk4_tableau, b, 5, 1.0L) > 1e-3);
}

TEST(coefficients_of_dopri5_satisfy_the_order_conditions) {
  // Coefficients up to 30 are rounded to double, hence 1e-14.
  const srTableau* tableau = &sri_dopri5_tableau;
  Row b = {0}, bhat = {0};
  for (int i = 0; i < 6; ++i) b[i] = (long double)tableau->a[6][i];
  for (int i = 0; i < 7; ++i) bhat[i] = b[i] - (long double)sri_dopri5_error[i];
  ENSURE_SMALL(order_residual(tableau, b, 5, 1.0L), 1e-14);
  ENSURE_SMALL(order_residual(tableau, bhat, 4, 1.0L), 1e-14);
  ENSURE(order_residual(tableau, bhat, 5, 1.0L) > 1e-5);
  for (int i = 1; i < 6; ++i) {
    double sum = 0.0;
    for (int j = 0; j < i; ++j) sum += tableau->a[i][j];
    ENSURE_NEAR(sum, tableau->c[i], 1e-14);
  }
}

TEST(dense_output_of_dopri5_satisfies_the_conditions_of_order_4) {
  for (int step = 1; step < 10; ++step) {
    const long double th = 0.1L * step;
    Row b = {0};
    for (int i = 0; i < 7; ++i) {
      long double bi = i < 6 ? (long double)sri_dopri5_tableau.a[6][i] : 0.0L;
      long double p = (i == 0 ? 1.0L : 0.0L) - bi, q = bi - (i == 6 ? 1.0L : 0.0L) - p;
      b[i] = th * (bi + (1 - th) * (p + th * (q + (1 - th) * (long double)sri_dopri5_dense[i])));
    }
    ENSURE_SMALL(order_residual(&sri_dopri5_tableau, b, 4, th), 1e-14);
  }
}

// ---- orders ---------------------------------------------------------------------------------------------------------

TEST(euler_has_order_1) {
  ENSURE_NEAR(measured_order("euler", &oscillator, 1.0 / 2048), 1.0, 0.1);
  ENSURE_NEAR(measured_order("euler", &timed, 1.0 / 2048), 1.0, 0.1);
  ENSURE_NEAR(measured_order("euler", &top, 1.0 / 2048), 1.0, 0.1);
}

TEST(rk4_has_order_4) {
  ENSURE_NEAR(measured_order("rk4", &oscillator, 1.0 / 64), 4.0, 0.1);
  ENSURE_NEAR(measured_order("rk4", &kepler, 1.0 / 512), 4.0, 0.1);
  ENSURE_NEAR(measured_order("rk4", &timed, 1.0 / 64), 4.0, 0.1);
}

TEST(dopri5_has_order_5) {
  ENSURE_NEAR(measured_order("dopri5", &oscillator, 1.0 / 16), 5.0, 0.1);
  ENSURE_NEAR(measured_order("dopri5", &oscillator, 1.0 / 32), 5.0, 0.1);
}

// On these two the term h^6 of the error is not yet small compared with h^5 where rounding sets in: the order comes down to 5 as
// p + C h (Kepler 5.18, 5.13 for h = 1/128, 1/256; timed 5.37, 5.20 for h = 1/16, 1/32). What it tends to is tested to 0.1,
// the last value itself to 0.25.
TEST(dopri5_approaches_order_5_from_above_on_hard_problems) {
  const Case* cases[] = {&kepler, &timed};
  const double steps[] = {1.0 / 128, 1.0 / 16};
  for (int c = 0; c < 2; ++c) {
    double coarse = measured_order("dopri5", cases[c], steps[c]);
    double fine = measured_order("dopri5", cases[c], 0.5 * steps[c]);
    ENSURE_NEAR(2.0 * fine - coarse, 5.0, 0.1);
    ENSURE_NEAR(fine, 5.0, 0.25);
  }
}

TEST(quaternions_that_accepted_normalises_keep_the_order) {
  ENSURE_NEAR(measured_order("rk4", &top, 1.0 / 64), 4.0, 0.1);
  ENSURE_NEAR(measured_order("dopri5", &top, 1.0 / 32), 5.0, 0.1);
}

TEST(quaternions_that_accepted_normalises_are_of_unit_length_after_every_step) {
  const char* methods[] = {"euler", "rk4", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    double x[MAX_STATE];
    top.exact(0.0, x);
    srIntegrator* integrator =
        create(methods[m], &top.system, (srIntegratorOptions){.step = 0.05, .rtol = 1e-4, .atol = 1e-4});
    ENSURE(start(integrator, &top.system, 0.0, x) == SR_OK);
    while (sri_time(integrator) < 20.0) {
      ENSURE(sri_step(integrator, 20.0) == SR_OK);
      ENSURE_NEAR(quaternion_norm(sri_q(integrator)), 1.0, 4.0 * DBL_EPSILON);
    }
    sri_destroy(integrator);
  }
}

TEST(a_quadrature_has_the_order_of_the_method) {
  const char* methods[] = {"euler", "rk4", "dopri5", "auto"};
  const double steps[] = {1.0 / 2048, 1.0 / 64, 1.0 / 16, 1.0 / 16};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    double x[MAX_STATE], error[2];
    for (int half = 0; half < 2; ++half) {
      oscillator.exact(0.0, x);
      srIntegrator* integrator = create(methods[m], &oscillator.system, fixed(steps[m] / (1 + half)));
      ENSURE(start(integrator, &oscillator.system, 0.0, x) == SR_OK);
      run_to(integrator, 4.0);
      oscillator.exact(4.0, x);
      error[half] = fabs(sri_w(integrator)[0] - x[2]);
      sri_destroy(integrator);
    }
    ENSURE_NEAR(log2(error[0] / error[1]), sri_method_find(methods[m])->order, 0.1);
  }
}

TEST(friction_that_sticks_makes_rk4_first_order_and_leaves_dopri5_alone) {
  ENSURE_NEAR(measured_order("rk4", &stick, 1.0 / 256), 1.0, 0.1);
  ENSURE_NEAR(measured_order("dopri5", &stick, 1.0 / 16), 5.0, 0.1);
}

// ---- dense output ---------------------------------------------------------------------------------------------------

TEST(dense_output_is_accurate_within_a_step) {
  ENSURE_NEAR(measured_dense_power("euler", &kepler, 1e-3), 2.0, 0.1);
  ENSURE_NEAR(measured_dense_power("rk4", &kepler, 1.0 / 64), 4.0, 0.1);
  ENSURE_NEAR(measured_dense_power("dopri5", &kepler, 1.0 / 64), 5.0, 0.1);
  ENSURE_NEAR(measured_dense_power("rk4", &top, 1.0 / 64), 4.0, 0.1);
  ENSURE_NEAR(measured_dense_power("dopri5", &top, 1.0 / 32), 5.0, 0.1);
}

TEST(dense_output_meets_the_states_at_both_ends_and_refuses_times_outside) {
  const char* methods[] = {"euler", "rk4", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    double x[MAX_STATE], before[MAX_STATE], got[MAX_STATE], near[MAX_STATE];
    const srSystem* s = &top.system;
    srIntegrator* integrator = create(methods[m], s, fixed(0.1));
    top.exact(0.0, x);
    ENSURE(start(integrator, s, 0.0, x) == SR_OK);
    ENSURE(sri_interpolate(integrator, 0.0, got, NULL, NULL, NULL) == SR_OK && distance(got, x, 4) == 0.0);
    ENSURE(sri_interpolate(integrator, 0.1, got, NULL, NULL, NULL) == SR_INPUT);
    ENSURE(sri_step(integrator, 1.0) == SR_OK);
    get_state(integrator, s, before);
    ENSURE(sri_step(integrator, 1.0) == SR_OK);
    get_state(integrator, s, x);
    double t0 = sri_time_before(integrator), t1 = sri_time(integrator);
    ENSURE(sri_interpolate(integrator, t0, got, got + 4, NULL, NULL) == SR_OK && distance(got, before, 7) == 0.0);
    ENSURE(sri_interpolate(integrator, t1, got, got + 4, NULL, NULL) == SR_OK && distance(got, x, 7) == 0.0);
    ENSURE(sri_interpolate(integrator, t1 - 1e-9, near, near + 4, NULL, NULL) == SR_OK);
    ENSURE_SMALL(distance(near, x, 7), 1e-8);
    ENSURE(sri_interpolate(integrator, t0 - 0.01, got, NULL, NULL, NULL) == SR_INPUT);
    ENSURE(sri_interpolate(integrator, t1 + 0.01, got, NULL, NULL, NULL) == SR_INPUT);
    ENSURE(sri_interpolate(integrator, (double)NAN, got, NULL, NULL, NULL) == SR_INPUT);
    sri_destroy(integrator);
  }
}

// ---- times and steps ------------------------------------------------------------------------------------------------

TEST(fixed_steps_are_on_a_grid_without_rounding_and_end_on_the_limit) {
  const double h = 0.003;
  double x[MAX_STATE];
  oscillator.exact(0.0, x);
  srIntegrator* integrator = create("rk4", &oscillator.system, (srIntegratorOptions){.step = h});
  ENSURE(start(integrator, &oscillator.system, 7.0, x) == SR_OK);
  for (int k = 1; k <= 333; ++k) {
    ENSURE(sri_step(integrator, 8.0) == SR_OK);
    ENSURE(sri_time(integrator) == 7.0 + k * h);
  }
  ENSURE(sri_step(integrator, 8.0) == SR_OK);
  ENSURE(sri_time(integrator) == 8.0);
  ENSURE_NEAR(sri_stats(integrator)->step_last, 0.001, 1e-14);
  ENSURE_EQUAL(sri_stats(integrator)->steps, 334);
  // 0.1 is no binary number; ten of them still make ten steps, not eleven.
  sri_destroy(integrator);
  integrator = create("euler", &oscillator.system, (srIntegratorOptions){.step = 0.1});
  ENSURE(start(integrator, &oscillator.system, 0.0, x) == SR_OK);
  run_to(integrator, 1.0);
  ENSURE_EQUAL(sri_stats(integrator)->steps, 10);
  ENSURE(sri_stats(integrator)->step_smallest == 0.1 && sri_stats(integrator)->step_largest == 0.1);
  sri_destroy(integrator);
}

TEST(adaptive_steps_end_exactly_on_every_limit) {
  double x[MAX_STATE];
  kepler.exact(0.0, x);
  srIntegrator* integrator = create("dopri5", &kepler.system, sri_default_options());
  ENSURE(start(integrator, &kepler.system, 0.0, x) == SR_OK);
  for (int k = 1; k <= 100; ++k) {
    run_to(integrator, 0.037 * k);
    ENSURE(sri_time(integrator) == 0.037 * k);
  }
  ENSURE_SMALL(error_at(integrator, &kepler), 1e-5);
  sri_destroy(integrator);
}

TEST(adaptive_steps_leave_no_crumb_before_the_limit) {
  double x[MAX_STATE];
  oscillator.exact(0.0, x);
  srIntegrator* integrator = create("dopri5", &oscillator.system, fixed(0.3));
  ENSURE(start(integrator, &oscillator.system, 0.0, x) == SR_OK);
  run_to(integrator, 1.0);  // 0.3, 0.3, then twice 0.2
  ENSURE_EQUAL(sri_stats(integrator)->steps, 4);
  ENSURE_NEAR(sri_stats(integrator)->step_smallest, 0.2, 1e-14);
  ENSURE(start(integrator, &oscillator.system, 0.0, x) == SR_OK);
  run_to(integrator, 0.9);  // three steps to rounding
  ENSURE_EQUAL(sri_stats(integrator)->steps, 7);
  ENSURE_SMALL(sri_stats(integrator)->step_largest, 0.3 * (1.0 + 1e-11));
  sri_destroy(integrator);
}

TEST(a_step_without_limit_is_possible_and_one_backwards_is_refused) {
  double x[MAX_STATE];
  oscillator.exact(0.0, x);
  srIntegrator* integrator = create("rk4", &oscillator.system, fixed(0.25));
  ENSURE(sri_step(integrator, 1.0) == SR_INPUT);
  ENSURE_TEXT(sri_error_message(integrator), "a step was asked for before sri_start");
  ENSURE(start(integrator, &oscillator.system, 2.0, x) == SR_OK);
  ENSURE(sri_step(integrator, HUGE_VAL) == SR_OK);
  ENSURE(sri_time(integrator) == 2.25);
  ENSURE(sri_step(integrator, 2.25) == SR_INPUT);
  ENSURE_TEXT(sri_error_message(integrator),
              "a step was asked for to t = 2.25, which is not after the present t = 2.25");
  ENSURE(sri_step(integrator, (double)NAN) == SR_INPUT);
  x[0] = (double)NAN;
  ENSURE(start(integrator, &oscillator.system, 2.0, x) == SR_INPUT);
  sri_destroy(integrator);
}

// ---- step control ---------------------------------------------------------------------------------------------------

// Orbit of Arenstorf, Hairer, Norsett, Wanner I, II.0: closed, with a passage near the moon that wants small steps.
static int arenstorf_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                           double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  const double mu = 0.012277471, nu = 1.0 - mu;
  const double a = q[0] + mu, b = q[0] - nu;
  const double D1 = pow(a * a + q[1] * q[1], 1.5), D2 = pow(b * b + q[1] * q[1], 1.5);
  qdot[0] = v[0];
  qdot[1] = v[1];
  vdot[0] = q[0] + 2.0 * v[1] - nu * a / D1 - mu * b / D2;
  vdot[1] = q[1] - 2.0 * v[0] - nu * q[1] / D1 - mu * q[1] / D2;
  return 0;
}

TEST(the_orbit_of_arenstorf_closes_with_steps_that_differ_by_hundreds) {
  const srSystem s = {.nq = 2, .nv = 2, .rates = arenstorf_rates};
  const double x[4] = {0.994, 0.0, 0.0, -2.00158510637908252240537862224}, T = 17.0652165601579625588917206249;
  srIntegrator* integrator = create("dopri5", &s, (srIntegratorOptions){.rtol = 1e-10, .atol = 1e-10});
  ENSURE(start(integrator, &s, 0.0, x) == SR_OK);
  run_to(integrator, T);
  const srIntegratorStats* stats = sri_stats(integrator);
  if (verbose()) {
    printf("arenstorf: %ld steps, %ld rejected, steps %.2e to %.2e, error %.2e\n", stats->steps, stats->rejected,
           stats->step_smallest, stats->step_largest, distance(sri_q(integrator), x, 2));
  }
  ENSURE_SMALL(distance(sri_q(integrator), x, 2), 1e-5);
  ENSURE(stats->step_largest > 300.0 * stats->step_smallest);
  ENSURE(stats->steps < 1000 && stats->rejected > 0 && stats->rejected < stats->steps / 4);
  // First step: two evaluations. Then six a trial, since the last stage is the first of the next step.
  ENSURE_EQUAL(stats->evaluations, 2 + 6 * (stats->steps + stats->rejected));
  sri_destroy(integrator);
}

TEST(the_global_error_falls_in_proportion_to_the_tolerance) {
  const Case* cases[] = {&kepler, &top, &timed};
  for (int c = 0; c < 3; ++c) {
    double error[2];
    for (int i = 0; i < 2; ++i) {
      double tolerance = i == 0 ? 1e-5 : 1e-10;
      error[i] = error_of_run("dopri5", cases[c], (srIntegratorOptions){.rtol = tolerance, .atol = tolerance});
    }
    double power = log10(error[0] / error[1]) / 5.0;
    if (verbose()) printf("tolerance on %s: error ~ tol^%.3f, %.2e at 1e-10\n", cases[c]->name, power, error[1]);
    ENSURE_NEAR(power, 1.0, 0.15);
    ENSURE(error[1] < 100.0 * 1e-10);
  }
}

// Oscillator whose quadrature is wild.
static int wild_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)user, (void)y, (void)tau, (void)ydot;
  qdot[0] = v[0];
  vdot[0] = -q[0];
  if (wdot != NULL) wdot[0] = 1e9 * sin(1e6 * t);
  return 0;
}

static int calm_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)wdot;
  return wild_rates(user, t, q, v, y, tau, qdot, vdot, ydot, NULL);
}

TEST(quadratures_do_not_influence_the_steps) {
  const srSystem with = {.nq = 1, .nv = 1, .nw = 1, .rates = wild_rates};
  const srSystem without = {.nq = 1, .nv = 1, .rates = calm_rates};
  const double x[2] = {1.0, 0.0};
  srIntegrator* a = create("dopri5", &with, sri_default_options());
  srIntegrator* b = create("dopri5", &without, sri_default_options());
  ENSURE(start(a, &with, 0.0, x) == SR_OK && start(b, &without, 0.0, x) == SR_OK);
  while (sri_time(a) < 10.0) {
    ENSURE(sri_step(a, 10.0) == SR_OK && sri_step(b, 10.0) == SR_OK);
    ENSURE(sri_time(a) == sri_time(b) && sri_q(a)[0] == sri_q(b)[0] && sri_v(a)[0] == sri_v(b)[0]);
  }
  sri_destroy(a);
  sri_destroy(b);
}

// ---- tau ------------------------------------------------------------------------------------------------------------

typedef struct Probe {
  int calls;
  double t[64], tau[64];
  int refuse_call;      // this call returns 1
  double stop_after;    // t above it: -1
  double poison_after;  // t above it: NaN
  double z;             // discrete state
} Probe;

static Probe fresh_probe(void) { return (Probe){.refuse_call = -1, .stop_after = HUGE_VAL, .poison_after = HUGE_VAL}; }

static int probe_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  Probe* probe = user;
  (void)y, (void)ydot, (void)wdot;
  if (probe->calls < 64) {
    probe->t[probe->calls] = t;
    probe->tau[probe->calls] = tau;
  }
  ++probe->calls;
  if (probe->calls - 1 == probe->refuse_call) return 1;
  if (t > probe->stop_after) return -1;
  qdot[0] = v[0];
  vdot[0] = t > probe->poison_after ? (double)NAN : probe->z - q[0];
  return 0;
}

static srIntegrator* start_probe(const char* method, Probe* probe, srIntegratorOptions options) {
  const srSystem s = {.nq = 1, .nv = 1, .user = probe, .rates = probe_rates};
  const double x[2] = {1.0, 0.0};
  srIntegrator* integrator = create(method, &s, options);
  ENSURE(start(integrator, &s, 0.0, x) == SR_OK);
  return integrator;
}

TEST(rk4_gives_its_stage_lengths_to_the_force_elements) {
  Probe probe = fresh_probe();
  const double T = 0.125, rest = 0.0625;
  srIntegrator* integrator = start_probe("rk4", &probe, fixed(T));
  run_to(integrator, 2.0 * T + rest);
  // Two regular steps; the rates at their end are stage 1 of the next. The third is short: stage 1 is evaluated anew.
  const double tau[] = {T / 2, T / 2, T, T, T / 2, T / 2, T, T, T / 2, rest / 2, rest / 2, rest, rest, T / 2};
  const double t[] = {0,
                      T / 2,
                      T / 2,
                      T,
                      T,
                      1.5 * T,
                      1.5 * T,
                      2 * T,
                      2 * T,
                      2 * T,
                      2 * T + rest / 2,
                      2 * T + rest / 2,
                      2 * T + rest,
                      2 * T + rest};
  ENSURE_EQUAL(probe.calls, SR_COUNT(tau));
  for (int i = 0; i < SR_COUNT(tau); ++i) {
    ENSURE(probe.tau[i] == tau[i]);
    ENSURE(probe.t[i] == t[i]);
  }
  ENSURE_EQUAL(sri_stats(integrator)->evaluations, probe.calls);
  sri_destroy(integrator);
}

TEST(the_other_methods_leave_tau_to_the_force_elements) {
  const char* methods[] = {"euler", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    Probe probe = fresh_probe();
    srIntegrator* integrator = start_probe(methods[m], &probe, (srIntegratorOptions){.step = 0.1, .rtol = 1e-3});
    for (int i = 0; i < 5; ++i) ENSURE(sri_step(integrator, 1.0) == SR_OK || sri_time(integrator) == 1.0);
    ENSURE(probe.calls > 0);
    for (int i = 0; i < probe.calls && i < 64; ++i) ENSURE(probe.tau[i] == SR_TAU_ELEMENT);
    sri_destroy(integrator);
  }
}

// ---- accepted -------------------------------------------------------------------------------------------------------

static int switch_z(void* user, double t, double* q, double* v, double* y) {
  (void)q, (void)v, (void)y;
  if (t >= 1.0) ((Probe*)user)->z = 2.0;
  return 0;
}

TEST(a_discrete_state_that_accepted_changes_acts_from_the_next_step_on) {
  const char* methods[] = {"rk4", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    Probe probe = fresh_probe();
    const srSystem s = {.nq = 1, .nv = 1, .nz = 1, .user = &probe, .rates = probe_rates, .accepted = switch_z};
    const double x[2] = {1.0, 0.0};
    srIntegrator* integrator =
        create(methods[m], &s, (srIntegratorOptions){.step = 1e-3, .rtol = 1e-10, .atol = 1e-10});
    ENSURE(start(integrator, &s, 0.0, x) == SR_OK);
    run_to(integrator, 1.0);
    double middle = 0.5 * (sri_time_before(integrator) + 1.0), q = 0.0, v = 0.0;
    ENSURE(sri_interpolate(integrator, middle, &q, &v, NULL, NULL) == SR_OK);
    ENSURE_NEAR(q, cos(middle), 1e-9);  // the step before the change does not feel it
    ENSURE_NEAR(v, -sin(middle), 1e-9);
    run_to(integrator, 2.0);
    ENSURE_NEAR(sri_q(integrator)[0], 2.0 + (cos(1.0) - 2.0) * cos(1.0) - sin(1.0) * sin(1.0), 1e-9);
    sri_destroy(integrator);
  }
}

static int keep_energy(void* user, double t, double* q, double* v, double* y) {
  (void)user, (void)t, (void)y;
  double scale = sqrt(1.25 / (q[0] * q[0] + v[0] * v[0]));
  q[0] *= scale;
  v[0] *= scale;
  return 0;
}

TEST(rates_are_evaluated_anew_where_accepted_moved_the_velocity) {
  srSystem s = oscillator.system;
  s.accepted = keep_energy;
  double x[MAX_STATE];
  oscillator.exact(0.0, x);
  srIntegrator* integrator = create("dopri5", &s, (srIntegratorOptions){.step = 0.2, .rtol = 1e-6, .atol = 1e-6});
  ENSURE(start(integrator, &s, 0.0, x) == SR_OK);
  run_to(integrator, 4.0);
  const srIntegratorStats* stats = sri_stats(integrator);
  ENSURE_EQUAL(stats->evaluations, 7 * stats->steps + 6 * stats->rejected);
  ENSURE_NEAR(sri_q(integrator)[0] * sri_q(integrator)[0] + sri_v(integrator)[0] * sri_v(integrator)[0], 1.25, 1e-14);
  ENSURE_SMALL(error_at(integrator, &oscillator), 1e-5);
  sri_destroy(integrator);
}

static int refuse_long_steps(void* user, double t, double* q, double* v, double* y) {
  double* last = user;
  (void)q, (void)v, (void)y;
  if (t - *last > 0.06) return 1;
  *last = t;
  return 0;
}

TEST(accepted_may_ask_for_a_smaller_step) {
  double last = 0.0, x[MAX_STATE];
  srSystem s = oscillator.system;
  s.accepted = refuse_long_steps;
  s.user = &last;
  oscillator.exact(0.0, x);
  srIntegrator* integrator = create("dopri5", &s, fixed(0.1));
  ENSURE(start(integrator, &s, 0.0, x) == SR_OK);
  run_to(integrator, 1.0);
  ENSURE(sri_stats(integrator)->rejected > 0 && sri_stats(integrator)->step_largest <= 0.06);
  ENSURE_SMALL(error_at(integrator, &oscillator), 1e-8);
  sri_destroy(integrator);
}

// ---- failures -------------------------------------------------------------------------------------------------------

TEST(a_refused_evaluation_halves_the_step_and_counts_as_rejected) {
  Probe probe = fresh_probe();
  probe.refuse_call = 3;
  srIntegrator* integrator = start_probe("dopri5", &probe, fixed(0.1));
  ENSURE(sri_step(integrator, 1.0) == SR_OK);
  ENSURE(sri_time(integrator) == 0.05);
  ENSURE_EQUAL(sri_stats(integrator)->rejected, 1);
  ENSURE_EQUAL(sri_stats(integrator)->steps, 1);
  ENSURE(sri_step(integrator, 1.0) == SR_OK);
  ENSURE(sri_stats(integrator)->step_last <= 0.05 * (1.0 + 1e-12));  // no increase right after a rejection
  sri_destroy(integrator);
}

TEST(a_refused_evaluation_ends_a_method_with_fixed_step) {
  Probe probe = fresh_probe();
  probe.refuse_call = 3;
  srIntegrator* integrator = start_probe("rk4", &probe, fixed(0.5));
  ENSURE(sri_step(integrator, 1.0) == SR_FAILED);
  ENSURE_TEXT(
      sri_error_message(integrator),
      "the step from t = 0 to 0.5 failed: the equations of motion could not be evaluated; the method has a fixed "
      "step, a smaller one may help");
  ENSURE(sri_time(integrator) == 0.0 && sri_q(integrator)[0] == 1.0);
  sri_destroy(integrator);
}

TEST(a_system_that_stops_ends_the_run_and_the_last_state_stays) {
  const char* methods[] = {"euler", "rk4", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    Probe probe = fresh_probe();
    probe.stop_after = 0.55;
    srIntegrator* integrator = start_probe(methods[m], &probe, fixed(0.1));
    srStatus status = SR_OK;
    while (status == SR_OK && sri_time(integrator) < 1.0) status = sri_step(integrator, 1.0);
    ENSURE(status == SR_FAILED);
    ENSURE(sri_time(integrator) > 0.45 && sri_time(integrator) < 0.65);
    ENSURE_NEAR(sri_q(integrator)[0], cos(sri_time(integrator)), 0.1);
    ENSURE(strstr(sri_error_message(integrator), "stop") != NULL ||
           strstr(sri_error_message(integrator), "evaluated at t = 0.6") != NULL);
    double q;
    ENSURE(sri_interpolate(integrator, sri_time(integrator), &q, NULL, NULL, NULL) == SR_OK);
    ENSURE(sri_interpolate(integrator, sri_time(integrator) - 0.01, &q, NULL, NULL, NULL) == SR_INPUT);
    sri_destroy(integrator);
  }
}

TEST(a_state_that_is_not_a_number_is_never_accepted) {
  const char* methods[] = {"euler", "rk4", "dopri5", "auto"};
  for (int m = 0; m < SR_COUNT(methods); ++m) {
    Probe probe = fresh_probe();
    probe.poison_after = 0.55;
    srIntegrator* integrator = start_probe(methods[m], &probe, fixed(0.1));
    srStatus status = SR_OK;
    while (status == SR_OK && sri_time(integrator) < 1.0) status = sri_step(integrator, 1.0);
    ENSURE(status == SR_FAILED);
    ENSURE(isfinite(sri_q(integrator)[0]) && isfinite(sri_v(integrator)[0]));
    ENSURE(sri_time(integrator) > 0.45 && sri_time(integrator) < 0.65);
    if (verbose()) printf("%s: %s\n", methods[m], sri_error_message(integrator));
    ENSURE(strstr(sri_error_message(integrator), "not a") != NULL);
    if (m == 2) {
      ENSURE_NEAR(sri_time(integrator), 0.55, 1e-12);
      ENSURE(sri_stats(integrator)->rejected > 10);
    }
    sri_destroy(integrator);
  }
}

// y' = y^2 has its pole at t = 1.
static int pole_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)v, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = y[0] * y[0];
  return 0;
}

TEST(a_step_below_the_least_one_fails_and_names_time_and_step) {
  const srSystem s = {.ny = 1, .rates = pole_rates};
  const double y0 = 1.0;
  srIntegratorOptions options = sri_default_options();
  options.step_min = 1e-6;
  srIntegrator* integrator = create("dopri5", &s, options);
  ENSURE(sri_start(integrator, 0.0, NULL, NULL, &y0) == SR_OK);
  srStatus status = SR_OK;
  while (status == SR_OK && sri_time(integrator) < 2.0) status = sri_step(integrator, 2.0);
  ENSURE(status == SR_FAILED);
  ENSURE_NEAR(sri_time(integrator), 1.0, 1e-4);
  if (verbose()) printf("%s\n", sri_error_message(integrator));
  ENSURE(strstr(sri_error_message(integrator), "at t = 0.9999") != NULL &&
         strstr(sri_error_message(integrator), "1e-06") != NULL);
  ENSURE(sri_stats(integrator)->step_smallest >= 1e-6);
  sri_destroy(integrator);
}

// ---- creation and memory --------------------------------------------------------------------------------------------

static void ensure_refused(const char* method, const srSystem* system, srIntegratorOptions options, const char* text) {
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  ENSURE(sri_create(method, system, &options, messages, &integrator) == SR_INPUT);
  ENSURE(integrator == NULL);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE_TEXT(sr_messages_get(messages, 0)->text, text);
  sr_messages_destroy(messages);
}

TEST(what_does_not_fit_is_refused_with_a_sentence) {
  const srSystem bare = {.nq = 1, .nv = 1}, *s = &oscillator.system;
  const srSystem negative = {.nq = -1, .nv = 1, .rates = oscillator_rates};
#define METHOD_AND(name, word) word ", "
  const char list[] = SR_METHOD_LIST(METHOD_AND);
#undef METHOD_AND
  char unknown[400];
  snprintf(unknown, sizeof unknown, "unknown integration method 'rk5': expected one of %.*s; did you mean 'rk4'?",
           (int)sizeof list - 3, list);
  ensure_refused("rk5", s, fixed(0.1), unknown);
  ensure_refused(
      "dopri5", &bare, sri_default_options(),
      "the method 'dopri5' needs the rates of the state, and the system does not offer them (callback 'rates')");
  ensure_refused("rk4", s, sri_default_options(),
                 "the method 'rk4' has a fixed step and was given step = 0: expected a number > 0");
  ensure_refused("dopri5", s, (srIntegratorOptions){.rtol = 0.0},
                 "the method 'dopri5' was given rtol = 0 and atol = 0: expected numbers >= 0, not both zero");
  ensure_refused("dopri5", s, (srIntegratorOptions){.rtol = -1.0, .atol = 2.0},
                 "the method 'dopri5' was given rtol = -1 and atol = 2: expected numbers >= 0, not both zero");
  ensure_refused("dopri5", s, (srIntegratorOptions){.rtol = 1e-3, .step_max = -1.0},
                 "the method 'dopri5' was given step = 0, step_min = 0, step_max = -1: expected numbers >= 0");
  ensure_refused("dopri5", s, (srIntegratorOptions){.rtol = 1e-3, .step_min = 0.1, .step_max = 0.01},
                 "step_max = 0.01 is smaller than step_min = 0.1");
  ensure_refused("euler", &negative, fixed(0.1), "the system has a negative size: nq -1, nv 1, ny 0, nw 0");
}

TEST(the_methods_can_be_listed) {
  ENSURE(sri_method_count() >= 3);
  ENSURE(sri_method(-1) == NULL && sri_method(sri_method_count()) == NULL && sri_method_find("x") == NULL);
  for (int i = 0; i < sri_method_count(); ++i) ENSURE(sri_method_find(sri_method(i)->name) == sri_method(i));
  ENSURE(sri_method_find("dopri5")->order == 5 && sri_method_find("dopri5")->adaptive);
  ENSURE(sri_method_find("rk4")->order == 4 && !sri_method_find("rk4")->adaptive);
}

TEST(stepping_and_restarting_allocate_nothing) {
  Heap heap = {0};
  bool good = true;
  double x[MAX_STATE], state[2][MAX_STATE];
  top.exact(0.0, x);
  sr_set_allocator(heap_allocator, &heap);
  for (int m = 0; m < sri_method_count() && good; ++m) {
    if (sri_method(m)->implicit || sri_method(m)->impulses)
      continue;  // they need more than rates, and have tests of their own
    srIntegrator* integrator = NULL;
    srIntegratorOptions options = {.step = 1e-3, .rtol = 1e-8, .atol = 1e-8};
    good = sri_create(sri_method(m)->name, &top.system, &options, NULL, &integrator) == SR_OK;
    long before = heap.calls;
    for (int run = 0; run < 2 && good; ++run) {
      good = start(integrator, &top.system, 0.0, x) == SR_OK;
      for (int i = 0; i < 1000 && good; ++i) {
        double q[4];
        good = sri_step(integrator, HUGE_VAL) == SR_OK;
        good = good && sri_interpolate(integrator, sri_time_before(integrator), q, NULL, NULL, NULL) == SR_OK;
      }
      get_state(integrator, &top.system, state[run]);
    }
    // A restart repeats the run bit by bit.
    good = good && heap.calls == before && memcmp(state[0], state[1], 7 * sizeof(double)) == 0;
    sri_destroy(integrator);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE(good);
  ENSURE(heap.calls > 0);
  ENSURE_EQUAL(heap.live, 0);
}

TEST(running_out_of_memory_is_reported) {
  Heap heap = {.fail_at = 1};
  srIntegrator* integrator = NULL;
  srIntegratorOptions options = fixed(0.1);
  sr_set_allocator(heap_allocator, &heap);
  srStatus status = sri_create("dopri5", &top.system, &options, NULL, &integrator);
  sr_set_allocator(NULL, NULL);
  ENSURE(status == SR_MEMORY && integrator == NULL);
  sri_destroy(NULL);
}

// A system without states has nothing to control; time still goes by.
static int empty_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)qdot, (void)vdot, (void)ydot, (void)wdot;
  return 0;
}

TEST(a_system_without_states_runs_to_its_end) {
  const srSystem s = {.rates = empty_rates};
  for (int m = 0; m < sri_method_count(); ++m) {
    if (sri_method(m)->implicit || sri_method(m)->impulses) continue;
    srIntegrator* integrator = create(sri_method(m)->name, &s, (srIntegratorOptions){.step = 0.1, .rtol = 1e-6});
    ENSURE(sri_start(integrator, 0.0, NULL, NULL, NULL) == SR_OK);
    run_to(integrator, 1.0);
    ENSURE(sri_time(integrator) == 1.0);
    sri_destroy(integrator);
  }
}
