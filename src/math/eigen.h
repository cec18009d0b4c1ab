// Eigenvalues of a small dense matrix without symmetry.
#ifndef SR_MATH_EIGEN_H
#define SR_MATH_EIGEN_H

#include <stdbool.h>

// All eigenvalues of A (n x n, row-major, destroyed) into re and im (n), in no order; conjugate pairs are adjacent. False:
// an entry is not finite, or the iteration did not converge.
bool srm_eigenvalues(int n, double* A, double* re, double* im);

#endif
