// Building a node with folding. Every rule is exact in real arithmetic and makes a smaller graph; together they give
// a normal form that lets more subexpressions meet in one node:
//   - operations on constants become constants, as long as the result is finite (1/0 stays 1/0, and so does log(-1));
//   - x+0, x*1, x*0, x-x, x/1, 0/x, x^0, x^1, --x vanish; x+x is 2*x; x^2, x^3, x^4 become products, x^-1 a quotient;
//   - one constant per product, in front: c1*(c2*x), (c*x)*y; one constant per sum: c1+(c2+x); x-c is (-c)+x;
//   - minus signs move outwards and end in sums: (-x)*y is -(x*y), a+(-b) is a-b, -(a-b) is b-a.
// x*0 = 0 takes it that x is finite. The rules call each other, but each call has fewer nodes below or a constant
// less, so that the recursion is a few levels deep whatever the size of the graph.
#include <math.h>

#include "expr/graph.h"

#define ROUNDING 1e-15  // of numbers that cancel, where a graph is built for few operations

typedef srGraph G;  // the rules are read as formulas; a short name keeps them on one line

static srOp op_of(const G* g, srNode x) { return g->nodes[x].op; }
static srNode child(const G* g, srNode x, int i) { return g->nodes[x].child[i]; }
static double value_of(const G* g, srNode x) { return g->nodes[x].value; }
static bool is_const(const G* g, srNode x) { return op_of(g, x) == SR_OP_CONST; }
static bool is(const G* g, srNode x, double value) { return is_const(g, x) && value_of(g, x) == value; }
static srNode op1(G* g, srOp op, srNode a) { return sr_graph_op(g, op, a, SR_NO_NODE, SR_NO_NODE); }
static srNode op2(G* g, srOp op, srNode a, srNode b) { return sr_graph_op(g, op, a, b, SR_NO_NODE); }

// True for op(constant, y): a sum or product of the normal form with a constant in front (or constant - y).
static bool has_const(const G* g, srNode x, srOp op) { return op_of(g, x) == op && is_const(g, child(g, x, 0)); }

// c1 (op) c2 as a node, or SR_NO_NODE when it overflows or a product underflows: then it is better left alone.
static srNode combine(G* g, srOp op, srNode c1, srNode c2) {
  double value = sr_op_value(op, value_of(g, c1), value_of(g, c2), 0);
  if (g->for_code && op != SR_OP_MUL && fabs(value) <= ROUNDING * fabs(value_of(g, c1))) value = 0;
  if (!isfinite(value) || (op == SR_OP_MUL && value == 0)) return SR_NO_NODE;
  return sr_graph_const(g, value);
}

// True when x is y with a minus in front: -y, or -c*y. *y is the node without it.
static bool negated(G* g, srNode x, srNode* y) {
  if (op_of(g, x) == SR_OP_NEG) {
    *y = child(g, x, 0);
    return true;
  }
  if (!has_const(g, x, SR_OP_MUL) || !(value_of(g, child(g, x, 0)) < 0)) return false;  // NaN too
  *y = op2(g, SR_OP_MUL, sr_graph_const(g, -value_of(g, child(g, x, 0))), child(g, x, 1));
  return true;
}

// c + x, c a constant, x none.
static srNode fold_add_const(G* g, srNode c, srNode x) {
  srNode sum;
  if (is(g, c, 0)) return x;
  if (has_const(g, x, SR_OP_ADD) && (sum = combine(g, SR_OP_ADD, c, child(g, x, 0))) != SR_NO_NODE)
    return op2(g, SR_OP_ADD, sum, child(g, x, 1));
  if (has_const(g, x, SR_OP_SUB) && (sum = combine(g, SR_OP_ADD, c, child(g, x, 0))) != SR_NO_NODE)
    return op2(g, SR_OP_SUB, sum, child(g, x, 1));
  srNode y;
  if (negated(g, x, &y)) return op2(g, SR_OP_SUB, c, y);
  return sr_graph_intern(g, SR_OP_ADD, c, x, SR_NO_NODE);
}

static srNode fold_add(G* g, srNode a, srNode b) {
  if (is_const(g, a)) return fold_add_const(g, a, b);
  if (is_const(g, b)) return fold_add_const(g, b, a);
  if (a == b) return op2(g, SR_OP_MUL, sr_graph_const(g, 2), a);
  srNode y;
  if (negated(g, b, &y)) return op2(g, SR_OP_SUB, a, y);
  if (negated(g, a, &y)) return op2(g, SR_OP_SUB, b, y);
  return sr_graph_intern(g, SR_OP_ADD, a, b, SR_NO_NODE);
}

static srNode fold_sub(G* g, srNode a, srNode b) {
  srNode y;
  if (a == b) return sr_graph_const(g, 0);
  if (is(g, a, 0)) return op1(g, SR_OP_NEG, b);
  if (is_const(g, b)) return op2(g, SR_OP_ADD, sr_graph_const(g, -value_of(g, b)), a);
  if (negated(g, b, &y)) return op2(g, SR_OP_ADD, a, y);
  if (is_const(g, a)) {  // c1 - (c2 + x) and c1 - (c2 - x)
    srNode c;
    if (has_const(g, b, SR_OP_ADD) && (c = combine(g, SR_OP_SUB, a, child(g, b, 0))) != SR_NO_NODE)
      return op2(g, SR_OP_SUB, c, child(g, b, 1));
    if (has_const(g, b, SR_OP_SUB) && (c = combine(g, SR_OP_SUB, a, child(g, b, 0))) != SR_NO_NODE)
      return op2(g, SR_OP_ADD, c, child(g, b, 1));
  }
  return sr_graph_intern(g, SR_OP_SUB, a, b, SR_NO_NODE);
}

// c * x, c a constant, x none.
static srNode fold_mul_const(G* g, srNode c, srNode x) {
  srNode product;
  if (is(g, c, 0)) return c;
  if (is(g, c, 1)) return x;
  if (is(g, c, -1)) return op1(g, SR_OP_NEG, x);
  if (has_const(g, x, SR_OP_MUL) && (product = combine(g, SR_OP_MUL, c, child(g, x, 0))) != SR_NO_NODE)
    return op2(g, SR_OP_MUL, product, child(g, x, 1));
  if (op_of(g, x) == SR_OP_NEG) return op2(g, SR_OP_MUL, sr_graph_const(g, -value_of(g, c)), child(g, x, 0));
  return sr_graph_intern(g, SR_OP_MUL, c, x, SR_NO_NODE);
}

static srNode fold_mul(G* g, srNode a, srNode b) {
  if (is_const(g, a)) return fold_mul_const(g, a, b);
  if (is_const(g, b)) return fold_mul_const(g, b, a);
  if (op_of(g, a) == SR_OP_NEG) return op1(g, SR_OP_NEG, op2(g, SR_OP_MUL, child(g, a, 0), b));
  if (op_of(g, b) == SR_OP_NEG) return op1(g, SR_OP_NEG, op2(g, SR_OP_MUL, a, child(g, b, 0)));
  if (!g->for_code && has_const(g, a, SR_OP_MUL))
    return fold_mul_const(g, child(g, a, 0), op2(g, SR_OP_MUL, child(g, a, 1), b));
  if (!g->for_code && has_const(g, b, SR_OP_MUL))
    return fold_mul_const(g, child(g, b, 0), op2(g, SR_OP_MUL, a, child(g, b, 1)));
  return sr_graph_intern(g, SR_OP_MUL, a, b, SR_NO_NODE);
}

static srNode fold_div(G* g, srNode a, srNode b) {
  if (is(g, b, 1) || (is(g, a, 0) && !is_const(g, b))) return a;
  if (is(g, b, -1)) return op1(g, SR_OP_NEG, a);
  if (op_of(g, a) == SR_OP_NEG) return op1(g, SR_OP_NEG, op2(g, SR_OP_DIV, child(g, a, 0), b));
  if (op_of(g, b) == SR_OP_NEG) return op1(g, SR_OP_NEG, op2(g, SR_OP_DIV, a, child(g, b, 0)));
  return sr_graph_intern(g, SR_OP_DIV, a, b, SR_NO_NODE);
}

static srNode fold_pow(G* g, srNode a, srNode b) {
  if (is(g, b, 0) || is(g, a, 1)) return sr_graph_const(g, 1);
  if (is(g, b, 1)) return a;
  if (is(g, b, -1)) return op2(g, SR_OP_DIV, sr_graph_const(g, 1), a);
  if (is(g, b, 0.5)) return op1(g, SR_OP_SQRT, a);
  if (is(g, b, 2) || is(g, b, 3) || is(g, b, 4)) {
    srNode square = op2(g, SR_OP_MUL, a, a);
    return is(g, b, 2) ? square : op2(g, SR_OP_MUL, square, is(g, b, 3) ? a : square);
  }
  return sr_graph_intern(g, SR_OP_POW, a, b, SR_NO_NODE);
}

static srNode fold_neg(G* g, srNode a) {
  srNode y;
  if (negated(g, a, &y)) return y;
  if (op_of(g, a) == SR_OP_SUB) return op2(g, SR_OP_SUB, child(g, a, 1), child(g, a, 0));
  if (has_const(g, a, SR_OP_MUL))
    return op2(g, SR_OP_MUL, sr_graph_const(g, -value_of(g, child(g, a, 0))), child(g, a, 1));
  return sr_graph_intern(g, SR_OP_NEG, a, SR_NO_NODE, SR_NO_NODE);
}

static srNode fold_if(G* g, srNode condition, srNode a, srNode b) {
  if (is_const(g, condition)) return value_of(g, condition) != 0 ? a : b;
  return a == b ? a : sr_graph_intern(g, SR_OP_IF, condition, a, b);
}

static bool is_of_time_alone(const G* g, srNode a) {
  const unsigned vars = g->nodes[a].depends & SR_DEPENDS_ANY_VAR;
  return vars == 0 || vars == SR_DEPENDS_VAR(SR_VAR_TIME);
}

// abs, min and max of the time alone as an `if`, which is located: at rest nothing else would make a step end before a pulse.
static srNode choose(G* g, srNode low, srNode high, srNode if_ordered, srNode otherwise) {
  return sr_graph_op(g, SR_OP_IF, op2(g, SR_OP_LE, low, high), if_ordered, otherwise);
}

// The result for constant children, or SR_NO_NODE when a child is none or the result is not finite.
static srNode fold_constants(G* g, srOp op, const srNode* x, int arity) {
  double v[3] = {0, 0, 0};
  for (int i = 0; i < arity; i++) {
    if (!is_const(g, x[i])) return SR_NO_NODE;
    v[i] = value_of(g, x[i]);
  }
  double value = sr_op_value(op, v[0], v[1], v[2]);
  // Not finite: kept as it is. No rule below may apply to it, or 0/0 would become 0.
  return isfinite(value) ? sr_graph_const(g, value) : sr_graph_intern(g, op, x[0], x[1], x[2]);
}

srNode sr_graph_op(srGraph* g, srOp op, srNode a, srNode b, srNode c) {
  SR_ASSERT(sr_op_arity(op) > 0 && op != SR_OP_FUNCTION && op != SR_OP_FUNCTION2);
  if (g->plain) return sr_graph_intern(g, op, a, b, c);
  srNode folded = fold_constants(g, op, (const srNode[3]){a, b, c}, sr_op_arity(op));
  if (folded != SR_NO_NODE) return folded;
  switch (op) {
    case SR_OP_ADD: return fold_add(g, a, b);
    case SR_OP_SUB: return fold_sub(g, a, b);
    case SR_OP_MUL: return fold_mul(g, a, b);
    case SR_OP_DIV: return fold_div(g, a, b);
    case SR_OP_POW: return fold_pow(g, a, b);
    case SR_OP_NEG: return fold_neg(g, a);
    case SR_OP_IF: return fold_if(g, a, b, c);
    case SR_OP_COS:
    case SR_OP_ABS:  // even
      if (op_of(g, a) == SR_OP_NEG) a = child(g, a, 0);
      if (op == SR_OP_ABS && is_of_time_alone(g, a)) return choose(g, sr_graph_const(g, 0), a, a, op1(g, SR_OP_NEG, a));
      break;
    case SR_OP_SIN:
    case SR_OP_TAN:  // odd
      if (op_of(g, a) == SR_OP_NEG) return op1(g, SR_OP_NEG, op1(g, op, child(g, a, 0)));
      break;
    case SR_OP_MIN:
    case SR_OP_MAX:
      if (a == b) return a;
      if (!is_of_time_alone(g, a) || !is_of_time_alone(g, b)) break;
      return op == SR_OP_MIN ? choose(g, a, b, a, b) : choose(g, b, a, a, b);
    case SR_OP_LE:
    case SR_OP_EQ:
      if (a == b) return sr_graph_const(g, 1);
      break;
    case SR_OP_LT:
      if (a == b) return sr_graph_const(g, 0);
      break;
    default: break;
  }
  return sr_graph_intern(g, op, a, b, c);
}
