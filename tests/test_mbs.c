// Tests of the ROBOTRAN reader: models written by hand in the structure of MBsysPad's files, against the same models
// in our format and against positions written out from the conventions of the ROBOTRAN manual, section 2.4.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "runner.h"

static char said[8192];

static void keep_messages(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

static srModel* compile(srSpec* spec, srMessages* messages) {
  srModel* model = NULL;
  if (spec) sr_compile(spec, messages, &model);
  keep_messages(messages);
  if (!model) fprintf(stderr, "%s", said);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return model;
}

static srModel* open_file(const char* file) {
  char path[600];
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  snprintf(path, sizeof path, "%s/tests/mbs/%s", SARRUS_SOURCE_DIR, file);
  sr_load(path, NULL, messages, &spec);
  return compile(spec, messages);
}

static srModel* open_text(const char* text) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec);
  return compile(spec, messages);
}

static bool refused(const char* content, const char* message) {
  static char text[8192];
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  snprintf(text, sizeof text, "<mbsDescR7>\n%s</mbsDescR7>", content);
  const srStatus status = sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec);
  keep_messages(messages);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  if (status == SR_INPUT && strstr(said, message)) return true;
  fprintf(stderr, "expected: %s\ngot: %s", message, said);
  return false;
}

static srData* assembled(const srModel* m) {
  srAssembly assembly;
  srData* d = sr_data_create(m);
  ENSURE(sr_assemble(m, d, NULL, &assembly) == SR_OK);
  ENSURE(sr_forward(m, d, 0) == 0);
  return d;
}

TEST(mbs_a_four_bar_is_the_one_of_our_format) {
  srModel *a = open_file("fourbar.mbs"), *b = open_file("fourbar.xml");
  ENSURE(a && b && a->nv == 3 && b->nv == 3 && a->ng == 2 && b->ng == 2);
  srData *x = assembled(a), *y = assembled(b);
  for (int i = 0; i < 3; i++) {
    ENSURE_TEXT(a->v_name[i], b->v_name[i]);
    ENSURE_NEAR(x->q[i], y->q[i], 1e-14);
    ENSURE_NEAR(x->v[i], y->v[i], 1e-13);
    ENSURE_NEAR(x->a[i], y->a[i], 1e-10);
  }
  for (int i = 0; i < 2; i++) ENSURE_NEAR(x->lambda[i], y->lambda[i], 1e-10);
  ENSURE(fabs(x->lambda[0]) > 0.1);
  ENSURE_NEAR(x->q[sr_joint_find(a, "R2_crank")], -1.2, 0);  // independent: it keeps its place when the loop is closed
  ENSURE_NEAR(x->v[sr_joint_find(a, "R2_crank")], 2.0, 0);
  ENSURE(fabs(x->q[1] - 1.0) > 1e-3);  // dependent: its value was a guess
  ENSURE(sr_sensor_find(a, "end") >= 0);
  sr_data_destroy(x), sr_data_destroy(y);
  sr_model_destroy(a), sr_model_destroy(b);
}

// Rx(a) Ry(b) Rz(c), rows.
static void turned(double a, double b, double c, double R[9]) {
  const double A[9] = {1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)};
  const double B[9] = {cos(b), 0, sin(b), 0, 1, 0, -sin(b), 0, cos(b)};
  const double C[9] = {cos(c), -sin(c), 0, sin(c), cos(c), 0, 0, 0, 1};
  double AB[9];
  for (int i = 0; i < 9; i++) {
    AB[i] = 0;
    for (int k = 0; k < 3; k++) AB[i] += A[3 * (i / 3) + k] * B[3 * k + i % 3];
  }
  for (int i = 0; i < 9; i++) {
    R[i] = 0;
    for (int k = 0; k < 3; k++) R[i] += AB[3 * (i / 3) + k] * C[3 * k + i % 3];
  }
}

TEST(mbs_joints_in_a_row_follow_each_other_in_the_axes_of_the_last) {
  srModel* m = open_file("chain.mbs");
  ENSURE(m && m->nv == 7);
  srData* d = sr_data_create(m);
  srFrameMotion eye;
  double R[9];
  const double point[3] = {0.7, -0.3, 0.2}, start[3] = {1.1, 2.2, 3.3};
  turned(0.4, 0.5, 0.6, R);
  ENSURE(sr_forward(m, d, 0) == 0);
  sr_frame_motion(m, d, m->sensor[sr_sensor_find(m, "eye")].point, 0, &eye);
  for (int i = 0; i < 3; i++) {
    const double x = R[3 * i] * point[0] + R[3 * i + 1] * point[1] + R[3 * i + 2] * point[2];
    ENSURE_NEAR(eye.position[i], start[i] + x, 1e-14);
    ENSURE_NEAR(eye.angular_velocity[i], 0.7 * (i == 0) - 1.1 * R[3 * i + 2], 1e-14);
  }
  for (int i = 0; i < 9; i++) ENSURE_NEAR(eye.rotation[i], R[i], 1e-15);
  ENSURE_NEAR(m->gravity[0], 0.5, 0);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

// Six joints are a free body; the driven lid is welded to it at its angle. The same place, turned as above, the same
// motion.
TEST(mbs_six_elementary_joints_move_as_a_free_body) {
  char text[2000];
  double R[9], w[3];
  turned(0.4, 0.5, 0.6, R);
  const double cx = cos(0.2), sx = sin(0.2), cy = cos(0.25), sy = sin(0.25), cz = cos(0.3), sz = sin(0.3);
  const double Q[4] = {cx * cy * cz - sx * sy * sz, sx * cy * cz + cx * sy * sz, cx * sy * cz - sx * cy * sz,
                       cx * cy * sz + sx * sy * cz};               // of Rx Ry Rz
  for (int i = 0; i < 3; i++) w[i] = R[i] * 0.7 - 1.1 * (i == 2);  // in the axes of the body
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0.5 0 -9.81'/><body name='box'><joint type='free' "
           "q='1.1 2.2 3.3 %.17g %.17g %.17g %.17g' v='%.17g %.17g %.17g %.17g %.17g %.17g'/>"
           "<inertial mass='3' com='0.1 -0.2 0.05' inertia='0.2 0.3 0.4 0.01 -0.02 0.03'/>"
           "<point name='eye' at='0.7 -0.3 0.2'/></body>"
           "<body name='lid' parent='box'><joint type='weld' at='0.7 -0.3 0.2' rpy='0 0.25 0'/>"
           "<inertial mass='0.5' inertia='0.01 0.01 0.01'/></body><sensor name='eye' point='box/eye'/></sarrus>",
           Q[0], Q[1], Q[2], Q[3], w[0], w[1], w[2], R[0], R[1], R[2]);
  srModel *a = open_file("chain.mbs"), *b = open_text(text);
  ENSURE(a && b);
  srData *x = sr_data_create(a), *y = sr_data_create(b);
  srFrameMotion p, q;
  ENSURE(sr_forward(a, x, 0) == 0 && sr_forward(b, y, 0) == 0);
  sr_acceleration(a, x), sr_acceleration(b, y);
  sr_frame_motion(a, x, a->sensor[sr_sensor_find(a, "eye")].point, 0, &p);
  sr_frame_motion(b, y, b->sensor[0].point, 0, &q);
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(p.velocity[i], q.velocity[i], 1e-14);
    ENSURE_NEAR(p.acceleration[i], q.acceleration[i], 1e-12);
    ENSURE_NEAR(p.angular_acceleration[i], q.angular_acceleration[i], 1e-12);
  }
  ENSURE(fabs(p.angular_acceleration[0]) > 1e-2);
  sr_data_destroy(x), sr_data_destroy(y);
  sr_model_destroy(a), sr_model_destroy(b);
}

TEST(mbs_what_is_user_code_in_robotran_is_reported) {
  srModel* m = open_file("chain.mbs");
  ENSURE(m && m->ndriver == 1 && m->nforce == 1);
  ENSURE(strstr(said, "1 driven joint is held at the initial position, 'hinge' the first"));
  ENSURE(strstr(said, "1 link is without force, 'spring' the first"));
  ENSURE(strstr(said, "<extforce>: its force is user code of ROBOTRAN, which is not used"));
  ENSURE(strstr(said, "<graphics> of <body> is not used"));
  ENSURE(sr_body_find(m, "box") >= 0 && sr_body_find(m, "T2") >= 0 && sr_joint_find(m, "R3") >= 0);
  ENSURE_TEXT(m->name, "chain");
  sr_model_destroy(m);
}

#define BODY(name, content)                                                                                            \
  "<body><bodyname>" name                                                                                              \
  "</bodyname><parent><bodyname>base</bodyname><pointname>origin</pointname></parent>"                                 \
  "<joint><jointname>j" name                                                                                           \
  "</jointname><type>R1</type><nature>independent</nature></joint>"                                                    \
  "<mass>1</mass><inertia><Ixx>1</Ixx><Iyy>1</Iyy><Izz>1</Izz></inertia>" content "</body>"
#define POINT(name, x) "<point><pointname>" name "</pointname><coordinates><x>" x "</x></coordinates></point>"
#define END(number, body, point)                                                                                       \
  "<endpoint" number "><bodyname>" body "</bodyname><pointname>" point "</pointname></endpoint" number ">"

TEST(mbs_rods_and_solids_are_loop_closures) {
  static const char bodies[] = "<mbsDescR7><bodytree>" BODY("a", POINT("p", "1")) BODY("b", "") "</bodytree>";
  static const char rod[] =
      "<cuts><rod><name>r</name>" END("1", "a", "p") END("2", "b", "origin") "<length>1.5</length></rod>";
  static const char solid[] =
      "<solid><name>s</name>" END("1", "a", "origin") END("2", "base", "origin") "</solid></cuts>";
  char text[4000];
  snprintf(text, sizeof text, "%s%s%s</mbsDescR7>", bodies, rod, solid);
  srModel* m = open_text(text);
  ENSURE(m && m->nclosure == 2 && m->ng == 7);
  ENSURE_TEXT(m->closure[0].name, "r");
  ENSURE_TEXT(m->closure[1].name, "s");
  sr_model_destroy(m);
}

TEST(mbs_mistakes_are_reported_with_their_location) {
  ENSURE(refused("<bodytree><body/></bodytree>", "m:2:11: error: <body> needs <bodyname>"));
  ENSURE(refused("<bodytree>" BODY("a", "") BODY("a", "") "</bodytree>", "there are two bodies 'a'"));
  ENSURE(refused("<bodytree>" BODY("a", POINT("p", "1,5")) "</bodytree>", "'1,5' in 'x' is not a number"));
  ENSURE(refused("<bodytree>" BODY("a", POINT("p", "NaN")) "</bodytree>", "'NaN' in 'x' is not a number"));
  ENSURE(refused("<bodytree>" BODY("a", POINT("p", "1") POINT("p", "2")) "</bodytree>", "has two points 'p'"));
  ENSURE(refused("<bodytree><body><bodyname>a</bodyname></body></bodytree>", "the body 'a' needs <parent>"));
  ENSURE(
      refused("<bodytree><body><bodyname>arm</bodyname><parent><bodyname>amr</bodyname><pointname>origin</pointname>"
              "</parent></body></bodytree>",
              "there is no body 'amr'; did you mean 'arm'?"));
  ENSURE(refused("<bodytree>" BODY("a", "") "</bodytree><cuts><rod><name>r</name>" END("1", "a", "tip")
                     END("2", "base", "origin") "</rod></cuts>",
                 "the body 'a' has no point 'tip'"));
  ENSURE(refused("<bodytree>" BODY("a", "") "</bodytree><cuts><rod><name>r</name>" END("1", "a", "origin")
                     END("2", "base", "origin") "</rod></cuts>",
                 "<rod> needs <length>"));
  ENSURE(refused("<bodytree>" BODY("a", "") "</bodytree><cuts><ball><name>r</name>" END("1", "a", "origin")
                     END("2", "base", "origin") "<ignore><x/><y/></ignore></ball></cuts>",
                 "<ignore> of 2 directions in <ball> is not read"));
  ENSURE(
      refused("<bodytree><body><bodyname>a</bodyname><parent><bodyname>base</bodyname><pointname>origin</pointname>"
              "</parent><joint><jointname>j</jointname><type>R4</type></joint></body></bodytree>",
              "unknown type 'R4' of a joint"));
  ENSURE(refused(
      "<bodytree><body><bodyname>a</bodyname><parent><bodyname>base</bodyname><pointname>origin</pointname>"
      "</parent><joint><jointname>j</jointname><type>R1</type><nature>dependant</nature></joint></body></bodytree>",
      "did you mean 'dependent'?"));
}

#define JOINT(name, type, more) "<joint><jointname>" name "</jointname><type>" type "</type>" more "</joint>"
#define BARE(name, content)                                                                                            \
  "<body><bodyname>" name "</bodyname><parent><bodyname>base</bodyname><pointname>origin</pointname></parent>" content \
  "</body>"

TEST(mbs_two_joints_of_one_name_are_refused) {
  ENSURE(refused("<bodytree>" BARE("a", JOINT("j", "R1", "")) BARE("b", JOINT("j", "R2", "")) "</bodytree>",
                 "there are two joints 'j'"));
}

TEST(mbs_all_mistakes_are_reported_at_once) {
  ENSURE(refused(
      "<bodytree>" BARE(
          "a",
          JOINT("j", "R9",
                "<initialvalue><q>zz</q></initialvalue>") "<mass>-1</mass>") "<body><bodyname>b</"
                                                                             "bodyname><parent><bodyname>amr</"
                                                                             "bodyname><pointname>origin</pointname></"
                                                                             "parent>" JOINT(
                                                                                 "k", "R1",
                                                                                 "<nature>free</nature>") "</"
                                                                                                          "bo"
                                                                                                          "dy"
                                                                                                          "><"
                                                                                                          "/b"
                                                                                                          "od"
                                                                                                          "yt"
                                                                                                          "re"
                                                                                                          "e"
                                                                                                          ">",
      "unknown type 'R9'"));
  ENSURE(strstr(said, "'zz' in 'q' is not a number"));
  ENSURE(strstr(said, "the body 'a' has the mass -1, below zero"));
  ENSURE(strstr(said, "unknown nature 'free'"));
  const char* first = strstr(said, "there is no body 'amr'");
  ENSURE(first && !strstr(first + 1, "there is no body 'amr'"));  // once
}

TEST(mbs_inertia_without_mass_is_reported) {
  ENSURE(refused("<bodytree>" BARE("a", JOINT("j", "R1", "") "<inertia><Ixx>1</Ixx></inertia>")
                     BARE("b", "<mass>x</mass>") "</bodytree>",
                 "warning: the body 'a' has moments of inertia and no mass"));
}
