// Sine and cosine of four angles at once, without branches.
//
//   k = nearest integer of 2x/pi,  r = x - k pi/2 in [-pi/4, pi/4],  sin r and cos r by polynomials,
//   swapped when k is odd, signs by bit 1 of k (sine) and of k + 1 (cosine)
//
// Constants and polynomials: fdlibm (Sun Microsystems 1993) e_rem_pio2.c, k_sin.c, k_cos.c. pi/2 is in three parts of
// 33 bits: k times a part is exact while |k| < 2^20, with no fused multiply-add.
#include "math/sincos.h"

#include <math.h>

#include "math/v4.h"

#define LARGEST 1e5          // |k| stays below 2^16
#define TO_INTEGER 0x1.8p52  // adding it rounds to the nearest integer and leaves that in the low bits

// Every constant four times, read through a pointer opaque to the compiler: then it is an operand of the
// instruction that uses it, instead of a separate load.
#define FOUR(x)                                                                                                        \
  { x, x, x, x }
enum { TWO_OVER_PI, INTEGER, PIO2_1, PIO2_2, PIO2_3, S1, S2, S3, S4, S5, S6, C1, C2, C3, C4, C5, C6, CONSTANTS };
static const v4 constants[CONSTANTS] = {FOUR(6.36619772367581382433e-01),  FOUR(TO_INTEGER),
                                        FOUR(1.57079632673412561417e+00),  FOUR(6.07710050630396597660e-11),
                                        FOUR(2.02226624871116645580e-21),  FOUR(-1.66666666666666324348e-01),
                                        FOUR(8.33333333332248946124e-03),  FOUR(-1.98412698298579493134e-04),
                                        FOUR(2.75573137070700676789e-06),  FOUR(-2.50507602534068634195e-08),
                                        FOUR(1.58969099521155010221e-10),  FOUR(4.16666666666666019037e-02),
                                        FOUR(-1.38888888888741095749e-03), FOUR(2.48015872894767294178e-05),
                                        FOUR(-2.75573143513906633035e-07), FOUR(2.08757232129817482790e-09),
                                        FOUR(-1.13596475577881948265e-11)};

SRM_INLINE v4 sine(const v4* k, v4 r, v4 z) {
  const v4 p = k[S2] + z * (k[S3] + z * (k[S4] + z * (k[S5] + z * k[S6])));
  return r + z * r * (k[S1] + z * p);
}

SRM_INLINE v4 cosine(const v4* k, v4 z) {
  const v4 p = k[C1] + z * (k[C2] + z * (k[C3] + z * (k[C4] + z * (k[C5] + z * k[C6]))));
  const v4 one = v4_all(1), half = 0.5 * z, w = one - half;
  return w + (((one - w) - half) + z * z * p);  // the bracket holds the rounding of 1 - z/2
}

static void sincos_libm(const double* x, double* out) {
  for (int i = 0; i < 4; i++) {
    out[i] = sin(x[i]);
    out[4 + i] = cos(x[i]);
  }
}

SRM_INLINE int all_true(v4u mask) {
#if defined(__AVX__)
  return __builtin_ia32_movmskpd256((v4)mask) == 15;
#else
  return (mask[0] & mask[1] & mask[2] & mask[3]) != 0;
#endif
}

SRM_CLONES void srm_sincos4(const double* x4, double* out) {
  const v4 x = v4_load(x4);
  const v4u sign_bit = {1ULL << 63, 1ULL << 63, 1ULL << 63, 1ULL << 63};
  const v4 size = (v4)((v4u)x & ~sign_bit);
  if (!all_true((v4u)(size <= LARGEST))) {
    sincos_libm(x4, out);
    return;
  }
  const v4* c = constants;
  __asm__("" : "+r"(c));
  const v4 shifted = x * c[TWO_OVER_PI] + c[INTEGER];
  const v4u bits = (v4u)shifted;
  const v4 k = shifted - c[INTEGER];
  const v4 r = ((x - k * c[PIO2_1]) - k * c[PIO2_2]) - k * c[PIO2_3];
  const v4 z = r * r;
  const v4u s = (v4u)sine(c, r, z), cos_r = (v4u)cosine(c, z);
  const v4u exchange = (s ^ cos_r) & -(bits & 1);
  const v4u s_sign = (bits << 62) & sign_bit, c_sign = ((bits + 1) << 62) & sign_bit;
  v4_store(out, (v4)(s ^ exchange ^ s_sign));
  v4_store(out + 4, (v4)(cos_r ^ exchange ^ c_sign));
}
