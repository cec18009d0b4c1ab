// The table of joint kinds.
#include "model/joint.h"

#include <math.h>

#include "math/pose.h"

static const srJointKind* const kinds[SR_JOINT_TYPES] = {
    [SR_JOINT_REVOLUTE] = &sr_joint_revolute,       [SR_JOINT_PRISMATIC] = &sr_joint_prismatic,
    [SR_JOINT_HELICAL] = &sr_joint_helical,         [SR_JOINT_CYLINDRICAL] = &sr_joint_cylindrical,
    [SR_JOINT_UNIVERSAL] = &sr_joint_universal,     [SR_JOINT_BALL] = &sr_joint_ball,
    [SR_JOINT_PLANAR] = &sr_joint_planar,           [SR_JOINT_FREE] = &sr_joint_free,
    [SR_JOINT_WELD] = &sr_joint_weld,
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
