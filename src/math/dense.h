// Small dense linear algebra, row-major, in place. For n of a few dozen; no blocking, no allocation.
#ifndef SR_MATH_DENSE_H
#define SR_MATH_DENSE_H

#include <stdbool.h>

// Eigenvalues of a symmetric 3 x 3 matrix, ascending. Cyclic Jacobi: small ones are exact to rounding of the largest.
void srm_eigen_sym3(const double J[9], double eigen[3]);

// A = L L^T: L overwrites the lower triangle, the upper one is neither read nor written. False when A is not
// positive definite.
bool srm_cholesky(int n, double* A);
void srm_cholesky_solve(int n, const double* L, double* x);  // x = A^-1 x

// P A = L U with partial pivoting, pivot[n] the pivot rows. False when A is singular to the last bit.
bool srm_lu(int n, double* A, int* pivot);
void srm_lu_solve(int n, const double* LU, const int* pivot, double* x);  // x = A^-1 x

#endif
