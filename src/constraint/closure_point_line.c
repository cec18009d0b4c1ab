// Point on a line, 2 equations: b stays on the line through a along the axis.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 2;
  sr_name_cross_translation(c, 0);
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  for (int k = 0; k < 2; k++) sr_row_displacement(in, c->frame[k], k, out);
  return 0;
}

static void define(srClosureGraph* x) {
  for (int k = 0; k < 2; k++) sr_graph_displacement(x, x->frame[k], k);
}

const srClosureKind sr_closure_point_line = {
    .observer = SR_OBSERVER_A, .uses = "|axis|", .setup = setup, .evaluate = evaluate, .define = define};
