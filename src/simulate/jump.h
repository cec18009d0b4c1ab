// Switches of force laws that jump, while a model is simulated: held within a step, located, flipped.
#ifndef SR_SIMULATE_JUMP_H
#define SR_SIMULATE_JUMP_H

#include <sarrus/simulate.h>

#include "expr/expr.h"

typedef struct srJumpMonitor {
  const srModel* m;
  srData* d;
  const srIntegrator* integrator;
  int n;
  double* held;             // n: values that laws see, NaN: free
  double* value;            // n: of the switching functions, at the last state evaluated
  double* t_last;           // n: of the last jump
  double* q;                // nq + nv + ny: state within a step
  double* work;             // 4 n: samples along a step, ...
  bool along_time;          // ... of functions of the time alone, or of the others
  double step;              // length of the last one
  bool of_time;             // there are functions of the time alone, ...
  double scanned, next;     // ... which do not change up to the first time, or change next at the second
  bool undefined;           // one of them was not a number on the way
  int* rapid;               // n: jumps in a row that came almost at once
  unsigned char* chatters;  // n: no longer located
  signed char* direction;   // n: which changes of the functions count
  signed char* sign;        // n: of these functions at the start
  int nfree;                // to be held again as soon as they have a side
  long jumps, rapids;       // all that were located; those that came almost at once
  // A law chatters from t on: it is no longer located.
  void (*chatter)(void* user, double t, int i);
  void (*jumped)(void* user, double t, int i);  // a jump at t; NULL: nobody asks
  void* user;
} srJumpMonitor;

// Values of the switching functions at t (m->priv->nswitch): right for those of the time alone, and for the others where d's arguments are measured.
void sr_switch_functions(const srModel* m, srData* d, double t, double* value);
// A switch where its function, which is a - b of a < b and a <= b, has this value. NaN: neither side.
double sr_switch_value(srOp op, double x);

srJumpMonitor* sr_jumps_create(const srModel* m, srData* d,
                               const srIntegrator* integrator);  // n may be 0. NULL: out of memory
void sr_jumps_destroy(srJumpMonitor* monitor);                   // laws are free again
// At the start, d evaluated to the velocity stage: laws are held from now on.
int sr_jumps_start(srJumpMonitor* monitor);
// After every step: switches without a side, just at their jump, may have one now.
int sr_jumps_step(srJumpMonitor* monitor);
// Before a step from t: the time at which a function of the time alone changes next, as far as it is known; HUGE_VAL: none. step: length of the last one.
double sr_jumps_next(srJumpMonitor* monitor, double t, double step);
// Do no functions change up to t, as far as sr_jumps_next has found out? Then they need no search after the step.
bool sr_jumps_quiet(const srJumpMonitor* monitor, double t);
// An event source; d must be evaluated to the velocity stage where a jump depends on more than time.
srEventSource sr_jumps_source(srJumpMonitor* monitor);

#endif
