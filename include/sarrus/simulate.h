// Simulation: a model against time.
#ifndef SARRUS_SIMULATE_H
#define SARRUS_SIMULATE_H

#include <sarrus/analysis.h>
#include <sarrus/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srRunOptions {
  double t_end;        // s
  const char* method;  // name of an integrator
  double step;         // s, fixed-step methods and control fixed
  double rtol, atol;   // adaptive methods
  srControlRule
      control;  // rule of the step; positions takes all of Haddouni et al. (2017), Table 1, but rtol and atol, which stand here
  double rho;            // generalized-alpha methods
  srFamily family;       // their parameters from rho
  srTangentWay tangent;  // implicit methods
  double every;          // s between output rows; 0: a thousandth of the run
  srStabilization
      stabilization;   // constrained models: how explicit methods keep the constraints; NONE: the others do not project
  double alpha, beta;  // 1/s, Baumgarte
  bool metric_identity;  // projections measure with the identity instead of the mass matrix
  // Called for every output row (srColumns); return nonzero to stop the run. Rows stand at t0 + k*every and at t_end.
  int (*row)(void* user, const double* row);
  // Called now and then (about every 50 ms of wall clock, inside of steps too) with the time reached; return nonzero to stop
  // the run, as d->stop does.
  int (*progress)(void* user, double t, double t_end);
  void* user;
} srRunOptions;
// From the model's <run> element and its defaults.
SR_API srRunOptions sr_run_options(const srModel* m);
// Does the error choose the steps? Then rtol and atol hold, else step.
SR_API bool sr_run_is_adaptive(const srRunOptions* o);

// Columns of a result row:
//   t; q.NAME; v.NAME; states by name; driver.NAME, the driving forces; lambda.NAME of a coupling or formula, lambda.NAME.k of
//   row k of a closure; sensors: NAME of a formula, of a frame NAME.x .y .z
//   .vx .vy .vz .wx .wy .wz; kinetic, potential, residual (of the energy ledger so far)
typedef struct srColumns {
  int count;
  const char* const* names;
  const char* const* units;  // "" where there is none
} srColumns;
SR_API srColumns* sr_columns_create(const srModel* m);  // NULL when out of memory
SR_API void sr_columns_destroy(srColumns* columns);

typedef struct srEnergy {
  double kinetic, potential;    // at the end, J
  double kinetic0, potential0;  // at the start, J
  double work[SR_ACCOUNTS];     // work of every account over the run, J; dissipated is <= 0
  double residual;              // what the ledger misses: change of energy less all work, J
  double scale;                 // largest of the energies met, J: what the residual is to be compared with
} srEnergy;

typedef struct srRunEvent {
  double t;
  const char *a, *b;  // name of the <event>; the two shapes of an impact; else NULL
  const char*
      kind;  // "event"; "impact": a contact has touched; "rank" (falls, rises, or falls for an instant); "energy", "position": lost on the way
  char why[120];
} srRunEvent;
#define SR_RUN_EVENTS 64

typedef struct srRunResult {
  double t;  // reached
  srIntegratorStats stats;
  double violation_position;  // largest over accepted steps, max norm over all rows (of a tree: of the driven
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
  long rows;           // output rows written
  double seconds;      // wall clock
  long impacts;        // contacts that have touched
  long clamps;         // touches in which a normal law would have pulled
  long jumps;          // of laws, located
  long limits_passed;  // accepted steps with a joint beyond its limits
  char trouble[512];   // why the run stopped early: joint or body, time, largest force and its source
} srRunResult;

// Simulates from d's state to t_end. Driven coordinates start on their motion. When it returns, d holds the last good state,
// evaluated where that is possible; also after SR_FAILED (result->trouble says why), and every row up to there has been handed
// out, one for that state too. A run that a callback or d->stop has stopped is SR_OK with result->t before t_end: a step under
// way is given up, and d holds the state before it. No memory is taken while it steps.
SR_API srStatus sr_run(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages,
                       srRunResult* result);

#ifdef __cplusplus
}
#endif
#endif
