// Bengisu and Akay's law in the form of Marques et al.: Rodrigues da Silva et al. (2024), eq 48.
//   f = Fs (1 - (|v| - v0)^2/v0^2) v/|v|                     for |v| < v0: parabola from 0 to the static limit
//   f = (Fk + (Fs - Fk) exp(-xi (|v| - v0))) v/|v|           beyond: Stribeck's fall to the kinetic limit
// Continuous; the slope is 2 Fs/v0 at rest and jumps at v0 from 0 to -xi (Fs - Fk). A static peak, but it creeps at rest.
#include <math.h>

#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const double v0 = in->p->v0, speed = sr_slip_norm(in->n, in->v), x = speed / v0;
  const double rise = in->Fs * x * (2.0 - x);  // the parabola, without the difference of near numbers at small x
  const double fall = in->Fk + (in->Fs - in->Fk) * exp(-in->p->xi * (speed - v0));
  return sr_friction_memoryless(in, speed, speed < v0 ? rise : fall, out);
}

void sr_friction_bengisu_akay_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode speed = srx_norm(g, x->n, x->v), v0 = x->p[SR_FRICTION_v0], ratio = srx_div(g, speed, v0);
  const srNode rise = srx_mul(g, x->Fs, srx_mul(g, ratio, srx_sub(g, srx_number(g, 2), ratio)));
  const srNode decay = srx_exp(g, srx_mul(g, x->p[SR_FRICTION_xi], srx_sub(g, v0, speed)));
  const srNode fall = srx_add(g, x->Fk, srx_mul(g, srx_sub(g, x->Fs, x->Fk), decay));
  sr_friction_memoryless_graph(x, speed, srx_if(g, srx_less(g, speed, v0), rise, fall));
}

const srFrictionLaw sr_friction_bengisu_akay = {
    .name = "bengisu-akay",
    .about = "parabola to the static limit at v0, then Stribeck's fall to the kinetic one; creeps",
    .uses = SR_FRICTION_USES(v0) | SR_FRICTION_USES(xi),
    .evaluate = evaluate,
};
