// Values of generated statements for tests of src/symbolic: the code itself is run, value by value.
#ifndef SR_TEST_SYMBOLIC_VALUES_H
#define SR_TEST_SYMBOLIC_VALUES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "constraint/constraint.h"
#include "expr/graph.h"
#include "runner.h"
#include "symbolic/frames.h"

// What the inputs of a function are.
typedef struct State {
  double *q, *v, *a, *tau;
  double t;
  double *y, stage;
  const double* motion;
} State;

static inline double signed_value(const double* x, srRef ref) {
  return (SR_REF_MINUS(ref) ? -1 : 1) * x[SR_REF_VALUE(ref)];
}

static inline double input_value(const srCodeValue* u, const State* s) {
  switch (u->kind) {
    case SR_VAR_TIME: return s->t;
    case SR_VAR_Q: return s->q[u->index];
    case SR_VAR_V: return s->v[u->index];
    case SR_VAR_A: return s->a[u->index];
    case SR_VAR_TAU: return s->tau[u->index];
    case SR_VAR_STATE: return s->y[u->index];
    case SR_VAR_STAGE: return s->stage;
    case SR_VAR_MOTION: return s->motion[u->index];
    default: ENSURE(false); return 0;
  }
}

static inline double value_of(const srCode* code, const srCodeValue* u, const double* x, const State* s) {
  double c[3] = {0};
  if (u->op == SR_OP_CONST) return u->number;
  if (u->op == SR_OP_VAR) return input_value(u, s);
  for (int k = 0; k < sr_op_arity(u->op); k++) c[k] = signed_value(x, u->child[k]);
  if (u->op == SR_OP_PASS) return 0;
  if (u->op == SR_OP_LOOKUP) return sr_lookup(code->table[u->index].x, code->table[u->index].n, c[0]);
  return sr_op_value(u->op, c[0], c[1], c[2]);
}

// What a loop leaves; its arguments are a list, the last one first.
static inline double* fold_of(const srCode* code, const srCodeValue* u, const double* x) {
  const srFold* fold = code->fold[u->index];
  double* state = calloc((size_t)(fold->nstate + fold->narg + sr_fold_work(fold)) + 1, sizeof *state);
  double* arg = state + fold->nstate;
  const srCodeValue* pass = &code->value[SR_REF_VALUE(u->child[0])];
  for (int k = fold->narg - 1; k >= 0; k--, pass = &code->value[SR_REF_VALUE(pass->child[1])])
    arg[k] = signed_value(x, pass->child[0]);
  sr_fold_evaluate(fold, arg, arg + fold->narg, state);
  return state;
}

static inline void evaluate(const srCode* code, const State* s, double* out) {
  double *x = calloc((size_t)code->n + 1, sizeof *x), **left = calloc((size_t)code->n + 1, sizeof *left);
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* u = &code->value[i];
    if (u->op == SR_OP_FOLD)
      left[i] = fold_of(code, u, x);
    else if (u->op == SR_OP_PART)
      x[i] = left[SR_REF_VALUE(u->child[0])][u->index];
    else
      x[i] = value_of(code, u, x, s);
  }
  for (int i = 0; i < code->n; i++) free(left[i]);
  free(left);
  for (int i = 0; i < code->nout; i++) out[i] = signed_value(x, code->out[i]);
  free(x);
}

static inline double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static inline double farthest(const double* x, const double* y, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
  return most;
}

// How far the forces of the kernels move when positions and velocities change by a few roundings: no two ways of computing them need
// agree better than that (a slip is a quotient of velocities, of which one may be small).
static inline double force_moved(const srModel* m, const State* s) {
  const double few = 4 * 2.2e-16;
  srData* d = sr_data_create(m);
  double *q = calloc((size_t)m->nq + 1, sizeof *q), *v = calloc((size_t)m->nv + 1, sizeof *v);
  double *f = calloc((size_t)m->nv + 1, sizeof *f), most = 0;
  for (int k = 0; k <= 16; k++) {
    for (int i = 0; i < m->nq; i++) q[i] = s->q[i] * (1 + (k == 0 ? 0 : (k >> i % 4) % 2 ? few : -few));
    for (int i = 0; i < m->nv; i++) v[i] = s->v[i] * (1 + (k == 0 ? 0 : (k >> (i + 1) % 4) % 2 ? few : -few));
    memset(d->tau, 0, (size_t)m->njv * sizeof *d->tau);
    if (sr_evaluate_stage(m, d, s->t, q, v, s->y, SR_STAGE_FORCE, s->stage) != 0) continue;
    if (k == 0) memcpy(f, d->f, (size_t)m->nv * sizeof *f);
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(d->f[i] - f[i]));
  }
  free(q), free(v), free(f);
  sr_data_destroy(d);
  return most;
}

// In the model's own frames, or reframed and regrouped.
static inline srSymTree* tree_of(srPool* pool, const srModel* m, bool reduced) {
  double snapped = 0;
  srSymTree* tree = sr_sym_tree(pool, m, 1e-13, &snapped);
  ENSURE(snapped <= 1e-13);
  if (!reduced) return tree;
  sr_sym_reframe(tree, 1e-13);
  sr_sym_regroup(tree);
  sr_sym_snap(tree, 1e-14, &snapped);
  return tree;
}

// Without a search of frames.
static inline srCode* code_with(srPool* pool, srSymTree* tree, srSymBuild build, const void* user, int nout) {
  srGraph* g = sr_graph_create(pool);
  srNode* out = sr_pool_alloc(pool, ((size_t)nout + 1) * sizeof *out);
  build(sr_sym_pass(g, pool, tree), user, out);
  return sr_code_create(pool, g, out, nout);
}

#endif
