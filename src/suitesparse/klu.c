// LU by KLU of SuiteSparse, ordered by AMD on A + A^T.             Davis and Palamadai Natarajan (2010), ACM TOMS algorithm 907
//   btf = 0    permuting to block triangular form takes the entries of saddle-point matrices off the diagonal: twice the fill
//   tol = 0.1  a pivot on the diagonal is taken where it is at least this part of its column
//   scale = 2  rows divided by their largest entry, as in math/sparse_lu.c: the same pivots count as zero
// klu_factor allocates, since its fill follows from the pivots; klu_refactor and klu_solve do not. KLU takes memory from the C library:
// its allocator is one for the whole process, and belongs to the host. The library is linked dynamically (LGPL).
#include <klu.h>
#include <math.h>

#include "base/base.h"
#include "math/solver.h"

#define LEAST_PIVOT 1e-15  // of entries of size 1: below it a pivot is rounding
#define LEAST_GROWTH                                                                                                   \
  1e-6  // reciprocal growth of the elements: 0.1 for fresh pivots, 1e-16 for a solution without a digit

typedef struct Klu {
  int n;
  int *start, *row, *from;  // columns of A, and where each number is in the caller's array
  double* values;           // by columns
  klu_common common;
  klu_symbolic* symbolic;
  klu_numeric* numeric;
} Klu;

static void destroy(void* factor) {
  Klu* k = factor;
  if (k->numeric != NULL) klu_free_numeric(&k->numeric, &k->common);
  if (k->symbolic != NULL) klu_free_symbolic(&k->symbolic, &k->common);
  sr_free(k->start);
  sr_free(k->row);
  sr_free(k->from);
  sr_free(k->values);
  sr_free(k);
}

static void* create(const srmPattern* p) {
  Klu* k = sr_alloc(sizeof *k);
  if (k == NULL) return NULL;
  k->n = p->nrow;
  klu_defaults(&k->common);
  k->common.btf = 0;
  k->common.tol = 0.1;
  k->common.scale = 2;
  if (srm_pattern_columns(p, &k->start, &k->row, &k->from) &&
      srm_take_numbers(&k->values, (size_t)srm_pattern_count(p))) {
    k->symbolic = klu_analyze(k->n, k->start, k->row, &k->common);
  }
  if (k->symbolic != NULL) return k;
  destroy(k);
  return NULL;
}

static void gather(Klu* k, const double* values) {
  for (int i = 0; i < k->start[k->n]; ++i) k->values[i] = values[k->from[i]];
}

static bool pivots_count(const Klu* k) {
  const double* pivot = k->numeric->Udiag;
  for (int i = 0; i < k->n; ++i) {
    if (!(fabs(pivot[i]) > LEAST_PIVOT) || !isfinite(pivot[i])) return false;
  }
  return true;
}

static bool factor(void* factor, const double* values) {
  Klu* k = factor;
  gather(k, values);
  if (k->numeric != NULL) klu_free_numeric(&k->numeric, &k->common);
  k->numeric = klu_factor(k->start, k->row, k->values, k->symbolic, &k->common);
  return k->numeric != NULL && k->common.status == KLU_OK && pivots_count(k);
}

static bool refactor(void* factor, const double* values) {
  Klu* k = factor;
  gather(k, values);
  if (!klu_refactor(k->start, k->row, k->values, k->symbolic, k->numeric, &k->common) || k->common.status != KLU_OK ||
      !pivots_count(k))
    return false;
  return klu_rgrowth(k->start, k->row, k->values, k->symbolic, k->numeric, &k->common) &&
         k->common.rgrowth > LEAST_GROWTH;
}

static void solve(void* factor, double* x) {
  Klu* k = factor;
  (void)klu_solve(k->symbolic, k->numeric, k->n, 1, x, &k->common);
}

static size_t fill(const void* factor) {
  const Klu* k = factor;
  return k->numeric != NULL ? (size_t)k->numeric->lnz + (size_t)k->numeric->unz : 0;
}

const srmSolverKind srm_klu_kind = {
    .name = "klu",
    .about = "KLU of SuiteSparse, ordered by AMD on A + A^T",
    .create = create,
    .destroy = destroy,
    .factor = factor,
    .refactor = refactor,
    .solve = solve,
    .fill = fill,
};
