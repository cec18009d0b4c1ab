// Branch-sparse factor M = L^T L on the dense row-major lower triangle.  Featherstone (2008), section 8.5.
//
// Row k of L is nonzero at k and at its ancestors lambda(k), lambda(lambda(k)), ... only: elimination from the last
// coordinate to the first makes no fill-in, and costs O(n depth^2).
#include <math.h>
#include <sarrus/dynamics.h>

srStatus sr_ltl_factor(const srModel* m, double* M, int* bad) {
  const int n = m->nv;
  const int* lambda = m->dof_parent;
  for (int k = n - 1; k >= 0; k--) {
    double* row = M + k * n;
    if (!(row[k] > 0)) {
      *bad = k;
      return SR_FAILED;
    }
    row[k] = sqrt(row[k]);
    const double inverse = 1 / row[k];
    for (int i = lambda[k]; i >= 0; i = lambda[i]) row[i] *= inverse;
    for (int i = lambda[k]; i >= 0; i = lambda[i])
      for (int j = i; j >= 0; j = lambda[j]) M[i * n + j] -= row[i] * row[j];
  }
  return SR_OK;
}

void sr_ltl_solve(const srModel* m, const double* L, double* x) {
  const int n = m->nv;
  const int* lambda = m->dof_parent;
  for (int k = n - 1; k >= 0; k--) {  // L^T y = x
    x[k] /= L[k * n + k];
    for (int i = lambda[k]; i >= 0; i = lambda[i]) x[i] -= L[k * n + i] * x[k];
  }
  for (int k = 0; k < n; k++) {  // L x = y
    for (int i = lambda[k]; i >= 0; i = lambda[i]) x[k] -= L[k * n + i] * x[i];
    x[k] /= L[k * n + k];
  }
}
