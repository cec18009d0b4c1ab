// Two frames relative to each other: motion, and the columns of their coordinates.
//
//   coordinate with axis s, slide sv (ground axes), link origin p, on the path of the observed frame B:
//     observed from A        w: A^T s,  u: A^T (sv + s x (r_B - p))       on the path of A: minus the same
//     observed from C (both) w: C^T s,  u: C^T (sv + s x (r_B - p))       on the path of A: -C^T s, -C^T (sv + s x (r_A - p))
//
// as in src/dynamics/jacobian.c, but only the coordinates between the two frames are visited: the cost of a loop is its
// length.
#include <string.h>

#include "constraint/constraint.h"
#include "dynamics/link.h"

// Columns of one link's coordinates, the last one first.
SRM_INLINE int link_columns(const srModel* m, const srData* d, int link, m3 turn, v4 at, double sign, int* dof,
                            double* column) {
  const int n = sr_link_nv[m->link_type[link]];
  for (int k = n - 1; k >= 0; k--, dof++, column += 6) {
    *dof = m->link_v[link] + k;
    sr_link_column(m, d, link, k, sign, turn, at, column);
  }
  return n;
}

// From the links of both frames up to where their paths meet. Parents have smaller numbers: the larger one is not on the other's path.
SRM_INLINE int path_columns(const srModel* m, const srData* d, int b, int a, m3 turn, v4 at_b, v4 at_a, int* dof,
                            double* column) {
  int n = 0;
  while (a != b) {
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

SRM_CLONES int sr_path_columns(const srModel* m, const srData* d, int point, int observer, int common, int* dof,
                               double* column) {
  const m3 turn = m3_transpose(sr_point_pose(m, d, common >= 0 ? common : observer).R);
  const v4 at_b = sr_point_pose(m, d, point).p, at_a = common >= 0 ? sr_point_pose(m, d, observer).p : at_b;
  return path_columns(m, d, m->point_link[point], m->point_link[observer], turn, at_b, at_a, dof, column);
}

SRM_CLONES int sr_path_pose(const srModel* m, const srData* d, int point, int observer, int* dof, double* column,
                            double pose[16]) {
  const srmPose B = sr_point_pose(m, d, point), A = sr_point_pose(m, d, observer);
  const m3 turn = m3_transpose(A.R);
  srm_pose_store(pose, (srmPose){m3_product(turn, B.R), m3_mul(turn, B.p - A.p)});
  return path_columns(m, d, m->point_link[point], m->point_link[observer], turn, B.p, B.p, dof, column);
}

void sr_bias_acceleration(const srModel* m, srData* d) {
  memset(d->a, 0, (size_t)m->nv * sizeof *d->a);
  sr_acceleration(m, d);
}
