// radau5 from inside: coefficients, private work, the stages.
#ifndef SR_INTEGRATE_RADAU5_H
#define SR_INTEGRATE_RADAU5_H

#include "integrate/constrained.h"
#include "integrate/control.h"
#include "integrate/tangent.h"
#include "math/shifted.h"

#define SRI_RADAU5_STAGES 3

// Z_i = h sum_j a_ij Z'_j, Z'_i = 1/h sum_j w_ij Z_j, W = A^-1 = T diag(gamma, [alpha -beta; beta alpha]) T^-1
typedef struct srRadau5Tableau {
  double c[3];
  double A[3][3], W[3][3], T[3][3], T_inverse[3][3];
  double gamma, alpha, beta;
  double e[3];  // weights of the error estimate
} srRadau5Tableau;

extern const srRadau5Tableau sri_radau5_tableau;

// Memory of the Newton method with all stages in one matrix; absent where that would be too large.
typedef struct srRadau5Coupled {
  bool possible;
  int size;       // unknowns
  double *A, *x;  // matrix and solution: dV, dY, mu, lambda of each stage
  double *G[3], *J;
  int* pivot;
} srRadau5Coupled;

typedef struct srRadau5 {
  srControl control;
  srTangentWork tangent;
  srmShifted *real, *complex;
  srRadau5Coupled coupled;
  srmSaddle* position;  // [N -G^T; G 0] over the equations with a position form; NULL: none

  // Status of the Newton matrix.
  bool known;         // tangent, M, G, D are evaluated for the equations in use
  bool fresh;         // and in the present trial step
  bool base_known;    // M0 and F0 are those of the present state
  double h_factored;  // step of the factors; 0: none
  double theta;       // rate of convergence in the last step
  int iterations;     // of the last Newton process
  double tolerance;   // of the error over that of the options
  double newton;      // largest increment that ends an iteration, in units of the tolerance

  // History from step to step.
  bool first, rejected;       // no step since the start; the present one was tried before
  int coupled_steps;          // remaining that use the coupled matrix at once
  bool rows_hold;             // the multipliers of the last step belong to the equations in use
  double h_before, err_last;  // length of the last accepted step (0: none) and its error

  double *X[3], *dense[3];                     // states of the stages; those of the last step less its start (n)
  double *Z[3], *R[3], *dZ[3];                 // increments of (v, y), residuals, Newton increments (nv + ny)
  double *U[3], *dU[3], *P[3];                 // position corrections, integrals of v + U (nv)
  double* slope[3];                            // q' of the stages (nq)
  double *L[3], *L_before[3], *rg[3], *rv[3];  // multipliers, those of the last step, g, G v + b (ng)
  double* wdot[4];                             // (nw) of the stages, and at the start of the step where ...
  bool power_known;                            // ... it is known
  double *M0, *F0;                             // at the present state; F = (f + D^T lambda, y')
  double *M, *G, *D;                           // where the tangent was evaluated
  double *a0, *l0;                             // accelerations and multipliers at the present state
  double *K_re, *K_im;
  double *k, *r, *g, *l, *u,
      *p;         // right-hand sides and solutions, two parts each: (nv + ny), (ng), (ng), (ng), (nv), (nv)
  double *a, *e;  // scratch: (nv + ny), (n)
  double *lack, *lack_before;  // stiffness responses in units of the tolerance, now and before (nv + ny)
  unsigned char* kept;         // equations of the factors (ng)
} srRadau5;

// Size of an increment of the stages.
typedef struct srRadau5Size {
  double norm;      // over what is allowed
  double relative;  // the largest, over the size of its entry
  double path;      // the same without velocities, where there are positions
} srRadau5Size;

// The matrix, evaluated where it is unknown, factored for steps of length h; forces and M at the start of the step.
int sri_radau5_prepare(srIntegrator* integrator, srRadau5* work, double h);
// Solves the stages of a step to t_new from the initial guess in Z and L. SRI_REFUSED: no convergence.
int sri_radau5_newton(srIntegrator* integrator, srRadau5* work, double h, double t_new);
// Its parts: states of the stages from Z and U; residuals (equations left out have none) and the largest of them; size of dZ and dU; Z and U moved.
int sri_radau5_states(srIntegrator* integrator, srRadau5* work, double h);
int sri_radau5_residuals(srIntegrator* integrator, srRadau5* work, double h, double t_new, double* most);
int sri_radau5_measure(srIntegrator* integrator, srRadau5* work, double h, srRadau5Size* size);
void sri_radau5_move(const srIntegrator* integrator, srRadau5* work);
// The same with all stages in one matrix. The tangent is overwritten.
int sri_radau5_coupled(srIntegrator* integrator, srRadau5* work, double h, double t_new);
size_t sri_radau5_coupled_room(const srSystem* system);
void sri_radau5_coupled_init(const srSystem* system, srRadau5Coupled* coupled, double* room);
// x (nv + ny in k), u and multipliers (l) from right-hand sides: K x + Kq P - D^T l = k, G x_v = r, and G_p P = g by u where g is
// not NULL, with P = (x_v + u + p) / s, for the real shift or the complex pair. p NULL: 0. Real: P is left in p.
void sri_radau5_solve(srIntegrator* integrator, srRadau5* work, double h, bool complex, const double* p,
                      const double* g);
// M and f at (t, x): E = M a - f - D^T lambda over (v, y), g and G v + b. a may be NULL: 0; g and rv: not needed.
int sri_radau5_evaluate(srIntegrator* integrator, srRadau5* work, double t, const double* x, const double* a,
                        const double* lambda, double* E, double* g, double* rv);

#endif
