// Contacts of a capsule with a surface of triangles: the balls at its ends, and edges and corners of the surface whose nearest point
// of the axis is between them. Where the axis is parallel to a face, its two ends are the contacts.
//
// A contact in between is left out where two others on both sides, with nearly the same normal, stand for it: its depth is not above the
// line through theirs (edges that the axis crosses on a flat floor); and where a deeper one is within the width of its patch, 2 sqrt(2 R depth).
#include <math.h>
#include <string.h>

#include "collide/surface.h"
#include "math/vector3.h"

#define INNER 1e-9     // places on the axis or an edge nearer than this to an end are the end
#define SLACK 1e-6     // of a depth: as deep as the line through its neighbours
#define PARALLEL 1e-8  // sine of the angle of two lines

typedef struct Search {
  const srSurface* surface;
  const double (*end)[3];
  double axis[3], length, radius, margin;
  int n;
  srTouch item[2 * SR_TOUCH_MOST];
} Search;

static bool is_inner(double s) { return s > INNER && s < 1 - INNER; }

// A point of the surface and the place of the axis nearest to it.
static void try_point(Search* s, int triangle, int feature, const double point[3], double along) {
  srTouch touch = {.triangle = triangle, .feature = feature, .along = along};
  double d[3];
  memcpy(touch.point, point, sizeof touch.point);
  for (int k = 0; k < 3; k++) d[k] = s->end[0][k] + along * s->axis[k] - point[k];
  const double distance = srm_norm3(d);
  if (!(distance > 0 && distance < s->radius + s->margin) || s->n == 2 * SR_TOUCH_MOST) return;
  for (int k = 0; k < 3; k++) touch.n[k] = d[k] / distance;
  touch.gap = distance - s->radius;
  for (int i = 0; i < s->n; i++) {  // the same point, of a neighbour
    srm_sub3(point, s->item[i].point, d);
    if (srm_norm3(d) <= INNER * (distance + s->length) && fabs(along - s->item[i].along) <= INNER) return;
  }
  if (sr_surface_polar(s->surface, triangle, feature, touch.n)) s->item[s->n++] = touch;
}

// Nearest points of the axis and an edge, both between their ends (Ericson 2005, 5.1.8).
static void try_edge(Search* s, int triangle, int edge, const double a[3], const double b[3]) {
  double e[3], r[3], point[3];
  srm_sub3(b, a, e);
  srm_sub3(s->end[0], a, r);
  const double uu = srm_dot3(s->axis, s->axis), ee = srm_dot3(e, e), ue = srm_dot3(s->axis, e);
  const double ur = srm_dot3(s->axis, r), er = srm_dot3(e, r), D = uu * ee - ue * ue;
  if (!(D > PARALLEL * PARALLEL * uu * ee)) return;  // the ends and the corners have it
  const double along = (ue * er - ur * ee) / D, on = (uu * er - ue * ur) / D;
  if (!is_inner(along) || !is_inner(on)) return;
  for (int k = 0; k < 3; k++) point[k] = a[k] + on * e[k];
  try_point(s, triangle, 1 + edge, point, along);
}

static void visit(void* to, int triangle) {
  Search* s = to;
  double corner[9], r[3];
  s->surface->corners(s->surface->user, triangle, corner);
  for (int k = 0; k < 3; k++) {
    srm_sub3(corner + 3 * k, s->end[0], r);
    const double along = srm_dot3(r, s->axis) / (s->length * s->length);
    if (is_inner(along)) try_point(s, triangle, 4 + k, corner + 3 * k, along);
    try_edge(s, triangle, k, corner + 3 * k, corner + 3 * ((k + 1) % 3));
  }
}

// ---- which of them count ----------------------------------------------------------------------------------------------

static bool is_like(const Search* s, const srTouch* a, const srTouch* b) {
  return sr_surface_one(a->n, b->n, fmax(-a->gap, -b->gap), s->radius);
}

// Do two others, on both sides of it, stand for x?
static bool is_between(const Search* s, const srTouch* x) {
  for (int i = 0; i < s->n; i++) {
    const srTouch* a = &s->item[i];
    if (!(a->along < x->along - INNER) || !is_like(s, a, x)) continue;
    for (int k = 0; k < s->n; k++) {
      const srTouch* b = &s->item[k];
      if (!(b->along > x->along + INNER) || !is_like(s, b, x)) continue;
      const double gap = a->gap + (x->along - a->along) / (b->along - a->along) * (b->gap - a->gap);
      if (x->gap >= gap - SLACK * fabs(gap)) return true;
    }
  }
  return false;
}

static bool is_in_patch(const Search* s, const srTouch* x, const srTouch* deeper) {
  const double width = sqrt(8 * s->radius * fmax(0, -deeper->gap));
  return is_like(s, x, deeper) && fabs(x->along - deeper->along) * s->length <= width;
}

static bool comes_before(const srTouch* a, const srTouch* b) {
  return a->along < b->along || (a->along == b->along && a->gap < b->gap);
}

static void sort(srTouch* item, int n, bool (*first)(const srTouch*, const srTouch*)) {
  for (int i = 1; i < n; i++) {
    const srTouch x = item[i];
    int j = i;
    for (; j > 0 && first(&x, &item[j - 1]); j--) item[j] = item[j - 1];
    item[j] = x;
  }
}

static bool is_deeper(const srTouch* a, const srTouch* b) {
  return a->gap < b->gap || (a->gap == b->gap && comes_before(a, b));
}

static bool is_end(const srTouch* x) { return x->along == 0 || x->along == 1; }

// From the deepest on. The two ends do not stand for each other.
static int choose(Search* s, srTouch* out, int most) {
  int n = 0;
  sort(s->item, s->n, is_deeper);
  for (int i = 0; i < s->n && n < most; i++) {
    const srTouch* x = &s->item[i];
    bool keep = !is_between(s, x);
    for (int k = 0; k < n && keep; k++) keep = (is_end(x) && is_end(&out[k])) || !is_in_patch(s, x, &out[k]);
    if (keep) out[n++] = *x;
  }
  sort(out, n, comes_before);
  return n;
}

int sr_surface_capsule(const srSurface* surface, const double end[2][3], double radius, double margin, srTouch* out,
                       int most) {
  Search s = {.surface = surface, .end = end, .radius = radius, .margin = margin};
  double low[3], high[3];
  srm_sub3(end[1], end[0], s.axis);
  s.length = srm_norm3(s.axis);
  if (!isfinite(s.length)) return 0;
  for (int k = 0; k < 2 && (k == 0 || s.length > 0); k++) {
    const int n = sr_surface_ball(surface, end[k], radius, margin, s.item + s.n, SR_TOUCH_MOST / 2);
    for (int i = 0; i < n; i++) s.item[s.n + i].along = k;
    s.n += n;
  }
  for (int k = 0; k < 3; k++) {
    low[k] = fmin(end[0][k], end[1][k]) - radius - margin;
    high[k] = fmax(end[0][k], end[1][k]) + radius + margin;
  }
  if (s.length > 0) surface->near(surface->user, low, high, visit, &s);
  return choose(&s, out, most);
}
