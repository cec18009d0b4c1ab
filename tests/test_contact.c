// Contact: simulation I of Kikuuwe and Yamamoto, touches that are located, restitution, rest under a pulsating load, gaps by formula, materials,
// ends of joints, the energy balance.
#include <math.h>
#include <stdlib.h>

#include "loading.h"
#include "simulate/event.h"

static const double pi = 3.14159265358979323846;

static int column_of(const srModel* m, const char* name) {
  srColumns* columns = sr_columns_create(m);
  int found = -1;
  for (int i = 0; i < columns->count; i++) {
    if (strcmp(columns->names[i], name) == 0) found = i;
  }
  sr_columns_destroy(columns);
  ENSURE(found >= 0);
  return found;
}

// Rows of up to three columns.
typedef struct Track {
  int n, room, column[3];
  double (*row)[4];  // t, columns
} Track;

static int keep(void* user, const double* row) {
  Track* x = user;
  if (x->n == x->room) return 1;
  x->row[x->n][0] = row[0];
  for (int i = 0; i < 3; i++) x->row[x->n][1 + i] = row[x->column[i]];
  x->n++;
  return 0;
}

static Track track_of(const srModel* m, int room, const char* a, const char* b, const char* c) {
  Track x = {.room = room, .row = calloc((size_t)room, sizeof *x.row)};
  const char* names[] = {a, b, c};
  ENSURE(x.row != NULL);
  for (int i = 0; i < 3; i++) x.column[i] = names[i] ? column_of(m, names[i]) : 0;
  return x;
}

static void run(Loaded* x, srRunOptions options, srMessages* messages) {
  const srStatus status = sr_run(x->m, x->d, &options, messages, &x->result);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
}

// ---- simulation I ---------------------------------------------------------------------------------------------------------

// Slip falls during contacts alone, which come every 0.04 s. With the paper's T = 1e-4 s a contact takes five steps, and the last digit
// of the start decides how high the ball bounces and which contact brings it to roll: at 1e-4 s between 0.593 and 0.603 s, and other
// programs say 0.619. With T = 1e-5 s the time does not hang on rounding; the network (tests/test_network.c) has it too.
static void roll(const char* settings, double t_end, Loaded* x, Track* track) {
  *x = open_model("paper3/rolling-sphere", settings);
  *track = track_of(x->m, 100002, "slip", "centre.vx", "centre.z");
  srRunOptions options = sr_run_options(x->m);
  options.step = options.every = 1e-5;
  options.t_end = t_end;
  options.row = keep;
  options.user = track;
  run(x, options, NULL);
}

static double rolls_at(const Track* track) {
  int k = 0;
  while (k < track->n - 1 && fabs(track->row[k][1]) >= 1e-3) k++;
  return track->row[k][0];
}

TEST(simulation_I_reaches_rolling_at_0_592_s) {
  Loaded x;
  Track track;
  roll("", 1.0, &x, &track);
  ENSURE(rolls_at(&track) > 0.592 && rolls_at(&track) < 0.5935);
  for (int k = 0; k < track.n; k++) {
    const double t = track.row[k][0], slip = track.row[k][1];
    // Angular momentum about the floor: v = 5/7 v0 + 2/7 slip, in flight and in touches.
    ENSURE_NEAR(track.row[k][2], 10.0 / 7 + 2.0 / 7 * slip, 1e-10);
    ENSURE(t < 0.6 || fabs(slip) < 1e-2);
    ENSURE(t < 0.8 || fabs(slip) < 1e-3);
  }
  ENSURE(x.result.impacts >= 26 && x.result.impacts <= 29);  // it keeps bouncing: damping ratio 0.003
  ENSURE_EQUAL(x.result.nevent, x.result.impacts);
  ENSURE_TEXT(x.result.event[0].kind, "impact");
  ENSURE_TEXT(x.result.event[0].a, "ground/floor");
  ENSURE_TEXT(x.result.event[0].b, "sphere/ball");
  ENSURE_NEAR(x.result.event[0].t, sqrt(2 * 0.002 / 9.8), 1e-6);
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-4);  // 50 steps per contact
  free(track.row);
  close_model(&x);
}

TEST(the_time_of_rolling_does_not_hang_on_the_last_digit_of_the_start) {
  static const char* const starts[] = {"", "z0=0.202+1e-16", "z0=0.202-3e-16"};
  double t[3];
  for (int i = 0; i < 3; i++) {
    Loaded x;
    Track track;
    roll(starts[i], 0.62, &x, &track);
    t[i] = rolls_at(&track);
    free(track.row);
    close_model(&x);
  }
  ENSURE_NEAR(t[1], t[0], 3e-5);
  ENSURE_NEAR(t[2], t[0], 3e-5);
}

// What friction takes from a sliding sphere that is put down without bouncing: 2/7 of its energy. Rolling at 2 v0/(7 mu g).
TEST(a_sphere_put_down_rolls_after_two_sevenths_of_v_over_mu_g) {
  Loaded x = open_model("paper3/rolling-sphere", "z0=0.2-0.3*9.8/1e7");
  Track track = track_of(x.m, 10002, "slip", "centre.vx", NULL);
  srRunOptions options = sr_run_options(x.m);
  options.row = keep;
  options.user = &track;
  run(&x, options, NULL);
  double rolls = 0;
  for (int k = track.n - 1; k >= 0 && fabs(track.row[k][1]) < 1e-3; k--) rolls = track.row[k][0];
  ENSURE_NEAR(rolls, 0.5831, 1e-3);
  ENSURE_NEAR(track.row[track.n - 1][2], 10.0 / 7, 1e-6);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_FRICTION], -2.0 / 7 * 0.6, 1e-5);
  free(track.row);
  close_model(&x);
}

// ---- touches --------------------------------------------------------------------------------------------------------------

// Height of the flights of the bouncing ball.
static int heights(const char* settings, const char* method, double* out, int room, Loaded* x) {
  *x = open_model("contact/bouncing-ball", settings);
  Track track = track_of(x->m, 20002, "q.z", NULL, NULL);
  srRunOptions options = sr_run_options(x->m);
  options.method = method;
  options.step = 1e-5;  // rk4
  options.rtol = 1e-10;
  options.atol = 1e-13;
  options.every = options.t_end / 20000;
  options.row = keep;
  options.user = &track;
  run(x, options, NULL);
  int n = 0;
  double most = 0;
  for (int k = 1; k + 1 < track.n && n < room; k++) {  // tops
    const double a = track.row[k - 1][1], b = track.row[k][1], c = track.row[k + 1][1];
    most = b - 0.02;
    if (b > a && b >= c && most > 1e-3) out[n++] = most;
  }
  free(track.row);
  return n;
}

TEST(heights_of_a_ball_with_the_exact_law_follow_the_square_of_e) {
  static const double asked[] = {0.9, 0.5, 0.3};
  for (int k = 0; k < 3; k++) {
    char settings[40];
    double h[8];
    Loaded x;
    snprintf(settings, sizeof settings, "law=6 e=%g", asked[k]);
    const int n = heights(settings, "dopri5", h, 8, &x);
    ENSURE(n >= 2);
    ENSURE_NEAR(h[0] / 0.5, asked[k] * asked[k], 1e-3);
    for (int i = 1; i < n && h[i] > 5e-3; i++) ENSURE_NEAR(h[i] / h[i - 1], asked[k] * asked[k], 2e-3);
    ENSURE(x.result.impacts >= n);
    ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_CONTACT], 1e-5);
    close_model(&x);
  }
}

// The restitution that laws really give, from catalog A.6 (e = 0.5): their flights show it.
TEST(heights_show_the_restitution_that_each_law_really_gives) {
  static const struct {
    int law;
    double e, tolerance;
  } cases[] = {{0, 1, 1e-3}, {1, 1, 1e-3}, {3, 0.663, 1e-3}, {4, 0.725, 1e-3}, {5, 0.470, 1e-3}, {6, 0.5, 1e-3}};
  for (int k = 0; k < 6; k++) {
    char settings[40];
    double h[2];
    Loaded x;
    snprintf(settings, sizeof settings, "law=%d e=0.5", cases[k].law);
    ENSURE(heights(settings, "dopri5", h, 2, &x) >= 1);
    ENSURE_NEAR(sqrt(h[0] / 0.5), cases[k].e, cases[k].tolerance);
    close_model(&x);
  }
}

TEST(first_contact_is_located_by_methods_of_fixed_step_too) {
  double h[1];
  Loaded x;
  ENSURE(heights("law=6 e=0.5", "rk4", h, 1, &x) >= 1);
  ENSURE_NEAR(h[0] / 0.5, 0.25, 1e-3);
  ENSURE_NEAR(x.result.event[0].t, sqrt(2 * 0.5 / 9.81), 1e-9);
  close_model(&x);
}

TEST(a_law_that_would_pull_is_held_at_zero_and_counted) {
  double h[1];
  Loaded x;
  ENSURE(heights("law=2", "rk4", h, 1, &x) >= 1);
  ENSURE_EQUAL(x.result.impacts, 3);
  ENSURE_EQUAL(x.result.clamps, 3);  // each time at the end
  ENSURE(h[0] < 0.5 && h[0] > 0.3);
  close_model(&x);
}

TEST(bodies_in_contact_at_the_start_are_reported) {
  Loaded x = open_model("contact/bouncing-ball", "law=3 h=-1e-5");
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 0.1;
  run(&x, options, messages);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  const srMessage* said = sr_messages_get(messages, 0);
  ENSURE_EQUAL(said->severity, SR_SEVERITY_WARNING);
  ENSURE(strstr(said->text, "'ground/floor' and 'ball/ball' are in touch at the start, 1e-05 m deep") != NULL);
  sr_messages_destroy(messages);
  close_model(&x);
}

// ---- long steps, contacts that exist already ------------------------------------------------------------------------------

// Two flights, meeting head-on: all methods that choose their steps make them longer than the contact, some longer than the balls.
TEST(spheres_that_meet_head_on_bounce_by_every_adaptive_method) {
  for (int k = 0; k < sri_method_count(); k++) {
    const srMethod* method = sri_method(k);
    if (!method->adaptive) continue;
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='w' type='sphere' size='0.1'/></ground>"
        "<body name='a'><joint name='a' type='free' q='-1.5 0 0 1 0 0 0' v='0 0 0 1 0 0'/>"
        "<inertial mass='1' inertia='0.004 0.004 0.004'/><shape name='s' type='sphere' size='0.1'/></body>"
        "<contact a='w' b='s' K='1e6' restitution='0.7' mu-k='0.3' bristle-K='1e5'/>"
        "<run t-end='3' rtol='1e-6' atol='1e-9'/></sarrus>");
    srRunOptions options = sr_run_options(x.m);
    options.method = method->name;
    run(&x, options, NULL);
    if (x.result.impacts != 1 || fabs(x.d->v[3] + 0.7) > 1e-3) printf("  %s: %.6g m/s\n", method->name, x.d->v[3]);
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE_NEAR(x.d->v[3], -0.7, 1e-3);
    ENSURE_NEAR(x.result.event[0].t, 1.3, 1e-9);
    close_model(&x);
  }
}

// A flight of 10 s, in a few steps, onto a floor that stops the ball within a millisecond, by laws without an approach velocity.
TEST(a_long_flight_ends_at_the_floor_whatever_the_law) {
  static const char* const laws[] = {"kelvin-voigt' D='100", "hertz", "hooke"};
  for (int k = 0; k < 3 * sri_method_count(); k++) {
    const srMethod* method = sri_method(k / 3);
    if (!method->adaptive) continue;
    char text[800];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='floor' type='plane'/></ground>"
             "<body name='a'><joint name='a' type='prismatic' axis='0 0 1' q='10' v='-1'/><inertial mass='1'/>"
             "<shape name='s' type='sphere' size='0.05'/></body>"
             "<contact a='floor' b='a' K='%s' friction='none' normal='%s'/><run t-end='20'/></sarrus>",
             k % 3 == 1 ? "1e8" : "1e6", laws[k % 3]);
    Loaded x = open_text(text);
    srRunOptions options = sr_run_options(x.m);
    options.method = method->name;
    run(&x, options, NULL);
    if (fabs(x.result.energy.residual) > 5e-4) printf("  %s, %s\n", method->name, laws[k % 3]);
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE_SMALL(x.result.energy.residual, 5e-4);  // of 0.5 J
    if (k % 3 > 0) ENSURE_NEAR(x.d->v[0], 1, 1e-3);
    close_model(&x);
  }
}

static const char* const ball_near_floor =
    "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='floor' type='plane'/></ground>"
    "<body name='a'><joint name='a' type='prismatic' axis='0 0 1' q='%.17g' v='%g'/><inertial mass='1'/>"
    "<shape name='s' type='sphere' size='0.05'/></body>"
    "<contact a='floor' b='a' K='1e8' restitution='0.5' friction='none'/>"
    "<run t-end='0.1' rtol='1e-9' atol='1e-12'/></sarrus>";

TEST(a_ball_that_starts_a_little_deep_bounces_with_its_speed) {
  static const double deep[] = {0, 1e-10, 1e-8};
  for (int k = 0; k < 3; k++) {
    char text[800];
    snprintf(text, sizeof text, ball_near_floor, 0.05 - deep[k], -2.0);
    Loaded x = open_text(text);
    run(&x, sr_run_options(x.m), NULL);
    ENSURE_NEAR(x.d->v[0], 1, 1e-3);
    close_model(&x);
  }
}

TEST(what_parts_does_not_touch) {
  static const double deep[] = {0, 1e-10};
  for (int k = 0; k < 2; k++) {
    char text[800];
    snprintf(text, sizeof text, ball_near_floor, 0.05 - deep[k], 2.0);
    Loaded x = open_text(text);
    run(&x, sr_run_options(x.m), NULL);
    ENSURE_EQUAL(x.result.impacts, 0);
    ENSURE_NEAR(x.d->v[0], 2, 1e-12);
    ENSURE(x.d->z[x.m->force[0].z + SR_Z_CLOSED] == 0);  // ready for the next contact
    close_model(&x);
  }
}

// An event of a gap, located 1e-9 m deep by the error of the step: it is the beginning of a contact where the bodies approach, and where they part
// it is not.
static void count_impact(void* user, double t, int i) {
  (void)t, (void)i;
  ++*(int*)user;
}

static void no_heat(void* user, double energy) {
  (void)user;
  ENSURE(energy == 0);
}

TEST(an_event_of_a_gap_is_a_contact_only_in_approach) {
  static const double speeds[] = {-2, 2};
  for (int k = 0; k < 2; k++) {
    char text[800];
    bool stop;
    snprintf(text, sizeof text, ball_near_floor, 0.05 - 1e-9, speeds[k]);
    Loaded x = open_text(text);
    srModelSystem user = {.m = x.m, .d = x.d};
    const srSystem system = sr_system(&user);
    const srIntegratorOptions options = sri_default_options();
    srIntegrator* integrator = NULL;
    ENSURE_EQUAL(sri_create("dopri5", &system, &options, NULL, &integrator), SR_OK);
    srContactMonitor* contacts = sr_contact_monitor_create(x.m, x.d, true);
    srJumpMonitor* jumps = sr_jumps_create(x.m, x.d, integrator);
    int impacts = 0;
    const srEventTold told = {.user = &impacts, .impact = count_impact, .dissipation = no_heat};
    srEventMonitor* monitor = sr_events_create(x.m, x.d, &system, integrator, contacts, jumps, NULL, &told);
    ENSURE_EQUAL(monitor->nsource, 1);
    sri_events_fire(monitor->events, monitor->of_contacts, &(const signed char){-1});
    ENSURE_EQUAL(sri_events_act(monitor->events, 0, x.d->q, x.d->v, x.d->y, &stop), SR_OK);
    ENSURE_EQUAL(contacts->closed[0], speeds[k] < 0);
    ENSURE_EQUAL(impacts, speeds[k] < 0);
    if (speeds[k] < 0) ENSURE(x.d->z[x.m->force[0].z + SR_Z_SPEED] == 2);
    sr_events_destroy(monitor);
    sr_contact_monitor_destroy(contacts);
    sr_jumps_destroy(jumps);
    sri_destroy(integrator);
    close_model(&x);
  }
}

TEST(a_run_that_goes_on_in_the_middle_of_an_impact_knows_the_speed) {
  char text[800];
  snprintf(text, sizeof text, ball_near_floor, 0.06, -1.0);
  Loaded x = open_text(text);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 0.0101;
  run(&x, options, messages);
  ENSURE(x.d->q[0] < 0.05 && x.d->v[0] < -0.9);
  options.t_end = 0.1;
  run(&x, options, messages);
  ENSURE_NEAR(x.d->v[0], 0.5, 1e-4);
  ENSURE_EQUAL(x.result.impacts, 0);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_destroy(messages);
  close_model(&x);
}

// Three balls in a row: the second touches the third from the start, without force, or not quite. It makes no difference.
TEST(a_contact_at_rest_that_is_struck_has_the_speed_of_the_blow) {
  static const double gap[] = {0, 1e-9};
  double v[2][3];
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/>"
             "<body name='a'><joint name='a' type='prismatic' axis='1 0 0' q='-0.3' v='1'/><inertial mass='1'/>"
             "<shape name='s' type='sphere' size='0.1' group='g'/></body>"
             "<body name='b'><joint name='b' type='prismatic' axis='1 0 0'/><inertial mass='1'/>"
             "<shape name='s' type='sphere' size='0.1' group='g'/></body>"
             "<body name='c'><joint name='c' type='prismatic' axis='1 0 0' q='0.2+%g'/><inertial mass='1'/>"
             "<shape name='s' type='sphere' size='0.1' group='g'/></body>"
             "<contact a='g' b='g' K='1e8' restitution='0.9' friction='none'/>"
             "<run t-end='0.5' rtol='1e-9' atol='1e-12'/></sarrus>",
             gap[k]);
    Loaded x = open_text(text);
    run(&x, sr_run_options(x.m), NULL);
    memcpy(v[k], x.d->v, sizeof v[k]);
    close_model(&x);
  }
  for (int i = 0; i < 3; i++) ENSURE_NEAR(v[0][i], v[1][i], 1e-4);
  ENSURE_NEAR(v[0][0] + v[0][1] + v[0][2], 1, 1e-9);
  ENSURE(v[0][2] > 0.8);
}

// ---- two spheres ----------------------------------------------------------------------------------------------------------

static const char* const two_spheres =
    "<sarrus version='1'><option gravity='0 0 0'/>"
    "<body name='a'><joint name='a' type='free' q='0 0 0 1 0 0 0' v='3 2 -9 1 0 0'/><inertial mass='2' inertia='0.008 "
    "0.008 "
    "0.008'/><shape name='a' type='sphere' size='0.1'/></body>"
    "<body name='b'><joint name='b' type='free' q='0.4 0.06 0.03 1 0 0 0' v='0 4 5 -1 0 0.1'/><inertial mass='1' "
    "inertia="
    "'0.004 0.004 0.004'/><shape name='b' type='sphere' size='0.1'/></body>"
    "<contact a='%s' b='%s' K='1e6' restitution='0.7' mu-s='0.3' mu-k='0.2' bristle-K='1e5' bristle-B='5'/>"
    "<run t-end='0.3' rtol='1e-10' atol='1e-13'/></sarrus>";

// Momentum and moment of momentum about the origin.
static void momenta(const Loaded* x, double out[6]) {
  for (int i = 0; i < 6; i++) out[i] = 0;
  for (int k = 0; k < 2; k++) {
    const double m = k == 0 ? 2 : 1, J = k == 0 ? 0.008 : 0.004;
    srFrameMotion s;
    sr_frame_motion(x->m, x->d, 1 + k, 0, &s);
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      out[i] += m * s.velocity[i];
      out[3 + i] += J * s.angular_velocity[i] + m * (s.position[j] * s.velocity[l] - s.position[l] * s.velocity[j]);
    }
  }
}

TEST(two_spheres_keep_their_momentum_and_part_with_the_restitution_that_is_asked) {
  char text[1500];
  double before[6], after[6], last[3] = {0};
  for (int order = 0; order < 2; order++) {
    snprintf(text, sizeof text, two_spheres, order ? "b" : "a", order ? "a" : "b");
    Loaded x = open_text(text);
    sr_kinematics(x.m, x.d);
    sr_velocity(x.m, x.d);
    momenta(&x, before);
    run(&x, sr_run_options(x.m), NULL);
    momenta(&x, after);
    for (int i = 0; i < 6; i++) ENSURE_NEAR(before[i], after[i], 1e-8);
    ENSURE_EQUAL(x.result.impacts, 1);
    ENSURE(x.result.energy.work[SR_ACCOUNT_FRICTION] < -1e-2);
    ENSURE_SMALL(x.result.energy.residual, 1e-7);
    // Which of them is a does not matter.
    srFrameMotion s;
    sr_frame_motion(x.m, x.d, 2, 0, &s);
    for (int i = 0; i < 3 && order == 1; i++) ENSURE_NEAR(last[i], s.velocity[i], 1e-4);
    memcpy(last, s.velocity, sizeof last);
    close_model(&x);
  }
}

// A small sphere pressed on top of a large one that turns about the common normal's cross axis: while it sticks, the point of
// contact of both moves alike, and the bristle stays in the tangent plane.
TEST(bristles_between_spheres_turn_with_the_normal) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<body name='big'><joint name='big' type='revolute' axis='0 1 0' v='1'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='big' type='sphere' size='0.5'/></body>"
      "<body name='arm'><joint name='arm' type='revolute' axis='0 1 0'/><inertial mass='0.1' com='0 0 0.6' "
      "inertia='0.1 0.1 0.1'/>"
      "</body><body name='small' parent='arm'><joint name='small' type='weld' at='0 0 0.5999'/><inertial mass='0.1'/>"
      "<shape name='small' type='sphere' size='0.1'/></body>"
      "<contact a='big' b='small' normal='hooke' K='1e6' mu-k='0.5' bristle-K='1e4' bristle-B='3'/>"
      "<run t-end='3' rtol='1e-9' atol='1e-12'/></sarrus>");
  run(&x, sr_run_options(x.m), NULL);
  ENSURE_EQUAL(x.m->ny, 3);
  ENSURE(x.d->jq[1] > 1);  // carried along by friction
  const double n[3] = {sin(x.d->jq[1] - x.d->jq[0]), 0, cos(x.d->jq[1] - x.d->jq[0])};
  const double out = n[0] * x.d->y[0] + n[1] * x.d->y[1] + n[2] * x.d->y[2];
  ENSURE_SMALL(out, 1e-9);
  ENSURE_NEAR(x.d->jv[0], x.d->jv[1], 1e-3);
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-4);
  close_model(&x);
}

// A point-like ball in a smooth bowl is a pendulum of length R_bowl - R; the stiffness by Hertz takes the bowl's radius negative.
TEST(a_ball_in_a_hollow_sphere_swings_as_a_pendulum) {
  Loaded x = open_text(
      "<sarrus version='1'><material name='steel' E='2e9' nu='0.3'/>"
      "<ground><shape name='bowl' type='sphere' size='-1' at='0 0 1' material='steel'/></ground>"
      "<body name='ball'><joint name='ball' type='free' q='0.9*sin(0.01) 0 1-0.9*cos(0.01) 1 0 0 0'/><inertial "
      "mass='1' "
      "inertia='0.004 0.004 0.004'/><shape name='ball' type='sphere' size='0.1' material='steel'/></body>"
      "<contact a='ball' b='bowl' normal='hertz' friction='none'/><sensor name='x' expr='q(ball, 0)'/>"
      "<run t-end='2' rtol='1e-8' atol='1e-11'/></sarrus>");
  const srSurfaceLaws* c = x.m->force[0].contact;
  ENSURE_NEAR(c->p.K / (4 / (6 * 0.91 / 2e9) * sqrt(1 / (1 / 0.1 - 1 / 1.0))), 1, 1e-14);
  srRunOptions options = sr_run_options(x.m);
  options.t_end = pi / sqrt(9.81 / 0.9);  // half a swing
  run(&x, options, NULL);
  ENSURE_NEAR(x.d->jq[0], -0.9 * sin(0.01), 2e-5);
  ENSURE_SMALL(x.d->jq[1], 1e-12);
  close_model(&x);
}

// ---- rest -----------------------------------------------------------------------------------------------------------------

// Net way at equal phase after 10 s.
static double drift(const char* file, const char* settings, const char* method, const char* column, double t_end) {
  Loaded x = open_model(file, settings);
  const double period = pi / 50;
  Track track = track_of(x.m, (int)(t_end / period) + 3, column, NULL, NULL);
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  options.t_end = t_end;
  options.every = period;
  options.row = keep;
  options.user = &track;
  run(&x, options, NULL);
  int first = 0;
  while (track.row[first][0] < 10) first++;
  const double way = track.row[track.n - 2][1] - track.row[first][1];
  free(track.row);
  close_model(&x);
  return way;
}

TEST(a_block_on_a_slope_and_a_pinched_ball_stay_where_they_are) {
  static const char* const methods[] = {"rk4", "dopri5", "genalpha-index3", "genalpha-index2", "genalpha-ggl"};
  const int n = runner_long() ? 5 : 3;
  const double t_end = runner_long() ? 1000 : runner_sanitized() ? 12 : 30;
  for (int k = 0; k < n; k++) {
    const double block = drift("contact/block-on-slope", "", methods[k], "way", t_end);
    const double ball = drift("contact/pinched", "", methods[k], "ball.z", t_end);
    if (runner_long()) printf("  %s: block %.2e m, pinched ball %.2e m in %g s\n", methods[k], block, ball, t_end - 10);
    ENSURE_SMALL(block, 1e-9);
    ENSURE_SMALL(ball, 1e-9);
  }
}

TEST(a_block_and_a_pinched_ball_creep_with_lugre) {
  ENSURE(drift("contact/block-on-slope", "law=1", "rk4", "way", 20) > 1e-3);
  ENSURE(drift("contact/pinched", "law=1", "rk4", "ball.z", 20) < -1e-3);
}

// ---- rolling and spinning -------------------------------------------------------------------------------------------------

static const char* const ball_on_floor =
    "<sarrus version='1'><option gravity='0 0 -10'/><ground><shape name='floor' type='plane'/></ground>"
    "<body name='ball'><joint name='ball' type='free' q='0 0 0.0999 1 0 0 0' v='%s'/><inertial mass='1' inertia='0.004 "
    "0.004 0.004'"
    "/><shape name='ball' type='sphere' size='0.1'/></body>"
    "<contact a='floor' b='ball' normal='kelvin-voigt' K='1e5' D='500' mu-k='0.5' bristle-B='50' %s/>"
    "<run t-end='%s' rtol='1e-8' atol='1e-11'/></sarrus>";

TEST(rolling_and_spinning_resistance_stop_a_ball_as_they_should) {
  char text[1200];
  // Rolling: (m + J/R^2) v' = -lever m g/R
  snprintf(text, sizeof text, ball_on_floor, "0 10 0 1 0 0", "mu-roll='1e-3'", "2");
  Loaded x = open_text(text);
  run(&x, sr_run_options(x.m), NULL);
  srFrameMotion s;
  sr_frame_motion(x.m, x.d, 1, 0, &s);
  ENSURE_NEAR(s.velocity[0], 1 - 2 * (1e-3 * 10 / 0.1) / 1.4, 1e-3);
  close_model(&x);
  // Spinning: J w' = -lever m g
  snprintf(text, sizeof text, ball_on_floor, "0 0 10 0 0 0", "mu-spin='1e-3'", "2");
  x = open_text(text);
  run(&x, sr_run_options(x.m), NULL);
  sr_frame_motion(x.m, x.d, 1, 0, &s);
  ENSURE_NEAR(s.angular_velocity[2], 10 - 2 * 1e-3 * 10 / 0.004, 1e-2);
  close_model(&x);
  // And it rests then.
  snprintf(text, sizeof text, ball_on_floor, "0 3 4 0.3 0 0", "mu-roll='5e-3' mu-spin='5e-3'", "3");
  x = open_text(text);
  run(&x, sr_run_options(x.m), NULL);
  sr_frame_motion(x.m, x.d, 1, 0, &s);
  for (int i = 0; i < 3; i++) ENSURE_SMALL(s.angular_velocity[i], 1e-4);
  ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-4);
  close_model(&x);
}

// ---- gaps by formula --------------------------------------------------------------------------------------------------------

static const char* const slider =
    "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"
    "<body name='x'><joint name='x' type='prismatic' axis='1 0 0' v='1.5'/><inertial mass='0.1'/></body>"
    "<body name='z' parent='x'><joint name='z' type='prismatic' axis='0 0 1' q='0.3'/><inertial mass='0.5'/>"
    "<shape name='ball' type='sphere' size='0.1'/><point name='centre'/></body>"
    "<sensor name='c' point='z/centre'/>"
    "<contact %s K='1e5' normal='exact' n='1' restitution='0.6' mu-s='0.3' mu-k='0.2' bristle-K='1e4' bristle-B='10'/>"
    "<run t-end='1.2' rtol='1e-9' atol='1e-12'/></sarrus>";

TEST(a_gap_by_formula_gives_the_motion_of_the_shapes) {
  static const char* const ways[] = {"a='floor' b='ball'", "gap='q(z) - 0.1' slip='q(x)'",
                                     "gap='sensor(c, z) - 0.1' slip-speed='sensor(c, vx)'",
                                     "gap='2*q(z) - sensor(c, z) - 0.1' slip='sensor(c, x)'"};
  double q[4][2];
  for (int k = 0; k < 4; k++) {
    char text[1200];
    snprintf(text, sizeof text, slider, ways[k]);
    Loaded x = open_text(text);
    ENSURE_EQUAL(x.m->ncontact, 1);
    run(&x, sr_run_options(x.m), NULL);
    ENSURE(x.result.impacts >= 2);
    ENSURE_SMALL(x.result.energy.residual / x.result.energy.work[SR_ACCOUNT_CONTACT], 1e-6);
    for (int i = 0; i < 2; i++) q[k][i] = x.d->jq[i];
    close_model(&x);
  }
  for (int k = 1; k < 4; k++) {
    for (int i = 0; i < 2; i++) ENSURE_NEAR(q[0][i], q[k][i], 1e-6);
  }
}

// In all formulations the same: gaps act on joint coordinates and sensors of free bodies too.
TEST(a_gap_by_formula_gives_the_same_motion_of_free_bodies) {
  static const char* const ways[] = {"a='floor' b='ball'", "gap='q(z) - 0.1' slip='sensor(c, x)'"};
  for (int k = 0; k < 2; k++) {
    char text[1200];
    snprintf(text, sizeof text, slider, ways[k]);
    srSpec* spec = NULL;
    Loaded x = {0}, y = {0};
    ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, NULL, &spec), SR_OK);
    ENSURE_EQUAL(sr_compile(spec, NULL, &x.m), SR_OK);
    x.d = sr_data_create(x.m);
    ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, NULL, &y.m, &y.d), SR_OK);
    run(&x, sr_run_options(x.m), NULL);
    run(&y, sr_run_options(y.m), NULL);
    ENSURE_EQUAL(x.result.impacts, y.result.impacts);
    for (int i = 0; i < 2; i++) ENSURE_NEAR(x.d->jq[i], y.d->jq[i], 1e-6);
    close_model(&x);
    close_model(&y);
    srs_destroy(spec);
  }
}

// A bead that is pushed off by a cam: gap(q, t) with a moving wall.
TEST(a_gap_that_moves_with_time_does_work) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='a' type='prismatic'/><inertial "
      "mass='1'/></body>"
      "<contact gap='q(a) + 0.1 - 0.5*t' K='1e7' normal='hertz' friction='none'/><run t-end='0.5' rtol='1e-9' "
      "atol='1e-12'/></sarrus>");
  run(&x, sr_run_options(x.m), NULL);
  ENSURE_NEAR(x.d->jv[0], 1.0, 1e-5);  // elastic: twice the speed of the wall
  ENSURE_NEAR(x.result.event[0].t, 0.2, 1e-6);
  close_model(&x);
}

// ---- materials ------------------------------------------------------------------------------------------------------------

static const char* const cards =
    "<sarrus version='1'>"
    "<material name='steel' E='207e9' nu='0.3' restitution='0.6' mu-s='0.2' mu-k='0.15'/>"
    "<material name='rubber' E='5e6' nu='0.49' restitution='0.9' mu-k='0.8'/>%s"
    "<ground><shape name='floor' type='plane' material='steel'/></ground>"
    "<body name='a'><joint name='a' type='free' q='0 0 1 1 0 0 0'/><inertial mass='1' inertia='1 1 1'/>"
    "<shape name='ball' type='sphere' size='0.1' material='rubber' group='balls'/></body>"
    "<body name='b'><joint name='b' type='free' q='0 1 1 1 0 0 0'/><inertial mass='1' inertia='1 1 1'/>"
    "<shape name='second' type='sphere' size='0.2' material='rubber' group='balls'/></body>"
    "<contact %s/></sarrus>";

TEST(contacts_take_stiffness_restitution_and_friction_from_the_cards) {
  char text[1500];
  snprintf(text, sizeof text, cards, "", "a='floor' b='balls' bristle-K='1e5'");
  Loaded x = open_text(text);
  ENSURE_EQUAL(x.m->ncontact, 2);
  const double s1 = (1 - 0.09) / 207e9, s2 = (1 - 0.49 * 0.49) / 5e6;
  for (int k = 0; k < 2; k++) {
    const srSurfaceLaws* c = x.m->force[k].contact;
    const double K = 4 / (3 * (s1 + s2)) * sqrt(k == 0 ? 0.1 : 0.2);
    ENSURE_NEAR(c->p.K / K, 1, 1e-14);
    ENSURE_NEAR(c->p.e, sqrt((s1 * 0.36 + s2 * 0.81) / (s1 + s2)), 1e-14);
    ENSURE_NEAR(c->slip.s, sqrt(0.2 * 0.8), 1e-15);
    ENSURE_NEAR(c->slip.k, sqrt(0.15 * 0.8), 1e-15);
  }
  close_model(&x);
  // Two balls of one group touch each other once.
  snprintf(text, sizeof text, cards, "", "a='balls' b='balls' bristle-K='1e5' mu-s='0.7'");
  x = open_text(text);
  ENSURE_EQUAL(x.m->ncontact, 1);
  const srSurfaceLaws* c = x.m->force[0].contact;
  ENSURE_NEAR(c->p.K / (4 / (6 * s2) * sqrt(0.02 / 0.3)), 1, 1e-14);
  ENSURE_NEAR(c->p.e, 0.9, 1e-15);
  ENSURE_NEAR(c->slip.s, 0.7, 0);
  ENSURE_NEAR(c->slip.k, 0.7, 0);
  close_model(&x);
  // <pair> takes precedence over the cards, <contact> over both.
  snprintf(text, sizeof text, cards, "<pair materials='rubber steel' restitution='0.3' mu-k='0.5'/>",
           "a='floor' b='ball' bristle-K='1e5' restitution='0.25'");
  x = open_text(text);
  c = x.m->force[0].contact;
  ENSURE_NEAR(c->p.e, 0.25, 0);
  ENSURE_NEAR(c->slip.s, 0.5, 0);
  ENSURE_NEAR(c->slip.k, 0.5, 0);
  close_model(&x);
}

// ---- ends of joints -------------------------------------------------------------------------------------------------------

TEST(an_end_of_a_joint_can_have_a_normal_law) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='a' type='prismatic' v='2' limits='-0.1 "
      "0.3'"
      " limit-law='exact' limit-restitution='0.5' limit-stiffness='1e6'/><inertial mass='1'/></body>"
      "<run t-end='0.5' rtol='1e-9' atol='1e-12'/></sarrus>");
  run(&x, sr_run_options(x.m), NULL);
  ENSURE_EQUAL(x.result.impacts, 1);
  ENSURE_TEXT(x.result.event[0].b, "upper end");
  ENSURE_NEAR(x.result.event[0].t, 0.15, 1e-9);
  ENSURE_NEAR(x.d->jv[0], -1, 1e-3);
  close_model(&x);
}

// ---- end of a contact ---------------------------------------------------------------------------------------------------

// m d'' = -(K d + D d') from d = 0, d' = 1, until the force is 0; from there on the ball is free and the spring, which follows it, loses what it has stored. w0 = 100/s, z = D/200:
//   d = exp(-z w0 t) sin(wd t)/wd,   the force is 0 where tan(wd t) = -2 z sqrt(1 - z^2)/(1 - 2 z^2)
static double speed_of_release(double z) {
  const double w0 = 100, root = sqrt(1 - z * z), wd = w0 * root;
  const double phase = atan2(2 * z * root, 2 * z * z - 1), t = (phase > 0 ? phase : phase + pi) / wd;
  return -exp(-z * w0 * t) * (cos(wd * t) - z / root * sin(wd * t));
}

TEST(dissipation_of_a_spring_and_damper_that_let_go_is_that_of_the_closed_form) {
  static const char* const method[] = {"dopri5", "radau5", "auto"};
  for (int k = 0; k < 3; k++) {
    for (int i = 1; i <= 3; i++) {
      const double z = 0.25 * i, v = speed_of_release(z);
      char text[700];
      snprintf(text, sizeof text,
               "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='floor' type='plane'/></ground>"
               "<body name='ball'><joint type='prismatic' axis='0 0 1' q='0.11' v='-1'/><inertial mass='1'/>"
               "<shape name='s' type='sphere' size='0.1'/></body>"
               "<contact a='floor' b='s' normal='kelvin-voigt' K='1e4' D='%g' friction='none'/></sarrus>",
               200 * z);
      Loaded x = open_text(text);
      srRunOptions options = sr_run_options(x.m);
      options.method = method[k];
      options.t_end = 0.2;
      options.rtol = 1e-8;
      options.atol = 1e-12;
      ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
      ENSURE_NEAR(x.d->v[0], v, 1e-6);
      ENSURE_NEAR(-x.result.energy.work[SR_ACCOUNT_CONTACT], 0.5 * (1 - v * v),
                  1e-6);  // 3e-3 where a step passes the opening
      ENSURE_SMALL(x.result.energy.residual, 1e-6);
      close_model(&x);
    }
  }
}
