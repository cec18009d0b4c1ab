// Iwan's hysteresis: m of Kikuuwe's bristles side by side (Kikuuwe and Yamamoto, section V). All have stiffness K/m and damping B/m;
// element i slips at the share
//   F_i = F/m (1 + spread (2i + 1 - m)/m),   i = 0 .. m-1,   sum F_i = F
// of each limit. So the stiffness at first is K, the limit is F, and the elements yield one after the other, at displacements
// spread evenly over F/K (1 -+ spread). For many elements the first loading curve (backbone) from x_1 = F/K (1 - spread) to
// x_2 = F/K (1 + spread) is the parabola
//   f = K x - K (x - x_1)^2/(2 (x_2 - x_1))                              for spread = 1:  K x - (K x)^2/(4 F)
// and straight before and behind it. Unloading follows Masing's rules: every branch is the backbone, twice as large.
// spread = 0 is one kikuuwe. Small cycles lose energy too: internal slip dissipates.
#include <math.h>

#include "law/friction.h"

static int element_count(const srFrictionParameters* p) {
  return (int)fmin(fmax(p->elements, 1.0), SR_FRICTION_MAX_ELEMENTS);
}

static double share(const srFrictionParameters* p, int m, int i) { return (1.0 + p->spread * (2 * i + 1 - m) / m) / m; }

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const srFrictionParameters* p = in->p;
  const int n = in->n, m = element_count(p);
  const double Z = p->B + in->tau * p->K;
  double f[SR_FRICTION_MAX_N];
  out->dissipation = 0.0;
  out->sticks = true;
  for (int k = 0; k < n; ++k) out->f[k] = 0.0;
  for (int i = 0; i < m; ++i) {
    const double part = share(p, m, i);
    const srBristle b = {p->K / m, Z / m, part * in->Fs, part * fmin(in->Fk, in->Fs), in->D / m, p->vs, p->delta};
    bool sticks;
    out->dissipation += sr_bristle(&b, n, in->v, in->e + i * n, f, out->edot + i * n, &sticks);
    out->sticks = out->sticks && sticks;
    for (int k = 0; k < n; ++k) out->f[k] += f[k];
  }
  return 0;
}

static double energy(const srFrictionIn* in) {
  const int m = element_count(in->p);
  return 0.5 * in->p->K / m * sr_slip_dot(in->n * m, in->e, in->e);
}

static const char* refuse(const srFrictionParameters* p, double tau) {
  if (!(p->B + tau * p->K > 0.0)) return "its bristles need damping, so B and tau cannot both be 0";
  if (!(p->elements >= 1.0 && p->elements <= SR_FRICTION_MAX_ELEMENTS) || p->elements != floor(p->elements))
    return "elements must be a whole number from 1 to 64";
  return p->spread <= 1.0 ? NULL : "spread must lie between 0 and 1, so that no element has a limit below 0";
}

void sr_friction_iwan_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const int n = x->n, m = x->ne;
  const srNode K = x->p[SR_FRICTION_K], Fk = srx_min(g, x->Fk, x->Fs), one = srx_number(g, 1), many = srx_number(g, m);
  const srNode Z = srx_add(g, x->p[SR_FRICTION_B], srx_mul(g, x->tau, K));
  for (int k = 0; k < n; ++k) x->f[k] = srx_number(g, 0);
  for (int i = 0; i < m; ++i) {
    srNode f[SR_FRICTION_MAX_N];
    const srNode tilt = srx_mul(g, x->p[SR_FRICTION_spread], srx_number(g, (2.0 * i + 1 - m) / m));
    const srNode part = srx_div(g, srx_add(g, one, tilt), many);
    const srBristleGraph b = {srx_div(g, K, many),    srx_div(g, Z, many),    srx_mul(g, part, x->Fs),
                              srx_mul(g, part, Fk),   srx_div(g, x->D, many), x->p[SR_FRICTION_vs],
                              x->p[SR_FRICTION_delta]};
    sr_bristle_graph(g, &b, n, x->v, x->e + i * n, f, x->edot + i * n);
    for (int k = 0; k < n; ++k) x->f[k] = srx_add(g, x->f[k], f[k]);
  }
}

const srFrictionLaw sr_friction_iwan = {
    .name = "iwan",
    .about =
        "several kikuuwe side by side that yield one after the other: hysteresis in small cycles; what rests stays",
    .ne = -1,
    .uses = SR_FRICTION_USES(K) | SR_FRICTION_USES(B) | SR_FRICTION_USES(D) | SR_FRICTION_USES(vs) |
            SR_FRICTION_USES(delta) | SR_FRICTION_USES(spread) | SR_FRICTION_USES(elements),
    .holds = true,
    .evaluate = evaluate,
    .energy = energy,
    .refuse = refuse,
};
