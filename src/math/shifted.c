// Saddle-point systems with a real or complex K: dense or sparse LU of the whole matrix, multipliers scaled to the size of x.
//   [ K  -c D^T ] [    x     ]   [ f ]
//   [ G     0   ] [ lambda/c ] = [ r ]        c = max|K| / max|D|
// A row left out becomes lambda = 0, a row of the identity; the sparse pattern is that of math/saddle.c. Sparse and complex: the entry a + i b at
// (i, j) is the block [a -b; b a] at (2i, 2j) of a real matrix; D and G are real, so their blocks are diagonal.
#include "math/shifted.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/dense.h"
#include "math/solver.h"

#define DENSE_BELOW 60  // up to it dense, however sparse
#define DENSE_SHARE 4   // sparse where the entries are fewer than this part of the matrix

struct srmShifted {
  srmShiftedShape shape;
  srmPattern K, G;
  int size;                  // n + ng
  int parts;                 // numbers of an entry: 1 real, 2 complex
  bool sparse, deep, ready;  // deep: the pattern is made for the rows in `analysed`
  double c;                  // scale of the multipliers
  unsigned char *kept, *analysed;
  double *A, *scale;  // dense: (size^2 entries), of the rows
  int* pivot;
  srmSolver* lu;
  int *at_K, *at_D, *at_G,
      *at_diagonal;   // sparse: where the numbers go; complex: 4 positions per entry of K, else 2
  int *row, *column;  // of the sparse matrix
  double* values;
  double* x;  // right-hand side and solution (parts * size)
};

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_shifted_destroy(srmShifted* s) {
  if (s == NULL) return;
  srm_pattern_free(&s->K);
  srm_pattern_free(&s->G);
  srm_solver_destroy(s->lu);
  void* parts[] = {s->kept, s->analysed,    s->A,   s->scale,  s->pivot,  s->at_K, s->at_D,
                   s->at_G, s->at_diagonal, s->row, s->column, s->values, s->x};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(s);
}

// Where the columns of D^T begin in each row of K: multipliers of each unknown, by transposing G.
static bool transpose_rows(const srmPattern* G, int** start, int** row, int** place) {
  const int count = srm_pattern_count(G);
  if (!srm_take_ints(start, (size_t)G->ncol + 2) || !srm_take_ints(row, (size_t)count) ||
      !srm_take_ints(place, (size_t)count))
    return false;
  for (int p = 0; p < count; ++p) ++(*start)[G->column[p] + 2];
  for (int j = 0; j < G->ncol; ++j) (*start)[j + 2] += (*start)[j + 1];
  for (int k = 0; k < G->nrow; ++k) {
    for (int p = G->row[k]; p < G->row[k + 1]; ++p) {
      const int at = (*start)[G->column[p] + 1]++;
      (*row)[at] = k;
      (*place)[at] = p;
    }
  }
  return true;
}

// Is row k of D and G in the pattern? Is its diagonal?
static bool has_row(const srmShifted* s, int k) { return !s->deep || s->analysed[k] != 0; }
static bool has_diagonal(const srmShifted* s, int k) { return !s->deep || s->analysed[k] == 0; }

// Line `part` of row i of the upper blocks: K, then D^T.
static void upper_line(srmShifted* s, int i, int part, const int* start, const int* rows, const int* place,
                       int* count) {
  const int parts = s->parts, n = s->shape.n;
  for (int p = s->K.row[i]; p < s->K.row[i + 1]; ++p) {
    for (int other = 0; other < parts; ++other) {
      s->at_K[(p * parts + part) * parts + other] = *count;
      s->column[(*count)++] = parts * s->K.column[p] + other;
    }
  }
  for (int e = i < s->shape.nv ? start[i] : 0; i < s->shape.nv && e < start[i + 1]; ++e) {
    if (!has_row(s, rows[e])) continue;
    s->at_D[place[e] * parts + part] = *count;
    s->column[(*count)++] = parts * (n + rows[e]) + part;
  }
  s->row[parts * i + part + 1] = *count;
}

static void lower_line(srmShifted* s, int k, int part, int* count) {
  const int parts = s->parts, n = s->shape.n;
  for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) {
    s->at_G[p * parts + part] = *count;
    s->column[(*count)++] = parts * s->G.column[p] + part;
  }
  if (has_diagonal(s, k)) {
    s->at_diagonal[k * parts + part] = *count;
    s->column[(*count)++] = parts * (n + k) + part;
  }
  s->row[parts * (n + k) + part + 1] = *count;
}

static bool assemble_pattern(srmShifted* s) {
  int *start = NULL, *rows = NULL, *place = NULL, count = 0;
  const bool good = transpose_rows(&s->G, &start, &rows, &place);
  for (int i = 0; good && i < s->parts * s->shape.n; ++i) {
    upper_line(s, i / s->parts, i % s->parts, start, rows, place, &count);
  }
  for (int k = 0; good && k < s->parts * s->shape.ng; ++k) lower_line(s, k / s->parts, k % s->parts, &count);
  sr_free(start);
  sr_free(rows);
  sr_free(place);
  return good;
}

// Pattern and order of elimination for the rows in `kept`.
static bool analyse(srmShifted* s) {
  srm_solver_destroy(s->lu);
  s->lu = NULL;
  memcpy(s->analysed, s->kept, (size_t)s->shape.ng);
  if (!assemble_pattern(s)) return false;
  const int lines = s->parts * s->size;
  const srmPattern whole = {.nrow = lines, .ncol = lines, .row = s->row, .column = s->column};
  s->lu = srm_solver_create(&whole, srm_solver_for(&s->K));
  return s->lu != NULL;
}

static bool create_sparse(srmShifted* s) {
  const size_t parts = (size_t)s->parts, ng = (size_t)s->shape.ng, lines = parts * (size_t)s->size;
  const size_t nK = parts * parts * (size_t)srm_pattern_count(&s->K), nG = parts * (size_t)srm_pattern_count(&s->G);
  const size_t count = nK + 2 * nG + parts * ng;
  s->deep = srm_pattern_is_deep(&s->K);
  s->analysed = sr_alloc(ng + 1);
  const bool good = s->analysed != NULL && srm_take_ints(&s->row, lines + 1) && srm_take_ints(&s->column, count) &&
                    srm_take_ints(&s->at_K, nK) && srm_take_ints(&s->at_D, nG) && srm_take_ints(&s->at_G, nG) &&
                    srm_take_ints(&s->at_diagonal, parts * ng) && srm_take_numbers(&s->values, count);
  if (!good) return false;
  memset(s->kept, 1, ng);
  return analyse(s);
}

static bool create_dense(srmShifted* s) {
  const size_t n = (size_t)s->size;
  return srm_take_ints(&s->pivot, n) && srm_take_numbers(&s->A, (size_t)s->parts * n * n) &&
         srm_take_numbers(&s->scale, n);
}

static bool is_sparse(const srmShiftedShape* shape) {
  const double n = shape->n + shape->ng;
  if (shape->dense || (shape->ng > 0 && shape->G == NULL) || n <= DENSE_BELOW) return false;
  const double entries = srm_pattern_count(shape->K) + (shape->ng > 0 ? 2.0 * srm_pattern_count(shape->G) : 0.0);
  return DENSE_SHARE * entries < n * n;
}

srmShifted* srm_shifted_create(const srmShiftedShape* shape) {
  static const int none = 0;
  const srmPattern empty = {.nrow = 0, .ncol = shape->nv, .row = &none, .column = &none};
  srmShifted* s = sr_alloc(sizeof *s);
  if (s == NULL) return NULL;
  s->shape = *shape;
  s->size = shape->n + shape->ng;
  s->parts = shape->complex ? 2 : 1;
  s->sparse = is_sparse(shape);
  bool good = srm_pattern_copy(shape->K, &s->K);
  good = srm_pattern_copy(shape->G != NULL && shape->ng > 0 ? shape->G : &empty, &s->G) && good;
  s->shape.K = &s->K;
  s->kept = sr_alloc((size_t)shape->ng + 1);
  good = good && s->kept != NULL && srm_take_numbers(&s->x, (size_t)s->parts * (size_t)s->size) &&
         (s->sparse ? create_sparse(s) : create_dense(s));
  if (good) return s;
  srm_shifted_destroy(s);
  return NULL;
}

bool srm_shifted_is_sparse(const srmShifted* s) { return s->sparse; }

// ---- factor -----------------------------------------------------------------------------------------------------------

static double largest(const double* a, size_t n) {
  double most = 0;
  for (size_t i = 0; a != NULL && i < n; ++i) most = fabs(a[i]) > most ? fabs(a[i]) : most;
  return most;
}

static size_t count_rows(const srmShifted* s) {
  return s->shape.G != NULL ? (size_t)srm_pattern_count(&s->G) : (size_t)s->shape.ng * (size_t)s->shape.nv;
}

static double* entry(srmShifted* s, int i, int j) {
  return s->A + (size_t)s->parts * ((size_t)i * (size_t)s->size + (size_t)j);
}

// Row k of D and of G into the dense matrix.
static void dense_row(srmShifted* s, const double* D, const double* G, int k) {
  const int n = s->shape.n;
  const bool full = s->shape.G == NULL;
  const int first = full ? 0 : s->G.row[k], end = full ? s->shape.nv : s->G.row[k + 1];
  for (int p = first; p < end; ++p) {
    const int j = full ? p : s->G.column[p];
    const size_t at = full ? (size_t)k * (size_t)s->shape.nv + (size_t)p : (size_t)p;
    *entry(s, n + k, j) = G[at];
    *entry(s, j, n + k) = -s->c * D[at];
  }
}

// Rows scaled to largest entry 1, so that a pivot can be distinguished from rounding.
static bool scale_rows(srmShifted* s) {
  const size_t length = (size_t)s->parts * (size_t)s->size;
  for (int i = 0; i < s->size; ++i) {
    double* row = entry(s, i, 0);
    const double most = largest(row, length);
    if (!(most > 0) || !isfinite(most)) return false;
    s->scale[i] = 1 / most;
    for (size_t j = 0; j < length; ++j) row[j] *= s->scale[i];
  }
  return true;
}

static bool factor_dense(srmShifted* s, const double* re, const double* im, const double* D, const double* G) {
  const int n = s->shape.n, size = s->size;
  memset(s->A, 0, (size_t)s->parts * (size_t)size * (size_t)size * sizeof *s->A);
  for (int i = 0; i < n; ++i) {
    for (int p = s->K.row[i]; p < s->K.row[i + 1]; ++p) {
      double* a = entry(s, i, s->K.column[p]);
      a[0] = re[p];
      if (im != NULL) a[1] = im[p];
    }
  }
  for (int k = 0; k < s->shape.ng; ++k) {
    if (s->kept[k] != 0) {
      dense_row(s, D, G, k);
    } else {
      *entry(s, n + k, n + k) = 1;
    }
  }
  if (!scale_rows(s) || !(s->parts == 2 ? srm_complex_lu(size, s->A, s->pivot) : srm_lu(size, s->A, s->pivot)))
    return false;
  for (int i = 0; i < size; ++i) {
    if (!(largest(entry(s, i, i), (size_t)s->parts) > 1e-15)) return false;
  }
  return true;
}

static bool factor_sparse(srmShifted* s, const double* re, const double* im, const double* D, const double* G) {
  const int parts = s->parts, nK = srm_pattern_count(&s->K);
  const bool other = s->deep && memcmp(s->kept, s->analysed, (size_t)s->shape.ng) != 0;
  if ((other || s->lu == NULL) && !analyse(s)) return false;
  for (int p = 0; p < nK; ++p) {
    const int* at = s->at_K + p * parts * parts;
    s->values[at[0]] = re[p];
    if (parts == 1) continue;
    s->values[at[1]] = -im[p];
    s->values[at[2]] = im[p];
    s->values[at[3]] = re[p];
  }
  for (int k = 0; k < s->shape.ng; ++k) {
    const bool kept = s->kept[k] != 0;
    for (int part = 0; part < parts; ++part) {
      for (int p = s->G.row[k]; has_row(s, k) && p < s->G.row[k + 1]; ++p) {
        s->values[s->at_D[p * parts + part]] = kept ? -s->c * D[p] : 0.0;
        s->values[s->at_G[p * parts + part]] = kept ? G[p] : 0.0;
      }
      if (has_diagonal(s, k)) s->values[s->at_diagonal[k * parts + part]] = kept ? 0.0 : 1.0;
    }
  }
  return srm_solver_factor(s->lu, s->values);
}

bool srm_shifted_factor(srmShifted* s, const double* re, const double* im, const double* D, const double* G,
                        const unsigned char* kept) {
  SR_ASSERT((im != NULL) == (s->parts == 2));
  for (int k = 0; k < s->shape.ng; ++k) s->kept[k] = kept == NULL || kept[k] != 0;
  const size_t nK = (size_t)srm_pattern_count(&s->K);
  const double most_K = fmax(largest(re, nK), largest(im, nK)), most_D = largest(D, count_rows(s));
  s->c = most_K > 0 && most_D > 0 ? most_K / most_D : 1;
  s->ready = s->sparse ? factor_sparse(s, re, im, D, G) : factor_dense(s, re, im, D, G);
  return s->ready;
}

// ---- solve ------------------------------------------------------------------------------------------------------------

void srm_shifted_solve(srmShifted* s, const double* f, const double* r, double* x, double* lambda) {
  const int parts = s->parts, n = s->shape.n, ng = s->shape.ng;
  SR_ASSERT(s->ready);
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < n; ++i) s->x[parts * i + part] = f[part * n + i];
    for (int k = 0; k < ng; ++k) s->x[parts * (n + k) + part] = s->kept[k] != 0 ? r[part * ng + k] : 0;
  }
  if (s->sparse) {
    srm_solver_solve(s->lu, s->x);
  } else {
    for (int i = 0; i < parts * s->size; ++i) s->x[i] *= s->scale[i / parts];
    if (parts == 2) {
      srm_complex_lu_solve(s->size, s->A, s->pivot, s->x);
    } else {
      srm_lu_solve(s->size, s->A, s->pivot, s->x);
    }
  }
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < n; ++i) x[part * n + i] = s->x[parts * i + part];
    for (int k = 0; k < ng; ++k) lambda[part * ng + k] = s->kept[k] != 0 ? s->c * s->x[parts * (n + k) + part] : 0;
  }
}
