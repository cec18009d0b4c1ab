// Broad phase: which balls of many are close to each other, in time linear in the balls and the near pairs. On math alone.
#ifndef SR_COLLIDE_GRID_H
#define SR_COLLIDE_GRID_H

#include <stdbool.h>

typedef struct srGrid srGrid;

srGrid* sr_grid_create(int most);  // balls; allocates all memory. NULL: out of memory
void sr_grid_destroy(srGrid* grid);

typedef struct srBalls {
  int n;
  const double* centre;  // n x 3
  const double* radius;  // n, >= 0
} srBalls;

// Calls `pair` for every pair i > j whose surfaces are nearer than margin, each once, in an order that depends on the balls alone;
// until it returns false. Balls at positions that are not finite are near nothing. Returns the number of distances computed.
long sr_grid_pairs(srGrid* grid, const srBalls* balls, double margin, bool (*pair)(void* user, int i, int j),
                   void* user);

#endif
