// Random trees and loops whose springs span 12 orders of magnitude, dampers 10 and masses 7. Cost is counted in evaluations. Two classes:
//   damped    springs with the damping that springs have: by the default method fewer than 15 of 372 models pass the limit
//   undamped  springs without, up to 1e8 rad/s: by the default method, and by the two that it is made of
// Every run ends or reports the reason, and keeps its constraints. `./test --long` takes all models.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

#define MODELS_DAMPED 372
#define MODELS_UNDAMPED 124
#define LINKS 7
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

// A body and the joint that it hangs on. 0: there is none.
typedef struct Link {
  int parent;  // -1: the ground
  const char *type, *axis, *at, *com;
  double q, stiffness, damping, lower, upper, limit_stiffness, mass;
} Link;

// Stiffness of 1e-2 to 1e10, damping of 1e-5 to 1e5, sometimes stops within reach.
static void choose_joint(Dice* d, Link* link) {
  if (uniform(d, 0, 1) < 0.7) link->stiffness = decades(d, -2, 10);
  if (uniform(d, 0, 1) < 0.7) link->damping = decades(d, -5, 5);
  if (uniform(d, 0, 1) >= 0.3) return;
  link->limit_stiffness = decades(d, 2, 8);
  link->upper = link->q + uniform(d, 0.01, 1);
  link->lower = link->q - uniform(d, 0.01, 1);
}

static int choose_tree(Dice* d, Link* link) {
  static const char* const axes[] = {"1 0 0", "0 1 0", "0 0 1", "0.6 0 0.8"};
  const int n = 2 + (int)uniform(d, 0, 6);
  for (int i = 0; i < n; i++) {
    link[i] = (Link){.parent = i > 0 ? (int)uniform(d, 0, i) : -1, .at = "0.1 0 -0.2", .com = "0.05 0 -0.1"};
    link[i].q = uniform(d, -0.3, 0.3);
    link[i].axis = axes[(int)uniform(d, 0, 4)];
    link[i].type = uniform(d, 0, 1) < 0.75 ? "revolute" : "prismatic";
    choose_joint(d, &link[i]);
    link[i].mass = decades(d, -6, 1);
  }
  return n;
}

// A parallelogram in the plane, closed at any angle of its crank: crank, coupler, rocker.
static int choose_loop(Dice* d, Link* link) {
  const double angle = uniform(d, -0.8, 0.8);
  link[0] = (Link){.parent = -1, .at = "0 0 0", .com = "0 0 -0.2", .q = angle};
  link[1] = (Link){.parent = 0, .at = "0 0 -0.4", .com = "0.5 0 0", .q = -angle};
  link[2] = (Link){.parent = -1, .at = "1 0 0", .com = "0 0 -0.2", .q = angle};
  for (int i = 0; i < 3; i++) {
    link[i].type = "revolute";
    link[i].axis = "0 1 0";
    choose_joint(d, &link[i]);
    link[i].mass = decades(d, -6, 1);
  }
  return 3;
}

// The damping that springs have: 0.001 (a bar of steel) to 1 of the critical one, for what hangs on them; in the loop this is all of it.
static void damp_springs(Dice* d, Link* link, int n, bool constrained) {
  double load[LINKS] = {0}, total = 0;
  for (int i = n - 1; i >= 0; i--) {
    load[i] += link[i].mass;
    total += link[i].mass;
    if (link[i].parent >= 0) load[link[i].parent] += load[i];
  }
  for (int i = 0; i < n; i++) {
    const double arm = strcmp(link[i].type, "prismatic") == 0 ? 1 : constrained ? 0.16 : 0.05;  // squared
    const double ratio = decades(d, -3, 0);
    if (link[i].stiffness > 0)
      link[i].damping = 2 * ratio * sqrt(link[i].stiffness * arm * (constrained ? total : load[i]));
  }
}

static void write_joint(const Link* link, int i, char* text, size_t size) {
  add(text, size, "<joint name='j%d' type='%s' axis='%s' at='%s' q='%.6g'", i, link->type, link->axis, link->at,
      link->q);
  if (link->stiffness > 0) add(text, size, " stiffness='%.6g' rest='%.6g'", link->stiffness, link->q);
  if (link->damping > 0) add(text, size, " damping='%.6g'", link->damping);
  if (link->limit_stiffness > 0)
    add(text, size, " limits='%.6g %.6g' limit-stiffness='%.6g'", link->lower, link->upper, link->limit_stiffness);
  add(text, size, "/><inertial mass='%.6g' com='%s' inertia='%.6g %.6g %.6g'/>", link->mass, link->com,
      0.01 * link->mass, 0.012 * link->mass, 0.008 * link->mass);
}

static void write_links(const Link* link, int n, bool constrained, char* text, size_t size) {
  for (int i = 0; i < n; i++) {
    add(text, size, "<body name='b%d'", i);
    if (link[i].parent >= 0) add(text, size, " parent='b%d'", link[i].parent);
    add(text, size, ">");
    write_joint(&link[i], i, text, size);
    if (constrained && i > 0) add(text, size, "<point name='pin' at='%s'/>", i == 1 ? "1 0 0" : "0 0 -0.4");
    add(text, size, "</body>");
  }
  if (constrained) add(text, size, "<closure name='pin' type='ball' normal='0 1 0' a='b1/pin' b='b2/pin'/>");
}

static bool is_looped(int i) { return i % 3 == 2; }

static int count_down(void* user) { return --*(long*)user < 0; }

// Evaluations for one second of motion; the limit where the run was stopped there or could not go on.
static long cost_of(const char* text, const char* method, bool constrained) {
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
  // A run that cannot go on reports the reason; none leaves its constraints silently.
  ENSURE(status == SR_OK || (status == SR_FAILED && x.result.error_message[0] != 0));
  if (constrained && status == SR_OK) ENSURE_SMALL(x.result.violation_position, 1e-6);
  const bool late = left < 0 || status != SR_OK;
  const long n = x.result.stats.evaluations;
  close_model(&x);
  return late || n > EVALUATIONS_MOST ? EVALUATIONS_MOST : n;
}

static void write_model(int i, bool damped, char* text, size_t size) {
  const bool constrained = is_looped(i);
  Dice dice = {.state = 12345 + 7919ull * (unsigned long long)i};
  Link link[LINKS];
  for (int k = 0; k < 8; k++) (void)uniform(&dice, 0, 1);
  const int n = constrained ? choose_loop(&dice, link) : choose_tree(&dice, link);
  if (damped) damp_springs(&dice, link, n, constrained);
  text[0] = 0;
  add(text, size, "<sarrus version='1' name='stress'>");
  write_links(link, n, constrained, text, size);
  add(text, size, "</sarrus>");
}

// 15 of 372 are 4 %: none of the first 24. The limit corresponds to 5 s of processor time, 500 000 evaluations or more.
TEST(fewer_than_15_of_372_random_stiff_models_are_late_by_the_default) {
  static char text[20000];
  const int models = runner_long() ? MODELS_DAMPED : 24;
  int late = 0;
  for (int i = 0; i < models; i++) {
    write_model(i, true, text, sizeof text);
    const long cost = cost_of(text, NULL, is_looped(i));
    late += cost == EVALUATIONS_MOST;
    if (getenv("SARRUS_TEST_VERBOSE")) printf("  model %d (%s): %ld\n", i, is_looped(i) ? "loop" : "tree", cost);
  }
  if (getenv("SARRUS_TEST_VERBOSE")) printf("  beyond the limit: %d of %d\n", late, models);
  ENSURE(MODELS_DAMPED * late < 15 * models);
}

// Undamped springs of 1e10 on masses of 1e-6 vibrate at 1e8 rad/s, and that costs what it costs. But where dopri5 or radau5 needs less than a third of the limit, the
// default method keeps within it.
TEST(random_models_of_all_stiffnesses_are_simulated_by_the_default_where_one_method_can) {
  static char text[20000];
  const int models = runner_long() ? MODELS_UNDAMPED : 12;
  int late = 0, both = 0;
  for (int i = 0; i < models; i++) {
    write_model(i, false, text, sizeof text);
    const long chosen = cost_of(text, NULL, is_looped(i)), explicit = cost_of(text, "dopri5", is_looped(i));
    const long implicit = cost_of(text, "radau5", is_looped(i)), best = explicit < implicit ? explicit : implicit;
    late += chosen == EVALUATIONS_MOST;
    both += best == EVALUATIONS_MOST;
    if (getenv("SARRUS_TEST_VERBOSE"))
      printf("  model %d (%s): auto %ld, dopri5 %ld, radau5 %ld\n", i, is_looped(i) ? "loop" : "tree", chosen, explicit,
             implicit);
    ENSURE(chosen < EVALUATIONS_MOST || 3 * best >= EVALUATIONS_MOST);
  }
  if (getenv("SARRUS_TEST_VERBOSE")) printf("  beyond the limit: auto %d, both others %d, of %d\n", late, both, models);
}
