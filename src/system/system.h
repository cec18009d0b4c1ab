// Parts of the model's system that the run loop uses too.
#ifndef SR_SYSTEM_SYSTEM_H
#define SR_SYSTEM_SYSTEM_H

#include <sarrus/system.h>

// Puts a state into d: unit quaternions; of a tree, driven coordinates on their motion (of a looped model they are rows like
// the others).
void sr_put_state(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y);
void sr_put_driven(const srModel* m, srData* d);  // driven coordinates of d's state alone
static inline bool sr_stop_requested(const srData* d) { return d->stop != NULL && d->stop(d->stop_user) != 0; }

#endif
