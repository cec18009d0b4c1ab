// Jumps of what drivers and constraint formulas prescribe, where their formulas switch.
//
//   rate       s' of a driver, G v + b of a constraint formula: the velocities change by an impulse, M (v+ - v) = G^T nu, G v+ + b = 0 (integrate/impulse.c)
//   position   s or g: would need an infinite force over an instant, and every formulation would move other bodies: an error of the model
#include "simulate/prescribed.h"

#include <math.h>
#include <stdio.h>

#include "constraint/constraint.h"
#include "force/force.h"
#include "model/private.h"

#define SAME_RATE 1e-12     // before and after a switch: no jump
#define SAME_POSITION 1e-9  // where the switch depends on the time alone, ...
#define NEAR_POSITION 1e-4  // ... or on the state, which is as exact as the dense output

bool sr_motion_may_jump(const srModel* m) {
  for (int i = 0; i < m->priv->nswitch; ++i) {
    if (m->priv->of_switch[i].of_motion) return true;
  }
  return false;
}

size_t sr_motion_jump_size(const srModel* m) {
  return 2 * (size_t)(m->ndriver + m->nformula_row) * sizeof(srPrescribed);
}

void sr_motion_jump_init(srMotionJump* x, const srModel* m, srData* d, void* memory) {
  *x = (srMotionJump){.m = m, .d = d, .before = memory, .leap = -1};
  x->after = x->before + m->ndriver + m->nformula_row;
}

static void measure(const srModel* m, srData* d, srPrescribed* out) {
  sr_driver_motion(m, d);
  for (int i = 0; i < m->ndriver; ++i) out[i] = (srPrescribed){d->motion[3 * i], d->motion[3 * i + 1]};
  if (m->nformula_row > 0) (void)sr_formula_rows(m, d);
  for (int i = 0; i < m->nformula_row; ++i) {
    const srFormulaRow* row = &m->formula_row[i];
    double rate = d->b[row->row];
    for (int k = m->G_start[row->row]; k < m->G_start[row->row + 1]; ++k) rate += d->G[k] * d->v[m->G_index[k]];
    out[m->ndriver + i] = (srPrescribed){row->velocity ? 0.0 : d->g[row->row], rate};
  }
}

void sr_motion_before(srMotionJump* x) { measure(x->m, x->d, x->before); }

static bool differ(double a, double b, double tolerance) {
  return fabs(a - b) > tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

bool sr_motion_jumps(srMotionJump* x, bool of_time) {
  bool any = false;
  measure(x->m, x->d, x->after);
  for (int i = 0; i < x->m->ndriver + x->m->nformula_row; ++i) {
    const srPrescribed *a = &x->before[i], *b = &x->after[i];
    any = any || differ(a->rate, b->rate, SAME_RATE);
    if (x->leap < 0 && differ(a->position, b->position, of_time ? SAME_POSITION : NEAR_POSITION)) x->leap = i;
  }
  return any;
}

bool sr_motion_leaps(const srMotionJump* x, double t, char* sentence, size_t size) {
  static const char advice[] =
      "no force moves a body over a distance in no time; let its pieces meet, or take a ramp or a <motion>";
  const srModel* m = x->m;
  if (x->leap < 0) return false;
  const double from = x->before[x->leap].position, to = x->after[x->leap].position;
  if (x->leap < m->ndriver) {
    (void)snprintf(sentence, size, "at t = %.9g the motion of driver '%.80s' jumps by %.6g, from %.9g to %.9g: %s", t,
                   m->driver[x->leap].name, to - from, from, to, advice);
  } else {
    (void)snprintf(sentence, size, "at t = %.9g the formula of constraint '%.80s' jumps by %.6g: %s", t,
                   m->formula_row[x->leap - m->ndriver].name, to - from, advice);
  }
  return true;
}
