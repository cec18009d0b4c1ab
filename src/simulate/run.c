// Simulation: the model's system, an integrator, rows at exact output times, the energy ledger, and what went wrong.
//   T + V - (T0 + V0) = sum of the work of all accounts + residual      the residual is the error of the integration
//
// A step, in order (step_to_end):
//   1. the integrator takes it; a request to stop is heard here alone
//   2. a state beyond all bounds ends the run; a method that is held back by stability is named
//   3. events inside of it: rows up to the first one, its actions, a restart from there; then contacts that it has closed
//   4. late events: what the end of the step has brought about
//   5. joint limits that are passed are counted
//   6. rows of the time grid up to its end, by dense output
//   7. the energy ledger, with the violation of the constraints
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "force/instances.h"
#include "model/private.h"
#include "simulate/event.h"
#include "simulate/jump.h"
#include "simulate/record.h"
#include "simulate/rows.h"
#include "simulate/touch.h"
#include "system/bristle.h"
#include "system/system.h"

#define STATE_BOUND 1e15  // beyond it a state has no digit left that means anything
#define PROGRESS_SECONDS 0.05
#define ASKED_PER_CLOCK 8   // the clock is read once in so many evaluations or rows
#define MOST_POINTS 1e15    // of a grid in time: beyond them a double cannot count
#define MOST_DENSE 3000     // unknowns of an implicit method without a sparse matrix
#define MOST_ROWS 1e9       // more are no result but a full disk
#define LONGEST_TIME 1e12   // s, 30 000 years: beyond it time is too coarse for steps of machines
#define STEPS_PER_ENERGY 8  // of a tree; of a looped model the ledger is checked after every step
#define MOST_LOST 1e-3      // of the largest energy in one step: more is reported
#define AHEAD 1e-13         // of 1 s and of the time: where the cause of an end is looked for

typedef struct Run {
  const srModel* m;
  srData* d;
  const srRunOptions* options;
  srRunResult* result;
  srModelSystem system;
  srIntegrator* integrator;
  double t0, t_end, every;
  long next;                                     // index of the next row on the grid t0 + next*every
  double t_row;                                  // time of the last row
  double *row, *q, *v, *y;                       // one allocation
  double w[SR_ACCOUNTS], w_before[SR_ACCOUNTS];  // work done so far; up to the last restart
  srEventWatch* events;                          // all sources of events
  srTouchWatch* touch;                           // contacts
  srJumpWatch* jumps;                            // places where laws jump
  bool ended;                                    // by an event
  long odd_rows;                                 // in which a value is not a number ...
  int odd_column;                                // ... this one ...
  double t_odd;                                  // ... from here on
  double residual, lost, t_lost;  // of the ledger after the last step; its largest jump and when that was
  double started, reported;       // wall clock
  long asked;                     // requests to stop that were looked for
  int (*stop)(void* user);        // d's own, and what it takes: called by ask
  void* stop_user;
  srMessages* messages;
  bool crawled;   // said once that the method is held back by stability
  bool stepping;  // the integrator was started
  bool stopped;   // by a callback
} Run;

static double wall_clock(void) {
  struct timespec now = {0};
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

srRunOptions sr_run_options(const srModel* m) {
  const srRunSettings* run = sr_run_settings(m);
  return (srRunOptions){
      .t_end = run->t_end,
      .method = run->method,
      .step = run->step,
      .rtol = run->rtol,
      .atol = run->atol,
      .control = run->control,
      .rho = run->rho,
      .family = run->family,
      .tangent = run->tangent,
      .stabilization = run->stabilization,
      .alpha = run->alpha,
      .beta = run->beta,
      .metric_identity = run->metric_identity,
      .every = run->every > 0.0 ? run->every : run->t_end / 1000.0,
  };
}

// ---- energy ---------------------------------------------------------------------------------------------------------

// Energies of d's state, with the work done so far in run->w. The scale is the largest energy that the books explain: what is in
// a state by mistake stands in the residual too, and must not serve as the measure of it.
static void balance(Run* run) {
  srEnergy* energy = &run->result->energy;
  sr_energy(run->m, run->d, &energy->kinetic, &energy->potential);
  double change = (energy->kinetic - energy->kinetic0) + (energy->potential - energy->potential0);
  double largest = fmax(fabs(energy->kinetic), fabs(energy->potential));
  for (int i = 0; i < SR_ACCOUNTS; ++i) {
    energy->work[i] = run->w[i];
    largest = fmax(largest, fabs(run->w[i]));
    change -= run->w[i];
  }
  energy->residual = change;
  energy->scale = fmax(energy->scale, largest - fabs(change));
}

static void balance_start(Run* run) {
  srEnergy* energy = &run->result->energy;
  sr_energy(run->m, run->d, &energy->kinetic0, &energy->potential0);
  balance(run);
}

static void add_work_before(Run* run) {
  for (int i = 0; i < SR_ACCOUNTS; ++i) run->w[i] += run->w_before[i];
}

static void note_acceleration(Run* run, double residual) {
  run->result->violation_acceleration = fmax(run->result->violation_acceleration, residual);
}

// The model at the end of the last step.
static int evaluate_last(Run* run, srStage stage) {
  const srIntegrator* x = run->integrator;
  return sr_evaluate_motion(run->m, run->d, sri_time(x), sri_q(x), sri_v(x), sri_y(x), stage);
}

// The ledger after an accepted step: the largest energy, and how much goes amiss in one step.
static void watch_energy(Run* run) {
  const srIntegrator* x = run->integrator;
  if (!run->m->looped && sri_stats(x)->steps % STEPS_PER_ENERGY != 0) return;
  (void)evaluate_last(run, SR_STAGE_VELOCITY);
  note_acceleration(run, sr_acceleration_residual(run->m, run->d, sri_acceleration(x)));
  memcpy(run->w, sri_w(x), sizeof run->w);
  add_work_before(run);
  balance(run);
  const double lost = run->result->energy.residual - run->residual;
  run->residual = run->result->energy.residual;
  // The energy in springs that stand for joints is that of the last stage.
  if (!run->m->looped || run->m->formulation == SR_FORMULATION_PENALTY || !(fabs(lost) > fabs(run->lost))) return;
  run->lost = lost;
  run->t_lost = sri_time(x);
}

// ---- progress -------------------------------------------------------------------------------------------------------

static void report_progress(Run* run, double t) {
  if (run->options->progress == NULL) return;
  const double now = wall_clock();
  if (now - run->reported < PROGRESS_SECONDS) return;
  run->reported = now;
  if (run->options->progress(run->options->user, t, run->t_end) != 0) run->stopped = true;
}

// d's request to stop for the time of the run: its own, and what the progress answers. One that has come stays.
static int ask(void* user) {
  Run* run = user;
  if (!run->stopped && run->stop != NULL && run->stop(run->stop_user) != 0) run->stopped = true;
  if (!run->stopped && ++run->asked % ASKED_PER_CLOCK == 0) {
    report_progress(run, run->stepping ? sri_time(run->integrator) : run->t0);
  }
  return run->stopped;
}

// Requests are taken in the assembly and inside of steps, which then leave the last good state. What follows a step (events,
// rows, dense output) is short, and half of it would be wrong.
static void listen(Run* run, bool on) {
  run->d->stop = on ? ask : NULL;
  run->d->stop_user = on ? run : NULL;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// Evaluates the model at a time inside the last step.
static int evaluate_at(Run* run, double t, srStage stage) {
  if (sri_interpolate(run->integrator, t, run->q, run->v, run->y, run->w) != SR_OK) return -1;
  add_work_before(run);
  const int answer = sr_evaluate_motion(run->m, run->d, t, run->q, run->v, run->y, stage);
  // Of a method with accelerations of its own these are looked at, after every step.
  if (sri_acceleration(run->integrator) == NULL) note_acceleration(run, run->d->row_residual);
  return answer;
}

// The first value of the rows that is not a number: a sensor may divide by zero while the motion goes on.
static void watch_row(Run* run) {
  const int columns = sr_column_count(run->m);
  for (int i = 0; i < columns && run->odd_rows == 0; ++i) {
    if (!isnan(run->row[i])) continue;
    run->odd_column = i;
    run->t_odd = run->t_row;
    run->odd_rows = 1;
    return;
  }
  if (run->odd_rows > 0 && isnan(run->row[run->odd_column])) ++run->odd_rows;
}

static void tell_odd_rows(const Run* run, srMessages* messages) {
  srColumns* columns = run->odd_rows > 0 ? sr_columns_create(run->m) : NULL;
  if (columns == NULL) return;
  sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "'%s' is not a number in %ld of %ld rows of the results, the first time at t = %.9g",
                  columns->names[run->odd_column], run->odd_rows, run->result->rows, run->t_odd);
  sr_columns_destroy(columns);
}

// Hands out the row of d's state.
static void hand_out(Run* run) {
  const srEnergy* energy = &run->result->energy;
  if (run->options->row == NULL || run->stopped) return;
  sr_record(run->m, run->d, energy->kinetic, energy->potential, energy->residual, run->row);
  run->t_row = run->d->t;
  ++run->result->rows;
  watch_row(run);
  if (run->options->row(run->options->user, run->row) != 0) run->stopped = true;
}

// Rows of the grid up to t. The one that falls on the end is left to the end.
static srStatus rows_until(Run* run, double t) {
  if (run->options->row == NULL) return SR_OK;
  while (ask(run) == 0) {
    const double t_row = run->t0 + (double)run->next * run->every;
    if (t_row > t || t_row > run->t_end - 1e-9 * run->every) return SR_OK;
    if (evaluate_at(run, t_row, SR_STAGE_ACCELERATION) != 0) return SR_FAILED;
    balance(run);
    hand_out(run);
    ++run->next;
  }
  return SR_OK;
}

// ---- watching -------------------------------------------------------------------------------------------------------

// Joint coordinates after the last step.
static const double* joint_positions(Run* run) {
  if (!run->m->gauged) return sri_q(run->integrator);
  (void)evaluate_last(run, SR_STAGE_POSITION);
  return run->d->jq;
}

static void count_limits(Run* run) {
  const srModel* m = run->m;
  const double* q = m->priv->has_limits ? joint_positions(run) : NULL;
  for (int j = 0; q != NULL && j < m->njoint; ++j) {
    const double lower = m->priv->limits[2 * j], upper = m->priv->limits[2 * j + 1];
    if (isnan(lower)) continue;
    for (int i = m->joint_q[j]; i < m->joint_q[j] + m->joint_nq[j]; ++i) {
      if (q[i] >= lower && q[i] <= upper) continue;
      ++run->result->limits_passed;
      return;
    }
  }
}

static bool within(const double* x, int n) {
  for (int i = 0; i < n; ++i) {
    if (!(fabs(x[i]) <= STATE_BOUND)) return false;
  }
  return true;
}

static bool state_within_bounds(const Run* run) {
  return within(sri_q(run->integrator), run->m->nq) && within(sri_v(run->integrator), run->m->nv) &&
         within(sri_y(run->integrator), run->m->ny);
}

// ---- trouble --------------------------------------------------------------------------------------------------------

SR_PRINTF(2, 3) static void say(Run* run, const char* format, ...) {
  char* text = run->result->trouble;
  const size_t size = sizeof run->result->trouble, used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

// The entry of x that is not finite, else the largest in magnitude; -1 when there is none.
static int worst_entry(const double* x, int n) {
  int worst = n > 0 ? 0 : -1;
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) return i;
    if (fabs(x[i]) > fabs(x[worst])) worst = i;
  }
  return worst;
}

// Where the failed evaluation, or the state that grew too large, is worst: a joint, or a state.
static void say_where(Run* run) {
  const srModel* m = run->m;
  const srData* d = run->d;
  const int v = worst_entry(d->v, m->nv), a = worst_entry(d->a, m->nv), y = worst_entry(d->y, m->ny);
  const int rate = worst_entry(d->ydot, m->ny);
  if (rate >= 0 && !isfinite(d->ydot[rate])) {
    say(run, "; worst is the state '%s', whose rate is %s", m->y_name[rate],
        isnan(d->ydot[rate]) ? "not a number" : "infinite");
  } else if (y >= 0 && (v < 0 || !(fabs(d->y[y]) <= fabs(d->v[v])))) {
    say(run, "; worst is the state '%s' = %.3g", m->y_name[y], d->y[y]);
  } else if (v >= 0) {
    // Accelerations under loops are the integrator's.
    const int i = m->looped || isfinite(d->a[a]) ? v : a;
    const int link = m->dof_link[i];
    say(run, "; worst is joint '%s' of body '%s': velocity %.3g %s", m->joint_name[m->link_joint[link]],
        m->body_name[m->link_body[link]], d->v[i], m->gauged ? (i % 6 < 3 ? "rad/s" : "m/s") : m->v_unit[i]);
    if (!m->looped) say(run, ", acceleration %.3g", d->a[i]);
  }
}

// At the last good state, which d holds: the largest generalized force and the element it comes from.
static void say_largest_force(Run* run) {
  const srModel* m = run->m;
  srData* d = run->d;
  const int dof = worst_entry(d->f, m->nv);
  if (dof < 0 || d->f[dof] == 0.0) return;
  say(run, "; largest generalized force %.3g on joint '%s' at t = %.9g", d->f[dof],
      m->joint_name[m->link_joint[m->dof_link[dof]]], d->t);
  double share = 0.0;
  const int source = sr_force_source(m, d, dof, &share);
  if (source >= 0) say(run, ", where '%s' gives %.3g", sr_element(m, d, source)->name, share);
}

// The last step may have ended right before a force stops being a number, on the last time at which it is one.
static void say_cause_ahead(Run* run, double t_good) {
  const double t = t_good + AHEAD * (1 + fabs(t_good));
  if (sr_evaluate_motion(run->m, run->d, t, run->q, run->v, run->y, SR_STAGE_ACCELERATION) == 0) return;
  if (run->d->trouble[0] == '\0') return;
  say(run, "; right after it %s", run->d->trouble);
}

static srStatus fail(Run* run, double t_good, const char* why) {
  char cause[sizeof run->d->trouble];
  memcpy(cause, run->d->trouble, sizeof cause);
  run->result->trouble[0] = '\0';
  say(run, "%s", why);
  if (cause[0] != '\0') say(run, "; %s", cause);
  say_where(run);
  run->result->t = t_good;
  if (evaluate_at(run, t_good, SR_STAGE_FRAMES) != 0) return SR_FAILED;
  balance(run);
  if (run->d->t > run->t_row) hand_out(run);
  say_largest_force(run);
  if (cause[0] == '\0') say_cause_ahead(run, t_good);
  (void)evaluate_at(run, t_good, SR_STAGE_FRAMES);  // the searches have used d
  return SR_FAILED;
}

// The same for sentences of our own: those of the integrator tell the time themselves.
static srStatus fail_at(Run* run, double t_good, const char* why) {
  char sentence[300];
  (void)snprintf(sentence, sizeof sentence, "at t = %.9g %s", sri_time(run->integrator), why);
  return fail(run, t_good, sentence);
}

static srStatus fail_bounds(Run* run) {
  (void)evaluate_last(run, SR_STAGE_NONE);
  return fail_at(run, sri_time_before(run->integrator), "the motion has blown up: its state is beyond 1e15");
}

// A step that is not possible, or steps that have become too short to get on.
static srStatus fail_step(Run* run) {
  const srStabilization way = run->options->stabilization;
  const bool drifts = run->m->looped && sri_method_find(run->options->method)->index <= 1 &&
                      way != SR_STABILIZATION_PROJECTION && way != SR_STABILIZATION_PARTITION;
  char sentence[600];
  const char* why = sri_why(run->integrator);
  if (!drifts || strstr(why, "collapsed") == NULL) return fail(run, sri_time(run->integrator), why);
  (void)snprintf(sentence, sizeof sentence,
                 "%s; drift off the constraints may have made redundant ones independent: try another stabilization%s",
                 why, way == SR_STABILIZATION_NONE ? "" : " or another alpha");
  return fail(run, sri_time(run->integrator), sentence);
}

// ---- events, as they happen -------------------------------------------------------------------------------------------

// A place for an event at t, in the order of time; NULL when there is none left.
static srRunEvent* new_event(srRunResult* result, double t, const char* kind) {
  ++result->event_count;
  if (result->nevent == SR_RUN_EVENTS) return NULL;
  int i = result->nevent++;
  for (; i > 0 && result->event[i - 1].t > t; --i) result->event[i] = result->event[i - 1];
  result->event[i] = (srRunEvent){.t = t, .kind = kind};
  return &result->event[i];
}

static void tell_impact(void* user, double t, int i) {
  Run* run = user;
  ++run->result->impacts;
  srRunEvent* event = new_event(run->result, t, "impact");
  if (event == NULL) return;
  sr_touch_names(run->touch, i, &event->a, &event->b);
  (void)snprintf(event->why, sizeof event->why, "%.40s touches%s%.40s with %.6g m/s", event->a,
                 event->b != NULL ? " " : "", event->b != NULL ? event->b : "", -run->touch->rate[i]);
}

static void tell_event(void* user, double t, int i) {
  Run* run = user;
  const srEvent* fired = &run->m->event[i];
  srRunEvent* event = new_event(run->result, t, "event");
  if (event == NULL) return;
  event->a = fired->name;
  (void)snprintf(event->why, sizeof event->why, "%.90s%s", fired->name, fired->stop ? ": the run ends" : "");
}

// The impulses of an action are a drive.
static void add_work(void* user, double energy) { ((Run*)user)->w_before[SR_ACCOUNT_DRIVER] += energy; }

static void add_heat(void* user, double energy) { ((Run*)user)->w_before[SR_ACCOUNT_FRICTION] -= energy; }

static void tell_chatter(void* user, double t, int i) {
  Run* run = user;
  const char* name = run->m->priv->of_switch[i].name;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "'%s' jumps to and fro from t = %.6g s on, as the motion is driven back to its jump from both sides: "
                  "steps will be short; "
                  "take a friction law, hysteresis or a smooth law instead of the jump",
                  name, t);
  srRunEvent* event = new_event(run->result, t, "chatter");
  if (event == NULL) return;
  event->a = name;
  (void)snprintf(event->why, sizeof event->why, "'%.50s' jumps to and fro without time passing: not located any more",
                 name);
}

// ---- the run --------------------------------------------------------------------------------------------------------

// A step, or a time between rows, that the end is not reached with before the numbers run out.
static bool check_grid(const Run* run, const char* word, double spacing, double most, srMessages* messages) {
  const double way = run->options->t_end - run->d->t;
  if (!(spacing > 0.0) || way / spacing <= most) return true;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "%s = %g s is too small: more than %g of them to the end at %g s", word, spacing, most,
                  run->options->t_end);
  return false;
}

// Does the error choose the steps?
static bool is_adaptive(const srRunOptions* o) {
  const srMethod* method = sri_method_find(o->method);
  return method == NULL || (method->adaptive && o->control != SR_CONTROL_FIXED);
}

static srStatus check_options(Run* run, srMessages* messages) {
  const srRunOptions* o = run->options;
  if (!isfinite(o->t_end) || o->t_end < run->d->t) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the end of the run, t-end = %g, must be a number not before the start t = %g", o->t_end,
                    run->d->t);
    return SR_INPUT;
  }
  if (o->t_end > LONGEST_TIME) {
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, (srPlace){0},
        "the end of the run, t-end = %g s, is too far: beyond %g s a double tells times apart no better than to %.2g s",
        o->t_end, LONGEST_TIME, LONGEST_TIME * DBL_EPSILON);
    return SR_INPUT;
  }
  if (!(o->every >= 0.0)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the time between rows, every = %g, must be positive",
                    o->every);
    return SR_INPUT;
  }
  return check_grid(run, "step", is_adaptive(o) ? 0.0 : o->step, MOST_POINTS, messages) &&
                 check_grid(run, "every", o->row != NULL ? o->every : 0.0, MOST_ROWS, messages)
             ? SR_OK
             : SR_INPUT;
}

static srStatus out_of_memory(srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the run");
  return SR_MEMORY;
}

static srIntegratorOptions integrator_options(const srRunOptions* o) {
  srIntegratorOptions options = o->control == SR_CONTROL_POSITIONS ? sri_positions_options() : sri_default_options();
  options.step = is_adaptive(o) ? 0.0 : o->step;
  options.rtol = o->rtol;
  options.atol = o->atol;
  options.control = o->control;
  options.rho = o->rho;
  options.family = o->family;
  options.tangent = o->tangent;
  options.metric = o->metric_identity ? SR_METRIC_IDENTITY : SR_METRIC_MASS;
  return options;
}

// How the constraints are kept. Methods that know no other way than their own project, or are asked not to.
static void choose_way(const srMethod* method, const srRunOptions* o, srIntegratorOptions* options) {
  const srStabilization way = o->stabilization;
  if (way == SR_STABILIZATION_NONE) options->project = SR_PROJECT_NONE;
  if (!sri_method_takes(method, way)) return;
  options->partition = way == SR_STABILIZATION_PARTITION;
  options->augmented = way == SR_STABILIZATION_AUGMENTED;
  if (way != SR_STABILIZATION_BAUMGARTE && way != SR_STABILIZATION_AUGMENTED) return;
  options->alpha = o->alpha;
  options->beta = o->beta;
}

// No equation gives the acceleration of such a coordinate.
static srStatus check_massless(const srModel* m, srMessages* messages) {
  for (int i = 0; i < m->nv; i++) {
    if (!m->dof_massless[i]) continue;
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, m->body_place[m->link_body[m->dof_link[i]]],
        "joint '%s' cannot be accelerated: nothing with mass or inertia moves with it; sr_lock_massless holds "
        "such joints where they start",
        m->joint_name[m->link_joint[m->dof_link[i]]]);
    return SR_INPUT;
  }
  return SR_OK;
}

static void warn_rule(const srRunOptions* o, srMessages* messages) {
  const srMethod* method = sri_method_find(o->method);
  if (method == NULL || !method->switches || o->control == SR_CONTROL_DEFAULT) return;
  sr_messages_add(
      messages, SR_SEVERITY_WARNING, (srPlace){0},
      "%s switches between methods only under the default rule of the step; under another one it is explicit "
      "from beginning to end",
      o->method);
}

// All memory of the run.
static srStatus prepare(Run* run, srMessages* messages) {
  const srModel* m = run->m;
  const srRunOptions* o = run->options;
  srStatus status = check_options(run, messages);
  if (status == SR_OK) status = check_massless(m, messages);
  if (status != SR_OK) return status;
  warn_rule(o, messages);
  run->t0 = run->t_row = run->d->t;
  run->t_end = o->t_end;
  run->every = o->every > 0.0 ? o->every : (run->t_end - run->t0) / 1000.0;
  run->system = (srModelSystem){.m = m, .d = run->d};
  const srMethod* method = sri_method_find(o->method);  // NULL: sri_create says so
  if (method != NULL && method->implicit && m->nset > 0 && m->nv + m->ny > MOST_DENSE) {
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, m->set[0].place,
        "the implicit method '%s' has no sparse matrix for contacts of many shapes, and %d unknowns are too "
        "many for a dense one: take an explicit method",
        method->name, m->nv + m->ny);
    return SR_INPUT;
  }
  if (method != NULL && (method->implicit || method->switches) && m->nset == 0) {
    run->system.tangent = sr_tangent_create(m);
    if (run->system.tangent == NULL) return out_of_memory(messages);
  }

  const int columns = sr_column_count(m);
  run->row = sr_alloc((size_t)(columns + m->nq + m->nv + 2 * m->ny) * sizeof(double));
  if (run->row == NULL) return out_of_memory(messages);
  run->q = run->row + columns;
  run->v = run->q + m->nq;
  run->y = run->v + m->nv;
  run->system.y_most = run->y + m->ny;

  const srSystem system = sr_system(&run->system);
  sr_bristle_warn(m, messages);
  srIntegratorOptions options = integrator_options(o);
  if (m->looped && method != NULL) choose_way(method, o, &options);
  const srStatus created = sri_create(o->method, &system, &options, messages, &run->integrator);
  if (created != SR_OK) return created;
  run->touch = sr_touch_create(m, run->d, is_adaptive(o));
  run->jumps = sr_jumps_create(m, run->d, run->integrator);
  if (run->touch == NULL || run->jumps == NULL) return out_of_memory(messages);
  run->jumps->chatter = tell_chatter;
  run->jumps->user = run;
  const srEventTold told = {
      .user = run, .event = tell_event, .impact = tell_impact, .heat = add_heat, .work = add_work};
  run->events = sr_events_create(m, run->d, &system, run->integrator, run->touch, run->jumps, &told);
  return run->events != NULL ? SR_OK : out_of_memory(messages);
}

// Do rows that depend on others agree with them in the accelerations too?
static srStatus look_at_rows(Run* run, srMessages* messages) {
  double has = 0.0, wants = 0.0;
  const int row = run->m->looped ? sr_contradicting_row(run->m, run->d, &has, &wants) : -1;
  if (row < 0) return SR_OK;
  sr_messages_add(messages, SR_SEVERITY_ERROR, run->m->row[row].place,
                  "%s contradicts the constraints that it depends on: it asks for the acceleration %.6g, and they give "
                  "%.6g",
                  run->m->row[row].name, wants, has);
  return SR_INPUT;
}

// Warnings for joints whose `nature` the partition of the coordinates could not follow.
static void tell_partition(const Run* run, srMessages* messages) {
  const srModel* m = run->m;
  const unsigned char* dependent = sri_dependent(run->integrator);
  for (int i = 0; dependent != NULL && i < m->nv && !m->gauged; ++i) {
    const int nature = m->joint_nature[m->link_joint[m->dof_link[i]]];
    if (nature == SR_NATURE_NONE || (nature == SR_NATURE_DEPENDENT) == (dependent[i] != 0)) continue;
    sr_messages_add(
        messages, SR_SEVERITY_WARNING, (srPlace){0},
        "the coordinate '%s' is %s: its nature is to be %s, which the constraints do not allow at the start",
        m->v_name[i], dependent[i] != 0 ? "dependent" : "independent", dependent[i] != 0 ? "independent" : "dependent");
  }
}

// The start state, evaluated, and its row.
static srStatus start(Run* run, srMessages* messages) {
  const srModel* m = run->m;
  srData* d = run->d;
  (void)sr_evaluate_motion(m, d, run->t0, NULL, NULL, NULL, SR_STAGE_NONE);
  listen(run, true);
  const srStatus assembled = sr_assemble(m, d, messages, &run->result->assembly);
  listen(run, false);
  if (run->stopped) return SR_OK;
  if (assembled != SR_OK) return assembled;
  (void)sr_evaluate(m, d, run->t0, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  if (sr_touch_start(run->touch, messages) != 0) return fail_at(run, run->t0, "a contact cannot be evaluated");
  if (sr_jumps_start(run->jumps) != 0) return fail_at(run, run->t0, "the formula of a law cannot be evaluated");
  if (sri_start(run->integrator, run->t0, d->q, d->v, d->y) != SR_OK)
    return fail(run, run->t0, sri_why(run->integrator));
  run->stepping = true;
  tell_partition(run, messages);
  if (evaluate_last(run, SR_STAGE_ACCELERATION) != 0) {
    return fail_at(run, run->t0, "the equations of motion cannot be evaluated at the start");
  }
  const srStatus agree = look_at_rows(run, messages);
  if (agree != SR_OK) return agree;
  if (sri_events_start(run->events->events, run->integrator) != SR_OK) {
    return fail_at(run, run->t0, "the formula of an event cannot be evaluated");
  }
  balance_start(run);
  return rows_until(run, run->t0);
}

// ---- events -----------------------------------------------------------------------------------------------------------

static srStatus fail_formula(Run* run, double t_good) {
  char sentence[160];
  const char* name = sr_events_bad(run->events);
  (void)snprintf(sentence, sizeof sentence, "the formula of %s%.80s%s cannot be evaluated",
                 name != NULL ? "the event '" : "an event", name != NULL ? name : "", name != NULL ? "'" : "");
  return fail_at(run, t_good, sentence);
}

static srStatus fail_gathered(Run* run, double t, const char* name) {
  char sentence[240];
  (void)snprintf(
      sentence, sizeof sentence,
      "the event '%.80s' comes ever sooner, without end: end the run there (stop), let another event end the "
      "motion where it is slow, or take a contact",
      name);
  return fail_at(run, t, sentence);
}

// All that happens at one instant, t: actions, and what fires because of them.
static srStatus act(Run* run, double t) {
  const double t_good = sri_time_before(run->integrator);
  bool ends = false;
  const srStatus status = sri_events_act(run->events->events, t, run->q, run->v, run->y, &ends);
  run->ended = run->ended || ends;
  if (status == SR_OK) return SR_OK;
  switch (sri_events_trouble(run->events->events).kind) {
    case SR_EVENTS_ACTION:
      if (sr_events_gathered(run->events) != NULL) return fail_gathered(run, t_good, sr_events_gathered(run->events));
      return fail_at(run, t_good,
                     "the action of an event cannot be carried out: a value is not a number, or the constraints forbid "
                     "a velocity");
    case SR_EVENTS_CROWD: return fail_at(run, t, "events follow each other without end");
    default: return fail_formula(run, t_good);
  }
}

// What an event of the last step does, at its time t; the motion starts anew from there.
static srStatus happen(Run* run, double t) {
  const double t_good = sri_time_before(run->integrator);
  if (rows_until(run, t) != SR_OK) return fail_at(run, t_good, "an output row cannot be evaluated");
  if (sri_interpolate(run->integrator, t, run->q, run->v, run->y, run->w) != SR_OK) {
    return fail_at(run, t_good, "the state at an event cannot be found");
  }
  add_work_before(run);
  memcpy(run->w_before, run->w, sizeof run->w);
  // Dense output is off the constraints by the error of the step.
  sr_normalize(run->m, run->q);
  if (run->m->looped && sri_put_on_constraints(run->integrator, t, run->q, run->v, run->y) != SR_OK) {
    return fail_at(run, t_good, "the constraints cannot be met at an event");
  }
  const srStatus status = act(run, t);
  if (status != SR_OK) return status;
  return sri_restart(run->integrator, t, run->q, run->v, run->y) == SR_OK ? SR_OK
                                                                          : fail(run, t, sri_why(run->integrator));
}

static srStatus take_events(Run* run) {
  double t = HUGE_VAL;
  if (run->events->nsource == 0) return SR_OK;
  if (sri_events_step(run->events->events, run->integrator, &t) != SR_OK) {
    return fail_formula(run, sri_time_before(run->integrator));
  }
  return t < HUGE_VAL ? happen(run, t) : SR_OK;
}

// An explicit method that was asked for by name keeps its name, and says so where it is the wrong one.
static void watch_crawling(Run* run) {
  double since, factor;
  if (run->crawled || !sri_crawls(run->integrator, &since, &factor)) return;
  run->crawled = true;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "the motion is stiff for %s from t = %.6g s on: its steps are bounded by stability, %.2g times "
                  "shorter than accuracy asks "
                  "for; try method auto or radau5",
                  run->options->method, since, factor);
}

// Instances of contacts before a step, and how far it may go.
static srStatus prepare_contacts(Run* run, double* limit) {
  const srIntegratorStats* stats = sri_stats(run->integrator);
  const double step = is_adaptive(run->options) ? 2.0 * stats->step_last : run->options->step;
  *limit = run->t_end;
  if (run->d->instances == NULL) return SR_OK;
  if (sr_touch_prepare(run->touch, run->integrator, step, limit)) sr_events_renumber(run->events);
  if (run->touch->full) return fail_at(run, sri_time(run->integrator), "a contact has no room");
  memcpy(run->y, sri_y(run->integrator), (size_t)run->m->ny * sizeof(double));
  const double heat = sr_touch_release(run->touch, run->y);
  if (heat >= 0.0) {
    const double t = sri_time(run->integrator);
    memcpy(run->q, sri_q(run->integrator), (size_t)run->m->nq * sizeof(double));
    memcpy(run->v, sri_v(run->integrator), (size_t)run->m->nv * sizeof(double));
    memcpy(run->w, sri_w(run->integrator), sizeof run->w);
    add_work_before(run);
    memcpy(run->w_before, run->w, sizeof run->w);
    run->w_before[SR_ACCOUNT_FRICTION] -= heat;
    if (sri_restart(run->integrator, t, run->q, run->v, run->y) != SR_OK) return fail(run, t, sri_why(run->integrator));
  }
  if (run->d->instances->changed) sr_bristle_slots(run->m, run->d, run->system.y_most);
  run->d->instances->changed = false;
  return SR_OK;
}

static srStatus step_to_end(Run* run) {
  while (sri_time(run->integrator) < run->t_end && !run->stopped && !run->ended) {
    double limit;
    const srStatus ready = prepare_contacts(run, &limit);
    if (ready != SR_OK) return ready;
    listen(run, true);
    const srStatus stepped = sri_step(run->integrator, limit);
    listen(run, false);
    if (stepped != SR_OK) return run->stopped ? SR_OK : fail_step(run);
    if (!state_within_bounds(run)) return fail_bounds(run);
    watch_crawling(run);
    const srStatus status = take_events(run);
    if (status != SR_OK) return status;
    if (sr_touch_step(run->touch, run->integrator, run, tell_impact) != 0) {
      return fail_at(run, sri_time_before(run->integrator), "a contact cannot be evaluated");
    }
    if (sr_jumps_step(run->jumps) != 0) {
      return fail_at(run, sri_time_before(run->integrator), "the formula of a law cannot be evaluated");
    }
    if (sr_events_late(run->events)) {
      const srStatus late = happen(run, sri_time(run->integrator));
      if (late != SR_OK) return late;
    }
    count_limits(run);
    if (rows_until(run, sri_time(run->integrator)) != SR_OK) {
      return fail_at(run, sri_time_before(run->integrator), "an output row cannot be evaluated");
    }
    watch_energy(run);
  }
  return SR_OK;
}

// d holds the last state, evaluated; the last row.
static srStatus finish(Run* run) {
  if (!run->stepping) {
    say(run, "stopped at t = %.9g by the caller, in the assembly", run->t0);
    return SR_OK;
  }
  const double t = sri_time(run->integrator);
  run->result->t = t;
  if (evaluate_at(run, t, SR_STAGE_FRAMES) != 0) {
    return fail_at(run, t, "the equations of motion cannot be evaluated at the end");
  }
  balance(run);
  if (run->stopped) {
    say(run, "stopped at t = %.9g by the caller", t);
  } else {
    hand_out(run);
  }
  return SR_OK;
}

static void rank_event(Run* run, double t, int before, int after) {
  srRunEvent* event = new_event(run->result, t, "rank");
  if (event == NULL) return;
  (void)snprintf(event->why, sizeof event->why, "the rank of the constraints goes from %d to %d", before, after);
}

static void singular_event(Run* run, double t, bool neared) {
  srRunEvent* event = new_event(run->result, t, "rank");
  if (event == NULL) return;
  (void)snprintf(event->why, sizeof event->why, "a singular position is passed%s",
                 neared ? ", or nearly so; where branches cross there, hem5 and mdop5 keep to theirs" : "");
}

static void tell_losses(Run* run) {
  double t = 0.0, off = 0.0;
  const int row = run->integrator != NULL ? sri_drifted(run->integrator, &t, &off) : -1;
  if (row >= 0) {
    srRunEvent* event = new_event(run->result, t, "position");
    if (event != NULL)
      (void)snprintf(event->why, sizeof event->why, "%.80s is off by %.3g", run->m->row[row].name, off);
  }
  if (fabs(run->lost) > MOST_LOST * run->result->energy.scale) {
    srRunEvent* event = new_event(run->result, run->t_lost, "energy");
    if (event == NULL) return;
    (void)snprintf(event->why, sizeof event->why, "the energy ledger misses %.3g J in one step, the worst of all",
                   run->lost);
  }
}

static void tell_switches(Run* run) {
  srRunResult* result = run->result;
  const srSwitch* switches = sri_switches(run->integrator, &result->nswitch);
  if (result->nswitch > 0) memcpy(result->switches, switches, (size_t)result->nswitch * sizeof *switches);
}

static void tell_events(Run* run) {
  int n = 0;
  const srRankEvent* events = run->integrator != NULL ? sri_rank_events(run->integrator, &n) : NULL;
  for (int i = 0; i < n; ++i) {
    if (events[i].before != events[i].after) {
      rank_event(run, events[i].t, events[i].before, events[i].after);
    } else {
      singular_event(run, events[i].t, events[i].kind == SR_RANK_NEARED);
    }
  }
  tell_losses(run);
}

srStatus sr_run(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages, srRunResult* result) {
  memset(result, 0, sizeof *result);
  result->t = d->t;
  Run run = {.m = m, .d = d, .options = options, .result = result, .started = wall_clock(), .messages = messages};
  run.stop = d->stop;
  run.stop_user = d->stop_user;
  run.reported = run.started;
  srStatus status = prepare(&run, messages);
  if (status == SR_OK) status = start(&run, messages);
  if (status == SR_OK) status = step_to_end(&run);
  if (status == SR_OK) status = finish(&run);
  d->stop = run.stop;
  d->stop_user = run.stop_user;
  if (run.integrator != NULL) {
    result->stats = *sri_stats(run.integrator);
    tell_switches(&run);
  }
  result->violation_position = fmax(run.system.violation_position, result->stats.violation_position);
  result->violation_velocity = fmax(run.system.violation_velocity, result->stats.violation_velocity);
  note_acceleration(&run, result->stats.violation_acceleration);
  result->rank = result->stats.rank;
  tell_events(&run);
  tell_odd_rows(&run, messages);
  result->seconds = wall_clock() - run.started;
  if (run.touch != NULL) result->clamps = run.touch->clamps;
  if (run.jumps != NULL) result->jumps = run.jumps->jumps;
  sr_events_destroy(run.events);
  sr_touch_destroy(run.touch);
  sr_jumps_destroy(run.jumps);
  sri_destroy(run.integrator);
  sr_tangent_destroy(run.system.tangent);
  sr_free(run.row);
  return status;
}
