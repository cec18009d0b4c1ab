// Sensors whose formulas use recorded quantities: evaluated after the accelerations.
#include "record/late.h"

#include <string.h>

#include "force/force.h"

// Each request must be one column.
static srStatus check(const srModel* m, const srRecorder* r, srMessages* messages) {
  for (int i = 0; i < m->priv->nquantity; i++) {
    const srRecordRequest* q = &m->priv->quantity[i];
    if (i < r->n && strcmp(r->names[i], q->pattern) == 0) continue;
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, q->place,
        "record(%s) must name one column that exists in all formulations, such as record(reaction(crankpin).fx)",
        q->pattern);
    return SR_INPUT;
  }
  return SR_OK;
}

srStatus sr_late_create(const srModel* m, srMessages* messages, srLate** out) {
  const struct srModelPrivate* priv = m->priv;
  *out = NULL;
  if (priv->nlate == 0) return SR_OK;
  const int work = sr_program_work(priv->late);
  srLate* x = sr_alloc(sizeof *x + (size_t)(priv->nquantity + priv->nlate + work) * sizeof(double));
  if (x == NULL) return SR_MEMORY;
  x->m = m;
  x->quantity = (double*)(x + 1);
  x->value = x->quantity + priv->nquantity;
  x->work = x->value + priv->nlate;
  srStatus status = sr_recorder_create(m, priv->quantity, priv->nquantity, NULL, 0, messages, &x->recorder);
  if (status == SR_OK) status = check(m, x->recorder, messages);
  if (status == SR_OK) {
    *out = x;
  } else {
    sr_late_destroy(x);
  }
  return status;
}

void sr_late_destroy(srLate* x) {
  if (x == NULL) return;
  sr_recorder_destroy(x->recorder);
  sr_free(x);
}

const double* sr_late_values(srLate* x, srData* d, const double* w) {
  sr_recorder_row(x->recorder, d, w, x->quantity);
  srInputs inputs = sr_law_inputs(d);
  inputs.record = x->quantity;
  sr_program_evaluate(x->m->priv->late, &inputs, x->work, x->value);
  return x->value;
}
