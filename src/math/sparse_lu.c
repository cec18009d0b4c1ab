// Sparse LU with partial pivoting, column by column.                    Gilbert and Peierls (1988); Davis (2006), chapter 6
//   x = L \ A(:,j) by a search for the entries that can be nonzero, pivot the largest of the remaining rows
// Rows are scaled by their largest entry. The columns are ordered once by minimum degree, in one of two ways:
//   SRM_LU_COLUMNS   on A^T A. The structure of R in A = Q R bounds L and U for every choice of pivots (George and Ng 1985): memory is
//                    allocated for that, so that factoring needs none. Limit: a row with very many entries makes A^T A dense.
//   SRM_LU_DIAGONAL  on A + A^T, with the pivot on the diagonal where it is at least DIAGONAL of its column, as KLU does (Davis and
//                    Palamadai Natarajan 2010). Fill follows the pivots: memory is allocated for twice the fill without exchanges and
//                    grows where that is not enough. L and U keep entries that happen to be zero, so that refactor finds their positions.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/sparse.h"

#define DIAGONAL 0.1       // part of the largest entry of a column from which the diagonal is chosen
#define LEAST_PIVOT 1e-15  // of entries of size 1: below it a pivot is rounding
#define MOST_GROWTH 1e6    // of the elements of a column, with old pivots: half of the digits would be gone at 1e8

struct srmSparseLu {
  int n;
  bool diagonal;            // SRM_LU_DIAGONAL
  int *start, *row, *from;  // columns of A: rows, and the index of the number in the caller's array
  int* csr_row;             // start of each row in the caller's array (n + 1)
  int *order, *taken;       // column of step k; step in which row i was the pivot, -1: not yet
  int *Lstart, *Lrow, *Ustart, *Urow;
  double *Lvalue, *Uvalue;
  double *scale, *x, *y;
  int *stack, *position, *mark;
  int stamp;
  size_t Lroom, Uroom;  // capacity in entries
};

size_t srm_sparse_lu_fill(const srmSparseLu* lu) { return (size_t)lu->Lstart[lu->n] + (size_t)lu->Ustart[lu->n]; }

void srm_sparse_lu_destroy(srmSparseLu* lu) {
  if (lu == NULL) return;
  void* parts[] = {lu->start,  lu->row,  lu->from,   lu->csr_row, lu->order,    lu->taken,
                   lu->Lstart, lu->Lrow, lu->Ustart, lu->Urow,    lu->Lvalue,   lu->Uvalue,
                   lu->scale,  lu->x,    lu->y,      lu->stack,   lu->position, lu->mark};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(lu);
}

// ---- analysis ---------------------------------------------------------------------------------------------------------

// Order of the columns, and the possible fill of L and U.
static bool analyse(srmSparseLu* lu, const srmPattern* p) {
  bool (*graph)(const srmPattern*, int**, int**) = lu->diagonal ? srm_symmetric_graph : srm_column_graph;
  int *start = NULL, *neighbour = NULL, *place = NULL, *parent = NULL, *count = NULL;
  const size_t n = (size_t)lu->n;
  bool good = srm_take_ints(&lu->order, n) && srm_take_ints(&lu->mark, n) && srm_take_ints(&place, n) &&
              srm_take_ints(&parent, n) && srm_take_ints(&count, n) && graph(p, &start, &neighbour) &&
              srm_minimum_degree.find(lu->n, start, neighbour, lu->order);
  if (good) {
    for (int k = 0; k < lu->n; ++k) place[lu->order[k]] = k;
    const size_t fill = srm_elimination_tree(lu->n, start, neighbour, lu->order, place, parent, lu->mark, count);
    lu->Lroom = lu->Uroom = 2 * n + (lu->diagonal ? 2 : 1) * fill;
  }
  sr_free(start);
  sr_free(neighbour);
  sr_free(place);
  sr_free(parent);
  sr_free(count);
  return good;
}

srmSparseLu* srm_sparse_lu_create(const srmPattern* p, srmLuOrder order) {
  SR_ASSERT(p->nrow == p->ncol);
  srmSparseLu* lu = sr_alloc(sizeof *lu);
  if (lu == NULL) return NULL;
  const size_t n = (size_t)p->nrow;
  lu->n = p->nrow;
  lu->diagonal = order == SRM_LU_DIAGONAL;
  bool good = srm_pattern_columns(p, &lu->start, &lu->row, &lu->from) && srm_take_ints(&lu->csr_row, n + 1) &&
              analyse(lu, p) && srm_take_ints(&lu->taken, n) && srm_take_ints(&lu->Lstart, n) &&
              srm_take_ints(&lu->Ustart, n) && srm_take_ints(&lu->Lrow, lu->Lroom) &&
              srm_take_ints(&lu->Urow, lu->Uroom) && srm_take_numbers(&lu->Lvalue, lu->Lroom) &&
              srm_take_numbers(&lu->Uvalue, lu->Uroom) && srm_take_numbers(&lu->scale, n) &&
              srm_take_numbers(&lu->x, n) && srm_take_numbers(&lu->y, n) && srm_take_ints(&lu->stack, n) &&
              srm_take_ints(&lu->position, n);
  if (good) {
    memcpy(lu->csr_row, p->row, (n + 1) * sizeof(int));
    return lu;
  }
  srm_sparse_lu_destroy(lu);
  return NULL;
}

// ---- factor -----------------------------------------------------------------------------------------------------------

static bool scale_rows(srmSparseLu* lu, const double* values) {
  for (int i = 0; i < lu->n; ++i) {
    double most = 0;
    for (int k = lu->csr_row[i]; k < lu->csr_row[i + 1]; ++k) most = fmax(most, fabs(values[k]));
    if (!(most > 0) || !isfinite(most)) return false;
    lu->scale[i] = 1 / most;
  }
  return true;
}

// Depth-first search from row `root` through the columns of L; rows reached are put below top, in topological order.
// The lower part of stack is the stack of the search: the two never meet, since each row is in one of them.
static int reach(srmSparseLu* lu, int root, int top) {
  int head = 0;
  lu->stack[0] = root;
  while (head >= 0) {
    const int i = lu->stack[head], column = lu->taken[i];
    if (lu->mark[i] != lu->stamp) {
      lu->mark[i] = lu->stamp;
      lu->position[head] = column < 0 ? 0 : lu->Lstart[column];
    }
    const int end = column < 0 ? 0 : lu->Lstart[column + 1];
    bool done = true;
    for (int k = lu->position[head]; k < end; ++k) {
      if (lu->mark[lu->Lrow[k]] == lu->stamp) continue;
      lu->position[head] = k + 1;
      lu->stack[++head] = lu->Lrow[k];
      done = false;
      break;
    }
    if (done) {
      --head;
      lu->stack[--top] = i;
    }
  }
  return top;
}

// x = L \ A(:,j); the rows that can be nonzero are stack[top .. n-1].
static int solve_column(srmSparseLu* lu, const double* values, int j) {
  int top = lu->n;
  ++lu->stamp;
  for (int k = lu->start[j]; k < lu->start[j + 1]; ++k) {
    if (lu->mark[lu->row[k]] != lu->stamp) top = reach(lu, lu->row[k], top);
  }
  for (int k = top; k < lu->n; ++k) lu->x[lu->stack[k]] = 0;
  for (int k = lu->start[j]; k < lu->start[j + 1]; ++k) {
    lu->x[lu->row[k]] = values[lu->from[k]] * lu->scale[lu->row[k]];
  }
  for (int p = top; p < lu->n; ++p) {
    const int i = lu->stack[p], column = lu->taken[i];
    const double xi = lu->x[i];
    if (column < 0 || xi == 0) continue;
    for (int k = lu->Lstart[column]; k < lu->Lstart[column + 1]; ++k) lu->x[lu->Lrow[k]] -= lu->Lvalue[k] * xi;
  }
  return top;
}

// Twice the memory for the entries of L or U.
static bool grow(int** index, double** value, size_t* room) {
  int* more_index = NULL;
  double* more_value = NULL;
  if (!srm_take_ints(&more_index, 2 * *room) || !srm_take_numbers(&more_value, 2 * *room)) {
    sr_free(more_index);
    sr_free(more_value);
    return false;
  }
  memcpy(more_index, *index, *room * sizeof **index);
  memcpy(more_value, *value, *room * sizeof **value);
  sr_free(*index);
  sr_free(*value);
  *index = more_index;
  *value = more_value;
  *room *= 2;
  return true;
}

// Is there memory for `more` entries in each? With SRM_LU_COLUMNS the bound holds for patterns that can be regular; another one ends
// here, not outside the arrays.
static bool has_room(srmSparseLu* lu, int nl, int nu, int more) {
  while ((size_t)(nl + more) > lu->Lroom) {
    if (!lu->diagonal || !grow(&lu->Lrow, &lu->Lvalue, &lu->Lroom)) return false;
  }
  while ((size_t)(nu + more) > lu->Uroom) {
    if (!lu->diagonal || !grow(&lu->Urow, &lu->Uvalue, &lu->Uroom)) return false;
  }
  return true;
}

// Moves x into column k of U and L; false when no pivot remains.
static bool store_column(srmSparseLu* lu, int k, int top, int* nl, int* nu) {
  int pivot_row = -1;
  double most = 0;
  if (!has_room(lu, *nl, *nu, lu->n - top)) return false;
  for (int p = top; p < lu->n; ++p) {
    const int i = lu->stack[p];
    if (lu->taken[i] >= 0) {
      if (lu->x[i] == 0 && !lu->diagonal) continue;
      lu->Urow[*nu] = lu->taken[i];
      lu->Uvalue[(*nu)++] = lu->x[i];
    } else if (fabs(lu->x[i]) > most) {
      most = fabs(lu->x[i]);
      pivot_row = i;
    }
  }
  if (pivot_row < 0 || !(most > LEAST_PIVOT) || !isfinite(most)) return false;
  const int own = lu->order[k];
  if (lu->diagonal && lu->taken[own] < 0 && lu->mark[own] == lu->stamp && fabs(lu->x[own]) >= DIAGONAL * most)
    pivot_row = own;
  const double pivot = lu->x[pivot_row];
  lu->taken[pivot_row] = k;
  lu->Urow[*nu] = k;
  lu->Uvalue[(*nu)++] = pivot;
  for (int p = top; p < lu->n; ++p) {
    const int i = lu->stack[p];
    if (lu->taken[i] >= 0 || (lu->x[i] == 0 && !lu->diagonal)) continue;
    lu->Lrow[*nl] = i;
    lu->Lvalue[(*nl)++] = lu->x[i] / pivot;
  }
  return true;
}

bool srm_sparse_lu_factor(srmSparseLu* lu, const double* values) {
  int nl = 0, nu = 0;
  if (!scale_rows(lu, values)) return false;
  for (int i = 0; i < lu->n; ++i) {
    lu->taken[i] = -1;
    lu->mark[i] = 0;
  }
  lu->stamp = 0;
  for (int k = 0; k < lu->n; ++k) {
    lu->Lstart[k] = nl;
    lu->Ustart[k] = nu;
    const int top = solve_column(lu, values, lu->order[k]);
    if (!store_column(lu, k, top, &nl, &nu)) return false;
    lu->Lstart[k + 1] = nl;
  }
  lu->Ustart[lu->n] = nu;
  for (int p = 0; p < nl; ++p) lu->Lrow[p] = lu->taken[lu->Lrow[p]];
  return true;
}

// Column k again with the old pivots; x is zero before and after, in the order of the pivots. U keeps the order in which its rows
// were found, which is topological: a row comes after those that reach it.
static bool refactor_column(srmSparseLu* lu, const double* values, int k) {
  const int j = lu->order[k], last = lu->Ustart[k + 1] - 1;
  double *x = lu->y, most = 0, grown = 0;
  for (int p = lu->start[j]; p < lu->start[j + 1]; ++p) {
    const double a = values[lu->from[p]] * lu->scale[lu->row[p]];
    x[lu->taken[lu->row[p]]] = a;
    most = fabs(a) > most ? fabs(a) : most;
  }
  for (int u = lu->Ustart[k]; u < last; ++u) {
    const int column = lu->Urow[u];
    const double xi = x[column];
    lu->Uvalue[u] = xi;
    x[column] = 0;
    if (xi == 0) continue;
    grown = fabs(xi) > grown ? fabs(xi) : grown;
    for (int p = lu->Lstart[column]; p < lu->Lstart[column + 1]; ++p) x[lu->Lrow[p]] -= lu->Lvalue[p] * xi;
  }
  const double pivot = x[k], inverse = 1 / pivot;
  lu->Uvalue[last] = pivot;
  x[k] = 0;
  for (int p = lu->Lstart[k]; p < lu->Lstart[k + 1]; ++p) {
    grown = fabs(x[lu->Lrow[p]]) > grown ? fabs(x[lu->Lrow[p]]) : grown;
    lu->Lvalue[p] = x[lu->Lrow[p]] * inverse;
    x[lu->Lrow[p]] = 0;
  }
  return fabs(pivot) > LEAST_PIVOT && isfinite(pivot) && grown <= MOST_GROWTH * fmax(most, fabs(pivot));
}

bool srm_sparse_lu_refactor(srmSparseLu* lu, const double* values) {
  SR_ASSERT(lu->diagonal);
  if (!scale_rows(lu, values)) return false;
  memset(lu->y, 0, (size_t)lu->n * sizeof *lu->y);
  for (int k = 0; k < lu->n; ++k) {
    if (!refactor_column(lu, values, k)) return false;
  }
  return true;
}

void srm_sparse_lu_solve(srmSparseLu* lu, double* x) {
  double* y = lu->y;
  for (int i = 0; i < lu->n; ++i) y[lu->taken[i]] = lu->scale[i] * x[i];  // y = P R b
  for (int k = 0; k < lu->n; ++k) {                                       // y = L \ y
    for (int p = lu->Lstart[k]; p < lu->Lstart[k + 1]; ++p) y[lu->Lrow[p]] -= lu->Lvalue[p] * y[k];
  }
  for (int k = lu->n - 1; k >= 0; --k) {  // y = U \ y; the diagonal is the last entry of each column
    const int last = lu->Ustart[k + 1] - 1;
    y[k] /= lu->Uvalue[last];
    for (int p = lu->Ustart[k]; p < last; ++p) y[lu->Urow[p]] -= lu->Uvalue[p] * y[k];
  }
  for (int k = 0; k < lu->n; ++k) x[lu->order[k]] = y[k];
}
