// S = L L^T by right-looking block Cholesky, for groups of up to 8 rows.
#include <math.h>

#include "math/block_rows.h"
#include "math/symmetric.h"

// Cholesky of a diagonal block in place, columns below the diagonal. Returns the number of rows kept.
SRM_INLINE int factor_diagonal(int size, double* C, const double* least, double* pivot, double* reciprocal) {
  int kept = 0;
  for (int l = 0; l < size; ++l) {
    double* column = C + l * WIDE;
    const bool keep = column[l] > least[l];
    pivot[l] = column[l];
    reciprocal[l] = keep ? 1 / sqrt(column[l]) : 0;
    kept += keep;
    const v4 low = v4_all(reciprocal[l]) * v4_load(column), high = v4_all(reciprocal[l]) * v4_load(column + 4);
    v4_store(column, low);
    v4_store(column + 4, high);
    for (int c = l + 1; c < size; ++c) {
      const v4 a = v4_all(column[c]);
      v4_store(C + c * WIDE, v4_load(C + c * WIDE) - a * low);
      v4_store(C + c * WIDE + 4, v4_load(C + c * WIDE + 4) - a * high);
    }
    for (int c = 0; c < l; ++c) column[c] = 0;
  }
  return kept;
}

// W <- W L^-T: [c] over the rows of the column's group.
SRM_INLINE void solve_block(int size, const double* C, const double* reciprocal, bool half, double* W) {
  for (int c = 0; c < size; ++c) {
    v4 low = v4_load(W + c * WIDE), high = v4_load(W + c * WIDE + 4);
    for (int j = 0; j < c; ++j) {
      const v4 a = v4_all(C[j * WIDE + c]);
      low -= a * v4_load(W + j * WIDE);
      if (!half) high -= a * v4_load(W + j * WIDE + 4);
    }
    v4_store(W + c * WIDE, v4_all(reciprocal[c]) * low);
    if (!half) v4_store(W + c * WIDE + 4, v4_all(reciprocal[c]) * high);
  }
}

// Effect of the elimination of column k on the columns of its rows.
SRM_INLINE void update_columns(srmSymmetric* s, int k) {
  const int size = s->size[k], end = s->start[k + 1];
  for (int e = s->start[k]; e < end; ++e) {
    const int i = s->row[e];
    const double* W = s->below + (size_t)e * WIDE * WIDE;
    product(size, s->size[i], s->size[i], W, W, -1, s->diagonal + (size_t)i * WIDE * WIDE);
    for (int e2 = e + 1, at = s->start[i]; e2 < end; ++e2) {
      const int i2 = s->row[e2];
      while (s->row[at] != i2) ++at;
      product(size, s->size[i], s->size[i2], W, s->below + (size_t)e2 * WIDE * WIDE, -1,
              s->below + (size_t)at * WIDE * WIDE);
    }
  }
}

SRM_CLONES static int eliminate(srmSymmetric* s, const double* least) {
  int rank = 0;
  for (int k = 0; k < s->n; ++k) {
    const size_t at = (size_t)k * WIDE;
    double *C = s->diagonal + at * WIDE, *reciprocal = s->reciprocal + at;
    rank += factor_diagonal(s->size[k], C, least + at, s->pivot + at, reciprocal);
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) {
      double* W = s->below + (size_t)e * WIDE * WIDE;
      if (s->size[s->row[e]] <= WIDE / 2) {
        solve_block(s->size[k], C, reciprocal, true, W);
      } else {
        solve_block(s->size[k], C, reciprocal, false, W);
      }
    }
    update_columns(s, k);
  }
  return rank;
}

SRM_CLONES static void solve_groups(const srmSymmetric* s, double* z) {
  for (int k = 0; k < s->n; ++k) {
    const double *C = s->diagonal + (size_t)k * WIDE * WIDE, *reciprocal = s->reciprocal + (size_t)k * WIDE;
    double* own = z + (size_t)k * WIDE;
    for (int l = 0; l < s->size[k]; ++l) {
      const double value = own[l] * reciprocal[l];
      combine(1, s->size[k], &value, C + l * WIDE, -1, own);
      own[l] = value;
    }
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) {
      combine(s->size[k], s->size[s->row[e]], own, s->below + (size_t)e * WIDE * WIDE, -1,
              z + (size_t)s->row[e] * WIDE);
    }
  }
  for (int k = s->n - 1; k >= 0; --k) {
    const double *C = s->diagonal + (size_t)k * WIDE * WIDE, *reciprocal = s->reciprocal + (size_t)k * WIDE;
    double* own = z + (size_t)k * WIDE;
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) {
      const double *W = s->below + (size_t)e * WIDE * WIDE, *other = z + (size_t)s->row[e] * WIDE;
      for (int l = 0; l < s->size[k]; ++l) own[l] -= dot(s->size[s->row[e]], W + l * WIDE, other);
    }
    for (int l = s->size[k] - 1; l >= 0; --l) {
      for (int i = l + 1; i < s->size[k]; ++i) own[l] -= C[l * WIDE + i] * own[i];
      own[l] *= reciprocal[l];
    }
  }
}

int srm_factor_blocks(srmSymmetric* s, const double* least) { return eliminate(s, least); }

void srm_solve_blocks(const srmSymmetric* s, double* x) { solve_groups(s, x); }
