// Forces within friction cones that satisfy linear equations: limit analysis of contacts at rest.
//
//   A p = b,   |p_T| <= mu p_N
// Both sets are convex. Dykstra's alternating projections (Boyle and Dykstra 1986) from the solution of least norm converge to the nearest point of their intersection. Where it is empty
// the distance of the two sets stays. What is returned satisfies the equations, and the cones to a part of the largest force.
#include "analysis/cone_forces.h"

#include <math.h>
#include <string.h>

#define ROUNDS 20000
#define INSIDE 1e-9   // of the size of the forces: outside of a cone by so little is inside
#define NEARLY 1e-7   // ... after all rounds: the intersection is a boundary, which is approached slowly
#define LOOK 200      // rounds between two looks at the progress
#define STALLED 1e-4  // relative: a distance that falls by less in so many rounds stays

// The nearest point of a cone. Returns the distance.
static double to_cone(const srForceCone* c, double* p) {
  double *n = p + c->first, *t = n + 1, size = 0;
  if (c->limit > 0) {
    const double before = n[0];
    n[0] = fmin(fmax(n[0], -c->limit), c->limit);
    return fabs(n[0] - before);
  }
  for (int k = 0; k < c->tangents; k++) size = hypot(size, t[k]);
  if (size <= c->mu * n[0]) return 0;
  const double normal = (n[0] + c->mu * size) / (1 + c->mu * c->mu);
  const double kept = normal > 0 && size > 0 ? c->mu * normal / size : 0, to = fmax(normal, 0);
  const double off = hypot(n[0] - to, size - kept * size);
  n[0] = to;
  for (int k = 0; k < c->tangents; k++) t[k] *= kept;
  return off;
}

// p += least dp with A (p + dp) = b.
static void to_equations(const srRowBasis* rows, const double* A, int nrow, const double* b, double* p, double* work) {
  double *r = work, *scratch = r + nrow, *dp = scratch + rows->nv;
  for (int i = 0; i < nrow; i++) {
    r[i] = b[i];
    for (int k = 0; k < rows->nv; k++) r[i] -= A[(size_t)i * (size_t)rows->nv + (size_t)k] * p[k];
  }
  sr_row_basis_solve(rows, r, scratch, dp);
  for (int k = 0; k < rows->nv; k++) p[k] += dp[k];
}

// Largest distance of p from a cone, and which.
static double outside(const srForceCone* cone, int ncone, const double* p, double* copy, int n, int* worst) {
  double most = 0;
  memcpy(copy, p, (size_t)n * sizeof *copy);
  *worst = 0;
  for (int i = 0; i < ncone; i++) {
    const double off = to_cone(&cone[i], copy);
    if (off <= most) continue;
    most = off;
    *worst = i;
  }
  return most;
}

bool sr_cone_forces(srPool* pool, const srRowBasis* rows, const double* A, int nrow, const double* b,
                    const srForceCone* cone, int ncone, double size, double* p, int* worst) {
  const int n = rows->nv;
  double* work = sr_pool_alloc(pool, ((size_t)nrow + 5 * (size_t)n + 1) * sizeof *work);
  double *copy = work + nrow + 2 * n, *step = copy + n, *x = step + n;
  double before = (double)INFINITY;
  memset(p, 0, (size_t)n * sizeof *p);
  memset(step, 0, (size_t)n * sizeof *step);
  to_equations(rows, A, nrow, b, p, work);
  for (int round = 0;; round++) {
    const double off = outside(cone, ncone, p, copy, n, worst);
    if (off <= INSIDE * size) return true;
    if (round % LOOK == LOOK - 1) {
      if (round >= ROUNDS || !(off < before * (1 - STALLED))) return off <= NEARLY * size;
      before = off;
    }
    for (int k = 0; k < n; k++) x[k] = p[k] + step[k];
    memcpy(p, x, (size_t)n * sizeof *p);
    for (int i = 0; i < ncone; i++) (void)to_cone(&cone[i], p);
    for (int k = 0; k < n; k++) step[k] = x[k] - p[k];
    to_equations(rows, A, nrow, b, p, work);
  }
}
