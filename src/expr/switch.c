// Switches of a graph: where a formula jumps, and by which function that is found.
//   a < b, a <= b      jump where a - b changes its sign
//   sign(a), step(a)   where a does
//   floor(a)           where a passes a whole number
// abs, min and max have kinks, not jumps, and are none: an integrator with an error estimate passes a kink in a few short steps, and a restart costs
// as much. Unless it passes one and passes it back within a step, which a run checks for (simulate/kink.c). Those of the time alone are an `if` (simplify.c), corners of tables and motions a floor (corner.c). a == b is true for an instant alone where both move; where they do not, it changes at events.
#include "expr/graph.h"

static bool jumps(const srGraphNode* x) {
  const bool op =
      x->op == SR_OP_LT || x->op == SR_OP_LE || x->op == SR_OP_SIGN || x->op == SR_OP_STEP || x->op == SR_OP_FLOOR;
  return op && (x->depends & SR_DEPENDS_ANY_VAR) != 0;
}

int sr_graph_hold(srGraph* graph, const srNode* roots, int nroot, int first, srSwitchNode** list) {
  int n = 0, capacity = 0;
  int* above = sr_pool_alloc(graph->pool, ((size_t)graph->n + 1) * sizeof *above);  // root + 1, 0: none
  *list = NULL;
  for (int i = 0; i < nroot; i++) above[roots[i]] = i + 1;
  for (int i = graph->n - 1; i >= 0; i--) {
    srGraphNode* x = &graph->nodes[i];
    if (above[i] == 0) continue;
    for (int k = 0; k < sr_op_arity(x->op); k++) {
      if (above[x->child[k]] == 0) above[x->child[k]] = above[i];
    }
    if (!jumps(x) || x->held > 0) continue;
    SR_PUSH(graph->pool, *list, n, capacity) = (srSwitchNode){.node = i, .root = above[i] - 1};
    x->held = first + n;
  }
  return n;
}

srNode sr_graph_switch(srGraph* graph, srNode node) {
  const srGraphNode x = graph->nodes[node];  // a copy: the array may move
  if (x.op != SR_OP_LT && x.op != SR_OP_LE) return x.child[0];
  return sr_graph_op(graph, SR_OP_SUB, x.child[0], x.child[1], SR_NO_NODE);
}

int sr_graph_kinks(srGraph* graph, const srNode* roots, int nroot, srNode** list) {
  int n = 0, capacity = 0;
  unsigned char* needed = sr_pool_alloc(graph->pool, (size_t)graph->n + 1);
  *list = NULL;
  for (int i = 0; i < nroot; i++) needed[roots[i]] = 1;
  for (int i = graph->n - 1; i >= 0; i--) {
    const srGraphNode x = graph->nodes[i];  // a copy: the array may move
    if (!needed[i]) continue;
    for (int k = 0; k < sr_op_arity(x.op); k++) needed[x.child[k]] = 1;
    if (!(x.depends & SR_DEPENDS_ANY_VAR)) continue;
    if (x.op == SR_OP_ABS) SR_PUSH(graph->pool, *list, n, capacity) = x.child[0];
    if (x.op != SR_OP_MIN && x.op != SR_OP_MAX) continue;
    SR_PUSH(graph->pool, *list, n, capacity) = sr_graph_op(graph, SR_OP_SUB, x.child[0], x.child[1], SR_NO_NODE);
  }
  return n;
}
