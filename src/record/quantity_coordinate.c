// a.NAME: accelerations dv/dt of the joint coordinates; where bodies are free, those of the measured coordinates.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->njv; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->v_name[i];
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  out[0] = (srQuantityMember){"", strcmp(m->v_unit[i], "m/s") == 0 ? "m/s^2" : "rad/s^2"};
  return 1;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  (void)axes;
  out[0] = sr_recorder_accelerations(r)[group->index];
  return 0;
}

const srQuantityKind sr_quantity_coordinate = {
    .form = "a.NAME",
    .about = "acceleration of a joint coordinate",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
