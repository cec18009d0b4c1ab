// The comparison for people, on standard output, and as CSV.
#include <stdlib.h>
#include <string.h>

#include "compare.h"

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

static bool is_inaccurate(const Compare* c, const Entry* e) { return e->record.done && is_judged(c, e) && !e->solved; }

// The first parts of the sentence, as many as one line holds; all of it stands in the CSV and the JSON.
static int short_why(const char* why) {
  enum { ROOM = 160 };
  const char* end = strstr(why, "; ");
  for (const char* next = end; next && next - why <= ROOM; next = strstr(next + 2, "; ")) end = next;
  return end ? (int)(end - why) : (int)strlen(why);
}

// Of q and v, and of y where there are states.
static void print_errors(const Subject* s, const Entry* e) {
  const srTrajectoryError *x = &e->error, *least = &s->reference_error;
  char text[16];
  printf(" %9s", error_text(x->q, least->q, text, sizeof text));
  printf(" %9s", error_text(x->v, least->v, text, sizeof text));
  if (s->m.model->ny > 0) printf(" %9s", error_text(x->y, least->y, text, sizeof text));
}

static void print_run(const Compare* c, const Entry* e) {
  const Record* r = &e->record;
  char fine[32];
  snprintf(fine, sizeof fine, isnan(e->step) ? "%.3g" : "h %.2e", isnan(e->step) ? e->rtol : e->step);
  printf("  %-16s %10s ", sri_method(e->method)->name, fine);
  if (!r->done) {
    if (!isnan(r->t)) printf("failed at t = %.6g s: %.*s\n", r->t, short_why(r->why), r->why);
    if (isnan(r->t)) printf("failed: %.*s\n", short_why(r->why), r->why);
    return;
  }
  printf("%8ld %7ld %9ld %9.3f", r->steps, r->rejected, r->evaluations, 1e3 * r->seconds);
  print_errors(&c->subject[e->model], e);
  printf(" %8.1e %8.1e %8.1e%s\n", r->violation[0], r->violation[1], r->violation[2], is_inaccurate(c, e) ? " *" : "");
}

static void print_disagreement(const Subject* s) {
  const srTrajectoryError* e = &s->reference_error;
  const struct {
    double error;
    const char* name;
  } parts[] = {{e->q, "q"}, {e->v, "v"}, {e->y, "y"}};
  const char* between = " ";
  printf("  reference %s; from %s it differs by", s->reference_of[0], s->reference_of[1]);
  for (int i = 0; i < 3; i++) {
    if (isnan(parts[i].error)) continue;
    printf("%s%.1e in %s", between, parts[i].error, parts[i].name);
    between = ", ";
  }
  putchar('\n');
}

static void print_reference(const Subject* s) {
  if (!s->reference)
    printf("  no reference, errors are not known: %s\n", s->reference_why[0] ? s->reference_why : "none was made");
  else if (isnan(s->reference_error.state))
    printf("  reference %s; its own error is not known\n", s->reference_of[0]);
  else
    print_disagreement(s);
}

static void print_model(const Compare* c, int i) {
  const Subject* s = &c->subject[i];
  printf("%s (%s), %g s, %s coordinates\n", s->name, s->m.path, s->options.t_end - s->t0,
         sr_formulation_word(s->m.model->formulation));
  print_reference(s);
  printf("  %-16s %10s %8s %7s %9s %9s %9s %9s", "method", "rtol", "steps", "reject", "evals", "ms", "error q",
         "error v");
  if (s->m.model->ny > 0) printf(" %9s", "error y");
  printf(" %8s %8s %8s\n", "g", "G v", "G a");
  for (int k = 0; k < c->nentry; k++)
    if (c->entry[k].model == i) print_run(c, &c->entry[k]);
  putchar('\n');
}

// ------------------------------------------------------------------------------------------------------------ profile
static int count_best(const Compare* c, int j) {
  int best = 0;
  for (int p = 0; p < c->nproblem; p++) best += c->ratio[p * c->nmethod + j] <= 1;
  return best;
}

static void print_method(const Compare* c, int j) {
  int failed = 0, inaccurate = 0;
  for (int i = 0; i < c->nentry; i++) {
    const Entry* e = &c->entry[i];
    if (e->method != c->method[j]) continue;
    failed += !e->record.done;
    inaccurate += is_inaccurate(c, e);
  }
  const int np = c->nproblem, ns = c->nmethod;
  printf("  %-16s %6d %9.2f %9.2f %9.2f %9.2f %9d %11d\n", sri_method(c->method[j])->name, count_best(c, j),
         sr_profile(np, ns, c->ratio, j, 1.2), sr_profile(np, ns, c->ratio, j, 2), sr_profile(np, ns, c->ratio, j, 10),
         sr_profile(np, ns, c->ratio, j, (double)INFINITY), failed, inaccurate);
}

static int best_method(const Compare* c) {
  int best = 0;
  for (int j = 1; j < c->nmethod; j++)
    if (count_best(c, j) > count_best(c, best)) best = j;
  return best;
}

// Problems that nobody solves tell of the problem, not of the methods.
static void print_unsolved(const Compare* c) {
  char text[128];
  for (int p = 0; p < c->nproblem; p++) {
    bool solved = false;
    for (int j = 0; j < c->nmethod; j++) solved = solved || isfinite(c->ratio[p * c->nmethod + j]);
    if (!solved) printf("  solved by none: %s\n", problem_name(c, p, text, sizeof text));
  }
}

static void print_failures(const Compare* c) {
  for (int i = 0; i < c->nentry; i++) {
    const Entry* e = &c->entry[i];
    if (e->record.done) continue;
    printf("  failed: %s on %s%s", sri_method(e->method)->name, c->subject[e->model].name,
           isnan(e->rtol) ? "" : " at ");
    if (!isnan(e->rtol)) printf("%g", e->rtol);
    printf(": %.*s\n", short_why(e->record.why), e->record.why);
  }
}

static void print_head(const Compare* c) {
  printf("profile over %d problems (%d models, %d tolerance%s) by %s\n", c->nproblem, c->njudged, c->rtol.n,
         c->rtol.n > 1 ? "s" : "", c->by_evaluations ? "evaluations" : "time");
  for (int i = 0; i < c->nsubject; i++)
    if (!c->subject[i].reference) printf("  left out, for want of a reference: %s\n", c->subject[i].name);
  printf("  solved: the end is reached, and the error of q and y is at most %g tolerances (or that of the reference)\n",
         c->accept);
}

static void print_profile(const Compare* c) {
  print_head(c);
  printf("  %-16s %6s %9s %9s %9s %9s %9s %11s\n", "method", "best", "rho(1.2)", "rho(2)", "rho(10)", "rho(inf)",
         "failed", "inaccurate");
  for (int j = 0; j < c->nmethod; j++) print_method(c, j);
  const int best = best_method(c);
  if (count_best(c, best) > 0)
    printf("  most often %s: %s, on %d of %d problems\n", c->by_evaluations ? "with the fewest evaluations" : "fastest",
           sri_method(c->method[best])->name, count_best(c, best), c->nproblem);
  print_unsolved(c);
  print_failures(c);
}

static bool is_any_inaccurate(const Compare* c) {
  for (int i = 0; i < c->nentry; i++)
    if (is_inaccurate(c, &c->entry[i])) return true;
  return false;
}

void print_tables(const Compare* c) {
  printf("errors: largest of %d times, relative to the largest coordinate of the same unit (docs/compare.md)\n",
         c->subject[0].samples - 1);
  printf("times: of a whole run without output, of several%s\n\n",
         c->jobs > 1 ? "; runs went on beside each other, --jobs 1 is less noisy" : "");
  for (int i = 0; i < c->nsubject; i++) print_model(c, i);
  if (is_any_inaccurate(c)) printf("  * not solved: the error of q or y is above %g tolerances\n\n", c->accept);
  if (c->nsubject < 2 || c->interrupted) return;
  if (c->njudged > 0)
    print_profile(c);
  else
    printf("no profile: none of the %d models has a reference\n", c->nsubject);
}

// ---------------------------------------------------------------------------------------------------------------- CSV
static void put_number(FILE* out, double x) {
  if (isfinite(x)) fprintf(out, "%.17g", x);
  putc(',', out);
}

static void put_text(FILE* out, const char* text) {
  putc('"', out);
  for (; *text; text++) {
    if (*text == '"') putc('"', out);
    putc(*text == '\n' ? ' ' : *text, out);
  }
  putc('"', out);
}

static void put_row(FILE* out, const Compare* c, const Entry* e) {
  const Subject* s = &c->subject[e->model];
  const Record* r = &e->record;
  const srTrajectoryError* x = &e->error;
  put_text(out, s->m.model->name);
  putc(',', out);
  put_text(out, s->m.path);
  fprintf(out, ",%s,", sri_method(e->method)->name);
  put_number(out, e->rtol);
  put_number(out, e->atol);
  put_number(out, e->step);
  fprintf(out, "%s,%s,", r->done ? "done" : "failed", r->done && !is_judged(c, e) ? "" : e->solved ? "1" : "0");
  put_number(out, r->t);
  fprintf(out, "%ld,%ld,%ld,", r->steps, r->rejected, r->evaluations);
  put_number(out, r->seconds);
  const srTrajectoryError* own = &s->reference_error;
  const double numbers[] = {x->q, x->v, x->y, x->end_q, x->end_v, own->q, own->v, own->y};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) put_number(out, numbers[i]);
  for (int i = 0; i < 3; i++) put_number(out, r->violation[i]);
  put_text(out, r->done ? "" : r->why);
  putc('\n', out);
}

bool write_csv(const Compare* c) {
  srOutput* output;
  if (sr_output_create(c->csv, c->cli->messages, &output) != SR_OK) return false;
  FILE* out = sr_output_stream(output);
  fprintf(out, "# sarrus %s; compare; accept %g; reference at %g; empty: not known or not used\n", sr_version(),
          c->accept, c->reference_rtol);
  fputs(
      "model,file,method,rtol,atol,step [s],status,solved,t [s],steps,rejected,evaluations,seconds [s],error q,error v,"
      "error y,error end q,error end v,reference error q,reference error v,reference error y,violation position,"
      "violation velocity,violation acceleration,why\n",
      out);
  for (int i = 0; i < c->nentry; i++) put_row(out, c, &c->entry[i]);
  return sr_output_close(output, c->cli->messages) == SR_OK;
}
