// Contacts while a model is simulated: which are closed, when they close, where a law would have pulled.
#ifndef SR_SIMULATE_CONTACT_MONITOR_H
#define SR_SIMULATE_CONTACT_MONITOR_H

#include <sarrus/simulate.h>

#include "model/instance.h"

// Contacts by index: elements of the model that are located, near pairs of sets that are (they change from step to step), then
// from first_other on the same for those that are not.
typedef struct srContactMonitor {
  const srModel* m;
  srData* d;
  int nlocated;             // those that are located, all of them where error control chooses the steps
  int first_other, nother;  // the others: of steps of fixed length
  int nelement[2];          // elements of the model among those that are located, among the others
  int most_near;            // capacity for near pairs
  int* element;             // force elements: first those that are located
  double *gap, *rate;       // at the last state that was measured
  double* gap_before;       // of the others: after the step before
  unsigned char* closed;    // elements: after the last step
  unsigned char* clamped;   // elements: since it last closed
  unsigned char*
      late;       // located, and after the last step inconsistent with gap and rate, without a detected sign change
  bool adaptive;  // error control chooses the steps
  bool formulas;  // a gap is a formula
  bool full;      // there was no room for an instance
  struct srPassing* passing;  // simulate/passing.h; NULL: there are no contacts
  int version;                // of the list of near pairs last used
  int measured;               // of the list at the end of the last step
  long clamps;                // contacts in which the law would have pulled
  double deepest;             // largest penetration after a step
} srContactMonitor;

// adaptive: error control chooses the steps. NULL: out of memory.
srContactMonitor* sr_contact_monitor_create(const srModel* m, srData* d, bool adaptive);
void sr_contact_monitor_destroy(srContactMonitor* monitor);
// gap and rate of the located contacts at d's state.
int sr_contact_monitor_measure_located(srContactMonitor* monitor);
bool sr_contact_monitor_closed(const srContactMonitor* monitor, int i);
// Changes its sign where a located contact, measured, closes or opens: its gap, but for what is rounding.
double sr_contact_monitor_switch(const srContactMonitor* monitor, int i);
void sr_contact_monitor_names(const srContactMonitor* monitor, int i, const char** a, const char** b);
// The shapes of an element that is a contact of two shapes: planes, balls and other convex ones. False: it is none.
bool sr_element_shapes(const srForceElement* element, srConvex shape[2]);
// The same of contact i, with the points of the model at their frames.
bool sr_contact_monitor_shapes(const srContactMonitor* monitor, int i, srConvex shape[2], int point[2]);
// The same of two bounded shapes of which the first is a surface: a mesh, a height field or x(u, v). False: none is.
bool sr_contact_monitor_surfaces(const srContactMonitor* monitor, int i, const srCollisionShape* shape[2],
                                 int point[2]);
// Which contacts are closed at d's state: sets their discrete states. Reports those that interpenetrate.
int sr_contact_monitor_start(srContactMonitor* monitor, srMessages* messages);
// Before a step that is expected to take `step`, from the state of the integrator: updates the contact instances. *limit: how
// far the step may go. True: near pairs were searched again, and indices of contacts have changed.
bool sr_contact_monitor_prepare(srContactMonitor* monitor, const srIntegrator* integrator, double step, double* limit);
// Instances that are no longer near and still have deflected bristles: clears them from y, and returns the energy they
// lose. < 0: there are none.
double sr_contact_monitor_release(srContactMonitor* monitor, double* y);
// A located contact i closes (true) or opens, at d's state, measured; y are its states. Returns the energy that the bristles of
// an opening contact have lost.
double sr_contact_monitor_change(srContactMonitor* monitor, int i, bool touches, double* y);
// After an accepted step: raises the velocities of closed contacts that are struck, finds late ones, calls `touched` for every unlocated contact that closed in it.
int sr_contact_monitor_step(srContactMonitor* monitor, const srIntegrator* integrator, void* user,
                            void (*touched)(void* user, double t, int i));

#endif
