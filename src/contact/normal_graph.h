// Normal laws on the expression graph, for an element.
#ifndef SR_CONTACT_NORMAL_GRAPH_H
#define SR_CONTACT_NORMAL_GRAPH_H

#include <sarrus/model.h>

#include "law/normal.h"

// Fills x with variables and with the law's force; false: the law is only C code.
bool sr_normal_graph(const srNormalLaw* law, srGraph* g, srNormalGraph* x);

// Derivatives of f by d and ddot; NULL: the law is only C code.
const srProgram* sr_normal_derivative(srPool* pool, const srNormalLaw* law);

#define SR_NORMAL_ARGUMENTS (4 + SR_NORMAL_PARAMETERS)
// Values of the variables, as srInputs.arg. speed: recorded approach velocity, 0: unknown.
void sr_normal_arguments(const srNormalParameters* p, double d, double ddot, double speed, double* out);

#endif
