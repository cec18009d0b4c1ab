// Saddle-point systems whose M is block-diagonal with small blocks, as for free bodies:
//
//   [ M  -G^T ] [   x    ]   [ f ]            S lambda = r - G M^-1 f,   S = G M^-1 G^T
//   [ G    0  ] [ lambda ] = [ r ]            x = M^-1 (f + G^T lambda)
//
// S couples rows that share a body. It is positive definite for any order of its rows: no pivoting, pattern and memory
// known beforehand, and a cost linear in the number of joints of a chain or tree.
#ifndef SR_MATH_SADDLE_BLOCKS_H
#define SR_MATH_SADDLE_BLOCKS_H

#include "math/saddle.h"

typedef struct srmBlocks srmBlocks;
// *out NULL: M is not of this kind, or S would have too many entries. False: out of memory.
bool srm_blocks_create(const srmSaddleShape* shape, srmBlocks** out);
// For srm_blocks_factor_rows only: each column separately, whatever M is.
bool srm_blocks_create_rows(const srmSaddleShape* shape, srmBlocks** out);
void srm_blocks_destroy(srmBlocks* blocks);
// M NULL: the identity. kept (ng): rows in use. False: S or M is too near to singular for this method; a factor of the whole
// matrix may still be possible.
bool srm_blocks_factor(srmBlocks* blocks, const double* M, const double* G, const unsigned char* kept);
// After factor, refined with the true matrix. f, r, lambda may be NULL. False: the refinement does not
// converge, and nothing is written.
bool srm_blocks_solve(srmBlocks* blocks, const double* f, const double* r, double* x, double* lambda);
void srm_blocks_solve_rows(srmBlocks* blocks, const double* r,
                           double* y);  // y = S^-1 r, without refinement; y may be r
// Least squares over rows that may depend on each other: S = G G^T + mu + 1e-12 of its largest diagonal. False: not finite.
bool srm_blocks_factor_rows(srmBlocks* blocks, const double* G, const unsigned char* kept, double mu);
size_t srm_blocks_fill(const srmBlocks* blocks);  // entries of the factor
// Smallest distance of a row from those before it in the factor, each relative to the largest length that it has had (longest: ng, raised).
double srm_blocks_distance(const srmBlocks* blocks, double* longest);
// The matrices that were factored: returns M (NULL: the identity), writes G with zeros in unused rows.
const double* srm_blocks_matrices(const srmBlocks* blocks, double* G);

#endif
