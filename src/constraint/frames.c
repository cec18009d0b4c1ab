// Two frames against each other: motion, and the columns of their coordinates.
//
//   coordinate with axis s, slide sv (ground axes), link origin p, on the way of the observed frame B:
//     seen from A          w: A^T s,  u: A^T (sv + s x (r_B - p))       on the way of A: minus the same
//     seen from C (both)   w: C^T s,  u: C^T (sv + s x (r_B - p))       on the way of A: -C^T s, -C^T (sv + s x (r_A - p))
//
// as in src/dynamics/jacobian.c, but only the coordinates between the two frames are visited: the cost of a loop is its
// length.
#include <string.h>

#include "constraint/constraint.h"
#include "dynamics/link.h"

void sr_see(const srModel* m, const srData* d, int point, int observer, srSeen* out) {
  srFrameMotion x;
  sr_frame_motion(m, d, point, observer, &x);
  memcpy(out->R, x.rotation, sizeof out->R);
  memcpy(out->d, x.position, sizeof out->d);
  memcpy(out->w, x.angular_velocity, sizeof out->w);
  memcpy(out->u, x.velocity, sizeof out->u);
  memcpy(out->wd, x.angular_acceleration, sizeof out->wd);
  memcpy(out->ud, x.acceleration, sizeof out->ud);
}

SRM_INLINE v4 origin_of(const srModel* m, const srData* d, int point) {
  const srmPose pose = srm_pose_load(d->link_pose + 16 * m->point_link[point]);
  return pose.p + m3_mul(pose.R, v4_load(m->point_pose + 16 * point + 12));
}

// Columns of one link's coordinates, the last one first.
SRM_INLINE int link_columns(const srModel* m, const srData* d, int link, m3 turn, v4 at, double sign, int* dof,
                            double* column) {
  const int type = m->link_type[link], n = sr_link_nv[type];
  const srmPose pose = srm_pose_load(d->link_pose + 16 * link);
  for (int k = n - 1; k >= 0; k--, dof++, column += 6) {
    double unit[6] = {0};
    unit[k] = sign;
    const srmTwist S = sr_link_relative(type, m->link_pitch[link], unit);
    const v4 axis = m3_mul(pose.R, S.w);
    *dof = m->link_v[link] + k;
    v4_put3(column, m3_mul(turn, axis));
    v4_put3(column + 3, m3_mul(turn, m3_mul(pose.R, S.v) + v4_cross(axis, at - pose.p)));
  }
  return n;
}

SRM_CLONES int sr_path_columns(const srModel* m, const srData* d, int point, int observer, int common, int* dof,
                               double* column) {
  const int axes = common >= 0 ? common : observer;
  const srmPose pose = srm_pose_load(d->link_pose + 16 * m->point_link[axes]);
  const m3 turn = m3_transpose(m3_product(pose.R, m3_load(m->point_pose + 16 * axes)));
  const v4 at_b = origin_of(m, d, point), at_a = common >= 0 ? origin_of(m, d, observer) : at_b;
  int b = m->point_link[point], a = m->point_link[observer], n = 0;
  while (a != b) {  // parents have smaller numbers: the larger one is not on the other's path
    if (b > a) {
      n += link_columns(m, d, b, turn, at_b, 1, dof + n, column + 6 * n);
      b = m->link_parent[b];
    } else {
      n += link_columns(m, d, a, turn, at_a, -1, dof + n, column + 6 * n);
      a = m->link_parent[a];
    }
  }
  return n;
}

void sr_bias_acceleration(const srModel* m, srData* d) {
  memset(d->a, 0, (size_t)m->nv * sizeof *d->a);
  sr_acceleration(m, d);
}
