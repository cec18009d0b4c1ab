// Mass matrix with armature by its pattern: composite rigid bodies (Featherstone 2008, section 6.2), as crba.c, but visiting
// only the nonzero entries. Cost and memory are the sum of the depths of the coordinates, so that a chain
// of many short loops stays linear; crba.c fills a dense matrix.
#include <stddef.h>
#include <string.h>

#include "constraint/constraint.h"
#include "dynamics/link.h"

// Adds the inertia of a child, transformed to the parent's axes and origin.
static void add_to_parent(const double* X, const double* child, double* parent) {
  const srmPose pose = srm_pose_load(X);
  const srmInertia I = srm_inertia_load(child), P = srm_inertia_load(parent);
  const v4 mass = v4_lane(I.h, 3), Rh = m3_mul(pose.R, I.h), g = Rh + 0.5 * mass * pose.p;
  const m3 RJ = m3_product(pose.R, I.J), RJR = m3_product_transposed(RJ, X);
  const double pg = 2 * v4_dot(pose.p, g);
  m3 J = m3_plus(P.J, RJR);
  for (int i = 0; i < 3; i++) {
    J.c[i] -= pose.p * v4_all(g[i]) + g * v4_all(pose.p[i]);
    J.c[i][i] += pg;
    J.c[i][3] = 0;
  }
  v4 h = P.h + Rh + mass * pose.p;
  h[3] = P.h[3] + I.h[3];
  srm_inertia_store(parent, (srmInertia){J, h});
}

static void put(double* M, const int* place, double value) { M[place[0]] = M[place[1]] = value; }

// Row of coordinate k of link i: its wrench F is transformed down to the ground, and projected on the axes along the path.
SRM_INLINE void fill_row(const srModel* m, srData* d, int i, int k, const double* inertia) {
  const int dof = m->link_v[i] + k;
  const int* place = m->M_place + 2 * m->M_start[dof];
  double unit[6] = {0};
  _Alignas(32) double F[8];
  unit[k] = 1;
  srm_wrench_store(F,
                   srm_momentum(srm_inertia_load(inertia), sr_link_relative(m->link_type[i], m->link_pitch[i], unit)));
  int last = k;  // of the coordinates of the link, those before k
  for (int link = i; link > 0; link = m->link_parent[link]) {
    for (int j = last; j >= 0; j--, place += 2) {
      double value = sr_link_project(m->link_type[link], m->link_pitch[link], j, F);
      if (link == i && j == k) value += m->dof_armature[dof];
      put(d->M, place, value);
    }
    srm_wrench_store(F, srm_wrench_to_parent(srm_pose_load(d->link_X + 16 * link), srm_wrench_load(F)));
    last = sr_link_nv[m->link_type[m->link_parent[link]]] - 1;
  }
}

SRM_INLINE void put_six(double* row, v4 a, double b, double c) {
  *(v4_any*)row = a;
  row[4] = b;
  row[5] = c;
}

// All rows of a link that is free on the ground, in its own axes: M = [J [h]; -[h] m 1]. Its own columns come first, for it has no
// ancestors, and all six rows have the same columns.
SRM_INLINE void fill_free(const srModel* m, srData* d, int i, const double* I) {
  const double *h = I + 12, mass = I[15];
  const int dof = m->link_v[i];
  double* row = d->M + m->M_row[dof];
  const ptrdiff_t next = m->M_row[dof + 1] - m->M_row[dof];
  put_six(row, (v4){I[0], I[4], I[8], 0}, -h[2], h[1]);
  put_six(row + next, (v4){I[1], I[5], I[9], h[2]}, 0, -h[0]);
  put_six(row + 2 * next, (v4){I[2], I[6], I[10], -h[1]}, h[0], 0);
  put_six(row + 3 * next, (v4){0, h[2], -h[1], mass}, 0, 0);
  put_six(row + 4 * next, (v4){-h[2], 0, h[0], 0}, mass, 0);
  put_six(row + 5 * next, (v4){h[1], -h[0], 0, 0}, 0, mass);
  for (int k = 0; k < 6; k++) row[k * (next + 1)] += m->dof_armature[dof + k];
}

// Free bodies: armature of a joint couples two of them, M += armature J^T J.
static void add_armature(const srModel* m, srData* d) {
  for (int k = 0; k < m->njv; k++) {
    const double* J = d->jJ + 12 * k;
    const int* place = m->armature_place + 144 * m->jv_joint[k];
    if (!(m->joint_armature[k] > 0)) continue;
    for (int i = 0; i < 144; i++) {
      if (place[i] >= 0) d->M[place[i]] += m->joint_armature[k] * J[i / 12] * J[i % 12];
    }
  }
}

SRM_CLONES void sr_mass(const srModel* m, srData* d) {
  if (m->priv->kernels != NULL && m->priv->kernels->entries != NULL) {
    m->priv->kernels->entries(d->q, d->M);
    return;
  }
  if (m->armature_place) memset(d->M, 0, (size_t)m->M_row[m->nv] * sizeof *d->M);
  double* composite = d->work;
  memcpy(composite, m->link_inertia, 16 * (size_t)m->nlink * sizeof *composite);
  for (int i = m->nlink - 1; i > 0; i--) {
    double* own = composite + 16 * i;
    if (m->link_type[i] == SR_LINK_FREE && m->link_parent[i] == 0 && !m->armature_place) {
      fill_free(m, d, i, own);
      continue;
    }
    for (int k = 0; k < sr_link_nv[m->link_type[i]]; k++) fill_row(m, d, i, k, own);
    if (m->link_parent[i] > 0) add_to_parent(d->link_X + 16 * i, own, composite + 16 * m->link_parent[i]);
  }
  if (m->armature_place) add_armature(m, d);
}
