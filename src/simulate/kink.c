// Kinks of force laws, abs, min and max of the state, while a model is simulated by a method that chooses its steps.
//
// A kink is no event: where the motion passes it once, error control sees the other side and takes a few short steps (expr/switch.c). But a rectified law,
// max(0, sin(30 y)), is 0 for half of the time, where the error estimate is 0 and the step grows: it may pass the next wave as a whole, no stage within
// it. So after every step the functions of all kinks, a of abs(a) and a - b of min(a, b), are checked along the dense output, in PIECES for each length of the
// step before it. Where one has changed its sign and changed it back, the step is cut where it first did, and the method restarts on the other side. Up to there the law
// was on the branch of the start, as error control saw it.
//
// What is below PART of the function's largest value, or FLOOR, is no pulse: a speed of 1e-17 m/s at rest has no sign.
#include "simulate/kink.h"

#include <math.h>
#include <string.h>

#include "constraint/constraint.h"
#include "force/force.h"
#include "integrate/control.h"
#include "model/private.h"
#include "simulate/scan.h"

#define PIECES 4
#define PIECES_FIRST 64     // of the first step
#define PIECES_MOST 1024.0  // steps of cvode grow a thousandfold at the start
#define PART 1e-4
#define FLOOR 1e-12

srKinkMonitor* sr_kinks_create(const srModel* m, srData* d, const srIntegrator* integrator) {
  const size_t n = sri_is_adaptive(integrator) ? (size_t)m->priv->nkink : 0,
               head = (sizeof(srKinkMonitor) + 15) / 16 * 16;
  const size_t numbers = 8 * n + (size_t)(m->nq + m->nv + m->ny);
  char* block = sr_alloc(head + numbers * sizeof(double) + n * (sizeof(int) + 4));
  if (block == NULL) return NULL;
  srKinkMonitor* x = (srKinkMonitor*)(void*)block;
  *x = (srKinkMonitor){.m = m, .d = d, .integrator = integrator, .n = (int)n};
  x->value = (double*)(void*)(block + head);
  x->largest = x->value + n;
  x->peak = x->largest + n;
  x->passed = x->peak + n;
  x->work = x->passed + n;
  x->q = x->work + 4 * n;
  x->v = x->q + m->nq;
  x->y = x->v + m->nv;
  x->changes = (int*)(void*)(x->value + numbers);
  x->direction = (signed char*)(x->changes + n);
  x->first = x->direction + n;
  x->last = x->first + n;
  x->armed = x->last + n;
  memset(x->direction, -1, n);
  return x;
}

void sr_kinks_destroy(srKinkMonitor* monitor) { sr_free(monitor); }

// The functions at a state, into x->value.
static int functions(srKinkMonitor* x, double t, const double* q, const double* v, const double* y) {
  const struct srModelPrivate* priv = x->m->priv;
  srInputs inputs = {.t = t, .q = q, .v = v, .state = y, .held = x->d->held};
  if (priv->kinks_measure) {
    (void)sr_evaluate_motion(x->m, x->d, t, q, v, y, SR_STAGE_VELOCITY);
    if (sr_measure_arguments(x->m, x->d) != 0) return 1;
    inputs = sr_law_inputs(x->d);
  }
  sr_program_evaluate(priv->kinks, &inputs, x->d->work, x->value);
  return 0;
}

static signed char sign_of(double value) { return (signed char)((value > 0) - (value < 0)); }

// The functions at time t of the step, one piece further.
static bool follow(void* user, double t, const double* value) {
  srKinkMonitor* x = user;
  for (int i = 0; i < x->n; ++i) {
    const signed char sign = sign_of(value[i]);
    const double size = fabs(value[i]);
    if (sign == 0) continue;
    x->largest[i] = fmax(x->largest[i], size);
    if (x->first[i] == 0) x->first[i] = x->last[i] = sign;
    if (sign != x->first[i]) x->peak[i] = fmax(x->peak[i], size);
    if (sign == x->last[i]) continue;
    if (x->changes[i]++ == 0) x->passed[i] = t;
    x->last[i] = sign;
  }
  return false;
}

// The first time at which a kink is seen to be passed, of those that are passed back; these are armed.
static double arm(srKinkMonitor* x) {
  double first = HUGE_VAL;
  for (int i = 0; i < x->n; ++i) {
    if (x->changes[i] < 2 || !(x->peak[i] > fmax(FLOOR, PART * x->largest[i]))) continue;
    x->armed[i] = x->first[i];
    first = fmin(first, x->passed[i]);
  }
  return first;
}

static void disarm(srKinkMonitor* x) { memset(x->armed, 0, (size_t)x->n); }

static int along_step(void* user, double t, double* value) {
  srKinkMonitor* x = user;
  if (sri_interpolate(x->integrator, t, x->q, x->v, x->y, NULL) != SR_OK) return 1;
  const int answer = functions(x, t, x->q, x->v, x->y);
  memcpy(value, x->value, (size_t)x->n * sizeof *value);
  return answer;
}

static double ahead(void* user, double a, double b) {
  srKinkMonitor* x = user;
  const size_t n = (size_t)x->n;
  const double grown = x->step > 0 ? PIECES * fmax(1, (b - a) / x->step) : PIECES_FIRST;
  srScan scan = {.n = x->n, .user = x, .evaluate = along_step, .visit = follow};
  double left;
  scan.before = x->work;
  scan.middle = x->work + n;
  scan.value = x->work + 2 * n;
  scan.trial = x->work + 3 * n;
  x->step = b - a;
  disarm(x);
  memset(x->first, 0, n);
  memset(x->changes, 0, n * sizeof *x->changes);
  memset(x->peak, 0, n * sizeof *x->peak);
  (void)sr_scan_step(&scan, a, b, (int)ceil(fmin(grown, PIECES_MOST)), &left);
  return arm(x);
}

// > 0 before an armed kink, and where none is armed.
static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srKinkMonitor* x = user;
  bool any = false;
  for (int i = 0; i < x->n; ++i) any = any || x->armed[i] != 0;
  if (any && functions(x, t, q, v, y) != 0) return 1;
  for (int i = 0; i < x->n; ++i) value[i] = x->armed[i] != 0 ? x->armed[i] * x->value[i] : 1;
  return 0;
}

static int act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  (void)t, (void)q, (void)v, (void)y, (void)fired;
  disarm(user);  // the restart is all
  return 0;
}

srEventSource sr_kinks_source(srKinkMonitor* monitor) {
  return (srEventSource){.count = monitor->n,
                         .direction = monitor->direction,
                         .user = monitor,
                         .evaluate = evaluate,
                         .act = act,
                         .ahead = ahead};
}
