// Friction of a joint coordinate, and its ends of travel as contacts.
//   friction   f = -(law's force at slip speed q', limits F and Fk)
//   end        gap = side (end - q), d = max(0, -gap), d' = side q';   f = -side N(d, d')      never pulls
#include <math.h>
#include <string.h>

#include "contact/element.h"
#include "contact/kinds.h"

// ---- friction -----------------------------------------------------------------------------------------------------------

static int friction_force(const srImpedanceIn* in, srImpedanceOut* out) {
  const srSurfaceLaws* c = in->data;
  srFrictionForce friction_force;
  const int answer = sr_friction_force(&c->slip, in->xdot, in->y, 1, in->tau, &friction_force, out->ydot);
  out->f[0] = -friction_force.f[0];
  out->dissipated = out->friction_dissipation = friction_force.dissipation;
  return answer;
}

static double friction_force_energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  return sr_friction_force_energy(&c->slip, in->xdot, in->y, in->tau);
}

// J: (1 + k) x (2 + k) by (q, q', y); of the law: (1 + k) x (1 + k + 1) by (q', e, N).
static int rub_jacobian(const srImpedanceIn* in, double* J) {
  const srSurfaceLaws* c = in->data;
  const int k = c->slip.ne, rows = 1 + k, columns = 2 + k;
  double jacobian[(1 + SR_FRICTION_MAX_ELEMENTS) * (2 + SR_FRICTION_MAX_ELEMENTS)];
  const int answer = sr_friction_force_jacobian(&c->slip, in->xdot, in->y, 1, in->tau, jacobian);
  for (int r = 0; r < rows && answer == 0; r++) {
    for (int j = 0; j < 1 + k; j++) J[r * columns + 1 + j] = (r == 0 ? -1 : 1) * jacobian[r * (rows + 1) + j];
  }
  return answer;
}

static const srImpedance joint_friction = {
    .name = "joint-friction",
    .port = SR_PORT_JOINT,
    .evaluate = friction_force,
    .energy = friction_force_energy,
};
const srContactKind sr_contact_joint_friction = {&joint_friction, rub_jacobian, sr_contact_prepare};

// ---- ends of travel -----------------------------------------------------------------------------------------------------

static int normal_force(const srImpedanceIn* in, srImpedanceOut* out) {
  const srSurfaceLaws* c = in->data;
  double gap, rate;
  sr_contact_gap(c, in, &gap, &rate);
  srNormalOut normal;
  const int answer = sr_normal_force(c, -gap, -rate, in->z, &normal);
  out->f[0] = -c->side * normal.f;
  out->dissipated = normal.dissipation;
  return answer;
}

static double normal_force_energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  double gap, rate;
  sr_contact_gap(c, in, &gap, &rate);
  return sr_normal_force_energy(c, -gap, in->z);
}

// d' and d have the sign of q: the two signs cancel.
static int press_jacobian(const srImpedanceIn* in, double* J) {
  const srSurfaceLaws* c = in->data;
  double gap, rate, jacobian[2];
  sr_contact_gap(c, in, &gap, &rate);
  const int answer = sr_normal_force_jacobian(c, -gap, -rate, in->z, jacobian);
  J[0] = -jacobian[0];
  J[1] = -jacobian[1];
  return answer;
}

static const srImpedance joint_end = {
    .name = "joint-end",
    .port = SR_PORT_JOINT,
    .evaluate = normal_force,
    .energy = normal_force_energy,
};
const srContactKind sr_contact_joint_end = {&joint_end, press_jacobian, sr_contact_prepare};
