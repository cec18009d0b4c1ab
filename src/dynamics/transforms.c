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
  for (int left = m->nangle; left > 0; left -= 4, link += 4, out += 8) {  // the last pack repeats its first angle
    const int b = link[left > 1 ? 1 : 0], c = link[left > 2 ? 2 : 0], e = link[left > 3 ? 3 : 0];
    const v4 x = {q[place[link[0]]], q[place[b]], q[place[c]], q[place[e]]};
    srm_sincos4((const double*)&x, out);
  }
}

SRM_INLINE m3 turned_about_z(m3 T, double sine, double cosine) {
  const v4 s = v4_all(sine), c = v4_all(cosine);
  return (m3){{T.c[0] * c + T.c[1] * s, T.c[1] * c - T.c[0] * s, T.c[2]}};
}

// A link that is neither revolute nor prismatic. sc: its sine, and its cosine four further, where it has an angle.
SRM_CLONES static void other_transform(const double* tree, int type, double pitch, const double* q, const double* sc,
                                       double* X) {
  srmPose T = srm_pose_load(tree);
  if (type == SR_LINK_HELICAL) {
    T.p += T.R.c[2] * v4_all(pitch * q[0]);
    T.R = turned_about_z(T.R, sc[0], sc[4]);
  } else {
    if (type == SR_LINK_FREE) T.p += m3_mul_at(T.R, q);
    T.R = m3_product(T.R, srm_quaternion_matrix(type == SR_LINK_FREE ? q + 3 : q));
  }
  srm_pose_store(X, T);
}

SRM_INLINE void transforms(const srModel* m, srData* d, const double* q, const _Bool with_E) {
  if (!sr_positions_known(m, d, q)) d->stage = SR_STAGE_NONE;
  sines(m, d, q);
  const double *T = m->link_tree, *sincos = d->sincos;
  const int* types = m->link_type;
  double *X = d->link_X, *E = d->link_E;
  for (int i = 1, n = m->nlink, angle = 0; i < n; i++) {
    T += 16, X += 16;
    if (with_E) E += 12;  // data without it may be given
    const double* sc = sincos + 2 * angle - (angle & 3);
    if (types[i] == SR_LINK_REVOLUTE) {
      const srmPose pose = {turned_about_z(m3_load(T), sc[0], sc[4]), v4_load(T + 12)};
      srm_pose_store(X, pose);
      if (with_E) m3_store(E, m3_transpose(pose.R));
      angle++;
    } else if (types[i] == SR_LINK_PRISMATIC) {
      srmPose pose = srm_pose_load(T);
      pose.p += pose.R.c[2] * v4_all(q[m->link_q[i]]);
      srm_pose_store(X, pose);
      if (with_E) m3_store(E, m3_transpose(pose.R));
    } else {
      other_transform(T, types[i], m->link_pitch[i], q + m->link_q[i], sc, X);
      if (with_E) m3_store(E, m3_transpose(m3_load(X)));
      angle += types[i] == SR_LINK_HELICAL;
    }
  }
}

SRM_CLONES void sr_free_transforms(const srModel* m, srData* d, const double* q, int from, int to) {
  for (int i = from; i < to; i++) {
    double* X = d->link_X + 16 * i;
    other_transform(m->link_tree + 16 * i, SR_LINK_FREE, 0, q + m->link_q[i], NULL, X);
    m3_store(d->link_E + 12 * i, m3_transpose(m3_load(X)));
  }
}

SRM_CLONES void sr_transforms(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 1); }

SRM_CLONES void sr_transforms_X(const srModel* m, srData* d, const double* q) { transforms(m, d, q, 0); }
