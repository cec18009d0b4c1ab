// Broad phase for shapes of any size: a tree of bounding boxes, built anew in time linear in the boxes. On math alone.
#ifndef SR_COLLIDE_BOXES_H
#define SR_COLLIDE_BOXES_H

#include <stdbool.h>

typedef struct srBoxTree srBoxTree;

// Boxes low <= x <= high. A box that reaches to infinity is unbounded: it is outside of the tree and tested against all others. A box
// without points (low > high, or all of it at infinity) or with a bound that is not a number is near nothing.
typedef struct srBoxes {
  int n;
  const double *low, *high;  // n x 3
} srBoxes;

srBoxTree* sr_boxes_create(int most);  // boxes; allocates all memory. NULL: out of memory
void sr_boxes_destroy(srBoxTree* tree);

// Builds the tree of the boxes, each wider by margin/2 on every side: its fat box, kept in single precision and rounded outward.
void sr_boxes_build(srBoxTree* tree, const srBoxes* boxes, double margin);

// Builds it only if there is none yet, the number of boxes has changed, or a box is no longer within its fat box. False: the tree
// stays, and every two boxes that overlap are among the pairs that it had before.
bool sr_boxes_update(srBoxTree* tree, const srBoxes* boxes, double margin);

// Calls `pair` for every pair i > j whose fat boxes overlap, each once, until it returns false: all pairs that were nearer than
// margin when the tree was built, and a few that were farther apart by the rounding. Pairs come in the order of the tree (Morton code, then
// index), which depends on the boxes alone; those with unbounded boxes first. Returns the number of boxes compared.
long sr_boxes_pairs(const srBoxTree* tree, bool (*pair)(void* user, int i, int j), void* user);

#endif
