// A model whose parameters are unknowns: compiled again for their values.
#ifndef SR_ANALYSIS_PARAMETRIC_H
#define SR_ANALYSIS_PARAMETRIC_H

#include <sarrus/analysis.h>

typedef struct srParametric srParametric;

// name (n): parameters of the spec, which is copied; equation (nequation): formulas of a state that are to be 0, or left = right. SR_INPUT, with messages: a name or formula is wrong.
// *out is NULL unless SR_OK.
srStatus sr_parametric_create(const srSpec* spec, const char* const* name, int n, const char* const* equation,
                              int nequation, srMessages* messages, srParametric** out);
void sr_parametric_destroy(srParametric* x);
void sr_parametric_values(const srParametric* x, double* p);  // n: those of the spec

// The model for values p (n), with its data at the state of d, one of a model of this spec; both are the caller's. SR_INPUT: there is none for these values.
srStatus sr_parametric_compile(srParametric* x, const double* p, const srData* d, srModel** m, srData** data);
// t, q, v, y, tau and the stop request, between data of models with the same coordinates.
void sr_state_pass(const srData* from, srData* to);
// Values of the equations (nequation) at the state of d, evaluated to the forces.
void sr_parametric_equations(const srParametric* x, const srModel* m, const srData* d, double* out);
// The spec with these values and without equations. NULL: out of memory.
srSpec* sr_parametric_spec(const srParametric* x, const srSpec* spec, const double* p);

#endif
