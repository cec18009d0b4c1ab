// Ball joint: position is a unit quaternion w x y z, velocity the angular velocity in body axes.
#include "math/pose.h"
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  (void)in;
  out->type[0] = SR_LINK_BALL;
  srm_pose_identity(out->frame[0]);
  return NULL;
}

const srJointKind sr_joint_ball = {.word = "ball",
                                   .nlink = 1,
                                   .nq = 4,
                                   .nv = 3,
                                   .q_suffix = {"qw", "qx", "qy", "qz"},
                                   .q_unit = {"1", "1", "1", "1"},
                                   .v_suffix = {"wx", "wy", "wz"},
                                   .v_unit = {"rad/s", "rad/s", "rad/s"},
                                   .expand = expand};
