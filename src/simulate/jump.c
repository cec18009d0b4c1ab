// Places where laws jump (if, step, sign, floor, comparisons: expr/switch.c), while a model is simulated.
//
// A step across a jump has an error of the size of the jump times the step, whatever the order of the method is. So within a step every switch
// keeps the value that it had at its start, and the law goes on smoothly beyond the jump; the switching function is a source of events like any
// other, and where it changes its sign the step is cut, the switch is turned over and the method starts anew. A function that is exactly 0 is on the
// side where the operation has its value: a < b is false there, a <= b true. sign(0) is neither, and free until it has a side.
//
// Chatter: where the law on either side drives the motion back to the jump (a force -F sign(v) at v = 0), the jumps follow each other without
// time passing. After CHATTER of them such a switch is let free for the rest of the run, which is reported: the law is then evaluated as it is, and
// the error control finds its way along the jump in short steps.
#include "simulate/jump.h"

#include <float.h>
#include <math.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "model/private.h"

#define CHATTER 5          // jumps of one switch almost at once ...
#define CHATTER_ALL 200    // ... or one, after so many of all
#define CHATTER_SPAN 1e-6  // of the largest step: almost at once

static bool is_floor(const srJumpWatch* watch, int i) { return watch->m->priv->of_switch[i].op == SR_OP_FLOOR; }

srJumpWatch* sr_jumps_create(const srModel* m, srData* d, const srIntegrator* integrator) {
  const size_t n = (size_t)m->priv->nswitch, head = (sizeof(srJumpWatch) + 15) / 16 * 16;
  char* block = sr_alloc(head + n * (3 * sizeof(double) + sizeof(int) + 2));
  if (block == NULL) return NULL;
  srJumpWatch* watch = (srJumpWatch*)(void*)block;
  watch->m = m;
  watch->d = d;
  watch->integrator = integrator;
  watch->n = (int)n;
  watch->held = (double*)(void*)(block + head);
  watch->value = watch->held + n;
  watch->t_last = watch->value + n;
  watch->rapid = (int*)(void*)(watch->t_last + n);
  watch->chatters = (unsigned char*)(watch->rapid + n);
  watch->direction = (signed char*)watch->chatters + n;
  for (int i = 0; i < watch->n; ++i) {
    watch->t_last[i] = -HUGE_VAL;
    watch->direction[i] = is_floor(watch, i) ? -1 : 0;
  }
  return watch;
}

void sr_jumps_destroy(srJumpWatch* watch) {
  if (watch != NULL && watch->n > 0) watch->d->held = NULL;
  sr_free(watch);
}

// ---- functions ----------------------------------------------------------------------------------------------------------

static int evaluate_functions(srJumpWatch* watch, double t) {
  const struct srModelPrivate* priv = watch->m->priv;
  srData* d = watch->d;
  const int answer = priv->switches_of_time ? 0 : sr_measure_arguments(watch->m, d);
  if (answer != 0) return answer;
  srInputs inputs = sr_law_inputs(d);
  inputs.t = t;
  sr_program_evaluate(priv->switches, &inputs, d->work, watch->value);
  return 0;
}

// The switch where its function, which is a - b of a < b and a <= b, has this value. NaN: neither side.
static double value_at(srOp op, double x) {
  switch (op) {
    case SR_OP_FLOOR: return floor(x);
    case SR_OP_STEP: return x >= 0;
    case SR_OP_LT: return x < 0;
    case SR_OP_LE: return x <= 0;
    default: return x > 0 ? 1 : x < 0 ? -1 : (double)NAN;
  }
}

// Changes its sign where the switch is to be turned over. Of floor: > 0 within the numbers that have the value held.
static double function_of(const srJumpWatch* watch, int i) {
  const double x = watch->value[i], held = watch->held[i];
  if (watch->chatters[i] != 0) return 1;
  switch (watch->m->priv->of_switch[i].op) {
    case SR_OP_FLOOR: return x == held ? DBL_MIN : fmin(x - held, held + 1 - x);
    case SR_OP_SIGN: return x;
    case SR_OP_LE: return x == 0 ? -DBL_MIN : x;
    default: return x == 0 ? DBL_MIN : x;
  }
}

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srJumpWatch* watch = user;
  (void)q, (void)v, (void)y;
  const int answer = evaluate_functions(watch, t);
  for (int i = 0; i < watch->n && answer == 0; ++i) value[i] = function_of(watch, i);
  return answer;
}

// ---- switching over -----------------------------------------------------------------------------------------------------

// Takes the value of every switch that is free and has a side.
static void hold(srJumpWatch* watch) {
  watch->nfree = 0;
  for (int i = 0; i < watch->n; ++i) {
    if (watch->chatters[i] != 0 || !isnan(watch->held[i])) continue;
    watch->held[i] = value_at(watch->m->priv->of_switch[i].op, watch->value[i]);
    watch->nfree += isnan(watch->held[i]);
  }
}

int sr_jumps_start(srJumpWatch* watch) {
  if (watch->n == 0) return 0;
  watch->d->held = watch->held;
  for (int i = 0; i < watch->n; ++i) watch->held[i] = (double)NAN;
  const int answer = evaluate_functions(watch, watch->d->t);
  if (answer == 0) hold(watch);
  return answer;
}

int sr_jumps_step(srJumpWatch* watch) {
  const srIntegrator* x = watch->integrator;
  if (watch->nfree == 0) return 0;
  if (!watch->m->priv->switches_of_time)
    (void)sr_evaluate_motion(watch->m, watch->d, sri_time(x), sri_q(x), sri_v(x), sri_y(x), SR_STAGE_VELOCITY);
  const int answer = evaluate_functions(watch, sri_time(x));
  if (answer == 0) hold(watch);
  return answer;
}

// Does switch i, which jumps at t, chatter?
static bool chatters(srJumpWatch* watch, int i, double t) {
  const bool at_once = t - watch->t_last[i] <= CHATTER_SPAN * sri_stats(watch->integrator)->step_largest;
  watch->t_last[i] = t;
  watch->rapid[i] = at_once ? watch->rapid[i] + 1 : 0;
  watch->rapids += at_once;
  return watch->rapid[i] >= (watch->rapids > CHATTER_ALL ? 1 : CHATTER);
}

// The side is that of the change of sign: at this very state rounding may have it otherwise.
static double turned_over(const srJumpWatch* watch, int i, int sign) {
  const srOp op = watch->m->priv->of_switch[i].op;
  if (op != SR_OP_FLOOR) return value_at(op, sign);
  const double x = watch->value[i], held = watch->held[i];
  if (floor(x) != held) return floor(x);
  return x < held + 0.5 ? held - 1 : held + 1;
}

static int act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srJumpWatch* watch = user;
  (void)q, (void)v, (void)y;
  for (int i = 0; i < watch->n; ++i) {
    if (fired[i] == 0 || watch->chatters[i] != 0) continue;
    ++watch->jumps;
    if (chatters(watch, i, t)) {
      watch->chatters[i] = 1;
      watch->held[i] = (double)NAN;
      watch->chatter(watch->user, t, i);
    } else {
      watch->held[i] = turned_over(watch, i, fired[i]);
    }
  }
  return 0;
}

srEventSource sr_jumps_source(srJumpWatch* watch) {
  return (srEventSource){
      .count = watch->n, .direction = watch->direction, .user = watch, .evaluate = evaluate, .act = act};
}
