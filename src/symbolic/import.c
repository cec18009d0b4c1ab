// Nodes of another graph, built anew with the rules of this one: variables replaced, parameters as their values, so that what they make constant vanishes.
#include "symbolic/import.h"

#include "expr/graph.h"
#include "expr/motion.h"
#include "symbolic/interpolate.h"

srSymImport* sr_sym_import_begin(srPool* pool, const srGraph* from, srGraph* to,
                                 srNode (*variable)(void* user, srVarKind kind, int index), void* user) {
  srSymImport* x = sr_pool_alloc(pool, sizeof *x);
  *x = (srSymImport){.pool = pool, .from = from, .to = to, .variable = variable, .user = user};
  x->map = sr_pool_alloc(pool, ((size_t)from->n + 1) * sizeof *x->map);
  return x;
}

static bool is_piece(const srFunction2* f) {
  srMotionView m;
  return sr_motion_piece_view(f, &m);
}

static bool is_known(const srGraph* from, const srGraphNode* node) {
  if (node->op == SR_OP_FUNCTION) return sr_sym_motion_known(&from->functions[node->index]);
  return node->op != SR_OP_FUNCTION2 || sr_sym_table_known(&from->functions2[node->index]);
}

static srNode made(srSymImport* x, const srGraphNode* node) {
  srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
  if (!(node->depends & SR_DEPENDS_ANY_VAR)) {
    if (x->parameter == NULL || !(node->depends & SR_DEPENDS_PARAM)) return srx_number(x->to, node->value);
    const srNode symbol = node->op == SR_OP_PARAM ? x->parameter(x->user, x->from->params[node->index]) : SR_NO_NODE;
    if (node->op == SR_OP_PARAM) return symbol == SR_NO_NODE ? srx_number(x->to, node->value) : symbol;
  }
  if (node->op == SR_OP_VAR) return x->variable(x->user, (srVarKind)node->detail, node->index);
  // Of a piece with corners, which piece it is follows from its argument.
  const bool known = is_known(x->from, node);
  if (!known && !(node->depends & SR_DEPENDS_ANY_VAR)) return srx_number(x->to, node->value);
  if (known && node->op == SR_OP_FUNCTION)
    return sr_sym_motion(x->to, &x->from->functions[node->index], node->detail, sr_sym_import(x, node->child[0]));
  if (known && node->op == SR_OP_FUNCTION2) {
    const srFunction2* f = &x->from->functions2[node->index];
    const srNode y = sr_sym_import(x, node->child[1]);
    return sr_sym_table(x->to, f, node->detail, is_piece(f) ? y : sr_sym_import(x, node->child[0]), y);
  }
  for (int k = 0; k < sr_op_arity(node->op); k++) child[k] = sr_sym_import(x, node->child[k]);
  double fall = 1, divisor = 0;
  if (node->op == SR_OP_DIV && sr_graph_constant(x->to, child[1], &divisor) && divisor != 0)
    return srx_mul(x->to, srx_number(x->to, 1 / divisor), child[0]);
  // Without a fall of the limit the root is b itself.
  if (node->op == SR_OP_STRIBECK && sr_graph_constant(x->to, child[0], &fall) && fall == 0)
    return srx_max(x->to, srx_number(x->to, 0), child[1]);
  return sr_graph_op(x->to, node->op, child[0], child[1], child[2]);
}

srNode sr_sym_import(srSymImport* x, srNode node) {
  if (x->map[node] == 0) {
    const srNode out = made(x, &x->from->nodes[node]);
    x->map[node] = out + 1;
  }
  return x->map[node] - 1;
}

const char* sr_sym_import_missing(const srGraph* from, srNode node) {
  const srGraphNode* n = &from->nodes[node];
  if (!(n->depends & SR_DEPENDS_ANY_VAR)) return NULL;
  if (!is_known(from, n) && n->op == SR_OP_FUNCTION)
    return from->functions[n->index].name ? from->functions[n->index].name : "motion";
  if (!is_known(from, n)) return from->functions2[n->index].name ? from->functions2[n->index].name : "table";
  const int first = n->op == SR_OP_FUNCTION2 && is_piece(&from->functions2[n->index]);
  for (int k = first; k < sr_op_arity(n->op); k++) {
    const char* missing = sr_sym_import_missing(from, n->child[k]);
    if (missing != NULL) return missing;
  }
  return NULL;
}
