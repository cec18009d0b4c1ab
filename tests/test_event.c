// Events: roots inside steps by the dense output of every method; events of models, against closed forms.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"

static const double pi = 3.14159265358979323846;

// ---- an oscillator, x = cos t -----------------------------------------------------------------------------------------

static int rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = -q[0];
  return 0;
}

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  M[0] = 1;
  f[0] = -q[0];
  return 0;
}

static const srSystem oscillator = {.nq = 1, .nv = 1, .rates = rates, .dynamics = dynamics};

static int position_and_velocity(void* user, double t, const double* q, const double* v, const double* y,
                                 double* value) {
  (void)t, (void)y;
  ++*(int*)user;
  value[0] = q[0];
  value[1] = v[0] + 0.5;  // -sin t + 1/2: pi/6, 5 pi/6, ...
  return 0;
}

// What the dense output of a method may be wrong by with these options.
static double trust(const srMethod* method) {
  if (method->order == 1) return 2e-3;
  return method->order == 2 ? 5e-5 : 1e-8;
}

static srIntegrator* start(const srMethod* method) {
  srIntegratorOptions options = sri_default_options();
  options.rtol = options.atol = method->order < 3 ? 1e-8 : 1e-10;
  if (!method->adaptive) options.step = 1e-3;
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  ENSURE_EQUAL(sri_create(method->name, &oscillator, &options, messages, &integrator), SR_OK);
  sr_messages_destroy(messages);
  const double q = 1, v = 0;
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  return integrator;
}

// The times of the first roots, each with a restart there.
static int find(srIntegrator* integrator, srRootFinder* finder, double t_end, int most, double* when, int* which) {
  unsigned char fired[2];
  int n = 0;
  while (sri_time(integrator) < t_end && n < most) {
    double t, q, v;
    ENSURE_EQUAL(sri_step(integrator, t_end), SR_OK);
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, fired), SR_OK);
    if (t == HUGE_VAL) continue;
    when[n] = t;
    which[n++] = fired[0] + 2 * fired[1];
    ENSURE_EQUAL(sri_interpolate(integrator, t, &q, &v, NULL, NULL), SR_OK);
    ENSURE_EQUAL(sri_start(integrator, t, &q, &v, NULL), SR_OK);
    ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  }
  return n;
}

TEST(event_every_method_finds_the_roots_of_an_oscillator) {
  const double expected[] = {pi / 6, pi / 2, 5 * pi / 6, 3 * pi / 2, 13 * pi / 6, 5 * pi / 2};
  const int functions[] = {2, 1, 2, 1, 2, 1};
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->impulses) continue;  // of order 1
    srIntegrator* integrator = start(method);
    int calls = 0, which[8];
    double when[8];
    srRootFinder* finder =
        sri_roots_create(integrator, &(srRoots){.count = 2, .user = &calls, .evaluate = position_and_velocity});
    ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
    const int n = find(integrator, finder, 8, 8, when, which);
    if (n != 6) printf("%s: %d roots\n", method->name, n);
    ENSURE_EQUAL(n, 6);
    for (int k = 0; k < n; ++k) {
      ENSURE_EQUAL(which[k], functions[k]);
      if (!(fabs(when[k] - expected[k]) <= trust(method))) printf("%s: root %d\n", method->name, k);
      ENSURE_NEAR(when[k], expected[k], trust(method));
    }
    sri_roots_destroy(finder);
    sri_destroy(integrator);
  }
}

// Four pieces a step, and the start of the first one; a simple root takes some ten evaluations, not the fifty of a bracket that is halved to the last digit.
TEST(event_a_simple_root_is_located_with_few_evaluations) {
  srIntegrator* integrator = start(sri_method_find("dopri5"));
  int calls = 0, steps = 0;
  unsigned char fired[2];
  double t = HUGE_VAL;
  srRootFinder* finder =
      sri_roots_create(integrator, &(srRoots){.count = 2, .user = &calls, .evaluate = position_and_velocity});
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  for (; t == HUGE_VAL; ++steps) {
    ENSURE_EQUAL(sri_step(integrator, 8), SR_OK);
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, fired), SR_OK);
  }
  ENSURE_NEAR(t, pi / 6, 1e-8);
  ENSURE(calls <= 2 + 4 * steps + 10);
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

// ---- free flight: a parabola -------------------------------------------------------------------------------------------

static int fall(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                double* vdot, double* ydot, double* wdot) {
  (void)t, (void)q, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = user != NULL ? -*(double*)user : -10;
  return 0;
}

static int height(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  (void)t, (void)y;
  ++*(int*)user;
  value[0] = q[0];
  value[1] = v[0];
  return 0;
}

// Falls from 1.8 m: reaches 0 at 0.6 s with 6 m/s, jumps back with 3 m/s: again at 1.2 s. One step goes over all of it.
TEST(event_the_root_of_a_parabola_with_its_rate_takes_few_evaluations_and_the_step_is_kept) {
  const srSystem ball = {.nq = 1, .nv = 1, .rates = fall};
  srIntegratorOptions options = sri_default_options();
  int calls = 0;
  const signed char falls = -1;
  options.step = 4;
  options.keeps_step = true;
  srIntegrator* integrator = NULL;
  ENSURE_EQUAL(sri_create("dopri5", &ball, &options, NULL, &integrator), SR_OK);
  const srRoots roots = {.count = 1, .user = &calls, .evaluate = height, .direction = &falls, .rated = 1};
  srRootFinder* finder = sri_roots_create(integrator, &roots);
  double q = 1.8, v = 0, t;
  unsigned char fired;
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  for (int k = 1; k <= 2; ++k) {
    calls = 0;
    ENSURE_EQUAL(sri_step(integrator, 100), SR_OK);
    ENSURE_NEAR(sri_time(integrator) - sri_time_before(integrator), k == 1 ? 4 : 40,
                1e-12);  // no error: ten times longer
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, &fired), SR_OK);
    ENSURE_NEAR(t, 0.6 * k, 1e-14);  // rounding of the dense output of a step of 40 s
    // Pieces of the step; the root of the cubic and a try beside it; in the second step, whose end is 7800 m below, the rounding of the dense output too.
    ENSURE(calls <= (k == 1 ? 2 + 3 : 3 + 7));
    ENSURE_EQUAL(sri_interpolate(integrator, t, &q, &v, NULL, NULL), SR_OK);
    ENSURE_NEAR(v, k == 1 ? -6 : -3, 1e-13);
    v = 3;
    ENSURE_EQUAL(sri_roots_jump(finder, t, &q, &v, NULL, &fired), SR_OK);
    ENSURE_EQUAL(sri_restart(integrator, t, &q, &v, NULL), SR_OK);
  }
  ENSURE_EQUAL(sri_stats(integrator)->steps, 2);
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

static bool always(void* user) { return user != NULL; }

// The same where the function may be foretold: a quarter of the step, and the zero of its parabola; from the third flight on, when an event has been seen not to change it, the zero
// alone. Then gravity becomes four times as large: at the zero foretold the ball would be far below.
TEST(event_a_parabola_that_is_foretold_takes_one_evaluation) {
  double gravity = 10;
  const srSystem ball = {.nq = 1, .nv = 1, .user = &gravity, .rates = fall};
  srIntegratorOptions options = sri_default_options();
  int calls = 0;
  const signed char falls = -1;
  options.step = 1;
  options.step_max = 1;
  options.keeps_step = true;
  srIntegrator* integrator = NULL;
  ENSURE_EQUAL(sri_create("dopri5", &ball, &options, NULL, &integrator), SR_OK);
  const srRoots roots = {
      .count = 1, .user = &calls, .evaluate = height, .direction = &falls, .rated = 1, .steady = always};
  srRootFinder* finder = sri_roots_create(integrator, &roots);
  double q = 1.8, v = 0, t;
  unsigned char fired;
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  for (int k = 1; k <= 7; ++k) {
    calls = 0;
    ENSURE_EQUAL(sri_step(integrator, 100), SR_OK);
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, &fired), SR_OK);
    ENSURE_NEAR(t, k <= 5 ? 0.6 * k : 3 + 0.15 * (k - 5), 1e-14);
    ENSURE(fired == 1);
    ENSURE(calls <= (k <= 2 ? 2 : k <= 5 ? 1 : 4));
    ENSURE_EQUAL(sri_interpolate(integrator, t, &q, &v, NULL, NULL), SR_OK);
    v = 3;
    if (k == 5) gravity = 40;
    ENSURE_EQUAL(sri_roots_jump(finder, t, &q, &v, NULL, &fired), SR_OK);
    ENSURE_EQUAL(sri_restart(integrator, t, &q, &v, NULL), SR_OK);
  }
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

// Over steps without an event: two pieces of the first one, then the end of each step.
TEST(event_a_parabola_is_foretold_from_step_to_step) {
  const srSystem ball = {.nq = 1, .nv = 1, .rates = fall};
  srIntegratorOptions options = sri_default_options();
  int calls = 0;
  const signed char falls = -1;
  options.step = options.step_max = 0.1;
  srIntegrator* integrator = NULL;
  ENSURE_EQUAL(sri_create("dopri5", &ball, &options, NULL, &integrator), SR_OK);
  const srRoots roots = {
      .count = 1, .user = &calls, .evaluate = height, .direction = &falls, .rated = 1, .steady = always};
  srRootFinder* finder = sri_roots_create(integrator, &roots);
  double q = 1.8125, v = 1, t = HUGE_VAL;
  unsigned char fired;
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  while (!(t < HUGE_VAL)) {
    ENSURE_EQUAL(sri_step(integrator, 100), SR_OK);
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, &fired), SR_OK);
  }
  ENSURE_NEAR(t, 0.1 + sqrt(0.01 + 1.8125 / 5), 1e-14);
  ENSURE_EQUAL(sri_stats(integrator)->steps, 8);
  ENSURE_EQUAL(calls, 1 + 2 + 6 + 1);
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

// ---- functions that do not stay what they seem ----------------------------------------------------------------------------

// f(t) = a + b t + c t^2 + A sin(w t + phi) + B exp(-((t - m)/s)^2): a parabola, a wave, and a bump that may come late.
typedef struct Curve {
  double a, b, c, A, w, phi, B, m, s;
} Curve;

static double curve_at(const Curve* x, double t, double* rate) {
  const double z = (t - x->m) / x->s, bump = x->B * exp(-z * z);
  *rate = x->b + 2 * x->c * t + x->A * x->w * cos(x->w * t + x->phi) - 2 * z / x->s * bump;
  return x->a + t * (x->b + t * x->c) + x->A * sin(x->w * t + x->phi) + bump;
}

static int two_curves(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  const Curve* x = user;
  (void)q, (void)v, (void)y;
  for (int i = 0; i < 2; ++i) value[i] = curve_at(&x[i], t, &value[2 + i]);
  return 0;
}

static int drive_on(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                    double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = 1;
  vdot[0] = 0;
  return 0;
}

// The first time in 0 .. 1 at which a curve that begins above 0 is below it, by looking everywhere; HUGE_VAL: none. *depth: how far they get below, or keep above.
static double look_everywhere(const Curve* x, double* depth) {
  double first = HUGE_VAL, rate;
  *depth = HUGE_VAL;
  for (int k = 1; k <= 4000; ++k) {
    for (int i = 0; i < 2; ++i) {
      const double f = curve_at(&x[i], k / 4000.0, &rate);
      *depth = fmin(*depth, f);
      if (f < 0 && !(first < HUGE_VAL)) first = k / 4000.0;
    }
  }
  return first;
}

// 0 .. 1 in one step or in four, in which the first of two functions that falls through 0 must be found, though they are foretold: waves of up to one and a half periods, bumps as wide as a
// quarter of the step.
TEST(event_foretold_functions_are_found_where_looking_everywhere_finds_them) {
  const srSystem clock = {.nq = 1, .nv = 1, .rates = drive_on};
  const signed char falls[2] = {-1, -1};
  unsigned seed = 1;
  int found = 0, none = 0;
  for (int k = 0; k < 1200; ++k) {
    Curve x[2];
    const double step = k < 600 ? 1 : 0.25;
    double depth, rate, q = 0, v = 0, t;
    unsigned char fired[2];
    for (int i = 0; i < 2; ++i) {
      double r[9];
      for (int j = 0; j < 9; ++j) r[j] = (double)((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0;
      const int kind = k % 3;
      x[i] = (Curve){.a = 0.3 + r[0], .b = 4 * r[1] - 2, .c = 4 * r[2] - 2, .w = 9 * r[3], .phi = 6 * r[4], .s = 0.25};
      if (kind == 1) x[i].A = r[5];
      if (kind == 2) x[i].B = -2 * r[6], x[i].m = 0.4 + 0.5 * r[7], x[i].s = 0.25 + r[8];
      x[i].a += fmax(0, 0.2 - curve_at(&x[i], 0, &rate));
    }
    const double expected = look_everywhere(x, &depth);
    if (fabs(depth) < 0.02) continue;  // it grazes
    srIntegratorOptions options = sri_default_options();
    options.step = options.step_max = step;
    options.rtol = options.atol = 1;
    srIntegrator* integrator = NULL;
    ENSURE_EQUAL(sri_create("dopri5", &clock, &options, NULL, &integrator), SR_OK);
    const srRoots roots = {
        .count = 2, .user = x, .evaluate = two_curves, .direction = falls, .rated = 2, .steady = always};
    srRootFinder* finder = sri_roots_create(integrator, &roots);
    ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
    ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
    for (t = HUGE_VAL; !(t < HUGE_VAL) && sri_time(integrator) < 1;) {
      ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
      ENSURE_NEAR(sri_time(integrator) - sri_time_before(integrator), step, 0);
      ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, fired), SR_OK);
    }
    if (expected < HUGE_VAL) {
      if (fabs(t - expected) > 3e-4) printf("%d: %.6g instead of %.6g, depth %g\n", k, t, expected, depth);
      ENSURE_NEAR(t, expected, 3e-4);
      ++found;
    } else {
      ENSURE(!(t < HUGE_VAL));
      ++none;
    }
    sri_roots_destroy(finder);
    sri_destroy(integrator);
  }
  ENSURE(found > 300 && none > 200);
}

// Right after an event the function rises and is below 0 again after a thousandth of the step, for an instant: f(t) = 1e-6 sin(4000 t) + 1e-4 t^2.
TEST(event_what_returns_for_an_instant_after_an_event_is_not_foretold_away) {
  const srSystem clock = {.nq = 1, .nv = 1, .rates = drive_on};
  const signed char falls[2] = {-1, -1};
  Curve x[2] = {{.a = 1e-12, .A = 1e-6, .w = 4000, .c = 1e-4, .s = 1}, {.a = 1, .s = 1}};
  double q = 0, v = 0, t;
  unsigned char fired[2];
  srIntegratorOptions options = sri_default_options();
  options.step = 1;
  srIntegrator* integrator = NULL;
  ENSURE_EQUAL(sri_create("dopri5", &clock, &options, NULL, &integrator), SR_OK);
  const srRoots roots = {
      .count = 2, .user = x, .evaluate = two_curves, .direction = falls, .rated = 2, .steady = always};
  srRootFinder* finder = sri_roots_create(integrator, &roots);
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  ENSURE_EQUAL(sri_roots_jump(finder, 0, &q, &v, NULL, fired), SR_OK);
  ENSURE_EQUAL(sri_step(integrator, 1), SR_OK);
  ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, fired), SR_OK);
  ENSURE_NEAR(t, pi / 4000, 1e-6);
  ENSURE(fired[0] == 1 && fired[1] == 0);
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

TEST(event_directions_and_starts_on_a_root) {
  const signed char falling_alone[] = {-1, 1};
  srIntegrator* integrator = start(sri_method_find("dopri5"));
  int calls = 0, which[8];
  double when[8], t;
  unsigned char fired[2];
  srRootFinder* finder = sri_roots_create(
      integrator,
      &(srRoots){.count = 2, .user = &calls, .evaluate = position_and_velocity, .direction = falling_alone});
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  const int n = find(integrator, finder, 8, 8, when, which);
  ENSURE_EQUAL(n, 3);
  ENSURE_NEAR(when[0], pi / 2, 1e-8);
  ENSURE_NEAR(when[1], 5 * pi / 6, 1e-8);
  ENSURE_NEAR(when[2], 5 * pi / 2, 1e-8);
  // x = 0 at the start: no event there, the next one half a period later.
  const double q = 0, v = 1;
  ENSURE_EQUAL(sri_start(integrator, 0, &q, &v, NULL), SR_OK);
  ENSURE_EQUAL(sri_roots_start(finder, integrator), SR_OK);
  do {
    ENSURE_EQUAL(sri_step(integrator, 8), SR_OK);
    ENSURE_EQUAL(sri_roots_step(finder, integrator, &t, fired), SR_OK);
  } while (t == HUGE_VAL);
  ENSURE_NEAR(t, pi, 1e-8);
  ENSURE(fired[0] == 1);
  sri_roots_destroy(finder);
  sri_destroy(integrator);
}

// ---- models -----------------------------------------------------------------------------------------------------------

static srStatus simulate(Loaded* x, const char* method, double t_end) {
  srRunOptions options = sr_run_options(x->m);
  const srMethod* row = sri_method_find(method);
  options.method = method;
  options.t_end = t_end;
  options.rtol = options.atol = row->order < 3 ? 1e-8 : 1e-10;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &options, messages, &x->result);
  loading_print(messages);
  sr_messages_destroy(messages);
  return status;
}

#define ARM                                                                                                            \
  "<body name='arm'><joint name='theta' type='revolute' axis='0 1 0' q='1'/>"                                          \
  "<inertial mass='1' com='0 0 -1' inertia='0 0 0'/></body>"

// A room that cools with rate 1 towards 0 and is heated by 3: on at 1, off at 2. It rises by ln 2 and falls by ln 2.
static const char thermostat[] = "<sarrus version='1'>" ARM
                                 "<state name='on' initial='1' rate='0'/>"
                                 "<state name='T' initial='1' rate='3*on - T'/>"
                                 "<event name='hot' when='T - 2' direction='rising' do='on = 0'/>"
                                 "<event name='cold' when='T - 1' direction='falling' do='on = 1;'/>"
                                 "</sarrus>";

TEST(event_a_thermostat_switches_at_the_times_of_its_closed_form) {
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->impulses) continue;  // of order 1
    const double good = trust(method);
    Loaded x = open_text(thermostat);
    ENSURE_EQUAL(simulate(&x, method->name, 4), SR_OK);
    const double period = log(2.0);  // 3 - 2 e^-t = 2 and 2 e^-t = 1
    ENSURE_EQUAL(x.result.nevent, 5);
    for (int k = 0; k < 5; ++k) {
      ENSURE_TEXT(x.result.event[k].kind, "event");
      ENSURE_TEXT(x.result.event[k].a, k % 2 == 0 ? "hot" : "cold");
      if (!(fabs(x.result.event[k].t - (k + 1) * period) <= 5 * good)) printf("%s\n", method->name);
      ENSURE_NEAR(x.result.event[k].t, (k + 1) * period, 5 * good);
    }
    ENSURE_SMALL(energy_residual(&x), method->order == 1 ? 5e-2 : 1e-5);
    close_model(&x);
  }
}

TEST(event_actions_see_the_state_before_all_of_them) {
  Loaded x = open_text("<sarrus version='1'>" ARM
                       "<state name='a' initial='1' rate='0'/><state name='b' initial='2' rate='0'/>"
                       "<event when='t - 0.5' do='a = b; b = a + 10*t'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_OK);
  ENSURE_NEAR(x.d->y[0], 2, 1e-15);
  ENSURE_NEAR(x.d->y[1], 6, 1e-13);
  ENSURE_EQUAL(x.result.nevent, 1);
  ENSURE_TEXT(x.result.event[0].a, "event 1");
  close_model(&x);
}

TEST(event_stops_a_run_where_the_pendulum_hangs) {
  Loaded x = open_text("<sarrus version='1'>" ARM "<event name='down' when='q(theta)' stop='yes'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 100), SR_OK);
  ENSURE_TEXT(x.result.event[0].a, "down");
  ENSURE_NEAR(x.result.t, x.result.event[0].t, 0);
  ENSURE_SMALL(x.d->q[0], 1e-9);
  // A quarter of the period: K(sin 1/2) sqrt(l/g), by the arithmetic-geometric mean.
  double a = 1, b = cos(0.5);
  for (int k = 0; k < 6; ++k) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  ENSURE_NEAR(x.result.t, pi / (2 * a) / sqrt(9.81), 1e-9);
  close_model(&x);
}

TEST(event_that_an_event_causes_happens_at_the_same_time) {
  Loaded x = open_text("<sarrus version='1'>" ARM
                       "<state name='n' initial='0' rate='0'/><state name='m' initial='0' rate='0'/>"
                       "<event name='first' when='t - 0.5' do='n = n + 1'/>"
                       "<event name='second' when='n - 0.5' do='m = m + 10'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_OK);
  ENSURE_EQUAL(x.result.nevent, 2);
  ENSURE_TEXT(x.result.event[1].a, "second");
  ENSURE_NEAR(x.result.event[1].t, x.result.event[0].t, 0);
  ENSURE_NEAR(x.d->y[0], 1, 0);
  ENSURE_NEAR(x.d->y[1], 10, 0);
  close_model(&x);
}

// sqrt(0.7 - t) ends at 0.7: the event at 0.5 stops the run before that, however long the steps are.
TEST(event_before_a_formula_ends_is_found) {
  const char text[] = "<sarrus version='1'>" ARM "<event name='root' when='sqrt(0.7 - t) - sqrt(0.2)' %s/></sarrus>";
  char stops[512], goes_on[512];
  (void)snprintf(stops, sizeof stops, text, "stop='yes'");
  (void)snprintf(goes_on, sizeof goes_on, text, "");
  for (int i = 0; i < sri_method_count(); ++i) {
    if (sri_method(i)->impulses) continue;
    Loaded x = open_text(stops);
    ENSURE_EQUAL(simulate(&x, sri_method(i)->name, 2), SR_OK);
    ENSURE_NEAR(x.result.t, 0.5, 1e-12);
    close_model(&x);
  }
  Loaded x = open_text(goes_on);
  ENSURE_EQUAL(simulate(&x, "dopri5", 2), SR_FAILED);
  ENSURE(strstr(x.result.error_message, "the formula of the event 'root' cannot be evaluated") != NULL);
  close_model(&x);
}

// ---- in closed loops ----------------------------------------------------------------------------------------------------

static const char crank[] =
    "<sarrus version='1'><option gravity='0 -9.81 0'/>"
    "<body name='crank'><joint name='a' type='revolute' q='0.4' v='15'/>"
    "<inertial mass='0.4' com='0.075 0 0' inertia='0 7.5e-4 7.5e-4'/></body>"
    "<body name='rod' parent='crank'><joint name='b' type='revolute' at='0.15 0 0' q='-0.567666'/>"
    "<inertial mass='0.9' com='0.175 0 0' inertia='0 9.1875e-3 9.1875e-3'/></body>"
    "<constraint expr='0.15*sin(q(a)) + 0.35*sin(q(a) + q(b))'/>%s</sarrus>";

static srStatus turn(Loaded* x, const char* events, const char* method, double rtol) {
  char text[1500];
  (void)snprintf(text, sizeof text, crank, events);
  *x = open_text(text);
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.t_end = 1;
  options.step = 1e-3;
  options.rtol = options.atol = rtol;
  return sr_run(x->m, x->d, &options, NULL, &x->result);
}

// Events that do nothing change nothing but the steps; the state at one that ends the run is on the constraints.
TEST(event_in_a_loop_leaves_the_motion_alone_and_the_loop_closed) {
  static const char passive[] = "<event when='sin(7*q(a))'/>", stop[] = "<event when='t - 0.2345' stop='yes'/>";
  int wrong = 0;
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->impulses) continue;  // of order 1
    const double rtol = method->order == 2 ? 1e-6 : 1e-8;
    Loaded without, with, stopped;
    ENSURE_EQUAL(turn(&without, "", method->name, rtol), SR_OK);
    ENSURE_EQUAL(turn(&with, passive, method->name, rtol), SR_OK);
    ENSURE_EQUAL(turn(&stopped, stop, method->name, 1e-4), SR_OK);
    const double moved = fabs(with.d->q[0] - without.d->q[0]);
    const double most = method->order == 1 ? 5e-2 : method->order == 2 ? 5e-3 : 1e-4;
    ENSURE_EQUAL(sr_constraints(stopped.m, stopped.d), 0);
    double rate;
    sr_constraint_velocity(stopped.m, stopped.d, stopped.d->v, &rate);
    const bool closed = fabs(stopped.d->g[0]) < 1e-13 && fabs(rate) < 1e-11;
    if (!(moved < most && closed && with.result.event_count > 20)) {
      printf("%s: moved %.2g, off by %.2g and %.2g, %ld events\n", method->name, moved, stopped.d->g[0], rate,
             with.result.event_count);
      wrong++;
    }
    close_model(&without), close_model(&with), close_model(&stopped);
  }
  ENSURE_EQUAL(wrong, 0);
}

TEST(event_energy_goes_on_through_restarts) {
  Loaded x = open_text(
      "<sarrus version='1'>"
      "<body name='arm'><joint name='theta' type='revolute' axis='0 1 0' q='1' damping='0.3'/>"
      "<inertial mass='1' com='0 0 -1' inertia='0 0 0'/></body>"
      "<event when='q(theta)'/><event when='v(theta)'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 10), SR_OK);
  ENSURE(x.result.event_count >= 18);
  ENSURE_SMALL(energy_residual(&x), 1e-9);
  ENSURE(x.result.energy.work[SR_ACCOUNT_DISSIPATED] < -3);  // most of 4.5 J
  close_model(&x);
}

TEST(event_chattering_is_named_and_stops) {
  Loaded x = open_text("<sarrus version='1'>" ARM
                       "<state name='s' initial='1' rate='0'/><state name='u' initial='-0.5' rate='s'/>"
                       "<event name='up' when='u' direction='rising' do='s = -1'/>"
                       "<event name='down' when='u' direction='falling' do='s = 1'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_FAILED);
  ENSURE(strstr(x.result.error_message, "events follow each other without end") != NULL);
  ENSURE_NEAR(x.result.t, 0.5, 1e-6);
  close_model(&x);
}

TEST(event_formulas_see_sensors) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='arm'><joint name='theta' type='revolute' axis='0 1 0' q='1'/>"
      "<inertial mass='1' com='0 0 -1' inertia='0 0 0'/><point name='tip' at='0 0 -1'/></body>"
      "<sensor name='tip' point='arm/tip'/><event when='sensor(tip, x)' stop='yes'/></sarrus>");
  ENSURE_EQUAL(simulate(&x, "dopri5", 100), SR_OK);
  ENSURE_SMALL(x.d->q[0], 1e-9);
  close_model(&x);
}

// ---- what actions may set -------------------------------------------------------------------------------------------

#define BALL_EVENT(do)                                                                                                 \
  "<sarrus version=\"1\"><option gravity=\"0 0 -10\"/><body name=\"b\"><joint name=\"z\" type=\"prismatic\" axis=\"0 " \
  "0 1\" "                                                                                                             \
  "q=\"1\"/><inertial mass=\"2\" inertia=\"1 1 1\"/></body>"                                                           \
  "<event name=\"floor\" when=\"q(z)\" direction=\"falling\" do=\"" do "\"/></sarrus>"

TEST(event_that_sets_a_velocity_makes_a_ball_bounce_at_the_times_of_its_closed_form) {
  // From 1 m, e = 0.8: t_1 = sqrt(2/g), then flights of 2 e^k t_1.
  const char* methods[] = {"dopri5", "rk4", "radau5", "hem5", "auto"};
  for (int k = 0; k < 5; ++k) {
    Loaded x = open_text(BALL_EVENT("v(z) = -0.8*v(z)"));
    ENSURE_EQUAL(simulate(&x, methods[k], 2.4), SR_OK);
    double t = sqrt(0.2), flight = 1.6 * t;
    ENSURE_EQUAL(x.result.nevent, 4);
    for (int i = 0; i < 4; ++i, t += flight, flight *= 0.8) ENSURE_NEAR(x.result.event[i].t, t, 1e-8);
    // m g (1 - z) = kinetic energy + what the four impacts have dissipated; the energy balance has them.
    ENSURE_SMALL(energy_residual(&x), 1e-8);
    ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_DRIVER], -20 * (1 - pow(0.8, 8)), 1e-7);
    close_model(&x);
  }
}

TEST(event_that_comes_ever_sooner_ends_the_run_where_its_times_gather) {
  // The times of the bounces gather at t_1 (1 + e)/(1 - e): nothing falls through the floor, however long a step is.
  static const struct {
    const char* text;
    double e;
  } balls[] = {{BALL_EVENT("v(z) = -0.5*v(z)"), 0.5}, {BALL_EVENT("v(z) = -0.8*v(z)"), 0.8}};
  static const char* const methods[] = {"dopri5", "rk4", "radau5", "hem5", "genalpha-ggl", "cvode", "auto"};
  for (int i = 0; i < 14; ++i) {
    const char* method = methods[i % 7];
    if (sri_method_find(method)->absent) continue;
    Loaded x = open_text(balls[i / 7].text);
    // The others are exact on parabolas; cvode has its tolerance, and hops that are lower than that.
    const double e = balls[i / 7].e, good = strcmp(method, "cvode") == 0 ? 1e-4 : 1e-6;
    ENSURE_EQUAL(simulate(&x, method, 10), SR_FAILED);
    ENSURE(strstr(x.result.error_message, "the event 'floor' comes ever sooner") != NULL);
    ENSURE_NEAR(x.result.t, sqrt(0.2) * (1 + e) / (1 - e), good);
    ENSURE(x.d->q[0] > -1e-9);
    close_model(&x);
  }
}

// Two carriages on one rail, the second on the first, masses 3 and 1; the second is stopped on the first: what it had goes to both.
#define CARRIAGES                                                                                                      \
  "<sarrus version=\"1\"><option gravity=\"0 0 0\"/><body name=\"a\"><joint name=\"x\" type=\"prismatic\" axis=\"1 0 " \
  "0\"/>"                                                                                                              \
  "<inertial mass=\"3\" inertia=\"1 1 1\"/></body><body name=\"b\" parent=\"a\"><joint name=\"u\" type=\"prismatic\" " \
  "axis=\"1 0 0\" v=\"2\"/><inertial mass=\"1\" inertia=\"1 1 1\"/></body>"                                            \
  "<event when=\"q(u) - 1\" do=\"v(u) = 0\"/></sarrus>"

static void ensure_stopped(srFormulation formulation) {
  srSpec* spec = NULL;
  Loaded x = open_text(CARRIAGES);
  if (formulation != SR_FORMULATION_RELATIVE) {
    Loaded r = x;
    ENSURE_EQUAL(sr_load_text(CARRIAGES, strlen(CARRIAGES), "test", NULL, NULL, NULL, &spec), SR_OK);
    ENSURE_EQUAL(sr_formulate(spec, r.m, r.d, formulation, NULL, &x.m, &x.d), SR_OK);
    srs_destroy(spec);
    close_model(&r);
  }
  ENSURE_EQUAL(simulate(&x, "dopri5", 1.5), SR_OK);
  // Momentum 2 over mass 4 from 0.5 s on.
  ENSURE_NEAR(x.d->jv[0], 0.5, 1e-7);
  ENSURE_NEAR(x.d->jv[1], 0, 1e-7);
  ENSURE_NEAR(x.d->jq[0], 0.5, 1e-6);
  ENSURE_NEAR(x.d->jq[1], 1, 1e-6);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_DRIVER], 0.5 * 4 * 0.25 - 2, 1e-6);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
}

TEST(event_that_sets_a_velocity_is_an_impulse_in_the_joint_whatever_the_formulation) {
  ensure_stopped(SR_FORMULATION_RELATIVE);
  ensure_stopped(SR_FORMULATION_ABSOLUTE);
}

// Sliders of 3 and 1 kg with x = 2 u; at 0.5 s events set velocities.
#define COUPLED(do)                                                                                                    \
  "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='x' type='prismatic' axis='1 0 0' v='2'/>"  \
  "<inertial mass='3' inertia='1 1 1'/></body><body name='b'><joint name='u' type='prismatic' axis='1 0 0' v='1'/>"    \
  "<inertial mass='1' inertia='1 1 1'/></body><constraint name='gear' expr='q(x) - 2*q(u)'/>"                          \
  "<event name='hit' when='t - 0.5' do='" do "'/></sarrus>"

TEST(event_that_sets_a_velocity_keeps_the_constraints_or_reports_that_they_forbid_it) {
  const char* methods[] = {"mdop5", "radau5", "dopri5"};
  for (int k = 0; k < 3; ++k) {
    Loaded x = open_text(COUPLED("v(u) = -3"));
    ENSURE_EQUAL(simulate(&x, methods[k], 1), SR_OK);
    ENSURE_NEAR(x.d->v[0], -6, 1e-8);
    ENSURE_NEAR(x.d->v[1], -3, 1e-8);
    ENSURE_NEAR(x.d->q[0], 1 - 3, 1e-7);
    close_model(&x);
  }
  Loaded x = open_text(COUPLED("v(u) = -3; v(x) = -6"));
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_OK);
  ENSURE_NEAR(x.d->v[0], -6, 1e-8);
  close_model(&x);
  x = open_text(COUPLED("v(u) = -3; v(x) = 1"));
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_FAILED);
  ENSURE(strstr(x.result.error_message, "the action of an event cannot be carried out") != NULL);
  close_model(&x);
}

TEST(event_that_sets_a_parameter_changes_the_laws_that_use_it) {
  // 2 x'' = -k x with k = 8, w = 2, from 0 at 0.5 m/s: at 0.1 the spring breaks, and x' stays sqrt(0.25 - 4*0.01).
  Loaded x = open_text(
      "<sarrus version='1'><parameter name='k' value='8'/><option gravity='0 0 0'/><body name='b'>"
      "<joint name='x' type='prismatic' axis='1 0 0' v='0.5'/><inertial mass='2' inertia='1 1 1'/></body>"
      "<torque joint='x' law='-k*q(x)'/><event when='q(x) - 0.1' do='k = 0'/></sarrus>");
  const double t = asin(0.4) / 2, v = sqrt(0.21);
  ENSURE_EQUAL(x.m->ny, 1);
  ENSURE_TEXT(x.m->y_name[0], "k");
  ENSURE_NEAR(x.m->y0[0], 8, 0);
  ENSURE_EQUAL(simulate(&x, "dopri5", 1), SR_OK);
  ENSURE_NEAR(x.result.event[0].t, t, 1e-8);
  ENSURE_NEAR(x.d->v[0], v, 1e-8);
  ENSURE_NEAR(x.d->q[0], 0.1 + v * (1 - t), 1e-8);
  ENSURE(x.d->y[0] == 0);
  close_model(&x);
}

static void ensure_refused(const char* text, const char* reason) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
  srs_destroy(spec);
  if (strstr(sr_messages_get(messages, 0)->text, reason) == NULL) printf("%s\n", sr_messages_get(messages, 0)->text);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, reason) != NULL);
  ENSURE(sr_messages_get(messages, 0)->place.line > 0);
  sr_messages_destroy(messages);
}

#define REFUSED(attributes, more, do)                                                                                  \
  "<sarrus version='1'><parameter name='m' value='2'/>" more                                                           \
  "<body name='b'><joint name='x' type='prismatic'/>"                                                                  \
  "<inertial mass='" attributes "' inertia='1 1 1'/></body><event when='t - 1' do='" do "'/></sarrus>"

TEST(event_actions_that_cannot_be_are_refused_with_a_sentence) {
  ensure_refused(REFUSED("m", "", "m = 3"), "set by an event");
  ensure_refused(REFUSED("1", "<parameter name='n' value='2*m'/>", "m = 3"), "set by an event");
  ensure_refused(REFUSED("1", "", "q(x) = 3"), "cannot set a position");
  ensure_refused(REFUSED("1", "", "v(y) = 3"), "unknown joint 'y'");
  ensure_refused(REFUSED("1", "", "v(x, 1) = 3"), "1 velocity coordinate, counted from 0");
  ensure_refused(REFUSED("1", "", "n = 3"), "unknown state or parameter 'n'");
  ensure_refused(REFUSED("1", "<driver joint='x' motion='t'/>", "v(x) = 3"), "is driven");
}
