// Universal joint: an angle about the axis, which is fixed to the parent, then one about axis2, which it carries along.
// ROBOTRAN's pair of revolute joints with a massless body between them; the axes need not be perpendicular.
#include <math.h>

#include "math/pose.h"
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  if (!in->has_axis2) return "a universal joint needs 'axis2', its second axis";
  if (fabs(srm_dot3(in->axis, in->axis2)) > 1 - 1e-9) return "the two axes of a universal joint must not be parallel";
  out->type[0] = SR_LINK_REVOLUTE;
  out->type[1] = SR_LINK_REVOLUTE;
  sr_frame_about(in->axis, out->frame[0]);
  sr_frame_about(in->axis2, out->frame[1]);
  return NULL;
}

const srJointKind sr_joint_universal = {.word = "universal",
                                        .uses = "|axis|axis2|",
                                        .nlink = 2,
                                        .nq = 2,
                                        .nv = 2,
                                        .q_suffix = {"1", "2"},
                                        .q_unit = {"rad", "rad"},
                                        .v_suffix = {"1", "2"},
                                        .v_unit = {"rad/s", "rad/s"},
                                        .scalar = true,
                                        .expand = expand};
