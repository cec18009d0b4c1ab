// The table of sparse solvers, and what all of them share: when old pivots are used again, and how that is monitored.
//   r = b - A x,  x += A^-1 r,  and omega = max_i |r_i|/s_i / (|x| + max_i |b_i|/s_i),  s_i the largest entry of row i
// after one refinement; above RESIDUAL new pivots are chosen, from the same numbers.
#include "math/solver.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define RESIDUAL 1e-12  // a refined solution of good pivots leaves 1e-16

struct srmSolver {
  const srmSolverKind* kind;
  void* factor;
  bool factored, fresh;  // fresh: the pivots were chosen for these numbers
  long choices;
  srmPattern pattern;      // the rest: only for kinds with refactor
  double *values, *scale;  // of the last factor; largest entry of each row, inverted
  double *b, *r;
};

// ---- table ------------------------------------------------------------------------------------------------------------

static void* create_columns(const srmPattern* p) { return srm_sparse_lu_create(p, SRM_LU_COLUMNS); }
static void* create_diagonal(const srmPattern* p) { return srm_sparse_lu_create(p, SRM_LU_DIAGONAL); }
static void destroy_lu(void* lu) { srm_sparse_lu_destroy(lu); }
static bool factor_lu(void* lu, const double* values) { return srm_sparse_lu_factor(lu, values); }
static bool refactor_lu(void* lu, const double* values) { return srm_sparse_lu_refactor(lu, values); }
static void solve_lu(void* lu, double* x) { srm_sparse_lu_solve(lu, x); }
static size_t fill_lu(const void* lu) { return srm_sparse_lu_fill(lu); }

static const srmSolverKind lu_kind = {
    .name = "lu",
    .about = "LU ordered on A^T A, largest pivots, memory bounded beforehand",
    .create = create_columns,
    .destroy = destroy_lu,
    .factor = factor_lu,
    .solve = solve_lu,
    .fill = fill_lu,
};
static const srmSolverKind lu_diagonal_kind = {
    .name = "lu-diagonal",
    .about = "LU ordered on A + A^T, pivots on the diagonal where they serve",
    .create = create_diagonal,
    .destroy = destroy_lu,
    .factor = factor_lu,
    .refactor = refactor_lu,
    .solve = solve_lu,
    .fill = fill_lu,
};

static const srmSolverKind* const kinds[] = {&lu_kind, &lu_diagonal_kind, &srm_klu_kind};

int srm_solver_count(void) { return SR_COUNT(kinds); }

const srmSolverKind* srm_solver_at(int index) { return kinds[index]; }

const srmSolverKind* srm_solver_kind(const char* name) {
  for (int i = 0; i < SR_COUNT(kinds); ++i) {
    if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
  }
  return NULL;
}

bool srm_pattern_is_deep(const srmPattern* p) {
  double squares = 0;
  for (int i = 0; i < p->nrow; ++i) {
    const double length = p->row[i + 1] - p->row[i];
    squares += length * length;
  }
  return squares > (double)SRM_SHALLOW * srm_pattern_count(p);
}

const srmSolverKind* srm_solver_for(const srmPattern* leading) {
  if (!srm_pattern_is_deep(leading)) return &lu_kind;
  return srm_klu_kind.absent ? &lu_diagonal_kind : &srm_klu_kind;
}

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_solver_destroy(srmSolver* s) {
  if (s == NULL) return;
  if (s->factor != NULL) s->kind->destroy(s->factor);
  srm_pattern_free(&s->pattern);
  void* parts[] = {s->values, s->scale, s->b, s->r};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(s);
}

srmSolver* srm_solver_create(const srmPattern* p, const srmSolverKind* kind) {
  SR_ASSERT(!kind->absent && p->nrow == p->ncol);
  srmSolver* s = sr_alloc(sizeof *s);
  if (s == NULL) return NULL;
  const size_t n = (size_t)p->nrow;
  s->kind = kind;
  bool good = true;
  if (kind->refactor != NULL) {
    good = srm_pattern_copy(p, &s->pattern);
    good = good && srm_take_numbers(&s->values, (size_t)srm_pattern_count(p)) && srm_take_numbers(&s->scale, n) &&
           srm_take_numbers(&s->b, n) && srm_take_numbers(&s->r, n);
  }
  if (good) s->factor = kind->create(p);
  if (s->factor != NULL) return s;
  srm_solver_destroy(s);
  return NULL;
}

size_t srm_solver_fill(const srmSolver* s) { return s->kind->fill(s->factor); }

long srm_solver_choices(const srmSolver* s) { return s->choices; }

// ---- factor -----------------------------------------------------------------------------------------------------------

static bool choose_pivots(srmSolver* s, const double* values) {
  ++s->choices;
  s->fresh = true;
  s->factored = s->kind->factor(s->factor, values);
  return s->factored;
}

// Numbers for the residuals; false: a row without any.
static bool keep_numbers(srmSolver* s, const double* values) {
  const srmPattern* p = &s->pattern;
  memcpy(s->values, values, (size_t)srm_pattern_count(p) * sizeof *values);
  for (int i = 0; i < p->nrow; ++i) {
    double most = 0;
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) most = fabs(values[k]) > most ? fabs(values[k]) : most;
    if (!(most > 0) || !isfinite(most)) return false;
    s->scale[i] = 1 / most;
  }
  return true;
}

bool srm_solver_factor(srmSolver* s, const double* values) {
  if (s->kind->refactor == NULL) return choose_pivots(s, values);
  if (!keep_numbers(s, values)) {
    s->factored = false;
    return false;
  }
  s->fresh = false;
  if (s->factored && s->kind->refactor(s->factor, values)) return true;
  return choose_pivots(s, values);
}

// ---- solve ------------------------------------------------------------------------------------------------------------

// r = b - A x; returns omega.
static double residual(srmSolver* s, const double* x) {
  const srmPattern* p = &s->pattern;
  double worst = 0, size = 0;
  for (int i = 0; i < p->nrow; ++i) {
    double sum = s->b[i];
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) sum -= s->values[k] * x[p->column[k]];
    s->r[i] = sum;
    worst = fmax(worst, fabs(sum) * s->scale[i]);
    size = fmax(size, fabs(s->b[i]) * s->scale[i]);
  }
  for (int i = 0; i < p->nrow; ++i) size = fmax(size, fabs(x[i]));
  return size > 0 ? worst / size : 0;
}

// x = A^-1 b with one refinement; returns the remaining omega.
static double solve_refined(srmSolver* s, double* x) {
  const int n = s->pattern.nrow;
  memcpy(x, s->b, (size_t)n * sizeof *x);
  s->kind->solve(s->factor, x);
  if (residual(s, x) == 0) return 0;
  s->kind->solve(s->factor, s->r);
  for (int i = 0; i < n; ++i) x[i] += s->r[i];
  return residual(s, x);
}

void srm_solver_solve(srmSolver* s, double* x) {
  if (s->kind->refactor == NULL) {
    s->kind->solve(s->factor, x);
    return;
  }
  memcpy(s->b, x, (size_t)s->pattern.nrow * sizeof *x);
  const double left = solve_refined(s, x);
  if (left <= RESIDUAL || s->fresh) return;
  if (choose_pivots(s, s->values)) {
    (void)solve_refined(s, x);
  } else {  // singular: the caller gets NaN
    for (int i = 0; i < s->pattern.nrow; ++i) x[i] = (double)NAN;
  }
}
