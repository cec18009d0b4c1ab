// Positions, velocities and accelerations of all links, from the ground outwards.  Featherstone (2008), section 3.1.
//
//   pose    X_0i = X_0parent X_i
//   twist   t_i = t_parent transformed to i + S v
//   accel   classical acceleration of the origin, gravity not counted (see sr_motion_add)
//
// srData.known records the state they belong to, so that a second request at the same state needs no second pass: q, v and, for the joint
// coordinates of free bodies, whose angles are counted from discrete states and a time, z and t. Compared bit by bit.
#include <string.h>

#include "base/base.h"
#include "base/team.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"

// Two states mostly differ in the first number, and in small trees that is all there is.
static inline bool same(const double* a, const double* b, int n) {
  if (n == 1) return memcmp(a, b, sizeof *a) == 0;  // no call
  return n == 0 || (a[0] == b[0] && memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

static void keep(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

bool sr_positions_same(const srModel* m, const srData* d, const double* q) { return same(q, d->known, m->nq); }

static bool measurements_same(const srModel* m, const srData* d) {
  const double* z = d->known + m->nq + m->nv;
  return same(d->z, z, m->nz) && same(&d->t, z + m->nz, 1);
}

void sr_measurements_keep(const srModel* m, srData* d) {
  double* z = d->known + m->nq + m->nv;
  keep(z, d->z, m->nz);
  z[m->nz] = d->t;
}

void sr_lower_stage(const srModel* m, srData* d) {
  if (!sr_positions_known(m, d, d->q)) d->stage = SR_STAGE_NONE;
  if (d->stage > SR_STAGE_POSITION && !same(d->v, d->known + m->nq, m->nv)) d->stage = SR_STAGE_POSITION;
  if (!m->absolute || d->measured == SR_STAGE_NONE || measurements_same(m, d)) return;
  d->measured = SR_STAGE_NONE;
  if (d->stage > SR_STAGE_VELOCITY) d->stage = SR_STAGE_VELOCITY;
}

// Links whose loops are shared are free bodies on the ground (srData.team): none needs another one.
typedef struct Links {
  const srModel* m;
  srData* d;
} Links;

SRM_INLINE void place_link(const srModel* m, srData* d, int i) {
  if (m->link_parent[i] == 0) {  // on the ground
    memcpy(d->link_pose + 16 * i, d->link_X + 16 * i, 16 * sizeof(double));
    return;
  }
  const srmPose parent = srm_pose_load(d->link_pose + 16 * m->link_parent[i]);
  srm_pose_store(d->link_pose + 16 * i, srm_pose_product(parent, srm_pose_load(d->link_X + 16 * i)));
}

SRM_CLONES static void place_free(void* user, int member, int from, int to) {
  const Links* x = user;
  (void)member;
  sr_free_transforms(x->m, x->d, x->d->q, 1 + from, 1 + to);
  for (int i = 1 + from; i < 1 + to; i++) place_link(x->m, x->d, i);
}

SRM_CLONES void sr_link_positions(const srModel* m, srData* d) {
  d->stage = SR_STAGE_NONE;
  if (d->team == NULL) sr_transforms(m, d, d->q);
  const srmPose ground = {{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}, v4_zero()};
  srm_pose_store(d->link_X, ground);
  m3_store(d->link_E, ground.R);
  srm_pose_store(d->link_pose, ground);
  if (d->team != NULL) sr_team_loop(d->team, m->nlink - 1, place_free, &(Links){m, d});
  for (int i = 1; i < m->nlink && d->team == NULL; i++) place_link(m, d, i);
  d->stage = SR_STAGE_POSITION;
  d->positions++;
  d->measured = SR_STAGE_NONE;
  d->closures_known = false;
  keep(d->known, d->q, m->nq);
}

SRM_CLONES static void turn_links(void* user, int member, int from, int to) {
  const srModel* m = ((const Links*)user)->m;
  srData* d = ((const Links*)user)->d;
  (void)member;
  for (int i = 1 + from; i < 1 + to; i++) {
    const srmTwist own = sr_link_relative(m->link_type[i], m->link_pitch[i], d->v + m->link_v[i]);
    if (m->link_parent[i] == 0) {  // on the ground
      srm_twist_store(d->link_twist + 8 * i, own);
      continue;
    }
    const srmTwist parent = srm_twist_load(d->link_twist + 8 * m->link_parent[i]);
    const srmTwist t = srm_twist_to_child(m3_load(d->link_E + 12 * i), v4_load(d->link_X + 16 * i + 12), parent);
    srm_twist_store(d->link_twist + 8 * i, (srmTwist){t.w + own.w, t.v + own.v});
  }
}

void sr_link_velocities(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  srm_twist_store(d->link_twist, (srmTwist){v4_zero(), v4_zero()});
  sr_team_loop(d->team, m->nlink - 1, turn_links, &(Links){m, d});
  d->stage = SR_STAGE_VELOCITY;
  if (d->measured > SR_STAGE_POSITION) d->measured = SR_STAGE_POSITION;
  keep(d->known + m->nq, d->v, m->nv);
}

void sr_measure_joints(const srModel* m, srData* d) {
  if (!m->absolute) return;
  if (d->measured < SR_STAGE_POSITION && d->stage >= SR_STAGE_POSITION) {
    sr_measurement_positions(m, d);
    sr_measurements_keep(m, d);
    d->measured = SR_STAGE_POSITION;
  }
  if (d->measured < SR_STAGE_VELOCITY && d->stage >= SR_STAGE_VELOCITY) {
    sr_measurement_velocities(m, d);
    d->measured = SR_STAGE_VELOCITY;
  }
}

void sr_kinematics(const srModel* m, srData* d) {
  sr_link_positions(m, d);
  sr_measure_joints(m, d);
}

void sr_velocity(const srModel* m, srData* d) {
  sr_link_velocities(m, d);
  sr_measure_joints(m, d);
}

SRM_CLONES static void accelerate_links(void* user, int member, int from, int to) {
  const srModel* m = ((const Links*)user)->m;
  srData* d = ((const Links*)user)->d;
  (void)member;
  for (int i = 1 + from; i < 1 + to; i++) {
    const int type = m->link_type[i], parent = m->link_parent[i], dof = m->link_v[i];
    if (parent == 0) {  // on the ground
      const srmTwist own = sr_link_relative(type, m->link_pitch[i], d->v + dof);
      const srmTwist a = sr_link_relative(type, m->link_pitch[i], d->a + dof);
      srm_twist_store(d->link_accel + 8 * i, (srmTwist){a.w, a.v + v4_cross(own.w, own.v)});
      continue;
    }
    const m3 E = m3_load(d->link_E + 12 * i);
    const v4 p = v4_load(d->link_X + 16 * i + 12), w = v4_load(d->link_twist + 8 * parent);
    const srmTwist above = srm_twist_load(d->link_accel + 8 * parent);
    const srMotion carried = {m3_mul(E, w), m3_mul(E, above.w), m3_mul(E, above.v + srm_turn(w, above.w, p))};
    const srMotion s = sr_motion_add(carried, sr_link_relative(type, m->link_pitch[i], d->v + dof),
                                     sr_link_relative(type, m->link_pitch[i], d->a + dof));
    srm_twist_store(d->link_accel + 8 * i, (srmTwist){s.wd, s.a});
  }
}

void sr_acceleration(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_VELOCITY);
  srm_twist_store(d->link_accel, (srmTwist){v4_zero(), v4_zero()});
  sr_team_loop(d->team, m->nlink - 1, accelerate_links, &(Links){m, d});
  d->stage = SR_STAGE_FRAMES;
}
