// Numbers of contacts from step to step: entries in the order in which they were put, and a table of their places with open addresses, by id. Contacts are asked for in nearly the same
// order, so that the entry behind the last one that was found is tried first; the table is made when that fails for the first time.
#include <stdint.h>
#include <string.h>

#include "integrate/step_problem.h"

enum { FEW = 16 };  // entries that are compared without the table

typedef struct Entry {
  long id;
  double x[3];
} Entry;

struct srKept {
  size_t mask;  // of the table, as far as it is used
  unsigned generation;
  int count, next;    // next: entry that is tried first
  int tabled;         // entries that are in the table
  Entry* entry;       // (most)
  unsigned* written;  // (mask + 1) generation in which a place was taken
  int* place;         // (mask + 1) entry
};

srKept* sri_kept_create(int most) {
  size_t n = 16;
  while (n < 2 * (size_t)most) n *= 2;
  srKept* kept = sr_alloc(sizeof *kept);
  if (kept == NULL) return NULL;
  kept->mask = n - 1;
  kept->generation = 1;
  kept->entry = sr_alloc(((size_t)most + 1) * sizeof *kept->entry);
  kept->written = sr_alloc(n * sizeof *kept->written);
  kept->place = sr_alloc(n * sizeof *kept->place);
  if (kept->entry != NULL && kept->written != NULL && kept->place != NULL) return kept;
  sri_kept_destroy(kept);
  return NULL;
}

void sri_kept_destroy(srKept* kept) {
  if (kept == NULL) return;
  sr_free(kept->entry);
  sr_free(kept->written);
  sr_free(kept->place);
  sr_free(kept);
}

void sri_kept_clear(srKept* kept) {
  if (kept == NULL) return;
  ++kept->generation;
  kept->count = kept->next = kept->tabled = 0;
}

// Where its entry is, or the free place where it would be.
static size_t place_of(const srKept* kept, long id) {
  size_t at = (size_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 32) & kept->mask;
  while (kept->written[at] == kept->generation && kept->entry[kept->place[at]].id != id) at = (at + 1) & kept->mask;
  return at;
}

void sri_kept_set(srKept* kept, int i, long id, const double x[3]) {
  Entry* entry = &kept->entry[i];
  entry->id = id;
  memcpy(entry->x, x, sizeof entry->x);
}

void sri_kept_put(srKept* kept, long id, const double x[3]) { sri_kept_set(kept, kept->count++, id, x); }

int sri_kept_add(srKept* kept, int count) {
  const int first = kept->count;
  kept->count += count;
  return first;
}

int sri_kept_guess(const srKept* kept, int i, int count) {
  const int at = count > 0 ? (int)((long)i * kept->count / count) - FEW / 2 : 0;
  return at > 0 ? at : 0;
}

const double* sri_kept_near(const srKept* kept, long id, int* next) {
  for (int i = *next; i < *next + FEW && i < kept->count; ++i) {
    if (kept->entry[i].id != id) continue;
    *next = i + 1;
    return kept->entry[i].x;
  }
  return NULL;
}

const double* sri_kept_of(const srKept* kept, int i) { return kept->entry[i].x; }

// As wide as its entries need: few places are near each other in memory.
static void make_table(srKept* kept) {
  if (kept->tabled == 0 || kept->mask + 1 < 2 * (size_t)kept->count) {
    ++kept->generation;
    kept->tabled = 0;
    kept->mask = 15;
    while (kept->mask + 1 < 2 * (size_t)kept->count) kept->mask = 2 * kept->mask + 1;
  }
  for (; kept->tabled < kept->count; ++kept->tabled) {
    const size_t at = place_of(kept, kept->entry[kept->tabled].id);
    kept->written[at] = kept->generation;
    kept->place[at] = kept->tabled;
  }
}

const double* sri_kept_find(srKept* kept, long id) {
  if (kept == NULL) return NULL;
  if (kept->next >= kept->count || kept->entry[kept->next].id != id) {
    make_table(kept);
    const size_t at = place_of(kept, id);
    if (kept->written[at] != kept->generation) return NULL;
    kept->next = kept->place[at];
  }
  return kept->entry[kept->next++].x;
}
