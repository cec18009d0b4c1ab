// Contact monitor: contacts while a model is simulated.
//
// A law that needs the approach velocity gets it from the located event: its gap is a switching function (event.c), and the
// contact stays open until the root is found, so that only the motion before it determines the time. On contact the
// velocity is max(floor, -gap'); when the gap opens again the bristles of friction are released. A closed contact that is struck by
// a body other than the one it began with takes the largest approach velocity since it closed.
// Other laws are continuous or nearly so. Where error control chooses the steps they are located all the same: a step that has grown
// long over a free flight has no other way to detect a floor. With steps of fixed length their contacts are counted after each
// step, without a restart.
#include "simulate/contact_monitor.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "contact/element.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "simulate/passing.h"

#define TOUCHING 1e-9    // m: bodies no deeper than this at the start are just in contact
#define PARTING 1e-12    // m: depth just before separation
#define IDLE 1e-12       // m: gaps of bodies that touch and move together are 0 but for rounding ...
#define IDLE_SPEED 1e-9  // m/s: ... and so are their rates

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

srContactMonitor* sr_contact_monitor_create(const srModel* m, srData* d, bool adaptive) {
  int n = 0;
  for (int i = 0; i < m->nforce && !d->rigid; ++i) n += is_contact(&m->force[i]);
  const int near = d->instances != NULL && !d->rigid ? d->instances->most_near : 0;
  const size_t head = (sizeof(srContactMonitor) + 15) / 16 * 16, most = (size_t)n + 2 * (size_t)near;
  char* block = sr_alloc(head + most * (3 * sizeof(double) + 1) + (size_t)n * (sizeof(int) + 2));
  if (block == NULL) return NULL;
  srContactMonitor* monitor = (srContactMonitor*)(void*)block;
  monitor->m = m;
  monitor->d = d;
  monitor->gap = (double*)(void*)(block + head);
  monitor->rate = monitor->gap + most;
  monitor->gap_before = monitor->rate + most;
  monitor->element = (int*)(void*)(monitor->gap_before + most);
  monitor->closed = (unsigned char*)(monitor->element + n);
  monitor->clamped = monitor->closed + n;
  monitor->late = monitor->clamped + n;
  for (int located = 1; located >= 0; --located) {
    for (int i = 0; i < m->nforce && !d->rigid; ++i) {
      if (!is_contact(&m->force[i]) || (adaptive || m->force[i].contact->located) != located) continue;
      monitor->element[monitor->nelement[0] + monitor->nelement[1]++] = i;
      monitor->formulas = monitor->formulas || m->force[i].law->port == SR_PORT_GAP;
    }
    if (located) {
      monitor->nelement[0] = monitor->nelement[1];
      monitor->nelement[1] = 0;
    }
  }
  monitor->nlocated = monitor->nelement[0];
  monitor->most_near = near;
  monitor->first_other = monitor->nelement[0] + near;
  monitor->nother = monitor->nelement[1];
  monitor->adaptive = adaptive;
  if (most > 0) monitor->passing = sr_passing_create(m, d);
  if (most == 0 || monitor->passing != NULL) return monitor;
  sr_free(monitor);
  return NULL;
}

void sr_contact_monitor_destroy(srContactMonitor* monitor) {
  if (monitor != NULL && monitor->d->instances != NULL) sr_instances_end(monitor->d);
  if (monitor != NULL) sr_passing_destroy(monitor->passing);
  sr_free(monitor);
}

// ---- elements and near pairs ----------------------------------------------------------------------------------------------

// Index among the elements of the model; -1: i is a near pair.
static int element_place(const srContactMonitor* monitor, int i) {
  if (i < monitor->first_other) return i < monitor->nelement[0] ? i : -1;
  const int k = i - monitor->first_other;
  return k < monitor->nelement[1] ? monitor->nelement[0] + k : -1;
}

static int near_place(const srContactMonitor* monitor, int i) {
  return i < monitor->first_other ? i - monitor->nelement[0]
                                  : monitor->d->instances->nlocated + i - monitor->first_other - monitor->nelement[1];
}

static srNear* near_of(const srContactMonitor* monitor, int i) {
  return &monitor->d->instances->near[near_place(monitor, i)];
}

static srInstance* instance_of(const srContactMonitor* monitor, int i) {
  if (element_place(monitor, i) >= 0) return NULL;
  const int k = near_of(monitor, i)->instance;
  return k >= 0 ? &monitor->d->instances->instance[k] : NULL;
}

// NULL: a near pair without an instance.
static const srForceElement* element_of(const srContactMonitor* monitor, int i) {
  const int k = element_place(monitor, i);
  if (k >= 0) return &monitor->m->force[monitor->element[k]];
  const srInstance* instance = instance_of(monitor, i);
  return instance != NULL ? &instance->element : NULL;
}

// Between shapes, or a formula: the end of a joint may be an angle.
static bool is_length(const srContactMonitor* monitor, int i) {
  const srForceElement* e = element_of(monitor, i);
  return e == NULL || e->law->port != SR_PORT_JOINT;
}

static const srSurfaceLaws* contact_of(const srContactMonitor* monitor, int i) {
  const srForceElement* e = element_of(monitor, i);
  return e != NULL ? e->contact : sr_near_law(monitor->m, near_of(monitor, i));
}

void sr_contact_monitor_names(const srContactMonitor* monitor, int i, const char** a, const char** b) {
  if (element_place(monitor, i) >= 0) {
    const srSurfaceLaws* contact = contact_of(monitor, i);
    *a = contact->a;
    *b = contact->b;
  } else {
    *a = monitor->m->collider[near_of(monitor, i)->a].name;
    *b = monitor->m->collider[near_of(monitor, i)->b].name;
  }
}

bool sr_element_shapes(const srForceElement* e, srConvex shape[2]) {
  const srSurfaceLaws* c = e->contact;
  if (c == NULL || c->pair == NULL) return false;
  for (int k = 0; k < 2; ++k) {
    if (c->shape[k] == NULL && c->radius[k] < 0) return false;  // a hollow sphere
    shape[k] = isfinite(c->radius[k]) ? sr_convex_sphere(c->radius[k]) : sr_convex_plane();
    if (c->shape[k] != NULL) shape[k] = c->shape[k]->convex;
    if (shape[k].kind > SR_KINDS) return false;  // a surface
  }
  return true;
}

bool sr_contact_monitor_shapes(const srContactMonitor* monitor, int i, srConvex shape[2], int point[2]) {
  const srModel* m = monitor->m;
  if (element_place(monitor, i) >= 0) {
    const srForceElement* e = element_of(monitor, i);
    memcpy(point, e->point, sizeof e->point);
    return sr_element_shapes(e, shape);
  }
  const srNear* near = near_of(monitor, i);
  const srCollider *a = &m->collider[near->a], *b = &m->collider[near->b];
  shape[0] = m->collision[a->shape].convex;
  shape[1] = m->collision[b->shape].convex;
  point[0] = a->point;
  point[1] = b->point;
  return shape[0].kind < SR_KINDS && shape[1].kind < SR_KINDS;
}

static bool is_surface(const srCollisionShape* x) { return x->surface != NULL || x->smooth != NULL; }

bool sr_contact_monitor_surfaces(const srContactMonitor* monitor, int i, const srCollisionShape* shape[2],
                                 int point[2]) {
  const srModel* m = monitor->m;
  if (element_place(monitor, i) >= 0) {
    const srForceElement* e = element_of(monitor, i);
    if (e->contact == NULL || e->contact->pair == NULL) return false;
    memcpy(point, e->point, sizeof e->point);
    for (int k = 0; k < 2; ++k) shape[k] = e->contact->shape[k];
  } else {
    const srNear* near = near_of(monitor, i);
    const srCollider* side[2] = {&m->collider[near->a], &m->collider[near->b]};
    for (int k = 0; k < 2; ++k) {
      shape[k] = &m->collision[side[k]->shape];
      point[k] = side[k]->point;
    }
  }
  if (shape[0] == NULL || shape[1] == NULL || !isfinite(shape[0]->reach) || !isfinite(shape[1]->reach)) return false;
  if (is_surface(shape[1]) && !is_surface(shape[0])) {
    const srCollisionShape* kept = shape[0];
    const int place = point[0];
    shape[0] = shape[1];
    shape[1] = kept;
    point[0] = point[1];
    point[1] = place;
  }
  return is_surface(shape[0]);
}

bool sr_contact_monitor_closed(const srContactMonitor* monitor, int i) {
  const int k = element_place(monitor, i);
  if (k >= 0) return monitor->closed[k] != 0;
  const srInstance* instance = instance_of(monitor, i);
  return instance != NULL && instance->closed;
}

static void set_closed(srContactMonitor* monitor, int i, bool closed) {
  const int k = element_place(monitor, i);
  srInstance* instance = instance_of(monitor, i);
  if (k >= 0) monitor->closed[k] = closed;
  if (instance != NULL) instance->closed = closed;
}

// Would its law have pulled since the contact closed? Returns the previous flag.
static bool set_clamped(srContactMonitor* monitor, int i, bool clamped) {
  const int k = element_place(monitor, i);
  srInstance* instance = instance_of(monitor, i);
  const bool before = k >= 0 ? monitor->clamped[k] != 0 : instance != NULL && instance->clamped;
  if (k >= 0) monitor->clamped[k] = clamped;
  if (instance != NULL) instance->clamped = clamped;
  return before;
}

// ---- gaps -----------------------------------------------------------------------------------------------------------------

static int measure(srContactMonitor* monitor, int i) {
  srData* d = monitor->d;
  if (element_place(monitor, i) < 0) {
    sr_near_gap(monitor->m, d, near_of(monitor, i), &monitor->gap[i], &monitor->rate[i]);
    return 0;
  }
  const srForceElement* e = element_of(monitor, i);
  srPortMotion motion;
  const int answer = sr_port_motion(monitor->m, d, e, &motion);
  if (answer != 0) return answer;
  const srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot};
  sr_contact_gap(e->contact, &in, &monitor->gap[i], &monitor->rate[i]);
  return 0;
}

int sr_contact_monitor_measure_located(srContactMonitor* monitor) {
  int answer = monitor->formulas ? sr_measure(monitor->m, monitor->d) : 0;
  for (int i = 0; i < monitor->nlocated && answer == 0; ++i) answer = measure(monitor, i);
  return answer;
}

// Faces that touch without a force, such as the pads of a closed gripper, have a gap of some 1e-17 m whose sign changes for ever while the arm moves: each change would be an event
// and a restart. So a contact that is open closes at -b and one that is closed opens at b, b = IDLE/(1 + (gap'/IDLE_SPEED)^2), which is nothing where bodies really meet.
double sr_contact_monitor_switch(const srContactMonitor* monitor, int i) {
  const double speed = monitor->rate[i] / IDLE_SPEED, band = IDLE / (1.0 + speed * speed);
  return sr_contact_monitor_closed(monitor, i) ? monitor->gap[i] - band : monitor->gap[i] + band;
}

static int measure_all(srContactMonitor* monitor) {
  int answer = sr_contact_monitor_measure_located(monitor);
  for (int k = 0; k < monitor->nother && answer == 0; ++k) answer = measure(monitor, monitor->first_other + k);
  return answer;
}

static bool is_any(const srContactMonitor* monitor) { return monitor->nlocated + monitor->nother > 0; }

// Index of contact k of all.
static int place_of(const srContactMonitor* monitor, int k) {
  return k < monitor->nlocated ? k : monitor->first_other + k - monitor->nlocated;
}

// Approach velocity passed to the law.
static double speed(const srContactMonitor* monitor, int i) {
  return fmax(contact_of(monitor, i)->p.floor, -monitor->rate[i]);
}

static void put_at(srContactMonitor* monitor, double t, const double* q, const double* v, const double* y) {
  (void)sr_evaluate_motion(monitor->m, monitor->d, t, q, v, y, SR_STAGE_VELOCITY);
}

// Resets its bristles to 0; returns the energy they lose. d's state is that of the time.
static double let_go(srContactMonitor* monitor, const srForceElement* e, double* y) {
  srData* d = monitor->d;
  srPortMotion motion;
  if (e->ny == 0 || sr_port_motion(monitor->m, d, e, &motion) != 0) return 0.0;
  srImpedanceIn in = {
      .x = motion.x, .xdot = motion.xdot, .y = y + e->y, .z = d->z + e->z, .data = e->contact, .tau = e->tau};
  const double before = e->law->energy(&in);
  memset(y + e->y, 0, (size_t)e->ny * sizeof *y);
  return before - e->law->energy(&in);
}

// ---- near pairs -----------------------------------------------------------------------------------------------------------

// The present indices of near pairs.
static void take_list(srContactMonitor* monitor) {
  const struct srInstances* x = monitor->d->instances;
  monitor->version = x->version;
  monitor->nlocated = monitor->nelement[0] + x->nlocated;
  monitor->nother = monitor->nelement[1] + x->nnear - x->nlocated;
}

bool sr_contact_monitor_prepare(srContactMonitor* monitor, const srIntegrator* integrator, double step, double* limit) {
  double covered = HUGE_VAL;
  if (monitor->d->instances == NULL) return false;
  put_at(monitor, sri_time(integrator), sri_q(integrator), sri_v(integrator), sri_y(integrator));
  monitor->full = sr_instances_prepare(monitor->m, monitor->d, step, &covered) != 0;
  if (monitor->nlocated > monitor->nelement[0] || monitor->adaptive)
    *limit = fmin(*limit, sri_time(integrator) + covered);
  if (monitor->version == monitor->d->instances->version) return false;
  take_list(monitor);
  return true;
}

double sr_contact_monitor_release(srContactMonitor* monitor, double* y) {
  struct srInstances* x = monitor->d->instances;
  double dissipation = -1;
  for (int k = x != NULL ? x->nused - 1 : -1; k >= 0; --k) {
    srInstance* instance = &x->instance[x->used[k]];
    if (instance->near >= 0) continue;
    const double lost = let_go(monitor, &instance->element, y);
    dissipation = fmax(dissipation, 0) + lost;
    sr_instance_remove(monitor->m, monitor->d, instance);
  }
  return dissipation;
}

// The velocity of a contact that is closed at the start is taken as its approach velocity.
static void tell_start(srContactMonitor* monitor, int i, srMessages* messages) {
  const srForceElement* e = element_of(monitor, i);
  sr_messages_add(messages, SR_SEVERITY_WARNING, e->place,
                  "%s: '%s' and '%s' are in touch at the start, %.3g m deep; the law '%s' takes %g m/s for the speed "
                  "at first touch",
                  e->name, e->contact->a, e->contact->b != NULL ? e->contact->b : "its gap",
                  fmax(0.0, -monitor->gap[i]), e->contact->law->name, monitor->d->z[e->z + SR_Z_SPEED]);
}

// The same for all pairs of a set at once.
static void tell_sets(const srContactMonitor* monitor, srMessages* messages) {
  const struct srInstances* x = monitor->d->instances;
  for (int s = 0; x != NULL && s < monitor->m->nset; ++s) {
    int n = 0;
    for (int k = 0; k < x->nused; ++k) n += x->instance[x->used[k]].set == s && x->instance[x->used[k]].guessed;
    if (n == 0) continue;
    sr_messages_add(messages, SR_SEVERITY_WARNING, monitor->m->set[s].place,
                    "%s: %d pair%s in touch at the start; the law '%s' takes the present speeds, or %g m/s, for "
                    "those at first touch",
                    monitor->m->set[s].name, n, n == 1 ? " is" : "s are", monitor->m->set[s].normal->name,
                    monitor->m->set[s].floor);
  }
}

static int start_contact(srContactMonitor* monitor, int i, srMessages* messages) {
  const double floor = contact_of(monitor, i)->p.floor, deep = -monitor->gap[i];
  const bool located = i < monitor->nlocated;
  const bool closed = deep >= 0.0 && (!located || deep > TOUCHING || monitor->rate[i] <= 0.0);
  if (closed && element_of(monitor, i) == NULL &&
      sr_instance_make(monitor->m, monitor->d, near_place(monitor, i)) == NULL) {
    return -1;
  }
  const srForceElement* e = element_of(monitor, i);
  set_closed(monitor, i, closed);
  if (e == NULL || e->z < 0) return 0;
  double* z = monitor->d->z + e->z;
  // A run that continues another one knows the velocity. Else, in the middle of an impact, approaching or separating, it
  // was at least the present one.
  const bool known = deep > 0.0 && z[SR_Z_CLOSED] != 0 && z[SR_Z_SPEED] > 0.0;
  z[SR_Z_SPEED] = fmax(known ? z[SR_Z_SPEED] : floor, fabs(monitor->rate[i]));
  z[SR_Z_CLOSED] = closed || !located;  // contacts that are not located have their force at once
  if (known || !e->contact->located || !closed || (deep <= TOUCHING && -monitor->rate[i] >= floor)) return 0;
  if (element_place(monitor, i) >= 0) {
    tell_start(monitor, i, messages);
  } else {
    instance_of(monitor, i)->guessed = true;
  }
  return 0;
}

int sr_contact_monitor_start(srContactMonitor* monitor, srMessages* messages) {
  int answer = 0;
  if (monitor->d->instances != NULL && !monitor->d->rigid) {
    answer = sr_instances_begin(monitor->m, monitor->d, monitor->adaptive);
    take_list(monitor);
  }
  if (answer == 0 && is_any(monitor)) answer = measure_all(monitor);
  monitor->measured = monitor->version;
  for (int k = 0; k < monitor->nlocated + monitor->nother && answer == 0; ++k) {
    answer = start_contact(monitor, place_of(monitor, k), messages);
  }
  tell_sets(monitor, messages);
  return answer;
}

// Would the law pull at this depth? Counted once from contact to separation.
static int count_clamp(srContactMonitor* monitor, int i, double deep) {
  const srForceElement* e = element_of(monitor, i);
  srNormalOut out;
  if (e == NULL) return 0;
  const int answer =
      sr_normal_force(e->contact, deep, -monitor->rate[i], e->z >= 0 ? monitor->d->z + e->z : NULL, &out);
  if (answer == 0 && out.clamped && !set_clamped(monitor, i, true)) ++monitor->clamps;
  return answer;
}

// A contact closes: its slot gets the velocity, and a near pair an instance.
static void begin_touch(srContactMonitor* monitor, int i) {
  if (element_of(monitor, i) == NULL && sr_instance_make(monitor->m, monitor->d, near_place(monitor, i)) == NULL) {
    monitor->full = true;
    return;
  }
  double* z = monitor->d->z + element_of(monitor, i)->z;
  set_closed(monitor, i, true);
  z[SR_Z_SPEED] = speed(monitor, i);
  z[SR_Z_CLOSED] = 1;
}

double sr_contact_monitor_change(srContactMonitor* monitor, int i, bool touches, double* y) {
  if (touches) {
    begin_touch(monitor, i);
    return 0.0;
  }
  const srForceElement* e = element_of(monitor, i);
  if (e == NULL) return 0.0;
  (void)count_clamp(monitor, i, PARTING);
  (void)set_clamped(monitor, i, false);
  set_closed(monitor, i, false);
  monitor->d->z[e->z + SR_Z_CLOSED] = 0;
  const double dissipation = let_go(monitor, e, y);
  if (instance_of(monitor, i) != NULL) sr_instance_remove(monitor->m, monitor->d, instance_of(monitor, i));
  return dissipation;
}

// ---- after a step -------------------------------------------------------------------------------------------------------

static void keep_gaps(srContactMonitor* monitor) {
  const size_t n = (size_t)monitor->nother;
  if (n > 0)
    memcpy(monitor->gap_before + monitor->first_other, monitor->gap + monitor->first_other, n * sizeof(double));
}

static int measure_at(srContactMonitor* monitor, double t, const double* q, const double* v, const double* y) {
  put_at(monitor, t, q, v, y);
  return measure_all(monitor);
}

// How long before the end of a step of length h contact i, open before it and closed after it, closed; its rate then into *rate. The gap is
// taken as a parabola through its values at both ends with its rate at the last one; x: time before the end, over h:
//   gap = c x^2 - h rate x + gap_1,   c = gap_0 - gap_1 + h rate
static double closed_since(const srContactMonitor* monitor, int i, double h, double* rate) {
  const double g = monitor->gap[i], b = -h * monitor->rate[i], c = monitor->gap_before[i] - g - b;
  *rate = monitor->rate[i];
  if (!(monitor->gap_before[i] > 0)) return 0;
  const double root = sqrt(fmax(b * b - 4 * c * g, 0));
  const double x = b > 0 ? -2 * g / (b + root) : (root - b) / (2 * c);
  if (!(x >= 0 && x <= 1)) return 0;
  *rate = -(b + 2 * c * x) / h;
  return h * x;
}

// The gaps at the beginning of the last step into gap_before; those at its end are measured again.
static int measure_before(srContactMonitor* monitor, const srIntegrator* x) {
  srData* d = monitor->d;
  const double t = sri_time_before(x);
  if (sri_interpolate(x, t, d->q, d->v, d->y, NULL) != SR_OK) return -1;
  const int answer = measure_at(monitor, t, d->q, d->v, d->y);
  keep_gaps(monitor);
  return answer != 0 ? answer : measure_at(monitor, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
}

// Located contacts after a step: one that is struck gets its velocity; one that no sign change has reported is late.
static void look_at_located(srContactMonitor* monitor) {
  for (int i = 0; i < monitor->nlocated; ++i) {
    const bool in = monitor->gap[i] <= 0.0, closed = sr_contact_monitor_closed(monitor, i);
    const double side = sr_contact_monitor_switch(monitor, i);
    monitor->late[i] = closed ? side > 0.0 : side <= 0.0 && monitor->rate[i] < 0.0;
    if (!closed || !in) continue;
    double* z = monitor->d->z + element_of(monitor, i)->z;
    z[SR_Z_SPEED] = fmax(z[SR_Z_SPEED], -monitor->rate[i]);
  }
}

// A contact that is not located: has it closed in the step?
static bool has_closed(srContactMonitor* monitor, int i, int* answer) {
  const bool was = sr_contact_monitor_closed(monitor, i), is = monitor->gap[i] <= 0.0;
  if (was == is && !is) return false;
  set_closed(monitor, i, is);
  if (was && !is) *answer = count_clamp(monitor, i, PARTING);
  if (!is) (void)set_clamped(monitor, i, false);
  return is && !was;
}

static int find_closed(srContactMonitor* monitor, const srIntegrator* x, void* user,
                       void (*touched)(void* user, double t, int i)) {
  bool before = monitor->measured == monitor->version;
  int answer = 0;
  for (int k = 0; k < monitor->nother && answer == 0; ++k) {
    const int i = monitor->first_other + k;
    if (!has_closed(monitor, i, &answer) || answer != 0) continue;
    if (!before) answer = measure_before(monitor, x);
    before = true;
    const double rate = monitor->rate[i], h = sri_time(x) - sri_time_before(x);
    const double back = closed_since(monitor, i, h, &monitor->rate[i]);
    touched(user, sri_time(x) - back, i);
    monitor->rate[i] = rate;
  }
  return answer;
}

int sr_contact_monitor_step(srContactMonitor* monitor, const srIntegrator* x, void* user,
                            void (*touched)(void* user, double t, int i)) {
  const struct srInstances* instances = monitor->d->rigid ? NULL : monitor->d->instances;
  if (instances != NULL && monitor->version != instances->version) take_list(monitor);
  if (!is_any(monitor)) return 0;
  keep_gaps(monitor);
  int answer = measure_at(monitor, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
  for (int k = 0; k < monitor->nlocated + monitor->nother && answer == 0; ++k) {
    const int i = place_of(monitor, k);
    const double depth = -monitor->gap[i];
    if (!(depth > 0)) continue;
    if (is_length(monitor, i)) monitor->deepest = fmax(monitor->deepest, depth);
    answer = count_clamp(monitor, i, depth);
  }
  if (answer == 0) look_at_located(monitor);
  if (answer == 0) answer = find_closed(monitor, x, user, touched);
  monitor->measured = monitor->version;
  return answer;
}
