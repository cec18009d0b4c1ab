// driver(NAME): driving force of a driven coordinate (as the column driver.NAME), its power and its work.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->ndriver; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->q_name[m->driver[i].qdof];
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  out[0] = (srQuantityMember){"f", strcmp(m->v_unit[m->driver[i].dof], "m/s") == 0 ? "N" : "Nm"};
  out[1] = (srQuantityMember){"power", "W"};
  out[2] = (srQuantityMember){"work", "J"};
  return 3;
}

static bool meter(const srModel* m, int i, const char* member, srMeter* out) {
  (void)m;
  *out = (srMeter){.element = -1, .driver = i};
  return strcmp(member, "work") == 0;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srModel* m = r->m;
  (void)axes;
  out[0] = r->d->lambda[m->row_driver + group->index];
  out[1] = out[0] * r->d->jv[m->driver[group->index].dof];
  out[2] = sr_recorder_work(r, group);
  return 0;
}

const srQuantityKind sr_quantity_driver = {
    .form = "driver(NAME)",
    .about = "driven coordinate: driving force, its power and work",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .meter = meter,
    .fill = fill,
};
