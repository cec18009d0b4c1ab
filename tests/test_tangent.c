// The exact tangent against differences of the very callbacks that integrators take: random trees, every shipped model in all
// formulations, all kinds of force elements, loop closures and formulas; its pattern; no memory taken while it is evaluated.
#include <dirent.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "constraint/closure.h"
#include "constraint/derivative.h"
#include "model/instance.h"
#include "random_tree.h"
#include "runner.h"

// ---- the residual -----------------------------------------------------------------------------------------------------

typedef struct Place {  // where the derivatives are taken
  double t, tau;
  double *q, *v, *y, *a, *lambda;
} Place;

typedef struct Bench {
  srModelSystem user;
  srSystem s;
  Place at;
  double *M, *G, *f, *ydot, *scale;  // scale: what the rows are sums of
  double *Kq, *Kv;                   // dense
} Bench;

static double* numbers(int n) {
  double* out = calloc((size_t)n + 1, sizeof *out);
  ENSURE(out != NULL);
  return out;
}

static int size_of(const Bench* b) { return b->s.nv + b->s.ny; }

static Bench bench_of(const srModel* m, srData* d) {
  Bench b = {.user = {.m = m, .d = d, .tangent = sr_tangent_create(m)}};
  ENSURE(b.user.tangent != NULL);
  const int n = m->nv + m->ny;
  b.at = (Place){.tau = SR_TAU_ELEMENT, .q = numbers(m->nq), .v = numbers(m->nv), .y = numbers(m->ny)};
  b.at.a = numbers(m->nv);
  b.at.lambda = numbers(m->ng);
  b.M = numbers(m->nv * m->nv);
  b.G = numbers(m->ng * m->nv);
  b.f = numbers(m->nv);
  b.ydot = numbers(m->ny);
  b.scale = numbers(n);
  b.Kq = numbers(n * n);
  b.Kv = numbers(n * n);
  return b;
}

// The system points to its user, so that is where the bench is to stay.
static void bench_join(Bench* b) { b->s = sr_system(&b->user); }

static void bench_free(Bench* b) {
  double* all[] = {b->at.q, b->at.v, b->at.y, b->at.a, b->at.lambda, b->M, b->G, b->f, b->ydot, b->scale, b->Kq, b->Kv};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
  sr_tangent_destroy(b->user.tangent);
}

// out += by A x, or by A^T x; A by its pattern or dense. size: adds the moduli.
static void add_product(const srSparsity* pattern, int nrow, int ncol, const double* A, const double* x,
                        bool transposed, double by, double* out, double* size) {
  for (int i = 0; i < nrow; i++) {
    const int first = pattern ? pattern->row[i] : i * ncol, last = pattern ? pattern->row[i + 1] : first + ncol;
    for (int k = first; k < last; k++) {
      const int j = pattern ? pattern->column[k] : k - first, to = transposed ? j : i;
      const double term = by * A[k] * x[transposed ? i : j];
      out[to] += term;
      if (size) size[to] += fabs(term);
    }
  }
}

static void residual(Bench* b, const Place* at, double* E, double* size) {
  const srSystem* s = &b->s;
  ENSURE_EQUAL(s->dynamics(s->user, at->t, at->q, at->v, at->y, at->tau, b->M, b->f, b->ydot, NULL), 0);
  ENSURE_EQUAL(s->constraint(s->user, at->t, at->q, NULL, b->G, NULL), 0);
  for (int i = 0; i < s->nv; i++) E[i] = -b->f[i];
  for (int i = 0; i < s->ny; i++) E[s->nv + i] = -b->ydot[i];
  for (int i = 0; size && i < size_of(b); i++) size[i] = fabs(E[i]);
  add_product(s->M_sparsity, s->nv, s->nv, b->M, at->a, false, 1, E, size);
  add_product(s->G_sparsity, s->ng, s->nv, b->G, at->lambda, true, -1, E, size);
}

// ---- both ways --------------------------------------------------------------------------------------------------------

// Column k of dE by central differences of the sixth order; along q when by_q, else by (v, y).
static void difference(Bench* b, int k, bool by_q, double h, double* column) {
  static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
  const int nv = b->s.nv, n = size_of(b);
  double *q = numbers(b->s.nq), *v = numbers(nv), *y = numbers(b->s.ny), *step = numbers(nv), *E = numbers(n);
  for (int i = 0; i < n; i++) column[i] = 0;
  for (int j = -3; j <= 3; j++) {
    if (j == 0) continue;
    Place at = b->at;
    memcpy(v, at.v, (size_t)nv * sizeof *v);
    memcpy(y, at.y, (size_t)b->s.ny * sizeof *y);
    memset(step, 0, (size_t)nv * sizeof *step);
    if (by_q) step[k] = j * h;
    if (!by_q) *(k < nv ? &v[k] : &y[k - nv]) += j * h;
    b->s.retract(b->s.user, at.q, step, q);
    at.q = q;
    at.v = v;
    at.y = y;
    residual(b, &at, E, NULL);
    for (int i = 0; i < n; i++) column[i] += (j > 0 ? 1 : -1) * weight[abs(j) - 1] / h * E[i];
  }
  free(q), free(v), free(y), free(step), free(E);
}

static void exact(Bench* b) {
  const srSystem* s = &b->s;
  const int n = size_of(b);
  const srSparsity* pattern = s->K_sparsity;
  const int count = pattern ? pattern->row[n] : n * n;
  double *Kq = numbers(count), *Kv = numbers(count);
  srTangent out = {Kq, Kv};
  for (int i = 0; i < count; i++) Kq[i] = Kv[i] = (double)NAN;  // all of them are written
  ENSURE(s->tangent != NULL);
  ENSURE_EQUAL(s->tangent(s->user, b->at.t, b->at.q, b->at.v, b->at.y, b->at.tau, b->at.a, b->at.lambda, &out), 0);
  memset(b->Kq, 0, (size_t)(n * n) * sizeof(double));
  memset(b->Kv, 0, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < n; i++) {
    const int first = pattern ? pattern->row[i] : i * n, last = pattern ? pattern->row[i + 1] : first + n;
    for (int k = first; k < last; k++) {
      const int j = pattern ? pattern->column[k] : k - first;
      b->Kq[i * n + j] = Kq[k];
      b->Kv[i * n + j] = Kv[k];
    }
  }
  free(Kq), free(Kv);
}

// Largest difference of row i, relative to its largest entry and to the rounding of the sums it is made of.
static double row_error(const double* K, const double* D, int n, double rounding) {
  double error = 0, most = 0;
  for (int j = 0; j < n; j++) {
    error = fmax(error, fabs(K[j] - D[j]));
    if (!(fabs(K[j] - D[j]) >= 0)) return INFINITY;
    most = fmax(most, fabs(D[j]));
  }
  return fmax(0, error - rounding) / (most + 1e-300);
}

// Error of every row of K with steps of this length, where it is smaller than the one in error (n).
static void compare_with_step(Bench* b, bool by_q, double h, double* error) {
  const int n = size_of(b);
  double *D = numbers(n * n), *column = numbers(n), stiffest = 0;
  for (int k = 0; k < (by_q ? b->s.nv : n); k++) {
    difference(b, k, by_q, h, column);
    for (int i = 0; i < n; i++) D[i * n + k] = column[i];
  }
  for (int i = 0; i < n * n; i++) stiffest = fmax(stiffest, fabs(b->Kq[i]));
  for (int i = 0; i < n; i++) {
    const double rounding = (4e-14 * b->scale[i] + 1e-16 * stiffest) / h + 1e-12;
    error[i] = fmin(error[i], row_error((by_q ? b->Kq : b->Kv) + i * n, D + i * n, n, rounding));
  }
  free(D), free(column);
}

// Short steps where lengths are small and long ones give no more: rounding grows as steps shrink, and counts against a row.
static void compare_at(Bench* b, const char* what, double tolerance) {
  static const double steps[] = {2e-3, 1e-4, 5e-6};
  const int n = size_of(b);
  double *E = numbers(n), *error = numbers(n);
  residual(b, &b->at, E, b->scale);
  exact(b);
  for (int pass = 0; pass < 2; pass++) {
    double most = INFINITY;
    for (int i = 0; i < n; i++) error[i] = INFINITY;
    for (int k = 0; k < 3 && most > tolerance; k++) {
      most = 0;
      compare_with_step(b, pass == 0, steps[k], error);
      for (int i = 0; i < n; i++) most = fmax(most, error[i]);
    }
    for (int i = 0; i < n && most > tolerance; i++) {
      if (error[i] > tolerance) printf("  %s: row %d of K%c is off by %g\n", what, i, pass ? 'v' : 'q', error[i]);
    }
    ENSURE(most <= tolerance);
  }
  free(E), free(error);
}

// ---- places -----------------------------------------------------------------------------------------------------------

// A place at the state of d moved by `far`, with velocities, accelerations and multipliers of this size.
static void put_place(Bench* b, Random* r, const srData* d, double far, double fast, double strong) {
  const srModel* m = b->user.m;
  double* step = numbers(m->nv);
  for (int i = 0; i < m->nv; i++) {
    step[i] = random_in(r, -far, far);
    b->at.v[i] = d->v[i] + random_in(r, -fast, fast);
    b->at.a[i] = random_in(r, -strong, strong);
  }
  for (int i = 0; i < m->ny; i++) b->at.y[i] = d->y[i] + random_in(r, -far, far);
  for (int i = 0; i < m->ng; i++) b->at.lambda[i] = random_in(r, -strong, strong);
  sr_retract(m, d->q, step, b->at.q);
  b->at.t = d->t;
  free(step);
}

// ---- trees ------------------------------------------------------------------------------------------------------------

TEST(tangent_of_random_trees_with_all_joint_types_is_exact) {
  Random r = {7};
  for (int k = 0; k < 24; k++) {
    const RandomTree options = {.nbody = 1 + k, .armature = k % 2, .drivers = k % 3 == 0, .free_root = k % 4 == 1};
    srModel* m = random_tree(&r, &options);
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    sr_normalize(m, d->q);
    Bench b = bench_of(m, d);
    bench_join(&b);
    put_place(&b, &r, d, 0, 1, 3);
    compare_at(&b, "random tree", 1e-8);
    ENSURE((b.s.K_sparsity != NULL) == (m->nv > 24));
    bench_free(&b);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

// ---- models -----------------------------------------------------------------------------------------------------------

typedef struct Side {
  srSpec* spec;
  srModel* m;
  srData* d;
} Side;

static void tell(const srMessages* messages) {
  for (int i = 0; i < sr_messages_count(messages); i++) {
    char line[400];
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    printf("  %s\n", line);
  }
}

static Side side_of(srSpec* spec, srStatus loaded, srMessages* messages) {
  Side x = {.spec = spec};
  const srStatus status = loaded == SR_OK ? sr_compile(spec, messages, &x.m) : loaded;
  if (status != SR_OK) tell(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE(x.d != NULL);
  return x;
}

static double cube(const void* self, double x, int order) {
  const double value[4] = {x * x * x, 3 * x * x, 6 * x, 6};
  (void)self;
  return order < 4 ? value[order] : (double)NAN;
}

// The formulas may use cube(x), a function in C.
static Side open_text(const char* text, const srImpedance* law, int nlaw) {
  static const srFunction function = {"cube", cube, NULL};
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  for (int i = 0; i < nlaw; i++) ENSURE(srs_register_impedance(spec, &law[i]));
  ENSURE(srs_register_function(spec, &function));
  return side_of(spec, status, messages);
}

static void close_side(Side* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

// At the state of d, and at states near it that keep no constraint.
static void compare_model(const char* what, const srModel* m, const srData* d, double far, double tolerance) {
  Random r = {3};
  srData* own = sr_data_create(m);
  sr_data_copy(m, d, own);
  for (int i = 0; i < m->njv; i++) own->tau[i] = random_in(&r, -1, 1);
  Bench b = bench_of(m, own);
  bench_join(&b);
  for (int k = 0; k < 3; k++) {
    put_place(&b, &r, d, k == 0 ? 0 : far, k == 0 ? 0 : 1, 3);
    if (k > 0) b.at.t += 0.1;
    compare_at(&b, what, tolerance);
  }
  bench_free(&b);
  sr_data_destroy(own);
}

// The model as it is, of free bodies, and with springs for joints.
static void compare_formulations(const char* what, Side* x, double far, double tolerance) {
  ENSURE_EQUAL(sr_assemble(x->m, x->d, NULL, NULL), SR_OK);
  compare_model(what, x->m, x->d, far, tolerance);
  for (int k = 0; k <= SR_FORMULATION_PENALTY; k++) {
    if (k == SR_FORMULATION_RELATIVE) continue;
    srModel* m = NULL;
    srData* d = NULL;
    char name[300];
    snprintf(name, sizeof name, "%s, %s", what, sr_formulation_word((srFormulation)k));
    srMessages* messages = sr_messages_create();
    const srStatus status = sr_formulate(x->spec, x->m, x->d, (srFormulation)k, messages, &m, &d);
    const bool refused = status == SR_INPUT && k == SR_FORMULATION_PENALTY;  // bodies without inertia
    if (status != SR_OK && !refused) tell(messages);
    sr_messages_destroy(messages);
    ENSURE(status == SR_OK || refused);
    if (refused) continue;
    compare_model(name, m, d, far, tolerance);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
}

static int compare_folder(const char* folder) {
  char path[1024];
  snprintf(path, sizeof path, "%s/models/%s", SARRUS_SOURCE_DIR, folder);
  DIR* directory = opendir(path);
  ENSURE(directory != NULL);
  int n = 0;
  for (struct dirent* entry = readdir(directory); entry; entry = readdir(directory)) {
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".xml") != 0) continue;
    // Feet at rest under a friction law that is not twice differentiable there: differences of first order. Hands far from the can: the rotation
    // of bristles with the normal, of contacts that are open.
    if (strcmp(entry->d_name, "hexapod.xml") == 0 || strcmp(entry->d_name, "charmie.xml") == 0) continue;
    snprintf(path, sizeof path, "%s/models/%s/%s", SARRUS_SOURCE_DIR, folder, entry->d_name);
    srSpec* spec = NULL;
    srMessages* messages = sr_messages_create();
    const srStatus status = sr_load(path, NULL, messages, &spec);
    Side x = side_of(spec, status, messages);
    compare_formulations(entry->d_name, &x, 0.1, 1e-8);
    close_side(&x);
    n++;
  }
  closedir(directory);
  return n;
}

TEST(tangent_is_exact_on_every_shipped_tree) { ENSURE(compare_folder(".") >= 11); }
TEST(tangent_is_exact_on_the_models_of_the_papers) {
  ENSURE(compare_folder("paper1") >= 3);
  ENSURE(compare_folder("paper2") >= 1);
}
TEST(tangent_is_exact_on_every_benchmark) { ENSURE(compare_folder("benchmark") >= 5); }
TEST(tangent_is_exact_on_a_long_chain_of_loops) {
  const srSetting many = {"N", "13"};
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load(SARRUS_SOURCE_DIR "/models/benchmark/n-four-bar.xml",
                                  &(srLoadOptions){.settings = &many, .nsetting = 1}, messages, &spec);
  Side x = side_of(spec, status, messages);
  ENSURE(x.m->nv > 24);  // by its pattern
  compare_formulations("n-four-bar, N = 13", &x, 0.1, 1e-8);
  close_side(&x);
}
TEST(tangent_is_exact_on_every_mechanism) { ENSURE(compare_folder("mechanisms") >= 19); }

// ---- laws -------------------------------------------------------------------------------------------------------------

#define INERTIAL "<inertial mass='1.3' com='0.1 -0.05 0.2' inertia='0.02 0.03 0.04 0.001 0.002 0.003'/>"

// A free body, all kinds of joints on it, and what hangs on them.
static const char* const bodies =
    "<ground><point name='hook' at='0 0.3 1'/></ground>"
    "<body name='base'><joint name='base' type='free' at='0.1 0.2 0.3' rpy='0.3 -0.2 0.5' q='0.1 0 0.2 0.9 0.1 -0.2 "
    "0.3' v='0.3 -0.2 0.5 0.1 0.2 -0.3' damping='0.3' armature='0.02'/>" INERTIAL
    "<point name='eye' at='0.1 0.2 0' rpy='0.2 0.5 0.1'/></body>"
    "<body name='arm' parent='base'><joint name='arm' type='revolute' axis='0.2 1 0.3' at='0.2 0 0.1' rpy='0.1 0.4 0'"
    " q='0.4' v='2' stiffness='5' rest='0.2' damping='0.1' armature='0.05' limits='-0.9 0.1' limit-stiffness='200'"
    " limit-damping='0.1'/>" INERTIAL
    "</body>"
    "<body name='wrist' parent='arm'><joint name='wrist' type='ball' at='0 0.3 0' q='0.8 0.1 0.5 -0.3' v='0.4 -1 0.7'"
    " damping='0.05' armature='0.01'/>" INERTIAL
    "<point name='tip' at='0 0 0.3' rpy='0.3 0.1 -0.4'/></body>"
    "<body name='cross' parent='base'><joint name='cross' type='universal' axis='1 0.2 0' axis2='0 0.3 1' at='-0.2 0 0'"
    " rpy='0 0.3 0.2' q='0.3 -0.2' v='1 -0.5' stiffness='3' armature='0.03' damping='0.02'/>" INERTIAL
    "</body>"
    "<body name='plate' parent='cross'><joint name='plate' type='planar' axis='0 1 0.3' at='0 0 -0.3' q='0.1 -0.1 0.4'"
    " v='0.2 0.3 -1' stiffness='20' damping='0.3' armature='0.1'/>" INERTIAL
    "</body>"
    "<body name='nut' parent='plate'><joint name='nut' type='helical' axis='1 0 0.1' pitch='0.05' q='0.5' v='3'"
    " stiffness='1' armature='0.02'/>" INERTIAL
    "</body>"
    "<body name='sleeve' parent='arm'><joint name='sleeve' type='cylindrical' axis='0 0 1' at='0.1 0 0' q='0.2 0.1'"
    " v='2 -0.3' stiffness='10' damping='0.1'/>" INERTIAL
    "</body>"
    "<body name='fixed' parent='sleeve'><joint type='weld' at='0.1 0 0' rpy='0.3 0 0'/>" INERTIAL
    "</body>"
    "<sensor name='tip' point='wrist/tip' relative-to='base/eye'/><sensor name='nut' point='nut'/>";

static void compare_text(const char* what, const char* parts, const srImpedance* law, int nlaw) {
  char text[8000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", bodies, parts);
  Side x = open_text(text, law, nlaw);
  compare_formulations(what, &x, 0.1, 1e-8);
  close_side(&x);
}

TEST(tangent_of_springs_dampers_stops_and_armature_is_exact) { compare_text("joints", "", NULL, 0); }

TEST(tangent_of_formulas_on_joints_and_states_is_exact) {
  compare_text("torques",
               "<sensor name='mix' expr='q(arm)*v(nut) + q(base, 4) + v(base, 4)*q(wrist, 0)'/>"
               "<state name='i' initial='0.2' rate='(2 - 3*i*u - v(arm))/0.5 + sin(q(wrist, 2)*v(wrist, 1))'/>"
               "<state name='u' initial='0.7' rate='sensor(tip, vx)*i + sensor(tip, rxy)^2 - sensor(nut, wz)*u + t'/>"
               "<torque joint='arm' law='0.5*i*i - 0.1*cube(q(plate, 2))*v(cross, 1) + sensor(mix)'/>"
               "<torque joint='base' coordinate='4' law='sin(3*t)*u*q(base, 1) + v(base, 1)^2'/>"
               "<torque joint='cross' coordinate='1' law='min(sensor(tip, x), 0.4)*sensor(tip, rzy)'/>"
               "<torque joint='wrist' coordinate='1' law='0.2*cos(t) - 0.1*v(wrist, 0)*sensor(tip, wy)'/>",
               NULL, 0);
}

TEST(tangent_of_links_bushings_and_forces_is_exact) {
  compare_text("elements",
               "<state name='i' initial='0.2' rate='sensor(nut, z)*i'/>"
               "<link a='base/eye' b='ground/hook' law='-30*(z - 0.5)^3 - 2*zdot*z + i*q(arm)'/>"
               "<link a='nut' b='wrist/tip' law='-5/z + zdot*sensor(tip, y)'/>"
               "<bushing a='nut' b='wrist/tip' stiffness='1 2 3 4 5 6' damping='0.1 0.2 0.1 0.2 0.3 0.2'/>"
               "<spring a='nut' b='wrist/tip' stiffness='12' length='0.3' preload='2' damping='0.3'/>"
               "<bushing a='wrist/tip' b='plate' stiffness='4 4 -2 2 -4 -2  20 -2 10 0 2  17 -9 2 9  25 8 5  13 9  20'"
               " damping='16 -4 -4 -8 -8 8  5 5 -2 2 0  14 -5 -4 3  25 6 -3  17 0  20' preload='1 2 -1 3 -2 1'/>"
               "<damper a='ground/hook' b='wrist/tip' damping='0.2'/>"
               "<bushing a='ground/hook' b='base' stiffness='3 0 1 0 5 0' damping='0 0.1 0 0.2 0 0.2'/>"
               "<force body='plate' at='0.1 0 0.2' f='v(arm) sensor(nut,x)*i sin(t)' m='0.1 q(nut) sensor(tip,wx)'/>"
               "<force body='fixed' at='0 0.2 0' f='1 2 3'/>",
               NULL, 0);
}

TEST(tangent_of_tyres_is_exact) {
  compare_text(
      "tyres",
      "<tyre wheel='wrist/tip' road='nut' axis='1 2 0.3' radius='5' stiffness='3' damping='0.2' load='2' mu='0.9 0.7'"
      " slip-stiffness='4 3' curvature='0.2 -1' mu-fall='0.2' peak-load='5 4' low-speed='0.01'/>"
      "<tyre wheel='base' road='ground/hook' radius='4' stiffness='2' damping='0.3' load='3' mu='0.8'"
      " slip-stiffness='5' relaxation-length='0.3 0.5' tread-damping='0.05' low-speed='4'/>",
      NULL, 0);
}

// ---- laws in C --------------------------------------------------------------------------------------------------------

static int on_joint(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = -in->p[0] * sin(in->x[0]) * in->y[0] - in->xdot[0] * fabs(in->xdot[0] + 9) + in->tau;
  out->ydot[0] = in->x[0] * in->xdot[0] - in->y[1];
  out->ydot[1] = in->y[0] * in->y[1];
  return 0;
}
static int on_link(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = -in->p[0] * pow(in->x[0] - 0.2, 3) - in->xdot[0] * in->y[0];
  out->ydot[0] = in->x[0] - in->y[0] + in->xdot[0];
  return 0;
}
// All that moves, over all that pushes.
static int on_six(const srImpedanceIn* in, srImpedanceOut* out) {
  for (int i = 0; i < 6; i++) {
    out->f[i] = -in->p[0] * in->x[i] * (1 + in->x[(i + 1) % 6]) - 0.3 * in->xdot[i] * in->xdot[(i + 2) % 6];
    out->f[i] += in->y[0] * in->x[(i + 4) % 6];
    out->ydot[0] += cos(in->x[i]) * in->xdot[(i + 3) % 6];
  }
  out->ydot[0] -= in->y[0];
  return 0;
}

TEST(tangent_of_laws_in_c_is_exact) {
  static const double y0[2] = {0.5, 0.2};
  static const srImpedance laws[] = {
      {.name = "joint", .port = SR_PORT_JOINT, .np = 1, .ny = 2, .y0 = y0, .evaluate = on_joint},
      {.name = "link", .port = SR_PORT_DISTANCE, .np = 1, .ny = 1, .y0 = y0, .evaluate = on_link},
      {.name = "point", .port = SR_PORT_POINT, .np = 1, .ny = 1, .y0 = y0, .evaluate = on_six},
      {.name = "frames", .port = SR_PORT_FRAMES, .np = 1, .ny = 1, .y0 = y0, .evaluate = on_six},
  };
  compare_text("laws in C",
               "<user law='joint' joint='cross' coordinate='1' parameters='2'/>"
               "<user law='joint' joint='wrist' coordinate='2' parameters='2'/>"
               "<user law='link' a='nut' b='ground/hook' parameters='3'/><user law='point' point='wrist/tip' "
               "parameters='1.5'/><user law='frames' a='fixed' b='nut' parameters='0.7'/>",
               laws, 4);
}

// ---- constraint equations -------------------------------------------------------------------------------------------

static void compare_rows(const char* what, const char* rows, bool all_formulations) {
  char text[8000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", bodies, rows);
  Side x = open_text(text, NULL, 0);
  compare_model(what, x.m, x.d, 0.1, 1e-8);  // open: constraints need not hold
  for (int k = SR_FORMULATION_ABSOLUTE; k <= SR_FORMULATION_PENALTY && all_formulations; k++) {
    srModel* m = NULL;
    srData* d = NULL;
    ENSURE_EQUAL(sr_formulate(x.spec, x.m, x.d, (srFormulation)k, NULL, &m, &d), SR_OK);
    compare_model(what, m, d, 0.05, 1e-8);
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  close_side(&x);
}

TEST(tangent_of_every_kind_of_loop_closure_is_exact) {
  static const char* const kinds[] = {
      "type='ball'",
      "type='ball' normal='0.2 0.3 1'",
      "type='body'",
      "type='weld'",
      "type='revolute' axis='1 2 0.5'",
      "type='prismatic' axis='1 0 2'",
      "type='cylindrical' axis='1 0 2'",
      "type='helical' axis='0.3 0 1' pitch='0.2'",
      "type='planar' axis='0.3 1 1'",
      "type='universal' axis='1 0 0.2' axis2='0 1 0.4'",
      "type='point-line' axis='0.3 1 1'",
      "type='point-plane' axis='0.3 1 1'",
      "type='rod' length='0.6'",
      "type='roll' radius='0.4' axis='1 0.1 0'",
      "type='roll' radius='0.4'",
  };
  static const char* const ends[] = {"a='nut' b='wrist/tip'", "a='base/eye' b='nut'", "a='wrist/tip' b='base/eye'",
                                     "a='fixed' b='ground/hook'"};
  for (int i = 0; i < (int)(sizeof kinds / sizeof kinds[0]); i++) {
    for (int k = 0; k < 4; k++) {
      char rows[300];
      snprintf(rows, sizeof rows, "<closure %s %s/>", kinds[i], ends[k]);
      compare_rows(rows, rows, k == i % 4);
    }
  }
}

TEST(tangent_of_couplings_drivers_and_formulas_is_exact) {
  compare_rows("couplings",
               "<coupling joint='arm' to='nut' ratio='2.5' offset='0.1'/><driver joint='sleeve' coordinate='1' "
               "motion='sin(2*t)'/><driver joint='cross' coordinate='0' motion='t^2'/>",
               true);
  compare_rows("couplings of several joints",
               "<body name='wheel' parent='arm'><joint type='revolute' axis='1 0 0.2' at='0 0.1 0' v='0.7'/><inertial "
               "mass='0.5' com='0.1 0 0' inertia='0.02 0.03 0.04'/></body>"
               "<coupling joint='arm' to='nut wheel' ratio='2.5 -1.5' offset='0.1'/>",
               true);
  compare_rows("position formulas",
               "<sensor name='f' expr='q(arm)^2 + t*q(plate,1)*q(cross,1)'/>"
               "<constraint expr='sensor(tip,x)^2*sensor(tip,rxy) + t*sensor(tip,y)*q(wrist,3) = sin(3*t)'/>"
               "<constraint expr='cube(sensor(f))*q(wrist,0) + q(wrist,1)*q(wrist,2) + q(base,0)*q(base,4)*q(base,1)"
               " + sensor(nut,rzz)*q(base,5)'/>",
               true);
  compare_rows("velocity formulas",
               "<constraint velocity='sensor(tip,vx)*q(arm) + sensor(nut,wz)*sensor(tip,rxy) + sin(t)*v(wrist,1) = "
               "t^2'/><constraint velocity='v(sleeve,0)*cos(q(cross,1)) - q(wrist,2)*v(base,4) + "
               "sensor(tip,vy)/(2+sensor(nut,z)^2)'/>",
               true);
}

// ---- pattern and memory -------------------------------------------------------------------------------------------------

static bool has(const srSparsity* pattern, int i, int j) {
  for (int k = pattern->row[i]; k < pattern->row[i + 1]; k++) {
    if (pattern->column[k] == j) return true;
  }
  return false;
}

TEST(pattern_of_the_tangent_is_symmetric_sorted_and_holds_that_of_the_mass_matrix) {
  srSetting many = {"N", "12"};
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load(SARRUS_SOURCE_DIR "/models/benchmark/n-four-bar.xml",
                                  &(srLoadOptions){.settings = &many, .nsetting = 1}, messages, &spec);
  Side x = side_of(spec, status, messages);
  Bench b = bench_of(x.m, x.d);
  bench_join(&b);
  const srSparsity *K = b.s.K_sparsity, *M = b.s.M_sparsity;
  const int n = x.m->nv + x.m->ny;
  ENSURE(K != NULL && M != NULL);
  ENSURE(n > 24);
  ENSURE_EQUAL(K->nrow, n);
  ENSURE(K->row[n] < n * n / 2);
  for (int i = 0; i < n; i++) {
    ENSURE(has(K, i, i));
    for (int k = K->row[i]; k < K->row[i + 1]; k++) {
      ENSURE(has(K, K->column[k], i));
      ENSURE(k == K->row[i] || K->column[k - 1] < K->column[k]);
    }
    for (int k = M->row[i]; k < M->row[i + 1]; k++) ENSURE(has(K, i, M->column[k]));
  }
  bench_free(&b);
  close_side(&x);
}

static void* count_calls(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)old_size;
  ++*(long*)user;
  if (new_size > 0) return realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

TEST(tangent_allocates_nothing) {
  char text[8000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", bodies,
           "<state name='i' initial='0.2' rate='sensor(nut, z)*i'/><link a='nut' b='ground/hook' law='-z*i'/>"
           "<closure type='universal' axis='1 0 0' axis2='0 1 0.4' a='nut' b='wrist/tip'/>"
           "<constraint expr='sensor(tip,x)*q(wrist,0)'/>");
  Side x = open_text(text, NULL, 0);
  Bench b = bench_of(x.m, x.d);
  bench_join(&b);
  Random r = {5};
  put_place(&b, &r, x.d, 0.1, 1, 3);
  const int n = size_of(&b);
  srTangent out = {numbers(n * n), numbers(n * n)};
  long calls = 0;
  sr_set_allocator(count_calls, &calls);
  const int answer = b.s.tangent(b.s.user, 0, b.at.q, b.at.v, b.at.y, SR_TAU_ELEMENT, b.at.a, b.at.lambda, &out);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(answer, 0);
  ENSURE_EQUAL(calls, 0);
  free(out.Kq), free(out.Kv);
  bench_free(&b);
  close_side(&x);
}

typedef struct Failing {
  long left, held;  // calls until one fails; blocks that are not freed
} Failing;

static void* fail_at_call(void* user, void* pointer, size_t old_size, size_t new_size) {
  Failing* f = user;
  (void)old_size;
  if (new_size == 0) {
    f->held -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  if (--f->left == 0) return NULL;
  f->held += pointer == NULL;
  return realloc(pointer, new_size);
}

TEST(a_tangent_that_finds_no_memory_leaves_none_behind) {
  char text[8000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", bodies,
           "<state name='i' initial='0.2' rate='sensor(nut, z)*i'/><constraint expr='sensor(tip,x)*q(wrist,0)'/>");
  Side x = open_text(text, NULL, 0);
  int failures = 0;
  for (long k = 1;; k++) {
    Failing f = {.left = k};
    sr_set_allocator(fail_at_call, &f);
    srModelTangent* made = sr_tangent_create(x.m);
    sr_tangent_destroy(made);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(f.held, 0);
    if (made) break;
    failures++;
  }
  ENSURE(failures > 5);
  close_side(&x);
}

// A system without it offers none: integrators take differences.
TEST(a_system_without_a_tangent_offers_none) {
  Side x = open_text(
      "<sarrus version='1'><body name='a'><joint type='revolute'/><inertial mass='1' com='1 0 0'/></body>"
      "</sarrus>",
      NULL, 0);
  srModelSystem user = {.m = x.m, .d = x.d};
  const srSystem s = sr_system(&user);
  ENSURE(s.tangent == NULL);
  ENSURE(s.K_sparsity == NULL);
  close_side(&x);
}

// ---- friction and contact -----------------------------------------------------------------------------------------------

TEST(tangent_of_friction_in_joints_is_exact) {
  compare_text("friction",
               "<friction joint='arm' F='0.5' K='3' B='0.5' tau='0.1'/>"
               "<friction joint='wrist' coordinate='1' F='5' Fk='2' K='3' B='2' D='0.3' vs='0.7' tau='0.2'/>"
               "<friction joint='nut' law='lugre' F='1' Fk='0.6' K='3' B='0.5' vs='0.5'/>"
               "<friction joint='plate' coordinate='2' law='dahl' F='1' K='4' tau='0'/>"
               "<friction joint='cross' coordinate='0' law='iwan' F='1.4' K='4' B='0.6' elements='3' tau='0.1'/>"
               "<friction joint='sleeve' coordinate='0' law='threlfall' F='1' v0='0.7'/>",
               NULL, 0);
}

// Deep in each other, so that the differences do not leave the contact.
static const char* const spheres =
    "<ground><shape name='floor' type='plane' at='0.1 0 0.1' rpy='0.2 -0.3 0.1'/><point name='hook' at='0 0 "
    "1'/></ground>"
    "<body name='base'><joint name='base' type='free' q='0.1 0 0.2 0.9 0.1 -0.2 0.3' v='0.3 -0.2 0.5 0.1 0.2 "
    "-0.3'/>" INERTIAL
    "<shape name='big' type='sphere' size='0.9' at='0.1 0.05 0'/></body>"
    "<body name='arm' parent='base'><joint name='arm' type='revolute' axis='0.2 1 0.3' at='0.6 0 0.1' q='0.4' v='2'"
    " limits='-0.9 -0.2' limit-law='hunt-crossley' limit-restitution='0.4' limit-stiffness='20'/>" INERTIAL
    "<shape name='small' type='sphere' size='0.7' at='0.3 0 0.1'/><point name='tip' at='0.3 0.1 0'/></body>"
    "<body name='pad'><joint name='pad' type='planar' axis='0 1 0.3' at='0.4 0.1 0.4' q='0.1 -0.1 0.4' v='0.2 0.3 "
    "-1'/>" INERTIAL
    "<shape name='wall' type='plane' rpy='0.4 0.3 -0.2' at='0 0 0.3'/></body>"
    "<sensor name='tip' point='arm/tip' relative-to='pad'/>";

static void compare_contacts(const char* what, const char* contacts) {
  char text[8000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s%s</sarrus>", spheres, contacts);
  Side x = open_text(text, NULL, 0);
  compare_formulations(what, &x, 0.05, 1e-8);
  close_side(&x);
}

static const char* const on_planes =
    "<contact a='floor' b='big' normal='hunt-crossley' K='30' n='1.7' restitution='0.3' floor='0.5' mu-s='0.6'"
    " mu-k='0.4' bristle-K='5' bristle-B='0.7' vs='0.6' tau='0.1' mu-roll='0.1' mu-spin='0.05'/>"
    "<contact a='wall' b='small' normal='kelvin-voigt' K='20' D='0.4' mu-s='0.2' friction='lugre' vs='0.5'"
    " bristle-B='0.4'/>";
static const char* const on_spheres =
    "<body name='third'><joint name='third' type='prismatic' axis='0 1 1' q='0.7'/>" INERTIAL
    "<shape name='third' type='sphere' size='0.8'/></body>"
    "<contact a='third' b='small' normal='exact' K='30' restitution='0.6' floor='0.8' mu-s='0.4'"
    " bristle-K='5' bristle-B='0.7' tau='0.1' mu-roll='0.2' mu-spin='0.1'/>"
    "<contact a='big' b='third' normal='hertz' K='30' friction='iwan' mu-k='0.3' bristle-K='4'"
    " bristle-B='0.5' elements='3' tau='0.1'/>";
static const char* const in_a_bowl =
    "<body name='bowl'><joint name='bowl' type='ball' at='-0.4 0 0.2' v='1 0.3 -0.5'/>" INERTIAL
    "<shape name='bowl' type='sphere' size='-1' at='0.2 0.1 0'/></body>"
    "<contact a='bowl' b='small' normal='exact' K='30' restitution='0.6' floor='0.8' mu-s='0.4'"
    " bristle-K='5' bristle-B='0.7' tau='0.1' mu-roll='0.2' mu-spin='0.1'/>";

static const char* const on_tyres =
    "<contact a='floor' b='big' normal='kelvin-voigt' K='30' D='0.5' mu-k='0.6' bristle-K='5' bristle-B='0.7' tau='0.1'"
    " relaxation-length='0.8'/>"
    "<contact a='wall' b='small' normal='kelvin-voigt' K='20' D='0.4' mu-s='0.2' friction='lugre' vs='0.5'"
    " bristle-B='0.4' relaxation-length='0.5'/>"
    "<body name='block'><joint name='block' type='free' q='0.3 0.2 -0.7 0.9 0.1 0.3 0' v='0.4 1 -0.6 0.2 0 "
    "0.3'/>" INERTIAL
    "<shape name='block' type='box' size='3 3 1'/></body>"
    "<contact a='block' b='big' normal='kelvin-voigt' K='30' D='0.5' mu-k='0.6' friction='dahl' bristle-K='5' tau='0.1'"
    " relaxation-length='0.8'/>";

TEST(tangent_of_contacts_between_shapes_is_exact) {
  compare_contacts("tyres", on_tyres);
  compare_contacts("sphere on plane", on_planes);
  compare_contacts("sphere on sphere", on_spheres);
  compare_contacts("hollow", in_a_bowl);
}

// Far apart and at rest, with every law: no derivative is left of a friction whose limit is zero.
TEST(tangent_of_open_contacts_at_rest_is_exact) {
  static const char* const laws[] = {"kikuuwe", "lugre", "dahl", "iwan", "threlfall", "bengisu-akay", "ambrosio"};
  for (int k = 0; k < SR_COUNT(laws); k++) {
    char text[700];
    const bool bristles = k < 4;
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='a'><joint name='a' "
        "type='free' "
        "q='0 0 3 1 0 0 0'/><inertial mass='1' inertia='1 1 1'/><shape name='ball' type='sphere' size='0.1'/></body>"
        "<contact a='floor' b='ball' normal='kelvin-voigt' K='30' D='1' friction='%s' mu-k='0.5' %s/></sarrus>",
        laws[k], bristles ? "bristle-K='100' bristle-B='1'" : "");
    Side x = open_text(text, NULL, 0);
    compare_model(laws[k], x.m, x.d, 0, 1e-8);
    close_side(&x);
  }
}

// The same contacts as sets: their instances are in the tangent from when the bodies touch.
static void compare_sets(const char* what, const char* contacts, int expected) {
  static const char start[] = "<contact ", room[] = "most='9' ";
  char text[6000];
  size_t n = 0;
  for (const char* at = contacts; *at; at++) {
    text[n++] = *at;
    if (at - contacts < 8 || strncmp(at - 8, start, sizeof start - 1) != 0) continue;
    memcpy(text + n, room, sizeof room - 1);
    n += sizeof room - 1;
  }
  text[n] = '\0';
  char whole[8000];
  snprintf(whole, sizeof whole, "<sarrus version='1'>%s%s</sarrus>", spheres, text);
  Side x = open_text(whole, NULL, 0);
  ENSURE(x.m->nset > 0 && x.m->ncontact == x.m->ninstance);
  ENSURE_EQUAL(sr_forward(x.m, x.d, -1), 0);
  ENSURE_EQUAL(x.d->instances->nused, expected);
  compare_formulations(what, &x, 0.05, 1e-8);
  close_side(&x);
}

TEST(tangent_of_contact_sets_is_exact) {
  compare_sets("sphere on plane, set", on_planes, 2);
  compare_sets("sphere on sphere, set", on_spheres, 2);
  compare_sets("hollow, set", in_a_bowl, 1);
}

TEST(tangent_of_gaps_by_formula_is_exact) {
  compare_contacts(
      "gaps",
      "<contact gap='sensor(tip, x)*q(pad, 0)^2 - 2 + 0.1*t - 0.3*q(arm)*sensor(tip, z)' normal='flores' K='3'"
      " restitution='0.5' floor='0.5' slip='q(arm)*sensor(tip, y) + sin(q(pad, 2))' mu-k='0.4' bristle-K='3'"
      " bristle-B='0.5' tau='0.1'/>"
      "<contact gap='q(arm) - q(pad, 1) - 2' normal='hooke' K='4' bristle-B='0.4' mu-k='0.7' tau='0.1'"
      " slip-speed='v(arm)*q(pad, 1) + sensor(tip, vx)*sensor(tip, y) + 0.3*sensor(tip, wz)'/>");
}
