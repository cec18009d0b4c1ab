// Broad phase by a hierarchy of uniform grids, hashed.
//
// A ball is entered in the grid whose cell size is the least power of two not below 2 r + margin. Two balls nearer than margin
// are then in neighbouring cells of the coarser grid of the two, so that a ball queries 27 cells of its own grid and of every coarser
// one in use. Grids of different cell sizes keep one large ball among many small ones from putting them all into one cell.
// Source: Ericson 2005, Real-Time Collision Detection, 7.2.
#include "collide/grid.h"

#include <math.h>
#include <stdint.h>

#include "base/base.h"

#define LEVELS 24        // largest number of grids: balls far smaller than the largest share the finest of them
#define FARTHEST 0x1p52  // cells from the origin: beyond them cells no longer have neighbours
#define NONE (-1)

typedef struct Cell {
  int64_t at[3];
  int level;
} Cell;

struct srGrid {
  int most;
  unsigned mask;  // size of the table - 1
  int* head;      // mask + 1: the last ball of each bucket
  int* next;      // most: the ball before it
  Cell* cell;     // most
  int level[LEVELS], nlevel;
};

srGrid* sr_grid_create(int most) {
  unsigned size = 16;
  while (size < 2u * (unsigned)most) size *= 2;
  const size_t n = (size_t)most + 1, head = (sizeof(srGrid) + 15) / 16 * 16;
  char* block = sr_alloc(head + n * (sizeof(Cell) + sizeof(int)) + size * sizeof(int));
  if (block == NULL) return NULL;
  srGrid* grid = (srGrid*)(void*)block;
  grid->most = most;
  grid->mask = size - 1;
  grid->cell = (Cell*)(void*)(block + head);
  grid->next = (int*)(void*)(grid->cell + n);
  grid->head = grid->next + n;
  return grid;
}

void sr_grid_destroy(srGrid* grid) { sr_free(grid); }

// ---- cells ------------------------------------------------------------------------------------------------------------

static unsigned bucket(const srGrid* grid, const Cell* c) {
  uint64_t h = (uint64_t)c->level * 0x9E3779B97F4A7C15u;
  for (int k = 0; k < 3; k++) h = (h ^ (uint64_t)c->at[k]) * 0xD6E8FEB86659FD93u;
  return (unsigned)(h >> 32) & grid->mask;
}

static bool is_same(const Cell* a, const Cell* b) {
  return a->at[0] == b->at[0] && a->at[1] == b->at[1] && a->at[2] == b->at[2] && a->level == b->level;
}

// 2^level >= 2 r + margin
static int level_of(double r, double margin) {
  int level;
  (void)frexp(2 * r + margin, &level);
  return level;
}

static void put_at(const double* centre, int level, Cell* out) {
  out->level = level;
  for (int k = 0; k < 3; k++) {
    const double x = floor(ldexp(centre[k], -level));
    out->at[k] = (int64_t)fmax(-FARTHEST, fmin(FARTHEST, x));
  }
}

static bool is_finite(const double* x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

// The levels in use, coarse ones first; balls beyond LEVELS of them use the finest.
static void find_levels(srGrid* grid, const srBalls* balls, double margin) {
  grid->nlevel = 0;
  for (int i = 0; i < balls->n; i++) {
    const int level = level_of(balls->radius[i], margin);
    int k = 0;
    while (k < grid->nlevel && grid->level[k] > level) k++;
    if (k == LEVELS || (k < grid->nlevel && grid->level[k] == level)) continue;
    if (grid->nlevel < LEVELS) grid->nlevel++;
    for (int l = grid->nlevel - 1; l > k; l--) grid->level[l] = grid->level[l - 1];
    grid->level[k] = level;
  }
}

// ---- pairs ------------------------------------------------------------------------------------------------------------

typedef struct Search {
  const srGrid* grid;
  const srBalls* balls;
  double margin;
  bool (*pair)(void* user, int i, int j);
  void* user;
  long tested;
  bool ended;
} Search;

static bool is_near(const Search* s, int i, int j) {
  const double *a = s->balls->centre + 3 * i, *b = s->balls->centre + 3 * j;
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  const double reach = s->balls->radius[i] + s->balls->radius[j] + s->margin;
  return x * x + y * y + z * z < reach * reach;
}

// Ball i with those in the neighbouring cells.
static void look_in(Search* s, int i, const Cell* cell) {
  for (int j = s->grid->head[bucket(s->grid, cell)]; j != NONE && !s->ended; j = s->grid->next[j]) {
    if (!is_same(&s->grid->cell[j], cell)) continue;
    s->tested++;
    if (is_near(s, i, j)) s->ended = !s->pair(s->user, i > j ? i : j, i > j ? j : i);
  }
}

static void look_around(Search* s, int i, int level) {
  Cell centre, cell;
  put_at(s->balls->centre + 3 * i, level, &centre);
  cell.level = level;
  for (int k = 0; k < 27 && !s->ended; k++) {
    cell.at[0] = centre.at[0] + k % 3 - 1;
    cell.at[1] = centre.at[1] + k / 3 % 3 - 1;
    cell.at[2] = centre.at[2] + k / 9 - 1;
    look_in(s, i, &cell);
  }
}

long sr_grid_pairs(srGrid* grid, const srBalls* balls, double margin, bool (*pair)(void* user, int i, int j),
                   void* user) {
  Search s = {.grid = grid, .balls = balls, .margin = margin, .pair = pair, .user = user};
  SR_ASSERT(balls->n <= grid->most);
  find_levels(grid, balls, margin);
  for (unsigned k = 0; k <= grid->mask; k++) grid->head[k] = NONE;
  for (int l = 0; l < grid->nlevel; l++) {  // from coarse to fine: the coarser grids are complete
    for (int i = 0; i < balls->n && !s.ended; i++) {
      const int own = level_of(balls->radius[i], margin);
      const bool here = own == grid->level[l] || (own < grid->level[l] && l == LEVELS - 1);
      if (!here || !is_finite(balls->centre + 3 * i)) continue;
      for (int k = 0; k <= l; k++) look_around(&s, i, grid->level[k]);
      put_at(balls->centre + 3 * i, grid->level[l], &grid->cell[i]);
      const unsigned at = bucket(grid, &grid->cell[i]);
      grid->next[i] = grid->head[at];
      grid->head[at] = i;
    }
  }
  return s.tested;
}
