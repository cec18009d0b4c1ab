// What the friction laws share: vectors of slip, laws without memory, Stribeck's curve, limits of rolling and spinning.
#include "law/friction.h"

#include <math.h>

double sr_slip_dot(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

double sr_slip_norm(int n, const double* x) {
  const double square = sr_slip_dot(n, x, x);
  if (n > 1 && square > 1e-200 && square < 1e200) return sqrt(square);
  double norm = fabs(x[0]);
  for (int k = 1; k < n; ++k) norm = hypot(norm, x[k]);
  return norm;
}

void sr_slip_along(int n, const double* x, double norm, double size, double* out) {
  for (int k = 0; k < n; ++k) out[k] = norm == 0.0 ? 0.0 : x[k] / norm * size;  // NaN goes through
}

void sr_slip_gsat(int n, double limit, const double* x, double* out) {
  const double norm = sr_slip_norm(n, x);
  if (norm > limit)
    sr_slip_along(n, x, norm, fmax(limit, 0.0), out);
  else
    for (int k = 0; k < n; ++k) out[k] = x[k];
}

int sr_friction_memoryless(const srFrictionIn* in, double speed, double size, srFrictionOut* out) {
  sr_slip_along(in->n, in->v, speed, size, out->f);
  out->dissipation = size * speed;
  out->sticks = speed == 0.0;
  return 0;
}

double sr_stribeck(double Fs, double Fk, double vs, double delta, double s) {
  return Fs > Fk ? Fk + (Fs - Fk) * exp(-pow(s / vs, delta)) : Fk;
}

// ---- on the graph -------------------------------------------------------------------------------------------------------

srNode sr_stribeck_graph(srFrictionGraph* x, srNode s) {
  srGraph* g = x->g;
  const srNode fall = srx_pow(g, srx_div(g, s, x->p[SR_FRICTION_vs]), x->p[SR_FRICTION_delta]);
  const srNode drop = srx_sub(g, x->Fs, x->Fk);
  return srx_add(g, x->Fk, srx_mul(g, srx_max(g, drop, srx_number(g, 0)), srx_exp(g, srx_neg(g, fall))));
}

void sr_slip_along_graph(srGraph* g, int n, const srNode* x, srNode norm, srNode size, srNode* out) {
  for (int k = 0; k < n; ++k)
    out[k] = srx_if(g, srx_positive(g, norm), srx_mul(g, srx_div(g, x[k], norm), size), srx_number(g, 0));
}

void sr_slip_gsat_graph(srGraph* g, int n, srNode limit, const srNode* x, srNode* out) {
  srNode cut[SR_FRICTION_MAX_N];
  const srNode norm = srx_norm(g, n, x);
  sr_slip_along_graph(g, n, x, norm, srx_max(g, limit, srx_number(g, 0)), cut);
  for (int k = 0; k < n; ++k) out[k] = srx_if(g, srx_less(g, limit, norm), cut[k], x[k]);
}

void sr_friction_memoryless_graph(srFrictionGraph* x, srNode speed, srNode size) {
  sr_slip_along_graph(x->g, x->n, x->v, speed, size, x->f);
}

// ---- limits -------------------------------------------------------------------------------------------------------------

double sr_rolling_limit(double lever, double N) { return fmax(lever * N, 0.0); }

// mu times the integral of r p(r) over the patch: p constant, and p = 3 N/(2 pi a^2) sqrt(1 - r^2/a^2).
double sr_spinning_limit(double mu, double N, double a, srPressure pressure) {
  const double pi = 3.14159265358979323846;
  return fmax((pressure == SR_PRESSURE_HERTZ ? 3.0 * pi / 16.0 : 2.0 / 3.0) * mu * N * a, 0.0);
}
