// Rigid contact with two coefficients of friction (src/system/contact_tangents.c), by time-stepping and by events: paths, thresholds and directions of slip on the ellipse, rollers without
// friction, wheels whose rollers are a direction, many contacts, against closed forms and an integration of Coulomb's law on its own.
#include <math.h>
#include <string.h>

#include "loading.h"
#include "sliding.h"

typedef struct How {
  srContactMode contact;
  double step;
} How;

static const How by_events = {SR_CONTACT_EVENT, 0};
static How stepping(double step) { return (How){SR_CONTACT_TIMESTEPPING, step}; }

static void run(Loaded* x, How how, double t_end) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = how.contact;
  o.method = how.step > 0 ? "moreau" : "auto";
  if (how.step > 0) o.step = how.step;
  o.t_end = o.every = t_end;
  o.rtol = 1e-10;
  o.atol = 1e-12;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  const int said = sr_messages_count(messages);
  sr_messages_destroy(messages);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(said, 0);  // of directions that are ignored, or a problem that was not solved
}

// A ball of 1 kg that cannot rotate, on a floor: coordinates x, y, z.
static Loaded open_block(const double pull[2], const char* floor, const char* ball, const char* law,
                         const double v[2]) {
  char text[3000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='%.17g %.17g -9.81'/><ground><shape name='floor' type='plane' %s/>"
           "</ground><body name='x'><joint name='x' type='prismatic' axis='1 0 0' v='%.17g'/></body>"
           "<body name='y' parent='x'><joint name='y' type='prismatic' axis='0 1 0' v='%.17g'/></body>"
           "<body name='b' parent='y'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/>"
           "<inertial mass='1'/><shape type='sphere' size='0.1' %s/></body>"
           "<contact a='floor' b='b' normal='kelvin-voigt' K='1e5' D='600' %s/></sarrus>",
           pull[0], pull[1], floor, v[0], v[1], ball, law);
  return open_text(text);
}

static const double none[2] = {0, 0};

// ---- sliding ------------------------------------------------------------------------------------------------------------

static double path_error(const Loaded* x, const double* path) {
  double most = 0;
  for (int k = 0; k < 2; k++) most = fmax(most, fmax(fabs(x->d->q[k] - path[k]), fabs(x->d->v[k] - path[2 + k])));
  return most;
}

// Time-stepping is of order 1, events have the tolerance.
TEST(a_rigid_block_with_two_coefficients_slides_along_the_path_of_most_dissipation) {
  static const struct {
    double angle, mu, mu2;
  } cases[] = {{0, 0.4, 0.1}, {30, 0.4, 0.1}, {-70, 0.3, 0.5}, {120, 0.4, 0}};
  const double v[2] = {1, 0.8};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double angle = cases[i].angle * DEGREE;
    double path[4] = {0, 0, 1, 0.8}, error[3];
    char floor[200], law[200];
    snprintf(floor, sizeof floor, "friction-direction='%.17g %.17g 0.3'", cos(angle), sin(angle));
    snprintf(law, sizeof law, "mu-k='%g' mu2='%g'", cases[i].mu, cases[i].mu2);
    slide(cases[i].mu, cases[i].mu2, angle, 0.2, path);
    for (int k = 0; k < 3; k++) {
      Loaded x = open_block(none, floor, "", law, v);
      run(&x, k == 2 ? by_events : stepping(k == 0 ? 1e-3 : 5e-4), 0.2);
      error[k] = path_error(&x, path);
      close_model(&x);
    }
    ENSURE(error[0] < 1e-3);
    ENSURE_NEAR(error[0] / error[1], 2, 0.05);
    ENSURE(error[2] < 1e-8);
  }
}

// The direction is that of the body that slides, turned with it: the same path as that of the floor's direction.
TEST(a_direction_of_a_rigid_body_that_slides_acts_like_one_of_the_floor) {
  static const char* const scenes[][2] = {{"friction-direction='1 1 0'", ""},
                                          {"", "rpy='0 0 1.5707963267948966' friction-direction='1 -1 2'"},
                                          {"", "friction-direction='0 1 0' friction-turn='0.25*pi'"},
                                          {"friction-direction='1 0 0.1' friction-turn='0.25*pi'", ""}};
  const double v[2] = {1, 0.8};
  for (int how = 0; how < 2; how++) {
    double at[2] = {0};
    for (int i = 0; i < 4; i++) {
      Loaded x = open_block(none, scenes[i][0], scenes[i][1], "mu-k='0.4' mu2='0.1'", v);
      run(&x, how == 0 ? stepping(1e-3) : by_events, 0.2);
      for (int k = 0; k < 2 && i > 0; k++) ENSURE_NEAR(x.d->q[k], at[k], 1e-9);
      for (int k = 0; k < 2; k++) at[k] = x.d->q[k];
      close_model(&x);
    }
  }
}

// ---- threshold and direction of slip --------------------------------------------------------------------------------------

// Pulled at any angle to the direction a block holds within the ellipse (f_1/mu2)^2 + (f_2/mu)^2 = N^2. Beyond it the friction f = F - a is on the ellipse, and the slip, which is
// along a, along its normal there, (f_1/mu2^2, f_2/mu^2): of all forces of the ellipse f has the largest product with it.
static void pull(How how, double angle, double times, double mu, double mu2) {
  const double c = cos(angle), s = sin(angle), size = times * G / hypot(c / mu2, s / mu), t = 0.5;
  const double force[2] = {size * c, size * s};
  char law[200];
  snprintf(law, sizeof law, "mu-k='%g' mu2='%g'", mu, mu2);
  Loaded x = open_block(force, "friction-direction='1 0 0'", "", law, none);
  run(&x, how, t);
  if (times < 1) {
    ENSURE(hypot(x.d->v[0], x.d->v[1]) < 1e-9);
    ENSURE(hypot(x.d->q[0], x.d->q[1]) < 1e-9);
  } else {
    const double a[2] = {x.d->v[0] / t, x.d->v[1] / t}, f[2] = {force[0] - a[0], force[1] - a[1]};
    const double normal[2] = {f[0] / (mu2 * mu2), f[1] / (mu * mu)};
    ENSURE_NEAR(hypot(f[0] / mu2, f[1] / mu), G, 1e-7);
    ENSURE(hypot(a[0], a[1]) > 1e-4 * size);
    ENSURE_NEAR(a[0] * normal[1] - a[1] * normal[0], 0, 1e-6 * hypot(a[0], a[1]) * hypot(normal[0], normal[1]));
    ENSURE(a[0] * normal[0] + a[1] * normal[1] > 0);
  }
  close_model(&x);
}

TEST(a_rigid_block_slips_where_the_pull_leaves_the_ellipse_and_along_its_normal) {
  for (int how = 0; how < 2; how++) {
    for (int i = 0; i < 6; i++) {
      const double angle = (10 + 63 * i) * DEGREE;
      pull(how == 0 ? stepping(1e-2) : by_events, angle, 0.999, 0.5, 0.2);
      pull(how == 0 ? stepping(1e-2) : by_events, angle, 1.001, 0.5, 0.2);
      pull(how == 0 ? stepping(1e-2) : by_events, angle, 1.7, 0.3, 0.8);
    }
  }
}

// mu2 = 0: free along the direction, and held across it.
TEST(a_rigid_block_on_rollers_is_free_along_the_direction_and_held_across) {
  const double force[2] = {2 * cos(0.3) - 3 * sin(0.3), 2 * sin(0.3) + 3 * cos(0.3)}, v[2] = {cos(0.3), sin(0.3)};
  for (int how = 0; how < 2; how++) {
    Loaded x = open_block(force, "", "friction-direction='cos(0.3) sin(0.3) 0'", "mu-k='0.5' mu2='0'", v);
    run(&x, how == 0 ? stepping(1e-3) : by_events, 1);
    const double along = cos(0.3) * x.d->v[0] + sin(0.3) * x.d->v[1],
                 across = cos(0.3) * x.d->q[1] - sin(0.3) * x.d->q[0];
    ENSURE_NEAR(along, 3, 1e-9);
    ENSURE_NEAR(across, 0, 1e-11);
    close_model(&x);
  }
}

// ---- bits ---------------------------------------------------------------------------------------------------------------

#define TWO_BOXES(more, law)                                                                                           \
  "<sarrus version='1'><ground><shape name='floor' type='plane' " more                                                 \
  "/></ground><body name='a'><joint type='free' q='0 0 0.1 1 0 0 0' v='0 0 1 1 0.5 0'/><inertial mass='1' inertia='1 " \
  "1 1'/><shape type='box' size='0.2 0.3 0.2' group='boxes'/></body><body name='b'><joint type='free' q='1 0 0.3 1 0 " \
  "0 0' v='0 1 1 1 0 0'/><inertial mass='1' inertia='1 2 1'/><shape type='sphere' size='0.1' group='boxes'/></body>"   \
  "<contact a='floor' b='boxes' normal='kelvin-voigt' K='1e5' D='600' mu-k='0.4' " law "/></sarrus>"

TEST(two_equal_coefficients_give_the_bits_of_one) {
  const How how[] = {stepping(1e-3), by_events};
  for (int k = 0; k < 2; k++) {
    Loaded x = open_text(TWO_BOXES("friction-direction='1 1 0'", "mu2='0.4'")), y = open_text(TWO_BOXES("", ""));
    run(&x, how[k], 0.3);
    run(&y, how[k], 0.3);
    ENSURE(memcmp(x.d->q, y.d->q, (size_t)x.m->nq * sizeof(double)) == 0);
    ENSURE(memcmp(x.d->v, y.d->v, (size_t)x.m->nv * sizeof(double)) == 0);
    close_model(&x);
    close_model(&y);
  }
}

// ---- wheels ---------------------------------------------------------------------------------------------------------------

// The platform of test_omni.c without bristles: with the wheels' kinematics X, Y, Psi = 1 it is at these points when s(t) is t.
static double platform_error(How how) {
  Loaded x = open_model("contact/omni-wheel", "sink=0");
  run(&x, how, 1);
  const double at[2] = {0.3 * sin(1) - 0.2 * (1 - cos(1)), 0.3 * (1 - cos(1)) + 0.2 * sin(1)};
  const double* q = x.d->jq;
  const double error = fmax(hypot(q[0] - at[0], q[1] - at[1]), fabs(2 * atan2(q[6], q[3]) - 1));
  close_model(&x);
  return error;
}

TEST(a_platform_on_rigid_wheels_with_a_direction_follows_their_kinematics) {
  const double coarse = platform_error(stepping(2e-3)), fine = platform_error(stepping(1e-3));
  ENSURE(coarse < 4e-3);
  ENSURE_NEAR(coarse / fine, 2, 0.2);
  ENSURE(platform_error(by_events) < 1e-8);
}

// A platform on four Mecanum wheels, rollers at 45 degrees, that turn against each other crosswise: it moves sideways by R theta, and nowhere else.
TEST(a_platform_on_rigid_mecanum_wheels_moves_sideways) {
  static const char* const text =
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><body name='b'><joint name='b' "
      "type='free' q='0 0 0.1 1 0 0 0'/><inertial mass='5' inertia='0.1 0.1 0.15'/></body><repeat count='4' "
      "index='i'><parameter name='fore{i}' value='1 - 2*floor(i/2)'/><parameter name='left{i}' value='1 - "
      "2*(i - 2*floor(i/2))'/><body name='w{i}' parent='b'><joint name='w{i}' type='revolute' axis='0 1 0' "
      "at='0.2*fore{i} 0.15*left{i} 0'/><inertial mass='0.3' inertia='1e-3 1e-3 1e-3'/><shape type='sphere' "
      "size='0.1' friction-direction='0 1 0' friction-turn='pi/4*fore{i}*left{i}' group='wheels'/></body><driver "
      "joint='w{i}' motion='3*fore{i}*left{i}*t^2'/></repeat><contact a='floor' b='wheels' normal='kelvin-voigt' "
      "K='1e6' D='3000' mu-k='0.6' mu2='0'/></sarrus>";
  const How how[] = {by_events, stepping(1e-3)};
  for (int k = 0; k < 2; k++) {
    Loaded x = open_text(text);
    run(&x, how[k], 0.5);
    ENSURE_NEAR(x.d->jq[1], -0.1 * 3 * 0.25, k == 0 ? 1e-9 : 2e-4);  // h R theta'/2
    ENSURE_NEAR(x.d->jq[0], 0, 1e-9);
    ENSURE_NEAR(x.d->jq[6], 0, 1e-9);
    close_model(&x);
  }
}

// The loops of CHARMIE have 39 redundant equations, some of them only where the loops are closed to the last digit. Its wheels are locked, and yield along their axles alone, where their rollers roll: as the
// suspension settles the base pitches about its point on the floor, by some 1e-5 rad, and this point stays.
TEST(a_parked_robot_stands_on_rigid_wheels) {
  const How how[] = {by_events, stepping(2e-5)};
  for (int k = 0; k < 2; k++) {
    Loaded x = open_model("paper1/charmie", "move=0");
    srRunOptions o = sr_run_options(x.m);
    o.contact = how[k].contact;
    o.method = how[k].step > 0 ? "moreau" : "mdop5";
    if (how[k].step > 0) o.step = how[k].step;
    o.t_end = o.every = 0.01;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    const double *q = x.d->q, *p = q + 3;
    ENSURE_NEAR(q[0] - 2 * (p[1] * p[3] + p[0] * p[2]) * q[2], 0, 1e-6);
    ENSURE_NEAR(q[1] - 2 * (p[2] * p[3] - p[0] * p[1]) * q[2], 0, 1e-6);
    close_model(&x);
  }
}

// A parcel on a belt up a slope, and one on rollers beside it: the work of the belts is m g times the height and m V^2/2 and the heat of starting, and what is missing goes with h. The parcel arrives as by events.
TEST(the_energy_of_parcels_on_rigid_belts_is_the_work_of_the_belts) {
  double residual[2], at[3];
  for (int k = 0; k < 3; k++) {
    Loaded x = open_model("contact/conveyor", "");
    srRunOptions o = sr_run_options(x.m);
    o.contact = k == 2 ? SR_CONTACT_EVENT : SR_CONTACT_TIMESTEPPING;
    o.method = k == 2 ? "mdop5" : "moreau";
    if (k < 2) o.step = k == 0 ? 2e-3 : 1e-3;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    if (k < 2) residual[k] = fabs(x.result.energy.residual);
    at[k] = x.d->q[0];
    close_model(&x);
  }
  ENSURE(residual[0] < 0.05);  // of 5.7 J
  ENSURE_NEAR(residual[0] / residual[1], 2, 0.3);
  ENSURE_NEAR(at[1], at[2], 1e-3);
}

// ---- many contacts --------------------------------------------------------------------------------------------------------

// Balls in a row that touch each other without friction: one island. Accelerations a along the direction and across it.
static void run_row(int count, double mu2, double along, double across) {
  char text[1500];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><option gravity='0.5 0.7 -9.81'/><ground><shape name='floor' type='plane' "
      "friction-direction='1 0 0'/></ground><repeat count='%d' index='i'><body name='b{i}'><joint type='free' "
      "q='0.2*i 0 0.1 1 0 0 0'/><inertial mass='1' inertia='0.004 0.004 0.004'/><shape type='sphere' size='0.1' "
      "group='balls'/></body></repeat><contact a='floor' b='balls' normal='kelvin-voigt' K='1e5' D='600' "
      "mu-k='0.4' mu2='%g'/><contact a='balls' b='balls' normal='kelvin-voigt' K='1e5' D='600' mu-k='0'/></sarrus>",
      count, mu2);
  Loaded x = open_text(text);
  run(&x, stepping(1e-3), 0.2);
  for (int i = 0; i < count; i++) {
    const double *q = x.d->q + 7 * i + 3, *u = x.d->v + 6 * i + 3;  // velocities in the axes of the body
    const double r[3] = {q[1], q[2], q[3]}, w = q[0];
    double t[3] = {2 * (r[1] * u[2] - r[2] * u[1]), 2 * (r[2] * u[0] - r[0] * u[2]), 2 * (r[0] * u[1] - r[1] * u[0])};
    ENSURE_NEAR(u[0] + w * t[0] + r[1] * t[2] - r[2] * t[1], 0.2 * along, 2e-4);
    ENSURE_NEAR(u[1] + w * t[1] + r[2] * t[0] - r[0] * t[2], 0.2 * across, 2e-4);
  }
  close_model(&x);
}

// Without friction along the direction they are free there; a ball that rolls has 5/7 of the pull; one whose friction along the direction, mu2 N, is less than 2/7 of the pull slides there, and
// across it rolls all the same, but for 1e-3 of the slip.
TEST(balls_slide_and_roll_by_direction_by_the_matrix_and_by_sweeps) {
  static const int counts[] = {2, 40};  // 79 contacts: sweeps by colours
  for (int i = 0; i < 2; i++) {
    run_row(counts[i], 0, 0.5, 0.7 * 5 / 7);
    run_row(counts[i], 0.1, 0.5 * 5 / 7, 0.7 * 5 / 7);
    run_row(counts[i], 0.01, 0.5 - 0.01 * 9.81, 0.7 * 5 / 7);
  }
}
