// Analyses: a model against time. They join the model to the waist of integrate.h.
#ifndef SARRUS_ANALYSIS_H
#define SARRUS_ANALYSIS_H

#include <sarrus/constraint.h>
#include <sarrus/dynamics.h>
#include <sarrus/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

// The model as the equations that integrators see. What the callbacks work on must outlive the system.
typedef struct srModelSystem {
  const srModel* m;
  srData* d;                       // their workspace; tau in it is applied throughout
  struct srModelTangent* tangent;  // exact derivatives for implicit methods; NULL: the system offers none
  double* y_most;  // memory for the largest errors of states (ny); NULL: bristles have no bounds of their own
  // Filled by the callbacks, largest over accepted steps: of a tree, of the driven coordinates before they are put back on their
  // motion; of springs that stand for joints.
  double violation_position, violation_velocity;
  srSparsity M_sparsity, G_sparsity;
} srModelSystem;
SR_API srSystem sr_system(srModelSystem* user);

// Pattern and memory of the exact tangent of a model (docs/tangent.md), for one srModelSystem at a time. The model must outlive
// it. NULL: out of memory.
typedef struct srModelTangent srModelTangent;
SR_API srModelTangent* sr_tangent_create(const srModel* m);
SR_API void sr_tangent_destroy(srModelTangent* tangent);

// Corrects d's positions, then its velocities, with the least change, so that all constraints hold; what was changed is said
// in notes. Values that the file gave are kept where the others can do it alone. SR_INPUT: a loop cannot be closed; the
// message names it and tells the residual that is left. SR_FAILED: it was stopped (d->stop), and d's state is as it was. d->t
// is the time.
typedef struct srAssembly {
  int iterations;
  double residual_position, residual_velocity;  // largest that is left
  double moved_position, moved_velocity;        // largest change
} srAssembly;
SR_API srStatus sr_assemble(const srModel* m, srData* d, srMessages* messages, srAssembly* out);
// The state of d at the time d->t. Nothing given: d holds the initial state, which is that of t = 0; driven coordinates are put
// on their motion and loops are closed, as the drivers are followed from 0 to d->t (a way that cannot be followed is warned of:
// the loops may then be on another branch). Coordinates that nothing moves keep their start. Positions or velocities given: the
// state is taken as it is, but for what was not given of driven coordinates, which is put on their motion; a driven coordinate
// that was given elsewhere is warned of. Answers as sr_assemble.
SR_API srStatus sr_state_at_time(const srModel* m, srData* d, bool q_given, bool v_given, srMessages* messages,
                                 srAssembly* out);

// Moves the start in d as asked for. Inside the limits: every joint that is outside goes to the nearest end, and the
// constraints are met again; SR_INPUT, with a sentence, where no such start is found. Driven coordinates stay. For models in
// joint coordinates, before sr_formulate.
SR_API srStatus sr_start(const srModel* m, srData* d, srStart start, srMessages* messages);
// How many joints are outside of their limits, after sr_assemble; one warning names them.
SR_API int sr_start_outside(const srModel* m, const srData* d, srMessages* messages);

// A copy of the spec whose joints begin at the assembled state, for other programs, which do not assemble (sr_convert writes
// the state that the spec has). Without loops it is the spec as it was. *out is NULL unless SR_OK.
SR_API srStatus sr_assembled_spec(const srSpec* spec, srMessages* messages, srSpec** out);

// The model of a spec in another formulation (docs/formulations.md), beginning at the state of d: m is the spec compiled, d
// one of its data, assembled before where it has loops. The names, joints, joint coordinates (jq, jv), sensors and columns of *out are those of m;
// *out_data holds the same t, y and tau. Both are the caller's, NULL on failure.
SR_API srStatus sr_formulate(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                             srMessages* messages, srModel** out, srData** out_data);

typedef struct srRunOptions {
  double t_end;        // s
  const char* method;  // name of an integrator
  double step;         // s, fixed-step methods and control fixed
  double rtol, atol;   // adaptive methods
  srControlRule
      control;      // rule of the step; positions takes all of paper 2, Table 1, but rtol and atol, which stand here
  double rho;       // generalized-alpha methods
  srFamily family;  // their parameters from rho
  srTangentWay tangent;  // implicit methods
  double every;          // s between output rows; 0: a thousandth of the run
  srStabilization
      stabilization;     // looped models: how explicit methods keep the constraints; NONE: the others do not project
  double alpha, beta;    // 1/s, Baumgarte
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
  int rank;    // of the constraints at the end, looped models
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
