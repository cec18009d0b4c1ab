// A jump of the velocities by impulses along given rows, with the reactions of the constraints:
//   M (v+ - v) = J^T mu + G^T nu,     J v+ = u,     G v+ + b = 0
// v+ is the velocity with these properties that is nearest to v in the metric of M: the motion after impulses in J alone, whatever
// coordinates the system is written in. Dependent rows are left out; where J requires what G forbids, nothing is changed.
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/array.h"
#include "math/saddle.h"

#define DEPENDENT 1e-9  // distance of a row from the others
#define ALLOWED 1e-9    // of the largest velocity: residual of the rows

struct srImpulse {
  srSystem system;
  int most;
  srmPattern rows_pattern;
  srmSaddleShape shape;
  srmSaddle* saddle;
  srmRows* rows;
  size_t nG;  // numbers in G
  double *M, *f, *ydot, *D, *A, *b, *r, *dv;
  unsigned char* kept;
  double* block;
};

// The pattern of G with `most` full rows below.
static bool extend_pattern(srImpulse* x) {
  const srSystem* s = &x->system;
  const int n = s->ng + x->most, count = (int)x->nG + x->most * s->nv;
  int *row = NULL, *column = NULL;
  const bool good = srm_take_ints(&row, (size_t)n + 1) && srm_take_ints(&column, (size_t)count);
  x->rows_pattern = (srmPattern){.nrow = n, .ncol = s->nv, .row = row, .column = column};
  if (!good) return false;
  memcpy(row, s->G_sparsity->row, ((size_t)s->ng + 1) * sizeof *row);
  memcpy(column, s->G_sparsity->column, x->nG * sizeof *column);
  for (int k = 0; k < x->most; ++k) {
    row[s->ng + k + 1] = row[s->ng + k] + s->nv;
    for (int i = 0; i < s->nv; ++i) column[row[s->ng + k] + i] = i;
  }
  return true;
}

static bool allocate(srImpulse* x) {
  const srSystem* s = &x->system;
  const size_t nv = (size_t)s->nv, n = (size_t)(s->ng + x->most);
  const srPart parts[] = {{&x->M, sri_mass_count(s)},
                          {&x->f, nv},
                          {&x->ydot, (size_t)s->ny},
                          {&x->D, x->nG},
                          {&x->A, x->nG + (size_t)x->most * nv},
                          {&x->b, n},
                          {&x->r, n},
                          {&x->dv, nv}};
  return sr_take_parts(parts, SR_COUNT(parts), n, &x->block, &x->kept);
}

srImpulse* sri_impulse_create(const srSystem* system, int most) {
  srImpulse* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  const srSystem* s = system;
  x->system = *s;
  x->most = most;
  x->nG = sri_rows_count(s);
  x->shape = (srmSaddleShape){.nv = s->nv, .ng = s->ng + most, .mass = true};
  bool good = true;
  if (s->M_sparsity != NULL && s->G_sparsity != NULL) {
    good = extend_pattern(x);
    x->shape.M = s->M_sparsity;
    x->shape.G = &x->rows_pattern;
  }
  if (good) {
    x->saddle = srm_saddle_create(&x->shape);
    x->rows = srm_rows_create(&x->shape);
    good = x->saddle != NULL && x->rows != NULL && allocate(x);
  }
  if (good) return x;
  sri_impulse_destroy(x);
  return NULL;
}

void sri_impulse_destroy(srImpulse* x) {
  if (x == NULL) return;
  srm_pattern_free(&x->rows_pattern);
  srm_saddle_destroy(x->saddle);
  srm_rows_destroy(x->rows);
  sr_free(x->block);
  sr_free(x);
}

// What is missing in row k of A.
static void residuals(srImpulse* x, const double* v, const double* u, int count) {
  const int ng = x->system.ng;
  srm_rows_times(&x->shape, x->A, v, x->r);
  for (int k = 0; k < ng + x->most; ++k) {
    const bool active = k >= ng ? k < ng + count : x->system.active == NULL || x->system.active[k] != 0;
    const double to = k < ng ? -x->b[k] : active ? u[k - ng] : 0;
    x->r[k] = active ? to - x->r[k] : 0;
  }
}

static void clear_inactive(srImpulse* x) {
  const srSystem* s = &x->system;
  for (int k = 0; k < s->ng && s->active != NULL; ++k) {
    const int first = x->shape.G != NULL ? x->rows_pattern.row[k] : k * s->nv;
    const int end = x->shape.G != NULL ? x->rows_pattern.row[k + 1] : first + s->nv;
    for (int p = first; p < end && s->active[k] == 0; ++p) x->A[p] = 0;
  }
}

int sri_impulse(srImpulse* x, double t, const double* q, double* v, const double* y, int count, const double* J,
                const double* u) {
  const srSystem* s = &x->system;
  const size_t width = (size_t)s->nv;
  SR_ASSERT(count <= x->most);
  int answer = s->dynamics(s->user, t, q, v, y, SR_TAU_ELEMENT, x->M, x->f, x->ydot, s->D_differs ? x->D : NULL);
  if (answer == 0 && s->ng > 0) answer = s->constraint(s->user, t, q, NULL, x->A, x->b);
  if (answer != 0) return answer;
  clear_inactive(x);
  memset(x->A + x->nG, 0, (size_t)x->most * width * sizeof *x->A);
  memcpy(x->A + x->nG, J, (size_t)count * width * sizeof *x->A);
  const srmRowsChoice choice = {.tau = DEPENDENT};
  if (srm_rows_classify(x->rows, x->M, x->A, &choice, x->kept) < 0) return 1;
  if (!srm_saddle_factor(x->saddle, x->M, NULL, x->A, x->kept)) return 1;
  residuals(x, v, u, count);
  srm_saddle_solve(x->saddle, NULL, x->r, x->dv, NULL);
  for (int i = 0; i < s->nv; ++i) x->f[i] = v[i] + x->dv[i];
  residuals(x, x->f, u, count);
  if (!(sri_largest(s->ng + x->most, x->r) <= ALLOWED * fmax(1, sri_largest(s->nv, x->f)))) return 1;
  memcpy(v, x->f, width * sizeof *v);
  return 0;
}
