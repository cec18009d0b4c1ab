// Impacts with all contacts together: Newton's and Poisson's law on the contact problem (Pfeiffer and Glocker 1996; Leine and van de Wouw
// 2008). Newton: the velocity that must not be negative is u_N + e min(u_N-, 0); with e u_N- for contacts that separate already they would
// be pulled back. Poisson: a compression with e = 0, then an expansion from its velocities whose normal impulses are at least e times
// those of the compression. Newton's law with friction can gain energy (Kane and Levinson 1985) and may have no solution; the largest
// alpha <= 1 with e -> alpha e that is solved and gains none is found by bisection.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "nonsmooth/solver.h"

#define GAIN 1e-12  // of the energy that the impulses move: what rounding may gain
enum { BISECTIONS = 40 };

// ---- energy -------------------------------------------------------------------------------------------------------------

// T+ - T-, the part of the normal impulses, and the sum of its terms without their signs. A shift of the problem is no velocity of the bodies.
static double work(srContactSolver* s, const srContactProblem* p, const double* impulse, double* normal, double* size) {
  double *after = s->velocity, *before = s->impact.before, sum = 0;
  const int rows = sr_contact_rows(p);
  memset(s->impact.zero, 0, (size_t)rows * sizeof *after);
  sr_contact_velocity(s, p, s->impact.zero, before);
  sr_contact_velocity(s, p, impulse, after);
  for (int i = 0, k = p->nequation; i < p->ncontact; k += p->cone[i++].rows) {
    for (int l = 0; l < p->cone[i].rows; ++l) {
      const double shift = l == 0 ? p->cone[i].shift : p->cone[i].slip[l - 1];
      after[k + l] -= shift;
      before[k + l] -= shift;
    }
  }
  for (int i = 0; p->W == NULL && i < p->nequation; ++i) {
    after[i] -= p->equation[i].shift;
    before[i] -= p->equation[i].shift;
  }
  *size = *normal = 0;
  for (int i = 0, k = p->nequation; i < p->ncontact; k += p->cone[i++].rows)
    *normal += 0.5 * impulse[k] * (after[k] + before[k]);
  for (int i = 0; i < rows; ++i) {
    sum += 0.5 * impulse[i] * (after[i] + before[i]);
    *size += 0.5 * fabs(impulse[i]) * (fabs(after[i]) + fabs(before[i]));
  }
  return sum;
}

double sr_contact_work(srContactSolver* s, const srContactProblem* p, const double* impulse) {
  double normal, size;
  return work(s, p, impulse, &normal, &size);
}

// ---- phases -------------------------------------------------------------------------------------------------------------

// A problem with its own cones: those of `p` with shifts and lower bounds of a phase, and without compliances.
static srContactProblem with_cones(const srContactSolver* s, const srContactProblem* p) {
  srContactProblem phase = *p;
  phase.cone = s->impact.cone;
  memcpy(phase.cone, p->cone, (size_t)p->ncontact * sizeof *p->cone);
  for (int i = 0; i < p->ncontact; ++i) {
    srContactCone* c = &phase.cone[i];
    c->shift = c->lower = c->compliance[0] = c->compliance[1] = 0;
  }
  return phase;
}

// Newton's law with alpha e.
static srStatus newton(srContactSolver* s, const srContactProblem* p, double alpha, const srContactOptions* o,
                       double* impulse, srContactResult* result) {
  srContactProblem phase = with_cones(s, p);
  const double* u = s->impact.approach;
  for (int i = 0, k = p->nequation; i < p->ncontact; k += p->cone[i++].rows)
    phase.cone[i].shift = alpha * p->cone[i].restitution * fmin(u[k], 0);
  return sr_contact_solve(s, &phase, o, impulse, result);
}

static void keep_worse(const srContactResult* phase, srContactResult* result) {
  if (phase->error.residual <= result->error.residual && phase->error.bilateral <= result->error.bilateral) return;
  *result = *phase;
}

static srStatus poisson(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                        srContactResult* result) {
  srContactProblem phase = with_cones(s, p);
  srContactResult expansion;
  const int rows = sr_contact_rows(p);
  srStatus status = sr_contact_solve(s, &phase, o, impulse, result);
  bool bounces = false;
  for (int i = 0; i < p->ncontact; ++i) bounces = bounces || p->cone[i].restitution > 0;
  if (status != SR_OK || !bounces) return status;
  // The expansion begins with the velocities of the compression: they are in the right side of the matrix, or in those of the bodies.
  double* compression = s->impact.compression;
  memcpy(compression, impulse, (size_t)rows * sizeof *impulse);
  if (p->W == NULL) {
    phase.body = s->impact.body;
    memcpy(phase.body, p->body, (size_t)p->nbody * sizeof *p->body);
    sr_contact_body_velocity(p, compression, s->before);
    for (int i = 0; i < p->nbody; ++i) memcpy(phase.body[i].velocity, s->before + 6 * (size_t)i, 6 * sizeof(double));
  } else {
    sr_contact_velocity(s, &phase, compression, s->impact.before);
    phase.q = s->impact.before;
  }
  for (int i = 0, k = p->nequation; i < p->ncontact; k += p->cone[i++].rows)
    phase.cone[i].lower = p->cone[i].restitution * fmax(compression[k], 0);
  status = sr_contact_solve(s, &phase, o, impulse, &expansion);
  for (int i = 0; i < rows; ++i) impulse[i] += compression[i];
  keep_worse(&expansion, result);
  return status;
}

// ---- laws ---------------------------------------------------------------------------------------------------------------

static bool gains(srContactSolver* s, const srContactProblem* p, const double* impulse, srImpactResult* r) {
  double size;
  r->energy = work(s, p, impulse, &r->normal, &size);
  return r->energy > GAIN * size;
}

// The largest alpha whose impact is solved and gains no energy. Without restitution (alpha 0) none can.
static srStatus reduce(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                       srImpactResult* r) {
  const int rows = sr_contact_rows(p);
  double low = 0, high = 1;
  srStatus status = SR_OK;
  for (int k = 0; k < BISECTIONS; ++k) {
    const double alpha = k == 0 ? 0 : 0.5 * (low + high);
    srContactResult result;
    double* trial = s->impact.trial;
    memset(trial, 0, (size_t)rows * sizeof *trial);
    status = newton(s, p, alpha, o, trial, &result);
    if (status != SR_OK) return status;
    if (k > 0 && (!result.solved || gains(s, p, trial, r))) {
      high = alpha;
      continue;
    }
    low = alpha;
    memcpy(impulse, trial, (size_t)rows * sizeof *trial);
    r->solve = result;
  }
  r->alpha = low;
  return status;
}

srStatus sr_contact_impact(srContactSolver* s, const srContactProblem* p, srImpactLaw law, const srContactOptions* o,
                           double* impulse, srImpactResult* r) {
  *r = (srImpactResult){.alpha = 1, .collisions = 1, .ended = true};
  if (law == SR_IMPACT_STRONGE || !sr_contact_fits(s, p)) return SR_INPUT;
  const srContactProblem bare = with_cones(s, p);
  memset(s->impact.zero, 0, (size_t)sr_contact_rows(p) * sizeof(double));
  sr_contact_velocity(s, &bare, s->impact.zero, s->impact.approach);
  srStatus status =
      law == SR_IMPACT_NEWTON ? newton(s, p, 1, o, impulse, &r->solve) : poisson(s, p, o, impulse, &r->solve);
  if (status != SR_OK) return status;
  r->gained = gains(s, p, impulse, r);
  if (law == SR_IMPACT_NEWTON && (r->gained || !r->solve.solved)) {
    status = reduce(s, p, o, impulse, r);
    (void)gains(s, p, impulse, r);
  }
  for (int i = 0, k = p->nequation; i < p->ncontact; k += p->cone[i++].rows)
    s->impact.trial[i] = fmax(-s->impact.approach[k], 0);
  r->approach = s->impact.trial;
  return status;
}
