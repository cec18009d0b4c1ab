// Universal closure, 4 equations: the origins coincide (axes of a); `axis`, fixed in a, and `axis2`, fixed in b, keep their angle.
// The last equation is the rotation about their common normal, in radians where it is small.
#include "constraint/closure.h"
#include "constraint/closure_graph.h"
#include "math/pose.h"

static const char* setup(srClosure* c) {
  if (!c->has_axis2) return "a universal closure needs 'axis2', its second axis";
  double cross[3];
  srm_cross3(c->frame[2], c->axis2, cross);
  if (srm_norm3(cross) < 1e-4) return "the two axes of a universal closure must not be parallel";
  c->np = 4;
  sr_name_translation(c, 0);
  const double length = srm_norm3(cross);
  for (int k = 0; k < 3; k++) cross[k] /= length;
  c->row_name[3] = sr_row_rotation[sr_row_axis(cross, 2)];
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  double cross[3];
  srm_cross3(c->frame[2], c->axis2, cross);
  const double scale = -1 / srm_norm3(cross);
  sr_row_origin(in, out);
  sr_row_cosine(in, c->frame[2], c->axis2, scale, srm_dot3(c->frame[2], c->axis2), 3, out);
  return 0;
}

static void define(srClosureGraph* x) {
  srGraph* g = x->g;
  srNode cross[3], turned[3];
  srx_cross(g, x->frame[2], x->axis2, cross);
  sr_graph_turned(x, x->axis2, turned);
  const srNode change = srx_sub(g, srx_dot(g, 3, x->frame[2], x->axis2), srx_dot(g, 3, x->frame[2], turned));
  sr_graph_origin(x, 0);
  x->residual[3] = srx_div(g, change, srx_sqrt(g, srx_dot(g, 3, cross, cross)));
}

const srClosureKind sr_closure_universal = {.observer = SR_OBSERVER_A,
                                            .origin = true,
                                            .uses = "|axis|axis2|",
                                            .setup = setup,
                                            .evaluate = evaluate,
                                            .define = define};
