// Contact instances (src/model/instance.h): created where shapes of a set touch, removed when they separate.
#ifndef SR_FORCE_INSTANCES_H
#define SR_FORCE_INSTANCES_H

#include "model/instance.h"

// All elements at a state: those of the model, then the instances in use.
int sr_element_count(const srModel* m, const srData* d);
const srForceElement* sr_element(const srModel* m, const srData* d, int i);

// Before forces at d's state, at the velocity stage: the list of near pairs is valid, and closed pairs have an instance. 0; > 0: the state is
// too far from where the list was built, and a run must not change it now; < 0: capacity exceeded. d->error_message states the reason.
int sr_instances_at(const srModel* m, srData* d);

// The list of near pairs alone; returns the same. Needs the position stage and contact sets.
int sr_near_at(const srModel* m, srData* d);

// The list has whatever may close within `step` at the velocities v of d's position; d has reached the velocity stage with them, unless all that moves is a free body on the
// ground. 0; 1: it was rebuilt for that; < 0: capacity exceeded.
int sr_near_for(const srModel* m, srData* d, const double* v, double step);

// In a run, before a step that is expected to take `step`: removes expired instances, and rebuilds the list where it may not
// cover the step. *covered: the time that it does, at twice the present speeds. < 0: capacity exceeded.
int sr_instances_prepare(const srModel* m, srData* d, double step, double* covered);

// Begins (adaptive: error control chooses the steps) and ends a run.
int sr_instances_begin(const srModel* m, srData* d, bool adaptive);
void sr_instances_end(srData* d);

// Are the contacts of a set located, in the present run?
bool sr_set_located(const struct srInstances* x, const srContactSet* set);

const srSurfaceLaws* sr_near_law(const srModel* m, const srNear* near);  // of its materials
void sr_near_gap(const srModel* m, const srData* d, const srNear* near, double* gap, double* rate);

// An instance of a near pair; its states are 0. NULL: capacity exceeded, reported in d->error_message.
srInstance* sr_instance_make(const srModel* m, srData* d, int near);
void sr_instance_remove(const srModel* m, srData* d, srInstance* instance);  // its states must be 0

#endif
