// Articulated body algorithm for a tree with couplings of constant ratio: aba.c with deferred elimination. The members j of a group move
// with one acceleration a_g, a_j = r_j a_g. It cannot be eliminated at a member, only where the paths of all members to the ground meet: on
// link P. Until then it is pending. In addition to IA and pA a link carries, for each group g that is pending there,
//   F_g    wrench on the link from a_g = 1 with the link at rest,
// and a group has  D_g a_g + sum D_gh a_h = u_g  as its own equation, h the other groups that are pending. With H_g = S^T F_g, U, D and u as in aba.c:
//
//   2 from the tips   member of g   D_g += r (r D + 2 H_g),  u_g += r u,  D_gh += r H_h,  F_g += r U        IA and pA unchanged
//                     driven        pA += U a,  u_g -= H_g a                                               (a known)
//                     free          as in aba.c, and  F_g -= U H_g/D,  u_g -= u H_g/D,  D_gh -= H_g H_h/D
//                     then F_g of the parent += X^T F_g
//     on P, first     IA -= F_g F_g^T/D_g,  pA += F_g u_g/D_g,  F_h -= F_g D_gh/D_g,  u_h -= u_g D_gh/D_g,  D_hk -= D_gh D_gk/D_g
//   3 from the ground on P, last: a_g = (u_g - F_g^T (dw, da) - sum D_gh a_h)/D_g
//                     member        a = r a_g,  tau = U^T (dw, da) - u + sum H_h a_h + (H_g + r D) a_g
//                     driven        tau = U^T (dw, da) - u + sum H_h a_h + D a
//                     free          a = (u - U^T (dw, da) - sum H_h a_h)/D
//
// tau is the force of all couplings and drivers on a coordinate: G^T lambda. From the outermost coupling of a group inwards each multiplier is one division.
// Members of a group with a driven coordinate are driven, too. Cost: that of aba.c and about 100 operations per group and link where it
// is pending. Scratch in work: that of aba.c and sr_elimination_work.
#include <string.h>

#include "dynamics/articulated.h"
#include "model/elimination.h"

typedef struct Groups {
  const struct srElimination* e;
  double* F;      // 8 per slot
  double* H;      // per slot and coordinate of its link
  double* D;      // products; of a group with itself 1/D_g from P on
  double *u, *a;  // per group
  double* scale;  // per group: scale of D_g
} Groups;

// The slots of a link: those from `goes` on have a wrench for the parent.
typedef struct Slots {
  int first, goes, n;
  const int* product;  // n x n
} Slots;

static Groups groups_of(const srModel* m, Scratch s) {
  const struct srElimination* e = m->elimination;
  Groups g = {.e = e, .F = s.u + (2 * m->nv + 3) / 4 * 4};
  g.u = g.F + 8 * e->nslot;
  g.scale = g.u + e->ngroup;
  g.D = g.scale + e->ngroup;
  g.H = g.D + e->nproduct;
  g.a = g.H + e->naxis;
  memset(g.F, 0, (size_t)(g.H - g.F) * sizeof *g.F);
  return g;
}

SRM_INLINE Slots slots_of(const struct srElimination* e, int link) {
  const int first = e->slot_start[link];
  return (Slots){first, e->slot_goes[link], e->slot_start[link + 1] - first, e->product + e->product_start[link]};
}

SRM_INLINE double known(const srData* d, const struct srElimination* e, int dof) {
  return e->ratio[dof] * d->motion[3 * e->driver[dof] + 2];
}

// ------------------------------------------------------------------------------------------------------------- pass 2
// Groups that end on link i; the ground has no IA. False where one has no inertia.
SRM_INLINE _Bool end_groups(const Groups* g, Slots x, int i, double* IA, double* pA) {
  for (int a = 0; a < x.goes; a++) {
    const int group = g->e->slot_group[x.first + a], *row = x.product + a * x.n;
    const srmWrench F = srm_wrench_load(g->F + 8 * (x.first + a));
    const double D = g->D[row[a]], u = g->u[group];
    if (!(D > PIVOT_RATIO * g->scale[group])) return 0;
    g->D[row[a]] = 1 / D;
    if (i > 0) {
      subtract_square(IA, F, 1 / D);
      add_bias(pA, F, u / D);
    }
    for (int b = a + 1; b < x.n; b++) {
      const double part = g->D[row[b]] / D;
      g->u[g->e->slot_group[x.first + b]] -= part * u;
      for (int c = b; c < x.n; c++) g->D[x.product[b * x.n + c]] -= part * g->D[row[c]];
      if (i > 0) add_bias(g->F + 8 * (x.first + b), F, -part);
    }
  }
  return 1;
}

// A member's contribution to its group, the slot `own`; H has S^T F of all.
SRM_INLINE void join_group(const Groups* g, Slots x, int own, double r, srmWrench U, double D, double u, double scale,
                           int k) {
  const int group = g->e->slot_group[x.first + own];
  for (int b = x.goes; b < x.n; b++) {
    if (b != own) g->D[x.product[own * x.n + b]] += r * g->H[g->e->slot_axis[x.first + b] + k];
  }
  double* H = g->H + g->e->slot_axis[x.first + own] + k;
  g->D[group] += r * (r * D + 2 * *H);
  g->u[group] += r * u;
  g->scale[group] += r * r * scale;
  *H += r * D;
  add_bias(g->F + 8 * (x.first + own), U, r);
}

// Effect on the groups of eliminating a free coordinate.
SRM_INLINE void reduce_groups(const Groups* g, Slots x, srmWrench U, double inverse, double u, int k) {
  const int* axis = g->e->slot_axis + x.first;
  for (int b = x.goes; b < x.n; b++) {
    const double part = g->H[axis[b] + k] * inverse;
    g->u[g->e->slot_group[x.first + b]] -= part * u;
    for (int c = b; c < x.n; c++) g->D[x.product[b * x.n + c]] -= part * g->H[axis[c] + k];
    add_bias(g->F + 8 * (x.first + b), U, -part);
  }
}

SRM_CLONES static _Bool eliminate(const srModel* m, srData* d, Scratch s, const Groups* g, int i, const double* f) {
  const struct srElimination* e = g->e;
  const Slots x = slots_of(e, i);
  const int type = m->link_type[i], first = m->link_v[i];
  const double pitch = m->link_pitch[i];
  double *IA = s.IA + 36 * i, *pA = d->link_wrench + 8 * i;
  if (!end_groups(g, x, i, IA, pA)) return 0;
  const double trace[2] = {IA[0] + IA[5] + IA[10], IA[24] + IA[29] + IA[34]};
  for (int k = sr_link_nv[type] - 1; k >= 0; k--) {
    const int dof = first + k;
    double scale, *column = s.U + 8 * dof;
    const srmWrench U = axis_column(type, pitch, k, IA, trace, &scale);
    srm_wrench_store(column, U);
    const double D = sr_link_project(type, pitch, k, column) + m->dof_armature[dof];
    const double u = f[dof] - sr_link_project(type, pitch, k, pA);
    s.u[2 * dof] = u;
    for (int b = x.goes; b < x.n; b++) {
      g->H[e->slot_axis[x.first + b] + k] = sr_link_project(type, pitch, k, g->F + 8 * (x.first + b));
    }
    if (e->group[dof] >= 0) {
      join_group(g, x, e->slot_own[i], e->ratio[dof], U, D, u, scale, k);
    } else if (e->driver[dof] >= 0) {
      const double a = known(d, e, dof);
      s.u[2 * dof + 1] = D;
      for (int b = x.goes; b < x.n; b++) {
        g->u[e->slot_group[x.first + b]] -= a * g->H[e->slot_axis[x.first + b] + k];
      }
      add_bias(pA, U, a);
    } else {
      if (!(D > PIVOT_RATIO * scale)) return 0;
      s.u[2 * dof + 1] = 1 / D;
      reduce_groups(g, x, U, 1 / D, u, k);
      subtract_square(IA, U, 1 / D);
      add_bias(pA, U, u / D);
    }
  }
  return 1;
}

// A member on whose link no other group is pending. S = z; the link is no end.
SRM_INLINE void pass_member(const srModel* m, Scratch s, const Groups* g, int i, const double* IA, const double* pA,
                            const double* f) {
  const struct srElimination* e = g->e;
  const Slots x = {e->slot_start[i], 0, 1, NULL};
  const int dof = m->link_v[i];
  const srmWrench U = inertia_column(IA, 2);
  const double u = f[dof] - pA[2];
  srm_wrench_store(s.U + 8 * dof, U);
  s.u[2 * dof] = u;
  g->H[e->slot_axis[x.first]] = g->F[8 * x.first + 2];
  join_group(g, x, 0, e->ratio[dof], U, IA[10] + m->dof_armature[dof], u, IA[0] + IA[5] + IA[10], 0);
}

SRM_INLINE void send_to_parent(const srModel* m, srData* d, Scratch s, const Groups* g, int i) {
  const struct srElimination* e = g->e;
  const int parent = m->link_parent[i];
  const double* X = d->link_X + 16 * i;
  if (parent == 0) return;
  sr_wrench_add_to_parent(X, srm_wrench_load(d->link_wrench + 8 * i), d->link_wrench + 8 * parent);
  add_inertia_to_parent(X, s.IA + 36 * i, s.IA + 36 * parent);
  for (int b = e->slot_start[i] + e->slot_goes[i]; b < e->slot_start[i + 1]; b++) {
    sr_wrench_add_to_parent(X, srm_wrench_load(g->F + 8 * b), g->F + 8 * e->slot_up[b]);
  }
}

SRM_INLINE _Bool inertia_pass(const srModel* m, srData* d, Scratch s, const Groups* g, const double* f) {
  const int *parents = m->link_parent, *places = m->link_v;
  for (int i = m->nlink - 1; i > 0; i--) {
    double *IA = s.IA + 36 * i, *pA = d->link_wrench + 8 * i;
    if (g->e->plan[i] == SR_PLAN_PLAIN) {
      const int dof = places[i];
      const double armature = m->dof_armature[dof];
      if (!pass_simple(s, d->link_X + 16 * i, IA, pA, dof, parents[i], f[dof], armature, d->link_wrench)) return 0;
      continue;
    }
    if (g->e->plan[i] == SR_PLAN_MEMBER) {
      pass_member(m, s, g, i, IA, pA, f);
    } else if (!eliminate(m, d, s, g, i, f)) {
      return 0;
    }
    send_to_parent(m, d, s, g, i);
  }
  return end_groups(g, slots_of(g->e, 0), 0, NULL, NULL);
}

// ------------------------------------------------------------------------------------------------------------- pass 3
SRM_INLINE void accelerate_groups(const Groups* g, Slots x, srmTwist t) {
  for (int a = x.goes - 1; a >= 0; a--) {
    const int group = g->e->slot_group[x.first + a], *row = x.product + a * x.n;
    double sum = g->u[group] - column_times(g->F + 8 * (x.first + a), t);
    for (int b = a + 1; b < x.n; b++) sum -= g->D[row[b]] * g->a[g->e->slot_group[x.first + b]];
    g->a[group] = sum * g->D[row[a]];
  }
}

// tau of coordinates that are coupled or driven takes the place of 1/D.
SRM_CLONES static srmTwist accelerate(const srModel* m, const srData* d, Scratch s, const Groups* g, int i, srmTwist t,
                                      double* a) {
  const struct srElimination* e = g->e;
  const Slots x = slots_of(e, i);
  const int type = m->link_type[i], first = m->link_v[i];
  for (int k = 0; k < sr_link_nv[type]; k++) {
    const int dof = first + k;
    double *u = s.u + 2 * dof, force = column_times(s.U + 8 * dof, t) - u[0];
    for (int b = x.goes; b < x.n; b++) {
      force += g->H[e->slot_axis[x.first + b] + k] * g->a[e->slot_group[x.first + b]];
    }
    if (e->group[dof] >= 0) {
      a[dof] = e->ratio[dof] * g->a[e->group[dof]];
      u[1] = force;
    } else if (e->driver[dof] >= 0) {
      a[dof] = known(d, e, dof);
      u[1] = force + u[1] * a[dof];
    } else {
      a[dof] = -force * u[1];
    }
    t = add_axis(type, m->link_pitch[i], k, a[dof], t);
  }
  accelerate_groups(g, x, t);
  return t;
}

SRM_INLINE srmTwist accelerate_member(Scratch s, const Groups* g, int i, int dof, srmTwist t, double* a) {
  const int slot = g->e->slot_start[i];
  const double a_group = g->a[g->e->slot_group[slot]];
  double* u = s.u + 2 * dof;
  u[1] = column_times(s.U + 8 * dof, t) - u[0] + g->H[g->e->slot_axis[slot]] * a_group;
  a[dof] = g->e->ratio[dof] * a_group;
  t.w += v4_z(a[dof]);
  return t;
}

SRM_INLINE void acceleration_pass(const srModel* m, srData* d, Scratch s, const Groups* g, double* a) {
  const srmTwist none = {v4_zero(), v4_zero()};
  srm_twist_store(s.motion, none);
  accelerate_groups(g, slots_of(g->e, 0), none);
  for (int i = 1; i < m->nlink; i++) {
    const int dof = m->link_v[i];
    const double *X = d->link_X + 16 * i, *E = d->link_E + 12 * i;
    srmTwist t = srm_twist_to_child(m3_load(E), v4_load(X + 12), srm_twist_load(s.motion + 12 * m->link_parent[i]));
    if (g->e->plan[i] == SR_PLAN_PLAIN) {
      t = accelerate_simple(s, dof, t, a);
    } else if (g->e->plan[i] == SR_PLAN_MEMBER) {
      t = accelerate_member(s, g, i, dof, t, a);
    } else {
      t = accelerate(m, d, s, g, i, t, a);
    }
    srm_twist_store(s.motion + 12 * i, t);
  }
}

static void multipliers(const srModel* m, Scratch s, const struct srElimination* e, double* lambda) {
  double* tau = s.u + 1;
  for (const srTie* x = e->tie + e->ntie; x-- > e->tie;) {
    lambda[x->row] = tau[2 * x->dof[0]] / x->entry[0];
    tau[2 * x->dof[1]] -= x->entry[1] * lambda[x->row];
  }
  for (int i = 0; i < m->ndriver; i++) lambda[m->row_driver + i] = tau[2 * m->driver[i].dof];
}

// ------------------------------------------------------------------------------------------------------------- public
SRM_CLONES srStatus sr_aba_coupled(const srModel* m, srData* d, const double* q, const double* v, const double* f,
                                   double* a, double* lambda) {
  const Scratch s = scratch(m, d);
  const Groups g = groups_of(m, s);
  if (!sr_positions_known(m, d, q)) sr_transforms(m, d, q);
  bias_pass(m, d, s, v);
  if (!inertia_pass(m, d, s, &g, f)) return SR_FAILED;
  acceleration_pass(m, d, s, &g, a);
  multipliers(m, s, m->elimination, lambda);
  return SR_OK;
}
