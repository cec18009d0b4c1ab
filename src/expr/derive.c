// Exact derivatives of graph nodes.
// Forward accumulation over the part of the graph that depends on the leaf: each of its nodes is derived once and the
// result memoised, so that the work and the new nodes are linear in that part. The walk keeps its own stack: a sum of
// ten thousand terms, ten thousand nodes deep, needs no more of the C stack than x+y.
// Where a function has a kink or a jump the derivative is the one of the branch that is evaluated: abs' = sign (0 at
// 0), min and max take the smaller or larger one's, step, sign, floor and comparisons have derivative 0.
#include "expr/build.h"
#include "expr/graph.h"

typedef srGraph G;

static bool is_zero(const G* g, srNode x) { return g->nodes[x].op == SR_OP_CONST && g->nodes[x].value == 0; }

// d(a^b) = b a^(b-1) da + a^b log(a) db; terms that vanish are not written, so that x^3 never needs log(x).
static srNode derive_pow(G* g, srNode x, srNode a, srNode b, srNode da, srNode db) {
  srNode by_base = srx_number(g, 0), by_exponent = srx_number(g, 0);
  if (!is_zero(g, da)) by_base = srx_mul(g, srx_mul(g, b, srx_pow(g, a, srx_sub(g, b, srx_number(g, 1)))), da);
  if (!is_zero(g, db)) by_exponent = srx_mul(g, srx_mul(g, x, srx_1(g, SR_OP_LOG, a)), db);
  return srx_add(g, by_base, by_exponent);
}

// d atan2(a, b) = (b da - a db) / (a^2 + b^2)
static srNode derive_atan2(G* g, srNode a, srNode b, srNode da, srNode db) {
  srNode r2 = srx_add(g, srx_mul(g, a, a), srx_mul(g, b, b));
  return srx_div(g, srx_sub(g, srx_mul(g, b, da), srx_mul(g, a, db)), r2);
}

// d asin(a) = da / sqrt(1 - a^2)
static srNode derive_asin(G* g, srNode a, srNode da) {
  return srx_div(g, da, srx_1(g, SR_OP_SQRT, srx_sub(g, srx_number(g, 1), srx_mul(g, a, a))));
}

// x + a e = b with e = exp(-x^c):   dx (1 - a c x^(c-1) e) = db - e da + a e x^c log(x) dc
static srNode derive_stribeck(G* g, srNode x, const srNode* child, srNode da, srNode db, srNode dc) {
  const srNode a = child[0], c = child[2], power = srx_pow(g, x, c), e = srx_exp(g, srx_neg(g, power));
  const srNode fall = srx_mul(g, a, e);
  const srNode derivative = srx_mul(g, fall, srx_mul(g, c, srx_pow(g, x, srx_sub(g, c, srx_number(g, 1)))));
  srNode by = srx_sub(g, db, srx_mul(g, e, da));
  if (!is_zero(g, dc)) by = srx_add(g, by, srx_mul(g, srx_mul(g, fall, srx_mul(g, power, srx_1(g, SR_OP_LOG, x))), dc));
  return srx_div(g, by, srx_sub(g, srx_number(g, 1), derivative));
}

// if(lo <= hi, d_lo, d_hi)
static srNode choose(G* g, srNode lo, srNode hi, srNode d_lo, srNode d_hi) {
  if (d_lo == d_hi) return d_lo;
  return sr_graph_op(g, SR_OP_IF, sr_graph_op(g, SR_OP_LE, lo, hi, SR_NO_NODE), d_lo, d_hi);
}

// d f(a, b) = f_x da + f_y db
static srNode derive_function2(G* g, const srGraphNode* node, srNode da, srNode db) {
  const srNode a = node->child[0], b = node->child[1];
  srNode by_x = da, by_y = db;
  if (!is_zero(g, da)) by_x = srx_mul(g, sr_graph_function2(g, node->index, node->detail + SR_ORDERS(1, 0), a, b), da);
  if (!is_zero(g, db)) by_y = srx_mul(g, sr_graph_function2(g, node->index, node->detail + SR_ORDERS(0, 1), a, b), db);
  return srx_add(g, by_x, by_y);
}

// The derivative of node x from the derivatives da, db, dc of its children.
static srNode rule(G* g, srNode x, srNode da, srNode db, srNode dc) {
  srGraphNode node = g->nodes[x];  // a copy: the array may move while nodes are added
  srNode a = node.child[0], b = node.child[1];
  switch (node.op) {
    case SR_OP_ADD: return srx_add(g, da, db);
    case SR_OP_SUB: return srx_sub(g, da, db);
    case SR_OP_MUL: return srx_add(g, srx_mul(g, da, b), srx_mul(g, a, db));
    case SR_OP_DIV: return srx_div(g, srx_sub(g, da, srx_mul(g, x, db)), b);
    case SR_OP_POW: return derive_pow(g, x, a, b, da, db);
    case SR_OP_NEG: return srx_neg(g, da);
    case SR_OP_SIN: return srx_mul(g, srx_1(g, SR_OP_COS, a), da);
    case SR_OP_COS: return srx_neg(g, srx_mul(g, srx_1(g, SR_OP_SIN, a), da));
    case SR_OP_TAN: return srx_mul(g, srx_add(g, srx_number(g, 1), srx_mul(g, x, x)), da);
    case SR_OP_ASIN: return derive_asin(g, a, da);
    case SR_OP_ACOS: return srx_neg(g, derive_asin(g, a, da));
    case SR_OP_ATAN2: return derive_atan2(g, a, b, da, db);
    case SR_OP_EXP: return srx_mul(g, x, da);
    case SR_OP_LOG: return srx_div(g, da, a);
    case SR_OP_SQRT: return srx_div(g, da, srx_mul(g, srx_number(g, 2), x));
    case SR_OP_ABS: return srx_mul(g, srx_1(g, SR_OP_SIGN, a), da);
    case SR_OP_MIN: return choose(g, a, b, da, db);
    case SR_OP_MAX: return choose(g, b, a, da, db);
    case SR_OP_IF: return sr_graph_op(g, SR_OP_IF, a, db, dc);
    case SR_OP_STRIBECK: return derive_stribeck(g, x, node.child, da, db, dc);
    case SR_OP_FUNCTION:  // d f(a) = f'(a) da
      return is_zero(g, da) ? da : srx_mul(g, sr_graph_function(g, node.index, node.detail + 1, a), da);
    case SR_OP_FUNCTION2: return derive_function2(g, &node, da, db);
    default: return srx_number(g, 0);  // other leaves
  }
}

typedef struct Walk {
  G* graph;
  srNode leaf, zero;
  unsigned depends;  // a node without these bits has derivative 0
} Walk;

static bool is_flat(srOp op) {  // derivative 0 wherever it exists
  return op == SR_OP_STEP || op == SR_OP_SIGN || op == SR_OP_FLOOR || op == SR_OP_LT || op == SR_OP_LE ||
         op == SR_OP_EQ || op == SR_OP_LOOKUP;
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

static srNode derive(Walk* w, srNode node, srNode one) {
  G* g = w->graph;
  srNode result;
  SR_PUSH(g->pool, g->stack, g->stack_n, g->stack_capacity) = node;
  while (g->stack_n > 0) {
    srNode x = g->stack[g->stack_n - 1], d[3];
    bool ready = true;
    if (known(w, x, &d[0])) {
      g->stack_n--;
      continue;
    }
    for (int i = 0; i < 3; i++) {
      srNode child = g->nodes[x].child[i];
      if (known(w, child, &d[i])) continue;
      SR_PUSH(g->pool, g->stack, g->stack_n, g->stack_capacity) = child;
      ready = false;
    }
    if (ready) remember(g, x, x == w->leaf ? one : rule(g, x, d[0], d[1], d[2]));
  }
  known(w, node, &result);
  return result;
}

void sr_graph_derive_all(srGraph* g, const srNode* nodes, int n, srNode leaf, srNode* out) {
  SR_ASSERT(leaf >= 0 && leaf < g->n && (g->nodes[leaf].op == SR_OP_VAR || g->nodes[leaf].op == SR_OP_PARAM));
  Walk w = {g, leaf, srx_number(g, 0), g->nodes[leaf].depends};
  const srNode one = srx_number(g, 1);
  prepare_scratch(g);
  for (int i = 0; i < n; i++) {
    SR_ASSERT(nodes[i] >= 0 && nodes[i] < g->n);
    out[i] = derive(&w, nodes[i], one);
  }
}

srNode sr_graph_derive(srGraph* g, srNode node, srNode leaf) {
  srNode out;
  sr_graph_derive_all(g, &node, 1, leaf, &out);
  return out;
}
