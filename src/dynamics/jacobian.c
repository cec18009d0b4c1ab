// Frame Jacobian: 6 x nv, angular first, so that (angular velocity, velocity) of frame B observed from frame A is J v.
//
//   coordinate with axis s (in the ground), between the two frames on B's side:  (A^T s, A^T (s x (r_B - p)))
//                                                        on A's side: the same with a minus sign
//
// p is the origin of the coordinate's link. A coordinate below the junction of the two paths moves both frames
// alike and has no column. Featherstone (2008), section 4.1, and sr_frame_motion for the moving observer.
#include <string.h>

#include "base/base.h"
#include "dynamics/link.h"

// Columns of one link's coordinates.
static void put_columns(const srModel* m, const srData* d, int link, m3 to_A, v4 r_B, double sign, double* J) {
  for (int k = 0; k < sr_link_nv[m->link_type[link]]; k++) {
    double column[6];
    sr_link_column(m, d, link, k, sign, to_A, r_B, column);
    for (int i = 0; i < 6; i++) J[i * m->nv + m->link_v[link] + k] = column[i];
  }
}

void sr_frame_jacobian(const srModel* m, srData* d, int point, int relative_to, double* J) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  int b = m->point_link[point], a = m->point_link[relative_to];
  const v4 r_B = sr_point_pose(m, d, point).p;
  const m3 to_A = m3_transpose(sr_point_pose(m, d, relative_to).R);
  memset(J, 0, 6 * (size_t)m->nv * sizeof(double));
  while (a != b) {  // parents have smaller numbers: the larger one is not on the other's path
    int* link = b > a ? &b : &a;
    put_columns(m, d, *link, to_A, r_B, b > a ? 1 : -1, J);
    *link = m->link_parent[*link];
  }
}
