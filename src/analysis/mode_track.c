// Eigenvalues along a parameter: which one continues which. Of all pairs the nearest first, until each has its partner; a greedy assignment is
// right where the parameter moves eigenvalues by less than they are apart.
#include <math.h>
#include <sarrus/modes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

typedef struct Pair {
  double distance;
  int before, after;
} Pair;

static int by_distance(const void* a, const void* b) {
  const Pair *x = a, *y = b;
  if (x->distance != y->distance) return x->distance > y->distance ? 1 : -1;
  if (x->before != y->before) return x->before - y->before;
  return x->after - y->after;
}

static void assign(int n, const Pair* pair, const double* after, double* out, unsigned char* used) {
  for (int k = 0; k < n * n; k++) {
    const int i = pair[k].before, j = pair[k].after;
    if (used[i] || used[n + j]) continue;
    used[i] = used[n + j] = 1;
    memcpy(out + 2 * i, after + 2 * j, 2 * sizeof *out);
  }
}

srStatus sr_eigenvalues_track(int n, const double* before, double* after) {
  const size_t count = (size_t)n * (size_t)n;
  Pair* pair = sr_alloc((count + 1) * sizeof *pair);
  double* out = sr_alloc((2 * (size_t)n + 1) * sizeof *out);
  unsigned char* used = sr_alloc(2 * (size_t)n + 1);
  const bool good = pair && out && used;
  for (int k = 0; good && k < n * n; k++) {
    const double *x = before + 2 * (k / n), *y = after + 2 * (k % n);
    pair[k] = (Pair){hypot(x[0] - y[0], x[1] - y[1]), k / n, k % n};
  }
  if (good) {
    qsort(pair, count, sizeof *pair, by_distance);
    assign(n, pair, after, out, used);
    memcpy(after, out, 2 * (size_t)n * sizeof *out);
  }
  sr_free(pair);
  sr_free(out);
  sr_free(used);
  return good ? SR_OK : SR_MEMORY;
}
