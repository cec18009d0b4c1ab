// A comparison from its list of runs to its profile, in the order of compare.h; an executor carries the runs out.
#include <ctype.h>
#include <math.h>
#include <sarrus/compare.h>
#include <stdio.h>
#include <string.h>

#define GOOD_REFERENCE 1e-8

static const double usual_rtol[] = {1e-4, 1e-6, 1e-8};

srComparison sr_comparison_defaults(void) {
  return (srComparison){.rtol = usual_rtol,
                        .nrtol = (int)(sizeof usual_rtol / sizeof usual_rtol[0]),
                        .reference_method = -1,
                        .reference_check = -1,
                        .reference_rtol = 1e-12,
                        .accept = 100,
                        .jobs = 1,
                        .timeout = 60};
}

int sr_comparison_samples(void) { return SR_COMPARE_SAMPLES; }

void sr_comparison_name(srComparison* c, int model) {
  srComparedModel* s = &c->model[model];
  snprintf(s->name, sizeof s->name - 8, "%s", s->m->name);
  for (char* p = s->name; *p; p++)
    if (!isalnum((unsigned char)*p) && !strchr("-_.+", *p)) *p = '-';
  int same = 1;
  for (int k = 0; k < model; k++) same += strcmp(c->model[k].m->name, s->m->name) == 0;
  const size_t used = strlen(s->name);
  if (same > 1) snprintf(s->name + used, sizeof s->name - used, "-%d", same);
}

static bool wants_adaptive(const srComparison* c, const srComparedRun* e) {
  return sr_comparison_is_adaptive(&c->model[e->model], e->method);
}
static bool wants_fixed(const srComparison* c, const srComparedRun* e) { return !wants_adaptive(c, e); }

static bool wants_first(const srComparison* c, const srComparedRun* e) {
  return c->reference_method >= 0 || !sri_method(e->method)->implicit;
}

// Implicit methods take long for so many digits: where the others fail, or disagree.
static bool wants_second(const srComparison* c, const srComparedRun* e) {
  const srTrajectoryError* known = &c->model[e->model].reference_error;
  return !wants_first(c, e) && !(fmax(known->q, fmax(known->v, known->y)) < GOOD_REFERENCE);
}

static srStatus run_references(srComparison* c, const srExecutor* executor, srComparedRun* list, int n) {
  static const srRunFilter rounds[] = {wants_first, wants_second};
  srStatus status = SR_OK;
  for (int k = 0; n > 0 && k < 2 && status == SR_OK; k++) {
    for (int i = 0; i < n; i++) c->planned += rounds[k](c, &list[i]);
    status = executor->run(executor->user, c, list, n, rounds[k]);
    for (int i = 0; status == SR_OK && i < c->nmodel; i++) sr_comparison_choose(c, i, list, n, k == 1);
  }
  return status;
}

srStatus sr_compare(srComparison* c, const srExecutor* executor) {
  srComparedRun* references = NULL;
  int n = 0;
  srStatus status = sr_comparison_list(c);
  if (status == SR_OK) status = sr_comparison_references(c, &references, &n);
  if (status != SR_OK) return status;
  c->planned = c->nrun;
  status = run_references(c, executor, references, n);
  sr_compared_runs_destroy(references, n);
  if (status == SR_OK) status = executor->run(executor->user, c, c->run, c->nrun, wants_adaptive);
  if (status == SR_OK) sr_comparison_derive_steps(c);
  if (status == SR_OK) status = executor->run(executor->user, c, c->run, c->nrun, wants_fixed);
  return status == SR_OK ? sr_comparison_judge(c) : status;
}
