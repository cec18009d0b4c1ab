// Composite rigid body algorithm: joint-space inertia M(q).  Featherstone (2008), section 6.2.
//
//   Ic_i = I_i + sum over children j of Ic_j transformed to i;   F = Ic_i S_i carried up the path;   M_ij = S_j^T F
//
// Only j = i and ancestors j of i give entries: M has the branch sparsity that ltl.c relies on. Links are numbered depth
// first, so the coordinates beyond a link are a range: their wrenches F cross the link's joint in one loop, without data
// dependencies. Scratch in work: 17 doubles per link, 8 per coordinate.
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

// Entries of a coordinate, whose wrench F is given in the axes of a link, with the coordinates of that link: a piece of
// a row of M, and of a column (step n).
static void put(int type, double pitch, const double* F, double* row, double* column, ptrdiff_t n) {
  if (type == SR_LINK_BALL || type == SR_LINK_FREE) {
    row[0] = column[0] = F[0], row[1] = column[n] = F[1], row[2] = column[2 * n] = F[2];
    if (type == SR_LINK_BALL) return;
    column += 3 * n;
    row[3] = column[0] = F[4], row[4] = column[n] = F[5], row[5] = column[2 * n] = F[6];
  } else {
    row[0] = column[0] = sr_link_project(type, pitch, 0, F);
  }
}

// F = Ic S of the coordinates of a link that is not revolute, and the entries among them. M begins at its own corner.
SRM_CLONES static void begin_other(int type, double pitch, const double* inertia, double* F, double* M, ptrdiff_t n) {
  const srmInertia I = srm_inertia_load(inertia);
  for (int k = 0; k < sr_link_nv[type]; k++) {
    double unit[6] = {0};
    unit[k] = 1;
    srm_wrench_store(F + 8 * k, srm_momentum(I, sr_link_relative(type, pitch, unit)));
    put(type, pitch, F + 8 * k, M + k * n, M + k, n);
  }
}

SRM_INLINE void begin_revolute(const double* inertia, double* F, double* M) {  // J z, z x h
  const v4 h = v4_load(inertia + 12);
  v4_store(F, v4_load(inertia + 8));
  v4_store(F + 4, v4_keep(__builtin_shufflevector(-h, h, 1, 4, 2, 3), 1, 1, 0));
  *M = inertia[10];
}

SRM_INLINE v4 to_parent(srmPose X, double* F) {  // returns the moment
  const v4 f = m3_mul_at(X.R, F + 4), n = m3_mul_at(X.R, F) + v4_cross(X.p, f);
  srm_wrench_store(F, (srmWrench){n, f});
  return n;
}

// Not memset: its single string instruction costs more than a loop here.
SRM_INLINE void zero(double* x, ptrdiff_t n) {
  ptrdiff_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v4_any* four = (v4_any*)(x + i);
    four[0] = four[1] = four[2] = four[3] = v4_zero();
  }
  for (; i < n; i++) x[i] = 0;
}

SRM_CLONES void sr_crba(const srModel* m, srData* d, const double* q, double* M) {
  sr_transforms_X(m, d, q);
  const int *parents = m->link_parent, *types = m->link_type, *places = m->link_v;
  const double *pitch = m->link_pitch, *inertia = m->link_inertia, *X = d->link_X;
  const ptrdiff_t nlink = m->nlink, n = m->nv;
  double *composite = d->work, *F = composite + 16 * nlink;
  int* end = (int*)(void*)(F + 8 * n);  // of the range of coordinates at and beyond a link; 0: unknown so far
  for (ptrdiff_t i = 1; i < nlink; i++) {
    srm_inertia_store(composite + 16 * i, srm_inertia_load(inertia + 16 * i));
    end[i] = 0;
  }
  zero(M, n * n);
  for (ptrdiff_t i = nlink - 1; i > 0; i--) {
    const ptrdiff_t parent = parents[i], first = places[i];
    const double* own = composite + 16 * i;
    const int type = types[i];
    if (end[i] == 0) end[i] = (int)first + sr_link_nv[type];
    if (type == SR_LINK_REVOLUTE) {
      begin_revolute(own, F + 8 * first, M + first * (n + 1));
    } else {
      begin_other(type, pitch[i], own, F + 8 * first, M + first * (n + 1), n);
    }
    if (parent == 0) continue;
    if (end[parent] == 0) end[parent] = end[i];  // the last child comes first and ends its parent's range
    add_to_parent(X + 16 * i, own, composite + 16 * parent);

    const srmPose pose = srm_pose_load(X + 16 * i);
    const ptrdiff_t place = places[parent];
    double *row = M + first * n + place, *column = M + place * n + first, *last = F + 8 * (ptrdiff_t)end[i];
    if (types[parent] == SR_LINK_REVOLUTE) {
      for (double* f = F + 8 * first; f < last; f += 8, row += n, column++) *row = *column = to_parent(pose, f)[2];
    } else {
      for (double* f = F + 8 * first; f < last; f += 8, row += n, column++) {
        to_parent(pose, f);
        put(types[parent], pitch[parent], f, row, column, n);
      }
    }
  }
}
