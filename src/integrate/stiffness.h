// Is an explicit method bounded by stability instead of accuracy? The test that dopri5 and mdop5 make while stepping (stiffness.c).
#ifndef SR_INTEGRATE_STIFFNESS_H
#define SR_INTEGRATE_STIFFNESS_H

#include "integrate/integrator.h"

#define SRI_WINDOW 20  // states, both ends counted

// Result of a window of accepted steps.
typedef struct srStiffWindow {
  bool known;
  double err;  // error of one step as long as the window, over the tolerance, from the smoothness of the motion alone
  double factor;  // step that the smoothness allows, over the mean step taken
  double share;   // part of the steps that were near the stability bound
  double h;       // mean step, s
  double cost;    // evaluations per second of motion, rejected steps and restarts included; 0: not counted
} srStiffWindow;

typedef struct srStiffness {
  int n;                   // entries of a state: q, v, y
  double* x[SRI_WINDOW];   // states of the window that is being filled
  double t[SRI_WINDOW];    // their times
  bool bound[SRI_WINDOW];  // the step that led there was near the stability bound
  int count;               // how many there are
  long evaluations;        // of the integrator at the first of them
  double t_before;         // start of the last step
  srStiffWindow last;      // the last whole window
  int row;                 // stiff windows in a row
  int beyond;              // steps in a row at which no explicit step is stable
  long total;              // stiff windows since the integrator was made ...
  double t_first;          // ... and the time at which the first one ended
} srStiffness;

size_t sri_stiffness_room(int n);  // doubles; n: entries of q, v and y
void sri_stiffness_init(srStiffness* s, int n, double* room);
// At a start of the method. A restart inside the last step (an event) keeps the window and the counters; any other one clears them.
void sri_stiffness_start(const srIntegrator* integrator, srStiffness* s);
void sri_stiffness_clear(srStiffness* s);
// After an accepted step. bound: h times the estimated rate of the fastest mode.
void sri_stiffness_step(const srIntegrator* integrator, srStiffness* s, double bound);
// Stiff for long enough to act: two windows in a row, one that leaves no doubt, or two steps beyond all stability; patience multiplies these numbers.
bool sri_stiffness_due(const srStiffness* s, int patience);

#endif
