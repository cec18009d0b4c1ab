// Dependent coordinates from the independent ones: positions, velocities, accelerations, and the forces that go with them.
#ifndef SR_ANALYSIS_DEPENDENT_H
#define SR_ANALYSIS_DEPENDENT_H

#include <sarrus/analysis.h>

typedef struct srDependent srDependent;

// fixed (nv): coordinates that are given, 1: held, or moved by the caller; driven ones of relative coordinates are given anyway. One data at a time: d. NULL: out
// of memory.
srDependent* sr_dependent_create(const srModel* m, srData* d, const unsigned char* fixed);
srDependent* sr_dependent_create_undriven(const srModel* m, srData* d);  // as if the model had no drivers
void sr_dependent_destroy(srDependent* x);

// Goes on with another model that has the same coordinates and equations, and with its data; the choice stays.
void sr_dependent_bind(srDependent* x, const srModel* m, srData* d);

// Chooses the dependent coordinates at d's position, evaluated with its constraints (sr_constraints). False: equations are left over that only given
// coordinates enter, or fewer coordinates depend than equations before: *row, one of them.
bool sr_dependent_choose(srDependent* x, int* row);
int sr_dependent_count(const srDependent* x);            // of velocities
int sr_dependent_count_positions(const srDependent* x);  // of positions; less: rolling
const int* sr_dependent_columns(const srDependent* x);

// Newton's method for the dependent positions at d->t, from d->q. False: no convergence from there. *corrected: length of the corrections, rad or m, the largest
// of a coordinate.
bool sr_dependent_positions(srDependent* x, double* corrected);
// The same for a position that satisfies the equations. False: singular.
bool sr_dependent_put(srDependent* x);
// After either: an equation that depends on those that are solved and does not hold, as on a branch of theirs alone; -1: none.
int sr_dependent_broken(const srDependent* x);
// After either: its sign is that of det G_v, its size the smallest pivot of rows of length 1.
double sr_dependent_determinant(const srDependent* x);
// d->v of the dependent coordinates from the others; a (nv) likewise, after it, from the given entries of a; false: not defined.
void sr_dependent_velocities(srDependent* x);
bool sr_dependent_accelerations(srDependent* x, double* a);

// force (nv): M a + c - f. Solves for the multipliers of least norm that take up its dependent part, adds them to lambda (ng), and leaves the forces on the other coordinates
// in force.
bool sr_dependent_forces(srDependent* x, double* force, double* lambda);
// B (nv x n, row-major), n = nv - count: velocities that satisfy the equations, one a coordinate that is not dependent, ascending.
void sr_dependent_basis(const srDependent* x, double* B);

long sr_dependent_iterations(const srDependent* x);  // of Newton's method, so far

// out = M a + c - f at d's state, evaluated to the forces.
void sr_required_force(const srModel* m, srData* d, const double* a, double* out);

#endif
