// Equilibrium with coordinates exchanged for parameters, and with extra equations: closed forms, found values fed back, what is refused.
#include "balanced.h"
#include "scarce.h"

#define SPRING                                                                                                         \
  "<sarrus version='1'><parameter name='k' value='100'/><parameter name='m' value='2'/><parameter name='g' "           \
  "value='9.81'/>"                                                                                                     \
  "<parameter name='rest' value='0.1'/><parameter name='idle' value='1'/><parameter name='heavy' value='3*m'/>"        \
  "<option gravity='0 0 -g'/><body name='a'><joint name='a' type='prismatic' axis='0 0 1' q='-0.3'/>"                  \
  "<inertial mass='m'/></body><torque joint='a' law='-k*(q(a) - rest)'/><body name='b' parent='a'><joint name='b' "    \
  "type='prismatic' axis='0 0 1' stiffness='2*k'/><inertial mass='heavy'/></body></sarrus>"

// (m + heavy) g = -k (q - rest), q = -0.3; heavy follows from m. The lower spring follows: q_b = -heavy g/(2 k).
TEST(exchange_finds_stiffness_mass_and_free_length_of_a_spring) {
  static const struct {
    const char* name;
    double value;
  } cases[] = {{"k", 8 * 9.81 / 0.4},
               {"m", 100 * 0.4 / (4 * 9.81)},
               {"rest", -0.3 + 8 * 9.81 / 100},
               {"g", 100 * 0.4 / 8},
               {"heavy", 100 * 0.4 / 9.81 - 2}};
  for (int i = 0; i < 5; i++) {
    Balanced x = balanced_open(SPRING, "");
    balanced_find(&x, (srEquilibriumOptions){EXCHANGE({"a", cases[i].name})});
    ENSURE_EQUAL(x.status, SR_OK);
    ENSURE_EQUAL(x.e->nexchanged, 1);
    ENSURE_TEXT(x.e->exchanged[0], cases[i].name);
    ENSURE_NEAR(x.e->exchanged_value[0], cases[i].value, 1e-12 * cases[i].value);
    ENSURE(x.d->q[0] == -0.3);
    const double k = i == 0 ? cases[0].value : 100, g = i == 3 ? cases[3].value : 9.81,
                 heavy = i == 1   ? 3 * cases[1].value
                         : i == 4 ? cases[4].value
                                  : 6;
    ENSURE_NEAR(x.d->q[1], -heavy * g / (2 * k), 1e-12);
    balanced_close(&x);
  }
}

// Both coordinates keep their values, two parameters are found: 2 k q_b = -heavy g, k (rest - q_a) = (m + heavy) g.
TEST(exchange_of_two_coordinates) {
  Balanced x = balanced_open(SPRING, "");
  x.d->q[1] = -0.2;
  balanced_find(&x, (srEquilibriumOptions){EXCHANGE({"b", "k"}, {"a", "rest"})});
  ENSURE_EQUAL(x.status, SR_OK);
  const double k = 6 * 9.81 / (2 * 0.2);
  ENSURE_NEAR(x.e->exchanged_value[0], k, 1e-10);
  ENSURE_NEAR(x.e->exchanged_value[1], -0.3 + 8 * 9.81 / k, 1e-12);
  balanced_close(&x);
}

// The value of a live parameter is a state: it is found all the same, and others stay.
TEST(exchange_of_a_live_parameter) {
  const char* text =
      "<sarrus version='1'><parameter name='F' value='3' live='yes'/><parameter name='other' value='2' live='yes'/>"
      "<body name='a'><joint name='a' type='prismatic' axis='0 0 1' stiffness='10' q='0.5'/><inertial mass='1'/></body>"
      "<torque joint='a' law='F*other'/></sarrus>";
  Balanced x = balanced_open(text, "");
  balanced_find(&x, (srEquilibriumOptions){0});
  ENSURE_NEAR(x.d->y[0], 3, 0);
  ENSURE_NEAR(x.d->q[0], (6 - 9.81) / 10, 1e-12);
  x.d->q[0] = 0.5;
  balanced_find(&x, (srEquilibriumOptions){EXCHANGE({"a", "F"})});
  ENSURE_EQUAL(x.status, SR_OK);
  ENSURE_NEAR(x.e->exchanged_value[0], (5 + 9.81) / 2, 1e-12);
  ENSURE_NEAR(x.d->y[0], (5 + 9.81) / 2, 1e-12);
  ENSURE_NEAR(x.d->y[1], 2, 0);
  balanced_close(&x);
}

// Ride height by the free length of the spring: the value, given to the model, has the height as its equilibrium.
TEST(exchange_of_the_ride_height_of_a_suspension_feeds_back) {
  Balanced x = balanced_open("mechanisms/five-rod-suspension", "");
  x.d->q[0] = 0.02;
  balanced_find(&x, (srEquilibriumOptions){EXCHANGE({"chassis", "rest"})});
  ENSURE_EQUAL(x.status, SR_OK);
  char settings[64];
  snprintf(settings, sizeof settings, "rest=%.17g", x.e->exchanged_value[0]);
  Balanced again = balanced_open("mechanisms/five-rod-suspension", settings);
  balanced_find(&again, (srEquilibriumOptions){0});
  ENSURE_EQUAL(again.status, SR_OK);
  ENSURE_NEAR(again.d->q[0], 0.02, 1e-10);
  for (int i = 0; i < x.m->nq; i++) ENSURE_NEAR(again.d->q[i], x.d->q[i], 1e-10);
  for (int i = 0; i < x.m->ng; i++) ENSURE_NEAR(again.d->lambda[i], x.d->lambda[i], 1e-7);  // N, of thousands
  balanced_close(&again);
  balanced_close(&x);
}

// The manual's example, section 5.3.4: toe-in by the length of the tie rod, here in equilibrium. The rod has that length, between its ends.
TEST(equation_for_the_toe_by_the_length_of_the_tie_rod) {
  static const double toe[] = {0.01, -0.02};
  for (int i = 0; i < 2; i++) {
    char text[64];
    snprintf(text, sizeof text, "sensor(steer) = %g", toe[i]);
    Balanced x = balanced_open("mechanisms/double-wishbone", "spin=0");
    balanced_find(&x, (srEquilibriumOptions){EQUATION(text, "tie")});
    ENSURE_EQUAL(x.status, SR_OK);
    ENSURE_NEAR(balanced_sensor(&x, "steer"), toe[i], 1e-13);
    srFrameMotion motion;
    ENSURE(x.m->nclosure == 2);
    sr_frame_motion(x.m, x.d, x.m->closure[1].point[1], x.m->closure[1].point[0], &motion);
    ENSURE_NEAR(sqrt(motion.position[0] * motion.position[0] + motion.position[1] * motion.position[1] +
                     motion.position[2] * motion.position[2]),
                x.e->exchanged_value[0], 1e-13);
    char settings[64];
    snprintf(settings, sizeof settings, "tie=%.17g spin=0", x.e->exchanged_value[0]);
    Balanced again = balanced_open("mechanisms/double-wishbone", settings);
    balanced_find(&again, (srEquilibriumOptions){0});
    ENSURE_NEAR(balanced_sensor(&again, "steer"), toe[i], 1e-10);
    balanced_close(&again);
    balanced_close(&x);
  }
}

// Two equations in one model with an exchange beside them.
TEST(equations_and_exchange_together) {
  Balanced x = balanced_open(SPRING, "");
  balanced_find(&x, (srEquilibriumOptions){EXCHANGE({"a", "rest"}), EQUATION("k*q(b) + m*g", "heavy")});
  ENSURE_EQUAL(x.status, SR_OK);  // q_b = -heavy g/(2 k) = -m g/k
  ENSURE_NEAR(x.e->exchanged_value[1], 4, 1e-11);
  ENSURE_NEAR(x.e->exchanged_value[0], -0.3 + 6 * 9.81 / 100, 1e-12);
  balanced_close(&x);
}

static void refuse(const char* model, srEquilibriumOptions options, srStatus status, const char* part) {
  Balanced x = balanced_open(model, "");
  balanced_find(&x, options);
  if (x.status != status || !strstr(x.said, part)) printf("%s", x.said);
  ENSURE_EQUAL(x.status, status);
  ENSURE(x.e == NULL && strstr(x.said, part) != NULL);
  balanced_close(&x);
}

TEST(exchange_refuses_what_is_wrong_or_contradicts_itself) {
  refuse(SPRING, (srEquilibriumOptions){EXCHANGE({"c", "k"})}, SR_INPUT, "unknown coordinate 'c'");
  refuse(SPRING, (srEquilibriumOptions){EXCHANGE({"a", "rst"})}, SR_INPUT,
         "unknown parameter 'rst'; did you mean 'rest'");
  refuse(SPRING, (srEquilibriumOptions){EXCHANGE({"a", "k"}, {"a", "m"})}, SR_INPUT, "'a' is exchanged twice");
  refuse(SPRING, (srEquilibriumOptions){EXCHANGE({"a", "k"}, {"b", "k"})}, SR_INPUT, "'k' is to be found twice");
  refuse(SPRING, (srEquilibriumOptions){EXCHANGE({"a", "idle"})}, SR_FAILED, "'idle' has no influence");
  refuse(SPRING, (srEquilibriumOptions){EQUATION("q(a) - 1", "idle")}, SR_FAILED, "'idle' has no influence");
  refuse(SPRING, (srEquilibriumOptions){.unknown = (const char* const[]){"k"}, .nunknown = 1}, SR_INPUT,
         "0 equations and 1 unknown");
  refuse(SPRING, (srEquilibriumOptions){.equation = (const char* const[]){"q(a)"}, .nequation = 1}, SR_INPUT,
         "1 equation and 0 unknowns");
  refuse(SPRING, (srEquilibriumOptions){EQUATION("q(c) - 1", "k")}, SR_INPUT, "--equation");
  refuse(SPRING, (srEquilibriumOptions){EQUATION("record(a.a)", "k")}, SR_INPUT, "--equation");
  refuse("mechanisms/five-rod-suspension", (srEquilibriumOptions){EXCHANGE({"carrier", "rest"})}, SR_INPUT,
         "joint 'carrier' has 6 coordinates");
  refuse(SPRING, (srEquilibriumOptions){EQUATION("q(a)^2 + 1", "k")}, SR_FAILED, "no equilibrium was found");
}

// Its length would be 0.9 - 5 g/50 < 0, which no spring has; it is the length that the force depends on, all the same.
TEST(exchange_tells_where_a_parameter_ends) {
  refuse(
      "<sarrus version='1'><parameter name='L' value='0.4'/><ground><point name='top' at='0 0 1'/></ground><body "
      "name='b'><joint name='z' type='prismatic' axis='0 0 1' q='0.1'/><inertial mass='5'/></body>"
      "<spring a='ground/top' b='b' stiffness='50' length='L'/></sarrus>",
      (srEquilibriumOptions){EXCHANGE({"z", "L"})}, SR_FAILED, "the search ends at L = ");
}

TEST(exchange_runs_out_of_memory_without_leaks) {
  const char* text =
      "<sarrus version='1'><parameter name='k' value='10'/><body name='a'><joint name='a' type='prismatic' axis='0 0 "
      "1' "
      "stiffness='k' q='-0.5'/><inertial mass='1'/></body></sarrus>";
  Balanced x = balanced_open(text, "");
  srEquilibriumOptions options = {EXCHANGE({"a", "k"}), .spec = x.spec};
  srEquilibrium* e = NULL;
  srStatus status = SR_MEMORY;
  for (int n = 1; status != SR_OK && n < 5000; n++) {
    scarce_live = 0;
    scarce_left = n;
    sr_set_allocator(scarce, NULL);
    status = sr_equilibrium_create(x.m, x.d, &options, NULL, &e);
    sr_equilibrium_destroy(e);
    sr_set_allocator(NULL, NULL);
    ENSURE(status == SR_OK || status == SR_MEMORY);
    ENSURE_EQUAL(scarce_live, 0);
  }
  ENSURE_EQUAL(status, SR_OK);
  balanced_close(&x);
}
