// The law with exactly the given restitution: f = K d^n (1 + D ddot/ddot0), where (1 + e) D = ln((1 + D)/(1 - e D)).
//
// With u = ddot/ddot0 the motion m ddot' = -f is   m ddot0^2 u du/(1 + D u) = -K d^n dd.   From contact to separation the right
// side has the integral 0, whatever K, n, m and ddot0, and u runs from 1 to -e:
//   0 = integral of u/(1 + D u) from -e to 1 = (1 + e)/D - ln((1 + D)/(1 - e D))/D^2
// 1 + D u stays above 0 throughout (e D < 1), so that one impact alone is never clamped. e = 0 would need an infinite D:
// below 1e-3 it is taken as 1e-3.
#include "law/normal.h"

static double factor(const srNormalParameters* p) { return sr_restitution_factor(p->e); }

void sr_normal_exact_graph(srNormalGraph* x) { sr_normal_damped_graph(x); }

const srNormalLaw sr_normal_exact = {
    .name = "exact",
    .about = "Hertz with the damping that gives the restitution asked for, whatever K, n, mass and speed",
    .uses = SR_NORMAL_USES(K) | SR_NORMAL_USES(n) | SR_NORMAL_USES(e) | SR_NORMAL_USES(floor),
    .needs_speed = true,
    .evaluate = sr_normal_damped,
    .energy = sr_normal_damped_energy,
    .factor = factor,
};
