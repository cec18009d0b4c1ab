// What the formula of a constraint or a gap depends on, and functions with kinks and jumps in it. The graph differentiates them branch by branch, so that
// second derivatives do not show them: they are detected by name.
//
//   velocity eq.   none above a velocity: |v| = 1 is linear in every branch, and still not linear
//   position eq.   none that jumps above a coordinate: the equation would have no derivative. abs, min, max and if are
//                  allowed, and their conditions may jump
#include "model/compile.h"

static const char* word_of(srOp op, bool velocity) {
  switch (op) {
    case SR_OP_SIGN: return "sign()";
    case SR_OP_STEP: return "step()";
    case SR_OP_FLOOR: return "floor() or mod()";
    case SR_OP_LT:
    case SR_OP_LE:
    case SR_OP_EQ: return "a comparison";
    case SR_OP_ABS: return velocity ? "abs()" : NULL;
    case SR_OP_MIN: return velocity ? "min()" : NULL;
    case SR_OP_MAX: return velocity ? "max()" : NULL;
    case SR_OP_IF: return velocity ? "if()" : NULL;
    default: return NULL;
  }
}

int sr_c_leaves(srCompiler* c, srNode node, bool time, srNode** leaves, int n, int* capacity) {
  unsigned char* seen = sr_pool_alloc(&c->scratch, (size_t)node + 1);
  seen[node] = 1;
  for (srNode x = node; x >= 0; x--) {  // children have smaller indices
    if (!seen[x]) continue;
    const srNodeView view = sr_graph_view(c->graph, x);
    bool known = view.op != SR_OP_VAR || (!time && view.kind == SR_VAR_TIME);
    for (int k = 0; k < n && !known; k++) known = (*leaves)[k] == x;
    if (!known) SR_PUSH(&c->scratch, *leaves, n, *capacity) = x;
    for (int k = 0; k < 3; k++) {
      if (view.child[k] != SR_NO_NODE) seen[view.child[k]] = 1;
    }
  }
  return n;
}

int sr_c_sensor_of(const srModel* m, int value, int* scalar) {
  for (int i = 0; i < m->nsensor; i++) {
    *scalar = value - m->sensor[i].value;
    if (m->sensor[i].value >= 0 && *scalar >= 0 && *scalar < SR_SENSOR_SCALARS) return i;
  }
  return -1;
}

// holds[x]: node x depends on one of the leaves.
static unsigned char* dependence(srCompiler* c, srNode node, const srNode* leaf, int n) {
  unsigned char* holds = sr_pool_alloc(&c->scratch, (size_t)node + 1);
  for (int k = 0; k < n; k++) holds[leaf[k]] = 1;
  for (srNode x = 0; x <= node; x++) {  // children have smaller indices
    const srNodeView view = sr_graph_view(c->graph, x);
    for (int k = 0; k < 3; k++) holds[x] |= view.child[k] != SR_NO_NODE && holds[view.child[k]];
  }
  return holds;
}

const char* sr_compile_nonsmooth(srCompiler* c, srNode node, const srNode* leaf, int n, bool velocity) {
  const unsigned char* holds = dependence(c, node, leaf, n);
  unsigned char* seen = sr_pool_alloc(&c->scratch, (size_t)node + 1);
  seen[node] = 1;
  for (srNode x = node; x >= 0; x--) {
    if (!seen[x] || !holds[x]) continue;
    const srNodeView view = sr_graph_view(c->graph, x);
    const char* word = word_of(view.op, velocity);
    if (word) return word;
    for (int k = view.op == SR_OP_IF ? 1 : 0; k < 3; k++) {
      if (view.child[k] != SR_NO_NODE) seen[view.child[k]] = 1;
    }
  }
  return NULL;
}
