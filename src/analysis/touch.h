// Contacts while a model is simulated: which are closed, when they touch, where a law would have pulled.
#ifndef SR_ANALYSIS_TOUCH_H
#define SR_ANALYSIS_TOUCH_H

#include <sarrus/analysis.h>

typedef struct srTouchWatch {
  const srModel* m;
  srData* d;
  int n;               // contacts: of shapes, of gaps by formula, ends of joints with a normal law
  int nlocated;        // those whose touch is located, all of them where the error chooses the steps; they come first
  int* element;        // n: force elements
  double *gap, *rate;  // n: at the last state that was measured
  unsigned char* closed;   // n: after the last step
  unsigned char* clamped;  // n: since the last touch
  unsigned char* late;     // n: located, and after the last step not as gap and rate say; no change of sign has told it
  bool formulas;           // a gap is a formula
  long clamps;             // touches in which the law would have pulled
} srTouchWatch;

// n may be 0. adaptive: the error chooses the steps. NULL: out of memory.
srTouchWatch* sr_touch_create(const srModel* m, srData* d, bool adaptive);
void sr_touch_destroy(srTouchWatch* watch);
// gap and rate of the first n contacts at d's state.
int sr_touch_measure(srTouchWatch* watch, int n);
// Which contacts are closed at d's state: sets their discrete states. Those that interpenetrate are told.
int sr_touch_start(srTouchWatch* watch, srMessages* messages);
// A located contact i touches (true) or parts, at d's state, measured; y are its states. Returns the energy that the bristles of
// a contact that parts have lost.
double sr_touch_change(srTouchWatch* watch, int i, bool touches, double* y);
// After a step that was accepted: raises the speeds of closed contacts that are struck, finds those that are late, calls `touched` for every contact that is not located and has touched in it.
int sr_touch_step(srTouchWatch* watch, const srIntegrator* integrator, void* user,
                  void (*touched)(void* user, double t, int i));

#endif
