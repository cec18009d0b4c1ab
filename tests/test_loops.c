// Closed loops as wholes: assembly, motion against closed forms and against the same mechanism without a loop, every way to keep
// the constraints, drivers in loops, rank changes, no allocation while stepping.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static const double pi = 3.14159265358979323846;

typedef struct Bench {
  srModel* m;
  srData* d;
  srRunResult result;
} Bench;

static char said[2048];

static void keep_messages(const srMessages* messages) {
  size_t used = 0;
  said[0] = 0;
  for (int i = 0; i < sr_messages_count(messages) && used < sizeof said; i++) {
    char line[512];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    used += (size_t)snprintf(said + used, sizeof said - used, "%s\n", line);
  }
}

static Bench load(const char* format, const char* part) {
  char text[6000];
  Bench b = {0};
  snprintf(text, sizeof text, format, part);
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, 0, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &b.m);
  keep_messages(messages);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  b.d = sr_data_create(b.m);
  ENSURE(b.d != NULL);
  return b;
}

static void unload(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
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
  if (status != SR_OK) printf("%s\n", b->result.trouble);
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

TEST(a_four_bar_keeps_to_its_closed_form_in_every_way) {
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

// A spatial pendulum as a tree, and as a free body on closures.
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
TEST(drivers_of_loops_are_rows_and_do_the_work) {
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

// The two ways through a flat parallelogram meet there: the rank falls, the run goes through on its branch and says so.
TEST(a_change_of_rank_is_an_event) {
  Bench b = load("<sarrus version='1'><option gravity='0 0 0'/>"
                 "<body name='a'><joint name='a' type='revolute' q='1.5' v='-3'/>" BAR("a", "0.5") "</body>"
                 "<body name='b' parent='a'><joint name='b' type='revolute' at='0.5 0 0' q='-1.5'/>" BAR("b", "1") "</body>"
                 "<body name='c'><joint name='c' type='revolute' at='1 0 0' q='1.5'/>" BAR("c", "0.5") "</body>"
                 "<closure type='ball' normal='0 0 1' a='b/end' b='c/end'/>%s</sarrus>",
                 "");
  run(&b, "rk4", SR_STABILIZATION_PROJECTION, 1, 1e-9);
  ENSURE_NEAR(turn(q_of(&b, "a") - q_of(&b, "c")), 0, 1e-8);  // still a parallelogram
  ENSURE_EQUAL(b.result.event_count, 2);  // a step ends in the flat position, the next one beyond it
  ENSURE_NEAR(b.result.event[0].t, 0.5, 1e-3);
  ENSURE_TEXT(b.result.event[0].why, "the rank of the constraints goes from 2 to 1");
  ENSURE_SMALL(b.result.energy.residual, 1e-8);
  unload(&b);
}

TEST(a_sarrus_linkage_has_one_freedom) {
  char path[600];
  srSpec* spec = NULL;
  srModel* m = NULL;
  srRank* rank = NULL;
  snprintf(path, sizeof path, "%s/models/mechanisms/sarrus-linkage.xml", SARRUS_SOURCE_DIR);
  ENSURE_EQUAL(sr_load(path, NULL, 0, NULL, &spec), SR_OK);
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
