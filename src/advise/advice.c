// From the survey and the trials to a recommendation, by the flags of the methods and the measurements:
//   candidates          done, error within SR_ADVICE_ACCEPT tolerances, constraints satisfied; of these the ones with step control; with
//                       constraints the ones that solve the constraints themselves (index >= 1)
//   kind                explicit where the model is not stiff; implicit where it is, unless explicit ones cost less than half
//                       as much all the same
//   method              the cheapest at equal accuracy,  cost = seconds max(1, error/wanted)^(1/order)
//                       of those that cost about the same, by criteria independent of the clock: is_plainer
#include <math.h>
#include <sarrus/recommend.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define ALIKE 1.5         // costs up to this ratio are the same: clocks are no better
#define BUSY 3.0          // nor are those of busy machines, where the number of evaluations indicates equal cost
#define ROUNDING 1e-10    // velocity constraints satisfied to this are satisfied to rounding
#define CONTRADICTS 2.0   // costs less by this: the clock contradicts the rule
#define SEEN 1.5          // factor of steps from which it is reported
#define EVENTS_MANY 20.0  // steps per event below which restarts matter

// Methods that restart slowly, at order 1: not stated by a flag.
static const char* const multistep[] = {"cvode", "ida"};

typedef struct Choice {
  const srModel* m;
  const srSurvey* s;
  const srMethodTrial* trial;
  int n;
  double rtol;
  srAdvice* out;
} Choice;

// A tree has at most drivers, and springs instead of joints leave no constraint equations.
static bool has_rows(const Choice* c) { return c->m->constrained && c->m->ng > 0; }

static const srMethod* method_of(const Choice* c, int i) { return sri_method(c->trial[i].method); }

static bool is_multistep(const srMethod* method) {
  return sr_word_index(multistep, SR_COUNT(multistep), method->name) >= 0;
}

static bool is_accurate(const Choice* c, int i) {
  const srMethodTrial* x = &c->trial[i];
  if (!x->done || (c->s->reference != NULL && !(x->error <= SR_ADVICE_ACCEPT * c->rtol))) return false;
  return !has_rows(c) || x->violation[0] <= SR_ADVICE_VIOLATION;
}

// ---- choosing ---------------------------------------------------------------------------------------------------------

#define MOST_STANDING 4
// Rank of a trial as a candidate: the larger, the better; 0: excluded.
static int standing(const Choice* c, int i) {
  const srMethod* method = method_of(c, i);
  if (!is_accurate(c, i) || method->order < 2) return 0;
  const bool rows = !has_rows(c) || method->index > 0;
  return 1 + rows + 2 * !isnan(c->trial[i].rtol);
}

// Growth of the work until the error is the requested one: at order p, so many times as many steps. Excess accuracy is not
// credited: the tolerance stays.
static double shortfall(const Choice* c, int i) {
  const double times = c->trial[i].error / c->rtol;
  return times > 1.0 && c->s->reference != NULL ? pow(times, 1.0 / method_of(c, i)->order) : 1.0;
}

static double cost(const Choice* c, int i) {
  const double x = c->trial[i].seconds * shortfall(c, i);
  return isnan(x) ? HUGE_VAL : x;
}

// The cheapest of this standing and kind, -1: none. Multistep methods are avoided where events are many.
static int cheapest(const Choice* c, int level, bool implicit) {
  const bool many = c->s->steps_per_event < EVENTS_MANY;
  int best = -1;
  for (int i = 0; i < c->n; ++i) {
    const srMethod* method = method_of(c, i);
    if (standing(c, i) != level || method->implicit != implicit || (many && is_multistep(method))) continue;
    if (best < 0 || cost(c, i) < cost(c, best)) best = i;
  }
  return best;
}

static bool keeps_velocities(const Choice* c, int i) { return c->trial[i].violation[1] <= ROUNDING; }

static bool needs_clearly_fewer(const Choice* c, int a, int b) {
  return ALIKE * (double)c->trial[a].evaluations < (double)c->trial[b].evaluations;
}

// Is a preferred to b where both cost the same? The reason, NULL: no. Clocks have no influence, and the
// flags come first, so that the answer is reproducible.
static const char* is_plainer(const Choice* c, int a, int b) {
  const srMethod *x = method_of(c, a), *y = method_of(c, b);
  // No constraints: nothing to check.
  if (!has_rows(c) && (x->index == 0) != (y->index == 0))
    return x->index == 0 ? "it does no work for constraints" : NULL;
  if (x->order != y->order) return x->order > y->order ? "its order is higher" : NULL;
  if (is_multistep(x) != is_multistep(y)) return is_multistep(y) ? "it starts at full order" : NULL;
  if (has_rows(c) && keeps_velocities(c, a) != keeps_velocities(c, b))
    return keeps_velocities(c, a) ? "it satisfies the velocity constraints to rounding" : NULL;
  if (needs_clearly_fewer(c, a, b)) return "it needs fewer evaluations";
  return c->trial[a].method < c->trial[b].method && !needs_clearly_fewer(c, b, a) ? "it is the plainer one" : NULL;
}

// Do both cost the same? Explicit methods do about the same work per evaluation.
static bool are_alike(const Choice* c, int i, int best) {
  const srMethodTrial *x = &c->trial[i], *y = &c->trial[best];
  const double work = (double)x->evaluations * shortfall(c, i), least = (double)y->evaluations * shortfall(c, best);
  const bool counted = !method_of(c, i)->implicit && !method_of(c, best)->implicit && least > 0.0;
  return cost(c, i) <= (counted && work <= ALIKE * least ? BUSY : ALIKE) * cost(c, best);
}

static int choose_of_kind(const Choice* c, int level, bool implicit) {
  const int best = cheapest(c, level, implicit);
  int taken = best;
  for (int i = 0; best >= 0 && i < c->n; ++i) {
    const srMethod* method = method_of(c, i);
    if (standing(c, i) != level || method->implicit != implicit || !are_alike(c, i, best)) continue;
    if (is_plainer(c, i, taken) != NULL) taken = i;
  }
  return taken;
}

static int best_of_kind(const Choice* c, bool implicit) {
  int best = -1;
  for (int level = MOST_STANDING; level > 0 && best < 0; --level) best = choose_of_kind(c, level, implicit);
  return best;
}

// Of all that are accurate; *other: the best of the other kind.
static int choose(const Choice* c, int* other) {
  const bool stiff = c->s->stiff;
  const int wanted = best_of_kind(c, stiff), rest = best_of_kind(c, !stiff);
  const bool pays = rest >= 0 && (stiff ? CONTRADICTS * cost(c, rest) < cost(c, wanted)  //
                                        : standing(c, rest) > standing(c, wanted));
  const bool turned = wanted < 0 || pays;
  *other = turned ? wanted : rest;
  return turned ? rest : wanted;
}

// None is accurate: the least error of those that finished.
static int least_error(const Choice* c) {
  int best = -1;
  for (int i = 0; i < c->n; ++i) {
    const srMethodTrial* x = &c->trial[i];
    if (!x->done || isnan(x->error) || method_of(c, i)->order < 2) continue;
    if (best < 0 || x->error < c->trial[best].error) best = i;
  }
  return best;
}

static int next_of_kind(const Choice* c, int taken) {
  int best = -1;
  for (int i = 0; i < c->n; ++i) {
    if (c->trial[i].method == c->trial[taken].method || standing(c, i) == 0) continue;
    if (best < 0 || standing(c, i) > standing(c, best) ||
        (standing(c, i) == standing(c, best) && cost(c, i) < cost(c, best)))
      best = i;
  }
  return best;
}

// ---- sentences --------------------------------------------------------------------------------------------------------

static void say(Choice* c, const char* format, ...) SR_PRINTF(2, 3);
static void say(Choice* c, const char* format, ...) {
  if (c->out->nreason == SR_ADVICE_REASONS) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(c->out->reason[c->out->nreason++], sizeof c->out->reason[0], format, arguments);
  va_end(arguments);
}

static void say_stiffness(Choice* c) {
  const srSurvey* s = c->s;
  const srEigenvalue l = s->largest;
  const double size = hypot(l.re, l.im);
  if (!(s->step_estimate.steps > 0.0)) {
    say(c, "stiffness is not known: no trial run got on; the largest eigenvalue at the start is %.3g 1/s", size);
    return;
  }
  const char* kind = fabs(l.im) > fabs(l.re) ? "an oscillation" : l.re > 0.0 ? "a growing mode" : "a decaying mode";
  char bounded[120] = "accuracy bounds the steps of explicit methods";
  if (s->factor > SEEN)
    (void)snprintf(bounded, sizeof bounded,
                   "stability bounds the steps of explicit methods, which become %.3g times as many", s->factor);
  char stable[80] = "";
  if (isfinite(sr_stability_bound(l)))
    (void)snprintf(stable, sizeof stable,
                   "explicit methods are stable up to about %.2g there: ", sr_stability_bound(l));
  say(c,
      "%s: the largest eigenvalue, %.3g 1/s (%s), times the step of %.3g s that accuracy at rtol %g allows is %.3g; "
      "%s%s",
      s->stiff ? "stiff" : "not stiff", size, kind, s->step_estimate.h, c->rtol, s->ratio, stable, bounded);
}

static void say_rows(Choice* c, int taken) {
  const srSurvey* s = c->s;
  const srMethod* method = method_of(c, taken);
  if (!has_rows(c)) return;
  char rank[160] = "";
  if (s->nredundant > 0 || s->rank_changes + s->singular > 0)
    (void)snprintf(rank, sizeof rank,
                   "; %d equations are redundant, the rank changed %ld times, %ld singular positions were passed",
                   s->nredundant, s->rank_changes, s->singular);
  if (method->index > 0)
    say(c, "constraints, %d equations of rank %d%s: %s solves them itself (index %d), largest violation %.2g", s->ng,
        s->rank, rank, method->name, method->index, c->trial[taken].violation[0]);
  else
    say(c,
        "constraints, %d equations of rank %d%s: no method that solves them itself was accurate; stabilization is "
        "needed",
        s->ng, s->rank, rank);
}

// Why the selected one is preferred to another that took less time in its trial.
static void explain_cost(const Choice* c, int taken, int other, char* text, size_t size) {
  const srMethod *a = method_of(c, other), *b = method_of(c, taken);
  const char* plainer = is_plainer(c, taken, other);
  if (standing(c, other) < standing(c, taken))
    (void)snprintf(text, size, "%s", isnan(c->trial[other].rtol) ? "it has no step control" : "it needs stabilization");
  else if (a->implicit != b->implicit)
    (void)snprintf(text, size, "it is %s, and the model is %s", a->implicit ? "implicit" : "explicit",
                   c->s->stiff ? "stiff" : "not stiff");
  else if (cost(c, other) > cost(c, taken))
    (void)snprintf(text, size, "its error is %.2g times that of %s, and equal accuracy would take it %.3g s",
                   c->trial[other].error / c->trial[taken].error, b->name, cost(c, other));
  else if (c->s->steps_per_event < EVENTS_MANY && is_multistep(a))
    (void)snprintf(text, size, "it would begin with order 1 at each of the many events");
  else
    (void)snprintf(text, size, "the difference may be the clock's, and %s is taken because %s", b->name,
                   plainer != NULL ? plainer : "it comes before a third one that costs less");
}

static void say_cost(Choice* c, int taken) {
  const srMethodTrial* x = &c->trial[taken];
  char rival[320] = "";
  const int next = next_of_kind(c, taken);
  if (next >= 0) {
    char reason[240] = "";
    const bool cheaper = c->trial[next].seconds < x->seconds;
    if (cheaper) explain_cost(c, taken, next, reason, sizeof reason);
    (void)snprintf(rival, sizeof rival, "; next %s with %.3g s%s%s", method_of(c, next)->name, c->trial[next].seconds,
                   cheaper ? ", but " : "", reason);
  }
  say(c, "%s takes %.3g s for a second of motion, %ld steps and %ld rejected in the trial of %.3g s%s",
      method_of(c, taken)->name, x->seconds, x->steps, x->rejected, c->s->t_window - c->s->t0, rival);
}

static void say_tolerance(Choice* c, int taken) {
  const srMethodTrial* x = &c->trial[taken];
  if (c->s->reference == NULL) {
    say(c, "its error is not known: there is no tight run to compare with");
  } else if (!c->out->accurate) {
    say(c, "no trial came within %g tolerances of the tight run; this one is the nearest, with an error of %.2g",
        SR_ADVICE_ACCEPT, x->error);
  } else if (!isnan(x->rtol)) {
    say(c, "rtol %g: the error against a run at %.2g was %.2g, %.2g times the %g that is wanted", x->rtol,
        c->s->rtol_tight, x->error, x->error / c->rtol, c->rtol);
  } else {
    say(c, "step %.3g s: the error against a run at %.2g was %.2g; no method with step control was accurate", x->step,
        c->s->rtol_tight, x->error);
  }
}

static void say_events(Choice* c) {
  const srSurvey* s = c->s;
  if (s->events == 0 && s->nonsmooth == 0) return;
  if (s->events == 0)
    say(c,
        "%d nonsmooth functions in formulas (kinks or jumps), no event in the trial: a change at a known place is "
        "better written as an <event>",
        s->nonsmooth);
  else if (s->steps_per_event < EVENTS_MANY)
    say(c, "%.3g events a second, one in %.3g steps: a one-step method starts anew at full order", s->events_per_second,
        s->steps_per_event);
  else
    say(c, "%.3g events a second, one in %.3g steps: restarts cost little", s->events_per_second, s->steps_per_event);
}

static void say_alternative(Choice* c, int taken, int other) {
  srAdvice* out = c->out;
  const int i = other >= 0 ? other : next_of_kind(c, taken);
  if (i < 0) return;
  const srMethod *a = method_of(c, i), *b = method_of(c, taken);
  out->alternative = i;
  const double ratio = c->trial[i].seconds / c->trial[taken].seconds;
  char cheaper[280], reason[240];
  explain_cost(c, taken, i, reason, sizeof reason);
  (void)snprintf(cheaper, sizeof cheaper, "it took less time in this trial, but %s", reason);
  const char* when = ratio < 1                     ? cheaper
                     : a->implicit && !b->implicit ? "if springs or dampers become stiffer"
                     : !a->implicit && b->implicit ? "if the fast modes themselves are wanted, at tight tolerances"
                                                   : "as a second opinion";
  (void)snprintf(out->alternative_reason, sizeof out->alternative_reason,
                 "%s: %.3g times the time of %s, error %.2g in the same trial", when, ratio, b->name,
                 c->trial[i].error);
}

void sr_advise(const srModel* m, const srSurvey* survey, const srMethodTrial* trial, int n, double rtol,
               srAdvice* out) {
  Choice c = {.m = m, .s = survey, .trial = trial, .n = n, .rtol = rtol, .out = out};
  int other = -1;
  *out = (srAdvice){.trial = -1, .alternative = -1};
  int taken = choose(&c, &other);
  out->accurate = taken >= 0;
  if (taken < 0) taken = least_error(&c);
  out->trial = taken;
  say_stiffness(&c);
  if (taken < 0) {
    say(&c, "no trial came to the end of its window of %.3g s", survey->t_window - survey->t0);
    return;
  }
  if (survey->stiff && !method_of(&c, taken)->implicit)
    say(&c, "no implicit method was accurate and cheaper in the trials: the explicit one has to take short steps");
  say_rows(&c, taken);
  say_cost(&c, taken);
  say_tolerance(&c, taken);
  say_events(&c);
  say_alternative(&c, taken, other);
}
