// Values of straight-line code, for what the generator itself has to know in numbers.
#include "expr/graph.h"
#include "symbolic/code.h"

static double signed_value(const double* x, srRef ref) {
  return SR_REF_MINUS(ref) ? -x[SR_REF_VALUE(ref)] : x[SR_REF_VALUE(ref)];
}

static double value_of(const srCode* code, const srCodeValue* v, const double* const* input, const double* x) {
  double c[3] = {0};
  if (v->op == SR_OP_CONST) return v->number;
  if (v->op == SR_OP_PARAM) return input[SR_VAR_KINDS][v->index];
  if (v->op == SR_OP_VAR) return input[v->kind][v->index];
  for (int k = 0; k < sr_op_arity(v->op); k++) c[k] = signed_value(x, v->child[k]);
  if (v->op == SR_OP_LOOKUP) return sr_lookup(code->table[v->index].x, code->table[v->index].n, c[0]);
  return sr_op_value(v->op, c[0], c[1], c[2]);
}

void sr_code_evaluate(const srCode* code, const double* const* input, double* work, double* out) {
  for (int i = 0; i < code->n; i++)
    work[i] = code->value[i].uses > 0 ? value_of(code, &code->value[i], input, work) : 0;
  for (int i = 0; i < code->nout; i++) out[i] = signed_value(work, code->out[i]);
}
