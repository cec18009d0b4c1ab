// Six formulas at a point of a body: moment, then force, in inertial axes. ROBOTRAN's user_ExtForces (the ROBOTRAN manual, eq 34).
#include <string.h>

#include "force/laws.h"

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  memcpy(out->f, in->formula, 6 * sizeof(double));
  return 0;
}

const srImpedance sr_law_point_formula = {.name = "point-formula", .port = SR_PORT_POINT, .evaluate = evaluate};
