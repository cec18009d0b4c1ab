// What ends the status of a closed contact, as switching functions that fall through 0; three of each contact:
//   0  lambda_N, or the normal acceleration with which the cone problem opens it where forces are from that; or the contact is not listed any more: other
//      features touch
//   1  sticks: mu lambda_N - |lambda_T|, or the slip acceleration that the cone problem returns where friction at rest is not unique
//      slides: the slip along its direction where it is planar, else that along the direction at the start of the step, less u_c
//      cone: 2 u_c - |s|
//   2  slides: rho = n K (n - mu s/|s|) / n K n, which Painleve's configurations bring to 0
// lambda_N ends a contact below -tolerance, never above it: what rests with a force of 0 stays closed.
#include <math.h>
#include <string.h>

#include "integrate/rigid.h"

#define TOLERANCE 1e-10     // of the forces
#define INSIDE 1e-9         // of the limit of friction
#define INSIDE_GIVEN 1e-12  // the same where the limit is given
#define HELD_LEAST 2        // times the slip of what sticks: that of a joint which a driver has at rest
#define RESTS                                                                                                          \
  1e-8  // of the accelerations: slip acceleration of contacts that stick, normal acceleration of closed ones
#define RESTS_AGAIN 1e-7  // of the limit of friction: a cone that is inside by this sticks
#define WRONG 1e-6        // of the forces and accelerations: beyond what an event may be late
#define PIECES 64         // of a step, in which a missed contact is searched
#define PAINLEVE 1e-8     // of rho
#define JAMS                                                                                                           \
  1e-4  // of rho: so near to 0 the force of dense output is its error over rho, and a loss of it says nothing
#define APART 1.0  // value of a function that cannot change sign
#define ZERO 1e-6  // of the gaps and hops that are told apart: a gap that is as good as 0

static double force_scale(const srRigid* x) {
  const double least = sri_rigid_cancelled(x);
  double most = 0;
  for (int i = 0; i < x->npart; ++i) {
    const int r = x->part[i].first;
    const double own = fabs(x->A[r * x->nrow + r]);
    if (own > 0) most = fmax(most, fmax(fabs(x->right_rows[r]), least) / own);
    most = fmax(most, fabs(x->lambda[3 * i]));
  }
  return most;
}

// n K f/(n K n) of a sliding contact, f its force.
static double rho_of(srRigid* x, int k) {
  const srRigidPart* part = &x->part[k];
  const size_t nv = (size_t)x->inner.nv;
  double mobility = 0;
  if (part->rows != 1 || (part->force_s[0] == 0 && part->force_s[1] == 0)) return APART;
  const double* w = x->W + (size_t)part->first * nv;
  srm_saddle_solve(x->saddle, w, NULL, x->dq, NULL);
  for (size_t i = 0; i < nv; ++i) mobility += w[i] * x->dq[i];
  return mobility > 0 ? x->A[part->first * x->nrow + part->first] / mobility : APART;
}

static double slip_value(srRigid* x, int k, const double* v, double scale, double slips) {
  const srClosed* at = &x->closed[k];
  const double* force = x->lambda + 3 * k;
  const srUnilateral* c = sri_rigid_contact(x, k);
  double s[2];
  const double slip = sri_rigid_slip(c, v, s);
  if (at->status == SR_RIGID_CONE) return 2 * at->slip_least - slip;
  if (at->status == SR_RIGID_STICKS) {
    if (at->held) return HELD_LEAST * x->o.speed - slip;
    if (slips > 0) return RESTS - slips;
    if (at->clamp > 0) return (1 + INSIDE_GIVEN) * at->mu_static * at->clamp - fabs(force[1]);
    return (1 + INSIDE) * at->mu_static * force[0] - hypot(force[1], force[2]) + TOLERANCE * scale;
  }
  if (at->mu == 0) return APART;
  const double along = s[0] * at->along[0] + s[1] * at->along[1];
  if (at->planar || at->straight) return along;
  return along - (at->missed ? SR_RIGID_NEAR : 1) * at->slip_least;
}

static double normal_value(const srRigid* x, int k, double scale) {
  if (x->closed[k].lost) return -APART;
  return x->partings[k] > 0 ? RESTS - x->partings[k] : x->lambda[3 * k] + TOLERANCE * scale;
}

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srRigid* x = user;
  for (int i = 0; i < 3 * x->most; ++i) value[i] = APART;
  x->evaluated = x->generation;
  x->t_evaluated = t;
  x->wrong = false;
  if (x->nclosed == 0) return 0;
  const int answer = sri_rigid_forces(x, t, q, v, y, x->lambda, x->slips);
  if (answer != 0) return answer;
  const double scale = force_scale(x);
  for (int k = 0; k < x->nclosed; ++k, value += 3) {
    x->closed[k].rho = rho_of(x, k);
    value[2] = x->closed[k].rho - PAINLEVE;
    value[1] = slip_value(x, k, v, scale, x->slips[k]);
    x->closed[k].lost = x->closed[k].at < 0;
    value[0] = normal_value(x, k, scale);
    x->wrong = x->wrong || x->lambda[3 * k] < -WRONG * scale || x->partings[k] > WRONG;
    if (x->closed[k].status == SR_RIGID_STICKS && !x->closed[k].held)
      x->wrong = x->wrong || value[1] < -WRONG * scale || x->slips[k] > WRONG;
  }
  return 0;
}

static signed char cause_of(const srRigid* x, int k, const signed char* fired) {
  const srClosed* at = &x->closed[k];
  int cause = 0;
  const bool jams = fired[2] < 0 || (fired[0] < 0 && at->rho < JAMS);
  if (jams) cause |= SR_CAUSE_PAINLEVE;
  if (fired[0] < 0 && !at->lost && !jams) cause |= SR_CAUSE_RELEASE;
  if (fired[1] < 0 && !at->held) {
    cause |= at->status == SR_RIGID_STICKS ? SR_CAUSE_ONSET
             : at->status == SR_RIGID_CONE ? SR_CAUSE_LEAVE
                                           : SR_CAUSE_STOP;
  }
  return (signed char)cause;
}

static int act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  srRigid* x = user;
  if (x->evaluated != x->generation) return 0;  // a gap has closed at the same instant, and all was settled
  // Which contact is listed at this state.
  if (sri_rigid_list(x, t, q) != 0) return -1;
  for (int k = 0; k < x->nclosed; ++k) x->fired[k] = cause_of(x, k, fired + 3 * k);
  return sri_rigid_settle(x, t, q, v, y, x->fired);
}

static int touched(void* user, double t, double* q, double* v, double* y, const srUnilateral* contact) {
  srRigid* x = user;
  if (x->t_settled == t && !(sri_contact_velocity(contact, 0, v) < -x->o.speed)) return 0;
  return sri_rigid_settle(x, t, q, v, y, NULL);
}

// Contacts are listed once at a state, with what their forces need.
static int evaluate_gaps(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srRigid* x = user;
  const srEventSource* gaps = &x->gap_source;
  const int answer = x->nclosed > 0 ? sri_rigid_list_rates(x, t, q, v, false) : 0;
  return answer != 0 ? answer : gaps->evaluate(gaps->user, t, q, v, y, value);
}

static int act_on_gaps(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  const srEventSource* gaps = &((srRigid*)user)->gap_source;
  return gaps->act(gaps->user, t, q, v, y, fired);
}

static bool steady_gaps(void* user) {
  const srEventSource* gaps = &((srRigid*)user)->gap_source;
  return gaps->steady(gaps->user);
}

static bool steady(void* user) { return ((const srRigid*)user)->nclosed == 0; }

void sri_rigid_sources(srRigid* x, srEventSource source[2]) {
  for (int i = 0; i < 3 * x->most; ++i) x->direction[i] = -1;
  x->gap_source = sri_gaps_source(x->gaps, touched, x);
  source[0] = x->gap_source;
  source[0].zero = ZERO * fmin(x->o.gap, x->o.hop);
  source[0].user = x;
  source[0].evaluate = evaluate_gaps;
  source[0].act = act_on_gaps;
  source[0].steady = steady_gaps;
  source[1] = (srEventSource){
      .count = 3 * x->most, .direction = x->direction, .user = x, .evaluate = evaluate, .act = act, .steady = steady};
}

// ---- after a step -----------------------------------------------------------------------------------------------------------

int sri_rigid_late_count(const srRigid* x) { return 3 * x->most; }

// Does a contact in cone status stick?
static bool sticks_again(srRigid* x, int k) {
  const srClosed* at = &x->closed[k];
  const double* force = x->lambda + 3 * k;
  return hypot(force[1], force[2]) < (1 - RESTS_AGAIN) * at->mu * force[0];
}

// Is a contact that is open below its surface at a time of the last step, and approaching?
static bool is_below(srRigid* x, double t, double least) {
  if (sri_interpolate(x->integrator, t, x->q_ahead, x->v_ahead, x->y_ahead, NULL) != SR_OK) return false;
  if (sri_rigid_list(x, t, x->q_ahead) != 0) return false;
  for (int i = 0; i < x->count; ++i) {
    const srUnilateral* c = &x->list[i];
    bool closed = false;
    for (int k = 0; k < x->nclosed; ++k) closed = closed || x->closed[k].at == i;
    if (!closed && c->gap < -least && sri_contact_velocity(c, 0, x->v_ahead) < -x->o.speed) return true;
  }
  return false;
}

// A contact that the switching functions have missed: where in the last step it began.
static double time_below(srRigid* x) {
  const double t0 = sri_time_before(x->integrator), t1 = sri_time(x->integrator);
  double a = t0, b = t1;
  for (int k = 1; k < PIECES; ++k) {
    const double t = t0 + (t1 - t0) * k / PIECES;
    if (is_below(x, t, x->o.gap)) {
      b = t;
      break;
    }
    a = t;
  }
  for (int k = 0; k < 60 && b - a > 1e-15 * fabs(b); ++k) {
    const double t = a + 0.5 * (b - a);
    if (is_below(x, t, x->o.gap)) {
      b = t;
    } else {
      a = t;
    }
  }
  return b;
}

bool sri_rigid_late(srRigid* x, double* t_late, signed char* fired) {
  const double t = sri_time(x->integrator), *q = sri_q(x->integrator), *v = sri_v(x->integrator),
               *y = sri_y(x->integrator);
  bool late = false, cone = false, below = false;
  double gap = x->stats.gap;
  memset(fired, 0, 3 * (size_t)x->most);
  if (sri_rigid_list(x, t, q) != 0) return false;
  sri_rigid_rename(x);
  sri_rigid_keep(x, q);
  for (int i = 0; i < x->count; ++i) {
    const srUnilateral* c = &x->list[i];
    bool closed = false;
    for (int k = 0; k < x->nclosed; ++k) closed = closed || x->closed[k].at == i;
    gap = fmin(gap, c->gap);
    below = below || (!closed && c->gap < -x->o.gap && sri_contact_velocity(c, 0, v) < -x->o.speed);
  }
  for (int k = 0; k < x->nclosed; ++k) {
    srClosed* at = &x->closed[k];
    double s[2];
    cone = cone || at->status == SR_RIGID_CONE;
    const double slip = sri_rigid_slip(sri_rigid_contact(x, k), v, s);
    if (at->status == SR_RIGID_SLIDES && !at->planar && !at->straight && slip > 0) {
      for (int i = 0; i < 2; ++i) at->along[i] = s[i] / slip;
    }
    if (!at->missed) continue;
    if (slip > 2 * at->slip_least) {
      at->missed = at->straight = false;
    } else if (t - at->t_missed > at->t_most) {
      late = at->creeps = true;
    }
  }
  if (cone && sri_rigid_forces(x, t, q, v, y, x->lambda, NULL) == 0) {
    for (int k = 0; k < x->nclosed; ++k) {
      late = late || (x->closed[k].status == SR_RIGID_CONE && sticks_again(x, k));
    }
  }
  // Forces that no status allows, where an event has not changed them.
  if (x->nclosed > 0 && x->wrong && x->t_evaluated == t && x->evaluated == x->generation &&
      evaluate(x, t, q, v, y, x->value) == 0) {
    for (int i = 0; i < 3 * x->nclosed; ++i) {
      if (i % 3 != 2 && x->value[i] < 0) fired[i] = -1;
      late = late || fired[i] != 0;
    }
  }
  if (!below) x->stats.gap = gap;  // else the step ends before it
  *t_late = below ? time_below(x) : t;
  if ((late || below) && fired[1] == 0) fired[1] = 1;  // whatever it is: all is settled
  return late || below;
}
