// Augmented Lagrangian (Bayo and Ledesma 1996; Rodrigues da Silva et al. 2024, section 2.2): penalties on all equations, iterated to the exact multipliers.
//
//   (M + G^T P G) a_{i+1} = f + G^T lambda_i + G^T P r,     lambda_{i+1} = lambda_i + P (r - G a_{i+1})
//
// r is the right-hand side of the constraint equations with Baumgarte's terms, P diagonal: a large number over the squared length of the row
// of G in the metric of M. No rows are selected: redundant ones share the load, and at a singular position the system stays regular. Dense,
// for small systems.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "integrate/constrained.h"
#include "math/dense.h"

#define PENALTY 1e5  // of the effective inertia of a row
#define ITERATIONS 12
#define ENOUGH 1e-12  // of the largest right-hand side
#define SHORTEST2                                                                                                      \
  1e-4  // squared length over that of the longest row: shorter ones get no larger penalty (saddle_rows.c)

struct srAugmented {
  double *A, *P, *sum;  // nv x nv, ng, ng
};

struct srAugmented* sri_augmented_create(const srSystem* s) {
  const size_t nv = (size_t)s->nv, ng = (size_t)s->ng;
  struct srAugmented* w = sr_alloc(sizeof *w + (nv * nv + 2 * ng) * sizeof(double));
  if (w == NULL) return NULL;
  w->A = (double*)(void*)(w + 1);
  w->P = w->A + nv * nv;
  w->sum = w->P + ng;
  return w;
}

static void penalties(const srConstrained* c, double* P) {
  double longest2 = 0;
  srm_rows_lengths(&c->shape, c->M, c->G, P);
  for (int k = 0; k < c->shape.ng; ++k) {
    P[k] *= P[k];
    longest2 = fmax(longest2, P[k]);
  }
  for (int k = 0; k < c->shape.ng; ++k) P[k] = longest2 > 0 ? PENALTY / fmax(P[k], SHORTEST2 * longest2) : PENALTY;
}

static bool factor(const srConstrained* c, struct srAugmented* w) {
  const size_t n = (size_t)c->shape.nv;
  memset(w->A, 0, n * n * sizeof *w->A);
  for (size_t i = 0; i < n; ++i) {
    const srEntries row = sri_entries(c->shape.M, (int)n, c->M, (int)i);
    for (int e = 0; e < row.n; ++e) w->A[i * n + (size_t)sri_column(&row, e)] = row.value[e];
  }
  for (int k = 0; k < c->shape.ng; ++k) {
    const srEntries row = sri_entries(c->shape.G, (int)n, c->G, k);
    for (int e = 0; e < row.n; ++e) {
      double* line = w->A + (size_t)sri_column(&row, e) * n;
      for (int l = 0; l <= e; ++l) line[sri_column(&row, l)] += w->P[k] * row.value[e] * row.value[l];
    }
  }
  return srm_cholesky((int)n, w->A);
}

bool sri_augmented_solve(srConstrained* c, const double* right, double* vdot) {
  struct srAugmented* w = c->augmented;
  const int nv = c->shape.nv, ng = c->shape.ng;
  double before = (double)INFINITY, scale = 1, worst = 0;
  penalties(c, w->P);
  if (!factor(c, w)) return false;
  for (int k = 0; k < ng; ++k) {
    c->lambda[k] = 0;
    scale = fmax(scale, fabs(right[k]));
  }
  for (int iteration = 0; iteration < ITERATIONS; ++iteration) {
    for (int k = 0; k < ng; ++k) w->sum[k] = c->lambda[k] + w->P[k] * right[k];
    srm_rows_transposed_times(&c->shape, c->G, w->sum, vdot);
    for (int i = 0; i < nv; ++i) vdot[i] += c->f[i];
    srm_cholesky_solve(nv, w->A, vdot);
    srm_rows_times(&c->shape, c->G, vdot, w->sum);
    worst = 0;
    for (int k = 0; k < ng; ++k) {
      const double miss = right[k] - w->sum[k];
      c->lambda[k] += w->P[k] * miss;
      worst = fmax(worst, fabs(miss));
    }
    if (!(worst > ENOUGH * scale) || worst > 0.5 * before) break;
    before = worst;
  }
  return isfinite(worst);
}
