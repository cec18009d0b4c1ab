// What the normal laws share: the power law with damping, Hertz' stiffness.
#include "law/normal.h"

#include <math.h>

// d^n; by square root for Hertz' exponent, which is most of the cost of a contact otherwise.
static double power(double d, double n) {
  if (n == 1.0) return d;
  return n == 1.5 ? d * sqrt(d) : pow(d, n);
}

int sr_normal_power(const srNormalIn* in, double n, double rate, srNormalOut* out) {
  out->elastic = in->d <= 0.0 ? 0.0 : in->p->K * power(in->d, n);
  out->f = out->elastic * fmax(1.0 + rate, 0.0);
  out->clamped =
      out->elastic > 0.0 && 1.0 + rate < -1e-9;  // a body that leaves at -ddot0/chi rounds about 0: not reported
  out->dissipation = (out->f - out->elastic) * in->ddot;
  return 0;
}

double sr_normal_power_energy(const srNormalIn* in, double n) {
  return in->d <= 0.0 ? 0.0 : in->p->K * power(in->d, n) * in->d / (n + 1.0);
}

int sr_normal_damped(const srNormalIn* in, srNormalOut* out) {
  return sr_normal_power(in, in->p->n, in->p->chi * in->ddot / fmax(in->ddot0, in->p->floor), out);
}

double sr_normal_damped_energy(const srNormalIn* in) { return sr_normal_power_energy(in, in->p->n); }

void sr_normal_power_graph(srNormalGraph* x, srNode n, srNode rate) {
  srGraph* g = x->g;
  const srNode elastic = srx_mul(g, x->p[SR_NORMAL_K], srx_pow(g, x->d, n));
  x->f = srx_mul(g, elastic, srx_max(g, srx_add(g, srx_number(g, 1), rate), srx_number(g, 0)));
}

void sr_normal_damped_graph(srNormalGraph* x) {
  srGraph* g = x->g;
  const srNode speed = srx_max(g, x->ddot0, x->p[SR_NORMAL_floor]);
  sr_normal_power_graph(x, x->p[SR_NORMAL_n], srx_div(g, srx_mul(g, x->chi, x->ddot), speed));
}

double sr_hertz_radius(srElastic i, srElastic j) {
  const double curvature = 1.0 / i.R + 1.0 / j.R;
  return curvature > 0.0 ? 1.0 / curvature : (double)NAN;
}

double sr_hertz_stiffness(srElastic i, srElastic j) {
  const double sigma = (1.0 - i.nu * i.nu) / i.E + (1.0 - j.nu * j.nu) / j.E;
  return sigma > 0.0 ? 4.0 / (3.0 * sigma) * sqrt(sr_hertz_radius(i, j)) : (double)NAN;
}

double sr_hertz_patch(double R, double d) { return d <= 0.0 ? 0.0 : sqrt(R * d); }
