// Loops of contacts, and how a language writes them.
#include "symbolic/folds.h"

#include <string.h>

#include "symbolic/emit.h"

// ---- those that were made -----------------------------------------------------------------------------------------------

typedef struct Made {
  srFoldKey key;
  const srFold* fold;
} Made;

struct srSymFolds {
  srPool* pool;
  int n, capacity;
  Made* item;
};

srSymFolds* sr_sym_folds(srPool* pool) {
  srSymFolds* out = sr_pool_alloc(pool, sizeof *out);
  *out = (srSymFolds){.pool = pool};
  return out;
}

srPool* sr_sym_folds_pool(const srSymFolds* folds) { return folds->pool; }

const srFold* sr_sym_fold_find(const srSymFolds* folds, const srFoldKey* key) {
  for (int i = 0; i < folds->n; i++) {
    const srFoldKey* x = &folds->item[i].key;
    if (memcmp(x->of, key->of, sizeof x->of) == 0 && x->n == key->n &&
        memcmp(x->number, key->number, (size_t)key->n * sizeof *key->number) == 0)
      return folds->item[i].fold;
  }
  return NULL;
}

const srFold* sr_sym_fold_make(srSymFolds* folds, const srFoldKey* key, const srFoldMaking* x) {
  srFold* fold = sr_pool_alloc(folds->pool, sizeof *fold);
  double* number = sr_pool_alloc(folds->pool, ((size_t)key->n + 1) * sizeof *number);
  memcpy(number, key->number, (size_t)key->n * sizeof *number);
  *fold = x->fold;
  fold->some = sr_code_create(folds->pool, x->some, &x->some_out, 1);
  fold->step = sr_code_create(folds->pool, x->step, x->step_out, x->fold.nstate);
  Made* made = &SR_PUSH(folds->pool, folds->item, folds->n, folds->capacity);
  *made = (Made){.key = *key, .fold = fold};
  made->key.number = number;
  return fold;
}

// ---- of a unit ----------------------------------------------------------------------------------------------------------

static srEmitFunction function_of(srPool* pool, const srCode* code, const char* name) {
  srEmitFunction f = {.name = name, .about = "", .code = code, .nout = 1, .in_fold = true};
  int* place = sr_pool_alloc(pool, ((size_t)code->nout + 1) * sizeof *place);
  for (int i = 0; i < code->nout; i++) place[i] = i;
  f.out[0] = (srEmitArray){name, code->nout, 1, ""};
  f.place = place;
  return f;
}

// Loops within a loop come before it.
static void collect(srPool* pool, srEmitUnit* unit, srEmitFunction* f, int* capacity) {
  const srCode* code = f->code;
  int* number = sr_pool_alloc(pool, ((size_t)code->n + 1) * sizeof *number);
  for (int k = 0; k < code->n; k++) {
    const srCodeValue* v = &code->value[k];
    if (v->op != SR_OP_FOLD || v->uses == 0) continue;
    const srFold* fold = code->fold[v->index];
    int at = 0;
    while (at < unit->nfold && unit->fold[at].fold != fold) at++;
    if (at == unit->nfold) {
      srEmitFold made = {fold, function_of(pool, fold->some, "some"), function_of(pool, fold->step, "next")};
      collect(pool, unit, &made.step, capacity);
      at = unit->nfold;
      SR_PUSH(pool, unit->fold, unit->nfold, *capacity) = made;
    }
    number[v->index] = at;
  }
  f->fold = number;
}

void sr_emit_collect_folds(srPool* pool, srEmitUnit* unit, srEmitFunction* functions) {
  int capacity = 0;
  for (int i = 0; i < unit->nfunction; i++) {
    collect(pool, unit, &functions[i], &capacity);
    for (int k = 0; k < SR_EMIT_LANES; k++) {
      if (functions[i].in_lanes[k] != NULL) collect(pool, unit, functions[i].in_lanes[k], &capacity);
    }
  }
}

bool sr_emit_uses_fold(const srEmitUnit* unit, const srEmitFunction* f, int fold) {
  for (int i = 0; i < f->code->n; i++) {
    const srCodeValue* v = &f->code->value[i];
    if (v->op != SR_OP_FOLD || v->uses == 0) continue;
    const int at = f->fold[v->index];
    if (at == fold || sr_emit_uses_fold(unit, &unit->fold[at].step, fold)) return true;
  }
  return false;
}

// ---- text ---------------------------------------------------------------------------------------------------------------

void sr_emit_fold_text(const srFold* fold, int number, const char* name, const char* text, srText* to) {
  for (const char* c = text; *c != 0; c++) {
    if (*c == '&')
      sr_text_print(to, "%d", number);
    else if (*c == '$')
      sr_text_print(to, "%d", fold->nstate);
    else if (*c == '@')
      sr_text_print(to, "%s", name);
    else if (*c == '%' && c[1] >= '0' && c[1] < '0' + SR_FOLD_INDICES)
      sr_text_print(to, "%d", fold->n[*++c - '0']);
    else
      sr_text_add(to, c, 1);
  }
}

static void body(srPool* pool, const srEmitUnit* unit, const srEmitFunction* f, const srFoldText* text,
                 const srSyntax* syntax, srText* to) {
  for (int k = 0; k < unit->ntable && text->table != NULL; k++) {
    if (sr_emit_uses_table(f, k)) sr_emit_table(unit, k, text->table, text->table_end, to);
  }
  sr_emit_body(pool, f, syntax, to);
}

void sr_emit_fold(srPool* pool, const srEmitUnit* unit, int i, const srFoldText* text, const srSyntax* syntax,
                  srText* to) {
  const srEmitFold* x = &unit->fold[i];
  sr_emit_fold_text(x->fold, i, x->fold->about, text->some, to);
  body(pool, unit, &x->some, text, syntax, to);
  sr_emit_fold_text(x->fold, i, "", text->some_end, to);
  sr_emit_fold_text(x->fold, i, "", text->step, to);
  body(pool, unit, &x->step, text, syntax, to);
  sr_emit_fold_text(x->fold, i, "", text->step_end, to);
  sr_emit_fold_text(x->fold, i, "", text->loop, to);
}

void sr_emit_folds(srPool* pool, const srEmitUnit* unit, const srFoldText* text, const srSyntax* syntax, srText* to) {
  for (int i = 0; i < unit->nfold; i++) sr_emit_fold(pool, unit, i, text, syntax, to);
}
