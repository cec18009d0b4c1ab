// References and what follows from them: errors, solved runs, the performance profile.
//   reference   of all tight runs, the two methods of different family and coefficients that agree best: one of them, and
//               its distance from the other
//   solved      done, and error of q and y <= max(accept * rtol, error of the reference); without a reference it is unknown,
//               and the model is no problem of the profile
#include <math.h>
#include <sarrus/compare.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

// --------------------------------------------------------------------------------------------------------- references
// Methods of one family may share formulas: their agreement is weak evidence.
static int kind_of(int method) {
  const srMethod* m = sri_method(method);
  return 4 * m->implicit + (m->index > 1 ? m->index : 1);
}

static bool are_kin(int a, int b) {
  const char *x = sri_method(a)->family, *y = sri_method(b)->family;
  return a == b || (x && y && strcmp(x, y) == 0);
}

static bool are_independent(const srComparedRun* a, const srComparedRun* b) {
  return kind_of(a->method) != kind_of(b->method) && !are_kin(a->method, b->method);
}

static double largest_of(srTrajectoryError e) { return fmax(e.q, fmax(e.v, e.y)); }

static srTrajectoryError not_known(void) {
  const double x = (double)NAN;
  return (srTrajectoryError){x, x, x, x, x, x, x};
}

static void name_reference(srComparedModel* s, const srComparedRun* a, const srComparedRun* b) {
  snprintf(s->reference_of[0], sizeof s->reference_of[0], "%s at %g", sri_method(a->method)->name, a->rtol);
  if (b) snprintf(s->reference_of[1], sizeof s->reference_of[1], "%s at %g", sri_method(b->method)->name, b->rtol);
}

static void take_reference(srComparedModel* s, srComparedRun* a) {
  s->reference = a->samples;
  a->samples = NULL;
}

void sr_comparison_choose(srComparison* c, int model, srComparedRun* candidates, int n, bool last) {
  srComparedModel* s = &c->model[model];
  srComparedRun *first = NULL, *one = NULL, *other = NULL;
  s->reference_error = not_known();
  for (int i = 0; i < n; i++) {
    srComparedRun* a = &candidates[i];
    if (a->model != model) continue;
    if (!a->record.done && !first && a->record.reason[0])
      snprintf(s->reference_reason, sizeof s->reference_reason, "%s: %.600s", sri_method(a->method)->name,
               a->record.reason);
    if (!a->record.done) continue;
    if (!first) first = a;
    for (int k = i + 1; k < n; k++) {
      srComparedRun* b = &candidates[k];
      if (b->model != model || !b->record.done || (c->reference_method < 0 && !are_independent(a, b))) continue;
      const srTrajectoryError apart = sr_trajectory_error(s->joints, a->samples, b->samples);
      if (isnan(apart.state) || (other && largest_of(apart) >= largest_of(s->reference_error))) continue;
      s->reference_error = apart;
      one = a, other = b;
    }
  }
  if (!first || !last) return;
  s->reference_reason[0] = 0;
  name_reference(s, other ? one : first, other);
  take_reference(s, other ? one : first);
}

// ------------------------------------------------------------------------------------------------------------- errors
bool sr_comparison_is_judged(const srComparison* c, const srComparedRun* e) {
  return c->model[e->model].reference != NULL;
}

static bool is_accurate(const srComparison* c, const srComparedRun* e, double rtol) {
  const srComparedModel* s = &c->model[e->model];
  const double least = isnan(s->reference_error.state) ? 0 : s->reference_error.state;
  return e->record.done && sr_comparison_is_judged(c, e) && e->error.state <= fmax(c->accept * rtol, least);
}

static void judge_runs(srComparison* c) {
  for (int i = 0; i < c->nrun; i++) {
    srComparedRun* e = &c->run[i];
    const srComparedModel* s = &c->model[e->model];
    e->error = not_known();
    if (e->record.done && s->reference) e->error = sr_trajectory_error(s->joints, s->reference, e->samples);
    e->solved = isnan(e->of_rtol) ? e->record.done && sr_comparison_is_judged(c, e) : is_accurate(c, e, e->of_rtol);
  }
}

// ------------------------------------------------------------------------------------------------------------ profile
// A problem is a model and a tolerance. A fixed-step method solves it with the cheapest of its steps that is accurate.
static double best_cost(const srComparison* c, bool by_evaluations, int model, int method, double rtol) {
  double best = (double)INFINITY;
  for (int i = 0; i < c->nrun; i++) {
    const srComparedRun* e = &c->run[i];
    if (e->model != model || e->method != method || (!isnan(e->rtol) && e->rtol != rtol)) continue;
    if (is_accurate(c, e, rtol)) best = fmin(best, by_evaluations ? (double)e->record.evaluations : e->record.seconds);
  }
  return best;
}

srStatus sr_comparison_ratios(const srComparison* c, bool by_evaluations, double* ratio) {
  const int np = c->nproblem, ns = c->nmethod, nt = c->nrtol;
  double* cost = sr_alloc(((size_t)np * (size_t)ns + 1) * sizeof *cost);
  if (!cost) return SR_MEMORY;
  for (int p = 0; p < np; p++)
    for (int j = 0; j < ns; j++)
      cost[p * ns + j] = best_cost(c, by_evaluations, c->judged[p / nt], c->method[j], c->rtol[p % nt]);
  sr_profile_ratios(np, ns, cost, ratio);
  sr_free(cost);
  return SR_OK;
}

srStatus sr_comparison_judge(srComparison* c) {
  judge_runs(c);
  c->judged = sr_alloc(((size_t)c->nmodel + 1) * sizeof *c->judged);
  if (!c->judged) return SR_MEMORY;
  for (int i = 0; i < c->nmodel; i++)
    if (c->model[i].reference) c->judged[c->njudged++] = i;
  c->nproblem = c->njudged * c->nrtol;
  c->ratio = sr_alloc(((size_t)c->nproblem * (size_t)c->nmethod + 1) * sizeof *c->ratio);
  return c->ratio ? sr_comparison_ratios(c, c->by_evaluations, c->ratio) : SR_MEMORY;
}
