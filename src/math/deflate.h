// Eigenvalues that are 0, by rank.
#ifndef SR_MATH_DEFLATE_H
#define SR_MATH_DEFLATE_H

// Q^T A Q = [A1 0; X N], Q orthogonal, A1 (r x r) regular, N nilpotent and strictly lower triangular in blocks: the eigenvalue 0 has the multiplicity n - r.
// A and Q: n x n, row-major; Q is written. level (n): 0 for the rows of A1, else the least k with (Q^T A Q)^k e_i = 0: those of level 1
// are eigenvectors. Returns r. tolerance: length of a row, relative to the longest one, up to which it is 0. work: n x n + 3 n.
int srm_deflate_zeros(int n, double* A, double* Q, int* level, double tolerance, double* work);

#endif
