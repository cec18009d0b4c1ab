// Couplings that the recursion over the tree eliminates, against the same couplings as constraint equations of the saddle-point system, against inverse
// dynamics, and in runs.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_tree.h"
#include "runner.h"
#include "symbolic/function.h"
#include "symbolic_values.h"

// ---- random trees -------------------------------------------------------------------------------------------------------------

static srModel* compiled(const srSpec* spec) {
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  const srStatus status = sr_compile(spec, messages, &m);
  for (int i = 0; status != SR_OK && i < sr_messages_count(messages); i++) {
    fprintf(stderr, "%s\n", sr_messages_get(messages, i)->text);
  }
  sr_messages_destroy(messages);
  ENSURE(m != NULL);
  return m;
}

static int root_of(const int* tied, int i) {
  while (tied[i] != i) i = tied[i];
  return i;
}

// Couplings between joints of one coordinate, at random: chains, several followers of one leader, joints that follow two others. No
// circles, and one driver at most in what is tied together. Returns how many.
static int couple(Random* r, srSpec* spec, const srModel* m, int wanted) {
  int tied[256], driven[256], joint[256], n = 0, count = 0;
  for (int j = 0; j < m->njoint; j++) {
    if (m->joint_nq[j] == 1 && !m->joint_implied[j]) joint[n++] = j;
  }
  for (int i = 0; i < n; i++) {
    tied[i] = i;
    driven[i] = m->dof_driver[m->joint_v[joint[i]]] >= 0;
  }
  for (int tries = 0; tries < 20 * wanted && count < wanted && n > 1; tries++) {
    const int a = random_below(r, n), b = random_below(r, n), ra = root_of(tied, a), rb = root_of(tied, b);
    if (ra == rb || driven[ra] + driven[rb] > 1) continue;
    tied[ra] = rb;
    driven[rb] += driven[ra];
    const double size = random_in(r, 0.3, 3), ratio = random_below(r, 2) ? size : -size;
    srs_add_coupling(spec, SR_NO_OWNER,
                     &(srCouplingDef){.joint = sr_text(m->joint_name[joint[a]]),
                                      .to = sr_text(m->joint_name[joint[b]]),
                                      .ratio = sr_number(ratio),
                                      .offset = sr_number(random_in(r, -1, 1))});
    count++;
  }
  return count;
}

// A body of its own, held by a formula: the model has other constraints now, and couplings become constraint equations. It comes last.
static void add_formula(srSpec* spec) {
  const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("aside"), .parent = sr_text("ground")});
  srs_add_joint(spec, body, &(srJointDef){.name = sr_text("aside"), .type = sr_text("prismatic")});
  srs_add_inertial(spec, body, &(srInertialDef){.mass = sr_number(1)});
  srs_add_constraint(spec, SR_NO_OWNER, &(srConstraintDef){.expr = sr_text("q(aside)")});
}

// The largest entry of M a + c - f - G^T lambda, by inverse dynamics.
static double residual_of(const srModel* m, srData* d) {
  srData* work = sr_data_create(m);
  double *force = calloc((size_t)m->nv, sizeof *force), *held = calloc((size_t)m->nv, sizeof *held);
  sr_rnea(m, work, d->q, d->v, d->a, force);
  sr_constraint_force(m, d, d->lambda, held);
  for (int i = 0; i < m->nv; i++) force[i] += m->dof_armature[i] * d->a[i] - d->f[i] - held[i];
  const double most = largest(force, m->nv);
  free(force);
  free(held);
  sr_data_destroy(work);
  return most;
}

// The generated statements in place of the recursion, at the state of d: largest difference of accelerations, relative.
static double generated_off(const srModel* m, srData* d, int seed) {
  extern const srSymFunction sr_function_accelred;
  const bool reduced = seed % 3 > 0;
  Random r = {(uint64_t)seed};
  srPool pool;
  sr_pool_init(&pool);
  const srSymContext context = {.m = m, .pool = &pool};
  ENSURE(sr_function_accelred.missing(&context) == NULL && !sr_function_accelred.partitioned(&context));
  srSymTree* tree = tree_of(&pool, m, reduced);
  for (int i = 1; i < tree->n && reduced; i++) {
    if (tree->link[i].type == SR_LINK_REVOLUTE && random_below(&r, 2)) tree->link[i].frame = SR_FRAME_BEFORE;
  }
  double* a = calloc((size_t)m->nv, sizeof *a);
  evaluate(code_with(&pool, tree, sr_function_accelred.build[0], &context, m->nv),
           &(State){d->q, d->v, NULL, d->f, d->t, .motion = d->motion}, a);
  const double off = farthest(a, d->a, m->nv) / largest(d->a, m->nv);
  free(a);
  sr_pool_free(&pool);
  return off;
}

// Largest differences, relative, of accelerations, of multipliers, of M a + c and f + G^T lambda; of generated accelerations.
typedef struct Off {
  double a, lambda, force, follow, generated;
} Off;

static Off compare(Random* r, const RandomTree* options, int wanted, int* ngroup) {
  srSpec* spec = random_tree_spec(r, options);
  srModel* plain = compiled(spec);
  const int count = couple(r, spec, plain, wanted);
  srModel* m = compiled(spec);
  add_formula(spec);
  srModel* rows = compiled(spec);
  ENSURE(count == 0 || m->elimination != NULL);
  ENSURE(rows->elimination == NULL);
  srData *d = sr_data_create(m), *e = sr_data_create(rows);
  random_state(r, m, d);
  sr_normalize(m, d->q);
  memcpy(e->q, d->q, (size_t)m->nq * sizeof *d->q);
  memcpy(e->v, d->v, (size_t)m->nv * sizeof *d->v);
  memcpy(e->tau, d->tau, (size_t)m->nv * sizeof *d->tau);
  d->t = e->t = 0.3;
  e->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_forward(rows, e, SR_TAU_ELEMENT), 0);
  const double size = largest(e->a, m->nv), load = fmax(largest(d->f, m->nv), largest(e->lambda, rows->ng));
  Off off = {.a = farthest(d->a, e->a, m->nv) / size, .follow = d->row_residual / size};
  off.lambda = fmax(farthest(d->lambda, e->lambda, count),
                    farthest(d->lambda + m->row_driver, e->lambda + rows->row_driver, m->ndriver)) /
               load;
  off.force = residual_of(m, d) / load;
  off.generated = count > 0 ? generated_off(m, d, *ngroup + 1) : 0;
  *ngroup += count;
  sr_data_destroy(d);
  sr_data_destroy(e);
  sr_model_destroy(m);
  sr_model_destroy(rows);
  sr_model_destroy(plain);
  srs_destroy(spec);
  return off;
}

static void compare_many(const RandomTree* options, int wanted, int times, uint64_t seed) {
  Random r = {seed};
  Off worst = {0};
  int count = 0;
  for (int k = 0; k < times; k++) {
    const Off off = compare(&r, options, wanted, &count);
    worst.a = fmax(worst.a, off.a);
    worst.lambda = fmax(worst.lambda, off.lambda);
    worst.force = fmax(worst.force, off.force);
    worst.follow = fmax(worst.follow, off.follow);
    worst.generated = fmax(worst.generated, off.generated);
  }
  if (getenv("SARRUS_TEST_VERBOSE")) {
    printf("  %d couplings: a %.2g, lambda %.2g, inverse dynamics %.2g, rows %.2g, generated %.2g\n", count, worst.a,
           worst.lambda, worst.force, worst.follow, worst.generated);
  }
  ENSURE(count > times);
  ENSURE_SMALL(worst.a, 1e-12);
  ENSURE_SMALL(worst.lambda, 1e-12);
  ENSURE_SMALL(worst.force, 1e-12);
  ENSURE_SMALL(worst.follow, 1e-14);
  ENSURE_SMALL(worst.generated, 1e-12);
}

TEST(eliminated_couplings_give_the_accelerations_and_multipliers_of_the_saddle_point_system) {
  compare_many(&(RandomTree){.nbody = 8, .no_massless = true}, 2, 40, 1);
  compare_many(&(RandomTree){.nbody = 25, .armature = true, .no_massless = true}, 4, 40, 2);
  compare_many(&(RandomTree){.nbody = 30, .armature = true, .free_root = true, .no_massless = true}, 9, 40, 3);
}

TEST(eliminated_couplings_agree_with_constraint_equations_where_joints_are_driven) {
  compare_many(&(RandomTree){.nbody = 20, .armature = true, .drivers = true, .no_massless = true}, 4, 60, 4);
  compare_many(&(RandomTree){.nbody = 30, .drivers = true, .free_root = true, .no_massless = true}, 8, 40, 5);
}

TEST(eliminated_couplings_agree_with_constraint_equations_in_trees_with_massless_bodies) {
  compare_many(&(RandomTree){.nbody = 25, .armature = true}, 4, 40, 6);
}

// ---- which models ---------------------------------------------------------------------------------------------------------------

typedef struct Bench {
  srModel* m;
  srData* d;
} Bench;

static Bench load(const char* text) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  Bench b = {0};
  const srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  for (int i = 0; status != SR_OK && i < sr_messages_count(messages); i++) {
    fprintf(stderr, "%s\n", sr_messages_get(messages, i)->text);
  }
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  b.m = compiled(spec);
  b.d = sr_data_create(b.m);
  srs_destroy(spec);
  return b;
}

static void unload(Bench b) {
  sr_data_destroy(b.d);
  sr_model_destroy(b.m);
}

// Three arms on a trolley, and a finger on the first of them.
#define HAND(part)                                                                                                     \
  "<sarrus version='1' name='hand'>"                                                                                   \
  "<body name='x'><joint type='prismatic' axis='1 0 0'/><inertial mass='3'/></body>"                                   \
  "<body name='a' parent='x'><joint type='revolute' axis='0 1 0' q='0.3' v='1'/>"                                      \
  "<inertial mass='1' com='0.1 0 -0.3' inertia='0.02 0.03 0.01'/></body>"                                              \
  "<body name='f' parent='a'><joint type='revolute' axis='0 1 0' at='0 0 -0.5' armature='0.01'/>"                      \
  "<inertial mass='0.4' com='0 0 -0.1' inertia='0.002 0.003 0.001'/></body>"                                           \
  "<body name='b' parent='x'><joint type='revolute' axis='0 1 0' at='0.4 0 0'/>"                                       \
  "<inertial mass='2' com='0 0.1 -0.2' inertia='0.05 0.04 0.03'/></body>"                                              \
  "<body name='c' parent='x'><joint type='prismatic' axis='0 0 1' at='-0.4 0 0'/>"                                     \
  "<inertial mass='0.7' com='0.1 0 0'/></body>"                                                                        \
  "<torque joint='x' law='-40*q(x)'/><torque joint='f' law='-2*q(f)-0.1*v(f)'/>" part "</sarrus>"

static const char gears[] = HAND(
    "<coupling name='k' joint='f' to='a' ratio='-1.7' offset='0.2'/><coupling joint='b' to='f' ratio='0.6'/>"
    "<coupling joint='c' to='a' ratio='0.1' offset='-0.3'/>");

static bool eliminates(const char* text) {
  Bench b = load(text);
  const bool found = b.m->elimination != NULL;
  unload(b);
  return found;
}

TEST(couplings_stay_constraint_equations_with_other_constraints_and_where_they_are_redundant) {
  ENSURE(eliminates(gears));
  ENSURE(eliminates(HAND("<coupling joint='b' to='a'/><coupling joint='b' to='f' ratio='2'/>")));  // follows two
  ENSURE(eliminates(HAND("<coupling joint='b' to='a' ratio='0'/>")));
  ENSURE(eliminates(
      HAND("<coupling joint='b' to='a'/><driver joint='b' motion='sin(t)'/><driver joint='x' motion='t'/>")));
  ENSURE(!eliminates(HAND("")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a'/><coupling joint='f' to='b'/><coupling joint='a' to='f'/>")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a'/><coupling joint='b' to='a'/>")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a'/><driver joint='a' motion='t'/><driver joint='b' motion='t'/>")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a' ratio='0'/><driver joint='b' motion='0'/>")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a'/><constraint expr='q(x)-q(f)'/>")));
  ENSURE(!eliminates(HAND("<coupling joint='b' to='a'/><closure type='point-plane' a='c' b='ground'/>")));
}

// A point mass on its own axis has no inertia about it, whatever it is coupled with.
TEST(a_group_without_inertia_is_refused_as_with_constraint_equations) {
  static const char* const parts[] = {"",
                                      "<body name='z'><joint type='prismatic'/><inertial mass='1'/></body>"
                                      "<constraint expr='q(z)'/>"};
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "<sarrus version='1' name='unused'><body name='a'><joint type='revolute'/><inertial mass='1'/></body>"
             "<body name='b'><joint type='revolute' axis='1 0 0'/><inertial mass='2'/></body>"
             "<coupling joint='b' to='a'/>%s</sarrus>",
             parts[k]);
    Bench b = load(text);
    ENSURE_EQUAL(b.m->elimination != NULL, k == 0);
    ENSURE(sr_forward(b.m, b.d, SR_TAU_ELEMENT) > 0);
    ENSURE(strstr(b.d->error_message, "no constraint holds") != NULL);
    unload(b);
  }
}

// ---- runs -----------------------------------------------------------------------------------------------------------------------

static srRunResult run(Bench* b, const char* method, double t_end) {
  srRunOptions o = sr_run_options(b->m);
  srMessages* messages = sr_messages_create();
  srRunResult result;
  o.t_end = t_end;
  o.method = method;
  o.step = 1e-4;
  o.rtol = 1e-10;
  o.atol = 1e-12;
  const srStatus status = sr_run(b->m, b->d, &o, messages, &result);
  if (status != SR_OK) printf("%s: %s\n", method, result.error_message);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return result;
}

static void ensure_tied(const Bench* b) {
  for (int i = 0; i < b->m->ncoupling; i++) {
    const srCoupling* c = &b->m->coupling[i];
    ENSURE_NEAR(b->d->q[c->qdof[0]], -c->factor[1] * b->d->q[c->qdof[1]] + c->offset, 4e-16);
    ENSURE_NEAR(b->d->v[c->dof[0]], -c->factor[1] * b->d->v[c->dof[1]], 2e-15);
    ENSURE_NEAR(b->d->a[c->dof[0]], -c->factor[1] * b->d->a[c->dof[1]], 1e-12);
  }
}

// The same motion with two methods that keep constraint equations (implicit) and with all explicit ones, which factor nothing.
TEST(explicit_methods_need_no_constraint_equations_for_couplings_and_nothing_drifts) {
  static const char* const methods[] = {"dopri5", "mdop5", "hem5", "phem56", "auto", "rk4"};
  Bench by_rows = load(gears);
  const srRunResult reference = run(&by_rows, "radau5", 3);
  ENSURE(reference.stats.factorizations > 0 && reference.rank == 3);
  for (int k = 0; k < (int)(sizeof methods / sizeof *methods); k++) {
    Bench b = load(gears);
    const srRunResult r = run(&b, methods[k], 3);
    ENSURE_EQUAL(r.stats.factorizations, 0);
    ENSURE_EQUAL(r.rank, 3);
    ENSURE_SMALL(r.violation_position, 4e-15);  // rounding of one step: what is taken away after it
    ENSURE_SMALL(r.violation_velocity, 4e-14);
    ENSURE_SMALL(r.energy.residual / r.energy.scale, 1e-8);
    ENSURE_SMALL(farthest(b.d->q, by_rows.d->q, b.m->nq), 2e-8);
    ENSURE_SMALL(farthest(b.d->v, by_rows.d->v, b.m->nv), 2e-7);
    ENSURE_SMALL(farthest(b.d->lambda, by_rows.d->lambda, 3), 2e-6);
    ensure_tied(&b);
    unload(b);
  }
  unload(by_rows);
}

TEST(a_run_with_couplings_may_be_cut_anywhere) {
  Bench whole = load(gears), cut = load(gears);
  run(&whole, "dopri5", 2);
  for (int k = 1; k <= 8; k++) {
    const srRunResult r = run(&cut, k % 2 ? "dopri5" : "hem5", 0.25 * k);
    ENSURE(k == 1 || r.assembly.iterations == 0);
  }
  ensure_tied(&cut);
  ENSURE_SMALL(farthest(whole.d->q, cut.d->q, whole.m->nq), 1e-8);
  ENSURE_SMALL(farthest(whole.d->v, cut.d->v, whole.m->nv), 1e-7);
  unload(whole);
  unload(cut);
}

// Two wheels: J_a = 2, J_b = 0.5, b = -3 a + 0.1; b is driven with sin(t), so a'' = sin(t)/3. Torque on a alone, 1 Nm:
// 2 a'' = 1 - ratio lambda,   0.5 b'' = driver + lambda.
TEST(a_driven_follower_carries_its_leader) {
  static const char* const methods[] = {"dopri5", "hem5", "radau5", "cvode"};
  for (int k = 0; k < 4; k++) {
    Bench b = load(
        "<sarrus version='1' name='wheels'><body name='a'><joint type='revolute' q='0.0333333333333333333' v='-1'/>"
        "<inertial mass='1' inertia='1 1 2'/></body><body name='b'><joint type='revolute' axis='0 0 1' v='3'/>"
        "<inertial mass='1' inertia='1 1 0.5'/></body><coupling joint='b' to='a' ratio='-3' offset='0.1'/>"
        "<driver joint='b' motion='3*sin(t)'/><torque joint='a' law='1'/></sarrus>");
    const double t = 1.3, a = sin(t), lambda = (1 - 2 * a) / -3;
    ENSURE(b.m->elimination != NULL);
    const srRunResult r = run(&b, methods[k], t);
    ENSURE_NEAR(b.d->q[1], 3 * sin(t), 1e-9);
    ENSURE_NEAR(b.d->v[0], -cos(t), 1e-9);
    ENSURE_NEAR(b.d->a[0], a, 1e-12);
    ENSURE_NEAR(b.d->lambda[0], lambda, 1e-12);
    ENSURE_NEAR(b.d->lambda[1], 0.5 * -3 * a - lambda, 1e-12);
    ENSURE_SMALL(r.energy.residual / r.energy.scale,
                 1e-7);  // the largest is that of cvode, whose work is outside its error control
    ensure_tied(&b);
    unload(b);
  }
}

// Events: the state at which a follower passes a place is on the couplings, and so is what goes on from there.
TEST(events_of_coupled_joints_start_anew_on_the_couplings) {
  Bench b =
      load(HAND("<coupling joint='f' to='a' ratio='-1.7' offset='0.2'/><coupling joint='b' to='f' ratio='0.6'/>"
                "<state name='passed' initial='0' rate='0'/><event when='q(b)+0.1' do='passed=passed+1'/>"));
  Bench without =
      load(HAND("<coupling joint='f' to='a' ratio='-1.7' offset='0.2'/><coupling joint='b' to='f' ratio='0.6'/>"));
  const srRunResult r = run(&b, "dopri5", 3);
  run(&without, "dopri5", 3);
  ENSURE(b.d->y[0] > 1);
  ENSURE_SMALL(r.violation_position, 4e-15);
  ensure_tied(&b);
  ENSURE_SMALL(farthest(b.d->q, without.d->q, b.m->nq), 1e-7);
  unload(b);
  unload(without);
}
