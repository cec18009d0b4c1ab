// Tests of cvode and ida: errors compared with the tolerance, constraints and redundant equations, quaternions, stiffness, restarts, dense
// output, limits of time, callbacks that fail. A build without SUNDIALS has but one test: the sentence.
#include <float.h>
#include <malloc.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"
#include "surface.h"

static const char* const methods[2] = {"cvode", "ida"};

#ifndef SARRUS_SUNDIALS

static int still(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = 0;
  return 0;
}

TEST(a_build_without_sundials_reports_it) {
  const srSystem s = {.ny = 1, .rates = still};
  for (int m = 0; m < 2; ++m) {
    srMessages* messages = sr_messages_create();
    srIntegrator* integrator = NULL;
    ENSURE(sri_method_find(methods[m]) != NULL);
    ENSURE_EQUAL(sri_create(methods[m], &s, NULL, messages, &integrator), SR_INPUT);
    ENSURE(integrator == NULL && sr_messages_count(messages) == 1);
    ENSURE(strstr(sr_messages_get(messages, 0)->text, "this build has no SUNDIALS") != NULL);
    sr_messages_destroy(messages);
  }
}

#else

#define MOST 16

static bool verbose(void) { return getenv("SARRUS_TEST_VERBOSE") != NULL; }

// ---- systems --------------------------------------------------------------------------------------------------------

// Pendulum in the plane, m = L = 1, g = 9.81; copies of its constraint.
typedef struct Pendulum {
  int copies;
  double drag;            // y = drag filter: f_x = -drag y, y' = v_x - 2 y
  double refuse, forbid;  // > 0: beyond this time dynamics answers 1, or -1
  bool poison;            // and not finite instead of 1
} Pendulum;

static int pendulum_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                             double* M, double* f, double* ydot, double* D) {
  const Pendulum* p = user;
  (void)q, (void)tau, (void)D;
  for (int i = 0; i < 2; ++i) ENSURE(isfinite(q[i]) && isfinite(v[i]));  // callbacks never see what is not finite
  if (p->forbid > 0 && t > p->forbid) return -1;
  if (p->refuse > 0 && t > p->refuse && !p->poison) return 1;
  M[0] = M[3] = 1;
  M[1] = M[2] = 0;
  f[0] = p->poison && t > p->refuse ? (double)NAN : 0;
  f[1] = -9.81;
  if (p->drag > 0) {
    f[0] -= p->drag * y[0];
    ydot[0] = v[0] - 2 * y[0];
  }
  return 0;
}

static int pendulum_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const Pendulum* p = user;
  (void)t;
  for (int k = 0; k < p->copies; ++k) {
    const double factor = k == 0 ? 1 : 1.7 + k;
    if (g != NULL) g[k] = factor * 0.5 * (q[0] * q[0] + q[1] * q[1] - 1);
    if (G != NULL) G[2 * k] = factor * q[0], G[2 * k + 1] = factor * q[1];
    if (b != NULL) b[k] = 0;
  }
  return 0;
}

static int pendulum_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  const Pendulum* p = user;
  (void)t, (void)q;
  for (int k = 0; k < p->copies; ++k) gamma[k] = -(k == 0 ? 1 : 1.7 + k) * (v[0] * v[0] + v[1] * v[1]);
  return 0;
}

// Work of gravity and of the drag.
static int pendulum_power(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
                          double* wdot) {
  const Pendulum* p = user;
  (void)t, (void)q, (void)lambda;
  wdot[0] = -9.81 * v[1] - (p->drag > 0 ? p->drag * y[0] * v[0] : 0);
  return 0;
}

static Pendulum one_row = {.copies = 1}, three_rows = {.copies = 3};

static srSystem pendulum(Pendulum* p) {
  return (srSystem){.nq = 2,
                    .nv = 2,
                    .ny = p->drag > 0 ? 1 : 0,
                    .ng = p->copies,
                    .np = p->copies,
                    .user = p,
                    .dynamics = pendulum_dynamics,
                    .constraint = pendulum_constraint,
                    .gamma = pendulum_gamma,
                    .power = pendulum_power};
}

static const double pendulum_state[5] = {0.6, -0.8, 1.6, 1.2, 0.1};

// No gamma: a difference along the motion replaces it.
static const srSystem bare_surface = {
    .nq = 3, .nv = 3, .ng = 1, .np = 1, .dynamics = surface_dynamics, .constraint = surface_constraint};

// Oscillator q'' = -q with its work in w.
static int oscillator_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot;
  qdot[0] = v[0];
  vdot[0] = -q[0];
  if (wdot != NULL) wdot[0] = -q[0] * v[0];
  return 0;
}

static const srSystem oscillator = {.nq = 1, .nv = 1, .nw = 1, .rates = oscillator_rates};

// ---- running --------------------------------------------------------------------------------------------------------

static srIntegratorOptions tolerance(double tol) { return (srIntegratorOptions){.rtol = tol, .atol = tol}; }

static srIntegrator* create(const char* method, const srSystem* system, srIntegratorOptions options) {
  srIntegrator* integrator = NULL;
  srMessages* messages = sr_messages_create();
  if (sri_create(method, system, &options, messages, &integrator) != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE(integrator != NULL);
  return integrator;
}

static void start(srIntegrator* integrator, const srSystem* s, double t, const double* x) {
  ENSURE_EQUAL(sri_start(integrator, t, x, x + s->nq, x + s->nq + s->nv), SR_OK);
}

static void go_to(srIntegrator* integrator, double t_end) {
  while (sri_time(integrator) < t_end) {
    const srStatus status = sri_step(integrator, t_end);
    if (status != SR_OK) printf("  %s\n", sri_error_message(integrator));
    ENSURE_EQUAL(status, SR_OK);
  }
  ENSURE(sri_time(integrator) == t_end);
}

static void get(const srIntegrator* integrator, const srSystem* s, double* x) {
  memcpy(x, sri_q(integrator), (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, sri_v(integrator), (size_t)s->nv * sizeof *x);
  if (s->ny > 0) memcpy(x + s->nq + s->nv, sri_y(integrator), (size_t)s->ny * sizeof *x);
  if (s->nw > 0) memcpy(x + s->nq + s->nv + s->ny, sri_w(integrator), (size_t)s->nw * sizeof *x);
}

static double distance(int n, const double* a, const double* b) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

// A run from x at 0 to t_end; x becomes the end. Returns the statistics.
static srIntegratorStats run(const char* method, const srSystem* s, srIntegratorOptions options, double t_end,
                             double* x) {
  srIntegrator* integrator = create(method, s, options);
  start(integrator, s, 0, x);
  go_to(integrator, t_end);
  get(integrator, s, x);
  const srIntegratorStats stats = *sri_stats(integrator);
  sri_destroy(integrator);
  return stats;
}

// ---- accuracy -------------------------------------------------------------------------------------------------------

// Errors at t = 1 for tolerances 1e-6 .. 1e-11.
static void check_errors(const char* method, const srSystem* s, const double* x0, const double* exact) {
  double first = 0, last = 0;
  for (int k = 6; k <= 11; ++k) {
    double x[MOST];
    const double tol = pow(10, -k);
    memcpy(x, x0, (size_t)(s->nq + s->nv) * sizeof *x);
    const srIntegratorStats stats = run(method, s, tolerance(tol), 1, x);
    last = distance(s->nq + s->nv, x, exact);
    if (k == 6) first = last;
    if (verbose()) {
      printf("  %-5s %.0e: error %.2e, %ld steps, %ld rejected, %ld evaluations, %ld tangents, g %.1e, Gv %.1e\n",
             method, tol, last, stats.steps, stats.rejected, stats.evaluations, stats.tangents,
             stats.violation_position, stats.violation_velocity);
    }
    ENSURE(last <= 600 * tol);
    // ida solves the constraints by Newton's method, cvode projects.
    ENSURE_SMALL(stats.violation_position, strcmp(method, "cvode") == 0 ? 1e-14 : 10 * tol);
    ENSURE_SMALL(stats.violation_velocity, strcmp(method, "cvode") == 0 ? 1e-14 : 100 * tol);
    ENSURE(stats.steps < 800 && stats.tangents < stats.steps / 2 && stats.iterations >= stats.steps);
  }
  ENSURE(first / last > 2e3);  // 1e5 where it followed to the letter
}

TEST(errors_follow_the_tolerance_on_the_pendulum) {
  const srSystem s = pendulum(&one_row);
  for (int m = 0; m < 2; ++m) check_errors(methods[m], &s, pendulum_state, pendulum_end);
}

TEST(errors_follow_the_tolerance_on_the_rheonomic_surface) {
  double x[6];
  surface_start(x);
  for (int m = 0; m < 2; ++m) check_errors(methods[m], &bare_surface, x, surface_end);
}

TEST(redundant_constraints_change_nothing) {
  const srSystem s = pendulum(&three_rows);
  for (int m = 0; m < 2; ++m) {
    double x[MOST];
    memcpy(x, pendulum_state, sizeof pendulum_state);
    const srIntegratorStats stats = run(methods[m], &s, tolerance(1e-9), 1, x);
    ENSURE_SMALL(distance(4, x, pendulum_end), 6e-7);
    ENSURE(stats.rank == 1 && stats.redundant == 2);
  }
}

// A user state that acts on the motion, and the work, compared with hem5 at 1e-13.
TEST(states_and_quadratures_agree_with_hem5) {
  Pendulum p = {.copies = 2, .drag = 3};
  srSystem s = pendulum(&p);
  s.nw = 1;
  double exact[MOST];
  memcpy(exact, pendulum_state, sizeof pendulum_state);
  (void)run("hem5", &s, tolerance(1e-13), 2, exact);
  for (int m = 0; m < 2; ++m) {
    double x[MOST];
    memcpy(x, pendulum_state, sizeof pendulum_state);
    (void)run(methods[m], &s, tolerance(1e-9), 2, x);
    if (verbose()) printf("  %s: %.2e, work %.2e\n", methods[m], distance(5, x, exact), fabs(x[5] - exact[5]));
    ENSURE_SMALL(distance(5, x, exact), 1e-6);
    ENSURE_NEAR(x[5], exact[5], 2e-6);
  }
}

// A skate (velocity constraint without a position form) turns at a constant rate: it goes round in a circle.
static int skate_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* M, double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < 9; ++i) M[i] = i % 4 == 0;
  f[0] = f[1] = f[2] = 0;
  return 0;
}

static int skate_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user, (void)t, (void)g;
  if (G != NULL) G[0] = -sin(q[2]), G[1] = cos(q[2]), G[2] = 0;
  if (b != NULL) b[0] = 0;
  return 0;
}

TEST(rows_without_a_position_form_hold) {
  const srSystem s = {.nq = 3, .nv = 3, .ng = 1, .dynamics = skate_dynamics, .constraint = skate_constraint};
  for (int m = 0; m < 2; ++m) {
    double x[MOST] = {0, 0, 0, 3, 0, 2};
    (void)run(methods[m], &s, tolerance(1e-9), 5, x);
    const double exact[6] = {1.5 * sin(10), 1.5 * (1 - cos(10)), 10, 3 * cos(10), 3 * sin(10), 2};
    if (verbose()) printf("  %s: %.2e\n", methods[m], distance(6, x, exact));
    ENSURE_SMALL(distance(6, x, exact), 2e-6);
  }
}

// The same steps to the last bit with and without quadratures.
TEST(quadratures_do_not_choose_the_steps) {
  srSystem without = oscillator;
  without.nw = 0;
  for (int m = 0; m < 2; ++m) {
    double a[MOST] = {1, 0}, b[MOST] = {1, 0};
    const srIntegratorStats with_w = run(methods[m], &oscillator, tolerance(1e-8), 10, a);
    const srIntegratorStats no_w = run(methods[m], &without, tolerance(1e-8), 10, b);
    ENSURE(a[0] == b[0] && a[1] == b[1] && with_w.steps == no_w.steps);
    // w = (1 - q^2) / 2, the work of the spring
    ENSURE_NEAR(a[2], 0.5 * (1 - a[0] * a[0]), 1e-6);
  }
}

// ---- stiffness ------------------------------------------------------------------------------------------------------

// Pendulum that drags a mass at z along by a damper, z'' = c (x' - z') + x - z, with c given; and a filter y' = c (x - y).
static int dragged_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* M, double* f, double* ydot, double* D) {
  const double c = *(const double*)user, force = c * (v[0] - v[2]) + q[0] - q[2];
  (void)t, (void)tau, (void)D;
  for (int i = 0; i < 9; ++i) M[i] = i % 4 == 0;
  M[8] = 0.01;
  f[0] = -0.01 * force;
  f[1] = -9.81;
  f[2] = 0.01 * force;
  ydot[0] = c * (q[0] - y[0]);
  return 0;
}

static int dragged_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user, (void)t;
  if (g != NULL) g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1);
  if (G != NULL) G[0] = q[0], G[1] = q[1], G[2] = 0;
  if (b != NULL) b[0] = 0;
  return 0;
}

TEST(steps_do_not_depend_on_stiffness) {
  for (int m = 0; m < 2; ++m) {
    long least = 1000000, most = 0;
    for (double c = 1e2; c < 2e10; c *= 100) {
      const srSystem s = {.nq = 3,
                          .nv = 3,
                          .ny = 1,
                          .ng = 1,
                          .np = 1,
                          .user = &c,
                          .dynamics = dragged_dynamics,
                          .constraint = dragged_constraint};
      double x[MOST] = {0.6, -0.8, 0.6, 0, 0, 0, 0.6};
      const srIntegratorStats stats = run(methods[m], &s, tolerance(1e-6), 10, x);
      if (verbose()) printf("  %s, c %.0e: %ld steps, %ld rejected\n", methods[m], c, stats.steps, stats.rejected);
      least = stats.steps < least ? stats.steps : least;
      most = stats.steps > most ? stats.steps : most;
      ENSURE_NEAR(x[5], x[3], 1e-4 + 20 / c);  // mass and filter follow
      ENSURE_NEAR(x[6], x[0], 1e-4 + 20 / c);
    }
    ENSURE(most < 2 * least);
  }
}

// Pendulum with a mass at z that a critically damped spring holds on its x: k/m to 1e10 1/s^2. Without the filter of norm.c cvode takes
// 484 steps at 1e4 and 9459 at 1e10.
static int sprung_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                           double* M, double* f, double* ydot, double* D) {
  const double m = 0.01, k = *(const double*)user * m, d = 2 * sqrt(k * m);
  const double force = k * (q[0] - q[2]) + d * (v[0] - v[2]);
  (void)t, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < 9; ++i) M[i] = i % 4 == 0;
  M[8] = m;
  f[0] = -force;
  f[1] = -9.81;
  f[2] = force;
  return 0;
}

TEST(steps_do_not_depend_on_the_stiffness_of_a_spring) {
  for (int m = 0; m < 2; ++m) {
    long first = 0;
    for (double k = 1e4; k < 2e10; k *= 100) {
      const srSystem s = {.nq = 3,
                          .nv = 3,
                          .ng = 1,
                          .np = 1,
                          .user = &k,
                          .dynamics = sprung_dynamics,
                          .constraint = dragged_constraint};
      double x[MOST] = {0.6, -0.8, 0.6, 0, 0, 0};
      const srIntegratorStats stats = run(methods[m], &s, tolerance(1e-6), 10, x);
      if (verbose()) printf("  %s, k/m %.0e: %ld steps, %ld rejected\n", methods[m], k, stats.steps, stats.rejected);
      if (k < 2e4) first = stats.steps;
      ENSURE(stats.steps < 2 * first);
      ENSURE_NEAR(x[2], x[0], 1e-5 + 20 / k);
    }
  }
}

// ---- models ---------------------------------------------------------------------------------------------------------

static void run_model(Loaded* x, const char* method, double t_end, double rtol) {
  sr_data_reset(x->m, x->d);
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.method = method;
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("%s, %s: %s\n", x->m->name, method, x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// A bushing of 1e8 N/m on a rod that turns. Explicit methods take 44 000 steps at 1e-4: these may take a hundredth of them. At tolerances
// around it, so that no lucky number decides.
TEST(stiff_bushings_keep_steps_long) {
  // The same machine with a rigid pin, one coordinate less: the bushing gives way by 1e-5 m.
  Loaded rigid = open_model("paper2/slider-crank", "m3=0.02");
  run_model(&rigid, "hem5", 2, 1e-10);
  const double angle = rigid.d->q[0];
  close_model(&rigid);
  for (int m = 0; m < 2; ++m) {
    double error = 0;
    Loaded x = open_model("paper2/slider-crank-bushing", "d=1e3");
    for (int i = 0; i < 5; ++i) {
      sr_data_reset(x.m, x.d);
      srRunOptions options = sr_run_options(x.m);
      options.method = methods[m];
      options.rtol = options.atol = (0.98 + 0.01 * i) * 1e-4;
      ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
      error = fmax(error, fabs(x.d->q[0] - angle));
      if (verbose()) {
        printf("  %s: %ld steps, %ld rejected, error %.1e rad of 28\n", methods[m], x.result.stats.steps,
               x.result.stats.rejected, fabs(x.d->q[0] - angle));
      }
      ENSURE(x.result.stats.steps <= 440);
    }
    ENSURE(error < 0.3);
    for (double tol = 1e-5; tol > 1e-8; tol /= 10) {
      run_model(&x, methods[m], 2, tol);
      if (verbose()) printf("  %s %.0e: %ld steps\n", methods[m], tol, x.result.stats.steps);
      ENSURE(x.result.stats.steps < 10000);
    }
    close_model(&x);
  }
}

// Andrews at t = 0.03: Test Set for IVP Solvers, problem andrews, recomputed in 113-bit arithmetic: the published end is off by 3e-10 in q and 5e-8 in v.
TEST(andrews_agrees_with_the_reference) {
  static const char* const names[7] = {"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"};
  static const double q[7] = {15.8107711951537071,  -15.7563710584118395, 0.0408222401196458049, -0.534730116342079594,
                              0.524409965879954069, 0.534730116342079594, 1.04808074104193787};
  for (int m = 0; m < 2; ++m) {
    Loaded x = open_model("benchmark/andrews", "");
    run_model(&x, methods[m], 0.03, 1e-11);
    double worst = 0;
    for (int i = 0; i < 7; ++i) {
      worst = fmax(worst, fabs(x.d->q[x.m->joint_q[sr_joint_find(x.m, names[i])]] / q[i] - 1));
    }
    if (verbose()) printf("  %s: %.2e, %ld steps\n", methods[m], worst, x.result.stats.steps);
    ENSURE_SMALL(worst, 1e-8);
    close_model(&x);
  }
}

// Redundant mechanisms, compared with hem5: 6 constraint equations of which 5 are independent (Bricard), 6 and 3 (Bennett), trammel with its circle.
TEST(redundant_mechanisms_agree_with_hem5) {
  static const struct {
    const char* file;
    double t_end, most;
  } known[] = {
      {"benchmark/bricard", 2, 1e-6}, {"mechanisms/bennett-linkage", 1, 1e-6}, {"mechanisms/cardan-trammel", 2, 1e-6}};
  for (int i = 0; i < 3; ++i) {
    double q[MOST];
    Loaded x = open_model(known[i].file, "");
    run_model(&x, "hem5", known[i].t_end, 1e-11);
    memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
    for (int m = 0; m < 2; ++m) {
      run_model(&x, methods[m], known[i].t_end, 1e-9);
      if (verbose()) printf("  %s, %s: %.2e\n", known[i].file, methods[m], distance(x.m->nq, x.d->q, q));
      ENSURE_SMALL(distance(x.m->nq, x.d->q, q), known[i].most);
    }
    close_model(&x);
  }
}

// Quaternions are of length 1 to rounding, the energy stays, and steps do not get shorter over a long time.
// All their error is normal to the constraint manifold: it must be estimated before it is projected away.
TEST(mechanisms_that_are_driven_altogether_close_their_energy_balance) {
  static const char* const files[] = {"mechanisms/delta-robot", "mechanisms/stewart-platform", "mechanisms/3rrr",
                                      "mechanisms/jansen-leg"};
  for (int i = 0; i < 4; ++i) {
    for (int m = 0; m < 2; ++m) {
      Loaded x = open_model(files[i], "");
      run_model(&x, methods[m], 1, 1e-8);
      if (verbose()) printf("  %s, %s: %.2e\n", files[i], methods[m], energy_residual(&x));
      ENSURE_SMALL(energy_residual(&x), 2e-5);
      close_model(&x);
    }
  }
}

TEST(free_bodies_keep_their_quaternions_and_their_energy) {
  for (int m = 0; m < 2; ++m) {
    Loaded x = open_model("free-body", "");
    run_model(&x, methods[m], 10, 1e-8);
    const long early = x.result.stats.steps;
    run_model(&x, methods[m], 100, 1e-8);
    const double* q = x.d->q + x.m->nq - 4;
    const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double lost = x.result.energy.residual / x.result.energy.scale;
    if (verbose())
      printf("  %s: |q| - 1 %.1e, energy %.1e, steps %ld %ld\n", methods[m], norm - 1, lost, early,
             x.result.stats.steps);
    ENSURE_NEAR(norm, 1, 1e-15);
    ENSURE_SMALL(lost, 1e-4);
    ENSURE(x.result.stats.steps < 13 * early);
    close_model(&x);
  }
}

// Bricard with all bodies free: 7 positions and 6 velocities each, 30 constraint equations of which 29 are independent.
TEST(free_bodies_in_a_loop_agree_with_joint_coordinates) {
  for (int m = 0; m < 2; ++m) {
    srSpec* spec = NULL;
    Loaded joints = {0}, bodies = {0};
    ENSURE_EQUAL(sr_load(SARRUS_SOURCE_DIR "/models/benchmark/bricard.xml", NULL, NULL, &spec), SR_OK);
    ENSURE_EQUAL(sr_compile(spec, NULL, &joints.m), SR_OK);
    joints.d = sr_data_create(joints.m);
    ENSURE_EQUAL(sr_formulate(spec, joints.m, joints.d, SR_FORMULATION_ABSOLUTE, NULL, &bodies.m, &bodies.d), SR_OK);
    ENSURE(bodies.m->nq > bodies.m->nv);
    run_model(&joints, methods[m], 1, 1e-9);
    run_model(&bodies, methods[m], 1, 1e-9);
    const double error = distance(joints.m->nq, bodies.d->jq, joints.d->q);
    if (verbose()) printf("  %s: %.2e, %ld steps\n", methods[m], error, bodies.result.stats.steps);
    ENSURE_SMALL(error, 1e-6);
    close_model(&joints);
    close_model(&bodies);
    srs_destroy(spec);
  }
}

// ---- restarts -------------------------------------------------------------------------------------------------------

TEST(restarts_repeat_to_the_last_bit_and_go_on_where_they_are) {
  const srSystem s = pendulum(&one_row);
  for (int m = 0; m < 2; ++m) {
    double a[MOST], b[MOST];
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-9));
    start(integrator, &s, 0, pendulum_state);
    go_to(integrator, 0.4);
    get(integrator, &s, b);
    start(integrator, &s, 0.4, b);  // as after an event
    go_to(integrator, 1);
    get(integrator, &s, a);
    ENSURE_SMALL(distance(4, a, pendulum_end), 6e-7);
    start(integrator, &s, 0.4, b);
    go_to(integrator, 1);
    get(integrator, &s, b);
    ENSURE(memcmp(a, b, 4 * sizeof *a) == 0);
    sri_destroy(integrator);
  }
}

// `accepted` halves the velocity of a free mass once: by far more than the tolerance.
typedef struct Kick {
  bool done;
  double t, q, v;  // where it was, after it
} Kick;

static int free_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = 0;
  return 0;
}

static int kick(void* user, double t, double* q, double* v, double* y) {
  Kick* k = user;
  (void)y;
  if (k->done || t < 1) return 0;
  v[0] *= 0.5;
  *k = (Kick){.done = true, .t = t, .q = q[0], .v = v[0]};
  return 0;
}

TEST(what_accepted_moves_stays_moved) {
  for (int m = 0; m < 2; ++m) {
    Kick k = {0};
    const srSystem s = {.nq = 1, .nv = 1, .user = &k, .rates = free_rates, .accepted = kick};
    double x[MOST] = {0, 1};
    (void)run(methods[m], &s, tolerance(1e-9), 4, x);
    ENSURE(k.done);
    ENSURE_NEAR(x[1], 0.5, 1e-9);
    ENSURE_NEAR(x[0], k.q + 0.5 * (4 - k.t), 1e-8);
  }
}

// A force that `accepted` switches (nz = 1), out of sight of the integrator: +1, then -1.
static int switched_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* qdot, double* vdot, double* ydot, double* wdot) {
  const Kick* k = user;
  (void)t, (void)q, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = k->done ? -1 : 1;
  return 0;
}

static int switch_force(void* user, double t, double* q, double* v, double* y) {
  Kick* k = user;
  (void)y;
  if (!k->done && t >= 1) *k = (Kick){.done = true, .t = t, .q = q[0], .v = v[0]};
  return 0;
}

TEST(discrete_states_begin_history_anew) {
  for (int m = 0; m < 2; ++m) {
    Kick k = {0};
    const srSystem s = {.nq = 1, .nv = 1, .nz = 1, .user = &k, .rates = switched_rates, .accepted = switch_force};
    double x[MOST] = {0, 0};
    (void)run(methods[m], &s, tolerance(1e-9), 3, x);
    const double h = 3 - k.t;
    ENSURE(k.done);
    ENSURE_NEAR(x[1], k.v - h, 1e-7);
    ENSURE_NEAR(x[0], k.q + h * k.v - 0.5 * h * h, 1e-7);
  }
}

// ---- dense output and limits ----------------------------------------------------------------------------------------

TEST(dense_output_is_as_good_as_the_steps) {
  for (int m = 0; m < 2; ++m) {
    for (int k = 6; k <= 10; k += 2) {
      const double tol = pow(10, -k), x0[2] = {1, 0};
      double inside = 0, ends = 0, x[3];
      srIntegrator* integrator = create(methods[m], &oscillator, tolerance(tol));
      start(integrator, &oscillator, 0, x0);
      while (sri_time(integrator) < 6) {
        ENSURE_EQUAL(sri_step(integrator, 6), SR_OK);
        const double before = sri_time_before(integrator), h = sri_time(integrator) - before;
        for (int i = 1; i < 10; ++i) {
          const double t = before + h * i / 10;
          ENSURE_EQUAL(sri_interpolate(integrator, t, x, x + 1, NULL, x + 2), SR_OK);
          const double exact[3] = {cos(t), -sin(t), 0.5 * sin(t) * sin(t)};
          inside = fmax(inside, distance(3, x, exact));
        }
        get(integrator, &oscillator, x);
        const double exact[3] = {cos(before + h), -sin(before + h), 0.5 * sin(before + h) * sin(before + h)};
        ends = fmax(ends, distance(3, x, exact));
      }
      if (verbose()) printf("  %s %.0e: ends %.2e, inside %.2e\n", methods[m], tol, ends, inside);
      ENSURE(inside <= 1.1 * ends + tol && ends < 1000 * tol);
      ENSURE_EQUAL(sri_interpolate(integrator, 5.0, x, NULL, NULL, NULL), SR_INPUT);  // long ago
      sri_destroy(integrator);
    }
  }
}

// v' of the formula itself at the end of a step.
TEST(accelerations_of_the_formula_are_handed_out) {
  for (int m = 0; m < 2; ++m) {
    const double x0[2] = {1, 0};
    srIntegrator* integrator = create(methods[m], &oscillator, tolerance(1e-8));
    start(integrator, &oscillator, 0, x0);
    ENSURE(sri_acceleration(integrator) == NULL);
    go_to(integrator, 3);
    ENSURE(sri_acceleration(integrator) != NULL);
    ENSURE_NEAR(sri_acceleration(integrator)[0], -cos(3), 1e-5);
    sri_destroy(integrator);
  }
}

TEST(steps_end_on_the_limit_exactly) {
  const srSystem s = pendulum(&one_row);
  for (int m = 0; m < 2; ++m) {
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-8));
    start(integrator, &s, 0, pendulum_state);
    double x[MOST];
    for (int i = 1; i <= 100; ++i) go_to(integrator, i / 100.0);  // go_to wants the very number
    get(integrator, &s, x);
    ENSURE_SMALL(distance(4, x, pendulum_end), 6e-6);
    const double near = nextafter(1, 2);
    go_to(integrator, near);  // one unit in the last place away
    ENSURE_EQUAL(sri_interpolate(integrator, near, x, NULL, NULL, NULL), SR_OK);
    const double before = sri_time(integrator);
    ENSURE_EQUAL(sri_step(integrator, HUGE_VAL), SR_OK);
    ENSURE(sri_time(integrator) > before && isfinite(sri_time(integrator)));
    sri_destroy(integrator);
  }
}

TEST(steps_stay_within_their_bounds) {
  for (int m = 0; m < 2; ++m) {
    srIntegratorOptions options = tolerance(1e-6);
    options.step_max = 0.01;
    options.step = 5e-4;
    const double x0[2] = {1, 0};
    srIntegrator* integrator = create(methods[m], &oscillator, options);
    start(integrator, &oscillator, 0, x0);
    ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
    ENSURE_NEAR(sri_stats(integrator)->step_last, 5e-4, 1e-15);
    go_to(integrator, 1);
    ENSURE(sri_stats(integrator)->step_largest <= 0.01 * (1 + 1e-12) && sri_stats(integrator)->steps >= 100);
    sri_destroy(integrator);
  }
}

// The oscillator with states that are not used: they must not make its errors look smaller.
#define UNUSED 60

static int with_unused(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  memset(ydot, 0, UNUSED * sizeof *ydot);
  return oscillator_rates(user, t, q, v, y, tau, qdot, vdot, ydot, wdot);
}

TEST(states_that_are_not_used_do_not_count_in_the_norm) {
  double most[UNUSED], x0[2 + UNUSED] = {1, 0};
  for (int i = 0; i < UNUSED; ++i) most[i] = SR_Y_UNUSED;
  const srSystem s = {.nq = 1, .nv = 1, .ny = UNUSED, .nw = 1, .rates = with_unused, .y_most = most};
  for (int i = 0; i < 4; ++i) {
    srIntegratorOptions options = tolerance(1e-6);
    if (i >= 2) options.control = SR_CONTROL_POSITIONS;
    srIntegrator *alone = create(methods[i % 2], &oscillator, options), *all = create(methods[i % 2], &s, options);
    start(alone, &oscillator, 0, x0);
    start(all, &s, 0, x0);
    go_to(alone, 10);
    go_to(all, 10);
    const double error = fabs(sri_q(all)[0] - cos(10)), error_alone = fabs(sri_q(alone)[0] - cos(10));
    // Newton's iteration ends by a largest entry, not by a mean: the steps are the same but for that.
    ENSURE(labs(sri_stats(all)->steps - sri_stats(alone)->steps) <= 2);
    ENSURE_NEAR(error / error_alone, 1, 0.1);
    sri_destroy(alone);
    sri_destroy(all);
  }
}

// ---- failures -------------------------------------------------------------------------------------------------------

// Runs until a step fails; the state must stay at the last good one. Returns the time.
static double run_into(srIntegrator* integrator, const char* words) {
  for (int i = 0; i < 100000; ++i) {
    double q[2], t = sri_time(integrator);
    memcpy(q, sri_q(integrator), sizeof q);
    if (sri_step(integrator, 1) == SR_OK) continue;
    ENSURE(sri_time(integrator) == t && memcmp(q, sri_q(integrator), sizeof q) == 0);
    if (strstr(sri_error_message(integrator), words) == NULL) printf("  %s\n", sri_error_message(integrator));
    ENSURE(strstr(sri_error_message(integrator), words) != NULL);
    return t;
  }
  ENSURE(false);
  return 0;
}

TEST(callbacks_that_fail_end_the_run_with_a_sentence) {
  for (int m = 0; m < 2; ++m) {
    Pendulum p = {.copies = 1};
    const srSystem s = pendulum(&p);
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-6));
    start(integrator, &s, 0, pendulum_state);
    p.forbid = 0.5;
    (void)run_into(integrator, "the system asked to stop");
    p = (Pendulum){.copies = 1, .refuse = 0.7};
    start(integrator, &s, 0, pendulum_state);
    // Smaller steps up to where it refuses.
    ENSURE_NEAR(run_into(integrator, "t = 0.7"), 0.7, 1e-6);
    p = (Pendulum){.copies = 1, .refuse = 0.6, .poison = true};
    start(integrator, &s, 0, pendulum_state);
    ENSURE_NEAR(run_into(integrator, "t = 0.6"), 0.6, 1e-6);
    p = (Pendulum){.copies = 1};  // and it lives on
    start(integrator, &s, 0, pendulum_state);
    go_to(integrator, 1);
    sri_destroy(integrator);
  }
}

static int refuse_at_most(void* user, double t, double* q, double* v, double* y) {
  int* left = user;
  (void)t, (void)q, (void)v, (void)y;
  return t > 0.5 && *left > 0 && (*left)-- > 0 ? 1 : 0;
}

static int plain_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  return oscillator_rates(user, t, q, v, y, tau, qdot, vdot, ydot, wdot);
}

TEST(a_state_that_is_refused_is_tried_again_with_a_shorter_step) {
  for (int m = 0; m < 2; ++m) {
    int left = 3;
    const srSystem s = {.nq = 1, .nv = 1, .nw = 1, .user = &left, .rates = plain_rates, .accepted = refuse_at_most};
    double x[MOST] = {1, 0};
    const srIntegratorStats stats = run(methods[m], &s, tolerance(1e-9), 2, x);
    ENSURE(left == 0 && stats.rejected >= 3);
    ENSURE_NEAR(x[0], cos(2), 1e-6);
    left = 1000000;
    const double x0[2] = {1, 0};
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-9));
    start(integrator, &s, 0, x0);
    srStatus status = SR_OK;
    while (status == SR_OK) status = sri_step(integrator, 2);
    ENSURE(strstr(sri_error_message(integrator), "the state that it leads to is refused") != NULL);
    sri_destroy(integrator);
  }
}

TEST(what_cannot_be_treated_is_refused_with_a_sentence) {
  for (int m = 0; m < 2; ++m) {
    srMessages* messages = sr_messages_create();
    srIntegrator* integrator = NULL;
    srIntegratorOptions options = tolerance(1e-6);
    options.control = SR_CONTROL_FIXED;
    options.step = 0.01;
    ENSURE_EQUAL(sri_create(methods[m], &oscillator, &options, messages, &integrator), SR_INPUT);
    ENSURE(strstr(sr_messages_get(messages, 0)->text, "has no fixed step") != NULL);
    srSystem s = bare_surface;
    s.nq = 4;
    options = tolerance(1e-6);
    ENSURE_EQUAL(sri_create(methods[m], &s, &options, messages, &integrator), SR_INPUT);
    // More digits than there are.
    integrator = create(methods[m], &oscillator, (srIntegratorOptions){.rtol = 1e-18, .atol = 1e-18});
    const double x0[2] = {1, 0};
    start(integrator, &oscillator, 0, x0);
    ENSURE_EQUAL(sri_step(integrator, 1), SR_FAILED);
    ENSURE(strstr(sri_error_message(integrator), "more digits than numbers have") != NULL);
    sri_destroy(integrator);
    sr_messages_destroy(messages);
  }
}

// Of the rule of Haddouni et al. (2017) the tolerances and the least step are taken.
TEST(the_options_of_paper_2_are_taken) {
  const srSystem s = pendulum(&one_row);
  for (int m = 0; m < 2; ++m) {
    double x[MOST];
    memcpy(x, pendulum_state, sizeof pendulum_state);
    const srIntegratorStats stats = run(methods[m], &s, sri_positions_options(), 1, x);
    ENSURE_SMALL(distance(4, x, pendulum_end), 2e-2);
    ENSURE(stats.steps < 100 && stats.violation_position < 1e-3);
  }
}

// The least step of the options ends a run that would go on with smaller ones.
TEST(the_least_step_is_kept) {
  for (int m = 0; m < 2; ++m) {
    Pendulum p = {.copies = 1, .refuse = 0.7};
    const srSystem s = pendulum(&p);
    srIntegratorOptions options = tolerance(1e-6);
    options.step_min = 1e-5;
    srIntegrator* integrator = create(methods[m], &s, options);
    start(integrator, &s, 0, pendulum_state);
    (void)run_into(integrator, "the least step is 1e-05");
    sri_destroy(integrator);
  }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

// What the heap holds is the same before and after; SUNDIALS allocates by malloc, Sarrus by sr_alloc.
TEST(stepping_and_restarting_take_no_memory) {
#ifndef RUNNER_SANITIZED
  const srSystem s = pendulum(&one_row);
  for (int m = 0; m < 2; ++m) {
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-8));
    const size_t held = mallinfo2().uordblks;
    for (int i = 0; i < 5; ++i) {
      start(integrator, &s, 0, pendulum_state);
      go_to(integrator, 1);
      ENSURE_EQUAL((long long)mallinfo2().uordblks, (long long)held);
    }
    sri_destroy(integrator);
  }
#endif
}

#endif
