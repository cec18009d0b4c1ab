// Statuses after an event: contacts without a normal velocity are closed; their accelerations and forces solve the cone problem, in which those without slip may stick, and those
// with slip have friction opposite to it; a contact without a force that separates is open.
// At the instant at which a force has become 0, or friction at rest is exhausted, the problem is degenerate: it is solved a little later, on the motion of the old statuses,
// where these are clearly wrong.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#define RESTS 1e-9         // of the accelerations: slip acceleration of a contact that sticks
#define INSIDE 1e-9        // of the limit of friction
#define FORCE_LEAST 1e-10  // of the largest force: a contact without one
#define AHEAD 1e-7         // of the largest force: where statuses are clearly wrong

// Has the contact a place in the problem of accelerations, and which?
static bool part_of(srRigid* x, srTouch* at, srRigidPart* out) {
  if (!at->closed) return false;
  sri_touch_part(x, at, out);
  if (out->rows == 1) return true;
  out->mu = at->mu_static;
  if (at->still) return true;
  // It slides: one unknown, friction opposite to the slip.
  out->rows = 1;
  out->mu = 0;
  for (int k = 0; k < 2; ++k) out->force_s[k] = at->slip > 0 ? -at->mu * at->s[k] / at->slip : 0;
  if (at->planar) {
    const double sign = at->s[0] * at->along[0] + at->s[1] * at->along[1] < 0 ? -1 : 1;
    for (int k = 0; k < 2; ++k) out->force_s[k] = -at->mu * sign * at->along[k];
  } else if (at->straight) {
    for (int k = 0; k < 2; ++k) out->force_s[k] = -at->mu * at->line[k];
  }
  return true;
}

// Rates of the rows of all touching contacts.
int sri_touch_drifts(srRigid* x, double t, const double* q, const double* v) {
  for (int i = 0; i < x->ntouch; ++i) x->part[i] = (srRigidPart){.c = sri_touch_contact(x, &x->touch[i])};
  x->npart = x->ntouch;
  const int answer = sri_rigid_drift(x, t, q, v);
  for (int i = 0; i < x->ntouch && answer == 0; ++i) {
    memcpy(x->touch[i].drift, x->drift + 3 * i, 3 * sizeof(double));
  }
  return answer;
}

// The parts of the closed contacts; x->owner has their places among the touching ones.
void sri_touch_build_closed(srRigid* x) {
  x->npart = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    if (!part_of(x, &x->touch[i], &x->part[x->npart])) continue;
    memcpy(x->drift + 3 * x->npart, x->touch[i].drift, 3 * sizeof(double));
    x->owner[x->npart++] = i;
  }
  sri_rigid_build(x);
}

// Forces and accelerations of the closed contacts: 3 of a contact into force, their accelerations into x->rhs.
int sri_touch_solve_closed(srRigid* x) {
  double residual = 0;
  x->softness = 0;
  sri_touch_build_closed(x);
  sri_rigid_right(x);
  if (x->npart > 0 && !sri_rigid_decide(x, x->right_rows, &residual) && residual > SR_RIGID_UNSOLVED) {
    return sri_rigid_fail(x,
                          "which contacts stick, slide or open cannot be decided: the complementarity problem of the "
                          "accelerations was not solved");
  }
  x->resolved = fmax(RESTS, 10 * fmax(residual, x->softness));
  memcpy(x->a, x->free, (size_t)x->inner.nv * sizeof *x->a);
  sri_rigid_add(x, x->p, x->a);
  sri_rigid_accelerations(x, x->a, x->rhs);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    sri_rigid_part_force(x, part, x->touch[x->owner[i]].force);
  }
  return 0;
}

static double largest_force(const srRigid* x) {
  double most = 0;
  for (int i = 0; i < x->npart; ++i) most = fmax(most, x->p[x->part[i].first]);
  return most;
}

// The status of part i in the solution.
static void decide(srRigid* x, int i, double size, double most) {
  const srRigidPart* part = &x->part[i];
  srTouch* at = &x->touch[x->owner[i]];
  const double *p = x->p + part->first, *a = x->rhs + part->first;
  if (p[0] <= FORCE_LEAST * most && a[0] > x->resolved * size) {
    at->status = SR_RIGID_OPEN;
    at->closed = false;
    return;
  }
  at->status = SR_RIGID_SLIDES;
  at->held = sri_rigid_is_held(x, part);
  if (part->rows == 1) {
    const double sign = at->s[0] * at->along[0] + at->s[1] * at->along[1] < 0 ? -1 : 1;
    if (at->planar) {
      at->along[0] *= sign;
      at->along[1] *= sign;
    } else if (at->straight) {
      memcpy(at->along, at->line, sizeof at->along);
    } else {
      for (int k = 0; k < 2 && at->slip > 0; ++k) at->along[k] = at->s[k] / at->slip;
    }
    return;
  }
  const double pull = part->rows == 2 ? fabs(p[1]) : hypot(p[1], p[2]);
  const double turn = part->rows == 2 ? fabs(a[1]) : hypot(a[1], a[2]);
  if (pull < (1 - INSIDE) * part->mu * p[0] || turn <= x->resolved * size) {
    at->status = SR_RIGID_STICKS;
  } else if (part->rows == 3) {
    at->status = SR_RIGID_CONE;
  } else {
    const double sign = a[1] < 0 ? -1 : 1;
    at->along[0] *= sign;
    at->along[1] *= sign;
  }
}

void sri_touch_decide(srRigid* x) {
  const double size = sri_rigid_size(x, x->right_rows), most = largest_force(x);
  for (int i = 0; i < x->npart; ++i) decide(x, i, size, most);
}

// ---- ahead ----------------------------------------------------------------------------------------------------------------

// Is the force of the contacts concerned clearly outside of what their statuses allow?
static bool clearly_wrong(srRigid* x, double t, const signed char* cause) {
  double most = 0;
  if (sri_interpolate(x->integrator, t, x->q_ahead, x->v_ahead, x->y_ahead, NULL) != SR_OK) return true;
  if (sri_rigid_forces(x, t, x->q_ahead, x->v_ahead, x->y_ahead, x->lambda, NULL) != 0) return true;
  for (int k = 0; k < x->nclosed; ++k) most = fmax(most, fabs(x->lambda[3 * k]));
  for (int k = 0; k < x->nclosed; ++k) {
    const double* of = x->lambda + 3 * k;
    if ((cause[k] & SR_CAUSE_RELEASE) != 0 && (of[0] < -AHEAD * most || x->partings[k] > AHEAD)) return true;
    if ((cause[k] & SR_CAUSE_ONSET) != 0 && hypot(of[1], of[2]) - x->closed[k].mu_static * of[0] > AHEAD * most)
      return true;
  }
  return false;
}

// The time on the old motion at which statuses are decided.
static double look_ahead(srRigid* x, double t, const signed char* cause) {
  const double end = sri_time(x->integrator);
  for (double part = 1e-9; part < 1; part *= 4) {
    const double at = t + part * (end - t);
    if (at > t && clearly_wrong(x, at, cause)) return at;
  }
  return end;
}

// Statuses from the accelerations at a later state of the old motion; then the contacts of the event are listed again.
int sri_touch_decide_ahead(srRigid* x, double t, const double* q, const double* v, const double* y,
                           const signed char* cause) {
  const double at = x->integrator != NULL ? look_ahead(x, t, cause) : t;
  if (!(at > t) || sri_interpolate(x->integrator, at, x->q_ahead, x->v_ahead, x->y_ahead, NULL) != SR_OK) {
    memcpy(x->q_ahead, q, (size_t)x->inner.nq * sizeof *q);
    memcpy(x->v_ahead, v, (size_t)x->inner.nv * sizeof *v);
    sri_copy(x->y_ahead, y, x->inner.ny);
  }
  int answer = sri_rigid_list(x, at, x->q_ahead);
  if (answer == 0) answer = sri_rigid_free(x, at, x->q_ahead, x->v_ahead, x->y_ahead);
  for (int i = 0; i < x->ntouch && answer == 0; ++i) {
    if (sri_touch_contact(x, &x->touch[i]) == NULL) x->touch[i].closed = false;
  }
  if (answer == 0) answer = sri_touch_drifts(x, at, x->q_ahead, x->v_ahead);
  if (answer == 0) answer = sri_touch_solve_closed(x);
  x->resolved = RESTS;  // friction is exhausted, however little
  if (answer == 0) sri_touch_decide(x);
  const int back = sri_rigid_list(x, t, q);
  return answer != 0 ? answer : back;
}
