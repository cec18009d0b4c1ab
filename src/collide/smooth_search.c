// All contacts of two surfaces, or of a surface and a convex shape: pairs of patches of two quadtrees over (u, v).
//
// A patch has a ball of its points (centre c, radius rho) and a cone of its normals (axis m, half angle alpha), from samples. Pairs of
// patches are divided until they can have no contact or are small, where the Newton iteration begins at their centres. No contact, if
//   the balls are farther apart than the reach;
//   no normal of a is opposite to one of b:  angle(m_a, -m_b) > alpha_a + alpha_b;
//   d = x_b - x_a, which is along +-n, is within asin((rho_a + rho_b)/|c_b - c_a|) of c_b - c_a and along no normal of a or b.
// The second test holds where surfaces intersect, too.
//
// Samples: x between those of a grid is within (h_u^2 |x_uu| + h_v^2 |x_vv|)/8 of their convex hull, with the largest second derivatives
// of the samples times SAFETY; a normal is within 3/4 of the largest angle of neighbours of one of them. Both are estimates: a detail
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

typedef struct Patch {
  double centre[3], radius;
  double axis[3], angle;
  double at[2];
  int child;  // the first of four; 0: a leaf
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

// False: some point has no normal.
static bool sample(const srSmooth* s, const double low[2], const double high[2], Sampled* out) {
  double bend[2] = {0};
  bool good = true;
  for (int i = 0; i < SAMPLES; i++)
    for (int j = 0; j < SAMPLES; j++) {
      const double at[2] = {low[0] + (high[0] - low[0]) * i / (SAMPLES - 1),
                            low[1] + (high[1] - low[1]) * j / (SAMPLES - 1)};
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
    if (p->angle < PI) p->angle = fmax(p->angle, angle_of(axis, f->n));
  }
  p->radius += y.deviation;
  if (p->angle < PI) p->angle = fmin(PI, p->angle + 0.75 * largest_step(&y));
  for (int k = 0; k < 2; k++) p->at[k] = 0.5 * (low[k] + high[k]);
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

const srSmoothTree* sr_smooth_tree_create(srPool* pool, const srSmooth* surface) {
  srSmoothTree* t = sr_pool_alloc(pool, sizeof *t);
  if (t == NULL) return NULL;
  t->surface = surface;
  SR_PUSH(pool, t->patch, t->n, t->capacity) = (Patch){.child = 0};
  divide(pool, t, 0, surface->low, surface->high, 0);
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

static void search_pair(Search* s, int i, int j) {
  const srSmoothTree *ta = s->pair->a, *tb = s->pair->b;
  const Patch *a = &ta->patch[i], *b = &tb->patch[j];
  s->work.patches++;
  if (!can_touch(s, a, b)) return;
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
static bool can_touch_convex(const Search* s, const Patch* a, double warm[3]) {
  srNearest near;
  sr_smooth_point_distance(a->centre, s->pair->convex, s->pose, warm, &near);
  if (near.gap - a->radius > s->reach.margin || near.gap + a->radius < -s->reach.depth) return false;
  double turn = PI;
  if (s->pair->convex->kind == SR_KIND_PLANE)
    turn = 0;
  else if (near.core > a->radius)
    turn = 2 * asin(fmin(1, 0.5 * a->radius / (near.core - a->radius)));
  return angle_of(near.n, a->axis) <= a->angle + turn;
}

static void search_patch(Search* s, int i, const double from[3]) {
  const Patch* a = &s->pair->a->patch[i];
  double warm[3] = {from[0], from[1], from[2]};
  s->work.patches++;
  if (!can_touch_convex(s, a, warm)) return;
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
