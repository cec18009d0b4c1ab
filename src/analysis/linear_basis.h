// Motions that constraints allow, and coordinates that describe them.
#ifndef SR_ANALYSIS_LINEAR_BASIS_H
#define SR_ANALYSIS_LINEAR_BASIS_H

#include "base/base.h"

// Independent rows of a matrix over nv columns, orthonormalized:  row i / length_i = sum_j L_ij Q_j.
typedef struct srRowBasis {
  int nv, n;       // n: independent rows so far
  double *Q, *L;   // n x nv; n x n, stride nv + 1
  int* row;        // n: which rows they are
  double* length;  // n: their scale
} srRowBasis;
srRowBasis sr_row_basis(srPool* pool, int nv);
// Adds the rows first .. last-1 of G (nv columns) that are independent of those before them, with the scale and threshold of sr_rank_create.
void sr_row_basis_add(srRowBasis* b, const double* G, int ng, int first, int last);
// Least x with  G x = r  in the independent rows; r (of all rows), x (nv).
void sr_row_basis_solve(const srRowBasis* b, const double* r, double* work, double* x);
// Orthonormal basis of the vectors x with G x = 0: columns of Z, nv x (nv - n). Returns their number.
int sr_null_basis(srPool* pool, const srRowBasis* b, double** Z);

// Selects as many coordinates as Y (nj x n, full rank) has columns, so that their rows of Y are independent: by the largest diagonal of the
// projector on its columns, which depends on these motions alone. wish (nj): > 0 first, < 0 last. taken (nj): 1 for those that are
// selected before, and after return for all. False: the rank is lower.
bool sr_select_coordinates(srPool* pool, int nj, int n, const double* Y, const signed char* wish, unsigned char* taken);

#endif
