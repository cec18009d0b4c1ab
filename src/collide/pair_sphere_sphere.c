// Two spheres: n = x/|x|, gap = |x| - R_a - R_b; the point of contact is the middle of the overlap, so that it is symmetric in a and b.
#include "collide/pair.h"
#include "math/pose.h"

void sr_pair_of_spheres(double side, const double size[2], const double x[3], srPairPlace* out) {
  const double distance = srm_norm3(x);
  const bool apart = distance > 0;  // concentric spheres have no normal
  out->straight = false;
  out->curve = apart ? side / distance : 0;
  for (int i = 0; i < 3; i++) out->n[i] = apart ? out->curve * x[i] : i == 2;
  out->gap = side * distance - size[0] - size[1];
  out->arm = size[1] + 0.5 * out->gap;
  out->share = apart ? 0.5 : 0;
}

static void place(const double size[2], const double x[3], srPairPlace* out) { sr_pair_of_spheres(1, size, x, out); }

const srPairKind sr_pair_sphere_sphere = {
    .name = "sphere-sphere", .a = SR_KIND_SPHERE, .b = SR_KIND_SPHERE, .nt = 3, .place = place};
