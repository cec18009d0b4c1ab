// Dahl's law: Kikuuwe and Yamamoto, eq 11, in vector form.
//   f = K e,   edot = v - |v| e/g,   g = Fk/K
// |e| never exceeds g: d|e|/dt <= |v| (1 - |e|/g). Under a load that pulsates below the limit it creeps.
//
// Where the limit is small or the slip fast, the bristle forgets within g/|v| << tau, and the equation is stiff. Then one
// backward Euler step of length t = tau - g/|v| is put inside, as Kikuuwe's law does with the whole tau:
//   e+ = e + t edot = (e + t v)/(1 + t |v|/g),   edot = (g v/|v| - e)/tau,   f = K e+
// It is passive for any t: f = K e + t K edot, and v - edot = (|v|/g) e+ is along f. For t = 0 these are eq 11. When the
// limit falls below what the bristle bears, f is cut to it.
#include <math.h>

#include "law/friction.h"

void sr_bristle_bend(const srFrictionIn* in, double g, double* e_plus, double* edot) {
  const int n = in->n;
  const double speed = sr_slip_norm(n, in->v);
  const double memory = g <= 0.0 ? 0.0 : speed > 0.0 ? g / speed : (double)INFINITY;  // s
  const double t = in->tau - memory;
  double end[SR_FRICTION_MAX_N];  // where a constant v takes the bristle
  sr_slip_along(n, in->v, speed, g, end);
  for (int k = 0; k < n; ++k) {
    if (t > 0.0)
      edot[k] = (end[k] - in->e[k]) / in->tau;
    else
      edot[k] = g > 0.0 ? in->v[k] - speed / g * in->e[k] : 0.0;  // g = tau = 0: nothing moves the bristle
    e_plus[k] = in->e[k] + (t > 0.0 ? t * edot[k] : 0.0);
  }
}

double sr_bristle_energy(const srFrictionIn* in) { return 0.5 * in->p->K * sr_slip_dot(in->n, in->e, in->e); }

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const double K = in->p->K;
  double e_plus[SR_FRICTION_MAX_N];
  sr_bristle_bend(in, in->Fk / K, e_plus, out->edot);
  for (int k = 0; k < in->n; ++k) e_plus[k] *= K;
  sr_slip_gsat(in->n, in->Fk, e_plus, out->f);
  out->dissipation = sr_slip_dot(in->n, out->f, in->v) - K * sr_slip_dot(in->n, in->e, out->edot);
  out->sticks = sr_slip_norm(in->n, in->v) == 0.0;
  return 0;
}

void sr_bristle_bend_graph(srFrictionGraph* x, srNode length, srNode* e_plus) {
  srGraph* g = x->g;
  const srNode speed = srx_norm(g, x->n, x->v), zero = srx_number(g, 0), bends = srx_positive(g, length);
  const srNode memory = srx_if(g, bends, srx_div(g, length, speed), zero);
  const srNode inside = srx_sub(g, x->tau, memory);  // t; -infinite without slip
  const srNode forgets = srx_positive(g, inside);
  srNode end[SR_FRICTION_MAX_N];
  sr_slip_along_graph(g, x->n, x->v, speed, length, end);
  for (int k = 0; k < x->n; ++k) {
    const srNode back = srx_mul(g, srx_div(g, speed, length), x->e[k]);
    const srNode slow = srx_if(g, bends, srx_sub(g, x->v[k], back), zero);
    x->edot[k] = srx_if(g, forgets, srx_div(g, srx_sub(g, end[k], x->e[k]), x->tau), slow);
    e_plus[k] = srx_add(g, x->e[k], srx_if(g, forgets, srx_mul(g, inside, x->edot[k]), zero));
  }
}

void sr_friction_dahl_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode K = x->p[SR_FRICTION_K];
  srNode f[SR_FRICTION_MAX_N];
  sr_bristle_bend_graph(x, srx_div(g, x->Fk, K), f);
  for (int k = 0; k < x->n; ++k) f[k] = srx_mul(g, K, f[k]);
  sr_slip_gsat_graph(g, x->n, x->Fk, f, x->f);
}

const srFrictionLaw sr_friction_dahl = {
    .name = "dahl",
    .about = "one bristle that forgets while it slips; creeps under a pulsating load",
    .ne = 1,
    .uses = SR_FRICTION_USES(K),
    .evaluate = evaluate,
    .energy = sr_bristle_energy,
};
