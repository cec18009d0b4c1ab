// A state at a time: the initial state, or a given one, with drivers and constraints that depend on time.
//
// The initial state is that of t = 0. At another time driven coordinates are on their motion, and loops are closed on the branch
// of the start: drivers are followed in steps so short that Newton's iteration stays on it. The mechanism is displaced, not
// simulated; coordinates that neither a driver nor a constraint moves keep their initial values.
#include <math.h>
#include <sarrus/analysis.h>
#include <string.h>

#include "base/base.h"
#include "force/force.h"
#include "system/system.h"

#define STEP 0.1          // rad or m of a driver from one closed position to the next
#define MOST_STEPS 20000  // of a path: 1000 to 2000 rad of a crank
#define HALVINGS 40       // of a time, until a driver moves no more than STEP
#define CONTRADICTION 1e-9

// Largest change of a driver from its motion `before` to time t; d->motion is that of t afterwards.
static double change_to(const srModel* m, srData* d, double t, const double* before) {
  double most = 0.0;
  d->t = t;
  sr_driver_motion(m, d);
  for (int i = 0; i < m->ndriver; ++i) most = fmax(most, fabs(d->motion[3 * i] - before[3 * i]));
  return most;
}

// Driven coordinates from d->motion, where they are coordinates of the equations.
static void put_motion(const srModel* m, srData* d, bool q, bool v) {
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) {
    if (q) d->q[m->driver[i].qdof] = d->motion[3 * i];
    if (v) d->v[m->driver[i].dof] = d->motion[3 * i + 1];
  }
}

// Closes the loops at time after time, from the closed position at d->t up to t_end. False: the path cannot be followed, and
// d->t is where it was lost.
static bool follow(const srModel* m, srData* d, double t_end, double* before) {
  for (int steps = 0; d->t != t_end; ++steps) {
    const double t = d->t;
    double h = t_end - t;
    sr_driver_motion(m, d);
    memcpy(before, d->motion, 3 * (size_t)m->ndriver * sizeof *before);
    for (int k = 0; k < HALVINGS && change_to(m, d, h == t_end - t ? t_end : t + h, before) > STEP; ++k) h *= 0.5;
    put_motion(m, d, true, true);
    if (steps == MOST_STEPS || sr_assemble(m, d, NULL, NULL) != SR_OK) {
      d->t = t;
      return false;
    }
  }
  return true;
}

// The start of the model at d->t, d holding that of t = 0.
static srStatus initial_at(const srModel* m, srData* d, srMessages* messages, srAssembly* out) {
  const double t = d->t;
  if (!m->constrained || t == 0.0) return sr_assemble(m, d, messages, out);
  const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, n = 3 * (size_t)m->ndriver;
  double* q = sr_alloc((nq + nv + n + 1) * sizeof *q);
  if (q == NULL) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the state at t = %g s", t);
    return SR_MEMORY;
  }
  double *v = q + nq, *before = v + nv;
  memcpy(q, d->q, nq * sizeof *q);
  memcpy(v, d->v, nv * sizeof *v);
  d->t = 0.0;
  const bool begun = sr_assemble(m, d, NULL, NULL) == SR_OK, followed = begun && follow(m, d, t, before);
  const double lost = d->t;
  if (!followed) {  // from the start at once, on whatever branch that ends
    memcpy(d->q, q, nq * sizeof *q);
    memcpy(d->v, v, nv * sizeof *v);
    d->t = t;
    sr_driver_motion(m, d);
    put_motion(m, d, true, true);
  }
  const srStatus status = sr_assemble(m, d, messages, out);
  if (status == SR_OK && !followed) {
    sr_messages_add(
        messages, SR_SEVERITY_WARNING, (srPlace){0},
        "the loops are closed at t = %g s, but could not be followed there from the start (up to t = %g s): they may "
        "be on another branch. Give positions by --q",
        t, lost);
  }
  sr_free(q);
  return status;
}

static void check_given(const srModel* m, const srData* d, int i, bool velocity, srMessages* messages) {
  const srDriver* driver = &m->driver[i];
  const double has = velocity ? d->v[driver->dof] : d->q[driver->qdof], wants = d->motion[3 * i + (velocity ? 1 : 0)];
  if (fabs(has - wants) <= CONTRADICTION * (1.0 + fabs(wants))) return;
  sr_messages_add(messages, SR_SEVERITY_WARNING, driver->place,
                  "%s of '%s' is given as %.9g, and its driver has %.9g %s at t = %.9g s",
                  velocity ? "the velocity" : "the position", driver->name, has, wants,
                  velocity ? m->v_unit[driver->dof] : m->q_unit[driver->qdof], d->t);
}

srStatus sr_state_at_time(const srModel* m, srData* d, bool q_given, bool v_given, srMessages* messages,
                          srAssembly* out) {
  if (out != NULL) *out = (srAssembly){0};
  if (!q_given && !v_given) return initial_at(m, d, messages, out);
  sr_driver_motion(m, d);
  put_motion(m, d, !q_given, !v_given);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) {
    if (q_given) check_given(m, d, i, false, messages);
    if (v_given) check_given(m, d, i, true, messages);
  }
  return SR_OK;
}
