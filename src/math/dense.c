// Small dense linear algebra. Golub and Van Loan (2013), sections 3.4 (LU), 4.2 (Cholesky) and 8.5 (Jacobi).
#include "math/dense.h"

#include <math.h>

#include "math/v4.h"

// One Jacobi rotation in the plane (p, q), so that A[p][q] becomes 0.
static void jacobi_rotate(double A[3][3], int p, int q) {
  if (A[p][q] == 0) return;
  const int r = 3 - p - q;
  const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  const double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;
  const double Apr = A[p][r], Aqr = A[q][r];
  A[p][p] -= t * A[p][q];
  A[q][q] += t * A[p][q];
  A[p][q] = A[q][p] = 0;
  A[p][r] = A[r][p] = c * Apr - s * Aqr;
  A[q][r] = A[r][q] = s * Apr + c * Aqr;
}

static void order(double* a, double* b) {
  if (*a <= *b) return;
  const double t = *a;
  *a = *b;
  *b = t;
}

void srm_eigen_sym3(const double J[9], double eigen[3]) {
  double A[3][3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[i][j] = 0.5 * (J[3 * i + j] + J[3 * j + i]);
  // Converges quadratically: four or five sweeps reach rounding, the rest is for nonfinite numbers.
  for (int sweep = 0; sweep < 12 && (A[0][1] != 0 || A[0][2] != 0 || A[1][2] != 0); sweep++) {
    jacobi_rotate(A, 0, 1);
    jacobi_rotate(A, 0, 2);
    jacobi_rotate(A, 1, 2);
  }
  for (int i = 0; i < 3; i++) eigen[i] = A[i][i];
  order(&eigen[0], &eigen[1]);
  order(&eigen[1], &eigen[2]);
  order(&eigen[0], &eigen[1]);
}

bool srm_cholesky(int n, double* A) {
  for (int i = 0; i < n; i++) {
    double* row = A + i * n;
    for (int j = 0; j <= i; j++) {
      const double* other = A + j * n;
      double sum = row[j];
      for (int k = 0; k < j; k++) sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        if (!(sum > 0)) return false;
        row[i] = sqrt(sum);
      }
    }
  }
  return true;
}

void srm_cholesky_solve(int n, const double* L, double* x) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    for (int k = 0; k < i; k++) x[k] -= L[i * n + k] * x[i];
  }
}

static void swap_rows(int n, double* a, double* b) {
  for (int k = 0; k < n; k++) {
    const double t = a[k];
    a[k] = b[k];
    b[k] = t;
  }
}

SRM_CLONES bool srm_lu(int n, double* A, int* pivot) {
  for (int j = 0; j < n; j++) {
    int best = j;
    for (int i = j + 1; i < n; i++)
      if (fabs(A[i * n + j]) > fabs(A[best * n + j])) best = i;
    pivot[j] = best;
    if (best != j) swap_rows(n, A + j * n, A + best * n);
    const double d = A[j * n + j];
    if (!(fabs(d) > 0)) return false;
    for (int i = j + 1; i < n; i++) {
      const double l = A[i * n + j] /= d;
      for (int k = j + 1; k < n; k++) A[i * n + k] -= l * A[j * n + k];
    }
  }
  return true;
}

void srm_lu_solve(int n, const double* LU, const int* pivot, double* x) {
  for (int i = 0; i < n; i++) {
    const double t = x[pivot[i]];
    x[pivot[i]] = x[i];
    x[i] = t;
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) x[i] -= LU[i * n + k] * x[k];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= LU[i * n + k] * x[k];
    x[i] /= LU[i * n + i];
  }
}
