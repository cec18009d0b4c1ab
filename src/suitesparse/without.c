// "klu" and "amd" in a build without SuiteSparse (CMake option SARRUS_SUITESPARSE off, or its libraries not found): rows that are absent.
#include "math/solver.h"

const srmSolverKind srm_klu_kind = {
    .name = "klu", .about = "not in this build, which has no SuiteSparse", .absent = true};
const srmOrder srm_amd = {.name = "amd", .absent = true};
