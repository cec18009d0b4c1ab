// The pairs by the kinds of their shapes.
#include "collide/pair.h"

#include <stddef.h>

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
  return NULL;
}
