// genalpha-index2: the generalized-alpha method of genalpha.c with constraints at velocity level, eq 20 to 22 of Haddouni et al. (2017).
// Velocities are solved for: G v + b = 0 holds to rounding in every step, positions drift by the error of the method. Equations
// without a position form are like any other.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_INDEX2); }

const srIntegratorOps sri_genalpha_index2_ops = {
    .method = {.name = "genalpha-index2",
               .order = 2,
               .adaptive = true,
               .implicit = true,
               .index = 2,
               .drifts = true,
               .family = "generalized-alpha",
               .about = "generalized-alpha, index 2: velocity constraints exact, positions drift"},
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
