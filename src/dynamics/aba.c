// Articulated body algorithm: forward dynamics in O(n).  Featherstone (2008), section 7.3, in this arrangement:
//
//   1 from the ground   motion of every link if all a were 0, and the wrench pA that this motion requires (as in rnea.c)
//   2 from the tips     for every coordinate, with S its axis:
//                         U = IA S,  D = S^T U + armature,  u = f - S^T pA
//                         free      IA -= U U^T / D,  pA += U u / D
//                         driven    pA += U a                               (a known)
//                       then IA_parent += X^T IA X,  pA_parent += X^T pA
//   3 from the ground   dw, da: contribution of a to the motion of pass 1
//                         free      a = (u - U^T (dw, da)) / D
//                         driven    lambda = U^T (dw, da) - u + D a
//                       then (dw, da) += S a
//
// Coordinates of a ball or free link are processed one after the other, the last one first: the same numbers as an LDL^T
// factor of their block, without special code.
//
// Scratch in work: 36 + 12 doubles per link, 10 per coordinate.
#include <stdio.h>

#include "dynamics/articulated.h"

static srStatus singular(const srModel* m, srData* d, int i) {
  const int joint = m->link_joint[i];
  snprintf(d->error_message, sizeof d->error_message,
           "the mass matrix is singular at joint '%s' of body '%s': it moves no inertia", m->joint_name[joint],
           m->body_name[m->link_body[i]]);
  return SR_FAILED;
}

SRM_INLINE _Bool is_simple(const srModel* m, int i, int dof, const _Bool full) {
  return m->link_type[i] == SR_LINK_REVOLUTE && (!full || m->dof_driver[dof] < 0);
}

SRM_INLINE _Bool is_slide(const srModel* m, int i, int dof, const _Bool full) {
  return m->link_type[i] == SR_LINK_PRISMATIC && (!full || m->dof_driver[dof] < 0);
}

// Any link, coordinate by coordinate, on IA and pA in memory.
SRM_CLONES static _Bool eliminate(const srModel* m, srData* d, Scratch s, int i, const double* f, const _Bool full) {
  const int type = m->link_type[i], first = m->link_v[i];
  const double pitch = m->link_pitch[i];
  double *IA = s.IA + 36 * i, *pA = d->link_wrench + 8 * i;
  const double trace[2] = {IA[0] + IA[5] + IA[10], IA[24] + IA[29] + IA[34]};
  for (int k = sr_link_nv[type] - 1; k >= 0; k--) {
    const int dof = first + k;
    double scale;
    const srmWrench U = axis_column(type, pitch, k, IA, trace, &scale);
    srm_wrench_store(s.U + 8 * dof, U);
    const double D = sr_link_project(type, pitch, k, s.U + 8 * dof) + (full ? m->dof_armature[dof] : 0);
    s.u[2 * dof] = f[dof] - sr_link_project(type, pitch, k, pA);
    double step;  // of this coordinate's acceleration, as far as it is known here
    if (full && m->dof_driver[dof] >= 0) {
      s.u[2 * dof + 1] = D;
      step = d->motion[3 * m->dof_driver[dof] + 2];
    } else {
      if (!(D > PIVOT_RATIO * scale)) return 0;
      s.u[2 * dof + 1] = 1 / D;
      step = s.u[2 * dof] / D;
      subtract_square(IA, U, 1 / D);
    }
    add_bias(pA, U, step);
  }
  return 1;
}

// A free body on the ground that carries no other, as heaps have them: its acceleration from its own inertia, with c its centre of mass,
//   w' = (J - m (c.c - c c^T))^-1 (n - c x f),   v' = f/m - w' x c        (n, f) = f - pA
#define LONE (-1.0)  // in the place of 1/D, which is positive, and of D, which is not negative
SRM_INLINE _Bool is_lone(const srModel* m, int i, const _Bool full) {
  if (m->link_type[i] != SR_LINK_FREE || m->link_parent[i] != 0) return 0;
  if (i + 1 < m->nlink && m->link_parent[i + 1] == i) return 0;
  for (int k = m->link_v[i]; full && k < m->link_v[i] + 6; k++) {
    if (m->dof_driver[k] >= 0 || m->dof_armature[k] != 0) return 0;
  }
  return 1;
}

// The acceleration into the places of u. False: the inertia has no reliable inverse, or there is no mass.
SRM_INLINE _Bool solve_lone(const double* inertia, const double* pA, const double* f, double* u) {
  const v4 h = v4_keep(v4_load(inertia + 12), 1, 1, 1);
  const double mass = inertia[15];
  if (!(mass > 0)) return 0;
  const v4 c = h / v4_all(mass), force = (v4){f[3] - pA[4], f[4] - pA[5], f[5] - pA[6], 0};
  const v4 moment = (v4){f[0] - pA[0], f[1] - pA[1], f[2] - pA[2], 0} - v4_cross(c, force);
  const double hc = v4_dot(h, c);
  m3 J = m3_load(inertia);  // columns; becomes that about the centre of mass
  for (int k = 0; k < 3; k++) {
    J.c[k] += h * v4_all(c[k]);
    J.c[k][k] -= hc;
  }
  const v4 x = v4_cross(J.c[1], J.c[2]), y = v4_cross(J.c[2], J.c[0]), z = v4_cross(J.c[0], J.c[1]);
  const double det = v4_dot(J.c[0], x), size = inertia[0] + inertia[5] + inertia[10];
  if (!(det > 1e-9 * size * size * size)) return 0;
  const v4 turn = (v4){v4_dot(x, moment), v4_dot(y, moment), v4_dot(z, moment), 0} / v4_all(det);
  const v4 v = force / v4_all(mass) - v4_cross(turn, c);
  for (int k = 0; k < 3; k++) {
    u[2 * k] = turn[k];
    u[6 + 2 * k] = v[k];
    u[2 * k + 1] = u[6 + 2 * k + 1] = LONE;
  }
  return 1;
}

SRM_INLINE srStatus inertia_pass(const srModel* m, srData* d, Scratch s, const double* f, const _Bool full) {
  const int *parents = m->link_parent, *places = m->link_v, n = m->nlink;
  const double* X = d->link_X + 16 * n;
  double *IA = s.IA + 36 * n, *pA = d->link_wrench + 8 * n, *const wrenches = d->link_wrench;
  for (int i = n - 1; i > 0; i--) {
    const int dof = places[i], parent = parents[i];
    X -= 16, IA -= 36, pA -= 8;
    if (is_simple(m, i, dof, full)) {
      const double armature = full ? m->dof_armature[dof] : 0;
      if (!pass_simple(s, X, IA, pA, dof, parent, f[dof], armature, wrenches)) return singular(m, d, i);
    } else if (is_slide(m, i, dof, full)) {
      const double armature = full ? m->dof_armature[dof] : 0;
      if (!pass_slide(s, X, IA, pA, dof, parent, f[dof], armature, wrenches)) return singular(m, d, i);
    } else {
      if (is_lone(m, i, full) && solve_lone(m->link_inertia + 16 * i, pA, f + dof, s.u + 2 * dof)) continue;
      if (!eliminate(m, d, s, i, f, full)) return singular(m, d, i);
      if (parent == 0) continue;
      sr_wrench_add_to_parent(X, srm_wrench_load(pA), wrenches + 8 * parent);
      add_inertia_to_parent(X, IA, s.IA + 36 * parent);
    }
  }
  return SR_OK;
}

// ------------------------------------------------------------------------------------------------------------- pass 3
SRM_CLONES static srmTwist accelerate(const srModel* m, const srData* d, Scratch s, int i, srmTwist t, double* a,
                                      double* lambda, const _Bool full) {
  const int type = m->link_type[i], first = m->link_v[i];
  for (int k = 0; k < sr_link_nv[type]; k++) {
    const int dof = first + k, driver = full ? m->dof_driver[dof] : -1;
    const double Ut = column_times(s.U + 8 * dof, t), u = s.u[2 * dof], pivot = s.u[2 * dof + 1];
    if (driver >= 0) {
      a[dof] = d->motion[3 * driver + 2];
      lambda[driver] = Ut - u + pivot * a[dof];
    } else {
      a[dof] = (u - Ut) * pivot;
    }
    t = add_axis(type, m->link_pitch[i], k, a[dof], t);
  }
  return t;
}

SRM_INLINE void acceleration_pass(const srModel* m, srData* d, Scratch s, double* a, double* lambda, const _Bool full) {
  const int *parents = m->link_parent, *places = m->link_v;
  const double *X = d->link_X, *E = d->link_E;
  double *motion = s.motion, *own = motion;
  srm_twist_store(motion, (srmTwist){v4_zero(), v4_zero()});
  for (int i = 1, n = m->nlink; i < n; i++) {
    X += 16, E += 12, own += 12;
    const int dof = places[i];
    if (parents[i] == 0 && m->link_type[i] == SR_LINK_FREE && s.u[2 * dof + 1] == LONE) {
      for (int k = 0; k < 6; k++) a[dof + k] = s.u[2 * (dof + k)];
      continue;
    }
    srmTwist t = {v4_zero(), v4_zero()};
    if (parents[i] != 0) t = srm_twist_to_child(m3_load(E), v4_load(X + 12), srm_twist_load(motion + 12 * parents[i]));
    if (is_simple(m, i, dof, full)) {
      t = accelerate_simple(s, dof, t, a);
    } else if (is_slide(m, i, dof, full)) {
      t = accelerate_slide(s, dof, t, a);
    } else {
      t = accelerate(m, d, s, i, t, a, lambda, full);
    }
    srm_twist_store(own, t);
  }
}

// ------------------------------------------------------------------------------------------------------------- public
SRM_CLONES srStatus sr_aba(const srModel* m, srData* d, const double* q, const double* v, const double* tau,
                           double* a) {
  const Scratch s = scratch(m, d);
  sr_transforms(m, d, q);
  bias_pass(m, d, s, v);
  const srStatus status = inertia_pass(m, d, s, tau, 0);
  if (status == SR_OK) acceleration_pass(m, d, s, a, NULL, 0);
  return status;
}

SRM_CLONES srStatus sr_aba_driven(const srModel* m, srData* d, const double* q, const double* v, const double* f,  //
                                  double* a, double* lambda) {
  const Scratch s = scratch(m, d);
  if (!sr_positions_known(m, d, q)) sr_transforms(m, d, q);
  bias_pass(m, d, s, v);
  const srStatus status = inertia_pass(m, d, s, f, 1);
  if (status == SR_OK) acceleration_pass(m, d, s, a, lambda, 1);
  return status;
}
