// Contacts while a model is simulated.
//
// A law that looks at the speed at first touch gets it from the located event: its gap is a switching function (event.c), and the
// contact stays open until the root is found, so that nothing but the motion before it decides where that is. At the touch the
// speed is max(floor, -gap'); when the gap opens again the bristles of friction are released. A closed contact that is struck, by
// another body than the one it began with, has the largest approach speed since its touch.
// Other laws are continuous or nearly so. Where the error chooses the steps they are located all the same: a step that has grown
// long over a free flight has no other way to know of a floor. With steps of fixed length their touches are counted after each
// step, without a restart.
#include "simulate/touch.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "contact/element.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"

#define TOUCHING 1e-9  // m: bodies that are no deeper than this at the start touch just now
#define PARTING 1e-12  // m: depth just before bodies part
#define HALVINGS 50    // of the time of a touch that is only counted

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

srTouchWatch* sr_touch_create(const srModel* m, srData* d, bool adaptive) {
  int n = 0;
  for (int i = 0; i < m->nforce; ++i) n += is_contact(&m->force[i]);
  const int near = d->instances != NULL ? d->instances->most_near : 0;
  const size_t head = (sizeof(srTouchWatch) + 15) / 16 * 16, most = (size_t)n + 2 * (size_t)near;
  char* block = sr_alloc(head + most * (2 * sizeof(double) + 1) + (size_t)n * (sizeof(int) + 2));
  if (block == NULL) return NULL;
  srTouchWatch* watch = (srTouchWatch*)(void*)block;
  watch->m = m;
  watch->d = d;
  watch->gap = (double*)(void*)(block + head);
  watch->rate = watch->gap + most;
  watch->element = (int*)(void*)(watch->rate + most);
  watch->closed = (unsigned char*)(watch->element + n);
  watch->clamped = watch->closed + n;
  watch->late = watch->clamped + n;
  for (int located = 1; located >= 0; --located) {
    for (int i = 0; i < m->nforce; ++i) {
      if (!is_contact(&m->force[i]) || (adaptive || m->force[i].contact->located) != located) continue;
      watch->element[watch->nelement[0] + watch->nelement[1]++] = i;
      watch->formulas = watch->formulas || m->force[i].law->port == SR_PORT_GAP;
    }
    if (located) {
      watch->nelement[0] = watch->nelement[1];
      watch->nelement[1] = 0;
    }
  }
  watch->nlocated = watch->nelement[0];
  watch->most_near = near;
  watch->first_other = watch->nelement[0] + near;
  watch->nother = watch->nelement[1];
  watch->adaptive = adaptive;
  return watch;
}

void sr_touch_destroy(srTouchWatch* watch) {
  if (watch != NULL && watch->d->instances != NULL) sr_instances_end(watch->d);
  sr_free(watch);
}

// ---- elements and near pairs ----------------------------------------------------------------------------------------------

// Place among the elements of the model; -1: i is a near pair.
static int element_place(const srTouchWatch* watch, int i) {
  if (i < watch->first_other) return i < watch->nelement[0] ? i : -1;
  const int k = i - watch->first_other;
  return k < watch->nelement[1] ? watch->nelement[0] + k : -1;
}

static int near_place(const srTouchWatch* watch, int i) {
  return i < watch->first_other ? i - watch->nelement[0]
                                : watch->d->instances->nlocated + i - watch->first_other - watch->nelement[1];
}

static srNear* near_of(const srTouchWatch* watch, int i) { return &watch->d->instances->near[near_place(watch, i)]; }

static srInstance* instance_of(const srTouchWatch* watch, int i) {
  if (element_place(watch, i) >= 0) return NULL;
  const int k = near_of(watch, i)->instance;
  return k >= 0 ? &watch->d->instances->instance[k] : NULL;
}

// NULL: a near pair without an instance.
static const srForceElement* element_of(const srTouchWatch* watch, int i) {
  const int k = element_place(watch, i);
  if (k >= 0) return &watch->m->force[watch->element[k]];
  const srInstance* instance = instance_of(watch, i);
  return instance != NULL ? &instance->element : NULL;
}

static const srContact* contact_of(const srTouchWatch* watch, int i) {
  const srForceElement* e = element_of(watch, i);
  return e != NULL ? e->contact : sr_near_law(watch->m, near_of(watch, i));
}

void sr_touch_names(const srTouchWatch* watch, int i, const char** a, const char** b) {
  if (element_place(watch, i) >= 0) {
    const srContact* contact = contact_of(watch, i);
    *a = contact->a;
    *b = contact->b;
  } else {
    *a = watch->m->collider[near_of(watch, i)->a].name;
    *b = watch->m->collider[near_of(watch, i)->b].name;
  }
}

bool sr_touch_closed(const srTouchWatch* watch, int i) {
  const int k = element_place(watch, i);
  if (k >= 0) return watch->closed[k] != 0;
  const srInstance* instance = instance_of(watch, i);
  return instance != NULL && instance->closed;
}

static void set_closed(srTouchWatch* watch, int i, bool closed) {
  const int k = element_place(watch, i);
  srInstance* instance = instance_of(watch, i);
  if (k >= 0) watch->closed[k] = closed;
  if (instance != NULL) instance->closed = closed;
}

// Would its law have pulled since the last touch? Returns what was known before.
static bool set_clamped(srTouchWatch* watch, int i, bool clamped) {
  const int k = element_place(watch, i);
  srInstance* instance = instance_of(watch, i);
  const bool before = k >= 0 ? watch->clamped[k] != 0 : instance != NULL && instance->clamped;
  if (k >= 0) watch->clamped[k] = clamped;
  if (instance != NULL) instance->clamped = clamped;
  return before;
}

// ---- gaps -----------------------------------------------------------------------------------------------------------------

static int measure(srTouchWatch* watch, int i) {
  srData* d = watch->d;
  if (element_place(watch, i) < 0) {
    sr_near_gap(watch->m, d, near_of(watch, i), &watch->gap[i], &watch->rate[i]);
    return 0;
  }
  const srForceElement* e = element_of(watch, i);
  srPortMotion motion;
  const int answer = sr_port_motion(watch->m, d, e, &motion);
  if (answer != 0) return answer;
  const srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot};
  sr_contact_gap(e->contact, &in, &watch->gap[i], &watch->rate[i]);
  return 0;
}

int sr_touch_measure_located(srTouchWatch* watch) {
  int answer = watch->formulas ? sr_measure(watch->m, watch->d) : 0;
  for (int i = 0; i < watch->nlocated && answer == 0; ++i) answer = measure(watch, i);
  return answer;
}

static int measure_all(srTouchWatch* watch) {
  int answer = sr_touch_measure_located(watch);
  for (int k = 0; k < watch->nother && answer == 0; ++k) answer = measure(watch, watch->first_other + k);
  return answer;
}

static bool is_any(const srTouchWatch* watch) { return watch->nlocated + watch->nother > 0; }

// Place of contact k of all.
static int place_of(const srTouchWatch* watch, int k) {
  return k < watch->nlocated ? k : watch->first_other + k - watch->nlocated;
}

// Speed at first touch that the law is given.
static double speed(const srTouchWatch* watch, int i) { return fmax(contact_of(watch, i)->p.floor, -watch->rate[i]); }

static void put_at(srTouchWatch* watch, double t, const double* q, const double* v, const double* y) {
  (void)sr_evaluate_motion(watch->m, watch->d, t, q, v, y, SR_STAGE_VELOCITY);
}

// Its bristles go back to 0; the energy that they lose. d's state is that of the time.
static double let_go(srTouchWatch* watch, const srForceElement* e, double* y) {
  srData* d = watch->d;
  srPortMotion motion;
  if (e->ny == 0 || sr_port_motion(watch->m, d, e, &motion) != 0) return 0.0;
  srImpedanceIn in = {
      .x = motion.x, .xdot = motion.xdot, .y = y + e->y, .z = d->z + e->z, .data = e->contact, .tau = e->tau};
  const double before = e->law->energy(&in);
  memset(y + e->y, 0, (size_t)e->ny * sizeof *y);
  return before - e->law->energy(&in);
}

// ---- near pairs -----------------------------------------------------------------------------------------------------------

// The places of near pairs as they are now.
static void take_list(srTouchWatch* watch) {
  const struct srInstances* x = watch->d->instances;
  watch->version = x->version;
  watch->nlocated = watch->nelement[0] + x->nlocated;
  watch->nother = watch->nelement[1] + x->nnear - x->nlocated;
}

bool sr_touch_prepare(srTouchWatch* watch, const srIntegrator* integrator, double step, double* limit) {
  double covered = HUGE_VAL;
  if (watch->d->instances == NULL) return false;
  put_at(watch, sri_time(integrator), sri_q(integrator), sri_v(integrator), sri_y(integrator));
  watch->full = sr_instances_prepare(watch->m, watch->d, step, &covered) != 0;
  if (watch->nlocated > watch->nelement[0] || watch->adaptive) *limit = fmin(*limit, sri_time(integrator) + covered);
  if (watch->version == watch->d->instances->version) return false;
  take_list(watch);
  return true;
}

double sr_touch_release(srTouchWatch* watch, double* y) {
  struct srInstances* x = watch->d->instances;
  double heat = -1;
  for (int k = x != NULL ? x->nused - 1 : -1; k >= 0; --k) {
    srInstance* instance = &x->instance[x->used[k]];
    if (instance->near >= 0) continue;
    const double lost = let_go(watch, &instance->element, y);
    heat = fmax(heat, 0) + lost;
    sr_instance_remove(watch->m, watch->d, instance);
  }
  return heat;
}

// The speed of a contact that is in touch at the start has to be taken for that at first touch.
static void tell_start(srTouchWatch* watch, int i, srMessages* messages) {
  const srForceElement* e = element_of(watch, i);
  sr_messages_add(messages, SR_SEVERITY_WARNING, e->place,
                  "%s: '%s' and '%s' are in touch at the start, %.3g m deep; the law '%s' takes %g m/s for the speed "
                  "at first touch",
                  e->name, e->contact->a, e->contact->b != NULL ? e->contact->b : "its gap", fmax(0.0, -watch->gap[i]),
                  e->contact->law->name, watch->d->z[e->z + SR_Z_SPEED]);
}

// The same for all pairs of a set at once.
static void tell_sets(const srTouchWatch* watch, srMessages* messages) {
  const struct srInstances* x = watch->d->instances;
  for (int s = 0; x != NULL && s < watch->m->nset; ++s) {
    int n = 0;
    for (int k = 0; k < x->nused; ++k) n += x->instance[x->used[k]].set == s && x->instance[x->used[k]].guessed;
    if (n == 0) continue;
    sr_messages_add(messages, SR_SEVERITY_WARNING, watch->m->set[s].place,
                    "%s: %d pair%s in touch at the start; the law '%s' takes the present speeds, or %g m/s, for "
                    "those at first touch",
                    watch->m->set[s].name, n, n == 1 ? " is" : "s are", watch->m->set[s].normal->name,
                    watch->m->set[s].floor);
  }
}

static int start_contact(srTouchWatch* watch, int i, srMessages* messages) {
  const double floor = contact_of(watch, i)->p.floor, deep = -watch->gap[i];
  const bool located = i < watch->nlocated;
  const bool closed = deep >= 0.0 && (!located || deep > TOUCHING || watch->rate[i] <= 0.0);
  if (closed && element_of(watch, i) == NULL && sr_instance_make(watch->m, watch->d, near_place(watch, i)) == NULL) {
    return -1;
  }
  const srForceElement* e = element_of(watch, i);
  set_closed(watch, i, closed);
  if (e == NULL || e->z < 0) return 0;
  double* z = watch->d->z + e->z;
  // A run that goes on where another has stopped knows the speed. Else, in the middle of an impact, approaching or parting, it
  // was at least the present one.
  const bool known = deep > 0.0 && z[SR_Z_CLOSED] != 0 && z[SR_Z_SPEED] > 0.0;
  z[SR_Z_SPEED] = fmax(known ? z[SR_Z_SPEED] : floor, fabs(watch->rate[i]));
  z[SR_Z_CLOSED] = closed || !located;  // what is not located has its force at once
  if (known || !e->contact->located || !closed || (deep <= TOUCHING && -watch->rate[i] >= floor)) return 0;
  if (element_place(watch, i) >= 0) {
    tell_start(watch, i, messages);
  } else {
    instance_of(watch, i)->guessed = true;
  }
  return 0;
}

int sr_touch_start(srTouchWatch* watch, srMessages* messages) {
  int answer = 0;
  if (watch->d->instances != NULL) {
    answer = sr_instances_begin(watch->m, watch->d, watch->adaptive);
    take_list(watch);
  }
  if (answer == 0 && is_any(watch)) answer = measure_all(watch);
  for (int k = 0; k < watch->nlocated + watch->nother && answer == 0; ++k) {
    answer = start_contact(watch, place_of(watch, k), messages);
  }
  tell_sets(watch, messages);
  return answer;
}

// Would the law pull at this depth? Counted once from touch to parting.
static int count_clamp(srTouchWatch* watch, int i, double deep) {
  const srForceElement* e = element_of(watch, i);
  srNormalOut out;
  if (e == NULL) return 0;
  const int answer = sr_press(e->contact, deep, -watch->rate[i], e->z >= 0 ? watch->d->z + e->z : NULL, &out);
  if (answer == 0 && out.clamped && !set_clamped(watch, i, true)) ++watch->clamps;
  return answer;
}

// A touch begins: its place has the speed, and of a near pair an instance.
static void begin_touch(srTouchWatch* watch, int i) {
  if (element_of(watch, i) == NULL && sr_instance_make(watch->m, watch->d, near_place(watch, i)) == NULL) {
    watch->full = true;
    return;
  }
  double* z = watch->d->z + element_of(watch, i)->z;
  set_closed(watch, i, true);
  z[SR_Z_SPEED] = speed(watch, i);
  z[SR_Z_CLOSED] = 1;
}

double sr_touch_change(srTouchWatch* watch, int i, bool touches, double* y) {
  if (touches) {
    begin_touch(watch, i);
    return 0.0;
  }
  const srForceElement* e = element_of(watch, i);
  if (e == NULL) return 0.0;
  (void)count_clamp(watch, i, PARTING);
  (void)set_clamped(watch, i, false);
  set_closed(watch, i, false);
  watch->d->z[e->z + SR_Z_CLOSED] = 0;
  const double heat = let_go(watch, e, y);
  if (instance_of(watch, i) != NULL) sr_instance_remove(watch->m, watch->d, instance_of(watch, i));
  return heat;
}

// ---- after a step -------------------------------------------------------------------------------------------------------

static int measure_at(srTouchWatch* watch, double t, const double* q, const double* v, const double* y) {
  put_at(watch, t, q, v, y);
  return measure_all(watch);
}

// When contact i, open before the last step and closed after it, touched: measured there. 0: found.
static int locate(srTouchWatch* watch, const srIntegrator* x, int i, double* t) {
  srData* d = watch->d;
  double a = sri_time_before(x), b = sri_time(x);
  int answer = 0;
  for (int k = 0; k < HALVINGS && answer == 0; ++k) {
    const double middle = a + 0.5 * (b - a);
    if (!(middle > a && middle < b)) break;
    if (sri_interpolate(x, middle, d->q, d->v, d->y, NULL) != SR_OK) return -1;
    put_at(watch, middle, d->q, d->v, d->y);
    answer = watch->formulas ? sr_measure(watch->m, d) : 0;
    if (answer == 0) answer = measure(watch, i);
    *(watch->gap[i] > 0.0 ? &a : &b) = middle;
  }
  *t = b;
  return answer;
}

// Located contacts after a step: one that is struck gets its speed; one that no change of sign has told of is late.
static void look_at_located(srTouchWatch* watch) {
  for (int i = 0; i < watch->nlocated; ++i) {
    const bool in = watch->gap[i] <= 0.0, closed = sr_touch_closed(watch, i);
    watch->late[i] = closed ? watch->gap[i] > 0.0 : in && watch->rate[i] < 0.0;
    if (!closed || !in) continue;
    double* z = watch->d->z + element_of(watch, i)->z;
    z[SR_Z_SPEED] = fmax(z[SR_Z_SPEED], -watch->rate[i]);
  }
}

int sr_touch_step(srTouchWatch* watch, const srIntegrator* x, void* user,
                  void (*touched)(void* user, double t, int i)) {
  if (watch->d->instances != NULL && watch->version != watch->d->instances->version) take_list(watch);
  if (!is_any(watch)) return 0;
  int answer = measure_at(watch, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
  for (int k = 0; k < watch->nlocated + watch->nother && answer == 0; ++k) {
    answer = count_clamp(watch, place_of(watch, k), -watch->gap[place_of(watch, k)]);
  }
  if (answer == 0) look_at_located(watch);
  bool moved = false;
  for (int k = 0; k < watch->nother && answer == 0; ++k) {
    const int i = watch->first_other + k;
    if (moved) answer = measure_at(watch, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
    moved = false;
    const bool was = sr_touch_closed(watch, i), is = watch->gap[i] <= 0.0;
    set_closed(watch, i, is);
    if (was && !is && answer == 0) answer = count_clamp(watch, i, PARTING);
    if (!is) (void)set_clamped(watch, i, false);
    if (was || !is || answer != 0) continue;
    double t = 0.0;
    answer = locate(watch, x, i, &t);
    moved = true;
    if (answer == 0) touched(user, t, i);
  }
  return answer;
}
