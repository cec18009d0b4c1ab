// Sparse LU with partial pivoting, column by column.                    Gilbert and Peierls (1988); Davis (2006), chapter 6
//   x = L \ A(:,j) by a search for the entries that can be nonzero, pivot the largest of the rows not yet taken
// The columns are ordered once by minimum degree on A^T A. The structure of R in A = Q R bounds L and U for every choice of
// pivots (George and Ng 1985): memory is taken for that, so that factoring needs none. Rows are scaled by their largest
// entry. Limit: one row with very many entries makes A^T A dense.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/sparse.h"

struct srmSparseLu {
  int n;
  int *start, *row, *from;  // columns of A: rows, and where the number stands in the caller's array
  int* csr_row;             // start of each row in the caller's array (n + 1)
  int *order, *taken;       // column of step k; step in which row i was taken, -1: not yet
  int *Lstart, *Lrow, *Ustart, *Urow;
  double *Lvalue, *Uvalue;
  double *scale, *x, *y;
  int *stack, *position, *mark;
  int stamp;
  size_t bound;
};

size_t srm_sparse_lu_bound(const srmSparseLu* lu) { return 2 * lu->bound; }

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

// Columns of the pattern, with the way back to the numbers.
static bool copy_columns(srmSparseLu* lu, const srmPattern* p) {
  const size_t n = (size_t)lu->n, count = (size_t)srm_pattern_count(p);
  if (!srm_take_ints(&lu->start, n + 1) || !srm_take_ints(&lu->row, count) || !srm_take_ints(&lu->from, count) ||
      !srm_take_ints(&lu->csr_row, n))
    return false;
  memcpy(lu->csr_row, p->row, (n + 1) * sizeof(int));
  for (size_t k = 0; k < count; ++k) ++lu->start[p->column[k] + 2];
  for (int j = 0; j < lu->n; ++j) lu->start[j + 2] += lu->start[j + 1];
  // Now start[j+1] is where column j begins; filling moves it to its end.
  for (int i = 0; i < lu->n; ++i) {
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) {
      const int place = lu->start[p->column[k] + 1]++;
      lu->row[place] = i;
      lu->from[place] = k;
    }
  }
  return true;
}

// Order of the columns, and how much L and U can fill.
static bool analyse(srmSparseLu* lu, const srmPattern* p) {
  int *start = NULL, *neighbour = NULL, *place = NULL, *parent = NULL, *count = NULL;
  const size_t n = (size_t)lu->n;
  bool good = srm_take_ints(&lu->order, n) && srm_take_ints(&lu->mark, n) && srm_take_ints(&place, n) &&
              srm_take_ints(&parent, n) && srm_take_ints(&count, n) && srm_column_graph(p, &start, &neighbour) &&
              srm_order_minimum_degree(lu->n, start, neighbour, lu->order);
  if (good) {
    for (int k = 0; k < lu->n; ++k) place[lu->order[k]] = k;
    lu->bound = n + srm_elimination_tree(lu->n, start, neighbour, lu->order, place, parent, lu->mark, count);
  }
  sr_free(start);
  sr_free(neighbour);
  sr_free(place);
  sr_free(parent);
  sr_free(count);
  return good;
}

srmSparseLu* srm_sparse_lu_create(const srmPattern* p) {
  SR_ASSERT(p->nrow == p->ncol);
  srmSparseLu* lu = sr_alloc(sizeof *lu);
  if (lu == NULL) return NULL;
  const size_t n = (size_t)p->nrow;
  lu->n = p->nrow;
  bool good = copy_columns(lu, p) && analyse(lu, p) && srm_take_ints(&lu->taken, n) && srm_take_ints(&lu->Lstart, n) &&
              srm_take_ints(&lu->Ustart, n) && srm_take_ints(&lu->Lrow, lu->bound + n) &&
              srm_take_ints(&lu->Urow, lu->bound + n) && srm_take_numbers(&lu->Lvalue, lu->bound + n) &&
              srm_take_numbers(&lu->Uvalue, lu->bound + n) && srm_take_numbers(&lu->scale, n) &&
              srm_take_numbers(&lu->x, n) && srm_take_numbers(&lu->y, n) && srm_take_ints(&lu->stack, n) &&
              srm_take_ints(&lu->position, n);
  if (good) return lu;
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
// The lower part of stack serves as the stack of the search: both never meet, since each row is in one of them.
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

// Moves x into column k of U and L; false when no pivot is left.
static bool store_column(srmSparseLu* lu, int k, int top, int* nl, int* nu) {
  int pivot_row = -1;
  double most = 0;
  // The bound holds for patterns that can be regular; another one ends here, not outside of the arrays.
  if ((size_t)(*nl + lu->n - top) > lu->bound + (size_t)lu->n ||
      (size_t)(*nu + lu->n - top) > lu->bound + (size_t)lu->n)
    return false;
  for (int p = top; p < lu->n; ++p) {
    const int i = lu->stack[p];
    if (lu->taken[i] >= 0) {
      if (lu->x[i] == 0) continue;
      lu->Urow[*nu] = lu->taken[i];
      lu->Uvalue[(*nu)++] = lu->x[i];
    } else if (fabs(lu->x[i]) > most) {
      most = fabs(lu->x[i]);
      pivot_row = i;
    }
  }
  // Entries are of size 1 after scaling: below this a pivot is rounding.
  if (pivot_row < 0 || !(most > 1e-15) || !isfinite(most)) return false;
  const double pivot = lu->x[pivot_row];
  lu->taken[pivot_row] = k;
  lu->Urow[*nu] = k;
  lu->Uvalue[(*nu)++] = pivot;
  for (int p = top; p < lu->n; ++p) {
    const int i = lu->stack[p];
    if (lu->taken[i] >= 0 || lu->x[i] == 0) continue;
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
