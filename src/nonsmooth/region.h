// The contacts of a bundle that are not solved yet, and what is near them, as a bundle of its own with all other impulses held.
#ifndef SR_NONSMOOTH_REGION_H
#define SR_NONSMOOTH_REGION_H

#include "nonsmooth/coloured.h"

enum { SR_REGION_MOST = 8192 };  // contacts

// Those whose error of the last residual is above `seed`, and what is near them, to l->region. False: they are too many.
bool sr_region_take(srLanes* l, const srBundle* bundle, double seed);
void sr_region_return(srLanes* l, const srBundle* bundle);  // its impulses and velocities

#endif
