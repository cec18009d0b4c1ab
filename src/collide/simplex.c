// Nearest point of a simplex to a point: Voronoi regions by signs of barycentric coordinates (Ericson, Real-Time Collision Detection, 2005,
// section 5.1), with v = N (N.w)/N^2 from the nearest corner w where the inside of a triangle is nearest, which keeps the digits of
// a small distance.
#include "collide/simplex.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

// A tetrahedron whose volume is below this part of (largest face) x (size) is flat: no sign of it is to be trusted.
#define FLAT 1e-14

double sr_pair_support(srConvexPair* p, const double n[3], srCorner* out) {
  double y[3], m[3];
  for (int k = 0; k < 3; k++) m[k] = -srm_dot3(p->pose + 4 * k, n);  // -R^T n
  (void)sr_convex_core_support(p->a, n, p->hint_a, out->a, &out->feature_a);
  (void)sr_convex_core_support(p->b, m, p->hint_b, y, &out->feature_b);
  p->hint_a = out->feature_a, p->hint_b = out->feature_b;
  srm_pose_point(p->pose, y, out->b);
  srm_sub3(out->a, out->b, out->w);
  return srm_dot3(n, out->w);
}

void sr_pair_corner_at(const srConvexPair* p, const double n[3], srCorner* c) {
  double y[3], m[3];
  for (int k = 0; k < 3; k++) m[k] = -srm_dot3(p->pose + 4 * k, n);
  sr_convex_feature_point(p->a, c->feature_a, n, c->a);
  sr_convex_feature_point(p->b, c->feature_b, m, y);
  srm_pose_point(p->pose, y, c->b);
  srm_sub3(c->a, c->b, c->w);
}

bool sr_simplex_has(const srSimplex* s, const srCorner* c) {
  for (int i = 0; i < s->n; i++)
    if (memcmp(s->corner[i].w, c->w, sizeof c->w) == 0) return true;
  return false;
}

void sr_simplex_points(const srSimplex* s, double a[3], double b[3]) {
  memset(a, 0, 3 * sizeof *a);
  memset(b, 0, 3 * sizeof *b);
  for (int i = 0; i < s->n; i++) {
    srm_add_scaled3(a, s->weight[i], s->corner[i].a, a);
    srm_add_scaled3(b, s->weight[i], s->corner[i].b, b);
  }
}

// The nearest point found so far.
typedef struct Nearest {
  double square, v[3], weight[4];
} Nearest;

static void offer(const double v[3], const double weight[4], Nearest* best) {
  const double square = srm_dot3(v, v);
  if (!(square < best->square)) return;
  best->square = square;
  srm_set3(best->v, v);
  memcpy(best->weight, weight, sizeof best->weight);
}

static void try_corner(double w[4][3], int i, Nearest* best) {
  double weight[4] = {0};
  weight[i] = 1;
  offer(w[i], weight, best);
}

static void try_edge(double w[4][3], int i, int j, Nearest* best) {
  double e[3], v[3], weight[4] = {0};
  srm_sub3(w[j], w[i], e);
  const double square = srm_dot3(e, e), t = -srm_dot3(w[i], e);
  if (!(t > 0 && t < square)) return;  // a corner is nearer
  weight[j] = t / square;
  weight[i] = 1 - weight[j];
  if (weight[j] < 0.5)
    srm_add_scaled3(w[i], weight[j], e, v);
  else
    srm_add_scaled3(w[j], -weight[i], e, v);
  offer(v, weight, best);
}

static void try_triangle(double w[4][3], const int corner[3], Nearest* best) {
  double e[3], f[3], N[3], v[3], weight[4] = {0}, side[3];
  srm_sub3(w[corner[1]], w[corner[0]], e);
  srm_sub3(w[corner[2]], w[corner[0]], f);
  srm_cross3(e, f, N);
  const double square = srm_dot3(N, N);
  if (!(square > 0)) return;
  int near = corner[0];
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    const int i = corner[k];
    srm_cross3(w[corner[(k + 1) % 3]], w[corner[(k + 2) % 3]], side);
    weight[i] = srm_dot3(N, side) / square;
    if (!(weight[i] > 0)) return;
    sum += weight[i];
    if (srm_dot3(w[i], w[i]) < srm_dot3(w[near], w[near])) near = i;
  }
  for (int k = 0; k < 3; k++) weight[corner[k]] /= sum;
  srm_scale3(srm_dot3(N, w[near]) / square, N, v);
  offer(v, weight, best);
}

static void try_triangle_and_edges(double w[4][3], const int c[3], Nearest* best) {
  try_triangle(w, c, best);
  for (int k = 0; k < 3; k++) try_edge(w, c[k], c[(k + 1) % 3], best);
}

// Faces that the origin is not strictly inside of; where there is none, the origin is inside.
static void try_tetrahedron(double w[4][3], Nearest* best) {
  static const int face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  double weight[4], sum = 0;
  bool outside = false, flat = false;
  double N[4][3], e[3], f[3], size = 0, area = 0, volume = 0;
  for (int i = 0; i < 4; i++) {
    srm_sub3(w[face[i][1]], w[face[i][0]], e);
    srm_sub3(w[face[i][2]], w[face[i][0]], f);
    srm_cross3(e, f, N[i]);
    area = fmax(area, srm_norm3(N[i]));
    size = fmax(size, fmax(srm_norm3(e), srm_norm3(f)));
    srm_sub3(w[i], w[face[i][0]], e);
    volume = srm_dot3(N[i], e);
  }
  flat = fabs(volume) <= FLAT * area * size;
  for (int i = 0; i < 4; i++) {
    srm_sub3(w[i], w[face[i][0]], e);
    const double inner = srm_dot3(N[i], e), origin = -srm_dot3(N[i], w[face[i][0]]);
    weight[i] = fabs(origin);
    sum += weight[i];
    if (!flat && origin * inner > 0) continue;
    outside = true;
    try_triangle_and_edges(w, face[i], best);
  }
  if (outside) return;
  for (int i = 0; i < 4; i++) weight[i] /= sum;
  offer((double[3]){0}, weight, best);
}

double sr_simplex_reduce(srSimplex* s, const double x[3], double v[3]) {
  double w[4][3] = {{0}};
  Nearest best = {.square = INFINITY};
  for (int i = 0; i < s->n; i++) {
    srm_sub3(s->corner[i].w, x, w[i]);
    try_corner(w, i, &best);
  }
  if (s->n == 2) try_edge(w, 0, 1, &best);
  if (s->n == 3) try_triangle_and_edges(w, (int[]){0, 1, 2}, &best);
  if (s->n == 4) try_tetrahedron(w, &best);
  int kept = 0;
  for (int i = 0; i < s->n; i++) {
    if (!(best.weight[i] > 0)) continue;
    s->corner[kept] = s->corner[i];
    s->weight[kept++] = best.weight[i];
  }
  s->n = kept;
  for (int k = 0; k < 3; k++) v[k] = best.v[k] + x[k];
  return best.square;
}
