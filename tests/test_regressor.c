// Regressors: tau = Y pi is the inverse dynamics; the number of base parameters is the rank; they are found again from noisy forces.
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "math/singular.h"
#include "random_tree.h"
#include "symbolic/function.h"

#define PI 3.14159265358979323846

typedef struct Regressor {
  srPool pool;
  const srModel* m;
  srData* d;
  srSymContext context;
  int nbase, nbody;
  const srCode *base, *body;  // code of Y
  double *Y, *work, *a, *tau, *expected;
} Regressor;

static const srCode* code_of(srPool* pool, srSymTree* tree, const srSymFunction* f, const srSymContext* context) {
  srGraph* g = sr_graph_create(pool);
  const int nout = sr_sym_outputs(f, context);
  srNode* out = sr_pool_alloc(pool, ((size_t)nout + 1) * sizeof *out);
  f->build[0](sr_sym_pass(g, pool, tree), context, out);
  return sr_code_create(pool, g, out, nout);
}

extern const srSymFunction sr_function_regressor, sr_function_regressor_full;

static Regressor* open_regressor(const srModel* m) {
  Regressor* x = calloc(1, sizeof *x);
  double snapped = 0;
  sr_pool_init(&x->pool);
  x->m = m, x->d = sr_data_create(m), x->context.m = m;
  srSymTree* tree = sr_sym_tree(&x->pool, m, 1e-13, &snapped);
  sr_sym_reframe(tree, 1e-13);
  sr_sym_regroup(tree);
  sr_function_regressor.prepare(&x->context, &x->pool, tree);
  x->nbase = x->context.base->nbase, x->nbody = x->context.base->nbody_parameter;
  tree->own_axes = true;
  x->base = code_of(&x->pool, tree, &sr_function_regressor, &x->context);
  x->body = code_of(&x->pool, tree, &sr_function_regressor_full, &x->context);
  const size_t most = (size_t)(x->base->n > x->body->n ? x->base->n : x->body->n), nv = (size_t)m->nv + 1;
  x->work = calloc(most + 1, sizeof(double)), x->Y = calloc(nv * (size_t)(x->nbody + x->nbase + 1), sizeof(double));
  x->a = calloc(nv, sizeof(double)), x->tau = calloc(nv, sizeof(double)), x->expected = calloc(nv, sizeof(double));
  return x;
}

static void close_regressor(Regressor* x) {
  free(x->work), free(x->Y), free(x->a), free(x->tau), free(x->expected);
  sr_data_destroy(x->d);
  sr_pool_free(&x->pool);
  free(x);
}

static void put_Y(Regressor* x, const srCode* code) {
  const double* input[SR_VAR_KINDS] = {[SR_VAR_Q] = x->d->q, [SR_VAR_V] = x->d->v, [SR_VAR_A] = x->a};
  sr_code_evaluate(code, input, x->work, x->Y);
}

static void put_expected(Regressor* x) {
  sr_rnea(x->m, x->d, x->d->q, x->d->v, x->a, x->expected);
  for (int i = 0; i < x->m->nv; i++) x->expected[i] += x->m->dof_armature[i] * x->a[i];
}

// Part of the largest force by which Y pi is not the inverse dynamics. A column times its parameter may be far larger than their sum: rounding is of that.
static double apart(const Regressor* x, int n, const srGeneratedParameter* p) {
  double off = 0, size = 1e-300;
  for (int i = 0; i < x->m->nv; i++) {
    double sum = 0;
    for (int k = 0; k < n; k++)
      sum += x->Y[i * n + k] * p[k].value, size = fmax(size, fabs(x->Y[i * n + k] * p[k].value));
    off = fmax(off, fabs(sum - x->expected[i])), size = fmax(size, fabs(x->expected[i]));
  }
  return off / size;
}

static void random_motion(Regressor* x, Random* r) {
  random_state(r, x->m, x->d);
  for (int i = 0; i < x->m->nv; i++) x->a[i] = random_in(r, -2, 2);
}

static int rank_of(Regressor* x, Random* r) {
  const int nv = x->m->nv, n = x->nbody, states = 2 * n / nv + 20, rows = states * nv;
  double *A = calloc((size_t)rows * (size_t)n, sizeof *A), *s = calloc((size_t)n, sizeof *s);
  for (int k = 0; k < states; k++) {
    random_motion(x, r);
    put_Y(x, x->body);
    memcpy(A + (size_t)k * (size_t)(nv * n), x->Y, (size_t)(nv * n) * sizeof *A);
  }
  double most = 0, *size = calloc((size_t)n, sizeof *size);
  for (int k = 0; k < rows * n; k++) size[k % n] += A[k] * A[k];
  for (int j = 0; j < n; j++) most = fmax(most, size[j]);
  for (int k = 0; k < rows * n; k++)
    A[k] = size[k % n] > 1e-26 * most ? A[k] / sqrt(size[k % n]) : 0;  // of length 1, or rounding
  free(size);
  ENSURE(srm_singular_values(rows, n, A, s));
  int rank = 0;
  while (rank < n && s[rank] > 1e-9 * s[0]) rank++;
  free(A), free(s);
  return rank;
}

static void check(const srModel* m, Random* r, bool rank) {
  Regressor* x = open_regressor(m);
  const srSymBase* base = x->context.base;
  for (int k = 0; k < (runner_long() ? 1000 : 3); k++) {
    random_motion(x, r);
    put_expected(x);
    put_Y(x, x->base);
    ENSURE_SMALL(apart(x, x->nbase, base->base), 1e-12);
    put_Y(x, x->body);
    ENSURE_SMALL(apart(x, x->nbody, base->body), 1e-12);
  }
  if (rank && x->nbody > 0) ENSURE_EQUAL(rank_of(x, r), x->nbase);
  close_regressor(x);
}

static int check_folder(const char* folder, Random* r) {
  char path[1024];
  int n = 0;
  snprintf(path, sizeof path, "%s/models/%s", SARRUS_SOURCE_DIR, folder);
  DIR* directory = opendir(path);
  ENSURE(directory != NULL);
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".xml") != 0) continue;
    snprintf(path, sizeof path, "%s/models/%s/%s", SARRUS_SOURCE_DIR, folder, entry->d_name);
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel* m = NULL;
    if (sr_load(path, &(srLoadOptions){0}, messages, &spec) == SR_OK && sr_compile(spec, messages, &m) == SR_OK &&
        m->nv > 0 && m->nv <= (runner_long() ? 120 : 20) && m->nmassless == 0 && !m->absolute) {
      check(m, r, m->nbody <= (runner_long() ? 40 : 6));
      n++;
    }
    sr_model_destroy(m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
  closedir(directory);
  return n;
}

TEST(regressors_are_the_inverse_dynamics_of_shipped_models_and_their_rank_is_the_number_of_base_parameters) {
  static const char* const folders[] = {".",          "paper1",    "paper2",   "paper3",
                                        "mechanisms", "benchmark", "vehicles", "robots"};
  Random r = {11};
  int n = 0;
  for (int i = 0; i < 8; i++) n += check_folder(folders[i], &r);
  ENSURE(n >= 60);
}

TEST(regressors_are_the_inverse_dynamics_of_random_trees) {
  Random r = {12};
  for (int i = 0; i < (runner_long() ? 200 : 12); i++) {
    srModel* m = random_tree(
        &r,
        &(RandomTree){
            .nbody = 1 + random_below(&r, 6), .armature = i % 3 == 0, .free_root = i % 4 == 1, .no_massless = true});
    check(m, &r, true);
    sr_model_destroy(m);
  }
}

// Counted by hand.
//   links in a vertical plane      mx, my (gravity), Jzz: 3 each
//   the same without gravity       of the first link Jzz alone: 1, and 3 of the second
//   a slider                       its mass
//   a free body 10; on a ball joint 9: all but the mass
static int base_count(const char* text) {
  Loaded x = open_text(text);
  Regressor* y = open_regressor(x.m);
  const int n = y->nbase;
  close_regressor(y);
  close_model(&x);
  return n;
}

#define INERTIAL "<inertial mass='2' com='0.3 0.1 0.2' inertia='0.5 0.6 0.7 0.01 0.02 0.03'/>"
#define LINK(name, parent, type)                                                                                       \
  "<body name='" name "' parent='" parent "'><joint type='" type "' at='0.4 0 0'/>" INERTIAL "</body>"

TEST(regressors_have_as_many_base_parameters_as_counted_by_hand) {
  ENSURE_EQUAL(base_count("<sarrus version='1' name='x'><option gravity='0 -9.81 0'/>" LINK(
                   "a", "ground", "revolute' axis='0 0 1") "</sarrus>"),
               3);
  ENSURE_EQUAL(base_count("<sarrus version='1' name='x'><option gravity='0 -9.81 0'/>" LINK(
                   "a", "ground", "revolute' axis='0 0 1") LINK("b", "a", "revolute' axis='0 0 1") "</sarrus>"),
               6);
  ENSURE_EQUAL(base_count("<sarrus version='1' name='x'><option gravity='0 0 0'/>" LINK(
                   "a", "ground", "revolute' axis='0 0 1") "</sarrus>"),
               1);
  ENSURE_EQUAL(base_count("<sarrus version='1' name='x'><option gravity='0 0 0'/>" LINK(
                   "a", "ground", "revolute' axis='0 0 1") LINK("b", "a", "revolute' axis='0 0 1") "</sarrus>"),
               4);
  ENSURE_EQUAL(base_count("<sarrus version='1' name='x'><option gravity='0 -9.81 0'/>" LINK(
                   "a", "ground", "prismatic' axis='0 0 1") "</sarrus>"),
               1);
  ENSURE_EQUAL(
      base_count("<sarrus version='1' name='x'><option gravity='0 -9.81 0'/>" LINK("a", "ground", "free") "</sarrus>"),
      10);
  ENSURE_EQUAL(
      base_count("<sarrus version='1' name='x'><option gravity='0 -9.81 0'/>" LINK("a", "ground", "ball") "</sarrus>"),
      9);
}

// ---- identification -------------------------------------------------------------------------------------------------------

static double gaussian(Random* r) {
  const double u = random_in(r, 0, 1), phi = random_in(r, -PI, PI);
  return sqrt(-2 * log(1 - u)) * cos(phi);
}

typedef struct Found {
  double chi2;       // of the errors in the metric of their covariance
  double deviation;  // geometric mean of the standard deviations
} Found;

static void solve(int n, const double* L, double* b) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= L[i * n + k] * b[k];
    b[i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= L[k * n + i] * b[k];
    b[i] /= L[i * n + i];
  }
}

static void factor(int n, double* A) {
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) {
      double x = A[i * n + j];
      for (int k = 0; k < j; k++) x -= A[i * n + k] * A[j * n + k];
      if (i == j) ENSURE(x > 0);
      A[i * n + j] = i == j ? sqrt(x) : x / A[j * n + j];
    }
  }
}

// Joints driven by sums of sines, forces measured with noise; least squares.
static Found identify(Regressor* x, int samples, double sigma, Random* r) {
  const int n = x->nbase, nv = x->m->nv;
  double *A = calloc((size_t)(n * n), sizeof *A), *b = calloc((size_t)n, sizeof *b),
         *N = calloc((size_t)(n * n), sizeof *N), *e = calloc((size_t)n, sizeof *e);
  for (int s = 0; s < samples; s++) {
    const double t = 10.0 * s / samples;
    for (int i = 0; i < nv; i++) {
      x->d->q[i] = x->d->v[i] = x->a[i] = 0;
      for (int k = 1; k <= 3; k++) {
        const double w = 2 * PI * (k + 0.37 * i) / 5, phase = w * t + 1.3 * i * k;
        x->d->q[i] += 0.5 * sin(phase), x->d->v[i] += 0.5 * w * cos(phase), x->a[i] -= 0.5 * w * w * sin(phase);
      }
    }
    put_expected(x);
    put_Y(x, x->base);
    for (int i = 0; i < nv; i++) {
      const double *y = x->Y + i * n, tau = x->expected[i] + sigma * gaussian(r);
      for (int j = 0; j < n; j++) {
        b[j] += y[j] * tau;
        for (int k = 0; k < n; k++) A[j * n + k] += y[j] * y[k];
      }
    }
  }
  memcpy(N, A, (size_t)(n * n) * sizeof *A);
  factor(n, A);
  solve(n, A, b);
  Found found = {0};
  for (int j = 0; j < n; j++) e[j] = b[j] - x->context.base->base[j].value;
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < n; k++) found.chi2 += e[j] * N[j * n + k] * e[k] / (sigma * sigma);
  }
  for (int j = 0; j < n; j++) {
    memset(b, 0, (size_t)n * sizeof *b);
    b[j] = 1;
    solve(n, A, b);
    found.deviation += log(sigma * sqrt(b[j])) / n;
    ENSURE(fabs(e[j]) < 5 * sigma * sqrt(b[j]));
  }
  found.deviation = exp(found.deviation);
  free(A), free(b), free(N), free(e);
  return found;
}

TEST(regressors_find_base_parameters_from_noisy_forces_and_error_bars_shrink_with_the_root_of_samples) {
  Random r = {13};
  Loaded m = open_model("paper1/arm6", "");
  Regressor* x = open_regressor(m.m);
  ENSURE_EQUAL(x->nbase, 38);
  const Found few = identify(x, 250, 0.1, &r), many = identify(x, 4000, 0.1, &r);
  ENSURE_NEAR(many.deviation / few.deviation, 0.25, 0.02);
  // chi^2 of 38 degrees: 38 +- 4 sqrt(76)
  ENSURE_NEAR(few.chi2, 38, 35);
  ENSURE_NEAR(many.chi2, 38, 35);
  close_regressor(x);
  close_model(&m);
}
