// Contact problems of a run as those get them who ask: numbers of a step computed by hand, and the text of a problem, which has the same residual when it is
// read again, whichever form the problem has.
#include <sarrus/io.h>

#include "constrained.h"

#define MASSES 40
#define WEIGHT 10.0
#define STEP 1e-2

// Masses 2 kg on rails along z: one, or a stack of MASSES, the lowest on the ground, each of which also slides along the one below it with friction.
typedef struct Rails {
  int n;
  double mu, e;
} Rails;

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const Rails* x = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < 2 * x->n; ++i) {
    M[2 * i] = i % 2 == 0 ? 2 : 0;
    M[2 * i + 1] = i % 2 == 0 ? 0 : 2;
    f[i] = i % 2 == 0 ? -2 * WEIGHT : 0;
  }
  return 0;
}

// Velocities of mass i: along z, then along x.
static int contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Rails* x = user;
  (void)t;
  for (int i = 0; i < x->n; ++i) {
    srUnilateral* c = &out[i];
    const int n = i > 0 ? 4 : 2;
    *c = (srUnilateral){.id = i, .mu = x->mu, .restitution = x->e, .n = n, .column = c->column, .W = c->W};
    c->gap = q[2 * i] - (i > 0 ? q[2 * i - 2] : 0);
    memset(c->W, 0, 8 * sizeof *c->W);
    for (int k = 0; k < n; ++k) {
      c->column[k] = k < 2 ? 2 * i + k : 2 * i - 4 + k;
      c->W[k % 2 == 0 ? k : n + k] = k < 2 ? 1 : -1;
    }
  }
  *count = x->n;
  return 0;
}

static srIntegrator* start(Rails* x, const double* q, const double* v, srSeeProblem* see, void* user) {
  static int row[2 * MASSES + 1], column[4 * MASSES];
  static srSparsity blocks;
  blocks = (srSparsity){2 * x->n, 2 * x->n, row, column};
  for (int i = 0; i < 2 * x->n; ++i) {
    row[i + 1] = 2 * (i + 1);
    for (int k = 0; k < 2; ++k) column[2 * i + k] = i - i % 2 + k;
  }
  const srSystem system = {.nq = 2 * x->n,
                           .nv = 2 * x->n,
                           .ncontact = x->n,
                           .ntangent = 1,
                           .ncolumn = 4,
                           .user = x,
                           .dynamics = dynamics,
                           .contacts = contacts,
                           .M_sparsity = &blocks};
  srIntegratorOptions o = sri_default_options();
  o.step = STEP;
  o.problem = see;
  o.user = user;
  srIntegrator* integrator = create("moreau", &system, o);
  ENSURE(sri_start(integrator, 0, q, v, NULL) == SR_OK);
  return integrator;
}

// ---- by hand --------------------------------------------------------------------------------------------------------------

static void see_ball(void* user, const srSolvedProblem* s) {
  const srContactProblem* p = s->problem;
  ++*(int*)user;
  ENSURE(s->t == 0 && s->step == 0 && s->impact == NULL);
  ENSURE_EQUAL(p->ncontact, 1);
  ENSURE_EQUAL(p->cone[0].rows, 1);
  ENSURE_NEAR(p->W[0], 0.5, 1e-15);                      // 1/m
  ENSURE_NEAR(p->q[0], -1 - WEIGHT * STEP, 1e-15);       // v_free
  ENSURE_NEAR(p->cone[0].shift, -0.5, 1e-15);            // e u-
  ENSURE(p->start[0] == 0);                              // no step before
  ENSURE_NEAR(p->solution[0], (1.1 + 0.5) / 0.5, 1e-8);  // W p + q + s = 0, to 1e-9 m/s
  ENSURE(p->tolerance == 1e-9 && s->result->solved);
}

TEST(a_saved_problem_is_that_of_the_step) {
  Rails ball = {.n = 1, .e = 0.5};
  int count = 0;
  srIntegrator* x = start(&ball, (double[]){0, 0}, (double[]){-1, 0}, see_ball, &count);
  ENSURE(sri_step(x, STEP) == SR_OK);
  ENSURE_EQUAL(count, 1);
  sri_destroy(x);
}

// ---- text -----------------------------------------------------------------------------------------------------------------

typedef struct Seen {
  int count, large;
  double worst;
} Seen;

static void see_and_replay(void* user, const srSolvedProblem* s) {
  Seen* seen = user;
  const srContactProblem* p = s->problem;
  srText text = {0};
  srContactProblem* again;
  srMessages* messages = sr_messages_create();
  sr_contact_problem_text(p, &text);
  ENSURE_EQUAL(sr_contact_problem_parse(text.data, text.n, "x", messages, &again), SR_OK);
  ENSURE(again->has_solution && again->tolerance == p->tolerance);
  ENSURE((again->row != NULL) == (p->row != NULL));
  const size_t rows = (size_t)sr_contact_rows(p) * sizeof *p->start;
  ENSURE(memcmp(again->start, p->start, rows) == 0 && memcmp(again->solution, p->solution, rows) == 0);
  const srContactSize most = sr_contact_size(again);
  srContactSolver* solver = sr_contact_solver_create(&most);
  const srContactError e = sr_contact_error(solver, again, again->solution);
  ENSURE(e.residual == s->result->error.residual);  // to the bit
  ENSURE_EQUAL(e.worst, s->result->error.worst);
  ++seen->count;
  seen->large += p->row != NULL;
  seen->worst = fmax(seen->worst, e.residual);
  sr_contact_solver_destroy(solver);
  sr_contact_problem_destroy(again);
  sr_text_free(&text);
  sr_messages_destroy(messages);
}

// 40 masses in one island have rows over scaled velocities; after a drop they begin as islands of few contacts, with matrices.
TEST(a_saved_problem_has_the_same_residual_when_it_is_read) {
  Rails stack = {.n = MASSES, .mu = 0.3};
  double q[2 * MASSES] = {0}, v[2 * MASSES] = {0};
  Seen seen = {0};
  for (int i = 0; i < MASSES; ++i) {
    q[2 * i] = 1e-3 * i * i;
    v[2 * i + 1] = 0.1 * (i % 3);
  }
  srIntegrator* x = start(&stack, q, v, see_and_replay, &seen);
  while (sri_time(x) < 40 * STEP) ENSURE(sri_step(x, 40 * STEP) == SR_OK);
  ENSURE(seen.large > 0 && seen.count > seen.large);
  ENSURE(seen.worst >= sri_impulses(x)->worst);  // solutions with fewer contacts than the last of a step are seen too
  sri_destroy(x);
}
