// Closures by a law of a plugin or of C code, which has no definition on the expression graph. closure_user.c
#ifndef SR_CONSTRAINT_USER_H
#define SR_CONSTRAINT_USER_H

#include "base/base.h"
#include "model/closure.h"

// L (6 x 6): the change of sum lambda_i W_i with the pose, by differences. 0, or what the law returns where it is undefined.
int sr_closure_slope(const srClosure* c, const srClosureIn* in, const double* lambda, double* L);
// Do W, b and bias of the law fit g? False with a sentence in reason.
bool sr_closure_check_law(const srClosure* c, const srClosureIn* in, char* reason, size_t size);

#endif
