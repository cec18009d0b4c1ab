// Tests of the sections of MJCF behind the bodies: tendons, equalities, actuators, contacts, keyframes, sensors. Numbers
// marked "MuJoCo" were printed by MuJoCo 2.2.2 for the same file; the others are worked out by hand next to them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "messages.h"
#include "model/spec.h"

// ----------------------------------------------------------------------------------------------------------- helpers
static char said[16384];  // messages of the last load, a line each

static void keep(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

static srSpec* read_text(const char* text, const char* settings) {
  char copy[256];
  srSetting items[8];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(copy, sizeof copy, "%s", settings);
  const int n = loading_settings(copy, items, 8);
  const srLoadOptions options = {.settings = items, .nsetting = n};
  (void)sr_load_text(text, strlen(text), "m", NULL, &options, messages, &spec);
  keep(messages);
  sr_messages_destroy(messages);
  return spec;
}

static srSpec* read_file(const char* name, const char* settings) {
  char path[512], copy[256];
  srSetting items[8];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  snprintf(path, sizeof path, "%s/tests/mjcf-sections/%s.xml", SARRUS_SOURCE_DIR, name);
  snprintf(copy, sizeof copy, "%s", settings);
  const int n = loading_settings(copy, items, 8);
  (void)sr_load(path, &(srLoadOptions){.settings = items, .nsetting = n}, messages, &spec);
  keep(messages);
  sr_messages_destroy(messages);
  return spec;
}

// Compiles and destroys the spec, and evaluates its start.
static Loaded started(srSpec* spec) {
  Loaded x = {0};
  srMessages* messages = sr_messages_create();
  if (!spec) printf("%s", said);
  ENSURE(spec != NULL);
  const srStatus status = sr_compile(spec, messages, &x.m);
  loading_print(messages);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  return x;
}

// Two arms that turn about y, whose ends s and r are to meet, apart by `gap` along y, where no joint reaches.
static srSpec* open_loop(const char* equality, double gap) {
  char text[2048];
  snprintf(text, sizeof text,
           "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='j' axis='0 1 0'/>"
           "<geom size='0.1' contype='0' pos='0.2 0 0'/><site name='s' pos='1 0 0'/></body><body name='b' pos='2 0 0'>"
           "<joint name='k' axis='0 1 0'/><geom size='0.1' contype='0'/><site name='r' pos='-1 %.17g 0'/></body>"
           "</worldbody><equality>%s</equality></mujoco>",
           gap, equality);
  return read_text(text, "");
}

static srStatus assembled(srSpec* spec, double* residual) {
  Loaded x = started(spec);
  srAssembly told;
  const srStatus status = sr_assemble(x.m, x.d, NULL, &told);
  *residual = told.residual_position;
  close_model(&x);
  return status;
}

TEST(equalities_that_rounding_leaves_open_are_closed_with_a_warning) {
  static const char* const ways[] = {"<connect site1='s' site2='r'/>", "<weld site1='s' site2='r'/>",
                                     "<weld body1='a' body2='b' anchor='-1 0 0' relpose='1 0 0 1 0 0 0'/>"};
  double residual;
  for (int i = 0; i < 3; i++) {
    const double gap = i == 2 ? 0 : 3e-5;
    srSpec* spec =
        open_loop(i == 2 ? "<weld body1='a' body2='b' anchor='-1 0 0' relpose='1 3e-5 0 1 0 0 0'/>" : ways[i], gap);
    ENSURE(strstr(said,
                  "warning: the loop is open by 3e-05 m and 0 rad at the start, as rounded numbers leave it: the "
                  "frame on body 'a' is moved to close it"));
    ENSURE_EQUAL(assembled(spec, &residual), SR_OK);
    ENSURE(residual < 1e-14);
  }
  srSpec* spec = open_loop(ways[0], 0);  // closed: no message
  ENSURE(strstr(said, "the loop is open") == NULL);
  ENSURE_EQUAL(assembled(spec, &residual), SR_OK);
  spec = open_loop(ways[0], 1.1e-3);  // too much to be rounding
  ENSURE(strstr(said, "the loop is open") == NULL);
  ENSURE_EQUAL(assembled(spec, &residual), SR_INPUT);
}

// Two arms, a and b, turning about y with the joints j and k, and a slide z of a ball on the floor's normal.
#define ARMS                                                                                                           \
  "<compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body name='a'><joint name='j' axis='0 1 0'/>"        \
  "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><site name='s' pos='0 0 1'/></body>"                            \
  "<body name='b'><joint name='k' axis='0 1 0' range='-1 3'/>"                                                         \
  "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><site name='r' pos='0 0 1'/></body></worldbody>"

static srSpec* arms(const char* more, const char* settings) {
  char text[8192];
  snprintf(text, sizeof text, "<mujoco>" ARMS "\n%s</mujoco>", more);
  return read_text(text, settings);
}

// Generalized forces on j and k where q = (qj, qk), v = (vj, vk).
static void forces_at(Loaded* x, double qj, double qk, double vj, double vk, double f[2]) {
  x->d->q[0] = qj, x->d->q[1] = qk, x->d->v[0] = vj, x->d->v[1] = vk;
  x->d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(x->m, x->d, SR_TAU_ELEMENT), 0);
  f[0] = x->d->f[0], f[1] = x->d->f[1];
}

static double value_of(const Loaded* x, const char* name) {
  const int i = sr_sensor_find(x->m, name);
  ENSURE(i >= 0 && x->m->sensor[i].formula >= 0);
  return x->d->formula[x->m->sensor[i].formula];
}

static const char* law(const srSpec* spec, int i) {
  return ((const srTorqueDef*)srs_get(spec, SR_ELEMENT_TORQUE, i))->law.text;
}

// The content is refused with this message among others.
static bool refused(const char* more, const char* message) {
  srSpec* spec = arms(more, "");
  const bool good = !spec && strstr(said, message);
  if (!good) fprintf(stderr, "expected: %s\ngot: %s", message, said);
  srs_destroy(spec);
  return good;
}

// --------------------------------------------------------------------------------------------------------- actuators
TEST(all_affine_actuators_give_the_forces_of_mujoco) {
  Loaded x = started(read_file("drives", "key=busy"));
  // MuJoCo: qfrc_actuator + qfrc_passive, act_dot, qacc
  static const double drive[] = {22.100000000000001,  87.650000000000006, 1.802,
                                 0.96399999999999997, 2.7000000000000002, 4.7401999999999997,
                                 3.9607999999999994,  4.6406000000000001, 0.80000000000000004,
                                 1.6000000000000001,  2.4000000000000004};
  static const double passive[] = {-6.7249999999999996, 0.66250000000000009};
  static const double rates[] = {0.45000000000000001, 3.0000000000000004, 1.0000000000000009};
  const double* f = x.d->f;
  for (int i = 0; i < 2; i++) ENSURE_NEAR(f[i], drive[i] + passive[i], 1e-12);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(f[2 + i], drive[5 + i], 1e-12);  // moments of the free body in its axes
  // forces in its axes: the body's x y z are the world's z -x -y, for its quaternion is 0.5 0.5 -0.5 0.5
  ENSURE_NEAR(f[5], drive[4], 1e-12);
  ENSURE_NEAR(f[6], -drive[2], 1e-12);
  ENSURE_NEAR(f[7], -drive[3], 1e-12);
  for (int i = 8; i < 11; i++) ENSURE_NEAR(f[i], drive[i], 1e-12);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.d->ydot[i], rates[i], 1e-12);
  ENSURE_NEAR(x.d->a[0], -960.25515293589399, 1e-9);
  ENSURE_NEAR(x.d->a[1], 3612.5698288421886, 1e-9);
  close_model(&x);
}

TEST(controls_are_parameters_that_stay_zero_until_they_are_set) {
  Loaded x = started(read_file("drives", ""));
  Loaded y = started(read_file("drives", "ctrl_motor=0.5 ctrl_twist=2"));
  ENSURE_NEAR(y.d->f[0] - x.d->f[0], 5 * 0.5, 1e-12);  // gear 5
  ENSURE_NEAR(y.d->f[8], 2, 1e-12);                    // gear 1 2 3
  ENSURE_NEAR(y.d->f[10], 6, 1e-12);
  close_model(&x);
  close_model(&y);
  x = started(read_file("drives", "key=busy ctrl_motor=-0.25"));  // a setting takes precedence over the key
  ENSURE_NEAR(x.d->f[0], 22.1 - 6.725 - 5 * (1 + 0.25), 1e-12);
  close_model(&x);
  srSpec* spec = read_file("drives", "ctrl_moter=1");
  ENSURE(!spec && strstr(said, "did you mean 'ctrl_motor'"));
}

TEST(ranges_of_controls_forces_and_joints_clamp) {
  static const char drives[] =
      "<actuator><motor name='m' joint='j' gear='2' ctrlrange='-1 1' forcerange='-0.5 0.25'/>"
      "<position name='p' joint='k' kp='10' inheritrange='0.5'/></actuator>";
  Loaded x = started(arms(drives, "ctrl_m=-7 ctrl_p=100"));
  double f[2];
  forces_at(&x, 0, 0.5, 0, 0, f);
  ENSURE_NEAR(f[0], 2 * -0.5, 1e-15);        // -7 -> -1 -> force -0.5, times the gear
  ENSURE_NEAR(f[1], 10 * (2 - 0.5), 1e-14);  // the range -1 3 halved about its middle: 0 2
  close_model(&x);
  srSpec* spec = read_text(
      "<mujoco><worldbody><body name='a'><joint name='j' actuatorfrcrange='-2 3'/><inertial pos='0 0 0' mass='1' "
      "diaginertia='1 1 1'/></body></worldbody><actuator><motor name='m' joint='j' gear='10'/></actuator><actuator>"
      "<motor name='n' joint='j' gear='-20'/></actuator></mujoco>",
      "ctrl_m=1 ctrl_n=0.6");
  x = started(spec);
  ENSURE_NEAR(x.d->f[0], -2, 1e-15);  // 10 - 12 = -2: at the end of the range, where each alone would be clamped
  close_model(&x);
}

// A flag takes the stop away, not the range.
TEST(ranges_are_inherited_where_limits_are_switched_off) {
  static const char* const flags[] = {"limit", "constraint"};
  for (int i = 0; i < 2; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "<mujoco><compiler angle='radian'/><option><flag %s='disable'/></option><worldbody><body><joint name='j' "
             "range='-1 3'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody><actuator><position "
             "name='p' joint='j' kp='10' inheritrange='0.5'/></actuator></mujoco>",
             flags[i]);
    Loaded x = started(read_text(text, "ctrl_p=100"));
    ENSURE_TEXT(said, "");
    ENSURE_NEAR(x.d->f[0], 10 * 2, 1e-14);  // the range -1 3 halved about its middle: 0 2
    close_model(&x);
  }
}

TEST(an_activation_stops_at_the_end_of_its_range) {
  static const char drives[] =
      "<actuator><intvelocity name='i' joint='j' kp='3' actrange='-1 0.5'/></actuator>"
      "<keyframe><key act='0.5'/><key act='0.2'/></keyframe>";
  Loaded x = started(arms(drives, "key=0 ctrl_i=2"));
  ENSURE_NEAR(x.d->ydot[0], 0, 0);
  ENSURE_NEAR(x.d->f[0], 3 * 0.5, 1e-15);
  close_model(&x);
  x = started(arms(drives, "key=0 ctrl_i=-2"));
  ENSURE_NEAR(x.d->ydot[0], -2, 0);
  close_model(&x);
  x = started(arms(drives, "key=1 ctrl_i=2"));
  ENSURE_NEAR(x.d->ydot[0], 2, 0);
  close_model(&x);
}

TEST(inertia_and_damping_of_an_actuator_reach_the_joint_through_the_gear_squared) {
  Loaded x = started(arms("<actuator><motor joint='j' gear='3' armature='0.1' damping='0.2'/></actuator>", ""));
  double f[2];
  forces_at(&x, 0, 0, 2, 0, f);
  ENSURE_NEAR(f[0], -9 * 0.2 * 2, 1e-14);
  ENSURE_NEAR(x.d->a[0], f[0] / (1 + 9 * 0.1), 1e-14);
  close_model(&x);
}

// qfrc_actuator of MuJoCo 3.14.
TEST(the_rate_of_an_actuator_on_a_ball_is_the_whole_sum_of_its_axes) {
  Loaded x =
      started(read_text("<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='e' type='ball'/>"
                        "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody><actuator><general "
                        "joint='e' gear='0 3 1' "
                        "gaintype='affine' gainprm='1 0 -2' biastype='affine' biasprm='0.1 0 -3'/></actuator></mujoco>",
                        "ctrl_0=0.7"));
  const double v[3] = {0.5, 0.25, -2}, f[3] = {0, 18.9, 6.3};
  memcpy(x.d->v, v, sizeof v);
  x.d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(x.d->f[k], f[k], 1e-13);
  close_model(&x);
}

// qfrc_actuator of MuJoCo 3.14: 2 3 1.5 - 1 is more than 4.
TEST(the_range_of_a_joint_clamps_what_tendons_do_to_it_too) {
  Loaded x = started(read_text(
      "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='h' axis='0 1 0' actuatorfrcrange='-3 4'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><body pos='0 0 1'><joint name='k' axis='0 1 0'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body></worldbody><tendon><fixed name='t'>"
      "<joint joint='h' coef='2'/><joint joint='k' coef='-1'/></fixed></tendon>"
      "<actuator><motor tendon='t' gear='3'/><motor joint='h'/></actuator></mujoco>",
      "ctrl_0=1.5 ctrl_1=-1"));
  ENSURE_NEAR(x.d->f[0], 4, 1e-14);
  ENSURE_NEAR(x.d->f[1], -4.5, 1e-14);
  close_model(&x);
}

// Every word of an actuator leaves its numbers in one set of defaults, where the others find them.
TEST(defaults_of_actuators_are_one_set_for_all_their_words) {
  static const char defaults[] =
      "<default><default class='g'><general gainprm='30 2 -3' biasprm='1 2 -3' biastype='affine' dyntype='filter' "
      "dynprm='0.5' gaintype='affine'/></default><default class='p'><position kp='70' kv='4' gear='3'/><default "
      "class='q'><general gainprm='9'/><default class='r'><position kv='3'/></default></default></default>"
      "<default class='c'><cylinder timeconst='0.3' area='2' bias='1 2 -3'/></default></default>";
  static const struct {
    const char *drive, *law;  // MuJoCo 3.14: actuator_gainprm, biasprm and their types
  } cases[] = {
      {"<motor class='g'", "ctrl_0"},
      {"<position class='g'", "30*act_0 + 1 + (-30)*q(j) + (-3)*v(j)"},
      {"<velocity class='g'", "30*ctrl_0 + (-30)*v(j)"},
      {"<damper class='g'", "((-3)*v(j))*ctrl_0"},
      {"<cylinder class='g'", "30*act_0 + 1 + 2*q(j) + (-3)*v(j)"},
      {"<general class='p' gainprm='2'", "3*(2*ctrl_0 + (-70)*3*q(j) + (-4)*3*v(j))"},
      {"<velocity class='p'", "3*(70*ctrl_0 + (-70)*3*v(j))"},
      {"<position class='q'", "3*(9*ctrl_0 + (-9)*3*q(j) + (-4)*3*v(j))"},
      {"<general class='r'", "3*(9*ctrl_0 + (-9)*3*q(j) + (-3)*3*v(j))"},
      {"<position class='c' dampratio='0'", "2*act_0 + 1 + (-2)*q(j)"},
      {"<damper", "0"},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    char more[1024];
    snprintf(more, sizeof more, "%s<actuator>%s joint='j'/></actuator>", defaults, cases[i].drive);
    srSpec* spec = arms(more, "");
    ENSURE(spec != NULL);
    ENSURE_TEXT(law(spec, 0), cases[i].law);
    srs_destroy(spec);
  }
}

TEST(a_damping_ratio_refers_to_the_inertia_at_the_reference_pose) {
  // MuJoCo 3.14: minus the third number of actuator_biasprm
  static const double expected[] = {0.8263990944132918, 3.2269259940065194, 1.1830592444847055, 2.966479394838265};
  static const char* const joint[] = {"j", "h", "j", "s"};
  static const int torque[] = {0, 1, 2, 4};          // the tendon's servo works on two joints
  static const double way[] = {3 * 3, 1, 2 * 2, 1};  // of the rate to the force: gear or coef, twice
  Loaded x = started(read_file("ratio", ""));
  const srForceElement* e[5] = {0};
  for (int i = 0, n = 0; i < x.m->nforce && n < 5; i++)
    if (strcmp(x.m->force[i].law->name, "joint-formula") == 0) e[n++] = &x.m->force[i];
  for (int i = 0; i < 4; i++) {
    const int dof = x.m->joint_v[sr_joint_find(x.m, joint[i])];
    const double before = x.d->formula[e[torque[i]]->formula];
    x.d->v[dof] = 1;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_NEAR((before - x.d->formula[e[torque[i]]->formula]) / way[i], expected[i], 1e-13);
    x.d->v[dof] = 0;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  }
  close_model(&x);
}

// The servo's rate is 3 (2 vj - 0.5 vk): MuJoCo takes m = 1/(3 2)^2 + 1/(3 0.5)^2 of the arms' 1 kg m^2 and damps by 2 0.6 sqrt(7 m).
TEST(the_gear_of_a_servo_on_a_tendon_counts_in_the_inertia_of_its_damping_ratio) {
  Loaded x =
      started(arms("<tendon><fixed name='t'><joint joint='j' coef='2'/><joint joint='k' coef='-0.5'/></fixed></tendon>"
                   "<actuator><position tendon='t' kp='7' dampratio='0.6' gear='3'/></actuator>",
                   ""));
  const double damping = 2 * 0.6 * sqrt(7 * (1 / 36.0 + 1 / 2.25));
  double f[2];
  forces_at(&x, 0, 0, 0.2, 0.4, f);
  ENSURE_NEAR(f[0], -6 * damping * (6 * 0.2 - 1.5 * 0.4), 1e-12);
  ENSURE_NEAR(f[1], 1.5 * damping * (6 * 0.2 - 1.5 * 0.4), 1e-12);
  close_model(&x);
}

TEST(actuators_that_are_not_used_are_named_and_keep_their_place) {
  srSpec* spec = arms(
      "<tendon><spatial name='t'><site site='s'/><site site='r'/></spatial></tendon>"
      "<actuator><muscle joint='j'/><general joint='j' gaintype='muscle'/><motor tendon='t'/><motor body='a'/>"
      "<position name='p' joint='k' kp='2' group='3'/></actuator>"
      "<keyframe><key ctrl='1 2 3 4 5'/></keyframe>",
      "key=0");
  ENSURE(spec != NULL);
  ENSURE(strstr(said, "<spatial> is not used"));
  ENSURE(strstr(said, "<muscle> is not used"));
  ENSURE(strstr(said, "<general> with gaintype=\"muscle\" is not used"));
  ENSURE(strstr(said, "<motor> on a spatial tendon is not used"));
  ENSURE(strstr(said, "<motor> with 'body' is not used"));
  ENSURE(strstr(said, "'group' of <position> is not used"));
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_TORQUE), 1);
  ENSURE_TEXT(law(spec, 0), "2*ctrl_p + (-2)*q(k)");
  const srParameterDef* p = srs_get(spec, SR_ELEMENT_PARAMETER, 4);
  ENSURE_TEXT(p->name.text, "ctrl_p");
  ENSURE_NEAR(p->value.number, 5, 0);  // the fifth control of the key
  srs_destroy(spec);
}

// ----------------------------------------------------------------------------------------------------------- tendons
TEST(springs_and_dampers_of_a_tendon_pull_on_all_its_joints) {
  static const char tendon[] =
      "<tendon><fixed stiffness='10' damping='0.5 0.25' springlength='-0.1 0.2'><joint joint='j' coef='2'/>"
      "<joint joint='k' coef='-1'/></fixed></tendon>";
  Loaded x = started(arms(tendon, ""));
  double f[2];
  forces_at(&x, 0.3, 0.1, 0, 0, f);  // L = 0.5, 0.3 beyond the dead band
  ENSURE_NEAR(f[0], 2 * -3, 1e-14);
  ENSURE_NEAR(f[1], 3, 1e-14);
  forces_at(&x, 0.05, 0.1, 0, 0, f);  // L = 0
  ENSURE_NEAR(f[0], 0, 0);
  forces_at(&x, -0.3, 0.1, 0, 0, f);  // L = -0.7
  ENSURE_NEAR(f[0], 2 * 6, 1e-14);
  forces_at(&x, 0, 0, -1, 1, f);  // L' = -3: -(0.5 L' + 0.25 L' |L'|) = 1.5 + 2.25
  ENSURE_NEAR(f[0], 2 * 3.75, 1e-14);
  ENSURE_NEAR(f[1], -3.75, 1e-14);
  close_model(&x);
  // MuJoCo: qfrc_passive with one springlength of 0.2
  x =
      started(arms("<tendon><fixed stiffness='10' springlength='0.2'><joint joint='j' coef='2'/><joint joint='k' "
                   "coef='-1'/></fixed></tendon>",
                   ""));
  static const double expected[3][2] = {{-6, 3}, {4, -2}, {18, -9}}, at[3] = {0.3, 0.05, -0.3};
  for (int i = 0; i < 3; i++) {
    forces_at(&x, at[i], 0.1, 0, 0, f);
    ENSURE_NEAR(f[0], expected[i][0], 1e-13);
    ENSURE_NEAR(f[1], expected[i][1], 1e-13);
  }
  close_model(&x);
}

TEST(a_limited_tendon_has_the_stop_of_our_joints_at_both_ends) {
  Loaded x =
      started(arms("<tendon><fixed range='-1 1'><joint joint='j' coef='2'/><joint joint='k' coef='1'/></fixed>"
                   "</tendon>",
                   ""));
  double f[2];
  forces_at(&x, 0.4, 0.1, 3, 0, f);  // L = 0.9
  ENSURE_NEAR(f[0], 0, 0);
  forces_at(&x, 0.5, 0.01, 3, -5, f);  // L = 1.01, L' = 1: 1e5*0.01*(1 + 1)
  ENSURE_NEAR(f[0], 2 * -2000, 1e-8);
  ENSURE_NEAR(f[1], -2000, 1e-8);
  forces_at(&x, -0.5, -0.02, 0, 0, f);
  ENSURE_NEAR(f[0], 2 * 2000, 1e-8);
  forces_at(&x, -0.5, -0.02, 3, 0, f);  // on the way back, L' = 6: 1e5*0.02*exp(-6)
  ENSURE_NEAR(f[0], 2 * 2000 * exp(-6), 1e-8);
  forces_at(&x, 0.5, 0.01, -1, 1, f);  // L' = -1
  ENSURE_NEAR(f[1], -1000 * exp(-1), 1e-8);
  close_model(&x);
}

TEST(dry_friction_of_a_tendon_with_one_joint_is_that_of_the_joint) {
  srSpec* spec = arms(
      "<tendon><fixed frictionloss='0.3'><joint joint='j' coef='-3'/></fixed>"
      "<fixed frictionloss='1'><joint joint='j' coef='1'/><joint joint='k' coef='1'/></fixed></tendon>",
      "");
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_FRICTION), 1);
  const srFrictionDef* def = srs_get(spec, SR_ELEMENT_FRICTION, 0);
  ENSURE_TEXT(def->joint.text, "j");
  ENSURE_NEAR(def->F.number, 0.9, 1e-15);
  ENSURE(strstr(said, "'frictionloss' of a <fixed> tendon with several joints is not used"));
  srs_destroy(spec);
}

// -------------------------------------------------------------------------------------------------------- equalities
// The same four-bar in the native format, joints at zero where its bars are along x.
static const char fourbar[] =
    "<sarrus version='1'><parameter name='dx' value='0.2*cos(0.6) + 0.5*cos(0.3) - 0.6'/>"
    "<parameter name='dz' value='0.2*sin(0.6) - 0.5*sin(0.3)'/>"
    "<body name='crank'><joint name='theta' type='revolute' axis='0 1 0' q='-0.6'/>"
    "<inertial mass='0.5' com='0.1 0 0' inertia='0.001 0.002 0.002'/></body>"
    "<body name='coupler' parent='crank'><joint name='phi' type='revolute' axis='0 1 0' at='0.2 0 0' q='0.9'/>"
    "<inertial mass='1' com='0.25 0 0' inertia='0.002 0.02 0.02'/><point name='tip' at='0.5 0 0'/></body>"
    "<body name='rocker'><joint name='psi' type='revolute' axis='0 1 0' at='0.6 0 0' q='-1.9'/>"
    "<inertial mass='0.8' com='0.15 0 0' inertia='0.001 0.01 0.01'/>"
    "<point name='pin' at='cos(1.9)*dx + sin(1.9)*dz, 0, -sin(1.9)*dx + cos(1.9)*dz'/></body>"
    "<closure type='ball' a='coupler/tip' b='rocker/pin'/></sarrus>";

static void run(Loaded* x, double t_end, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end, options.rtol = rtol, options.atol = 1e-3 * rtol, options.method = "dopri5";
  sr_data_reset(x->m, x->d);
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
}

TEST(a_connected_four_bar_moves_as_the_same_one_in_our_format) {
  Loaded x = started(read_file("fourbar", "")), y = started(read_text(fourbar, ""));
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.d->a[i], y.d->a[i], 1e-10);
  run(&x, 0.4, 1e-10);
  run(&y, 0.4, 1e-10);
  ENSURE(fabs(x.d->v[0]) > 0.1);                          // it has moved
  static const double shift[] = {0.25 + 0.6, -0.9, 1.9};  // theta is 0.25 at the start (its ref), the others 0
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(x.d->q[i], y.d->q[i] + shift[i], 1e-7);
    ENSURE_NEAR(x.d->v[i], y.d->v[i], 1e-6);
  }
  close_model(&x);
  close_model(&y);
}

static void point(const srSpec* spec, int i, double at[3], double rot[4]) {
  const srPointDef* def = srs_get(spec, SR_ELEMENT_POINT, i);
  for (int k = 0; k < 3; k++) at[k] = def->at.n == 3 ? def->at.numbers[k] : 0;
  for (int k = 0; k < 4; k++) rot[k] = def->rot.n == 4 ? def->rot.numbers[k] : (k == 0 ? 1 : 0);
}

TEST(points_of_connect_and_weld_are_those_of_mujoco) {
  srSpec* spec = read_file("welds", "");
  // MuJoCo: eq_data; of connect the anchors in both bodies, of weld the anchor in body2, then the pose in body1
  static const double data[][10] = {
      {0.5, 0.1, 0.2, 0.9749951480062109, -0.23946294746811247, -0.093892803006441233},
      {0, 0, 0, 0.10812512903541932, -0.27016011489141611, -0.65216751589827826, 0.76905436612381217,
       -0.23605154997616823, -0.55486116257710727, 0.21204748987745986},
      {0.1, 0.2, 0.3, -0.1613454876876643, -0.013295791671756707, -0.61466676684192678, 0.76905436612381217,
       -0.23605154997616823, -0.55486116257710727, 0.21204748987745986},
      {0, 0, 0, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5},
      {0.7, 0.8, 0.9, 0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5}};  // the last two of bodies of their own, which move there
  static const double inner[3] = {-0.1, 0, -0.2};           // body2's frame in the native body's, which is at its joint
  ENSURE(spec != NULL);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CLOSURE), 5);
  for (int i = 0; i < 5; i++) {
    double a[3], b[3], ra[4], rb[4];
    point(spec, 2 * i, a, ra);
    point(spec, 2 * i + 1, b, rb);
    for (int k = 0; k < 3; k++) {
      ENSURE_NEAR(a[k], data[i][i == 0 ? k : 3 + k], 1e-14);
      ENSURE_NEAR(b[k], data[i][i == 0 ? 3 + k : k] + inner[k], 1e-14);
    }
    for (int k = 0; k < 4 && i > 0; k++) ENSURE_NEAR(ra[k], data[i][6 + k], 1e-14);
    const srClosureDef* def = srs_get(spec, SR_ELEMENT_CLOSURE, i);
    ENSURE_TEXT(def->type.text, i == 0 ? "ball" : "weld");
  }
  srs_destroy(spec);
}

TEST(equalities_of_joints_and_tendons_are_couplings_or_formulas) {
  static const char more[] =
      "<tendon><fixed name='t'><joint joint='j' coef='2'/></fixed><fixed name='u'><joint joint='k' coef='-1'/></fixed>"
      "</tendon><equality><joint name='gear' joint1='j' joint2='k' polycoef='0.5 -2'/><joint joint1='j'/>"
      "<joint joint1='j' joint2='k' polycoef='0.1 0 3 0 1'/><tendon tendon1='t' tendon2='u' polycoef='0 4'/>"
      "<joint joint1='j' joint2='k' active='false'/><weld site1='s' site2='r' torquescale='0'/>"
      "<connect site1='s' site2='r' solref='0.1 1'/><flex flex='f'/></equality>";
  srSpec* spec = arms(more, "");
  ENSURE(spec != NULL);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_COUPLING), 1);
  const srCouplingDef* c = srs_get(spec, SR_ELEMENT_COUPLING, 0);
  ENSURE_TEXT(c->name.text, "gear");
  ENSURE_NEAR(c->ratio.number, -2, 0);
  ENSURE_NEAR(c->offset.number, 0.5, 0);
  static const char* const expected[] = {"q(j) = 0", "q(j) = 0.1 + 3*q(k)^2 + q(k)^4", "(2*q(j)) = 4*((-1)*q(k))"};
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONSTRAINT), 3);
  for (int i = 0; i < 3; i++)
    ENSURE_TEXT(((const srConstraintDef*)srs_get(spec, SR_ELEMENT_CONSTRAINT, i))->expr.text, expected[i]);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CLOSURE), 2);
  for (int i = 0; i < 2; i++) {
    const srClosureDef* def = srs_get(spec, SR_ELEMENT_CLOSURE, i);
    ENSURE_TEXT(def->type.text, "ball");
    ENSURE_TEXT(def->a.text, "a/s");
    ENSURE_TEXT(def->b.text, "b/r");
  }
  ENSURE(strstr(said, "<joint> of <equality> with active=\"false\" is not used"));
  ENSURE(strstr(said, "softness (solref, solimp) of <equality>"));
  ENSURE(strstr(said, "<flex> is not used"));
  srs_destroy(spec);
}

TEST(a_coupling_counts_from_the_refs_of_both_joints) {
  static const char text[] =
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body><joint name='j' ref='0.3'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
      "<body><joint name='k' ref='-0.1'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>"
      "<equality><joint joint1='j' joint2='k' polycoef='0 2'/><joint joint1='j' joint2='k' polycoef='0 0 "
      "1'/></equality>"
      "</mujoco>";
  srSpec* spec = read_text(text, "");
  const srCouplingDef* c = srs_get(spec, SR_ELEMENT_COUPLING, 0);
  ENSURE_NEAR(c->offset.number, 0.3 + 2 * 0.1, 1e-15);  // j - 0.3 = 2 (k + 0.1)
  const srConstraintDef* f = srs_get(spec, SR_ELEMENT_CONSTRAINT, 0);
  ENSURE_TEXT(f->expr.text, "q(j) = 0.3 + (q(k) - (-0.1))^2");
  srs_destroy(spec);
}

// ---------------------------------------------------------------------------------------------------------- contacts
TEST(a_soft_contact_has_the_time_and_the_damping_of_solref) {
  Loaded x = started(read_file("soft", ""));
  // MuJoCo: qacc at a depth of 0.01 m, with solref 0.05 0.6: 0.01/(0.05*0.6)^2
  ENSURE_NEAR(x.d->a[5], 11.111111111111121, 1e-12);
  run(&x, 0.005, 1e-10);
  // MuJoCo: after 500 steps of 1e-5 s by Euler's method, which is of the first order
  ENSURE_NEAR(x.d->q[2], 0.090130052786003972, 1e-6);
  ENSURE_NEAR(x.d->v[5], 0.050128945072839479, 2e-5);
  close_model(&x);
}

TEST(a_ball_on_a_soft_floor_rests_at_the_depth_of_its_weight) {
  static const char text[] =
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/><geom size='0.1' mass='2' "
      "solref='0.04 1'/></body></worldbody></mujoco>";
  Loaded x = started(read_text(text, ""));
  run(&x, 3, 1e-8);
  const double tc = 0.5 * (0.04 + 0.02);               // mean of both geoms
  ENSURE_NEAR(x.d->q[2], 0.1 - 9.81 * tc * tc, 1e-8);  // m g/K, K = m/tc^2
  close_model(&x);
}

// MuJoCo's documented contact of a ball on a plane, by its default solimp 0.9 0.95 0.001 0.5 2:
//   a = (1 - d) a0 + d (-b v - d k z),  k = 1/(dmax tc dr)^2, b = 2/(dmax tc), never below a0: the force pushes
static double mujoco_acceleration(double z, double v, double tc, double dr) {
  const double x = fmin(fabs(z) / 0.001, 1), y = x <= 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
  const double d = 0.9 + 0.05 * y, dmax = 0.95, k = 1 / (dmax * tc * dr * dmax * tc * dr), b = 2 / (dmax * tc);
  if (z >= 0) return -9.81;
  return fmax((1 - d) * -9.81 + d * (-b * v - d * k * z), -9.81);
}

// What docs/robots/mjcf-sections.md states: a blow is nearly MuJoCo's, where its depth is well above that of the weight.
TEST(a_ball_that_strikes_a_floor_moves_nearly_as_in_mujoco) {
  static const char text[] =
      "<mujoco><worldbody><geom type='plane' size='1 1 1' solref='0.02 0.3'/><body pos='0 0 0.1'><freejoint/><geom "
      "size='0.1' "
      "mass='2' solref='0.02 0.3'/></body></worldbody></mujoco>";
  const double strike = -sqrt(2 * 9.81 * 0.1), dt = 1e-6;
  double z = 0, v = strike, deepest = 0, low = 0;
  for (int i = 0; (i == 0 || z < 0) && i < 100000; i++) {  // the midpoint rule
    const double middle = v + 0.5 * dt * mujoco_acceleration(z, v, 0.02, 0.3);
    const double a = mujoco_acceleration(z + 0.5 * dt * v, middle, 0.02, 0.3);
    z += dt * middle;
    v += dt * a;
    deepest = fmin(deepest, z);
  }
  Loaded x = started(read_text(text, ""));
  srRunOptions options = sr_run_options(x.m);
  options.rtol = 1e-8, options.atol = 1e-11, options.method = "dopri5";
  x.d->v[5] = strike;
  for (int i = 1; (i == 1 || x.d->q[2] < 0.1) && i < 1000; i++) {
    options.t_end = 1e-4 * i;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    low = fmin(low, x.d->q[2] - 0.1);
  }
  ENSURE(v > 0.5 && deepest < -5e-3);
  ENSURE_NEAR(low / deepest, 1, 0.04);
  ENSURE_NEAR((x.d->v[5] + 9.81 * 0.5e-4) / v, 1, 0.04);
  close_model(&x);
}

static bool touches(const srSpec* spec, const char* a, const char* b) {
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_CONTACT); i++) {
    const srContactDef* c = srs_get(spec, SR_ELEMENT_CONTACT, i);
    const char *one = c->a.text, *two = c->b.text;
    if ((strcmp(one, a) == 0 && strcmp(two, b) == 0) || (strcmp(one, b) == 0 && strcmp(two, a) == 0)) return true;
  }
  return false;
}

TEST(geoms_touch_as_in_mujoco) {
  srSpec* spec = read_file("touching", "");
  ENSURE(spec != NULL);
  ENSURE(touches(spec, "ground/floor", "base/trunk"));
  ENSURE(!touches(spec, "base/trunk", "arm/upper"));   // a parent and its child
  ENSURE(!touches(spec, "base/trunk", "fixed/lid"));   // welded to each other
  ENSURE(!touches(spec, "fixed/lid", "arm/upper"));    // the parent's lid and the child
  ENSURE(touches(spec, "base/trunk", "hand/fist"));    // a grandchild
  ENSURE(!touches(spec, "arm/upper", "other/apart"));  // no common bits
  ENSURE(touches(spec, "ground/floor", "other/apart"));
  ENSURE(!touches(spec, "base/trunk", "other/apart"));
  ENSURE(!touches(spec, "hand/fist", "shy/away"));  // excluded
  ENSURE(touches(spec, "ground/floor", "shy/away"));
  ENSURE(touches(spec, "hand/fist", "picture/shown"));  // by <pair> alone
  ENSURE(!touches(spec, "ground/floor", "picture/shown"));
  ENSURE(!strstr(said, "are left out"));  // the capsule touches as well
  srs_destroy(spec);
}

// Of all primitives on a floor.
TEST(geoms_of_all_primitive_kinds_touch) {
#define FREE(name, x, geom)                                                                                            \
  "<body name='" name "' pos='" x " 0 0.1'><freejoint/><geom name='" name "' mass='1' " geom "/></body>"
  srSpec* spec =
      read_text("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>" FREE(
                    "box", "0", "type='box' size='0.1 0.1 0.1'") FREE("capsule", "1", "type='capsule' size='0.1 0.1'")
                    FREE("cylinder", "2", "type='cylinder' size='0.1 0.1'")
                        FREE("ellipsoid", "3", "type='ellipsoid' size='0.1 0.1 0.1'") "</worldbody></mujoco>",
                "");
  ENSURE(spec != NULL);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 4 + 6);
  ENSURE(touches(spec, "ground/floor", "ellipsoid/ellipsoid") && touches(spec, "box/box", "cylinder/cylinder"));
  Loaded x = started(spec);
  run(&x, 2, 1e-6);
  // MuJoCo's rest: K = m/tc^2 with the default 0.02 s; a face, and both ends of nothing that lies: they stand
  ENSURE_NEAR(x.d->q[2], 0.1 - 9.81 * 4e-4, 1e-6);
  close_model(&x);
}

TEST(numbers_of_a_contact_come_from_both_geoms_or_the_pair) {
  srSpec* spec = read_file("touching", "");
  const srContactDef *pair = NULL, *mixed = NULL, *prior = NULL;
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_CONTACT); i++) {
    const srContactDef* c = srs_get(spec, SR_ELEMENT_CONTACT, i);
    if (strcmp(c->b.text, "picture/shown") == 0) pair = c;
    if (strcmp(c->a.text, "ground/floor") == 0 && strcmp(c->b.text, "base/trunk") == 0) mixed = c;
    if (strcmp(c->a.text, "ground/floor") == 0 && strcmp(c->b.text, "shy/away") == 0) prior = c;
  }
  ENSURE(pair && mixed && prior);
  // <pair condim="6" friction="0.4 0.4 0.02 0.003 0.003" solref="-100 -5">: two trees of 5 kg and 1 kg
  const double M = 1 / (1.0 / 5 + 1.0 / 1);
  ENSURE_TEXT(pair->name.text, "grip");
  ENSURE_NEAR(pair->K.number, 100 * M, 1e-12);
  ENSURE_NEAR(pair->D.number, 5 * M, 1e-12);
  ENSURE_NEAR(pair->mu_k.number, 0.4, 0);
  ENSURE_NEAR(pair->mu_spin.number, 0.02, 0);
  ENSURE_NEAR(pair->mu_roll.number, 0.003, 0);
  // floor 0.9 and trunk 0.7; solref both 0.02 1; the tree has 5 kg
  ENSURE_NEAR(mixed->mu_s.number, 0.9, 0);
  ENSURE_NEAR(mixed->K.number, 5 / (0.02 * 0.02), 1e-9);
  ENSURE_NEAR(mixed->D.number, 2 * 5 / 0.02, 1e-9);
  ENSURE(!sr_given(mixed->mu_spin));
  // priority 2 of the ball: its own condim 1 and solref 0.03 0.5; 1 kg
  ENSURE_TEXT(prior->friction.text, "none");
  ENSURE_NEAR(prior->K.number, 1 / (0.015 * 0.015), 1e-9);
  srs_destroy(spec);
}

// Tangents of MuJoCo 2.2.2, printed for these pairs: y of the world on a floor and on a table; z on a wall whose normal is 10 degrees from y; the axis of a capsule
// on a plane. The first coefficient is along the tangent, here mu2.
TEST(two_coefficients_of_a_pair_are_friction_by_direction) {
  static const struct {
    const char *floor, *thing, *friction;
    bool on_thing;
    double direction[3], turn, mu2, mu_k;
  } cases[] = {
      {"type='plane' size='1 1 1'", "type='box' size='.1 .1 .1'", "0.2 0.6", false, {0, 1, 0}, 0, 0.2, 0.6},
      {"type='plane' size='1 1 1' euler='0 0 90'", "type='sphere' size='.1'", "0.2 0.6", false, {1, 0, 0}, 0, 0.2, 0.6},
      {"type='box' size='1 1 1'", "type='sphere' size='.1'", "0.2 0.6", false, {0, 1, 0}, 0, 0.2, 0.6},
      {"type='plane' size='1 1 1' euler='-90 0 0'",
       "type='sphere' size='.1'",
       "0.2 0.6",
       false,
       {0, -1, 0},
       0,
       0.2,
       0.6},
      {"type='plane' size='1 1 1'",
       "type='capsule' size='.1 .3' euler='0 90 30'",
       "0.2 0.6",
       true,
       {0, 0, 1},
       0,
       0.2,
       0.6},
      {"type='plane' size='1 1 1'", "type='sphere' size='.1'", "0.5 0", false, {0, 1, 0}, 1.5707963267948966, 0, 0.5},
      {"type='plane' size='1 1 1'", "type='sphere' size='.1'", "0 0.5", false, {0, 1, 0}, 0, 0, 0.5},
  };
  for (int i = 0; i < 7; i++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "<mujoco><worldbody><geom name='f' %s/><body pos='0 0 1'><freejoint/><geom name='g' %s/></body></worldbody>"
        "<contact><pair geom1='f' geom2='g' friction='%s 0.005 0 0'/></contact></mujoco>",
        cases[i].floor, cases[i].thing, cases[i].friction);
    srSpec* spec = read_text(text, "");
    ENSURE(spec && srs_count(spec, SR_ELEMENT_CONTACT) == 1);
    const srContactDef* c = srs_get(spec, SR_ELEMENT_CONTACT, 0);
    ENSURE_NEAR(c->mu2.number, cases[i].mu2, 0);
    ENSURE_NEAR(c->mu_k.number, cases[i].mu_k, 0);
    ENSURE_NEAR(c->mu_s.number, cases[i].mu_k, 0);
    for (int k = 0; k < 2; k++) {
      const srShapeDef* shape = srs_get(spec, SR_ELEMENT_SHAPE, k);
      const bool thing = strcmp(shape->name.text, "g") == 0;
      ENSURE_EQUAL(sr_given(shape->direction), thing == cases[i].on_thing);
      for (int j = 0; j < 3 && thing == cases[i].on_thing; j++)
        ENSURE_NEAR(shape->direction.numbers[j], cases[i].direction[j], 1e-15);
      if (thing == cases[i].on_thing) ENSURE_NEAR(shape->turn.number, cases[i].turn, 0);
    }
    Loaded x = started(spec);
    close_model(&x);
  }
  srSpec* spec = read_text(
      "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom name='f' size='0.1'/></body><body pos='0 0 "
      "2'><freejoint/>"
      "<geom name='g' size='0.1'/></body></worldbody><contact><pair geom1='f' geom2='g' friction='0.2 "
      "0.6'/></contact></mujoco>",
      "");
  const srContactDef* c = srs_get(spec, SR_ELEMENT_CONTACT, 0);
  ENSURE(!sr_given(c->mu2) && c->mu_k.number == 0.2 &&
         strstr(said, "depends on the direction between two moving geoms"));
  srs_destroy(spec);
}

TEST(flags_switch_sections_off) {
  static const char text[] =
      "<mujoco><option><flag %s='disable'/></option><worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 "
      "0 1'>"
      "<joint name='j' type='slide'/><geom size='0.1'/></body></worldbody><equality><joint joint1='j'/></equality>"
      "<actuator><motor name='m' joint='j' ctrlrange='-1 1'/></actuator></mujoco>";
  static const struct {
    const char* flag;
    int contacts, constraints, torques;
  } cases[] = {{"warmstart", 1, 1, 1},
               {"contact", 0, 1, 1},
               {"equality", 1, 0, 1},
               {"actuation", 1, 1, 0},
               {"constraint", 0, 0, 1}};
  for (int i = 0; i < 5; i++) {
    char full[1024];
    snprintf(full, sizeof full, text, cases[i].flag);
    srSpec* spec = read_text(full, "");
    ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), cases[i].contacts);
    ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONSTRAINT), cases[i].constraints);
    ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_TORQUE), cases[i].torques);
    if (cases[i].torques > 0) ENSURE_TEXT(law(spec, 0), "max((-1), min(1, ctrl_m))");
    srs_destroy(spec);
  }
}

TEST(flags_hold_for_joints_and_tendons_too) {
  static const char text[] =
      "<mujoco><option><flag %s='disable'/></option><worldbody><body name='a'><joint name='j' range='-1 1' "
      "frictionloss='1'/><geom size='0.1'/></body></worldbody><tendon><fixed name='t' stiffness='3' damping='2' "
      "springlength='0' frictionloss='1'><joint joint='j' coef='1'/></fixed><fixed range='-1 1'><joint joint='j' "
      "coef='1'/></fixed></tendon></mujoco>";
  static const struct {
    const char *flag, *spring;
    bool limits, stop;
    double friction;  // of the joint and of the tendon together
  } cases[] = {{"warmstart", "(-3)*((q(j)) - 0) + (-2)*(v(j))", true, true, 2},
               {"constraint", "(-3)*((q(j)) - 0) + (-2)*(v(j))", false, false, 0},
               {"limit", "(-3)*((q(j)) - 0) + (-2)*(v(j))", false, false, 2},
               {"frictionloss", "(-3)*((q(j)) - 0) + (-2)*(v(j))", true, true, 0},
               {"spring", "(-2)*(v(j))", true, true, 2},
               {"damper", "(-3)*((q(j)) - 0)", true, true, 2}};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
    char full[1024];
    snprintf(full, sizeof full, text, cases[i].flag);
    srSpec* spec = read_text(full, "");
    ENSURE(spec != NULL);
    ENSURE_TEXT(law(spec, 0), cases[i].spring);
    ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_TORQUE), 1 + cases[i].stop);
    ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_FRICTION), cases[i].friction > 0);
    if (cases[i].friction > 0)
      ENSURE_NEAR(((const srFrictionDef*)srs_get(spec, SR_ELEMENT_FRICTION, 0))->F.number, cases[i].friction, 0);
    const srJointDef* def = srs_get(spec, SR_ELEMENT_JOINT, 0);
    ENSURE_EQUAL(sr_given(def->limits), cases[i].limits);
    srs_destroy(spec);
  }
}

TEST(predefined_collisions_are_those_of_pairs) {
  srSpec* spec = read_text(
      "<mujoco><option collision='predefined'/><worldbody><geom name='floor' type='plane' size='1 1 "
      "1'/><body><freejoint/>"
      "<geom name='a' size='0.1'/></body><body><freejoint/><geom name='b' size='0.1'/></body></worldbody>"
      "<contact><pair geom1='a' geom2='b'/></contact></mujoco>",
      "");
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 1);
  srs_destroy(spec);
}

// The same accelerations as with constant controls of the values that the motion has at 0 s and 1 s.
TEST(a_motion_with_the_name_of_a_control_is_the_control_over_time) {
  static const char* constant[] = {"ctrl_motor=0.5", "ctrl_motor=-0.25"};
  for (int i = 0; i < 2; i++) {
    Loaded x = started(read_file("driven", "")), y = started(read_file("drives", constant[i]));
    x.d->t = y.d->t = i;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_EQUAL(sr_forward(y.m, y.d, SR_TAU_ELEMENT), 0);
    ENSURE(fabs(y.d->a[0]) > 0.1);
    for (int k = 0; k < x.m->nv; k++) ENSURE_NEAR(x.d->a[k], y.d->a[k], 1e-12);
    close_model(&x);
    close_model(&y);
  }
  srSpec* spec = read_file("driven", "ctrl_motor=1");  // it is no parameter any more
  ENSURE(!spec && strstr(said, "ctrl_motor"));
}

TEST(controls_of_actuators_that_do_nothing_may_be_set) {
  static const char drives[] = "<actuator><muscle name='m' joint='j'/><motor name='n' joint='j'/></actuator>";
  srSpec* spec = arms(drives, "ctrl_m=1 ctrl_n=2");
  ENSURE(spec != NULL);
  srs_destroy(spec);
  char text[1024];
  snprintf(text, sizeof text, "<option><flag actuation='disable'/></option>%s", drives);
  spec = arms(text, "ctrl_m=1 ctrl_n=2");
  ENSURE(spec && srs_count(spec, SR_ELEMENT_TORQUE) == 0);
  srs_destroy(spec);
}

TEST(a_pair_with_a_geom_that_was_left_out_is_a_warning) {
  static const char text[] =
      "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/><mesh name='m' file='no.stl'/></asset>"
      "<worldbody><geom name='hills' type='hfield' hfield='h'/><body><freejoint/><geom name='ball' size='0.1'/>"
      "<geom name='lost' type='mesh' mesh='m'/></body></worldbody>"
      "<contact><pair geom1='hills' geom2='ball'/><pair geom1='lost' geom2='hills'/>%s</contact></mujoco>";
  char full[1024];
  snprintf(full, sizeof full, text, "");
  srSpec* spec = read_text(full, "");
  ENSURE(spec != NULL);
  ENSURE(strstr(said, "<pair> with a geom that has no shape here is not used: 2 times"));
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_CONTACT), 0);
  srs_destroy(spec);
  snprintf(full, sizeof full, text, "<pair geom1='hils' geom2='ball'/>");
  ENSURE(read_text(full, "") == NULL && strstr(said, "there is no geom 'hils'; did you mean 'hills'?"));
}

// --------------------------------------------------------------------------------------------------------- keyframes
TEST(a_keyframe_is_the_start_when_it_is_asked_for) {
  Loaded x = started(read_file("drives", ""));
  ENSURE(strstr(said, "note: the start is MuJoCo's qpos0; --set key=N starts at a keyframe: 0 zero, 1 busy"));
  static const double qpos0[] = {0.2, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0};
  for (int i = 0; i < 13; i++) ENSURE_NEAR(x.m->q0[i], qpos0[i], 0);
  for (int i = 0; i < 11; i++) ENSURE_NEAR(x.m->v0[i], 0, 0);
  close_model(&x);
  x = started(read_file("drives", "key=1"));
  ENSURE(strstr(said, "note:") == NULL);
  static const double q[] = {0.3, -0.4, 1, 2, 3, 0.5, 0.5, -0.5, 0.5, 0.6, 0, 0.8, 0};
  // the free joint: MuJoCo's 0.1 0.2 0.3 along the world's axes are 0.3 -0.1 -0.2 along the body's
  static const double v[] = {1.5, 2.5, 0.4, 0.5, 0.6, 0.3, -0.1, -0.2, 0.7, 0.8, 0.9};
  for (int i = 0; i < 13; i++) ENSURE_NEAR(x.m->q0[i], q[i], 1e-15);
  for (int i = 0; i < 11; i++) ENSURE_NEAR(x.m->v0[i], v[i], 1e-15);
  static const double act[] = {0.3, 0.25, 0.6};
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.m->y0[i], act[i], 0);
  close_model(&x);
  srSpec* wrong = arms("<keyframe><key qpos='1 2 3'/></keyframe>", "");
  ENSURE(wrong && strstr(said, "m:2:22: warning: 'qpos' of <key> has 3 numbers, and the model 2"));
  srs_destroy(wrong);
  srSpec* spec = read_file("drives", "key=2");
  ENSURE(!spec && strstr(said, "--set key: error: there is no keyframe '2'; the file has 0 zero, 1 busy"));
}

// ----------------------------------------------------------------------------------------------------------- sensors
TEST(sensors_give_what_mujoco_gives) {
  Loaded x = started(read_file("sensors", "key=busy"));
  static const struct {
    const char* name;
    double value;  // MuJoCo: sensordata
  } expected[] = {{"hip", 0.29999999999999999},
                  {"knee speed", 2.5},
                  {"length", 0.5},
                  {"rate", 0.25},
                  {"servo length", -0.8},
                  {"servo rate", 5},
                  {"servo force", 45},
                  {"spin.x", 0.7},
                  {"spin.z", 0.9},
                  {"turn.w", 0.6},
                  {"turn.y", 0.8},
                  {"gyro.x", 0.39999999999999997},
                  {"gyro.y", 0.71599999999999986},
                  {"gyro.z", -0.31199999999999989},
                  {"log.x", 0.34999999999999998},
                  {"log.y", -0.26240000000000002},
                  {"log.z", 0.006799999999999945}};
  for (int i = 0; i < (int)(sizeof expected / sizeof expected[0]); i++)
    ENSURE_NEAR(value_of(&x, expected[i].name), expected[i].value, 1e-13);
  const srFrameMotion place = sensor(&x, "place"), seen = sensor(&x, "seen");
  static const double at[3] = {1, 1.9, 3.1};
  static const double speed[3] = {-0.61613993001666434, -0.53635023285694183, -3.2145641292015465};
  for (int k = 0; k < 3; k++) {
    ENSURE_NEAR(place.position[k], at[k], 1e-14);
    ENSURE_NEAR(seen.velocity[k], speed[k], 1e-13);
  }
  ENSURE(strstr(said, "<accelerometer> is not used"));
  close_model(&x);
}

// ------------------------------------------------------------------------------------------------------------ errors
TEST(what_is_wrong_in_a_section_is_reported_at_its_location) {
  ENSURE(refused("<actuator><motor joint='jj'/></actuator>", "m:2:25: error: there is no joint 'jj'"));
  ENSURE(refused("<actuator><motor/></actuator>", "m:2:11: error: <motor> works on nothing"));
  ENSURE(refused("<actuator><motor joint='j' site='s'/></actuator>", "<motor> has 'joint' and 'site'"));
  ENSURE(refused("<actuator><moter joint='j'/></actuator>",
                 "unknown element <moter> in <actuator>; did you mean <motor>?"));
  ENSURE(refused("<actuator><motor joint='j' kp='1'/></actuator>", "m:2:28: error: unknown attribute 'kp' of <motor>"));
  ENSURE(refused("<actuator><motor joint='j' gear='x'/></actuator>", "m:2:34: error: 'x' in 'gear' is not a number"));
  ENSURE(refused("<actuator><motor joint='j' ctrlrange='2 1' ctrllimited='true'/></actuator>",
                 "from a smaller to a larger number"));
  ENSURE(refused("<actuator><motor joint='j' ctrllimited='true'/></actuator>", "it has no 'ctrlrange'"));
  ENSURE(refused("<actuator><motor joint='j' ctrllimited='maybe'/></actuator>", "'maybe' in 'ctrllimited' is none of"));
  ENSURE(refused("<actuator><motor name='m' joint='j'/><motor name='m' joint='k'/></actuator>",
                 "there is an actuator 'm' already"));
  ENSURE(refused("<actuator><general joint='j' gaintype='fixd'/></actuator>", "did you mean 'fixed'?"));
  ENSURE(refused("<actuator><general joint='j' dyntype='filter' dynprm='0'/></actuator>", "must be positive, got 0"));
  ENSURE(refused("<actuator><position joint='j' kv='1' dampratio='1'/></actuator>", "has 'kv' and 'dampratio'"));
  ENSURE(refused("<tendon><fixed/></tendon>", "m:2:9: error: <fixed> has no <joint>"));
  ENSURE(refused("<tendon><fixed><joint joint='j'/></fixed></tendon>", "needs 'joint' and 'coef'"));
  ENSURE(refused("<tendon><fixed><site site='s'/></fixed></tendon>", "unknown element <site> in <fixed>"));
  ENSURE(refused("<equality><connect body1='a'/></equality>", "<connect> with 'body1' needs 'anchor'"));
  ENSURE(refused("<equality><connect anchor='0 0 0'/></equality>", "<connect> needs 'body1', or 'site1' and 'site2'"));
  ENSURE(refused("<equality><connect site1='s'/></equality>", "takes 'site1' and 'site2', or 'body1' and 'body2'"));
  ENSURE(refused("<equality><weld body1='a' body2='c'/></equality>", "m:2:34: error: there is no body 'c'"));
  ENSURE(refused("<equality><weld body1='a' relpose='1 2'/></equality>", "'relpose' takes 7 numbers, got 2"));
  ENSURE(refused("<equality><joint joint2='j'/></equality>", "needs 'joint1'"));
  ENSURE(refused("<equality><tendon tendon1='t'/></equality>", "there is no tendon 't'"));
  ENSURE(refused("<contact><pair geom1='g' geom2='h'/></contact>", "there is no geom 'g'"));
  ENSURE(refused("<contact><exclude body1='a'/></contact>", "<exclude> needs 'body1' and 'body2'"));
  ENSURE(refused("<contact><excluded/></contact>", "did you mean <exclude>?"));
  ENSURE(refused("<sensor><jointpos/></sensor>", "<jointpos> needs 'joint'"));
  ENSURE(refused("<sensor><framepos objtype='thing' objname='a'/></sensor>", "unknown objtype 'thing'"));
  ENSURE(refused("<sensor><ballquat joint='j'/></sensor>", "<ballquat> needs a ball joint, which 'j' is not"));
  ENSURE(refused("<keyframe><kee/></keyframe>", "unknown element <kee> in <keyframe>"));
  srSpec* spec = arms("<keyframe><key qpos='1 2 3'/></keyframe>", "key=0");
  ENSURE(!spec && strstr(said, "m:2:22: error: 'qpos' takes 2 numbers, got 3"));
}

// A law's text counts against the bound of the reader, however short the elements are that ask for it.
TEST(many_actuators_on_a_long_tendon_are_bounded) {
  enum { ACTUATORS = 40000, JOINTS = 200 };
  static char text[4000000];
  int n = snprintf(text, sizeof text, "<mujoco>" ARMS "<tendon><fixed name='t'>");
  for (int i = 0; i < JOINTS; i++) n += snprintf(text + n, sizeof text - (size_t)n, "<joint joint='j' coef='1'/>");
  n += snprintf(text + n, sizeof text - (size_t)n, "</fixed></tendon><actuator>");
  for (int i = 0; i < ACTUATORS; i++) n += snprintf(text + n, sizeof text - (size_t)n, "<position tendon='t'/>");
  snprintf(text + n, sizeof text - (size_t)n, "</actuator></mujoco>");
  ENSURE(read_text(text, "") == NULL);
  ENSURE(strstr(said, "the model has more than"));
}
