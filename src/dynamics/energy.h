// The energy of the tree itself. Force elements add their stored energy (src/force).
#ifndef SR_DYNAMICS_ENERGY_H
#define SR_DYNAMICS_ENERGY_H

#include <sarrus/model.h>

double sr_kinetic_energy(const srModel* m, const srData* d);  // without armature; needs the velocity stage
double sr_gravity_energy(const srModel* m, const srData* d);  // 0 at the ground's origin; needs the position stage

#endif
