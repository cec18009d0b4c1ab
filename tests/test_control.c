// Tests of the rules of the step: default, positions, fixed; and of projections that wait for a violation.
#include "constrained.h"
#include "integrate/dopri5.h"

// ---- a known error ----------------------------------------------------------------------------------------------------

static int fourth_power(void* user, double t, const double* q, const double* v, const double* y, double tau,
                        double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)q, (void)v, (void)y, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = t * t * t * t;
  return 0;
}

// The embedded method of order 4 integrates t^3 exactly and misses h^5 sum e_j c_j^4 of t^4, wherever the step lies.
static double known_error(double h) {
  const double* e = sri_dopri5_error;
  double sum = e[6];
  for (int j = 0; j < 6; ++j) sum += e[j] * pow(sri_dopri5_tableau.c[j], 4);
  return fabs(sum) * pow(h, 5);
}

// Length of the step after one of length h that is accepted with the error err.
static double step_after(const char* method, srIntegratorOptions o, double h, double err) {
  const srSystem s = {.ny = 1, .rates = fourth_power};
  const double y0 = 0;
  o.step = h;
  o.rtol = 0;
  o.atol = known_error(h) / err;
  srIntegrator* integrator = create(method, &s, o);
  ENSURE(sri_start(integrator, 0, &y0, &y0, &y0) == SR_OK);
  ENSURE(sri_step(integrator, 1e6) == SR_OK);
  ENSURE_NEAR(sri_time(integrator), h, 1e-15);
  ENSURE(sri_step(integrator, 1e6) == SR_OK);
  const double next = sri_stats(integrator)->step_last;
  sri_destroy(integrator);
  return next;
}

TEST(the_rules_choose_the_steps_of_their_formulas) {
  const char* methods[] = {"dopri5", "mdop5", "phem56"};
  srIntegratorOptions standard = sri_default_options(), paper = sri_positions_options();
  for (int m = 0; m < 3; ++m) {
    // Haddouni et al. (2017), eq 30: 0.3 (1/err)^(1/4); with err = 0.0081 the step stays.
    ENSURE_NEAR(step_after(methods[m], paper, 0.5, 1e-3), 0.5 * 0.3 * pow(1e-3, -0.25), 1e-12);
    ENSURE_NEAR(step_after(methods[m], paper, 0.5, 0.0081), 0.5, 1e-12);
    ENSURE_NEAR(step_after(methods[m], paper, 0.5, 1e-9), 5.0, 1e-12);  // at most ten times
    // Default: 0.9 err^-0.17 times the error before, which is 1e-4 at a start.
    ENSURE_NEAR(step_after(methods[m], standard, 0.5, 1e-2), 0.5 * 0.9 * pow(1e-2, -0.17) * pow(1e-4, 0.04), 1e-12);
  }
  standard.safety = 0.5;
  ENSURE_NEAR(step_after("dopri5", standard, 0.5, 1e-2), 0.5 * 0.5 * pow(1e-2, -0.17) * pow(1e-4, 0.04), 1e-12);
}

TEST(a_refused_step_of_positions_is_cut_by_its_formula) {
  const srSystem s = {.ny = 1, .rates = fourth_power};
  const double y0 = 0, h = 0.5;
  srIntegratorOptions o = sri_positions_options();
  o.step = h;
  o.rtol = 0;
  o.atol = known_error(h) / 2;
  srIntegrator* integrator = create("dopri5", &s, o);
  ENSURE(sri_start(integrator, 0, &y0, &y0, &y0) == SR_OK);
  ENSURE(sri_step(integrator, 1e6) == SR_OK);
  ENSURE_EQUAL(sri_stats(integrator)->rejected, 1);
  ENSURE_NEAR(sri_stats(integrator)->step_last, h * 0.3 * pow(2, -0.25), 1e-12);
  sri_destroy(integrator);
}

// ---- all methods ------------------------------------------------------------------------------------------------------

// The pendulum in the index-1 form.
static int pendulum_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  const double lambda = (9.81 * q[1] - v[0] * v[0] - v[1] * v[1]) / (q[0] * q[0] + q[1] * q[1]);
  for (int i = 0; i < 2; ++i) {
    qdot[i] = v[i];
    vdot[i] = lambda * q[i] - (i == 1 ? 9.81 : 0);
  }
  return 0;
}

static srSystem full_pendulum(void) {
  srSystem s = pendulum(&one_row);
  s.rates = pendulum_rates;
  return s;
}

TEST(fixed_makes_all_steps_of_one_length_and_shortens_the_last) {
  const srSystem s = full_pendulum();
  const char* methods[] = {"dopri5", "mdop5", "hem5", "phem56"};
  srIntegratorOptions o = sri_default_options();
  o.control = SR_CONTROL_FIXED;
  o.step = 0.1;
  for (int m = 0; m < 4; ++m) {
    srIntegrator* integrator = create(methods[m], &s, o);
    ENSURE(sri_start(integrator, 0.3, pendulum_start, pendulum_start + 2, NULL) == SR_OK);
    for (int k = 1; k <= 7; ++k) {
      ENSURE(sri_step(integrator, 1.05) == SR_OK);
      ENSURE(sri_time(integrator) == 0.3 + k * 0.1);  // the grid itself, not a sum
    }
    ENSURE(sri_step(integrator, 1.05) == SR_OK);
    ENSURE(sri_time(integrator) == 1.05);
    ENSURE_NEAR(sri_stats(integrator)->step_last, 0.05, 1e-15);
    // The grid starts anew from the limit; dense output works in it.
    double q[2];
    ENSURE(sri_step(integrator, 2) == SR_OK);
    ENSURE(sri_time(integrator) == 1.05 + 0.1);
    ENSURE(sri_interpolate(integrator, 1.1, q, NULL, NULL, NULL) == SR_OK);
    ENSURE_NEAR(hypot(q[0], q[1]), 1, 1e-4);
    ENSURE_EQUAL(sri_stats(integrator)->steps, 9);
    ENSURE_EQUAL(sri_stats(integrator)->rejected, 0);
    sri_destroy(integrator);
  }
}

// Whatever the tolerances: they do not choose these steps.
TEST(methods_keep_their_order_under_fixed) {
  const srSystem s = full_pendulum();
  const char* methods[] = {"dopri5", "mdop5", "hem5", "phem56"};
  for (int m = 0; m < 4; ++m) {
    double before = 0, order = 0;
    for (int n = 40; n <= 160; n *= 2) {
      double x[4];
      memcpy(x, pendulum_start, sizeof x);
      srIntegratorOptions o = sri_default_options();
      o.control = SR_CONTROL_FIXED;
      o.step = 1.0 / n;
      o.rtol = o.atol = n == 80 ? 1e-14 : 1e-3;
      srIntegrator* integrator = create(methods[m], &s, o);
      ENSURE(run(integrator, &s, 1, x));
      ENSURE_EQUAL(sri_stats(integrator)->steps, n);
      ENSURE_EQUAL(sri_stats(integrator)->rejected, 0);
      const double error = distance(4, x, pendulum_end);
      order = before > 0 ? log2(before / error) : 0;
      if (verbose()) printf("  %s %d steps, error %.2e, order %.3f\n", methods[m], n, error, order);
      before = error;
      sri_destroy(integrator);
    }
    ENSURE(order > 4.7);
  }
}

// Every method that is adaptive, now and later, makes n steps of 1/n; or reports that it cannot.
TEST(every_adaptive_method_knows_fixed_and_positions) {
  const srSystem s = full_pendulum();
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!method->adaptive) continue;
    srIntegratorOptions o = sri_default_options();
    o.control = SR_CONTROL_FIXED;
    o.step = 1.0 / 256;
    srIntegrator* integrator = NULL;
    srMessages* messages = sr_messages_create();
    if (sri_create(method->name, &s, &o, messages, &integrator) == SR_OK) {
      double x[4];
      memcpy(x, pendulum_start, sizeof x);
      const bool good = run(integrator, &s, 1, x);
      if (verbose()) printf("  %s fixed: error %.1e\n", method->name, distance(4, x, pendulum_end));
      ENSURE(good);
      ENSURE_EQUAL(sri_stats(integrator)->steps, 256);
      ENSURE_SMALL(distance(4, x, pendulum_end), 1e-2);
    } else {
      ENSURE(sr_messages_count(messages) > 0);
    }
    sr_messages_destroy(messages);
    sri_destroy(integrator);
    double x[4];
    memcpy(x, pendulum_start, sizeof x);
    integrator = create(method->name, &s, sri_positions_options());
    const bool good = run(integrator, &s, 1, x);
    if (verbose()) {
      printf("  %s positions: error %.1e, %ld steps, %ld rejected\n", method->name, distance(4, x, pendulum_end),
             sri_stats(integrator)->steps, sri_stats(integrator)->rejected);
    }
    ENSURE(good);
    ENSURE_SMALL(distance(4, x, pendulum_end), 5e-2);
    sri_destroy(integrator);
  }
}

TEST(a_step_that_fails_under_fixed_reports_it) {
  srSystem s = pendulum(&one_row);
  srIntegratorOptions o = sri_default_options();
  o.control = SR_CONTROL_FIXED;
  o.step = 1e200;
  srIntegrator* integrator = create("phem56", &s, o);
  ENSURE(sri_start(integrator, 0, pendulum_start, pendulum_start + 2, NULL) == SR_OK);
  ENSURE(sri_step(integrator, 1e300) == SR_FAILED);
  ENSURE(strstr(sri_error_message(integrator), "the step from t = 0 to 1e+200 failed") != NULL);
  ENSURE(strstr(sri_error_message(integrator), "the steps are all of one length, a smaller one may help") != NULL);
  ENSURE(sri_time(integrator) == 0);
  sri_destroy(integrator);
}

// ---- what the error is measured by ------------------------------------------------------------------------------------

// The pendulum c times as fast: g c^2 in place of g, v c in place of v. Positions are the same at t/c.
typedef struct Fast {
  Pendulum pendulum;  // first: the constraint sees this alone
  double c;
} Fast;

static int fast_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  const double c = ((const Fast*)user)->c;
  const int answer = pendulum_dynamics(user, t, q, v, y, tau, M, f, ydot, D);
  f[1] *= c * c;
  return answer;
}

static int fast_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  const double c = ((const Fast*)user)->c,
               lambda = (9.81 * c * c * q[1] - v[0] * v[0] - v[1] * v[1]) / (q[0] * q[0] + q[1] * q[1]);
  (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  for (int i = 0; i < 2; ++i) {
    qdot[i] = v[i];
    vdot[i] = lambda * q[i] - (i == 1 ? 9.81 * c * c : 0);
  }
  return 0;
}

static long steps_of_fast(const char* method, srControlRule rule, double c) {
  Fast fast = {.pendulum = {.copies = 1}, .c = c};
  srSystem s = pendulum(&one_row);
  s.user = &fast;
  s.dynamics = fast_dynamics;
  s.rates = fast_rates;
  srIntegratorOptions o = sri_default_options();
  o.control = rule;
  o.rtol = 0;
  o.atol = 1e-5;
  o.step = 1e-3 / c;  // guesses of the first step do not scale
  double x[4];
  memcpy(x, pendulum_start, sizeof x);
  for (int i = 2; i < 4; ++i) x[i] *= c;
  srIntegrator* integrator = create(method, &s, o);
  ENSURE(run(integrator, &s, 2 / c, x));
  const long steps = sri_stats(integrator)->steps;
  sri_destroy(integrator);
  return steps;
}

// Errors of velocities grow with c, those of positions do not: the number of steps shows which of them a method controls.
TEST(positions_measures_every_method_by_its_positions_alone) {
  const double c = 64;  // a power of 2: nothing is rounded another way
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!method->adaptive || method->absent) continue;
    const long slow = steps_of_fast(method->name, SR_CONTROL_POSITIONS, 1);
    const long quick = steps_of_fast(method->name, SR_CONTROL_POSITIONS, c);
    const long all_slow = steps_of_fast(method->name, SR_CONTROL_DEFAULT, 1);
    const long all_quick = steps_of_fast(method->name, SR_CONTROL_DEFAULT, c);
    if (verbose())
      printf("  %s positions %ld, %ld  default %ld, %ld\n", method->name, slow, quick, all_slow, all_quick);
    // Newton's iteration of the implicit ones ends by what velocities may be wrong by, which the last digit of an error shows.
    ENSURE(labs(quick - slow) <= (method->implicit ? slow / 20 : 0));
    ENSURE(all_quick > all_slow + all_slow / 2);
  }
}

// ---- projections ------------------------------------------------------------------------------------------------------

TEST(projections_wait_until_the_violation_is_beyond_the_limit) {
  const srSystem s = full_pendulum();
  for (int i = 0; i < 2; ++i) {
    double x[4];
    memcpy(x, pendulum_start, sizeof x);
    srIntegratorOptions o = sri_positions_options();
    if (i == 1) o.violation_most = 0;
    srIntegrator* integrator = create("mdop5", &s, o);
    ENSURE(run(integrator, &s, 20, x));
    const srIntegratorStats* stats = sri_stats(integrator);
    if (verbose()) {
      printf("  limit %g: %ld projections in %ld steps, g %.1e gv %.1e\n", o.violation_most, stats->projections,
             stats->steps, stats->violation_position, stats->violation_velocity);
    }
    if (i == 0) {
      ENSURE(stats->projections > 0 && stats->projections < stats->steps / 2);
      ENSURE(stats->violation_position < 1e-4 && stats->violation_velocity < 1e-4);
      ENSURE(stats->violation_position > 1e-8);
    } else {
      ENSURE_EQUAL(stats->projections, stats->steps);
      ENSURE_SMALL(stats->violation_position, 1e-14);
    }
    sri_destroy(integrator);
  }
}

// ---- what is refused --------------------------------------------------------------------------------------------------

static void ensure_refused(srIntegratorOptions o, const char* text) {
  const srSystem s = full_pendulum();
  srIntegrator* integrator = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE(sri_create("phem56", &s, &o, messages, &integrator) == SR_INPUT && integrator == NULL);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE_TEXT(sr_messages_get(messages, 0)->text, text);
  sr_messages_destroy(messages);
}

TEST(numbers_of_the_rules_are_checked) {
  srIntegratorOptions o = sri_default_options();
  o.control = SR_CONTROL_FIXED;
  ensure_refused(o,
                 "the method 'phem56' was asked for steps of fixed length and given step = 0: expected a number > 0");
  o = sri_default_options();
  o.rho = 1.5;
  ensure_refused(o, "the method 'phem56' was given rho = 1.5: expected a number from 0 to 1");
  o = sri_default_options();
  o.safety = -1;
  ensure_refused(o, "the method 'phem56' was given safety = -1: expected a number from 0 (that of the rule) to 1");
  o = sri_default_options();
  o.newton_tolerance = -1e-8;
  ensure_refused(o,
                 "the method 'phem56' was given violation_most = 0, newton_tolerance = -1e-08: expected numbers >= 0");
}
