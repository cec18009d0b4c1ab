// Joint transforms: pose X of every link in its parent's frame, from q.  T is that pose at q = 0, axis along z.
//
//   revolute    R = T Rz(q)          p = T.p
//   prismatic   R = T                p = T.p + q T z
//   helical     R = T Rz(q)          p = T.p + pitch q T z
//   ball        R = T R(quaternion)  p = T.p
//   free        R = T R(quaternion)  p = T.p + T position
#include "dynamics/link.h"
#include "math/sincos.h"

static void sines(const srModel* m, srData* d, const double* q) {
  for (int k = 0; k < m->nangle; k += 4) {
    const int* link = m->angle_link + k;
    const int n = m->nangle - k;
    _Alignas(32) double x[4] = {q[m->link_q[link[0]]], 0, 0, 0};
    if (n > 1) x[1] = q[m->link_q[link[1]]];
    if (n > 2) x[2] = q[m->link_q[link[2]]];
    if (n > 3) x[3] = q[m->link_q[link[3]]];
    srm_sincos4(x, d->sincos + 2 * k);
  }
}

SRM_INLINE m3 turned_about_z(m3 T, double s, double c) {
  return (m3){{T.c[0] * c + T.c[1] * s, T.c[1] * c - T.c[0] * s, T.c[2]}};
}

// A link that is not revolute. sc: its sine, and its cosine four further, where it has an angle.
static srmPose other_transform(srmPose T, int type, double pitch, const double* q, const double* sc) {
  switch (type) {
    case SR_LINK_PRISMATIC: return (srmPose){T.R, T.p + T.R.c[2] * q[0]};
    case SR_LINK_HELICAL: return (srmPose){turned_about_z(T.R, sc[0], sc[4]), T.p + T.R.c[2] * (pitch * q[0])};
    case SR_LINK_BALL: return (srmPose){m3_product(T.R, srm_quaternion_matrix(q)), T.p};
    case SR_LINK_FREE:
      return (srmPose){m3_product(T.R, srm_quaternion_matrix(q + 3)), T.p + m3_mul(T.R, v4_xyz(q))};
    default: return T;
  }
}

SRM_INLINE void transforms(const srModel* m, srData* d, const double* q, const _Bool with_E) {
  if (q != d->q) d->stage = SR_STAGE_NONE;
  sines(m, d, q);
  for (int i = 1, angle = 0; i < m->nlink; i++) {
    srmPose X = srm_pose_load(m->link_tree + 16 * i);
    const int type = m->link_type[i];
    const double* sc = d->sincos + 2 * angle - (angle & 3);
    if (type == SR_LINK_REVOLUTE) {
      X.R = turned_about_z(X.R, sc[0], sc[4]);
      angle++;
    } else {
      X = other_transform(X, type, m->link_pitch[i], q + m->link_q[i], sc);
      angle += type == SR_LINK_HELICAL;
    }
    srm_pose_store(d->link_X + 16 * i, X);
    if (with_E) m3_store(d->link_E + 12 * i, m3_transpose(X.R));
  }
}

void sr_transforms(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 1); }

void sr_transforms_X(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 0); }
