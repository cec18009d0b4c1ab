// Convex hull of a point cloud as a shape: corners, their neighbours, flat faces. Quickhull (math/hull.c) gives triangles; those in the plane of a
// larger one, reached from it across edges, are one face with it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collide/shape.h"
#include "math/hull.h"
#include "math/vector3.h"

#define COPLANAR 1e-9  // of the extent: corners of one face

typedef struct Triangle {
  int corner[3];
  int beyond[3];  // triangle across the edge corner[k], corner[k + 1]; -1: none was found
  int face;       // -1: none yet
  double normal[3], area;
} Triangle;

typedef struct Builder {
  srPool* pool;
  srConvexHull* out;
  double* corner;
  Triangle* triangle;
  int ntriangle;
  int *first, *neighbour, *leaving;  // of each corner: neighbours, and the triangle left of the edge to each
} Builder;

// ------------------------------------------------------------------------------------------------------------- corners
static void measure_reach(srConvexHull* out) {
  for (int i = 0; i < out->n; i++) out->reach = fmax(out->reach, srm_norm3(out->corner + 3 * (size_t)i));
}

// Corners are numbered in the order of the points.
static void take_corners(Builder* x, const double* point, int n, const int* index) {
  int* number = sr_pool_alloc(x->pool, (size_t)n * sizeof *number);
  for (int i = 0; i < 3 * x->ntriangle; i++) number[index[i]] = 1;
  x->corner = sr_pool_alloc(x->pool, 3 * (size_t)n * sizeof *x->corner);
  for (int i = 0; i < n; i++) {
    if (!number[i]) continue;
    memcpy(x->corner + 3 * (size_t)x->out->n, point + 3 * (size_t)i, 3 * sizeof *point);
    number[i] = x->out->n++;
  }
  for (int i = 0; i < 3 * x->ntriangle; i++) x->triangle[i / 3].corner[i % 3] = number[index[i]];
  x->out->corner = x->corner;
}

// Every edge belongs to two triangles, once in each direction: the edges that leave a corner lead to its neighbours.
static void find_neighbours(Builder* x) {
  const int n = x->out->n;
  x->first = sr_pool_alloc(x->pool, ((size_t)n + 1) * sizeof *x->first);
  x->neighbour = sr_pool_alloc(x->pool, 3 * (size_t)x->ntriangle * sizeof *x->neighbour);
  x->leaving = sr_pool_alloc(x->pool, 3 * (size_t)x->ntriangle * sizeof *x->leaving);
  int* filled = sr_pool_alloc(x->pool, (size_t)n * sizeof *filled);
  for (int i = 0; i < 3 * x->ntriangle; i++) x->first[x->triangle[i / 3].corner[i % 3] + 1]++;
  for (int i = 0; i < n; i++) x->first[i + 1] += x->first[i];
  for (int i = 0; i < 3 * x->ntriangle; i++) {
    const int from = x->triangle[i / 3].corner[i % 3], place = x->first[from] + filled[from]++;
    x->neighbour[place] = x->triangle[i / 3].corner[(i + 1) % 3];
    x->leaving[place] = i / 3;
  }
  x->out->first = x->first;
  x->out->neighbour = x->neighbour;
}

static int triangle_left_of(const Builder* x, int from, int to) {
  for (int k = x->first[from]; k < x->first[from + 1]; k++)
    if (x->neighbour[k] == to) return x->leaving[k];
  return -1;
}

static void measure_triangle(const Builder* x, Triangle* t) {
  double e[3], f[3];
  const double* at = x->corner + 3 * (size_t)t->corner[0];
  srm_sub3(x->corner + 3 * (size_t)t->corner[1], at, e);
  srm_sub3(x->corner + 3 * (size_t)t->corner[2], at, f);
  srm_cross3(e, f, t->normal);
  t->area = srm_unit3(t->normal);
  t->face = -1;
  for (int k = 0; k < 3; k++) t->beyond[k] = triangle_left_of(x, t->corner[(k + 1) % 3], t->corner[k]);
}

// --------------------------------------------------------------------------------------------------------------- faces
typedef struct Ranked {
  double area;
  int triangle;
} Ranked;

static int larger_first(const void* a, const void* b) {
  const Ranked *x = a, *y = b;
  if (x->area != y->area) return x->area > y->area ? -1 : 1;
  return x->triangle - y->triangle;
}

static bool is_in_plane(const Builder* x, const Triangle* seed, const Triangle* t) {
  const double* at = x->corner + 3 * (size_t)seed->corner[0];
  double r[3];
  for (int k = 0; k < 3; k++) {
    srm_sub3(x->corner + 3 * (size_t)t->corner[k], at, r);
    if (fabs(srm_dot3(seed->normal, r)) > COPLANAR * x->out->reach) return false;
  }
  return true;
}

// Triangles of one face, in `member`; returns their number.
static int gather(Builder* x, int seed, int face, int* member) {
  int n = 0;
  x->triangle[seed].face = face;
  member[n++] = seed;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const int other = x->triangle[member[i]].beyond[k];
      if (other < 0 || x->triangle[other].face >= 0 || !is_in_plane(x, &x->triangle[seed], &x->triangle[other]))
        continue;
      x->triangle[other].face = face;
      member[n++] = other;
    }
  return n;
}

// The corners around a face, in order; returns their number. next: corner -> next one, of this face alone.
static int outline(const Builder* x, int face, const int* member, int n, int* next, int* out) {
  int start = -1, count = 0, edges = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const Triangle* t = &x->triangle[member[i]];
      if (t->beyond[k] >= 0 && x->triangle[t->beyond[k]].face == face) continue;
      next[t->corner[k]] = t->corner[(k + 1) % 3];
      start = t->corner[k];
      edges++;
    }
  for (int at = start; count < edges;) {
    out[count++] = at;
    at = next[at];
    if (at == start) break;
  }
  return count;
}

static void find_faces(Builder* x) {
  const size_t n = (size_t)x->ntriangle;
  Ranked* rank = sr_pool_alloc(x->pool, n * sizeof *rank);
  int* member = sr_pool_alloc(x->pool, n * sizeof *member);
  int* next = sr_pool_alloc(x->pool, (size_t)x->out->n * sizeof *next);
  int* first = sr_pool_alloc(x->pool, (n + 1) * sizeof *first);
  int* corner = sr_pool_alloc(x->pool, 3 * n * sizeof *corner);
  double* normal = sr_pool_alloc(x->pool, 3 * n * sizeof *normal);
  int faces = 0;
  for (size_t i = 0; i < n; i++) rank[i] = (Ranked){x->triangle[i].area, (int)i};
  qsort(rank, n, sizeof *rank, larger_first);
  for (size_t i = 0; i < n; i++) {
    const int seed = rank[i].triangle;
    if (x->triangle[seed].face >= 0) continue;
    const int count = gather(x, seed, faces, member);
    first[faces + 1] = first[faces] + outline(x, faces, member, count, next, corner + first[faces]);
    memcpy(normal + 3 * (size_t)faces++, x->triangle[seed].normal, 3 * sizeof *normal);
  }
  x->out->nface = faces;
  x->out->face_first = first;
  x->out->face_corner = corner;
  x->out->face_normal = normal;
}

const srConvexHull* sr_convex_hull_create(srPool* pool, const double* point, int n) {
  int* index = NULL;
  for (int i = 0; i < 3 * n; i++)
    if (!isfinite(point[i])) return NULL;
  if (n < 1) return NULL;
  srConvexHull* out = sr_pool_alloc(pool, sizeof *out);
  Builder x = {.pool = pool, .out = out, .ntriangle = srm_hull(pool, point, n, &index)};
  if (x.ntriangle == 0) {  // in a plane
    double* all = sr_pool_alloc(pool, 3 * (size_t)n * sizeof *all);
    memcpy(all, point, 3 * (size_t)n * sizeof *all);
    *out = (srConvexHull){.n = n, .corner = all};
    measure_reach(out);
    return out;
  }
  x.triangle = sr_pool_alloc(pool, (size_t)x.ntriangle * sizeof *x.triangle);
  take_corners(&x, point, n, index);
  measure_reach(out);
  find_neighbours(&x);
  for (int i = 0; i < x.ntriangle; i++) measure_triangle(&x, &x.triangle[i]);
  find_faces(&x);
  return out;
}
