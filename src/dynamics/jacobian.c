// Frame Jacobian: 6 x nv, angular first, so that (angular velocity, velocity) of frame B seen from frame A is J v.
//
//   coordinate with axis s (in the ground), between the two frames on B's side:  (A^T s, A^T (s x (r_B - p)))
//                                                        on A's side: the same with a minus sign
//
// p is the origin of the coordinate's link. A coordinate below the place where the two paths meet moves both frames
// alike and has no column. Featherstone (2008), section 4.1, and sr_frame_motion for the moving observer.
#include <string.h>

#include "base/base.h"
#include "dynamics/link.h"

// Columns of one link's coordinates.
static void put_columns(const srModel* m, const srData* d, int link, m3 to_A, v4 r_B, double sign, double* J) {
  const int type = m->link_type[link], nv = m->nv;
  const srmPose pose = srm_pose_load(d->link_pose + 16 * link);
  for (int k = 0; k < sr_link_nv[type]; k++) {
    double unit[6] = {0};
    unit[k] = sign;
    const srmTwist S = sr_link_relative(type, m->link_pitch[link], unit);
    const v4 axis = m3_mul(pose.R, S.w);
    const v4 w = m3_mul(to_A, axis), v = m3_mul(to_A, m3_mul(pose.R, S.v) + v4_cross(axis, r_B - pose.p));
    double* column = J + m->link_v[link] + k;
    for (int i = 0; i < 3; i++) {
      column[i * nv] = w[i];
      column[(3 + i) * nv] = v[i];
    }
  }
}

void sr_frame_jacobian(const srModel* m, srData* d, int point, int relative_to, double* J) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  int b = m->point_link[point], a = m->point_link[relative_to];
  const srmPose pose_b = srm_pose_load(d->link_pose + 16 * b), pose_a = srm_pose_load(d->link_pose + 16 * a);
  const v4 r_B = pose_b.p + m3_mul(pose_b.R, v4_load(m->point_pose + 16 * point + 12));
  const m3 to_A = m3_transpose(m3_product(pose_a.R, m3_load(m->point_pose + 16 * relative_to)));
  memset(J, 0, 6 * (size_t)m->nv * sizeof(double));
  while (a != b) {  // parents have smaller numbers: the larger one is not on the other's path
    int* link = b > a ? &b : &a;
    put_columns(m, d, *link, to_A, r_B, b > a ? 1 : -1, J);
    *link = m->link_parent[*link];
  }
}
