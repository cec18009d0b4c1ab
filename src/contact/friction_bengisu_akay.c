// Bengisu and Akay's law in the form of Marques et al.: paper 1, eq 48.
//   f = Fs (1 - (|v| - v0)^2/v0^2) v/|v|                     for |v| < v0: parabola from 0 to the static limit
//   f = (Fk + (Fs - Fk) exp(-xi (|v| - v0))) v/|v|           beyond: Stribeck's fall to the kinetic limit
// Continuous; the slope is 2 Fs/v0 at rest and jumps at v0 from 0 to -xi (Fs - Fk). A static peak, but it creeps at rest.
#include <math.h>

#include "contact/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const double v0 = in->p->v0, speed = sr_slip_norm(in->n, in->v), x = speed / v0;
  const double rise = in->Fs * x * (2.0 - x);  // the parabola, without the difference of near numbers at small x
  const double fall = in->Fk + (in->Fs - in->Fk) * exp(-in->p->xi * (speed - v0));
  return sr_friction_memoryless(in, speed, speed < v0 ? rise : fall, out);
}

const srFrictionLaw sr_friction_bengisu_akay = {
    .name = "bengisu-akay",
    .about = "parabola to the static limit at v0, then Stribeck's fall to the kinetic one; creeps",
    .uses = SR_FRICTION_USES(v0) | SR_FRICTION_USES(xi),
    .evaluate = evaluate,
};
