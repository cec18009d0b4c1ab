// Forward dynamics of the whole model at d's state (t, q, v, y):  M(q) a + c(q, v) = f + G^T lambda.
// d->a is there afterwards, but the stage is that of the velocities: accelerations of links and frames
// (sr_acceleration) cost a pass of their own, which integrators do not need.
#include "force/force.h"

// Power of the driving forces.
static void drive(const srModel* m, srData* d) {
  for (int i = 0; i < m->ndriver; ++i) d->power[SR_ACCOUNT_DRIVER] += d->lambda[i] * d->v[m->driver[i].dof];
}

static int accelerate(const srModel* m, srData* d, double tau_stage) {
  const int answer = sr_forces(m, d, tau_stage);
  if (answer != 0) return answer;
  // A singular M may belong to a state that only a trial step reached.
  if (sr_aba_driven(m, d, d->q, d->v, d->f, d->a, d->lambda) != SR_OK) return 1;
  drive(m, d);
  return 0;
}

int sr_forward(const srModel* m, srData* d, double tau_stage) {
  sr_kinematics(m, d);
  sr_velocity(m, d);
  return accelerate(m, d, tau_stage);
}

// Laws on joint coordinates alone need no poses and twists of links in the ground frame.
static bool laws_see_frames(const srModel* m) {
  if (m->nsensor_value > 0) return true;
  for (int i = 0; i < m->nforce; ++i) {
    if (m->force[i].law->port != SR_PORT_JOINT) return true;
  }
  return false;
}

int sr_forward_rates(const srModel* m, srData* d, double tau_stage) {
  d->stage = SR_STAGE_NONE;
  if (laws_see_frames(m)) {
    sr_kinematics(m, d);
    sr_velocity(m, d);
  }
  return accelerate(m, d, tau_stage);
}
