// Constraint equations against differences, against joints of a tree, against equilibrium; rank, reactions, refusals.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

// ---- models out of text -----------------------------------------------------------------------------------------------

typedef struct Bench {
  srModel* m;
  srData* d;
} Bench;

static char said[2048];  // all messages of the last load

static void tell(srMessages* messages) {
  size_t used = 0;
  said[0] = 0;
  for (int i = 0; i < sr_messages_count(messages) && used < sizeof said; i++) {
    char line[512];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    used += (size_t)snprintf(said + used, sizeof said - used, "%s\n", line);
  }
  sr_messages_destroy(messages);
}

static bool compile(const char* text, srModel** out) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, out);
  tell(messages);
  srs_destroy(spec);
  return status == SR_OK;
}

static Bench load(const char* format, const char* part) {
  char text[6000];
  Bench bench = {0};
  snprintf(text, sizeof text, format, part);
  const bool good = compile(text, &bench.m);
  if (!good) printf("%s", said);
  ENSURE(good);
  bench.d = sr_data_create(bench.m);
  ENSURE(bench.d != NULL);
  return bench;
}

static void unload(Bench b) {
  sr_data_destroy(b.d);
  sr_model_destroy(b.m);
}

static srStatus assemble(Bench* b) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_assemble(b->m, b->d, messages, NULL);
  tell(messages);
  return status;
}

static bool has_said(const char* words) {
  const bool found = strstr(said, words) != NULL;
  if (!found) printf("not said: %s\n%s", words, said);
  return found;
}

static unsigned seed;
static double random_number(void) {  // [-1, 1)
  seed = seed * 1664525U + 1013904223U;
  return (double)(seed >> 8) / (double)(1U << 23) - 1.0;
}

static void random_state(Bench* b, double amplitude) {
  const srModel* m = b->m;
  double* dxi = calloc((size_t)m->nv + 1, sizeof *dxi);
  for (int i = 0; i < m->nv; i++) dxi[i] = amplitude * random_number();
  sr_retract(m, m->q0, dxi, b->d->q);
  for (int i = 0; i < m->nv; i++) b->d->v[i] = random_number();
  b->d->t = 0.3;
  free(dxi);
}

// g and G v + b at q (+) s v, time t + s.
static void rows_along(Bench* b, const double* q, const double* v, double t, double s, double* g, double* gv) {
  const srModel* m = b->m;
  srData* d = b->d;
  double dxi[64];
  for (int i = 0; i < m->nv; i++) dxi[i] = s * v[i];
  sr_retract(m, q, dxi, d->q);
  memcpy(d->v, v, (size_t)m->nv * sizeof *v);
  d->t = t + s;
  sr_kinematics(m, d);
  sr_velocity(m, d);
  ENSURE_EQUAL(sr_constraints(m, d), 0);
  memcpy(g, d->g, (size_t)m->np * sizeof *g);
  sr_constraint_velocity(m, d, v, gv);
}

// Differences of g along every direction give G, along time b; of G v + b along the motion give -gamma.
static void compare_with_differences(Bench* b, double tolerance) {
  const srModel* m = b->m;
  srData* d = b->d;
  double q[64], v[64], G[64 * 64], rate[64], gamma[64], g1[64], g2[64], r1[64], r2[64], dir[64];
  const double t = d->t, h = 1e-5;
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  memcpy(v, d->v, (size_t)m->nv * sizeof *v);
  sr_kinematics(m, d);
  sr_velocity(m, d);
  ENSURE_EQUAL(sr_constraints(m, d), 0);
  ENSURE_EQUAL(sr_constraint_gamma(m, d), 0);
  sr_constraint_matrix(m, d, G);
  sr_constraint_velocity(m, d, v, rate);
  memcpy(gamma, d->gamma, (size_t)m->ng * sizeof *gamma);
  rows_along(b, q, v, t, h, g2, r2);
  rows_along(b, q, v, t, -h, g1, r1);
  for (int i = 0; i < m->np; i++) ENSURE_NEAR((g2[i] - g1[i]) / (2 * h), rate[i], tolerance);
  for (int i = 0; i < m->ng; i++) ENSURE_NEAR((r2[i] - r1[i]) / (2 * h), -gamma[i], tolerance);
  for (int j = 0; j < m->nv; j++) {  // at fixed time: take what time does out again
    double still[64];
    memset(dir, 0, sizeof dir);
    rows_along(b, q, dir, t, h, g2, r2);
    rows_along(b, q, dir, t, -h, g1, r1);
    for (int i = 0; i < m->np; i++) still[i] = (g2[i] - g1[i]) / (2 * h);
    dir[j] = 1;
    rows_along(b, q, dir, t, h, g2, r2);
    rows_along(b, q, dir, t, -h, g1, r1);
    for (int i = 0; i < m->np; i++) ENSURE_NEAR((g2[i] - g1[i]) / (2 * h) - still[i], G[i * m->nv + j], tolerance);
  }
  memcpy(d->q, q, (size_t)m->nq * sizeof *q);
  memcpy(d->v, v, (size_t)m->nv * sizeof *v);
  d->t = t;
}

// Two branches on a body that moves itself; a weld on one of them.
static const char* const two_branches =
    "<sarrus version='1' name='pair'>"
    "<body name='base'><joint type='free'/><inertial mass='2' com='0.1 0 0.2' inertia='1 2 2.5'/></body>"
    "<body name='a' parent='base'><joint type='ball' at='0.3 0.1 0' rpy='0.2 0.1 0.4'/><inertial mass='1' com='0.2 0.1 "
    "0' "
    "inertia='0.3 0.2 0.4'/></body>"
    "<body name='tip' parent='a'><joint name='w' type='weld' at='0.1 0 0'/><inertial mass='0.5' com='0 0.1 0'/>"
    "<point name='p' at='0.2 0.3 0.1' rpy='0.1 0.2 0.3'/></body>"
    "<body name='c' parent='base'><joint type='universal' at='-0.2 0 0.3' axis='1 0.2 0' axis2='0 0 1'/><inertial "
    "mass='1' "
    "inertia='0.3 0.2 0.4'/></body>"
    "<body name='b' parent='c'><joint type='free'/><inertial mass='0.7' com='0 0 0.3' inertia='0.2 0.2 0.1'/>"
    "<point name='p' at='0.1 -0.2 0.3' rpy='-0.3 0.1 0.2'/></body>"
    "%s</sarrus>";

static void rows_by_differences(const char* part, double amplitude) {
  Bench b = load(two_branches, part);
  seed = 7;
  for (int k = 0; k < 3; k++) {
    random_state(&b, amplitude);
    compare_with_differences(&b, 2e-8);
  }
  unload(b);
}

#define CLOSURE(attributes) "<closure name='x' a='tip/p' b='b/p' " attributes "/>"

TEST(equations_of_a_body_loop_closure_agree_with_differences) { rows_by_differences(CLOSURE("type='body'"), 0.6); }
TEST(equations_of_a_weld_loop_closure_agree_with_differences) { rows_by_differences(CLOSURE("type='weld'"), 0.6); }
TEST(equations_of_a_ball_loop_closure_agree_with_differences) { rows_by_differences(CLOSURE("type='ball'"), 1); }
TEST(equations_of_a_planar_ball_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='ball' normal='1 2 3'"), 1);
}
TEST(equations_of_a_rod_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='rod' length='0.8'"), 1);
}
TEST(equations_of_a_revolute_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='revolute' axis='1 2 -1'"), 1);
}
TEST(equations_of_a_prismatic_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='prismatic' axis='1 2 -1'"), 0.6);
}
TEST(equations_of_a_cylindrical_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='cylindrical' axis='0 1 0'"), 1);
}
TEST(equations_of_a_universal_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='universal' axis='0 1 0.3' axis2='1 0.5 0'"), 1);
}
TEST(equations_of_a_planar_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='planar' axis='0 1 2'"), 1);
}
TEST(equations_of_a_helical_loop_closure_agree_with_differences) {
  rows_by_differences(CLOSURE("type='helical' pitch='0.4' axis='0 1 2'"), 0.4);
}
TEST(rows_of_a_point_on_a_line_agree_with_differences) {
  rows_by_differences(CLOSURE("type='point-line' axis='0 1 2'"), 1);
}
TEST(rows_of_a_point_on_a_plane_agree_with_differences) {
  rows_by_differences(CLOSURE("type='point-plane' axis='0 1 2'"), 1);
}
TEST(rows_of_a_rolling_disc_agree_with_differences) {
  rows_by_differences(CLOSURE("type='roll' radius='0.4' axis='1 0.1 0'"), 0.4);
}
TEST(rows_of_a_rolling_sphere_agree_with_differences) { rows_by_differences(CLOSURE("type='roll' radius='0.4'"), 1); }
TEST(rows_by_formula_agree_with_differences) {
  rows_by_differences(
      "<sensor name='s' point='tip/p' relative-to='b/p'/>"
      "<sensor name='f' expr='q(c,0)^2 + t*q(c,1)'/>"
      "<constraint expr='sensor(s,x)^2*sensor(s,rxy) + t*sensor(s,y) = sin(3*t)'/>"
      "<constraint expr='sensor(f) + q(a,1)*q(a,2) + q(base,0)*q(base,4) + sensor(s,rzz)'/>",
      1);
}
TEST(velocity_constraints_by_formula_agree_with_differences) {
  rows_by_differences(
      "<sensor name='s' point='tip/p' relative-to='b/p'/>"
      "<constraint velocity='sensor(s,vx)*q(c,0) + sensor(s,wz)*sensor(s,rxy) + sin(t)*v(a,1) = t^2'/>"
      "<constraint velocity='v(c,0)*cos(q(c,1)) - q(a,2)*v(base,4) + sensor(s,vy)/(2+sensor(s,z)^2)'/>",
      1);
}
TEST(rows_of_couplings_and_drivers_agree_with_differences) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint type='revolute'/><inertial mass='1' com='1 0 0'/></body>"
      "<body name='b' parent='a'><joint type='prismatic'/><inertial mass='1'/></body>"
      "<coupling joint='a' to='b' ratio='2.5' offset='0.1'/><driver joint='b' motion='sin(2*t)'/>%s</sarrus>",
      "");
  random_state(&b, 1);
  compare_with_differences(&b, 2e-8);
  ENSURE_NEAR(b.d->g[0], 0, 10);
  unload(b);
}

// ---- loop closures against joints -----------------------------------------------------------------------------------

typedef struct Kind {
  const char *type, *attributes;
  int rows;
} Kind;
static const Kind kinds[] = {{"revolute", "axis='1 2 -1'", 5},
                             {"prismatic", "axis='1 2 -1'", 5},
                             {"cylindrical", "axis='1 2 -1'", 4},
                             {"universal", "axis='1 2 -1' axis2='0.3 1 1'", 4},
                             {"planar", "axis='1 2 -1'", 3},
                             {"helical", "axis='1 2 -1' pitch='0.3'", 5},
                             {"ball", "", 3}};
#define KINDS (int)(sizeof kinds / sizeof kinds[0])

#define FRAME "at='0.3 0.1 0.2' rpy='0.3 -0.2 0.5'"
#define INERTIAL "<inertial mass='1.5' com='0.2 0.1 -0.3' inertia='0.3 0.2 0.4 0.01 0.02 -0.03'/>"

// Closing a joint once more changes nothing: all equations vanish, none is independent.
TEST(a_joint_that_is_closed_again_gives_equations_that_are_all_zero) {
  for (int k = 0; k < KINDS; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='a'><joint type='free'/><inertial mass='1' inertia='1 1 1'/>"
             "<point name='p' " FRAME "/></body><body name='b' parent='a'><joint name='j' type='%s' %s " FRAME
             "/>" INERTIAL "</body><closure name='again' type='%s' %s a='a/p' b='b'/>%%s</sarrus>",
             kinds[k].type, kinds[k].attributes, kinds[k].type, kinds[k].attributes);
    Bench b = load(text, "");
    seed = 3;
    for (int n = 0; n < 3; n++) {
      random_state(&b, 2);
      srRank* rank = NULL;
      ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
      ENSURE_EQUAL(b.m->np, kinds[k].rows);
      for (int i = 0; i < b.m->np; i++) ENSURE_SMALL(b.d->g[i], 1e-13);
      for (int i = 0; i < b.m->G_start[b.m->ng]; i++) ENSURE_SMALL(b.d->G[i], 1e-13);
      for (int i = 0; i < b.m->np; i++) ENSURE_SMALL(b.d->gamma[i], 1e-12);
      ENSURE_EQUAL(sr_rank_create(b.m, b.d, &rank), SR_OK);
      ENSURE_EQUAL(rank->rank, 0);
      ENSURE_EQUAL(rank->nredundant, kinds[k].rows);
      sr_rank_destroy(rank);
    }
    unload(b);
  }
}

// A free body held by a loop closure moves as a body on that joint: the same accelerations, the same reaction.
TEST(a_free_body_on_a_loop_closure_moves_like_a_body_on_the_joint) {
  for (int k = 0; k < KINDS; k++) {
    char text[2000];
    const char* base =
        "<sarrus version='1'><body name='a'><joint name='ja' type='revolute' axis='0 1 1' at='0 0 1'/><inertial "
        "mass='1' "
        "com='0.1 0 0' inertia='1 1 1'/><point name='p' " FRAME "/></body>";
    snprintf(text, sizeof text,
             "%s<body name='b' parent='a'><joint name='j' type='%s' %s " FRAME "/>" INERTIAL "</body>%%s</sarrus>",
             base, kinds[k].type, kinds[k].attributes);
    Bench tree = load(text, "");
    snprintf(text, sizeof text,
             "%s<body name='b'><joint name='j' type='free'/>" INERTIAL
             "</body><closure type='%s' %s a='a/p' b='b'/>%%s</sarrus>",
             base, kinds[k].type, kinds[k].attributes);
    Bench loop = load(text, "");
    seed = 11;
    random_state(&tree, 1.5);
    ENSURE_EQUAL(sr_forward(tree.m, tree.d, SR_TAU_ELEMENT), 0);
    sr_acceleration(tree.m, tree.d);
    srFrameMotion x, y;
    const int body = sr_body_find(tree.m, "b");
    sr_frame_motion(tree.m, tree.d, body, 0, &x);

    // the same state in coordinates of the free body
    double* q = loop.d->q;
    q[0] = tree.d->q[0];
    loop.d->v[0] = tree.d->v[0];
    memcpy(q + 1, x.position, sizeof x.position);
    const double* R = x.rotation;
    const double w = 0.5 * sqrt(fmax(0, 1 + R[0] + R[4] + R[8]));
    ENSURE(w > 0.1);
    q[4] = w;
    q[5] = (R[7] - R[5]) / (4 * w);
    q[6] = (R[2] - R[6]) / (4 * w);
    q[7] = (R[3] - R[1]) / (4 * w);
    for (int i = 0; i < 3; i++) {
      loop.d->v[1 + i] = loop.d->v[4 + i] = 0;
      for (int j = 0; j < 3; j++) {
        loop.d->v[1 + i] += R[3 * j + i] * x.angular_velocity[j];
        loop.d->v[4 + i] += R[3 * j + i] * x.velocity[j];
      }
    }
    ENSURE_EQUAL(sr_forward(loop.m, loop.d, SR_TAU_ELEMENT), 0);
    double rate[8];
    sr_constraint_velocity(loop.m, loop.d, loop.d->v, rate);
    for (int i = 0; i < loop.m->np; i++) ENSURE_SMALL(loop.d->g[i], 1e-13);
    for (int i = 0; i < loop.m->np; i++) ENSURE_SMALL(rate[i], 1e-13);
    ENSURE_NEAR(loop.d->a[0], tree.d->a[0], 1e-11);
    sr_acceleration(loop.m, loop.d);
    sr_frame_motion(loop.m, loop.d, body, 0, &y);
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(x.acceleration[i], y.acceleration[i], 1e-10);
      ENSURE_NEAR(x.angular_acceleration[i], y.angular_acceleration[i], 1e-10);
    }
    // The reaction of the joint that carries all is the same; the free joint transmits nothing.
    double tree_reaction[12], loop_reaction[12];
    ENSURE_EQUAL(sr_reactions(tree.m, tree.d, tree_reaction), 0);
    ENSURE_EQUAL(sr_reactions(loop.m, loop.d, loop_reaction), 0);
    for (int i = 0; i < 6; i++) ENSURE_NEAR(tree_reaction[i], loop_reaction[i], 1e-10);
    for (int i = 6; i < 12; i++) ENSURE_SMALL(loop_reaction[i], 1e-10);
    unload(tree);
    unload(loop);
  }
}

// ---- signs ---------------------------------------------------------------------------------------------------------------

TEST(the_multiplier_of_a_rod_is_its_compression) {
  Bench b = load(
      "<sarrus version='1'><body name='m'><joint type='prismatic' axis='0 0 1' q='0.5'/><inertial mass='3'/></body>"
      "<closure type='rod' a='ground' b='m' length='0.5'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->lambda[0], 3 * 9.81, 1e-12);
  unload(b);
}

TEST(the_multiplier_of_a_ball_is_the_force_of_the_second_on_the_first) {
  Bench b = load(
      "<sarrus version='1'><body name='m'><joint type='free'/><inertial mass='3' inertia='1 1 1'/></body>"
      "<closure type='ball' a='m' b='ground'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->lambda[0], 0, 1e-12);
  ENSURE_NEAR(b.d->lambda[2], 3 * 9.81, 1e-12);
  unload(b);
}

// The equations are in the axes of the youngest common ancestor: here a body that is turned by 90 degrees about x.
TEST(the_multiplier_of_a_ball_is_in_the_axes_of_the_common_ancestor) {
  Bench b = load(
      "<sarrus version='1'><body name='base'><joint type='prismatic' axis='1 0 0' rpy='pi/2 0 0'/>"
      "<inertial mass='1'/></body>"
      "<body name='fixed' parent='base'><joint type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<body name='m' parent='base'><joint type='free'/><inertial mass='3' inertia='1 1 1'/></body>"
      "<closure type='ball' a='m' b='fixed'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->lambda[1], 3 * 9.81, 1e-12);  // y of the base points up
  ENSURE_NEAR(b.d->lambda[2], 0, 1e-12);
  unload(b);
}

TEST(a_rolling_sphere_is_carried_by_the_plane) {
  Bench b = load(
      "<sarrus version='1'><body name='s'><joint type='free' q='0 0 0.2 1 0 0 0'/><inertial mass='3' "
      "inertia='0.05 0.05 0.05'/></body><closure type='roll' a='s' b='ground' radius='0.2'/>%s</sarrus>",
      "");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->lambda[0], 3 * 9.81, 1e-12);
  ENSURE_EQUAL(b.m->np, 1);
  ENSURE_EQUAL(b.m->ng, 3);
  unload(b);
}

// ---- the equations as a whole ------------------------------------------------------------------------------------------------

static double kkt_residual(Bench* b) {
  const srModel* m = b->m;
  srData* work = sr_data_create(m);
  const size_t n = (size_t)m->nv;
  double *M = calloc(n * n, sizeof *M), *c = calloc(n, sizeof *c), *zero = calloc(n, sizeof *zero), worst = 0;
  ENSURE_EQUAL(sr_forward(m, b->d, SR_TAU_ELEMENT), 0);
  sr_rnea(m, work, b->d->q, b->d->v, zero, c);
  sr_crba(m, work, b->d->q, M);
  for (size_t i = 0; i < n; i++) {
    c[i] = c[i] - b->d->f[i] + m->dof_armature[i] * b->d->a[i];
    for (size_t j = 0; j < n; j++) c[i] += M[i * n + j] * b->d->a[j];
  }
  for (int i = 0; i < m->ng; i++) b->d->lambda[i] = -b->d->lambda[i];
  sr_constraint_force(m, b->d, b->d->lambda, c);
  for (int i = 0; i < m->ng; i++) b->d->lambda[i] = -b->d->lambda[i];
  for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(c[i]));
  worst = fmax(worst, b->d->row_residual);
  free(M);
  free(c);
  free(zero);
  sr_data_destroy(work);
  return worst;
}

TEST(accelerations_and_multipliers_satisfy_the_equations) {
  static const char* const parts[] = {CLOSURE("type='body'"), CLOSURE("type='revolute'"), CLOSURE("type='ball'"),
                                      CLOSURE("type='roll' radius='0.4' axis='1 0 0'"),
                                      CLOSURE("type='universal' axis2='1 0 0'") "<torque joint='c' law='3-v(c,0)'/>"
                                      "<link a='tip/p' b='ground' law='-10*(z-1)'/>",
                                      CLOSURE("type='rod' length='1'") "<constraint expr='q(c,0) - 2*q(c,1) - t'/>"};
  for (int k = 0; k < (int)(sizeof parts / sizeof parts[0]); k++) {
    Bench b = load(two_branches, parts[k]);
    seed = 5;
    random_state(&b, 0.5);
    ENSURE_SMALL(kkt_residual(&b), 1e-10);
    unload(b);
  }
}

// A massless rod with two ball ends is a loop closure of type rod: M is singular, the system is not.
TEST(bodies_without_mass_are_allowed_where_loops_carry_them) {
  Bench massless = load(
      "<sarrus version='1'><body name='link'><joint name='x' type='revolute' axis='0 1 0' q='pi/6'/></body>"
      "<body name='m'><joint type='planar' axis='0 1 0' q='-cos(pi/6) sin(pi/6) 0'/>"
      "<inertial mass='2' inertia='0.5 0.5 0.5'/></body><body name='end' parent='link'><joint name='e' type='weld'"
      " at='0 0 -1'/></body><closure type='ball' normal='0 1 0' a='end' b='m'/>%s</sarrus>",
      "");
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(massless.m, massless.d, NULL, &assembly), SR_OK);
  ENSURE_EQUAL(sr_forward(massless.m, massless.d, SR_TAU_ELEMENT), 0);
  srFrameMotion x;
  sr_acceleration(massless.m, massless.d);
  sr_frame_motion(massless.m, massless.d, sr_body_find(massless.m, "m"), 0, &x);
  const double along = -x.position[0] * x.acceleration[0] - x.position[2] * x.acceleration[2];
  const double across = x.position[2] * x.acceleration[0] - x.position[0] * x.acceleration[2];
  ENSURE_SMALL(along, 1e-10);  // at rest: no acceleration along the rod
  ENSURE_NEAR(across, 9.81 * x.position[0], 1e-10);
  unload(massless);
}

// Reactions project to the force that works on the coordinate: nothing but what laws and drives give.
TEST(reactions_project_to_the_forces_on_the_coordinates) {
  Bench b = load(
      "<sarrus version='1'>"
      "<body name='a'><joint name='ja' type='revolute' axis='0 1 0'/>" INERTIAL
      "<point name='p' at='1 0 0'/></body>"
      "<body name='w' parent='a'><joint name='jw' type='weld' at='0.5 0 0'/>" INERTIAL
      "</body>"
      "<body name='c' parent='w'><joint name='jc' type='prismatic' axis='1 0 0' stiffness='50' damping='2'/>" INERTIAL
      "</body><body name='m'><joint name='jm' type='free' q='1 0 0 1 0 0 0'/>" INERTIAL
      "</body>"
      "<closure type='ball' a='a/p' b='m'/><torque joint='ja' law='4'/><force body='w' f='1 2 3' m='0 1 0'/>"
      "<link a='c' b='ground' law='-10*z'/>%s</sarrus>",
      "");
  seed = 9;
  random_state(&b, 0.3);
  double r[24];
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_reactions(b.m, b.d, r), 0);
  const double *ja = r + 6 * sr_joint_find(b.m, "ja"), *jc = r + 6 * sr_joint_find(b.m, "jc");
  const double* jm = r + 6 * sr_joint_find(b.m, "jm");
  ENSURE_NEAR(ja[1], 4, 1e-10);
  ENSURE_NEAR(jc[3], -50 * b.d->q[1] - 2 * b.d->v[1], 1e-10);
  for (int i = 0; i < 6; i++) ENSURE_SMALL(jm[i], 1e-10);
  double one[6];
  ENSURE_EQUAL(sr_joint_reaction(b.m, b.d, sr_joint_find(b.m, "jc"), one), 0);
  for (int i = 0; i < 6; i++) ENSURE_NEAR(one[i], jc[i], 0);
  unload(b);
}

// ---- rank ----------------------------------------------------------------------------------------------------------------------

static void swap(double* a, double* b) {
  const double c = *a;
  *a = *b;
  *b = c;
}

// Brings the largest entry of what is left to (k, k), rows and columns exchanged; returns its size.
static double pivot(double* A, int rows, int columns, int k) {
  int r = k, c = k;
  for (int i = k; i < rows; i++) {
    for (int j = k; j < columns; j++) {
      if (fabs(A[i * columns + j]) > fabs(A[r * columns + c])) {
        r = i;
        c = j;
      }
    }
  }
  for (int j = 0; j < columns; j++) swap(&A[k * columns + j], &A[r * columns + j]);
  for (int i = 0; i < rows; i++) swap(&A[i * columns + k], &A[i * columns + c]);
  return fabs(A[k * columns + k]);
}

// Gauss with full pivoting, A destroyed.
static int rank_by_elimination(double* A, int rows, int columns) {
  double first = 0;
  int k = 0;
  for (; k < rows && k < columns; k++) {
    const double size = pivot(A, rows, columns, k);
    if (k == 0) first = size;
    if (!(size > 1e-9 * first)) return k;
    for (int i = k + 1; i < rows; i++) {
      const double factor = A[i * columns + k] / A[k * columns + k];
      for (int j = k; j < columns; j++) A[i * columns + j] -= factor * A[k * columns + j];
    }
  }
  return k;
}

// The rank of the equations that are not left out.
static int rank_without(const Bench* b, const unsigned char* out) {
  const srModel* m = b->m;
  double* G = calloc((size_t)m->ng * (size_t)m->nv + 1, sizeof *G);
  int n = 0;
  sr_constraint_matrix(m, b->d, G);
  for (int i = 0; i < m->ng; i++) {
    if (out[i]) continue;
    memmove(G + n * m->nv, G + i * m->nv, (size_t)m->nv * sizeof *G);
    n++;
  }
  const int rank = rank_by_elimination(G, n, m->nv);
  free(G);
  return rank;
}

TEST(redundant_constraints_are_named_and_can_be_left_out) {
  Bench b =
      load("<sarrus version='1'><body name='arm'><joint type='revolute' axis='0 1 0'/>" INERTIAL
           "<point name='p' at='1 0 0'/></body><body name='m'><joint type='planar' axis='0 1 0' q='0 1 0'/>" INERTIAL
           "</body><closure name='pin' type='ball' a='arm/p' b='m'/>"
           "<closure name='again' type='ball' normal='0 1 0' a='arm/p' b='m'/>"
           "<closure name='rod' type='rod' length='1' a='ground' b='m'/>%s</sarrus>",
           "");
  srRank* rank = NULL;
  unsigned char out[8] = {0};
  ENSURE_EQUAL(sr_assemble(b.m, b.d, NULL, NULL), SR_OK);
  ENSURE_EQUAL(sr_rank_create(b.m, b.d, &rank), SR_OK);
  ENSURE_EQUAL(b.m->ng, 6);
  ENSURE_EQUAL(rank->rank, 2);
  ENSURE_EQUAL(rank->nredundant, 4);
  ENSURE_TEXT(b.m->row[rank->redundant[0]].name, "closure pin, translation along y");
  ENSURE_TEXT(b.m->row[rank->redundant[1]].name, "closure again, translation along z");
  ENSURE_TEXT(b.m->row[rank->redundant[3]].name, "closure rod, length");
  for (int i = 0; i < rank->nredundant; i++) out[rank->redundant[i]] = 1;
  ENSURE_EQUAL(rank_without(&b, out), rank->rank);
  out[rank->set[rank->set_start[1] + 1]] = 1;  // one of the equations that are needed
  ENSURE_EQUAL(rank_without(&b, out), rank->rank - 1);
  ENSURE(rank->unique[0] == 0);
  sr_rank_destroy(rank);
  unload(b);
}

// Two parallel pins share a load: the least norm halves it, and both are flagged; the vertical one alone is unique.
TEST(multipliers_of_redundant_constraints_have_least_norm_and_are_flagged) {
  Bench b = load(
      "<sarrus version='1'><body name='m'><joint type='prismatic' axis='0 0 1'/><inertial mass='4'/></body>"
      "<closure name='one' type='point-plane' a='ground' b='m'/>"
      "<closure name='two' type='point-plane' a='ground' b='m'/>%s</sarrus>",
      "");
  srRank* rank = NULL;
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->lambda[0], 2 * 9.81, 1e-10);
  ENSURE_NEAR(b.d->lambda[1], 2 * 9.81, 1e-10);
  ENSURE_EQUAL(sr_rank_create(b.m, b.d, &rank), SR_OK);
  ENSURE_EQUAL(rank->rank, 1);
  ENSURE(!rank->unique[0] && !rank->unique[1]);
  sr_rank_destroy(rank);
  unload(b);
}

// A beam on three supports, one of them on a post, and a stop on another post: what the supports carry is not unique, what the
// stop carries is; likewise the welds of the two posts and the joint of the beam.
TEST(multipliers_and_reactions_are_unique_where_no_redundant_equation_reaches_them) {
  Bench b = load(
      "<sarrus version='1'><body name='post'><joint name='jp' type='weld' at='0 0 -1'/><point name='top' at='0 0 "
      "1'/></body>"
      "<body name='wall'><joint name='jw' type='weld' at='0 0 -2'/><point name='top' at='0 0 2'/></body>"
      "<body name='beam'><joint name='jb' type='planar' axis='0 1 0'/><inertial mass='6' com='1 0 0' inertia='1 1 1'/>"
      "<point name='p' at='1 0 0'/><point name='e' at='2 0 0'/></body><force body='beam' f='5 0 0'/>"
      "<closure name='one' type='point-plane' a='post/top' b='beam'/>"
      "<closure name='two' type='point-plane' a='ground' b='beam/p'/>"
      "<closure name='three' type='point-plane' a='ground' b='beam/e'/>"
      "<closure name='stop' type='point-plane' axis='1 0 0' a='wall/top' b='beam'/>%s</sarrus>",
      "");
  srRank* rank = NULL;
  unsigned char unique[3];
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(b.d->lambda[i], 2 * 9.81, 1e-10);
  ENSURE_NEAR(b.d->lambda[3], -5, 1e-10);
  ENSURE_EQUAL(sr_rank_create(b.m, b.d, &rank), SR_OK);
  ENSURE_EQUAL(rank->rank, 3);
  for (int i = 0; i < 3; i++) ENSURE(!rank->unique[i]);
  ENSURE(rank->unique[3]);
  sr_reactions_unique(b.m, b.d, rank, unique);
  ENSURE(!unique[sr_joint_find(b.m, "jp")]);
  ENSURE(unique[sr_joint_find(b.m, "jw")]);
  ENSURE(unique[sr_joint_find(b.m, "jb")]);
  sr_rank_destroy(rank);
  unload(b);
}

// ---- assembly ------------------------------------------------------------------------------------------------------------------

// A body that starts upside down: tilt equations vanish there too, but the hinge is the other way round.
TEST(a_loop_closure_is_not_closed_with_its_axis_reversed) {
  static const char* const types[] = {"type='revolute'", "type='cylindrical'", "type='planar'",
                                      "type='helical' pitch='0.1'"};
  static const char* const starts[] = {"0 0 0 cos(1.55) sin(1.55) 0 0", "0 0 0 0 1 0 0", "0 0 0 0 0.6 0.8 0",
                                       "0.1 0 0 cos(0.9) sin(0.9) 0 0"};
  for (int k = 0; k < 16; k++) {
    char part[1000];
    snprintf(part, sizeof part,
             "<body name='m'><joint type='free' q='%s'/>" INERTIAL
             "<point name='p' at='1 0 0'/></body><body name='n' parent='m'><joint type='ball' at='1 0 0' q='0 0 1 "
             "0'/>" INERTIAL "</body><closure %s a='ground' b='m'/><closure type='revolute' a='m/p' b='n'/>",
             starts[k / 4], types[k % 4]);
    Bench b = load("<sarrus version='1'>%s</sarrus>", part);
    srFrameMotion x, y;
    ENSURE_EQUAL(assemble(&b), SR_OK);
    sr_kinematics(b.m, b.d);
    sr_frame_motion(b.m, b.d, sr_body_find(b.m, "m"), 0, &x);
    sr_frame_motion(b.m, b.d, sr_body_find(b.m, "n"), sr_body_find(b.m, "m"), &y);
    ENSURE_NEAR(x.rotation[8], 1, 1e-12);
    ENSURE_NEAR(y.rotation[8], 1, 1e-12);
    unload(b);
  }
}

TEST(a_loop_closure_that_fits_only_with_its_axis_reversed_is_refused) {
  const char* text =
      "<sarrus version='1'><body name='m'><joint type='revolute'/>" INERTIAL
      "<point name='p' rpy='%s 0 0'/></body>\n<closure name='hinge' type='revolute' a='ground' b='m/p'/></sarrus>";
  Bench b = load(text, "pi");
  ENSURE_EQUAL(assemble(&b), SR_INPUT);
  ENSURE(has_said("test:2:1: error: closure hinge can be closed only with its axis reversed"));
  unload(b);
  b = load(text, "0");
  ENSURE_EQUAL(assemble(&b), SR_OK);
  unload(b);
}

TEST(a_disc_that_starts_flat_is_refused_and_one_upright_is_not) {
  const char* text =
      "<sarrus version='1'><body name='d'><joint type='free' q='0 0 0.1 cos(%s) sin(%s) 0 0'/><inertial mass='1' "
      "inertia='1 1 2'/></body>\n<closure name='wheel' type='roll' a='d' b='ground' axis='0 0 1' "
      "radius='0.1'/></sarrus>";
  static const char* const angle[] = {"0", "pi/2", "0.01", "pi/4"};  // half of what it is turned by
  for (int k = 0; k < 4; k++) {
    char whole[1000];
    snprintf(whole, sizeof whole, text, angle[k], angle[k]);
    Bench b = load("%s", whole);
    const double start = b.d->q[3];
    ENSURE_EQUAL(assemble(&b), k < 2 ? SR_INPUT : SR_OK);
    if (k < 2)
      ENSURE(has_said(
          "test:2:1: error: closure 'wheel' has no constraint equations here: its disc lies flat on the plane"));
    if (k < 2) ENSURE_NEAR(b.d->q[3], start, 0);
    unload(b);
  }
}

TEST(an_equation_without_a_value_at_the_start_is_reported_to_have_none) {
  const char* text = "<sarrus version='1'><body name='a'><joint type='revolute' q='%s'/>" INERTIAL
                     "</body>\n<constraint name='root' expr='sqrt(q(a)) - 1'/></sarrus>";
  Bench b = load(text, "-0.5");
  ENSURE_EQUAL(assemble(&b), SR_INPUT);
  ENSURE(has_said("test:2:1: error: constraint root has no value at the start"));
  unload(b);
  b = load(text, "0.5");
  ENSURE_EQUAL(assemble(&b), SR_OK);
  ENSURE_NEAR(b.d->q[0], 1, 1e-12);
  unload(b);
}

TEST(a_body_without_inertia_that_is_free_in_a_loop_is_named) {
  const char* text =
      "<sarrus version='1'><body name='a'><joint type='revolute' axis='0 1 0'/>" INERTIAL
      "</body><body name='unused' parent='a'><joint type='ball' at='1 0 0'/>%s</body>"
      "<body name='c'><joint type='free' q='2 0 0 1 0 0 0'/>" INERTIAL
      "</body><closure type='ball' a='a' b='ground'/><closure type='rod' length='2' a='ground' b='c'/></sarrus>";
  Bench b = load(text, "");
  ENSURE_EQUAL(b.m->nmassless, 3);  // no loop closure holds it: named when it is compiled
  ENSURE_EQUAL(b.m->dof_massless[1], 2);
  unload(b);
  b = load(text, INERTIAL);
  ENSURE_EQUAL(b.m->nmassless, 0);
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  unload(b);
}

// cos q = 1/2 from q = 0, where its derivative is zero: the start is perturbed, except coordinates that no equation depends on.
TEST(a_start_with_zero_derivative_is_perturbed) {
  Bench b = load("<sarrus version='1'><body name='unused'><joint type='revolute'/>" INERTIAL
                 "</body><body name='a'><joint name='a' type='revolute'/>" INERTIAL "</body>%s</sarrus>",
                 "<constraint expr='cos(q(a)) - 0.5'/>");
  ENSURE_EQUAL(assemble(&b), SR_OK);
  ENSURE_NEAR(fabs(b.d->q[1]), acos(0.5), 1e-12);
  ENSURE_NEAR(b.d->q[0], 0, 0);
  unload(b);
}

TEST(the_assembly_names_the_first_six_coordinates_that_it_has_changed) {
  for (int n = 6; n < 9; n++) {
    char text[2400] = "<sarrus version='1'>", expected[100];
    for (int k = 0; k < n; k++) {
      const size_t used = strlen(text);
      snprintf(text + used, sizeof text - used,
               "<body name='b%d'><joint name='j%d' type='prismatic' axis='1 0 0'/>" INERTIAL
               "</body><constraint expr='q(j%d) - 0.5'/>",
               k, k, k);
    }
    Bench b = load("%s</sarrus>", text);
    ENSURE_EQUAL(assemble(&b), SR_OK);
    snprintf(expected, sizeof expected, "note: the assembly has changed the positions of %d coordinates: j0 by 0.5, j1",
             n);
    ENSURE(has_said(expected));
    ENSURE(has_said(n == 6 ? "j5 by 0.5\n" : "j5 by 0.5, ...\n"));
    unload(b);
  }
}

// ---- refusals ------------------------------------------------------------------------------------------------------------------

static bool take(const char* part) {
  char text[4000];
  srModel* m = NULL;
  snprintf(text, sizeof text,
           "<sarrus version='1'><body name='a'><joint type='revolute'/>" INERTIAL
           "</body><body name='b'><joint "
           "type='universal' axis2='1 0 0'/>" INERTIAL
           "</body><state name='y' rate='1'/><sensor name='s' point='a'/>%s"
           "</sarrus>",
           part);
  const bool good = compile(text, &m);
  sr_model_destroy(m);
  return good;
}

static void refuse(const char* part, const char* words) {
  ENSURE(!take(part));
  ENSURE(has_said(words));
}

// Taken without a word.
static void accept(const char* part) {
  const bool good = take(part);
  if (!good || said[0]) printf("%s", said);
  ENSURE(good && !said[0]);
}

TEST(wrong_constraints_are_refused_with_a_sentence) {
  refuse("<closure type='rod' a='a' b='b'/>", "a rod needs its 'length'");
  refuse("<closure type='rod' a='a' b='b' length='0'/>", "must be greater than zero");
  refuse("<closure type='bal' a='a' b='b'/>", "did you mean 'ball'");
  refuse("<closure type='helical' a='a' b='b'/>", "needs 'pitch'");
  refuse("<closure type='universal' a='a' b='b'/>", "needs 'axis2'");
  refuse("<closure type='universal' axis='1 0 0' axis2='2 0 0' a='a' b='b'/>", "must not be parallel");
  refuse("<closure type='roll' a='a' b='b'/>", "needs the 'radius'");
  refuse("<closure type='roll' shape='disc' radius='1' a='a' b='b'/>", "needs its 'axis'");
  refuse("<closure type='ball' a='a' b='a'/>", "cannot move against each other");
  refuse("<closure type='ball' a='a' b='q'/>", "unknown point 'q'");
  refuse("<closure type='revolute' axis='0 0 0' a='a' b='b'/>", "must not be zero");
  refuse("<closure name='x' type='ball' a='a' b='b'/><closure name='x' type='ball' a='a' b='b'/>", "'x'");
  refuse("<coupling joint='a' to='b'/>", "ties joints with one coordinate");
  refuse("<coupling joint='a' to='a'/>", "cannot be coupled to itself");
  refuse("<coupling joint='a' to='c'/>", "unknown joint 'c'");
  refuse("<constraint expr='q(a)' velocity='v(a)'/>", "takes either 'expr' or 'velocity'");
  refuse("<constraint expr='q(a) - v(a)'/>", "belongs in 'velocity'");
  refuse("<constraint expr='q(a) - sensor(s,vx)'/>", "belongs in 'velocity'");
  refuse("<constraint expr='q(a) - y'/>", "cannot contain states");
  refuse("<constraint expr='t = 1'/>", "depends on nothing that moves");
  refuse("<constraint velocity='v(a)^2'/>", "linear in the velocities");
  refuse("<constraint velocity='q(a)'/>", "depends on nothing that moves");
  refuse("<constraint expr='q(a) = nothing'/>", "nothing");
}

TEST(velocity_formulas_that_are_linear_only_piece_by_piece_are_refused) {
  refuse("<constraint velocity='abs(v(a)) - 1'/>", "must be linear in the velocities");
  refuse("<constraint velocity='max(v(a), v(b,0)) - 1'/>", "a velocity appears in max()");
  refuse("<constraint velocity='min(v(a), 2) - 1'/>", "a velocity appears in min()");
  refuse("<constraint velocity='if(v(a) &gt; 0, v(a), 2*v(a)) - 1'/>", "a velocity appears in if()");
  refuse("<constraint velocity='v(b,0) + if(v(a) &gt; 0, 1, 2)'/>", "a velocity appears in if()");
  refuse("<constraint velocity='floor(sensor(s,vx)) + v(a)'/>", "a velocity appears in floor()");
  refuse("<constraint velocity='mod(v(a), 2)'/>", "a velocity appears in floor() or mod()");
  refuse("<constraint velocity='sign(v(a)) + v(b,0)'/>", "a velocity appears in sign()");
  refuse("<constraint velocity='step(v(a)) + v(b,0)'/>", "a velocity appears in step()");
  refuse("<constraint velocity='v(b,0)*(v(a) &lt; 1)'/>", "a velocity appears in a comparison");
  accept("<constraint velocity='abs(q(a))*v(a) = max(t, 1)'/>");
  accept("<constraint velocity='v(a) - if(q(a) &gt; 0, 1, 2)'/>");
  accept("<constraint velocity='v(a)*sign(q(a)) + floor(t)*v(b,0)'/>");
}

TEST(position_formulas_that_jump_or_never_change_are_refused) {
  refuse("<constraint expr='floor(q(a)) - 1'/>", "a coordinate appears in floor()");
  refuse("<constraint expr='q(b,0) + mod(q(a), 1)'/>", "a coordinate appears in floor() or mod()");
  refuse("<constraint expr='q(a) = sign(q(b,0))'/>", "a coordinate appears in sign()");
  refuse("<constraint expr='q(a) + step(sensor(s,x))'/>", "a coordinate appears in step()");
  refuse("<constraint expr='q(a) = (q(b,0) &gt; 1)'/>", "a coordinate appears in a comparison");
  refuse("<constraint expr='if(q(a) &gt; 0, 1, 2) = t'/>", "does not change with any coordinate");
  accept("<constraint expr='abs(q(a)) = max(q(b,0), 0.1)'/>");
  accept("<constraint expr='if(q(a) &gt; 0, q(a), 2*q(a)) = t'/>");
  accept("<constraint expr='q(a) = floor(t) + step(t)'/>");
}

TEST(a_constraint_is_written_with_one_equals_sign) {
  refuse("<constraint expr='q(a) == 1'/>", "a constraint is written left = right");
  refuse("<constraint expr='(q(a) == 1)'/>", "a constraint is written left = right");
  refuse("<constraint expr='q(a) &lt;= 1'/>", "a constraint is written left = right");
  refuse("<constraint expr='q(a) != 1'/>", "a constraint is written left = right");
  refuse("<constraint velocity='v(a) &gt; 1'/>", "a constraint is written left = right");
  refuse("<constraint expr='q(a) = t == 1'/>", "a constraint is written left = right");
  accept("<constraint expr='q(a) = 1'/>");
  accept("<constraint expr='if(q(a) == 1, q(a), 2*q(a)) = if(t &lt;= 1, 0, 1)'/>");
  accept("<constraint velocity='v(a) = if(t &gt;= 1, 0, 1)'/>");
}

TEST(attributes_that_a_loop_closure_does_not_use_are_reported) {
  static const struct {
    const char *type, *given, *said;
  } cases[] = {{"ball", "pitch='1'", "'pitch' does nothing: a closure of type 'ball'"},
               {"ball", "axis='1 0 0'", "'axis' does nothing: a closure of type 'ball'"},
               {"revolute", "radius='1'", "'radius' does nothing"},
               {"revolute", "normal='1 0 0'", "'normal' does nothing"},
               {"weld", "length='1'", "'length' does nothing: a closure of type 'weld'"},
               {"cylindrical", "axis2='1 0 0'", "'axis2' does nothing"},
               {"planar", "shape='disc'", "'shape' does nothing"},
               {"roll", "shape='sphere' radius='1' axis='1 0 0'", "'axis' does nothing: a sphere has none"},
               {"ball", "normal='1 0 0'", NULL},
               {"revolute", "axis='1 0 0'", NULL},
               {"distance", "length='1'", NULL},
               {"rod", "length='1'", NULL},
               {"helical", "pitch='1' axis='1 0 0'", NULL},
               {"universal", "axis='1 0 0' axis2='0 1 0'", NULL},
               {"point-line", "axis='1 0 0'", NULL},
               {"roll", "shape='sphere' radius='1'", NULL},
               {"roll", "shape='disc' radius='1' axis='1 0 0'", NULL}};
  for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
    char part[200];
    snprintf(part, sizeof part, "<closure type='%s' %s a='a' b='b'/>", cases[k].type, cases[k].given);
    ENSURE(take(part));
    if (cases[k].said) {
      ENSURE(has_said("warning"));
      ENSURE(has_said(cases[k].said));
    } else {
      ENSURE_TEXT(said, "");
    }
  }
}

TEST(a_loop_closure_without_a_name_and_one_named_by_its_number_are_not_mixed_up) {
  refuse("<closure type='ball' a='a' b='b'/><closure name='1' type='ball' a='a' b='b'/>", "another is named '1'");
  refuse("<closure name='2' type='ball' a='a' b='b'/><closure type='ball' a='a' b='b'/>", "another is named '2'");
  refuse("<constraint expr='q(a)'/><constraint name='1' expr='q(b,0)'/>", "another is named '1'");
  accept(
      "<closure type='ball' a='a' b='b'/><closure name='2' type='ball' a='a' b='b'/><constraint name='1' "
      "expr='q(a)'/>");
}

TEST(what_a_loop_closure_lacks_is_reported_with_its_name) {
  refuse("<closure name='strut' type='rod' a='a' b='b'/>", "closure 'strut': a rod needs its 'length'");
  refuse("<closure type='universal' axis='1 0 0' axis2='2 0 0' a='a' b='b'/>", "closure '1': the two axes");
}
