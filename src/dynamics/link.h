// What the recursions share: joint transforms, motion of a link relative to its parent, scratch.
#ifndef SR_DYNAMICS_LINK_H
#define SR_DYNAMICS_LINK_H

#include <sarrus/dynamics.h>

#include "math/spatial.h"

// Are link_X, link_E and link_pose those of positions q? (kinematics.c)
bool sr_positions_same(const srModel* m, const srData* d, const double* q);
static inline bool sr_positions_known(const srModel* m, const srData* d, const double* q) {
  return d->stage >= SR_STAGE_POSITION && sr_positions_same(m, d, q);
}
// Lowers the stage to what the kinematics in d still represent of its t, q, v, z.
void sr_lower_stage(const srModel* m, srData* d);

// sr_kinematics and sr_velocity without the joint coordinates of free bodies (measurement.h).
void sr_link_positions(const srModel* m, srData* d);
void sr_link_velocities(const srModel* m, srData* d);

// link_X (and link_E) of all links at q. Marks d as belonging to no state when it holds the kinematics of another one.
void sr_transforms(const srModel* m, srData* d, const double* q);    // X and E
void sr_transforms_X(const srModel* m, srData* d, const double* q);  // X alone
// Of links first .. end-1 alone; of free links.
void sr_free_transforms(const srModel* m, srData* d, const double* q, int first, int end);
void sr_normalize_links(const srModel* m, int first, int end, double* q);
void sr_drift_links(const srModel* m, int first, int end, const double* q, double h, const double* move, double* v,
                    double* q_out);

// Coordinates of a link: their number, and the index of coordinate k of a link in the 8 doubles of a twist or wrench
// in link axes (S^T f is one number). A helical link also has pitch times number 6.
static const int sr_link_nv[] = {0, 1, 1, 1, 3, 6};
static const int sr_link_slot[][6] = {{0}, {2}, {6}, {2}, {0, 1, 2}, {0, 1, 2, 4, 5, 6}};

// S^T wrench of coordinate k.
SRM_INLINE double sr_link_project(int type, double pitch, int k, const double* wrench) {
  const double x = wrench[sr_link_slot[type][k]];
  return type == SR_LINK_HELICAL ? x + pitch * wrench[6] : x;
}

// S x: motion of the link relative to its parent, for a vector x of its coordinates.
SRM_INLINE srmTwist sr_link_relative(int type, double pitch, const double* x) {
  switch (type) {
    case SR_LINK_REVOLUTE: return (srmTwist){v4_z(x[0]), v4_zero()};
    case SR_LINK_PRISMATIC: return (srmTwist){v4_zero(), v4_z(x[0])};
    case SR_LINK_HELICAL: return (srmTwist){v4_z(x[0]), v4_z(pitch * x[0])};
    case SR_LINK_BALL: return (srmTwist){v4_xyz(x), v4_zero()};
    case SR_LINK_FREE: return (srmTwist){v4_xyz(x), v4_xyz(x + 3)};
    default: return (srmTwist){v4_zero(), v4_zero()};
  }
}

// The frame of a point of the model in the ground, and its motion in ground axes.
SRM_INLINE srmPose sr_point_pose(const srModel* m, const srData* d, int point) {
  const int link = m->point_link[point];
  const srmPose own = srm_pose_load(m->point_pose + 16 * point);
  return link == 0 ? own : srm_pose_product(srm_pose_load(d->link_pose + 16 * link), own);
}
void sr_point_frame(const srModel* m, const srData* d, int point, double pose[16]);  // the same, in memory (frame.c)

// A point as observed from another frame, by sr_frame_motion without rotation and accelerations; the pose of that frame, and the point in the ground.
typedef struct srPointBetween {
  _Alignas(32) double axes[16];
  double at[3], position[3], velocity[3], angular_velocity[3];
} srPointBetween;
void sr_point_between(const srModel* m, const srData* d, int point, int relative_to, srPointBetween* out);
SRM_INLINE srmTwist sr_point_twist(const srModel* m, const srData* d, int point) {
  const int link = m->point_link[point];
  const m3 R = m3_load(d->link_pose + 16 * link);
  const srmTwist twist = srm_twist_load(d->link_twist + 8 * link);
  const v4 at = v4_load(m->point_pose + 16 * point + 12);
  return (srmTwist){m3_mul(R, twist.w), m3_mul(R, twist.v + v4_cross(twist.w, at))};
}

// Effect of coordinate k of a link on a frame beyond it, whose origin is `at` in the ground: angular velocity and velocity for
// v = sign, in the axes that `turn` rotates to.
SRM_INLINE void sr_link_column(const srModel* m, const srData* d, int link, int k, double sign, m3 turn, v4 at,
                               double* column) {
  const int type = m->link_type[link];
  const srmPose pose = srm_pose_load(d->link_pose + 16 * link);
  if (type == SR_LINK_REVOLUTE) {
    const v4 axis = v4_all(sign) * pose.R.c[2];
    v4_put3(column, m3_mul(turn, axis));
    v4_put3(column + 3, m3_mul(turn, v4_cross(axis, at - pose.p)));
    return;
  }
  if (type == SR_LINK_PRISMATIC) {
    v4_put3(column, v4_zero());
    v4_put3(column + 3, m3_mul(turn, v4_all(sign) * pose.R.c[2]));
    return;
  }
  double unit[6] = {0};
  unit[k] = sign;
  const srmTwist S = sr_link_relative(type, m->link_pitch[link], unit);
  const v4 axis = m3_mul(pose.R, S.w);
  v4_put3(column, m3_mul(turn, axis));
  v4_put3(column + 3, m3_mul(turn, m3_mul(pose.R, S.v) + v4_cross(axis, at - pose.p)));
}

// Motion of a link needed for its bias wrench: angular velocity and acceleration, acceleration of the origin, in link
// axes. 12 doubles. Gravity enters as an acceleration of the ground upwards.
typedef struct srMotion {
  v4 w, wd, a;
} srMotion;

SRM_INLINE srMotion sr_motion_load(const double* s) { return (srMotion){v4_load(s), v4_load(s + 4), v4_load(s + 8)}; }
SRM_INLINE void sr_motion_store(double* s, srMotion motion) {
  v4_store(s, motion.w);
  v4_store(s + 4, motion.wd);
  v4_store(s + 8, motion.a);
}

// Motion of the parent, as if the child did not move on it, in the child's axes and at its origin.
SRM_INLINE srMotion sr_motion_to_child(const double* X, const double* E, const double* parent) {
  const srMotion s = sr_motion_load(parent);
  const v4 a = s.a + srm_turn(s.w, s.wd, v4_load(X + 12));
  const m3 turn = m3_load(E);
  return (srMotion){m3_mul_at(turn, parent), m3_mul_at(turn, parent + 4), m3_mul(turn, a)};
}

// The same of a link on the ground, which rests and falls with -g.
SRM_INLINE srMotion sr_motion_on_ground(const double* E, const double* gravity) {
  return (srMotion){v4_zero(), v4_zero(), m3_mul(m3_load(E), -v4_xyz(gravity))};
}

// Adds the joint motion: rate S v and, in its own axes, acceleration S a.
SRM_INLINE srMotion sr_motion_add(srMotion s, srmTwist rate, srmTwist accel) {
  const v4 coriolis = v4_cross(s.w, rate.v);
  s.wd += accel.w + v4_cross(s.w, rate.w);
  s.a += accel.v + coriolis + coriolis + v4_cross(rate.w, rate.v);
  s.w += rate.w;
  return s;
}
// The same about z, without acceleration: w x z rate = rate (wy, -wx, 0).
SRM_INLINE srMotion sr_motion_add_revolute(srMotion s, double rate) {
  const v4 turned = __builtin_shufflevector(s.w, s.w, 1, 0, 2, 3) * (v4){1, -1, 0, 0}, r = v4_all(rate);
  s.wd += turned * r;
  s.w += v4_keep(r, 0, 0, 1);
  return s;
}

// The same along z.
SRM_INLINE srMotion sr_motion_add_prismatic(srMotion s, double rate) {
  const v4 coriolis = v4_cross(s.w, v4_z(rate));
  s.a += coriolis + coriolis;
  return s;
}

// Newton-Euler: wrench at the origin for this motion of a rigid link.
//   f = m a + wd x h + w x (w x h),   n = J wd + w x J w + h x a
SRM_INLINE srmWrench sr_motion_wrench(const double* inertia, srMotion s) {
  const srmInertia I = srm_inertia_load(inertia);
  return (srmWrench){m3_mul(I.J, s.wd) + v4_cross(s.w, m3_mul(I.J, s.w)) + v4_cross(I.h, s.a),
                     v4_all(inertia[15]) * s.a + srm_turn(s.w, s.wd, I.h)};
}

SRM_INLINE void sr_wrench_add_to_parent(const double* X, srmWrench child, double* parent) {
  const srmWrench up = srm_wrench_to_parent(srm_pose_load(X), child);
  v4_store(parent, v4_load(parent) + up.n);
  v4_store(parent + 4, v4_load(parent + 4) + up.f);
}

#endif
