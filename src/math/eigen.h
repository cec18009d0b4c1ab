// Eigenvalues, Schur form and eigenvectors of a dense matrix without symmetry, row-major.
#ifndef SR_MATH_EIGEN_H
#define SR_MATH_EIGEN_H

#include <stdbool.h>

// All eigenvalues of A (n x n, row-major, destroyed) into re and im (n), in no order; conjugate pairs are adjacent. False:
// an entry is not finite, or the iteration did not converge.
bool srm_eigenvalues(int n, double* A, double* re, double* im);

// A <- D^-1 A D, D = diag(scale) of powers of two, which brings the norms of row and column k near each other. scale (n): NULL, not wanted.
void srm_balance(int n, double* A, double* scale);
// A = Q T Q^T with Q orthogonal (n x n). T, in place of A, is upper triangular but for blocks of two on its diagonal, which have
// an entry below the diagonal that is not 0. Eigenvalues in the order of the diagonal, a pair of a block adjacent. False: as above. A is not balanced before.
bool srm_schur(int n, double* A, double* Q, double* re, double* im);

// Eigenvectors of T of srm_schur, unit length, complex: n x n, column k of eigenvalue k. x: T x = lambda x; y: y^H T = lambda y^H. Of a defective
// eigenvalue vectors coincide but for rounding. work (n).
void srm_schur_vectors(int n, const double* T, const double* re, const double* im, double _Complex* x,
                       double _Complex* y, double _Complex* work);

#endif
