// Comparing integrators: a run sampled at equidistant times, the distance between two runs, and the performance profile of
// methods over problems. Definitions: docs/using/compare.md. The command line runs each method in a process of its own.
#ifndef SARRUS_COMPARE_H
#define SARRUS_COMPARE_H

#include <sarrus/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------ trajectories
// Joint coordinates of a run at t0 + k (t_end - t0)/(n - 1), k = 0 .. n-1, by the dense output of the method.
typedef struct srTrajectory {
  int n;           // samples asked for
  int filled;      // samples that the run has reached
  int nq, nv, ny;  // njq, njv, ny of the model
  double* sample;  // n rows: t, q, v, y
} srTrajectory;

SR_API srTrajectory* sr_trajectory_create(const srModel* m, int n);  // n >= 2; NULL when out of memory
SR_API void sr_trajectory_destroy(srTrajectory* x);
SR_API int sr_trajectory_width(const srTrajectory* x);  // numbers in a row

// sr_run with its rows collected in out: `row` and `every` of the options are not used.
SR_API srStatus sr_run_sampled(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages,
                               srRunResult* result, srTrajectory* out);

// Distance of a run from its reference, relative: largest over components i of |x_i - reference_i| / s_i.
//   s_i   the largest magnitude that a component of the same unit reaches in the reference; of angles at least 1 rad, of
//         lengths 1e-9 m, of speeds a thousandth of that of the positions divided by the time of the run; of a state y_i
//         its own largest magnitude, 1 where that is 0
// Positions are subtracted on their manifold (sr_difference: orientations by the rotation between them), angles as they
// are, without modulus.
typedef struct srTrajectoryError {
  double q, v, y;              // largest over the samples; NaN where the model has no coordinates, no states
  double end_q, end_v, end_y;  // at the last sample
  double state;                // the larger one of q and y, where present: the error a run is judged by. NaN: unknown
} srTrajectoryError;

// m is a model in relative coordinates with the joints of both. Where one has samples that the other lacks, all errors are
// NaN. Allocates 3 nv numbers; NaN when out of memory.
SR_API srTrajectoryError sr_trajectory_error(const srModel* m, const srTrajectory* reference, const srTrajectory* x);

// ----------------------------------------------------------------------------------------------- performance profiles
// Dolan and More (2002); Haddouni et al. (2017), eq 37 to 39. cost[p*ns + s]: of problem p by solver s, > 0; what is not a positive finite
// number counts as not solved.
//   r_ps = cost_ps / min_s cost_ps, infinite where s has not solved p      rho_s(tau) = part of the problems with r_ps <= tau
SR_API void sr_profile_ratios(int np, int ns, const double* cost, double* ratio);
SR_API double sr_profile(int np, int ns, const double* ratio, int s,
                         double tau);  // rho_s(tau); tau INFINITY: solved at all
// All finite ratios, once each and ascending, from 1 on: where the profiles have their steps. Returns how many; tau holds
// np*ns + 1 numbers at most.
SR_API int sr_profile_steps(int np, int ns, const double* ratio, double* tau);

// -------------------------------------------------------------------------------------------------------- comparisons
// Many methods on one model or many: the list of runs, their accuracy, and the profile. sr_compare does all of it; an executor carries the
// runs out, and fills their records and samples. In order:
//   sr_comparison_list, sr_comparison_references; runs of the references; sr_comparison_choose; runs of adaptive methods;
//   sr_comparison_derive_steps; runs of fixed step; sr_comparison_judge
enum { SR_COMPARE_METHODS = 32, SR_COMPARE_SAMPLES = 101 };  // room for methods; samples of a run

typedef struct srTrialRecord {  // how a run went
  bool done;                    // reached the end
  bool timed_out;               // stopped by the time limit
  double t;                     // reached
  double seconds;               // of a run, the least of `timed` ones; NaN where none was timed
  int timed;
  long steps, rejected, evaluations;
  long rank_changes;    // of the constraint equations, with those by contacts that open and close
  int redundant;        // most equations that were redundant at one time
  double violation[3];  // position, velocity, acceleration
  int samples;          // that it has reached
  char reason[640];     // of a run that is not done
} srTrialRecord;

// One run: a model, a method, and how fine.
typedef struct srComparedRun {
  int model, method;  // method: index of sri_method
  double rtol, atol;  // NaN for a fixed step
  double step;        // NaN for an adaptive one
  double of_rtol;     // the tolerance that a step was derived for, or rtol; NaN: none
  bool reference;     // sampled only, not timed
  srTrialRecord record;
  srTrajectory* samples;  // NULL where there are none
  srTrajectoryError error;
  bool solved;  // done, and accurate enough for its tolerance; false where that is unknown: sr_comparison_is_judged
} srComparedRun;

typedef struct srComparedModel {
  const srModel* m;       // in its formulation
  const srModel* joints;  // the same in joint coordinates: m, or what it was formulated from
  const srData* start;
  const char* file;  // "": none
  char name[80];     // its name, made unique, fit for a file name
  srRunOptions options;
  double t0;
  int samples;
  srTrajectory* reference;            // NULL: there is none
  srTrajectoryError reference_error;  // of the reference itself; NaN: not known
  char reference_of[2][96];           // methods that it was made with, or the file; "": none
  char reference_reason[640];         // why there is none
} srComparedModel;

typedef struct srComparison {
  srComparedModel* model;
  int nmodel;
  int method[SR_COMPARE_METHODS], nmethod;
  const double *rtol, *atol,
      *step;  // lists; atol: none (in the model's ratio), one, or one for each rtol; step: none (derived)
  int nrtol, natol, nstep;
  int reference_method;  // -1: all that suit
  int reference_check;   // its error is the distance from this method; -1: from itself at ten times the tolerance
  bool reference_given;  // the models have references from elsewhere: none are run
  double reference_rtol;
  double accept;  // solved: error up to so many tolerances
  bool by_evaluations;
  int jobs;            // runs at the same time, where the executor can
  double timeout;      // s of processor time that a run may take
  int repeat;          // timed runs of each; 0: three or more, 0.1 s of them
  bool interrupted;    // not all were run
  int planned, done;   // runs, for the progress
  srComparedRun* run;  // by model, method, fineness
  int nrun;
  // profile
  int* judged;  // models with a reference
  int njudged;
  int nproblem;   // a model with a reference at a tolerance
  double* ratio;  // nproblem x nmethod
} srComparison;

// Without models and methods: tolerances 1e-4, 1e-6, 1e-8, references by all methods that suit, at 1e-12, one run at a time.
SR_API srComparison sr_comparison_defaults(void);
// srComparedModel.name: that of the model where it is the only one of that name, in characters that suit file names.
SR_API void sr_comparison_name(srComparison* c, int model);
SR_API int sr_comparison_samples(void);  // SR_COMPARE_SAMPLES
// Does the method take tolerances in this comparison?
SR_API bool sr_comparison_is_adaptive(const srComparedModel* x, int method);
SR_API srStatus sr_comparison_list(srComparison* c);  // c->run. SR_MEMORY
// The tight runs that references are chosen from: all methods of high order with step control, or reference_method at two
// tolerances. To be destroyed.
SR_API srStatus sr_comparison_references(const srComparison* c, srComparedRun** out, int* n);
SR_API void sr_compared_runs_destroy(srComparedRun* runs, int n);
// The pair of candidates that agrees best; reference_error is how well. The reference itself is taken the last time.
SR_API void sr_comparison_choose(srComparison* c, int model, srComparedRun* candidates, int n, bool last);
// Steps of the methods with a fixed one, where none were given: after the adaptive runs.
SR_API void sr_comparison_derive_steps(srComparison* c);
SR_API srStatus sr_comparison_judge(srComparison* c);  // errors, solved, profile. SR_MEMORY
SR_API bool sr_comparison_is_judged(const srComparison* c, const srComparedRun* run);  // there is a reference
SR_API srStatus sr_comparison_ratios(const srComparison* c, bool by_evaluations, double* ratio);
SR_API void sr_comparison_clear(srComparison* c);  // runs, references, profile

// -------------------------------------------------------------------------------------------------------- carrying out
typedef struct srTrialWatch {
  void* user;
  int (*stop)(void* user);                  // nonzero: the run in progress ends, others are left out. NULL: never
  void (*begins)(void* user, bool begins);  // around every single run: alarms. NULL: nothing
} srTrialWatch;
// One run of the comparison: sampled, and timed again as often as c->repeat asks for. watch may be NULL. SR_MEMORY: not run.
SR_API srStatus sr_trial_run(const srComparison* c, const srComparedRun* run, const srTrialWatch* watch,
                             srTrialRecord* record, srTrajectory* samples);
SR_API void sr_trial_leave_out(srTrialRecord* record,
                               const char* reason);  // the record of a run that was not carried out

typedef bool (*srRunFilter)(const srComparison* c, const srComparedRun* run);
// Carries out those of the n runs that `wanted` chooses: fills record and samples, counts c->done, sets c->interrupted where it was
// asked to stop. The command line gives each run a process of its own.
typedef struct srExecutor {
  void* user;
  srStatus (*run)(void* user, srComparison* c, srComparedRun* runs, int n, srRunFilter wanted);
} srExecutor;
SR_API srExecutor sr_executor_here(srTrialWatch* watch);  // in this process, one after the other
// From the models, methods and tolerances of c to its profile. SR_MEMORY, or what the executor returns.
SR_API srStatus sr_compare(srComparison* c, const srExecutor* executor);

#ifdef __cplusplus
}
#endif
#endif
