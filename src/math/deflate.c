// Eigenvalues that are 0, by rank and not by their size: rounding moves an eigenvalue of a Jordan block of k by eps^(1/k), which is 1e-8 for the
// displacement and the velocity of a rigid motion. The staircase algorithm: Golub and Wilkinson (1976), SIAM Review 18, section 11.
//
// The rows of A, the longest remainder first, are reflected to the left (Householder): A U = [* 0] with as many columns as the rank. The columns of U behind it
// are the null space, and U^T A U = [A1 0; X 0]. Again with A1, until it has full rank.
#include "math/deflate.h"

#include <math.h>
#include <stddef.h>

typedef struct Deflation {
  int n;
  double *A, *Q;
  double* W;     // reflections, a row each
  double* used;  // n: 1 for rows that are pivots
} Deflation;

static double* row_of(int n, double* A, int i) { return A + (size_t)i * (size_t)n; }

// The pivot: the row below `size` with the longest part in columns k .. size-1.
static int longest(const Deflation* x, int k, int size, double* length) {
  int best = 0;
  *length = -1.0;
  for (int i = 0; i < size; ++i) {
    double square = 0.0;
    if (x->used[i] > 0.0) continue;
    const double* a = row_of(x->n, x->A, i);
    for (int j = k; j < size; ++j) square += a[j] * a[j];
    if (sqrt(square) <= *length) continue;
    *length = sqrt(square);
    best = i;
  }
  return best;
}

// Reflects columns k .. size-1 of all rows of B.
static void reflect_columns(int n, double* B, const double* w, int k, int size) {
  for (int i = 0; i < n; ++i) {
    double *b = row_of(n, B, i), sum = 0.0;
    for (int j = k; j < size; ++j) sum += b[j] * w[j];
    for (int j = k; j < size && sum != 0.0; ++j) b[j] -= sum * w[j];
  }
}

static void reflect_rows(int n, double* B, const double* w, int k, int size, double* sum) {
  for (int j = 0; j < n; ++j) sum[j] = 0.0;
  for (int i = k; i < size; ++i) {
    for (int j = 0; j < n; ++j) sum[j] += w[i] * row_of(n, B, i)[j];
  }
  for (int i = k; i < size; ++i) {
    for (int j = 0; j < n; ++j) row_of(n, B, i)[j] -= w[i] * sum[j];
  }
}

// w with (1 - w w^T) a = -+|a| e_k over columns k .. size-1.
static void reflector(const double* a, int k, int size, double length, double* w) {
  const double head = a[k] < 0.0 ? a[k] - length : a[k] + length;
  double square = head * head;
  for (int j = k + 1; j < size; ++j) square += a[j] * a[j];
  for (int j = k; j < size; ++j) w[j] = (j == k ? head : a[j]) * sqrt(2.0 / square);
}

// One step on the leading block; returns its rank.
static int reduce(Deflation* x, int size, double least, double* sum) {
  const int n = x->n;
  int rank = 0;
  for (int i = 0; i < size; ++i) x->used[i] = 0.0;
  for (; rank < size; ++rank) {
    double length, *w = row_of(n, x->W, rank);
    const int pivot = longest(x, rank, size, &length);
    if (!(length > least)) break;
    reflector(row_of(n, x->A, pivot), rank, size, length, w);
    reflect_columns(n, x->A, w, rank, size);
    reflect_columns(n, x->Q, w, rank, size);
    x->used[pivot] = 1.0;
  }
  for (int i = 0; i < size; ++i) {
    for (int j = rank; j < size; ++j) row_of(n, x->A, i)[j] = 0.0;
  }
  for (int k = 0; k < rank; ++k) reflect_rows(n, x->A, row_of(n, x->W, k), k, size, sum);
  return rank;
}

int srm_deflate_zeros(int n, double* A, double* Q, int* level, double tolerance, double* work) {
  Deflation x = {.n = n, .A = A, .Q = Q, .W = work, .used = work + (size_t)n * (size_t)n};
  double most = 0.0, *sum = x.used + n;
  for (int i = 0; i < n; ++i) {
    x.used[i] = 0.0;
    level[i] = 0;
    for (int j = 0; j < n; ++j) row_of(n, Q, i)[j] = i == j ? 1.0 : 0.0;
  }
  (void)longest(&x, 0, n, &most);
  int size = n;
  for (int step = 1; size > 0; ++step) {
    const int rank = reduce(&x, size, tolerance * most, sum);
    if (rank == size) break;
    for (int i = rank; i < size; ++i) level[i] = step;
    size = rank;
  }
  return size;
}
