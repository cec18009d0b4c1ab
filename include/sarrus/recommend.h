// Which method and tolerance suit a model: measured, and reported with the numbers. Definitions: docs/using/recommend.md. The command
// line runs the trials, each in a process of its own (sarrus/compare.h defines how they are judged).
#ifndef SARRUS_RECOMMEND_H
#define SARRUS_RECOMMEND_H

#include <sarrus/compare.h>
#include <sarrus/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------- stiffness
typedef struct srEigenvalue {
  double re, im;  // 1/s
} srEigenvalue;

// Eigenvalues of the motion linearized at d's state (t, q, v, y), constraints solved at acceleration level; largest
// modulus first, of equal ones im > 0 first. A constrained model has two zeros for every independent constraint equation. All 2 nv + ny of them
// up to 120 states, beyond that the largest ones, estimated. At most `room` are written; *count is how many. SR_FAILED: the
// accelerations cannot be evaluated around the state, or the eigenvalue iteration failed.
SR_API srStatus sr_eigenvalues(const srModel* m, const srData* d, int room, srEigenvalue* out, int* count);

// Largest h |lambda| for which dopri5 does not amplify this mode: about 3.3 for real negative ones, 1 for imaginary ones.
// INFINITY where re > 0: such a mode grows by itself.
SR_API double sr_stability_bound(srEigenvalue lambda);

typedef struct srSpectrum {
  double t;
  srEigenvalue largest;  // modulus
  double rate;  // 1/s: steps per second that stability requires of dopri5, the largest |lambda| / bound of all modes
} srSpectrum;
SR_API srStatus sr_spectrum(const srModel* m, const srData* d, srSpectrum* out);

// Steps that the motion x(t) requires by its smoothness alone: those that the error control of dopri5 would take if x' were a
// known function of time, without interacting stages, so that nothing can become unstable.
typedef struct srStepEstimate {
  double steps;           // over all samples
  double h;               // s: the step in use at half of all time (median by time)
  double steps_explicit;  // the same, none longer than 1/rate
} srStepEstimate;
// rate: (nrate) of so many equal parts of the time; NULL: none. SR_MEMORY, SR_INPUT: fewer than 6 samples.
SR_API srStatus sr_step_estimate(const srTrajectory* x, double rtol, double atol, const double* rate, int nrate,
                                 srStepEstimate* out);

// ------------------------------------------------------------------------------------------------------------- survey
#define SR_SURVEY_PARTS 10  // of the window; eigenvalues are taken at their ends
#define SR_STIFF 4.0        // stability multiplies the steps by this or more: stiff

typedef struct srSurvey {
  // Size. Nonzero entries in M and G of a constrained model.
  int nq, nv, ny, ny_user, ng, np, M_entries, G_entries;
  int nonsmooth;  // functions with kinks or jumps in formulas: abs, min, max, sign, step, floor, comparisons, if
  // Trial run: an explicit method at the tolerances of the options, as far as its share of the time went.
  const char* pilot;       // its method, NULL: none took a step
  double t0, t;            // from .. reached
  double seconds;          // wall clock of it
  long steps, rejected;    // of it
  double step;             // mean
  double h_rate;           // its mean step by the mean rate: 1 is at the bound of stability
  char pilot_reason[512];  // why it stopped before the end, "": it did not
  // Stiffness, in the window.
  const char* guide;  // method of the tight run that this is taken from, NULL: there was none
  double t_window;    // its end
  double rtol_tight;
  srSpectrum spectrum[SR_SURVEY_PARTS + 1];
  int nspectrum;
  srEigenvalue largest;  // that lasts: seen at two times in a row
  srStepEstimate step_estimate;
  double ratio;             // |largest| * step_estimate.h
  double factor;            // step_estimate.steps_explicit / step_estimate.steps
  bool stiff;               // factor >= SR_STIFF
  srTrajectory* reference;  // of the window, 10 samples for each part; NULL: none
  char guide_reason[512];
  // Redundancy.
  int rank, nredundant;
  int* redundant;  // rows that can be left out at the start
  long rank_changes, singular;
  // Events of the trial run.
  long events, limits_passed;
  double events_per_second, steps_per_event;
} srSurvey;

// Measures m from d's state to options->t_end in about so many seconds of wall clock; method and rows of the options are not
// used. d is not changed. SR_INPUT, SR_FAILED: not even the start can be evaluated, or d->stop asked to stop; messages say
// why. To be destroyed.
SR_API srStatus sr_survey_create(const srModel* m, const srData* d, const srRunOptions* options, double seconds,
                                 srMessages* messages, srSurvey** out);
SR_API void sr_survey_destroy(srSurvey* survey);

// ------------------------------------------------------------------------------------------------------------- advice
typedef struct srMethodTrial {
  int method;         // index of sri_method
  double rtol, atol;  // NaN for a fixed step
  double step;        // NaN for an adaptive one
  bool done;
  double seconds;  // processor time for a second of motion; NaN: not known
  long steps, rejected, evaluations;
  double error;  // largest of positions and states, relative (srTrajectoryError); NaN: not known
  double violation[3];
} srMethodTrial;

#define SR_ADVICE_ACCEPT 10.0     // an error up to so many tolerances is what a tolerance means
#define SR_ADVICE_VIOLATION 1e-4  // of positions, m or rad: Haddouni et al. (2017), Table 1
#define SR_ADVICE_REASONS 6

typedef struct srAdvice {
  int trial;      // index of the one to take, -1: none came to its end
  bool accurate;  // its error is what the tolerance asks for
  int nreason;
  char reason[SR_ADVICE_REASONS][400];
  int alternative;  // index of another one, -1: none
  char alternative_reason[400];
} srAdvice;

// Chooses by the flags of the methods (adaptive, implicit, index, order) and the numbers of the trials, which all ran over the
// window of the survey. rtol: the accuracy that is wanted.
SR_API void sr_advise(const srModel* m, const srSurvey* survey, const srMethodTrial* trial, int n, double rtol,
                      srAdvice* out);

// ------------------------------------------------------------------------------------------------------------- trials
// All methods on one model over the window of its survey, and the advice that follows.
typedef struct srMethodTrials {
  srComparedModel model;  // its options end with the window
  srComparison runs;      // a run for each trial
  srSurvey* survey;
  srMethodTrial* trial;  // as the runs
  srAdvice advice;
  double seconds;  // wall clock of all of it
} srMethodTrials;
// In about so many seconds, `jobs` runs at a time. model: m, joints, start, t0, and options with the accuracy that is wanted. Where no method
// gets through the survey, messages have an error, survey->reference is NULL and there are no trials. SR_INPUT, SR_FAILED,
// SR_MEMORY: *out is NULL.
SR_API srStatus sr_method_trials_create(const srComparedModel* model, double seconds, int jobs,
                                        const srExecutor* executor, srMessages* messages, srMethodTrials** out);
SR_API void sr_method_trials_destroy(srMethodTrials* trials);

#ifdef __cplusplus
}
#endif
#endif
