// Linear systems of the motion of a tree, solved by recursion: tree_tangent.c.
#ifndef SR_DYNAMICS_TREE_TANGENT_H
#define SR_DYNAMICS_TREE_TANGENT_H

#include <sarrus/model.h>

enum { SR_TREE_BLOCK = 32 };  // largest number of unknowns of a block

// Unknowns that are eliminated together: the coordinates of a link and the states that belong to them, or states alone.
typedef struct srTreeBlock {
  int link;    // 0: states only
  int nv, n;   // coordinates; coordinates and states
  int* index;  // n: of (v, y), coordinates first
  int local;   // where its matrix (n x n) begins in Kq and Kv
  int number;  // where its numbers begin in a factor
  int pivot;
} srTreeBlock;

// Of complex numbers the imaginary parts are behind the real ones, array by array.
typedef struct srTreeFactor {
  int parts;       // numbers of an entry: 1 real, 2 complex
  double* W;       // per link: 6 x 18
  double* number;  // per block: what sr_tree_solve needs
  int* pivot;
} srTreeFactor;

typedef struct srTreeTangent {
  const srModel* m;
  int ny;
  int nblock;
  srTreeBlock* block;
  int* block_of;         // nlink: -1 where it has no coordinate
  double *Kq, *Kv;       // derivatives within the blocks, of forces and rates
  double *link, *dof;    // turn.h, about the links' own origins
  double *turn, *force;  // per coordinate: S x* F; per link: the wrench F through its joint
  double* arm;           // per link: from the origin of its parent to its own
  double *e, *w;         // per link: displacement (18) and wrench (6), each of two parts
  double* u;             // nv + ny, two parts
} srTreeTangent;

// Doubles of `link` and `dof`.
int sr_tree_link_numbers(const srModel* m);
int sr_tree_dof_numbers(const srModel* m);
// Doubles of a factor of one part: of W, of `number`.
int sr_tree_factor_links(const srTreeTangent* t);
int sr_tree_block_numbers(const srTreeBlock* b);

// Takes the state of d (velocity stage) and accelerations a (nv). diagonal (nv): of M, armature included.
void sr_tree_evaluate(srTreeTangent* t, const srData* d, const double* a, double* diagonal);
// out = Kq dxi + Kv dx over (v, y); dxi (nv) or dx (nv + ny) may be NULL.
void sr_tree_times(srTreeTangent* t, const double* dxi, const double* dx, double* out);

// The matrix cM diag(M, 0) + cI diag(0, I) + cq Kq + cv Kv; coefficients re, im.
typedef struct srTreeShift {
  double cM[2], cI[2], cq[2], cv[2];
} srTreeShift;
// False: singular to rounding.
bool sr_tree_factor(srTreeTangent* t, const srTreeShift* shift, srTreeFactor* out);
void sr_tree_solve(srTreeTangent* t, const srTreeFactor* factor, double* x);  // in place, parts * (nv + ny)

#endif
