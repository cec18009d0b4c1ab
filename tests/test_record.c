// What a run records on request. Reactions: closed forms, Newton's and Euler's equations of every body from the accelerations of its centre of
// mass, multipliers of the same joints between free bodies. Force elements by their formulas, work by the energy balance, accelerations by
// differences of velocities, contacts by weights.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "messages.h"
#include "runner.h"

#define COUNT(x) ((int)(sizeof(x) / sizeof(x)[0]))

// ---- runs in memory --------------------------------------------------------------------------------------------------

typedef struct Table {
  srColumns* columns;
  double* rows;
  int nrow, room;
  srRunResult result;
} Table;

typedef struct Bench {
  srSpec* spec;
  srModel* m;
  srData* d;
} Bench;

static char said[4096];

static srStatus open_text(const char* text, Bench* b) {
  srMessages* messages = sr_messages_create();
  *b = (Bench){0};
  srStatus status = sr_load_text(text, strlen(text), "test.xml", NULL, NULL, messages, &b->spec);
  if (status == SR_OK) status = sr_compile(b->spec, messages, &b->m);
  if (status == SR_OK) b->d = sr_data_create(b->m);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

static Bench load(const char* text) {
  Bench b;
  const srStatus status = open_text(text, &b);
  if (status != SR_OK) printf("%s", said);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(sr_assemble(b.m, b.d, NULL, NULL), SR_OK);
  return b;
}

static Bench formulated(const Bench* b, srFormulation formulation) {
  Bench out = {0};
  if (formulation == SR_FORMULATION_RELATIVE) {
    ENSURE_EQUAL(sr_compile(b->spec, NULL, &out.m), SR_OK);
    out.d = sr_data_create(out.m);
    return out;
  }
  ENSURE_EQUAL(sr_formulate(b->spec, b->m, b->d, formulation, NULL, &out.m, &out.d), SR_OK);
  return out;
}

static void unload(Bench* b) {
  sr_data_destroy(b->d);
  sr_model_destroy(b->m);
  srs_destroy(b->spec);
}

static int keep(void* user, const double* row) {
  Table* t = user;
  if (t->nrow == t->room) {
    t->room = 2 * t->room + 64;
    t->rows = realloc(t->rows, (size_t)t->room * (size_t)t->columns->count * sizeof *t->rows);
  }
  memcpy(t->rows + (size_t)t->nrow++ * (size_t)t->columns->count, row, (size_t)t->columns->count * sizeof *row);
  return 0;
}

static Table run(Bench* b, double t_end, double every, const char* const* record, int n) {
  Table t = {0};
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(b->m);
  options.t_end = t_end;
  options.every = every;
  options.method = "dopri5";
  options.rtol = 1e-11;
  options.atol = 1e-12;
  options.record = record;
  options.nrecord = n;
  options.row = keep;
  options.user = &t;
  const srStatus named = sr_record_columns_create(b->m, record, n, messages, &t.columns);
  const srStatus status = named == SR_OK ? sr_run(b->m, b->d, &options, messages, &t.result) : named;
  messages_keep(messages, said, sizeof said);
  if (status != SR_OK) printf("%s%s\n", said, t.result.error_message);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return t;
}

static void drop(Table* t) {
  sr_columns_destroy(t->columns);
  free(t->rows);
}

static int column(const Table* t, const char* name) {
  for (int i = 0; i < t->columns->count; i++)
    if (strcmp(t->columns->names[i], name) == 0) return i;
  printf("no column '%s'\n", name);
  ENSURE(false);
  return -1;
}

static double at(const Table* t, int row, const char* name) {
  return t->rows[(size_t)row * (size_t)t->columns->count + (size_t)column(t, name)];
}

static const char* unit(const Table* t, const char* name) { return t->columns->units[column(t, name)]; }

static double member(const Table* t, int row, const char* object, const char* word) {
  char name[200];
  snprintf(name, sizeof name, "%s.%s", object, word);
  return at(t, row, name);
}

static void vector(const Table* t, int row, const char* object, const char* letter, double out[3]) {
  static const char axis[] = "xyz";
  for (int i = 0; i < 3; i++) {
    char word[20];
    snprintf(word, sizeof word, "%s%c", letter, axis[i]);
    out[i] = member(t, row, object, word);
  }
}

// ---- closed forms ----------------------------------------------------------------------------------------------------

#define ALL_FORMULATIONS(f) for (srFormulation f = SR_FORMULATION_RELATIVE; f <= SR_FORMULATION_ABSOLUTE; f++)

static const char pendulum[] =
    "<sarrus version='1'><body name='bob'><joint name='theta' type='revolute' axis='0 1 0' q='0.7' v='2'/>"
    "<inertial mass='1.5' com='0 0 -0.8'/></body></sarrus>";

// A point mass on a massless rod: the bearing pulls along the rod, with m (g cos(theta) + l theta'^2), and nothing else.
TEST(the_bearing_of_a_pendulum_carries_the_weight_and_the_centripetal_force) {
  static const char* const record[] = {"reaction(theta).*", "reaction(theta in ground).*", "a.*"};
  ALL_FORMULATIONS(f) {
    Bench b = load(pendulum), x = formulated(&b, f);
    Table t = run(&x, 1, 0.1, record, COUNT(record));
    ENSURE_EQUAL(t.nrow, 11);
    ENSURE_TEXT(unit(&t, "reaction(theta).fz"), "N");
    ENSURE_TEXT(unit(&t, "reaction(theta).ty"), "Nm");
    ENSURE_TEXT(unit(&t, "a.theta"), "rad/s^2");
    for (int i = 0; i < t.nrow; i++) {
      const double q = at(&t, i, "q.theta"), v = at(&t, i, "v.theta"), pull = 1.5 * (9.81 * cos(q) + 0.8 * v * v);
      ENSURE_NEAR(at(&t, i, "reaction(theta).fz"), pull, 1e-9);
      ENSURE_NEAR(at(&t, i, "reaction(theta).f"), fabs(pull), 1e-9);
      ENSURE_SMALL(at(&t, i, "reaction(theta).fx"), 1e-9);
      ENSURE_SMALL(at(&t, i, "reaction(theta).t"), 1e-9);
      ENSURE_NEAR(at(&t, i, "reaction(theta in ground).fx"), pull * sin(q), 1e-9);
      ENSURE_NEAR(at(&t, i, "reaction(theta in ground).fz"), pull * cos(q), 1e-9);
      ENSURE_NEAR(at(&t, i, "a.theta"), -9.81 / 0.8 * sin(q), 1e-9);
    }
    drop(&t);
    unload(&x);
    unload(&b);
  }
}

// A slider-crank whose loop is cut at the wrist pin, by the two equations in the plane: none is redundant, all reactions are unique.
#define CRANK                                                                                                          \
  "<body name='crank'><joint name='theta' type='revolute' axis='0 1 0' q='0.6' v='30'/>"                               \
  "<inertial mass='0.9' com='0.02 0.01 0' inertia='2e-3 3e-3 2.5e-3'/><point name='com' at='0.02 0.01 0'/>"            \
  "<point name='pin' at='0.05 0 0'/></body>"
#define SLIDER                                                                                                         \
  "<body name='slider'><joint name='x' type='prismatic' axis='1 0 0' q='0.18'/>"                                       \
  "<inertial mass='0.4' com='0.01 0 0' inertia='1e-4 2e-4 3e-4'/><point name='com' at='0.01 0 0'/><point name='pin'/>" \
  "</body>"
#define ROD_INERTIAL                                                                                                   \
  "<inertial mass='0.6' com='0.06 0.003 0' inertia='1e-4 8e-4 9e-4'/><point name='com' at='0.06 0.003 0'/>"
static const char slider_crank[] = "<sarrus version='1'>" CRANK SLIDER
                                   "<body name='rod' parent='crank'><joint name='crankpin' type='revolute' axis='0 1 "
                                   "0' at='0.05 0 0' q='-0.9'/>" ROD_INERTIAL
                                   "<point name='tip' at='0.15 0 0'/></body>"
                                   "<closure name='wrist' type='ball' normal='0 1 0' a='rod/tip' b='slider/pin'/>"
                                   "<torque name='gas' joint='x' law='-400 - 5*v(x)'/></sarrus>";

static void cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Force and torque about the centre of mass of one contribution with this sign; where: the point that it acts at.
static void add_wrench(const Table* t, int i, const char* reaction, const char* where, const char* com, double sign,
                       double* force, double* torque) {
  double f[3], n[3], p[3], c[3], arm[3], turn[3];
  vector(t, i, reaction, "f", f);
  vector(t, i, reaction, "t", n);
  vector(t, i, where, "", p);
  vector(t, i, com, "", c);
  for (int k = 0; k < 3; k++) arm[k] = p[k] - c[k];
  cross(arm, f, turn);
  for (int k = 0; k < 3; k++) {
    force[k] += sign * f[k];
    torque[k] += sign * (n[k] + turn[k]);
  }
}

// m (a - g) and J alpha + w x J w of a body whose motion is about y, its axes of inertia included.
static void ensure_balance(const Table* t, int i, const char* com, double mass, double Jyy, const double* force,
                           const double* torque) {
  double a[3];
  vector(t, i, com, "a", a);
  ENSURE_NEAR(force[0], mass * a[0], 1e-9 * 1e3);  // forces are up to 1e3 N
  ENSURE_NEAR(force[1], mass * a[1], 1e-9 * 1e3);
  ENSURE_NEAR(force[2], mass * (a[2] + 9.81), 1e-9 * 1e3);
  ENSURE_NEAR(torque[1], Jyy * member(t, i, com, "alphay"), 1e-9 * 1e2);
}

TEST(reactions_of_a_slider_crank_balance_every_body) {
  static const char* const record[] = {"reaction(* in ground).*", "point(*).*", "force(gas).*"};
  ALL_FORMULATIONS(f) {
    Bench b = load(slider_crank), x = formulated(&b, f);
    Table t = run(&x, 0.05, 0.01, record, COUNT(record));
    for (int i = 0; i < t.nrow; i++) {
      double force[3] = {0}, torque[3] = {0};
      add_wrench(&t, i, "reaction(theta in ground)", "point(crank)", "point(crank/com)", 1, force, torque);
      add_wrench(&t, i, "reaction(crankpin in ground)", "point(rod)", "point(crank/com)", -1, force, torque);
      ensure_balance(&t, i, "point(crank/com)", 0.9, 3e-3, force, torque);
      memset(force, 0, sizeof force);
      memset(torque, 0, sizeof torque);
      add_wrench(&t, i, "reaction(crankpin in ground)", "point(rod)", "point(rod/com)", 1, force, torque);
      add_wrench(&t, i, "reaction(wrist in ground)", "point(slider/pin)", "point(rod/com)", -1, force, torque);
      ensure_balance(&t, i, "point(rod/com)", 0.6, 8e-4, force, torque);
      memset(force, 0, sizeof force);
      memset(torque, 0, sizeof torque);
      add_wrench(&t, i, "reaction(wrist in ground)", "point(slider/pin)", "point(slider/com)", 1, force, torque);
      add_wrench(&t, i, "reaction(x in ground)", "point(slider)", "point(slider/com)", 1, force, torque);
      ensure_balance(&t, i, "point(slider/com)", 0.4, 2e-4, force, torque);
      // The reaction of the guide along its axis is the law on the coordinate.
      ENSURE_NEAR(at(&t, i, "reaction(x in ground).fx"), -400 - 5 * at(&t, i, "v.x"), 1e-9 * 1e3);
      ENSURE_NEAR(at(&t, i, "force(gas).f"), -400 - 5 * at(&t, i, "v.x"), 1e-9);
    }
    drop(&t);
    unload(&x);
    unload(&b);
  }
}

static double norm3(const Table* t, const char* object, int first) {
  double sum = 0;
  for (int k = first; k < first + 3; k++) {
    char word[12];
    snprintf(word, sizeof word, "%d", k);
    const double x = member(t, 0, object, word);
    sum += x * x;
  }
  return sqrt(sum);
}

// At one state, so that no error of integration is between the two.
TEST(relative_reactions_are_the_multipliers_of_the_joints_between_free_bodies) {
  static const char* const record[] = {"reaction(*).*"};
  static const char* const both[] = {"reaction(*).*", "lambda.*"};
  Bench b = load(slider_crank), x = formulated(&b, SR_FORMULATION_ABSOLUTE);
  Table relative = run(&b, 0, 1, record, COUNT(record)), absolute = run(&x, 0, 1, both, COUNT(both));
  ENSURE(strstr(said, "warning") == NULL);
  for (int i = column(&relative, "reaction(theta).fx"); i < relative.columns->count; i++) {
    const char* name = relative.columns->names[i];
    ENSURE_NEAR(relative.rows[i], at(&absolute, 0, name), 1e-9 * 1e3);
  }
  // Translations along three axes come first; nothing but the bearing acts in this joint.
  ENSURE_NEAR(norm3(&absolute, "lambda.crankpin", 0), at(&relative, 0, "reaction(crankpin).f"), 1e-9 * 1e3);
  ENSURE_TEXT(unit(&absolute, "lambda.crankpin.0"), "N");
  ENSURE_TEXT(unit(&absolute, "lambda.crankpin.3"), "Nm");
  drop(&relative);
  drop(&absolute);
  unload(&x);
  unload(&b);
}

TEST(multipliers_of_joints_are_not_there_in_relative_coordinates) {
  static const char* const record[] = {"lambda.theta.*"};
  Bench b = load(pendulum);
  Table t = run(&b, 0, 1, record, 1);
  ENSURE(strstr(said, "warning") != NULL && strstr(said, "absolute and penalty only") != NULL);
  ENSURE_TEXT(t.columns->names[t.columns->count - 1], "residual");
  drop(&t);
  unload(&b);
}

// Springs of 1e9 N/m instead of joints: the error of the penalty is that of the deflection.
TEST(reactions_between_springs_come_near_those_of_joints) {
  static const char* const record[] = {"reaction(theta).f*"};
  Bench b = load(
      "<sarrus version='1'><body name='bob'><joint name='theta' type='revolute' axis='0 1 0' q='0'/>"
      "<inertial mass='1.5' com='0 0 -0.8' inertia='0.01 0.01 0.01'/></body>"
      "<run penalty-stiffness='1e6' penalty-rotation='1e6' penalty-damping='1e-2'/></sarrus>");
  Bench x = formulated(&b, SR_FORMULATION_PENALTY);
  Table t = run(&x, 2, 1, record, COUNT(record));
  ENSURE_NEAR(at(&t, 2, "reaction(theta).fz"), 1.5 * 9.81, 1e-6);  // at rest after 2 s
  drop(&t);
  unload(&x);
  unload(&b);
}

// ---- force elements --------------------------------------------------------------------------------------------------

static const char oscillator[] =
    "<sarrus version='1'><option gravity='0 0 0'/><ground><point name='hook' at='0 0 1'/></ground>"
    "<body name='cart'><joint name='x' type='prismatic' axis='1 0 0' q='0.3' v='1' stiffness='40' rest='0.1' "
    "damping='3'/><inertial mass='2' inertia='1 1 1'/><point name='eye' at='0 0 0.2'/></body>"
    "<link name='rope' a='ground/hook' b='cart/eye' law='-150*(z - 0.9) - 4*zdot'/>"
    "<torque name='motor' joint='x' law='7*cos(5*t)'/>"
    "<force name='push' body='cart' at='0 0 0.1' f='3*sin(t) 1 2' m='0.5 0.25*t 0'/></sarrus>";

TEST(force_elements_give_what_their_formulas_give_and_their_work_changes_the_kinetic_energy) {
  static const char* const record[] = {"force(*).*", "balance(*).*"};
  Bench b = load(oscillator);
  Table t = run(&b, 1, 0.1, record, COUNT(record));
  ENSURE_TEXT(unit(&t, "force(joint-spring of x).f"), "N");
  for (int i = 0; i < t.nrow; i++) {
    const double time = at(&t, i, "t"), x = at(&t, i, "q.x"), v = at(&t, i, "v.x");
    const double z = hypot(x, 0.8), zdot = x * v / z, rope = -150 * (z - 0.9) - 4 * zdot;
    ENSURE_NEAR(at(&t, i, "force(rope).f"), rope, 1e-10);
    ENSURE_NEAR(at(&t, i, "force(rope).z"), z, 1e-12);
    ENSURE_NEAR(at(&t, i, "force(rope).zdot"), zdot, 1e-12);
    ENSURE_NEAR(at(&t, i, "force(rope).fx"), rope * x / z, 1e-10);
    ENSURE_NEAR(at(&t, i, "force(rope).fz"), rope * -0.8 / z, 1e-10);
    ENSURE_NEAR(at(&t, i, "force(rope).power"), rope * zdot, 1e-10);
    ENSURE_NEAR(at(&t, i, "force(joint-spring of x).f"), -40 * (x - 0.1), 1e-12);
    ENSURE_NEAR(at(&t, i, "force(joint-spring of x).energy"), 20 * (x - 0.1) * (x - 0.1), 1e-12);
    ENSURE_NEAR(at(&t, i, "force(joint-damper of x).f"), -3 * v, 1e-12);
    ENSURE_NEAR(at(&t, i, "force(joint-damper of x).dissipation"), 3 * v * v, 1e-12);
    ENSURE_NEAR(at(&t, i, "force(motor).f"), 7 * cos(5 * time), 1e-12);
    ENSURE_NEAR(at(&t, i, "force(motor).power"), 7 * cos(5 * time) * v, 1e-12);
    ENSURE_NEAR(at(&t, i, "force(push).fx"), 3 * sin(time), 1e-12);
    ENSURE_NEAR(at(&t, i, "force(push).ty"), 0.25 * time, 1e-12);
    double sum = 0;
    static const char* const all[] = {"rope", "joint-spring of x", "joint-damper of x", "motor", "push"};
    for (int k = 0; k < COUNT(all); k++) {
      char object[60];
      snprintf(object, sizeof object, "force(%s)", all[k]);
      sum += member(&t, i, object, "work");
    }
    ENSURE_NEAR(v * v - 1, sum, 1e-8);  // kinetic energy of 2 kg
    ENSURE_NEAR(at(&t, i, "force(joint-spring of x).work"), 20 * 0.04 - 20 * (x - 0.1) * (x - 0.1), 1e-8);
    ENSURE_NEAR(at(&t, i, "balance(torque).work"), at(&t, i, "force(motor).work"), 1e-12);
    ENSURE_NEAR(at(&t, i, "balance(dissipated).work"), at(&t, i, "force(joint-damper of x).work"), 1e-12);
    ENSURE_NEAR(at(&t, i, "balance(link).power"), at(&t, i, "force(rope).power"), 1e-12);
  }
  drop(&t);
  unload(&b);
}

// The integral of the power, by the trapezoidal rule on narrow rows: (pi^2/12) h^2 of it is its own error.
TEST(work_goes_on_across_events_and_methods) {
  static const char text[] =
      "<sarrus version='1'><option gravity='0 0 0'/><body name='cart'><joint name='x' type='prismatic' axis='1 0 0' "
      "v='1'/>"
      "<inertial mass='2'/></body><state name='gain' initial='1' rate='0'/>"
      "<torque name='motor' joint='x' law='gain*3*cos(4*t)'/>"
      "<event name='change' when='t - 0.35' do='gain = -2'/></sarrus>";
  static const char* const record[] = {"force(motor).*"};
  static const char* const methods[] = {"dopri5", "rk4", "radau5", "genalpha-index3", "auto"};
  for (int k = 0; k < COUNT(methods); k++) {
    Bench b = load(text);
    Table t = {0};
    srRunOptions options = sr_run_options(b.m);
    options.method = methods[k];
    options.t_end = 1;
    options.every = 1e-3;
    options.step = 1e-3;
    options.rtol = options.atol = 1e-9;
    options.record = record;
    options.nrecord = 1;
    options.row = keep;
    options.user = &t;
    ENSURE_EQUAL(sr_record_columns_create(b.m, record, 1, NULL, &t.columns), SR_OK);
    ENSURE_EQUAL(sr_run(b.m, b.d, &options, NULL, &t.result), SR_OK);
    ENSURE_EQUAL(t.result.event_count, 1);
    const int last = t.nrow - 1;
    const double v = at(&t, last, "v.x");
    ENSURE_NEAR(at(&t, last, "force(motor).work"), v * v - 1, 1e-5);  // kinetic energy of 2 kg; genalpha is of order 2
    ENSURE(b.d->element_power == NULL);
    drop(&t);
    unload(&b);
  }
}

TEST(drivers_have_power_and_work) {
  static const char* const record[] = {"driver(x).*", "reaction(x).fx"};
  Bench b = load(
      "<sarrus version='1'><body name='cart'><joint name='x' type='prismatic' axis='1 0 0'/>"
      "<inertial mass='2'/></body><driver joint='x' motion='t^3'/></sarrus>");
  ALL_FORMULATIONS(f) {
    Bench x = formulated(&b, f);
    Table t = run(&x, 1, 0.5, record, COUNT(record));
    ENSURE_NEAR(at(&t, 1, "driver(x).f"), 2 * 6 * 0.5, 1e-9);
    ENSURE_NEAR(at(&t, 1, "driver(x).power"), 2 * 6 * 0.5 * 3 * 0.25, 1e-9);
    ENSURE_NEAR(at(&t, 2, "driver(x).work"), 0.5 * 2 * 9, 1e-8);
    ENSURE_NEAR(at(&t, 1, "reaction(x).fx"), 2 * 6 * 0.5, 1e-9);
    drop(&t);
    unload(&x);
  }
  unload(&b);
}

// ---- motion ----------------------------------------------------------------------------------------------------------

static const char arm[] =
    "<sarrus version='1'><body name='upper'><joint name='yaw' type='revolute' axis='0 0 1' q='0.3' v='1'/>"
    "<inertial mass='1' com='0.2 0 0' inertia='0.01 0.02 0.03'/></body>"
    "<body name='lower' parent='upper'><joint name='pitch' type='revolute' axis='0 1 0' at='0.4 0 0' q='-0.2' v='2'/>"
    "<inertial mass='0.7' com='0.2 0 0.05' inertia='0.01 0.02 0.02'/><point name='tip' at='0.3 0.1 0'/></body>"
    "<sensor name='tip' point='lower/tip'/><sensor name='seen' point='lower/tip' relative-to='upper'/></sarrus>";

TEST(accelerations_are_the_rates_of_velocities) {
  static const char* const record[] = {"a.*", "tip.a*", "seen.a*"};
  static const char* const pairs[][2] = {{"v.yaw", "a.yaw"},     {"v.pitch", "a.pitch"},    {"tip.vx", "tip.ax"},
                                         {"tip.vz", "tip.az"},   {"tip.wx", "tip.alphax"},  {"tip.wz", "tip.alphaz"},
                                         {"seen.vx", "seen.ax"}, {"seen.wy", "seen.alphay"}};
  const double h = 1e-3;
  ALL_FORMULATIONS(f) {
    Bench b = load(arm), x = formulated(&b, f);
    Table t = run(&x, 0.1, h, record, COUNT(record));
    for (int k = 0; k < COUNT(pairs); k++) {
      for (int i = 1; i < t.nrow - 1; i += 7) {
        const double rate = (at(&t, i + 1, pairs[k][0]) - at(&t, i - 1, pairs[k][0])) / (2 * h);
        ENSURE_NEAR(at(&t, i, pairs[k][1]), rate, 5e-4);  // h^2/6 of a third derivative of some 1e3
      }
    }
    drop(&t);
    unload(&x);
    unload(&b);
  }
}

TEST(orientation_is_recorded_as_quaternion_and_angles) {
  static const char* const record[] = {"tip.q?", "tip.roll", "tip.pitch", "tip.yaw", "point(lower in upper).*"};
  Bench b = load(arm);
  Table t = run(&b, 0.1, 0.05, record, COUNT(record));
  for (int i = 0; i < t.nrow; i++) {
    const double yaw = at(&t, i, "q.yaw"), pitch = at(&t, i, "q.pitch");
    ENSURE_NEAR(at(&t, i, "tip.yaw"), yaw, 1e-12);
    ENSURE_NEAR(at(&t, i, "tip.pitch"), pitch, 1e-12);
    ENSURE_SMALL(at(&t, i, "tip.roll"), 1e-12);
    ENSURE_NEAR(at(&t, i, "tip.qw"), cos(yaw / 2) * cos(pitch / 2), 1e-12);  // Rz Ry
    ENSURE_NEAR(at(&t, i, "tip.qx"), -sin(yaw / 2) * sin(pitch / 2), 1e-12);
    ENSURE_NEAR(at(&t, i, "tip.qy"), cos(yaw / 2) * sin(pitch / 2), 1e-12);
    ENSURE_NEAR(at(&t, i, "tip.qz"), sin(yaw / 2) * cos(pitch / 2), 1e-12);
    ENSURE_NEAR(at(&t, i, "point(lower in upper).pitch"), pitch, 1e-12);
    ENSURE_SMALL(at(&t, i, "point(lower in upper).yaw"), 1e-12);
    // The elbow moves on a circle: in the axes of the upper arm its velocity is across, its acceleration also inwards.
    ENSURE_NEAR(at(&t, i, "point(lower in upper).vy"), 0.4 * at(&t, i, "v.yaw"), 1e-12);
    ENSURE_NEAR(at(&t, i, "point(lower in upper).ax"), -0.4 * pow(at(&t, i, "v.yaw"), 2), 1e-10);
  }
  drop(&t);
  unload(&b);
}

TEST(axes_are_those_of_the_parent_or_of_any_frame) {
  static const char* const record[] = {"reaction(pitch in parent).f?", "reaction(pitch in upper).f?",
                                       "reaction(pitch).fx"};
  Bench b = load(arm);
  Table t = run(&b, 0, 1, record, COUNT(record));
  const double x = at(&t, 0, "reaction(pitch in upper).fx"), z = at(&t, 0, "reaction(pitch in upper).fz");
  ENSURE_NEAR(at(&t, 0, "reaction(pitch in parent).fx"), x, 1e-12);
  ENSURE_NEAR(at(&t, 0, "reaction(pitch in parent).fz"), z, 1e-12);
  ENSURE_NEAR(at(&t, 0, "reaction(pitch).fx"), x * cos(-0.2) - z * sin(-0.2), 1e-12);  // rotated about y
  drop(&t);
  unload(&b);
}

// Rz(0.3) Ry(pi/2) is Ry(pi/2) Rx(-0.3).
TEST(angles_are_defined_at_a_pitch_of_a_right_angle) {
  static const char* const record[] = {"tip.roll", "tip.pitch", "tip.yaw"};
  Bench b = load(arm);
  b.d->q[1] = acos(0.0);
  Table t = run(&b, 0, 1, record, COUNT(record));
  ENSURE_NEAR(at(&t, 0, "tip.pitch"), acos(0.0), 1e-12);
  ENSURE_NEAR(at(&t, 0, "tip.roll"), -0.3, 1e-12);
  ENSURE(at(&t, 0, "tip.yaw") == 0);
  drop(&t);
  unload(&b);
}

TEST(a_bushing_gives_forces_torques_and_deflections) {
  static const char* const record[] = {"force(mount).*"};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='a' type='free' q='0.01 0 0 cos(0.05) 0 0 sin(0.05)'/>"
      "<inertial mass='1' inertia='1 1 1'/></body>"
      "<bushing name='mount' a='ground' b='a' stiffness='100 200 300 1000 2000 3000'/></sarrus>");
  Table t = run(&b, 0, 1, record, 1);
  ENSURE_NEAR(at(&t, 0, "force(mount).fx"), -10, 1e-9);
  ENSURE_NEAR(at(&t, 0, "force(mount).tz"), -30, 1e-9);
  ENSURE_SMALL(at(&t, 0, "force(mount).tx"), 1e-12);
  ENSURE_NEAR(at(&t, 0, "force(mount).dx"), 0.01, 1e-12);
  ENSURE_NEAR(at(&t, 0, "force(mount).rz"), 0.1, 1e-12);
  drop(&t);
  unload(&b);
}

// ---- contacts --------------------------------------------------------------------------------------------------------

#define BALL                                                                                                           \
  "<sarrus version='1'><option gravity='%s'/><ground><shape name='floor' type='plane'/></ground>"                      \
  "<body name='ball'><joint type='free' q='0 0 %s 1 0 0 0' v='0 0 0 %s 0 0'/><inertial mass='2' inertia='0.1 0.1 "     \
  "0.1'/>"                                                                                                             \
  "<shape name='s' type='sphere' size='0.1'/></body>"                                                                  \
  "<contact name='foot' a='ball/s' b='floor' normal='kelvin-voigt' K='1e5' D='600' friction='kikuuwe' mu-s='0.3' "     \
  "mu-k='0.3' bristle-K='1e5' bristle-B='300' %s/></sarrus>"

static Bench ball(const char* gravity, const char* height, const char* speed, const char* more) {
  static char text[2000];
  snprintf(text, sizeof text, BALL, gravity, height, speed, more);
  return load(text);
}

TEST(a_ball_at_rest_presses_with_its_weight) {
  static const char* const record[] = {"contact(*).*"};
  Bench b = ball("0 0 -9.81", "0.1", "0", "");
  Table t = run(&b, 2, 1, record, 1);
  ENSURE_TEXT(unit(&t, "contact(foot).n"), "N");
  ENSURE_NEAR(at(&t, 2, "contact(foot).n"), 2 * 9.81, 1e-6);  // oscillations have died out
  ENSURE_NEAR(at(&t, 2, "contact(foot).penetration"), 2 * 9.81 / 1e5, 1e-11);
  ENSURE_NEAR(at(&t, 2, "contact(foot).gap"), -2 * 9.81 / 1e5, 1e-11);
  ENSURE_NEAR(at(&t, 2, "contact(foot).nz"), 1, 1e-12);
  ENSURE_EQUAL(lrint(at(&t, 2, "contact(foot).state")), 1);
  ENSURE_SMALL(at(&t, 2, "contact(foot).slip"), 1e-9);
  ENSURE_NEAR(at(&t, 2, "contact(foot).energy"), 0.5 * 1e5 * pow(19.62 / 1e5, 2), 1e-9);
  drop(&t);
  unload(&b);
}

// A ball that slides and does not roll yet: friction mu m g against the slip, at the contact.
TEST(a_sliding_ball_is_braked_by_mu_times_its_weight) {
  static const char* const record[] = {"contact(foot).*", "contact(foot in ball).fx", "balance(friction).work"};
  Bench b = ball("0 0 -9.81", "0.0998038", "5", "");
  Table t = run(&b, 0.1, 0.05, record, COUNT(record));
  for (int i = 1; i < t.nrow; i++) {
    ENSURE_NEAR(at(&t, i, "contact(foot).n"), 19.62, 1e-3);
    ENSURE_NEAR(at(&t, i, "contact(foot).fx"), -0.3 * 19.62, 1e-3);
    ENSURE_SMALL(at(&t, i, "contact(foot).fy"), 1e-9);
    ENSURE_EQUAL(lrint(at(&t, i, "contact(foot).state")), 2);
    // The point of contact moves with the centre, and back by the rotation about y that friction has given to the ball.
    const double w = at(&t, i, "v.ball.wy");
    ENSURE_NEAR(at(&t, i, "contact(foot).sx"), at(&t, i, "contact(foot).slip"), 1e-9);
    ENSURE(w > 0);
  }
  drop(&t);
  unload(&b);
}

TEST(an_open_contact_has_no_force) {
  static const char* const record[] = {"contact(foot).*"};
  Bench b = ball("0 0 -9.81", "0.6", "1", "");
  Table t = run(&b, 0.1, 0.1, record, 1);
  ENSURE_EQUAL(lrint(at(&t, 1, "contact(foot).state")), 0);
  ENSURE(at(&t, 1, "contact(foot).n") == 0);
  ENSURE(at(&t, 1, "contact(foot).penetration") == 0);
  ENSURE_NEAR(at(&t, 1, "contact(foot).gap"), 0.5 - 0.5 * 9.81 * 0.01, 1e-9);
  drop(&t);
  unload(&b);
}

// The same contact as an instance of a set: sums of its shapes.
TEST(contacts_of_a_set_are_recorded_as_sums) {
  static const char* const record[] = {"contact(*).*"};
  Bench b = ball("0 0 -9.81", "0.1", "0", "most='4'");
  Table t = run(&b, 2, 1, record, 1);
  ENSURE_EQUAL(lrint(at(&t, 2, "contact(foot).count")), 1);
  ENSURE_NEAR(at(&t, 2, "contact(foot).n"), 19.62, 1e-6);
  ENSURE_NEAR(at(&t, 2, "contact(foot/ball/s).fz"), 19.62, 1e-6);
  ENSURE_NEAR(at(&t, 2, "contact(foot/ground/floor).fz"), -19.62, 1e-6);
  ENSURE_NEAR(at(&t, 2, "contact(foot).penetration"), 19.62 / 1e5, 1e-11);
  drop(&t);
  unload(&b);
}

TEST(ends_of_travel_and_gaps_by_formula_are_contacts_too) {
  static const char* const record[] = {"contact(*).*"};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='z' type='prismatic' axis='0 0 1' limits='-0.1 1' "
      "limit-law='hooke' limit-stiffness='1e4'/><inertial mass='1'/></body>"
      "<contact name='gap' gap='q(z) + 0.05' slip-speed='v(z)' normal='hooke' K='2e4' friction='none'/></sarrus>");
  b.d->q[0] = -0.101;
  Table t = run(&b, 0, 1, record, 1);
  ENSURE_NEAR(at(&t, 0, "contact(lower end of z).n"), 10, 1e-9);
  ENSURE_NEAR(at(&t, 0, "contact(lower end of z).penetration"), 0.001, 1e-12);
  ENSURE_NEAR(at(&t, 0, "contact(gap).n"), 2e4 * 0.051, 1e-9);
  ENSURE(at(&t, 0, "contact(upper end of z).n") == 0);
  drop(&t);
  unload(&b);
}

// Pressed by 0.01 m against 2e4 N/m, sliding far above the speed where friction is regularised.
TEST(friction_of_a_gap_by_formula_resists_the_slip) {
  static const char* const record[] = {"contact(gap).*"};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic' axis='1 0 0' v='1'/><inertial mass='1'/>"
      "</body><contact name='gap' gap='0*q(x) - 0.01' slip-speed='v(x)' normal='hooke' K='2e4' "
      "friction='threlfall' mu-k='0.3' v0='1e-3'/></sarrus>");
  Table t = run(&b, 0, 1, record, 1);
  ENSURE_NEAR(at(&t, 0, "contact(gap).n"), 200, 1e-9);
  ENSURE(at(&t, 0, "contact(gap).f") < -50 && at(&t, 0, "contact(gap).f") > -70);  // mu N = 60, times 0.95 by threlfall
  ENSURE_NEAR(at(&t, 0, "contact(gap).slip"), 1, 1e-12);
  ENSURE_EQUAL(lrint(at(&t, 0, "contact(gap).state")), 2);
  drop(&t);
  unload(&b);
}

// Guided along x, pressed up by K times the depth: what the contact leaves of the weight is in the guides.
TEST(reactions_of_gaps_by_formula_are_those_of_each_contact) {
  static const char* const record[] = {"reaction(one).fz", "reaction(two).fz"};
  Bench b = load(
      "<sarrus version='1'>"
      "<body name='one'><joint name='one' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<body name='two'><joint name='two' type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"
      "<body name='f'><inertial mass='1' inertia='1 1 1'/></body><body name='g'><inertial mass='1' inertia='1 1 "
      "1'/></body>"
      "<sensor name='s' point='one'/><sensor name='r' point='two'/>"
      "<contact gap='sensor(s, z) - 0.01' normal='hooke' K='500' friction='none'/>"
      "<contact gap='sensor(r, z) - 0.02' normal='hooke' K='500' friction='none'/></sarrus>");
  Table t = run(&b, 0, 1, record, COUNT(record));
  ENSURE_NEAR(at(&t, 0, "reaction(one).fz"), 9.81 - 5, 1e-12);
  ENSURE_NEAR(at(&t, 0, "reaction(two).fz"), 2 * 9.81 - 10, 1e-12);
  drop(&t);
  unload(&b);
}

// With all five equations of a hinge in the plane, three are redundant.
TEST(reactions_that_are_not_unique_are_reported) {
  static const char* const record[] = {"reaction(crankpin).*", "reaction(wrist).f"};
  static const char ball_joint[] = "type='ball' normal='0 1 0'";
  const char* cut = strstr(slider_crank, ball_joint);
  char hinge[sizeof slider_crank + 100];
  snprintf(hinge, sizeof hinge, "%.*stype='revolute' axis='0 1 0'%s", (int)(cut - slider_crank), slider_crank,
           cut + strlen(ball_joint));
  Bench b = load(hinge);
  Table t = run(&b, 0, 1, record, COUNT(record));
  ENSURE(strstr(said, "'reaction(crankpin).fx' is not unique") != NULL);
  ENSURE(strstr(said, "'reaction(wrist).f' is not unique") != NULL);
  drop(&t);
  unload(&b);
  b = load(slider_crank);
  t = run(&b, 0, 1, record, COUNT(record));
  ENSURE(strstr(said, "unique") == NULL);
  drop(&t);
  unload(&b);
}

// ---- names -----------------------------------------------------------------------------------------------------------

static void ensure_refused(Bench* b, const char* pattern, const char* with) {
  srColumns* columns;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_record_columns_create(b->m, &pattern, 1, messages, &columns);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_INPUT);
  if (strstr(said, with) == NULL) printf("%s", said);
  ENSURE(strstr(said, with) != NULL);
}

TEST(names_that_nothing_has_are_refused_with_the_nearest) {
  Bench b = load(slider_crank);
  ensure_refused(&b, "reaction(crankpn).fx", "did you mean 'reaction(crankpin)'?");
  ensure_refused(&b, "reaction(crankpn).*", "did you mean 'reaction(crankpin)'?");
  ensure_refused(&b, "reaction(crankpin).fq", "it has fx fy fz f tx ty tz t");
  ensure_refused(&b, "reaction(crankpin in grund).fx", "did you mean 'ground'?");
  ensure_refused(&b, "a.tetha", "did you mean 'a.theta'?");
  ensure_refused(&b, "nonsense", "reaction(NAME)");
  unload(&b);
}

TEST(a_column_is_recorded_once_and_those_of_every_run_need_no_request) {
  static const char* const record[] = {"a.theta", "a.*", "q.theta", "kinetic"};
  Bench b = load(pendulum);
  Table t = run(&b, 0, 1, record, COUNT(record));
  srColumns* plain = sr_columns_create(b.m);
  ENSURE_EQUAL(t.columns->count, plain->count + 1);
  sr_columns_destroy(plain);
  drop(&t);
  unload(&b);
}

TEST(elements_of_one_name_are_told_apart) {
  static const char* const record[] = {"force(*).f"};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic'/><inertial mass='1'/></body>"
      "<torque joint='x' law='1'/><torque joint='x' law='2'/></sarrus>");
  Table t = run(&b, 0, 1, record, 1);
  ENSURE_NEAR(at(&t, 0, "force(torque on x).f"), 1, 0);
  ENSURE_NEAR(at(&t, 0, "force(torque on x_2).f"), 2, 0);
  drop(&t);
  unload(&b);
}

// ---- <record> and formulas -----------------------------------------------------------------------------------------------

#define SWING(more)                                                                                                    \
  "<sarrus version='1'>\n<body name='bob'><joint name='theta' type='revolute' axis='0 1 0' q='0.7' v='2'/>"            \
  "<inertial mass='1.5' com='0 0 -0.8'/></body>\n" more "</sarrus>"

TEST(a_model_asks_for_its_columns) {
  Bench b = load(SWING("<record what='reaction(theta in ground).f'/>"));
  ALL_FORMULATIONS(f) {
    Bench x = formulated(&b, f);
    Table t = run(&x, 0, 1, NULL, 0);
    ENSURE_NEAR(at(&t, 0, "reaction(theta in ground).f"), 1.5 * (9.81 * cos(0.7) + 0.8 * 4), 1e-9);
    drop(&t);
    unload(&x);
  }
  unload(&b);
}

TEST(a_record_of_nothing_is_an_error_at_its_place) {
  Bench b;
  ENSURE_EQUAL(open_text(SWING("<record what='reaction(teta).f'/>"), &b), SR_INPUT);
  ENSURE(strstr(said, "test.xml:3:") != NULL);
  ENSURE(strstr(said, "did you mean 'reaction(theta)'?") != NULL);
  unload(&b);
}

TEST(sensors_may_use_recorded_quantities_and_laws_may_not) {
  Bench b =
      load(SWING("<sensor name='pull' expr='record(reaction(theta).fz)/1.5' unit='N/kg'/>"
                 "<sensor name='more' expr='sensor(pull) + record(a.theta) + q(theta)'/>"));
  ALL_FORMULATIONS(f) {
    Bench x = formulated(&b, f);
    Table t = run(&x, 0.5, 0.1, NULL, 0);
    for (int i = 0; i < t.nrow; i++) {
      const double q = at(&t, i, "q.theta"), v = at(&t, i, "v.theta"), pull = 9.81 * cos(q) + 0.8 * v * v;
      ENSURE_NEAR(at(&t, i, "pull"), pull, 1e-9);
      ENSURE_NEAR(at(&t, i, "more"), pull - 9.81 / 0.8 * sin(q) + q, 1e-9);
    }
    drop(&t);
    unload(&x);
  }
  unload(&b);
  ENSURE_EQUAL(open_text(SWING("<torque joint='theta' law='record(a.theta)'/>"), &b), SR_INPUT);
  ENSURE(strstr(said, "algebraic loop") != NULL);
  unload(&b);
  ENSURE_EQUAL(open_text(SWING("<sensor name='s' expr='record(a.theta)'/><torque joint='theta' law='sensor(s)'/>"), &b),
               SR_INPUT);
  ENSURE(strstr(said, "no law may depend on it") != NULL);
  unload(&b);
  ENSURE_EQUAL(open_text(SWING("<sensor name='f' point='bob'/><sensor name='s' expr='sensor(f, ax)'/>"), &b), SR_INPUT);
  ENSURE(strstr(said, "write record(f.ax)") != NULL);
  unload(&b);
  ENSURE_EQUAL(open_text(SWING("<sensor name='s' expr='record(a.*)'/>"), &b), SR_INPUT);
  ENSURE(strstr(said, "must name one column") != NULL);
  unload(&b);
  ENSURE_EQUAL(open_text(SWING("<sensor name='s' expr='record(a.teta)'/>"), &b), SR_INPUT);
  ENSURE(strstr(said, "test.xml:3:") != NULL && strstr(said, "did you mean 'a.theta'?") != NULL);
  unload(&b);
}

// Rows of single states, outside of a run: those of the run, but for what it integrates.
TEST(a_row_of_a_single_state_is_that_of_a_run) {
  static const char* const record[] = {"reaction(theta).*", "a.*", "force(motor).*"};
  Bench b =
      load(SWING("<torque name='motor' joint='theta' law='0.3 - 0.1*v(theta)'/>"
                 "<sensor name='pull' expr='record(reaction(theta).fz)/1.5' unit='N/kg'/>"));
  ALL_FORMULATIONS(f) {
    Bench x = formulated(&b, f);
    Table t = run(&x, 0.5, 0.1, record, COUNT(record));  // leaves x at its end
    Heap heap = {0};
    srRecording* recording;
    double row[64];
    ENSURE(t.columns->count <= COUNT(row));
    ENSURE_EQUAL(sr_recording_create(x.m, record, COUNT(record), NULL, &recording), SR_OK);
    sr_set_allocator(heap_allocator, &heap);
    const int answer = sr_recording_row(recording, x.d, row);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(answer, 0);
    ENSURE_EQUAL(heap.calls, 0);
    for (int i = 0; i < t.columns->count; i++) {
      const char* name = t.columns->names[i];
      if (strcmp(name, "residual") == 0 || strcmp(name, "force(motor).work") == 0) {
        ENSURE(isnan(row[i]));
      } else {
        ENSURE_NEAR(row[i], at(&t, t.nrow - 1, name), 1e-9);
      }
    }
    sr_recording_destroy(recording);
    drop(&t);
    unload(&x);
  }
  static const char* const none[] = {"reaction(teta).f"};
  srRecording* recording;
  ENSURE_EQUAL(sr_recording_create(b.m, none, 1, NULL, &recording), SR_INPUT);
  ENSURE(recording == NULL);
  unload(&b);
}

// Names are resolved and memory is taken before the first step.
TEST(rows_on_request_allocate_nothing) {
  static const char* const record[] = {"*"};
  long calls[2];
  for (int k = 0; k < 2; k++) {
    Bench b = load(slider_crank);
    Heap heap = {0};
    srRunOptions options = sr_run_options(b.m);
    srRunResult result;
    Table t = {0};
    ENSURE_EQUAL(sr_record_columns_create(b.m, record, 1, NULL, &t.columns), SR_OK);
    t.rows = malloc((size_t)(t.room = 64) * (size_t)t.columns->count * sizeof *t.rows);
    options.method = "dopri5";
    options.t_end = 0.01;
    options.every = k == 0 ? 0.01 : 0.0005;
    options.record = record;
    options.nrecord = 1;
    options.row = keep;
    options.user = &t;
    sr_set_allocator(heap_allocator, &heap);
    const srStatus status = sr_run(b.m, b.d, &options, NULL, &result);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(status, SR_OK);
    ENSURE_EQUAL(heap.live, 0);
    ENSURE_EQUAL(t.nrow, k == 0 ? 2 : 21);
    calls[k] = heap.calls;
    drop(&t);
    unload(&b);
  }
  ENSURE_EQUAL(calls[0], calls[1]);
}

TEST(every_lack_of_memory_while_names_are_resolved_is_reported) {
  static const char* const record[] = {"reaction(*).*", "force(gas).work"};
  Bench b = load(slider_crank);
  long n = 0;
  for (srStatus status = SR_MEMORY; status != SR_OK; n++) {
    Heap heap = {.fail_at = n + 1};
    srColumns* columns;
    sr_set_allocator(heap_allocator, &heap);
    status = sr_record_columns_create(b.m, record, COUNT(record), NULL, &columns);
    if (status == SR_OK) sr_columns_destroy(columns);
    sr_set_allocator(NULL, NULL);
    ENSURE(status == SR_OK || status == SR_MEMORY);
    ENSURE_EQUAL(heap.live, 0);
  }
  ENSURE(n > 5);
  unload(&b);
}

// Work in a formula: quadratures of columns and of sensors follow each other.
TEST(a_sensor_may_use_work_while_other_work_is_recorded) {
  static const char* const record[] = {"force(motor).work"};
  Bench b = load(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='cart'><joint name='x' type='prismatic' "
      "axis='1 0 0' damping='3'/><inertial mass='2'/></body><torque name='motor' joint='x' law='5'/>"
      "<sensor name='heat' expr='-record(force(joint-damper of x).work)' unit='J'/></sarrus>");
  Table t = run(&b, 1, 0.5, record, 1);
  for (int i = 0; i < t.nrow; i++) {
    const double v = at(&t, i, "v.x"), x = at(&t, i, "q.x");
    ENSURE_NEAR(at(&t, i, "force(motor).work"), 5 * x, 1e-8);
    ENSURE_NEAR(at(&t, i, "heat"), 5 * x - v * v, 1e-8);
  }
  drop(&t);
  unload(&b);
}

// ---- shipped examples ------------------------------------------------------------------------------------------------------

static Bench open_shipped(const char* file, const srSetting* settings, int n) {
  char path[512];
  srMessages* messages = sr_messages_create();
  Bench b = {0};
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  ENSURE_EQUAL(sr_load(path, &(srLoadOptions){.settings = settings, .nsetting = n}, messages, &b.spec), SR_OK);
  ENSURE_EQUAL(sr_compile(b.spec, messages, &b.m), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_destroy(messages);
  b.d = sr_data_create(b.m);
  return b;
}

// The slider-crank by hand, from crank angle, rate and acceleration: sin(f) = -r/l sin(a) is the tilt of the rod. Newton for the piston, Euler for
// the rod about its centre of mass, Newton for rod and crank.
TEST(the_engine_has_the_bearing_forces_of_the_slider_crank_by_hand) {
  static const char* const record[] = {"a.main", "reaction(crankpin in ground).f?"};
  const double r = 0.045, l = 0.15, s = 0.3 * l, m = 0.55, J = 2.1e-3, mp = 0.42, mc = 9, g = 9.81;
  Bench b = open_shipped("mechanisms/engine", NULL, 0);
  Table t = run(&b, 0.02, 1e-3, record, COUNT(record));
  for (int i = 0; i < t.nrow; i++) {
    const double a = at(&t, i, "q.main"), w = at(&t, i, "v.main"), alpha = at(&t, i, "a.main");
    const double f = -asin(r / l * sin(a)), fw = -r * cos(a) * w / (l * cos(f));
    const double falpha = (-r * (cos(a) * alpha - sin(a) * w * w) + l * sin(f) * fw * fw) / (l * cos(f));
    // Acceleration of a point at distance x on the rod: that of the crankpin and its own.
    const double pin_x = r * (cos(a) * alpha - sin(a) * w * w), pin_z = -r * (sin(a) * alpha + cos(a) * w * w);
    const double along_x = cos(f) * falpha - sin(f) * fw * fw, along_z = -sin(f) * falpha - cos(f) * fw * fw;
    const double gas = at(&t, i, "force(gas).f");
    const double wrist_z = mp * (pin_z + l * along_z + g) - gas;  // on the piston
    // Rod: crankpin force C and -W at the wrist. Newton: C = m (a + g) + W. Euler about the centre: arms s and l - s along (sin f, cos f).
    const double mx = m * (pin_x + s * along_x), mz = m * (pin_z + s * along_z + g), crank_z = mz + wrist_z;
    // J falpha = torque about y = z Fx - x Fz of each force; C_x = mx + W_x.
    const double lever = -s * cos(f) - (l - s) * cos(f);
    const double rest = -s * cos(f) * mx + s * sin(f) * crank_z + (l - s) * sin(f) * wrist_z;
    const double wrist_x = (J * falpha - rest) / lever, crank_x = mx + wrist_x;
    ENSURE_NEAR(at(&t, i, "reaction(wrist-pin in ground).fz"), wrist_z, 1e-9 * 2.5e4);
    ENSURE_NEAR(at(&t, i, "reaction(wrist-pin in ground).fx"), wrist_x, 1e-9 * 2.5e4);
    ENSURE_NEAR(at(&t, i, "reaction(crankpin in ground).fx"), crank_x, 1e-9 * 2.5e4);
    ENSURE_NEAR(at(&t, i, "reaction(crankpin in ground).fz"), crank_z, 1e-9 * 2.5e4);
    ENSURE_NEAR(at(&t, i, "reaction(main in ground).fx"), crank_x,
                1e-9 * 2.5e4);  // the centre of mass of the crank rests
    ENSURE_NEAR(at(&t, i, "reaction(main in ground).fz"), crank_z + mc * g, 1e-9 * 2.5e4);
    ENSURE_NEAR(at(&t, i, "side-thrust"), -wrist_x, 1e-9 * 2.5e4);
  }
  drop(&t);
  unload(&b);
}

// The linear half car: heave z (up), pitch p (nose down, about y), wheels and seat absolute, all from equilibrium. Wheels and driver pitch with the
// chassis, each with 1 kg m^2.
typedef struct Car {
  double x[10];  // z p front rear seat, their rates
} Car;

static double road(double t, double late, double bump) {
  const double s = fmin(fmax(10 * t - 2 - late, 0), 1);
  return bump / 2 * (1 - cos(2 * acos(-1.0) * s));
}

static Car car_rate(const Car* c, double t, double bump) {
  const double m = 620, J = 980 + 3, af = 1.15, ar = 1.45, mw = 38, k = 21000, d = 1500, kt = 190000, ms = 75, as = 0.2,
               ks = 9000, ds = 450;
  const double *x = c->x, *v = c->x + 5;
  const double zf = x[0] - af * x[1], zr = x[0] + ar * x[1], zs = x[0] - as * x[1];
  const double vf = v[0] - af * v[1], vr = v[0] + ar * v[1], vs = v[0] - as * v[1];
  const double F = k * (x[2] - zf) + d * (v[2] - vf), R = k * (x[3] - zr) + d * (v[3] - vr);  // on the chassis, upwards
  const double S = ks * (x[4] - zs) + ds * (v[4] - vs);
  Car out = {{v[0], v[1], v[2], v[3], v[4], (F + R + S) / m, (-af * F + ar * R - as * S) / J}};
  out.x[7] = (kt * (road(t, 0, bump) - x[2]) - F) / mw;
  out.x[8] = (kt * (road(t, af + ar, bump) - x[3]) - R) / mw;
  out.x[9] = -S / ms;
  return out;
}

static Car car_plus(const Car* a, const Car* b, double h) {
  Car out;
  for (int i = 0; i < 10; i++) out.x[i] = a->x[i] + h * b->x[i];
  return out;
}

static void car_step(Car* c, double t, double h, double bump) {
  const Car k1 = car_rate(c, t, bump), x2 = car_plus(c, &k1, h / 2), k2 = car_rate(&x2, t + h / 2, bump);
  const Car x3 = car_plus(c, &k2, h / 2), k3 = car_rate(&x3, t + h / 2, bump), x4 = car_plus(c, &k3, h);
  const Car k4 = car_rate(&x4, t + h, bump);
  for (int i = 0; i < 10; i++) c->x[i] += h / 6 * (k1.x[i] + 2 * k2.x[i] + 2 * k3.x[i] + k4.x[i]);
}

// Over a bump of 0.1 mm: angles are some 1e-5, and the model is linear to about as much.
TEST(the_seat_of_the_half_car_accelerates_as_that_of_the_linear_one) {
  const srSetting low = {"bump", "1e-4"};
  const double bump = 1e-4, h = 5e-4;
  Bench b = open_shipped("half-car", &low, 1);
  Table t = run(&b, 0.8, 0.05, NULL, 0);
  Car car = {{0}};
  double largest = 0;
  for (int i = 0; i < t.nrow; i++) {
    for (int k = 0; i > 0 && k < 100; k++) car_step(&car, (i - 1) * 0.05 + k * h, h, bump);
    const double expected = car_rate(&car, i * 0.05, bump).x[9];
    largest = fmax(largest, fabs(expected));
    ENSURE_NEAR(at(&t, i, "point(driver).az"), expected, 2e-8);
    ENSURE_NEAR(at(&t, i, "comfort"), expected / 9.81, 2e-9);
  }
  ENSURE(largest > 1.5e-3);  // m/s^2
  ENSURE_NEAR(at(&t, 0, "force(front-tyre).fz") + at(&t, 0, "force(rear-tyre).fz"), 9.81 * (620 + 75 + 76), 1e-9);
  drop(&t);
  unload(&b);
}

// Behind the motor is the gravity alone: at rest its torque holds the links, and its work is the change of the potential energy.
TEST(the_servo_of_the_four_bar_reaches_its_target) {
  Bench b = open_shipped("mechanisms/four-bar-servo", NULL, 0);
  Table t = run(&b, 6, 1, NULL, 0);
  const int last = t.nrow - 1;
  ENSURE_SMALL(at(&t, last, "error"), 1e-4);
  ENSURE_NEAR(at(&t, last, "force(motor).work"), at(&t, last, "potential") - at(&t, 0, "potential"), 1e-5);
  ENSURE_NEAR(at(&t, last, "force(motor).f"), 0.9 * at(&t, last, "current"), 1e-12);
  drop(&t);
  unload(&b);
}

// ---- couplings and gears ---------------------------------------------------------------------------------------------

#define SHAFT(name, inertia, more)                                                                                     \
  "<body name='" name "'><joint type='revolute' " more "/><inertial mass='1' inertia='1 1 " inertia "'/></body>"

// q1 = 2 q2 - 3 q3, torque 5 on the first: forces on the joints are lambda times 1, -2, 3.
TEST(a_coupling_gives_its_force_on_each_joint) {
  static const char* const record[] = {"coupling(k).*"};
  const double J[3] = {0.1, 0.2, 0.3}, g[3] = {1, -2, 3};
  // lambda = -(g1 T/J1)/(sum of g^2/J), from g . a = 0 with J a = T + g lambda
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += g[i] * g[i] / J[i];
  const double lambda = -5 / J[0] / sum;
  Bench b = load("<sarrus version='1'>" SHAFT("one", "0.1", "") SHAFT("two", "0.2", "") SHAFT(
      "three", "0.3",
      "") "<coupling name='k' joint='one' to='two three' ratio='2 -3'/><torque joint='one' law='5'/></sarrus>");
  Table t = run(&b, 0.1, 0.1, record, 1);
  ENSURE_NEAR(at(&t, 1, "coupling(k).one"), lambda, 1e-11);
  ENSURE_NEAR(at(&t, 1, "coupling(k).two"), -2 * lambda, 1e-11);
  ENSURE_NEAR(at(&t, 1, "coupling(k).three"), 3 * lambda, 1e-11);
  ENSURE_NEAR(at(&t, 1, "lambda.k"), lambda, 1e-11);
  ENSURE_TEXT(unit(&t, "lambda.k"), "Nm");
  ENSURE_TEXT(unit(&t, "coupling(k).two"), "Nm");
  drop(&t);
  unload(&b);
}

// A sun that drives an arm, ring fixed: Is a = T + Ts, the ring holds Ts 52/20, the pinions of a rack move it by their forces.
TEST(a_gear_gives_the_torque_of_the_mesh_on_each_member) {
  static const char* const record[] = {"gear(*).*"};
  Bench b = load("<sarrus version='1'><option gravity='0 0 0'/>" SHAFT("sun", "0.02", "") SHAFT("arm", "0.1", "") SHAFT(
      "pinion", "0.003",
      "") SHAFT("wheel", "0.04",
                "") "<body name='rack'><joint type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"
                    "<gear name='planets' members='sun ground' teeth='20 -52' carrier='arm'/>"
                    "<gear name='steering' members='pinion rack wheel' radius='0.02 1 -0.05'/>"
                    "<torque joint='sun' law='3'/><torque joint='pinion' law='0.7'/></sarrus>");
  const double i = 20.0 / 72, sun = 3 / (0.02 + i * i * 0.1), on_sun = 0.02 * sun - 3;
  // x = 0.02 q1 = -0.05 q2
  const double x = 0.7 / 0.02 / (2 + 0.003 / 4e-4 + 0.04 / 25e-4);
  Table t = run(&b, 0.1, 0.1, record, 1);
  ENSURE_NEAR(at(&t, 1, "gear(planets).sun"), on_sun, 1e-10);
  ENSURE_NEAR(at(&t, 1, "gear(planets).ground"), on_sun * 52 / 20, 1e-10);
  ENSURE_NEAR(at(&t, 1, "gear(steering).pinion"), 0.003 * x / 0.02 - 0.7, 1e-11);
  ENSURE_NEAR(at(&t, 1, "gear(steering).wheel"), -0.04 * x / 0.05, 1e-11);
  ENSURE_NEAR(at(&t, 1, "gear(steering).rack"), 2 * x, 1e-11);
  ENSURE_TEXT(unit(&t, "gear(steering).rack"), "N");
  ENSURE_TEXT(unit(&t, "gear(steering).pinion"), "Nm");
  drop(&t);
  unload(&b);
}
