// Tests of src/math/symmetric: every row of the table against a dense Cholesky factor, with groups of rows, dependent rows and no memory
// but that of create.
#include "math/symmetric.h"

#include <math.h>
#include <sarrus/base.h>
#include <stdint.h>
#include <string.h>

#include "heap.h"
#include "math/dense.h"
#include "runner.h"

// Joints of a ladder: group i shares a body with i + 1 and i + 3, so that eliminating it fills in.
enum { GROUPS = 12, MOST = 6, COLUMNS = 80, ROWS = GROUPS * MOST };

typedef struct Ladder {
  int n, size[GROUPS], first[GROUPS];  // rows of a group, and where they begin
  int rows;
  int start[GROUPS + 1], neighbour[GROUPS * GROUPS];
  double B[ROWS][COLUMNS], S[ROWS][ROWS];
} Ladder;

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

static bool touch(int i, int j) { return i == j || j - i == 1 || i - j == 1 || j - i == 3 || i - j == 3; }

// Groups i and i + 1 share columns 6 i ..., i and i + 3 one of their own.
static void make_ladder(Ladder* l, int most) {
  uint64_t seed = 7;
  *l = (Ladder){.n = GROUPS};
  for (int i = 0; i < GROUPS; ++i) {
    l->size[i] = 1 + i % most;
    l->first[i] = l->rows;
    l->start[i + 1] = l->start[i];
    for (int j = 0; j < GROUPS; ++j) {
      if (j != i && touch(i, j)) l->neighbour[l->start[i + 1]++] = j;
    }
    for (int k = 0; k < l->size[i]; ++k, ++l->rows) {
      for (int c = 0; c < 10; ++c) l->B[l->rows][5 * i + c] = noise(&seed);
      l->B[l->rows][68 + i % 3 * 4 + i / 3 % 4] = noise(&seed);
      if (i >= 3) l->B[l->rows][68 + i % 3 * 4 + (i / 3 + 3) % 4] = noise(&seed);
    }
  }
}

static void multiply(Ladder* l) {
  for (int i = 0; i < l->rows; ++i) {
    for (int j = 0; j < l->rows; ++j) {
      l->S[i][j] = 0;
      for (int c = 0; c < COLUMNS; ++c) l->S[i][j] += l->B[i][c] * l->B[j][c];
    }
  }
}

static void load(srmSymmetric* s, const Ladder* l) {
  const int w = s->kind->width;
  srm_symmetric_clear(s);
  for (int k = 0; k < s->n; ++k) {
    const int a = s->order[k];
    for (int e = l->start[a] - 1; e < l->start[a + 1]; ++e) {  // the group itself, then its neighbours
      const int b = e < l->start[a] ? a : l->neighbour[e], i = s->place[b];
      if (i < k) continue;
      double* block = i == k ? s->diagonal + k * w * w : s->below + srm_symmetric_block(s, k, i) * w * w;
      for (int r = 0; r < l->size[a]; ++r)
        for (int c = 0; c < l->size[b]; ++c) block[r * w + c] = l->S[l->first[a] + r][l->first[b] + c];
    }
  }
}

// x (by rows) <- S^-1 x over the rows kept.
static void solve(srmSymmetric* s, const Ladder* l, double* x) {
  const int w = s->kind->width;
  _Alignas(32) double y[GROUPS * 8] = {0};
  for (int k = 0; k < s->n; ++k)
    for (int r = 0; r < s->size[k]; ++r) y[k * w + r] = x[l->first[s->order[k]] + r];
  srm_symmetric_solve(s, y);
  for (int k = 0; k < s->n; ++k)
    for (int r = 0; r < s->size[k]; ++r) x[l->first[s->order[k]] + r] = y[k * w + r];
}

// The same by a dense factor of the rows kept.
static void solve_dense(const Ladder* l, const bool* kept, double* x) {
  static double A[ROWS * ROWS];
  double y[ROWS];
  int n = 0, row[ROWS];
  for (int i = 0; i < l->rows; ++i) {
    if (kept[i]) row[n++] = i;
  }
  for (int i = 0; i < n; ++i) {
    y[i] = x[row[i]];
    for (int j = 0; j < n; ++j) A[i * n + j] = l->S[row[i]][row[j]];
  }
  ENSURE(srm_cholesky(n, A));
  srm_cholesky_solve(n, A, y);
  memset(x, 0, (size_t)l->rows * sizeof *x);
  for (int i = 0; i < n; ++i) x[row[i]] = y[i];
}

static void check_kind(const srmSymmetricKind* kind, int most, int dependent) {
  static Ladder l;
  double least[GROUPS * 8], x[ROWS], expected[ROWS];
  bool kept[ROWS];
  make_ladder(&l, most);
  // The first row of a group is twice the second, a single row is zero.
  if (dependent >= 0) {
    const int row = l.first[dependent];
    for (int c = 0; c < COLUMNS; ++c) l.B[row][c] = most > 1 ? 2 * l.B[row + 1][c] : 0;
  }
  multiply(&l);
  for (int i = 0; i < GROUPS * 8; ++i) least[i] = 1e-10;
  const srmSymmetricShape shape = {.n = l.n, .size = l.size, .start = l.start, .neighbour = l.neighbour};
  srmSymmetric* s = NULL;
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  ENSURE(srm_symmetric_create(&shape, kind, &s) && s != NULL);
  ENSURE(srm_symmetric_fill(s) >= (size_t)l.rows);
  const long calls = heap.calls;
  for (int again = 0; again < 2; ++again) {  // the factor is in place of the numbers
    load(s, &l);
    ENSURE_EQUAL(srm_symmetric_factor(s, least), l.rows - (dependent >= 0));
    int dropped = 0;
    for (int k = 0; k < s->n; ++k) {
      for (int r = 0; r < s->size[k]; ++r) {
        const int row = l.first[s->order[k]] + r;
        kept[row] = s->reciprocal[k * kind->width + r] != 0;
        dropped += !kept[row];
        if (!kept[row]) ENSURE_EQUAL(s->order[k], dependent);
      }
    }
    ENSURE_EQUAL(dropped, dependent >= 0);
    for (int i = 0; i < l.rows; ++i) expected[i] = x[i] = cos(3.0 * i);
    solve(s, &l, x);
    solve_dense(&l, kept, expected);
    for (int i = 0; i < l.rows; ++i) ENSURE_NEAR(x[i], expected[i], 1e-9 * fmax(1, fabs(expected[i])));
  }
  ENSURE_EQUAL(heap.calls, calls);
  srm_symmetric_destroy(s);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(heap.live, 0);
}

TEST(every_symmetric_solver_agrees_with_a_dense_factor_and_drops_what_depends) {
  int here = 0;
  for (int i = 0; i < srm_symmetric_count(); ++i) {
    const srmSymmetricKind* kind = srm_symmetric_at(i);
    if (kind->order->absent) continue;
    ++here;
    const int most = kind->width < MOST ? kind->width : MOST;
    check_kind(kind, most, -1);
    check_kind(kind, most, 4);
    check_kind(kind, 1, -1);
    check_kind(kind, 1, 5);
    if (kind->width > 1) check_kind(kind, 3, 7);
  }
  ENSURE(here >= 2);
}

TEST(large_graphs_are_ordered_by_amd_where_there_is_one) {
  for (int i = 0; i < 2; ++i) {
    const int width = i == 0 ? 1 : 8;
    const srmSymmetricKind *small = srm_symmetric_for(width, SRM_AMD_FROM - 1),
                           *large = srm_symmetric_for(width, SRM_AMD_FROM);
    ENSURE(small->width == width && small->order == &srm_minimum_degree);
    ENSURE(large->width == width && large->order == (srm_amd.absent ? &srm_minimum_degree : &srm_amd));
  }
}

// Three rows of B: (2, 0, 0), (1, 3, 0), (1, 1, 4). Whatever comes first, the product of the pivots is det(S) = 24^2; in the order 0, 1, 2
// the squared distances are 4, 9, 16.
TEST(the_pivots_are_the_squared_distances_from_the_rows_before) {
  const int start[] = {0, 2, 4, 6}, neighbour[] = {1, 2, 0, 2, 0, 1};
  const double S[3][3] = {{4, 2, 2}, {2, 10, 4}, {2, 4, 18}};
  const srmSymmetricShape shape = {.n = 3, .start = start, .neighbour = neighbour};
  for (int i = 0; i < srm_symmetric_count(); ++i) {
    const srmSymmetricKind* kind = srm_symmetric_at(i);
    const int w = kind->width;
    const double least[3 * 8] = {0};
    srmSymmetric* s = NULL;
    if (kind->order->absent) continue;
    ENSURE(srm_symmetric_create(&shape, kind, &s) && s != NULL);
    for (int k = 0; k < 3; ++k) {
      s->diagonal[k * w * w] = S[s->order[k]][s->order[k]];
      for (int j = k + 1; j < 3; ++j) s->below[srm_symmetric_block(s, k, j) * w * w] = S[s->order[k]][s->order[j]];
    }
    ENSURE_EQUAL(srm_symmetric_factor(s, least), 3);
    ENSURE_NEAR(s->pivot[0], S[s->order[0]][s->order[0]], 1e-14);
    ENSURE_NEAR(s->pivot[0] * s->pivot[w] * s->pivot[2 * w], 576, 1e-11);
    if (s->order[0] == 0 && s->order[1] == 1) ENSURE_NEAR(s->pivot[w], 9, 1e-14);
    srm_symmetric_destroy(s);
  }
}

TEST(a_factor_with_too_many_entries_is_refused_before_its_memory) {
  static Ladder l;
  make_ladder(&l, MOST);
  srmSymmetricShape shape = {.n = l.n, .size = l.size, .start = l.start, .neighbour = l.neighbour, .most = l.rows};
  srmSymmetric* s = NULL;
  ENSURE(srm_symmetric_create(&shape, srm_symmetric_for(8, l.n), &s));
  ENSURE(s == NULL);
  shape.most = ROWS * ROWS;
  ENSURE(srm_symmetric_create(&shape, srm_symmetric_for(8, l.n), &s));
  ENSURE(s != NULL);
  srm_symmetric_destroy(s);
}

TEST(a_symmetric_solver_that_gets_no_memory_says_so_and_gives_back_the_rest) {
  static Ladder l;
  make_ladder(&l, 1);
  const srmSymmetricShape shape = {.n = l.n, .start = l.start, .neighbour = l.neighbour};
  bool good = false;
  for (long at = 1; !good && at < 1000; ++at) {
    Heap heap = {.fail_at = at};
    srmSymmetric* s = NULL;
    sr_set_allocator(heap_allocator, &heap);
    good = srm_symmetric_create(&shape, srm_symmetric_for(1, l.n), &s);
    ENSURE(good == (s != NULL));
    srm_symmetric_destroy(s);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(heap.live, 0);
  }
  ENSURE(good);
}
