// Events of a model: formulas of the state whose change of sign does something, and gaps of contacts whose touch is located.
//
// Formulas see the state that dense output gives. All actions of one instant see the state before any of them, in the order
// of the file; a state that two of them set has the value of the last.
#include "analysis/event.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/system.h"
#include "base/base.h"
#include "force/force.h"
#include "model/private.h"

#define CROWD 1000        // so many events within ...
#define CROWD_WIDTH 1e-9  // ... this part of the time are no motion any more

// All formulas of the events at a state.
static void formulas_at(srEventWatch* watch, double t, const double* q, const double* v, const double* y) {
  const srModel* m = watch->m;
  srData* d = watch->d;
  sr_put_state(m, d, t, q, v, y);
  sr_kinematics(m, d);
  sr_velocity(m, d);
  if (m->nevent == 0) return;
  sr_sense(m, d);
  const srInputs inputs = {.t = t, .q = d->jq, .v = d->jv, .state = d->y, .sensor = d->sensor};
  sr_program_evaluate(m->priv->events, &inputs, d->work, watch->value);
}

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srEventWatch* watch = user;
  const int nevent = watch->m->nevent, ngap = watch->touch->nlocated;
  formulas_at(watch, t, q, v, y);
  if (nevent > 0) memcpy(value, watch->value, (size_t)nevent * sizeof *value);
  if (ngap == 0) return 0;
  const int answer = sr_touch_measure(watch->touch, ngap);
  memcpy(value + nevent, watch->touch->gap, (size_t)ngap * sizeof *value);
  memcpy(value + nevent + ngap, watch->touch->rate, (size_t)ngap * sizeof *value);
  return answer;
}

srEventWatch* sr_events_create(const srModel* m, srData* d, const srIntegrator* integrator, srTouchWatch* touch) {
  const size_t n = (size_t)(m->nevent + touch->nlocated), values = (size_t)m->priv->nevent_value;
  const size_t head = (sizeof(srEventWatch) + 15) / 16 * 16;
  char* block = sr_alloc(head + values * sizeof(double) + 2 * n);
  if (block == NULL) return NULL;
  srEventWatch* watch = (srEventWatch*)(void*)block;
  watch->m = m;
  watch->d = d;
  watch->value = (double*)(void*)(block + head);
  watch->direction = (signed char*)(watch->value + values);
  watch->fired = (unsigned char*)watch->direction + n;
  watch->touch = touch;
  watch->count = (int)n;
  watch->t_last = -HUGE_VAL;
  for (int i = 0; i < m->nevent; ++i) watch->direction[i] = m->event[i].direction;
  const srRoots roots = {.count = watch->count,
                         .user = watch,
                         .evaluate = evaluate,
                         .direction = watch->direction,
                         .rated = touch->nlocated};
  watch->finder = sri_roots_create(integrator, &roots);
  if (watch->finder != NULL) return watch;
  sr_free(block);
  return NULL;
}

void sr_events_destroy(srEventWatch* watch) {
  if (watch == NULL) return;
  sri_roots_destroy(watch->finder);
  sr_free(watch);
}

srStatus sr_events_start(srEventWatch* watch, const srIntegrator* integrator) {
  return sri_roots_start(watch->finder, integrator);
}

srStatus sr_events_step(srEventWatch* watch, const srIntegrator* integrator, double* t) {
  return sri_roots_step(watch->finder, integrator, t, watch->fired);
}

srStatus sr_events_act(srEventWatch* watch, double t, const double* q, const double* v, double* y, bool* stop,
                       double* heat) {
  const srModel* m = watch->m;
  *stop = false;
  *heat = 0;
  formulas_at(watch, t, q, v, y);
  if (sr_touch_measure(watch->touch, watch->touch->nlocated) != 0) return SR_FAILED;
  for (int i = 0; i < m->nevent; ++i) {
    if (watch->fired[i] == 0) continue;
    *stop = *stop || m->event[i].stop;
    for (int k = 0; k < m->event[i].naction; ++k) {
      const srEventAction* action = &m->event[i].action[k];
      if (!isfinite(watch->value[action->value])) return SR_FAILED;
      y[action->y] = watch->value[action->value];
    }
  }
  for (int i = 0; i < watch->touch->nlocated; ++i) {
    if (watch->fired[m->nevent + i] == 0) continue;
    // What parts is no touch, however deep the error of the step has put it.
    *heat += sr_touch_change(watch->touch, i, watch->touch->gap[i] <= 0.0 && watch->touch->rate[i] < 0.0, y);
  }
  return SR_OK;
}

srStatus sr_events_follow(srEventWatch* watch, double t, const double* q, const double* v, const double* y, bool* any) {
  *any = false;
  if (sri_roots_jump(watch->finder, t, q, v, y, watch->fired) != SR_OK) return SR_FAILED;
  // Gaps are functions of the positions, which no action changes: what they show here is the touch that was dealt with.
  for (int i = watch->m->nevent; i < watch->count; ++i) watch->fired[i] = 0;
  for (int i = 0; i < watch->m->nevent; ++i) *any = *any || watch->fired[i] != 0;
  return SR_OK;
}

bool sr_events_late(srEventWatch* watch) {
  bool any = false;
  memset(watch->fired, 0, (size_t)watch->count);
  for (int i = 0; i < watch->touch->nlocated; ++i) {
    watch->fired[watch->m->nevent + i] = watch->touch->late[i];
    any = any || watch->touch->late[i] != 0;
  }
  return any;
}

const char* sr_events_bad(const srEventWatch* watch) {
  const int i = sri_roots_bad(watch->finder);
  return i >= 0 && i < watch->m->nevent ? watch->m->event[i].name : NULL;
}

bool sr_events_crowd(srEventWatch* watch, double t) {
  const bool near = t - watch->t_last <= CROWD_WIDTH * fmax(fabs(t), DBL_MIN);
  watch->crowd = near ? watch->crowd + 1 : 0;
  if (!near) watch->t_last = t;
  return watch->crowd > CROWD;
}
