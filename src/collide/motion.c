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

#include "collide/distance.h"
#include "math/pose.h"
#include "math/vector3.h"

#define CHORDS 40  // of the search for a time; each at least halves what is left

// max m.r over the shape as it is posed; m of any length.
static double farthest(const srConvex* shape, const double pose[16], const double m[3]) {
  double own[3], x[3];
  int feature;
  for (int k = 0; k < 3; k++) own[k] = srm_dot3(pose + 4 * k, m);
  return sr_convex_core_support(shape, own, -1, x, &feature) + shape->radius * srm_norm3(m);
}

static void turned(const srShapeMotion* x, const double n[3], double s, double m[3]) {
  srm_cross3(n, x->angular, m);
  for (int k = 0; k < 3; k++) m[k] = n[k] + s * m[k];
}

static double acceleration(const srConvex* shape, const srShapeMotion* x) {
  return x->linear_most + (x->angular_most * x->angular_most + x->turning_most) * sr_convex_reach(shape);
}

double sr_motion_bound(const srConvex* a, const srConvex* b, const srShapeMotion* x, const srShapeMotion* y,
                       const double n[3], double s) {
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

// The chord between two points of a concave function is below it: where the chord is at `least`, the function is no less.
double sr_motion_reach(const srConvex* a, const srConvex* b, const srShapeMotion* x, const srShapeMotion* y,
                       const double n[3], double least, double most) {
  double s = 0, L = sr_motion_bound(a, b, x, y, n, 0) - least, end = most;
  double beyond = sr_motion_bound(a, b, x, y, n, end) - least;
  if (beyond >= 0) return most;
  if (!(L >= 0) || !isfinite(beyond)) return 0;
  for (int k = 0; k < CHORDS && s < 0.5 * end; k++) {
    const double middle = 0.5 * (s + end), at = sr_motion_bound(a, b, x, y, n, middle) - least;
    if (at >= 0) {
      s = middle;
      L = at;
    } else {
      end = middle;
      beyond = at;
    }
    s += (end - s) * L / (L - beyond);
    L = fmax(sr_motion_bound(a, b, x, y, n, s) - least, 0);  // but for rounding it is no less
  }
  return s;
}

// The gap and its normal in the axes that both poses are given in.
static double gap_between(const srConvex* a, const srConvex* b, const srShapeMotion* x, const srShapeMotion* y,
                          double warm[3], double n[3]) {
  double back[16], pose[16];
  srNearest nearest;
  srm_pose_invert(x->pose, back);
  srm_pose_compose(back, y->pose, pose);
  sr_shape_distance(a, b, pose, warm, SR_DISTANCE_FAST, &nearest);
  srm_pose_rotate(x->pose, nearest.n, n);
  return nearest.gap;
}

bool sr_motion_first(const srMoving* a, const srMoving* b, double end, double near, double* s) {
  double t = 0, warm[3] = {0};
  while (true) {
    srShapeMotion x, y;
    double n[3];
    a->at(a->user, t, &x);
    b->at(b->user, t, &y);
    *s = t;
    if (gap_between(a->shape, b->shape, &x, &y, warm, n) <= near) return true;
    if (t >= end) return false;
    const double reach = sr_motion_reach(a->shape, b->shape, &x, &y, n, 0.5 * near, end - t);
    if (!(t + reach > t)) return true;
    if (reach >= end - t) return false;
    t += reach;
  }
}
