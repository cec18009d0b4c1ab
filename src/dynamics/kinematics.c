// Positions, velocities and accelerations of all links, from the ground outwards.  Featherstone (2008), section 3.1.
//
//   pose    X_0i = X_0parent X_i
//   twist   t_i = t_parent seen at i + S v
//   accel   classical acceleration of the origin, gravity not counted (see sr_motion_add)
#include "base/base.h"
#include "dynamics/gauge.h"
#include "dynamics/link.h"

SRM_CLONES void sr_kinematics(const srModel* m, srData* d) {
  sr_transforms(m, d, d->q);
  const srmPose ground = {{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}, v4_zero()};
  srm_pose_store(d->link_X, ground);
  m3_store(d->link_E, ground.R);
  srm_pose_store(d->link_pose, ground);
  for (int i = 1; i < m->nlink; i++) {
    const srmPose parent = srm_pose_load(d->link_pose + 16 * m->link_parent[i]);
    srm_pose_store(d->link_pose + 16 * i, srm_pose_product(parent, srm_pose_load(d->link_X + 16 * i)));
  }
  d->stage = SR_STAGE_POSITION;
  if (m->gauged) sr_gauge_positions(m, d);
}

SRM_CLONES void sr_velocity(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  srm_twist_store(d->link_twist, (srmTwist){v4_zero(), v4_zero()});
  for (int i = 1; i < m->nlink; i++) {
    const srmTwist parent = srm_twist_load(d->link_twist + 8 * m->link_parent[i]);
    const srmTwist t = srm_twist_to_child(m3_load(d->link_E + 12 * i), v4_load(d->link_X + 16 * i + 12), parent);
    const srmTwist own = sr_link_relative(m->link_type[i], m->link_pitch[i], d->v + m->link_v[i]);
    srm_twist_store(d->link_twist + 8 * i, (srmTwist){t.w + own.w, t.v + own.v});
  }
  d->stage = SR_STAGE_VELOCITY;
  if (m->gauged) sr_gauge_velocities(m, d);
}

SRM_CLONES void sr_acceleration(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_VELOCITY);
  srm_twist_store(d->link_accel, (srmTwist){v4_zero(), v4_zero()});
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i], parent = m->link_parent[i], dof = m->link_v[i];
    const m3 E = m3_load(d->link_E + 12 * i);
    const v4 p = v4_load(d->link_X + 16 * i + 12), w = v4_load(d->link_twist + 8 * parent);
    const srmTwist above = srm_twist_load(d->link_accel + 8 * parent);
    const srMotion carried = {m3_mul(E, w), m3_mul(E, above.w), m3_mul(E, above.v + srm_turn(w, above.w, p))};
    const srMotion s = sr_motion_add(carried, sr_link_relative(type, m->link_pitch[i], d->v + dof),
                                     sr_link_relative(type, m->link_pitch[i], d->a + dof));
    srm_twist_store(d->link_accel + 8 * i, (srmTwist){s.wd, s.a});
  }
  d->stage = SR_STAGE_ACCELERATION;
}
