// Row-pivoted modified Gram-Schmidt; the selected row is orthogonalised a second time ("twice is enough", Giraud and
// others 2005), so that the basis is orthogonal to rounding whatever the rows. Same pivots as the column-pivoted QR of A^T:
// Golub and Van Loan (2013), section 5.4.2.
#include "math/qr.h"

#include <math.h>
#include <string.h>

// Of equally good rows the first is selected, regardless of rounding.
#define MARGIN 1.01

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void subtract(int n, double factor, const double* q, double* a) {
  for (int i = 0; i < n; i++) a[i] -= factor * q[i];
}

// The row of largest remainder among order[k ..], the preferred ones first; -1 when none is above tau.
static int choose(int nrow, int k, const int* order, const double* rest, const unsigned char* first, double tau) {
  int best = -1;
  for (int pass = first != NULL ? 0 : 1; pass < 2 && best < 0; pass++) {
    for (int i = k; i < nrow; i++) {
      if (pass == 0 && first[order[i]] == 0) continue;
      if (rest[order[i]] > tau && (best < 0 || rest[order[i]] > MARGIN * rest[order[best]])) best = i;
    }
  }
  return best;
}

int srm_row_qr(int nrow, int ncol, double* A, const unsigned char* first, double tau, int* order, double* pivot,
               double* basis, double* L) {
  int rank = 0;
  for (int i = 0; i < nrow; i++) {
    order[i] = i;
    pivot[i] = sqrt(dot(ncol, A + i * ncol, A + i * ncol));
  }
  memset(L, 0, (size_t)nrow * (size_t)nrow * sizeof *L);
  while (rank < nrow && rank < ncol) {
    const int best = choose(nrow, rank, order, pivot, first, tau);
    if (best < 0) break;
    const int row = order[best];
    double *a = A + row * ncol, *q = basis + rank * ncol;
    for (int j = 0; j < rank; j++) {
      const double again = dot(ncol, basis + j * ncol, a);
      L[row * nrow + j] += again;
      subtract(ncol, again, basis + j * ncol, a);
    }
    pivot[row] = sqrt(dot(ncol, a, a));
    if (!(pivot[row] > tau)) continue;  // it was rounding; the next choice uses the remainder
    order[best] = order[rank];
    order[rank] = row;
    for (int i = 0; i < ncol; i++) q[i] = a[i] / pivot[row];
    L[row * nrow + rank] = pivot[row];
    for (int i = rank + 1; i < nrow; i++) {
      double* other = A + order[i] * ncol;
      const double part = dot(ncol, q, other);
      L[order[i] * nrow + rank] = part;
      subtract(ncol, part, q, other);
      pivot[order[i]] = sqrt(dot(ncol, other, other));
    }
    rank++;
  }
  return rank;
}
