// Which runs a comparison has: for each model and method one per tolerance, or per step where the step is fixed;
// and the tight ones from which references are chosen.
#include <math.h>
#include <sarrus/compare.h>

#include "base/base.h"

#define REFERENCE_ORDER 4    // methods of lower order do not reach it
#define REFERENCE_ATOL 0.01  // of the relative tolerance
#define MOST_STEPS 1e7

bool sr_comparison_is_adaptive(const srComparedModel* s, int method) {
  return sri_method(method)->adaptive && s->options.control != SR_CONTROL_FIXED;
}

static srComparedRun new_entry(int model, int method) {
  const double none = (double)NAN;
  return (srComparedRun){.model = model, .method = method, .rtol = none, .atol = none, .step = none, .of_rtol = none};
}

static void set_tolerance(const srComparison* c, srComparedRun* e, int k) {
  const srRunOptions* o = &c->model[e->model].options;
  const double part = o->control == SR_CONTROL_POSITIONS || !(o->rtol > 0) ? 1 : o->atol / o->rtol;
  e->of_rtol = e->rtol = c->rtol[k];
  e->atol = c->natol > 0 ? c->atol[c->natol > 1 ? k : 0] : part * e->rtol;
}

static bool are_steps_given(const srComparison* c) { return c->nstep > 0; }

srStatus sr_comparison_list(srComparison* c) {
  const int most = c->nrtol > c->nstep ? c->nrtol : c->nstep;
  c->run = sr_alloc((size_t)c->nmodel * (size_t)c->nmethod * (size_t)most * sizeof *c->run);
  if (!c->run) return SR_MEMORY;
  for (int i = 0; i < c->nmodel; i++) {
    for (int j = 0; j < c->nmethod; j++) {
      const bool adaptive = sr_comparison_is_adaptive(&c->model[i], c->method[j]);
      const int n = adaptive || !are_steps_given(c) ? c->nrtol : c->nstep;
      for (int k = 0; k < n; k++) {
        srComparedRun* e = &c->run[c->nrun++];
        *e = new_entry(i, c->method[j]);
        if (adaptive)
          set_tolerance(c, e, k);
        else if (are_steps_given(c))
          e->step = c->step[k];
        else
          e->of_rtol = c->rtol[k];
      }
    }
  }
  return SR_OK;
}

// The first adaptive run of that model and tolerance that finished.
static const srComparedRun* find_model_run(const srComparison* c, const srComparedRun* of) {
  for (int i = 0; i < c->nrun; i++) {
    const srComparedRun* e = &c->run[i];
    if (e->model == of->model && !isnan(e->rtol) && e->rtol == of->of_rtol && e->record.done) return e;
  }
  return NULL;
}

// At the cost of an adaptive method, by evaluations: a method of order p counts with p of them per step. Where
// there is none: the step of the model, half of it, ...
void sr_comparison_derive_steps(srComparison* c) {
  int halves = 0;
  for (int i = 0; i < c->nrun; i++) {
    srComparedRun* e = &c->run[i];
    const bool first = i == 0 || c->run[i - 1].model != e->model || c->run[i - 1].method != e->method;
    halves = first ? 0 : halves + 1;
    if (sr_comparison_is_adaptive(&c->model[e->model], e->method) || !isnan(e->step)) continue;
    const srComparedModel* s = &c->model[e->model];
    const srComparedRun* like = find_model_run(c, e);
    const double way = s->options.t_end - s->t0;
    if (like) {
      const double steps = (double)like->record.evaluations / fmax(1, sri_method(e->method)->order);
      e->step = way / fmin(fmax(ceil(steps), 1), MOST_STEPS);
    } else {
      e->step = ldexp(s->options.step, -halves);
    }
  }
}

static void add_reference(srComparedRun* list, int* n, int model, int method, double rtol) {
  srComparedRun e = new_entry(model, method);
  e.reference = true;
  e.rtol = e.of_rtol = rtol;
  e.atol = REFERENCE_ATOL * rtol;
  list[(*n)++] = e;
}

srStatus sr_comparison_references(const srComparison* c, srComparedRun** out, int* count) {
  int n = 0;
  *out = NULL;
  *count = 0;
  if (c->reference_given) return SR_OK;
  srComparedRun* list = sr_alloc((size_t)c->nmodel * (size_t)(sri_method_count() + 2) * sizeof *list);
  if (!list) return SR_MEMORY;
  for (int i = 0; i < c->nmodel; i++) {
    if (c->reference_method >= 0) {
      add_reference(list, &n, i, c->reference_method, c->reference_rtol);
      if (c->reference_check >= 0) {
        add_reference(list, &n, i, c->reference_check, c->reference_rtol);
      } else {
        add_reference(list, &n, i, c->reference_method, 10 * c->reference_rtol);
      }
    }
    for (int k = 0; c->reference_method < 0 && k < sri_method_count(); k++) {
      const srMethod* m = sri_method(k);
      if (!m->absent && !m->switches && m->adaptive && m->order >= REFERENCE_ORDER)
        add_reference(list, &n, i, k, c->reference_rtol);
    }
  }
  *out = list;
  *count = n;
  return SR_OK;
}

void sr_compared_runs_destroy(srComparedRun* runs, int n) {
  for (int i = 0; i < n; i++) sr_trajectory_destroy(runs[i].samples);
  sr_free(runs);
}

void sr_comparison_clear(srComparison* c) {
  sr_compared_runs_destroy(c->run, c->nrun);
  for (int i = 0; i < c->nmodel; i++) {
    sr_trajectory_destroy(c->model[i].reference);
    c->model[i].reference = NULL;
  }
  sr_free(c->judged);
  sr_free(c->ratio);
  c->run = NULL;
  c->judged = NULL;
  c->ratio = NULL;
  c->nrun = c->njudged = c->nproblem = 0;
}
