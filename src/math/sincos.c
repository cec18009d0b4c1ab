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

#define LARGEST 1e5      // |k| stays below 2^16
#define TO_INTEGER 0x1.8p52  // adding it rounds to the nearest integer and leaves that in the low bits

static const double pio2_1 = 1.57079632673412561417e+00, pio2_2 = 6.07710050630396597660e-11,
                    pio2_3 = 2.02226624871116645580e-21;

SRM_INLINE v4 sine(v4 r, v4 z) {
  const v4 p = 8.33333333332248946124e-03 +
               z * (-1.98412698298579493134e-04 +
                    z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return r + z * r * (-1.66666666666666324348e-01 + z * p);
}

SRM_INLINE v4 cosine(v4 z) {
  const v4 p = 4.16666666666666019037e-02 +
               z * (-1.38888888888741095749e-03 +
                    z * (2.48015872894767294178e-05 +
                         z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
  const v4 half = 0.5 * z, w = 1.0 - half;
  return w + (((1.0 - w) - half) + z * z * p);  // the bracket holds what 1 - z/2 lost
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

void srm_sincos4(const double* x4, double* out) {
  const v4 x = v4_load(x4);
  const v4u sign_bit = {1ULL << 63, 1ULL << 63, 1ULL << 63, 1ULL << 63};
  const v4 size = (v4)((v4u)x & ~sign_bit);
  if (!all_true((v4u)(size <= LARGEST))) {
    sincos_libm(x4, out);
    return;
  }
  const v4 shifted = x * 6.36619772367581382433e-01 + TO_INTEGER;
  const v4u bits = (v4u)shifted;
  const v4 k = shifted - TO_INTEGER;
  const v4 r = ((x - k * pio2_1) - k * pio2_2) - k * pio2_3;
  const v4 z = r * r;
  const v4u s = (v4u)sine(r, z), c = (v4u)cosine(z);
  const v4u exchange = (s ^ c) & -(bits & 1);
  const v4u s_sign = (bits << 62) & sign_bit, c_sign = ((bits + 1) << 62) & sign_bit;
  v4_store(out, (v4)(s ^ exchange ^ s_sign));
  v4_store(out + 4, (v4)(c ^ exchange ^ c_sign));
}
