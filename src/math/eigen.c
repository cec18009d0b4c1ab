// Eigenvalues by the QR iteration with implicit double shifts, in real numbers. Golub and Van Loan (2013), section 7.5
// (Hessenberg form 7.5.1, Francis step 7.5.6); balancing: Parlett and Reinsch (1969), by powers of two, so that it is exact.
//   D^-1 A D  ->  H = Q^T A Q (Hessenberg)  ->  blocks of 1 and 2 on the diagonal
// Eigenvalues only: transformations act on the active block and nothing else. Schur form: on all of the matrix, and on Q.
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define MOST_SWEEPS 60      // for one eigenvalue
#define PATIENT 30          // after so many, entries within the rounding of the whole matrix are negligible
#define EXCEPTIONAL 11      // every so many sweeps an exceptional shift
#define MOST_BALANCES 20    // rounds
#define WORTH_SCALING 0.95  // of the sum of both norms: less is a gain

static double* at(double* A, int n, int i, int j) { return A + (size_t)i * (size_t)n + (size_t)j; }

// ---- balancing --------------------------------------------------------------------------------------------------------

static void norms_beside(int n, double* A, int k, double* row, double* column) {
  *row = *column = 0.0;
  for (int i = 0; i < n; ++i) {
    if (i == k) continue;
    *row += fabs(*at(A, n, k, i));
    *column += fabs(*at(A, n, i, k));
  }
}

// Scales row and column k so that their norms come near each other; true: it was worth it.
static bool balance_one(int n, double* A, int k, double* scale) {
  double row, column;
  norms_beside(n, A, k, &row, &column);
  if (!(row > 0.0 && column > 0.0)) return false;
  const int power = (int)lround(0.5 * log2(row / column));
  const double f = ldexp(1.0, power);
  if (power == 0 || !(column * f + row / f < WORTH_SCALING * (column + row))) return false;
  for (int i = 0; i < n; ++i) *at(A, n, i, k) *= f;
  for (int i = 0; i < n; ++i) *at(A, n, k, i) /= f;
  if (scale != NULL) scale[k] *= f;
  return true;
}

void srm_balance(int n, double* A, double* scale) {
  bool changed = true;
  for (int k = 0; scale != NULL && k < n; ++k) scale[k] = 1.0;
  for (int round = 0; changed && round < MOST_BALANCES; ++round) {
    changed = false;
    for (int k = 0; k < n; ++k) changed = balance_one(n, A, k, scale) || changed;
  }
}

// ---- reflections --------------------------------------------------------------------------------------------------------

// w with (I - w w^T) x = +-|x| e_1, |w|^2 = 2; false: x is zero after its first entry.
static bool reflector(int n, const double* x, double* w) {
  double most = 0.0, sum = 0.0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
  if (!(most > 0.0)) return false;
  for (int i = 0; i < n; ++i) {
    w[i] = x[i] / most;
    sum += w[i] * w[i];
  }
  const double length = sqrt(sum), head = w[0] < 0.0 ? w[0] - length : w[0] + length;
  const double scale = sqrt(2.0 / (sum - w[0] * w[0] + head * head));
  w[0] = head;
  for (int i = 0; i < n; ++i) w[i] *= scale;
  return true;
}

// Rows first .. first+k-1 of the columns from .. to.
static void reflect_rows(int n, double* A, int k, const double* w, int first, int from, int to) {
  for (int j = from; j <= to; ++j) {
    double sum = 0.0;
    for (int i = 0; i < k; ++i) sum += w[i] * *at(A, n, first + i, j);
    for (int i = 0; i < k; ++i) *at(A, n, first + i, j) -= sum * w[i];
  }
}

static void reflect_columns(int n, double* A, int k, const double* w, int first, int from, int to) {
  for (int j = from; j <= to; ++j) {
    double sum = 0.0;
    for (int i = 0; i < k; ++i) sum += w[i] * *at(A, n, j, first + i);
    for (int i = 0; i < k; ++i) *at(A, n, j, first + i) -= sum * w[i];
  }
}

// x, w: scratch (n). Q: NULL, or multiplied by the reflections.
static void to_hessenberg(int n, double* A, double* Q, double* x, double* w) {
  for (int k = 0; k + 2 < n; ++k) {
    const int size = n - k - 1;
    for (int i = 0; i < size; ++i) x[i] = *at(A, n, k + 1 + i, k);
    if (!reflector(size, x, w)) continue;
    reflect_rows(n, A, size, w, k + 1, k, n - 1);
    reflect_columns(n, A, size, w, k + 1, 0, n - 1);
    if (Q != NULL) reflect_columns(n, Q, size, w, k + 1, 0, n - 1);
    for (int i = k + 2; i < n; ++i) *at(A, n, i, k) = 0.0;
  }
}

// ---- iteration ----------------------------------------------------------------------------------------------------------

// One double step on the active block lo .. hi, three rows or more. sum, product: of the two shifts.
static void francis_step(int n, double* H, double* Q, int lo, int hi, double sum, double product) {
  const double h00 = *at(H, n, lo, lo), h10 = *at(H, n, lo + 1, lo), h11 = *at(H, n, lo + 1, lo + 1);
  double x[3] = {h00 * h00 + *at(H, n, lo, lo + 1) * h10 - sum * h00 + product, h10 * (h00 + h11 - sum),
                 h10 * *at(H, n, lo + 2, lo + 1)};
  double w[3];
  for (int k = lo; k < hi; ++k) {
    const int size = k + 2 <= hi ? 3 : 2;
    if (reflector(size, x, w)) {
      reflect_rows(n, H, size, w, k, k > lo ? k - 1 : lo, Q != NULL ? n - 1 : hi);
      reflect_columns(n, H, size, w, k, Q != NULL ? 0 : lo, k + 3 < hi ? k + 3 : hi);
      if (Q != NULL) reflect_columns(n, Q, size, w, k, 0, n - 1);
    }
    for (int i = 1; k > lo && i < size; ++i) *at(H, n, k + i, k - 1) = 0.0;  // annihilated by the reflection
    for (int i = 0; i < 3; ++i) x[i] = k + 1 + i <= hi ? *at(H, n, k + 1 + i, k) : 0.0;
  }
}

// Eigenvalues of [a b; c d].
static void solve_two(double a, double b, double c, double d, double* re, double* im) {
  const double half = 0.5 * (a - d), middle = 0.5 * (a + d), p = half * half + b * c;
  if (p < 0.0) {
    re[0] = re[1] = middle;
    im[0] = sqrt(-p);
    im[1] = -im[0];
    return;
  }
  const double root = half < 0.0 ? half - sqrt(p) : half + sqrt(p);
  re[0] = d + root;
  re[1] = root != 0.0 ? d - b * c / root : d;  // without cancellation: the product is -b c
  im[0] = im[1] = 0.0;
}

// First row of the block that ends at hi: the entry left of it is negligible compared with its neighbours, or with `size`.
static int find_block(int n, double* H, int hi, double size) {
  int lo = hi;
  for (; lo > 0; --lo) {
    const double beside = fabs(*at(H, n, lo - 1, lo - 1)) + fabs(*at(H, n, lo, lo));
    if (fabs(*at(H, n, lo, lo - 1)) > DBL_EPSILON * fmax(beside, size)) continue;
    *at(H, n, lo, lo - 1) = 0.0;
    break;
  }
  return lo;
}

static void sweep(int n, double* H, double* Q, int lo, int hi, int count) {
  const double a = *at(H, n, hi - 1, hi - 1), b = *at(H, n, hi - 1, hi), c = *at(H, n, hi, hi - 1),
               d = *at(H, n, hi, hi);
  double sum = a + d, product = a * d - b * c;
  if (count % EXCEPTIONAL == 0) {
    const double size = fabs(c) + fabs(*at(H, n, hi - 1, hi - 2));
    sum = 1.5 * size;
    product = size * size;
  }
  francis_step(n, H, Q, lo, hi, sum, product);
}

static bool is_finite(int n, const double* A) {
  for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) {
    if (!isfinite(A[i])) return false;
  }
  return true;
}

static double norm(int n, const double* A) {
  double sum = 0.0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) sum += A[i] * A[i];
  return sqrt(sum);
}

// A: in Hessenberg form. Of a multiple eigenvalue that is small compared with others the entries below the diagonal may stay at the rounding of those.
static bool iterate(int n, double* A, double* Q, double* re, double* im) {
  const double size = norm(n, A);
  for (int hi = n - 1, sweeps = 0; hi >= 0;) {
    const int lo = find_block(n, A, hi, sweeps > PATIENT ? size : 0.0);
    if (lo == hi) {
      re[hi] = *at(A, n, hi, hi);
      im[hi] = 0.0;
      hi -= 1;
      sweeps = 0;
    } else if (lo == hi - 1) {
      solve_two(*at(A, n, lo, lo), *at(A, n, lo, hi), *at(A, n, hi, lo), *at(A, n, hi, hi), re + lo, im + lo);
      hi -= 2;
      sweeps = 0;
    } else if (++sweeps <= MOST_SWEEPS) {
      sweep(n, A, Q, lo, hi, sweeps);
    } else {
      return false;
    }
  }
  return true;
}

bool srm_eigenvalues(int n, double* A, double* re, double* im) {
  if (!is_finite(n, A)) return false;
  srm_balance(n, A, NULL);
  to_hessenberg(n, A, NULL, re, im);
  return iterate(n, A, NULL, re, im);
}

bool srm_schur(int n, double* A, double* Q, double* re, double* im) {
  if (!is_finite(n, A)) return false;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) *at(Q, n, i, j) = i == j ? 1.0 : 0.0;
  }
  to_hessenberg(n, A, Q, re, im);
  return iterate(n, A, Q, re, im);
}
