// Exact derivatives of graph nodes.
// Forward accumulation over the part of the graph that depends on the leaf: each of its nodes is derived once and the
// result memoised, so that the work and the new nodes are linear in that part. The walk keeps its own stack: a sum of
// ten thousand terms, ten thousand nodes deep, needs no more of the C stack than x+y.
// Where a function has a kink or a jump the derivative is the one of the branch that is evaluated: abs' = sign (0 at
// 0), min and max take the smaller or larger one's, step, sign, floor and comparisons have derivative 0.
#include "expr/graph.h"

typedef srGraph G;

static srNode add(G* g, srNode a, srNode b) { return sr_graph_op(g, SR_OP_ADD, a, b, SR_NO_NODE); }
static srNode sub(G* g, srNode a, srNode b) { return sr_graph_op(g, SR_OP_SUB, a, b, SR_NO_NODE); }
static srNode mul(G* g, srNode a, srNode b) { return sr_graph_op(g, SR_OP_MUL, a, b, SR_NO_NODE); }
static srNode quotient(G* g, srNode a, srNode b) { return sr_graph_op(g, SR_OP_DIV, a, b, SR_NO_NODE); }
static srNode power(G* g, srNode a, srNode b) { return sr_graph_op(g, SR_OP_POW, a, b, SR_NO_NODE); }
static srNode neg(G* g, srNode a) { return sr_graph_op(g, SR_OP_NEG, a, SR_NO_NODE, SR_NO_NODE); }
static srNode fun(G* g, srOp op, srNode a) { return sr_graph_op(g, op, a, SR_NO_NODE, SR_NO_NODE); }
static srNode num(G* g, double value) { return sr_graph_const(g, value); }

static bool is_zero(const G* g, srNode x) { return g->nodes[x].op == SR_OP_CONST && g->nodes[x].value == 0; }

// d(a^b) = b a^(b-1) da + a^b log(a) db; terms that vanish are not written, so that x^3 never asks for log(x).
static srNode derive_pow(G* g, srNode x, srNode a, srNode b, srNode da, srNode db) {
  srNode by_base = num(g, 0), by_exponent = num(g, 0);
  if (!is_zero(g, da)) by_base = mul(g, mul(g, b, power(g, a, sub(g, b, num(g, 1)))), da);
  if (!is_zero(g, db)) by_exponent = mul(g, mul(g, x, fun(g, SR_OP_LOG, a)), db);
  return add(g, by_base, by_exponent);
}

// d atan2(a, b) = (b da - a db) / (a^2 + b^2)
static srNode derive_atan2(G* g, srNode a, srNode b, srNode da, srNode db) {
  srNode r2 = add(g, mul(g, a, a), mul(g, b, b));
  return quotient(g, sub(g, mul(g, b, da), mul(g, a, db)), r2);
}

// d asin(a) = da / sqrt(1 - a^2)
static srNode derive_asin(G* g, srNode a, srNode da) {
  return quotient(g, da, fun(g, SR_OP_SQRT, sub(g, num(g, 1), mul(g, a, a))));
}

// if(lo <= hi, d_lo, d_hi)
static srNode choose(G* g, srNode lo, srNode hi, srNode d_lo, srNode d_hi) {
  if (d_lo == d_hi) return d_lo;
  return sr_graph_op(g, SR_OP_IF, sr_graph_op(g, SR_OP_LE, lo, hi, SR_NO_NODE), d_lo, d_hi);
}

// The derivative of node x from the derivatives da, db, dc of its children.
static srNode rule(G* g, srNode x, srNode da, srNode db, srNode dc) {
  srGraphNode node = g->nodes[x];  // a copy: the array may move while nodes are added
  srNode a = node.child[0], b = node.child[1];
  switch (node.op) {
    case SR_OP_ADD: return add(g, da, db);
    case SR_OP_SUB: return sub(g, da, db);
    case SR_OP_MUL: return add(g, mul(g, da, b), mul(g, a, db));
    case SR_OP_DIV: return quotient(g, sub(g, da, mul(g, x, db)), b);
    case SR_OP_POW: return derive_pow(g, x, a, b, da, db);
    case SR_OP_NEG: return neg(g, da);
    case SR_OP_SIN: return mul(g, fun(g, SR_OP_COS, a), da);
    case SR_OP_COS: return neg(g, mul(g, fun(g, SR_OP_SIN, a), da));
    case SR_OP_TAN: return mul(g, add(g, num(g, 1), mul(g, x, x)), da);
    case SR_OP_ASIN: return derive_asin(g, a, da);
    case SR_OP_ACOS: return neg(g, derive_asin(g, a, da));
    case SR_OP_ATAN2: return derive_atan2(g, a, b, da, db);
    case SR_OP_EXP: return mul(g, x, da);
    case SR_OP_LOG: return quotient(g, da, a);
    case SR_OP_SQRT: return quotient(g, da, mul(g, num(g, 2), x));
    case SR_OP_ABS: return mul(g, fun(g, SR_OP_SIGN, a), da);
    case SR_OP_MIN: return choose(g, a, b, da, db);
    case SR_OP_MAX: return choose(g, b, a, da, db);
    case SR_OP_IF: return sr_graph_op(g, SR_OP_IF, a, db, dc);
    case SR_OP_FUNCTION:  // d f(a) = f'(a) da
      return is_zero(g, da) ? da : mul(g, sr_graph_function(g, node.index, node.detail + 1, a), da);
    default: return num(g, 0);  // other leaves
  }
}

typedef struct Walk {
  G* graph;
  srNode leaf, zero;
  unsigned depends;  // a node without these bits has derivative 0
} Walk;

static bool is_flat(srOp op) {  // derivative 0 wherever it exists
  return op == SR_OP_STEP || op == SR_OP_SIGN || op == SR_OP_FLOOR || op == SR_OP_LT || op == SR_OP_LE ||
         op == SR_OP_EQ;
}

// True when the derivative of x is known; *d is it.
static bool known(const Walk* w, srNode x, srNode* d) {
  const G* g = w->graph;
  *d = w->zero;
  if (x == SR_NO_NODE || x < w->leaf) return true;  // a parent of the leaf has a larger index
  if (!(g->nodes[x].depends & w->depends) || is_flat(g->nodes[x].op)) return true;
  if (g->stamp[x] != g->generation) return false;
  *d = g->memo[x];
  return true;
}

static void remember(G* g, srNode x, srNode d) {
  g->stamp[x] = g->generation;
  g->memo[x] = d;
}

static void prepare_scratch(G* g) {
  if (g->scratch_size < g->n) {
    g->scratch_size = g->capacity;
    g->stamp = sr_pool_alloc(g->pool, (size_t)g->scratch_size * sizeof *g->stamp);
    g->memo = sr_pool_alloc(g->pool, (size_t)g->scratch_size * sizeof *g->memo);
    g->generation = 0;
  }
  g->generation++;
  g->stack_n = 0;
}

srNode sr_graph_derive(srGraph* g, srNode node, srNode leaf) {
  SR_ASSERT(node >= 0 && node < g->n && leaf >= 0 && leaf < g->n);
  SR_ASSERT(g->nodes[leaf].op == SR_OP_VAR || g->nodes[leaf].op == SR_OP_PARAM);
  Walk w = {g, leaf, num(g, 0), g->nodes[leaf].depends};
  prepare_scratch(g);
  srNode one = num(g, 1), result;
  SR_PUSH(g->pool, g->stack, g->stack_n, g->stack_capacity) = node;
  while (g->stack_n > 0) {
    srNode x = g->stack[g->stack_n - 1], d[3];
    bool ready = true;
    if (known(&w, x, &d[0])) {
      g->stack_n--;
      continue;
    }
    for (int i = 0; i < 3; i++) {
      srNode child = g->nodes[x].child[i];
      if (known(&w, child, &d[i])) continue;
      SR_PUSH(g->pool, g->stack, g->stack_n, g->stack_capacity) = child;
      ready = false;
    }
    if (ready) remember(g, x, x == leaf ? one : rule(g, x, d[0], d[1], d[2]));
  }
  known(&w, node, &result);
  return result;
}
