// The table of sparse symmetric solvers, the analysis that all share, and elimination row by row:
//   S = L D L^T,  L_k = D^-1 L^-1 S_k,  D_k = S_kk - L_k D L_k^T                                   Davis (2006), section 4.7
// The numbers of S are at their places in L; a dropped row has a column of zeros.
#include "math/symmetric.h"

#include <string.h>

#include "base/base.h"

// ---- row by row -------------------------------------------------------------------------------------------------------

static int factor_ldl(srmSymmetric* s, const double* least) {
  const int *left = s->left, *at = s->left_at, *row = s->row;
  double *x = s->work, *L = s->below;
  int rank = 0;
  for (int k = 0; k < s->n; ++k) {
    const int end = s->left_start[k + 1];
    double D = s->diagonal[k];
    for (int p = s->left_start[k]; p < end; ++p) x[left[p]] = L[at[p]];
    for (int p = s->left_start[k]; p < end; ++p) {
      const int i = left[p];
      const double xi = x[i];
      L[at[p]] = xi * s->reciprocal[i];
      if (L[at[p]] == 0) continue;
      for (int e = s->start[i]; e < at[p]; ++e) x[row[e]] -= L[e] * xi;
      D -= xi * L[at[p]];
    }
    const bool keep = D > least[k];
    s->pivot[k] = D;
    s->reciprocal[k] = keep ? 1 / D : 0;
    rank += keep;
  }
  return rank;
}

static void solve_ldl(const srmSymmetric* s, double* x) {
  for (int k = 0; k < s->n; ++k) {
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) x[s->row[e]] -= s->below[e] * x[k];
  }
  for (int k = s->n - 1; k >= 0; --k) {
    x[k] *= s->reciprocal[k];
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) x[k] -= s->below[e] * x[s->row[e]];
  }
}

// ---- table ------------------------------------------------------------------------------------------------------------

#define ROWS .width = 1, .factor = factor_ldl, .solve = solve_ldl
#define BLOCKS .width = 8, .factor = srm_factor_blocks, .solve = srm_solve_blocks
static const srmSymmetricKind kinds[] = {
    {.name = "ldl", .about = "L D L^T row by row, minimum degree", .order = &srm_minimum_degree, ROWS},
    {.name = "ldl-amd", .about = "L D L^T row by row, ordered by AMD", .order = &srm_amd, ROWS},
    {.name = "blocks", .about = "Cholesky by blocks, minimum degree", .order = &srm_minimum_degree, BLOCKS},
    {.name = "blocks-amd", .about = "Cholesky by blocks, ordered by AMD", .order = &srm_amd, BLOCKS},
};

int srm_symmetric_count(void) { return SR_COUNT(kinds); }

const srmSymmetricKind* srm_symmetric_at(int index) { return &kinds[index]; }

const srmSymmetricKind* srm_symmetric_for(int width, int n) {
  const bool amd = n >= SRM_AMD_FROM && !srm_amd.absent;
  for (int i = 0; i < SR_COUNT(kinds); ++i) {
    if (kinds[i].width == width && (kinds[i].order == &srm_amd) == amd) return &kinds[i];
  }
  return NULL;
}

// ---- analysis ---------------------------------------------------------------------------------------------------------

// Pattern of L by columns, then by rows, from the tree: row k has the paths from its neighbours up to k.
static bool find_pattern(srmSymmetric* s, const srmSymmetricShape* shape, const int* parent, int* mark, int* count) {
  const int n = s->n;
  for (int k = 0; k < n; ++k) {
    s->start[k + 1] = s->start[k] + count[k];
    count[k] = s->start[k];
    mark[k] = -1;
  }
  const size_t fill = (size_t)s->start[n];
  if (!srm_take_ints(&s->row, fill) || !srm_take_ints(&s->left, fill) || !srm_take_ints(&s->left_at, fill))
    return false;
  for (int k = 0; k < n; ++k) {
    s->left_start[k + 1] = s->left_start[k];
    for (int e = shape->start[s->order[k]]; e < shape->start[s->order[k] + 1]; ++e) {
      for (int i = s->place[shape->neighbour[e]]; i < k && mark[i] != k; i = parent[i]) {
        mark[i] = k;
        s->row[count[i]++] = k;
        ++s->left_start[k + 1];
      }
    }
  }
  memcpy(count, s->left_start, (size_t)n * sizeof *count);
  for (int i = 0; i < n; ++i) {  // in this order each row ascends
    for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
      s->left[count[s->row[e]]] = i;
      s->left_at[count[s->row[e]]++] = e;
    }
  }
  return true;
}

static bool analyse(srmSymmetric* s, const srmSymmetricShape* shape) {
  const size_t n = (size_t)s->n;
  int *parent = NULL, *mark = NULL, *count = NULL;
  bool good = srm_take_ints(&s->order, n) && srm_take_ints(&s->place, n) && srm_take_ints(&s->size, n) &&
              srm_take_ints(&s->start, n + 1) && srm_take_ints(&s->left_start, n + 1) && srm_take_ints(&parent, n) &&
              srm_take_ints(&mark, n) && srm_take_ints(&count, n) &&
              s->kind->order->find(s->n, shape->start, shape->neighbour, s->order);
  for (int k = 0; good && k < s->n; ++k) {
    s->place[s->order[k]] = k;
    s->size[k] = shape->size != NULL ? shape->size[s->order[k]] : 1;
    s->rows += s->size[k];
  }
  if (good) {
    (void)srm_elimination_tree(s->n, shape->start, shape->neighbour, s->order, s->place, parent, mark, count);
    good = find_pattern(s, shape, parent, mark, count);
  }
  sr_free(parent);
  sr_free(mark);
  sr_free(count);
  return good;
}

size_t srm_symmetric_fill(const srmSymmetric* s) {
  size_t sum = 0;
  for (int k = 0; k < s->n; ++k) {
    size_t rows = (size_t)s->size[k];
    for (int e = s->start[k]; e < s->start[k + 1]; ++e) rows += (size_t)s->size[s->row[e]];
    sum += (size_t)s->size[k] * rows;
  }
  return sum;
}

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_symmetric_destroy(srmSymmetric* s) {
  if (s == NULL) return;
  void* parts[] = {s->order,   s->place,    s->size,  s->start, s->row,        s->left_start, s->left,
                   s->left_at, s->diagonal, s->below, s->pivot, s->reciprocal, s->work};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(s);
}

static size_t block_size(const srmSymmetric* s) { return (size_t)s->kind->width * (size_t)s->kind->width; }

static bool take_memory(srmSymmetric* s) {
  const size_t vector = (size_t)s->n * (size_t)s->kind->width;
  return srm_take_numbers(&s->diagonal, (size_t)s->n * block_size(s)) &&
         srm_take_numbers(&s->below, (size_t)s->start[s->n] * block_size(s)) && srm_take_numbers(&s->pivot, vector) &&
         srm_take_numbers(&s->reciprocal, vector) && srm_take_numbers(&s->work, vector);
}

bool srm_symmetric_create(const srmSymmetricShape* shape, const srmSymmetricKind* kind, srmSymmetric** out) {
  SR_ASSERT(!kind->order->absent);
  *out = NULL;
  srmSymmetric* s = sr_alloc(sizeof *s);
  if (s == NULL) return false;
  s->kind = kind;
  s->n = shape->n;
  bool good = analyse(s, shape);
  const bool fits = good && (shape->most == 0 || (double)srm_symmetric_fill(s) <= shape->most);
  if (fits) good = take_memory(s);
  if (good && fits) {
    *out = s;
  } else {
    srm_symmetric_destroy(s);
  }
  return good;
}

void srm_symmetric_clear(srmSymmetric* s) {
  memset(s->diagonal, 0, (size_t)s->n * block_size(s) * sizeof *s->diagonal);
  memset(s->below, 0, (size_t)s->start[s->n] * block_size(s) * sizeof *s->below);
}

int srm_symmetric_block(const srmSymmetric* s, int k, int i) {
  int low = s->start[k], high = s->start[k + 1] - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (s->row[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  SR_ASSERT(low < s->start[k + 1] && s->row[low] == i);
  return low;
}
