// Poses of links at the start, and the frames of loops there; those that rounded numbers leave open are closed (io/close.c).
#include <math.h>
#include <string.h>

#include "io/close.h"
#include "io/urdf/urdf.h"
#include "math/pose.h"

static void to_matrix(const srUrdfPose* pose, double out[16]) {
  srm_pose_identity(out);
  if (pose->rolled) srm_pose_from_rpy(pose->rpy, out);
  if (pose->turned) srm_pose_from_quaternion(pose->quaternion, out);
  memcpy(out + 12, pose->xyz, sizeof pose->xyz);
}

static void from_matrix(const double matrix[16], srUrdfPose* pose) {
  srm_quaternion_from_pose(matrix, pose->quaternion);
  memcpy(pose->xyz, matrix + 12, sizeof pose->xyz);
  pose->moved = pose->turned = true;
  pose->rolled = false;
}

// What a joint with one coordinate does at its start.
static void move_by(const srUrdfJoint* joint, double out[16]) {
  srm_pose_identity(out);
  if (joint->start == 0) return;
  if (joint->type == SR_URDF_PRISMATIC) {
    for (int k = 0; k < 3; k++) out[12 + k] = joint->start * joint->axis[k];
    return;
  }
  const double half = 0.5 * joint->start;
  const double quaternion[4] = {cos(half), sin(half) * joint->axis[0], sin(half) * joint->axis[1],
                                sin(half) * joint->axis[2]};
  srm_pose_from_quaternion(quaternion, out);
}

void sr_urdf_place(srUrdf* u, int index) {
  srUrdfLink* link = &u->link[index];
  double origin[16], moved[16], frame[16];
  srm_pose_identity(link->pose);
  link->depth = 0;
  if (link->joint < 0) return;
  const srUrdfJoint* joint = &u->joint[link->joint];
  const srUrdfLink* parent = &u->link[joint->parent];
  to_matrix(&joint->origin, origin);
  srm_pose_compose(parent->pose, origin, frame);
  move_by(joint, moved);
  srm_pose_compose(frame, moved, link->pose);
  link->depth = parent->depth + 1;
}

void sr_urdf_frame(const srUrdf* u, const srUrdfEnd* end, double out[16]) {
  double pose[16];
  to_matrix(&end->pose, pose);
  srm_pose_compose(u->link[end->link].pose, pose, out);
}

bool sr_urdf_close(srUrdf* u, srUrdfLoop* loop) {
  const srUrdfLink *a = &u->link[loop->end[0].link], *b = &u->link[loop->end[1].link];
  srLoopEnds ends = {.type = loop->type, .axis = loop->axis, .flat = loop->flat, .body = a->pose};
  double frame[16];
  to_matrix(&loop->end[0].pose, ends.a);
  to_matrix(&loop->end[1].pose, frame);
  srm_pose_compose(b->pose, frame, ends.b);
  if (!sr_loop_close(&ends)) return false;
  if (ends.moved) from_matrix(ends.a, &loop->end[0].pose);
  sr_loop_tell(u->r, &ends, "link", a->word, loop->node->place);
  return true;
}
