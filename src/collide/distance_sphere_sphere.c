// Two spheres: n = x/|x|, |x| between the centres.
#include "collide/distance.h"
#include "math/vector3.h"

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)a, (void)b;
  double n[3];
  srm_set3(n, pose + 12);
  out->core = srm_unit3(n);
  out->unique = out->core > 0;
  if (out->unique) srm_set3(out->n, n);  // concentric: any
  srm_set3(out->point_b, pose + 12);
}

const srDistanceKind sr_distance_sphere_sphere = {.a = SR_KIND_SPHERE, .b = SR_KIND_SPHERE, .place = place};
