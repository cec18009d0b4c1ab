// A capsule and a sphere: nearest point of a segment to a point.
#include <math.h>

#include "collide/distance.h"
#include "math/vector3.h"

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)b;
  const double* x = pose + 12;
  const double l = a->size[2], t = fmax(-l, fmin(l, x[2]));
  double n[3] = {x[0], x[1], x[2] - t};
  out->core = srm_unit3(n);
  out->unique = out->core > 0;
  if (!out->unique) n[0] = 1;  // on the axis: any direction normal to it
  srm_set3(out->n, n);
  out->point_a[2] = t;
  srm_set3(out->point_b, x);
  if (fabs(x[2]) < l) out->a = (srActive){.dimension = 1, .edge = {{0, 0, 1}}};
}

const srDistanceKind sr_distance_capsule_sphere = {.a = SR_KIND_CAPSULE, .b = SR_KIND_SPHERE, .place = place};
