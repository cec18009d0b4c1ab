// Why a run cannot continue: the message, the worst joint or state, the largest force and the element it comes from.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "constraint/constraint.h"
#include "force/force.h"
#include "force/instances.h"
#include "simulate/run.h"

#define AHEAD 1e-13  // of 1 s and of the time: where the cause of a failure is searched

void sr_run_say(srRun* run, const char* format, ...) {
  char* text = run->result->error_message;
  const size_t size = sizeof run->result->error_message, used = strlen(text);
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
static void say_where(srRun* run) {
  const srModel* m = run->m;
  const srData* d = run->d;
  const int v = worst_entry(d->v, m->nv), a = worst_entry(d->a, m->nv), y = worst_entry(d->y, m->ny);
  const int rate = worst_entry(d->ydot, m->ny);
  if (rate >= 0 && !isfinite(d->ydot[rate])) {
    sr_run_say(run, "; worst is the state '%s', whose rate is %s", m->y_name[rate],
               isnan(d->ydot[rate]) ? "not a number" : "infinite");
  } else if (y >= 0 && (v < 0 || !(fabs(d->y[y]) <= fabs(d->v[v])))) {
    sr_run_say(run, "; worst is the state '%s' = %.3g", m->y_name[y], d->y[y]);
  } else if (v >= 0) {
    // Constrained accelerations are computed by the integrator.
    const int i = m->constrained || isfinite(d->a[a]) ? v : a;
    const int link = m->dof_link[i];
    sr_run_say(run, "; worst is joint '%s' of body '%s': velocity %.3g %s", m->joint_name[m->link_joint[link]],
               m->body_name[m->link_body[link]], d->v[i], m->absolute ? (i % 6 < 3 ? "rad/s" : "m/s") : m->v_unit[i]);
    if (!m->constrained) sr_run_say(run, ", acceleration %.3g", d->a[i]);
  }
}

// At the last good state, which d holds: the largest generalized force and the element it comes from.
static void say_largest_force(srRun* run) {
  const srModel* m = run->m;
  srData* d = run->d;
  const int dof = worst_entry(d->f, m->nv);
  if (dof < 0 || d->f[dof] == 0.0) return;
  sr_run_say(run, "; largest generalized force %.3g on joint '%s' at t = %.9g", d->f[dof],
             m->joint_name[m->link_joint[m->dof_link[dof]]], d->t);
  double share = 0.0;
  const int source = sr_force_source(m, d, dof, &share);
  if (source >= 0) sr_run_say(run, ", where '%s' gives %.3g", sr_element(m, d, source)->name, share);
}

// The last step may have ended right before a force becomes NaN, on the last time at which it is finite.
static void say_cause_ahead(srRun* run, double t_good) {
  const double t = t_good + AHEAD * (1 + fabs(t_good));
  if (sr_evaluate_motion(run->m, run->d, t, run->q, run->v, run->y, SR_STAGE_ACCELERATION) == 0) return;
  if (run->d->error_message[0] == '\0') return;
  sr_run_say(run, "; right after it %s", run->d->error_message);
}

// Event-driven contact ends where time-stepping need not.
static void say_other_contact(srRun* run) {
  int closed, stick;
  if (run->rigid == NULL || run->options->contact != SR_CONTACT_EVENT || !run->stepping) return;
  const bool contradict = sri_rigid_contradicts(run->rigid, &closed, &stick);
  if (closed == 0) return;
  sr_run_say(run, "; %d contact%s closed", closed, closed == 1 ? " is" : "s are");
  if (stick > 0) sr_run_say(run, ", %d stick%s", stick, stick == 1 ? "s" : "");
  if (contradict) sr_run_say(run, ", and cannot all stay where they are with what drives the joints");
  sr_run_say(run, ": --contact hybrid goes on by time-stepping where events cannot");
}

srStatus sr_run_fail(srRun* run, double t_good, const char* reason) {
  if (sr_hybrid_takes_over(run, t_good, reason)) return SR_OK;

  char cause[sizeof run->d->error_message];
  memcpy(cause, run->d->error_message, sizeof cause);
  run->result->error_message[0] = '\0';
  sr_run_say(run, "%s", reason);
  if (cause[0] != '\0') {
    sr_run_say(run, "; %s", cause);
  } else {
    say_other_contact(run);
  }
  say_where(run);
  run->result->t = t_good;
  if (sr_run_evaluate_at(run, t_good, SR_STAGE_FRAMES) != 0) return SR_FAILED;
  sr_run_balance(run);
  if (run->d->t > run->t_row) sr_run_hand_out(run);
  say_largest_force(run);
  if (cause[0] == '\0') say_cause_ahead(run, t_good);
  (void)sr_run_evaluate_at(run, t_good, SR_STAGE_FRAMES);  // the searches have used d
  return SR_FAILED;
}

// Messages of the integrator contain the time themselves.
srStatus sr_run_fail_at(srRun* run, double t_good, const char* reason) {
  char sentence[300];
  (void)snprintf(sentence, sizeof sentence, "at t = %.9g %s", sri_time(run->integrator), reason);
  return sr_run_fail(run, t_good, sentence);
}

srStatus sr_run_fail_bounds(srRun* run) {
  (void)sr_run_evaluate_last(run, SR_STAGE_NONE);
  return sr_run_fail_at(run, sri_time_before(run->integrator), "the motion has blown up: its state is beyond 1e15");
}

srStatus sr_run_fail_step(srRun* run) {
  const srStabilization way = run->options->stabilization;
  const bool drifts = run->m->constrained && sri_method_find(run->options->method)->index <= 1 &&
                      way != SR_STABILIZATION_PROJECTION && way != SR_STABILIZATION_PARTITION;
  char sentence[600];
  const char* reason = sri_error_message(run->integrator);
  if (!drifts || strstr(reason, "collapsed") == NULL) return sr_run_fail(run, sri_time(run->integrator), reason);
  (void)snprintf(sentence, sizeof sentence,
                 "%s; drift off the constraints may have made redundant ones independent: try another stabilization%s",
                 reason, way == SR_STABILIZATION_NONE ? "" : " or another alpha");
  return sr_run_fail(run, sri_time(run->integrator), sentence);
}
