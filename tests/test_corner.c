// Corners and jumps of what drivers and constraints prescribe: impulses and work in closed form, by every kind of method, in both formulations, in runs that are
// cut, in networks; jumps of positions are errors with the name of the driver or the constraint.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "runner.h"

// A block of 1 kg that moves by s(t) along a carriage of 2 kg, at rest and free: momentum stays 0, x = -s/3.
#define CARRIAGE_AT(start, more)                                                                                       \
  "<sarrus version='1'><option gravity='0 0 0'/>"                                                                      \
  "<body name='c'><joint name='x' type='prismatic' axis='1 0 0'" start                                                 \
  "/><inertial mass='2'/></body>"                                                                                      \
  "<body name='b' parent='c'><joint name='s' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>" more          \
  "</sarrus>"
#define CARRIAGE(more) CARRIAGE_AT("", more)

static const char* const methods[] = {"rk4", "dopri5", "hem5", "radau5", "genalpha-ggl", "cvode", "auto"};
#define METHODS (int)(sizeof methods / sizeof *methods)

static srStatus go(Bench* b, const char* method, double t_end, srRunResult* result) {
  srRunOptions options = sr_run_options(b->m);
  options.method = method;
  options.t_end = t_end;
  options.step = 2.5e-3;
  options.rtol = options.atol = method[0] == 'g' ? 1e-7 : 1e-9;  // genalpha: order 2
  return sr_run(b->m, b->d, &options, NULL, result);
}

typedef struct Case {
  const char* text;
  double t_end, s, speed;  // s and s' at t_end
  double start;            // s' at first, of momentum 1 kg s'
} Case;

// Momentum: 3 x' + s' = s'(0), 3 x + s = s'(0) t.
static double x_of(const Case* c) { return (c->start * c->t_end - c->s) / 3; }
static double speed_of(const Case* c) { return (c->start - c->speed) / 3; }
static double work_of(const Case* c) {
  const double v = speed_of(c), u = v + c->speed;
  return 0.5 * (2 * v * v + u * u - c->start * c->start);
}

// One run, or two with a cut between them.
static void ensure_motion(const Case* x, srFormulation formulation, const char* method, double cut) {
  Bench b = load(x->text, formulation);
  srRunResult result;
  srStatus status = cut > 0 ? go(&b, method, cut * x->t_end, &result) : SR_OK;
  if (status == SR_OK) status = go(&b, method, x->t_end, &result);
  const double tolerance = 1e-6 * fmax(1, fabs(x->speed));
  const bool right = status == SR_OK && fabs(q_of(&b, "s") - x->s) < tolerance &&
                     fabs(q_of(&b, "x") - x_of(x)) < tolerance && fabs(v_of(&b, "x") - speed_of(x)) < tolerance;
  if (!right)
    printf("%s\n  formulation %d, %s: s %.9g, x %.9g, v %.9g %s\n", x->text, formulation, method, q_of(&b, "s"),
           q_of(&b, "x"), v_of(&b, "x"), result.error_message);
  ENSURE(right);
  // The sum of the power has no part in the error estimates of cvode and the generalized-alpha methods: exact where the speed is constant.
  const bool exact = strcmp(method, "cvode") != 0 && (method[0] != 'g' || !strstr(x->text, "<motion"));
  if (exact && !(cut > 0)) ENSURE_NEAR(result.energy.work[SR_ACCOUNT_DRIVER], work_of(x), 1e-5 * fmax(1, work_of(x)));
  unload(&b);
}

static void ensure_motions(const Case* cases, int n) {
  for (int i = 0; i < n; ++i) {
    BOTH(formulation) {
      for (int k = 0; k < METHODS; ++k) {
        ensure_motion(&cases[i], formulation, methods[k], 0);
        if (k % 2 == i % 2) ensure_motion(&cases[i], formulation, methods[k], 0.45);
      }
    }
  }
}

TEST(a_corner_of_time_in_a_constraint_is_an_impulse) {
  static const Case cases[] = {
      {CARRIAGE("<constraint expr='q(s) = max(0, t - 0.5)'/>"), 1, 0.5, 1, 0},
      {CARRIAGE("<constraint expr='q(s) - abs(t - 0.3) + 0.3'/>"), 1, 0.4, 1, -1},
      {CARRIAGE("<constraint velocity='v(s) = 2*step(t - 0.7)'/>"), 1, 0.6, 2, 0},
      {CARRIAGE("<constraint velocity='v(s) = if(t &lt; 0.25, 1, 0)'/>"), 1, 0.25, 0, 1},
  };
  ensure_motions(cases, (int)(sizeof cases / sizeof *cases));
}

// Tables: the corners are their knots. The two arguments may both be the time: bilinear within a cell.
#define TABLE(ends) "<table name='p' type='linear' ends='" ends "' "
#define RISE TABLE("natural") "x='0 0.5 1 2' y='0 1' values='0 0 0 0 0.5 0.5 1.5 1.5'/>"
TEST(corners_of_a_linear_table_of_the_time_are_impulses) {
  static const Case cases[] = {
      {CARRIAGE(RISE "<driver joint='s' motion='p(t, 0)'/>"), 1, 0.5, 1, 0},
      {CARRIAGE(RISE "<constraint expr='q(s) = p(t, 0.3)'/>"), 1, 0.5, 1, 0},
      // Beyond the last knot along the end tangent, 1 m/s.
      {CARRIAGE(RISE "<driver joint='s' motion='p(2*t, 0)'/>"), 1.25, 2, 2, 0},
      {CARRIAGE(TABLE("clamped") "x='0.3 0.4' y='0 1' values='0 0 0.1 0.1'/><driver joint='s' motion='p(t, 0.5)'/>"), 1,
       0.1, 0, 0},
      {CARRIAGE(TABLE("periodic") "x='0 0.25 0.5' y='0 1' values='0 0 0.1 0.1 0 0'/>"
                                  "<driver joint='s' motion='p(t, 0)'/>"),
       1.1, 0.04, 0.4, 0.4},
      {CARRIAGE(TABLE("clamped") "x='0 1' y='0.2 0.6 2' values='0 0.2 0.1 0 0.2 0.1'/>"
                                 "<driver joint='s' motion='p(0.5, t)'/>"),
       0.5, 0.15, 0.5, 0},
      // At 0.7 s in the cell [0.4, 0.8] x [0.5, 2], at 3/4 and 6/10 of it.
      {CARRIAGE(TABLE("clamped") "x='0.3 0.4 0.8' y='0 0.5 2' values='0 0 0 0.1 0.2 0.1 1 2 3'/>"
                                 "<driver joint='s' motion='p(t, 2*t)'/>"),
       0.7, 0.25 * 0.14 + 0.75 * 2.6, 2.46 / 0.4 + 2 * (0.75 - 0.025) / 1.5, 0},
  };
  ensure_motions(cases, (int)(sizeof cases / sizeof *cases));
}

// At rest for 2 s: a step that waits must not pass over the whole motion. A sweep begins with a speed, which is an impulse.
TEST(motions_of_the_time_are_met_where_they_begin) {
  static const Case cases[] = {
      {CARRIAGE("<motion name='p' type='trapezoid' start='2' to='0.1' speed='1' acceleration='100'/>"
                "<driver joint='s' motion='p(t)'/>"),
       2.5, 0.1, 0, 0},
      {CARRIAGE("<motion name='p' type='cubic' ends='clamped' points='2 0 2.1 0.1'/><driver joint='s' motion='p(t)'/>"),
       2.5, 0.1, 0, 0},
      {CARRIAGE("<motion name='p' type='quintic' points='2 0 2.1 0.1'/><constraint expr='q(s) = p(t)'/>"), 6, 0.1, 0,
       0},
      {CARRIAGE("<motion name='p' type='sweep' start='0.5' duration='9' amplitude='0.1' f0='1' f1='1'/>"
                "<driver joint='s' motion='p(t)'/>"),
       1, 0, -0.62831853071795865, 0},
  };
  ensure_motions(cases, (int)(sizeof cases / sizeof *cases));
}

// A push of 2 kg by a triangle of 10 N, 0.02 s wide, from a table and from a motion, at rest before: 0.05 m/s.
TEST(forces_by_tables_and_motions_of_the_time_are_met_at_rest) {
#define PUSH(law, more)                                                                                                \
  "<sarrus version='1'><option gravity='0 0 0'/><body name='b'><joint name='x' type='prismatic' axis='1 0 0'/>"        \
  "<inertial mass='2'/></body><torque joint='x' law='" law "'/>" more "</sarrus>"
  static const char* const texts[] = {
      PUSH("p(t, 0)", TABLE("clamped") "x='7 7.01 7.02' y='0 1' values='0 0 10 10 0 0'/>"),
      PUSH("100*p(t)", "<motion name='p' type='trapezoid' start='7' to='0.05' speed='10' acceleration='500'/>"),
  };
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < METHODS; ++k) {
      Bench b = load(texts[i], SR_FORMULATION_RELATIVE);
      srRunResult result;
      ENSURE_EQUAL(go(&b, methods[k], 7.02, &result), SR_OK);
      // The second is 5 N in the end, after 0.02 s in which it rises by the profile: half of them on the average.
      ENSURE_NEAR(v_of(&b, "x"), i == 0 ? 0.05 : 0.5 * 0.5 * 5 * 0.02, 2e-6);
      unload(&b);
    }
  }
}

static void ensure_refused(const char* text, double t, const char* expected) {
  BOTH(formulation) {
    for (int k = 0; k < METHODS; ++k) {
      for (int cut = 0; cut < 2; ++cut) {
        Bench b = load(text, formulation);
        srRunResult result;
        if (cut == 1) ENSURE_EQUAL(go(&b, methods[k], 0.8 * t, &result), SR_OK);
        ENSURE_EQUAL(go(&b, methods[k], 1, &result), SR_FAILED);
        if (!strstr(result.error_message, expected)) printf("%s: %s\n", methods[k], result.error_message);
        ENSURE(strstr(result.error_message, expected) != NULL);
        ENSURE(b.d->t <= t && result.t <= t);
        unload(&b);
      }
    }
  }
}

TEST(a_position_that_jumps_ends_the_run_with_the_name_of_its_driver) {
  ensure_refused(CARRIAGE("<driver joint='s' motion='if(t &lt; 0.5, 0, 1)'/>"), 0.5,
                 "at t = 0.5 the motion of driver 's' jumps by 1, from 0 to 1: ");
  ensure_refused(CARRIAGE("<driver joint='s' motion='0.25*t - 0.1*floor(4*t)'/>"), 0.25,
                 "at t = 0.25 the motion of driver 's' jumps by -0.1, from 0.0625 to -0.0375: ");
  ensure_refused(CARRIAGE("<constraint name='k' expr='q(s) = 2*t + 1e-6*step(t - 0.75)'/>"), 0.75,
                 "at t = 0.75 the formula of constraint 'k' jumps by -1e-06: ");
}

// Where the pieces meet up to rounding, nothing jumps: 0.1 + 0.2 is not 0.3, a third of 3 not 1.
TEST(pieces_of_a_motion_may_meet_up_to_rounding) {
  static const Case cases[] = {
      {CARRIAGE("<driver joint='s' motion='if(t &lt; 0.3, t/3, (0.1 + 0.2)/3 + 2*(t - 0.3))'/>"), 1, 1.5, 2, 1.0 / 3},
      {CARRIAGE("<driver joint='s' motion='1000*sin(t) + max(t - 0.7, 0)'/>"), 1, 1000 * 0.8414709848078965 + 0.3,
       1000 * 0.5403023058681398 + 1, 1000},
  };
  ensure_motions(cases, 1);
  Bench b = load(cases[1].text, SR_FORMULATION_ABSOLUTE);
  srRunResult result;
  ENSURE_EQUAL(go(&b, "dopri5", 1, &result), SR_OK);
  ENSURE_NEAR(q_of(&b, "s"), cases[1].s, 1e-6);
  unload(&b);
}

// A stop that takes the block along from x = 0.2 on: in coordinates x, s with M = [3 1; 1 1] the velocity (1, 0) becomes (2/3, 2/3), the nearest with s' = x'.
// 3/2 J become 4/3 J, and the rest is dissipated.
TEST(a_corner_of_the_state_in_a_constraint_is_an_inelastic_impact) {
  BOTH(formulation) {
    for (int k = 0; k < METHODS; ++k) {
      Bench b =
          load(CARRIAGE_AT(" v='1'", "<constraint expr='q(s) = if(q(x) &lt; 0.2, 0, q(x) - 0.2)'/>"), formulation);
      srRunResult result;
      ENSURE_EQUAL(go(&b, methods[k], 1, &result), SR_OK);
      ENSURE_NEAR(v_of(&b, "x"), 2.0 / 3, 1e-7);
      ENSURE_NEAR(q_of(&b, "x"), 0.2 + 0.8 * 2 / 3, 1e-7);
      ENSURE_NEAR(result.energy.work[SR_ACCOUNT_FRICTION], -1.0 / 6, 1e-7);
      ENSURE_SMALL(result.energy.residual, 1e-7);
      unload(&b);
    }
  }
}

// ---- networks -----------------------------------------------------------------------------------------------------------

static srNetwork* network_of(const Bench* b, int* mechanism) {
  srNetwork* n = sr_network_create(NULL);
  *mechanism = sr_network_multibody(n, "m", b->m, b->d, NULL, 0);
  return n;
}

// Steps of 3 ms pass the corners between them, steps of 10 ms end on them.
TEST(a_corner_of_a_driver_in_a_network_is_an_impulse) {
  static const Case cases[] = {
      {CARRIAGE("<driver joint='s' motion='max(0, t - 0.5)'/>"), 1.2, 0.7, 1, 0},
      {CARRIAGE("<constraint expr='q(s) = max(0, t - 0.5)'/>"), 1.2, 0.7, 1, 0},
      {CARRIAGE("<constraint velocity='v(s) = step(t - 0.5)'/>"), 1.2, 0.7, 1, 0},
      {CARRIAGE("<driver joint='s' motion='max(0, min(t - 0.4, 0.001))'/>"), 1.2, 0.001, 0, 0},  // both in one step
  };
  for (int i = 0; i < 16; ++i) {
    const Case* x = &cases[i / 4];
    Bench b = load(x->text, i % 2 == 0 ? SR_FORMULATION_RELATIVE : SR_FORMULATION_ABSOLUTE);
    int mechanism;
    srNetwork* n = network_of(&b, &mechanism);
    ENSURE_EQUAL(sr_network_ready(n, 1), SR_OK);
    const double h = i / 2 % 2 == 0 ? 1e-2 : 3e-3;
    for (int again = 0; again < 2; ++again) {
      ENSURE_EQUAL(sr_network_start(n, 0), SR_OK);
      for (int k = 0; k < (int)lround(x->t_end / h); ++k) ENSURE_EQUAL(sr_network_step(n, h), SR_OK);
      const double* out = sr_network_output(n, mechanism);
      ENSURE_NEAR(out[0], x_of(x), 1e-12);
      ENSURE_NEAR(out[1], x->s, 1e-12);
      ENSURE_NEAR(out[2], speed_of(x), 1e-12);
    }
    if (i % 2 == 0 && i / 4 == 0) {  // begun beyond the corner, nothing jumps
      ENSURE_EQUAL(sr_network_start(n, 0.6), SR_OK);
      ENSURE_EQUAL(sr_network_step(n, h), SR_OK);
      ENSURE_NEAR(sr_network_output(n, mechanism)[2], 0, 1e-12);
    }
    sr_network_destroy(n);
    unload(&b);
  }
}

TEST(a_network_refuses_positions_that_jump_and_corners_of_the_state) {
  Bench b = load(CARRIAGE("<driver joint='s' motion='if(t &lt; 0.5, 0, 1)'/>"), SR_FORMULATION_RELATIVE);
  int mechanism;
  srNetwork* n = network_of(&b, &mechanism);
  ENSURE_EQUAL(sr_network_ready(n, 1), SR_OK);
  ENSURE_EQUAL(sr_network_start(n, 0), SR_OK);
  srStatus status = SR_OK;
  for (int k = 0; k < 400 && status == SR_OK; ++k) status = sr_network_step(n, 3e-3);
  ENSURE_EQUAL(status, SR_FAILED);
  ENSURE(strstr(sr_network_error_message(n), "at t = 0.5 the motion of driver 's' jumps by 1, from 0 to 1") != NULL);
  sr_network_destroy(n);
  unload(&b);
  b = load(CARRIAGE("<constraint name='k' expr='q(s) = if(q(x) &lt; 0.2, 0, q(x) - 0.2)'/>"), SR_FORMULATION_RELATIVE);
  srMessages* messages = sr_messages_create();
  n = sr_network_create(messages);
  ENSURE_EQUAL(sr_network_multibody(n, "m", b.m, b.d, NULL, 0), SR_REFUSED);
  messages_keep(messages, said, sizeof said);
  ENSURE(strstr(said, "'m': the formula of constraint 'k' switches with the state") != NULL);
  sr_messages_destroy(messages);
  sr_network_destroy(n);
  unload(&b);
}
