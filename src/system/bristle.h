// How far the bristles of friction deflect before they slip, and the error bounds that follow.
#ifndef SR_SYSTEM_BRISTLE_H
#define SR_SYSTEM_BRISTLE_H

#include <sarrus/system.h>

// Largest error of each state in a step: a part of Fs/K for bristles, 0 (no bound) for others; into out (ny).
void sr_bristle_bounds(const srModel* m, double* out);
// The same for the slots of instances, SR_Y_UNUSED for free ones.
void sr_bristle_slots(const srModel* m, const srData* d, double* out);
// 1: the deflection of a bristle, of an element of the model or an instance in use; into out (ny).
void sr_bristle_states(const srModel* m, const srData* d, unsigned char* out);
// Warns, by name, of elements whose bristles the run cannot resolve: those that slip within the rounding of positions.
void sr_bristle_warn(const srModel* m, srMessages* messages);

#endif
