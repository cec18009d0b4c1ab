// Singular values of a small dense matrix.
#ifndef SR_MATH_SINGULAR_H
#define SR_MATH_SINGULAR_H

#include <stdbool.h>

// Singular values of A (rows x columns, rows >= columns, row-major, destroyed) into s (columns), descending. False: an entry is not finite, or
// the sweeps did not converge.
bool srm_singular_values(int rows, int columns, double* A, double* s);

#endif
