// Saddle-point systems: dense LU or sparse LU of the whole matrix, rows scaled, multipliers scaled to the size of x.
//   [ M  -s D^T ] [    x     ]   [ f ]
//   [ G     0   ] [ lambda/s ] = [ r ]        s = max|M| / max|D|
// A dropped row k is lambda_k = 0: in the dense matrix it is omitted, in the sparse one it becomes a row of the identity. Where the
// solver is ordered on A^T A the pattern has room for that and stays the same. Where it is ordered on A + A^T (math/solver.h) a zero on
// the diagonal of the kept rows would triple the fill: the pattern is made for the kept rows, and analysed again, with new
// memory, when these change. The whole matrix, not G M^-1 D^T: M may be singular, and near a singular position the error is
// u/sigma instead of u/sigma^2.
#include "math/saddle.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/dense.h"
#include "math/row_times.h"
#include "math/saddle_blocks.h"
#include "math/saddle_tree.h"
#include "math/solver.h"

#define DENSE_BELOW 80  // beyond it sparse, however full
#define DENSE_SMALL 12  // up to it dense, however empty; between the two by the entries:
#define DENSE_SHARE 4   // sparse where they are fewer than this part of the matrix

struct srmSaddle {
  srmSaddleShape shape;
  srmPattern M, G;    // copies, where patterns are given
  int n, nkept;       // nv + ng; rows kept at the last factor
  bool sparse, deep;  // deep: the pattern is made for the rows in `analysed`
  bool ready;
  unsigned char* analysed;
  double* block;  // of kept, x, A, scale and pivot
  unsigned char* kept;
  double s;       // scale of the multipliers
  double* A;      // dense: (nv + nkept)^2
  double* scale;  // dense: of the rows
  int* pivot;
  srmSolver* lu;
  int *at_M, *at_D, *at_G, *at_diagonal;  // where the numbers go in the sparse matrix
  int *row, *column;                      // of the sparse matrix
  double* values;
  double* x;                // right-hand side and solution (n)
  srmBlocks* blocks;        // NULL: M is not block-diagonal with small blocks
  srmTree* tree;            // NULL: it is not of bodies
  bool by_blocks, by_tree;  // the last factor is theirs
  double* G_last;           // its rows, where a factor of the whole matrix must follow
};

// ---- products with rows -----------------------------------------------------------------------------------------------

SRM_CLONES void srm_rows_times(const srmSaddleShape* s, const double* G, const double* x, double* out) {
  for (int k = 0; k < s->ng; ++k) {
    double sum = 0;
    if (s->G == NULL) {
      for (int j = 0; j < s->nv; ++j) sum += G[(size_t)k * (size_t)s->nv + (size_t)j] * x[j];
    } else {
      sum = srm_row_times(s->G, k, G, x);
    }
    out[k] = sum;
  }
}

void srm_rows_transposed_times(const srmSaddleShape* s, const double* G, const double* lambda, double* out) {
  for (int j = 0; j < s->nv; ++j) out[j] = 0;
  for (int k = 0; k < s->ng; ++k) {
    if (lambda[k] == 0) continue;
    if (s->G == NULL) {
      for (int j = 0; j < s->nv; ++j) out[j] += G[(size_t)k * (size_t)s->nv + (size_t)j] * lambda[k];
    } else {
      for (int p = s->G->row[k]; p < s->G->row[k + 1]; ++p) out[s->G->column[p]] += G[p] * lambda[k];
    }
  }
}

static inline double diagonal(const srmSaddleShape* s, const double* M, int j) {
  if (M == NULL) return 1;
  if (s->M == NULL) return M[(size_t)j * (size_t)s->nv + (size_t)j];
  const int first = s->M->row[j], end = s->M->row[j + 1], guess = first < end ? first + j - s->M->column[first] : end;
  if (guess >= first && guess < end && s->M->column[guess] == j) return M[guess];  // no gap before the diagonal
  for (int p = first; p < end; ++p) {
    if (s->M->column[p] == j) return M[p];
  }
  return 0;
}

void srm_rows_lengths(const srmSaddleShape* s, const double* M, const double* G, double* out) {
  double most = 0;
  for (int j = 0; j < s->nv; ++j) most = fmax(most, diagonal(s, M, j));
  // A coordinate without mass counts with a small one: lengths are scales, not results.
  const double least = most > 0 ? 1e-8 * most : 1;
  for (int k = 0; k < s->ng; ++k) {
    const int first = s->G == NULL ? 0 : s->G->row[k], end = s->G == NULL ? s->nv : s->G->row[k + 1];
    double sum = 0;
    for (int p = first; p < end; ++p) {
      const int j = s->G == NULL ? p : s->G->column[p];
      const double entry = s->G == NULL ? G[(size_t)k * (size_t)s->nv + (size_t)j] : G[p];
      if (entry == 0) continue;
      const double mass = diagonal(s, M, j);
      sum += entry * entry / (mass > least ? mass : least);
    }
    out[k] = sqrt(sum);
  }
}

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_saddle_destroy(srmSaddle* s) {
  if (s == NULL) return;
  srm_pattern_free(&s->M);
  srm_pattern_free(&s->G);
  srm_solver_destroy(s->lu);
  srm_blocks_destroy(s->blocks);
  srm_tree_destroy(s->tree);
  void* parts[] = {s->G_last, s->analysed, s->at_M, s->at_D, s->at_G, s->at_diagonal, s->row, s->column, s->values};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(s->block);  // with s
}

// Is row k of D and G in the pattern? Is its diagonal?
static bool has_row(const srmSaddle* s, int k) { return !s->deep || s->analysed[k] != 0; }
static bool has_diagonal(const srmSaddle* s, int k) { return !s->deep || s->analysed[k] == 0; }

// Pattern of the whole matrix, and where each number goes.
static bool assemble_pattern(srmSaddle* s) {
  const int nv = s->shape.nv, ng = s->shape.ng;
  int *row = s->row, *column = s->column, *start = NULL, count = 0;
  if (!srm_take_ints(&start, (size_t)s->n + 2)) return false;
  for (int k = 0; k < ng; ++k)
    for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) ++start[s->G.column[p] + 1];
  row[0] = 0;
  for (int i = 0; i < nv; ++i) {
    for (int p = s->M.row[i]; p < s->M.row[i + 1]; ++p) {
      s->at_M[p] = count;
      column[count++] = s->M.column[p];
    }
    const int many = start[i + 1];
    start[i + 1] = count;  // where the multipliers of row i begin
    count += many;
    row[i + 1] = count;
  }
  for (int k = 0; k < ng; ++k) {  // increasing k keeps the columns ascending
    for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) {
      const int place = start[s->G.column[p] + 1]++;
      s->at_D[p] = place;
      column[place] = nv + k;
    }
  }
  for (int k = 0; k < ng; ++k) {
    for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) {
      s->at_G[p] = count;
      column[count++] = s->G.column[p];
    }
    if (has_diagonal(s, k)) {
      s->at_diagonal[k] = count;
      column[count++] = nv + k;
    }
    row[nv + k + 1] = count;
  }
  sr_free(start);
  return true;
}

// Pattern and order of elimination for the rows in `kept`.
static bool analyse(srmSaddle* s) {
  srm_solver_destroy(s->lu);
  s->lu = NULL;
  memcpy(s->analysed, s->kept, (size_t)s->shape.ng);
  if (!assemble_pattern(s)) return false;
  const srmPattern whole = {.nrow = s->n, .ncol = s->n, .row = s->row, .column = s->column};
  s->lu = srm_solver_create(&whole, srm_solver_for(&s->M));
  return s->lu != NULL;
}

static bool create_sparse(srmSaddle* s) {
  const size_t nM = (size_t)srm_pattern_count(&s->M), nG = (size_t)srm_pattern_count(&s->G), ng = (size_t)s->shape.ng;
  const size_t count = nM + 2 * nG + ng;
  s->deep = srm_pattern_is_deep(&s->M);
  s->analysed = sr_alloc(ng + 1);
  const bool good = s->analysed != NULL && srm_take_ints(&s->row, (size_t)s->n + 1) &&
                    srm_take_ints(&s->column, count) && srm_take_ints(&s->at_M, nM) && srm_take_ints(&s->at_D, nG) &&
                    srm_take_ints(&s->at_G, nG) && srm_take_ints(&s->at_diagonal, ng) &&
                    srm_take_numbers(&s->values, count);
  if (!good || s->tree != NULL || s->blocks != NULL) return good;  // else analysed where these fail
  memset(s->kept, 1, ng);
  return analyse(s);
}

static bool create_blocks(srmSaddle* s) {
  if (!s->shape.mass) return true;
  if (s->shape.dense_below <= 0 && !srm_tree_create(&s->shape, &s->tree)) return false;
  if (!s->sparse) return true;
  if (!srm_blocks_create(&s->shape, &s->blocks)) return false;
  return s->blocks == NULL || srm_take_numbers(&s->G_last, (size_t)srm_pattern_count(&s->G));
}

static bool is_sparse(const srmSaddleShape* shape) {
  const int n = shape->nv + shape->ng;
  if (shape->M == NULL || shape->G == NULL) return false;
  if (shape->dense_below != 0) return n > shape->dense_below;
  const double entries = srm_pattern_count(shape->M) + 2.0 * srm_pattern_count(shape->G);
  return n > DENSE_BELOW || (n > DENSE_SMALL && DENSE_SHARE * entries < (double)n * n);
}

// The struct, what every form needs, and the matrix of the dense one, in one block.
static srmSaddle* allocate(const srmSaddleShape* shape) {
  srmSaddle s = {.shape = *shape, .n = shape->nv + shape->ng, .sparse = is_sparse(shape)};
  const size_t n = (size_t)s.n, dense = s.sparse ? 0 : n, pivots = dense * sizeof *s.pivot;
  unsigned char* tail;
  const srPart parts[] = {{&s.x, n}, {&s.A, dense * dense}, {&s.scale, dense}};
  if (!sr_take_parts(parts, SR_COUNT(parts), sizeof s + pivots + (size_t)shape->ng, &s.block, &tail)) return NULL;
  s.pivot = (int*)(void*)(tail + sizeof s);
  s.kept = tail + sizeof s + pivots;
  return memcpy(tail, &s, sizeof s);
}

srmSaddle* srm_saddle_create(const srmSaddleShape* shape) {
  srmSaddle* s = allocate(shape);
  if (s == NULL) return NULL;
  bool good = true;
  if (shape->M != NULL) good = srm_pattern_copy(shape->M, &s->M) && good;
  if (shape->G != NULL) good = srm_pattern_copy(shape->G, &s->G) && good;
  s->shape.M = shape->M != NULL ? &s->M : NULL;
  s->shape.G = shape->G != NULL ? &s->G : NULL;
  good = good && create_blocks(s) && (!s->sparse || create_sparse(s));
  if (good) return s;
  srm_saddle_destroy(s);
  return NULL;
}

bool srm_saddle_is_sparse(const srmSaddle* s) { return s->sparse; }

size_t srm_saddle_fill(const srmSaddle* s) {
  const size_t n = (size_t)(s->shape.nv + s->nkept);
  if (s->by_tree) return srm_tree_fill(s->tree);
  if (s->by_blocks) return srm_blocks_fill(s->blocks);
  return s->sparse ? srm_solver_fill(s->lu) : n * n;
}

// ---- factor -----------------------------------------------------------------------------------------------------------

static double largest(const double* a, size_t n) {
  double most = 0;
  for (size_t i = 0; i < n; ++i) most = fabs(a[i]) > most ? fabs(a[i]) : most;  // fmax is a call
  return most;
}

static size_t count_M(const srmSaddle* s) {
  return s->shape.M != NULL ? (size_t)srm_pattern_count(&s->M) : (size_t)s->shape.nv * (size_t)s->shape.nv;
}

static size_t count_G(const srmSaddle* s) {
  return s->shape.G != NULL ? (size_t)srm_pattern_count(&s->G) : (size_t)s->shape.ng * (size_t)s->shape.nv;
}

// Row i of a pattern (or of a dense matrix) into out, times factor, with the given distance between columns.
static void spread(const srmPattern* p, int ncol, const double* values, int i, double factor, double* out,
                   size_t stride) {
  if (p == NULL) {
    const double* row = values + (size_t)i * (size_t)ncol;
    for (int j = 0; j < ncol; ++j) out[(size_t)j * stride] = factor * row[j];
  } else {
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) out[(size_t)p->column[k] * stride] = factor * values[k];
  }
}

static bool scale_dense_rows(srmSaddle* s, int n) {
  for (int i = 0; i < n; ++i) {
    double* row = s->A + (size_t)i * (size_t)n;
    const double most = largest(row, (size_t)n);
    if (!(most > 0) || !isfinite(most)) return false;
    s->scale[i] = 1 / most;
    for (int j = 0; j < n; ++j) row[j] *= s->scale[i];
  }
  return true;
}

static bool factor_dense(srmSaddle* s, const double* M, const double* D, const double* G) {
  const int nv = s->shape.nv, n = nv + s->nkept;
  memset(s->A, 0, (size_t)n * (size_t)n * sizeof *s->A);
  for (int i = 0; i < nv; ++i) {
    double* row = s->A + (size_t)i * (size_t)n;
    if (M == NULL) {
      row[i] = 1;
    } else {
      spread(s->shape.M, nv, M, i, 1, row, 1);
    }
  }
  for (int k = 0, at = nv; k < s->shape.ng; ++k) {
    if (s->kept[k] == 0) continue;
    spread(s->shape.G, nv, G, k, 1, s->A + (size_t)at * (size_t)n, 1);
    spread(s->shape.G, nv, D, k, -s->s, s->A + at, (size_t)n);
    ++at;
  }
  if (!scale_dense_rows(s, n) || !srm_lu(n, s->A, s->pivot)) return false;
  for (int i = 0; i < n; ++i) {
    // Entries are of size 1: below this a pivot is rounding.
    if (!(fabs(s->A[(size_t)i * (size_t)n + (size_t)i]) > 1e-15)) return false;
  }
  return true;
}

static bool factor_sparse(srmSaddle* s, const double* M, const double* D, const double* G) {
  const int nv = s->shape.nv;
  const bool other = s->deep && memcmp(s->kept, s->analysed, (size_t)s->shape.ng) != 0;
  if ((other || s->lu == NULL) && !analyse(s)) return false;
  for (int i = 0; i < nv; ++i) {
    for (int p = s->M.row[i]; p < s->M.row[i + 1]; ++p) {
      s->values[s->at_M[p]] = M != NULL ? M[p] : s->M.column[p] == i ? 1.0 : 0.0;
    }
  }
  for (int k = 0; k < s->shape.ng; ++k) {
    const bool kept = s->kept[k] != 0;
    for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) {
      s->values[s->at_D[p]] = kept ? -s->s * D[p] : 0.0;
      s->values[s->at_G[p]] = kept ? G[p] : 0.0;
    }
    if (has_diagonal(s, k)) s->values[s->at_diagonal[k]] = kept ? 0.0 : 1.0;
  }
  return srm_solver_factor(s->lu, s->values);
}

static bool factor_whole(srmSaddle* s, const double* M, const double* D, const double* G) {
  if (D == NULL) D = G;
  const double most_M = M != NULL ? largest(M, count_M(s)) : 1, most_D = largest(D, count_G(s));
  s->s = most_M > 0 && most_D > 0 ? most_M / most_D : 1;
  return s->sparse ? factor_sparse(s, M, D, G) : factor_dense(s, M, D, G);
}

bool srm_saddle_factor(srmSaddle* s, const double* M, const double* D, const double* G, const unsigned char* kept) {
  s->nkept = 0;
  for (int k = 0; k < s->shape.ng; ++k) {
    s->kept[k] = kept == NULL || kept[k] != 0;
    s->nkept += s->kept[k];
  }
  const bool symmetric = D == NULL || D == G;
  s->by_tree = s->tree != NULL && symmetric && srm_tree_factor(s->tree, M, G, s->kept);
  s->by_blocks = !s->by_tree && s->blocks != NULL && symmetric && srm_blocks_factor(s->blocks, M, G, s->kept);
  if (s->by_tree || s->by_blocks) return s->ready = true;
  return s->ready = factor_whole(s, M, D, G);
}

void srm_saddle_solve(srmSaddle* s, const double* f, const double* r, double* x, double* lambda) {
  const int nv = s->shape.nv, ng = s->shape.ng;
  SR_ASSERT(s->ready);
  if (s->by_tree) {
    srm_tree_solve(s->tree, f, r, x, lambda);
    return;
  }
  if (s->by_blocks) {
    if (srm_blocks_solve(s->blocks, f, r, x, lambda)) return;
    s->by_blocks = false;
    if (!factor_whole(s, srm_blocks_matrices(s->blocks, s->G_last), NULL, s->G_last)) {
      for (int i = 0; x != NULL && i < nv; ++i) x[i] = NAN;  // a refinement that does not converge gives no solution
      for (int k = 0; lambda != NULL && k < ng; ++k) lambda[k] = NAN;
      s->by_blocks = true;
      return;
    }
  }
  int at = nv;
  for (int i = 0; i < nv; ++i) s->x[i] = f != NULL ? f[i] : 0;
  for (int k = 0; k < ng; ++k) {
    if (s->kept[k] != 0) {
      s->x[at++] = r != NULL ? r[k] : 0;
    } else if (s->sparse) {
      s->x[at++] = 0;
    }
  }
  if (s->sparse) {
    srm_solver_solve(s->lu, s->x);
  } else {
    for (int i = 0; i < at; ++i) s->x[i] *= s->scale[i];
    srm_lu_solve(at, s->A, s->pivot, s->x);
  }
  if (x != NULL) memcpy(x, s->x, (size_t)nv * sizeof *x);
  at = nv;
  for (int k = 0; lambda != NULL && k < ng; ++k) {
    lambda[k] = s->kept[k] != 0 ? s->s * s->x[at] : 0;
    at += s->kept[k] != 0 || s->sparse;
  }
}

void srm_saddle_solve_rows(srmSaddle* s, const double* r, double* lambda) {
  SR_ASSERT(s->ready);
  if (s->by_blocks) {
    srm_blocks_solve_rows(s->blocks, r, lambda);
  } else {
    srm_saddle_solve(s, NULL, r, NULL, lambda);
  }
}

double srm_saddle_distance(srmSaddle* s, const double* M, const double* G, double* longest) {
  if (s->blocks == NULL || (s->by_tree && !srm_blocks_factor(s->blocks, M, G, s->kept))) return -1;
  return s->by_tree || s->by_blocks ? srm_blocks_distance(s->blocks, longest) : -1;
}

bool srm_saddle_has_distance(const srmSaddle* s) { return s->by_blocks; }
