// Size of the step: what the adaptive methods share.
#ifndef SR_INTEGRATE_CONTROL_H
#define SR_INTEGRATE_CONTROL_H

#include "integrate/explicit.h"
#include "integrate/leap.h"

typedef struct srControl {
  double h;           // step to try next; 0: not chosen yet
  double err_before;  // error of the last step that the controller was free to choose
  double t_pace;      // where the count of accepted steps began, to see whether they get on
  int paced;          // steps since then
  srLeap leap;
} srControl;

// A step cut to a limit of time: which length, and does it end on the limit? Which errors are accepted?
typedef struct srTrial {
  double h, t_new;
  bool cut, leaps;
  srErrorLimit limit;
} srTrial;

// Stages, error, acceptance (sri_accept). *err is the error over the tolerance, where it could be computed. When it is not
// accepted: SRI_REFUSED.
typedef int (*srTryStep)(srIntegrator* integrator, srTrial trial, double* err);

void sri_control_start(srIntegrator* integrator, srControl* control, double theta);
// Tries until a step is accepted or none can be.
srStatus sri_control_step(srIntegrator* integrator, srControl* control, double t_limit, srTryStep try_step);

double sri_largest_step(const srIntegrator* integrator);
// What an entry of this size may be wrong by. Not zero, so that an entry that stays 0 under rtol alone counts as exact.
double sri_allowed_error(const srIntegrator* integrator, double size);
// First step: Hairer, Norsett, Wanner I, II.4, with the rates k0 at the present state; k1 is scratch.
double sri_first_step(srIntegrator* integrator, double* k0, double* k1);

#endif
