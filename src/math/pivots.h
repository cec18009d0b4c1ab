// Dependent and independent columns of a set of rows, by LU with pivoting.
#ifndef SR_MATH_PIVOTS_H
#define SR_MATH_PIVOTS_H

#include <stdbool.h>

// Which pivots LU takes. All memory is the caller's.
typedef struct srmPivots {
  int nrow, ncol;
  double* A;                // nrow x ncol, row-major: rows scaled to length 1, destroyed
  const signed char* role;  // ncol: < 0 rather a pivot, 1 rather none, SRM_NEVER: none at all; NULL: no wishes
  bool by_rows;             // column pivoting: the rows in their order, in each its largest entry. Else full pivoting
  int *row, *column;        // nrow, ncol: those of the pivots first, then the others
  double smallest;          // pivot
} srmPivots;

#define SRM_NEVER 2
#define SRM_PIVOT_TAU 1e-7  // pivot of a scaled row below which it is redundant

void srm_pivots_begin(srmPivots* p);  // row, column, smallest
// Pivots from the rows k .. last-1 of the order, after k pivots; the rows without one follow. Returns the number of pivots, k included.
int srm_pivots_take(srmPivots* p, int k, int last);
// Pivots of the first np rows, then of the others; *first: the number of the former. Returns the rank.
int srm_pivots_choose(srmPivots* p, int np, int* first);

#endif
