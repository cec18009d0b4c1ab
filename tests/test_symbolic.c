// Symbolic recursions: what the generated statements compute, against the kernels, for all shipped models and random trees with all joint types; in the model's frames and reduced.
#include <dirent.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "symbolic_values.h"

// ---- functions ----------------------------------------------------------------------------------------------------------

static srNode* leaves(srSymPass* x, srVarKind kind) {
  srNode* out = sr_pool_alloc(x->tree->pool, ((size_t)x->tree->m->nv + 1) * sizeof *out);
  for (int i = 0; i < x->tree->m->nv; i++) out[i] = sr_graph_var(x->g, kind, i);
  return out;
}
static void invdyna(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_invdyna(x, leaves(x, SR_VAR_A), false, out);
}
static void mass(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_mass(x, out);
}
static void aba(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_aba(x, leaves(x, SR_VAR_TAU), out);
}
static void ltl(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_ltl(x, leaves(x, SR_VAR_TAU), out);
}

static srCode* code_of(srPool* pool, srSymTree* tree, srSymBuild build, int nout) {
  return code_with(pool, tree, build, NULL, nout);
}

// tau = M a + c with armature.
static void required(const srModel* m, srData* d, const State* s, const double* a, double* tau) {
  sr_rnea(m, d, s->q, s->v, a, tau);
  for (int i = 0; i < m->nv; i++) tau[i] += m->dof_armature[i] * a[i];
}

static double apart(const double* x, const double* y, int n) {
  double off = 0, size = 0;
  for (int i = 0; i < n; i++) off = fmax(off, fabs(x[i] - y[i])), size = fmax(size, fabs(y[i]));
  return size > 0 ? off / size : off;
}

static double mass_apart(const srModel* m, srData* d, const State* s, const double* M) {
  const int n = m->nv;
  double *full = calloc((size_t)(n * n + 1), sizeof *full), off = 0, size = 0;
  sr_crba(m, d, s->q, full);
  for (int i = 0; i < n; i++) {
    full[i * n + i] += m->dof_armature[i];
    for (int k = 0; k <= i; k++) {
      off = fmax(off, fabs(full[i * n + k] - M[i * n + k]));
      size = fmax(size, fabs(full[i * n + k]));
    }
  }
  free(full);
  return size > 0 ? off / size : off;
}

typedef struct Codes {
  srCode *invdyna, *mass, *aba, *ltl;
} Codes;

// Both ways of the forward dynamics are checked by the inverse one: the condition of M does not enter.
static void compare(const srModel* m, srData* d, const State* s, const Codes* c, double tolerance) {
  const int n = m->nv;
  double *out = calloc((size_t)(n * n + 1), sizeof *out), *expected = calloc((size_t)n + 1, sizeof *expected);
  required(m, d, s, s->a, expected);
  evaluate(c->invdyna, s, out);
  ENSURE_SMALL(apart(out, expected, n), tolerance);
  memcpy(s->tau, expected, (size_t)n * sizeof *expected);
  evaluate(c->mass, s, out);
  ENSURE_SMALL(mass_apart(m, d, s, out), tolerance);
  const srCode* forward[] = {c->aba, c->ltl};
  for (int i = 0; i < 2; i++) {
    evaluate(forward[i], s, out);
    required(m, d, s, out, expected);
    ENSURE_SMALL(apart(expected, s->tau, n), tolerance * 1e3);
  }
  free(out);
  free(expected);
}

static srCode* chosen(srPool* pool, srSymTree* tree, srSymBuild build, int nout, bool choose) {
  if (choose) sr_sym_choose_frames(tree, build, NULL, nout);
  return code_of(pool, tree, build, nout);
}

static void check_model(const srModel* m, Random* r, int states, bool choose) {
  srData* d = sr_data_create(m);
  double* numbers = calloc((size_t)(m->nq + 3 * m->nv + 1), sizeof *numbers);
  const State s = {numbers, numbers + m->nq, numbers + m->nq + m->nv, numbers + m->nq + 2 * m->nv, .t = 0};
  for (int reduced = 0; reduced < 2; reduced++) {
    srPool pool;
    sr_pool_init(&pool);
    srSymTree* tree = tree_of(&pool, m, reduced == 1);
    const int n = m->nv;
    const bool frames = choose && reduced == 1;
    const Codes codes = {chosen(&pool, tree, invdyna, n, frames), chosen(&pool, tree, mass, n * n, frames),
                         chosen(&pool, tree, aba, n, frames), chosen(&pool, tree, ltl, n, frames)};
    for (int k = 0; k < states; k++) {
      random_state(r, m, d);
      memcpy(s.q, d->q, (size_t)m->nq * sizeof *d->q);
      memcpy(s.v, d->v, (size_t)n * sizeof *d->v);
      for (int i = 0; i < n; i++) s.a[i] = random_in(r, -2, 2);
      compare(m, d, &s, &codes, 1e-13);
    }
    sr_pool_free(&pool);
  }
  free(numbers);
  sr_data_destroy(d);
}

// ---- tests --------------------------------------------------------------------------------------------------------------

typedef void (*Checked)(const srModel* m, Random* r);

// Shipped models of at most `most` coordinates.
static int check_folder(const char* folder, Random* r, int most, Checked check) {
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
        m->nv > 0 && m->nv <= most && m->nmassless == 0) {
      check(m, r);
      n++;
    }
    sr_model_destroy(m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
  closedir(directory);
  return n;
}

static const char* const folders[] = {".",         "paper1",   "paper2", "paper3",    "mechanisms",
                                      "benchmark", "vehicles", "robots", "nonsmooth", "contact"};

static void check_shipped(const srModel* m, Random* r) { check_model(m, r, runner_long() ? 1000 : 3, false); }

TEST(symbolic_recursions_are_those_of_the_kernels_on_shipped_models) {
  Random r = {1};
  int n = 0;
  for (int i = 0; i < SR_COUNT(folders); i++) n += check_folder(folders[i], &r, 120, check_shipped);
  ENSURE(n >= 110);
}

TEST(symbolic_recursions_in_chosen_frames_are_those_of_the_kernels) {
  static const char* const names[] = {"paper1/arm2",      "paper1/arm4",      "paper1/arm6",
                                      "robots/arm-scara", "robots/arm-seven", "robots/arm-on-gantry",
                                      "humanoid",         "double-pendulum",  "tree"};
  Random r = {2};
  for (int i = 0; i < 9; i++) {
    Loaded x = open_model(names[i], "");
    check_model(x.m, &r, 5, true);
    close_model(&x);
  }
}

TEST(symbolic_recursions_hold_for_random_trees) {
  Random r = {3};
  for (int i = 0; i < (runner_long() ? 200 : 12); i++) {
    srModel* m = random_tree(
        &r,
        &(RandomTree){
            .nbody = 1 + random_below(&r, 8), .armature = i % 3 == 0, .free_root = i % 4 == 1, .no_massless = true});
    check_model(m, &r, 3, i % 2 == 0);
    sr_model_destroy(m);
  }
}

// ---- derivatives ----------------------------------------------------------------------------------------------------------

static void dinvdyna(srSymPass* x, const void* user, srNode* out) {
  const int n = x->tree->m->nv;
  (void)user;
  sr_sym_invdyna_derivatives(x, leaves(x, SR_VAR_A), out, out + n * n, NULL);
}
static void daccel(srSymPass* x, const void* user, srNode* out) {
  const int n = x->tree->m->nv;
  (void)user;
  sr_sym_accel_derivatives(x, leaves(x, SR_VAR_TAU), out, out + n, out + n + n * n, out + n + 2 * n * n, NULL);
}
static void qdot(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_qdot(x, true, out);
}

// What the derivatives are of: by kernels at q (+) e of coordinate `by`, or at v or tau + e.
typedef struct Moved {
  const srModel* m;
  srData* d;
  State s;
  double* q;
} Moved;

static void kernel_at(const Moved* x, bool forward, int what, int by, double e, double* out) {
  const int n = x->m->nv;
  double* step = calloc((size_t)n + 1, sizeof *step);
  State s = {x->q, x->s.v, x->s.a, x->s.tau, .t = 0};
  step[by] = e;
  sr_retract(x->m, x->s.q, what == 0 ? step : (step[by] = 0, step), x->q);
  if (what == 1) s.v[by] += e;
  if (what == 2) s.tau[by] += e;
  if (forward) {
    double* M = calloc((size_t)(n * n) + 1, sizeof *M);
    int bad;
    sr_crba(x->m, x->d, s.q, M);
    for (int i = 0; i < n; i++) M[i * n + i] += x->m->dof_armature[i];
    memset(step, 0, (size_t)n * sizeof *step);
    sr_rnea(x->m, x->d, s.q, s.v, step, out);
    for (int i = 0; i < n; i++) out[i] = s.tau[i] - out[i];
    ENSURE_EQUAL(sr_ltl_factor(x->m, M, &bad), SR_OK);
    sr_ltl_solve(x->m, M, out);
    free(M);
  } else {
    required(x->m, x->d, &s, s.a, out);
  }
  if (what == 1) s.v[by] -= e;
  if (what == 2) s.tau[by] -= e;
  free(step);
}

// A column against differences of eighth order.
static void compare_column(const Moved* x, bool forward, int what, int by, const double* A) {
  static const double weight[] = {1.0 / 280, -4.0 / 105, 1.0 / 5, -4.0 / 5, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280},
                      at[] = {-4, -3, -2, -1, 1, 2, 3, 4};
  const int n = x->m->nv;
  const double h = 1e-3;
  double *sum = calloc((size_t)n + 1, sizeof *sum), *value = calloc((size_t)n + 1, sizeof *value), size = 1;
  for (int i = 0; i < SR_COUNT(at); i++) {
    kernel_at(x, forward, what, by, at[i] * h, value);
    for (int k = 0; k < n; k++) sum[k] += weight[i] * value[k] / h, size = fmax(size, fabs(value[k]));
  }
  for (int k = 0; k < n; k++) size = fmax(size, fabs(sum[k]));
  for (int k = 0; k < n; k++) ENSURE_NEAR(A[k * n + by] / size, sum[k] / size, 1e-9);
  free(sum);
  free(value);
}

static void check_derivatives(const srModel* m, Random* r) {
  const int n = m->nv;
  srData* d = sr_data_create(m);
  srPool pool;
  sr_pool_init(&pool);
  double *numbers = calloc((size_t)(2 * m->nq + 3 * n + 1), sizeof *numbers),
         *out = calloc((size_t)(n + 3 * n * n + 1), sizeof *out);
  const State s = {numbers, numbers + m->nq, numbers + m->nq + n, numbers + m->nq + 2 * n, .t = 0};
  const Moved x = {m, d, s, numbers + m->nq + 3 * n};
  srSymTree* tree = tree_of(&pool, m, true);
  random_state(r, m, d);
  memcpy(s.q, d->q, (size_t)m->nq * sizeof *d->q);
  memcpy(s.v, d->v, (size_t)n * sizeof *d->v);
  for (int i = 0; i < n; i++) s.a[i] = random_in(r, -2, 2), s.tau[i] = random_in(r, -2, 2);
  evaluate(code_of(&pool, tree, qdot, m->nq), &s, out);
  sr_qdot(m, s.q, s.v, x.q);
  for (int i = 0; i < m->nq; i++) ENSURE_NEAR(out[i], x.q[i], 1e-13);
  evaluate(code_of(&pool, tree, dinvdyna, 2 * n * n), &s, out);
  for (int j = 0; j < 2 * n; j++) compare_column(&x, false, j / n, j % n, out + j / n * n * n);
  if (!m->constrained) {
    evaluate(code_of(&pool, tree, daccel, n + 3 * n * n), &s, out);
    for (int j = 0; j < 3 * n; j++) compare_column(&x, true, j / n, j % n, out + n + j / n * n * n);
  }
  sr_pool_free(&pool);
  free(numbers);
  free(out);
  sr_data_destroy(d);
}

TEST(symbolic_derivatives_are_those_of_differences) {
  static const char* const names[] = {"paper1/arm6", "robots/arm-on-gantry", "double-pendulum", "satellite", "top",
                                      "free-body"};
  Random r = {4};
  for (int i = 0; i < 6; i++) {
    Loaded x = open_model(names[i], "");
    check_derivatives(x.m, &r);
    close_model(&x);
  }
}

// Inverse dynamics of all, forward dynamics of trees.
TEST(symbolic_derivatives_are_those_of_differences_on_shipped_models) {
  Random r = {5};
  int n = 0;
  for (int i = 0; i < SR_COUNT(folders); i++)
    n += check_folder(folders[i], &r, runner_long() ? 40 : 8, check_derivatives);
  ENSURE(n >= 80);
}

// ---- operations -----------------------------------------------------------------------------------------------------------

typedef struct Most {
  const char *model, *function;
  long add, mul, angles;
} Most;

// Those of docs/theory/symbolic.md: they may shrink. Of CHARMIE with the splines of its 19 drivers.
TEST(symbolic_operations_do_not_grow) {
  static const Most most[] = {{"paper1/arm6", "accel", 624, 815, 6},
                              {"paper1/arm6", "invdyna", 326, 391, 6},
                              {"paper1/arm6", "mass", 260, 360, 5},
                              {"robots/arm-seven", "accel", 330, 444, 6},
                              {"robots/arm-seven", "invdyna", 149, 199, 6},
                              {"robots/arm-seven", "mass", 96, 133, 6},
                              {"humanoid", "accel", 5025, 5232, 32},
                              {"humanoid", "invdyna", 1915, 1982, 32},
                              {"humanoid", "mass", 1717, 2135, 32},
                              {"robots/quadruped-stand", "accel", 899, 1100, 12},
                              {"robots/quadruped-stand", "invdyna", 411, 505, 12},
                              {"robots/quadruped-stand", "mass", 218, 256, 12},
                              {"robots/quadruped-stand", "rates", 1336, 1570, 12},
                              {"mechanisms/five-rod-suspension", "invdyna", 41, 68, 2},
                              {"mechanisms/five-rod-suspension", "cons_hJ", 208, 263, 2},
                              {"mechanisms/five-rod-suspension", "cons_jdq", 185, 221, 2},
                              {"mechanisms/five-rod-suspension", "accelred", 559, 721, 2},
                              {"paper1/charmie", "invdyna", 1244, 1514, 33},
                              {"paper1/charmie", "mass", 1330, 1792, 29},
                              {"paper1/charmie", "cons_hJ", 460, 300, 9},
                              {"paper1/charmie", "cons_jdq", 361, 256, 9},
                              {"paper1/charmie", "accelred", 2590, 2849, 33}};
  for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
    srMessages* messages = sr_messages_create();
    srGenerated* made = NULL;
    Loaded x = open_model(most[i].model, "");
    ENSURE_EQUAL(sr_generate(x.m, &(srGenerateOptions){.what = most[i].function}, messages, &made), SR_OK);
    ENSURE_EQUAL(made->nfunction, 1);
    ENSURE(made->function[0].add <= most[i].add && made->function[0].mul <= most[i].mul);
    ENSURE(made->function[0].angle <= most[i].angles);
    sr_generated_destroy(made);
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

// Two coordinates for each body, 20 to 160 of them: a body more has as many operations more as the one before, and the text grows likewise.
TEST(symbolic_code_is_linear_in_the_number_of_bodies) {
  static const char* const functions[] = {"accel", "invdyna"};
  for (int f = 0; f < 2; f++) {
    double operations[4], bytes[4];
    for (int i = 0; i < 4; i++) {
      char setting[16];
      srGenerated* made = NULL;
      srMessages* messages = sr_messages_create();
      snprintf(setting, sizeof setting, "N=%d", 20 << i);
      Loaded x = open_model("chain-spatial", setting);
      ENSURE_EQUAL(sr_generate(x.m, &(srGenerateOptions){.what = functions[f]}, messages, &made), SR_OK);
      operations[i] = (double)(made->function[0].add + made->function[0].mul);
      bytes[i] = (double)made->file[1].size;
      sr_generated_destroy(made);
      sr_messages_destroy(messages);
      close_model(&x);
    }
    for (int i = 2; i < 4; i++) {
      ENSURE_NEAR((operations[i] - operations[i - 1]) / (operations[i - 1] - operations[i - 2]), 2, 0.02);
      ENSURE_NEAR((bytes[i] - bytes[i - 1]) / (bytes[i - 1] - bytes[i - 2]), 2, 0.2);
    }
  }
}

// ---- order --------------------------------------------------------------------------------------------------------------

static bool is_ready(const srCode* code, srRef ref, const unsigned char* done) {
  const int i = SR_REF_VALUE(ref);
  if (sr_code_is_packed(code, i)) return true;
  if (!sr_code_is_inline(code, i)) return done[i];
  for (int k = 0; k < sr_op_arity(code->value[i].op); k++) {
    if (!is_ready(code, code->value[i].child[k], done)) return false;
  }
  return true;
}

// Orders of statements: each value behind what it is made of, every output once, and fewer values that wait without a register than in the order in which they are built (7167 for the humanoid; 2418 for the derivatives where their outputs are taken by rows).
TEST(symbolic_statements_are_in_an_order_of_few_registers) {
  static const char* const names[] = {"humanoid", "paper1/arm6", "robots/arm-seven"};
  static const long most[] = {5721, 699, 2138};
  for (int k = 0; k < 3; k++) {
    Loaded x = open_model(names[k], "");
    srPool pool;
    sr_pool_init(&pool);
    const int n = x.m->nv;
    const srCode* code = code_of(&pool, tree_of(&pool, x.m, true), k < 2 ? aba : daccel, k < 2 ? n : n + 3 * n * n);
    const srOrder order = sr_code_order(&pool, code, 13);
    unsigned char* done = sr_pool_alloc(&pool, (size_t)code->n + 1);
    int outputs = 0;
    for (int t = 0; t < order.n; t++) {
      const int i = order.item[t];
      outputs += i < 0;
      if (i < 0) continue;
      ENSURE(!done[i]);
      done[i] = 1;
      for (int j = 0; j < sr_op_arity(code->value[i].op); j++) ENSURE(is_ready(code, code->value[i].child[j], done));
    }
    ENSURE_EQUAL(outputs, code->nout);
    ENSURE(order.price <= most[k]);
    sr_pool_free(&pool);
    close_model(&x);
  }
}

// With few registers: what is read from a slot was put there and is still there, and slots are used again.
TEST(symbolic_values_that_wait_are_in_their_slots) {
  Loaded x = open_model("humanoid", "");
  srPool pool;
  sr_pool_init(&pool);
  const srCode* code = code_of(&pool, tree_of(&pool, x.m, true), aba, x.m->nv);
  const srOrder order = sr_code_order(&pool, code, 40);
  const srRoom room = sr_code_room(&pool, code, &order, 40);
  int *content = sr_pool_alloc(&pool, ((size_t)room.n + 1) * sizeof *content), put = 0;
  for (int i = 0; i < room.n; i++) content[i] = -1;
  for (int t = 0; t < order.n; t++) {
    for (int k = 0; k < room.put[t].n; k++, put++) content[room.slot[room.put[t].value[k]]] = room.put[t].value[k];
    for (int k = 0; k < room.read[t].n; k++) {
      ENSURE_EQUAL(content[room.slot[room.read[t].value[k]]], room.read[t].value[k]);
    }
  }
  ENSURE(room.n > 100 && put > room.n + 50);
  sr_pool_free(&pool);
  close_model(&x);
}
