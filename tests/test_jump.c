// Laws that jump: located by themselves, so that a method keeps its order across them. Expected values are closed forms.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

// A sledge of mass 2 on a rail, at 0 with 0.5 m/s.
#define SLEDGE_AT(start, law, more)                                                                                    \
  "<sarrus version=\"1\" name=\"sledge\"><option gravity=\"0 0 0\"/><body name=\"b\">"                                 \
  "<joint name=\"x\" type=\"prismatic\" axis=\"1 0 0\" " start                                                         \
  "/><inertial mass=\"2\" inertia=\"1 1 1\"/>"                                                                         \
  "<point name=\"p\" at=\"0 0 0\"/></body><torque name=\"push\" joint=\"x\" law=\"" law "\"/>" more "</sarrus>"
#define SLEDGE(law) SLEDGE_AT("v=\"0.5\"", law, "")

typedef struct Way {
  const char* method;
  double step, tol;
  srFormulation formulation;
} Way;

static srStatus go(Loaded* x, const Way* way, double t_end, srMessages* messages) {
  srRunOptions options = sr_run_options(x->m);
  options.method = way->method;
  options.t_end = t_end;
  options.step = way->step;
  options.rtol = options.atol = way->tol;
  return sr_run(x->m, x->d, &options, messages, &x->result);
}

static void ensure_end(const char* text, const Way* way, double q, double v, long jumps, double most) {
  Loaded x = open_text(text);
  srMessages* messages = sr_messages_create();
  const srStatus status = go(&x, way, 1, messages);
  loading_print(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("%s\n", x.result.error_message);
  if (getenv("SARRUS_TEST_VERBOSE") != NULL)
    printf("  %-16s q %.1e v %.1e, %ld steps, %ld rejected\n", way->method, x.d->q[0] - q, x.d->v[0] - v,
           x.result.stats.steps, x.result.stats.rejected);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_NEAR(x.d->q[0], q, most);
  ENSURE_NEAR(x.d->v[0], v, most);
  ENSURE_EQUAL(x.result.jumps, jumps);
  ENSURE(x.d->held == NULL);
  close_model(&x);
}

static const Way dopri5 = {.method = "dopri5", .tol = 1e-10};

// At rest, and the force acts for a fiftieth of a second long after the start: triangle of 1000 N, 10 Ns in all, on 2 kg.
TEST(pulse_by_corners_in_time_is_met_by_every_method_at_rest) {
  const char* text = SLEDGE_AT("", "1000*max(0, 1 - abs(t - 0.7)/0.01)", "");
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->absent || method->impulses) continue;
    const bool first = strcmp(method->name, "euler") == 0;
    const Way way = {.method = method->name, .step = first ? 1e-5 : 1e-3, .tol = 1e-8};
    Loaded x = open_text(text);
    ENSURE_EQUAL(go(&x, &way, 1, NULL), SR_OK);
    ENSURE_NEAR(x.d->v[0], 5, first ? 1e-2 : 1e-5);
    ENSURE_NEAR(x.d->q[0], 1.5, first ? 1e-2 : 1e-5);
    ENSURE(x.result.jumps >= 3);
    close_model(&x);
  }
}

// A rectified sine at rest half of the time: v = 2/w for each of the floor(w/(2 pi)) waves, the last one ends in its lower half. A step that waits for
// the next wave must not pass over it.
TEST(pulses_in_time_of_a_rectifier_are_all_met) {
  const char* text[3] = {SLEDGE_AT("", "2*max(0, sin(30*t))", ""), SLEDGE_AT("", "2*max(0, sin(100*t))", ""),
                         SLEDGE_AT("", "2*max(0, sin(300*t))", "")};
  const double speed[3] = {10 / 30.0, 32 / 100.0, 96 / 300.0};
  const char* methods[] = {"dopri5", "radau5", "auto", "genalpha-index2", "cvode", "hem5"};
  for (int i = 0; i < 18; ++i) {
    Loaded x = open_text(text[i / 6]);
    const Way way = {.method = methods[i % 6], .step = 1e-3, .tol = 1e-6};
    ENSURE_EQUAL(go(&x, &way, 1, NULL), SR_OK);
    ENSURE_NEAR(x.d->v[0], speed[i / 6], 1e-3);
    close_model(&x);
  }
}

// The same of the angle of a wheel that turns, and of a state that grows as the time does: kinks, and conditions of the state.
TEST(pulses_of_the_state_of_a_rectifier_are_all_met) {
#define WHEEL "<body name='w'><joint name='r' type='revolute' v='30'/><inertial mass='1' inertia='1 1 1'/></body>"
#define CLOCK "<state name='y' rate='1'/>"
  const struct {
    const char* text;
    double speed;
  } cases[] = {{SLEDGE_AT("", "2*max(0, sin(30*y))", CLOCK), 10 / 30.0},
               {SLEDGE_AT("", "2*max(0, sin(300*y))", CLOCK), 96 / 300.0},
               {SLEDGE_AT("", "sin(100*y) + abs(sin(100*y))", CLOCK), 32 / 100.0},
               {SLEDGE_AT("", "if(sin(30*y) &gt; 0, 2*sin(30*y), 0)", CLOCK), 10 / 30.0},
               {SLEDGE_AT("", "2*step(sin(300*y))*sin(300*y)", CLOCK), 96 / 300.0},
               {SLEDGE_AT("", "-2*min(0, -sin(q(r)))", WHEEL), 10 / 30.0}};
  const char* methods[] = {"dopri5", "hem5", "radau5", "genalpha-ggl", "cvode", "auto"};
  for (int i = 0; i < 36; ++i) {
    const Way way = {.method = methods[i % 6], .tol = 1e-6};
    for (int cut = 0; cut < 2; ++cut) {
      Loaded x = open_text(cases[i / 6].text);
      if (cut == 1) ENSURE_EQUAL(go(&x, &way, 0.37, NULL), SR_OK);
      ENSURE_EQUAL(go(&x, &way, 1, NULL), SR_OK);
      const double off = x.d->jv[x.m->joint_v[sr_joint_find(x.m, "x")]] - cases[i / 6].speed;
      if (!(fabs(off) < 3e-3)) printf("%s\n%s: off by %g\n", cases[i / 6].text, way.method, off);
      ENSURE_SMALL(off, 3e-3);  // half of the smallest pulse, 2/300
      close_model(&x);
    }
  }
}

// Narrow pulses long apart, of a wide function: sin(0.6 u) > 0.99 for 0.47 s of 10.5 s. Each gives 200/0.6 (2 cos a - 0.99 (pi - 2 a)), sin a = 0.99, on 2 kg; ten of
// them in 100 s. The samples of a step see the wide function turn back before zero.
TEST(narrow_pulses_of_a_wide_function_are_all_met) {
  const char* text[] = {SLEDGE_AT("", "200*max(sin(0.6*t) - 0.99, 0)", ""),
                        SLEDGE_AT("", "200*max(sin(0.6*y) - 0.99, 0)", CLOCK),
                        SLEDGE_AT("", "if(sin(0.6*y) &lt; 0.99, 0, 200*(sin(0.6*y) - 0.99))", CLOCK)};
  const char* methods[] = {"dopri5", "hem5", "radau5", "cvode", "auto"};
  const double a = asin(0.99), speed = 10 * 100 / 0.6 * (2 * cos(a) - 0.99 * (acos(-1.0) - 2 * a));
  for (int i = 0; i < 15; ++i) {
    Loaded x = open_text(text[i / 5]);
    const Way way = {.method = methods[i % 5], .tol = 1e-6};
    ENSURE_EQUAL(go(&x, &way, 100, NULL), SR_OK);
    if (fabs(x.d->v[0] - speed) > 1e-3 * speed) printf("%d %s\n", i / 5, way.method);
    ENSURE_NEAR(x.d->v[0], speed, 1e-3 * speed);
    close_model(&x);
  }
}

// A pendulum at rest but for rounding passes the kink of abs(v) back and forth, at 1e-17 rad/s: no reason to cut steps.
TEST(kinks_at_rest_cost_nothing) {
  Loaded x = open_text(
      "<sarrus version=\"1\"><body name=\"a\"><joint name=\"r\" type=\"revolute\" axis=\"0 1 0\" q=\"1e-9\"/>"
      "<inertial mass=\"1\" com=\"0 0 -1\" inertia=\"1 1 1\"/></body>"
      "<torque joint=\"r\" law=\"-v(r)*abs(v(r)) - 3*v(r) - max(v(r), 0)\"/></sarrus>");
  ENSURE_EQUAL(go(&x, &(Way){.method = "radau5", .tol = 1e-6}, 1000, NULL), SR_OK);
  ENSURE(x.result.stats.steps < 100);
  close_model(&x);
}

// The work of a force that waits, or that two corners shape, is as exact as the motion: no step continues a branch far beyond its end.
TEST(corners_in_time_leave_the_energy_balance_whole) {
  const struct {
    const char* text;
    double v, q;
  } cases[] = {
      {SLEDGE_AT("", "min(t, 0)", ""), 0, 0},
      // |t - 1/2| min(t, 1 - t) is t/2 - t^2 up to 1/2, and symmetric to it: 1/24 Ns in all, on 2 kg, at 1/2 on the average.
      {SLEDGE_AT("", "max(t - 0.5, 0.5 - t)*min(t, 1 - t)", ""), 1 / 48.0, 1 / 96.0}};
  const char* methods[] = {"rk4", "dopri5", "hem5", "radau5", "genalpha-index2", "genalpha-ggl", "cvode", "auto"};
  for (int i = 0; i < 16; ++i) {
    Loaded x = open_text(cases[i / 8].text);
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(go(&x, &(Way){.method = methods[i % 8], .step = 1e-2, .tol = 1e-6}, 1, messages), SR_OK);
    loading_print(messages);
    ENSURE_EQUAL(sr_messages_count(messages), 0);
    ENSURE_NEAR(x.d->v[0], cases[i / 8].v, 1e-4);
    ENSURE_NEAR(x.d->q[0], cases[i / 8].q, 1e-4);
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

TEST(jump_of_a_force_in_time_is_passed_to_rounding_by_every_method) {
  const char* text = SLEDGE("if(t &lt; 0.3, 0, 1)");
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->absent || method->impulses) continue;
    // Constant accelerations are followed exactly by methods of order 2 and more; steps do not fall on 0.3. BDF begins at order 1.
    const Way way = {.method = method->name, .step = 0.037, .tol = 1e-9};
    const bool exact = method->order >= 2 && strcmp(method->name, "cvode") != 0 && strcmp(method->name, "ida") != 0;
    const double most = method->order == 1 ? 0.02 : exact ? 1e-12 : 1e-6;
    ensure_end(text, &way, 0.5 + 0.25 * 0.49, 0.5 + 0.5 * 0.7, 1, most);
  }
}

TEST(jump_does_not_lower_the_order_of_steps_of_fixed_length) {
  // 2 v' = cos(3 t) from 0.3 on.
  const double v = 0.5 + (sin(3.0) - sin(0.9)) / 6, q = 0.5 + ((cos(0.9) - cos(3.0)) / 3 - 0.7 * sin(0.9)) / 6;
  double before = 0, order = 0;
  for (double h = 0.037; h > 0.004; h /= 2) {
    Loaded x = open_text(SLEDGE("step(t - 0.3)*cos(3*t)"));
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(go(&x, &(Way){.method = "rk4", .step = h}, 1, messages), SR_OK);
    sr_messages_destroy(messages);
    const double error = fmax(fabs(x.d->q[0] - q), fabs(x.d->v[0] - v));
    if (before > 0 && error > 1e-13) order = log2(before / error);
    before = error;
    ENSURE_EQUAL(x.result.jumps, 1);
    close_model(&x);
  }
  ENSURE(order > 3.7);
  ENSURE_SMALL(before, 1e-9);
}

TEST(jump_costs_an_adaptive_method_no_search_for_it) {
  Loaded x = open_text(SLEDGE("if(t &lt; 0.3, 0, 1)"));
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(go(&x, &dopri5, 1, messages), SR_OK);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(x.result.stats.rejected, 0);
  ENSURE(x.result.stats.steps < 20);
  close_model(&x);
}

TEST(jump_that_depends_on_the_state_is_located_each_time) {
  // Free to 0.2, which is at 0.4 s; then -2 m/s^2: back at 0.2 after 0.5 s with -0.5 m/s, and free again.
  const char* texts[] = {SLEDGE("if(q(x) &lt; 0.2, 0, -4)"), SLEDGE("-4*step(q(x) - 0.2)"),
                         SLEDGE("-2 - 2*sign(q(x) - 0.2)"), SLEDGE("-4*(q(x) &gt;= 0.2)")};
  const char* methods[] = {"dopri5", "radau5", "auto"};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) {
      ensure_end(texts[i], &(Way){.method = methods[k], .tol = 1e-10}, 0.15, -0.5, 2, 1e-9);
    }
  }
}

TEST(jump_of_floor_and_mod_is_located_at_every_whole_number) {
  // Stairs 0, 1, 2, 3 N, a quarter of a second each; the last ends with the run.
  double q = 0, v = 0.5;
  for (int k = 0; k < 4; ++k) {
    q += v * 0.25 + 0.25 * k * 0.0625;
    v += 0.5 * k * 0.25;
  }
  ensure_end(SLEDGE("floor(4*t)"), &dopri5, q, v, 3, 1e-11);
  // Teeth that rise from 0 to 2 N in a quarter: 1/4 Ns each; within one the way is 8 u^3/12.
  q = 0, v = 0.5;
  for (int k = 0; k < 4; ++k) {
    q += v * 0.25 + 8 * 0.015625 / 12;
    v += 8 * 0.0625 / 4;
  }
  ensure_end(SLEDGE("8*mod(t, 0.25)"), &dopri5, q, v, 3, 1e-11);
}

TEST(jump_of_floor_is_followed_downwards_too) {
  // From 0.6 at -1 m/s, braked by 1 m/s^2 between 0.5 and 0.25; 0 is passed too.
  const double v = -sqrt(0.5), t = 0.1 + (1 + v);
  ensure_end(SLEDGE_AT("q=\"0.6\" v=\"-1\"", "2*(floor(4*q(x)) == 1)", ""), &dopri5, 0.25 + v * (1 - t), v, 3, 1e-9);
  ensure_end(SLEDGE_AT("q=\"0.6\" v=\"-1\"", "2*max(0, 1 - abs(floor(4*q(x)) - 1))", ""), &dopri5, 0.25 + v * (1 - t),
             v, 3, 1e-9);
}

TEST(jump_is_located_in_links_states_and_drivers) {
  // A rope of length 1 from the ground at -0.9: slack for 0.2 s, then a spring of 8 N/m, w = 2: x = 0.1 + 0.25 sin(2 (t - 0.2)).
  ensure_end(SLEDGE_AT("v=\"0.5\"", "0",
                       "<ground><point name=\"o\" at=\"-0.9 0 0\"/></ground>"
                       "<link name=\"rope\" a=\"b/p\" b=\"ground/o\" law=\"if(z &lt; 1, 0, -8*(z - 1))\"/>"),
             &dopri5, 0.1 + 0.25 * sin(1.6), 0.5 * cos(1.6), 1, 1e-9);
  // A state that fills from 0.3 on, and pushes.
  ensure_end(SLEDGE_AT("v=\"0.5\"", "s", "<state name=\"s\" rate=\"if(t &lt; 0.3, 0, 6)\"/>"), &dopri5,
             0.5 + 0.5 * 0.343, 0.5 + 1.5 * 0.49, 1, 1e-11);
  // A driver whose speed jumps.
  Loaded x = open_text(
      "<sarrus version=\"1\"><body name=\"b\"><joint name=\"x\" type=\"prismatic\" axis=\"1 0 0\"/>"
      "<inertial mass=\"2\" inertia=\"1 1 1\"/></body>"
      "<driver joint=\"x\" motion=\"if(t &lt; 0.3, 0.1*t, 0.03 + 2*(t - 0.3))\"/></sarrus>");
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(go(&x, &dopri5, 1, messages), SR_OK);
  sr_messages_destroy(messages);
  ENSURE_NEAR(x.d->q[0], 1.43, 1e-12);
  ENSURE_NEAR(x.d->v[0], 2, 1e-12);
  ENSURE_EQUAL(x.result.jumps, 1);
  ENSURE_EQUAL(x.result.stats.rejected, 0);
  close_model(&x);
}

// A block of 1 kg on a carriage of 2 kg, moved along it at 1 m/s from 0.5 s on: momentum stays 0, so the carriage has -1/3 m/s. Work of
// the drive: 2/2/9 + 4/2/9 = 1/3 J. Coupled, a second block moves at 2 m/s: 4 v + 1 + 2 = 0.
TEST(jump_of_the_speed_of_a_driver_is_an_impulse_for_the_rest) {
#define ON_A_CARRIAGE(more)                                                                                            \
  "<sarrus version=\"1\"><option gravity=\"0 0 0\"/>"                                                                  \
  "<body name=\"c\"><joint name=\"x\" type=\"prismatic\" axis=\"1 0 0\"/><inertial mass=\"2\"/></body>"                \
  "<body name=\"b\" parent=\"c\"><joint name=\"s\" type=\"prismatic\" axis=\"1 0 0\"/><inertial mass=\"1\"/></body>"   \
  "<driver joint=\"s\" motion=\"max(0, t - 0.5)\"/>" more "</sarrus>"
  const char* texts[2] = {
      ON_A_CARRIAGE(""),
      ON_A_CARRIAGE("<body name=\"n\" parent=\"c\"><joint name=\"n\" type=\"prismatic\" axis=\"1 0 0\"/>"
                    "<inertial mass=\"1\"/></body><coupling joint=\"n\" to=\"s\" ratio=\"2\"/>")};
  const double speed[2] = {-1.0 / 3, -0.75}, work[2] = {1.0 / 3, 0.5 * (2 * 0.5625 + 0.0625 + 1.5625)};
  for (int i = 0; i < 2 * sri_method_count(); ++i) {
    const srMethod* method = sri_method(i / 2);
    if (method->absent || method->impulses) continue;
    const Way way = {.method = method->name, .step = 1e-2, .tol = 1e-11};
    Loaded x = open_text(texts[i % 2]);
    ENSURE_EQUAL(go(&x, &way, 1, NULL), SR_OK);
    ENSURE_NEAR(x.d->v[0], speed[i % 2], 1e-9);
    ENSURE_NEAR(x.d->q[0], 0.5 * speed[i % 2], 1e-9);
    ENSURE_NEAR(x.d->v[1], 1, 1e-9);
    ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_DRIVER], work[i % 2], 1e-9);
    close_model(&x);
  }
}

TEST(jump_at_the_start_is_on_the_side_that_the_motion_takes) {
  ensure_end(SLEDGE("if(q(x) &gt; 0, 1, 0)"), &dopri5, 0.75, 1, 1, 1e-11);
  ensure_end(SLEDGE("if(q(x) &gt;= 0, 1, 0)"), &dopri5, 0.75, 1, 0, 1e-11);
  ensure_end(SLEDGE_AT("v=\"-0.5\"", "if(q(x) &gt;= 0, 1, 0)", ""), &dopri5, -0.5, -0.5, 1, 1e-11);
  ensure_end(SLEDGE_AT("v=\"-0.5\"", "2*(floor(q(x)) + 1)", ""), &dopri5, -0.5, -0.5, 1, 1e-11);
  ensure_end(SLEDGE("if(t &lt;= 0, 100, 1)"), &dopri5, 0.75, 1, 1, 1e-11);
  ensure_end(SLEDGE("1 + sign(q(x))"), &dopri5, 1, 1.5, 0, 1e-7);  // neither side at the start
}

TEST(jump_at_the_end_of_a_step_of_fixed_length_costs_no_step) {
  Loaded x = open_text(SLEDGE("if(t &lt; 0.5, 0, 1)"));
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(go(&x, &(Way){.method = "rk4", .step = 0.125}, 1, messages), SR_OK);
  ENSURE_EQUAL(x.result.stats.steps, 8);
  ENSURE_NEAR(x.d->v[0], 0.75, 1e-15);
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(jump_of_a_sensor_is_reported_by_it_alone) {
  ensure_end(SLEDGE_AT("v=\"0.5\"", "1", "<sensor name=\"s\" expr=\"floor(10*t)\"/>"), &dopri5, 0.75, 1, 0, 1e-11);
  // But where a law takes it, it is that law's.
  ensure_end(SLEDGE_AT("v=\"0.5\"", "sensor(s)", "<sensor name=\"s\" expr=\"step(t - 0.5)\"/>"), &dopri5, 0.5 + 0.0625,
             0.75, 1, 1e-11);
}

TEST(jump_that_an_event_makes_is_taken_over_at_once) {
  // A switch that an event turns on at 0.3.
  ensure_end(SLEDGE_AT("v=\"0.5\"", "if(on &gt; 0.5, 1, 0)",
                       "<state name=\"on\" rate=\"0\"/><event when=\"t - 0.3\" do=\"on = 1\"/>"),
             &dopri5, 0.5 + 0.25 * 0.49, 0.5 + 0.5 * 0.7, 1, 1e-12);
}

TEST(jump_that_drives_the_motion_back_is_reported_as_chatter) {
  Loaded x = open_text(SLEDGE("-2*sign(v(x))"));
  srMessages* messages = sr_messages_create();
  // At rest from 0.5 on. What follows is for short steps, as it always was.
  ENSURE_EQUAL(go(&x, &(Way){.method = "dopri5", .tol = 1e-6}, 0.5001, messages), SR_OK);
  ENSURE_NEAR(x.d->q[0], 0.125, 1e-6);
  ENSURE_SMALL(x.d->v[0], 1e-4);  // a hundred tolerances
  ENSURE(x.result.jumps < 10);
  ENSURE_EQUAL(x.result.nevent, 1);
  ENSURE_TEXT(x.result.event[0].kind, "chatter");
  ENSURE_TEXT(x.result.event[0].a, "push");
  ENSURE_NEAR(x.result.event[0].t, 0.5, 1e-9);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  sr_messages_destroy(messages);
  close_model(&x);
}

// u = q - 0.25, 2 u'' = |u|: a cosine and a sine up to u = 0 at t1, from there sinh.
TEST(jump_kinks_are_no_jumps) {
  const double w = sqrt(0.5), t1 = atan(0.5 * w) / w, v1 = sqrt(0.25 + 0.5 * 0.0625);
  const double q = 0.25 + v1 / w * sinh(w * (1 - t1)), v = v1 * cosh(w * (1 - t1));
  ensure_end(SLEDGE("abs(q(x) - 0.25)"), &dopri5, q, v, 0, 1e-7);
  ensure_end(SLEDGE("max(q(x) - 0.25, 0.25 - q(x))"), &dopri5, q, v, 0, 1e-7);
}

TEST(jump_kinks_in_time_are_located) {
  ensure_end(SLEDGE("abs(t - 0.5)"), &dopri5, 0.5625, 0.625, 1, 1e-12);
  ensure_end(SLEDGE("max(t - 0.5, 0.5 - t)"), &dopri5, 0.5625, 0.625, 1, 1e-12);
  ensure_end(SLEDGE("-min(t - 0.5, 0.5 - t)"), &dopri5, 0.5625, 0.625, 1, 1e-12);
}
