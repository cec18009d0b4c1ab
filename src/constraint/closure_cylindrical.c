// Cylindrical closure, 4 equations: b stays on the axis through a, and its axis is that of a.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 4;
  sr_name_cross_translation(c, 0);
  sr_name_tilt(c, 2);
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  for (int k = 0; k < 2; k++) sr_row_displacement(in, c->frame[k], k, out);
  sr_row_tilt(c, in, 2, out);
  return 0;
}

static void define(srClosureGraph* x) {
  for (int k = 0; k < 2; k++) sr_graph_displacement(x, x->frame[k], k);
  sr_graph_tilt(x, 2);
}

const srClosureKind sr_closure_cylindrical = {
    .observer = SR_OBSERVER_A, .uses = "|axis|", .axial = true, .setup = setup, .evaluate = evaluate, .define = define};
