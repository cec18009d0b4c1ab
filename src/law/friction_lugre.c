// The LuGre law: Kikuuwe and Yamamoto, eq 12, in vector form.
//   f = K e + B edot + D v,   edot = v - |v| e/g(|v|),   g(s) = (Fk + (Fs - Fk) exp(-(s/vs)^delta))/K, a length
// At constant v it slides with Fk + (Fs - Fk) exp(-(|v|/vs)^delta) + D |v|. Under a load that pulsates below the limit it
// creeps. B edot . v may be negative: the law is passive only while B is small, so `dissipation` may dip below zero for moments.
// Fast slip and small limits as in friction_dahl.c; with the limit at zero (contact open) the force is zero.
#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const srFrictionParameters* p = in->p;
  const int n = in->n;
  const double speed = sr_slip_norm(n, in->v);
  double e_plus[SR_FRICTION_MAX_N];
  sr_bristle_bend(in, sr_stribeck(in->Fs, in->Fk, p->vs, p->delta, speed) / p->K, e_plus, out->edot);
  for (int k = 0; k < n; ++k) e_plus[k] *= p->K;
  sr_slip_gsat(n, in->Fs, e_plus, out->f);
  for (int k = 0; k < n; ++k) out->f[k] = in->Fs > 0.0 ? out->f[k] + p->B * out->edot[k] + in->D * in->v[k] : 0.0;
  out->dissipation = sr_slip_dot(n, out->f, in->v) - p->K * sr_slip_dot(n, in->e, out->edot);
  out->sticks = speed == 0.0;
  return 0;
}

void sr_friction_lugre_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode K = x->p[SR_FRICTION_K], zero = srx_number(g, 0);
  srNode f[SR_FRICTION_MAX_N], cut[SR_FRICTION_MAX_N];
  sr_bristle_bend_graph(x, srx_div(g, sr_stribeck_graph(x, srx_norm(g, x->n, x->v)), K), f);
  for (int k = 0; k < x->n; ++k) f[k] = srx_mul(g, K, f[k]);
  sr_slip_gsat_graph(g, x->n, x->Fs, f, cut);
  for (int k = 0; k < x->n; ++k) {
    const srNode damping = srx_add(g, srx_mul(g, x->p[SR_FRICTION_B], x->edot[k]), srx_mul(g, x->D, x->v[k]));
    x->f[k] = srx_if(g, srx_positive(g, x->Fs), srx_add(g, cut[k], damping), zero);
  }
}

const srFrictionLaw sr_friction_lugre = {
    .name = "lugre",
    .about = "dahl with damping, Stribeck and viscous terms; creeps under a pulsating load",
    .ne = 1,
    .uses = SR_FRICTION_USES(K) | SR_FRICTION_USES(B) | SR_FRICTION_USES(D) | SR_FRICTION_USES(vs) |
            SR_FRICTION_USES(delta),
    .evaluate = evaluate,
    .energy = sr_bristle_energy,
};
