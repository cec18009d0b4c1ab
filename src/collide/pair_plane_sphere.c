// A sphere on a plane: n = z, gap = n.x - R; the point of contact is the sphere's, -R n from its centre (Kikuuwe and Yamamoto).
#include "collide/pair.h"

static void place(const double size[2], const double x[3], srPairPlace* out) {
  *out = (srPairPlace){.n = {0, 0, 1}, .gap = x[2] - size[1], .arm = size[1]};
}

const srPairKind sr_pair_plane_sphere = {
    .name = "plane-sphere", .a = SR_KIND_PLANE, .b = SR_KIND_SPHERE, .nt = 2, .place = place};
