// Linear spring on a joint coordinate:  f = -k (q - rest),  V = 1/2 k (q - rest)^2.
#include "force/laws.h"

enum { STIFFNESS, REST, PARAMETERS };
static const char* const names[PARAMETERS] = {"stiffness", "rest"};

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = -in->p[STIFFNESS] * (in->x[0] - in->p[REST]);
  return 0;
}

static double energy(const srImpedanceIn* in) {
  const double stretch = in->x[0] - in->p[REST];
  return 0.5 * in->p[STIFFNESS] * stretch * stretch;
}

void sr_law_joint_spring_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  x->f[0] = srx_mul(g, x->p[STIFFNESS], srx_sub(g, x->p[REST], x->x[0]));
}

const srImpedance sr_law_joint_spring = {
    .name = "joint-spring",
    .port = SR_PORT_JOINT,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
