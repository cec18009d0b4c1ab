// Tests of springs, dampers and stops by natural frequency and damping ratio, of inertia() in laws, and of the inertias behind them:
// closed forms, the mass matrix of random trees, other formulations and formats, messages.
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "dynamics/coordinate_inertia.h"
#include "loading.h"
#include "math/dense.h"
#include "messages.h"
#include "random_tree.h"

// Numbers of the force element of this name; NULL: there is none.
static const double* numbers_of(const srModel* m, const char* name) {
  for (int i = 0; i < m->nforce; i++)
    if (strcmp(m->force[i].name, name) == 0) return m->force[i].p;
  return NULL;
}

// K = I w^2 and D = 2 z w I with I = 3 kg; time constant 1/(z w) = 0.02 s and ratio 1 of the stop: K = I/(0.02 1)^2, and
// K d limit-damping = 2 I/0.02 at the overshoot d = 0.01 m.
TEST(a_mass_on_a_slide_vibrates_with_the_given_frequency_and_ratio) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='j' type='prismatic' "
      "natural-frequency='5'"
      " damping-ratio='0.4' rest='0.1' limits='-1 1' limit-natural-frequency='50' limit-damping-ratio='1'/>"
      "<inertial mass='3' com='0.2 0.1 7'/></body></sarrus>");
  ENSURE_NEAR(numbers_of(x.m, "joint-spring of j")[0], 75, 1e-12);
  ENSURE_NEAR(numbers_of(x.m, "joint-damper of j")[0], 12, 1e-12);
  ENSURE_NEAR(numbers_of(x.m, "joint-stop of j")[2], 3 / (0.02 * 0.02), 1e-9);
  ENSURE_NEAR(numbers_of(x.m, "joint-stop of j")[3], (2 * 3 / 0.02) / (7500 * 0.01), 1e-13);
  x.d->q[0] = 0.3;
  x.d->v[0] = 0.7;
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(x.d->a[0], -25 * 0.2 - 2 * 0.4 * 5 * 0.7, 1e-13);
  close_model(&x);
}

// D = 2 z sqrt(K I) = 0: a stop without stiffness has no damping by a ratio, neither from the words for it nor from a frequency of 0.
TEST(a_stop_without_stiffness_has_no_damping_by_a_ratio) {
  static const char* const stiffness[] = {"limit-stiffness='0'", "limit-natural-frequency='0'"};
  for (int i = 0; i < 2; i++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='j' type='prismatic' limits='-1 1' %s "
        "limit-damping-ratio='0.7'/><inertial mass='3'/></body></sarrus>",
        stiffness[i]);
    Loaded x = open_text(text);
    ENSURE(numbers_of(x.m, "joint-stop of j")[2] == 0);
    ENSURE(numbers_of(x.m, "joint-stop of j")[3] == 0);
    x.d->q[0] = 1.1;
    x.d->v[0] = 0.7;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE(x.d->a[0] == 0);
    close_model(&x);
  }
}

// Two rods of 12 kg and 1 m in a row: M = {20 + 12 c, 4 + 6 c; 4 + 6 c, 4} kg m^2, c = cos of the second angle.
// c = 1: det 28, I = 28/4 and 28/32;  c = 0: det 64, I = 64/4 and 64/20. With a ratio alone D = 2 z sqrt(K I).
#define ARM                                                                                                            \
  "<sarrus version='1'><option gravity='0 0 0'/><body name='a'><joint name='j' type='revolute' axis='0 1 0'"           \
  " natural-frequency='2' limits='-1 1' limit-natural-frequency='10' limit-damping-ratio='0.5'/>"                      \
  "<inertial mass='12' com='0.5 0 0' inertia='0 1 1'/></body>"                                                         \
  "<body name='b' parent='a'><joint name='k' type='revolute' axis='0 1 0' at='1 0 0' q='0.7'%s stiffness='14'"         \
  " damping-ratio='0.25'/><inertial mass='12' com='0.5 0 0' inertia='0 1 1'/></body>%s</sarrus>"

static const double effective[2][2] = {{7, 0.875}, {16, 3.2}}, carried[] = {32, 20};

static const char* arm(bool bent, const char* more) {
  static char text[2048];
  snprintf(text, sizeof text, ARM, bent ? " reference='pi/2'" : "", more);
  return text;
}

static void check_arm(const srModel* m, const double I[2]) {
  ENSURE_NEAR(numbers_of(m, "joint-spring of j")[0], 4 * I[0], 1e-12);
  ENSURE(numbers_of(m, "joint-damper of j") == NULL);
  ENSURE_NEAR(numbers_of(m, "joint-stop of j")[2], 100 * I[0], 1e-10);
  ENSURE_NEAR(numbers_of(m, "joint-stop of j")[3], 2 * 0.5 / 10 / 0.01, 1e-12);
  ENSURE_NEAR(numbers_of(m, "joint-damper of k")[0], 0.5 * sqrt(14 * I[1]), 1e-13);
}

TEST(the_effective_inertia_is_that_of_the_arm_where_its_joints_are_at_their_reference) {
  for (int i = 0; i < 2; i++) {
    Loaded x = open_text(arm(i == 1, ""));
    check_arm(x.m, effective[i]);
    close_model(&x);
  }
}

TEST(laws_may_use_the_inertia_of_a_joint) {
  for (int i = 0; i < 2; i++) {
    Loaded x =
        open_text(arm(i == 1, "<sensor name='c' expr='inertia(j)'/><sensor name='e' expr='inertia(j, effective)'/>"));
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_NEAR(x.d->formula[x.m->sensor[0].formula], carried[i], 1e-13);
    ENSURE_NEAR(x.d->formula[x.m->sensor[1].formula], effective[i][0], 1e-13);
    close_model(&x);
  }
}

static srSpec* read(const char* text) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  (void)sr_load_text(text, strlen(text), "m.xml", NULL, NULL, messages, &spec);
  loading_print(messages);
  sr_messages_destroy(messages);
  ENSURE(spec != NULL);
  return spec;
}

// Free bodies have the springs of the tree.
TEST(other_formulations_have_the_inertia_of_the_tree) {
  static const srFormulation all[] = {SR_FORMULATION_ABSOLUTE, SR_FORMULATION_PENALTY};
  for (int i = 0; i < 4; i++) {
    srSpec* spec = read(arm(i % 2 == 1, "<run penalty-inertia='0.1'/>"));
    srModel *m = NULL, *other = NULL;
    ENSURE_EQUAL(sr_compile(spec, NULL, &m), SR_OK);
    srData *d = sr_data_create(m), *other_d = NULL;
    ENSURE_EQUAL(sr_formulate(spec, m, d, all[i / 2], NULL, &other, &other_d), SR_OK);
    check_arm(other, effective[i % 2]);
    sr_data_destroy(d), sr_data_destroy(other_d);
    sr_model_destroy(m), sr_model_destroy(other);
    srs_destroy(spec);
  }
}

// Other programs get numbers: MJCF's stop -K/I -D/I with I at q = 0, where its qpos0 is; and the same motion.
TEST(converted_joints_have_the_stiffness_in_numbers) {
  static const char servo[] =
      "<parameter name='ctrl_u' value='0'/><torque joint='k' law='10*(ctrl_u - q(k)) - 2*sqrt(10*inertia(k))*v(k)'/>";
  for (int i = 0; i < 2; i++) {
    srSpec* spec = read(arm(i == 1, servo));
    srConversion* c = NULL;
    ENSURE_EQUAL(sr_convert(spec, "mjcf", NULL, NULL, &c), SR_OK);
    const char* stop = strstr(c->text, "solreflimit=\"");
    double x[2];
    ENSURE(stop && sscanf(stop, "solreflimit=\"%lf %lf", x, x + 1) == 2);
    ENSURE_NEAR(x[0], -100 * effective[i][0] / 7, 1e-10);
    ENSURE_NEAR(x[1], -2 * 0.5 * 10 * effective[i][0] / 7, 1e-11);
    for (int k = 0; k < c->nlost; k++) ENSURE(c->lost[k].effect != SR_LOSS_MOTION);
    Loaded back = open_text(c->text), own = open_text(arm(i == 1, servo));
    Loaded* both[] = {&own, &back};
    for (int k = 0; k < 2; k++) {
      both[k]->d->q[0] = 0.4, both[k]->d->q[1] = -0.3, both[k]->d->v[0] = 0.2, both[k]->d->v[1] = -0.6;
      ENSURE_EQUAL(sr_forward(both[k]->m, both[k]->d, SR_TAU_ELEMENT), 0);
    }
    for (int k = 0; k < 2; k++) ENSURE_NEAR(own.d->a[k], back.d->a[k], 1e-12);
    close_model(&own), close_model(&back);
    sr_conversion_destroy(c);
    srs_destroy(spec);
  }
}

// ------------------------------------------------------------------------------------------------------- random trees
// M_ii and 1/(M^-1)_ii from the mass matrix, by composite bodies and Cholesky's factor.
static double compare(const srModel* m, srData* d) {
  const int n = m->nv;
  const size_t size = (size_t)(n > 0 ? n : 1) * sizeof(double);
  double *M = malloc((size_t)n * size), *x = malloc(size), *one = malloc(size), *free_to_move = malloc(size);
  srPool pool;
  double worst = 0;
  sr_pool_init(&pool);
  sr_normalize(m, d->q);
  sr_crba(m, d, d->q, M);
  for (int i = 0; i < n; i++) M[i * n + i] += m->dof_armature[i];
  sr_coordinate_inertia(m, &pool, d->q, one, free_to_move);
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(one[i] / M[i * n + i] - 1));
  ENSURE(srm_cholesky(n, M));
  for (int i = 0; i < n; i++) {
    memset(x, 0, size);
    x[i] = 1;
    srm_cholesky_solve(n, M, x);
    worst = fmax(worst, fabs(free_to_move[i] * x[i] - 1));
  }
  sr_pool_free(&pool);
  free(M), free(x), free(one), free(free_to_move);
  return worst;
}

// Both methods lose what the condition of M, up to 1e4 here, takes from 1e-16 times some tens of operations.
TEST(inertias_of_coordinates_are_those_of_the_mass_matrix_of_200_random_trees) {
  Random r = {99};
  double worst = 0;
  for (int k = 0; k < 200; k++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 20), .armature = k % 2 == 0});
    srData* d = sr_data_create(m);
    random_state(&r, m, d);
    worst = fmax(worst, compare(m, d));
    sr_data_destroy(d);
    sr_model_destroy(m);
  }
  if (getenv("SARRUS_TEST_VERBOSE")) printf("largest difference %.1e\n", worst);
  ENSURE_SMALL(worst, 1e-10);
}

// ------------------------------------------------------------------------------------------------------------ messages
static srStatus refused(const char* joint, const char* inertial, const char* more, char* said, size_t size) {
  char text[1024];
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  snprintf(text, sizeof text, "<sarrus version='1'>\n<body name='a'>\n<joint name='j' %s/>%s</body>%s</sarrus>", joint,
           inertial, more);
  srStatus status = sr_load_text(text, strlen(text), "m.xml", NULL, NULL, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &m);
  messages_keep(messages, said, size);
  sr_messages_destroy(messages);
  sr_model_destroy(m);
  srs_destroy(spec);
  return status;
}

#define MASS "<inertial mass='1' inertia='1 1 1'/>"

TEST(what_is_wrong_with_a_natural_frequency_is_reported_with_its_location) {
  static const struct Case {
    const char *joint, *inertial, *more, *text;
    srStatus status;
  } cases[] = {
      {"type='prismatic' stiffness='1' natural-frequency='2'", MASS, "",
       "m.xml:3:67: error: 'natural-frequency' and 'stiffness' of joint 'j' define the same quantity", SR_INPUT},
      {"type='prismatic' stiffness='1' damping='1' damping-ratio='2'", MASS, "",
       "'damping-ratio' and 'damping' of joint 'j' define the same quantity", SR_INPUT},
      {"type='prismatic' limits='0 1' limit-stiffness='1' limit-natural-frequency='2'", MASS, "",
       "'limit-natural-frequency' and 'limit-stiffness' of joint 'j' define the same quantity", SR_INPUT},
      {"type='prismatic' limits='0 1' limit-damping='1' limit-damping-ratio='2'", MASS, "",
       "'limit-damping-ratio' and 'limit-damping' of joint 'j' define the same quantity", SR_INPUT},
      {"type='prismatic' natural-frequency='-2'", MASS, "",
       "'natural-frequency' of <joint> must not be negative, got -2", SR_INPUT},
      {"type='prismatic' natural-frequency='2' damping-ratio='-1'", MASS, "",
       "'damping-ratio' of <joint> must not be negative, got -1", SR_INPUT},
      {"type='prismatic' limits='0 1' limit-natural-frequency='-2'", MASS, "",
       "'limit-natural-frequency' of <joint> must not be negative, got -2", SR_INPUT},
      {"type='ball' natural-frequency='2'", MASS, "",
       "'natural-frequency' is for joints with one coordinate; 'j' has 3", SR_INPUT},
      {"type='universal' axis2='1 0 0' reference='1'", MASS, "", "'reference' of joint 'j' takes 2 values, got 1",
       SR_INPUT},
      {"type='ball' reference='1 0 0 0'", MASS, "", "'reference' is for joints whose coordinates are numbers",
       SR_INPUT},
      {"type='revolute' limits='0 1' limit-law='hooke' limit-natural-frequency='2'", MASS, "",
       "'limit-natural-frequency' is for stops without 'limit-law'", SR_INPUT},
      {"type='revolute'", MASS, "<torque joint='j' law='inertia(h)'/>", "unknown joint 'h'", SR_INPUT},
      {"type='revolute'", MASS, "<torque joint='j' law='inertia(j, 0)'/>", "inertia(joint, effective) is expected",
       SR_INPUT},
      {"type='ball'", MASS, "<torque joint='j' law='inertia(j)'/>", "inertia() is of joints with one coordinate",
       SR_INPUT},
      {"type='prismatic' natural-frequency='2'", "", "",
       "m.xml:3:53: warning: 'natural-frequency' of joint 'j' is not used: nothing with mass or inertia moves", SR_OK},
      {"type='prismatic' limits='0 1' limit-damping-ratio='2'", "", "",
       "'limit-damping-ratio' of joint 'j' is not used: nothing with mass or inertia moves", SR_OK},
      {"type='prismatic' natural-frequency='2'", MASS, "<driver joint='j' motion='t'/>",
       "'natural-frequency' of joint 'j': a driver moves the joint", SR_OK},
      {"type='weld' natural-frequency='2'", MASS, "", "'natural-frequency' does nothing: a joint of type 'weld'",
       SR_OK},
      {"type='revolute' damping-ratio='2'", MASS, "",
       "'damping-ratio' of <joint> does nothing without 'stiffness' or 'natural-frequency'", SR_OK},
      {"type='revolute' limit-damping-ratio='2'", MASS, "",
       "'limit-damping-ratio' of <joint> does nothing without 'limits'", SR_OK},
  };
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
    const struct Case* x = &cases[i];
    char said[4096];
    const srStatus status = refused(x->joint, x->inertial, x->more, said, sizeof said);
    if (!strstr(said, x->text)) printf("%d: %s", i, said);
    ENSURE(strstr(said, x->text) != NULL);
    ENSURE_EQUAL(status, x->status);
  }
}

// Nothing to be stiff against: the stop of a <joint> without attributes, no spring.
TEST(a_joint_without_inertia_has_the_stop_of_a_joint_without_attributes) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='j' type='prismatic' natural-frequency='3' damping-ratio='1'"
      " limits='0 1' limit-natural-frequency='2' limit-damping-ratio='1'/></body></sarrus>");
  ENSURE(numbers_of(x.m, "joint-spring of j") == NULL);
  ENSURE(numbers_of(x.m, "joint-damper of j") == NULL);
  ENSURE(numbers_of(x.m, "joint-stop of j")[2] == 1e5 && numbers_of(x.m, "joint-stop of j")[3] == 1);
  close_model(&x);
}
