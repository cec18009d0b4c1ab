// Derivatives of loop-closure equations, for the tangent of implicit methods.
#ifndef SR_CONSTRAINT_DERIVATIVE_H
#define SR_CONSTRAINT_DERIVATIVE_H

#include "expr/expr.h"
#include "model/closure.h"

// The wrench w = sum lambda_i W_i of a closure over the twist that its equations act on, and L (6 x 6) = dw along it. derivative: of
// sr_closure_derivative, NULL of laws of plugins; work: its scratch. 0, or > 0 where the equations are undefined.
int sr_closure_jacobian(const srClosure* c, const srProgram* derivative, const srClosureIn* in, const double* lambda,
                        double* work, double* w, double* L);
// The same of a soft closure, whose lambda_i = -k_i (g_i + T g_i') follow from the motion; Lx and Lt: dw by the pose and by
// the twist.
int sr_soft_jacobian(const srModel* m, const srClosure* c, const srProgram* derivative, const srClosureIn* in,
                     double* work, double* w, double* Lx, double* Lt);

#endif
