// LU with full or column pivoting that divides columns into dependent ones, those of the pivots, and independent ones.     ROBOTRAN manual, section 5.1
//
//   full     the largest entry that is left, of all rows
//   column   the rows in their order; in each its largest entry
//
// Wishes (role): pivots are searched among the columns that are rather dependent, then among those without a wish, last among those
// that are rather independent; a pivot below WISHED is not taken to honour a wish.
#include "math/pivots.h"

#include <math.h>
#include <stddef.h>

#define WISHED 1e-2  // pivot of a scaled row from which a wish is honoured

static double* line(const srmPivots* p, int row) { return p->A + (size_t)row * (size_t)p->ncol; }

static void swap(int* a, int* b) {
  const int t = *a;
  *a = *b;
  *b = t;
}

// The largest entry that is left in rows k .. last-1 of the order and in columns whose wish is no stronger; its size.
static double largest(const srmPivots* p, int k, int last, int wish, int* row, int* column) {
  double most = 0.0;
  for (int i = k; i < last; ++i) {
    for (int j = k; j < p->ncol; ++j) {
      if (p->role != NULL && p->role[p->column[j]] > wish) continue;
      const double size = fabs(line(p, p->row[i])[p->column[j]]);
      if (size <= most) continue;
      most = size;
      *row = i;
      *column = j;
    }
  }
  return most;
}

static double find_pivot(const srmPivots* p, int k, int last, int* row, int* column) {
  for (int wish = -1; wish < 1 && p->role != NULL; ++wish) {
    const double size = largest(p, k, last, wish, row, column);
    if (size >= WISHED) return size;
  }
  return largest(p, k, last, 1, row, column);
}

// By rows: of the first row that has one; the rows before it depend on those of the pivots.
static double find_next(const srmPivots* p, int k, int last, int* row, int* column) {
  if (!p->by_rows) return find_pivot(p, k, last, row, column);
  for (int i = k; i < last; ++i) {
    swap(&p->row[k], &p->row[i]);
    const double size = find_pivot(p, k, k + 1, row, column);
    swap(&p->row[k], &p->row[i]);
    *row = i;
    if (size > SRM_PIVOT_TAU) return size;
  }
  return 0.0;
}

static void eliminate(srmPivots* p, int k) {
  const double* top = line(p, p->row[k]);
  for (int i = k + 1; i < p->nrow; ++i) {
    double* row = line(p, p->row[i]);
    const double factor = row[p->column[k]] / top[p->column[k]];
    if (factor == 0.0) continue;
    for (int j = k; j < p->ncol; ++j) row[p->column[j]] -= factor * top[p->column[j]];
  }
}

void srm_pivots_begin(srmPivots* p) {
  for (int i = 0; i < p->nrow; ++i) p->row[i] = i;
  for (int j = 0; j < p->ncol; ++j) p->column[j] = j;
  p->smallest = 1.0;
}

int srm_pivots_take(srmPivots* p, int k, int last) {
  int i = 0, j = 0;
  for (;; ++k) {
    const double size = k < p->ncol ? find_next(p, k, last, &i, &j) : 0.0;
    if (!(size > SRM_PIVOT_TAU)) return k;
    p->smallest = fmin(p->smallest, size);
    swap(&p->row[k], &p->row[i]);
    swap(&p->column[k], &p->column[j]);
    eliminate(p, k);
  }
}

int srm_pivots_choose(srmPivots* p, int np, int* first) {
  srm_pivots_begin(p);
  *first = srm_pivots_take(p, 0, np);
  int next = *first;  // rows of the first np without a pivot to the end, the others forward
  for (int i = *first; i < p->nrow; ++i) {
    if (p->row[i] >= np) swap(&p->row[next++], &p->row[i]);
  }
  return srm_pivots_take(p, *first, next);
}
