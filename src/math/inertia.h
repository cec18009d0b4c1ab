// Inertia tensors: sums, principal axes, and the nearest physical one.
#ifndef SR_INERTIA_H
#define SR_INERTIA_H

void srm_diagonal(double J[9], double xx, double yy, double zz);
void srm_symmetric(const double six[6], double J[9]);  // of xx yy zz xy xz yz
// J += m (|r|^2 1 - r r^T): about a point at r from the centre of mass.
void srm_add_parallel_axis(double J[9], double mass, const double r[3]);
// A body of this mass, centre of mass and J about it, and another one: both as one.
void srm_add_inertia(double* mass, double com[3], double J[9], double other, const double other_com[3],
                     const double other_J[9]);

// Principal axes V (columns) and moments e of a symmetric J, all 3 x 3 by rows.
void srm_principal(const double J[9], double V[9], double e[3]);

// The nearest tensor that a distribution of mass can have, into out; returns the Frobenius norm of the change.
double srm_nearest_inertia(const double J[9], double out[9]);

#endif
