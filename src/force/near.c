// The list of near pairs.
//
// The list has every pair with a gap below `skin` at the state where it was built. It covers a state as long as no gap can have
// shrunk by more than that since:
//   s + max(s, S) <= skin,    s: largest displacement of a point of a bounded shape, |dp| + |dR| R with its reach R (a ball: |dp|),
//                             S: of a plane, |dp| + |dR| L at the distance L of the farthest point of the others
// That is checked at every evaluation. Outside a run, and in a run with steps of fixed length, the list is then rebuilt: a pair
// that joins it is apart, has no force and no states, and so changes nothing. Methods that solve the contacts of a whole step need all that
// may close in it: with s the displacement at its end as well, and a range of its own for each shape that moves far in a step (sr_near_for):
//   pairs with a gap below skin + w_a + w_b,    s_a <= skin/2 + w_a of every shape a
// Where few balls have left their ranges, their pairs alone are listed anew (near_again.c). Where contacts are located, the switching functions
// belong to the list: it stays for the step, a state that it does not cover requests a smaller step, and steps are no
// longer than the list covers (sr_instances_prepare).
#include "force/near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sarrus/dynamics.h>

#include "base/base.h"
#include "base/team.h"
#include "collide/broad.h"
#include "dynamics/link.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/vector3.h"
#include "model/catalog.h"
#include "model/private.h"

#define SLIM                                                                                                           \
  0.06  // as SR_SKIN, where shapes have ranges of their own: most of a heap rests, and what is not near costs nothing
#define STEPS 4.0    // for which these ranges last, where they are then below half of SR_SKIN
#define SHARED 200   // balls of a part of the grid that is worth a member of the team
#define HALVINGS 40  // of a skin with more near pairs than the capacity
#define BEYOND                                                                                                         \
  1.1  // times the displacement in a step: it is that of the velocities at its start, in their directions there
#define EARLY 0.9   // part of its range from which on a ball begins another one before a step: less often after it
#define WIDER 1.25  // times the displacement in a step: range of what moves farther than the skin

// ---- ways -------------------------------------------------------------------------------------------------------------

static bool is_bounded(const srModel* m, int collider) {
  return sr_shape_bounded((srShapeKind)m->collider[collider].kind);
}

static inline double length_of(const double a[3]) { return sqrt(srm_dot3(a, a)); }

static inline double distance(const double* a, const double* b) {
  const double r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return length_of(r);
}

// Within a run shapes stay where they are in their bodies.
static bool is_run(const srData* d) { return d->instances->running || d->rigid; }

// What the members of a team share in a loop over shapes.
typedef struct Share {
  const srModel* m;
  const srData* d;
  struct srInstances* x;
  const double* v;
  double step, range;  // range: of a ball beyond what it has of its own
  double ball[SR_TEAM_MOST],
      plane[SR_TEAM_MOST];  // of each member: largest way of a bounded shape, and of another one ...
  int over[SR_TEAM_MOST];   // ... and shapes that have left their ranges
} Share;

static void find_some_centres(void* user, int member, int from, int to) {
  const Share* of = user;
  const srModel* m = of->m;
  (void)member;
  for (int i = from; i < to; i++) {
    const int point = m->collider[i].point;
    srm_pose_point(of->d->link_pose + 16 * m->point_link[point], m->point_pose + 16 * point + 12,
                   of->x->centre + 3 * i);
  }
}

void sr_near_centres(const srModel* m, const srData* d, struct srInstances* x) {
  if (is_run(d) && x->centred == d->positions) return;
  x->centred = d->positions;
  sr_team_loop(d->team, m->ncollider, find_some_centres, &(Share){.m = m, .d = d, .x = x});
}

// How far a rotation about its centre moves a bounded shape, per radian.
static double rotating(const srModel* m, int i) {
  return m->collider[i].kind == SR_KIND_SPHERE || m->collider[i].kind == SR_KIND_HOLLOW ? 0 : m->collider[i].reach;
}

static double farthest_ball(const srModel* m, const struct srInstances* x, const double* from) {
  double most = 0;
  for (int i = 0; i < m->ncollider; i++) {
    if (is_bounded(m, i)) most = fmax(most, distance(x->centre + 3 * i, from) + rotating(m, i));
  }
  return most;
}

// Columns of the rotation of a collider's frame, then its origin.
static void frame_of(const srModel* m, const srData* d, int collider, double* out) {
  double pose[16];
  sr_point_frame(m, d, m->collider[collider].point, pose);
  for (int k = 0; k < 4; k++) memcpy(out + 3 * k, pose + 4 * k, 3 * sizeof *out);
}

// |dp| + |dR| L of a shape that is no ball; L < 0: of an unbounded one, at the farthest of the others.
static double way_of_shape(const srModel* m, const srData* d, const struct srInstances* x, int i, double L) {
  if (sr_near_link(m, i) == 0) return 0;
  double frame[12], turn = 0;
  const double* before = x->built + 12 * i;
  frame_of(m, d, i, frame);
  for (int k = 0; k < 9; k++) turn += (frame[k] - before[k]) * (frame[k] - before[k]);
  return distance(frame + 9, before + 9) + sqrt(turn) * (L < 0 ? farthest_ball(m, x, frame + 9) : L);
}

static double way_of(const srModel* m, const srData* d, const struct srInstances* x, int i) {
  if (!is_bounded(m, i)) return way_of_shape(m, d, x, i, -1);
  if (rotating(m, i) > 0) return way_of_shape(m, d, x, i, rotating(m, i));
  return distance(x->centre + 3 * i, x->origin + 3 * i);
}

// Largest speed of a point of a collider; of an unbounded one: at the farthest of the others. d has the velocities v; of free bodies on the ground v alone is read.
double sr_near_speed_of(const srModel* m, const srData* d, const struct srInstances* x, const double* v, int i) {
  const int link = sr_near_link(m, i), point = m->collider[i].point;
  if (link == 0) return 0;
  if (x->made && x->central[i] >= 0) return length_of(v + x->central[i]);
  if (is_bounded(m, i) && m->link_type[link] == SR_LINK_FREE && m->link_parent[link] == 0) {
    const double* own = v + m->link_v[link];
    return length_of(own + 3) + length_of(own) * (length_of(m->point_pose + 16 * point + 12) + rotating(m, i));
  }
  srPointState s;
  sr_port_point(m, d, point, &s);
  return length_of(s.v) + length_of(s.w) * (is_bounded(m, i) ? rotating(m, i) : farthest_ball(m, x, s.p));
}

static bool is_zero(const double a[3]) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }

// Where the velocity of the centre is, of a ball around the center of mass of a free body on the ground; else -1.
static int central_of(const srModel* m, int i) {
  const int link = sr_near_link(m, i);
  const bool central = m->collider[i].kind == SR_KIND_SPHERE && m->link_type[link] == SR_LINK_FREE &&
                       m->link_parent[link] == 0 && is_zero(m->point_pose + 16 * m->collider[i].point + 12) &&
                       is_zero(m->link_inertia + 16 * link + 12);
  return central ? m->link_v[link] + 3 : -1;
}

// Could |way| + times |v| - wider of a central ball be more than `most`? From (a + b)^2 <= 2 (a^2 + b^2): without roots.
static inline bool may_exceed(const struct srInstances* x, const double* v, double times, int i, double most) {
  const double *origin = x->origin + 3 * i, *centre = x->centre + 3 * i, room = most + x->wider[i];
  double way[3];
  srm_sub3(centre, origin, way);
  double sum = srm_dot3(way, way);
  if (v != NULL) sum += times * times * srm_dot3(v + x->central[i], v + x->central[i]);
  return !((2 + 1e-9) * sum < room * room);
}

static void find_ways(void* user, int member, int from, int to) {
  Share* of = user;
  const srModel* m = of->m;
  const srData* d = of->d;
  struct srInstances* x = of->x;
  const double *v = of->v, step = of->step, range = of->range;
  double ball = 0, plane = 0;
  int over = 0;
  for (int i = from; i < to; i++) {
    x->over[i] = 0;
    if (x->central[i] >= 0) {
      if (!may_exceed(x, v, step, i, ball < range ? ball : range)) continue;
    } else if (sr_near_link(m, i) == 0) {
      continue;
    }
    const double more = v != NULL ? step * sr_near_speed_of(m, d, x, v, i) : 0;
    const double most = way_of(m, d, x, i) + more - x->wider[i];
    if (is_bounded(m, i)) {
      ball = most > ball ? most : ball;
    } else {
      plane = most > plane ? most : plane;
    }
    x->over[i] = !(most <= range);
    over += x->over[i];
  }
  of->ball[member] = ball;
  of->plane[member] = plane;
  of->over[member] = over;
}

// Largest possible change of a gap since the list was built, beyond what single shapes have of their own; centres are those of d. v != NULL: until `step` later, at these velocities.
// Finds the shapes that have used more than a part of their ranges.
static double find_moved(const srModel* m, const srData* d, struct srInstances* x, const double* v, double step,
                         double part) {
  Share share = {.m = m, .d = d, .x = x, .v = v, .step = step, .range = part * 0.5 * x->skin};
  double ball = 0, plane = 0;
  x->nover = 0;
  sr_team_loop(d->team, m->ncollider, find_ways, &share);
  for (int k = 0; k < sr_team_hands(d->team, m->ncollider); k++) {
    ball = fmax(ball, share.ball[k]);
    plane = fmax(plane, share.plane[k]);
    x->nover += share.over[k];
  }
  return ball + fmax(ball, plane);
}

// The same since the list was built, until now.
void sr_near_check(const srModel* m, const srData* d, struct srInstances* x) {
  if (is_run(d) && x->made && x->checked == d->positions) return;
  x->moved = x->made ? find_moved(m, d, x, NULL, 0, 1) : 0;
  x->checked = d->positions;
}

// Largest speed of approach.
double sr_near_speed(const srModel* m, const srData* d, const struct srInstances* x) {
  double ball = 0, plane = 0;
  for (int i = 0; i < m->ncollider; i++) {
    double* most = is_bounded(m, i) ? &ball : &plane;
    *most = fmax(*most, sr_near_speed_of(m, d, x, d->v, i));
  }
  return ball + fmax(ball, plane);
}

// ---- the list ---------------------------------------------------------------------------------------------------------

bool sr_set_located(const struct srInstances* x, const srContactSet* set) {
  return x->running && (x->adaptive || set->located);
}

const srSurfaceLaws* sr_near_law(const srModel* m, const srNear* near) {
  const srContactSet* set = &m->set[near->set];
  return &set->law[near->card_a * set->ncard + near->card_b];
}

static bool are_spheres(const srModel* m, int i, int j) {
  return m->collider[i].kind == SR_KIND_SPHERE && m->collider[j].kind == SR_KIND_SPHERE;
}

static srNearKind kind_of(const srModel* m, int a, int b) {
  const int kind = m->collider[a].kind;
  if (m->collider[b].kind != SR_KIND_SPHERE) return SR_NEAR_ANY;
  if (kind == SR_KIND_SPHERE) return SR_NEAR_SPHERES;
  return kind == SR_KIND_PLANE && sr_near_link(m, a) == 0 ? SR_NEAR_ON_PLANE : SR_NEAR_ANY;
}

// Not excluded; of all shapes by default: such as may touch, and fit into each other.
static bool is_allowed(const srModel* m, const srContactSet* set, int i, int j) {
  const int a = m->collider[i].shape, b = m->collider[j].shape;
  if (!set->by_default) return m->priv->nexcluded == 0 || !sr_shapes_are_excluded(m, a, b);
  bool swap;
  const srPairKind* pair = sr_pair_find((srShapeKind)m->collider[i].kind, (srShapeKind)m->collider[j].kind, &swap);
  if (pair == NULL || sr_shapes_are_excluded(m, a, b) || (!set->joined && !sr_shapes_may_touch(m, a, b))) return false;
  const double one = m->collider[i].radius, two = m->collider[j].radius;
  return pair->fits == NULL || (swap ? pair->fits(two, one) : pair->fits(one, two));
}

// Two members of the set that are near.
bool sr_near_add(srListing* l, int one, int two) {
  const srContactSet* set = &l->m->set[l->set];
  const unsigned char s = set->side[one], t = set->side[two];
  const bool meant = (s & 1 && t & 2) || (s & 2 && t & 1);
  const int i = set->member[one], j = set->member[two];
  bool swap = false;
  if (!meant || sr_near_link(l->m, i) == sr_near_link(l->m, j) || !is_allowed(l->m, set, i, j)) return true;
  if (l->count == l->most) {
    l->full = true;
    return false;
  }
  if (!are_spheres(l->m, i, j))
    (void)sr_pair_find((srShapeKind)l->m->collider[i].kind, (srShapeKind)l->m->collider[j].kind, &swap);
  srNear* near = &l->near[l->count++];
  *near = (srNear){.set = l->set,
                   .a = swap ? j : i,
                   .b = swap ? i : j,
                   .card_a = set->card[swap ? two : one],
                   .card_b = set->card[swap ? one : two],
                   .instance = -1,
                   .kind = swap ? kind_of(l->m, j, i) : kind_of(l->m, i, j)};
  near->key = l->m->nforce + ((long)near->set * l->m->ncollider + near->a) * l->m->ncollider + near->b;
  l->any = l->any || near->kind == SR_NEAR_ANY;
  return true;
}

srListing sr_near_begin(const srModel* m, const srData* d, struct srInstances* x) {
  return (srListing){
      .m = m, .d = d, .x = x, .near = x->near, .count = x->nnear, .most = x->most_near, .any = !x->simple};
}

void sr_near_end(const srListing* l) {
  l->x->nnear = l->count;
  l->x->simple = !l->any;
  l->x->tested += l->tested;
}

// What the members of a team find.
typedef struct Found {
  int members;
  srNearSearch* search;
  const void* user;
  srListing of[SR_TEAM_MOST];
} Found;

static void find_some(void* user, int member, int from, int to) {
  Found* found = user;
  srListing* l = &found->of[member];
  const int most = l->most / found->members;
  l->near = l->x->found + (size_t)most * (size_t)member;
  l->count = 0;
  l->most = most;
  found->search(l, found->user, from, to);
}

// Behind what is listed. False: there is no room, or a member had none for its own.
static bool take_found(srListing* l, const Found* found) {
  long count = l->count;
  for (int k = 0; k < found->members; k++) {
    if (found->of[k].full) return false;
    count += found->of[k].count;
  }
  if (count > l->most) return false;
  for (int k = 0; k < found->members; k++) {
    const srListing* of = &found->of[k];
    memcpy(l->near + l->count, of->near, (size_t)of->count * sizeof *of->near);
    l->count += of->count;
    l->any = l->any || of->any;
    l->tested += of->tested;
  }
  return true;
}

void sr_near_share(srListing* l, int n, int least, srNearSearch* search, const void* user) {
  const int team = l->d->team != NULL && n >= 2 * least ? sr_team_members(l->d->team) : 1;
  Found found = {.members = team < SR_TEAM_MOST ? team : SR_TEAM_MOST, .search = search, .user = user};
  if (found.members > 1) {
    for (int k = 0; k < found.members; k++) {
      found.of[k] = *l;
      found.of[k].count = 0;
      found.of[k].tested = 0;
    }
    sr_team_share(l->d->team, n, least, find_some, &found);
    if (take_found(l, &found)) return;
  }
  search(l, user, 0, n);
}

// Gap and normal of two colliders at d's state.
void sr_near_find_point(const srModel* m, const srData* d, int a, int b, srFrameMotion* seen, srPairPoint* out) {
  const srCollider *one = &m->collider[a], *two = &m->collider[b];
  const double radius[2] = {one->radius, two->radius};
  double pose[16];
  bool swap;
  sr_frame_motion(m, d, two->point, one->point, seen);
  srm_pose_identity(pose);
  for (int k = 0; k < 9; k++) pose[4 * (k % 3) + k / 3] = seen->rotation[k];
  memcpy(pose + 12, seen->position, sizeof seen->position);
  sr_pair_point(sr_pair_find((srShapeKind)one->kind, (srShapeKind)two->kind, &swap), radius, &m->collision[one->shape],
                &m->collision[two->shape], pose, out);
}

static double range_of(const struct srInstances* x, int i, int j) { return x->skin + x->wider[i] + x->wider[j]; }

// Two members whose balls are near: shapes that do not fill them may be far apart.
static bool are_near(srListing* l, int one, int two) {
  const srModel* m = l->m;
  const srContactSet* set = &m->set[l->set];
  const int i = set->member[one], j = set->member[two];
  bool swap;
  if (are_spheres(m, i, j)) return true;
  const srPairKind* pair = sr_pair_find((srShapeKind)m->collider[i].kind, (srShapeKind)m->collider[j].kind, &swap);
  if (pair == NULL || pair->place != NULL || sr_near_link(m, i) == sr_near_link(m, j)) return pair != NULL;
  srFrameMotion seen;
  srPairPoint at;
  sr_near_find_point(m, l->d, swap ? j : i, swap ? i : j, &seen, &at);
  l->tested++;
  return at.gap < range_of(l->x, i, j);
}

static bool add_balls(void* user, int i, int j) {
  srListing* l = user;
  const int one = l->x->ball_of[j], two = l->x->ball_of[i];  // in the order of the file
  return !are_near(l, one, two) || sr_near_add(l, one, two);
}

// Of an unbounded shape i and a bounded one; where rotations do not matter, from the centres alone.
static double gap_of(const srListing* l, const srPairKind* pair, int i, int j) {
  const double *frame = l->x->built + 12 * i, *centre = l->x->centre + 3 * j;
  if (pair->place == NULL) {
    srFrameMotion seen;
    srPairPoint at;
    sr_near_find_point(l->m, l->d, i, j, &seen, &at);
    return at.gap;
  }
  const double radius[2] = {l->m->collider[i].radius, l->m->collider[j].radius};
  double x[3] = {0};
  srPairPlace place;
  for (int k = 0; k < 9; k++) x[k / 3] += frame[k] * (centre[k % 3] - frame[9 + k % 3]);
  pair->place(radius, x, &place);
  return place.gap;
}

// The same of a ball on a plane.
double sr_near_gap_on_plane(const srListing* l, int i, int j) {
  const double *frame = l->x->built + 12 * i, *centre = l->x->centre + 3 * j;
  double r[3];
  srm_sub3(centre, frame + 9, r);
  return srm_dot3(frame + 6, r) - l->m->collider[j].radius;
}

// An unbounded shape, with every bounded one.
static void list_plane(srListing* l, int plane) {
  const srModel* m = l->m;
  const srContactSet* set = &m->set[l->set];
  for (int k = 0; k < set->nmember && !l->full; k++) {
    const int i = set->member[plane], j = set->member[k];
    bool swap;
    if (m->collider[i].kind == SR_KIND_PLANE && m->collider[j].kind == SR_KIND_SPHERE) {
      l->tested++;
      if (sr_near_gap_on_plane(l, i, j) < range_of(l->x, i, j)) (void)sr_near_add(l, plane, k);
      continue;
    }
    if (!is_bounded(m, j)) continue;
    const srPairKind* pair = sr_pair_find((srShapeKind)m->collider[i].kind, (srShapeKind)m->collider[j].kind, &swap);
    if (pair == NULL) continue;
    l->tested++;
    if (gap_of(l, pair, i, j) < range_of(l->x, i, j)) (void)sr_near_add(l, plane, k);
  }
}

static void find_pairs(srListing* l, const void* user, int from, int to) {
  l->tested += sr_grid_part(user, from, to, add_balls, l);
}

static void list_set(srListing* l) {
  struct srInstances* x = l->x;
  const srModel* m = l->m;
  const srContactSet* set = &m->set[l->set];
  double* radius = x->ball + 3 * m->ncollider;
  int n = 0;
  for (int k = 0; k < set->nmember; k++) {
    const int i = set->member[k];
    if (!is_bounded(m, i)) {
      list_plane(l, k);
      continue;
    }
    memcpy(x->ball + 3 * n, x->centre + 3 * i, 3 * sizeof(double));
    radius[n] = m->collider[i].reach + x->wider[i];
    x->ball_of[n++] = k;
  }
  if (l->full || !set->balls) return;
  const srBalls balls = {.n = n, .centre = x->ball, .radius = radius};
  const srGrid* grid = x->balls && l->d->team != NULL ? sr_broad_grid(x->broad, &balls, x->skin) : NULL;
  if (grid != NULL) {
    sr_near_share(l, sr_grid_count(grid), SHARED, find_pairs, grid);
  } else {
    l->tested += sr_broad_pairs(x->broad, &balls, x->skin, add_balls, l);
  }
}

// False: more near pairs than the capacity.
static bool list_all(const srModel* m, const srData* d, struct srInstances* x) {
  x->nnear = x->nlocated = 0;
  x->simple = true;
  srListing l = sr_near_begin(m, d, x);
  for (int located = 1; located >= 0; located--) {
    for (l.set = 0; l.set < m->nset && !l.full; l.set++) {
      if (sr_set_located(x, &m->set[l.set]) == located) list_set(&l);
    }
    if (located) x->nlocated = l.count;
  }
  sr_near_end(&l);
  return !l.full;
}

// Matches near pairs and instances. An instance is searched by its b, which is a ball: few touch it.
static void connect(const srModel* m, struct srInstances* x) {
  if (x->nused == 0) return;
  int *head = x->chain, *next = x->chain + m->ncollider;
  for (int i = 0; i < m->ncollider; i++) head[i] = -1;
  for (int k = 0; k < x->nused; k++) {
    srInstance* instance = &x->instance[x->used[k]];
    instance->near = -1;
    next[x->used[k]] = head[instance->b];
    head[instance->b] = x->used[k];
  }
  for (int i = 0; i < x->nnear; i++) {
    srNear* near = &x->near[i];
    for (int k = head[near->b]; k >= 0; k = next[k]) {
      srInstance* instance = &x->instance[k];
      if (instance->a != near->a || instance->set != near->set) continue;
      instance->near = i;
      near->instance = k;
    }
  }
}

double sr_near_least_radius(const srModel* m) {
  double least = HUGE_VAL;
  for (int i = 0; i < m->ncollider; i++) {
    if (is_bounded(m, i) && m->collider[i].radius < least) least = m->collider[i].radius;
  }
  return isfinite(least) ? least : 1;
}

// What fast ones are about to strike moves as fast at the end of the step: the largest speed of those that were near in the last list.
static void spread_speeds(const srModel* m, struct srInstances* x, const double* speed) {
  for (int k = 0; k < x->nnear; k++) {
    const int i = x->near[k].a, j = x->near[k].b;
    if (speed[j] > x->wider[i] && sr_near_link(m, i) > 0 && is_bounded(m, i)) x->wider[i] = speed[j];
    if (speed[i] > x->wider[j] && sr_near_link(m, j) > 0 && is_bounded(m, j)) x->wider[j] = speed[i];
  }
}

// What a shape may move: for several steps, if it is slow.
double sr_near_range_for(double way, double slow) {
  const double least = WIDER * way, most = STEPS * way < slow ? STEPS * way : slow;
  return least > most ? least : most;
}

// Ranges of their own for shapes that move by more than half of the skin in a step, at the velocities v. NULL: none.
static void widen(const srModel* m, const srData* d, struct srInstances* x, const double* v, double step) {
  double* speed = x->ball;
  for (int i = 0; i < m->ncollider; i++) x->wider[i] = speed[i] = v != NULL ? sr_near_speed_of(m, d, x, v, i) : 0;
  if (v != NULL && x->made) spread_speeds(m, x, speed);
  for (int i = 0; i < m->ncollider; i++) {
    const double wider = sr_near_range_for(step * x->wider[i], x->slow) - 0.5 * x->skin;
    x->wider[i] = wider > 0 ? wider : 0;
  }
}

static void look_at_shapes(const srModel* m, struct srInstances* x) {
  x->balls = true;
  for (int i = 0; i < m->ncollider; i++) {
    const int kind = m->collider[i].kind;
    x->central[i] = central_of(m, i);
    x->radius[i] = m->collider[i].radius;
    x->body[i] = sr_near_link(m, i) - 1;
    if (kind != SR_KIND_SPHERE && (kind != SR_KIND_PLANE || sr_near_link(m, i) > 0)) x->balls = false;
  }
}

int sr_near_make(const srModel* m, srData* d, double skin, const double* v, double step) {
  struct srInstances* x = d->instances;
  if (!x->made || !is_run(d)) look_at_shapes(m, x);
  for (int i = 0; i < m->ncollider; i++) {
    srm_set3(x->origin + 3 * i, x->centre + 3 * i);
    if (m->collider[i].kind != SR_KIND_SPHERE) frame_of(m, d, i, x->built + 12 * i);  // its rotation matters
  }
  const double least = sr_near_least_radius(m);
  x->skin = fmax(skin, (v != NULL ? SLIM : SR_SKIN) * least);
  x->slow = 0.5 * SR_SKIN * least;
  widen(m, d, x, v, step);
  int k = 0;
  while (!list_all(m, d, x) && k++ < HALVINGS) {
    x->skin *= 0.5;
    for (int i = 0; i < m->ncollider; i++) x->wider[i] *= 0.5;
  }
  x->moved = 0;
  x->checked = d->positions;
  x->made = true;
  x->celled = false;
  x->again = 0;
  x->version++;
  connect(m, x);
  if (k <= HALVINGS) return 0;
  (void)snprintf(d->error_message, sizeof d->error_message, "more than %d pairs of shapes touch at the same time",
                 x->most_near);
  return -1;
}

// ---- at a state ---------------------------------------------------------------------------------------------------------

static int too_far(srData* d) {
  (void)snprintf(
      d->error_message, sizeof d->error_message,
      "shapes that may touch move by %.3g m within a step, and contacts are known for %.3g m: take shorter steps",
      d->instances->moved, d->instances->skin);
  return 1;
}

int sr_near_at(const srModel* m, srData* d) {
  struct srInstances* x = d->instances;
  sr_near_centres(m, d, x);
  sr_near_check(m, d, x);
  if (x->made && x->moved <= x->skin) return 0;
  return x->made && x->fixed ? too_far(d) : sr_near_make(m, d, 0, NULL, 0);
}

// The first time at a position it is what the step begins with, then what it has come to: bodies that move straight do that by no more.
int sr_near_for(const srModel* m, srData* d, const double* v, double step) {
  struct srInstances* x = d->instances;
  sr_near_centres(m, d, x);
  if (!x->made) return sr_near_make(m, d, 0, v, step) == 0 ? 1 : -1;
  const bool begins = x->checked != d->positions, local = sr_near_can_again(x);
  const double moved = find_moved(m, d, x, v, begins || !local ? BEYOND * step : step, begins && local ? EARLY : 1);
  if (local ? x->nover > 0 : !(moved <= x->skin))
    return sr_near_again(m, d, v, step) || sr_near_make(m, d, 0, v, step) == 0 ? 1 : -1;
  if (begins) {  // until now it is less
    x->checked = d->positions;
    x->moved = moved;
  }
  return 0;
}
