// Poses for setup: composition, axes, quaternions, roll-pitch-yaw.
#include "math/pose.h"

#include <math.h>
#include <string.h>

double srm_norm3(const double a[3]) { return sqrt(srm_dot3(a, a)); }

void srm_pose_identity(double pose[16]) {
  memset(pose, 0, 16 * sizeof *pose);
  pose[0] = pose[5] = pose[10] = 1.0;
}

void srm_pose_invert(const double pose[16], double out[16]) {
  double at[3];
  srm_pose_transpose(pose, out);
  srm_pose_rotate(out, pose + 12, at);
  for (int k = 0; k < 3; k++) out[12 + k] = -at[k];
}

void srm_pose_compose(const double a[16], const double b[16], double out[16]) {
  memset(out, 0, 16 * sizeof *out);
  for (int column = 0; column < 3; column++) srm_pose_rotate(a, b + 4 * column, out + 4 * column);
  srm_pose_point(a, b + 12, out + 12);
}

void srm_pose_set(const double x[3], const double y[3], const double z[3], const double origin[3], double pose[16]) {
  memset(pose, 0, 16 * sizeof *pose);
  memcpy(pose, x, 3 * sizeof *x);
  memcpy(pose + 4, y, 3 * sizeof *y);
  memcpy(pose + 8, z, 3 * sizeof *z);
  memcpy(pose + 12, origin, 3 * sizeof *origin);
}

void srm_pose_transpose(const double pose[16], double out[16]) {
  memset(out, 0, 16 * sizeof *out);
  for (int row = 0; row < 3; row++) {
    for (int column = 0; column < 3; column++) out[4 * column + row] = pose[4 * row + column];
  }
}

void srm_pose_from_quaternion(const double quaternion[4], double pose[16]) {
  double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
  const double column[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                               {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                               {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
  for (int k = 0; k < 3; k++) memcpy(pose + 4 * k, column[k], sizeof column[k]);
}

void srm_pose_from_rpy(const double rpy[3], double pose[16]) {
  double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]), cy = cos(rpy[2]), sy = sin(rpy[2]);
  const double column[3][3] = {{cy * cp, sy * cp, -sp},
                               {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr},
                               {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr}};
  for (int k = 0; k < 3; k++) memcpy(pose + 4 * k, column[k], sizeof column[k]);
}

void srm_pose_rotate_tensor(const double pose[16], const double J[9], double out[9]) {
  double RJ[9];  // (R J)_ik = sum_l R_il J_lk, with R_il = pose[4 l + i]
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) RJ[3 * i + k] = pose[i] * J[k] + pose[4 + i] * J[3 + k] + pose[8 + i] * J[6 + k];
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = RJ[3 * i] * pose[k] + RJ[3 * i + 1] * pose[4 + k] + RJ[3 * i + 2] * pose[8 + k];
    }
  }
}

bool srm_pose_is_turned(const double pose[16]) {
  for (int i = 0; i < 9; i++)
    if (pose[4 * (i / 3) + i % 3] != (i % 4 == 0 ? 1 : 0)) return true;
  return false;
}

bool srm_pose_is_identity(const double pose[16]) {
  return !srm_pose_is_turned(pose) && pose[12] == 0 && pose[13] == 0 && pose[14] == 0;
}

void srm_quaternion_from_pose(const double pose[16], double quaternion[4]) {
  double R[9];
  for (int i = 0; i < 9; i++) R[i] = pose[4 * (i % 3) + i / 3];
  srm_quaternion_from_rows(R, quaternion);
}

// From the largest component: no cancellation at any angle (Shepperd 1978).
void srm_quaternion_from_rows(const double R[9], double quaternion[4]) {
  double* q = quaternion;
  const double trace = R[0] + R[4] + R[8];
  int k = 0;
  for (int i = 1; i < 3; i++) k = R[4 * i] > R[4 * k] ? i : k;
  const int i = (k + 1) % 3, j = (k + 2) % 3;
  if (trace >= R[4 * k]) {
    q[0] = 0.5 * sqrt(1 + trace);
    for (int l = 0; l < 3; l++) {
      const int next = (l + 1) % 3, last = (l + 2) % 3;
      q[1 + l] = (R[3 * last + next] - R[3 * next + last]) / (4 * q[0]);
    }
    return;
  }
  const double x = 0.5 * sqrt(fmax(0, 1 + R[4 * k] - R[4 * i] - R[4 * j]));
  const double sign = R[3 * j + i] < R[3 * i + j] ? -1 : 1;  // so that w >= 0
  q[0] = sign * (R[3 * j + i] - R[3 * i + j]) / (4 * x);
  q[1 + k] = sign * x;
  q[1 + i] = sign * (R[3 * i + k] + R[3 * k + i]) / (4 * x);
  q[1 + j] = sign * (R[3 * j + k] + R[3 * k + j]) / (4 * x);
}
