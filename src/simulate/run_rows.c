// Result rows of a run, at exact times by dense output.
#include <math.h>
#include <string.h>

#include "constraint/constraint.h"
#include "force/force.h"
#include "simulate/run.h"

void sr_run_put_followers(srRun* run, double t) {
  if (run->m->elimination != NULL) sr_put_followers(run->m, run->d, t, run->q, run->v);
}

// Generalized forces of rigid contacts at the state in run->q, v, y, or of the last step of time-stepping; false: there are none.
static bool put_contact_forces(srRun* run, double t) {
  const srIntegrator* x = run->integrator;
  double* out = run->contact_force;
  memset(out, 0, (size_t)run->m->nv * sizeof *out);
  if (run->rigid != NULL) return sri_rigid_generalized(run->rigid, t, run->q, run->v, run->y, out) == 0;
  const bool known = sri_impulse_forces(x, out);
  const int* asleep = sri_asleep(x);
  for (int i = 0; asleep != NULL && i < run->m->nv; ++i) out[i] = asleep[i] != 0 ? sri_asleep_forces(x)[i] : out[i];
  return known;
}

// Those of set-valued friction among them.
static void put_friction_forces(srRun* run) {
  const srIntegrator* x = run->integrator;
  const double h = sri_time(x) - sri_time_before(x);
  for (int i = 0; i < run->m->nforce; ++i) {
    if (!sr_is_set_valued(&run->m->force[i])) continue;
    double force[3] = {0};
    const double* p = run->rigid == NULL ? sri_impulse_of(x, i) : NULL;
    if (run->rigid != NULL) (void)sri_rigid_force_found(run->rigid, i, force);
    run->friction_force[i] = p != NULL && h > 0 ? p[1] / h : force[1];
  }
  run->d->friction_force = run->friction_force;
}

// Accelerations and reactions with rigid contacts, which are in the equations of the integrators and not in those of the model.
static int evaluate_rigid(srRun* run, double t, srStage stage) {
  srData* d = run->d;
  const bool known = put_contact_forces(run, t);
  if (known) d->contact_force = run->contact_force;
  put_friction_forces(run);
  if (run->row_contacts != NULL && (known || run->rigid == NULL)) sr_run_find_contacts(run, t);
  d->stage = SR_STAGE_NONE;
  const int answer = sr_evaluate_motion(run->m, d, t, run->q, run->v, run->y, stage);
  d->contact_force = NULL;
  return answer;
}

int sr_run_evaluate_at(srRun* run, double t, srStage stage) {
  if (sri_interpolate(run->integrator, t, run->q, run->v, run->y, run->w) != SR_OK) return -1;
  sr_run_add_work_before(run);
  sr_run_put_followers(run, t);
  const bool rigid = run->d->rigid && stage > SR_STAGE_VELOCITY;
  const int answer =
      rigid ? evaluate_rigid(run, t, stage) : sr_evaluate_motion(run->m, run->d, t, run->q, run->v, run->y, stage);
  // For a method with accelerations of its own these are checked, after every step.
  if (sri_acceleration(run->integrator) == NULL) sr_run_note_acceleration(run, run->d->row_residual);
  return answer;
}

// The first value of the rows that is NaN: a sensor may divide by zero while the motion continues.
static void monitor_row(srRun* run) {
  for (int i = 0; i < run->recording->ncolumn && run->odd_rows == 0; ++i) {
    if (!isnan(run->row[i])) continue;
    run->odd_column = i;
    run->t_odd = run->t_row;
    run->odd_rows = 1;
    return;
  }
  if (run->odd_rows > 0 && isnan(run->row[run->odd_column])) ++run->odd_rows;
}

void sr_run_tell_odd_rows(const srRun* run) {
  srColumns* columns = NULL;
  if (run->odd_rows == 0 ||
      sr_record_columns_create(run->m, run->options->record, run->options->nrecord, NULL, &columns) != SR_OK)
    return;
  sr_messages_add(run->messages, SR_SEVERITY_WARNING, (srPlace){0},
                  "'%s' is not a number in %ld of %ld rows of the results, the first time at t = %.9g",
                  columns->names[run->odd_column], run->odd_rows, run->result->rows, run->t_odd);
  sr_columns_destroy(columns);
}

void sr_run_hand_out(srRun* run) {
  const srEnergy* energy = &run->result->energy;
  if (run->options->row == NULL || run->stopped) return;
  const srRowEnergy known = {energy->kinetic, energy->potential, energy->residual, run->w};
  sr_record(run->recording, run->d, &known, run->row);
  run->t_row = run->d->t;
  ++run->result->rows;
  run->d->found = NULL;
  monitor_row(run);
  if (run->options->row(run->options->user, run->row) != 0) run->stopped = true;
}

srStatus sr_run_rows_until(srRun* run, double t) {
  if (run->options->row == NULL) return SR_OK;
  while (sr_run_ask(run) == 0) {
    const double t_row = run->t0 + (double)run->next * run->every;
    if (t_row > t || t_row > run->t_end - 1e-9 * run->every) return SR_OK;
    if (sr_run_evaluate_at(run, t_row, run->recording->stage) != 0) return SR_FAILED;
    sr_run_balance(run);
    sr_run_hand_out(run);
    if (run->d->rigid) run->d->stage = SR_STAGE_NONE;  // its forces include those of contacts
    ++run->next;
  }
  return SR_OK;
}
