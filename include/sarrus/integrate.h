// Integrators: they see numbers and callbacks (the waist), never a body.
//
//   q' = H(q) v                                nq >= nv
//   M(q) v' = f(t,q,v,y,z; tau) + D(t,q,v)^T lambda
//   G(t,q) v + b(t,q) = 0                      ng rows; the first np also have a position form g(t,q) = 0
//   y' = r(t,q,v,y,z; tau)                     user states and states of force elements
//   w' = power(t,q,v,y)                        quadratures: integrated beside, outside the error control
//   z                                          discrete: changes only in `accepted` and at events
//   0 <= gap(q)  _|_  lambda_N >= 0            when contact is rigid
//
// The interface is wider than the explicit methods need: half-explicit methods take G of the next stage with M, f, D of
// this one; implicit ones take the tangent. A callback that a system cannot offer is NULL, and a method that needs it
// refuses the system with a sentence.
#ifndef SARRUS_INTEGRATE_H
#define SARRUS_INTEGRATE_H

#include <sarrus/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// tau of a force evaluation when the method has no stage length of its own: each element uses its own constant.
#define SR_TAU_ELEMENT (-1.0)

// Every callback returns 0: done; > 0: could not, try a smaller step; < 0: stop, the run cannot go on.
typedef struct srSystem {
  int nq, nv;  // positions, velocities
  int ny;      // continuous states
  int nw;      // quadratures (energy ledger), not error controlled
  int nz;      // discrete states, held by the user of the system
  int ng, np;  // constraint rows; the first np have a position form
  int ngap;    // unilateral gaps
  void* user;

  // Index-1 form, all an explicit method needs: q', v', y', w' with the constraints solved at acceleration level.
  int (*rates)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
               double* qdot, double* vdot, double* ydot, double* wdot);
  // M (nv x nv, row-major) and f (nv); D (ng x nv) where it differs from G, else left NULL by the caller.
  int (*dynamics)(void* user, double t, const double* q, const double* v, const double* y, double tau,  //
                  double* M, double* f, double* ydot, double* D);
  // g (np), G (ng x nv, row-major), b (ng). Any output may be NULL.
  int (*constraint)(void* user, double t, const double* q, double* g, double* G, double* b);
  // gamma = -(dG/dt v + db/dt), so that G v' = gamma on the constraint (ng).
  int (*gamma)(void* user, double t, const double* q, const double* v, double* gamma);
  // gap functions (ngap); > 0 apart.
  int (*gap)(void* user, double t, const double* q, double* gap);
  // cM*M + cC*df/dv + cK*df/dq over (v, y), row-major (nv+ny)^2.
  int (*tangent)(void* user, double t, const double* q, const double* v, const double* y,  //
                 double cM, double cC, double cK, double* K);
  // q' = H(q) v
  int (*qdot)(void* user, const double* q, const double* v, double* qdot);
  // q_out = q (+) dxi, dxi in the space of v; difference: dxi with q1 (+) dxi = q2. Lie-group steps and differences.
  int (*retract)(void* user, const double* q, const double* dxi, double* q_out);
  int (*difference)(void* user, const double* q1, const double* q2, double* dxi);
  // After every accepted step: may put q and v back on what they must satisfy exactly (unit quaternions, driven
  // coordinates) and may change z. It must not move the state by more than the error of the step.
  int (*accepted)(void* user, double t, double* q, double* v, double* y);
} srSystem;

typedef struct srIntegratorOptions {
  double step;      // fixed step, or first step of an adaptive method (0: chosen by the method)
  double step_min;  // below it an adaptive method gives up (0: 16 ulp of t)
  double step_max;  // 0: no bound
  double rtol, atol;
} srIntegratorOptions;

SR_API srIntegratorOptions sri_default_options(void);  // rtol 1e-6, atol 1e-9, step 0

typedef struct srIntegratorStats {
  long steps, rejected, evaluations;
  double step_last, step_smallest, step_largest;
} srIntegratorStats;

typedef struct srIntegrator srIntegrator;

// A method is one of these: its file, and one row in the table of integrator.c.
typedef struct srMethod {
  const char* name;
  int order;      // of the state
  bool adaptive;  // takes rtol and atol; otherwise needs a step
  const char* about;
} srMethod;

SR_API int sri_method_count(void);
SR_API const srMethod* sri_method(int i);
SR_API const srMethod* sri_method_find(const char* name);  // NULL: unknown

// All memory is taken here. The system is copied (the struct, not what user points to). On failure *out is NULL and the
// reason is in messages.
SR_API srStatus sri_create(const char* method, const srSystem* system, const srIntegratorOptions* options,
                           srMessages* messages, srIntegrator** out);
SR_API void sri_destroy(srIntegrator* integrator);

// Puts the state; forgets history. w starts at 0. Restart after an event without allocating.
SR_API srStatus sri_start(srIntegrator* integrator, double t, const double* q, const double* v, const double* y);
// One accepted step, never past t_limit, and ending on it exactly when it reaches it. SR_FAILED: see sri_why.
SR_API srStatus sri_step(srIntegrator* integrator, double t_limit);
// State at time t inside the last step, by the method's dense output. Outputs may be NULL.
SR_API srStatus sri_interpolate(const srIntegrator* integrator, double t, double* q, double* v, double* y, double* w);

SR_API double sri_time(const srIntegrator* integrator);
SR_API double sri_time_before(const srIntegrator* integrator);  // start of the last step
SR_API const double* sri_q(const srIntegrator* integrator);
SR_API const double* sri_v(const srIntegrator* integrator);
SR_API const double* sri_y(const srIntegrator* integrator);
SR_API const double* sri_w(const srIntegrator* integrator);
SR_API const srIntegratorStats* sri_stats(const srIntegrator* integrator);
SR_API const char* sri_why(const srIntegrator* integrator);  // a sentence: why the last step failed

#ifdef __cplusplus
}
#endif
#endif
