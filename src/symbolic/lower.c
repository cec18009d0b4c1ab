// Graph nodes to values with signs. Nodes that no output needs are left out; nodes that are equal but for their sign become one value (Ershov 1958); products and sums of two are in a fixed order.
#include <math.h>
#include <string.h>

#include "expr/graph.h"
#include "symbolic/code.h"

typedef struct Work {
  srPool* pool;
  const srGraph* graph;
  srCode* code;
  int capacity;
  int* table;  // open addressing: value + 1
  int size;
} Work;

static uint64_t hash_of(const srCodeValue* v) {
  uint64_t bits, h = (((uint64_t)(uint32_t)v->child[0] << 32) | (uint32_t)v->child[1]) * 0x9e3779b97f4a7c15u;
  memcpy(&bits, &v->number, sizeof bits);
  h = ((h ^ (h >> 32)) + (((uint64_t)(uint32_t)v->index << 32) | (uint32_t)v->child[2])) * 0xbf58476d1ce4e5b9u;
  h = ((h ^ (h >> 32)) + bits + ((uint64_t)v->op << 8) + (uint64_t)v->kind) * 0x94d049bb133111ebu;
  return h ^ (h >> 32);
}

static bool same(const srCodeValue* a, const srCodeValue* b) {
  return a->op == b->op && memcmp(a->child, b->child, sizeof a->child) == 0 &&
         memcmp(&a->number, &b->number, sizeof a->number) == 0 && a->kind == b->kind && a->index == b->index;
}

static int* slot_of(const Work* w, const srCodeValue* v) {
  uint64_t i = hash_of(v) & (uint64_t)(w->size - 1);
  while (w->table[i] != 0 && !same(&w->code->value[w->table[i] - 1], v)) i = (i + 1) & (uint64_t)(w->size - 1);
  return &w->table[i];
}

static srRef put(Work* w, srCodeValue v) {
  int* slot = slot_of(w, &v);
  if (*slot == 0) {
    SR_PUSH(w->pool, w->code->value, w->code->n, w->capacity) = v;
    *slot = w->code->n;
  }
  return 2 * (*slot - 1);
}

static srRef number(Work* w, double x, srNode node) {
  const srCodeValue v = {.op = SR_OP_CONST, .child = {-1, -1, -1}, .number = fabs(x), .node = node};
  return put(w, v) + (signbit(x) && x != 0 ? 1 : 0);
}

static srRef operation(Work* w, srOp op, srRef a, srRef b, srRef c, srNode node) {
  return put(w, (srCodeValue){.op = op, .child = {a, b, c}, .node = node});
}

static srRef sum(Work* w, srRef a, srRef b, srNode node) {
  if (SR_REF_VALUE(a) > SR_REF_VALUE(b)) {
    const srRef other = a;
    a = b, b = other;
  }
  const int minus = SR_REF_MINUS(a);
  return operation(w, SR_OP_ADD, a ^ minus, b ^ minus, -1, node) ^ minus;
}

static srRef product(Work* w, srOp op, srRef a, srRef b, srNode node) {
  const int minus = SR_REF_MINUS(a) ^ SR_REF_MINUS(b);
  a &= ~1, b &= ~1;
  const bool swap = op == SR_OP_MUL && a > b;
  return operation(w, op, swap ? b : a, swap ? a : b, -1, node) ^ minus;
}

static srRef lower(Work* w, srNode i, const srRef* map) {
  const srGraphNode* x = &w->graph->nodes[i];
  srRef c[3] = {-1, -1, -1};
  for (int k = 0; k < sr_op_arity(x->op); k++) c[k] = map[x->child[k]];
  switch (x->op) {
    case SR_OP_CONST: return number(w, x->value, i);
    case SR_OP_PARAM:
      return put(
          w, (srCodeValue){
                 .op = x->op, .child = {-1, -1, -1}, .index = x->index, .name = w->graph->params[x->index], .node = i});
    case SR_OP_VAR:
      return put(w,
                 (srCodeValue){
                     .op = x->op, .child = {-1, -1, -1}, .kind = (srVarKind)x->detail, .index = x->index, .node = i});
    case SR_OP_NEG: return c[0] ^ 1;
    case SR_OP_ADD: return sum(w, c[0], c[1], i);
    case SR_OP_SUB: return sum(w, c[0], c[1] ^ 1, i);
    case SR_OP_MUL:
    case SR_OP_DIV: return product(w, x->op, c[0], c[1], i);
    case SR_OP_SIN:
    case SR_OP_TAN:
    case SR_OP_ASIN: return operation(w, x->op, c[0] & ~1, -1, -1, i) ^ SR_REF_MINUS(c[0]);
    case SR_OP_COS:
    case SR_OP_ABS: return operation(w, x->op, c[0] & ~1, -1, -1, i);
    case SR_OP_LOOKUP:
    case SR_OP_PASS:
    case SR_OP_FOLD:
    case SR_OP_PART:
    case SR_OP_FUNCTION:
    case SR_OP_FUNCTION2: {
      const srCodeValue v = {
          .op = x->op, .child = {c[0], c[1], c[2]}, .kind = (srVarKind)x->detail, .index = x->index, .node = i};
      return put(w, v);
    }
    default: return operation(w, x->op, c[0], c[1], c[2], i);
  }
}

static unsigned char* mark(srPool* pool, const srGraph* graph, const srNode* roots, int nroot) {
  unsigned char* needed = sr_pool_alloc(pool, (size_t)graph->n + 1);
  for (int i = 0; i < nroot; i++) needed[roots[i]] = 1;
  for (int i = graph->n - 1; i >= 0; i--) {
    for (int k = 0; needed[i] && k < sr_op_arity(graph->nodes[i].op); k++) needed[graph->nodes[i].child[k]] = 1;
  }
  return needed;
}

// Sums of angles and constants: their sines come first.
static void mark_angles(srCode* code) {
  for (int i = 0; i < code->n; i++) {
    srCodeValue* v = &code->value[i];
    v->bare = v->op == SR_OP_CONST || v->op == SR_OP_VAR || v->op == SR_OP_PARAM;
    if (v->op == SR_OP_ADD)
      v->bare = code->value[SR_REF_VALUE(v->child[0])].bare && code->value[SR_REF_VALUE(v->child[1])].bare;
  }
}

// What loops leave is behind the values, and what one of them needs for itself behind that.
static int work_of(const srCode* code) {
  int states = 0, most = 0;
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    if (v->op != SR_OP_FOLD || v->uses == 0) continue;
    const srFold* fold = code->fold[v->index];
    const int own = fold->narg + sr_fold_work(fold);
    states += fold->nstate, most = own > most ? own : most;
  }
  return code->n + states + most + 1;
}

srCode* sr_code_create(srPool* pool, const srGraph* graph, const srNode* roots, int nroot) {
  Work w = {.pool = pool, .graph = graph, .code = sr_pool_alloc(pool, sizeof *w.code), .size = 64};
  const unsigned char* needed = mark(pool, graph, roots, nroot);
  int count = 0;
  for (int i = 0; i < graph->n; i++) count += needed[i];
  while (w.size < 2 * count) w.size *= 2;
  w.capacity = count + 1;
  w.code->value = sr_pool_alloc(pool, (size_t)w.capacity * sizeof *w.code->value);
  w.table = sr_pool_alloc(pool, (size_t)w.size * sizeof *w.table);
  srRef* map = sr_pool_alloc(pool, ((size_t)graph->n + 1) * sizeof *map);
  for (int i = 0; i < graph->n; i++) {
    if (needed[i]) map[i] = lower(&w, i, map);
  }
  srCode* code = w.code;
  code->table = graph->tables, code->ntable = graph->ntable, code->fold = graph->folds;
  code->nout = nroot;
  code->out = sr_pool_alloc(pool, ((size_t)nroot + 1) * sizeof *code->out);
  for (int i = 0; i < nroot; i++) code->value[SR_REF_VALUE(code->out[i] = map[roots[i]])].uses++;
  for (int i = code->n - 1; i >= 0; i--) {  // signs may have left values without use
    const srCodeValue* v = &code->value[i];
    for (int k = 0; v->uses > 0 && k < sr_op_arity(v->op); k++) code->value[SR_REF_VALUE(v->child[k])].uses++;
  }
  mark_angles(code);
  code->work = work_of(code);
  return code;
}

// ---- statements ---------------------------------------------------------------------------------------------------------

bool sr_code_is_sum(const srCodeValue* v) { return v->op == SR_OP_ADD; }

static bool once(const srCode* code, srRef ref) { return code->value[SR_REF_VALUE(ref)].uses == 1; }

bool sr_code_is_inline(const srCode* code, int i) {
  const srCodeValue* v = &code->value[i];
  if (v->op == SR_OP_CONST || v->op == SR_OP_VAR || v->op == SR_OP_PARAM || v->op == SR_OP_PASS || v->op == SR_OP_PART)
    return true;
  return v->uses == 1 && (v->op == SR_OP_MUL || v->op == SR_OP_ADD);
}

bool sr_code_is_packed(const srCode* code, int i) {
  const srCodeValue* v = &code->value[i];
  return !code->unpacked && (v->op == SR_OP_SIN || v->op == SR_OP_COS) && code->value[SR_REF_VALUE(v->child[0])].bare;
}

static bool is_product(const srCode* code, srRef ref) {
  return code->value[SR_REF_VALUE(ref)].op == SR_OP_MUL && once(code, ref);
}

typedef struct Terms {
  srPool* pool;
  const srCode* code;
  srTerms out;
  int capacity;
} Terms;

static void collect(Terms* t, srRef ref, bool top) {
  const srCodeValue* v = &t->code->value[SR_REF_VALUE(ref)];
  if (!sr_code_is_sum(v) || (!top && v->uses != 1)) {
    SR_PUSH(t->pool, t->out.term, t->out.n, t->capacity) = ref;
    return;
  }
  for (int k = 0; k < 2; k++) collect(t, v->child[k] ^ SR_REF_MINUS(ref), false);
}

srTerms sr_code_terms(srPool* pool, const srCode* code, int i) {
  Terms t = {.pool = pool, .code = code};
  collect(&t, 2 * i, true);
  srRef* sorted = sr_pool_alloc(pool, ((size_t)t.out.n + 1) * sizeof *sorted);
  int n = 0;
  for (int pass = 0; pass < 4; pass++) {  // plain ones first, those with a plus before those with a minus
    for (int k = 0; k < t.out.n; k++) {
      const srRef ref = t.out.term[k];
      if (is_product(code, ref) == (pass >= 2) && SR_REF_MINUS(ref) == (pass & 1)) sorted[n++] = ref;
    }
    if (pass == 1) t.out.nproduct = t.out.n - n;
  }
  t.out.term = sorted;
  return t.out;
}
