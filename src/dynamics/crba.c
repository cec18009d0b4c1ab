// Composite rigid body algorithm: joint-space inertia M(q).  Featherstone (2008), section 6.2.
//
//   Ic_i = I_i + sum over children j of Ic_j carried to i;   F = Ic_i S_i carried up the path;   M_ij = S_j^T F
//
// Only j = i and ancestors j of i give entries: M has the branch sparsity that ltl.c relies on.
// Scratch: 16 doubles a link in work.
#include "dynamics/link.h"

// Inertia of a child about the parent's origin, in the parent's axes:
//   h' = R h + m p,   J' = R J R^T - p g^T - g p^T + 2 (p.g) 1   with g = R h + m p/2
SRM_INLINE void add_to_parent(const double* X, const double* child, double* parent) {
  const m3 R = m3_load(X);
  const v4 p = v4_load(X + 12), m = v4_all(child[15]), Rh = m3_mul_at(R, child + 12), g = Rh + 0.5 * m * p;
  const m3 RJ = {{m3_mul_at(R, child), m3_mul_at(R, child + 4), m3_mul_at(R, child + 8)}};
  const v4 pg = v4_all(2 * v4_dot(p, g));
  const m3 turned = m3_product_transposed(RJ, X);
  const m3 moved = {{v4_keep(pg, 1, 0, 0) - p * v4_lane(g, 0) - g * v4_all(X[12]),
                     v4_keep(pg, 0, 1, 0) - p * v4_lane(g, 1) - g * v4_all(X[13]),
                     v4_keep(pg, 0, 0, 1) - p * v4_lane(g, 2) - g * v4_all(X[14])}};
  m3_store(parent, m3_plus(m3_load(parent), m3_plus(turned, moved)));
  const v4 with_mass = __builtin_shufflevector(p, v4_all(1), 0, 1, 2, 4);
  v4_store(parent + 12, v4_load(parent + 12) + Rh + m * with_mass);
}

// What the walk up the tree needs, out of the model and the data.
typedef struct Path {
  const int *type, *parent, *place;
  const double *pitch, *X;
  double* M;
  ptrdiff_t n;
} Path;

// Entries of row and column `dof` for the coordinates of a link that is not revolute, given the wrench F in its axes.
static void put_other(const Path* path, ptrdiff_t dof, ptrdiff_t link, const double* F) {
  const int type = path->type[link];
  const ptrdiff_t first = path->place[link], n = path->n;
  for (int k = 0; k < sr_link_nv[type]; k++)
    path->M[dof * n + first + k] = path->M[(first + k) * n + dof] = sr_link_project(type, path->pitch[link], k, F);
}

// Carries F = Ic S of one coordinate of a link to the ground.
SRM_INLINE void carry(const Path* path, ptrdiff_t dof, ptrdiff_t link, srmWrench F) {
  for (;;) {
    if (path->type[link] == SR_LINK_REVOLUTE) {
      const ptrdiff_t column = path->place[link];
      path->M[dof * path->n + column] = path->M[column * path->n + dof] = F.n[2];
    } else {
      _Alignas(32) double wrench[8];
      srm_wrench_store(wrench, F);
      put_other(path, dof, link, wrench);
    }
    const ptrdiff_t parent = path->parent[link];
    if (parent == 0) return;
    F = srm_wrench_to_parent(srm_pose_load(path->X + 16 * link), F);
    link = parent;
  }
}

// Rows of a link that is not revolute.
static void rows_other(const Path* path, ptrdiff_t link, const double* inertia) {
  const int type = path->type[link];
  const srmInertia I = srm_inertia_load(inertia);
  for (int k = 0; k < sr_link_nv[type]; k++) {
    double unit[6] = {0};
    unit[k] = 1;
    carry(path, path->place[link] + k, link, srm_momentum(I, sr_link_relative(type, path->pitch[link], unit)));
  }
}

// Not memset: what it writes at once with one instruction costs more than a loop here.
static void zero(double* x, int n) {
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    v4_any* four = (v4_any*)(x + i);
    four[0] = four[1] = four[2] = four[3] = v4_zero();
  }
  for (; i < n; i++) x[i] = 0;
}

void sr_crba(const srModel* m, srData* d, const double* q, double* M) {
  sr_transforms_X(m, d, q);
  const Path path = {m->link_type, m->link_parent, m->link_v, m->link_pitch, d->link_X, M, m->nv};
  double* composite = d->work;
  for (ptrdiff_t i = 1, n = m->nlink; i < n; i++)
    srm_inertia_store(composite + 16 * i, srm_inertia_load(m->link_inertia + 16 * i));
  zero(M, m->nv * m->nv);
  for (ptrdiff_t i = m->nlink - 1; i > 0; i--) {
    const double* own = composite + 16 * i;
    if (path.parent[i] > 0) add_to_parent(path.X + 16 * i, own, composite + 16 * path.parent[i]);
    if (path.type[i] == SR_LINK_REVOLUTE) {  // J z, z x h
      const v4 h = v4_load(own + 12);
      const v4 z_cross_h = v4_keep(__builtin_shufflevector(-h, h, 1, 4, 2, 3), 1, 1, 0);
      carry(&path, path.place[i], i, (srmWrench){v4_load(own + 8), z_cross_h});
    } else {
      rows_other(&path, i, own);
    }
  }
}
