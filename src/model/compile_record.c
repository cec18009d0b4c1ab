// What a run records on request: <record>, and the quantities that formulas of sensors use. Their names are checked by the caller of the
// compiler (src/catalog), which has the kinds of quantities.
#include <string.h>

#include "model/compile.h"

srNode sr_c_record(srCompiler* c, const char* name) {
  int i = 0;
  while (i < c->nquantity && strcmp(c->quantity[i].pattern, name) != 0) i++;
  if (i == c->nquantity)
    SR_PUSH(&c->scratch, c->quantity, c->nquantity, c->quantity_capacity) =
        (srRecordRequest){sr_pool_text(c->pool, name), c->formula_place};
  return sr_graph_var(c->graph, SR_VAR_RECORD, i);
}

static srRecordRequest* keep(srCompiler* c, const srRecordRequest* list, int n) {
  srRecordRequest* kept = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *kept);
  for (int i = 0; i < n; i++) {
    kept[i] = list[i];
    kept[i].place.file = sr_pool_text(c->pool, list[i].place.file);
  }
  return kept;
}

static void requests(srCompiler* c) {
  const int n = srs_count(c->spec, SR_ELEMENT_RECORD), field = SR_FIELD(srRecordDef, what);
  srRecordRequest* list = sr_pool_alloc(&c->scratch, ((size_t)n + 1) * sizeof *list);
  for (int i = 0; i < n; i++) {
    const char* what = sr_c_text(c, SR_ELEMENT_RECORD, i, field);
    if (!what) continue;
    list[c->priv->nrecord++] =
        (srRecordRequest){sr_pool_text(c->pool, what), sr_c_place(c, SR_ELEMENT_RECORD, i, field)};
  }
  c->priv->record = keep(c, list, c->priv->nrecord);
}

void sr_compile_records(srCompiler* c) {
  struct srModelPrivate* priv = c->priv;
  requests(c);
  priv->nquantity = c->nquantity;
  priv->quantity = keep(c, c->quantity, c->nquantity);
  priv->nlate = c->nlate;
  priv->late = c->nlate > 0 ? sr_program_create(c->pool, c->graph, c->late, c->nlate) : NULL;
}
