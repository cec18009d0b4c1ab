// Values that find no register, kept in the shared memory of a multiprocessor, one column a thread. A compiler stores such values as well, but in memory that goes through a cache too small for all threads.
// Where registers are full, the value that is used last is put into a slot (Belady 1966), and read again before its next use; slots are used again by others.
#include <limits.h>
#include <string.h>

#include "symbolic/code.h"

typedef struct Value {
  int use;          // its next use; INT_MAX: none
  int first, last;  // item before which it is put into a slot, and before which it is read last
  bool held;        // in a register
} Value;

typedef struct Work {
  srPool* pool;
  const srOrder* order;
  const srOperands* of;
  Value* value;
  int n, most, *held;  // registers
  int *put_room, *read_room;
  srRoom out;
} Work;

static void drop(Work* w, int value) {
  int k = 0;
  while (w->held[k] != value) k++;
  w->held[k] = w->held[--w->n];
  w->value[value].held = false;
}

static void hold(Work* w, int value, int t) {
  if (w->n == w->most) {
    int out = w->held[0];
    for (int k = 1; k < w->n; k++) out = w->value[w->held[k]].use > w->value[out].use ? w->held[k] : out;
    drop(w, out);
    if (w->value[out].first < 0) {
      w->value[out].first = t;
      SR_PUSH(w->pool, w->out.put[t].value, w->out.put[t].n, w->put_room[t]) = out;
    }
  }
  w->held[w->n++] = value;
  w->value[value].held = true;
}

static void next_uses(const Work* w, int* after, int at) {
  for (int t = w->order->n - 1; t >= 0; t--) {
    const srOperands* x = &w->of[w->order->item[t]];
    for (int k = x->n - 1; k >= 0; k--) after[--at] = w->value[x->value[k]].use;
    for (int k = 0; k < x->n; k++) w->value[x->value[k]].use = t;
  }
}

static void follow(Work* w, const int* after) {
  int at = 0;
  for (int t = 0; t < w->order->n; t++) {
    const srOperands* x = &w->of[w->order->item[t]];
    for (int k = 0; k < x->n; k++) w->value[x->value[k]].use = t;
    for (int k = 0; k < x->n; k++) {
      Value* v = &w->value[x->value[k]];
      if (v->held) continue;
      SR_PUSH(w->pool, w->out.read[t].value, w->out.read[t].n, w->read_room[t]) = x->value[k];
      v->last = t;
      hold(w, x->value[k], t);
    }
    for (int k = 0; k < x->n; k++) {
      Value* v = &w->value[x->value[k]];
      v->use = after[at++];
      if (v->use == INT_MAX && v->held) drop(w, x->value[k]);  // a sum may have more terms than there are registers
    }
    if (w->order->item[t] >= 0) hold(w, w->order->item[t], t + 1);
  }
}

// Slots of intervals from first to last.
static void put_slots(Work* w, int n) {
  int capacity = 0, *end = NULL;
  w->out.slot = sr_pool_alloc(w->pool, ((size_t)n + 1) * sizeof *w->out.slot);
  for (int t = 0; t <= w->order->n; t++) {
    for (int k = 0; k < w->out.put[t].n; k++) {
      const int v = w->out.put[t].value[k];
      int slot = 0;
      while (slot < w->out.n && end[slot] >= t) slot++;
      if (slot == w->out.n) SR_PUSH(w->pool, end, w->out.n, capacity) = 0;
      end[slot] = w->value[v].last;
      w->out.slot[v] = slot;
    }
  }
}

srRoom sr_code_room(srPool* pool, const srCode* code, const srOrder* order, int registers) {
  const size_t room = (size_t)order->n + 2;
  Work w = {.pool = pool, .order = order, .of = sr_code_operands(pool, code), .most = registers};
  int total = 0;
  for (int t = 0; t < order->n; t++) total += w.of[order->item[t]].n;
  w.value = sr_pool_alloc(pool, ((size_t)code->n + 1) * sizeof *w.value);
  for (int i = 0; i < code->n; i++) w.value[i] = (Value){.use = INT_MAX, .first = -1, .last = -1};
  w.held = sr_pool_alloc(pool, (size_t)registers * sizeof *w.held);
  w.put_room = sr_pool_alloc(pool, room * sizeof(int)), w.read_room = sr_pool_alloc(pool, room * sizeof(int));
  w.out.put = sr_pool_alloc(pool, room * sizeof(srOperands));
  w.out.read = sr_pool_alloc(pool, room * sizeof(srOperands));
  int* after = sr_pool_alloc(pool, ((size_t)total + 1) * sizeof *after);
  next_uses(&w, after, total);
  follow(&w, after);
  put_slots(&w, code->n);
  return w.out;
}
