// A contact by its gap function: x = (gap, slip), x' their rates, f = (N, -friction) acts on them.
//   d = max(0, -gap),   generalized force  N dgap/dq - f dslip/dq
// The port (src/force/ports.c) gives the rates and applies the forces to the coordinates.
#include <string.h>

#include "contact/element.h"
#include "contact/kinds.h"

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  const srSurfaceLaws* c = in->data;
  srNormalOut normal;
  srFrictionForce slip = {0};
  int answer = sr_normal_force(c, -in->x[0], -in->xdot[0], in->z, &normal);
  if (answer == 0 && c->slip.law != NULL)
    answer = sr_friction_force(&c->slip, in->xdot + 1, in->y, normal.f, in->tau, &slip, out->ydot);
  out->f[0] = normal.f;
  out->f[1] = -slip.f[0];
  out->friction_dissipation = slip.dissipation;
  out->dissipated = normal.dissipation + slip.dissipation;
  return answer;
}

static double energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  const double bristles = c->slip.law != NULL ? sr_friction_force_energy(&c->slip, in->xdot + 1, in->y, in->tau) : 0;
  return sr_normal_force_energy(c, -in->x[0], in->z) + bristles;
}

// J: (2 + k) x (4 + k) by (gap, slip, gap', slip', e).
static int jacobian(const srImpedanceIn* in, double* J) {
  const srSurfaceLaws* c = in->data;
  const int k = c->slip.ne, width = 4 + k, rows = 1 + k;
  double normal_force[2], friction_force[(1 + SR_FRICTION_MAX_ELEMENTS) * (2 + SR_FRICTION_MAX_ELEMENTS)];
  srNormalOut normal;
  int answer = sr_normal_force(c, -in->x[0], -in->xdot[0], in->z, &normal);
  if (answer == 0) answer = sr_normal_force_jacobian(c, -in->x[0], -in->xdot[0], in->z, normal_force);
  if (answer != 0) return answer;
  J[0] = -normal_force[0];
  J[2] = -normal_force[1];
  if (c->slip.law == NULL) return 0;
  answer = sr_friction_force_jacobian(&c->slip, in->xdot + 1, in->y, normal.f, in->tau, friction_force);
  for (int r = 0; r < rows && answer == 0; r++) {
    const double* s = friction_force + r * (rows + 1);
    const double sign = r == 0 ? -1 : 1;
    double* row = J + (1 + r) * width;
    row[0] = -sign * s[rows] * normal_force[0];
    row[2] = -sign * s[rows] * normal_force[1];
    row[3] = sign * s[0];
    for (int j = 0; j < k; j++) row[4 + j] = sign * s[1 + j];
  }
  return answer;
}

static const srImpedance contact = {
    .name = "contact-formula",
    .port = SR_PORT_GAP,
    .evaluate = evaluate,
    .energy = energy,
};
const srContactKind sr_contact_formula = {&contact, jacobian, sr_contact_prepare};
