// Flores' law: Rodrigues da Silva et al. (2024), eq 44.   f = K d^n (1 + 8 (1 - e)/(5 e) ddot/ddot0)
// Near the given restitution over the whole range; without bound as e -> 0, so e = 0 is refused.
#include "law/normal.h"

static double factor(const srNormalParameters* p) { return 1.6 * (1.0 - p->e) / p->e; }

static const char* refuse(const srNormalParameters* p) {
  return p->e > 0.0 ? NULL : "its damping is infinite at restitution 0; take a small one, or the law exact";
}

void sr_normal_flores_graph(srNormalGraph* x) { sr_normal_damped_graph(x); }

const srNormalLaw sr_normal_flores = {
    .name = "flores",
    .about = "Hertz with damping 8(1-e)/(5e); near the restitution asked for over the whole range",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n) | SR_NORMAL_USES(e) | SR_NORMAL_USES(floor),
    .needs_speed = true,
    .evaluate = sr_normal_damped,
    .energy = sr_normal_damped_energy,
    .factor = factor,
    .refuse = refuse,
};
