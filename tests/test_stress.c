// Random trees and loops whose springs, dampers and masses span 12 orders of magnitude, by the default method and by the two that it is made of: every run ends or says
// why, and keeps its constraints. Cost is counted in evaluations. `./test --long` takes all 124 models.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

#define MODELS 124
#define EVALUATIONS_MOST 100000  // for one second of motion

typedef struct Dice {
  unsigned long long state;
} Dice;

static double uniform(Dice* d, double low, double high) {
  d->state = d->state * 6364136223846793005ull + 1442695040888963407ull;
  return low + (high - low) * (double)(d->state >> 11) / 9007199254740992.0;
}

static double decades(Dice* d, double low, double high) { return pow(10, uniform(d, low, high)); }

__attribute__((format(printf, 3, 4))) static void add(char* text, size_t size, const char* format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

// Stiffness of 1e-2 to 1e10, damping of 1e-5 to 1e5, sometimes stops within reach.
static void add_joint(Dice* d, char* text, size_t size, int i, const char* type, const char* axis, const char* at,
                      double q) {
  add(text, size, "<joint name='j%d' type='%s' axis='%s' at='%s' q='%.6g'", i, type, axis, at, q);
  if (uniform(d, 0, 1) < 0.7) add(text, size, " stiffness='%.6g' rest='%.6g'", decades(d, -2, 10), q);
  if (uniform(d, 0, 1) < 0.7) add(text, size, " damping='%.6g'", decades(d, -5, 5));
  if (uniform(d, 0, 1) < 0.3)
    add(text, size, " limits='%.6g %.6g' limit-stiffness='%.6g'", q - uniform(d, 0.01, 1), q + uniform(d, 0.01, 1),
        decades(d, 2, 8));
  add(text, size, "/>");
}

static void add_inertia(Dice* d, char* text, size_t size, const char* com) {
  const double mass = decades(d, -6, 1);
  add(text, size, "<inertial mass='%.6g' com='%s' inertia='%.6g %.6g %.6g'/>", mass, com, 0.01 * mass, 0.012 * mass,
      0.008 * mass);
}

static void write_tree(Dice* d, char* text, size_t size) {
  static const char* const axes[] = {"1 0 0", "0 1 0", "0 0 1", "0.6 0 0.8"};
  const int n = 2 + (int)uniform(d, 0, 6);
  for (int i = 0; i < n; i++) {
    add(text, size, "<body name='b%d'", i);
    if (i > 0) add(text, size, " parent='b%d'", (int)uniform(d, 0, i));
    add(text, size, ">");
    add_joint(d, text, size, i, uniform(d, 0, 1) < 0.75 ? "revolute" : "prismatic", axes[(int)uniform(d, 0, 4)],
              "0.1 0 -0.2", uniform(d, -0.3, 0.3));
    add_inertia(d, text, size, "0.05 0 -0.1");
    add(text, size, "</body>");
  }
}

// A parallelogram in the plane, closed at any angle of its crank.
static void write_loop(Dice* d, char* text, size_t size) {
  const double angle = uniform(d, -0.8, 0.8);
  add(text, size, "<body name='crank'>");
  add_joint(d, text, size, 0, "revolute", "0 1 0", "0 0 0", angle);
  add_inertia(d, text, size, "0 0 -0.2");
  add(text, size, "</body><body name='coupler' parent='crank'>");
  add_joint(d, text, size, 1, "revolute", "0 1 0", "0 0 -0.4", -angle);
  add_inertia(d, text, size, "0.5 0 0");
  add(text, size, "<point name='pin' at='1 0 0'/></body><body name='rocker'>");
  add_joint(d, text, size, 2, "revolute", "0 1 0", "1 0 0", angle);
  add_inertia(d, text, size, "0 0 -0.2");
  add(text, size, "<point name='pin' at='0 0 -0.4'/></body>");
  add(text, size, "<closure name='pin' type='ball' normal='0 1 0' a='coupler/pin' b='rocker/pin'/>");
}

static int count_down(void* user) { return --*(long*)user < 0; }

// Evaluations for one second of motion; the limit where the run was stopped there or could not go on.
static long cost_of(const char* text, const char* method, bool looped) {
  Loaded x = open_text(text);
  long left = EVALUATIONS_MOST;
  srRunOptions options = sr_run_options(x.m);
  if (method != NULL) options.method = method;
  options.t_end = 1;
  options.rtol = 1e-6;
  options.atol = 1e-9;
  x.d->stop = count_down;
  x.d->stop_user = &left;
  const srStatus status = sr_run(x.m, x.d, &options, NULL, &x.result);
  // A run that cannot go on says why; none leaves its constraints without a word.
  ENSURE(status == SR_OK || (status == SR_FAILED && x.result.trouble[0] != 0));
  if (looped && status == SR_OK) ENSURE_SMALL(x.result.violation_position, 1e-6);
  const bool late = left < 0 || status != SR_OK;
  const long n = x.result.stats.evaluations;
  close_model(&x);
  return late || n > EVALUATIONS_MOST ? EVALUATIONS_MOST : n;
}

static void write_model(int i, bool looped, char* text, size_t size) {
  Dice dice = {.state = 12345 + 7919ull * (unsigned long long)i};
  for (int k = 0; k < 8; k++) (void)uniform(&dice, 0, 1);
  text[0] = 0;
  add(text, size, "<sarrus version='1' name='stress'>");
  if (looped)
    write_loop(&dice, text, size);
  else
    write_tree(&dice, text, size);
  add(text, size, "</sarrus>");
}

// Undamped springs of 1e10 on masses of 1e-6 vibrate at 1e8 rad/s, and that costs what it costs. But where dopri5 or radau5 needs less than a third of the limit, the
// default method keeps within it.
TEST(random_models_of_all_stiffnesses_are_simulated_by_the_default_where_one_method_can) {
  static char text[20000];
  const int models = runner_long() ? MODELS : 12;
  int late = 0, both = 0;
  for (int i = 0; i < models; i++) {
    const bool looped = i % 3 == 2;
    write_model(i, looped, text, sizeof text);
    const long chosen = cost_of(text, NULL, looped), explicit = cost_of(text, "dopri5", looped);
    const long implicit = cost_of(text, "radau5", looped), best = explicit < implicit ? explicit : implicit;
    late += chosen == EVALUATIONS_MOST;
    both += best == EVALUATIONS_MOST;
    if (getenv("SARRUS_TEST_VERBOSE"))
      printf("  model %d (%s): auto %ld, dopri5 %ld, radau5 %ld\n", i, looped ? "loop" : "tree", chosen, explicit,
             implicit);
    ENSURE(chosen < EVALUATIONS_MOST || 3 * best >= EVALUATIONS_MOST);
  }
  if (getenv("SARRUS_TEST_VERBOSE")) printf("  beyond the limit: auto %d, both others %d, of %d\n", late, both, models);
}
