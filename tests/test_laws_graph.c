// Laws on the expression graph: their values are those of the hand-written kernels, their derivatives those of differences.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/closure.h"
#include "constraint/closure_graph.h"
#include "constraint/derivative.h"
#include "contact/element.h"
#include "contact/friction_graph.h"
#include "contact/kinds.h"
#include "contact/normal_graph.h"
#include "force/derivative.h"
#include "math/pose.h"
#include "random_tree.h"
#include "runner.h"

enum { STATES = 24, MOST = SR_FRICTION_MAX_N * 6 };

static Random random_numbers;
static double uniform(double low, double high) { return random_in(&random_numbers, low, high); }

// ---- friction -----------------------------------------------------------------------------------------------------------

typedef struct Bench {  // a law at one state
  srDryFriction x;
  double v[SR_FRICTION_MAX_N], e[MOST], N, tau;
} Bench;

static Bench bench(const srFrictionLaw* law, int n) {
  Bench b = {.x = {.law = law, .n = n, .p = sr_friction_defaults()}};
  b.x.p.elements = 5;
  b.x.p.D = uniform(0, 0.3);
  b.x.p.delta = uniform(1, 3);
  b.x.p.spread = uniform(0.1, 0.9);
  b.x.p.v0 = 0.02;
  b.x.p.v1 = 0.05;
  b.x.p.K = pow(10, uniform(2, 6));
  b.x.p.B = b.x.p.K * uniform(0, 1e-3);
  b.x.k = uniform(0.2, 0.6);
  b.x.s = b.x.k + uniform(0, 0.4);
  b.x.ne = sr_friction_states(law, &b.x.p, n);
  b.N = uniform(0.5, 20);
  b.tau = pow(10, uniform(-5, -2));
  const double speed = pow(10, uniform(-4, 0)), bend = b.x.s * b.N / b.x.p.K;
  for (int i = 0; i < n; i++) b.v[i] = uniform(-speed, speed);
  for (int i = 0; i < b.x.ne; i++) b.e[i] = uniform(-1, 1) * bend;
  return b;
}

static void kernel(const Bench* b, double* out) {
  srFrictionForce friction;
  ENSURE_EQUAL(sr_friction_force(&b->x, b->v, b->e, b->N, b->tau, &friction, out + b->x.n), 0);
  memcpy(out, friction.f, (size_t)b->x.n * sizeof *out);
}

// Scales of f and of the rates, of v, e and N.
static double row_scale(const Bench* b, int r) {
  double v = 0;
  for (int i = 0; i < b->x.n; i++) v = fmax(v, fabs(b->v[i]));
  return r < b->x.n ? b->x.s * b->N * (1 + v) : v + b->x.s * b->N / (b->x.p.B + b->tau * b->x.p.K);
}

static double column_scale(const Bench* b, int j) {
  if (j == b->x.n + b->x.ne) return b->N;
  if (j >= b->x.n) return b->x.s * b->N / b->x.p.K;
  return fmax(fabs(b->v[j]), 1e-5);
}

TEST(friction_values_are_those_of_the_kernels) {
  srPool pool;
  sr_pool_init(&pool);
  random_numbers = (Random){1};
  for (int l = 0; l < sr_friction_count(); l++) {
    for (int n = 1; n <= 3; n++) {
      srGraph* g = sr_graph_create(&pool);
      srFrictionGraph x;
      Bench b = bench(sr_friction_law(l), n);
      const int count = n + b.x.ne;
      ENSURE(sr_friction_graph(b.x.law, n, b.x.ne / n, g, &x));
      srNode root[SR_FRICTION_MAX_N + MOST];
      memcpy(root, x.f, (size_t)n * sizeof *root);
      memcpy(root + n, x.edot, (size_t)b.x.ne * sizeof *root);
      const srProgram* program = sr_program_create(&pool, g, root, count);
      double* work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
      for (int k = 0; k < STATES; k++) {
        double want[SR_FRICTION_MAX_N + MOST], have[SR_FRICTION_MAX_N + MOST], argument[64];
        b = bench(b.x.law, n);
        if (k == 0) memset(b.v, 0, sizeof b.v);  // at rest
        kernel(&b, want);
        sr_friction_arguments(&b.x, b.v, b.e, b.N, b.tau, argument);
        sr_program_evaluate(program, &(srInputs){.arg = argument}, work, have);
        for (int r = 0; r < count; r++) ENSURE_NEAR(have[r], want[r], 1e-13 * row_scale(&b, r));
      }
    }
  }
  sr_pool_free(&pool);
}

// By central differences of the kernel with two steps: where they disagree the law has a kink nearby.
static bool difference(const Bench* b, int j, double* out) {
  const int count = b->x.n + b->x.ne;
  double value[4][SR_FRICTION_MAX_N + MOST];
  const double h = 1e-5 * column_scale(b, j);
  for (int i = 0; i < 4; i++) {
    static const double at[4] = {-2, -1, 1, 2};
    Bench moved = *b;
    *(j < b->x.n ? &moved.v[j] : j < count ? &moved.e[j - b->x.n] : &moved.N) += at[i] * h;
    kernel(&moved, value[i]);
  }
  bool smooth = true;
  for (int r = 0; r < count; r++) {
    const double coarse = (value[3][r] - value[0][r]) / (4 * h), fine = (value[2][r] - value[1][r]) / (2 * h);
    smooth = smooth && fabs(coarse - fine) <= 1e-7 * row_scale(b, r) / column_scale(b, j);
    out[r] = fine + (fine - coarse) / 3;
  }
  return smooth;
}

TEST(friction_derivatives_are_those_of_differences) {
  srPool pool;
  sr_pool_init(&pool);
  random_numbers = (Random){2};
  for (int l = 0; l < sr_friction_count(); l++) {
    for (int n = 1; n <= 3; n++) {
      Bench b = bench(sr_friction_law(l), n);
      const srProgram* derivative = sr_friction_derivative(&pool, b.x.law, n, b.x.ne / n);
      int compared = 0;
      for (int k = 0; k < STATES; k++) {
        double jacobian[(SR_FRICTION_MAX_N + MOST) * (SR_FRICTION_MAX_N + MOST + 1)], want[SR_FRICTION_MAX_N + MOST];
        b = bench(b.x.law, n);
        b.x.derivative = derivative;
        const int count = n + b.x.ne;
        ENSURE_EQUAL(sr_friction_force_jacobian(&b.x, b.v, b.e, b.N, b.tau, jacobian), 0);
        for (int j = 0; j <= count; j++) {
          if (!difference(&b, j, want)) continue;
          compared++;
          for (int r = 0; r < count; r++)
            ENSURE_NEAR(jacobian[r * (count + 1) + j], want[r], 2e-8 * row_scale(&b, r) / column_scale(&b, j));
        }
      }
      ENSURE(compared > STATES);  // most states are away from kinks
    }
  }
  sr_pool_free(&pool);
}

// ---- normal force -------------------------------------------------------------------------------------------------------

typedef struct NormalCase {
  srSurfaceLaws c;
  double d, ddot, z[SR_Z_CONTACT];
} NormalCase;

static NormalCase normal_case(const srNormalLaw* law) {
  NormalCase p = {.c = {.law = law, .p = sr_normal_defaults()}};
  p.c.p.K = pow(10, uniform(4, 9));
  p.c.p.n = uniform(1, 2.5);
  p.c.p.e = uniform(0.1, 0.95);
  p.c.p.D = uniform(0, 500);
  sr_normal_prepare(law, &p.c.p);
  p.d = pow(10, uniform(-7, -3));
  p.ddot = uniform(-1, 1);
  p.z[SR_Z_SPEED] = uniform(-0.5, 2);  // below 0: not known
  p.z[SR_Z_CLOSED] = 1;
  return p;
}

static double force(const NormalCase* p) {
  srNormalOut out;
  ENSURE_EQUAL(sr_normal_force(&p->c, p->d, p->ddot, p->z, &out), 0);
  return out.f;
}

TEST(normal_laws_and_derivatives_are_those_of_the_kernels) {
  srPool pool;
  sr_pool_init(&pool);
  random_numbers = (Random){3};
  for (int l = 0; l < sr_normal_count(); l++) {
    srGraph* g = sr_graph_create(&pool);
    srNormalGraph x;
    ENSURE(sr_normal_graph(sr_normal_law(l), g, &x));
    const srProgram* program = sr_program_create(&pool, g, &x.f, 1);
    const srProgram* derivative = sr_normal_derivative(&pool, sr_normal_law(l));
    double* work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
    for (int k = 0; k < 4 * STATES; k++) {
      NormalCase p = normal_case(sr_normal_law(l));
      double argument[SR_NORMAL_ARGUMENTS], have, jacobian[2];
      const double f = force(&p), scale = p.c.p.K * pow(p.d, p.c.p.n) + p.c.p.K * p.d + p.c.p.D;
      sr_normal_arguments(&p.c.p, p.d, p.ddot, p.z[SR_Z_SPEED], argument);
      sr_program_evaluate(program, &(srInputs){.arg = argument}, work, &have);
      ENSURE_NEAR(have, f, 1e-13 * scale);
      p.c.derivative = derivative;
      ENSURE_EQUAL(sr_normal_force_jacobian(&p.c, p.d, p.ddot, p.z, jacobian), 0);
      for (int j = 0; j < 2; j++) {
        double value[4];
        const double h = 1e-5 * (j == 0 ? p.d : fabs(p.ddot));
        for (int i = 0; i < 4; i++) {
          static const double at[4] = {-2, -1, 1, 2};
          NormalCase moved = p;
          *(j == 0 ? &moved.d : &moved.ddot) += at[i] * h;
          value[i] = force(&moved);
        }
        const double coarse = (value[3] - value[0]) / (4 * h), fine = (value[2] - value[1]) / (2 * h);
        if (fabs(coarse - fine) > 1e-7 * scale / (1e5 * h)) continue;  // a kink nearby
        ENSURE_NEAR(jacobian[j], fine + (fine - coarse) / 3, 1e-8 * scale / (1e5 * h));
      }
    }
  }
  sr_pool_free(&pool);
}

// ---- force elements -----------------------------------------------------------------------------------------------------

static void law_force(const srImpedance* law, const double* state, const double* p, double* f) {
  const srImpedanceIn in = {.x = state, .xdot = state + 6, .p = p};
  srImpedanceOut out = {.f = f};
  memset(f, 0, 6 * sizeof *f);
  ENSURE_EQUAL(law->evaluate(&in, &out), 0);
}

// At any angle of a bushing: within its series, at the border of it, and near half a turn.
TEST(force_laws_and_derivatives_are_those_of_the_kernels) {
  static const srImpedance* const laws[] = {&sr_law_joint_spring,    &sr_law_joint_damper, &sr_law_joint_stop,
                                            &sr_law_distance_spring, &sr_law_bushing,      &sr_law_bushing_matrix};
  srPool pool;
  sr_pool_init(&pool);
  random_numbers = (Random){4};
  for (int l = 0; l < SR_COUNT(laws); l++) {
    const int n = laws[l]->port == SR_PORT_FRAMES ? 6 : 1;
    srGraph* g = sr_graph_create(&pool);
    srImpedanceGraph x;
    ENSURE(sr_law_graph(laws[l], g, &x));
    const srProgram* program = sr_program_create(&pool, g, x.f, n);
    const srProgram* derivative = sr_law_derivative(&pool, laws[l]);
    const srForceElement element = {.law = laws[l], .formula = -1};
    double* work = sr_pool_alloc(&pool, (size_t)sr_law_jacobian_work(&element, derivative) * sizeof *work);
    double* value_work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
    for (int k = 0; k < STATES; k++) {
      double state[12], p[48], want[6], have[6], J[72];
      const double angle = k % 3 == 0 ? 1e-3 : k % 3 == 1 ? 0.0317 : 1.7;
      for (int i = 0; i < 12; i++) state[i] = uniform(-1, 1) * (n == 6 && i < 3 ? angle : 1);
      for (int i = 0; i < SR_COUNT(p); i++) p[i] = uniform(1, 10);
      if (laws[l] == &sr_law_joint_stop) memcpy(p, (double[]){-0.3, 0.4, 50, 2}, 4 * sizeof *p);
      law_force(laws[l], state, p, want);
      sr_program_evaluate(program, &(srInputs){.q = state, .v = state + 6, .arg = p}, value_work, have);
      for (int i = 0; i < n; i++) ENSURE_NEAR(have[i], want[i], 1e-13 * 50);
      const srImpedanceIn in = {.x = state, .xdot = state + 6, .p = p};
      ENSURE_EQUAL(sr_law_jacobian(&element, derivative, &in, work, J), 0);
      for (int j = 0; j < 2 * n; j++) {
        double value[4][6];
        const int at = j < n ? j : 6 + j - n;
        const double h = 1e-4, centre = state[at];
        for (int i = 0; i < 4; i++) {
          state[at] = centre + (i < 2 ? i - 2 : i - 1) * h;
          law_force(laws[l], state, p, value[i]);
        }
        state[at] = centre;
        for (int r = 0; r < n; r++) {
          const double by = (8 * (value[2][r] - value[1][r]) - (value[3][r] - value[0][r])) / (12 * h);
          ENSURE_NEAR(J[r * 2 * n + j], by, 1e-8 * 50);
        }
      }
    }
  }
  sr_pool_free(&pool);
}

// ---- loop closures --------------------------------------------------------------------------------------------------

static void random_unit(double* e) {
  for (int k = 0; k < 3; k++) e[k] = uniform(-1, 1);
  const double length = srm_norm3(e);
  for (int k = 0; k < 3; k++) e[k] /= length;
}

static srClosure random_closure(const srClosureWord* word) {
  srClosure c = {.kind = word->kind, .word = word->word};
  double axis[3];
  random_unit(axis);
  sr_closure_triad(axis, c.frame);
  random_unit(c.axis2);
  c.pitch = uniform(0.01, 0.3);
  c.length = uniform(0.2, 2);
  c.radius = uniform(0.1, 1);
  c.has_axis = c.has_axis2 = c.has_pitch = c.has_length = c.has_radius = true;
  c.has_normal = uniform(0, 1) < 0.5;
  c.disc = uniform(0, 1) < 0.7;
  c.sphere = !c.disc;
  ENSURE(c.kind->setup(&c) == NULL);
  return c;
}

static srClosureIn random_pose(void) {
  srClosureIn in;
  double axis[3], angle = uniform(-2.5, 2.5);
  random_unit(axis);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) in.R[3 * i + j] = (i == j ? cos(angle) : 0) + (1 - cos(angle)) * axis[i] * axis[j];
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    in.R[3 * b + a] += sin(angle) * axis[k];
    in.R[3 * a + b] -= sin(angle) * axis[k];
    in.d[k] = uniform(-1, 1);
    in.w[k] = uniform(-2, 2);
    in.u[k] = uniform(-2, 2);
  }
  return in;
}

typedef struct Numbers {  // of a loop closure at a pose
  double q[12], v[6], lambda[6], argument[15];
} Numbers;

static Numbers numbers_of(const srClosure* c, const srClosureIn* in) {
  Numbers x;
  memcpy(x.q, in->R, sizeof in->R);
  memcpy(x.q + 9, in->d, sizeof in->d);
  memcpy(x.v, in->w, sizeof in->w);
  memcpy(x.v + 3, in->u, sizeof in->u);
  for (int i = 0; i < 6; i++) x.lambda[i] = uniform(-1, 1);
  sr_closure_arguments(c, x.argument);
  return x;
}

static void turned_by(const double* R, int j, double angle, double* out) {
  const int a = (j + 1) % 3, b = (j + 2) % 3;
  memcpy(out, R, 9 * sizeof *R);
  for (int k = 0; k < 3; k++) {
    out[3 * a + k] = cos(angle) * R[3 * a + k] - sin(angle) * R[3 * b + k];
    out[3 * b + k] = sin(angle) * R[3 * a + k] + cos(angle) * R[3 * b + k];
  }
}

// Column j of L by differences of the kernel's rows.
static void difference_rows(const srClosure* c, const srClosureIn* in, const double* lambda, int j, double* column) {
  const double h = 1e-3;
  memset(column, 0, 6 * sizeof *column);
  for (int i = 0; i < 4; i++) {
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12};
    srClosureIn moved = *in;
    if (j < 3) turned_by(in->R, j, at[i] * h, moved.R);
    if (j >= 3) moved.d[j - 3] += at[i] * h;
    srClosureOut out = {0};
    const char* reason;
    ENSURE_EQUAL(c->kind->evaluate(c, &moved, &out, &reason), 0);
    for (int r = 0; r < c->np + c->nvel; r++)
      for (int k = 0; k < 6; k++) column[k] += weight[i] / h * lambda[r] * out.W[r][k];
  }
}

static void compare_rows(srPool* pool, const srClosure* c, const srClosureIn* in, const srInputs* inputs) {
  srGraph* g = sr_graph_create(pool);
  srClosureGraph x;
  srNode W[6][6], root[8 * 6];
  const int rows = c->np + c->nvel;
  sr_closure_graph(c, g, &x);
  sr_closure_graph_rows(&x, W);
  for (int r = 0; r < rows; r++) {
    root[r] = r < c->np ? x.residual[r] : srx_number(g, 0);
    memcpy(root + rows + 6 * r, W[r], sizeof W[r]);
    root[7 * rows + r] = sr_closure_graph_bias(&x, W[r]);
  }
  const srProgram* program = sr_program_create(pool, g, root, 8 * rows);
  double have[8 * 6], *work = sr_pool_alloc(pool, (size_t)sr_program_work(program) * sizeof *work);
  sr_program_evaluate(program, inputs, work, have);
  srClosureOut out = {0};
  const char* reason;
  ENSURE_EQUAL(c->kind->evaluate(c, in, &out, &reason), 0);
  for (int r = 0; r < rows; r++) {
    ENSURE_NEAR(have[r], out.g[r], 1e-13);
    for (int j = 0; j < 6; j++) ENSURE_NEAR(have[rows + 6 * r + j], out.W[r][j], 1e-13);
    ENSURE_NEAR(have[7 * rows + r], out.bias[r], 1e-13 * fmax(10, fabs(out.bias[r])));
  }
}

TEST(loop_closures_on_the_graph_are_those_of_the_kernels) {
  random_numbers = (Random){5};
  for (int l = 0; l < sr_closure_word_count; l++) {
    if (!sr_closure_words[l].kind->define) continue;  // laws of plugins: test_user_laws.c
    for (int k = 0; k < STATES; k++) {
      srPool pool;
      sr_pool_init(&pool);
      const srClosure c = random_closure(&sr_closure_words[l]);
      const srClosureIn in = random_pose();
      const Numbers x = numbers_of(&c, &in);
      compare_rows(&pool, &c, &in, &(srInputs){.q = x.q, .v = x.v, .state = x.lambda, .arg = x.argument});
      const srProgram* derivative = sr_closure_derivative(&pool, &c);
      double *work = sr_pool_alloc(&pool, (size_t)sr_program_work(derivative) * sizeof *work), L[36], w[6], want[6];
      ENSURE_EQUAL(sr_closure_jacobian(&c, derivative, &in, x.lambda, work, w, L), 0);
      for (int j = 0; j < 6; j++) {
        difference_rows(&c, &in, x.lambda, j, want);
        for (int i = 0; i < 6; i++) ENSURE_NEAR(L[6 * i + j], want[i], 1e-8 * fmax(1, fabs(want[i])));
      }
      sr_pool_free(&pool);
    }
  }
}
