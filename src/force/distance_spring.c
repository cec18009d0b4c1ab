// Spring and damper along the line between two points, z apart; f > 0 pushes them apart:
//   f = F0 - k (z - l) - c z',    V = 1/2 k (z - l)^2 - F0 (z - l),    dissipated c z'^2
// l is the length at which the spring has the force F0; without a preload that is its free length.
#include "force/laws.h"

enum { STIFFNESS, LENGTH, PRELOAD, DAMPING, PARAMETERS };
static const char* const names[PARAMETERS] = {"stiffness", "length", "preload", "damping"};

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  const double stretch = in->x[0] - in->p[LENGTH], viscous = in->p[DAMPING] * in->xdot[0];
  out->f[0] = in->p[PRELOAD] - in->p[STIFFNESS] * stretch - viscous;
  out->dissipated = viscous * in->xdot[0];
  return 0;
}

static double energy(const srImpedanceIn* in) {
  const double stretch = in->x[0] - in->p[LENGTH];
  return (0.5 * in->p[STIFFNESS] * stretch - in->p[PRELOAD]) * stretch;
}

void sr_law_distance_spring_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  const srNode elastic = srx_mul(g, x->p[STIFFNESS], srx_sub(g, x->x[0], x->p[LENGTH]));
  x->f[0] = srx_sub(g, srx_sub(g, x->p[PRELOAD], elastic), srx_mul(g, x->p[DAMPING], x->xdot[0]));
}

const srImpedance sr_law_distance_spring = {
    .name = "distance-spring",
    .port = SR_PORT_DISTANCE,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
