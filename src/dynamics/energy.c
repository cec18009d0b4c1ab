// Kinetic energy and potential of gravity, link by link.
//
//   T = sum 1/2 t . (I t),     V = -sum g . (m p + R h)
#include "dynamics/energy.h"

#include "base/base.h"
#include "dynamics/link.h"

double sr_kinetic_energy(const srModel* m, const srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_VELOCITY);
  double twice = 0;
  for (int i = 1; i < m->nlink; i++) {
    const srmTwist t = srm_twist_load(d->link_twist + 8 * i);
    const srmWrench momentum = srm_momentum(srm_inertia_load(m->link_inertia + 16 * i), t);
    twice += v4_dot(t.w, momentum.n) + v4_dot(t.v, momentum.f);
  }
  return 0.5 * twice;
}

double sr_gravity_energy(const srModel* m, const srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  v4 moment = v4_zero();                // sum of mass times centre
  for (int i = 0; i < m->nlink; i++) {  // the ground too: bodies welded to it weigh
    const srmPose pose = srm_pose_load(d->link_pose + 16 * i);
    const v4 h = v4_load(m->link_inertia + 16 * i + 12);
    moment += v4_lane(h, 3) * pose.p + m3_mul(pose.R, h);
  }
  return -v4_dot(v4_xyz(m->gravity), moment);
}
