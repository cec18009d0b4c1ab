// Point on a plane, 1 equation: b stays in the plane through a whose normal is the axis.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 1;
  c->row_name[0] = sr_row_translation[sr_row_axis(c->frame[2], 2)];
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  sr_row_displacement(in, c->frame[2], 0, out);
  return 0;
}

static void define(srClosureGraph* x) { sr_graph_displacement(x, x->frame[2], 0); }

const srClosureKind sr_closure_point_plane = {
    .observer = SR_OBSERVER_A, .uses = "|axis|", .setup = setup, .evaluate = evaluate, .define = define};
