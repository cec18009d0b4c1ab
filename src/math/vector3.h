// Plain 3-vectors in code that works on few of them at a time. Dot and cross products: pose.h.
#ifndef SR_MATH_VECTOR3_H
#define SR_MATH_VECTOR3_H

#include <math.h>

#include "math/pose.h"

static inline void srm_set3(double out[3], const double a[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k];
}
static inline void srm_sub3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}
static inline void srm_add_scaled3(const double a[3], double s, const double b[3], double out[3]) {  // a + s b
  for (int k = 0; k < 3; k++) out[k] = a[k] + s * b[k];
}
static inline void srm_scale3(double s, const double a[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = s * a[k];
}
// Divides by the length, which it returns; a vector of length 0 stays.
static inline double srm_unit3(double a[3]) {
  const double length = srm_norm3(a);
  for (int k = 0; k < 3 && length > 0; k++) a[k] /= length;
  return length;
}
// A times x, A row-major.
static inline void srm_mul3(const double A[9], const double x[3], double out[3]) {
  double r[3];
  for (int i = 0; i < 3; i++) r[i] = srm_dot3(A + 3 * i, x);
  srm_set3(out, r);
}
// Two unit vectors that complete the unit vector n to a right-handed frame t, u, n.
static inline void srm_tangents3(const double n[3], double t[3], double u[3]) {
  int k = 0;
  for (int i = 1; i < 3; i++) k = n[i] * n[i] < n[k] * n[k] ? i : k;
  const int i = (k + 1) % 3, j = (k + 2) % 3;  // t is the axis k x n, scaled
  const double length = sqrt(n[i] * n[i] + n[j] * n[j]), scale = length > 0 ? 1 / length : 0;
  t[k] = 0;
  t[i] = -n[j] * scale;
  t[j] = n[i] * scale;
  srm_cross3(n, t, u);
}

// The same of an n that is of length 1, other vectors, without a branch or a root: frames of contacts. Duff et al. 2017, Building an orthonormal basis, revisited.
static inline void srm_frame3(const double n[3], double t[3], double u[3]) {
  const double sign = copysign(1, n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
  t[0] = 1 + sign * n[0] * n[0] * a;
  t[1] = sign * b;
  t[2] = -sign * n[0];
  u[0] = b;
  u[1] = sign + n[1] * n[1] * a;
  u[2] = -n[1];
}

#endif
