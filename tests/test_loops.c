// Closed loops as wholes: assembly, motion against closed forms and against the same mechanism without a loop, every way to keep
// the constraints, drivers in loops, rank changes, no allocation while stepping.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "runner.h"

static const double pi = 3.14159265358979323846;

typedef struct Bench {
  srSpec* spec;
  srModel* m;
  srData* d;
  srRunResult result;
} Bench;

static char said[2048];

static void keep_messages(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

static Bench load(const char* format, const char* part) {
  char text[6000];
  Bench b = {0};
  snprintf(text, sizeof text, format, part);
  srMessages* messages = sr_messages_create();
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &b.spec);
  if (status == SR_OK) status = sr_compile(b.spec, messages, &b.m);
  keep_messages(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

static void unload(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  srs_destroy(b->spec);
}

static srStatus assemble(Bench* b, srAssembly* out) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_assemble(b->m, b->d, messages, out);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return status;
}

static double q_of(const Bench* b, const char* joint) { return b->d->q[b->m->joint_q[sr_joint_find(b->m, joint)]]; }
static double v_of(const Bench* b, const char* joint) { return b->d->v[b->m->joint_v[sr_joint_find(b->m, joint)]]; }

// Four-bar with lengths 0.7 (ground), 0.2, 0.6, 0.5 in the x-y plane; the third argument of the crank's joint and what follows.
#define BAR(name, length)                                                                                              \
  "<inertial mass='2*" length "' com='" length "/2 0 0' inertia='0 " length "^3/6 " length                             \
  "^3/6'/><point name='end' at='" length " 0 0'/>"
static const char* const four_bar =
    "<sarrus version='1'><option gravity='0 -9.81 0'/>"
    "<body name='crank'><joint name='crank' type='revolute' q='1' v='12'/>" BAR("crank", "0.2") "</body>"
    "<body name='coupler' parent='crank'><joint name='coupler' type='revolute' at='0.2 0 0'/>" BAR("coupler", "0.6") "</body>"
    "<body name='rocker'><joint name='rocker' type='revolute' at='0.7 0 0'/>" BAR("rocker", "0.5") "</body>"
    "%s</sarrus>";
#define PIN "<closure name='pin' type='ball' normal='0 0 1' a='coupler/end' b='rocker/end'/>"

// Angle of the coupler and of the rocker, and their rates, from those of the crank (the open branch).
typedef struct FourBar {
  double coupler, rocker, coupler_rate, rocker_rate;
} FourBar;
static FourBar four_bar_at(double a, double rate) {
  const double dx = 0.7 - 0.2 * cos(a), dy = -0.2 * sin(a), d = hypot(dx, dy);
  const double a3 = atan2(dy, dx) + acos((0.36 + d * d - 0.25) / (1.2 * d));
  const double a4 = atan2(0.6 * sin(a3) - dy, 0.6 * cos(a3) - dx);
  return (FourBar){a3, a4, 0.2 * rate * sin(a4 - a) / (0.6 * sin(a3 - a4)),
                   0.2 * rate * sin(a3 - a) / (0.5 * sin(a3 - a4))};
}

static double turn(double angle) { return remainder(angle, 2 * pi); }

static void compare_with_closed_form(const Bench* b, double tolerance) {
  const FourBar x = four_bar_at(q_of(b, "crank"), v_of(b, "crank"));
  ENSURE_SMALL(turn(q_of(b, "crank") + q_of(b, "coupler") - x.coupler), tolerance);
  ENSURE_SMALL(turn(q_of(b, "rocker") - x.rocker), tolerance);
  ENSURE_NEAR(v_of(b, "crank") + v_of(b, "coupler"), x.coupler_rate, 100 * tolerance);
  ENSURE_NEAR(v_of(b, "rocker"), x.rocker_rate, 100 * tolerance);
}

// ---- assembly ---------------------------------------------------------------------------------------------------------------

TEST(the_assembly_closes_the_loop_and_keeps_what_was_given) {
  Bench b = load(four_bar, PIN);
  srAssembly out;
  b.d->q[1] = -0.5;  // on the open branch, roughly
  b.d->q[2] = 1.5;
  ENSURE_EQUAL(assemble(&b, &out), SR_OK);
  ENSURE_NEAR(q_of(&b, "crank"), 1, 0);
  ENSURE_NEAR(v_of(&b, "crank"), 12, 0);
  compare_with_closed_form(&b, 1e-13);
  ENSURE_SMALL(out.residual_position, 1e-14);
  ENSURE_SMALL(out.residual_velocity, 1e-13);
  ENSURE(out.moved_position > 0.1);
  ENSURE(strstr(said, "note: the assembly has changed the positions of 2 coordinates: coupler by") != NULL);
  ENSURE(strstr(said, "the velocities of 2 coordinates") != NULL);
  unload(&b);
}

TEST(the_assembly_moves_all_when_what_was_given_cannot_stay) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint type='prismatic' axis='1 0 0' q='0.4'/><inertial mass='1'/></body>"
      "<body name='b'><joint type='prismatic' axis='1 0 0' q='0.6'/><inertial mass='1'/></body>"
      "<coupling joint='a' to='b'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(assemble(&b, NULL), SR_OK);
  ENSURE_NEAR(b.d->q[0], 0.5, 1e-14);
  ENSURE_NEAR(b.d->q[1], 0.5, 1e-14);
  unload(&b);
}

// A ball of radius r that rolls: the velocity of its centre is w x r n. Zeros beside what is given are no wish.
TEST(the_assembly_keeps_the_part_of_a_free_joints_velocity_that_was_given) {
  static const struct {
    const char* given;
    double v[6];
  } table[] = {
      {"0 5 0 0 0 0", {0, 5, 0, 1, 0, 0}},     {"0 0 0 0.6 0 0", {0, 3, 0, 0.6, 0, 0}},
      {"-4 0 7 0 0 0", {-4, 0, 7, 0, 0.8, 0}}, {"0 5 0 1 0 0", {0, 5, 0, 1, 0, 0}},
      {"0 0 0 0 0 0", {0, 0, 0, 0, 0, 0}},     {"0 0 2 0.6 -0.4 0", {2, 3, 2, 0.6, -0.4, 0}},
  };
  for (int i = 0; i < (int)(sizeof table / sizeof *table); ++i) {
    char more[64];
    snprintf(more, sizeof more, " v='%s'", table[i].given);
    Bench b = load(
        "<sarrus version='1'><body name='s'><joint type='free' q='0 0 0.2 1 0 0 0'%s/><inertial mass='3' inertia='1 2 "
        "3'/>"
        "</body><closure type='roll' a='s' b='ground' radius='0.2'/></sarrus>",
        more);
    ENSURE_EQUAL(assemble(&b, NULL), SR_OK);
    for (int k = 0; k < 6; ++k) ENSURE_NEAR(b.d->v[k], table[i].v[k], 1e-14);
    unload(&b);
  }
}

// What cannot stay moves as little as possible: 5 rad/s and 2 m/s of a ball of 0.2 m, with a weight of 1 each.
TEST(velocities_of_a_free_joint_that_contradict_each_other_are_changed_least) {
  Bench b = load(
      "<sarrus version='1'><body name='s'><joint type='free' q='0 0 0.2 1 0 0 0' v='0 5 0 2 0 0'/>"
      "<inertial mass='3' inertia='1 2 3'/></body><closure type='roll' a='s' b='ground' radius='0.2'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(assemble(&b, NULL), SR_OK);
  ENSURE_NEAR(b.d->v[1], 5 + 0.2 / 1.04, 1e-13);  // normal (0.2, -1) of 0.2 w - v = 0, residual -1
  ENSURE_NEAR(b.d->v[3], 2 - 1 / 1.04, 1e-13);
  unload(&b);
}

TEST(a_loop_that_starts_stretched_is_closed) {
  Bench b = load("<sarrus version='1'><option gravity='0 -9.81 0'/>"
                 "<body name='a'><joint type='revolute'/>" BAR("a", "1") "</body>"
                 "<body name='b' parent='a'><joint type='revolute' at='1 0 0'/>" BAR("b", "1") "</body>"
                 "<closure type='ball' normal='0 0 1' a='b/end' b='ground/p'/><ground><point name='p' at='1 0 0'/></ground>"
                 "%s</sarrus>",
                 "");
  srAssembly out;
  ENSURE_EQUAL(assemble(&b, &out), SR_OK);
  ENSURE_SMALL(out.residual_position, 1e-13);
  ENSURE_NEAR(fabs(turn(b.d->q[1])), 2 * pi / 3, 1e-12);
  unload(&b);
}

TEST(a_loop_that_cannot_close_is_refused_with_its_name_and_residual) {
  Bench b = load("<sarrus version='1'><body name='a'><joint type='revolute'/>" BAR("a", "1") "</body>\n"
                 "<ground><point name='p' at='1.5 0 0'/></ground>\n"
                 "  <closure name='short' type='ball' normal='0 0 1' a='a/end' b='ground/p'/>%s</sarrus>",
                 "");
  srAssembly out;
  ENSURE_EQUAL(assemble(&b, &out), SR_INPUT);
  ENSURE(strstr(said, "test:3:3: error: closure short, translation along x cannot be closed") != NULL);
  ENSURE(strstr(said, "residual stays at -0.5") != NULL);
  srRunOptions options = sr_run_options(b.m);
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_INPUT);
  unload(&b);
}

TEST(initial_velocities_that_contradict_a_driver_give_way) {
  Bench b = load(four_bar, PIN "<driver joint='rocker' motion='2.2 + 0.1*sin(3*t)'/>");
  ENSURE_EQUAL(assemble(&b, NULL), SR_OK);
  ENSURE_NEAR(q_of(&b, "rocker"), 2.2, 1e-12);
  ENSURE_NEAR(v_of(&b, "rocker"), 0.3, 1e-11);
  unload(&b);
}

// ---- motion -----------------------------------------------------------------------------------------------------------------

static void run(Bench* b, const char* method, srStabilization stabilization, double t_end, double rtol) {
  srRunOptions options = sr_run_options(b->m);
  options.method = method;
  options.t_end = t_end;
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  options.step = 2e-4;
  options.alpha = options.beta = 50;
  options.stabilization = stabilization;
  const srStatus status = sr_run(b->m, b->d, &options, NULL, &b->result);
  if (status != SR_OK) printf("%s\n", b->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// The crank's speed from energy alone: kinetic plus potential energy of the three bars as functions of its angle.
static double four_bar_energy(double a, double rate) {
  const FourBar x = four_bar_at(a, rate);
  const double m2 = 0.4, m3 = 1.2, m4 = 1.0, g = 9.81;
  const double c3[2] = {-0.2 * sin(a) * rate - 0.3 * sin(x.coupler) * x.coupler_rate,
                        0.2 * cos(a) * rate + 0.3 * cos(x.coupler) * x.coupler_rate};
  return 0.5 * (m2 * 0.04 / 3 * rate * rate + m4 * 0.25 / 3 * x.rocker_rate * x.rocker_rate) +
         0.5 * m3 * (c3[0] * c3[0] + c3[1] * c3[1] + 0.03 * x.coupler_rate * x.coupler_rate) +
         g * (m2 * 0.1 * sin(a) + m3 * (0.2 * sin(a) + 0.3 * sin(x.coupler)) + m4 * 0.25 * sin(x.rocker));
}

TEST(a_four_bar_keeps_to_its_closed_form_with_every_stabilization) {
  static const struct {
    const char* method;
    srStabilization way;
    double closed, energy;  // tolerances
  } ways[] = {{"dopri5", SR_STABILIZATION_PROJECTION, 1e-13, 1e-8}, {"rk4", SR_STABILIZATION_PROJECTION, 1e-13, 1e-8},
              {"dopri5", SR_STABILIZATION_BAUMGARTE, 1e-8, 1e-8},   {"rk4", SR_STABILIZATION_BAUMGARTE, 1e-9, 1e-8},
              {"dopri5", SR_STABILIZATION_PARTITION, 1e-13, 1e-8},  {"rk4", SR_STABILIZATION_PARTITION, 1e-13, 1e-8},
              {"dopri5", SR_STABILIZATION_AUGMENTED, 1e-8, 1e-8},   {"rk4", SR_STABILIZATION_AUGMENTED, 1e-9, 1e-8},
              {"dopri5", SR_STABILIZATION_NONE, 1e-6, 1e-6}};
  double crank = 0;
  for (int i = 0; i < (int)(sizeof ways / sizeof ways[0]); i++) {
    Bench b = load(four_bar, PIN);
    b.d->q[1] = -0.5;
    b.d->q[2] = 1.5;
    run(&b, ways[i].method, ways[i].way, 1, 1e-10);
    compare_with_closed_form(&b, ways[i].closed);
    ENSURE_NEAR(four_bar_energy(q_of(&b, "crank"), v_of(&b, "crank")), four_bar_energy(1, 12), ways[i].energy);
    ENSURE_SMALL(b.result.energy.residual, ways[i].energy);
    if (i == 0) crank = q_of(&b, "crank");
    ENSURE_NEAR(q_of(&b, "crank"), crank, 1e-6);
    unload(&b);
  }
}

// A spatial pendulum as a tree, and as a free body on loop closures.
TEST(a_loop_moves_as_the_same_mechanism_without_one) {
#define SWING "<inertial mass='2' com='0.3 0.1 -0.5' inertia='0.2 0.3 0.1'/>"
  Bench tree = load(
      "<sarrus version='1'><body name='a'><joint type='universal' axis='1 0 0' axis2='0 1 0' q='0.3 0.5' "
      "v='1 -2'/>" SWING "</body><sensor name='s' point='a'/>%s</sarrus>",
      "");
  Bench loop = load("<sarrus version='1'><body name='a'><joint type='free'/>" SWING
                    "</body>"
                    "<closure type='universal' axis='1 0 0' axis2='0 1 0' a='ground' b='a'/>%s</sarrus>",
                    "");
  srFrameMotion x, y;
  sr_kinematics(tree.m, tree.d);
  sr_velocity(tree.m, tree.d);
  sr_frame_motion(tree.m, tree.d, 1, 0, &x);
  const double c1 = cos(0.15), s1 = sin(0.15), c2 = cos(0.25), s2 = sin(0.25);
  const double q[4] = {c1 * c2, s1 * c2, c1 * s2, s1 * s2};  // turn about x, then about y
  memcpy(loop.d->q + 3, q, sizeof q);
  for (int i = 0; i < 3; i++) {
    loop.d->v[i] = 0;
    for (int j = 0; j < 3; j++) loop.d->v[i] += x.rotation[3 * j + i] * x.angular_velocity[j];
  }
  run(&tree, "dopri5", SR_STABILIZATION_PROJECTION, 2, 1e-11);
  run(&loop, "dopri5", SR_STABILIZATION_PROJECTION, 2, 1e-11);
  sr_frame_motion(tree.m, tree.d, 1, 0, &x);
  sr_frame_motion(loop.m, loop.d, 1, 0, &y);
  for (int i = 0; i < 9; i++) ENSURE_NEAR(x.rotation[i], y.rotation[i], 1e-8);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.angular_velocity[i], y.angular_velocity[i], 1e-7);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.acceleration[i], y.acceleration[i], 1e-6);
  unload(&tree);
  unload(&loop);
}

// A driven crank: the driving force does the work that the energy shows.
TEST(drivers_of_loops_are_constraint_equations_and_do_the_work) {
  Bench b = load(four_bar, PIN "<driver joint='crank' motion='1 + 12*t + t^2'/>");
  b.d->q[1] = -0.5;
  b.d->q[2] = 1.5;
  run(&b, "dopri5", SR_STABILIZATION_PROJECTION, 1, 1e-10);
  ENSURE_NEAR(q_of(&b, "crank"), 14, 1e-12);
  ENSURE_NEAR(v_of(&b, "crank"), 14, 1e-11);
  ENSURE_NEAR(b.d->a[0], 2, 1e-10);
  ENSURE(fabs(b.result.energy.work[SR_ACCOUNT_DRIVER]) > 0.1);
  ENSURE_SMALL(b.result.energy.residual, 1e-7);
  compare_with_closed_form(&b, 1e-12);
  unload(&b);
}

// Gears: the pair moves as one wheel with the sum of the reduced inertias.
TEST(a_coupling_reduces_inertia_by_the_square_of_its_ratio) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint type='revolute'/><inertial mass='1' inertia='1 1 2'/></body>"
      "<body name='b'><joint type='revolute' q='0.1'/><inertial mass='1' inertia='1 1 0.5'/></body>"
      "<coupling name='gear' joint='b' to='a' ratio='-3' offset='0.1'/><torque joint='a' law='6.5'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->a[0], 6.5 / (2 + 9 * 0.5), 1e-13);
  ENSURE_NEAR(b.d->a[1], -3 * b.d->a[0], 1e-13);
  ENSURE_NEAR(b.d->lambda[0], 0.5 * b.d->a[1], 1e-13);
  unload(&b);
}

// A sphere that rolls down a slope of 30 degrees: 5/7 g sin(30).
TEST(a_rolling_sphere_accelerates_by_five_sevenths) {
  Bench b = load(
      "<sarrus version='1'><option gravity='9.81*sin(pi/6) 0 -9.81*cos(pi/6)'/><body name='s'><joint type='free' "
      "q='0 0 0.2 1 0 0 0'/><inertial mass='3' inertia='0.048 0.048 0.048'/></body>"
      "<closure type='roll' a='s' b='ground' radius='0.2'/>%s</sarrus>",
      "");
  run(&b, "dopri5", SR_STABILIZATION_PROJECTION, 1, 1e-10);
  ENSURE_NEAR(b.d->q[0], 0.5 * 5.0 / 7 * 9.81 * 0.5, 1e-9);
  ENSURE_NEAR(b.d->q[2], 0.2, 1e-13);
  unload(&b);
}

// ---- singular positions -----------------------------------------------------------------------------------------------------

#define FLAT_BARS                                                                                                      \
  "<sarrus version='1'><option gravity='0 0 0'/>"                                                                      \
  "<body name='a'><joint name='a' type='revolute' q='%s' v='-3'/>" BAR("a", "0.5") "</body>"                            \
  "<body name='b' parent='a'><joint name='b' type='revolute' at='0.5 0 0'/>" BAR("b", "1") "</body>"                    \
  "<body name='c'><joint name='c' type='revolute' at='1 0 0'/>" BAR("c", "0.5") "</body>"                               \
  "<closure type='ball' normal='0 0 1' a='b/end' b='c/end'/></sarrus>"

static Bench flat_bars(const char* angle, double q) {
  Bench b = load(FLAT_BARS, angle);
  b.d->q[1] = -q;
  b.d->q[2] = q;
  return b;
}

static bool reports(const Bench* b, int i, const char* part) {
  return i < b->result.nevent && strstr(b->result.event[i].reason, part) != NULL;
}

// The two branches through a flat parallelogram meet there: the rank falls, the run goes through on its branch and reports it, whether a
// step ends there or not.
TEST(a_flat_parallelogram_is_passed_and_reported) {
  static const struct {
    const char* angle;
    double q;
  } starts[] = {{"1.5", 1.5}, {"1.50031", 1.50031}};
  for (int i = 0; i < 2; i++) {
    Bench b = flat_bars(starts[i].angle, starts[i].q);
    run(&b, "rk4", SR_STABILIZATION_PROJECTION, 1, 1e-9);
    ENSURE_NEAR(turn(q_of(&b, "a") - q_of(&b, "c")), 0, 1e-8);  // still a parallelogram
    ENSURE(b.result.event_count >= 1 && b.result.event_count <= 2);
    ENSURE_NEAR(b.result.event[0].t, starts[i].q / 3, 3e-4);
    ENSURE(b.result.event_count == 2 ? reports(&b, 0, "the rank of the constraints goes from 2 to 1")
                                     : reports(&b, 0, "a singular position is passed, or nearly so"));
    ENSURE_TEXT(b.result.event[0].kind, "rank");
    ENSURE_SMALL(b.result.energy.residual, 1e-8);
    unload(&b);
  }
}

TEST(a_start_in_a_singular_position_is_reported) {
  static const char* const methods[] = {"dopri5", "rk4"};
  for (int i = 0; i < 2; i++) {
    Bench b = flat_bars("0", 0);
    b.d->v[0] = b.d->v[2] = -3;
    b.d->v[1] = 3;
    run(&b, methods[i], SR_STABILIZATION_PROJECTION, 0.5, 1e-9);
    ENSURE(reports(&b, 0, "the rank of the constraints goes from 1 to 2"));
    ENSURE_EQUAL(b.result.event_count, 1);
    unload(&b);
  }
}

static Bench open_model(const char* name) {
  char path[600];
  Bench b = {0};
  srSpec* spec = NULL;
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, name);
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &b.m), SR_OK);
  srs_destroy(spec);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

// Four crossings in 1.2 s. A method passes them on its branch, or the run warns that it may not have, or it stops.
TEST(crossing_branches_are_passed_rightly_or_reported) {
  static const struct {
    const char* method;
    srStabilization way;
    double rtol;
    bool right, may_fail;
  } ways[] = {{"hem5", SR_STABILIZATION_PROJECTION, 1e-8, true, false},
              {"phem56", SR_STABILIZATION_PROJECTION, 1e-8, true, false},
              {"mdop5", SR_STABILIZATION_PROJECTION, 1e-8, true, false},
              {"dopri5", SR_STABILIZATION_PARTITION, 1e-8, true, false},
              {"dopri5", SR_STABILIZATION_PROJECTION, 1e-6, true, false},
              {"dopri5", SR_STABILIZATION_PROJECTION, 1e-8, true, true},
              {"dopri5", SR_STABILIZATION_PROJECTION, 1e-10, true, true},
              {"rk4", SR_STABILIZATION_PROJECTION, 1e-8, true, true},
              {"dopri5", SR_STABILIZATION_AUGMENTED, 1e-8, false, false},
              {"dopri5", SR_STABILIZATION_BAUMGARTE, 1e-8, false, false},
              {"dopri5", SR_STABILIZATION_NONE, 1e-8, false, false}};
  for (int i = 0; i < (int)(sizeof ways / sizeof ways[0]); i++) {
    Bench b = open_model("mechanisms/change-point-four-bar");
    srRunOptions options = sr_run_options(b.m);
    options.method = ways[i].method;
    options.stabilization = ways[i].way;
    options.rtol = ways[i].rtol;
    options.step = 1e-4;
    const srStatus status = sr_run(b.m, b.d, &options, NULL, &b.result);
    if (status == SR_OK) {
      ENSURE_EQUAL(b.result.event_count, 4);
      for (int k = 0; k < 4; k++) {
        ENSURE_NEAR(b.result.event[k].t, 0.2475766 + 0.298404 * k, 1e-3);
        ENSURE(reports(&b, k, "a singular position is passed"));
      }
      if (ways[i].right) ENSURE_NEAR(q_of(&b, "crank"), 26.2608823, 1e-3);
    } else {
      ENSURE_EQUAL(status, SR_FAILED);
      ENSURE(ways[i].may_fail);
      ENSURE(strstr(b.result.error_message, "the constraints are singular near t = 0.") != NULL);
    }
    ENSURE_SMALL(b.result.energy.residual, 1e-3 * b.result.energy.scale);
    unload(&b);
  }
}

TEST(half_explicit_methods_report_the_singular_positions_they_pass) {
  static const char* const methods[] = {"hem5", "mdop5", "phem56"};
  for (int i = 0; i < 3; i++) {
    Bench b = open_model("benchmark/n-four-bar");
    srRunOptions options = sr_run_options(b.m);
    options.method = methods[i];
    options.rtol = 1e-8;
    options.atol = 1e-10;
    options.t_end = 2;
    ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_OK);
    ENSURE(b.result.nevent >= 2);
    for (int k = 0; k < b.result.nevent; k++) ENSURE_TEXT(b.result.event[k].reason, "a singular position is passed");
    unload(&b);
  }
}

// ---- inconsistent constraints ---------------------------------------------------------------------------------------

// Drift makes redundant equations independent: the run stops where that happens.
TEST(drift_that_raises_the_rank_stops_the_run) {
  Bench b = open_model("mechanisms/bennett-linkage");
  srRunOptions options = sr_run_options(b.m);
  options.method = "dopri5";
  options.rtol = 1e-5;
  options.stabilization = SR_STABILIZATION_NONE;
  ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_FAILED);
  ENSURE(strstr(b.result.error_message, "the rank of the constraints rises from 2 to 3") != NULL);
  ENSURE(reports(&b, 0, "is off by"));
  ENSURE_TEXT(b.result.event[0].kind, "position");
  ENSURE(b.result.stats.steps < 5000);
  unload(&b);
}

// The equations in use stay the same, so that Baumgarte's terms of 10/s hold a mechanism with redundant constraints on its manifold, whatever the
// method of index 1 (Rodrigues da Silva et al. 2024 had Adams' and Gear's).
TEST(baumgarte_holds_a_mechanism_with_redundant_constraints) {
  static const char* const methods[] = {"dopri5", "cvode", "auto"};
  double reference = 0;
  for (int i = 0; i < 4; i++) {
    Bench b = open_model("mechanisms/bennett-linkage");
    srRunOptions options = sr_run_options(b.m);
    options.method = i == 0 ? "hem5" : methods[i - 1];
    options.stabilization = i == 0 ? SR_STABILIZATION_PROJECTION : SR_STABILIZATION_BAUMGARTE;
    const srMethod* method = sri_method_find(options.method);
    if (!method->absent) {
      ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_OK);
      ENSURE_SMALL(b.result.violation_position, 1e-7);
      if (i > 0) ENSURE(b.result.violation_position > 1e-13);  // nothing was projected
      if (i == 0) reference = b.d->q[0];
      ENSURE_NEAR(b.d->q[0], reference, 1e-4);
    }
    unload(&b);
  }
}

// Where nothing is projected, the end of a step needs a factor for the distance from singular positions alone: not at every one.
TEST(steps_that_are_not_projected_have_few_factors_beside_their_own) {
  for (int way = 0; way < 2; way++) {
    Bench b = open_model("mechanisms/bennett-linkage");
    srRunOptions options = sr_run_options(b.m);
    options.method = "euler";
    options.step = 1e-4;
    options.t_end = 0.1;
    options.stabilization = way == 0 ? SR_STABILIZATION_BAUMGARTE : SR_STABILIZATION_NONE;
    ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_OK);
    ENSURE_EQUAL(b.result.stats.steps, 1000);
    ENSURE(b.result.stats.factorizations < 1200);
    ENSURE(b.result.violation_position > 1e-13);  // still measured at every step
    unload(&b);
  }
}

#define PENDULUM                                                                                                       \
  "<sarrus version='1'><body name='p'><joint name='a' type='revolute' axis='0 1 0'/><inertial mass='2' com='0 0 "      \
  "-0.5' "                                                                                                             \
  "inertia='0.1 0.1 0.1'/></body>"                                                                                     \
  "<body name='w'><joint name='b' type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>\n%s</sarrus>"

static srStatus run_with(Bench* b, const char* method, double rtol, double t_end) {
  srRunOptions options = sr_run_options(b->m);
  srMessages* messages = sr_messages_create();
  options.method = method;
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  options.step = 1e-3;
  options.t_end = t_end;
  const srStatus status = sr_run(b->m, b->d, &options, messages, &b->result);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return status;
}

static const char* const all_methods[] = {"dopri5", "hem5", "mdop5", "phem56", "rk4"};
enum { METHODS = sizeof all_methods / sizeof all_methods[0] };

TEST(redundant_constraints_that_contradict_are_refused_at_the_start) {
  static const struct {
    const char *rows, *says;
  } cases[] = {
      {"<constraint name='one' expr='q(a) = t^2'/><constraint name='two' expr='q(a) = 2*t^2'/>",
       "error: constraint two contradicts the constraints that it depends on: it asks for the acceleration 4, and "
       "they give 2"},
      {"<coupling joint='a' to='b'/><driver joint='a' motion='t^3'/><driver joint='b' motion='t^2'/>",
       "contradicts the constraints that it depends on"},
      {"<constraint name='one' expr='q(a) = 0'/><constraint name='two' velocity='v(a) = t'/>",
       "contradicts the constraints that it depends on"}};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < METHODS; k++) {
      Bench b = load(PENDULUM, cases[i].rows);
      ENSURE_EQUAL(run_with(&b, all_methods[k], 1e-8, 0.5), SR_INPUT);
      ENSURE(strstr(said, "test:2:") != NULL && strstr(said, cases[i].says) != NULL);
      unload(&b);
    }
  }
}

TEST(redundant_constraints_that_diverge_stop_the_run) {
  for (int k = 0; k < METHODS; k++) {
    Bench b = load(PENDULUM, "<constraint name='one' expr='q(a) = t^3'/><constraint name='two' expr='q(a) = 2*t^3'/>");
    ENSURE_EQUAL(run_with(&b, all_methods[k], 1e-8, 0.5), SR_FAILED);
    ENSURE(strstr(b.result.error_message, "constraint two cannot be kept together with the other constraints") != NULL);
    ENSURE_NEAR(b.result.t, 0.0215, 1e-3);
    unload(&b);
  }
}

TEST(redundant_constraints_that_agree_run) {
  for (int k = 0; k < METHODS; k++) {
    Bench b = load(PENDULUM,
                   "<constraint name='one' expr='q(a) = t^2'/><constraint name='two' expr='2*q(a) = 2*t^2'/>"
                   "<coupling joint='a' to='b'/><driver joint='b' motion='t^2'/>");
    ENSURE_EQUAL(run_with(&b, all_methods[k], 1e-8, 0.5), SR_OK);
    ENSURE_NEAR(b.d->q[1], 0.25, 1e-8);
    ENSURE_EQUAL(b.result.event_count, 0);
    unload(&b);
  }
}

// ---- energy -------------------------------------------------------------------------------------------------------------------

// Constraints with t do work: that of formulas, and that of drivers in loops.
TEST(constraints_with_time_do_work_in_every_method) {
  for (int k = 0; k < 4; k++) {
    Bench b = load(PENDULUM, "<constraint expr='q(a) = 0.3+0.5*sin(3*t)'/>");
    ENSURE_EQUAL(run_with(&b, all_methods[k], 1e-8, 0.5), SR_OK);
    ENSURE(fabs(b.result.energy.work[SR_ACCOUNT_DRIVER]) > 0.1);
    ENSURE_SMALL(b.result.energy.residual, k == 1 ? 1e-8 : 1e-7);
    unload(&b);
    b = load(four_bar, PIN "<driver joint='crank' motion='1 + 12*t + t^2'/>");
    b.d->q[1] = -0.5;
    b.d->q[2] = 1.5;
    ENSURE_EQUAL(run_with(&b, all_methods[k], 1e-9, 1), SR_OK);
    ENSURE(fabs(b.result.energy.work[SR_ACCOUNT_DRIVER]) > 0.1);
    ENSURE_SMALL(b.result.energy.residual, 1e-6);
    compare_with_closed_form(&b, 1e-8);
    unload(&b);
  }
}

// The scale of the energy balance includes the energies between the rows, of which there are none here.
TEST(the_largest_energy_is_that_of_all_steps) {
  static const char* const parts[] = {"", "<coupling joint='b' to='a'/>"};
  for (int i = 0; i < 2; i++) {
    Bench b = load(PENDULUM, parts[i]);
    b.d->q[0] = 1.5;
    b.d->q[1] = i == 0 ? 0 : 1.5;
    ENSURE_EQUAL(run_with(&b, "rk4", 1e-8, 1.2), SR_OK);
    ENSURE(b.result.energy.scale > 8.5);  // the lowest position: -9.81 J
    unload(&b);
  }
}

TEST(a_sarrus_linkage_has_one_degree_of_freedom) {
  char path[600];
  srSpec* spec = NULL;
  srModel* m = NULL;
  srRank* rank = NULL;
  snprintf(path, sizeof path, "%s/models/mechanisms/sarrus-linkage.xml", SARRUS_SOURCE_DIR);
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &m), SR_OK);
  srs_destroy(spec);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_assemble(m, d, NULL, NULL), SR_OK);
  ENSURE_EQUAL(sr_rank_create(m, d, &rank), SR_OK);
  ENSURE_EQUAL(m->nv - rank->rank, 1);
  ENSURE(rank->nredundant > 0);
  sr_rank_destroy(rank);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

// ---- memory -----------------------------------------------------------------------------------------------------------------

static long allocations;
static void* counting(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  allocations++;
  return realloc(pointer, new_size);
}

static long seen_at_row;
static int count_at_row(void* user, const double* row) {
  (void)user;
  (void)row;
  seen_at_row = seen_at_row < 0 ? allocations : seen_at_row;
  return 0;
}

TEST(looped_models_take_no_memory_while_they_are_stepped) {
  static const srStabilization ways[] = {SR_STABILIZATION_PROJECTION, SR_STABILIZATION_BAUMGARTE,
                                         SR_STABILIZATION_PARTITION, SR_STABILIZATION_AUGMENTED};
  for (int i = 0; i < 4; i++) {
    sr_set_allocator(counting, NULL);
    Bench b = load(four_bar, PIN);
    b.d->q[1] = -0.5;
    b.d->q[2] = 1.5;
    srRunOptions options = sr_run_options(b.m);
    options.row = count_at_row;
    options.stabilization = ways[i];
    seen_at_row = -1;
    ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &b.result), SR_OK);
    ENSURE(b.result.stats.steps > 20);
    ENSURE_EQUAL(allocations, seen_at_row);
    unload(&b);
    sr_set_allocator(NULL, NULL);
  }
}

// Rows of four-bars whose first and last cranks are driven alike: one degree of freedom, so one driver repeats the other. Also
// where the matrix is large enough for the sparse solver, which drops equations in an order of its own.
TEST(a_driver_that_repeats_another_leaves_the_rank_of_the_loops) {
  static const char* const loops[] = {"3", "1100"};
  for (int i = 0; i < 2; ++i) {
    Bench x = load(
        "<sarrus version='1'><parameter name='N' value='%s'/>"
        "<body name='crank0'><joint name='crank0' type='revolute' axis='0 0 1' q='1'/>"
        "<inertial mass='1' inertia='1 1 1'/>"
        "<point name='tip' at='0 1 0'/></body>"
        "<repeat count='N' index='i' from='1'>"
        "<body name='bar{i}' parent='crank{i-1}'><joint name='bar{i}' type='revolute' axis='0 0 1' at='0 1 0' q='-1'/>"
        "<inertial mass='1' inertia='1 1 1'/><point name='tip' at='1 0 0'/></body>"
        "<body name='crank{i}'><joint name='crank{i}' type='revolute' axis='0 0 1' at='i 0 0' q='1'/>"
        "<inertial mass='1' inertia='1 1 1'/><point name='tip' at='0 1 0'/></body>"
        "<closure name='loop{i}' type='ball' normal='0 0 1' a='crank{i}/tip' b='bar{i}/tip'/></repeat>"
        "<driver joint='crank0' motion='1 + t'/><driver joint='crank{N}' motion='1 + t'/></sarrus>",
        loops[i]);
    const int n = atoi(loops[i]);
    srRank* rank = NULL;
    sr_kinematics(x.m, x.d);
    ENSURE_EQUAL(sr_rank_create(x.m, x.d, &rank), SR_OK);
    ENSURE_EQUAL(rank->rank_undriven, 2 * n);
    ENSURE_EQUAL(rank->rank, 2 * n + 1);
    ENSURE_EQUAL(rank->nredundant, 1);
    sr_rank_destroy(rank);
    unload(&x);
  }
}
