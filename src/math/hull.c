// Convex hull by the quickhull algorithm (Barber, Dobkin, Huhdanpaa, ACM TOMS 22, 1996): starting from a tetrahedron, the point
// farthest outside a face is joined to the horizon of its visible faces, which are removed; points outside those
// faces are assigned to the new ones. Every point is in the list of one face at most.
//
// Where points nearly coincide, or are nearly collinear, faces are so thin that rounding determines their orientation, and a corner far away can
// be lost. So the result is checked: it is convex across every edge, and no point is outside a face by more than rounding. Otherwise all
// points are perturbed at random, by more and more, until the faces found for them are valid for the given ones (joggled input: Barber,
// Dobkin, Huhdanpaa; option QJ of Qhull).
#include "math/hull.h"

#include <math.h>

#include "math/pose.h"

#define TOLERANCE 1e-12     // of the extent
#define JOGGLE_FIRST 1e-10  // of the extent, after an attempt with the points as they are
#define JOGGLE_GROWTH 10.0
#define JOGGLE_MOST 2e-7
#define ALLOWED 100.0  // tolerances and joggles: three corners are moved and the point, in many steps
#define THIN 1e-3      // of the extent: a face whose plane is off by more gives no information about its edges

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
  int face;  // that remains, on the other side
} Edge;

typedef struct Hull {
  srPool* pool;
  const double* given;  // the points
  double* point;        // relative to the first one, and perturbed
  int n;
  double extent, tolerance;
  Face* face;
  int nface, face_capacity;
  int* next;     // point -> next one in its list
  int* leaving;  // point -> new face at the edge that leaves it, valid while horizon_of confirms it
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

// Puts a point into the list of the first of these faces that it is outside.
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
static bool find_corners(Hull* h, int corner[4]) {
  const int n = h->n;
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
  h->extent = extent;
  h->tolerance = TOLERANCE * extent;
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

static bool start(Hull* h) {
  static const int sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  int corner[4] = {0};
  h->nface = h->nwaiting = 0;
  if (h->n < 4 || !find_corners(h, corner)) return false;
  for (int i = 0; i < 4; i++) {
    add_face(h, corner[sides[i][0]], corner[sides[i][1]], corner[sides[i][2]]);
    for (int k = 0; k < 3; k++) h->face[i].beyond[k] = beyond[i][k];
  }
  for (int p = 0; p < h->n; p++) hand_over(h, p, 0, 4);
  return true;
}

// ----------------------------------------------------------------------------------------------------------------- grow
// Faces visible from the point, connected from this one on, and the edges around them.
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

// The edges form one cycle, without self-contact. Rounding can break that where points are nearly coplanar.
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

// Removes a point from the list of a face, and finds the farthest of the others.
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

// The points relative to the first one, which saves digits where they are far from the origin, each perturbed by up to `by`.
static void place_points(Hull* h, double by) {
  unsigned bits = 1u;
  for (int i = 0; i < 3 * h->n; i++) {
    bits = bits * 1664525u + 1013904223u;
    h->point[i] = h->given[i] - h->given[i % 3] + by * ((double)(bits >> 8) / 0x800000 - 1);
  }
}

static bool grow(Hull* h, double moved) {
  place_points(h, moved);
  if (!start(h)) return false;
  while (h->nwaiting > 0) {
    const int face = h->waiting[h->nwaiting - 1], p = h->face[face].farthest;
    if (h->face[face].gone || p < 0) {
      h->nwaiting--;
      continue;
    }
    look(h, face, h->point + 3 * (size_t)p);
    if (is_round(h))
      join(h, p);
    else
      drop(h, face, p);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- check
typedef enum Role { INNER, CORNER, CORNER_OF_THIN } Role;

typedef struct Check {
  const Hull* h;
  double moved;      // perturbation of the points
  double middle[3];  // of the corners
  Role* role;
  int face;  // end of the last walk
} Check;

static const double* given(const Hull* h, int i) { return h->given + 3 * (size_t)i; }

static void between(const double a[3], const double b[3], double r[3]) {
  for (int k = 0; k < 3; k++) r[k] = b[k] - a[k];
}

// Normal of a face, of twice its area, and how far a point may be above it, times the same. Perturbed corners rotate a thin face considerably.
static double plane_of(const Check* c, const Face* f, double normal[3]) {
  double ab[3], ac[3];
  between(given(c->h, f->corner[0]), given(c->h, f->corner[1]), ab);
  between(given(c->h, f->corner[0]), given(c->h, f->corner[2]), ac);
  srm_cross3(ab, ac, normal);
  return ALLOWED * (c->moved + c->h->tolerance) * c->h->extent * (srm_norm3(ab) + srm_norm3(ac));
}

static bool is_thin(const Check* c, const Face* f) {
  double normal[3];
  return plane_of(c, f, normal) > THIN * c->h->extent * srm_norm3(normal);
}

// How far a position is above a face, times the length of its normal; 0 within rounding and perturbation.
static double height(const Check* c, const Face* f, const double* place) {
  double normal[3], r[3];
  const double allowed = plane_of(c, f, normal);
  between(given(c->h, f->corner[0]), place, r);
  const double z = srm_dot3(normal, r);
  return fabs(z) > allowed ? z : 0;
}

static bool is_above(const Check* c, const Face* f, int p) { return height(c, f, given(c->h, p)) > 0; }

// The middle is below the face, which is not folded back then, and its neighbours are not above it.
static bool is_convex(const Check* c, const Face* f) {
  if (!is_thin(c, f) && height(c, f, c->middle) >= 0) return false;
  for (int i = 0; i < 9; i++)
    if (is_above(c, f, c->h->face[f->beyond[i / 3]].corner[i % 3])) return false;
  return true;
}

static void find_roles(Check* c) {
  const Hull* h = c->h;
  int n = 0;
  for (int i = 0; i < h->n; i++) c->role[i] = INNER;
  for (int i = 0; i < h->nface; i++) {
    const Face* f = &h->face[i];
    if (f->gone) continue;
    const Role role = is_thin(c, f) ? CORNER_OF_THIN : CORNER;
    c->face = i;
    for (int k = 0; k < 3; k++)
      if (role > c->role[f->corner[k]]) c->role[f->corner[k]] = role;
  }
  for (int i = 0; i < h->n; i++) {
    if (c->role[i] == INNER) continue;
    n++;
    for (int k = 0; k < 3; k++) c->middle[k] += (given(h, i)[k] - c->middle[k]) / n;
  }
}

// From face to face to the one that the ray from the middle through p leaves by; -1: thin faces mislead the walk.
static int walk(Check* c, int p) {
  const Hull* h = c->h;
  double ray[3], a[3], b[3], side[3];
  between(c->middle, given(h, p), ray);
  for (int steps = 0; steps < h->nface; steps++) {
    const Face* f = &h->face[c->face];
    int next = -1;
    for (int k = 0; k < 3 && next < 0; k++) {
      const int edge = (steps + k) % 3;
      between(c->middle, given(h, f->corner[edge]), a);
      between(c->middle, given(h, f->corner[(edge + 1) % 3]), b);
      srm_cross3(a, b, side);
      if (srm_dot3(side, ray) < 0) next = f->beyond[edge];
    }
    if (next < 0) return is_thin(c, f) ? -1 : c->face;
    c->face = next;
  }
  return -1;
}

static bool is_inside_of_all(const Check* c, int p) {
  for (int i = 0; i < c->h->nface; i++)
    if (!c->h->face[i].gone && is_above(c, &c->h->face[i], p)) return false;
  return true;
}

// A closed surface that is convex across every edge is convex, and a point is inside if it is below the one face in its direction. The edges
// of thin faces are not conclusive: what is adjacent to them is compared with all faces.
static bool holds(const Hull* h, double moved, Role* role) {
  Check c = {.h = h, .moved = moved, .role = role};
  find_roles(&c);
  for (int i = 0; i < h->nface; i++)
    if (!h->face[i].gone && !is_convex(&c, &h->face[i])) return false;
  for (int p = 0; p < h->n; p++) {
    const int face = role[p] == INNER ? walk(&c, p) : -1;
    if (face >= 0 ? is_above(&c, &h->face[face], p) : role[p] != CORNER && !is_inside_of_all(&c, p)) return false;
  }
  return true;
}

int srm_hull(srPool* pool, const double* point, int n, int** triangle) {
  const size_t room = (size_t)n + 1;
  Hull h = {.pool = pool, .given = point, .n = n};
  int count = 0;
  h.next = sr_pool_alloc(pool, room * sizeof *h.next);
  h.leaving = sr_pool_alloc(pool, room * sizeof *h.leaving);
  h.horizon_of = sr_pool_alloc(pool, room * sizeof *h.horizon_of);
  h.point = sr_pool_alloc(pool, 3 * room * sizeof *h.point);
  Role* role = sr_pool_alloc(pool, room * sizeof *role);
  if (!grow(&h, 0)) return 0;
  bool good = holds(&h, 0, role);
  for (double part = JOGGLE_FIRST; !good && part <= JOGGLE_MOST; part *= JOGGLE_GROWTH) {
    const double moved = part * h.extent;
    good = grow(&h, moved) && holds(&h, moved, role);
  }
  if (!good) (void)grow(&h, 0);  // flat to its last digits: the best possible
  *triangle = sr_pool_alloc(pool, 3 * (size_t)h.nface * sizeof **triangle);
  for (int i = 0; i < h.nface; i++)
    for (int k = 0; k < 3 && !h.face[i].gone; k++) (*triangle)[count++] = h.face[i].corner[k];
  return count / 3;
}
