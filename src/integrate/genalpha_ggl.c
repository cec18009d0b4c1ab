// genalpha-ggl: the generalized-alpha method of genalpha.c with constraints at both levels.
// Gear, Gupta, Leimkuhler: both g = 0 and G v + b = 0 hold to rounding in every step; the increment of q has a part
// M^-1 G^T nu of its own (Haddouni et al. 2017, eq 23, 24 and algorithm 1). Equations without a position form are treated at velocity level.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_GGL); }

const srIntegratorOps sri_genalpha_ggl_ops = {
    .method = {.name = "genalpha-ggl",
               .order = 2,
               .adaptive = true,
               .implicit = true,
               .index = 2,
               .family = "generalized-alpha",
               .about = "generalized-alpha, stabilised index 2 (GGL): position and velocity constraints exact"},
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
