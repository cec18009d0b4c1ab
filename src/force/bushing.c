// Bushing: springs and dampers in six directions between two frames, in the axes of frame a.
//   e = (theta, d)                                     theta: rotation vector, d: displacement of b observed from a
//   V = 1/2 e^T K e - F0^T e                           K: 6 x 6, F0: preload
//   moment on b = -J^-T (K e - F0)_r - (C x')_r        x' = (w, d'), w: angular velocity of b observed from a, theta' = J^-1(theta) w
//   force  on b = -(K e - F0)_t - (C x')_t
//   J^-T = 1 + 1/2 [theta] + c [theta]^2,  c = (1 - (a/2) cot(a/2)) / a^2,  a = |theta|      Bullo & Murray (1995)
// The moment is the exact gradient of V, so that energy is conserved at any rotation and for any K; -K_r theta alone is
// not, unless K_r is a multiple of the identity. Beyond half a turn theta jumps to the shorter rotation: V is
// continuous there, the moment is not.
// Two laws: "bushing" with diagonal K and C, no preload; "bushing-matrix" with the upper triangles of K and C, row by row, and F0.
#include <math.h>
#include <string.h>

#include "force/laws.h"
#include "math/pose.h"

enum { STIFFNESS, DAMPING = 6, PARAMETERS = 12 };
enum { MATRIX_STIFFNESS, MATRIX_DAMPING = 21, MATRIX_PRELOAD = 42, MATRIX_PARAMETERS = 48 };
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

// Force on b from the gradient of V by e and the viscous force.
static void respond(const srImpedanceIn* in, const double* gradient, const double* viscous, srImpedanceOut* out) {
  double elastic[6];
  transposed_inverse_jacobian(in->x, gradient, elastic);
  memcpy(elastic + 3, gradient + 3, 3 * sizeof *elastic);
  for (int i = 0; i < 6; ++i) {
    out->f[i] = -elastic[i] - viscous[i];
    out->dissipated += viscous[i] * in->xdot[i];
  }
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  double gradient[6], viscous[6];
  for (int i = 0; i < 6; ++i) {
    gradient[i] = in->p[STIFFNESS + i] * in->x[i];
    viscous[i] = in->p[DAMPING + i] * in->xdot[i];
  }
  respond(in, gradient, viscous, out);
  return 0;
}

static double energy(const srImpedanceIn* in) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) sum += 0.5 * in->p[STIFFNESS + i] * in->x[i] * in->x[i];
  return sum;
}

// ---- full matrices ------------------------------------------------------------------------------------------------------

// Entry (i, j) of a symmetric 6 x 6 matrix in its upper triangle, row by row.
static int upper(int i, int j) { return i <= j ? i * (11 - i) / 2 + j : upper(j, i); }

// S u, S by its upper triangle
static void symmetric_times(const double* S, const double* u, double* out) {
  for (int i = 0; i < 6; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < 6; ++j) out[i] += S[upper(i, j)] * u[j];
  }
}

static int evaluate_matrix(const srImpedanceIn* in, srImpedanceOut* out) {
  double gradient[6], viscous[6];
  symmetric_times(in->p + MATRIX_STIFFNESS, in->x, gradient);
  symmetric_times(in->p + MATRIX_DAMPING, in->xdot, viscous);
  for (int i = 0; i < 6; ++i) gradient[i] -= in->p[MATRIX_PRELOAD + i];
  respond(in, gradient, viscous, out);
  return 0;
}

static double energy_matrix(const srImpedanceIn* in) {
  double force[6], sum = 0.0;
  symmetric_times(in->p + MATRIX_STIFFNESS, in->x, force);
  for (int i = 0; i < 6; ++i) sum += in->x[i] * (0.5 * force[i] - in->p[MATRIX_PRELOAD + i]);
  return sum;
}

// ---- on the graph -------------------------------------------------------------------------------------------------------

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

static void respond_graph(srImpedanceGraph* x, const srNode* gradient, const srNode* viscous) {
  srGraph* g = x->g;
  srNode elastic[6], once[3], twice[3];
  memcpy(elastic, gradient, sizeof elastic);
  srx_cross(g, x->x, gradient, once);
  srx_cross(g, x->x, once, twice);
  const srNode c = factor_graph(g, srx_dot(g, 3, x->x, x->x));
  for (int i = 0; i < 3; ++i)
    elastic[i] = srx_add(g, elastic[i], srx_add(g, srx_mul(g, srx_number(g, 0.5), once[i]), srx_mul(g, c, twice[i])));
  for (int i = 0; i < 6; ++i) x->f[i] = srx_neg(g, srx_add(g, elastic[i], viscous[i]));
}

void sr_law_bushing_graph(srImpedanceGraph* x) {
  srNode gradient[6], viscous[6];
  for (int i = 0; i < 6; ++i) {
    gradient[i] = srx_mul(x->g, x->p[STIFFNESS + i], x->x[i]);
    viscous[i] = srx_mul(x->g, x->p[DAMPING + i], x->xdot[i]);
  }
  respond_graph(x, gradient, viscous);
}

static srNode symmetric_row(srGraph* g, const srNode* S, int i, const srNode* u) {
  srNode row[6];
  for (int j = 0; j < 6; ++j) row[j] = S[upper(i, j)];
  return srx_dot(g, 6, row, u);
}

void sr_law_bushing_matrix_graph(srImpedanceGraph* x) {
  srNode gradient[6], viscous[6];
  for (int i = 0; i < 6; ++i) {
    const srNode elastic = symmetric_row(x->g, x->p + MATRIX_STIFFNESS, i, x->x);
    gradient[i] = srx_sub(x->g, elastic, x->p[MATRIX_PRELOAD + i]);
    viscous[i] = symmetric_row(x->g, x->p + MATRIX_DAMPING, i, x->xdot);
  }
  respond_graph(x, gradient, viscous);
}

const srImpedance sr_law_bushing = {
    .name = "bushing",
    .port = SR_PORT_FRAMES,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};

const srImpedance sr_law_bushing_matrix = {
    .name = "bushing-matrix",
    .port = SR_PORT_FRAMES,
    .np = MATRIX_PARAMETERS,
    .evaluate = evaluate_matrix,
    .energy = energy_matrix,
};
