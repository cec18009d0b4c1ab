// Singular values by one-sided Jacobi rotations: pairs of columns are rotated until all are orthogonal; their lengths are the values.
// Small ones have all their digits (Demmel and Veselic 1992), which the eigenvalues of A^T A have not. Golub and Van Loan (2013), section 8.6.3
#include "math/singular.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define MOST_SWEEPS 60

// Rotates columns i and j; true: they were not orthogonal.
static bool rotate(int rows, int columns, double* A, int i, int j) {
  double a = 0.0, b = 0.0, c = 0.0;
  for (int k = 0; k < rows; ++k) {
    const double x = A[(size_t)k * (size_t)columns + (size_t)i], y = A[(size_t)k * (size_t)columns + (size_t)j];
    a += x * x;
    b += y * y;
    c += x * y;
  }
  if (!(fabs(c) > DBL_EPSILON * sqrt(a * b))) return false;
  const double zeta = (b - a) / (2.0 * c), t = copysign(1.0 / (fabs(zeta) + hypot(1.0, zeta)), zeta);
  const double cosine = 1.0 / hypot(1.0, t), sine = cosine * t;
  for (int k = 0; k < rows; ++k) {
    double* row = A + (size_t)k * (size_t)columns;
    const double x = row[i], y = row[j];
    row[i] = cosine * x - sine * y;
    row[j] = sine * x + cosine * y;
  }
  return true;
}

static void lengths_descending(int rows, int columns, const double* A, double* s) {
  for (int j = 0; j < columns; ++j) {
    double sum = 0.0;
    for (int k = 0; k < rows; ++k) sum = hypot(sum, A[(size_t)k * (size_t)columns + (size_t)j]);
    int at = j;
    for (; at > 0 && s[at - 1] < sum; --at) s[at] = s[at - 1];
    s[at] = sum;
  }
}

bool srm_singular_values(int rows, int columns, double* A, double* s) {
  for (size_t k = 0; k < (size_t)rows * (size_t)columns; ++k) {
    if (!isfinite(A[k])) return false;
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < MOST_SWEEPS; ++sweep) {
    turned = false;
    for (int i = 0; i < columns; ++i) {
      for (int j = i + 1; j < columns; ++j) turned = rotate(rows, columns, A, i, j) || turned;
    }
  }
  lengths_descending(rows, columns, A, s);
  return !turned;
}
