// The order of statements. Values wait in registers for their uses, and those that find none are stored and read again: of several orders the one is taken with the fewest of these.
//
//   as they were built; depth-first from the first output or from the last one, outputs as they are listed or as they were built (columns of derivatives are solved one after the other),
//   operands as they are written, the other way round, or the one with the most registers first (Sethi and Ullman 1970)
// Of orders that are equal, the one that would be it with two fifths of the registers: a compiler for a GPU may then keep more threads.
// An output is stored as soon as it is known. Registers: the one is freed whose value is used last (Belady 1966).
#include <limits.h>
#include <string.h>

#include "symbolic/code.h"

#define FEW 32  // registers: of a processor. With more, of a GPU, outputs are as they are listed

typedef struct Work {
  srPool* pool;
  const srCode* code;
  const srOperands* of;  // statements that a statement and an output use
  int* label;            // registers that a statement needs with all that is below
  unsigned char* done;
  int *listed, *built;  // outputs, in two orders
  srOrder out;
  int child;  // how operands are ordered
} Work;

static bool is_statement(const srCode* code, int i) {
  return code->value[i].uses > 0 && !sr_code_is_inline(code, i) && !sr_code_is_packed(code, i);
}

static void collect(srPool* pool, const srCode* code, srRef ref, srOperands* to, int* capacity) {
  const int i = SR_REF_VALUE(ref);
  if (sr_code_is_packed(code, i)) return;
  if (is_statement(code, i)) {
    for (int k = 0; k < to->n; k++) {
      if (to->value[k] == i) return;
    }
    SR_PUSH(pool, to->value, to->n, *capacity) = i;
    return;
  }
  const srCodeValue* v = &code->value[i];
  for (int k = 0; k < sr_op_arity(v->op); k++) collect(pool, code, v->child[k], to, capacity);
}

const srOperands* sr_code_operands(srPool* pool, const srCode* code) {
  srOperands* all = sr_pool_alloc(pool, ((size_t)(code->n + code->nout) + 1) * sizeof *all);
  srOperands* of = all + code->nout;
  for (int i = 0; i < code->n; i++) {
    const srCodeValue* v = &code->value[i];
    int capacity = 0;
    for (int k = 0; is_statement(code, i) && k < sr_op_arity(v->op); k++)
      collect(pool, code, v->child[k], &of[i], &capacity);
  }
  for (int i = 0; i < code->nout; i++) {
    int capacity = 0;
    collect(pool, code, code->out[i], &of[-1 - i], &capacity);
  }
  return of;
}

static void put_labels(Work* w) {
  w->label = sr_pool_alloc(w->pool, ((size_t)w->code->n + 1) * sizeof *w->label);
  for (int i = 0; i < w->code->n; i++) {
    int most = 1, same = 0;
    for (int k = 0; k < w->of[i].n; k++) {
      const int label = w->label[w->of[i].value[k]];
      same = label > most ? 0 : same + (label == most);
      most = label > most ? label : most;
    }
    w->label[i] = most + (same > 0);
  }
}

// ---- orders -------------------------------------------------------------------------------------------------------------

static void visit(Work* w, int i);

static void visit_operands(Work* w, const srOperands* x) {
  unsigned char* taken = sr_pool_alloc(w->pool, (size_t)x->n + 1);
  for (int k = 0; k < x->n; k++) {
    int next = w->child == 1 ? x->n - 1 - k : k;
    for (int j = 0; w->child == 2 && j < x->n; j++) {
      if (taken[next] || (!taken[j] && w->label[x->value[j]] > w->label[x->value[next]])) next = j;
    }
    taken[next] = 1;
    visit(w, x->value[next]);
  }
}

static void visit(Work* w, int i) {
  if (w->done[i]) return;
  w->done[i] = 1;
  visit_operands(w, &w->of[i]);
  w->out.item[w->out.n++] = i;
}

static void depth_first(Work* w, const int* outputs, bool from_last) {
  const int n = w->code->nout;
  for (int k = 0; k < n; k++) {
    const int output = outputs[from_last ? n - 1 - k : k];
    visit_operands(w, &w->of[-1 - output]);
    w->out.item[w->out.n++] = -1 - output;
  }
}

// The last statement that an output needs; behind all of them: none.
static int last_operand(const Work* w, int output) {
  const srOperands* x = &w->of[-1 - output];
  int last = x->n > 0 ? x->value[0] : w->code->n;
  for (int j = 1; j < x->n; j++) last = x->value[j] > last ? x->value[j] : last;
  return last;
}

// Outputs as listed, and in the order of their last operands.
static void put_outputs(Work* w) {
  const srCode* code = w->code;
  const size_t n = (size_t)code->nout + 1;
  int* first = sr_pool_alloc(w->pool, ((size_t)code->n + 1) * sizeof *first);  // with this last operand + 1
  int *next = sr_pool_alloc(w->pool, n * sizeof *next), at = 0;
  w->listed = sr_pool_alloc(w->pool, n * sizeof *w->listed), w->built = sr_pool_alloc(w->pool, n * sizeof *w->built);
  for (int k = code->nout - 1; k >= 0; k--) {
    int* head = &first[last_operand(w, k)];
    next[k] = *head, *head = k + 1, w->listed[k] = k;
  }
  for (int i = 0; i <= code->n; i++) {
    for (int k = first[i]; k > 0; k = next[k - 1]) w->built[at++] = k - 1;
  }
}

// As built: an output once all that it needs is there.
static void as_built(Work* w) {
  int at = 0;
  for (int i = 0; i <= w->code->n; i++) {
    if (i < w->code->n && w->done[i]) w->out.item[w->out.n++] = i;
    for (; at < w->code->nout && last_operand(w, w->built[at]) == i; at++) w->out.item[w->out.n++] = -1 - w->built[at];
  }
}

// ---- their price --------------------------------------------------------------------------------------------------------

typedef struct Registers {
  int n, most, *value;
  const int* use;  // next use of each value; INT_MAX: none
  unsigned char* stored;
  long price;
} Registers;

static int find(const Registers* r, int value) {
  for (int k = 0; k < r->n; k++) {
    if (r->value[k] == value) return k;
  }
  return -1;
}

static void put(Registers* r, int value) {
  if (r->n < r->most) {
    r->value[r->n++] = value;
    return;
  }
  int last = 0;
  for (int k = 1; k < r->most; k++) {
    if (r->use[r->value[k]] > r->use[r->value[last]]) last = k;
  }
  const int out = r->use[r->value[last]] >= r->use[value] ? r->value[last] : value;
  if (!r->stored[out]) r->price += 2, r->stored[out] = 1;
  if (out != value) r->value[last] = value;
}

// Twice the values that are stored, and those that are read again, which may be part of an operation.
static long price_of(const Work* w, int registers) {
  const srOrder* o = &w->out;
  const int n = w->code->n;
  int *use = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *use), total = 0;
  for (int t = 0; t < o->n; t++) total += w->of[o->item[t]].n;
  int* after = sr_pool_alloc(w->pool, ((size_t)total + 1) * sizeof *after);  // the use behind that of each operand
  for (int i = 0; i < n; i++) use[i] = INT_MAX;
  int at = total;
  for (int t = o->n - 1; t >= 0; t--) {
    const srOperands* x = &w->of[o->item[t]];
    for (int k = x->n - 1; k >= 0; k--) after[--at] = use[x->value[k]];
    for (int k = 0; k < x->n; k++) use[x->value[k]] = t;
  }
  Registers r = {.most = registers,
                 .value = sr_pool_alloc(w->pool, (size_t)registers * sizeof(int)),
                 .use = use,
                 .stored = sr_pool_alloc(w->pool, (size_t)n + 1)};
  for (int t = 0; t < o->n; t++) {
    const srOperands* x = &w->of[o->item[t]];
    for (int k = 0; k < x->n; k++) {
      const int v = x->value[k], place = find(&r, v);
      use[v] = after[at++];
      r.price += place < 0;
      if (place < 0 && use[v] < INT_MAX) put(&r, v);
      if (place >= 0 && use[v] == INT_MAX) r.value[place] = r.value[--r.n];
    }
    if (o->item[t] >= 0) put(&r, o->item[t]);
  }
  return r.price;
}

srOrder sr_code_order(srPool* pool, const srCode* code, int registers) {
  Work w = {.pool = pool, .code = code, .of = sr_code_operands(pool, code)};
  srOrder best = {0};
  long best_fewer = 0;
  const size_t room = (size_t)(code->n + code->nout) + 1;
  put_labels(&w);
  put_outputs(&w);
  for (int kind = 0; kind < (registers <= FEW ? 13 : 7); kind++) {
    const int way = kind % 7;
    if (way < 6) w.done = sr_pool_alloc(pool, (size_t)code->n + 1);
    w.out = (srOrder){.item = sr_pool_alloc(pool, room * sizeof(int))};
    w.child = way / 2;
    if (way < 6)
      depth_first(&w, kind < 6 ? w.listed : w.built, way % 2 == 1);
    else
      as_built(&w);  // what is done is what is needed
    w.out.price = price_of(&w, registers);
    const long fewer = price_of(&w, registers * 2 / 5 + 1);
    if (kind > 0 && (w.out.price > best.price || (w.out.price == best.price && fewer >= best_fewer))) continue;
    best = w.out, best_fewer = fewer;
  }
  return best;
}
