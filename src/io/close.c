// Frames of loops that a file closes to some digits only (rpy="1.57 0 0"). Across its plane a loop has no joint that could
// take up the rest: constraints that cannot be met stop implicit methods and the absolute formulation. So a rest that is
// small at the start is taken away, by moving the frame on the first body: only in the directions that the closure holds.
#include "io/close.h"

#include <math.h>
#include <string.h>

#include "io/text.h"
#include "math/pose.h"

#define SMALL 1e-3  // m or rad: more is meant, or needs assembling
#define ROUNDING 1e-14

// Pose b in pose a.
static void relate(const double a[16], const double b[16], double out[16]) {
  double back[16], d[3];
  srm_pose_transpose(a, back);
  srm_pose_compose(back, b, out);
  for (int k = 0; k < 3; k++) d[k] = b[12 + k] - a[12 + k];
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
    double turn[4];
    srm_quaternion_from_pose(relative, turn);
    srm_pose_from_quaternion(turn, out);
    return 2 * atan2(srm_norm3(turn + 1), turn[0]);
  }
  srm_pose_rotate(relative, axis, there);
  srm_cross3(axis, there, across);
  const double angle = atan2(srm_norm3(across), srm_dot3(axis, there));
  if (angle <= SMALL) turn_to(axis, there, out);
  return angle;
}

// Distance by which it is off, as a vector in frame a.
static double shift_off(const srLoopEnds* loop, const double relative[16], double out[3]) {
  const double *axis = loop->axis, along = srm_dot3(axis, relative + 12);
  memcpy(out, relative + 12, 3 * sizeof *out);
  for (int k = 0; k < 3; k++) {
    if (loop->flat || sr_text_is_among(loop->type, "prismatic|cylindrical")) out[k] -= along * axis[k];
    if (strcmp(loop->type, "planar") == 0) out[k] = along * axis[k];
  }
  return srm_norm3(out);
}

bool sr_loop_close(srLoopEnds* loop) {
  double here[16], relative[16], turn[16], shift[3], turned[16], at[3];
  srm_pose_compose(loop->body, loop->a, here);
  relate(here, loop->b, relative);
  loop->angle = turn_off(loop->type, loop->axis, relative, turn);
  srm_pose_compose(loop->a, turn, turned);
  srm_pose_compose(loop->body, turned, here);
  relate(here, loop->b, relative);  // the shift is given in the axes as they are then
  loop->distance = shift_off(loop, relative, shift);
  loop->moved = false;
  if (loop->angle <= ROUNDING && loop->distance <= ROUNDING) return true;
  if (!(loop->angle <= SMALL && loop->distance <= SMALL)) return false;
  srm_pose_point(turned, shift, at);
  memcpy(turned + 12, at, sizeof at);
  memcpy(loop->a, turned, sizeof turned);
  loop->moved = true;
  return true;
}

void sr_loop_tell(srReader* r, const srLoopEnds* loop, const char* what, const char* name, srPlace place) {
  if (loop->moved && (loop->angle > 1e-9 || loop->distance > 1e-9))
    sr_reader_warning(r, place,
                      "the loop is open by %.2g m and %.2g rad at the start, as rounded numbers leave it: the frame on "
                      "%s '%.60s' is moved to close it",
                      loop->distance, loop->angle, what, name);
}
