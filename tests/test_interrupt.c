// Requests to stop (srData.stop): taken at the next evaluation by every method, by the assembly and by the survey, with the last
// good state kept. Nothing here looks at a clock: what is counted is how often the request is asked for.
#include <math.h>
#include <sarrus/recommend.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "integrate/crossing.h"
#include "loading.h"
#include "runner.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// How often it may be asked after it was given: methods look at the answers of two or three evaluations together.
#define MOST_LATE 4
#define T_END 0.25  // s

typedef struct Request {
  long asked, at;  // given at this call; 0: never
} Request;

static int is_given(void* user) {
  Request* r = user;
  return ++r->asked >= r->at && r->at > 0;
}

static srRunResult run_until(const Loaded* l, const char* method, Request* request, srStatus* status) {
  srRunOptions o = sr_run_options(l->m);
  srRunResult result;
  o.method = method;
  o.t_end = T_END;
  o.step = 1e-3;
  o.rtol = 1e-6;
  o.atol = 1e-9;
  sr_data_reset(l->m, l->d);
  l->d->stop = is_given;
  l->d->stop_user = request;
  *status = sr_run(l->m, l->d, &o, NULL, &result);
  ENSURE(l->d->stop == is_given && l->d->stop_user == request);
  return result;
}

static double largest_gap(const Loaded* l) {
  double most = 0;
  sr_kinematics(l->m, l->d);
  ENSURE_EQUAL(sr_constraints(l->m, l->d), 0);
  for (int i = 0; i < l->m->np; ++i) most = fmax(most, fabs(l->d->g[i]));
  return most;
}

// Stopped at every evaluation of the first few steps, and at some later ones.
static void check_method(const Loaded* l, const srMethod* method) {
  srStatus status;
  Request whole = {0};
  const srRunResult all = run_until(l, method->name, &whole, &status);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE(all.t == T_END);
  for (long at = 1; at < whole.asked; at += at < (runner_sanitized() ? 20 : 60) ? 1 : whole.asked / 7) {
    Request r = {.at = at};
    const srRunResult x = run_until(l, method->name, &r, &status);
    if (status != SR_OK || r.asked > at + MOST_LATE) {
      printf("  %s on %s, request %ld of %ld: asked %ld times, status %d, %s\n", method->name, l->m->name, at,
             whole.asked, r.asked, (int)status, x.error_message);
    }
    ENSURE_EQUAL(status, SR_OK);
    ENSURE(r.asked <= at + MOST_LATE);
    ENSURE(strstr(x.error_message, "stopped at t = ") != NULL);
    ENSURE(x.t < T_END && l->d->t == x.t && x.stats.steps <= all.stats.steps);
    // The state of an accepted step, not of a stage or of half an iteration.
    if (!method->drifts) ENSURE_SMALL(largest_gap(l), 1e-5);
    if (method->order > 1) ENSURE_SMALL(x.energy.residual, 1e-3 * fmax(all.energy.scale, 1));
  }
}

// The same model with free bodies and a loop closure for every joint.
static Loaded open_absolute(const char* file) {
  char path[512];
  srSpec* spec = NULL;
  Loaded joints = open_model(file, ""), bodies = {0};
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_assemble(joints.m, joints.d, NULL, NULL), SR_OK);
  ENSURE_EQUAL(sr_formulate(spec, joints.m, joints.d, SR_FORMULATION_ABSOLUTE, NULL, &bodies.m, &bodies.d), SR_OK);
  srs_destroy(spec);
  close_model(&joints);
  return bodies;
}

static void check_all_methods(Loaded l) {
  for (int i = 0; i < sri_method_count(); ++i) {
    if (!sri_method(i)->absent) check_method(&l, sri_method(i));
  }
  close_model(&l);
}

TEST(every_method_stops_within_a_step_of_a_tree) { check_all_methods(open_model("double-pendulum", "")); }

TEST(every_method_stops_within_a_step_of_a_loop) { check_all_methods(open_model("mechanisms/four-bar", "")); }

TEST(every_method_stops_within_a_step_of_free_bodies) { check_all_methods(open_absolute("mechanisms/four-bar")); }

// ---- assembly ---------------------------------------------------------------------------------------------------------

// A four-bar linkage that starts far from closed.
static const char* const open_loop =
    "<sarrus version='1'><body name='crank'><joint type='revolute' q='0.9'/><inertial mass='1' com='0.1 0 0'/></body>"
    "<body name='coupler' parent='crank'><joint type='revolute' at='0.2 0 0' q='1.5'/>"
    "<inertial mass='1' com='0.3 0 0'/><point name='pin' at='0.6 0 0'/></body>"
    "<body name='rocker'><joint type='revolute' at='0.7 0 0' q='-0.4'/><inertial mass='1' com='0.2 0 0'/>"
    "<point name='pin' at='0.5 0 0'/></body>"
    "<closure name='pin' type='ball' normal='0 0 1' a='coupler/pin' b='rocker/pin'/></sarrus>";

TEST(an_assembly_that_is_stopped_gives_back_the_state_it_had) {
  Loaded l = open_text(open_loop);
  Request whole = {0};
  l.d->stop = is_given;
  l.d->stop_user = &whole;
  ENSURE_EQUAL(sr_assemble(l.m, l.d, NULL, NULL), SR_OK);
  ENSURE(whole.asked > 20);  // in the conjugate gradients of each iteration too
  for (long at = 1; at <= whole.asked; ++at) {
    Request r = {.at = at};
    srMessages* messages = sr_messages_create();
    l.d->stop_user = &r;
    sr_data_reset(l.m, l.d);
    l.d->v[0] = 3;
    ENSURE_EQUAL(sr_assemble(l.m, l.d, messages, NULL), SR_FAILED);
    ENSURE_EQUAL(r.asked, at);
    for (int i = 0; i < l.m->nq; ++i) ENSURE(l.d->q[i] == l.m->q0[i]);
    ENSURE(l.d->v[0] == 3 && l.d->v[1] == 0);
    ENSURE_EQUAL(sr_messages_count(messages), 1);
    ENSURE(strstr(sr_messages_get(messages, 0)->text, "the assembly was stopped by the caller") != NULL);
    sr_messages_destroy(messages);
  }
  close_model(&l);
}

TEST(a_run_that_is_stopped_in_its_assembly_has_not_begun) {
  Loaded l = open_text(open_loop);
  srStatus status;
  Request r = {.at = 5};
  const srRunResult x = run_until(&l, "dopri5", &r, &status);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(r.asked, 5);
  ENSURE(x.t == 0 && x.stats.steps == 0 && l.d->q[0] == l.m->q0[0]);
  ENSURE_TEXT(x.error_message, "stopped at t = 0 by the caller, in the assembly");
  close_model(&l);
}

// ---- survey -----------------------------------------------------------------------------------------------------------

TEST(eigenvalues_and_surveys_stop_at_once) {
  Loaded l = open_model("mechanisms/four-bar", "");
  srEigenvalue value[8];
  int n = 0;
  Request r = {.at = 4};
  l.d->stop = is_given;
  l.d->stop_user = &r;
  ENSURE_EQUAL(sr_eigenvalues(l.m, l.d, 8, value, &n), SR_FAILED);
  ENSURE_EQUAL(r.asked, 4);
  // In the trial run of the first method, one of a run in the guide, and in between.
  for (long at = 3; at < 3000; at *= 5) {
    srRunOptions o = sr_run_options(l.m);
    srSurvey* survey = NULL;
    srMessages* messages = sr_messages_create();
    r = (Request){.at = at};
    ENSURE_EQUAL(sr_survey_create(l.m, l.d, &o, 1e3, messages, &survey), SR_FAILED);
    ENSURE(survey == NULL);
    ENSURE_TEXT(sr_messages_get(messages, 0)->text, "the survey was stopped by the caller");
    ENSURE(r.asked <= at + 40);  // every part of it asks on its own
    sr_messages_destroy(messages);
  }
  close_model(&l);
}

// ---- methods that get nowhere -----------------------------------------------------------------------------------------

// Whatever a crossing asks for: once it was refused, tries get shorter, and end where no step is possible.
TEST(a_step_that_is_refused_again_and_again_falls_to_nothing) {
  const double theta[] = {0.5, 0.35, 0.62}, ratio[] = {1e-3, 0.05, 0.3, 0.7, 1, 1.4, 3, 20};
  for (int i = 0; i < COUNT(theta) * COUNT(ratio) * COUNT(ratio); ++i) {
    const double h0 = 0.01, distance = h0 * ratio[i % COUNT(ratio)];
    const double rest = distance * ratio[i / COUNT(ratio) % COUNT(ratio)] * 1.1;
    srCrossing crossing;
    double h = h0;
    int tries = 0;
    sri_crossing_start(&crossing, theta[i / COUNT(ratio) / COUNT(ratio)]);
    sri_crossing_accepted(&crossing, 0.1, false, false, 1e-3 + 0.1);
    sri_crossing_accepted(&crossing, h0, false, false, 1e-3);
    crossing.rate = -1e-3 / distance;
    for (; h > 1e-15 && tries < 200; ++tries) {
      const srCrossingPlan plan = sri_crossing_plan(&crossing, h, rest, 1e6);
      ENSURE(plan.crossings || plan.h <= h);
      if (plan.crossings) {
        sri_crossing_refused(&crossing, plan.h, 100);
      } else {
        h = 0.5 * plan.h;
      }
    }
    ENSURE(tries < 100);
  }
}

// Rounding over sigma^2 is accepted where shorter crossings do not help, but no error of the size of the state: 1e6 tolerances at rtol 1e-6. Dominoes whose faces became
// parallel had 3e9 in a crossing of a microsecond, and events located in its dense output gained 700 J.
TEST(a_crossing_is_refused_where_its_error_is_as_large_as_the_state) {
  srCrossing crossing;
  sri_crossing_start(&crossing, 0.62);
  sri_crossing_accepted(&crossing, 0.1, false, false, 0.1);
  sri_crossing_accepted(&crossing, 0.1, false, false, 3.3e-6);
  crossing.rate = -9.2;
  crossing.measure = 0;  // the last refused one was no worse
  const srCrossingPlan plan = sri_crossing_plan(&crossing, 1e-6, 1, 1e6);
  ENSURE(plan.crossings && plan.h < 1e-6);
  ENSURE(sri_error_accepted(plan.err, 1e5) && sri_error_accepted(plan.err, 9e5));
  ENSURE(!sri_error_accepted(plan.err, 3e9));
  const srCrossingPlan coarse = sri_crossing_plan(&crossing, 1e-6, 1, 1e3);
  ENSURE(sri_error_accepted(coarse.err, 9e2) && !sri_error_accepted(coarse.err, 1.1e3));
}

// A short step ahead of a crossing that the end of the run would cut was tried with the same length for ever.
TEST(the_step_ahead_of_a_crossing_is_cut_where_its_error_is_too_large) {
  Loaded l = open_absolute("mechanisms/double-four-bar");
  srRunOptions o = sr_run_options(l.m);
  o.method = "genalpha-ggl";
  o.control = SR_CONTROL_POSITIONS;
  o.rtol = o.atol = 1e-4;
  Request r = {.at = 100000};
  l.d->stop = is_given;
  l.d->stop_user = &r;
  ENSURE_EQUAL(sr_run(l.m, l.d, &o, NULL, &l.result), SR_OK);
  ENSURE(l.result.t == o.t_end);
  ENSURE(l.result.stats.rejected < l.result.stats.steps);
  close_model(&l);
}

static int oscillates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  (void)user, (void)q, (void)v, (void)y, (void)tau, (void)qdot, (void)vdot, (void)wdot;
  ydot[0] = cos(1e12 * t);
  return 0;
}

static srIntegrator* create_oscillating(void) {
  const srSystem s = {.ny = 1, .rates = oscillates};
  srIntegrator* x = NULL;
  ENSURE_EQUAL(sri_create("dopri5", &s, &(srIntegratorOptions){.atol = 1e-17, .rho = 0.8}, NULL, &x), SR_OK);
  return x;
}

// Steps of a few picoseconds from the start on, and 10 s to go: short ones are all that it has ever seen.
TEST(steps_that_were_always_far_too_short_end_the_run) {
  srIntegrator* x = create_oscillating();
  const double y0 = 0;
  srStatus status = sri_start(x, 0, &y0, &y0, &y0);
  while (status == SR_OK && sri_stats(x)->steps < 200000) status = sri_step(x, 10);
  ENSURE_EQUAL(status, SR_FAILED);
  ENSURE_EQUAL(sri_stats(x)->steps, 50000);
  ENSURE(sri_time(x) > 0 && sri_time(x) < 1e-6);
  ENSURE(strstr(sri_error_message(x), "the steps of dopri5 have collapsed: the last 5000 of them went only") != NULL);
  ENSURE(strstr(sri_error_message(x), "take an implicit method (radau5)") != NULL);
  sri_destroy(x);
}

// Events that start the motion anew every few steps do not hide it.
TEST(restarts_do_not_hide_that_steps_get_nowhere) {
  srIntegrator* x = create_oscillating();
  double y0 = 0;
  srStatus status = sri_start(x, 0, &y0, &y0, &y0);
  while (status == SR_OK && sri_stats(x)->steps < 200000) {
    status = sri_step(x, 10);
    y0 = sri_y(x)[0];
    if (sri_stats(x)->steps % 7 == 0 && status == SR_OK) status = sri_start(x, sri_time(x), &y0, &y0, &y0);
  }
  ENSURE_EQUAL(status, SR_FAILED);
  ENSURE_EQUAL(sri_stats(x)->steps, 50000);
  // A new start before that place is another motion.
  ENSURE_EQUAL(sri_start(x, 0, &y0, &y0, &y0), SR_OK);
  ENSURE_EQUAL(sri_step(x, 1e-9), SR_OK);
  sri_destroy(x);
}
