// Coulomb's law: Rodrigues da Silva et al. (2024), eq 45-46, with the sign of the force that resists.
//   f = Fk v/|v|   while it slips;   any f with |f| <= Fs at rest
// At rest the force is not a function of the motion, so this law is the reference for rigid contact; with v = 0 it gives 0.
#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  return sr_friction_memoryless(in, sr_slip_norm(in->n, in->v), in->Fk, out);
}

void sr_friction_coulomb_graph(srFrictionGraph* x) {
  sr_friction_memoryless_graph(x, srx_norm(x->g, x->n, x->v), x->Fk);
}

const srFrictionLaw sr_friction_coulomb = {
    .name = "coulomb",
    .about = "dry friction, set-valued at rest: the reference, for rigid contact",
    .set_valued = true,
    .evaluate = evaluate,
};
