// Joint transforms: pose X of every link in its parent's frame, from q.  T is that pose at q = 0, axis along z.
//
//   revolute    R = T Rz(q)          p = T.p
//   prismatic   R = T                p = T.p + q T z
//   helical     R = T Rz(q)          p = T.p + pitch q T z
//   ball        R = T R(quaternion)  p = T.p
//   free        R = T R(quaternion)  p = T.p + T position
#include "dynamics/link.h"
#include "math/sincos.h"

SRM_INLINE void sines(const srModel* m, srData* d, const double* q) {
  const int *link = m->angle_link, *place = m->link_q;
  double* out = d->sincos;
  int left = m->nangle;
  for (; left > 0; left -= 4, link += 4, out += 8) {
    _Alignas(32) double x[4] = {0};
    if (left > 3) {
      x[0] = q[place[link[0]]], x[1] = q[place[link[1]]], x[2] = q[place[link[2]]], x[3] = q[place[link[3]]];
    } else {
      for (int k = 0; k < left; k++) x[k] = q[place[link[k]]];
    }
    srm_sincos4(x, out);
  }
}

SRM_INLINE m3 turned_about_z(m3 T, double s, double c) {
  return (m3){{T.c[0] * c + T.c[1] * s, T.c[1] * c - T.c[0] * s, T.c[2]}};
}

// A link that is not revolute. sc: its sine, and its cosine four further, where it has an angle.
SRM_CLONES static __attribute__((noinline)) srmPose other_transform(srmPose T, int type, double pitch, const double* q,
                                                                    const double* sc) {
  switch (type) {
    case SR_LINK_PRISMATIC: return (srmPose){T.R, T.p + T.R.c[2] * q[0]};
    case SR_LINK_HELICAL: return (srmPose){turned_about_z(T.R, sc[0], sc[4]), T.p + T.R.c[2] * (pitch * q[0])};
    case SR_LINK_BALL: return (srmPose){m3_product(T.R, srm_quaternion_matrix(q)), T.p};
    case SR_LINK_FREE: return (srmPose){m3_product(T.R, srm_quaternion_matrix(q + 3)), T.p + m3_mul(T.R, v4_xyz(q))};
    default: return T;
  }
}

SRM_INLINE void transforms(const srModel* m, srData* d, const double* q, const _Bool with_E) {
  if (q != d->q) d->stage = SR_STAGE_NONE;
  sines(m, d, q);
  const double *T = m->link_tree, *sincos = d->sincos;
  const int* types = m->link_type;
  double *X = d->link_X, *E = d->link_E;
  for (int i = 1, n = m->nlink, angle = 0; i < n; i++) {
    T += 16, X += 16, E += 12;
    const double* sc = sincos + 2 * angle - (angle & 3);
    srmPose pose = srm_pose_load(T);
    if (types[i] == SR_LINK_REVOLUTE) {
      pose.R = turned_about_z(pose.R, sc[0], sc[4]);
      angle++;
    } else {
      pose = other_transform(pose, types[i], m->link_pitch[i], q + m->link_q[i], sc);
      angle += types[i] == SR_LINK_HELICAL;
    }
    srm_pose_store(X, pose);
    if (with_E) m3_store(E, m3_transpose(pose.R));
  }
}

SRM_CLONES void sr_transforms(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 1); }

SRM_CLONES void sr_transforms_X(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 0); }
