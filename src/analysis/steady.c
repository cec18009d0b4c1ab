// Velocities that stay constant.                                                                          docs/theory/steady.md
//
// In a steady motion v is constant and the forces stay in balance, R(q(t), v) = 0. So their derivative along the motion vanishes:
//
//   (dR/dq) v = 0        v in the null space of dR/dq: sums of directions that no force is sensitive to (a wheel's angle, place and heading of a car)
//   C v = c              given speeds, drivers
//
// Independent velocities x (others follow from constraints): of all solutions the nearest to the ones before is taken, so that what no equation determines keeps its value. Rows of A = dR/dq are
// orthonormalized with pivoting, those of C after them against both; dependent rows must agree.
#include "analysis/steady.h"

#include <math.h>
#include <string.h>

#include "math/qr.h"

#define INDEPENDENT 1e-7  // length of what is left of a row of length 1

srSteady sr_steady(srPool* pool, int n, int nrow, int nc) {
  const size_t N = (size_t)n + 1, all = (size_t)(nrow + nc) + N;
  return (srSteady){.n = n,
                    .Z = sr_pool_alloc(pool, N * N * sizeof(double)),
                    .work = sr_pool_alloc(pool, all * N * sizeof(double)),
                    .basis = sr_pool_alloc(pool, (all + N) * N * sizeof(double)),
                    .L = sr_pool_alloc(pool, all * all * sizeof(double)),
                    .pivot = sr_pool_alloc(pool, all * sizeof(double)),
                    .rest = sr_pool_alloc(pool, all * sizeof(double)),
                    .order = sr_pool_alloc(pool, all * sizeof(int))};
}

static double dot(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// a minus its part in the span of the first k rows of the basis, twice; value: a . x of the solution so far goes with it. Returns the length left.
static double reduce(const srSteady* s, int k, double* a, double* value) {
  for (int twice = 0; twice < 2; ++twice) {
    for (int j = 0; j < k; ++j) {
      const double* b = s->basis + (size_t)j * (size_t)s->n;
      const double part = dot(s->n, b, a);
      for (int i = 0; i < s->n; ++i) a[i] -= part * b[i];
      if (value != NULL) *value -= part * s->rest[j];
    }
  }
  return sqrt(dot(s->n, a, a));
}

// Row a x = c behind the k rows of the basis. Returns their number then; *violation: of a row that depends on them.
static int add_row(srSteady* s, int k, const double* row, double c, double* violation) {
  double* a = s->basis + (size_t)k * (size_t)s->n;
  const double length = sqrt(dot(s->n, row, row));
  if (!(length > 0.0)) {
    *violation = fmax(*violation, fabs(c));
    return k;
  }
  for (int i = 0; i < s->n; ++i) a[i] = row[i] / length;
  c /= length;
  const double left = reduce(s, k, a, &c);
  if (k == s->n || !(left > INDEPENDENT)) {
    *violation = fmax(*violation, fabs(c));
    return k;
  }
  for (int i = 0; i < s->n; ++i) a[i] /= left;
  s->rest[k] = c / left;
  return k + 1;
}

// Unit vectors that complete the k rows of the basis, the one with the longest remainder first.
static void complete(srSteady* s, int k) {
  const int n = s->n;
  s->nz = n - k;
  for (int z = 0; k < n; ++k, ++z) {
    int best = 0;
    double most = -1.0;
    for (int i = 0; i < n; ++i) {
      double left = 1.0;
      for (int j = 0; j < k; ++j) left -= s->basis[j * n + i] * s->basis[j * n + i];
      if (left > most * 1.000001) best = i, most = left;
    }
    double* a = s->basis + (size_t)k * (size_t)n;
    memset(a, 0, (size_t)n * sizeof *a);
    a[best] = 1.0;
    const double left = reduce(s, k, a, NULL);
    for (int i = 0; i < n; ++i) s->Z[i * s->nz + z] = a[i] /= left;
  }
}

double sr_steady_project(srSteady* s, int nrow, const double* A, double tau, int nc, const double* C, const double* c,
                         double* x) {
  const int n = s->n;
  double longest = 0.0, violation = 0.0;
  for (int i = 0; i < nrow; ++i) longest = fmax(longest, sqrt(dot(n, A + i * n, A + i * n)));
  if (nrow > 0) memcpy(s->work, A, (size_t)nrow * (size_t)n * sizeof *A);
  int k = longest > 0.0 ? srm_row_qr(nrow, n, s->work, NULL, tau * longest, s->order, s->pivot, s->basis, s->L) : 0;
  for (int i = 0; i < k; ++i) s->rest[i] = 0.0;
  for (int i = 0; i < nc; ++i) k = add_row(s, k, C + i * n, c[i], &violation);
  for (int j = 0; j < k; ++j) {  // x += b_j (c_j - b_j x)
    const double* b = s->basis + (size_t)j * (size_t)n;
    const double by = s->rest[j] - dot(n, b, x);
    for (int i = 0; i < n; ++i) x[i] += by * b[i];
  }
  complete(s, k);
  return violation;
}
