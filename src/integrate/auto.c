// auto: starts explicit, switches to an implicit method where the motion is stiff, and back where it no longer is.
//
//   EXPLICIT --stiff--> TRIAL --cheaper--> IMPLICIT --explicit steps would be cheaper, twice--> EXPLICIT
//                         `---not cheaper---> EXPLICIT, with three times the patience
//
// It owns two integrators: dopri5 (mdop5 where the system has constraints) and radau5. A switch restarts only the method: state,
// time, quadratures and the constraint equations in use are handed over. The stiffness test of the explicit method decides when to leave it
// (stiffness.c); counts decide whether that pays, never the clock:
//   cost = evaluations + 2 tangents + c_f factorizations,      c_f = n/4 for dense matrices of n unknowns, else 1
// (radau5 factors a real and a complex matrix for each step size, and both are counted). Back: the explicit step is bounded by the
// fastest mode, of rate rho, estimated by power iteration on the rates, and by the step that accuracy allows the implicit method:
//   h_explicit = min(beta / rho, h_implicit),     back where  stages / h_explicit < 0.7 cost per second
// beta = h rho at the switch, within 1 .. 3.3, the bounds of dopri5 on the imaginary and on the real axis.
//
// At its stability bound an explicit method excites fast modes with amplitudes of many tolerances, which an implicit method would have to follow.
// Radau IIA damps them at once where allowed: in the first steps after the switch the tolerance of the velocities is multiplied by the amplitude
// that the test has measured. Positions and states are never relaxed. A method that fails hands over to the other from the last good state.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/constrained.h"
#include "integrate/control.h"
#include "integrate/stiffness.h"

#define FIRST_STEP 10.0    // of radau5, in explicit steps; times the square of the patience
#define SLACK_STEPS 4      // with relaxed velocities
#define SLACK_MOST 100.0   // tolerances
#define TRIAL_STEPS 5      // between two checks of a trial
#define TRIAL_CHECKS 8     // at most
#define TRIAL_GROWTH 1.3   // of the mean step from check to check: less, and the trial has failed
#define TRIAL_COST 300.0   // evaluations after which it is not prolonged
#define TRIAL_CHEAPER 0.8  // of the explicit cost per second: the trial has succeeded
#define PATIENCE_FACTOR 3
#define PATIENCE_MOST 27
#define BACK_STEPS 10     // between two estimates of rho
#define BACK_CHEAPER 0.7  // of the implicit cost per second
#define BACK_CHECKS 2     // in a row; doubled each time the motion was stiff again at once ...
#define BACK_CHECKS_MOST 16
#define AT_ONCE 100      // ... which is within so many explicit steps
#define POWER_FIRST 6    // steps of the power iteration at the switch
#define POWER 4          // and later; even, since the factors of an oscillation alternate
#define POWER_SIZE 0.01  // increment, in tolerances
#define BETA_LEAST 1.0
#define BETA_MOST 3.3
#define STAGES 6.0              // evaluations of a step of dopri5
#define STAGES_CONSTRAINED 7.0  // of mdop5
#define FAILURES_MOST 20        // hand-overs after failures ...
#define FAILURES_STEPS                                                                                                 \
  20000  // ... without so many good steps in between; more than it takes to detect a collapse of the steps (control.c)
#define PARTNERS 2

typedef enum srAutoMode { MODE_EXPLICIT, MODE_TRIAL, MODE_IMPLICIT } srAutoMode;
enum { EXPLICIT, IMPLICIT };

// A stretch of steps over which cost is counted.
typedef struct srStretch {
  double t, cost;
  int steps;
} srStretch;

typedef struct srAuto {
  srIntegrator* partner[PARTNERS];  // the second is NULL where the system or the options leave none
  bool shared[PARTNERS];            // its constraints are those of the whole
  srAutoMode mode;
  double factor_cost;      // c_f
  double stages;           // evaluations of an explicit step
  double t_before, t_end;  // of the last step
  int patience;
  int slack_steps;              // remaining
  srStretch stretch;            // since the last check
  int checks;                   // of the trial; in IMPLICIT: those in a row in favour of going back
  double trial_cost, h_before;  // cost at its start, mean step of its last check
  double explicit_cost;         // per second, before the switch; 0: unknown
  double beta;
  int back_checks;     // in a row that are needed to go back
  int explicit_steps;  // since the last switch back; < 0: none
  bool power_known;
  bool due;  // IMPLICIT: back at the next step
  int failures, good_steps;
  double *direction, *rate0, *rate1, *moved;  // power iteration (n)
  srSwitch switches[SR_SWITCHES];
} srAuto;

// ---- life -------------------------------------------------------------------------------------------------------------

static size_t room(const srSystem* system, int n) {
  (void)system;
  return 4 * (size_t)n;
}

static void init(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  double** parts[] = {&work->direction, &work->rate0, &work->rate1, &work->moved};
  for (int i = 0; i < SR_COUNT(parts); ++i) *parts[i] = integrator->room + (size_t)i * (size_t)integrator->n;
  integrator->switches = work->switches;
}

// Can there be an implicit partner? It needs M and f, exact derivatives or permission for differences, and an error to control.
static bool can_switch(const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  const srIntegratorOptions* o = &integrator->options;
  return s->dynamics != NULL && (s->tangent != NULL || s->solver != NULL || o->tangent == SR_TANGENT_DIFFERENCE) &&
         (s->nq == s->nv || s->qdot != NULL) && o->control == SR_CONTROL_DEFAULT && o->atol > 0.0;
}

static srStatus own(srIntegrator* integrator, int which, const char* method, srMessages* messages) {
  srAuto* work = integrator->work;
  srIntegratorOptions options = integrator->options;
  if (which == IMPLICIT) {  // it enforces the constraints in its own way
    options.alpha = options.beta = 0.0;
    options.augmented = false;
  }
  const srStatus status = sri_create(method, &integrator->system, &options, messages, &work->partner[which]);
  if (status != SR_OK || work->partner[which]->constrained == NULL) return status;
  sri_constrained_destroy(work->partner[which]->constrained);
  work->partner[which]->constrained = integrator->constrained;
  work->shared[which] = true;
  return SR_OK;
}

static srStatus create(srIntegrator* integrator, srMessages* messages) {
  srAuto* work = integrator->work;
  const srSystem* s = &integrator->system;
  const bool by_rates = !sri_solves_constraints(&sri_dopri5_ops, s, &integrator->options);
  work->factor_cost = s->G_sparsity != NULL || s->solver != NULL ? 1.0 : 0.25 * (s->nv + s->ny);
  work->stages = by_rates ? STAGES : STAGES_CONSTRAINED;
  const srStatus status =
      own(integrator, EXPLICIT, by_rates || sri_ways_asked(&integrator->options) ? "dopri5" : "mdop5", messages);
  if (status != SR_OK || !can_switch(integrator)) return status;
  return own(integrator, IMPLICIT, "radau5", messages);
}

static void destroy(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  for (int i = 0; i < PARTNERS; ++i) {
    if (work->shared[i]) work->partner[i]->constrained = NULL;
    sri_destroy(work->partner[i]);
  }
}

// ---- partners ---------------------------------------------------------------------------------------------------------

static int active(const srAuto* work) { return work->mode == MODE_EXPLICIT ? EXPLICIT : IMPLICIT; }

// A partner continues from the present state. first_step: 0 where it chooses by itself.
static void seat(srIntegrator* integrator, int which, double first_step) {
  srIntegrator* p = ((srAuto*)integrator->work)->partner[which];
  sri_copy(p->x, integrator->x, integrator->n);
  sri_copy(p->x_before, integrator->x, integrator->n);
  p->t = p->t_before = integrator->t;
  p->h = 0.0;
  p->acceleration = NULL;
  p->velocity_slack = 1.0;
  p->stats = integrator->stats;
  p->started = true;
  p->continues = integrator->continues && !(first_step > 0.0);
  p->options.step = first_step > 0.0 ? first_step : integrator->options.step;
  p->ops->start(p);
}

static void take_over(srIntegrator* integrator, const srIntegrator* p) {
  sri_copy(integrator->x, p->x, integrator->n);
  sri_copy(integrator->x_before, p->x_before, integrator->n);
  integrator->t = p->t;
  integrator->t_before = p->t_before;
  integrator->h = p->h;
  integrator->lambda = p->lambda;
  integrator->acceleration = p->acceleration;
}

// One step of the partner in use.
static srStatus step_partner(srIntegrator* integrator, double t_limit) {
  srAuto* work = integrator->work;
  srIntegrator* p = work->partner[active(work)];
  p->stats = integrator->stats;
  const srStatus status = sri_step(p, t_limit);
  integrator->stats = p->stats;
  if (status != SR_OK) return sri_fail(integrator, "%s", sri_error_message(p));
  take_over(integrator, p);
  return SR_OK;
}

// ---- cost -------------------------------------------------------------------------------------------------------------

static double cost_so_far(const srIntegrator* integrator) {
  const srAuto* work = integrator->work;
  const srIntegratorStats* s = &integrator->stats;
  return (double)s->evaluations + 2.0 * (double)s->tangents + work->factor_cost * (double)s->factorizations;
}

static void begin_stretch(srIntegrator* integrator, srStretch* stretch) {
  *stretch = (srStretch){.t = integrator->t, .cost = cost_so_far(integrator)};
}

// ---- rate of the fastest mode -----------------------------------------------------------------------------------------

static bool rates_at(srIntegrator* integrator, const double* x, double* rate) {
  srAuto* work = integrator->work;
  srIntegrator* p = work->partner[EXPLICIT];
  if (sri_not_finite(integrator, x) >= 0) return false;
  p->stats = integrator->stats;
  const int outcome = sri_rates(p, integrator->t, x, SR_TAU_ELEMENT, rate);
  integrator->stats = p->stats;
  return outcome == SRI_DONE && sri_not_finite(integrator, rate) < 0;
}

// Every entry moved by one tolerance, with signs that no symmetry shares.
static void first_direction(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  unsigned bits = 1u;
  for (int i = 0; i < integrator->ncontrol; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const double size = sri_allowed_error(integrator, i, fabs(integrator->x[i]));
    work->direction[i] = (bits >> 16 & 1u) != 0 ? size : -size;
  }
  work->power_known = true;
}

// rho at the present state: geometric mean of the growth over so many steps of the power iteration, from the direction of the last estimate. 0:
// none.
static double fastest_rate(srIntegrator* integrator, int steps) {
  srAuto* work = integrator->work;
  double product = 0.0;  // logarithm
  if (!work->power_known) first_direction(integrator);
  if (!rates_at(integrator, integrator->x, work->rate0)) return 0.0;
  sri_copy(work->moved, integrator->x, integrator->n);
  for (int k = 0; k < steps; ++k) {
    const double size = sri_scaled_norm(integrator, work->direction, NULL);
    if (!(size > 0.0) || !isfinite(size)) return 0.0;
    for (int i = 0; i < integrator->ncontrol; ++i) {
      work->direction[i] *= POWER_SIZE / size;
      work->moved[i] = integrator->x[i] + work->direction[i];
    }
    if (!rates_at(integrator, work->moved, work->rate1)) return 0.0;
    for (int i = 0; i < integrator->ncontrol; ++i) work->direction[i] = work->rate1[i] - work->rate0[i];
    const double growth = sri_scaled_norm(integrator, work->direction, NULL) / POWER_SIZE;
    if (!(growth > 0.0)) {
      work->power_known = false;
      return 0.0;
    }
    product += log(growth);
  }
  return exp(product / steps);
}

// ---- switches ---------------------------------------------------------------------------------------------------------

SR_PRINTF(3, 4)
static void note_switch(srIntegrator* integrator, int to, const char* format, ...) {
  srAuto* work = integrator->work;
  const long i = integrator->stats.switches++;
  if (i >= SR_SWITCHES) return;
  srSwitch* entry = &work->switches[i];
  entry->t = integrator->t;
  entry->from = work->partner[1 - to]->ops->method.name;
  entry->to = work->partner[to]->ops->method.name;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(entry->reason, sizeof entry->reason, format, arguments);
  va_end(arguments);
}

static srStiffness* test_of(const srAuto* work) { return work->partner[EXPLICIT]->stiffness; }

// A switch back that did not last makes the next one harder.
static void learn_from_way_back(srAuto* work) {
  if (work->explicit_steps < 0) return;
  const int more = 2 * work->back_checks < BACK_CHECKS_MOST ? 2 * work->back_checks : BACK_CHECKS_MOST;
  work->back_checks = work->explicit_steps <= AT_ONCE ? more : BACK_CHECKS;
  work->explicit_steps = -1;
}

static void enter_implicit(srIntegrator* integrator, srAutoMode mode) {
  srAuto* work = integrator->work;
  learn_from_way_back(work);
  const srStiffWindow* window = &work->partner[EXPLICIT]->stiffness->last;
  work->mode = mode;
  work->checks = 0;
  work->h_before = 0.0;
  work->due = false;
  work->explicit_cost = !window->known ? 0.0 : window->cost > 0.0 ? window->cost : work->stages / window->h;
  work->power_known = false;
  const double rho = fastest_rate(integrator, POWER_FIRST);
  work->beta = window->known ? fmin(BETA_MOST, fmax(BETA_LEAST, window->h * rho)) : BETA_LEAST;
  // The explicit partner may have changed the equations in use without checking them.
  if (!work->shared[EXPLICIT]) sri_constrained_start(integrator);
  // Where rounding keeps a fast mode above its tolerance, steps of a few periods do not damp it, and much longer ones do: trials after a failed
  // one start with these.
  const double first = FIRST_STEP * work->patience * work->patience * window->h;
  seat(integrator, IMPLICIT, window->known ? first : 0.0);
  work->slack_steps = window->known ? SLACK_STEPS : 0;
  if (work->slack_steps > 0) {
    work->partner[IMPLICIT]->velocity_slack = fmin(SLACK_MOST, fmax(1.0, 2.0 * window->err));
  }
  work->trial_cost = cost_so_far(integrator);
  begin_stretch(integrator, &work->stretch);
}

static void enter_explicit(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  work->mode = MODE_EXPLICIT;
  work->due = false;
  sri_stiffness_clear(test_of(work));
  seat(integrator, EXPLICIT, 0.0);
}

// A switch that is due.
static void change_method(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  if (work->partner[IMPLICIT] == NULL) return;
  if (work->mode == MODE_EXPLICIT && sri_stiffness_due(test_of(work), work->patience)) {
    const srStiffWindow* window = &test_of(work)->last;
    note_switch(integrator, IMPLICIT, "stiff: steps of %.2g s, where accuracy alone would allow %.2g s", window->h,
                window->h * window->factor);
    enter_implicit(integrator, MODE_TRIAL);
  } else if (work->mode != MODE_EXPLICIT && work->due) {
    if (work->mode == MODE_TRIAL) {
      work->patience =
          work->patience * PATIENCE_FACTOR < PATIENCE_MOST ? work->patience * PATIENCE_FACTOR : PATIENCE_MOST;
      note_switch(integrator, EXPLICIT, "a trial of the implicit method was not cheaper");
    } else {
      note_switch(integrator, EXPLICIT, "not stiff any more: explicit steps cost less");
      work->explicit_steps = 0;
    }
    enter_explicit(integrator);
  }
}

// ---- checks after a step ----------------------------------------------------------------------------------------------

static void check_trial(srIntegrator* integrator, double rate, double mean) {
  srAuto* work = integrator->work;
  ++work->checks;
  if (rate < TRIAL_CHEAPER * work->explicit_cost) {
    work->mode = MODE_IMPLICIT;
    work->checks = 0;
    work->patience = work->patience > PATIENCE_FACTOR ? work->patience / PATIENCE_FACTOR : 1;
    return;
  }
  const bool grows = mean > TRIAL_GROWTH * work->h_before;
  work->h_before = mean;
  work->due = !grows || work->checks == TRIAL_CHECKS || cost_so_far(integrator) - work->trial_cost > TRIAL_COST;
}

static void check_back(srIntegrator* integrator, double rate, double mean) {
  srAuto* work = integrator->work;
  const double rho = fastest_rate(integrator, POWER);
  const double h = rho > 0.0 ? fmin(work->beta / rho, mean) : 0.0;
  const bool cheaper = h > 0.0 && work->stages / h < BACK_CHEAPER * rate;
  work->checks = cheaper ? work->checks + 1 : 0;
  work->due = work->checks >= work->back_checks;
}

// After a step of the implicit partner.
static void observe_implicit(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  srStretch* stretch = &work->stretch;
  if (work->slack_steps > 0 && --work->slack_steps == 0) work->partner[IMPLICIT]->velocity_slack = 1.0;
  if (++stretch->steps < (work->mode == MODE_TRIAL ? TRIAL_STEPS : BACK_STEPS)) return;
  const double time = integrator->t - stretch->t, rate = (cost_so_far(integrator) - stretch->cost) / time;
  if (work->mode == MODE_TRIAL) {
    check_trial(integrator, rate, time / stretch->steps);
  } else {
    check_back(integrator, rate, time / stretch->steps);
  }
  begin_stretch(integrator, stretch);
}

// ---- failures ---------------------------------------------------------------------------------------------------------

// The other partner, from the last good state.
static srStatus hand_over(srIntegrator* integrator, double t_limit) {
  srAuto* work = integrator->work;
  const int failed = active(work), other = 1 - failed;
  char reason[sizeof integrator->error_message];
  memcpy(reason, integrator->error_message, sizeof reason);
  if (work->partner[IMPLICIT] == NULL || work->failures == FAILURES_MOST || work->partner[failed]->told_to_stop) {
    return SR_FAILED;
  }
  ++work->failures;
  work->good_steps = 0;
  note_switch(integrator, other, "%s", reason);
  if (other == IMPLICIT) {
    enter_implicit(integrator, MODE_IMPLICIT);
  } else {
    enter_explicit(integrator);
  }
  const srStatus status = step_partner(integrator, t_limit);
  if (status == SR_OK) return SR_OK;
  // Both have failed: the first message is the more informative one, and the other method gained nothing.
  --integrator->stats.switches;
  memcpy(integrator->error_message, reason, sizeof reason);
  return status;
}

// ---- start, step, dense output ----------------------------------------------------------------------------------------

static void start(srIntegrator* integrator) {
  srAuto* work = integrator->work;
  const double t = integrator->t;
  const bool event =
      t > work->t_before && t <= work->t_end;  // inside the last step: method, counters and pending switches are kept
  integrator->lambda = NULL;
  if (!event) {
    work->mode = MODE_EXPLICIT;
    work->patience = 1;
    work->back_checks = BACK_CHECKS;
    work->explicit_steps = -1;
    work->failures = work->good_steps = 0;
    work->due = false;
  }
  if (work->mode != MODE_EXPLICIT) {
    const double slack = work->partner[IMPLICIT]->velocity_slack;
    seat(integrator, IMPLICIT, 0.0);
    work->partner[IMPLICIT]->velocity_slack = slack;
    work->stretch.t = fmin(work->stretch.t, t);  // what an event cut off is not progress
  } else {
    seat(integrator, EXPLICIT, 0.0);
  }
  work->t_before = work->t_end = t;
}

static srStatus step(srIntegrator* integrator, double t_limit) {
  srAuto* work = integrator->work;
  change_method(integrator);
  srStatus status = step_partner(integrator, t_limit);
  if (status != SR_OK) status = hand_over(integrator, t_limit);
  if (status != SR_OK) return status;
  work->t_before = integrator->t_before;
  work->t_end = integrator->t;
  if (++work->good_steps == FAILURES_STEPS) work->failures = 0;
  if (work->mode != MODE_EXPLICIT) {
    observe_implicit(integrator);
  } else if (work->explicit_steps >= 0 && work->explicit_steps <= AT_ONCE) {
    ++work->explicit_steps;
  }
  return SR_OK;
}

static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  const srAuto* work = integrator->work;
  const srIntegrator* p = work->partner[active(work)];
  p->ops->interpolate(p, theta, first, count, out);
}

const srIntegratorOps sri_auto_ops = {
    .method = {.name = "auto",
               .order = 5,
               .adaptive = true,
               .index = 1,
               .baumgarte = true,
               .partitions = true,
               .switches = true,
               .family = "dormand-prince",
               .about = "dopri5 (mdop5 with constraints), and radau5 where the motion is stiff"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(constraint),
    .index1 = true,
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srAuto),
    .room = room,
    .init = init,
    .create = create,
    .start = start,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
};
