// Event sources of a model.
//
// Formulas see the state of the dense output. All actions of one instant see the state before any of them, in the order
// of the file; a state set by two of them has the value of the last. Contacts follow, then the switches of force laws that jump.
//
// A driver whose speed jumps (if(t < 1, 0, t - 1), max(0, t - 1)), or a constraint whose formula has a corner, is an impulse for all other velocities, as
// an action that sets the velocity of a joint; a position that jumps is an error (prescribed.c).
#include "simulate/event.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "model/private.h"

#define GATHERED 10  // ever shorter intervals in a row, and ...
#define MOST_SOURCES 6
#define GATHERED_PART 1e-7  // ... the last is at most this part of the first

// ---- the state that all sources evaluate ----------------------------------------------------------------------------

static int prepare(void* user, double t, const double* q, const double* v, const double* y) {
  const srEventMonitor* monitor = user;
  // Slots of pairs that are not near, or whose contact is not located, need no state.
  if (monitor->m->nevent + monitor->contacts->nlocated == 0 && monitor->m->priv->switches_of_time) return 0;
  return sr_evaluate_motion(monitor->m, monitor->d, t, q, v, y, SR_STAGE_VELOCITY);
}

// ---- formulas -------------------------------------------------------------------------------------------------------

static void evaluate_formulas(srEventMonitor* monitor, double t) {
  srData* d = monitor->d;
  sr_sense(monitor->m, d);
  const srInputs inputs = {.t = t, .q = d->jq, .v = d->jv, .state = d->y, .sensor = d->sensor};
  sr_program_evaluate(monitor->m->priv->events, &inputs, d->work, monitor->value);
}

static int formula_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srEventMonitor* monitor = user;
  (void)q, (void)v, (void)y;
  evaluate_formulas(monitor, t);
  memcpy(value, monitor->value, (size_t)monitor->m->nevent * sizeof *value);
  return 0;
}

// The row of joint velocity k, over v.
static void velocity_row(const srEventMonitor* monitor, int k, double* row) {
  memset(row, 0, (size_t)monitor->m->nv * sizeof *row);
  if (monitor->m->absolute) {
    sr_measurement_row(monitor->m, monitor->d, k, 1.0, row);
  } else {
    row[k] = 1.0;
  }
}

// Joint velocity k is to become u; an earlier request for the same one is discarded.
static int ask_velocity(const srEventMonitor* monitor, int* asked, int n, int k, double u) {
  int i = 0;
  while (i < n && asked[i] != k) ++i;
  asked[i] = k;
  velocity_row(monitor, k, monitor->J + (size_t)i * (size_t)monitor->m->nv);
  monitor->u[i] = u;
  return i < n ? n : n + 1;
}

static double kinetic_energy(const srEventMonitor* monitor, double t, const double* q, const double* v,
                             const double* y) {
  double kinetic, potential;
  (void)sr_evaluate_motion(monitor->m, monitor->d, t, q, v, y, SR_STAGE_VELOCITY);
  sr_energy(monitor->m, monitor->d, &kinetic, &potential);
  return kinetic;
}

// Velocities set by actions, by impulses in these joints.
static int set_velocities(srEventMonitor* monitor, double t, const double* q, double* v, const double* y, int n) {
  if (n == 0) return 0;
  const double before = kinetic_energy(monitor, t, q, v, y);
  const int answer = sri_impulse(monitor->impulse, t, q, v, y, n, monitor->J, monitor->u);
  if (answer != 0) return -1;
  monitor->told.work(monitor->told.user, kinetic_energy(monitor, t, q, v, y) - before);
  return 0;
}

// A ball whose event throws it back a little less high each time comes to rest after infinitely many hops in a finite time, and the
// last of them are too short to be resolved in time: it would fall through. So an event whose intervals become ever shorter, down to a part
// of the first, ends the run.
static bool gathers(srGathering* x, double t) {
  const double interval = t - x->t;
  const bool shorter = isfinite(x->interval) && interval < x->interval;
  x->shorter = shorter ? x->shorter + 1 : 0;
  if (!shorter) x->first = interval;
  x->interval = interval;
  x->t = t;
  return x->shorter >= GATHERED && interval <= GATHERED_PART * x->first;
}

static int formula_act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srEventMonitor* monitor = user;
  const srModel* m = monitor->m;
  bool stop = false;
  int n = 0;
  (void)prepare(monitor, t, q, v, y);
  evaluate_formulas(monitor, t);
  for (int i = 0; i < m->nevent; ++i) {
    if (fired[i] == 0) continue;
    if (m->event[i].naction > 0 && gathers(&monitor->gathering[i], t)) {
      monitor->gathered = i;
      return -1;
    }
    stop = stop || m->event[i].stop;
    for (int k = 0; k < m->event[i].naction; ++k) {
      const srEventAction* action = &m->event[i].action[k];
      const double value = monitor->value[action->value];
      if (!isfinite(value)) return -1;
      if (action->y >= 0) y[action->y] = value;
      if (action->v >= 0) n = ask_velocity(monitor, monitor->asked, n, action->v, value);
    }
    monitor->told.event(monitor->told.user, t, i);
  }
  return set_velocities(monitor, t, q, v, y, n) == 0 ? stop : -1;
}

// ---- contacts -------------------------------------------------------------------------------------------------------

static int gap_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srContactMonitor* contacts = ((srEventMonitor*)user)->contacts;
  const size_t n = (size_t)contacts->nlocated;
  double* rate = value + contacts->first_other;
  (void)t, (void)q, (void)v, (void)y;
  const int answer = sr_contact_monitor_measure_located(contacts);
  for (int i = 0; i < contacts->nlocated; ++i) value[i] = sr_contact_monitor_switch(contacts, i);
  memcpy(rate, contacts->rate, n * sizeof *value);
  for (int i = contacts->nlocated; i < contacts->first_other; ++i) {  // unused slots of near pairs
    value[i] = 1.0;
    rate[i] = 0.0;
  }
  return answer;
}

static int touch_act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srEventMonitor* monitor = user;
  srContactMonitor* contacts = monitor->contacts;
  (void)prepare(monitor, t, q, v, y);
  if (sr_contact_monitor_measure_located(contacts) != 0) return -1;
  for (int i = 0; i < contacts->nlocated; ++i) {
    if (fired[i] == 0) continue;
    // A separating pair is no contact event, however deep the error of the step has put it.
    monitor->told.dissipation(
        monitor->told.user,
        sr_contact_monitor_change(contacts, i, contacts->gap[i] <= 0.0 && contacts->rate[i] < 0.0, y));
    if (sr_contact_monitor_closed(contacts, i)) monitor->told.impact(monitor->told.user, t, i);
  }
  return contacts->full ? -1 : 0;
}

// ---- switches of laws that jump -------------------------------------------------------------------------------------

static int switch_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  const srEventSource* own = &((srEventMonitor*)user)->switches;
  return own->evaluate(own->user, t, q, v, y, value);
}

static double switches_ahead(void* user, double a, double b) {
  const srEventSource* own = &((srEventMonitor*)user)->switches;
  return own->ahead(own->user, a, b);
}

// Switches of drivers and constraints among those that fire; *of_time: they depend on nothing else.
static bool motion_switches(const srEventMonitor* monitor, const signed char* fired, bool* of_time) {
  bool any = false;
  *of_time = true;
  for (int i = 0; i < monitor->jumps->n; ++i) {
    const srLawSwitch* x = &monitor->m->priv->of_switch[i];
    if (fired[i] == 0 || !x->of_motion) continue;
    any = true;
    *of_time = *of_time && x->of_time;
  }
  return any;
}

static int switch_act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srEventMonitor* monitor = user;
  const srEventSource* own = &monitor->switches;
  bool of_time;
  if (!motion_switches(monitor, fired, &of_time)) return own->act(own->user, t, q, v, y, fired);
  const double before = kinetic_energy(monitor, t, q, v, y);
  sr_motion_before(&monitor->motion);
  const int answer = own->act(own->user, t, q, v, y, fired);
  const bool jump = answer == 0 && sr_motion_jumps(&monitor->motion, of_time);
  if (monitor->motion.leap >= 0) return -1;
  if (!jump) return answer;
  if (sri_impulse(monitor->impulse, t, q, v, y, 0, monitor->J, monitor->u) != 0) return -1;
  const double gain = kinetic_energy(monitor, t, q, v, y) - before;
  if (of_time) {
    monitor->told.work(monitor->told.user, gain);
  } else {  // an inelastic impact: nothing outside moves
    monitor->told.dissipation(monitor->told.user, -gain);
  }
  return 0;
}

void sr_events_renumber(srEventMonitor* monitor) {
  sri_events_forget(monitor->events, monitor->of_contacts, monitor->contacts->nelement[0]);
}

bool sr_events_any(const srEventMonitor* monitor, double t) {
  return monitor->rigid != NULL || monitor->m->nevent + monitor->contacts->nlocated + monitor->kinks->n > 0 ||
         !sr_jumps_quiet(monitor->jumps, t);
}

bool sr_events_late(srEventMonitor* monitor, double* t) {
  const srContactMonitor* contacts = monitor->contacts;
  bool any = false;
  memset(monitor->late, 0, (size_t)contacts->first_other);
  for (int i = 0; i < contacts->nlocated; ++i) {
    monitor->late[i] = (signed char)contacts->late[i];
    any = any || contacts->late[i] != 0;
  }
  if (any) sri_events_fire(monitor->events, monitor->of_contacts, monitor->late);
  if (any || monitor->rigid == NULL) return any;
  any = sri_rigid_late(monitor->rigid, t, monitor->late_rigid);
  if (any) sri_events_fire(monitor->events, monitor->of_rigid, monitor->late_rigid);
  return any;
}

// ---- life -----------------------------------------------------------------------------------------------------------

// All sources that have a function, in the order in which they act.
static int list_sources(srEventMonitor* monitor, signed char* direction, srEventSource sources[MOST_SOURCES]) {
  const srModel* m = monitor->m;
  int n = 0;
  for (int i = 0; i < m->nevent; ++i) direction[i] = m->event[i].direction;
  if (m->nevent > 0) {
    sources[n++] = (srEventSource){
        .count = m->nevent, .direction = direction, .user = monitor, .evaluate = formula_values, .act = formula_act};
  }
  monitor->of_contacts = n;
  if (monitor->contacts->first_other > 0) {
    sources[n++] = (srEventSource){.count = monitor->contacts->first_other,
                                   .rated = true,
                                   .user = monitor,
                                   .evaluate = gap_values,
                                   .act = touch_act};
  }
  if (monitor->jumps->n > 0) {
    monitor->switches = sr_jumps_source(monitor->jumps);
    sources[n] = monitor->switches;
    sources[n].user = monitor;
    sources[n].evaluate = switch_values;
    sources[n].ahead = switches_ahead;
    sources[n++].act = switch_act;
  }
  if (monitor->kinks->n > 0) sources[n++] = sr_kinks_source(monitor->kinks);
  if (monitor->rigid != NULL) {  // last: they leave the data at other states
    sri_rigid_sources(monitor->rigid, sources + n);
    n += 2;
    monitor->of_rigid = n - 1;
  }
  return n;
}

// Joint velocities that actions may set at one time.
static int velocity_actions(const srModel* m) {
  int n = 0;
  for (int i = 0; i < m->nevent; ++i) {
    for (int k = 0; k < m->event[i].naction; ++k) n += m->event[i].action[k].v >= 0;
  }
  return n < m->njv ? n : m->njv;
}

srEventMonitor* sr_events_create(const srModel* m, srData* d, const srSystem* system, const srIntegrator* integrator,
                                 srContactMonitor* contacts, srJumpMonitor* jumps, srRigid* rigid,
                                 const srEventTold* told) {
  const size_t values = (size_t)m->priv->nevent_value, head = (sizeof(srEventMonitor) + 15) / 16 * 16;
  const size_t most = (size_t)velocity_actions(m), numbers = values + most * ((size_t)m->nv + 1);
  const size_t rigid_late = rigid != NULL ? (size_t)sri_rigid_late_count(rigid) : 0;
  const size_t gathering = (size_t)m->nevent * sizeof(srGathering);
  char* block = sr_alloc(head + gathering + sr_motion_jump_size(m) + numbers * sizeof(double) + most * sizeof(int) +
                         (size_t)(m->nevent + contacts->first_other) + rigid_late);
  if (block == NULL) return NULL;
  srEventMonitor* monitor = (srEventMonitor*)(void*)block;
  *monitor = (srEventMonitor){.m = m, .d = d, .contacts = contacts, .jumps = jumps, .rigid = rigid, .told = *told};
  monitor->gathering = (srGathering*)(void*)(block + head);
  for (int i = 0; i < m->nevent; ++i) monitor->gathering[i] = (srGathering){.t = -HUGE_VAL, .interval = HUGE_VAL};
  monitor->gathered = -1;
  sr_motion_jump_init(&monitor->motion, m, d, block + head + gathering);
  monitor->value = (double*)(void*)(block + head + gathering + sr_motion_jump_size(m));
  monitor->u = monitor->value + values;
  monitor->J = monitor->u + most;
  monitor->asked = (int*)(void*)(monitor->value + numbers);
  signed char* direction = (signed char*)(monitor->asked + most);
  monitor->late = direction + m->nevent;
  monitor->late_rigid = monitor->late + contacts->first_other;
  monitor->kinks = sr_kinks_create(m, d, integrator);
  if (monitor->kinks == NULL) {
    sr_events_destroy(monitor);
    return NULL;
  }
  srEventSource sources[MOST_SOURCES];
  monitor->nsource = list_sources(monitor, direction, sources);
  const srEventList list = {.count = monitor->nsource, .source = sources, .prepare = prepare, .user = monitor};
  monitor->events = sri_events_create(integrator, &list);
  const bool impulses = most > 0 || sr_motion_may_jump(m);
  if (impulses) monitor->impulse = sri_impulse_create(system, (int)most);
  if (monitor->events != NULL && (!impulses || monitor->impulse != NULL)) return monitor;
  sr_events_destroy(monitor);
  return NULL;
}

void sr_events_destroy(srEventMonitor* monitor) {
  if (monitor == NULL) return;
  sri_events_destroy(monitor->events);
  sri_impulse_destroy(monitor->impulse);
  sr_kinks_destroy(monitor->kinks);
  sr_free(monitor);
}

const char* sr_events_gathered(const srEventMonitor* monitor) {
  return monitor->gathered >= 0 ? monitor->m->event[monitor->gathered].name : NULL;
}

const char* sr_events_bad(const srEventMonitor* monitor) {
  const srEventError error_message = sri_events_error(monitor->events);
  const bool formula = monitor->m->nevent > 0 && error_message.source == 0 && error_message.function >= 0;
  return formula ? monitor->m->event[error_message.function].name : NULL;
}
