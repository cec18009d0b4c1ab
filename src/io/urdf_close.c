// Frames of loops that a file closes to some digits only (rpy="1.57 0 0"). Across its plane a loop has no joint that could
// take up the rest: constraints that cannot be met stop implicit methods and the absolute formulation. So a rest that is
// small at the start is taken away, by moving the frame on the first link: only in the directions that the closure holds.
#include <math.h>
#include <string.h>

#include "io/urdf.h"
#include "math/pose.h"

#define SMALL 1e-3  // m or rad: more is meant, or needs assembling
#define ROUNDING 1e-14

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

// Pose of frame b of its link in frame a of its link.
static void relate(const srUrdf* u, int link_a, const double a[16], int link_b, const srUrdfPose* b, double out[16]) {
  double world_a[16], world_b[16], frame[16], back[16], d[3];
  to_matrix(b, frame);
  srm_pose_compose(u->link[link_a].pose, a, world_a);
  srm_pose_compose(u->link[link_b].pose, frame, world_b);
  srm_pose_transpose(world_a, back);
  srm_pose_compose(back, world_b, out);
  for (int k = 0; k < 3; k++) d[k] = world_b[12 + k] - world_a[12 + k];
  srm_pose_rotate(back, d, out + 12);
}

// The least rotation that takes the unit vector e to f; they are not opposite.
static void turn_to(const double e[3], const double f[3], double out[16]) {
  double n[3];
  srm_cross3(e, f, n);
  const double c = srm_dot3(e, f), k = 1 / (1 + c);
  srm_pose_identity(out);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[4 * j + i] = (i == j ? c : 0) + k * n[i] * n[j];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    out[4 * j + i] -= n[l];
    out[4 * i + j] += n[l];
  }
}

// Angle by which the closure is off, and the rotation of frame a that takes it away.
static double turn_off(const char* type, const double axis[3], const double relative[16], double out[16]) {
  double there[3], across[3];
  srm_pose_identity(out);
  if (strcmp(type, "ball") == 0) return 0;
  if (sr_text_is_among(type, "weld|prismatic")) {
    srUrdfPose turn = {0};
    from_matrix(relative, &turn);
    srm_pose_from_quaternion(turn.quaternion, out);
    return 2 * atan2(srm_norm3(turn.quaternion + 1), turn.quaternion[0]);
  }
  srm_pose_rotate(relative, axis, there);
  srm_cross3(axis, there, across);
  const double angle = atan2(srm_norm3(across), srm_dot3(axis, there));
  if (angle <= SMALL) turn_to(axis, there, out);
  return angle;
}

// Distance by which it is off, as a vector in frame a.
static double shift_off(const srUrdfLoop* loop, const double relative[16], double out[3]) {
  const double *axis = loop->axis, along = srm_dot3(axis, relative + 12);
  memcpy(out, relative + 12, 3 * sizeof *out);
  for (int k = 0; k < 3; k++) {
    if (loop->flat || sr_text_is_among(loop->type, "prismatic|cylindrical")) out[k] -= along * axis[k];
    if (strcmp(loop->type, "planar") == 0) out[k] = along * axis[k];
  }
  return srm_norm3(out);
}

bool sr_urdf_close(srUrdf* u, srUrdfLoop* loop) {
  const int link_a = loop->end[0].link, link_b = loop->end[1].link;
  srUrdfPose *a = &loop->end[0].pose, *b = &loop->end[1].pose;
  double frame[16], relative[16], turn[16], shift[3], turned[16];
  to_matrix(a, frame);
  relate(u, link_a, frame, link_b, b, relative);
  const double angle = turn_off(loop->type, loop->axis, relative, turn);
  srm_pose_compose(frame, turn, turned);
  relate(u, link_a, turned, link_b, b, relative);  // the shift is told in the axes as they are then
  const double distance = shift_off(loop, relative, shift);
  if (angle <= ROUNDING && distance <= ROUNDING) return true;
  if (!(angle <= SMALL && distance <= SMALL)) return false;
  srm_pose_point(turned, shift, frame);
  memcpy(turned + 12, frame, sizeof shift);
  from_matrix(turned, a);
  if (angle > 1e-9 || distance > 1e-9)
    sr_reader_warning(
        u->r, loop->node->place,
        "the loop is open by %.2g m and %.2g rad at the start, as rounded numbers leave it: the frame on link "
        "'%.60s' is moved to close it",
        distance, angle, u->link[link_a].word);
  return true;
}
