// Broad phase of balls, by the ratio of their sizes and by their distances. The cells of the grid are as wide as the largest ball: fewer
// instructions than the tree needs while sizes are similar, more where many small balls fit in a cell; and cells must fit in memory.
// docs/theory/broad-phase.md has the figures.
#include "collide/broad.h"

#include <math.h>

#include "base/base.h"
#include "collide/boxes.h"

#define SIMILAR 4.0  // largest ratio of sizes for the grid

struct srBroad {
  srGrid* grid;
  srBoxTree* tree;
  double *low, *high;  // most x 3: boxes of the balls
};

srBroad* sr_broad_create(int most) {
  const size_t head = (sizeof(srBroad) + 15) / 16 * 16, n = 3 * ((size_t)most + 1);
  char* block = sr_alloc(head + 2 * n * sizeof(double));
  if (block == NULL) return NULL;
  srBroad* broad = (srBroad*)(void*)block;
  broad->low = (double*)(void*)(block + head);
  broad->high = broad->low + n;
  broad->grid = sr_grid_create(most);
  broad->tree = sr_boxes_create(most);
  if (broad->grid != NULL && broad->tree != NULL) return broad;
  sr_broad_destroy(broad);
  return NULL;
}

void sr_broad_destroy(srBroad* broad) {
  if (broad == NULL) return;
  sr_grid_destroy(broad->grid);
  sr_boxes_destroy(broad->tree);
  sr_free(broad);
}

// The margin belongs to the size: two balls interact within it.
static bool is_similar(const srBalls* balls, double margin) {
  double least = HUGE_VAL, most = 0;
  for (int i = 0; i < balls->n; i++) {
    const double radius = balls->radius[i];
    least = radius < least ? radius : least;  // fmin and fmax are calls
    most = radius > most ? radius : most;
  }
  return most + 0.5 * margin <= SIMILAR * (least + 0.5 * margin);
}

typedef struct Sieve {
  const srBalls* balls;
  double margin;
  bool (*pair)(void* user, int i, int j);
  void* user;
} Sieve;

static bool take_near(void* user, int i, int j) {
  const Sieve* sieve = user;
  return !sr_balls_near(sieve->balls, sieve->margin, i, j) || sieve->pair(sieve->user, i, j);
}

const srGrid* sr_broad_grid(srBroad* broad, const srBalls* balls, double margin) {
  return is_similar(balls, margin) && sr_grid_build(broad->grid, balls, margin) ? broad->grid : NULL;
}

long sr_broad_pairs(srBroad* broad, const srBalls* balls, double margin, bool (*pair)(void* user, int i, int j),
                    void* user) {
  if (sr_broad_grid(broad, balls, margin) != NULL) return sr_grid_pairs(broad->grid, pair, user);
  for (int i = 0; i < 3 * balls->n; i++) {
    broad->low[i] = balls->centre[i] - balls->radius[i / 3];
    broad->high[i] = balls->centre[i] + balls->radius[i / 3];
  }
  Sieve sieve = {.balls = balls, .margin = margin, .pair = pair, .user = user};
  const srBoxes boxes = {.n = balls->n, .low = broad->low, .high = broad->high};
  sr_boxes_build(broad->tree, &boxes, margin);
  return sr_boxes_pairs(broad->tree, take_near, &sieve);
}
