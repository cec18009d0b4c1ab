// Tests of src/math/saddle, sparse and qr: saddle-point systems, independent rows, multipliers of least norm, cost.
#include "math/saddle.h"

#include <float.h>
#include <math.h>
#include <sarrus/base.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "math/qr.h"
#include "runner.h"

static bool verbose(void) { return getenv("SARRUS_TEST_VERBOSE") != NULL; }

// Numbers between -1 and 1 that repeat from run to run.
static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

static double largest(int n, const double* a) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i]));
  return most;
}

// ---- dense ----------------------------------------------------------------------------------------------------------

#define NV 9
#define NG 6

typedef struct Small {
  double M[NV * NV], D[NG * NV], G[NG * NV], f[NV], r[NG];
} Small;

// M = A A^T / NV + I without its part along `massless` coordinates, D near G.
static void make_small(Small* s, uint64_t seed, int massless) {
  double A[NV * NV];
  for (int i = 0; i < NV * NV; ++i) A[i] = i / NV < massless ? 0 : noise(&seed);
  for (int i = 0; i < NV; ++i) {
    for (int j = 0; j < NV; ++j) {
      double sum = i == j && i >= massless ? 1 : 0;
      for (int k = 0; k < NV; ++k) sum += A[i * NV + k] * A[j * NV + k] / NV;
      s->M[i * NV + j] = sum;
    }
    s->f[i] = noise(&seed);
  }
  for (int i = 0; i < NG * NV; ++i) {
    s->G[i] = noise(&seed);
    s->D[i] = s->G[i] + 0.1 * noise(&seed);
  }
  for (int k = 0; k < NG; ++k) s->r[k] = noise(&seed);
}

// Largest residual of M x - D^T lambda = f and of the kept rows of G x = r.
static double residual(const Small* s, const unsigned char* kept, const double* x, const double* lambda) {
  double most = 0;
  for (int i = 0; i < NV; ++i) {
    double sum = -s->f[i];
    for (int j = 0; j < NV; ++j) sum += s->M[i * NV + j] * x[j];
    for (int k = 0; k < NG; ++k) sum -= s->D[k * NV + i] * lambda[k];
    most = fmax(most, fabs(sum));
  }
  for (int k = 0; k < NG; ++k) {
    double sum = -s->r[k];
    for (int j = 0; j < NV; ++j) sum += s->G[k * NV + j] * x[j];
    if (kept[k] != 0) most = fmax(most, fabs(sum));
    if (kept[k] == 0) most = fmax(most, fabs(lambda[k]));
  }
  return most;
}

TEST(a_saddle_point_system_is_solved_with_the_kept_rows) {
  static const unsigned char sets[3][NG] = {{1, 1, 1, 1, 1, 1}, {1, 0, 1, 1, 0, 1}, {0, 0, 0, 0, 0, 0}};
  srmSaddle* saddle = srm_saddle_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Small s;
    double x[NV], lambda[NG];
    make_small(&s, seed, 0);
    for (int k = 0; k < 3; ++k) {
      ENSURE(srm_saddle_factor(saddle, s.M, s.D, s.G, sets[k]));
      srm_saddle_solve(saddle, s.f, s.r, x, lambda);
      ENSURE_SMALL(residual(&s, sets[k], x, lambda), 1e-12);  // rounding times a condition of some hundreds
    }
  }
  srm_saddle_destroy(saddle);
}

TEST(a_mass_matrix_may_be_singular_where_the_constraints_hold_it) {
  static const unsigned char all[NG] = {1, 1, 1, 1, 1, 1};
  srmSaddle* saddle = srm_saddle_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  srmRows* rows = srm_rows_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  Small s;
  double x[NV], lambda[NG];
  unsigned char kept[NG];
  const srmRowsChoice choice = {.tau = 1e-5};
  make_small(&s, 5, 3);
  ENSURE(srm_saddle_factor(saddle, s.M, s.D, s.G, NULL));
  srm_saddle_solve(saddle, s.f, s.r, x, lambda);
  ENSURE_SMALL(residual(&s, all, x, lambda), 1e-12);
  ENSURE_EQUAL(srm_rows_classify(rows, s.M, s.G, &choice, kept), NG);
  // Nothing holds a coordinate without mass: no solution, and that is reported.
  for (int k = 0; k < NG; ++k) s.G[k * NV] = s.D[k * NV] = 0;
  ENSURE(!srm_saddle_factor(saddle, s.M, s.D, s.G, NULL));
  ENSURE_EQUAL(srm_rows_classify(rows, s.M, s.G, &choice, kept), -1);
  srm_saddle_destroy(saddle);
  srm_rows_destroy(rows);
}

TEST(a_duplicated_row_makes_the_system_singular_until_it_is_dropped) {
  srmSaddle* saddle = srm_saddle_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  Small s;
  make_small(&s, 7, 0);
  memcpy(s.G + 4 * NV, s.G + NV, NV * sizeof(double));
  ENSURE(!srm_saddle_factor(saddle, s.M, s.G, s.G, NULL));
  ENSURE(srm_saddle_factor(saddle, s.M, s.G, s.G, (unsigned char[NG]){1, 1, 1, 1, 0, 1}));
  srm_saddle_destroy(saddle);
}

TEST(row_qr_gives_an_orthogonal_basis_and_the_rows_back) {
  double A[7 * 5], keep[7 * 5], basis[7 * 5], L[49], pivot[7];
  int order[7];
  uint64_t seed = 3;
  for (int i = 0; i < 35; ++i) A[i] = keep[i] = noise(&seed);
  ENSURE_EQUAL(srm_row_qr(7, 5, A, NULL, 1e-10, order, pivot, basis, L), 5);
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 5; ++j) {
      double sum = -keep[i * 5 + j];
      for (int k = 0; k < 5; ++k) sum += L[i * 7 + k] * basis[k * 5 + j];
      ENSURE_SMALL(sum, 1e-15);
    }
  }
  for (int k = 0; k < 5; ++k) {
    double sum = 0;
    for (int j = 0; j < 5; ++j) sum += basis[k * 5 + j] * basis[((k + 1) % 5) * 5 + j];
    ENSURE_SMALL(sum, 1e-15);
    if (k > 0) ENSURE(pivot[order[k]] <= 1.02 * pivot[order[k - 1]]);  // 1 % of margin for the order of the rows
  }
}

// ---- chains of loops ------------------------------------------------------------------------------------------------

// N four-bars in a row in natural coordinates, all bars of mass 1 and length 1, cranks at an angle; `extra` parallel bars from
// every second crank to the next repeat a row with another factor.
typedef struct Chain {
  int nv, ng;
  int *M_row, *M_column, *G_row, *G_column;
  double *M, *G;
  srmPattern M_pattern, G_pattern;
} Chain;

static void put_bar(Chain* c, int* count, int a, int b, double dx, double dy) {
  int at = *count;
  if (a >= 0) {
    c->G_column[at] = 2 * a;
    c->G[at++] = -dx;
    c->G_column[at] = 2 * a + 1;
    c->G[at++] = -dy;
  }
  c->G_column[at] = 2 * b;
  c->G[at++] = dx;
  c->G_column[at] = 2 * b + 1;
  c->G[at++] = dy;
  c->G_row[++c->ng] = at;
  *count = at;
}

// M couples neighbouring points, each direction by itself.
static void put_mass(Chain* c, int npoint) {
  int count = 0;
  for (int i = 0; i < 2 * npoint; ++i) {
    for (int j = i - 2; j <= i + 2; j += 2) {
      if (j < 0 || j >= 2 * npoint) continue;
      c->M_column[count] = j;
      c->M[count++] = i == j ? 1 : 1.0 / 6;
    }
    c->M_row[i + 1] = count;
  }
}

static void make_chain(Chain* c, int N, bool extra, double angle) {
  const size_t size = (size_t)(N + 2) * 16;
  int count = 0;
  *c = (Chain){.nv = 2 * (N + 1)};
  c->M_row = calloc(size, sizeof(int));
  c->M_column = calloc(size, sizeof(int));
  c->G_row = calloc(size, sizeof(int));
  c->G_column = calloc(size, sizeof(int));
  c->M = calloc(size, sizeof(double));
  c->G = calloc(size, sizeof(double));
  for (int i = 0; i <= N; ++i) {
    put_bar(c, &count, -1, i, sin(angle + 1e-3 * i), cos(angle + 1e-3 * i));
    if (i == 0) continue;
    put_bar(c, &count, i - 1, i, cos(0.01 * i), sin(0.01 * i));
    if (extra && i % 2 == 0) put_bar(c, &count, i - 1, i, 3 * cos(0.01 * i), 3 * sin(0.01 * i));
  }
  put_mass(c, N + 1);
  c->M_pattern = (srmPattern){.nrow = c->nv, .ncol = c->nv, .row = c->M_row, .column = c->M_column};
  c->G_pattern = (srmPattern){.nrow = c->ng, .ncol = c->nv, .row = c->G_row, .column = c->G_column};
}

static void free_chain(Chain* c) {
  void* parts[] = {c->M_row, c->M_column, c->G_row, c->G_column, c->M, c->G};
  for (int i = 0; i < 6; ++i) free(parts[i]);
}

static srmSaddleShape shape_of(const Chain* c, int dense_below) {
  return (srmSaddleShape){.nv = c->nv, .ng = c->ng, .M = &c->M_pattern, .G = &c->G_pattern, .dense_below = dense_below};
}

TEST(sparse_and_dense_give_the_same_solution) {
  Chain c;
  make_chain(&c, 20, true, 0.3);
  const srmSaddleShape sparse = shape_of(&c, -1), dense = shape_of(&c, 1000);
  double x[2][64], lambda[2][128], f[64], r[128];
  unsigned char kept[128];
  uint64_t seed = 11;
  for (int i = 0; i < c.nv; ++i) f[i] = noise(&seed);
  for (int k = 0; k < c.ng; ++k) {
    r[k] = noise(&seed);
    kept[k] = 1;
  }
  for (int k = 4, i = 2; i <= 20; i += 2, k += 5) kept[k + 1] = 0;  // the copies
  for (int i = 0; i < 2; ++i) {
    srmSaddle* saddle = srm_saddle_create(i == 0 ? &sparse : &dense);
    ENSURE(srm_saddle_is_sparse(saddle) == (i == 0));
    ENSURE(srm_saddle_factor(saddle, c.M, NULL, c.G, kept));
    srm_saddle_solve(saddle, f, r, x[i], lambda[i]);
    srm_saddle_destroy(saddle);
  }
  // Rounding times the condition of a chain of 20 loops.
  for (int i = 0; i < c.nv; ++i) ENSURE_NEAR(x[0][i], x[1][i], 1e-10 * fmax(1, largest(c.nv, x[1])));
  for (int k = 0; k < c.ng; ++k) ENSURE_NEAR(lambda[0][k], lambda[1][k], 1e-10 * fmax(1, largest(c.ng, lambda[1])));
  free_chain(&c);
}

TEST(redundant_constraints_are_found_named_and_share_the_load) {
  Chain c;
  make_chain(&c, 20, true, 0.3);
  for (int sparse = 0; sparse < 2; ++sparse) {
    const srmSaddleShape shape = shape_of(&c, sparse == 1 ? -1 : 1000);
    const srmRowsChoice choice = {.tau = 1e-5};
    srmRows* rows = srm_rows_create(&shape);
    unsigned char kept[128], unique[128];
    double coefficient[128], lambda[128], before[64], after[64];
    ENSURE_EQUAL(srm_rows_classify(rows, c.M, c.G, &choice, kept), 41);
    ENSURE_EQUAL(c.ng, 51);
    uint64_t seed = 17;
    for (int k = 0; k < c.ng; ++k) lambda[k] = noise(&seed);
    srm_rows_transposed_times(&shape, c.G, lambda, before);
    srm_rows_least_norm(rows, lambda);
    srm_rows_transposed_times(&shape, c.G, lambda, after);
    for (int i = 0; i < c.nv; ++i) ENSURE_NEAR(before[i], after[i], 1e-12);
    srm_rows_unique(rows, unique);
    for (int k = 3, i = 2; i <= 20; i += 2, k += 5) {
      // Row k + 1 is the bar, k + 2 its copy with factor 3: one of them was dropped and depends on the other alone.
      const int dropped = kept[k + 1] == 0 ? k + 1 : k + 2, other = dropped == k + 1 ? k + 2 : k + 1;
      ENSURE(kept[dropped] == 0 && kept[other] == 1);
      srm_rows_dependence(rows, dropped, coefficient);
      for (int l = 0; l < c.ng; ++l) {
        ENSURE_NEAR(coefficient[l], l != other ? 0 : dropped == k + 2 ? 3 : 1.0 / 3, 1e-9);
      }
      ENSURE_NEAR(lambda[k + 2], 3 * lambda[k + 1], 1e-10);  // least norm
      ENSURE(unique[k] == 1 && unique[k + 1] == 0 && unique[k + 2] == 0);
      ENSURE_SMALL(srm_rows_pivot(rows, dropped), 1e-7);
    }
    srm_rows_destroy(rows);
  }
  free_chain(&c);
}

TEST(a_row_of_zeros_is_dropped_and_carries_nothing) {
  srmRows* rows = srm_rows_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  Small s;
  unsigned char kept[NG];
  double lambda[NG] = {1, 2, 3, 4, 5, 6}, coefficient[NG];
  const srmRowsChoice choice = {.tau = 1e-5};
  make_small(&s, 9, 0);
  memset(s.G + 2 * NV, 0, NV * sizeof(double));
  ENSURE_EQUAL(srm_rows_classify(rows, s.M, s.G, &choice, kept), NG - 1);
  ENSURE(kept[2] == 0);
  srm_rows_dependence(rows, 2, coefficient);
  ENSURE_SMALL(largest(NG, coefficient), 0);
  srm_rows_least_norm(rows, lambda);
  ENSURE(fabs(lambda[2]) < 1e-12);
  ENSURE_NEAR(lambda[3], 4, 1e-12);
  srm_rows_destroy(rows);
}

TEST(a_doubtful_row_is_dropped_where_keeping_it_would_throw_the_velocity) {
  srmRows* rows = srm_rows_create(&(srmSaddleShape){.nv = NV, .ng = NG});
  Small s;
  unsigned char kept[NG];
  double r[NG] = {0};
  make_small(&s, 13, 0);
  for (int j = 0; j < NV; ++j) s.G[5 * NV + j] = s.G[j] + 1e-4 * s.G[5 * NV + j];  // nearly row 0
  srmRowsChoice choice = {.tau = 1e-6, .residual = r, .residual_limit = 1e-5};
  ENSURE_EQUAL(srm_rows_classify(rows, s.M, s.G, &choice, kept), NG);
  r[0] = r[5] = 1e-7;  // over a distance of 1e-4: 1e-3
  ENSURE_EQUAL(srm_rows_classify(rows, s.M, s.G, &choice, kept), NG - 1);
  srm_rows_destroy(rows);
}

// Three rows in a plane of masses 4 and 25, by the sparse choice.
static srmRows* rows_in_plane(void) {
  static const int M_row[] = {0, 1, 2}, M_column[] = {0, 1}, G_row[] = {0, 2, 4, 6}, G_column[] = {0, 1, 0, 1, 0, 1};
  static const srmPattern M = {2, 2, M_row, M_column}, G = {3, 2, G_row, G_column};
  return srm_rows_create(&(srmSaddleShape){.nv = 2, .ng = 3, .M = &M, .G = &G, .dense_below = -1});
}

// Row 1 from row 0, in the metric of M^-1: the sine of the angle of (1/2, s/5) to the first axis.
TEST(the_sparse_choice_measures_rows_in_the_metric_of_the_masses) {
  const double M[] = {4, 25};
  double G[] = {1, 0, 1, 0.02, 0, 0}, r[3] = {0};
  unsigned char kept[3];
  srmRows* rows = rows_in_plane();
  srmRowsChoice choice = {.tau = 1e-3, .residual = r, .residual_limit = 1e-3};
  ENSURE_EQUAL(srm_rows_classify(rows, M, G, &choice, kept), 2);
  ENSURE(kept[0] == 1 && kept[1] == 1 && kept[2] == 0);
  ENSURE_NEAR(srm_rows_pivot(rows, 1), 0.004 / sqrt(0.25 + 0.004 * 0.004), 1e-10);
  r[1] = 1;  // at this distance nothing is doubtful
  ENSURE_EQUAL(srm_rows_classify(rows, M, G, &choice, kept), 2);
  choice.tau = 1e-5;
  G[3] = 1e-3;  // distance 4e-4, length 1/2
  r[1] = 1e-7;
  ENSURE_EQUAL(srm_rows_classify(rows, M, G, &choice, kept), 2);
  r[1] = 1e-6;
  ENSURE_EQUAL(srm_rows_classify(rows, M, G, &choice, kept), 1);
  ENSURE(kept[1] == 0);
  srm_rows_destroy(rows);
}

// Three forces at each of two points of a body hold five of its motions: it still turns about the line between them. The wheels of a wheelset stand on rails like that, with
// tangents that differ by little.
TEST(the_sparse_choice_finds_the_rank_behind_rows_that_are_nearly_dependent) {
  int M_row[7], M_column[6], G_row[7], G_column[36];
  for (int i = 0; i <= 6; ++i) M_row[i] = i;
  for (int i = 0; i < 6; ++i) M_column[i] = i;
  for (int k = 0; k <= 6; ++k) G_row[k] = 6 * k;
  for (int k = 0; k < 36; ++k) G_column[k] = k % 6;
  const srmPattern Mp = {6, 6, M_row, M_column}, Gp = {6, 6, G_row, G_column};
  const srmSaddleShape shape = {.nv = 6, .ng = 6, .M = &Mp, .G = &Gp, .dense_below = -1};
  const double M[6] = {6e-3, 2.5e-3, 6e-3, 2, 2, 2};
  srmRows* rows = srm_rows_create(&shape);
  for (int n = 0; n < 200; ++n) {
    double G[36];
    unsigned char kept[6];
    for (int point = 0; point < 2; ++point) {
      const double side = point == 0 ? 1 : -1, tilt = side * 0.1 + 1e-5 * n, turn = 1e-3 * (n % 7);
      const double r[3] = {1e-4 * (n % 11), side * 0.08, -0.05};
      const double d[3][3] = {{-turn * sin(tilt), -sin(tilt), cos(tilt)},
                              {-turn * cos(tilt), cos(tilt), sin(tilt)},
                              {1, -turn, 0}};  // independent, of about length 1
      for (int k = 0; k < 3; ++k) {
        double* row = G + 6 * (2 * k + point);
        for (int i = 0; i < 3; ++i) {
          row[3 + i] = d[k][i];
          row[i] = r[(i + 1) % 3] * d[k][(i + 2) % 3] - r[(i + 2) % 3] * d[k][(i + 1) % 3];
        }
      }
    }
    ENSURE_EQUAL(srm_rows_classify(rows, M, G, &(srmRowsChoice){.tau = 1e-5}, kept), 5);
  }
  srm_rows_destroy(rows);
}

// Rows 1 and 2 are a thousandth apart: row 0, at a right angle to one of them, replaces one.
TEST(a_sparse_exchange_begins_with_the_rows_that_are_kept) {
  const double M[] = {4, 25}, G[] = {0, 1, 1, 0, 1, 1e-3};
  unsigned char kept[] = {0, 1, 1};
  srmRows* rows = rows_in_plane();
  const srmRowsChoice choice = {.tau = 1e-5};
  ENSURE(srm_rows_exchange(rows, M, G, &choice, kept));
  ENSURE(kept[0] == 1 && kept[1] + kept[2] == 1);
  ENSURE(!srm_rows_exchange(rows, M, G, &choice, kept));
  srm_rows_destroy(rows);
}

// Entries of L and U for each unknown. The work of a factorization, a solution and a choice of rows follows from them.
static double entries_of_chain(int N) {
  Chain c;
  make_chain(&c, N, true, 0.3);
  const srmSaddleShape shape = shape_of(&c, -1);
  srmSaddle* saddle = srm_saddle_create(&shape);
  srmRows* rows = srm_rows_create(&shape);
  unsigned char* kept = calloc((size_t)c.ng, 1);
  ENSURE(srm_rows_classify(rows, c.M, c.G, &(srmRowsChoice){.tau = 1e-5}, kept) > 0);
  ENSURE(srm_saddle_factor(saddle, c.M, NULL, c.G, kept));
  const double entries = (double)srm_saddle_fill(saddle) / (c.nv + c.ng);
  free(kept);
  srm_saddle_destroy(saddle);
  srm_rows_destroy(rows);
  free_chain(&c);
  return entries;
}

TEST(the_cost_of_a_chain_of_loops_grows_with_its_length) {
  double least = HUGE_VAL, most = 0;
  for (int n = 100; n <= 8000; n = n < 1000 ? n * 10 : n * 2) {
    const double entries = entries_of_chain(n * 2 / 9);
    if (verbose()) printf("  n %5d: %.1f entries for each unknown\n", n, entries);
    least = fmin(least, entries);
    most = fmax(most, entries);
  }
  ENSURE(most < 1.3 * least);
}

// A matrix of rank n - 1 that elimination leaves with a last pivot of rounding, not of zero: 0.1 + 0.2 is not 0.3.
TEST(a_sparse_matrix_that_is_singular_but_for_rounding_is_refused) {
  enum { N = 3 };
  const int row[N + 1] = {0, 3, 6, 9}, column[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  double A[9] = {1, 0.1, 0.7, 1, 0.2, 0.4, 2, 0.1 + 0.2, 0.7 + 0.4};  // the last row is the sum of the others
  const srmPattern pattern = {.nrow = N, .ncol = N, .row = row, .column = column};
  srmSparseLu* lu = srm_sparse_lu_create(&pattern, SRM_LU_COLUMNS);
  ENSURE(!srm_sparse_lu_factor(lu, A));
  A[8] += 1e-12;  // a pivot of that size is one, and the solution is right to what is left of the digits
  ENSURE(srm_sparse_lu_factor(lu, A));
  double x[N] = {A[0] - A[1], A[3] - A[4], A[6] - A[7]};
  srm_sparse_lu_solve(lu, x);
  ENSURE_NEAR(x[0], 1, 1e-3);
  ENSURE_NEAR(x[1], -1, 1e-3);
  ENSURE_SMALL(x[2], 1e-3);
  srm_sparse_lu_destroy(lu);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

TEST(memory_that_runs_out_leaves_nothing_behind) {
  Chain c;
  make_chain(&c, 6, true, 0.3);
  const srmSaddleShape shapes[] = {shape_of(&c, -1), shape_of(&c, 1000)};
  for (int i = 0; i < 4; ++i) {
    bool good = false;
    for (long at = 1; !good && at < 10000; ++at) {
      Heap heap = {.fail_at = at};
      sr_set_allocator(heap_allocator, &heap);
      srmSaddle* saddle = i < 2 ? srm_saddle_create(&shapes[i]) : NULL;
      srmRows* rows = i >= 2 ? srm_rows_create(&shapes[i - 2]) : NULL;
      good = saddle != NULL || rows != NULL;
      const long calls = heap.calls;
      unsigned char kept[64];
      const srmRowsChoice choice = {.tau = 1e-5};
      if (saddle != NULL) (void)srm_saddle_factor(saddle, c.M, NULL, c.G, NULL);
      if (rows != NULL) (void)srm_rows_classify(rows, c.M, c.G, &choice, kept);
      const bool none = heap.calls == calls;
      srm_saddle_destroy(saddle);
      srm_rows_destroy(rows);
      sr_set_allocator(NULL, NULL);
      ENSURE(none);
      ENSURE_EQUAL(heap.live, 0);
    }
    ENSURE(good);
  }
  free_chain(&c);
}
