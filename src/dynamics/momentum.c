// Total momentum about the ground's origin in inertial axes, mass and centre of mass of everything that can move.
//
//   (L, P) = sum of (R n + p x R f, R f)  with (n, f) = I t in link axes;   centre = sum (m p + R h) / sum m
#include "base/base.h"
#include "dynamics/link.h"

void sr_momentum(const srModel* m, const srData* d, double* momentum, double* mass, double* com) {
  SR_ASSERT(d->stage >= SR_STAGE_VELOCITY);
  srmWrench total = {v4_zero(), v4_zero()};
  v4 moment = v4_zero();
  double sum = 0;
  for (int i = 1; i < m->nlink; i++) {
    const srmPose pose = srm_pose_load(d->link_pose + 16 * i);
    const srmInertia I = srm_inertia_load(m->link_inertia + 16 * i);
    const srmWrench own = srm_wrench_to_parent(pose, srm_momentum(I, srm_twist_load(d->link_twist + 8 * i)));
    total = (srmWrench){total.n + own.n, total.f + own.f};
    moment += v4_lane(I.h, 3) * pose.p + m3_mul(pose.R, I.h);
    sum += I.h[3];
  }
  v4_put3(momentum, total.n);
  v4_put3(momentum + 3, total.f);
  if (mass) *mass = sum;
  if (com) v4_put3(com, moment / v4_all(sum > 0 ? sum : 1));
}
