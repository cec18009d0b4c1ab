// The hash-consed expression graph: same operation and same children give the same node.
// Nodes are appended and never change, so children always have smaller indices than their parents: a loop over the
// indices is a topological order. Every node carries the set of variables it depends on, and, when that set is empty,
// its value; so the questions sr_graph_depends and sr_graph_constant cost O(1).
// Hash-consing: A. P. Ershov, On programming of arithmetic operations, CACM 1(8), 1958.
#include "expr/graph.h"

#include <math.h>
#include <string.h>

#include "math/stribeck.h"

static const signed char arity_of[SR_OP_COUNT] = {
    [SR_OP_CONST] = 0,     [SR_OP_PARAM] = 0,  [SR_OP_VAR] = 0,  [SR_OP_ADD] = 2,      [SR_OP_SUB] = 2,
    [SR_OP_MUL] = 2,       [SR_OP_DIV] = 2,    [SR_OP_POW] = 2,  [SR_OP_NEG] = 1,      [SR_OP_SIN] = 1,
    [SR_OP_COS] = 1,       [SR_OP_TAN] = 1,    [SR_OP_ASIN] = 1, [SR_OP_ACOS] = 1,     [SR_OP_ATAN2] = 2,
    [SR_OP_EXP] = 1,       [SR_OP_LOG] = 1,    [SR_OP_SQRT] = 1, [SR_OP_ABS] = 1,      [SR_OP_MIN] = 2,
    [SR_OP_MAX] = 2,       [SR_OP_SIGN] = 1,   [SR_OP_STEP] = 1, [SR_OP_FLOOR] = 1,    [SR_OP_LT] = 2,
    [SR_OP_LE] = 2,        [SR_OP_EQ] = 2,     [SR_OP_IF] = 3,   [SR_OP_STRIBECK] = 3, [SR_OP_FUNCTION] = 1,
    [SR_OP_FUNCTION2] = 2, [SR_OP_LOOKUP] = 1, [SR_OP_PASS] = 2, [SR_OP_FOLD] = 1,     [SR_OP_PART] = 1};

int sr_op_arity(srOp op) {
  SR_ASSERT(op >= 0 && op < SR_OP_COUNT);
  return arity_of[op];
}

double sr_op_value(srOp op, double a, double b, double c) {
  switch (op) {
    case SR_OP_ADD: return a + b;
    case SR_OP_SUB: return a - b;
    case SR_OP_MUL: return a * b;
    case SR_OP_DIV: return a / b;
    case SR_OP_POW: return pow(a, b);
    case SR_OP_NEG: return -a;
    case SR_OP_SIN: return sin(a);
    case SR_OP_COS: return cos(a);
    case SR_OP_TAN: return tan(a);
    case SR_OP_ASIN: return asin(a);
    case SR_OP_ACOS: return acos(a);
    case SR_OP_ATAN2: return atan2(a, b);
    case SR_OP_EXP: return exp(a);
    case SR_OP_LOG: return log(a);
    case SR_OP_SQRT: return sqrt(a);
    case SR_OP_ABS: return fabs(a);
    case SR_OP_MIN: return a <= b ? a : b;
    case SR_OP_MAX: return a >= b ? a : b;
    case SR_OP_SIGN: return a > 0 ? 1 : a < 0 ? -1 : a;  // NaN stays NaN
    case SR_OP_STEP: return a >= 0 ? 1 : 0;
    case SR_OP_FLOOR: return floor(a);
    case SR_OP_LT: return a < b;
    case SR_OP_LE: return a <= b;
    case SR_OP_EQ: return a == b;
    case SR_OP_IF: return a != 0 ? b : c;
    case SR_OP_STRIBECK: return srm_stribeck_root(a, b, c);
    default: SR_ASSERT(false && "leaves and functions have no value of their own"); return 0;
  }
}

// ----------------------------------------------------------------------------------------------------------- table

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Only constants are distinguished by their value: everywhere else it follows from the rest.
static uint64_t key_value(const srGraphNode* node) { return node->op == SR_OP_CONST ? bits_of(node->value) : 0; }

// Multiplicative hashing (Knuth 1973, section 6.4): of two pairs of indices, and of the value of a constant.
static uint64_t hash_of(const srGraphNode* node) {
  const uint64_t pair = ((uint64_t)(uint32_t)node->child[0] << 32) | (uint32_t)node->child[1];
  const uint64_t rest = ((uint64_t)(uint32_t)node->index << 32) | (uint32_t)node->child[2];
  uint64_t h = (pair + (uint64_t)node->op) * 0x9e3779b97f4a7c15u;
  h = ((h ^ (h >> 32)) + rest + ((uint64_t)node->detail << 16)) * 0xbf58476d1ce4e5b9u;
  h = ((h ^ (h >> 32)) + key_value(node)) * 0x94d049bb133111ebu;
  return h ^ (h >> 32);
}

static bool same(const srGraphNode* a, const srGraphNode* b) {
  return a->op == b->op && memcmp(a->child, b->child, sizeof a->child) == 0 && a->index == b->index &&
         a->detail == b->detail && key_value(a) == key_value(b);
}

// The slot that holds an equal node, or the empty slot where it belongs.
static int* slot_of(const srGraph* graph, const srGraphNode* node) {
  uint64_t mask = (uint64_t)graph->table_size - 1;
  uint64_t i = hash_of(node) & mask;
  while (graph->table[i] != 0 && !same(&graph->nodes[graph->table[i] - 1], node)) i = (i + 1) & mask;
  return &graph->table[i];
}

static void grow_table(srGraph* graph, int size) {
  graph->table = sr_pool_alloc(graph->pool, (size_t)size * sizeof *graph->table);
  graph->table_size = size;
  for (int i = 0; i < graph->n; i++) *slot_of(graph, &graph->nodes[i]) = i + 1;
}

static srNode insert(srGraph* graph, const srGraphNode* node) {
  if (graph->plain) {
    SR_PUSH(graph->pool, graph->nodes, graph->n, graph->capacity) = *node;
    return graph->n - 1;
  }
  int* slot = slot_of(graph, node);
  if (*slot != 0) return *slot - 1;
  SR_PUSH(graph->pool, graph->nodes, graph->n, graph->capacity) = *node;
  *slot = graph->n;
  if (2 * graph->n > graph->table_size) grow_table(graph, 2 * graph->table_size);
  return graph->n - 1;
}

// ----------------------------------------------------------------------------------------------------------- nodes

srGraph* sr_graph_create(srPool* pool) {
  srGraph* graph = sr_pool_alloc(pool, sizeof *graph);
  graph->pool = pool;
  sr_names_init(&graph->param_names, pool);
  sr_names_init(&graph->function_names, pool);
  sr_names_init(&graph->function2_names, pool);
  grow_table(graph, 256);
  return graph;
}

void sr_graph_reserve(srGraph* graph, int n) {
  int size = graph->table_size;
  if (n <= graph->capacity) return;
  srGraphNode* nodes = sr_pool_alloc(graph->pool, (size_t)n * sizeof *nodes);
  if (graph->n > 0) memcpy(nodes, graph->nodes, (size_t)graph->n * sizeof *nodes);
  graph->nodes = nodes, graph->capacity = n;
  while (size < 2 * n) size *= 2;
  if (size > graph->table_size) grow_table(graph, size);
}

int sr_graph_size(const srGraph* graph) { return graph->n; }
void sr_graph_for_code(srGraph* graph) { graph->for_code = true; }

static srGraphNode leaf(srOp op, int index, int detail, unsigned depends, double value) {
  return (srGraphNode){.op = op,
                       .child = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE},
                       .index = index,
                       .detail = detail,
                       .depends = depends,
                       .value = value};
}

srNode sr_graph_const(srGraph* graph, double value) {
  srGraphNode node = leaf(SR_OP_CONST, 0, 0, 0, value == 0 ? 0 : value);  // -0 and 0 are one node
  return insert(graph, &node);
}

srNode sr_graph_param(srGraph* graph, const char* name, double value) {
  srNode known = sr_graph_find_param(graph, name);
  if (known != SR_NO_NODE) return known;
  const char* copy = sr_pool_text(graph->pool, name);
  SR_PUSH(graph->pool, graph->params, graph->nparam, graph->param_capacity) = copy;
  srGraphNode node = leaf(SR_OP_PARAM, graph->nparam - 1, 0, SR_DEPENDS_PARAM, value);
  srNode made = insert(graph, &node);
  sr_names_put(&graph->param_names, copy, made);
  return made;
}

srNode sr_graph_find_param(const srGraph* graph, const char* name) {
  int found = sr_names_find(&graph->param_names, name);
  return found < 0 ? SR_NO_NODE : found;
}

srNode sr_graph_var(srGraph* graph, srVarKind kind, int index) {
  SR_ASSERT(kind >= 0 && kind < SR_VAR_KINDS && index >= 0);
  srGraphNode node = leaf(SR_OP_VAR, index, (int)kind, SR_DEPENDS_VAR(kind), 0);
  return insert(graph, &node);
}

static bool commutes(srOp op) {
  return op == SR_OP_ADD || op == SR_OP_MUL || op == SR_OP_MIN || op == SR_OP_MAX || op == SR_OP_EQ;
}

// Constants before all else, then the older node first.
static bool in_order(const srGraph* graph, srNode a, srNode b) {
  bool a_const = graph->nodes[a].op == SR_OP_CONST, b_const = graph->nodes[b].op == SR_OP_CONST;
  return a_const == b_const ? a <= b : a_const;
}

srNode sr_graph_intern(srGraph* graph, srOp op, srNode a, srNode b, srNode c) {
  bool swap = commutes(op) && !in_order(graph, a, b);
  srGraphNode node = {.op = op, .child = {swap ? b : a, swap ? a : b, c}};
  double x[3] = {0, 0, 0};
  for (int i = 0; i < sr_op_arity(op); i++) {
    SR_ASSERT(node.child[i] >= 0 && node.child[i] < graph->n);
    node.depends |= graph->nodes[node.child[i]].depends;
    x[i] = graph->nodes[node.child[i]].value;
  }
  if (!(node.depends & SR_DEPENDS_ANY_VAR)) node.value = sr_op_value(op, x[0], x[1], x[2]);
  return insert(graph, &node);
}

// -------------------------------------------------------------------------------------------------------- functions

int sr_graph_add_function(srGraph* graph, const srFunction* function) {
  srFunction copy = *function;
  if (copy.name) {
    if (sr_names_find(&graph->function_names, copy.name) >= 0) return -1;
    copy.name = sr_pool_text(graph->pool, copy.name);
    sr_names_put(&graph->function_names, copy.name, graph->nfunction);
  }
  SR_PUSH(graph->pool, graph->functions, graph->nfunction, graph->function_capacity) = copy;
  return graph->nfunction - 1;
}

const srFunction* sr_graph_find_function(const srGraph* graph, const char* name, int* index) {
  int found = sr_names_find(&graph->function_names, name);
  if (index) *index = found;
  return found < 0 ? NULL : &graph->functions[found];
}

srNode sr_graph_function(srGraph* graph, int function, int order, srNode argument) {
  SR_ASSERT(function >= 0 && function < graph->nfunction && order >= 0);
  SR_ASSERT(argument >= 0 && argument < graph->n);
  const srGraphNode* x = &graph->nodes[argument];
  const srFunction* f = &graph->functions[function];
  bool constant = !(x->depends & SR_DEPENDS_ANY_VAR);
  srGraphNode node = {.op = SR_OP_FUNCTION,
                      .child = {argument, SR_NO_NODE, SR_NO_NODE},
                      .index = function,
                      .detail = order,
                      .depends = x->depends};
  if (constant) node.value = f->evaluate(f->self, x->value, order);
  return insert(graph, &node);
}

int sr_graph_add_function2(srGraph* graph, const srFunction2* function) {
  srFunction2 copy = *function;
  if (copy.name) {
    if (sr_names_find(&graph->function2_names, copy.name) >= 0) return -1;
    copy.name = sr_pool_text(graph->pool, copy.name);
    sr_names_put(&graph->function2_names, copy.name, graph->nfunction2);
  }
  SR_PUSH(graph->pool, graph->functions2, graph->nfunction2, graph->function2_capacity) = copy;
  return graph->nfunction2 - 1;
}

const srFunction2* sr_graph_find_function2(const srGraph* graph, const char* name, int* index) {
  int found = sr_names_find(&graph->function2_names, name);
  if (index) *index = found;
  return found < 0 ? NULL : &graph->functions2[found];
}

srNode sr_graph_function2(srGraph* graph, int function, int orders, srNode x, srNode y) {
  SR_ASSERT(function >= 0 && function < graph->nfunction2 && orders >= 0);
  SR_ASSERT(x >= 0 && x < graph->n && y >= 0 && y < graph->n);
  const srGraphNode *a = &graph->nodes[x], *b = &graph->nodes[y];
  const srFunction2* f = &graph->functions2[function];
  srGraphNode node = {.op = SR_OP_FUNCTION2,
                      .child = {x, y, SR_NO_NODE},
                      .index = function,
                      .detail = orders,
                      .depends = a->depends | b->depends};
  if (!(node.depends & SR_DEPENDS_ANY_VAR))
    node.value = f->evaluate(f->self, a->value, b->value, SR_ORDER_X(orders), SR_ORDER_Y(orders));
  return insert(graph, &node);
}

// ----------------------------------------------------------------------------------------------------------- tables

double sr_lookup(const double* table, int n, double at) { return table[at >= 0 ? at < n - 1 ? (int)at : n - 1 : 0]; }

srNode sr_graph_lookup(srGraph* graph, const double* table, int n, srNode argument) {
  SR_ASSERT(argument >= 0 && argument < graph->n && n > 0);
  const srGraphNode* x = &graph->nodes[argument];
  if (!(x->depends & (SR_DEPENDS_ANY_VAR | SR_DEPENDS_PARAM)))
    return sr_graph_const(graph, sr_lookup(table, n, x->value));
  int index = 0;
  while (index < graph->ntable && (graph->tables[index].x != table || graph->tables[index].n != n)) index++;
  const unsigned depends = x->depends;
  if (index == graph->ntable)
    SR_PUSH(graph->pool, graph->tables, graph->ntable, graph->table_capacity) = (srGraphTable){table, n};
  srGraphNode node = {
      .op = SR_OP_LOOKUP, .child = {argument, SR_NO_NODE, SR_NO_NODE}, .index = index, .depends = depends};
  return insert(graph, &node);
}

// ------------------------------------------------------------------------------------------------------------ loops

// Never a number of its own, whatever its arguments are.
static srNode of_fold(srGraph* graph, srOp op, srNode a, srNode b, int index) {
  const unsigned depends = graph->nodes[a].depends | (b < 0 ? 0 : graph->nodes[b].depends);
  const srGraphNode node = {
      .op = op, .child = {a, b, SR_NO_NODE}, .index = index, .depends = depends | SR_DEPENDS_VAR(SR_VAR_ARG)};
  return insert(graph, &node);
}

static srNode run_fold(srGraph* graph, const struct srFold* fold, srNode arg) {
  int index = 0;
  while (index < graph->nfold && graph->folds[index] != fold) index++;
  if (index == graph->nfold) SR_PUSH(graph->pool, graph->folds, graph->nfold, graph->fold_capacity) = fold;
  return of_fold(graph, SR_OP_FOLD, arg, SR_NO_NODE, index);
}

srNode sr_graph_fold(srGraph* graph, const struct srFold* fold, const srNode* arg, int narg) {
  srNode all = sr_graph_const(graph, 0);
  for (int i = 0; i < narg; i++) all = of_fold(graph, SR_OP_PASS, arg[i], all, 0);
  return run_fold(graph, fold, all);
}

srNode sr_graph_part(srGraph* graph, srNode fold, int index) {
  return of_fold(graph, SR_OP_PART, fold, SR_NO_NODE, index);
}

bool sr_op_has_memory(srOp op) {
  return op == SR_OP_LOOKUP || op == SR_OP_PASS || op == SR_OP_FOLD || op == SR_OP_PART;
}

srNode sr_graph_again(srGraph* graph, const srGraph* from, srNode node, const srNode* child) {
  const srGraphNode* x = &from->nodes[node];
  switch (x->op) {
    case SR_OP_LOOKUP: return sr_graph_lookup(graph, from->tables[x->index].x, from->tables[x->index].n, child[0]);
    case SR_OP_PASS: return of_fold(graph, SR_OP_PASS, child[0], child[1], 0);
    case SR_OP_FOLD: return run_fold(graph, from->folds[x->index], child[0]);
    default: SR_ASSERT(x->op == SR_OP_PART); return sr_graph_part(graph, child[0], x->index);
  }
}

const void* sr_graph_memory(const srGraph* graph, srNode node) {
  const srGraphNode* x = &graph->nodes[node];
  if (x->op == SR_OP_LOOKUP) return graph->tables[x->index].x;
  return x->op == SR_OP_FOLD ? graph->folds[x->index] : NULL;
}

// -------------------------------------------------------------------------------------------------------- questions

srNodeView sr_graph_view(const srGraph* graph, srNode node) {
  SR_ASSERT(node >= 0 && node < graph->n);
  const srGraphNode* x = &graph->nodes[node];
  return (srNodeView){.op = x->op,
                      .child = {x->child[0], x->child[1], x->child[2]},
                      .value = x->value,
                      .kind = x->op == SR_OP_VAR ? (srVarKind)x->detail : SR_VAR_TIME,
                      .index = x->index,
                      .order = x->op == SR_OP_FUNCTION || x->op == SR_OP_FUNCTION2 ? x->detail : 0,
                      .name = x->op == SR_OP_PARAM ? graph->params[x->index] : NULL};
}

bool sr_graph_depends(const srGraph* graph, srNode node, srVarKind kind) {
  SR_ASSERT(node >= 0 && node < graph->n);
  return (graph->nodes[node].depends & SR_DEPENDS_VAR(kind)) != 0;
}

bool sr_graph_constant(const srGraph* graph, srNode node, double* value) {
  SR_ASSERT(node >= 0 && node < graph->n);
  const srGraphNode* x = &graph->nodes[node];
  if (x->depends & SR_DEPENDS_ANY_VAR) return false;
  if (value) *value = x->value;
  return true;
}
