// Ball cut (the ROBOTRAN manual, section 3.2.3, figure 13), 3 equations: the origins coincide. Equations and multiplier are in the axes of the
// youngest common ancestor of the two bodies. The residual is p_a - p_b, so that the multiplier is the force of the second body on
// the first (catalog 4.16). With a normal (in the same axes) only the two equations perpendicular to it are kept: planar loops, where
// the third is satisfied automatically.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static const char* setup(srClosure* c) {
  c->np = c->has_normal ? 2 : 3;
  if (c->has_normal) {
    sr_name_cross_translation(c, 0);
  } else {
    sr_name_translation(c, 0);
  }
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  for (int i = 0; i < c->np; i++) {
    const double* e = c->has_normal ? c->frame[i] : unit[i];
    const double minus[3] = {-e[0], -e[1], -e[2]};
    sr_row_displacement(in, minus, i, out);
  }
  return 0;
}

static void define(srClosureGraph* x) {
  for (int i = 0; i < x->np; i++) {
    const srNode along = x->has_normal ? srx_dot(x->g, 3, x->frame[i], x->d) : x->d[i];
    x->residual[i] = srx_neg(x->g, along);
  }
}

const srClosureKind sr_closure_ball = {
    .observer = SR_OBSERVER_COMMON, .uses = "|normal|", .setup = setup, .evaluate = evaluate, .define = define};
