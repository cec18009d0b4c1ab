// Hertz' law: Rodrigues da Silva et al. (2024), eq 38.   f = K d^n,   n = 3/2 for smooth bodies.   Nothing is lost.
#include "law/normal.h"

static int evaluate(const srNormalIn* in, srNormalOut* out) { return sr_normal_power(in, in->p->n, 0.0, out); }

void sr_normal_hertz_graph(srNormalGraph* x) { sr_normal_power_graph(x, x->p[SR_NORMAL_n], srx_number(x->g, 0)); }

const srNormalLaw sr_normal_hertz = {
    .name = "hertz",
    .about = "smooth elastic bodies; nothing is lost",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n),
    .evaluate = evaluate,
    .energy = sr_normal_damped_energy,
};
