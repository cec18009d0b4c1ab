// Simulation of a model over time.
#ifndef SARRUS_SIMULATE_H
#define SARRUS_SIMULATE_H

#include <sarrus/analysis.h>
#include <sarrus/record.h>
#include <sarrus/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srRunOptions {
  double t_end;           // s
  const char* method;     // name of an integrator
  srContactMode contact;  // continuous, timestepping or event
  srImpactRule impact;    // contact event: law of restitution
  srImpactFrictionRule impact_friction;
  srImpactOrder impact_order;
  // Contact event, 0: as sri_rigid_options has them. m: gap within which contacts touch; m/s: normal speed of a closed contact; m: hop that ends an accumulation.
  double tol_gap, tol_speed, tol_hop;
  double step;        // s, fixed-step methods and control fixed
  double rtol, atol;  // adaptive methods
  srControlRule
      control;   // step-size rule; positions uses Haddouni et al. (2017), Table 1, except rtol and atol, which are here
  double rho;    // generalized-alpha methods
  double theta;  // moreau, 0.5 .. 1; 0: 1
  double sleep;  // moreau, s: islands at rest for so long are put to sleep; 0: never
  double sleep_speed;    // m/s, of joints rad/s too: velocities below it are rest; 0: 0.01
  srFamily family;       // their parameters from rho
  srTangentWay tangent;  // implicit methods
  double every;          // s between output rows; 0: a thousandth of the run
  srStabilization
      stabilization;  // constrained models: how explicit methods enforce the constraints; NONE: the others do not project
  // nv, with stabilization partition: 1 where a coordinate is to be independent wherever the constraints allow it; NULL: none.
  const unsigned char* independent;
  double alpha, beta;    // 1/s, Baumgarte
  int threads;           // of sweeps over many rigid contacts (moreau); the results have the same bits for any number
  bool metric_identity;  // projections measure with the identity instead of the mass matrix
  bool free_rows;  // half-explicit methods choose equations in every stage: for demonstration (srIntegratorOptions)
  // Called for every output row (srColumns); return nonzero to stop the run. Rows are at t0 + k*every and at t_end.
  int (*row)(void* user, const double* row);
  // Columns on request (nrecord), behind those that every run has: names, or patterns with * and ?, of those that sr_recordable_each lists;
  // "reaction(crankpin in ground).*" has its vectors in the axes of that frame. docs/using/record.md
  const char* const* record;
  int nrecord;
  // Called regularly (about every 50 ms of wall clock, also within steps) with the time reached; return nonzero to stop
  // the run, as d->stop does.
  int (*progress)(void* user, double t, double t_end);
  // Rigid contact: called with every contact problem of a step and every impact after its solution.
  srSeeProblem* problem;
  void* user;
} srRunOptions;
// From the model's <run> element and its defaults.
SR_API srRunOptions sr_run_options(const srModel* m);
// Does error control choose the steps? Then rtol and atol apply, else step.
SR_API bool sr_run_is_adaptive(const srRunOptions* o);

typedef struct srEnergy {
  double kinetic, potential;    // at the end, J
  double kinetic0, potential0;  // at the start, J
  double work[SR_ACCOUNTS];     // work of every account over the run, J; dissipated is <= 0
  double residual;              // error of the energy balance: change of energy minus all work, J
  double scale;                 // largest energy of the run, J: scale of the residual
} srEnergy;

typedef struct srRunEvent {
  double t;
  const char *a, *b;  // name of the <event>; the two shapes of an impact; else NULL
  const char*
      kind;  // "event"; "impact": a contact has closed; "rank" (falls, rises, or falls for an instant); "energy", "position": lost during the run; of rigid
  // contact by events also "take-off", "slip", "stick", "reversal", "accumulation", "feature", "painleve"; of
  // time-stepping "sleep", "wake"; of both "load": a force law jumps
  double speed;               // of an impact: with which the contact closes, m/s
  const char *verb, *remark;  // of an impact: what a does to b, and what is to be added; else NULL
  char reason[120];           // of all others: what happens, as a sentence
} srRunEvent;
#define SR_RUN_EVENTS 512

// What happens at an event, as a sentence. text: at least as long as event->reason; that of an impact is written into it, for runs have many that nobody reads.
SR_API const char* sr_run_event_reason(const srRunEvent* event, char* text);

typedef struct srRunResult {
  double t;  // reached
  srIntegratorStats stats;
  double violation_position;  // largest over accepted steps, max norm over all equations (trees: of the driven
  double violation_velocity;  //   coordinates before they are put back on their motion)
  double violation_acceleration;
  int rank;    // of the constraints at the end, constrained models
  int nevent;  // entries of event; event_count may be more
  long event_count;
  srRunEvent event[SR_RUN_EVENTS];
  int nswitch;                     // entries of switches; stats.switches may be more
  srSwitch switches[SR_SWITCHES];  // of method auto: when and why it changed between its two methods
  srAssembly assembly;
  srEnergy energy;
  long rows;       // output rows written
  double seconds;  // wall clock
  long impacts;    // contacts that have closed
  long clamps;     // contacts in which a normal law would have pulled
  double
      complementarity;  // m/s, largest residual of an impact or of a step of time-stepping; contact event, timestepping
  srImpactCount impact;     // contact event: which laws, and what became of them
  long problems, unsolved;  // complementarity problems, and how many were not solved to their tolerance
  double penetration;       // m, largest of all contacts but ends of joints, after an accepted step
  long sweeps;              // of time-stepping over the contacts of large islands, in all steps
  int asleep;               // bodies that sleep at the end
  long contacts_solved;     // of time-stepping: contacts in the problems of all steps
  long jumps;               // of force laws, located
  long limits_passed;       // accepted steps with a joint beyond its limits
  char error_message[512];  // why the run stopped early: joint or body, time, largest force and its source
} srRunResult;

// Simulates from d's state to t_end. Driven coordinates start on their motion. On return d holds the last good state,
// evaluated where possible; also after SR_FAILED (result->error_message states the reason), and every row up to there has been
// output, including one for that state. A run stopped by a callback or d->stop is SR_OK with result->t before t_end: a step in
// progress is abandoned, and d holds the state before it. Stepping allocates no memory.
SR_API srStatus sr_run(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages,
                       srRunResult* result);

// ---- steps one by one -----------------------------------------------------------------------------------------------
// The loop of sr_run in the caller's hands: for controllers, learning, other programs. options->step is the length of a step; a method that chooses its
// steps takes as many as the tolerances require to get that far. Loops, events, contacts and jumps of laws are handled as in a run, and with
// a fixed step the states are those of sr_run with the same step, bit by bit. An event within a step splits it: the rest ends on the grid
// t0 + k step (in sr_run the grid starts anew at the event). Rows and the energy balance on request: sr_step_row.
typedef struct srStepper srStepper;  // of one model, one method and one step; one thread at a time
SR_API srStatus sr_stepper_create(const srModel* m, const srRunOptions* options, srMessages* messages, srStepper** out);
SR_API void sr_stepper_destroy(srStepper* stepper);  // before the model

// n steps from d's state, which is then the one reached. d must be of the stepper's model; any data will do:
//   where t, q, v, z are those that the last step has left, the motion goes on: no memory is allocated. tau and y may be changed in between
//   (y: states, and parameters that are live); events that this triggers happen first.
//   otherwise a run starts there: the loops are closed, and memory is allocated.
// Results in d beyond its state are not those of the new state: sr_evaluate. SR_FAILED: as sr_run; d holds the last good state, and
// sr_step_result states the reason. A stop request (d->stop) is SR_OK with d->t before the end. messages may be NULL.
SR_API srStatus sr_step(srStepper* stepper, srData* d, int n, srMessages* messages);
// Has an <event stop="yes"> ended the last call before its n steps? The next call goes on.
SR_API bool sr_step_ended(const srStepper* stepper);
// Has a stop request ended the last call? The next one finishes the step that was begun.
SR_API bool sr_step_stopped(const srStepper* stepper);
// Since the start: time reached, steps, events, why it failed. Energies and violations are computed where options->row was given.
SR_API const srRunResult* sr_step_result(srStepper* stepper);
SR_API double sr_step_time(const srStepper* stepper);   // reached, also while a step is in progress
SR_API void sr_step_forget_events(srStepper* stepper);  // empties the list of events, which has room again
// The row of the state that the last sr_step has left: that of a run with options->record, whose texts must outlive the stepper. For steppers whose
// options->row is not NULL, which is not called. Work and residual of the energy balance are those since the start. SR_INPUT: nothing was started; SR_FAILED: a value cannot be computed.
SR_API srStatus sr_step_row(srStepper* stepper, const double** row);

#ifdef __cplusplus
}
#endif
#endif
