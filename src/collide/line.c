// The depth along the core of a capsule.
//
// The deepest point is where the slope d'(s) = -+n.u changes its sign: regula falsi on the slope, as the depth is concave. An end of the interval d > 0 is
// found by Newton's iteration from the end of the core: a tangent of a concave function is above it, so that every iterate stays beyond the
// root and comes nearer.
//
// Rules of Gauss between the ends, cut where the nearest feature of the other shape changes: at the planes of the faces of a box, at the ends of a
// capsule, at the ends and the side of a cylinder. There the depth has a jump in its second derivative. On hulls and cones the changes are searched for:
// what is nearest to a face, an edge or a corner of a polytope is convex, so that each has one interval of the line.
#include "collide/line.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

#define NODES 8
#define MOST_CUTS (SR_LINE_POINTS / NODES - 1)
#define HALVINGS 24  // of the interval, to the end of a feature: a cut that is off by e changes the sums by e^2
#define ITERATIONS 100

// Gauss-Legendre on [-1, 1], the positive half.
static const double node[NODES / 2] = {0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363};
static const double gauss[NODES / 2] = {0.362683783378362, 0.31370664587788727, 0.22238103445337448,
                                        0.10122853629037626};

bool sr_line_faces(srShapeKind kind) {
  return kind == SR_KIND_BOX || kind == SR_KIND_HULL || kind == SR_KIND_CAPSULE || kind == SR_KIND_CYLINDER ||
         kind == SR_KIND_CONE;
}

typedef struct Pair {
  const srConvex* shape[2];
  const double* pose;
  srLine* out;
  double warm[3];
} Pair;

// ---- one ball -----------------------------------------------------------------------------------------------------------

static void find_point(Pair* p, double s, srLinePoint* at) {
  const srLine* line = p->out;
  const int which = line->which;
  const srConvex ball = sr_convex_sphere(p->shape[which]->radius);
  double pose[16];
  memcpy(pose, p->pose, sizeof pose);
  srm_add_scaled3(pose + 12, which == 1 ? s : -s, line->axis, pose + 12);
  sr_shape_distance(which == 0 ? &ball : p->shape[0], which == 1 ? &ball : p->shape[1], pose, p->warm, SR_DISTANCE_SURE,
                    &at->near);
  at->s = s;
  at->depth = -at->near.gap;
  at->weight = 0;
  for (int i = 0; i < 3; i++) at->arm[i] = 0.5 * (at->near.point_a[i] + at->near.point_b[i]) - at->near.x[i];
  if (which == 1) srm_add_scaled3(at->arm, s, line->axis, at->arm);
}

// d'(s)
static double slope(const srLine* line, const srLinePoint* at) {
  return (line->which == 1 ? -1 : 1) * srm_dot3(at->near.n, line->axis);
}

// ---- interval -----------------------------------------------------------------------------------------------------------

static void find_deepest(Pair* p, double length, srLinePoint* at) {
  srLinePoint low, high;
  find_point(p, -length, &low);
  find_point(p, length, &high);
  double g[2] = {slope(p->out, &low), slope(p->out, &high)}, s[2] = {-length, length};
  const bool at_low = !(g[0] > 0), at_high = !at_low && !(g[1] < 0);
  *at = at_low ? low : high;
  if (at_low || at_high) return;
  int last = -1;
  for (int k = 0; k < ITERATIONS; k++) {
    find_point(p, s[0] - g[0] * (s[1] - s[0]) / (g[1] - g[0]), at);
    const double here = slope(p->out, at);
    const int side = here > 0 ? 0 : 1;
    if (fabs(here) * (s[1] - s[0]) <= 1e-16 * length || !(s[1] - s[0] > 1e-15 * length)) return;
    s[side] = at->s;
    g[side] = here;
    if (side == last) g[1 - side] *= 0.5;  // the other end has stayed
    last = side;
  }
}

// From the deepest point to one side. Returns the end of the interval, and keeps the point where the depth is 0 there.
static double find_end(Pair* p, double from, double to) {
  srLinePoint at;
  find_point(p, to, &at);
  if (at.depth >= 0) return to;
  for (int k = 0; k < ITERATIONS; k++) {
    const double next = at.s - at.depth / slope(p->out, &at);
    const bool inside = to > from ? next > from && next < at.s : next < from && next > at.s;
    if (!inside || at.depth >= 0) break;
    find_point(p, next, &at);
  }
  at.weight = 1 / fabs(slope(p->out, &at));
  if (isfinite(at.weight)) p->out->end[p->out->nend++] = at;
  return at.s;
}

// ---- cuts ---------------------------------------------------------------------------------------------------------------

static void put_cut(double* cut, int* n, double low, double high, double s) {
  if (!(s > low && s < high) || *n == MOST_CUTS) return;
  int i = (*n)++;
  for (; i > 0 && cut[i - 1] > s; i--) cut[i] = cut[i - 1];
  cut[i] = s;
}

// Where the centre x + s u is as far from the axis as the side of a cylinder.
static void put_side(double* cut, int* n, double low, double high, const double* x, const double* u, double r) {
  const double A = u[0] * u[0] + u[1] * u[1], B = x[0] * u[0] + x[1] * u[1], C = x[0] * x[0] + x[1] * x[1] - r * r;
  const double root = B * B - A * C;
  if (!(root > 0) || !(A > 0)) return;
  put_cut(cut, n, low, high, (-B - sqrt(root)) / A);
  put_cut(cut, n, low, high, (-B + sqrt(root)) / A);
}

// The line x + s u in the frame of the other shape.
static void line_in_shape(const Pair* p, double x[3], double u[3]) {
  const double* pose = p->pose;
  if (p->out->which == 1) {
    srm_set3(x, pose + 12);
    srm_set3(u, pose + 8);
    return;
  }
  for (int k = 0; k < 3; k++) {
    x[k] = -srm_dot3(pose + 4 * k, pose + 12);
    u[k] = pose[4 * k + 2];
  }
}

// Are two points of the line nearest to the same feature?
static bool is_same(const Pair* p, const srLinePoint* one, const srLinePoint* two) {
  const srLinePoint* at[2] = {one, two};
  const srActive* active[2];
  double x[2][3], apart[3], along[3] = {0};
  for (int i = 0; i < 2; i++) {
    const srNearest* near = &at[i]->near;
    const bool is_a = p->out->which == 1;
    active[i] = is_a ? &near->a : &near->b;
    srm_set3(x[i], is_a ? near->point_a : near->point_b);
    if (!is_a) srm_add_scaled3(x[i], at[i]->s, p->out->axis, x[i]);
  }
  if (active[0]->dimension != active[1]->dimension) return false;
  if (p->shape[1 - p->out->which]->kind == SR_KIND_CONE)
    return (srm_norm3(active[0]->hessian) > 0) == (srm_norm3(active[1]->hessian) > 0);
  srm_sub3(x[1], x[0], apart);
  if (active[0]->dimension == 2) return fabs(srm_dot3(apart, one->near.n)) <= 1e-9 * srm_norm3(apart);
  if (active[0]->dimension == 1) srm_cross3(apart, active[0]->edge[0], along);
  return srm_norm3(active[0]->dimension == 1 ? along : apart) <= 1e-9 * sr_convex_reach(p->shape[1 - p->out->which]);
}

// Where the feature that is nearest at `from` ends before `to`.
static double end_of_feature(Pair* p, const srLinePoint* from, double to, srLinePoint* after) {
  double inside = from->s, outside = to;
  for (int k = 0; k < HALVINGS; k++) {
    srLinePoint at;
    find_point(p, 0.5 * (inside + outside), &at);
    const bool same = is_same(p, from, &at);
    *(same ? &inside : &outside) = at.s;
    if (!same) *after = at;
  }
  return 0.5 * (inside + outside);
}

static int search_cuts(Pair* p, double low, double high, double cut[MOST_CUTS]) {
  srLinePoint at, last;
  int n = 0;
  find_point(p, low, &at);
  find_point(p, high, &last);
  while (n < MOST_CUTS && !is_same(p, &at, &last)) {
    srLinePoint after = last;
    put_cut(cut, &n, low, high, end_of_feature(p, &at, high, &after));
    if (!(after.s > at.s) || after.s == high) break;
    at = after;
  }
  return n;
}

static int find_cuts(Pair* p, double low, double high, double cut[MOST_CUTS]) {
  const srConvex* other = p->shape[1 - p->out->which];
  double x[3], u[3];
  int n = 0;
  line_in_shape(p, x, u);
  const bool box = other->kind == SR_KIND_BOX;
  if (!box && other->kind != SR_KIND_CAPSULE && other->kind != SR_KIND_CYLINDER) return search_cuts(p, low, high, cut);
  for (int k = box ? 0 : 2; k < 3; k++) {
    for (int side = -1; side <= 1; side += 2) put_cut(cut, &n, low, high, (side * other->size[k] - x[k]) / u[k]);
  }
  if (other->kind == SR_KIND_CYLINDER) put_side(cut, &n, low, high, x, u, other->size[0]);
  return n;
}

// ---- line ---------------------------------------------------------------------------------------------------------------

static void put_part(Pair* p, double low, double high) {
  const double half = 0.5 * (high - low);
  for (int i = 0; i < NODES && half > 0; i++) {
    srLinePoint* at = &p->out->point[p->out->n];
    find_point(p, low + half * (1 + (i % 2 == 0 ? node[i / 2] : -node[i / 2])), at);
    at->weight = half * gauss[i / 2];
    if (at->depth > 0) p->out->n++;
  }
}

void sr_line_find(const srConvex* a, const srConvex* b, int which, const double pose[16], srLine* out) {
  Pair p = {.shape = {a, b}, .pose = pose, .out = out};
  const double length = p.shape[which]->size[2];
  const double z[3] = {0, 0, 1};
  double cut[MOST_CUTS];
  out->which = which;
  out->n = out->nend = 0;
  srm_set3(out->axis, which == 1 ? pose + 8 : z);
  find_deepest(&p, length, &out->deepest);
  if (!(out->deepest.depth > 0)) return;
  const double low = find_end(&p, out->deepest.s, -length), high = find_end(&p, out->deepest.s, length);
  const int n = find_cuts(&p, low, high, cut);
  for (int i = 0; i <= n; i++) put_part(&p, i == 0 ? low : cut[i - 1], i == n ? high : cut[i]);
}

void sr_line_change(const srLine* line, const srLinePoint* at, const srNearestDerivative* by, const double twist[6],
                    srLineChange* out) {
  double move[6] = {0}, arm[3], dragged[3];
  memcpy(move, twist, sizeof move);
  if (line->which == 1) {  // the ball's centre, its rotation does nothing
    srm_scale3(at->s, line->axis, arm);
    srm_cross3(twist, arm, dragged);
    for (int i = 0; i < 3; i++) {
      move[i] = 0;
      move[3 + i] += dragged[i];
    }
  }
  out->depth = 0;
  for (int j = 0; j < 6; j++) out->depth -= by->gap[j] * move[j];
  for (int i = 0; i < 3; i++) {
    out->n[i] = 0;
    out->arm[i] = -twist[3 + i];
    for (int j = 0; j < 6; j++) {
      out->n[i] += by->n[i][j] * move[j];
      out->arm[i] += 0.5 * (by->point_a[i][j] + by->point_b[i][j]) * move[j];
    }
  }
}
