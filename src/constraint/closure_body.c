// Body cut (the ROBOTRAN manual, section 3.2.3, figure 12), the same as a weld: frame b is frame a, 6 equations in the axes of a.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"

static const char* setup(srClosure* c) {
  c->np = 6;
  sr_name_translation(c, 0);
  sr_name_orientation(c, 3);
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  (void)c;
  sr_row_origin(in, out);
  sr_row_orientation(in, 3, out);
  return 0;
}

static void define(srClosureGraph* x) {
  sr_graph_origin(x, 0);
  sr_graph_orientation(x, 3);
}

const srClosureKind sr_closure_body = {
    .observer = SR_OBSERVER_A, .origin = true, .setup = setup, .evaluate = evaluate, .define = define};
