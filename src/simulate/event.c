// Sources of events of a model.
//
// Formulas see the state that dense output gives. All actions of one instant see the state before any of them, in the order
// of the file; a state that two of them set has the value of the last. Contacts follow, then the places where laws jump.
#include "simulate/event.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "dynamics/gauge.h"
#include "force/force.h"
#include "model/private.h"

#define GATHERED 10         // ever shorter intervals in a row, and ...
#define GATHERED_PART 1e-7  // ... the last is at most this part of the first

// ---- the state that all sources look at -----------------------------------------------------------------------------

static int prepare(void* user, double t, const double* q, const double* v, const double* y) {
  const srEventWatch* watch = user;
  if (watch->m->nevent + watch->touch->first_other == 0 && watch->m->priv->switches_of_time) return 0;
  return sr_evaluate_motion(watch->m, watch->d, t, q, v, y, SR_STAGE_VELOCITY);
}

// ---- formulas -------------------------------------------------------------------------------------------------------

static void evaluate_formulas(srEventWatch* watch, double t) {
  srData* d = watch->d;
  sr_sense(watch->m, d);
  const srInputs inputs = {.t = t, .q = d->jq, .v = d->jv, .state = d->y, .sensor = d->sensor};
  sr_program_evaluate(watch->m->priv->events, &inputs, d->work, watch->value);
}

static int formula_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srEventWatch* watch = user;
  (void)q, (void)v, (void)y;
  evaluate_formulas(watch, t);
  memcpy(value, watch->value, (size_t)watch->m->nevent * sizeof *value);
  return 0;
}

// The row of joint velocity k, over v.
static void velocity_row(const srEventWatch* watch, int k, double* row) {
  memset(row, 0, (size_t)watch->m->nv * sizeof *row);
  if (watch->m->gauged) {
    sr_gauge_row(watch->m, watch->d, k, 1.0, row);
  } else {
    row[k] = 1.0;
  }
}

// Joint velocity k is to become u; what was asked for before, of the same one, is forgotten.
static int ask_velocity(const srEventWatch* watch, int* asked, int n, int k, double u) {
  int i = 0;
  while (i < n && asked[i] != k) ++i;
  asked[i] = k;
  velocity_row(watch, k, watch->J + (size_t)i * (size_t)watch->m->nv);
  watch->u[i] = u;
  return i < n ? n : n + 1;
}

static double kinetic_energy(const srEventWatch* watch, double t, const double* q, const double* v, const double* y) {
  double kinetic, potential;
  (void)prepare((void*)(size_t)watch, t, q, v, y);
  sr_energy(watch->m, watch->d, &kinetic, &potential);
  return kinetic;
}

// Velocities that actions have set, as by impulses in these joints.
static int set_velocities(srEventWatch* watch, double t, const double* q, double* v, const double* y, int n) {
  if (n == 0) return 0;
  const double before = kinetic_energy(watch, t, q, v, y);
  const int answer = sri_impulse(watch->impulse, t, q, v, y, n, watch->J, watch->u);
  if (answer != 0) return -1;
  watch->told.work(watch->told.user, kinetic_energy(watch, t, q, v, y) - before);
  return 0;
}

// A ball that its event throws back a little less high each time comes to rest after infinitely many hops in a finite time, and the
// last of them are shorter than time can tell: it would fall through. So an event whose intervals become ever shorter, down to a part
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
  srEventWatch* watch = user;
  const srModel* m = watch->m;
  bool stop = false;
  int n = 0;
  (void)prepare(watch, t, q, v, y);
  evaluate_formulas(watch, t);
  for (int i = 0; i < m->nevent; ++i) {
    if (fired[i] == 0) continue;
    if (m->event[i].naction > 0 && gathers(&watch->gathering[i], t)) {
      watch->gathered = i;
      return -1;
    }
    stop = stop || m->event[i].stop;
    for (int k = 0; k < m->event[i].naction; ++k) {
      const srEventAction* action = &m->event[i].action[k];
      const double value = watch->value[action->value];
      if (!isfinite(value)) return -1;
      if (action->y >= 0) y[action->y] = value;
      if (action->v >= 0) n = ask_velocity(watch, watch->asked, n, action->v, value);
    }
    watch->told.event(watch->told.user, t, i);
  }
  return set_velocities(watch, t, q, v, y, n) == 0 ? stop : -1;
}

// ---- contacts -------------------------------------------------------------------------------------------------------

static int gap_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srTouchWatch* touch = ((srEventWatch*)user)->touch;
  const size_t n = (size_t)touch->nlocated;
  double* rate = value + touch->first_other;
  (void)t, (void)q, (void)v, (void)y;
  const int answer = sr_touch_measure_located(touch);
  memcpy(value, touch->gap, n * sizeof *value);
  memcpy(rate, touch->rate, n * sizeof *value);
  for (int i = touch->nlocated; i < touch->first_other; ++i) {  // places of near pairs that there are none for now
    value[i] = 1.0;
    rate[i] = 0.0;
  }
  return answer;
}

static int touch_act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srEventWatch* watch = user;
  srTouchWatch* touch = watch->touch;
  (void)prepare(watch, t, q, v, y);
  if (sr_touch_measure_located(touch) != 0) return -1;
  for (int i = 0; i < touch->nlocated; ++i) {
    if (fired[i] == 0) continue;
    // What parts is no touch, however deep the error of the step has put it.
    watch->told.heat(watch->told.user, sr_touch_change(touch, i, touch->gap[i] <= 0.0 && touch->rate[i] < 0.0, y));
    if (sr_touch_closed(touch, i)) watch->told.impact(watch->told.user, t, i);
  }
  return touch->full ? -1 : 0;
}

void sr_events_renumber(srEventWatch* watch) {
  sri_events_forget(watch->events, watch->of_touch, watch->touch->nelement[0]);
}

bool sr_events_late(srEventWatch* watch) {
  const srTouchWatch* touch = watch->touch;
  bool any = false;
  memset(watch->late, 0, (size_t)touch->first_other);
  for (int i = 0; i < touch->nlocated; ++i) {
    watch->late[i] = (signed char)touch->late[i];
    any = any || touch->late[i] != 0;
  }
  if (any) sri_events_fire(watch->events, watch->of_touch, watch->late);
  return any;
}

// ---- life -----------------------------------------------------------------------------------------------------------

// All sources that have a function, in the order in which they act.
static int list_sources(srEventWatch* watch, signed char* direction, srEventSource sources[3]) {
  const srModel* m = watch->m;
  int n = 0;
  for (int i = 0; i < m->nevent; ++i) direction[i] = m->event[i].direction;
  if (m->nevent > 0) {
    sources[n++] = (srEventSource){
        .count = m->nevent, .direction = direction, .user = watch, .evaluate = formula_values, .act = formula_act};
  }
  watch->of_touch = n;
  if (watch->touch->first_other > 0) {
    sources[n++] = (srEventSource){
        .count = watch->touch->first_other, .rated = true, .user = watch, .evaluate = gap_values, .act = touch_act};
  }
  if (watch->jumps->n > 0) sources[n++] = sr_jumps_source(watch->jumps);
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

srEventWatch* sr_events_create(const srModel* m, srData* d, const srSystem* system, const srIntegrator* integrator,
                               srTouchWatch* touch, srJumpWatch* jumps, const srEventTold* told) {
  const size_t values = (size_t)m->priv->nevent_value, head = (sizeof(srEventWatch) + 15) / 16 * 16;
  const size_t most = (size_t)velocity_actions(m), numbers = values + most * ((size_t)m->nv + 1);
  const size_t gathering = (size_t)m->nevent * sizeof(srGathering);
  char* block = sr_alloc(head + gathering + numbers * sizeof(double) + most * sizeof(int) +
                         (size_t)(m->nevent + touch->first_other));
  if (block == NULL) return NULL;
  srEventWatch* watch = (srEventWatch*)(void*)block;
  *watch = (srEventWatch){.m = m, .d = d, .touch = touch, .jumps = jumps, .told = *told};
  watch->gathering = (srGathering*)(void*)(block + head);
  for (int i = 0; i < m->nevent; ++i) watch->gathering[i] = (srGathering){.t = -HUGE_VAL, .interval = HUGE_VAL};
  watch->gathered = -1;
  watch->value = (double*)(void*)(block + head + gathering);
  watch->u = watch->value + values;
  watch->J = watch->u + most;
  watch->asked = (int*)(void*)(watch->value + numbers);
  signed char* direction = (signed char*)(watch->asked + most);
  watch->late = direction + m->nevent;
  srEventSource sources[3];
  watch->nsource = list_sources(watch, direction, sources);
  const srEventList list = {.count = watch->nsource, .source = sources, .prepare = prepare, .user = watch};
  watch->events = sri_events_create(integrator, &list);
  if (most > 0) watch->impulse = sri_impulse_create(system, (int)most);
  if (watch->events != NULL && (most == 0 || watch->impulse != NULL)) return watch;
  sr_events_destroy(watch);
  return NULL;
}

void sr_events_destroy(srEventWatch* watch) {
  if (watch == NULL) return;
  sri_events_destroy(watch->events);
  sri_impulse_destroy(watch->impulse);
  sr_free(watch);
}

const char* sr_events_gathered(const srEventWatch* watch) {
  return watch->gathered >= 0 ? watch->m->event[watch->gathered].name : NULL;
}

const char* sr_events_bad(const srEventWatch* watch) {
  const srEventTrouble trouble = sri_events_trouble(watch->events);
  const bool formula = watch->m->nevent > 0 && trouble.source == 0 && trouble.function >= 0;
  return formula ? watch->m->event[trouble.function].name : NULL;
}
