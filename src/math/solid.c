// Volume, centroid and inertia of a closed surface of triangles: exact, as sums over the tetrahedra that its triangles
// make with a fixed point o, with their sign (Mirtich 1996 and Tonon 2004 derive the same sums differently).
//
//   With a, b, c the corners relative to o, d = a . (b x c), s = a + b + c, a tetrahedron has
//     volume d/6,   int x dV = d/24 s,   int x x^T dV = d/120 (s s^T + a a^T + b b^T + c c^T)
//   (over the unit simplex int u_i = 1/24, int u_i u_i = 1/60, int u_i u_j = 1/120).
//
// The sums do not depend on o when the surface is closed. o is the middle of the box around the vertices, so that a surface
// far from its origin loses no digits.
//
// Other fillings count every tetrahedron as positive, or take the surface itself: a triangle of the area d/2 has
//     int x dA = d/6 s,   int x x^T dA = d/24 (s s^T + a a^T + b b^T + c c^T),   d = |(b - a) x (c - a)|
#include "math/solid.h"

#include <math.h>
#include <stddef.h>

#include "math/pose.h"

typedef struct Sums {
  double measure;            // volume 6 times, area twice
  double first[3];           // moments, 24 times; of the surface 6 times
  double second[9];          // 120 times; of the surface 24 times
  double area[3], absolute;  // area vectors and their lengths, twice
} Sums;

static void middle_of(const double* vertex, int n, double o[3]) {
  for (int k = 0; k < 3; k++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < n; i++) {
      low = fmin(low, vertex[3 * (size_t)i + (size_t)k]);
      high = fmax(high, vertex[3 * (size_t)i + (size_t)k]);
    }
    o[k] = n > 0 ? 0.5 * low + 0.5 * high : 0;
  }
}

static void add_triangle(Sums* sums, srmFilling filling, const double a[3], const double b[3], const double c[3]) {
  double ab[3], ac[3], normal[3], s[3];
  for (int k = 0; k < 3; k++) {
    ab[k] = b[k] - a[k];
    ac[k] = c[k] - a[k];
    s[k] = a[k] + b[k] + c[k];
  }
  srm_cross3(ab, ac, normal);
  const double size = srm_norm3(normal), inside = srm_dot3(a, normal);  // a . ((b - a) x (c - a)) = a . (b x c)
  const double d = filling == SRM_SHELL ? size : filling == SRM_FILLED_UNSIGNED ? fabs(inside) : inside;
  sums->measure += d;
  sums->absolute += size;
  for (int i = 0; i < 3; i++) {
    sums->area[i] += normal[i];
    sums->first[i] += d * s[i];
    for (int k = 0; k < 3; k++) sums->second[3 * i + k] += d * (s[i] * s[k] + a[i] * a[k] + b[i] * b[k] + c[i] * c[k]);
  }
}

static Sums sum_up(const double* vertex, const int* triangle, int ntriangle, srmFilling filling, const double o[3]) {
  Sums sums = {0};
  for (size_t t = 0; t < (size_t)ntriangle; t++) {
    double x[9];
    for (size_t k = 0; k < 9; k++) x[k] = vertex[3 * (size_t)triangle[3 * t + k / 3] + k % 3] - o[k % 3];
    add_triangle(&sums, filling, x, x + 3, x + 6);
  }
  return sums;
}

// Centroid relative to o.
static void centroid_of(const Sums* sums, srmFilling filling, double r[3]) {
  const double factor = filling == SRM_SHELL ? 1.0 / 3 : 0.25;
  for (int k = 0; k < 3; k++) r[k] = sums->measure != 0 ? factor * sums->first[k] / sums->measure : 0;
}

// J = tr(S) 1 - S of the second moments S about the point that is at r from o; returns the measure.
static double inertia_of(const Sums* sums, srmFilling filling, const double r[3], double J[9]) {
  const double measure = sums->measure / (filling == SRM_SHELL ? 2 : 6), factor = filling == SRM_SHELL ? 24 : 120;
  double second[9];
  for (int k = 0; k < 9; k++) second[k] = sums->second[k] / factor - measure * r[k / 3] * r[k % 3];
  const double trace = second[0] + second[4] + second[8];
  for (int k = 0; k < 9; k++) J[k] = (k % 4 == 0 ? trace : 0) - second[k];
  return measure;
}

double srm_solid(const double* vertex, int nvertex, const int* triangle, int ntriangle, double centroid[3], double J[9],
                 double* gap) {
  double o[3], r[3];
  middle_of(vertex, nvertex, o);
  const Sums sums = sum_up(vertex, triangle, ntriangle, SRM_FILLED, o);
  centroid_of(&sums, SRM_FILLED, r);
  for (int k = 0; k < 3; k++) centroid[k] = o[k] + r[k];
  if (gap) *gap = sums.absolute > 0 ? srm_norm3(sums.area) / sums.absolute : 0;
  return inertia_of(&sums, SRM_FILLED, r, J);
}

// First the centroid of the surface, then that of the filling relative to it, then the moments relative to that one.
double srm_filled(const double* vertex, const int* triangle, int ntriangle, srmFilling filling, double centroid[3],
                  double J[9]) {
  static const double zero[3] = {0};
  double r[3];
  Sums sums = sum_up(vertex, triangle, ntriangle, SRM_SHELL, zero);
  centroid_of(&sums, SRM_SHELL, centroid);
  sums = sum_up(vertex, triangle, ntriangle, filling, centroid);
  centroid_of(&sums, filling, r);
  for (int k = 0; k < 3; k++) centroid[k] += r[k];
  sums = sum_up(vertex, triangle, ntriangle, filling, centroid);
  return inertia_of(&sums, filling, zero, J);
}
