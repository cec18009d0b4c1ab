// NAME.ax ... of a frame sensor: what its columns do not have without request, observed from the frame that it is relative to.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->nsensor; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->sensor[i].point >= 0 ? m->sensor[i].name : NULL;
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  (void)m, (void)i;
  memcpy(out, sr_frame_members + SR_FRAME_DEFAULT, (SR_FRAME_MEMBERS - SR_FRAME_DEFAULT) * sizeof *out);
  return SR_FRAME_MEMBERS - SR_FRAME_DEFAULT;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srSensor* sensor = &r->m->sensor[group->index];
  srFrameMotion motion;
  double all[SR_FRAME_MEMBERS];
  (void)axes;
  sr_frame_motion(r->m, r->d, sensor->point, sensor->relative_to, &motion);
  sr_frame_values(&motion, all);
  memcpy(out, all + SR_FRAME_DEFAULT, (SR_FRAME_MEMBERS - SR_FRAME_DEFAULT) * sizeof *out);
  return 0;
}

const srQuantityKind sr_quantity_sensor = {
    .form = "NAME",
    .about = "frame sensor: acceleration, angular acceleration, quaternion, angles",
    .stage = SR_STAGE_FRAMES,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
