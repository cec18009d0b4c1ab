// Every function that can be generated, on every shipped model: against the kernels, or refused by a sentence. Constraint equations, reduced equations and regressors: test_symbolic_rows.c, test_regressor.c, likewise on all.
#include <dirent.h>
#include <string.h>

#include "constraint/constraint.h"
#include "loading.h"
#include "random_tree.h"
#include "symbolic/function.h"
#include "symbolic_values.h"

typedef struct Check {
  const srModel* m;
  srData* d;
  State s;
  double *out, *M, *c, *f;  // of the code; of the kernels: mass matrix with armature, bias, inverse dynamics at a
} Check;

// 1e-13 of the largest of the numbers, or of what is summed.
static void ensure_near(const Check* x, const char* what, const double* y, const double* expected, int n,
                        double least) {
  const double size = fmax(least, largest(expected, n));
  double off = 0;
  for (int i = 0; i < n; i++) off = fmax(off, fabs(y[i] - expected[i]));
  if (!(off <= 1e-13 * size)) printf("%s: %s: %g of %g\n", x->m->name, what, off, size);
  ENSURE(off <= 1e-13 * size);
}

static void required(const srModel* m, srData* d, const State* s, const double* a, double* tau) {
  sr_rnea(m, d, s->q, s->v, a, tau);
  for (int i = 0; i < m->nv; i++) tau[i] += m->dof_armature[i] * a[i];
}

// ---- each function ----------------------------------------------------------------------------------------------------------

static void check_invdyna(Check* x) { ensure_near(x, "invdyna", x->out, x->f, x->m->nv, 0); }
static void check_bias(Check* x) { ensure_near(x, "bias", x->out, x->c, x->m->nv, largest(x->f, x->m->nv)); }

static void check_mass(Check* x) {
  const int n = x->m->nv;
  double* triangle = calloc((size_t)(n * n) + 1, sizeof *triangle);
  int at = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k <= i; k++) triangle[at++] = x->M[i * n + k];
  }
  ensure_near(x, "mass", x->out, triangle, at, 0);
  free(triangle);
}

static void check_dirdyna(Check* x) {
  const int n = x->m->nv;
  ensure_near(x, "dirdyna: M", x->out, x->M, n * n, 0);
  ensure_near(x, "dirdyna: c", x->out + n * n, x->c, n, largest(x->f, n));
}

static void check_entries(Check* x) {
  const srModel* m = x->m;
  double* entry = calloc((size_t)m->M_row[m->nv] + 1, sizeof *entry);
  for (int i = 0; i < m->nv; i++) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++) entry[k] = x->M[i * m->nv + m->M_column[k]];
  }
  ensure_near(x, "entries", x->out, entry, m->M_row[m->nv], largest(x->M, m->nv * m->nv));
  free(entry);
}

static void check_qdot(Check* x) {
  double* rate = calloc((size_t)x->m->nq + 1, sizeof *rate);
  sr_qdot(x->m, x->s.q, x->s.v, rate);
  ensure_near(x, "qdot", x->out, rate, x->m->nq, 0);
  free(rate);
}

// By the forces that its accelerations need: the condition of M does not enter.
static void check_accel(Check* x) {
  const int n = x->m->nv;
  double* tau = calloc((size_t)n + 1, sizeof *tau);
  required(x->m, x->d, &x->s, x->out, tau);
  for (int i = 0; i < n; i++) tau[i] -= x->s.tau[i];
  const double size = largest(x->s.tau, n);
  if (!(largest(tau, n) <= 1e-10 * size)) printf("%s: accel: %g of %g\n", x->m->name, largest(tau, n), size);
  ENSURE(largest(tau, n) <= 1e-10 * size);
  free(tau);
}

static void check_sensor(Check* x) {
  const srModel* m = x->m;
  const int nv = m->nv;
  double* J = calloc((size_t)(6 * nv) + 1, sizeof *J);
  int n = 0, k = 0;
  for (int i = 0; i < m->nsensor; i++) n += m->sensor[i].point >= 0;
  const double *R = x->out + 3 * n, *v = R + 9 * n, *w = v + 3 * n, *jacobian = w + 3 * n, *a = jacobian + 6 * n * nv,
               *wd = a + 3 * n;
  sr_evaluate(m, x->d, 0, x->s.q, x->s.v, m->y0, SR_STAGE_VELOCITY);
  memcpy(x->d->a, x->s.a, (size_t)nv * sizeof *x->d->a);
  sr_acceleration(m, x->d);
  for (int i = 0; i < m->nsensor; i++) {
    srFrameMotion f;
    if (m->sensor[i].point < 0) continue;
    sr_frame_motion(m, x->d, m->sensor[i].point, m->sensor[i].relative_to, &f);
    sr_frame_jacobian(m, x->d, m->sensor[i].point, m->sensor[i].relative_to, J);
    const double length = fmax(1, largest(f.position, 3)), speed = fmax(1, largest(x->s.v, nv));
    ensure_near(x, "p_sens", x->out + 3 * k, f.position, 3, length);
    ensure_near(x, "R_sens", R + 9 * k, f.rotation, 9, 1);
    ensure_near(x, "v_sens", v + 3 * k, f.velocity, 3, length * speed);
    ensure_near(x, "om_sens", w + 3 * k, f.angular_velocity, 3, speed);
    ensure_near(x, "a_sens", a + 3 * k, f.acceleration, 3, 10 * length * speed * speed);
    ensure_near(x, "omp_sens", wd + 3 * k, f.angular_acceleration, 3, 10 * speed * speed);
    for (int r = 0; r < 6; r++)  // angular velocity first there
      ensure_near(x, "J_sens", jacobian + (6 * k + (r + 3) % 6) * nv, J + r * nv, nv, length);
    k++;
  }
  free(J);
}

typedef void (*Compare)(Check* x);
static const struct {
  const char* name;
  Compare compare;  // NULL: by another test, named above
} table[] = {{"accel", check_accel},
             {"invdyna", check_invdyna},
             {"dirdyna", check_dirdyna},
             {"mass", check_mass},
             {"qdot", check_qdot},
             {"bias", check_bias},
             {"entries", check_entries},
             {"sensor", check_sensor},
             {"dinvdyna", NULL},  // test_symbolic.c
             {"daccel", NULL},
             {"link", NULL},  // below
             {"extforce", NULL},
             {"contact", NULL},
             {"force", NULL},  // test_symbolic_forces.c
             {"rates", NULL},
             {"cons_hJ", NULL},  // test_symbolic_rows.c
             {"cons_jdq", NULL},
             {"accelred", NULL},
             {"invdynared", NULL},
             {"regressor", NULL},  // test_regressor.c
             {"regressor_full", NULL}};

TEST(symbolic_functions_all_have_a_comparison) {
  for (int i = 0; i < sr_sym_nfunction; i++) {
    int found = 0;
    for (int k = 0; k < SR_COUNT(table); k++) found += strcmp(table[k].name, sr_sym_functions[i]->name) == 0;
    if (found != 1) printf("%s\n", sr_sym_functions[i]->name);
    ENSURE_EQUAL(found, 1);
  }
}

// ---- models -----------------------------------------------------------------------------------------------------------------

static void put_state(Check* x, Random* r) {
  const srModel* m = x->m;
  const int n = m->nv;
  random_state(r, m, x->d);
  memcpy(x->s.q, x->d->q, (size_t)m->nq * sizeof *x->s.q);
  memcpy(x->s.v, x->d->v, (size_t)n * sizeof *x->s.v);
  for (int i = 0; i < n; i++) x->s.a[i] = random_in(r, -2, 2);
  sr_crba(m, x->d, x->s.q, x->M);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) x->M[k * n + i] = x->M[i * n + k];
    x->M[i * n + i] += m->dof_armature[i];
  }
  required(m, x->d, &x->s, x->s.a, x->f);
  double* zero = calloc((size_t)n + 1, sizeof *zero);
  required(m, x->d, &x->s, zero, x->c);
  free(zero);
  memcpy(x->s.tau, x->f, (size_t)n * sizeof *x->f);
}

// Frames that a search might choose.
static void set_frames(srSymTree* tree, Random* r) {
  for (int i = 1; i < tree->n; i++) {
    srSymLink* l = &tree->link[i];
    const bool revolute = l->type == SR_LINK_REVOLUTE;
    if (revolute && random_below(r, 2)) l->frame = SR_FRAME_BEFORE;
    if ((revolute || l->type == SR_LINK_PRISMATIC) && sr_sym_is_parallel(l) && random_below(r, 2))
      l->frame = SR_FRAME_PARENT;
    l->carries = revolute && random_below(r, 2);
  }
}

static int check_functions(const srModel* m, Random* r, int states) {
  const size_t n = (size_t)m->nv;
  srPool pool;
  sr_pool_init(&pool);
  double* numbers = calloc((size_t)m->nq + 5 * n + n * n + 1, sizeof *numbers);
  Check x = {.m = m, .d = sr_data_create(m), .s = {.q = numbers}};
  x.s.v = x.s.q + m->nq, x.s.a = x.s.v + n, x.s.tau = x.s.a + n, x.c = x.s.tau + n, x.f = x.c + n, x.M = x.f + n;
  const srSymContext context = {.m = m, .pool = &pool};
  int compared = 0;
  for (int i = 0; i < SR_COUNT(table); i++) {
    const srSymFunction* f = NULL;
    for (int k = 0; k < sr_sym_nfunction; k++) {
      if (strcmp(sr_sym_functions[k]->name, table[i].name) == 0) f = sr_sym_functions[k];
    }
    const char* missing = f->missing ? f->missing(&context) : NULL;
    if (missing != NULL) ENSURE(strlen(missing) > 20 && strchr(missing, ' ') != NULL);
    if (missing != NULL || table[i].compare == NULL || (f->partitioned && m->constrained)) continue;
    srSymTree* tree = tree_of(&pool, m, true);
    set_frames(tree, r);
    const int nout = sr_sym_outputs(f, &context);
    const srCode* code = code_with(&pool, tree, f->build[0], &context, nout);
    x.out = calloc((size_t)nout + 1, sizeof *x.out);
    for (int k = 0; k < states; k++) {
      put_state(&x, r);
      evaluate(code, &x.s, x.out);
      table[i].compare(&x);
    }
    free(x.out);
    compared++;
  }
  free(numbers);
  sr_data_destroy(x.d);
  sr_pool_free(&pool);
  return compared;
}

// The three parts of all force elements are the forces of the kernels, and none is more than its elements are.
static int check_parts(const srModel* m, Random* r, int states) {
  extern const srSymFunction sr_function_link, sr_function_extforce, sr_function_contact;
  const srSymFunction* part[] = {&sr_function_link, &sr_function_extforce, &sr_function_contact};
  const int n = m->nv;
  srPool pool;
  sr_pool_init(&pool);
  const srSymContext context = {.m = m, .pool = &pool};
  const srCode* code[3];
  int known = m->nforce > 0 && !m->absolute;
  for (int i = 0; i < 3 && known; i++) {
    known = part[i]->missing(&context) == NULL;
    if (known)
      code[i] = code_with(&pool, tree_of(&pool, m, true), part[i]->build[0], NULL, sr_sym_outputs(part[i], &context));
  }
  srData* d = sr_data_create(m);
  double *sum = calloc((size_t)n + 1, sizeof *sum), *out = calloc((size_t)(n + m->ny) + 1, sizeof *out), *y = d->y;
  for (int k = 0; k < states && known; k++) {
    double size = 0, stiff = 0;
    random_state(r, m, d);
    for (int i = 0; i < m->ny; i++) y[i] = m->y0[i];
    for (int i = 0; i < m->nforce; i++) {
      const srSurfaceLaws* c = m->force[i].contact;
      if (c != NULL && c->law != NULL && isfinite(c->p.K)) stiff = fmax(stiff, c->p.K * 1e-3);
      if (c != NULL && c->slip.law != NULL) stiff = fmax(stiff, c->slip.p.K * 1e-3);
    }
    memset(d->tau, 0, (size_t)m->njv * sizeof *d->tau);
    if (sr_evaluate_stage(m, d, 0.1, d->q, d->v, y, SR_STAGE_FORCE, -1) != 0) continue;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int i = 0; i < 3; i++) {
      evaluate(code[i], &(State){.q = d->q, .v = d->v, .y = y, .t = 0.1, .stage = -1}, out);
      for (int j = 0; j < n; j++) sum[j] += out[j];
      size = fmax(size, largest(out, n));
    }
    const Check x = {.m = m};
    const State s = {.q = d->q, .v = d->v, .y = y, .t = 0.1, .stage = -1};
    if (farthest(sum, d->f, n) > 1e-13 * fmax(size, stiff))
      ensure_near(&x, "link + extforce + contact", sum, d->f, n, 1e13 * force_moved(m, &s));
  }
  sr_data_destroy(d);
  sr_pool_free(&pool);
  free(sum), free(out);
  return known;
}

static bool has_end(const char* name, const char* end) {
  const size_t n = strlen(name), k = strlen(end);
  return n > k && strcmp(name + n - k, end) == 0;
}

typedef struct Counts {
  int models, functions, parts;
} Counts;

static void check_folder(const char* folder, Random* r, Counts* to) {
  const int most = runner_long() ? 400 : 60, states = runner_long() ? 1000 : 3;
  char path[1024];
  snprintf(path, sizeof path, "%s/models/%s", SARRUS_SOURCE_DIR, folder);
  DIR* directory = opendir(path);
  ENSURE(directory != NULL);
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    if (!has_end(entry->d_name, ".xml") && !has_end(entry->d_name, ".urdf")) continue;
    snprintf(path, sizeof path, "%s/models/%s/%s", SARRUS_SOURCE_DIR, folder, entry->d_name);
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel* m = NULL;
    if (sr_load(path, &(srLoadOptions){0}, messages, &spec) == SR_OK && sr_compile(spec, messages, &m) == SR_OK &&
        m->nv <= most) {
      to->models++;
      to->functions += check_functions(m, r, states);
      to->parts += check_parts(m, r, states);
    }
    sr_model_destroy(m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
  closedir(directory);
}

TEST(symbolic_functions_are_those_of_the_kernels_on_shipped_models) {
  static const char* const folders[] = {".",         "paper1",   "paper2", "paper3",    "mechanisms",
                                        "benchmark", "vehicles", "robots", "nonsmooth", "contact"};
  Random r = {31};
  Counts n = {0};
  for (int i = 0; i < SR_COUNT(folders); i++) check_folder(folders[i], &r, &n);
  printf("%d models, %d functions, %d with parts\n", n.models, n.functions, n.parts);
  ENSURE(n.models >= 120 && n.functions >= 600 && n.parts >= 50);
}

TEST(symbolic_functions_that_divide_by_inertia_are_refused_without_mass) {
  Loaded x = open_text(
      "<sarrus version='1' name='x'><body name='a'><joint type='revolute'/><inertial mass='1' com='1 0 0'/></body>"
      "<body name='b' parent='a'><joint type='revolute'/></body></sarrus>");
  ENSURE_EQUAL(x.m->nmassless, 1);
  const char* const names[] = {"accel", "daccel", "rates", "invdyna"};
  for (int i = 0; i < 4; i++) {
    srMessages* messages = sr_messages_create();
    srGenerated* made = NULL;
    ENSURE_EQUAL(sr_generate(x.m, &(srGenerateOptions){.what = names[i]}, messages, &made), i < 3 ? SR_INPUT : SR_OK);
    sr_generated_destroy(made);
    sr_messages_destroy(messages);
  }
  close_model(&x);
}
