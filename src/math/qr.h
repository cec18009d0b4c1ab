// Orthogonal bases of a set of rows, selected one by one: which rows are independent, and how much.
#ifndef SR_MATH_QR_H
#define SR_MATH_QR_H

#include <stdbool.h>

// Row-pivoted Gram-Schmidt of the rows of A (nrow x ncol, row-major, destroyed):  A[order[k]] = sum_{j<=k} L[order[k]][j] Q[j].
// In each step the row with the largest distance from the span of those before is selected; rows with first[i] != 0 are
// selected before the others (first may be NULL). Stops when no distance is above tau: that many rows are independent, and
// their number is returned. The others follow in order; their L holds their part in the span.
//   order (nrow)           pivot (nrow, by row): distance when selected, or the remainder
//   Q in the first rows of `basis` (nrow x ncol), L (nrow x nrow, row-major, by row of A)
int srm_row_qr(int nrow, int ncol, double* A, const unsigned char* first, double tau, int* order, double* pivot,
               double* basis, double* L);

#endif
