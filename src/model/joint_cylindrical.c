// Cylindrical joint: an angle about the axis and a displacement along it.
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  out->type[0] = SR_LINK_REVOLUTE;
  out->type[1] = SR_LINK_PRISMATIC;
  sr_frame_about(in->axis, out->frame[0]);
  sr_frame_about(in->axis, out->frame[1]);
  return NULL;
}

const srJointKind sr_joint_cylindrical = {.word = "cylindrical",
                                          .uses = "|axis|",
                                          .nlink = 2,
                                          .nq = 2,
                                          .nv = 2,
                                          .q_suffix = {"angle", "along"},
                                          .q_unit = {"rad", "m"},
                                          .v_suffix = {"angle", "along"},
                                          .v_unit = {"rad/s", "m/s"},
                                          .scalar = true,
                                          .expand = expand};
