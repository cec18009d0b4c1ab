// Frequency response of linear equations: G(i omega) = C (i omega - A)^-1 B, by a complex LU factorization at each frequency. A is balanced before, and all is
// scaled to size 1: the states have different units.
#include <math.h>
#include <sarrus/modes.h>
#include <string.h>

#include "base/base.h"
#include "math/eigen.h"
#include "math/shifted.h"

typedef struct Response {
  int n;
  double *A, *D, *LU, *x;
  int* pivot;
} Response;

// i omega - D^-1 A D, divided by its size.
static double fill(const Response* r, double omega) {
  const size_t n = (size_t)r->n;
  double size = fabs(omega);
  for (size_t i = 0; i < n * n; i++) size = fmax(size, fabs(r->A[i]));
  for (size_t i = 0; i < n * n; i++) {
    r->LU[2 * i] = -r->A[i] / size;
    r->LU[2 * i + 1] = i % (n + 1) == 0 ? omega / size : 0;
  }
  return size;
}

static void solve(const Response* r, bool regular, double size, int ninput, const double* B, int noutput,
                  const double* C, double* out) {
  for (int k = 0; k < ninput; k++) {
    for (int i = 0; i < r->n; i++) {
      r->x[2 * i] = B[i * ninput + k] / r->D[i] / size;
      r->x[2 * i + 1] = 0;
    }
    if (regular) srm_complex_lu_solve(r->n, r->LU, r->pivot, r->x);
    for (int j = 0; j < noutput; j++) {
      double* g = out + 2 * (j * ninput + k);
      g[0] = g[1] = regular ? 0 : (double)NAN;
      for (int i = 0; i < r->n && regular; i++) {
        g[0] += C[j * r->n + i] * r->D[i] * r->x[2 * i];
        g[1] += C[j * r->n + i] * r->D[i] * r->x[2 * i + 1];
      }
    }
  }
}

srStatus sr_frequency_response(const srLinear* linear, int ninput, const double* B, int noutput, const double* C,
                               double omega, double* out) {
  const size_t n = (size_t)linear->nx;
  Response r = {.n = linear->nx, .A = sr_alloc((n * n + n + 2 * n * n + 2 * n + 1) * sizeof(double))};
  r.pivot = sr_alloc((n + 1) * sizeof *r.pivot);
  const bool good = r.A && r.pivot;
  if (good) {
    r.D = r.A + n * n;
    r.LU = r.D + n;
    r.x = r.LU + 2 * n * n;
    if (n > 0) memcpy(r.A, linear->A, n * n * sizeof *r.A);
    srm_balance(r.n, r.A, r.D);
    const double size = fill(&r, omega);
    solve(&r, n == 0 || srm_complex_lu(r.n, r.LU, r.pivot), size, ninput, B, noutput, C, out);
  }
  sr_free(r.A);
  sr_free(r.pivot);
  return good ? SR_OK : SR_MEMORY;
}
