// What the articulated body algorithms share (aba.c, aba_coupled.c): scratch, the pass from the ground, and the operations on one link.
//
// IA is three blocks of columns, J, G and M, with  n = J dw + G^T da,  f = G dw + M da.
#ifndef SR_DYNAMICS_ARTICULATED_H
#define SR_DYNAMICS_ARTICULATED_H

#include "dynamics/link.h"

typedef struct Scratch {
  double* IA;      // 36 per link: J, G, M
  double* motion;  // 12 per link: srMotion, then (dw, da)
  double* U;       // 8 per coordinate
  double* u;       // 2 per coordinate: u, 1/D or D where driven
} Scratch;

SRM_INLINE Scratch scratch(const srModel* m, srData* d) {
  Scratch s = {.IA = d->work};
  s.motion = s.IA + 36 * m->nlink;
  s.U = s.motion + 12 * m->nlink;
  s.u = s.U + 8 * m->nv;
  return s;
}

// ------------------------------------------------------------------------------------------------------------- pass 1
// Articulated inertia of a link alone: G dw = dw x h.
SRM_INLINE void rigid_blocks(const double* inertia, double* IA) {
  const v4 h = v4_load(inertia + 12), mass = v4_lane(h, 3), minus = -h;
  m3_store(IA, m3_load(inertia));
  v4_store(IA + 12, v4_keep(__builtin_shufflevector(h, minus, 0, 6, 1, 3), 0, 1, 1));  // 0 -z y
  v4_store(IA + 16, v4_keep(__builtin_shufflevector(h, minus, 2, 0, 4, 3), 1, 0, 1));  // z 0 -x
  v4_store(IA + 20, v4_keep(__builtin_shufflevector(h, minus, 5, 0, 0, 3), 1, 1, 0));  // -y x 0
  v4_store(IA + 24, v4_keep(mass, 1, 0, 0));
  v4_store(IA + 28, v4_keep(mass, 0, 1, 0));
  v4_store(IA + 32, v4_keep(mass, 0, 0, 1));
}

SRM_INLINE void bias_pass(const srModel* m, srData* d, Scratch s, const double* v) {
  const srmTwist none = {v4_zero(), v4_zero()};
  const int *types = m->link_type, *parents = m->link_parent, *places = m->link_v;
  const double *inertia = m->link_inertia, *X = d->link_X, *E = d->link_E;
  double *motion = s.motion, *own = motion, *wrench = d->link_wrench, *IA = s.IA;
  sr_motion_store(motion, (srMotion){v4_zero(), v4_zero(), -v4_xyz(m->gravity)});
  for (int i = 1, n = m->nlink; i < n; i++) {
    X += 16, E += 12, inertia += 16, own += 12, wrench += 8, IA += 36;
    const double* vi = v + places[i];
    srMotion t =
        parents[i] == 0 ? sr_motion_on_ground(E, m->gravity) : sr_motion_to_child(X, E, motion + 12 * parents[i]);
    if (types[i] == SR_LINK_REVOLUTE) {
      t = sr_motion_add_revolute(t, vi[0]);
    } else if (types[i] == SR_LINK_PRISMATIC) {
      t = sr_motion_add_prismatic(t, vi[0]);
    } else {
      t = sr_motion_add(t, sr_link_relative(types[i], m->link_pitch[i], vi), none);
    }
    sr_motion_store(own, t);
    srm_wrench_store(wrench, sr_motion_wrench(inertia, t));
    rigid_blocks(inertia, IA);
  }
}

// ------------------------------------------------------------------------------------------------------------- pass 2
SRM_INLINE void add_at(double* sum, m3 A) { m3_store(sum, m3_plus(m3_load(sum), A)); }

// The three blocks of IA are rotated to the parent's axes (A -> R A R^T), shifted by p and added, with P the matrix of p x:
//   M' = M,   G' = G - M P,   J' = J + K + K^T  where K = P (G - M P/2)
// One after the other, so that they fit into the registers.
SRM_INLINE m3 add_M(v4 p, m3 M, double* parent) {  // returns M P/2
  const v4 half = 0.5 * p, x = v4_lane(half, 0), y = v4_lane(half, 1), z = v4_lane(half, 2);
  add_at(parent + 24, M);
  return (m3){{M.c[1] * z - M.c[2] * y, M.c[2] * x - M.c[0] * z, M.c[0] * y - M.c[1] * x}};
}
SRM_INLINE m3 add_G(v4 p, m3 G, m3 half_MP, double* parent) {  // returns K
  const m3 middle = m3_minus(G, half_MP);
  add_at(parent + 12, m3_minus(middle, half_MP));
  return (m3){{v4_cross(p, middle.c[0]), v4_cross(p, middle.c[1]), v4_cross(p, middle.c[2])}};
}
SRM_INLINE void add_J(m3 J, m3 K, double* parent) { add_at(parent, m3_plus(J, m3_plus(K, m3_transpose(K)))); }

SRM_INLINE m3 turned(m3 R, const double* X, m3 A) { return m3_product_transposed(m3_product(R, A), X); }

SRM_INLINE void add_inertia_to_parent(const double* X, const double* IA, double* parent) {
  const m3 R = m3_load(X);
  const v4 p = v4_load(X + 12);
  const m3 half_MP = add_M(p, turned(R, X, m3_load(IA + 24)), parent);
  const m3 K = add_G(p, turned(R, X, m3_load(IA + 12)), half_MP, parent);
  add_J(turned(R, X, m3_load(IA)), K, parent);
}

// A pivot smaller than this part of the inertia it comes from is rounding.
#define PIVOT_RATIO 1e-14

// The common case has its own code: revolute, neither driven nor coupled. S = z, so U is a column and D a lane.
//
// U, u and 1/D; false when D is no pivot. add_simple passes the rest to the parent.
SRM_INLINE _Bool eliminate_simple(const double* IA, const double* pA, double f, double armature, double* U, double* u) {
  const double D = IA[10] + armature;
  if (!(D > PIVOT_RATIO * (IA[0] + IA[5] + IA[10]))) return 0;
  v4_store(U, v4_load(IA + 8));
  v4_store(U + 4, v4_load(IA + 20));
  u[0] = f - pA[2];
  u[1] = 1 / D;
  return 1;
}

// IA - U U^T/D and pA + U u/D to the parent. Without armature only the xy corner of J remains, and two columns of G.
SRM_INLINE void add_simple(const double* X, const double* IA, const double* pA, const double* u, double* parent_IA,
                           double* parent_pA) {
  const v4 Un = v4_load(IA + 8), Uf = v4_load(IA + 20), p = v4_load(X + 12), inverse = v4_all(u[1]);
  const v4 tn = Un * inverse, tf = Uf * inverse, step = v4_all(u[0]);
  const m3 R = m3_load(X);
  sr_wrench_add_to_parent(X, (srmWrench){v4_load(pA) + tn * step, v4_load(pA + 4) + tf * step}, parent_pA);

  const m3 M = {{v4_load(IA + 24) - Uf * v4_lane(tf, 0), v4_load(IA + 28) - Uf * v4_lane(tf, 1),
                 v4_load(IA + 32) - Uf * v4_lane(tf, 2)}};
  const m3 half_MP = add_M(p, turned(R, X, M), parent_IA);
  const v4 tn0 = v4_lane(tn, 0), tn1 = v4_lane(tn, 1);
  const v4 G0 = m3_mul(R, v4_load(IA + 12) - Uf * tn0), G1 = m3_mul(R, v4_load(IA + 16) - Uf * tn1);
  const m3 K = add_G(p, m3_product_transposed2(G0, G1, X), half_MP, parent_IA);
  const v4 J0 = v4_load(IA) - Un * tn0, J1 = v4_load(IA + 4) - Un * tn1;
  const v4 RJ0 = R.c[0] * v4_lane(J0, 0) + R.c[1] * v4_lane(J0, 1),
           RJ1 = R.c[0] * v4_lane(J1, 0) + R.c[1] * v4_lane(J1, 1);
  add_J(m3_product_transposed2(RJ0, RJ1, X), K, parent_IA);
}

// A slide that is neither driven nor coupled: S = z, so U is a row of G and a column of M. False when D is no pivot.
SRM_INLINE _Bool eliminate_slide(const double* IA, const double* pA, double f, double armature, double* U, double* u) {
  const double D = IA[34] + armature;
  if (!(D > PIVOT_RATIO * (IA[24] + IA[29] + IA[34]))) return 0;
  v4_store(U, v4_keep((v4){IA[14], IA[18], IA[22], 0}, 1, 1, 1));
  v4_store(U + 4, v4_load(IA + 32));
  u[0] = f - pA[6];
  u[1] = 1 / D;
  return 1;
}

SRM_INLINE void subtract_square(double* IA, srmWrench U, double inverse) {
  const v4 tn = U.n * v4_all(inverse), tf = U.f * v4_all(inverse);
  const v4 n0 = v4_lane(tn, 0), n1 = v4_lane(tn, 1), n2 = v4_lane(tn, 2);
  add_at(IA, (m3){{-U.n * n0, -U.n * n1, -U.n * n2}});
  add_at(IA + 12, (m3){{-U.f * n0, -U.f * n1, -U.f * n2}});
  add_at(IA + 24, (m3){{-U.f * v4_lane(tf, 0), -U.f * v4_lane(tf, 1), -U.f * v4_lane(tf, 2)}});
}

// The same with armature: nothing vanishes.
SRM_INLINE void add_with_armature(const double* X, double* IA, const double* pA, const double* U, const double* u,
                                  double* parent_IA, double* parent_pA) {
  const srmWrench column = srm_wrench_load(U);
  const v4 step = v4_all(u[0] * u[1]);
  subtract_square(IA, column, u[1]);
  sr_wrench_add_to_parent(X, (srmWrench){v4_load(pA) + column.n * step, v4_load(pA + 4) + column.f * step}, parent_pA);
  add_inertia_to_parent(X, IA, parent_IA);
}

// U = IA S of a coordinate at `slot` of a twist.
SRM_INLINE srmWrench inertia_column(const double* IA, int slot) {
  if (slot < 3) return (srmWrench){v4_load(IA + 4 * slot), v4_load(IA + 12 + 4 * slot)};
  const int k = slot - 4;
  return (srmWrench){v4_keep((v4){IA[12 + k], IA[16 + k], IA[20 + k], IA[20 + k]}, 1, 1, 1), v4_load(IA + 24 + 4 * k)};
}

// The same of coordinate k of a link; scale: the inertia that D = S^T U is compared with. trace: of J and M.
SRM_INLINE srmWrench axis_column(int type, double pitch, int k, const double* IA, const double trace[2],
                                 double* scale) {
  const int slot = sr_link_slot[type][k];
  const srmWrench U = inertia_column(IA, slot);
  *scale = trace[slot >= 3];
  if (type != SR_LINK_HELICAL) return U;
  const srmWrench along = inertia_column(IA, 6);
  *scale += pitch * pitch * trace[1];
  return (srmWrench){U.n + pitch * along.n, U.f + pitch * along.f};
}

// pA += U a
SRM_INLINE void add_bias(double* pA, srmWrench U, double a) {
  v4_store(pA, v4_load(pA) + U.n * v4_all(a));
  v4_store(pA + 4, v4_load(pA + 4) + U.f * v4_all(a));
}

// A simple link: its own elimination, and its contribution to the parent; false when D is no pivot.
SRM_INLINE _Bool pass_simple(Scratch s, const double* X, double* IA, const double* pA, int dof, int parent, double f,
                             double armature, double* wrenches) {
  double *U = s.U + 8 * dof, *u = s.u + 2 * dof, *IA_parent = s.IA + 36 * parent;
  if (!eliminate_simple(IA, pA, f, armature, U, u)) return 0;
  if (parent == 0) return 1;
  if (armature == 0) {
    add_simple(X, IA, pA, u, IA_parent, wrenches + 8 * parent);
  } else {
    add_with_armature(X, IA, pA, U, u, IA_parent, wrenches + 8 * parent);
  }
  return 1;
}

// The same of a slide.
SRM_INLINE _Bool pass_slide(Scratch s, const double* X, double* IA, const double* pA, int dof, int parent, double f,
                            double armature, double* wrenches) {
  double *U = s.U + 8 * dof, *u = s.u + 2 * dof;
  if (!eliminate_slide(IA, pA, f, armature, U, u)) return 0;
  if (parent != 0) add_with_armature(X, IA, pA, U, u, s.IA + 36 * parent, wrenches + 8 * parent);
  return 1;
}

// U^T (dw, da)
SRM_INLINE double column_times(const double* U, srmTwist t) {
  const v4 sum = v4_load(U) * t.w + v4_load(U + 4) * t.v;
  return sum[0] + sum[1] + sum[2];
}

// Its acceleration, added to its contribution to the motion of pass 1.
SRM_INLINE srmTwist accelerate_simple(Scratch s, int dof, srmTwist t, double* a) {
  const double* u = s.u + 2 * dof;
  a[dof] = (u[0] - column_times(s.U + 8 * dof, t)) * u[1];
  t.w += v4_z(a[dof]);
  return t;
}

SRM_INLINE srmTwist accelerate_slide(Scratch s, int dof, srmTwist t, double* a) {
  const double* u = s.u + 2 * dof;
  a[dof] = (u[0] - column_times(s.U + 8 * dof, t)) * u[1];
  t.v += v4_z(a[dof]);
  return t;
}

// (dw, da) + S a of coordinate k of a link.
SRM_INLINE srmTwist add_axis(int type, double pitch, int k, double a, srmTwist t) {
  double x[6] = {0};
  x[k] = a;
  const srmTwist step = sr_link_relative(type, pitch, x);
  return (srmTwist){t.w + step.w, t.v + step.v};
}

#endif
