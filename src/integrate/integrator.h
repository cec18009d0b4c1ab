// An integration method from inside: a table of functions, private work, open counters.
//
// The state is packed in one array, x = (q, v, y, w). A method fills x_new with the state at the end of the step and
// passes it to sri_accept; until then t and x are unchanged, so that a step that fails leaves the last good state.
//
// To add a method: write its file with one srIntegratorOps, declare it below, add it to the table of integrator.c.
#ifndef SR_INTEGRATE_INTERNAL_H
#define SR_INTEGRATE_INTERNAL_H

#include <sarrus/integrate.h>
#include <sarrus/words.h>

#include "base/base.h"

// The callbacks that a method may need, with the wording of the error.
#define SRI_CALLBACK_LIST(X)                                                                                           \
  X(rates, "the rates of the state")                                                                                   \
  X(dynamics, "the mass matrix and the forces")                                                                        \
  X(constraint, "the constraints and their Jacobian")                                                                  \
  X(gamma, "the quadratic term of the constraints")                                                                    \
  X(contacts, "the unilateral contacts")                                                                               \
  X(tangent, "the tangent matrix")                                                                                     \
  X(qdot, "the rates of the positions")                                                                                \
  X(retract, "the step along a motion")                                                                                \
  X(difference, "the difference of two positions")

enum {
#define SRI_CALLBACK_INDEX(name, words) SRI_INDEX_##name,
  SRI_CALLBACK_LIST(SRI_CALLBACK_INDEX)
#undef SRI_CALLBACK_INDEX
};
#define SRI_NEEDS(name) (1u << SRI_INDEX_##name)

typedef struct srIntegratorOps {
  srMethod method;
  unsigned needs;              // SRI_NEEDS(rates) | ...
  unsigned needs_constrained;  // the same for a system with constraints; 0: as needs
  bool index1;        // with constraints: accelerations from dynamics, constraint and gamma where these are provided
  srProject project;  // what SR_PROJECT_DEFAULT means where the constraints are solved here
  size_t work_size;   // bytes of the private struct
  size_t (*room)(const srSystem* system, int n);  // doubles after it
  void (*init)(srIntegrator* integrator);         // lays out work in room; once
  // Allocates more memory or refuses the system, with a message; after init. NULL: neither. destroy is called where it fails.
  srStatus (*create)(srIntegrator* integrator, srMessages* messages);
  void (*start)(srIntegrator* integrator);                     // discards history; the new state is in t, x
  srStatus (*step)(srIntegrator* integrator, double t_limit);  // t < t_limit
  // Entries first .. first+count-1 of x at t_before + theta*h, 0 < theta < 1.
  void (*interpolate)(const srIntegrator* integrator, double theta, int first, int count, double* out);
  void (*destroy)(srIntegrator* integrator);  // NULL: nothing but the memory taken here
} srIntegratorOps;

typedef struct srConstrained srConstrained;
struct srStiffness;

// Recent progress of accepted steps (control.c).
typedef struct srAdvance {
  double t;     // where the count began
  int steps;    // since then
  int windows;  // counts in a row that were far too slow
} srAdvance;

struct srIntegrator {
  const srIntegratorOps* ops;
  srSystem system;
  srIntegratorOptions options;
  srProject project;        // of the options, or what the default is
  srIntegratorStats stats;  // over the life of the integrator: restarts do not reset it
  int n;                    // nq + nv + ny + nw
  int ncontrol;             // nq + nv + ny: entries that must be finite and that error control sees
  double t, t_before;
  double h;          // length of the last step
  long taken;        // steps since it was created
  double* x;         // state at t (n)
  double* x_before;  // state at t_before (n); scratch while a step is tried
  double* x_new;     // state that a step proposes (n)
  void* work;        // private to the method
  double* room;      // its arrays
  srAdvance advance;
  bool started;
  bool continues;                 // within `start` of the method: it is a restart
  bool told_to_stop;              // the last step failed because a callback requested it
  bool dense;                     // x_before and the method's work describe the step from t_before to t
  srConstrained* constrained;     // NULL: the method does not handle constraints
  const double* lambda;           // multipliers of the method at t (ng); NULL: it has none
  const double* acceleration;     // v' of the method at t (nv), set after each step; NULL: it has none of its own
  double velocity_slack;          // > 1: factor of the tolerance of the velocities in error estimates (sri_error_norm)
  struct srStiffness* stiffness;  // stiffness test of the method, NULL: it makes none
  const srSwitch* switches;       // of auto: the first SR_SWITCHES, NULL: it is another method
  char reason[224];               // why a trial was refused, where more is known than the outcome
  char error_message[400];
};

#define SR_METHOD_EXTERN(name, word) extern const srIntegratorOps sri_##name##_ops;
SR_METHOD_LIST(SR_METHOD_EXTERN)
#undef SR_METHOD_EXTERN

// Writes the message that sri_error_message returns; returns SR_FAILED.
srStatus sri_fail(srIntegrator* integrator, const char* format, ...) SR_PRINTF(2, 3);
// The condition; where it does not hold, the error message.
bool sri_expect(srMessages* messages, bool condition, const char* format, ...) SR_PRINTF(3, 4);

#endif
