// Poses, twists, wrenches and inertias on top of v4.h. 6-vectors are angular first; layout in memory as in model.h.
#ifndef SR_MATH_SPATIAL_H
#define SR_MATH_SPATIAL_H

#include "math/v4.h"

// Pose of a child frame in its parent: x_parent = R x_child + p. 16 doubles.
typedef struct srmPose {
  m3 R;
  v4 p;
} srmPose;

SRM_INLINE srmPose srm_pose_load(const double* X) { return (srmPose){m3_load(X), v4_load(X + 12)}; }
SRM_INLINE void srm_pose_store(double* X, srmPose pose) {
  m3_store(X, pose.R);
  v4_store(X + 12, pose.p);
}
SRM_INLINE srmPose srm_pose_product(srmPose A, srmPose B) {
  return (srmPose){m3_product(A.R, B.R), A.p + m3_mul(A.R, B.p)};
}

// A twist (angular velocity w, velocity v of the origin) or a wrench (moment n about the origin, force f). 8 doubles.
typedef struct srmTwist {
  v4 w, v;
} srmTwist;
typedef struct srmWrench {
  v4 n, f;
} srmWrench;

SRM_INLINE srmTwist srm_twist_load(const double* t) { return (srmTwist){v4_load(t), v4_load(t + 4)}; }
SRM_INLINE void srm_twist_store(double* t, srmTwist twist) {
  v4_store(t, twist.w);
  v4_store(t + 4, twist.v);
}
SRM_INLINE srmWrench srm_wrench_load(const double* t) { return (srmWrench){v4_load(t), v4_load(t + 4)}; }
SRM_INLINE void srm_wrench_store(double* t, srmWrench wrench) {
  v4_store(t, wrench.n);
  v4_store(t + 4, wrench.f);
}
// Parent's twist seen at the child's origin in the child's axes; E is the transpose of R.
SRM_INLINE srmTwist srm_twist_to_child(m3 E, v4 p, srmTwist parent) {
  return (srmTwist){m3_mul(E, parent.w), m3_mul(E, parent.v + v4_cross(parent.w, p))};
}
SRM_INLINE srmWrench srm_wrench_to_parent(srmPose X, srmWrench child) {
  const v4 f = m3_mul(X.R, child.f);
  return (srmWrench){m3_mul(X.R, child.n) + v4_cross(X.p, f), f};
}

// wd x r + w x (w x r): acceleration of a point at r from the origin, less that of the origin.
SRM_INLINE v4 srm_turn(v4 w, v4 wd, v4 r) {
  const v4 t = v4_cross(w, r);
  return v4_yzx(wd * v4_yzx(r) - v4_yzx(wd) * r + w * v4_yzx(t) - v4_yzx(w) * t);
}

// Rigid inertia about the origin: J, and h = mass times centre with the mass in the fourth lane. 16 doubles.
typedef struct srmInertia {
  m3 J;
  v4 h;
} srmInertia;

SRM_INLINE srmInertia srm_inertia_load(const double* I) { return (srmInertia){m3_load(I), v4_load(I + 12)}; }
SRM_INLINE void srm_inertia_store(double* I, srmInertia inertia) {
  m3_store(I, inertia.J);
  v4_store(I + 12, inertia.h);
}
// Momentum: moment n about the origin, and f.
SRM_INLINE srmWrench srm_momentum(srmInertia I, srmTwist t) {
  return (srmWrench){m3_mul(I.J, t.w) + v4_cross(I.h, t.v), v4_lane(I.h, 3) * t.v + v4_cross(t.w, I.h)};
}

// Columns of the rotation of a quaternion w x y z of any length but zero.
SRM_INLINE m3 srm_quaternion_matrix(const double* q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double s = 2 / (w * w + x * x + y * y + z * z);
  return (m3){{{1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y), 0},
               {s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x), 0},
               {s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y), 0}}};
}

#endif
