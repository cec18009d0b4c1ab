// A formula on a joint coordinate:  f = law(t, q, v, sensors, states). ROBOTRAN's user_JointForces (manual, 4.2).
#include "force/laws.h"

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = in->formula[0];
  return 0;
}

const srImpedance sr_law_joint_formula = {.name = "joint-formula", .port = SR_PORT_JOINT, .evaluate = evaluate};
