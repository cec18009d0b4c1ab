// A recommendation: measures a model (sr_survey_create), tries every method on it over a short window, and recommends one.
#include <math.h>
#include <sarrus/recommend.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

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
  srMethodTrials* out;
  const srExecutor* executor;
  srMessages* messages;
  double seconds, began;
  double share;  // of a processor that the survey got: others may use the machine too
} Recommend;

static double wall_clock(void) {
  struct timespec now = {0};
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static double processor_clock(void) { return (double)clock() / CLOCKS_PER_SEC; }

// ------------------------------------------------------------------------------------------------------------- trials
static bool wants_adaptive(const srComparison* c, const srComparedRun* e) {
  return !e->record.timed && sr_comparison_is_adaptive(&c->model[e->model], e->method);
}
static bool wants_fixed(const srComparison* c, const srComparedRun* e) {
  return !sr_comparison_is_adaptive(&c->model[e->model], e->method);
}
static bool wants_new(const srComparison* c, const srComparedRun* e) { return e->of_rtol != c->model[0].options.rtol; }
static bool wants_contenders(const srComparison* c, const srComparedRun* e) { return (void)c, e->record.done; }

static void add_entry(srMethodTrials* x, int method, double rtol) {
  const srRunOptions* o = &x->model.options;
  const double none = (double)NAN;
  srComparedRun e = {.method = method, .rtol = none, .atol = none, .step = none, .of_rtol = rtol};
  if (sr_comparison_is_adaptive(&x->model, method)) {
    e.rtol = rtol;
    e.atol = o->rtol > 0 ? o->atol * (rtol / o->rtol) : o->atol;
  }
  x->runs.run[x->runs.nrun++] = e;
}

// The remaining time, shared by n entries.
static void share_time(Recommend* r, int n) {
  srComparison* c = &r->out->runs;
  const double left = fmax(r->seconds - (wall_clock() - r->began), LEAST_SHARE * r->seconds);
  c->timeout = fmax(r->share * left * (c->jobs < n ? c->jobs : n) / (TRIAL_RUNS * n), LEAST_TIMEOUT);
  c->planned = n;
  c->done = 0;
}

static double error_of(const srMethodTrials* x, const srComparedRun* e) {
  if (!e->record.done || !e->samples || !x->survey->reference) return (double)NAN;
  return sr_trajectory_error(x->model.joints, x->survey->reference, e->samples).state;
}

static void tell_trial(const srMethodTrials* x, const srComparedRun* e, srMethodTrial* trial) {
  const double window = x->survey->t_window - x->survey->t0;
  *trial = (srMethodTrial){.method = e->method,
                           .rtol = e->rtol,
                           .atol = e->atol,
                           .step = e->step,
                           .done = e->record.done,
                           .seconds = e->record.seconds / window,
                           .steps = e->record.steps,
                           .rejected = e->record.rejected,
                           .evaluations = e->record.evaluations,
                           .error = error_of(x, e)};
  memcpy(trial->violation, e->record.violation, sizeof trial->violation);
}

static void advise(srMethodTrials* x) {
  for (int i = 0; i < x->runs.nrun; i++) tell_trial(x, &x->runs.run[i], &x->trial[i]);
  sr_advise(x->model.m, x->survey, x->trial, x->runs.nrun, x->model.options.rtol, &x->advice);
}

static srStatus execute(Recommend* r, srComparedRun* runs, int n, srRunFilter wanted) {
  return r->executor->run(r->executor->user, &r->out->runs, runs, n, wanted);
}

// ------------------------------------------------------------------------------------------------------------- again
static bool may_win(const srMethodTrials* x, int i) {
  const srMethodTrial *trial = &x->trial[i], *best = &x->trial[x->advice.trial];
  return trial->done && trial->seconds < CONTENDER * best->seconds &&
         (trial->error <= SR_ADVICE_ACCEPT * x->model.options.rtol || i == x->advice.trial);
}

// One more run of each contender; the least of all counts.
static srStatus time_round(Recommend* r, srComparedRun* again) {
  srComparison* c = &r->out->runs;
  for (int i = 0; i < c->nrun; i++) {
    again[i] = c->run[i];
    again[i].samples = NULL;
    again[i].record.done = may_win(r->out, i);
  }
  const srStatus status = execute(r, again, c->nrun, wants_contenders);
  for (int i = 0; i < c->nrun; i++) {
    srTrialRecord* x = &c->run[i].record;
    if (status == SR_OK && again[i].samples && again[i].record.done)
      x->seconds = fmin(x->seconds, again[i].record.seconds);
    sr_trajectory_destroy(again[i].samples);
  }
  return status;
}

// The clock of a busy machine errs by a factor: those that may win run again, one at a time, while there is time.
static srStatus time_again(Recommend* r) {
  srComparison* c = &r->out->runs;
  const double end = r->began + r->seconds;
  const int jobs = c->jobs;
  double before = wall_clock(), took = 0;
  srComparedRun* again = sr_alloc((size_t)c->nrun * sizeof *again);
  if (!again) return SR_MEMORY;
  srStatus status = SR_OK;
  c->jobs = 1;
  c->repeat = AGAIN_RUNS;
  c->timeout *= CONTENDER;
  for (int i = 0; status == SR_OK && !c->interrupted && i < MOST_ROUNDS && before + took < end; i++) {
    status = time_round(r, again);
    const double now = wall_clock();
    took = now - before;
    before = now;
  }
  c->jobs = jobs;
  c->repeat = 1;
  sr_free(again);
  return status;
}

// ----------------------------------------------------------------------------------------------------------- tighter
// Explicit methods are compared by what a clock does not disturb: they do about the same work in an evaluation.
static bool is_cheap_beside(const srMethodTrial* x, const srMethodTrial* best) {
  const bool by_clock = sri_method(x->method)->implicit || sri_method(best->method)->implicit;
  return by_clock ? x->seconds * TIGHTER_COST < best->seconds
                  : (double)x->evaluations * TIGHTER_COST < (double)best->evaluations;
}

// Is a tighter tolerance worth a trial: this one was wrong, and it is cheap enough or nothing better is known?
static bool deserves_more(const srMethodTrials* x, int i) {
  const srMethodTrial *trial = &x->trial[i], *best = &x->trial[x->advice.trial];
  if (!trial->done || isnan(trial->rtol) || sri_method(trial->method)->order < 3) return false;
  if (!x->advice.accurate) return true;
  return trial->error > SR_ADVICE_ACCEPT * trial->rtol && is_cheap_beside(trial, best);
}

static srStatus try_tighter(Recommend* r) {
  srMethodTrials* x = r->out;
  const int n = x->runs.nrun;
  const double rtol = x->model.options.rtol;
  const bool near = x->trial[x->advice.trial].error <= FAR_OFF * rtol;
  const double tighter = rtol * (near ? TIGHTER : MUCH_TIGHTER);
  for (int i = 0; i < n; i++)
    if (deserves_more(x, i)) add_entry(x, x->runs.run[i].method, tighter);
  if (x->runs.nrun == n) return SR_OK;
  share_time(r, x->runs.nrun - n);
  const srStatus status = execute(r, x->runs.run, x->runs.nrun, wants_new);
  if (status == SR_OK) advise(x);
  return status;
}

// All methods (but auto, which combines two of them) at the requested tolerance, then a second pass where it may change the choice.
static srStatus try_methods(Recommend* r) {
  srMethodTrials* x = r->out;
  const size_t most = 2 * (size_t)sri_method_count();
  x->runs.run = sr_alloc(most * sizeof *x->runs.run);
  x->trial = sr_alloc(most * sizeof *x->trial);
  if (!x->runs.run || !x->trial) return SR_MEMORY;
  for (int i = 0; i < sri_method_count(); i++)
    if (!sri_method(i)->absent && !sri_method(i)->switches && !sri_method(i)->impulses)
      add_entry(x, i, x->model.options.rtol);
  const int n = x->runs.nrun;
  share_time(r, n);
  srStatus status = execute(r, x->runs.run, n, wants_adaptive);
  if (status != SR_OK) return status;
  sr_comparison_derive_steps(&x->runs);
  status = execute(r, x->runs.run, n, wants_fixed);
  if (status != SR_OK) return status;
  advise(x);
  if (x->advice.trial < 0 || x->runs.interrupted) return SR_OK;
  status = try_tighter(r);
  if (status == SR_OK && !x->runs.interrupted) status = time_again(r);
  if (status == SR_OK) advise(x);
  return status;
}

// ---------------------------------------------------------------------------------------------------------- the whole
static void tell_survey(const Recommend* r) {
  const srSurvey* survey = r->out->survey;
  const char* reason = survey->pilot_reason;
  if (!survey->reference) {
    sr_messages_add(r->messages, SR_SEVERITY_ERROR, (srPlace){0}, "no method got through the trial run: %s",
                    reason[0] ? reason : survey->guide_reason);
  } else if (reason[0] && survey->t > survey->t0) {
    sr_messages_add(r->messages, SR_SEVERITY_WARNING, (srPlace){0}, "%s did not come to the end: %s", survey->pilot,
                    reason);
  }
}

srStatus sr_method_trials_create(const srComparedModel* model, double seconds, int jobs, const srExecutor* executor,
                                 srMessages* messages, srMethodTrials** out) {
  const double processor = processor_clock();
  srMethodTrials* x = sr_alloc(sizeof *x);
  *out = x;
  if (x == NULL) return SR_MEMORY;
  Recommend r = {.out = x, .executor = executor, .messages = messages, .seconds = seconds, .began = wall_clock()};
  x->model = *model;
  x->runs = (srComparison){.model = &x->model, .nmodel = 1, .jobs = jobs, .repeat = 1, .reference_method = -1};
  x->advice = (srAdvice){.trial = -1, .alternative = -1};
  srComparedModel* s = &x->model;
  srStatus status = sr_survey_create(s->m, s->start, &s->options, seconds, messages, &x->survey);
  if (status == SR_OK) {
    r.share = fmin(fmax((processor_clock() - processor) / (wall_clock() - r.began), LEAST_PROCESSOR), 1);
    tell_survey(&r);
    if (x->survey->reference) {
      s->options.t_end = x->survey->t_window;
      s->samples = x->survey->reference->n;
      status = try_methods(&r);
    }
  }
  x->seconds = wall_clock() - r.began;
  if (status == SR_OK) return SR_OK;
  sr_method_trials_destroy(x);
  *out = NULL;
  return status;
}

void sr_method_trials_destroy(srMethodTrials* x) {
  if (x == NULL) return;
  for (int i = 0; i < x->runs.nrun; i++) sr_trajectory_destroy(x->runs.run[i].samples);
  sr_survey_destroy(x->survey);
  sr_free(x->runs.run);
  sr_free(x->trial);
  sr_free(x);
}
