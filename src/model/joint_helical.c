// Helical joint (screw): one angle about the axis, with pitch * angle along it.
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  if (!in->has_pitch) return "a helical joint needs 'pitch', its advance per radian [m/rad]";
  out->type[0] = SR_LINK_HELICAL;
  out->pitch = in->pitch;
  sr_frame_about(in->axis, out->frame[0]);
  return NULL;
}

const srJointKind sr_joint_helical = {.word = "helical",
                                      .uses = "|axis|pitch|",
                                      .nlink = 1,
                                      .nq = 1,
                                      .nv = 1,
                                      .q_suffix = {""},
                                      .q_unit = {"rad"},
                                      .v_suffix = {""},
                                      .v_unit = {"rad/s"},
                                      .scalar = true,
                                      .expand = expand};
