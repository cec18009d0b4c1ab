// All contacts of two surfaces, or of a surface and a convex shape: pairs of patches of two quadtrees over (u, v).
//
// A patch has a ball of its points (centre c, radius rho) and a cone of its normals (axis m, half angle alpha), from samples. Pairs of
// patches are divided until they can have no contact or are small, where the Newton iteration begins at their centres. No contact, if
//   the balls are farther apart than the reach;
//   no normal of a is opposite to one of b:  angle(m_a, -m_b) > alpha_a + alpha_b;
//   d = x_b - x_a, which is along +-n, is within asin((rho_a + rho_b)/|c_b - c_a|) of c_b - c_a and along no normal of a or b.
// The second test holds where surfaces intersect, too.
//
// One contact. Two contacts 1 and 2 of the same two patches have, with y the difference of y_2 and y_1 and g the mean of their gaps,
//   n.x_b - n.x_a = g n.n,    n.x_a >= w_a |x_a|^2,    -n.x_b >= w_b |x_b|^2,    x_b = x_a + g n + (g_2 - g_1)(n_1 + n_2)/2
// (the first since n.(n_1 + n_2) = 0; w: least curvatures), so that, with n.n <= |W_a x_a|^2 where g < 0,
//   min over the curvatures W_a of (W_a + g W_a^2) + w_b (|x_b|/|x_a|)^2 <= 0,    |x_b|/|x_a| between 1 - |g W_a| and 1 + |g W_a|.
// Where that does not hold there is at most one: a pair of patches that has a known contact is not searched any further. Patches are widened by half
// their width for it, so that their neighbours know the contact as well. Most iterations that would end in the same contact are never begun.
//
// A patch is a height f over the plane normal to the axis m of its cone; c: cosine of the cone. On a straight path of the plane, of length T, with slopes f',
//   n.x = T [cos_2 (f'_mean - f'_2) + cos_1 (f'_1 - f'_mean)],    -f'' = W/cos |t|^2,    1 <= |t| <= 1/c
// so that n.x >= c w T^2 where the least curvature w >= 0, and n.x >= w T^2/c^3 elsewhere. Lengths of a and b in their planes have ratios within c^4.
//
// Samples: x between those of a grid is within (h_u^2 |x_uu| + h_v^2 |x_vv|)/8 of their convex hull, with the largest second derivatives
// of the samples times SAFETY; a normal is within 3/4 of the largest angle of neighbours of one of them, and curvatures alike. These are estimates: a detail
// between samples that none of them shows can be missed.
#include <math.h>
#include <string.h>

#include "collide/smooth.h"
#include "math/vector3.h"

#define PI 3.14159265358979323846
#define SAMPLES 5
#define SAFETY 1.5
#define LEAF_ANGLE 0.15  // half angle of the cone of normals (rad)
#define LEAST_LEVEL 3
#define MOST_LEVEL 8
#define MOST_PATCHES 20000
#define SAME_POINT 1e-6  // of the size: contacts that are one
#define WIDEST 0.8       // half angle of the cone of a patch that can be known to have one contact (rad)
#define LARGE_ANGLE 0.5  // half angle of the cone of a region (rad)
#define KNOWN_MOST 64
#define SHARPEST 1e6  // curvature of a convex shape, times the size of the surface

// A patch with its surroundings: ranges of u and v, and bounds from the leaves in them.
typedef struct Wide {
  double from[2], to[2];      // may exceed the ranges of a periodic parameter
  double centre[3], axis[3];  // of the patch
  double radius, thick;       // of its points from the centre, in all directions and along the axis
  double low, high;           // principal curvatures
  double cosine;              // of the cone of its normals about the axis; 0: that is too wide
} Wide;

typedef struct Patch {
  double centre[3], radius;
  double axis[3], angle;
  double thick, low, high;  // as in Wide, of this patch alone
  double at[2], half[2];    // u and v of its middle, and their ranges to both sides
  int child;                // the first of four; 0: a leaf
  Wide wide;                // half its width more on every side, about a pole all around it
  Wide large;               // as far as normals are within LARGE_ANGLE
  int region;               // the patch with this one in it that has `large`
} Patch;

struct srSmoothTree {
  const srSmooth* surface;  // first: sr_smooth_of_tree
  int n, capacity;
  Patch* patch;
};

// ----------------------------------------------------------------------------------------------------------------- build
static double angle_of(const double a[3], const double b[3]) { return acos(fmin(1, fmax(-1, srm_dot3(a, b)))); }

typedef struct Sampled {
  srSmoothFrame frame[SAMPLES][SAMPLES];
  double deviation;
} Sampled;

static double wrapped(const srSmooth* s, int k, double value) {
  const double range = s->high[k] - s->low[k];
  return s->periodic[k] ? value - range * floor((value - s->low[k]) / range) : value;
}

// False: some point has no normal.
static bool sample(const srSmooth* s, const double low[2], const double high[2], Sampled* out) {
  double bend[2] = {0};
  bool good = true;
  for (int i = 0; i < SAMPLES; i++)
    for (int j = 0; j < SAMPLES; j++) {
      const double at[2] = {wrapped(s, 0, low[0] + (high[0] - low[0]) * i / (SAMPLES - 1)),
                            wrapped(s, 1, low[1] + (high[1] - low[1]) * j / (SAMPLES - 1))};
      srSmoothPoint y;
      s->at(s->self, at, &y);
      bend[0] = fmax(bend[0], srm_norm3(y.second[0]));
      bend[1] = fmax(bend[1], srm_norm3(y.second[2]));
      good = sr_smooth_frame(s, at, &out->frame[i][j]) && good;
    }
  out->deviation = 0;
  for (int k = 0; k < 2; k++) {
    const double h = (high[k] - low[k]) / (SAMPLES - 1);
    out->deviation += SAFETY * bend[k] * h * h / 8;
  }
  return good;
}

static double largest_step(const Sampled* y) {
  double most = 0;
  for (int i = 0; i + 1 < SAMPLES; i++)
    for (int j = 0; j + 1 < SAMPLES; j++) {
      most = fmax(most, angle_of(y->frame[i][j].n, y->frame[i + 1][j + 1].n));
      most = fmax(most, angle_of(y->frame[i + 1][j].n, y->frame[i][j + 1].n));
    }
  return most;
}

// Principal curvatures of a frame: the lower, the higher.
static void curvatures(const srSmoothFrame* f, double out[2]) {
  const double middle = 0.5 * (f->W[0] + f->W[2]), spread = hypot(0.5 * (f->W[0] - f->W[2]), f->W[1]);
  out[0] = middle - spread;
  out[1] = middle + spread;
}

static void bound_curvatures(const Sampled* y, Patch* p) {
  double c[2], d[2], step[2] = {0};
  p->low = INFINITY, p->high = -INFINITY;
  for (int i = 0; i < SAMPLES; i++)
    for (int j = 0; j < SAMPLES; j++) {
      curvatures(&y->frame[i][j], c);
      p->low = fmin(p->low, c[0]), p->high = fmax(p->high, c[1]);
      for (int k = j > 0 ? -1 : 1; i + 1 < SAMPLES && k <= 1 && j + k < SAMPLES; k += 2) {
        curvatures(&y->frame[i + 1][j + k], d);
        for (int m = 0; m < 2; m++) step[m] = fmax(step[m], fabs(d[m] - c[m]));
      }
    }
  p->low -= 0.75 * step[0];
  p->high += 0.75 * step[1];
}

static void enclose(const srSmooth* s, const double low[2], const double high[2], Patch* p) {
  Sampled y;
  double low_x[3], high_x[3], axis[3] = {0}, r[3];
  const bool good = sample(s, low, high, &y);
  srm_set3(low_x, y.frame[0][0].x);
  srm_set3(high_x, low_x);
  for (int i = 0; i < SAMPLES * SAMPLES; i++) {
    const srSmoothFrame* f = &y.frame[0][0] + i;
    for (int k = 0; k < 3; k++) {
      low_x[k] = fmin(low_x[k], f->x[k]);
      high_x[k] = fmax(high_x[k], f->x[k]);
      if (good) axis[k] += f->n[k];
    }
  }
  for (int k = 0; k < 3; k++) p->centre[k] = 0.5 * (low_x[k] + high_x[k]);
  p->angle = good && srm_unit3(axis) > 0.1 ? 0 : PI;
  srm_set3(p->axis, axis);
  for (int i = 0; i < SAMPLES * SAMPLES; i++) {
    const srSmoothFrame* f = &y.frame[0][0] + i;
    srm_sub3(f->x, p->centre, r);
    p->radius = fmax(p->radius, srm_norm3(r));
    p->thick = fmax(p->thick, fabs(srm_dot3(axis, r)));
    if (p->angle < PI) p->angle = fmax(p->angle, angle_of(axis, f->n));
  }
  p->radius += y.deviation;
  p->thick += y.deviation;
  if (p->angle < PI) p->angle = fmin(PI, p->angle + 0.75 * largest_step(&y));
  if (p->angle < PI) bound_curvatures(&y, p);
  for (int k = 0; k < 2; k++) p->at[k] = 0.5 * (low[k] + high[k]), p->half[k] = 0.5 * (high[k] - low[k]);
}

static void divide(srPool* pool, srSmoothTree* t, int i, const double low[2], const double high[2], int level) {
  enclose(t->surface, low, high, &t->patch[i]);
  const bool small = t->patch[i].angle <= LEAF_ANGLE && level >= LEAST_LEVEL;
  if (small || level == MOST_LEVEL || t->n + 4 > MOST_PATCHES) return;
  const int first = t->n;
  for (int k = 0; k < 4; k++) SR_PUSH(pool, t->patch, t->n, t->capacity) = (Patch){.child = 0};
  t->patch[i].child = first;
  for (int k = 0; k < 4; k++) {
    const double middle[2] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])};
    const double from[2] = {k & 1 ? middle[0] : low[0], k & 2 ? middle[1] : low[1]};
    const double to[2] = {k & 1 ? high[0] : middle[0], k & 2 ? high[1] : middle[1]};
    divide(pool, t, first + k, from, to, level + 1);
  }
}

// ---- surroundings ------------------------------------------------------------------------------------------------------
static double range_of(const srSmooth* s, int k) { return s->high[k] - s->low[k]; }

// Do the ranges of a patch, shifted by whole periods, meet these?
static bool meets(const srSmooth* s, const Patch* p, const Wide* w) {
  for (int k = 0; k < 2; k++) {
    bool any = false;
    for (int i = s->periodic[k] ? -1 : 0; i <= (s->periodic[k] ? 1 : 0); i++) {
      const double at = p->at[k] + i * range_of(s, k);
      any |= at - p->half[k] < w->to[k] && at + p->half[k] > w->from[k];
    }
    if (!any) return false;
  }
  return true;
}

// Adds the leaves of patch i that meet the ranges; angle: of the cone so far.
static void gather(const srSmoothTree* t, int i, Wide* w, double* angle) {
  const Patch* x = &t->patch[i];
  if (*angle > WIDEST || !meets(t->surface, x, w)) return;
  for (int k = 0; k < 4 && x->child != 0; k++) gather(t, x->child + k, w, angle);
  if (x->child != 0) return;
  double r[3];
  const double turn = angle_of(w->axis, x->axis);
  srm_sub3(x->centre, w->centre, r);
  w->radius = fmax(w->radius, srm_norm3(r) + x->radius);
  w->thick = fmax(w->thick, fabs(srm_dot3(w->axis, r)) + x->thick + x->radius * sin(turn));
  w->low = fmin(w->low, x->low), w->high = fmax(w->high, x->high);
  *angle = fmax(*angle, turn + x->angle);
}

// How far the middle of a line of three points is from its chord, seen along the axis.
static double sagitta(const double x[3], const double y[3], const double z[3], const double axis[3]) {
  double e[3], d[3];
  for (int k = 0; k < 3; k++) e[k] = z[k] - x[k], d[k] = y[k] - x[k];
  srm_add_scaled3(e, -srm_dot3(e, axis), axis, e);
  srm_add_scaled3(d, -srm_dot3(d, axis), axis, d);
  const double square = srm_dot3(e, e);
  if (square > 0) srm_add_scaled3(d, -srm_dot3(d, e) / square, e, d);
  return srm_norm3(d);
}

// How far a straight path of the plane normal to the axis, between points of these ranges, may leave them: as far as lines of constant u and v are from
// straight; by[k]: in the parameter k.
static void find_bend(const srSmooth* s, const Wide* w, double by[2]) {
  double x[3][3][3], bent = 0, d[2][3];
  for (int i = 0; i < 9; i++) {
    const double at[2] = {wrapped(s, 0, w->from[0] + 0.5 * (i / 3) * (w->to[0] - w->from[0])),
                          wrapped(s, 1, w->from[1] + 0.5 * (i % 3) * (w->to[1] - w->from[1]))};
    srSmoothPoint y;
    s->at(s->self, at, &y);
    srm_set3(x[i / 3][i % 3], y.x);
  }
  for (int i = 0; i < 3; i++) {
    bent = fmax(bent, sagitta(x[0][i], x[1][i], x[2][i], w->axis));
    bent = fmax(bent, sagitta(x[i][0], x[i][1], x[i][2], w->axis));
  }
  srm_sub3(x[2][1], x[0][1], d[0]);
  srm_sub3(x[1][2], x[1][0], d[1]);
  for (int k = 0; k < 2; k++) by[k] = bent > 0 ? bent * (w->to[k] - w->from[k]) / srm_norm3(d[k]) : 0;
}

// Limits ranges to the surface; about a pole they go all around.
static void limit(const srSmooth* s, Wide* w) {
  for (int k = 0; k < 2; k++) {
    const bool all = !(w->to[k] - w->from[k] < range_of(s, k));
    if (all || !s->periodic[k]) w->from[k] = fmax(w->from[k], s->low[k]), w->to[k] = fmin(w->to[k], s->high[k]);
    if (all) w->from[k] = s->low[k], w->to[k] = s->high[k];
  }
  for (int k = 0; k < 2; k++) {
    const bool pole = (s->pole[k][0].is && w->from[k] <= s->low[k]) || (s->pole[k][1].is && w->to[k] >= s->high[k]);
    if (pole) w->from[1 - k] = s->low[1 - k], w->to[1 - k] = s->high[1 - k];
  }
}

static bool goes_around(const srSmooth* s, const Wide* w, int k) {
  return s->periodic[k] && w->from[k] <= s->low[k] && w->to[k] >= s->high[k];
}

// Sets the bounds of the ranges w->from to w->to. False: the cone of normals is wider than `most`.
static bool enclose_wide(const srSmoothTree* t, Wide* w, double most) {
  const srSmooth* s = t->surface;
  double angle = 0, by[2] = {0, 0};
  limit(s, w);
  Wide all = *w;
  if (!goes_around(s, w, 0) && !goes_around(s, w, 1)) find_bend(s, w, by);
  for (int k = 0; k < 2; k++) all.from[k] -= by[k], all.to[k] += by[k];
  limit(s, &all);
  all.radius = all.thick = w->cosine = 0;
  all.low = INFINITY, all.high = -INFINITY;
  gather(t, 0, &all, &angle);
  if (angle > most) return false;
  w->radius = all.radius, w->thick = all.thick;
  w->low = all.low, w->high = all.high;
  w->cosine = cos(angle);
  return true;
}

// To both sides in u and in v in turn, by more and more, until the normals turn too far.
static void grow(const srSmoothTree* t, Patch* p) {
  bool ended[2] = {false, false};
  p->large = p->wide;
  for (int i = 0; i < 2 * MOST_LEVEL; i++) {
    const int k = i % 2;
    const double more = p->half[k] * (1 << i / 2);
    Wide w = p->large;
    w.from[k] -= more, w.to[k] += more;
    ended[k] = ended[k] || !enclose_wide(t, &w, LARGE_ANGLE);
    if (!ended[k]) p->large = w;
  }
}

static void find_regions(srSmoothTree* t) {
  for (int i = 0; i < t->n; i++) {
    Patch* p = &t->patch[i];
    Wide* w = &p->wide;
    srm_set3(w->centre, p->centre);
    srm_set3(w->axis, p->axis);
    for (int k = 0; k < 2; k++) w->from[k] = p->at[k] - 2 * p->half[k], w->to[k] = p->at[k] + 2 * p->half[k];
    if (p->angle >= WIDEST || !enclose_wide(t, w, WIDEST)) w->cosine = 0;
    if (t->patch[p->region].large.cosine == 0) p->region = i;
    if (p->region == i && p->child != 0 && w->cosine >= cos(LARGE_ANGLE)) grow(t, p);
    for (int k = 0; k < 4 && p->child != 0; k++) t->patch[p->child + k].region = p->region;
  }
}

const srSmoothTree* sr_smooth_tree_create(srPool* pool, const srSmooth* surface) {
  srSmoothTree* t = sr_pool_alloc(pool, sizeof *t);
  if (t == NULL) return NULL;
  t->surface = surface;
  SR_PUSH(pool, t->patch, t->n, t->capacity) = (Patch){.child = 0};
  divide(pool, t, 0, surface->low, surface->high, 0);
  find_regions(t);
  return t;
}

int sr_smooth_tree_patches(const srSmoothTree* tree) {
  int n = 0;
  for (int i = 0; i < tree->n; i++) n += tree->patch[i].child == 0;
  return n;
}

bool sr_smooth_tree_holds(const srSmoothTree* tree, const double at[2]) {
  const srSmooth* s = tree->surface;
  srSmoothFrame f;
  double r[3];
  if (!sr_smooth_frame(s, at, &f)) return false;
  for (int i = 0;;) {
    const Patch* p = &tree->patch[i];
    srm_sub3(f.x, p->centre, r);
    if (srm_norm3(r) > p->radius || (p->angle < PI && angle_of(f.n, p->axis) > p->angle)) return false;
    if (p->child == 0) return true;
    i = p->child;
    for (int k = 0; k < 2; k++) i += at[k] > p->at[k] ? 1 + k : 0;
  }
}

// ---------------------------------------------------------------------------------------------------------------- search
typedef struct Search {
  const srSmoothPair* pair;
  const double* pose;
  srSmoothReach reach;
  srSmoothContact* out;
  int most, found;
  double size;
  double known[KNOWN_MOST][2][2];  // u and v of contacts that iterations have ended in, within reach or not
  int nknown;
  double bend;  // least curvature of the convex shape
  srSmoothWork work;
} Search;

static bool is_known(const Search* s, const srSmoothContact* c) {
  for (int i = 0; i < s->found && i < s->most; i++) {
    double r[3];
    srm_sub3(s->out[i].near.point_a, c->near.point_a, r);
    if (srm_norm3(r) < SAME_POINT * s->size && srm_dot3(s->out[i].near.n, c->near.n) > 0) return true;
  }
  return false;
}

// Keeps a contact, in the order of the gaps.
static void keep(Search* s, const srSmoothContact* c) {
  if (c->near.unique && s->nknown < KNOWN_MOST) memcpy(s->known[s->nknown++], c->at, sizeof c->at);
  if (c->near.gap > s->reach.margin || c->near.gap < -s->reach.depth || is_known(s, c)) return;
  int i = s->found < s->most ? s->found : s->most - 1;
  if (s->found++ >= s->most && (s->most == 0 || s->out[i].near.gap <= c->near.gap)) return;
  for (; i > 0 && s->out[i - 1].near.gap > c->near.gap; i--) s->out[i] = s->out[i - 1];
  s->out[i] = *c;
}

static bool can_touch(const Search* s, const Patch* a, const Patch* b) {
  double c[3], axis[3], back[3];
  srm_pose_point(s->pose, b->centre, c);
  srm_sub3(c, a->centre, c);
  const double far = srm_unit3(c), radius = a->radius + b->radius;
  if (!(far - radius <= fmax(s->reach.margin, s->reach.depth))) return false;
  srm_pose_rotate(s->pose, b->axis, axis);
  srm_scale3(-1, axis, back);
  if (angle_of(a->axis, back) > a->angle + b->angle) return false;
  if (far <= radius) return true;
  const double wide = asin(radius / far), by_a = angle_of(c, a->axis), by_b = angle_of(c, back);
  const double most_a = a->angle + wide, most_b = b->angle + wide;
  const bool apart = far - radius <= s->reach.margin && by_a <= most_a && by_b <= most_b;
  const bool overlap = far - radius <= s->reach.depth && PI - by_a <= most_a && PI - by_b <= most_b;
  return apart || overlap;
}

// ---- one contact of two patches ----------------------------------------------------------------------------------------
static bool is_within(const srSmooth* s, const Wide* w, const double at[2]) {
  for (int k = 0; k < 2; k++) {
    bool any = false;
    for (int i = s->periodic[k] ? -1 : 0; i <= (s->periodic[k] ? 1 : 0); i++) {
      const double x = at[k] + i * range_of(s, k);
      any |= x >= w->from[k] && x <= w->to[k];
    }
    if (!any) return false;
  }
  return true;
}

static bool has_known(const Search* s, const Wide* a, const Wide* b) {
  for (int i = 0; i < s->nknown; i++) {
    if (!is_within(s->pair->a->surface, a, s->known[i][0])) continue;
    if (b == NULL || is_within(s->pair->b->surface, b, s->known[i][1])) return true;
  }
  return false;
}

static double square_of(double x) { return x * x; }

// n.x >= w T^2 of a patch.
static double bend_of(const Wide* x) {
  const double c = x->cosine;
  return x->low < 0 ? x->low / (c * c * c) : c * x->low;
}

// The inequality of the file's head. gap: its lower bound and a bound of its magnitude; bend: w_b; cosine: of its cone.
static bool is_single_over(const Wide* a, double bend, double cosine, const double gap[2]) {
  const double depth = fmax(0, -gap[0]), most = fmax(fabs(a->low), fabs(a->high)), c = a->cosine;
  double own = bend_of(a) - depth * most * most / (c * c);
  if (a->low >= 0) own = fmin(c * a->low - depth * a->low * a->low, c * a->high - depth * a->high * a->high);
  const double unit = square_of(square_of(fmin(c, cosine))), turn = gap[1] * most;
  const double ratio = bend < 0 ? (1 + turn) / unit : fmax(0, unit - turn);
  return own + bend * ratio * ratio > 0;
}

// Bounds of the gap along the axes of both.
static bool is_single(const Search* s, const Wide* a, const Wide* b) {
  double c[3], axis[3], gap[2] = {-INFINITY, INFINITY};
  srm_pose_point(s->pose, b->centre, c);
  srm_sub3(c, a->centre, c);
  srm_pose_rotate(s->pose, b->axis, axis);
  const double facing = srm_dot3(a->axis, axis), tilt = sqrt(fmax(0, 1 - facing * facing));
  for (int k = 0; k < 2; k++) {
    const Wide *one = k ? b : a, *other = k ? a : b;
    const double along = k ? -srm_dot3(axis, c) : srm_dot3(a->axis, c);
    const double off = one->thick + other->thick + other->radius * tilt;
    gap[0] = fmax(gap[0], (along - off) / one->cosine);
    gap[1] = fmin(gap[1], (fabs(along) + off) / one->cosine);
  }
  return is_single_over(a, bend_of(b), b->cosine, gap) || is_single_over(b, bend_of(a), a->cosine, gap);
}

// Is the one contact that two patches can have known? They are examined as parts of their regions, too.
static bool is_settled(const Search* s, const Patch* a, const Patch* b) {
  for (int k = 0; k < 4 && s->nknown > 0; k++) {
    const Wide* one = k & 1 ? &a->wide : &s->pair->a->patch[a->region].large;
    const Wide* other = k & 2 ? &b->wide : &s->pair->b->patch[b->region].large;
    if (one->cosine == 0 || other->cosine == 0) continue;
    if (has_known(s, one, other) && is_single(s, one, other)) return true;
  }
  return false;
}

// near: of the point c. The gap is convex: gap(c) - n(c).(x - c) <= gap(x) <= gap(c) + n(x).(c - x), and at a contact n(x) is in the cone.
static bool is_single_convex(const Search* s, const Wide* a, const double c[3], const srNearest* near) {
  double r[3];
  srm_sub3(a->centre, c, r);
  const double cosine = fmax(0, fmin(srm_dot3(a->axis, near->n), a->cosine)), sine = sqrt(1 - cosine * cosine);
  const double off = a->thick + fabs(srm_dot3(a->axis, r)) + (a->radius + srm_norm3(r)) * sine;
  const double gap[2] = {near->gap - off, fabs(near->gap) + off};
  return is_single_over(a, s->bend, 1, gap);
}

static bool is_settled_convex(const Search* s, const Patch* a, const srNearest* near) {
  for (int k = 0; k < 2 && s->nknown > 0; k++) {
    const Wide* one = k ? &a->wide : &s->pair->a->patch[a->region].large;
    if (one->cosine > 0 && has_known(s, one, NULL) && is_single_convex(s, one, a->centre, near)) return true;
  }
  return false;
}

static double least_bend(const srConvex* b, double size) {
  const double most = SHARPEST / size;
  if (b->kind == SR_KIND_SPHERE) return fmin(most, 1 / b->radius);
  if (b->kind != SR_KIND_ELLIPSOID) return 0;
  const double low = fmin(b->size[0], fmin(b->size[1], b->size[2]));
  const double high = fmax(b->size[0], fmax(b->size[1], b->size[2]));
  return fmin(most, low / (high * high));
}

// ---- pairs of patches --------------------------------------------------------------------------------------------------
static void search_pair(Search* s, int i, int j) {
  const srSmoothTree *ta = s->pair->a, *tb = s->pair->b;
  const Patch *a = &ta->patch[i], *b = &tb->patch[j];
  s->work.patches++;
  if (!can_touch(s, a, b)) return;
  if (is_settled(s, a, b)) return;
  if (a->child == 0 && b->child == 0) {
    srSmoothContact c = {.at = {{a->at[0], a->at[1]}, {b->at[0], b->at[1]}}};
    s->work.newtons++;
    if (sr_common_normal(ta->surface, tb->surface, s->pose, &c)) keep(s, &c);
    return;
  }
  const bool first = a->child != 0 && (b->child == 0 || a->radius > b->radius);
  for (int k = 0; k < 4; k++)
    if (first)
      search_pair(s, a->child + k, j);
    else
      search_pair(s, i, b->child + k);
}

// The distance of the centre bounds that of the patch; directions to b turn by less than rho/(distance of the core - rho).
static bool can_touch_convex(const Search* s, const Patch* a, double warm[3], srNearest* near) {
  sr_smooth_point_distance(a->centre, s->pair->convex, s->pose, warm, near);
  if (near->gap - a->radius > s->reach.margin || near->gap + a->radius < -s->reach.depth) return false;
  double turn = PI;
  if (s->pair->convex->kind == SR_KIND_PLANE)
    turn = 0;
  else if (near->core > a->radius)
    turn = 2 * asin(fmin(1, 0.5 * a->radius / (near->core - a->radius)));
  return angle_of(near->n, a->axis) <= a->angle + turn;
}

static void search_patch(Search* s, int i, const double from[3]) {
  const Patch* a = &s->pair->a->patch[i];
  double warm[3] = {from[0], from[1], from[2]};
  srNearest near;
  s->work.patches++;
  if (!can_touch_convex(s, a, warm, &near)) return;
  if (is_settled_convex(s, a, &near)) return;
  if (a->child == 0) {
    srSmoothContact c = {.at = {{a->at[0], a->at[1]}}};
    s->work.newtons++;
    if (sr_common_normal_convex(s->pair->a->surface, s->pair->convex, s->pose, &c)) keep(s, &c);
    return;
  }
  for (int k = 0; k < 4; k++) search_patch(s, a->child + k, warm);
}

int sr_smooth_search(const srSmoothPair* pair, const double pose[16], srSmoothReach reach, srSmoothContact* out,
                     int most, srSmoothWork* work) {
  Search s = {.pair = pair, .pose = pose, .reach = reach, .out = out, .most = most, .size = pair->a->surface->size};
  if (pair->b == NULL) s.bend = least_bend(pair->convex, s.size);
  if (pair->b != NULL)
    search_pair(&s, 0, 0);
  else
    search_patch(&s, 0, (double[3]){0});
  if (work != NULL) *work = s.work;
  return s.found;
}

void sr_smooth_nearest(const srSmoothPair* pair, const double pose[16], srSmoothReach reach, srSmoothContact* c) {
  if (c->near.state == SR_NEAREST_FOUND) {
    srSmoothContact next = *c;
    const bool good = pair->b != NULL ? sr_common_normal(pair->a->surface, pair->b->surface, pose, &next)
                                      : sr_common_normal_convex(pair->a->surface, pair->convex, pose, &next);
    if (good && next.near.gap <= reach.margin && next.near.gap >= -reach.depth) {
      *c = next;
      return;
    }
  }
  memset(c, 0, sizeof *c);
  c->near.gap = INFINITY;
  c->near.state = SR_NEAREST_NONE;
  (void)sr_smooth_search(pair, pose, reach, c, 1, NULL);
}
