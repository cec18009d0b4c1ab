// Closures and sensors by laws of C code, which are those of plugins: against what is built in, and refused where they are wrong.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint/closure_graph.h"
#include "constraint/derivative.h"
#include "messages.h"
#include "runner.h"

// --------------------------------------------------------------------------------------------------------------- laws
// |d| = p0, as the closure 'rod'.
static int rod(const srClosureLawIn* in, srClosureLawOut* out) {
  const double l = in->p[0];
  out->g[0] = -l / 2;
  for (int k = 0; k < 3; k++) {
    out->g[0] += in->d[k] * in->d[k] / (2 * l);
    out->W[0][3 + k] = in->d[k] / l;
    out->bias[0] += in->u[k] * in->u[k] / l;
  }
  return 0;
}

// d = 0, as the closure 'ball'.
static int pin(const srClosureLawIn* in, srClosureLawOut* out) {
  for (int k = 0; k < 3; k++) out->g[k] = in->d[k], out->W[k][3 + k] = 1;
  return 0;
}

// The axis z of b stays perpendicular to the axis z of a:  g = R_zz,  g' = e.(w x R e) = w.(R e x e),  g'' bias = e.(w x (w x R e))
static int square(const srClosureLawIn* in, srClosureLawOut* out) {
  const double z[3] = {in->R[2], in->R[5], in->R[8]}, *w = in->w;
  const double dot = w[0] * z[0] + w[1] * z[1] + w[2] * z[2], w2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  out->g[0] = z[2];
  out->W[0][0] = z[1];
  out->W[0][1] = -z[0];
  out->bias[0] = w[2] * dot - w2 * z[2];
  return 0;
}

// A rope that is wound up: |d| = p0 - p1 t - p2 t^2, divided by 2 p0.
static int winch(const srClosureLawIn* in, srClosureLawOut* out) {
  const double l = in->p[0], t = in->t, x = l - in->p[1] * t - in->p[2] * t * t, v = -in->p[1] - 2 * in->p[2] * t;
  out->g[0] = -x * x / (2 * l);
  out->b[0] = -x * v / l;
  out->bias[0] = -(v * v - 2 * in->p[2] * x) / l;
  for (int k = 0; k < 3; k++) {
    out->g[0] += in->d[k] * in->d[k] / (2 * l);
    out->W[0][3 + k] = in->d[k] / l;
    out->bias[0] += in->u[k] * in->u[k] / l;
  }
  return 0;
}

static int wrong_row(const srClosureLawIn* in, srClosureLawOut* out) {
  (void)rod(in, out);
  out->W[0][4] = -out->W[0][4];
  return 0;
}

static int wrong_bias(const srClosureLawIn* in, srClosureLawOut* out) {
  (void)rod(in, out);
  out->bias[0] = 0;
  return 0;
}

static int wrong_rate(const srClosureLawIn* in, srClosureLawOut* out) {
  (void)winch(in, out);
  out->b[0] = 0;
  return 0;
}

static int no_number(const srClosureLawIn* in, srClosureLawOut* out) {
  (void)pin(in, out);
  out->W[1][2] = (double)NAN;
  return 0;
}

static int nowhere(const srClosureLawIn* in, srClosureLawOut* out) {
  (void)in, (void)out;
  return 1;
}

static int speed(const srSensorIn* in, double* value) {
  const double* v = in->velocity;
  *value = in->p[0] * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return 0;
}

// Everything that a law of a sensor is given, in one number.
static int all(const srSensorIn* in, double* value) {
  *value = in->t + in->position[2] + in->rotation[1] + in->angular_velocity[1] + in->acceleration[0] +
           2 * in->angular_acceleration[1];
  return 0;
}

static int never(const srSensorIn* in, double* value) {
  (void)in, (void)value;
  return 1;
}

static void register_all(srSpec* spec) {
  static const char* const names[] = {"along x", "along y", "along z"};
  const srClosureLaw closures[] = {
      {"rod", 1, 1, NULL, rod},
      {"pin", 0, 3, names, pin},
      {"square", 0, 1, NULL, square},
      {"winch", 3, 1, NULL, winch},
      {"wrong_row", 1, 1, NULL, wrong_row},
      {"wrong_bias", 1, 1, NULL, wrong_bias},
      {"no_number", 0, 3, NULL, no_number},
      {"nowhere", -1, 2, NULL, nowhere},
      {"wrong_rate", 3, 1, NULL, wrong_rate},
  };
  const srSensorLaw sensors[] = {{"speed", 1, speed}, {"all", 0, all}, {"never", -1, never}};
  for (size_t i = 0; i < sizeof closures / sizeof *closures; i++) ENSURE(srs_register_closure(spec, &closures[i]));
  for (size_t i = 0; i < sizeof sensors / sizeof *sensors; i++) ENSURE(srs_register_sensor(spec, &sensors[i]));
}

// -------------------------------------------------------------------------------------------------------- scaffolding
typedef struct Side {
  srSpec* spec;
  srModel* m;
  srData* d;
  srRunResult result;
  double end[64];  // joint coordinates, velocities, multipliers of the closure, sensors
  int n;
} Side;

static char heard[3000];

static srStatus open_side(const char* content, Side* out) {
  char text[4000];
  *out = (Side){0};
  snprintf(text, sizeof text, "<sarrus version='1'>\n%s\n</sarrus>", content);
  srMessages* messages = sr_messages_create();
  srStatus status = sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &out->spec);
  if (status == SR_OK) register_all(out->spec);
  if (status == SR_OK) status = sr_compile(out->spec, messages, &out->m);
  if (status == SR_OK) {
    out->d = sr_data_create(out->m);
    status = sr_assemble(out->m, out->d, messages, NULL);
  }
  messages_keep(messages, heard, sizeof heard);
  sr_messages_destroy(messages);
  return status;
}

static void close_side(Side* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

static bool is_refused(const char* content, const char* message) {
  Side x;
  const srStatus status = open_side(content, &x);
  close_side(&x);
  const bool right = status == SR_INPUT && strstr(heard, message);
  if (!right) printf("expected: %s\ngot: %s\n", message, heard);
  return right;
}

static int keep_row(void* user, const double* row) {
  Side* x = user;
  memcpy(x->end, row, (size_t)(x->n < 64 ? x->n : 64) * sizeof *row);
  return 0;
}

// Runs a model; the last row of its results is kept.
static void run(const char* content, srFormulation formulation, const char* method, double t_end, Side* out) {
  Side x;
  const srStatus opened = open_side(content, &x);
  if (opened != SR_OK) printf("%s", heard);
  ENSURE_EQUAL(opened, SR_OK);
  *out = x;
  out->m = NULL, out->d = NULL;
  if (formulation == SR_FORMULATION_RELATIVE) {
    out->m = x.m, out->d = x.d;
  } else {
    ENSURE_EQUAL(sr_formulate(x.spec, x.m, x.d, formulation, NULL, &out->m, &out->d), SR_OK);
    sr_data_destroy(x.d);
    sr_model_destroy(x.m);
  }
  srRunOptions options = sr_run_options(out->m);
  options.t_end = t_end, options.method = method, options.rtol = 1e-10, options.atol = 1e-11, options.every = t_end;
  options.row = keep_row, options.user = out;
  srColumns* columns = sr_columns_create(out->m);
  out->n = columns->count;
  sr_columns_destroy(columns);
  const srStatus status = sr_run(out->m, out->d, &options, NULL, &out->result);
  if (status != SR_OK) printf("%s %s\n", method, out->d->error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// Two models whose results have the same columns.
static void compare(const char* common, const char* one, const char* two, srFormulation formulation, const char* method,
                    double t_end, double tolerance) {
  char text[3000];
  Side a, b;
  snprintf(text, sizeof text, "%s%s", common, one);
  run(text, formulation, method, t_end, &a);
  snprintf(text, sizeof text, "%s%s", common, two);
  run(text, formulation, method, t_end, &b);
  ENSURE_EQUAL(a.n, b.n);
  for (int i = 0; i < a.n; i++) ENSURE_NEAR(a.end[i], b.end[i], tolerance * (1 + fabs(a.end[i])));
  ENSURE(fabs(b.result.energy.residual) <= fabs(a.result.energy.residual) + tolerance * (1 + b.result.energy.scale));
  const long more = labs(b.result.stats.steps - a.result.stats.steps);  // explicit methods: none
  ENSURE(more <= (tolerance > 1e-11 ? a.result.stats.steps / 50 : 0));
  close_side(&a);
  close_side(&b);
}

// ----------------------------------------------------------------------------------------------------------- closures
// A four-bar in space: crank and rocker about axes that are not parallel.
#define FOUR_BAR                                                                                                       \
  "<body name='crank'><joint name='a' type='revolute' axis='0 1 0' q='0.4' v='2'/>"                                    \
  "<inertial mass='1' com='0 0 0.2' inertia='0.02 0.02 0.001'/><point name='tip' at='0 0 0.4'/></body>"                \
  "<body name='rocker'><joint name='b' type='revolute' axis='0.1 1 0' at='1 0.1 0'/>"                                  \
  "<inertial mass='2' com='0 0 0.3' inertia='0.05 0.05 0.001'/><point name='tip' at='0 0 0.6'/></body>"

static const srFormulation both[] = {SR_FORMULATION_RELATIVE, SR_FORMULATION_ABSOLUTE};

TEST(a_rod_by_a_law_moves_as_the_built_in_rod) {
  // Implicit methods end their iterations at other numbers: with exact derivatives here, with differences there. Velocities of index 3 have the
  // error of positions over h, about 1e-4 s.
  static const struct {
    const char* method;
    double tolerance;
  } methods[] = {{"dopri5", 1e-12}, {"hem5", 1e-12}, {"genalpha-index3", 1e-7}, {"radau5", 1e-9}};
  static const char built_in[] = "<closure name='c' type='rod' a='crank/tip' b='rocker/tip' length='0.9'/>";
  static const char law[] = "<closure name='c' type='user' law='rod' parameters='0.9' a='crank/tip' b='rocker/tip'/>";
  for (int f = 0; f < 2; f++)
    for (int k = 0; k < 4; k++)
      compare(FOUR_BAR, built_in, law, both[f], methods[k].method, 0.05, methods[k].tolerance);
  compare(FOUR_BAR, built_in, law, SR_FORMULATION_PENALTY, "radau5", 0.002, 1e-9);
}

// The residual of a ball is p_a - p_b: with the frames exchanged the equations are the same.
TEST(a_pin_by_a_law_moves_as_the_built_in_ball) {
  static const char body[] =
      "<ground><point name='hook' at='0.1 0.2 1'/></ground><body name='b'><joint name='f' type='free' q='0.1 0.2 0.5 1 "
      "0 0 0' v='1 2 3 1 -0.5 0'/>"
      "<inertial mass='2' inertia='0.1 0.2 0.15'/><point name='eye' at='0 0 0.5'/></body>";
  for (int f = 0; f < 2; f++)
    compare(body, "<closure name='c' type='ball' a='b/eye' b='ground/hook'/>",
            "<closure name='c' type='user' law='pin' a='ground/hook' b='b/eye'/>", both[f], "dopri5", 0.4, 1e-12);
}

// R_zz = 0 as a formula of a sensor, of the same pendulum.
TEST(a_law_on_orientations_moves_as_the_formula) {
  static const char body[] =
      "<ground><point name='hook' rpy='0.2 0.1 0'/></ground><body name='b'><joint name='f' type='ball' q='0.7 0.7 0 "
      "0.1' v='1 2 0.5'/>"
      "<inertial mass='2' com='0.1 0.2 -0.3' inertia='0.3 0.2 0.4'/></body><sensor name='s' point='b' "
      "relative-to='ground/hook'/>";
  char text[2000];
  Side a, b;
  for (int f = 0; f < 2; f++) {
    snprintf(text, sizeof text, "%s<constraint expr='sensor(s, rzz)' tolerance='1'/>", body);
    run(text, both[f], "dopri5", 0.3, &a);
    snprintf(text, sizeof text, "%s<closure type='user' law='square' a='ground/hook' b='b' tolerance='1'/>", body);
    run(text, both[f], "dopri5", 0.3, &b);
    for (int i = 0; i < a.m->njq; i++) ENSURE_NEAR(a.d->jq[i], b.d->jq[i], 1e-11);
    for (int i = 0; i < a.m->njv; i++) ENSURE_NEAR(a.d->jv[i], b.d->jv[i], 1e-10);
    ENSURE(fabs(a.d->jv[0]) > 0.1);
    close_side(&a);
    close_side(&b);
  }
}

// A law of time: the same rope as a formula, the work of the winch in the balance; the length by hand.
TEST(a_winch_by_a_law_moves_as_the_formula_and_does_work) {
  static const char body[] =
      "<body name='b'><joint name='f' type='free' q='0.6 0 -0.8 1 0 0 0' v='0 0 0 0 0.7 0'/><inertial mass='2' "
      "inertia='0.1 0.2 0.15'/></body>"
      "<sensor name='s' point='b'/>";
  static const char* const methods[] = {"dopri5", "hem5"};
  char text[2000];
  Side a, b;
  for (int k = 0; k < 4; k++) {
    snprintf(text, sizeof text,
             "%s<constraint expr='(sensor(s,x)^2 + sensor(s,y)^2 + sensor(s,z)^2 - (1 - 0.2*t - 0.1*t^2)^2)/2'/>",
             body);
    run(text, both[k / 2], methods[k % 2], 1, &a);
    snprintf(text, sizeof text, "%s<closure type='user' law='winch' parameters='1 0.2 0.1' a='ground' b='b'/>", body);
    run(text, both[k / 2], methods[k % 2], 1, &b);
    const double* q = b.d->jq;
    ENSURE_NEAR(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]), 0.7, 1e-9);
    for (int i = 0; i < 7; i++) ENSURE_NEAR(a.d->jq[i], q[i], 1e-10);
    ENSURE_NEAR(a.result.energy.residual, b.result.energy.residual, 1e-8);
    ENSURE_SMALL(b.result.energy.residual / b.result.energy.scale, 1e-6);
    close_side(&a);
    close_side(&b);
  }
}

// The pose stays, time goes on: g = (|d|^2 - (1 - 0.2 t)^2)/2, b = 0.2 (1 - 0.2 t). As springs: -k (g + T b) along the rope.
TEST(equations_of_a_law_of_time_change_with_time_alone) {
  static const char text[] =
      "<body name='b'><joint name='f' type='free' q='0.6 0 -0.8 1 0 0 0' v='0 0 0 0 0.2 0'/><inertial mass='2' "
      "inertia='0.1 0.2 "
      "0.15'/></body><closure type='user' law='winch' parameters='1 0.2 0' a='ground' b='b'/>";
  Side x;
  srModel* soft = NULL;
  srData* d = NULL;
  ENSURE_EQUAL(open_side(text, &x), SR_OK);
  ENSURE_EQUAL(sr_formulate(x.spec, x.m, x.d, SR_FORMULATION_PENALTY, NULL, &soft, &d), SR_OK);
  memset(d->v, 0, (size_t)soft->nv * sizeof *d->v);
  for (double t = 0; t < 2; t += 0.5) {
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, t, NULL, NULL, NULL, SR_STAGE_POSITION), 0);
    ENSURE_EQUAL(sr_constraints(x.m, x.d), 0);
    const double l = 1 - 0.2 * t, g = (1 - l * l) / 2, b = 0.2 * l;
    ENSURE_NEAR(x.d->g[0], g, 1e-12);
    ENSURE_NEAR(x.d->b[0], b, 1e-15);
    ENSURE_EQUAL(sr_evaluate(soft, d, t, NULL, NULL, NULL, SR_STAGE_FORCE), 0);
    ENSURE_NEAR(d->soft_lambda[0], -1e6 * (g + 1e-4 * b), 1e-6);
  }
  sr_data_destroy(d);
  sr_model_destroy(soft);
  close_side(&x);
}

// Derivatives of rows by differences: of the rod against the graph, of W = (z_1, -z_0, 0) with z' = w x z by hand.
TEST(derivatives_of_the_rows_of_a_law_are_those_of_the_equations) {
  static const char text[] = FOUR_BAR
      "<closure type='rod' a='crank/tip' b='rocker/tip' length='0.9'/><closure type='user' law='rod' parameters='0.9' "
      "a='crank/tip' b='rocker/tip'/>"
      "<closure type='user' law='square' a='crank' b='rocker/tip' tolerance='9'/>";
  const srClosureIn in = {.R = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}, .d = {0.3, -0.5, 0.7}, .t = 1};
  const double lambda[6] = {2.5};
  double work[200], w[6], v[6], L[36], M[36];
  Side x;
  srPool pool;
  (void)open_side(text, &x);  // more equations than degrees of freedom
  ENSURE(x.m != NULL);
  sr_pool_init(&pool);
  const srProgram* derivative = sr_closure_derivative(&pool, &x.m->closure[0]);
  ENSURE(derivative && sr_program_work(derivative) <= 200 && !sr_closure_derivative(&pool, &x.m->closure[1]));
  ENSURE_EQUAL(sr_closure_jacobian(&x.m->closure[0], derivative, &in, lambda, work, w, L), 0);
  ENSURE_EQUAL(sr_closure_jacobian(&x.m->closure[1], NULL, &in, lambda, work, v, M), 0);
  for (int i = 0; i < 6; i++) ENSURE_NEAR(w[i], v[i], 1e-14);
  for (int i = 0; i < 36; i++) ENSURE_NEAR(L[i], M[i], 1e-9);
  ENSURE(fabs(L[6 * 3 + 3]) > 1);
  ENSURE_EQUAL(sr_closure_jacobian(&x.m->closure[2], NULL, &in, lambda, work, v, M), 0);
  const double z[3] = {in.R[2], in.R[5], in.R[8]};
  for (int j = 0; j < 3; j++) {
    const double e[3] = {j == 0, j == 1, j == 2};
    ENSURE_NEAR(M[j], 2.5 * (e[2] * z[0] - e[0] * z[2]), 1e-9);
    ENSURE_NEAR(M[6 + j], -2.5 * (e[1] * z[2] - e[2] * z[1]), 1e-9);
    ENSURE_NEAR(M[12 + j], 0, 1e-12);
  }
  sr_pool_free(&pool);
  close_side(&x);
}

#define TWO_BODIES                                                                                                     \
  "<body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"                          \
  "<body name='b'><joint name='y' type='prismatic' axis='0 1 0' q='1'/><inertial mass='1'/></body>"

TEST(wrong_laws_of_closures_are_refused) {
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='wrong_row' parameters='1' a='a' b='b'/>",
                    "m:3:1: error: closure 'c': the law 'wrong_row' contradicts itself in equation 1: W[4] is -1, "
                    "differences give 1"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='wrong_bias' parameters='1' a='a' b='b'/>",
                    "m:3:1: error: closure 'c': the law 'wrong_bias' contradicts itself in equation 1: bias, for a "
                    "twist of unit size, is 0"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='wrong_rate' parameters='1 0.5 0' a='a' b='b'/>",
                    "m:3:1: error: closure 'c': the law 'wrong_rate' contradicts itself in equation 1: b is "));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='no_number' a='a' b='b'/>",
                    "m:3:1: error: closure 'c' has no constraint equations here: equation 2 of its law has numbers "
                    "that are not finite"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='nowhere' a='a' b='b'/>",
                    "m:3:1: error: closure 'c' has no constraint equations here: its law is undefined"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='rod' parameters='1 2' a='a' b='b'/>",
                    "m:3:53: error: the law 'rod' takes 1 parameter, got 2"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='rod' a='a' b='b'/>",
                    "m:3:1: error: the law 'rod' takes 1 parameter, got 0"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' law='wiinch' a='a' b='b'/>",
                    "m:3:36: error: unknown law of a closure 'wiinch'; did you mean 'winch'?"));
  ENSURE(is_refused(TWO_BODIES "\n<closure name='c' type='user' a='a' b='b'/>",
                    "m:3:1: error: closure 'c': a closure of type 'user' needs its 'law'"));
  Side x;
  ENSURE_EQUAL(open_side(TWO_BODIES "\n<closure name='c' type='rod' length='1' law='rod' a='a' b='b'/>", &x), SR_OK);
  ENSURE(strstr(heard, "'law' does nothing: a closure of type 'rod' does not use it"));
  close_side(&x);
}

TEST(laws_with_wrong_numbers_of_equations_are_refused) {
  static const int wrong[] = {0, 7, -1};
  for (int k = 0; k < 3; k++) {
    const srClosureLaw law = {"many", 0, wrong[k], NULL, pin};
    static const char text[] = "<sarrus version='1'/>";
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel* m = NULL;
    ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec), SR_OK);
    ENSURE(srs_register_closure(spec, &law));
    ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
    messages_keep(messages, heard, sizeof heard);
    ENSURE(strstr(heard, "the law 'many' of a closure has ") && strstr(heard, " equations; it may have 1 to 6"));
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
}

// ------------------------------------------------------------------------------------------------------------ sensors
#define ARM                                                                                                            \
  "<body name='arm'><joint name='j' type='revolute' axis='0 1 0' q='0.4' v='2'/>"                                      \
  "<inertial mass='1' com='0 0 0.2' inertia='0.02 0.02 0.001'/><point name='tip' at='0 0 0.4'/></body>"                \
  "<ground><point name='eye' at='1 0 0' rpy='0.1 0.2 0.3'/></ground><sensor name='tip' point='arm/tip' "               \
  "relative-to='ground/eye'/>"

TEST(a_sensor_by_a_law_is_the_built_in_one) {
  for (int f = 0; f < 2; f++)
    compare(ARM,
            "<sensor name='s' unit='m/s' expr='2*sqrt(sensor(tip,vx)^2 + sensor(tip,vy)^2 + sensor(tip,vz)^2)'/>"
            "<sensor name='o' expr='t + sensor(tip,z) + sensor(tip,rxy) + sensor(tip,wy) + record(tip.ax) + "
            "2*record(tip.alphay)'/>"
            "<sensor name='p' expr='1 + 2*sqrt(sensor(tip,vx)^2 + sensor(tip,vy)^2 + sensor(tip,vz)^2)'/>",
            "<sensor name='s' unit='m/s' law='speed' point='arm/tip' relative-to='ground/eye' parameters='2'/>"
            "<sensor name='o' law='all' point='arm/tip' relative-to='ground/eye'/>"
            "<sensor name='p' expr='1 + sensor(s)'/>",
            both[f], "dopri5", 0.7, 1e-12);
}

TEST(wrong_sensors_by_a_law_are_refused) {
  ENSURE(is_refused(ARM "\n<sensor name='s' law='sped' point='arm'/>",
                    "m:3:23: error: unknown law of a sensor 'sped'; did you mean 'speed'?"));
  ENSURE(is_refused(ARM "\n<sensor name='s' law='speed' point='arm'/>",
                    "m:3:1: error: the law 'speed' takes 1 parameter, got 0"));
  ENSURE(is_refused(ARM "\n<sensor name='s' law='all' expr='t'/>",
                    "takes either 'point', which a 'law' may come with, or 'expr'"));
  ENSURE(
      is_refused(ARM "\n<sensor name='s' law='all'/>", "takes either 'point', which a 'law' may come with, or 'expr'"));
  ENSURE(is_refused(ARM "\n<sensor name='s' law='all' point='arm'/><torque joint='j' law='sensor(s)'/>",
                    "no law may depend on it"));
  Side x;
  run(ARM "<sensor name='n' law='never' point='arm'/>", SR_FORMULATION_RELATIVE, "dopri5", 0.1, &x);
  int n = 0;
  for (int i = 0; i < x.n; i++) n += isnan(x.end[i]);
  ENSURE_EQUAL(n, 1);
  close_side(&x);
}
