// Bushing: springs and dampers in six directions between two frames, in the axes of frame a.
//   V = 1/2 theta^T K_r theta + 1/2 d^T K_t d          theta: rotation vector, d: displacement of b observed from a
//   moment on b = -J^-T K_r theta - C_r w              theta' = J^-1(theta) w, w: angular velocity of b observed from a
//   force  on b = -K_t d - C_t d'
//   J^-T = 1 + 1/2 [theta] + c [theta]^2,  c = (1 - (a/2) cot(a/2)) / a^2,  a = |theta|      Bullo & Murray (1995)
// The moment is the exact gradient of V, so that energy is conserved at any rotation and for any K; -K_r theta alone is
// not, unless K_r is a multiple of the identity. Beyond half a turn theta jumps to the shorter rotation: V is
// continuous there, the moment is not.
#include <math.h>

#include "force/laws.h"
#include "math/pose.h"

enum { STIFFNESS, DAMPING = 6, PARAMETERS = 12 };
static const char* const names[PARAMETERS] = {
    "stiffness about x", "stiffness about y", "stiffness about z", "stiffness along x",
    "stiffness along y", "stiffness along z", "damping about x",   "damping about y",
    "damping about z",   "damping along x",   "damping along y",   "damping along z",
};

// Below a^2 = 1e-3 by its series 1/12 + a^2/720 + a^4/30240 + a^6/1209600 + ...
double sr_rotation_factor(double a2) {
  if (a2 < 1e-3) return 1.0 / 12.0 + a2 * (1.0 / 720.0 + a2 / 30240.0);
  const double half = 0.5 * sqrt(a2);
  return (1.0 - half * cos(half) / sin(half)) / a2;
}

// out = J^-T(theta) u
static void transposed_inverse_jacobian(const double* theta, const double* u, double* out) {
  double once[3], twice[3];
  srm_cross3(theta, u, once);
  srm_cross3(theta, once, twice);
  const double c = sr_rotation_factor(srm_dot3(theta, theta));
  for (int i = 0; i < 3; ++i) out[i] = u[i] + 0.5 * once[i] + c * twice[i];
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  double elastic[6], moment[3];
  for (int i = 0; i < 6; ++i) elastic[i] = in->p[STIFFNESS + i] * in->x[i];
  transposed_inverse_jacobian(in->x, elastic, moment);
  for (int i = 0; i < 3; ++i) elastic[i] = moment[i];
  for (int i = 0; i < 6; ++i) {
    const double viscous = in->p[DAMPING + i] * in->xdot[i];
    out->f[i] = -elastic[i] - viscous;
    out->dissipated += viscous * in->xdot[i];
  }
  return 0;
}

static double energy(const srImpedanceIn* in) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += 0.5 * in->p[STIFFNESS + i] * in->x[i] * in->x[i];
  return sum;
}

// c with the fourth term of its series, since its derivative loses one.
static srNode factor_graph(srGraph* g, srNode a2) {
  srNode series = srx_number(g, 1.0 / 1209600.0);
  static const double term[] = {30240.0, 720.0, 12.0};
  for (int i = 0; i < 3; i++) series = srx_add(g, srx_number(g, 1.0 / term[i]), srx_mul(g, a2, series));
  const srNode half = srx_mul(g, srx_number(g, 0.5), srx_sqrt(g, a2));
  const srNode cotangent = srx_div(g, srx_1(g, SR_OP_COS, half), srx_1(g, SR_OP_SIN, half));
  const srNode closed = srx_div(g, srx_sub(g, srx_number(g, 1), srx_mul(g, half, cotangent)), a2);
  return srx_if(g, srx_less(g, a2, srx_number(g, 1e-3)), series, closed);
}

void sr_law_bushing_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  srNode elastic[6], once[3], twice[3];
  for (int i = 0; i < 6; ++i) elastic[i] = srx_mul(g, x->p[STIFFNESS + i], x->x[i]);
  srx_cross(g, x->x, elastic, once);
  srx_cross(g, x->x, once, twice);
  const srNode c = factor_graph(g, srx_dot(g, 3, x->x, x->x));
  for (int i = 0; i < 3; ++i)
    elastic[i] = srx_add(g, elastic[i], srx_add(g, srx_mul(g, srx_number(g, 0.5), once[i]), srx_mul(g, c, twice[i])));
  for (int i = 0; i < 6; ++i) x->f[i] = srx_neg(g, srx_add(g, elastic[i], srx_mul(g, x->p[DAMPING + i], x->xdot[i])));
}

const srImpedance sr_law_bushing = {
    .name = "bushing",
    .port = SR_PORT_FRAMES,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};
