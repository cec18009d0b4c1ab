// Free joint: position of the origin in joint axes, then a unit quaternion w x y z; velocity is the angular velocity,
// then the velocity of the origin, both in body axes.
#include "math/pose.h"
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  (void)in;
  out->type[0] = SR_LINK_FREE;
  srm_pose_identity(out->frame[0]);
  return NULL;
}

const srJointKind sr_joint_free = {.word = "free",
                                   .nlink = 1,
                                   .nq = 7,
                                   .nv = 6,
                                   .q_suffix = {"x", "y", "z", "qw", "qx", "qy", "qz"},
                                   .q_unit = {"m", "m", "m", "1", "1", "1", "1"},
                                   .v_suffix = {"wx", "wy", "wz", "vx", "vy", "vz"},
                                   .v_unit = {"rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"},
                                   .expand = expand};
