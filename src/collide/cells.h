// Balls in the cells of a uniform grid that are entered, moved and looked around one by one; grid.h has all pairs at once. On math alone.
#ifndef SR_COLLIDE_CELLS_H
#define SR_COLLIDE_CELLS_H

typedef struct srCells srCells;

srCells* sr_cells_create(int most);  // balls; allocates all memory. NULL: out of memory
void sr_cells_destroy(srCells* cells);

void sr_cells_clear(srCells* cells, double size);                  // no balls; cells as wide as that
void sr_cells_put(srCells* cells, int i, const double centre[3]);  // ball i, wherever it was before

// Calls `visit` for all balls within `reach` of x along each axis, and for some beyond it, each once, in an order that depends on the calls before alone.
void sr_cells_near(const srCells* cells, const double x[3], double reach, void (*visit)(void* user, int i), void* user);

#endif
