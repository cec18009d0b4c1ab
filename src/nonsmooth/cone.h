// One contact by itself: the projection on its cone, the natural map, and the exact solution of its local problem.
#ifndef SR_NONSMOOTH_CONE_H
#define SR_NONSMOOTH_CONE_H

#include <math.h>
#include <stdbool.h>

// Symmetric 3 x 3 block of a contact: nn, nt, nb, tt, tb, bb (normal, two tangents).
enum { SR_NN, SR_NT, SR_NB, SR_TT, SR_TB, SR_BB, SR_BLOCK };

typedef struct srCone {
  double mu, lower;
} srCone;

// x = P_C(x), C = {p: |p_T| <= mu p_N, p_N >= lower}.
void sr_cone_project(const srCone* cone, double x[3]);

// |p - P_C(p - rho (u + mu |u_T| n))| / rho, m/s.
double sr_cone_residual(const srCone* cone, double rho, const double p[3], const double u[3]);

// Finds p with u = W p + q, p in C and the complementarity of de Saxce. W: positive semidefinite, nn > 0.
void sr_cone_solve(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]);

// (c, s): unit eigenvector of the larger eigenvalue of A (tt, tb, bb). Returns half the difference of the eigenvalues.
double sr_first_eigenvector(const double A[3], double* c, double* s);

// x = -(A + alpha 1)^-1 b with the alpha >= 0 for which |x| = n0 + n.x; A (tt, tb, bb) positive semidefinite. False: no root above 0
// was found; where |x| < n0 + n.x at alpha = 0 already, alpha is 0.
bool sr_secular_solve(const double A[3], const double b[2], double n0, const double n[2], double x[2], double* alpha);

#endif
