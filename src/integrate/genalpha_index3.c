// genalpha-index3: the generalized-alpha method of genalpha.c with constraints at position level, eq 14 to 19 of Haddouni et al. (2017).
// Positions are solved for: g = 0 holds to rounding in every step, G v + b is O(h^2), as the method leaves it, and is not
// projected. Equations without a position form are not supported.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_INDEX3); }

const srIntegratorOps sri_genalpha_index3_ops = {
    .method = {.name = "genalpha-index3",
               .order = 2,
               .adaptive = true,
               .implicit = true,
               .index = 3,
               .family = "generalized-alpha",
               .about = "generalized-alpha, index 3: position constraints exact, velocities not corrected"},
    .needs = SRI_NEEDS(dynamics),
    .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),
    .project = SR_PROJECT_NONE,
    .work_size = sizeof(srGenAlpha),
    .room = sri_genalpha_room,
    .init = init,
    .create = sri_genalpha_create,
    .start = sri_genalpha_start,
    .step = sri_genalpha_step,
    .interpolate = sri_genalpha_interpolate,
    .destroy = sri_genalpha_destroy,
};
