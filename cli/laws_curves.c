// The curves of sarrus laws: one impact for each normal law; steady sliding and slow reversal for each friction law.
#include <stdlib.h>

#include "laws.h"

// ------------------------------------------------------------------------------------------------------------- impacts
typedef struct Path {
  srImpactPoint* point;
  int n, room;
} Path;

static void keep(void* user, const srImpactPoint* point) {
  Path* path = user;
  if (path->n == path->room) {
    const int room = 2 * path->room + 512;
    srImpactPoint* more = realloc(path->point, (size_t)room * sizeof *more);
    if (!more) return;  // a coarser curve, and its end all the same
    path->point = more;
    path->room = room;
  }
  path->point[path->n++] = *point;
}

// State at time t between two steps: cubic in d (d and ddot at both ends), straight in ddot.
static srImpactPoint between(const srImpactPoint* a, const srImpactPoint* b, double t) {
  const double h = b->t - a->t, s = h > 0 ? (t - a->t) / h : 0, r = 1 - s;
  srImpactPoint out = {.t = t, .ddot = r * a->ddot + s * b->ddot};
  out.d = r * r * (1 + 2 * s) * a->d + s * s * (1 + 2 * r) * b->d + h * s * r * (r * a->ddot - s * b->ddot);
  return out;
}

static void resample(const Laws* l, const srNormalParameters* p, const Path* path, NormalCurve* c) {
  int k = 0;
  for (int i = 0; i < LAW_POINTS; i++) {
    const double t = c->impact.duration * i / (LAW_POINTS - 1);
    while (k + 2 < path->n && path->point[k + 1].t < t) k++;
    const srImpactPoint at = between(&path->point[k], &path->point[k + 1], t);
    srNormalOut out = {0};
    c->law->evaluate(&(srNormalIn){at.d, at.ddot, l->speed, p}, &out);
    c->d[i] = fmax(at.d, 0);
    c->f[i] = out.f;
  }
  c->f[0] = path->point[0].f;  // laws that jump at first contact have jumped
}

static void ask(const Laws* l, NormalCurve* c) {
  for (int i = 0; i < l->asked.n; i++) {
    srNormalParameters p = l->normal;
    srImpact impact;
    char reason[200];
    p.e = l->asked.x[i];
    c->given[i] = NOT_GIVEN;
    if (sr_normal_refusal(c->law, &p, reason, sizeof reason)) continue;
    sr_normal_prepare(c->law, &p);
    if (sr_impact(c->law, &p, l->mass, l->speed, NULL, NULL, &impact) == SR_OK) c->given[i] = impact.restitution;
  }
}

bool laws_normal_curve(Laws* l, NormalCurve* c) {
  srNormalParameters p = l->normal;
  Path path = {0};
  char reason[200];
  if (sr_normal_refusal(c->law, &p, reason, sizeof reason)) return cli_error(l->cli, "%s", reason), false;
  sr_normal_prepare(c->law, &p);
  const srStatus status = sr_impact(c->law, &p, l->mass, l->speed, keep, &path, &c->impact);
  const bool good = status == SR_OK && path.n > 1;
  if (good)
    resample(l, &p, &path, c);
  else
    cli_error(l->cli, "%s: the impact could not be computed", c->law->name);
  free(path.point);
  if (good) ask(l, c);
  return good;
}

// ------------------------------------------------------------------------------------------------------------ friction
typedef struct Bristles {
  double e[SR_FRICTION_MAX_ELEMENTS], edot[SR_FRICTION_MAX_ELEMENTS], f;
  int n;
} Bristles;

static void evaluate(const Laws* l, const srFrictionLaw* law, double v, Bristles* b) {
  const srFrictionIn in = {.n = 1,
                           .v = &v,
                           .e = b->e,
                           .tau = l->tau,
                           .Fs = l->limits.x[0],
                           .Fk = l->limits.x[1],
                           .D = l->friction.D,
                           .p = &l->friction};
  srFrictionOut out = {.f = &b->f, .edot = b->edot};
  law->evaluate(&in, &out);
}

// The force of steady sliding: each bristle at the length where it rests, by bisection (its rate falls with its length).
static double steady(const Laws* l, const srFrictionLaw* law, double v) {
  Bristles b = {.n = sr_friction_states(law, &l->friction, 1)};
  const double longest = 4 * (l->limits.x[0] + l->friction.D * fabs(v)) / l->friction.K;
  for (int i = 0; i < b.n && v != 0; i++) {
    double low = 0, high = longest;
    for (int k = 0; k < 80; k++) {
      const double length = 0.5 * (low + high);
      b.e[i] = copysign(length, v);
      evaluate(l, law, v, &b);
      if (b.edot[i] * v > 0)
        low = length;
      else
        high = length;
    }
  }
  evaluate(l, law, v, &b);
  return b.f;
}

// v = v_max sin(2 pi t/period): the second cycle, by steps of the midpoint rule that the fastest bristle (Z/K >= tau) bears.
static void cycle(const Laws* l, FrictionCurve* c) {
  const double pi = 3.14159265358979323846, w = 2 * pi / l->period;
  const int inner = (int)ceil(l->period / (0.5 * l->tau) / (CYCLE_POINTS - 1)), steps = inner * (CYCLE_POINTS - 1);
  const double h = l->period / steps;
  Bristles b = {.n = sr_friction_states(c->law, &l->friction, 1)}, half;
  for (int i = 0; i <= 2 * steps; i++) {
    const double v = l->v_max * sin(w * h * i);
    evaluate(l, c->law, v, &b);
    if (i >= steps && i % inner == 0) {
      const int k = (i - steps) / inner;
      c->cycle_v[k] = v;
      c->cycle_x[k] = -l->v_max / w * cos(w * h * i);
      c->cycle_f[k] = b.f;
    }
    half = b;
    for (int k = 0; k < b.n; k++) half.e[k] += 0.5 * h * b.edot[k];
    evaluate(l, c->law, l->v_max * sin(w * h * (i + 0.5)), &half);
    for (int k = 0; k < b.n; k++) b.e[k] += h * half.edot[k];
  }
}

bool laws_friction_curve(Laws* l, FrictionCurve* c) {
  char reason[200];
  if (sr_friction_refusal(c->law, &l->friction, l->tau, l->limits.x[0], l->limits.x[1], reason, sizeof reason))
    return cli_error(l->cli, "%s", reason), false;
  const int middle = LAW_POINTS / 2;
  for (int i = 0; i < LAW_POINTS; i++) {
    c->v[i] = l->v_max * (i - middle) / middle;
    c->f[i] = steady(l, c->law, c->v[i]);
  }
  cycle(l, c);
  return true;
}
