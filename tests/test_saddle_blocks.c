// Tests of src/math/saddle_blocks: saddle-point systems of free bodies by S = G M^-1 G^T, against a dense LU of the whole matrix.
#include <math.h>
#include <sarrus/base.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "math/saddle_blocks.h"
#include "runner.h"

#define ROWS 5  // of a joint

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

static double largest(int n, const double* a) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i]));
  return most;
}

// A binary tree of n bodies, each on a joint of five constraint equations to the one before; the last two bodies are tied by a joint too, and a
// further equation ties three bodies.
typedef struct Tree {
  int n, nv, ng;
  int *M_row, *M_column, *G_row, *G_column;
  double *M, *G, *f, *r;
  unsigned char* kept;
  srmPattern M_pattern, G_pattern;
} Tree;

// A uniform rod from the origin along -z: nothing resists its turning about z.
static void put_rod(double* M) {
  const double mass = 2, c = -0.5, J = mass * 4 * c * c / 3;
  const double inertia[36] = {J, 0,    0, 0, -mass * c, 0, 0, J, 0,    mass * c, 0, 0, 0, 0, 0, 0,   0, 0, 0, mass * c,
                              0, mass, 0, 0, -mass * c, 0, 0, 0, mass, 0,        0, 0, 0, 0, 0, mass};
  memcpy(M, inertia, sizeof inertia);
}

static void put_body(double* M, bool rod, uint64_t* seed) {
  double A[36];
  if (rod) {
    put_rod(M);
    return;
  }
  for (int i = 0; i < 36; ++i) A[i] = noise(seed);
  for (int i = 0; i < 36; ++i) {
    M[i] = i / 6 == i % 6 ? 0.5 : 0;
    for (int k = 0; k < 6; ++k) M[i] += A[i / 6 * 6 + k] * A[i % 6 * 6 + k];
  }
}

static void put_row(Tree* t, int a, int b, int c, uint64_t* seed) {
  int at = t->G_row[t->ng];
  const int body[3] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 6 && body[i] >= 0; ++j, ++at) {
      t->G_column[at] = 6 * body[i] + j;
      t->G[at] = noise(seed);
    }
  }
  t->G_row[++t->ng] = at;
}

static void make_tree(Tree* t, int n, bool rods) {
  const size_t rows = (size_t)(n + 2) * ROWS, entries = rows * 18;
  uint64_t seed = 29;
  *t = (Tree){.n = n, .nv = 6 * n};
  t->M_row = calloc((size_t)t->nv + 1, sizeof(int));
  t->M_column = calloc((size_t)t->nv * 6, sizeof(int));
  t->M = calloc((size_t)t->nv * 6, sizeof(double));
  t->G_row = calloc(rows + 1, sizeof(int));
  t->G_column = calloc(entries, sizeof(int));
  t->G = calloc(entries, sizeof(double));
  t->f = calloc((size_t)t->nv, sizeof(double));
  t->r = calloc(rows, sizeof(double));
  t->kept = calloc(rows, 1);
  for (int i = 0; i < n; ++i) {
    put_body(t->M + 36 * i, rods && i % 3 == 1, &seed);
    const int parent = (i - 1) / 2;
    for (int k = 0; k < ROWS; ++k) put_row(t, i > 0 ? parent : -1, i, -1, &seed);
  }
  for (int k = 0; k < 3; ++k) put_row(t, n - 2, n - 1, -1, &seed);
  put_row(t, 0, n / 2, n - 1, &seed);
  for (int i = 0; i < t->nv; ++i) {
    t->M_row[i + 1] = 6 * (i + 1);
    for (int j = 0; j < 6; ++j) t->M_column[6 * i + j] = i / 6 * 6 + j;
    t->f[i] = noise(&seed);
  }
  for (int k = 0; k < t->ng; ++k) {
    t->r[k] = noise(&seed);
    t->kept[k] = 1;
  }
  t->M_pattern = (srmPattern){.nrow = t->nv, .ncol = t->nv, .row = t->M_row, .column = t->M_column};
  t->G_pattern = (srmPattern){.nrow = t->ng, .ncol = t->nv, .row = t->G_row, .column = t->G_column};
}

static void free_tree(Tree* t) {
  void* parts[] = {t->M_row, t->M_column, t->G_row, t->G_column, t->M, t->G, t->f, t->r, t->kept};
  for (int i = 0; i < 9; ++i) free(parts[i]);
}

static srmSaddleShape shape_of(const Tree* t, bool blocks) {
  return (srmSaddleShape){.nv = t->nv,
                          .ng = t->ng,
                          .M = &t->M_pattern,
                          .G = &t->G_pattern,
                          .mass = blocks,
                          .dense_below = blocks ? -1 : 100000};
}

// Largest difference between the blocks and the dense matrix, relative to the largest number of the solution.
static double difference(const Tree* t, const double* M) {
  const size_t nv = (size_t)t->nv, ng = (size_t)t->ng;
  const srmSaddleShape sparse = shape_of(t, true), dense = shape_of(t, false);
  double *x[2], *lambda[2], most = 0;
  for (int i = 0; i < 2; ++i) {
    x[i] = calloc(nv, sizeof(double));
    lambda[i] = calloc(ng, sizeof(double));
  }
  srmBlocks* blocks = NULL;
  ENSURE(srm_blocks_create(&sparse, &blocks) && blocks != NULL);
  ENSURE(srm_blocks_factor(blocks, M, t->G, t->kept) && srm_blocks_solve(blocks, t->f, t->r, x[0], lambda[0]));
  srmSaddle* saddle = srm_saddle_create(&dense);
  ENSURE(srm_saddle_factor(saddle, M, NULL, t->G, t->kept));
  srm_saddle_solve(saddle, t->f, t->r, x[1], lambda[1]);
  srm_blocks_destroy(blocks);
  srm_saddle_destroy(saddle);
  for (int i = 0; i < t->nv; ++i) most = fmax(most, fabs(x[0][i] - x[1][i]) / largest(t->nv, x[1]));
  for (int k = 0; k < t->ng; ++k) most = fmax(most, fabs(lambda[0][k] - lambda[1][k]) / largest(t->ng, lambda[1]));
  for (int i = 0; i < 2; ++i) {
    free(x[i]);
    free(lambda[i]);
  }
  return most;
}

TEST(blocks_of_the_mass_matrix_give_the_solution_of_the_whole_matrix) {
  for (int rods = 0; rods < 2; ++rods) {
    Tree t;
    make_tree(&t, rods == 1 ? 10 : 40, rods == 1);
    // Rounding times the condition of random joints, some 1e5; without refinement rods would leave 1e-6.
    ENSURE_SMALL(difference(&t, t.M), 1e-10);
    t.kept[3] = t.kept[t.ng / 2] = t.kept[t.ng - 1] = 0;
    ENSURE_SMALL(difference(&t, t.M), 1e-10);
    ENSURE_SMALL(difference(&t, NULL), 1e-10);
    free_tree(&t);
  }
}

TEST(a_body_that_turns_freely_without_inertia_is_found_singular) {
  Tree t;
  make_tree(&t, 40, true);
  for (int p = 0; p < t.G_row[t.ng]; ++p) {
    if (t.G_column[p] == 6 * 7 + 2) t.G[p] = 0;  // body 7 is a rod: no row sees it turn about its axis
  }
  const srmSaddleShape shape = shape_of(&t, true);
  srmSaddle* saddle = srm_saddle_create(&shape);
  ENSURE(!srm_saddle_factor(saddle, t.M, NULL, t.G, t.kept));
  ENSURE(srm_saddle_factor(saddle, NULL, NULL, t.G, t.kept));
  srm_saddle_destroy(saddle);
  free_tree(&t);
}

TEST(a_body_without_any_inertia_is_carried_by_its_constraints) {
  Tree t;
  make_tree(&t, 40, false);
  memset(t.M + 36 * 39, 0, 36 * sizeof(double));  // the last body is held by 9 equations, of which 6 are enough
  t.kept[t.ng - 2] = t.kept[t.ng - 3] = 0;
  const srmSaddleShape shape = shape_of(&t, true);
  srmSaddle* saddle = srm_saddle_create(&shape);
  double* x = calloc((size_t)t.nv, sizeof(double));
  ENSURE(srm_saddle_factor(saddle, t.M, NULL, t.G, t.kept));
  srm_saddle_solve(saddle, t.f, t.r, x, NULL);
  for (int k = 0; k < t.ng; ++k) {
    double sum = -t.r[k];
    for (int p = t.G_row[k]; p < t.G_row[k + 1]; ++p) sum += t.G[p] * x[t.G_column[p]];
    if (t.kept[k] != 0) ENSURE_SMALL(sum, 1e-9);
  }
  free(x);
  srm_saddle_destroy(saddle);
  free_tree(&t);
}

// Row 8 comes nearer to row 7, of the same joint: the distance shows it, the solution stays good, and a copy is refused.
TEST(rows_near_dependence_show_their_distance_and_are_still_solved) {
  Tree t;
  make_tree(&t, 40, false);
  const srmSaddleShape shape = shape_of(&t, true);
  srmSaddle* saddle = srm_saddle_create(&shape);
  double *keep = calloc(12, sizeof(double)), longest[512] = {0}, last = 1;
  memcpy(keep, t.G + t.G_row[8], 12 * sizeof(double));
  for (double e = 1e-1; e > 1e-8; e *= 0.1) {
    for (int i = 0; i < 12; ++i) t.G[t.G_row[8] + i] = t.G[t.G_row[7] + i] + e * keep[i];
    ENSURE(srm_saddle_factor(saddle, t.M, NULL, t.G, t.kept));
    const double distance = srm_saddle_distance(saddle, t.M, t.G, longest);
    if (e > 5e-3) {
      ENSURE(distance > 0.01 * e && distance < 10 * e && distance < last);
      ENSURE_SMALL(difference(&t, t.M), 1e-12 / (e * e));
      last = distance;
    } else if (e < 5e-7) {
      ENSURE(distance < 0);  // by a factor of the whole matrix
    }
  }
  memcpy(t.G + t.G_row[8], t.G + t.G_row[7], 12 * sizeof(double));
  ENSURE(!srm_saddle_factor(saddle, t.M, NULL, t.G, t.kept));
  free(keep);
  srm_saddle_destroy(saddle);
  free_tree(&t);
}

TEST(rows_with_a_little_added_are_solved_by_the_least_change) {
  Tree t;
  make_tree(&t, 20, false);
  memcpy(t.G + t.G_row[8], t.G + t.G_row[7], 12 * sizeof(double));  // redundant: no choice of rows is needed
  t.r[8] = t.r[7];
  srmSaddleShape shape = shape_of(&t, true);
  srmBlocks* blocks = NULL;
  ENSURE(srm_blocks_create(&shape, &blocks) && blocks != NULL);
  ENSURE(!srm_blocks_factor(blocks, NULL, t.G, t.kept));
  ENSURE(srm_blocks_factor_rows(blocks, t.G, t.kept, 0));
  double *y = calloc((size_t)t.ng, sizeof(double)), *x = calloc((size_t)t.nv, sizeof(double)),
         *Gx = calloc((size_t)t.ng, sizeof(double));
  double *rest = calloc((size_t)t.ng, sizeof(double)), *more = calloc((size_t)t.ng, sizeof(double));
  for (int i = 0; i < 3; ++i) {  // the second and third take back what was added
    for (int k = 0; k < t.ng; ++k) rest[k] = t.r[k] - Gx[k];
    srm_blocks_solve_rows(blocks, rest, more);
    for (int k = 0; k < t.ng; ++k) y[k] += more[k];
    srm_rows_transposed_times(&shape, t.G, y, x);
    srm_rows_times(&shape, t.G, x, Gx);
  }
  for (int k = 0; k < t.ng; ++k) ENSURE_NEAR(Gx[k], t.r[k], 1e-12 * fmax(1, largest(t.ng, y)));
  ENSURE_NEAR(y[7], y[8], 1e-3 * fabs(y[7]));
  free(y);
  free(x);
  free(Gx);
  free(rest);
  free(more);
  srm_blocks_destroy(blocks);
  free_tree(&t);
}

// A platform on many legs: S would be full.
TEST(a_body_with_very_many_joints_is_left_to_the_sparse_factor) {
  enum { LEGS = 80 };
  int M_row[6 * LEGS + 7] = {0}, G_row[5 * LEGS + 1] = {0};
  int *M_column = calloc(36 * (LEGS + 1), sizeof(int)), *G_column = calloc(60 * LEGS, sizeof(int));
  for (int i = 0; i < 6 * LEGS + 6; ++i) {
    M_row[i + 1] = 6 * (i + 1);
    for (int j = 0; j < 6; ++j) M_column[6 * i + j] = i / 6 * 6 + j;
  }
  for (int k = 0; k < 5 * LEGS; ++k) {
    G_row[k + 1] = 12 * (k + 1);
    for (int j = 0; j < 6; ++j) {
      G_column[12 * k + j] = j;
      G_column[12 * k + 6 + j] = 6 * (1 + k / 5) + j;
    }
  }
  const srmPattern M = {.nrow = 6 * LEGS + 6, .ncol = 6 * LEGS + 6, .row = M_row, .column = M_column};
  const srmPattern G = {.nrow = 5 * LEGS, .ncol = 6 * LEGS + 6, .row = G_row, .column = G_column};
  const srmSaddleShape shape = {.nv = M.nrow, .ng = G.nrow, .M = &M, .G = &G, .mass = true};
  srmBlocks* blocks = NULL;
  ENSURE(srm_blocks_create(&shape, &blocks));
  ENSURE(blocks == NULL);
  free(M_column);
  free(G_column);
}

TEST(blocks_take_their_memory_at_once_and_give_it_back) {
  Tree t;
  make_tree(&t, 6, true);
  const srmSaddleShape shape = shape_of(&t, true);
  bool good = false;
  for (long at = 1; !good && at < 10000; ++at) {
    Heap heap = {.fail_at = at};
    sr_set_allocator(heap_allocator, &heap);
    srmSaddle* saddle = srm_saddle_create(&shape);
    good = saddle != NULL;
    const long calls = heap.calls;
    double x[36];
    if (saddle != NULL && srm_saddle_factor(saddle, t.M, NULL, t.G, t.kept))
      srm_saddle_solve(saddle, t.f, t.r, x, NULL);
    const bool none = heap.calls == calls;
    srm_saddle_destroy(saddle);
    sr_set_allocator(NULL, NULL);
    ENSURE(none);
    ENSURE_EQUAL(heap.live, 0);
  }
  ENSURE(good);
  free_tree(&t);
}
