// genalpha-index3: the generalized-alpha method of genalpha.c with constraints at position level, eq 14 to 19 of Haddouni et al. (2017).
// Positions are solved for: g = 0 holds to rounding in every step, G v + b is O(h^2), as the method leaves it, and is not
// projected. Equations without a position form are not supported.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_INDEX3); }

const srIntegratorOps sri_genalpha_index3_ops =
    SRI_GENALPHA_OPS(init, .name = "genalpha-index3", .index = 3, .partitions = true,
                     .about = "generalized-alpha, index 3: position constraints exact, velocities not corrected");
