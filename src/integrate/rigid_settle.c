// What continues after an event, by one procedure for all kinds of events:
//   1. all contacts that touch: closed ones, and those within the tolerance of the gap
//   2. one of them approaches: an impact of all of them together (nonsmooth/impact.c)
//   3. contacts without a normal velocity are closed; their accelerations and forces solve the cone problem, in which those without slip may stick, and those with
//      slip have friction opposite to it; a contact without a force that separates is open
//   4. a contact that separates, but would return from less than a least height, ends an accumulation of impacts: it is closed by an impulse along the direction of its
//      force (n - mu s/|s|, so that friction runs backwards with the pulling impulse). The impulse of all impacts that are left out equals this one and the
//      sustained force over their time, exactly for constant accelerations
//   5. position and velocity are put on the closed contacts
// At the instant at which a force has become 0, or friction at rest is exhausted, the problem of 3 is degenerate: it is solved a little later, on the motion of the
// old statuses, where these are clearly wrong.
//
// Slip in space never changes its sign: contacts are examined for sticking at a small slip u_c = 0.3 sqrt(error of the position times mu lambda_N tr(A_TT)/2), all
// with about as little together (the corners of a box stop at the same time); those that cannot stick become cones until their slip is twice that.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/rigid.h"

#define RESTS 1e-9         // of the accelerations: slip acceleration of a contact that sticks
#define RESTS_GROUP 1e-7   // the same where slip is put to 0
#define INSIDE 1e-9        // of the limit of friction
#define FORCE_LEAST 1e-10  // of the largest force: a contact without one
#define AHEAD 1e-7         // of the largest force: where statuses are clearly wrong
#define ROUNDS 50          // of closing and opening at one instant
#define PLACES 6           // corrections of the position
#define GROUP 30           // times u_c: slips that may end together
#define PASSES 20          // times u_c/(mu lambda_N A_TT): how long slip may be below u_c without sticking
#define PLANAR 1e-9        // of the larger mobility along the tangents: the smaller one of a planar contact
#define NOISE 1e-6         // of the largest speed of approach: that of a closed contact, by the error of the step
#define JAMS 4  // times the impulse along the normals that closes contacts: one along their forces that is too large
#define SHOCK 1e-7  // of the slip: approach of an impact without collision

struct srTouch {
  long id;
  int was;  // closed contact, -1: it was open
  srRigidStatus before, status;
  double mu, mu_static, restitution;
  bool planar, still;     // still: without slip, it may stick
  bool missed, straight;  // as in srClosed
  double t_missed;
  double line[2];                       // direction of a slip that is held
  double along[2], s[2], slip, normal;  // s: slip; normal: normal velocity
  double mobility;                      // tr(A_TT)/2
  double drift[3];
  double force[3];
  bool closed, shock;
  bool hops;   // it would not hop high, and
  double end;  // its impacts would have ended then
};
typedef struct srTouch srTouch;

size_t sri_rigid_touch_size(void) { return sizeof(srTouch); }

static int fail(srRigid* x, const char* sentence) {
  (void)snprintf(x->error_message, sizeof x->error_message, "%s", sentence);
  return -1;
}

static void tell(srRigid* x, const srRigidEvent* event) {
  if (x->o.told != NULL) x->o.told(x->o.user, event);
}

// ---- 1. what touches ------------------------------------------------------------------------------------------------------

static int closed_place(const srRigid* x, long id) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].id == id) return k;
  }
  return -1;
}

static int collect(srRigid* x, double t) {
  x->ntouch = 0;
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].at < 0) tell(x, &(srRigidEvent){.kind = SR_RIGID_FEATURE, .t = t, .id = x->closed[k].id});
  }
  for (int i = 0; i < x->count; ++i) {
    const srUnilateral* c = &x->list[i];
    const int was = closed_place(x, c->id);
    if (was < 0 && !(c->gap <= x->o.gap)) continue;
    if (x->ntouch == x->most) {
      (void)snprintf(x->error_message, sizeof x->error_message,
                     "more than %d contacts touch at one time: take contact timestepping", x->most);
      return -1;
    }
    const double rest = fmax(c->mu, c->mu_static);
    x->touch[x->ntouch++] = (srTouch){.id = c->id,
                                      .was = was,
                                      .before = was >= 0 ? x->closed[was].status : SR_RIGID_OPEN,
                                      .status = SR_RIGID_OPEN,
                                      .mu = c->mu,
                                      .mu_static = rest,
                                      .restitution = c->restitution,
                                      .closed = was >= 0};
    if (was < 0 || x->closed[was].status != SR_RIGID_SLIDES) continue;
    srTouch* at = &x->touch[x->ntouch - 1];
    at->missed = x->closed[was].missed;
    at->straight = x->closed[was].straight;
    at->t_missed = x->closed[was].t_missed;
    memcpy(at->line, x->closed[was].along, sizeof at->line);
  }
  return 0;
}

static const srUnilateral* contact_of(srRigid* x, const srTouch* at) {
  for (int i = 0; i < x->count; ++i) {
    if (x->list[i].id == at->id) return &x->list[i];
  }
  return at->was >= 0 ? sri_rigid_contact(x, at->was) : NULL;
}

static void put_velocity(srTouch* at, const srUnilateral* c, const double* v) {
  at->normal = sri_contact_velocity(c, 0, v);
  at->slip = sri_rigid_slip(c, v, at->s);
}

static void put_velocities(srRigid* x, const double* v) {
  for (int i = 0; i < x->ntouch; ++i) put_velocity(&x->touch[i], contact_of(x, &x->touch[i]), v);
}

// Of the mobility A_TT: is the contact planar, and along which direction?
static void classify(const srRigid* x, srTouch* at, const srRigidPart* part) {
  const int n = x->nrow, i = part->first + 1;
  const double a = x->A[i * n + i], b = x->A[(i + 1) * n + i + 1], c = x->A[i * n + i + 1];
  const double middle = 0.5 * (a + b), radius = hypot(0.5 * (a - b), c);
  at->mobility = middle;
  const double angle = 0.5 * atan2(2 * c, a - b);
  at->along[0] = cos(angle);
  at->along[1] = sin(angle);
  const double across = fabs(at->along[0] * at->s[1] - at->along[1] * at->s[0]);
  at->planar = middle - radius <= PLANAR * (middle + radius) && across <= x->o.speed;
  if (!(middle > 0)) at->mu = at->mu_static = 0;  // it has no tangent
}

// All touching contacts as cones; x->part in their order.
static void candidate(srRigid* x, srTouch* at, srRigidPart* out) {
  *out = (srRigidPart){.c = contact_of(x, at),
                       .rows = at->mu > 0 || at->mu_static > 0 ? 3 : 1,
                       .mu = at->mu,
                       .restitution = at->restitution};
  if (out->rows == 3 && at->planar) out->rows = 2;
  memcpy(out->along, at->along, sizeof out->along);
  if (out->rows == 1) out->mu = 0;
}

static void build_all(srRigid* x) {
  bool planar = false;
  for (int i = 0; i < x->ntouch; ++i) {
    x->touch[i].planar = false;
    candidate(x, &x->touch[i], &x->part[i]);
  }
  x->npart = x->ntouch;
  sri_rigid_build(x);
  for (int i = 0; i < x->ntouch; ++i) {
    if (x->part[i].rows == 3) classify(x, &x->touch[i], &x->part[i]);
    planar = planar || x->touch[i].planar || (x->part[i].rows == 3 && x->touch[i].mu_static == 0);
  }
  for (int i = 0; i < x->ntouch && planar; ++i) candidate(x, &x->touch[i], &x->part[i]);
  if (planar) sri_rigid_build(x);
}

// ---- 2. impact ------------------------------------------------------------------------------------------------------------

static bool approaches(const srRigid* x) {
  for (int i = 0; i < x->ntouch; ++i) {
    if (x->touch[i].normal < -x->o.speed || x->touch[i].shock) return true;
  }
  return false;
}

static srImpactLaw law_of(const srRigid* x) {
  if (x->o.rule == SR_IMPACT_RULE_NEWTON) return SR_IMPACT_NEWTON;
  if (x->o.rule == SR_IMPACT_RULE_POISSON) return SR_IMPACT_POISSON;
  for (int i = 0; i < x->npart; ++i) {
    if (x->part[i].mu > 0) return SR_IMPACT_POISSON;
  }
  return SR_IMPACT_NEWTON;
}

static void tell_impact(srRigid* x, double t, double normal, double friction, double driver, double alpha) {
  bool first = true;
  double most = 0;
  for (int i = 0; i < x->ntouch; ++i) most = fmax(most, -x->touch[i].normal);
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (!(at->normal < -fmax(x->o.speed, NOISE * most)) && !at->shock) continue;
    x->stats.impacts += !at->shock;
    tell(x, &(srRigidEvent){.kind = at->shock ? SR_RIGID_PAINLEVE : SR_RIGID_IMPACT,
                            .t = t,
                            .id = at->id,
                            .speed = -at->normal,
                            .normal = first ? normal : 0,
                            .friction = first ? friction : 0,
                            .driver = first ? driver : 0,
                            .alpha = alpha});
    first = false;
  }
}

// Change of the kinetic energy from x->v_new to v: (v + v_new).M (v - v_new)/2.
static double kinetic_change(srRigid* x, const double* v) {
  const srmSaddleShape square = {.nv = x->inner.nv, .ng = x->inner.nv, .G = x->shape.M};
  double sum = 0;
  for (int i = 0; i < x->inner.nv; ++i) x->dq[i] = v[i] - x->v_new[i];
  srm_rows_times(&square, x->M, x->dq, x->a);
  for (int i = 0; i < x->inner.nv; ++i) sum += 0.5 * (v[i] + x->v_new[i]) * x->a[i];
  return sum;
}

static int strike(srRigid* x, double t, double* v) {
  srContactProblem* p = x->problem;
  srContactOptions o = sr_contact_options();
  srImpactResult result;
  double *before = x->right_rows, *after = x->rhs;
  build_all(x);
  sri_rigid_velocities(x, v, before);
  p->ncontact = x->npart;
  p->nequation = 0;
  p->compliance = 0;
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    p->cone[i] =
        (srContactCone){.rows = part->rows, .mu = part->mu, .restitution = x->touch[i].shock ? 0 : part->restitution};
    if (x->touch[i].shock) before[part->first] = -SHOCK * fmax(x->touch[i].slip, x->o.speed);
  }
  memcpy(p->W, x->A, (size_t)(x->nrow * x->nrow) * sizeof *p->W);
  memcpy(p->q, before, (size_t)x->nrow * sizeof *p->q);
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  o.method = sr_contact_method_find("newton");
  o.tolerance = 1e-13 * sri_largest(x->nrow, before);
  if (sr_contact_impact(x->solver, p, law_of(x), &o, x->p, &result) != SR_OK) {
    return fail(x, "an impact has more contacts than there is memory for");
  }
  ++x->stats.problems;
  const double residual = result.solve.error.residual;
  x->stats.residual = fmax(x->stats.residual, residual);
  x->stats.unsolved += residual > 1e-8 * sri_largest(x->nrow, before);
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  sri_rigid_add(x, x->p, v);
  sri_rigid_velocities(x, v, after);
  const double normal = sri_rigid_work(x, x->p, before, after, true),
               friction = sri_rigid_work(x, x->p, before, after, false);
  tell_impact(x, t, normal, friction, kinetic_change(x, v) - normal - friction, result.alpha);
  return 0;
}

// ---- 3. statuses ----------------------------------------------------------------------------------------------------------

// Has the contact a place in the problem of accelerations, and which?
static bool part_of(srRigid* x, srTouch* at, srRigidPart* out) {
  if (!at->closed) return false;
  candidate(x, at, out);
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
static int take_drifts(srRigid* x, double t, const double* q, const double* v) {
  for (int i = 0; i < x->ntouch; ++i) x->part[i] = (srRigidPart){.c = contact_of(x, &x->touch[i])};
  x->npart = x->ntouch;
  const int answer = sri_rigid_drift(x, t, q, v);
  for (int i = 0; i < x->ntouch && answer == 0; ++i) {
    memcpy(x->touch[i].drift, x->drift + 3 * i, 3 * sizeof(double));
  }
  return answer;
}

// The parts of the closed contacts; x->owner has their places among the touching ones.
static void build_closed(srRigid* x) {
  x->npart = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    if (!part_of(x, &x->touch[i], &x->part[x->npart])) continue;
    memcpy(x->drift + 3 * x->npart, x->touch[i].drift, 3 * sizeof(double));
    x->owner[x->npart++] = i;
  }
  sri_rigid_build(x);
}

// Forces and accelerations of the closed contacts: 3 of a contact into force, their accelerations into x->rhs.
static int solve_closed(srRigid* x) {
  double residual = 0;
  x->softness = 0;
  build_closed(x);
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  sri_rigid_accelerations(x, x->free, x->right_rows);
  if (x->npart > 0 && !sri_rigid_solve(x, x->right_rows, &residual) && residual > 1e-6) {
    return fail(x,
                "which contacts stick, slide or open cannot be decided: the complementarity problem of the "
                "accelerations was not solved");
  }
  x->resolved = fmax(RESTS, 10 * fmax(residual, x->softness));
  memcpy(x->a, x->free, (size_t)x->inner.nv * sizeof *x->a);
  sri_rigid_add(x, x->p, x->a);
  sri_rigid_accelerations(x, x->a, x->rhs);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    double* force = x->touch[x->owner[i]].force;
    force[0] = x->p[part->first];
    force[1] = part->rows > 1 ? x->p[part->first + 1] : 0;
    force[2] = part->rows > 2 ? x->p[part->first + 2] : 0;
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

static void decide_all(srRigid* x) {
  const double size = fmax(sri_largest(x->nrow, x->right_rows), 1e-300), most = largest_force(x);
  for (int i = 0; i < x->npart; ++i) decide(x, i, size, most);
}

// ---- ahead ----------------------------------------------------------------------------------------------------------------

static bool has_cause(const srRigid* x, const signed char* cause, int kinds) {
  for (int k = 0; cause != NULL && k < x->nclosed; ++k) {
    if ((cause[k] & kinds) != 0) return true;
  }
  return false;
}

// Is the force of the contacts concerned clearly outside of what their statuses allow?
static bool clearly_wrong(srRigid* x, double t, const signed char* cause) {
  double most = 0;
  if (sri_interpolate(x->integrator, t, x->q_ahead, x->v_ahead, x->y_ahead, NULL) != SR_OK) return true;
  if (sri_rigid_forces(x, t, x->q_ahead, x->v_ahead, x->y_ahead, x->lambda, NULL) != 0) return true;
  for (int k = 0; k < x->nclosed; ++k) most = fmax(most, fabs(x->lambda[3 * k]));
  for (int k = 0; k < x->nclosed; ++k) {
    const double* of = x->lambda + 3 * k;
    if ((cause[k] & SR_CAUSE_RELEASE) != 0 && of[0] < -AHEAD * most) return true;
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
static int decide_ahead(srRigid* x, double t, const double* q, const double* v, const double* y,
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
    if (contact_of(x, &x->touch[i]) == NULL) x->touch[i].closed = false;
  }
  if (answer == 0) answer = take_drifts(x, at, x->q_ahead, x->v_ahead);
  if (answer == 0) answer = solve_closed(x);
  x->resolved = RESTS;  // friction is exhausted, however little
  if (answer == 0) decide_all(x);
  const int back = sri_rigid_list(x, t, q);
  return answer != 0 ? answer : back;
}

// ---- sticking in space ------------------------------------------------------------------------------------------------------

// The velocity with the slip of contacts that are still, and the normal velocity of all closed ones, put to 0.
static void put_at_rest(srRigid* x, double* v) {
  x->npart = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    if (!at->closed) continue;
    srRigidPart* part = &x->part[x->npart++];
    candidate(x, at, part);
    const bool tangents = at->status == SR_RIGID_OPEN ? at->still : at->status == SR_RIGID_STICKS;
    if (!tangents) part->rows = 1;
  }
  sri_rigid_build(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
  sri_rigid_add(x, x->p, v);
}

// Do contacts whose slip is put to 0 stay there?
static bool rests(srRigid* x, double t, const double* q, const double* v) {
  put_velocities(x, v);
  if (take_drifts(x, t, q, v) != 0 || solve_closed(x) != 0) return false;
  const double size = fmax(sri_largest(x->nrow, x->right_rows), 1e-300);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    for (int k = 1; k < part->rows; ++k) {
      if (fabs(x->rhs[part->first + k]) > RESTS_GROUP * size) return false;
    }
  }
  return true;
}

// Contact i of the touching ones has little slip left: it sticks with others like it, or alone. If not it misses 0 by little, and goes on; or it comes so near that
// its direction is held, until it passes through 0 in it.
static void stop_in_space(srRigid* x, double t, const double* q, double* v, int i) {
  srTouch* at = &x->touch[i];
  const double examined = x->closed[at->was].slip_least * (at->missed ? SR_RIGID_NEAR : 1);
  if (!at->straight && at->slip > 2 * examined) return;  // it has turned by a right angle
  if (at->straight) {
    at->still = true;
    put_at_rest(x, v);
    put_velocities(x, v);
    return;
  }
  if (at->missed) {
    at->straight = true;
    for (int k = 0; k < 2; ++k) at->line[k] = at->s[k] / at->slip;
    return;
  }
  const double least = x->closed[x->touch[i].was].slip_least;
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  for (int group = 1; group >= 0; --group) {
    for (int k = 0; k < x->ntouch; ++k) {
      srTouch* other = &x->touch[k];
      const bool near = other->before == SR_RIGID_SLIDES && !other->planar && other->slip <= GROUP * least;
      if (other->before == SR_RIGID_SLIDES && !other->planar) other->still = k == i || (group == 1 && near);
    }
    put_at_rest(x, v);
    if (rests(x, t, q, v)) return;
    memcpy(v, x->v_new, (size_t)x->inner.nv * sizeof *v);
    put_velocities(x, v);
  }
  at->still = false;
  at->missed = true;
  at->t_missed = t;
}

// ---- 4. accumulation ------------------------------------------------------------------------------------------------------

static double normal_acceleration(srRigid* x, const srTouch* at, const srUnilateral* c) {
  return sri_contact_row_times(c, 0, x->a) + at->drift[0];
}

// Would the contact return from less than the least height, and when would its impacts have ended?
static bool hops_low(srRigid* x, const srTouch* at, double t, double* end) {
  if (at->closed || !(at->normal > x->o.speed)) return false;
  const double a = normal_acceleration(x, at, contact_of(x, at)), hop = at->normal * at->normal / (2 * fabs(a));
  const double left = 2 * at->normal / (fabs(a) * fmax(1 - at->restitution, 1e-3));
  *end = at->restitution > 0 ? t + left : t;
  return a < 0 && hop < x->o.hop;
}

// Impulses that put the velocities of the parts to 0.
static void find_closing(srRigid* x, const double* v, bool along_forces) {
  build_closed(x);
  for (int i = 0; i < x->npart && !along_forces; ++i) x->part[i].force_s[0] = x->part[i].force_s[1] = 0;
  if (!along_forces) sri_rigid_build(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
}

// Contacts that jam (n K f/n K n near 0 or below it) would ask for any impulse along their forces: they are closed along their normals, which costs energy.
static void close_velocities(srRigid* x, double* v, double* normal, double* friction) {
  double along = 0, largest = 0, largest_normal = 0;
  *normal = *friction = 0;
  find_closing(x, v, false);
  memcpy(x->lambda_kept, x->p, (size_t)x->nrow * sizeof *x->p);
  find_closing(x, v, true);
  for (int i = 0; i < x->npart; ++i) {
    const int r = x->part[i].first;
    along += x->p[r] * x->lambda_kept[r];
    largest = fmax(largest, fabs(x->p[r]));
    largest_normal = fmax(largest_normal, fabs(x->lambda_kept[r]));
  }
  if (!(along >= 0) || largest > JAMS * largest_normal) find_closing(x, v, false);
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  sri_rigid_add(x, x->p, v);
  sri_rigid_velocities(x, v, x->rhs);
  *normal = sri_rigid_work(x, x->p, x->right_rows, x->rhs, true);
  *friction = sri_rigid_work(x, x->p, x->right_rows, x->rhs, false);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    double before[2], after[2];
    if (part->rows > 1) continue;
    (void)sri_rigid_slip(part->c, x->v_new, before);
    (void)sri_rigid_slip(part->c, v, after);
    for (int k = 0; k < 2; ++k) *friction += 0.5 * x->p[part->first] * part->force_s[k] * (before[k] + after[k]);
  }
}

// Closes contacts that would not hop high. Accelerations are those of the closed ones.
static bool close_hops(srRigid* x, double t, double* v) {
  double normal, friction;
  bool any = false, first = true;
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    at->hops = hops_low(x, at, t, &at->end);
    any = any || at->hops;
  }
  if (!any) return false;
  for (int i = 0; i < x->ntouch; ++i) x->touch[i].closed = x->touch[i].closed || x->touch[i].hops;
  close_velocities(x, v, &normal, &friction);
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (!at->hops) continue;
    tell(x, &(srRigidEvent){.kind = SR_RIGID_ACCUMULATION,
                            .t = at->end,
                            .t_closed = t,
                            .id = at->id,
                            .speed = at->normal,
                            .normal = first ? normal : 0,
                            .friction = first ? friction : 0});
    first = false;
  }
  return true;
}

// ---- 5. what is closed ------------------------------------------------------------------------------------------------------

// u_c; with steps of fixed length not less than what friction takes from the slip in one of them.
static double slip_least(const srRigid* x, const srTouch* at) {
  const double braking = at->mu * fmax(at->force[0], 0) * at->mobility;
  return fmax(fmax(0.3 * sqrt(x->o.position * braking), x->o.step * braking), x->o.speed);
}

static void put_closed(srRigid* x) {
  x->nclosed = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (at->status == SR_RIGID_OPEN) continue;
    srClosed* to = &x->closed[x->nclosed++];
    to->id = at->id;
    to->status = at->status;
    to->mu = at->mu;
    to->mu_static = at->mu_static;
    to->planar = at->planar;
    memcpy(to->along, at->along, sizeof to->along);
    to->slip_least = slip_least(x, at);
    to->ratio[0] = to->ratio[1] = 0;
    to->force[0] = NAN;
    to->missed = at->status == SR_RIGID_SLIDES && at->missed;
    to->straight = to->missed && at->straight;
    to->creeps = false;
    to->t_missed = at->t_missed;
    to->t_most = to->missed ? PASSES * to->slip_least / fmax(at->mu * at->force[0] * at->mobility, 1e-300) : 0;
    to->rho = 1;
    to->at = -1;
  }
  if (x->nclosed > x->stats.closed) x->stats.closed = x->nclosed;
  x->listed = false;  // places in the list are unknown
}

// Normals of the closed contacts as parts.
static void build_normals(srRigid* x) {
  for (int k = 0; k < x->nclosed; ++k) x->part[k] = (srRigidPart){.c = sri_rigid_contact(x, k), .rows = 1};
  x->npart = x->nclosed;
  sri_rigid_build(x);
}

static int place_position(srRigid* x, double t, double* q) {
  const srSystem* s = &x->inner;
  for (int round = 0; round < PLACES; ++round) {
    double off = 0;
    int answer = sri_rigid_list(x, t, q);
    if (answer == 0 && s->ng > 0) answer = s->constraint(s->user, t, q, x->g, NULL, NULL);
    if (answer != 0) return answer;
    for (int k = 0; k < x->nclosed; ++k) off = fmax(off, fabs(sri_rigid_contact(x, k)->gap));
    if (!(off > 1e-14)) return 0;
    build_normals(x);
    for (int k = 0; k < s->ng; ++k) x->right[k] = k < s->np ? -x->g[k] : 0;
    srm_saddle_solve(x->saddle, NULL, x->right, x->v_new, NULL);
    for (int k = 0; k < x->nclosed; ++k) {
      x->right_rows[k] = sri_rigid_contact(x, k)->gap + sri_contact_row_times(sri_rigid_contact(x, k), 0, x->v_new);
    }
    (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
    sri_rigid_add(x, x->p, x->v_new);
    answer = sri_retract(s, q, x->v_new, x->q_new);
    if (answer != 0) return answer;
    memcpy(q, x->q_new, (size_t)s->nq * sizeof *q);
  }
  return 0;
}

static void place_velocity(srRigid* x, double* v) {
  for (int k = 0; k < x->nclosed; ++k) {
    const srClosed* at = &x->closed[k];
    x->part[k] = (srRigidPart){.c = sri_rigid_contact(x, k), .rows = 1};
    if (at->status == SR_RIGID_STICKS) x->part[k].rows = at->planar ? 2 : 3;
    memcpy(x->part[k].along, at->along, sizeof at->along);
  }
  x->npart = x->nclosed;
  sri_rigid_build(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
  sri_rigid_add(x, x->p, v);
}

// An orthonormal basis of the range of the Delassus matrix of the normals, where they are redundant and friction makes their distribution matter: by Gram-Schmidt, the
// longest first.
static void combine(srRigid* x) {
  const int n = x->nclosed;
  bool friction = false;
  x->combined = false;
  for (int k = 0; k < n; ++k) friction = friction || (x->closed[k].mu > 0 && x->closed[k].status != SR_RIGID_STICKS);
  if (n < 2 || !friction) return;
  build_normals(x);
  double* C = x->lu;  // its columns, as rows
  double first = 0;
  memcpy(C, x->A, (size_t)(n * n) * sizeof *C);
  for (x->rank = 0; x->rank < n; ++x->rank) {
    int best = -1;
    double longest = 0;
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += C[k * n + i] * C[k * n + i];
      if (sum > longest) longest = sum, best = k;
    }
    first = fmax(first, sqrt(longest));
    if (best < 0 || sqrt(longest) <= 1e-9 * first) break;
    double* to = x->combination + (size_t)x->rank * (size_t)x->most;
    for (int i = 0; i < n; ++i) to[i] = C[best * n + i] / sqrt(longest);
    for (int k = 0; k < n; ++k) {
      double along = 0;
      for (int i = 0; i < n; ++i) along += C[k * n + i] * to[i];
      for (int i = 0; i < n; ++i) C[k * n + i] -= along * to[i];
    }
  }
  x->combined = x->rank < n;
}

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
  if (event.kind != SR_RIGID_EVENT_KINDS) tell(x, &event);
}

// ---- all of it ----------------------------------------------------------------------------------------------------------------

// Contacts that have no slip, and those of which the friction is exhausted.
static void mark_still(srRigid* x, const signed char* cause) {
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    const int own = at->was >= 0 && cause != NULL ? cause[at->was] : 0;
    const double slip = at->planar ? fabs(at->s[0] * at->along[0] + at->s[1] * at->along[1]) : at->slip;
    const bool small = slip <= x->o.speed || (at->planar && (own & SR_CAUSE_STOP) != 0);
    const bool cone = at->before == SR_RIGID_CONE && at->slip <= 3 * x->closed[at->was].slip_least;
    const bool creeps = at->before == SR_RIGID_SLIDES && x->closed[at->was].creeps;
    at->still = (small || cone || creeps) && (own & SR_CAUSE_LEAVE) == 0;
  }
}

static int statuses_here(srRigid* x, double t, const double* q, double* v, const double* y) {
  for (int round = 0; round < ROUNDS; ++round) {
    put_velocities(x, v);
    for (int i = 0; i < x->ntouch; ++i) {
      srTouch* at = &x->touch[i];
      if (round == 0) at->closed = fabs(at->normal) <= x->o.speed;
      at->status = SR_RIGID_OPEN;
    }
    int answer = take_drifts(x, t, q, v);
    if (answer == 0) answer = solve_closed(x);
    if (answer != 0) return answer;
    decide_all(x);
    if (!close_hops(x, t, v)) return 0;
    answer = sri_rigid_free(x, t, q, v, y);
    if (answer != 0) return answer;
  }
  return fail(x, "contacts open and close without end at one instant");
}

// A contact in space that begins to slip is a cone.
static void begin_cones(srRigid* x, const signed char* cause) {
  for (int i = 0; i < x->ntouch && cause != NULL; ++i) {
    srTouch* at = &x->touch[i];
    if (at->was < 0 || at->planar || (cause[at->was] & SR_CAUSE_ONSET) == 0) continue;
    at->status = SR_RIGID_CONE;
  }
}

int sri_rigid_settle(srRigid* x, double t, double* q, double* v, double* y, const signed char* cause) {
  int answer = sri_rigid_list(x, t, q);
  if (answer == 0) answer = sri_rigid_free(x, t, q, v, y);
  if (answer == 0) sri_rigid_rename(x);
  if (answer == 0) answer = collect(x, t);
  if (answer != 0)
    return answer < 0 && x->error_message[0] != '\0' ? answer : fail(x, "the contacts cannot be evaluated");
  put_velocities(x, v);
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    at->shock = at->was >= 0 && cause != NULL && (cause[at->was] & SR_CAUSE_PAINLEVE) != 0;
  }
  build_all(x);
  const bool struck = approaches(x);
  if (struck) {
    answer = strike(x, t, v);
    if (answer == 0) answer = sri_rigid_free(x, t, q, v, y);
    if (answer != 0) return answer;
    put_velocities(x, v);
    cause = NULL;
  }
  mark_still(x, cause);
  for (int i = 0; i < x->ntouch && !struck; ++i) {
    srTouch* at = &x->touch[i];
    const int own = at->was >= 0 && cause != NULL ? cause[at->was] : 0;
    if ((own & SR_CAUSE_STOP) != 0 && !at->planar && !at->still) stop_in_space(x, t, q, v, i);
  }
  if (!struck && has_cause(x, cause, SR_CAUSE_RELEASE | SR_CAUSE_ONSET)) {
    for (int i = 0; i < x->ntouch; ++i) x->touch[i].closed = fabs(x->touch[i].normal) <= x->o.speed;
    answer = decide_ahead(x, t, q, v, y, cause);
    begin_cones(x, cause);
  } else {
    answer = statuses_here(x, t, q, v, y);
  }
  if (answer != 0) return answer < 0 ? answer : fail(x, "the accelerations at an event cannot be evaluated");
  for (int i = 0; i < x->ntouch; ++i) tell_change(x, t, &x->touch[i], struck, cause);
  put_closed(x);
  x->combined = false;
  answer = sri_rigid_free(x, t, q, v, y);
  if (answer == 0 && x->nclosed > 0) answer = place_position(x, t, q);
  if (answer == 0 && x->nclosed > 0) answer = sri_rigid_list(x, t, q);
  if (answer != 0) return fail(x, "closed contacts cannot be put on their surfaces");
  if (x->nclosed > 0) {
    place_velocity(x, v);
    combine(x);
  }
  sri_rigid_keep(x, q);
  sri_rigid_activate(x);
  ++x->generation;
  x->t_settled = t;
  return 0;
}
