// Depth of two convex sets that overlap: the least h(n) = max n.w over C = {a - b}, by a polytope of corners of C that contains the origin and
// expands where it is nearest to it (van den Bergen, Proximity queries and penetration depth computation on 3D game objects, 2001).
//
// Every face gives a lower bound of the depth, its distance d, valid for the nearest one; every direction an upper bound, h(n). The
// direction with the least h is the answer, not that of the last face. It ends where the two agree within the tolerance, where the support
// corner belongs to the face already, and where rounding has made the polytope concave: the nearest face is nearer than the one before.
// Visible faces are found from neighbour to neighbour and must have one cycle as their horizon.
//
// A set C without volume (crossing segments, discs in a plane) has depth 0 in the direction normal to it.
#include <math.h>
#include <string.h>

#include "collide/gjk.h"
#include "math/vector3.h"

#define CORNERS_MOST 132
#define FACES_MOST 264  // a closed surface of n corners has 2 n - 4 triangles
#define FLAT 1e-13      // of the size: C has no extent in a direction
#define CONCAVE 1e-12   // of the size: decrease of the distance of the nearest face
#define TIE 1e-12       // of the size: depths of two directions that count as equal
#define TIE_COSINE 0.999
#define FAR_COSINE 0.5
#define SAME_COSINE (1 - 1e-9)

typedef struct Face {
  int corner[3];
  int beyond[3];  // face across the edge corner[k], corner[k + 1]
  double n[3], d;
  int seen;  // number of the last corner that saw it
  bool gone;
} Face;

typedef struct Edge {
  int from, to, face;
} Edge;

typedef struct Polytope {
  srConvexPair* pair;
  srCorner corner[CORNERS_MOST];
  Face face[FACES_MOST];
  Edge horizon[CORNERS_MOST];
  int leaving[CORNERS_MOST];     // corner -> index in horizon of the edge that leaves it ...
  int leaving_of[CORNERS_MOST];  // ... valid if this is the current corner
  int visible[FACES_MOST];
  int fresh[CORNERS_MOST];  // faces from the horizon to the new corner, in its order
  int ncorner, nface, nhorizon, nvisible;
} Polytope;

// ---------------------------------------------------------------------------------------------------------------- start
// The support corner in one of the directions that is farthest by `measure` of the simplex; false: none is far enough.
typedef double (*Measure)(const srSimplex* s, const double w[3]);

static double from_point(const srSimplex* s, const double w[3]) {
  double r[3];
  srm_sub3(w, s->corner[0].w, r);
  return srm_norm3(r);
}

static double from_line(const srSimplex* s, const double w[3]) {
  double r[3], e[3], side[3];
  srm_sub3(w, s->corner[0].w, r);
  srm_sub3(s->corner[1].w, s->corner[0].w, e);
  (void)srm_unit3(e);
  srm_cross3(e, r, side);
  return srm_norm3(side);
}

static void triangle_normal(const srSimplex* s, double n[3]) {
  double e[3], f[3];
  srm_sub3(s->corner[1].w, s->corner[0].w, e);
  srm_sub3(s->corner[2].w, s->corner[0].w, f);
  (void)srm_unit3(e);
  (void)srm_unit3(f);
  srm_cross3(e, f, n);
  (void)srm_unit3(n);
}

static double from_plane(const srSimplex* s, const double w[3]) {
  double r[3], n[3];
  triangle_normal(s, n);
  srm_sub3(w, s->corner[0].w, r);
  return fabs(srm_dot3(n, r));
}

static bool extend(srConvexPair* pair, srSimplex* s, double direction[][3], int n, Measure measure) {
  double most = FLAT * pair->size;
  bool found = false;
  for (int i = 0; i < n; i++) {
    srCorner c;
    (void)sr_pair_support(pair, direction[i], &c);
    const double far = measure(s, c.w);
    if (far > most) most = far, s->corner[s->n] = c, found = true;
  }
  s->n += found;
  return found;
}

static bool add_second(srConvexPair* pair, srSimplex* s) {
  double axis[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  return extend(pair, s, axis, 6, from_point);
}

static bool add_third(srConvexPair* pair, srSimplex* s) {
  double e[3], t[3], u[3], around[6][3];
  srm_sub3(s->corner[1].w, s->corner[0].w, e);
  (void)srm_unit3(e);
  srm_tangents3(e, t, u);
  for (int i = 0; i < 6; i++) {
    const double angle = i * (3.14159265358979323846 / 3);
    srm_scale3(cos(angle), t, around[i]);
    srm_add_scaled3(around[i], sin(angle), u, around[i]);
  }
  return extend(pair, s, around, 6, from_line);
}

static bool add_fourth(srConvexPair* pair, srSimplex* s) {
  double side[2][3];
  triangle_normal(s, side[0]);
  srm_scale3(-1, side[0], side[1]);
  return extend(pair, s, side, 2, from_plane);
}

// Drops corners that do not extend the simplex: of a sliver that contains the origin, the rest still touches it within rounding.
static void drop_flat(srConvexPair* pair, srSimplex* s) {
  static const Measure measure[4] = {NULL, from_point, from_line, from_plane};
  const srSimplex all = *s;
  s->n = 1;
  for (int i = 1; i < all.n; i++)
    if (measure[s->n](s, all.corner[i].w) > FLAT * pair->size) s->corner[s->n++] = all.corner[i];
}

// A tetrahedron; fewer corners: C is flat.
static void complete(srConvexPair* pair, srSimplex* s) {
  drop_flat(pair, s);
  if (s->n == 1 && !add_second(pair, s)) return;
  if (s->n == 2 && !add_third(pair, s)) return;
  if (s->n == 3) (void)add_fourth(pair, s);
}

// ------------------------------------------------------------------------------------------------------------- polytope
static bool set_face(Polytope* p, int face, int i, int j, int k) {
  Face* f = &p->face[face];
  double e[3], g[3];
  *f = (Face){.corner = {i, j, k}, .seen = -1};
  srm_sub3(p->corner[j].w, p->corner[i].w, e);
  srm_sub3(p->corner[k].w, p->corner[i].w, g);
  srm_cross3(e, g, f->n);
  if (!(srm_unit3(f->n) > 0)) return false;
  f->d = fmax(srm_dot3(f->n, p->corner[i].w), fmax(srm_dot3(f->n, p->corner[j].w), srm_dot3(f->n, p->corner[k].w)));
  return true;
}

static bool begin(Polytope* p, const srSimplex* s) {
  static const int side[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  static const int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  double n[3], r[3];
  int order[4] = {0, 1, 2, 3};
  triangle_normal(s, n);
  srm_sub3(s->corner[3].w, s->corner[0].w, r);
  if (srm_dot3(n, r) > 0) order[1] = 2, order[2] = 1;  // the fourth is behind the first three
  for (int i = 0; i < 4; i++) {
    p->corner[i] = s->corner[order[i]];
    p->leaving_of[i] = -1;
  }
  p->ncorner = 4;
  for (int i = 0; i < 4; i++) {
    if (!set_face(p, p->nface++, side[i][0], side[i][1], side[i][2])) return false;
    for (int k = 0; k < 3; k++) p->face[i].beyond[k] = beyond[i][k];
  }
  return true;
}

static int nearest_face(const Polytope* p) {
  int best = -1;
  for (int i = 0; i < p->nface; i++)
    if (!p->face[i].gone && (best < 0 || p->face[i].d < p->face[best].d)) best = i;
  return best;
}

static bool sees(const Polytope* p, const Face* f, int corner) {
  return srm_dot3(f->n, p->corner[corner].w) > f->d + 1e-16 * p->pair->size;
}

static void find_visible(Polytope* p, int face, int corner) {
  p->nvisible = 0;
  p->face[face].seen = corner;
  p->visible[p->nvisible++] = face;
  for (int i = 0; i < p->nvisible; i++)
    for (int k = 0; k < 3; k++) {
      const int other = p->face[p->visible[i]].beyond[k];
      if (p->face[other].seen == corner || !sees(p, &p->face[other], corner)) continue;
      p->face[other].seen = corner;
      p->visible[p->nvisible++] = other;
    }
}

// The edges around the visible faces; false: they are not one cycle.
static bool find_horizon(Polytope* p, int corner) {
  p->nhorizon = 0;
  for (int i = 0; i < p->nvisible; i++)
    for (int k = 0; k < 3; k++) {
      const Face* f = &p->face[p->visible[i]];
      if (p->face[f->beyond[k]].seen == corner) continue;
      const Edge edge = {f->corner[k], f->corner[(k + 1) % 3], f->beyond[k]};
      if (p->leaving_of[edge.from] == corner) return false;
      p->leaving_of[edge.from] = corner;
      p->leaving[edge.from] = p->nhorizon;
      p->horizon[p->nhorizon++] = edge;
    }
  int length = 0, at = 0;
  do {
    if (p->leaving_of[p->horizon[at].to] != corner) return false;
    at = p->leaving[p->horizon[at].to];
    length++;
  } while (at != 0 && length <= p->nhorizon);
  return length == p->nhorizon;
}

// A closed surface has room; places of faces that are gone are used again.
static int take_place(Polytope* p) {
  for (int i = 0; p->nface == FACES_MOST && i < p->nface; i++)
    if (p->face[i].gone) return i;
  return p->nface++;
}

// Joins the corner to the horizon; new faces take the places of visible ones first. False: a new face has no area.
static bool join(Polytope* p, int corner) {
  for (int i = 0; i < p->nvisible; i++) p->face[p->visible[i]].gone = true;
  for (int i = 0; i < p->nhorizon; i++) {
    p->fresh[i] = i < p->nvisible ? p->visible[i] : take_place(p);
    if (!set_face(p, p->fresh[i], p->horizon[i].from, p->horizon[i].to, corner)) return false;
  }
  for (int i = 0; i < p->nhorizon; i++) {
    const Edge e = p->horizon[i];
    const int face = p->fresh[i], next = p->fresh[p->leaving[e.to]];
    p->face[face].beyond[0] = e.face;
    p->face[face].beyond[1] = next;
    p->face[next].beyond[2] = face;
    Face* f = &p->face[e.face];
    for (int k = 0; k < 3; k++)
      if (f->corner[k] == e.to && f->corner[(k + 1) % 3] == e.from) f->beyond[k] = face;
  }
  return true;
}

// Adds a corner beyond a face. False: no room, or rounding does not allow it.
static bool expand(Polytope* p, int face, const srCorner* w) {
  const int corner = p->ncorner;
  if (corner == CORNERS_MOST) return false;
  p->corner[corner] = *w;
  p->leaving_of[corner] = -1;
  find_visible(p, face, corner);
  if (!find_horizon(p, corner)) return false;
  p->ncorner++;
  return join(p, corner);
}

// -------------------------------------------------------------------------------------------------------------- answers
static void keep_face(const Polytope* p, const Face* f, srCoreNear* out) {
  out->simplex.n = 3;
  for (int k = 0; k < 3; k++) out->simplex.corner[k] = p->corner[f->corner[k]];
}

static bool is_corner_of(const Polytope* p, const Face* f, const srCorner* w) {
  for (int k = 0; k < 3; k++)
    if (memcmp(p->corner[f->corner[k]].w, w->w, sizeof w->w) == 0) return true;
  return false;
}

// Of the faces in the plane of the answer, the one where the point nearest to the origin is: a flat side of C is several triangles.
static void choose_face(const Polytope* p, double tolerance, srCoreNear* out) {
  const double limit = -out->gap + (TIE + tolerance) * p->pair->size;
  double target[3], v[3], least = INFINITY;
  srm_scale3(-out->gap, out->n, target);
  for (int i = 0; i < p->nface; i++) {
    const Face* f = &p->face[i];
    if (f->gone || f->d > limit || srm_dot3(f->n, out->n) < SAME_COSINE) continue;
    srSimplex s = {.n = 3};
    for (int k = 0; k < 3; k++) s.corner[k] = p->corner[f->corner[k]];
    const double miss = sr_simplex_reduce(&s, target, v);
    if (miss < least) least = miss, keep_face(p, f, out);
  }
}

// No other face is as near, in a direction that is not nearly the same. A face far from the answer was not refined and may hide a tie.
static bool is_unique(Polytope* p, const srCoreNear* out) {
  const double limit = -out->gap + TIE * p->pair->size;
  for (int i = 0; i < p->nface; i++) {
    const Face* f = &p->face[i];
    srCorner w;
    const double cosine = srm_dot3(f->n, out->n);
    if (f->gone || f->d > limit || cosine > TIE_COSINE) continue;
    if (cosine < FAR_COSINE || sr_pair_support(p->pair, f->n, &w) <= limit) return false;
  }
  return true;
}

// C is a point, a segment or a polygon: the direction normal to it, of the two the one nearer to the last normal.
static void flat_answer(srConvexPair* pair, srCoreNear* out) {
  const srSimplex* s = &out->simplex;
  double n[3] = {0, 0, 1}, e[3], u[3];
  if (s->n == 3) triangle_normal(s, n);
  if (s->n == 2) {
    srm_sub3(s->corner[1].w, s->corner[0].w, e);
    (void)srm_unit3(e);
    srm_tangents3(e, n, u);
  }
  if (srm_dot3(n, out->n) < 0) srm_scale3(-1, n, n);
  srCorner w;
  srm_set3(out->n, n);
  out->gap = -sr_pair_support(pair, n, &w);
  out->low = out->gap;
  out->high = out->gap + FLAT * pair->size;
  out->unique = false;
}

void sr_epa(srConvexPair* pair, double tolerance, srCoreNear* out) {
  Polytope p;
  p.pair = pair;
  p.nface = 0;
  complete(pair, &out->simplex);
  if (out->simplex.n < 4 || !begin(&p, &out->simplex)) {
    flat_answer(pair, out);
    return;
  }
  // An origin that is outside by the distance that GJK ended with is at most so far behind a face.
  const double slack = CONCAVE * pair->size + out->high;
  double last = -INFINITY;
  out->gap = -INFINITY;
  out->high = 0;
  for (int face = nearest_face(&p); face >= 0; face = nearest_face(&p)) {
    Face* f = &p.face[face];
    srCorner w;
    if (f->d < last - slack) break;
    last = f->d;
    const double h = sr_pair_support(pair, f->n, &w);
    out->iterations++;
    if (-h > out->gap) {
      out->gap = -h;
      srm_set3(out->n, f->n);
      keep_face(&p, f, out);
    }
    out->high = -f->d;
    if (h - f->d <= tolerance * pair->size && -out->gap - f->d <= tolerance * pair->size) break;
    if (is_corner_of(&p, f, &w) || !expand(&p, face, &w)) break;
  }
  out->low = out->gap;
  out->unique = is_unique(&p, out);
  choose_face(&p, tolerance, out);
}
