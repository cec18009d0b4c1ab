// Gears, racks and couplings of several joints: closed forms of speeds, accelerations and torques in both formulations and by several methods, against the same
// relations as constraints by formula, refusals, conversion.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "messages.h"
#include "runner.h"

// Angular acceleration of a body about z of the ground, or its acceleration along x.
static double turn_of(Bench* b, const char* body) {
  srFrameMotion motion;
  sr_frame_motion(b->m, b->d, sr_point_find(b->m, body), 0, &motion);
  return motion.angular_acceleration[2];
}
static double slide_of(Bench* b, const char* body) {
  srFrameMotion motion;
  sr_frame_motion(b->m, b->d, sr_point_find(b->m, body), 0, &motion);
  return motion.acceleration[0];
}

static void evaluate(Bench* b) { ENSURE_EQUAL(sr_evaluate(b->m, b->d, b->d->t, NULL, NULL, NULL, SR_STAGE_FRAMES), 0); }

static double lambda_of(const Bench* b, const char* name) {
  for (int i = 0; i < b->m->ncoupling; i++) {
    if (strcmp(b->m->coupling[i].name, name) == 0) return b->d->lambda[b->m->coupling[i].row];
  }
  ENSURE(false);
  return NAN;
}

static srRunResult run(Bench* b, const char* method, double t_end, double rtol) {
  srRunOptions options = sr_run_options(b->m);
  srRunResult result;
  options.method = method;
  options.t_end = t_end;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  options.step = 1e-3;
  ENSURE_EQUAL(sr_run(b->m, b->d, &options, NULL, &result), SR_OK);
  return result;
}

// ---- planetary gear -----------------------------------------------------------------------------------------------------
// Sun, ring and arm about one axis, zs (w_s - w_a) = -zr (w_r - w_a). zs = 20, zp = 16, zr = 52.
#define SHAFT(name, parent, inertia, more)                                                                             \
  "<body name='" name "'" parent "><joint type='revolute' " more "/><inertial mass='1' inertia='1 1 " inertia          \
  "'/></body>"
#define SHAFTS(sun, ring, arm) SHAFT("sun", "", "0.02", sun) SHAFT("ring", "", "0.3", ring) SHAFT("arm", "", "0.1", arm)
#define PLANET(name, at) SHAFT(name, " parent='arm'", "0.004", "at='" at "'")
// at 0.09 m from the axis, a third of a turn apart
#define PLANETS                                                                                                        \
  PLANET("p1", "0.09 0 0") PLANET("p2", "-0.045 0.09*sin(2*pi/3) 0") PLANET("p3", "-0.045 -0.09*sin(2*pi/3) 0")
#define TORQUES "<torque joint='sun' law='3'/><torque joint='ring' law='-1'/><torque joint='arm' law='2'/>"
#define DOCUMENT(part) "<sarrus version='1'><option gravity='0 0 0'/>" part "</sarrus>"

// Independent w_s, w_r; w_a = a w_s + b w_r. T = 1/2 sum of J (c w_s + e w_r)^2 over what turns.
typedef struct Two {
  double M[2][2], f[2];
} Two;

static void add_inertia(Two* x, double J, double c, double e) {
  x->M[0][0] += J * c * c;
  x->M[0][1] += J * c * e;
  x->M[1][1] += J * e * e;
}

static void solve(const Two* x, double* first, double* second) {
  const double determinant = x->M[0][0] * x->M[1][1] - x->M[0][1] * x->M[0][1];
  *first = (x->M[1][1] * x->f[0] - x->M[0][1] * x->f[1]) / determinant;
  *second = (x->M[0][0] * x->f[1] - x->M[0][1] * x->f[0]) / determinant;
}

static const double a_of_sun = 20.0 / 72, a_of_ring = 52.0 / 72;

static void check_planetary(const char* text, int nplanet, double sense, const char* coupling) {
  Two x = {.f = {3 + 2 * sense * a_of_sun, -1 + 2 * sense * a_of_ring}};
  add_inertia(&x, 0.02, 1, 0);
  add_inertia(&x, 0.3, 0, 1);
  add_inertia(&x, 0.1 + nplanet * 1 * 0.09 * 0.09, a_of_sun, a_of_ring);
  // w_p = w_a - zs/zp (w_s - w_a)
  const double own = 20.0 / 16;
  add_inertia(&x, nplanet * 0.004, (1 + own) * a_of_sun - own, (1 + own) * a_of_ring);
  double sun, ring;
  solve(&x, &sun, &ring);
  BOTH(formulation) {
    Bench b = load(text, formulation);
    evaluate(&b);
    ENSURE_NEAR(turn_of(&b, "sun"), sun, 1e-11 * fabs(sun));
    ENSURE_NEAR(turn_of(&b, "ring"), ring, 1e-11 * fabs(sun));
    ENSURE_NEAR(turn_of(&b, "arm"), a_of_sun * sun + a_of_ring * ring, 1e-11 * fabs(sun));
    // the torque that the coupling exerts on the arm
    const double on_arm = 0.1 * (a_of_sun * sun + a_of_ring * ring) - 2;
    if (coupling) ENSURE_NEAR(lambda_of(&b, coupling), on_arm, 1e-11 * fabs(on_arm));
    unload(&b);
  }
}

TEST(a_coupling_of_three_joints_is_the_relation_of_willis) {
  check_planetary(
      DOCUMENT(SHAFTS("", "", "") "<coupling name='willis' joint='arm' to='sun ring' ratio='20/72 52/72'/>" TORQUES), 0,
      1, "willis");
}

TEST(a_gear_with_a_carrier_is_the_relation_of_willis) {
  check_planetary(DOCUMENT(SHAFTS("", "", "") "<gear members='sun ring' teeth='20 -52' carrier='arm'/>" TORQUES), 0, 1,
                  NULL);
  check_planetary(DOCUMENT(SHAFTS("q='0.3'", "q='1'",
                                  "q='-2'") "<gear members='sun, ring' radius='0.05 -0.13' carrier='arm'/>" TORQUES),
                  0, 1, NULL);
}

TEST(planets_turn_and_revolve_with_their_inertia) {
  check_planetary(DOCUMENT(SHAFTS("", "", "") PLANETS
                           "<gear members='sun p1 p2 p3 ring' teeth='20 -16 -16 -16 -52' carrier='arm'/>" TORQUES),
                  3, 1, NULL);
}

// The arm's joint counts the other way: so does the torque on it.
TEST(the_sense_of_axes_is_that_of_the_joints) {
  check_planetary(
      DOCUMENT(SHAFTS("", "", "axis='0 0 -1'") "<gear members='sun ring' teeth='20 -52' carrier='arm'/>" TORQUES), 0,
      -1, NULL);
  check_planetary(DOCUMENT(SHAFTS("", "rpy='pi 0 0' axis='0 0 -1'",
                                  "") "<gear members='sun ring' teeth='20 -52' carrier='arm'/>" TORQUES),
                  0, 1, NULL);
  // the same axis through a tilted housing
  check_planetary(
      DOCUMENT("<body name='case'><joint type='weld' rpy='0.5 0 0'/><inertial mass='1' inertia='1 1 1'/></body>" SHAFT(
          "sun", " parent='case'", "0.02", "rpy='-0.5 0 0'") SHAFT("ring", "", "0.3", "")
                   SHAFT("arm", "", "0.1", "") "<gear members='sun ring' teeth='20 -52' carrier='arm'/>" TORQUES),
      0, 1, NULL);
}

// What acts inside a joint is part of its reaction. In relative coordinates they follow from the motion of the bodies, else from multipliers.
TEST(reactions_of_geared_joints_agree_in_both_formulations) {
  double reaction[2][6 * 6], sun = 0;
  BOTH(formulation) {
    Bench b = load(DOCUMENT(SHAFTS("v='5'", "v='-1'", "") PLANETS
                            "<gear members='sun p1 p2 p3 ring' teeth='20 -16 -16 -16 -52' carrier='arm'/>" TORQUES),
                   formulation);
    evaluate(&b);
    sun = turn_of(&b, "sun");
    ENSURE_EQUAL(b.m->njoint, 6);
    ENSURE_EQUAL(sr_reactions(b.m, b.d, reaction[formulation]), 0);
    unload(&b);
  }
  ENSURE_NEAR(reaction[0][2], 0.02 * sun, 1e-10);
  for (int i = 0; i < 36; i++) ENSURE_NEAR(reaction[0][i], reaction[1][i], 1e-9);
}

// With the ring fixed: w_a = w_s zs/(zs + zr), one degree of freedom, no equations. Effective inertia at the sun.
TEST(with_a_fixed_ring_a_planetary_gear_is_one_group_without_constraint_equations) {
  const double i = a_of_sun, w_p = i * (1 + 20.0 / 16) - 20.0 / 16;
  const double J = 0.02 + i * i * (0.1 + 3 * 0.09 * 0.09) + 3 * 0.004 * w_p * w_p;
  static const char text[] = DOCUMENT(
      SHAFT("sun", "", "0.02", "v='7'") SHAFT("arm", "", "0.1", "") PLANETS
      "<gear members='sun p1 p2 p3 ground' teeth='20 -16 -16 -16 -52' carrier='arm'/><torque joint='sun' law='3'/>");
  BOTH(formulation) {
    Bench b = load(text, formulation);
    ENSURE_EQUAL(b.m->elimination != NULL, formulation == SR_FORMULATION_RELATIVE);
    evaluate(&b);
    ENSURE_NEAR(v_of(&b, "arm"), 7 * i, 1e-13);
    ENSURE_NEAR(v_of(&b, "p2"), 7 * (w_p - i), 1e-13);
    ENSURE_NEAR(turn_of(&b, "sun"), 3 / J, 1e-11);
    ENSURE_NEAR(turn_of(&b, "p3"), w_p * 3 / J, 1e-11);
    unload(&b);
  }
}

// The same in a housing that tumbles: the gear knows only what moves relative to the arm. Energy and angular momentum are constant.
TEST(a_planetary_gear_in_a_tumbling_housing_keeps_energy_and_its_ratio) {
  static const char text[] =
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<body name='housing'><joint type='free' v='0.4 2 -0.3 0 0 0'/><inertial mass='3' inertia='0.2 0.3 0.4'/></body>"
      "<body name='case' parent='housing'><joint type='weld' rpy='0.2 0.3 0'/><inertial mass='1' inertia='0.1 0.1 "
      "0.1'/></body>" SHAFT("sun", " parent='case'", "0.02", "v='30'") SHAFT("arm", " parent='case'", "0.1", "") PLANETS
      "<gear members='sun p1 p2 p3 housing' teeth='20 -16 -16 -16 -52' carrier='arm'/></sarrus>";
  static const char* const methods[] = {"dopri5", "hem5", "radau5"};
  double end[4] = {0};
  for (int k = 0; k < 4; k++) {
    Bench b = load(text, k == 3 ? SR_FORMULATION_ABSOLUTE : SR_FORMULATION_RELATIVE);
    const srRunResult result = run(&b, methods[k % 3], 1, 1e-8);
    ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-5);
    ENSURE_NEAR(q_of(&b, "arm"), q_of(&b, "sun") * a_of_sun, 1e-6);
    end[k] = q_of(&b, "sun");
    ENSURE(fabs(end[k]) > 20);  // several turns
    ENSURE_NEAR(end[k], end[0], 1e-4);
    unload(&b);
  }
}

// ---- differential ---------------------------------------------------------------------------------------------------------
// w_l + w_r = 2 w_c. Half of what the cage receives goes to each side, whatever their speeds.
#define AXLE SHAFT("cage", "", "0.05", "v='4'") SHAFT("left", "", "0.2", "v='1'") SHAFT("right", "", "0.8", "")
static const char* const differential[] = {
    DOCUMENT(AXLE "<coupling name='d' joint='cage' to='left right' ratio='0.5 0.5'/><torque joint='cage' law='6'/>"),
    DOCUMENT(AXLE "<gear name='d' members='left right' teeth='14 -14' carrier='cage'/><torque joint='cage' law='6'/>"),
    // with the bevel gear between them, which has next to no inertia
    DOCUMENT(
        AXLE
        "<body name='spider' parent='cage'><joint type='revolute' axis='1 0 0' at='0.03 0 0'/><inertial mass='1e-9' "
        "inertia='1e-9 1e-9 1e-9'/></body><gear members='left spider right' teeth='14 10 -14' carrier='cage'/>"
        "<torque joint='cage' law='6'/>")};

TEST(a_differential_splits_torque_in_equal_halves) {
  // With w_l, w_r independent: cage (l + r)/2.
  Two x = {.f = {3, 3}};
  double left, right;
  add_inertia(&x, 0.05, 0.5, 0.5);
  add_inertia(&x, 0.2, 1, 0);
  add_inertia(&x, 0.8, 0, 1);
  solve(&x, &left, &right);
  ENSURE_NEAR(0.2 * left, 0.8 * right, 1e-12);  // the same torque on both
  for (int k = 0; k < 3; k++) {
    BOTH(formulation) {
      Bench b = load(differential[k], formulation);
      evaluate(&b);
      ENSURE_NEAR(v_of(&b, "right"), 7, 1e-12);  // 2*4 - 1
      ENSURE_NEAR(turn_of(&b, "left"), left, 1e-7 * left);
      ENSURE_NEAR(turn_of(&b, "right"), right, 1e-7 * left);
      if (k == 0) ENSURE_NEAR(lambda_of(&b, "d"), 0.05 * (left + right) / 2 - 6, 1e-12);
      unload(&b);
    }
  }
}

TEST(a_differential_gives_the_same_motion_by_all_methods) {
  static const char* const methods[] = {"dopri5", "rk4", "hem5", "phem56", "genalpha-index3", "genalpha-ggl", "radau5"};
  // from the above, with constant torque: v = v0 + a t
  const double M = 0.2 + 0.0125, N = 0.8 + 0.0125, c = 0.0125, D = M * N - c * c, t = 1.5;
  const double left = 1 + 3 * (N - c) / D * t, right = 7 + 3 * (M - c) / D * t;
  for (int k = 0; k < (int)(sizeof methods / sizeof *methods); k++) {
    Bench b = load(differential[k % 2], SR_FORMULATION_RELATIVE);
    (void)run(&b, methods[k], t, 1e-6);
    ENSURE_NEAR(v_of(&b, "left"), left, 1e-6 * left);
    ENSURE_NEAR(v_of(&b, "right"), right, 1e-6 * left);
    ENSURE_NEAR(v_of(&b, "cage"), 0.5 * (left + right), 1e-6 * left);
    ENSURE_NEAR(2 * q_of(&b, "cage"), q_of(&b, "left") + q_of(&b, "right"), 1e-7);
    unload(&b);
  }
}

TEST(with_one_wheel_held_the_other_turns_twice_as_fast) {
  BOTH(formulation) {
    Bench b = load(DOCUMENT(SHAFT("cage", "", "0.05", "v='4'") SHAFT("left", "", "0.2", "") SHAFT(
                       "right", "", "0.8", "") "<driver joint='left' motion='0'/><torque joint='cage' law='6'/>"
                                               "<gear name='d' members='left right' teeth='14 -14' carrier='cage'/>"),
                   formulation);
    evaluate(&b);
    ENSURE_NEAR(v_of(&b, "right"), 8, 1e-12);
    ENSURE_NEAR(turn_of(&b, "right"), 2 * 6 / (0.05 + 4 * 0.8), 1e-11);
    unload(&b);
  }
}

// The shipped axle: w_l, w_r and x independent, cage (l + r)/2, pinion 37/11 of it, spider 16/10 (l - c).
static void check_axle(Bench* b) {
  const double v0 = 0.1, slip_left = 0.3 * v_of(b, "left") - v_of(b, "x"),
               slip_right = 0.3 * v_of(b, "right") - v_of(b, "x");
  const double left_force = 0.05 * 2500 * slip_left / sqrt(slip_left * slip_left + v0 * v0);
  const double right_force = 0.9 * 2500 * slip_right / sqrt(slip_right * slip_right + v0 * v0);
  const double half = 0.5 * 60 * (1 - v_of(b, "pinion") / 200) * 37 / 11;
  Two x = {.f = {half - 0.3 * left_force, half - 0.3 * right_force}};
  add_inertia(&x, 1, 1, 0);
  add_inertia(&x, 1, 0, 1);
  add_inertia(&x, 0.05 + 1e-3 + 0.002 * 37 * 37 / 121, 0.5, 0.5);
  add_inertia(&x, 2e-4, 0.8, -0.8);
  double left, right;
  solve(&x, &left, &right);
  evaluate(b);
  const int l = b->m->joint_v[sr_joint_find(b->m, "left")], r = b->m->joint_v[sr_joint_find(b->m, "right")];
  ENSURE_NEAR(b->d->a[l], left, 1e-9 * fabs(left) + 1e-12);
  ENSURE_NEAR(b->d->a[r], right, 1e-9 * fabs(left) + 1e-12);
  ENSURE_NEAR(b->d->a[b->m->joint_v[sr_joint_find(b->m, "x")]], (left_force + right_force) / 1050.6,
              1e-9);  // with all its parts
}

TEST(the_shipped_axle_accelerates_as_by_hand_and_its_wheel_on_ice_limits_the_other) {
  char path[512];
  srMessages* messages = sr_messages_create();
  Bench b = {0};
  snprintf(path, sizeof path, "%s/models/differential.xml", SARRUS_SOURCE_DIR);
  ENSURE_EQUAL(sr_load(path, NULL, messages, &b.spec), SR_OK);
  ENSURE_EQUAL(sr_compile(b.spec, messages, &b.m), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_destroy(messages);
  b.d = sr_data_create(b.m);
  check_axle(&b);
  (void)run(&b, "auto", 1, 1e-8);
  check_axle(&b);
  ENSURE(0.3 * v_of(&b, "left") - v_of(&b, "x") > 5);  // it spins
  ENSURE_SMALL(0.3 * v_of(&b, "right") - v_of(&b, "x"), 0.1);
  (void)run(&b, "auto", 20, 1e-8);
  check_axle(&b);
  ENSURE_NEAR(2 * v_of(&b, "cage"), v_of(&b, "left") + v_of(&b, "right"), 1e-8);
  ENSURE_NEAR(11 * v_of(&b, "pinion"), 37 * v_of(&b, "cage"), 1e-6);
  // At the end the wheel on ice hardly accelerates: both sides have 0.05*2500 N.
  ENSURE_NEAR(1050.6 * b.d->a[b.m->joint_v[sr_joint_find(b.m, "x")]], 2 * 125, 10);
  unload(&b);
}

// ---- racks ------------------------------------------------------------------------------------------------------------------
// x = r1 q1 = -r2 q2; (m + I1/r1^2 + I2/r2^2) x'' = F, torque on each pinion I q''.
TEST(a_rack_drives_two_pinions) {
  const double r1 = 0.02, r2 = 0.05, mass = 2 + 0.001 / (r1 * r1) + 0.03 / (r2 * r2), F = 5;
  BOTH(formulation) {
    Bench b = load(
        DOCUMENT("<body name='rack'><joint type='prismatic' axis='1 0 0' q='0.1' v='0.3'/><inertial mass='2' "
                 "inertia='1 1 1'/></body>" SHAFT("one", "", "0.001", "at='0 0.02 0' q='0.4'")
                     SHAFT("two", "", "0.03", "at='0.3 -0.05 0'") "<gear name='g' members='rack one two' radius='1 "
                                                                  "0.02 -0.05'/><torque joint='rack' law='5'/>"),
        formulation);
    ENSURE_EQUAL(b.m->elimination != NULL, formulation == SR_FORMULATION_RELATIVE);
    evaluate(&b);
    ENSURE(strstr(said, "positions") == NULL);  // they mesh where they are
    ENSURE_NEAR(q_of(&b, "one"), 0.4, 0);
    ENSURE_NEAR(v_of(&b, "one"), 0.3 / r1, 1e-12);
    ENSURE_NEAR(v_of(&b, "two"), -0.3 / r2, 1e-12);
    ENSURE_NEAR(slide_of(&b, "rack"), F / mass, 1e-12);
    ENSURE_NEAR(turn_of(&b, "one"), F / mass / r1, 1e-10);
    ENSURE_NEAR(lambda_of(&b, "g.one"), 0.001 * F / mass / r1, 1e-12);
    ENSURE_NEAR(lambda_of(&b, "g.two"), -0.03 * F / mass / r2, 1e-12);
    unload(&b);
  }
}

// A pinion on a slide rolls along a rack of the ground: r q = x, (m + I/r^2) x'' = F.
TEST(a_pinion_on_a_slide_rolls_along_a_fixed_rack) {
  BOTH(formulation) {
    Bench b = load(
        DOCUMENT(
            "<body name='slide'><joint type='prismatic' axis='1 0 0' v='0.6'/><inertial mass='2' inertia='1 1 1'/>"
            "</body>" SHAFT(
                "pinion", " parent='slide'", "0.01",
                "") "<gear members='pinion ground' radius='0.1 -1' carrier='slide'/><torque joint='slide' law='5'/>"),
        formulation);
    evaluate(&b);
    ENSURE_NEAR(v_of(&b, "pinion"), 6, 1e-13);
    ENSURE_NEAR(slide_of(&b, "slide"), 5 / (2 + 1 + 0.01 / 0.01), 1e-12);  // the pinion has 1 kg
    unload(&b);
  }
}

// ---- against formulas -----------------------------------------------------------------------------------------------------------
#define LINKS                                                                                                          \
  "<sarrus version='1'><body name='a'><joint type='revolute' axis='0 1 0' q='0.3' v='1'/><inertial mass='1' "          \
  "com='0.1 0 -0.3' inertia='0.02 0.03 0.01'/></body><body name='b' parent='a'><joint type='revolute' axis='0.2 1 0' " \
  "at='0 0 -0.5' v='-0.4'/><inertial mass='0.4' com='0 0 -0.1' inertia='0.02 0.03 0.01'/></body>"                      \
  "<body name='c' parent='a'><joint type='prismatic' axis='1 0 0.3' at='0.4 0 0'/><inertial mass='2' inertia='0.05 "   \
  "0.04 0.03'/>"                                                                                                       \
  "</body><body name='d' parent='c'><joint type='helical' axis='0 1 1' pitch='0.1'/><inertial mass='0.7' com='0.1 0 "  \
  "0' "                                                                                                                \
  "inertia='0.05 0.04 0.03'/></body>"

TEST(a_coupling_of_four_joints_is_the_constraint_by_formula) {
  static const char* const texts[] = {
      LINKS "<coupling joint='c' to='d, a, b' ratio='0.7 -1.3 0.4' offset='0.2'/></sarrus>",
      LINKS "<constraint expr='q(c) = 0.7*q(d) - 1.3*q(a) + 0.4*q(b) + 0.2'/></sarrus>"};
  for (int k = 0; k < 2; k++) {
    double q[2][4], v[2][4], a[2][24], lambda[2];
    const srFormulation formulation = k == 0 ? SR_FORMULATION_RELATIVE : SR_FORMULATION_ABSOLUTE;
    int nv = 0;
    for (int i = 0; i < 2; i++) {
      Bench b = load(texts[i], formulation);
      evaluate(&b);
      nv = b.m->nv;
      lambda[i] = b.d->lambda[b.m->ng - 1];
      memcpy(a[i], b.d->a, (size_t)nv * sizeof(double));
      (void)run(&b, "hem5", 0.3, 1e-9);
      memcpy(q[i], b.d->jq, sizeof q[i]);
      memcpy(v[i], b.d->jv, sizeof v[i]);
      unload(&b);
    }
    ENSURE_NEAR(lambda[0], lambda[1], 1e-10);
    for (int i = 0; i < nv; i++) ENSURE_NEAR(a[0][i], a[1][i], 1e-9);
    for (int i = 0; i < 4; i++) {
      ENSURE_NEAR(q[0][i], q[1][i], 1e-8);
      ENSURE_NEAR(v[0][i], v[1][i], 1e-7);
    }
    ENSURE_NEAR(q[0][2], 0.7 * q[0][3] - 1.3 * q[0][0] + 0.4 * q[0][1] + 0.2, 1e-8);
  }
}

// x = sun - ring without inertia of its own: a torque on it acts on both.
TEST(a_massless_joint_is_carried_by_the_others_of_its_coupling) {
  Bench b = load(DOCUMENT(SHAFTS("", "", "") "<body name='x'><joint type='revolute'/></body><torque joint='x' law='3'/>"
                                             "<coupling joint='sun' to='ring x'/>"),
                 SR_FORMULATION_RELATIVE);
  ENSURE(said[0] == '\0');
  evaluate(&b);
  ENSURE_NEAR(turn_of(&b, "sun"), 3 / 0.02, 1e-10);
  ENSURE_NEAR(turn_of(&b, "ring"), -3 / 0.3, 1e-10);
  ENSURE_NEAR(turn_of(&b, "x"), 3 / 0.02 + 3 / 0.3, 1e-10);
  unload(&b);
}

// ---- what is refused --------------------------------------------------------------------------------------------------------------

static void refuse(const char* part, const char* words) {
  char text[3000];
  Bench b;
  snprintf(text, sizeof text,
           "<sarrus version='1'>\n" SHAFTS("", "", "")
           "<body name='tilted' parent='arm'><joint type='revolute' axis='1 0 0'/><inertial mass='1' inertia='1 1 1'/></body>"
           "<body name='gimbal' parent='tilted'><joint type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>"
           "<body name='slide'><joint type='prismatic'/><inertial mass='1'/></body>"
           "<body name='ball'><joint type='ball'/><inertial mass='1' inertia='1 1 1'/></body>"
           "<body name='glued' parent='arm'><joint type='weld'/><inertial mass='1'/></body>\n%s</sarrus>",
           part);
  ENSURE_EQUAL(open_text(text, SR_FORMULATION_RELATIVE, &b), SR_INPUT);
  if (!strstr(said, words)) printf("expected '%s' in: %s\n", words, said);
  ENSURE(strstr(said, words) != NULL);
  unload(&b);
}

TEST(gears_that_cannot_mesh_are_refused_with_their_place) {
  refuse("<gear members='sun rong' teeth='20 30'/>", "test:3:20: error: unknown body 'rong'; did you mean 'ring'");
  refuse("<gear members='sun' teeth='20'/>", "'g");
  refuse("<gear name='g' members='sun ring sun' teeth='20 30 20'/>", "'sun' is a member of gear 'g' twice");
  refuse("<gear name='g' members='sun ring'/>", "gear 'g' takes either 'teeth' or 'radius'");
  refuse("<gear name='g' members='sun ring' teeth='1 2' radius='1 2'/>", "takes either 'teeth' or 'radius'");
  refuse("<gear name='g' members='sun ring' teeth='20 30 40'/>", "takes 2 values, got 3");
  refuse("<gear name='g' members='sun ring arm' teeth='20 30'/>", "takes 3 values, one for each member, got 2");
  refuse("<gear name='g' members='sun ring' teeth='20 0'/>", "'teeth' of gear 'g' must not be zero");
  refuse("<gear name='g' members='sun tilted' teeth='20 30'/>", "different parents: name the 'carrier'");
  refuse("<gear name='g' members='sun ground' teeth='20 30'/>", "different parents: name the 'carrier'");
  refuse("<gear name='g' members='ground sun' teeth='20 30'/>",
         "'ground' does not move relative to the carrier 'ground'");
  refuse("<gear name='g' members='sun glued' teeth='20 30' carrier='arm'/>",
         "'glued' does not move relative to the carrier 'arm'");
  refuse("<gear name='g' members='sun ball' teeth='20 30'/>",
         "joint 'ball' between 'ball' and its carrier 'ground' is ball");
  refuse("<gear name='g' members='sun ring' teeth='20 30' carrier='tilted'/>", "must be parallel");
  refuse("<gear name='g' members='sun ring' teeth='20 30' carrier='slide'/>", "both joints of one type");
  refuse("<gear name='g' members='sun slide' teeth='20 30'/>", "'slide' is a rack, which takes 'radius' with 1 or -1");
  refuse("<gear name='g' members='sun slide' radius='0.1 0.5'/>", "'slide' is a rack");
  refuse("<gear name='g' members='sun ring' teeth='20 30' carrier='nobody'/>", "unknown body 'nobody'");
  refuse("<gear name='g' members='sun ring' teeth='20 30'/><gear name='g' members='sun arm' teeth='2 3'/>",
         "another gear");
}

TEST(couplings_of_several_joints_that_cannot_be_are_refused_with_their_place) {
  refuse("<coupling joint='sun' to='ring rim'/>", "test:3:32: error: unknown joint 'rim'");
  refuse("<coupling joint='sun' to='ring arm' ratio='1'/>",
         "'ratio' of <coupling> takes 2 values, one for each joint of 'to', got 1");
  refuse("<coupling joint='sun' to='ring arm' ratio='1 2 3'/>", "takes 2 values, got 3");
  refuse("<coupling joint='sun' to='ring arm ring'/>", "joint 'ring' is in 'to' twice");
  refuse("<coupling joint='sun' to='ring sun'/>", "joint 'sun' cannot be coupled to itself");
  refuse("<coupling joint='sun' to='ring ball'/>", "ties joints with one coordinate; 'ball' has 4");
  refuse("<rack/>", "gears and racks in mesh are <gear");
}

TEST(elements_built_in_c_that_lack_names_are_refused) {
  static const char* const blank[] = {NULL, " "};
  for (int k = 0; k < 4; k++) {
    srSpec* spec = srs_create();
    srMessages* messages = sr_messages_create();
    srModel* m = NULL;
    const srAttr names = blank[k % 2] ? sr_text(blank[k % 2]) : (srAttr){0};
    const int body = srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("a")});
    srs_add_joint(spec, body, &(srJointDef){.type = sr_text("revolute")});
    srs_add_inertial(spec, body, &(srInertialDef){.mass = sr_number(1), .inertia = SR_NUMBERS(1, 1, 1)});
    if (k < 2) {
      srs_add_coupling(spec, SR_NO_OWNER, &(srCouplingDef){.joint = sr_text("a"), .to = names});
    } else {
      srs_add_gear(spec, SR_NO_OWNER, &(srGearDef){.members = names, .teeth = SR_NUMBERS(1, 2)});
    }
    ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_INPUT);
    ENSURE_EQUAL(sr_messages_errors(messages), 1);
    sr_messages_destroy(messages);
    srs_destroy(spec);
  }
}

// In a chain of joints about one axis a member may be some way from the carrier, but not any.
TEST(paths_of_gears_are_bounded) {
  static const int counts[] = {63, 64};
  for (int k = 0; k < 2; k++) {
    char text[1000];
    Bench b;
    snprintf(text, sizeof text,
             "<sarrus version='1'>" SHAFT("link0", "", "1", "v='1'") SHAFT("other", "", "1", "")
             "<repeat count='%d' index='i' from='1'><body name='link{i}' parent='link{i-1}'><joint type='revolute' v='1'/>"
             "<inertial mass='1' inertia='1 1 1'/></body></repeat>"
             "<gear members='link%d other' teeth='10 -10' carrier='ground'/></sarrus>",
             counts[k], counts[k]);
    const srStatus status = open_text(text, SR_FORMULATION_RELATIVE, &b);
    ENSURE_EQUAL(status, k == 0 ? SR_OK : SR_INPUT);
    if (k == 0) ENSURE_EQUAL(b.m->coupling[0].n, 65);
    if (k == 1) ENSURE(strstr(said, "more than 64 joints between 'link64' and its carrier 'ground'") != NULL);
    unload(&b);
  }
}

TEST(a_joint_whose_name_has_blanks_is_one_leader) {
  Bench b = load(
      "<sarrus version='1'><body name='left arm'><joint type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>"
      "<body name='right arm'><joint type='revolute' v='2'/><inertial mass='1' inertia='1 1 1'/></body>"
      "<body name='c'><joint type='revolute'/><inertial mass='1' inertia='1 1 1'/></body>"
      "<coupling joint='left arm' to='right arm' ratio='-1'/><coupling joint='c' to='left arm, right arm'/></sarrus>",
      SR_FORMULATION_RELATIVE);
  ENSURE_EQUAL(b.m->coupling[0].n, 2);
  ENSURE_EQUAL(b.m->coupling[1].n, 3);
  ENSURE_NEAR(v_of(&b, "left arm"), -2, 1e-14);
  unload(&b);
}

TEST(gears_are_kept_by_their_own_format_and_reported_lost_by_others) {
  static const char* const formats[] = {"sarrus", "mjcf", "urdf"};
  Bench b = load(DOCUMENT(SHAFTS("", "", "") "<gear name='g' members='sun ring' teeth='20 -52' carrier='arm'/>"
                                             "<coupling name='k' joint='arm' to='sun ring' ratio='20/72 52/72'/>"),
                 SR_FORMULATION_RELATIVE);
  for (int i = 0; i < 3; i++) {
    srConversion* out = NULL;
    ENSURE_EQUAL(sr_convert(b.spec, formats[i], NULL, NULL, &out), SR_OK);
    int lost = 0;
    for (int k = 0; k < out->nlost; k++) {
      lost += strstr(out->lost[k].what, "<gear> 'g'") != NULL || strstr(out->lost[k].what, "<coupling> 'k'") != NULL;
    }
    ENSURE_EQUAL(lost > 0, i > 0);
    ENSURE_EQUAL(strstr(out->text, "members=\"sun ring\"") != NULL, i == 0);
    ENSURE_EQUAL(strstr(out->text, "to=\"sun ring\"") != NULL, i == 0);
    sr_conversion_destroy(out);
  }
  unload(&b);
}
