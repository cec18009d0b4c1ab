// Compare: work, precision and violations of methods, as JSON, as tables and as CSV. Keys: docs/using/compare.md.
#include <math.h>
#include <string.h>

#include "report/report.h"

#define WORD(NAME, word) word,
static const char* const contact_words[] = {SR_CONTACT_MODE_LIST(WORD)};
#undef WORD

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_error(srJson* json, const srTrajectoryError* e) {
  sr_json_object(json, "error");
  sr_json_number(json, "q", e->q);
  sr_json_number(json, "v", e->v);
  sr_json_number(json, "y", e->y);
  sr_json_number(json, "state", e->state);
  sr_json_number(json, "end", fmax(e->end_q, e->end_v));
  sr_json_number(json, "end_q", e->end_q);
  sr_json_number(json, "end_v", e->end_v);
  sr_json_object_end(json);
}

static void put_run(srJson* json, const srComparison* c, const srComparedRun* e) {
  const srTrialRecord* r = &e->record;
  sr_json_object(json, NULL);
  sr_json_text(json, "method", sri_method(e->method)->name);
  sr_json_number(json, "rtol", e->rtol);
  sr_json_number(json, "atol", e->atol);
  sr_json_number(json, "step", e->step);
  sr_json_text(json, "status", r->done ? "done" : "failed");
  if (!r->done || sr_comparison_is_judged(c, e))
    sr_json_bool(json, "solved", e->solved);
  else
    sr_json_text(json, "solved", NULL);
  sr_json_text(json, "reason", r->done ? NULL : r->reason);
  sr_json_number(json, "t", r->t);
  sr_json_int(json, "steps", r->steps);
  sr_json_int(json, "rejected", r->rejected);
  sr_json_int(json, "evaluations", r->evaluations);
  sr_json_number(json, "seconds", r->seconds);
  sr_json_int(json, "timed", r->timed);
  sr_json_int(json, "rank_changes", r->rank_changes);
  sr_json_int(json, "redundant", r->redundant);
  put_error(json, &e->error);
  sr_put_violation(json, r->violation[0], r->violation[1], r->violation[2]);
  sr_json_object_end(json);
}

static void put_reference(srJson* json, const srComparedModel* s) {
  sr_json_object(json, "reference");
  sr_json_array(json, "methods");
  for (int i = 0; i < 2 && s->reference_of[i][0]; i++) sr_json_text(json, NULL, s->reference_of[i]);
  sr_json_array_end(json);
  sr_json_number(json, "error", fmax(s->reference_error.q, fmax(s->reference_error.v, s->reference_error.y)));
  sr_json_number(json, "error_q", s->reference_error.q);
  sr_json_number(json, "error_v", s->reference_error.v);
  sr_json_number(json, "error_y", s->reference_error.y);
  if (!s->reference) sr_json_text(json, "reason", s->reference_reason);
  sr_json_object_end(json);
}

static void put_model(srJson* json, const srComparison* c, int i) {
  const srComparedModel* s = &c->model[i];
  sr_json_object(json, NULL);
  sr_json_text(json, "name", s->m->name);
  sr_json_text(json, "file", s->file);
  sr_json_text(json, "formulation", sr_formulation_word(s->m->formulation));
  sr_json_text(json, "contact", contact_words[s->options.contact]);
  sr_json_number(json, "t_end", s->options.t_end);
  sr_json_int(json, "samples", s->samples);
  put_reference(json, s);
  sr_json_array(json, "runs");
  for (int k = 0; k < c->nrun; k++)
    if (c->run[k].model == i) put_run(json, c, &c->run[k]);
  sr_json_array_end(json);
  sr_json_object_end(json);
}

static void put_profile(srJson* json, const srComparison* c) {
  double* tau = sr_alloc(((size_t)c->nproblem * (size_t)c->nmethod + 1) * sizeof *tau);
  const int n = tau ? sr_profile_steps(c->nproblem, c->nmethod, c->ratio, tau) : 0;
  sr_json_object(json, "profile");
  sr_json_text(json, "measure", c->by_evaluations ? "evaluations" : "time");
  sr_json_int(json, "problems", c->nproblem);
  sr_json_int(json, "left_out", (long long)(c->nmodel - c->njudged) * c->nrtol);
  sr_json_number(json, "accept", c->accept);
  sr_json_numbers(json, "tau", tau, n);
  sr_json_object(json, "methods");
  for (int j = 0; j < c->nmethod; j++) {
    sr_json_array(json, sri_method(c->method[j])->name);
    for (int i = 0; i < n; i++) sr_json_number(json, NULL, sr_profile(c->nproblem, c->nmethod, c->ratio, j, tau[i]));
    sr_json_array_end(json);
  }
  sr_json_object_end(json);
  sr_json_object_end(json);
  sr_free(tau);
}

static void put_comparison(const srComparison* c, const srMessages* messages, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_int(&json, "jobs", c->jobs);
  sr_json_number(&json, "timeout", c->timeout);
  sr_json_array(&json, "models");
  for (int i = 0; i < c->nmodel; i++) put_model(&json, c, i);
  sr_json_array_end(&json);
  put_profile(&json, c);
  sr_json_warnings(&json, messages);
  sr_json_end(&json);
}

// ----------------------------------------------------------------------------------------------------------- one model
// An error below that of the reference is not known: "<" and that of the reference.
static const char* error_text(double error, double least, char* text, size_t size) {
  if (isnan(error))
    snprintf(text, size, "-");
  else if (error < least)
    snprintf(text, size, "<%.1e", least);
  else
    snprintf(text, size, "%.1e", error);
  return text;
}

static bool is_inaccurate(const srComparison* c, const srComparedRun* e) {
  return e->record.done && sr_comparison_is_judged(c, e) && !e->solved;
}

// The first parts of the sentence, as many as fit on one line; all of it is in the CSV and the JSON.
static int short_reason(const char* reason) {
  enum { ROOM = 160 };
  const char* end = strstr(reason, "; ");
  for (const char* next = end; next && next - reason <= ROOM; next = strstr(next + 2, "; ")) end = next;
  return end ? (int)(end - reason) : (int)strlen(reason);
}

// Of q and v, and of y where there are states.
static void show_errors(srText* out, const srComparedModel* s, const srComparedRun* e) {
  const srTrajectoryError *x = &e->error, *least = &s->reference_error;
  char text[16];
  sr_text_print(out, " %9s", error_text(x->q, least->q, text, sizeof text));
  sr_text_print(out, " %9s", error_text(x->v, least->v, text, sizeof text));
  if (s->m->ny > 0) sr_text_print(out, " %9s", error_text(x->y, least->y, text, sizeof text));
}

static void show_run(srText* out, const srComparison* c, const srComparedRun* e) {
  const srTrialRecord* r = &e->record;
  char fine[32];
  snprintf(fine, sizeof fine, isnan(e->step) ? "%.3g" : "h %.2e", isnan(e->step) ? e->rtol : e->step);
  sr_text_print(out, "  %-16s %10s ", sri_method(e->method)->name, fine);
  if (!r->done) {
    if (!isnan(r->t)) sr_text_print(out, "failed at t = %.6g s: %.*s\n", r->t, short_reason(r->reason), r->reason);
    if (isnan(r->t)) sr_text_print(out, "failed: %.*s\n", short_reason(r->reason), r->reason);
    return;
  }
  sr_text_print(out, "%8ld %7ld %9ld %9.3f", r->steps, r->rejected, r->evaluations, 1e3 * r->seconds);
  show_errors(out, &c->model[e->model], e);
  sr_text_print(out, " %8.1e %8.1e %8.1e%s\n", r->violation[0], r->violation[1], r->violation[2],
                is_inaccurate(c, e) ? " *" : "");
}

static void show_disagreement(srText* out, const srComparedModel* s) {
  const srTrajectoryError* e = &s->reference_error;
  const struct {
    double error;
    const char* name;
  } parts[] = {{e->q, "q"}, {e->v, "v"}, {e->y, "y"}};
  const char* between = " ";
  sr_text_print(out, "  reference %s; from %s it differs by", s->reference_of[0], s->reference_of[1]);
  for (int i = 0; i < 3; i++) {
    if (isnan(parts[i].error)) continue;
    sr_text_print(out, "%s%.1e in %s", between, parts[i].error, parts[i].name);
    between = ", ";
  }
  sr_text_add(out, "\n", 1);
}

static void show_reference(srText* out, const srComparedModel* s) {
  if (!s->reference)
    sr_text_print(out, "  no reference, errors are not known: %s\n",
                  s->reference_reason[0] ? s->reference_reason : "none was made");
  else if (isnan(s->reference_error.state))
    sr_text_print(out, "  reference %s; its own error is not known\n", s->reference_of[0]);
  else
    show_disagreement(out, s);
}

static void show_model(srText* out, const srComparison* c, int i) {
  const srComparedModel* s = &c->model[i];
  sr_text_print(out, "%s (%s), %g s, %s coordinates", s->name, s->file, s->options.t_end - s->t0,
                sr_formulation_word(s->m->formulation));
  if (s->options.contact != SR_CONTACT_CONTINUOUS)
    sr_text_print(out, ", contact %s", contact_words[s->options.contact]);
  sr_text_add(out, "\n", 1);
  show_reference(out, s);
  sr_text_print(out, "  %-16s %10s %8s %7s %9s %9s %9s %9s", "method", "rtol", "steps", "reject", "evals", "ms",
                "error q", "error v");
  if (s->m->ny > 0) sr_text_print(out, " %9s", "error y");
  sr_text_print(out, " %8s %8s %8s\n", "g", "G v", "G a");
  for (int k = 0; k < c->nrun; k++)
    if (c->run[k].model == i) show_run(out, c, &c->run[k]);
  sr_text_add(out, "\n", 1);
}

// ------------------------------------------------------------------------------------------------------------ profile
static int count_best(const srComparison* c, int j) {
  int best = 0;
  for (int p = 0; p < c->nproblem; p++) best += c->ratio[p * c->nmethod + j] <= 1;
  return best;
}

static void show_method(srText* out, const srComparison* c, int j) {
  int failed = 0, inaccurate = 0;
  for (int i = 0; i < c->nrun; i++) {
    const srComparedRun* e = &c->run[i];
    if (e->method != c->method[j]) continue;
    failed += !e->record.done;
    inaccurate += is_inaccurate(c, e);
  }
  const int np = c->nproblem, ns = c->nmethod;
  sr_text_print(out, "  %-16s %6d %9.2f %9.2f %9.2f %9.2f %9d %11d\n", sri_method(c->method[j])->name, count_best(c, j),
                sr_profile(np, ns, c->ratio, j, 1.2), sr_profile(np, ns, c->ratio, j, 2),
                sr_profile(np, ns, c->ratio, j, 10), sr_profile(np, ns, c->ratio, j, (double)INFINITY), failed,
                inaccurate);
}

static int best_method(const srComparison* c) {
  int best = 0;
  for (int j = 1; j < c->nmethod; j++)
    if (count_best(c, j) > count_best(c, best)) best = j;
  return best;
}

// A model, at a tolerance where there are several.
static void show_problem(srText* out, const srComparison* c, int p) {
  sr_text_print(out, "  solved by none: %s", c->model[c->judged[p / c->nrtol]].name);
  if (c->nrtol > 1) sr_text_print(out, " at %g", c->rtol[p % c->nrtol]);
  sr_text_add(out, "\n", 1);
}

// Problems that no method solves characterize the problem, not the methods.
static void show_unsolved(srText* out, const srComparison* c) {
  for (int p = 0; p < c->nproblem; p++) {
    bool solved = false;
    for (int j = 0; j < c->nmethod; j++) solved = solved || isfinite(c->ratio[p * c->nmethod + j]);
    if (!solved) show_problem(out, c, p);
  }
}

static void show_failures(srText* out, const srComparison* c) {
  for (int i = 0; i < c->nrun; i++) {
    const srComparedRun* e = &c->run[i];
    if (e->record.done) continue;
    sr_text_print(out, "  failed: %s on %s%s", sri_method(e->method)->name, c->model[e->model].name,
                  isnan(e->rtol) ? "" : " at ");
    if (!isnan(e->rtol)) sr_text_print(out, "%g", e->rtol);
    sr_text_print(out, ": %.*s\n", short_reason(e->record.reason), e->record.reason);
  }
}

static void show_head(srText* out, const srComparison* c) {
  sr_text_print(out, "profile over %d problems (%d models, %d tolerance%s) by %s\n", c->nproblem, c->njudged, c->nrtol,
                c->nrtol > 1 ? "s" : "", c->by_evaluations ? "evaluations" : "time");
  for (int i = 0; i < c->nmodel; i++)
    if (!c->model[i].reference) sr_text_print(out, "  left out, for want of a reference: %s\n", c->model[i].name);
  sr_text_print(
      out,
      "  solved: the end is reached, and the error of q and y is at most %g tolerances (or that of the reference)\n",
      c->accept);
}

static void show_profile(srText* out, const srComparison* c) {
  show_head(out, c);
  sr_text_print(out, "  %-16s %6s %9s %9s %9s %9s %9s %11s\n", "method", "best", "rho(1.2)", "rho(2)", "rho(10)",
                "rho(inf)", "failed", "inaccurate");
  for (int j = 0; j < c->nmethod; j++) show_method(out, c, j);
  const int best = best_method(c);
  if (count_best(c, best) > 0)
    sr_text_print(out, "  most often %s: %s, on %d of %d problems\n",
                  c->by_evaluations ? "with the fewest evaluations" : "fastest", sri_method(c->method[best])->name,
                  count_best(c, best), c->nproblem);
  show_unsolved(out, c);
  show_failures(out, c);
}

static bool is_any_inaccurate(const srComparison* c) {
  for (int i = 0; i < c->nrun; i++)
    if (is_inaccurate(c, &c->run[i])) return true;
  return false;
}

static void show_comparison(srText* out, const srComparison* c) {
  sr_text_print(
      out, "errors: largest of %d times, relative to the largest coordinate of the same unit (docs/using/compare.md)\n",
      c->model[0].samples - 1);
  sr_text_print(out, "times: of a whole run without output, of several%s\n\n",
                c->jobs > 1 ? "; runs went on in parallel, --jobs 1 is less noisy" : "");
  for (int i = 0; i < c->nmodel; i++) show_model(out, c, i);
  if (is_any_inaccurate(c))
    sr_text_print(out, "  * not solved: the error of q or y is above %g tolerances\n\n", c->accept);
  if (c->nmodel < 2 || c->interrupted) return;
  if (c->njudged > 0)
    show_profile(out, c);
  else
    sr_text_print(out, "no profile: none of the %d models has a reference\n", c->nmodel);
}

void sr_report_comparison(const srComparison* c, const srMessages* messages, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_comparison(c, messages, out);
  else
    show_comparison(out, c);
}

// ---------------------------------------------------------------------------------------------------------------- CSV
static void put_cell(srText* out, double x) {
  char number[32];
  if (isfinite(x)) sr_text_add(out, number, sr_number_print(x, 17, number, sizeof number));
  sr_text_add(out, ",", 1);
}

static void put_quoted(srText* out, const char* text) {
  sr_text_add(out, "\"", 1);
  for (; *text; text++) {
    if (*text == '"') sr_text_add(out, "\"", 1);
    sr_text_add(out, *text == '\n' ? " " : text, 1);
  }
  sr_text_add(out, "\"", 1);
}

static void put_row(srText* out, const srComparison* c, const srComparedRun* e) {
  const srComparedModel* s = &c->model[e->model];
  const srTrialRecord* r = &e->record;
  const srTrajectoryError* x = &e->error;
  put_quoted(out, s->m->name);
  sr_text_add(out, ",", 1);
  put_quoted(out, s->file);
  sr_text_print(out, ",%s,", sri_method(e->method)->name);
  put_cell(out, e->rtol);
  put_cell(out, e->atol);
  put_cell(out, e->step);
  sr_text_print(out, "%s,%s,", r->done ? "done" : "failed",
                r->done && !sr_comparison_is_judged(c, e) ? ""
                : e->solved                               ? "1"
                                                          : "0");
  put_cell(out, r->t);
  sr_text_print(out, "%ld,%ld,%ld,", r->steps, r->rejected, r->evaluations);
  put_cell(out, r->seconds);
  const srTrajectoryError* own = &s->reference_error;
  const double numbers[] = {x->q, x->v, x->y, x->end_q, x->end_v, own->q, own->v, own->y};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) put_cell(out, numbers[i]);
  for (int i = 0; i < 3; i++) put_cell(out, r->violation[i]);
  sr_text_print(out, "%ld,%d,", r->rank_changes, r->redundant);
  put_quoted(out, r->done ? "" : r->reason);
  sr_text_add(out, "\n", 1);
}

void sr_report_comparison_csv(const srComparison* c, srText* out) {
  sr_text_print(out, "# sarrus %s; compare; accept %g; reference at %g; empty: not known or not used\n", sr_version(),
                c->accept, c->reference_rtol);
  sr_text_print(
      out,
      "model,file,method,rtol,atol,step [s],status,solved,t [s],steps,rejected,evaluations,seconds [s],error q,error v,"
      "error y,error end q,error end v,reference error q,reference error v,reference error y,violation position,"
      "violation velocity,violation acceleration,rank changes,redundant,reason\n");
  for (int i = 0; i < c->nrun; i++) put_row(out, c, &c->run[i]);
}
