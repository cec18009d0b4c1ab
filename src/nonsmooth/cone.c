// One contact: u = W p + q, with three cases (de Saxce and Feng 1998; Bonnefon and Daviet 2011 for the third as a quartic):
//   apart   p = (lower, friction of that), u_N >= 0
//   stick   u = 0, p = -W^-1 q in the cone
//   slip    u_N = 0, u_T = -alpha p_T, |p_T| = mu p_N, alpha > 0
// With p_N eliminated by u_N = 0 the tangential problem has the matrix A = W_TT - W_TN W_NT / W_NN, p_T = -(A + alpha 1)^-1 b: a secular
// equation in alpha, as in trust regions (More and Sorensen 1983). Where p_N -> -q_N/W_NN > 0 for alpha -> infinity a root exists.
#include "nonsmooth/cone.h"

// Faster than hypot, which guards against numbers that no impulse or velocity has.
static double length2(double x, double y) { return sqrt(x * x + y * y); }

#define SINGULAR 1e-13  // an eigenvalue of A below this part of the larger one is 0

void sr_cone_project(const srCone* cone, double x[3]) {
  const double s = length2(x[1], x[2]);
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
  double x[3] = {p[0] - rho * (u[0] + cone->mu * length2(u[1], u[2])), p[1] - rho * u[1], p[2] - rho * u[2]};
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

// Newton's method from 0, kept between a lower bound with ratio < 0 and an upper one with ratio >= 0, infinite until one is found; for
// equal eigenvalues and n = 0 its first step is exact. first: where to go from 0 if the step is not usable. NaN: there is no root.
static double find_root(const Secular* s, double f, double slope, double first, double x[2]) {
  double alpha = 0, low = 0, high = INFINITY;
  for (int k = 0; k < 300; ++k) {
    double next = slope > 0 ? alpha - f / slope : -1;
    if (!(next > low && next < high)) next = isfinite(high) ? 0.5 * (low + high) : low > 0 ? 4 * low : first;
    const double step = next - alpha;
    alpha = next;
    f = ratio(s, alpha, x, &slope);
    if (f < 0) {
      low = alpha;
    } else {
      high = alpha;
    }
    if (fabs(f) <= 4e-16 || fabs(step) <= 4e-16 * alpha) break;
  }
  return isfinite(high) || fabs(f) <= 4e-16 ? alpha : (double)NAN;
}

double sr_first_eigenvector(const double A[3], double* c, double* s) {
  const double half = 0.5 * (A[0] - A[2]), radius = length2(half, A[1]);
  const double x = half >= 0 ? half + radius : A[1], y = half >= 0 ? A[1] : radius - half, length = length2(x, y);
  *c = length > 0 ? x / length : 1;
  *s = length > 0 ? y / length : 0;
  return radius;
}

bool sr_secular_solve(const double A[3], const double b[2], double n0, const double n[2], double x[2], double* alpha) {
  double c, s;
  const double radius = sr_first_eigenvector(A, &c, &s), middle = 0.5 * (A[0] + A[2]);
  Secular e = {.a = {middle + radius, middle - radius}, .n0 = n0};
  if (e.a[1] < SINGULAR * e.a[0]) e.a[1] = 0;
  e.b[0] = c * b[0] + s * b[1];
  e.b[1] = c * b[1] - s * b[0];
  e.n[0] = c * n[0] + s * n[1];
  e.n[1] = c * n[1] - s * n[0];
  const double small = SINGULAR * length2(b[0], b[1]);
  if (e.a[1] == 0 && fabs(e.b[1]) <= small) e.b[1] = 0;  // rounding, not a force along a direction that cannot move
  double y[2], slope;
  *alpha = 0;
  const double f = ratio(&e, 0, y, &slope);
  if (f < 0) *alpha = find_root(&e, f, slope, e.a[0] > 0 ? e.a[0] : 1, y);
  x[0] = c * y[0] - s * y[1];
  x[1] = s * y[0] + c * y[1];
  return !isnan(*alpha);
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

// Stick: the solution of A p_T = -b, where A is far from singular and the solution in the cone. Most contacts of a heap stick.
static bool sticks(const double A[3], const double b[2], double n0, const double n[2], double x[2]) {
  const double det = A[0] * A[2] - A[1] * A[1], trace = A[0] + A[2];
  if (!(det > 1e-8 * trace * trace)) return false;
  x[0] = (A[1] * b[1] - A[2] * b[0]) / det;
  x[1] = (A[1] * b[0] - A[0] * b[1]) / det;
  const double limit = n0 + n[0] * x[0] + n[1] * x[1];
  return limit > 0 && x[0] * x[0] + x[1] * x[1] <= limit * limit;
}

// p_N > lower: u_N = 0 eliminates it. False: no such solution was found.
static bool closed(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]) {
  const double r = 1 / W[SR_NN], mu = cone->mu;
  const double n[2] = {-W[SR_NT] * r, -W[SR_NB] * r};
  p[1] = p[2] = 0;
  if (mu > 0) {
    const double A[3] = {W[SR_TT] + W[SR_NT] * n[0], W[SR_TB] + W[SR_NT] * n[1], W[SR_BB] + W[SR_NB] * n[1]};
    const double b[2] = {q[1] + n[0] * q[0], q[2] + n[1] * q[0]};
    const double limit[2] = {mu * n[0], mu * n[1]}, n0 = -mu * q[0] * r;
    double alpha;
    if (!sticks(A, b, n0, limit, p + 1) && !sr_secular_solve(A, b, n0, limit, p + 1, &alpha)) return false;
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
    p[0] -= rho * (N + cone->mu * length2(T[0], T[1]));
    p[1] -= rho * T[0];
    p[2] -= rho * T[1];
    sr_cone_project(cone, p);
  }
}

void sr_cone_solve(const srCone* cone, const double W[SR_BLOCK], const double q[3], double p[3]) {
  if (friction_at(cone, W, q, cone->lower, p) >= 0) return;
  if (!closed(cone, W, q, p)) iterate(cone, W, q, p);
}
