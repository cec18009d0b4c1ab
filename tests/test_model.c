// Compilation: topology, names, joints and what their coordinates mean, inertia of shapes, refusals, memory.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define DOCUMENT(...) "<sarrus version='1' name='test'>" __VA_ARGS__ "</sarrus>"
#define UNIT_INERTIAL "<inertial mass='1' inertia='1 1 1'/>"

// Compiles a document; NULL and all messages in text (joined by newlines) when it is refused.
static srModel* compile(const char* document, char* text, size_t size) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* model = NULL;
  srStatus status = sr_load_text(document, strlen(document), "test.xml", NULL, NULL, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &model);
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < sr_messages_count(messages) && used < size; i++) {
    sr_message_format(sr_messages_get(messages, i), text + used, size - used);
    used += strlen(text + used);
    if (used + 1 < size) text[used++] = '\n', text[used] = '\0';
  }
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return model;
}

static srModel* compiled(const char* document) {
  char text[2048];
  srModel* model = compile(document, text, sizeof text);
  if (!model) fprintf(stderr, "%s\n", text);
  ENSURE(model != NULL);
  return model;
}

static void ensure_refused(const char* document, const char* word) {
  char text[2048];
  srModel* model = compile(document, text, sizeof text);
  if (model) sr_model_destroy(model);
  if (!strstr(text, word)) fprintf(stderr, "expected '%s' in: %s\n", word, text);
  ENSURE(model == NULL);
  ENSURE(strstr(text, word) != NULL);
}

TEST(bodies_are_numbered_depth_first_with_children_in_file_order) {
  // ROBOTRAN manual, figure 3: inbody = [0 1 2 2 2 4 4 0], here with the bodies written in another order
  srModel* m =
      compiled(DOCUMENT(  //
          "<body name='e' parent='b'><joint type='revolute'/>" UNIT_INERTIAL "</body>"
          "<body name='a'><joint type='revolute'/>" UNIT_INERTIAL "</body>"
          "<body name='b' parent='a'><joint type='universal' axis2='1 0 0'/>" UNIT_INERTIAL "</body>"
          "<body name='h'><joint type='free'/>" UNIT_INERTIAL "</body>"
          "<body name='c' parent='b'><joint type='weld'/>" UNIT_INERTIAL "</body>"));
  const char* const names[] = {"ground", "a", "b", "e", "c", "h"};
  const int parents[] = {-1, 0, 1, 2, 2, 0};
  for (int b = 0; b <= m->nbody; b++) {
    ENSURE_TEXT(m->body_name[b], names[b]);
    ENSURE_EQUAL(m->body_parent[b], parents[b]);
  }
  ENSURE_EQUAL(m->nq, 1 + 2 + 1 + 0 + 7);
  ENSURE_EQUAL(m->nv, 1 + 2 + 1 + 0 + 6);
  ENSURE_EQUAL(m->body_link[4], m->body_link[2]);  // the weld rides on its parent
  ENSURE_TEXT(m->q_name[1], "b.1");
  ENSURE_TEXT(m->q_name[7], "h.qw");
  ENSURE_TEXT(m->v_name[4], "h.wx");
  sr_model_destroy(m);
}

TEST(a_body_without_a_joint_is_free_and_its_joint_is_not_counted) {
  srModel* m = compiled(DOCUMENT("<body name='stone'>" UNIT_INERTIAL "</body>"));
  ENSURE_EQUAL(m->njoint, 1);
  ENSURE_EQUAL(m->njoint_given, 0);
  ENSURE_EQUAL(m->nv, 6);
  ENSURE_NEAR(m->q0[3], 1, 0);
  sr_model_destroy(m);
}

// ------------------------------------------------------------------------------- what the coordinates of a joint mean
typedef struct Frame {
  double R[3][3], p[3];
} Frame;

// Rodrigues: rotation by angle about the unit axis.
static Frame turn(const double axis[3], double angle) {
  Frame f = {0};
  double c = cos(angle), s = sin(angle);
  const double K[3][3] = {{0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) f.R[i][k] = (i == k ? c : 0) + s * K[i][k] + (1 - c) * axis[i] * axis[k];
  }
  return f;
}

static Frame shift(double x, double y, double z) { return (Frame){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {x, y, z}}; }

static Frame times(Frame a, Frame b) {
  Frame f = {0};
  for (int i = 0; i < 3; i++) {
    f.p[i] = a.p[i];
    for (int k = 0; k < 3; k++) {
      f.p[i] += a.R[i][k] * b.p[k];
      for (int l = 0; l < 3; l++) f.R[i][k] += a.R[i][l] * b.R[l][k];
    }
  }
  return f;
}

// The body "b" must be at this frame, that of the joint being (0.1 0.2 0.3) and rpy (0.4 0.5 0.6) in the ground.
static void ensure_frame(const char* joint, Frame expected) {
  char document[1024];
  snprintf(document, sizeof document,
           DOCUMENT("<body name='b'><joint at='0.1 0.2 0.3' rpy='0.4 0.5 0.6' %s/>" UNIT_INERTIAL "</body>"), joint);
  srModel* m = compiled(document);
  srData* d = sr_data_create(m);
  sr_kinematics(m, d);
  d->stage = SR_STAGE_POSITION;
  srFrameMotion at;
  sr_frame_motion(m, d, sr_point_find(m, "b"), 0, &at);
  const Frame base = times(shift(0.1, 0.2, 0.3),
                           times(turn((const double[]){0, 0, 1}, 0.6),
                                 times(turn((const double[]){0, 1, 0}, 0.5), turn((const double[]){1, 0, 0}, 0.4))));
  const Frame f = times(base, expected);
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(at.position[i], f.p[i], 1e-14);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(at.rotation[3 * i + k], f.R[i][k], 1e-14);
  }
  sr_data_destroy(d);
  sr_model_destroy(m);
}

TEST(every_kind_of_joint_moves_its_body_as_documented) {
  const double u[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7}, w[3] = {0, 0.6, -0.8}, x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
  ensure_frame("type='revolute' axis='2 3 6' q='0.7'", turn(u, 0.7));
  ensure_frame("type='prismatic' axis='2 3 6' q='0.7'", shift(0.2, 0.3, 0.6));
  ensure_frame("type='helical' axis='2 3 6' pitch='0.1' q='7'", times(shift(0.2, 0.3, 0.6), turn(u, 7)));
  ensure_frame("type='cylindrical' axis='2 3 6' q='1.1 0.7'", times(turn(u, 1.1), shift(0.2, 0.3, 0.6)));
  ensure_frame("type='universal' axis='2 3 6' axis2='0 3 -4' q='1.1 -0.4'", times(turn(u, 1.1), turn(w, -0.4)));
  ensure_frame("type='planar' q='0.2 -0.3 0.9'", times(shift(0.2, -0.3, 0), turn(z, 0.9)));
  ensure_frame("type='ball' q='2*cos(0.35) 2*sin(0.35)*2/7 2*sin(0.35)*3/7 2*sin(0.35)*6/7'", turn(u, 0.7));
  ensure_frame("type='free' q='1 2 3 cos(0.2) sin(0.2) 0 0'", times(shift(1, 2, 3), turn(x, 0.4)));
  ensure_frame("type='weld'", shift(0, 0, 0));
}

TEST(a_planar_joint_keeps_the_joint_frames_x_in_its_plane) {
  // normal along y: x stays x, so y of the plane is y cross x = -z
  ensure_frame("type='planar' axis='0 1 0' q='0.2 0.3 0.5'",
               times(shift(0.2, 0, -0.3), turn((const double[]){0, 1, 0}, 0.5)));
}

// --------------------------------------------------------------------------------------------------- inertia of shapes
static bool inside(const char* type, const double* s, const double* p) {
  const double x = p[0], y = p[1], z = p[2], r2 = x * x + y * y;
  if (strcmp(type, "sphere") == 0) return r2 + z * z <= s[0] * s[0];
  if (strcmp(type, "box") == 0) return fabs(x) <= s[0] / 2 && fabs(y) <= s[1] / 2 && fabs(z) <= s[2] / 2;
  if (strcmp(type, "cylinder") == 0) return r2 <= s[0] * s[0] && fabs(z) <= s[1] / 2;
  if (strcmp(type, "ellipsoid") == 0) return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) <= 1;
  if (strcmp(type, "cone") == 0) return fabs(z) <= s[1] / 2 && sqrt(r2) <= s[0] * (0.5 - z / s[1]);
  const double beyond = fmax(fabs(z) - s[1] / 2, 0);
  return r2 + beyond * beyond <= s[0] * s[0];
}

// Mass, centre and moments of a shape by counting cells of a grid: knows nothing of the closed forms.
static void ensure_shape(const char* type, const char* size, const double* s) {
  char document[512];
  snprintf(document, sizeof document, DOCUMENT("<body name='b'><shape type='%s' size='%s' density='3'/></body>"), type,
           size);
  srModel* m = compiled(document);
  const int n = 120;
  const double half = 1.0, cell = 2 * half / n, dm = 3 * cell * cell * cell;
  double mass = 0, first = 0, J[3] = {0};
  for (int i = 0; i < n * n * n; i++) {
    const int index[3] = {i % n, i / n % n, i / n / n};
    double p[3];
    for (int k = 0; k < 3; k++) p[k] = -half + (index[k] + 0.5) * cell;
    if (!inside(type, s, p)) continue;
    mass += dm;
    first += dm * p[2];
    for (int k = 0; k < 3; k++) J[k] += dm * (p[(k + 1) % 3] * p[(k + 1) % 3] + p[(k + 2) % 3] * p[(k + 2) % 3]);
  }
  for (int k = 0; k < 2; k++) J[k] -= first * first / mass;  // about the centre of mass, which is on the axis z
  ENSURE_NEAR(m->body_mass[1] / mass, 1, 5e-3);              // error of the grid
  ENSURE_NEAR(m->body_com[4 + 2], first / mass, 5e-3);
  for (int k = 0; k < 3; k++) ENSURE_NEAR(m->body_inertia[9 + 4 * k] / J[k], 1, 1e-2);
  sr_model_destroy(m);
}

TEST(shapes_have_the_mass_and_inertia_that_counting_cells_gives) {
  ensure_shape("sphere", "0.8", (const double[]){0.8});
  ensure_shape("box", "0.6 1 1.6", (const double[]){0.6, 1, 1.6});
  ensure_shape("cylinder", "0.5 1.5", (const double[]){0.5, 1.5});
  ensure_shape("capsule", "0.4 1", (const double[]){0.4, 1});
  ensure_shape("ellipsoid", "0.5 0.7 0.9", (const double[]){0.5, 0.7, 0.9});
  ensure_shape("cone", "0.8 1.4", (const double[]){0.8, 1.4});
}

TEST(two_shapes_make_one_body_about_their_common_centre) {
  // two balls of mass M on the x axis, 2 apart: J_x = 2 * 2/5 M r^2, J_y = J_x + 2 M
  srModel* m =
      compiled(DOCUMENT("<material name='oak' density='700'/><body name='dumbbell'>"
                        "<shape type='sphere' size='0.1' at='0 0 0' material='oak'/>"
                        "<shape type='sphere' size='0.1' at='2 0 0' density='700'/></body>"));
  const double M = 700 * 4.0 / 3 * 3.14159265358979323846 * 1e-3, Jx = 2 * 0.4 * M * 0.01;
  ENSURE_NEAR(m->body_mass[1], 2 * M, 1e-12);
  ENSURE_NEAR(m->body_com[4], 1, 1e-14);
  ENSURE_NEAR(m->body_inertia[9], Jx, 1e-12);
  ENSURE_NEAR(m->body_inertia[13], Jx + 2 * M, 1e-12);
  sr_model_destroy(m);
}

TEST(inertia_axes_are_turned_by_their_own_rotation) {
  srModel* m = compiled(DOCUMENT("<body name='b'><inertial mass='1' inertia='1 2 2.5' rpy='0 0 pi/2'/></body>"));
  ENSURE_NEAR(m->body_inertia[9], 2, 1e-14);
  ENSURE_NEAR(m->body_inertia[13], 1, 1e-14);
  sr_model_destroy(m);
}

// ----------------------------------------------------------------------------------------------------------- refusals
TEST(non_physical_bodies_are_refused_by_name) {
  ensure_refused(DOCUMENT("<body name='anvil'><inertial mass='-1'/></body>"), "'anvil' is negative");
  ensure_refused(DOCUMENT("<body name='anvil'><inertial mass='1' inertia='1 1 3'/></body>"), "triangle");
  ensure_refused(DOCUMENT("<body name='anvil'><inertial mass='1' inertia='1 1 1 2 0 0'/></body>"),
                 "negative principal");
}

// Compiles, with a warning that has this word.
static srModel* warned(const char* document, const char* word) {
  char text[2048];
  srModel* model = compile(document, text, sizeof text);
  if (!model || !strstr(text, word)) fprintf(stderr, "expected '%s' in: %s\n", word, text);
  ENSURE(model != NULL && strstr(text, "warning: ") != NULL && strstr(text, word) != NULL);
  return model;
}

// A mass of 1 kg at 0.1 m from the joint: 1e-2 kg m^2. An off-diagonal x has the moments x, 0, -x; the nearest tensor has
// the second moments x/2, 0, -x/2 clipped at 0 and so 0, x/2, x/2 along the same axes, 1 0 1 and 1 0 -1.
TEST(inertia_that_is_not_physical_by_rounding_is_repaired_with_a_warning) {
#define HEAD(x)                                                                                                        \
  DOCUMENT("<body name='head'><joint type='revolute' axis='0 1 0'/><inertial mass='1' com='0 0 -0.1' " x "/></body>")
  srModel* m = warned(HEAD("inertia='0 0 0 0 2e-13 0'"), "'head' is not physical, by ");
  const double repaired[9] = {5e-14, 0, 5e-14, 0, 1e-13, 0, 5e-14, 0, 5e-14};
  for (int k = 0; k < 9; k++) ENSURE_NEAR(m->body_inertia[9 + k], 2 * repaired[k], 1e-25);
  sr_model_destroy(m);
  m = warned(HEAD("inertia='0 0 1e-13'"), "is rounding");
  ENSURE_NEAR(m->body_inertia[9], 0.25e-13 + 0.25e-13, 1e-25);  // second moments 0.5, 0.5, -0.5 e-13
  sr_model_destroy(m);
  ensure_refused(HEAD("inertia='0 0 0 0 2e-11 0'"), "negative principal");
  ensure_refused(HEAD("inertia='0 0 2e-11'"), "triangle");
  ensure_refused(HEAD("inertia='0 0 0 0 2e-11 0' check='warn'"), "negative principal");  // a point: no moment about z
#undef HEAD
}

// Welded to a body with 1e-2 kg m^2 about every axis, or to the ground.
TEST(a_negative_moment_without_effect_is_a_warning_in_files_of_robots) {
#define ANTENNA(parent, xy, check)                                                                                     \
  DOCUMENT(                                                                                                            \
      "<body name='base'><joint type='revolute' axis='0 1 0'/><inertial mass='1' inertia='.01 .01 .01'/></body>"       \
      "<body name='antenna' parent='" parent                                                                           \
      "'><joint type='weld' at='0.1 0 0'/><inertial mass='1e-6' "                                                      \
      "inertia='2e-9 2e-9 4e-9 " xy " 0 0' check='" check "'/></body>")
  srModel* m = warned(ANTENNA("base", "6e-9", "warn"), "is negligible for what the body is welded to");
  // moments -4, 4, 8 e-9: second moments 8, 0, -4 become 8, 0, 0, and the moments 0, 8, 8
  ENSURE_NEAR(m->body_inertia[18], 4e-9, 1e-20);
  ENSURE_NEAR(m->body_inertia[19], 4e-9, 1e-20);
  ENSURE_NEAR(m->body_inertia[26], 8e-9, 1e-20);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  sr_data_destroy(d);
  sr_model_destroy(m);
  ensure_refused(ANTENNA("base", "6e-9", "strict"), "negative principal");
  ensure_refused(ANTENNA("base", "6e-8", "warn"), "negative principal");
  sr_model_destroy(warned(ANTENNA("ground", "6e-3", "warn"), "welded to the ground"));
  ensure_refused(ANTENNA("ground", "6e-3", "strict"), "negative principal");
#undef ANTENNA
}

TEST(massless_bodies_are_allowed_where_something_with_mass_hangs_on_them) {
  srModel* m =
      compiled(DOCUMENT("<body name='a'><joint type='revolute' axis='1 0 0'/></body>"
                        "<body name='b' parent='a'><joint type='revolute' axis='0 1 0'/>" UNIT_INERTIAL "</body>"
                        "<body name='rotor'><joint type='revolute' armature='0.1'/></body>"));
  ENSURE_EQUAL(m->nv, 3);
  sr_model_destroy(m);
}

#define ARM "<body name='arm'><joint type='revolute' axis='0 1 0' q='0.3'/><inertial mass='2' com='0 0 -0.5'/></body>"
#define FINGER(name, parent, more)                                                                                     \
  "<body name='" name "' parent='" parent "'><joint type='revolute' axis='0 1 0' at='0 0 -1' " more "/></body>"

static srSpec* read_spec(const char* document) {
  srSpec* spec = NULL;
  ENSURE_EQUAL(sr_load_text(document, strlen(document), "test.xml", NULL, NULL, NULL, &spec), SR_OK);
  return spec;
}

// A pendulum of 2 kg at 0.5 m: a = -g/l sin q = -19.62 sin 0.3, whatever hangs on it without mass, and whatever acts there.
TEST(joints_that_move_nothing_are_named_and_leave_the_others_alone) {
  srModel* m = warned(DOCUMENT(ARM FINGER("tip", "arm", "stiffness='3' q='0.4' v='2'")), "moves with joint 'tip': no");
  srData* d = sr_data_create(m);
  double kinetic, potential;
  ENSURE_EQUAL(m->nmassless, 1);
  ENSURE_EQUAL(m->dof_massless[0], 0);
  ENSURE_EQUAL(m->dof_massless[1], 2);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(d->a[0], -19.62 * sin(0.3), 1e-13);
  sr_energy(m, d, &kinetic, &potential);
  ENSURE_NEAR(kinetic, 0, 0);  // the tip turns, without inertia
  srRunOptions options = sr_run_options(m);
  srRunResult result;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_run(m, d, &options, messages, &result), SR_INPUT);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "joint 'tip' cannot be accelerated") != NULL);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  sr_model_destroy(m);
}

TEST(massless_joints_are_held_where_they_start) {
  srSpec* spec = read_spec(DOCUMENT(ARM FINGER("tip", "arm", "stiffness='3' q='0.4'")));
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  ENSURE_EQUAL(sr_lock_massless(spec, messages), SR_OK);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "joint 'tip' is held at 0.4 rad") != NULL);
  ENSURE_EQUAL(sr_compile(spec, NULL, &m), SR_OK);
  ENSURE_EQUAL(m->nmassless, 0);
  srData* d = sr_data_create(m);
  srRunOptions options = sr_run_options(m);
  srRunResult result;
  options.t_end = 0.5;
  ENSURE_EQUAL(sr_run(m, d, &options, messages, &result), SR_OK);
  ENSURE_NEAR(d->q[1], 0.4, 1e-15);
  ENSURE(d->q[0] < 0.2);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  spec = read_spec(DOCUMENT(ARM "<body name='tip' parent='arm'><joint type='ball'/></body>"));
  ENSURE_EQUAL(sr_lock_massless(spec, messages), SR_INPUT);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

// Coupled to each other two fingers are as free as one; coupled to the arm, driven, or with armature they are carried.
TEST(what_is_coupled_to_a_mass_is_no_massless_joint) {
  srModel* m =
      compiled(DOCUMENT(ARM FINGER("a", "arm", "") FINGER("b", "arm", "") "<coupling joint='b' to='a' ratio='2'/>"));
  ENSURE_EQUAL(m->nmassless, 2);
  ENSURE(m->dof_massless[1] == 2 && m->dof_massless[2] == 2);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(d->a[0], -19.62 * sin(0.3), 1e-12);
  sr_data_destroy(d);
  sr_model_destroy(m);
  static const char* const carried[] = {"<coupling joint='b' to='a'/><coupling joint='a' to='arm'/>",
                                        "<coupling joint='b' to='a'/><driver joint='b' motion='t'/>",
                                        "<driver joint='a' motion='t'/><driver joint='b' motion='t'/>"};
  for (int i = 0; i < 3; i++) {
    char text[1024];
    snprintf(text, sizeof text, "<sarrus version='1'>" ARM FINGER("a", "arm", "") FINGER("b", "arm", "") "%s</sarrus>",
             carried[i]);
    m = compiled(text);
    ENSURE_EQUAL(m->nmassless, 0);
    sr_model_destroy(m);
  }
  srSpec* spec = read_spec(DOCUMENT(ARM FINGER("a", "arm", "") FINGER("b", "arm", "") "<coupling joint='b' to='a'/>"));
  ENSURE_EQUAL(sr_lock_massless(spec, NULL), SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_DRIVER), 1);
  srs_destroy(spec);
}

// The unit inertia of a massless joint leaves armature and mass of the others as they are: a = -m g l sin q / (m l^2 + armature).
TEST(massless_is_only_what_neither_inertia_nor_a_loop_closure_carries) {
  srModel* m =
      compiled(DOCUMENT("<body name='arm'><joint type='revolute' axis='0 1 0' q='0.3' armature='0.7'/>"
                        "<inertial mass='2' com='0 0 -0.5'/></body>" FINGER("tip", "arm", "")));
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(m->nmassless, 1);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(d->a[0], -9.81 * sin(0.3) / (0.5 + 0.7), 1e-13);
  sr_data_destroy(d);
  sr_model_destroy(m);
  // Moments without mass resist turning, not sliding.
  static const char* const types[] = {"revolute", "prismatic"};
  for (int i = 0; i < 2; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "<sarrus version='1'>" ARM
             "<body name='w' parent='arm'><joint type='%s'/>"
             "<inertial mass='0' inertia='1e-3 1e-3 1e-3'/></body></sarrus>",
             types[i]);
    m = compiled(text);
    ENSURE_EQUAL(m->nmassless, i);
    sr_model_destroy(m);
  }
  // The rod ends on the ground; the finger hangs on it freely.
  m = compiled(DOCUMENT(ARM FINGER("rod", "arm", "q='1'")
                            FINGER("tip", "rod", "") "<closure type='prismatic' a='rod' b='ground' axis='1 0 0'/>"));
  ENSURE_EQUAL(m->nmassless, 1);
  ENSURE(m->dof_massless[0] == 0 && m->dof_massless[1] == 0 && m->dof_massless[2] == 3);
  sr_model_destroy(m);
}

TEST(names_that_do_not_exist_are_answered_with_the_nearest_one) {
  const char* const body = "<body name='upper-arm'><joint name='shoulder' type='revolute'/>" UNIT_INERTIAL "</body>";
  char document[1024];
  const char* const cases[][2] = {
      {"<body name='x' parent='upperarm'>" UNIT_INERTIAL "</body>", "did you mean 'upper-arm'"},
      {"<torque joint='sholder' law='1'/>", "did you mean 'shoulder'"},
      {"<torque joint='shoulder' law='q(sholder)'/>", "did you mean 'shoulder'"},
      {"<torque joint='shoulder' coordinate='1' law='1'/>", "counted from 0"},
      {"<sensor name='s' point='upper-arm/tip'/>", "unknown point 'upper-arm/tip'"},
      {"<force body='lower' f='1 0 0'/>", "unknown body 'lower'"},
      {"<driver joint='shoulder' motion='q(shoulder)'/>", "formula of t"},
      {"<driver joint='shoulder' motion='t'/><driver joint='shoulder' motion='t'/>", "two drivers"},
      {"<user law='stick' joint='shoulder'/>", "unknown law 'stick'"},
      {"<link a='upper-arm' b='upper-arm' law='1'/>", "cannot move against each other"},
      {"<body name='c1' parent='c2'/><body name='c2' parent='c1'/>", "never reaches the ground"},
      {"<sensor name='s' point='upper-arm'/><torque joint='shoulder' law='sensor(s,ax)'/>", "algebraic loop"},
      {"<parameter name='k' value='t'/>", "unknown name 't'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    snprintf(document, sizeof document, "<sarrus version='1'>%s%s</sarrus>", body, cases[i][0]);
    ensure_refused(document, cases[i][1]);
  }
}

TEST(all_errors_are_reported_not_only_the_first) {
  const char* const document = DOCUMENT(
      "<body name='a'><joint type='revolute' axis='0 0 0'/><inertial mass='-1'/></body>"
      "<torque joint='b' law='1'/>");
  ensure_refused(document, "axis of a joint must not be zero");
  ensure_refused(document, "mass of body 'a' is negative");
  ensure_refused(document, "unknown joint 'b'");
}

TEST(a_driven_joint_starts_on_its_motion) {
  srModel* m = compiled(DOCUMENT("<body name='a'><joint type='revolute' q='1'/>" UNIT_INERTIAL "</body>"
                                 "<driver joint='a' motion='0.5 + 2*t + 3*t^2'/>"));
  ENSURE_NEAR(m->q0[0], 0.5, 0);
  ENSURE_NEAR(m->v0[0], 2, 0);
  sr_model_destroy(m);
}

// ------------------------------------------------------------------------------------------------------------- memory
static int allocations_left, allocations_live;

static void* failing(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size == 0) {
    allocations_live -= pointer != NULL;
    free(pointer);
    return NULL;
  }
  if (allocations_left-- <= 0) return NULL;
  void* p = realloc(pointer, new_size);
  allocations_live += !pointer && p;
  return p;
}

TEST(running_out_of_memory_at_any_allocation_is_reported_and_leaks_nothing) {
  const char* const document = DOCUMENT(
      "<parameter name='k' value='2'/><motion name='ramp' type='cubic' points='0 0 1 1 2 0'/>"
      "<body name='a'><joint type='universal' axis2='1 0 0' damping='k'/>" UNIT_INERTIAL
      "<point name='tip' at='1 0 0'/></body><state name='s' rate='-s + sensor(tip, x)'/>"
      "<sensor name='tip' point='a/tip'/><link a='a/tip' b='ground' law='-k*(z - 1)'/>"
      "<driver joint='a' coordinate='1' motion='ramp(t)'/>");
  bool done = false;
  for (int n = 0; !done && n < 2000; n++) {
    srSpec* spec = NULL;
    srModel* model = NULL;
    allocations_left = n;
    allocations_live = 0;
    sr_set_allocator(failing, NULL);
    srMessages* messages = sr_messages_create();
    srStatus status =
        messages ? sr_load_text(document, strlen(document), "test.xml", NULL, NULL, messages, &spec) : SR_MEMORY;
    if (status == SR_OK) status = sr_compile(spec, messages, &model);
    srData* data = status == SR_OK ? sr_data_create(model) : NULL;
    done = data != NULL;
    const bool refused = model || status != SR_OK;
    sr_data_destroy(data);
    sr_model_destroy(model);
    srs_destroy(spec);
    sr_messages_destroy(messages);
    sr_set_allocator(NULL, NULL);
    ENSURE(refused);
    ENSURE_EQUAL(allocations_live, 0);
  }
  ENSURE(done);
}

static size_t bytes_taken;

static void* counting(void* user, void* pointer, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size == 0) {
    free(pointer);
    return NULL;
  }
  bytes_taken += new_size;
  return realloc(pointer, new_size);
}

// Bytes that model and data of a chain of n links take.
static size_t chain_bytes(const char* n) {
  srSpec* spec = NULL;
  srModel* model = NULL;
  const srSetting setting = {"N", n};
  ENSURE(sr_load(SARRUS_SOURCE_DIR "/models/chain-planar.xml", &(srLoadOptions){.settings = &setting, .nsetting = 1},
                 NULL, &spec) == SR_OK);
  bytes_taken = 0;
  sr_set_allocator(counting, NULL);
  const srStatus status = sr_compile(spec, NULL, &model);
  srData* data = status == SR_OK ? sr_data_create(model) : NULL;
  sr_data_destroy(data);
  sr_model_destroy(model);
  sr_set_allocator(NULL, NULL);
  srs_destroy(spec);
  ENSURE(data != NULL);
  return bytes_taken;
}

TEST(the_memory_of_a_tree_grows_in_proportion_to_its_links) {
  // 4 times the links: 4 times the memory, but for pools and tables that grow by doubling (up to 2 times)
  ENSURE(chain_bytes("4000") < 8 * chain_bytes("1000"));
}

TEST(a_tree_built_in_c_compiles_like_one_from_a_file) {
  srSpec* spec = srs_create();
  int arm = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("arm")});
  srs_add_joint(spec, arm,
                &(srJointDef){.type = sr_text("revolute"), .axis = SR_NUMBERS(0, 1, 0), .q = sr_number(0.5)});
  srs_add_inertial(spec, arm, &(srInertialDef){.mass = sr_text("2*3"), .com = SR_NUMBERS(0, 0, -1)});
  srMessages* messages = sr_messages_create();
  srModel* m = NULL;
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srs_destroy(spec);
  ENSURE_NEAR(m->body_mass[1], 6, 0);
  ENSURE_NEAR(m->q0[0], 0.5, 0);
  ENSURE_NEAR(m->gravity[2], -9.81, 0);
  sr_model_destroy(m);
  sr_messages_destroy(messages);
}

TEST(names_that_mean_a_function_in_formulas_are_refused) {
  ensure_refused(DOCUMENT("<parameter name='step' value='1'/>"), "the name 'step' is that of a function");
  ensure_refused(DOCUMENT("<state name='exp' rate='1'/>"), "is that of a function");
  ensure_refused(DOCUMENT("<motion name='sin' type='cubic' points='0 0 1 1'/>"), "is that of a function");
  ensure_refused(DOCUMENT("<motion name='v' type='cubic' points='0 0 1 1'/>"), "means something else in formulas");
}

TEST(errors_come_in_the_order_of_the_file) {
  char text[2048];
  ENSURE(!compile(DOCUMENT("<body name='a' parent='first'/><body name='b' parent='second'/>"), text, sizeof text));
  ENSURE(strstr(text, "'first'") && strstr(text, "'second'") && strstr(text, "'first'") < strstr(text, "'second'"));
}

TEST(a_call_without_arguments_names_what_it_needs) {
  ensure_refused(DOCUMENT("<state name='y' rate='q()'/>"), "q(joint) or q(joint, k)");
  ensure_refused(DOCUMENT("<state name='y' rate='sensor()'/>"), "sensor(name) or sensor(name, x)");
}

TEST(counts_of_values_are_reported_in_words) {
  ensure_refused(DOCUMENT("<motion name='m' type='cubic' points='0 0'/>"), "takes 4 or more values, got 2");
  ensure_refused(DOCUMENT("<body name='a'><inertial mass='1' inertia='1 1'/></body>"), "takes 3 or 6 values, got 2");
  ensure_refused(DOCUMENT("<body name='a'><shape type='box' size='1 1 1 1' density='1'/></body>"), "1 to 3 values");
}

TEST(units_are_factors_and_a_name_of_the_model_replaces_them) {
  srModel* m = compiled(
      DOCUMENT("<body name='a'><joint type='revolute' at='0 12*mm -3*cm' q='30*deg' v='900*rpm'/>" UNIT_INERTIAL
               "</body><torque joint='a' law='2*kNm*q(a)'/>"));
  ENSURE_NEAR(m->q0[0], acos(-1.0) / 6, 1e-16);
  ENSURE_NEAR(m->v0[0], 30 * acos(-1.0), 1e-13);
  sr_model_destroy(m);
  char text[2048];
  m = compile(
      DOCUMENT("<parameter name='ms' value='300'/><body name='a'><joint type='prismatic' q='2*ms'/>" UNIT_INERTIAL
               "</body>"),
      text, sizeof text);
  ENSURE(m != NULL);
  ENSURE(m->q0[0] == 600);
  ENSURE(strstr(text, "note: the parameter 'ms' replaces the unit of this name in formulas") != NULL);
  sr_model_destroy(m);
  ensure_refused(DOCUMENT("<body name='a'><joint type='revolute' q='30 deg'/>" UNIT_INERTIAL "</body>"),
                 "the unit 'deg' is a factor: write 30*deg");
  ensure_refused(DOCUMENT("<body name='a'><joint type='revolute' at='1 mm 2'/>" UNIT_INERTIAL "</body>"),
                 "the unit 'mm' is a factor: write 1*mm");
  ensure_refused(DOCUMENT("<parameter name='a' value='30 deg'/>"), "a unit is a factor, 30*deg");
  ensure_refused(DOCUMENT("<body name='a'><joint type='revolute' q='2*J'/>" UNIT_INERTIAL "</body>"),
                 "unknown name 'J'");
}

TEST(bushings_that_would_make_energy_are_refused) {
  ensure_refused(DOCUMENT("<body name='a'>" UNIT_INERTIAL "</body>"
                          "<bushing a='a' b='ground' stiffness='1 1 1 1 1 1' damping='0 0 -2 0 0 0'/>"),
                 "'damping' of <bushing> must not be negative, got -2");
}

static void ensure_warned(const char* document, const char* word) {
  char text[2048];
  srModel* model = compile(document, text, sizeof text);
  ENSURE(model != NULL);
  sr_model_destroy(model);
  if (!strstr(text, word)) fprintf(stderr, "expected '%s' in: %s\n", word, text);
  ENSURE(strstr(text, word) != NULL);
}

TEST(attributes_that_do_nothing_are_reported) {
  ensure_warned(DOCUMENT("<body name='a'><joint type='revolute' pitch='1'/>" UNIT_INERTIAL "</body>"),
                "warning: 'pitch' does nothing: a joint of type 'revolute' does not use it");
  ensure_warned(DOCUMENT("<body name='a'><joint type='revolute' rest='1'/>" UNIT_INERTIAL "</body>"),
                "warning: 'rest' of <joint> does nothing without 'stiffness'");
  ensure_warned(DOCUMENT("<motion name='m' type='quintic' points='0 0 1 1' ends='natural'/>"),
                "warning: 'ends' does nothing: a motion of type 'quintic'");
  ensure_warned(DOCUMENT("<body name='a'>" UNIT_INERTIAL "</body><force body='a'/>"), "<force> does nothing");
  ensure_warned(DOCUMENT("<sensor name='s' expr='1' relative-to='ground'/>"), "does nothing without 'point'");
}
