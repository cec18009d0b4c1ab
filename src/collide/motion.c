// A plane that moves with two shapes: what is on different sides of it at both ends of a time was apart in between.
//
// A material point r of a body (from its origin, axes fixed in space) is at time s at p + r + s (v + w x r) + e, |e| <= A s^2/2, A its largest
// acceleration. With n fixed and m = n + s (n x w),
//   n.(p + r + s (v + w x r)) = n.(p + s v) + m.r
// so that the gap is at least
//   L(s) = min over b (m_b.r) - max over a (m_a.r) + n.(p_b - p_a) + s n.(v_b - v_a) - (A_a + A_b) s^2/2
// m is linear in s and support functions are convex: L is concave, and L > 0 at both ends of a time proves all of it. A is at most
// |a| + (w^2 + |w'|) R, with R the radius of a ball about the origin that contains the shape. (Conservative advancement, Mirtich 1996, uses
// the speed alone and proves less in a step.)
#include "collide/motion.h"

#include <math.h>

#include "math/vector3.h"

// max m.r over the shape as it is posed; m of any length.
static double farthest(const srConvex* shape, const double pose[16], const double m[3]) {
  double own[3], x[3];
  int feature;
  for (int k = 0; k < 3; k++) own[k] = srm_dot3(pose + 4 * k, m);
  return sr_convex_core_support(shape, own, -1, x, &feature) + shape->radius * srm_norm3(m);
}

static void turned(const srMotion* x, const double n[3], double s, double m[3]) {
  srm_cross3(n, x->angular, m);
  for (int k = 0; k < 3; k++) m[k] = n[k] + s * m[k];
}

static double acceleration(const srConvex* shape, const srMotion* x) {
  return x->linear_most + (x->angular_most * x->angular_most + x->turning_most) * sr_convex_reach(shape);
}

double sr_motion_bound(const srConvex* a, const srConvex* b, const srMotion* x, const srMotion* y, const double n[3],
                       double s) {
  double m[3], apart[3], speed[3];
  if (!sr_shape_bounded(a->kind) || !sr_shape_bounded(b->kind)) return -INFINITY;
  srm_sub3(y->pose + 12, x->pose + 12, apart);
  srm_sub3(y->velocity, x->velocity, speed);
  double bound = srm_dot3(n, apart) + s * srm_dot3(n, speed);
  turned(x, n, s, m);
  bound -= farthest(a, x->pose, m);
  turned(y, n, s, m);
  srm_scale3(-1, m, m);
  bound -= farthest(b, y->pose, m);
  return bound - 0.5 * s * s * (acceleration(a, x) + acceleration(b, y));
}
