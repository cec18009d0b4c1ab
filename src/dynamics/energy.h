// The parts of the energy that the tree holds by itself. Force elements add what they store (src/force).
#ifndef SR_DYNAMICS_ENERGY_H
#define SR_DYNAMICS_ENERGY_H

#include <sarrus/model.h>

double sr_kinetic_energy(const srModel* m, const srData* d);  // armature not counted; needs the velocity stage
double sr_gravity_energy(const srModel* m, const srData* d);  // 0 at the ground's origin; needs the position stage

#endif
