// Two capsules: nearest points s z and x + t u of two segments (Ericson, Real-Time Collision Detection, 2005, section 5.1.9).
//
//   s = ((x cross u).(z cross u))/|z cross u|^2, limited;  t = u.(s z - x), limited;  s = z.(x + t u), limited
//
// Where both are inside of their segments the normal is that of both axes, also where these meet. Axes that are parallel within 1e-8 have many
// nearest points: the middle of what faces each other is taken.
#include <math.h>

#include "collide/distance.h"
#include "math/vector3.h"

#define PARALLEL 1e-8
#define MEETING 1e-15  // of the lengths

static double limit(double t, double most) { return fmax(-most, fmin(most, t)); }

// Parameters of the nearest points. inside: of each segment.
static void nearest(const double l[2], const double x[3], const double u[3], double at[2]) {
  const double z[3] = {0, 0, 1};
  double N[3], side[3];
  srm_cross3(z, u, N);
  if (srm_norm3(N) <= PARALLEL) {  // z in [x_z - l_b, x_z + l_b] and [-l_a, l_a]
    const double low = fmax(-l[0], x[2] - l[1]), high = fmin(l[0], x[2] + l[1]);
    at[0] = low <= high ? 0.5 * (low + high) : limit(x[2], l[0]);
  } else {
    srm_cross3(x, u, side);
    at[0] = limit(srm_dot3(side, N) / srm_dot3(N, N), l[0]);
  }
  at[1] = limit(u[2] * at[0] - srm_dot3(u, x), l[1]);
  at[0] = limit(x[2] + at[1] * u[2], l[0]);
}

// The direction normal to both axes, or to that of a where these are parallel.
static void normal_of_axes(const double u[3], double n[3]) {
  const double z[3] = {0, 0, 1};
  srm_cross3(z, u, n);
  if (srm_norm3(n) <= PARALLEL) srm_set3(n, (double[]){1, 0, 0});
  (void)srm_unit3(n);
}

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  const double *x = pose + 12, *u = pose + 8, l[2] = {a->size[2], b->size[2]}, size = l[0] + l[1];
  const double sine = hypot(u[0], u[1]);
  double at[2], n[3], cross[3];
  nearest(l, x, u, at);
  const bool in_a = fabs(at[0]) < l[0], in_b = fabs(at[1]) < l[1];
  out->point_a[2] = at[0];
  srm_add_scaled3(x, at[1], u, out->point_b);
  srm_sub3(out->point_b, out->point_a, n);
  out->core = srm_unit3(n);
  normal_of_axes(u, cross);
  out->unique = out->core > MEETING * size;
  if (!out->unique || (in_a && in_b && sine > PARALLEL && sine * size > out->core)) {
    srm_scale3(srm_dot3(cross, n) < 0 ? -1 : 1, cross, n);
    if (in_a && in_b && sine > PARALLEL) out->core = fabs(srm_dot3(n, x));
  }
  srm_set3(out->n, n);
  if (in_a) out->a = (srActive){.dimension = 1, .edge = {{0, 0, 1}}};
  if (in_b) out->b = (srActive){.dimension = 1, .edge = {{u[0], u[1], u[2]}}};
}

const srDistanceKind sr_distance_capsule_capsule = {.a = SR_KIND_CAPSULE, .b = SR_KIND_CAPSULE, .place = place};
