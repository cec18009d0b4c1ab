// The inertia that a force along an axis of a tree feels while all others are free to move, 1/(M^-1)_ii, which MuJoCo
// calls the inverse of dof_invweight0. In a time that grows with the number of axes: articulated inertias A from the tips
// inwards, with U = A s, D = s.U + armature, k = U/D, A_parent += A - U U^T/D; then from the ground outwards the response W
// of a body to a force on it. A unit force along the axis pushes its parent by -k, so that
//   (M^-1)_ii = 1/D + k.W_parent k,   W = s s^T/D + (1 - s k^T) W_parent (1 - s k^T)^T
// Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 7.3 (articulated bodies); the second pass is the
// same equations for a force on one body.
#include "io/mjcf/felt.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

void sr_mjcf_axis_turn(srMjcfAxis* axis, const double direction[3], const double at[3]) {
  memcpy(axis->s, direction, 3 * sizeof *axis->s);
  srm_cross3(at, direction, axis->s + 3);
}

void sr_mjcf_axis_shift(srMjcfAxis* axis, const double direction[3]) {
  memset(axis->s, 0, 3 * sizeof *axis->s);
  memcpy(axis->s + 3, direction, 3 * sizeof *axis->s);
}

void sr_mjcf_axis_load(srMjcfAxis* axis, double m, const double h[3], const double I[9]) {
  const double cross[9] = {0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      axis->A[6 * i + k] += I[3 * i + k];
      axis->A[6 * i + 3 + k] += cross[3 * i + k];
      axis->A[6 * (3 + i) + k] -= cross[3 * i + k];
      axis->A[6 * (3 + i) + 3 + k] += i == k ? m : 0;
    }
}

static double dot(const double a[6], const double b[6]) {
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += a[k] * b[k];
  return sum;
}

// An axis without inertia holds: D = 0.
static void inwards(srMjcfAxis* axes, srMjcfAxis* x) {
  for (int k = 0; k < 6; k++) x->U[k] = dot(x->A + 6 * k, x->s);
  x->D = dot(x->s, x->U) + x->armature;
  if (!(x->D > 0)) x->D = 0;
  if (x->parent < 0) return;
  double* A = axes[x->parent].A;
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) A[6 * i + k] += x->A[6 * i + k] - (x->D > 0 ? x->U[i] * x->U[k] / x->D : 0);
}

// A becomes the response W. Returns (M^-1)_ii.
static double outwards(const srMjcfAxis* axes, srMjcfAxis* x) {
  static const double ground[36];
  const double* P = x->parent < 0 ? ground : axes[x->parent].A;
  double Pk[6], kPk = 0;
  memcpy(x->A, P, sizeof x->A);
  if (!(x->D > 0)) return (double)NAN;
  for (int i = 0; i < 6; i++) Pk[i] = dot(P + 6 * i, x->U) / x->D;
  for (int i = 0; i < 6; i++) kPk += x->U[i] / x->D * Pk[i];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      x->A[6 * i + k] += x->s[i] * x->s[k] * (1 / x->D + kPk) - x->s[i] * Pk[k] - Pk[i] * x->s[k];
  return 1 / x->D + kPk;
}

void sr_mjcf_felt(int n, srMjcfAxis* axes, double* felt) {
  for (int i = n - 1; i >= 0; i--) inwards(axes, &axes[i]);
  for (int i = 0; i < n; i++) felt[i] = 1 / outwards(axes, &axes[i]);
}
