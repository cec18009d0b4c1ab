// Derivatives of force laws in the space of their own port.
//
//   joint spring, damper, stop    by hand; that of the stop is in joint_stop.c
//   bushing    moment -A^T K theta, A^T = 1 + [theta]/2 + c [theta]^2:
//                d(A^T u) = K + ([theta] K - [u])/2 + c ([theta]^2 K - [theta x u] - [theta][u])
//                           + 2 c' (theta x (theta x u)) theta^T
//                with u = K theta and c' = dc/d(theta^2)
//   formulas   0: they depend on the whole state, and are derived by the graph
//   friction, contact   src/contact
//   any other law (plugins, C code)   differences of the fourth order, at most 2 x 6 + k directions
#include <math.h>
#include <string.h>

#include "force/derivative.h"
#include "force/laws.h"
#include "force/ports.h"
#include "math/pose.h"

enum { MOST = 12 };

// ---- by hand ----------------------------------------------------------------------------------------------------------

// c of A and its derivative by a2 = |theta|^2. The closed forms cancel where the angle is small.
static double quadratic(double a2, double* slope) {
  if (a2 < 1e-3) {
    *slope = 1.0 / 720 + a2 * (2.0 / 30240 + a2 * (3.0 / 1209600));
    return 1.0 / 12 + a2 * (1.0 / 720 + a2 * (1.0 / 30240 + a2 / 1209600));
  }
  const double x = 0.5 * sqrt(a2), cot = cos(x) / sin(x), c = (1 - x * cot) / a2;
  *slope = ((x / (sin(x) * sin(x)) - cot) / (8 * x) - c) / a2;
  return c;
}

static void cross_matrix(const double* a, double* A) {
  const double rows[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  memcpy(A, rows, sizeof rows);
}

void sr_rotation_slope(const double* theta, double* A) {
  double T[9], slope;
  cross_matrix(theta, T);
  const double c = quadratic(srm_dot3(theta, theta), &slope);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double twice = 0;
      for (int k = 0; k < 3; k++) twice += T[3 * i + k] * T[3 * k + j];
      A[3 * i + j] = (i == j) - 0.5 * T[3 * i + j] + c * twice;
    }
  }
}

static void bushing_slope(const srImpedanceIn* in, double* J) {
  const double *K = in->p, *damping = in->p + 6, *theta = in->x;
  const double u[3] = {K[0] * theta[0], K[1] * theta[1], K[2] * theta[2]};
  double T[9], U[9], V[9], turn[3], twice[3], slope;
  const double c = quadratic(srm_dot3(theta, theta), &slope);
  srm_cross3(theta, u, turn);
  srm_cross3(theta, turn, twice);
  cross_matrix(theta, T);
  cross_matrix(u, U);
  cross_matrix(turn, V);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double TTK = 0, TU = 0;
      for (int k = 0; k < 3; k++) {
        TTK += T[3 * i + k] * T[3 * k + j] * K[j];
        TU += T[3 * i + k] * U[3 * k + j];
      }
      J[12 * i + j] = -((i == j) * K[j] + 0.5 * (T[3 * i + j] * K[j] - U[3 * i + j]) + c * (TTK - V[3 * i + j] - TU) +
                        2 * slope * twice[i] * theta[j]);
    }
  }
  for (int i = 3; i < 6; i++) J[12 * i + i] = -K[i];
  for (int i = 0; i < 6; i++) J[12 * i + 6 + i] = -damping[i];
}

// ---- differences --------------------------------------------------------------------------------------------------------

typedef struct Sample {
  int n, k;     // width, states
  double* in;   // x, x', y
  double* out;  // f, y'
} Sample;

static int evaluate(const srForceElement* element, const srImpedanceIn* in, const Sample* s) {
  srImpedanceIn moved = *in;
  moved.x = s->in;
  moved.xdot = s->in + s->n;
  moved.y = s->in + 2 * s->n;
  srImpedanceOut out = {.f = s->out, .ydot = s->out + s->n};
  memset(s->out, 0, (size_t)(s->n + s->k) * sizeof *s->out);
  return element->law->evaluate(&moved, &out);
}

static int difference(const srForceElement* element, const srImpedanceIn* in, const Sample* s, double* J) {
  static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  const int columns = 2 * s->n + s->k, rows = s->n + s->k;
  for (int j = 0; j < columns; j++) {
    const double x = s->in[j], h = 1e-4 * (fabs(x) + 1e-2);
    for (int i = 0; i < 4; i++) {
      s->in[j] = x + at[i] * h;
      const int answer = evaluate(element, in, s);
      if (answer != 0) return answer;
      for (int r = 0; r < rows; r++) J[r * columns + j] += weight[i] / h * s->out[r];
    }
    s->in[j] = x;
  }
  return 0;
}

int sr_law_slope_work(const srForceElement* element) { return 3 * MOST + 2 * element->ny; }

int sr_law_slope(const srForceElement* element, const srImpedanceIn* in, double* work, double* J) {
  const srImpedance* law = element->law;
  const Sample s = {sr_port_width(law->port), element->ny, work, work + 2 * MOST + element->ny};
  const int n = s.n, k = s.k;
  memset(J, 0, (size_t)((n + k) * (2 * n + k)) * sizeof *J);
  if (element->slope != NULL) return element->slope(in, J);
  if (element->formula >= 0) return 0;
  if (law == &sr_law_joint_spring) {
    J[0] = -in->p[0];
  } else if (law == &sr_law_joint_damper) {
    J[1] = -in->p[0];
  } else if (law == &sr_law_joint_stop) {
    sr_joint_stop_slope(in, J);
  } else if (law == &sr_law_bushing) {
    bushing_slope(in, J);
  } else {
    memcpy(s.in, in->x, (size_t)n * sizeof *s.in);
    memcpy(s.in + n, in->xdot, (size_t)n * sizeof *s.in);
    if (k > 0) memcpy(s.in + 2 * n, in->y, (size_t)k * sizeof *s.in);
    return difference(element, in, &s, J);
  }
  return 0;
}
