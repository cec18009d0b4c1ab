// Rates of the velocities of a contact, d(W v + b)/dt, along the motion with v held: the term of its equations at acceleration level. With the twist (w, u) of
// b observed from a and its rates (w', u') for v' = 0, r and n of the point of contact and their rates as it moves on both surfaces (collide/points.h):
//   u_N' = n.c' + n'.c,   u_T' = t.c' + t'.c        c = u + w x r,   c' = u' + w' x r + w x r'
// Tangents turn with the normal, and with the direction of friction (contact_tangents.c). A stop has the rate of its joint's velocity, 0 in relative coordinates; the rates of gap
// and slip by formula are formulas too, and have the accelerations of their variables besides.
#include <math.h>

#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "math/vector3.h"
#include "system/system.h"

void sr_contact_point_rates(const srTangents* tangents, const srFrameMotion* seen, const srPairPoint* at,
                            const srPointRates* rates, double out[3]) {
  double t[2][3], turn[2][3], carried[3], c[3], dc[3], by_angular[3], by_arm[3];
  sr_contact_tangents_turn(tangents, at->n, rates->n, seen->angular_velocity, t, turn);
  srm_cross3(seen->angular_velocity, at->r, carried);
  srm_cross3(seen->angular_acceleration, at->r, by_angular);
  srm_cross3(seen->angular_velocity, rates->r, by_arm);
  for (int i = 0; i < 3; i++) {
    c[i] = seen->velocity[i] + carried[i];
    dc[i] = seen->acceleration[i] + by_angular[i] + by_arm[i];
  }
  out[0] = srm_dot3(at->n, dc) + srm_dot3(rates->n, c);
  for (int k = 0; k < 2; k++) out[1 + k] = srm_dot3(t[k], dc) + srm_dot3(turn[k], c);
}

static double acceleration_of(const srModel* m, srData* d, const srContactVariable* x) {
  srFrameMotion seen;
  if (x->dof >= 0) return m->absolute ? d->jbias[x->dof] : 0;
  const srSensor* sensor = &m->sensor[x->index];
  sr_frame_motion(m, d, sensor->point, sensor->relative_to, &seen);
  return x->scalar >= 6 ? seen.angular_acceleration[x->scalar - 6] : seen.acceleration[x->scalar % 3];
}

void sr_contact_port_rates(const srModel* m, srData* d, const srForceElement* e, const srPortMotion* motion,
                           double out[3]) {
  const srSurfaceLaws* c = e->contact;
  out[0] = out[1] = out[2] = 0;
  if (m->absolute) sr_measure_joints(m, d);
  if (e->law->port == SR_PORT_JOINT) {
    if (m->absolute) out[0] = -c->side * d->jbias[e->dof];
    return;
  }
  const double *by = motion->formula + 3, *own = by + 2 * c->nvariable + 2;
  for (int i = 0; i < 2; i++) out[i] = own[i];
  for (int k = 0; k < c->nvariable; k++, by += 2) {
    const double a = acceleration_of(m, d, &c->variable[k]);
    for (int i = 0; i < 2; i++) out[i] += by[i] * a;
  }
}
