// Shorthand to write expressions down: srx_mul(g, a, srx_add(g, b, c)). What laws and closures are defined with (docs/developing/decisions/laws-on-the-graph.md).
#ifndef SR_EXPR_BUILD_H
#define SR_EXPR_BUILD_H

#include "expr/expr.h"

static inline srNode srx_number(srGraph* g, double x) { return sr_graph_const(g, x); }
static inline srNode srx_1(srGraph* g, srOp op, srNode a) { return sr_graph_op(g, op, a, SR_NO_NODE, SR_NO_NODE); }
static inline srNode srx_2(srGraph* g, srOp op, srNode a, srNode b) { return sr_graph_op(g, op, a, b, SR_NO_NODE); }
static inline srNode srx_add(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_ADD, a, b); }
static inline srNode srx_sub(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_SUB, a, b); }
static inline srNode srx_mul(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_MUL, a, b); }
static inline srNode srx_div(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_DIV, a, b); }
static inline srNode srx_pow(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_POW, a, b); }
static inline srNode srx_min(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_MIN, a, b); }
static inline srNode srx_max(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_MAX, a, b); }
static inline srNode srx_neg(srGraph* g, srNode a) { return srx_1(g, SR_OP_NEG, a); }
static inline srNode srx_exp(srGraph* g, srNode a) { return srx_1(g, SR_OP_EXP, a); }
static inline srNode srx_sqrt(srGraph* g, srNode a) { return srx_1(g, SR_OP_SQRT, a); }
static inline srNode srx_less(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_LT, a, b); }
static inline srNode srx_at_most(srGraph* g, srNode a, srNode b) { return srx_2(g, SR_OP_LE, a, b); }
static inline srNode srx_positive(srGraph* g, srNode a) { return srx_less(g, srx_number(g, 0), a); }
// condition ? a : b; the branch that is not taken may be anything, also no number.
static inline srNode srx_if(srGraph* g, srNode condition, srNode a, srNode b) {
  return sr_graph_op(g, SR_OP_IF, condition, a, b);
}

static inline srNode srx_dot(srGraph* g, int n, const srNode* a, const srNode* b) {
  srNode sum = srx_number(g, 0);
  for (int i = 0; i < n; i++) sum = srx_add(g, sum, srx_mul(g, a[i], b[i]));
  return sum;
}

// |a|; its derivative at a = 0 is 0.
static inline srNode srx_norm(srGraph* g, int n, const srNode* a) {
  if (n == 1) return srx_1(g, SR_OP_ABS, a[0]);
  const srNode square = srx_dot(g, n, a, a);
  return srx_if(g, srx_positive(g, square), srx_sqrt(g, square), srx_number(g, 0));
}

static inline void srx_cross(srGraph* g, const srNode* a, const srNode* b, srNode* out) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = srx_sub(g, srx_mul(g, a[j], b[k]), srx_mul(g, a[k], b[j]));
  }
}

#endif
