// Broad phase: which balls of many are near to each other, in time linear in the balls and in what is near. On math alone.
#ifndef SR_COLLIDE_GRID_H
#define SR_COLLIDE_GRID_H

#include <stdbool.h>

typedef struct srGrid srGrid;

srGrid* sr_grid_create(int most);  // balls; all memory is taken here. NULL: out of memory
void sr_grid_destroy(srGrid* grid);

typedef struct srBalls {
  int n;
  const double* centre;  // n x 3
  const double* radius;  // n, >= 0
} srBalls;

// Calls `pair` for every pair i > j whose surfaces are nearer than margin, each once, in an order that depends on the balls alone;
// until it answers false. Balls that are not at finite places are near to nothing. Returns how many distances were measured.
long sr_grid_pairs(srGrid* grid, const srBalls* balls, double margin, bool (*pair)(void* user, int i, int j),
                   void* user);

#endif
