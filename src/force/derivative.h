// Derivatives of force laws by their own motion and states, for the tangent of implicit methods.
#ifndef SR_FORCE_DERIVATIVE_H
#define SR_FORCE_DERIVATIVE_H

#include <sarrus/model.h>

#include "force/laws.h"

// Fills x with variables, with the law's force and the rates of its states; false: the law is only C code, or a formula.
bool sr_law_graph(const srImpedance* law, srGraph* g, srImpedanceGraph* x);
// Derivatives of (f, y') by (x, x', y), exact: (n + k) x (2 n + k). NULL: as above.
const srProgram* sr_law_derivative(srPool* pool, const srImpedance* law);

// With n the width of the port and k the states of the element: J is (n + k) x (2 n + k), row-major, the derivatives of (f, y')
// by (x, x', y). Formulas are not varied: what they depend on is outside the element. work: sr_law_jacobian_work doubles.
// derivative: of the element's law. Returns as `evaluate` of the law.
int sr_law_jacobian(const srForceElement* element, const srProgram* derivative, const srImpedanceIn* in, double* work,
                    double* J);
int sr_law_jacobian_work(const srForceElement* element, const srProgram* derivative);

// x of a port between frames: theta' = A w with R = exp[theta], R' = [w] R; A is 3 x 3, row-major.
void sr_rotation_jacobian(const double* theta, double* A);

#endif
