// Wrenches of the constraints on bodies.
#ifndef SR_CONSTRAINT_REACTION_H
#define SR_CONSTRAINT_REACTION_H

#include "constraint/constraint.h"
#include "model/closure.h"

// Equations of a closure at d's position.
int sr_closure_evaluate(const srModel* m, srData* d, const srClosure* c, srClosureOut* out);
// Do rows and bias of a law of a plugin fit its residuals? False: d->error_message says which do not.
bool sr_closure_verify(const srModel* m, srData* d, const srClosure* c);

// Adds the effect of w (moment, force over the twist of `point` observed from `observer`; common as in sr_path_columns) on the bodies:
// wrench holds 6 numbers per body, moment about the ground's origin and force, inertial axes.
void sr_pair_wrench(const srModel* m, const srData* d, int point, int observer, int common, const double w[6],
                    double* wrench);
void sr_formula_joint_forces(const srModel* m, srData* d, const double* lambda, double* out);  // formula.c
void sr_formula_wrenches(const srModel* m, srData* d, const double* lambda, double* wrench);   // formula.c

#endif
