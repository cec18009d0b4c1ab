// Tests of src/math: packed sine and cosine, vectors, small dense systems.
#include <float.h>
#include <math.h>

#include "math/dense.h"
#include "math/inertia.h"
#include "math/sincos.h"
#include "math/space_order.h"
#include "math/spatial.h"
#include "random_tree.h"
#include "runner.h"

static const long double pi_l = 3.14159265358979323846264338327950288L;

// Largest error of srm_sincos4 on four angles, less three units in the last place.
static double sincos_error(const double x[4]) {
  _Alignas(32) double in[4], out[8];
  double worst = 0;
  for (int i = 0; i < 4; i++) in[i] = x[i];
  srm_sincos4(in, out);
  for (int i = 0; i < 4; i++) {
    const long double exact[2] = {sinl((long double)x[i]), cosl((long double)x[i])};
    for (int j = 0; j < 2; j++) {
      const long double error =
          fabsl((long double)out[4 * j + i] - exact[j]) - 3 * (long double)DBL_EPSILON * fabsl(exact[j]);
      worst = fmax(worst, (double)error);
    }
  }
  return worst;
}

TEST(packed_sine_and_cosine_are_exact_to_rounding_up_to_1e5) {
  Random r = {5};
  double worst = 0;
  for (int k = 0; k < 100000; k++) {
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = random_in(&r, -1, 1) * pow(10, random_in(&r, -6, 5));
    worst = fmax(worst, sincos_error(x));
  }
  ENSURE_SMALL(worst, 1e-16);
}

TEST(packed_sine_and_cosine_are_exact_near_multiples_of_a_quarter_turn) {
  Random r = {6};
  double worst = 0;
  for (int k = 0; k < 100000; k++) {
    double x[4];
    for (int i = 0; i < 4; i++)
      x[i] = (double)((long double)(random_below(&r, 120000) - 60000) * pi_l / 2) +
             random_in(&r, -1, 1) * pow(10, random_in(&r, -17, 0));
    worst = fmax(worst, sincos_error(x));
  }
  ENSURE_SMALL(worst, 1e-16);
}

TEST(packed_sine_and_cosine_of_huge_or_not_finite_angles_come_from_the_library) {
  _Alignas(32) const double x[4] = {1e22, -3e5, 0.5, (double)INFINITY};
  _Alignas(32) double out[8];
  srm_sincos4(x, out);
  for (int i = 0; i < 3; i++) {
    ENSURE(out[i] == sin(x[i]));
    ENSURE(out[4 + i] == cos(x[i]));
  }
  ENSURE(isnan(out[3]) && isnan(out[7]));
}

TEST(vectors_multiply_transpose_and_cross_as_on_paper) {
  const v4 a = {1, 2, 3, 0}, b = {-4, 5, 7, 0};
  const v4 c = v4_cross(a, b);
  ENSURE(c[0] == 2 * 7 - 3 * 5 && c[1] == 3 * -4 - 1 * 7 && c[2] == 1 * 5 - 2 * -4 && c[3] == 0);
  ENSURE(v4_dot(a, b) == -4 + 10 + 21);
  const m3 A = {{{1, 4, 7, 0}, {2, 5, 8, 0}, {3, 6, 10, 0}}};  // rows 1 2 3, 4 5 6, 7 8 10
  const v4 x = m3_mul(A, b);
  ENSURE(x[0] == -4 + 10 + 21 && x[1] == -16 + 25 + 42 && x[2] == -28 + 40 + 70);
  const m3 T = m3_transpose(A);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) ENSURE(T.c[i][j] == (j < 3 ? A.c[j][i] : 0));
  const v4 wd = {0.5, -1, 2, 0}, turn = srm_turn(a, wd, b), plain = v4_cross(wd, b) + v4_cross(a, v4_cross(a, b));
  for (int i = 0; i < 3; i++) ENSURE_NEAR(turn[i], plain[i], 1e-13);
}

TEST(a_quaternion_of_any_length_gives_its_rotation) {
  const double half = 0.3;  // about (1, 2, 2)/3 by 0.6
  const double q[4] = {5 * cos(half), 5 * sin(half) / 3, 10 * sin(half) / 3, 10 * sin(half) / 3};
  const m3 R = srm_quaternion_matrix(q);
  const v4 axis = {1.0 / 3, 2.0 / 3, 2.0 / 3, 0}, u = {0.2, -1, 0.7, 0};
  const v4 turned = m3_mul(R, u);
  const v4 rodrigues = u * cos(0.6) + v4_cross(axis, u) * sin(0.6) + axis * (v4_dot(axis, u) * (1 - cos(0.6)));
  for (int i = 0; i < 3; i++) ENSURE_NEAR(turned[i], rodrigues[i], 1e-15);
}

TEST(eigenvalues_of_a_symmetric_3x3_are_right) {
  double e[3];
  srm_eigen_sym3((const double[9]){3, 0, 0, 0, 1, 0, 0, 0, 2}, e);
  ENSURE(e[0] == 1 && e[1] == 2 && e[2] == 3);
  srm_eigen_sym3((const double[9]){0}, e);
  ENSURE(e[0] == 0 && e[2] == 0);
  Random r = {7};
  for (int k = 0; k < 1000; k++) {
    double q[4], lambda[3], A[9];
    for (int i = 0; i < 4; i++) q[i] = random_in(&r, -1, 1);
    lambda[0] = random_in(&r, -1, 1);
    lambda[1] = lambda[0] + (k % 3 ? random_in(&r, 0, 2) : 0);
    lambda[2] = lambda[1] + random_in(&r, 0, 1e3);
    const m3 R = srm_quaternion_matrix(q);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        A[3 * i + j] = 0;
        for (int l = 0; l < 3; l++) A[3 * i + j] += R.c[l][i] * lambda[l] * R.c[l][j];
      }
    srm_eigen_sym3(A, e);
    for (int i = 0; i < 3; i++) ENSURE_NEAR(e[i], lambda[i], 1e-12);  // 5000 units of the largest
  }
}

TEST(cholesky_and_lu_solve_random_systems) {
  enum { N = 12 };
  Random r = {8};
  double A[N * N], B[N * N], x[N], y[N], b[N];
  for (int i = 0; i < N * N; i++) B[i] = random_in(&r, -1, 1);
  for (int i = 0; i < N; i++) {
    b[i] = x[i] = y[i] = random_in(&r, -1, 1);
    for (int j = 0; j < N; j++) {
      A[i * N + j] = i == j;
      for (int k = 0; k < N; k++) A[i * N + j] += B[i * N + k] * B[j * N + k];
    }
  }
  double L[N * N], LU[N * N];
  int pivot[N];
  for (int i = 0; i < N * N; i++) L[i] = A[i], LU[i] = B[i];
  ENSURE(srm_cholesky(N, L));
  srm_cholesky_solve(N, L, x);
  ENSURE(srm_lu(N, LU, pivot));
  srm_lu_solve(N, LU, pivot, y);
  for (int i = 0; i < N; i++) {
    double rx = -b[i], ry = -b[i];
    for (int j = 0; j < N; j++) rx += A[i * N + j] * x[j], ry += B[i * N + j] * y[j];
    ENSURE_SMALL(rx, 1e-13);
    ENSURE_SMALL(ry, 1e-13);
  }
}

TEST(factorisations_refuse_what_they_cannot_factor) {
  double indefinite[4] = {1, 2, 2, 1}, singular[4] = {1, 2, 2, 4};
  int pivot[2];
  ENSURE(!srm_cholesky(2, indefinite));
  ENSURE(!srm_lu(2, singular, pivot));
}

// 1, 1, 3 has the second moments 1.5, 1.5, -0.5: without the last the moments are 1.5, 1.5, 3. Turned about two axes.
TEST(the_nearest_inertia_has_no_negative_second_moment) {
  const double c = 0.6, s = 0.8, R[9] = {c, -s * c, s * s, s, c * c, -c * s, 0, s, c};
  const double given[3] = {1, 1, 3}, nearest[3] = {1.5, 1.5, 3}, fine[3] = {1, 2, 2.5};
  double J[9] = {0}, expected[9] = {0}, out[9], good[9] = {0};
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) {
      const double axes = R[3 * (i / 3) + k] * R[3 * (i % 3) + k];
      J[i] += given[k] * axes;
      expected[i] += nearest[k] * axes;
      good[i] += fine[k] * axes;
    }
  ENSURE_NEAR(srm_nearest_inertia(J, out), sqrt(0.5), 1e-14);
  for (int i = 0; i < 9; i++) ENSURE_NEAR(out[i], expected[i], 1e-14);
  ENSURE_NEAR(srm_nearest_inertia(good, out), 0, 1e-14);
  for (int i = 0; i < 9; i++) ENSURE_NEAR(out[i], good[i], 1e-14);
}

// J = V diag(e) V^T with orthonormal axes: tensors with one, two and no axes given, equal moments, and some of every kind.
TEST(principal_axes_give_the_tensor_back) {
  const double cases[][9] = {{2, 0, 0, 0, 3, 0, 0, 0, 4},         {2, 0.5, 0, 0.5, 3, 0, 0, 0, 4},
                             {2, 0, 0.5, 0, 3, 0, 0.5, 0, 4},     {2, 0, 0, 0, 3, -1, 0, -1, 4},
                             {2, 1, 1, 1, 2, 1, 1, 1, 2},         {1, 0.3, -0.2, 0.3, -2, 0.7, -0.2, 0.7, 3},
                             {1e-9, 2e-9, 0, 2e-9, 5, 1, 0, 1, 7}};
  for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
    double V[9], e[3];
    srm_principal(cases[c], V, e);
    for (int i = 0; i < 9; i++) {
      double product = 0, tensor = 0;
      for (int k = 0; k < 3; k++) {
        product += V[3 * k + i / 3] * V[3 * k + i % 3];
        tensor += V[3 * (i / 3) + k] * e[k] * V[3 * (i % 3) + k];
      }
      ENSURE_NEAR(product, i % 4 == 0 ? 1 : 0, 1e-14);
      ENSURE_NEAR(tensor, cases[c][i], 1e-13);
    }
  }
}

// Points of a cube in a mixed order, eight to an edge: each eighth of the order is one eighth of the cube, in which the others follow likewise. The last one is not a number.
TEST(an_order_in_space_follows_halves_of_a_cube) {
  enum { EDGE = 8, ALL = EDGE * EDGE * EDGE };
  _Alignas(32) static double at[4 * (ALL + 1)];
  static int key[ALL + 1], order[ALL + 1];
  bool seen[ALL + 1] = {false};
  for (int i = 0; i < ALL; i++) {
    const int place = 37 * i % ALL, cell[3] = {place % EDGE, place / EDGE % EDGE, place / (EDGE * EDGE)};
    for (int k = 0; k < 3; k++) at[4 * i + k] = -3 + 0.25 * cell[k];
  }
  srm_space_order(ALL, at, key, order);
  for (int part = ALL / 8; part >= 8; part /= 8) {
    for (int first = 0; first < ALL; first += part) {
      double low[3], high[3], edge = 0;
      for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
      for (int i = first; i < first + part; i++) {
        for (int k = 0; k < 3; k++) {
          low[k] = fmin(low[k], at[4 * order[i] + k]);
          high[k] = fmax(high[k], at[4 * order[i] + k]);
        }
      }
      for (int k = 0; k < 3; k++) edge = fmax(edge, high[k] - low[k]);
      ENSURE_NEAR(edge, 0.25 * (cbrt(part) - 1), 1e-12);
    }
  }
  for (int k = 0; k < 3; k++) at[4 * ALL + k] = NAN;
  srm_space_order(ALL + 1, at, key, order);
  for (int i = 0; i <= ALL; i++) seen[order[i]] = true;
  for (int i = 0; i <= ALL; i++) ENSURE(seen[i]);
}
