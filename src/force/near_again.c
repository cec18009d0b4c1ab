// The pairs of few balls anew: in a heap a ball that rolls, or some that land, leave their ranges in every step, the others rest.
//
// A ball that has left its range begins another one where it is: its pairs leave the list, and those with a gap below skin + w_a + w_b join it, the gap between where the range of
// each of the two began. Until one of them leaves its range, the gap has shrunk by less than that (near.c). What it is about to strike is as fast at the end of the step, and gets a
// range of that speed, too. The balls are in cells by the places where their ranges began (collide/cells.h), so that the time is proportional to the number of balls that have left
// them, apart from two passes over the list.
#include <math.h>
#include <string.h>

#include "collide/cells.h"
#include "force/near.h"
#include "math/vector3.h"

#define SHARED 24  // balls that are worth a member of the team
#define MOST 8     // one in so many: with more, all pairs together cost less
#define TIMES                                                                                                          \
  32  // after which all pairs are listed: their order is then again that of the cells, which is good for sweeps and for memory

static double size_of(const srModel* m, const struct srInstances* x, int i) {
  return m->collider[i].reach + x->wider[i];
}

static bool is_ball(const srModel* m, int i) { return sr_shape_bounded((srShapeKind)m->collider[i].kind); }

// ---- ranges -------------------------------------------------------------------------------------------------------------

enum { LEFT = 1, STRUCK = 2 };  // of x->over

// The speed of a fast one is that of its partner, too, which begins another range where that asks for a larger one.
static void strike(const srModel* m, const srData* d, struct srInstances* x, const double* v, double step, int fast,
                   int other) {
  double *speed = x->ball, *most = speed + m->ncollider;
  if (x->over[fast] != LEFT || sr_near_link(m, other) == 0) return;
  if (x->over[other] == 0) {
    if (sr_near_range_for(step * speed[fast], x->slow) <= x->wider[other] + 0.5 * x->skin) return;
    x->over[other] = STRUCK;
    most[other] = sr_near_speed_of(m, d, x, v, other);
  }
  most[other] = fmax(most[other], speed[fast]);
}

// Takes a ball that has left its range into x->chain.
static void take(struct srInstances* x, int i) {
  if (!x->over[i] || x->place[i]) return;
  x->place[i] = 1;
  x->chain[x->nover++] = i;
}

// In the order of their pairs, which is that of the new ones: it stays about that of the cells.
static void begin_ranges(const srModel* m, const srData* d, struct srInstances* x, const double* v, double step) {
  double *speed = x->ball, *most = speed + m->ncollider;
  x->nover = 0;
  for (int i = 0; i < m->ncollider; i++) {
    x->place[i] = 0;
    if (x->over[i]) speed[i] = most[i] = sr_near_speed_of(m, d, x, v, i);
  }
  for (int k = 0; k < x->nnear; k++) {
    const srNear* near = &x->near[k];
    if ((x->over[near->a] | x->over[near->b]) == 0) continue;
    strike(m, d, x, v, step, near->a, near->b);
    strike(m, d, x, v, step, near->b, near->a);
    take(x, near->a);
    take(x, near->b);
  }
  for (int i = 0; i < m->ncollider; i++) take(x, i);
  for (int k = 0; k < x->nover; k++) {
    const int i = x->chain[k];
    x->wider[i] = fmax(0, sr_near_range_for(step * most[i], x->slow) - 0.5 * x->skin);
    x->widest = fmax(x->widest, size_of(m, x, i));
    srm_set3(x->origin + 3 * i, x->centre + 3 * i);
    sr_cells_put(x->cells, i, x->origin + 3 * i);
  }
}

// All balls into the cells, by the list that was made last.
static void fill_cells(const srModel* m, struct srInstances* x) {
  x->widest = 0;
  for (int i = 0; i < m->ncollider; i++) {
    if (is_ball(m, i)) x->widest = fmax(x->widest, size_of(m, x, i));
  }
  sr_cells_clear(x->cells, 2 * x->widest + x->skin);
  for (int i = 0; i < m->ncollider; i++) {
    if (is_ball(m, i)) sr_cells_put(x->cells, i, x->origin + 3 * i);
  }
  x->celled = true;
}

// ---- pairs --------------------------------------------------------------------------------------------------------------

typedef struct Planes {
  const int* plane;  // among the members of the set
  int count;
} Planes;

typedef struct Search {
  srListing* list;
  int ball, one;  // of a ball: among the shapes, and among the members of the set
} Search;

// Of two balls that both have left their ranges, by the first one alone.
static void meet(void* user, int i) {
  const Search* s = user;
  srListing* l = s->list;
  const struct srInstances* x = l->x;
  const int two = x->place[i];
  if (two < 0 || i == s->ball || (x->over[i] && two < s->one) || l->full) return;
  const double reach = size_of(l->m, x, s->ball) + size_of(l->m, x, i) + x->skin;
  double r[3];
  srm_sub3(x->origin + 3 * s->ball, x->origin + 3 * i, r);
  l->tested++;
  if (!(srm_dot3(r, r) < reach * reach)) return;
  (void)sr_near_add(l, s->one < two ? s->one : two, s->one < two ? two : s->one);
}

// Of those from .. to-1 that have left their ranges.
static void search(srListing* l, const void* user, int from, int to) {
  const Planes* planes = user;
  const struct srInstances* x = l->x;
  const srContactSet* set = &l->m->set[l->set];
  for (int k = from; k < to && !l->full; k++) {
    const int i = x->chain[k];
    Search s = {.list = l, .ball = i, .one = x->place[i]};
    if (s.one < 0) continue;
    for (int p = 0; p < planes->count && !l->full; p++) {
      l->tested++;
      if (sr_near_gap_on_plane(l, set->member[planes->plane[p]], i) < x->skin + x->wider[i])
        (void)sr_near_add(l, planes->plane[p], s.one);
    }
    if (set->balls) sr_cells_near(x->cells, x->origin + 3 * i, size_of(l->m, x, i) + x->widest + x->skin, meet, &s);
  }
}

static void list_set(srListing* l) {
  struct srInstances* x = l->x;
  const srContactSet* set = &l->m->set[l->set];
  int *plane = x->ball_of, nplane = 0;
  for (int i = 0; i < l->m->ncollider; i++) x->place[i] = -1;
  for (int k = 0; k < set->nmember; k++) {
    x->place[set->member[k]] = k;
    if (!is_ball(l->m, set->member[k])) plane[nplane++] = k;
  }
  sr_near_share(l, x->nover, SHARED, search, &(Planes){plane, nplane});
}

static bool is_left(const struct srInstances* x, const srNear* near) { return x->over[near->a] || x->over[near->b]; }

// Pairs behind the first `count` take the places of those that are left; then the last ones do.
static void close_gaps(struct srInstances* x, int count) {
  int next = count, end = count;
  for (int k = 0; k < end; k++) {
    if (!is_left(x, &x->near[k])) continue;
    if (next < x->nnear) {
      x->near[k] = x->near[next++];
      continue;
    }
    do {
      end--;
    } while (end > k && is_left(x, &x->near[end]));
    x->near[k] = x->near[end];
  }
  memmove(x->near + end, x->near + next, (size_t)(x->nnear - next) * sizeof *x->near);
  x->nnear = end + x->nnear - next;
}

bool sr_near_can_again(const struct srInstances* x) { return x->balls && x->nused == 0 && x->nlocated == 0; }

bool sr_near_again(const srModel* m, const srData* d, const double* v, double step) {
  struct srInstances* x = d->instances;
  if (!sr_near_can_again(x) || MOST * x->nover > m->ncollider || x->again == TIMES) return false;
  if (!x->celled) fill_cells(m, x);
  begin_ranges(m, d, x, v, step);
  srListing l = sr_near_begin(m, d, x);
  const int count = x->nnear;
  for (l.set = 0; l.set < m->nset && !l.full; l.set++) list_set(&l);
  sr_near_end(&l);
  if (l.full) return false;
  close_gaps(x, count);
  x->moved = x->skin;  // at the most: all are within their ranges
  x->checked = d->positions;
  x->version++;
  x->again++;
  return true;
}
