// Sources of events of a model while it is simulated: formulas of <event>, gaps of contacts whose touch is located, places where laws jump. They
// are found by the integrator's dense output (integrate/events.c) and carried out by the run.
#ifndef SR_SIMULATE_EVENT_H
#define SR_SIMULATE_EVENT_H

#include <sarrus/simulate.h>

#include "simulate/contact_monitor.h"
#include "simulate/jump.h"

// What the run learns at an event, while it is carried out.
typedef struct srEventTold {
  void* user;
  void (*event)(void* user, double t, int i);   // <event> i
  void (*impact)(void* user, double t, int i);  // located contact i touches
  void (*heat)(void* user, double energy);      // energy lost in what parts, J
  void (*work)(void* user, double energy);      // of the impulses of an action, J
} srEventTold;

// How the times of one <event> with an action follow each other.
typedef struct srGathering {
  double t;                // of the last one
  double interval, first;  // the last interval, and the one that the row of ever shorter ones began with
  int shorter;             // intervals in that row
} srGathering;

typedef struct srEventMonitor {
  const srModel* m;
  srData* d;
  srContactMonitor* contacts;
  srJumpMonitor* jumps;
  srEventTold told;
  srEvents* events;          // all sources
  int nsource, of_contacts;  // place of the contacts among them
  double* value;             // of the event program
  srImpulse* impulse;        // of actions that set velocities, NULL: there are none
  double *J, *u;             // their rows and values
  int* asked;                // and which they are
  signed char* late;         // contacts
  srGathering* gathering;    // of each <event>
  int gathered;              // <event> that comes ever sooner, without end; -1: none
} srEventMonitor;

// NULL: out of memory. Sources without a function are left out; nsource 0: there is nothing to look for.
srEventMonitor* sr_events_create(const srModel* m, srData* d, const srSystem* system, const srIntegrator* integrator,
                                 srContactMonitor* contacts, srJumpMonitor* jumps, const srEventTold* told);
void sr_events_destroy(srEventMonitor* monitor);
void sr_events_renumber(srEventMonitor* monitor);  // places of contacts have changed (sr_contact_monitor_prepare)
// After sr_contact_monitor_step: located contacts that are not in the state they should be in fire now. False: none does.
bool sr_events_late(srEventMonitor* monitor);
// Name of the event that comes ever sooner, without end; NULL: none does.
const char* sr_events_gathered(const srEventMonitor* monitor);
// Name of the event whose formula could not be evaluated, NULL: not known.
const char* sr_events_bad(const srEventMonitor* monitor);

#endif
