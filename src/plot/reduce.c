// From many points to the few that a screen can show, in three steps:
//   columns    of the points that follow each other in one column of pixels the first, lowest, highest and last remain:
//              the drawn line covers the same pixels, and spikes are kept (M4 of Jugel et al. 2014);
//   straight   points on the line between their neighbours are removed, within a small part of a pixel;
//   once       a curve that runs over itself again and again (an orbit) draws each stretch once.
// Each step writes no more than it has read, so that it can work in place.
#include <math.h>
#include <string.h>

#include "plot/plot.h"

#define STRAIGHT 0.06     // px from the line
#define FEW 4000          // points that are all kept: pixels of a fine screen, or of a magnified figure
#define MANY 8000         // points from which a search for repeated stretches pays
#define CELLS_PER_PX 2.0  // two stretches are the same when their ends share cells of this size

// ------------------------------------------------------------------------------------------------------------- columns
// Indices of the points that remain: first, last, lowest and highest; where the curve turns back inside the column,
// also the leftmost and the rightmost.
enum { FIRST, LAST, LOW, HIGH, LEFT, RIGHT, KINDS };
typedef struct Column {
  int at[KINDS];
  bool filled;
} Column;

static int flush(const srCurvePoint* in, Column* column, srCurvePoint* out, int n) {
  if (!column->filled) return n;
  int* at = column->at;
  for (int i = 1; i < KINDS; i++)  // into the order of the curve
    for (int k = i; k > 0 && at[k] < at[k - 1]; k--) {
      const int swap = at[k];
      at[k] = at[k - 1];
      at[k - 1] = swap;
    }
  for (int i = 0; i < KINDS; i++)
    if (i == 0 || at[i] != at[i - 1]) out[n++] = in[at[i]];
  column->filled = false;
  return n;
}

int sr_curve_columns(const srCurvePoint* in, int n, srCurvePoint* out) {
  Column column = {.filled = false};
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (!column.filled || in[i].move || floor(in[i].x) != floor(in[column.at[FIRST]].x)) {
      count = flush(in, &column, out, count);
      column = (Column){{i, i, i, i, i, i}, true};
    }
    if (in[i].y < in[column.at[LOW]].y) column.at[LOW] = i;
    if (in[i].y > in[column.at[HIGH]].y) column.at[HIGH] = i;
    if (in[i].x < in[column.at[LEFT]].x) column.at[LEFT] = i;
    if (in[i].x > in[column.at[RIGHT]].x) column.at[RIGHT] = i;
    column.at[LAST] = i;
  }
  return flush(in, &column, out, count);
}

// ------------------------------------------------------------------------------------------------------------ straight
// The directions from an anchor that pass all points since then within the tolerance: a cone, from `right` to `left`.
typedef struct Cone {
  bool open;  // no direction is excluded yet
  double left[2], right[2], reach;
} Cone;

static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }

// False: the point is outside the cone, or back towards the anchor.
static bool narrow(Cone* cone, const srCurvePoint* anchor, const srCurvePoint* p, double tolerance) {
  const double d[2] = {p->x - anchor->x, p->y - anchor->y};
  const double length = hypot(d[0], d[1]);
  if (length < cone->reach) return false;
  if (!cone->open && (cross(cone->right, d) < 0 || cross(d, cone->left) < 0)) return false;
  cone->reach = length;
  if (length <= tolerance) return true;
  const double s = tolerance / length, c = sqrt(1 - s * s);
  const double left[2] = {c * d[0] - s * d[1], s * d[0] + c * d[1]},
               right[2] = {c * d[0] + s * d[1], c * d[1] - s * d[0]};
  if (cone->open || cross(left, cone->left) > 0) memcpy(cone->left, left, sizeof left);
  if (cone->open || cross(cone->right, right) > 0) memcpy(cone->right, right, sizeof right);
  cone->open = false;
  return true;
}

int sr_curve_straight(const srCurvePoint* in, int n, double tolerance, srCurvePoint* out) {
  int count = 0;
  for (int i = 0; i < n;) {
    const srCurvePoint anchor = in[i];
    if (count == 0 || anchor.move || out[count - 1].x != anchor.x || out[count - 1].y != anchor.y)
      out[count++] = anchor;
    Cone cone = {.open = true};
    int k = i + 1;
    // An open cone takes every point, so that k passes i + 1 unless the piece ends here.
    while (k < n && !in[k].move && narrow(&cone, &anchor, &in[k], tolerance)) k++;
    const bool ends = k >= n || in[k].move;
    if (k - 1 > i && ends) out[count++] = in[k - 1];
    i = ends ? k : k - 1;
  }
  return count;
}

// ---------------------------------------------------------------------------------------------------------------- once
static uint64_t cell_of(const srCurvePoint* p) {
  const int64_t x = (int64_t)floor(p->x * CELLS_PER_PX), y = (int64_t)floor(p->y * CELLS_PER_PX);
  return ((uint64_t)(x + (1 << 15)) & 0xffff) << 16 | ((uint64_t)(y + (1 << 15)) & 0xffff);
}

// Puts the key into the table of size mask + 1; false: it is there already.
static bool put(uint64_t* table, uint64_t mask, uint64_t key) {
  uint64_t at = (key * 0x9e3779b97f4a7c15u) >> 20;
  for (;; at++) {
    at &= mask;
    if (table[at] == key) return false;
    if (table[at] == 0) break;
  }
  table[at] = key;
  return true;
}

static uint64_t* make_table(srPool* pool, int n, uint64_t* mask) {
  *mask = 1023;
  while (*mask < 2 * (uint64_t)n) *mask = 2 * *mask + 1;
  return sr_pool_alloc(pool, (size_t)(*mask + 1) * sizeof(uint64_t));
}

int sr_curve_once(srPool* pool, const srCurvePoint* in, int n, srCurvePoint* out) {
  uint64_t mask;
  uint64_t* table = make_table(pool, n, &mask);
  int count = 0;
  bool drawn = false;  // the pen is at in[i - 1]
  for (int i = 0; i < n; i++) {
    const bool alone = in[i].move && (i + 1 == n || in[i + 1].move);
    if (alone) out[count++] = in[i];
    if (in[i].move) drawn = false;
    if (in[i].move || !put(table, mask, 1 + (cell_of(&in[i - 1]) << 32 | cell_of(&in[i])))) {
      drawn = false;
      continue;
    }
    if (!drawn) {
      out[count] = in[i - 1];
      out[count++].move = true;
    }
    out[count++] = in[i];
    drawn = true;
  }
  return count;
}

int sr_curve_places(srPool* pool, const srCurvePoint* in, int n, srCurvePoint* out) {
  uint64_t mask;
  uint64_t* table = make_table(pool, n, &mask);
  int count = 0;
  for (int i = 0; i < n; i++)
    if (put(table, mask, 1 + cell_of(&in[i]))) out[count++] = in[i];
  return count;
}

int sr_curve_reduce(srPool* pool, srCurvePoint* points, int n) {
  if (n > FEW) n = sr_curve_columns(points, n, points);
  if (n > MANY) n = sr_curve_once(pool, points, n, points);
  return sr_curve_straight(points, n, STRAIGHT, points);
}
