// coupling(NAME): force of a <coupling> on the coordinate of each of its joints.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) {
  int n = 0;
  while (n < m->ncoupling && m->coupling[n].gear < 0) n++;  // gears come after them
  return n;
}

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->coupling[i].n <= SR_MEMBERS_MOST ? m->coupling[i].name : NULL;
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  const srCoupling* c = &m->coupling[i];
  for (int k = 0; k < c->n; k++) {
    out[k] = (srQuantityMember){m->q_name[c->qdof[k]], strcmp(m->q_unit[c->qdof[k]], "m") == 0 ? "N" : "Nm"};
  }
  return c->n;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srCoupling* c = &r->m->coupling[group->index];
  (void)axes;
  for (int k = 0; k < c->n; k++) out[k] = c->factor[k] * r->d->lambda[c->row];
  return 0;
}

const srQuantityKind sr_quantity_coupling = {
    .form = "coupling(NAME)",
    .about = "coupling: its force on each joint",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
