// Balls in cells that are found by a hash of their three numbers, so that they may be anywhere: Teschner, Heidelberger, Mueller, Pomeranets, Gross 2003,
// Optimized spatial hashing for collision detection of deformable objects. Each place of the table has a chain of balls, which keep the number of their cell: cells that
// share a place are distinguished by it. Cells beyond 2^20 are the outermost ones: what is farther, or no number, is visited with what is there.
#include "collide/cells.h"

#include <math.h>
#include <stdint.h>

#include "base/base.h"

#define FARTHEST (1L << 20)  // number of a cell along an axis
#define NOWHERE UINT64_MAX

struct srCells {
  int most, end;  // balls; behind the last one that was entered
  double size;
  uint64_t mask;   // places of the table, a power of two, less one
  int* head;       // of each place: the first ball; -1
  int* next;       // (most) -1
  uint64_t* cell;  // (most) NOWHERE: not entered
};

srCells* sr_cells_create(int most) {
  size_t places = 64, n = (size_t)most + 1;
  while (places < n) places *= 2;
  const size_t head = (sizeof(srCells) + 15) / 16 * 16;
  char* block = sr_alloc(head + n * (sizeof(uint64_t) + sizeof(int)) + places * sizeof(int));
  if (block == NULL) return NULL;
  srCells* cells = (srCells*)(void*)block;
  cells->most = most;
  cells->mask = places - 1;
  cells->cell = (uint64_t*)(void*)(block + head);
  cells->next = (int*)(void*)(cells->cell + n);
  cells->head = cells->next + n;
  sr_cells_clear(cells, 1);
  return cells;
}

void sr_cells_destroy(srCells* cells) { sr_free(cells); }

void sr_cells_clear(srCells* cells, double size) {
  cells->size = size;
  cells->end = 0;
  for (uint64_t k = 0; k <= cells->mask; k++) cells->head[k] = -1;
  for (int i = 0; i < cells->most; i++) cells->cell[i] = NOWHERE;
}

static long number_of(const srCells* cells, double x) {
  const double at = floor(x / cells->size);
  return at < -(double)FARTHEST ? -FARTHEST : at < (double)FARTHEST ? (long)at : FARTHEST - 1;
}

static uint64_t cell_of(long i, long j, long k) {
  return (uint64_t)(i + FARTHEST) << 42 | (uint64_t)(j + FARTHEST) << 21 | (uint64_t)(k + FARTHEST);
}

static int* place_of(const srCells* cells, uint64_t cell) {
  return &cells->head[(cell * 0x9e3779b97f4a7c15u >> 32) & cells->mask];
}

static void take_out(srCells* cells, int i) {
  int* at = place_of(cells, cells->cell[i]);
  while (*at != i) at = &cells->next[*at];
  *at = cells->next[i];
}

void sr_cells_put(srCells* cells, int i, const double centre[3]) {
  const uint64_t cell = cell_of(number_of(cells, centre[0]), number_of(cells, centre[1]), number_of(cells, centre[2]));
  if (cells->cell[i] == cell) return;
  if (cells->cell[i] != NOWHERE) take_out(cells, i);
  int* head = place_of(cells, cell);
  cells->cell[i] = cell;
  cells->next[i] = *head;
  *head = i;
  if (i >= cells->end) cells->end = i + 1;
}

void sr_cells_near(const srCells* cells, const double x[3], double reach, void (*visit)(void* user, int i),
                   void* user) {
  long low[3], high[3];
  double all = 1;
  for (int k = 0; k < 3; k++) {
    low[k] = number_of(cells, x[k] - reach);
    high[k] = number_of(cells, x[k] + reach);
    all *= (double)(high[k] - low[k] + 1);
  }
  if (all > cells->end) {
    for (int i = 0; i < cells->end; i++) {
      if (cells->cell[i] != NOWHERE) visit(user, i);
    }
    return;
  }
  for (long k = low[2]; k <= high[2]; k++) {
    for (long j = low[1]; j <= high[1]; j++) {
      for (long i = low[0]; i <= high[0]; i++) {
        const uint64_t cell = cell_of(i, j, k);
        for (int b = *place_of(cells, cell); b >= 0; b = cells->next[b]) {
          if (cells->cell[b] == cell) visit(user, b);
        }
      }
    }
  }
}
