// Implicit methods where a force leaves its stiff branch: Newton's iteration must not take the small increments that the stiffness
// of that branch makes for a solution.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"
#include "system/bristle.h"

static bool verbose(void) { return getenv("SARRUS_TEST_VERBOSE") != NULL; }

static srStatus run_at(Loaded* x, const char* method, double rtol, double atol, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.rtol = rtol;
  options.atol = atol;
  options.t_end = t_end;
  return sr_run(x->m, x->d, &options, NULL, &x->result);
}

// A mass of 1 kg rests on a support of stiffness K and damping sqrt(K) that pushes and does not pull; its load 10 - 2 t ends at 5 s,
// and from there it rises: q = (t - 5)^3/3 + 2/K (t - 5), the speed at which the support lets it go.
// With `rows` another mass of 1 kg moves with half of its speed, and the two weigh 1 kg together; a third one turns by itself.
static double lifted(const char* method, double K, double rtol, bool rows) {
  char text[1200];
  snprintf(text, sizeof text,
           "<sarrus version='1'><parameter name='K' value='%g'/><option gravity='0 0 0'/>"
           "<body name='b'><joint name='z' type='prismatic' axis='0 0 1' q='-10/K'/><inertial mass='%g'/></body>%s"
           "<torque joint='z' law='2*t - 10 + if(q(z) &lt; 0, max(0, -K*q(z) - sqrt(K)*v(z)), 0)'/></sarrus>",
           K, rows ? 0.75 : 1,
           !rows ? ""
                 : "<body name='c'><joint name='u' type='prismatic' axis='0 0 1' q='-5/K'/><inertial mass='1'/></body>"
                   "<constraint expr='q(z) - 2*q(u)'/>"
                   "<body name='d'><joint name='w' type='revolute' axis='0 0 1' v='3'/>"
                   "<inertial mass='1' inertia='1 1 1'/></body><torque joint='w' law='-9*sin(q(w))'/>");
  Loaded x = open_text(text);
  ENSURE_EQUAL(run_at(&x, method, rtol, 1e-3 * rtol, 6), SR_OK);
  const double error = x.d->q[0] - (1.0 / 3 + 2 / K);
  if (verbose()) {
    printf("  %s K %g rtol %g: error %.1e, %ld steps, %ld evaluations\n", method, K, rtol, error, x.result.stats.steps,
           x.result.stats.evaluations);
  }
  close_model(&x);
  return error;
}

// radau5 holds the error of a step below 0.1 rtol^(2/3).
TEST(radau5_sees_a_support_let_go) {
  for (double K = 1e6; K <= 1e10; K *= 100) {
    for (double rtol = 1e-2; rtol > 1e-9; rtol /= 10)
      ENSURE_SMALL(lifted("radau5", K, rtol, false), pow(rtol, 2.0 / 3));
  }
}

// The others are held to the same: their own tolerance is smaller, and their order too.
static void sees_a_support_let_go(const char* method) {
  for (double K = 1e4; K <= 1e10; K *= 100) {
    for (double rtol = 1e-2; rtol > 1e-6; rtol /= 10) {
      ENSURE_SMALL(lifted(method, K, rtol, false), pow(rtol, 2.0 / 3));
      ENSURE_SMALL(lifted(method, K, rtol, true), pow(rtol, 2.0 / 3));
    }
  }
}

TEST(radau5_sees_a_support_let_go_during_other_motion) { sees_a_support_let_go("radau5"); }

TEST(generalized_alpha_sees_a_support_let_go) {
  sees_a_support_let_go("genalpha-index3");
  sees_a_support_let_go("genalpha-index2");
  sees_a_support_let_go("genalpha-ggl");
}

#ifdef SARRUS_SUNDIALS
TEST(formulas_of_backward_differentiation_see_a_support_let_go) {
  sees_a_support_let_go("cvode");
  sees_a_support_let_go("ida");
}
#endif

// Eight bristles that give way one after the other, against an explicit method at a tolerance a million times smaller.
TEST(radau5_follows_bristles_that_give_way) {
  for (double t_end = 3; t_end <= 15; t_end += 3) {
    Loaded x = open_model("contact/hysteresis-joint", "");
    ENSURE_EQUAL(run_at(&x, "dopri5", 1e-9, 1e-12, t_end), SR_OK);
    const double q = x.d->q[0];
    for (double rtol = 1e-3; rtol > 1e-6; rtol /= 10) {
      sr_data_reset(x.m, x.d);
      ENSURE_EQUAL(run_at(&x, "radau5", rtol, 1e-3 * rtol, t_end), SR_OK);
      if (verbose()) printf("  t %g rtol %g: error %.1e of %.1e\n", t_end, rtol, x.d->q[0] - q, q);
      ENSURE_SMALL(x.d->q[0] - q, 1e-2 * pow(rtol, 2.0 / 3));  // angles of 5e-3: the tolerance of a step
    }
    close_model(&x);
  }
}

// ---- bristles that are short compared with the tolerance -------------------------------------------------------------------------

// A block of 1 kg on a belt of 0.1 m/s, on bristles of 1e8 N/m with mu 0.4 at rest, 0.3 above a Stribeck speed of 1e-5 m/s, is held
// back by a spring of 1 N/m from 1.962 m on: it sticks until the spring has 3.924 N, at 19.62 s, then
//   x = 2.943 + 0.981 cos s + 0.1 sin s,   s = t - 19.62 s
// Generalized-alpha kept the acceleration sequence of a long step for all the short ones that followed, and took 49 million.
static void belt_slips(const char* method) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/>"
      "<body name='slide'><joint name='x' type='prismatic' axis='1 0 0' q='1.962' v='0.1'/></body>"
      "<body name='block' parent='slide'><joint name='z' type='prismatic' axis='0 0 1' q='-9.81/1e6'/><inertial "
      "mass='1'/></body><torque joint='x' law='-q(x)'/>"
      "<contact gap='q(z)' slip-speed='v(x) - 0.1' normal='kelvin-voigt' K='1e6' D='2000' mu-s='0.4' mu-k='0.3' "
      "bristle-K='1e8' bristle-B='2e5' vs='1e-5' delta='1' tau='1e-4'/></sarrus>");
  ENSURE_EQUAL(run_at(&x, method, 1e-8, 1e-11, 20.5), SR_OK);
  const double s = 20.5 - 19.62;
  ENSURE_NEAR(x.d->q[0], 2.943 + 0.981 * cos(s) + 0.1 * sin(s),
              1e-3);  // 0.1 m/s for the first 10 ms at 1e-5 m/s and below
  ENSURE(x.result.stats.steps < 10000);
  close_model(&x);
}

TEST(a_block_on_stiff_bristles_slips_when_its_spring_exceeds_the_limit) {
  belt_slips("radau5");
  belt_slips("genalpha-ggl");
}

// The block on a slope, whose load never reaches the limit. Its bristles bend by 8e-6 m, and positions may be wrong by more. It
// slides by 5 m with dopri5 where bristles may be so too. Slips at the start that differ leave some times the bend of bristles.
TEST(bristles_hold_where_the_tolerance_is_larger_than_they_bend) {
  static const struct {
    const char* method;
    double most;
  } table[] = {{"dopri5", 4e-5}, {"genalpha-ggl", 4e-5}, {"radau5", 7.8e-6}};
  for (int i = 0; i < 3; i++) {
    for (double atol = 1e-2; atol > 1e-5; atol /= 10) {
      Loaded x = open_model("contact/block-on-slope", "");
      ENSURE_EQUAL(run_at(&x, table[i].method, 1e-3, atol, 2), SR_OK);
      const double from = x.d->q[0];
      sr_data_reset(x.m, x.d);
      ENSURE_EQUAL(run_at(&x, table[i].method, 1e-3, atol, 6), SR_OK);
      if (verbose()) printf("  %s atol %g: %.1e m in 4 s\n", table[i].method, atol, x.d->q[0] - from);
      ENSURE_SMALL(x.d->q[0] - from, table[i].most);
      close_model(&x);
    }
  }
}

// 0.01 Fs/K of every part: limits F of a joint, mu N, lever N; stiffness K, at the arm R of a sphere K R^2. N is the weight shared by the contacts,
// 6 kg * 5 m/s^2 / 2.
TEST(errors_of_bristles_are_bounded_by_a_part_of_their_bend) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='3 0 -4'/><ground><shape name='floor' type='plane'/></ground>"
      "<body name='a'><joint type='free' q='0 0 0.5 1 0 0 0'/><inertial mass='2' inertia='1 1 1'/><shape name='a' "
      "type='sphere' size='0.5' group='ball'/></body>"
      "<body name='b'><joint type='free' q='3 0 0.2 1 0 0 0'/><inertial mass='4' inertia='1 1 1'/><shape name='b' "
      "type='sphere' size='0.2' group='ball'/></body>"
      "<body name='r'><joint name='r' type='revolute' axis='0 1 0'/><inertial mass='0' inertia='1 1 1'/></body>"
      "<friction joint='r' law='kikuuwe' F='0.5' K='1e3' B='1'/>"
      "<contact a='floor' b='ball' normal='kelvin-voigt' K='1e6' D='10' friction='kikuuwe' mu-k='0.4' mu-roll='0.01' "
      "mu-spin='0.02' bristle-K='1e4' bristle-B='10'/></sarrus>");
  double bound[40], N = 15;
  int seen = 0;
  ENSURE(x.m->ny <= 40);
  sr_bristle_bounds(x.m, bound);
  for (int i = 0; i < x.m->nforce; i++) {
    const srSurfaceLaws* c = x.m->force[i].contact;
    const double R = fmin(c->radius[0], c->radius[1]);
    const double contact[] = {0.4 * N / 1e4, 0.01 * N / (1e4 * R * R), 0.02 * N / (1e4 * R * R)};
    const srDryFriction* parts[] = {&c->slip, &c->roll, &c->spin};
    for (int p = 0; p < 3; p++)
      for (int k = 0; k < parts[p]->ne; k++, seen++) {
        const double bend = c->law != NULL ? contact[p] : 0.5 / 1e3;
        ENSURE_NEAR(bound[x.m->force[i].y + parts[p]->e + k], 0.01 * bend, 1e-12 * bend);
      }
  }
  ENSURE_EQUAL(seen, 1 + 2 * (2 + 2 + 1));
  close_model(&x);
}

TEST(bristles_that_rounding_hides_are_reported_by_name) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='b'><joint name='z' type='prismatic' axis='0 0 1'/>"
      "<inertial mass='1'/></body><friction name='good' joint='z' law='kikuuwe' F='2' K='1e12' B='1e6'/>\n"
      "<friction name='shy' joint='z' law='kikuuwe' F='0.5' K='1e12' B='1e6'/></sarrus>");
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x.m);
  options.method = "radau5";
  options.t_end = 1e-3;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, messages, &x.result), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE_EQUAL(sr_messages_get(messages, 0)->severity, SR_SEVERITY_WARNING);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "shy") != NULL);
  ENSURE_EQUAL(sr_messages_get(messages, 0)->place.line, 2);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "take a K below 5e+11") != NULL);
  sr_messages_destroy(messages);
  close_model(&x);
}
