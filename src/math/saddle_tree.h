// Saddle-point systems of free bodies on joints with few loops:
//
//   [ M  -G^T ] [   x    ]   [ f ]        M block-diagonal with blocks of 6 columns (bodies); every row of G over whole bodies
//   [ G    0  ] [ lambda ] = [ r ]
//
// by elimination of bodies and rows from the tips of a spanning forest of joints inwards: linear, without fill, without M^-1. Bodies without inertia are
// allowed where the rows of the forest carry them. Rows that close loops are added by a dense matrix of their number.
#ifndef SR_MATH_SADDLE_TREE_H
#define SR_MATH_SADDLE_TREE_H

#include "math/saddle.h"

typedef struct srmTree srmTree;
// *out NULL: not of this kind. False: out of memory. The patterns of the shape must live as long as the tree.
bool srm_tree_create(const srmSaddleShape* shape, srmTree** out);
void srm_tree_destroy(srmTree* tree);
// M NULL: the identity. kept (ng): rows in use. False: too many of them close loops, rows are too near to dependent (on the outer body of a
// joint, or those of loops), or a motion of the forest has no inertia; other methods may still find a solution.
bool srm_tree_factor(srmTree* tree, const double* M, const double* G, const unsigned char* kept);
// After factor. f, r, lambda may be NULL.
void srm_tree_solve(srmTree* tree, const double* f, const double* r, double* x, double* lambda);
size_t srm_tree_fill(const srmTree* tree);  // entries of the factor

#endif
