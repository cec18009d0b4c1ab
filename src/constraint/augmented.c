// Augmented Lagrangian (Bayo and Ledesma 1996; paper 1, section 2.2): penalties on all rows, iterated to the exact multipliers.
//
//   (M + G^T P G) a_{i+1} = f - c + G^T lambda_i + G^T P r,     lambda_{i+1} = lambda_i + P (r - G a_{i+1})
//
// r is the right side of the rows with Baumgarte's terms, P diagonal: a large number over the length of the row squared in the
// metric of M. No row is chosen: redundant ones share the load, and at a singular position the system stays regular. Dense,
// for small models.
#include <math.h>
#include <string.h>

#include "constraint/constraint.h"
#include "math/dense.h"

#define PENALTY 1e5  // of the inertia that a row feels
#define ITERATIONS 12
#define ENOUGH 1e-12  // of the largest right side

static double* entry(double* A, int n, int i, int j) { return A + (size_t)i * (size_t)n + (size_t)j; }

// Penalty of each row. Rows that are short only here are not pushed harder than 100 times (saddle_rows.c tells why).
static void penalties(const srModel* m, const srData* d, double* P) {
  double longest2 = 0;
  for (int i = 0; i < m->ng; i++) {
    P[i] = 0;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) {
      const int j = m->G_index[k];
      const double mass = d->M[m->M_place[2 * m->M_start[j]]];
      if (mass > 0) P[i] += d->G[k] * d->G[k] / mass;
    }
    longest2 = fmax(longest2, P[i]);
  }
  for (int i = 0; i < m->ng; i++) P[i] = longest2 > 0 ? PENALTY / fmax(P[i], 1e-4 * longest2) : PENALTY;
}

static bool factor(const srModel* m, const srData* d, const double* P, double* A) {
  const int n = m->nv;
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int i = 0; i < n; i++) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++) *entry(A, n, i, m->M_column[k]) = d->M[k];
  }
  for (int r = 0; r < m->ng; r++) {
    for (int k = m->G_start[r]; k < m->G_start[r + 1]; k++) {
      for (int l = m->G_start[r]; l <= k; l++) {
        *entry(A, n, m->G_index[k], m->G_index[l]) += P[r] * d->G[k] * d->G[l];
      }
    }
  }
  return srm_cholesky(n, A);
}

int sr_solve_augmented(const srModel* m, srData* d) {
  const int answer = sr_equations(m, d);
  if (answer != 0) return answer;
  double *right = d->row_work, *P = right + m->ng, *A = d->priv->dense, *sum = A + (size_t)m->nv * (size_t)m->nv;
  penalties(m, d, P);
  if (!factor(m, d, P, A)) return sr_no_metric(m, d);
  sr_constraint_velocity(m, d, d->v, right);
  sr_row_right_side(m, d, right);
  memset(d->lambda, 0, (size_t)m->ng * sizeof *d->lambda);
  double before = (double)INFINITY, scale = 1;
  for (int i = 0; i < m->ng; i++) scale = fmax(scale, fabs(right[i]));
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    for (int i = 0; i < m->nv; i++) d->a[i] = d->f[i] - d->bias[i];
    for (int i = 0; i < m->ng; i++) sum[i] = d->lambda[i] + P[i] * right[i];
    sr_constraint_force(m, d, sum, d->a);
    srm_cholesky_solve(m->nv, A, d->a);
    d->row_residual = 0;
    for (int i = 0; i < m->ng; i++) {
      double miss = right[i];
      for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) miss -= d->G[k] * d->a[m->G_index[k]];
      d->lambda[i] += P[i] * miss;
      d->row_residual = fmax(d->row_residual, fabs(miss));
    }
    if (!(d->row_residual > ENOUGH * scale) || d->row_residual > 0.5 * before) break;
    before = d->row_residual;
  }
  return isfinite(d->row_residual) ? 0 : 1;
}
