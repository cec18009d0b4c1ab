// Numbers of contacts from step to step: a table with open addresses, by id.
#include <stdint.h>
#include <string.h>

#include "integrate/step_problem.h"

typedef struct Slot {
  long id;
  int generation;  // of the table when it was written
  double x[3];
} Slot;

struct srKept {
  size_t mask;
  int generation;
  Slot slot[];
};

srKept* sri_kept_create(int most) {
  size_t n = 16;
  while (n < 2 * (size_t)most) n *= 2;
  srKept* kept = sr_alloc(sizeof *kept + n * sizeof kept->slot[0]);
  if (kept == NULL) return NULL;
  kept->mask = n - 1;
  kept->generation = 1;
  return kept;
}

void sri_kept_destroy(srKept* kept) { sr_free(kept); }

void sri_kept_clear(srKept* kept) {
  if (kept != NULL) ++kept->generation;
}

// Its slot, or the free one where it would be.
static size_t place_of(const srKept* kept, long id) {
  size_t at = (size_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 20) & kept->mask;
  while (kept->slot[at].generation == kept->generation && kept->slot[at].id != id) at = (at + 1) & kept->mask;
  return at;
}

void sri_kept_put(srKept* kept, long id, const double x[3]) {
  Slot* slot = &kept->slot[place_of(kept, id)];
  slot->id = id;
  slot->generation = kept->generation;
  memcpy(slot->x, x, sizeof slot->x);
}

const double* sri_kept_find(const srKept* kept, long id) {
  if (kept == NULL) return NULL;
  const Slot* slot = &kept->slot[place_of(kept, id)];
  return slot->generation == kept->generation ? slot->x : NULL;
}
