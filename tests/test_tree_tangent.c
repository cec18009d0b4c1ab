// Linear systems of trees by recursion against the matrices that they represent: products, the diagonal of M, real and complex solutions; all
// joint types, elements and states in the joints; what does not fit; runs both ways; memory.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/instance.h"
#include "random_tree.h"
#include "runner.h"
#include "system/tangent.h"

static double* numbers(int n) {
  double* out = calloc((size_t)n + 1, sizeof *out);
  ENSURE(out != NULL);
  return out;
}

// One model, both ways, at one place.
typedef struct Both {
  const srModel* m;
  srModelSystem matrix, tree;
  srSystem by_matrix, by_tree;
  int n;
  double *a, *y;
  double *M, *Kq, *Kv;  // n x n
} Both;

static void spread(const srSparsity* pattern, int n, const double* from, double* to) {
  memset(to, 0, (size_t)(n * n) * sizeof *to);
  for (int i = 0; i < n; i++) {
    const int first = pattern ? pattern->row[i] : i * n, end = pattern ? pattern->row[i + 1] : first + n;
    for (int k = first; k < end; k++) to[i * n + (pattern ? pattern->column[k] : k - first)] = from[k];
  }
}

// The matrices at d's state with random accelerations and states.
static void evaluate_matrices(Both* b, srData* d) {
  const srSystem* s = &b->by_matrix;
  const srModel* m = b->m;
  const int count = s->K_sparsity ? s->K_sparsity->row[b->n] : b->n * b->n;
  double *Kq = numbers(count), *Kv = numbers(count), *f = numbers(m->nv), *ydot = numbers(m->ny);
  double *M = numbers(m->nv * m->nv), *q = numbers(m->nq), *v = numbers(m->nv);
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  memcpy(v, d->v, (size_t)m->nv * sizeof *v);
  srTangent out = {Kq, Kv};
  ENSURE_EQUAL(s->tangent(s->user, 0.3, q, v, b->y, SR_TAU_ELEMENT, b->a, NULL, &out), 0);
  ENSURE_EQUAL(s->dynamics(s->user, 0.3, q, v, b->y, SR_TAU_ELEMENT, M, f, ydot, NULL), 0);
  spread(s->K_sparsity, b->n, Kq, b->Kq);
  spread(s->K_sparsity, b->n, Kv, b->Kv);
  for (int i = 0; i < m->nv; i++)
    for (int j = 0; j < m->nv; j++) b->M[i * b->n + j] = M[i * m->nv + j];

  // The residual, and M's diagonal, by the recursion.
  double *E = numbers(b->n), *diagonal = numbers(m->nv);
  const srMotionSolver* solver = b->by_tree.solver;
  ENSURE_EQUAL(solver->residual(b->by_tree.user, 0.3, q, v, b->y, SR_TAU_ELEMENT, b->a, E), 0);
  for (int i = 0; i < b->n; i++) {
    double sum = i < m->nv ? -f[i] : -ydot[i - m->nv], size = fabs(sum);
    for (int j = 0; j < m->nv; j++) {
      sum += b->M[i * b->n + j] * b->a[j];
      size += fabs(b->M[i * b->n + j] * b->a[j]);
    }
    ENSURE_SMALL(E[i] - sum, 1e-12 * (size + 1));
  }
  ENSURE_EQUAL(solver->tangent(b->by_tree.user, 0.3, q, v, b->y, SR_TAU_ELEMENT, b->a, diagonal), 0);
  for (int i = 0; i < m->nv; i++) ENSURE_NEAR(diagonal[i], b->M[i * b->n + i], 1e-12 * (1 + b->M[i * b->n + i]));
  free(Kq), free(Kv), free(f), free(ydot), free(M), free(q), free(v), free(E), free(diagonal);
}

// out = K x and the sum of the moduli.
static void product(int n, const double* K, const double* x, double* out, double* size) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      out[i] += K[i * n + j] * x[j];
      size[i] += fabs(K[i * n + j] * x[j]);
    }
  }
}

static void compare_products(const Both* b, Random* r) {
  const int n = b->n, nv = b->m->nv;
  const srMotionSolver* solver = b->by_tree.solver;
  double *dxi = numbers(n), *dx = numbers(n), *sum = numbers(n), *size = numbers(n), *out = numbers(n);
  for (int i = 0; i < n; i++) {
    dxi[i] = i < nv ? random_in(r, -1, 1) : 0;
    dx[i] = random_in(r, -1, 1);
  }
  product(n, b->Kq, dxi, sum, size);
  product(n, b->Kv, dx, sum, size);
  solver->times(b->by_tree.user, dxi, dx, out);
  for (int i = 0; i < n; i++) ENSURE_NEAR(out[i], sum[i], 1e-12 * (1 + size[i]));
  memset(sum, 0, (size_t)n * sizeof *sum);
  product(n, b->Kq, dxi, sum, size);
  solver->times(b->by_tree.user, dxi, NULL, out);
  for (int i = 0; i < n; i++) ENSURE_NEAR(out[i], sum[i], 1e-12 * (1 + size[i]));
  memset(sum, 0, (size_t)n * sizeof *sum);
  product(n, b->M, dxi, sum, size);
  ENSURE_EQUAL(solver->mass_times(b->by_tree.user, b->tree.d->q, dxi, out), 0);
  for (int i = 0; i < nv; i++) ENSURE_NEAR(out[i], sum[i], 1e-12 * (1 + size[i]));
  free(dxi), free(dx), free(sum), free(size), free(out);
}

static double combined(const Both* b, const srShift* c, int i, int j, int part) {
  const int at = i * b->n + j;
  const double unit = i == j && i >= b->m->nv ? c->cI[part] : 0;
  return c->cM[part] * b->M[at] + c->cq[part] * b->Kq[at] + c->cv[part] * b->Kv[at] + unit;
}

// Solves with a random right side; the residual of the solution relative to the sums that it is made of.
static void compare_solution(const Both* b, const srShift* c, bool complex, Random* r) {
  const int n = b->n, parts = complex ? 2 : 1;
  double *right = numbers(parts * n), *x = numbers(parts * n);
  for (int i = 0; i < parts * n; i++) right[i] = x[i] = random_in(r, -1, 1);
  ENSURE(b->by_tree.solver->factor(b->by_tree.user, c, complex));
  b->by_tree.solver->solve(b->by_tree.user, complex, x);
  for (int i = 0; i < n; i++) {
    double re = -right[i], im = complex ? -right[n + i] : 0, size = 1;
    for (int j = 0; j < n; j++) {
      const double a = combined(b, c, i, j, 0), e = complex ? combined(b, c, i, j, 1) : 0, y = complex ? x[n + j] : 0;
      re += a * x[j] - e * y;
      im += a * y + e * x[j];
      size += (fabs(a) + fabs(e)) * (fabs(x[j]) + fabs(y));
    }
    ENSURE_SMALL(re, 1e-10 * size);
    ENSURE_SMALL(im, 1e-10 * size);
  }
  free(right), free(x);
}

// At a random state of the model; d's positions are kept where `near` is given.
static void compare(const srModel* m, Random* r, bool placed) {
  srData *d = sr_data_create(m), *e = sr_data_create(m);
  ENSURE(d != NULL && e != NULL);
  if (!placed) random_state(r, m, d);
  for (int i = 0; i < m->nv; i++) d->v[i] = random_in(r, -2, 2);
  sr_normalize(m, d->q);
  sr_data_copy(m, d, e);
  Both b = {.m = m, .n = m->nv + m->ny, .a = numbers(m->nv), .y = numbers(m->ny)};
  b.matrix = (srModelSystem){.m = m, .d = d, .tangent = sr_tangent_create_as(m, SR_SOLVE_MATRIX)};
  b.tree = (srModelSystem){.m = m, .d = e, .tangent = sr_tangent_create_as(m, SR_SOLVE_OWN)};
  b.by_matrix = sr_system(&b.matrix);
  b.by_tree = sr_system(&b.tree);
  ENSURE(b.by_matrix.solver == NULL && b.by_matrix.tangent != NULL);
  ENSURE(b.by_tree.solver != NULL && b.by_tree.tangent == NULL);
  b.M = numbers(b.n * b.n);
  b.Kq = numbers(b.n * b.n);
  b.Kv = numbers(b.n * b.n);
  for (int i = 0; i < m->nv; i++) b.a[i] = random_in(r, -3, 3);
  for (int i = 0; i < m->ny; i++) b.y[i] = d->y[i] + random_in(r, -0.01, 0.01);
  ENSURE(sr_forward(m, d, -1) == 0 && sr_forward(m, e, -1) == 0);  // instances begin with states 0
  evaluate_matrices(&b, d);
  compare_products(&b, r);
  const double h = 1e-2;
  const srShift mass = {.cM = {1}, .cI = {1}};
  const srShift real = {.cM = {1 / h}, .cI = {1 / h}, .cq = {h}, .cv = {1}};
  const srShift complex = {.cM = {2 / h, 3 / h}, .cI = {2 / h, 3 / h}, .cq = {0.15 * h, -0.23 * h}, .cv = {1, 0}};
  const srShift other = {.cM = {1, 0.3}, .cI = {0.7, -0.2}, .cq = {1e-4, 2e-4}, .cv = {1e-2, -3e-3}};
  compare_solution(&b, &mass, false, r);
  compare_solution(&b, &real, false, r);
  compare_solution(&b, &complex, true, r);
  compare_solution(&b, &other, true, r);
  double* all[] = {b.a, b.y, b.M, b.Kq, b.Kv};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  sr_tangent_destroy(b.matrix.tangent);
  sr_tangent_destroy(b.tree.tangent);
  sr_data_destroy(d);
  sr_data_destroy(e);
}

TEST(the_recursion_solves_what_the_matrices_of_random_trees_define) {
  Random r = {19};
  for (int k = 0; k < 24; k++) {
    const RandomTree options = {.nbody = 1 + k, .armature = k % 2, .free_root = k % 4 == 1, .no_massless = true};
    srModel* m = random_tree(&r, &options);
    compare(m, &r, false);
    sr_model_destroy(m);
  }
}

// ---- elements in the joints -------------------------------------------------------------------------------------------

static srModel* compile_text(const char* text, srSpec** spec) {
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, spec);
  if (status == SR_OK) status = sr_compile(*spec, messages, &m);
  for (int i = 0; i < sr_messages_count(messages) && status != SR_OK; i++) {
    char line[400];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    printf("  %s\n", line);
  }
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return m;
}

#define ARM                                                                                                            \
  "<body name='a'><joint name='base' type='free'/><inertial mass='3' com='0.1 0 0' inertia='0.1 0.2 0.3'/></body>"     \
  "<body name='b' parent='a'><joint name='hip' type='ball' at='0.3 0 0.1'/>"                                           \
  "<inertial mass='1' com='0 0 -0.2' inertia='0.02 0.03 0.01'/></body>"                                                \
  "<body name='c' parent='b'><joint name='knee' type='revolute' axis='0 1 0' at='0 0 -0.4' q='0.3' stiffness='40' "    \
  "damping='2' armature='0.1'/><inertial mass='1' com='0 0 -0.2' inertia='0.02 0.03 0.01'/></body>"                    \
  "<body name='d' parent='c'><joint name='foot' type='prismatic' axis='0.6 0 0.8' at='0 0 -0.4'/>"                     \
  "<inertial mass='0.5' com='0 0.1 0' inertia='0.01 0.01 0.01'/></body>"                                               \
  "<body name='e' parent='c'><joint name='toe' type='revolute' axis='1 0 0' at='0 0.2 -0.4' q='0.1'/>"                 \
  "<inertial mass='0.5' com='0 0.1 0' inertia='0.01 0.01 0.01'/></body>"

TEST(friction_motors_and_laws_with_states_in_the_joints_are_part_of_the_recursion) {
  srSpec* spec = NULL;
  srModel* m = compile_text("<sarrus version='1'>" ARM
                            "<friction joint='knee' law='kikuuwe' F='0.4' K='500' B='0.1'/>"
                            "<friction joint='foot' law='kikuuwe' F='2' K='800' B='0.3'/>"
                            "<state name='current' initial='0.2' rate='(3 - 2*current - 0.4*v(toe))/0.05'/>"
                            "<state name='heat' initial='1' rate='-0.3*heat^2'/>"
                            "<torque joint='toe' law='0.4*current - 0.2*sin(q(toe))'/>"
                            "</sarrus>",
                            &spec);
  Random r = {23};
  ENSURE(m->ny >= 4);
  for (int k = 0; k < 4; k++) compare(m, &r, k == 0);
  sr_model_destroy(m);
  srs_destroy(spec);
}

// ---- contact sets ---------------------------------------------------------------------------------------------------------

// Spheres that touch each other, a floor and a plate; two of them on one arm. Twelve more have slots and do not touch.
TEST(the_sparse_matrix_of_contact_sets_solves_what_the_matrices_say) {
  srSpec* spec = NULL;
  srModel* m = compile_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane' group='walls'/></ground>" ARM
      "<body name='plate'><joint name='tilt' type='revolute' axis='1 0 0'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='plate' type='plane' at='0 0 -0.02' rpy='0 0.05 0' group='walls'/></body>"
      "<body name='f' parent='d'><joint name='end' type='revolute' axis='0 1 0'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='one' type='sphere' size='0.1' at='0 0 0.02' group='balls'/></body>"
      "<body name='g' parent='e'><joint name='tip' type='prismatic' axis='0 1 0'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='two' type='sphere' size='0.3' group='balls'/></body>"
      "<repeat count='16' index='i'><body name='s{i}'><joint name='j{i}' type='free' q='0.09*i 0 0.04 1 0 0 0'/>"
      "<inertial mass='0.1' com='0.01 0 0' inertia='1e-3 1e-3 1e-3'/>"
      "<shape name='b{i}' type='sphere' size='0.05' at='0 0 0.002*i' group='balls'/></body></repeat>"
      "<contact a='walls' b='balls' normal='kelvin-voigt' K='200' D='3' mu-k='0.4' bristle-B='0.3' most='20'/>"
      "<contact a='balls' b='balls' normal='kelvin-voigt' K='200' D='3' mu-k='0.4' mu-roll='0.01' most='30'/>"
      "</sarrus>",
      &spec);
  Random r = {29};
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_forward(m, d, -1), 0);
  ENSURE(d->instances->nused > 20 && d->instances->nused < m->ninstance);
  sr_data_destroy(d);
  for (int k = 0; k < 2; k++) compare(m, &r, true);
  sr_model_destroy(m);
  srs_destroy(spec);
}

static bool solved_by_recursion(const char* elements) {
  char text[8000];
  srSpec* spec = NULL;
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", ARM, elements);
  srModel* m = compile_text(text, &spec);
  srModelTangent* tangent = sr_tangent_create_as(m, SR_SOLVE_OWN);
  ENSURE(tangent != NULL);
  const bool by_recursion = tangent->tree != NULL;
  ENSURE(by_recursion || tangent->count > 0);  // else the matrices are there
  sr_tangent_destroy(tangent);
  sr_model_destroy(m);
  srs_destroy(spec);
  return by_recursion;
}

TEST(what_reaches_over_two_joints_is_left_to_the_matrices) {
  ENSURE(solved_by_recursion(""));
  ENSURE(solved_by_recursion("<torque joint='toe' law='-3*q(toe)'/>"));
  ENSURE(!solved_by_recursion("<torque joint='toe' law='-3*q(knee)'/>"));
  ENSURE(!solved_by_recursion("<state name='i' initial='0' rate='v(toe) - v(knee)'/>"));
  ENSURE(!solved_by_recursion("<force body='d' at='0 0 0' f='0 0 -10'/>"));
  ENSURE(!solved_by_recursion("<driver joint='toe' motion='0.1*sin(t)'/>"));
}

// ---- runs -----------------------------------------------------------------------------------------------------------------

static srModel* chain_of(int n, srSpec** spec) {
  char path[512], count[16];
  snprintf(path, sizeof path, "%s/models/chain-spatial.xml", SARRUS_SOURCE_DIR);
  snprintf(count, sizeof count, "%d", n);
  srMessages* messages = sr_messages_create();
  const srSetting sets[] = {{"N", count}};
  const srLoadOptions options = {.settings = sets, .nsetting = 1};
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load(path, &options, messages, spec), SR_OK);
  ENSURE_EQUAL(sr_compile(*spec, messages, &m), SR_OK);
  sr_messages_destroy(messages);
  return m;
}

// Steps of a method; positions and velocities into x. options.tangent exact, by matrices or by recursion.
static long step_both(const srModel* m, const char* method, srSolve solve, int steps, double* x) {
  srData* d = sr_data_create(m);
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  srModelSystem user = {.m = m, .d = d, .tangent = sr_tangent_create_as(m, solve)};
  ENSURE(d != NULL && user.tangent != NULL);
  const srSystem system = sr_system(&user);
  ENSURE((system.solver != NULL) == (solve == SR_SOLVE_OWN));
  srIntegratorOptions options = sri_default_options();
  options.control =
      SR_CONTROL_FIXED;  // else the error estimate, a small difference of large numbers, moves the ends of steps
  options.step = 2e-3;
  ENSURE_EQUAL(sri_create(method, &system, &options, messages, &integrator), SR_OK);
  ENSURE_EQUAL(sri_start(integrator, 0, d->q, d->v, d->y), SR_OK);
  for (int i = 0; i < steps; i++) ENSURE_EQUAL(sri_step(integrator, 10), SR_OK);
  memcpy(x, sri_q(integrator), (size_t)m->nq * sizeof *x);
  memcpy(x + m->nq, sri_v(integrator), (size_t)m->nv * sizeof *x);
  x[m->nq + m->nv] = sri_time(integrator);
  const long iterations = sri_stats(integrator)->iterations;
  sri_destroy(integrator);
  sr_messages_destroy(messages);
  sr_tangent_destroy(user.tangent);
  sr_data_destroy(d);
  return iterations;
}

// Newton's method ends at the same place. radau5 takes the same matrices and so the same iterations; the generalized-alpha methods take
// M with the tangent here, else with the last residual.
TEST(implicit_methods_move_alike_by_matrices_and_by_recursion) {
  static const char* const methods[] = {"radau5", "genalpha-ggl", "genalpha-index3", "genalpha-index2"};
  srSpec* spec = NULL;
  srModel* m = chain_of(12, &spec);
  const int n = m->nq + m->nv + 1;
  double *by_matrix = numbers(n), *by_tree = numbers(n);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    const long iterations = step_both(m, methods[k], SR_SOLVE_MATRIX, 30, by_matrix);
    const long again = step_both(m, methods[k], SR_SOLVE_OWN, 30, by_tree);
    if (k == 0) ENSURE_EQUAL(again, iterations);
    for (int i = 0; i < n; i++) ENSURE_NEAR(by_tree[i], by_matrix[i], 1e-8 * (1 + fabs(by_matrix[i])));
  }
  free(by_matrix), free(by_tree);
  sr_model_destroy(m);
  srs_destroy(spec);
}

static size_t taken;

static void* count_bytes(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user;
  if (new_size > old_size) taken += new_size - old_size;
  if (new_size > 0) return realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

// Bytes that the tangent and the integrator take.
static double memory_of(int links, const char* method) {
  srSpec* spec = NULL;
  srModel* m = chain_of(links, &spec);
  srData* d = sr_data_create(m);
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  taken = 0;
  sr_set_allocator(count_bytes, NULL);
  srModelSystem user = {.m = m, .d = d, .tangent = sr_tangent_create(m)};
  const srSystem system = sr_system(&user);
  const srStatus status = sri_create(method, &system, NULL, messages, &integrator);
  const size_t bytes = taken;
  sri_destroy(integrator);
  sr_tangent_destroy(user.tangent);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(status, SR_OK);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  return (double)bytes;
}

TEST(memory_of_implicit_methods_on_long_chains_is_linear) {
  static const char* const methods[] = {"radau5", "genalpha-ggl", "auto"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    ENSURE(memory_of(400, methods[k]) < 2.05 * memory_of(200, methods[k]));
  }
}
