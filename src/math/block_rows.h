// Products of small blocks stored with rows of 8 numbers, two vectors: the second is left out where a group has no more than 4 rows.
#ifndef SR_MATH_BLOCK_ROWS_H
#define SR_MATH_BLOCK_ROWS_H

#include <stdbool.h>

#include "math/v4.h"

#define WIDE 8  // numbers in a row of a block: largest number of rows of a group
#define BODY 6  // largest number of columns of a body

// Before a loop of at most 8 passes that is to be written out.
#if defined(__GNUC__) && !defined(__clang__)
#define SRM_UNROLL _Pragma("GCC unroll 8")
#else
#define SRM_UNROLL
#endif

// out[l] += sign sum_c A[c][l] B[c] for l < m, c < n; `half`: the second vector of B is empty.
SRM_INLINE void product_of(int n, int m, const double* A, const double* B, double sign, bool half, double* out) {
  for (int l = 0; l < m; ++l) {
    v4 low = v4_zero(), high = v4_zero();
    for (int c = 0; c < n; ++c) {
      const v4 a = v4_all(A[c * WIDE + l]);
      low += a * v4_load(B + c * WIDE);
      if (!half) high += a * v4_load(B + c * WIDE + 4);
    }
    v4_store(out + l * WIDE, v4_load(out + l * WIDE) + v4_all(sign) * low);
    if (!half) v4_store(out + l * WIDE + 4, v4_load(out + l * WIDE + 4) + v4_all(sign) * high);
  }
}

// size: rows of the group that B belongs to.
SRM_INLINE void product(int n, int m, int size, const double* A, const double* B, double sign, double* out) {
  if (size > WIDE / 2) {
    product_of(n, m, A, B, sign, false, out);
  } else if (n == BODY) {
    product_of(BODY, m, A, B, sign, true, out);
  } else {
    product_of(n, m, A, B, sign, true, out);
  }
}

SRM_INLINE void clear(int n, double* A) {
  for (int c = 0; c < 2 * n; ++c) v4_store(A + 4 * c, v4_zero());
}

// out += sign sum_c a[c] B[c] for c < n, one vector and both.
SRM_INLINE void combine_half(int n, const double* a, const double* B, double sign, double* out) {
  v4 sum = v4_zero();
  for (int c = 0; c < n; ++c) sum += v4_all(a[c]) * v4_load(B + c * WIDE);
  v4_store(out, v4_load(out) + v4_all(sign) * sum);
}

// size: how many numbers of out count.
SRM_INLINE void combine(int n, int size, const double* a, const double* B, double sign, double* out) {
  combine_half(n, a, B, sign, out);
  if (size > WIDE / 2) combine_half(n, a, B + 4, sign, out + 4);
}

// sum_c a[c] B[c] over the six columns of a free body, one vector; written out.
SRM_INLINE v4 sum_six(const double* a, const double* B) {
  return v4_all(a[0]) * v4_load(B) + v4_all(a[1]) * v4_load(B + WIDE) + v4_all(a[2]) * v4_load(B + 2 * WIDE) +
         v4_all(a[3]) * v4_load(B + 3 * WIDE) + v4_all(a[4]) * v4_load(B + 4 * WIDE) +
         v4_all(a[5]) * v4_load(B + 5 * WIDE);
}

// size: how many numbers count.
SRM_INLINE double dot(int size, const double* a, const double* b) {
  v4 t = v4_load(a) * v4_load(b);
  if (size > WIDE / 2) t += v4_load(a + 4) * v4_load(b + 4);
  return t[0] + t[1] + (t[2] + t[3]);
}

#endif
