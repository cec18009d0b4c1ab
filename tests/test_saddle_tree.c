// Tests of src/math/saddle_tree: saddle-point systems of bodies on a forest of joints, against a dense LU of the whole matrix.
#include <math.h>
#include <sarrus/base.h>
#include <stdint.h>
#include <string.h>

#include "math/saddle_tree.h"
#include "runner.h"

#define BODIES 9
#define ROWS (6 * BODIES)

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

typedef struct Forest {
  int nv, ng;
  int M_row[6 * BODIES + 1], M_column[36 * BODIES], G_row[ROWS + 1], G_column[12 * ROWS];
  double M[36 * BODIES], G[12 * ROWS], f[6 * BODIES], r[ROWS];
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
  put_rows(&t, 1, 0, 8, &seed);  // a loop
  t.G_pattern.nrow = shape.ng = t.ng;
  ENSURE(srm_tree_create(&shape, &tree) && tree == NULL);
}
