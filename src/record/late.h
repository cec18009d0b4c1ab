// Sensors whose formulas use recorded quantities: evaluated after the accelerations.
#ifndef SR_RECORD_LATE_H
#define SR_RECORD_LATE_H

#include "record/recorder.h"

typedef struct srLate {
  const srModel* m;
  srRecorder* recorder;  // of the quantities
  double *quantity, *value, *work;
} srLate;

// *out: NULL where the model has no such sensor. SR_INPUT: a quantity is unknown.
srStatus sr_late_create(const srModel* m, srMessages* messages, srLate** out);
void sr_late_destroy(srLate* x);
// Values (srSensor.late is the index) at d's state; NaN where its stage is too low. w: as sr_recorder_row.
const double* sr_late_values(srLate* x, srData* d, const double* w);

#endif
