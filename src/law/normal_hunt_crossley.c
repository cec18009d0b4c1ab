// Hunt and Crossley's law: Rodrigues da Silva et al. (2024), eq 42.   f = K d^n (1 + 3 (1 - e)/2 ddot/ddot0)
// The factor is the first term of the exact one at e = 1; at smaller e the bodies rebound too fast (docs/theory/contact.md).
#include "law/normal.h"

static double factor(const srNormalParameters* p) { return 1.5 * (1.0 - p->e); }

void sr_normal_hunt_crossley_graph(srNormalGraph* x) { sr_normal_damped_graph(x); }

const srNormalLaw sr_normal_hunt_crossley = {
    .name = "hunt-crossley",
    .about = "Hertz with damping 3(1-e)/2; gives the restitution asked for near e = 1",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n) | SR_NORMAL_USES(e) | SR_NORMAL_USES(floor),
    .needs_speed = true,
    .evaluate = sr_normal_damped,
    .energy = sr_normal_damped_energy,
    .factor = factor,
};
