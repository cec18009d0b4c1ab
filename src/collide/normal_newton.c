// Newton's iteration on the normal: from the direction that GJK or EPA found to a minimum of h(n) = max n.w over C = {a - b} within rounding.
//
// On the stratum where the same features are active, h is smooth. With corners w_i(n), n.w_i = h for all of them, the Lagrange function on
// the unit sphere has the stationarity condition and the second derivative
//   sum_i l_i w_i(n) = h n,  l_i >= 0, sum_i l_i = 1,         T^T (sum_i l_i H_i - h 1) T
// and the constraints n.e = 0 for every difference e of corners of a, and of corners of b. T are the tangents that the constraints leave.
// The first condition says as well that points of a and of b with these weights are at distance -h along n: it gives the nearest
// points, and with n.w <= h for all of C it proves the answer where the sets are apart. The matrix is regular at gap = 0 wherever
// curvature or constraints determine n: unlike the distance, which GJK minimises, h is smooth there.
//
// A corner beyond the stratum joins it, corners without weight leave it (active sets); circular faces are tried as faces, since their rim has no
// tangent direction at their normal. Every direction gives a valid bound, so that the least h decides between all candidates.
#include <math.h>
#include <string.h>

#include "collide/distance.h"
#include "collide/gjk.h"
#include "math/vector3.h"

#define ROUNDS_MOST 10
#define STEPS_MOST 25
#define STEP_LONGEST 0.3     // rad: beyond, the start was not near enough
#define STEP_SHORTEST 1e-15  // rad: converged
#define CAP_SINE 1e-4        // a circular face is tried within this angle
#define PARALLEL 1e-12       // sine of the angle of two edges that count as one
#define SAME 2e-15           // of the size: two values of h, or of lengths
#define PROVEN 1e-13         // of the size: the nearest points agree with the normal

// ------------------------------------------------------------------------------------------------------------- geometry
static void turn_to_a(const srConvexPair* p, const double H[9], double out[9]) {
  srm_pose_rotate_tensor(p->pose, H, out);
}

static int feature_of(const srCorner* c, bool of_b) { return of_b ? c->feature_b : c->feature_a; }

// Of one shape, in its axes. Corners of one feature have one Hessian.
static void hessian_of_one(const srConvex* shape, const srSimplex* s, bool of_b, const double n[3], double out[9]) {
  double H[9];
  memset(out, 0, 9 * sizeof *out);
  for (int i = 0; i < s->n; i++) {
    const int feature = feature_of(&s->corner[i], of_b);
    double weight = 0;
    bool first = true;
    for (int k = 0; k < s->n; k++) {
      if (feature_of(&s->corner[k], of_b) != feature) continue;
      weight += s->weight[k];
      first &= k >= i;
    }
    if (!first) continue;
    sr_convex_feature_hessian(shape, feature, n, H);
    for (int k = 0; k < 9; k++) out[k] += weight * H[k];
  }
}

static void hessian_of(const srConvexPair* p, const srSimplex* s, const double n[3], double Ha[9], double Hb[9]) {
  double m[3], H[9];
  for (int k = 0; k < 3; k++) m[k] = -srm_dot3(p->pose + 4 * k, n);
  hessian_of_one(p->a, s, false, n, Ha);
  hessian_of_one(p->b, s, true, m, H);
  turn_to_a(p, H, Hb);
}

// One corner for each pair of features: after that they are different points.
static void merge_features(srSimplex* s) {
  int kept = 0;
  for (int i = 0; i < s->n; i++) {
    int same = 0;
    while (same < kept &&
           (s->corner[same].feature_a != s->corner[i].feature_a || s->corner[same].feature_b != s->corner[i].feature_b))
      same++;
    s->weight[same] = same < kept ? s->weight[same] + s->weight[i] : s->weight[i];
    if (same == kept) s->corner[kept++] = s->corner[i];
  }
  s->n = kept;
}

// Weights of the corners at n, where all of them have one.
static void weigh_all(srSimplex* s, const double n[3], double h) {
  double target[3], v[3];
  srSimplex all = *s;
  srm_scale3(h, n, target);
  (void)sr_simplex_reduce(&all, target, v);
  if (all.n == s->n) *s = all;
}

static void corners_at(const srConvexPair* p, const double n[3], srSimplex* s) {
  for (int i = 0; i < s->n; i++) sr_pair_corner_at(p, n, &s->corner[i]);
}

// Adds an edge to at most two that span what the edges span: the longest first.
typedef struct Span {
  int n;
  double edge[2][3];
} Span;

static bool is_independent(const double e[3], const double f[3]) {
  double N[3];
  srm_cross3(e, f, N);
  return srm_norm3(N) > PARALLEL * srm_norm3(e) * srm_norm3(f);
}

static void span_edges(double edge[][3], int n, Span* span) {
  int first = -1;
  double most = 0, N[3];
  for (int i = 0; i < n; i++)
    if (srm_norm3(edge[i]) > most) most = srm_norm3(edge[i]), first = i;
  span->n = 0;
  if (first < 0) return;
  srm_set3(span->edge[span->n++], edge[first]);
  int second = -1;
  most = 0;
  for (int i = 0; i < n; i++) {
    srm_cross3(span->edge[0], edge[i], N);
    if (srm_norm3(N) > most && is_independent(span->edge[0], edge[i])) most = srm_norm3(N), second = i;
  }
  if (second >= 0) srm_set3(span->edge[span->n++], edge[second]);
}

// Differences of the corners of one shape that belong to different features.
static int edges_of(const srSimplex* s, bool of_b, double edge[][3]) {
  int n = 0;
  for (int i = 1; i < s->n; i++) {
    const srCorner *c = &s->corner[i], *first = &s->corner[0];
    if (feature_of(c, of_b) == feature_of(first, of_b)) continue;
    srm_sub3(of_b ? c->b : c->a, of_b ? first->b : first->a, edge[n++]);
  }
  return n;
}

// -------------------------------------------------------------------------------------------------------------- iteration
typedef struct Linear {  // two equations for the step in the tangents
  double row[2][2], right[2];
} Linear;

static bool solve(const Linear* l, double y[2]) {
  const double det = l->row[0][0] * l->row[1][1] - l->row[0][1] * l->row[1][0];
  if (det == 0) return false;
  y[0] = (l->right[0] * l->row[1][1] - l->right[1] * l->row[0][1]) / det;
  y[1] = (l->row[0][0] * l->right[1] - l->row[1][0] * l->right[0]) / det;
  return isfinite(y[0]) && isfinite(y[1]);
}

static void equation(const double left[3], double right, double T[2][3], int i, Linear* l) {
  for (int k = 0; k < 2; k++) l->row[i][k] = srm_dot3(left, T[k]);
  l->right[i] = right;
}

// The stationarity along tau, in the tangents: tau.(w + (H - h) step) = 0; curvature: tau.(H - h) tau.
static double stationarity(const double H[9], double h, const double w[3], const double tau[3], double T[2][3], int i,
                           Linear* l) {
  double Htau[3];
  srm_mul3(H, tau, Htau);
  srm_add_scaled3(Htau, -h, tau, Htau);
  equation(Htau, -srm_dot3(tau, w), T, i, l);
  return srm_dot3(Htau, tau);
}

// One step on the stratum; n changes. Returns its length; < 0: no minimum is near.
static double step(const srConvexPair* p, srSimplex* s, double n[3]) {
  double edge[6][3], H[9], Hb[9], T[2][3], tau[3], y[2];
  Span span;
  Linear l;
  corners_at(p, n, s);
  const int n_a = edges_of(s, false, edge);
  span_edges(edge, n_a + edges_of(s, true, edge + n_a), &span);
  srm_tangents3(n, T[0], T[1]);
  const double* w = s->corner[0].w;
  const double h = srm_dot3(n, w);
  if (span.n == 1) weigh_all(s, n, h);
  if (span.n < 2) hessian_of(p, s, n, H, Hb);
  for (int k = 0; k < 9 && span.n < 2; k++) H[k] += Hb[k];
  for (int i = 0; i < span.n; i++) equation(span.edge[i], -srm_dot3(span.edge[i], n), T, i, &l);
  if (span.n == 1) {
    srm_cross3(n, span.edge[0], tau);
    (void)srm_unit3(tau);
    if (!(stationarity(H, h, w, tau, T, 1, &l) > 0)) return -1;
  }
  if (span.n == 0) {
    const double first = stationarity(H, h, w, T[0], T, 0, &l);
    (void)stationarity(H, h, w, T[1], T, 1, &l);
    if (!(first > 0 && l.row[0][0] * l.row[1][1] > l.row[0][1] * l.row[1][0])) return -1;
  }
  if (!solve(&l, y)) return -1;
  for (int k = 0; k < 3; k++) n[k] += y[0] * T[0][k] + y[1] * T[1][k];
  (void)srm_unit3(n);
  return hypot(y[0], y[1]);
}

// The minimum of h on the stratum of the corners' features.
static bool iterate(const srConvexPair* p, srSimplex* s, double n[3], int* iterations) {
  double last = INFINITY;
  merge_features(s);
  for (int i = 0; i < STEPS_MOST; i++) {
    const double length = step(p, s, n);
    ++*iterations;
    if (!(length >= 0 && length <= STEP_LONGEST)) return false;
    if (length <= STEP_SHORTEST || (length < 1e-9 && length >= 0.5 * last)) break;
    if (i > 5 && length >= last) return false;
    last = length;
  }
  corners_at(p, n, s);
  return true;
}

// ----------------------------------------------------------------------------------------------------------- candidates
typedef struct Candidate {
  double n[3], h;     // h = max n.w over C
  double miss;        // |sum l_i w_i - h n|: how far the nearest points are from what n says
  double noise;       // rounding in n, as a multiple of that of one product
  srSimplex simplex;  // with weights
  double a[3], b[3];  // the points
  bool cap_a, cap_b;  // the feature is a circular face
} Candidate;

// Both circular faces of a cylinder and that of a cone are at this distance from the origin. A point that rounding alone takes off the plane is in it.
static double distance_to_disc(const srConvexPair* p, const srConvex* s, const double x[3]) {
  const double off = fabs(fabs(x[2]) - s->size[2]);
  return hypot(fmax(0, hypot(x[0], x[1]) - s->size[0]), off > SAME * p->size ? off : 0);
}

// On a circular face, the point that faces the other shape's point.
static void slide_on_caps(const srConvexPair* p, Candidate* c) {
  double moved[3], own[3], r[3];
  if (c->cap_a) {
    srm_add_scaled3(c->b, c->h, c->n, moved);
    const double miss = distance_to_disc(p, p->a, moved);
    if (miss < c->miss) srm_set3(c->a, moved), c->miss = miss;
  }
  if (c->cap_b && c->miss > 0) {
    srm_add_scaled3(c->a, -c->h, c->n, moved);
    srm_sub3(moved, p->pose + 12, r);
    for (int k = 0; k < 3; k++) own[k] = srm_dot3(p->pose + 4 * k, r);
    const double miss = distance_to_disc(p, p->b, own);
    if (miss < c->miss) srm_set3(c->b, moved), c->miss = miss;
  }
}

// Points of the two shapes: those of the simplex nearest to h n.
static void weigh(const srConvexPair* p, Candidate* c) {
  double target[3], v[3];
  srm_scale3(c->h, c->n, target);
  c->miss = sqrt(sr_simplex_reduce(&c->simplex, target, v));
  sr_simplex_points(&c->simplex, c->a, c->b);
  slide_on_caps(p, c);
}

static bool has_features(const srSimplex* s, const srCorner* c) {
  for (int i = 0; i < s->n; i++)
    if (s->corner[i].feature_a == c->feature_a && s->corner[i].feature_b == c->feature_b) return true;
  return false;
}

// Better: less h; equal within rounding: nearest points that agree with it; these equal too: less rounding in the normal.
static void offer(const srConvexPair* p, const Candidate* c, Candidate* best) {
  const double same = SAME * p->size;
  const bool equal = c->h <= best->h + same && c->miss <= best->miss + same;
  if (c->h < best->h - same || (equal && (c->noise <= best->noise || c->miss < best->miss - same))) *best = *c;
}

// A normal of two edges has the rounding of their cross product.
static double noise_of(const srSimplex* s) {
  double edge[6][3], N[3];
  Span span;
  const int n_a = edges_of(s, false, edge);
  span_edges(edge, n_a + edges_of(s, true, edge + n_a), &span);
  if (span.n < 2) return 1;
  srm_cross3(span.edge[0], span.edge[1], N);
  return srm_norm3(span.edge[0]) * srm_norm3(span.edge[1]) / srm_norm3(N);
}

// A corner that exceeds the stratum joins it; of sets that are apart, corners that the nearest point does not need then leave it, as in
// GJK. False: the set stays as it was, or there is no such rule.
static bool take_in(const srConvexPair* p, bool apart, const srCorner* beyond, Candidate* c) {
  double v[3];
  if (!apart || c->simplex.n == 4) return false;
  c->simplex.corner[c->simplex.n++] = *beyond;
  const double length = sqrt(sr_simplex_reduce(&c->simplex, (double[3]){0}, v));
  if (!(length > SAME * p->size) || !has_features(&c->simplex, beyond)) return false;
  srm_scale3(-1 / length, v, c->n);
  return true;
}

// Active sets, from the corners that GJK or EPA ended with.
static void search(srConvexPair* p, const srCoreNear* near, Candidate* best, int* iterations) {
  Candidate c = {.simplex = near->simplex};
  srm_set3(c.n, near->n);
  for (int i = 0; i < c.simplex.n; i++) c.simplex.weight[i] = 1.0 / c.simplex.n;
  weigh_all(&c.simplex, c.n, -near->gap);
  for (int round = 0; round < ROUNDS_MOST; round++) {
    srCorner beyond;
    if (!iterate(p, &c.simplex, c.n, iterations)) return;
    c.h = sr_pair_support(p, c.n, &beyond);
    if (c.h > srm_dot3(c.n, c.simplex.corner[0].w) + SAME * p->size && !has_features(&c.simplex, &beyond)) {
      if (!take_in(p, near->apart, &beyond, &c)) return;
      continue;
    }
    const int before = c.simplex.n;
    c.noise = noise_of(&c.simplex);
    weigh(p, &c);
    offer(p, &c, best);
    if (c.simplex.n == before || c.miss <= SAME * p->size) return;
  }
}

// The normal of a circular face as a candidate: its points stay where they are on it, those of the other shape move with n.
static void try_cap(srConvexPair* p, const srCoreNear* near, bool of_b, Candidate* best) {
  Candidate c = {.simplex = near->simplex, .cap_a = !of_b, .cap_b = of_b};
  double m[3], cap[3], other[3];
  for (int k = 0; k < 3; k++) m[k] = of_b ? -srm_dot3(p->pose + 4 * k, near->n) : near->n[k];
  if (!sr_convex_cap(of_b ? p->b : p->a, m, CAP_SINE, cap)) return;
  if (of_b) srm_pose_rotate(p->pose, (double[]){-cap[0], -cap[1], -cap[2]}, c.n);
  if (!of_b) srm_set3(c.n, cap);
  srCorner w;
  c.h = sr_pair_support(p, c.n, &w);
  for (int k = 0; k < 3; k++) m[k] = of_b ? c.n[k] : -srm_dot3(p->pose + 4 * k, c.n);
  const bool both = sr_convex_cap(of_b ? p->a : p->b, m, 1e-14, other);
  for (int i = 0; i < c.simplex.n && !both; i++) {
    srCorner moved = c.simplex.corner[i];
    sr_pair_corner_at(p, c.n, &moved);
    srCorner* kept = &c.simplex.corner[i];
    if (of_b) srm_set3(kept->a, moved.a);
    if (!of_b) srm_set3(kept->b, moved.b);
    srm_sub3(kept->a, kept->b, kept->w);
  }
  c.cap_a |= both, c.cap_b |= both;
  weigh(p, &c);
  offer(p, &c, best);
}

// -------------------------------------------------------------------------------------------------------------- answers
static void set_active(const srConvexPair* p, const Candidate* c, bool of_b, srActive* out) {
  double edge[3][3];
  Span span;
  if (of_b ? c->cap_b : c->cap_a) {
    out->dimension = 2;
    srm_tangents3(c->n, out->edge[0], out->edge[1]);
    memset(out->hessian, 0, sizeof out->hessian);
    return;
  }
  span_edges(edge, edges_of(&c->simplex, of_b, edge), &span);
  out->dimension = span.n;
  memcpy(out->edge, span.edge, sizeof out->edge);
  for (int i = 0; i < span.n; i++) (void)srm_unit3(out->edge[i]);
  (void)p;
}

bool sr_normal_newton(srConvexPair* p, const srCoreNear* near, srNearest* out) {
  // GJK has n from the vector between the nearest points.
  Candidate best = {
      .h = -near->gap, .simplex = near->simplex, .noise = near->apart ? p->size / near->gap : (double)INFINITY};
  double gap[3];
  srm_set3(best.n, near->n);
  weigh(p, &best);
  search(p, near, &best, &out->iterations);
  try_cap(p, near, false, &best);
  try_cap(p, near, true, &best);
  srm_set3(out->point_a, best.a);
  srm_set3(out->point_b, best.b);
  hessian_of(p, &best.simplex, best.n, out->a.hessian, out->b.hessian);
  set_active(p, &best, false, &out->a);
  set_active(p, &best, true, &out->b);
  srm_set3(out->n, best.n);
  out->core = -best.h;
  srm_sub3(out->point_a, out->point_b, gap);
  // Apart: gap is between -h and the distance of two points. Overlapping: the depth is between the nearest face and h.
  out->error = near->apart || out->core > 0 ? fmax(0, srm_norm3(gap) - out->core) : fmax(0, near->high - out->core);
  if (best.cap_a || best.cap_b)
    out->error = fmax(out->error, best.miss);  // a point that slid with n is so far off its face
  out->unique = near->unique;
  return best.miss <= PROVEN * p->size;
}
