// Steps in the caller's hands: the loop of a run (run.c) without rows and energy balance.
//
//   t_k = t_0 + k h        the grid of a run with steps of fixed length, so that both take the same steps, bit by bit
//
// The run works on a data of its own. The caller's data holds t, q, v, y, z and tau between steps, and may be evaluated anywhere: switches of laws
// that are held within steps, and contact instances, are those of the other one. Where the caller's state is the one that the last step has
// left, the motion goes on; where only tau or y differ it goes on with other forces; otherwise a run starts there.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "simulate/run.h"

#define NEVER 1e300  // s between rows: the run writes none of its own

struct srStepper {
  const srModel* m;
  srRunOptions options;
  srRunResult result;
  srData* work;  // the data of the run
  srRun run;
  bool started;
  double t_first;  // of the grid
  long count;      // steps since then
};

// ---- life -----------------------------------------------------------------------------------------------------------------

// No callbacks, and no end: those are the caller's. Its texts may be gone by the next start.
static int take_no_row(void* user, const double* row) {
  (void)user, (void)row;
  return 0;
}

static srRunOptions own_options(const srRunOptions* o) {
  srRunOptions own = *o;
  const srMethod* method = sri_method_find(o->method);
  if (o->row != NULL) {
    own.row = take_no_row;  // sr_step_row hands them out
    own.every = NEVER;
  } else {
    own.record = NULL;
    own.nrecord = 0;
  }
  own.progress = NULL;
  own.problem = NULL;
  own.user = NULL;
  if (method != NULL) own.method = method->name;
  return own;
}

static void stop_run(srStepper* s) {
  if (s->run.m != NULL) sr_run_release(&s->run);
  memset(&s->run, 0, sizeof s->run);
  s->started = false;
}

static srStatus prepare_run(srStepper* s, srMessages* messages) {
  stop_run(s);
  memset(&s->result, 0, sizeof s->result);
  s->options.t_end = s->work->t + s->options.step;
  s->run = (srRun){.m = s->m, .d = s->work, .options = &s->options, .result = &s->result, .messages = messages};
  s->run.method = sri_method_find(s->options.method);
  s->run.stop = s->work->stop;
  s->run.stop_user = s->work->stop_user;
  const srStatus status = sr_run_check(&s->run);
  return status == SR_OK ? sr_run_prepare(&s->run) : status;
}

srStatus sr_stepper_create(const srModel* m, const srRunOptions* options, srMessages* messages, srStepper** out) {
  *out = NULL;
  if (!(options->step > 0.0) || !isfinite(options->step)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "step = %g: expected a number of seconds > 0",
                    options->step);
    return SR_INPUT;
  }
  srStepper* s = sr_alloc(sizeof *s);
  if (s != NULL) {
    *s = (srStepper){.m = m, .options = own_options(options), .work = sr_data_create(m)};
  }
  if (s == NULL || s->work == NULL) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the steps");
    sr_stepper_destroy(s);
    return SR_MEMORY;
  }
  const srStatus status = prepare_run(s, messages);  // refuses now what it would refuse at the first step
  if (status == SR_OK) {
    *out = s;
  } else {
    sr_stepper_destroy(s);
  }
  return status;
}

void sr_stepper_destroy(srStepper* s) {
  if (s == NULL) return;
  stop_run(s);
  sr_data_destroy(s->work);
  sr_free(s);
}

// ---- the caller's state ---------------------------------------------------------------------------------------------------

static bool same(const double* a, const double* b, int n) { return n <= 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

// The integrator has the state; work may be at another one, where a contact or an event was examined.
static bool goes_on_from(const srStepper* s, const srData* d) {
  const srIntegrator* x = s->run.integrator;
  return s->started && d->t == sri_time(x) && same(d->q, sri_q(x), s->m->nq) && same(d->v, sri_v(x), s->m->nv) &&
         same(d->z, s->work->z, s->m->nz);
}

static bool has_same_forces(const srStepper* s, const srData* d) {
  return same(d->tau, s->work->tau, s->m->njv) && same(d->y, sri_y(s->run.integrator), s->m->ny);
}

// What the steps have reached; d's results are those of the kinematics at most, until it is evaluated.
static void hand_back(const srStepper* s, srData* d) {
  const srIntegrator* x = s->run.integrator;
  if (s->m->nset > 0) {
    sr_data_copy(s->m, s->work, d);  // with its contact instances
  } else {
    copy(d->z, s->work->z, s->m->nz);
  }
  (void)sr_evaluate(s->m, d, sri_time(x), sri_q(x), sri_v(x), sri_y(x), SR_STAGE_NONE);
}

// The last good state, which a run that fails leaves in its data.
static void hand_back_good(const srStepper* s, srData* d) {
  sr_data_copy(s->m, s->work, d);
  d->stage = SR_STAGE_NONE;
}

static srStatus start(srStepper* s, const srData* d, srMessages* messages) {
  sr_data_copy(s->m, d, s->work);
  srStatus status = prepare_run(s, messages);
  if (status == SR_OK) status = sr_run_start(&s->run);
  s->started = status == SR_OK && s->run.stepping;
  s->t_first = s->work->t;
  s->count = 0;
  return status;
}

static srStatus change_forces(srStepper* s, const srData* d) {
  copy(s->work->tau, d->tau, s->m->njv);
  return sr_run_change(&s->run, d->y);
}

// ---- steps ----------------------------------------------------------------------------------------------------------------

static srStatus take_step(srStepper* s) {
  srRun* run = &s->run;
  srStatus status = SR_OK;
  run->t_end = s->t_first + (double)(s->count + 1) * s->options.step;
  if (!(run->t_end > sri_time(run->integrator))) {
    return sr_run_fail_at(run, sri_time(run->integrator), "the step is too small to advance the time");
  }
  while (status == SR_OK && sr_run_goes_on(run)) {
    status = sr_run_step(run);
    if (status == SR_OK && s->options.row != NULL && !run->stopped) {
      sr_run_count_limits(run);
      sr_run_balance_step(run);
    }
  }
  s->count += sri_time(run->integrator) >= run->t_end;
  return status;
}

static srStatus ready(srStepper* s, const srData* d, srMessages* messages) {
  s->run.messages = messages;
  s->run.ended = s->run.stopped = false;
  s->result.error_message[0] = '\0';
  s->work->stop = s->run.stop = d->stop;
  s->work->stop_user = s->run.stop_user = d->stop_user;
  if (!goes_on_from(s, d)) return start(s, d, messages);
  return has_same_forces(s, d) ? SR_OK : change_forces(s, d);
}

srStatus sr_step(srStepper* s, srData* d, int n, srMessages* messages) {
  srStatus status = ready(s, d, messages);
  for (int i = 0; i < n && status == SR_OK && s->started; ++i) status = take_step(s);  // none after a stop
  if (status == SR_OK && s->started) hand_back(s, d);
  if (status != SR_OK && s->started) hand_back_good(s, d);
  s->started = s->started && status == SR_OK;
  s->run.messages = NULL;
  return status;
}

bool sr_step_stopped(const srStepper* s) { return s->run.stopped; }

bool sr_step_ended(const srStepper* s) { return s->run.ended; }

const srRunResult* sr_step_result(srStepper* s) {
  if (s->run.integrator != NULL) s->result.t = sri_time(s->run.integrator);
  sr_run_gather(&s->run);
  return &s->result;
}

double sr_step_time(const srStepper* s) { return s->run.integrator != NULL ? sri_time(s->run.integrator) : s->work->t; }

void sr_step_forget_events(srStepper* s) { s->result.nevent = 0; }

// d of the run is at the last state, or where a contact or an event was examined.
srStatus sr_step_row(srStepper* s, const double** row) {
  srRun* run = &s->run;
  *row = NULL;
  if (!s->started || run->recording == NULL) return SR_INPUT;
  if (sr_run_evaluate_at(run, sri_time(run->integrator), run->recording->stage) != 0) return SR_FAILED;
  sr_run_balance(run);
  sr_run_hand_out(run);
  if (run->d->rigid) run->d->stage = SR_STAGE_NONE;  // its forces include those of contacts
  *row = run->row;
  return SR_OK;
}
