// Which runs a comparison has: for each model and method one for each tolerance, or for each step where the step is fixed;
// and the tight ones that references are chosen from.
#include <stdlib.h>

#include "compare.h"

#define REFERENCE_ORDER 4    // methods of lower order do not get there
#define REFERENCE_ATOL 0.01  // of the relative tolerance
#define MOST_STEPS 1e7

bool is_adaptive(const Subject* s, int method) {
  return sri_method(method)->adaptive && s->options.control != SR_CONTROL_FIXED;
}

static Entry new_entry(int model, int method) {
  const double none = (double)NAN;
  return (Entry){.model = model, .method = method, .rtol = none, .atol = none, .step = none, .of_rtol = none};
}

static void set_tolerance(const Compare* c, Entry* e, int k) {
  const srRunOptions* o = &c->subject[e->model].options;
  const double part = o->control == SR_CONTROL_POSITIONS || !(o->rtol > 0) ? 1 : o->atol / o->rtol;
  e->of_rtol = e->rtol = c->rtol.x[k];
  e->atol = c->atol.n > 0 ? c->atol.x[c->atol.n > 1 ? k : 0] : part * e->rtol;
}

static bool are_steps_given(const Compare* c) { return c->step.n > 0; }

bool list_runs(Compare* c) {
  const int most = c->rtol.n > c->step.n ? c->rtol.n : c->step.n;
  c->entry = calloc((size_t)c->nsubject * (size_t)c->nmethod * (size_t)most, sizeof *c->entry);
  if (!c->entry) return cli_error(c->cli, "out of memory"), false;
  for (int i = 0; i < c->nsubject; i++) {
    for (int j = 0; j < c->nmethod; j++) {
      const bool adaptive = is_adaptive(&c->subject[i], c->method[j]);
      const int n = adaptive || !are_steps_given(c) ? c->rtol.n : c->step.n;
      for (int k = 0; k < n; k++) {
        Entry* e = &c->entry[c->nentry++];
        *e = new_entry(i, c->method[j]);
        if (adaptive)
          set_tolerance(c, e, k);
        else if (are_steps_given(c))
          e->step = c->step.x[k];
        else
          e->of_rtol = c->rtol.x[k];
      }
    }
  }
  return true;
}

// The first adaptive run of that model and tolerance that came to its end.
static const Entry* find_model_run(const Compare* c, const Entry* of) {
  for (int i = 0; i < c->nentry; i++) {
    const Entry* e = &c->entry[i];
    if (e->model == of->model && !isnan(e->rtol) && e->rtol == of->of_rtol && e->record.done) return e;
  }
  return NULL;
}

// As long as an adaptive method needed, by evaluations: a method of order p is counted with p of them in a step. Where
// there is none: the step of the model, half of it, ...
void derive_steps(Compare* c) {
  int halves = 0;
  for (int i = 0; i < c->nentry; i++) {
    Entry* e = &c->entry[i];
    const bool first = i == 0 || c->entry[i - 1].model != e->model || c->entry[i - 1].method != e->method;
    halves = first ? 0 : halves + 1;
    if (is_adaptive(&c->subject[e->model], e->method) || !isnan(e->step)) continue;
    const Subject* s = &c->subject[e->model];
    const Entry* like = find_model_run(c, e);
    const double way = s->options.t_end - s->t0;
    if (like) {
      const double steps = (double)like->record.evaluations / fmax(1, sri_method(e->method)->order);
      e->step = way / fmin(fmax(ceil(steps), 1), MOST_STEPS);
    } else {
      e->step = ldexp(s->options.step, -halves);
    }
  }
}

static void add_reference(Entry* list, int* n, int model, int method, double rtol) {
  Entry e = new_entry(model, method);
  e.reference = true;
  e.rtol = e.of_rtol = rtol;
  e.atol = REFERENCE_ATOL * rtol;
  list[(*n)++] = e;
}

// All methods of high order with step control, or the one that was asked for at two tolerances.
int list_references(const Compare* c, Entry** out) {
  int n = 0;
  if (c->reference_file) return 0;
  Entry* list = calloc((size_t)c->nsubject * (size_t)(sri_method_count() + 2), sizeof *list);
  *out = list;
  for (int i = 0; list && i < c->nsubject; i++) {
    if (c->reference_method >= 0) {
      add_reference(list, &n, i, c->reference_method, c->reference_rtol);
      add_reference(list, &n, i, c->reference_method, 10 * c->reference_rtol);
    }
    for (int k = 0; c->reference_method < 0 && k < sri_method_count(); k++) {
      const srMethod* m = sri_method(k);
      if (!m->absent && !m->switches && m->adaptive && m->order >= REFERENCE_ORDER)
        add_reference(list, &n, i, k, c->reference_rtol);
    }
  }
  return list ? n : -1;
}
