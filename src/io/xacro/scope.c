// Names of xacro: a scope for the file, and one for every call of a macro, whose outer scope is that of the caller.
#include "io/xacro/parts.h"

srXacroScope* sr_xacro_scope(srXacro* x, srXacroScope* outer) {
  srXacroScope* scope = sr_pool_alloc(&x->r->pool, sizeof *scope);
  scope->outer = outer;
  sr_names_init(&scope->names, &x->r->pool);
  return scope;
}

srXacroSymbol* sr_xacro_find(srXacroScope* scope, const char* name, srXacroScope** where) {
  for (; scope; scope = scope->outer) {
    const int i = sr_names_find(&scope->names, name);
    if (i < 0 || scope->symbol[i].gone) continue;
    if (where) *where = scope;
    return &scope->symbol[i];
  }
  return NULL;
}

srXacroSymbol* sr_xacro_define(srXacro* x, srXacroScope* scope, const char* name) {
  int i = sr_names_find(&scope->names, name);
  if (i < 0) {
    i = scope->nsymbol;
    SR_PUSH(&x->r->pool, scope->symbol, scope->nsymbol, scope->symbol_capacity) =
        (srXacroSymbol){.name = sr_pool_text(&x->r->pool, name)};
    sr_names_put(&scope->names, scope->symbol[i].name, i);
  }
  srXacroSymbol* s = &scope->symbol[i];
  *s = (srXacroSymbol){.name = s->name};
  return s;
}

void sr_xacro_set(srXacro* x, srXacroScope* scope, const char* name, srXacroValue value, bool lazy, srPlace place) {
  srXacroSymbol* s = sr_xacro_define(x, scope, name);
  s->value = sr_xacro_literal(x, &value);
  s->lazy = lazy && s->value.type == SR_XACRO_STR;
  s->place = place;
}

static const char* nearest_symbol(srXacro* x, const srXacroScope* scope, const char* name) {
  enum { MOST = 1000 };
  const char** words = sr_pool_alloc(&x->r->pool, MOST * sizeof *words);
  int n = 0;
  for (; scope; scope = scope->outer)
    for (int i = 0; i < scope->nsymbol && n < MOST; i++)
      if (scope->symbol[i].name[0] != '*' && !scope->symbol[i].gone) words[n++] = scope->symbol[i].name;
  return sr_nearest_word(name, words, n);
}

static void report_unknown(srXacro* x, const srXacroScope* scope, const char* name, srPlace place) {
  sr_xacro_error(x, place, "there is no property '%.60s'%s", name,
                 sr_pool_guess(&x->r->pool, nearest_symbol(x, scope, name)));
}

bool sr_xacro_get(srXacro* x, srXacroScope* scope, const char* name, srPlace place, srXacroValue* out) {
  srXacroScope* where = NULL;
  srXacroSymbol* s = sr_xacro_find(scope, name, &where);
  if (!s) {
    report_unknown(x, scope, name, place);
    return false;
  }
  if (s->busy) {
    sr_xacro_error(x, place, "the property '%.60s' is defined by itself", name);
    return false;
  }
  if (s->lazy) {
    srXacroValue value;
    const int i = (int)(s - where->symbol);
    s->busy = true;
    const bool good = sr_xacro_text(x, where, s->value.text, s->place, &value);
    s = &where->symbol[i];  // the array may have moved
    s->busy = false;
    if (!good) return false;
    s->value = sr_xacro_literal(x, &value);
    s->lazy = false;
  }
  *out = s->value;
  return true;
}
