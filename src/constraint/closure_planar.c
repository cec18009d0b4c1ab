// Planar closure, 3 equations: b stays in the plane through a, and its normal is that of a.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 3;
  c->row_name[0] = sr_row_translation[sr_row_axis(c->frame[2], 2)];
  sr_name_tilt(c, 1);
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  sr_row_displacement(in, c->frame[2], 0, out);
  sr_row_tilt(c, in, 1, out);
  return 0;
}

static void define(srClosureGraph* x) {
  sr_graph_displacement(x, x->frame[2], 0);
  sr_graph_tilt(x, 1);
}

const srClosureKind sr_closure_planar = {
    .observer = SR_OBSERVER_A, .uses = "|axis|", .axial = true, .setup = setup, .evaluate = evaluate, .define = define};
