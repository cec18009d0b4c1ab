// Derivatives of inverse dynamics, tau = M(q) a + c(q, v), by q and by v.
//
// In axes that stand still, with six-vectors about one point (Featherstone 2008, chapter 2; x and x* act on motions and forces):
//
//   v_i = sum S_l v_l,   a_i = a_0 + sum (S_l a_l + v_i x S_l v_l),   f_i = I_i a_i + v_i x* I_i v_i,   tau_j = S_j^T F_j,
//   F_j = sum of f_i over j and all links beyond it
//
// A step along coordinate k turns everything at and beyond its link rigidly by S_k, except that the motion of the parent p of
// that link does not turn. Hence, by the Jacobi identity,
//
//   dv_i = S_k x v_i + A_k,            A_k = v_p x S_k
//   da_i = S_k x a_i - v_i x A_k + C_k,   C_k = a_p x S_k + v_p x A_k
//   df_i = S_k x* f_i + I_i C_k + B_i A_k,     B s = s x* (I v) + v x* (I s) - I (v x s)
//
// and by v_k      dv_i = S_k,   da_i = v_k x S_k + A_k - v_i x S_k,   df_i = I_i (v_k x S_k + A_k) + B_i S_k
//
//   dtau_j/dq_k = S_j^T (I_j C_k + B_j A_k)                  k at or before the link of j    (S_k x S_j takes away S_k x* F_j)
//               = S_j^T (S_k x* F_k + I_k C_k + B_k A_k)     k beyond it
//
// with I, B, F now sums over the links beyond. The same terms as Carpentier & Mansard (2018), "Analytical derivatives of rigid
// body dynamics algorithms", found here from the rigid turn. B of a rigid body is small: with its momentum (L, P), moment of
// inertia J and first moment h about the point, v = (w, u), s = (r, .):
//
//   B s = (T r, 2 r x P),   T r = r x L + w x J r - J (w x r) - u x (h x r) - h x (u x r)
//
// The point is the origin of the first link on the way from the ground, so that numbers stay of the size of the tree.
#include "dynamics/derivative.h"
#include "dynamics/link.h"

enum { LINK = 56, DOF = 32 };                                                  // doubles
enum { TWIST = 0, ACCEL = 8, INERTIA = 16, MOMENT = 32, P = 44, FORCE = 48 };  // of a link
enum { AXIS = 0, A = 8, C = 16, D = 24 };                                      // of a coordinate: S, A, C, v x S + A

int sr_rnea_derivative_work(const srModel* m) { return LINK * m->nlink + DOF * m->nv; }

SRM_INLINE srmTwist cross(srmTwist a, srmTwist b) {
  return (srmTwist){v4_cross(a.w, b.w), v4_cross(a.w, b.v) + v4_cross(a.v, b.w)};
}
SRM_INLINE srmWrench cross_force(srmTwist a, srmWrench f) {
  return (srmWrench){v4_cross(a.w, f.n) + v4_cross(a.v, f.f), v4_cross(a.w, f.f)};
}
SRM_INLINE srmTwist sum(srmTwist a, srmTwist b) { return (srmTwist){a.w + b.w, a.v + b.v}; }
SRM_INLINE double power(srmTwist a, srmWrench f) { return v4_dot(a.w, f.n) + v4_dot(a.v, f.f); }

// Inertia of a link about the point, in ground axes. p: from the point to the link's origin.
SRM_INLINE srmInertia moved(const double* inertia, const double* pose, v4 p) {
  const srmInertia I = srm_inertia_load(inertia);
  const m3 R = m3_load(pose);
  const v4 mass = v4_lane(I.h, 3), Rh = m3_mul(R, I.h), g = Rh + 0.5 * mass * p;
  m3 J = m3_product_transposed(m3_product(R, I.J), pose);
  const double pg = 2 * v4_dot(p, g);
  for (int i = 0; i < 3; i++) {
    J.c[i] -= p * v4_all(g[i]) + g * v4_all(p[i]);
    J.c[i][i] += pg;
    J.c[i][3] = 0;
  }
  v4 h = Rh + mass * p;
  h[3] = I.h[3];
  return (srmInertia){J, h};
}

SRM_INLINE v4 moment_column(srmInertia I, srmTwist v, srmWrench momentum, v4 r) {
  const v4 h = v4_keep(I.h, 1, 1, 1);
  return v4_cross(r, momentum.n) + v4_cross(v.w, m3_mul(I.J, r)) - m3_mul(I.J, v4_cross(v.w, r)) -
         v4_cross(v.v, v4_cross(h, r)) - v4_cross(h, v4_cross(v.v, r));
}

// S, A, C, D of the coordinates of a link whose pose stands at p from the point.
SRM_INLINE void axes_of(const srModel* m, int i, const double* pose, v4 p, srmTwist parent, srmTwist parent_accel,
                        srmTwist own, double* dof) {
  const int type = m->link_type[i];
  const m3 R = m3_load(pose);
  for (int k = 0; k < sr_link_nv[type]; k++, dof += DOF) {
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

SRM_INLINE void outwards(const srModel* m, const srData* d, const double* a, double* links, double* dofs) {
  srm_twist_store(links + TWIST, (srmTwist){v4_zero(), v4_zero()});
  srm_twist_store(links + ACCEL, (srmTwist){v4_zero(), -v4_xyz(m->gravity)});
  v4 point = v4_zero();
  for (int i = 1; i < m->nlink; i++) {
    const int parent = m->link_parent[i], first = m->link_v[i];
    const double* pose = d->link_pose + 16 * i;
    if (parent == 0) point = v4_load(pose + 12);  // links are numbered depth first
    const v4 p = v4_load(pose + 12) - point;
    const m3 R = m3_load(pose);
    const srmTwist seen = srm_twist_load(d->link_twist + 8 * i), before = srm_twist_load(links + LINK * parent + TWIST);
    const v4 w = m3_mul(R, seen.w);
    const srmTwist v = {w, m3_mul(R, seen.v) + v4_cross(p, w)};
    srmTwist accel = srm_twist_load(links + LINK * parent + ACCEL);
    axes_of(m, i, pose, p, before, accel, v, dofs + DOF * first);
    for (int k = first; k < first + sr_link_nv[m->link_type[i]]; k++) {
      const srmTwist S = srm_twist_load(dofs + DOF * k + AXIS);
      const v4 x = v4_all(a[k]), rate = v4_all(d->v[k]);
      accel = sum(accel, sum((srmTwist){S.w * x, S.v * x}, cross(v, (srmTwist){S.w * rate, S.v * rate})));
    }
    load_of(moved(m->link_inertia + 16 * i, pose, p), v, accel, links + LINK * i);
  }
}

// What one coordinate does: I S and B^T S (angular, its linear part is 0), and the forces of a step along it and of its rate.
typedef struct Reach {
  srmWrench IS, by_q, by_v;
  v4 BS;
} Reach;

SRM_INLINE Reach reach_of(const double* own, const double* dof) {
  const srmInertia I = srm_inertia_load(own + INERTIA);
  const m3 T = m3_load(own + MOMENT);
  const v4 momentum = v4_load(own + P);
  const srmTwist S = srm_twist_load(dof + AXIS), a = srm_twist_load(dof + A);
  const srmWrench turned = cross_force(S, srm_wrench_load(own + FORCE));
  Reach r = {.IS = srm_momentum(I, S),
             .by_q = srm_momentum(I, srm_twist_load(dof + C)),
             .by_v = srm_momentum(I, srm_twist_load(dof + D)),
             .BS = m3_mul(m3_transpose(T), S.w) + 2 * v4_cross(momentum, S.v)};
  r.by_q.n += turned.n + m3_mul(T, a.w);
  r.by_q.f += turned.f + 2 * v4_cross(a.w, momentum);
  r.by_v.n += m3_mul(T, S.w);
  r.by_v.f += 2 * v4_cross(S.w, momentum);
  return r;
}

// Entries of the coordinates of link i with all coordinates on its way to the ground.
SRM_INLINE void put(const srModel* m, int i, const double* own, const double* dofs, srmEntries* out) {
  for (int j = m->link_v[i]; j < m->link_v[i] + sr_link_nv[m->link_type[i]]; j++) {
    const Reach r = reach_of(own, dofs + DOF * j);
    for (int link = i; link > 0; link = m->link_parent[link]) {
      for (int k = m->link_v[link]; k < m->link_v[link] + sr_link_nv[m->link_type[link]]; k++) {
        const double* y = dofs + DOF * k;
        const srmTwist S = srm_twist_load(y + AXIS);
        srm_entry(out, j, k, power(srm_twist_load(y + C), r.IS) + v4_dot(v4_load(y + A), r.BS),
                  power(srm_twist_load(y + D), r.IS) + v4_dot(S.w, r.BS));
        if (link != i) srm_entry(out, k, j, power(S, r.by_q), power(S, r.by_v));
      }
    }
  }
}

SRM_CLONES void sr_rnea_derivative(const srModel* m, const srData* d, const double* a, double* work, srmEntries* out) {
  double *links = work, *dofs = work + LINK * m->nlink;
  if (out->place) outwards(m, d, a, links, dofs);
  for (int i = m->nlink - 1; i > 0; i--) {
    const double* own = links + LINK * i;
    put(m, i, own, dofs, out);
    if (m->link_parent[i] == 0) continue;
    double* parent = links + LINK * m->link_parent[i];
    for (int k = INERTIA; k < LINK; k++) parent[k] += own[k];
  }
}
