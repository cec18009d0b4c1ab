// Contact problems solved by Sarrus and by Siconos numerics (Acary and others), an independent program: 1000 random problems, frictionless, planar and
// in space. Prints the largest difference of the velocities of each kind; the status is 1 where one is too large.
#include <math.h>
#include <sarrus/nonsmooth.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FrictionContactProblem.h"
#include "Friction_cst.h"
#include "LinearComplementarityProblem.h"
#include "NonSmoothDrivers.h"
#include "NumericsMatrix.h"
#include "NumericsVerbose.h"
#include "SolverOptions.h"
#include "lcp_cst.h"

enum { MOST = 40 };

static double noise(uint64_t* state) {  // -1 .. 1
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9223372036854775808.0;
}

// W = H H^T + a little on the diagonal, so that the velocities are unique without friction; q = H v.
static srContactProblem* random_problem(uint64_t* seed, int n, int rows, int dof, double mu) {
  double H[MOST][MOST], v[MOST];
  const int size = n * rows;
  srContactProblem* p = sr_contact_problem_create(0, 0, n, true);
  if (!p) exit(2);
  for (int i = 0; i < n; i++) p->cone[i] = (srContactCone){.rows = rows, .mu = mu * 0.5 * (1 + noise(seed))};
  for (int k = 0; k < dof; k++) v[k] = noise(seed);
  for (int i = 0; i < size; i++) {
    for (int k = 0; k < dof; k++) p->q[i] += (H[i][k] = noise(seed)) * v[k];
  }
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < size; j++) {
      p->W[i * size + j] = i == j ? 1e-3 : 0;
      for (int k = 0; k < dof; k++) p->W[i * size + j] += H[i][k] * H[j][k];
    }
  }
  return p;
}

// Impulses of Siconos; false: it found none.
static int by_siconos(const srContactProblem* p, int rows, double* x) {
  static double W[MOST * MOST], q[MOST], mu[MOST], u[MOST];
  const int size = p->ncontact * rows;
  memcpy(W, p->W, (size_t)(size * size) * sizeof *W);  // symmetric: its columns are its rows
  memcpy(q, p->q, (size_t)size * sizeof *q);
  for (int i = 0; i < p->ncontact; i++) mu[i] = p->cone[i].mu;
  memset(x, 0, (size_t)size * sizeof *x);
  memset(u, 0, sizeof u);
  NumericsMatrix* M = NM_create_from_data(NM_DENSE, size, size, W);
  const int kind = rows == 1 ? SICONOS_LCP_LEMKE : rows == 2 ? SICONOS_FRICTION_2D_NSGS : SICONOS_FRICTION_3D_NSGS;
  SolverOptions* o = solver_options_create(kind);
  o->dparam[SICONOS_DPARAM_TOL] = 1e-12;
  o->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
  int status;
  if (rows == 1) {
    LinearComplementarityProblem lcp = {.size = size, .M = M, .q = q};
    status = linearComplementarity_driver(&lcp, x, u, o);
  } else {
    FrictionContactProblem fc = {.dimension = rows, .numberOfContacts = p->ncontact, .M = M, .q = q, .mu = mu};
    status = rows == 2 ? fc2d_driver(&fc, x, u, o) : fc3d_driver(&fc, x, u, o);
  }
  solver_options_delete(o);
  free(o);
  M->matrix0 = NULL;  // ours
  free(M);
  return status == 0;
}

// Of one kind of problem: largest difference of the velocities; counts those that Siconos solves but Sarrus does not.
static int compare(const char* name, int problems, int n, int rows, int dof, double mu) {
  uint64_t seed = (uint64_t)(100 * n + rows);
  int unsolved = 0, theirs = 0, apart = 0;
  double most = 0;
  for (int i = 0; i < problems; i++) {
    srContactProblem* p = random_problem(&seed, n, rows, dof, mu);
    const srContactSize size = sr_contact_size(p);
    srContactSolver* s = sr_contact_solver_create(&size);
    srContactOptions o = sr_contact_options();
    srContactResult r;
    double x[MOST] = {0}, y[MOST], u[MOST], w[MOST];
    o.tolerance = 1e-12;
    if (rows < 3) o.method = sr_contact_method_find("lemke");
    if (!s || sr_contact_solve(s, p, &o, x, &r) != SR_OK) exit(2);
    unsolved += !r.solved;
    if (by_siconos(p, rows, y)) {
      double d = 0;
      sr_contact_velocity(s, p, x, u);
      sr_contact_velocity(s, p, y, w);
      for (int k = 0; k < n * rows; k++) d = fmax(d, fabs(u[k] - w[k]));
      // Several solutions are possible with friction; then theirs is one by our measure, too.
      if (d > 1e-7 && mu > 0 && sr_contact_error(s, p, y).residual < 1e-9)
        apart++;
      else
        most = fmax(most, d);
    } else {
      theirs++;
    }
    sr_contact_solver_destroy(s);
    sr_contact_problem_destroy(p);
  }
  printf("%-12s %4d problems: unsolved %d (Siconos %d), several solutions %d, largest difference %.2e m/s\n", name,
         problems, unsolved, theirs, apart, most);
  return unsolved > 0 || most > 1e-7 || theirs > problems / 20 || apart > problems / 50;
}

int main(void) {
  numerics_set_verbose(0);
  int bad = compare("frictionless", 400, 8, 1, 10, 0);
  bad += compare("planar", 300, 4, 2, 12, 0.6);
  bad += compare("in space", 300, 5, 3, 18, 0.6);
  return bad > 0;
}
