// Contact instances: an instance for each closed pair of the list of near pairs (near.h).
//
// An instance takes a slot, with states of its own that start at 0, when its pair closes; the slot is free again when the two are
// apart and its states are 0, or where its pair is no longer near. In between it keeps pair, slot and states. docs/developing/decisions/contact-instances.md
#include "force/instances.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sarrus/dynamics.h>

#include "base/base.h"
#include "collide/collision.h"
#include "dynamics/link.h"
#include "force/near.h"
#include "force/ports.h"
#include "math/pose.h"
#include "math/vector3.h"
#include "model/catalog.h"
#include "model/private.h"

#define TOO_WIDE 8.0  // a skin so many times wider than necessary is rebuilt

int sr_element_count(const srModel* m, const srData* d) {
  return m->nforce + (d->instances != NULL ? d->instances->nused : 0);
}

const srForceElement* sr_element(const srModel* m, const srData* d, int i) {
  return i < m->nforce ? &m->force[i] : &d->instances->instance[d->instances->used[i - m->nforce]].element;
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
  sr_near_find_point(m, d, near->a, near->b, &seen, &at);
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
  sr_near_centres(m, d, x);
  remove_over(m, d);
  const double speed = sr_near_speed(m, d, x), need = 2 * speed * step;
  sr_near_check(m, d, x);
  const double wide = TOO_WIDE * fmax(SR_SKIN * sr_near_least_radius(m), 2 * need);
  if (!x->made || !(x->moved + need <= x->skin) || x->skin > wide) {
    const int answer = sr_near_make(m, d, 2 * need, NULL, 0);
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
  if (near.card_a < 0 || near.card_b < 0 || sr_near_link(m, a) == sr_near_link(m, b)) return NULL;
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
