// Event sources of a model while it is simulated: formulas of <event>, gaps of located contacts, force laws that jump. They
// are detected by the integrator's dense output (integrate/events.c) and carried out by the run.
#ifndef SR_SIMULATE_EVENT_H
#define SR_SIMULATE_EVENT_H

#include <sarrus/simulate.h>

#include "simulate/contact_monitor.h"
#include "simulate/jump.h"
#include "simulate/kink.h"
#include "simulate/prescribed.h"

// Callbacks to the run while an event is carried out.
typedef struct srEventTold {
  void* user;
  void (*event)(void* user, double t, int i);      // <event> i
  void (*impact)(void* user, double t, int i);     // located contact i closes
  void (*dissipation)(void* user, double energy);  // energy dissipated at separation, J
  void (*work)(void* user, double energy);         // of the impulses of an action or a driver, J
} srEventTold;

// Succession of the times of one <event> with an action.
typedef struct srGathering {
  double t;                // of the last one
  double interval, first;  // the last interval, and the first one of the shrinking sequence
  int shorter;             // intervals in that sequence
} srGathering;

typedef struct srEventMonitor {
  const srModel* m;
  srData* d;
  srContactMonitor* contacts;
  srJumpMonitor* jumps;
  srKinkMonitor* kinks;
  srEventTold told;
  srEvents* events;          // all sources
  int nsource, of_contacts;  // index of the contacts among them
  double* value;             // of the event program
  srImpulse* impulse;        // of actions that set velocities, of drivers and constraints whose rate jumps; NULL: none
  double *J, *u;             // rows and values of actions
  srEventSource switches;    // of the jumps
  int* asked;                // and which they are
  signed char* late;         // contacts
  srRigid* rigid;            // contacts by events; NULL: they are not
  signed char* late_rigid;   // the same of these
  int of_rigid;              // source of their statuses
  srGathering* gathering;    // of each <event>
  int gathered;              // <event> whose times accumulate; -1: none
  srMotionJump motion;       // of drivers and constraints, at a switch
} srEventMonitor;

// NULL: out of memory. Sources without a function are left out; nsource 0: there is nothing to detect.
srEventMonitor* sr_events_create(const srModel* m, srData* d, const srSystem* system, const srIntegrator* integrator,
                                 srContactMonitor* contacts, srJumpMonitor* jumps, srRigid* rigid,
                                 const srEventTold* told);
void sr_events_destroy(srEventMonitor* monitor);
void sr_events_renumber(srEventMonitor* monitor);  // indices of contacts have changed (sr_contact_monitor_prepare)
// Is there any function at present that may change in the step to t? Near pairs that may be located come and go.
bool sr_events_any(const srEventMonitor* monitor, double t);
// After sr_contact_monitor_step: located contacts whose state is inconsistent fire now. False: none does.
bool sr_events_late(srEventMonitor* monitor, double* t);  // *t: when, at the end of the step or within it
// Name of the event whose times accumulate; NULL: none.
const char* sr_events_gathered(const srEventMonitor* monitor);
// Name of the event whose formula could not be evaluated, NULL: unknown.
const char* sr_events_bad(const srEventMonitor* monitor);

#endif
