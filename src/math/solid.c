// Volume, centroid and second moments as sums over tetrahedra, see solid.h. With a, b, c the corners of a triangle seen from a
// fixed point, d = a . (b x c) and s = a + b + c, its tetrahedron has
//   volume d/6,   int x dV = d/24 s,   int x x^T dV = d/120 (s s^T + a a^T + b b^T + c c^T)
#include "math/solid.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

static void middle(const double* vertex, int n, double o[3]) {
  for (int k = 0; k < 3; k++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < n; i++) {
      low = fmin(low, vertex[3 * i + k]);
      high = fmax(high, vertex[3 * i + k]);
    }
    o[k] = n > 0 ? 0.5 * low + 0.5 * high : 0;
  }
}

double srm_solid(const double* vertex, int nvertex, const int* triangle, int ntriangle, double centroid[3],
                 double moments[9], double* open) {
  double o[3], r[3], area[3] = {0}, length = 0, sum = 0, first[3] = {0};
  memset(moments, 0, 9 * sizeof *moments);
  middle(vertex, nvertex, o);
  for (int t = 0; t < ntriangle; t++) {
    double x[9], edge[6], normal[3], s[3];
    for (int k = 0; k < 9; k++) x[k] = vertex[3 * triangle[3 * t + k / 3] + k % 3] - o[k % 3];
    for (int k = 0; k < 6; k++) edge[k] = x[3 + k] - x[k % 3];
    srm_cross3(edge, edge + 3, normal);
    const double d = srm_dot3(x, normal);  // a . ((b - a) x (c - a)) = a . (b x c)
    length += srm_norm3(normal);
    sum += d;
    for (int k = 0; k < 3; k++) {
      area[k] += normal[k];
      s[k] = x[k] + x[3 + k] + x[6 + k];
      first[k] += d * s[k];
    }
    for (int k = 0; k < 9; k++) {
      const int i = k / 3, j = k % 3;
      moments[k] += d * (s[i] * s[j] + x[i] * x[j] + x[3 + i] * x[3 + j] + x[6 + i] * x[6 + j]);
    }
  }
  const double volume = sum / 6;
  *open = length > 0 ? srm_norm3(area) / length : 0;
  for (int k = 0; k < 3; k++) {
    r[k] = volume != 0 ? first[k] / (24 * volume) : 0;
    centroid[k] = o[k] + r[k];
  }
  for (int k = 0; k < 9; k++) moments[k] = moments[k] / 120 - volume * r[k / 3] * r[k % 3];
  return volume;
}
