// The matrices of Newton's iteration in cvode and ida.
#ifndef SR_SUNDIALS_NEWTON_H
#define SR_SUNDIALS_NEWTON_H

#include "integrate/constrained.h"
#include "integrate/tangent.h"

// R(t, x), what x' is to be, with all its terms, into rate (n + nw). Outcomes as in explicit.h.
typedef int (*srNewtonRate)(srIntegrator* integrator, double t, const double* x, double* rate);

typedef struct srNewton {
  bool saddle;                   // of the tangent and the rows; else of R
  const srMotionSolver* solver;  // ... by the system; NULL: by differences
  int n;                         // nq + nv + ny
  double c;                      // x' = c x + ... in the formula of the method: the coefficient of the last factor
  double across;  // what a change of q across the motion is multiplied by: 1, less where the equations draw q back
  // By differences.
  double *J, *LU, *f0, *f1, *x1;
  int* pivot;
  // By the tangent.
  srTangentWork tangent;
  srmPattern G_wide;  // of G over (v, y)
  srmSaddle *motion,
      *position;  // position: identity and the rows that have a position form; NULL: accelerations (cvode)
  size_t nG, nM;
  double *A, *M, *G, *D;  // at the state of the last evaluation
  double *G1, *G2;        // dG/dt and its derivative there, along the motion; in ida G1 is N
  double* rows;           // G + E / c
  double *lower, *upper;  // the same and D, over (v, y)
  double *q, *b, *b1, *dx, *r, *dl;
  double *xi0, *xi, *zeta, *dq, *q1;
  unsigned char *kept, *placed;  // equations in use; those of them with a position form
  int ngroup;                    // columns of one group share no row of G: one difference suffices for them all
  int* group;                    // of each velocity
  double* block;
} srNewton;

// position: the equations have position rows and their multipliers too. False: out of memory.
bool sri_newton_create(srNewton* newton, const srIntegrator* integrator, bool position);
void sri_newton_destroy(srNewton* newton);

// The derivatives of R at x: by the system, or by differences for steps of size h.
int sri_newton_rates(srIntegrator* integrator, srNewton* newton, srNewtonRate rate, double t, const double* x,
                     double h);
// The tangent at x with a and lambda held; M, D and G of this state are in the integrator's constraints.
int sri_newton_tangent(srIntegrator* integrator, srNewton* newton, double t, const double* x, const double* a,
                       const double* lambda);
// Factors for the coefficient c. False: singular.
bool sri_newton_factor(srIntegrator* integrator, srNewton* newton, double c);

// (c - J) dx = b, in place.
int sri_newton_solve_rates(srIntegrator* integrator, srNewton* newton, double* x);

// What a linear system of the motion has on its right side, and its solution. Pointers into arrays of the caller.
typedef struct srNewtonParts {
  double *q, *v, *y;
  double *row, *place;  // lambda (ng) and mu (np), or the rows that they belong to; of a solution they may be NULL
} srNewtonParts;

// The system of newton.c.
int sri_newton_solve_motion(srIntegrator* integrator, srNewton* newton, const srNewtonParts* right,
                            const srNewtonParts* out);
// The rows that a change x of q and v makes, in ida: G dv + N xi and G xi, into out->row and out->place.
int sri_newton_rows(srIntegrator* integrator, srNewton* newton, const srNewtonParts* x, const srNewtonParts* out);

#endif
