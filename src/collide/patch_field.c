// The pressure field of a frustum about z, a cylinder or a cone: with rho(z) the radius of its side and c the cosine of its slope,
//   d = min(c (rho(z) - r), z - z_0, z_1 - z),   r the distance from the axis
// concave, as r is convex. Next to the side its gradient turns about the axis: with t the direction around it,
//   dd/dx = -c (e_r - rho' e_z),   d2d/dx2 = -c/r t t^T
#include <math.h>

#include "collide/patch_cells.h"

srPatchFrustum sr_patch_frustum_of(const srPatchBody* b) {
  srPatchFrustum f = {.z = {b->z[0], b->z[1]}, .radius = {b->radius[0], b->radius[1]}};
  f.slope = (b->radius[1] - b->radius[0]) / (b->z[1] - b->z[0]);
  f.cosine = 1 / sqrt(1 + f.slope * f.slope);
  return f;
}

double sr_patch_frustum_radius(const srPatchFrustum* f, double z) { return f->radius[0] + f->slope * (z - f->z[0]); }

double sr_patch_frustum_depth(const srPatchFrustum* f, const double x[3]) {
  const double side = f->cosine * (sr_patch_frustum_radius(f, x[2]) - hypot(x[0], x[1]));
  return fmin(side, fmin(x[2] - f->z[0], f->z[1] - x[2]));
}

void sr_patch_put_in_frustum(srPatchCells* c, const srPatchFrustum* f, const double x[3], const double n[3],
                             double area) {
  const double r = hypot(x[0], x[1]), side = f->cosine * (sr_patch_frustum_radius(f, x[2]) - r);
  const double end = fmin(x[2] - f->z[0], f->z[1] - x[2]);
  srPatchField at = {.depth = fmax(0, fmin(side, end)), .gradient = {0, 0, x[2] - f->z[0] < f->z[1] - x[2] ? 1 : -1}};
  if (side < end && r > 0) {
    const double turn = sqrt(f->cosine / r) / r;
    at.gradient[0] = -f->cosine * x[0] / r;
    at.gradient[1] = -f->cosine * x[1] / r;
    at.gradient[2] = f->cosine * f->slope;
    at.bend[0] = -turn * x[1];
    at.bend[1] = turn * x[0];
  }
  sr_patch_put_at(c, x, n, &at, area, 0);
}
