// Values of straight-line code and its loops, for what the generator itself has to know in numbers, and for tests.
#include <string.h>

#include "expr/graph.h"
#include "symbolic/code.h"

static double signed_value(const double* x, srRef ref) {
  return SR_REF_MINUS(ref) ? -x[SR_REF_VALUE(ref)] : x[SR_REF_VALUE(ref)];
}

// ---- loops --------------------------------------------------------------------------------------------------------------

int sr_fold_steps(const srFold* fold) {
  int n = 1;
  for (int k = 0; k < SR_FOLD_INDICES; k++) n *= fold->n[k];
  return n;
}

int sr_fold_work(const srFold* fold) {
  return fold->nstate + (fold->some->work > fold->step->work ? fold->some->work : fold->step->work);
}

void sr_fold_evaluate(const srFold* fold, const double* arg, double* work, double* state) {
  double index[SR_FOLD_INDICES], some, *next = work, *own = work + fold->nstate;
  const double* input[SR_VAR_KINDS + 1] = {[SR_VAR_TIME] = index, [SR_VAR_ARG] = arg, [SR_VAR_RECORD] = state};
  memset(state, 0, (size_t)fold->nstate * sizeof *state);
  for (int i = 0, n = sr_fold_steps(fold); i < n; i++) {
    for (int k = SR_FOLD_INDICES - 1, rest = i; k >= 0; rest /= fold->n[k], k--) index[k] = rest % fold->n[k];
    sr_code_evaluate(fold->some, input, own, &some);
    if (some == 0) continue;
    sr_code_evaluate(fold->step, input, own, next);
    memcpy(state, next, (size_t)fold->nstate * sizeof *state);
  }
}

// Arguments are a list, the last one first. Its value is where it leaves its state in x.
static double run_fold(const srCode* code, const srCodeValue* v, double* x, int* end) {
  const srFold* fold = code->fold[v->index];
  double *state = x + *end, *arg = state + fold->nstate;
  const int at = *end;
  const srCodeValue* pass = &code->value[SR_REF_VALUE(v->child[0])];
  for (int k = fold->narg - 1; k >= 0; k--, pass = &code->value[SR_REF_VALUE(pass->child[1])])
    arg[k] = signed_value(x, pass->child[0]);
  sr_fold_evaluate(fold, arg, arg + fold->narg, state);
  *end += fold->nstate;
  return at;
}

// ---- values -------------------------------------------------------------------------------------------------------------

static double value_of(const srCode* code, const srCodeValue* v, const double* const* input, double* x, int* end) {
  double c[3] = {0};
  if (v->op == SR_OP_CONST) return v->number;
  if (v->op == SR_OP_PARAM) return input[SR_VAR_KINDS][v->index];
  if (v->op == SR_OP_VAR) return input[v->kind][v->index];
  if (v->op == SR_OP_PASS) return 0;
  if (v->op == SR_OP_FOLD) return run_fold(code, v, x, end);
  for (int k = 0; k < sr_op_arity(v->op); k++) c[k] = signed_value(x, v->child[k]);
  if (v->op == SR_OP_PART) return x[(int)c[0] + v->index];
  if (v->op == SR_OP_LOOKUP) return sr_lookup(code->table[v->index].x, code->table[v->index].n, c[0]);
  return sr_op_value(v->op, c[0], c[1], c[2]);
}

void sr_code_evaluate(const srCode* code, const double* const* input, double* work, double* out) {
  int end = code->n;
  for (int i = 0; i < code->n; i++)
    work[i] = code->value[i].uses > 0 ? value_of(code, &code->value[i], input, work, &end) : 0;
  for (int i = 0; i < code->nout; i++) out[i] = signed_value(work, code->out[i]);
}
