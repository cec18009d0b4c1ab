// Forward dynamics of the whole model at d's state (t, q, v, y):  M(q) a + c(q, v) = f + G^T lambda.
#include "force/force.h"

// Power of the driving forces.
static void drive(const srModel* m, srData* d) {
  for (int i = 0; i < m->ndriver; ++i) d->power[SR_ACCOUNT_DRIVER] += d->lambda[i] * d->v[m->driver[i].dof];
}

int sr_forward(const srModel* m, srData* d, double tau_stage) {
  sr_kinematics(m, d);
  sr_velocity(m, d);
  const int answer = sr_forces(m, d, tau_stage);
  if (answer != 0) return answer;
  // A singular M may belong to a state that only a trial step reached.
  if (sr_aba_driven(m, d, d->q, d->v, d->f, d->a, d->lambda) != SR_OK) return 1;
  drive(m, d);
  d->stage = SR_STAGE_ACCELERATION;
  return 0;
}
