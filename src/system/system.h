// Parts of the model's system that the run loop uses too.
#ifndef SR_SYSTEM_SYSTEM_H
#define SR_SYSTEM_SYSTEM_H

#include <sarrus/system.h>

static inline bool sr_stop_requested(const srData* d) { return d->stop != NULL && d->stop(d->stop_user) != 0; }

// ---- contacts.c: the callback `contacts` of the system, with two tangents, and its capacity
int sr_contact_capacity(const srModel* m, const srData* d);
int sr_contacts(void* user, double t, const double* q, srUnilateral* out, int* count);

#endif
