// Conversion: numbers instead of formulas; native -> URDF -> native and native -> MJCF -> native keep the dynamics of trees; what the
// other format cannot express is reported, every time.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "scarce.h"

// ------------------------------------------------------------------------------------------------------------- helpers
static srSpec* read_text(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec);
  if (status != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return spec;
}

static srSpec* read_model(const char* file) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load(path, NULL, messages, &spec);
  if (status != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return spec;
}

static srConversion* convert(const srSpec* spec, const char* format) {
  srMessages* messages = sr_messages_create();
  srConversion* out = NULL;
  const srStatus status = sr_convert(spec, format, NULL, messages, &out);
  if (status != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return out;
}

static Loaded compile(const srSpec* spec) {
  Loaded x = {0};
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_compile(spec, messages, &x.m);
  if (status != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  x.d = sr_data_create(x.m);
  return x;
}

// What was written, read again, from the key 0 where there is one.
static Loaded read_back(const srConversion* c) {
  const srSetting key = {"key", "0"};
  const bool keyed = strstr(c->text, "<keyframe>") != NULL;
  const srLoadOptions how = {.base = c->base, .settings = &key, .nsetting = keyed ? 1 : 0};
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load_text(c->text, c->size, "converted", NULL, &how, messages, &spec);
  if (status != SR_OK) {
    loading_print(messages);
    printf("%s\n", c->text);
  }
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  Loaded x = compile(spec);
  srs_destroy(spec);
  return x;
}

static int find_name(const char* const* names, int n, const char* name) {
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static bool is_lost(const srConversion* c, const char* what, srLossEffect effect) {
  for (int i = 0; i < c->nlost; i++)
    if (strstr(c->lost[i].what, what) && c->lost[i].effect == effect) return true;
  return false;
}

// ------------------------------------------------------------------------------------------------ the same tree, twice
typedef struct Pair {
  Loaded a, b;
  int *q, *v;  // of a's coordinates: those of b with the same name
} Pair;

static Pair pair_up(Loaded a, Loaded b) {
  Pair p = {a, b, calloc((size_t)a.m->nq + 1, sizeof(int)), calloc((size_t)a.m->nv + 1, sizeof(int))};
  ENSURE_EQUAL(b.m->nq, a.m->nq);
  ENSURE_EQUAL(b.m->nv, a.m->nv);
  for (int i = 0; i < a.m->nq; i++) {
    p.q[i] = find_name(b.m->q_name, b.m->nq, a.m->q_name[i]);
    if (p.q[i] < 0) printf("no coordinate %s\n", a.m->q_name[i]);
    ENSURE(p.q[i] >= 0);
  }
  for (int i = 0; i < a.m->nv; i++) {
    p.v[i] = find_name(b.m->v_name, b.m->nv, a.m->v_name[i]);
    ENSURE(p.v[i] >= 0);
  }
  return p;
}

static void pair_free(Pair* p) {
  close_model(&p->a);
  close_model(&p->b);
  free(p->q);
  free(p->v);
}

static double largest(const double* x, int n) {
  double most = 1;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

// Largest difference of M, c, a of the trees at a random state, each relative to its largest entry; armature as it is.
static double difference(const Pair* p, Random* r) {
  const int nq = p->a.m->nq, nv = p->a.m->nv;
  double* x = calloc((size_t)(2 * nv * nv + 8 * nv + 1), sizeof *x);
  double *Ma = x, *Mb = Ma + nv * nv, *ca = Mb + nv * nv, *cb = ca + nv, *aa = cb + nv, *ab = aa + nv;
  double *ta = ab + nv, *tb = ta + nv;
  srData *a = p->a.d, *b = p->b.d;
  random_state(r, p->a.m, a);
  sr_normalize(p->a.m, a->q);
  for (int i = 0; i < nq; i++) b->q[p->q[i]] = a->q[i];
  for (int i = 0; i < nv; i++) {
    b->v[p->v[i]] = a->v[i];
    ta[i] = tb[p->v[i]] = a->tau[i];
  }
  sr_crba(p->a.m, a, a->q, Ma);
  sr_crba(p->b.m, b, b->q, Mb);
  sr_rnea(p->a.m, a, a->q, a->v, aa, ca);
  sr_rnea(p->b.m, b, b->q, b->v, ab, cb);
  ENSURE_EQUAL(sr_aba(p->a.m, a, a->q, a->v, ta, aa), SR_OK);
  ENSURE_EQUAL(sr_aba(p->b.m, b, b->q, b->v, tb, ab), SR_OK);
  const double M = largest(Ma, nv * nv), c = largest(ca, nv), acceleration = largest(aa, nv);
  double most = 0;
  for (int i = 0; i < nv; i++) {
    const int k = p->v[i];
    most = fmax(most, fabs(ca[i] - cb[k]) / c);
    most = fmax(most, fabs(aa[i] - ab[k]) / acceleration);
    most = fmax(most, fabs(p->a.m->dof_armature[i] - p->b.m->dof_armature[k]));
    for (int j = 0; j < nv; j++) most = fmax(most, fabs(Ma[i * nv + j] - Mb[k * nv + p->v[j]]) / M);
  }
  free(x);
  return most;
}

static double round_trip(const srSpec* spec, const char* format, Random* r) {
  srConversion* c = convert(spec, format);
  Pair p = pair_up(compile(spec), read_back(c));
  double most = 0;
  for (int k = 0; k < 5; k++) most = fmax(most, difference(&p, r));
  for (int b = 1; b <= p.a.m->nbody; b++) {
    char renamed[200];
    snprintf(renamed, sizeof renamed, "name of body '%s'", p.a.m->body_name[b]);
    ENSURE(sr_body_find(p.b.m, p.a.m->body_name[b]) > 0 || is_lost(c, renamed, SR_LOSS_NOTHING));
  }
  pair_free(&p);
  sr_conversion_destroy(c);
  return most;
}

// URDF is read with gravity along -z.
static void set_gravity(srSpec* spec) {
  if (srs_count(spec, SR_ELEMENT_OPTION) > 0) srs_set(spec, SR_ELEMENT_OPTION, 0, 0, SR_NUMBERS(0, 0, -9.81));
}

static const char* const trees[] = {"cart-pole", "chain-planar", "chain-spatial", "dc-motor",        "double-pendulum",
                                    "free-body", "humanoid",     "pendulum",      "spring-pendulum", "top",
                                    "tree",      "paper1/arm2",  "paper1/arm4",   "paper1/arm6",     "paper3/two-link"};
enum { TREES = sizeof trees / sizeof trees[0] };

static int type_field(void) { return (int)(offsetof(srJointDef, type) / sizeof(srAttr)); }

static bool has_joint(const srSpec* spec, const char* type) {
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_JOINT); i++) {
    const srJointDef* def = srs_get(spec, SR_ELEMENT_JOINT, i);
    if (def->type.text && strcmp(def->type.text, type) == 0) return true;
  }
  return false;
}

// Screws have two coordinates in both formats, ball joints others in URDF: those are compared by their motion, below.
static void shipped(const char* format, bool balls) {
  Random r = {11};
  int tried = 0;
  for (int k = 0; k < TREES; k++) {
    srSpec* spec = read_model(trees[k]);
    if (!has_joint(spec, "helical") && (balls || !has_joint(spec, "ball"))) {
      if (!balls) set_gravity(spec);
      const double most = round_trip(spec, format, &r);
      if (!(most < 1e-12)) printf("%s: %g\n", trees[k], most);
      ENSURE_SMALL(most, 1e-12);
      tried++;
    }
    srs_destroy(spec);
  }
  ENSURE(tried >= TREES - 2);
}

TEST(shipped_trees_keep_their_dynamics_through_urdf) { shipped("urdf", false); }

TEST(shipped_trees_keep_their_dynamics_through_mjcf) { shipped("mjcf", true); }

// Other kinds instead of those whose coordinates the format changes; a free joint of MJCF counts from the ground's frame.
static void keep_coordinates(srSpec* spec, bool mjcf) {
  const int at = (int)(offsetof(srJointDef, at) / sizeof(srAttr)),
            rpy = (int)(offsetof(srJointDef, rpy) / sizeof(srAttr));
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_JOINT); i++) {
    const srJointDef* def = srs_get(spec, SR_ELEMENT_JOINT, i);
    const srBodyDef* body = srs_get(spec, SR_ELEMENT_BODY, srs_owner(spec, SR_ELEMENT_JOINT, i));
    const char* type = def->type.text;
    const bool top = strcmp(body->parent.text, "ground") == 0;
    if (strcmp(type, "helical") == 0) srs_set(spec, SR_ELEMENT_JOINT, i, type_field(), sr_text("revolute"));
    if (strcmp(type, "ball") == 0 && !mjcf) srs_set(spec, SR_ELEMENT_JOINT, i, type_field(), sr_text("cylindrical"));
    if (strcmp(type, "free") != 0 || !mjcf) continue;
    if (top) {
      srs_set(spec, SR_ELEMENT_JOINT, i, at, (srAttr){0});
      srs_set(spec, SR_ELEMENT_JOINT, i, rpy, (srAttr){0});
    } else {
      srs_set(spec, SR_ELEMENT_JOINT, i, type_field(), sr_text("ball"));
    }
  }
}

static void random_trees(const char* format, bool mjcf) {
  Random r = {21};
  for (int k = 0; k < 30; k++) {
    // URDF has no drive inertia of planar and free joints
    srSpec* spec = random_tree_spec(&r, &(RandomTree){.nbody = 12, .armature = mjcf});
    keep_coordinates(spec, mjcf);
    if (!mjcf) set_gravity(spec);
    const double most = round_trip(spec, format, &r);
    srs_destroy(spec);
    ENSURE_SMALL(most, 1e-12);
  }
}

TEST(random_trees_keep_their_dynamics_through_urdf) { random_trees("urdf", false); }

TEST(random_trees_keep_their_dynamics_through_mjcf) { random_trees("mjcf", true); }

// ----------------------------------------------------------------------- the same motion in coordinates that are others
static srFrameMotion body_motion(const Loaded* x, int body, int seen_from) {
  srFrameMotion motion;
  sr_frame_motion(x->m, x->d, body, seen_from, &motion);  // points up to nbody are the bodies
  return motion;
}

static void set(double* x, const char* const* names, int n, const char* joint, const char* suffix, double value) {
  char name[80];
  snprintf(name, sizeof name, "%s%s", joint, suffix);
  const int i = find_name(names, n, name);
  if (i < 0) printf("no coordinate %s\n", name);
  ENSURE(i >= 0);
  x[i] = value;
}
#define SET_Q(b, joint, suffix, value) set((b)->d->q, (b)->m->q_name, (b)->m->nq, joint, suffix, value)
#define SET_V(b, joint, suffix, value) set((b)->d->v, (b)->m->v_name, (b)->m->nv, joint, suffix, value)

static void rotation_of(const double q[4], double R[3][3]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  memcpy(R, rows, sizeof rows);
}

// R = Rx(a) Ry(b) Rz(c); angular velocity in body axes = Rz' Ry' ex a' + Rz' ey b' + ez c'
static void ball_as_hinges(Loaded* b, const char* joint, const double* q, const double* w) {
  double R[3][3];
  rotation_of(q, R);
  const double B = asin(R[0][2]), A = atan2(-R[1][2], R[2][2]), C = atan2(-R[0][1], R[0][0]);
  const double along = cos(C) * w[0] - sin(C) * w[1];  // = cos(B) a'
  SET_Q(b, joint, ".x", A);
  SET_Q(b, joint, ".y", B);
  SET_Q(b, joint, ".z", C);
  SET_V(b, joint, ".x", along / cos(B));
  SET_V(b, joint, ".y", sin(C) * w[0] + cos(C) * w[1]);
  SET_V(b, joint, ".z", w[2] - tan(B) * along);
}

static void quaternion_of(const double R[9], double q[4]) {  // w^2 > 0 is not small for the states of this test
  q[0] = 0.5 * sqrt(1 + R[0] + R[4] + R[8]);
  q[1] = (R[7] - R[5]) / (4 * q[0]);
  q[2] = (R[2] - R[6]) / (4 * q[0]);
  q[3] = (R[3] - R[1]) / (4 * q[0]);
}

static void free_as(const Loaded* a, Loaded* b, int j, bool mjcf) {
  static const char* const qs[] = {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"};
  static const char* const vs[] = {".wx", ".wy", ".wz", ".vx", ".vy", ".vz"};
  static const char* const slides[] = {".x", ".y", ".z"};
  const char* name = a->m->joint_name[j];
  const int body = a->m->joint_body[j];
  double q[7], R[3][3];
  memcpy(q, a->d->q + a->m->joint_q[j], sizeof q);
  const double* v = a->d->v + a->m->joint_v[j];
  rotation_of(q + 3, R);
  const bool top = a->m->body_parent[body] == 0;
  if (mjcf && top) {  // counted from the ground
    const srFrameMotion x = body_motion(a, body, 0);
    memcpy(q, x.position, sizeof x.position);
    quaternion_of(x.rotation, q + 3);
  }
  for (int k = 0; k < 7; k++) SET_Q(b, name, qs[k], q[k]);
  for (int k = 0; k < 6; k++) {
    if (k < 3 || !mjcf || top)
      SET_V(b, name, vs[k], v[k]);
    else
      SET_V(b, name, slides[k - 3], R[k - 3][0] * v[3] + R[k - 3][1] * v[4] + R[k - 3][2] * v[5]);
  }
}

static void map_joint(const Loaded* a, Loaded* b, int j, bool mjcf) {
  const srModel* m = a->m;
  const double *q = a->d->q + m->joint_q[j], *v = a->d->v + m->joint_v[j];
  if (m->joint_type[j] == SR_JOINT_FREE) {
    free_as(a, b, j, mjcf);
  } else if (m->joint_type[j] == SR_JOINT_BALL && !mjcf) {
    ball_as_hinges(b, m->joint_name[j], q, v);
  } else {
    for (int k = 0; k < m->joint_nq[j]; k++) SET_Q(b, m->q_name[m->joint_q[j] + k], "", q[k]);
    for (int k = 0; k < m->joint_nv[j]; k++) SET_V(b, m->v_name[m->joint_v[j] + k], "", v[k]);
  }
  if (m->joint_type[j] != SR_JOINT_HELICAL) return;
  double pitch = 0;
  for (int i = 1; i < m->nlink; i++)
    if (m->link_joint[i] == j) pitch = m->link_pitch[i];
  SET_Q(b, m->joint_name[j], ".along", pitch * q[0]);
  SET_V(b, m->joint_name[j], ".along", pitch * v[0]);
}

// A state with quaternions that are not far from the identity: asin and cos of the angles of a ball stay regular.
static void gentle_state(Random* r, const Loaded* a) {
  random_state(r, a->m, a->d);
  for (int i = 1; i < a->m->nlink; i++) {
    const int type = a->m->link_type[i], q = a->m->link_q[i] + (type == SR_LINK_FREE ? 3 : 0);
    if (type == SR_LINK_BALL || type == SR_LINK_FREE) a->d->q[q] = 2.5;
  }
  sr_normalize(a->m, a->d->q);
}

// Largest difference of energies, and of accelerations of all bodies, at one state; relative.
static double motion_difference(const Loaded* a, Loaded* b, Random* r, bool mjcf) {
  double energy[4];
  gentle_state(r, a);
  memset(a->d->tau, 0, (size_t)a->m->nv * sizeof *a->d->tau);
  sr_kinematics(a->m, a->d);
  for (int j = 0; j < a->m->njoint; j++) map_joint(a, b, j, mjcf);
  b->d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(a->m, a->d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_forward(b->m, b->d, SR_TAU_ELEMENT), 0);
  sr_acceleration(a->m, a->d);
  sr_acceleration(b->m, b->d);
  sr_energy(a->m, a->d, &energy[0], &energy[1]);
  sr_energy(b->m, b->d, &energy[2], &energy[3]);
  double most = fmax(fabs(energy[0] - energy[2]), fabs(energy[1] - energy[3])) / (1 + fabs(energy[0]));
  double scale = 1, worst = 0;
  for (int body = 1; body <= a->m->nbody; body++) {
    const srFrameMotion x = body_motion(a, body, 0), y = body_motion(b, sr_body_find(b->m, a->m->body_name[body]), 0);
    for (int k = 0; k < 3; k++) {
      most = fmax(most, fabs(x.position[k] - y.position[k]) + fabs(x.velocity[k] - y.velocity[k]));
      scale = fmax(scale, fabs(x.acceleration[k]));
      worst = fmax(worst, fabs(x.acceleration[k] - y.acceleration[k]));
    }
  }
  return fmax(most, worst / scale);
}

static double motion_trip(const srSpec* spec, const char* format, bool mjcf, Random* r) {
  srConversion* c = convert(spec, format);
  Loaded a = compile(spec), b = read_back(c);
  double most = 0;
  for (int k = 0; k < 4; k++) most = fmax(most, motion_difference(&a, &b, r, mjcf));
  close_model(&a);
  close_model(&b);
  sr_conversion_destroy(c);
  return most;
}

static void same_motion(const char* format, bool mjcf) {
  Random r = {31};
  for (int k = 0; k < 30; k++) {
    srSpec* spec = random_tree_spec(&r, &(RandomTree){.nbody = 8, .no_massless = true});
    if (!mjcf) set_gravity(spec);
    const double most = motion_trip(spec, format, mjcf, &r);
    srs_destroy(spec);
    ENSURE_SMALL(most, 1e-11);
  }
}

TEST(random_trees_with_all_joints_move_the_same_through_urdf) { same_motion("urdf", false); }

TEST(random_trees_with_all_joints_move_the_same_through_mjcf) { same_motion("mjcf", true); }

// ------------------------------------------------------------------------------------------------------------- numbers
static const srAttr* attribute(const srSpec* spec, srElementKind kind, int i, const char* word) {
  const srElement* e = srs_element(kind);
  for (int k = 0; k < e->nfield; k++)
    if (strcmp(e->fields[k].word, word) == 0) return (const srAttr*)srs_get(spec, kind, i) + k;
  return NULL;
}

TEST(formulas_of_parameters_become_numbers_and_laws_keep_their_text) {
  srSpec* spec = read_text(
      "<sarrus version='1'><parameter name='l' value='0.5'/><parameter name='two' value='4*l'/>"
      "<body name='a'><joint name='j' type='revolute' axis='0 two 0' at='l -l l/two' q='pi/2'/>"
      "<inertial mass='two^2' inertia='1 1 1'/></body>"
      "<torque joint='j' law='-two*q(j)'/></sarrus>");
  srSpec* numbers = srs_numbers(spec, NULL);
  ENSURE(numbers != NULL);
  const srAttr* at = attribute(numbers, SR_ELEMENT_JOINT, 0, "at");
  ENSURE(at->text == NULL && at->n == 3);
  ENSURE(at->numbers[0] == 0.5 && at->numbers[1] == -0.5 && at->numbers[2] == 0.25);
  ENSURE(attribute(numbers, SR_ELEMENT_INERTIAL, 0, "mass")->number == 4);
  ENSURE(attribute(numbers, SR_ELEMENT_PARAMETER, 1, "value")->number == 2);
  ENSURE_TEXT(attribute(numbers, SR_ELEMENT_TORQUE, 0, "law")->text, "-two*q(j)");
  ENSURE_TEXT(attribute(numbers, SR_ELEMENT_JOINT, 0, "type")->text, "revolute");
  ENSURE_TEXT(attribute(spec, SR_ELEMENT_INERTIAL, 0, "mass")->text, "two^2");  // the spec itself stays
  Random r = {1};
  Pair p = pair_up(compile(spec), compile(numbers));
  ENSURE_SMALL(difference(&p, &r), 0);
  pair_free(&p);
  srs_destroy(spec);
  srs_destroy(numbers);
}

TEST(a_formula_that_is_wrong_is_reported_with_its_location) {
  srSpec* spec = srs_create();
  srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("a")});
  srs_add_inertial(spec, 0, &(srInertialDef){.mass = sr_text("2*nothing"), .com = sr_text("1 2")});
  srMessages* messages = sr_messages_create();
  ENSURE(srs_numbers(spec, messages) == NULL);
  ENSURE_EQUAL(sr_messages_errors(messages), 2);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "nothing") != NULL);
  ENSURE(srs_numbers(spec, NULL) == NULL);
  sr_messages_destroy(messages);
  srs_destroy(spec);
}

TEST(lists_of_any_length_are_worked_out) {
  srSpec* spec = srs_create();
  srs_add_parameter(spec, SR_NO_OWNER, &(srParameterDef){.name = sr_text("s"), .value = sr_number(2)});
  srs_add_mesh(spec, SR_NO_OWNER,
               &(srMeshDef){.name = sr_text("m"),
                            .vertices = sr_text("0 0 0 s 0 0 0 s 0 0 0 s"),
                            .faces = sr_text("0 2 1 0 1 3 0 3 2 1 2 3")});
  srSpec* numbers = srs_numbers(spec, NULL);
  ENSURE(numbers != NULL);
  const srAttr* vertices = attribute(numbers, SR_ELEMENT_MESH, 0, "vertices");
  ENSURE_EQUAL(vertices->n, 12);
  ENSURE(vertices->numbers[3] == 2 && vertices->numbers[11] == 2 && vertices->numbers[4] == 0);
  srs_destroy(numbers);
  srs_destroy(spec);
}

// ---------------------------------------------------------------------------------------------------------- everything
// A model with laws that both formats have: forces and accelerations of the whole are the same.
static const char laws[] =
    "<sarrus version='1' name='laws'>"
    "<body name='a'><joint name='j1' type='revolute' axis='0 1 0' at='0 0 1' damping='0.3' armature='0.2'"
    " limits='-1 0.5' limit-stiffness='1e5' limit-damping='1' effort='30' speed='4'/><inertial mass='2' com='0 0 -0.4' "
    "inertia='0.1 0.2 0.15 0.01 0.02 -0.03'/>"
    "<shape name='rod' type='cylinder' size='0.05 0.8' at='0 0 -0.4' density='500' color='1 0 0 1'/></body>"
    "<body name='b' parent='a'><joint name='j2' type='prismatic' axis='1 1 0' at='0 0 -0.8' rpy='0.1 0.2 0.3'"
    " damping='2' armature='0.5' limits='-2 2' limit-stiffness='1e5' effort='3' speed='1'/><inertial mass='1' "
    "inertia='0.1 0.1 0.1'/></body>"
    "<body name='c' parent='b'><joint name='j3' type='universal' axis='1 0 0' axis2='0 1 0' damping='0.1' "
    "armature='0.3'/>"
    "<inertial mass='1.5' com='0.1 0.2 0.3' inertia='0.2 0.2 0.2'/></body>%s</sarrus>";

static void same_forces(const char* more, const char* format) {
  char text[4096];
  snprintf(text, sizeof text, laws, more);
  srSpec* spec = read_text(text);
  srConversion* c = convert(spec, format);
  for (int i = 0; i < c->nlost; i++) {
    if (c->lost[i].effect == SR_LOSS_MOTION) printf("%s: %s\n", c->lost[i].what, c->lost[i].reason);
    ENSURE(c->lost[i].effect != SR_LOSS_MOTION);
  }
  Pair p = pair_up(compile(spec), read_back(c));
  Random r = {5};
  for (int k = 0; k < 10; k++) {
    random_state(&r, p.a.m, p.a.d);
    for (int i = 0; i < p.a.m->nq; i++) p.b.d->q[p.q[i]] = p.a.d->q[i];
    for (int i = 0; i < p.a.m->nv; i++) p.b.d->v[p.v[i]] = p.a.d->v[i], p.b.d->tau[p.v[i]] = p.a.d->tau[i];
    p.b.d->stage = SR_STAGE_NONE;
    ENSURE_EQUAL(sr_forward(p.a.m, p.a.d, SR_TAU_ELEMENT), 0);
    ENSURE_EQUAL(sr_forward(p.b.m, p.b.d, SR_TAU_ELEMENT), 0);
    const double force = largest(p.a.d->f, p.a.m->nv), acceleration = largest(p.a.d->a, p.a.m->nv);
    for (int i = 0; i < p.a.m->nv; i++) {
      ENSURE_SMALL((p.a.d->f[i] - p.b.d->f[p.v[i]]) / force, 1e-12);
      ENSURE_SMALL((p.a.d->a[i] - p.b.d->a[p.v[i]]) / acceleration, 1e-11);
    }
  }
  pair_free(&p);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(limits_damping_armature_and_density_come_back) {
  same_forces("", "urdf");
  same_forces("", "mjcf");
}

TEST(a_coupling_comes_back) {
  same_forces("<coupling joint='j2' to='j1' ratio='0.5' offset='0.1'/>", "urdf");
  same_forces("<coupling joint='j2' to='j1' ratio='0.5' offset='0.1'/>", "mjcf");
}

TEST(friction_as_readers_make_it_comes_back_and_another_law_is_reported) {
  const char* as_read = "<friction joint='j1' F='0.5' K='500' B='0.5'/>";
  same_forces(as_read, "urdf");
  same_forces(as_read, "mjcf");
  char text[4096];
  snprintf(text, sizeof text, laws, "<friction joint='j1' law='lugre' F='0.5' K='100'/>");
  srSpec* spec = read_text(text);
  srConversion* c = convert(spec, "urdf");
  ENSURE(strstr(c->text, "friction=\"0.5\"") != NULL);
  ENSURE(is_lost(c, "'law', 'K' of <friction> of joint 'j1'", SR_LOSS_MOTION));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(a_spring_comes_back_through_mjcf_and_is_reported_for_urdf) {
  const char* text =
      "<sarrus version='1'><body name='a'><joint name='j' type='prismatic' axis='0 0 1' stiffness='20' rest='0.3'/>"
      "<inertial mass='2'/></body></sarrus>";
  srSpec* spec = read_text(text);
  srConversion* c = convert(spec, "mjcf");
  Loaded b = read_back(c);
  b.d->q[0] = 0.7;
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->a[0], -9.81 - 20 * 0.4 / 2, 1e-13);
  close_model(&b);
  sr_conversion_destroy(c);
  c = convert(spec, "urdf");
  ENSURE(is_lost(c, "'stiffness', 'rest' of joint 'j'", SR_LOSS_MOTION));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

// --------------------------------------------------------------------------------------------------------- initial state
TEST(the_initial_state_comes_back_from_the_key_of_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='f' type='free' q='1 2 3 0.5 0.5 0.5 0.5' v='1 2 3 4 5 6'/>"
      "<inertial mass='1' inertia='1 1 1'/></body><body name='b' parent='a'><joint name='j' type='revolute' q='0.4' "
      "v='-1'/>"
      "<inertial mass='1' inertia='1 1 1'/></body><body name='c' parent='b'><joint name='s' type='ball' q='0.6 0 0.8 0'"
      " v='0.1 0.2 0.3'/><inertial mass='1' inertia='1 1 1'/></body></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  Pair p = pair_up(compile(spec), read_back(c));
  for (int i = 0; i < p.a.m->nq; i++) ENSURE_NEAR(p.a.m->q0[i], p.b.m->q0[p.q[i]], 1e-15);
  for (int i = 0; i < p.a.m->nv; i++) ENSURE_NEAR(p.a.m->v0[i], p.b.m->v0[p.v[i]], 4e-15);
  ENSURE(is_lost(c, "initial state", SR_LOSS_START));
  pair_free(&p);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

// -------------------------------------------------------------------------------------------------------------- closures
static void loop_of(const char* type, const char* format) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><ground><point name='pin' at='1 0 0'/></ground>"
      "<body name='a'><joint name='ja' type='revolute' axis='0 1 0'/><inertial mass='1' com='0 0 0.5'"
      " inertia='0.1 0.1 0.1'/></body>"
      "<body name='b' parent='a'><joint name='jb' type='revolute' axis='0 1 0' at='0 0 1'/>"
      "<inertial mass='1' com='0 0 0.5' inertia='0.1 0.1 0.1'/><point name='tip' at='0 0 1' rpy='0.3 0.2 0.1'/></body>"
      "<body name='s'><joint name='f' type='free'/><inertial mass='2' com='0 0 0.1' inertia='1 1.2 1.3'/></body>"
      "<closure name='loop' type='%s' a='b/tip' b='s'%s/></sarrus>",
      type, strcmp(type, "ball") != 0 && strcmp(type, "weld") != 0 ? " axis='1 2 3'" : "");
  srSpec* spec = read_text(text);
  srConversion* c = convert(spec, format);
  ENSURE(!is_lost(c, "loop", SR_LOSS_MOTION));
  Pair p = pair_up(compile(spec), read_back(c));
  ENSURE_EQUAL(p.b.m->ng, p.a.m->ng);
  Random r = {3};
  random_state(&r, p.a.m, p.a.d);
  sr_normalize(p.a.m, p.a.d->q);
  for (int i = 0; i < p.a.m->nq; i++) p.b.d->q[p.q[i]] = p.a.d->q[i];
  for (int i = 0; i < p.a.m->nv; i++) p.b.d->v[p.v[i]] = p.a.d->v[i], p.b.d->tau[p.v[i]] = p.a.d->tau[i];
  p.b.d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(p.a.m, p.a.d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_forward(p.b.m, p.b.d, SR_TAU_ELEMENT), 0);
  const double scale = largest(p.a.d->a, p.a.m->nv);
  for (int i = 0; i < p.a.m->nv; i++) ENSURE_NEAR(p.a.d->a[i], p.b.d->a[p.v[i]], 1e-12 * scale);
  pair_free(&p);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(closed_loops_come_back) {
  static const char* const urdf[] = {"ball", "weld", "revolute", "prismatic", "cylindrical", "planar"};
  for (int k = 0; k < 6; k++) loop_of(urdf[k], "urdf");
  loop_of("ball", "mjcf");
  loop_of("weld", "mjcf");
}

// Same state, assembled; accelerations by name. Screws and balls have other coordinates: not here.
static double loop_difference(Pair* p) {
  const srModel* m = p->a.m;
  ENSURE_EQUAL(sr_assemble(m, p->a.d, NULL, NULL), SR_OK);
  for (int i = 0; i < m->nq; i++) p->b.d->q[p->q[i]] = p->a.d->q[i];
  for (int i = 0; i < m->nv; i++) p->b.d->v[p->v[i]] = p->a.d->v[i];
  for (int i = 0; i < m->nv; i++) p->a.d->tau[i] = p->b.d->tau[p->v[i]] = 10 + i;
  p->b.d->stage = SR_STAGE_NONE;
  ENSURE_EQUAL(sr_forward(m, p->a.d, SR_TAU_ELEMENT), 0);
  ENSURE_EQUAL(sr_forward(p->b.m, p->b.d, SR_TAU_ELEMENT), 0);
  const double scale = largest(p->a.d->a, m->nv);
  double most = 0;
  ENSURE(scale > 1);  // it moves
  for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(p->a.d->a[i] - p->b.d->a[p->v[i]]) / scale);
  return most;
}

static bool keeps_motion(const srConversion* c) {
  for (int i = 0; i < c->nlost; i++)
    if (c->lost[i].effect == SR_LOSS_MOTION) return false;
  return true;
}

// A four-bar whose last pin is a hinge: two connects, five independent equations.
TEST(a_hinge_that_closes_a_loop_is_two_points_of_its_axis) {
  srSpec* spec = read_model("mechanisms/four-bar");
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_CLOSURE); i++) {
    srs_set(spec, SR_ELEMENT_CLOSURE, i, (int)(offsetof(srClosureDef, type) / sizeof(srAttr)), sr_text("revolute"));
    srs_set(spec, SR_ELEMENT_CLOSURE, i, (int)(offsetof(srClosureDef, axis) / sizeof(srAttr)), SR_NUMBERS(0, 0, 2));
    srs_set(spec, SR_ELEMENT_CLOSURE, i, (int)(offsetof(srClosureDef, normal) / sizeof(srAttr)), (srAttr){0});
  }
  srConversion* c = convert(spec, "mjcf");
  ENSURE(keeps_motion(c));
  ENSURE(strstr(c->text, "<connect"));
  Pair p = pair_up(compile(spec), read_back(c));
  ENSURE_SMALL(loop_difference(&p), 1e-12);
  pair_free(&p);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

#define LOOP_MASS "<inertial mass='1' inertia='0.1 0.1 0.1'/>"

// The equation across the plane is redundant where the axes are parallel; where they are not it locks the loop.
TEST(a_normal_that_is_lost_changes_the_motion_where_the_loop_is_not_exactly_planar) {
  static const char text[] =
      "<sarrus version='1' name='m'><body name='a'><joint name='a' type='revolute' axis='0 1 0'/>" LOOP_MASS
      "<point name='p' at='0.5 0 0.3'/></body><body name='b'><joint name='b' type='%s' axis='%s' at='0.7 %s "
      "0'/>" LOOP_MASS
      "<point name='p' at='-0.2 0 0.3'/></body><closure name='c' type='ball' normal='0 1 0' a='a/p' b='b/p'/></sarrus>";
  static const struct {
    const char *type, *axis, *off;
    bool keeps;
  } cases[] = {{"revolute", "0 1 0", "0", true},      {"revolute", "0 -1 0", "0", true},
               {"prismatic", "1 0 0", "0", true},     {"revolute", "0 1 1e-6", "0", false},
               {"prismatic", "1 1e-6 0", "0", false}, {"revolute", "0 1 0", "1e-5", false}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char filled[2000];
    srSpec* spec = NULL;
    snprintf(filled, sizeof filled, text, cases[k].type, cases[k].axis, cases[k].off);
    ENSURE_EQUAL(sr_load_text(filled, strlen(filled), "t", NULL, NULL, NULL, &spec), SR_OK);
    srConversion* c = convert(spec, "mjcf");
    ENSURE(keeps_motion(c) == cases[k].keeps);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

// Mechanisms without drivers and laws, whose loop closures are all of types that the format has.
static int mechanisms(const char* format, bool mjcf) {
  static const char* const names[] = {
      "3rrr",         "bennett-linkage",      "cardan-trammel",     "change-point-four-bar",
      "delta-robot",  "double-four-bar",      "double-wishbone",    "five-rod-suspension",
      "four-bar",     "jansen-leg",           "motor-slider-crank", "parallelogram",
      "peaucellier",  "sarrus-linkage",       "scissor-lift",       "six-bar-stephenson",
      "six-bar-watt", "spatial-slider-crank", "stewart-platform"};
  int tried = 0;
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    char path[80];
    snprintf(path, sizeof path, "mechanisms/%s", names[k]);
    srSpec* spec = read_model(path);
    if (!mjcf) set_gravity(spec);
    srConversion* c = convert(spec, format);
    if (keeps_motion(c) && !has_joint(spec, "helical") && !has_joint(spec, "ball")) {
      Pair p = pair_up(compile(spec), read_back(c));
      const double most = loop_difference(&p);
      if (!(most <= 1e-12)) printf("%s as %s: %g\n", names[k], format, most);
      ENSURE_SMALL(most, 1e-12);
      pair_free(&p);
      tried++;
    }
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
  return tried;
}

TEST(shipped_mechanisms_keep_their_accelerations) {
  const int urdf = mechanisms("urdf", false), mjcf = mechanisms("mjcf", true);
  ENSURE(urdf >= 9 && mjcf >= 9);
}

// --------------------------------------------------------------------------------------------------------------- losses
// Every element kind of the language, once: all but those that a format has are reported, with their location.
TEST(whatever_a_format_cannot_express_is_reported) {
  static const char text[] =
      "<sarrus version='1' name='all'>\n<option gravity='0 0 -1.62'/>\n"
      "<material name='steel' density='7800' E='2e11' mu-s='0.3'/>\n<pair materials='steel steel' restitution='0.5'/>\n"
      "<ground><shape name='floor' type='plane' material='steel' group='g'/><point name='hook' at='0 0 2'/></ground>\n"
      "<body name='a'><joint name='j' type='revolute' role='independent' q='0.1'/>"
      "<shape name='s' type='sphere' size='0.1' material='steel'/></body>\n"
      "<body name='b'><joint name='k' type='prismatic' limits='-1 1' limit-stiffness='1e4'/><inertial "
      "mass='1'/></body>\n"
      "<motion name='gait' type='cubic' points='0 0 1 1'/>\n<state name='y' rate='-y'/>\n"
      "<sensor name='out' point='a'/>\n<event when='q(j) - 9'/>\n<driver joint='k' motion='gait(t)'/>\n"
      "<constraint name='c' expr='q(j) - 2*q(k)'/>\n<torque joint='j' law='y'/>\n"
      "<link name='spring' a='a' b='ground/hook' law='-(z - 1)'/>\n"
      "<bushing a='a' b='b' stiffness='1 1 1 1 1 1'/>\n<force body='b' f='1 0 0'/>\n"
      "<contact a='s' b='floor' mu-k='0.3' bristle-K='1e4' restitution='0.5'/>\n<run t-end='3'/>\n</sarrus>";
  static const struct Expected {
    const char* what;
    srLossEffect effect;
  } both[] = {{"'E'", SR_LOSS_NOTHING},
              {"<pair>", SR_LOSS_NOTHING},
              {"'role' of joint 'j'", SR_LOSS_NOTHING},
              {"<motion> 'gait'", SR_LOSS_NOTHING},
              {"<state> 'y'", SR_LOSS_MOTION},
              {"<sensor> 'out'", SR_LOSS_NOTHING},
              {"<event>", SR_LOSS_MOTION},
              {"<driver> of joint 'k'", SR_LOSS_MOTION},
              {"<constraint> 'c'", SR_LOSS_MOTION},
              {"<torque> of joint 'j'", SR_LOSS_MOTION},
              {"<link> 'spring'", SR_LOSS_MOTION},
              {"<bushing> of 'a' and 'b'", SR_LOSS_MOTION},
              {"<force> on body 'b'", SR_LOSS_MOTION},
              {"<contact> of 's' and 'floor'", SR_LOSS_MOTION},
              {"<run>", SR_LOSS_NOTHING}};
  const char* const formats[] = {"urdf", "mjcf"};
  srSpec* spec = read_text(text);
  for (int k = 0; k < 2; k++) {
    srConversion* c = convert(spec, formats[k]);
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
      if (!is_lost(c, both[i].what, both[i].effect)) printf("%s: %s is not told\n", formats[k], both[i].what);
      ENSURE(is_lost(c, both[i].what, both[i].effect));
    }
    ENSURE_EQUAL(is_lost(c, "gravity", SR_LOSS_MOTION), k == 0);
    ENSURE_EQUAL(is_lost(c, "'limit-stiffness' of joint 'k'", SR_LOSS_MOTION), k == 0);
    ENSURE(is_lost(c, k == 0 ? "<shape> 'floor' of the ground" : "'group' of <shape> 'floor'", SR_LOSS_NOTHING));
    ENSURE_EQUAL(is_lost(c, "'q' of joint 'j'", SR_LOSS_START), k == 0);
    for (int i = 0; i < c->nlost; i++)
      for (int n = 0; n < i; n++) ENSURE(strcmp(c->lost[i].what, c->lost[n].what) != 0);  // each once
    for (int i = 0; i < c->nlost; i++)
      if (strstr(c->lost[i].what, "<torque>")) ENSURE_EQUAL(c->lost[i].place.line, 14);
    Loaded b = read_back(c);
    ENSURE_NEAR(b.m->body_mass[sr_body_find(b.m, "a")], 7800 * 4.0 / 3 * 3.14159265358979323846 * 1e-3, 1e-10);
    close_model(&b);
    sr_conversion_destroy(c);
  }
  srs_destroy(spec);
}

TEST(a_conversion_that_loses_nothing_reports_nothing) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute' axis='0 1 0' damping='1'/>"
      "<inertial mass='1' inertia='1 1 1'/></body></sarrus>");
  const char* const formats[] = {"urdf", "mjcf", "sarrus"};
  for (int k = 0; k < 3; k++) {
    srConversion* c = convert(spec, formats[k]);
    ENSURE_EQUAL(c->nlost, 0);
    sr_conversion_destroy(c);
  }
  srs_destroy(spec);
}

// The stop of a joint without a stiffness becomes MuJoCo's own, which is reported; a stop with numbers survives.
TEST(stops_without_numbers_are_reported_for_mjcf) {
  static const char text[] =
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute' axis='0 1 0' limits='-1 1'%s/>"
      "<inertial mass='1' inertia='1 1 1'/></body></sarrus>";
  for (int i = 0; i < 2; i++) {
    char full[400];
    snprintf(full, sizeof full, text, i == 0 ? "" : " limit-damping='0.5'");
    srSpec* spec = read_text(full);
    srConversion* c = convert(spec, "mjcf");
    ENSURE_EQUAL(is_lost(c, "stops of 1 joint", SR_LOSS_MOTION), i == 0);
    ENSURE_EQUAL(strstr(c->text, "solreflimit=\"-100000 -500\"") != NULL, i == 1);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

// MJCF cannot express a law of the stop: reported once, with its numbers.
TEST(laws_of_stops_are_reported_for_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute' limits='-1 1' limit-stiffness='1000'"
      " limit-damping='2' limit-law='kelvin-voigt'/><inertial mass='1' inertia='1 1 1'/></body></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(is_lost(c, "stops of 1 joint with a limit-law, the first is 'j'", SR_LOSS_MOTION));
  ENSURE_EQUAL(c->nlost, 1);
  ENSURE(!strstr(c->text, "solreflimit"));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

// By unit of the inertia 1/(M^-1)_ii: two rods of 12 kg and 1 m in a row have M = {32, 10; 10, 4} kg m^2, so det/4 = 7 and
// det/32 = 0.875. No damping is 0, not -0.
TEST(stops_for_mjcf_have_the_inertia_that_the_joint_feels) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute' axis='0 1 0' limits='-1 1'"
      " limit-stiffness='700' limit-damping='2'/><inertial mass='12' com='0.5 0 0' inertia='0 1 1'/></body><body"
      " name='b' parent='a'><joint name='k' type='revolute' axis='0 1 0' at='1 0 0' limits='-1 1'"
      " limit-stiffness='875' limit-damping='0'/><inertial mass='12' com='0.5 0 0' inertia='0 1 1'/></body></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  const char* first = strstr(c->text, "solreflimit=\"");
  const char* second = first ? strstr(first + 1, "solreflimit=\"") : NULL;
  double x[4] = {0};
  ENSURE(second && sscanf(first, "solreflimit=\"%lf %lf", x, x + 1) == 2);
  ENSURE(second && sscanf(second, "solreflimit=\"%lf %lf", x + 2, x + 3) == 2);
  ENSURE_NEAR(x[0], -100, 1e-10);
  ENSURE_NEAR(x[1], -2, 1e-12);
  ENSURE_NEAR(x[2], -1000, 1e-9);
  ENSURE(x[3] == 0 && !signbit(x[3]));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

// ------------------------------------------------------------------------------------------------------ poses and shapes
// ------------------------------------------------------------------------------------------------- contacts, actuators
static srSpec* read_file(const char* file) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.xml", SARRUS_SOURCE_DIR, file);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  const srStatus status = sr_load(path, NULL, messages, &spec);
  if (status != SR_OK) loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  return spec;
}

static void same_attribute(const srAttr* a, const srAttr* b) {
  ENSURE_EQUAL(sr_given(*a), sr_given(*b));
  ENSURE_EQUAL(a->n, b->n);
  if (a->text) ENSURE_TEXT(a->text, b->text);
  if (a->n == 1) ENSURE_SMALL(a->number - b->number, 1e-15 * fabs(a->number));
}

// Of state i of a, that of b with the same name.
static int state_of(const Pair* p, int i) {
  const int k = find_name(p->b.m->y_name, p->b.m->ny, p->a.m->y_name[i]);
  if (k < 0) printf("no state %s\n", p->a.m->y_name[i]);
  ENSURE(k >= 0 && p->a.m->ny == p->b.m->ny);
  return k;
}

// Largest differences of f and a at n random states near the ground, where spheres are in it and in each other.
static void same_at_states(Pair* p, int n, double height) {
  Random r = {11};
  for (int k = 0; k < n; k++) {
    random_state(&r, p->a.m, p->a.d);
    for (int j = 0; j < p->a.m->njoint; j++)
      if (p->a.m->joint_nq[j] == 7)
        for (int i = 0; i < 3; i++) p->a.d->q[p->a.m->joint_q[j] + i] *= height;
    sr_normalize(p->a.m, p->a.d->q);
    for (int i = 0; i < p->a.m->nq; i++) p->b.d->q[p->q[i]] = p->a.d->q[i];
    for (int i = 0; i < p->a.m->nv; i++) p->b.d->v[p->v[i]] = p->a.d->v[i], p->b.d->tau[p->v[i]] = p->a.d->tau[i];
    for (int i = 0; i < p->a.m->ny; i++) p->a.d->y[i] = p->b.d->y[state_of(p, i)] = random_in(&r, -1, 1);
    p->a.d->stage = p->b.d->stage = SR_STAGE_NONE;
    ENSURE_EQUAL(sr_forward(p->a.m, p->a.d, SR_TAU_ELEMENT), 0);
    ENSURE_EQUAL(sr_forward(p->b.m, p->b.d, SR_TAU_ELEMENT), 0);
    const double force = largest(p->a.d->f, p->a.m->nv), acceleration = largest(p->a.d->a, p->a.m->nv);
    for (int i = 0; i < p->a.m->nv; i++) {
      ENSURE_SMALL((p->a.d->f[i] - p->b.d->f[p->v[i]]) / force, 1e-12);
      ENSURE_SMALL((p->a.d->a[i] - p->b.d->a[p->v[i]]) / acceleration, 1e-10);
    }
    for (int i = 0; i < p->a.m->ny; i++)
      ENSURE_SMALL(p->a.d->ydot[i] - p->b.d->ydot[state_of(p, i)], 1e-12 * largest(p->a.d->ydot, p->a.m->ny));
  }
}

static void same_contacts(const srSpec* spec, const srSpec* back) {
  const int n = srs_count(spec, SR_ELEMENT_CONTACT), nfield = (int)(sizeof(srContactDef) / sizeof(srAttr));
  ENSURE(n > 0);
  ENSURE_EQUAL(srs_count(back, SR_ELEMENT_CONTACT), n);
  for (int i = 0; i < n; i++) {
    const srAttr* a = srs_get(spec, SR_ELEMENT_CONTACT, i);
    const srAttr* b = srs_get(back, SR_ELEMENT_CONTACT, i);
    for (int k = 0; k < nfield; k++) same_attribute(a + k, b + k);
  }
}

TEST(contacts_of_an_mjcf_file_come_back) {
  static const char* const files[] = {"tests/mjcf-sections/touching", "models/robots/hexapod", "models/robots/humanoid",
                                      "models/robots/quadruped"};
  for (int k = 0; k < 4; k++) {
    srSpec* spec = read_file(files[k]);
    srConversion* c = convert(spec, "mjcf");
    srSpec* back = read_text(c->text);
    ENSURE(!is_lost(c, "<contact>", SR_LOSS_MOTION));
    same_contacts(spec, back);
    Pair p = pair_up(compile(spec), compile(back));
    if (k == 0) same_at_states(&p, 10, 0.1);
    pair_free(&p);
    sr_conversion_destroy(c);
    srs_destroy(spec);
    srs_destroy(back);
  }
}

// A ball of 2 kg and one of 3 kg over the ground, whose shape has no name.
static const char balls[] =
    "<sarrus version='1' name='balls'><ground><shape type='plane'/></ground>"
    "<body name='a'><joint name='ja' type='free'/><inertial mass='2' inertia='0.1 0.1 0.1'/>"
    "<shape name='s' type='sphere' size='0.1' group='g'/></body>"
    "<body name='b'><joint name='jb' type='free' q='1 0 0 0.5 0 0 1'/><inertial mass='3' inertia='0.1 0.1 0.1'/>"
    "<shape name='s' type='sphere' size='%s' group='g'/></body>%s</sarrus>";

static srConversion* convert_balls(const char* size, const char* contact) {
  char text[2048];
  snprintf(text, sizeof text, balls, size, contact);
  srSpec* spec = read_text(text);
  srConversion* c = convert(spec, "mjcf");
  srs_destroy(spec);
  return c;
}

TEST(a_native_contact_is_pairs_of_mjcf_by_unit_of_mass) {
  srConversion* c = convert_balls(
      "0.2",
      "<contact name='k' a='g' b='ground' normal='kelvin-voigt' K='600' D='12' mu-k='0.5' bristle-B='12'/>"
      "<contact a='g' b='g' normal='kelvin-voigt' K='600' D='0' friction='none'/>");
  for (int i = 0; i < c->nlost; i++) ENSURE(c->lost[i].effect != SR_LOSS_MOTION);
  ENSURE(strstr(c->text, "geom1=\"s\" geom2=\"geom\" solref=\"-300 -6\" condim=\"3\" friction=\"0.5 0.5 0 0 0\"/>"));
  ENSURE(strstr(c->text, "geom1=\"s_2\" geom2=\"geom\" solref=\"-200 -4\""));
  const char* pair = strstr(c->text, "geom1=\"s\" geom2=\"s_2\"");
  double k = 0, d = 1;
  ENSURE(pair != NULL);
  ENSURE_EQUAL(sscanf(pair, "geom1=\"s\" geom2=\"s_2\" solref=\"%lf %lf\" condim=\"1\"", &k, &d), 2);
  ENSURE_SMALL(k + 600 * (1.0 / 2 + 1.0 / 3), 1e-12);
  ENSURE_SMALL(d, 0);
  srSpec* back = read_text(c->text);
  ENSURE_EQUAL(srs_count(back, SR_ELEMENT_CONTACT), 3);
  srs_destroy(back);
  sr_conversion_destroy(c);
}

// A picture, a shape on the same link and a body whose name is longer are none of the pairs.
TEST(pairs_of_mjcf_are_those_of_the_contact_alone) {
  srSpec* spec = read_text(
      "<sarrus version='1' name='m'><ground><shape name='floor' type='plane'/></ground>"
      "<body name='a'><joint name='ja' type='free'/><inertial mass='2' inertia='0.1 0.1 0.1'/>"
      "<shape name='s' type='sphere' size='0.1'/><shape name='shown' type='sphere' size='0.3' use='visual'/></body>"
      "<body name='lid' parent='a'><joint name='jl' type='weld'/><inertial mass='1' inertia='0.1 0.1 0.1'/>"
      "<shape name='t' type='sphere' size='0.1' group='g'/></body>"
      "<body name='ab'><joint name='jb' type='free'/><inertial mass='3' inertia='0.1 0.1 0.1'/>"
      "<shape name='s' type='sphere' size='0.2' group='g'/></body>"
      "<contact a='a' b='floor' normal='kelvin-voigt' K='600' D='12' friction='none'/>"
      "<contact a='a/s' b='g' normal='kelvin-voigt' K='600' D='12' friction='none'/></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  int pairs = 0;
  for (const char* p = strstr(c->text, "<pair"); p; p = strstr(p + 1, "<pair")) pairs++;
  ENSURE_EQUAL(pairs, 2);
  ENSURE(strstr(c->text, "geom1=\"s\" geom2=\"floor\""));
  ENSURE(strstr(c->text, "geom1=\"s\" geom2=\"s_2\""));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(what_mjcf_cannot_express_of_a_contact_is_reported) {
  const struct {
    const char *size, *contact, *lost, *reason;
  } cases[] = {
      {"0.2", "<contact a='g' b='ground' normal='hooke' K='600' friction='none'/>", "<contact> of 'g' and 'ground'",
       "kelvin-voigt"},
      {"0.2", "<contact a='g' b='ground' normal='kelvin-voigt' K='600' D='12' mu-k='0.5'/>",
       "'bristle-B' of <contact> of 'g' and 'ground'", "takes the damping D"},
      {"0.2", "<contact a='g' b='ground' normal='kelvin-voigt' K='600' D='12' mu-k='0.5' mu-s='0.6' bristle-B='12'/>",
       "'mu-s' of <contact> of 'g' and 'ground'", "no word"},
      {"0.2",
       "<contact a='g' b='ground' normal='kelvin-voigt' K='600' D='12' mu-k='0.5' friction='lugre' bristle-B='12'/>",
       "'friction' of <contact>", "no word"},
      {"0.2",
       "<contact a='g' b='ground' normal='kelvin-voigt' K='600' D='12' mu-k='0.5' bristle-K='700' bristle-B='12'/>",
       "'bristle-K' of <contact>", "no word"},
      {"-0.2", "<contact a='a' b='b' normal='kelvin-voigt' K='600' D='12' friction='none'/>",
       "<contact> of 'a' and 'b'", "hollow sphere"},
      {"0.2",
       "<sensor name='m' point='a'/><contact gap='sensor(m, z)' normal='kelvin-voigt' K='600' D='12' friction='none'/>",
       "<contact> 'sensor(m, z)'", "gaps by formula"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    srConversion* c = convert_balls(cases[k].size, cases[k].contact);
    int found = 0;
    for (int i = 0; i < c->nlost; i++)
      found += strstr(c->lost[i].what, cases[k].lost) && strstr(c->lost[i].reason, cases[k].reason) &&
               c->lost[i].effect == SR_LOSS_MOTION;
    if (found != 1) printf("%s: told %d times\n", cases[k].contact, found);
    ENSURE_EQUAL(found, 1);
    sr_conversion_destroy(c);
  }
}

// A bore is no cylinder, and surfaces with a velocity or a direction of friction move things.
TEST(bores_and_moving_surfaces_are_reported_as_lost) {
  static const char* const formats[] = {"mjcf", "urdf"};
  srSpec* spec = read_text(
      "<sarrus version='1'><ground><shape name='bore' type='cylinder' size='-0.3 1'/><shape name='belt' type='box' "
      "size='1 1 1' surface-velocity='t 0 0' friction-direction='1 0 0'/></ground><body name='b'><joint name='b' "
      "type='prismatic'/><inertial mass='1'/><shape name='pin' type='sphere' size='0.2'/></body></sarrus>");
  for (int k = 0; k < 2; k++) {
    srConversion* c = convert(spec, formats[k]);
    ENSURE(strstr(c->text, "-0.3") == NULL);
    ENSURE(is_lost(c, "<shape> 'bore'", SR_LOSS_NOTHING));
    ENSURE(is_lost(c, "'friction-direction', 'surface-velocity' of <shape> 'belt'", SR_LOSS_MOTION));
    sr_conversion_destroy(c);
  }
  srs_destroy(spec);
}

// What is read with controls, and again after it has been an MJCF file: the same forces and accelerations.
static void same_drives(const srSpec* spec, const srConversion* c, const srSetting* controls, int n) {
  srMessages* messages = sr_messages_create();
  srSpec* back = NULL;
  const srLoadOptions how = {.settings = controls, .nsetting = n};
  ENSURE_EQUAL(sr_load_text(c->text, c->size, "converted", NULL, &how, messages, &back), SR_OK);
  sr_messages_destroy(messages);
  Pair p = pair_up(compile(spec), compile(back));
  same_at_states(&p, 5, 1);
  pair_free(&p);
  srs_destroy(back);
}

static const char* parameter_name(const srSpec* spec, int i) {
  return ((const srParameterDef*)srs_get(spec, SR_ELEMENT_PARAMETER, i))->name.text;
}

TEST(actuators_of_an_mjcf_file_come_back) {
  static const char* const files[] = {"arm-planar", "arm-scara", "hexapod", "humanoid", "quadruped", "rover"};
  static const char* const values[] = {"0.3", "-0.7", "40", "1.1"};
  for (int k = 0; k < 6; k++) {
    char path[512];
    srSetting controls[32];
    snprintf(path, sizeof path, "models/robots/%s", files[k]);
    srSpec* plain = read_file(path);
    int n = 0;
    for (int i = 0; i < srs_count(plain, SR_ELEMENT_PARAMETER) && n < 32; i++) {
      const char* name = parameter_name(plain, i);
      if (strncmp(name, "ctrl_", 5) == 0) controls[n] = (srSetting){name, values[n % 4]}, n++;
    }
    ENSURE(n > 0 && n < 32);
    snprintf(path, sizeof path, "%s/models/robots/%s.xml", SARRUS_SOURCE_DIR, files[k]);
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    ENSURE_EQUAL(sr_load(path, &(srLoadOptions){.settings = controls, .nsetting = n}, messages, &spec), SR_OK);
    sr_messages_destroy(messages);
    srConversion* c = convert(plain, "mjcf");
    for (int i = 0; i < c->nlost; i++) ENSURE(c->lost[i].effect != SR_LOSS_MOTION);
    same_drives(spec, c, controls, n);
    sr_conversion_destroy(c);
    srs_destroy(spec);
    srs_destroy(plain);
  }
}

// A hinge and a slide with drives of all kinds on joints.
static const char driven[] =
    "<mujoco><option gravity='0 0 -9.81'/><worldbody><body name='a' pos='0 0 1'>"
    "<joint name='h' axis='0 1 0'/><inertial pos='0 0 -0.3' mass='2' diaginertia='0.1 0.1 0.1'/>"
    "<body name='b' pos='0 0 -0.5'><joint name='s' type='slide' axis='1 0 0' actuatorfrcrange='-3 3'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body></body></worldbody><actuator>"
    "<motor name='last first' joint='s' gear='-4' ctrlrange='-1 0.5' forcerange='-2 0.3'/>"
    "<position name='servo' joint='h' kp='30' kv='2' gear='2.5' ctrlrange='-0.4 0.4'/>"
    "<velocity joint='h' kv='0.7' forcerange='-0.6 0.7'/><damper name='brake' joint='h' kv='0.4' ctrlrange='0 2'/>"
    "<general name='all' joint='h' gaintype='affine' gainprm='1 2 3' biastype='affine' biasprm='0.5 -1 -2' gear='-2'/>"
    "</actuator><keyframe><key ctrl='0.4 0.3 1.5 0.9 -1.2' qpos='0.2 0.1'/><key ctrl='-0.9 3 -0.2 4 "
    "2'/></keyframe></mujoco>";

static srSpec* read_key(const char* text, size_t size, const char* key) {
  const srSetting setting = {"key", key};
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  ENSURE_EQUAL(
      sr_load_text(text, size, "test", NULL, &(srLoadOptions){.settings = &setting, .nsetting = 1}, messages, &spec),
      SR_OK);
  sr_messages_destroy(messages);
  return spec;
}

TEST(gains_biases_ranges_and_controls_come_back) {
  static const char* const keys[] = {"0", "1"};
  for (int k = 0; k < 2; k++) {
    srSpec* spec = read_key(driven, strlen(driven), keys[k]);
    srConversion* c = convert(spec, "mjcf");
    for (int i = 0; i < c->nlost; i++) ENSURE(c->lost[i].effect != SR_LOSS_MOTION);
    srSpec* back = read_key(c->text, c->size, "0");
    for (int i = 0; i < 5; i++) ENSURE_TEXT(parameter_name(back, i), parameter_name(spec, i));
    Pair p = pair_up(compile(spec), compile(back));
    same_at_states(&p, 10, 1);
    pair_free(&p);
    // by way of a Sarrus file
    srConversion* own = convert(spec, "sarrus");
    srSpec* native = read_text(own->text);
    srConversion* again = convert(native, "mjcf");
    ENSURE_TEXT(again->text, c->text);
    sr_conversion_destroy(again);
    srs_destroy(native);
    sr_conversion_destroy(own);
    srs_destroy(back);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

// What actuators work on besides one joint, and activations. The bodies are above each other by what is not MJCF's default.
static const char moved[] =
    "<mujoco><option gravity='0 0 -9.81'/><worldbody><body name='a' pos='0 0 1'>"
    "<joint name='h' axis='0 1 0'/><inertial pos='0 0 -0.3' mass='2' diaginertia='0.1 0.1 0.1'/>"
    "<body name='b' pos='0 0 -0.5' gravcomp='0.75'><joint name='s' type='slide' axis='1 0 0' />"
    "<inertial pos='0.1 0 0' mass='1' diaginertia='0.1 0.1 0.1'/>"
    "<body name='c' pos='0 0.2 0'><joint name='e' type='ball' pos='0.1 0.2 0.3'/>"
    "<inertial pos='0.2 0 0' mass='1' diaginertia='0.1 0.2 0.15'/>"
    "<site name='tip' pos='0.3 0.1 0.2' quat='0.8 0.6 0 0'/></body></body></body>"
    "<body name='g'><joint name='k' axis='0 1 1' actuatorfrcrange='-3 3'/><inertial pos='0.2 0 0' mass='1' "
    "diaginertia='0.1 0.2 0.15'/></body>"
    "<body name='d' pos='1 2 3' quat='0.6 0 0.8 0'><freejoint name='f'/>"
    "<inertial pos='0.1 0.2 0' mass='1.5' diaginertia='0.1 0.2 0.15'/><site name='rotor' pos='0.3 0 0'/></body>"
    "</worldbody><tendon><fixed name='cable'><joint joint='h' coef='0.3'/><joint joint='s' coef='-2'/></fixed><fixed "
    "name='belt'>"
    "<joint joint='k' coef='1.5'/><joint joint='h' coef='2'/></fixed></tendon>"
    "<actuator><motor name='along' tendon='cable' gear='-4' ctrlrange='-1 0.5' forcerange='-2 0.3'/>"
    "<motor name='spin' joint='e' gear='1 -2 0.5'/>"
    "<general name='brake' joint='e' gear='0 3 1' gaintype='affine' gainprm='1 0 -2' biastype='affine' biasprm='0.1 0 "
    "-3'/>"
    "<motor name='fly' joint='f' gear='1 2 3 -4 5 6'/><motor name='turn' jointinparent='f' gear='0 1 0 0.1 2 0.3'/>"
    "<general name='still' joint='f' gear='0 0 0 1 0 2' biastype='affine' biasprm='0 0 -0.4'/>"
    "<general name='thrust' site='rotor' gear='0 0.1 2 0 0 0.3' biastype='affine' biasprm='0.7' ctrlrange='0 2'/>"
    "<motor name='tool' site='tip' gear='1 -2 0.5' forcerange='-0.5 0.6'/>"
    "<intvelocity name='held' joint='h' kp='7' kv='0.3' actrange='-0.6 0.4' ctrlrange='-2 2'/>"
    "<cylinder name='lag' tendon='belt' timeconst='0.1' area='2' bias='0.4 -2 -3'/>"
    "<general name='slow' joint='e' gear='0 1' dyntype='filterexact' dynprm='0.4' gainprm='5' forcerange='-1 1'/>"
    "<general name='one' joint='h' dyntype='filter' dynprm='1' gainprm='5' actrange='0 0.5'/>"
    "</actuator><keyframe><key ctrl='0.4 0.3 1.5 0.9 -1.2 3 1.7 -0.1 0.2 0.6 -0.3 2' act='0.1 0.2 0.3 0.4'/>"
    "<key ctrl='-2 -0.3 -1 2 1 -3 0.7 0.9 -3 4 5 -6' act='-1 -2 3 0.7'/></keyframe></mujoco>";

TEST(tendons_balls_free_joints_sites_and_activations_come_back) {
  static const char* const keys[] = {"0", "1"};
  for (int k = 0; k < 2; k++) {
    srSpec* spec = read_key(moved, strlen(moved), keys[k]);
    srConversion* c = convert(spec, "mjcf");
    for (int i = 0; i < c->nlost; i++) {
      if (c->lost[i].effect == SR_LOSS_MOTION) printf("%s: %s\n", c->lost[i].what, c->lost[i].reason);
      ENSURE(c->lost[i].effect != SR_LOSS_MOTION && !strstr(c->lost[i].what, "<sensor>"));
    }
    srSpec* back = read_key(c->text, c->size, "0");
    for (int i = 0; i < 12; i++) ENSURE_TEXT(parameter_name(back, i), parameter_name(spec, i));
    Pair p = pair_up(compile(spec), compile(back));
    ENSURE_EQUAL(p.a.m->ny, 4);
    for (int i = 0; i < 4; i++) ENSURE_SMALL(p.b.m->y0[state_of(&p, i)] - p.a.m->y0[i], 0);
    same_at_states(&p, 10, 1);
    pair_free(&p);
    // by way of a Sarrus file
    srConversion* own = convert(spec, "sarrus");
    srSpec* native = read_text(own->text);
    srConversion* again = convert(native, "mjcf");
    ENSURE_TEXT(again->text, c->text);
    sr_conversion_destroy(again);
    srs_destroy(native);
    sr_conversion_destroy(own);
    srs_destroy(back);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

TEST(native_drives_have_their_numbers_in_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1' name='m'><parameter name='ctrl_m' value='0'/><parameter name='ctrl_n' value='2'/>"
      "<option gravity='0 0 -10'/>"
      "<body name='a'><joint name='i' type='revolute' axis='0 1 0'/><inertial mass='2' com='0 0.5 1' inertia='0.1 0.1 "
      "0.1'/></body><body name='b' parent='a'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='1' "
      "inertia='0.1 0.1 0.1'/></body><state name='lag' initial='0.3' rate='(max(-1, min(1, ctrl_m)) - lag)*4'/>"
      "<torque joint='i' law='3*(7*lag - 5*(3*q(i) + 6*q(j)))'/><torque joint='j' law='6*(7*lag - 15*q(i) - 30*q(j))'/>"
      "<force body='a' at='0 0.5 1' f='0 0 5'/><force body='a' f='0 0 6'/></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(strstr(c->text, "<body name=\"a\" gravcomp=\"0.25\">"));
  ENSURE(strstr(c->text, "<joint joint=\"i\" coef=\"3\"/>") && strstr(c->text, "<joint joint=\"j\" coef=\"6\"/>"));
  ENSURE(strstr(c->text,
                "<general name=\"m\" tendon=\"m\" dyntype=\"filterexact\" dynprm=\"0.25\" gaintype=\"fixed\" "
                "gainprm=\"7 0 0\" biastype=\"affine\" biasprm=\"0 -5 0\" ctrllimited=\"true\" ctrlrange=\"-1 1\"/>"));
  ENSURE(strstr(c->text, "act=\"0.3\" ctrl=\"0\""));
  ENSURE(is_lost(c, "'name' of <state> 'lag'", SR_LOSS_NOTHING));  // it will be act_m
  ENSURE(is_lost(c, "<force> on body 'a'", SR_LOSS_MOTION));       // the second, which is not in the centre of mass
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(the_gear_of_a_site_has_all_factors_of_the_law) {
  srSpec* spec = read_text(
      "<sarrus version='1' name='m'><parameter name='ctrl_m' value='0'/><body name='a'><joint name='j' "
      "type='revolute'/>"
      "<inertial mass='1' inertia='0.1 0.1 0.1'/><point name='p' at='1 2 3'/></body><sensor name='s' point='a/p'/>"
      "<force body='a' at='1 2 3' f='ctrl_m*(sensor(s, rxx)/2 - sensor(s, rxz)/-8) ctrl_m*(sensor(s, ryx)/2 - "
      "sensor(s, ryz)/-8) ctrl_m*(sensor(s, rzx)/2 - sensor(s, rzz)/-8)'/></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(strstr(c->text, "<motor name=\"m\" site=\"p\" gear=\"0.5 0 0.125\"/>"));
  sr_conversion_destroy(c);
  srs_destroy(spec);
  spec = read_text(
      "<sarrus version='1' name='m'><parameter name='ctrl_m' value='0'/><body name='a'><joint name='j' "
      "type='revolute'/>"
      "<inertial mass='1' inertia='0.1 0.1 0.1'/><point name='p' at='1 2 3'/></body><sensor name='s' point='a/p'/>"
      "<force body='a' at='1 2 3' f='ctrl_m*(sensor(s, rxy)/4) ctrl_m*(sensor(s, ryy)/4) ctrl_m*(sensor(s, "
      "rzy)/4)'/></sarrus>");
  c = convert(spec, "mjcf");
  ENSURE(strstr(c->text, "<motor name=\"m\" site=\"p\" gear=\"0 0.25\"/>"));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(a_native_motor_has_its_gear_and_ranges_in_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1' name='m'><parameter name='ctrl_m' value='0'/><parameter name='k' value='3'/>"
      "<body name='a'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='1' inertia='0.1 0.1 0.1'/></body>"
      "<torque joint='j' law='-(5*max(-2, min(7, k*max(-1, min(1, ctrl_m)) - 2*q(j)/4 + 1)))'/></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(strstr(c->text,
                "<general name=\"m\" joint=\"j\" gear=\"-5\" gaintype=\"fixed\" gainprm=\"3 0 0\" "
                "biastype=\"affine\" biasprm=\"1 0.1 0\" ctrllimited=\"true\" ctrlrange=\"-1 1\" "
                "forcelimited=\"true\" forcerange=\"-2 7\"/>"));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(a_control_times_lengths_and_rates_is_an_affine_gain) {
  srSpec* spec = read_text(
      "<sarrus version='1' name='m'><parameter name='ctrl_m' value='0'/>"
      "<body name='a'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='1' inertia='0.1 0.1 0.1'/></body>"
      "<torque joint='j' law='(1 + 2*q(j) - 4*v(j))*(3*ctrl_m) + 7'/></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(strstr(c->text,
                "<general name=\"m\" joint=\"j\" gaintype=\"affine\" gainprm=\"3 6 -12\" "
                "biastype=\"affine\" biasprm=\"7 0 0\"/>"));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(what_mjcf_cannot_express_of_an_actuator_is_reported) {
  static const struct {
    const char *joint, *laws, *reason;
    int told;
  } cases[] = {
      {"", "<torque joint='j' law='sin(ctrl_a)'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a*ctrl_a'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a*q(i)'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a*t'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a + max(-1, min(1, ctrl_a))'/>", "g u + b", 1},
      {"", "<torque joint='j' law='max(-2, min(2, 3*max(-1, min(1, 2*ctrl_a))))'/>", "g u + b", 1},
      {"", "<torque joint='j' law='max(-1, min(1, 2*ctrl_a)) + q(j)'/>", "g u + b", 1},
      {"", "<torque joint='j' law='max(-1, min(1, ctrl_a)) + max(-2, min(2, ctrl_a))'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a + ctrl_b'/>", "several controls", 1},
      {"effort='2'", "<torque joint='j' law='max(-1, min(2, 3*max(-1, min(1, 2*ctrl_a))))'/>", "g u + b", 1},
      {"", "<torque joint='j' law='ctrl_a'/><torque joint='i' law='2*ctrl_a'/>", "", 0},
      {"", "<torque joint='j' law='ctrl_a'/><torque joint='i' law='2*ctrl_a - q(i)'/>", "g u + b", 2},
      {"", "<torque joint='j' law='ctrl_a - q(j)'/><torque joint='i' law='2*(ctrl_a - q(j))'/>", "g u + b", 2},
      {"", "<torque joint='j' law='max(-1, min(2, 3*ctrl_a))'/><torque joint='i' law='max(-2, min(1, -3*ctrl_a))'/>",
       "", 0},
      {"", "<torque joint='j' law='max(-1, min(2, 3*ctrl_a))'/><torque joint='i' law='max(-1, min(2, -3*ctrl_a))'/>",
       "g u + b", 2},
      {"",
       "<torque joint='j' law='ctrl_a - 3*q(j) - q(i)'/><torque joint='j' law='2*(ctrl_a - 3*q(j) - q(i))'/>"
       "<torque joint='i' law='ctrl_a - 3*q(j) - q(i)'/>",
       "", 0},
      {"", "<torque joint='j' law='ctrl_a - q(i)'/><torque joint='i' law='2*(ctrl_a - q(i))'/>", "g u + b", 2},
      {"", "<torque joint='j' law='max(-1, min(2, ctrl_b + ctrl_a))'/>", "several controls", 1},
      {"", "<torque joint='j' law='ctrl_a'/><link a='a' b='b/p' law='ctrl_a'/>", "other laws", 1},
      {"", "<state name='w' rate='ctrl_a - w'/><torque joint='j' law='w'/><event when='w - 1'/>",
       "state works in other", 2},
      {"", "<state name='w' rate='ctrl_a - 2*w'/><torque joint='j' law='w'/>", "activations", 2},
      {"", "<state name='w' rate='(w - ctrl_a)/2'/><torque joint='j' law='w'/>", "activations", 2},
      {"", "<state name='w' rate='(ctrl_a - w)/(-2)'/><torque joint='j' law='w'/>", "activations", 2},
      {"", "<state name='w' rate='if(w > 1, 0, ctrl_a)'/><torque joint='j' law='w'/>", "activations", 2},
      {"",
       "<state name='w' rate='if(max((w >= 1)*(ctrl_a > 0), (w &lt;= -1)*(ctrl_a > 0)), 0, ctrl_a)'/><torque joint='j' "
       "law='w'/>",
       "activations", 2},
      {"", "<state name='w' rate='ctrl_a'/><torque joint='j' law='w + ctrl_a'/>", "g u + b", 2},
      {"", "<force body='b' f='ctrl_a 0 0'/>", "free joints of the ground and on sites", 1},
      {"", "<force body='c' f='ctrl_a 0 0' at='0 0 1'/>", "origin of its body", 1},
      {"", "<force body='c' m='ctrl_a 0 0'/><torque joint='f' law='ctrl_a'/>", "own axes and those of the ground", 2},
      {"", "<torque joint='f' coordinate='3' law='ctrl_a'/>", "three turns", 1},
      {"", "<force body='c' f='ctrl_a*(1 - v(f)) 0 0'/>", "g u + b", 1},
      {"", "<force body='c' f='ctrl_a 1 0'/>", "g u + b", 1},
      {"", "<force body='c' m='ctrl_a 0 0'/>", "", 0},
      {"", "<torque joint='f' law='ctrl_a'/><torque joint='j' law='ctrl_a'/>", "three turns", 2},
      {"", "<torque joint='j' law='ctrl_a'/><torque joint='f' law='ctrl_a'/>", "one kind at a time", 2},
      {"",
       "<sensor name='s' point='b/p'/><force body='b' at='1 2 3' f='ctrl_a*sensor(s, rxx) ctrl_a*sensor(s, ryx) "
       "ctrl_a*sensor(s, rzx)'/>",
       "", 0},
      {"",
       "<sensor name='s' point='b/p'/><force body='b' at='1 2 4' f='ctrl_a*sensor(s, rxx) ctrl_a*sensor(s, ryx) "
       "ctrl_a*sensor(s, rzx)'/>",
       "at the point", 1},
      {"",
       "<sensor name='s' point='b/p'/><force body='a' at='1 2 3' f='ctrl_a*sensor(s, rxx) ctrl_a*sensor(s, ryx) "
       "ctrl_a*sensor(s, rzx)'/>",
       "point of the body", 1},
      {"",
       "<sensor name='s' point='b/p' relative-to='a'/><force body='b' at='1 2 3' f='ctrl_a*sensor(s, rxx) "
       "ctrl_a*sensor(s, ryx) "
       "ctrl_a*sensor(s, rzx)'/>",
       "another frame", 1},
      {"",
       "<sensor name='s' point='b/p'/><force body='b' at='1 2 3' f='ctrl_a*sensor(s, rxx) ctrl_a*sensor(s, ryx) "
       "ctrl_a*sensor(s, rzy)'/>",
       "axes of its site", 1},
      {"", "<torque joint='j' law='0*q(j) + ctrl_a*0'/>", "laws by formula", 1},
      {"", "<torque joint='j' law='2*ctrl_a - 2*q(j) + 3*v(j)'/>", "damping ratio", 1},
      {"effort='2'", "<torque joint='j' law='ctrl_a'/>", "effort", 1},
      {"effort='2'", "<torque joint='j' law='3*max(-1, min(1, 2*ctrl_a))'/>", "effort", 1},
      {"effort='2'", "<torque joint='j' law='max(-2, min(2, 3*ctrl_a))'/>", "effort", 0},
      {"effort='2'", "<torque joint='j' law='max(-1, min(2, 3*ctrl_a))'/>", "effort", 0},
      {"effort='2'",
       "<torque joint='j' law='max(-2, min(2, ctrl_a))'/><torque joint='j' law='max(-2, min(2, ctrl_b))'/>",
       "sum of its actuators", 2},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             "<sarrus version='1' name='m'><parameter name='ctrl_a' value='0'/><parameter name='ctrl_b' value='0'/>"
             "<body name='a'><joint name='i' type='revolute'/><inertial mass='1' inertia='0.1 0.1 0.1'/></body>"
             "<body name='b' parent='a'><joint name='j' type='revolute' %s/><inertial mass='1' inertia='0.1 0.1 0.1'/>"
             "<point name='p' at='1 2 3'/></body>"
             "<body name='c'><joint name='f' type='free'/><inertial mass='1' inertia='0.1 0.1 0.1'/></body>%s</sarrus>",
             cases[k].joint, cases[k].laws);
    srSpec* spec = read_text(text);
    srConversion* c = convert(spec, "mjcf");
    int told = 0;
    for (int i = 0; i < c->nlost; i++)
      told += c->lost[i].effect == SR_LOSS_MOTION && strstr(c->lost[i].reason, cases[k].reason) != NULL;
    if (told != cases[k].told) printf("%s: told %d times\n", cases[k].laws, told);
    ENSURE_EQUAL(told, cases[k].told);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

TEST(rotations_by_quaternion_come_back_also_where_the_pitch_is_a_right_angle) {
  static const char* const rot[] = {"1 2 3 4",           "1 0 1 0",       "1 0 -1 0",    "0.5 0.5 0.5 0.5",
                                    "0.5 -0.5 -0.5 0.5", "1 1e-9 1 2e-9", "1 1e-5 -1 0", "0 0 0 1"};
  Random r = {8};
  for (size_t k = 0; k < sizeof rot / sizeof rot[0]; k++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><body name='a'><joint name='j' type='revolute' axis='1 2 3' rot='%s'/><inertial mass='1'"
        " com='1 2 3' inertia='1 1.1 1.2 0.1 0.2 0.3'/></body><body name='b' parent='a'><joint name='k' type='revolute'"
        " axis='3 2 1' rot='%s' at='1 0 2'/><inertial mass='1' com='1 2 3' inertia='1 2 2 0.1 0.2 "
        "0.3'/></body></sarrus>",
        rot[k], rot[k]);
    srSpec* spec = read_text(text);
    ENSURE_SMALL(round_trip(spec, "urdf", &r), 1e-14);
    ENSURE_SMALL(round_trip(spec, "mjcf", &r), 1e-14);
    srs_destroy(spec);
  }
}

static void same_numbers(const srSpec* a, int i, const srSpec* b, int k, const char* word) {
  const srAttr *x = attribute(a, SR_ELEMENT_SHAPE, i, word), *y = attribute(b, SR_ELEMENT_SHAPE, k, word);
  ENSURE_EQUAL(x->n, y->n);
  for (int n = 0; n < x->n; n++)
    ENSURE_NEAR(x->numbers ? x->numbers[n] : x->number, y->numbers ? y->numbers[n] : y->number, 1e-15);
}

TEST(shapes_come_back_with_their_sizes_places_and_colours) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute'/><inertial mass='1' inertia='1 1 1'/>"
      "<shape name='s1' type='sphere' size='0.1' at='1 2 3' use='visual' color='0.1 0.2 0.3 0.4'/>"
      "<shape name='s2' type='box' size='0.1 0.2 0.3' at='1 2 4' use='visual' color='1 0 0 1'/>"
      "<shape name='s3' type='cylinder' size='0.1 0.2' at='1 3 3' use='visual' color='1 0 0 1'/>"
      "<shape name='s4' type='capsule' size='0.1 0.2' at='2 2 3' use='visual' color='1 0 0 1'/>"
      "<shape name='s5' type='ellipsoid' size='0.1 0.2 0.3' use='visual' color='1 0 0 1'/></body></sarrus>");
  srSpec* numbers = srs_numbers(spec, NULL);
  const char* const formats[] = {"urdf", "mjcf"};
  for (int k = 0; k < 2; k++) {
    srConversion* c = convert(spec, formats[k]);
    srMessages* messages = sr_messages_create();
    srSpec* back = NULL;
    ENSURE_EQUAL(sr_load_text(c->text, c->size, "back", NULL, NULL, messages, &back), SR_OK);
    sr_messages_destroy(messages);
    const int n = k == 0 ? 4 : 5;  // URDF has no ellipsoid
    ENSURE_EQUAL(is_lost(c, "<shape> 's5' of body 'a'", SR_LOSS_NOTHING), k == 0);
    ENSURE_EQUAL(srs_count(back, SR_ELEMENT_SHAPE), n);
    for (int i = 0; i < n; i++) {
      ENSURE_TEXT(attribute(back, SR_ELEMENT_SHAPE, i, "type")->text,
                  attribute(spec, SR_ELEMENT_SHAPE, i, "type")->text);
      ENSURE_TEXT(attribute(back, SR_ELEMENT_SHAPE, i, "name")->text,
                  attribute(spec, SR_ELEMENT_SHAPE, i, "name")->text);
      ENSURE_TEXT(attribute(back, SR_ELEMENT_SHAPE, i, "use")->text, "visual");
      same_numbers(numbers, i, back, i, "size");
      same_numbers(numbers, i, back, i, "at");
      same_numbers(numbers, i, back, i, "color");
    }
    srs_destroy(back);
    sr_conversion_destroy(c);
  }
  srs_destroy(numbers);
  srs_destroy(spec);
}

// ----------------------------------------------------------------------------------------------------------------- root
// Several joints in one body: bodies without mass are no bodies of MJCF, which MuJoCo would refuse.
TEST(bodies_without_mass_become_joints_of_the_body_behind_them) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='arm.a'><joint name='a' type='revolute' axis='0 1 0' at='0 0 1' rpy='0.1 0.2 "
      "0.3'/></body><body name='mid' parent='arm.a'><joint name='b' type='prismatic' axis='1 2 0' at='0.3 0 0' rpy='0 "
      "0.4 0'/></body><body name='arm' parent='mid'><joint name='c' type='universal' axis='1 0 0' axis2='0 1 0' at='0 "
      "0.2 0' rpy='0.5 0 0'/><inertial mass='2' com='0.1 0.2 0.3' inertia='0.1 0.12 0.13'/></body>"
      "<body name='held'><joint name='h' type='revolute' axis='0 1 0'/><point name='p' at='0 0 1'/></body>"
      "<body name='load' parent='held'><joint name='w' type='weld'/><inertial mass='1' com='0.1 0 0' inertia='1 1 1'/>"
      "</body></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(!strstr(c->text, "arm.a") && !strstr(c->text, "\"mid\""));
  ENSURE(is_lost(c, "name of body 'mid'", SR_LOSS_NOTHING) && !is_lost(c, "name of body 'arm.a'", SR_LOSS_NOTHING));
  ENSURE(!is_lost(c, "body 'held'", SR_LOSS_NOTHING));  // MuJoCo takes it: what is welded to it has mass
  Random r = {5};
  ENSURE_SMALL(round_trip(spec, "mjcf", &r), 1e-12);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(a_body_that_is_called_world_gets_another_name_in_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='world'><joint name='root' type='weld'/></body><body name='arm' parent='world'>"
      "<joint name='j' type='revolute' axis='0 1 0' effort='7'/><inertial mass='1' inertia='1 1 1'/></body></sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(is_lost(c, "name of body 'world'", SR_LOSS_NOTHING));
  ENSURE(strstr(c->text, "actuatorfrcrange=\"-7 7\"") && !is_lost(c, "effort", SR_LOSS_NOTHING));
  Loaded back = read_back(c);
  ENSURE(sr_body_find(back.m, "world_2") > 0);
  close_model(&back);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(a_mesh_whose_file_was_not_found_is_left_out_of_mjcf) {
  srSpec* spec = read_text(
      "<sarrus version='1'><mesh name='lost' file='package://x/lost.stl'/><body name='a'><joint name='j' "
      "type='revolute' "
      "axis='0 1 0'/><inertial mass='1' inertia='1 1 1'/><shape name='s' type='mesh' mesh='lost' use='visual'/></body>"
      "</sarrus>");
  srConversion* c = convert(spec, "mjcf");
  ENSURE(!strstr(c->text, "<mesh") && !strstr(c->text, "<geom"));
  ENSURE(is_lost(c, "<mesh> 'lost'", SR_LOSS_NOTHING) && is_lost(c, "<shape> 's'", SR_LOSS_NOTHING));
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

// The start of a joint that mimics another one follows from the other.
TEST(the_start_of_a_joint_that_follows_is_not_lost) {
  static const char text[] =
      "<sarrus version='1'><body name='a'><joint name='j' type='revolute' axis='0 1 0'/><inertial mass='1' inertia='1 "
      "1 "
      "1'/></body><body name='b'><joint name='k' type='revolute' axis='0 1 0' q='%s'/><inertial mass='1' inertia='1 1 "
      "1'/></body><coupling joint='k' to='j' ratio='2' offset='0.5'/></sarrus>";
  for (int i = 0; i < 2; i++) {
    char full[1024];
    snprintf(full, sizeof full, text, i == 0 ? "0.5" : "0.6");
    srSpec* spec = read_text(full);
    srConversion* c = convert(spec, "urdf");
    ENSURE_EQUAL(is_lost(c, "'q' of joint 'k'", SR_LOSS_START), i == 1);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

TEST(a_robot_that_floats_by_the_joint_root_has_no_world_link) {
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='base'><joint name='root' type='free'/><inertial mass='1' inertia='1 1 "
      "1'/></body>"
      "<body name='arm' parent='base'><joint name='j' type='revolute' axis='1 0 0'/><inertial mass='1' inertia='1 1 "
      "1'/>"
      "</body></sarrus>");
  srConversion* c = convert(spec, "urdf");
  ENSURE_TEXT(c->base, "floating");
  ENSURE(strstr(c->text, "world") == NULL);
  Pair p = pair_up(compile(spec), read_back(c));
  ENSURE_EQUAL(p.b.m->nbody, 2);
  Random r = {9};
  ENSURE_SMALL(difference(&p, &r), 1e-13);
  pair_free(&p);
  sr_conversion_destroy(c);
  srs_destroy(spec);
}

TEST(what_was_converted_once_is_converted_to_the_same_text_again) {
  srSpec* spec = read_model("paper1/arm6");
  srConversion* c = convert(spec, "urdf");
  srMessages* messages = sr_messages_create();
  srSpec* back = NULL;
  ENSURE_EQUAL(sr_load_text(c->text, c->size, "again", NULL, NULL, messages, &back), SR_OK);
  srConversion* again = convert(back, "urdf");
  srSpec* third = NULL;
  ENSURE_EQUAL(sr_load_text(again->text, again->size, "again", NULL, NULL, messages, &third), SR_OK);
  srConversion* same = convert(third, "urdf");
  ENSURE_TEXT(same->text, again->text);
  sr_conversion_destroy(c);
  sr_conversion_destroy(again);
  sr_conversion_destroy(same);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  srs_destroy(back);
  srs_destroy(third);
}

TEST(a_format_that_does_not_exist_is_refused) {
  srSpec* spec = read_text("<sarrus version='1'/>");
  srMessages* messages = sr_messages_create();
  srConversion* c = NULL;
  ENSURE_EQUAL(sr_convert(spec, "urdff", NULL, messages, &c), SR_INPUT);
  ENSURE(c == NULL && strstr(sr_messages_get(messages, 0)->text, "'urdf'") != NULL);
  sr_messages_destroy(messages);
  srs_destroy(spec);
}

// ------------------------------------------------------------------------------------------------------------- no memory
TEST(a_conversion_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  char text[4096];
  snprintf(text, sizeof text, laws, "<coupling joint='j2' to='j1'/><friction joint='j1' F='1' K='9'/>");
  const char* const formats[] = {"urdf", "mjcf", "sarrus"};
  for (int k = 0; k < 3; k++) {
    srStatus status = SR_MEMORY;
    for (int n = 0; n < 4000 && status != SR_OK; n++) {
      scarce_left = 1 << 30;
      scarce_live = 0;
      sr_set_allocator(scarce, NULL);
      srSpec* spec = read_text(text);
      srConversion* c = NULL;
      scarce_left = n;
      status = sr_convert(spec, formats[k], NULL, NULL, &c);
      scarce_left = 1 << 30;
      const bool fair = status == SR_OK ? c != NULL : c == NULL && status == SR_MEMORY;
      sr_conversion_destroy(c);
      srs_destroy(spec);
      sr_set_allocator(NULL, NULL);
      ENSURE(fair);
      ENSURE_EQUAL(scarce_live, 0);
    }
    ENSURE_EQUAL(status, SR_OK);
  }
}

// ----------------------------------------------------------------------------------------------- contacts of many shapes
static const char* many_spheres(const char* mass, const char* name) {
  static char text[2000];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground><repeat count='13' index='i'>"
      "<body name='s{i}'><joint name='j{i}' type='free' q='0.09*i 0 0.04 1 0 0 0' v='1 2 3 i 0.1 -i'/>"
      "<inertial mass='%s' com='0 0 0' inertia='1e-3 1e-3 1e-3'/>"
      "<shape name='b{i}' type='sphere' size='0.05' group='balls'/></body></repeat>"
      "<contact a='floor' b='balls' normal='kelvin-voigt' K='3e4' D='70' mu-k='0.5' bristle-B='70' most='13'/>"
      "<contact %s a='balls' b='balls' normal='kelvin-voigt' K='2e4' D='30' mu-k='0.4' mu-spin='0.01' bristle-B='30'/>"
      "</sarrus>",
      mass, name);
  return text;
}

static int count_of(const char* text, const char* word) {
  int n = 0;
  for (const char* at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
  return n;
}

// 91 pairs: by bits of the geoms where that is exact, and read again as the same contacts with the same accelerations.
TEST(contacts_of_many_shapes_are_bits_of_geoms_where_that_is_exact) {
  static const struct {
    const char *mass, *name;
    int pairs, priorities;
  } cases[] = {{"0.7", "", 0, 1}, {"0.7 + 0.1*i", "", 13 + 78, 0}, {"0.7", "name='heap'", 78, 1}};
  for (int k = 0; k < 3; k++) {
    srSpec* spec = read_text(many_spheres(cases[k].mass, cases[k].name));
    srConversion* c = convert(spec, "mjcf");
    ENSURE_EQUAL(count_of(c->text, "<pair"), cases[k].pairs);
    ENSURE_EQUAL(count_of(c->text, "priority="), cases[k].priorities);
    Loaded a = compile(spec), b = read_back(c);
    ENSURE_EQUAL(a.m->ncontact, 13 + 78);
    ENSURE_EQUAL(b.m->ncontact, 13 + 78);
    ENSURE(sr_forward(a.m, a.d, -1) == 0 && sr_forward(b.m, b.d, -1) == 0);
    for (int i = 0; i < a.m->nv; i++) ENSURE_NEAR(b.d->a[i], a.d->a[i], 1e-9 * (1 + fabs(a.d->a[i])));
    close_model(&a);
    close_model(&b);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}
