// Motions that constraints allow, and coordinates that describe them.
//
// Rows, scaled as in constraint/rank.c, are orthonormalized in order (Gram-Schmidt, twice is enough); a row nearer than SR_RANK_TAU to the span of
// those before it is redundant. The null space is completed by unit vectors, the one with the largest remainder first.
// Independent coordinates: Y's columns span the allowed motions of the coordinates. With Y orthonormal the largest diagonal of P = Y Y^T, repeatedly, after
// elimination of what is selected (Cholesky with diagonal pivoting), depends on the space alone: both formulations select the same.
#include "analysis/linear_basis.h"

#include <math.h>
#include <string.h>

#include "constraint/constraint.h"

#define SHORTEST 1e-2   // part of the longest row below which a row is not scaled up, as in constraint/rank.c
#define WISHED 1e-2     // remaining length from which a requested coordinate is selected
#define TIE 1e-6        // relative difference of diagonals that are equal: the first one is selected
#define DEPENDENT 1e-9  // remaining length below which the columns are dependent

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double* reals(srPool* pool, size_t n) { return sr_pool_alloc(pool, (n + 1) * sizeof(double)); }

srRowBasis sr_row_basis(srPool* pool, int nv) {
  const size_t n = (size_t)nv + 1;
  srRowBasis b = {.nv = nv, .Q = reals(pool, n * n), .L = reals(pool, n * n), .length = reals(pool, n)};
  b.row = sr_pool_alloc(pool, n * sizeof *b.row);
  return b;
}

static double* q_of(const srRowBasis* b, int j) { return b->Q + (size_t)j * (size_t)b->nv; }
static double* l_of(const srRowBasis* b, int j) { return b->L + (size_t)j * (size_t)(b->nv + 1); }

// x minus its part in the span of the n rows of Q, which is added to l (NULL: not wanted). Returns the remaining length.
static double reduce(int nv, int n, const double* Q, double* x, double* l) {
  for (int twice = 0; twice < 2; twice++) {
    for (int j = 0; j < n; j++) {
      const double* q = Q + (size_t)j * (size_t)nv;
      const double part = dot(nv, q, x);
      if (l) l[j] += part;
      for (int i = 0; i < nv; i++) x[i] -= part * q[i];
    }
  }
  return sqrt(dot(nv, x, x));
}

void sr_row_basis_add(srRowBasis* b, const double* G, int ng, int first, int last) {
  const int nv = b->nv;
  double longest = 0;
  for (int i = 0; i < ng; i++)
    longest = fmax(longest, sqrt(dot(nv, G + (size_t)i * (size_t)nv, G + (size_t)i * (size_t)nv)));
  for (int i = first; i < last && b->n < nv; i++) {
    const double* row = G + (size_t)i * (size_t)nv;
    const double length = fmax(sqrt(dot(nv, row, row)), SHORTEST * longest);
    double *q = q_of(b, b->n), *l = l_of(b, b->n);
    if (!(length > 0)) continue;
    for (int k = 0; k < nv; k++) q[k] = row[k] / length;
    memset(l, 0, (size_t)(b->n + 1) * sizeof *l);
    const double distance = reduce(nv, b->n, b->Q, q, l);
    if (!(distance > SR_RANK_TAU)) continue;
    for (int k = 0; k < nv; k++) q[k] /= distance;
    l[b->n] = distance;
    b->length[b->n] = length;
    b->row[b->n++] = i;
  }
}

void sr_row_basis_solve(const srRowBasis* b, const double* r, double* work, double* x) {
  memset(x, 0, (size_t)b->nv * sizeof *x);
  for (int j = 0; j < b->n; j++) {
    const double* l = l_of(b, j);
    work[j] = (r[b->row[j]] / b->length[j] - dot(j, l, work)) / l[j];
    for (int k = 0; k < b->nv; k++) x[k] += work[j] * q_of(b, j)[k];
  }
}

int sr_null_basis(srPool* pool, const srRowBasis* b, double** Z) {
  const int nv = b->nv, nz = nv - b->n;
  double* rest = reals(pool, (size_t)nv);
  for (int j = 0; j < nv; j++) rest[j] = 1;
  for (int k = 0; k < b->n; k++) {
    for (int j = 0; j < nv; j++) rest[j] -= q_of(b, k)[j] * q_of(b, k)[j];
  }
  double* all = reals(pool, (size_t)nv * (size_t)nv);
  memcpy(all, b->Q, (size_t)b->n * (size_t)nv * sizeof *all);
  *Z = reals(pool, (size_t)nv * (size_t)nz);
  for (int k = b->n; k < nv; k++) {
    int best = 0;
    for (int j = 1; j < nv; j++) best = rest[j] > rest[best] * (1 + TIE) ? j : best;
    double* z = all + (size_t)k * (size_t)nv;
    z[best] = 1;
    const double length = reduce(nv, k, all, z, NULL);
    for (int j = 0; j < nv; j++) {
      z[j] /= length;
      rest[j] -= z[j] * z[j];
      (*Z)[(size_t)j * (size_t)nz + (size_t)(k - b->n)] = z[j];
    }
    rest[best] = 0;
  }
  return nz;
}

// ---- selection of coordinates -----------------------------------------------------------------------------------------

// Orthonormal columns in place (nj x n). False: they are dependent.
static bool orthonormalize(srPool* pool, int nj, int n, double* Y) {
  double *Q = reals(pool, (size_t)n * (size_t)nj), *x = NULL;
  for (int k = 0; k < n; k++) {
    x = Q + (size_t)k * (size_t)nj;
    for (int i = 0; i < nj; i++) x[i] = Y[(size_t)i * (size_t)n + (size_t)k];
    const double before = sqrt(dot(nj, x, x)), length = reduce(nj, k, Q, x, NULL);
    if (!(length > DEPENDENT * before) || !(before > 0)) return false;
    for (int i = 0; i < nj; i++) Y[(size_t)i * (size_t)n + (size_t)k] = x[i] /= length;
  }
  return true;
}

// Row u of Y is selected: the others lose their part along it.
static void eliminate(int nj, int n, double* Y, int u, double* unit) {
  double* y = Y + (size_t)u * (size_t)n;
  const double length = sqrt(dot(n, y, y));
  for (int k = 0; k < n; k++) unit[k] = y[k] / length;
  for (int i = 0; i < nj; i++) {
    double* row = Y + (size_t)i * (size_t)n;
    const double part = dot(n, row, unit);
    for (int k = 0; k < n; k++) row[k] -= part * unit[k];
  }
  memset(y, 0, (size_t)n * sizeof *y);
}

// The longest row among those whose wish is at least this; *size: its length.
static int longest_row(int nj, int n, const double* Y, const signed char* wish, int least, const unsigned char* taken,
                       double* size) {
  int best = -1;
  double most = 0;
  for (int i = 0; i < nj; i++) {
    if (taken[i] || wish[i] < least) continue;
    const double* row = Y + (size_t)i * (size_t)n;
    const double square = dot(n, row, row);
    if (square <= most * (1 + TIE)) continue;
    most = square;
    best = i;
  }
  *size = sqrt(most);
  return best;
}

bool sr_select_coordinates(srPool* pool, int nj, int n, const double* Y, const signed char* wish,
                           unsigned char* taken) {
  double *work = reals(pool, (size_t)nj * (size_t)n), *unit = reals(pool, (size_t)n);
  int count = 0;
  memcpy(work, Y, (size_t)nj * (size_t)n * sizeof *work);
  if (!orthonormalize(pool, nj, n, work)) return false;
  for (int i = 0; i < nj; i++) {
    if (!taken[i]) continue;
    eliminate(nj, n, work, i, unit);
    count++;
  }
  for (; count < n; count++) {
    int best = -1;
    double size = 0;
    for (int least = 1; least >= -1 && (best < 0 || size < WISHED); least--)
      best = longest_row(nj, n, work, wish, least, taken, &size);
    if (best < 0 || !(size > DEPENDENT)) return false;
    taken[best] = 1;
    eliminate(nj, n, work, best, unit);
  }
  return true;
}
