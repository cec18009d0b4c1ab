// Recommending: eigenvalues against closed forms, steps by accuracy, surveys of models, the choice.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "math/eigen.h"
#include "random_tree.h"

static const double pi = 3.14159265358979323846;

// ---- eigenvalues of matrices --------------------------------------------------------------------------------------------

// Distance of the nearest of n eigenvalues from (re, im).
static double nearest(int n, const double* re, const double* im, double x, double y) {
  double best = HUGE_VAL;
  for (int i = 0; i < n; ++i) best = fmin(best, hypot(re[i] - x, im[i] - y));
  return best;
}

TEST(recommend_eigenvalues_of_circulant_matrices) {
  enum { MOST = 40 };
  static double A[MOST * MOST];
  double c[MOST], re[MOST], im[MOST];
  Random r = {7};
  for (int n = 1; n <= MOST; ++n) {
    for (int i = 0; i < n; ++i) c[i] = random_in(&r, -1, 1);
    for (int i = 0; i < n * n; ++i) A[i] = c[(i % n - i / n + n) % n];
    ENSURE(srm_eigenvalues(n, A, re, im));
    for (int k = 0; k < n; ++k) {  // sum_j c_j exp(2 pi i j k / n)
      double x = 0, y = 0;
      for (int j = 0; j < n; ++j) {
        x += c[j] * cos(2 * pi * j * k / n);
        y += c[j] * sin(2 * pi * j * k / n);
      }
      ENSURE_SMALL(nearest(n, re, im, x, y), 1e-13 * n);
    }
  }
}

TEST(recommend_eigenvalues_keep_the_traces_of_powers) {
  enum { N = 60 };
  static double A[N * N], B[N * N];
  double re[N], im[N];
  Random r = {11};
  for (int i = 0; i < N * N; ++i) A[i] = B[i] = random_in(&r, -1, 1) * pow(10, random_in(&r, -4, 4));
  double trace = 0, square = 0, size = 0;
  for (int i = 0; i < N; ++i) {
    trace += A[i * N + i];
    for (int j = 0; j < N; ++j) square += A[i * N + j] * A[j * N + i];
  }
  ENSURE(srm_eigenvalues(N, B, re, im));
  for (int i = 0; i < N; ++i) {
    trace -= re[i];
    square -= re[i] * re[i] - im[i] * im[i];
    size = fmax(size, hypot(re[i], im[i]));
  }
  ENSURE_SMALL(trace / size, 1e-12);
  ENSURE_SMALL(square / (size * size), 1e-12);
}

TEST(recommend_eigenvalues_of_a_badly_scaled_and_a_defective_matrix) {
  // Spring and damper, k = 1e12, d = 2e6 (1 + 1e-3): real ones, near each other.
  double A[4] = {0, 1, -1e12, -2.002e6}, re[3], im[3];
  ENSURE(srm_eigenvalues(2, A, re, im));
  const double root = sqrt(1.001e6 * 1.001e6 - 1e12);
  ENSURE_SMALL(nearest(2, re, im, -1.001e6 - root, 0) / 1e6, 1e-12);
  ENSURE_SMALL(nearest(2, re, im, -1.001e6 + root, 0) / 1e6, 1e-12);
  double J[9] = {2, 1, 0, 0, 2, 1, 0, 0, 2};
  ENSURE(srm_eigenvalues(3, J, re, im));
  for (int i = 0; i < 3; ++i) ENSURE_SMALL(hypot(re[i] - 2, im[i]), 1e-4);
  double bad[4] = {0, 1, (double)NAN, 0};
  ENSURE(!srm_eigenvalues(2, bad, re, im));
}

// ---- eigenvalues of models ----------------------------------------------------------------------------------------------

#define MASS "<inertial mass='2' com='0 0 0' inertia='1 1 1'/>"

static int eigenvalues(Loaded* x, srEigenvalue* out, int room) {
  int n = 0;
  ENSURE_EQUAL(sr_eigenvalues(x->m, x->d, room, out, &n), SR_OK);
  return n;
}

static double distance(const srEigenvalue* list, int n, double re, double im) {
  double best = HUGE_VAL;
  for (int i = 0; i < n; ++i) best = fmin(best, hypot(list[i].re - re, list[i].im - im));
  return best;
}

TEST(recommend_eigenvalues_of_spring_and_damper_are_exact) {
  // m = 2: undamped, weakly, critically, strongly damped, stiff.
  const double cases[][2] = {{50, 0}, {50, 4}, {50, 20}, {50, 100}, {1e8, 1e5}, {1e8, 20}};
  for (int k = 0; k < 6; ++k) {
    char text[400];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' q='0.1' v='0.3' "
             "stiffness='%g' damping='%g'/>" MASS "</body></sarrus>",
             cases[k][0], cases[k][1]);
    Loaded x = open_text(text);
    srEigenvalue l[2];
    ENSURE_EQUAL(eigenvalues(&x, l, 2), 2);
    const double a = cases[k][1] / 4, w2 = cases[k][0] / 2, s = w2 - a * a, root = sqrt(fabs(s));
    const double good = k == 2 ? 1e-3 : 1e-6;  // a double root: half the digits
    for (int side = -1; side <= 1; side += 2) {
      const double re = s > 0 ? -a : -a + side * root, im = s > 0 ? side * root : 0;
      ENSURE_SMALL(distance(l, 2, re, im) / sqrt(w2), good);
    }
    ENSURE(hypot(l[0].re, l[0].im) >= hypot(l[1].re, l[1].im));
    close_model(&x);
  }
}

TEST(recommend_eigenvalues_of_a_motor_with_a_coil) {
  // m v' = k i, L i' = -R i - k v: 0 and the roots of s^2 + R/L s + k^2/(m L).
  Loaded x = open_text(
      "<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' v='0.3'/>" MASS
      "</body><state name='i' initial='0.7' rate='(-3*i - 4*v(x))/0.01'/><torque joint='x' law='4*i'/></sarrus>");
  srEigenvalue l[3];
  ENSURE_EQUAL(eigenvalues(&x, l, 3), 3);
  const double a = 150, root = sqrt(a * a - 16 / 0.02);
  ENSURE_SMALL(distance(l, 3, -a - root, 0) / a, 1e-6);
  ENSURE_SMALL(distance(l, 3, -a + root, 0), 1e-4);
  ENSURE_SMALL(distance(l, 3, 0, 0), 1e-4);
  close_model(&x);
}

TEST(recommend_eigenvalues_of_a_double_pendulum_at_rest) {
  // Two equal uniform rods: w^2 = (3 +- 6/sqrt 7) g / l.
  Loaded x = open_model("double-pendulum", "angle1=0 angle2=0");
  srEigenvalue l[4];
  ENSURE_EQUAL(eigenvalues(&x, l, 4), 4);
  for (int side = -1; side <= 1; side += 2) {
    const double w = sqrt((3 + side * 6 / sqrt(7.0)) * 9.81);
    ENSURE_SMALL(distance(l, 4, 0, w) / w, 1e-6);
    ENSURE_SMALL(distance(l, 4, 0, -w) / w, 1e-6);
  }
  close_model(&x);
}

TEST(recommend_eigenvalues_of_a_spinning_body) {
  // Symmetric, free of torque, about its axis: in body axes the rate precesses with (C - A)/A w, and neighbours in attitude,
  // seen from the body, turn with w.
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='b'><joint name='r' type='ball' v='0 0 5'/>"
      "<inertial mass='1' com='0 0 0' inertia='2 2 3'/></body></sarrus>");
  srEigenvalue l[6];
  ENSURE_EQUAL(eigenvalues(&x, l, 6), 6);
  ENSURE_SMALL(distance(l, 6, 0, 2.5), 1e-5);
  ENSURE_SMALL(distance(l, 6, 0, 5), 1e-5);
  ENSURE_NEAR(hypot(l[0].re, l[0].im), 5, 1e-5);
  close_model(&x);
}

TEST(recommend_constraints_add_zeros_to_the_eigenvalues) {
  // The same pendulum as a planar body that is held in a pin: one oscillation, four zeros.
  Loaded x = open_text(
      "<sarrus version='1'><body name='b'><joint name='p' type='planar' axis='0 1 0' q='0 0 0'/>"
      "<inertial mass='1' com='0 0 -1' inertia='0.2 0.2 0'/></body>"
      "<closure name='pin' type='ball' normal='0 1 0' a='b' b='ground'/></sarrus>");
  ENSURE(x.m->constrained);
  srEigenvalue l[6];
  ENSURE_EQUAL(eigenvalues(&x, l, 6), 6);
  const double w = sqrt(9.81 / 1.2);
  ENSURE_NEAR(fabs(l[0].im), w, 1e-6);
  ENSURE_SMALL(l[0].re, 1e-6);
  for (int i = 2; i < 6; ++i) ENSURE_SMALL(hypot(l[i].re, l[i].im), 2e-3);
  close_model(&x);
}

TEST(recommend_the_largest_eigenvalue_of_many_states_is_estimated_within_a_percent) {
  // 140 states: oscillators of their own, the largest once far from the others and once at the end of an even row.
  for (int stiff = 0; stiff < 2; ++stiff) {
    static char text[20000];
    int n = snprintf(text, sizeof text, "<sarrus version='1'>");
    for (int i = 1; i <= 70; ++i) {
      const double k = stiff && i == 33 ? 2e8 : 2.0 * i * i;
      n +=
          snprintf(text + n, sizeof text - (size_t)n,
                   "<body name='b%d'><joint name='x%d' type='prismatic' axis='1 0 0' stiffness='%g' damping='%g'/>" MASS
                   "</body>",
                   i, i, k, stiff && i == 33 ? 1e5 : 0.0);
    }
    snprintf(text + n, sizeof text - (size_t)n, "</sarrus>");
    Loaded x = open_text(text);
    srEigenvalue l[8];
    ENSURE_EQUAL(eigenvalues(&x, l, 8), 8);
    // m = 2: s^2 + 5e4 s + 1e8 = 0
    const double expected = stiff ? 2.5e4 + sqrt(2.5e4 * 2.5e4 - 1e8) : 70;
    ENSURE_NEAR(hypot(l[0].re, l[0].im) / expected, 1, 1e-2);
    close_model(&x);
  }
}

TEST(recommend_stability_bounds_of_dopri5) {
  ENSURE_NEAR(sr_stability_bound((srEigenvalue){-7, 0}), 3.306, 0.006);
  ENSURE_NEAR(sr_stability_bound((srEigenvalue){0, 7}), 1.0, 0.02);
  ENSURE(sr_stability_bound((srEigenvalue){-1, 1}) > 2);
  ENSURE(isinf(sr_stability_bound((srEigenvalue){1, 0})));
}

// ---- steps by accuracy --------------------------------------------------------------------------------------------------

TEST(recommend_the_step_estimate_of_a_sine_is_that_of_its_fifth_derivative) {
  Loaded x = open_model("pendulum", "");
  enum { N = 4001 };
  const double atol = 1e-7, w = 3, t_end = 20;
  srTrajectory* samples = sr_trajectory_create(x.m, N);
  for (int k = 0; k < N; ++k) {
    const double t = t_end * k / (N - 1), row[3] = {t, sin(w * t), cos(w * t)};
    memcpy(samples->sample + 3 * k, row, sizeof row);
  }
  samples->filled = N;
  // sum (b - bhat) c^4 / 4! of Dormand and Prince; root mean square of the sine and the cosine: 1/sqrt 2.
  const double sum = -71.0 / 16695 * pow(0.3, 4) + 71.0 / 1920 * pow(0.8, 4) - 17253.0 / 339200 * pow(8.0 / 9, 4) +
                     22.0 / 525 - 1.0 / 40;
  const double h = 0.9 * pow(atol * sqrt(2.0) * 24 / fabs(sum), 0.2) / w;
  srStepEstimate step_estimate;
  ENSURE_EQUAL(sr_step_estimate(samples, 0, atol, NULL, 0, &step_estimate), SR_OK);
  ENSURE_NEAR(step_estimate.h / h, 1, 0.15);  // steps are multiples of the samples
  ENSURE_NEAR(step_estimate.steps * h / t_end, 1, 0.15);
  ENSURE_NEAR(step_estimate.steps_explicit, step_estimate.steps, 1e-9 * step_estimate.steps);
  // A bound of stability in the second half.
  const double rate[2] = {0, 100 / h};
  ENSURE_EQUAL(sr_step_estimate(samples, 0, atol, rate, 2, &step_estimate), SR_OK);
  ENSURE_NEAR(step_estimate.steps_explicit / step_estimate.steps, 50.5, 8);
  samples->filled = 5;
  ENSURE_EQUAL(sr_step_estimate(samples, 0, atol, NULL, 0, &step_estimate), SR_INPUT);
  sr_trajectory_destroy(samples);
  close_model(&x);
}

// ---- surveys ------------------------------------------------------------------------------------------------------------

#define AMPLE 1000.0  // s of wall clock: what is examined here must not depend on how busy the machine is

static srSurvey* survey(Loaded* x, double t_end, double rtol, double seconds) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  srMessages* messages = sr_messages_create();
  srSurvey* s = NULL;
  const srStatus status = sr_survey_create(x->m, x->d, &options, seconds, messages, &s);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return s;
}

// k = 1e8 N/m and d = 2.5e4 Ns/m on m = 1 kg: -2e4 and -5e3 1/s. What moves is a separate pendulum.
static const char stiff_model[] =
    "<sarrus version='1'><body name='s'><joint name='x' type='prismatic' axis='1 0 0' q='1e-6' stiffness='1e8' "
    "damping='2.5e4'/><inertial mass='1' com='0 0 0' inertia='1 1 1'/></body>"
    "<body name='p'><joint name='th' type='revolute' axis='0 1 0' q='1'/><inertial mass='1' com='0 0 -1' inertia='0 0 "
    "0'/>"
    "</body></sarrus>";

TEST(recommend_a_stiff_spring_is_found_and_its_eigenvalue_measured) {
  Loaded x = open_text(stiff_model);
  srSurvey* s = survey(&x, 3, 1e-6, AMPLE);
  ENSURE(s->stiff);
  ENSURE_NEAR(s->largest.re / -2e4, 1, 1e-2);
  ENSURE_SMALL(s->largest.im, 1);
  ENSURE(s->ratio > 500);
  ENSURE(s->factor > 100);
  ENSURE(s->pilot != NULL && !sri_method_find(s->pilot)->implicit);
  ENSURE_NEAR(s->h_rate, 1, 0.25);  // its steps are at the bound of stability
  ENSURE(s->reference != NULL);
  sr_survey_destroy(s);
  close_model(&x);
}

TEST(recommend_a_fast_oscillation_that_moves_is_not_stiff) {
  // The same spring without damper and with an amplitude that counts: accuracy itself asks for the short steps.
  Loaded x = open_text(
      "<sarrus version='1'><body name='s'><joint name='x' type='prismatic' axis='1 0 0' q='0.01' stiffness='1e8'/>"
      "<inertial mass='1' com='0 0 0' inertia='1 1 1'/></body></sarrus>");
  srSurvey* s = survey(&x, 0.1, 1e-6, AMPLE);
  ENSURE_NEAR(hypot(s->largest.re, s->largest.im) / 1e4, 1, 1e-2);
  ENSURE_NEAR(fabs(s->largest.im) / 1e4, 1, 1e-2);
  ENSURE(!s->stiff);
  ENSURE(s->factor < 1.5);
  sr_survey_destroy(s);
  close_model(&x);
}

// A box that rests on springs of 1e6 N/m by its contact law, beside a pendulum of sqrt(g/l): rigid, it has no such eigenvalue.
TEST(recommend_laws_of_contacts_are_not_those_of_rigid_ones) {
  for (int rigid = 0; rigid < 2; ++rigid) {
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
        "<body name='s'><joint name='z' type='prismatic' axis='0 0 1' q='0.1 - 9.81e-6'/><inertial mass='1'/>"
        "<shape name='s' type='sphere' size='0.1'/></body><body name='p'><joint name='th' type='revolute' axis='0 1 0' "
        "q='0.1'/><inertial mass='1' com='0 0 -1' inertia='0 0 0'/></body>"
        "<contact a='floor' b='s' restitution='0.5' mu-k='0' normal='hunt-crossley' n='1' K='1e6'/></sarrus>");
    srRunOptions o = sr_run_options(x.m);
    o.contact = rigid ? SR_CONTACT_EVENT : SR_CONTACT_CONTINUOUS;
    o.t_end = 0.2;
    srSurvey* s = NULL;
    ENSURE_EQUAL(sr_survey_create(x.m, x.d, &o, AMPLE, NULL, &s), SR_OK);
    const double size = hypot(s->largest.re, s->largest.im);
    if (rigid) {
      ENSURE(size > 0.9 * sqrt(9.81) && size < 1.1 * sqrt(9.81));
    } else {
      ENSURE(size > 900);  // sqrt(K/m), or its damper
    }
    sr_survey_destroy(s);
    close_model(&x);
  }
}

TEST(recommend_a_pendulum_is_not_stiff) {
  Loaded x = open_model("pendulum", "");
  srSurvey* s = survey(&x, 10, 1e-6, 1);
  ENSURE(!s->stiff);
  ENSURE(hypot(s->largest.re, s->largest.im) < 3.2);
  ENSURE_NEAR(s->t, 10, 0);
  ENSURE_NEAR(s->t_window, 10, 1e-12);
  ENSURE_EQUAL(s->events, 0);
  ENSURE_EQUAL(s->ng, 0);
  ENSURE(s->pilot_reason[0] == 0 && s->guide_reason[0] == 0);
  // The steps that the pilot took are not far from those that smoothness asks for.
  ENSURE(s->step < 2 * s->step_estimate.h && s->step_estimate.h < 5 * s->step);
  sr_survey_destroy(s);
  close_model(&x);
}

TEST(recommend_redundant_constraints_are_counted) {
  const struct {
    const char* file;
    int redundant;
  } cases[] = {{"benchmark/bricard", 1}, {"mechanisms/sarrus-linkage", 1}, {"mechanisms/parallelogram", 1}};
  for (int k = 0; k < 3; ++k) {
    Loaded x = open_model(cases[k].file, "");
    srSurvey* s = survey(&x, 0.5, 1e-5, 1);
    ENSURE(s->nredundant >= cases[k].redundant);
    ENSURE_EQUAL(s->rank + s->nredundant, x.m->ng);
    ENSURE(!s->stiff);
    ENSURE(s->pilot != NULL && sri_method_find(s->pilot)->index > 0);
    sr_survey_destroy(s);
    close_model(&x);
  }
}

TEST(recommend_singular_positions_passed_are_counted_and_are_not_stiffness) {
  Loaded x = open_model("benchmark/n-four-bar", "");
  srSurvey* s = survey(&x, 5, 1e-6, AMPLE);
  ENSURE(s->singular >= 1);
  ENSURE(!s->stiff);
  ENSURE(s->factor < 2);
  sr_survey_destroy(s);
  close_model(&x);
}

TEST(recommend_events_are_counted_by_the_second) {
  // Heated by 3, cooled with rate 1: an event every ln 2.
  Loaded x = open_text(
      "<sarrus version='1'><body name='arm'><joint name='theta' type='revolute' axis='0 1 0' q='1'/>"
      "<inertial mass='1' com='0 0 -1' inertia='0 0 0'/></body>"
      "<state name='on' initial='1' rate='0'/><state name='T' initial='1' rate='3*on - T + 0*max(v(theta), 0)'/>"
      "<state name='s' initial='0' rate='abs(v(theta))'/>"
      "<event name='hot' when='T - 2' direction='rising' do='on = 0'/>"
      "<event name='cold' when='T - 1' direction='falling' do='on = 1'/></sarrus>");
  srSurvey* s = survey(&x, 100, 1e-6, AMPLE);
  ENSURE_EQUAL(s->events, 144);  // more than the list of a run holds
  ENSURE_NEAR(s->events_per_second, 1.44, 1e-9);
  ENSURE(s->steps_per_event < 30);
  ENSURE_EQUAL(s->ny_user, 3);
  ENSURE_EQUAL(s->nonsmooth, 1);  // what is multiplied by 0 does not count
  sr_survey_destroy(s);
  close_model(&x);
}

TEST(recommend_the_window_ends_before_an_event_that_stops_the_run_and_before_a_failure) {
  const struct {
    const char* element;
    bool fails;
  } cases[] = {{"<event name='there' when='q(x) - 2' stop='yes'/>", false},  // q' >= 1: before t = 1
               {"", true}};                                                  // has a pole
  for (int k = 0; k < 2; ++k) {
    char text[600];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' q='1' v='1'/>" MASS
             "</body><torque joint='x' law='12*q(x)^2'/>%s</sarrus>",
             cases[k].element);
    Loaded x = open_text(text);
    srSurvey* s = survey(&x, 20, 1e-6, AMPLE);
    ENSURE(s->pilot != NULL && s->guide != NULL && s->reference != NULL);
    ENSURE(s->t < 2 && s->t_window < s->t && s->t_window > 0.9 * s->t);
    ENSURE((s->pilot_reason[0] != 0) == cases[k].fails);
    ENSURE_EQUAL(s->events, cases[k].fails ? 0 : 1);
    ENSURE_EQUAL(s->reference->filled, s->reference->n);
    sr_survey_destroy(s);
    close_model(&x);
  }
}

TEST(recommend_a_model_that_cannot_be_evaluated_reports_the_reason) {
  Loaded x = open_text("<sarrus version='1'><body name='b'><joint name='x' type='prismatic' axis='1 0 0' q='-1'/>" MASS
                       "</body><torque joint='x' law='log(q(x))'/></sarrus>");
  srSurvey* s = survey(&x, 1, 1e-6, 1);
  ENSURE(s->reference == NULL && s->guide == NULL);
  ENSURE(strlen(s->pilot_reason) > 10);
  srAdvice a;
  sr_advise(x.m, s, NULL, 0, 1e-6, &a);
  ENSURE_EQUAL(a.trial, -1);
  ENSURE(a.nreason >= 1);
  sr_survey_destroy(s);
  close_model(&x);
}

// ---- advice -------------------------------------------------------------------------------------------------------------

static int index_of(const char* name) {
  for (int i = 0; i < sri_method_count(); ++i) {
    if (strcmp(sri_method(i)->name, name) == 0) return i;
  }
  ENSURE(false);
  return -1;
}

static srMethodTrial trial(const char* method, double seconds, double error) {
  const bool adaptive = sri_method_find(method)->adaptive;
  return (srMethodTrial){.method = index_of(method),
                         .rtol = adaptive ? 1e-6 : (double)NAN,
                         .atol = adaptive ? 1e-8 : (double)NAN,
                         .step = adaptive ? (double)NAN : 1e-3,
                         .done = true,
                         .seconds = seconds,
                         .steps = 100,
                         .error = error};
}

static const char* chosen(const srMethodTrial* trials, const srAdvice* a) {
  ENSURE(a->trial >= 0);
  return sri_method(trials[a->trial].method)->name;
}

static srSurvey made_up(srTrajectory* reference) {
  return (srSurvey){.step_estimate = {.steps = 10, .h = 0.1, .steps_explicit = 10},
                    .factor = 1,
                    .steps_per_event = (double)INFINITY,
                    .reference = reference,
                    .t_window = 1};
}

TEST(recommend_the_cheapest_accurate_method_with_step_control_is_chosen) {
  Loaded x = open_model("pendulum", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  srAdvice a;
  // euler is cheapest, but wrong; rk4 is cheaper than dopri5, but has no step control.
  srMethodTrial trials[] = {trial("euler", 1e-5, 1e-2), trial("rk4", 2e-4, 1e-7), trial("dopri5", 3e-4, 1e-6),
                            trial("hem5", 1e-3, 1e-6)};
  sr_advise(x.m, &s, trials, 4, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "dopri5");
  ENSURE(a.accurate);
  ENSURE(a.nreason >= 3);
  ENSURE(a.alternative >= 0 && trials[a.alternative].method != trials[a.trial].method);
  // dopri5 has failed, hem5 is not accurate: a fixed step is what is left.
  trials[2].done = false;
  trials[3].error = 1e-3;
  sr_advise(x.m, &s, trials, 4, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "rk4");
  // Nothing is accurate: the nearest, with a warning. Never euler.
  trials[1].error = 0.5;
  sr_advise(x.m, &s, trials, 4, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "hem5");
  ENSURE(!a.accurate);
  trials[1].done = trials[3].done = false;
  sr_advise(x.m, &s, trials, 4, 1e-6, &a);
  ENSURE_EQUAL(a.trial, -1);
  sr_trajectory_destroy(reference);
  close_model(&x);
}

TEST(recommend_costs_that_are_alike_do_not_decide) {
  Loaded x = open_model("pendulum", "");
  srSurvey s = made_up(NULL);
  srAdvice a;
  const srMethodTrial trials[] = {trial("mdop5", 1.0e-3, 1e-7), trial("dopri5", 1.2e-3, 1e-7)};
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "dopri5");  // a tree has no constraints to check
  close_model(&x);
}

// The slider-crank with a bushing at 1e-4, as measured: cheap and wrong does not win, whatever the clock adds to either.
TEST(recommend_accuracy_that_is_missing_is_paid_for) {
  Loaded x = open_model("pendulum", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  srAdvice a;
  s.stiff = true;
  for (double noise = 0.7; noise < 1.4; noise *= 1.1) {
    // 9 tolerances of order 2 are worth 3 times the work.
    const srMethodTrial trials[] = {trial("genalpha-index3", 1e-3 * noise, 9e-6), trial("radau5", 1.9e-3, 1e-7)};
    sr_advise(x.m, &s, trials, 2, 1e-6, &a);
    ENSURE_TEXT(chosen(trials, &a), "radau5");
    ENSURE(a.accurate);
    // The other one took less time: the reason against it is given.
    ENSURE(strstr(a.alternative_reason, "it took less time in this trial, but its error is") != NULL);
    bool told = false;
    for (int i = 0; i < a.nreason; ++i) told = told || strstr(a.reason[i], "s, but its error is") != NULL;
    ENSURE(told);
  }
  // Beyond ten tolerances it is no choice at all.
  const srMethodTrial wrong[] = {trial("genalpha-index3", 1e-5, 11e-6), trial("radau5", 1.9e-3, 1e-7)};
  sr_advise(x.m, &s, wrong, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(wrong, &a), "radau5");
  ENSURE_EQUAL(a.alternative, -1);
  // More accuracy than is wanted is not paid back.
  const srMethodTrial fine[] = {trial("genalpha-index3", 1e-3, 9e-7), trial("radau5", 1.9e-3, 1e-12)};
  sr_advise(x.m, &s, fine, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(fine, &a), "genalpha-index3");
  sr_trajectory_destroy(reference);
  close_model(&x);
}

// Four methods that do about the same work, under clocks that err by a third to either side: always the same answer.
TEST(recommend_the_choice_does_not_follow_the_noise_of_clocks) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  Random r = {3};
  for (int k = 0; k < 500; ++k) {
    srMethodTrial trials[] = {trial("phem56", 1.1e-3, 1e-7), trial("mdop5", 1.0e-3, 2e-7), trial("hem5", 3.2e-3, 1e-8),
                              trial("radau5", 4e-3, 1e-7)};
    const long evaluations[] = {2500, 2600, 9000, 4000};
    for (int i = 0; i < 4; ++i) {
      trials[i].seconds *= random_in(&r, 0.67, 1.5);
      trials[i].evaluations = evaluations[i];
    }
    srAdvice a;
    sr_advise(x.m, &s, trials, 4, 1e-6, &a);
    ENSURE_TEXT(chosen(trials, &a), "mdop5");
    // A neighbour that took less time is listed with a reason.
    for (int i = 0; i < a.nreason; ++i) {
      const char* next = strstr(a.reason[i], "; next ");
      if (next == NULL || trials[0].seconds >= trials[1].seconds) continue;
      ENSURE(strncmp(next, "; next phem56", 13) == 0 && strstr(next, "s, but ") != NULL);
    }
  }
  sr_trajectory_destroy(reference);
  close_model(&x);
}

TEST(recommend_of_equal_costs_the_method_that_keeps_velocity_constraints_is_taken) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  s.stiff = true;
  srAdvice a;
  srMethodTrial trials[] = {trial("genalpha-index3", 1e-3, 1e-7), trial("genalpha-ggl", 1.3e-3, 1e-7)};
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "genalpha-index3");
  trials[0].violation[1] = 1e-5;
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "genalpha-ggl");
  trials[1].seconds = 1.6e-3;  // but not at any price
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "genalpha-index3");
  sr_trajectory_destroy(reference);
  close_model(&x);
}

TEST(recommend_loops_want_a_method_that_keeps_them) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  srAdvice a;
  srMethodTrial trials[] = {trial("euler", 1e-6, 1e-9), trial("dopri5", 1e-4, 1e-7), trial("hem5", 2e-3, 1e-7)};
  sr_advise(x.m, &s, trials, 3, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "hem5");
  trials[2].violation[0] = 1e-2;  // but not one that loses them
  sr_advise(x.m, &s, trials, 3, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "dopri5");
  sr_trajectory_destroy(reference);
  close_model(&x);
}

TEST(recommend_stiffness_wants_an_implicit_method_that_pays) {
  const char* implicit = NULL;
  for (int i = 0; i < sri_method_count(); ++i) {
    if (sri_method(i)->implicit && sri_method(i)->adaptive && !implicit) implicit = sri_method(i)->name;
  }
  if (!implicit) SKIP("needs an implicit method with step control");
  Loaded x = open_model("pendulum", "");
  srTrajectory* reference = sr_trajectory_create(x.m, 2);
  srSurvey s = made_up(reference);
  srAdvice a;
  srMethodTrial trials[] = {trial("dopri5", 1.0, 1e-7), trial(implicit, 1.5, 1e-6)};
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "dopri5");
  s.stiff = true;
  s.factor = 100;
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), implicit);
  trials[1].seconds = 3;  // measured: it does not pay
  sr_advise(x.m, &s, trials, 2, 1e-6, &a);
  ENSURE_TEXT(chosen(trials, &a), "dopri5");
  sr_trajectory_destroy(reference);
  close_model(&x);
}
