// Tables that generated code looks numbers up in: heights of a field, knots and coefficients of splines. All functions of a unit share them.
#include "symbolic/emit.h"

typedef struct Tables {
  srPool* pool;
  srGraphTable* all;
  int n, capacity;
} Tables;

static void collect(Tables* to, srEmitFunction* f) {
  const srCode* code = f->code;
  int* number = sr_pool_alloc(to->pool, ((size_t)code->ntable + 1) * sizeof *number);
  for (int k = 0; k < code->n; k++) {
    const srCodeValue* v = &code->value[k];
    if (v->op != SR_OP_LOOKUP || v->uses == 0) continue;
    const srGraphTable* t = &code->table[v->index];
    int at = 0;
    while (at < to->n && (to->all[at].x != t->x || to->all[at].n != t->n)) at++;
    if (at == to->n) SR_PUSH(to->pool, to->all, to->n, to->capacity) = *t;
    number[v->index] = at;
  }
  f->table = number;
}

void sr_emit_collect_tables(srPool* pool, srEmitUnit* unit, srEmitFunction* functions) {
  Tables all = {.pool = pool};
  for (int i = 0; i < unit->nfunction; i++) {
    collect(&all, &functions[i]);
    for (int k = 0; k < SR_EMIT_LANES; k++) {
      if (functions[i].in_lanes[k] != NULL) collect(&all, functions[i].in_lanes[k]);
    }
  }
  for (int i = 0; i < unit->nfold; i++) collect(&all, &unit->fold[i].some), collect(&all, &unit->fold[i].step);
  unit->table = all.all, unit->ntable = all.n;
}

void sr_emit_table(const srEmitUnit* unit, int table, const char* open, const char* close, srText* to) {
  const srGraphTable* t = &unit->table[table];
  char text[SR_NUMBER_TEXT];
  sr_text_print(to, open, table, t->n);
  for (int i = 0; i < t->n; i++) {
    sr_number_text(t->x[i], text, sizeof text);
    sr_text_print(to, "%s%s", i > 0 ? ", " : "", text);
  }
  sr_text_print(to, "%s", close);
}

void sr_emit_tables(const srEmitUnit* unit, const char* helper, const char* open, const char* close, srText* to) {
  if (unit->ntable == 0) return;
  sr_text_print(to, "%s", helper);
  for (int i = 0; i < unit->ntable; i++) sr_emit_table(unit, i, open, close, to);
}

bool sr_emit_uses_table(const srEmitFunction* f, int table) {
  for (int i = 0; i < f->code->n; i++) {
    const srCodeValue* v = &f->code->value[i];
    if (v->op == SR_OP_LOOKUP && v->uses > 0 && f->table[v->index] == table) return true;
  }
  return false;
}
