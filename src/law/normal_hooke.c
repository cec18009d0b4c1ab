// Hooke's spring: Rodrigues da Silva et al. (2024), eq 37.   f = K d.   Nothing is lost.
#include "law/normal.h"

static int evaluate(const srNormalIn* in, srNormalOut* out) { return sr_normal_power(in, 1.0, 0.0, out); }
static double energy(const srNormalIn* in) { return sr_normal_power_energy(in, 1.0); }

void sr_normal_hooke_graph(srNormalGraph* x) { sr_normal_power_graph(x, srx_number(x->g, 1), srx_number(x->g, 0)); }

const srNormalLaw sr_normal_hooke = {
    .name = "hooke",
    .about = "linear spring; nothing is lost",
    .uses = SR_NORMAL_USES(K),
    .linear = true,
    .evaluate = evaluate,
    .energy = energy,
};
