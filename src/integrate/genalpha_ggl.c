// genalpha-ggl: the generalized-alpha method of genalpha.c with constraints at both levels.
// Gear, Gupta, Leimkuhler: both g = 0 and G v + b = 0 hold to rounding in every step; the increment of q has a part
// M^-1 G^T nu of its own (Haddouni et al. 2017, eq 23, 24 and algorithm 1). Equations without a position form are treated at velocity level.
#include "integrate/genalpha.h"

static void init(srIntegrator* integrator) { sri_genalpha_init(integrator, SRI_GEN_GGL); }

const srIntegratorOps sri_genalpha_ggl_ops =
    SRI_GENALPHA_OPS(init, .name = "genalpha-ggl", .index = 2, .partitions = true,
                     .about = "generalized-alpha, stabilised index 2 (GGL): position and velocity constraints exact");
