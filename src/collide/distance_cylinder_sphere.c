// A cylinder and a sphere: distance from the axis and height limited to the cylinder; a centre inside is nearest to the side or to a cap.
#include <math.h>

#include "collide/distance.h"
#include "math/vector3.h"

static void on_cap(double side, srNearest* out) {
  srm_set3(out->n, (double[]){0, 0, side});
  out->a = (srActive){.dimension = 2, .edge = {{1, 0, 0}, {0, 1, 0}}};
}

static void on_side(const srConvex* a, const double u[3], srNearest* out) {
  srm_set3(out->n, u);
  out->a = (srActive){.dimension = 1, .edge = {{0, 0, 1}}};
  sr_convex_feature_hessian(a, 0, out->n, out->a.hessian);
}

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)b;
  const double *x = pose + 12, r = a->size[0], l = a->size[2], rho = hypot(x[0], x[1]), side = x[2] < 0 ? -1 : 1;
  const double u[3] = {rho > 0 ? x[0] / rho : 1, rho > 0 ? x[1] / rho : 0, 0};
  const double beyond_side = rho - r, beyond_cap = fabs(x[2]) - l;
  srm_set3(out->point_b, x);
  if (beyond_side > 0 && beyond_cap > 0) {  // the rim
    out->core = hypot(beyond_side, beyond_cap);
    for (int k = 0; k < 3; k++) out->n[k] = (beyond_side * u[k] + (k == 2 ? beyond_cap * side : 0)) / out->core;
    sr_convex_feature_hessian(a, 0, out->n, out->a.hessian);
  } else if (beyond_side > beyond_cap) {
    out->core = beyond_side;
    out->unique = rho > 0;
    on_side(a, u, out);
  } else {
    out->core = beyond_cap;
    out->unique = beyond_side < beyond_cap && x[2] != 0;
    on_cap(side, out);
  }
  srm_add_scaled3(x, -out->core, out->n, out->point_a);
}

const srDistanceKind sr_distance_cylinder_sphere = {.a = SR_KIND_CYLINDER, .b = SR_KIND_SPHERE, .place = place};
