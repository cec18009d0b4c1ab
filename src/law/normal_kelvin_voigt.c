// Kelvin and Voigt's spring and damper: Rodrigues da Silva et al. (2024), eq 41.   f = max(0, K d + D ddot)
// The force jumps to D ddot at first contact, and without the clamp it would pull at the end of the contact.
#include <math.h>

#include "law/normal.h"

static int evaluate(const srNormalIn* in, srNormalOut* out) {
  out->elastic = in->d <= 0.0 ? 0.0 : in->p->K * in->d;
  out->f = in->d <= 0.0 ? 0.0 : out->elastic + in->p->D * in->ddot;
  out->clamped = out->f < 0.0;
  if (out->clamped) out->f = 0.0;
  out->dissipation = (out->f - out->elastic) * in->ddot;
  return 0;
}

static double energy(const srNormalIn* in) { return sr_normal_power_energy(in, 1.0); }

void sr_normal_kelvin_voigt_graph(srNormalGraph* x) {
  srGraph* g = x->g;
  const srNode spring = srx_mul(g, x->p[SR_NORMAL_K], x->d), damper = srx_mul(g, x->p[SR_NORMAL_D], x->ddot);
  x->f = srx_max(g, srx_number(g, 0), srx_add(g, spring, damper));
}

const srNormalLaw sr_normal_kelvin_voigt = {
    .name = "kelvin-voigt",
    .about = "linear spring and damper; the force jumps at first touch",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(D),
    .linear = true,
    .evaluate = evaluate,
    .energy = energy,
};
