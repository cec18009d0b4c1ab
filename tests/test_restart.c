// Runs that are taken up again: after events, and from the state that another run has left. What is known of the constraints must
// outlive a restart, and a state that satisfies them must outlive assembly, bit by bit.
#include <glob.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

static const double g = 9.81;

// ---------------------------------------------------------------------------------------------------------- the cranks
// A bar on N equal cranks, which turns over: the cranks stay parallel, so that all but one of them are redundant, and each time they lie
// along the bar the rank falls, where another branch of motion crosses. It moves like one pendulum:
//   J q'' = -W cos q,   J = sum m_i l^2/3 + m_bar l^2,   W = g (sum m_i l/2 + m_bar l)
#define CRANKS(event)                                                                                                  \
  "<sarrus version=\"1\" name=\"cranks\"><option gravity=\"0 -9.81 0\"/>"                                              \
  "<repeat count=\"3\" index=\"i\"><body name=\"c{i}\">"                                                               \
  "<joint name=\"c{i}\" type=\"revolute\" at=\"1.2*i 0 0\" q=\"0.4\" v=\"-1.5\"/>"                                     \
  "<inertial mass=\"1+i\" com=\"0.3 0 0\" inertia=\"0.01 0.12*(1+i)/4 0.12*(1+i)/4\"/>"                                \
  "<point name=\"tip\" at=\"0.6 0 0\"/></body></repeat>"                                                               \
  "<body name=\"bar\" parent=\"c0\"><joint name=\"bar\" type=\"revolute\" at=\"0.6 0 0\" q=\"-0.4\" v=\"1.5\"/>"       \
  "<inertial mass=\"4\" com=\"1 0 0\" inertia=\"0.1 1 1\"/>"                                                           \
  "<point name=\"p1\" at=\"1.2 0 0\"/><point name=\"p2\" at=\"2.4 0 0\"/></body>"                                      \
  "<repeat count=\"2\" index=\"i\" from=\"1\"><closure type=\"revolute\" a=\"bar/p{i}\" "                              \
  "b=\"c{i}/tip\"/></repeat>" event "</sarrus>"

static double crank_acceleration(double q) {
  const double l = 0.6, cranks = 1 + 2 + 3, bar = 4;
  return -g * (cranks * l / 2 + bar * l) * cos(q) / ((cranks / 3 + bar) * l * l);
}

// Angle and speed of the cranks at t, by the classical Runge-Kutta method in steps of 1e-4 s: good to 1e-12.
static void crank_motion(double t, double out[2]) {
  const int n = (int)ceil(t / 1e-4);
  const double h = t / n;
  double q = 0.4, v = -1.5;
  for (int i = 0; i < n; i++) {
    const double k1 = crank_acceleration(q), k2 = crank_acceleration(q + h / 2 * v);
    const double k3 = crank_acceleration(q + h / 2 * v + h * h / 4 * k1);
    const double k4 = crank_acceleration(q + h * v + h * h / 2 * k2);
    q += h * v + h * h / 6 * (k1 + k2 + k3);
    v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  out[0] = q;
  out[1] = v;
}

typedef struct Way {
  const char* method;
  double rtol;
} Way;

static srStatus run_way(Loaded* x, const Way* way, double t_end, srMessages* messages) {
  srRunOptions options = sr_run_options(x->m);
  options.method = way->method;
  options.t_end = t_end;
  options.step = 1e-3;
  options.rtol = way->rtol;
  options.atol = 1e-2 * way->rtol;
  return sr_run(x->m, x->d, &options, messages, &x->result);
}

// Turns over with this event; how far off the end is, infinite where the run has ended early.
static double crank_error(const char* text, const Way* way, double t_end) {
  Loaded x = open_text(text);
  double exact[2];
  crank_motion(t_end, exact);
  const srStatus status = run_way(&x, way, t_end, NULL);
  if (status != SR_OK) printf("  %s %.0e: %s\n", way->method, way->rtol, x.result.error_message);
  double error = fmax(fabs(x.d->q[0] - exact[0]), fabs(x.d->v[0] - exact[1]));
  if (status != SR_OK) error = HUGE_VAL;
  if (status == SR_OK && !(error < 1e-2)) {
    printf("  %s %.0e: error %.2g, the energy balance misses %.2g of %.3g J\n", way->method, way->rtol, error,
           x.result.energy.residual, x.result.energy.scale);
  }
  close_model(&x);
  return error;
}

// 5 s are more than four turns, with a position of lower rank in every half of one.
TEST(events_near_singular_positions_of_redundant_loops_leave_the_motion_as_it_is) {
  static const char* const events[] = {CRANKS("<event name=\"tick\" when=\"sin(374*t)\"/>"),
                                       CRANKS("<event name=\"tick\" when=\"sin(559*t)\"/>"),
                                       CRANKS("<event name=\"tick\" when=\"sin(818*t)\"/>")};
  static const Way ways[] = {{"hem5", 1e-6},  {"hem5", 1e-8},   {"mdop5", 1e-6},
                             {"mdop5", 1e-8}, {"phem56", 1e-8}, {"dopri5", 1e-6}};
  for (int e = 0; e < 3; e++) {
    for (int w = 0; w < (int)(sizeof ways / sizeof ways[0]); w++) {
      ENSURE_SMALL(crank_error(events[e], &ways[w], 5), 200 * ways[w].rtol);
    }
  }
}

// The event is the singular position, and its action makes the run start anew there.
TEST(an_event_in_the_singular_position_itself_is_passed) {
  static const char text[] =
      CRANKS("<state name=\"n\" initial=\"0\" rate=\"0\"/><event name=\"pass\" when=\"sin(q(c0))\" do=\"n = n + 1\"/>");
  ENSURE_SMALL(crank_error(text, &(Way){"hem5", 1e-6}, 5), 1e-4);
  ENSURE_SMALL(crank_error(text, &(Way){"hem5", 1e-8}, 5), 1e-6);
  ENSURE_SMALL(crank_error(text, &(Way){"mdop5", 1e-8}, 5), 1e-5);
}

// A run that was ended in the singular position: the state is all that the next one has.
TEST(a_state_in_a_singular_position_is_enough_to_go_on) {
  static const char* const methods[] = {"hem5", "mdop5", "phem56", "dopri5"};
  for (int i = 0; i < 4; i++) {
    Loaded x = open_text(CRANKS("<event name=\"pass\" when=\"sin(q(c0))\" stop=\"yes\"/>"));
    Loaded y = open_text(CRANKS(""));
    double exact[2];
    const Way way = {methods[i], 1e-8};
    ENSURE_EQUAL(run_way(&x, &(Way){"hem5", 1e-9}, 3, NULL), SR_OK);
    ENSURE(x.result.t < 0.3);
    y.d->t = x.result.t;
    memcpy(y.d->q, x.d->q, (size_t)x.m->nq * sizeof(double));
    memcpy(y.d->v, x.d->v, (size_t)x.m->nv * sizeof(double));
    ENSURE_EQUAL(run_way(&y, &way, 3, NULL), SR_OK);
    crank_motion(3, exact);
    ENSURE_NEAR(y.d->q[0], exact[0], 1e-5);
    ENSURE_NEAR(y.d->v[0], exact[1], 1e-5);
    close_model(&x);
    close_model(&y);
  }
}

// ------------------------------------------------------------------------------------------------------------ assembly

static const char* const constrained[] = {
    "benchmark/bricard",        "benchmark/n-four-bar",      "mechanisms/bennett-linkage",  "mechanisms/cardan-trammel",
    "mechanisms/parallelogram", "mechanisms/sarrus-linkage", "mechanisms/stewart-platform", "mechanisms/delta-robot",
    "mechanisms/rolling-disc",  "mechanisms/double-four-bar"};
enum { LOOPED = sizeof constrained / sizeof constrained[0] };

static void assembly_keeps(const char* file, const Way* way, double t_end) {
  Loaded x = open_model(file, "");
  srAssembly assembly;
  ENSURE_EQUAL(run_way(&x, way, t_end, NULL), SR_OK);
  const size_t nq = (size_t)x.m->nq * sizeof(double), nv = (size_t)x.m->nv * sizeof(double);
  double* state = malloc(nq + nv);
  memcpy(state, x.d->q, nq);
  memcpy(state + x.m->nq, x.d->v, nv);
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &assembly), SR_OK);
  const bool same = memcmp(state, x.d->q, nq) == 0 && memcmp(state + x.m->nq, x.d->v, nv) == 0;
  if (!same) {
    printf("  %s, %s: assembly moves q by %.2g, v by %.2g\n", file, way->method, assembly.moved_position,
           assembly.moved_velocity);
  }
  free(state);
  close_model(&x);
  ENSURE(same && assembly.iterations == 0);
}

// All of these methods end their steps on the constraints, to rounding.
TEST(assembly_does_not_move_a_state_that_is_on_the_constraints) {
  assembly_keeps("benchmark/bricard", &(Way){"radau5", 1e-9}, 1.104);  // nearly singular there
  for (int i = 0; i < LOOPED; i++) {
    assembly_keeps(constrained[i], &(Way){"hem5", 1e-6}, 0.31);
    assembly_keeps(constrained[i], &(Way){"radau5", 1e-6}, 0.23);
    assembly_keeps(constrained[i], &(Way){"dopri5", 1e-6}, 0.17);
  }
}

// One that is not, by a tenth of a velocity, loses or gains energy by assembly, which is reported.
TEST(assembly_that_changes_the_energy_of_a_state_given_warns) {
  Loaded x = open_model("benchmark/bricard", "");
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(run_way(&x, &(Way){"hem5", 1e-8}, 1.1, NULL), SR_OK);
  ENSURE_EQUAL(sr_assemble(x.m, x.d, messages, NULL), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  x.d->v[0] *= 1.1;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, messages, NULL), SR_OK);
  int warnings = 0;
  for (int i = 0; i < sr_messages_count(messages); i++) {
    const srMessage* message = sr_messages_get(messages, i);
    warnings += message->severity == SR_SEVERITY_WARNING && strstr(message->text, "kinetic energy") != NULL;
  }
  ENSURE_EQUAL(warnings, 1);
  sr_messages_destroy(messages);
  close_model(&x);
}

// -------------------------------------------------------------------------------------------------------- energy balance
// Euler's method pumps energy into a pendulum: an energy residual that the balance cannot explain is no measure of what it misses. The pendulum of 1 kg and
// 1 m that starts level, at rest, never has more than 9.81 J of either kind.
TEST(the_scale_of_the_energy_balance_is_the_energy_that_it_explains) {
  Loaded x = open_text(
      "<sarrus version=\"1\" name=\"p\"><option gravity=\"0 -9.81 0\"/><body name=\"b\"><joint name=\"b\" "
      "type=\"revolute\"/><inertial mass=\"1\" com=\"1 0 0\" inertia=\"0 0 0\"/></body></sarrus>");
  srRunOptions options = sr_run_options(x.m);
  options.method = "euler";
  options.t_end = 20;
  options.step = 0.1;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE(x.result.energy.residual > 50);
  ENSURE(x.result.energy.scale <= 9.81 * 1.001);
  close_model(&x);
}

// -------------------------------------------------------------------------------------------------------------- slices
// A run cut into slices, each of which knows nothing but the state that the one before has left, is the uncut run: within the error
// that the tolerance allows, measured by a run with a hundredth of it, and without a jump of energy at the cuts.
#define SLICES 100

typedef struct Slices {
  double error, error_cut;  // of the uncut and of the cut run, over the size of the state
  double jump;              // largest change of the energy at a cut, over the largest energy
  double off;               // largest violation of the constraints in the uncut run
} Slices;

typedef struct State {
  double *q, *v, *y, *z;
  double* instances;  // of contact sets, as numbers: what belongs to the states of their slots
  int n;
} State;

static State copy_state(const Loaded* x) {
  const srModel* m = x->m;
  State s = {.q = calloc((size_t)(m->nq + m->nv + m->ny + m->nz + 1), sizeof(double))};
  s.v = s.q + m->nq;
  s.y = s.v + m->nv;
  s.z = s.y + m->ny;
  memcpy(s.q, x->d->q, (size_t)m->nq * sizeof(double));
  memcpy(s.v, x->d->v, (size_t)m->nv * sizeof(double));
  if (m->ny > 0) memcpy(s.y, x->d->y, (size_t)m->ny * sizeof(double));
  if (m->nz > 0) memcpy(s.z, x->d->z, (size_t)m->nz * sizeof(double));
  s.n = sr_instance_numbers(m, x->d, NULL);
  s.instances = calloc((size_t)s.n + 1, sizeof(double));
  (void)sr_instance_numbers(m, x->d, s.instances);
  return s;
}

static void free_state(State* s) {
  free(s->q);
  free(s->instances);
}

// The state alone, in data that have seen nothing else.
static void put_state(Loaded* x, double t, const State* s) {
  const srModel* m = x->m;
  sr_data_reset(m, x->d);
  x->d->t = t;
  memcpy(x->d->q, s->q, (size_t)m->nq * sizeof(double));
  memcpy(x->d->v, s->v, (size_t)m->nv * sizeof(double));
  if (m->ny > 0) memcpy(x->d->y, s->y, (size_t)m->ny * sizeof(double));
  if (m->nz > 0) memcpy(x->d->z, s->z, (size_t)m->nz * sizeof(double));
  if (s->n > 0) ENSURE(sr_put_instances(m, x->d, s->instances, s->n));
}

// Largest difference of q and v over the largest of each, or over 1.
static double difference(const srModel* m, const State* a, const State* b) {
  double dq = 0, dv = 0, q = 1, v = 1;
  for (int i = 0; i < m->nq; i++) dq = fmax(dq, fabs(a->q[i] - b->q[i])), q = fmax(q, fabs(b->q[i]));
  for (int i = 0; i < m->nv; i++) dv = fmax(dv, fabs(a->v[i] - b->v[i])), v = fmax(v, fabs(b->v[i]));
  return fmax(dq / q, dv / v);
}

static srStatus run_slice(Loaded* x, const char* method, double rtol, double step, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.t_end = t_end;
  options.step = step;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  options.row = NULL;
  return sr_run(x->m, x->d, &options, NULL, &x->result);
}

static double energy_at_end(const srEnergy* e) { return e->kinetic + e->potential; }

static bool slices_agree(const char* method, const Slices* s, double rtol) {
  // Methods that carry more than the state from step to step, rates of their own or the steps before, find it anew at every
  // start, with an error of its own.
  const bool carries =
      strcmp(method, "cvode") == 0 || strcmp(method, "ida") == 0 || strncmp(method, "genalpha", 8) == 0;
  const double times = carries ? 30 : 10;
  // What leaves the constraints by its error is put back on them at every cut; the others are not moved at all.
  return s->error_cut <= times * s->error + 1e3 * rtol && s->jump <= 1e-9 + 10 * s->off;
}

// The error of an uncut run may be small by chance, where a contact ends in one step or the next: the largest with tolerances a little apart is that of the method.
static void measure_error_again(Loaded* x, const char* method, double rtol, double step, double t_end,
                                const State* exact, Slices* out) {
  for (int i = -1; i <= 1; i += 2) {
    sr_data_reset(x->m, x->d);
    if (run_slice(x, method, (1 + 0.3 * i) * rtol, step, t_end) != SR_OK) return;
    State uncut = copy_state(x);
    out->error = fmax(out->error, difference(x->m, &uncut, exact));
    free_state(&uncut);
  }
}

// False: a run has ended early, for the reason in x->result.error_message. Steps of fixed length go 20 times into a slice.
static bool slice(Loaded* x, const char* method, double rtol, double t_end, Slices* out) {
  const double step = t_end / SLICES / 20;
  *out = (Slices){0};
  sr_data_reset(x->m, x->d);
  if (run_slice(x, method, 1e-2 * rtol, 0.25 * step, t_end) != SR_OK) return false;
  State exact = copy_state(x);
  sr_data_reset(x->m, x->d);
  bool good = run_slice(x, method, rtol, step, t_end) == SR_OK;
  State uncut = copy_state(x);
  const double scale = fmax(x->result.energy.scale, 1e-9);
  out->off = fmax(x->result.violation_position, x->result.violation_velocity);
  sr_data_reset(x->m, x->d);
  for (int k = 1; k <= SLICES && good; k++) {
    const double t = t_end * (k - 1) / SLICES, before = energy_at_end(&x->result.energy);
    if (k > 1) {
      State s = copy_state(x);
      put_state(x, t, &s);
      free_state(&s);
    }
    good = run_slice(x, method, rtol, step, k == SLICES ? t_end : t_end * k / SLICES) == SR_OK;
    const double after = x->result.energy.kinetic0 + x->result.energy.potential0;
    if (k > 1) out->jump = fmax(out->jump, fabs(after - before) / scale);
  }
  State cut = copy_state(x);
  out->error = difference(x->m, &uncut, &exact);
  out->error_cut = difference(x->m, &cut, &exact);
  if (good && !slices_agree(method, out, rtol)) measure_error_again(x, method, rtol, step, t_end, &exact, out);
  free_state(&exact);
  free_state(&uncut);
  free_state(&cut);
  return good;
}

static void ensure_slices(const char* file, const char* method, double t_end) {
  Loaded x = open_model(file, "");
  Slices s;
  const double rtol = 1e-6;
  const bool good = slice(&x, method, rtol, t_end, &s);
  if (!good) printf("  %s, %s: %s\n", file, method, x.result.error_message);
  if (good && !slices_agree(method, &s, rtol)) {
    printf("  %s, %s: error %.2g, cut %.2g, jump %.2g\n", file, method, s.error, s.error_cut, s.jump);
  }
  close_model(&x);
  ENSURE(good && slices_agree(method, &s, rtol));
}

TEST(a_run_cut_into_slices_is_the_uncut_run) {
  static const char* const methods[] = {"rk4", "dopri5", "mdop5", "hem5", "phem56", "radau5", "genalpha-ggl"};
  for (int i = 0; i < (int)(sizeof methods / sizeof methods[0]); i++) {
    ensure_slices("benchmark/bricard", methods[i], 1.2);
    ensure_slices("mechanisms/parallelogram", methods[i], 0.5);
    ensure_slices("mechanisms/rolling-disc", methods[i], 0.5);
    ensure_slices("double-pendulum", methods[i], 0.5);
  }
  ensure_slices("benchmark/bricard", "radau5", 2);
  ensure_slices("robots/gripper-lift", "mdop5", 0.0568);
  ensure_slices("paper3/rolling-sphere", "cvode", 0.5);  // bounces: each start of order 1 leaves its error
}

// Every shipped model by every method of this build; under `./test --long` alone. Models that are chaotic, or that meet impacts, are
// followed for as long as two runs with tolerances a hundred apart agree to a thousandth (the run is halved until they do): there alone
// is the property significant.
// Long runs of large models would take hours: they are followed for a shorter time, and the largest not at all.
#define LARGEST 150  // velocities and states
typedef struct Matrix {
  int rows, failed, shortened, refused;
} Matrix;

static void slice_model(const char* path, const char* method, Matrix* out) {
  const double rtol = 1e-6;
  srSpec* spec = NULL;
  Loaded x = {0};
  Slices s = {0};
  if (sr_load(path, NULL, NULL, &spec) != SR_OK || sr_compile(spec, NULL, &x.m) != SR_OK) {
    srs_destroy(spec);
    return;  // a part of another file; that the others load is the business of test_models
  }
  srs_destroy(spec);
  x.d = sr_data_create(x.m);
  const int size = x.m->nv + x.m->ny;
  if (size > LARGEST) {
    close_model(&x);
    return;
  }
  double t_end = fmin(sr_run_settings(x.m)->t_end, fmin(0.5, 5.0 / (size + 1)));
  bool good = false;
  out->rows++;
  for (int halved = 0; halved < 8; halved++, t_end /= 2) {
    good = slice(&x, method, rtol, t_end, &s);
    if (!good || s.error <= 1e-3) break;
    out->shortened += halved == 0;
  }
  const char* name = strstr(path, "models/") + 7;
  if (!good) {
    out->refused++;
    printf("  %s, %s: at %.3g s %s\n", name, method, x.result.t, x.result.error_message);
  } else if (!slices_agree(method, &s, rtol)) {
    out->failed++;
    printf("  %s, %s, %.3g s: error %.2g, cut %.2g, jump %.2g\n", name, method, t_end, s.error, s.error_cut, s.jump);
  }
  fflush(stdout);
  close_model(&x);
}

static void slice_folder(const char* folder) {
  static const char* const endings[] = {"*.xml", "*.urdf"};
  Matrix matrix = {0};
  glob_t found = {0};
  if (!runner_long()) SKIP("takes minutes: ./test --long");
  for (int i = 0; i < 2; i++) {
    char pattern[512];
    snprintf(pattern, sizeof pattern, "%s/models/%s/%s", SARRUS_SOURCE_DIR, folder, endings[i]);
    (void)glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found);
  }
  for (size_t i = 0; i < found.gl_pathc; i++) {
    for (int k = 0; k < sri_method_count(); k++) {
      if (!sri_method(k)->absent && !sri_method(k)->impulses)
        slice_model(found.gl_pathv[i], sri_method(k)->name, &matrix);
    }
  }
  globfree(&found);
  printf("  %s: %d rows, %d shortened, %d ended early, %d failed\n", folder, matrix.rows, matrix.shortened,
         matrix.refused, matrix.failed);
  ENSURE(matrix.rows > 0);
  ENSURE_EQUAL(matrix.failed, 0);
}

TEST(every_model_by_every_method_may_be_cut_into_slices) { slice_folder("."); }
TEST(every_benchmark_by_every_method_may_be_cut_into_slices) { slice_folder("benchmark"); }
TEST(every_contact_by_every_method_may_be_cut_into_slices) { slice_folder("contact"); }
TEST(every_mechanism_by_every_method_may_be_cut_into_slices) { slice_folder("mechanisms"); }
TEST(every_nonsmooth_model_by_every_method_may_be_cut_into_slices) { slice_folder("nonsmooth"); }
TEST(every_model_of_the_first_paper_by_every_method_may_be_cut_into_slices) { slice_folder("paper1"); }
TEST(every_model_of_the_second_paper_by_every_method_may_be_cut_into_slices) { slice_folder("paper2"); }
TEST(every_model_of_the_third_paper_by_every_method_may_be_cut_into_slices) { slice_folder("paper3"); }
TEST(every_robot_by_every_method_may_be_cut_into_slices) { slice_folder("robots"); }
TEST(every_vehicle_by_every_method_may_be_cut_into_slices) { slice_folder("vehicles"); }
