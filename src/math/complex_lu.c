// LU of a small dense complex matrix, row-major, in place. Golub and Van Loan (2013), section 3.4. Written in real numbers: the
// product of complex types checks for infinities at every step.
#include <math.h>
#include <stddef.h>

#include "math/shifted.h"

static double* entry(double* A, int n, int i, int j) { return A + 2 * ((size_t)i * (size_t)n + (size_t)j); }

static void swap_rows(int n, double* a, double* b) {
  for (int k = 0; k < 2 * n; ++k) {
    const double t = a[k];
    a[k] = b[k];
    b[k] = t;
  }
}

// to -= l * from, count entries.
static void subtract_row(int count, const double l[2], const double* from, double* to) {
  for (int k = 0; k < 2 * count; k += 2) {
    to[k] -= l[0] * from[k] - l[1] * from[k + 1];
    to[k + 1] -= l[0] * from[k + 1] + l[1] * from[k];
  }
}

// a / b. Entries are scaled to size 1 by the callers: no overflow to guard against.
static void divide(double a[2], const double b[2]) {
  const double size = b[0] * b[0] + b[1] * b[1], re = a[0] * b[0] + a[1] * b[1], im = a[1] * b[0] - a[0] * b[1];
  a[0] = re / size;
  a[1] = im / size;
}

bool srm_complex_lu(int n, double* A, int* pivot) {
  for (int j = 0; j < n; ++j) {
    double most = 0;
    int best = j;
    for (int i = j; i < n; ++i) {
      const double* a = entry(A, n, i, j);
      const double size = fabs(a[0]) + fabs(a[1]);
      if (size > most) {
        most = size;
        best = i;
      }
    }
    pivot[j] = best;
    if (!(most > 0)) return false;
    if (best != j) swap_rows(n, entry(A, n, j, 0), entry(A, n, best, 0));
    for (int i = j + 1; i < n; ++i) {
      double* l = entry(A, n, i, j);
      if (l[0] == 0 && l[1] == 0) continue;
      divide(l, entry(A, n, j, j));
      if (j + 1 < n) subtract_row(n - j - 1, l, entry(A, n, j, j + 1), entry(A, n, i, j + 1));
    }
  }
  return true;
}

// x_i -= a x_k
static void subtract(const double* a, const double* xk, double* xi) {
  xi[0] -= a[0] * xk[0] - a[1] * xk[1];
  xi[1] -= a[0] * xk[1] + a[1] * xk[0];
}

void srm_complex_lu_solve(int n, const double* LU, const int* pivot, double* x) {
  for (int i = 0; i < n; ++i) {
    if (pivot[i] != i) swap_rows(1, x + 2 * i, x + 2 * pivot[i]);
  }
  for (int i = 0; i < n; ++i) {
    const double* row = LU + 2 * (size_t)i * (size_t)n;
    for (int k = 0; k < i; ++k) subtract(row + 2 * k, x + 2 * k, x + 2 * i);
  }
  for (int i = n - 1; i >= 0; --i) {
    const double* row = LU + 2 * (size_t)i * (size_t)n;
    for (int k = i + 1; k < n; ++k) subtract(row + 2 * k, x + 2 * k, x + 2 * i);
    divide(x + 2 * i, row + 2 * i);
  }
}
