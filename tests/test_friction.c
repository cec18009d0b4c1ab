// Friction in joints: simulations II and III of Kikuuwe and Yamamoto, rest under a pulsating load, stick-slip, hysteresis, the energy balance.
#include <math.h>
#include <stdlib.h>

#include "loading.h"

// ---- a run and one column of it -----------------------------------------------------------------------------------------

#define ROWS 40000
typedef struct Track {
  const srModel* m;
  int n, nq, nv;
  double t[ROWS], q[ROWS][2], v[ROWS][2];
} Track;

static int keep(void* user, const double* row) {
  Track* x = user;
  if (x->n == ROWS) return 1;
  x->t[x->n] = row[0];
  for (int i = 0; i < 2 && i < x->m->njq; i++) x->q[x->n][i] = row[1 + i];
  for (int i = 0; i < 2 && i < x->m->njv; i++) x->v[x->n][i] = row[1 + x->m->njq + i];
  x->n++;
  return 0;
}

// Runs from the start with a part of the file's tolerances; the track is the caller's (NULL: none).
static void run_with(Loaded* x, const char* method, double part, double t_end, double every, Track* track) {
  srRunOptions options = sr_run_options(x->m);
  if (method) options.method = method;
  options.t_end = t_end;
  options.rtol *= part;
  options.atol *= part;
  options.every = every;
  if (track) {
    track->m = x->m;
    track->n = 0;
    options.row = keep;
    options.user = track;
  }
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

static void run(Loaded* x, const char* method, double t_end, double every, Track* track) {
  run_with(x, method, 1, t_end, every, track);
}

static Track* new_track(void) {
  Track* x = calloc(1, sizeof *x);
  ENSURE(x != NULL);
  return x;
}

static const double period = 3.14159265358979323846 / 50;  // of the load, sin(100 t)

// Mean speed of coordinate i from t on, at equal phase.
static double creep(const Track* x, int i, double t) {
  int first = 0;
  while (x->t[first] < t) first++;
  const int last = x->n - 2;  // the last row is the end of the run
  ENSURE(last - first > 10);
  ENSURE_NEAR(x->t[last] - x->t[first], (last - first) * period, 1e-9);
  return (x->q[last][i] - x->q[first][i]) / (x->t[last] - x->t[first]);
}

// ---- simulation II --------------------------------------------------------------------------------------------------------

static void rests(const char* method, long most_steps) {
  Track* track = new_track();
  Loaded x = open_model("paper3/two-link", "");
  ENSURE_TEXT(x.m->y_name[0], "friction0.e");
  run(&x, method, 10, period, track);
  for (int k = 0; k < track->n; k++) {
    for (int i = 0; i < 2; i++) {
      if (track->t[k] > 3 && track->t[k] < 4) ENSURE(fabs(track->v[k][i]) > 0.05);
      if (track->t[k] > 4.5)
        ENSURE(fabs(track->v[k][i]) < 0.02);  // bristles alone: 0.144/5000 rad at 100 rad/s is 3e-3
    }
  }
  for (int i = 0; i < 2; i++) ENSURE_SMALL(creep(track, i, 5), 1e-6);
  ENSURE(x.result.stats.steps < most_steps);
  ENSURE(x.result.energy.work[SR_ACCOUNT_FRICTION] < -1);
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-5);
  close_model(&x);
  free(track);
}

TEST(simulation_II_comes_to_rest_and_stays_with_rk4) { rests("rk4", 100002); }  // its grid restarts at 1.73 s and 4 s
TEST(simulation_II_comes_to_rest_and_stays_with_dopri5_in_few_steps) { rests("dopri5", 20000); }
TEST(simulation_II_comes_to_rest_and_stays_with_generalized_alpha) { rests("genalpha-index3", 100001); }
TEST(simulation_II_comes_to_rest_and_stays_with_radau5) { rests("radau5", 20000); }

TEST(simulation_II_creeps_with_lugre) {
  Track* track = new_track();
  Loaded x = open_model("paper3/two-link", "law=1");
  run(&x, "rk4", 10, period, track);
  for (int i = 0; i < 2; i++) {
    const double rate = creep(track, i, 5);
    ENSURE(rate > 3e-3 && rate < 12e-3);
  }
  close_model(&x);
  free(track);
}

// The model of a file in another formulation.
static Loaded open_formulated(const char* file, srFormulation formulation) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  srSpec* spec = NULL;
  srModel* m = NULL;
  Loaded x = {0};
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &m), SR_OK);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_formulate(spec, m, d, formulation, NULL, &x.m, &x.d), SR_OK);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  return x;
}

TEST(simulation_III_agrees_with_II) {
  Track *two = new_track(), *three = new_track();
  const double t_end = runner_long() ? 10 : 5.5;
  Loaded x = open_model("paper3/two-link", ""), y = open_formulated("paper3/two-link", SR_FORMULATION_PENALTY);
  run(&x, "rk4", t_end, period, two);
  run(&y, "rk4", t_end, period, three);
  ENSURE_EQUAL(two->n, three->n);
  for (int k = 0; k < two->n; k++) {
    for (int i = 0; i < 2; i++) ENSURE_NEAR(two->q[k][i], three->q[k][i], 1e-4);
  }
  for (int i = 0; i < 2; i++) ENSURE_SMALL(creep(three, i, 4.7), 1e-6);
  ENSURE_SMALL(y.result.energy.residual / y.result.energy.work[SR_ACCOUNT_FRICTION], 1e-5);
  close_model(&x);
  close_model(&y);
  free(two), free(three);
}

TEST(friction_acts_on_the_joint_coordinate_of_free_bodies_too) {
  Loaded x = open_model("paper3/two-link", ""), y = open_formulated("paper3/two-link", SR_FORMULATION_ABSOLUTE);
  run_with(&x, "dopri5", 0.1, 2, 0.1, NULL);
  run_with(&y, "dopri5", 0.1, 2, 0.1, NULL);
  for (int i = 0; i < 2; i++) {
    ENSURE_NEAR(x.d->jq[i], y.d->jq[i], 1e-6);
    ENSURE_NEAR(x.d->y[i], y.d->y[i], 1e-9);
  }
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_FRICTION], y.result.energy.work[SR_ACCOUNT_FRICTION], 1e-6);
  close_model(&x);
  close_model(&y);
}

// rk4 hands its stage lengths to the bristles (Kikuuwe and Yamamoto, eq 22), other methods the element's own tau: with a tau of many steps the
// other methods see stiffer sticking. While all sticks the force is K e + (B + tau K) v.
TEST(rk4_hands_stage_lengths_to_friction_and_others_its_own_tau) {
  const char* text =
      "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='a' type='prismatic' "
      "v='0.01'/><inertial mass='1'/>"
      "</body><friction joint='a' F='1000' K='100' B='0' tau='%s'/></sarrus>";
  double left[2][2];
  for (int k = 0; k < 4; k++) {
    char model[600];
    snprintf(model, sizeof model, text, k % 2 ? "0.5" : "1e-6");
    Loaded x = open_text(model);
    srRunOptions options = sr_run_options(x.m);
    options.method = k < 2 ? "rk4" : "dopri5";
    options.step = 1e-3;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    left[k / 2][k % 2] = x.result.energy.kinetic + x.result.energy.potential;
    close_model(&x);
  }
  ENSURE_NEAR(left[0][0], left[0][1], 0);                 // rk4 does not use it
  ENSURE(left[1][0] > 0.99 * 5e-5 && left[1][1] < 1e-6);  // undamped, and damped by tau K = 50
}

// ---- stick-slip -----------------------------------------------------------------------------------------------------------

// Times between events, after the first stick: slip and stick in turn.
static void durations(const char* settings, double rtol, double atol, double* slip, double* stick) {
  Loaded x = open_model("contact/belt", settings);
  srRunOptions options = sr_run_options(x.m);
  options.rtol = rtol;
  options.atol = atol;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE(x.result.nevent >= 5);
  const srRunEvent* e = x.result.event;
  for (int k = 0; k < 5; k++) ENSURE_TEXT(e[k].a, k % 2 ? "sticks" : "slips");
  *slip = e[3].t - e[2].t;
  *stick = e[4].t - e[3].t;
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-6);
  close_model(&x);
}

TEST(stick_slip_on_a_belt_has_the_durations_of_the_closed_form) {
  const double m = 1, k = 100, V = 0.1, drop = 2, pi = 3.14159265358979323846;
  const double slip = 2 * (pi - atan(drop / (V * sqrt(k * m)))) * sqrt(m / k), stick = 2 * drop / (k * V);
  double a, b;
  durations("stiff=10", 1e-9, 1e-12, &a, &b);
  ENSURE_SMALL(a / slip - 1, 1e-3);
  ENSURE_SMALL(b / stick - 1, 1e-3);
  // The limit of rigid bristles. At stiff = 800 they give way after Fs/K = 8e-13 m, 14 000 times the rounding of the position; 6400 would leave 200, and the
  // last bits would decide. A change of rtol by 0.3 % moves the durations by up to 5e-8 here, which Aitken's extrapolation multiplies by at most (1 - r)^-2 = 5, r = 0.54
  // the ratio of its differences.
  double slips[3], sticks[3];
  for (int i = 0; i < 3; i++) {
    char settings[32];
    snprintf(settings, sizeof settings, "stiff=%d", 200 << i);
    durations(settings, 1e-10, 1e-16, &slips[i], &sticks[i]);
  }
  const double d0 = sticks[1] - sticks[0], d1 = sticks[2] - sticks[1];
  if (getenv("SARRUS_TEST_VERBOSE"))
    printf("  slip %.2e, stick %.2e\n", slips[2] / slip - 1, (sticks[2] - d1 * d1 / (d1 - d0)) / stick - 1);
  ENSURE_SMALL(slips[2] / slip - 1, 1e-6);
  ENSURE_SMALL((sticks[2] - d1 * d1 / (d1 - d0)) / stick - 1, 1e-6);
  ENSURE(fabs(sticks[2] - stick) < 0.7 * fabs(sticks[1] - stick));
}

// ---- hysteresis -----------------------------------------------------------------------------------------------------------

TEST(a_joint_with_hysteresis_runs_through_the_same_loop_again) {
  const double turn = 6.28318530717958647692;
  Track* track = new_track();
  Loaded x = open_model("contact/hysteresis-joint", "");
  run(&x, "dopri5", 3 * turn, turn / 64, track);
  double area[3] = {0};
  for (int k = 1; k < track->n; k++) {  // of torque over angle, trapezoids
    const double a = 1.6 * sin(track->t[k - 1]), b = 1.6 * sin(track->t[k]);
    area[(k - 1) / 64] += 0.5 * (a + b) * (track->q[k][0] - track->q[k - 1][0]);
  }
  for (int k = 64 + 16; k < 128; k++) ENSURE_NEAR(track->q[k][0], track->q[k + 64][0], 1e-5);
  ENSURE(area[1] > 1e-3);
  ENSURE_NEAR(area[1], area[2], 1e-2 * area[1]);
  ENSURE_NEAR(-x.result.energy.work[SR_ACCOUNT_FRICTION], area[0] + area[1] + area[2], 0.25 * area[1]);
  close_model(&x);
  free(track);
}

// ---- what moves gaps and belts ----------------------------------------------------------------------------------------------

// A block on a table that shakes and a belt that runs, both by formula: the power that goes to the block and to dissipation is in the
// account of drivers.
static void shaken_work(const char* slip, const char* method) {
  const char* text =
      "<sarrus version='1'><parameter name='belt' value='0.3'/>"
      "<body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='0.1'/></body>"
      "<body name='b' parent='a'><joint name='z' type='prismatic' axis='0 0 1' q='0.02'/><inertial mass='1'/></body>"
      "<sensor name='tip' point='b'/>"
      "<contact gap='q(z) - 0.05*sin(20*t)' %s K='1e5' n='1' restitution='0.5' mu-k='0.2' bristle-B='30'/></sarrus>";
  char model[1000];
  snprintf(model, sizeof model, text, slip);
  Loaded x = open_text(model);
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  options.t_end = 1;
  options.rtol = 1e-9;
  options.atol = 1e-12;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  const double work = x.result.energy.work[SR_ACCOUNT_DRIVER];
  ENSURE(work > 1);
  ENSURE(x.result.energy.work[SR_ACCOUNT_FRICTION] < -1e-3);
  ENSURE_SMALL(x.result.energy.residual / work, 1e-6);
  close_model(&x);
}

TEST(a_gap_and_a_belt_that_move_by_formula_have_their_work_in_the_energy_balance) {
  shaken_work("slip='q(x) - belt*t'", "dopri5");
  shaken_work("slip='q(x) - belt*t'", "radau5");
  shaken_work("slip='sensor(tip, x) - belt*t - 0.001*sin(50*t)'", "dopri5");
  shaken_work("slip-speed='v(x)*(1 + 0.1*q(x)) - belt*cos(t)'", "dopri5");
  shaken_work("slip-speed='sensor(tip, vx) - belt'", "dopri5");
}

// ---- pairs ------------------------------------------------------------------------------------------------------------------

// Two spheres that spin fast about the normal while they touch: bristles turn with the mean of both.
TEST(the_two_spheres_of_a_contact_may_be_exchanged) {
  const char* text =
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<body name='A'><joint name='A' type='free' v='30 -7 11 0.2 0 0'/><inertial mass='1' inertia='0.004 0.004 "
      "0.004'/>"
      "<shape name='a' type='sphere' size='0.1'/></body>"
      "<body name='B'><joint name='B' type='free' q='0.25 0.08 0.03 1 0 0 0' v='3 20 -15 -1 0.1 0.2'/>"
      "<inertial mass='2' inertia='0.008 0.008 0.008'/><shape name='b' type='sphere' size='0.1'/></body>"
      "<contact %s K='1e5' restitution='0.6' mu-s='0.4' mu-k='0.3' bristle-K='1e3' bristle-B='3' mu-roll='0.002' "
      "mu-spin='0.003'/></sarrus>";
  double v[2][12];
  for (int k = 0; k < 2; k++) {
    char model[1000];
    snprintf(model, sizeof model, text, k == 0 ? "a='a' b='b'" : "a='b' b='a'");
    Loaded x = open_text(model);
    srRunOptions options = sr_run_options(x.m);
    options.method = "dopri5";
    options.t_end = 0.3;
    options.rtol = 1e-11;
    options.atol = 1e-14;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE(x.result.impacts == 1);
    ENSURE_SMALL(x.result.energy.residual, 1e-9);
    for (int i = 0; i < 12; i++) v[k][i] = x.d->jv[i];
    close_model(&x);
  }
  for (int i = 0; i < 12; i++) ENSURE_NEAR(v[0][i], v[1][i], 1e-6);
}

TEST(a_pair_of_shapes_in_two_contacts_is_reported) {
  const char* text =
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='A'><joint name='A' "
      "type='free' q='0 0 1 1 0 0 0'/><inertial mass='1' inertia='1 1 1'/><shape name='ball' type='sphere' size='0.1'/>"
      "</body><contact name='first' a='floor' b='ball' K='1e3' normal='hooke' friction='none'/>"
      "<contact a='A' b='ground' K='1e3' normal='hooke' friction='none'/></sarrus>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  char line[400];
  sr_message_format(sr_messages_get(messages, 0), line, sizeof line);
  ENSURE(strstr(line, "warning") && strstr(line, "'first'") && strstr(line, "both act"));
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}
