// Parameters as arguments of generated functions: the statements with values p are the kernels of the model compiled for p; derivatives by p are those of differences of such models.
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "symbolic/function.h"

typedef struct Parametric {
  srPool pool;
  srMessages* messages;
  srSpec* spec;
  srModel* m;
  srSymTree* tree;  // NULL: no parameter can be an argument
  srSymContext context;
} Parametric;

static Parametric* open_parametric(srSpec* spec, const char* names) {
  Parametric* x = calloc(1, sizeof *x);
  double snapped = 0;
  sr_pool_init(&x->pool);
  x->messages = sr_messages_create(), x->spec = spec;
  if (sr_compile(spec, x->messages, &x->m) != SR_OK || x->m->nv == 0 || x->m->nmassless > 0 || x->m->absolute) return x;
  srSymTree* tree = sr_sym_tree(&x->pool, x->m, 1e-13, &snapped);
  tree->symbols = sr_sym_symbols(tree, spec, names, false, x->messages);
  if (tree->symbols == NULL) return x;
  sr_sym_regroup_symbols(tree);
  x->tree = tree, x->context = (srSymContext){.m = x->m, .symbols = tree->symbols};
  return x;
}

static void close_parametric(Parametric* x) {
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
  sr_messages_destroy(x->messages);
  sr_pool_free(&x->pool);
  free(x);
}

static const srCode* code_of(Parametric* x, const srSymFunction* f, int way) {
  srGraph* g = sr_graph_create(&x->pool);
  const int nout = sr_sym_outputs(f, &x->context);
  srNode* out = sr_pool_alloc(&x->pool, ((size_t)nout + 1) * sizeof *out);
  f->build[way](sr_sym_pass(g, &x->pool, x->tree), &x->context, out);
  return sr_code_create(&x->pool, g, out, nout);
}

extern const srSymFunction sr_function_accel, sr_function_invdyna, sr_function_dinvdyna, sr_function_daccel;

// The model with these values.
static srModel* with_values(const Parametric* x, const double* p) {
  const srSymSymbols* s = x->context.symbols;
  srSpec* spec = srs_copy(x->spec);
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_PARAMETER); i++) {
    const char* name = ((const srParameterDef*)srs_get(spec, SR_ELEMENT_PARAMETER, i))->name.text;
    for (int k = 0; k < s->n; k++) {
      if (strcmp(name, s->name[k]) == 0)
        ENSURE(srs_set(spec, SR_ELEMENT_PARAMETER, i, (int)(offsetof(srParameterDef, value) / sizeof(srAttr)),
                       sr_number(p[k])));
    }
  }
  (void)sr_compile(spec, messages, &m);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  return m;
}

static void required(const srModel* m, srData* d, const double* a, double* tau) {
  sr_rnea(m, d, d->q, d->v, a, tau);
  for (int i = 0; i < m->nv; i++) tau[i] += m->dof_armature[i] * a[i];
}

static double apart(const double* x, const double* y, int n) {
  double off = 0, size = 1e-300;
  for (int i = 0; i < n; i++) off = fmax(off, fabs(x[i] - y[i])), size = fmax(size, fabs(y[i]));
  return off / size;
}

static void check_values(Parametric* x, Random* r, const double* p) {
  srModel* m = with_values(x, p);
  if (m == NULL) return;  // no such model
  const int n = x->m->nv;
  srData* d = sr_data_create(m);
  double *a = calloc((size_t)n, sizeof *a), *tau = calloc((size_t)n, sizeof *tau),
         *out = calloc((size_t)n, sizeof *out), *again = calloc((size_t)n, sizeof *again);
  random_state(r, m, d);
  for (int i = 0; i < n; i++) a[i] = random_in(r, -2, 2);
  required(m, d, a, tau);
  const double* input[SR_VAR_KINDS + 1] = {
      [SR_VAR_Q] = d->q, [SR_VAR_V] = d->v, [SR_VAR_A] = a, [SR_VAR_TAU] = tau, [SR_VAR_KINDS] = p};
  for (int k = 0; k < (m->constrained ? 1 : 3);
       k++) {  // inverse dynamics, and both ways of the forward one, which are judged by the forces
    const srCode* code = code_of(x, k == 0 ? &sr_function_invdyna : &sr_function_accel, k == 2);
    double* work = calloc((size_t)code->work, sizeof *work);
    sr_code_evaluate(code, input, work, out);
    if (k > 0) required(m, d, out, again);
    ENSURE_SMALL(apart(k > 0 ? again : out, tau, n), k > 0 ? 1e-9 : 1e-12);
    free(work);
  }
  free(a), free(tau), free(out), free(again);
  sr_data_destroy(d);
  sr_model_destroy(m);
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
    const srStatus status = sr_load(path, &(srLoadOptions){0}, messages, &spec);
    sr_messages_destroy(messages);
    if (status != SR_OK) continue;
    Parametric* x = open_parametric(spec, "all");
    if (x->tree != NULL && x->m->nv <= 20) {
      const srSymSymbols* s = x->context.symbols;
      double* p = calloc((size_t)s->n, sizeof *p);
      for (int k = 0; k < 2; k++) {  // its own values, then others
        for (int i = 0; i < s->n; i++) p[i] = s->value[i] * (k == 0 ? 1 : 1 + 0.011 * (i * 7 % 5 + 1));
        check_values(x, r, p);
      }
      free(p);
      n++;
    }
    close_parametric(x);
  }
  closedir(directory);
  return n;
}

TEST(symbols_are_the_numbers_of_shipped_models_compiled_for_other_values) {
  static const char* const folders[] = {".",          "paper1",    "paper2",   "paper3",
                                        "mechanisms", "benchmark", "vehicles", "robots"};
  Random r = {21};
  int n = 0;
  for (int i = 0; i < 8; i++) n += check_folder(folders[i], &r);
  ENSURE(n >= 40);
}

// Everything that may depend on parameters, on a tree of all joints, with a welded body and a shape whose mass stays a number.
static const char everything[] =
    "<sarrus version='1' name='x'>"
    "<parameter name='m' value='2'/><parameter name='l' value='0.7'/><parameter name='twice' value='2*l'/>"
    "<parameter name='g' value='9.7'/><parameter name='i' value='0.3'/><parameter name='rotor' value='0.05'/>"
    "<parameter name='corner' value='1'/><parameter name='zero' value='0'/><parameter name='tilt' "
    "value='0.2'/><parameter name='k' value='100'/>"
    "<option gravity='0.1*g 0 -g'/>"
    "<body name='a'><joint type='revolute' axis='0 1 0' at='0 zero l' rpy='0.1 tilt 0.3' armature='rotor' "
    "stiffness='k'/>"
    "<inertial mass='m' com='l/2 0.1 zero' inertia='i 1.5*i 2*i 0.1*i 0.02 0' rpy='0.4 0.2 0.1'/>"
    "<shape type='sphere' size='0.05' density='7000'/></body>"
    "<body name='w' parent='a'><joint type='weld' at='l 0.2 0' rpy='0.5 0 0.2'/>"
    "<inertial mass='0.5*m' com='0.1 0.2*l 0.3' inertia='0.2 0.2 0.3'/></body>"
    "<body name='b' parent='w'><joint type='universal' axis='1 0 0' axis2='0 1 0' at='twice 0 0.1'/>"
    "<inertial mass='m^2' com='0 0 sqrt(l)' inertia='0.4 0.4 0.3'/></body>"
    "<body name='c' parent='b'><joint type='prismatic' axis='0 0 1' at='0 0 l'/>"
    "<inertial mass='max(corner, 0.5)' com='0.1 0 0' inertia='i i i'/></body>"
    "<body name='e' parent='c'><joint type='ball' at='l l l'/>"
    "<inertial mass='m' com='0.1 0 l' inertia='0.2 0.3 0.4'/></body>"
    "</sarrus>";

static srSpec* spec_of(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  sr_messages_destroy(messages);
  return spec;
}

TEST(symbols_enter_masses_places_inertias_armatures_and_gravity) {
  Random r = {22};
  Parametric* x = open_parametric(spec_of(everything), "m,l,twice,g,i,rotor,zero");
  loading_print(x->messages);
  ENSURE(x->tree != NULL);
  ENSURE_EQUAL(x->context.symbols->n, 7);
  const double values[3][7] = {
      {2, 0.7, 1.4, 9.7, 0.3, 0.05, 0}, {3, 0.5, 1.7, 9, 0.25, 0.1, 0.2}, {1, 1.1, 0.2, 1.6, 0.7, 0, -0.3}};
  for (int k = 0; k < 3; k++) check_values(x, &r, values[k]);
  close_parametric(x);
}

static void ensure_refused(const char* names, const char* sentence) {
  Parametric* x = open_parametric(spec_of(everything), names);
  ENSURE(x->tree == NULL);
  char text[400] = "";
  for (int i = 0; i < sr_messages_count(x->messages); i++)
    sr_message_format(sr_messages_get(x->messages, i), text, sizeof text);
  ENSURE(strstr(text, sentence) != NULL);
  close_parametric(x);
}

TEST(symbols_that_turn_frames_or_do_nothing_are_refused) {
  ensure_refused("tilt", "the orientation of 'a' depends on it");
  ensure_refused("k", "'k' does not enter the equations");
  ensure_refused("mm", "no parameter 'mm'");
  ensure_refused("corner", "the inertia of 'c' depends on it");
  Parametric* x = open_parametric(spec_of(everything), "all");
  ENSURE_EQUAL(x->context.symbols->n, 7);
  close_parametric(x);
}

// Places of closures stay numbers: forward dynamics with loops would be wrong for other values.
TEST(symbols_are_refused_in_forward_dynamics_with_loops) {
  Loaded four_bar = open_model("mechanisms/four-bar", "");
  char path[1024];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srGenerated* made = NULL;
  snprintf(path, sizeof path, "%s/models/mechanisms/four-bar.xml", SARRUS_SOURCE_DIR);
  ENSURE_EQUAL(sr_load(path, &(srLoadOptions){0}, messages, &spec), SR_OK);
  srGenerateOptions options = {.what = "invdyna", .parameters = "all", .spec = spec};
  ENSURE_EQUAL(sr_generate(four_bar.m, &options, messages, &made), SR_OK);
  ENSURE(made->nargument > 0);
  sr_generated_destroy(made);
  options.what = "accel";
  ENSURE_EQUAL(sr_generate(four_bar.m, &options, messages, &made), SR_INPUT);
  ENSURE(made == NULL);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  close_model(&four_bar);
}

// Forces, or accelerations, of the model for p + e of one parameter, at the state of d.
static void kernel_at(const Parametric* x, const srData* state, const double* a, const double* tau, bool forward,
                      int by, double e, double* out) {
  const srSymSymbols* s = x->context.symbols;
  const int n = x->m->nv;
  double* p = calloc((size_t)s->n, sizeof *p);
  for (int i = 0; i < s->n; i++) p[i] = s->value[i] + (i == by ? e : 0);
  srModel* m = with_values(x, p);
  ENSURE(m != NULL);
  srData* d = sr_data_create(m);
  memcpy(d->q, state->q, (size_t)m->nq * sizeof *d->q), memcpy(d->v, state->v, (size_t)n * sizeof *d->v);
  if (forward) {
    double *M = calloc((size_t)(n * n), sizeof *M), *none = calloc((size_t)n, sizeof *none);
    int bad;
    sr_crba(m, d, d->q, M);
    for (int i = 0; i < n; i++) M[i * n + i] += m->dof_armature[i];
    sr_rnea(m, d, d->q, d->v, none, out);
    for (int i = 0; i < n; i++) out[i] = tau[i] - out[i];
    ENSURE_EQUAL(sr_ltl_factor(m, M, &bad), SR_OK);
    sr_ltl_solve(m, M, out);
    free(M), free(none);
  } else {
    required(m, d, a, out);
  }
  sr_data_destroy(d);
  sr_model_destroy(m);
  free(p);
}

TEST(symbols_have_derivatives_of_inverse_and_forward_dynamics) {
  static const double weight[] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[] = {-2, -1, 1, 2};
  Random r = {23};
  Parametric* x = open_parametric(spec_of(everything), "m,l,twice,g,i,rotor,zero");
  const int n = x->m->nv, np = x->context.symbols->n;
  srData* d = sr_data_create(x->m);
  double *a = calloc((size_t)n, sizeof *a), *tau = calloc((size_t)n, sizeof *tau),
         *value = calloc((size_t)n, sizeof *a);
  random_state(&r, x->m, d);
  for (int i = 0; i < n; i++) a[i] = random_in(&r, -2, 2), tau[i] = random_in(&r, -20, 20);
  const double* input[SR_VAR_KINDS + 1] = {[SR_VAR_Q] = d->q,
                                           [SR_VAR_V] = d->v,
                                           [SR_VAR_A] = a,
                                           [SR_VAR_TAU] = tau,
                                           [SR_VAR_KINDS] = x->context.symbols->value};
  for (int forward = 0; forward < 2; forward++) {
    const srCode* code = code_of(x, forward ? &sr_function_daccel : &sr_function_dinvdyna, 0);
    double *work = calloc((size_t)code->work, sizeof *work), *out = calloc((size_t)code->nout + 1, sizeof *out);
    sr_code_evaluate(code, input, work, out);
    const double* by_p = out + code->nout - n * np;
    for (int j = 0; j < np; j++) {
      const double h = 1e-3;
      double *sum = calloc((size_t)n, sizeof *sum), size = 1;
      for (int i = 0; i < 4; i++) {
        kernel_at(x, d, a, tau, forward == 1, j, at[i] * h, value);
        for (int k = 0; k < n; k++) sum[k] += weight[i] * value[k] / h, size = fmax(size, fabs(value[k]));
      }
      for (int k = 0; k < n; k++) size = fmax(size, fabs(sum[k]));
      for (int k = 0; k < n; k++) ENSURE_NEAR(by_p[k * np + j] / size, sum[k] / size, 1e-9);
      free(sum);
    }
    free(work), free(out);
  }
  free(a), free(tau), free(value);
  sr_data_destroy(d);
  close_parametric(x);
}
