// A run in progress, for the files that carry it out.   run.c the loop | step.c the loop in the caller's hands | run_options.c the request | run_start.c memory and start |
// run_progress.c stop requests | run_rows.c results | run_contacts.c rigid contacts in results | run_energy.c the energy balance | run_events.c events and contacts between steps |
// run_log.c the list of events | run_failure.c why it stopped
#ifndef SR_SIMULATE_RUN_H
#define SR_SIMULATE_RUN_H

#include <sarrus/simulate.h>

#include "record/columns.h"
#include "simulate/contact_monitor.h"
#include "simulate/event.h"
#include "simulate/jump.h"

// One of the two ways of hybrid contact: that which the run does not take at present.
typedef struct srRunSide {
  const srRunOptions* options;
  const srMethod* method;
  srIntegrator* integrator;
  srEventMonitor* events;
  srJumpMonitor* jumps;
  srRigid* rigid;
  // Of time-stepping, whichever side is taken.
  srRunOptions own;
  srModelSystem system;
  // When to change.
  int nclosed;             // contacts closed in the last step of time-stepping
  int quiet, quiet_least;  // steps of time-stepping without a change, now and for a return
  uint64_t state;          // contacts of the last of them
  long work_window;        // steps of the event-driven side when ...
  double t_window;         // ... this was the time
  double lasted;           // time of the last hand-over; 0: there was none
} srRunSide;

// A pair of shapes, or a joint, and its events.
typedef struct srBusyPair {
  const char *a, *b;
  long count;
} srBusyPair;

typedef struct srRun {
  const srModel* m;
  srData* d;
  const srRunOptions* options;
  const srMethod* method;  // NULL: unknown, which sri_create reports
  srRunResult* result;
  srModelSystem system;
  srIntegrator* integrator;
  double t0, t_end, every;
  long next;                           // index of the next row on the grid t0 + next*every
  double t_row;                        // time of the last row
  double *row, *q, *v, *y;             // one allocation
  double* friction_force;              // nforce: those of set-valued friction there
  double* contact_force;               // nv: generalized forces of rigid contacts in results
  struct srRowContacts* row_contacts;  // rigid contacts in results; NULL: they are not recorded
  srRecording* recording;              // their columns; NULL: there are none
  int nw;                              // accounts of the energy balance, then meters of recorded work
  double *w, *w_before;                // nw: work done so far; up to the last restart
  double w_most;                       // error of work that a step may make, where coordinates are driven; 0: any
  srEventMonitor* events;              // all sources of events
  srContactMonitor* contacts;          // contacts
  srJumpMonitor* jumps;                // force laws that jump
  srRigid* rigid;                      // contacts by events; NULL: they are not
  srRunSide* other;                    // of hybrid contact; NULL: it is not
  bool ended;                          // by an event
  long odd_rows;                       // in which a value is NaN ...
  int odd_column;                      // ... this one ...
  double t_odd;                        // ... from here on
  double residual, lost, t_lost;       // of the energy balance after the last step; its largest jump and when that was
  double started, reported;            // wall clock
  long asked;                          // number of checks for stop requests
  int (*stop)(void* user);             // d's own, and what it takes: called by ask
  void* stop_user;
  srMessages* messages;
  long passed;              // contacts of thin bodies that were not met
  bool jams;                // a contact is in Painleve's configuration in the last step of time-stepping ...
  long jammed;              // ... and how often that has begun
  bool crawled;             // warned once that stability limits the method
  bool stepping;            // the integrator was started
  double t_window;          // run_stall.c: start of the present window, and
  long work_window;         // steps and rejections up to there
  double t_effort, effort;  // the same of events, and their effort up to there
  long events_window;       // events told in it
  srBusyPair busy[2];       // pairs with the most of them
  bool stopped;             // by a callback
} srRun;

// The model, evaluated at the end of the last step; at a time within it, by dense output.
int sr_run_evaluate_last(srRun* run, srStage stage);
int sr_run_evaluate_at(srRun* run, double t, srStage stage);
// One step with its events and contacts, up to t_end at most; SR_OK also where a stop request abandons it.
srStatus sr_run_step(srRun* run);
bool sr_run_goes_on(const srRun* run);  // the end is not reached
void sr_run_count_limits(srRun* run);   // after a step: joints beyond their limits
void sr_run_gather(srRun* run);         // counters of the parts of the run into its result

// ---- run_options.c
srStatus sr_run_check(const srRun* run);
srIntegratorOptions sr_run_integrator_options(const srModel* m, const srRunOptions* o);

// ---- run_contacts.c
bool sr_run_make_contacts(srRun* run);  // memory; false: there is none
void sr_run_release_contacts(srRun* run);
// Contacts and their forces at the state in run->q, v, whose forces the integrator has found: d->found.
void sr_run_find_contacts(srRun* run, double t);

// ---- hybrid.c
srStatus sr_hybrid_create(srRun* run);  // the side of time-stepping
void sr_hybrid_destroy(srRun* run);
// The event-driven side cannot go on from t_good: time-stepping does. False: it cannot either, or contact is not hybrid.
bool sr_hybrid_takes_over(srRun* run, double t_good, const char* reason);
srStatus sr_hybrid_monitor(srRun* run);  // after a step: which side goes on
void sr_hybrid_add_stats(srRun* run);    // of the other side to the result

// ---- run_stall.c
srStatus sr_run_check_stall(srRun* run);  // after a step: fails where event-driven contact gets nowhere
void sr_run_count_busy(srRun* run, const char* a, const char* b);  // an event of a pair

// ---- run_start.c
bool sr_run_has_forces(const srModel* m);                     // that may be stiff: all that do not come from contacts
bool sr_run_make_events(srRun* run, const srSystem* system);  // all sources of events
srStatus sr_run_prepare(srRun* run);                          // all memory
srStatus sr_run_start(srRun* run);                            // the start state, evaluated, and its row
void sr_run_release(srRun* run);

// ---- run_progress.c
double sr_run_clock(void);  // s
// d's stop request during the run: its own, and what the progress callback returns. A request stays.
int sr_run_ask(void* run);
// Requests are honoured in the assembly and within steps, which then leave the last good state. What follows a step (events,
// rows, dense output) is short, and half of it would be inconsistent.
void sr_run_listen(srRun* run, bool on);

// ---- run_rows.c
srStatus sr_run_rows_until(srRun* run,
                           double t);  // those of the grid; the one at the end is written at the end
void sr_run_put_followers(srRun* run,
                          double t);  // eliminated couplings, and drivers with them, of a state from dense output
void sr_run_hand_out(srRun* run);     // the row of d's state
void sr_run_tell_odd_rows(const srRun* run);  // those with NaN values

// ---- run_energy.c
void sr_run_balance_start(srRun* run);
void sr_run_balance(srRun* run);       // energies of d's state, with the work done so far in run->w
void sr_run_balance_step(srRun* run);  // after an accepted step: the largest energy, and the energy error of one step
void sr_run_add_work_before(srRun* run);         // run->w, of the integrator, becomes that of the run
void sr_run_restart_work(srRun* run);            // and is kept, as the motion restarts
void sr_run_add_work(void* run, double energy);  // of impulses of an action: they are a drive
void sr_run_add_heat(void* run, double energy);  // dissipated by friction that ends
void sr_run_take_impulses(srRun* run);           // of rigid contacts in the last step: what they dissipate
void sr_run_note_acceleration(srRun* run, double residual);

// ---- run_events.c
srStatus sr_run_take_events(srRun* run);       // of the last step
srStatus sr_run_happen(srRun* run, double t);  // the actions of an event at its time t; the motion restarts there
// Between steps: the caller has changed tau, or y to this: the motion restarts, after the events that this triggers.
srStatus sr_run_change(srRun* run, const double* y);
srStatus sr_run_prepare_contacts(srRun* run, double* limit);  // their instances before a step, and how far it may go

// ---- run_log.c
void sr_run_tell_impact(void* run, double t, int i);
void sr_run_tell_passed(void* run, double t, double step, int i);  // step: one that would meet the contact
void sr_run_tell_jam(srRun* run);           // Painleve's configuration in the last step of time-stepping
void sr_run_tell_sleep(srRun* run);         // islands that fell asleep or woke up in it
int sr_run_count_asleep(const srRun* run);  // bodies
void sr_run_tell_struck(srRun* run);        // impacts of rigid contacts in the last step
void sr_run_tell_hybrid(srRun* run, double t, const char* kind, const char* reason);
void sr_run_tell_rigid(void* run, const srRigidEvent* event);  // of rigid contacts, by events
void sr_run_tell_event(void* run, double t, int i);
void sr_run_tell_chatter(void* run, double t, int i);
void sr_run_tell_load(void* run, double t, int i);  // a law jumps
void sr_run_tell_impulses(srRun* run);              // contact problems that were not solved
void sr_run_tell_integrator(srRun* run);            // changes of rank and of method, what was lost during the run

// ---- run_failure.c
SR_PRINTF(2, 3) void sr_run_say(srRun* run, const char* format, ...);  // adds to result->error_message
// The run cannot continue: why, with cause and location; d holds the last good state, of t_good, and its row is written.
srStatus sr_run_fail(srRun* run, double t_good, const char* reason);
srStatus sr_run_fail_at(srRun* run, double t_good, const char* reason);  // the same, with the time
srStatus sr_run_fail_bounds(srRun* run);                                 // the state is beyond them
srStatus sr_run_fail_step(srRun* run);  // a step is not possible, or steps have become too short to make progress

#endif
