// Comparing integrators: performance profiles against a table by hand, distances of runs against closed forms and known
// perturbations.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

// ------------------------------------------------------------------------------------------------------------ profile
// Five problems, three solvers. Problem 1: a tie. Problem 2: one fails. Problem 3: only one solves it. Problem 4: nobody.
enum { NP = 5, NS = 3 };
#define NO ((double)NAN)
#define INF ((double)INFINITY)
static const double hand_cost[NP * NS] = {
    1.0, 2.0, 4.0,   // ratios 1 2 4
    3.0, 3.0, 4.5,   // 1 1 1.5
    NO,  0.5, 0.25,  // inf 2 1
    INF, 7.0, -1.0,  // inf 1 inf
    NO,  INF, 0.0,   // inf inf inf
};

TEST(ratios_are_to_the_best_and_infinite_where_not_solved) {
  const double expected[NP * NS] = {1, 2, 4, 1, 1, 1.5, INF, 2, 1, INF, 1, INF, INF, INF, INF};
  double ratio[NP * NS];
  sr_profile_ratios(NP, NS, hand_cost, ratio);
  for (int i = 0; i < NP * NS; i++) ENSURE(ratio[i] == expected[i]);
}

TEST(profiles_count_problems_within_tau_of_the_best) {
  double ratio[NP * NS];
  sr_profile_ratios(NP, NS, hand_cost, ratio);
  const double tau[] = {0.99, 1, 1.5, 1.99, 2, 4, INF};
  const double expected[NS][7] = {
      {0, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4}, {0, 0.4, 0.4, 0.4, 0.8, 0.8, 0.8}, {0, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6}};
  for (int s = 0; s < NS; s++)
    for (int i = 0; i < 7; i++) ENSURE_NEAR(sr_profile(NP, NS, ratio, s, tau[i]), expected[s][i], 1e-15);
}

TEST(steps_of_profiles_are_ascending_once_each) {
  double ratio[NP * NS], tau[NP * NS + 1];
  sr_profile_ratios(NP, NS, hand_cost, ratio);
  ENSURE_EQUAL(sr_profile_steps(NP, NS, ratio, tau), 4);
  const double expected[] = {1, 1.5, 2, 4};
  for (int i = 0; i < 4; i++) ENSURE(tau[i] == expected[i]);
}

TEST(profiles_of_nothing_solved_are_zero) {
  const double cost[2] = {NO, INF};
  double ratio[2], tau[3];
  sr_profile_ratios(1, 2, cost, ratio);
  ENSURE(sr_profile(1, 2, ratio, 0, INF) == 0);
  ENSURE_EQUAL(sr_profile_steps(1, 2, ratio, tau), 1);
  ENSURE(tau[0] == 1);
  ENSURE(sr_profile(0, 2, ratio, 0, 2) == 0);
}

// ------------------------------------------------------------------------------------------------------------ methods
// phem56 without constraints is dopri5, to the last digit: one family by coefficients; hem5 and radau5 are of others.
TEST(methods_with_the_same_coefficients_are_marked_as_a_family) {
  const char* const same[] = {"dopri5", "mdop5", "phem56"};
  const char* const other[] = {"hem5", "radau5", "rk4", "cvode"};
  const char* family = sri_method_find("dopri5")->family;
  ENSURE(family != NULL);
  for (int i = 0; i < 3; i++) ENSURE_TEXT(sri_method_find(same[i])->family, family);
  for (int i = 0; i < 4; i++) {
    const char* its = sri_method_find(other[i])->family;
    ENSURE(its == NULL || strcmp(its, family) != 0);
  }
}

TEST(only_methods_of_sundials_may_be_absent) {
  for (int i = 0; i < sri_method_count(); i++) {
    const srMethod* method = sri_method(i);
    ENSURE(!method->absent || strcmp(method->name, "cvode") == 0 || strcmp(method->name, "ida") == 0);
#ifdef SARRUS_SUNDIALS
    ENSURE(!method->absent);
#else
    ENSURE(method->absent == (strcmp(method->name, "cvode") == 0 || strcmp(method->name, "ida") == 0));
#endif
  }
}

// ------------------------------------------------------------------------------------------------------- trajectories
// A mass on a spring, x = a cos(w t), and a hinge that turns freely, phi = u t.
static const char oscillator[] =
    "<sarrus version='1' name='oscillator'>"
    "<parameter name='a' value='0.25'/><parameter name='k' value='9'/>"
    "<option gravity='0 0 0'/>"
    "<body name='mass'><joint name='x' type='prismatic' axis='1 0 0' q='a'/><inertial mass='1' inertia='1 1 1'/></body>"
    "<body name='wheel'><joint name='phi' type='revolute' axis='0 0 1' v='2'/><inertial mass='1' inertia='1 1 "
    "1'/></body>"
    "<torque joint='x' law='-k*q(x)'/>"
    "<run t-end='2'/>"
    "</sarrus>";

static srTrajectory* sampled(Loaded* x, const char* method, double rtol, int n) {
  srRunOptions options = sr_run_options(x->m);
  srTrajectory* out = sr_trajectory_create(x->m, n);
  options.method = method;
  options.rtol = rtol;
  options.atol = rtol;
  ENSURE_EQUAL(sr_run_sampled(x->m, x->d, &options, NULL, &x->result, out), SR_OK);
  return out;
}

// The oscillator by its formula.
static srTrajectory* closed_form(const srModel* m, int n) {
  srTrajectory* out = sr_trajectory_create(m, n);
  for (int k = 0; k < n; k++) {
    const double t = 2.0 * k / (n - 1), w = 3;
    const double row[5] = {t, 0.25 * cos(w * t), 2 * t, -0.25 * w * sin(w * t), 2};
    memcpy(out->sample + 5 * k, row, sizeof row);
  }
  out->filled = n;
  return out;
}

TEST(samples_are_at_equidistant_times_to_the_end) {
  Loaded x = open_text(oscillator);
  srTrajectory* run = sampled(&x, "dopri5", 1e-6, 101);
  ENSURE_EQUAL(run->filled, 101);
  ENSURE_EQUAL(sr_trajectory_width(run), 5);
  for (int k = 0; k <= 100; k++) ENSURE_NEAR(run->sample[5 * k], 0.02 * k, 1e-14);
  ENSURE(run->sample[5 * 100] == 2);
  sr_trajectory_destroy(run);
  close_model(&x);
}

// By all methods with step control: the error against the formula is that of the tolerance, and falls with it.
TEST(errors_against_a_closed_form_follow_the_tolerance) {
  Loaded x = open_text(oscillator);
  srTrajectory* exact = closed_form(x.m, 101);
  const char* const methods[] = {"dopri5", "mdop5", "hem5"};
  for (int i = 0; i < 3; i++) {
    double before = 1;
    for (double rtol = 1e-4; rtol > 1e-11; rtol *= 1e-3) {
      sr_data_reset(x.m, x.d);
      srTrajectory* run = sampled(&x, methods[i], rtol, 101);
      const srTrajectoryError e = sr_trajectory_error(x.m, exact, run);
      ENSURE(e.q < 100 * rtol && e.v < 100 * rtol);
      ENSURE(e.q < before / 10 && e.q > 0);
      ENSURE(e.end_q <= e.q && e.end_v <= e.v);
      ENSURE(isnan(e.y) && isnan(e.end_y));  // no states
      before = e.q;
      sr_trajectory_destroy(run);
    }
  }
  sr_trajectory_destroy(exact);
  close_model(&x);
}

// Lengths by the largest length (0.25 m), angles by the largest angle (4 rad), speeds likewise (0.75 m/s, 2 rad/s).
TEST(errors_are_relative_to_the_largest_of_the_same_unit) {
  Loaded x = open_text(oscillator);
  srTrajectory *exact = closed_form(x.m, 101), *other = closed_form(x.m, 101);
  other->sample[5 * 40 + 1] += 1e-3;  // x
  srTrajectoryError e = sr_trajectory_error(x.m, exact, other);
  ENSURE_NEAR(e.q, 4e-3, 1e-12);
  ENSURE(e.v == 0 && e.end_q == 0);
  other->sample[5 * 100 + 2] -= 4e-2;  // phi, at the end
  e = sr_trajectory_error(x.m, exact, other);
  ENSURE_NEAR(e.q, 1e-2, 1e-12);
  ENSURE_NEAR(e.end_q, 1e-2, 1e-12);
  other->sample[5 * 7 + 4] += 1e-5;  // speed of phi
  e = sr_trajectory_error(x.m, exact, other);
  ENSURE_NEAR(e.v, 5e-6, 1e-15);
  ENSURE(e.end_v == 0);
  sr_trajectory_destroy(exact);
  sr_trajectory_destroy(other);
  close_model(&x);
}

// What rests has speeds of rounding: they are measured by a thousandth of 1 rad and of 0.25 m in the 2 s of the run.
TEST(speeds_of_what_rests_are_not_divided_by_their_noise) {
  Loaded x = open_text(oscillator);
  srTrajectory *rest = closed_form(x.m, 101), *other = closed_form(x.m, 101);
  for (int k = 0; k <= 100; k++) {
    const double row[5] = {0.02 * k, 0.25, 0, 0, 0};
    memcpy(rest->sample + 5 * k, row, sizeof row);
    memcpy(other->sample + 5 * k, row, sizeof row);
  }
  other->sample[5 * 9 + 3] = 1e-17;
  ENSURE_NEAR(sr_trajectory_error(x.m, rest, other).v, 1e-17 * 2 / 0.25e-3, 1e-20);
  other->sample[5 * 9 + 4] = 1e-15;
  ENSURE_NEAR(sr_trajectory_error(x.m, rest, other).v, 2e-12, 1e-20);
  sr_trajectory_destroy(rest);
  sr_trajectory_destroy(other);
  close_model(&x);
}

TEST(errors_that_are_not_known_are_nan) {
  Loaded x = open_text(oscillator);
  srTrajectory *exact = closed_form(x.m, 101), *other = closed_form(x.m, 51);
  ENSURE(isnan(sr_trajectory_error(x.m, exact, other).q));  // other times
  sr_trajectory_destroy(other);
  other = closed_form(x.m, 101);
  other->sample[5 * 3 + 1] = NO;
  ENSURE(isnan(sr_trajectory_error(x.m, exact, other).q));  // a NaN in the middle is not passed over
  other->filled = 100;
  ENSURE(isnan(sr_trajectory_error(x.m, exact, other).v));  // a sample is missing
  sr_trajectory_destroy(exact);
  sr_trajectory_destroy(other);
  close_model(&x);
}

// A ball joint turned by a known angle about a known axis: the error is that angle, also for q and -q.
TEST(orientations_differ_by_the_rotation_between_them) {
  Loaded x = open_model("top", "");
  srTrajectory *a = sampled(&x, "dopri5", 1e-6, 11), *b = sr_trajectory_create(x.m, 11);
  const int width = sr_trajectory_width(a);
  const double turn[3] = {0.02, -0.01, 0.005};
  memcpy(b->sample, a->sample, (size_t)(11 * width) * sizeof(double));
  b->filled = 11;
  sr_retract(x.m, a->sample + 4 * width + 1, turn, b->sample + 4 * width + 1);
  ENSURE_NEAR(sr_trajectory_error(x.m, a, b).q, 0.02, 1e-12);
  for (int i = 1; i <= 4; i++) b->sample[9 * width + i] *= -1;
  ENSURE_NEAR(sr_trajectory_error(x.m, a, b).q, 0.02, 1e-12);
  sr_trajectory_destroy(a);
  sr_trajectory_destroy(b);
  close_model(&x);
}

// A run that blows up keeps the samples it has reached, and no state that is none of them.
TEST(a_run_that_stops_early_keeps_the_samples_that_it_reached) {
  Loaded x = open_text(
      "<sarrus version='1' name='burst'><option gravity='0 0 0'/>"
      "<body name='mass'><joint name='x' type='prismatic' axis='1 0 0' q='1' v='1'/><inertial mass='1' inertia='1 1 "
      "1'/></body>"
      "<torque joint='x' law='2*q(x)^3'/><run t-end='2'/></sarrus>");  // x = 1/(1 - t)
  srRunOptions options = sr_run_options(x.m);
  srTrajectory* run = sr_trajectory_create(x.m, 200);
  ENSURE_EQUAL(sr_run_sampled(x.m, x.d, &options, NULL, &x.result, run), SR_FAILED);
  ENSURE_EQUAL(run->filled, 100);  // t = 0 .. 198/199; the next would be beyond 1
  for (int k = 0; k < 100; k++) ENSURE_NEAR(run->sample[3 * k + 1] * (1 - 2.0 * k / 199), 1, 1e-3);
  ENSURE(x.result.error_message[0] != 0);
  sr_trajectory_destroy(run);
  close_model(&x);
}

// y'' = -4 y as two states, alone and with a mass whose motion is exact.
TEST(a_model_of_states_alone_is_judged_by_its_states) {
  Loaded x = open_text(
      "<sarrus version='1'><state name='a' initial='1' rate='b'/><state name='b' initial='0' rate='-4*a'/>"
      "<run t-end='2' step='0.01'/></sarrus>");
  srTrajectory* fine = sampled(&x, "dopri5", 1e-12, 11);
  sr_data_reset(x.m, x.d);
  srTrajectory* coarse = sampled(&x, "euler", 1e-6, 11);
  const srTrajectoryError e = sr_trajectory_error(x.m, fine, coarse);
  ENSURE(isnan(e.q) && isnan(e.v) && isnan(e.end_q) && isnan(e.end_v));
  // Euler's amplitude grows by (1 + 4 h^2)^(1/2) in a step: by 4 % to t = 2.
  ENSURE(e.y > 1e-2 && e.y < 1e-1);
  ENSURE(e.state == e.y);
  sr_trajectory_destroy(fine);
  sr_trajectory_destroy(coarse);
  close_model(&x);
}

TEST(the_error_of_the_state_is_the_larger_one_of_coordinates_and_states) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='b'><joint name='p' type='prismatic' axis='1 0 0' v='1'/>"
      "<inertial mass='1' inertia='1 1 1'/></body><state name='s' initial='4' rate='0'/><run t-end='1'/></sarrus>");
  srTrajectory* one = sampled(&x, "dopri5", 1e-6, 11);
  sr_data_reset(x.m, x.d);
  srTrajectory* other = sampled(&x, "dopri5", 1e-6, 11);
  const int width = sr_trajectory_width(one);
  other->sample[3 * width + 1] += 0.25;  // q, of 1 m
  other->sample[5 * width + 3] += 0.5;   // y, of 4
  srTrajectoryError e = sr_trajectory_error(x.m, one, other);
  ENSURE_NEAR(e.q, 0.25, 1e-9);
  ENSURE_NEAR(e.y, 0.125, 1e-9);
  ENSURE(e.state == e.q);
  other->sample[6 * width + 3] += 2;
  e = sr_trajectory_error(x.m, one, other);
  ENSURE(e.state == e.y && e.y > e.q);
  other->sample[6 * width + 3] = (double)NAN;
  ENSURE(isnan(sr_trajectory_error(x.m, one, other).state));
  sr_trajectory_destroy(one);
  sr_trajectory_destroy(other);
  close_model(&x);
}
