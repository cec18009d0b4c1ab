// Where sweeps stall: a patch, the contacts around one that is far from solved, is solved by Newton's method while all others keep their impulses.
#ifndef SR_NONSMOOTH_PATCH_H
#define SR_NONSMOOTH_PATCH_H

#include <sarrus/nonsmooth.h>

enum { SR_CONTACT_PATCH = 64 };  // contacts of a patch at the most

typedef struct srContactPatch srContactPatch;

// Of problems up to the size `whole`: patches up to `size`. NULL: out of memory.
srContactPatch* sr_contact_patch_create(const srContactSize* whole, const srContactSize* size);
void sr_contact_patch_destroy(srContactPatch* patch);

// Of a problem by points without equations, with impulses whose velocities are v (SR_ROW numbers of each body: linear, then angular part) and whose errors are error (contacts): patches
// around the worst contacts, of up to `most` contacts each, one after the other, as long as these have an error above the tolerance. impulse, v and error are changed. Returns the number of patches whose impulses have changed.
int sr_contact_patch_solve(srContactPatch* patch, const srContactProblem* problem, int most, double tolerance,
                           double* impulse, double* v, double* error);

#endif
