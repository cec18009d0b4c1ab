// The equations of all lanes as one. Each lane is built on a graph of its own that keeps operations as they are given; the graphs are followed together from the outputs: where operations are the same and numbers differ, the number is a parameter, an entry of a table with a column for each lane. What that leaves is built anew with the rules of
// the graph, so that numbers which are 0 or 1 in all lanes vanish.
#include <math.h>
#include <string.h>

#include "expr/graph.h"
#include "symbolic/lanes.h"

#define SAME 1e-14  // numbers that differ by rounding

typedef struct Lane {
  const srGraph* g;
  const srNode* out;
  unsigned char* number;  // of nodes: depends on no input
  double* value;          // of those
  uint64_t* shape;        // of nodes: equal where operations and inputs are, but for the order of terms and factors
  int* index;             // of inputs: entry of the lane's own arrays; -1: of another lane
  int* with;              // of nodes of the first lane: the node of this lane in its place + 1
} Lane;

typedef struct Work {
  srPool* pool;
  const srSymLanes* lanes;
  Lane* lane;
  srGraph* g;
  srNode* made;          // of nodes of the first lane + 1
  unsigned char* alone;  // of nodes of the first lane: differs between lanes
  int nconstant, nvalue, capacity;
  double* constant;  // nconstant x lanes
} Work;

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static bool commutes(srOp op) {
  return op == SR_OP_ADD || op == SR_OP_MUL || op == SR_OP_MIN || op == SR_OP_MAX || op == SR_OP_EQ;
}

// ---- one lane -----------------------------------------------------------------------------------------------------------

static int local(const int* list, int n, int index) {
  for (int k = 0; k < n; k++) {
    if (list[k] == index) return k;
  }
  return -1;
}

static int local_index(const srSymLanes* l, int lane, const srGraphNode* x) {
  switch ((srVarKind)x->detail) {
    case SR_VAR_Q: return local(l->q + lane * l->nq, l->nq, x->index);
    case SR_VAR_V:
    case SR_VAR_A:
    case SR_VAR_TAU: return local(l->v + lane * l->nv, l->nv, x->index);
    case SR_VAR_STATE: return local(l->y + lane * l->ny, l->ny, x->index);
    default: return x->index;
  }
}

static void put_number(Lane* l, int i) {
  const srGraphNode* x = &l->g->nodes[i];
  const int arity = sr_op_arity(x->op);
  double a[3] = {0, 0, 0};
  l->number[i] = x->op != SR_OP_VAR && x->op != SR_OP_PARAM && x->op != SR_OP_FUNCTION && !sr_op_has_memory(x->op);
  l->value[i] = x->value;
  for (int k = 0; k < arity; k++) l->number[i] &= l->number[x->child[k]], a[k] = l->value[x->child[k]];
  if (!l->number[i] || arity == 0) return;
  l->value[i] = sr_op_value(x->op, a[0], a[1], a[2]);
  if ((x->op == SR_OP_ADD || x->op == SR_OP_SUB) && fabs(l->value[i]) <= 1e-15 * fmax(fabs(a[0]), fabs(a[1])))
    l->value[i] = 0;
}

static void put_shape(Lane* l, const srSymLanes* lanes, int lane, int i) {
  const srGraphNode* x = &l->g->nodes[i];
  uint64_t h = mix(7, (uint64_t)x->op), c[3] = {0};
  if (l->number[i]) {
    l->shape[i] = 3;
    return;
  }
  l->index[i] = x->op == SR_OP_VAR ? local_index(lanes, lane, x) : 0;
  if (x->op == SR_OP_VAR) h = mix(mix(h, (uint64_t)x->detail + 1), (uint64_t)l->index[i] + 2);
  if (sr_op_has_memory(x->op))  // the same table, the same loop
    h = mix(mix(h, (uint64_t)(uintptr_t)sr_graph_memory(l->g, i)), x->op == SR_OP_PART ? (uint64_t)x->index + 1 : 0);
  for (int k = 0; k < sr_op_arity(x->op); k++) c[k] = l->shape[x->child[k]];
  if (commutes(x->op) && c[0] > c[1]) c[2] = c[0], c[0] = c[1], c[1] = c[2], c[2] = 0;
  for (int k = 0; k < 3; k++) h = mix(h, c[k] + (uint64_t)k);
  l->shape[i] = h;
}

static void put_lane(const Work* w, srSymTree* tree, int lane, srSymBuild build, const void* user, int nout,
                     srSymPass** pass) {
  Lane* l = &w->lane[lane];
  srGraph* g = sr_graph_create(w->pool);
  srNode* out = sr_pool_alloc(w->pool, ((size_t)nout + 1) * sizeof *out);
  g->plain = true;
  tree->lane = lane;
  for (int k = 0; k < nout; k++) out[k] = SR_NO_NODE;
  *pass = sr_sym_pass(g, w->pool, tree);
  build(*pass, user, out);
  const size_t n = (size_t)g->n + 1;
  *l = (Lane){.g = g, .out = out, .number = sr_pool_alloc(w->pool, n)};
  l->value = sr_pool_alloc(w->pool, n * sizeof *l->value), l->shape = sr_pool_alloc(w->pool, n * sizeof *l->shape);
  l->index = sr_pool_alloc(w->pool, n * sizeof *l->index);
  l->with = sr_pool_alloc(w->pool, ((size_t)w->lane[0].g->n + 1) * sizeof *l->with);
  for (int i = 0; i < g->n; i++) put_number(l, i), put_shape(l, w->lanes, lane, i);
}

// ---- together -----------------------------------------------------------------------------------------------------------

static void children(const Lane* l, srNode node, srNode* child) {
  const srGraphNode* x = &l->g->nodes[node];
  for (int k = 0; k < 3; k++) child[k] = x->child[k];
  if (commutes(x->op) && l->shape[child[0]] > l->shape[child[1]]) child[0] = x->child[1], child[1] = x->child[0];
}

static bool same_number(const Lane* l, srNode a, srNode b) {
  return l->number[a] && l->number[b] && fabs(l->value[a] - l->value[b]) <= SAME * fabs(l->value[a]);
}

// Nodes of all lanes that stand in the place of one of the first; false: they are not alike.
static bool follow(Work* w, const srNode* node) {
  const Lane* first = &w->lane[0];
  const int n = w->lanes->n;
  bool known = true;
  for (int l = 0; l < n; l++) {
    int* with = &w->lane[l].with[node[0]];
    if (node[l] < 0 || w->lane[l].shape[node[l]] != first->shape[node[0]]) return false;
    if (*with != 0 && *with != node[l] + 1 && !same_number(&w->lane[l], *with - 1, node[l])) return false;
    known = known && *with != 0;
    *with = node[l] + 1;
  }
  if (known || first->number[node[0]]) return true;
  const srOp op = first->g->nodes[node[0]].op;
  if (op == SR_OP_VAR) return first->index[node[0]] >= 0;
  srNode child[3], all[3][8];
  for (int l = 0; l < n; l++) {
    if (w->lane[l].g->nodes[node[l]].op != op) return false;
    children(&w->lane[l], node[l], child);
    for (int k = 0; k < 3; k++) all[k][l] = child[k];
  }
  for (int k = 0; k < sr_op_arity(op); k++) {
    if (!follow(w, all[k])) return false;
  }
  return true;
}

// ---- anew ---------------------------------------------------------------------------------------------------------------

static bool same(const double* a, const double* b, double sign, int n) {
  for (int l = 0; l < n; l++) {
    if (!(fabs(a[l] - sign * b[l]) <= SAME * fabs(a[l]))) return false;
  }
  return true;
}

static srNode parameter(Work* w, const double* value) {
  const int n = w->lanes->n;
  for (int k = 0; k <= w->nconstant; k++) {
    const double* known = w->constant + k * n;
    if (k == w->nconstant) {
      for (int l = 0; l < n; l++) SR_PUSH(w->pool, w->constant, w->nvalue, w->capacity) = value[l];
      w->nconstant++;
      return sr_graph_param(w->g, sr_pool_printf(w->pool, "p%d", k), value[0]);
    }
    const srNode p = sr_graph_find_param(w->g, sr_pool_printf(w->pool, "p%d", k));
    if (same(value, known, 1, n)) return p;
    if (same(value, known, -1, n)) return srx_neg(w->g, p);
  }
  return SR_NO_NODE;
}

static srNode number(Work* w, int i) {
  double value[8];
  bool equal = true;
  for (int l = 0; l < w->lanes->n; l++) {
    value[l] = w->lane[l].value[w->lane[l].with[i] - 1];
    equal = equal && fabs(value[l] - value[0]) <= SAME * fabs(value[0]);
  }
  w->alone[i] = !equal;
  return equal ? srx_number(w->g, value[0]) : parameter(w, value);
}

static srNode sum(Work* w, int i) {
  const int child = w->lane[0].g->nodes[i].child[0];
  int function = -1;
  if (w->lane[0].number[child]) {
    double total = 0;
    for (int l = 0; l < w->lanes->n; l++) total += w->lane[l].value[w->lane[l].with[child] - 1];
    return srx_number(w->g, total);
  }
  (void)sr_graph_find_function(w->g, SR_LANE_SUM, &function);
  return sr_graph_function(w->g, function, 0, w->made[child] - 1);
}

static bool is_of_limb(const srSymLanes* l, srVarKind kind, int index) {
  if (kind == SR_VAR_Q) return index >= l->base_q;
  if (kind == SR_VAR_V || kind == SR_VAR_A || kind == SR_VAR_TAU) return index >= l->base_v;
  return kind == SR_VAR_STATE && index >= l->base_y;
}

static srNode make(Work* w, int i) {
  const Lane* l = &w->lane[0];
  const srGraphNode* x = &l->g->nodes[i];
  srNode c[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
  if (l->number[i]) return number(w, i);
  if (x->op == SR_OP_VAR) {
    w->alone[i] = is_of_limb(w->lanes, (srVarKind)x->detail, l->index[i]);
    return sr_graph_var(w->g, (srVarKind)x->detail, l->index[i]);
  }
  if (x->op == SR_OP_FUNCTION) return sum(w, i);
  for (int k = 0; k < sr_op_arity(x->op); k++)
    c[k] = w->made[x->child[k]] - 1, w->alone[i] = w->alone[i] || w->alone[x->child[k]];
  return sr_op_has_memory(x->op) ? sr_graph_again(w->g, l->g, i, c) : sr_graph_op(w->g, x->op, c[0], c[1], c[2]);
}

const srSymZipped* sr_sym_zip(srPool* pool, srSymTree* tree, srSymBuild build, const void* user, int nout, int nlocal,
                              const int* outputs, const bool* of_base) {
  Work w = {.pool = pool, .lanes = tree->lanes};
  const int n = w.lanes->n;
  srSymPass *first = NULL, *pass;
  SR_ASSERT(n <= 8);
  w.lane = sr_pool_alloc(pool, (size_t)n * sizeof *w.lane);
  for (int l = 0; l < n; l++) {
    for (int i = 1; i < tree->n; i++) {
      const srSymLink* like = &tree->link[w.lanes->like[i]];
      tree->link[i].frame = like->frame, tree->link[i].carries = like->carries;
      if (sr_sym_is_parallel(&tree->link[i]) != sr_sym_is_parallel(like)) return NULL;
    }
    put_lane(&w, tree, l, build, user, nout, &pass);
    if (l == 0) first = pass, w.lane[0].with = sr_pool_alloc(pool, ((size_t)w.lane[0].g->n + 1) * sizeof(int));
  }
  for (int k = 0; k < nlocal; k++) {
    srNode node[8];
    for (int l = 0; l < n; l++) node[l] = w.lane[l].out[outputs[l * nlocal + k]];
    if (!follow(&w, node)) return NULL;
  }
  srSymZipped* z = sr_pool_alloc(pool, sizeof *z);
  srSymNote* note = sr_pool_alloc(pool, ((size_t)first->nnote + 1) * sizeof *note);
  w.g = sr_graph_create(pool);
  sr_graph_for_code(w.g);
  w.made = sr_pool_alloc(pool, ((size_t)w.lane[0].g->n + 1) * sizeof *w.made);
  w.alone = sr_pool_alloc(pool, (size_t)w.lane[0].g->n + 1);
  int function = 0;
  const srFunction* total = sr_graph_find_function(w.lane[0].g, SR_LANE_SUM, &function);
  if (total != NULL) sr_graph_add_function(w.g, total);
  for (int i = 0; i < w.lane[0].g->n; i++) {
    while (z->nnote < first->nnote && first->note[z->nnote].node <= i)
      note[z->nnote] = (srSymNote){sr_graph_size(w.g), first->note[z->nnote].text}, z->nnote++;
    if (w.lane[0].with[i] != 0) w.made[i] = make(&w, i) + 1;
  }
  srNode* out = sr_pool_alloc(pool, ((size_t)nlocal + 1) * sizeof *out);
  for (int k = 0; k < nlocal; k++) {
    const srNode node = w.lane[0].out[outputs[k]];
    if (of_base[k] && w.alone[node]) return NULL;  // the base must be the same in all lanes
    out[k] = w.made[node] - 1;
  }
  z->code = sr_code_create(pool, w.g, out, nlocal);
  z->constant = w.constant, z->nconstant = w.nconstant, z->note = note;
  return z;
}
