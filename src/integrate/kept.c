// Numbers of contacts from step to step: entries in the order in which they were put, and a table of their places with open addresses, by id. Contacts are asked for in nearly the same
// order, so that the entry behind the last one that was found is tried first; the table is made when that fails for the first time. What is not found near its place is collected: a
// table of these few stays in the inner cache while all entries are compared with it.
#include <stdint.h>
#include <string.h>

#include "integrate/step_problem.h"

enum { FEW = 16 };  // entries that are compared without the table

typedef struct Entry {
  long id;
  double x[3];
} Entry;

// Where the numbers of an id go.
typedef struct Wanted {
  long id;
  int rows;
  double* to;
} Wanted;

struct srKept {
  size_t mask;  // of the table, as far as it is used
  unsigned generation;
  int count, next;    // next: entry that is tried first
  int tabled;         // entries that are in the table
  Entry* entry;       // (most)
  unsigned* written;  // (mask + 1) generation in which a place was taken
  int* place;         // (mask + 1) entry, or number of a wanted one
  int nwanted;
  Wanted* wanted;  // (most)
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
  kept->wanted = sr_alloc(((size_t)most + 1) * sizeof *kept->wanted);
  if (kept->entry != NULL && kept->written != NULL && kept->place != NULL && kept->wanted != NULL) return kept;
  sri_kept_destroy(kept);
  return NULL;
}

void sri_kept_destroy(srKept* kept) {
  if (kept == NULL) return;
  sr_free(kept->entry);
  sr_free(kept->written);
  sr_free(kept->place);
  sr_free(kept->wanted);
  sr_free(kept);
}

void sri_kept_clear(srKept* kept) {
  if (kept == NULL) return;
  ++kept->generation;
  kept->count = kept->next = kept->tabled = 0;
}

static size_t hash_of(const srKept* kept, long id) {
  return (size_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 32) & kept->mask;
}

// Where its entry is, or the free place where it would be.
static size_t place_of(const srKept* kept, long id) {
  size_t at = hash_of(kept, id);
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
static void clear_table(srKept* kept, int count) {
  ++kept->generation;
  kept->tabled = 0;
  kept->mask = 15;
  while (kept->mask + 1 < 2 * (size_t)count) kept->mask = 2 * kept->mask + 1;
}

static void make_table(srKept* kept) {
  if (kept->tabled == 0 || kept->mask + 1 < 2 * (size_t)kept->count) clear_table(kept, kept->count);
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

void sri_kept_want(srKept* kept, long id, int rows, double to[3]) {
  kept->wanted[kept->nwanted++] = (Wanted){.id = id, .rows = rows, .to = to};
}

static void give(const Wanted* wanted, const double* x) {
  for (int k = 0; k < 3; ++k) wanted->to[k] = x != NULL && k < wanted->rows ? x[k] : 0;
}

// Entries from .. to-1 to those who want them.
static void give_range(void* user, int member, int from, int to) {
  const srKept* kept = user;
  (void)member;
  for (int i = from; i < to; ++i) {
    const Entry* entry = &kept->entry[i];
    for (size_t at = hash_of(kept, entry->id); kept->written[at] == kept->generation; at = (at + 1) & kept->mask) {
      if (kept->wanted[kept->place[at]].id == entry->id) give(&kept->wanted[kept->place[at]], entry->x);
    }
  }
}

void sri_kept_give(srKept* kept, srTeam* team) {
  clear_table(kept, kept->nwanted);
  for (int i = 0; i < kept->nwanted; ++i) {
    size_t at = hash_of(kept, kept->wanted[i].id);
    while (kept->written[at] == kept->generation) at = (at + 1) & kept->mask;
    kept->written[at] = kept->generation;
    kept->place[at] = i;
    give(&kept->wanted[i], NULL);
  }
  if (kept->nwanted > 0) sr_team_loop(team, kept->count, give_range, kept);
  kept->nwanted = 0;
}
