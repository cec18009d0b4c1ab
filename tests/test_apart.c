// Overlaps at the start: how they are reported, and the least motion out of them. What is expected is a closed form of the geometry.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "messages.h"

#define LAW "normal='kelvin-voigt' K='1e4' D='10' friction='none'"
#define FLOOR "<ground><shape name='floor' type='plane'/></ground>"

static char said[4096];

static srStatus apart(Loaded* x) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_start(x->m, x->d, SR_START_APART, messages);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

// The number of overlaps deeper than rounding.
static int deep(Loaded* x) {
  srOverlaps* o;
  int n = 0;
  ENSURE_EQUAL(sr_overlaps_create(x->m, x->d, &o), SR_OK);
  for (int i = 0; i < o->n; i++) n += o->pair[i].gap < -1e-11;
  sr_overlaps_destroy(o);
  return n;
}

static const char ball_in_floor[] =
    "<sarrus version='1' name='ball'>" FLOOR
    "<body name='ball'><joint name='j' type='free' q='0.3 -0.2 0.04 1 0 0 0'/><inertial mass='2' inertia='1 1 1'/>"
    "<shape name='skin' type='sphere' size='0.1'/></body><contact a='floor' b='skin' " LAW "/></sarrus>";

TEST(overlaps_at_the_start_are_named_with_their_depth) {
  Loaded x = open_text(ball_in_floor);
  srOverlaps* o;
  ENSURE_EQUAL(sr_overlaps_create(x.m, x.d, &o), SR_OK);
  ENSURE_EQUAL(o->n, 1);
  ENSURE_NEAR(o->pair[0].gap, -0.06, 1e-15);
  sr_overlaps_destroy(o);
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_start_overlaps(x.m, x.d, messages), 1);
  messages_keep(messages, said, sizeof said);
  ENSURE(strstr(said, "1 pair of shapes overlaps at the start"));
  ENSURE(strstr(said, "'ground/floor' and 'ball/skin' by 0.06 m"));
  ENSURE(strstr(said, "--start apart"));
  sr_messages_destroy(messages);
  x.d->q[2] = 0.1 - 0.049 * 0.1;  // as a contact at rest: listed, without a warning
  messages = sr_messages_create();
  ENSURE_EQUAL(sr_start_overlaps(x.m, x.d, messages), 0);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(deep(&x), 1);
  x.d->q[2] = 0.11;
  ENSURE_EQUAL(deep(&x), 0);
  close_model(&x);
}

TEST(a_sphere_leaves_a_plane_by_its_depth) {
  Loaded x = open_text(ball_in_floor);
  ENSURE_EQUAL(apart(&x), SR_OK);
  const double q[] = {0.3, -0.2, 0.1, 1, 0, 0, 0};
  for (int i = 0; i < 7; i++) ENSURE_NEAR(x.d->q[i], q[i], 1e-12);
  ENSURE(strstr(said, "least motion that ends 1 overlap of shapes (m, rad): j.vz by 0.06"));
  ENSURE_EQUAL(apart(&x), SR_OK);  // nothing is left to do
  ENSURE_TEXT(said, "");
  close_model(&x);
}

// Of 1 kg and 3 kg, 0.05 m in each other, along (1, 2, 2)/3: three quarters and one quarter of it.
TEST(two_spheres_move_apart_by_the_ratio_of_their_masses) {
  for (int order = 0; order < 2; order++) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "<sarrus version='1' name='two'><body name='light'><joint type='free' q='0 0 0 1 0 0 0'/><inertial mass='1' "
        "inertia='1 1 1'/><shape name='a' type='sphere' size='0.1'/></body><body name='heavy'><joint type='free' "
        "q='0.25/3 0.5/3 0.5/3 1 0 0 0'/><inertial mass='3' inertia='1 1 1'/><shape name='b' type='sphere' "
        "size='0.2'/></body><contact a='%s' b='%s' " LAW "/></sarrus>",
        order ? "b" : "a", order ? "a" : "b");
    Loaded x = open_text(text);
    ENSURE_EQUAL(apart(&x), SR_OK);
    const double n[3] = {1 / 3.0, 2 / 3.0, 2 / 3.0};
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(x.d->q[i], -0.75 * 0.05 * n[i], 1e-11);
      ENSURE_NEAR(x.d->q[7 + i], (0.25 + 0.25 * 0.05) * n[i], 1e-11);
    }
    close_model(&x);
  }
}

// A bar of 1 m with a ball of 0.1 m at its end, the pivot 0.8 m above the floor: cos q = 0.7.
static Loaded pendulum(double q, const char* more) {
  char text[1200];
  snprintf(
      text, sizeof text,
      "<sarrus version='1' name='pendulum'>" FLOOR
      "<body name='bar'><joint name='j' type='revolute' axis='0 1 0' at='0 0 0.8' q='%.17g' %s/><inertial mass='1' "
      "com='0 0 -0.5' inertia='1 1 1'/><shape name='tip' type='sphere' size='0.1' at='0 0 -1'/></body>"
      "<contact a='floor' b='tip' " LAW "/></sarrus>",
      q, more);
  return open_text(text);
}

TEST(a_pendulum_swings_out_of_the_floor) {
  for (int side = -1; side <= 1; side += 2) {
    Loaded x = pendulum(0.3 * side, "");
    ENSURE_EQUAL(apart(&x), SR_OK);
    ENSURE_NEAR(x.d->q[0], side * acos(0.7), 1e-10);
    close_model(&x);
  }
}

TEST(what_cannot_be_separated_is_named_and_left_as_it_was) {
  Loaded x = pendulum(0.3, "limits='-0.5 0.6'");
  ENSURE_EQUAL(apart(&x), SR_INPUT);
  ENSURE(strstr(said, "'ground/floor' and 'bar/tip' still overlap by"));
  ENSURE_NEAR(x.d->q[0], 0.3, 0);
  close_model(&x);
  x = open_text(
      "<sarrus version='1' name='driven'>" FLOOR
      "<body name='ball'><joint name='z' type='prismatic' axis='0 0 1' q='0.04'/><inertial mass='1'/><shape name='s' "
      "type='sphere' size='0.1'/></body><driver joint='z' motion='0.04'/><contact a='floor' b='s' " LAW "/></sarrus>");
  ENSURE_EQUAL(apart(&x), SR_INPUT);
  ENSURE(strstr(said, "'ground/floor' and 'ball/s' still overlap by 0.06 m: no motion was found that separates them"));
  close_model(&x);
  x = open_text(
      "<sarrus version='1' name='slot'><ground><shape name='floor' type='plane'/><shape name='roof' type='plane' "
      "at='0 0 0.15' rot='0 1 0 0'/></ground><body name='ball'><joint type='free' q='0 0 0.07 1 0 0 0'/><inertial "
      "mass='1' inertia='1 1 1'/><shape name='s' type='sphere' size='0.1'/></body><contact a='floor' b='s' " LAW
      "/><contact a='roof' b='s' " LAW "/></sarrus>");
  ENSURE_EQUAL(apart(&x), SR_INPUT);
  ENSURE(strstr(said, "still overlap by"));
  ENSURE_NEAR(x.d->q[2], 0.07, 0);
  close_model(&x);
}

// A box 2 cm in the floor rises without turning, wherever its centre of mass is; on a plane or a box, before it in the file or behind.
TEST(a_box_rises_from_a_face_without_turning) {
  static const char* const floors[] = {"<ground><shape name='floor' type='plane'/></ground>",
                                       "<ground><shape name='floor' type='box' size='3 3 1' at='0 0 -0.5'/></ground>"};
  static const char box[] =
      "<body name='box'><joint type='free' q='0 0 0.03 1 0 0 0'/><inertial mass='1' com='0.03 0.01 0.02' inertia='0.01 "
      "0.02 "
      "0.03'/><shape name='b' type='box' size='0.2 0.3 0.1'/></body>";
  for (int k = 0; k < 4; k++) {
    char text[1200];
    snprintf(text, sizeof text, "<sarrus version='1' name='box'>%s%s<contact a='floor' b='b' " LAW "/></sarrus>",
             k % 2 ? box : floors[k / 2], k % 2 ? floors[k / 2] : box);
    Loaded x = open_text(text);
    ENSURE_EQUAL(apart(&x), SR_OK);
    const double q[] = {0, 0, 0.05, 1, 0, 0, 0};
    for (int i = 0; i < 7; i++) ENSURE_NEAR(x.d->q[i], q[i], 1e-9);
    close_model(&x);
  }
}

// The ball of the pendulum in a fixed ball of 0.2 m whose centre is on the circle of its own, at q = 0: 2 sin(q/2) = 0.3. The normal changes on both.
TEST(a_pendulum_swings_out_of_a_ball) {
  Loaded x = open_text(
      "<sarrus version='1' name='pendulum'><ground><shape name='stone' type='sphere' size='0.2' at='0 0 -1'/></ground>"
      "<body name='bar'><joint name='j' type='revolute' axis='0 1 0' q='0.1'/><inertial mass='1' com='0 0 -0.5' "
      "inertia='1 1 "
      "1'/><shape name='tip' type='sphere' size='0.1' at='0 0 -1'/></body><contact a='stone' b='tip' " LAW
      "/></sarrus>");
  ENSURE_EQUAL(apart(&x), SR_OK);
  ENSURE_NEAR(x.d->q[0], 2 * asin(0.15), 1e-9);
  close_model(&x);
}

// A parallelogram: the coupler does not turn, so its foot is at 0.5 + 0.3 sin q - 0.3 above the floor's plane, with a radius of 0.05. Starts at q = -0.9.
TEST(a_four_bar_lifts_its_foot_with_its_loop_closed) {
  Loaded x = open_text("<sarrus version='1' name='four-bar'>" FLOOR
                       "<body name='crank'><joint name='c' type='revolute' axis='0 -1 0' at='0 0 0.5' "
                       "q='-0.9'/><inertial mass='1' com='0.15 0 0' "
                       "inertia='0.01 0.01 0.01'/></body>"
                       "<body name='rocker'><joint name='r' type='revolute' axis='0 -1 0' at='0.4 0 0.5' "
                       "q='-0.9'/><inertial mass='1' com='0.15 "
                       "0 0' inertia='0.01 0.01 0.01'/><point name='end' at='0.3 0 0'/></body>"
                       "<body name='coupler' parent='crank'><joint name='k' type='revolute' axis='0 -1 0' at='0.3 0 0' "
                       "q='0.9'/><inertial "
                       "mass='2' com='0.2 0 0' inertia='0.02 0.02 0.02'/><point name='end' at='0.4 0 0'/><shape "
                       "name='foot' type='sphere' "
                       "size='0.05' at='0.2 0 -0.3'/></body>"
                       "<closure name='pin' type='ball' a='coupler/end' b='rocker/end' normal='0 1 0'/>"
                       "<contact a='floor' b='foot' " LAW "/></sarrus>");
  ENSURE_EQUAL(apart(&x), SR_OK);
  const double q = asin((0.05 + 0.3 - 0.5) / 0.3);
  ENSURE_NEAR(x.d->q[0], q, 1e-9);
  srAssembly left;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &left), SR_OK);
  ENSURE(left.moved_position < 1e-9);
  ENSURE_EQUAL(deep(&x), 0);
  close_model(&x);
}

// Three balls of 1 kg in a row, in a contact set: x2 - x1 >= d1, x3 - x2 >= d2 with the least sum of squares.
TEST(balls_of_a_set_share_the_motion) {
  Loaded x = open_text(
      "<sarrus version='1' name='row'><repeat count='3' index='i'><body name='b{i}'><joint type='free' q='0.17*i + "
      "0.01*i*i 0 0 1 "
      "0 0 0'/><inertial mass='1' inertia='1 1 1'/><shape name='s{i}' type='sphere' size='0.1' "
      "group='balls'/></body></repeat>"
      "<contact a='balls' b='balls' most='8' " LAW "/></sarrus>");
  const double x0[3] = {x.d->q[0], x.d->q[7], x.d->q[14]};
  const double d1 = 0.2 - (x0[1] - x0[0]), d2 = 0.2 - (x0[2] - x0[1]);
  ENSURE(d1 > 0 && d2 > 0 && fabs(d1 - d2) > 1e-3);
  ENSURE_EQUAL(apart(&x), SR_OK);
  const double first = -(2 * d1 + d2) / 3;
  ENSURE_NEAR(x.d->q[0], x0[0] + first, 1e-10);
  ENSURE_NEAR(x.d->q[7], x0[1] + first + d1, 1e-10);
  ENSURE_NEAR(x.d->q[14], x0[2] + first + d1 + d2, 1e-10);
  close_model(&x);
}

// check lists them, with both names and the depth.
TEST(check_reports_overlaps) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  srCheck* check = NULL;
  srText text = {0};
  ENSURE_EQUAL(sr_load_text(ball_in_floor, strlen(ball_in_floor), "m", NULL, NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_check_create(spec, m, d, SR_FORMULATION_RELATIVE, messages, &check), SR_OK);
  sr_report_check(check, messages, SR_REPORT_JSON, &text);
  ENSURE(strstr(text.data, "\"overlaps\""));
  ENSURE(strstr(text.data, "\"ground/floor\"") && strstr(text.data, "\"ball/skin\""));
  sr_text_free(&text);
  text = (srText){0};
  sr_report_check(check, messages, SR_REPORT_TEXT, &text);
  ENSURE(strstr(text.data, "ground/floor and ball/skin by 0.06 m"));
  sr_text_free(&text);
  sr_check_destroy(check);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}
