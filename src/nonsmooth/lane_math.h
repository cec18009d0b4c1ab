// Numbers of several contacts or bodies side by side, one in each lane of a vector of 32 or 64 bytes. REAL, LANES, the integer MASK of the same size, ROOT and TINY (whose square is
// a number) are defined by the file that includes it.
#include <math.h>
#include <stdint.h>

#include "math/v4.h"
#include "nonsmooth/coloured.h"

enum {
  PARTS = LANES * sizeof(REAL) / 32
};  // of 32 bytes: sums are made for each of them, so that they do not depend on the width

typedef REAL vec __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef MASK mask __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef REAL narrow __attribute__((vector_size(32), may_alias));
typedef REAL quad __attribute__((vector_size(4 * sizeof(REAL)), may_alias));  // half a row of z

// Short loops over components and lanes become straight code, so that what they index is in registers.
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

SRM_INLINE vec every(REAL x) { return (vec){0} + x; }
SRM_INLINE vec choose(mask m, vec yes, vec no) { return (vec)(((mask)yes & m) | ((mask)no & ~m)); }
SRM_INLINE vec larger(vec a, vec b) { return choose(a > b, a, b); }
SRM_INLINE vec root(vec x) {
  vec r;
  for (int i = 0; i < LANES; ++i) r[i] = ROOT(x[i]);
  return r;
}
SRM_INLINE bool any(mask m) {
  const v4u* each = (const v4u*)&m;
  v4u bits = each[0];
  for (int i = 1; i < PARTS; ++i) bits |= each[i];
  return (bits[0] | bits[1] | bits[2] | bits[3]) != 0;
}
SRM_INLINE vec dot3(const vec a[3], const vec b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
SRM_INLINE vec dot2(const vec a[2], const vec b[2]) { return a[0] * b[0] + a[1] * b[1]; }
SRM_INLINE void cross(const vec a[3], const vec b[3], vec out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// row: SR_ROW times the number of the body; half 0: linear, 1: angular.
SRM_INLINE REAL* place_of(REAL* z, int row, int half) { return z + row + 4 * half; }

#if LANES == 4
SRM_INLINE void gather(const REAL* z, const int body[LANES], int half, vec out[3]) {
  vec r[4];
  UNROLL
  for (int i = 0; i < 4; ++i) r[i] = *(const quad*)place_of((REAL*)(uintptr_t)z, body[i], half);
  const vec xz = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), xz2 = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  const vec yw = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7), yw2 = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(xz, xz2, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(yw, yw2, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(xz, xz2, 2, 3, 6, 7);
}
SRM_INLINE void rows_of(const vec x[3], quad row[LANES]) {
  const vec none = {0};
  const vec xy = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6), xy2 = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const vec z0 = __builtin_shufflevector(x[2], none, 0, 4, 2, 6), z2 = __builtin_shufflevector(x[2], none, 1, 5, 3, 7);
  row[0] = __builtin_shufflevector(xy, z0, 0, 1, 4, 5);
  row[1] = __builtin_shufflevector(xy2, z2, 0, 1, 4, 5);
  row[2] = __builtin_shufflevector(xy, z0, 2, 3, 6, 7);
  row[3] = __builtin_shufflevector(xy2, z2, 2, 3, 6, 7);
}
#endif

// Factor that makes a vector of this squared length at most as long as the limit.
SRM_INLINE vec cut(vec square, vec limit) {
  const vec least = every((REAL)TINY * (REAL)TINY);
  return choose(square > limit * limit, limit / root(larger(square, least)), every(1));
}

// |p - P_K(p - rho (u + mu |u_T| n))| / rho with w = 1/rho; tangential parts of d numbers.
SRM_INLINE vec natural_map(vec pN, const vec* pT, vec uN, const vec* uT, int d, vec mu, vec w) {
  const vec rho = 1 / w;
  vec slip = {0}, s = {0}, x[3];
  UNROLL
  for (int k = 0; k < d; ++k) {
    slip += uT[k] * uT[k];
    x[k] = pT[k] - rho * uT[k];
    s += x[k] * x[k];
  }
  s = root(s);
  const vec xN = pN - rho * (uN + mu * root(slip));
  const mask outside = s > mu * xN;
  const vec N = choose(outside, larger((xN + mu * s) / (1 + mu * mu), (vec){0}), xN);
  const vec scale = choose(outside, mu * N / larger(s, every(TINY)), every(1));
  vec sum = (pN - N) * (pN - N);
  UNROLL
  for (int k = 0; k < d; ++k) {
    const vec e = pT[k] - scale * x[k];
    sum += e * e;
  }
  return root(sum) * w;
}
