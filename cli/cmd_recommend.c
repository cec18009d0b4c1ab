// sarrus recommend: measures a model (sr_survey_create), tries every method on it over a short window, each in a process of its
// own as `compare` does, and recommends one, with the numbers.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"

#define SECONDS 10.0
#define TRIAL_RUNS 2.2      // of an entry: one is sampled, one is timed
#define LEAST_TIMEOUT 0.05  // s
#define LEAST_PROCESSOR 0.2
#define LEAST_SHARE 0.3  // of the time that the trials get, however long the survey took
#define CONTENDER 10.0   // times the cost of the one chosen first: may be the better one after all
#define AGAIN_RUNS 2     // that are timed in a round
#define MOST_ROUNDS 8
#define TIGHTER 0.1        // tolerance of the second pass, of the first
#define MUCH_TIGHTER 1e-2  // where no method was within FAR_OFF tolerances
#define FAR_OFF 100.0
#define TIGHTER_COST 2.0  // a decade multiplies the steps of order 5 by 1.6

typedef struct Recommend {
  Cli* cli;
  Model m;
  srComparedModel subject;
  Compare c;  // the one subject; a run for each trial
  double seconds, t_end, rtol, atol;
  double began;
  double share;  // of a processor that the survey got: others may use the machine too
  srSurvey* survey;
  srMethodTrial* trial;  // as the runs
  srAdvice advice;
} Recommend;

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double wall_clock(void) { return seconds_of(CLOCK_MONOTONIC); }
static double processor_clock(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// ------------------------------------------------------------------------------------------------------------- trials
static bool wants_adaptive(const Compare* c, const srComparedRun* e) {
  return !e->record.timed && sr_comparison_is_adaptive(&c->all.model[e->model], e->method);
}
static bool wants_fixed(const Compare* c, const srComparedRun* e) {
  return !sr_comparison_is_adaptive(&c->all.model[e->model], e->method);
}
static bool wants_new(const Compare* c, const srComparedRun* e) { return e->of_rtol != c->all.model[0].options.rtol; }

static void add_entry(Recommend* r, int method, double rtol) {
  const srRunOptions* o = &r->subject.options;
  const double none = (double)NAN;
  srComparedRun e = {.method = method, .rtol = none, .atol = none, .step = none, .of_rtol = rtol};
  if (sr_comparison_is_adaptive(&r->subject, method)) {
    e.rtol = rtol;
    e.atol = o->rtol > 0 ? o->atol * (rtol / o->rtol) : o->atol;
  }
  r->c.all.run[r->c.all.nrun++] = e;
}

// The remaining time, shared by n entries.
static void share_time(Recommend* r, int n) {
  const double left = fmax(r->seconds - (wall_clock() - r->began), LEAST_SHARE * r->seconds);
  r->c.timeout = fmax(r->share * left * fmin(r->c.jobs, n) / (TRIAL_RUNS * n), LEAST_TIMEOUT);
  r->c.total = n;
  r->c.done = 0;
}

static double error_of(Recommend* r, const srComparedRun* e) {
  if (!e->record.done || !e->samples || !r->survey->reference) return (double)NAN;
  return sr_trajectory_error(r->subject.joints, r->survey->reference, e->samples).state;
}

static void tell_trial(Recommend* r, const srComparedRun* e, srMethodTrial* x) {
  const double window = r->survey->t_window - r->survey->t0;
  *x = (srMethodTrial){.method = e->method,
                       .rtol = e->rtol,
                       .atol = e->atol,
                       .step = e->step,
                       .done = e->record.done,
                       .seconds = e->record.seconds / window,
                       .steps = e->record.steps,
                       .rejected = e->record.rejected,
                       .evaluations = e->record.evaluations,
                       .error = error_of(r, e)};
  memcpy(x->violation, e->record.violation, sizeof x->violation);
}

static void advise(Recommend* r) {
  for (int i = 0; i < r->c.all.nrun; i++) tell_trial(r, &r->c.all.run[i], &r->trial[i]);
  sr_advise(r->subject.m, r->survey, r->trial, r->c.all.nrun, r->subject.options.rtol, &r->advice);
}

static bool wants_contenders(const Compare* c, const srComparedRun* e) { return (void)c, e->record.done; }

static bool may_win(const Recommend* r, int i) {
  const srMethodTrial *x = &r->trial[i], *best = &r->trial[r->advice.trial];
  return x->done && x->seconds < CONTENDER * best->seconds &&
         (x->error <= SR_ADVICE_ACCEPT * r->subject.options.rtol || i == r->advice.trial);
}

// One more run of each contender; the least of all counts.
static bool time_round(Recommend* r, srComparedRun* again) {
  Compare* c = &r->c;
  for (int i = 0; i < c->all.nrun; i++) {
    again[i] = c->all.run[i];
    again[i].samples = NULL;
    again[i].record.done = may_win(r, i);
  }
  const bool good = pool_run(c, again, c->all.nrun, wants_contenders);
  for (int i = 0; i < c->all.nrun; i++) {
    srTrialRecord* x = &c->all.run[i].record;
    if (good && again[i].samples && again[i].record.done) x->seconds = fmin(x->seconds, again[i].record.seconds);
    sr_trajectory_destroy(again[i].samples);
  }
  return good;
}

// The clock of a busy machine errs by a factor: those that may win run again, one at a time, while there is time.
static bool time_again(Recommend* r) {
  Compare* c = &r->c;
  const double end = r->began + r->seconds, jobs = c->jobs;
  double before = wall_clock(), took = 0;
  srComparedRun* again = calloc((size_t)c->all.nrun, sizeof *again);
  if (!again) return cli_error(r->cli, "out of memory"), false;
  bool good = true;
  c->jobs = 1;
  c->repeat = AGAIN_RUNS;
  c->timeout *= CONTENDER;
  for (int i = 0; good && !c->all.interrupted && i < MOST_ROUNDS && before + took < end; i++) {
    good = time_round(r, again);
    const double now = wall_clock();
    took = now - before;
    before = now;
  }
  c->jobs = jobs;
  c->repeat = 1;
  free(again);
  return good;
}

// Explicit methods are compared by what a clock does not disturb: they do about the same work in an evaluation.
static bool is_cheap_beside(const srMethodTrial* x, const srMethodTrial* best) {
  const bool by_clock = sri_method(x->method)->implicit || sri_method(best->method)->implicit;
  return by_clock ? x->seconds * TIGHTER_COST < best->seconds
                  : (double)x->evaluations * TIGHTER_COST < (double)best->evaluations;
}

// Is a tighter tolerance worth a trial: this one was wrong, and it is cheap enough or nothing better is known?
static bool deserves_more(const Recommend* r, int i) {
  const srMethodTrial *x = &r->trial[i], *best = &r->trial[r->advice.trial];
  if (!x->done || isnan(x->rtol) || sri_method(x->method)->order < 3) return false;
  if (!r->advice.accurate) return true;
  return x->error > SR_ADVICE_ACCEPT * x->rtol && is_cheap_beside(x, best);
}

static bool try_tighter(Recommend* r) {
  Compare* c = &r->c;
  const int n = c->all.nrun;
  const double rtol = r->subject.options.rtol;
  const bool near = r->trial[r->advice.trial].error <= FAR_OFF * rtol;
  const double tighter = rtol * (near ? TIGHTER : MUCH_TIGHTER);
  for (int i = 0; i < n; i++)
    if (deserves_more(r, i)) add_entry(r, c->all.run[i].method, tighter);
  if (c->all.nrun == n) return true;
  share_time(r, c->all.nrun - n);
  if (!pool_run(c, c->all.run, c->all.nrun, wants_new)) return false;
  advise(r);
  return true;
}

// All methods (but auto, which combines two of them) at the requested tolerance, then a second pass where it may change the choice.
static bool try_methods(Recommend* r) {
  Compare* c = &r->c;
  const size_t most = 2 * (size_t)sri_method_count();
  c->all.run = calloc(most, sizeof *c->all.run);
  r->trial = calloc(most, sizeof *r->trial);
  if (!c->all.run || !r->trial) return cli_error(r->cli, "out of memory"), false;
  for (int i = 0; i < sri_method_count(); i++)
    if (!sri_method(i)->absent && !sri_method(i)->switches) add_entry(r, i, r->subject.options.rtol);
  const int n = c->all.nrun;
  share_time(r, n);
  if (!pool_run(c, c->all.run, n, wants_adaptive)) return false;
  sr_comparison_derive_steps(&c->all);
  if (!pool_run(c, c->all.run, n, wants_fixed)) return false;
  advise(r);
  if (r->advice.trial < 0 || c->all.interrupted) return true;
  if (!try_tighter(r) || (!c->all.interrupted && !time_again(r))) return false;
  advise(r);
  return true;
}

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
  const srRecommendation x = {.trials = &r->c.all,
                              .survey = r->survey,
                              .trial = r->trial,
                              .advice = &r->advice,
                              .settings = r->m.settings.item,
                              .nsetting = r->m.settings.n,
                              .formulation = model_is_relative(&r->m) ? NULL : r->m.formulation,
                              .t_end = r->t_end,
                              .seconds = wall_clock() - r->began,
                              .messages = r->cli->messages};
  srText text = {0};
  sr_report_recommendation(&x, cli_form(r->cli), &text);
  return cli_print(r->cli, &text);
}

static int recommend(Recommend* r) {
  srComparedModel* s = &r->subject;
  int status = open_model(r);
  if (status != EXIT_DONE) return status;
  cli_show(r->cli);
  const double processor = processor_clock();
  r->began = wall_clock();
  const srStatus surveyed = sr_survey_create(s->m, s->start, &s->options, r->seconds, r->cli->messages, &r->survey);
  if (surveyed != SR_OK) return cli_refuse(r->cli, cli_status(surveyed));
  r->share = fmin(fmax((processor_clock() - processor) / (wall_clock() - r->began), LEAST_PROCESSOR), 1);
  if (!r->survey->reference) {
    cli_error(r->cli, "no method got through the trial run: %s",
              r->survey->pilot_why[0] ? r->survey->pilot_why : r->survey->guide_why);
  } else {
    if (r->survey->pilot_why[0] && r->survey->t > r->survey->t0)
      cli_warning(r->cli, "%s did not come to the end: %s", r->survey->pilot, r->survey->pilot_why);
    s->options.t_end = r->survey->t_window;
    s->samples = r->survey->reference->n;
    if (!try_methods(r)) return cli_refuse(r->cli, EXIT_FAILED);
  }
  if (r->c.all.interrupted) cli_error(r->cli, "stopped by the user");
  cli_show(r->cli);
  const int printed = print_advice(r);
  const bool advised = r->advice.trial >= 0 && r->survey->reference && !r->c.all.interrupted;
  return advised ? printed : EXIT_FAILED;
}

static void close_all(Recommend* r) {
  for (int i = 0; i < r->c.all.nrun; i++) sr_trajectory_destroy(r->c.all.run[i].samples);
  model_close(&r->m);
  sr_survey_destroy(r->survey);
  free(r->c.all.run);
  free(r->trial);
}

int cmd_recommend(Cli* cli, const Verb* verb, int argc, char** argv) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  Recommend r = {.cli = cli,
                 .c = {.cli = cli, .repeat = 1, .jobs = processors > 0 ? (double)processors : 1},
                 .seconds = SECONDS,
                 .t_end = NOT_GIVEN,
                 .rtol = NOT_GIVEN,
                 .atol = NOT_GIVEN,
                 .advice = {.trial = -1, .alternative = -1}};
  r.c.all.model = &r.subject;
  r.c.all.nmodel = 1;
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
