// Polytopes of boxes and of convex hulls.
#include "collide/polytope.h"

#include <math.h>
#include <string.h>

#include "math/hull.h"
#include "math/pose.h"

#define SAME_NORMAL                                                                                                    \
  1e-9  // triangles of a hull whose normals differ less, and offsets less than this part of its extent, are in one plane

#define NEW(pool, type, n) ((type*)sr_pool_alloc((pool), (size_t)(n) * sizeof(type)))

static const double ground[4] = {0, 0, 1, 0};
const srPolytope sr_half_space = {.nplane = 1, .plane = ground, .largest = HUGE_VAL};

const srPolytope* sr_polytope_of_box(srPool* pool, const double half[3]) {
  static const int corner[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  static const int first[7] = {0, 4, 8, 12, 16, 20, 24}, on[6] = {0, 1, 2, 3, 4, 5};
  srPolytope* out = NEW(pool, srPolytope, 1);
  double *plane = NEW(pool, double, 24), *vertex = NEW(pool, double, 24);
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) vertex[3 * i + k] = (i >> k & 1) != 0 ? half[k] : -half[k];
  }
  for (int i = 0; i < 6; i++) {  // -x, +x, -y, ...
    plane[4 * i + i / 2] = i % 2 == 0 ? -1 : 1;
    plane[4 * i + 3] = half[i / 2];
  }
  const double least = fmin(half[0], fmin(half[1], half[2]));
  *out = (srPolytope){.nplane = 6, .plane = plane, .nvertex = 8, .vertex = vertex, .nface = 6, .first = first};
  out->corner = corner;
  out->on = on;
  out->largest = 4 * half[0] * half[1] * half[2] / least;
  return out;
}

// ---- hulls --------------------------------------------------------------------------------------------------------------

// Plane of a triangle; returns its area.
static double plane_of(const double* a, const double* b, const double* c, double plane[4]) {
  double u[3], v[3];
  for (int i = 0; i < 3; i++) {
    u[i] = b[i] - a[i];
    v[i] = c[i] - a[i];
  }
  srm_cross3(u, v, plane);
  const double twice = srm_norm3(plane);
  for (int i = 0; i < 3; i++) plane[i] /= twice;
  plane[3] = srm_dot3(plane, a);
  return 0.5 * twice;
}

static int find_plane(const double* all, int n, const double plane[4], double extent) {
  for (int k = 0; k < n; k++) {
    const double* other = all + 4 * k;
    const double turn[3] = {plane[0] - other[0], plane[1] - other[1], plane[2] - other[2]};
    if (srm_norm3(turn) < SAME_NORMAL && fabs(plane[3] - other[3]) < SAME_NORMAL * extent) return k;
  }
  return n;
}

static double extent_of(const double* point, int n) {
  double most = 0;
  for (int i = 0; i < 3 * n; i++) most = fmax(most, fabs(point[i]));
  return most;
}

const srPolytope* sr_polytope_of_hull(srPool* pool, const double* point, int n) {
  int* triangle;
  const int count = srm_hull(pool, point, n, &triangle);
  if (count == 0) return NULL;
  srPolytope* out = NEW(pool, srPolytope, 1);
  double *plane = NEW(pool, double, 4 * count), *vertex = NEW(pool, double, 3 * n), *area = NEW(pool, double, count);
  int *first = NEW(pool, int, count + 1), *corner = NEW(pool, int, 3 * count), *on = NEW(pool, int, count);
  memcpy(vertex, point, 3 * (size_t)n * sizeof *point);
  *out = (srPolytope){.plane = plane, .nvertex = n, .vertex = vertex, .first = first, .corner = corner, .on = on};
  const double extent = extent_of(point, n);
  for (int i = 0; i < count; i++) {
    const int* t = triangle + 3 * i;
    double* next = plane + 4 * out->nplane;
    const double a = plane_of(point + 3 * t[0], point + 3 * t[1], point + 3 * t[2], next);
    if (!(a > 0)) continue;  // a sliver without a normal
    const int k = find_plane(plane, out->nplane, next, extent);
    if (k == out->nplane) out->nplane++;
    area[k] += a;
    out->largest = fmax(out->largest, area[k]);
    on[out->nface] = k;
    memcpy(corner + 3 * out->nface, t, 3 * sizeof *t);
    out->nface++;
    first[out->nface] = 3 * out->nface;
  }
  return out;
}
