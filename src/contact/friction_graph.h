// Friction laws on the expression graph, for an element.
#ifndef SR_CONTACT_FRICTION_GRAPH_H
#define SR_CONTACT_FRICTION_GRAPH_H

#include <sarrus/model.h>

#include "law/friction.h"

// Fills x with variables and with the law's f and edot. n: directions of slip, ne: states of each. false: the law is only C code.
bool sr_friction_graph(const srFrictionLaw* law, int n, int ne, srGraph* g, srFrictionGraph* x);
srNode sr_friction_graph_normal(const srFrictionGraph* x);  // the normal force that multiplies the limits

// Derivatives of (f, edot) by (v, e, N): (n + n ne) x (n + n ne + 1), row-major. NULL: the law is only C code.
const srProgram* sr_friction_derivative(srPool* pool, const srFrictionLaw* law, int n, int ne);

#define SR_FRICTION_ARGUMENTS (4 + SR_FRICTION_PARAMETERS)  // besides v and e
// Values of the variables, as srInputs.arg.
void sr_friction_arguments(const srDryFriction* x, const double* v, const double* e, double N, double tau, double* out);

#endif
