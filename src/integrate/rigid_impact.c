// Impact where one of the contacts that touch approaches: all of them together (nonsmooth/impact.c), or one after the other (nonsmooth/sequence.c), with the joints as
// equations in the matrix of the problem. A sequence that does not end is ended by a compression of all of them together.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#define NOISE 1e-6              // of the largest speed of approach: that of a closed contact, by the error of the step
#define IMPACT_TOLERANCE 1e-13  // of the velocities before: residual of all contacts together; at least ...
// ... this part of a speed that is 0: redundant contacts contradict each other by the error of their positions, and a corner would be lifted to meet them all
#define LEAST 1e-3
#define IMPACT_COARSE 1e-6  // the same where masses differ so much that rounding of the impulses is larger
#define PASSES 1e-3         // of the velocities before: approach that an impact must not leave
#define SHOCK 1e-7          // of the slip: approach of an impact without collision

static srImpactLaw law_of(const srRigid* x) {
  if (x->o.rule == SR_IMPACT_RULE_NEWTON) return SR_IMPACT_NEWTON;
  if (x->o.rule == SR_IMPACT_RULE_POISSON) return SR_IMPACT_POISSON;
  if (x->o.rule == SR_IMPACT_RULE_STRONGE) return SR_IMPACT_STRONGE;
  for (int i = 0; i < x->npart; ++i) {
    if (x->part[i].mu > 0) return SR_IMPACT_POISSON;
  }
  return SR_IMPACT_NEWTON;
}

// Event of every contact that was struck; the work is that of all of them.
static void tell_impact(srRigid* x, double t, const srRigidEvent* of, const double* approach) {
  bool first = true;
  double most = 0;
  for (int i = 0; i < x->ntouch; ++i) most = fmax(most, approach[i]);
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (!(approach[i] > fmax(x->o.speed, NOISE * most)) && !at->shock) continue;
    x->stats.impacts += !at->shock;
    srRigidEvent event = {.kind = at->shock ? SR_RIGID_PAINLEVE : SR_RIGID_IMPACT,
                          .t = t,
                          .id = at->id,
                          .speed = at->shock ? -at->normal : approach[i],
                          .alpha = of->alpha,
                          .endless = of->endless};
    if (first) event.normal = of->normal, event.friction = of->friction, event.driver = of->driver;
    sri_rigid_tell(x, &event);
    first = false;
  }
}

double sri_rigid_kinetic_change(srRigid* x, const double* v) {
  const srmSaddleShape square = {.nv = x->inner.nv, .ng = x->inner.nv, .G = x->shape.M};
  double sum = 0;
  for (int i = 0; i < x->inner.nv; ++i) x->dq[i] = v[i] - x->v_new[i];
  srm_rows_times(&square, x->M, x->dq, x->a);
  for (int i = 0; i < x->inner.nv; ++i) sum += 0.5 * (v[i] + x->v_new[i]) * x->a[i];
  return sum;
}

// Residual of the problem of all contacts together.
static double tolerance_of(const srRigid* x) {
  return fmax(IMPACT_TOLERANCE * sri_largest(x->nrow, x->problem->q), LEAST * x->o.speed);
}

// The contact problem with the velocities before (nrow); a contact without a consistent force approaches a little, and has no restitution.
static void pose(srRigid* x, double* before) {
  srContactProblem* p = x->problem;
  const double least = x->o.order == SR_IMPACT_ORDER_SEQUENTIAL ? 2 * x->o.speed : 0;  // what a sequence strikes
  p->ncontact = x->npart;
  p->nequation = 0;
  p->compliance = 0;
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    const bool shock = x->touch[i].shock;
    p->cone[i] = (srContactCone){.rows = part->rows, .mu = part->mu, .restitution = shock ? 0 : part->restitution};
    if (shock) before[part->first] = -fmax(SHOCK * fmax(x->touch[i].slip, x->o.speed), least);
  }
  memcpy(p->W, x->A, (size_t)(x->nrow * x->nrow) * sizeof *p->W);
  memcpy(p->q, before, (size_t)x->nrow * sizeof *p->q);
}

// What approaches after a sequence that does not end becomes a compression of all contacts together: x->p is the impulse of both.
static srStatus end_sequence(srRigid* x, const srContactOptions* o, srImpactResult* r) {
  srContactResult compression;
  srContactProblem* p = x->problem;
  double *first = x->rhs_other, *between = x->scale;
  memcpy(first, x->p, (size_t)x->nrow * sizeof *first);
  sr_contact_velocity(x->solver, p, first, between);
  memcpy(p->q, between, (size_t)x->nrow * sizeof *p->q);
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  const srStatus status = sr_contact_solve(x->solver, p, o, x->p, &compression);
  r->energy += sr_contact_work(x->solver, p, x->p);
  for (int i = 0; i < x->npart; ++i) {
    const int k = x->part[i].first;
    r->normal += 0.5 * x->p[k] * between[k];  // the velocity after it is 0, or the impulse
  }
  for (int i = 0; i < x->nrow; ++i) x->p[i] += first[i];
  memcpy(p->q, x->right_rows, (size_t)x->nrow * sizeof *p->q);
  r->solve = compression;
  return status;
}

// One contact without friction: p = -(1 + e) u/A by every law.
static bool solve_single(srRigid* x, srImpactResult* r) {
  const double mobility = x->A[0], u = x->problem->q[0], e = x->problem->cone[0].restitution;
  if (x->npart != 1 || x->nrow != 1 || x->o.problem != NULL || !(mobility > 0) || !(u < 0)) return false;
  double* approach = x->scale;
  *approach = -u;
  x->p[0] = -(1 + e) * u / mobility;
  *r = (srImpactResult){.alpha = 1, .collisions = 1, .ended = true, .approach = approach};
  r->energy = r->normal = 0.5 * x->p[0] * (1 - e) * u;  // p times the mean of u and -e u
  r->solve.solved = true;
  return true;
}

// Where Newton's method does not get there (a body between two that are 1e9 times as heavy): by pivoting, for planar contacts and those without friction.
static srStatus solve_together(srRigid* x, srImpactLaw law, const srContactOptions* o, srImpactResult* r) {
  sri_rigid_begin_soft(x);
  const srStatus status = sr_contact_impact(x->solver, x->problem, law, o, x->p, r);
  const double size = sri_largest(x->nrow, x->problem->q);
  if (status != SR_OK || r->solve.error.residual <= IMPACT_COARSE * size) return status;
  for (int i = 0; i < x->npart; ++i) {
    if (x->part[i].rows > 2) return status;
  }
  srContactOptions coarse = *o;
  coarse.method = sr_contact_method_find("lemke");
  coarse.tolerance = IMPACT_COARSE * size;
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  return sr_contact_impact(x->solver, x->problem, law, &coarse, x->p, r);
}

static srStatus solve(srRigid* x, srImpactLaw law, double tolerance, srImpactResult* r) {
  if (solve_single(x, r)) return SR_OK;
  srContactOptions o = sr_contact_options();
  o.method = sr_contact_method_find("newton");
  o.tolerance = tolerance;
  memset(x->p, 0, (size_t)x->nrow * sizeof *x->p);
  if (x->o.order == SR_IMPACT_ORDER_SIMULTANEOUS) return solve_together(x, law, &o, r);
  srContactOptions sequence = o;
  sequence.tolerance = x->o.speed;
  const srImpactFriction friction = x->o.friction == SR_IMPACT_FRICTION_SHOCK ? SR_IMPACT_SHOCK : SR_IMPACT_ALGEBRAIC;
  srStatus status = sr_contact_sequence(x->solver, x->problem, law, friction, &sequence, x->p, r);
  if (status == SR_OK && !r->ended) status = end_sequence(x, &o, r);
  return status;
}

static void count(srRigid* x, srImpactLaw law, const srImpactResult* r, double speed) {
  srImpactCount* n = &x->stats.impact;
  const double residual = r->solve.error.residual;
  const bool sequence = x->o.order == SR_IMPACT_ORDER_SEQUENTIAL;
  ++*(law == SR_IMPACT_NEWTON ? &n->newton : law == SR_IMPACT_POISSON ? &n->poisson : &n->stronge);
  n->reduced += r->alpha < 1;
  n->endless += !r->ended;
  if (sequence) n->collisions += r->collisions;
  if (sequence && r->collisions > n->longest) n->longest = r->collisions;
  ++x->stats.problems;
  x->stats.residual = fmax(x->stats.residual, residual);
  x->stats.unsolved += residual > fmax(1e-8 * speed, sequence ? x->o.speed : 0);
}

// To who has asked for the problems: with the options of `sarrus contact` that strike it likewise.
static void show(const srRigid* x, double t, srImpactLaw law, double tolerance, const srImpactResult* r) {
  static const char* const together[] = {"newton", "poisson"};
  static const char* const sequence[2][3] = {
      {"newton --impact-order sequential", "poisson --impact-order sequential"},
      {"newton --impact-friction shock", "poisson --impact-friction shock", "stronge"}};
  const bool shock = x->o.friction == SR_IMPACT_FRICTION_SHOCK;
  x->problem->tolerance = x->o.order == SR_IMPACT_ORDER_SEQUENTIAL ? x->o.speed : tolerance;
  x->o.problem(
      x->o.problem_user,
      &(srSolvedProblem){.t = t,
                         .step = x->integrator != NULL ? sri_stats(x->integrator)->steps : 0,
                         .problem = x->problem,
                         .result = &r->solve,
                         .impact = x->o.order == SR_IMPACT_ORDER_SEQUENTIAL ? sequence[shock][law] : together[law]});
}

// Bodies would pass through each other.
static bool still_approaches(const srRigid* x, const double* before, const double* after) {
  const double least = PASSES * sri_largest(x->nrow, before) + x->o.speed;
  for (int i = 0; i < x->npart; ++i) {
    if (after[x->part[i].first] < -least) return true;
  }
  return false;
}

int sri_rigid_strike(srRigid* x, double t, double* v) {
  srImpactResult result;
  double *before = x->right_rows, *after = x->rhs;
  const srImpactLaw law = law_of(x);
  sri_rigid_velocities(x, v, before);
  pose(x, before);
  const double tolerance = tolerance_of(x);
  if (solve(x, law, tolerance, &result) != SR_OK)
    return sri_rigid_fail(x,
                          "an impact has more contacts than there is memory for, or friction that does not let it end");
  count(x, law, &result, sri_largest(x->nrow, before));
  if (x->o.problem != NULL) show(x, t, law, tolerance, &result);
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  sri_rigid_add(x, x->p, v);
  sri_rigid_velocities(x, v, after);
  if (still_approaches(x, before, after))
    return sri_rigid_fail(x,
                          "an impact was not solved, its contacts approach as before: a driver moves bodies into each "
                          "other, or their masses "
                          "differ too much: take masses that are nearer to each other, or fix the heavy ones");
  srRigidEvent of = {.alpha = result.alpha, .endless = !result.ended};
  of.normal = sri_rigid_work(x, x->p, before, after, true);
  of.friction = sri_rigid_work(x, x->p, before, after, false);
  if (x->o.order == SR_IMPACT_ORDER_SEQUENTIAL) {  // velocities between do not change linearly
    of.friction += of.normal - result.normal;
    of.normal = result.normal;
  }
  of.driver = sri_rigid_kinetic_change(x, v) - of.normal - of.friction;
  tell_impact(x, t, &of, result.approach);
  return 0;
}
