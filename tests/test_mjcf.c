// Tests of the reader of MJCF: its bodies, joints, geoms, inertia and defaults against the same mechanisms written in our
// own format, against closed forms, and against numbers that MuJoCo computed; its messages, word by word.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "math/pose.h"
#include "messages.h"
#include "model/spec.h"
#include "runner.h"
#include "scarce.h"

#define FOLDER SARRUS_SOURCE_DIR "/tests/mjcf/"
#define PI 3.14159265358979323846

// ------------------------------------------------------------------------------------------------------------ helpers
typedef struct Mechanism {
  srSpec* spec;
  srModel* m;
  srData* d;
} Mechanism;

static char said[16384];  // all messages of the last load, a line each

static void keep_messages(srMessages* messages) {
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
}

static Mechanism finish(srStatus status, srSpec* spec, srMessages* messages) {
  Mechanism x = {.spec = spec};
  if (status == SR_OK) status = sr_compile(spec, messages, &x.m);
  keep_messages(messages);
  if (status != SR_OK) printf("%s", said);
  ENSURE(status == SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

// Numbers of the k-th force element of this law.
static const double* law(const Mechanism* x, const char* name, int k) {
  for (int i = 0; i < x->m->nforce; i++)
    if (strcmp(x->m->force[i].law->name, name) == 0 && k-- == 0) return x->m->force[i].p;
  ENSURE(!"found");
  return NULL;
}

static Mechanism open_file(const char* path) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load(path, NULL, messages, &spec);
  return finish(status, spec, messages);
}

static Mechanism open_text(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec);
  return finish(status, spec, messages);
}

static Mechanism mjcf(const char* content) {
  char text[8192];
  snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>", content);
  return open_text(text);
}

static Mechanism world(const char* content) {
  char text[8192];
  snprintf(text, sizeof text, "<mujoco><compiler angle='radian'/><worldbody>\n%s\n</worldbody></mujoco>", content);
  return open_text(text);
}

static Mechanism native(const char* content) {
  char text[8192];
  snprintf(text, sizeof text, "<sarrus version='1'>\n%s\n</sarrus>", content);
  return open_text(text);
}

static void done(Mechanism* x) {
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
}

static double uniform(void) { return 2.0 * rand() / RAND_MAX - 1; }

static double worst(double so_far, double a, double b) { return fmax(so_far, fabs(a - b) / (1 + fabs(b))); }

static double compare_state(const Mechanism* x, const Mechanism* y) {
  enum { MOST = 32 };
  double M[2][MOST * MOST], c[2][MOST], zero[MOST] = {0}, error = 0;
  const Mechanism* both[] = {x, y};
  const int nv = x->m->nv;
  ENSURE(nv <= MOST);
  for (int i = 0; i < 2; i++) {
    sr_crba(both[i]->m, both[i]->d, both[i]->d->q, M[i]);
    sr_rnea(both[i]->m, both[i]->d, both[i]->d->q, both[i]->d->v, zero, c[i]);
    ENSURE_EQUAL(sr_forward(both[i]->m, both[i]->d, 0), 0);
  }
  for (int i = 0; i < nv * nv; i++) error = worst(error, M[0][i], M[1][i]);
  for (int i = 0; i < nv; i++) error = worst(error, c[0][i], c[1][i]);
  for (int i = 0; i < nv; i++) error = worst(error, x->d->a[i], y->d->a[i]);
  return error;
}

// Both have the same coordinates, the same initial state, and the same M, c and accelerations at random states.
static void ensure_same(Mechanism x, Mechanism y) {
  ENSURE_EQUAL(x.m->nq, y.m->nq);
  ENSURE_EQUAL(x.m->nv, y.m->nv);
  for (int i = 0; i < x.m->nq; i++) ENSURE_NEAR(x.m->q0[i], y.m->q0[i], 1e-14);
  for (int i = 0; i < x.m->nv; i++) ENSURE_TEXT(x.m->v_name[i], y.m->v_name[i]);
  srand(7);
  for (int trial = 0; trial < 5; trial++) {
    for (int i = 0; i < x.m->nq; i++) x.d->q[i] = y.d->q[i] = x.m->q0[i] + 0.4 * uniform();
    for (int i = 0; i < x.m->nv; i++) x.d->v[i] = y.d->v[i] = uniform();
    sr_normalize(x.m, x.d->q);
    memcpy(y.d->q, x.d->q, (size_t)x.m->nq * sizeof *y.d->q);
    ENSURE_SMALL(compare_state(&x, &y), 1e-13);
  }
  done(&x), done(&y);
}

static const srAttr* attribute(const srSpec* spec, srElementKind kind, int i, const char* word) {
  const srElement* e = srs_element(kind);
  for (int k = 0; k < e->nfield; k++)
    if (strcmp(e->fields[k].word, word) == 0) return &sr_spec_attributes(spec, kind, i)[k];
  return NULL;
}

static double number(const srSpec* spec, srElementKind kind, int i, const char* word, int k) {
  const srAttr* a = attribute(spec, kind, i, word);
  ENSURE(k < a->n);
  return a->numbers ? a->numbers[k] : a->number;
}

// ----------------------------------------------------------------------------------------------------- against MuJoCo
// MuJoCo 2.2.2 computed these for tests/mjcf/walker.xml, at the state below, with contacts and limits off.
static const double mujoco_q[] = {0.1, 0,    1,   0.8,  0.36,  -0.48, 0,   0.57453292519943289,
                                  0.5, 0.65, 0.8, 0.36, -0.48, 0,     0.8, 0.9};
static const double mujoco_v[] = {0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9, -1.1, -1.3, -1.5, -1.7, -1.9, -2.1};
static const double mujoco_a[] = {1.53640549856796,  -0.721530839547074, -7.11947890030167,  3.96731886948381,
                                  -1.10087134835138, -4.14580438978249,  -3.2859463039474,   -14.0207690011388,
                                  -12.1479078119228, -2.28718708930131,  -0.445594964280571, -3.8288433147175,
                                  -4.72162811609749, 9.06420031612004};

TEST(a_walker_accelerates_as_in_mujoco) {
  Mechanism x = open_file(FOLDER "walker.xml");
  ENSURE_EQUAL(x.m->nq, 16);
  ENSURE_EQUAL(x.m->nv, 14);
  // At the start: qpos0. The base is turned by 20 30 40 degrees about z, y', x''.
  const double c[] = {cos(PI / 18), cos(PI / 12), cos(PI / 9)}, s[] = {sin(PI / 18), sin(PI / 12), sin(PI / 9)};
  ENSURE_NEAR(x.m->q0[3], c[0] * c[1] * c[2] + s[0] * s[1] * s[2], 1e-15);
  ENSURE_NEAR(x.m->q0[2], 1, 0);
  ENSURE_NEAR(x.m->q0[7], PI / 18, 1e-16);
  ENSURE_NEAR(x.m->q0[9], 0.05, 0);
  memcpy(x.d->q, mujoco_q, sizeof mujoco_q);
  memcpy(x.d->v, mujoco_v, sizeof mujoco_v);
  // MuJoCo's free joint: velocity in the ground's axes, then angular velocity in the body's. Ours: the other way round,
  // both in the body's axes. R of the quaternion 0.8 0.36 -0.48 0:
  const double R[9] = {0.5392, -0.3456, -0.768, -0.3456, 0.7408, -0.576, 0.768, 0.576, 0.28};
  double *v = x.d->v, a[14], turned[3];
  for (int i = 0; i < 3; i++) {
    v[i] = mujoco_v[3 + i];
    v[3 + i] = R[i] * mujoco_v[0] + R[3 + i] * mujoco_v[1] + R[6 + i] * mujoco_v[2];
  }
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  memcpy(a, x.d->a, sizeof a);
  const double drift[] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5], v[0] * v[4] - v[1] * v[3]};
  for (int i = 0; i < 3; i++) turned[i] = x.d->a[3 + i] + drift[i];
  for (int i = 0; i < 3; i++) {
    a[i] = R[3 * i] * turned[0] + R[3 * i + 1] * turned[1] + R[3 * i + 2] * turned[2];
    a[3 + i] = x.d->a[i];
  }
  for (int i = 0; i < 14; i++) ENSURE_NEAR(a[i], mujoco_a[i], 2e-13 * (1 + fabs(mujoco_a[i])));
  srFrameMotion sole;
  sr_frame_motion(x.m, x.d, sr_point_find(x.m, "sole/under"), 0, &sole);
  const double at[] = {0.378387423009, 0.11544954966, 1.73967307894};  // MuJoCo's, 12 digits
  for (int i = 0; i < 3; i++) ENSURE_NEAR(sole.position[i], at[i], 1e-11);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_OPTION, 0, "gravity", 2), -9.5, 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_RUN, 0, "step", 0), 0.001, 0);
  done(&x);
}

// -------------------------------------------------------------------------------------------------------------- joints
TEST(a_hinge_off_the_origin_is_a_native_joint_at_the_anchor) {
  ensure_same(world("<body name='arm' pos='0.1 0.2 0.3' quat='0.5 0.5 0.5 0.5'><joint name='j' axis='0 2 0'"
                    " pos='0.3 -0.1 0.2' ref='0.4' damping='0.5' armature='0.01' stiffness='3' springref='0.2'/>"
                    "<inertial pos='0.4 0 0.1' mass='2' diaginertia='0.1 0.2 0.15'/></body>"),
              // the anchor in the world: a third of a turn about 1 1 1 takes x y z to z x y
              native("<body name='arm'><joint name='j' type='revolute' axis='0 1 0' at='0.1+0.2 0.2+0.3 0.3-0.1'"
                     " rot='0.5*cos(0.2)+0.5*sin(0.2) 0.5*cos(0.2)+0.5*sin(0.2) 0.5*cos(0.2)-0.5*sin(0.2)"
                     " 0.5*cos(0.2)-0.5*sin(0.2)' q='0.4' damping='0.5' armature='0.01' stiffness='3' rest='0.2'/>"
                     "<inertial mass='2' com='0.1 0.1 -0.1' inertia='0.1 0.2 0.15'/></body>"));
}

TEST(several_joints_of_a_body_are_a_chain) {
  Mechanism x = world(
      "<body name='b' pos='0 0 1'><joint name='x' type='slide' axis='1 0 0' pos='1 1 1' ref='0.5'/>"
      "<joint name='y' axis='0 1 0' pos='0 0 -0.2'/><joint axis='0 0 1' pos='0.1 0 0'/>"
      "<inertial pos='0 0 0.3' mass='1' diaginertia='0.1 0.1 0.1'/>"
      "<site name='tip' pos='0 0 0.5'/>"
      "<body name='c' pos='0 0 0.5'><joint name='ball' type='ball' pos='0 0.1 0'/>"
      "<inertial pos='0 0 0.1' mass='2' diaginertia='0.2 0.3 0.4'/></body></body>");
  ENSURE_EQUAL(x.m->nbody, 4);
  ENSURE_TEXT(x.m->body_name[1], "b.x");
  ENSURE_TEXT(x.m->body_name[2], "b.y");
  ENSURE_TEXT(x.m->body_name[3], "b");
  ENSURE_TEXT(x.m->joint_name[2], "b");  // no name in the file: the body's
  srFrameMotion tip;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  sr_frame_motion(x.m, x.d, sr_point_find(x.m, "b/tip"), 0, &tip);
  ENSURE_SMALL(fabs(tip.position[0]) + fabs(tip.position[1]) + fabs(tip.position[2] - 1.5), 1e-15);
  ensure_same(x, native("<body name='1'><joint name='x' type='prismatic' axis='1 0 0' at='-0.5 0 1' q='0.5'/></body>"
                        "<body name='2' parent='1'><joint name='y' type='revolute' axis='0 1 0' at='0 0 -0.2'/></body>"
                        "<body name='b' parent='2'><joint name='b' type='revolute' axis='0 0 1' at='0.1 0 0.2'/>"
                        "<inertial mass='1' com='-0.1 0 0.3' inertia='0.1 0.1 0.1'/></body>"
                        "<body name='c' parent='b'><joint name='ball' type='ball' at='-0.1 0.1 0.5'/>"
                        "<inertial mass='2' com='0 -0.1 0.1' inertia='0.2 0.3 0.4'/></body>"));
}

TEST(a_free_body_begins_where_it_is_and_its_q_is_qpos) {
  Mechanism x = world(
      "<frame pos='1 0 0'><body name='b' pos='1 2 3' quat='0 1 0 0'><freejoint/>"
      "<geom type='box' size='0.1 0.2 0.3' mass='6' pos='0.1 0 0'/></body></frame>");
  const double q[] = {2, 2, 3, 0, 1, 0, 0};
  for (int i = 0; i < 7; i++) ENSURE_NEAR(x.m->q0[i], q[i], 1e-15);
  ensure_same(x, native("<body name='b'><joint type='free' q='2 2 3 0 1 0 0'/>"
                        "<inertial mass='6' com='0.1 0 0' inertia='0.26 0.2 0.1'/></body>"));
}

TEST(limits_friction_and_springs_are_taken_in_their_units) {
  Mechanism x = mjcf(
      "<default><joint range='-90 45' frictionloss='2'/></default><worldbody>"
      "<body name='a'><joint name='h' ref='9' springref='18' stiffness='5'/><geom size='0.1'/>"
      "<body name='b'><joint name='s' type='slide' range='-0.5 1'/><geom size='0.1'/>"
      "<body name='c'><joint name='n' limited='false' frictionloss='0'/><geom size='0.1'/></body>"
      "</body></body></worldbody>");
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_JOINT), 3);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limits", 0), -PI / 2, 1e-15);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limits", 1), PI / 4, 1e-15);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "rest", 0), PI / 10, 1e-15);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "q", 0), PI / 20, 1e-15);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 1, "limits", 0), -0.5, 0);
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 2, "limits")));
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FRICTION), 2);
  ENSURE_TEXT(attribute(x.spec, SR_ELEMENT_FRICTION, 1, "joint")->text, "s");
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_FRICTION, 1, "F", 0), 2, 0);
  done(&x);
  x = mjcf("<worldbody><body><joint range='1 -1'/><geom size='1'/></body></worldbody>");  // MuJoCo: not limited
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 0, "limits")));
  ENSURE(strstr(said, "'range' of <joint> that does not rise is not used"));
  done(&x);
}

// K = I/(tc dr)^2 and D = 2 I/tc at an overshoot of 0.01, with I = 1/(M^-1)_ii. The hinge carries M_00, the slide 3 kg, and
// they feel each other by 3 9: I_0 = M_00 - 27^2/3, I_1 = 3 - 27^2/M_00.
TEST(stops_have_the_softness_of_solreflimit) {
  Mechanism x = mjcf(
      "<compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body name='a'><joint name='j' axis='0 1 0' "
      "range='-1 1' solreflimit='0.05 0.8' armature='0.1'/><inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.2 0.2'/>"
      "<body name='b' pos='9 9 9'><joint name='k' type='slide' axis='1 0 0' range='0.2 1' solreflimit='-500 -20'/>"
      "<inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/></body></body></worldbody>"
      "<actuator><motor joint='j' armature='0.05' gear='2'/></actuator>");
  const double carried = 0.2 + 0.5 + 0.1 + 4 * 0.05 + 1 + 3 * (81 + 81);
  const double I = carried - 27.0 * 27 / 3, along = 3 - 27.0 * 27 / carried;
  const double *first = law(&x, "joint-stop", 0), *second = law(&x, "joint-stop", 1);  // ends, stiffness, damping
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limit-natural-frequency", 0), 1 / 0.04, 1e-13);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limit-damping-ratio", 0), 0.8, 0);
  ENSURE_NEAR(first[2], I / (0.04 * 0.04), 1e-8);
  ENSURE_NEAR(first[3], (2 * I / 0.05) / (I / 0.0016 * 0.01), 1e-12);
  ENSURE_NEAR(second[2], along * 500, 1e-11);
  ENSURE_NEAR(second[3], 20 / (500 * 0.01), 1e-13);
  done(&x);
}

// MuJoCo's XML reference, flag "refsafe": the time constant of a solref is at least two time steps, unless the flag is disabled. By unit
// of inertia there is none.
TEST(a_time_constant_of_a_stop_is_at_least_two_steps_where_refsafe_holds) {
  static const struct {
    const char *option, *solref;
    double frequency, ratio;
  } cases[] = {
      {"<option timestep='0.005'/>", "0.004 0.5", 1 / (0.01 * 0.5), 0.5},
      {"<option timestep='0.005'/>", "0.02 0.5", 1 / (0.02 * 0.5), 0.5},
      {"<option timestep='0.005'><flag refsafe='disable'/></option>", "0.004 0.5", 1 / (0.004 * 0.5), 0.5},
      {"", "0.001 1", 1 / 0.004, 1},  // MuJoCo's own time step is 0.002 s
      {"<option timestep='0.005'/>", "-90000 -600", 300, 1},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    char text[400];
    snprintf(text, sizeof text,
             "%s<worldbody><body><joint name='j' range='-1 1' solreflimit='%s'/><inertial pos='0 0 0' mass='1' "
             "diaginertia='2 2 2'/></body></worldbody>",
             cases[i].option, cases[i].solref);
    Mechanism x = mjcf(text);
    ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limit-natural-frequency", 0), cases[i].frequency, 1e-10);
    ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "limit-damping-ratio", 0), cases[i].ratio, 1e-14);
    done(&x);
  }
}

// MuJoCo 3.14: 2500/dof_invweight0 of the five joints with a range.
TEST(stops_have_the_inertia_that_mujoco_takes) {
  static const double stiffness[] = {234.08299302668436, 2751.0699130628686, 0,
                                     11.457086509219124, 16.78228154029294,  7.901220674063054};
  Mechanism x = mjcf(
      "<compiler angle='radian'/><worldbody><body pos='1 2 3' quat='1 .2 .3 .4'><freejoint/><geom type='box' "
      "size='.1 .2 .3' mass='2' pos='.1 0 .05' contype='0'/><body pos='.1 .2 .3' euler='.1 .2 .3'><joint axis='1 1 0' "
      "range='-1 1' armature='.02'/><joint type='slide' axis='0 1 1' range='-1 1' ref='.3'/><geom type='box' "
      "size='.1 .1 .3' mass='1.5'/><body pos='.4 0 0'><joint type='ball'/><geom type='capsule' size='.05 .2' "
      "mass='.7'/><body pos='0 0 .5'><joint axis='0 1 0' pos='.1 0 0' range='-1 1'/><geom type='box' "
      "size='.1 .2 .05' mass='.4'/></body></body><body pos='0 .5 0'><geom type='sphere' size='.1' mass='.3'/><body "
      "pos='.1 0 0'><joint axis='0 0 1' range='-1 1'/><joint axis='0 1 .5' range='-1 1'/><geom type='box' "
      "size='.1 .2 .05' mass='.4' pos='.1 .1 0'/></body></body></body></body></worldbody>");
  int seen = 0;
  for (int k = 0; k < 6; k++)
    if (stiffness[k] > 0) ENSURE_NEAR(law(&x, "joint-stop", seen++)[2] / stiffness[k], 1, 1e-11);
  ENSURE_EQUAL(seen, 5);
  done(&x);
}

// For mixed signs and zeros MuJoCo takes its own 0.02 1, with a warning. Without damping, by unit of inertia, it is 0, not -0.
TEST(a_solreflimit_that_cannot_be_is_the_default) {
  static const char* const words[] = {"0 1", "-100 1", "0.02 0", "5 -3", "-100", "-100 0"};
  for (int i = 0; i < 6; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "<worldbody><body><joint name='j' range='-1 1' solreflimit='%s'/><inertial pos='0 0 0' mass='1' "
             "diaginertia='2 2 2'/></body></worldbody>",
             words[i]);
    Mechanism x = mjcf(text);
    const double damping = law(&x, "joint-stop", 0)[3];
    ENSURE_EQUAL(strstr(said, "0.02 1 is taken") != NULL, i < 5);
    ENSURE_NEAR(law(&x, "joint-stop", 0)[2], i < 5 ? 2 / 4e-4 : 200, 1e-9);
    ENSURE_NEAR(damping, i < 5 ? 4 : 0, 1e-12);
    ENSURE(!signbit(damping));
    done(&x);
  }
}

// A thick L with arms of 3/8 m and a section of 1/8 m x 1/8 m.
#define L_VERTICES                                                                                                     \
  "vertex='0 0 0 .375 0 0 .375 .125 0 .125 .125 0 .125 .375 0 0 .375 0 0 0 .125 .375 0 .125 .375 .125 .125 "           \
  ".125 .125 .125 .125 .375 .125 0 .375 .125' "
#define L_LID "6 7 9 7 8 9 6 9 11 9 10 11 "
#define L_REST "0 3 1 1 3 2 0 5 3 3 5 4 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"

static Mechanism weigh_mesh(const char* compiler, const char* mesh, const char* geom) {
  char text[2048];
  snprintf(text, sizeof text,
           "%s<asset><mesh name='m' %s/></asset><worldbody><body><freejoint/>"
           "<geom type='mesh' mesh='m' pos='0.1 0 0.3' quat='1 0.2 0.5 0' %s/></body></worldbody>",
           compiler, mesh, geom);
  return mjcf(text);
}

// mass, centre of mass, xx, yy, zz, xy by MuJoCo 3.14.0; vertices are such that its single precision holds them.
TEST(a_mesh_has_the_mass_that_its_file_asks_for) {
  static const struct Case {
    const char *mesh, *geom;
    double expected[8];
  } cases[] = {
      {L_VERTICES "face='" L_LID L_REST "'",
       "density='780'",
       {8.108568470724194, 0.25598311654184736, 0.13377393366061087, 0.2692274041160521, 0.15437064217740817,
        0.11915498792019512, 0.10197328008524553, 0.007053740440652909}},
      {L_VERTICES "face='" L_LID L_REST "' inertia='legacy'",
       "density='700'",
       {7.276920422444789, 0.25598311654184736, 0.13377393366061086, 0.2692274041160521, 0.13853775580023805,
        0.10693396351812383, 0.09151448212778443, 0.0063302798826372336}},
      {L_VERTICES "face='" L_LID L_REST "' inertia='exact'",
       "density='720'",
       {7.03125, 0.25397286821705434, 0.1309108527131783, 0.2704457364341085, 0.13838600996315586, 0.10688671980631542,
        0.0909089108555308, 0.006768597468226429}},
      {L_VERTICES "face='" L_LID L_REST "' inertia='convex'",
       "density='740'",
       {10.1171875, 0.2695044296788483, 0.153031561461794, 0.26103266888150606, 0.1753710034393257, 0.13406178176920575,
        0.12520050007173034, -0.00023777811328267937}},
      {L_VERTICES "face='" L_LID L_REST "' inertia='shell'",
       "density='760'",
       {261.25, 0.25746124031007755, 0.13587914023960537, 0.2683315715292459, 6.49149774103825, 5.120090319063033,
        4.474763739141288, 0.25676925277429835}},
      {L_VERTICES "face='" L_REST "'",  // open
       "density='840'",
       {7.144212692179147, 0.2478920532272106, 0.13778836587489127, 0.2629214727645815, 0.14613927644078173,
        0.11122082297230393, 0.09549816422924712, 0.00589046935337415}},
      {L_VERTICES "face='" L_REST "' inertia='exact'",
       "density='860'",
       {6.7383051853553955, 0.24464945280437764, 0.1340740424076608, 0.26423456737346096, 0.14446668854744218,
        0.10978712638625153, 0.09359439927567662, 0.006388008956714904}},
      {L_VERTICES "face='" L_REST "' inertia='shell'",
       "density='880'",
       {233.75, 0.2442373461012312, 0.1430403556771546, 0.25759233926128594, 6.027725246281851, 4.665849004663927,
        4.122219253956275, 0.1552493551466489}},
      {L_VERTICES "face='" L_LID L_REST "' scale='1 -2 0.5' refpos='0.125 0 0.25' refquat='0.5 0.5 0.5 0.5'",
       "density='900'",
       {9.367965198449703, 0.24972116200457037, 0.3705638023621769, 0.31355891685212944, 0.14460684286364403,
        0.12672260798802745, 0.08050815445058469, -0.012282363825706494}},
      {"vertex='.5 0 0 -.25 .125 0 0 .375 .125 0 -.25 .0625 .125 0 .5 0 0 -.375 0 0 0 .0625 .0625 .0625 .25 .25 .25 "
       "-.125 -.125 .25'",  // no faces: the convex hull, moments in fractions (MuJoCo: 1e-9 away)
       "density='920'",
       {73.37239583333334, 0.2184548528713811, 0.0296971404841007, 0.2926495016611296, 1.9748672325905465,
        2.72393504589825, 2.3975396915267497, 0.08025151569119138}}};
  for (int i = 0; i < SR_COUNT(cases); i++) {
    Mechanism x = weigh_mesh("", cases[i].mesh, cases[i].geom);
    const double* J = x.m->body_inertia + 9;
    const double got[] = {
        x.m->body_mass[1], x.m->body_com[4], x.m->body_com[5], x.m->body_com[6], J[0], J[4], J[8], J[1]};
    for (int k = 0; k < 8; k++) ENSURE_NEAR(got[k], cases[i].expected[k], 1e-13 * (1 + cases[i].expected[0]));
    ENSURE_EQUAL(strstr(said, "the mesh 'm' is not closed") != NULL, i == 6);
    ENSURE_EQUAL(said[0] != '\0', i == 6);
    done(&x);
  }
}

// Closed forms of the L: 5/512 m^3; its hull has 7/512 m^3; its surface 22/64 m^2.
TEST(the_words_of_older_files_define_how_a_mesh_is_filled) {
  static const struct Case {
    const char *compiler, *mesh, *geom;
    double mass;
  } cases[] = {{"<compiler exactmeshinertia='true'/>", "", "", 1000 * 5.0 / 512},
               {"<compiler exactmeshinertia='true'/>", "inertia='convex'", "", 1000 * 7.0 / 512},
               {"<compiler exactmeshinertia='true'/>", "", "shellinertia='true' density='2'", 2 * 22.0 / 64},
               {"", "", "shellinertia='true' density='2'", 2 * 22.0 / 64},
               {"", "inertia='exact'", "shellinertia='true'", 1000 * 5.0 / 512},
               {"<default><mesh inertia='exact'/></default>", "", "", 1000 * 5.0 / 512}};
  for (int i = 0; i < SR_COUNT(cases); i++) {
    char mesh[1024];
    snprintf(mesh, sizeof mesh, L_VERTICES "face='" L_LID L_REST "' %s", cases[i].mesh);
    Mechanism x = weigh_mesh(cases[i].compiler, mesh, cases[i].geom);
    ENSURE_NEAR(x.m->body_mass[1], cases[i].mass, 1e-13 * cases[i].mass);
    ENSURE(said[0] == '\0');
    done(&x);
  }
}

// The same mesh, filled for one geom and as a shell for another.
TEST(geoms_of_one_mesh_may_be_filled_and_hollow) {
  Mechanism x = mjcf("<compiler exactmeshinertia='true'/><asset><mesh name='m' " L_VERTICES "face='" L_LID L_REST
                     "'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m' density='512'/>"
                     "<geom type='mesh' mesh='m' density='64' shellinertia='true'/>"
                     "<geom type='mesh' mesh='m' density='512'/></body></worldbody>");
  ENSURE_NEAR(x.m->body_mass[1], 5 + 22 + 5, 1e-13);
  done(&x);
}

TEST(what_cannot_be_had_of_a_mesh_is_reported) {
  Mechanism x = weigh_mesh("", L_VERTICES "face='" L_LID L_REST "' inertia='convex' maxhullvert='8'", "");
  ENSURE_NEAR(x.m->body_mass[1], 7000.0 / 512, 1e-13);
  ENSURE(strstr(said, "'maxhullvert' of the mesh 'm' is not used: its mass is that of the whole convex hull"));
  done(&x);
  x = weigh_mesh("", "vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 2 0 3 1 0 2 3 1 3 2' inertia='exact'", "");
  ENSURE_NEAR(x.m->body_mass[1], 1000.0 / 6, 1e-12);
  ENSURE_NEAR(x.m->body_inertia[9] + x.m->body_inertia[13] + x.m->body_inertia[17], 1000 * 6.0 / 160, 1e-12);
  ENSURE(strstr(said, "the triangles of the mesh 'm' are seen clockwise from outside"));
  done(&x);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  static const char text[] =
      "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 1 1 0'/><mesh name='n' inertia='hollow' vertex='0 0 0 1 "
      "0 "
      "0 0 1 0 0 0 1'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/><geom type='mesh' mesh='n'/>"
      "</body></worldbody></mujoco>";
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec), SR_INPUT);
  keep_messages(messages);
  srs_destroy(spec);
  ENSURE(strstr(said, "m:1:16: error: the mesh 'm' has no faces, and its vertices lie in a plane"));
  ENSURE(strstr(said, "'hollow'"));
}

// Closed forms: of the ellipsoid as MuJoCo 3.14.0 has it, by a layer of 1e-6 m (relative error of about 1e-6/0.1).
TEST(shells_of_primitives_have_their_closed_forms) {
  static const struct Case {
    const char* geom;
    double mass, J[3], tolerance;
  } cases[] = {{"type='sphere' size='0.5'", 9 * PI, {9 * PI / 6, 9 * PI / 6, 9 * PI / 6}, 1e-13},
               // six sides: 2 x 4 x 6, of 8, 12 and 24 m^2; each has its own plate and its distance
               {"type='box' size='1 2 3'",
                9 * 88,
                {9 * (16 * (4.0 / 3 + 9) + 24 * (4 + 3) + 48 * (4.0 / 3 + 3)),
                 9 * (16 * (1.0 / 3 + 9) + 24 * (1.0 / 3 + 3) + 48 * (1 + 3)),
                 9 * (16 * (1.0 / 3 + 4.0 / 3) + 24 * (1.0 / 3 + 4) + 48 * (1 + 4.0 / 3))},
                1e-11},
               {"type='cylinder' size='1 2'",
                9 * 10 * PI,
                {9 * PI * (8 * (0.5 + 4.0 / 3) + 2 * (0.25 + 4)), 9 * PI * (8 * (0.5 + 4.0 / 3) + 2 * (0.25 + 4)),
                 9 * PI * (8 + 1)},
                1e-11},
               // half a sphere has 2/3 r^2 about the middle of its base, its centroid is r/2 away
               {"type='capsule' size='1 2'",
                9 * 12 * PI,
                {9 * PI * (8 * (0.5 + 4.0 / 3) + 4 * (2.0 / 3 + 4 + 2)),
                 9 * PI * (8 * (0.5 + 4.0 / 3) + 4 * (2.0 / 3 + 4 + 2)), 9 * PI * (8 + 4 * 2.0 / 3)},
                1e-11},
               {"type='ellipsoid' size='0.1 0.2 0.4'",
                5.720971069751966,
                {0.3072989861066162, 0.25989649093025946, 0.09643984773992997},
                1e-5}};
  for (int i = 0; i < SR_COUNT(cases); i++) {
    char text[256];
    snprintf(text, sizeof text, "<body><freejoint/><geom %s density='9' shellinertia='true'/></body>", cases[i].geom);
    Mechanism x = world(text);
    ENSURE_NEAR(x.m->body_mass[1], cases[i].mass, 1e-13 * cases[i].mass);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_inertia[9 + 4 * k], cases[i].J[k], cases[i].tolerance);
    ENSURE(said[0] == '\0');
    done(&x);
  }
}

TEST(gravity_compensation_carries_its_part_of_the_weight) {
  Mechanism x = mjcf(
      "<option gravity='0 0 -10'/><worldbody><body gravcomp='0.4' pos='1 2 3' euler='10 20 30'><freejoint/>"
      "<inertial pos='0.1 0.2 0.3' mass='2' diaginertia='1 1 1'/></body></worldbody>");
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  const double* a = x.d->a;  // falls without turning, by 0.6 g
  ENSURE_NEAR(sqrt(a[3] * a[3] + a[4] * a[4] + a[5] * a[5]), 6, 1e-13);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(a[k], 0, 1e-13);
  done(&x);
}

TEST(springs_and_dampers_may_be_polynomials) {
  Mechanism x = mjcf(
      "<compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body>"
      "<joint name='j' damping='1 2 3' stiffness='4 5 6' springref='0.1'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body><body><joint name='b' type='ball' damping='1 2 3'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>");
  // MuJoCo 3.14: qfrc_spring at 0.5 and -0.5, qfrc_damper at -0.5, of the ball at 0.3 -0.4 1
  static const double q[] = {0.5, -0.5, 0.1}, v[] = {0, 0, -0.5}, force[] = {-2.784, 1.896, 1.375};
  static const double w[] = {0.3, -0.4, 1}, moment[] = {-0.561, 0.912, -6};
  for (int i = 0; i < 3; i++) {
    x.d->q[0] = q[i], x.d->v[0] = v[i];
    for (int k = 0; k < 3; k++) x.d->v[1 + k] = w[k];
    x.d->stage = SR_STAGE_NONE;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_NEAR(x.d->f[0], force[i], 1e-14);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->f[1 + k], moment[k], 1e-14);
  }
  done(&x);
}

// Armature of a free joint acts on the velocity in the axes of the world: without forces that does not change.
TEST(armature_of_a_free_joint_keeps_the_momentum) {
  Mechanism x = mjcf(
      "<option gravity='0 0 0'/><worldbody><body pos='0 0 3' euler='20 30 40'><joint type='free' armature='0.2'/>"
      "<geom type='box' size='0.1 0.2 0.3'/></body></worldbody>");
  static const double w[] = {1, -2, 0.5}, v[] = {0.3, 0.7, -1.1};
  for (int k = 0; k < 3; k++) x.d->v[k] = w[k], x.d->v[3 + k] = v[k];
  x.d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(x.d->a[3], -(w[1] * v[2] - w[2] * v[1]), 1e-14);
  ENSURE_NEAR(x.d->a[4], -(w[2] * v[0] - w[0] * v[2]), 1e-14);
  ENSURE_NEAR(x.d->a[5], -(w[0] * v[1] - w[1] * v[0]), 1e-14);
  done(&x);
}

TEST(a_body_without_mass_is_bounded_at_its_own_position) {
  Mechanism x = mjcf(
      "<compiler boundmass='2' boundinertia='0.5' angle='radian'/><worldbody><body pos='1 0 0' euler='0 0 1'><joint/>"
      "<body pos='0 3 0'/></body></worldbody>");
  // MuJoCo 3.14: ipos is 1 0 0 of the one and 0 3 0 of the other; the second body's centre is then 6 from the axis
  double M;
  sr_crba(x.m, x.d, x.m->q0, &M);
  ENSURE_NEAR(M, 2 * 0.5 + 2 * (1 + 36), 1e-12);
  done(&x);
}

TEST(a_time_and_a_damping_ratio_make_spring_and_damper_of_the_inertia_at_the_start) {
  // about the hinge: 0.2 + 2 0.5^2 + armature 0.3 = 1
  Mechanism x = world(
      "<body name='a'><joint name='j' axis='0 1 0' springdamper='0.5 0.8' springref='0.1' armature='0.3'"
      " stiffness='7' damping='7'/><inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.2 0.2'/></body>");
  ENSURE_NEAR(law(&x, "joint-spring", 0)[0], 1 / (0.25 * 0.64), 1e-13);
  ENSURE_NEAR(law(&x, "joint-spring", 0)[1], 0.1, 0);
  ENSURE_NEAR(law(&x, "joint-damper", 0)[0], 4, 1e-13);
  done(&x);
  x = mjcf(  // without springs the damper stays
      "<compiler angle='radian'/><option gravity='0 0 0'><flag spring='disable'/></option><worldbody><body>"
      "<joint name='j' axis='0 1 0' springdamper='0.5 0.8' armature='0.3'/>"
      "<inertial pos='0.5 0 0' mass='2' diaginertia='0.1 0.2 0.2'/></body></worldbody>");
  x.d->q[0] = 1;
  x.d->v[0] = 0.5;
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(x.d->f[0], -4 * 0.5, 1e-13);
  done(&x);
}

// -stiffness times the rotation vector; a ball of inertia 2 turned by 0.6 rad about 1 2 2, a free body moved and turned.
TEST(springs_of_ball_and_free_joints_pull_to_the_start) {
  Mechanism x = mjcf(
      "<option gravity='0 0 0'/><worldbody><body pos='1 2 3' euler='10 20 30'>"
      "<joint type='ball' pos='0.1 0 0' stiffness='3'/>"
      "<inertial pos='0.1 0 0' mass='1' diaginertia='2 2 2'/></body><body pos='0 0 1'>"
      "<joint type='free' stiffness='5'/><inertial pos='0 0 0' mass='4' diaginertia='2 2 2'/></body>"
      "</worldbody>");
  const double axis[] = {1.0 / 3, 2.0 / 3, 2.0 / 3};
  double* q = x.d->q;
  q[0] = q[7] = cos(0.3);
  for (int k = 0; k < 3; k++) q[1 + k] = q[8 + k] = sin(0.3) * axis[k];
  q[6] += 0.5;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->a[k], -3 * 0.6 * axis[k] / 2, 1e-14);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->a[3 + k], -5 * 0.6 * axis[k] / 2, 1e-14);
  double lift = 0;
  for (int k = 0; k < 3; k++) lift += x.d->a[6 + k] * x.d->a[6 + k];
  ENSURE_NEAR(sqrt(lift), 5 * 0.5 / 4, 1e-14);
  done(&x);
}

TEST(flags_switch_off_what_joints_have) {
  Mechanism x = mjcf(
      "<option gravity='1 2 3'><flag gravity='disable' limit='disable' frictionloss='disable'"
      " spring='disable'/></option><worldbody><body><joint range='-1 1' frictionloss='1' stiffness='2'"
      " damping='3'/><geom size='1'/></body></worldbody>");
  ENSURE_TEXT(said, "");
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 0, "limits")));
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 0, "stiffness")));
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 0, "damping", 0), 3, 0);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FRICTION), 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_OPTION, 0, "gravity", 2), 0, 0);
  done(&x);
}

// Each flag is that of the last <option> that has it, as in MuJoCo.
TEST(flags_of_several_options_merge) {
  static const struct {
    const char* options;
    double gravity;
    bool limits, spring;
  } cases[] = {
      {"<option><flag gravity='disable'/></option><option gravity='0 0 -9.5'/>", 0, true, true},
      {"<option gravity='0 0 -9.5'><flag gravity='disable'/></option><option><flag gravity='enable'/></option>", -9.5,
       true, true},
      {"<option gravity='0 0 -9.5'><flag constraint='disable'/></option><option><flag constraint='enable'/></option>",
       -9.5, true, true},
      {"<option gravity='0 0 -9.5'><flag constraint='disable'/></option><option><flag limit='enable'/></option>", -9.5,
       false, true},
      {"<option gravity='0 0 -9.5'><flag limit='disable' passive='disable'/></option><option><flag passive='enable'/>"
       "</option>",
       -9.5, false, true},
      {"<option gravity='0 0 -9.5'><flag passive='disable'/></option><option><flag spring='enable'/></option>", -9.5,
       true, false}};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    char text[600];
    snprintf(text, sizeof text,
             "%s<worldbody><body><joint range='-1 1' stiffness='2'/><geom size='1'/></body></worldbody>",
             cases[i].options);
    Mechanism x = mjcf(text);
    ENSURE_NEAR(x.m->gravity[2], cases[i].gravity, 0);
    ENSURE_EQUAL(sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 0, "limits")), cases[i].limits);
    ENSURE_EQUAL(sr_given(*attribute(x.spec, SR_ELEMENT_JOINT, 0, "stiffness")), cases[i].spring);
    done(&x);
  }
}

// MuJoCo has no passive forces once springs and dampers are both off, and gravcomp is one.
TEST(gravity_compensation_goes_with_the_passive_forces) {
  static const char* const flags[] = {"spring='disable'", "damper='disable'", "spring='disable' damper='disable'",
                                      "passive='disable'"};
  for (int i = 0; i < 4; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "<option><flag %s/></option><worldbody><body gravcomp='1'><joint/><geom size='1'/></body></worldbody>",
             flags[i]);
    Mechanism x = mjcf(text);
    ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FORCE), i < 2);
    done(&x);
  }
}

// ------------------------------------------------------------------------------------------------------- orientations
TEST(orientations_are_the_same_in_all_five_ways) {
  static const char* const ways[] = {"quat='2 2 0 0'", "axisangle='3 0 0 90'", "euler='90 0 0'", "zaxis='0 -2 0'",
                                     "xyaxes='2 0 0 5 0 7'"};
  for (int i = 0; i < 5; i++) {
    char text[256];
    snprintf(text, sizeof text, "<worldbody><site name='s' pos='1 2 3' %s/></worldbody>", ways[i]);
    Mechanism x = mjcf(text);
    srFrameMotion s;
    sr_kinematics(x.m, x.d);
    x.d->stage = SR_STAGE_POSITION;
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, "ground/s"), 0, &s);
    const double R[] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
    for (int k = 0; k < 9; k++) ENSURE_NEAR(s.rotation[k], R[k], 1e-15);
    ENSURE_NEAR(s.position[1], 2, 0);
    done(&x);
  }
}

TEST(euler_angles_turn_about_moving_or_fixed_axes) {
  const double a = 0.3, b = 0.5, c = 0.7;
  static const char* const sequences[] = {"xyz", "ZYX"};
  // Rx(a) Ry(b) Rz(c) of moving axes; fixed ones in the order Z Y X give Rx(c) Ry(b) Rz(a)
  for (int i = 0; i < 2; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "<compiler angle='radian' eulerseq='%s'/><worldbody><site name='s' euler='%g %g %g'/></worldbody>",
             sequences[i], i ? c : a, b, i ? a : c);
    Mechanism x = mjcf(text);
    srFrameMotion s;
    sr_kinematics(x.m, x.d);
    x.d->stage = SR_STAGE_POSITION;
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, "ground/s"), 0, &s);
    ENSURE_NEAR(s.rotation[0], cos(b) * cos(c), 1e-15);
    ENSURE_NEAR(s.rotation[1], -cos(b) * sin(c), 1e-15);
    ENSURE_NEAR(s.rotation[2], sin(b), 1e-15);
    ENSURE_NEAR(s.rotation[5], -sin(a) * cos(b), 1e-15);
    ENSURE_NEAR(s.rotation[8], cos(a) * cos(b), 1e-15);
    done(&x);
  }
}

// ------------------------------------------------------------------------------------------------------------- inertia
static void ensure_inertia(const char* parts, double mass, double com, double across, double along) {
  char text[1024];
  snprintf(text, sizeof text, "<body name='b'><freejoint/>%s</body>", parts);
  Mechanism x = world(text);
  ENSURE_NEAR(x.m->body_mass[1], mass, 1e-13 * mass);
  ENSURE_NEAR(x.m->body_com[4], com, 1e-15);
  ENSURE_NEAR(x.m->body_inertia[9], along, 1e-13 * along);
  ENSURE_NEAR(x.m->body_inertia[13], across, 1e-13 * across);
  ENSURE_NEAR(x.m->body_inertia[17], across, 1e-13 * across);
  done(&x);
}

// Solids along x, centre at 0.25: density 1000 where nothing else is given.
TEST(geoms_have_the_inertia_of_solids) {
  const double r = 0.1, l = 0.3;
  const double ball = 4000.0 / 3 * PI * r * r * r, barrel = 1000 * PI * r * r * l, capsule = ball + barrel;
  const double caps = ball * (0.4 * r * r + l * l / 4 + 3.0 / 8 * l * r);
  ensure_inertia("<geom size='0.1' pos='0.25 0 0'/>", ball, 0.25, 0.4 * ball * r * r, 0.4 * ball * r * r);
  ensure_inertia("<geom type='cylinder' size='0.1' fromto='0.1 0 0 0.4 0 0'/>", barrel, 0.25,
                 barrel * (3 * r * r + l * l) / 12, 0.5 * barrel * r * r);
  ensure_inertia("<geom type='capsule' size='0.1 0.15' pos='0.25 0 0' zaxis='1 0 0'/>", capsule, 0.25,
                 barrel * (3 * r * r + l * l) / 12 + caps, (0.5 * barrel + 0.4 * ball) * r * r);
  ensure_inertia("<geom type='box' size='0.1 0.2 0.2' pos='0.25 0 0' density='500'/>", 16, 0.25, 16 * 0.2 / 12,
                 16 * 0.32 / 12);
  ensure_inertia("<geom type='ellipsoid' size='0.1 0.2 0.2' pos='0.25 0 0' mass='5'/>", 5, 0.25, 0.05, 0.08);
  // two halves of a rod, and what must not count
  ensure_inertia(
      "<geom type='box' size='0.1 0.2 0.2' pos='0.15 0 0' mass='3'/>"
      "<geom type='box' size='0.1 0.2 0.2' pos='0.35 0 0' mass='3'/><geom group='7' size='1'/>"
      "<geom size='1' mass='0'/>",
      6, 0.25, 6 * (0.16 + 0.16) / 12, 6 * 0.32 / 12);
}

TEST(the_compiler_chooses_and_changes_inertia) {
  static const char body[] =
      "<worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 2 5'/>"
      "<geom type='box' size='0.5 0.5 0.5' density='6'/></body></worldbody>";
  static const struct {
    const char* compiler;
    double mass, J[3];
  } cases[] = {
      {"balanceinertia='true'", 1, {8.0 / 3, 8.0 / 3, 8.0 / 3}},
      {"inertiafromgeom='true'", 6, {1, 1, 1}},
      {"inertiafromgeom='true' settotalmass='3'", 3, {0.5, 0.5, 0.5}},
      {"boundmass='2' boundinertia='3.5'", 2, {3.5, 3.5, 5}},
  };
  for (int i = 0; i < 4; i++) {
    char text[1024];
    snprintf(text, sizeof text, "<compiler %s/>%s", cases[i].compiler, body);
    Mechanism x = mjcf(text);
    ENSURE_NEAR(x.m->body_mass[1], cases[i].mass, 1e-14);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_inertia[9 + 4 * k], cases[i].J[k], 1e-13);
    done(&x);
  }
}

TEST(bounds_hold_for_principal_moments) {
  // moments 1 and 3 about the diagonals of x y, 2.5 about z; the least becomes 2
  Mechanism x = mjcf(
      "<compiler boundinertia='2'/><worldbody><body><freejoint/>"
      "<inertial pos='0 0 0' mass='1' fullinertia='2 2 2.5 1 0 0'/></body></worldbody>");
  const double J[] = {2.5, 0.5, 0, 0.5, 2.5, 0, 0, 0, 2.5};
  for (int k = 0; k < 9; k++) ENSURE_NEAR(x.m->body_inertia[9 + k], J[k], 1e-14);
  done(&x);
}

#define TETRAHEDRON "vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3'"

TEST(meshes_have_the_mass_of_their_volume) {
  Mechanism x = mjcf("<asset><mesh name='t' " TETRAHEDRON
                     " scale='2 2 2' refpos='0.5 0 0'/>"
                     "<material name='red' rgba='1 0 0 1'/></asset><worldbody><body name='b'><freejoint/>"
                     "<geom type='mesh' mesh='t' density='3' material='red'/></body>"
                     "<body name='c'><freejoint/><geom type='mesh' mesh='t' mass='7'/></body></worldbody>");
  ENSURE_NEAR(x.m->body_mass[1], 4, 1e-14);  // 8/6 m^3
  ENSURE_NEAR(x.m->body_com[4], 0.5 - 1, 1e-15);
  ENSURE_NEAR(x.m->body_com[5], 0.5, 1e-15);
  // int x^2 dV = a^5/60 and int xy dV = a^5/120 about the corner, a^5/160 and -a^5/480 about the centroid
  ENSURE_NEAR(x.m->body_inertia[9], 3 * 2 * 32.0 / 160, 1e-14);
  ENSURE_NEAR(x.m->body_inertia[10], 3 * 32.0 / 480, 1e-14);
  ENSURE_NEAR(x.m->body_mass[2], 7, 1e-14);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_MESH), 1);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 0, "color", 0), 1, 0);
  done(&x);
}

TEST(a_mesh_is_taken_off_its_reference_before_it_is_scaled) {
  // refquat: a quarter turn about z, turned back: x y z becomes y -x z; then it is stretched to 4 along the new x
  Mechanism x = mjcf("<asset><mesh name='t' " TETRAHEDRON
                     " scale='4 1 1' refpos='1 0 0' refquat='1 0 0 1'/></asset>"
                     "<worldbody><body name='b'><freejoint/><geom type='mesh' mesh='t'/></body></worldbody>");
  ENSURE_NEAR(x.m->body_mass[1], 4000.0 / 6, 1e-11);
  ENSURE_NEAR(x.m->body_com[4], 4 * 0.25, 1e-14);
  ENSURE_NEAR(x.m->body_com[5], 1 - 0.25, 1e-14);
  ENSURE_NEAR(x.m->body_com[6], 0.25, 1e-14);
  done(&x);
}

// ------------------------------------------------------------------------------------------------------------ defaults
TEST(defaults_come_from_the_nearest_class) {
  Mechanism x = mjcf(
      "<default><geom size='0.1' density='1'/><default class='a'><geom density='2' rgba='0 1 0 1'/>"
      "<default class='aa'><geom type='box' size='0.5 0.5 0.5'/></default></default>"
      "<default class='b'><geom density='4'/></default></default><default><joint axis='1 0 0'/></default>"
      "<worldbody><body name='0'><freejoint/><geom mass='1'/>"
      "<body name='1' childclass='a'><joint/><geom type='box' size='0.5 0.5 0.5'/>"
      "<body name='2'><joint axis='0 1 0'/><geom class='aa'/><frame childclass='b'><geom type='box' size='.5 .5 .5'/>"
      "<body name='3'><joint/><geom type='box' size='0.5 0.5 0.5'/></body></frame></body></body></body></worldbody>");
  const double mass[] = {1, 2, 6, 4};
  for (int i = 0; i < 4; i++) ENSURE_NEAR(x.m->body_mass[1 + i], mass[i], 1e-14);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 1, "axis", 0), 1, 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_JOINT, 2, "axis", 1), 1, 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 1, "color", 1), 1, 0);
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_SHAPE, 3, "color")));
  done(&x);
}

TEST(an_orientation_overrides_that_of_the_class_in_another_way) {
  Mechanism x = mjcf(
      "<default><site quat='0 0 0 1'/></default><worldbody><site name='s' euler='0 0 0'/>"
      "<site name='t'/></worldbody>");
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_POINT, 0, "rot")));
  ENSURE_NEAR(fabs(number(x.spec, SR_ELEMENT_POINT, 1, "rot", 3)), 1, 1e-15);
  done(&x);
}

// ------------------------------------------------------------------------------------------------- shapes, names, files
TEST(geoms_are_shapes_with_our_sizes) {
  Mechanism x = world(
      "<geom type='plane' size='5 5 0.1'/><body name='b/1'><freejoint name='b/1'/>"
      "<geom name='capsule' type='capsule' size='0.1 0.2' contype='0' conaffinity='0'/>"
      "<geom type='box' size='0.1 0.2 0.3' pos='1 2 3'/><geom size='0.1' rgba='0.1 0.2 0.3 0.4'/></body>");
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_SHAPE), 4);
  ENSURE_TEXT(attribute(x.spec, SR_ELEMENT_SHAPE, 0, "type")->text, "plane");
  ENSURE_EQUAL(srs_owner(x.spec, SR_ELEMENT_SHAPE, 0), SR_GROUND);
  ENSURE_TEXT(attribute(x.spec, SR_ELEMENT_SHAPE, 1, "use")->text, "visual");
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 1, "size", 1), 0.4, 0);
  ENSURE(!sr_given(*attribute(x.spec, SR_ELEMENT_SHAPE, 2, "use")));
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 2, "size", 2), 0.6, 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 2, "at", 2), 3, 0);
  ENSURE_NEAR(number(x.spec, SR_ELEMENT_SHAPE, 3, "color", 3), 0.4, 0);
  ENSURE_TEXT(x.m->body_name[1], "b_1");
  done(&x);
}

TEST(names_that_are_made_take_none_of_the_file) {
  Mechanism x = world(
      "<body name='a'><geom size='1'/><body><joint name='body_2'/><geom size='1'/></body></body>"
      "<body><joint name='a'/><geom size='1'/></body><body name='body'><freejoint/><geom size='1'/></body>");
  ENSURE_TEXT(x.m->body_name[1], "a");
  ENSURE_TEXT(x.m->joint_name[0], "a_2");  // the weld of body a
  ENSURE_TEXT(x.m->body_name[2], "body_2");
  ENSURE_TEXT(x.m->joint_name[1], "body_2");
  ENSURE_TEXT(x.m->body_name[3], "body_3");
  ENSURE_TEXT(x.m->joint_name[2], "a");
  ENSURE_TEXT(x.m->body_name[4], "body");
  done(&x);
}

TEST(frames_and_replicates_are_written_out) {
  ensure_same(
      world("<frame pos='1 0 0' euler='0 0 1.5'><body name='a' pos='0 1 0'><frame pos='0 0.1 0' euler='0.2 0 0'>"
            "<joint name='j' axis='0 1 0' pos='0.3 0 0'/><geom type='box' size='0.1 0.2 0.3' pos='0 0 1'/></frame>"
            "</body></frame>"),
      world("<body name='w' pos='1 0 0' euler='0 0 1.5'><body name='a' pos='0 1 0'>"
            "<joint name='j' axis='0 0.98006657784124163 0.19866933079506122' pos='0.3 0.1 0'/>"
            "<geom type='box' size='0.1 0.2 0.3' euler='0.2 0 0' pos='0 -0.09866933079506122 0.98006657784124163'/>"
            "</body></body>"));
  Mechanism x = mjcf(
      "<worldbody><replicate count='12' sep='-' offset='0 0 0.1' euler='0 0 30'>"
      "<body name='b' pos='1 0 0'><joint name='j'/><geom size='0.1'/><site name='s'/></body>"
      "</replicate></worldbody>");
  ENSURE_EQUAL(x.m->nbody, 12);
  ENSURE_TEXT(x.m->body_name[4], "b-03");
  srFrameMotion s;
  ENSURE_EQUAL(sr_forward(x.m, x.d, 0), 0);
  sr_frame_motion(x.m, x.d, sr_point_find(x.m, "b-03/s-03"), 0, &s);
  ENSURE_SMALL(fabs(s.position[0]) + fabs(s.position[1] - 1) + fabs(s.position[2] - 0.3), 1e-15);
  done(&x);
}

TEST(replicates_in_replicates_have_the_inner_number_first) {
  Mechanism x = mjcf(
      "<worldbody><replicate count='2' sep='_'><body name='a'><joint name='r'/><geom size='1'/>"
      "<replicate count='2'><site name='s'/></replicate></body></replicate></worldbody>");
  ENSURE(sr_point_find(x.m, "a_1/s0_1") > 0 && sr_point_find(x.m, "a_1/s1_1") > 0);
  done(&x);
}

TEST(a_model_of_several_files_is_read_as_one) {
  Mechanism x = open_file(FOLDER "robot.xml");
  ENSURE_TEXT(said, "");
  const double ball = 7800 * 4.0 / 3 * PI * 1e-3;
  ENSURE_NEAR(x.m->body_mass[1], ball, 1e-13 * ball);
  ENSURE_NEAR(x.m->q0[1], 0.5, 0);
  done(&x);
}

TEST(a_native_model_includes_and_extends_one) {
  static const char text[] =
      "<sarrus version='1'><option gravity='0 0 0'/><include file='walker.xml'/>"
      "<extend body='hand'><point name='tool' at='0 0 0.1'/></extend><sensor name='s' point='hand/tool'/></sarrus>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load_text(text, strlen(text), "m", SARRUS_SOURCE_DIR "/tests/mjcf", NULL, messages, &spec);
  Mechanism x = finish(status, spec, messages);
  ENSURE(strstr(said, "walker.xml:4:20: warning: gravity of an included file is not used: it has 0.1 0.2 -9.5"));
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_OPTION), 1);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_RUN), 0);
  ENSURE(sr_point_find(x.m, "hand/tool") > 0);
  done(&x);
}

TEST(a_file_is_searched_next_to_the_one_that_includes_it_and_then_next_to_the_model) {
  Mechanism x = open_file(FOLDER "nested.xml");
  double mass = 0;
  for (int i = 1; i <= x.m->nbody; i++) mass += x.m->body_mass[i];
  ENSURE_NEAR(mass, 3 + 5 + 11, 1e-12);
  done(&x);
}

TEST(a_file_that_cannot_be_included_is_the_only_error) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  ENSURE(sr_load(FOLDER "bad-include.xml", NULL, messages, &spec) == SR_INPUT);
  ENSURE_EQUAL(sr_messages_errors(messages), 1);
  ENSURE_EQUAL(sr_messages_get(messages, 0)->place.line, 3);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "parts/none.xml"));
  sr_messages_destroy(messages);
}

static void ensure_same_attribute(const srAttr* a, const srAttr* b) {
  ENSURE_EQUAL(a->n, b->n);
  for (int k = 0; k < a->n; k++) {
    const double u = a->numbers ? a->numbers[k] : a->number, v = b->numbers ? b->numbers[k] : b->number;
    ENSURE_NEAR(u, v, 1e-13 * (1 + fabs(v)));
  }
}

static void ensure_same_elements(const srSpec* x, const srSpec* y, srElementKind kind) {
  const srElement* e = srs_element(kind);
  ENSURE_EQUAL(srs_count(x, kind), srs_count(y, kind));
  for (int i = 0; i < srs_count(x, kind); i++)
    for (int k = 0; k < e->nfield; k++) {
      const srAttr *a = &sr_spec_attributes(x, kind, i)[k], *b = &sr_spec_attributes(y, kind, i)[k];
      ensure_same_attribute(a, b);
      if (strcmp(e->fields[k].word, "name") == 0 && a->text) ENSURE_TEXT(a->text, b->text);
    }
}

// Units, order of Euler angles, mesh folder, groups and defaults are those of the attached model; what refers to its other
// body stays behind. The second file is the first one written out by hand.
TEST(an_attached_model_is_as_if_written_out) {
  Mechanism x = open_file(FOLDER "attach/hand.xml"), y = open_file(FOLDER "attach/hand-by-hand.xml");
  for (int k = 0; k < SR_ELEMENT_KINDS; k++)
    if (k != SR_ELEMENT_SHAPE) ensure_same_elements(x.spec, y.spec, (srElementKind)k);  // group 3 is not written out
  ENSURE(sr_point_find(x.m, "l_link/l_pad") > 0 && sr_point_find(x.m, "r_link/r_pad") > 0);
  ensure_same(x, y);
}

static Mechanism open_attached(const char* world) {
  char text[1200];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(text, sizeof text,
           "<mujoco><asset><model name='f' file='finger/finger.xml'/></asset><worldbody>%s</worldbody></mujoco>",
           world);
  const srStatus status = sr_load_text(text, strlen(text), "m", FOLDER "attach", NULL, messages, &spec);
  return finish(status, spec, messages);
}

// What a replicate attaches has the number of the copy behind its names, in bodies and in what refers to them.
TEST(a_replicate_attaches_a_model_many_times) {
  Mechanism x = open_attached(
      "<replicate count='3' sep='-' offset='1 0 0'><frame pos='0 2 0'><attach model='f' body='base' "
      "prefix='p_'/></frame>"
      "</replicate>");
  ENSURE(sr_body_find(x.m, "p_base-0") > 0 && sr_point_find(x.m, "p_link-2/p_pad-2") > 0);
  Mechanism y = open_attached(
      "<frame pos='0 2 0'><attach model='f' body='base' prefix='a_'/></frame>"
      "<frame pos='1 2 0'><attach model='f' body='base' prefix='b_'/></frame>"
      "<frame pos='2 2 0'><attach model='f' body='base' prefix='c_'/></frame>");
  ENSURE_EQUAL(x.m->nv, y.m->nv);
  for (int i = 0; i < x.m->nv; i++) x.d->q[i] = y.d->q[i] = 0.1 * i, x.d->v[i] = y.d->v[i] = 1 - 0.2 * i;
  ENSURE_SMALL(compare_state(&x, &y), 1e-13);
  srFrameMotion at[2];
  sr_frame_motion(x.m, x.d, sr_point_find(x.m, "p_link-2/p_pad-2"), 0, &at[0]);
  sr_frame_motion(y.m, y.d, sr_point_find(y.m, "c_link/c_pad"), 0, &at[1]);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(at[0].position[k], at[1].position[k], 1e-14);
  done(&x), done(&y);
}

// Friction acts on each of the three components of a ball joint.
TEST(a_ball_joint_has_frictionloss) {
  Mechanism x = world("<body><joint name='b' type='ball' frictionloss='0.5'/><geom size='0.1'/></body>");
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_FRICTION), 3);
  for (int i = 0; i < 3; i++) {
    const srFrictionDef* f = srs_get(x.spec, SR_ELEMENT_FRICTION, i);
    ENSURE_NEAR(f->coordinate.number, i, 0);
    ENSURE_NEAR(f->F.number, 0.5, 0);
  }
  done(&x);
}

// Attached models may attach others, and a whole world comes with what it refers to.
TEST(a_model_that_attaches_others_is_attached) {
  Mechanism x = open_file(FOLDER "attach/scene.xml"), hand = open_file(FOLDER "attach/hand-by-hand.xml");
  ENSURE_EQUAL(x.m->nv, hand.m->nv + 4);
  ENSURE_TEXT(x.m->v_name[hand.m->nv - 1], "a_t_stroke");
  ENSURE_TEXT(x.m->v_name[hand.m->nv + 3], "b_spare");
  for (int i = 1; i <= hand.m->nbody; i++) ENSURE_NEAR(x.m->body_mass[i], hand.m->body_mass[i], 1e-14);
  ENSURE_NEAR(x.m->body_mass[hand.m->nbody + 4], 500 * 4 / 3.0 * PI * 0.05 * 0.05 * 0.05, 1e-14);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_SENSOR), 6 + 4);
  done(&x), done(&hand);
}

static bool attach_refused(const char* content, const char* message) {
  char text[6200];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(text, sizeof text, "<mujoco><asset><model name='f' file='finger/finger.xml'/></asset>\n%s\n</mujoco>",
           content);
  const srStatus status = sr_load_text(text, strlen(text), "m", FOLDER "attach", NULL, messages, &spec);
  const int errors = sr_messages_errors(messages);
  keep_messages(messages);
  const bool good = status == SR_INPUT && errors == 1 && strstr(said, message);
  if (!good) printf("expected %s\ngot %s", message, said);
  return good;
}

// What holds for a whole file is that of the file that attaches: 5 kg, a gravity and a keyframe of the other are named and have no effect.
TEST(what_an_attached_model_cannot_bring_is_reported) {
  static const char text[] =
      "<mujoco><asset><model name='u' file='unused.xml'/></asset><worldbody><attach model='u' "
      "prefix='p_'/></worldbody></mujoco>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", FOLDER "attach", NULL, messages, &spec), SR_OK);
  keep_messages(messages);
  ENSURE(strstr(said, "unused.xml:2:27: warning: 'settotalmass' of an attached model"));
  ENSURE(strstr(said, "unused.xml:3:20: warning: 'gravity' of <option> of an attached model"));
  ENSURE(strstr(said, "unused.xml:7:3: note: <keyframe> of an attached model"));
  ENSURE_EQUAL(sr_compile(spec, NULL, &m), SR_OK);
  ENSURE_NEAR(m->gravity[2], -9.81, 1e-12);
  ENSURE_NEAR(m->body_mass[1], 1000 * 4 / 3.0 * PI * 1e-3, 1e-12);
  sr_model_destroy(m);
  srs_destroy(spec);
}

// In a body of the file the world of the other model is another one. Nested models are composed up to a depth of 200 elements.
TEST(attached_models_keep_off_the_world_and_off_the_depth_of_the_stack) {
  ENSURE(
      attach_refused("<asset><model name='n' file='welded.xml'/></asset><worldbody><body><attach model='n' "
                     "prefix=''/></body></worldbody>",
                     "welded.xml:3:13: error: <weld> refers to the world of an attached model"));
  char text[6000] = "<asset><model name='n' file='unused.xml'/></asset><worldbody>";
  for (int k = 0; k < 195; k++)
    strcat(text, "<body>");  // of 200: <mujoco>, <worldbody>, these, <attach>, and <body> with a <geom>
  strcat(text, "<attach model='n' prefix=''/>");
  for (int k = 0; k < 195; k++) strcat(text, "</body>");
  ENSURE(attach_refused(strcat(text, "</worldbody>"),
                        "elements are nested more than 200 deep when all models are merged"));
}

TEST(what_cannot_be_attached_is_one_error) {
  ENSURE(attach_refused("<worldbody><attach model='g' prefix=''/></worldbody>",
                        "m:2:27: error: there is no <model> 'g' in <asset>"));
  ENSURE(attach_refused(
      "<asset><model name='n' file='none.xml'/></asset><worldbody><attach model='n' prefix=''/></worldbody>",
      "m:2:30: error: the file 'none.xml' "));
  ENSURE(attach_refused(
      "<asset><model name='n' file='../walker.xml'/></asset><worldbody><attach model='n' prefix=''/></worldbody>",
      "m:2:30: error: '../walker.xml' leaves the folder of the model"));
  ENSURE(attach_refused(
      "<asset><model name='n' file='cycle.xml'/></asset><worldbody><attach model='n' prefix=''/></worldbody>",
      "cycle.xml:2:33: error: 'cycle.xml' attaches itself, directly or through others"));
  ENSURE(attach_refused("<worldbody><attach model='f' body='thumb' prefix=''/></worldbody>",
                        "m:2:36: error: there is no body 'thumb' in the attached model"));
  ENSURE(attach_refused("<worldbody><attach model='f'/></worldbody>",
                        "m:2:12: error: <attach> needs the attribute 'prefix'"));
  ENSURE(attach_refused("<worldbody><attach model='f' frame='x' prefix=''/></worldbody>",
                        "m:2:37: error: there is no frame 'x' in the attached model"));
  ENSURE(attach_refused("<worldbody><attach model='f' body='end' frame='x' prefix=''/></worldbody>",
                        "m:2:41: error: <attach> has 'body' and 'frame'"));
  ENSURE(attach_refused("<worldbody><attach model='f' prefix='a'/><attach model='f' prefix='a'/></worldbody>",
                        "m:2:68: error: the model 'f' is attached with the prefix 'a' already: give another one"));
  ENSURE(attach_refused("<worldbody><attach model='f' prefix='a'/><body name='alink'/></worldbody>",
                        "m:2:54: error: there is a body 'alink' already"));
  ENSURE(
      attach_refused("<asset><model name='n' file='pinned.xml'/></asset>"
                     "<worldbody><body><attach model='n' prefix=''/></body></worldbody>",
                     "pinned.xml:4:13: error: <connect> refers to the world of an attached model"));
  ENSURE(
      attach_refused("<asset><model file='framed.xml'/></asset><worldbody><attach model='MuJoCo Model' prefix=''/>"
                     "</worldbody>",
                     "m:2:68: error: there is no <model> 'MuJoCo Model'"));
  ENSURE(attach_refused("<asset><model file='none.xml'/></asset><worldbody><attach model='n' prefix=''/></worldbody>",
                        "m:2:21: error: the file 'none.xml' "));
}

static Mechanism attached(const char* model, const char* attach) {
  char text[1024];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(text, sizeof text,
           "<mujoco><asset>%s</asset><worldbody><body name='base' pos='0 0 10'><geom size='1' contype='0'/>%s</body>"
           "</worldbody></mujoco>",
           model, attach);
  const srStatus status = sr_load_text(text, strlen(text), "m", FOLDER "attach", NULL, messages, &spec);
  return finish(status, spec, messages);
}

// Place of a body in its parent's frame, and the first number of its quaternion.
static void pose_is(const Mechanism* x, const char* body, const double at[3], const double turn) {
  int found = 0;
  for (int i = 0; i < srs_count(x->spec, SR_ELEMENT_JOINT); i++) {
    const srBodyDef* owner = srs_get(x->spec, SR_ELEMENT_BODY, srs_owner(x->spec, SR_ELEMENT_JOINT, i));
    const srJointDef* def = srs_get(x->spec, SR_ELEMENT_JOINT, i);
    if (strcmp(owner->name.text, body) != 0) continue;
    for (int k = 0; k < 3; k++) ENSURE_NEAR(def->at.n > 0 ? def->at.numbers[k] : 0, at[k], 1e-12);
    ENSURE_NEAR(def->rot.n > 0 ? def->rot.numbers[0] : 1, turn, 1e-12);
    found++;
  }
  ENSURE_EQUAL(found, 1);
}

// Sizes, masses and places of MuJoCo 3.14, which has vertices in single precision.
TEST(primitives_are_fitted_to_meshes_as_in_mujoco) {
  static const double middle[] = {0.37037037166272413, -0.058407403033824634, 0.5152222257852554};
  static const double corner[] = {0.40564512564865407, -0.23494233735425557, 0.5546081131578207};
  static const double skin[] = {0.37500178432354325, -0.12194877389193831, 0.530476311458202};
  static const double referred[] = {-0.14829629286148666, 0.15523852095447946, 0.5927622311890568};
  static const struct {
    const char *compiler, *mesh, *geom;
    double size[3], mass;  // size as in the file
    const double* at;
  } cases[] = {
      {"", "", "type='box'", {0.10824205378218635, 0.23104921660800218, 0.3868434534472563}, 77.39729151272901, middle},
      {"", "", "type='capsule'", {0.16964563519509426, 0.3020206358497092}, 75.06483379539002, middle},
      {"", "", "type='cylinder'", {0.16964563519509426, 0.3868434534472563}, 69.95205870651733, middle},
      {"",
       "",
       "type='ellipsoid'",
       {0.10824205378218635, 0.23104921660800218, 0.3868434534472563},
       40.52512707068952,
       middle},
      {"", "", "type='sphere'", {0.24204490794581493}, 59.398634460928335, middle},
      {"fitaabb='true'",
       "",
       "type='box'",
       {0.1509317282111779, 0.25426153052666456, 0.5314936255715058},
       163.173357192191,
       corner},
      {"fitaabb='true'", "", "type='capsule'", {0.25426153052666456, 0.27723209504484125}, 181.4662272415034, corner},
      {"fitaabb='true'", "", "type='cylinder'", {0.25426153052666456, 0.5314936255715058}, 215.89333860097253, corner},
      {"fitaabb='true'", "", "type='sphere'", {0.5314936255715058}, 628.9017307834271, corner},
      {"",
       "inertia='shell'",
       "type='box'",
       {0.14581111728228, 0.2753938234939836, 0.5008893009246028},
       160.9076068369215,
       skin},
      {"",
       "",
       "type='box' fitscale='2' size='1 1 1'",
       {0.2164841075643727, 0.46209843321600436, 0.7736869068945126},
       619.1783321018321,
       middle},
      {"", "", "type='capsule' mass='3'", {0.16964563519509426, 0.3020206358497092}, 3, middle},
      {"",
       "",
       "type='box' shellinertia='true'",
       {0.10824205378218635, 0.23104921660800218, 0.3868434534472563},
       1250.0947879413018,
       middle},
      {"",
       "inertia='legacy' scale='1 2 0.5' refpos='0.1 0 0' refquat='0.8 0 0.6 0'",
       "type='box'",
       {0.1206304431837652, 0.21500651047209626, 0.37301581211589163},
       77.39729151272897,
       referred},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><compiler %s/><asset><mesh name='x' vertex='0 0 0 0.5 0 0 0.5 0.3 0 0 0.3 0 0.1 0.1 0.9 0.5 0.1 "
             "1' %s %s/>"
             "</asset><worldbody><body name='b'><freejoint/><geom mesh='x' pos='0.1 0.2 0.3' quat='0.8 0.6 0 0' %s "
             "contype='0'/></body></worldbody></mujoco>",
             cases[c].compiler, *cases[c].mesh ? "" : "inertia='convex'", cases[c].mesh, cases[c].geom);
    Mechanism x = open_text(text);
    const srShapeDef* shape = srs_get(x.spec, SR_ELEMENT_SHAPE, 0);
    const char* type = shape->type.text;
    const int n = shape->size.n;
    ENSURE(strstr(cases[c].geom, type) != NULL);
    for (int k = 0; k < n; k++) {
      const bool whole = strcmp(type, "box") == 0 || (k == 1 && strcmp(type, "ellipsoid") != 0);
      const double size = shape->size.numbers ? shape->size.numbers[k] : shape->size.number;
      ENSURE_NEAR(size, (whole ? 2 : 1) * cases[c].size[k], 2e-7);
    }
    ENSURE_NEAR(x.m->body_mass[1], cases[c].mass, 1e-6 * cases[c].mass);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(x.m->body_com[4 + k], cases[c].at[k], 2e-7);
    if (c == 0) {  // its axes, by body_inertia and body_iquat
      static const double e[3] = {5.238031924797509, 4.163050667501609, 1.67952335946721};
      static const double q[4] = {0.5243755458958068, 0.4718959399711645, -0.4064196752002302, 0.5806613094699411};
      const double turned[9] = {e[0], 0, 0, 0, e[1], 0, 0, 0, e[2]};
      double pose[16], J[9];
      srm_pose_identity(pose);
      srm_pose_from_quaternion(q, pose);
      srm_pose_rotate_tensor(pose, turned, J);
      for (int k = 0; k < 9; k++) ENSURE_NEAR(x.m->body_inertia[9 + k], J[k], 2e-6);
    }
    done(&x);
  }
}

// body_pos, body_quat, geom_size and nu of MuJoCo 3.14. Of the frames around a body or a frame its class alone is kept.
TEST(bodies_in_frames_and_frames_are_attached_as_in_mujoco) {
  static const char named[] = "<model name='k' file='framed.xml'/>";
  Mechanism x = attached(named, "<attach model='k' body='B' prefix='x_'/>");
  pose_is(&x, "x_B", (const double[]){0.1, 0.2, 0.3}, 1);
  ENSURE_NEAR(x.m->body_mass[2], 4000 / 3.0 * PI * 0.027, 1e-9);
  ENSURE_EQUAL(x.m->nbody, 3);
  done(&x);
  x = attached(named, "<attach model='k' frame='F' prefix='x_'/>");
  pose_is(&x, "x_B", (const double[]){1.1, 1.768, 3.276}, 0.8);
  pose_is(&x, "x_D", (const double[]){6, -1.4, 9.2}, 0.8);
  ENSURE_NEAR(x.m->body_mass[1], 4000 / 3.0 * PI * (1 + 0.027), 1e-9);  // with the geom of the frame
  ENSURE_EQUAL(x.m->nbody, 4);
  done(&x);
  x = attached(named, "<attach model='k' frame='G' prefix='x_'/>");
  pose_is(&x, "x_Q", (const double[]){1, 0, 9}, 1);
  ENSURE_EQUAL(x.m->nbody, 2);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_TORQUE), 1);  // of the motors that of this joint alone
  done(&x);
  x = attached(named, "<attach model='k' frame='H' prefix='x_'/>");
  pose_is(&x, "x_HB", (const double[]){0, 0, 1}, 1);
  ENSURE_NEAR(x.m->body_mass[2], 4000 / 3.0 * PI * 0.027, 1e-9);
  done(&x);
}

TEST(a_model_without_a_name_has_that_of_its_file) {
  Mechanism x = attached("<model file='framed.xml'/>", "<attach model='kid' body='P' prefix='x_'/>");
  pose_is(&x, "x_P", (const double[]){7, 0, 0}, 1);
  done(&x);
  x = attached("<model name='n' file='framed.xml'/><model file='pinned.xml'/>",
               "<attach model='MuJoCo Model' body='framed' prefix='x_'/>");
  ENSURE(sr_body_find(x.m, "x_framed") > 0);
  done(&x);
}

TEST(the_world_of_a_model_attached_in_the_world_is_that) {
  static const char text[] =
      "<mujoco><asset><model name='n' file='pinned.xml'/></asset><worldbody><attach model='n' prefix='p'/></worldbody>"
      "</mujoco>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load_text(text, strlen(text), "m", FOLDER "attach", NULL, messages, &spec);
  Mechanism x = finish(status, spec, messages);
  ENSURE_EQUAL(srs_count(x.spec, SR_ELEMENT_CLOSURE), 1);
  ENSURE_NEAR(x.m->body_mass[x.m->nbody - 1], 50, 0);  // its bound holds for it
  done(&x);
}

TEST(numbers_without_a_number_count_as_not_given) {
  Mechanism x = open_text(
      "<mujoco><default><geom rgba='0.1 0.2 0.3 1' density='2000'/></default><worldbody><body pos=''><joint axis=' '/>"
      "<geom size='0.5' rgba='' density='' contype='0'/></body></worldbody></mujoco>");
  ENSURE_NEAR(x.m->body_mass[1], 2000 * 4 / 3.0 * 3.14159265358979 * 0.125, 1e-9);
  ENSURE_NEAR(((const srShapeDef*)srs_get(x.spec, SR_ELEMENT_SHAPE, 0))->color.numbers[1], 0.2, 0);
  done(&x);
  x = open_text(
      "<mujoco><option gravity='' timestep=' '/><worldbody><body name='b' euler='' quat='0 1 0 0'><joint name='j' "
      "range='' "
      "axisangle='' damping='' stiffness='' armature=''/><geom size='0.5' fromto='' contype='0' quat='' mass='' "
      "friction='' type='sphere'/></body></worldbody><actuator><motor joint='j' gear='' ctrlrange='' forcerange=''/>"
      "<position joint='j' kp='' kv='' name='p'/></actuator></mujoco>");
  ENSURE_NEAR(x.m->body_mass[1], 1000 * 4 / 3.0 * PI * 0.125, 1e-9);
  ENSURE_NEAR(((const srJointDef*)srs_get(x.spec, SR_ELEMENT_JOINT, 0))->rot.numbers[1], 1, 0);
  ENSURE_TEXT(((const srTorqueDef*)srs_get(x.spec, SR_ELEMENT_TORQUE, 0))->law.text, "ctrl_0");
  done(&x);
}

// MuJoCo 3.14 looks for it from the model first, then next to the included file.
TEST(meshes_of_included_files_may_be_next_to_them) {
  Mechanism x = open_file(FOLDER "beside.xml");
  ENSURE_NEAR(x.m->body_mass[1], 1000, 1e-9);
  done(&x);
}

TEST(words_without_a_letter_are_errors) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  static const char text[] =
      "<mujoco><worldbody><body><joint limited=''/><geom size='1' type=''/></body></worldbody></mujoco>";
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec), SR_INPUT);
  ENSURE(sr_messages_errors(messages) > 0);
  sr_messages_destroy(messages);
}

// ------------------------------------------------------------------------------------------------------------ messages
TEST(what_is_not_used_is_named_once) {
  Mechanism x = world(
      "<light/><light/><camera/><body name='b' mocap='true'><geom size='1' user='1'/><geom size='1'"
      " user='2' contype='0' conaffinity='0'/></body>");
  ENSURE_TEXT(said,
              "m:2:1: note: <light> is not used: 2 times, the first is here\nm:2:17: note: <camera> is not used\n"
              "m:2:41: warning: 'mocap' of <body> is not used\n"
              "m:2:69: note: 'user' of <geom> is not used: 2 times, the first is here\n");
  done(&x);
}

// What acts on the motion in MuJoCo and not here is a warning; looks, sensors and the solver are notes.
TEST(words_that_act_on_the_motion_are_warnings_and_others_notes) {
  Mechanism x = open_text(
      "<mujoco><option integrator='implicit' cone='elliptic' density='1.2'/><visual/><statistic/>"
      "<compiler texturedir='t' alignfree='true'/><asset><texture type='2d'/><material name='red' "
      "specular='1'/></asset>"
      "<worldbody><light/><body><freejoint/><geom size='1' solmix='2' contype='0'/><site name='s' rgba='1 0 0 1'/>"
      "</body></worldbody><sensor><gyro site='s' noise='1'/><accelerometer site='s'/></sensor></mujoco>");
  const char* const warned[] = {"'density' of <option>", "'alignfree' of <compiler>", "'solmix' of <geom>"};
  const char* const noted[] = {"'integrator' of <option>",   "'cone' of <option>", "<visual>",       "<statistic>",
                               "'texturedir' of <compiler>", "<texture>",          "<light>",        "'rgba' of <site>",
                               "'specular' of <material>",   "'noise' of <gyro>",  "<accelerometer>"};
  char line[100];
  for (size_t i = 0; i < sizeof warned / sizeof warned[0]; i++) {
    snprintf(line, sizeof line, "warning: %s is not used\n", warned[i]);
    ENSURE(strstr(said, line) != NULL);
  }
  for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++) {
    snprintf(line, sizeof line, "note: %s is not used\n", noted[i]);
    ENSURE(strstr(said, line) != NULL);
  }
  done(&x);
}

static void ensure_refused(const char* name) {
  char path[512], text[8192], place[32];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(path, sizeof path, FOLDER "%s.xml", name);
  ENSURE(sr_load(path, NULL, messages, &spec) == SR_INPUT && !spec);
  const int errors = sr_messages_errors(messages);
  keep_messages(messages);
  snprintf(path, sizeof path, FOLDER "%s.expected", name);
  FILE* file = fopen(path, "r");
  ENSURE(file != NULL);
  int lines = 0;
  bool good = true;
  for (; fgets(text, sizeof text, file); lines++) {
    text[strcspn(text, "\n")] = '\0';
    snprintf(place, sizeof place, "%s.xml:", name);
    const char* at = said;  // "path/NAME.xml:" and then the line
    while ((at = strstr(at, place)) && strncmp(at + strlen(place), text, strlen(text)) != 0) at++;
    if (!at) printf("expected %s\n", text);
    good = good && at;
  }
  fclose(file);
  if (!good || lines != errors) printf("got %s", said);
  ENSURE(good);
  ENSURE_EQUAL(errors, lines);
}

TEST(wrong_words_are_reported_with_their_places) { ensure_refused("bad-words"); }
TEST(wrong_values_are_reported_with_their_places) { ensure_refused("bad-values"); }

static bool refused(const char* content, const char* message) {
  char text[4096];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>", content);
  const bool input = sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec) == SR_INPUT && !spec;
  keep_messages(messages);
  if (!input || !strstr(said, message)) printf("expected %s\ngot %s", message, said);
  return input && strstr(said, message);
}

TEST(files_and_copies_are_bounded) {
  ENSURE(refused("<include file='x.xml'/>", "m:2:16: error: 'x.xml' is not read: the model comes from memory"));
  ENSURE(refused("<worldbody><replicate count='2000000'><site/><site/></replicate></worldbody>",
                 "the model has more than 2000000 elements when its repeats are written out"));
  ENSURE(refused("<worldbody><replicate count='3'><body name='b' pos='0'/></replicate></worldbody>",
                 "m:2:53: error: 'pos' takes 3 numbers, got 1\n"));
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  ENSURE(sr_load(FOLDER "loop-a.xml", NULL, messages, &spec) == SR_INPUT);
  keep_messages(messages);
  ENSURE(strstr(said, "loop-b.xml:3:20: error: 'loop-a.xml' includes itself, directly or through others"));
  static const char out[] = "<mujoco><include file='../io/walker.xml'/></mujoco>";
  messages = sr_messages_create();
  ENSURE(sr_load_text(out, strlen(out), "m", SARRUS_SOURCE_DIR "/tests/mjcf", NULL, messages, &spec) == SR_INPUT);
  keep_messages(messages);
  ENSURE(strstr(said, "m:1:24: error: '../io/walker.xml' leaves the folder of the model"));
}

// -------------------------------------------------------------------------------------------------------- running out
TEST(a_reader_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  bool finished = false;
  sr_set_allocator(scarce, NULL);
  scarce_live = 0;
  for (int limit = 0; limit < 20000 && !finished; limit += limit < 200 ? 1 : 37) {
    srSpec* spec = NULL;
    scarce_left = limit;
    const srStatus status = sr_load(FOLDER "walker.xml", NULL, NULL, &spec);
    finished = status == SR_OK;
    ENSURE(status == SR_OK || status == SR_MEMORY);
    srs_destroy(spec);
    ENSURE_EQUAL(scarce_live, 0);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE(finished);
}
