// Batches of sixteen contacts in single precision for processors with AVX-512 (lanes.h): the same numbers in each lane, and the same sums of eight lanes, as in lanes_single.c.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "math/v4.h"
#include "math/vector3.h"
#include "nonsmooth/coloured.h"
#include "nonsmooth/operator.h"

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)

extern const srLaneKernel sr_lanes_sixteen;

const srLaneKernel* sr_lanes_wide(void) {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return has ? &sr_lanes_sixteen : NULL;
}

#pragma GCC push_options
#pragma GCC target("avx2,avx512f,avx512vl,avx512dq,avx512bw")
#undef SRM_CLONES
#define SRM_CLONES
#define REAL float
#define LANES 16
#define MASK int
#define ROOT __builtin_sqrtf
#define TINY 1e-15f
#define BIG 1e15f
#define KERNEL sr_lanes_sixteen
#include "nonsmooth/lanes.h"
#pragma GCC pop_options

#else

const srLaneKernel* sr_lanes_wide(void) { return NULL; }

#endif
