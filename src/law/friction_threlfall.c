// Threlfall's regularisation: Rodrigues da Silva et al. (2024), eq 47.
//   f = Fk (1 - exp(-3 |v|/v0)) v/|v|   for |v| <= v0,   Fk (1 - exp(-3)) v/|v|   beyond
// Threlfall prints 0.95 for 1 - exp(-3) = 0.950213, which leaves a jump of 2.1e-4 Fk; here the branches meet.
#include <math.h>

#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const double speed = sr_slip_norm(in->n, in->v);
  return sr_friction_memoryless(in, speed, -in->Fk * expm1(-3.0 * fmin(speed / in->p->v0, 1.0)), out);
}

void sr_friction_threlfall_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode speed = srx_norm(g, x->n, x->v), one = srx_number(g, 1);
  const srNode rise = srx_min(g, srx_div(g, speed, x->p[SR_FRICTION_v0]), one);
  const srNode share = srx_sub(g, one, srx_exp(g, srx_mul(g, srx_number(g, -3), rise)));
  sr_friction_memoryless_graph(x, speed, srx_mul(g, x->Fk, share));
}

const srFrictionLaw sr_friction_threlfall = {
    .name = "threlfall",
    .about = "exponential rise to 95 % of the kinetic limit at v0; creeps",
    .uses = SR_FRICTION_USES(v0),
    .evaluate = evaluate,
};
