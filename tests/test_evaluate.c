// sr_evaluate: results do not depend on what a data was used for before, and what it holds is not computed again.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "runner.h"

// A tree with drivers, sensors in laws, a state and a ball joint: all that forces depend on.
static const char tree[] =
    "<sarrus version='1' name='tree'>"
    "<body name='a'><joint name='j1' type='revolute' axis='0 1 0' q='0.3'/><inertial mass='1' com='0.2 0 0'"
    " inertia='0.01 0.02 0.03'/><point name='tip' at='0.5 0 0'/></body>"
    "<body name='b' parent='a'><joint name='j2' type='ball' at='0.5 0 0'/><inertial mass='2' com='0 0.1 0'"
    " inertia='0.02 0.03 0.04'/><point name='end' at='0 0.3 0.1'/></body>"
    "<body name='c' parent='ground'><joint name='j3' type='prismatic' axis='1 0 0'/><inertial mass='1'"
    " inertia='1 1 1'/></body>"
    "<driver joint='j3' motion='0.2*sin(3*t)'/>"
    "<sensor name='s' point='b/end'/>"
    "<state name='i' initial='0.1' rate='v(j1) - 2*i + sensor(s, vx)'/>"
    "<torque joint='j1' law='3*i - sensor(s, z) + t'/>"
    "<link name='spring' a='b/end' b='ground' law='-5*(z - 1) - zdot'/>"
    "</sarrus>";

typedef struct State {
  double t, q[64], v[64], y[64], tau[64];
} State;

static void random_vector(Random* r, const double* about, int n, double size, double* out) {
  ENSURE(n <= 64);
  for (int i = 0; i < n; i++) out[i] = about[i] + random_in(r, -size, size);
}

static State new_state(Random* r, const srModel* m, const srData* start) {
  State x = {.t = start->t + random_in(r, 0, 0.1)};
  random_vector(r, start->q, m->nq, 0.05, x.q);
  random_vector(r, start->v, m->nv, 0.5, x.v);
  random_vector(r, start->y, m->ny, 0.1, x.y);
  random_vector(r, start->tau, m->njv, 1, x.tau);
  sr_normalize(m, x.q);
  return x;
}

static void ensure_same(const double* a, const double* b, int n, const char* what, srStage stage) {
  if (n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0) return;
  printf("%s at stage %d\n", what, (int)stage);
  ENSURE(!"the same bits as on fresh data");
}

// All that a stage promises, bit by bit.
static void compare(const srModel* m, const srData* d, const srData* fresh, srStage stage) {
#define SAME(field, n) ensure_same(d->field, fresh->field, n, #field, stage)
  if (stage >= SR_STAGE_POSITION) {
    SAME(link_X, 16 * m->nlink);
    SAME(link_E, 12 * m->nlink);
    SAME(link_pose, 16 * m->nlink);
    SAME(jq, m->njq);
  }
  if (stage >= SR_STAGE_VELOCITY) {
    SAME(link_twist, 8 * m->nlink);
    SAME(jv, m->njv);
  }
  if (stage >= SR_STAGE_FORCE) {
    SAME(motion, 3 * m->ndriver);
    SAME(f, m->nv);
    SAME(ydot, m->ny);
    SAME(formula, m->nformula);
  }
  if (stage >= SR_STAGE_ACCELERATION) {
    SAME(a, m->nv);
    SAME(lambda, m->ng);
    SAME(power, SR_ACCOUNTS);
    if (m->constrained) SAME(gamma, m->ng);
    if (m->constrained) SAME(G, m->G_start[m->ng]);
  }
  if (stage >= SR_STAGE_FRAMES) SAME(link_accel, 8 * m->nlink);
#undef SAME
}

// Something else that is done with a data between two evaluations.
static void disturb(Random* r, const srModel* m, srData* d, const State* x) {
  double out[64], M[64 * 64];
  switch (random_below(r, 9)) {
    case 0: sr_rnea(m, d, x->q, x->v, x->v, out); break;
    case 1: sr_crba(m, d, x->q, M); break;
    case 2: sr_mass_times(m, d, x->q, x->v, out); break;
    case 3:  // a state that is written into d, and a pass over it by hand
      memcpy(d->q, x->q, (size_t)m->nq * sizeof(double));
      sr_kinematics(m, d);
      break;
    case 4: memcpy(d->v, x->v, (size_t)m->nv * sizeof(double)); break;
    case 5: memcpy(d->q, x->q, (size_t)m->nq * sizeof(double)); break;
    case 6:  // the constraint equations, and accelerations that are not those of the motion
      if (d->stage >= SR_STAGE_VELOCITY && sr_constraints(m, d) == 0) (void)sr_constraint_gamma(m, d);
      break;
    case 7: sr_rnea(m, d, d->q, d->v, x->v, out); break;
    default: break;
  }
}

// Forces, times and discrete states that change while q and v do not.
static void change_inputs(Random* r, const srModel* m, srData* d, const State* x) {
  if (random_below(r, 2) == 0) memcpy(d->tau, x->tau, (size_t)m->njv * sizeof(double));
  for (int i = 0; i < m->nz && random_below(r, 3) == 0; i++) d->z[i] += 6.5 * random_below(r, 2);
  if (random_below(r, 3) == 0) d->t += 0.125;
}

static void ensure_fresh(const srModel* m, srData* d, uint64_t seed, int rounds) {
  Random r = {seed};
  srData* fresh = sr_data_create(m);
  State x[3];
  for (int i = 0; i < 3; i++) x[i] = new_state(&r, m, d);
  for (int i = 0; i < rounds; i++) {
    const State* at = &x[random_below(&r, 3)];
    const srStage stage = (srStage)(SR_STAGE_POSITION + random_below(&r, 5));
    disturb(&r, m, d, &x[random_below(&r, 3)]);
    change_inputs(&r, m, d, &x[random_below(&r, 3)]);
    const bool own = random_below(&r, 3) == 0;  // the state that d has
    const int answer =
        own ? sr_evaluate(m, d, d->t, NULL, NULL, NULL, stage) : sr_evaluate(m, d, at->t, at->q, at->v, at->y, stage);
    sr_data_reset(m, fresh);
    memcpy(fresh->z, d->z, (size_t)m->nz * sizeof(double));
    memcpy(fresh->tau, d->tau, (size_t)m->njv * sizeof(double));
    ENSURE_EQUAL(sr_evaluate(m, fresh, d->t, d->q, d->v, d->y, stage), answer);
    if (answer != 0) continue;
    ENSURE(d->stage >= stage);
    compare(m, d, fresh, stage);
  }
  sr_data_destroy(fresh);
}

TEST(an_evaluation_gives_the_bits_of_a_fresh_data) {
  static const char* const files[] = {"double-pendulum",
                                      "dc-motor",
                                      "top",
                                      "contact/bouncing-ball",
                                      "mechanisms/four-bar",
                                      "mechanisms/spatial-slider-crank",
                                      "benchmark/bricard"};
  const int rounds = runner_long() ? 4000 : 400;
  for (int i = 0; i < 7; i++) {
    Loaded x = open_model(files[i], "");
    ensure_fresh(x.m, x.d, 1 + (uint64_t)i, rounds);
    close_model(&x);
  }
  Loaded x = open_text(tree);
  ensure_fresh(x.m, x.d, 17, rounds);
  close_model(&x);
}

// Angles of free bodies are counted from discrete states and a time: these are inputs of the positions.
TEST(an_evaluation_of_free_bodies_gives_the_bits_of_a_fresh_data) {
  static const char* const files[] = {"mechanisms/four-bar", "double-pendulum"};
  for (int i = 0; i < 2; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, files[i]);
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel *m = NULL, *free_m = NULL;
    srData* free_d = NULL;
    ENSURE_EQUAL(sr_load(path, NULL, messages, &spec), SR_OK);
    ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
    srData* d = sr_data_create(m);
    ENSURE_EQUAL(sr_assemble(m, d, messages, NULL), SR_OK);
    ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &free_m, &free_d), SR_OK);
    ensure_fresh(free_m, free_d, 5 + (uint64_t)i, 400);
    sr_data_destroy(d), sr_data_destroy(free_d);
    sr_model_destroy(m), sr_model_destroy(free_m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
}

TEST(what_a_data_has_of_a_state_is_not_computed_again) {
  Loaded x = open_text(tree);
  srData* d = x.d;
  const double q = d->q[0], mark = 1234.5;
  ENSURE_EQUAL(sr_evaluate(x.m, d, 0.5, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
  ENSURE_EQUAL(d->stage, SR_STAGE_FRAMES);
  d->link_pose[16] = d->link_twist[8] = mark;
  ENSURE_EQUAL(sr_evaluate(x.m, d, 0.5, d->q, d->v, d->y, SR_STAGE_VELOCITY), 0);
  ENSURE(d->link_pose[16] == mark && d->link_twist[8] == mark);
  ENSURE_EQUAL(d->stage, SR_STAGE_FRAMES);  // it has the rest of this state too
  // Another time: forces are those of another state, poses are not.
  ENSURE_EQUAL(sr_evaluate(x.m, d, 0.75, NULL, NULL, NULL, SR_STAGE_VELOCITY), 0);
  ENSURE(d->link_pose[16] == mark);
  ENSURE_EQUAL(d->stage, SR_STAGE_VELOCITY);
  d->q[0] = q + 1;
  ENSURE_EQUAL(sr_evaluate(x.m, d, 0.75, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
  ENSURE(d->link_pose[16] != mark);
  ENSURE_EQUAL(d->stage, SR_STAGE_POSITION);
  close_model(&x);
}

// Forces depend on more than the state: they are evaluated whenever they are asked for.
TEST(a_force_that_changes_at_the_same_state_is_seen) {
  Loaded x = open_text(tree);
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  const double f = x.d->f[0], a = x.d->a[0];
  x.d->tau[0] = 2;
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_ACCELERATION), 0);
  ENSURE_NEAR(x.d->f[0], f + 2, 1e-14);
  ENSURE(x.d->a[0] > a);
  close_model(&x);
}

// A law that has no value: what follows from forces is no longer there, though q, v and t are the same.
TEST(an_evaluation_that_fails_leaves_the_stage_before_it) {
  Loaded x = open_text(
      "<sarrus version='1' name='x'><body name='a'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='1'"
      " inertia='1 1 1'/></body><state name='i' initial='1' rate='0'/><torque joint='j' law='1/i'/></sarrus>");
  ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
  ENSURE_EQUAL(x.d->stage, SR_STAGE_FRAMES);
  x.d->y[0] = 0;
  ENSURE(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FORCE) > 0);
  ENSURE_EQUAL(x.d->stage, SR_STAGE_VELOCITY);
  close_model(&x);
}

TEST(a_state_that_is_assembled_is_not_assembled_again) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srAssembly first, second;
  x.d->q[0] += 0.01;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &first), SR_OK);
  ENSURE(first.iterations > 0);
  const double mark = x.d->g[0] = 1234.5;
  srData* copy = sr_data_create(x.m);
  sr_data_copy(x.m, x.d, copy);
  ENSURE_EQUAL(sr_assemble(x.m, copy, NULL, &second), SR_OK);
  ENSURE(copy->g[0] == mark);
  ENSURE_EQUAL(second.iterations, 0);
  ENSURE(second.moved_position == 0 && second.residual_position == first.residual_position);
  ENSURE(memcmp(copy->q, x.d->q, (size_t)x.m->nq * sizeof(double)) == 0);
  // A state that is another one is assembled as ever.
  copy->v[0] += 1;
  ENSURE_EQUAL(sr_assemble(x.m, copy, NULL, &second), SR_OK);
  ENSURE(second.moved_velocity > 0.1 && copy->g[0] != mark);
  copy->q[0] += 0.01;
  ENSURE_EQUAL(sr_assemble(x.m, copy, NULL, &second), SR_OK);
  ENSURE(second.iterations > 0);
  sr_data_destroy(copy);
  close_model(&x);
}

TEST(a_driven_loop_is_assembled_again_at_another_time) {
  Loaded x = open_text(
      "<sarrus version='1' name='x'><body name='a'><joint name='j1' type='prismatic' axis='1 0 0'/><inertial mass='1'"
      " inertia='1 1 1'/></body><body name='b'><joint name='j2' type='prismatic' axis='1 0 0'/><inertial mass='1'"
      " inertia='1 1 1'/></body><constraint name='same' expr='q(j1) - q(j2)'/><driver joint='j1' "
      "motion='2*t'/></sarrus>");
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, NULL), SR_OK);
  x.d->t = 0.5;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, NULL), SR_OK);
  ENSURE_NEAR(x.d->q[0], 1, 1e-12);
  ENSURE_NEAR(x.d->q[1], 1, 1e-12);
  close_model(&x);
}
