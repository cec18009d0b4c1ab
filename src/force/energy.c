// Energy of the whole model: rigid tree, drives, gravity, and energy stored in the force elements.
//   T = 1/2 v^T (M + armature) v,    V = -m_total g . r_com + sum of stored energies
#include "dynamics/energy.h"

#include "force/force.h"

void sr_energy(const srModel* m, srData* d, double* kinetic, double* potential) {
  *kinetic = sr_kinetic_energy(m, d);
  if (m->has_armature) {
    for (int i = 0; i < m->njv; ++i) *kinetic += 0.5 * m->joint_armature[i] * d->jv[i] * d->jv[i];
  }
  *potential = sr_gravity_energy(m, d) + sr_stored_energy(m, d) + d->soft_energy;
}
