// Saddle-point systems of free bodies on a forest of joints:
//
//   [ M  -G^T ] [   x    ]   [ f ]        M block-diagonal with blocks of 6 columns (bodies); every row of G over one body or two,
//   [ G    0  ] [ lambda ] = [ r ]        and no loop in the graph of these pairs, the ground included
//
// by elimination of bodies and rows from the tips inwards: linear, without fill, without M^-1. Bodies without inertia are allowed where
// the rows carry them, so nothing needs to be refined.
#ifndef SR_MATH_SADDLE_TREE_H
#define SR_MATH_SADDLE_TREE_H

#include "math/saddle.h"

typedef struct srmTree srmTree;
// *out NULL: not of this kind. False: out of memory.
bool srm_tree_create(const srmSaddleShape* shape, srmTree** out);
void srm_tree_destroy(srmTree* tree);
// M NULL: the identity. kept (ng): rows in use. False: rows of a joint are too near to dependent on its outer body, or a motion
// has no inertia; other methods may still find a solution.
bool srm_tree_factor(srmTree* tree, const double* M, const double* G, const unsigned char* kept);
// After factor. f, r, lambda may be NULL.
void srm_tree_solve(srmTree* tree, const double* f, const double* r, double* x, double* lambda);
size_t srm_tree_fill(const srmTree* tree);  // entries of the factor

#endif
