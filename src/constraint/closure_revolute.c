// Revolute closure, 5 equations: the origins coincide (axes of a), the axis of b is that of a. Rodrigues da Silva et al. (2024), eq 4 to 6.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 5;
  sr_name_translation(c, 0);
  sr_name_tilt(c, 3);
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  sr_row_origin(in, out);
  sr_row_tilt(c, in, 3, out);
  return 0;
}

static void define(srClosureGraph* x) {
  sr_graph_origin(x, 0);
  sr_graph_tilt(x, 3);
}

const srClosureKind sr_closure_revolute = {.observer = SR_OBSERVER_A,
                                           .origin = true,
                                           .uses = "|axis|",
                                           .axial = true,
                                           .setup = setup,
                                           .evaluate = evaluate,
                                           .define = define};
