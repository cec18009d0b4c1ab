// Rows of a sparse matrix times a vector.
#ifndef SR_MATH_ROW_TIMES_H
#define SR_MATH_ROW_TIMES_H

#include "math/sparse.h"
#include "math/v4.h"

// sum of value[p] x[column[p]] over n entries with ascending columns, six neighbouring ones (of a free body) or four at a time.
SRM_INLINE double srm_entries_times(int n, const int* column, const double* value, const double* x) {
  v4 four = v4_zero();
  double sum = 0;
  for (int p = 0; p < n;) {
    if (p + 5 < n && column[p + 5] == column[p] + 5) {
      const double *a = value + p, *b = x + column[p];
      four += *(const v4_any*)a * *(const v4_any*)b;
      sum += a[4] * b[4] + a[5] * b[5];
      p += 6;
    } else if (p + 3 < n && column[p + 3] == column[p] + 3) {
      four += *(const v4_any*)(value + p) * *(const v4_any*)(x + column[p]);
      p += 4;
    } else {
      sum += value[p] * x[column[p]];
      ++p;
    }
  }
  return sum + (four[0] + four[1] + (four[2] + four[3]));
}

SRM_INLINE double srm_row_times(const srmPattern* pattern, int k, const double* values, const double* x) {
  const int first = pattern->row[k];
  return srm_entries_times(pattern->row[k + 1] - first, pattern->column + first, values + first, x);
}

#endif
