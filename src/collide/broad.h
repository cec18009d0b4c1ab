// Broad phase of balls: the grid where their sizes are similar and the balls near each other, else the tree of boxes. On math alone.
#ifndef SR_COLLIDE_BROAD_H
#define SR_COLLIDE_BROAD_H

#include "collide/grid.h"

typedef struct srBroad srBroad;

srBroad* sr_broad_create(int most);  // balls; allocates all memory. NULL: out of memory
void sr_broad_destroy(srBroad* broad);

// Calls `pair` for every pair i > j whose surfaces are nearer than margin, each once, in an order that depends on the balls alone;
// until it returns false. Balls at positions that are not finite are near nothing. Returns the number of distances computed.
long sr_broad_pairs(srBroad* broad, const srBalls* balls, double margin, bool (*pair)(void* user, int i, int j),
                    void* user);
// The grid with these balls, whose pairs may be found in parts (sr_grid_part): those of sr_broad_pairs. NULL: they are not for the grid.
const srGrid* sr_broad_grid(srBroad* broad, const srBalls* balls, double margin);

#endif
