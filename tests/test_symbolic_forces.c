// Force elements on the graph, against those of numbers: forces on the coordinates and rates of states of shipped models, and what is refused.
#include <dirent.h>
#include <string.h>

#include "collide/collision.h"
#include "collide/field.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "loading.h"
#include "random_tree.h"
#include "symbolic/elements.h"
#include "symbolic/function.h"
#include "symbolic_values.h"

extern const srSymFunction sr_function_force, sr_function_rates, sr_function_sensor;

typedef struct Space {
  State s;
  double* numbers;
} Space;

static Space space_of(const srModel* m) {
  Space x = {.numbers = calloc((size_t)(m->nq + 3 * m->nv + m->ny + 1), sizeof *x.numbers)};
  double* at = x.numbers;
  x.s.q = at, at += m->nq;
  x.s.v = at, at += m->nv;
  x.s.a = at, at += m->nv;
  x.s.tau = at, at += m->nv;
  x.s.y = at;
  return x;
}

// Bristles are short: their states are.
static void put_state(Random* r, const srModel* m, srData* d, State* s, double spread) {
  random_state(r, m, d);
  s->t = random_in(r, 0, 1);
  for (int i = 0; i < m->nq; i++) s->q[i] = m->q0[i] + spread * (d->q[i] - m->q0[i]);
  for (int i = 0; i < m->nv; i++) s->v[i] = spread * d->v[i], s->tau[i] = random_in(r, -1, 1);
  for (int i = 0; i < m->ny; i++) s->y[i] = m->y0[i] + random_in(r, -1e-4, 1e-4);
  s->stage = random_in(r, 0, 1) < 0.5 ? -1 : 1e-3;
}

// Of the largest entry, or of what is summed where that is larger.
static double apart(const double* x, const double* y, int n, double least) {
  double off = 0, size = least;
  for (int i = 0; i < n; i++) off = fmax(off, fabs(x[i] - y[i])), size = fmax(size, fabs(y[i]));
  return size > 0 ? off / size : off;
}

// Rounding of lengths, which gaps and bristles are differences of, times stiffness: 1 mm of it is less than what is summed.
static double stiffest(const srModel* m) {
  double most = 0;
  for (int i = 0; i < m->nforce; i++) {
    const srSurfaceLaws* c = m->force[i].contact;
    if (c != NULL && c->law != NULL && isfinite(c->p.K)) most = fmax(most, c->p.K * 1e-3);
    if (c != NULL && c->slip.law != NULL) most = fmax(most, c->slip.p.K * 1e-3);
  }
  return most;
}

typedef struct Codes {
  const srCode *force, *rates[2];  // NULL: the model has none
} Codes;

static Codes codes_of(srPool* pool, const srModel* m, bool reduced) {
  const srSymContext context = {.m = m, .pool = pool};
  srSymTree* tree = tree_of(pool, m, reduced);
  const int n = m->nv + m->ny;
  Codes out = {0};
  if (sr_function_force.missing(&context) == NULL)
    out.force = code_with(pool, tree, sr_function_force.build[0], NULL, n);
  for (int k = 0; k < (m->elimination ? 1 : 2) && sr_function_rates.missing(&context) == NULL; k++)
    out.rates[k] = code_with(pool, tree, sr_function_rates.build[k], NULL, n);
  return out;
}

// The forward dynamics is checked by the inverse one: the condition of M does not enter.
static void compare_rates(const srModel* m, srData* d, const State* s, const srCode* code, double least) {
  double *out = calloc((size_t)(m->nv + m->ny + 1), sizeof *out), *tau = calloc((size_t)m->nv + 1, sizeof *tau);
  double* f = calloc((size_t)m->nv + 1, sizeof *f);
  memcpy(f, d->f, (size_t)m->nv * sizeof *f);
  evaluate(code, s, out);
  ENSURE_SMALL(apart(out + m->nv, d->ydot, m->ny, 0.1), 1e-13);
  for (int i = 0; i < m->nv; i++) f[i] += s->tau[i];
  if (m->elimination) {  // couplings: by the recursion with them
    double* lambda = calloc((size_t)m->ng + 1, sizeof *lambda);
    ENSURE_EQUAL(sr_aba_coupled(m, d, s->q, s->v, f, tau, lambda), SR_OK);
    ENSURE_SMALL(apart(out, tau, m->nv, 0), 1e-10);
    free(lambda);
  } else {
    sr_rnea(m, d, s->q, s->v, out, tau);
    for (int i = 0; i < m->nv; i++) tau[i] += m->dof_armature[i] * out[i];
    ENSURE_SMALL(apart(tau, f, m->nv, least), 1e-10);
  }
  free(out);
  free(tau);
  free(f);
}

static int compare(const srModel* m, srData* d, const State* s, const Codes* c) {
  double* out = calloc((size_t)(m->nv + m->ny + 1), sizeof *out);
  memset(d->tau, 0, (size_t)m->njv * sizeof *d->tau);
  const bool known = sr_evaluate_stage(m, d, s->t, s->q, s->v, s->y, SR_STAGE_FORCE, s->stage) == 0;
  if (known) {
    evaluate(c->force, s, out);
    if (apart(out, d->f, m->nv, stiffest(m)) > 1e-13) ENSURE_SMALL(farthest(out, d->f, m->nv), force_moved(m, s));
    ENSURE_SMALL(apart(out + m->nv, d->ydot, m->ny, 0.1), 1e-13);  // rates are differences of e/tau: 1e-4/1e-3
    for (int k = 0; k < 2 && c->rates[k] != NULL; k++) compare_rates(m, d, s, c->rates[k], stiffest(m));
  }
  free(out);
  return known;
}

static int check_forces(const srModel* m, srData* d, Random* r, int states) {
  Space x = space_of(m);
  int compared = 0;
  for (int reduced = 0; reduced < 2; reduced++) {
    srPool pool;
    sr_pool_init(&pool);
    const Codes codes = codes_of(&pool, m, reduced == 1);
    for (int k = 0; k < states && codes.force != NULL; k++) {
      put_state(r, m, d, &x.s, k % 2 ? 1 : 0.02);
      compared += compare(m, d, &x.s, &codes);
    }
    sr_pool_free(&pool);
  }
  free(x.numbers);
  return compared;
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
        m->nv > 0 && m->nv <= 120 && !m->absolute && m->nforce > 0) {
      srData* d = sr_data_create(m);
      n += check_forces(m, d, r, runner_long() ? 1000 : 8) > 0;
      sr_data_destroy(d);
    }
    sr_model_destroy(m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
  closedir(directory);
  return n;
}

TEST(symbolic_forces_are_those_of_the_elements_on_shipped_models) {
  static const char* const folders[] = {".",         "paper1",   "paper2", "paper3",    "mechanisms",
                                        "benchmark", "vehicles", "robots", "nonsmooth", "contact"};
  Random r = {1};
  int n = 0;
  for (int i = 0; i < SR_COUNT(folders); i++) n += check_folder(folders[i], &r);
  ENSURE(n >= 45);
}

// ---- boxes on planes, spheres on height fields ----------------------------------------------------------------------------

#define LAND                                                                                                           \
  "<shape name='land' type='heightfield' size='1.2 0.9' columns='7' heights='0 0.1 0.2 0.3 0.1 0 0 0.1 0.3 0 0.5 0.2 " \
  "0 0.1 0 0.2 0.5 0 0.4 0.2 0 0.3 0 0.2 0.6 0 0.1 0.2 0 0.1 0 0.2 0.3 0 0.4 0.2 0 0.1 0 0.2 0.1 0'/>"
#define SOLID(shape, contact)                                                                                          \
  "<sarrus version='1' name='solid'><ground><shape name='floor' type='plane'/>" LAND                                   \
  "</ground><body name='body'><joint name='body' type='free'/><inertial mass='1' inertia='0.02 0.03 0.04'/>" shape     \
  "</body>" contact "</sarrus>"
#define RUBBED "friction='kikuuwe' mu-s='0.5' mu-k='0.3' mu-roll='0.01' mu-spin='0.02' bristle-K='1e4'/>"

// Is an end of a capsule deeper in the ground than its radius? There a run pushes it out.
static bool is_deep(const srSurfaceLaws* c, const double* q) {
  const srConvex* b = &c->shape[1]->convex;
  const double axis[3] = {2 * (q[4] * q[6] + q[3] * q[5]), 2 * (q[5] * q[6] - q[3] * q[4]),
                          1 - 2 * (q[4] * q[4] + q[5] * q[5])};
  if (b->kind != SR_KIND_CAPSULE || !c->shape[0]->surface) return false;
  for (int side = -1; side <= 1; side += 2) {
    double z = 0;
    const double x = q[0] + side * b->size[2] * axis[0], y = q[1] + side * b->size[2] * axis[1];
    if (!sr_field_height(c->shape[0]->surface->user, x, y, &z)) continue;
    if (z - q[2] - side * b->size[2] * axis[2] > 0.5 * b->radius) return true;
  }
  return false;
}

// A body near the ground, anywhere between low and high, in any orientation: how many states have a force.
static int check_solid(const char* text, double low, double high, Random* r) {
  Loaded x = open_text(text);
  const srModel* m = x.m;
  Space space = space_of(m);
  State* s = &space.s;
  srPool pool;
  sr_pool_init(&pool);
  const Codes codes = codes_of(&pool, m, true);
  ENSURE(codes.force != NULL);
  double* out = calloc((size_t)(m->nv + m->ny), sizeof *out);
  int pressed = 0;
  for (int k = 0; k < 400; k++) {
    put_state(r, m, x.d, s, 1);
    const double tilt = k % 3 == 0 ? 0 : k % 3 == 1 ? 0.05 : 1;
    double turn[4] = {1, tilt * random_in(r, -1, 1), tilt * random_in(r, -1, 1), tilt * random_in(r, -1, 1)};
    const double size = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
    s->q[0] = random_in(r, -0.7, 0.7), s->q[1] = random_in(r, -0.5, 0.5), s->q[2] = random_in(r, low, high);
    for (int i = 0; i < 4; i++) s->q[3 + i] = turn[i] / size;
    const srSurfaceLaws* c = m->force[0].contact;
    double z = 0;
    if (c->shape[0]->surface && sr_field_height(c->shape[0]->surface->user, s->q[0], s->q[1], &z))
      s->q[2] = z + c->shape[1]->size * random_in(r, -0.5, 1.5) +
                (c->shape[1]->convex.kind == SR_KIND_CAPSULE ? 0.6 * c->shape[1]->convex.size[2] : 0);
    if (is_deep(c, s->q)) continue;
    memset(x.d->tau, 0, (size_t)m->njv * sizeof *x.d->tau);
    ENSURE_EQUAL(sr_evaluate_stage(m, x.d, s->t, s->q, s->v, s->y, SR_STAGE_FORCE, s->stage), 0);
    evaluate(codes.force, s, out);
    ENSURE_SMALL(apart(out, x.d->f, m->nv, stiffest(m)), 1e-12);
    ENSURE_SMALL(apart(out + m->nv, x.d->ydot, m->ny, 0.1), 1e-11);
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(x.d->f[i]));
    pressed += most > 0;
  }
  free(out);
  free(space.numbers);
  sr_pool_free(&pool);
  close_model(&x);
  return pressed;
}

TEST(symbolic_contacts_of_boxes_on_planes_are_those_of_the_patch) {
  Random r = {11};
  const char* const linear = SOLID("<shape name='box' type='box' size='0.3 0.24 0.2'/>",
                                   "<contact a='floor' b='box' normal='kelvin-voigt' K='1e4' D='100' " RUBBED);
  const char* const power = SOLID("<shape name='box' type='box' size='0.3 0.24 0.2'/>",
                                  "<contact a='floor' b='box' normal='hertz' K='1e5' " RUBBED);
  ENSURE(check_solid(linear, -0.05, 0.13, &r) > 300);  // also sunk to its upper faces
  ENSURE(check_solid(power, 0.05, 0.13, &r) > 200);
}

// Windows of 2 x 2, 2 x 3 and 4 x 4 cells; heights are steep, and the border is within reach.
TEST(symbolic_contacts_of_spheres_on_height_fields_are_those_of_the_points) {
  Random r = {12};
  const char* const small = SOLID("<shape name='ball' type='sphere' size='0.07'/>",
                                  "<contact a='land' b='ball' normal='kelvin-voigt' K='1e4' D='20' " RUBBED);
  const char* const middle = SOLID("<shape name='ball' type='sphere' size='0.095'/>",
                                   "<contact a='land' b='ball' normal='kelvin-voigt' K='1e4' D='20' " RUBBED);
  const char* const large = SOLID("<shape name='ball' type='sphere' size='0.25'/>",
                                  "<contact a='land' b='ball' normal='hertz' K='1e4' " RUBBED);
  ENSURE(check_solid(small, 0.1, 0.6, &r) > 100);
  ENSURE(check_solid(middle, 0.1, 0.6, &r) > 100);
  ENSURE(check_solid(large, 0.3, 0.8, &r) > 100);
}

// Cells that are larger and smaller than the box, at an angle to it, and its border. No deeper than faces of a box are thick.
TEST(symbolic_contacts_of_boxes_on_height_fields_are_those_of_the_patch) {
  Random r = {13};
  const char* const small = SOLID("<shape name='box' type='box' size='0.08 0.06 0.05'/>",
                                  "<contact a='land' b='box' normal='kelvin-voigt' K='1e4' D='20' " RUBBED);
  const char* const large = SOLID("<shape name='box' type='box' size='0.5 0.3 0.2'/>",
                                  "<contact a='land' b='box' normal='kelvin-voigt' K='1e4' D='200' " RUBBED);
  const char* const power = SOLID("<shape name='box' type='box' size='0.15 0.2 0.1'/>",
                                  "<contact a='land' b='box' normal='hertz' K='1e5' " RUBBED);
  ENSURE(check_solid(small, 0.1, 0.6, &r) > 60);
  ENSURE(check_solid(large, 0.3, 0.8, &r) > 60);
  ENSURE(check_solid(power, 0.3, 0.8, &r) > 100);
}

// Ends on faces, edges and corners, edges and corners between them; a capsule that is shorter than a cell and one that lies on five; a ball above many cells.
TEST(symbolic_contacts_of_capsules_on_height_fields_are_those_of_the_points) {
  Random r = {14};
  const char* const small = SOLID("<shape name='rod' type='capsule' size='0.04 0.1'/>",
                                  "<contact a='land' b='rod' normal='kelvin-voigt' K='1e4' D='20' " RUBBED);
  const char* const large = SOLID("<shape name='rod' type='capsule' size='0.1 0.7'/>",
                                  "<contact a='land' b='rod' normal='hertz' K='1e5' " RUBBED);
  const char* const ball = SOLID("<shape name='ball' type='sphere' size='0.42'/>",
                                 "<contact a='land' b='ball' normal='kelvin-voigt' K='1e4' D='20' " RUBBED);
  ENSURE(check_solid(small, 0.1, 0.6, &r) > 100);
  ENSURE(check_solid(large, 0.3, 0.8, &r) > 100);
  ENSURE(check_solid(ball, 0.3, 0.8, &r) > 100);
}

static const char* refusal_of_text(const char* text, srPool* pool) {
  Loaded x = open_text(text);
  const srSymContext context = {.m = x.m, .pool = pool};
  const char* clause = sr_function_force.missing(&context);
  close_model(&x);
  return clause ? clause : "";
}

// 50 heights along x, two along y: a sphere that is above more than 40 cells.
TEST(symbolic_contacts_on_height_fields_without_code_are_refused_by_name) {
  char text[2000], heights[200 + 1] = "";
  srPool pool;
  sr_pool_init(&pool);
  for (int i = 0; i < 100; i++) heights[2 * i] = '0', heights[2 * i + 1] = ' ';
  snprintf(text, sizeof text,
           "<sarrus version='1' name='fine'><ground><shape name='land' type='heightfield' size='1.2 0.9' columns='50' "
           "heights='%s'/></ground><body name='body'><joint name='body' type='free'/><inertial mass='1' inertia='0.02 "
           "0.03 0.04'/><shape name='x' type='sphere' size='0.5'/></body><contact name='c' a='land' b='x' "
           "normal='kelvin-voigt' K='1e4' D='20' friction='none'/></sarrus>",
           heights);
  ENSURE(strstr(refusal_of_text(text, &pool), "'body/x' may be above 42 x 2 cells"));
  ENSURE(strstr(refusal_of_text(SOLID("<shape name='x' type='cylinder' size='0.1 0.1'/>",
                                      "<contact name='c' a='land' b='x' normal='kelvin-voigt' K='1e4' D='20' "
                                      "friction='none'/>"),
                                &pool),
                "'body/x'"));
  sr_pool_free(&pool);
}

static const char* refusal(const char* model, const srSymFunction* f, srPool* pool) {
  Loaded x = open_model(model, "");
  const srSymContext context = {.m = x.m, .pool = pool};
  const char* clause = f->missing(&context);
  close_model(&x);
  return clause ? clause : "";
}

TEST(symbolic_forces_that_cannot_be_written_are_refused_by_name) {
  srPool pool;
  sr_pool_init(&pool);
  ENSURE(strstr(refusal("nonsmooth/spinning-ball", &sr_function_force, &pool), "'exact' depends on the velocity"));
  ENSURE(strstr(refusal("robots/quadruped-crawl", &sr_function_force, &pool), "'touch' of many shapes"));
  ENSURE(strstr(refusal("contact/tower-of-boxes", &sr_function_force, &pool), "'box1/box'"));
  ENSURE(strstr(refusal("contact/omni-wheel", &sr_function_force, &pool), "direction"));
  ENSURE(strstr(refusal("mechanisms/four-bar", &sr_function_rates, &pool), "constraint equations"));
  ENSURE(refusal("robots/quadruped-stand", &sr_function_rates, &pool)[0] == 0);
  sr_pool_free(&pool);
}

// One sensor: where its numbers begin in the arrays of all n.
static void compare_sensor(const srModel* m, srData* d, const srSensor* sensor, const double* out, int n, int k) {
  srFrameMotion f;
  double* J = calloc((size_t)(6 * m->nv), sizeof *J);
  const double *v = out + 12 * n, *w = v + 3 * n, *jacobian = w + 3 * n, *a = jacobian + 6 * n * m->nv, *wd = a + 3 * n;
  sr_frame_motion(m, d, sensor->point, sensor->relative_to, &f);
  sr_frame_jacobian(m, d, sensor->point, sensor->relative_to, J);
  ENSURE_SMALL(apart(out + 3 * k, f.position, 3, 1), 1e-13);
  ENSURE_SMALL(apart(out + 3 * n + 9 * k, f.rotation, 9, 1), 1e-13);
  ENSURE_SMALL(apart(v + 3 * k, f.velocity, 3, 1), 1e-13);
  ENSURE_SMALL(apart(w + 3 * k, f.angular_velocity, 3, 1), 1e-13);
  ENSURE_SMALL(apart(a + 3 * k, f.acceleration, 3, 10), 1e-12);
  ENSURE_SMALL(apart(wd + 3 * k, f.angular_acceleration, 3, 10), 1e-12);
  for (int r = 0; r < 6; r++)  // angular velocity first there
    ENSURE_SMALL(apart(jacobian + (6 * k + (r + 3) % 6) * m->nv, J + r * m->nv, m->nv, 1), 1e-13);
  free(J);
}

static void check_sensors(const char* name, Random* r) {
  Loaded x = open_model(name, "");
  const srModel* m = x.m;
  Space space = space_of(m);
  srPool pool;
  sr_pool_init(&pool);
  const srSymContext context = {.m = m, .pool = &pool};
  ENSURE(sr_function_sensor.missing(&context) == NULL);
  const int nout = sr_sym_outputs(&sr_function_sensor, &context), n = nout / (24 + 6 * m->nv);
  double* out = calloc((size_t)nout, sizeof *out);
  const srCode* code = code_with(&pool, tree_of(&pool, m, true), sr_function_sensor.build[0], &context, nout);
  for (int state = 0; state < 5; state++) {
    put_state(r, m, x.d, &space.s, 1);
    ENSURE_EQUAL(sr_evaluate(m, x.d, space.s.t, space.s.q, space.s.v, space.s.y, SR_STAGE_FRAMES), 0);
    memcpy(space.s.a, x.d->a, (size_t)m->nv * sizeof *x.d->a);
    evaluate(code, &space.s, out);
    for (int i = 0, k = 0; i < m->nsensor; i++) {
      if (m->sensor[i].point >= 0) compare_sensor(m, x.d, &m->sensor[i], out, n, k++);
    }
  }
  free(out);
  free(space.numbers);
  sr_pool_free(&pool);
  close_model(&x);
}

TEST(symbolic_sensors_are_those_of_the_frames) {
  Random r = {4};
  check_sensors("robots/quadruped-stand", &r);
  check_sensors("paper3/rolling-sphere", &r);
  check_sensors("double-pendulum", &r);
}
