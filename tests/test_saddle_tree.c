// Tests of src/math/saddle_tree: saddle-point systems of bodies on a forest of joints, against a dense LU of the whole matrix.
#include <math.h>
#include <sarrus/base.h>
#include <stdint.h>
#include <string.h>

#include "math/saddle_tree.h"
#include "runner.h"

#define BODIES 9
#define ROWS (8 * BODIES)

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

typedef struct Forest {
  int nv, ng;
  int M_row[6 * BODIES + 1], M_column[36 * BODIES], G_row[ROWS + 1], G_column[18 * ROWS];
  double M[36 * BODIES], G[18 * ROWS], f[6 * BODIES], r[ROWS];
  unsigned char kept[ROWS];
  srmPattern M_pattern, G_pattern;
} Forest;

// Full inertia, positive definite as every row is dominated by its diagonal, or a rod along z, or none at all.
static void put_body(double* M, int kind, uint64_t* seed) {
  for (int i = 0; i < 6; ++i) M[7 * i] = kind == 2 || (kind == 1 && i == 2) ? 0 : 1.0 + 0.3 * noise(seed);
  for (int i = 0; kind == 0 && i < 6; ++i) {
    for (int j = 0; j < i; ++j) M[6 * i + j] = M[6 * j + i] = 0.13 * noise(seed);
  }
}

static void put_rows(Forest* t, int n, int a, int b, uint64_t* seed) {
  for (int k = 0; k < n; ++k) {
    int at = t->G_row[t->ng];
    for (int j = 0; j < 12; ++j) {
      const int body = j < 6 ? a : b;
      if (body < 0) continue;
      t->G_column[at] = 6 * body + j % 6;
      t->G[at++] = noise(seed);
    }
    t->kept[t->ng] = 1;
    t->r[t->ng] = noise(seed);
    t->G_row[++t->ng] = at;
  }
}

// Two trees, one on the ground and one afloat, with joints of one to six rows; the inner body of a joint has the larger number in some, and
// one joint has its rows in two places. Bodies without inertia are carried by six rows.
static void make(Forest* t) {
  uint64_t seed = 5;
  memset(t, 0, sizeof *t);
  t->nv = 6 * BODIES;
  for (int i = 0; i < t->nv; ++i) {
    t->M_row[i + 1] = 6 * (i + 1);
    for (int j = 0; j < 6; ++j) t->M_column[6 * i + j] = i / 6 * 6 + j;
    t->f[i] = noise(&seed);
  }
  for (int i = 0; i < BODIES; ++i) put_body(t->M + 36 * i, i == 4 ? 2 : i % 3 == 1, &seed);
  put_rows(t, 3, -1, 3, &seed);
  put_rows(t, 5, 1, 3, &seed);
  put_rows(t, 6, 3, 4, &seed);
  put_rows(t, 2, -1, 3, &seed);
  put_rows(t, 4, 0, 1, &seed);
  put_rows(t, 5, 4, 5, &seed);
  put_rows(t, 1, 2, 6, &seed);
  put_rows(t, 5, 2, 7, &seed);
  put_rows(t, 5, 7, 8, &seed);
  t->M_pattern = (srmPattern){.nrow = t->nv, .ncol = t->nv, .row = t->M_row, .column = t->M_column};
  t->G_pattern = (srmPattern){.nrow = t->ng, .ncol = t->nv, .row = t->G_row, .column = t->G_column};
}

static srmSaddleShape shape_of(const Forest* t, int dense_below) {
  return (srmSaddleShape){
      .nv = t->nv, .ng = t->ng, .M = &t->M_pattern, .G = &t->G_pattern, .mass = true, .dense_below = dense_below};
}

// Largest difference from the dense solution, over its largest number.
static double difference(const Forest* t, srmTree* tree, const double* M) {
  const srmSaddleShape shape = shape_of(t, 100000);
  srmSaddle* dense = srm_saddle_create(&shape);
  double x[2][6 * BODIES], lambda[2][ROWS], most = 0, size = 0;
  ENSURE(srm_saddle_factor(dense, M, NULL, t->G, t->kept));
  srm_saddle_solve(dense, t->f, t->r, x[0], lambda[0]);
  ENSURE(srm_tree_factor(tree, M, t->G, t->kept));
  srm_tree_solve(tree, t->f, t->r, x[1], lambda[1]);
  for (int i = 0; i < t->nv; ++i) {
    size = fmax(size, fabs(x[0][i]));
    most = fmax(most, fabs(x[1][i] - x[0][i]));
  }
  for (int k = 0; k < t->ng; ++k) {
    size = fmax(size, fabs(lambda[0][k]));
    most = fmax(most, fabs(lambda[1][k] - lambda[0][k]));
    ENSURE(t->kept[k] != 0 || lambda[1][k] == 0);
  }
  srm_saddle_destroy(dense);
  return most / size;
}

TEST(elimination_from_the_tips_gives_the_solution_of_the_whole_matrix) {
  static Forest t;
  make(&t);
  const srmSaddleShape shape = shape_of(&t, -1);
  srmTree* tree = NULL;
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  ENSURE(difference(&t, tree, t.M) < 1e-12);
  ENSURE(difference(&t, tree, NULL) < 1e-12);
  t.kept[1] = t.kept[9] = t.kept[17] = 0;  // other rows, so other pivots
  ENSURE(difference(&t, tree, t.M) < 1e-12);
  for (int p = t.G_row[3]; p < t.G_row[8]; ++p) t.G[p] = p % 5 == 0 ? 1e-4 * t.G[p] : t.G[p];  // and small ones
  ENSURE(difference(&t, tree, t.M) < 1e-12);
  srm_tree_destroy(tree);
}

TEST(elimination_from_the_tips_refuses_what_it_cannot_do) {
  static Forest t;
  srmTree* tree = NULL;
  make(&t);
  srmSaddleShape shape = shape_of(&t, -1);
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  for (int k = 9; k < 14; ++k) t.kept[k] = 0;  // the body without inertia on one row, with nothing on it
  for (int k = 20; k < 25; ++k) t.kept[k] = 0;
  ENSURE(!srm_tree_factor(tree, t.M, t.G, t.kept));
  memset(t.kept, 1, sizeof t.kept);
  memcpy(t.G + t.G_row[4], t.G + t.G_row[3], 12 * sizeof *t.G);  // a joint with the same row twice
  ENSURE(!srm_tree_factor(tree, t.M, t.G, t.kept));
  srm_tree_destroy(tree);
  uint64_t seed = 3;
  put_rows(&t, 1, 5, 8, &seed);  // both trees: still none
  t.G_pattern.nrow = shape.ng = t.ng;
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  srm_tree_destroy(tree);
  t.G_column[t.G_row[t.ng - 1]] = 1;  // a row over half a body
  ENSURE(srm_tree_create(&shape, &tree) && tree == NULL);
}

// Loops: between bodies of a tree, between both trees, over the ground, a second joint of the same two bodies (two rows of which only one fits in with
// its five), and a row over three bodies. All are independent of the others.
static void add_loops(Forest* t, uint64_t* seed) {
  put_rows(t, 1, 0, 5, seed);
  put_rows(t, 2, 1, 8, seed);
  put_rows(t, 1, -1, 6, seed);
  put_rows(t, 2, 1, 3, seed);
  const int at = t->G_row[t->ng];
  for (int j = 0; j < 18; ++j) {
    t->G_column[at + j] = 6 * (j < 6 ? 2 : j < 12 ? 5 : 7) + j % 6;
    t->G[at + j] = noise(seed);
  }
  t->kept[t->ng] = 1;
  t->r[t->ng] = noise(seed);
  t->G_row[++t->ng] = at + 18;
  t->G_pattern.nrow = t->ng;
}

TEST(loops_are_closed_after_the_elimination_from_the_tips) {
  static Forest t;
  uint64_t seed = 11;
  make(&t);
  const int joints = t.ng;
  add_loops(&t, &seed);
  t.kept[7] = 0;  // of the joint that is there twice: six rows in use fit in, none is left over
  const srmSaddleShape shape = shape_of(&t, -1);
  srmTree* tree = NULL;
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  ENSURE_SMALL(difference(&t, tree, t.M), 1e-11);
  ENSURE_SMALL(difference(&t, tree, NULL), 1e-11);  // rounding times the condition of random rows
  for (int k = 3; k < 6; ++k) t.kept[k] = 0;  // a joint with fewer rows than its loop is no more the one that is cut
  ENSURE_SMALL(difference(&t, tree, t.M), 1e-11);
  t.kept[joints] = t.kept[t.ng - 1] = 0;
  ENSURE_SMALL(difference(&t, tree, t.M), 1e-11);
  memset(t.kept, 1, (size_t)t.ng);
  t.kept[7] = 0;
  ENSURE_SMALL(difference(&t, tree, t.M), 1e-11);
  srm_tree_destroy(tree);
}

TEST(loops_that_repeat_each_other_are_refused_and_near_ones_are_refined) {
  static Forest t;
  uint64_t seed = 11;
  make(&t);
  const int first = t.ng;
  put_rows(&t, 2, 0, 5, &seed);
  t.G_pattern.nrow = t.ng;
  const srmSaddleShape shape = shape_of(&t, -1);
  srmTree* tree = NULL;
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  double* row = t.G + t.G_row[first];
  for (int j = 0; j < 12; ++j) row[12 + j] = row[j] + 1e-3 * row[12 + j];
  ENSURE_SMALL(difference(&t, tree, t.M), 1e-10);  // rounding over the distance, which has 1e-3 in it
  memcpy(row + 12, row, 12 * sizeof *row);
  ENSURE(!srm_tree_factor(tree, t.M, t.G, t.kept));
  srm_tree_destroy(tree);
}

// More loops than the dense matrix takes, and how they are chosen: 60 bodies on two rows each, in a row, and each on the ground by one more.
TEST(many_loops_are_left_to_other_methods) {
  enum { N = 60, NG = 3 * N };
  static int M_row[6 * N + 1], M_column[36 * N], G_row[NG + 1], G_column[12 * NG];
  static double G[12 * NG];
  static unsigned char kept[NG];
  uint64_t seed = 2;
  for (int i = 0; i < 6 * N; ++i) {
    M_row[i + 1] = 6 * (i + 1);
    for (int j = 0; j < 6; ++j) M_column[6 * i + j] = i / 6 * 6 + j;
  }
  for (int k = 0; k < NG; ++k) {
    const int body = k / 3, before = k % 3 < 2 && body > 0 ? body - 1 : -1;
    G_row[k + 1] = G_row[k];
    for (int i = before >= 0 ? before : body; i <= body; ++i) {
      for (int j = 0; j < 6; ++j) G_column[G_row[k + 1]++] = 6 * i + j;
    }
    kept[k] = 1;
  }
  for (int p = 0; p < G_row[NG]; ++p) G[p] = noise(&seed);
  const srmPattern M = {.nrow = 6 * N, .ncol = 6 * N, .row = M_row, .column = M_column};
  const srmPattern rows = {.nrow = NG, .ncol = 6 * N, .row = G_row, .column = G_column};
  const srmSaddleShape shape = {.nv = 6 * N, .ng = NG, .M = &M, .G = &rows, .mass = true};
  srmTree* tree = NULL;
  ENSURE(srm_tree_create(&shape, &tree) && tree != NULL);
  ENSURE(!srm_tree_factor(tree, NULL, G, kept));         // 59 rows are left over
  for (int k = 2; k < NG; k += 3) kept[k] = k < 3 * 40;  // 39
  ENSURE(srm_tree_factor(tree, NULL, G, kept));
  srm_tree_destroy(tree);
}
