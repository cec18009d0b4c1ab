// Coulomb's law: Rodrigues da Silva et al. (2024), eq 45-46, with the sign of the force that resists.
//   f = Fk v/|v|   while it slips;   any f with |f| <= Fs at rest
// At rest the force is not a function of the motion: methods for rigid contact solve it with the motion (system/clamps.c). Here it is 0 at v = 0.
#include "law/friction.h"

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  return sr_friction_memoryless(in, sr_slip_norm(in->n, in->v), in->Fk, out);
}

void sr_friction_coulomb_graph(srFrictionGraph* x) {
  sr_friction_memoryless_graph(x, srx_norm(x->g, x->n, x->v), x->Fk);
}

const srFrictionLaw sr_friction_coulomb = {
    .name = "coulomb",
    .about = "dry friction, set-valued at rest: with rigid contact, and of joints",
    .set_valued = true,
    .evaluate = evaluate,
};
