// The table of joint kinds.
#include "model/joint.h"

#include <math.h>

#include "math/pose.h"

static const srJointKind* const kinds[SR_JOINT_TYPES] = {
#define SR_JOINT_ROW(NAME, word) [SR_JOINT_##NAME] = &sr_joint_##word,
    SR_JOINT_LIST(SR_JOINT_ROW)
#undef SR_JOINT_ROW
};

const srJointKind* sr_joint_kind(srJointType type) { return kinds[type]; }

const char* sr_joint_word(srJointType type) { return kinds[type]->word; }

void sr_frame_about(const double z[3], double frame[16]) {
  double x[3] = {1, 0, 0}, y[3];
  if (fabs(z[0]) > 1 - 1e-12) {
    x[0] = 0;
    x[1] = 1;
  }
  double along = srm_dot3(x, z);
  for (int k = 0; k < 3; k++) x[k] -= along * z[k];
  double length = srm_norm3(x);
  for (int k = 0; k < 3; k++) x[k] /= length;
  srm_cross3(z, x, y);
  srm_pose_set(x, y, z, (const double[3]){0, 0, 0}, frame);
}
