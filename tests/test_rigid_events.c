// Rigid contact by events on models: rest, friction at rest and its end, impacts through joints, redundant contacts. Expected values are closed forms, or follow from a
// second computation (impulses of sri_impulse, time-stepping). Shipped models are compared in test_nonsmooth_models.c.
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "loading.h"

#define LAW " normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'"
#define G 9.81

static const char* const methods[] = {"auto", "mdop5", "hem5", "phem56", "genalpha-ggl", "radau5"};

typedef struct Run {
  const char* method;
  double t_end, rtol, atol;
  bool hybrid;
  double hop, step;
} Run;

static void run(Loaded* x, Run r) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = r.hybrid ? SR_CONTACT_HYBRID : SR_CONTACT_EVENT;
  o.tol_hop = r.hop;
  o.step = r.step > 0 ? r.step : o.step;
  o.method = r.method;
  o.t_end = r.t_end;
  o.rtol = r.rtol > 0 ? r.rtol : 1e-8;
  o.atol = r.atol > 0 ? r.atol : 1e-10;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  if (status != SR_OK) printf("  %s: %s\n", r.method, x->result.error_message);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(x->result.unsolved, 0);
}

static int count_of(const srRunResult* r, const char* kind) {
  int n = 0;
  for (int i = 0; i < r->nevent; ++i) n += strcmp(r->event[i].kind, kind) == 0;
  return n;
}

static double time_of(const srRunResult* r, const char* kind, int k) {
  for (int i = 0; i < r->nevent; ++i) {
    if (strcmp(r->event[i].kind, kind) == 0 && k-- == 0) return r->event[i].t;
  }
  return NAN;
}

// ---- ball ---------------------------------------------------------------------------------------------------------------

static Loaded open_ball(double h, double e) {
  char text[600];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground><body "
           "name='b'>"
           "<joint name='z' type='prismatic' axis='0 0 1' q='%.17g'/><inertial mass='2'/><shape name='s' type='sphere' "
           "size='0.1'/></body>"
           "<contact a='floor' b='s' restitution='%.17g' mu-k='0'" LAW "/></sarrus>",
           0.1 + h, e);
  return open_text(text);
}

// t_n = t_0 (1 + 2 (e + e^2 + ... e^n)), t_0 = sqrt(2 h/g); at rest from t_0 (1 + e)/(1 - e) on.
TEST(twenty_impacts_of_a_ball_and_their_accumulation_are_those_of_the_closed_form) {
  const double h = 0.73, e = 0.8, t0 = sqrt(2 * h / G);
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_ball(h, e);
    run(&x, (Run){.method = methods[i], .t_end = 100, .rtol = 1e-10, .atol = 1e-12});
    double sum = 0, power = 1;
    for (int n = 0; n < 20; ++n) {
      ENSURE_NEAR(time_of(&x.result, "impact", n), t0 * (1 + 2 * sum), 1e-9);
      power *= e;
      sum += power;
    }
    ENSURE_EQUAL(count_of(&x.result, "accumulation"), 1);
    ENSURE_NEAR(time_of(&x.result, "accumulation", 0), t0 * (1 + e) / (1 - e), 1e-6);
    ENSURE_NEAR(x.d->q[0], 0.1, 1e-12);
    ENSURE(x.d->v[0] == 0);
    ENSURE_SMALL(x.result.penetration, 1e-12);
    ENSURE_NEAR(x.result.energy.residual, 0, 1e-6 * x.result.energy.scale);
    close_model(&x);
  }
}

// One contact without friction leaves alike by all laws and orders, and what it loses, (1 - e^2) m g h, is the contact's.
TEST(a_ball_loses_its_energy_to_the_contact_by_all_laws) {
  static const srImpactRule rules[] = {SR_IMPACT_RULE_NEWTON, SR_IMPACT_RULE_POISSON, SR_IMPACT_RULE_STRONGE};
  const double h = 0.5, e = 0.7, t = 1.2 * sqrt(2 * h / G);
  for (int i = 0; i < 2 * SR_COUNT(rules); ++i) {
    if (i / 2 == 2 && i % 2 == 0) continue;  // Stronge's law is sequential
    Loaded x = open_ball(h, e);
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_EVENT;
    o.method = "mdop5";
    o.impact = rules[i / 2];
    o.impact_order = i % 2 == 0 ? SR_IMPACT_ORDER_SIMULTANEOUS : SR_IMPACT_ORDER_SEQUENTIAL;
    o.t_end = t;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE_EQUAL(x.result.impact.collisions, i % 2);
    ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_CONTACT], -(1 - e * e) * 2 * G * h, 1e-9);
    ENSURE_SMALL(x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-12);
    ENSURE_NEAR(x.d->v[0], e * sqrt(2 * G * h) - G * (t - sqrt(2 * h / G)), 1e-9);
    close_model(&x);
  }
}

// A parabola has no error: the first steps grow tenfold from one that is safe, and from then on each flight is one step.
TEST(a_flight_is_one_step) {
  for (int i = 0; i < 4; ++i) {
    Loaded x = open_ball(0.9, 0.9);
    run(&x, (Run){.method = methods[i], .t_end = 5, .rtol = 1e-8, .atol = 1e-10});
    ENSURE_EQUAL(count_of(&x.result, "impact"), 9);
    ENSURE(x.result.stats.steps <= 9 + 1 + 4);
    ENSURE_SMALL(x.result.energy.residual, 1e-12 * x.result.energy.scale);
    close_model(&x);
  }
}

// Slip s = v + w x (0, 0, -R) keeps its direction: it ends at 2 |s|/(7 mu g), with v - 2/7 s. In body axes the rates of the contact's row and of v are six times the weight and cancel each other.
TEST(a_ball_with_spin_on_a_table_is_closed_from_the_start_slides_and_rolls) {
  const double R = 0.03, mu = 0.2, v[2] = {1.2, 0.3}, s[2] = {1.2 - 55 * R, 0.3 + 30 * R};
  const double size = hypot(s[0], s[1]), end = 2 * size / (7 * mu * G);
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_model("nonsmooth/billiard-ball", "");
    const double tolerance = strcmp(methods[i], "genalpha-ggl") == 0 ? 1e-5 : 2e-8;  // order 2: 4e-6 at this rtol
    run(&x, (Run){.method = methods[i], .t_end = 1, .rtol = 1e-9, .atol = 1e-11});
    ENSURE_EQUAL(count_of(&x.result, "impact"), 0);
    ENSURE_NEAR(time_of(&x.result, "stick", 0), end, 1e-6);
    for (int k = 0; k < 2; ++k) {
      const double slid = v[k] * end - 0.5 * mu * G * end * end * s[k] / size;
      ENSURE_NEAR(x.d->q[k], slid + (1 - end) * (v[k] - 2.0 / 7 * s[k]), tolerance);
    }
    ENSURE_NEAR(x.d->q[2], R, 1e-12);
    ENSURE_NEAR(x.result.energy.potential0, 0.17 * G * R, 1e-15);
    ENSURE_NEAR(energy_residual(&x), 0, 1e-6);
    close_model(&x);
  }
}

TEST(an_elastic_ball_bounces_without_end) {
  Loaded x = open_ball(0.5, 1);
  run(&x, (Run){.method = "hem5", .t_end = 20});
  const double t0 = sqrt(2 * 0.5 / G);
  for (int n = 0; n < 30; ++n) ENSURE_NEAR(time_of(&x.result, "impact", n), t0 * (1 + 2 * n), 1e-8);
  ENSURE_EQUAL(count_of(&x.result, "accumulation"), 0);
  close_model(&x);
}

// ---- friction at rest ---------------------------------------------------------------------------------------------------

// A box on a plane inclined by alpha: gravity is turned instead. v0 uphill.
static Loaded open_slope(double alpha, double mu, double mu_static, double v0) {
  char text[900];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='%.17g 0 %.17g'/><ground><shape name='floor' "
           "type='plane'/></ground><body name='b'>"
           "<joint name='b' type='free' q='0 0 0.05 1 0 0 0' v='0 0 0 %.17g 0 0'/><inertial mass='2' com='0 0 0' "
           "inertia='0.02 0.01 0.02'/>"
           "<shape name='s' type='box' size='0.2 0.3 0.1'/></body><contact a='floor' b='s' restitution='0' "
           "mu-k='%.17g' mu-s='%.17g'" LAW "/></sarrus>",
           G * sin(alpha), -G * cos(alpha), -v0, mu, mu_static);
  return open_text(text);
}

TEST(a_box_on_a_slope_does_not_move_in_a_hundred_seconds) {
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_slope(0.5, 0.55, 0.55, 0);  // tan 0.5 = 0.546
    run(&x, (Run){.method = methods[i], .t_end = 100});
    for (int k = 0; k < 6; ++k) ENSURE_SMALL(x.d->v[k], 1e-12);
    for (int k = 0; k < 3; ++k) ENSURE_NEAR(x.d->q[k], k == 2 ? 0.05 : 0, 1e-10);
    ENSURE_EQUAL(x.result.nevent, 0);
    close_model(&x);
  }
}

// The corners further down carry more: with forces of equal compliance the others would slip, and only the cone problem of all corners, with the static coefficient, holds them.
TEST(a_static_coefficient_holds_a_box_whose_corners_share_the_load_unevenly) {
  Loaded x = open_slope(0.5, 0.3, 0.6, 0);  // tan 0.5 = 0.546
  run(&x, (Run){.method = "mdop5", .t_end = 20});
  for (int k = 0; k < 6; ++k) ENSURE_SMALL(x.d->v[k], 1e-12);
  ENSURE_NEAR(x.d->q[0], 0, 1e-10);
  ENSURE_EQUAL(x.result.nevent, 0);
  close_model(&x);
}

static int count_row(void* user, const double* row) {
  (void)row;
  ++*(int*)user;
  return 0;
}

// Results have the forces of contacts; the motion must not have them twice, wherever rows are: also at the ends of steps of fixed length, and at the start.
TEST(rows_of_results_do_not_change_the_motion_with_rigid_contact) {
  static const char* const every_method[] = {"mdop5", "rk4", "moreau"};
  for (int i = 0; i < SR_COUNT(every_method); ++i) {
    double q[2][7];
    int rows = 0;
    for (int with = 0; with < 2; ++with) {
      Loaded x = open_slope(0.5, 0.3, 0.3, 1);
      srRunOptions o = sr_run_options(x.m);
      o.contact = strcmp(every_method[i], "moreau") == 0 ? SR_CONTACT_TIMESTEPPING : SR_CONTACT_EVENT;
      o.method = every_method[i];
      o.t_end = 0.25;
      o.step = o.every = 1.0 / 1024;
      o.row = with ? count_row : NULL;
      o.user = &rows;
      const char* const record[] = {"a.*"};
      o.record = record;
      o.nrecord = with ? 1 : 0;
      ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
      memcpy(q[with], x.d->q, sizeof q[with]);
      close_model(&x);
    }
    ENSURE(rows > 200);
    for (int k = 0; k < 7; ++k) ENSURE_NEAR(q[1][k], q[0][k], 1e-12);
  }
}

// Uphill it stops after v0/(g (sin + mu cos)); it stays where mu_static > tan(alpha), else it slides back with g (sin - mu cos).
TEST(a_box_launched_uphill_stops_and_stays_or_slides_back) {
  const double alpha = 0.5, v0 = 3;
  for (int back = 0; back < 2; ++back) {
    for (int i = 0; i < SR_COUNT(methods); ++i) {
      const double mu = back ? 0.3 : 0.7, up = G * (sin(alpha) + mu * cos(alpha)),
                   down = G * (sin(alpha) - mu * cos(alpha));
      const double stop = v0 / up, t_end = 1, left = t_end - stop;
      Loaded x = open_slope(alpha, mu, mu, v0);
      run(&x, (Run){.method = methods[i], .t_end = t_end});
      const double tolerance = strcmp(methods[i], "genalpha-ggl") == 0 ? 1e-6 : 1e-8;
      ENSURE_NEAR(x.d->q[0], -v0 * v0 / (2 * up) + (back ? down * left * left / 2 : 0), tolerance);
      ENSURE_NEAR(x.d->v[3], back ? down * left : 0, tolerance);
      ENSURE_NEAR(x.d->a[3], back ? down : 0, 1e-8);  // contact forces are in the accelerations of results
      ENSURE_NEAR(x.d->a[5], 0, 1e-8);
      ENSURE_EQUAL(count_of(&x.result, back ? "reversal" : "stick"), 1);
      ENSURE_NEAR(time_of(&x.result, back ? "reversal" : "stick", 0), stop, 1e-5);
      close_model(&x);
    }
  }
}

// A static coefficient above mu holds what mu would not, until the load exceeds it: F = k t at t = mu_s m g/k, then m x'' = k t - mu m g.
TEST(a_static_coefficient_holds_until_its_own_limit) {
  const double m = 2, k = 5, mu = 0.2, mu_s = 0.4, t1 = mu_s * m * G / k, t_end = 4, s = t_end - t1;
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
        "<body name='a'><joint name='x' type='prismatic' axis='1 0 0'/></body>"
        "<body name='b' parent='a'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='2'/>"
        "<shape name='s' type='sphere' size='0.1'/></body>"
        "<torque joint='x' law='5*t'/><contact a='floor' b='s' restitution='0' mu-k='0.2' mu-s='0.4'" LAW
        "/></sarrus>");
    run(&x, (Run){.method = methods[i], .t_end = t_end});
    const double a0 = (k * t1 - mu * m * G) / m;
    const double tolerance = strcmp(methods[i], "genalpha-ggl") == 0 ? 2e-5 : 1e-7;  // of 11.8 m
    ENSURE_EQUAL(count_of(&x.result, "slip"), 1);
    ENSURE_NEAR(time_of(&x.result, "slip", 0), t1, 1e-7);
    ENSURE_NEAR(x.d->v[0], a0 * s + k * s * s / (2 * m), tolerance);
    ENSURE_NEAR(x.d->q[0], a0 * s * s / 2 + k * s * s * s / (6 * m), tolerance);
    close_model(&x);
  }
}

// A slider that carries a light one across it: its point of contact is a thousand times as mobile across the slip as along it. It stops after v0/(mu g), v0^2/(2 mu g) away: what is examined for sticking
// is the slip that the least mobility allows, 5e-4 m/s, not 30 times as much.
TEST(slip_ends_as_late_as_the_least_mobility_says) {
  const double mu = 0.3, v0 = 0.5;
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
      "<body name='a'><joint name='x' type='prismatic' axis='1 0 0' v='0.5'/></body>"
      "<body name='b' parent='a'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='1'/></body>"
      "<body name='c' parent='b'><joint name='y' type='prismatic' axis='0 1 0'/><inertial mass='0.001'/><shape "
      "name='s' "
      "type='sphere' size='0.1'/></body><contact a='floor' b='s' restitution='0' mu-k='0.3'" LAW "/></sarrus>");
  run(&x, (Run){.method = "mdop5", .t_end = 0.3, .rtol = 1e-6, .atol = 1e-6});
  ENSURE_NEAR(time_of(&x.result, "stick", 0), v0 / (mu * G), 3e-4);
  ENSURE_NEAR(x.d->q[0], v0 * v0 / (2 * mu * G), 1e-6);
  close_model(&x);
}

// A box on its four corners, moved off them and off its velocity: all corners are put back alike, by the least motion, which leaves x, y and the turn about z as they are; what sticks does not move.
TEST(a_state_is_put_on_all_corners_of_a_box_alike) {
  Loaded x = open_slope(0.2, 0.5, 0.5, 0);
  srModelSystem user = {.m = x.m, .d = x.d};
  const srSystem system = sr_system(&user);
  const srRigidOptions options = sri_rigid_options();
  srRigid* rigid = sri_rigid_create(&system, &options);
  double q[7], v[6];
  memcpy(q, x.d->q, sizeof q);
  memcpy(v, x.d->v, sizeof v);
  ENSURE_EQUAL(sri_rigid_start(rigid, 0, q, v, x.d->y), 0);
  int closed = 0, stick = 0;
  (void)sri_rigid_contradicts(rigid, &closed, &stick);
  ENSURE(closed == 4 && stick == 4);
  const double moved[7] = {0.3, -0.2, 0.05 + 2e-6, 1, 3e-7, -4e-7, 0};
  const double pushed[6] = {1e-6, -2e-6, 3e-6, 1e-6, 2e-6, -1e-6};
  memcpy(q, moved, sizeof q);
  memcpy(v, pushed, sizeof v);
  ENSURE_EQUAL(sri_rigid_put(rigid, 0, q, v, x.d->y), 0);
  ENSURE_NEAR(q[0], 0.3, 1e-12);
  ENSURE_NEAR(q[1], -0.2, 1e-12);
  ENSURE_NEAR(q[2], 0.05, 1e-14);
  for (int k = 4; k < 7; ++k) ENSURE_SMALL(q[k], k < 6 ? 1e-13 : 2e-13);  // two turns about other axes: of second order
  for (int k = 0; k < 6; ++k) ENSURE_SMALL(v[k], 1e-13);
  sri_rigid_destroy(rigid);
  close_model(&x);
}

// ---- take-off -------------------------------------------------------------------------------------------------------------

// A small ball that slides down a large fixed one without friction leaves it where cos(phi) = 2/3 of the start's, from rest at phi_0: h falls by a third.
TEST(a_particle_leaves_a_round_hill_at_two_thirds_of_its_height) {
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    const double R = 1, r = 0.01, phi0 = 0.1;
    char text[900];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='hill' type='sphere' size='1'/></ground>"
        "<body name='a'><joint name='x' type='prismatic' axis='1 0 0' q='%.17g'/></body>"
        "<body name='b' parent='a'><joint name='z' type='prismatic' axis='0 0 1' q='%.17g'/><inertial mass='2'/>"
        "<shape name='s' type='sphere' size='0.01'/></body><contact a='hill' b='s' restitution='0' mu-k='0'" LAW
        "/></sarrus>",
        (R + r) * sin(phi0), (R + r) * cos(phi0));
    Loaded x = open_text(text);
    run(&x, (Run){.method = methods[i], .t_end = 1.5, .rtol = 1e-9, .atol = 1e-11});
    ENSURE_EQUAL(count_of(&x.result, "take-off"), 1);
    const double t = time_of(&x.result, "take-off", 0);
    close_model(&x);
    x = open_text(text);
    run(&x, (Run){.method = methods[i], .t_end = t, .rtol = 1e-9, .atol = 1e-11});
    const double tolerance = strcmp(methods[i], "genalpha-ggl") == 0 ? 1e-5 : 1e-7;
    ENSURE_NEAR(x.d->q[1] / (R + r), 2 * cos(phi0) / 3, tolerance);
    close_model(&x);
  }
}

// ---- impact through joints --------------------------------------------------------------------------------------------------

static Loaded open_formulated(const char* file, srFormulation formulation) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  srSpec* spec = NULL;
  Loaded x = {0}, y = {0};
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &x.m), SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, formulation, NULL, &y.m, &y.d), SR_OK);
  srs_destroy(spec);
  close_model(&x);
  return y;
}

static double kinetic_energy(Loaded* x, const double* v) {
  double kinetic, potential;
  ENSURE_EQUAL(sr_evaluate(x->m, x->d, x->d->t, x->d->q, v, x->d->y, SR_STAGE_VELOCITY), 0);
  sr_energy(x->m, x->d, &kinetic, &potential);
  return kinetic;
}

// A four-bar whose rocker strikes a stop: v+ is that of an impulse along the normal with the reactions of the joints (sri_impulse), T+ - T- = -(1 - e^2) u^2/(2 W), W the
// Delassus scalar. In relative and absolute coordinates.
TEST(an_impact_through_the_joints_of_a_four_bar_is_an_impulse_along_the_normal) {
  for (int absolute = 0; absolute < 2; ++absolute) {
    Loaded x = absolute ? open_formulated("nonsmooth/four-bar-stop", SR_FORMULATION_ABSOLUTE)
                        : open_model("nonsmooth/four-bar-stop", "");
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_EVENT;
    o.method = "hem5";
    o.rtol = 1e-10;
    o.atol = 1e-12;
    o.t_end = 0.1627;  // the first impact is at 0.162701 s
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    ENSURE_EQUAL(x.result.impacts, 0);
    srModelSystem user = {.m = x.m, .d = x.d};
    const srSystem system = sr_system(&user);
    const int nv = x.m->nv;
    double q[64], before[64], after[64], other[64], J[64] = {0};
    ENSURE(nv <= 64 && x.m->nq <= 64);
    memcpy(q, x.d->q, (size_t)x.m->nq * sizeof *q);
    memcpy(before, x.d->v, (size_t)nv * sizeof *before);
    memcpy(after, before, sizeof after);
    memcpy(other, before, sizeof other);
    srUnilateral* list = sri_contacts_create(&system);
    int count = 0;
    ENSURE_EQUAL(system.contacts(system.user, x.d->t, q, list, &count), 0);
    ENSURE_EQUAL(count, 1);
    const double u = sri_contact_velocity(list, 0, before), e = list->restitution;
    for (int i = 0; i < list->n; ++i) J[list->column[i]] = list->W[i];
    ENSURE(u < -0.5 && e > 0.1);
    srRigidOptions options = sri_rigid_options();
    options.gap = 1e-5;
    srRigid* rigid = sri_rigid_create(&system, &options);
    ENSURE(rigid != NULL);
    double q_after[64];
    memcpy(q_after, q, sizeof q);
    ENSURE_EQUAL(sri_rigid_start(rigid, x.d->t, q_after, after, x.d->y), 0);
    ENSURE_EQUAL(sri_rigid_stats(rigid)->impacts, 1);
    srImpulse* impulse = sri_impulse_create(&system, 1);
    ENSURE_EQUAL(sri_impulse(impulse, x.d->t, q, other, x.d->y, 1, J, &(double){-e * u}), 0);
    double change[64];
    for (int i = 0; i < nv; ++i) {
      ENSURE_NEAR(after[i], other[i], 1e-12);
      change[i] = after[i] - before[i];
    }
    memcpy(x.d->q, q, (size_t)x.m->nq * sizeof *q);
    const double T0 = kinetic_energy(&x, before), T1 = kinetic_energy(&x, after), T = kinetic_energy(&x, change);
    const double jump = -(1 + e) * u, W = jump * jump / (2 * T);  // p = jump/W, 2 T(dv) = p jump
    ENSURE_NEAR(T1 - T0, -(1 - e * e) * u * u / (2 * W), 1e-12 * T0);
    sri_impulse_destroy(impulse);
    sri_rigid_destroy(rigid);
    sri_contacts_destroy(list);
    close_model(&x);
  }
}

// ---- hybrid -----------------------------------------------------------------------------------------------------------------

// With a tolerance of the hop that is never met, impacts accumulate without end: time-stepping takes over, brings the ball to rest, and hands back.
TEST(hybrid_contact_hands_an_accumulation_to_time_stepping_and_takes_it_back) {
  const double h = 0.5, e = 0.99, t0 = sqrt(2 * h / G);
  Loaded x = open_ball(h, e);
  run(&x, (Run){.method = "mdop5", .t_end = 70, .hybrid = true, .hop = 1e-30, .step = 1e-3});
  double sum = 0;
  for (int n = 0; n < 10; ++n) {
    ENSURE_NEAR(time_of(&x.result, "impact", n), t0 * (1 + 2 * sum), 1e-9);
    sum += pow(e, n + 1);
  }
  ENSURE(count_of(&x.result, "time-stepping") >= 1 && count_of(&x.result, "event-driven") >= 1);
  ENSURE(time_of(&x.result, "time-stepping", 0) < t0 * (1 + e) / (1 - e) + 0.1);
  ENSURE_NEAR(x.d->q[0], 0.1, 1e-9);
  ENSURE_SMALL(x.d->v[0], 1e-12);
  close_model(&x);
}

// Where events are sparse, hybrid contact is that by events.
TEST(hybrid_contact_of_a_sparse_motion_is_that_by_events) {
  Loaded a = open_model("contact/slider-crank-clearance", ""), b = open_model("contact/slider-crank-clearance", "");
  run(&a, (Run){.method = "mdop5", .t_end = 0.1});
  run(&b, (Run){.method = "mdop5", .t_end = 0.1, .hybrid = true, .step = 1e-5});
  ENSURE_EQUAL(count_of(&b.result, "time-stepping"), 0);
  for (int i = 0; i < a.m->nq; ++i) ENSURE(a.d->q[i] == b.d->q[i]);
  close_model(&a);
  close_model(&b);
}

// ---- overlaps at the start ------------------------------------------------------------------------------------------------

static srStatus start_below(double depth, const char* shape, Loaded* x, char* error) {
  char text[1000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='hill' type='heightfield' size='4 4' "
           "columns='3' heights='0 0.1 0  0.1 0.3 0.1  0 0.1 0'/></ground><body name='b'>"
           "<joint name='b' type='free' q='0.1 0.1 %.17g 1 0 0 0'/><inertial mass='1' inertia='0.01 0.01 0.01'/>"
           "<shape name='s' %s/></body><contact a='hill' b='s' restitution='0' mu-k='0.3'" LAW "/></sarrus>",
           -depth, shape);
  *x = open_text(text);
  srRunOptions o = sr_run_options(x->m);
  o.contact = SR_CONTACT_EVENT;
  o.t_end = 1e-3;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  bool named = false;
  for (int i = 0; i < sr_messages_count(messages); ++i) {
    char said[600];
    sr_message_format(sr_messages_get(messages, i), said, sizeof said);
    named = named || (strstr(said, "'ground/hill' and 'b/s' overlap by") != NULL && strstr(said, "moved them apart"));
  }
  ENSURE_EQUAL(named, status == SR_OK);
  sr_messages_destroy(messages);
  (void)snprintf(error, 512, "%s", x->result.error_message);
  return status;
}

// A ball not far below the ground is put on it, which is said. Where the normal of the deepest point does not lead out, nothing starts: before, a state that was not finite or still overlapped.
TEST(what_begins_below_the_ground_is_put_on_it_or_refused) {
  char error[512];
  Loaded x;
  ENSURE_EQUAL(start_below(0.2, "type='sphere' size='0.1'", &x, error), SR_OK);
  ENSURE(x.d->q[2] > 0.3 && x.d->q[2] < 0.41);
  ENSURE_SMALL(x.result.penetration, 1e-8);
  close_model(&x);
  ENSURE(start_below(10, "type='sphere' size='0.1'", &x, error) != SR_OK);
  ENSURE(strstr(error, "cannot be moved apart") != NULL && strstr(error, "hybrid") == NULL);
  close_model(&x);
  ENSURE(start_below(0.3, "type='box' size='0.2 0.3 0.2'", &x, error) != SR_OK);
  ENSURE(strstr(error, "cannot be moved apart") != NULL);
  close_model(&x);
}

// ---- stall ------------------------------------------------------------------------------------------------------------------

// A ball that flies between two walls with 100 m/s strikes every 10 microseconds, and each of its impacts is one of all bodies that rest beside it. The run ends with a sentence, and keeps what it has.
TEST(a_run_by_events_that_gets_nowhere_ends_with_the_names_of_its_contacts) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/>"
      "<shape name='roof' type='plane' at='0 0 0.201' rpy='pi 0 0'/></ground>"
      "<repeat count='12' index='i'><body name='b{i}'><joint name='b{i}' type='prismatic' axis='0 0 1' q='0.1'/>"
      "<inertial mass='1'/><shape name='rests' type='sphere' size='0.1' group='balls'/></body></repeat>"
      "<body name='fast'><joint name='fast' type='prismatic' axis='0 0 1' q='0.1005' v='100'/><inertial mass='1'/>"
      "<shape name='fast' type='sphere' size='0.1'/></body>"
      "<contact a='floor' b='balls' restitution='0' mu-k='0'" LAW
      "/><contact a='floor' b='fast' restitution='1' mu-k='0'" LAW
      "/><contact a='roof' b='fast' restitution='1' mu-k='0'" LAW "/></sarrus>");
  srRunOptions o = sr_run_options(x.m);
  o.contact = SR_CONTACT_EVENT;
  o.method = "mdop5";
  o.t_end = 10;
  ENSURE(sr_run(x.m, x.d, &o, NULL, &x.result) != SR_OK);
  ENSURE(strstr(x.result.error_message, "stalls") != NULL);
  ENSURE(strstr(x.result.error_message, "'ground/floor' and 'fast/fast'") != NULL);
  ENSURE(strstr(x.result.error_message, "'ground/roof' and 'fast/fast'") != NULL);
  ENSURE(strstr(x.result.error_message, "--contact hybrid") != NULL);
  ENSURE(x.result.t > 1e-3 && x.result.t < 0.1);
  ENSURE_NEAR((double)x.result.impacts, x.result.t / 1e-5, 2);
  close_model(&x);
}

// ---- redundant contacts -------------------------------------------------------------------------------------------------

// A ladder slides down in a corner, its middle on a round bump about the corner (elliptic trammel): three contacts for two equations, dependent on g = 0 alone.
// (m l^2/3) w^2/2 + m g l/2 cos(phi) is constant, phi from the vertical.
TEST(redundant_contacts_are_no_obstacle_where_equations_are_fixed_for_all_stages) {
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    Loaded x = open_model("nonsmooth/ladder", "");
    run(&x, (Run){.method = methods[i], .t_end = 0.2, .rtol = 1e-9, .atol = 1e-11});
    const double phi = x.d->q[2], tolerance = strcmp(methods[i], "genalpha-ggl") == 0 ? 1e-5 : 1e-7;
    ENSURE_EQUAL(x.result.stats.redundant_most, 1);
    ENSURE_NEAR(x.d->q[0], 0.5 * sin(phi), 1e-10);
    ENSURE_NEAR(x.d->q[1], 0.5 * cos(phi), 1e-10);
    ENSURE(phi > 0.5);
    ENSURE_NEAR(x.d->v[2], sqrt(1 + 3 * G * (cos(0.3) - cos(phi))), tolerance);
    close_model(&x);
  }
}

// Rank 2 at the start of a step and 3 in a stage, as Haddouni et al. (2017) report; phem56 too.
TEST(redundant_contacts_stop_half_explicit_methods_where_equations_are_chosen_in_every_stage) {
  static const char* const half[] = {"hem5", "phem56"};
  for (int i = 0; i < 2; ++i) {
    Loaded x = open_model("nonsmooth/ladder", "");
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_EVENT;
    o.method = half[i];
    o.t_end = 0.2;
    o.free_rows = true;
    const srStatus status = sr_run(x.m, x.d, &o, NULL, &x.result);
    ENSURE(status != SR_OK);
    ENSURE(strstr(x.result.error_message, "the rank of the constraints is 2 in stage") != NULL);
    close_model(&x);
  }
}
