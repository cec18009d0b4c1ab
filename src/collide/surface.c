// Contacts of a ball with a surface of triangles.
//
// A point of the surface is a local minimum of the distance from the centre c if n = (c - x)/|c - x| has no component into the surface:
//   n.t <= 0 for all tangent directions t at x: into both faces of an edge, along all edges of a corner (the polar cone).
// Concave edges exclude themselves, flat ones hold a minimum only where the foot of the centre is on them. Across a concave edge of angle
// e < sqrt(2 depth/R) the second face appears with a depth at once; normals within twice that angle therefore count as one contact.
// Front and back: the sum of the normals of the triangles at x, weighted by their angles there (Baerentzen and Aanaes 2005).
// Source: Ericson 2005, Real-Time Collision Detection, 5.1.5 (nearest point of a triangle).
#include "collide/surface.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

#define POLAR 1e-9  // n.t above it is into the surface
#define SAME 1e-9   // points nearer than this, relative to the size of ball and triangle, are one

// ---- triangles --------------------------------------------------------------------------------------------------------

static void mix(const double* a, const double* b, double s, double* out) {
  for (int k = 0; k < 3; k++) out[k] = a[k] + s * (b[k] - a[k]);
}

int sr_triangle_nearest(const double corner[9], const double x[3], double out[3]) {
  double ab[3], ac[3], p[3];
  srm_sub3(corner + 3, corner, ab);
  srm_sub3(corner + 6, corner, ac);
  srm_sub3(x, corner, p);
  const double d1 = srm_dot3(ab, p), d2 = srm_dot3(ac, p);
  if (d1 <= 0 && d2 <= 0) return memcpy(out, corner, 3 * sizeof *out), 4;
  srm_sub3(x, corner + 3, p);
  const double d3 = srm_dot3(ab, p), d4 = srm_dot3(ac, p);
  if (d3 >= 0 && d4 <= d3) return memcpy(out, corner + 3, 3 * sizeof *out), 5;
  srm_sub3(x, corner + 6, p);
  const double d5 = srm_dot3(ab, p), d6 = srm_dot3(ac, p);
  if (d6 >= 0 && d5 <= d6) return memcpy(out, corner + 6, 3 * sizeof *out), 6;
  // Areas of the triangles of the foot with the edges, times that of the whole.
  const double c = d1 * d4 - d3 * d2, b = d5 * d2 - d1 * d6, a = d3 * d6 - d5 * d4;
  if (c <= 0 && d1 >= 0 && d3 <= 0) return mix(corner, corner + 3, d1 / (d1 - d3), out), 1;
  if (a <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    return mix(corner + 3, corner + 6, (d4 - d3) / ((d4 - d3) + (d5 - d6)), out), 2;
  if (b <= 0 && d2 >= 0 && d6 <= 0) return mix(corner, corner + 6, d2 / (d2 - d6), out), 3;
  const double v = b / (a + b + c), w = c / (a + b + c);
  for (int k = 0; k < 3; k++) out[k] = corner[k] + v * ab[k] + w * ac[k];
  return 0;
}

void sr_triangle_normal(const double corner[9], double out[3]) {
  double ab[3], ac[3];
  srm_sub3(corner + 3, corner, ab);
  srm_sub3(corner + 6, corner, ac);
  srm_cross3(ab, ac, out);
  (void)srm_unit3(out);
}

static double angle_at(const double corner[9], int k) {
  double a[3], b[3], c[3];
  srm_sub3(corner + 3 * ((k + 1) % 3), corner + 3 * k, a);
  srm_sub3(corner + 3 * ((k + 2) % 3), corner + 3 * k, b);
  srm_cross3(a, b, c);
  return atan2(srm_norm3(c), srm_dot3(a, b));
}

// Share of a triangle in the neighbourhood of a point of this feature: its angle there.
static double weight_of(const double corner[9], int feature) {
  return feature >= 4 ? angle_at(corner, feature - 4) : 3.141592653589793;
}

// ---- polar cone -------------------------------------------------------------------------------------------------------

static bool leaves(const double* n, const double* t) { return !(srm_dot3(n, t) <= POLAR * srm_norm3(t)); }

static bool polar_of_edge(const srSurface* s, int triangle, int edge, const double n[3]) {
  double corner[9], e[3], other[3];
  s->corners(s->user, triangle, corner);
  srm_sub3(corner + 3 * ((edge + 1) % 3), corner + 3 * edge, e);
  const double square = srm_dot3(e, e);
  for (int k = 0; s->opposite(s->user, triangle, edge, k, other); k++) {
    double t[3];
    srm_sub3(other, corner + 3 * edge, t);
    const double along = srm_dot3(t, e) / square;
    srm_add_scaled3(t, -along, e, t);
    if (leaves(n, t)) return false;
  }
  return true;
}

static bool polar_of_corner(const srSurface* s, int triangle, int at, const double n[3]) {
  double corner[9], end[3], t[3];
  s->corners(s->user, triangle, corner);
  for (int k = 0; s->spoke(s->user, triangle, at, k, end); k++) {
    srm_sub3(end, corner + 3 * at, t);
    if (leaves(n, t)) return false;
  }
  return true;
}

bool sr_surface_polar(const srSurface* surface, int triangle, int feature, const double n[3]) {
  if (feature == 0) return true;
  return feature < 4 ? polar_of_edge(surface, triangle, feature - 1, n)
                     : polar_of_corner(surface, triangle, feature - 4, n);
}

// ---- local minima -----------------------------------------------------------------------------------------------------

typedef struct Minimum {
  srTouch touch;     // gap: the distance of the centre
  double normal[3];  // sum of the normals at the point, weighted by angles
} Minimum;

typedef struct Minima {
  const srSurface* surface;
  const double* centre;
  double reach;
  int n;
  Minimum item[SR_TOUCH_MOST];
} Minima;

// Where to put one more: at the end, or instead of the farthest. NULL: it is the farthest itself.
static Minimum* make_room(Minima* m, double distance) {
  if (m->n < SR_TOUCH_MOST) return &m->item[m->n++];
  Minimum* far = &m->item[0];
  for (int i = 1; i < m->n; i++) {
    if (m->item[i].touch.gap > far->touch.gap) far = &m->item[i];
  }
  return distance < far->touch.gap ? far : NULL;
}

static void add_normal(Minimum* item, const double* normal, double weight) {
  srm_add_scaled3(item->normal, weight, normal, item->normal);
}

static void visit(void* to, int triangle) {
  Minima* m = to;
  double corner[9], normal[3], d[3];
  srTouch touch = {.triangle = triangle};
  m->surface->corners(m->surface->user, triangle, corner);
  touch.feature = sr_triangle_nearest(corner, m->centre, touch.point);
  srm_sub3(m->centre, touch.point, d);
  touch.gap = srm_norm3(d);
  if (!(touch.gap <= m->reach)) return;
  sr_triangle_normal(corner, normal);
  const double weight = weight_of(corner, touch.feature);
  srm_sub3(corner + 3, corner, d);
  const double same = SAME * (touch.gap + srm_norm3(d));
  for (int i = 0; i < m->n; i++) {
    srm_sub3(touch.point, m->item[i].touch.point, d);
    if (srm_norm3(d) > same) continue;
    add_normal(&m->item[i], normal, weight);
    if (triangle > m->item[i].touch.triangle) return;
    m->item[i].touch.triangle = triangle;
    m->item[i].touch.feature = touch.feature;
    return;
  }
  for (int k = 0; k < 3; k++) touch.n[k] = touch.gap > 0 ? (m->centre[k] - touch.point[k]) / touch.gap : normal[k];
  if (touch.gap > 0 && !sr_surface_polar(m->surface, triangle, touch.feature, touch.n)) return;
  Minimum* item = make_room(m, touch.gap);
  if (item == NULL) return;
  *item = (Minimum){.touch = touch};
  add_normal(item, normal, weight);
}

static void find_minima(Minima* m, double reach) {
  double low[3], high[3];
  m->reach = reach;
  m->n = 0;
  for (int k = 0; k < 3; k++) {
    low[k] = m->centre[k] - reach;
    high[k] = m->centre[k] + reach;
  }
  m->surface->near(m->surface->user, low, high, visit, m);
}

static bool is_behind(const Minimum* x) { return srm_dot3(x->normal, x->touch.n) < 0; }

// Does the nearest point of a solid have the centre behind it? At the border of a height field, behind is not yet inside.
static bool is_inside(const Minima* m) {
  const srSurface* s = m->surface;
  return m->n > 0 && s->solid && is_behind(&m->item[0]) && s->depth(s->user, m->centre) >= 0;
}

// ---- ball -------------------------------------------------------------------------------------------------------------

static bool comes_first(const srTouch* a, const srTouch* b) {
  return a->gap < b->gap || (a->gap == b->gap && a->triangle < b->triangle);
}

static void sort(Minimum* item, int n) {
  for (int i = 1; i < n; i++) {
    const Minimum x = item[i];
    int j = i;
    for (; j > 0 && comes_first(&x.touch, &item[j - 1].touch); j--) item[j] = item[j - 1];
    item[j] = x;
  }
}

bool sr_surface_one(const double n[3], const double other[3], double depth, double radius) {
  double d[3];
  srm_sub3(n, other, d);
  const double square = srm_dot3(d, d), limit = depth > 0 ? 8 * depth / radius : 0;
  return square <= limit || square <= SAME * SAME;
}

// The minima in order of their distance, those that are seen from their front, one for each cluster.
static int keep_clusters(const Minima* m, double radius, srTouch* out, int most) {
  int n = 0;
  for (int i = 0; i < m->n && n < most; i++) {
    const srTouch* touch = &m->item[i].touch;
    bool keep = !(m->surface->solid && is_behind(&m->item[i]));
    for (int k = 0; k < n && keep; k++) keep = !sr_surface_one(touch->n, out[k].n, -out[k].gap, radius);
    if (!keep) continue;
    out[n] = *touch;
    out[n++].gap -= radius;
  }
  return n;
}

// The centre is inside: out through the nearest point.
static int keep_inside(const Minimum* nearest, double radius, srTouch* out) {
  *out = nearest->touch;
  out->gap = -out->gap - radius;
  for (int k = 0; k < 3; k++) out->n[k] = -out->n[k];
  return 1;
}

int sr_surface_ball(const srSurface* surface, const double centre[3], double radius, double margin, srTouch* out,
                    int most) {
  Minima m = {.surface = surface, .centre = centre};
  if (!isfinite(centre[0] + centre[1] + centre[2]) || most == 0) return 0;
  find_minima(&m, radius + margin);
  if (m.n == 0 && surface->solid) {  // outside and far from it, or deep inside
    const double depth = surface->depth(surface->user, centre);
    if (depth >= 0) find_minima(&m, depth * (1 + SAME));
    sort(m.item, m.n);
    return is_inside(&m) ? keep_inside(&m.item[0], radius, out) : 0;
  }
  sort(m.item, m.n);
  return is_inside(&m) ? keep_inside(&m.item[0], radius, out) : keep_clusters(&m, radius, out, most);
}
