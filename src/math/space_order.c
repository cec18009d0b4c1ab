// Cells of a cube around all points, in Morton's (1966) order: the bits of the three coordinates of a cell, taken in turn, are its number. Half of the numbers is one half of the cube, a
// quarter a quarter, and so on.
#include "math/space_order.h"

#include <math.h>
#include <string.h>

#include "math/v4.h"

enum {
  BITS = 4,
  SIDE = 1 << BITS,
  CELLS = SIDE * SIDE * SIDE,
  FEW = 4096
};  // FEW: points that half of the cells along an edge suffice for

// The bits of a number, three places apart.
static const int spread[SIDE] = {0,     01,    010,   011,   0100,  0101,  0110,  0111,
                                 01000, 01001, 01010, 01011, 01100, 01101, 01110, 01111};

static inline int cell_of(double x, int side) {
  return x >= 0 && x < side ? (int)x : 0;
}  // also of what is not a number

SRM_CLONES static void find_keys(int n, const double* at, int side, int* key) {
  v4 low = v4_load(at), high = low;
  for (int i = 1; i < n; ++i) {
    const v4 x = v4_load(at + 4 * (size_t)i);
    low = -v4_larger(-x, -low);
    high = v4_larger(x, high);
  }
  const v4 extent = high - low;
  const double longest = fmax(extent[0], fmax(extent[1], extent[2]));
  const double scale = longest > 0 && isfinite(longest) ? side * (1 - 1e-12) / longest : 0;
  for (int i = 0; i < n; ++i) {
    const v4 x = (v4_load(at + 4 * (size_t)i) - low) * scale;
    key[i] = spread[cell_of(x[0], side)] << 2 | spread[cell_of(x[1], side)] << 1 | spread[cell_of(x[2], side)];
  }
}

void srm_space_order(int n, const double* at, int* key, int* order) {
  const int side = n < FEW ? SIDE / 2 : SIDE, cells = side * side * side;
  int next[CELLS + 1];
  if (n == 0) return;
  find_keys(n, at, side, key);
  memset(next, 0, (size_t)(cells + 1) * sizeof *next);
  for (int i = 0; i < n; ++i) ++next[key[i] + 1];
  for (int k = 0; k < cells; ++k) next[k + 1] += next[k];
  for (int i = 0; i < n; ++i) order[next[key[i]]++] = i;
}
