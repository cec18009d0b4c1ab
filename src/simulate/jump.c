// Switches of force laws that jump (if, step, sign, floor, comparisons: expr/switch.c), while a model is simulated.
//
// A step across a jump has an error of the size of the jump times the step, whatever the order of the method. So within a step every switch
// keeps its value from the start, and the law continues smoothly beyond the jump; the switching function is an event source like any
// other, and where it changes its sign the step is cut, the switch is flipped and the method restarts. A function that is exactly 0 is on the
// side where the operation has its value: a < b is false there, a <= b true. sign(0) is neither, and free until it has a side.
//
// Where a function depends on the time alone its next change is known before the step, which then ends there: the branch held, continued far beyond it, would cost
// the step its accuracy, and the work its meaning.
//
// Chatter: where the law on either side drives the motion back to the jump (a force -F sign(v) at v = 0), jumps repeat without
// time passing. After CHATTER of them such a switch is released for the rest of the run, which is reported: the law is then evaluated as it is, and
// error control follows the jump in short steps.
#include "simulate/jump.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "model/private.h"
#include "simulate/scan.h"

#define CHATTER 5          // jumps of one switch almost at once ...
#define CHATTER_ALL 200    // ... or one, after so many of all
#define CHATTER_SPAN 1e-6  // of the largest step: almost at once
#define AHEAD                                                                                                          \
  8  // pieces of a step in which functions of the time alone are checked, for each length of the step before it ...
#define AHEAD_FIRST 64     // ... of the first one ...
#define AHEAD_MOST 1024.0  // ... and at most: steps of cvode grow a thousandfold at the start
#define AHEAD_STEPS                                                                                                    \
  10  // a step ends where such a function switches, if that is within so many lengths of the last one, ...
#define NEAR 1e-14   // ... and not nearer than this part of the time
#define HALVINGS 80  // of a step, to its last digits

static bool is_floor(const srJumpMonitor* monitor, int i) { return monitor->m->priv->of_switch[i].op == SR_OP_FLOOR; }

srJumpMonitor* sr_jumps_create(const srModel* m, srData* d, const srIntegrator* integrator) {
  const size_t n = (size_t)m->priv->nswitch, head = (sizeof(srJumpMonitor) + 15) / 16 * 16;
  const size_t state = (size_t)(m->nq + m->nv + m->ny);
  char* block = sr_alloc(head + (7 * n + state) * sizeof(double) + n * (sizeof(int) + 3));
  if (block == NULL) return NULL;
  srJumpMonitor* monitor = (srJumpMonitor*)(void*)block;
  monitor->m = m;
  monitor->d = d;
  monitor->integrator = integrator;
  monitor->n = (int)n;
  for (size_t i = 0; i < n; ++i) monitor->of_time = monitor->of_time || m->priv->of_switch[i].of_time;
  monitor->scanned = -HUGE_VAL;
  monitor->next = HUGE_VAL;
  monitor->held = (double*)(void*)(block + head);
  monitor->value = monitor->held + n;
  monitor->t_last = monitor->value + n;
  monitor->work = monitor->t_last + n;
  monitor->q = monitor->work + 4 * n;
  monitor->rapid = (int*)(void*)(monitor->q + state);
  monitor->chatters = (unsigned char*)(monitor->rapid + n);
  monitor->direction = (signed char*)monitor->chatters + n;
  monitor->sign = monitor->direction + n;
  for (int i = 0; i < monitor->n; ++i) {
    monitor->t_last[i] = -HUGE_VAL;
    monitor->direction[i] = is_floor(monitor, i) ? -1 : 0;
  }
  return monitor;
}

void sr_jumps_destroy(srJumpMonitor* monitor) {
  if (monitor != NULL && monitor->n > 0) monitor->d->held = NULL;
  sr_free(monitor);
}

// ---- functions ----------------------------------------------------------------------------------------------------------

void sr_switch_functions(const srModel* m, srData* d, double t, double* value) {
  srInputs inputs = sr_law_inputs(d);
  inputs.t = t;
  sr_program_evaluate(m->priv->switches, &inputs, d->work, value);
}

static int evaluate_functions(srJumpMonitor* monitor, double t) {
  const int answer = monitor->m->priv->switches_of_time ? 0 : sr_measure_arguments(monitor->m, monitor->d);
  if (answer == 0) sr_switch_functions(monitor->m, monitor->d, t, monitor->value);
  return answer;
}

double sr_switch_value(srOp op, double x) {
  switch (op) {
    case SR_OP_FLOOR: return floor(x);
    case SR_OP_STEP: return x >= 0;
    case SR_OP_LT: return x < 0;
    case SR_OP_LE: return x <= 0;
    default: return x > 0 ? 1 : x < 0 ? -1 : (double)NAN;
  }
}

// Changes its sign where the switch is to be flipped. For floor: > 0 within the numbers that have the value held.
static double function_of(const srJumpMonitor* monitor, int i) {
  const double x = monitor->value[i], held = monitor->held[i];
  if (monitor->chatters[i] != 0) return 1;
  switch (monitor->m->priv->of_switch[i].op) {
    case SR_OP_FLOOR: return x == held ? DBL_MIN : x - held < held + 1 - x ? x - held : held + 1 - x;
    case SR_OP_SIGN: return x;
    case SR_OP_LE: return x == 0 ? -DBL_MIN : x;
    default: return x == 0 ? DBL_MIN : x;
  }
}

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srJumpMonitor* monitor = user;
  (void)q, (void)v, (void)y;
  const int answer = evaluate_functions(monitor, t);
  for (int i = 0; i < monitor->n && answer == 0; ++i) value[i] = function_of(monitor, i);
  return answer;
}

// Functions of the time alone, or of the state along the dense output; the others are 1.
static int along_step(void* user, double t, double* value) {
  srJumpMonitor* monitor = user;
  const srModel* m = monitor->m;
  if (monitor->along_time) {
    sr_switch_functions(m, monitor->d, t, monitor->value);
  } else {
    double *q = monitor->q, *v = q + m->nq, *y = v + m->nv;
    if (sri_interpolate(monitor->integrator, t, q, v, y, NULL) != SR_OK) return 1;
    (void)sr_evaluate_motion(m, monitor->d, t, q, v, y, SR_STAGE_VELOCITY);
    if (evaluate_functions(monitor, t) != 0) return 1;
  }
  for (int i = 0; i < monitor->n; ++i) {
    value[i] = m->priv->of_switch[i].of_time == monitor->along_time ? function_of(monitor, i) : 1;
    monitor->undefined = monitor->undefined || isnan(value[i]);
  }
  return 0;
}

static signed char sign_of(double value) { return (signed char)((value > 0) - (value < 0)); }

// The sign of a function that is 0, just at its jump, as long as the switch is held.
static signed char held_sign(const srJumpMonitor* monitor, int i) {
  if (!monitor->along_time || monitor->chatters[i] != 0 || isnan(monitor->held[i])) return 0;
  return is_floor(monitor, i) ? 1 : sign_of(monitor->held[i]);  // or that of sign(x): others are never 0
}

// Has a function changed its sign since the first visit?
static bool has_changed(void* user, double t, const double* value) {
  srJumpMonitor* monitor = user;
  (void)t;
  for (int i = 0; i < monitor->n; ++i) {
    if (value[i] * monitor->sign[i] < 0) return true;
    if (monitor->sign[i] == 0) monitor->sign[i] = value[i] != 0 ? sign_of(value[i]) : held_sign(monitor, i);
  }
  return false;
}

static double first_change(srJumpMonitor* monitor, bool along_time, double a, double b, int pieces, double* before) {
  const size_t n = (size_t)monitor->n;
  double* work = monitor->work;
  srScan scan = {.n = monitor->n, .user = monitor, .evaluate = along_step, .visit = has_changed};
  scan.before = work;
  scan.middle = work + n;
  scan.value = work + 2 * n;
  scan.trial = work + 3 * n;
  monitor->along_time = along_time;
  memset(monitor->sign, 0, n);
  return sr_scan_step(&scan, a, b, pieces, before);
}

static double ahead_of_time(srJumpMonitor* monitor, double a, double b, int pieces) {
  double before;
  if (!monitor->of_time) return HUGE_VAL;
  if (monitor->next > a && monitor->next <= b) return monitor->next;
  const double from = fmax(a, fmin(monitor->scanned, b));
  return from < b ? first_change(monitor, true, from, b, pieces, &before) : HUGE_VAL;
}

static double ahead(void* user, double a, double b) {
  srJumpMonitor* monitor = user;
  const double grown = monitor->step > 0 ? AHEAD * fmax(1, (b - a) / monitor->step) : AHEAD_FIRST;
  const int pieces = (int)ceil(fmin(grown, AHEAD_MOST));
  monitor->step = b - a;
  const double first = ahead_of_time(monitor, a, b, pieces);
  if (monitor->m->priv->switches_of_time) return first;
  double before;  // half as many of the state: each costs the kinematics
  return fmin(first, first_change(monitor, false, a, fmin(b, first), (pieces + 1) / 2, &before));
}

// The change between a and b as exactly as numbers are: the first one at which the sign is the other.
static double narrow(srJumpMonitor* monitor, double a, double b) {
  double before;
  for (int k = 0; k < HALVINGS && b - a > 2 * DBL_EPSILON * fmax(fabs(a), fabs(b)); ++k) {
    const double middle = a + 0.5 * (b - a);
    if (first_change(monitor, true, a, middle, 1, &before) < HUGE_VAL) {
      b = middle;
    } else {
      a = middle;
    }
  }
  return b;
}

static void forget_ahead(srJumpMonitor* monitor) {
  monitor->scanned = -HUGE_VAL;
  monitor->next = HUGE_VAL;
  monitor->undefined = false;
}

double sr_jumps_next(srJumpMonitor* monitor, double t, double step) {
  const double end = t + AHEAD_STEPS * step;
  double before;
  if (!monitor->of_time || !(step > 0)) return HUGE_VAL;
  if (monitor->next <= t) forget_ahead(monitor);
  if (monitor->next == HUGE_VAL && monitor->scanned < end) {
    const double from = fmax(t, monitor->scanned);
    const int pieces = (int)ceil(fmin(AHEAD * fmax(1, (end - from) / step), AHEAD_MOST));
    const double found = first_change(monitor, true, from, end, pieces, &before);
    monitor->scanned = end;
    if (found < HUGE_VAL) monitor->next = narrow(monitor, before, found);
  }
  return monitor->next - t > NEAR * fmax(fabs(t), DBL_MIN) ? monitor->next : HUGE_VAL;
}

bool sr_jumps_quiet(const srJumpMonitor* monitor, double t) {
  if (monitor->n == 0) return true;
  if (!monitor->m->priv->switches_of_time || monitor->nfree > 0 || monitor->undefined) return false;
  return monitor->scanned >= t && monitor->next > t;
}

// ---- switching over -----------------------------------------------------------------------------------------------------

// Takes the value of every free switch that has a side.
static void hold(srJumpMonitor* monitor) {
  monitor->nfree = 0;
  for (int i = 0; i < monitor->n; ++i) {
    if (monitor->chatters[i] != 0 || !isnan(monitor->held[i])) continue;
    monitor->held[i] = sr_switch_value(monitor->m->priv->of_switch[i].op, monitor->value[i]);
    monitor->nfree += isnan(monitor->held[i]);
  }
  forget_ahead(monitor);
}

int sr_jumps_start(srJumpMonitor* monitor) {
  if (monitor->n == 0) return 0;
  monitor->d->held = monitor->held;
  forget_ahead(monitor);
  for (int i = 0; i < monitor->n; ++i) monitor->held[i] = (double)NAN;
  const int answer = evaluate_functions(monitor, monitor->d->t);
  if (answer == 0) hold(monitor);
  return answer;
}

int sr_jumps_step(srJumpMonitor* monitor) {
  const srIntegrator* x = monitor->integrator;
  if (monitor->nfree == 0) return 0;
  if (!monitor->m->priv->switches_of_time)
    (void)sr_evaluate_motion(monitor->m, monitor->d, sri_time(x), sri_q(x), sri_v(x), sri_y(x), SR_STAGE_VELOCITY);
  const int answer = evaluate_functions(monitor, sri_time(x));
  if (answer == 0) hold(monitor);
  return answer;
}

// Does switch i, which jumps at t, chatter?
static bool chatters(srJumpMonitor* monitor, int i, double t) {
  const bool at_once = t - monitor->t_last[i] <= CHATTER_SPAN * sri_stats(monitor->integrator)->step_largest;
  monitor->t_last[i] = t;
  monitor->rapid[i] = at_once ? monitor->rapid[i] + 1 : 0;
  monitor->rapids += at_once;
  return monitor->rapid[i] >= (monitor->rapids > CHATTER_ALL ? 1 : CHATTER);
}

// The side is that of the sign change: at this very state rounding may give the other one.
static double turned_over(const srJumpMonitor* monitor, int i, int sign) {
  const srOp op = monitor->m->priv->of_switch[i].op;
  if (op != SR_OP_FLOOR) return sr_switch_value(op, sign);
  const double x = monitor->value[i], held = monitor->held[i];
  if (floor(x) != held) return floor(x);
  return x < held + 0.5 ? held - 1 : held + 1;
}

static int act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srJumpMonitor* monitor = user;
  (void)q, (void)v, (void)y;
  forget_ahead(monitor);
  for (int i = 0; i < monitor->n; ++i) {
    if (fired[i] == 0 || monitor->chatters[i] != 0) continue;
    ++monitor->jumps;
    if (chatters(monitor, i, t)) {
      monitor->chatters[i] = 1;
      monitor->held[i] = (double)NAN;
      monitor->chatter(monitor->user, t, i);
    } else {
      monitor->held[i] = turned_over(monitor, i, fired[i]);
      if (monitor->jumped != NULL) monitor->jumped(monitor->user, t, i);
    }
  }
  return 0;
}

srEventSource sr_jumps_source(srJumpMonitor* monitor) {
  return (srEventSource){.count = monitor->n,
                         .direction = monitor->direction,
                         .user = monitor,
                         .evaluate = evaluate,
                         .act = act,
                         .ahead = ahead};
}
