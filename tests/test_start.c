// States at a time (drivers, loops, what was given of them) and starts inside of the limits of joints.
#include <math.h>

#include "loading.h"
#include "messages.h"

static char said[2000];

static void keep_messages(srMessages* messages) {
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
}

// ---- a time ---------------------------------------------------------------------------------------------------------------

static srStatus at(Loaded* x, double t, bool q_given, bool v_given) {
  srMessages* messages = sr_messages_create();
  x->d->t = t;
  const srStatus status = sr_state_at_time(x->m, x->d, q_given, v_given, messages, NULL);
  keep_messages(messages);
  return status;
}

static const char cart[] =
    "<sarrus version='1'><body name='cart'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='2'/></body>"
    "<body name='arm' parent='cart'><joint name='phi' type='revolute' axis='0 1 0' q='0.4'/>"
    "<inertial mass='1' com='0 0 -0.5' inertia='0.1 0.1 0.1'/></body><driver joint='x' "
    "motion='0.1*sin(3*t)'/></sarrus>";

TEST(a_driven_joint_is_on_its_motion_at_any_time) {
  Loaded x = open_text(cart);
  for (double t = -1.0; t < 3.0; t += 0.7) {
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(at(&x, t, false, false), SR_OK);
    ENSURE_TEXT(said, "");
    ENSURE_NEAR(x.d->q[0], 0.1 * sin(3 * t), 1e-15);
    ENSURE_NEAR(x.d->v[0], 0.3 * cos(3 * t), 1e-15);
    ENSURE_NEAR(x.d->q[1], 0.4, 0);  // no driver moves it
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_NEAR(x.d->a[0], -0.9 * sin(3 * t), 1e-15);
  }
  close_model(&x);
}

// What is given stays, and what contradicts the driver is reported with its name, both numbers and the time.
TEST(positions_that_were_given_stay_and_contradictions_are_warned_of) {
  Loaded x = open_text(cart);
  x.d->q[0] = 0.25;
  ENSURE_EQUAL(at(&x, 0.7, true, false), SR_OK);
  ENSURE_NEAR(x.d->q[0], 0.25, 0);
  ENSURE_NEAR(x.d->v[0], 0.3 * cos(2.1), 1e-15);  // the velocity was not given
  ENSURE(strstr(said, "warning: the position of 'x' is given as 0.25, and its driver has 0.0863209367 m at t = 0.7 s"));
  ENSURE(!strstr(said, "velocity"));
  x.d->v[0] = -2;
  ENSURE_EQUAL(at(&x, 0.7, false, true), SR_OK);
  ENSURE_NEAR(x.d->q[0], 0.1 * sin(2.1), 1e-15);
  ENSURE_NEAR(x.d->v[0], -2, 0);
  ENSURE(strstr(said, "the velocity of 'x' is given as -2, and its driver has -0.151453831 m/s at t = 0.7 s"));
  ENSURE(!strstr(said, "position"));
  x.d->v[0] = 0.3 * cos(2.1);
  ENSURE_EQUAL(at(&x, 0.7, true, true), SR_OK);
  ENSURE_TEXT(said, "");  // what eval and run have printed can be given again
  close_model(&x);
}

// Of several drivers each puts its own coordinate.
TEST(what_was_not_given_is_put_by_every_driver) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<body name='b'><joint name='y' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<driver joint='x' motion='2*t'/><driver joint='y' motion='-3*t'/></sarrus>");
  x.d->v[0] = 2, x.d->v[1] = -3;
  ENSURE_EQUAL(at(&x, 0.5, false, true), SR_OK);
  ENSURE_NEAR(x.d->q[0], 1, 1e-15);
  ENSURE_NEAR(x.d->q[1], -1.5, 1e-15);
  x.d->q[0] = 1, x.d->q[1] = -1.5;
  x.d->v[0] = x.d->v[1] = 0;
  ENSURE_EQUAL(at(&x, 0.5, true, false), SR_OK);
  ENSURE_NEAR(x.d->v[0], 2, 1e-15);
  ENSURE_NEAR(x.d->v[1], -3, 1e-15);
  close_model(&x);
}

TEST(numbers_that_agree_in_their_digits_are_no_contradiction) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic' axis='1 0 0'/><inertial mass='1'/>"
      "</body><driver joint='x' motion='1e6'/></sarrus>");
  x.d->q[0] = 1e6 + 1e-4;  // 1e-10 of it
  ENSURE_EQUAL(at(&x, 0, true, false), SR_OK);
  ENSURE_TEXT(said, "");
  x.d->q[0] = 1e6 + 1e-2;
  ENSURE_EQUAL(at(&x, 0, true, false), SR_OK);
  ENSURE(strstr(said, "the position of 'x' is given as 1000000.01"));
  close_model(&x);
}

// Crank 1 m, rod 3 m; the file gives a start that does not fit.
#define CRANK(driver)                                                                                                  \
  "<sarrus version='1'><body name='crank'><joint name='crank' type='revolute' axis='0 0 1' q='0.3'/><inertial "        \
  "mass='1' "                                                                                                          \
  "inertia='1 1 1'/></body><body name='rod' parent='crank'><joint name='rod' type='revolute' axis='0 0 1' at='1 0 0' " \
  "q='-0.4'/><inertial mass='1' inertia='1 1 1'/><point name='pin' at='3 0 0'/></body><body name='slider'><joint "     \
  "name='slider' type='prismatic' axis='1 0 0' q='3.9'/><inertial mass='1'/><point name='pin' at='0 0 0'/></body>"     \
  "<closure name='loop' type='point-line' a='slider/pin' b='rod/pin' axis='0 0 1'/>" driver "</sarrus>"

// s = cos a + sqrt(9 - sin^2 a), on the branch of the start, however many turns away.
TEST(a_driven_slider_crank_keeps_its_branch_at_any_time) {
  static const double times[] = {0.0, 0.7, 1.7, -3.0, 13.0, 40.0};
  Loaded x = open_text(CRANK("<driver joint='crank' motion='0.3 + 5*t'/>"));
  for (int i = 0; i < (int)(sizeof times / sizeof times[0]); i++) {
    const double t = times[i], a = 0.3 + 5 * t, root = sqrt(9 - sin(a) * sin(a));
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(at(&x, t, false, false), SR_OK);
    ENSURE(!strstr(said, "warning"));
    ENSURE_NEAR(x.d->q[0], a, 1e-12);
    ENSURE_NEAR(x.d->q[1], -asin(sin(a) / 3) - a, 1e-11);
    ENSURE_NEAR(x.d->q[2], cos(a) + root, 1e-11);
    ENSURE_NEAR(x.d->v[2], -5 * (sin(a) + sin(a) * cos(a) / root), 1e-10);
  }
  close_model(&x);
}

// Drivers that are not in the loop come before and after the one that is.
TEST(among_several_drivers_the_loop_follows_its_own) {
#define CART(name)                                                                                                     \
  "<body name='" name "'><joint name='" name "' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
  Loaded x =
      open_text(CRANK(CART("l") CART("r") "<driver joint='l' motion='0.1*t'/><driver joint='crank' motion='0.3 + 5*t'/>"
                                          "<driver joint='r' motion='-0.2*t'/>"));
#undef CART
  for (double t = -1.1; t < 4; t += 1.3) {
    const double a = 0.3 + 5 * t;
    sr_data_reset(x.m, x.d);
    ENSURE_EQUAL(at(&x, t, false, false), SR_OK);
    ENSURE(!strstr(said, "warning"));
    ENSURE_NEAR(x.d->q[0], a, 1e-12);
    ENSURE_NEAR(x.d->q[2], cos(a) + sqrt(9 - sin(a) * sin(a)), 1e-11);
    ENSURE_NEAR(x.d->q[3], 0.1 * t, 1e-15);
    ENSURE_NEAR(x.d->q[4], -0.2 * t, 1e-15);
    ENSURE_NEAR(x.d->v[3], 0.1, 1e-15);
    ENSURE_NEAR(x.d->v[4], -0.2, 1e-15);
  }
  close_model(&x);
}

TEST(a_way_that_cannot_be_followed_is_warned_of_and_an_end_that_cannot_be_met_refused) {
  Loaded x = open_text(CRANK("<driver joint='slider' motion='3.5 + 1.2*sin(3.141592653589793*t)'/>"));
  ENSURE_EQUAL(at(&x, 0.05, false, false), SR_OK);
  ENSURE(!strstr(said, "warning"));
  sr_data_reset(x.m, x.d);
  ENSURE_EQUAL(at(&x, 1.3, false, false), SR_OK);  // beyond the reach of 4 m in between
  const double reach = 3.5 - 1.2 * sin(0.3 * 3.141592653589793);
  ENSURE_NEAR(x.d->q[2], reach, 1e-12);
  ENSURE_NEAR(x.d->q[0], acos((reach * reach - 8) / (2 * reach)), 1e-11);  // closed from the start, crank at 0.3
  ENSURE(strstr(
      said,
      "warning: the loops are closed at t = 1.3 s, but could not be followed there from the start (up to t = 0.13"));
  sr_data_reset(x.m, x.d);
  ENSURE_EQUAL(at(&x, 0.5, false, false), SR_INPUT);
  ENSURE(strstr(said, "cannot be closed: its residual stays at"));
  close_model(&x);
}

// u w = s leaves one coordinate open: it shows from where the loops were closed.
TEST(a_way_that_is_lost_leaves_no_trace_in_the_state) {
  Loaded x = open_text(
      CRANK("<body name='u'><joint name='u' type='prismatic' axis='1 0 0' q='1'/><inertial mass='1'/></body>"
            "<body name='w'><joint name='w' type='prismatic' axis='1 0 0' q='3.5'/><inertial mass='1'/></body>"
            "<constraint expr='q(u)*q(w) - q(slider)'/>"
            "<driver joint='slider' motion='3.5 + 1.2*sin(3.141592653589793*t)'/>"));
  double followed[5];
  ENSURE_EQUAL(at(&x, 1.3, false, false), SR_OK);
  ENSURE(strstr(said, "could not be followed"));
  memcpy(followed, x.d->q, sizeof followed);
  sr_data_reset(x.m, x.d);
  x.d->t = 1.3;
  x.d->q[2] = 3.5 - 1.2 * sin(0.3 * 3.141592653589793);
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, NULL), SR_OK);
  for (int i = 0; i < 5; i++) ENSURE_NEAR(followed[i], x.d->q[i], 1e-12);
  close_model(&x);
}

// ---- limits ---------------------------------------------------------------------------------------------------------------

static srStatus start_inside(Loaded* x) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_start(x->m, x->d, SR_START_INSIDE_LIMITS, messages);
  keep_messages(messages);
  return status;
}

static int outside(Loaded* x) {
  srMessages* messages = sr_messages_create();
  const int n = sr_start_outside(x->m, x->d, messages);
  ENSURE_EQUAL(sr_messages_count(messages), n > 0 ? 1 : 0);
  keep_messages(messages);
  return n;
}

// Two arms side by side, with limits and what else is asked for.
static Loaded arms(const char* first, const char* second, const char* more) {
  char text[1200];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><body name='a'><joint name='i' type='revolute' axis='0 1 0' %s/><inertial mass='1' "
      "inertia='1 1 "
      "1'/></body>\n<body name='b'><joint name='j' type='revolute' axis='0 1 0' %s/><inertial mass='1' inertia='1 1 "
      "1'/></body>"
      "<body name='c'><joint name='k' type='ball' q='1 0 0 0'/><inertial mass='1' inertia='1 1 1'/></body>%s</sarrus>",
      first, second, more);
  return open_text(text);
}

TEST(a_start_outside_of_limits_is_reported_with_names_values_and_limits) {
  Loaded x = arms("limits='-1 1'", "limits='-2.7 -0.9'", "");
  ENSURE_EQUAL(outside(&x), 1);
  ENSURE(strstr(
      said,
      ":2:1: warning: the start is outside of the limits of 1 joint, and the stops push at once: 'j' at 0 rad (-2.7 to "
      "-0.9); --start inside-limits takes the nearest start inside"));
  x.d->q[0] = 1.5, x.d->q[1] = -2.0;
  ENSURE_EQUAL(outside(&x), 1);
  ENSURE(strstr(said, "'i' at 1.5 rad (-1 to 1)"));
  x.d->q[0] = 1.0, x.d->q[1] = -2.7;  // at their ends
  ENSURE_EQUAL(outside(&x), 0);
  x.d->q[0] = -1.01, x.d->q[1] = -2.8;
  ENSURE_EQUAL(outside(&x), 2);
  close_model(&x);
}

TEST(many_joints_outside_of_limits_are_counted_and_the_first_six_named) {
  char text[2000] = "<sarrus version='1'>";
  for (int i = 0; i < 7; i++) {
    const size_t used = strlen(text);
    snprintf(
        text + used, sizeof text - used,
        "<body name='b%d'><joint name='j%d' type='revolute' limits='1 2'/><inertial mass='1' inertia='1 1 1'/></body>",
        i, i);
  }
  Loaded x = open_text(strcat(text, "</sarrus>"));
  ENSURE_EQUAL(outside(&x), 7);
  ENSURE(strstr(said, "of 7 joints") && strstr(said, "'j5' at 0 rad (1 to 2), ...; --start") && !strstr(said, "'j6'"));
  x.d->q[0] = 1;
  ENSURE_EQUAL(outside(&x), 6);
  ENSURE(strstr(said, "'j6' at 0 rad (1 to 2); --start"));
  close_model(&x);
}

TEST(a_start_inside_of_limits_is_the_nearest_one) {
  Loaded x = arms("q='-1.3' limits='-1 1'", "limits='-2.7 -0.9'", "");
  const double ball[4] = {x.d->q[2], x.d->q[3], x.d->q[4], x.d->q[5]};
  ENSURE_EQUAL(start_inside(&x), SR_OK);
  ENSURE_NEAR(x.d->q[0], -1, 0);
  ENSURE_NEAR(x.d->q[1], -0.9, 0);
  ENSURE(memcmp(ball, x.d->q + 2, sizeof ball) == 0);
  ENSURE(strstr(said,
                "note: the start is moved inside of the limits of 2 joints: 'i' to -1 rad (-1 to 1), 'j' to -0.9 rad"));
  ENSURE_EQUAL(outside(&x), 0);
  ENSURE_EQUAL(start_inside(&x), SR_OK);  // once more: nothing to do
  ENSURE_TEXT(said, "");
  ENSURE_EQUAL(sr_start(x.m, x.d, SR_START_GIVEN, NULL), SR_OK);
  close_model(&x);
}

TEST(a_driven_joint_outside_of_its_limits_stays_on_its_motion) {
  Loaded x = arms("limits='-1 1'", "limits='-2.7 -0.9'", "<driver joint='i' motion='2'/>");
  ENSURE_EQUAL(start_inside(&x), SR_OK);
  ENSURE_NEAR(x.d->q[0], 2, 0);
  ENSURE_NEAR(x.d->q[1], -0.9, 0);
  ENSURE_EQUAL(outside(&x), 1);
  ENSURE(strstr(said, "'i' at 2 rad"));
  close_model(&x);
}

// q_j = ratio q_i ties them: the limits of one are reached by moving the other.
TEST(with_constraints_a_start_is_inside_of_all_limits_and_meets_them) {
  Loaded x = arms("limits='-1 1'", "limits='0.5 2'", "<constraint expr='q(j) - 0.7*q(i)'/>");
  ENSURE_EQUAL(start_inside(&x), SR_OK);
  ENSURE_NEAR(x.d->q[1] - 0.7 * x.d->q[0], 0, 1e-12);
  ENSURE_EQUAL(outside(&x), 0);
  ENSURE_NEAR(x.d->q[1], 0.5, 1e-3);  // and no farther than that asks for
  close_model(&x);
  x = arms("limits='-1 1'", "limits='0.5 1e9'", "<constraint expr='q(j) - 0.7*q(i)'/>");  // an end that is none
  ENSURE_EQUAL(start_inside(&x), SR_OK);
  ENSURE_EQUAL(outside(&x), 0);
  ENSURE_NEAR(x.d->q[1], 0.5, 1e-3);
  close_model(&x);
  x = arms("limits='-1 1'", "limits='0.9 2'", "<constraint expr='q(j) - 0.7*q(i)'/>");
  ENSURE_EQUAL(start_inside(&x), SR_INPUT);
  ENSURE(strstr(said, "error: no start was found inside of all limits with the constraints met: 'i' stays at 1.0"));
  ENSURE(!strstr(said, "'k'"));
  close_model(&x);
}

// Limits and constraint meet at an angle of 13 degrees: every iteration covers 5 % of the distance, and the end is reached because the limits are drawn in
// by up to 0.01 rad.
TEST(a_start_is_found_where_the_rounds_bring_little) {
  Loaded x = arms("", "limits='0.05 2'", "<constraint expr='q(j) - 0.23*q(i)'/>");
  ENSURE_EQUAL(start_inside(&x), SR_OK);
  ENSURE_EQUAL(outside(&x), 0);
  ENSURE_NEAR(x.d->q[1] - 0.23 * x.d->q[0], 0, 1e-12);
  ENSURE(x.d->q[1] >= 0.05 && x.d->q[1] < 0.06);
  close_model(&x);
}

TEST(starts_are_found_in_joint_coordinates) {
  static const char text[] =
      "<sarrus version='1'><body name='a'><joint name='i' type='revolute' limits='1 2'/><inertial mass='1' "
      "inertia='1 1 1'/></body></sarrus>";
  Loaded x = open_text(text);
  srSpec* spec = NULL;
  srModel* m = NULL;
  srData* d = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, NULL, &m, &d), SR_OK);
  Loaded free_bodies = {.m = m, .d = d};
  ENSURE_EQUAL(start_inside(&free_bodies), SR_INPUT);
  ENSURE(strstr(said, "do it before sr_formulate"));
  sr_kinematics(m, d);
  ENSURE_EQUAL(outside(&free_bodies), 1);  // the joints are those of the file
  close_model(&free_bodies);
  srs_destroy(spec);
  close_model(&x);
}
