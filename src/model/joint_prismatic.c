// Prismatic joint: one displacement along the axis.
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  out->type[0] = SR_LINK_PRISMATIC;
  sr_frame_about(in->axis, out->frame[0]);
  return NULL;
}

const srJointKind sr_joint_prismatic = {.word = "prismatic",
                                        .uses = "|axis|",
                                        .nlink = 1,
                                        .nq = 1,
                                        .nv = 1,
                                        .q_suffix = {""},
                                        .q_unit = {"m"},
                                        .v_suffix = {""},
                                        .v_unit = {"m/s"},
                                        .scalar = true,
                                        .expand = expand};
