// What the derivatives of inverse dynamics share (rnea_derivative.c has the equations): the link and its coordinates in ground axes.
#ifndef SR_DYNAMICS_TURN_H
#define SR_DYNAMICS_TURN_H

#include "dynamics/link.h"

enum { SR_TURN_LINK = 56, SR_TURN_DOF = 32 };                                  // doubles
enum { TWIST = 0, ACCEL = 8, INERTIA = 16, MOMENT = 32, P = 44, FORCE = 48 };  // of a link
enum { AXIS = 0, A = 8, C = 16, D = 24 };                                      // of a coordinate: S, A, C, v x S + A

SRM_INLINE srmTwist cross(srmTwist a, srmTwist b) {
  return (srmTwist){v4_cross(a.w, b.w), v4_cross(a.w, b.v) + v4_cross(a.v, b.w)};
}
SRM_INLINE srmWrench cross_force(srmTwist a, srmWrench f) {
  return (srmWrench){v4_cross(a.w, f.n) + v4_cross(a.v, f.f), v4_cross(a.w, f.f)};
}
SRM_INLINE srmTwist sum(srmTwist a, srmTwist b) { return (srmTwist){a.w + b.w, a.v + b.v}; }
SRM_INLINE double power(srmTwist a, srmWrench f) { return v4_dot(a.w, f.n) + v4_dot(a.v, f.f); }

// An inertia about its origin as one about a point; p: from the point to the origin.
SRM_INLINE srmInertia about(srmInertia I, v4 p) {
  const v4 mass = v4_lane(I.h, 3), h = v4_keep(I.h, 1, 1, 1), g = h + 0.5 * mass * p;
  m3 J = I.J;
  const double pg = 2 * v4_dot(p, g);
  for (int i = 0; i < 3; i++) {
    J.c[i] -= p * v4_all(g[i]) + g * v4_all(p[i]);
    J.c[i][i] += pg;
    J.c[i][3] = 0;
  }
  v4 moved = h + mass * p;
  moved[3] = I.h[3];
  return (srmInertia){J, moved};
}

// Inertia of a link about its origin, in ground axes.
SRM_INLINE srmInertia turned(const double* inertia, const double* pose) {
  const srmInertia I = srm_inertia_load(inertia);
  const m3 R = m3_load(pose);
  v4 h = m3_mul(R, I.h);
  h[3] = I.h[3];
  return (srmInertia){m3_product_transposed(m3_product(R, I.J), pose), h};
}

SRM_INLINE v4 moment_column(srmInertia I, srmTwist v, srmWrench momentum, v4 r) {
  const v4 h = v4_keep(I.h, 1, 1, 1);
  return v4_cross(r, momentum.n) + v4_cross(v.w, m3_mul(I.J, r)) - m3_mul(I.J, v4_cross(v.w, r)) -
         v4_cross(v.v, v4_cross(h, r)) - v4_cross(h, v4_cross(v.v, r));
}

// S, A, C, D of the coordinates of a link whose pose is at p from the point.
SRM_INLINE void axes_of(const srModel* m, int i, const double* pose, v4 p, srmTwist parent, srmTwist parent_accel,
                        srmTwist own, double* dof) {
  const int type = m->link_type[i];
  const m3 R = m3_load(pose);
  for (int k = 0; k < sr_link_nv[type]; k++, dof += SR_TURN_DOF) {
    double unit[6] = {0};
    unit[k] = 1;
    const srmTwist local = sr_link_relative(type, m->link_pitch[i], unit);
    const v4 w = m3_mul(R, local.w);
    const srmTwist S = {w, m3_mul(R, local.v) + v4_cross(p, w)};
    const srmTwist a = cross(parent, S);
    srm_twist_store(dof + AXIS, S);
    srm_twist_store(dof + A, a);
    srm_twist_store(dof + C, sum(cross(parent_accel, S), cross(parent, a)));
    srm_twist_store(dof + D, sum(cross(own, S), a));
  }
}

// Inertia, B and force of one link.
SRM_INLINE void load_of(srmInertia I, srmTwist v, srmTwist accel, double* own) {
  const srmWrench momentum = srm_momentum(I, v), gyro = cross_force(v, momentum), f = srm_momentum(I, accel);
  srm_twist_store(own + TWIST, v);
  srm_twist_store(own + ACCEL, accel);
  srm_inertia_store(own + INERTIA, I);
  for (int k = 0; k < 3; k++) {
    v4_store(own + MOMENT + 4 * k, moment_column(I, v, momentum, (v4){k == 0, k == 1, k == 2, 0}));
  }
  v4_store(own + P, momentum.f);
  srm_wrench_store(own + FORCE, (srmWrench){f.n + gyro.n, f.f + gyro.f});
}

SRM_INLINE srmTwist seen_from(srmTwist t, v4 r) { return (srmTwist){t.w, t.v + v4_cross(t.w, r)}; }

// All links and coordinates at d's velocity stage with accelerations a (nv). Six-vectors are about the origin of the first link on
// the path from the ground, or about each link's own.
SRM_INLINE void outwards(const srModel* m, const srData* d, const double* a, bool own_origins, double* links,
                         double* dofs) {
  srm_twist_store(links + TWIST, (srmTwist){v4_zero(), v4_zero()});
  srm_twist_store(links + ACCEL, (srmTwist){v4_zero(), -v4_xyz(m->gravity)});
  v4 point = v4_zero();
  for (int i = 1; i < m->nlink; i++) {
    const int parent = m->link_parent[i], first = m->link_v[i];
    const double* pose = d->link_pose + 16 * i;
    v4 arm = v4_zero();
    if (own_origins) arm = v4_load(pose + 12) - v4_load(d->link_pose + 16 * parent + 12);
    if (own_origins || parent == 0) point = v4_load(pose + 12);  // links are numbered depth first
    const v4 p = v4_load(pose + 12) - point;
    const m3 R = m3_load(pose);
    const srmTwist seen = srm_twist_load(d->link_twist + 8 * i);
    const srmTwist before = seen_from(srm_twist_load(links + SR_TURN_LINK * parent + TWIST), arm);
    const v4 w = m3_mul(R, seen.w);
    const srmTwist v = {w, m3_mul(R, seen.v) + v4_cross(p, w)};
    srmTwist accel = seen_from(srm_twist_load(links + SR_TURN_LINK * parent + ACCEL), arm);
    axes_of(m, i, pose, p, before, accel, v, dofs + SR_TURN_DOF * first);
    for (int k = first; k < first + sr_link_nv[m->link_type[i]]; k++) {
      const srmTwist S = srm_twist_load(dofs + SR_TURN_DOF * k + AXIS);
      const v4 x = v4_all(a[k]), rate = v4_all(d->v[k]);
      accel = sum(accel, sum((srmTwist){S.w * x, S.v * x}, cross(v, (srmTwist){S.w * rate, S.v * rate})));
    }
    load_of(about(turned(m->link_inertia + 16 * i, pose), p), v, accel, links + SR_TURN_LINK * i);
  }
}

#endif
