// sarrus recommend: the trials of sr_method_trials_create, each in a process of its own as `compare` does, and their report.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

#define SECONDS 10.0

typedef struct Recommend {
  Cli* cli;
  Model m;
  srComparedModel subject;
  double seconds, t_end, rtol, atol;
  srMethodTrials* trials;
} Recommend;

// ----------------------------------------------------------------------------------------------------------- the verb
static bool take(Cli* cli, const char* option, double given, double* target) {
  if (isnan(given)) return true;
  *target = given;
  if (given > 0) return true;
  cli_error(cli, "%s must be greater than zero, not %g", option, given);
  return false;
}

static bool settle(Recommend* r) {
  srComparedModel* s = &r->subject;
  srRunOptions* o = &s->options;
  *o = sr_run_options(s->m);
  o->control = SR_CONTROL_DEFAULT;
  const double ratio = o->rtol > 0 ? o->atol / o->rtol : 1e-3;
  bool good = take(r->cli, "--t-end", r->t_end, &o->t_end);
  good = take(r->cli, "--rtol", r->rtol, &o->rtol) && good;
  if (!isnan(r->rtol)) o->atol = ratio * o->rtol;
  good = take(r->cli, "--atol", r->atol, &o->atol) && good;
  good = take(r->cli, "--seconds", r->seconds, &r->seconds) && good;
  if (good && !(o->rtol > 0)) good = (cli_error(r->cli, "the model has rtol 0: give --rtol"), false);
  if (!good || o->t_end > s->t0) return good;
  cli_error(r->cli, "the end of the run, %g s, is not after its start at %g s", o->t_end, s->t0);
  return false;
}

static int open_model(Recommend* r) {
  srAssemblyChange* change = NULL;
  Model* m = &r->m;
  int status = model_open(r->cli, m);
  if (status == EXIT_DONE) status = model_assemble(r->cli, m, &change);
  sr_assembly_change_destroy(change);
  if (status == EXIT_DONE) status = model_formulate(r->cli, m);
  if (status != EXIT_DONE) return status;
  r->subject = compared_model(m);
  return settle(r) ? EXIT_DONE : cli_refuse(r->cli, EXIT_INPUT);
}

static int print_advice(const Recommend* r) {
  const srMethodTrials* t = r->trials;
  const srRecommendation x = {.trials = &t->runs,
                              .survey = t->survey,
                              .trial = t->trial,
                              .advice = &t->advice,
                              .settings = r->m.settings.item,
                              .nsetting = r->m.settings.n,
                              .formulation = model_is_relative(&r->m) ? NULL : r->m.formulation,
                              .t_end = r->t_end,
                              .seconds = t->seconds,
                              .messages = r->cli->messages};
  srText text = {0};
  sr_report_recommendation(&x, cli_form(r->cli), &text);
  return cli_print(r->cli, &text);
}

// Runs in processes, by the pool of `compare`. The comparison is the library's: the pool sees a copy of what it needs.
static srStatus execute(void* user, srComparison* all, srComparedRun* runs, int n, srRunFilter wanted) {
  Compare c = {.cli = ((const Recommend*)user)->cli, .all = *all};
  const srStatus status = pool_run(&c, &c.all, runs, n, wanted);
  all->done = c.all.done;
  all->interrupted = c.all.interrupted;
  return status;
}

static int recommend(Recommend* r) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const srExecutor executor = {.user = r, .run = execute};
  const int status = open_model(r);
  if (status != EXIT_DONE) return status;
  cli_show(r->cli);
  const srStatus tried = sr_method_trials_create(&r->subject, r->seconds, processors > 0 ? (int)processors : 1,
                                                 &executor, r->cli->messages, &r->trials);
  if (tried != SR_OK) return cli_refuse(r->cli, cli_status(tried));
  const bool interrupted = r->trials->runs.interrupted;
  if (interrupted) cli_error(r->cli, "stopped by the user");
  cli_show(r->cli);
  const int printed = print_advice(r);
  return r->trials->advice.trial >= 0 && r->trials->survey->reference && !interrupted ? printed : EXIT_FAILED;
}

static void close_all(Recommend* r) {
  sr_method_trials_destroy(r->trials);
  model_close(&r->m);
}

int cmd_recommend(Cli* cli, const Verb* verb, int argc, char** argv) {
  Recommend r = {.cli = cli, .seconds = SECONDS, .t_end = NOT_GIVEN, .rtol = NOT_GIVEN, .atol = NOT_GIVEN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--rtol", OPTION_NUMBER, &r.rtol, "NUMBER", "relative accuracy that is wanted (default: of the model)"},
      {"--atol", OPTION_NUMBER, &r.atol, "NUMBER", "absolute one (default: in the ratio of the model's)"},
      {"--t-end", OPTION_NUMBER, &r.t_end, "SECONDS", "end of the simulation that is planned"},
      {"--seconds", OPTION_NUMBER, &r.seconds, "SECONDS", "time that this may take, about (default: 10)"},
      FORMULATION_OPTION(&r.m),
      MODEL_OPTIONS(cli, &r.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &r.m.path, &status) == 0)
    status = recommend(&r);
  close_all(&r);
  return status;
}
