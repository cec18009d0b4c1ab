// Linear damper on a joint coordinate:  f = -c v.  It stores nothing; its energy function exists to put its
// power c v^2 into the account of dissipation.
#include "force/laws.h"

enum { DAMPING, PARAMETERS };
static const char* const names[PARAMETERS] = {"damping"};

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = -in->p[DAMPING] * in->xdot[0];
  out->dissipated = in->p[DAMPING] * in->xdot[0] * in->xdot[0];
  return 0;
}

static double energy(const srImpedanceIn* in) {
  (void)in;
  return 0.0;
}

void sr_law_joint_damper_graph(srImpedanceGraph* x) {
  x->f[0] = srx_neg(x->g, srx_mul(x->g, x->p[DAMPING], x->xdot[0]));
}

const srImpedance sr_law_joint_damper = {
    .name = "joint-damper",
    .port = SR_PORT_JOINT,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
