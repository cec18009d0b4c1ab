// Friction of a joint coordinate, and its ends of travel as contacts.
//   friction   f = -(law's force at slip speed q', limits F and Fk)
//   end        gap = side (end - q), d = max(0, -gap), d' = side q';   f = -side N(d, d')      never pulls
#include <math.h>
#include <string.h>

#include "contact/element.h"
#include "contact/kinds.h"

// ---- friction -----------------------------------------------------------------------------------------------------------

static int rub(const srImpedanceIn* in, srImpedanceOut* out) {
  const srContact* c = in->data;
  srRub rub;
  const int answer = sr_rub(&c->slip, in->xdot, in->y, 1, in->tau, &rub, out->ydot);
  out->f[0] = -rub.f[0];
  out->dissipated = out->rubbed = rub.heat;
  return answer;
}

static double rub_energy(const srImpedanceIn* in) {
  const srContact* c = in->data;
  return sr_rub_energy(&c->slip, in->xdot, in->y, in->tau);
}

// J: (1 + k) x (2 + k) by (q, q', y); of the law: (1 + k) x (1 + k + 1) by (q', e, N).
static int rub_slope(const srImpedanceIn* in, double* J) {
  const srContact* c = in->data;
  const int k = c->slip.ne, rows = 1 + k, columns = 2 + k;
  double slope[(1 + SR_FRICTION_MAX_ELEMENTS) * (2 + SR_FRICTION_MAX_ELEMENTS)];
  const int answer = sr_rub_slope(&c->slip, in->xdot, in->y, 1, in->tau, slope);
  for (int r = 0; r < rows && answer == 0; r++) {
    for (int j = 0; j < 1 + k; j++) J[r * columns + 1 + j] = (r == 0 ? -1 : 1) * slope[r * (rows + 1) + j];
  }
  return answer;
}

static const srImpedance joint_friction = {
    .name = "joint-friction",
    .port = SR_PORT_JOINT,
    .evaluate = rub,
    .energy = rub_energy,
};
const srContactKind sr_contact_joint_friction = {&joint_friction, rub_slope, sr_contact_prepare};

// ---- ends of travel -----------------------------------------------------------------------------------------------------

static int press(const srImpedanceIn* in, srImpedanceOut* out) {
  const srContact* c = in->data;
  double gap, rate;
  sr_contact_gap(c, in, &gap, &rate);
  srNormalOut normal;
  const int answer = sr_press(c, -gap, -rate, in->z, &normal);
  out->f[0] = -c->side * normal.f;
  out->dissipated = normal.heat;
  return answer;
}

static double press_energy(const srImpedanceIn* in) {
  const srContact* c = in->data;
  double gap, rate;
  sr_contact_gap(c, in, &gap, &rate);
  return sr_press_energy(c, -gap, in->z);
}

// d' and d have the sign of q: the two signs cancel.
static int press_slope(const srImpedanceIn* in, double* J) {
  const srContact* c = in->data;
  double gap, rate, slope[2];
  sr_contact_gap(c, in, &gap, &rate);
  const int answer = sr_press_slope(c, -gap, -rate, in->z, slope);
  J[0] = -slope[0];
  J[1] = -slope[1];
  return answer;
}

static const srImpedance joint_end = {
    .name = "joint-end",
    .port = SR_PORT_JOINT,
    .evaluate = press,
    .energy = press_energy,
};
const srContactKind sr_contact_joint_end = {&joint_end, press_slope, sr_contact_prepare};
