// Principal axes by Jacobi's rotations. The nearest physical tensor by the second moments of mass:
//
//   S = int r r^T dm = tr(J)/2 1 - J  is positive semidefinite for every body, and every such S is that of a body
//   (Wensing, Kim, Slotine, IEEE Robotics and Automation Letters 3, 2018). In principal axes that is the triangle
//   inequality, and no moment is negative. S with its negative eigenvalues set to 0 is the nearest such matrix in the
//   Frobenius norm (Higham, Linear Algebra and its Applications 103, 1988); then J = tr(S) 1 - S.
#include "math/inertia.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

void srm_diagonal(double J[9], double xx, double yy, double zz) {
  memset(J, 0, 9 * sizeof *J);
  J[0] = xx;
  J[4] = yy;
  J[8] = zz;
}

void srm_symmetric(const double six[6], double J[9]) {
  srm_diagonal(J, six[0], six[1], six[2]);
  J[1] = J[3] = six[3];
  J[2] = J[6] = six[4];
  J[5] = J[7] = six[5];
}

void srm_add_parallel_axis(double J[9], double mass, const double r[3]) {
  const double rr = srm_dot3(r, r);
  for (int i = 0; i < 9; i++) J[i] += mass * ((i % 4 == 0 ? rr : 0) - r[i / 3] * r[i % 3]);
}

void srm_add_inertia(double* mass, double com[3], double J[9], double other, const double other_com[3],
                     const double other_J[9]) {
  const double total = *mass + other;
  double both[3], a[3], b[3];
  for (int k = 0; k < 3; k++) {
    both[k] = total > 0 ? (*mass * com[k] + other * other_com[k]) / total : com[k];
    a[k] = com[k] - both[k];
    b[k] = other_com[k] - both[k];
  }
  for (int k = 0; k < 9; k++) J[k] += other_J[k];
  srm_add_parallel_axis(J, *mass, a);
  srm_add_parallel_axis(J, other, b);
  memcpy(com, both, sizeof both);
  *mass = total;
}

void srm_principal(const double J[9], double V[9], double e[3]) {
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double A[9];
  memcpy(A, J, sizeof A);
  memcpy(V, one, sizeof one);
  for (int sweep = 0; sweep < 60; sweep++) {
    const int i = sweep % 3 == 2 ? 1 : 0, k = sweep % 3 == 0 ? 1 : 2;
    if (A[3 * i + k] == 0) continue;
    const double angle = 0.5 * atan2(2 * A[3 * i + k], A[4 * k] - A[4 * i]), c = cos(angle), s = sin(angle);
    for (int row = 0; row < 6; row++) {  // columns i and k of A, then of V
      double* x = row < 3 ? A + 3 * row : V + 3 * (row - 3);
      const double a = x[i], b = x[k];
      x[i] = c * a - s * b;
      x[k] = s * a + c * b;
    }
    for (int column = 0; column < 3; column++) {
      const double a = A[3 * i + column], b = A[3 * k + column];
      A[3 * i + column] = c * a - s * b;
      A[3 * k + column] = s * a + c * b;
    }
  }
  for (int i = 0; i < 3; i++) e[i] = A[4 * i];
}

double srm_nearest_inertia(const double J[9], double out[9]) {
  double V[9], e[3], s[3], sum = 0, change = 0;
  srm_principal(J, V, e);
  for (int k = 0; k < 3; k++) {
    s[k] = fmax(0.5 * (e[0] + e[1] + e[2]) - e[k], 0);
    sum += s[k];
  }
  memcpy(out, J, 9 * sizeof *out);
  for (int k = 0; k < 3; k++) {
    const double step = sum - s[k] - e[k];
    change += step * step;
    for (int i = 0; i < 9; i++) out[i] += step * V[3 * (i / 3) + k] * V[3 * (i % 3) + k];
  }
  return sqrt(change);
}
