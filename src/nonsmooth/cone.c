// One contact: u = W p + q, with three cases (de Saxce and Feng 1998; Bonnefon and Daviet 2011 for the third as a quartic):
//   apart   p = (lower, friction of that), u_N >= 0
//   stick   u = 0, p = -W^-1 q in the cone
//   slip    u_N = 0, u_T = -alpha p_T, |p_T| = mu p_N, alpha > 0
// With p_N eliminated by u_N = 0 the tangential problem has the matrix A = W_TT - W_TN W_NT / W_NN, p_T = -(A + alpha 1)^-1 b: a secular
// equation in alpha, as in trust regions (More and Sorensen 1983). Where p_N -> -q_N/W_NN > 0 for alpha -> infinity a root exists.
#include "nonsmooth/cone.h"

#define SINGULAR 1e-13  // an eigenvalue of A below this part of the larger one is 0

void sr_cone_project(const srCone* cone, double x[3]) {
  const double s = hypot(x[1], x[2]);
  double N = x[0], T = s;
  if (s > cone->mu * x[0]) {
    N = (x[0] + cone->mu * s) / (1 + cone->mu * cone->mu);
    if (N < 0) N = 0;
    T = cone->mu * N;
  }
  if (N < cone->lower) {  // then the nearest point of C has p_N = lower
    N = cone->lower;
    T = s < cone->mu * N ? s : cone->mu * N;
  }
  const double scale = s > 0 ? T / s : 0;
  x[0] = N;
  x[1] *= scale;
  x[2] *= scale;
}

double sr_cone_residual(const srCone* cone, double rho, const double p[3], const double u[3]) {
  double x[3] = {p[0] - rho * (u[0] + cone->mu * hypot(u[1], u[2])), p[1] - rho * u[1], p[2] - rho * u[2]};
  sr_cone_project(cone, x);
  const double d[3] = {p[0] - x[0], p[1] - x[1], p[2] - x[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / rho;
}

// ---- the secular equation -----------------------------------------------------------------------------------------------

// In the eigenbasis of A.
typedef struct Secular {
  double a[2], b[2], n[2], n0;
} Secular;

// Ratio (n0 + n.x)/|x| - 1, which is nearly linear in alpha, and its derivative. -1 at a pole.
static double ratio(const Secular* s, double alpha, double x[2], double* slope) {
  double xx = 0, xdx = 0, N = s->n0, dN = 0;
  for (int i = 0; i < 2; ++i) {
    const double c = s->a[i] + alpha;
    if (s->b[i] == 0) {
      x[i] = 0;
      continue;
    }
    if (!(c > 0)) return *slope = 0, -1;
    x[i] = -s->b[i] / c;
    const double dx = s->b[i] / (c * c);
    xx += x[i] * x[i];
    xdx += x[i] * dx;
    N += s->n[i] * x[i];
    dN += s->n[i] * dx;
  }
  const double length = sqrt(xx);
  if (!(length > 0)) return *slope = 0, N >= 0 ? INFINITY : -INFINITY;
  *slope = (dN - N * xdx / xx) / length;
  return N / length - 1;
}

// Newton's method between bounds with ratio < 0 below and >= 0 above.
static double find_root(const Secular* s, double low, double high, double x[2]) {
  double alpha = low, slope, f = ratio(s, alpha, x, &slope);
  for (int k = 0; k < 100 && high - low > 1e-16 * high; ++k) {
    double next = slope > 0 ? alpha - f / slope : -1;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double step = next - alpha;
    alpha = next;
    f = ratio(s, alpha, x, &slope);
    if (f < 0) {
      low = alpha;
    } else {
      high = alpha;
    }
    if (f == 0 || fabs(step) <= 4e-16 * alpha) break;
  }
  return alpha;
}

bool sr_secular_solve(const double A[3], const double b[2], double n0, const double n[2], double x[2], double* alpha) {
  const double half = 0.5 * (A[0] - A[2]), radius = hypot(half, A[1]), middle = 0.5 * (A[0] + A[2]);
  double c = 1, s = 0;  // first eigenvector
  if (radius > 0) {
    c = half >= 0 ? half + radius : A[1];
    s = half >= 0 ? A[1] : radius - half;
    const double length = hypot(c, s);
    c = length > 0 ? c / length : 1;
    s = length > 0 ? s / length : 0;
  }
  Secular e = {.a = {middle + radius, middle - radius}, .n0 = n0};
  if (e.a[1] < SINGULAR * e.a[0]) e.a[1] = 0;
  e.b[0] = c * b[0] + s * b[1];
  e.b[1] = c * b[1] - s * b[0];
  e.n[0] = c * n[0] + s * n[1];
  e.n[1] = c * n[1] - s * n[0];
  const double small = SINGULAR * hypot(b[0], b[1]);
  if (e.a[1] == 0 && fabs(e.b[1]) <= small) e.b[1] = 0;  // rounding, not a force along a direction that cannot move
  double y[2], slope;
  double high = 0;
  bool good = true;
  *alpha = 0;
  if (ratio(&e, 0, y, &slope) < 0) {
    high = e.a[0] > 0 ? e.a[0] : 1;
    int k = 0;
    while (k < 200 && ratio(&e, high, y, &slope) < 0) high *= 4, ++k;
    good = k < 200;
    if (good) *alpha = find_root(&e, 0, high, y);
  }
  x[0] = c * y[0] - s * y[1];
  x[1] = s * y[0] + c * y[1];
  return good;
}

// ---- the local problem --------------------------------------------------------------------------------------------------

// Friction under a given normal impulse; returns u_N.
static double friction_at(const srCone* cone, const double W[SR_BLOCK], const double q[3], double N, double p[3]) {
  const double limit = cone->mu * N, none[2] = {0, 0};
  p[0] = N;
  p[1] = p[2] = 0;
  if (limit > 0) {
    const double b[2] = {q[1] + W[SR_NT] * N, q[2] + W[SR_NB] * N};
    double alpha;
    (void)sr_secular_solve(W + SR_TT, b, limit, none, p + 1, &alpha);
  }
  return W[SR_NN] * N + W[SR_NT] * p[1] + W[SR_NB] * p[2] + q[0];
}

// p_N > lower: u_N = 0 eliminates it. False: no such solution was found.
static bool closed(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]) {
  const double r = 1 / W[SR_NN];
  const double A[3] = {W[SR_TT] - W[SR_NT] * W[SR_NT] * r, W[SR_TB] - W[SR_NT] * W[SR_NB] * r,
                       W[SR_BB] - W[SR_NB] * W[SR_NB] * r};
  const double b[2] = {q[1] - W[SR_NT] * q[0] * r, q[2] - W[SR_NB] * q[0] * r};
  const double n[2] = {-W[SR_NT] * r, -W[SR_NB] * r}, mu = cone->mu;
  double alpha;
  p[1] = p[2] = 0;
  if (mu > 0) {
    const double limit[2] = {mu * n[0], mu * n[1]};
    if (!sr_secular_solve(A, b, -mu * q[0] * r, limit, p + 1, &alpha)) return false;
  }
  p[0] = -q[0] * r + n[0] * p[1] + n[1] * p[2];
  return p[0] >= cone->lower;
}

// Where the root is missed (several contacts' worth of coupling in one, lower > 0): the fixed point of the natural map.
static void iterate(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]) {
  const double rho = 1 / (W[SR_NN] + W[SR_TT] + W[SR_BB]);
  p[0] = cone->lower;
  p[1] = p[2] = 0;
  for (int k = 0; k < 200; ++k) {
    const double T[2] = {W[SR_NT] * p[0] + W[SR_TT] * p[1] + W[SR_TB] * p[2] + q[1],
                         W[SR_NB] * p[0] + W[SR_TB] * p[1] + W[SR_BB] * p[2] + q[2]};
    const double N = W[SR_NN] * p[0] + W[SR_NT] * p[1] + W[SR_NB] * p[2] + q[0];
    p[0] -= rho * (N + cone->mu * hypot(T[0], T[1]));
    p[1] -= rho * T[0];
    p[2] -= rho * T[1];
    sr_cone_project(cone, p);
  }
}

void sr_cone_solve(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]) {
  if (friction_at(cone, W, q, cone->lower, p) >= 0) return;
  if (!closed(cone, W, q, p)) iterate(cone, W, q, p);
}
