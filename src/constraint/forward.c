// Forward dynamics of the whole model at d's state (t, q, v, y):  M(q) a + c(q, v) = f + G^T lambda,  G a = gamma.
// A tree, with or without drivers, goes by articulated bodies, O(n); a looped model by the saddle-point system (solve.c).
// d->a is there afterwards, but the stage is that of the velocities: accelerations of links and frames
// (sr_acceleration) cost a pass of their own, which integrators do not need.
#include "constraint/constraint.h"
#include "force/force.h"

// Power of the driving forces, and of formulas that depend on time: -lambda b.
void sr_driver_power(const srModel* m, srData* d) {
  for (int i = 0; i < m->ndriver; ++i) {
    d->power[SR_ACCOUNT_DRIVER] += d->lambda[m->row_driver + i] * d->jv[m->driver[i].dof];
  }
  for (int i = 0; i < m->nformula_row; ++i) {
    const int row = m->formula_row[i].row;
    d->power[SR_ACCOUNT_DRIVER] -= d->lambda[row] * d->b[row];
  }
}

static int accelerate(const srModel* m, srData* d, double tau_stage) {
  int answer = sr_forces(m, d, tau_stage);
  if (answer != 0) return answer;
  if (m->looped) {
    answer = sr_solve_state(m, d);
  } else {
    // A singular M may belong to a state that only a trial step reached.
    answer = sr_aba_driven(m, d, d->q, d->v, d->f, d->a, d->lambda) == SR_OK ? 0 : 1;
  }
  if (answer == 0) sr_driver_power(m, d);
  return answer;
}

int sr_forward(const srModel* m, srData* d, double tau_stage) {
  sr_kinematics(m, d);
  sr_velocity(m, d);
  return accelerate(m, d, tau_stage);
}

// Laws on joint coordinates alone need no poses and twists of links in the ground frame.
static bool frames_are_seen(const srModel* m) {
  if (m->nsensor_value > 0 || m->looped || m->nset > 0) return true;
  for (int i = 0; i < m->nforce; ++i) {
    if (m->force[i].law->port != SR_PORT_JOINT) return true;
  }
  return false;
}

int sr_forward_rates(const srModel* m, srData* d, double tau_stage) {
  d->stage = SR_STAGE_NONE;
  if (frames_are_seen(m)) {
    sr_kinematics(m, d);
    sr_velocity(m, d);
  }
  return accelerate(m, d, tau_stage);
}
