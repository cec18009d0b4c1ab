// The energy balance of a run.
//   T + V - (T0 + V0) = sum of the work of all accounts + residual      the residual is the error of the integration
#include <math.h>
#include <string.h>

#include "simulate/rows.h"
#include "simulate/run.h"
#include "system/system.h"

#define STEPS_PER_ENERGY 8  // for trees; with constraints or drivers the balance is checked after every step

// The scale is the largest energy that the balance explains: energy in a state by mistake is in the residual too, and must not
// define its scale.
void sr_run_balance(srRun* run) {
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

// A driven coordinate has no error, and steps over it may be of any length: there the errors of work are bounded too, relative to the largest energy so far.
static void bound_work(srRun* run) {
  const srRunOptions* o = run->options;
  if (run->m->ndriver > 0 && sr_run_is_adaptive(o)) run->w_most = o->rtol * run->result->energy.scale + o->atol;
}

void sr_run_balance_start(srRun* run) {
  srEnergy* energy = &run->result->energy;
  (void)sr_run_evaluate_last(run, SR_STAGE_VELOCITY);  // the start of the events has evaluated states next to it
  sr_energy(run->m, run->d, &energy->kinetic0, &energy->potential0);
  sr_run_balance(run);
  bound_work(run);
}

void sr_run_add_work_before(srRun* run) {
  for (int i = 0; i < run->nw; ++i) run->w[i] += run->w_before[i];
}

void sr_run_restart_work(srRun* run) {
  sr_run_add_work_before(run);
  memcpy(run->w_before, run->w, (size_t)run->nw * sizeof *run->w);
}

void sr_run_add_work(void* user, double energy) { ((srRun*)user)->w_before[SR_ACCOUNT_DRIVER] += energy; }

void sr_run_add_heat(void* user, double energy) { ((srRun*)user)->w_before[SR_ACCOUNT_FRICTION] -= energy; }

void sr_run_take_impulses(srRun* run) {
  const srImpulses* x = sri_impulses(run->integrator);
  if (x == NULL) return;
  for (int i = 0; i < x->count && -x->gap > run->contacts->deepest; ++i) {
    const srUnilateral* contact = sri_contact_of_step(run->integrator, i);
    if (-contact->gap > run->contacts->deepest && sr_contact_is_length(run->m, contact->id))
      run->contacts->deepest = -contact->gap;
  }
  run->result->contacts_solved += x->count;
  run->w_before[SR_ACCOUNT_CONTACT] += x->normal;
  run->w_before[SR_ACCOUNT_FRICTION] += x->friction;
}

void sr_run_note_acceleration(srRun* run, double residual) {
  run->result->violation_acceleration = fmax(run->result->violation_acceleration, residual);
}

void sr_run_balance_step(srRun* run) {
  const srIntegrator* x = run->integrator;
  if (!run->m->constrained && run->m->ndriver == 0 && sri_stats(x)->steps % STEPS_PER_ENERGY != 0) return;
  (void)sr_run_evaluate_last(run, SR_STAGE_VELOCITY);
  sr_run_note_acceleration(run, sr_acceleration_residual(run->m, run->d, sri_acceleration(x)));
  memcpy(run->w, sri_w(x), (size_t)run->nw * sizeof *run->w);
  sr_run_add_work_before(run);
  sr_run_balance(run);
  bound_work(run);
  const double lost = run->result->energy.residual - run->residual;
  run->residual = run->result->energy.residual;
  // The energy in springs that represent joints is that of the last stage.
  if (!run->m->constrained || run->m->formulation == SR_FORMULATION_PENALTY || !(fabs(lost) > fabs(run->lost))) return;
  run->lost = lost;
  run->t_lost = sri_time(x);
}
