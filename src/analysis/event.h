// Events of a model while it is simulated: found by the integrator's dense output, carried out by the run.
#ifndef SR_ANALYSIS_EVENT_H
#define SR_ANALYSIS_EVENT_H

#include <sarrus/analysis.h>

#include "analysis/touch.h"

typedef struct srEventWatch {
  const srModel* m;
  srData* d;
  srRootFinder* finder;
  srTouchWatch* touch;
  int count;               // nevent formulas, then gaps of the located contacts
  signed char* direction;  // count
  unsigned char* fired;    // count: what happened at the time that sr_events_step told
  double* value;           // of the event program
  double t_last;           // of the last event
  int crowd;               // events in a row that came at almost the same time
} srEventWatch;

// NULL: out of memory.
srEventWatch* sr_events_create(const srModel* m, srData* d, const srIntegrator* integrator, srTouchWatch* touch);
void sr_events_destroy(srEventWatch* watch);
srStatus sr_events_start(srEventWatch* watch, const srIntegrator* integrator);  // after every sri_start
// The first event of the last step: its time in *t, HUGE_VAL: none.
srStatus sr_events_step(srEventWatch* watch, const srIntegrator* integrator, double* t);
// Carries out the actions of what fired: changes y, whose formulas see d's state at that time, and the discrete states of contacts.
// *stop: the run is to end. *heat: energy that was lost, J.
srStatus sr_events_act(srEventWatch* watch, double t, const double* q, const double* v, double* y, bool* stop,
                       double* heat);
// After the actions: what fires because of them, at the same time. *any: something does.
srStatus sr_events_follow(srEventWatch* watch, double t, const double* q, const double* v, const double* y, bool* any);
// After sr_touch_step: located contacts that are not in the state they should be in fire now. False: none does.
bool sr_events_late(srEventWatch* watch);
// Name of the event whose formula could not be evaluated, NULL: not known.
const char* sr_events_bad(const srEventWatch* watch);
// Events follow each other without time passing between them.
bool sr_events_crowd(srEventWatch* watch, double t);

#endif
