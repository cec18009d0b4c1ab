// Modes against closed forms: chains of masses, pendulums, tops, bicycle; the linear equations against the motion itself; what is refused.
#include <complex.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linear_basis.h"
#include "loading.h"
#include "math/deflate.h"
#include "math/eigen.h"
#include "runner.h"
#include "scarce.h"

static const double pi = 3.14159265358979323846;
static const double g = 9.81;

typedef struct Found {
  srLinear* l;
  srModes* m;
} Found;

static Found find(const srModel* m, srData* d) {
  srMessages* messages = sr_messages_create();
  Found f = {0};
  const srStatus status = sr_linearize(m, d, messages, &f.l);
  if (status == SR_OK) ENSURE_EQUAL(sr_modes_create(f.l, messages, &f.m), SR_OK);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return f;
}

static void drop(Found* f) {
  sr_modes_destroy(f->m);
  sr_linear_destroy(f->l);
}

// Distance of the nearest eigenvalue.
static double away(const srModes* m, double complex lambda) {
  double best = (double)INFINITY;
  for (int i = 0; i < m->n; i++) best = fmin(best, cabs(m->mode[i].re + m->mode[i].im * (double complex)I - lambda));
  return best;
}

// The same model in another formulation, at its initial state.
static Found find_as(const char* text, srFormulation formulation, srModel** made, srData** data) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srData* d = sr_data_create(m);
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(m, d, messages, &assembly), SR_OK);
  *made = m;
  *data = d;
  if (formulation != SR_FORMULATION_RELATIVE) {
    ENSURE_EQUAL(sr_formulate(spec, m, d, formulation, messages, made, data), SR_OK);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  sr_messages_destroy(messages);
  srs_destroy(spec);
  return find(*made, *data);
}

// sr_linearize must refuse, with this in its message.
static void refuse(const srModel* m, srData* d, const char* part) {
  srMessages* messages = sr_messages_create();
  srLinear* l = NULL;
  char line[600] = "";
  ENSURE_EQUAL(sr_linearize(m, d, messages, &l), SR_INPUT);
  ENSURE(l == NULL);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  sr_message_format(sr_messages_get(messages, 0), line, sizeof line);
  if (!strstr(line, part)) printf("%s\n", line);
  ENSURE(strstr(line, part) != NULL);
  sr_messages_destroy(messages);
}

// (lambda^2 M + lambda C + K) x = 0 for the shapes of a tree whose coordinates are all independent.
static void check_second_order(const Found* f) {
  const int n = f->l->npos;
  ENSURE(f->l->M != NULL && n == f->l->m->njv);
  for (int k = f->m->zeros; k < f->m->n; k++) {
    const srMode* mode = &f->m->mode[k];
    const double complex s = mode->re + mode->im * (double complex)I;
    for (int i = 0; i < n; i++) {
      double complex sum = 0;
      double size = 1e-300;
      for (int j = 0; j < n; j++) {
        const double complex x = mode->shape[j].modulus * cexp(mode->shape[j].phase * (double complex)I);
        const int at = i * n + j;
        sum += (s * s * f->l->M[at] + s * f->l->C[at] + f->l->K[at]) * x;
        size += cabs(s * s * f->l->M[at]) + cabs(s * f->l->C[at]) + fabs(f->l->K[at]);
      }
      ENSURE_SMALL(cabs(sum) / size, 1e-8);
    }
  }
}

// ---- matrices ---------------------------------------------------------------------------------------------------------

static double number(unsigned* state) {
  *state = 1664525u * *state + 1013904223u;
  return (double)(*state >> 8) / 8388608.0 - 1.0;
}

TEST(modes_schur_form_and_eigenvectors_satisfy_their_equations) {
  enum { N = 23 };
  static double A[N * N], T[N * N], Q[N * N], re[N], im[N];
  static double complex x[N * N], y[N * N], work[N];
  unsigned state = 7;
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < N * N; i++) T[i] = A[i] = number(&state);
    ENSURE(srm_schur(N, T, Q, re, im));
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {  // A Q = Q T, Q^T Q = 1
        double left = 0, right = 0, unit = 0;
        for (int k = 0; k < N; k++) {
          left += A[i * N + k] * Q[k * N + j];
          right += Q[i * N + k] * T[k * N + j];
          unit += Q[k * N + i] * Q[k * N + j];
        }
        ENSURE_NEAR(left, right, 1e-12);
        ENSURE_NEAR(unit, i == j, 1e-13);
      }
    }
    srm_schur_vectors(N, T, re, im, x, y, work);
    for (int k = 0; k < N; k++) {
      const double complex lambda = re[k] + im[k] * (double complex)I;
      for (int i = 0; i < N; i++) {
        double complex right = -lambda * x[i * N + k], left = -lambda * conj(y[i * N + k]);
        for (int j = 0; j < N; j++) {
          right += T[i * N + j] * x[j * N + k];
          left += conj(y[j * N + k]) * T[j * N + i];
        }
        ENSURE_SMALL(cabs(right), 1e-12);
        ENSURE_SMALL(cabs(left), 1e-12);
      }
    }
  }
}

TEST(modes_rows_of_constraints_are_redundant_as_for_the_rank) {
  const double G[12] = {2, 0, 0, 1, 3e-6, 0, 0, 5, 0, 1, 1, 0}, r[4] = {4, 9, 10, 9};
  double work[4], x[3], *Z;
  srPool pool;
  sr_pool_init(&pool);
  srRowBasis b = sr_row_basis(&pool, 3);
  sr_row_basis_add(&b, G, 4, 0, 4);
  ENSURE_EQUAL(b.n, 2);
  ENSURE(b.row[0] == 0 && b.row[1] == 2);
  sr_row_basis_solve(&b, r, work, x);
  ENSURE_NEAR(x[0], 2, 1e-15);
  ENSURE_NEAR(x[1], 2, 1e-15);
  ENSURE(x[2] == 0);
  ENSURE_EQUAL(sr_null_basis(&pool, &b, &Z), 1);
  ENSURE_NEAR(fabs(Z[2]), 1, 1e-15);
  sr_pool_free(&pool);
}

// X diag(Jordan blocks of 0 with 3, 2, 1; 4, -5) X^-1 with X a product of reflections and shears.
TEST(modes_zeros_are_found_by_rank_with_the_sizes_of_their_blocks) {
  enum { N = 8 };
  double A[N * N] = {0}, Q[N * N], work[N * N + 3 * N];
  int level[N];
  A[0 * N + 1] = A[1 * N + 2] = 2;
  A[3 * N + 4] = 0.5;
  A[6 * N + 6] = 4;
  A[7 * N + 7] = -5;
  unsigned state = 3;
  for (int round = 0; round < 40; round++) {  // A <- E A E^-1, E adds f times row i to row j
    const int i = round % N, j = (3 * round + 1) % N;
    const double f = number(&state);
    if (i == j) continue;
    for (int k = 0; k < N; k++) A[j * N + k] += f * A[i * N + k];
    for (int k = 0; k < N; k++) A[k * N + i] -= f * A[k * N + j];
  }
  ENSURE_EQUAL(srm_deflate_zeros(N, A, Q, level, 1e-13, work), 2);
  int count[4] = {0};
  for (int i = 0; i < N; i++) count[level[i]]++;
  ENSURE_EQUAL(count[1], 3);  // blocks of 1 and more
  ENSURE_EQUAL(count[2], 2);
  ENSURE_EQUAL(count[3], 1);
  ENSURE_NEAR(A[0] + A[N + 1], -1, 1e-10);                // trace
  ENSURE_NEAR(A[0] * A[N + 1] - A[1] * A[N], -20, 1e-9);  // determinant
}

// ---- equilibria -------------------------------------------------------------------------------------------------------

// n masses in a row between two walls: omega_k = 2 sqrt(k/m) sin(k pi/(2 (n+1))), shape sin(j k pi/(n+1)).
static void check_chain(int n) {
  const double k = 300, mass = 0.7;
  char* text = malloc(400 * (size_t)n + 1000);
  size_t length = 0;
  length += (size_t)sprintf(text + length, "<sarrus version='1' name='chain'><option gravity='0 0 0'/>\n");
  for (int i = 1; i <= n; i++)
    length += (size_t)sprintf(
        text + length,
        "<body name='b%d'><joint name='x%d' type='prismatic' axis='1 0 0'/><inertial mass='%g'/></body>\n", i, i, mass);
  for (int i = 1; i <= n; i++) {
    if (i == 1 || i == n)
      length += (size_t)sprintf(text + length, "<torque joint='x%d' law='-%g*q(x%d)'/>\n", i,
                                i == 1 && n == 1 ? 2 * k : k, i);
    if (i < n)
      length += (size_t)sprintf(
          text + length,
          "<torque joint='x%d' law='-%g*(q(x%d)-q(x%d))'/><torque joint='x%d' law='%g*(q(x%d)-q(x%d))'/>\n", i, k, i,
          i + 1, i + 1, k, i, i + 1);
  }
  sprintf(text + length, "</sarrus>");
  Loaded x = open_text(text);
  Found f = find(x.m, x.d);
  ENSURE_EQUAL(f.m->n, 2 * n);
  ENSURE_EQUAL(f.m->zeros, 0);
  for (int i = 1; i <= n; i++) {
    const double omega = 2 * sqrt(k / mass) * sin(i * pi / (2.0 * (n + 1)));
    double most = 0;
    for (int j = 1; j <= n; j++) most = fmax(most, fabs(sin(j * i * pi / (n + 1))));
    for (int sign = 0; sign < 2; sign++) {
      const srMode* mode = &f.m->mode[2 * (i - 1) + sign];
      ENSURE_NEAR(mode->im, sign ? omega : -omega, 1e-11 * omega * n);
      ENSURE_SMALL(mode->re, 1e-11 * omega * n);
      ENSURE_NEAR(mode->frequency, omega / (2 * pi), 1e-11 * omega * n);
      ENSURE_SMALL(mode->damping, 1e-11 * n);
      double first = 0;  // sign of the entry that has phase 0
      for (int j = 1; j <= n && first == 0; j++) {
        if (mode->shape[j - 1].modulus == 1) first = sin(j * i * pi / (n + 1)) / most;
      }
      for (int j = 1; j <= n; j++) {
        const double expected = sin(j * i * pi / (n + 1)) / most * (first < 0 ? -1 : 1);
        ENSURE_NEAR(mode->shape[j - 1].modulus * cos(mode->shape[j - 1].phase), expected, 1e-8);
      }
    }
  }
  drop(&f);
  close_model(&x);
  free(text);
}

TEST(modes_of_a_chain_of_1_mass) { check_chain(1); }
TEST(modes_of_a_chain_of_7_masses) { check_chain(7); }
TEST(modes_of_a_chain_of_100_masses) { check_chain(100); }

TEST(modes_of_the_double_pendulum) {
  Loaded x = open_model("double-pendulum", "angle1=0 angle2=0");
  Found f = find(x.m, x.d);
  for (int sign = -1; sign < 2; sign += 2) {
    const double omega = sqrt((3 + sign * 6 / sqrt(7)) * g);
    ENSURE_SMALL(away(f.m, omega * (double complex)I), 1e-12 * omega);
    ENSURE_SMALL(away(f.m, -omega * (double complex)I), 1e-12 * omega);
  }
  // M11 = l^2/3 + (l^2 + l l + l^2/3), M12 = l l/2 + l^2/3, M22 = l^2/3; K of heights, with relative angles.
  const double M[4] = {8.0 / 3, 5.0 / 6, 5.0 / 6, 1.0 / 3}, K[4] = {2 * g, g / 2, g / 2, g / 2};
  ENSURE(f.l->M != NULL);
  for (int i = 0; i < 4; i++) {
    ENSURE_NEAR(f.l->M[i], M[i], 1e-13);
    ENSURE_NEAR(f.l->K[i], K[i], 1e-12);
    ENSURE_EQUAL(f.l->C[i] == 0, 1);
  }
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_MARGINAL);
  drop(&f);
  close_model(&x);
}

TEST(modes_of_the_inverted_pendulum_are_a_real_pair) {
  Loaded x = open_text(
      "<sarrus version='1' name='p'><option gravity='0 0 -9.81'/><body name='b'><joint name='q' type='revolute' "
      "axis='0 1 0' "
      "q='pi'/><inertial mass='2' com='0 0 -0.7' inertia='0.2 0.3 0.1'/></body></sarrus>");
  Found f = find(x.m, x.d);
  const double lambda = sqrt(2 * g * 0.7 / (0.3 + 2 * 0.49));
  ENSURE_NEAR(f.m->mode[0].re, -lambda, 1e-13 * lambda);
  ENSURE_NEAR(f.m->mode[1].re, lambda, 1e-13 * lambda);
  ENSURE(f.m->mode[0].im == 0 && f.m->mode[1].im == 0);
  ENSURE(f.m->mode[0].damping == 1 && f.m->mode[1].damping == -1);
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_UNSTABLE);
  drop(&f);
  close_model(&x);
}

// m1 x1" = -k (x1 - x2) - c (x1' - x2'),   m2 x2" = -(same) - kt x2: the characteristic polynomial vanishes.
TEST(modes_of_a_quarter_car) {
  Loaded x = open_text(
      "<sarrus version='1' name='quarter'><option gravity='0 0 0'/>"
      "<body name='wheel'><joint name='x2' type='prismatic' axis='0 0 1' stiffness='2e5'/><inertial mass='40'/></body>"
      "<body name='car' parent='wheel'><joint name='x1' type='prismatic' axis='0 0 1' stiffness='2e4' damping='1500'/>"
      "<inertial mass='400'/></body></sarrus>");
  Found f = find(x.m, x.d);
  const double m1 = 400, m2 = 40, k = 2e4, c = 1500, kt = 2e5;
  ENSURE_EQUAL(f.m->n, 4);
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_STABLE);
  double complex product = 1;
  for (int i = 0; i < 4; i++) {
    const double complex s = f.m->mode[i].re + f.m->mode[i].im * (double complex)I;
    const double complex p = (m1 * s * s + c * s + k) * (m2 * s * s + c * s + k + kt) - (c * s + k) * (c * s + k);
    const double size = pow(cabs(m1 * s * s) + cabs(c * s) + k, 2) + cabs(m1 * s * s + c * s + k) * kt;
    ENSURE_SMALL(cabs(p) / size, 1e-12);
    ENSURE_NEAR(f.m->mode[i].damping, -creal(s) / cabs(s), 1e-15);
    product *= s;
  }
  ENSURE_NEAR(creal(product), k * kt / (m1 * m2), 1e-9 * k * kt / (m1 * m2));  // each root once
  drop(&f);
  close_model(&x);
}

// m x" + c x' + k x = 0 with c^2 = 4 k m: one eigenvalue twice, one eigenvector.
TEST(modes_report_a_defective_eigenvalue) {
  Loaded x = open_text(
      "<sarrus version='1' name='critical'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' stiffness='9' "
      "damping='6'/>"
      "<inertial mass='1'/></body></sarrus>");
  Found f = find(x.m, x.d);
  for (int i = 0; i < 2; i++) {
    ENSURE_NEAR(f.m->mode[i].re, -3, 1e-7);  // rounding: the root of eps
    ENSURE_EQUAL(f.m->mode[i].multiplicity, 2);
    ENSURE_EQUAL(f.m->mode[i].vectors, 1);
    ENSURE(isinf(f.m->mode[i].condition));
  }
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_STABLE);
  drop(&f);
  close_model(&x);
}

// Two equal oscillators: the eigenvalue twice, two eigenvectors.
TEST(modes_report_a_multiple_eigenvalue_that_is_not_defective) {
  Loaded x = open_text(
      "<sarrus version='1' name='two'><option gravity='0 0 0'/>"
      "<body name='a'><joint name='x' type='prismatic' axis='1 0 0' stiffness='9'/><inertial mass='1'/></body>"
      "<body name='b'><joint name='y' type='prismatic' axis='1 0 0' stiffness='9'/><inertial "
      "mass='1'/></body></sarrus>");
  Found f = find(x.m, x.d);
  for (int i = 0; i < 4; i++) {
    ENSURE_EQUAL(f.m->mode[i].multiplicity, 2);
    ENSURE_EQUAL(f.m->mode[i].vectors, 2);
  }
  drop(&f);
  close_model(&x);
}

// Two masses and a spring, free: translation twice 0 with one shape, one oscillation of the reduced mass.
TEST(modes_count_rigid_modes) {
  Loaded x = open_text(
      "<sarrus version='1' name='free'><option gravity='0 0 0'/>"
      "<body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='3'/></body>"
      "<body name='b' parent='a'><joint name='y' type='prismatic' axis='1 0 0' stiffness='50'/><inertial "
      "mass='2'/></body></sarrus>");
  Found f = find(x.m, x.d);
  const double omega = sqrt(50 / (3.0 * 2 / 5));
  ENSURE_EQUAL(f.m->zeros, 2);
  ENSURE_EQUAL(f.m->rigid, 1);
  ENSURE(f.m->mode[0].re == 0 && f.m->mode[0].im == 0 && isnan(f.m->mode[0].damping));
  for (int i = 0; i < 2; i++) {
    ENSURE_NEAR(f.m->mode[i].shape[0].modulus, 1, 1e-14);
    ENSURE_SMALL(f.m->mode[i].shape[1].modulus, 1e-14);
  }
  ENSURE_NEAR(f.m->mode[3].im, omega, 1e-13 * omega);
  ENSURE_NEAR(f.m->mode[3].shape[1].modulus / f.m->mode[3].shape[0].modulus, 2.5, 1e-12);  // x = -2/5 of the stretch
  drop(&f);
  close_model(&x);
}

// ---- states, nonholonomic equations -------------------------------------------------------------------------------------

// L i' = -R i - kt w,  J w' = kt i - d w: a quadratic, and 0 for the angle.
TEST(modes_of_a_motor_with_a_state_for_the_current) {
  Loaded x = open_model("dc-motor", "u=0");
  Found f = find(x.m, x.d);
  const double R = 1.2, L = 0.01, kt = 0.08, J = 0.0021, d = 1e-4;
  const double b = R / L + d / J, c = (R * d + kt * kt) / (L * J), root = sqrt(b * b / 4 - c);
  ENSURE_EQUAL(f.m->n, 3);
  ENSURE_EQUAL(f.m->zeros, 1);
  ENSURE_NEAR(f.m->mode[1].re, -b / 2 + root, 1e-11);
  ENSURE_NEAR(f.m->mode[2].re, -b / 2 - root, 1e-11);
  ENSURE(f.l->M == NULL);
  // i = (J s + d) w/kt = (J s + d) s angle/kt
  const double s = f.m->mode[1].re;
  ENSURE_NEAR(f.m->mode[1].state[0].modulus, fabs((J * s + d) * s / kt), 1e-11);
  ENSURE_NEAR(cos(f.m->mode[1].state[0].phase), (J * s + d) * s > 0 ? 1 : -1, 1e-12);
  drop(&f);
  close_model(&x);
}

// v(a) = 3 q(b): the velocity of one coordinate follows the position of another.
TEST(modes_with_a_velocity_equation_that_depends_on_position) {
  Loaded x = open_text(
      "<sarrus version='1' name='follow'><option gravity='0 0 0'/>"
      "<body name='a'><joint name='a' type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"
      "<body name='b'><joint name='b' type='prismatic' axis='1 0 0' stiffness='18'/><inertial mass='2'/></body>"
      "<constraint name='follow' velocity='v(a) - 3*q(b)'/></sarrus>");
  Found f = find(x.m, x.d);
  ENSURE_EQUAL(f.l->npos, 2);
  ENSURE_EQUAL(f.l->nvel, 1);
  ENSURE_EQUAL(f.m->zeros, 1);
  ENSURE_NEAR(f.m->mode[2].im, 3, 1e-13);
  // a = 3 b/(3 i): modulus 1, and 90 degrees behind
  ENSURE_NEAR(f.m->mode[2].shape[0].modulus, 1, 1e-13);
  ENSURE_NEAR(f.m->mode[2].shape[1].phase - f.m->mode[2].shape[0].phase, pi / 2, 1e-12);
  drop(&f);
  close_model(&x);
}

// ---- steady motions ---------------------------------------------------------------------------------------------------------

// An upright top: A theta" - i C s theta' - m g l theta = 0 for the lean theta = x + i y in fixed axes; in its own axes lambda - i s.
TEST(modes_of_the_sleeping_top) {
  const double m = 0.5, l = 0.1, C = 6e-4, A = 4e-4 + m * l * l, critical = 2 * sqrt(A * m * g * l) / C;
  for (int k = 0; k < 2; k++) {
    const double s = critical * (k ? 1.01 : 0.99);
    char text[400];
    snprintf(text, sizeof text,
             "<sarrus version='1' name='top'><option gravity='0 0 -9.81'/><body name='top'><joint name='top' "
             "type='ball' v='0 0 %.17g'/>"
             "<inertial mass='0.5' com='0 0 0.1' inertia='4e-4 4e-4 6e-4'/></body></sarrus>",
             s);
    Loaded x = open_text(text);
    Found f = find(x.m, x.d);
    ENSURE_EQUAL(f.m->zeros, 2);
    const double complex i = (double complex)I, root = csqrt(4 * A * m * g * l - C * C * s * s);
    for (int sign = -1; sign < 2; sign += 2) {
      const double complex lambda = (i * C * s + sign * root) / (2 * A) - i * s;
      ENSURE_SMALL(away(f.m, lambda), 1e-8 * s);  // near the critical speed two are close to each other
      ENSURE_SMALL(away(f.m, conj(lambda)), 1e-8 * s);
    }
    ENSURE_EQUAL(sr_modes_stability(f.m), k ? SR_MARGINAL : SR_UNSTABLE);
    check_second_order(&f);
    drop(&f);
    close_model(&x);
  }
}

// A body that moves with u in its own axes and is turned by xi leaves its path with -u x xi.
TEST(modes_of_a_free_body_that_moves_straight_ahead) {
  Loaded x = open_text(
      "<sarrus version='1' name='ahead'><option gravity='0 0 0'/><body name='b'><joint name='b' type='free' v='0 0 0 3 "
      "5 7'/>"
      "<inertial mass='3' inertia='2 3 4'/></body></sarrus>");
  Found f = find(x.m, x.d);
  const double u[3] = {3, 5, 7}, cross[9] = {0, u[2], -u[1], -u[2], 0, u[0], u[1], -u[0], 0};  // -u x
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      ENSURE(f.l->A[(3 + i) * 12 + j] == cross[3 * i + j]);
      ENSURE(f.l->A[i * 12 + j] == 0);
    }
    ENSURE(f.l->A[(3 + i) * 12 + 9 + i] == 1);
  }
  ENSURE_EQUAL(f.m->zeros, 12);
  drop(&f);
  close_model(&x);
}

// Two arms on a free hub that spins and moves along its axis: A, velocities and forces of both formulations are the same.
TEST(modes_of_a_spinning_hub_with_arms_are_the_same_in_both_formulations) {
  static const char text[] =
      "<sarrus version='1' name='hub'><option gravity='0 0 0'/>"
      "<body name='hub'><joint name='hub' type='free' v='0 0 2 0 0 1'/><inertial mass='3' inertia='2 3 4'/></body>"
      "<body name='right' parent='hub'><joint name='right' type='revolute' axis='0 0 1' at='0.3 0 0' stiffness='3'/>"
      "<inertial mass='1' com='0.4 0 0' inertia='0.1 0.1 0.1'/></body>"
      "<body name='left' parent='hub'><joint name='left' type='ball' at='-0.3 0 0'/>"
      "<inertial mass='1' com='-0.4 0 0' inertia='0.1 0.1 0.1'/></body></sarrus>";
  Found f[2];
  srModel* m[2] = {NULL, NULL};
  srData* d[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) f[k] = find_as(text, k ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE, &m[k], &d[k]);
  ENSURE_EQUAL(f[0].l->nx, 20);
  ENSURE_EQUAL(f[1].l->nx, 20);
  for (int i = 0; i < 400; i++) ENSURE_NEAR(f[0].l->A[i], f[1].l->A[i], 1e-11);
  for (int i = 0; i < 200; i++) {
    ENSURE_NEAR(f[0].l->shape[i], f[1].l->shape[i], 1e-12);
    ENSURE_NEAR(f[0].l->rate[i], f[1].l->rate[i], 1e-12);
    ENSURE_NEAR(f[0].l->force[i], f[1].l->force[i], 1e-11);
  }
  for (int k = 0; k < 2; k++) {
    drop(&f[k]);
    sr_data_destroy(d[k]);
    sr_model_destroy(m[k]);
  }
}

// Spin W about the axis of the middle inertia: lambda^2 = W^2 (I3 - I2)(I2 - I1)/(I1 I3); displacements in body axes turn with -W.
TEST(modes_of_a_free_body_that_spins) {
  Loaded x = open_text(
      "<sarrus version='1' name='spin'><option gravity='0 0 0'/><body name='b'><joint name='b' type='free' v='0 2 0 0 "
      "0 0'/>"
      "<inertial mass='3' inertia='2 3 4'/></body></sarrus>");
  Found f = find(x.m, x.d);
  const double lambda = 2 * sqrt((4 - 3.0) * (3 - 2.0) / (2 * 4.0));
  ENSURE_EQUAL(f.m->n, 12);
  ENSURE_EQUAL(f.m->zeros, 4);
  ENSURE_SMALL(away(f.m, lambda), 1e-12);
  ENSURE_SMALL(away(f.m, -lambda), 1e-12);
  int turning = 0;
  for (int i = 0; i < 12; i++) turning += hypot(f.m->mode[i].re, fabs(f.m->mode[i].im) - 2) < 1e-6;
  ENSURE_EQUAL(turning, 6);
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_UNSTABLE);
  drop(&f);
  close_model(&x);
}

static const char rotating[] =
    "<sarrus version='1' name='governor'><option gravity='0 0 -9.81'/>"
    "<body name='shaft'><joint name='turn' type='revolute' axis='0 0 1' v='%.17g'/><inertial mass='1' inertia='1 1 "
    "1'/></body>"
    "<body name='arm' parent='shaft'><joint name='swing' type='revolute' axis='0 -1 0' q='%.17g'/>"
    "<inertial mass='1.5' com='0 0 -0.4' inertia='1e-12 1e-12 0'/></body>"
    "<driver joint='turn' motion='%.17g*t'/></sarrus>";

// A pendulum on a shaft that turns with W: lambda^2 = W^2 - g/l hanging; -(W sin a)^2 at cos a = g/(l W^2).
TEST(modes_of_the_rotating_pendulum_exchange_stability_at_the_critical_speed) {
  const double l = 0.4, critical = sqrt(g / l);
  for (int k = 0; k < 2; k++) {
    const double W = critical * (k ? 1.2 : 0.9);
    char text[700];
    snprintf(text, sizeof text, rotating, W, 0.0, W);
    for (int absolute = 0; absolute < 2; absolute++) {
      srModel* m = NULL;
      srData* d = NULL;
      Found f = find_as(text, absolute ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE, &m, &d);
      ENSURE_EQUAL(f.m->n, 2);
      ENSURE_SMALL(away(f.m, csqrt(W * W - g / l)), 1e-10);
      ENSURE_SMALL(away(f.m, -csqrt(W * W - g / l)), 1e-10);
      ENSURE_EQUAL(sr_modes_stability(f.m), k ? SR_UNSTABLE : SR_MARGINAL);
      drop(&f);
      if (k) {
        sr_data_destroy(d);
        sr_model_destroy(m);
        const double a = acos(g / (l * W * W));
        snprintf(text, sizeof text, rotating, W, a, W);
        f = find_as(text, absolute ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE, &m, &d);
        ENSURE_SMALL(away(f.m, W * sin(a) * (double complex)I), 1e-10);
        ENSURE_EQUAL(sr_modes_stability(f.m), SR_MARGINAL);
        drop(&f);
        snprintf(text, sizeof text, rotating, W, 0.0, W);
      }
      sr_data_destroy(d);
      sr_model_destroy(m);
    }
  }
}

// Meijaard et al. (2007), appendix A: det(M s^2 + v C1 s + g K0 + v^2 K2) = 0 in lean and steer.
static double complex bicycle_polynomial(double v, double complex s, double* size) {
  static const double M[4] = {80.81722, 2.319413322087091, 2.319413322087091, 0.29784188199685546};
  static const double C1[4] = {0, 33.86641391492495, -0.8503564145697846, 1.6854039739755964};
  static const double K0[4] = {-80.95, -2.5995168524987164, -2.5995168524987164, -0.8032948845861769};
  static const double K2[4] = {0, 76.59734589573222, 0, 2.6543152379460406};
  double complex a[4];
  for (int i = 0; i < 4; i++) a[i] = M[i] * s * s + v * C1[i] * s + g * K0[i] + v * v * K2[i];
  *size = cabs(a[0] * a[3]) + cabs(a[1] * a[2]);
  return a[0] * a[3] - a[1] * a[2];
}

// The root next to s, by Newton with a difference.
static double complex bicycle_root(double v, double complex s) {
  double size;
  for (int k = 0; k < 20; k++) {
    const double complex h = 1e-6, p = bicycle_polynomial(v, s, &size);
    s -= p / ((bicycle_polynomial(v, s + h, &size) - bicycle_polynomial(v, s - h, &size)) / (2 * h));
  }
  return s;
}

TEST(modes_of_the_bicycle) {
  for (int v = 0; v <= 10; v++) {
    char setting[32];
    snprintf(setting, sizeof setting, "speed=%d", v);
    Loaded x = open_model("benchmark/bicycle", setting);
    Found f = find(x.m, x.d);
    ENSURE_EQUAL(f.m->n, 10);
    ENSURE_EQUAL(f.m->zeros, 6);
    double complex sum = 0;
    for (int i = 6; i < 10; i++) {
      const double complex s = f.m->mode[i].re + f.m->mode[i].im * (double complex)I;
      ENSURE_SMALL(cabs(bicycle_root(v, s) - s), 1e-8);
      sum += s;
    }
    // Each root once: their sum is -trace(M^-1 v C1).
    const double det = 80.81722 * 0.29784188199685546 - 2.319413322087091 * 2.319413322087091;
    const double trace = (2.319413322087091 * 0.8503564145697846 + 80.81722 * 1.6854039739755964 -
                          2.319413322087091 * 33.86641391492495) *
                         v / det;
    ENSURE_NEAR(creal(sum), -trace, 1e-8);
    drop(&f);
    close_model(&x);
  }
}

// Largest real part of the weave (oscillations) or of the capsize mode (the real one next to 0).
static double bicycle_growth(double speed, bool weave) {
  char setting[64];
  snprintf(setting, sizeof setting, "speed=%.17g", speed);
  Loaded x = open_model("benchmark/bicycle", setting);
  Found f = find(x.m, x.d);
  double out = -1e9;
  for (int i = f.m->zeros; i < f.m->n; i++) {
    if ((f.m->mode[i].im != 0) == weave) out = fmax(out, f.m->mode[i].re);
  }
  drop(&f);
  close_model(&x);
  return out;
}

TEST(modes_of_the_bicycle_change_stability_at_the_published_speeds) {
  ENSURE(bicycle_growth(4.2915, true) > 0 && bicycle_growth(4.2925, true) < 0);
  ENSURE(bicycle_growth(6.0235, false) < 0 && bicycle_growth(6.0245, false) > 0);
}

// ---- loops ------------------------------------------------------------------------------------------------------------------

// A bar of mass m on two light cranks of length l that stay parallel swings as a point: omega^2 = g/l. In space its loop has redundant equations.
static const char parallelogram[] =
    "<sarrus version='1' name='swing'><option gravity='0 0 -9.81'/>"
    "<ground><point name='hook' at='0.9 0 0'/></ground>"
    "<body name='left'><joint name='left' type='revolute' axis='0 1 0'/><inertial mass='1e-6' com='0 0 -0.25' "
    "inertia='1e-9 1e-9 1e-9'/></body>"
    "<body name='bar' parent='left'><joint name='bar' type='revolute' axis='0 1 0' at='0 0 -0.5'/>"
    "<inertial mass='4' com='0.45 0 0' inertia='0.3 0.3 0.3'/></body>"
    "<body name='right' parent='bar'><joint name='right' type='revolute' axis='0 1 0' at='0.9 0 0'/>"
    "<inertial mass='1e-6' com='0 0 0.25' inertia='1e-9 1e-9 1e-9'/><point name='top' at='0 0 0.5'/></body>"
    "<closure name='pin' type='revolute' axis='0 1 0' a='right/top' b='ground/hook'/>"
    "<torque joint='left' law='-0.3*v(left)'/></sarrus>";

TEST(modes_of_a_parallelogram_are_those_of_a_pendulum_in_relative_and_absolute_coordinates) {
  const double J = 4 * 0.25, k = 4 * g * 0.5, c = 0.3, root = sqrt(k / J - c * c / (4 * J * J));
  double A[2][4];
  for (int absolute = 0; absolute < 2; absolute++) {
    srModel* m = NULL;
    srData* d = NULL;
    Found f = find_as(parallelogram, absolute ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE, &m, &d);
    ENSURE_EQUAL(f.m->n, 2);
    ENSURE_NEAR(f.m->mode[1].im, root, 3e-6);  // the cranks are light, not without mass
    ENSURE_NEAR(f.m->mode[1].re, -c / (2 * J), 1e-6);
    for (int i = 0; i < 3; i++) ENSURE_NEAR(f.m->mode[1].shape[i].modulus, 1, 1e-12);
    ENSURE_NEAR(f.m->mode[1].shape[1].phase, pi, 1e-10);
    for (int i = 0; i < 4; i++) A[absolute][i] = f.l->A[i];
    drop(&f);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  for (int i = 0; i < 4; i++) ENSURE_NEAR(A[0][i], A[1][i], 1e-9);
}

// exp(A t) x by its series in short steps.
static void propagate(const srLinear* l, double t, double* x) {
  const int n = l->nx, steps = 2000;
  double *term = calloc((size_t)n, sizeof *term), *next = calloc((size_t)n, sizeof *next);
  for (int step = 0; step < steps; step++) {
    memcpy(term, x, (size_t)n * sizeof *x);
    for (int order = 1; order < 12; order++) {
      for (int i = 0; i < n; i++) {
        next[i] = 0;
        for (int j = 0; j < n; j++) next[i] += l->A[i * n + j] * term[j] * t / steps / order;
      }
      memcpy(term, next, (size_t)n * sizeof *term);
      for (int i = 0; i < n; i++) x[i] += term[i];
    }
  }
  free(term);
  free(next);
}

// Where the state x of the linear equations, as a displacement from q, has moved to after a time t: difference of the positions.
static void moved_by_run(Loaded* x, const srLinear* l, const double* q, const double* state, double t, double* out) {
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x->m);
  srAssembly assembly;
  double xi[16] = {0};
  for (int i = 0; i < x->m->nv; i++) {
    for (int j = 0; j < l->npos; j++) xi[i] += l->shape[i * l->nx + j] * state[j];
    x->d->v[i] = 0;
  }
  sr_retract(x->m, q, xi, x->d->q);
  x->d->t = 0;
  options.method = "radau5";
  options.rtol = options.atol = 1e-13;
  options.t_end = t;
  ENSURE_EQUAL(sr_assemble(x->m, x->d, messages, &assembly), SR_OK);
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, messages, &x->result), SR_OK);
  sr_difference(x->m, q, x->d->q, out);
  sr_messages_destroy(messages);
}

// The motion after a small push, there and back, against the linear one: a suspension with loops, at rest where a long run has left it.
TEST(modes_of_the_suspension_agree_with_the_motion) {
  Loaded x = open_model("mechanisms/five-rod-suspension", "");
  double q[16], none[16], plus[16], minus[16], state[4] = {1e-5, -2e-5, 0, 0};
  srMessages* messages = sr_messages_create();
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, messages, &assembly), SR_OK);
  sr_messages_destroy(messages);
  memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
  moved_by_run(&x, &(srLinear){0}, q, NULL, 40, none);
  for (int i = 0; i < x.m->nv; i++) x.d->v[i] = 0;
  memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
  Found f = find(x.m, x.d);
  ENSURE_EQUAL(f.l->npos, 2);
  ENSURE_EQUAL(sr_modes_stability(f.m), SR_STABLE);
  const double t = 0.4, back[2] = {-state[0], -state[1]};
  moved_by_run(&x, f.l, q, state, t, plus);
  moved_by_run(&x, f.l, q, back, t, minus);
  propagate(f.l, t, state);
  for (int i = 0; i < x.m->nv; i++) {
    const double linear = f.l->shape[i * 4] * state[0] + f.l->shape[i * 4 + 1] * state[1];
    ENSURE_NEAR((plus[i] - minus[i]) / 2, linear, 1e-11);
  }
  drop(&f);
  close_model(&x);
}

// ---- inputs and outputs -------------------------------------------------------------------------------------------------------

static double complex gain_of(const srLinear* l, int input, const double* C, double omega) {
  double B[16], out[2];
  for (int i = 0; i < l->nx; i++) B[i] = l->force[i * l->m->njv + input];
  ENSURE_EQUAL(sr_frequency_response(l, 1, B, 1, C, omega, out), SR_OK);
  return out[0] + out[1] * (double complex)I;
}

// A force on the wheel of a quarter car, x2 = (m1 s^2 + c s + k)/p, x1 = (c s + k)/p: coordinate 1 is the stretch x1 - x2.
TEST(modes_frequency_response_of_a_quarter_car) {
  Loaded x = open_text(
      "<sarrus version='1' name='quarter'><option gravity='0 0 0'/>"
      "<body name='wheel'><joint name='x2' type='prismatic' axis='0 0 1' stiffness='2e5'/><inertial mass='40'/></body>"
      "<body name='car' parent='wheel'><joint name='x1' type='prismatic' axis='0 0 1' stiffness='2e4' damping='1500'/>"
      "<inertial mass='400'/></body></sarrus>");
  srMessages* messages = sr_messages_create();
  srLinear* l = NULL;
  ENSURE_EQUAL(sr_linearize(x.m, x.d, messages, &l), SR_OK);
  const double m1 = 400, m2 = 40, k = 2e4, c = 1500, kt = 2e5;
  for (double omega = 0.1; omega < 1e4; omega *= 3) {
    const double complex s = omega * (double complex)I, soft = c * s + k;
    const double complex p = (m1 * s * s + soft) * (m2 * s * s + soft + kt) - soft * soft;
    const double complex wheel = (m1 * s * s + soft) / p, stretch = soft / p - wheel;
    ENSURE_SMALL(cabs(gain_of(l, 0, l->shape, omega) - wheel) / cabs(wheel), 1e-10);
    ENSURE_SMALL(cabs(gain_of(l, 0, l->shape + 4, omega) - stretch) / cabs(stretch), 1e-10);
    ENSURE_SMALL(cabs(gain_of(l, 0, l->rate, omega) - s * wheel) / cabs(s * wheel), 1e-10);
    // Reciprocal: the force between car and wheel moves the wheel as a force on the wheel moves the stretch.
    ENSURE_SMALL(cabs(gain_of(l, 1, l->shape, omega) - stretch) / cabs(stretch), 1e-10);
  }
  sr_linear_destroy(l);
  sr_messages_destroy(messages);
  close_model(&x);
}

// Velocities of dependent joints and forces on them: q2 = -q1 and so on in a parallelogram, in both formulations; a force on any joint is a force on the first.
TEST(modes_inputs_and_outputs_of_dependent_joints) {
  for (int absolute = 0; absolute < 2; absolute++) {
    srModel* m = NULL;
    srData* d = NULL;
    Found f = find_as(parallelogram, absolute ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE, &m, &d);
    const double sign[3] = {1, -1, 1};
    const int u = f.l->position[0];
    for (int j = 0; j < 3; j++) {
      ENSURE_NEAR(f.l->shape[j * 2], sign[j] * sign[u], 1e-12);
      ENSURE_NEAR(f.l->rate[j * 2 + 1], sign[j] * sign[u], 1e-12);
      ENSURE_SMALL(f.l->rate[j * 2], 1e-12);
      ENSURE_NEAR(f.l->force[3 + j], sign[j] * sign[u] / (4 * 0.25), 1e-5);  // the cranks are light
      ENSURE_SMALL(f.l->force[j], 0);
    }
    drop(&f);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

// ---- penalty ------------------------------------------------------------------------------------------------------------------

// The springs that represent the joint are stiff: the slow pair is that of the joint's own spring, to its compliance.
TEST(modes_of_the_penalty_formulation_contain_those_of_the_joint) {
  static const char text[] =
      "<sarrus version='1' name='p'><option gravity='0 0 0'/><body name='b'><joint name='q' type='revolute' axis='0 1 "
      "0' "
      "stiffness='20'/><inertial mass='2' com='0 0 -0.7' inertia='0.2 0.3 0.1'/></body></sarrus>";
  srModel* m = NULL;
  srData* d = NULL;
  Found f = find_as(text, SR_FORMULATION_PENALTY, &m, &d);
  const double omega = sqrt(20 / (0.3 + 2 * 0.49));
  ENSURE_EQUAL(f.m->n, 12);
  ENSURE_NEAR(fabs(f.m->mode[0].im), omega, 1e-3 * omega);
  ENSURE_NEAR(fabs(f.m->mode[1].im), omega, 1e-3 * omega);
  ENSURE(hypot(f.m->mode[2].re, f.m->mode[2].im) > 10 * omega);
  ENSURE_NEAR(f.m->mode[0].shape[0].modulus, 1, 1e-15);
  ENSURE_TEXT(f.l->name[0], "b.wx");
  drop(&f);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

// ---- few of many ----------------------------------------------------------------------------------------------------------------

static srModes* smallest(const srModel* m, srData* d, int count) {
  srMessages* messages = sr_messages_create();
  srModes* modes = NULL;
  bool possible = false;
  const srStatus status = sr_modes_smallest(m, d, count, messages, &possible, &modes);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE(possible);
  return modes;
}

// n masses, each on the one before by a spring, the first on a wall: omega_k = 2 sqrt(k/m) sin((2 k - 1) pi/(2 (2 n + 1))); the relative displacement j is
// the difference of sin((2 k - 1) pi j/(2 n + 1)), which is cos at j - 1/2.
TEST(modes_few_of_a_chain_of_1000_masses) {
  enum { N = 1000, K = 10 };
  Loaded x = open_text(
      "<sarrus version='1' name='chain'><option gravity='0 0 0'/>"
      "<body name='b1'><joint name='x1' type='prismatic' axis='1 0 0' stiffness='300'/><inertial mass='0.7'/></body>"
      "<repeat count='999' index='i' from='2'><body name='b{i}' parent='b{i-1}'><joint name='x{i}' type='prismatic' "
      "axis='1 0 0' "
      "stiffness='300'/><inertial mass='0.7'/></body></repeat></sarrus>");
  srModes* modes = smallest(x.m, x.d, 2 * K);
  ENSURE_EQUAL(modes->n, 2 * K);
  ENSURE_EQUAL(modes->zeros, 0);
  for (int k = 1; k <= K; k++) {
    const double angle = (2 * k - 1) * pi / (2 * N + 1), omega = 2 * sqrt(300 / 0.7) * sin(angle / 2);
    const srMode* mode = &modes->mode[2 * k - 1];
    ENSURE_NEAR(mode->im, omega, 1e-9 * omega);
    ENSURE_SMALL(mode->re, 1e-9 * omega);
    ENSURE_NEAR(modes->mode[2 * k - 2].im, -omega, 1e-9 * omega);
    double most = 0, first = 0;  // the entry with phase 0
    for (int j = 1; j <= N; j++) {
      most = fmax(most, fabs(cos(angle * (j - 0.5))));
      if (mode->shape[j - 1].modulus == 1 && first == 0) first = cos(angle * (j - 0.5)) < 0 ? -1 : 1;
    }
    for (int j = 1; j <= N; j++) {
      const double shape = mode->shape[j - 1].modulus * cos(mode->shape[j - 1].phase);
      ENSURE_NEAR(shape, first * cos(angle * (j - 0.5)) / most, 1e-7);
    }
  }
  sr_modes_destroy(modes);
  close_model(&x);
}

// Both methods on a hanging chain; a free chain, whose rigid motion has two zeros; a motor with a state.
TEST(modes_few_are_those_of_the_matrices) {
  Loaded chain = open_model("chain-planar", "N=40 angle=0");
  Loaded freely = open_text(
      "<sarrus version='1' name='free'><option gravity='0 0 0'/>"
      "<body name='b1'><joint name='x1' type='prismatic' axis='1 0 0'/><inertial mass='0.7'/></body>"
      "<repeat count='19' index='i' from='2'><body name='b{i}' parent='b{i-1}'><joint name='x{i}' type='prismatic' "
      "axis='1 0 0' "
      "stiffness='300' damping='2'/><inertial mass='0.7'/></body></repeat></sarrus>");
  Loaded motor = open_model("dc-motor", "u=0");
  Loaded* all[] = {&chain, &freely, &motor};
  const int count[] = {12, 8, 3};
  for (int i = 0; i < 3; i++) {
    Found f = find(all[i]->m, all[i]->d);
    srModes* modes = smallest(all[i]->m, all[i]->d, count[i]);
    ENSURE_EQUAL(modes->n, count[i]);
    ENSURE_EQUAL(modes->zeros, f.m->zeros);
    for (int k = 0; k < count[i]; k++) {
      ENSURE_NEAR(modes->mode[k].re, f.m->mode[k].re, 1e-8);
      ENSURE_NEAR(modes->mode[k].im, f.m->mode[k].im, 1e-8);
      for (int j = 0; j < all[i]->m->njv && i == 0; j++)
        ENSURE_NEAR(modes->mode[k].shape[j].modulus, f.m->mode[k].shape[j].modulus, 1e-7);
    }
    sr_modes_destroy(modes);
    drop(&f);
    close_model(all[i]);
  }
}

TEST(modes_few_need_a_tree_at_rest) {
  Loaded x = open_model("benchmark/bicycle", "");
  srMessages* messages = sr_messages_create();
  srModes* modes = NULL;
  bool possible = true;
  ENSURE_EQUAL(sr_modes_smallest(x.m, x.d, 4, messages, &possible, &modes), SR_OK);
  ENSURE(!possible && modes == NULL);
  close_model(&x);
  x = open_model("chain-planar", "");
  ENSURE_EQUAL(sr_modes_smallest(x.m, x.d, 4, messages, &possible, &modes), SR_INPUT);
  ENSURE(modes == NULL && sr_messages_count(messages) == 1);
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(modes_are_tracked_by_the_nearest_eigenvalue) {
  const double before[8] = {-1, 0, 2, 3, 2, -3, 0, 0};
  double after[8] = {0.1, 0, 2.1, -3.1, -1.2, 0, 2.1, 3.1};
  ENSURE_EQUAL(sr_eigenvalues_track(4, before, after), SR_OK);
  const double expected[8] = {-1.2, 0, 2.1, 3.1, 2.1, -3.1, 0.1, 0};
  for (int i = 0; i < 8; i++) ENSURE(after[i] == expected[i]);
}

// ---- refused ----------------------------------------------------------------------------------------------------------------

TEST(modes_are_refused_where_the_state_is_not_steady) {
  Loaded x = open_model("double-pendulum", "");
  refuse(x.m, x.d, "the acceleration of 'q2' is");
  close_model(&x);
  x = open_model("top", "");  // steady precession: constant in no coordinates of a ball joint
  refuse(x.m, x.d, "the acceleration of 'top.w");
  close_model(&x);
}

TEST(modes_are_refused_where_the_linear_equations_change_with_time) {
  Loaded x = open_text(
      "<sarrus version='1' name='pump'><option gravity='0 0 0'/><body name='b'><joint name='x' type='prismatic' "
      "axis='1 0 0'/>"
      "<inertial mass='1'/></body><torque joint='x' law='-(2+sin(t))*q(x)'/></sarrus>");
  refuse(x.m, x.d, "change along the motion");
  close_model(&x);
}

// A slider-crank whose rod is as long as the crank: with the rod folded onto it the crank turns and the slider rests, or both move. At that position the loop allows either and, to
// first order, all between; a little beside it there is one motion, without forces a double zero.
TEST(modes_are_refused_where_branches_of_the_motion_meet) {
  static const char text[] =
      "<sarrus version='1' name='folded'><option gravity='0 0 0'/><body name='crank'><joint name='c' type='revolute' "
      "axis='0 -1 0' q='pi/2 - %s'/><inertial mass='1' com='0.5 0 0' inertia='0.1 0.1 0.1'/></body>"
      "<body name='rod' parent='crank'><joint name='k' type='revolute' axis='0 -1 0' at='1 0 0' q='-pi + 2*%s'/>"
      "<inertial mass='1' com='0.5 0 0' inertia='0.1 0.1 0.1'/><point name='end' at='1 0 0'/></body>"
      "<body name='slider'><joint name='x' type='prismatic' axis='1 0 0' q='2*sin(%s)'/><inertial mass='1'/></body>"
      "<closure type='ball' a='rod/end' b='slider' normal='0 1 0'/></sarrus>";
  static const char* const beside[] = {"0", "0.01"};
  for (int i = 0; i < 2; i++) {
    for (int absolute = 0; absolute < 2; absolute++) {
      char model[1200];
      (void)snprintf(model, sizeof model, text, beside[i], beside[i], beside[i]);
      srMessages* messages = sr_messages_create();
      srSpec* spec = NULL;
      srModel *m = NULL, *bodies = NULL;
      srData* data = NULL;
      ENSURE_EQUAL(sr_load_text(model, strlen(model), "test", NULL, NULL, messages, &spec), SR_OK);
      ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
      srData* d = sr_data_create(m);
      if (absolute) ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &bodies, &data), SR_OK);
      srLinear* linear = NULL;
      const srStatus status = sr_linearize(absolute ? bodies : m, absolute ? data : d, messages, &linear);
      ENSURE_EQUAL(status, i == 0 ? SR_FAILED : SR_OK);
      ENSURE_EQUAL(sr_messages_count(messages), i == 0);
      if (i == 0) {
        ENSURE(strstr(sr_messages_get(messages, 0)->text, "branches of the motion meet") != NULL);
      } else {
        ENSURE_EQUAL(linear->nx, 2);
      }
      sr_linear_destroy(linear);
      sr_data_destroy(data);
      sr_model_destroy(bodies);
      sr_data_destroy(d);
      sr_model_destroy(m);
      srs_destroy(spec);
      sr_messages_destroy(messages);
    }
  }
}

// All bodies fall together at the start: no joint is accelerated, and it is no equilibrium all the same.
TEST(modes_of_bodies_that_fall_together_are_refused) {
  static const char text[] =
      "<sarrus version='1' name='p'><option gravity='0 0 -9.81'/><body name='b'><joint name='q' type='prismatic' "
      "axis='0 0 1'/>"
      "<inertial mass='2' inertia='0.2 0.3 0.1'/></body><body name='c' parent='b'><joint name='r' type='revolute' "
      "axis='0 1 0'/>"
      "<inertial mass='2' inertia='0.2 0.3 0.1'/></body></sarrus>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel *m = NULL, *penalty = NULL;
  srData* data = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_formulate(spec, m, d, SR_FORMULATION_PENALTY, messages, &penalty, &data), SR_OK);
  refuse(penalty, data, "the acceleration of 'b.vz' is 9.81 m/s/s");
  sr_data_destroy(data);
  sr_model_destroy(penalty);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

// Every call that may find no memory is reported and leaves nothing behind.
TEST(modes_without_memory_fail_and_leave_nothing) {
  Loaded bicycle = open_model("benchmark/bicycle", ""), chain = open_model("chain-planar", "angle=0");
  bool done = false;
  for (int calls = 0; !done && calls < 500; calls++) {
    srLinear* l = NULL;
    srModes *modes = NULL, *few = NULL;
    double B[10] = {0}, out[2];
    bool possible;
    scarce_live = 0;
    scarce_left = calls;
    sr_set_allocator(scarce, NULL);
    srStatus status = sr_linearize(bicycle.m, bicycle.d, NULL, &l);
    if (status == SR_OK) status = sr_modes_create(l, NULL, &modes);
    if (status == SR_OK) status = sr_frequency_response(l, 1, B, 1, B, 1, out);
    if (status == SR_OK) status = sr_eigenvalues_track(1, B, out);
    if (status == SR_OK) status = sr_modes_smallest(chain.m, chain.d, 4, NULL, &possible, &few);
    done = status == SR_OK;
    if (!done) ENSURE_EQUAL(status, SR_MEMORY);
    sr_modes_destroy(few);
    sr_modes_destroy(modes);
    sr_linear_destroy(l);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(scarce_live, 0);
  }
  ENSURE(done);
  close_model(&bicycle);
  close_model(&chain);
}
