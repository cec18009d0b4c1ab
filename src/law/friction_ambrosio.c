// Ambrosio's regularisation: Rodrigues da Silva et al. (2024), eq 49-50.
//   f = c_d Fk v/|v|,   c_d = 0 below v0, (|v| - v0)/(v1 - v0) between v0 and v1, 1 beyond
// Below v0 there is no force at all: what should rest slides freely at up to v0.
#include <math.h>

#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const double v0 = in->p->v0, v1 = in->p->v1, speed = sr_slip_norm(in->n, in->v);
  const double c_d = fmin(fmax((speed - v0) / (v1 - v0), 0.0), 1.0);
  return sr_friction_memoryless(in, speed, c_d * in->Fk, out);
}

static const char* refuse(const srFrictionParameters* p, double tau) {
  (void)tau;
  return p->v1 > p->v0 ? NULL : "its ramp lies between v0 and v1, so v1 must be larger than v0";
}

void sr_friction_ambrosio_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode speed = srx_norm(g, x->n, x->v), v0 = x->p[SR_FRICTION_v0];
  const srNode ramp = srx_div(g, srx_sub(g, speed, v0), srx_sub(g, x->p[SR_FRICTION_v1], v0));
  const srNode c_d = srx_min(g, srx_max(g, ramp, srx_number(g, 0)), srx_number(g, 1));
  sr_friction_memoryless_graph(x, speed, srx_mul(g, c_d, x->Fk));
}

const srFrictionLaw sr_friction_ambrosio = {
    .name = "ambrosio",
    .about = "ramp between v0 and v1, no force below v0; creeps",
    .uses = SR_FRICTION_USES(v0) | SR_FRICTION_USES(v1),
    .evaluate = evaluate,
    .refuse = refuse,
};
