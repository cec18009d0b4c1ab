// End of travel of a joint coordinate, one-sided. At overshoot d >= 0, growing at the rate ddot:
//   |f| = k d max(0, 1 + c ddot)       pushes back and never pulls        Hunt & Crossley (1975), exponent 1
//   V   = 1/2 k d^2            dissipated = |f| ddot - k d ddot >= 0:  k d c ddot^2, or -k d ddot once it lets go
// The damping grows with d, so the force is continuous at first touch.
#include <math.h>

#include "force/laws.h"

enum { LOWER, UPPER, STIFFNESS, DAMPING, PARAMETERS };
static const char* const names[PARAMETERS] = {"lower", "upper", "stiffness", "damping"};

// How far x is beyond its range; *side is the direction that leads out (0: inside).
static double overshoot(const srImpedanceIn* in, double* side) {
  const double x = in->x[0];
  *side = x > in->p[UPPER] ? 1.0 : x < in->p[LOWER] ? -1.0 : 0.0;
  return *side > 0.0 ? x - in->p[UPPER] : *side < 0.0 ? in->p[LOWER] - x : 0.0;
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  double side = 0.0;
  const double d = overshoot(in, &side), ddot = side * in->xdot[0];
  if (side == 0.0) return 0;
  const double elastic = in->p[STIFFNESS] * d;
  const double force = elastic * fmax(0.0, 1.0 + in->p[DAMPING] * ddot);
  out->f[0] = -side * force;
  out->dissipated = (force - elastic) * ddot;
  return 0;
}

static double energy(const srImpedanceIn* in) {
  double side = 0.0;
  const double d = overshoot(in, &side);
  return 0.5 * in->p[STIFFNESS] * d * d;
}

const srImpedance sr_law_joint_stop = {
    .name = "joint-stop",
    .port = SR_PORT_JOINT,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
