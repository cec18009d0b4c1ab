// Admittances (Kikuuwe and Yamamoto, eq 6): force in, motion out. A point mass, a rigid body, a mechanism, a motor, user-defined
// equations: one struct of function pointers each. `network` (network.h) connects them to impedances (force.h). A shared library
// adds its own through srPlugin.add_admittance. This header is self-contained: a plugin needs nothing else.
#ifndef SARRUS_ADMITTANCE_H
#define SARRUS_ADMITTANCE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srAdmittanceIn {
  double t;
  double tau;       // stage length (Kikuuwe and Yamamoto) for what is inside and has memory; < 0: there is none
  const double* x;  // states (nx)
  const double* u;  // generalized forces (nu); NULL where motion is asked for: it does not depend on them
  const double* p;  // parameters of this component (np)
  void* self;       // its own object, as it was given when it was added. Components do not share one
} srAdmittanceIn;

// Every function returns 0: done; > 0: failed, try a smaller step; < 0: the run cannot continue. They are called many
// times per step, also for states that are then discarded: what must be remembered is a state. Functions of two
// components may run concurrently, those of one component never do.
typedef struct srAdmittance {
  const char* name;
  int np;                         // number of parameters; -1 any
  const char* const* parameters;  // their names (np), for messages; may be NULL
  int nx, nu, nout;               // states, inputs (generalized forces), outputs (positions and velocities)
  const double* x0;               // initial states (nx); NULL: zero
  int (*rates)(const srAdmittanceIn* in, double* xdot);  // x' = A(t, x, u): eq 6
  int (*motion)(const srAdmittanceIn* in, double* out);  // positions and velocities (nout) of t and x
  int (*accepted)(const srAdmittanceIn* in, double* x);  // after every step: may put x back on what it must satisfy
                                                         // exactly (unit quaternions). NULL: nothing to do
  // NULL, or what is wrong with the parameters, as the end of a sentence ("its mass must be positive"). NULL pointer:
  // anything goes.
  const char* (*refuse)(const double* p, int np);
} srAdmittance;

#ifdef __cplusplus
}
#endif
#endif
