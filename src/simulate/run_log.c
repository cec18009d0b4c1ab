// The list of events of a run, in order of time, as the result reports it.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "dynamics/link.h"
#include "force/force.h"
#include "model/private.h"
#include "simulate/run.h"
#include "system/system.h"

#define RARE 64         // places in the list that impacts leave to other events; loads and sleep half of them
#define MOST_LOST 1e-3  // of the largest energy in one step: more is reported

// The place of an event at t in the list; NULL: those beyond the capacity are only counted.
static srRunEvent* add(srRun* run, double t, const char* kind, const char* a, const char* b) {
  srRunResult* result = run->result;
  ++result->event_count;
  if (result->nevent >= SR_RUN_EVENTS - RARE) {
    const bool common = strcmp(kind, "load") == 0 || strcmp(kind, "sleep") == 0 || strcmp(kind, "wake") == 0;
    const int room = SR_RUN_EVENTS - (strcmp(kind, "impact") == 0 ? RARE : common ? RARE / 2 : 0);
    if (result->nevent >= room) return NULL;
  }
  int i = result->nevent++;
  for (; i > 0 && result->event[i - 1].t > t; --i) result->event[i] = result->event[i - 1];
  srRunEvent* event = &result->event[i];
  event->t = t;
  event->kind = kind;
  event->a = a;
  event->b = b;
  event->verb = event->remark = NULL;
  event->speed = 0;
  event->reason[0] = '\0';
  return event;
}

SR_PRINTF(6, 7)
static void note(srRun* run, double t, const char* kind, const char* a, const char* b, const char* format, ...) {
  srRunEvent* event = add(run, t, kind, a, b);
  if (event == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(event->reason, sizeof event->reason, format, arguments);
  va_end(arguments);
}

static void note_impact_of(srRun* run, double t, const char* a, const char* verb, const char* b, double speed,
                           const char* remark) {
  srRunEvent* event = add(run, t, "impact", a, b);
  if (event == NULL) return;
  event->speed = speed;
  event->verb = verb;
  event->remark = remark;
}

const char* sr_run_event_reason(const srRunEvent* event, char* text) {
  char number[32];
  const char* b = event->b != NULL ? event->b : "";
  if (event->verb == NULL) return event->reason;
  (void)sr_number_print(event->speed, 6, number, sizeof number);
  (void)snprintf(text, sizeof event->reason, "%.40s %s%s%.40s with %s m/s%s", event->a, event->verb,
                 event->b != NULL ? " " : "", b, number, event->remark);
  return text;
}

// ---- as they happen -----------------------------------------------------------------------------------------------------

void sr_run_tell_impact(void* user, double t, int i) {
  srRun* run = user;
  const char *a = NULL, *b = NULL;
  ++run->result->impacts;
  sr_contact_monitor_names(run->contacts, i, &a, &b);
  note_impact_of(run, t, a, "touches", b, -run->contacts->rate[i], "");
}

void sr_run_tell_passed(void* user, double t, double step, int i) {
  srRun* run = user;
  const char *a = NULL, *b = NULL;
  sr_contact_monitor_names(run->contacts, i, &a, &b);
  note(run, t, "passed", a, b, "%.40s passes through %.40s within a step", a, b);
  if (run->passed++ > 0) return;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "'%s' and '%s' pass through each other within the step about t = %.6g s, without a force: they are "
                  "thin and fast; take steps below %.2g s%s",
                  a, b, t, step, sr_run_is_adaptive(run->options) ? "" : ", or a method with error control");
}

// One impact per pair, at the speed of its fastest point.
void sr_run_tell_struck(srRun* run) {
  const srImpulses* x = sri_impulses(run->integrator);
  for (int i = 0, next; x != NULL && i < x->nstruck; i = next) {
    const char *a = NULL, *b = NULL;
    double speed = x->speed[i];
    const long key = sr_contact_key(run->m, x->struck[i]);
    for (next = i + 1; next < x->nstruck && sr_contact_key(run->m, x->struck[next]) == key; ++next) {
      speed = fmax(speed, x->speed[next]);
    }
    ++run->result->impacts;
    sr_contact_names(run->m, x->struck[i], &a, &b);
    note_impact_of(run, x->time[i], a, "touches", b, speed, "");
  }
}

// A phase of steps in Painleve's configuration is one event; the first is a warning.
void sr_run_tell_jam(srRun* run) {
  const srImpulses* x = sri_impulses(run->integrator);
  const char *a = NULL, *b = NULL;
  if (x == NULL) return;
  const bool begins = x->jam >= 0 && !run->jams;
  run->jams = x->jam >= 0;
  if (!begins) return;
  const double t = sri_time_before(run->integrator);
  sr_contact_names(run->m, x->jam, &a, &b);
  note(run, t, "painleve", a, b, "%.40s is in Painleve's configuration%s%.40s", a, b != NULL ? " with " : "",
       b != NULL ? b : "");
  if (run->jammed++ > 0) return;
  sr_messages_add(
      run->messages, SR_SEVERITY_WARNING, (srPlace){0},
      "'%s%s%s' slides in Painleve's configuration at t = %.6g s: its friction presses it into the surface, "
      "rigid bodies have no motion there, or several, and the run depends on the step from there on; "
      "--contact event has the impact without collision",
      a, b != NULL ? "' on '" : "", b != NULL ? b : "", t);
}

void sr_run_tell_sleep(srRun* run) {
  const srModel* m = run->m;
  int n = 0;
  const srSleepEvent* event = sri_sleep_events(run->integrator, &n);
  for (int i = 0; i < n; ++i) {
    const srSleepEvent* e = &event[i];
    const char *a = m->body_name[m->link_body[m->dof_link[e->velocity]]], *b = NULL;
    static const char* const causes[] = {[SR_WAKE_CONTACT] = "touched",
                                         [SR_WAKE_FORCE] = "other forces act on it",
                                         [SR_WAKE_MOTION] = "a driver or surface moves it",
                                         [SR_WAKE_RESTART] = "the motion restarts"};
    if (!e->wakes) {
      note(run, e->t, "sleep", a, NULL, "the island of %.40s, %d velocities, rests and sleeps", a, e->count);
      continue;
    }
    const char *one = a, *two = NULL;
    if (e->id >= 0) sr_contact_names(m, e->id, &one, &two);
    if (e->id >= 0) b = two;
    note(run, e->t, "wake", one, b, "the island of %.40s, %d velocities, wakes: %s", a, e->count, causes[e->cause]);
  }
}

int sr_run_count_asleep(const srRun* run) {
  const srModel* m = run->m;
  const int* island = run->integrator != NULL ? sri_asleep(run->integrator) : NULL;
  int n = 0;
  for (int i = 1; island != NULL && i <= m->nbody; ++i) {
    int link = m->body_link[i];
    while (link > 0 && sr_link_nv[m->link_type[link]] == 0) link = m->link_parent[link];
    n += link > 0 && island[m->link_v[link]] != 0;
  }
  return n;
}

// All points of a pair that do the same at one instant are one event.
static bool is_noted(srRun* run, const srRigidEvent* event, const char* kind, const char* a, const char* b) {
  const srRunResult* result = run->result;
  for (int i = result->nevent - 1; i >= 0 && result->event[i].t >= event->t; --i) {
    const srRunEvent* other = &result->event[i];
    if (other->t == event->t && strcmp(other->kind, kind) == 0 && other->a == a && other->b == b) return true;
  }
  return false;
}

static void note_rigid(srRun* run, const srRigidEvent* event, const char* kind, const char* verb) {
  const char *a = NULL, *b = NULL;
  sr_contact_names(run->m, event->id, &a, &b);
  if (is_noted(run, event, kind, a, b)) return;
  note(run, event->t, kind, a, b, "%.40s %s%s%.40s", a, verb, b != NULL ? " " : "", b != NULL ? b : "");
}

// Friction of a joint changes its status.
static void note_clamp(srRun* run, const srRigidEvent* event, const char* kind, const char* verb) {
  const char* joint = run->m->force[event->id].contact->a;
  if (is_noted(run, event, kind, joint, NULL)) return;
  note(run, event->t, kind, joint, NULL, "the joint %.50s %s", joint, verb);
}

static bool is_clamp(const srRun* run, const srRigidEvent* event) {
  const long key = sr_contact_key(run->m, event->id);
  return key < run->m->nforce && sr_is_set_valued(&run->m->force[key]);
}

static void note_impact(srRun* run, const srRigidEvent* event) {
  const char *a = NULL, *b = NULL;
  sr_contact_names(run->m, event->id, &a, &b);
  if (is_noted(run, event, "impact", a, b)) return;
  ++run->result->impacts;
  const char* remark = event->endless     ? "; the sequence of impacts has no end: ended by an inelastic one"
                       : event->alpha < 1 ? "; less restitution, which would gain energy"
                                          : "";
  note_impact_of(run, event->t, a, "strikes", b, event->speed, remark);
}

static void note_accumulation(srRun* run, const srRigidEvent* event) {
  const char *a = NULL, *b = NULL;
  sr_contact_names(run->m, event->id, &a, &b);
  if (is_noted(run, event, "accumulation", a, b)) return;
  note(run, event->t, "accumulation", a, b, "impacts of %.30s and %.30s end; closed at %.9g s, with %.3g m/s", a,
       b != NULL ? b : "its stop", event->t_closed, event->speed);
}

static void count_busy(srRun* run, const srRigidEvent* event) {
  const char *a = NULL, *b = NULL;
  if (is_clamp(run, event)) {
    a = run->m->force[event->id].contact->a;
  } else {
    sr_contact_names(run->m, event->id, &a, &b);
  }
  sr_run_count_busy(run, a, b);
}

void sr_run_tell_rigid(void* user, const srRigidEvent* event) {
  srRun* run = user;
  if (run->stepping) {  // at the start energies count from the state after it
    run->w_before[SR_ACCOUNT_CONTACT] += event->normal;
    run->w_before[SR_ACCOUNT_FRICTION] += event->friction;
    run->w_before[SR_ACCOUNT_DRIVER] += event->driver;
  }
  count_busy(run, event);
  if (is_clamp(run, event)) {
    switch (event->kind) {
      case SR_RIGID_SLIP: note_clamp(run, event, "slip", "breaks away"); break;
      case SR_RIGID_STICK: note_clamp(run, event, "stick", "comes to rest and is held by its friction"); break;
      case SR_RIGID_REVERSAL: note_clamp(run, event, "reversal", "turns back without being held"); break;
      default: break;
    }
    return;
  }
  switch (event->kind) {
    case SR_RIGID_IMPACT: note_impact(run, event); break;
    case SR_RIGID_ACCUMULATION: note_accumulation(run, event); break;
    case SR_RIGID_TAKE_OFF: note_rigid(run, event, "take-off", "leaves"); break;
    case SR_RIGID_SLIP: note_rigid(run, event, "slip", "begins to slip on"); break;
    case SR_RIGID_STICK: note_rigid(run, event, "stick", "sticks to"); break;
    case SR_RIGID_REVERSAL: note_rigid(run, event, "reversal", "slips back on"); break;
    case SR_RIGID_FEATURE: note_rigid(run, event, "feature", "touches with other features"); break;
    case SR_RIGID_PAINLEVE: note_rigid(run, event, "painleve", "is in Painleve's configuration with"); break;
    default: break;
  }
}

void sr_run_tell_hybrid(srRun* run, double t, const char* kind, const char* reason) {
  note(run, t, kind, NULL, NULL, "%.110s", reason);
}

void sr_run_tell_event(void* user, double t, int i) {
  srRun* run = user;
  const srEvent* fired = &run->m->event[i];
  note(run, t, "event", fired->name, NULL, "%.90s%s", fired->name, fired->stop ? ": the run ends" : "");
}

void sr_run_tell_chatter(void* user, double t, int i) {
  srRun* run = user;
  const char* name = run->m->priv->of_switch[i].name;
  sr_messages_add(
      run->messages, SR_SEVERITY_WARNING, (srPlace){0},
      "'%s' jumps back and forth from t = %.6g s on, as the motion is driven back to its jump from both sides: "
      "steps will be short; take a friction law, hysteresis or a smooth law instead of the jump",
      name, t);
  note(run, t, "chatter", name, NULL, "'%.50s' jumps back and forth without time passing: not located any more", name);
}

void sr_run_tell_load(void* user, double t, int i) {
  srRun* run = user;
  const char* name = run->m->priv->of_switch[i].name;
  if (run->m->priv->of_switch[i].of_motion) return;  // of a driver: no load
  note(run, t, "load", name, NULL, "'%.80s' jumps", name);
}

// ---- when it is over ----------------------------------------------------------------------------------------------------

static void tell_losses(srRun* run) {
  double t = 0.0, off = 0.0;
  const int row = sri_drifted(run->integrator, &t, &off);
  if (row >= 0) note(run, t, "position", NULL, NULL, "%.80s is off by %.3g", run->m->row[row].name, off);
  if (fabs(run->lost) > MOST_LOST * run->result->energy.scale) {
    note(run, run->t_lost, "energy", NULL, NULL, "the energy balance misses %.3g J in one step, the worst of all",
         run->lost);
  }
}

static void tell_independent(srRun* run, const srRankEvent* event) {
  char name[256];
  if (event->kind == SR_RANK_REGAINED)
    note(run, event->t, "partition", NULL, NULL, "the requested coordinates are independent again");
  else
    note(run, event->t, "partition", NULL, NULL,
         "'%.60s' cannot be independent here: another coordinate is so in its place",
         sr_coordinate_name(run->m, event->row, name, sizeof name));
}

static void tell_ranks(srRun* run) {
  int n = 0;
  const srRankEvent* events = sri_rank_events(run->integrator, &n);
  for (int i = 0; i < n; ++i) {
    if (events[i].kind == SR_RANK_LEFT || events[i].kind == SR_RANK_REGAINED) {
      tell_independent(run, &events[i]);
    } else if (events[i].before != events[i].after) {
      note(run, events[i].t, "rank", NULL, NULL, "the rank of the constraints goes from %d to %d", events[i].before,
           events[i].after);
    } else {
      const char* nearly = ", or nearly so; where branches cross there, hem5 and mdop5 keep to theirs";
      note(run, events[i].t, "rank", NULL, NULL, "a singular position is passed%s",
           events[i].kind == SR_RANK_NEARED ? nearly : "");
    }
  }
}

void sr_run_tell_impulses(srRun* run) {
  const srIntegrator* stepping = run->integrator;
  if (run->other != NULL && !run->method->impulses) stepping = run->other->integrator;
  const srImpulses* x = stepping != NULL ? sri_impulses(stepping) : NULL;
  if (x == NULL) return;
  run->result->complementarity = fmax(run->result->complementarity, x->worst);
  run->result->unsolved += x->unsolved;
  run->result->problems += sri_stats(stepping)->steps;
  run->result->sweeps = x->sweeps;
  if (x->unsolved == 0) return;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "the contact problem was not solved to its tolerance in %ld steps: the largest residual is %.3g m/s, "
                  "at t = %.6g s; "
                  "take a smaller step",
                  x->unsolved, x->worst, x->t_worst);
}

void sr_run_tell_integrator(srRun* run) {
  srRunResult* result = run->result;
  const srSwitch* switches = sri_switches(run->integrator, &result->nswitch);
  if (result->nswitch > 0) memcpy(result->switches, switches, (size_t)result->nswitch * sizeof *switches);
  tell_ranks(run);
  tell_losses(run);
}
