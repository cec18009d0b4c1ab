// Contact problems of a run in files. Two choices are by rank, and known at the end alone: their texts are kept until then.
//   hardest    those that were not solved to their tolerance, then by iterations, then by residual over tolerance
//   worst      by residual
#include "problems.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HARDEST, WORST, UNSOLVED, ALL, STEP };
static const char* const words[] = {"hardest", "worst", "unsolved", "all"};
enum { WORDS = sizeof words / sizeof words[0], FEW = 10, MANY = 100000 };

struct Kept {
  double rank[3];  // larger ones first
  char name[64];
  srText text;
};

// ------------------------------------------------------------------------------------------------------------ options
static bool take_which(Problems* x) {
  char* end;
  x->choice = HARDEST;
  if (!x->which) return true;
  for (int i = 0; i < WORDS; i++)
    if (strcmp(x->which, words[i]) == 0) return x->choice = i, true;
  x->choice = STEP;
  x->step = strtol(x->which, &end, 10);
  if (*x->which && !*end && x->step >= 0 && x->step < LONG_MAX) return true;
  cli_error(x->cli, "--problems takes hardest, worst, unsolved, all, or the number of a step from 0 on, not '%s'",
            x->which);
  return false;
}

static bool take_most(Problems* x) {
  const bool ranked = x->choice <= WORST;
  x->room = ranked ? FEW : INT_MAX;
  if (isnan(x->most)) return true;
  if (!(x->most >= 1 && x->most <= (ranked ? MANY : INT_MAX) && x->most == (int)x->most))
    return (cli_error(x->cli, "--problems-most must be a whole number from 1 to %d, not %g", ranked ? MANY : INT_MAX,
                      x->most),
            false);
  x->room = (int)x->most;
  return true;
}

bool problems_begin(Problems* x, Cli* cli, const char* model) {
  x->cli = cli;
  x->model = model;
  x->last_step = -1;
  if (!x->folder && (x->which || !isnan(x->most)))
    return (cli_error(cli, "--problems and --problems-most choose what --save-problems DIR writes: give that too"),
            false);
  if (!x->folder) return true;
  if (strcmp(x->folder, "-") == 0)
    return (cli_error(cli, "--save-problems takes a folder, not '-', which is standard output"), false);
  if (!take_which(x) || !take_most(x)) return false;
  if (x->choice > WORST) return true;
  x->kept = calloc((size_t)x->room, sizeof *x->kept);
  if (!x->kept) cli_error(cli, "out of memory");
  return x->kept != NULL;
}

// ---------------------------------------------------------------------------------------------------------------- one
static void name_of(const Problems* x, const srSolvedProblem* s, char* name, size_t size) {
  snprintf(name, size, "%s-%06ld-%d.contact", s->impact ? "impact" : "step", s->step, x->part);
}

// The problem behind a few lines on where it is from.
static void text_of(const Problems* x, const srSolvedProblem* s, const char* name, srText* text) {
  const srContactResult* r = s->result;
  sr_text_print(text, "# %s, step %ld from t = %.17g s%s: %s, %d iterations, residual %.17g m/s%s\n", x->model, s->step,
                s->t, s->impact ? ", an impact" : "", r->method->name, r->iterations, r->error.residual,
                r->solved ? "" : ", NOT SOLVED");
  sr_text_print(text, "# sarrus contact %s%s%s --solver all\n", name, s->impact ? " --impact " : "",
                s->impact ? s->impact : "");
  sr_contact_problem_text(s->problem, text);
}

static void write_one(Problems* x, const char* name, srText* text) {
  char path[4096];
  srOutput* output = NULL;
  if (x->failed) return;
  x->failed = true;
  if (text->failed) {
    cli_error(x->cli, "out of memory for a contact problem");
    return;
  }
  if (snprintf(path, sizeof path, "%s/%s", x->folder, name) >= (int)sizeof path) {
    cli_error(x->cli, "--save-problems: the name of the folder is too long");
    return;
  }
  if (sr_output_create(path, x->cli->messages, &output) != SR_OK) return;
  (void)fwrite(text->data, 1, text->n, sr_output_stream(output));  // the stream keeps the error
  if (sr_output_close(output, x->cli->messages) != SR_OK) return;
  x->failed = false;
  x->written++;
}

// --------------------------------------------------------------------------------------------------------------- rank
static void rank_of(const Problems* x, const srSolvedProblem* s, double rank[3]) {
  const srContactResult* r = s->result;
  const bool hardest = x->choice == HARDEST;
  const double residual = isnan(r->error.residual) ? (double)INFINITY : r->error.residual;
  rank[0] = hardest ? !r->solved : residual;
  rank[1] = hardest ? r->iterations : 0;
  rank[2] = hardest ? residual / s->problem->tolerance : 0;
}

static int compare(const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++)
    if (a[k] != b[k]) return a[k] > b[k] ? -1 : 1;
  return 0;
}

// In order of rank; of equals the first ones stay.
static void keep(Problems* x, const srSolvedProblem* s) {
  Kept new = {0};
  rank_of(x, s, new.rank);
  int at = x->nkept;
  while (at > 0 && compare(new.rank, x->kept[at - 1].rank) < 0) at--;
  if (at == x->room) return;
  name_of(x, s, new.name, sizeof new.name);
  text_of(x, s, new.name, &new.text);
  if (x->nkept == x->room)
    sr_text_free(&x->kept[x->room - 1].text);
  else
    x->nkept++;
  memmove(x->kept + at + 1, x->kept + at, (size_t)(x->nkept - 1 - at) * sizeof *x->kept);
  x->kept[at] = new;
}

// ----------------------------------------------------------------------------------------------------------------- all
void problems_see(Problems* x, const srSolvedProblem* s) {
  const bool impact = s->impact != NULL;
  x->part = s->step == x->last_step && impact == x->last_impact ? x->part + 1 : 0;
  x->last_step = s->step;
  x->last_impact = impact;
  x->seen++;
  if (x->choice <= WORST) {
    keep(x, s);
    return;
  }
  if ((x->choice == UNSOLVED && s->result->solved) || (x->choice == STEP && s->step != x->step)) return;
  if (x->written >= x->room) return;
  char name[64];
  srText text = {0};
  name_of(x, s, name, sizeof name);
  text_of(x, s, name, &text);
  write_one(x, name, &text);
  sr_text_free(&text);
}

bool problems_end(Problems* x) {
  if (!x->folder) return true;
  for (int i = 0; i < x->nkept; i++) write_one(x, x->kept[i].name, &x->kept[i].text);
  if (x->failed) return false;
  if (x->seen == 0) {
    cli_warning(
        x->cli,
        "--save-problems: no contact problem was solved in this run; --contact timestepping and event have them");
    return true;
  }
  sr_messages_add(x->cli->messages, SR_SEVERITY_NOTE, (srPlace){0},
                  "%ld of %ld contact problems are in the folder '%s'%s%s", x->written, x->seen, x->folder,
                  x->nkept > 0 ? ", first of them " : "", x->nkept > 0 ? x->kept[0].name : "");
  return true;
}

void problems_free(Problems* x) {
  for (int i = 0; i < x->nkept; i++) sr_text_free(&x->kept[i].text);
  free(x->kept);
}
