// Hertz' law: paper 1, eq 38.   f = K d^n,   n = 3/2 for smooth bodies.   Nothing is lost.
#include "contact/normal.h"

static int evaluate(const srNormalIn* in, srNormalOut* out) { return sr_normal_power(in, in->p->n, 0.0, out); }

const srNormalLaw sr_normal_hertz = {
    .name = "hertz",
    .about = "smooth elastic bodies; nothing is lost",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n),
    .evaluate = evaluate,
    .energy = sr_normal_damped_energy,
};
