// Lankarani and Nikravesh's law: Rodrigues da Silva et al. (2024), eq 43.   f = K d^n (1 + 3 (1 - e^2)/4 ddot/ddot0)
// For high restitution: at e = 0 the bodies still rebound with 2/3 of their speed.
#include "law/normal.h"

static double factor(const srNormalParameters* p) { return 0.75 * (1.0 - p->e * p->e); }

void sr_normal_lankarani_nikravesh_graph(srNormalGraph* x) { sr_normal_damped_graph(x); }

const srNormalLaw sr_normal_lankarani_nikravesh = {
    .name = "lankarani-nikravesh",
    .about = "Hertz with damping 3(1-e^2)/4; for high restitution only",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n) | SR_NORMAL_USES(e) | SR_NORMAL_USES(floor),
    .needs_speed = true,
    .evaluate = sr_normal_damped,
    .energy = sr_normal_damped_energy,
    .factor = factor,
};
