// Stops of MJCF's joints. MuJoCo's limit is soft, with the time constant tc and the damping ratio dr of solreflimit; as for its
// contacts (contact.c) it is taken for K = I/(tc dr)^2 and D = 2 I/tc, the natural frequency 1/(tc dr) with the ratio dr; I, MuJoCo's
// 1/dof_invweight0, is the effective inertia that the compiler takes too (model/compile_effective.c).
// Source: MuJoCo's XML reference, "joint", and its computation page, "Constraint model".
#include <math.h>

#include "io/mjcf/law.h"

// Two positive numbers, or a stiffness and a damping by unit of inertia, both with a minus. For others MuJoCo takes its own.
static bool read_solref(srMjcf* m, const srMjcfJoint* j, double solref[2]) {
  solref[0] = 0.02, solref[1] = 1;
  if (sr_mjcf_numbers(m, j->node, j->childclass, "solreflimit", 1, 2, solref) < 0) return false;
  if ((solref[0] > 0 && solref[1] > 0) || (solref[0] < 0 && solref[1] <= 0)) return true;
  sr_reader_warning(m->r, sr_mjcf_attribute(m, j->node, j->childclass, "solreflimit")->place,
                    "'solreflimit' of joint '%s' has two positive or two negative numbers, not %g %g: 0.02 1 is taken",
                    j->name, solref[0], solref[1]);
  solref[0] = 0.02, solref[1] = 1;
  return true;
}

// tc, dr: the frequency 1/(tc dr) and the ratio dr; stiffness k and damping b by unit of inertia: w = sqrt(k), b/(2 w).
static void soften(srMjcf* m, int i, bool safe) {
  const srMjcfJoint* j = &m->joint[i];
  double solref[2];
  if (!read_solref(m, j, solref)) return;
  double w = sqrt(-solref[0]), ratio = fabs(solref[1]) / (2 * w);
  if (solref[0] > 0) {
    w = 1 / ((safe ? fmax(solref[0], 2 * m->timestep) : solref[0]) * solref[1]);
    ratio = solref[1];
  }
  sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, limit_natural_frequency), w, j->place);
  sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, limit_damping_ratio), ratio, j->place);
}

void sr_mjcf_stops(srMjcf* m) {
  const bool safe = !sr_mjcf_is_disabled(m, "refsafe");
  for (int i = 0; i < m->njoint && !m->r->stopped; i++) {
    const srJointDef* def = srs_get(m->r->spec, SR_ELEMENT_JOINT, m->joint[i].index);
    if (def->limits.n == 2) soften(m, i, safe);
  }
}
