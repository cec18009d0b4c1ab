// Crossing of passing singularities: positions where the constraint rows become dependent for an instant.
#ifndef SR_INTEGRATE_CROSSING_H
#define SR_INTEGRATE_CROSSING_H

#include <stdbool.h>

#define SRI_CROSSING_MEMORY 40

typedef struct srCrossing {
  double theta;        // where in the step the singular position should be
  double sigma, rate;  // smallest singular value at the present state, and its rate over the last step
  bool sigma_known, rate_known;
  double step[SRI_CROSSING_MEMORY];  // lengths of the last accepted steps other than crossings
  int nstep, next;
  double cap;          // on the reference step, after refused crossings
  double measure;      // err h^2 of the last refused crossing
  bool crossed;        // the last accepted step was a crossing ...
  double passed;       // ... over a position at this time from its start ...
  double rate_before;  // ... and its rate before that
  bool restarted;      // no step was accepted since sri_crossing_restart
} srCrossing;

// Which errors over the tolerance are accepted: up to limit, and those between the other two, which are rounding.
typedef struct srErrorLimit {
  double limit, rounding_from, rounding_to;
} srErrorLimit;

// A planned step: its length, whether it crosses a singular position, and the distance to it.
typedef struct srCrossingPlan {
  double h;
  bool crossings;
  srErrorLimit err;
  double distance;
} srCrossingPlan;

void sri_crossing_start(srCrossing* crossing, double theta);
// The motion continues from a state within the last step, of length h, at the time `back` before its end.
void sri_crossing_restart(srCrossing* crossing, double h, double back);
// Sigma at the state of a restart. < 0: the constraint rows are dependent there.
void sri_crossing_restarted(srCrossing* crossing, double sigma);
// Length of a step from sigma = 0 to this sigma.
double sri_crossing_reach(const srCrossing* crossing, double sigma);
// h: the step that error control requests; rest: time to the limit of this step; most: tolerances that an error of the size of the state has.
srCrossingPlan sri_crossing_plan(const srCrossing* crossing, double h, double rest, double most);
// A crossing of length h was refused with this error.
void sri_crossing_refused(srCrossing* crossing, double h, double err);
bool sri_error_accepted(srErrorLimit limit, double err);
// After an accepted step of length h: sigma at its end. exchanged: the equations in use have changed.
void sri_crossing_accepted(srCrossing* crossing, double h, bool crossed, bool exchanged, double sigma);

#endif
