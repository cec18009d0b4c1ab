// Derivatives of inverse dynamics, tau = M(q) a + c(q, v), by q and by v.
//
// In inertial axes, with six-vectors about one point (Featherstone 2008, chapter 2; x and x* act on motions and forces):
//
//   v_i = sum S_l v_l,   a_i = a_0 + sum (S_l a_l + v_i x S_l v_l),   f_i = I_i a_i + v_i x* I_i v_i,   tau_j = S_j^T F_j,
//   F_j = sum of f_i over j and all links beyond it
//
// A displacement along coordinate k moves everything at and beyond its link rigidly by S_k, except that the motion of the parent p of
// that link does not rotate. Hence, by the Jacobi identity,
//
//   dv_i = S_k x v_i + A_k,            A_k = v_p x S_k
//   da_i = S_k x a_i - v_i x A_k + C_k,   C_k = a_p x S_k + v_p x A_k
//   df_i = S_k x* f_i + I_i C_k + B_i A_k,     B s = s x* (I v) + v x* (I s) - I (v x s)
//
// and by v_k      dv_i = S_k,   da_i = v_k x S_k + A_k - v_i x S_k,   df_i = I_i (v_k x S_k + A_k) + B_i S_k
//
//   dtau_j/dq_k = S_j^T (I_j C_k + B_j A_k)                  k at or before the link of j    (S_k x S_j cancels S_k x* F_j)
//               = S_j^T (S_k x* F_k + I_k C_k + B_k A_k)     k beyond it
//
// with I, B, F now sums over the links beyond. The same terms as Carpentier & Mansard (2018), "Analytical derivatives of rigid
// body dynamics algorithms", derived here from the rigid displacement. B of a rigid body is small: with its momentum (L, P), moment of
// inertia J and first moment h about the point, v = (w, u), s = (r, .):
//
//   B s = (T r, 2 r x P),   T r = r x L + w x J r - J (w x r) - u x (h x r) - h x (u x r)
//
// The point is the origin of the first link on the path from the ground, so that numbers stay of the size of the tree.
#include "dynamics/derivative.h"
#include "dynamics/turn.h"

enum { LINK = SR_TURN_LINK, DOF = SR_TURN_DOF };

int sr_rnea_derivative_work(const srModel* m) { return LINK * m->nlink + DOF * m->nv; }

// Contribution of one coordinate: I S and B^T S (angular, its linear part is 0), and the forces of a displacement along it and of its rate.
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

// Entries of the coordinates of link i with all coordinates on its path to the ground.
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
  if (out->place) outwards(m, d, a, false, links, dofs);
  for (int i = m->nlink - 1; i > 0; i--) {
    const double* own = links + LINK * i;
    put(m, i, own, dofs, out);
    if (m->link_parent[i] == 0) continue;
    double* parent = links + LINK * m->link_parent[i];
    for (int k = INERTIA; k < LINK; k++) parent[k] += own[k];
  }
}
