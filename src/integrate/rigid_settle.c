// What continues after an event, by one procedure for all kinds of events:
//   1. all contacts that touch (rigid_touch.c)
//   2. one of them approaches: an impact (rigid_impact.c)
//   3. statuses from accelerations and forces (rigid_status.c); slip that ends in space (rigid_stop.c)
//   4. contacts that would hop too low to follow are closed (rigid_accumulation.c)
//   5. position and velocity are put on the closed contacts (rigid_place.c)
#include "integrate/rigid_touch.h"

#include <math.h>

#define ROUNDS 50        // of closing and opening of one set of causes
#define ROUNDS_MOST 200  // of all that follow each other at one instant
#define CONE_MOST 3.0    // times u_c: slip of a cone that stays one
#define LEAVES_TOO 1.5   // the same where another one has left: that is at 2
#define UNCERTAIN                                                                                                      \
  1e-7  // rad: errors of directions, which give slip a part along the normal: that neither opens a contact nor strikes it
#define STRIKES                                                                                                        \
  10  // times the speed of a closed contact: approach that is an impact; what puts closed contacts at rest moves others by less
#define CLEAR_SPEED 0.05  // m/s: what separates so fast after an impact, and by the accelerations before it ...
#define CLEAR_HOP 1e4     // ... so many times as high as the least hop, is open without a look at its accelerations

// ---- events -----------------------------------------------------------------------------------------------------------------

static void tell_change(srRigid* x, double t, const srTouch* at, bool struck, const signed char* cause) {
  const bool reversed = at->was >= 0 && cause != NULL && (cause[at->was] & SR_CAUSE_STOP) != 0;
  srRigidEvent event = {.t = t, .id = at->id, .kind = SR_RIGID_EVENT_KINDS};
  const bool slides = at->status == SR_RIGID_SLIDES || at->status == SR_RIGID_CONE;
  const bool slid = at->before == SR_RIGID_SLIDES || at->before == SR_RIGID_CONE;
  if (at->was < 0 || at->mu_static == 0) {
    if (at->was < 0 || at->status != SR_RIGID_OPEN || struck) return;
    event.kind = SR_RIGID_TAKE_OFF;
  } else if (at->status == SR_RIGID_OPEN) {
    if (struck) return;
    event.kind = SR_RIGID_TAKE_OFF;
  } else if (at->before == SR_RIGID_STICKS && slides) {
    event.kind = SR_RIGID_SLIP;
  } else if (slid && at->status == SR_RIGID_STICKS) {
    event.kind = SR_RIGID_STICK;
  } else if (slid && slides && reversed && (at->planar || at->status == SR_RIGID_CONE)) {
    event.kind = SR_RIGID_REVERSAL;
  }
  if (event.kind == SR_RIGID_STICK) {
    event.friction = x->rest_friction;
    event.driver = x->rest_driver;
    x->rest_friction = x->rest_driver = 0;
  }
  if (event.kind != SR_RIGID_EVENT_KINDS) sri_rigid_tell(x, &event);
}

// ---- all of it ----------------------------------------------------------------------------------------------------------------

static bool has_cause(const srRigid* x, const signed char* cause, int kinds) {
  for (int k = 0; cause != NULL && k < x->nclosed; ++k) {
    if ((cause[k] & kinds) != 0) return true;
  }
  return false;
}

static int cause_of(const srTouch* at, const signed char* cause) {
  return at->was >= 0 && cause != NULL ? cause[at->was] : 0;
}

// Contacts that have no slip, and those of which the friction is exhausted. Cones leave together, where they have about as much slip: both corners of an edge.
static void mark_still(srRigid* x, const signed char* cause) {
  const double most = has_cause(x, cause, SR_CAUSE_LEAVE) ? LEAVES_TOO : CONE_MOST;
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    const int own = cause_of(at, cause);
    const double slip = at->planar ? fabs(at->s[0] * at->along[0] + at->s[1] * at->along[1]) : at->slip;
    const bool small = slip <= x->o.speed || (at->planar && (own & SR_CAUSE_STOP) != 0);
    const bool cone = at->before == SR_RIGID_CONE && at->slip <= most * x->closed[at->was].slip_least;
    const bool creeps = at->before == SR_RIGID_SLIDES && x->closed[at->was].creeps;
    at->still = (small || cone || creeps) && (own & SR_CAUSE_LEAVE) == 0;
  }
}

// The normal speed below which contacts are closed at this event. One corner of an edge that has nothing but its error would open alone, and tilt the body.
static double closed_speed(const srRigid* x) {
  double most = 0;
  for (int i = 0; i < x->ntouch; ++i) most = fmax(most, fmax(-x->touch[i].normal, x->touch[i].slip));
  return fmax(x->o.speed, UNCERTAIN * most);
}

static bool approaches(const srRigid* x) {
  for (int i = 0; i < x->ntouch; ++i) {
    if (x->touch[i].normal < -STRIKES * x->closed_speed || x->touch[i].shock) return true;
  }
  return false;
}

static bool is_closed(const srRigid* x, const srTouch* at) {
  return at->normal <= x->closed_speed && at->normal >= -STRIKES * x->closed_speed;
}

static int statuses_here(srRigid* x, double t, const double* q, double* v, const double* y) {
  for (int round = 0; round < ROUNDS && x->rounds < ROUNDS_MOST; ++round, ++x->rounds) {
    sri_touch_velocities(x, v);
    for (int i = 0; i < x->ntouch; ++i) {
      srTouch* at = &x->touch[i];
      if (round == 0) at->closed = is_closed(x, at);
      at->status = SR_RIGID_OPEN;
    }
    int answer = sri_touch_drifts(x, t, q, v);
    if (answer == 0) answer = sri_touch_solve_closed(x);
    if (answer != 0) return answer;
    sri_touch_decide(x);
    if (!sri_touch_close_hops(x, t, v)) return 0;
    answer = sri_rigid_free(x, t, q, v, y);
    if (answer != 0) return answer;
  }
  return sri_rigid_fail(x, "contacts open and close without end at one instant");
}

// A contact in space that begins to slip is a cone.
static void begin_cones(srRigid* x, const signed char* cause) {
  for (int i = 0; i < x->ntouch && cause != NULL; ++i) {
    srTouch* at = &x->touch[i];
    if (at->was < 0 || at->planar || (cause[at->was] & SR_CAUSE_ONSET) == 0) continue;
    at->status = SR_RIGID_CONE;
  }
}

static int list_touching(srRigid* x, double t, const double* q, const double* v, const double* y,
                         const signed char* cause) {
  int answer = sri_rigid_list(x, t, q);
  if (answer == 0) answer = sri_rigid_free(x, t, q, v, y);
  if (answer == 0) sri_rigid_rename(x);
  if (answer == 0) answer = sri_touch_collect(x, t);
  if (answer != 0)
    return answer < 0 && x->error_message[0] != '\0' ? answer : sri_rigid_fail(x, "the contacts cannot be evaluated");
  sri_touch_velocities(x, v);
  for (int i = 0; i < x->ntouch; ++i) {
    x->touch[i].shock = (cause_of(&x->touch[i], cause) & SR_CAUSE_PAINLEVE) != 0;
  }
  sri_touch_build(x);
  return 0;
}

static int find_statuses(srRigid* x, double t, const double* q, double* v, const double* y, const signed char* cause) {
  int answer;
  mark_still(x, cause);
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if ((cause_of(at, cause) & SR_CAUSE_STOP) != 0 && !at->planar && !at->still) sri_touch_stop(x, t, q, v, i);
  }
  if (has_cause(x, cause, SR_CAUSE_RELEASE | SR_CAUSE_ONSET)) {
    for (int i = 0; i < x->ntouch; ++i) x->touch[i].closed = is_closed(x, &x->touch[i]);
    answer = sri_touch_decide_ahead(x, t, q, v, y, cause);
    begin_cones(x, cause);
  } else {
    answer = statuses_here(x, t, q, v, y);
  }
  return answer <= 0 ? answer : sri_rigid_fail(x, "the accelerations at an event cannot be evaluated");
}

static int place(srRigid* x, double t, double* q, double* v, const double* y) {
  sri_rigid_put_closed(x);
  x->combined = false;
  int answer = x->nclosed > 0 ? sri_rigid_free(x, t, q, v, y) : 0;
  if (answer == 0 && x->ncontact > 0) answer = sri_rigid_place_position(x, t, q);
  if (answer == 0 && x->nclosed > 0) answer = sri_rigid_list(x, t, q);
  if (answer != 0) return sri_rigid_fail(x, "closed contacts cannot be put on their surfaces");
  if (x->nclosed > 0) {
    sri_rigid_place_velocity(x, v);
    sri_rigid_combine(x);
  }
  sri_rigid_keep(x, q);
  return 0;
}

// After an impact: does every contact separate clearly? Where an acceleration that only the impact has brought would close it, one of the next impacts does.
static bool all_leave(const srRigid* x) {
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (at->clamp != 0 || at->shock || !(at->normal > CLEAR_SPEED)) return false;
    const double a = sri_contact_row_times(sri_touch_contact((srRigid*)x, at), 0, x->free);
    if (!(at->normal * at->normal > CLEAR_HOP * 2 * x->o.hop * fabs(a))) return false;
  }
  return true;
}

static int settle_once(srRigid* x, double t, double* q, double* v, double* y, const signed char* cause) {
  x->freed = false;  // an action may have changed a parameter
  x->rest_friction = x->rest_driver = 0;
  int answer = list_touching(x, t, q, v, y, cause);
  x->stats.effort += 1 + (double)x->ntouch * x->ntouch;
  x->closed_speed = closed_speed(x);
  const bool struck = answer == 0 && approaches(x);
  bool leave = false;
  if (struck) {
    answer = sri_rigid_strike(x, t, v);
    sri_touch_velocities(x, v);
    leave = answer == 0 && all_leave(x);
    if (answer == 0 && !leave) answer = sri_rigid_free(x, t, q, v, y);
    cause = NULL;  // an impact may have changed it
  }
  if (answer == 0 && !leave) answer = find_statuses(x, t, q, v, y, cause);
  for (int i = 0; i < x->ntouch && leave; ++i) x->touch[i].closed = false;
  if (answer != 0) return answer;
  for (int i = 0; i < x->ntouch; ++i) tell_change(x, t, &x->touch[i], struck, cause);
  answer = place(x, t, q, v, y);
  if (answer != 0) return answer;
  sri_rigid_activate(x);
  ++x->generation;
  x->t_settled = t;
  return 0;
}

// An event of others may leave a contact in space with less slip than that at which it is examined for sticking, and no switching function falls through 0.
static bool find_slow(srRigid* x, const double* v, signed char* cause) {
  bool any = false;
  for (int k = 0; k < x->nclosed; ++k) {
    const srClosed* at = &x->closed[k];
    double s[2];
    cause[k] = 0;
    if (at->status != SR_RIGID_SLIDES || at->planar || at->straight || at->mu == 0) continue;
    const double slip = sri_rigid_slip(sri_rigid_contact(x, k), v, s);
    if (!(slip < (at->missed ? SR_RIGID_NEAR : 1) * at->slip_least)) continue;
    cause[k] = SR_CAUSE_STOP;
    any = true;
  }
  return any;
}

int sri_rigid_settle(srRigid* x, double t, double* q, double* v, double* y, const signed char* cause) {
  x->rounds = 0;
  int answer = settle_once(x, t, q, v, y, cause);
  for (int round = 0; round < ROUNDS && answer == 0 && find_slow(x, v, x->fired); ++round) {
    answer = settle_once(x, t, q, v, y, x->fired);
  }
  return answer;
}
