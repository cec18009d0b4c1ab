// Constraint equations on the graph against the kernels, on all shipped models with loops, couplings, drivers or formulas: residuals, Jacobian, explicit rates and (dJ/dt) v + db/dt, at states that do not satisfy them; J against
// differences of the residuals.
#include <dirent.h>
#include <string.h>

#include "constraint/constraint.h"
#include "loading.h"
#include "random_tree.h"
#include "symbolic/reduced.h"
#include "symbolic/rows.h"
#include "symbolic_values.h"

static void build(srSymPass* x, const void* user, srNode* out) {
  const srModel* m = x->tree->m;
  const srSymRows rows = sr_sym_rows(x, user != NULL);
  memcpy(out, rows.h, (size_t)m->np * sizeof *out), out += m->np;
  memcpy(out, rows.J, (size_t)m->ng * (size_t)m->nv * sizeof *out), out += m->ng * m->nv;
  memcpy(out, rows.b, (size_t)m->ng * sizeof *out), out += m->ng;
  if (rows.jdq) memcpy(out, rows.jdq, (size_t)m->ng * sizeof *out);
}

static void ensure_near(const char* what, const double* x, const double* y, int n, double least) {
  double off = 0, size = least;
  for (int i = 0; i < n; i++) off = fmax(off, fabs(x[i] - y[i])), size = fmax(size, fabs(y[i]));
  if (!(off <= 1e-13 * size)) printf("%s: %g of %g\n", what, off, size);
  ENSURE(off <= 1e-13 * size);
}

// Size of the model: what lengths and residuals are compared with.
static double length_of(const srModel* m) {
  double out = 1;
  for (int i = 1; i < m->nlink; i++)
    for (int k = 0; k < 3; k++) out = fmax(out, fabs(m->link_tree[16 * i + 12 + k]));
  return out;
}

static void compare(const srModel* m, srData* d, const srCode* code) {
  const int ng = m->ng, nv = m->nv;
  double *out = calloc((size_t)(m->np + ng * nv + 2 * ng + 1), sizeof *out),
         *G = calloc((size_t)(ng * nv + 1), sizeof *G), *jdq = calloc((size_t)ng + 1, sizeof *jdq), fastest = 0;
  const State s = {d->q, d->v, NULL, NULL, d->t, .motion = d->motion};
  ENSURE_EQUAL(sr_constraints(m, d), 0);
  evaluate(code, &s, out);
  sr_constraint_matrix(m, d, G);
  ENSURE_EQUAL(sr_constraint_gamma(m, d), 0);
  for (int i = 0; i < ng; i++) jdq[i] = -d->gamma[i];
  for (int i = 0; i < nv; i++) fastest = fmax(fastest, fabs(d->v[i]));
  const double length = length_of(m);
  ensure_near("h", out, d->g, m->np, length);
  ensure_near("J", out + m->np, G, ng * nv, length);
  ensure_near("b", out + m->np + ng * nv, d->b, ng, 1);
  ensure_near("jdq", out + m->np + ng * nv + ng, jdq, ng, fastest * fastest * length);
  free(out);
  free(G);
  free(jdq);
}

// Columns of J of the position equations by differences of fourth order of their residuals, the code's own.
static void compare_differences(const srModel* m, const srData* d, const srCode* code) {
  static const double weight[] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[] = {-2, -1, 1, 2};
  const int nv = m->nv, n = m->np + m->ng * nv + 2 * m->ng;
  double *out = calloc((size_t)n + 1, sizeof *out), *moved = calloc((size_t)n + 1, sizeof *moved),
         *step = calloc((size_t)nv + 1, sizeof *step), *q = calloc((size_t)m->nq + 1, sizeof *q),
         *sum = calloc((size_t)m->np + 1, sizeof *sum);
  const double h = 1e-3, length = length_of(m);
  evaluate(code, &(State){d->q, d->v, NULL, NULL, d->t, .motion = d->motion}, out);
  for (int j = 0; j < nv; j++) {
    memset(sum, 0, (size_t)m->np * sizeof *sum);
    for (int i = 0; i < 4; i++) {
      step[j] = at[i] * h;
      sr_retract(m, d->q, step, q);
      evaluate(code, &(State){q, d->v, NULL, NULL, d->t, .motion = d->motion}, moved);
      for (int r = 0; r < m->np; r++) sum[r] += weight[i] * moved[r] / h;
    }
    step[j] = 0;
    for (int r = 0; r < m->np; r++)
      ENSURE_NEAR(out[m->np + r * nv + j] / fmax(length, fabs(sum[r])), sum[r] / fmax(length, fabs(sum[r])), 1e-8);
  }
  free(out), free(moved), free(step), free(q), free(sum);
}

static void set_frames(srSymTree* tree, Random* r) {
  for (int i = 1; i < tree->n; i++) {
    srSymLink* l = &tree->link[i];
    if (l->type == SR_LINK_REVOLUTE && random_below(r, 2)) l->frame = SR_FRAME_BEFORE;
    if ((l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_PRISMATIC) && sr_sym_is_parallel(l) && random_below(r, 2))
      l->frame = SR_FRAME_PARENT;
  }
}

static void check_rows(const srModel* m, srData* d, Random* r, int states) {
  double *q = calloc((size_t)m->nq + 1, sizeof *q), *step = calloc((size_t)m->nv + 1, sizeof *step);
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  for (int reduced = 0; reduced < 2; reduced++) {
    srPool pool;
    sr_pool_init(&pool);
    srSymTree* tree = tree_of(&pool, m, reduced == 1);
    if (reduced == 1) set_frames(tree, r);
    const srCode* code = code_with(&pool, tree, build, m, m->np + m->ng * m->nv + 2 * m->ng);
    for (int k = 0; k < states; k++) {
      for (int i = 0; i < m->nv; i++) step[i] = random_in(r, -0.3, 0.3), d->v[i] = random_in(r, -2, 2);
      d->t = random_in(r, 0, 1);
      sr_retract(m, q, step, d->q);
      sr_evaluate(m, d, d->t, d->q, d->v, d->y, SR_STAGE_VELOCITY);
      compare(m, d, code);
      if (k == 0 && m->nv <= 40) compare_differences(m, d, code);
    }
    sr_pool_free(&pool);
  }
  free(q);
  free(step);
}

// ---- reduced equations ------------------------------------------------------------------------------------------------------

static void accelred(srSymPass* x, const void* user, srNode* out) {
  srNode* tau = sr_pool_alloc(x->tree->pool, ((size_t)x->tree->m->nv + 1) * sizeof *tau);
  for (int i = 0; i < x->tree->m->nv; i++) tau[i] = sr_graph_var(x->g, SR_VAR_TAU, i);
  sr_sym_accelred(x, user, tau, out);
}

static void invdynared(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  srNode* in = sr_pool_alloc(x->tree->pool, (2 * (size_t)nv + 1) * sizeof *in);
  for (int i = 0; i < nv; i++) in[i] = sr_graph_var(x->g, SR_VAR_A, i), in[nv + i] = sr_graph_var(x->g, SR_VAR_TAU, i);
  sr_sym_invdynared(x, user, in, in + nv, out);
}

// The accelerations of the saddle-point system, or of the recursion with couplings, with the forces of the model; and forces that are those of the drivers, and 0 elsewhere.
static void compare_reduced(const srModel* m, srData* d, const srCode* forward, const srCode* inverse, double* worst) {
  double *out = calloc((size_t)m->nv + 1, sizeof *out), size = 1, force = 1;
  const State s = {d->q, d->v, d->a, d->f, d->t, .motion = d->motion};
  evaluate(forward, &s, out);
  for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(d->a[i]));
  for (int i = 0; i < m->nv; i++) *worst = fmax(*worst, fabs(out[i] - d->a[i]) / size);
  evaluate(inverse, &s, out);
  for (int i = 0; i < m->nv; i++) force = fmax(force, fmax(fabs(d->f[i]), fabs(d->bias[i])));
  for (int i = 0; i < m->ng; i++) force = fmax(force, fabs(d->lambda[i]));
  for (int i = 0; i < m->ndriver && !m->absolute; i++) out[m->driver[i].dof] -= d->lambda[m->row_driver + i];
  for (int i = 0; i < m->nv; i++) *worst = fmax(*worst, fabs(out[i]) / force);
  free(out);
}

// At states that satisfy the constraints: from disturbed ones by the assembly.
static bool check_reduced(const srModel* m, srData* d, Random* r, int states) {
  srPool pool;
  sr_pool_init(&pool);
  double snapped = 0, worst = 0, *q = calloc((size_t)m->nq + 1, sizeof *q),
         *step = calloc((size_t)m->nv + 1, sizeof *step);
  srMessages* messages = sr_messages_create();
  srSymPartition* p = NULL;
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  const bool known = sr_sym_partition(sr_sym_tree(&pool, m, 1e-13, &snapped), d, NULL, messages, &p) == SR_OK;
  int done = 0;
  for (int reduced = 0; reduced < 2 && known; reduced++) {
    srSymTree* tree = tree_of(&pool, m, reduced == 1);
    if (reduced == 1) set_frames(tree, r);
    const srCode *forward = code_with(&pool, tree, accelred, p, m->nv),
                 *inverse = code_with(&pool, tree, invdynared, p, m->nv);
    for (int k = 0; k < states; k++) {
      for (int i = 0; i < m->nv; i++) step[i] = random_in(r, -0.02, 0.02), d->v[i] = random_in(r, -1, 1);
      sr_retract(m, q, step, d->q);
      if (sr_assemble(m, d, messages, &(srAssembly){0}) != SR_OK) continue;
      if (sr_evaluate(m, d, d->t, d->q, d->v, d->y, SR_STAGE_ACCELERATION) != 0) continue;
      compare_reduced(m, d, forward, inverse, &worst);
      done++;
    }
  }
  if (worst > 1e-9) printf("%s: %g\n", m->name, worst);
  ENSURE(worst <= 1e-9);
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
  free(q), free(step);
  return done > 0;
}

// ---- models -----------------------------------------------------------------------------------------------------------------

static int check_folder(const char* folder, Random* r, bool absolute, bool reduced) {
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
    srModel *m = NULL, *other = NULL;
    srData *d = NULL, *there = NULL;
    srPool pool;
    sr_pool_init(&pool);
    if (sr_load(path, &(srLoadOptions){0}, messages, &spec) == SR_OK && sr_compile(spec, messages, &m) == SR_OK &&
        m->nv > 0 && m->nv <= 120 && (m->ng > 0 || absolute)) {
      d = sr_data_create(m);
      sr_assemble(m, d, messages, &(srAssembly){0});
      if (absolute && sr_formulate(spec, m, d, SR_FORMULATION_ABSOLUTE, messages, &other, &there) != SR_OK)
        other = NULL;
      const srModel* used = absolute ? other : m;
      if (used && sr_sym_rows_missing(&pool, used) == NULL) {
        srData* at = absolute ? there : d;
        if (!reduced) check_rows(used, at, r, runner_long() ? 1000 : 2);
        if (!reduced ||
            (used->nmassless == 0 && !used->armature_place && check_reduced(used, at, r, runner_long() ? 1000 : 2)))
          n++;
      }
    }
    sr_pool_free(&pool);
    sr_data_destroy(d);
    sr_data_destroy(there);
    sr_model_destroy(m);
    sr_model_destroy(other);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
  closedir(directory);
  return n;
}

static const char* const folders[] = {".",          "paper1",    "paper2",   "paper3",
                                      "mechanisms", "benchmark", "vehicles", "robots"};

TEST(symbolic_constraint_equations_are_those_of_the_kernels_on_shipped_models) {
  Random r = {21};
  int n = 0;
  for (int i = 0; i < 8; i++) n += check_folder(folders[i], &r, false, false);
  ENSURE(n >= 40);
}

TEST(symbolic_constraint_equations_of_free_bodies_are_those_of_the_kernels) {
  Random r = {22};
  ENSURE(check_folder("mechanisms", &r, true, false) >= 12);
}

TEST(symbolic_reduced_equations_are_those_of_the_kernels_on_shipped_models) {
  Random r = {23};
  int n = 0;
  for (int i = 0; i < 8; i++) n += check_folder(folders[i], &r, false, true);
  ENSURE(n >= 35);
}

TEST(symbolic_reduced_equations_of_free_bodies_are_those_of_the_kernels) {
  Random r = {24};
  ENSURE(check_folder("mechanisms", &r, true, true) >= 8);
}
