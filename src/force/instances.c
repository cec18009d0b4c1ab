// Contact instances: near pairs from the broad phase, an instance for each closed pair.
//
// The list of near pairs has every pair with a gap below `skin` at the state where it was built. It covers a state as long as no gap can have
// shrunk by more than that since:
//   s + max(s, S) <= skin,    s: largest displacement of a point of a bounded shape, |dp| + |dR| R with its reach R (a ball: |dp|),
//                             S: of a plane, |dp| + |dR| L at the distance L of the farthest point of the others
// That is checked at every evaluation. Outside a run, and in a run with steps of fixed length, the list is then rebuilt: a pair
// that joins it is apart, has no force and no states, and so changes nothing. Methods that solve the contacts of a whole step need all that
// may close in it: with s the displacement at its end as well, and a range of its own for each shape that moves far in a step (sr_near_for):
//   pairs with a gap below skin + w_a + w_b,    s_a <= skin/2 + w_a of every shape a. Where contacts are located, the switching functions
// belong to the list: it stays for the step, a state that it does not cover requests a smaller step, and steps are no
// longer than the list covers (sr_instances_prepare).
//
// An instance takes a slot, with states of its own that start at 0, when its pair closes; the slot is free again when the two are
// apart and its states are 0, or where its pair is no longer near. In between it keeps pair, slot and states. docs/developing/decisions/contact-instances.md
#include "force/instances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sarrus/dynamics.h>

#include "base/base.h"
#include "base/team.h"
#include "collide/broad.h"
#include "collide/collision.h"
#include "dynamics/link.h"
#include "force/ports.h"
#include "math/pose.h"
#include "math/vector3.h"
#include "model/catalog.h"
#include "model/private.h"

#define SKIN 0.2  // least skin, of the least radius
#define SLIM                                                                                                           \
  0.06  // the same where shapes have ranges of their own: most of a heap rests, and what is not near costs nothing
#define STEPS 4.0     // for which these ranges last, where they are then below half of SKIN
#define HALVINGS 40   // of a skin with more near pairs than the capacity
#define TOO_WIDE 8.0  // a skin so many times wider than necessary is rebuilt
#define BEYOND                                                                                                         \
  1.1  // times the displacement in a step: it is that of the velocities at its start, in their directions there
#define WIDER 1.25  // times the displacement in a step: range of what moves farther than the skin

int sr_element_count(const srModel* m, const srData* d) {
  return m->nforce + (d->instances != NULL ? d->instances->nused : 0);
}

const srForceElement* sr_element(const srModel* m, const srData* d, int i) {
  return i < m->nforce ? &m->force[i] : &d->instances->instance[d->instances->used[i - m->nforce]].element;
}

// ---- ways -------------------------------------------------------------------------------------------------------------

static bool is_bounded(const srModel* m, int collider) {
  return sr_shape_bounded((srShapeKind)m->collider[collider].kind);
}

static int link_of(const srModel* m, int collider) { return m->point_link[m->collider[collider].point]; }

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
  double step;
  double ball[SR_TEAM_MOST], plane[SR_TEAM_MOST];  // of each member: largest way of a bounded shape, and of another one
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

static void find_centres(const srModel* m, const srData* d, struct srInstances* x) {
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
  if (link_of(m, i) == 0) return 0;
  double frame[12], turn = 0;
  const double* before = x->built + 12 * i;
  frame_of(m, d, i, frame);
  for (int k = 0; k < 9; k++) turn += (frame[k] - before[k]) * (frame[k] - before[k]);
  return distance(frame + 9, before + 9) + sqrt(turn) * (L < 0 ? farthest_ball(m, x, frame + 9) : L);
}

static double way_of(const srModel* m, const srData* d, const struct srInstances* x, int i) {
  if (!is_bounded(m, i)) return way_of_shape(m, d, x, i, -1);
  if (rotating(m, i) > 0) return way_of_shape(m, d, x, i, rotating(m, i));
  return distance(x->centre + 3 * i, x->built + 12 * i + 9);
}

// Largest speed of a point of a collider; of an unbounded one: at the farthest of the others. d has the velocities v; of free bodies on the ground v alone is read.
static double speed_of(const srModel* m, const srData* d, const struct srInstances* x, const double* v, int i) {
  const int link = link_of(m, i), point = m->collider[i].point;
  if (link == 0) return 0;
  if (x->made && x->central[i]) return length_of(v + m->link_v[link] + 3);
  if (is_bounded(m, i) && m->link_type[link] == SR_LINK_FREE && m->link_parent[link] == 0) {
    const double* own = v + m->link_v[link];
    return length_of(own + 3) + length_of(own) * (length_of(m->point_pose + 16 * point + 12) + rotating(m, i));
  }
  srPointState s;
  sr_port_point(m, d, point, &s);
  return length_of(s.v) + length_of(s.w) * (is_bounded(m, i) ? rotating(m, i) : farthest_ball(m, x, s.p));
}

static bool is_zero(const double a[3]) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }

static bool is_central(const srModel* m, int i) {
  const int link = link_of(m, i);
  return m->collider[i].kind == SR_KIND_SPHERE && m->link_type[link] == SR_LINK_FREE && m->link_parent[link] == 0 &&
         is_zero(m->point_pose + 16 * m->collider[i].point + 12) && is_zero(m->link_inertia + 16 * link + 12);
}

// Could |way| + times |v| - wider of a ball be more than `most`? From (a + b)^2 <= 2 (a^2 + b^2): without roots.
static bool may_exceed(const srModel* m, const struct srInstances* x, const double* v, double times, int i,
                       double most) {
  const double *built = x->built + 12 * i + 9, *centre = x->centre + 3 * i, *own = v + m->link_v[link_of(m, i)] + 3;
  double way[3];
  srm_sub3(centre, built, way);
  const double room = most + x->wider[i];
  return !((2 + 1e-9) * (srm_dot3(way, way) + times * times * srm_dot3(own, own)) < room * room);
}

static void find_ways(void* user, int member, int from, int to) {
  Share* of = user;
  const srModel* m = of->m;
  const srData* d = of->d;
  const struct srInstances* x = of->x;
  const double *v = of->v, step = of->step;
  double ball = 0, plane = 0;
  for (int i = from; i < to; i++) {
    if (link_of(m, i) == 0) continue;
    if (v != NULL && x->central[i] && !may_exceed(m, x, v, BEYOND * step, i, ball)) continue;
    const double more = v != NULL ? BEYOND * step * speed_of(m, d, x, v, i) : 0;
    const double most = way_of(m, d, x, i) + more - x->wider[i];
    if (is_bounded(m, i)) {
      ball = most > ball ? most : ball;
    } else {
      plane = most > plane ? most : plane;
    }
  }
  of->ball[member] = ball;
  of->plane[member] = plane;
}

// Largest possible change of a gap since the list was built, beyond what single shapes have of their own; centres are those of d. v != NULL: until `step` later, at these velocities.
static double find_moved(const srModel* m, const srData* d, struct srInstances* x, const double* v, double step) {
  Share share = {.m = m, .d = d, .x = x, .v = v, .step = step};
  double ball = 0, plane = 0;
  sr_team_loop(d->team, m->ncollider, find_ways, &share);
  for (int k = 0; k < sr_team_hands(d->team, m->ncollider); k++) {
    ball = fmax(ball, share.ball[k]);
    plane = fmax(plane, share.plane[k]);
  }
  return ball + fmax(ball, plane);
}

// The same since the list was built, until now.
static void check_moved(const srModel* m, const srData* d, struct srInstances* x) {
  if (is_run(d) && x->made && x->checked == d->positions) return;
  x->moved = x->made ? find_moved(m, d, x, NULL, 0) : 0;
  x->checked = d->positions;
}

// Largest speed of approach.
static double find_speed(const srModel* m, const srData* d, const struct srInstances* x) {
  double ball = 0, plane = 0;
  for (int i = 0; i < m->ncollider; i++) {
    double* most = is_bounded(m, i) ? &ball : &plane;
    *most = fmax(*most, speed_of(m, d, x, d->v, i));
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
  return kind == SR_KIND_PLANE && link_of(m, a) == 0 ? SR_NEAR_ON_PLANE : SR_NEAR_ANY;
}

typedef struct Listing {
  const srModel* m;
  const srData* d;
  struct srInstances* x;
  int set;
  bool full;
} Listing;

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
static bool add_near(Listing* l, int one, int two) {
  const srContactSet* set = &l->m->set[l->set];
  const unsigned char s = set->side[one], t = set->side[two];
  const bool meant = (s & 1 && t & 2) || (s & 2 && t & 1);
  const int i = set->member[one], j = set->member[two];
  bool swap = false;
  if (!meant || link_of(l->m, i) == link_of(l->m, j) || !is_allowed(l->m, set, i, j)) return true;
  if (l->x->nnear == l->x->most_near) {
    l->full = true;
    return false;
  }
  if (!are_spheres(l->m, i, j))
    (void)sr_pair_find((srShapeKind)l->m->collider[i].kind, (srShapeKind)l->m->collider[j].kind, &swap);
  srNear* near = &l->x->near[l->x->nnear++];
  *near = (srNear){.set = l->set,
                   .a = swap ? j : i,
                   .b = swap ? i : j,
                   .card_a = set->card[swap ? two : one],
                   .card_b = set->card[swap ? one : two],
                   .instance = -1,
                   .kind = swap ? kind_of(l->m, j, i) : kind_of(l->m, i, j)};
  l->x->simple = l->x->simple && near->kind != SR_NEAR_ANY;
  return true;
}

// Gap and normal of two colliders at d's state.
static void find_point(const srModel* m, const srData* d, int a, int b, srFrameMotion* seen, srPairPoint* out) {
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
static bool are_near(Listing* l, int one, int two) {
  const srModel* m = l->m;
  const srContactSet* set = &m->set[l->set];
  const int i = set->member[one], j = set->member[two];
  bool swap;
  if (are_spheres(m, i, j)) return true;
  const srPairKind* pair = sr_pair_find((srShapeKind)m->collider[i].kind, (srShapeKind)m->collider[j].kind, &swap);
  if (pair == NULL || pair->place != NULL || link_of(m, i) == link_of(m, j)) return pair != NULL;
  srFrameMotion seen;
  srPairPoint at;
  find_point(m, l->d, swap ? j : i, swap ? i : j, &seen, &at);
  l->x->tested++;
  return at.gap < range_of(l->x, i, j);
}

static bool add_balls(void* user, int i, int j) {
  Listing* l = user;
  const int one = l->x->ball_of[j], two = l->x->ball_of[i];  // in the order of the file
  return !are_near(l, one, two) || add_near(l, one, two);
}

// Of an unbounded shape i and a bounded one; where rotations do not matter, from the centres alone.
static double gap_of(const Listing* l, const srPairKind* pair, int i, int j) {
  const double *frame = l->x->built + 12 * i, *centre = l->x->centre + 3 * j;
  if (pair->place == NULL) {
    srFrameMotion seen;
    srPairPoint at;
    find_point(l->m, l->d, i, j, &seen, &at);
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
static double gap_on_plane(const Listing* l, int i, int j) {
  const double *frame = l->x->built + 12 * i, *centre = l->x->centre + 3 * j;
  double r[3];
  srm_sub3(centre, frame + 9, r);
  return srm_dot3(frame + 6, r) - l->m->collider[j].radius;
}

// An unbounded shape, with every bounded one.
static void list_plane(Listing* l, int plane) {
  const srModel* m = l->m;
  const srContactSet* set = &m->set[l->set];
  for (int k = 0; k < set->nmember && !l->full; k++) {
    const int i = set->member[plane], j = set->member[k];
    bool swap;
    if (m->collider[i].kind == SR_KIND_PLANE && m->collider[j].kind == SR_KIND_SPHERE) {
      l->x->tested++;
      if (gap_on_plane(l, i, j) < range_of(l->x, i, j)) (void)add_near(l, plane, k);
      continue;
    }
    if (!is_bounded(m, j)) continue;
    const srPairKind* pair = sr_pair_find((srShapeKind)m->collider[i].kind, (srShapeKind)m->collider[j].kind, &swap);
    if (pair == NULL) continue;
    l->x->tested++;
    if (gap_of(l, pair, i, j) < range_of(l->x, i, j)) (void)add_near(l, plane, k);
  }
}

static void list_set(Listing* l) {
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
  x->tested += sr_broad_pairs(x->broad, &balls, x->skin, add_balls, l);
}

// False: more near pairs than the capacity.
static bool list_all(const srModel* m, const srData* d, struct srInstances* x) {
  Listing l = {.m = m, .d = d, .x = x};
  x->nnear = x->nlocated = 0;
  x->simple = true;
  for (int located = 1; located >= 0; located--) {
    for (l.set = 0; l.set < m->nset && !l.full; l.set++) {
      if (sr_set_located(x, &m->set[l.set]) == located) list_set(&l);
    }
    if (located) x->nlocated = x->nnear;
  }
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

static double least_radius(const srModel* m) {
  double least = HUGE_VAL;
  for (int i = 0; i < m->ncollider; i++) {
    if (is_bounded(m, i)) least = fmin(least, m->collider[i].radius);
  }
  return isfinite(least) ? least : 1;
}

// What fast ones are about to strike moves as fast at the end of the step: the largest speed of those that were near in the last list.
static void spread_speeds(const srModel* m, struct srInstances* x, const double* speed) {
  for (int k = 0; k < x->nnear; k++) {
    const int i = x->near[k].a, j = x->near[k].b;
    if (speed[j] > x->wider[i] && link_of(m, i) > 0 && is_bounded(m, i)) x->wider[i] = speed[j];
    if (speed[i] > x->wider[j] && link_of(m, j) > 0 && is_bounded(m, j)) x->wider[j] = speed[i];
  }
}

// What a shape may move: for several steps, if it is slow.
static double range_for(double way, double slow) {
  const double least = WIDER * way, most = STEPS * way < slow ? STEPS * way : slow;
  return least > most ? least : most;
}

// Ranges of their own for shapes that move by more than half of the skin in a step, at the velocities v. NULL: none.
static void widen(const srModel* m, const srData* d, struct srInstances* x, double least, const double* v,
                  double step) {
  double* speed = x->ball;
  for (int i = 0; i < m->ncollider; i++) x->wider[i] = speed[i] = v != NULL ? speed_of(m, d, x, v, i) : 0;
  if (v != NULL && x->made) spread_speeds(m, x, speed);
  for (int i = 0; i < m->ncollider; i++)
    x->wider[i] = fmax(0, range_for(step * x->wider[i], 0.5 * SKIN * least) - 0.5 * x->skin);
}

// At d's state, whose centres are known.
static int make_list(const srModel* m, srData* d, double skin, const double* v, double step) {
  struct srInstances* x = d->instances;
  for (int i = 0; i < m->ncollider; i++) {
    if (!x->made || !is_run(d)) x->central[i] = is_central(m, i);
    if (m->collider[i].kind == SR_KIND_SPHERE) {  // its rotation does not matter
      srm_set3(x->built + 12 * i + 9, x->centre + 3 * i);
    } else {
      frame_of(m, d, i, x->built + 12 * i);
    }
  }
  const double least = least_radius(m);
  x->skin = fmax(skin, (v != NULL ? SLIM : SKIN) * least);
  widen(m, d, x, least, v, step);
  int k = 0;
  while (!list_all(m, d, x) && k++ < HALVINGS) {
    x->skin *= 0.5;
    for (int i = 0; i < m->ncollider; i++) x->wider[i] *= 0.5;
  }
  x->moved = 0;
  x->checked = d->positions;
  x->made = true;
  x->version++;
  connect(m, x);
  if (k <= HALVINGS) return 0;
  (void)snprintf(d->error_message, sizeof d->error_message, "more than %d pairs of shapes touch at the same time",
                 x->most_near);
  return -1;
}

// ---- instances --------------------------------------------------------------------------------------------------------

// The same as find_point, without rotations. A frame of the ground is where it was when the list was built.
static void simple_gap(const srModel* m, const srData* d, const srNear* near, double* gap, double* rate) {
  const srCollider *one = &m->collider[near->a], *two = &m->collider[near->b];
  const double* plane = d->instances->built + 12 * near->a;
  srPointState a = {0}, b;
  double r[3], u[3];
  sr_port_point(m, d, two->point, &b);
  if (near->kind == SR_NEAR_SPHERES) sr_port_point(m, d, one->point, &a);
  srm_sub3(b.p, near->kind == SR_NEAR_SPHERES ? a.p : plane + 9, r);
  srm_sub3(b.v, a.v, u);
  if (near->kind == SR_NEAR_ON_PLANE) {
    *gap = srm_dot3(plane + 6, r) - two->radius;
    *rate = srm_dot3(plane + 6, u);
    return;
  }
  const double distance = srm_norm3(r);
  *gap = distance - one->radius - two->radius;
  *rate = distance > 0 ? srm_dot3(r, u) / distance : 0;  // concentric spheres have no normal
}

void sr_near_gap(const srModel* m, const srData* d, const srNear* near, double* gap, double* rate) {
  if (near->kind != SR_NEAR_ANY) {
    simple_gap(m, d, near, gap, rate);
    return;
  }
  srFrameMotion seen;
  srPairPoint at;
  double v[3];
  find_point(m, d, near->a, near->b, &seen, &at);
  srm_cross3(seen.angular_velocity, at.r, v);
  *gap = at.gap;
  *rate = srm_dot3(at.n, seen.velocity) + srm_dot3(at.n, v);
}

// Fills the slot k of a set.
static srInstance* fill(const srModel* m, struct srInstances* x, int k, const srNear* near) {
  const srContactSet* set = &m->set[near->set];
  const srCollider *a = &m->collider[near->a], *b = &m->collider[near->b];
  srInstance* instance = &x->instance[k];
  bool swap;
  *instance = (srInstance){.set = near->set, .a = near->a, .b = near->b, .near = -1, .use = x->nused};
  instance->contact = *sr_near_law(m, near);
  instance->contact.a = a->name;
  instance->contact.b = b->name;
  sr_contact_of_pair(&instance->contact, sr_pair_find((srShapeKind)a->kind, (srShapeKind)b->kind, &swap),
                     (srElastic){set->E[near->card_a], set->nu[near->card_a], a->radius},
                     (srElastic){set->E[near->card_b], set->nu[near->card_b], b->radius}, &m->collision[a->shape],
                     &m->collision[b->shape], &instance->patch);
  instance->element = (srForceElement){.name = set->name,
                                       .place = set->place,
                                       .law = set->kind->law,
                                       .account = SR_ACCOUNT_CONTACT,
                                       .dof = -1,
                                       .qdof = -1,
                                       .point = {a->point, b->point},
                                       .formula = m->priv->formula_belt,
                                       .distance_arg = -1,
                                       .y = set->y + (k - set->first) * set->ny,
                                       .ny = sr_contact_states(&instance->contact),
                                       .tau = set->tau,
                                       .z = set->z + (k - set->first) * SR_Z_CONTACT,
                                       .contact = &instance->contact,
                                       .jacobian = set->kind->jacobian};
  const srSurfaceLaws* like = set->like[sr_contact_likeness(&instance->contact)];
  instance->contact.derivative = like->derivative;
  instance->contact.slip.derivative = like->slip.derivative;
  instance->contact.roll.derivative = like->roll.derivative;
  instance->contact.spin.derivative = like->spin.derivative;
  x->used[x->nused++] = k;
  x->changed = true;
  x->edition++;
  return instance;
}

srInstance* sr_instance_make(const srModel* m, srData* d, int near) {
  struct srInstances* x = d->instances;
  srNear* pair = &x->near[near];
  const srContactSet* set = &m->set[pair->set];
  if (x->nfree[pair->set] == 0) {
    (void)snprintf(d->error_message, sizeof d->error_message,
                   "more than %d pairs of the contact '%.80s' are in contact at the same time: give it a larger 'most'",
                   set->most, set->name);
    return NULL;
  }
  const int k = x->free[set->first + --x->nfree[pair->set]];
  srInstance* instance = fill(m, x, k, pair);
  instance->near = near;
  pair->instance = k;
  d->z[instance->element.z + SR_Z_SPEED] = 0;  // unknown, and closed: as for any contact outside a run
  d->z[instance->element.z + SR_Z_CLOSED] = 1;
  if (set->ny > 0) memset(d->y + instance->element.y, 0, (size_t)set->ny * sizeof *d->y);
  return instance;
}

void sr_instance_remove(const srModel* m, srData* d, srInstance* instance) {
  struct srInstances* x = d->instances;
  const int k = (int)(instance - x->instance), set = instance->set;
  if (instance->near >= 0) x->near[instance->near].instance = -1;
  const int last = x->used[--x->nused];
  x->used[instance->use] = last;
  x->instance[last].use = instance->use;
  x->free[m->set[set].first + x->nfree[set]++] = k;
  instance->set = -1;
  x->changed = true;
  x->edition++;
}

// Its bodies are apart and it has no memory.
static bool is_over(const srModel* m, const srData* d, const srInstance* instance) {
  const double* y = d->y + instance->element.y;
  for (int k = 0; k < instance->element.ny; k++) {
    if (y[k] != 0) return false;
  }
  if (instance->near < 0) return true;
  double gap, rate;
  sr_near_gap(m, d, &d->instances->near[instance->near], &gap, &rate);
  return gap > 0;
}

static void remove_over(const srModel* m, srData* d) {
  struct srInstances* x = d->instances;
  for (int k = x->nused - 1; k >= 0; k--) {
    srInstance* instance = &x->instance[x->used[k]];
    if (is_over(m, d, instance)) sr_instance_remove(m, d, instance);
  }
}

// By the centres, which are known: most near pairs do not touch.
static bool are_balls_apart(const srModel* m, const struct srInstances* x, const srNear* near) {
  const bool spheres = near->kind == SR_NEAR_SPHERES;
  const double *plane = x->built + 12 * near->a, *centre = x->centre + 3 * near->b;
  const double touch = m->collider[near->b].radius + (spheres ? m->collider[near->a].radius : 0);
  double r[3];
  if (near->kind == SR_NEAR_ANY) return false;
  srm_sub3(centre, spheres ? x->centre + 3 * near->a : plane + 9, r);
  return spheres ? srm_dot3(r, r) > touch * touch : srm_dot3(plane + 6, r) > touch;
}

// Near pairs in contact that are not waiting to be located.
static int make_touching(const srModel* m, srData* d) {
  struct srInstances* x = d->instances;
  for (int i = x->nlocated; i < x->nnear; i++) {
    if (x->near[i].instance >= 0 || are_balls_apart(m, x, &x->near[i])) continue;
    double gap, rate;
    sr_near_gap(m, d, &x->near[i], &gap, &rate);
    if (gap < 0 && sr_instance_make(m, d, i) == NULL) return -1;
  }
  return 0;
}

// ---- at a state, and between steps ------------------------------------------------------------------------------------

static int too_far(srData* d) {
  (void)snprintf(
      d->error_message, sizeof d->error_message,
      "shapes that may touch move by %.3g m within a step, and contacts are known for %.3g m: take shorter steps",
      d->instances->moved, d->instances->skin);
  return 1;
}

int sr_near_at(const srModel* m, srData* d) {
  struct srInstances* x = d->instances;
  find_centres(m, d, x);
  check_moved(m, d, x);
  if (x->made && x->moved <= x->skin) return 0;
  return x->made && x->fixed ? too_far(d) : make_list(m, d, 0, NULL, 0);
}

int sr_near_for(const srModel* m, srData* d, const double* v, double step) {
  struct srInstances* x = d->instances;
  find_centres(m, d, x);
  const double moved = x->made ? find_moved(m, d, x, v, step) : 0;
  if (!x->made || !(moved <= x->skin)) return make_list(m, d, 0, v, step) == 0 ? 1 : -1;
  if (x->checked != d->positions) {  // until now it is less
    x->checked = d->positions;
    x->moved = moved;
  }
  return 0;
}

int sr_instances_at(const srModel* m, srData* d) {
  struct srInstances* x = d->instances;
  if (x == NULL) return 0;
  const int answer = sr_near_at(m, d);
  if (answer != 0) return answer;
  if (!x->running) remove_over(m, d);
  return make_touching(m, d);
}

int sr_instances_prepare(const srModel* m, srData* d, double step, double* covered) {
  struct srInstances* x = d->instances;
  find_centres(m, d, x);
  remove_over(m, d);
  const double speed = find_speed(m, d, x), need = 2 * speed * step;
  check_moved(m, d, x);
  const double wide = TOO_WIDE * fmax(SKIN * least_radius(m), 2 * need);
  if (!x->made || !(x->moved + need <= x->skin) || x->skin > wide) {
    const int answer = make_list(m, d, 2 * need, NULL, 0);
    if (answer != 0) return answer;
  }
  *covered = speed > 0 ? (x->skin - x->moved) / (2 * speed) : HUGE_VAL;
  return 0;
}

int sr_instances_begin(const srModel* m, srData* d, bool adaptive) {
  struct srInstances* x = d->instances;
  x->running = true;
  x->adaptive = adaptive;
  x->made = x->fixed = false;  // located ones come first from now on
  for (int i = 0; i < m->nset; i++) x->fixed |= sr_set_located(x, &m->set[i]);
  double covered;
  return sr_instances_prepare(m, d, 0, &covered);
}

void sr_instances_end(srData* d) {
  d->instances->running = d->instances->adaptive = d->instances->fixed = false;
  d->instances->made = false;
}

// ---- as numbers -------------------------------------------------------------------------------------------------------

int sr_instance_numbers(const srModel* m, const srData* d, double* out) {
  const struct srInstances* x = d->instances;
  int n = 0;
  for (int k = 0; x != NULL && k < x->nused; k++) {
    const srInstance* instance = &x->instance[x->used[k]];
    const srForceElement* e = &instance->element;
    const double* z = d->z + e->z;
    const double head[4] = {x->used[k], instance->a, instance->b, z[SR_Z_CLOSED] != 0 ? z[SR_Z_SPEED] : 0};
    if (out != NULL) memcpy(out + n, head, sizeof head);
    if (out != NULL && e->ny > 0) memcpy(out + n + 4, d->y + e->y, (size_t)e->ny * sizeof *out);
    n += 4 + e->ny;
  }
  (void)m;
  return n;
}

// A pair in a given slot; not near anything until the next list. NULL: the slot is taken, or it is no pair of the set.
static srInstance* restore(const srModel* m, srData* d, int slot, int a, int b) {
  struct srInstances* x = d->instances;
  int s = 0;
  while (s < m->nset && slot >= m->set[s].first + m->set[s].most) s++;
  if (slot < 0 || s == m->nset || x->instance[slot].set >= 0) return NULL;
  const srContactSet* set = &m->set[s];
  srNear near = {.set = s, .a = a, .b = b, .card_a = -1, .card_b = -1};
  for (int k = 0; k < set->nmember; k++) {
    if (set->member[k] == a) near.card_a = set->card[k];
    if (set->member[k] == b) near.card_b = set->card[k];
  }
  bool swap = true;
  if (near.card_a < 0 || near.card_b < 0 || link_of(m, a) == link_of(m, b)) return NULL;
  if (sr_pair_find((srShapeKind)m->collider[a].kind, (srShapeKind)m->collider[b].kind, &swap) == NULL || swap)
    return NULL;
  int* free = x->free + set->first;
  for (int k = 0; k < x->nfree[s]; k++) {
    if (free[k] != slot) continue;
    memmove(free + k, free + k + 1, (size_t)(x->nfree[s] - k - 1) * sizeof *free);
    x->nfree[s]--;
    return fill(m, x, slot, &near);
  }
  return NULL;
}

static int whole(double x) { return x >= 0 && x < 1e9 && x == floor(x) ? (int)x : -1; }

bool sr_put_instances(const srModel* m, srData* d, const double* x, int n) {
  if (d->instances == NULL) return n == 0;
  sr_instances_reset(m, d->instances);
  for (int i = 0; i < n;) {
    const int a = i + 4 <= n ? whole(x[i + 1]) : -1, b = i + 4 <= n ? whole(x[i + 2]) : -1;
    const bool shapes = a >= 0 && b >= 0 && a < m->ncollider && b < m->ncollider;
    const srInstance* instance = shapes ? restore(m, d, whole(x[i]), a, b) : NULL;
    if (instance == NULL || i + 4 + instance->element.ny > n) {
      sr_instances_reset(m, d->instances);
      return false;
    }
    const srForceElement* e = &instance->element;
    d->z[e->z + SR_Z_SPEED] = x[i + 3];
    d->z[e->z + SR_Z_CLOSED] = x[i + 3] > 0;
    if (e->ny > 0) memcpy(d->y + e->y, x + i + 4, (size_t)e->ny * sizeof *x);
    i += 4 + e->ny;
  }
  return true;
}
