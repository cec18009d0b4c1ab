// Parts of the model's system that the run loop uses too.
#ifndef SR_SYSTEM_SYSTEM_H
#define SR_SYSTEM_SYSTEM_H

#include <sarrus/system.h>

static inline bool sr_stop_requested(const srData* d) { return d->stop != NULL && d->stop(d->stop_user) != 0; }

#endif
