// The tangent of implicit methods: derivatives of the residual of the motion by q, v and y, exact or by differences.
//
//   E = [ M(q) a - f(t,q,v,y; tau) - D^T lambda ]      nv rows
//       [         - y'(t,q,v,y; tau)            ]      ny rows
//   Kq = dE/dxi (q moved by retract),  Kv = dE/d(v, y),   a and lambda held
#ifndef SR_INTEGRATE_TANGENT_H
#define SR_INTEGRATE_TANGENT_H

#include "integrate/integrator.h"
#include "math/sparse.h"

typedef struct srTangentWork {
  srmPattern pattern;  // (nv+ny) x (nv+ny): symmetric, with the diagonal; where the system gives none, full
  size_t count;        // its entries
  double *Kq, *Kv;     // by the pattern
  int ngroup;          // columns of one group have no row in common: one difference serves them all
  int* group;          // of each column (nv+ny)
  int* row_of;         // of each entry: its row (count)
  int* transposed;     // of each entry (i, j): the place of (j, i) (count)
  int* mass;           // of each number of the system's M: its place in the pattern
  size_t nmass;
  // Where the system solves its linear systems itself there are no matrices: pattern, Kq, Kv, M and the lists above are empty.
  const srMotionSolver* solver;
  double* diagonal;  // of M where the tangent was taken (nv)
  // What a difference needs: residuals, a moved state, M, f, G, D of the place.
  double *e0, *e1, *x, *M, *f, *G, *D, *dxi;
  double* block;
} srTangentWork;

// Allocates all memory; false: out of memory (destroy must still be called).
bool sri_tangent_create(srTangentWork* work, const srSystem* system);
void sri_tangent_destroy(srTangentWork* work);

// Kq and Kv at the packed state x, with a (nv) and lambda (ng, or NULL where ng = 0) held. By the system's callback, or by
// one-sided differences over the groups where it has none or the options ask for it. Outcomes as in explicit.h.
int sri_tangent(srIntegrator* integrator, srTangentWork* work, double t, const double* x, const double* a,
                const double* lambda);
// out = cM diag(M, 0) + cI diag(0, I) + cq Kq + cv Kv, by the pattern. M as the system's `dynamics` writes it.
void sri_tangent_combine(const srTangentWork* work, const srSystem* system, const double* M, double cM, double cI,
                         double cq, double cv, double* out);

// out = Kq dxi + Kv dx over (v, y); dxi (nv), dx (nv + ny; NULL: 0).
void sri_stiffness_times(const srTangentWork* work, const srSystem* system, const double* dxi, const double* dx,
                         double* out);
// out -= Kq dxi; overwrites e1.
void sri_subtract_stiffness(const srTangentWork* work, const srSystem* system, const double* dxi, double* out);

// Does an iteration with a kept matrix solve its equations? Increments do not show it: where a force has left its stiff
// branch (a support that lifts off, a bristle that yields), the stiffness of that branch, in the matrix, makes them small though
// nothing is solved, and equations that converge hide one that does not. The test uses the response of the stiffness to an
// increment, Kq dxi + Kv dx: that much of the residual remains where the force does not respond. In units of the allowed error, as inertia
// alone would turn it into errors of v and y, it must be negligible, or halve twice in a row: the first decrease may be that
// of a prediction deep in the stiff branch.
#define SRI_FALLS_ENOUGH 2
#define SRI_NEGLIGIBLE 1e-3  // where M_ii is taken for the inertia: a link in a chain may be 1000 times easier to move
// Consecutive decreases, after `falls` previous ones (-1 in the first iteration of a process); SRI_FALLS_ENOUGH where all of now (n) is
// negligible. now goes to before (n).
int sri_stiffness_falls(int n, double negligible, const double* now, double* before, int falls);
// M_ii, of M as the system's `dynamics` writes it, or where the tangent was taken.
double sri_mass_of(const srTangentWork* work, const srSystem* system, const double* M, int i);

#endif
