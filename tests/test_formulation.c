// One model, three formulations: relative and absolute agree on every shipped model (motion, degrees of freedom, redundancy, driving
// forces, unique reactions, energy); the error of the penalty falls with 1/stiffness; joint coordinates measured between free
// bodies have the right values, with their rates, turns included.
#include <dirent.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint/constraint.h"
#include "messages.h"
#include "runner.h"

// ------------------------------------------------------------------------------------------------------------- models
typedef struct Side {
  srSpec* spec;  // of the relative side
  srModel* m;
  srData* d;
  srRunResult result;
} Side;

static char said[4096];  // all messages of the last load

static void keep_messages(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

static Side relative_of(srStatus loaded, srSpec* spec, srMessages* messages) {
  Side x = {.spec = spec};
  const srStatus status = loaded == SR_OK ? sr_compile(spec, messages, &x.m) : loaded;
  keep_messages(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE(x.d != NULL);
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, NULL), SR_OK);
  return x;
}

static Side open_file(const char* path) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load(path, NULL, messages, &spec);
  return relative_of(status, spec, messages);
}

static Side open_text(const char* text) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  return relative_of(status, spec, messages);
}

static srStatus formulate(const Side* x, srFormulation formulation, Side* out) {
  srMessages* messages = sr_messages_create();
  *out = (Side){0};
  const srStatus status = sr_formulate(x->spec, x->m, x->d, formulation, messages, &out->m, &out->d);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return status;
}

static Side made(const Side* x, srFormulation formulation) {
  Side out;
  const srStatus status = formulate(x, formulation, &out);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  return out;
}

static void close_side(Side* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

static void run_to(Side* x, const char* method, double t_end, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.method = method;
  options.stabilization = SR_STABILIZATION_PROJECTION;
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK)
    printf("%s, %s: %s\n", x->m->name, sr_formulation_word(x->m->formulation), x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// ---------------------------------------------------------------------------------------------------------- agreement
static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static double apart(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static double relative_to(double size) { return fmax(1, size); }

static double position_error(const Side* r, const Side* a) {
  return apart(r->d->q, a->d->jq, r->m->nq) / relative_to(largest(r->d->q, r->m->nq));
}

static double velocity_error(const Side* r, const Side* a) {
  return apart(r->d->v, a->d->jv, r->m->nv) / relative_to(largest(r->d->v, r->m->nv));
}

typedef struct Reactions {
  double* wrench;         // njoint x 6
  unsigned char* unique;  // njoint
  int dof, redundant;
} Reactions;

static Reactions reactions_of(Side* x) {
  Reactions out = {calloc(6 * (size_t)x->m->njoint + 1, sizeof(double)), calloc((size_t)x->m->njoint + 1, 1), 0, 0};
  srRank* rank = NULL;
  ENSURE_EQUAL(sr_forward(x->m, x->d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_reactions(x->m, x->d, out.wrench), 0);
  ENSURE_EQUAL(sr_rank_create(x->m, x->d, &rank), SR_OK);
  sr_reactions_unique(x->m, x->d, rank, out.unique);
  out.dof = x->m->nv - rank->rank;
  out.redundant = rank->nredundant;
  sr_rank_destroy(rank);
  return out;
}

// At states that both formulations have: degrees of freedom, redundancy, reactions that are unique, accelerations, driving forces.
static void compare_states(Side* r, Side* a, double tolerance) {
  Reactions x = reactions_of(r), y = reactions_of(a);
  const double size = relative_to(largest(x.wrench, 6 * r->m->njoint));
  ENSURE_EQUAL(y.dof, x.dof);
  ENSURE_EQUAL(y.redundant, x.redundant);
  for (int j = 0; j < r->m->njoint; j++) {
    ENSURE_EQUAL(y.unique[j], x.unique[j]);
    if (x.unique[j]) ENSURE_SMALL(apart(x.wrench + 6 * j, y.wrench + 6 * j, 6) / size, tolerance);
  }
  const double* driving[2] = {r->d->lambda + r->m->row_driver, a->d->lambda + a->m->row_driver};
  ENSURE_SMALL(apart(driving[0], driving[1], r->m->ndriver) / relative_to(largest(driving[0], r->m->ndriver)),
               tolerance);
  double* accelerations = calloc((size_t)a->m->njv + 1, sizeof *accelerations);
  sr_joint_accelerations(a->m, a->d, accelerations);
  const double error = apart(r->d->a, accelerations, r->m->nv) / relative_to(largest(r->d->a, r->m->nv));
  free(accelerations);
  free(x.wrench);
  free(x.unique);
  free(y.wrench);
  free(y.unique);
  ENSURE_SMALL(error, tolerance);
}

static void compare_energy(const Side* r, const Side* a, double tolerance) {
  const srEnergy *x = &r->result.energy, *y = &a->result.energy;
  const double scale = relative_to(x->scale);
  ENSURE_SMALL((x->kinetic - y->kinetic) / scale, tolerance);
  ENSURE_SMALL((x->potential - y->potential) / scale, tolerance);
  ENSURE_SMALL(apart(x->work, y->work, SR_ACCOUNTS) / scale, tolerance);
  ENSURE_SMALL(y->residual / scale, tolerance);
}

// Relative and absolute from the same start: at the start and at the end.
static void compare_runs(Side* r, const char* method, double t_end) {
  Side a = made(r, SR_FORMULATION_ABSOLUTE);
  ENSURE_EQUAL(a.m->njq, r->m->nq);
  ENSURE_EQUAL(a.m->njv, r->m->nv);
  ENSURE_EQUAL(a.m->nv, 6 * r->m->nbody);
  compare_states(r, &a, 1e-9);
  ENSURE_SMALL(position_error(r, &a), 1e-13);
  run_to(r, method, t_end, 1e-10);
  run_to(&a, method, t_end, 1e-10);
  const double q = position_error(r, &a), v = velocity_error(r, &a);
  if (!(q <= 1e-7) || !(v <= 1e-7)) printf("%s: positions %.2e, velocities %.2e\n", r->m->name, q, v);
  ENSURE_SMALL(q, 1e-7);
  ENSURE_SMALL(v, 1e-7);
  compare_energy(r, &a, 1e-7);
  compare_states(r, &a, 1e-6);
  close_side(&a);
}

// How long a model runs here, s; others 0.1 s. Long enough to turn, short enough for a hundred bodies in body coordinates, and
// not into a singular position, which dopri5 does not pass.
static double duration_of(const char* name) {
  static const struct {
    const char* name;
    double seconds;
  } known[] = {{"andrews", 0.02},   {"arm6", 0.3},          {"change-point-four-bar", 0.07},
               {"bricard", 1},      {"chain-planar", 0.3},  {"dc-motor", 0.3},
               {"charmie", 0.01},   {"charmie-body", 0.02}, {"double-pendulum", 1},
               {"four-bar", 0.5},   {"free-body", 1},       {"pendulum", 1},
               {"rolling-disc", 1}, {"slider-crank", 0.03}, {"top", 0.3},
               {"tree", 0.3}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(known[i].name, name) == 0) return known[i].seconds;
  }
  return 0.1;
}

static int compare_folder(const char* folder) {
  char path[1024];
  snprintf(path, sizeof path, "%s/models/%s", SARRUS_SOURCE_DIR, folder);
  DIR* directory = opendir(path);
  ENSURE(directory != NULL);
  int n = 0;
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".xml") != 0) continue;
    snprintf(path, sizeof path, "%s/models/%s/%s", SARRUS_SOURCE_DIR, folder, entry->d_name);
    Side r = open_file(path);
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(length - 4), entry->d_name);
    compare_runs(&r, "dopri5", duration_of(name) * (runner_long() ? 3 : runner_sanitized() ? 0.1 : 1));
    close_side(&r);
    n++;
  }
  closedir(directory);
  return n;
}

TEST(relative_and_absolute_agree_on_every_shipped_tree) { ENSURE(compare_folder(".") >= 11); }
TEST(relative_and_absolute_agree_on_the_models_of_the_papers) {
  ENSURE(compare_folder("paper1") >= 3);
  ENSURE(compare_folder("paper2") >= 1);
}
TEST(relative_and_absolute_agree_on_every_benchmark) { ENSURE(compare_folder("benchmark") >= 5); }
TEST(relative_and_absolute_agree_on_every_mechanism) { ENSURE(compare_folder("mechanisms") >= 19); }

// Slender bars have no inertia about their axes: where rounding made one of the redundant equations look independent, no
// acceleration was found at the end of the run.
TEST(redundant_equations_of_slender_bars_are_found_in_absolute_coordinates) {
  char path[1024];
  snprintf(path, sizeof path, "%s/models/mechanisms/scissor-lift.xml", SARRUS_SOURCE_DIR);
  Side r = open_file(path), a = made(&r, SR_FORMULATION_ABSOLUTE);
  run_to(&r, "hem5", 0.3, 1e-8);
  run_to(&a, "hem5", 0.3, 1e-8);
  ENSURE_EQUAL(a.result.rank, 41);  // 42 velocities, one degree of freedom
  ENSURE_SMALL(position_error(&r, &a), 1e-6);
  compare_states(&r, &a, 1e-5);
  close_side(&a);
  close_side(&r);
}

// A chain of 60 bodies on universal joints, and one of slender rods in a plane: both are solved by blocks of the mass matrix.
#define CHAIN(JOINT, INERTIA, START)                                                                                   \
  "<sarrus version='1'><parameter name='N' value='60'/><body name='link1'><joint name='q1' " JOINT " " START           \
  "/><inertial mass='0.5' com='0 0 -0.05' inertia='" INERTIA                                                           \
  "'/></body><repeat count='N-1' index='i' from='2'>"                                                                  \
  "<body name='link{i}' parent='link{i-1}'><joint name='q{i}' " JOINT " at='0 0 -0.1' " START                          \
  " damping='1e-3'/><inertial mass='0.5' com='0 0 -0.05' inertia='" INERTIA "'/></body></repeat></sarrus>"

static const char* const chains[] = {
    CHAIN("type='universal' axis='1 0 0' axis2='0 1 0'", "5e-4 5.1e-4 2e-5", "q='0.1 0.2' v='0.5 -0.3'"),
    CHAIN("type='revolute' axis='0 1 0'", "4.1666666666666669e-4 4.1666666666666669e-4 0", "q='0.1' v='0.4'")};

TEST(relative_and_absolute_agree_on_long_chains) {
  for (int i = 0; i < 2; i++) {
    Side r = open_text(chains[i]), a = made(&r, SR_FORMULATION_ABSOLUTE);
    run_to(&r, "dopri5", 0.02, 1e-10);
    run_to(&a, "dopri5", 0.02, 1e-10);
    for (int k = 0; k < r.m->nq; k++) ENSURE_NEAR(a.d->jq[k], r.d->q[k], 1e-8);
    for (int k = 0; k < r.m->nv; k++) ENSURE_NEAR(a.d->jv[k], r.d->v[k], 1e-6);
    ENSURE_EQUAL(a.result.rank, a.m->ng);
    close_side(&a);
    close_side(&r);
  }
}

TEST(a_long_chain_that_was_pulled_apart_is_assembled_by_a_small_change) {
  for (int i = 0; i < 2; i++) {
    Side r = open_text(chains[i]), a = made(&r, SR_FORMULATION_ABSOLUTE);
    double *dxi = calloc((size_t)a.m->nv, sizeof(double)), *q = calloc((size_t)a.m->nq, sizeof(double));
    srAssembly out;
    double most = 0;  // the joints are closed this far away: no need to go farther
    for (int k = 0; k < a.m->nv; k++) {
      dxi[k] = 1e-3 * sin(1.0 + 3.7 * k);
      most += dxi[k] * dxi[k];
    }
    for (int k = 0; k < a.m->nv; k++) a.d->v[k] += dxi[k];
    sr_retract(a.m, a.d->q, dxi, q);
    memcpy(a.d->q, q, (size_t)a.m->nq * sizeof(double));
    ENSURE_EQUAL(sr_assemble(a.m, a.d, NULL, &out), SR_OK);
    ENSURE(out.iterations > 0 && out.iterations < 10);  // quadratic convergence: 1e-3, 1e-6, 1e-12 and rounding
    ENSURE_SMALL(out.residual_position, 1e-13);         // of lengths up to 6 m
    ENSURE_SMALL(out.residual_velocity, 1e-13);
    ENSURE(out.moved_position < 1.01 * sqrt(most));
    free(dxi);
    free(q);
    close_side(&a);
    close_side(&r);
  }
}

// Two bodies without mass beyond the arm, of which one is held by the arm, and one by nothing.
TEST(a_body_without_mass_that_nothing_holds_is_named_in_absolute_coordinates) {
  Side r = open_text(
      "<sarrus version='1'><body name='arm'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='2' com='0.3 "
      "0 0' "
      "inertia='0.1 0.1 0.1'/></body><body name='plate' parent='arm'><joint name='w' type='weld' at='0 0 1'/></body>"
      "<body name='finger' parent='arm'><joint name='k' type='revolute' axis='0 1 0' at='0.5 0 0'/></body></sarrus>");
  ENSURE_EQUAL(r.m->nmassless, 1);
  Side a = made(&r, SR_FORMULATION_ABSOLUTE);
  ENSURE(sr_forward(a.m, a.d, SR_TAU_ELEMENT) > 0);
  ENSURE(strstr(a.d->error_message, "body 'finger' without inertia is free") &&
         strstr(a.d->error_message, "--lock-massless"));
  Side p = {0};
  ENSURE_EQUAL(formulate(&r, SR_FORMULATION_PENALTY, &p), SR_INPUT);
  ENSURE(strstr(said, "body 'finger' has no mass") && strstr(said, "take another formulation"));
  close_side(&p);
  close_side(&a);
  close_side(&r);
}

TEST(relative_and_absolute_agree_with_every_method) {
  static const char* const methods[] = {"mdop5", "hem5"};
  static const char* const files[] = {"tree", "mechanisms/four-bar", "mechanisms/sarrus-linkage",
                                      "mechanisms/jansen-leg", "mechanisms/rolling-disc"};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 5; i++) {
      char path[1024];
      snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, files[i]);
      Side r = open_file(path);
      compare_runs(&r, methods[k], 0.2);
      close_side(&r);
    }
  }
}

// --------------------------------------------------------------------------------------------------------- all elements
#define INERTIAL "<inertial mass='1.3' com='0.1 -0.05 0.2' inertia='0.02 0.03 0.04 0.001 0.002 0.003'/>"

// Springs, rests, dampers, stops, armature, torques, states, links, springs, bushings, forces, formulas of ball and free coordinates,
// on joints whose parents move.
static const char* const laws =
    "<sarrus version='1'><parameter name='k' value='30'/>"
    "<ground><point name='hook' at='0 0.3 1'/></ground>"
    "<body name='base'><joint name='base' type='free' at='0.1 0.2 0.3' rpy='0.3 -0.2 0.5' q='0.1 0 0.2 0.9 0.1 -0.2 "
    "0.3'"
    " v='0.3 -0.2 0.5 0.1 0.2 -0.3' damping='0.3' armature='0.02'/>" INERTIAL
    "<point name='eye' at='0.1 0.2 0'/></body>"
    "<body name='arm' parent='base'><joint name='arm' type='revolute' axis='0.2 1 0.3' at='0.2 0 0.1' rpy='0.1 0.4 0'"
    " q='0.4' v='2' stiffness='5' rest='0.2' damping='0.1' armature='0.05' limits='-0.3 0.6' "
    "limit-stiffness='200'/>" INERTIAL
    "</body>"
    "<body name='wrist' parent='arm'><joint name='wrist' type='ball' at='0 0.3 0' q='0.8 0.1 0.5 -0.3' v='0.4 -1 0.7'"
    " damping='0.05' armature='0.01'/>" INERTIAL
    "<point name='tip' at='0 0 0.3'/></body>"
    "<body name='cross' parent='base'><joint name='cross' type='universal' axis='1 0.2 0' axis2='0 0.3 1' at='-0.2 0 0'"
    " rpy='0 0.3 0.2' q='0.3 -0.2' v='1 -0.5' stiffness='3' armature='0.03' damping='0.02'/>" INERTIAL
    "</body>"
    "<body name='plate' parent='cross'><joint name='plate' type='planar' axis='0 1 0.3' at='0 0 -0.3' q='0.1 -0.1 0.4'"
    " v='0.2 0.3 -1' stiffness='20' damping='0.3' armature='0.1'/>" INERTIAL
    "</body>"
    "<body name='nut' parent='plate'><joint name='nut' type='helical' axis='1 0 0.1' pitch='0.05' q='0.5' v='3'"
    " stiffness='1' armature='0.02'/>" INERTIAL
    "</body>"
    "<body name='sleeve' parent='arm'><joint name='sleeve' type='cylindrical' axis='0 0 1' at='0.1 0 0' q='0.2 0.1'"
    " v='2 -0.3' stiffness='10' damping='0.1'/>" INERTIAL
    "</body>"
    "<body name='fixed' parent='sleeve'><joint type='weld' at='0.1 0 0' rpy='0.3 0 0'/>" INERTIAL
    "</body>"
    "<sensor name='tip' point='wrist/tip' relative-to='base'/>"
    "<sensor name='mix' expr='q(arm)*v(nut) + q(base, 4) + v(base, 4)*q(wrist, 0)'/>"
    "<state name='i' initial='0.2' rate='(2 - 3*i - v(arm))/0.5'/>"
    "<torque joint='arm' law='0.5*i - 0.1*q(plate, 2)'/><torque joint='base' coordinate='4' law='sin(3*t)'/>"
    "<torque joint='wrist' coordinate='1' law='0.2*cos(t) - 0.1*v(wrist, 0)'/>"
    "<link a='base/eye' b='ground/hook' law='-k*(z - 0.5) - 2*zdot'/>"
    "<bushing a='nut' b='wrist/tip' stiffness='1 2 3 4 5 6' damping='0.1 0.1 0.1 0.2 0.2 0.2'/>"
    "<spring a='nut' b='wrist/tip' stiffness='12' length='0.3' preload='2' damping='0.3'/>"
    "<damper a='ground' b='wrist/tip' damping='0.2'/>"
    "<force body='plate' at='0.1 0 0' f='0 0 sin(t)' m='0.1 0 0'/></sarrus>";

TEST(relative_and_absolute_agree_on_all_laws_and_kinds_of_joints) {
  Side r = open_text(laws);
  for (int i = 0; i < r.m->nv; i++) r.d->tau[i] = 0.1 * (i % 3) - 0.05;
  compare_runs(&r, "dopri5", 0.5);
  close_side(&r);
}

TEST(a_run_that_begins_later_and_elsewhere_agrees_too) {
  Side r = open_text(laws);
  run_to(&r, "dopri5", 0.3, 1e-10);
  r.d->y[0] += 0.1;
  compare_runs(&r, "dopri5", 0.6);
  close_side(&r);
}

// Couplings, drivers and formulas with coordinates of every kind, positions and velocities, sensors, time.
static const char* const rows =
    "<sarrus version='1'>"
    "<body name='a'><joint name='a' type='revolute' axis='0 1 0.1' v='1'/>" INERTIAL
    "</body>"
    "<body name='b' parent='a'><joint name='b' type='revolute' axis='1 1 0' at='0.3 0 0' armature='0.02'/>" INERTIAL
    "</body>"
    "<body name='c' parent='b'><joint name='c' type='ball' at='0 0.2 0'/>" INERTIAL
    "<point name='p' at='0.1 0 0.3'/></body>"
    "<body name='d' parent='a'><joint name='d' type='prismatic' axis='0 0 1' at='0 0 0.2'/>" INERTIAL
    "</body>"
    "<body name='e' parent='d'><joint name='e' type='free' q='0.1 0.4 0.2 1 0 0 0' v='0 1 0 0.1 0 0'/>" INERTIAL
    "</body>"
    "<body name='f'><joint name='f' type='cylindrical' at='0.5 0.5 0'/>" INERTIAL
    "</body>"
    "<sensor name='s' point='c/p' relative-to='d'/>"
    "<coupling joint='b' to='a' ratio='-1.5' offset='0.1'/><driver joint='d' motion='0.1*sin(5*t)'/>"
    "<constraint name='screw' expr='q(f, 1) = 0.02*q(f, 0) + 0.1*q(a)^2'/>"
    "<constraint name='nose' expr='q(c, 1)*q(c, 0) - 0.1*sin(3*t)'/>"
    "<constraint name='lift' expr='q(e, 2) - 0.2 - 0.1*q(e, 0)*q(a) + 0.01'/>"
    "<constraint name='slope' expr='sensor(s, z) - 0.5*sensor(s, x)^2 - 0.1'/>"
    "<constraint name='roll' velocity='v(e, 0) - 0.5*v(f, 0) + q(a)*v(e, 4) - 0.1'/></sarrus>";

TEST(relative_and_absolute_agree_on_couplings_drivers_and_formulas) {
  Side r = open_text(rows);
  compare_runs(&r, "dopri5", 0.15);
  close_side(&r);
}

// A loop on a body that moves: the ball is in its axes, the normal of a planar loop turns with it.
TEST(relative_and_absolute_agree_on_a_loop_that_rides_on_a_moving_body) {
  static const char* const closures[] = {"type='ball' normal='0 0 1'", "type='ball'", "type='revolute'",
                                         "type='rod' length='0.1'"};
  for (int k = 0; k < 4; k++) {
    char text[3000];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='car'><joint name='car' type='free' rpy='0.3 0.2 0.1' v='1 0.5 -0.7 0.1 "
             "0.2 0.3'/>" INERTIAL
             "</body><body name='a' parent='car'><joint name='a' type='revolute' q='1' v='2' rpy='0 0 0.2'/>" INERTIAL
             "</body>"
             "<body name='b' parent='a'><joint name='b' type='revolute' at='0.2 0 0' q='-0.8'/>" INERTIAL
             "<point name='p' at='0.5 0 %s'/></body>"
             "<body name='c' parent='car'><joint name='c' type='revolute' at='0.5 0 0' q='1.6'/>" INERTIAL
             "<point name='p' at='0.4 0 0'/></body><closure name='pin' %s a='b/p' b='c/p'/></sarrus>",
             k == 3 ? "0.05" : "0", closures[k]);
    Side r = open_text(text);
    compare_runs(&r, "dopri5", 0.3);
    close_side(&r);
  }
}

static int cubic(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = -in->p[0] * in->x[0] * in->x[0] * in->x[0] - 0.1 * in->xdot[0] * in->y[0];
  out->ydot[0] = in->xdot[0] - in->y[0];
  return 0;
}

// Laws of C code on joint coordinates, with a state of their own; the registration travels with the spec.
TEST(relative_and_absolute_agree_on_user_laws_of_joints) {
  static const double start[] = {0.5};
  const srImpedance law = {.name = "cubic", .port = SR_PORT_JOINT, .ny = 1, .np = 1, .y0 = start, .evaluate = cubic};
  const char* text =
      "<sarrus version='1'><body name='a'><joint name='a' type='revolute' axis='0 1 0' q='0.4' v='1'/>" INERTIAL
      "</body>"
      "<body name='b' parent='a'><joint name='b' type='prismatic' axis='0 0 1' at='0.2 0 0' q='0.3'/>" INERTIAL
      "</body>"
      "<user law='cubic' joint='a' parameters='3'/><user law='cubic' joint='b' parameters='200'/></sarrus>";
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  ENSURE(srs_register_impedance(spec, &law));
  Side r = relative_of(status, spec, messages);
  compare_runs(&r, "dopri5", 0.5);
  close_side(&r);
}

// A loop whose lengths do not fit, allowed to stay open a little: the joints of free bodies share what is left.
TEST(a_loop_that_stays_open_a_little_runs_in_absolute_coordinates) {
  const char* text =
      "<sarrus version='1'><ground><point name='p' at='2.0001 0 0'/></ground>"
      "<body name='a'><joint name='a' type='revolute' q='0.01'/>" INERTIAL
      "</body>"
      "<body name='b' parent='a'><joint name='b' type='revolute' at='1 0 0'/>" INERTIAL
      "<point name='tip' at='1 0 0'/></body>"
      "<closure type='ball' a='b/tip' b='ground/p' normal='0 0 1' tolerance='1e-3'/></sarrus>";
  Side r = open_text(text), a = made(&r, SR_FORMULATION_ABSOLUTE);
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(a.m, a.d, NULL, &assembly), SR_OK);
  ENSURE(assembly.residual_position > 1e-6);
  ENSURE_SMALL(assembly.residual_position, 1e-4);
  close_side(&a);
  close_side(&r);
}

// ------------------------------------------------------------------------------------------------------------- measurements
static unsigned seed;
static double random_number(void) {  // [-1, 1)
  seed = seed * 1664525U + 1013904223U;
  return (double)(seed >> 8) / (double)(1U << 23) - 1.0;
}

static void at(Side* a, const double* q, const double* v, double by, double* move) {
  for (int i = 0; i < a->m->nv; i++) move[i] = by * v[i];
  sr_retract(a->m, q, move, a->d->q);
  memcpy(a->d->v, v, (size_t)a->m->nv * sizeof *v);
  sr_kinematics(a->m, a->d);
  sr_velocity(a->m, a->d);
}

// Also where the joints have come apart: jv is the rate of jq, and its rate at constant velocities is jbias.
TEST(measurements_have_the_rates_of_their_values) {
  Side r = open_text(laws), a = made(&r, SR_FORMULATION_ABSOLUTE);
  const int nq = a.m->nq, nv = a.m->nv;
  const double h = 1e-5;
  double *q = calloc((size_t)(nq + 3 * nv), sizeof *q), *v = q + nq, *move = v + nv, *jv[2] = {move + nv, NULL};
  double* jq = calloc((size_t)(2 * nq + nv), sizeof *jq);
  jv[1] = jq + 2 * nq;
  seed = 5;
  for (int i = 0; i < nv; i++) move[i] = 0.1 * random_number();
  sr_retract(a.m, a.d->q, move, q);
  for (int i = 0; i < nv; i++) v[i] = random_number();
  for (int side = 0; side < 2; side++) {
    at(&a, q, v, side == 0 ? -h : h, move);
    memcpy(jq + side * nq, a.d->jq, (size_t)a.m->njq * sizeof *jq);
    memcpy(jv[side], a.d->jv, (size_t)a.m->njv * sizeof *jq);
  }
  at(&a, q, v, 0, move);
  for (int k = 0; k < a.m->njv; k++) ENSURE_NEAR((jv[1][k] - jv[0][k]) / (2 * h), a.d->jbias[k], 1e-7);
  for (int j = 0; j < a.m->njoint; j++) {
    const int first = a.m->joint_q[j], n = a.m->joint_nq[j];
    for (int k = 0; k < n && n == a.m->joint_nv[j]; k++) {
      const int i = first + k;
      ENSURE_NEAR((jq[nq + i] - jq[i]) / (2 * h), a.d->jv[a.m->joint_v[j] + k], 1e-8);
    }
  }
  free(q);
  free(jq);
  close_side(&a);
  close_side(&r);
}

// ------------------------------------------------------------------------------------------------------------- turns
static const char* const turning =
    "<sarrus version='1'><option gravity='0 0 -9.81'/>"
    "<body name='wheel'><joint name='wheel' type='revolute' axis='0 1 0'/>" INERTIAL
    "</body>"
    "<body name='nut' parent='wheel'><joint name='nut' type='helical' axis='0 1 0' pitch='0.01' v='20'/>" INERTIAL
    "</body>"
    "<body name='gear'><joint name='gear' type='revolute' axis='0 0 1' at='1 0 0'/>" INERTIAL
    "</body>"
    "<body name='spring'><joint name='spring' type='revolute' axis='0 0 1' at='2 0 0' q='40' stiffness='0.5' "
    "rest='10'/>" INERTIAL
    "</body>"
    "<body name='sleeve' parent='gear'><joint name='sleeve' type='cylindrical' v='-30 0.1'/>" INERTIAL
    "</body>"
    "<coupling joint='gear' to='wheel' ratio='-2.5'/><driver joint='wheel' motion='%s'/></sarrus>";

TEST(turns_are_counted_over_many_revolutions) {
  char text[2000];
  snprintf(text, sizeof text, turning, "30*t + 0.2*sin(7*t)");
  Side r = open_text(text), a = made(&r, SR_FORMULATION_ABSOLUTE);
  run_to(&r, "dopri5", 3, 1e-10);
  run_to(&a, "dopri5", 3, 1e-10);
  ENSURE_SMALL(position_error(&r, &a), 1e-7);
  ENSURE_SMALL(velocity_error(&r, &a), 1e-7);
  ENSURE_NEAR(a.d->jq[0], 90 + 0.2 * sin(21.0), 1e-12);
  ENSURE(fabs(a.d->jq[a.m->joint_q[sr_joint_find(a.m, "gear")]]) > 200);
  ENSURE(fabs(a.d->jq[a.m->joint_q[sr_joint_find(a.m, "nut")]]) > 40);
  close_side(&a);
  close_side(&r);
}

// Gears that turn by 950 and 2370 rad. Their constraint equation has eps of thousands in it, which the unit quaternions of free bodies do not show. With
// inertia 0.2 + 2.5^2 0.04 = 0.45 about the first,  q = 400 t + (15 t^2 + 10 (t/3 - sin(3t)/9))/0.45.
TEST(gears_turn_by_hundreds_of_radians_under_generalized_alpha) {
  static const char* const methods[] = {"genalpha-ggl", "genalpha-index3"};
  const double exact = 800 + (60 + 10 * (2.0 / 3 - sin(6.0) / 9)) / 0.45;
  for (int i = 0; i < 2; i++) {
    Side r = open_text(
        "<sarrus version='1'><option gravity='0 0 0'/>"
        "<body name='a'><joint name='a' type='revolute' v='400'/><inertial mass='1' inertia='0.1 0.1 0.2'/></body>"
        "<body name='b'><joint name='b' type='revolute' at='1 0 0' v='-1000'/>"
        "<inertial mass='1' inertia='0.02 0.02 0.04'/></body>"
        "<constraint expr='50*q(a) + 20*q(b)'/><torque joint='a' law='30 + 10*sin(3*t)'/></sarrus>");
    Side a = made(&r, SR_FORMULATION_ABSOLUTE);
    run_to(&a, methods[i], 2, 1e-6);
    ENSURE_NEAR(a.d->jq[0], exact, 1e-2);
    ENSURE_NEAR(a.d->jq[1], -2.5 * exact, 2.5e-2);
    close_side(&a);
    close_side(&r);
  }
}

// A joint that turns evenly may turn by more than a revolution in a step.
TEST(steps_of_more_than_a_turn_are_counted_where_the_rate_is_even) {
  Side r = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='w'><joint name='w' type='revolute' v='1'/>"
      "<inertial mass='1' inertia='1 1 1'/></body><driver joint='w' motion='100*t'/></sarrus>");
  Side a = made(&r, SR_FORMULATION_ABSOLUTE);
  srData* d = a.d;
  for (int k = 1; k <= 5; k++) {  // the quaternion after steps of 0.1 s, 10 rad
    d->t = 0.1 * k;
    d->q[3] = cos(5.0 * k);
    d->q[6] = sin(5.0 * k);
    sr_kinematics(a.m, d);
    ENSURE_NEAR(d->jq[0], 10.0 * k, 1e-12);
  }
  close_side(&a);
  close_side(&r);
}

// ------------------------------------------------------------------------------------------------------------ penalty
#define ROD(mass, l)                                                                                                   \
  "<inertial mass='" mass "' com='" l "/2 0 0' inertia='1e-3 " mass "*" l "^2/12 " mass "*" l "^2/12'/>"
#define STIFF "<run penalty-stiffness='%g' penalty-rotation='%g' penalty-damping='1e-4'/></sarrus>"

static const char* const pendulum =
    "<sarrus version='1'><body name='rod'><joint name='theta' type='revolute' axis='0 1 0'/>" ROD(
        "1", "0.5") "</body></sarrus>";
static const char* const soft_pendulum =
    "<sarrus version='1'><body name='rod'><joint name='theta' type='revolute'"
    " axis='0 1 0' q='0.3' v='1'/>" ROD("1", "0.5") "</body>" STIFF;
static const char* const soft_four_bar =
    "<sarrus version='1'><option gravity='0 -9.81 0'/><ground><point name='B' at='0.5 0 0'/></ground>"
    "<body name='crank'><joint name='crank' type='revolute' q='1' v='8'/>" ROD("0.5", "0.2") "</body>"
    "<body name='coupler' parent='crank'><joint name='coupler' type='revolute' at='0.2 0 0' q='-0.6'/>" ROD("1", "0.5")
    "<point name='C' at='0.5 0 0'/></body>"
    "<body name='rocker'><joint name='rocker' type='revolute' at='0.5 0 0' q='1.6'/>" ROD("1", "0.4")
    "<point name='D' at='0.4 0 0'/></body><closure name='pin' type='revolute' a='coupler/C' b='rocker/D'/>" STIFF;
static const char* const soft_spatial =
    "<sarrus version='1'><body name='crank'><joint name='crank' type='revolute' axis='1 0 0' at='0 0 0.5' v='4'/>"
    "<inertial mass='1' com='0 0.1 0' inertia='0.01 0.01 0.01'/><point name='A' at='0 0.2 0'/></body>"
    "<body name='rod' parent='crank'><joint name='rod' type='universal' axis='0 0 1' axis2='0 1 0' at='0 0.2 0'/>"
    ROD("1", "0.8") "<point name='B' at='0.8 0 0'/></body>"
    "<body name='slider'><joint name='slider' type='prismatic' axis='1 0 0' at='0 0 0.3' q='0.8'/>"
    "<inertial mass='1' inertia='0.01 0.01 0.01'/></body>"
    "<closure name='ball' type='ball' a='rod/B' b='slider'/>" STIFF;

// Largest difference of the positions at the end from those of the relative model.
static double penalty_error(const char* model, double stiffness, double t_end) {
  char text[2000];
  snprintf(text, sizeof text, model, stiffness, stiffness / 10);
  Side r = open_text(text), p = made(&r, SR_FORMULATION_PENALTY);
  run_to(&r, "dopri5", t_end, 1e-10);
  run_to(&p, "dopri5", t_end, 1e-8);
  const double error = position_error(&r, &p);
  ENSURE_SMALL(p.result.energy.residual / p.result.energy.scale, 1e-6);
  ENSURE(p.result.violation_position > 0);
  close_side(&p);
  close_side(&r);
  return error;
}

static void ensure_jacobian(const char* model, double stiffness, double t_end) {
  const double one = penalty_error(model, stiffness, t_end), ten = penalty_error(model, 10 * stiffness, t_end);
  const double slope = log10(one / ten);
  if (!(fabs(slope - 1) <= 0.2)) printf("%.3g at %g N/m, %.3g at %g N/m\n", one, stiffness, ten, 10 * stiffness);
  ENSURE_NEAR(slope, 1, 0.2);
}

TEST(the_error_of_the_penalty_falls_with_stiffness) {
  ensure_jacobian(soft_pendulum, 1e4, 0.5);
  ensure_jacobian(soft_four_bar, 1e4, 0.4);
  ensure_jacobian(soft_spatial, 1e4, 0.4);
}

// A pendulum at rest: the springs carry it where the pin did.
TEST(reactions_of_the_penalty_are_those_of_its_springs) {
  Side r = open_text(
      "<sarrus version='1'><body name='rod'><joint name='theta' type='revolute' axis='0 1 0' q='1.5707963267948966'"
      " damping='2'/>" ROD("1", "0.5") "</body></sarrus>");
  Side p = made(&r, SR_FORMULATION_PENALTY);
  double wrench[6];
  run_to(&p, "dopri5", 0.5, 1e-8);
  ENSURE_EQUAL(sr_reactions(p.m, p.d, wrench), 0);
  ENSURE_NEAR(wrench[3], -9.81, 1e-4);  // x of the rod points down
  ENSURE_SMALL(wrench[5], 1e-3);
  ENSURE_NEAR(p.d->q[2], -9.81 / 1e6, 1e-9);
  close_side(&p);
  close_side(&r);
}

// A bar that hangs at both ends, its mass at three quarters of its length: one loop closure carries a quarter of the weight, the other
// three quarters. Rows of the table name them, whatever their place in the list.
typedef struct Hanging {
  const srColumns* columns;
  double left[3], right[3];  // multipliers in the last row
} Hanging;

static int keep_multipliers(void* user, const double* row) {
  Hanging* x = user;
  for (int i = 0; i < x->columns->count; i++) {
    for (int k = 0; k < 3; k++) {
      char left[32], right[32];
      snprintf(left, sizeof left, "lambda.left.%d", k);
      snprintf(right, sizeof right, "lambda.right.%d", k);
      if (strcmp(x->columns->names[i], left) == 0) x->left[k] = row[i];
      if (strcmp(x->columns->names[i], right) == 0) x->right[k] = row[i];
    }
  }
  return 0;
}

TEST(multipliers_of_the_penalty_are_in_the_columns_of_their_loop_closures) {
  Side r = open_text(
      "<sarrus version='1'><ground><point name='L' at='-1 0 0'/><point name='R' at='1 0 0'/></ground>"
      "<body name='bar'><joint type='free'/><inertial mass='2' com='0.5 0 0' inertia='0.1 1 1'/>"
      "<point name='L' at='-1 0 0'/><point name='R' at='1 0 0'/></body>"
      "<closure name='left' type='ball' a='bar/L' b='ground/L'/><closure name='right' type='ball' a='bar/R' "
      "b='ground/R'/>"
      "</sarrus>");
  Side p = made(&r, SR_FORMULATION_PENALTY);
  srColumns* columns = sr_columns_create(p.m);
  Hanging x = {.columns = columns};
  srRunOptions options = sr_run_options(p.m);
  options.t_end = 0.5;
  options.every = 0.1;
  options.method = "radau5";
  options.row = keep_multipliers;
  options.user = &x;
  ENSURE_EQUAL(sr_run(p.m, p.d, &options, NULL, &p.result), SR_OK);
  for (int k = 0; k < 2; k++) ENSURE(fabs(x.left[k]) < 0.01 && fabs(x.right[k]) < 0.01);
  ENSURE_NEAR(fabs(x.left[2]), 0.25 * 2 * 9.81, 1e-3);
  ENSURE_NEAR(fabs(x.right[2]), 0.75 * 2 * 9.81, 1e-3);
  ENSURE(x.left[2] * x.right[2] > 0);
  sr_columns_destroy(columns);
  close_side(&p);
  close_side(&r);
}

TEST(drivers_couplings_and_rolling_stay_constraints_in_the_penalty) {
  char path[1024], text[2000];
  snprintf(path, sizeof path, "%s/models/mechanisms/rolling-disc.xml", SARRUS_SOURCE_DIR);
  Side r = open_file(path), p = made(&r, SR_FORMULATION_PENALTY);
  ENSURE_EQUAL(p.m->ng, 2);
  ENSURE_EQUAL(p.m->np, 0);
  close_side(&p);
  close_side(&r);
  snprintf(text, sizeof text, turning, "5*t");
  r = open_text(text);
  p = made(&r, SR_FORMULATION_PENALTY);
  ENSURE_EQUAL(p.m->ng, 2);
  run_to(&p, "dopri5", 0.05, 1e-6);
  ENSURE_NEAR(p.d->jq[0], 0.25, 1e-12);
  close_side(&p);
  close_side(&r);
}

// ----------------------------------------------------------------------------------------------------------- contract
TEST(columns_are_those_of_the_model_in_every_formulation) {
  Side r = open_text(laws), a = made(&r, SR_FORMULATION_ABSOLUTE), p = made(&r, SR_FORMULATION_PENALTY);
  srColumns *x = sr_columns_create(r.m), *y = sr_columns_create(a.m), *z = sr_columns_create(p.m);
  ENSURE_EQUAL(y->count, x->count);
  ENSURE_EQUAL(z->count, x->count);
  for (int i = 0; i < x->count; i++) {
    ENSURE_TEXT(y->names[i], x->names[i]);
    ENSURE_TEXT(z->names[i], x->names[i]);
    ENSURE_TEXT(y->units[i], x->units[i]);
  }
  sr_columns_destroy(x);
  sr_columns_destroy(y);
  sr_columns_destroy(z);
  close_side(&p);
  close_side(&a);
  close_side(&r);
}

TEST(rows_of_joints_have_their_names) {
  Side r = open_text(pendulum), a;
  ENSURE_EQUAL(formulate(&r, SR_FORMULATION_ABSOLUTE, &a), SR_OK);
  ENSURE_EQUAL(a.m->ng, 5);
  ENSURE_TEXT(a.m->row[1].name, "joint theta, translation along y");
  ENSURE_EQUAL(a.m->closure[0].joint, 0);
  close_side(&a);
  close_side(&r);
}

TEST(a_body_without_inertia_is_refused_in_the_penalty_alone) {
  const char* text =
      "<sarrus version='1'>\n<body name='m'><joint name='j' type='revolute' axis='0 1 0'/>\n"
      "<inertial mass='1' com='1 0 0'/></body></sarrus>";
  Side r = open_text(text), p, a = made(&r, SR_FORMULATION_ABSOLUTE);
  ENSURE_EQUAL(formulate(&r, SR_FORMULATION_PENALTY, &p), SR_INPUT);
  ENSURE(p.m == NULL && p.d == NULL);
  ENSURE(strstr(said, "test:2:1: error: body 'm' has no moment of inertia") != NULL);
  ENSURE(strstr(said, "penalty-inertia") != NULL);
  close_side(&a);
  close_side(&r);
}

TEST(inertia_may_be_given_to_the_penalty) {
  Side r = open_text(
      "<sarrus version='1'><body name='m'><joint name='j' type='revolute' axis='0 1 0'/>"
      "<inertial mass='1' com='1 0 0'/></body><run penalty-inertia='1e-3'/></sarrus>");
  Side p = made(&r, SR_FORMULATION_PENALTY), a = made(&r, SR_FORMULATION_ABSOLUTE);
  ENSURE_SMALL(p.m->body_inertia[9] - 1e-3, 1e-15);
  ENSURE_SMALL(a.m->body_inertia[9], 0);
  close_side(&p);
  close_side(&a);
  close_side(&r);
}

TEST(only_a_relative_model_is_made_into_others) {
  Side r = open_text(pendulum), a = made(&r, SR_FORMULATION_ABSOLUTE), x;
  ENSURE_EQUAL(formulate(&r, SR_FORMULATION_RELATIVE, &x), SR_INPUT);
  a.spec = r.spec;
  ENSURE_EQUAL(formulate(&a, SR_FORMULATION_PENALTY, &x), SR_INPUT);
  a.spec = NULL;
  close_side(&a);
  close_side(&r);
}

// ------------------------------------------------------------------------------------------------------------- memory
typedef struct Meter {
  long calls, at_first_row, at_last_row, rows;
} Meter;

static void* count_calls(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)old_size;
  ++((Meter*)user)->calls;
  if (new_size > 0) return realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

static int read_meter(void* user, const double* row) {
  Meter* meter = user;
  (void)row;
  if (meter->rows++ == 0) meter->at_first_row = meter->calls;
  meter->at_last_row = meter->calls;
  return 0;
}

TEST(stepping_free_bodies_allocates_nothing) {
  Side r = open_text(laws);
  for (int k = 0; k < 2; k++) {
    Side x = made(&r, k == 0 ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_PENALTY);
    srRunOptions options = sr_run_options(x.m);
    Meter meter = {0};
    options.t_end = k == 0 ? 0.1 : 0.002;
    options.every = options.t_end / 10;
    options.row = read_meter;
    options.user = &meter;
    sr_set_allocator(count_calls, &meter);
    const srStatus status = sr_run(x.m, x.d, &options, NULL, &x.result);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(status, SR_OK);
    ENSURE_EQUAL(meter.rows, 11);
    ENSURE_EQUAL(meter.at_last_row, meter.at_first_row);
    close_side(&x);
  }
  close_side(&r);
}

// Fails the call whose number is in *user.
static void* fail_at_call(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)old_size;
  if (new_size > 0) return --*(long*)user == 0 ? NULL : realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

TEST(formulating_without_memory_is_reported_and_leaks_nothing) {
  Side r = open_text(laws);
  for (long n = 1;; n++) {
    long left = n;
    Side x = {0};
    sr_set_allocator(fail_at_call, &left);
    const srStatus status = sr_formulate(r.spec, r.m, r.d, SR_FORMULATION_ABSOLUTE, NULL, &x.m, &x.d);
    sr_set_allocator(NULL, NULL);
    close_side(&x);
    if (left > 0) break;  // enough for all
    ENSURE_EQUAL(status, SR_MEMORY);
    ENSURE(x.m == NULL && x.d == NULL);
  }
  close_side(&r);
}

// --------------------------------------------------------------------------------------------------------- evaluation
// A bent chain of two bodies in the plane; a state that moves, number k.
static void bend(const srModel* m, int k, double* q, double* v) {
  for (int i = 0; i < m->nq; i++) q[i] = m->q0[i] + (i % 7 < 3 ? 0.1 * k * (i + 1) : 0);
  for (int i = 0; i < m->nv; i++) v[i] = 0.3 * k + 0.1 * i;
}

// Callbacks of integrators leave out what the equations do not use, and keep what belongs to the same positions: another data, which never
// saw the states before, has the same numbers.
TEST(what_stages_of_an_integrator_leave_out_is_there_when_asked_for) {
  Side r = open_text(
      "<sarrus version='1' name='two'><body name='a'><joint name='p' type='revolute' axis='0 1 0' q='0.4'/>"
      "<inertial mass='2' com='0.1 0 -0.5' inertia='0.3 0.4 0.2'/></body><body name='b' parent='a'>"
      "<joint name='s' type='universal' axis='1 0 0' axis2='0 1 0' at='0 0.1 -1'/>"
      "<inertial mass='1' com='0 0.2 -0.3' inertia='0.2 0.1 0.1'/></body></sarrus>");
  Side a = made(&r, SR_FORMULATION_ABSOLUTE);
  const srModel* m = a.m;
  srData* fresh = sr_data_create(m);
  srModelSystem user = {.m = m, .d = a.d};
  const srSystem s = sr_system(&user);
  double q[14], v[12], f[12], M[12 * 12], G[12 * 12], gamma[12], g[12], b[12];
  for (int k = 1; k < 4; k++) {
    bend(m, k, q, v);
    memcpy(fresh->z, a.d->z, (size_t)m->nz * sizeof *fresh->z);
    for (int i = 0; i < m->njv; i++) a.d->tau[i] = fresh->tau[i] = k == 2 ? 1 + i : 0;
    ENSURE_EQUAL(s.dynamics(&user, 0.1, q, v, NULL, SR_TAU_ELEMENT, M, f, NULL, NULL), 0);
    ENSURE_EQUAL(s.gamma(&user, 0.1, q, v, gamma), 0);
    ENSURE_EQUAL(s.constraint(&user, 0.1, q, g, G, b), 0);
    fresh->stage = SR_STAGE_NONE;
    ENSURE_EQUAL(sr_evaluate(m, fresh, 0.1, q, v, NULL, SR_STAGE_ACCELERATION), 0);
    for (int i = 0; i < m->nv; i++) ENSURE_NEAR(f[i], fresh->f[i] - fresh->bias[i], 1e-13);
    ENSURE(apart(M, fresh->M, m->M_row[m->nv]) == 0);
    ENSURE(apart(G, fresh->G, m->G_start[m->ng]) == 0);
    ENSURE(apart(g, fresh->g, m->np) == 0 && apart(gamma, fresh->gamma, m->ng) == 0);
    ENSURE_EQUAL(sr_evaluate(m, a.d, 0.1, q, v, NULL, SR_STAGE_VELOCITY), 0);
    ENSURE(apart(a.d->jq, fresh->jq, m->njq) == 0 && apart(a.d->jv, fresh->jv, m->njv) == 0);
    ENSURE(largest(a.d->jv, m->njv) > 0.1);
  }
  sr_data_destroy(fresh);
  close_side(&a);
  close_side(&r);
}

// The constraints at the end of a step, the accepted state and the first stage of the next step: one pass over links and joints. A number
// that such a pass would overwrite stays where it was put.
TEST(the_end_of_a_step_is_evaluated_once) {
  Side r = open_text(
      "<sarrus version='1' name='two'><body name='a'><joint name='p' type='revolute' axis='0 1 0' q='0.4'/>"
      "<inertial mass='2' com='0.1 0 -0.5' inertia='0.3 0.4 0.2'/></body><body name='b' parent='a'>"
      "<joint name='s' type='revolute' axis='1 0 0' at='0 0.1 -1'/>"
      "<inertial mass='1' com='0 0.2 -0.3' inertia='0.2 0.1 0.1'/></body><driver joint='s' motion='0.1*sin(t)'/>"
      "</sarrus>");
  Side a = made(&r, SR_FORMULATION_ABSOLUTE);
  const srModel* m = a.m;
  srModelSystem user = {.m = m, .d = a.d};
  const srSystem s = sr_system(&user);
  double q[14], v[12], f[12], M[12 * 12], G[12 * 12], gamma[12], g[12], b[12];
  bend(m, 1, q, v);
  for (int i = 0; i < m->nq; i++)
    q[i] += i % 7 < 3 ? 0 : 1e-4 * (i + 1);  // quaternions as an explicit step leaves them
  ENSURE_EQUAL(s.constraint(&user, 0.1, q, g, G, b), 0);
  double* mark = a.d->link_pose + 16 + 3;  // a lane that is not used, of the first body
  ENSURE(*mark == 0);
  *mark = 7;
  ENSURE_EQUAL(s.accepted(&user, 0.1, q, v, NULL), 0);
  ENSURE(*mark == 7 && a.d->closures_known);
  const double row = a.d->jJ[0];
  a.d->jJ[0] = 7;
  ENSURE_EQUAL(sr_evaluate_motion(m, a.d, 0.1, q, v, NULL, SR_STAGE_VELOCITY), 0);  // as monitors do
  ENSURE(a.d->jJ[0] == 7);
  a.d->jJ[0] = row;
  ENSURE_EQUAL(s.dynamics(&user, 0.1, q, v, NULL, SR_TAU_ELEMENT, M, f, NULL, NULL), 0);
  ENSURE_EQUAL(s.gamma(&user, 0.1, q, v, gamma), 0);
  ENSURE(*mark == 7 && a.d->closures_known && a.d->measured == SR_STAGE_VELOCITY);
  ENSURE_EQUAL(s.constraint(&user, 0.2, q, g, G, b),
               0);  // another time: angles are counted anew, bodies are where they were
  ENSURE(*mark == 7);
  q[0] += 1e-3;
  ENSURE_EQUAL(s.constraint(&user, 0.2, q, g, G, b), 0);
  ENSURE(*mark == 0);
  close_side(&a);
  close_side(&r);
}
