// The generalized-alpha methods for index 3, index 2 and stabilised index 2 (GGL): what they share. See genalpha.c.
#ifndef SR_INTEGRATE_GENALPHA_H
#define SR_INTEGRATE_GENALPHA_H

#include "integrate/control.h"
#include "integrate/tangent.h"
#include "math/saddle.h"

// At which level the constraints are solved.
typedef enum srGenForm {
  SRI_GEN_INDEX3,  // g = 0
  SRI_GEN_INDEX2,  // G v + b = 0
  SRI_GEN_GGL,     // both
} srGenForm;

// Of a recursion  (1 - am) a_1 + am a_0 = (1 - af) x''_1 + af x''_0,   v_1 = v_0 + h ((1 - gamma) a_0 + gamma a_1).
typedef struct srGenCoefficients {
  double am, af, gamma, beta;
  double kappa;  // da_1/dx''_1 = (1 - af)/(1 - am)
} srGenCoefficients;

// Sequences over (v, y) have nv + ny entries; `rate` and its like are packed rates of the whole state (q', v', y', w').
typedef struct srGenAlpha {
  srControl control;
  srGenForm form;
  srGenCoefficients v, y;
  // The matrix  S = diag(M, s I) + h gamma kappa Kv + h^2 beta kappa Kq  bordered by the rows of G.
  srTangentWork tangent;
  srmPattern G_pattern;
  srmSaddle* saddle;
  double* S;
  double h_matrix;      // step that S was made for; 0: none
  bool tangent_known;   // Kq and Kv are of this motion
  bool slow;            // the last step converged slowly: new Kq and Kv for the next
  bool contracts;       // the last iterations converged
  double rate_newton;   // of convergence, as last observed; 1: unknown
  unsigned char* kept;  // equations that S was made with (ng)
  // Of the present state; `known` false: to be found by the index-1 equations.
  bool known;
  bool placed;        // the matrix, G and b of the constraints are evaluated there
  double h_before;    // between rate_before and rate
  double h_jacobian;  // step that slope and bend come from
  double *rate_before, *rate, *rate_new;
  double* slope;                   // (a - v')/h, (zeta - y')/h: lead of the sequence a over the accelerations
  double* bend;                    // (G v + b)/h^2: residual of the velocity constraints under index 3 (ng)
  double *lambda_before, *lambda;  // at both (ng)
  double* jump;                    // from v to what the next step starts with, but for the bend (nv)
  // Of the step that is tried.
  double h_refused, err_refused;  // the last try that was refused for its error; 0: none
  int rises;                      // tries in a row whose error did not fall with the step
  double *a0, *a1;                // the sequence at both ends, (a, zeta)
  double* v0;                     // velocities that the step starts with (nv)
  double *dxi, *U;                // increment of the positions, and the part of it due to the position constraints (nv)
  double *lambda_new, *nu;        // (ng)
  double *E, *delta;              // residual and correction (nv+ny)
  double *lack, *lack_before;     // stiffness responses in units of the tolerance, now and before (nv+ny)
  double *g, *b, *r, *dlambda;    // of the constraints at the end of the step, and right-hand side and correction (ng)
  double* scratch;                // (n)
} srGenAlpha;

size_t sri_genalpha_room(const srSystem* system, int n);
void sri_genalpha_init(srIntegrator* integrator, srGenForm form);
srStatus sri_genalpha_create(srIntegrator* integrator, srMessages* messages);
void sri_genalpha_destroy(srIntegrator* integrator);
void sri_genalpha_start(srIntegrator* integrator);
srStatus sri_genalpha_step(srIntegrator* integrator, double t_limit);
void sri_genalpha_interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out);

// The methods differ in their form, and in name, index and words: the members of srMethod behind it.
#define SRI_GENALPHA_OPS(init_form, ...)                                                                               \
  {                                                                                                                    \
    .method = {.order = 2, .adaptive = true, .implicit = true, .family = "generalized-alpha", __VA_ARGS__},            \
    .needs = SRI_NEEDS(dynamics), .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),                    \
    .project = SR_PROJECT_NONE, .work_size = sizeof(srGenAlpha), .room = sri_genalpha_room, .init = (init_form),       \
    .create = sri_genalpha_create, .start = sri_genalpha_start, .step = sri_genalpha_step,                             \
    .interpolate = sri_genalpha_interpolate, .destroy = sri_genalpha_destroy,                                          \
  }

// genalpha_newton.c
// M, f, y' and G, b, g at the packed state x: M, f, G into the tangent's work, y' into ydot, b and g here too.
int sri_genalpha_evaluate(srIntegrator* integrator, double t, const double* x, double* ydot);
// Factors S with h, or M alone with h = 0, with M and G as evaluated last.
bool sri_genalpha_factor(srIntegrator* integrator, double h);
// The unknowns over (v, y) and lambda from right-hand sides, with that factor; f and x may be the same.
void sri_genalpha_backsolve(srIntegrator* integrator, const double* f, const double* r, double* x, double* lambda);
// Solves the step of length h from a0, v0 to x_new, rate_new, lambda_new, a1.
int sri_genalpha_solve(srIntegrator* integrator, double h, double t_new);
// out = M x, M as evaluated last (nv).
void sri_genalpha_mass_times(const srIntegrator* integrator, const double* x, double* out);

#endif
