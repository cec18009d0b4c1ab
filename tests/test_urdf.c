// URDF: the same mechanism written in our format gives the same equations; mimics and loops against closed forms and against
// each other; what is kept of shapes and drives; sidecar files. Messages about bad files: tests/check_urdf.sh.
#define RUNNER_TOGETHER  // they use the same files
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "messages.h"
#include "runner.h"

// ------------------------------------------------------------------------------------------------------------ helpers
static char said[8192];

static void keep_messages(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

typedef struct Robot {
  srSpec* spec;
  srModel* m;
  srData* d;
  srRunResult result;
} Robot;

static Robot finish(srSpec* spec, srStatus status, srMessages* messages) {
  Robot x = {.spec = spec};
  if (status == SR_OK) status = sr_compile(spec, messages, &x.m);
  keep_messages(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

static Robot read_file(const char* name, const char* base) {
  char path[512];
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  snprintf(path, sizeof path, "%s/%s", SARRUS_SOURCE_DIR, name);
  const srStatus status = sr_load(path, &(srLoadOptions){.base = base}, messages, &spec);
  return finish(spec, status, messages);
}

static Robot read_text(const char* text) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load_text(text, strlen(text), "t", NULL, NULL, messages, &spec);
  return finish(spec, status, messages);
}

static void drop(Robot* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

static double uniform(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1;
}

// A state away from the start, the same for both.
static void shake(const srModel* m, srData* d, unsigned seed) {
  double* step = calloc((size_t)m->nv + 1, sizeof *step);
  double* q = calloc((size_t)m->nq + 1, sizeof *q);
  sr_data_reset(m, d);
  for (int i = 0; i < m->nv; i++) step[i] = 0.7 * uniform(&seed);
  sr_retract(m, d->q, step, q);
  memcpy(d->q, q, (size_t)m->nq * sizeof *q);
  for (int i = 0; i < m->nv; i++) d->v[i] = uniform(&seed);
  free(step);
  free(q);
}

static double largest_difference(const double* a, const double* b, int n) {
  double most = 0, size = 1;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return most / size;
}

// M, c and a of two trees agree at some states.
static void ensure_same_equations(Robot* x, Robot* y, double tolerance) {
  const int n = x->m->nv;
  ENSURE_EQUAL(x->m->nq, y->m->nq);
  ENSURE_EQUAL(n, y->m->nv);
  ENSURE(n > 0 && n < 32);
  double M[2][32 * 32] = {{0}}, c[2][32], none[32] = {0};
  for (unsigned seed = 1; seed < 6; seed++) {
    Robot* both[2] = {x, y};
    for (int k = 0; k < 2; k++) {
      shake(both[k]->m, both[k]->d, seed);
      sr_crba(both[k]->m, both[k]->d, both[k]->d->q, M[k]);
      sr_rnea(both[k]->m, both[k]->d, both[k]->d->q, both[k]->d->v, none, c[k]);
      ENSURE_EQUAL(sr_forward(both[k]->m, both[k]->d, 0), 0);
    }
    ENSURE_SMALL(largest_difference(M[0], M[1], n * n), tolerance);
    ENSURE_SMALL(largest_difference(c[0], c[1], n), tolerance);
    ENSURE_SMALL(largest_difference(x->d->a, y->d->a, n), tolerance);
  }
}

static double q_of(const Robot* x, const char* joint) {
  const int j = sr_joint_find(x->m, joint);
  ENSURE(j >= 0);
  return x->d->q[x->m->joint_q[j]];
}

static double v_of(const Robot* x, const char* joint) { return x->d->v[x->m->joint_v[sr_joint_find(x->m, joint)]]; }

static void run(Robot* x, const char* method, double t_end, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.method = method;
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
}

// --------------------------------------------------------------------------------------------------------------- trees
// tests/urdf/arm.urdf by hand.
#define ARM_PARTS(joint)                                                                                               \
  "<sarrus version='1' name='arm'><body name='base'>" joint                                                            \
  "<inertial mass='3' inertia='1 1 1'/></body>"                                                                        \
  "<body name='upper' parent='base'>"                                                                                  \
  "<joint name='shoulder' type='revolute' at='0 0.1 0.2' rpy='0.1 0.2 0.3' axis='0 1 0' damping='0.5' "                \
  "armature='0.03' limits='-2 1.5'/>"                                                                                  \
  "<inertial mass='2.5' com='0.1 0.02 -0.01' rpy='0.2 -0.3 0.4' inertia='0.02 0.03 0.04 0.001 -0.002 0.003'/></body>"  \
  "<body name='forearm' parent='upper'><joint name='slide' type='prismatic' at='0.25 0 0' axis='1 0 0'/>"              \
  "<inertial mass='1.5' com='0.05 0 0' inertia='0.01 0.02 0.015'/></body>"                                             \
  "<body name='hand' parent='forearm'>"                                                                                \
  "<joint name='wrist' type='revolute' at='0.3 0 0.02' rpy='0 0.3 -0.4' axis='0 0.6 0.8' damping='0.02'/>"             \
  "<inertial mass='0.5' inertia='0.002 0.003 0.004'/></body>"                                                          \
  "<body name='tool' parent='hand'><joint type='weld' at='0 0.05 0' rot='0.8 0 0 0.6'/>"                               \
  "<inertial mass='0.2' com='0 0 0.1' inertia='0.001 0.001 0.0005'/></body></sarrus>"

TEST(a_robot_has_the_equations_of_the_same_model_in_our_format) {
  Robot x = read_file("tests/urdf/arm.urdf", NULL);
  ENSURE_TEXT(said, "");
  Robot y = read_text(ARM_PARTS("<joint name='root' type='weld'/>"));
  ensure_same_equations(&x, &y, 1e-13);
  drop(&x);
  drop(&y);
}

TEST(a_floating_base_is_a_free_joint_named_root_first_in_q) {
  Robot x = read_file("tests/urdf/arm.urdf", "floating");
  Robot y = read_text(ARM_PARTS("<joint name='root' type='free'/>"));
  const int root = sr_joint_find(x.m, "root");
  ENSURE(root >= 0 && x.m->joint_q[root] == 0 && x.m->joint_nq[root] == 7 && x.m->joint_v[root] == 0);
  ensure_same_equations(&x, &y, 1e-13);
  drop(&x);
  drop(&y);
}

TEST(joints_come_depth_first_in_the_order_of_the_joints_in_the_file) {
  static const char text[] =
      "<robot name='r'><link name='c'/><link name='b'/><link name='base'/><link name='a'/><link name='d'/>"
      "<joint name='to_b' type='fixed'><parent link='base'/><child link='b'/></joint>"
      "<joint name='to_d' type='fixed'><parent link='a'/><child link='d'/></joint>"
      "<joint name='to_a' type='fixed'><parent link='base'/><child link='a'/></joint>"
      "<joint name='to_c' type='fixed'><parent link='b'/><child link='c'/></joint></robot>";
  static const char* const order[] = {"root", "to_b", "to_c", "to_a", "to_d"};
  Robot x = read_text(text);
  ENSURE_EQUAL(x.m->njoint, 5);
  ENSURE_EQUAL(x.m->njoint_given, 4);  // the root's is not in the file
  for (int i = 0; i < 5; i++) ENSURE_TEXT(x.m->joint_name[i], order[i]);
  ENSURE_TEXT(x.m->name, "r");
  drop(&x);
}

TEST(joints_with_several_coordinates_are_free_ball_and_planar) {
  Robot x = read_file("tests/urdf/types.urdf", NULL);
  ENSURE_TEXT(said, "");
  Robot y = read_text(
      "<sarrus version='1'><body name='a'><joint name='fly' type='free' at='0 0 1' rpy='0 0 0.5'/>"
      "<inertial mass='1' com='0.1 0 0' inertia='0.01 0.02 0.02'/></body>"
      "<body name='b' parent='a'><joint name='turn' type='ball' at='0.2 0 0'/>"
      "<inertial mass='2' com='0.1 0 0' inertia='0.01 0.02 0.02'/></body>"
      "<body name='c'><joint name='glide' type='planar' axis='0 0 1'/>"
      "<inertial mass='3' com='0.1 0 0' inertia='0.01 0.02 0.02'/></body></sarrus>");
  ENSURE_EQUAL(x.m->nq, 7 + 4 + 3);
  ensure_same_equations(&x, &y, 1e-13);
  drop(&x);
  drop(&y);
}

// The default axis is x, not z as in our format: a pendulum with its mass off that axis.
TEST(the_default_axis_is_x) {
  Robot x = read_text(
      "<robot name='r'><link name='base'/><link name='a'><inertial><origin xyz='5 0 -2'/><mass value='3'/>"
      "<inertia ixx='0.5' iyy='1' izz='1'/></inertial></link>"
      "<joint name='j' type='continuous'><parent link='base'/><child link='a'/></joint></robot>");
  x.d->q[0] = 0.3;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  ENSURE_NEAR(x.d->a[0], -3 * 9.81 * 2 * sin(0.3) / (3 * 4 + 0.5), 1e-13);
  drop(&x);
}

// --------------------------------------------------------------------------------------------------------------- mimic
// Motor and fingers as one degree of freedom: q1 = q/2 + 0.2, q2 = 0.3 - q1.
//   (I0 + (I1 + I2)/4) q'' = sum of the gravity moments m g l cos(q_i) times dq_i/dq
TEST(a_mimic_is_a_constraint_with_its_force) {
  Robot x = read_file("tests/urdf/gripper.urdf", NULL);
  ENSURE_TEXT(said, "");
  ENSURE_NEAR(q_of(&x, "left"), 0.2, 0);
  ENSURE_NEAR(q_of(&x, "right"), 0.1, 1e-16);
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  const double I = 3e-4 + 0.2 * 0.05 * 0.05, mgl = 0.2 * 9.81 * 0.05;
  const double force = 0.5 * mgl * cos(0.2) - 0.5 * mgl * cos(0.1);  // one falls while the other rises
  ENSURE_NEAR(x.d->a[x.m->joint_v[sr_joint_find(x.m, "drive")]], force / (2e-4 + 2 * 0.25 * I), 1e-12);
  run(&x, "dopri5", 0.5, 1e-10);
  const double q = q_of(&x, "drive");
  // q'' = -2 K sin(0.15) sin(q/2 + 0.05): a pendulum that swings 0.1 about -0.1
  const double K = 0.5 * mgl / (2e-4 + 2 * 0.25 * I);
  ENSURE_NEAR(q, -0.1 + 0.1 * cos(0.5 * sqrt(K * sin(0.15))), 1e-4);
  ENSURE_NEAR(q_of(&x, "left"), 0.5 * q + 0.2, 1e-12);
  ENSURE_NEAR(q_of(&x, "right"), 0.1 - 0.5 * q, 1e-12);
  ENSURE_NEAR(v_of(&x, "right"), -0.5 * v_of(&x, "drive"), 1e-12);
  drop(&x);
}

// Sums of joints up to the common link, kept in a ratio: c = -2 a, d = 3 (a + b).
TEST(couplings_tie_sums_of_joints) {
  Robot x = read_file("tests/urdf/coupling.urdf", NULL);
  ENSURE_TEXT(said, "");
  ENSURE_EQUAL(x.m->nv, 4);
  run(&x, "dopri5", 0.3, 1e-9);
  ENSURE(fabs(q_of(&x, "a")) > 1e-2 && fabs(q_of(&x, "b")) > 1e-3);
  ENSURE_NEAR(q_of(&x, "c"), -2 * q_of(&x, "a"), 1e-11);
  ENSURE_NEAR(q_of(&x, "d"), 3 * (q_of(&x, "a") + q_of(&x, "b")), 1e-11);
  drop(&x);
}

// ---------------------------------------------------------------------------------------------------------------- loops
#define MASS "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"

static const char four_bar[] =
    "<sarrus version='1'><body name='crank'><joint name='crank' type='revolute' axis='0 1 0'/>"
    "<inertial mass='0.4' com='0.05 0 0.075' inertia='2e-3 3e-3 2e-3'/></body>"
    "<body name='coupler' parent='crank'><joint name='coupler' type='revolute' axis='0 1 0' at='0.1 0 0.15'/>"
    "<inertial mass='1.2' com='0.25 0 0.15' inertia='1e-2 4e-2 3e-2'/><point name='pin' at='0.5 0 0.3'/></body>"
    "<body name='rocker'><joint name='rocker' type='revolute' axis='0 1 0' at='0.7 0 0'/>"
    "<inertial mass='1' com='-0.05 0 0.225' inertia='2e-2 3e-2 1e-2'/><point name='pin' at='-0.1 0 0.45'/></body>"
    "<closure name='pin' type='ball' normal='0 1 0' a='coupler/pin' b='rocker/pin'/></sarrus>";

TEST(a_loop_is_the_same_however_the_file_closes_it) {
  static const char* const forms[] = {"two-parents", "loop", "constraint", "loop-joint", "loop-joint-origins", "ball"};
  Robot y = read_text(four_bar);
  ENSURE_EQUAL(sr_forward(y.m, y.d, 0), 0);
  for (int k = 0; k < 6; k++) {
    char path[64];
    snprintf(path, sizeof path, "tests/urdf/four-bar-%s.urdf", forms[k]);
    Robot x = read_file(path, NULL);
    ENSURE_EQUAL(x.m->nv, 3);
    ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
    ENSURE_SMALL(largest_difference(x.d->a, y.d->a, 3), 1e-12);
    drop(&x);
  }
  // in motion
  Robot x = read_file("tests/urdf/four-bar-two-parents.urdf", NULL);
  run(&x, "dopri5", 0.4, 1e-10);
  run(&y, "dopri5", 0.4, 1e-10);
  ENSURE(fabs(q_of(&y, "crank")) > 0.1);
  ENSURE_SMALL(largest_difference(x.d->q, y.d->q, 3), 1e-8);
  ENSURE_SMALL(x.result.violation_position, 1e-10);
  drop(&x);
  drop(&y);
}

// Two free bodies and a loop between frames that are a little off in all directions: each kind closes in its own way.
TEST(loops_that_rounded_numbers_leave_open_are_closed_by_moving_a_frame) {
  static const char* const types[] = {"revolute", "spherical", "fixed", "prismatic", "planar", "cylindrical"};
  static const char text[] = "<robot name='r'><link name='base'/><link name='a'>" MASS "</link><link name='b'>" MASS
                             "</link>"
                             "<joint name='ja' type='floating'><parent link='base'/><child link='a'/><origin xyz='0.3 "
                             "0 1' rpy='0.4 0 0.2'/></joint>"
                             "<joint name='jb' type='floating'><parent link='base'/><child link='b'/><origin xyz='0.3 "
                             "0 1' rpy='0.4 0 0.2'/></joint>"
                             "<loop name='l' type='%s'><predecessor link='a'><origin xyz='0.5 0.1 0.2' rpy='0.1 0.2 "
                             "0.3'/></predecessor><successor link='b'>"
                             "<origin xyz='0.5001 0.1002 0.1997' rpy='0.1001 0.1998 0.3003'/></successor><axis "
                             "xyz='0.6 0 0.8'/></loop></robot>";
  for (int k = 0; k < 6; k++) {
    char filled[2000];
    srAssembly got;
    snprintf(filled, sizeof filled, text, types[k]);
    Robot x = read_text(filled);
    ENSURE(strstr(said, "the loop is open by"));
    ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &got), SR_OK);
    ENSURE_SMALL(got.residual_position, 1e-14);
    ENSURE_SMALL(got.moved_position, 1e-14);
    drop(&x);
  }
  Robot x = read_file("tests/urdf/warn-rounded-loop.urdf", NULL);
  run(&x, "radau5", 0.3, 1e-8);  // which needs constraints that can be met
  ENSURE_SMALL(x.result.violation_position, 1e-10);
  drop(&x);
}

// A parallelogram whose first pin has its axis by a rounded quarter turn: by the letter the loop could not move.
#define BAR "<inertial><origin xyz='0.1 0 0'/><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01'/></inertial>"
#define LINKS                                                                                                          \
  "<robot name='r'><link name='base'/><link name='crank'>" BAR "</link><link name='coupler'>" BAR                      \
  "</link><link name='rocker'>" BAR "</link>"
#define PIN(name, parent, child, more)                                                                                 \
  "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"
static const char* const closed[] = {
    "<loop name='j4' type='continuous'><parent link='coupler'/><child link='rocker'/><origin xyz='0 0 0.5'/>"
    "<child_origin xyz='0.2 0 0'/><axis xyz='0 1 0'/></loop>",
    "<loop name='j4' type='spherical'><parent link='coupler'/><child link='rocker'/><origin xyz='0 0 0.5'/>"
    "<child_origin xyz='0.2 0 0'/></loop>",
    // the pin of the loop closure is skew too, on either side
    "<loop name='j4' type='continuous'><parent link='coupler'/><child link='rocker'/><origin xyz='0 0 0.5' "
    "rpy='-1.5708 0 0'/><child_origin xyz='0.2 0 0' rpy='-1.5707 0 0'/><axis xyz='0 0 1'/></loop>",
    // the loop closure is no pin: the link in between is carried by one, and fixed
    "<link name='pin'/><joint name='j4' type='continuous'><parent link='coupler'/><child link='pin'/><origin xyz='0 0 "
    "0.5'/><axis xyz='0 -1 0'/><dynamics damping='1e-9'/></joint><loop name='j5' type='fixed'><parent link='rocker'/>"
    "<child link='pin'/><origin xyz='0.2 0 0'/></loop>"};

TEST(a_planar_loop_moves_although_its_axes_are_rounded) {
  static const char parallelogram[] = LINKS PIN("j1", "base", "crank", "<origin rpy='-%s 0 0'/><axis xyz='0 0 1'/>")
      PIN("j2", "crank", "coupler", "<origin xyz='0.2 0 0' rpy='%s 0 0'/><axis xyz='0 1 0'/>")
          PIN("j3", "base", "rocker", "<origin xyz='0 0 0.5'/><axis xyz='0 1 0'/>") "%s</robot>";
  static const char* const quarter[] = {"1.5707963267948966", "1.570796", "1.5708", "1.57"};
  static const double tolerance[] = {0, 1e-6, 1e-5, 3e-3};
  for (int c = 0; c < 4; c++) {
    double exact = 0;
    for (int k = 0; k < 4; k++) {
      char filled[4000];
      snprintf(filled, sizeof filled, parallelogram, quarter[k], quarter[k], closed[c]);
      Robot x = read_text(filled);
      ENSURE((strstr(said, "it is closed in its plane alone, or it could not move") != NULL) == (k > 0 || c == 2));
      run(&x, "dopri5", 0.15, 1e-9);  // before it is stretched
      if (k == 0) exact = q_of(&x, "j1");
      ENSURE(fabs(exact) > 0.1);  // it falls
      ENSURE_NEAR(q_of(&x, "j1"), exact, tolerance[k]);
      ENSURE_NEAR(q_of(&x, "j3"), q_of(&x, "j1"), k == 3 ? 3e-3 : 1e-5);
      ENSURE_SMALL(x.result.violation_position, 1e-9);
      drop(&x);
    }
  }
}

// An offset across the plane is ignored only where it is small: a pin 0.1 m away from its hole is not rounding.
TEST(a_planar_loop_with_rounded_axes_is_not_closed_across_a_gap) {
  static const char text[] = LINKS PIN("j1", "base", "crank", "<axis xyz='0 1 0'/>")
      PIN("j2", "crank", "coupler", "<origin xyz='0.2 0 0'/><axis xyz='0 1 0'/>")
          PIN("j3", "base", "rocker", "<origin xyz='0 0 0.5'/><axis xyz='0 1 %s'/>") "%s</robot>";
  static const char ball[] =
      "<loop name='l' type='spherical'><parent link='coupler'/><child link='rocker'/><origin xyz='0 %s 0.5'/>"
      "<child_origin xyz='0.2 0 0'/></loop>";
  static const char cylindrical[] =  // slides along the normal
      "<loop name='l' type='cylindrical'><parent link='coupler'/><child link='rocker'/><origin xyz='0 %s 0.5'/>"
      "<child_origin xyz='0.2 0 0'/><axis xyz='0 1 0'/></loop>";
  static const char weld[] =
      "<link name='pin'/><joint name='j4' type='continuous'><parent link='coupler'/><child link='pin'/><origin xyz='0 "
      "0 0.5'/><axis xyz='0 1 0'/></joint><loop name='l' type='fixed'><parent link='rocker'/><child link='pin'/>"
      "<origin xyz='0.2 0 0' rpy='%s 0 0'/></loop>";
  static const struct {
    const char *form, *gap, *skew;
    bool told, closes;
  } cases[] = {{ball, "0.0009", "1e-5", true, true},    {ball, "0.1", "1e-5", false, false},
               {ball, "-0.1", "1e-5", false, false},    {ball, "0.1", "0", false, false},
               {ball, "0", "1e-11", true, true},        {ball, "0", "0", false, true},
               {weld, "0.0015", "1e-5", true, true},    {weld, "1", "1e-5", false, false},
               {weld, "3.1416", "1e-5", false, false},  {weld, "1", "0", false, false},
               {cylindrical, "0.1", "1e-5", true, true}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char loop[1000], filled[4000];
    snprintf(loop, sizeof loop, cases[k].form, cases[k].gap);
    snprintf(filled, sizeof filled, text, cases[k].skew, loop);
    Robot x = read_text(filled);
    ENSURE((strstr(said, "it is closed in its plane alone, or it could not move") != NULL) == cases[k].told);
    ENSURE((sr_assemble(x.m, x.d, NULL, NULL) == SR_OK) == cases[k].closes);
    drop(&x);
  }
}

// A slider-crank: the slide is perpendicular to the pins, but for rounding.
TEST(a_slider_crank_moves_although_its_axes_are_rounded) {
  static const char text[] =
      LINKS PIN("j1", "base", "crank", "<axis xyz='0 1 0'/>")
          PIN("j2", "crank", "coupler", "<origin xyz='0.2 0 0.1'/><axis xyz='%s 1 0'/>")
              "<joint name='slide' type='prismatic'><parent link='base'/><child link='rocker'/><origin xyz='0.7 0 "
              "0.1'/><axis xyz='1 %s 0'/></joint><loop name='pin' type='continuous'><parent link='coupler'/><child "
              "link='rocker'/><origin xyz='0.5 0 0'/><axis xyz='0 1 %s'/></loop></robot>";
  double way[2];
  for (int k = 0; k < 2; k++) {
    char filled[4000];
    snprintf(filled, sizeof filled, text, k ? "1e-5" : "0", k ? "-2e-5" : "0", k ? "1e-6" : "0");
    Robot x = read_text(filled);
    ENSURE((strstr(said, "off by 2e-05 rad") != NULL) == (k == 1));
    run(&x, "dopri5", 0.2, 1e-9);
    way[k] = q_of(&x, "slide");
    drop(&x);
  }
  ENSURE(fabs(way[0]) > 1e-3);
  ENSURE_NEAR(way[1], way[0], 1e-5);
}

// Stretched at q = 0, where no step of Newton helps: the joints are shaken, the base is not.
TEST(a_floating_base_stays_while_a_loop_that_it_carries_is_assembled) {
  const char* text =
      "<robot name='r'><link name='base'>" MASS "</link><link name='a'>" MASS "</link><link name='b'>" MASS
      "</link>" PIN("ja", "base", "a", "<axis xyz='0 1 0'/>")
          PIN("jb", "a", "b", "<origin xyz='1 0 0'/><axis xyz='0 1 0'/>")
              "<loop name='l' type='spherical'><parent link='base'/><child link='b'/><origin xyz='1.2 0 0'/>"
              "<child_origin xyz='1 0 0'/></loop></robot>";
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status =
      sr_load_text(text, strlen(text), "t", NULL, &(srLoadOptions){.base = "floating"}, messages, &spec);
  Robot x = finish(spec, status, messages);
  double before[7];
  srAssembly got;
  memcpy(before, x.d->q, sizeof before);
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &got), SR_OK);
  ENSURE_SMALL(largest_difference(x.d->q, before, 7), 1e-15);
  const double a = q_of(&x, "ja"), b = a + q_of(&x, "jb");
  ENSURE_NEAR(cos(a) + cos(b), 1.2, 1e-9);
  drop(&x);
}

// What drake's Cassie has: an <origin> that adds nothing to the frames of the links.
TEST(an_origin_of_zero_in_a_loop_is_no_second_frame) {
  Robot x = read_text(
      "<robot name='r'><link name='base'/><link name='a'>" MASS "</link><link name='b'>" MASS
      "</link>" PIN("ja", "base", "a", "") PIN("jb", "base", "b", "")
          "<loop_joint name='l' type='continuous'><origin xyz='0 0 0' rpy='0 0 0'/><link1 link='a' xyz='0.3 0.1 0' "
          "rpy='0 0 0'/><link2 link='b' xyz='0.3 0.1 0' rpy='0 0 0'/><axis xyz='1 0 0'/></loop_joint></robot>");
  const srPointDef* point = srs_get(x.spec, SR_ELEMENT_POINT, 0);
  ENSURE_NEAR(point->at.numbers[0], 0.3, 0);
  ENSURE_NEAR(point->at.numbers[1], 0.1, 0);
  drop(&x);
}

TEST(a_loop_that_is_wide_open_at_q_zero_is_assembled) {
  Robot x =
      read_text("<robot name='r'><link name='base'/><link name='a'>" MASS "</link><link name='b'>" MASS
                "</link>"
                "<joint name='ja' type='continuous'><parent link='base'/><child link='a'/><axis xyz='0 1 0'/></joint>"
                "<joint name='jb' type='continuous'><parent link='a'/><child link='b'/><origin xyz='1 0 0'/><axis "
                "xyz='0 1 0'/></joint>"
                "<loop name='l' type='spherical'><parent link='base'/><child link='b'/><origin xyz='1.2 0 0.3'/>"
                "<child_origin xyz='0 0 0.8'/></loop></robot>");
  srAssembly got;
  ENSURE_TEXT(said, "");
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &got), SR_OK);
  ENSURE(got.moved_position > 0.1);
  const double a = q_of(&x, "ja"), b = a + q_of(&x, "jb");
  ENSURE_NEAR(cos(a) + 0.8 * sin(b), 1.2, 1e-9);
  ENSURE_NEAR(-sin(a) + 0.8 * cos(b), 0.3, 1e-9);
  drop(&x);
}

// The joint that carries nothing is cut, though it is the first; a choice that would leave links hanging is changed.
TEST(the_cut_leaves_what_joints_carry_and_every_link_on_the_root) {
#define LINK(name)                                                                                                     \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
#define JOIN(name, parent, child, more)                                                                                \
  "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"
  Robot x = read_text("<robot name='r'><link name='base'/>" LINK("a") LINK("b") LINK("c") JOIN("ja", "base", "a", "")
                          JOIN("jb", "base", "b", "") JOIN("ac", "a", "c", "")
                              JOIN("bc", "b", "c", "<dynamics damping='1'/>") "</robot>");
  ENSURE(strstr(said, "joint 'ac' to 'a' is a closure, 'bc' carries the link"));
  ENSURE(sr_joint_find(x.m, "ac") < 0 && sr_joint_find(x.m, "bc") >= 0);
  ENSURE_EQUAL(x.m->nclosure, 1);
  drop(&x);
  // 'back' carries something and 'ja' nothing, but without 'ja' nothing would hang on the root
  x = read_text("<robot name='r'><link name='base'/>" LINK("a") LINK("b") JOIN("ja", "base", "a", "")
                    JOIN("jb", "a", "b", "") JOIN("back", "b", "a", "<dynamics damping='1'/>") "</robot>");
  ENSURE(strstr(said, "joint 'back' to 'b' is a closure, 'ja' carries the link"));
  ENSURE(strstr(said, "joint 'back' closes a loop and has no coordinate: its damping is lost"));
  drop(&x);
}

// Five bars, two motors; one of them pushes, so that the leg moves forward while it falls onto the stops of its knees.
static void run_leg(srModel* m, srData* d, srRunResult* result) {
  srRunOptions options = sr_run_options(m);
  options.t_end = 0.3;
  options.rtol = 1e-10;
  options.atol = 1e-12;
  d->tau[0] = 0.3;
  ENSURE_EQUAL(sr_run(m, d, &options, NULL, result), SR_OK);
  ENSURE(result->violation_position > 0);  // it was measured
  ENSURE_SMALL(result->violation_position, 1e-10);
  ENSURE_SMALL(result->violation_velocity, 1e-10);
}

TEST(the_closed_leg_keeps_its_loop_to_1e_10_in_both_formulations) {
  Robot x = read_file("models/robots/leg-closed.urdf", NULL);
  srModel* m = NULL;
  srData* d = NULL;
  srRunResult absolute;
  ENSURE_EQUAL(x.m->nv, 4);
  ENSURE_EQUAL(x.m->nclosure, 1);
  ENSURE_EQUAL(sr_formulate(x.spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, NULL, &m, &d), SR_OK);
  run_leg(x.m, x.d, &x.result);
  run_leg(m, d, &absolute);
  ENSURE(fabs(q_of(&x, "hip_left")) > 0.1 && fabs(q_of(&x, "hip_left") + q_of(&x, "hip_right")) > 1e-2);
  ENSURE_SMALL(largest_difference(x.d->q, d->jq, 4), 1e-6);
  // The foot by the other leg: from the hip over the right knee, the frames turned by sums of angles.
  const double right = q_of(&x, "hip_right"), shank = right + q_of(&x, "knee_right");
  const double left = q_of(&x, "hip_left"), other = left + q_of(&x, "knee_left");
#define TURN_X(px, pz, angle) ((px)*cos(angle) + (pz)*sin(angle))
#define TURN_Z(px, pz, angle) ((pz)*cos(angle) - (px)*sin(angle))
  ENSURE_NEAR(0.05 + TURN_X(0.08, -0.09, right) + TURN_X(-0.13, -0.18, shank),
              -0.05 + TURN_X(-0.08, -0.09, left) + TURN_X(0.13, -0.18, other), 1e-10);
  ENSURE_NEAR(TURN_Z(0.08, -0.09, right) + TURN_Z(-0.13, -0.18, shank),
              TURN_Z(-0.08, -0.09, left) + TURN_Z(0.13, -0.18, other), 1e-10);
  sr_data_destroy(d);
  sr_model_destroy(m);
  drop(&x);
}

// ---------------------------------------------------------------------------------------------------------------- kept
TEST(rotors_add_the_square_of_the_reduction) {
  Robot x = read_file("tests/urdf/geared.urdf", NULL);
  const double expected[3] = {50 * 50 * 2e-4, 0.5 + 20 * 20 * 1e-3, 300 * 300 * 1e-5};
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.m->dof_armature[i], expected[i], 1e-15);
  drop(&x);
}

// As franka's files have them: a transmission for each interface, with the same motor.
TEST(a_motor_that_is_written_three_times_has_one_rotor) {
  Robot x = read_text(
      "<robot name='r'><link name='base'/><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
      "</inertial></link><joint name='j' type='continuous'><parent link='base'/><child link='a'/></joint>"
#define DRIVE(name, motor)                                                                                             \
  "<transmission name='" name "'><joint name='j'/><actuator name='" motor                                              \
  "'><mechanicalReduction>50"                                                                                          \
  "</mechanicalReduction><rotorInertia>1e-4</rotorInertia></actuator></transmission>"
      DRIVE("t", "m") DRIVE("t", "m") DRIVE("other", "m") DRIVE("t", "other") DRIVE("second", "n") "</robot>");
#undef DRIVE
  ENSURE_NEAR(x.m->dof_armature[0], 2 * 50 * 50 * 1e-4, 1e-15);  // of the motors m and n
  ENSURE(strstr(said, "with the name or the actuator of another one of its joint is not used: 3 times"));
  drop(&x);
}

TEST(words_that_act_on_the_motion_are_warnings_and_others_notes) {
  Robot x = read_text(
      "<robot name='r' colour='blue'><gazebo><material>Red</material></gazebo><spring/><link name='base' type='t'>"
      "<contact/><visual><geometry><sphere radius='1'/></geometry><material name='none'/></visual></link>"
      "<link name='a'><inertial unit='g'><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
      "<joint name='j' type='continuous'><parent link='base'/><child link='a'/><dynamics mu='1'/>"
      "<limit current='3' lower='-1'/><safety_controller/></joint>"
      "<link name='tip'/><joint name='f' type='fixed'><parent link='a'/><child link='tip'/><axis xyz='0 0 1'/></joint>"
      "<transmission name='t'><type>x</type><joint name='j'><hardwareInterface>e</hardwareInterface></joint>"
      "</transmission></robot>");
  const char* const warned[] = {"<spring>", "'unit' of <inertial>", "'mu' of <dynamics>"};
  const char* const noted[] = {"'colour' of <robot>",
                               "<gazebo>",
                               "'type' of <link>",
                               "<contact> in <link>",
                               "the material 'none', whose colour is given nowhere,",
                               "'current' of <limit>",
                               "'lower' and 'upper' of a continuous joint",
                               "<safety_controller> in <joint>",
                               "<axis> of a fixed joint",
                               "<type> in <transmission>",
                               "<hardwareInterface> in <joint>",
                               "a <transmission> with the reduction 1 and no rotor inertia"};
  char line[100];
  for (size_t i = 0; i < sizeof warned / sizeof warned[0]; i++) {
    snprintf(line, sizeof line, "warning: %s is not used\n", warned[i]);
    ENSURE(strstr(said, line) != NULL);
  }
  for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++) {
    snprintf(line, sizeof line, "note: %s is not used\n", noted[i]);
    ENSURE(strstr(said, line) != NULL);
  }
  drop(&x);
  x = read_text(
      "<robot name='r'><gazebo><joint name='loop'/></gazebo><link name='base'/><link name='a'><inertial>"
      "<mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='planar'><parent "
      "link='base'/><child link='a'/><limit lower='0'/></joint></robot>");
  ENSURE(strstr(said, "warning: <gazebo> is not used"));
  ENSURE(strstr(said, "warning: <limit> of a planar joint is not used"));
  drop(&x);
}

TEST(shapes_limits_and_drives_are_kept) {
  Robot x = read_file("tests/urdf/arm.urdf", NULL);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_SHAPE), 4);
  const srShapeDef* foot = srs_get(x.spec, SR_ELEMENT_SHAPE, 0);
  ENSURE_TEXT(foot->name.text, "foot");
  ENSURE_TEXT(foot->type.text, "cylinder");
  ENSURE_TEXT(foot->use.text, "visual");
  ENSURE(foot->size.n == 2 && foot->size.numbers[0] == 0.1 && foot->size.numbers[1] == 0.05);
  ENSURE(foot->color.n == 4 && foot->color.numbers[2] == 0.8);
  const srShapeDef* shell = srs_get(x.spec, SR_ELEMENT_SHAPE, 2);
  ENSURE_TEXT(shell->type.text, "capsule");
  ENSURE_TEXT(shell->use.text, "collision");
  ENSURE_EQUAL(srs_owner(x.spec, SR_ELEMENT_SHAPE, 2), 1);
  const srShapeDef* ball = srs_get(x.spec, SR_ELEMENT_SHAPE, 3);  // a colour that another link defines
  ENSURE(ball->color.n == 4 && ball->color.numbers[0] == 1 && ball->color.numbers[3] == 0.5);
  const srJointDef* shoulder = srs_get(x.spec, SR_ELEMENT_JOINT, 1);
  ENSURE_TEXT(shoulder->name.text, "shoulder");
  ENSURE(shoulder->limits.n == 2 && shoulder->limits.numbers[1] == 1.5);
  ENSURE(shoulder->effort.number == 30 && shoulder->speed.number == 4);
  drop(&x);
}

TEST(meshes_are_kept_with_their_scale) {
  Robot x = read_file("tests/urdf/mesh.urdf", NULL);
  ENSURE_EQUAL(x.m->nshape, 2);
  ENSURE_EQUAL(x.m->nmesh, 2);
  const srMeshDef* box = srs_get(x.spec, SR_ELEMENT_MESH, 0);
  ENSURE(box->scale.n == 3 && box->scale.numbers[1] == -1 && box->scale.numbers[2] == 2);
  const srShapeDef* shape = srs_get(x.spec, SR_ELEMENT_SHAPE, 0);
  ENSURE_TEXT(shape->type.text, "mesh");
  ENSURE_TEXT(shape->mesh.text, box->name.text);
  drop(&x);
}

TEST(joint_friction_becomes_a_law_that_holds) {
  static const char text[] =
      "<robot name='r'><link name='base'/><link name='a'><inertial><origin xyz='1 0 0'/><mass value='1'/>"
      "<inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial></link><joint name='j' type='continuous'><parent "
      "link='base'/>"
      "<child link='a'/><axis xyz='0 1 0'/><dynamics friction='%g'/></joint></robot>";
  for (int k = 0; k < 2; k++) {
    char filled[1024];
    snprintf(filled, sizeof filled, text,
             k == 0 ? 25.0 : 5.0);  // gravity pulls with 9.81 Nm, twice that when it swings
    Robot x = read_text(filled);
    run(&x, "radau5", 0.5, 1e-6);
    if (k == 0)
      ENSURE_SMALL(q_of(&x, "j"), 1e-3);  // what the bristles give way
    else
      ENSURE(q_of(&x, "j") > 0.1);
    drop(&x);
  }
}

// -------------------------------------------------------------------------------------------------------------- sidecar
static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  ENSURE(file != NULL);
  fputs(text, file);
  fclose(file);
}

// A model file that includes the robot as robot.urdf, both in the folder of the tests.
static Robot read_sidecar(const char* robot, const char* model) {
  const char *robot_path = SARRUS_BINARY_DIR "/test-urdf-robot.urdf",
             *model_path = SARRUS_BINARY_DIR "/test-urdf-model.xml";
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  write_file(robot_path, robot);
  write_file(model_path, model);
  const srStatus status = sr_load(model_path, NULL, messages, &spec);
  remove(robot_path);
  remove(model_path);
  return finish(spec, status, messages);
}

TEST(a_model_file_includes_robots_and_extends_them) {
  Robot x = read_sidecar(
      "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
      "izz='1'/></inertial></link><joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint>"
      "</robot>",
      "<sarrus version='1' name='two'><include file='test-urdf-robot.urdf'/>"
      "<extend body='arm'><joint q='0.5' armature='2'/></extend>"
      "<include file='test-urdf-robot.urdf' base='floating'/><torque joint='j_2' law='1'/></sarrus>");
  ENSURE_TEXT(x.m->name, "two");
  ENSURE_NEAR(q_of(&x, "j"), 0.5, 0);
  ENSURE_NEAR(x.m->dof_armature[0], 2, 0);
  ENSURE(sr_joint_find(x.m, "root") >= 0 && sr_joint_find(x.m, "root_2") >= 0);  // the second robot is renamed
  ENSURE(strstr(said, "link 'arm' is called 'arm_2' in the model"));
  ENSURE(strstr(said, "the joint 'root' is called 'root_2' in the model"));
  drop(&x);
}

TEST(what_a_sidecar_gives_is_not_asked_for) {
  static const char robot[] =
      "<robot name='r'><link name='base'/><link name='a'/><link name='b'><inertial><mass value='2'/></inertial></link>"
      "<joint name='i' type='revolute'><parent link='base'/><child link='a'/></joint>"
      "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit lower='0.5' upper='1'/></joint>"
      "<transmission name='t'><joint name='j'/><actuator name='m'><mechanicalReduction>5</mechanicalReduction>"
      "</actuator></transmission></robot>";
  static const char* const asked[] = {"no <limit>", "no <inertial> in link 'a'",
                                      "mass without moments of inertia, a point, in link 'b'", "adds no armature"};
  Robot x = read_text(robot);
  for (int i = 0; i < 4; i++) ENSURE(strstr(said, asked[i]));
  drop(&x);
  x = read_sidecar(robot,
                   "<sarrus version='1' name='m'><include file='test-urdf-robot.urdf'/><extend body='a'>"
                   "<joint limits='-1 1'/><inertial mass='1' inertia='1 1 1'/></extend>"
                   "<extend body='b'><joint q='0.7' armature='1'/><inertial inertia='3 3 3'/></extend></sarrus>");
  ENSURE_TEXT(said, "");
  ENSURE_NEAR(x.m->body_mass[2], 1, 0);
  ENSURE_NEAR(x.m->body_mass[3], 2, 0);
  ENSURE_NEAR(q_of(&x, "j"), 0.7, 0);
  drop(&x);
}

// The start of what mimics is a guess of the reader: it follows the one that the sidecar gives.
TEST(a_start_of_a_sidecar_is_kept_where_others_mimic_the_joint) {
  Robot x = read_sidecar(
      "<robot name='r'><link name='base'/><link name='a'>" MASS "</link><link name='b'>" MASS "</link>" PIN(
          "j1", "base", "a", "") PIN("j2", "a", "b", "<mimic joint='j1' multiplier='2' offset='0.1'/>") "</robot>",
      "<sarrus version='1' name='m'><include file='test-urdf-robot.urdf'/><extend body='a'><joint q='0.3'/></extend>"
      "</sarrus>");
  srAssembly got;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &got), SR_OK);
  ENSURE_NEAR(q_of(&x, "j1"), 0.3, 1e-12);
  ENSURE_NEAR(q_of(&x, "j2"), 0.7, 1e-12);
  drop(&x);
}

TEST(a_friction_of_a_sidecar_replaces_that_of_the_robot) {
  static const char robot[] =
      "<robot name='r'><link name='base'/><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
      "</inertial></link><joint name='j' type='continuous'><parent link='base'/><child link='a'/>"
      "<dynamics friction='0.3'/></joint></robot>";
  static const char* const models[] = {
      "<sarrus version='1' name='m'><include file='test-urdf-robot.urdf'/>"
      "<friction joint='j' law='kikuuwe' F='1' K='100' B='2'/></sarrus>",
      "<sarrus version='1' name='m'><friction joint='j' law='kikuuwe' F='1' K='100' B='2'/>"
      "<include file='test-urdf-robot.urdf'/></sarrus>"};
  for (int k = 0; k < 2; k++) {
    Robot x = read_sidecar(robot, models[k]);
    ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FRICTION), 1);
    const srFrictionDef* def = srs_get(x.spec, SR_ELEMENT_FRICTION, 0);
    ENSURE_TEXT(def->F.text, "1");
    ENSURE_TEXT(def->K.text, "100");
    ENSURE(!strstr(srs_place(x.spec, SR_ELEMENT_FRICTION, 0).file, "robot.urdf"));  // where its errors are reported
    ENSURE(
        strstr(said, "note: the dry friction that the robot's file gives joint 'j' is replaced by this model's own"));
    drop(&x);
  }
  Robot x = read_sidecar(robot, "<sarrus version='1' name='m'><include file='test-urdf-robot.urdf'/></sarrus>");
  ENSURE_NEAR(((const srFrictionDef*)srs_get(x.spec, SR_ELEMENT_FRICTION, 0))->F.number, 0.3, 0);
  ENSURE_TEXT(said, "");
  drop(&x);
}

// The parameter may be changed until the model is compiled: which coordinate is meant cannot be told.
TEST(a_friction_of_a_sidecar_whose_coordinate_is_a_formula_adds_to_that_of_the_robot) {
  static const char robot[] = "<robot name='r'><link name='base'/><link name='a'>" MASS
                              "</link><joint name='j' type='continuous'>"
                              "<parent link='base'/><child link='a'/><dynamics friction='0.3'/></joint></robot>";
  static const char* const models[] = {
      "<sarrus version='1' name='m'><parameter name='k' value='0'/><include file='test-urdf-robot.urdf'/>"
      "<friction joint='j' coordinate='k' F='1' K='100' B='2'/></sarrus>",
      "<sarrus version='1' name='m'><parameter name='k' value='0'/><friction joint='j' coordinate='k' F='1' K='100' "
      "B='2'/><include file='test-urdf-robot.urdf'/></sarrus>"};
  for (int k = 0; k < 2; k++) {
    Robot x = read_sidecar(robot, models[k]);
    ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FRICTION), 2);
    ENSURE(strstr(
        said,
        "warning: the dry friction that the robot's file gives joint 'j' is kept in addition to this model's own"));
    drop(&x);
  }
}

TEST(many_links_in_a_chain_are_read_in_linear_time) {
  enum { N = 20000 };
  char* text = malloc((size_t)N * 300 + 100);
  ENSURE(text != NULL);
  char* p = text + sprintf(text, "<robot name='r'><link name='l0'/>");
  for (int i = 1; i <= N; i++)
    p += sprintf(p,
                 "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/></joint><link name='l%d'>"
                 "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>",
                 i, i - 1, i, i);
  sprintf(p, "</robot>");
  srSpec* spec = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "t", NULL, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), N + 1);
  srs_destroy(spec);
  free(text);
}

// ------------------------------------------------------------------------------------------------------------- contact
// A robot of all kinds of shapes on a floor, by the model file that includes it: links across a joint and fixed ones do not touch.
TEST(collision_shapes_of_a_urdf_touch_by_the_model_that_includes_it) {
  Robot x = read_file("tests/urdf/standing.xml", NULL);
  ENSURE_TEXT(said, "");
  // base (box, and a sphere on a fixed link), arm (cylinder), hand (capsule), pad (hull of a mesh): floor with all five; base with hand and pad, each of
  // its two shapes; arm with pad
  ENSURE_EQUAL(x.m->ncontact, 5 + 2 * 2 + 1);
  int hulls = 0;
  for (int i = 0; i < x.m->nshape; i++) hulls += x.m->shape[i].type == SR_SHAPE_HULL;
  ENSURE_EQUAL(hulls, 1);
  // the arms are upright above the middle: the box carries all at the depth m g/K
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  for (int i = 0; i < 9; i++) ENSURE_NEAR(x.d->a[i], 0, 1e-7);
  drop(&x);
}
