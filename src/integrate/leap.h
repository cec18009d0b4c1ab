// Leaps over passing singularities: places where the rows of the constraints become dependent for an instant.
#ifndef SR_INTEGRATE_LEAP_H
#define SR_INTEGRATE_LEAP_H

#include <stdbool.h>

#define SRI_LEAP_MEMORY 40

typedef struct srLeap {
  double theta;        // where in the step the singular position shall lie
  double sigma, rate;  // smallest singular value at the present state, and its slope over the last step
  bool sigma_known, rate_known;
  double step[SRI_LEAP_MEMORY];  // lengths of the last accepted steps that were no leaps
  int nstep, next;
  double cap;          // on the reference step, after refused leaps
  double measure;      // err h^2 of the last refused leap
  bool leapt;          // the last accepted step was a leap ...
  double passed;       // ... over a position at this time from its start ...
  double rate_before;  // ... and this was the slope before it
  bool restarted;      // no step was accepted since sri_leap_restart
} srLeap;

// Which errors over the tolerance are accepted: up to limit, and those between the other two, which are rounding.
typedef struct srErrorLimit {
  double limit, rounding_from, rounding_to;
} srErrorLimit;

// A step that is planned: its length, whether it leaps, and how far away the singular position is.
typedef struct srLeapPlan {
  double h;
  bool leaps;
  srErrorLimit err;
  double distance;
} srLeapPlan;

void sri_leap_start(srLeap* leap, double theta);
// The motion goes on from a state within the last step, of length h, at the time `back` before its end.
void sri_leap_restart(srLeap* leap, double h, double back);
// Sigma at the state of a restart. < 0: the rows are dependent there.
void sri_leap_restarted(srLeap* leap, double sigma);
// How long a step has to be to come from sigma = 0 to this sigma.
double sri_leap_reach(const srLeap* leap, double sigma);
// h: the step that the error control wants; rest: time to the limit of this step.
srLeapPlan sri_leap_plan(const srLeap* leap, double h, double rest);
// A leap of length h was refused with this error.
void sri_leap_refused(srLeap* leap, double h, double err);
bool sri_error_accepted(srErrorLimit limit, double err);
// After an accepted step of length h: sigma at its end. exchanged: of other rows than at its start.
void sri_leap_accepted(srLeap* leap, double h, bool leapt, bool exchanged, double sigma);

#endif
