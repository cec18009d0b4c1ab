// Sparse symmetric matrices S, positive definite or with rows that depend on others, whose pattern stays while the numbers change: one
// interface, several implementations, as math/solver.h for unsymmetric ones.
//
//   srm_symmetric_create(&shape, srm_symmetric_for(1, n), &s);     // analyses: order of elimination, pattern of L, all memory
//   srm_symmetric_clear(s);                                        // then the numbers are added to s->diagonal and s->below
//   rank = srm_symmetric_factor(s, least);                         // in place; a row whose pivot is not above `least` is dropped
//   srm_symmetric_solve(s, x);                                     // x = S^-1 x over the rows not dropped; 0 in the others
//
// S consists of groups of rows that have the same pattern: a block is full. The pivot of a row is what the rows eliminated before leave of
// its diagonal entry; for S = B B^T it is the squared distance of the row of B from their span. No pivoting: for such matrices every
// order is stable. An implementation is a row of the table in symmetric.c: an order and an elimination.
#ifndef SR_MATH_SYMMETRIC_H
#define SR_MATH_SYMMETRIC_H

#include "math/sparse.h"

typedef struct srmSymmetricShape {
  int n;                         // groups
  const int* size;               // (n) rows of each, 1 .. width of the kind; NULL: 1
  const int *start, *neighbour;  // graph of the groups, both directions stored, without loops
  double most;                   // entries of the factor, above which there is to be none; 0: any number
} srmSymmetricShape;

typedef struct srmSymmetric srmSymmetric;
typedef struct srmSymmetricKind {
  const char *name, *about;
  int width;              // largest number of rows of a group; also the numbers in a row of a block
  const srmOrder* order;  // absent: so is the kind
  int (*factor)(srmSymmetric* s, const double* least);  // returns the rank
  void (*solve)(const srmSymmetric* s, double* x);
} srmSymmetricKind;

// Step k eliminates group order[k]; vectors have `width` numbers for each step, 0 where the group has no row, and are aligned to 32 bytes. Block (i, k), i >= k: [row of k][row of i].
struct srmSymmetric {
  const srmSymmetricKind* kind;
  int n, rows;         // groups; rows of all
  int *order, *place;  // group of a step; step of a group
  int* size;           // rows, by step
  int *start, *row;    // blocks below the diagonal in step k: start[k] .. start[k+1]-1; their steps, ascending
  int *left_start, *left, *left_at;  // the same by rows: steps, ascending, and the indices of their blocks
  double *diagonal, *below;          // blocks of S, then of the factor
  double *pivot, *reciprocal;        // of the last factor; reciprocal is the implementation's, 0: dropped
  double* work;
};

int srm_symmetric_count(void);
const srmSymmetricKind* srm_symmetric_at(int index);
// The kind for n groups of up to `width` rows. From SRM_AMD_FROM groups on AMD orders them, where it is in the build: it takes a sixth of
// the time, and leaves 2 % fewer entries in a net of 30 x 30 cells, but 3 % more in one of 10 x 10.
#define SRM_AMD_FROM 500
const srmSymmetricKind* srm_symmetric_for(int width, int n);

// *out NULL: the factor would have more than shape->most entries. False: out of memory.
bool srm_symmetric_create(const srmSymmetricShape* shape, const srmSymmetricKind* kind, srmSymmetric** out);
void srm_symmetric_destroy(srmSymmetric* s);
void srm_symmetric_clear(srmSymmetric* s);
int srm_symmetric_block(const srmSymmetric* s, int k, int i);  // index in `below` of the block of steps k < i
static inline int srm_symmetric_factor(srmSymmetric* s, const double* least) { return s->kind->factor(s, least); }
static inline void srm_symmetric_solve(const srmSymmetric* s, double* x) { s->kind->solve(s, x); }
size_t srm_symmetric_fill(const srmSymmetric* s);  // entries of the factor

// Elimination by blocks with rows of 8 numbers: symmetric_blocks.c.
int srm_factor_blocks(srmSymmetric* s, const double* least);
void srm_solve_blocks(const srmSymmetric* s, double* x);

#endif
