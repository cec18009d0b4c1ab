// Chooses the build of the kernels that this processor can run, once, when the library is loaded (base/kernel_names.h).
#ifdef SR_KERNELS_V3

#include <sarrus/dynamics.h>

#include "dynamics/link.h"
#include "math/sincos.h"

// X(result, return, name, parameters, arguments)
#define SR_KERNEL_LIST(X)                                                                                              \
  X(void, , sr_rnea, (const srModel* m, srData* d, const double* q, const double* v, const double* a, double* tau),    \
    (m, d, q, v, a, tau))                                                                                              \
  X(void, , sr_crba, (const srModel* m, srData* d, const double* q, double* M), (m, d, q, M))                          \
  X(srStatus, return, sr_aba,                                                                                          \
    (const srModel* m, srData* d, const double* q, const double* v, const double* tau, double* a),                     \
    (m, d, q, v, tau, a))                                                                                              \
  X(srStatus, return, sr_aba_driven,                                                                                   \
    (const srModel* m, srData* d, const double* q, const double* v, const double* f, double* a, double* lambda),       \
    (m, d, q, v, f, a, lambda))                                                                                        \
  X(void, , sr_kinematics, (const srModel* m, srData* d), (m, d))                                                      \
  X(void, , sr_velocity, (const srModel* m, srData* d), (m, d))                                                        \
  X(void, , sr_acceleration, (const srModel* m, srData* d), (m, d))                                                    \
  X(void, , sr_transforms, (const srModel* m, srData* d, const double* q), (m, d, q))                                  \
  X(void, , sr_transforms_X, (const srModel* m, srData* d, const double* q), (m, d, q))                                \
  X(void, , srm_sincos4, (const double* x, double* out), (x, out))

#define DECLARE(result, back, name, parameters, arguments)                                                             \
  result name##_any parameters;                                                                                        \
  result name##_v3 parameters;
SR_KERNEL_LIST(DECLARE)

static struct {
#define MEMBER(result, back, name, parameters, arguments) result(*name) parameters;
  SR_KERNEL_LIST(MEMBER)
} chosen = {
#define ANY(result, back, name, parameters, arguments) .name = name##_any,
    SR_KERNEL_LIST(ANY)};

__attribute__((constructor)) static void choose(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return;
#define V3(result, back, name, parameters, arguments) chosen.name = name##_v3;
  SR_KERNEL_LIST(V3)
}

#define PUBLIC(result, back, name, parameters, arguments)                                                              \
  result name parameters { back chosen.name arguments; }
SR_KERNEL_LIST(PUBLIC)

#else
typedef int sr_one_build_of_the_kernels;  // ISO C wants a declaration
#endif
