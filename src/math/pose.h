// Poses in the layout of model.h: 16 doubles, three columns of the rotation padded to 4, then the origin. Plain scalar
// code for setup; the recursions have their own vectors (v4.h).
#ifndef SR_POSE_H
#define SR_POSE_H

#include <stdbool.h>

void srm_pose_identity(double pose[16]);
// out = a * b: b given in a's frame. out may not be a or b.
void srm_pose_compose(const double a[16], const double b[16], double out[16]);
void srm_pose_invert(const double pose[16], double out[16]);  // out may not be pose
// Frame with these axes (unit, right-handed) and this origin.
void srm_pose_set(const double x[3], const double y[3], const double z[3], const double origin[3], double pose[16]);
void srm_pose_transpose(const double pose[16], double out[16]);  // rotation transposed, origin zero
static inline void srm_pose_rotate(const double pose[16], const double u[3], double out[3]) {  // R u
  const double x = u[0], y = u[1], z = u[2];
  for (int k = 0; k < 3; k++) out[k] = pose[k] * x + pose[4 + k] * y + pose[8 + k] * z;
}
static inline void srm_pose_point(const double pose[16], const double p[3], double out[3]) {  // R p + origin
  srm_pose_rotate(pose, p, out);
  for (int k = 0; k < 3; k++) out[k] += pose[12 + k];
}
void srm_pose_from_quaternion(const double quaternion[4], double pose[16]);  // unit; sets the rotation alone
void srm_quaternion_from_rows(const double R[9], double quaternion[4]);      // row-major; w >= 0
void srm_quaternion_from_pose(const double pose[16], double quaternion[4]);  // of its rotation; w >= 0
bool srm_pose_is_turned(const double pose[16]);                              // its rotation is not exactly 1
bool srm_pose_is_identity(const double pose[16]);                            // exactly
void srm_pose_from_rpy(const double rpy[3], double pose[16]);                // Rz(yaw) Ry(pitch) Rx(roll)
// J' = R J R^T, row-major 3 x 3.
void srm_pose_rotate_tensor(const double pose[16], const double J[9], double out[9]);

double srm_norm3(const double a[3]);
static inline double srm_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline void srm_cross3(const double a[3], const double b[3], double out[3]) {
  const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
}

#endif
