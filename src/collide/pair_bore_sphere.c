// A sphere within a bore, a hollow cylinder about z without ends, R_a < 0: with x = (e, z), e across the axis,
//   n = -e/|e|,  gap = -|e| - R_a - R_b
// The point of contact is the middle of the overlap, as for spheres; n is the same all along the bore. A journal with clearance: a sphere for its middle, or one
// for each of its ends.
#include <math.h>

#include "collide/pair.h"

static bool fits(double size_a, double size_b) { return size_a + size_b < 0; }

static void place(const double size[2], const double x[3], srPairPlace* out) {
  const double distance = hypot(x[0], x[1]);
  const bool off = distance > 0;  // in the middle there is no normal
  *out = (srPairPlace){.curve = off ? -1 / distance : 0, .straight = true, .share = off ? 0.5 : 0};
  for (int i = 0; i < 2; i++) out->n[i] = off ? out->curve * x[i] : i == 0;
  out->gap = -distance - size[0] - size[1];
  out->arm = size[1] + 0.5 * out->gap;
}

const srPairKind sr_pair_bore_sphere = {
    .name = "bore-sphere", .a = SR_KIND_BORE, .b = SR_KIND_SPHERE, .nt = 3, .fits = fits, .place = place};
