// Memory and start of a run: assembles the state, starts contacts, jumps, integrator and events there, and compares dependent equations.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "record/kinds.h"
#include "simulate/rows.h"
#include "simulate/run.h"
#include "system/bristle.h"
#include "system/system.h"
#include "system/tangent.h"

#define OVERLAP 2e-6  // m or rad: overlap at the start that is rounding of the numbers of a model

// ---- memory -------------------------------------------------------------------------------------------------------------

static srStatus out_of_memory(const srRun* run) {
  sr_messages_add(run->messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the run");
  return SR_MEMORY;
}

static bool make_arrays(srRun* run) {
  const srModel* m = run->m;
  const srRecording* x = run->recording;
  const int columns = x != NULL ? x->ncolumn : 0, meters = x != NULL ? x->nmeter : 0;
  const int powers = meters > 0 ? m->nforce + m->nset : 0;
  run->nw = SR_ACCOUNTS + meters;
  run->row = sr_alloc((size_t)(columns + m->nq + m->nv + 2 * m->ny + 2 * run->nw + powers + m->nv + m->nforce) *
                      sizeof(double));
  if (run->row == NULL) return false;
  run->q = run->row + columns;
  run->v = run->q + m->nq;
  run->y = run->v + m->nv;
  run->w = run->y + m->ny;  // one array with q, v and y, for dense output
  run->w_before = run->w + run->nw;
  run->system.y_most = run->w_before + run->nw;
  if (powers > 0) run->d->element_power = run->system.y_most + m->ny;
  run->contact_force = run->system.y_most + m->ny + powers;
  run->friction_force = run->contact_force + m->nv;
  run->system.meter = x != NULL ? x->meter : NULL;
  run->system.nmeter = meters;
  run->system.w_most = &run->w_most;
  return true;
}

bool sr_run_has_forces(const srModel* m) {
  for (int i = 0; i < m->nforce; ++i) {
    const srForceElement* e = &m->force[i];
    if (e->contact == NULL || (e->contact->law == NULL && !sr_is_set_valued(e))) return true;
  }
  return false;
}

static bool make_tangent(srRun* run) {
  const srMethod* method = run->method;
  const bool stiff = method != NULL && method->impulses && sr_run_has_forces(run->m);
  if (run->options->contact >= SR_CONTACT_EVENT) return true;  // differences: contacts are in its equations
  if (method == NULL || (!method->implicit && !method->switches && !stiff)) return true;
  run->system.tangent = stiff ? sr_tangent_create_as(run->m, SR_SOLVE_RIGID) : sr_tangent_create(run->m);
  return run->system.tangent != NULL;
}

bool sr_run_make_events(srRun* run, const srSystem* system) {
  const srEventTold told = {.user = run,
                            .event = sr_run_tell_event,
                            .impact = sr_run_tell_impact,
                            .dissipation = sr_run_add_heat,
                            .work = sr_run_add_work};
  if (run->contacts == NULL)
    run->contacts = sr_contact_monitor_create(run->m, run->d, sr_run_is_adaptive(run->options));

  run->jumps = sr_jumps_create(run->m, run->d, run->integrator);
  if (run->contacts == NULL || run->jumps == NULL) return false;
  run->jumps->chatter = sr_run_tell_chatter;
  if (run->options->contact != SR_CONTACT_CONTINUOUS) run->jumps->jumped = sr_run_tell_load;
  run->jumps->user = run;
  run->events = sr_events_create(run->m, run->d, system, run->integrator, run->contacts, run->jumps, run->rigid, &told);
  return run->events != NULL;
}

// Eliminated couplings are no constraint equations for explicit methods, unless a stabilization is requested; for implicit ones they are.
// `auto` is of both kinds.
static srSystem system_of(const srModel* m, const srRunOptions* o, const srSystem* all) {
  srSystem system = *all;
  const srMethod* method = sri_method_find(o->method);  // NULL: sri_create reports it
  const bool rows = o->stabilization != SR_STABILIZATION_PROJECTION && o->stabilization != SR_STABILIZATION_NONE;
  if (m->elimination == NULL || method == NULL || method->switches) return system;
  if (method->implicit || method->impulses) {
    system.rates = NULL;
  } else if (!rows) {
    system.ng = system.np = 0;
  }
  return system;
}

// With the equations of closed contacts, which events open and close.
static srSystem closed_system(srRun* run, const srSystem* all) {
  srRigidOptions o = sri_rigid_options();
  const srRunOptions* given = run->options;
  o.rule = given->impact;
  o.friction = given->impact_friction;
  o.order = given->impact_order;
  o.gap = given->tol_gap > 0 ? given->tol_gap : fmax(o.gap, given->atol);
  o.speed = given->tol_speed > 0 ? given->tol_speed : o.speed;
  o.hop = given->tol_hop > 0 ? given->tol_hop : fmax(o.hop, 10 * given->atol);
  o.position = given->atol;
  o.step = sr_run_is_adaptive(given) ? 0 : given->step;
  o.w_normal = SR_ACCOUNT_CONTACT;
  o.w_friction = SR_ACCOUNT_FRICTION;
  o.user = run;
  o.told = sr_run_tell_rigid;
  o.problem = given->problem;
  o.problem_user = given->user;
  run->rigid = sri_rigid_create(all, &o);
  return run->rigid != NULL ? sri_rigid_system(run->rigid) : *all;
}

// Without rows only the names are checked.
static srStatus name_columns(srRun* run) {
  const srRunOptions* o = run->options;
  if (o->row == NULL && o->nrecord == 0) return SR_OK;
  const srStatus status = sr_recording_create(run->m, o->record, o->nrecord, run->messages, &run->recording);
  if (o->row != NULL || status != SR_OK) return status;
  sr_recording_destroy(run->recording);
  run->recording = NULL;
  return SR_OK;
}

// The work of one rigid contact is not integrated.
static void warn_of_contact_work(srRun* run) {
  const srRecorder* r = run->recording != NULL ? run->recording->recorder : NULL;
  for (int i = 0; r != NULL && i < r->ngroup; ++i) {
    if (r->group[i].kind != &sr_quantity_contact || r->group[i].meter < 0) continue;
    sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                    "contact(NAME).work of rigid contacts is not integrated, and NaN: balance(contact).work and "
                    "balance(friction).work have that of all contacts");
    return;
  }
}

srStatus sr_run_prepare(srRun* run) {
  const srRunOptions* o = run->options;
  run->t0 = run->t_row = run->t_window = run->t_effort = run->d->t;
  run->t_end = o->t_end;
  run->every = o->every > 0.0 ? o->every : (run->t_end - run->t0) / 1000.0;
  const bool impulses = run->method != NULL && run->method->impulses;
  run->system =
      (srModelSystem){.m = run->m, .d = run->d, .sparse = impulses && !sr_run_has_forces(run->m), .points = impulses};
  run->d->rigid = impulses || o->contact != SR_CONTACT_CONTINUOUS;
  const srStatus named = name_columns(run);
  if (named != SR_OK) return named == SR_MEMORY ? out_of_memory(run) : named;
  if (!make_tangent(run) || !make_arrays(run)) return out_of_memory(run);
  const srSystem system = sr_system(&run->system);
  const bool by_events = o->contact >= SR_CONTACT_EVENT && system.ncontact + system.nclamp > 0;
  const srIntegratorOptions options = sr_run_integrator_options(run->m, o);
  if (run->d->rigid) {
    sr_rigid_warn(run->m, o->contact == SR_CONTACT_EVENT, run->messages);
    warn_of_contact_work(run);
  } else {
    sr_bristle_warn(run->m, run->messages);
  }
  if (run->d->rigid && !sr_run_make_contacts(run)) return out_of_memory(run);
  const srSystem own = by_events ? closed_system(run, &system) : system_of(run->m, o, &system);
  if (by_events && run->rigid == NULL) return out_of_memory(run);
  const srStatus created = sri_create(o->method, &own, &options, run->messages, &run->integrator);
  if (created != SR_OK) return created;
  if (by_events) sri_rigid_attach(run->rigid, run->integrator);
  if (!sr_run_make_events(run, &system)) return out_of_memory(run);
  if (o->contact != SR_CONTACT_HYBRID || !by_events) return SR_OK;
  const srStatus hybrid = sr_hybrid_create(run);
  return hybrid == SR_MEMORY ? out_of_memory(run) : hybrid;
}

void sr_run_release(srRun* run) {
  sr_hybrid_destroy(run);
  sr_events_destroy(run->events);
  sri_rigid_destroy(run->rigid);
  run->rigid = NULL;
  sr_contact_monitor_destroy(run->contacts);
  sr_jumps_destroy(run->jumps);
  sri_destroy(run->integrator);
  sr_tangent_destroy(run->system.tangent);
  sr_run_release_contacts(run);
  sr_recording_destroy(run->recording);
  run->d->element_power = NULL;
  run->d->friction_force = NULL;
  run->d->rigid = false;
  sr_free(run->row);
}

// ---- start --------------------------------------------------------------------------------------------------------------

// Do dependent equations agree with the others at acceleration level too?
static srStatus look_at_rows(srRun* run) {
  double has = 0.0, wants = 0.0;
  const int row = run->m->constrained ? sr_contradicting_row(run->m, run->d, &has, &wants) : -1;
  if (row < 0) return SR_OK;
  sr_messages_add(run->messages, SR_SEVERITY_ERROR, run->m->row[row].place,
                  "%s contradicts the constraints that it depends on: it asks for the acceleration %.6g, and they give "
                  "%.6g",
                  run->m->row[row].name, wants, has);
  return SR_INPUT;
}

// Warnings for coordinates that cannot be independent as requested by the run.
static void tell_requested(const srRun* run, const unsigned char* dependent) {
  char name[256];
  for (int i = 0; i < run->m->nv; ++i) {
    if (run->options->independent[i] == 0 || dependent[i] == 0) continue;
    sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                    "the coordinate '%s' is dependent: the partition requests that it be independent, which the "
                    "constraints do not allow at the start",
                    sr_coordinate_name(run->m, i, name, sizeof name));
  }
}

// Warnings for joints whose coordinate role the partition could not follow.
static void tell_partition(const srRun* run) {
  const srModel* m = run->m;
  const unsigned char* dependent = sri_dependent(run->integrator);
  if (dependent != NULL && run->options->independent != NULL) {
    tell_requested(run, dependent);
    return;
  }
  for (int i = 0; dependent != NULL && i < m->nv && !m->absolute; ++i) {
    const int role = m->joint_role[m->link_joint[m->dof_link[i]]];
    if (role == SR_ROLE_NONE || (role == SR_ROLE_DEPENDENT) == (dependent[i] != 0)) continue;
    sr_messages_add(
        run->messages, SR_SEVERITY_WARNING, (srPlace){0},
        "the coordinate '%s' is %s: the model requests that it be %s, which the constraints do not allow at the start",
        m->v_name[i], dependent[i] != 0 ? "dependent" : "independent", dependent[i] != 0 ? "independent" : "dependent");
  }
}

static void copy(int n, const double* from, double* to) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

// On a copy of the state: callbacks of the system put the states that they are asked about into d.
// Shapes that overlap are put on each other's surfaces, whatever else that changes.
static void tell_overlap(const srRun* run) {
  const srRigidStats* stats = sri_rigid_stats(run->rigid);
  const char *a, *b;
  if (!(stats->overlap > OVERLAP)) return;
  sr_contact_names(run->m, stats->overlaps, &a, &b);
  sr_messages_add(
      run->messages, SR_SEVERITY_WARNING, (srPlace){0},
      "'%s' and '%s' overlap by %.3g at the start: rigid contact has moved them apart; give a start without "
      "overlaps, or take --start apart",
      a, b != NULL ? b : "its stop", stats->overlap);
}

static int settle_contacts(srRun* run) {
  const srModel* m = run->m;
  srData* d = run->d;
  copy(m->nq, d->q, run->q);
  copy(m->nv, d->v, run->v);
  copy(m->ny, d->y, run->y);
  const int answer = sri_rigid_start(run->rigid, run->t0, run->q, run->v, run->y);
  copy(m->nq, run->q, d->q);
  copy(m->nv, run->v, d->v);
  copy(m->ny, run->y, d->y);
  if (answer == 0) tell_overlap(run);
  return answer;
}

srStatus sr_run_start(srRun* run) {
  const srModel* m = run->m;
  srData* d = run->d;
  (void)sr_evaluate_motion(m, d, run->t0, NULL, NULL, NULL, SR_STAGE_NONE);
  sr_run_listen(run, true);
  const srStatus assembled = sr_assemble(m, d, run->messages, &run->result->assembly);
  sr_run_listen(run, false);
  if (run->stopped) return SR_OK;
  if (assembled != SR_OK) return assembled;
  (void)sr_evaluate(m, d, run->t0, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  if (sr_contact_monitor_start(run->contacts, run->messages) != 0)
    return sr_run_fail_at(run, run->t0, "a contact cannot be evaluated");
  if (sr_jumps_start(run->jumps) != 0) return sr_run_fail_at(run, run->t0, "the formula of a law cannot be evaluated");
  if (run->rigid != NULL && settle_contacts(run) != 0) return sr_run_fail(run, run->t0, sri_rigid_error(run->rigid));
  if (sri_start(run->integrator, run->t0, d->q, d->v, d->y) != SR_OK)
    return sr_run_fail(run, run->t0, sri_error_message(run->integrator));
  run->stepping = true;
  tell_partition(run);
  if (run->recording != NULL) sr_recording_warn(run->recording, d, run->messages);
  if (sr_run_evaluate_last(run, SR_STAGE_ACCELERATION) != 0) {
    return sr_run_fail_at(run, run->t0, "the equations of motion cannot be evaluated at the start");
  }
  const srStatus agree = look_at_rows(run);
  if (agree != SR_OK) return agree;
  if (sri_events_start(run->events->events, run->integrator) != SR_OK) {
    return sr_run_fail_at(run, run->t0, "the formula of an event cannot be evaluated");
  }
  (void)sr_run_evaluate_last(run, SR_STAGE_VELOCITY);  // functions of events are evaluated next to the state
  sr_run_balance_start(run);
  return sr_run_rows_until(run, run->t0);
}
