// Inerters between points: closed forms of motion, tension and energy in both formulations; refusals; what conversion loses.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "messages.h"
#include "runner.h"

// Two masses on a line, F on the first:  m1 a1 + b (a1 - a2) = F,  m2 a2 - b (a1 - a2) = 0.
TEST(an_inerter_shares_a_force_between_two_masses) {
  const double m1 = 2, m2 = 5, b = 3, F = 7, a2 = F * b / (m1 * m2 + b * (m1 + m2)), a1 = a2 * (m2 + b) / b;
  BOTH(formulation) {
    Bench x = load(
        "<sarrus version='1'><body name='one'><joint type='prismatic' axis='1 0 0' q='1.5'/><inertial mass='2' "
        "inertia='1 1 1'/></body><body name='two'><joint type='prismatic' axis='1 0 0'/><inertial mass='5' inertia='1 "
        "1 1'/>"
        "</body><inerter name='in' a='one' b='two' inertance='3'/><torque joint='one' law='7'/></sarrus>",
        formulation);
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
    srFrameMotion one, two;
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, "one"), 0, &one);
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, "two"), 0, &two);
    ENSURE(said[0] == '\0');  // the assembly has moved nothing else
    ENSURE_NEAR(q_of(&x, "in"), 1.5, 1e-14);
    ENSURE_NEAR(one.acceleration[0], a1, 1e-13);
    ENSURE_NEAR(two.acceleration[0], a2, 1e-13);
    if (formulation == SR_FORMULATION_RELATIVE) ENSURE_NEAR(x.d->lambda[0], b * (a1 - a2), 1e-12);  // z'' = a1 - a2
    unload(&x);
  }
}

// A particle on an inerter to the ground, in polar coordinates: (m + b) r'' = m r theta'^2 and m r^2 theta' constant, so that its
// acceleration is -b/(m + b) r theta'^2 along r and 0 across. Here the inerter starts at a point away from the origin of the ground.
TEST(the_term_of_an_inerter_has_its_velocity_part) {
  const double r = 1.3, m = 2, b = 3, across = 0.7;
  BOTH(formulation) {
    Bench x = load(
        "<sarrus version='1'><option gravity='0 0 0'/><ground><point name='p' at='0.4 -0.2 0.1'/></ground><body "
        "name='ball'>"
        "<joint type='free' q='1.7 -0.2 0.1 1 0 0 0' v='0 0 0 0.5 0.7 0'/><inertial mass='2' inertia='1 1 1'/></body>"
        "<inerter name='in' a='ground/p' b='ball' inertance='3'/></sarrus>",
        formulation);
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
    srFrameMotion ball;
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, "ball"), 0, &ball);
    ENSURE(said[0] == '\0');
    ENSURE_NEAR(ball.velocity[0], 0.5, 1e-14);
    ENSURE_NEAR(x.d->jv[x.m->njv - 1], 0.5, 1e-14);
    ENSURE_NEAR(ball.acceleration[0], -b / (m + b) * across * across / r, 1e-13);
    ENSURE_SMALL(ball.acceleration[1], 1e-13);
    ENSURE_SMALL(ball.acceleration[2], 1e-13);
    unload(&x);
  }
}

// x = x0 cos(w t), w^2 = k/(m + b); all energy is kinetic or in the spring.
TEST(an_inerter_lowers_the_frequency_of_a_mass_on_a_spring) {
  const double w = sqrt(300.0 / (2 + 3)), t = 1;
  BOTH(formulation) {
    Bench x = load(
        "<sarrus version='1'><option gravity='0 0 0'/><ground><point name='foot' at='0 0 -1'/></ground><body "
        "name='mass'>"
        "<joint type='prismatic' q='0.1'/><inertial mass='2' inertia='1 1 1'/></body>"
        "<spring a='ground/foot' b='mass' stiffness='300' length='1'/>"
        "<inerter a='ground/foot' b='mass' inertance='3'/></sarrus>",
        formulation);
    srRunOptions options = sr_run_options(x.m);
    options.method = "hem5";
    options.t_end = t;
    options.rtol = 1e-11;
    options.atol = 1e-13;
    srRunResult result;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &result), SR_OK);
    ENSURE_NEAR(q_of(&x, "mass"), 0.1 * cos(w * t), 1e-10);
    ENSURE_NEAR(q_of(&x, "inerter1"), 1 + 0.1 * cos(w * t), 1e-10);
    ENSURE_NEAR(result.energy.kinetic + result.energy.potential, 0.5 * 300 * 0.01, 1e-9);
    for (int i = 0; i < SR_ACCOUNTS; i++) ENSURE_SMALL(result.energy.work[i], 1e-9);
    unload(&x);
  }
}

// Eigenvalues i w of K x = w^2 M x, M = [m1 + b, -b; -b, m2 + b], K = [k1 + k2, -k2; -k2, k2]: det(K - s M) = A s^2 - B s + C.
static void two_mass_frequencies(double m1, double m2, double b, double k1, double k2, double w[2]) {
  const double A = m1 * m2 + b * (m1 + m2), C = k1 * k2;
  const double B = (k1 + k2) * (m2 + b) + k2 * (m1 + b) - 2 * k2 * b, root = sqrt(B * B - 4 * A * C);
  w[0] = sqrt((B - root) / (2 * A));
  w[1] = sqrt((B + root) / (2 * A));
}

static void ensure_frequencies(Bench* x, const double w[2]) {
  srLinear* linear = NULL;
  srModes* modes = NULL;
  ENSURE_EQUAL(sr_linearize(x->m, x->d, NULL, &linear), SR_OK);
  ENSURE_EQUAL(sr_modes_create(linear, NULL, &modes), SR_OK);
  ENSURE_EQUAL(modes->n, 4);
  for (int i = 0; i < 4; i++) {
    ENSURE_SMALL(modes->mode[i].re, 1e-9);
    ENSURE_NEAR(fabs(modes->mode[i].im), w[i / 2], 1e-10 * w[1]);
  }
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
}

static const char two_masses[] =
    "<sarrus version='1'><option gravity='0 0 0'/><ground><point name='p' at='-2 0 0'/></ground><body "
    "name='one'><joint type='prismatic' axis='1 0 0'/>"
    "<inertial mass='2' inertia='1 1 1'/></body><body name='two'><joint type='prismatic' axis='1 0 0' at='1 0 "
    "0'/><inertial mass='5' inertia='1 1 1'/></body>"
    "<spring a='ground/p' b='one' stiffness='300' length='2'/><spring a='one' b='two' stiffness='170' "
    "length='1'/>%s</sarrus>";

// Between the points of two masses, and between their coordinates: the same model, with the frequencies of the closed form; the motion of a push keeps its energy.
TEST(two_masses_with_an_inerter_have_their_frequencies_and_keep_their_energy) {
  static const char* const elements[] = {"<inerter name='in' a='one' b='two' inertance='3'/>",
                                         "<inerter name='in' joint='two' joint2='one' inertance='3'/>"};
  double w[2];
  two_mass_frequencies(2, 5, 3, 300, 170, w);
  BOTH(formulation) {
    for (int i = 0; i < 2; i++) {
      char text[1500];
      snprintf(text, sizeof text, two_masses, elements[i]);
      Bench x = load(text, formulation);
      ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
      ENSURE_NEAR(q_of(&x, "in"), i == 0 ? 1 : 0, 1e-14);
      ensure_frequencies(&x, w);
      unload(&x);
    }
  }
  for (int i = 0; i < 2; i++) {
    char text[1500];
    snprintf(text, sizeof text, two_masses, elements[i]);
    Bench x = load(text, SR_FORMULATION_RELATIVE);
    srRunOptions options = sr_run_options(x.m);
    srRunResult result;
    x.d->v[0] = 2;
    x.d->v[2] = -2;  // z' = v2 - v1
    options.t_end = 2;
    options.rtol = 1e-10;
    options.atol = 1e-12;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &result), SR_OK);
    ENSURE_NEAR(result.energy.kinetic0, 0.5 * (2 + 3) * 4, 1e-12);
    ENSURE_NEAR(result.energy.kinetic + result.energy.potential, 10, 1e-7);
    unload(&x);
  }
}

// Two shafts: (J1 + b) a1 - b a2 = T, (J2 + b) a2 - b a1 = 0.
TEST(an_inerter_between_shafts_couples_their_accelerations) {
  const double J1 = 0.2, J2 = 0.5, b = 0.3, T = 7, D = (J1 + b) * (J2 + b) - b * b;
  BOTH(formulation) {
    Bench x = load(
        "<sarrus version='1'><option gravity='0 0 0'/><body name='one'><joint type='revolute' q='0.4'/><inertial "
        "mass='1' inertia='1 1 0.2'/></body>"
        "<body name='two'><joint name='second' type='revolute' q='9' v='3'/><inertial mass='1' inertia='1 1 "
        "0.5'/></body>"
        "<inerter name='in' joint='one' joint2='second' inertance='0.3'/><torque joint='one' law='7'/></sarrus>",
        formulation);
    double a[3];
    ENSURE_EQUAL(sr_evaluate(x.m, x.d, 0, NULL, NULL, NULL, SR_STAGE_FRAMES), 0);
    sr_joint_accelerations(x.m, x.d, a);
    ENSURE_NEAR(q_of(&x, "in"), 0.4 - 9, 1e-13);
    ENSURE_NEAR(a[0], (J2 + b) * T / D, 1e-11);
    ENSURE_NEAR(a[1], b * T / D, 1e-11);
    ENSURE_NEAR(a[2], (J2 * T) / D, 1e-11);
    unload(&x);
  }
}

static void refuse(const char* part, srFormulation formulation, const char* word) {
  char text[2000];
  Bench b;
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><body name='a'><inertial mass='1' inertia='1 1 1'/><point name='p' at='1 0 0'/></body>%s"
      "</sarrus>",
      part);
  ENSURE(open_text(text, formulation, &b) != SR_OK);
  if (!strstr(said, word)) printf("expected '%s' in: %s\n", word, said);
  ENSURE(strstr(said, word) != NULL);
  unload(&b);
}

TEST(inerters_that_cannot_be_are_refused) {
  const srFormulation relative = SR_FORMULATION_RELATIVE;
  refuse("<inerter a='a/p' b='ground' inertance='-1'/>", relative, "'inertance' of <inerter> must be positive, got -1");
  refuse("<inerter a='a/p' b='ground' inertance='0'/>", relative, "must be positive, got 0");
  refuse("<inerter a='a/p' b='a' inertance='1'/>", relative, "'a/p' and 'a' cannot move against each other");
  refuse("<inerter a='a/p' b='ground'/>", relative, "'inertance'");
  refuse("<inerter a='a/q' b='ground' inertance='1'/>", relative, "unknown point 'a/q'");
  refuse("<inerter name='a' a='a/p' b='ground' inertance='1'/>", relative, "is that of another body");
  refuse("<inerter a='a' b='ground' inertance='1'/>", relative, "inerter1");
  refuse("<inerter inertance='1'/>", relative, "takes two points 'a' and 'b', or two joints");
  refuse("<inerter a='a/p' joint='a' inertance='1'/>", relative, "takes two points 'a' and 'b', or two joints");
  refuse("<inerter joint='a' inertance='1'/>", relative, "takes two points 'a' and 'b', or two joints");
  refuse("<inerter joint='a' joint2='b' inertance='1'/>", relative, "'b'");
  refuse("<state name='y' initial='0' rate='2*a(a)'/>", relative,
         "an acceleration in a law or rate makes an algebraic loop");
  refuse("<torque joint='a' coordinate='0' law='-2*a(a)'/>", relative, "<inerter> or 'armature'");
  refuse("<inerter name='in' a='a/p' b='ground' inertance='1'/><link a='a' b='ground' law='q(in' colour='1'/>",
         relative, "'colour'");
  refuse("<inerter name='in' a='a/p' b='ground' inertance='1'/>", SR_FORMULATION_PENALTY, "body 'in' has no mass");
}

TEST(an_inerter_is_kept_by_its_own_format_and_reported_lost_by_others) {
  static const char* const formats[] = {"sarrus", "mjcf", "urdf"};
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint type='prismatic'/><inertial mass='1' inertia='1 1 1'/><point name='p' "
      "at='1 0 0'/></body><inerter name='in' a='a/p' b='ground' inertance='2'/></sarrus>",
      SR_FORMULATION_RELATIVE);
  for (int i = 0; i < 3; i++) {
    srConversion* out = NULL;
    ENSURE_EQUAL(sr_convert(b.spec, formats[i], NULL, NULL, &out), SR_OK);
    bool lost = false;
    for (int k = 0; k < out->nlost; k++) lost |= strstr(out->lost[k].what, "<inerter> 'in'") != NULL;
    ENSURE_EQUAL(lost, i > 0);
    ENSURE_EQUAL(strstr(out->text, "<inerter") != NULL, i == 0);
    sr_conversion_destroy(out);
  }
  unload(&b);
}
