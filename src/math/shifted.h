// Saddle-point systems of implicit Runge-Kutta stages, real or complex
//   [ K  -D^T ] [   x    ]   [ f ]        K (n x n, unsymmetric) complex or real, D and G (ng x nv) real, nv <= n
//   [ G    0  ] [ lambda ] = [ r ]
//
// D and G reach the first nv unknowns only: the others are states without constraints. A set of kept rows is chosen by the
// caller; the others are left out and get lambda = 0. Dense for small sizes, sparse where patterns are given and the size is
// worth it: then a complex system is solved as the real one of twice the size. Memory: as stated in math/saddle.h.
#ifndef SR_MATH_SHIFTED_H
#define SR_MATH_SHIFTED_H

#include "math/sparse.h"

typedef struct srmShiftedShape {
  int n, nv, ng;
  bool complex;
  const srmPattern* K;  // of the numbers of K, always given; full: the dense solver
  const srmPattern* G;  // NULL: dense, row-major (ng x nv). D has the pattern of G
  bool dense;           // where patterns would allow the sparse solver: the dense one all the same
} srmShiftedShape;

typedef struct srmShifted srmShifted;
srmShifted* srm_shifted_create(const srmShiftedShape* shape);  // patterns are copied; NULL: out of memory
void srm_shifted_destroy(srmShifted* s);
// K = re + i im by its pattern; im is NULL where the system is real. kept (ng): rows that count; NULL: all. False: singular
// to working precision.
bool srm_shifted_factor(srmShifted* s, const double* re, const double* im, const double* D, const double* G,
                        const unsigned char* kept);
// Real: f (n), r (ng) -> x (n), lambda (ng). Complex: each of twice the length, the imaginary parts behind the real ones.
// Entries of r in rows left out are not read. x may be f, lambda may be r.
void srm_shifted_solve(srmShifted* s, const double* f, const double* r, double* x, double* lambda);
bool srm_shifted_is_sparse(const srmShifted* s);

// P A = L U of a complex matrix (n x n, row-major, real and imaginary part of an entry adjacent) with partial
// pivoting. False when A is singular to the last bit.
bool srm_complex_lu(int n, double* A, int* pivot);
void srm_complex_lu_solve(int n, const double* LU, const int* pivot, double* x);  // x = A^-1 x, 2n numbers

#endif
