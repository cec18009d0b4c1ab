// A cone and a sphere, in the plane of the axis and the centre: apex, side, rim or base; a centre inside is nearest to the side or to the base.
//   side = (rho - r) m_0 + (z + l) m_1,  m = (2 l, r)/L its normal,   along = the way from the rim to the apex, 0 to L = |(r, 2 l)|
// Near the apex the search of EPA ends early: many directions are nearly the least deep.
#include <math.h>

#include "collide/distance.h"
#include "math/vector3.h"

typedef struct Place {
  double u[3];  // unit vector from the axis to the centre
  double rho, z, r, l, length, side, along;
} Place;

// n and the distance of the centre from a corner of the section, at this radius and height.
static void from_corner(const Place* p, double radius, double height, srNearest* out) {
  const double out_by = p->rho - radius, up_by = p->z - height;
  out->core = hypot(out_by, up_by);
  for (int k = 0; k < 3; k++) out->n[k] = (out_by * p->u[k] + (k == 2 ? up_by : 0)) / out->core;
}

// On a generator, whose points are mixed from the rim and the apex: H = (1 - along/L) H of the rim.
static void on_side(const srConvex* a, const Place* p, srNearest* out) {
  const double m[2] = {2 * p->l / p->length, p->r / p->length};
  out->core = p->side;
  out->unique = p->rho > 0;
  out->a.dimension = 1;
  for (int k = 0; k < 3; k++) {
    out->n[k] = m[0] * p->u[k] + (k == 2 ? m[1] : 0);
    out->a.edge[0][k] = -m[1] * p->u[k] + (k == 2 ? m[0] : 0);
  }
  sr_convex_feature_hessian(a, 0, out->n, out->a.hessian);
  for (int k = 0; k < 9; k++) out->a.hessian[k] *= 1 - p->along / p->length;
}

static void on_base(const Place* p, srNearest* out) {
  out->core = -p->l - p->z;
  srm_set3(out->n, (double[]){0, 0, -1});
  out->a = (srActive){.dimension = 2, .edge = {{1, 0, 0}, {0, 1, 0}}};
}

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)b;
  const double* x = pose + 12;
  Place p = {.rho = hypot(x[0], x[1]), .z = x[2], .r = a->size[0], .l = a->size[2]};
  p.u[0] = p.rho > 0 ? x[0] / p.rho : 1;
  p.u[1] = p.rho > 0 ? x[1] / p.rho : 0;
  p.length = hypot(p.r, 2 * p.l);
  p.side = ((p.rho - p.r) * 2 * p.l + (p.z + p.l) * p.r) / p.length;
  p.along = ((p.r - p.rho) * p.r + (p.z + p.l) * 2 * p.l) / p.length;
  const double below = -p.l - p.z;
  srm_set3(out->point_b, x);
  if (p.side > 0 && p.along >= p.length) {
    from_corner(&p, 0, p.l, out);
  } else if (p.side > 0 ? p.along >= 0 : below <= 0 && p.side > below) {
    on_side(a, &p, out);
  } else if (p.rho <= p.r) {
    on_base(&p, out);
    out->unique = below > 0 || p.side < below;
  } else {
    from_corner(&p, p.r, -p.l, out);
    sr_convex_feature_hessian(a, 0, out->n, out->a.hessian);
  }
  srm_add_scaled3(x, -out->core, out->n, out->point_a);
}

const srDistanceKind sr_distance_cone_sphere = {.a = SR_KIND_CONE, .b = SR_KIND_SPHERE, .place = place};
