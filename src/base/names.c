// Name table: open addressing with linear probing. Invariant: the capacity is a power of two and at most half of the
// slots are taken, so that every search meets an empty slot. Names are never removed.
#include <limits.h>
#include <string.h>

#include "base/base.h"

typedef struct srNameSlot {
  const char* name;  // NULL: empty
  uint32_t hash;
  int index;
} srNameSlot;

static uint32_t hash_of(const char* name) {  // FNV-1a
  uint32_t hash = 2166136261u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

// The slot that holds name, or the empty one where it belongs.
static srNameSlot* slot_of(srNameSlot* slots, int capacity, const char* name, uint32_t hash) {
  const uint32_t mask = (uint32_t)capacity - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    srNameSlot* slot = &slots[i];
    if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0)) return slot;
  }
}

static bool grow(srNames* names) {
  if (names->capacity > INT_MAX / 2) return false;
  const int capacity = names->capacity ? 2 * names->capacity : 16;
  srNameSlot* slots = sr_pool_alloc(names->pool, (size_t)capacity * sizeof *slots);
  if (!slots) return false;

  for (int i = 0; i < names->capacity; i++) {
    const srNameSlot* old = &names->slots[i];
    if (old->name) *slot_of(slots, capacity, old->name, old->hash) = *old;
  }
  names->slots = slots;
  names->capacity = capacity;
  return true;
}

void sr_names_init(srNames* names, srPool* pool) { *names = (srNames){.pool = pool}; }

int sr_names_find(const srNames* names, const char* name) {
  if (names->n == 0) return -1;
  const srNameSlot* slot = slot_of(names->slots, names->capacity, name, hash_of(name));
  return slot->name ? slot->index : -1;
}

bool sr_names_put(srNames* names, const char* name, int index) {
  if (2 * names->n >= names->capacity && !grow(names)) return false;
  const uint32_t hash = hash_of(name);
  srNameSlot* slot = slot_of(names->slots, names->capacity, name, hash);
  if (slot->name) return false;
  *slot = (srNameSlot){.name = name, .hash = hash, .index = index};
  names->n++;
  return true;
}

// "name_N" with the first N that is free: found in steps that double, because the numbers below it are most often taken.
static const char* numbered(srNames* names, const char* name) {
  int low = 1, high = 2;
#define NUMBERED(i) sr_pool_printf(names->pool, "%s_%d", name, i)
  while (high < (1 << 30) && sr_names_find(names, NUMBERED(high)) >= 0) low = high, high *= 2;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (sr_names_find(names, NUMBERED(middle)) >= 0)
      low = middle;
    else
      high = middle;
  }
  return NUMBERED(high);
#undef NUMBERED
}

const char* sr_names_put_new(srNames* names, const char* name) {
  if (sr_names_put(names, name, 0)) return name;
  const char* unique = numbered(names, name);
  sr_names_put(names, unique, 0);
  return unique;
}

const char* sr_names_nearest(const srNames* names, const char* name) {
  const char** words = sr_pool_alloc(names->pool, (size_t)(names->n + 1) * sizeof *words);
  if (!words) return NULL;
  int n = 0;
  for (int i = 0; i < names->capacity; i++) {
    if (names->slots[i].name) words[n++] = names->slots[i].name;
  }
  return sr_nearest_word(name, words, n);
}
