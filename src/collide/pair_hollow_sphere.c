// A sphere within a wider hollow one, R_a < 0: n = -x/|x|, gap = -|x| - R_a - R_b.
#include "collide/pair.h"

static bool fits(double size_a, double size_b) { return size_a + size_b < 0; }

static void place(const double size[2], const double x[3], srPairPlace* out) { sr_pair_of_spheres(-1, size, x, out); }

const srPairKind sr_pair_hollow_sphere = {
    .name = "hollow-sphere", .a = SR_KIND_HOLLOW, .b = SR_KIND_SPHERE, .nt = 3, .fits = fits, .place = place};
