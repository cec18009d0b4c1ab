// Motion of a frame observed from another one, which may move itself.
//
//   d = r_B - r_A,  u = v_B - v_A - w_A x d            position A^T d, velocity A^T u, angular velocity A^T (w_B - w_A)
//   acceleration           A^T (a_B - a_A - wd_A x d - w_A x (w_A x d) - 2 w_A x u)
//   angular acceleration   A^T (wd_B - wd_A - w_A x (w_B - w_A))
//
// with r, v, a, w, wd of the two frames in the ground and A the rotation of frame A: as observed from A.
#include <math.h>

#include "base/base.h"
#include "dynamics/link.h"
#include "math/pose.h"

typedef struct Frame {
  m3 R;
  v4 r, v, a, w, wd;
} Frame;

void sr_point_frame(const srModel* m, const srData* d, int point, double pose[16]) {
  srm_pose_compose(d->link_pose + 16 * m->point_link[point], m->point_pose + 16 * point, pose);
}

SRM_INLINE Frame frame_in_ground(const srModel* m, const srData* d, int point) {
  const srmPose pose = sr_point_pose(m, d, point);
  Frame out = {.R = pose.R, .r = pose.p};
  if (d->stage >= SR_STAGE_VELOCITY) {
    const srmTwist twist = sr_point_twist(m, d, point);
    out.w = twist.w;
    out.v = twist.v;
  }
  if (d->stage >= SR_STAGE_FRAMES) {
    const int link = m->point_link[point];
    const m3 R = m3_load(d->link_pose + 16 * link);
    const srmTwist accel = srm_twist_load(d->link_accel + 8 * link);
    const v4 w = v4_load(d->link_twist + 8 * link), at = v4_load(m->point_pose + 16 * point + 12);
    out.wd = m3_mul(R, accel.w);
    out.a = m3_mul(R, accel.v + srm_turn(w, accel.w, at));
  }
  return out;
}

SRM_CLONES void sr_point_between(const srModel* m, const srData* d, int point, int relative_to, srPointBetween* out) {
  const v4 unknown = v4_all((double)NAN);
  const srmPose link = srm_pose_load(d->link_pose + 16 * m->point_link[point]), A = sr_point_pose(m, d, relative_to);
  const v4 at = link.p + m3_mul(link.R, v4_load(m->point_pose + 16 * point + 12)), r = at - A.p;
  const m3 to_A = m3_transpose(A.R);
  v4 u = unknown, w = unknown;
  if (d->stage >= SR_STAGE_VELOCITY) {
    const srmTwist b = sr_point_twist(m, d, point), a = sr_point_twist(m, d, relative_to);
    u = m3_mul(to_A, b.v - a.v - v4_cross(a.w, r));
    w = m3_mul(to_A, b.w - a.w);
  }
  srm_pose_store(out->axes, A);
  v4_put3(out->at, at);
  v4_put3(out->position, m3_mul(to_A, r));
  v4_put3(out->velocity, u);
  v4_put3(out->angular_velocity, w);
}

static void put_rows(double* out, m3 A) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 * i + j] = A.c[j][i];
}

SRM_CLONES void sr_frame_motion(const srModel* m, const srData* d, int point, int relative_to, srFrameMotion* out) {
  const v4 unknown = v4_all((double)NAN);
  v4 position = unknown, u = unknown, w = unknown, a = unknown, wd = unknown;
  m3 R = {{unknown, unknown, unknown}};
  if (d->stage >= SR_STAGE_POSITION) {
    const Frame B = frame_in_ground(m, d, point), A = frame_in_ground(m, d, relative_to);
    const m3 to_A = m3_transpose(A.R);
    const v4 r = B.r - A.r;
    position = m3_mul(to_A, r);
    R = m3_product(to_A, B.R);
    if (d->stage >= SR_STAGE_VELOCITY) {
      const v4 u_ground = B.v - A.v - v4_cross(A.w, r), w_ground = B.w - A.w;
      u = m3_mul(to_A, u_ground);
      w = m3_mul(to_A, w_ground);
      if (d->stage >= SR_STAGE_FRAMES) {
        a = m3_mul(to_A, B.a - A.a - srm_turn(A.w, A.wd, r) - 2 * v4_cross(A.w, u_ground));
        wd = m3_mul(to_A, B.wd - A.wd - v4_cross(A.w, w_ground));
      }
    }
  }
  v4_put3(out->position, position);
  put_rows(out->rotation, R);
  v4_put3(out->velocity, u);
  v4_put3(out->angular_velocity, w);
  v4_put3(out->acceleration, a);
  v4_put3(out->angular_acceleration, wd);
}
