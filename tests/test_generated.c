// Generated code in place of the recursions: which of them each method calls, and what they compute on shipped models; the hash of the cache; names in comments.
#include <math.h>
#include <stdlib.h>

#include "generated/sha256.h"
#include "loading.h"
#include "model/private.h"
#include "symbolic/tree.h"

// ---- hash: the examples of FIPS 180-4 (NIST) ----------------------------------------------------------------------------

static void ensure_hash(const char* text, int times, const char* expected) {
  srSha256 x;
  char hex[65];
  sr_sha256_begin(&x);
  for (int i = 0; i < times; i++) sr_sha256_add(&x, text, strlen(text));
  sr_sha256_end(&x, hex);
  ENSURE_TEXT(hex, expected);
}

TEST(generated_cache_hash_is_sha256) {
  ensure_hash("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  ensure_hash("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  ensure_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  ensure_hash("aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// ---- names --------------------------------------------------------------------------------------------------------------

TEST(generated_names_end_no_comment_and_no_line) {
  static const char* const names[][2] = {{"*/ int x; /*", "_/ int x; _*"},
                                         {"a\nint x;\r\t", "a_int x;__"},
                                         {"b\\", "b_"},
                                         {"c?\?/", "c_?/"},
                                         {"Knie 3", "Knie 3"},
                                         {"", ""}};
  srPool pool;
  sr_pool_init(&pool);
  for (int i = 0; i < SR_COUNT(names); i++) ENSURE_TEXT(sr_sym_comment(&pool, names[i][0]), names[i][1]);
  sr_pool_free(&pool);
}

// ---- which kernels are called -------------------------------------------------------------------------------------------

static struct {
  const srModel* m;
  int accel, invdyna, bias, mass, entries;
} called;

static void zero(double* x, int n) {
  for (int i = 0; i < n; i++) x[i] = 0;
}
static void accel(const double* q, const double* v, const double* tau, double* a) {
  (void)q, (void)v, (void)tau;
  called.accel++;
  zero(a, called.m->nv);
}
static void invdyna(const double* q, const double* v, const double* a, double* tau) {
  (void)q, (void)v;
  called.invdyna++;
  memcpy(tau, a, (size_t)called.m->nv * sizeof *tau);
}
static void bias(const double* q, const double* v, double* c) {
  (void)q, (void)v;
  called.bias++;
  zero(c, called.m->nv);
}
static void mass(const double* q, double* M) {
  const int n = called.m->nv;
  (void)q;
  called.mass++;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k <= i; k++) M[i * n + k] = i == k ? 1 : 0.1;
  }
}
static void entries(const double* q, double* M) {
  const srModel* m = called.m;
  (void)q;
  called.entries++;
  for (int i = 0; i < m->nv; i++) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++) M[k] = m->M_column[k] == i;
  }
}

// A few steps with functions that count their calls, of a body without forces.
static void run_counted(const char* file, const char* method) {
  static const srKernels kernels = {accel, invdyna, bias, mass, entries};
  Loaded x = open_model(file, "");
  memset(&called, 0, sizeof called);
  called.m = x.m;
  x.m->priv->kernels = &kernels;
  srRunOptions o = sr_run_options(x.m);
  o.method = method, o.step = 1e-4, o.t_end = 5e-4, o.every = 1;
  (void)sr_run(x.m, x.d, &o, NULL, &x.result);
  close_model(&x);
}

TEST(generated_kernels_are_those_that_methods_call) {
  run_counted("double-pendulum", "rk4");
  ENSURE(called.accel >= 20);
  run_counted("double-pendulum", "genalpha-index3");
  ENSURE(called.invdyna > 0 || (called.bias > 0 && called.mass > 0));
  run_counted("double-pendulum", "hem5");
  ENSURE(called.accel > 0 || called.mass > 0);
  run_counted("double-pendulum", "radau5");
  ENSURE(called.accel + called.invdyna > 0);
  run_counted("mechanisms/motor-slider-crank", "rk4");
  ENSURE(called.bias >= 20 && called.entries >= 20 && called.accel == 0);
}

// Couplings are eliminated, in rates: multipliers, which rows and reactions need, are those of the recursion.
TEST(generated_kernels_move_trees_with_couplings) {
  static const srKernels kernels = {accel, invdyna, bias, mass, entries};
  Loaded x = open_text(
      "<sarrus version='1' name='scissors'><body name='arm'><joint name='arm' type='revolute' axis='0 1 0' q='0.5'/>"
      "<inertial mass='2' com='0 0 -0.5' inertia='0.1 0.1 0.02'/></body>"
      "<body name='tip' parent='arm'><joint name='tip' type='revolute' axis='0 1 0' at='0 0 -1' q='-0.25'/>"
      "<inertial mass='1' com='0.1 0 -0.4' inertia='0.05 0.05 0.01'/></body>"
      "<coupling joint='tip' to='arm' ratio='-0.5'/></sarrus>");
  srModelSystem user = {.m = x.m, .d = x.d};
  const srSystem system = sr_system(&user);
  double *rate = calloc((size_t)(x.m->nq + x.m->nv + x.m->ny + SR_ACCOUNTS), sizeof *rate), *vdot = rate + x.m->nq;
  memset(&called, 0, sizeof called);
  called.m = x.m;
  ENSURE(x.m->elimination != NULL && x.m->ndriver == 0);
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  const double expected = x.d->a[0], multiplier = x.d->lambda[0];
  ENSURE(expected != 0 && multiplier != 0);
  x.m->priv->kernels = &kernels;
  ENSURE_EQUAL(system.rates(&user, 0, x.d->q, x.d->v, x.d->y, 0, rate, vdot, vdot + x.m->nv, vdot + x.m->nv + x.m->ny),
               0);
  ENSURE_EQUAL(called.accel, 1);
  ENSURE_NEAR(vdot[0], 0, 0);
  ENSURE_EQUAL(x.d->rank, x.m->ng);
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  ENSURE_EQUAL(called.accel, 1);
  ENSURE_NEAR(x.d->a[0], expected, 0);
  ENSURE_NEAR(x.d->lambda[0], multiplier, 0);
  free(rate);
  close_model(&x);
}

// ---- limbs in lanes: what has the fewest operations -----------------------------------------------------------------------

static void ensure_lanes(const char* file, const char* what, const char* symbol, int expected) {
  Loaded x = open_model(file, "");
  srGenerated* g = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_generate(x.m, &(srGenerateOptions){.what = what, .limbs = SR_LIMBS_FEWEST}, messages, &g), SR_OK);
  ENSURE_EQUAL(g->function[0].lanes, expected);
  for (int lanes = 2; lanes <= 4; lanes += 2) {
    char name[64];
    (void)snprintf(name, sizeof name, "void %s_lanes%d(", symbol, lanes);
    ENSURE_EQUAL(strstr(g->file[0].text, name) != NULL, lanes == expected);
  }
  sr_generated_destroy(g);
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(generated_code_has_limbs_in_as_many_lanes_as_make_it_shortest) {
  ensure_lanes("robots/quadruped-stand", "accel", "quadruped_stand_accel", 4);
  ensure_lanes("humanoid", "mass", "humanoid_mass", 2);
  ensure_lanes("paper1/arm6", "accel", "arm6_accel", 0);
  ensure_lanes("robots/quadruped-stand", "qdot", "quadruped_stand_qdot", 0);
}

static void not_finite(const double* q, const double* v, const double* tau, double* a) {
  (void)q, (void)v, (void)tau;
  for (int i = 0; i < called.m->nv; i++) a[i] = (double)NAN;
}

TEST(generated_kernels_without_a_result_leave_the_state_to_the_recursion) {
  static const srKernels kernels = {.accel = not_finite};
  Loaded x = open_model("double-pendulum", "");
  called.m = x.m;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  const double expected = x.d->a[1];
  x.m->priv->kernels = &kernels;
  x.d->a[1] = 0;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  ENSURE_NEAR(x.d->a[1], expected, 0);
  close_model(&x);
}
