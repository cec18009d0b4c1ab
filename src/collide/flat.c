// The flat part of a core that faces a direction: what a manifold of contact points is clipped from.
//
// With n at an angle to the normals of a feature (one for a face; all that are normal to it, and between those of its faces, for an edge),
// the feature is the one with the most dimensions within the angle allowed.
#include <math.h>
#include <string.h>

#include "collide/shape.h"
#include "math/vector3.h"

static void add(srFlat* out, const double x[3], int id) {
  out->corner_id[out->n] = id;
  srm_set3(out->corner[out->n++], x);
}

static void flat_point(const srConvex* s, const double n[3], srFlat* out) {
  double x[3];
  (void)sr_convex_core_support(s, n, -1, x, &out->id);
  add(out, x, out->id);
}

// A corner has digits 0 (negative) or 1 along each axis, a free axis has 2: base 3.
static void flat_box(const srConvex* s, const double n[3], double sine, srFlat* out) {
  int digit[3], least = 0, most = 0;
  for (int k = 1; k < 3; k++) {
    if (fabs(n[k]) < fabs(n[least])) least = k;
    if (fabs(n[k]) > fabs(n[most])) most = k;
  }
  for (int k = 0; k < 3; k++) digit[k] = n[k] >= 0;
  const int i = (most + 1) % 3, j = (most + 2) % 3;
  out->dimension = hypot(n[i], n[j]) <= sine ? 2 : fabs(n[least]) <= sine ? 1 : 0;
  if (out->dimension == 2) digit[i] = digit[j] = 2;
  if (out->dimension == 1) digit[least] = 2;
  out->id = digit[0] + 3 * digit[1] + 9 * digit[2];
  static const int turn[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  const int corners = out->dimension == 2 ? 4 : out->dimension + 1;
  for (int c = 0; c < corners; c++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = digit[k] == 1 ? s->size[k] : -s->size[k];
    if (out->dimension == 1) x[least] = c ? s->size[least] : -s->size[least];
    if (out->dimension == 2) {
      const int* sign = turn[digit[most] ? c : 3 - c];
      x[i] = sign[0] * s->size[i], x[j] = sign[1] * s->size[j];
    }
    add(out, x, (x[0] < 0) | (x[1] < 0) << 1 | (x[2] < 0) << 2);
  }
  if (out->dimension == 2) {
    memset(out->normal, 0, sizeof out->normal);
    out->normal[most] = digit[most] ? 1 : -1;
  }
}

static void flat_capsule(const srConvex* s, const double n[3], double sine, srFlat* out) {
  if (fabs(n[2]) > sine) {
    flat_point(s, n, out);
    return;
  }
  out->dimension = 1;
  out->id = 2;
  add(out, (double[]){0, 0, -s->size[2]}, 0);
  add(out, (double[]){0, 0, s->size[2]}, 1);
}

// A generator: from its end at z = -l to that at z = l. slope: part of n along it.
static bool flat_generator(const srConvex* s, const double n[3], double sine, srFlat* out) {
  const double p = hypot(n[0], n[1]), top = s->kind == SR_KIND_CONE ? 0 : s->size[0];
  if (!(p > 0)) return false;
  const double u[2] = {n[0] / p, n[1] / p}, rise = 2 * s->size[2], run = top - s->size[0];
  if (fabs(p * run + n[2] * rise) > sine * hypot(rise, run)) return false;
  out->dimension = 1;
  out->id = 4;
  add(out, (double[]){s->size[0] * u[0], s->size[0] * u[1], -s->size[2]}, 0);
  add(out, (double[]){top * u[0], top * u[1], s->size[2]}, 1);
  return true;
}

static void flat_round(const srConvex* s, const double n[3], double sine, srFlat* out) {
  if (sr_convex_cap(s, n, sine, out->normal)) {
    out->dimension = 2;
    out->id = n[2] > 0 ? 3 : 2;
    out->disc = s->size[0];
    out->centre[2] = n[2] > 0 ? s->size[2] : -s->size[2];
    return;
  }
  srm_set3(out->normal, n);
  if (!flat_generator(s, n, sine, out)) flat_point(s, n, out);
}

static void hull_face(const srConvexHull* h, int face, srFlat* out) {
  const int first = h->face_first[face], n = h->face_first[face + 1] - first;
  const int every = (n + SR_FLAT_MOST - 1) / SR_FLAT_MOST;
  out->dimension = 2;
  out->id = face;
  srm_set3(out->normal, h->face_normal + 3 * (size_t)face);
  for (int i = 0; i < n; i += every) {
    const int corner = h->face_corner[first + i];
    add(out, h->corner + 3 * (size_t)corner, corner);
  }
}

// The edge at a corner whose slope against n is least, or -1: its place among the neighbours.
static int hull_edge(const srConvexHull* h, int corner, const double n[3], double sine) {
  int best = -1;
  double least = sine;
  for (int k = h->first[corner]; k < h->first[corner + 1]; k++) {
    double e[3];
    srm_sub3(h->corner + 3 * (size_t)h->neighbour[k], h->corner + 3 * (size_t)corner, e);
    (void)srm_unit3(e);
    if (fabs(srm_dot3(e, n)) <= least) least = fabs(srm_dot3(e, n)), best = k;
  }
  return best;
}

// Ids: faces, then corners, then edges by their smaller corner's list of neighbours.
static void flat_hull(const srConvex* s, const double n[3], double sine, srFlat* out) {
  const srConvexHull* h = s->hull;
  int best = -1, corner;
  double cosine = 0, x[3];
  for (int i = 0; i < h->nface; i++) {
    const double c = srm_dot3(n, h->face_normal + 3 * (size_t)i);
    if (c > cosine) cosine = c, best = i;
  }
  if (best >= 0) {
    double side[3];
    srm_cross3(n, h->face_normal + 3 * (size_t)best, side);
    if (srm_norm3(side) <= sine) {
      hull_face(h, best, out);
      return;
    }
  }
  (void)sr_convex_core_support(s, n, -1, x, &corner);
  const int edge = h->first == NULL ? -1 : hull_edge(h, corner, n, sine);
  out->id = h->nface + corner;
  add(out, x, corner);
  if (edge < 0) return;
  const int other = h->neighbour[edge];
  out->dimension = 1;
  out->id = h->nface + h->n + edge;
  for (int k = h->first[other]; other < corner && k < h->first[other + 1]; k++)
    if (h->neighbour[k] == corner) out->id = h->nface + h->n + k;
  add(out, h->corner + 3 * (size_t)other, other);
}

void sr_convex_flat(const srConvex* s, const double n[3], double sine, srFlat* out) {
  memset(out, 0, sizeof *out);
  srm_set3(out->normal, n);
  switch (s->kind) {
    case SR_KIND_BOX: flat_box(s, n, sine, out); break;
    case SR_KIND_CAPSULE: flat_capsule(s, n, sine, out); break;
    case SR_KIND_CYLINDER:
    case SR_KIND_CONE: flat_round(s, n, sine, out); break;
    case SR_KIND_HULL: flat_hull(s, n, sine, out); break;
    default:
      if (sr_shape_bounded(s->kind)) flat_point(s, n, out);
  }
}
