// Leaps over passing singularities: places where the rows of the constraints become dependent for an instant.
#ifndef SR_INTEGRATE_CROSSING_H
#define SR_INTEGRATE_CROSSING_H

#include <stdbool.h>

#define SRI_CROSSING_MEMORY 40

typedef struct srCrossing {
  double theta;        // where in the step the singular position shall lie
  double sigma, rate;  // smallest singular value at the present state, and its slope over the last step
  bool sigma_known, rate_known;
  double step[SRI_CROSSING_MEMORY];  // lengths of the last accepted steps that were no crossings
  int nstep, next;
  double cap;          // on the reference step, after refused crossings
  double measure;      // err h^2 of the last refused crossing
  bool crossed;        // the last accepted step was a crossing ...
  double passed;       // ... over a position at this time from its start ...
  double rate_before;  // ... and this was the slope before it
  bool restarted;      // no step was accepted since sri_crossing_restart
} srCrossing;

// Which errors over the tolerance are accepted: up to limit, and those between the other two, which are rounding.
typedef struct srErrorLimit {
  double limit, rounding_from, rounding_to;
} srErrorLimit;

// A step that is planned: its length, whether it crossings, and how far away the singular position is.
typedef struct srCrossingPlan {
  double h;
  bool crossings;
  srErrorLimit err;
  double distance;
} srCrossingPlan;

void sri_crossing_start(srCrossing* crossing, double theta);
// The motion goes on from a state within the last step, of length h, at the time `back` before its end.
void sri_crossing_restart(srCrossing* crossing, double h, double back);
// Sigma at the state of a restart. < 0: the rows are dependent there.
void sri_crossing_restarted(srCrossing* crossing, double sigma);
// How long a step has to be to come from sigma = 0 to this sigma.
double sri_crossing_reach(const srCrossing* crossing, double sigma);
// h: the step that the error control wants; rest: time to the limit of this step.
srCrossingPlan sri_crossing_plan(const srCrossing* crossing, double h, double rest);
// A crossing of length h was refused with this error.
void sri_crossing_refused(srCrossing* crossing, double h, double err);
bool sri_error_accepted(srErrorLimit limit, double err);
// After an accepted step of length h: sigma at its end. exchanged: of other rows than at its start.
void sri_crossing_accepted(srCrossing* crossing, double h, bool crossed, bool exchanged, double sigma);

#endif
