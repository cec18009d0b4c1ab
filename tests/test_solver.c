// Tests of src/math/solver and its implementations: every row of the table against a dense solution, old pivots, kept rows, and nets of
// loops against the chain of pendulums that they move as.
#include "math/solver.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "math/dense.h"
#include "math/saddle.h"
#include "math/shifted.h"
#include "runner.h"

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9.3e18;
}

// ---- systems ----------------------------------------------------------------------------------------------------------

// A tree: a trunk of 12 coordinates, and 8 branches of 18 at its end, so that paths are long. M over paths, positive definite; a row of G
// over the way from one branch to the next, as a loop has it.
enum { TRUNK = 12, BRANCH = 18, NV = TRUNK + 8 * BRANCH, NG = 40, N = NV + NG };

typedef struct Deep {
  int parent[NV];
  int M_row[NV + 1], M_column[NV * NV], G_row[NG + 1], G_column[NG * NV];
  double M[NV * NV], G[NG * NV], D[NG * NV];
  srmPattern M_pattern, G_pattern;
} Deep;

static bool on_path(const Deep* s, int tip, int i) {
  for (; tip > i; tip = s->parent[tip]) continue;
  return tip == i;
}

static void make_pattern(Deep* s) {
  int count = 0;
  for (int i = 0; i < NV; ++i) s->parent[i] = i > TRUNK && (i - TRUNK) % BRANCH == 0 ? TRUNK - 1 : i - 1;
  for (int i = 0; i < NV; ++i) {
    s->M_row[i] = count;
    for (int j = 0; j < NV; ++j) {
      if (on_path(s, i > j ? i : j, i > j ? j : i)) s->M_column[count++] = j;
    }
  }
  s->M_row[NV] = count;
  count = 0;
  for (int k = 0; k < NG; ++k) {
    const int branch = k % 8, next = (branch + 1) % 8, above = k / 8;
    const int a = TRUNK + BRANCH * (branch + 1) - 1 - above, b = TRUNK + BRANCH * (next + 1) - 1 - 2 * above;
    s->G_row[k] = count;
    for (int j = 0; j < NV; ++j) {
      if (on_path(s, a, j) != on_path(s, b, j)) s->G_column[count++] = j;
    }
  }
  s->G_row[NG] = count;
  s->M_pattern = (srmPattern){NV, NV, s->M_row, s->M_column};
  s->G_pattern = (srmPattern){NG, NV, s->G_row, s->G_column};
}

static void make_numbers(Deep* s, uint64_t seed) {
  double J[NV][NV] = {{0}};
  for (int b = 0; b < NV; ++b)
    for (int c = 0; c <= b; ++c) J[b][c] = on_path(s, b, c) ? noise(&seed) : 0;
  for (int i = 0; i < NV; ++i) {
    for (int p = s->M_row[i]; p < s->M_row[i + 1]; ++p) {
      const int j = s->M_column[p];
      s->M[p] = i == j ? 0.5 : 0;
      for (int b = 0; b < NV; ++b) s->M[p] += J[b][i] * J[b][j];
    }
  }
  for (int p = 0; p < s->G_row[NG]; ++p) {
    s->G[p] = noise(&seed);
    s->D[p] = s->G[p] + 0.1 * noise(&seed);
  }
}

static Deep* make_deep(uint64_t seed) {
  Deep* s = calloc(1, sizeof *s);
  make_pattern(s);
  make_numbers(s, seed);
  return s;
}

static double largest(int n, const double* a) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i]));
  return most;
}

static void ensure_same(int n, const double* a, const double* b, double tolerance) {
  const double size = fmax(1, largest(n, b));
  for (int i = 0; i < n; ++i) ENSURE_NEAR(a[i], b[i], tolerance * size);
}

// Dense numbers of [M G^T; G 0] by the pattern of the whole, for the solvers themselves.
typedef struct Whole {
  int row[N + 1], column[N * N];
  double values[N * N];
  srmPattern pattern;
} Whole;

static void make_whole(const Deep* s, Whole* w, double dense[N * N]) {
  bool there[N][N] = {{false}};
  memset(dense, 0, N * N * sizeof *dense);
  for (int i = 0; i < NV; ++i)
    for (int p = s->M_row[i]; p < s->M_row[i + 1]; ++p) {
      dense[i * N + s->M_column[p]] = s->M[p];
      there[i][s->M_column[p]] = true;
    }
  for (int k = 0; k < NG; ++k)
    for (int p = s->G_row[k]; p < s->G_row[k + 1]; ++p) {
      const int j = s->G_column[p];
      dense[(NV + k) * N + j] = s->G[p];
      dense[j * N + NV + k] = -s->D[p];
      there[NV + k][j] = there[j][NV + k] = true;
    }
  int count = 0;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      if (!there[i][j]) continue;
      w->column[count] = j;
      w->values[count++] = dense[i * N + j];
    }
    w->row[i + 1] = count;
  }
  w->pattern = (srmPattern){N, N, w->row, w->column};
}

// ---- rows of the table ------------------------------------------------------------------------------------------------

TEST(every_solver_of_the_table_agrees_with_a_dense_solution_and_keeps_doing_so_with_other_numbers) {
  static double dense[N * N];
  static Whole w;
  int present = 0;
  for (int i = 0; i < srm_solver_count(); ++i) {
    const srmSolverKind* kind = srm_solver_at(i);
    ENSURE(srm_solver_kind(kind->name) == kind);
    if (kind->absent) continue;
    ++present;
    Deep* s = make_deep(7);
    make_whole(s, &w, dense);
    srmSolver* solver = srm_solver_create(&w.pattern, kind);
    for (int draw = 0; draw < 12; ++draw) {
      double x[N], wanted[N];
      int pivot[N];
      uint64_t seed = 40 + (uint64_t)draw;
      make_numbers(s, seed);
      make_whole(s, &w, dense);
      for (int k = 0; k < N; ++k) x[k] = wanted[k] = noise(&seed);
      ENSURE(srm_lu(N, dense, pivot));
      srm_lu_solve(N, dense, pivot, wanted);
      ENSURE(srm_solver_factor(solver, w.values));
      srm_solver_solve(solver, x);
      ensure_same(N, x, wanted, 1e-10);  // rounding times a condition of some thousands
    }
    ENSURE(srm_solver_fill(solver) >= (size_t)w.row[N]);
    srm_solver_destroy(solver);
    free(s);
  }
  ENSURE(present >= 2);
  ENSURE(srm_solver_kind("no such word") == NULL);
}

// Two by two blocks on the diagonal, joined by small entries. Where the diagonal is large its entries are the pivots; where it is
// nearly zero they would be fatal.
static void make_blocks(int n, double diagonal, double* values, int* row, int* column) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const bool block = i / 2 == j / 2, next = j / 2 == i / 2 + 1 || i / 2 == j / 2 + 1;
      if (!block && !next) continue;
      column[count] = j;
      values[count++] = i == j ? diagonal : block ? 1 + 0.1 * (i % 2) : 0.05 * (1 + (i + j) % 3);
    }
    row[i + 1] = count;
  }
}

TEST(pivots_that_do_not_serve_other_numbers_are_chosen_anew) {
  enum { SIZE = 12 };
  static const double diagonals[] = {5, 4, 1e-14, 1e-5, 0, 5};
  for (int i = 0; i < srm_solver_count(); ++i) {
    const srmSolverKind* kind = srm_solver_at(i);
    if (kind->absent) continue;
    double values[SIZE * 6];
    int row[SIZE + 1] = {0}, column[SIZE * 6];
    make_blocks(SIZE, 5, values, row, column);
    srmSolver* solver = srm_solver_create(&(srmPattern){SIZE, SIZE, row, column}, kind);
    for (int d = 0; d < 6; ++d) {
      double A[SIZE * SIZE] = {0}, x[SIZE], wanted[SIZE];
      int pivot[SIZE];
      make_blocks(SIZE, diagonals[d], values, row, column);
      for (int r = 0; r < SIZE; ++r) {
        for (int p = row[r]; p < row[r + 1]; ++p) A[r * SIZE + column[p]] = values[p];
        x[r] = wanted[r] = 1 + r % 5;
      }
      ENSURE(srm_lu(SIZE, A, pivot));
      srm_lu_solve(SIZE, A, pivot, wanted);
      ENSURE(srm_solver_factor(solver, values));
      srm_solver_solve(solver, x);
      ensure_same(SIZE, x, wanted, 1e-12);
      if (kind->refactor != NULL && d == 1)
        ENSURE_EQUAL(srm_solver_choices(solver), 1);  // the second numbers took the old ones
      if (kind->refactor != NULL && d == 2) ENSURE_EQUAL(srm_solver_choices(solver), 2);
    }
    srm_solver_destroy(solver);
  }
}

TEST(a_singular_matrix_is_refused_by_every_solver_and_the_next_one_is_solved) {
  const int row[4] = {0, 3, 6, 9}, column[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  for (int i = 0; i < srm_solver_count(); ++i) {
    const srmSolverKind* kind = srm_solver_at(i);
    if (kind->absent) continue;
    srmSolver* solver = srm_solver_create(&(srmPattern){3, 3, row, column}, kind);
    for (int again = 0; again < 2; ++again) {
      double A[9] = {1, 0.1, 0.7, 1, 0.2, 0.4, 2, 0.1 + 0.2, 0.7 + 0.4};  // the last row is the sum of the others
      ENSURE(!srm_solver_factor(solver, A));
      A[8] += 1;
      ENSURE(srm_solver_factor(solver, A));
      double x[3] = {A[0] - A[1] + A[2], A[3] - A[4] + A[5], A[6] - A[7] + A[8]};
      srm_solver_solve(solver, x);
      ENSURE_NEAR(x[0], 1, 1e-12);
      ENSURE_NEAR(x[1], -1, 1e-12);
      ENSURE_NEAR(x[2], 1, 1e-12);
      memset(A, 0, 3 * sizeof *A);  // a row without entries
      ENSURE(!srm_solver_factor(solver, A));
    }
    srm_solver_destroy(solver);
  }
}

// ---- saddle-point systems -----------------------------------------------------------------------------------------------

TEST(the_solver_follows_the_length_of_the_paths) {
  Deep* s = make_deep(1);
  const int row[4] = {0, 1, 3, 5}, column[5] = {0, 0, 1, 0, 2};
  ENSURE(!srm_pattern_is_deep(&(srmPattern){3, 3, row, column}));
  ENSURE(strcmp(srm_solver_for(&(srmPattern){3, 3, row, column})->name, "lu") == 0);
  ENSURE(srm_pattern_is_deep(&s->M_pattern));
  ENSURE(srm_solver_for(&s->M_pattern)->refactor != NULL);
  ENSURE(!srm_solver_for(&s->M_pattern)->absent);
  free(s);
}

TEST(rows_may_be_left_out_and_taken_back_where_paths_are_long) {
  Deep* s = make_deep(3);
  const srmSaddleShape sparse = {NV, NG, &s->M_pattern, &s->G_pattern, .dense_below = -1};
  const srmSaddleShape dense = {NV, NG, &s->M_pattern, &s->G_pattern, .dense_below = 1000};
  srmSaddle *a = srm_saddle_create(&sparse), *b = srm_saddle_create(&dense);
  ENSURE(srm_saddle_is_sparse(a) && !srm_saddle_is_sparse(b));
  uint64_t seed = 5;
  for (int i = 0; i < 12; ++i) {
    double f[NV], r[NG], x[2][NV], lambda[2][NG];
    unsigned char kept[NG];
    make_numbers(s, seed + 11);
    for (int j = 0; j < NV; ++j) f[j] = noise(&seed);
    for (int k = 0; k < NG; ++k) {
      r[k] = noise(&seed);
      kept[k] = i % 3 == 0 || (k + i) % 4 != 0;
    }
    for (int which = 0; which < 2; ++which) {
      srmSaddle* saddle = which == 0 ? a : b;
      ENSURE(srm_saddle_factor(saddle, i % 5 == 4 ? NULL : s->M, i % 2 == 0 ? NULL : s->D, s->G, kept));
      srm_saddle_solve(saddle, f, r, x[which], lambda[which]);
    }
    ensure_same(NV, x[0], x[1], 1e-10);
    ensure_same(NG, lambda[0], lambda[1], 1e-10);
  }
  srm_saddle_destroy(a);
  srm_saddle_destroy(b);
  free(s);
}

TEST(complex_systems_of_long_paths_agree_with_the_dense_solution) {
  Deep* s = make_deep(9);
  srmShiftedShape shape = {.n = NV, .nv = NV, .ng = NG, .complex = true, .K = &s->M_pattern, .G = &s->G_pattern};
  srmShifted* a = srm_shifted_create(&shape);
  shape.dense = true;
  srmShifted* b = srm_shifted_create(&shape);
  ENSURE(srm_shifted_is_sparse(a) && !srm_shifted_is_sparse(b));
  uint64_t seed = 8;
  for (int i = 0; i < 6; ++i) {
    static double im[NV * NV];
    double f[2 * NV], r[2 * NG], x[2][2 * NV], lambda[2][2 * NG];
    unsigned char kept[NG];
    make_numbers(s, seed + 3);
    for (int p = 0; p < s->M_row[NV]; ++p) im[p] = 0.3 * s->M[p] + 0.05 * noise(&seed);
    for (int j = 0; j < 2 * NV; ++j) f[j] = noise(&seed);
    for (int k = 0; k < 2 * NG; ++k) r[k] = noise(&seed);
    for (int k = 0; k < NG; ++k) kept[k] = (k + i) % 6 != 0 || i < 2;
    for (int which = 0; which < 2; ++which) {
      srmShifted* shifted = which == 0 ? a : b;
      ENSURE(srm_shifted_factor(shifted, s->M, im, s->D, s->G, kept));
      srm_shifted_solve(shifted, f, r, x[which], lambda[which]);
    }
    ensure_same(2 * NV, x[0], x[1], 1e-10);
    ensure_same(2 * NG, lambda[0], lambda[1], 1e-10);
  }
  srm_shifted_destroy(a);
  srm_shifted_destroy(b);
  free(s);
}

// ---- nets -------------------------------------------------------------------------------------------------------------

// The k pendulums whose motion a net of k x k cells has: k + 1 rods of a level turn alike, k rods at their tips move along.
static Loaded open_pendulums(int k, double lean, double shake) {
  char text[2000];
  snprintf(text, sizeof text,
           "<sarrus version='1' name='pendulums'><parameter name='k' value='%d'/><parameter name='lean' value='%.17g'/>"
           "<parameter name='shake' value='%.17g'/><option gravity='0 0 -9.81'/>"
           "<parameter name='c' value='((k+1)/2 + k)/(2*k+1)'/>"
           "<parameter name='I' value='(k+1)/12 + (k+1)*(c-0.5)^2 + k*(1-c)^2'/>"
           "<body name='v0_0'><joint name='v0_0' type='revolute' axis='0 1 0' q='lean + shake*sin(1)'/>"
           "<inertial mass='2*k+1' com='0 0 -c' inertia='I I 0'/></body>"
           "<repeat count='k-1' index='i' from='1'><body name='v{i}_0' parent='v{i-1}_0'>"
           "<joint name='v{i}_0' type='revolute' axis='0 1 0' at='0 0 -1' "
           "q='shake*(sin(12.9898*i + 1) - sin(12.9898*(i-1) + 1))'/>"
           "<inertial mass='2*k+1' com='0 0 -c' inertia='I I 0'/></body></repeat></sarrus>",
           k, lean, shake);
  return open_text(text);
}

static void compare_net(int k, double lean, double shake, double tolerance) {
  char settings[200];
  snprintf(settings, sizeof settings, "k=%d lean=%.17g shake=%.17g", k, lean, shake);
  Loaded net = open_model("benchmark/net", settings), chain = open_pendulums(k, lean, shake);
  ENSURE_EQUAL(sr_forward(net.m, net.d, 0), 0);
  ENSURE_EQUAL(sr_forward(chain.m, chain.d, 0), 0);
  const double size = largest(k, chain.d->a);
  for (int i = 0; i < k; ++i) {
    char name[20];
    snprintf(name, sizeof name, "v%d_0", i);
    const int joint = sr_joint_find(net.m, name);
    ENSURE_NEAR(net.d->a[net.m->joint_v[joint]], chain.d->a[i], tolerance * size);
  }
  close_model(&net);
  close_model(&chain);
}

// Tolerance: rounding times the condition of the net, which grows by 100 from 10 to 20 cells.
TEST(nets_of_loops_move_as_the_chain_of_pendulums_that_they_are) {
  compare_net(3, 0.1, 0.05, 1e-11);
  compare_net(7, 0.1, 0.05, 1e-11);
  compare_net(12, 0.1, 0.05, 1e-10);
  compare_net(12, 0.5, 0.6, 1e-10);
  compare_net(9, 1.2, 0.3, 1e-10);
  compare_net(16, 0.2, 0.6, 1e-10);
}
