// Impact of all contacts that touch together, where one of them approaches (nonsmooth/impact.c).
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#define NOISE 1e-6  // of the largest speed of approach: that of a closed contact, by the error of the step
#define SHOCK 1e-7  // of the slip: approach of an impact without collision

bool sri_rigid_approaches(const srRigid* x) {
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
    sri_rigid_tell(x, &(srRigidEvent){.kind = at->shock ? SR_RIGID_PAINLEVE : SR_RIGID_IMPACT,
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

int sri_rigid_strike(srRigid* x, double t, double* v) {
  srContactProblem* p = x->problem;
  srContactOptions o = sr_contact_options();
  srImpactResult result;
  double *before = x->right_rows, *after = x->rhs;
  sri_touch_build(x);
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
    return sri_rigid_fail(x, "an impact has more contacts than there is memory for");
  }
  if (x->o.problem != NULL) {
    p->tolerance = o.tolerance;
    x->o.problem(x->o.problem_user,
                 &(srSolvedProblem){.t = t,
                                    .step = x->integrator != NULL ? sri_stats(x->integrator)->steps : 0,
                                    .problem = p,
                                    .result = &result.solve,
                                    .impact = law_of(x) == SR_IMPACT_NEWTON ? "newton" : "poisson"});
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
