// Volume, centroid and second moments of a closed surface of triangles: exact, as sums over the tetrahedra that its
// triangles make with a fixed point o, with their sign (Mirtich 1996 and Tonon 2004 come to the same sums by other
// ways).
//
//   With a, b, c the corners seen from o, d = a . (b x c), s = a + b + c, a tetrahedron has
//     volume d/6,   int x dV = d/24 s,   int x x^T dV = d/120 (s s^T + a a^T + b b^T + c c^T)
//   (over the unit simplex int u_i = 1/24, int u_i u_i = 1/60, int u_i u_j = 1/120).
//
// The sums do not depend on o when every edge is run through as often one way as the other: the surface is closed. o is
// the middle of the box around the mesh, so that a mesh far from its origin loses no digits.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "model/compile.h"

// --------------------------------------------------------------------------------------------------------------- edges
typedef struct Edge {
  int from, to;  // from < to; to 0: empty
  int balance;   // times upward less times downward
} Edge;

static void count_edge(Edge* table, uint64_t mask, int a, int b) {
  if (a == b) return;
  const int from = a < b ? a : b, to = a < b ? b : a;
  const uint64_t mixed = ((uint64_t)(uint32_t)from << 32 | (uint32_t)to) * 0x9e3779b97f4a7c15u;
  uint64_t i = mixed >> 20 & mask;
  while (table[i].to != 0 && (table[i].from != from || table[i].to != to)) i = (i + 1) & mask;
  table[i].from = from;
  table[i].to = to;
  table[i].balance += a < b ? 1 : -1;
}

static bool is_closed(srCompiler* c, const srMesh* mesh) {
  uint64_t n = 64;
  while (n < 4 * (uint64_t)mesh->ntriangle) n *= 2;  // a closed surface has 1.5 edges a triangle, an open one at most 3
  Edge* table = sr_pool_alloc(&c->scratch, n * sizeof *table);
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle + 3 * (size_t)t;
    for (int k = 0; k < 3; k++) count_edge(table, n - 1, v[k], v[(k + 1) % 3]);
  }
  for (uint64_t i = 0; i < n; i++)
    if (table[i].balance != 0) return false;
  return true;
}

// --------------------------------------------------------------------------------------------------------------- sums
static const double* vertex_of(const srMesh* mesh, int i) { return mesh->vertex + 3 * (size_t)i; }

static void middle_of(const srMesh* mesh, double o[3]) {
  for (int k = 0; k < 3; k++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int i = 0; i < mesh->nvertex; i++) {
      low = fmin(low, vertex_of(mesh, i)[k]);
      high = fmax(high, vertex_of(mesh, i)[k]);
    }
    o[k] = mesh->nvertex > 0 ? 0.5 * low + 0.5 * high : 0;
  }
}

// One tetrahedron, onto the sums: 6 times the volume, 24 times the first and 120 times the second moments.
static void add_tetrahedron(const double a[3], const double b[3], const double c[3], double* volume, double first[3],
                            double second[9]) {
  double cross[3], s[3];
  srm_cross3(b, c, cross);
  const double d = srm_dot3(a, cross);
  *volume += d;
  for (int i = 0; i < 3; i++) {
    s[i] = a[i] + b[i] + c[i];
    first[i] += d * s[i];
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) second[3 * i + k] += d * (s[i] * s[k] + a[i] * a[k] + b[i] * b[k] + c[i] * c[k]);
}

bool sr_c_mesh_volume(srCompiler* c, const srMesh* mesh, double* volume, double centroid[3], double moments[9]) {
  double o[3], first[3] = {0};
  middle_of(mesh, o);
  *volume = 0;
  memset(moments, 0, 9 * sizeof *moments);
  for (int t = 0; t < mesh->ntriangle; t++) {
    double corner[3][3];
    for (int k = 0; k < 9; k++)
      corner[k / 3][k % 3] = vertex_of(mesh, mesh->triangle[3 * (size_t)t + (size_t)k / 3])[k % 3] - o[k % 3];
    add_tetrahedron(corner[0], corner[1], corner[2], volume, first, moments);
  }
  *volume /= 6;
  const double V = *volume;
  double r[3];  // centroid, seen from o
  for (int k = 0; k < 3; k++) {
    r[k] = V != 0 ? first[k] / (24 * V) : 0;
    centroid[k] = o[k] + r[k];
  }
  for (int k = 0; k < 9; k++) moments[k] = moments[k] / 120 - V * r[k / 3] * r[k % 3];
  return is_closed(c, mesh);
}
