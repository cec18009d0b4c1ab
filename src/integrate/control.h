// Step size: what the adaptive methods share.
#ifndef SR_INTEGRATE_CONTROL_H
#define SR_INTEGRATE_CONTROL_H

#include "integrate/crossing.h"
#include "integrate/fixed.h"

typedef struct srControl {
  int estimate;       // the error estimate of the method falls like h^estimate
  double h;           // step to try next; 0: not yet chosen
  double err_before;  // error of the last step that the controller was free to choose
  srGrid grid;        // of steps of fixed length
} srControl;

// A step cut to a limit of time: which length, and does it end on the limit? Which errors are accepted?
typedef struct srTrial {
  double h, t_new;
  bool cut, crossings;
  srErrorLimit limit;
} srTrial;

// Stages, error, acceptance (sri_accept). *err is the error over the tolerance, where it could be computed. Not
// accepted: SRI_REFUSED.
typedef int (*srTryStep)(srIntegrator* integrator, srTrial trial, double* err);

// theta: where in a step a singular position should be (crossing.h); estimate: 5 for dopri5 and similar, 3 for methods of order 2.
void sri_control_start(srIntegrator* integrator, srControl* control, double theta, int estimate);
// A first step must be chosen: none is given, and the rule leaves it open.
bool sri_control_needs_first(const srIntegrator* integrator, const srControl* control);
// Tries until a step is accepted or fails. Under the rule `fixed` every finite error is accepted.
srStatus sri_control_step(srIntegrator* integrator, srControl* control, double t_limit, srTryStep try_step);

// Do accepted steps make progress? Counted over all methods by sri_step; SR_FAILED, with a message, where they do not.
void sri_advance_start(srIntegrator* integrator);
srStatus sri_advance_check(srIntegrator* integrator, double t_limit);

// Does error control choose the step? Not with a fixed step, whether of the method or of the rule.
bool sri_is_adaptive(const srIntegrator* integrator);
double sri_largest_step(const srIntegrator* integrator);
// Allowed error of entry i of (q, v, y) at this magnitude. Not zero, so that an entry that stays 0 under rtol alone counts
// as exact.
double sri_allowed_error(const srIntegrator* integrator, int i, double size);
// Do errors of velocities count? Not under the rule `positions`, whatever the method: there they are 0 or not read.
bool sri_counts_velocities(const srIntegrator* integrator);
// Error of the step from x to x_new over so many tolerances: root mean square over (q, v, y), or over (q, y) where velocities do not
// count, of error_i / (atol + rtol max(|x_i|, |x_new_i|)). The norm of every method.
double sri_error_norm(const srIntegrator* integrator, const double* error, double tolerances);
// Largest error of the quadratures (nw) over what w_most of the system allows; 0: they are outside the error control.
double sri_work_norm(const srIntegrator* integrator, const double* error);
bool sri_controls_work(const srIntegrator* integrator);
// Root mean square over (q, v, y) of (a - b) over the allowed error at the present state; b may be NULL.
double sri_scaled_norm(const srIntegrator* integrator, const double* a, const double* b);
int sri_unused_states(const srIntegrator* integrator);  // entries of y without a state: norms skip them
// First step: Hairer, Norsett, Wanner I, II.4, with the rates k0 at the present state; k1 is scratch.
double sri_first_step(srIntegrator* integrator, const srControl* control, double* k0, double* k1);

#endif
