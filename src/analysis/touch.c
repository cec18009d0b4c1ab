// Contacts while a model is simulated.
//
// A law that looks at the speed at first touch gets it from the located event: its gap is a switching function (event.c), and the
// contact stays open until the root is found, so that nothing but the motion before it decides where that is. At the touch the
// speed is max(floor, -gap'); when the gap opens again the bristles of friction are released. A closed contact that is struck, by
// another body than the one it began with, has the largest approach speed since its touch.
// Other laws are continuous or nearly so. Where the error chooses the steps they are located all the same: a step that has grown
// long over a free flight has no other way to know of a floor. With steps of fixed length their touches are counted after each
// step, without a restart.
#include "analysis/touch.h"

#include <math.h>
#include <string.h>

#include "analysis/system.h"
#include "base/base.h"
#include "contact/element.h"
#include "force/force.h"
#include "force/ports.h"

#define TOUCHING 1e-9  // m: bodies that are no deeper than this at the start touch just now
#define PARTING 1e-12  // m: depth just before bodies part
#define HALVINGS 50    // of the time of a touch that is only counted

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

srTouchWatch* sr_touch_create(const srModel* m, srData* d, bool adaptive) {
  size_t n = 0;
  for (int i = 0; i < m->nforce; ++i) n += is_contact(&m->force[i]);
  const size_t head = (sizeof(srTouchWatch) + 15) / 16 * 16;
  char* block = sr_alloc(head + n * (2 * sizeof(double) + sizeof(int) + 3));
  if (block == NULL) return NULL;
  srTouchWatch* watch = (srTouchWatch*)(void*)block;
  watch->m = m;
  watch->d = d;
  watch->gap = (double*)(void*)(block + head);
  watch->rate = watch->gap + n;
  watch->element = (int*)(void*)(watch->rate + n);
  watch->closed = (unsigned char*)(watch->element + n);
  watch->clamped = watch->closed + n;
  watch->late = watch->clamped + n;
  for (int located = 1; located >= 0; --located) {
    for (int i = 0; i < m->nforce; ++i) {
      if (!is_contact(&m->force[i]) || (adaptive || m->force[i].contact->located) != located) continue;
      watch->element[watch->n++] = i;
      watch->nlocated += located;
      watch->formulas = watch->formulas || m->force[i].law->port == SR_PORT_GAP;
    }
  }
  return watch;
}

void sr_touch_destroy(srTouchWatch* watch) { sr_free(watch); }

static const srForceElement* element_of(const srTouchWatch* watch, int i) {
  return &watch->m->force[watch->element[i]];
}

int sr_touch_measure(srTouchWatch* watch, int n) {
  srData* d = watch->d;
  if (watch->formulas) {
    const int answer = sr_measure(watch->m, d);
    if (answer != 0) return answer;
  }
  for (int i = 0; i < n; ++i) {
    const srForceElement* e = element_of(watch, i);
    srPortMotion motion;
    const int answer = sr_port_motion(watch->m, d, e, &motion);
    if (answer != 0) return answer;
    const srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot};
    sr_contact_gap(e->contact, &in, &watch->gap[i], &watch->rate[i]);
  }
  return 0;
}

// Speed at first touch that the law is given.
static double speed(const srTouchWatch* watch, int i) {
  return fmax(element_of(watch, i)->contact->p.floor, -watch->rate[i]);
}

int sr_touch_start(srTouchWatch* watch, srMessages* messages) {
  const int answer = watch->n > 0 ? sr_touch_measure(watch, watch->n) : 0;
  for (int i = 0; i < watch->n && answer == 0; ++i) {
    const srForceElement* e = element_of(watch, i);
    const double floor = e->contact->p.floor, deep = -watch->gap[i];
    const bool located = i < watch->nlocated;
    watch->closed[i] = deep >= 0.0 && (!located || deep > TOUCHING || watch->rate[i] <= 0.0);
    if (e->z < 0) continue;
    double* z = watch->d->z + e->z;
    // A run that goes on where another has stopped knows the speed. Else, in the middle of an impact, approaching or parting, it
    // was at least the present one.
    const bool known = deep > 0.0 && z[SR_Z_CLOSED] != 0 && z[SR_Z_SPEED] > 0.0;
    z[SR_Z_SPEED] = fmax(known ? z[SR_Z_SPEED] : floor, fabs(watch->rate[i]));
    z[SR_Z_CLOSED] = watch->closed[i] || !located;  // what is not located has its force at once
    if (known || !e->contact->located || !watch->closed[i] || (deep <= TOUCHING && -watch->rate[i] >= floor)) continue;
    sr_messages_add(messages, SR_SEVERITY_WARNING, e->place,
                    "%s: '%s' and '%s' are in touch at the start, %.3g m deep; the law '%s' takes %g m/s for the speed "
                    "at first touch",
                    e->name, e->contact->a, e->contact->b != NULL ? e->contact->b : "its gap", fmax(0.0, deep),
                    e->contact->law->name, z[SR_Z_SPEED]);
  }
  return answer;
}

// Would the law pull at this depth? Counted once from touch to parting.
static int count_clamp(srTouchWatch* watch, int i, double deep) {
  const srForceElement* e = element_of(watch, i);
  srNormalOut out;
  const int answer = sr_press(e->contact, deep, -watch->rate[i], e->z >= 0 ? watch->d->z + e->z : NULL, &out);
  if (answer != 0 || !out.clamped || watch->clamped[i] != 0) return answer;
  watch->clamped[i] = 1;
  ++watch->clamps;
  return 0;
}

double sr_touch_change(srTouchWatch* watch, int i, bool touches, double* y) {
  const srForceElement* e = element_of(watch, i);
  srData* d = watch->d;
  double* z = d->z + e->z;
  watch->closed[i] = touches;
  if (!touches) {
    (void)count_clamp(watch, i, PARTING);
    watch->clamped[i] = 0;
  }
  if (touches) z[SR_Z_SPEED] = speed(watch, i);
  z[SR_Z_CLOSED] = touches;
  if (touches || e->ny == 0) return 0.0;
  srPortMotion motion;
  if (sr_port_motion(watch->m, d, e, &motion) != 0) return 0.0;
  srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot, .y = y + e->y, .z = z, .data = e->contact, .tau = e->tau};
  const double before = e->law->energy(&in);
  memset(y + e->y, 0, (size_t)e->ny * sizeof *y);
  return before - e->law->energy(&in);
}

// ---- after a step -------------------------------------------------------------------------------------------------------

static int measure_at(srTouchWatch* watch, double t, const double* q, const double* v, const double* y) {
  sr_put_state(watch->m, watch->d, t, q, v, y);
  sr_kinematics(watch->m, watch->d);
  sr_velocity(watch->m, watch->d);
  return sr_touch_measure(watch, watch->n);
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
    sr_kinematics(watch->m, d);
    sr_velocity(watch->m, d);
    d->t = middle;
    answer = sr_touch_measure(watch, watch->n);
    *(watch->gap[i] > 0.0 ? &a : &b) = middle;
  }
  *t = b;
  return answer;
}

// Located contacts after a step: one that is struck gets its speed; one that no change of sign has told of is late.
static void look_at_located(srTouchWatch* watch) {
  for (int i = 0; i < watch->nlocated; ++i) {
    double* z = watch->d->z + element_of(watch, i)->z;
    const bool in = watch->gap[i] <= 0.0;
    watch->late[i] = watch->closed[i] != 0 ? watch->gap[i] > 0.0 : in && watch->rate[i] < 0.0;
    if (watch->closed[i] != 0 && in) z[SR_Z_SPEED] = fmax(z[SR_Z_SPEED], -watch->rate[i]);
  }
}

int sr_touch_step(srTouchWatch* watch, const srIntegrator* x, void* user,
                  void (*touched)(void* user, double t, int i)) {
  if (watch->n == 0) return 0;
  int answer = measure_at(watch, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
  for (int i = 0; i < watch->n && answer == 0; ++i) answer = count_clamp(watch, i, -watch->gap[i]);
  if (answer == 0) look_at_located(watch);
  bool moved = false;
  for (int i = watch->nlocated; i < watch->n && answer == 0; ++i) {
    if (moved) answer = measure_at(watch, sri_time(x), sri_q(x), sri_v(x), sri_y(x));
    moved = false;
    const bool was = watch->closed[i] != 0;
    watch->closed[i] = watch->gap[i] <= 0.0;
    if (was && watch->closed[i] == 0 && answer == 0) answer = count_clamp(watch, i, PARTING);
    if (watch->closed[i] == 0) watch->clamped[i] = 0;
    if (was || watch->closed[i] == 0 || answer != 0) continue;
    double t = 0.0;
    answer = locate(watch, x, i, &t);
    moved = true;
    if (answer == 0) touched(user, t, i);
  }
  return answer;
}
