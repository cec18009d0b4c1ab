// Tests of the method auto and of its stiffness test, on textbook systems without bodies: when it switches, that it comes back, what it hands over,
// failures, restarts.
#include <float.h>
#include <math.h>
#include <sarrus/integrate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "constrained.h"
#include "integrate/dopri5.h"
#include "runner.h"

// ---- systems ----------------------------------------------------------------------------------------------------------

// One degree of freedom that is pulled to cos t by a spring and a damper; w' = v. Exact from the start (1, 0): q = cos t, v = -sin t, w = cos t - 1.
//   v' = -K(t) (q - cos t) - C(t) (v + sin t) - cos t
typedef struct Pull {
  double K, C;  // stiff, up to t_soft; 1 and 2 afterwards
  double t_soft;
  double t_refused;  // `dynamics` refuses later times
  bool still;        // pulled to 0 instead
  bool no_tangent;   // the tangent is 0: Newton's iteration has little to go by
} Pull;

static Pull pull(double K, double C) { return (Pull){.K = K, .C = C, .t_soft = HUGE_VAL, .t_refused = HUGE_VAL}; }
static double stiffness_at(const Pull* p, double t) { return t < p->t_soft ? p->K : 1.0; }
static double damping_at(const Pull* p, double t) { return t < p->t_soft ? p->C : 2.0; }

static double pull_force(const Pull* p, double t, double q, double v) {
  if (p->still) return -p->K * q - p->C * v;
  return -stiffness_at(p, t) * (q - cos(t)) - damping_at(p, t) * (v + sin(t)) - cos(t);
}

static int pull_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)y, (void)tau, (void)ydot;
  qdot[0] = v[0];
  vdot[0] = pull_force(user, t, q[0], v[0]);
  wdot[0] = v[0];
  return 0;
}

static int pull_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  const Pull* p = user;
  (void)y, (void)tau, (void)ydot, (void)D;
  if (t > p->t_refused) return 1;
  M[0] = 1.0;
  f[0] = pull_force(p, t, q[0], v[0]);
  return 0;
}

static int pull_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                        const double* a, const double* lambda, srTangent* out) {
  const Pull* p = user;
  (void)q, (void)v, (void)y, (void)tau, (void)a, (void)lambda;
  out->Kq[0] = p->no_tangent ? 0.0 : stiffness_at(p, t);
  out->Kv[0] = p->no_tangent ? 0.0 : damping_at(p, t);
  return 0;
}

static int pull_power(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
                      double* wdot) {
  (void)user, (void)t, (void)q, (void)y, (void)lambda;
  wdot[0] = v[0];
  return 0;
}

static srSystem pull_system(Pull* p) {
  return (srSystem){.nq = 1,
                    .nv = 1,
                    .nw = 1,
                    .user = p,
                    .rates = pull_rates,
                    .dynamics = pull_dynamics,
                    .tangent = pull_tangent,
                    .power = pull_power};
}

static double pull_error(const srIntegrator* x) {
  const double t = sri_time(x);
  return fmax(fabs(sri_q(x)[0] - cos(t)), fmax(fabs(sri_v(x)[0] + sin(t)), fabs(sri_w(x)[0] - (cos(t) - 1.0))));
}

// Van der Pol's oscillator as in the test set for IVP solvers: y1' = y2, eps y2' = (1 - y1^2) y2 - y1, over (y).
static const double vdp_eps = 1e-6;

static int vdp_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                     double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)q, (void)v, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = y[1];
  ydot[1] = ((1.0 - y[0] * y[0]) * y[1] - y[0]) / vdp_eps;
  return 0;
}

static int vdp_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                        double* f, double* ydot, double* D) {
  (void)M, (void)f, (void)D;
  return vdp_rates(user, t, q, v, y, tau, NULL, NULL, ydot, NULL);
}

static int vdp_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       const double* a, const double* lambda, srTangent* out) {
  (void)user, (void)t, (void)q, (void)v, (void)tau, (void)a, (void)lambda;
  memset(out->Kq, 0, 4 * sizeof(double));
  out->Kv[0] = 0.0;
  out->Kv[1] = -1.0;
  out->Kv[2] = (2.0 * y[0] * y[1] + 1.0) / vdp_eps;
  out->Kv[3] = -(1.0 - y[0] * y[0]) / vdp_eps;
  return 0;
}

// ---- helpers ----------------------------------------------------------------------------------------------------------

static srIntegratorOptions tolerances(double rtol) {
  srIntegratorOptions o = sri_default_options();
  o.rtol = rtol;
  o.atol = 1e-3 * rtol;
  return o;
}

static srIntegrator* begin(const char* method, const srSystem* s, srIntegratorOptions o, const double* x) {
  srIntegrator* integrator = NULL;
  ENSURE(sri_create(method, s, &o, NULL, &integrator) == SR_OK);
  ENSURE(sri_start(integrator, 0.0, x, x + s->nq, x + s->nq + s->nv) == SR_OK);
  return integrator;
}

static const double pull_start[2] = {1.0, 0.0};

static void go(srIntegrator* x, double t_end) {
  while (sri_time(x) < t_end) ENSURE(sri_step(x, t_end) == SR_OK);
}

static long evaluations_of(const char* method, Pull p, double rtol, double t_end) {
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin(method, &s, tolerances(rtol), pull_start);
  go(x, t_end);
  const long n = sri_stats(x)->evaluations;
  if (verbose()) {
    printf("  %s K = %g, C = %g, rtol %g: %ld evaluations, %ld steps, %ld switches, error %.1e\n", method, p.K, p.C,
           rtol, n, sri_stats(x)->steps, sri_stats(x)->switches, pull_error(x));
  }
  sri_destroy(x);
  return n;
}

static bool is_text(const char* a, const char* b) { return strcmp(a, b) == 0; }

// ---- the stiffness test -----------------------------------------------------------------------------------------------

TEST(a_motion_that_is_not_stiff_stays_explicit_and_costs_what_dopri5_costs) {
  const double rtol[] = {1e-3, 1e-6, 1e-9};
  for (int i = 0; i < 3; ++i) {
    ENSURE_EQUAL(evaluations_of("auto", pull(1, 0.1), rtol[i], 50),
                 evaluations_of("dopri5", pull(1, 0.1), rtol[i], 50));
  }
}

// Real eigenvalues, light damping, no damping at all: each bounds the steps of dopri5 at another place.
TEST(a_fast_mode_at_rest_makes_it_implicit_at_little_more_than_the_cost_of_radau5) {
  const double rtol[] = {1e-3, 1e-6, 1e-9};
  const Pull cases[] = {pull(1e4, 1e4), pull(1e8, 2e2), pull(1e8, 2e4), pull(1e10, 1e3), pull(1e6, 1e8)};
  for (int c = 0; c < SR_COUNT(cases); ++c) {
    // Forces of K = 1e10 are known to K eps = 1e-6: Newton's iteration sees rounding of 4 eps/h in v, and a tolerance of 1e-12 there.
    for (int i = 0; i < 3; ++i) {
      const long radau5 = evaluations_of("radau5", cases[c], rtol[i], 10);
      ENSURE(evaluations_of("auto", cases[c], rtol[i], 10) < 2 * radau5 + 400);
    }
  }
}

// Positions are rounded to eps, which a stiff force in a step of h answers with velocities of 4 eps/h: more than Newton's iteration aims at, and no reason for more
// iterations or shorter steps. A step of a linear system takes two iterations of three stages, three evaluations for the quadratures and one at its start.
TEST(rounding_of_stiff_forces_costs_radau5_no_iterations) {
  Pull cases[] = {pull(1e6, 2e3), pull(1e8, 2e4), pull(1e10, 1e3), pull(1e12, 1e5)};
  for (int c = 0; c < SR_COUNT(cases); ++c) {
    const srSystem s = pull_system(&cases[c]);
    srIntegrator* x = begin("radau5", &s, tolerances(1e-9), pull_start);
    go(x, 10);
    const srIntegratorStats* stats = sri_stats(x);
    ENSURE(stats->evaluations <= 11 * stats->steps);
    ENSURE(stats->rejected <= stats->steps / 50);
    ENSURE_SMALL(pull_error(x), 1e-7);
    sri_destroy(x);
  }
}

TEST(an_oscillation_that_is_part_of_the_motion_is_not_stiff) {
  Pull p = pull(1e8, 0);
  const double x0[2] = {1.5, 0.0};  // 0.5 cos(1e4 t) on top
  const double rtol[] = {1e-3, 1e-6, 1e-9};
  for (int i = 0; i < 3; ++i) {
    const srSystem s = pull_system(&p);
    srIntegrator* x = begin("auto", &s, tolerances(rtol[i]), x0);
    go(x, 0.1);
    ENSURE_EQUAL(sri_stats(x)->switches, 0);
    ENSURE_NEAR(sri_q(x)[0], cos(0.1) + 0.5 * cos(1e3), 2e3 * rtol[i]);
    sri_destroy(x);
  }
}

TEST(the_error_constant_of_the_stiffness_test_is_that_of_the_pair) {
  // An exact fifth power has the error C h^5 120 in a step h: a window of steps of one length reports it with W for h.
  double sum = 0.0;
  for (int j = 0; j < 7; ++j) sum += sri_dopri5_error[j] * pow(j < 6 ? sri_dopri5_tableau.c[j] : 1.0, 4) / 24.0;
  double room[SRI_WINDOW], x = 0.0;
  srStiffness s = {0};
  srIntegrator fake = {.x = &x, .ncontrol = 1, .n = 1, .options = {.atol = 1e-3}};
  sri_stiffness_init(&s, 1, room);
  sri_stiffness_start(&fake, &s);
  for (int i = 1; i < SRI_WINDOW; ++i) {
    fake.t_before = fake.t;
    fake.t = i + 0.3 * sin(i);  // steps differ
    x = pow(fake.t, 5);
    fake.stats.evaluations += 7;
    sri_stiffness_step(&fake, &s, i % 2 == 0 ? 0.5 : 0.4);
  }
  const double W = fake.t, err = 120.0 * fabs(sum) * pow(W, 5) / 1e-3;
  ENSURE(s.last.known);
  ENSURE_NEAR(s.last.err / err, 1.0, 1e-3);
  ENSURE_NEAR(s.last.factor, pow(err, -0.2) * 19.0, 1e-3 * s.last.factor);
  ENSURE_NEAR(s.last.share, 9.0 / 19.0, 1e-15);
  ENSURE_NEAR(s.last.h, W / 19.0, 1e-12);
  ENSURE_NEAR(s.last.cost, 7.0 * 19.0 / W, 1e-12);
}

// A window of states x(t_i) with so many steps near the bound.
static void window(srIntegrator* fake, srStiffness* s, double amplitude, int near_bound) {
  for (int i = 1; i < SRI_WINDOW; ++i) {
    fake->t_before = fake->t;
    fake->t += 1.0;
    fake->x[0] = amplitude * pow(fake->t, 5);
    sri_stiffness_step(fake, s, i <= near_bound ? 1.0 : 0.0);
  }
}

// amplitude for a factor: err = (19/factor)^5 = 120 C W^5 amplitude / atol with W = 19.
static double amplitude_of(double factor) { return pow(factor, -5) / (120.0 * 1.096e-5); }

TEST(two_stiff_windows_in_a_row_are_due_or_one_without_doubt) {
  struct {
    double factor;
    int near_bound;  // of 19 steps
    int windows;     // after which it is due; 0: never
  } cases[] = {{6.9, 19, 0}, {7.1, 19, 2}, {7.1, 2, 2}, {7.1, 1, 0}, {39, 1, 0}, {39, 2, 2}, {41, 0, 1}};
  for (int c = 0; c < SR_COUNT(cases); ++c) {
    for (int patience = 1; patience <= 3; patience += 2) {
      double room[SRI_WINDOW], x = 0.0;
      srStiffness s = {0};
      srIntegrator fake = {.x = &x, .ncontrol = 1, .n = 1, .options = {.atol = 1.0}};
      sri_stiffness_init(&s, 1, room);
      sri_stiffness_start(&fake, &s);
      int due = 0;
      for (int k = 1; k <= 6 && due == 0; ++k) {
        window(&fake, &s, amplitude_of(cases[c].factor), cases[c].near_bound);
        if (sri_stiffness_due(&s, patience)) due = k;
      }
      ENSURE_EQUAL(due, patience * cases[c].windows);
      // A window that is not stiff begins the count anew.
      window(&fake, &s, amplitude_of(1), 19);
      ENSURE(!sri_stiffness_due(&s, 1));
    }
  }
}

// Steps of h = 1 beyond the bound of stability, which is 3.3 at most: the next ones will be of 3.3/r.
TEST(two_steps_beyond_all_stability_are_due_before_the_window_is_full) {
  for (int patience = 1; patience <= 3; patience += 2) {
    double room[SRI_WINDOW], x = 0.0;
    srStiffness s = {0};
    srIntegrator fake = {.x = &x, .ncontrol = 1, .n = 1, .h = 1.0, .options = {.atol = 1.0}};
    sri_stiffness_init(&s, 1, room);
    sri_stiffness_start(&fake, &s);
    const double bounds[] = {4.9, 4.9, 5.1, 4.9, 5.1, 6.6, 5.1, 5.1, 5.1, 5.1};
    int due = 0;
    for (int i = 0; i < SR_COUNT(bounds) && due == 0; ++i) {
      fake.t_before = fake.t++;
      sri_stiffness_step(&fake, &s, bounds[i]);
      if (sri_stiffness_due(&s, patience)) due = i + 1;
    }
    ENSURE_EQUAL(due, patience == 1 ? 6 : 10);
    ENSURE(s.last.known);
    ENSURE_NEAR(s.last.h, 3.3 / bounds[due - 1], 1e-15);
    ENSURE_NEAR(s.last.h * s.last.factor, 1.0, 1e-15);  // accuracy has allowed h = 1
    sri_stiffness_clear(&s);
    ENSURE(!sri_stiffness_due(&s, patience));
  }
}

// At rest but for rounding, steps grow by 10 until it awakes, far beyond the bound: a few of them tell, not two windows of 19.
TEST(a_mode_at_rest_is_noticed_before_it_awakes) {
  for (double C = 100; C < 2e4; C *= 10) {
    Pull p = pull(C, C);
    p.still = true;
    const srSystem s = pull_system(&p);
    const double x0[2] = {0.0, 1e-16};
    srIntegrator* x = begin("auto", &s, tolerances(1e-6), x0);
    go(x, 1e3 / C);
    int n;
    (void)sri_switches(x, &n);
    if (verbose()) printf("  C = %g: %ld evaluations\n", C, sri_stats(x)->evaluations);
    ENSURE_EQUAL(n, 1);
    ENSURE(sri_stats(x)->evaluations < 100);
    ENSURE_SMALL(sri_q(x)[0], 1e-8);
    sri_destroy(x);
  }
}

TEST(the_tolerance_and_the_largest_step_are_part_of_the_stiffness_test) {
  double room[SRI_WINDOW], x = 0.0;
  srStiffness s = {0};
  srIntegrator fake = {.x = &x, .ncontrol = 1, .n = 1, .options = {.atol = 1.0, .step_max = 2.0}};
  sri_stiffness_init(&s, 1, room);
  sri_stiffness_start(&fake, &s);
  window(&fake, &s, amplitude_of(30), 19);
  ENSURE_NEAR(s.last.factor, 2.0, 1e-12);  // longer steps are not asked for
}

// ---- the state machine ------------------------------------------------------------------------------------------------

TEST(it_comes_back_when_the_stiffness_goes) {
  Pull p = pull(1e8, 2e3);
  p.t_soft = 5;
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  go(x, 60);
  int n;
  const srSwitch* list = sri_switches(x, &n);
  ENSURE_EQUAL(n, 2);
  ENSURE(is_text(list[0].from, "dopri5") && is_text(list[0].to, "radau5") && list[0].t < 0.1);
  ENSURE(is_text(list[1].from, "radau5") && is_text(list[1].to, "dopri5"));
  ENSURE(list[1].t > 5 && list[1].t < 20);
  ENSURE(strstr(list[0].reason, "stiff") != NULL && strstr(list[1].reason, "not stiff any more") != NULL);
  ENSURE_SMALL(pull_error(x), 1e-5);
  sri_destroy(x);
}

TEST(van_der_pol_ends_where_the_test_set_has_it) {
  const srSystem s = {.ny = 2, .rates = vdp_rates, .dynamics = vdp_dynamics, .tangent = vdp_tangent};
  const double x0[2] = {2.0, 0.0};
  srIntegrator* x = begin("auto", &s, tolerances(1e-8), x0);
  go(x, 2.0);
  if (verbose()) {
    printf("  van der pol: %ld steps, %ld evaluations, %ld switches\n", sri_stats(x)->steps, sri_stats(x)->evaluations,
           sri_stats(x)->switches);
  }
  // Mazzia, Magherini, test set for initial value problem solvers, release 2.4, vdpol
  ENSURE_NEAR(sri_y(x)[0], 1.706167732170483, 1e-6);
  ENSURE_NEAR(sri_y(x)[1], -0.8928097010247975, 1e-6);
  ENSURE(sri_stats(x)->switches >= 1 && sri_stats(x)->evaluations < 20000);
  sri_destroy(x);
}

// Steps that the explicit partner has taken between a failed trial and the next one.
TEST(a_trial_that_does_not_pay_makes_the_next_one_wait_three_times_as_long) {
  Pull p = pull(1e8, 2e4);
  p.no_tangent = true;
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  long waited[4] = {0}, seen = 0, since = 0;
  for (int k = 0; seen < 8 && k < 20000; ++k) {
    ENSURE(sri_step(x, HUGE_VAL) == SR_OK);
    const long now = sri_stats(x)->switches;
    if (now > seen && now % 2 == 1) waited[now / 2] = sri_stats(x)->steps - since;
    if (now > seen && now % 2 == 0) since = sri_stats(x)->steps;
    seen = now;
  }
  if (verbose()) printf("  waits %ld %ld %ld %ld steps\n", waited[0], waited[1], waited[2], waited[3]);
  ENSURE(waited[0] <= 60);
  for (int i = 1; i < 4; ++i) ENSURE(waited[i] > 2 * waited[i - 1] && waited[i] < 4 * waited[i - 1] + 20);
  int n;
  const srSwitch* list = sri_switches(x, &n);
  ENSURE(strstr(list[1].reason, "not cheaper") != NULL);
  ENSURE_SMALL(pull_error(x), 1e-4);
  sri_destroy(x);
}

TEST(the_fast_mode_that_explicit_steps_leave_behind_does_not_spoil_the_trial) {
  const long radau5 = evaluations_of("radau5", pull(1e8, 10), 1e-3, 10);
  ENSURE(evaluations_of("auto", pull(1e8, 10), 1e-3, 10) < 2 * radau5 + 400);
}

TEST(without_a_tangent_or_with_steps_of_one_length_it_stays_explicit) {
  Pull p = pull(1e6, 1e3);
  for (int c = 0; c < 4; ++c) {
    srSystem s = pull_system(&p);
    srIntegratorOptions o = tolerances(1e-6);
    if (c == 0) s.tangent = NULL;
    if (c == 1) s.dynamics = NULL;
    if (c == 2) o.control = SR_CONTROL_FIXED, o.step = 1e-4;
    if (c == 3) s.tangent = NULL, o.tangent = SR_TANGENT_DIFFERENCE;  // leave to take differences
    srIntegrator* x = begin("auto", &s, o, pull_start);
    go(x, 1.0);
    ENSURE((sri_stats(x)->switches > 0) == (c == 3));
    ENSURE_SMALL(pull_error(x), 1e-4);
    sri_destroy(x);
  }
}

// ---- what is handed over ----------------------------------------------------------------------------------------------

TEST(state_quadratures_and_dense_output_go_on_across_the_switch) {
  Pull p = pull(1e8, 2e3);
  p.t_soft = 2;
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-7), pull_start);
  while (sri_time(x) < 20) {
    ENSURE(sri_step(x, 20) == SR_OK);
    ENSURE_SMALL(pull_error(x), 1e-5);
    for (int k = 0; k <= 4; ++k) {
      const double t = sri_time_before(x) + 0.25 * k * (sri_time(x) - sri_time_before(x));
      double q, v, w;
      ENSURE(sri_interpolate(x, t, &q, &v, NULL, &w) == SR_OK);
      ENSURE_NEAR(q, cos(t), 1e-4);
      ENSURE_NEAR(w, cos(t) - 1, 1e-4);
    }
  }
  ENSURE_EQUAL(sri_stats(x)->switches, 2);
  sri_destroy(x);
}

TEST(auto_ends_exactly_on_every_limit) {
  Pull p = pull(1e6, 1e3);
  p.t_soft = 2;
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  for (int k = 1; k <= 40; ++k) {
    go(x, 0.37 * k);
    ENSURE(sri_time(x) == 0.37 * k);
  }
  ENSURE_SMALL(pull_error(x), 1e-5);
  sri_destroy(x);
}

// Events restart the method inside its last step; that is no reason to forget that the motion is stiff.
TEST(restarts_inside_the_last_step_keep_the_method_and_a_switch_that_is_due) {
  Pull p = pull(1e8, 2e3);
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  double w = 0.0, q, v, part;
  // An event in every step as long as it is explicit, then one more.
  for (int k = 0; k < 100 && sri_stats(x)->switches == 0; ++k) {
    ENSURE(sri_step(x, 1) == SR_OK);
    const double t = sri_time_before(x) + 0.9 * (sri_time(x) - sri_time_before(x));
    ENSURE(sri_interpolate(x, t, &q, &v, NULL, &part) == SR_OK);
    w += part;
    ENSURE(sri_start(x, t, &q, &v, NULL) == SR_OK);
  }
  go(x, 1);
  ENSURE_EQUAL(sri_stats(x)->switches, 1);
  ENSURE(sri_stats(x)->evaluations < 2000);
  ENSURE_NEAR(sri_q(x)[0], cos(1), 1e-5);
  ENSURE_NEAR(w + sri_w(x)[0], cos(1) - 1, 1e-5);
  sri_destroy(x);
}

TEST(a_start_at_another_time_begins_explicit_and_repeats_the_run_bit_by_bit) {
  Pull p = pull(1e8, 2e3);
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  double state[2][3];
  long steps[2];
  for (int run = 0; run < 2; ++run) {
    const long before = sri_stats(x)->steps;
    ENSURE(sri_start(x, 0, pull_start, pull_start + 1, NULL) == SR_OK);
    go(x, 3);
    state[run][0] = sri_q(x)[0], state[run][1] = sri_v(x)[0], state[run][2] = sri_w(x)[0];
    steps[run] = sri_stats(x)->steps - before;
  }
  ENSURE_EQUAL(steps[0], steps[1]);
  ENSURE(memcmp(state[0], state[1], sizeof state[0]) == 0);
  ENSURE_EQUAL(sri_stats(x)->switches, 2);
  sri_destroy(x);
}

// ---- failures ---------------------------------------------------------------------------------------------------------

TEST(where_the_explicit_method_fails_the_implicit_one_goes_on_from_the_last_good_state) {
  Pull p = pull(1e6, 1e8);
  const srSystem s = pull_system(&p);
  srIntegratorOptions o = tolerances(1e-6);
  o.step_min = 1e-6;  // too long for the rate 1e8 of the damper
  srIntegrator* x = begin("dopri5", &s, o, pull_start);
  srStatus status = SR_OK;
  while (status == SR_OK && sri_time(x) < 1) status = sri_step(x, 1);
  ENSURE(status == SR_FAILED);
  sri_destroy(x);
  x = begin("auto", &s, o, pull_start);
  go(x, 1);
  int n;
  const srSwitch* list = sri_switches(x, &n);
  ENSURE_EQUAL(n, 1);
  ENSURE(strstr(list[0].reason, "tolerance") != NULL || strstr(list[0].reason, "no step succeeds") != NULL);
  ENSURE_NEAR(sri_q(x)[0], cos(1), 1e-5);
  sri_destroy(x);
}

TEST(where_the_implicit_method_fails_the_explicit_one_goes_on_from_the_last_good_state) {
  Pull p = pull(1e8, 2e3);
  p.t_refused = 1;
  p.t_soft = 1;
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  go(x, 3);
  int n;
  const srSwitch* list = sri_switches(x, &n);
  ENSURE(n >= 2);
  ENSURE(is_text(list[1].to, "dopri5") && fabs(list[1].t - 1) < 1e-3);
  ENSURE_SMALL(pull_error(x), 1e-5);
  sri_destroy(x);
}

static int stopping_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* qdot, double* vdot, double* ydot, double* wdot) {
  return t > 1 ? -1 : pull_rates(user, t, q, v, y, tau, qdot, vdot, ydot, wdot);
}

static int stopping_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                             double* M, double* f, double* ydot, double* D) {
  return t > 1 ? -1 : pull_dynamics(user, t, q, v, y, tau, M, f, ydot, D);
}

TEST(where_both_fail_the_run_ends_with_a_sentence_and_the_last_good_state) {
  Pull p = pull(1, 2);
  srSystem s = pull_system(&p);
  s.rates = stopping_rates;
  s.dynamics = stopping_dynamics;
  srIntegrator* x = begin("auto", &s, tolerances(1e-6), pull_start);
  srStatus status = SR_OK;
  while (status == SR_OK) status = sri_step(x, 2);
  ENSURE(status == SR_FAILED);
  ENSURE(strstr(sri_error_message(x), "the system asked to stop") != NULL);
  ENSURE(sri_time(x) <= 1 && sri_time(x) > 0.3);
  ENSURE_EQUAL(sri_stats(x)->switches, 0);
  ENSURE_SMALL(pull_error(x), 1e-5);
  sri_destroy(x);
}

// ---- constraints ------------------------------------------------------------------------------------------------------

// The pendulum in the plane, with a state that follows q_1 at a rate of 1e6.
static int lag_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                        double* f, double* ydot, double* D) {
  ydot[0] = -1e6 * (y[0] - q[0]);
  return pendulum_dynamics(user, t, q, v, y, tau, M, f, ydot, D);
}

static int lag_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       const double* a, const double* lambda, srTangent* out) {
  const Pendulum* p = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)a;
  memset(out->Kq, 0, 9 * sizeof(double));
  memset(out->Kv, 0, 9 * sizeof(double));
  for (int k = 0; k < p->copies; ++k) {  // -d(G^T lambda)/dq
    out->Kq[0] -= (k == 0 ? 1 : 1.7 + k) * lambda[k];
    out->Kq[4] -= (k == 0 ? 1 : 1.7 + k) * lambda[k];
  }
  out->Kq[6] = -1e6;
  out->Kv[8] = 1e6;
  return 0;
}

TEST(with_constraints_the_equations_in_use_are_handed_over_and_rounding_is_kept) {
  Pendulum p = one_row;
  p.copies = 3;  // two of them redundant
  const srSystem s = {.nq = 2,
                      .nv = 2,
                      .ny = 1,
                      .ng = 3,
                      .np = 3,
                      .user = &p,
                      .dynamics = lag_dynamics,
                      .constraint = pendulum_constraint,
                      .gamma = pendulum_gamma,
                      .tangent = lag_tangent};
  const double x0[5] = {1, 0, 0, 0, 1};
  srIntegrator* x = begin("auto", &s, tolerances(1e-8), x0);
  go(x, 2);
  int n;
  const srSwitch* list = sri_switches(x, &n);
  ENSURE_EQUAL(n, 1);
  ENSURE(is_text(list[0].from, "mdop5") && is_text(list[0].to, "radau5"));
  const double *q = sri_q(x), *v = sri_v(x);
  ENSURE_NEAR(0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1], 0, 1e-6);
  ENSURE_SMALL(q[0] * q[0] + q[1] * q[1] - 1, 1e-13);
  ENSURE_NEAR(sri_y(x)[0], q[0] - v[0] / 1e6, 1e-7);
  ENSURE_EQUAL(sri_stats(x)->rank, 1);
  ENSURE_EQUAL(sri_stats(x)->redundant, 2);
  int events;
  (void)sri_rank_events(x, &events);
  ENSURE(events <= 1);  // chosen once, at the start
  sri_destroy(x);
}

// ---- memory -----------------------------------------------------------------------------------------------------------

typedef struct Count {
  long calls, live;
} Count;

static void* counting(void* user, void* pointer, size_t old_size, size_t new_size) {
  Count* count = user;
  (void)old_size;
  ++count->calls;
  if (new_size == 0) {
    count->live -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  count->live += pointer == NULL;
  return realloc(pointer, new_size);
}

TEST(switching_and_restarting_allocate_nothing) {
  Count count = {0};
  Pull p = pull(1e8, 2e3);
  p.t_soft = 2;
  const srSystem s = pull_system(&p);
  const srIntegratorOptions o = tolerances(1e-6);
  srIntegrator* x = NULL;
  sr_set_allocator(counting, &count);
  bool good = sri_create("auto", &s, &o, NULL, &x) == SR_OK;
  const long before = count.calls;
  for (int run = 0; run < 2 && good; ++run) {
    good = sri_start(x, 0, pull_start, pull_start + 1, NULL) == SR_OK;
    while (good && sri_time(x) < 15) good = sri_step(x, 15) == SR_OK;
  }
  good = good && count.calls == before && sri_stats(x)->switches == 4;
  sri_destroy(x);
  sr_set_allocator(NULL, NULL);
  ENSURE(good);
  ENSURE_EQUAL(count.live, 0);
}

// ---- explicit methods by name -----------------------------------------------------------------------------------------

TEST(dopri5_knows_that_it_crawls_and_since_when) {
  Pull p = pull(1e8, 2e3);
  const srSystem s = pull_system(&p);
  srIntegrator* x = begin("dopri5", &s, tolerances(1e-6), pull_start);
  double since = -1, factor = 0;
  ENSURE(!sri_crawls(x, &since, &factor) && since == -1);
  go(x, 1);
  ENSURE(sri_crawls(x, &since, &factor));
  ENSURE(since > 0 && since < 0.02 && factor > 40);
  sri_destroy(x);
  Pull calm = pull(1, 0.1);
  const srSystem easy = pull_system(&calm);
  x = begin("dopri5", &easy, tolerances(1e-9), pull_start);
  go(x, 1000);
  ENSURE(sri_stats(x)->steps > 2000 && !sri_crawls(x, &since, &factor));
  sri_destroy(x);
}
