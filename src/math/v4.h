// Four doubles in one vector register: 3-vectors with a fourth lane of padding, and packs of four numbers.
//
// GCC and clang vector types, so that one source serves every processor: AVX where the compiler may use it, two SSE or
// NEON halves elsewhere, with the same bits. A 3x3 matrix is its three columns, so that A*x is three broadcasts, three
// products and two sums. The fourth lane is 0 unless stated otherwise.
#ifndef SR_MATH_V4_H
#define SR_MATH_V4_H

typedef double v4 __attribute__((vector_size(32), may_alias));
typedef unsigned long long v4u __attribute__((vector_size(32), may_alias));  // their bits

typedef double v4_any __attribute__((vector_size(32), aligned(8), may_alias));  // where doubles are not aligned

#define SRM_INLINE static inline __attribute__((always_inline))

// A function compiled twice, for AVX2 and for any processor; the loader takes the better one, with the same results.
// Sanitizers cannot live with the loader's choice: it is made before they have begun.
#if defined(__x86_64__) && !defined(__AVX2__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) &&           \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define SRM_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SRM_CLONES
#endif

// Lane i of a in all four lanes.
#define v4_lane(a, i) __builtin_shufflevector((a), (a), i, i, i, i)

SRM_INLINE v4 v4_load(const double* p) { return *(const v4*)p; }  // p aligned to 32 bytes
SRM_INLINE void v4_store(double* p, v4 a) { *(v4*)p = a; }
SRM_INLINE v4 v4_all(double s) { return (v4){s, s, s, s}; }
SRM_INLINE v4 v4_zero(void) { return (v4){0, 0, 0, 0}; }
SRM_INLINE v4 v4_keep(v4 a, int x, int y, int z) {  // lanes that are kept, the others and the fourth are 0
  return (v4)((v4u)a & (v4u){x ? ~0ULL : 0, y ? ~0ULL : 0, z ? ~0ULL : 0, 0});
}
SRM_INLINE v4 v4_abs(v4 a) { return (v4)((v4u)a & ~((v4u){0} + (1ULL << 63))); }
SRM_INLINE v4 v4_larger(v4 a, v4 b) {  // of each lane; b where it is not a number
  const v4u stays = (v4u)(b <= a);
  return (v4)(((v4u)a & stays) | ((v4u)b & ~stays));
}
SRM_INLINE v4 v4_z(double s) { return v4_keep(v4_all(s), 0, 0, 1); }
SRM_INLINE v4 v4_xyz(const double* p) {  // from three doubles, no alignment
  return v4_keep((v4){p[0], p[1], p[2], p[2]}, 1, 1, 1);
}
SRM_INLINE void v4_put3(double* p, v4 a) {
  p[0] = a[0];
  p[1] = a[1];
  p[2] = a[2];
}

SRM_INLINE double v4_dot(v4 a, v4 b) {  // of the first three lanes
  const v4 t = a * b;
  return t[0] + t[1] + t[2];
}
SRM_INLINE v4 v4_yzx(v4 a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
SRM_INLINE v4 v4_cross(v4 a, v4 b) { return v4_yzx(a * v4_yzx(b) - v4_yzx(a) * b); }

// Columns of four rows: what four places have first, second, third, fourth.
SRM_INLINE void v4_columns(const v4 r[4], v4 out[4]) {
  const v4 xz = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), xz2 = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6);
  const v4 yw = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7), yw2 = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(xz, xz2, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(yw, yw2, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(xz, xz2, 2, 3, 6, 7);
  out[3] = __builtin_shufflevector(yw, yw2, 2, 3, 6, 7);
}
SRM_INLINE void v4_columns_at(const double* const at[4], v4 out[4]) {  // no alignment
  const v4 r[4] = {*(const v4_any*)at[0], *(const v4_any*)at[1], *(const v4_any*)at[2], *(const v4_any*)at[3]};
  v4_columns(r, out);
}

// Four vectors side by side, by components.
SRM_INLINE v4 v4_dots(const v4 a[3], const v4 b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
SRM_INLINE void v4_crosses(const v4 a[3], const v4 b[3], v4 out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}
// srm_frame3 (vector3.h) of four unit vectors, with the same bits.
SRM_INLINE void v4_frames(const v4 n[3], v4 t[3], v4 u[3]) {
  const v4 one = v4_all(1), sign = (v4)(((v4u)n[2] & ((v4u){0} + (1ULL << 63))) | (v4u)one);
  const v4 a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
  t[0] = 1 + sign * n[0] * n[0] * a;
  t[1] = sign * b;
  t[2] = -sign * n[0];
  u[0] = b;
  u[1] = sign + n[1] * n[1] * a;
  u[2] = -n[1];
}

// A matrix as columns.
typedef struct m3 {
  v4 c[3];
} m3;

SRM_INLINE m3 m3_load(const double* p) { return (m3){{v4_load(p), v4_load(p + 4), v4_load(p + 8)}}; }
SRM_INLINE void m3_store(double* p, m3 A) {
  v4_store(p, A.c[0]);
  v4_store(p + 4, A.c[1]);
  v4_store(p + 8, A.c[2]);
}
SRM_INLINE v4 m3_mul(m3 A, v4 x) { return A.c[0] * v4_lane(x, 0) + A.c[1] * v4_lane(x, 1) + A.c[2] * v4_lane(x, 2); }
// The same with x in memory: broadcasts come from loads.
SRM_INLINE v4 m3_mul_at(m3 A, const double* x) {
  return A.c[0] * v4_all(x[0]) + A.c[1] * v4_all(x[1]) + A.c[2] * v4_all(x[2]);
}
SRM_INLINE m3 m3_product(m3 A, m3 B) { return (m3){{m3_mul(A, B.c[0]), m3_mul(A, B.c[1]), m3_mul(A, B.c[2])}}; }
SRM_INLINE m3 m3_plus(m3 A, m3 B) { return (m3){{A.c[0] + B.c[0], A.c[1] + B.c[1], A.c[2] + B.c[2]}}; }
SRM_INLINE m3 m3_minus(m3 A, m3 B) { return (m3){{A.c[0] - B.c[0], A.c[1] - B.c[1], A.c[2] - B.c[2]}}; }
// A B^T with B in memory; the second one when the third column of A is 0.
SRM_INLINE v4 m3_row_sum(m3 A, const double* B, int k) {
  return A.c[0] * v4_all(B[k]) + A.c[1] * v4_all(B[4 + k]) + A.c[2] * v4_all(B[8 + k]);
}
SRM_INLINE m3 m3_product_transposed(m3 A, const double* B) {
  return (m3){{m3_row_sum(A, B, 0), m3_row_sum(A, B, 1), m3_row_sum(A, B, 2)}};
}
SRM_INLINE v4 m3_row_sum2(v4 a, v4 b, const double* B, int k) { return a * v4_all(B[k]) + b * v4_all(B[4 + k]); }
SRM_INLINE m3 m3_product_transposed2(v4 a, v4 b, const double* B) {
  return (m3){{m3_row_sum2(a, b, B, 0), m3_row_sum2(a, b, B, 1), m3_row_sum2(a, b, B, 2)}};
}
SRM_INLINE m3 m3_transpose(m3 A) {
  const v4 xz = __builtin_shufflevector(A.c[0], A.c[1], 0, 4, 2, 6),
           xz2 = __builtin_shufflevector(A.c[2], v4_zero(), 0, 4, 2, 6);
  const v4 yw = __builtin_shufflevector(A.c[0], A.c[1], 1, 5, 3, 7),
           yw2 = __builtin_shufflevector(A.c[2], v4_zero(), 1, 5, 3, 7);
  return (m3){{__builtin_shufflevector(xz, xz2, 0, 1, 4, 5), __builtin_shufflevector(yw, yw2, 0, 1, 4, 5),
               __builtin_shufflevector(xz, xz2, 2, 3, 6, 7)}};
}

#endif
