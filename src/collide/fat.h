// Bounding boxes in single precision, rounded outward: half of the memory of double ones, for trees.
#ifndef SR_COLLIDE_FAT_H
#define SR_COLLIDE_FAT_H

#include <math.h>
#include <stdbool.h>

typedef struct srFat {
  float low[3], high[3];
} srFat;

// Next to x on the outer side: a unit in the last place, and a little where x is so small that it underflows.
static inline float sr_fat_below(double x) {
  const float y = (float)x;
  return y - fabsf(y) * 0x1p-23f - 0x1p-126f;
}

static inline float sr_fat_above(double x) { return -sr_fat_below(-x); }

static inline bool sr_fat_overlap(const srFat* a, const srFat* b) {
  return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] && b->low[1] <= a->high[1] &&
         a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static inline void sr_fat_unite(srFat* box, const srFat* other) {
  for (int k = 0; k < 3; k++) {
    box->low[k] = other->low[k] < box->low[k] ? other->low[k] : box->low[k];
    box->high[k] = other->high[k] > box->high[k] ? other->high[k] : box->high[k];
  }
}

#endif
