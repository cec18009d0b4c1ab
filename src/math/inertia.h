// Inertia tensors: principal axes, and the nearest physical one.
#ifndef SR_INERTIA_H
#define SR_INERTIA_H

// Principal axes V (columns) and moments e of a symmetric J, all 3 x 3 by rows.
void srm_principal(const double J[9], double V[9], double e[3]);

// The nearest tensor that a distribution of mass can have, into out; returns the Frobenius norm of the change.
double srm_nearest_inertia(const double J[9], double out[9]);

#endif
