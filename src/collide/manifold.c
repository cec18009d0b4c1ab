// Contact points by clipping the features that face each other.
//
// With n the normal of the gap, each shape has a flat feature that faces it (shape.h): a point, an edge, a polygon; a circular face is taken as a regular
// polygon of corners fixed to the shape. Both are projected along n on a plane with the axes t, u. The overlap of two convex polygons in it is a polygon whose
// sides are parts of sides of the one or of the other: its corners are corners of a, corners of b, or crossings of two sides, and that is their
// identity (Sutherland and Hodgman 1974 for the clipping; features as ids: Moravanszky and Terdiman 2004).
//
// A point x of the plane is on both features, at heights along n: gap = height_b - height_a >= gap of the shapes, since a support function bounds all heights. Where
// the nearest points of the shapes are not among the points (a rim that is tilted, round shapes), they are added with an identity of their own.
#include "collide/manifold.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

#define RIM 8                          // corners that stand for a circular face
#define ROOM (2 * SR_FLAT_MOST + 8)    // a side cuts off one corner and adds two
#define SAME 1e-9                      // of the size: equal gaps
#define SNAP 1e-3                      // of the size: corners that are one
#define PARALLEL 1e-3                  // sine of the angle of edges that overlap along a line
#define TOUCHING 1e-6                  // sine of the angle of features that the nearest points are on
enum { OF_FACE, OF_EDGE, OF_CORNER };  // kinds of features in ids; the lowest point of a rim is a corner

// A feature in the plane of the projection.
typedef struct Outline {
  int dimension, n;
  double x[SR_FLAT_MOST][2];    // corners, counterclockwise as seen against n
  double height[SR_FLAT_MOST];  // along n, of the core
  int corner[SR_FLAT_MOST];     // their ids
  int id;                       // of the feature
  double offset[3];             // from the core to the surface, where the feature is flat
  double corner_offset[3];      // to the farthest point along n of the ball about a corner: it stays with the corner
  double slope[2], level;       // of a face: height = level + slope.x
  srShapeKind kind;             // of its shape
} Outline;

typedef struct Pair {
  const srNearest* near;
  double n[3], t[3], u[3], size;
  Outline a, b;
} Pair;

// A corner of the overlap; `side`: the side of the overlap that begins here, of a (>= 0) or of b (~side); `before`: the one that ends here.
typedef struct Corner {
  double x[2];
  int side, before;
} Corner;

typedef struct Points {
  int n;
  srManifoldPoint point[ROOM];
} Points;

static uint32_t feature_code(int kind, uint32_t value) { return (uint32_t)kind << 30 | (value & 0x3fffffffu); }

static uint32_t edge_code(const Outline* o, int i) {
  const uint32_t p = (uint32_t)o->corner[i], q = (uint32_t)o->corner[(i + 1) % o->n];
  return feature_code(OF_EDGE, (p < q ? p : q) << 15 | ((p < q ? q : p) & 0x7fffu));
}

// The feature as a whole.
static uint32_t whole_code(const Outline* o) {
  if (o->dimension == 2) return feature_code(OF_FACE, (uint32_t)o->id);
  if (o->dimension == 1) return edge_code(o, 0);
  return feature_code(OF_CORNER, (uint32_t)o->corner[0]);
}

// ------------------------------------------------------------------------------------------------------------- outlines
// Corners of a circular face: fixed to the shape, so that they keep their ids.
static void rim_corners(srFlat* f) {
  for (int i = 0; i < RIM; i++) {
    const double angle = 2 * acos(-1.0) * i / RIM * (f->normal[2] < 0 ? -1 : 1);
    f->corner[i][0] = f->centre[0] + f->disc * cos(angle);
    f->corner[i][1] = f->centre[1] + f->disc * sin(angle);
    f->corner[i][2] = f->centre[2];
    f->corner_id[i] = RIM * (1 + f->id) + i;
  }
  f->n = RIM;
}

// n without its part along a unit vector e, as a unit vector.
static void without(const double n[3], const double e[3], double out[3]) {
  srm_add_scaled3(n, -srm_dot3(n, e), e, out);
  (void)srm_unit3(out);
}

// The face, edge or point of a shape that faces `out` (a unit vector in the axes of a); pose: of the shape in a, NULL for a itself.
static void find_outline(const Pair* p, const srConvex* shape, const double* pose, const double out[3], double sine,
                         Outline* o) {
  srFlat f;
  double own[3], world[SR_FLAT_MOST][3];
  memset(o, 0, sizeof *o);
  if (!sr_shape_bounded(shape->kind)) {  // a plane: level, since n is its normal, and without sides
    o->dimension = 2;
    o->level = pose != NULL ? srm_dot3(p->n, pose + 12) : 0;
    return;
  }
  for (int k = 0; k < 3; k++) own[k] = pose != NULL ? srm_dot3(pose + 4 * k, out) : out[k];
  sr_convex_flat(shape, own, sine, &f);
  if (f.n == 0) rim_corners(&f);
  o->kind = shape->kind;
  o->dimension = f.dimension;
  o->id = f.id;
  o->n = f.n;
  const bool turn = srm_dot3(out, p->n) < 0;  // counterclockwise from outside is clockwise from the other side
  for (int i = 0; i < f.n; i++) {
    const int k = turn ? f.n - 1 - i : i;
    srm_set3(world[i], f.corner[k]);
    if (pose != NULL) srm_pose_point(pose, f.corner[k], world[i]);
    o->corner[i] = f.corner_id[k];
    o->x[i][0] = srm_dot3(p->t, world[i]);
    o->x[i][1] = srm_dot3(p->u, world[i]);
    o->height[i] = srm_dot3(p->n, world[i]);
  }
  srm_scale3(shape->radius, out, o->corner_offset);
  srm_set3(o->offset, out);
  if (o->dimension == 1) {
    double e[3];
    srm_sub3(world[1], world[0], e);
    (void)srm_unit3(e);
    without(out, e, o->offset);
  }
  if (o->dimension == 2) {
    srm_set3(o->offset, f.normal);
    if (pose != NULL) srm_pose_rotate(pose, f.normal, o->offset);
    const double along = srm_dot3(o->offset, p->n);
    o->slope[0] = -srm_dot3(o->offset, p->t) / along;
    o->slope[1] = -srm_dot3(o->offset, p->u) / along;
    o->level = o->height[0] - o->slope[0] * o->x[0][0] - o->slope[1] * o->x[0][1];
  }
  srm_scale3(shape->radius, o->offset, o->offset);
}

// The point of the core that is at a place of the plane: x, which moves onto an edge, and its height.
static double height_at(const Outline* o, double x[2]) {
  if (o->dimension == 2) return o->level + o->slope[0] * x[0] + o->slope[1] * x[1];
  if (o->dimension == 0) return o->height[0];
  const double e[2] = {o->x[1][0] - o->x[0][0], o->x[1][1] - o->x[0][1]}, square = e[0] * e[0] + e[1] * e[1];
  double s = square > 0 ? ((x[0] - o->x[0][0]) * e[0] + (x[1] - o->x[0][1]) * e[1]) / square : 0;
  s = fmin(fmax(s, 0), 1);
  for (int k = 0; k < 2; k++) x[k] = o->x[0][k] + s * e[k];
  return o->height[0] + s * (o->height[1] - o->height[0]);
}

// ------------------------------------------------------------------------------------------------------------- clipping
// Signed distance of x inside of side j of a polygon.
static double inside(const Outline* o, int j, const double x[2]) {
  const double *p = o->x[j], *q = o->x[(j + 1) % o->n], e[2] = {q[0] - p[0], q[1] - p[1]};
  const double length = hypot(e[0], e[1]);
  return length > 0 ? (e[0] * (x[1] - p[1]) - e[1] * (x[0] - p[0])) / length : HUGE_VAL;
}

static Corner crossing(const Corner* p, const Corner* q, double dp, double dq, int side) {
  const double s = dp / (dp - dq);
  return (Corner){{p->x[0] + s * (q->x[0] - p->x[0]), p->x[1] + s * (q->x[1] - p->x[1])}, side, 0};
}

// Cuts the polygon by side j of a.
static int cut(Corner* c, int n, const Outline* a, int j) {
  Corner out[ROOM];
  int m = 0;
  for (int i = 0; i < n && m + 2 < ROOM; i++) {
    const Corner *p = &c[i], *q = &c[(i + 1) % n];
    const double dp = inside(a, j, p->x), dq = inside(a, j, q->x);
    if (dp >= 0) out[m++] = *p;
    if ((dp >= 0) != (dq >= 0)) out[m++] = crossing(p, q, dp, dq, dp >= 0 ? j : p->side);
  }
  memcpy(c, out, (size_t)m * sizeof *c);
  return m;
}

// ------------------------------------------------------------------------------------------------------------- points
static void put_surface(const Pair* p, const Outline* o, const double place[2], int corner, double* out) {
  const double* offset = corner >= 0 ? o->corner_offset : o->offset;
  double x[2] = {place[0], place[1]};
  const double height = height_at(o, x);
  for (int k = 0; k < 3; k++) out[k] = x[0] * p->t[k] + x[1] * p->u[k] + height * p->n[k] + offset[k];
}

static void keep_point(Points* all, const srManifoldPoint* point) {
  for (int i = 0; i < all->n; i++) {
    if (all->point[i].id != point->id) continue;
    if (point->gap < all->point[i].gap) all->point[i] = *point;
    return;
  }
  if (all->n < ROOM) all->point[all->n++] = *point;
}

// The corner of an outline that is at x, -1: none. Where two corners nearly coincide the one of b gives its name, so that boxes of equal size on each other
// do not change theirs with every breath.
static int corner_at(const Pair* p, const Outline* o, const double x[2]) {
  for (int i = 0; i < o->n; i++) {
    if (hypot(x[0] - o->x[i][0], x[1] - o->x[i][1]) <= SNAP * p->size) return i;
  }
  return -1;
}

// A point of the overlap: the sides that cross there, -1: none, and what it is.
typedef struct Place {
  double x[2];
  int side_a, side_b;
  srPointOf of;
} Place;

static bool is_generator(const Outline* o, srShapeKind kind) { return o->dimension == 1 && o->kind == kind; }

// Direction of side i of an outline, of length 1.
static void direction_of(const Pair* p, const Outline* o, int i, double out[3]) {
  const int j = (i + 1) % o->n;
  const double x = o->x[j][0] - o->x[i][0], y = o->x[j][1] - o->x[i][1], z = o->height[j] - o->height[i];
  for (int k = 0; k < 3; k++) out[k] = x * p->t[k] + y * p->u[k] + z * p->n[k];
  (void)srm_unit3(out);
}

static void put_motion(const Pair* p, const Place* at, srManifoldPoint* out) {
  const bool cone = is_generator(&p->a, SR_KIND_CONE) || is_generator(&p->b, SR_KIND_CONE);
  out->of = cone ? SR_POINT_OF_OTHERS : at->of;
  out->rolls[0] = is_generator(&p->a, SR_KIND_CYLINDER);
  out->rolls[1] = is_generator(&p->b, SR_KIND_CYLINDER);
  if (out->of != SR_POINT_OF_CROSSING) return;
  direction_of(p, &p->a, at->side_a, out->edge[0]);
  direction_of(p, &p->b, at->side_b, out->edge[1]);
}

static void add_point(const Pair* p, const Place* at, Points* all) {
  srManifoldPoint point;
  double r[3];
  const double* x = at->x;
  const int side_a = at->side_a, side_b = at->side_b;
  const int corner_b = corner_at(p, &p->b, x), corner_a = corner_b < 0 ? corner_at(p, &p->a, x) : -1;
  uint32_t code_a = side_a >= 0 ? edge_code(&p->a, side_a) : whole_code(&p->a);
  uint32_t code_b = side_b >= 0 ? edge_code(&p->b, side_b) : whole_code(&p->b);
  if (corner_a >= 0 || corner_b >= 0) {
    code_a = corner_a >= 0 ? feature_code(OF_CORNER, (uint32_t)p->a.corner[corner_a]) : whole_code(&p->a);
    code_b = corner_b >= 0 ? feature_code(OF_CORNER, (uint32_t)p->b.corner[corner_b]) : whole_code(&p->b);
  }
  put_surface(p, &p->a, x, corner_a, point.point_a);
  put_surface(p, &p->b, x, corner_b, point.point_b);
  srm_sub3(point.point_b, point.point_a, r);
  point.gap = srm_dot3(p->n, r);
  point.id = (uint64_t)code_a << 32 | code_b;
  put_motion(p, at, &point);
  keep_point(all, &point);
}

// Corners that hardly stand out: sides that nearly coincide cross each other anywhere, and elsewhere with the next breath.
static int straighten(const Pair* p, Corner* c, int n) {
  for (int i = 0; i < n && n > 3;) {
    const double *before = c[(i + n - 1) % n].x, *after = c[(i + 1) % n].x;
    const double e[2] = {after[0] - before[0], after[1] - before[1]}, length = hypot(e[0], e[1]);
    const double out = fabs(e[0] * (c[i].x[1] - before[1]) - e[1] * (c[i].x[0] - before[0]));
    if (out > SNAP * p->size * length) {
      i++;
      continue;
    }
    memmove(c + i, c + i + 1, (size_t)(n - i - 1) * sizeof *c);
    n--;
    i = 0;
  }
  return n;
}

// Two faces; that of a may be a plane, without sides.
static void clip_faces(const Pair* p, Points* all) {
  Corner c[ROOM];
  int n = p->b.n;
  for (int i = 0; i < n; i++) c[i] = (Corner){{p->b.x[i][0], p->b.x[i][1]}, ~i, 0};
  for (int j = 0; j < p->a.n && n > 0; j++) n = cut(c, n, &p->a, j);
  for (int i = 0; i < n; i++) c[i].before = c[(i + n - 1) % n].side;
  n = straighten(p, c, n);
  for (int i = 0; i < n; i++) {
    const int before = c[i].before, after = c[i].side;
    const int side_a = before >= 0 ? before : after, side_b = before < 0 ? ~before : ~after;
    const bool crossed = (before >= 0) != (after >= 0);
    const Place at = {{c[i].x[0], c[i].x[1]},
                      crossed ? side_a : -1,
                      crossed ? side_b : -1,
                      crossed       ? SR_POINT_OF_CROSSING
                      : before >= 0 ? SR_POINT_OF_CORNER_A
                                    : SR_POINT_OF_CORNER_B};
    add_point(p, &at, all);
  }
}

static void along(const Outline* edge, double s, double x[2]) {
  for (int k = 0; k < 2; k++) x[k] = edge->x[0][k] + s * (edge->x[1][k] - edge->x[0][k]);
}

// An edge on a face: from s[0] to s[1] along the edge, where sides of the face may cut it.
static void clip_edge(const Pair* p, const Outline* face, const Outline* edge, Points* all) {
  double s[2] = {0, 1};
  int by[2] = {-1, -1};
  for (int j = 0; j < face->n; j++) {
    const double d0 = inside(face, j, edge->x[0]), d1 = inside(face, j, edge->x[1]);
    if (d0 < 0 && d1 < 0) return;
    if ((d0 < 0) == (d1 < 0)) continue;
    const double at = d0 / (d0 - d1);
    if (d0 < 0 && at > s[0]) s[0] = at, by[0] = j;
    if (d1 < 0 && at < s[1]) s[1] = at, by[1] = j;
  }
  const bool swapped = face == &p->b;
  for (int k = 0; k < 2 && s[0] <= s[1]; k++) {
    const int side = by[k] >= 0 ? 0 : -1;
    Place at = {.side_a = swapped ? side : by[k], .side_b = swapped ? by[k] : side, .of = SR_POINT_OF_CROSSING};
    if (side < 0) at.of = swapped ? SR_POINT_OF_CORNER_A : SR_POINT_OF_CORNER_B;
    along(edge, s[k], at.x);
    add_point(p, &at, all);
  }
}

// Two edges that are parallel: the ends of their overlap. Others cross at the nearest points.
static void overlap_edges(const Pair* p, Points* all) {
  const Outline *a = &p->a, *b = &p->b;
  const double e[2] = {a->x[1][0] - a->x[0][0], a->x[1][1] - a->x[0][1]};
  const double f[2] = {b->x[1][0] - b->x[0][0], b->x[1][1] - b->x[0][1]};
  const double square = e[0] * e[0] + e[1] * e[1], turn = e[0] * f[1] - e[1] * f[0];
  if (!(square > 0) || fabs(turn) > PARALLEL * sqrt(square) * hypot(f[0], f[1])) return;
  double s[2];
  for (int k = 0; k < 2; k++) s[k] = ((b->x[k][0] - a->x[0][0]) * e[0] + (b->x[k][1] - a->x[0][1]) * e[1]) / square;
  const int low = s[0] <= s[1] ? 0 : 1;
  const double from = fmax(s[low], 0), to = fmin(s[1 - low], 1);
  for (int k = 0; k < 2 && from <= to; k++) {
    Place at = {.side_a = 0, .side_b = 0, .of = SR_POINT_OF_OTHERS};
    along(a, k == 0 ? from : to, at.x);
    add_point(p, &at, all);
  }
}

// Seen along n.
static double apart(const Pair* p, const srManifoldPoint* x, const srManifoldPoint* y) {
  double r[3];
  srm_sub3(x->point_a, y->point_a, r);
  return hypot(srm_dot3(r, p->t), srm_dot3(r, p->u));
}

// The nearest points of the shapes, by the features that they are on.
static uint32_t nearest_code(const Pair* p, const srConvex* shape, const double* pose, const double out[3]) {
  Outline o;
  if (!sr_shape_bounded(shape->kind)) return feature_code(OF_FACE, 0);
  find_outline(p, shape, pose, out, TOUCHING, &o);
  return whole_code(&o);
}

static bool is_disc(const Outline* o, const srConvex* shape) {
  return o->dimension == 2 && (shape->kind == SR_KIND_CYLINDER || shape->kind == SR_KIND_CONE);
}

// Does a circular face touch with its rim? It rolls over the corners that stand for the face.
static bool is_tilted(const Pair* p, const Outline* wide, const srConvex* shape, const double* pose,
                      const double out[3]) {
  Outline o;
  if (!is_disc(wide, shape)) return false;
  find_outline(p, shape, pose, out, TOUCHING, &o);
  return o.dimension == 0;
}

// Corners of a circular face next to a point of its rim, which takes their place; shift: of its code in the ids.
static void drop_corners(const Pair* p, const Outline* o, int shift, const double rim[3], Points* all) {
  const double half = 0.5 * hypot(o->x[1][0] - o->x[0][0], o->x[1][1] - o->x[0][1]);
  const srManifoldPoint at = {.point_a = {rim[0], rim[1], rim[2]}};
  int kept = 0;
  for (int i = 0; i < all->n; i++) {
    const bool corner = (uint32_t)(all->point[i].id >> shift) >> 30 == OF_CORNER;
    if (!corner || apart(p, &at, &all->point[i]) > half) all->point[kept++] = all->point[i];
  }
  all->n = kept;
}

static void add_nearest(const Pair* p, const srConvex* a, const srConvex* b, const double* pose, Points* all) {
  double least = INFINITY;
  const double back[3] = {-p->n[0], -p->n[1], -p->n[2]};
  const bool rim_a = is_tilted(p, &p->a, a, NULL, p->n), rim_b = is_tilted(p, &p->b, b, pose, back);
  if (rim_a) drop_corners(p, &p->a, 32, p->near->point_a, all);
  if (rim_b) drop_corners(p, &p->b, 0, p->near->point_a, all);
  for (int i = 0; i < all->n; i++) least = fmin(least, all->point[i].gap);
  if (!rim_a && !rim_b && least <= p->near->gap + SAME * p->size) return;
  // A circular face that is flat on the other is its corners: where its rim is lowest is noise.
  const bool flat = (is_disc(&p->a, a) && !rim_a) || (is_disc(&p->b, b) && !rim_b);
  if (flat && least <= p->near->gap + 2 * TOUCHING * p->size) return;
  srManifoldPoint point = {.gap = p->near->gap, .of = SR_POINT_OF_NEAREST};
  srm_set3(point.point_a, p->near->point_a);
  srm_set3(point.point_b, p->near->point_b);
  point.id = (uint64_t)nearest_code(p, a, NULL, p->n) << 32 | nearest_code(p, b, pose, back);
  keep_point(all, &point);
}

// ------------------------------------------------------------------------------------------------------------ selection
// The smallest gap first, then those that are farthest from the ones before.
static void choose(const Pair* p, Points* all, int most) {
  for (int k = 0; k < most && k < all->n; k++) {
    int best = k;
    double far = -1;
    for (int i = k; i < all->n; i++) {
      double d = INFINITY;
      for (int j = 0; j < k; j++) d = fmin(d, apart(p, &all->point[i], &all->point[j]));
      if (k == 0) d = -all->point[i].gap, far = i == 0 ? -HUGE_VAL : far;
      if (d > far) far = d, best = i;
    }
    const srManifoldPoint swap = all->point[k];
    all->point[k] = all->point[best];
    all->point[best] = swap;
  }
  all->n = all->n < most ? all->n : most;
}

static void sort_ids(srManifold* m) {
  for (int i = 2; i < m->count; i++) {
    const srManifoldPoint x = m->point[i];
    int k = i;
    for (; k > 1 && m->point[k - 1].id > x.id; k--) m->point[k] = m->point[k - 1];
    m->point[k] = x;
  }
}

void sr_shape_manifold(const srConvex* a, const srConvex* b, const double pose[16], const srNearest* near,
                       double margin, int most, srManifold* out) {
  Pair p;  // large, and written below
  Points all;
  p.near = near;
  all.n = 0;
  memset(out, 0, sizeof *out);
  if (near->state != SR_NEAREST_FOUND || !(near->gap <= margin)) return;
  srm_set3(p.n, near->n);
  srm_set3(out->n, near->n);
  srm_tangents3(p.n, p.t, p.u);
  const double back[3] = {-p.n[0], -p.n[1], -p.n[2]}, reach_a = sr_convex_reach(a), reach_b = sr_convex_reach(b);
  p.size = fmin(reach_a, reach_b);
  find_outline(&p, a, NULL, p.n, SR_MANIFOLD_SINE, &p.a);
  find_outline(&p, b, pose, back, SR_MANIFOLD_SINE, &p.b);
  const int da = p.a.dimension, db = p.b.dimension;
  if (da == 2 && db == 2) clip_faces(&p, &all);
  if (da == 2 && db == 1) clip_edge(&p, &p.a, &p.b, &all);
  if (da == 1 && db == 2) clip_edge(&p, &p.b, &p.a, &all);
  if (da == 1 && db == 1) overlap_edges(&p, &all);
  add_nearest(&p, a, b, pose, &all);
  int kept = 0;
  for (int i = 0; i < all.n; i++) {
    if (all.point[i].gap <= margin) all.point[kept++] = all.point[i];
  }
  all.n = kept;
  choose(&p, &all, most < SR_MANIFOLD_MOST ? most : SR_MANIFOLD_MOST);
  out->count = all.n;
  memcpy(out->point, all.point, (size_t)all.n * sizeof *all.point);
  sort_ids(out);
}
