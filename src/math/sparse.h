// Sparse linear algebra for systems that keep their pattern while their numbers change: analyse once, factor often.
// The create functions allocate memory; factoring and solving allocate nothing, except as stated at SRM_LU_DIAGONAL.
#ifndef SR_MATH_SPARSE_H
#define SR_MATH_SPARSE_H

#include <sarrus/base.h>

typedef srSparsity srmPattern;

static inline int srm_pattern_count(const srmPattern* p) { return p->row[p->nrow]; }
bool srm_pattern_copy(const srmPattern* from, srmPattern* to);  // false when out of memory: free *to all the same
bool srm_pattern_full(int nrow, int width, int ncol,
                      srmPattern* out);  // the first `width` columns of every row; likewise
void srm_pattern_free(srmPattern* pattern);

// The pattern by columns: rows of column j are row[start[j]] .. row[start[j+1]-1], ascending, and from[] is the index of each number in
// the array by rows. The arrays are from sr_alloc, to be freed also where it is false: out of memory.
bool srm_pattern_columns(const srmPattern* pattern, int** start, int** row, int** from);

// A new zeroed array in *array, never NULL for count 0; false when out of memory.
bool srm_take_ints(int** array, size_t count);
bool srm_take_numbers(double** array, size_t count);

// An order of elimination of an undirected graph (neighbours of i: neighbour[start[i]] ..; no loops, both directions
// stored) that keeps fill low. find: false when out of memory.
typedef struct srmOrder {
  const char* name;
  bool absent;  // not in this build
  bool (*find)(int n, const int* start, const int* neighbour, int* order);
} srmOrder;
extern const srmOrder srm_minimum_degree;
extern const srmOrder srm_amd;  // src/suitesparse
// Graph in which two columns (rows) of the pattern are neighbours when a row (column) holds both. The arrays are from
// sr_alloc; false when out of memory.
bool srm_column_graph(const srmPattern* pattern, int** start, int** neighbour);
bool srm_row_graph(const srmPattern* pattern, int** start, int** neighbour);
// Graph of A + A^T for a square pattern: i and j are neighbours when either entry is in it.
bool srm_symmetric_graph(const srmPattern* pattern, int** start, int** neighbour);
// Elimination tree of the graph in the given order (place[order[k]] = k), and the number of entries of each column of the factor
// below its diagonal. parent and mark: n each. Returns their sum.
size_t srm_elimination_tree(int n, const int* start, const int* neighbour, const int* order, const int* place,
                            int* parent, int* mark, int* column_count);

// P R A Q = L U for a square pattern (R: rows scaled to largest entry 1).
typedef enum srmLuOrder {
  SRM_LU_COLUMNS,  // order for A^T A, pivots the largest of their columns: memory is bounded beforehand
  SRM_LU_DIAGONAL,  // order for A + A^T, pivots on the diagonal where they are not small: factor may allocate, and refactor is available
} srmLuOrder;
typedef struct srmSparseLu srmSparseLu;
srmSparseLu* srm_sparse_lu_create(const srmPattern* pattern,
                                  srmLuOrder order);  // the pattern is copied; NULL: out of memory
void srm_sparse_lu_destroy(srmSparseLu* lu);
bool srm_sparse_lu_factor(srmSparseLu* lu, const double* values);  // false: singular to working precision
// SRM_LU_DIAGONAL, after a successful factor: the same pivots for other numbers. False: they are unsuitable.
bool srm_sparse_lu_refactor(srmSparseLu* lu, const double* values);
void srm_sparse_lu_solve(srmSparseLu* lu, double* x);  // x = A^-1 x
size_t srm_sparse_lu_fill(const srmSparseLu* lu);      // entries of the last L and U

#endif
