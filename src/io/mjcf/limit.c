// Stops of MJCF's joints. MuJoCo's limit is soft, with the time constant and the damping ratio of solreflimit; as for its
// contacts (contact.c) it is taken for K = I/(tc dr)^2 and D = 2 I/tc, with the inertia I that the joint feels at qpos0,
// all others free to move: MuJoCo's dof_invweight0 is 1/I.
// The force of our stop at the overshoot d is K d (1 + limit-damping d') for small rates and does not pull at large ones
// (force/joint_stop.c): limit-damping is chosen so that the damping is D at an overshoot of 0.01 rad or m. Source: MuJoCo's XML reference, "joint", and its
// computation page, "Constraint model".
#include <math.h>
#include <string.h>

#include "io/mjcf/law.h"

static void set(srMjcf* m, int joint, int field, double value, srPlace place) {
  if (!srs_set(m->r->spec, SR_ELEMENT_JOINT, joint, field, sr_reader_one(value, place)))
    longjmp(*m->r->pool.on_fail, 1);
}

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

static void soften(srMjcf* m, int i, bool safe, double I) {
  const srMjcfJoint* j = &m->joint[i];
  double solref[2];
  if (!read_solref(m, j, solref)) return;
  double K = -solref[0] * I, D = fabs(solref[1]) * I;  // both negative: by unit of inertia
  if (solref[0] > 0) {
    const double tc = safe ? fmax(solref[0], 2 * m->timestep) : solref[0];
    K = I / (tc * solref[1] * tc * solref[1]);
    D = 2 * I / tc;
  }
  if (!(K > 0 && K < 1e100) || !(D >= 0 && D < 1e100)) return;  // no inertia: the stop of a <joint> as it is
  set(m, j->index, SR_MJCF_FIELD(srJointDef, limit_stiffness), K, j->place);
  set(m, j->index, SR_MJCF_FIELD(srJointDef, limit_damping), D / (K * SR_STOP_OVERSHOOT), j->place);
}

void sr_mjcf_stops(srMjcf* m) {
  const bool safe = !sr_mjcf_is_disabled(m, "refsafe");
  const double* felt = NULL;
  for (int i = 0; i < m->njoint && !m->r->stopped; i++) {
    const srJointDef* def = srs_get(m->r->spec, SR_ELEMENT_JOINT, m->joint[i].index);
    if (def->limits.n != 2) continue;
    if (!felt) felt = sr_mjcf_felt_by_joints(m);
    soften(m, i, safe, felt[i]);
  }
}
