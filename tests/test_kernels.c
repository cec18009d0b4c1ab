// The two builds of the kernels: whatever the processor offers, the same bits.
#include <sarrus/sarrus.h>
#include <stdlib.h>
#include <string.h>

#include "random_tree.h"
#include "runner.h"

// Absent where the library has one build alone.
srStatus sr_aba_any(const srModel*, srData*, const double*, const double*, const double*, double*)
    __attribute__((weak));
srStatus sr_aba_v3(const srModel*, srData*, const double*, const double*, const double*, double*) __attribute__((weak));
void sr_rnea_any(const srModel*, srData*, const double*, const double*, const double*, double*) __attribute__((weak));
void sr_rnea_v3(const srModel*, srData*, const double*, const double*, const double*, double*) __attribute__((weak));
void sr_crba_any(const srModel*, srData*, const double*, double*) __attribute__((weak));
void sr_crba_v3(const srModel*, srData*, const double*, double*) __attribute__((weak));

static bool two_builds(void) { return sr_aba_any && sr_aba_v3 && __builtin_cpu_supports("avx2"); }

TEST(kernels_for_any_processor_and_for_avx2_give_the_same_bits) {
  if (!two_builds()) return;
  Random r = {2026};
  for (int n = 1; n <= 40; n++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = n});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    const size_t nv = (size_t)m->nv;
    double* any = calloc(2 * (nv * nv + 2 * nv) + 1, sizeof *any);
    double* v3 = any + nv * nv + 2 * nv;
    ENSURE_EQUAL(sr_aba_any(m, d, d->q, d->v, d->tau, any), SR_OK);
    ENSURE_EQUAL(sr_aba_v3(m, d, d->q, d->v, d->tau, v3), SR_OK);
    sr_rnea_any(m, d, d->q, d->v, d->a, any + nv);
    sr_rnea_v3(m, d, d->q, d->v, d->a, v3 + nv);
    sr_crba_any(m, d, d->q, any + 2 * nv);
    sr_crba_v3(m, d, d->q, v3 + 2 * nv);
    ENSURE(memcmp(any, v3, (nv * nv + 2 * nv) * sizeof *any) == 0);
    free(any);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}
