// Planar joint: displacements x and y in the plane normal to the axis, then an angle about it. x and y are the axes of
// the frame about the axis (sr_frame_about): with axis 0 0 1 those of the joint frame.
#include "math/pose.h"
#include "model/joint.h"

static const char* expand(const srJointIn* in, srJointOut* out) {
  out->type[0] = SR_LINK_PRISMATIC;
  out->type[1] = SR_LINK_PRISMATIC;
  out->type[2] = SR_LINK_REVOLUTE;
  const double origin[3] = {0, 0, 0};
  double* plane = out->frame[2];
  sr_frame_about(in->axis, plane);
  // x slides along x of the plane (frame y z x), y along y (frame z x y)
  srm_pose_set(plane + 4, plane + 8, plane, origin, out->frame[0]);
  srm_pose_set(plane + 8, plane, plane + 4, origin, out->frame[1]);
  return NULL;
}

const srJointKind sr_joint_planar = {.word = "planar",
                                     .uses = "|axis|",
                                     .nlink = 3,
                                     .nq = 3,
                                     .nv = 3,
                                     .q_suffix = {"x", "y", "angle"},
                                     .q_unit = {"m", "m", "rad"},
                                     .v_suffix = {"x", "y", "angle"},
                                     .v_unit = {"m/s", "m/s", "rad/s"},
                                     .scalar = true,
                                     .expand = expand};
