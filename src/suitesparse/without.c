// "klu" in a build without SuiteSparse (CMake option SARRUS_SUITESPARSE off, or its libraries not found): a row that is absent.
#include "math/solver.h"

const srmSolverKind srm_klu_kind = {
    .name = "klu", .about = "not in this build, which has no SuiteSparse", .absent = true};
