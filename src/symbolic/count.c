// Operations of straight-line code. A product that is a term of a sum is one fused multiply-add with it, but for the first term of a sum of products alone.
#include "symbolic/code.h"

// Sums that are part of another sum.
static unsigned char* parts(srPool* pool, const srCode* code) {
  unsigned char* part = sr_pool_alloc(pool, (size_t)code->n + 1);
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    for (int k = 0; k < 2 && v->uses > 0 && sr_code_is_sum(v); k++) {
      const srCodeValue* child = &code->value[SR_REF_VALUE(v->child[k])];
      part[SR_REF_VALUE(v->child[k])] = sr_code_is_sum(child) && child->uses == 1;
    }
  }
  return part;
}

// As sr_code_terms.
static void count_terms(const srCode* code, int i, bool top, long* terms, long* products) {
  const srCodeValue* v = &code->value[i];
  if (sr_code_is_sum(v) && (top || v->uses == 1)) {
    for (int k = 0; k < 2; k++) count_terms(code, SR_REF_VALUE(v->child[k]), false, terms, products);
    return;
  }
  ++*terms;
  *products += v->op == SR_OP_MUL && v->uses == 1;
}

// All of them: which ones are left out depends on the state.
static void add_steps(srPool* pool, const srFold* fold, srOperations* to) {
  const long n = sr_fold_steps(fold);
  const srCode* const code[] = {fold->some, fold->step};
  for (int k = 0; k < SR_COUNT(code); k++) {
    const srOperations o = sr_code_count(pool, code[k]);
    to->add += n * o.add, to->mul += n * o.mul, to->div += n * o.div, to->fused += n * o.fused,
        to->other += n * o.other;
  }
}

srOperations sr_code_count(srPool* pool, const srCode* code) {
  srOperations o = {0};
  const unsigned char* part = parts(pool, code);
  unsigned char* angle = sr_pool_alloc(pool, (size_t)code->n + 1);
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->uses == 0 || v->op == SR_OP_CONST || v->op == SR_OP_VAR || v->op == SR_OP_PARAM) continue;
    switch (v->op) {
      case SR_OP_PASS:
      case SR_OP_PART: break;
      case SR_OP_FOLD: add_steps(pool, code->fold[v->index], &o); break;
      case SR_OP_MUL: o.mul++; break;
      case SR_OP_DIV: o.div++; break;
      case SR_OP_ADD: {
        o.add++;
        if (part[i]) break;
        long terms = 0, products = 0;
        count_terms(code, i, true, &terms, &products);
        o.fused += products == terms ? terms - 1 : products;
        break;
      }
      case SR_OP_SIN:
      case SR_OP_COS:
        o.angle += !angle[SR_REF_VALUE(v->child[0])];
        angle[SR_REF_VALUE(v->child[0])] = 1;
        break;
      default: o.other++; break;
    }
  }
  return o;
}
