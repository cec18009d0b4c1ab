// A formula along the line between two points:  f = law(z, zdot, t, ...), f > 0 pushes the points apart.
// ROBOTRAN's user_LinkForces (the ROBOTRAN manual, eq 35-40) with the opposite sign: there a positive force pulls.
#include "force/laws.h"

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = in->formula[0];
  return 0;
}

const srImpedance sr_law_distance_formula = {
    .name = "distance-formula", .port = SR_PORT_DISTANCE, .evaluate = evaluate};
