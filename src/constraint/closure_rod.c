// Rod cut (the ROBOTRAN manual, section 3.2.3, figure 14) or distance, 1 equation: |d| = length.
//   g = (d.d - l^2) / (2 l),   W = d/l over u,   bias = u.u/l
// In this scale the multiplier is the force along the rod, > 0 in compression: it pushes the ends apart.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"
#include "math/pose.h"

static const char* setup(srClosure* c) {
  if (!c->has_length) return "a rod needs its 'length'";
  if (!(c->length > 0)) return "the 'length' of a rod must be greater than zero";
  c->np = 1;
  c->row_name[0] = "length";
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  const double inverse = 1 / c->length;
  out->g[0] = 0.5 * inverse * (srm_dot3(in->d, in->d) - c->length * c->length);
  out->bias[0] = inverse * srm_dot3(in->u, in->u);
  for (int k = 0; k < 3; k++) out->W[0][3 + k] = inverse * in->d[k];
  return 0;
}

static void define(srClosureGraph* x) {
  srGraph* g = x->g;
  const srNode excess = srx_sub(g, srx_dot(g, 3, x->d, x->d), srx_mul(g, x->length, x->length));
  x->residual[0] = srx_div(g, excess, srx_mul(g, srx_number(g, 2), x->length));
}

const srClosureKind sr_closure_rod = {
    .observer = SR_OBSERVER_A, .uses = "|length|", .setup = setup, .evaluate = evaluate, .define = define};
