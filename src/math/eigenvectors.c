// Eigenvectors of a real Schur form T by substitution over its blocks of 1 and 2.         Golub and Van Loan (2013), section 7.6.4
//   (T_bb - lambda) x_b = 0;    (T_jj - lambda) x_j = -sum_{j < k <= b} T_jk x_k   for the blocks j above b; x = 0 below b
//   left ones the same with T^T, downwards
// Where T_jj has the same eigenvalue, the system is singular: its determinant is replaced by one of the size of a rounding error, and the
// vector turns towards that of block j. That is right for an eigenvalue that is defective, and harmless for one that is not.
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "math/eigen.h"

typedef struct Substitution {
  int n;
  const double* T;
  bool left;     // with T^T
  double small;  // rounding error of T
} Substitution;

static double entry(const Substitution* s, int i, int j) {
  return s->left ? s->T[(size_t)j * (size_t)s->n + (size_t)i] : s->T[(size_t)i * (size_t)s->n + (size_t)j];
}

// Rows of the block that row i is in: its first one; *size 1 or 2.
static int block_of(int n, const double* T, int i, int* size) {
  *size = 2;
  if (i > 0 && T[(size_t)i * (size_t)n + (size_t)i - 1] != 0.0) return i - 1;
  if (i + 1 < n && T[(size_t)(i + 1) * (size_t)n + (size_t)i] != 0.0) return i;
  *size = 1;
  return i;
}

// x of the block at f that belongs to its eigenvalue: the larger one of the two rows of its adjugate.
static void start(const Substitution* s, int f, int size, double complex lambda, double complex* x) {
  x[f] = 1.0;
  if (size == 1) return;
  const double a = entry(s, f, f), b = entry(s, f, f + 1), c = entry(s, f + 1, f), d = entry(s, f + 1, f + 1);
  const double complex u[2] = {b, lambda - a}, w[2] = {lambda - d, c};
  const double complex* z = cabs(u[0]) + cabs(u[1]) > cabs(w[0]) + cabs(w[1]) ? u : w;
  x[f] = z[0];
  x[f + 1] = z[1];
}

static double complex kept_away(double complex z, double least) { return cabs(z) > least ? z : least; }

// (T_ff - lambda) x = r in the block at f.
static void solve_block(const Substitution* s, int f, int size, double complex lambda, const double complex r[2],
                        double complex* x) {
  const double complex a = entry(s, f, f) - lambda;
  if (size == 1) {
    x[f] = r[0] / kept_away(a, s->small);
    return;
  }
  const double b = entry(s, f, f + 1), c = entry(s, f + 1, f);
  const double complex d = entry(s, f + 1, f + 1) - lambda;
  const double largest = fmax(fmax(cabs(a), cabs(d)), fmax(fabs(b), fabs(c)));
  const double complex det = kept_away(a * d - b * c, s->small * fmax(largest, s->small));
  x[f] = (d * r[0] - b * r[1]) / det;
  x[f + 1] = (a * r[1] - c * r[0]) / det;
}

// All blocks from the one before `first` upwards (left: from the one behind `last` downwards).
static void substitute(const Substitution* s, int first, int last, double complex lambda, double complex* x) {
  const int step = s->left ? 1 : -1;
  for (int i = s->left ? last + 1 : first - 1; i >= 0 && i < s->n;) {
    int size;
    const int f = block_of(s->n, s->T, i, &size);
    double complex r[2] = {0.0, 0.0};
    for (int k = 0; k < size; ++k) {
      for (int j = s->left ? first : f + size; s->left ? j < f : j <= last; ++j) r[k] -= entry(s, f + k, j) * x[j];
    }
    solve_block(s, f, size, lambda, r, x);
    i += step * size;
  }
}

static void put_unit(int n, double complex* x, int k, double complex* out) {
  double most = 0.0, sum = 0.0;
  for (int i = 0; i < n; ++i) most = fmax(most, cabs(x[i]));
  for (int i = 0; i < n; ++i) sum += pow(cabs(x[i] / most), 2.0);
  for (int i = 0; i < n; ++i) out[(size_t)i * (size_t)n + (size_t)k] = x[i] / most / sqrt(sum);
}

void srm_schur_vectors(int n, const double* T, const double* re, const double* im, double complex* x, double complex* y,
                       double complex* work) {
  double norm = 0.0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) norm = fmax(norm, fabs(T[i]));
  for (int k = 0; k < n; ++k) {
    int size;
    const int f = block_of(n, T, k, &size);
    const double complex lambda = re[k] + im[k] * (double complex)I;
    for (int left = 0; left < 2; ++left) {
      // y^H T = lambda y^H is T^T y = conj(lambda) y.
      const Substitution s = {n, T, left == 1, fmax(DBL_EPSILON * norm, DBL_MIN)};
      const double complex value = left ? conj(lambda) : lambda;
      for (int i = 0; i < n; ++i) work[i] = 0.0;
      start(&s, f, size, value, work);
      substitute(&s, f, f + size - 1, value, work);
      put_unit(n, work, k, left ? y : x);
    }
  }
}
