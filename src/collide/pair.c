// The pairs by the kinds of their shapes.
#include "collide/pair.h"

#include <stddef.h>

const srPairKind sr_pair_on_plane = {.name = "plane-convex", .a = SR_KIND_PLANE, .b = SR_KINDS, .nt = 2};
const srPairKind sr_pair_convex = {.name = "convex", .a = SR_KINDS, .b = SR_KINDS, .nt = 3};

static bool is_convex(srShapeKind kind) {
  return kind != SR_KIND_NONE && kind != SR_KIND_HOLLOW && kind != SR_KIND_BORE;
}

const srPairKind* sr_pair_find(srShapeKind one, srShapeKind two, bool* swap) {
  static const srPairKind* const pairs[] = {
#define PAIR_ROW(name) &sr_pair_##name,
      SR_PAIR_LIST(PAIR_ROW)
#undef PAIR_ROW
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const srPairKind* pair = pairs[i];
    *swap = pair->a != one;
    if ((pair->a == one && pair->b == two) || (pair->a == two && pair->b == one)) return pair;
  }
  *swap = two == SR_KIND_PLANE;
  if (!is_convex(one) || !is_convex(two) || (one == SR_KIND_PLANE && two == SR_KIND_PLANE)) return NULL;
  return one == SR_KIND_PLANE || two == SR_KIND_PLANE ? &sr_pair_on_plane : &sr_pair_convex;
}
