// genalpha-index2: the generalized-alpha method of genalpha.c with constraints at velocity level, eq 20 to 22 of Haddouni et al. (2017).
// Velocities are solved for: G v + b = 0 holds to rounding in every step, positions drift by the error of the method. Equations
// without a position form are like any other.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_INDEX2); }

const srIntegratorOps sri_genalpha_index2_ops =
    SRI_GENALPHA_OPS(init, .name = "genalpha-index2", .index = 2, .drifts = true, .partitions = true,
                     .about = "generalized-alpha, index 2: velocity constraints exact, positions drift");
