// The robots of models/robots: each is written in URDF and in MJCF, and both must be the same mechanism. MuJoCo's numbers of
// them are compared by tests/check_robots.sh.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "runner.h"

typedef struct Robot {
  const char* name;
  const char* base;  // of the URDF
  bool same_laws;    // both files say the same laws, not only the same bodies
} Robot;

static const Robot robots[] = {
    {"arm-planar", "fixed", true},   {"arm-scara", "fixed", true},      {"arm-six", "fixed", true},
    {"arm-seven", "fixed", true},    {"arm-on-gantry", "fixed", true},  {"gripper", "fixed", true},
    {"four-bar", "fixed", true},     {"cart-pendulum", "fixed", false}, {"quadruped", "floating", false},
    {"humanoid", "floating", false}, {"hexapod", "floating", false},    {"rover", "floating", true},
};
enum { NROBOT = sizeof robots / sizeof *robots };

// MJCF's stops have the softness of MuJoCo, URDF's none of their own: here both are those of a <joint>.
static void make_stops_equal(srSpec* spec) {
  static const size_t fields[] = {offsetof(srJointDef, limit_natural_frequency),
                                  offsetof(srJointDef, limit_damping_ratio)};
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_JOINT); i++)
    for (int k = 0; k < 2; k++) srs_set(spec, SR_ELEMENT_JOINT, i, (int)(fields[k] / sizeof(srAttr)), (srAttr){0});
}

static Loaded open_robot(const char* file, const char* base) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/robots/%s", SARRUS_SOURCE_DIR, file);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = {0};
  srStatus status = sr_load(path, &(srLoadOptions){.base = base}, messages, &spec);
  if (status == SR_OK) make_stops_equal(spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &x.m);
  if (status != SR_OK) loading_print(messages);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

static Loaded open_urdf(const Robot* robot) {
  char file[64];
  snprintf(file, sizeof file, "%s.urdf", robot->name);
  return open_robot(file, robot->base);
}

static Loaded open_mjcf(const Robot* robot) {
  char file[64];
  snprintf(file, sizeof file, "%s.xml", robot->name);
  return open_robot(file, NULL);
}

// Largest difference, relative to the largest entry.
static double apart(const double* a, const double* b, int n) {
  double worst = 0, scale = 0;
  for (int i = 0; i < n; i++) {
    const double d = fabs(a[i] - b[i]);
    if (!(d <= worst)) worst = d;  // NaN stays
    scale = fmax(scale, fabs(b[i]));
  }
  return scale > 0 ? worst / scale : worst;
}

static void ensure_same_coordinates(const srModel* a, const srModel* b) {
  ENSURE_EQUAL(a->nq, b->nq);
  ENSURE_EQUAL(a->nv, b->nv);
  for (int i = 0; i < a->nv; i++) ENSURE_TEXT(a->v_name[i], b->v_name[i]);
}

static void ensure_same_tree(Loaded* a, Loaded* b, Random* random) {
  const int n = a->m->nv;
  double *Ma = malloc(2 * (size_t)(n * n + n) * sizeof *Ma), *Mb = Ma + n * n, *ca = Mb + n * n, *cb = ca + n;
  double* zero = calloc((size_t)n, sizeof *zero);
  random_state(random, a->m, a->d);
  sr_normalize(a->m, a->d->q);
  sr_crba(a->m, a->d, a->d->q, Ma);
  sr_crba(b->m, b->d, a->d->q, Mb);
  const double M = apart(Ma, Mb, n * n);
  sr_rnea(a->m, a->d, a->d->q, a->d->v, zero, ca);
  sr_rnea(b->m, b->d, a->d->q, a->d->v, zero, cb);
  const double c = apart(ca, cb, n);
  const srStatus first = sr_aba(a->m, a->d, a->d->q, a->d->v, a->d->tau, ca);
  const srStatus second = sr_aba(b->m, b->d, a->d->q, a->d->v, a->d->tau, cb);
  const double acceleration = apart(ca, cb, n);
  free(Ma);
  free(zero);
  ENSURE_EQUAL(first, SR_OK);
  ENSURE_EQUAL(second, SR_OK);
  ENSURE_SMALL(M, 1e-10);
  ENSURE_SMALL(c, 1e-10);
  ENSURE_SMALL(acceleration, 1e-10);
}

TEST(robots_are_the_same_bodies_and_joints_in_urdf_and_mjcf) {
  Random random = {7};
  for (int i = 0; i < NROBOT; i++) {
    Loaded a = open_urdf(&robots[i]), b = open_mjcf(&robots[i]);
    ensure_same_coordinates(a.m, b.m);
    for (int k = 0; k < 5; k++) ensure_same_tree(&a, &b, &random);
    close_model(&a);
    close_model(&b);
  }
}

// Springs, dampers, friction, armature, stops and constraints, at a state that keeps the constraints.
static void ensure_same_laws(Loaded* a, Loaded* b, Random* random) {
  const int n = a->m->nv;
  random_state(random, a->m, a->d);
  for (int k = 0; k < a->m->nq; k++) a->d->q[k] *= 0.3;  // loops close from near by
  sr_normalize(a->m, a->d->q);
  if (a->m->constrained) ENSURE_EQUAL(sr_assemble(a->m, a->d, NULL, NULL), SR_OK);
  memcpy(b->d->q, a->d->q, (size_t)a->m->nq * sizeof(double));
  memcpy(b->d->v, a->d->v, (size_t)n * sizeof(double));
  memcpy(b->d->tau, a->d->tau, (size_t)n * sizeof(double));
  a->d->stage = b->d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(a->m, a->d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_forward(b->m, b->d, SR_TAU_ELEMENT), 0);
  ENSURE_SMALL(apart(a->d->f, b->d->f, n), 1e-10);
  ENSURE_SMALL(apart(a->d->a, b->d->a, n), 1e-10);
}

TEST(robots_follow_the_same_laws_in_urdf_and_mjcf) {
  Random random = {11};
  for (int i = 0; i < NROBOT; i++) {
    if (!robots[i].same_laws) continue;
    Loaded a = open_urdf(&robots[i]), b = open_mjcf(&robots[i]);
    ENSURE_EQUAL(a.m->ny, b.m->ny);
    ENSURE_EQUAL(a.m->constrained, b.m->constrained);
    for (int k = 0; k < 5; k++) ensure_same_laws(&a, &b, &random);
    close_model(&a);
    close_model(&b);
  }
}

// Sums of the masses in the files, by hand.
TEST(robots_have_the_mass_that_their_parts_have) {
  static const struct {
    const char* file;
    const char* base;
    double mass;
  } cases[] = {
      {"humanoid.urdf", "floating", 44.7}, {"humanoid.xml", NULL, 44.7},    {"quadruped.urdf", "floating", 12.84},
      {"quadruped.xml", NULL, 12.84},      {"hexapod.urdf", "floating", 7}, {"hexapod.xml", NULL, 7},
      {"rover.urdf", "floating", 42.6},    {"rover.xml", NULL, 42.6},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    Loaded x = open_robot(cases[i].file, cases[i].base);
    double momentum[8], mass, com[4];
    sr_kinematics(x.m, x.d);
    sr_velocity(x.m, x.d);
    sr_momentum(x.m, x.d, momentum, &mass, com);
    close_model(&x);
    ENSURE_NEAR(mass, cases[i].mass, 1e-12 * cases[i].mass);
  }
}

// quadruped-stand.xml: the URDF, and what URDF cannot express. It comes to rest, and then the springs of the four
// contacts carry its weight: sum of K (r - z) = m g.
TEST(robots_stand_with_the_file_that_extends_them) {
  const double K = 2e4, radius = 0.025, weight = 12.84 * 9.81;
  static const char* const feet[] = {"fl", "fr", "rl", "rr"};
  Loaded x = open_robot("quadruped-stand.xml", NULL);
  ENSURE_EQUAL(x.m->nv, 18);
  srRunOptions options = sr_run_options(x.m);
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  double carried = 0, fastest = 0;
  for (int i = 0; i < 4; i++) carried += K * (radius - sensor(&x, feet[i]).position[2]);
  for (int i = 0; i < x.m->nv; i++) fastest = fmax(fastest, fabs(x.d->v[i]));
  const double height = x.d->q[2];
  close_model(&x);
  ENSURE_SMALL(fastest, 1e-3);
  ENSURE_NEAR(carried, weight, 1e-3 * weight);
  ENSURE(height > 0.3 && height < 0.4);
}

// ---- the default method -------------------------------------------------------------------------------------------------

static long evaluations(const char* file, const char* base, const char* method) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/robots/%s", SARRUS_SOURCE_DIR, file);
  srSpec* spec = NULL;
  Loaded x = {0};
  ENSURE_EQUAL(sr_load(path, &(srLoadOptions){.base = base}, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &x.m), SR_OK);
  srs_destroy(spec);
  x.d = sr_data_create(x.m);
  srRunOptions options = sr_run_options(x.m);
  if (method) options.method = method;
  options.t_end = 0.5;
  options.rtol = 1e-6;
  options.atol = 1e-9;
  const srStatus status = sr_run(x.m, x.d, &options, NULL, &x.result);
  const long n = x.result.stats.evaluations;
  if (!method) ENSURE_TEXT(options.method, "auto");
  if (!method) ENSURE_EQUAL(status, SR_OK);
  sr_data_destroy(x.d);
  sr_model_destroy(x.m);
  return status == SR_OK ? n : 0;
}

// 0.5 s: feet touch the ground, stops are reached. Of implicit methods the evaluations of the forces count, those for differences included, and not the exact tangents and
// the factorizations, which is to their advantage; generalized-alpha is of order 2 and less accurate at the same tolerance, and counts all the same.
static void compare_default(const char* file, const char* base) {
  static const char* const methods[] = {"dopri5",          "mdop5",       "hem5", "phem56",
                                        "radau5",          "cvode",       "ida",  "genalpha-index3",
                                        "genalpha-index2", "genalpha-ggl"};
  const long chosen = evaluations(file, base, NULL);
  const char* name = "";
  long best = 0;
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); i++) {
    const long n = evaluations(file, base, methods[i]);
    if (n == 0 || (best > 0 && n >= best)) continue;
    best = n;
    name = methods[i];
  }
  if (getenv("SARRUS_TEST_VERBOSE")) printf("  %s: %ld evaluations, best %ld (%s)\n", file, chosen, best, name);
  ENSURE(best > 0 && chosen <= 3 * best);
}

TEST(the_default_method_takes_at_most_three_times_the_evaluations_of_the_best_on_every_robot) {
  for (int i = 0; i < NROBOT; i++) {
    if (!runner_takes(i)) continue;
    char file[64];
    snprintf(file, sizeof file, "%s.urdf", robots[i].name);
    compare_default(file, robots[i].base);
    snprintf(file, sizeof file, "%s.xml", robots[i].name);
    compare_default(file, NULL);
  }
  compare_default("leg-closed.urdf", "fixed");
  compare_default("chandelier.xml", NULL);
  compare_default("quadruped-stand.xml", NULL);
}
