// References and what follows from them: errors, which runs count as solved, the performance profile.
//   reference   of all tight runs, the two methods of different kind and other coefficients that agree best: one of them, and
//               how far the other is
//   solved      done, and error of q and y <= max(accept * rtol, error of the reference); without a reference nobody knows,
//               and the model is no problem of the profile
#include <stdlib.h>
#include <string.h>

#include "compare.h"

// --------------------------------------------------------------------------------------------------------- references
// Methods of one kind may share formulas: that they agree proves little.
static int kind_of(int method) {
  const srMethod* m = sri_method(method);
  return 4 * m->implicit + (m->index > 1 ? m->index : 1);
}

static bool are_kin(int a, int b) {
  const char *x = sri_method(a)->kin, *y = sri_method(b)->kin;
  return a == b || (x && y && strcmp(x, y) == 0);
}

static bool are_independent(const Entry* a, const Entry* b) {
  return kind_of(a->method) != kind_of(b->method) && !are_kin(a->method, b->method);
}

static const srModel* joints_of(const Subject* s) { return s->m.relative ? s->m.relative : s->m.model; }

static double largest_of(srTrajectoryError e) { return fmax(e.q, fmax(e.v, e.y)); }

static srTrajectoryError not_known(void) {
  const double x = (double)NAN;
  return (srTrajectoryError){x, x, x, x, x, x, x};
}

static void name_reference(Subject* s, const Entry* a, const Entry* b) {
  snprintf(s->reference_of[0], sizeof s->reference_of[0], "%s at %g", sri_method(a->method)->name, a->rtol);
  if (b) snprintf(s->reference_of[1], sizeof s->reference_of[1], "%s at %g", sri_method(b->method)->name, b->rtol);
}

static void take_reference(Subject* s, Entry* a) {
  s->reference = a->samples;
  a->samples = NULL;
}

void choose_reference(Compare* c, int subject, Entry* candidates, int n, bool last) {
  Subject* s = &c->subject[subject];
  Entry *first = NULL, *one = NULL, *other = NULL;
  s->reference_error = not_known();
  for (int i = 0; i < n; i++) {
    Entry* a = &candidates[i];
    if (a->model != subject) continue;
    if (!a->record.done && !first && a->record.why[0])
      snprintf(s->reference_why, sizeof s->reference_why, "%s: %.600s", sri_method(a->method)->name, a->record.why);
    if (!a->record.done) continue;
    if (!first) first = a;
    for (int k = i + 1; k < n; k++) {
      Entry* b = &candidates[k];
      if (b->model != subject || !b->record.done || (c->reference_method < 0 && !are_independent(a, b))) continue;
      const srTrajectoryError apart = sr_trajectory_error(joints_of(s), a->samples, b->samples);
      if (isnan(apart.state) || (other && largest_of(apart) >= largest_of(s->reference_error))) continue;
      s->reference_error = apart;
      one = a, other = b;
    }
  }
  if (!first || !last) return;
  s->reference_why[0] = 0;
  name_reference(s, other ? one : first, other);
  take_reference(s, other ? one : first);
}

// ---------------------------------------------------------------------------------------------------- reference files
// Its columns, by name: t, q, v, y as `sarrus run --out` writes them. NULL: one is missing.
static const double* find_column(const srResultTable* table, const char* name) {
  for (int i = 0; i < table->ncolumn; i++)
    if (strcmp(table->names[i], name) == 0) return table->columns[i];
  return NULL;
}

static bool take_columns(Compare* c, const srModel* m, const srResultTable* table, srTrajectory* out) {
  srColumns* columns = sr_columns_create(m);
  const int width = sr_trajectory_width(out);
  bool good = columns != NULL;
  for (int i = 0; good && i < width; i++) {
    const double* x = find_column(table, columns->names[i]);
    good = x != NULL;
    if (!good) cli_error(c->cli, "%s has no column '%s' of model '%s'", c->reference, columns->names[i], m->name);
    for (int k = 0; good && k < out->n; k++) out->sample[(size_t)k * (size_t)width + (size_t)i] = x[k];
  }
  if (columns) sr_columns_destroy(columns);
  return good;
}

// Its rows become the times of comparison: they must be equidistant and begin and end with the run.
static bool fits_run(Compare* c, const Subject* s, const srTrajectory* x) {
  const double step = (s->options.t_end - s->t0) / (x->n - 1);
  const int width = sr_trajectory_width(x);
  const double first = x->sample[0], last = x->sample[(size_t)(x->n - 1) * (size_t)width];
  if (fabs(first - s->t0) > 1e-6 * step || fabs(last - s->options.t_end) > 1e-6 * step) {
    cli_error(c->cli, "%s is of %.9g to %.9g s, the run of %.9g to %.9g s: give --t-end, or another reference",
              c->reference, first, last, s->t0, s->options.t_end);
    return false;
  }
  for (int k = 0; k < x->n; k++) {
    const double t = x->sample[(size_t)k * (size_t)width], wanted = s->t0 + k * step;
    if (fabs(t - wanted) <= 1e-6 * step) continue;
    cli_error(
        c->cli,
        "%s: row %d is at t = %.9g s, not at %.9g s: a reference has equidistant rows from the start to the end of "
        "the run",
        c->reference, k + 1, t, wanted);
    return false;
  }
  return true;
}

bool read_reference(Compare* c, Subject* s) {
  srResultTable* table = NULL;
  if (sr_table_read(c->reference, c->cli->messages, &table) != SR_OK) return false;
  bool good = table->nrow >= 2;
  if (!good) cli_error(c->cli, "%s has fewer than two rows", c->reference);
  if (good) s->reference = sr_trajectory_create(s->m.model, table->nrow);
  good = good && s->reference && take_columns(c, s->m.model, table, s->reference) && fits_run(c, s, s->reference);
  if (good) {
    s->samples = s->reference->filled = table->nrow;
    snprintf(s->reference_of[0], sizeof s->reference_of[0], "%.95s", c->reference);
  }
  s->reference_error = not_known();
  sr_table_destroy(table);
  return good;
}

// ------------------------------------------------------------------------------------------------------------- errors
bool is_judged(const Compare* c, const Entry* e) { return c->subject[e->model].reference != NULL; }

static bool is_accurate(const Compare* c, const Entry* e, double rtol) {
  const Subject* s = &c->subject[e->model];
  const double least = isnan(s->reference_error.state) ? 0 : s->reference_error.state;
  return e->record.done && is_judged(c, e) && e->error.state <= fmax(c->accept * rtol, least);
}

void judge(Compare* c) {
  for (int i = 0; i < c->nentry; i++) {
    Entry* e = &c->entry[i];
    const Subject* s = &c->subject[e->model];
    e->error = not_known();
    if (e->record.done && s->reference) e->error = sr_trajectory_error(joints_of(s), s->reference, e->samples);
    e->solved = isnan(e->of_rtol) ? e->record.done && is_judged(c, e) : is_accurate(c, e, e->of_rtol);
  }
}

// ------------------------------------------------------------------------------------------------------------ profile
// A problem is a model and a tolerance. A method of fixed step solves it with the cheapest of its steps that is accurate.
static double best_cost(const Compare* c, bool by_evaluations, int model, int method, double rtol) {
  double best = (double)INFINITY;
  for (int i = 0; i < c->nentry; i++) {
    const Entry* e = &c->entry[i];
    if (e->model != model || e->method != method || (!isnan(e->rtol) && e->rtol != rtol)) continue;
    if (is_accurate(c, e, rtol)) best = fmin(best, by_evaluations ? (double)e->record.evaluations : e->record.seconds);
  }
  return best;
}

bool profile_ratios(const Compare* c, bool by_evaluations, double* ratio) {
  const int np = c->nproblem, ns = c->nmethod, nt = c->rtol.n;
  double* cost = calloc((size_t)np * (size_t)ns + 1, sizeof *cost);
  if (!cost) return cli_error(c->cli, "out of memory"), false;
  for (int p = 0; p < np; p++)
    for (int j = 0; j < ns; j++)
      cost[p * ns + j] = best_cost(c, by_evaluations, c->judged[p / nt], c->method[j], c->rtol.x[p % nt]);
  sr_profile_ratios(np, ns, cost, ratio);
  free(cost);
  return true;
}

bool make_profile(Compare* c) {
  c->judged = calloc((size_t)c->nsubject, sizeof *c->judged);
  if (!c->judged) return cli_error(c->cli, "out of memory"), false;
  for (int i = 0; i < c->nsubject; i++)
    if (c->subject[i].reference) c->judged[c->njudged++] = i;
  c->nproblem = c->njudged * c->rtol.n;
  c->ratio = calloc((size_t)c->nproblem * (size_t)c->nmethod + 1, sizeof *c->ratio);
  if (!c->ratio) return cli_error(c->cli, "out of memory"), false;
  return profile_ratios(c, c->by_evaluations, c->ratio);
}

const char* problem_name(const Compare* c, int p, char* text, size_t size) {
  const char* name = c->subject[c->judged[p / c->rtol.n]].name;
  if (c->rtol.n > 1)
    snprintf(text, size, "%s at %g", name, c->rtol.x[p % c->rtol.n]);
  else
    snprintf(text, size, "%s", name);
  return text;
}
