// Principal axes by Jacobi's rotations. The nearest physical tensor by the second moments of mass:
//
//   S = int r r^T dm = tr(J)/2 1 - J  is positive semidefinite for every body, and every such S is that of a body
//   (Wensing, Kim, Slotine, IEEE Robotics and Automation Letters 3, 2018). In principal axes that is the triangle
//   inequality, and no moment is negative. S with its negative eigenvalues set to 0 is the nearest such matrix in the
//   Frobenius norm (Higham, Linear Algebra and its Applications 103, 1988); then J = tr(S) 1 - S.
#include "math/inertia.h"

#include <math.h>
#include <string.h>

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
