// A joint by penalty: Kikuuwe and Yamamoto, simulation III. Two frames are held together but for the rotation about an axis a, given alike in
// both. d, R, w: displacement, rotation and angular velocity of b seen from a, in a's axes; a_b = R a.
//   force on b  = -k d - c d'
//   moment on b = k_r (a_b x a) - c_r (w - (w . a) a)
// The moment is the gradient of k_r (1 - a . a_b): it does not depend on the angle about a, nor on turns.
#include <math.h>

#include "math/pose.h"
#include "network/network.h"

enum { STIFFNESS, DAMPING, BENDING, BENDING_DAMPING, AXIS, PARAMETERS = 7 };
static const char* const names[PARAMETERS] = {
    "stiffness", "damping", "stiffness of bending", "damping of bending", "axis x", "axis y", "axis z"};

static bool unit_axis(const double* p, double* axis) {
  const double length = srm_norm3(p + AXIS);
  for (int i = 0; i < 3; ++i) axis[i] = p[AXIS + i] / length;
  return length > 0.0;
}

// R(theta) u by Rodrigues' formula.
static void rotate(const double* theta, const double* u, double* out) {
  const double a = srm_norm3(theta);
  double once[3], twice[3];
  srm_cross3(theta, u, once);
  srm_cross3(theta, once, twice);
  const double s = a > 1e-4 ? sin(a) / a : 1.0 - a * a / 6.0;
  const double half = a > 1e-4 ? sin(0.5 * a) / a : 0.5 - a * a / 48.0;
  for (int i = 0; i < 3; ++i) out[i] = u[i] + s * once[i] + 2.0 * half * half * twice[i];
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  const double* w = in->xdot;
  double axis[3], axis_b[3], bend[3];
  if (!unit_axis(in->p, axis)) return -1;
  rotate(in->x, axis, axis_b);
  srm_cross3(axis_b, axis, bend);
  const double turning = srm_dot3(w, axis);
  for (int i = 0; i < 3; ++i) {
    const double across = w[i] - turning * axis[i];
    out->f[i] = in->p[BENDING] * bend[i] - in->p[BENDING_DAMPING] * across;
    out->f[3 + i] = -in->p[STIFFNESS] * in->x[3 + i] - in->p[DAMPING] * in->xdot[3 + i];
    out->dissipated += in->p[BENDING_DAMPING] * across * across + in->p[DAMPING] * in->xdot[3 + i] * in->xdot[3 + i];
  }
  return 0;
}

// 1 - a . a_b = |a_b - a|^2/2
static double energy(const srImpedanceIn* in) {
  double axis[3], axis_b[3], sum = 0.0;
  if (!unit_axis(in->p, axis)) return 0.0;
  rotate(in->x, axis, axis_b);
  for (int i = 0; i < 3; ++i) {
    const double off = axis_b[i] - axis[i];
    sum += 0.5 * in->p[BENDING] * off * off + 0.5 * in->p[STIFFNESS] * in->x[3 + i] * in->x[3 + i];
  }
  return sum;
}

const srImpedance sr_law_hinge = {.name = "hinge",
                                  .port = SR_PORT_FRAMES,
                                  .np = PARAMETERS,
                                  .parameters = names,
                                  .evaluate = evaluate,
                                  .energy = energy};
