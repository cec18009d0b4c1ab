// Normal force, friction, slip and state of one contact, by the kind of its gap.
#include "contact/element.h"

static int gap_force(const srImpedanceIn* in, double* ydot, srContactForce* out) {
  const srSurfaceLaws* c = in->data;
  double rate;
  srNormalOut normal;
  srFrictionForce slip = {0};
  sr_contact_gap(c, in, &out->gap, &rate);
  int answer = sr_normal_force(c, -out->gap, -rate, in->z, &normal);
  if (answer == 0 && c->slip.law != NULL)
    answer = sr_friction_force(&c->slip, in->xdot + 1, in->y, normal.f, in->tau, &slip, ydot);
  if (answer != 0) return answer;
  out->normal = normal.f;
  out->friction[0] = -slip.f[0];
  if (c->nvariable > 0) out->slip[0] = in->xdot[1];
  out->state = normal.f <= 0 ? SR_CONTACT_OPEN : slip.sticks ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES;
  return 0;
}

int sr_contact_force(const srForceElement* element, const srImpedanceIn* in, double* ydot, srContactForce* out) {
  *out = (srContactForce){0};
  return element->law->port == SR_PORT_FRAMES ? sr_contact_shapes_force(in, ydot, out) : gap_force(in, ydot, out);
}
