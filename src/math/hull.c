// Convex hull by the quickhull algorithm (Barber, Dobkin, Huhdanpaa, ACM TOMS 22, 1996): from a tetrahedron on, the point
// farthest outside of a face is joined to the edge of what it sees, and what it saw goes; points that were outside of those
// faces are handed to the new ones. Every point is in the list of one face at most.
#include "math/hull.h"

#include <math.h>

#include "math/pose.h"

typedef struct Face {
  int corner[3];
  int beyond[3];  // face across the edge corner[k], corner[k+1]
  double normal[3], offset;
  int outside;   // first point of its list, -1: none
  int farthest;  // of them
  double distance;
  int seen;  // number of the last point that saw it
  bool gone;
} Face;

typedef struct Edge {
  int from, to;
  int face;  // that stays, on the other side
} Edge;

typedef struct Hull {
  srPool* pool;
  const double* point;
  double tolerance;
  Face* face;
  int nface, face_capacity;
  int* next;     // point -> next one in its list
  int* leaving;  // point -> new face at the edge that leaves it, valid while horizon_of says so
  int* horizon_of;
  int *waiting, nwaiting, waiting_capacity;  // faces that may have points outside
  int *visible, nvisible, visible_capacity;
  Edge* horizon;
  int nhorizon, horizon_capacity;
  int round;
} Hull;

static double distance(const Face* f, const double* p) { return srm_dot3(f->normal, p) - f->offset; }

static int add_face(Hull* h, int a, int b, int c) {
  const double *pa = h->point + 3 * (size_t)a, *pb = h->point + 3 * (size_t)b, *pc = h->point + 3 * (size_t)c;
  double ab[3], ac[3];
  Face f = {.corner = {a, b, c}, .outside = -1, .farthest = -1};
  for (int k = 0; k < 3; k++) ab[k] = pb[k] - pa[k], ac[k] = pc[k] - pa[k];
  srm_cross3(ab, ac, f.normal);
  const double size = srm_norm3(f.normal);
  for (int k = 0; k < 3 && size > 0; k++) f.normal[k] /= size;
  f.offset = srm_dot3(f.normal, pa);
  SR_PUSH(h->pool, h->face, h->nface, h->face_capacity) = f;
  SR_PUSH(h->pool, h->waiting, h->nwaiting, h->waiting_capacity) = h->nface - 1;
  return h->nface - 1;
}

// Puts a point into the list of the first of these faces that it is outside of.
static void hand_over(Hull* h, int p, int first, int end) {
  for (int i = first; i < end; i++) {
    Face* f = &h->face[i];
    const double d = distance(f, h->point + 3 * (size_t)p);
    if (d <= h->tolerance) continue;
    h->next[p] = f->outside;
    f->outside = p;
    if (f->farthest < 0 || d > f->distance) f->farthest = p, f->distance = d;
    return;
  }
}

// ---------------------------------------------------------------------------------------------------------------- start
static void offset_from(const Hull* h, int from, int to, double r[3]) {
  for (int k = 0; k < 3; k++) r[k] = h->point[3 * (size_t)to + (size_t)k] - h->point[3 * (size_t)from + (size_t)k];
}

// Four corners: the two that are farthest apart along an axis, then those farthest from the line and from the plane.
static bool find_corners(Hull* h, int n, int corner[4]) {
  double extent = -1, best = 0, along[3], normal[3] = {0}, r[3], side[3];
  for (int k = 0; k < 3; k++) {
    int low = 0, high = 0;
    for (int i = 1; i < n; i++) {
      if (h->point[3 * (size_t)i + (size_t)k] < h->point[3 * (size_t)low + (size_t)k]) low = i;
      if (h->point[3 * (size_t)i + (size_t)k] > h->point[3 * (size_t)high + (size_t)k]) high = i;
    }
    const double span = h->point[3 * (size_t)high + (size_t)k] - h->point[3 * (size_t)low + (size_t)k];
    if (span > extent) extent = span, corner[0] = low, corner[1] = high;
  }
  h->tolerance = 1e-12 * extent;
  offset_from(h, corner[0], corner[1], along);
  for (int i = 0; i < n; i++) {
    offset_from(h, corner[0], i, r);
    srm_cross3(along, r, side);
    if (srm_norm3(side) > best) best = srm_norm3(side), corner[2] = i;
  }
  if (!(best > h->tolerance * extent)) return false;
  offset_from(h, corner[0], corner[2], r);
  srm_cross3(along, r, normal);
  best *= h->tolerance;
  corner[3] = -1;
  for (int i = 0; i < n; i++) {
    offset_from(h, corner[0], i, r);
    if (fabs(srm_dot3(normal, r)) > best) best = fabs(srm_dot3(normal, r)), corner[3] = i;
  }
  if (corner[3] < 0) return false;
  offset_from(h, corner[0], corner[3], r);
  if (srm_dot3(normal, r) > 0) {  // the fourth must be behind the first three
    const int swap = corner[1];
    corner[1] = corner[2], corner[2] = swap;
  }
  return true;
}

static bool start(Hull* h, int n) {
  static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  int corner[4] = {0};
  if (n < 4 || !find_corners(h, n, corner)) return false;
  for (int i = 0; i < 4; i++) {
    add_face(h, corner[sides[i][0]], corner[sides[i][1]], corner[sides[i][2]]);
    for (int k = 0; k < 3; k++) h->face[i].beyond[k] = beyond[i][k];
  }
  for (int p = 0; p < n; p++) hand_over(h, p, 0, 4);
  return true;
}

// ----------------------------------------------------------------------------------------------------------------- grow
// Faces that the point sees, connected from this one on, and the edges around them.
static void look(Hull* h, int face, const double* p) {
  h->nvisible = h->nhorizon = 0;
  h->face[face].seen = ++h->round;
  SR_PUSH(h->pool, h->visible, h->nvisible, h->visible_capacity) = face;
  for (int i = 0; i < h->nvisible; i++)
    for (int k = 0; k < 3; k++) {
      const Face* f = &h->face[h->visible[i]];
      const int other = f->beyond[k];
      if (h->face[other].seen == h->round) continue;
      if (distance(&h->face[other], p) > h->tolerance) {
        h->face[other].seen = h->round;
        SR_PUSH(h->pool, h->visible, h->nvisible, h->visible_capacity) = other;
      }
    }
  for (int i = 0; i < h->nvisible; i++)
    for (int k = 0; k < 3; k++) {
      const Face* f = &h->face[h->visible[i]];
      if (h->face[f->beyond[k]].seen == h->round) continue;
      const Edge edge = {f->corner[k], f->corner[(k + 1) % 3], f->beyond[k]};
      SR_PUSH(h->pool, h->horizon, h->nhorizon, h->horizon_capacity) = edge;
    }
}

// The edges make one round, without touching themselves. Rounding can break that where points nearly lie in a plane.
static bool is_round(Hull* h) {
  for (int i = 0; i < h->nhorizon; i++) {
    if (h->horizon_of[h->horizon[i].from] == h->round) return false;
    h->horizon_of[h->horizon[i].from] = h->round;
    h->leaving[h->horizon[i].from] = i;
  }
  int length = 0, at = 0;
  do {
    if (h->horizon_of[h->horizon[at].to] != h->round) return false;
    at = h->leaving[h->horizon[at].to];
    length++;
  } while (at != 0 && length <= h->nhorizon);
  return length == h->nhorizon;
}

static void replace_across(Hull* h, const Edge* edge, int by) {
  Face* f = &h->face[edge->face];
  for (int k = 0; k < 3; k++)
    if (f->corner[k] == edge->to && f->corner[(k + 1) % 3] == edge->from) f->beyond[k] = by;
}

// New faces from the edges to the point p, in the order of the edges.
static void join(Hull* h, int p) {
  const int first = h->nface;
  for (int i = 0; i < h->nhorizon; i++) {
    const Edge edge = h->horizon[i];
    const int face = add_face(h, edge.from, edge.to, p);
    h->face[face].beyond[0] = edge.face;
    h->face[face].beyond[1] = first + h->leaving[edge.to];
    replace_across(h, &edge, face);
  }
  for (int i = 0; i < h->nhorizon; i++) h->face[h->face[first + i].beyond[1]].beyond[2] = first + i;
  for (int i = 0; i < h->nvisible; i++) {
    Face* f = &h->face[h->visible[i]];
    f->gone = true;
    for (int q = f->outside; q >= 0;) {
      const int after = h->next[q];
      if (q != p) hand_over(h, q, first, h->nface);
      q = after;
    }
  }
}

// Takes a point out of the list of a face, and finds the farthest of the others.
static void drop(Hull* h, int face, int p) {
  Face* f = &h->face[face];
  int list = f->outside;
  f->outside = f->farthest = -1;
  while (list >= 0) {
    const int after = h->next[list];
    if (list != p) hand_over(h, list, face, face + 1);
    list = after;
  }
}

int srm_hull(srPool* pool, const double* point, int n, int** triangle) {
  Hull h = {.pool = pool, .point = point};
  int count = 0;
  h.next = sr_pool_alloc(pool, (size_t)(n + 1) * sizeof *h.next);
  h.leaving = sr_pool_alloc(pool, (size_t)(n + 1) * sizeof *h.leaving);
  h.horizon_of = sr_pool_alloc(pool, (size_t)(n + 1) * sizeof *h.horizon_of);
  if (!start(&h, n)) return 0;
  while (h.nwaiting > 0) {
    const int face = h.waiting[h.nwaiting - 1], p = h.face[face].farthest;
    if (h.face[face].gone || p < 0) {
      h.nwaiting--;
      continue;
    }
    look(&h, face, point + 3 * (size_t)p);
    if (is_round(&h))
      join(&h, p);
    else
      drop(&h, face, p);
  }
  *triangle = sr_pool_alloc(pool, 3 * (size_t)h.nface * sizeof **triangle);
  for (int i = 0; i < h.nface; i++)
    for (int k = 0; k < 3 && !h.face[i].gone; k++) (*triangle)[count++] = h.face[i].corner[k];
  return count / 3;
}
