// Broad phase for balls of similar size: a uniform grid. On math alone.
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

bool sr_balls_near(const srBalls* balls, double margin, int i, int j);  // are their surfaces nearer than margin?

// Enters the balls in cells as wide as the largest ball and margin. False: they are too far from each other for the cells of the grid.
// Balls at positions that are not finite are left out.
bool sr_grid_build(srGrid* grid, const srBalls* balls, double margin);

// Calls `pair` for every pair i > j whose surfaces are nearer than the margin of the grid, each once, by cells, then by index; until it
// returns false. Returns the number of distances computed.
long sr_grid_pairs(const srGrid* grid, bool (*pair)(void* user, int i, int j), void* user);
// The same in parts: those of the cells that begin with one of the balls from .. to-1 in the order of the cells, of which there are sr_grid_count.
int sr_grid_count(const srGrid* grid);
long sr_grid_part(const srGrid* grid, int from, int to, bool (*pair)(void* user, int i, int j), void* user);

#endif
