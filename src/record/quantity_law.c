// law(NAME): the value of a sensor by a law of a plugin or of C code (<sarrus/sensor.h>).
#include <math.h>
#include <sarrus/sensor.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->nsensor; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->sensor[i].law ? m->sensor[i].name : NULL;
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  out[0] = (srQuantityMember){"", m->sensor[i].unit};
  return 1;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srSensor* sensor = &r->m->sensor[group->index];
  srFrameMotion s;
  (void)axes;
  sr_frame_motion(r->m, r->d, sensor->law_point, sensor->relative_to, &s);
  const srSensorIn in = {.t = r->d->t,
                         .position = s.position,
                         .rotation = s.rotation,
                         .velocity = s.velocity,
                         .angular_velocity = s.angular_velocity,
                         .acceleration = s.acceleration,
                         .angular_acceleration = s.angular_acceleration,
                         .p = sensor->parameter,
                         .np = sensor->nparameter};
  if (sensor->law->evaluate(&in, out) != 0) *out = (double)NAN;
  return 0;
}

const srQuantityKind sr_quantity_law = {
    .form = "law(NAME)",
    .about = "sensor by a law of a plugin",
    .stage = SR_STAGE_FRAMES,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
