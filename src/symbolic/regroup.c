// Inertia that moves with the parent as well is moved there, from the tips to the ground (base parameters: Gautier and Khalil 1990; Mayeda et al. 1990).
// Exact: M, c and the forces of joints stay; forces between links do not.
//
//   revolute    the part that is the same at all angles and has no moment about the axis: mass m, first moment (0, 0, hz),
//               inertia diag(Jyy, Jyy, 0). (hx, hy, 0), Jxx - Jyy, Jxy, Jxz, Jyz, Jzz stay
//   prismatic   the inertia about the moving origin
//   ball        the mass, at the origin
//   to the parent: h' = Q h + m p,   J' = Q J Q^T + 2 (p.k) 1 - p k^T - k p^T   with k = Q h + m p/2
// What arrives at the ground vanishes.
#include <string.h>

#include "symbolic/tree.h"

static void times(const double* Q, const double* x, double* out) {
  for (int i = 0; i < 3; i++) out[i] = Q[3 * i] * x[0] + Q[3 * i + 1] * x[1] + Q[3 * i + 2] * x[2];
}

void sr_sym_add_inertia(srSymLink* to, const double* Q, const double* p, double mass, const double* h,
                        const double* J) {
  double Qh[3], k[3], half[9];
  times(Q, h, Qh);
  for (int i = 0; i < 3; i++) {
    k[i] = Qh[i] + mass * p[i] / 2;
    times(J, Q + 3 * i, half + 3 * i);  // J symmetric: row i of Q J
  }
  const double pk = p[0] * k[0] + p[1] * k[1] + p[2] * k[2];
  for (int i = 0; i < 3; i++) {
    to->h[i] += Qh[i] + mass * p[i];
    for (int j = 0; j < 3; j++) {
      double x = (i == j ? 2 * pk : 0) - p[i] * k[j] - k[i] * p[j];
      for (int c = 0; c < 3; c++) x += half[3 * i + c] * Q[3 * j + c];
      to->J[3 * i + j] += x;
    }
  }
  to->mass += mass;
}

static void add_to(srSymLink* parent, const srSymLink* l, double mass, const double* h, const double* J) {
  sr_sym_add_inertia(parent, l->Q, l->p, mass, h, J);
}

void sr_sym_regroup(srSymTree* tree) {
  static const double none[9] = {0};
  for (int i = tree->n - 1; i > 0; i--) {
    srSymLink *l = &tree->link[i], *parent = &tree->link[l->parent];
    if (l->type == SR_LINK_REVOLUTE) {
      const double h[3] = {0, 0, l->h[2]}, J[9] = {l->J[4], 0, 0, 0, l->J[4], 0, 0, 0, 0};
      if (l->parent > 0) add_to(parent, l, l->mass, h, J);
      l->mass = l->h[2] = 0;
      l->J[0] -= l->J[4];
      l->J[4] = 0;
    } else if (l->type == SR_LINK_PRISMATIC) {
      if (l->parent > 0) add_to(parent, l, 0, none, l->J);
      memset(l->J, 0, sizeof l->J);
    } else if (l->type == SR_LINK_BALL) {
      if (l->parent > 0) add_to(parent, l, l->mass, none, none);
      l->mass = 0;
    }
  }
}
