// End of travel of a joint coordinate, one-sided. At overshoot d >= 0, growing at the rate d', with x = c d':
//   |f| = k d phi(x),   phi = 1 + x  for x >= 0   (Hunt & Crossley 1975, exponent 1),   exp(x)  for x < 0
//   V   = 1/2 k d^2,    dissipated = |f| d' - k d d' = k d (phi - 1) d' >= 0
// phi and its derivative are continuous. The force grows from zero at first contact, since the damping grows with d, is k d at rest,
// and never pulls.
//
// Why not max(0, 1 + x) on the return: a joint that returns from far outside then moves at exactly 1/c, where the force
// switches between 0 and k d, a sliding mode with rates of k d c/I (1e7 1/s) that every method has to resolve or damp. Here
// the inertia I returns with I u' = k d exp(-c u): u = (1/c) log(1 + k d c t/I) at first, and the rate k d c exp(-c u)/I = c u'
// falls as 1/t. It is never faster than the motion.
//
// Restitution: k d dd = -I v dv/phi(c v), so that k and I cancel. An approach velocity v gives a separation velocity w:
//   integral of x/phi over [-c w, c v] = 0:   1 + (c w - 1) exp(c w) = c v - log(1 + c v)        e = w/v = 1 - 2/3 c v + ...
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

static double grip(double x) { return x < 0.0 ? exp(x) : 1.0 + x; }  // phi

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  double side = 0.0;
  const double d = overshoot(in, &side), ddot = side * in->xdot[0];
  if (side == 0.0) return 0;
  const double elastic = in->p[STIFFNESS] * d;
  const double force = elastic * grip(in->p[DAMPING] * ddot);
  out->f[0] = -side * force;
  out->dissipated = (force - elastic) * ddot;
  return 0;
}

static double energy(const srImpedanceIn* in) {
  double side = 0.0;
  const double d = overshoot(in, &side);
  return 0.5 * in->p[STIFFNESS] * d * d;
}

void sr_law_joint_stop_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  const srNode above = srx_sub(g, x->x[0], x->p[UPPER]), below = srx_sub(g, x->p[LOWER], x->x[0]);
  const srNode d = srx_max(g, srx_max(g, above, below), zero), is_above = srx_positive(g, above);
  const srNode rate = srx_mul(g, x->p[DAMPING], srx_if(g, is_above, x->xdot[0], srx_neg(g, x->xdot[0])));
  const srNode phi = srx_if(g, srx_less(g, rate, zero), srx_exp(g, rate), srx_add(g, one, rate));
  const srNode force = srx_mul(g, srx_mul(g, x->p[STIFFNESS], d), phi);
  x->f[0] = srx_if(g, srx_positive(g, d), srx_if(g, is_above, srx_neg(g, force), force), zero);
}

const srImpedance sr_law_joint_stop = {
    .name = "joint-stop",
    .port = SR_PORT_JOINT,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
