// What Haddouni et al. (2017) describe of their slider-crank (section 3.4, Figures 4 and 5), and a stiff variant of it.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"

static void run(Loaded* x, const char* method, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.rtol = options.atol = rtol;
  options.stabilization = SR_STABILIZATION_NONE;  // nothing is projected, as in the paper
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("%s: %s\n", method, x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

typedef struct Violation {
  double g, gv;
} Violation;

static Violation violation(const char* method, double rtol) {
  Loaded x = open_model("paper2/slider-crank", "");
  run(&x, method, rtol);
  const Violation v = {x.result.violation_position, x.result.violation_velocity};
  close_model(&x);
  return v;
}

static const double rounding = 1e-12;  // speeds of 30 rad/s, angles of 30 rad

TEST(paper2_violations_of_the_slider_crank_are_those_of_its_figure_4) {
  for (double rtol = 1e-3; rtol > 1e-8; rtol *= 1e-2) {
    const Violation index3 = violation("genalpha-index3", rtol), index2 = violation("genalpha-index2", rtol);
    const Violation ggl = violation("genalpha-ggl", rtol), hem5 = violation("hem5", rtol);
    const Violation phem56 = violation("phem56", rtol), dopri5 = violation("dopri5", rtol);
    ENSURE_SMALL(index3.g, rounding);
    ENSURE(index3.gv > 1e4 * rounding);  // poor
    ENSURE_SMALL(index2.gv, rounding);
    ENSURE(index2.g > 1e4 * rounding);
    ENSURE_SMALL(ggl.g, rounding);
    ENSURE_SMALL(ggl.gv, rounding);
    ENSURE_SMALL(hem5.gv, rounding);
    ENSURE_SMALL(phem56.gv, rounding);
    ENSURE(hem5.g < rtol);  // "very acceptable levels for all the values of tolerances"
    ENSURE(dopri5.g > 100 * hem5.g && dopri5.gv > 1e3 * hem5.gv);
  }
}

TEST(paper2_violations_that_are_not_rounding_fall_with_the_tolerance) {
  ENSURE(violation("genalpha-index3", 1e-7).gv < 0.05 * violation("genalpha-index3", 1e-4).gv);
  ENSURE(violation("genalpha-index2", 1e-7).g < 0.05 * violation("genalpha-index2", 1e-4).g);
  ENSURE(violation("dopri5", 1e-7).g < 1e-2 * violation("dopri5", 1e-4).g);
}

// ---- one norm ---------------------------------------------------------------------------------------------------------

static srIntegratorStats by_positions(const char* method) {
  Loaded x = open_model("paper2/slider-crank", "");
  srRunOptions o = sr_run_options(x.m);
  o.method = method;
  o.t_end = 2;
  o.control = SR_CONTROL_POSITIONS;
  o.rtol = o.atol = 1e-4;
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
  close_model(&x);
  return x.result.stats;
}

// Measured by positions as the generalized-alpha methods are, hem5 takes 252 steps (with velocities in its norm: 550), and is cheaper
// than they are, as the paper finds. The count is that of another implementation of this norm.
TEST(paper2_finds_hem5_cheaper_than_generalized_alpha_in_the_same_norm) {
  const srIntegratorStats hem5 = by_positions("hem5"), ggl = by_positions("genalpha-ggl");
  ENSURE(labs(hem5.steps - 252) <= 5);
  ENSURE(hem5.steps < ggl.steps);
  ENSURE(hem5.evaluations < ggl.evaluations);
}

// ---- a stiff bushing --------------------------------------------------------------------------------------------------

static double mean_step(const char* method) {
  Loaded x = open_model("paper2/slider-crank-bushing", "");
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  options.t_end = 1;
  const srStatus status = sr_run(x.m, x.d, &options, NULL, &x.result);
  if (status != SR_OK) printf("%s: %s\n", method, x.result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  const double step = x.result.t / (double)x.result.stats.steps;
  close_model(&x);
  return step;
}

TEST(paper2_implicit_methods_take_steps_a_hundred_times_longer_on_a_stiff_bushing) {
  double longest = 0;  // of the explicit ones
  int wrong = 0;
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!method->implicit && !method->switches && method->adaptive) longest = fmax(longest, mean_step(method->name));
  }
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!method->implicit) continue;
    const double step = mean_step(method->name);
    if (step >= 100 * longest) continue;
    printf("%s: steps of %.3g s, explicit ones of %.3g s: %.0f times\n", method->name, step, longest, step / longest);
    wrong++;
  }
  ENSURE_EQUAL(wrong, 0);
}
