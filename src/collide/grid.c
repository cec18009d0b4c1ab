// Broad phase by a uniform grid, with a counting sort of the balls by cells.
//
// Two balls nearer than margin are in neighbouring cells. Cells of a row along x follow each other, so that the balls of three neighbours
// are one range of the order; a ball is compared with the rest of its own row and with four rows beyond it, and every pair is met once. A
// border of empty cells stands for the neighbours of the outermost ones.
// Source: Green 2010, Particle simulation using CUDA (cells by sorting); Ericson 2005, Real-Time Collision Detection, 7.1.
#include "collide/grid.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

#define CELLS_PER_BALL 16  // largest number of cells, border included: a row of balls in a line needs 9

typedef struct Ball {
  double centre[3], radius;
} Ball;

struct srGrid {
  int most;
  long ncell;
  int nx, ny, nz;  // cells, border included
  int n;           // balls in cells
  double margin;
  int* start;  // ncell + 1: where the balls of each cell begin
  int* cell;   // most: of each ball; -1: nowhere
  int* index;  // most: balls in the order of the cells
  Ball* ball;  // most: the same
};

static size_t most_cells(int most) { return (size_t)CELLS_PER_BALL * (size_t)most + 64; }

srGrid* sr_grid_create(int most) {
  const size_t n = (size_t)most + 1, head = (sizeof(srGrid) + 31) / 32 * 32;
  char* block = sr_alloc(head + n * (sizeof(Ball) + 2 * sizeof(int)) + (most_cells(most) + 2) * sizeof(int));
  if (block == NULL) return NULL;
  srGrid* grid = (srGrid*)(void*)block;
  grid->most = most;
  grid->ball = (Ball*)(void*)(block + head);
  grid->index = (int*)(void*)(grid->ball + n);
  grid->cell = grid->index + n;
  grid->start = grid->cell + n;
  return grid;
}

void sr_grid_destroy(srGrid* grid) { sr_free(grid); }

bool sr_balls_near(const srBalls* balls, double margin, int i, int j) {
  const double *a = balls->centre + 3 * i, *b = balls->centre + 3 * j;
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  const double reach = balls->radius[i] + balls->radius[j] + margin;
  return x * x + y * y + z * z < reach * reach;
}

// ---- cells ------------------------------------------------------------------------------------------------------------

static bool is_finite(const double* x) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

// Chooses cells for balls between low and high. False: too many.
static bool set_cells(srGrid* grid, int nball, const double* low, const double* high, double size) {
  double n[3], all = 1;
  for (int k = 0; k < 3; k++) {
    n[k] = floor((high[k] - low[k]) / size) + 3;
    all *= n[k];
  }
  if (!(all <= (double)most_cells(nball))) return false;
  grid->nx = (int)n[0];
  grid->ny = (int)n[1];
  grid->nz = (int)n[2];
  grid->ncell = (long)all;
  return true;
}

static int cell_of(const srGrid* grid, const double* low, double size, const double* x) {
  int at[3];
  for (int k = 0; k < 3; k++) at[k] = (int)floor((x[k] - low[k]) / size) + 1;
  return at[0] + grid->nx * (at[1] + grid->ny * at[2]);
}

// Counting sort: afterwards start[c] is where the balls of cell c begin, and they are in the order of their indices.
static void sort_by_cells(srGrid* grid, const srBalls* balls) {
  int* start = grid->start;
  memset(start, 0, ((size_t)grid->ncell + 2) * sizeof *start);
  for (int i = 0; i < balls->n; i++) {
    if (grid->cell[i] >= 0) start[grid->cell[i] + 2]++;
  }
  for (long c = 2; c < grid->ncell + 2; c++) start[c] += start[c - 1];
  for (int i = 0; i < balls->n; i++) {
    if (grid->cell[i] < 0) continue;
    const int at = start[grid->cell[i] + 1]++;
    grid->index[at] = i;
    grid->ball[at] = (Ball){.radius = balls->radius[i]};
    memcpy(grid->ball[at].centre, balls->centre + 3 * i, sizeof grid->ball[at].centre);
  }
}

static inline double larger(double a, double b) { return a > b ? a : b; }  // fmax is a call

bool sr_grid_build(srGrid* grid, const srBalls* balls, double margin) {
  SR_ASSERT(balls->n <= grid->most);
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, widest = 0;
  grid->n = 0;
  grid->margin = margin;
  for (int i = 0; i < balls->n; i++) {
    const double* x = balls->centre + 3 * i;
    grid->cell[i] = is_finite(x) ? 0 : -1;
    if (grid->cell[i] < 0) continue;
    grid->n++;
    widest = larger(widest, balls->radius[i]);
    for (int k = 0; k < 3; k++) {
      low[k] = x[k] < low[k] ? x[k] : low[k];
      high[k] = larger(high[k], x[k]);
    }
  }
  if (grid->n == 0) return true;
  const double size = (2 * widest + margin) * (1 + 0x1p-20);  // more than the rounding of a quotient of up to 2^31
  if (!set_cells(grid, balls->n, low, high, size)) return false;
  for (int i = 0; i < balls->n; i++) {
    if (grid->cell[i] >= 0) grid->cell[i] = cell_of(grid, low, size, balls->centre + 3 * i);
  }
  sort_by_cells(grid, balls);
  return true;
}

// ---- pairs ------------------------------------------------------------------------------------------------------------

typedef struct Search {
  const srGrid* grid;
  bool (*pair)(void* user, int i, int j);
  void* user;
  long tested;
  bool ended;
} Search;

// The ball `at` of the order with those from `first` to before `end`.
static void look_in(Search* s, int at, int first, int end) {
  const Ball* a = &s->grid->ball[at];
  const int i = s->grid->index[at];
  s->tested += end - first;
  for (int k = first; k < end && !s->ended; k++) {
    const Ball* b = &s->grid->ball[k];
    const double x = a->centre[0] - b->centre[0], y = a->centre[1] - b->centre[1], z = a->centre[2] - b->centre[2];
    const double reach = a->radius + b->radius + s->grid->margin;
    if (!(x * x + y * y + z * z < reach * reach)) continue;
    const int j = s->grid->index[k];
    s->ended = !s->pair(s->user, i > j ? i : j, i > j ? j : i);
  }
}

// The balls of a cell: with the rest of the row, and with the four rows of neighbours beyond it.
static void look_from(Search* s, long cell) {
  const srGrid* grid = s->grid;
  const int* start = grid->start;
  const long y = grid->nx, z = (long)grid->nx * grid->ny;
  const long row[4] = {cell + y, cell + z - y, cell + z, cell + z + y};
  for (int at = start[cell]; at < start[cell + 1] && !s->ended; at++) {
    look_in(s, at, at + 1, start[cell + 2]);
    for (int k = 0; k < 4; k++) look_in(s, at, start[row[k] - 1], start[row[k] + 2]);
  }
}

int sr_grid_count(const srGrid* grid) { return grid->n; }

long sr_grid_part(const srGrid* grid, int from, int to, bool (*pair)(void* user, int i, int j), void* user) {
  Search s = {.grid = grid, .pair = pair, .user = user};
  for (int at = from; at < to && !s.ended;) {  // from one cell with balls to the next
    const long cell = grid->cell[grid->index[at]];
    if (grid->start[cell] >= from) look_from(&s, cell);
    at = grid->start[cell + 1];
  }
  return s.tested;
}

long sr_grid_pairs(const srGrid* grid, bool (*pair)(void* user, int i, int j), void* user) {
  return sr_grid_part(grid, 0, grid->n, pair, user);
}
