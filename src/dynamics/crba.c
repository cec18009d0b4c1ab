// Composite rigid body algorithm: joint-space inertia M(q).  Featherstone (2008), section 6.2.
//
//   Ic_i = I_i + sum over children j of Ic_j carried to i;   F = Ic_i S_i carried up the path;   M_ij = S_j^T F
//
// Only j = i and ancestors j of i give entries: M has the branch sparsity that ltl.c relies on.
// Scratch: 16 doubles a link in work.
#include <string.h>

#include "dynamics/link.h"

// Inertia of a child about the parent's origin, in the parent's axes:
//   h' = R h + m p,   J' = R J R^T - p g^T - g p^T + 2 (p.g) 1   with g = R h + m p/2
static void add_to_parent(const double* X, const double* child, double* parent) {
  const m3 R = m3_load(X);
  const v4 p = v4_load(X + 12), m = v4_all(child[15]);
  const v4 Rh = m3_mul_at(R, child + 12);
  const v4 g = Rh + 0.5 * m * p;
  const m3 A = {{m3_mul_at(R, child), m3_mul_at(R, child + 4), m3_mul_at(R, child + 8)}};
  const double pg = 2 * v4_dot(p, g);
  const v4 diagonal[3] = {{pg, 0, 0, 0}, {0, pg, 0, 0}, {0, 0, pg, 0}};
  const v4 gk[3] = {v4_lane(g, 0), v4_lane(g, 1), v4_lane(g, 2)};
  for (int k = 0; k < 3; k++) {
    const v4 turned = A.c[0] * v4_all(X[k]) + A.c[1] * v4_all(X[4 + k]) + A.c[2] * v4_all(X[8 + k]);
    v4_store(parent + 4 * k, v4_load(parent + 4 * k) + turned + diagonal[k] - p * gk[k] - g * v4_all(X[12 + k]));
  }
  const v4 with_mass = __builtin_shufflevector(p, v4_all(1), 0, 1, 2, 4);
  v4_store(parent + 12, v4_load(parent + 12) + Rh + m * with_mass);
}

// M entries of row and column `dof` with the coordinates of link j, for the wrench F in j's axes.
SRM_INLINE void put(const srModel* m, int dof, int j, srmWrench F, double* M) {
  const int n = m->nv, type = m->link_type[j], first = m->link_v[j];
  if (type == SR_LINK_REVOLUTE) {
    M[dof * n + first] = M[first * n + dof] = F.n[2];
    return;
  }
  _Alignas(32) double wrench[8];
  srm_wrench_store(wrench, F);
  for (int k = 0; k < sr_link_nv[type]; k++)
    M[dof * n + first + k] = M[(first + k) * n + dof] = sr_link_project(type, m->link_pitch[j], k, wrench);
}

// Carries F = Ic S of one coordinate of link i to the ground.
SRM_INLINE void carry(const srModel* m, const srData* d, int dof, int i, srmWrench F, double* M) {
  for (int j = i;;) {
    put(m, dof, j, F, M);
    const int parent = m->link_parent[j];
    if (parent == 0) break;
    F = srm_wrench_to_parent(srm_pose_load(d->link_X + 16 * j), F);
    j = parent;
  }
}

static void columns(const srModel* m, const srData* d, int i, const double* inertia, double* M) {
  const int type = m->link_type[i], dof = m->link_v[i];
  const srmInertia I = srm_inertia_load(inertia);
  if (type == SR_LINK_REVOLUTE) {
    const v4 z_cross_h = __builtin_shufflevector(I.h, v4_zero(), 1, 0, 4, 5) * (v4){-1, 1, 0, 0};
    carry(m, d, dof, i, (srmWrench){I.J.c[2], z_cross_h}, M);
    return;
  }
  for (int k = 0; k < sr_link_nv[type]; k++) {
    double unit[6] = {0};
    unit[k] = 1;
    carry(m, d, dof + k, i, srm_momentum(I, sr_link_relative(type, m->link_pitch[i], unit)), M);
  }
}

void sr_crba(const srModel* m, srData* d, const double* q, double* M) {
  sr_transforms_X(m, d, q);
  double* composite = d->work;
  memcpy(composite, m->link_inertia, 16 * (size_t)m->nlink * sizeof(double));
  memset(M, 0, (size_t)m->nv * (size_t)m->nv * sizeof(double));
  for (int i = m->nlink - 1; i > 0; i--) {
    const int parent = m->link_parent[i];
    if (parent > 0) add_to_parent(d->link_X + 16 * i, composite + 16 * i, composite + 16 * parent);
    columns(m, d, i, composite + 16 * i, M);
  }
}
