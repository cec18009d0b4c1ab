// Dormand-Prince 5(4) on the index-1 form, position and velocity projected on the constraints after each step: Haddouni et al. (2017),
// section 3.3. The accelerations are solved with the equations in use fixed in all stages (constrained.c), where the system
// provides M, f and G; else by its callback `rates`. Without constraints it is dopri5.
#include "integrate/dopri5.h"

const srIntegratorOps sri_mdop5_ops = {
    .method = {.name = "mdop5",
               .order = 5,
               .adaptive = true,
               .index = 1,
               .partitions = true,
               .family = "dormand-prince",
               .about = "Dormand-Prince 5(4), position and velocity projected on the constraints after each step"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(constraint),
    .index1 = true,
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srDopri5),
    .room = sri_dopri5_room,
    .init = sri_dopri5_init,
    .start = sri_dopri5_start,
    .step = sri_dopri5_step,
    .interpolate = sri_dopri5_interpolate,
};
