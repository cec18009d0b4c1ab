// Bushings with full matrices and preload: closed forms of equilibrium and of natural frequencies, energy, dissipated power, both formulations, refusals.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "messages.h"
#include "runner.h"

static srRunResult run(Bench* b, const char* method, double t_end, double rtol) {
  srRunOptions options = sr_run_options(b->m);
  srRunResult result;
  options.method = method;
  options.t_end = t_end;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  ENSURE_EQUAL(sr_run(b->m, b->d, &options, NULL, &result), SR_OK);
  return result;
}

// K = L L^T with whole numbers L, so are these; C likewise.
#define K_UPPER "4 4 -2 2 -4 -2  20 -2 10 0 2  17 -9 2 9  25 8 5  13 9  20"
#define K_FULL "4 4 -2 2 -4 -2  4 20 -2 10 0 2  -2 -2 17 -9 2 9  2 10 -9 25 8 5  -4 0 2 8 13 9  -2 2 9 5 9 20"
#define C_UPPER "16 -4 -4 -8 -8 8  5 5 -2 2 0  14 -5 -4 3  25 6 -3  17 0  20"

static const double K[6][6] = {{4, 4, -2, 2, -4, -2}, {4, 20, -2, 10, 0, 2}, {-2, -2, 17, -9, 2, 9},
                               {2, 10, -9, 25, 8, 5}, {-4, 0, 2, 8, 13, 9},  {-2, 2, 9, 5, 9, 20}};
static const double C[6][6] = {{16, -4, -4, -8, -8, 8}, {-4, 5, 5, -2, 2, 0},  {-4, 5, 14, -5, -4, 3},
                               {-8, -2, -5, 25, 6, -3}, {-8, 2, -4, 6, 17, 0}, {8, 0, 3, -3, 0, 20}};

// A cantilever of length l seen at its end, bending in the plane x y: rotation about z and displacement along y, coupled,
//   K = EI/l^3 [[4 l^2, -6 l], [-6 l, 12]],   compliance [[l/EI, l^2/2EI], [l^2/2EI, l^3/3EI]]
// With EI = 10, l = 0.5: a force F gives the deflection F l^3/3EI and the rotation F l^2/2EI.
#define CANTILEVER(inertia, q, part)                                                                                   \
  "<sarrus version='1'><option gravity='0 0 0'/><parameter name='EI' value='10'/><parameter name='l' value='0.5'/>"    \
  "<body name='end'><joint type='planar' axis='0 0 1' q='" q "'/><inertial mass='2' inertia='1 1 " inertia             \
  "'/></body>"                                                                                                         \
  "<bushing name='beam' a='ground' b='end' stiffness='100 0 0 0 0 0  100 0 0 0 0  4*EI/l 0 -6*EI/l^2 0  1000 0 0 "     \
  "12*EI/l^3 0  100' " part "</sarrus>"

TEST(a_cantilever_as_a_bushing_deflects_and_turns_under_a_force_at_its_end) {
  const double F = 3, deflection = F * 0.125 / 30, turn = F * 0.25 / 20;
  BOTH(formulation) {
    char text[1500];
    snprintf(text, sizeof text, CANTILEVER("0.01", "0 %.17g %.17g", "/><force body='end' f='0 %g 0'/>"), deflection,
             turn, F);
    Bench b = load(text, formulation);
    ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
    for (int i = 0; i < b.m->nv; i++) ENSURE_SMALL(b.d->a[i], 1e-10);  // of 3 N on 2 kg
    ENSURE(sr_evaluate(b.m, b.d, 0, NULL, NULL, NULL, SR_STAGE_VELOCITY) == 0);
    double kinetic, potential;
    sr_energy(b.m, b.d, &kinetic, &potential);
    ENSURE_NEAR(potential, 0.5 * F * deflection, 1e-14);  // work of a force that grows with the deflection
    unload(&b);
  }
}

// The preload takes the place of the force. Its energy is -F y.
TEST(the_preload_of_a_bushing_is_the_force_where_its_frames_coincide) {
  const double F = 3, deflection = F * 0.125 / 30, turn = F * 0.25 / 20;
  char text[1500];
  Bench b = load(CANTILEVER("0.01", "0 0 0", "preload='0 0 0.4 0 3 0'/>"), SR_FORMULATION_RELATIVE);
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->a[1], F / 2, 1e-13);
  ENSURE_NEAR(b.d->a[2], 0.4 / 0.01, 1e-11);
  unload(&b);
  snprintf(text, sizeof text, CANTILEVER("0.01", "0 %.17g %.17g", "preload='0 0 0 0 3 0'/>"), deflection, turn);
  b = load(text, SR_FORMULATION_RELATIVE);
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < b.m->nv; i++) ENSURE_SMALL(b.d->a[i], 1e-10);
  double kinetic, potential;
  sr_energy(b.m, b.d, &kinetic, &potential);
  ENSURE_NEAR(potential, 0.5 * F * deflection - F * deflection, 1e-14);
  unload(&b);
}

// (K - w^2 M) (turn, y) = 0 with M = diag(I, m): the two roots, and motion along each of their shapes.
TEST(a_cantilever_with_a_mass_at_its_end_has_the_two_frequencies_of_the_coupled_matrix) {
  const double I = 0.25, m = 2, a = 4 * 10 / 0.5, c = -6 * 10 / 0.25, e = 12 * 10 / 0.125;
  const double p = a / I + e / m, q = (a * e - c * c) / (I * m);
  static const char* const methods[] = {"dopri5", "radau5", "genalpha-index3"};
  BOTH(formulation) {
    for (int k = 0; k < 2; k++) {
      const double w = sqrt(0.5 * (p + (k ? 1 : -1) * sqrt(p * p - 4 * q))), y = 1e-5, turn = -c * y / (a - w * w * I);
      char text[1500];
      snprintf(text, sizeof text, CANTILEVER("0.25", "0 %.17g %.17g", "/>"), y, turn);
      for (int i = 0; i < (formulation == SR_FORMULATION_RELATIVE ? 3 : 1); i++) {
        Bench b = load(text, formulation);
        const double t = 2.3 / w;
        (void)run(&b, methods[i], t, i == 2 ? 1e-7 : 1e-10);
        ENSURE_NEAR(b.d->jq[1] / y, cos(w * t), i == 2 ? 1e-3 : 1e-7);
        ENSURE_NEAR(b.d->jq[2] / turn, cos(w * t), i == 2 ? 1e-3 : 1e-7);
        unload(&b);
      }
    }
  }
}

#define PAIR(part)                                                                                                     \
  "<sarrus version='1'><option gravity='0 0 0'/>"                                                                      \
  "<body name='a'><joint type='free' v='0.3 2 0.1 0.2 0 0'/><inertial mass='1' com='0.1 0 0' inertia='1 2 2.5'/>"      \
  "<point name='p' at='0.3 0.1 0' rpy='1 2 3'/></body>"                                                                \
  "<body name='b'><joint type='free' q='0.6 0.5 0.2 1 0 0 0' v='0 -1 0 0 0.5 0'/><inertial mass='2' inertia='2 3 4'/>" \
  "<point name='p' at='0 0.2 0.4' rpy='1 2 3'/></body>"                                                                \
  "<bushing a='a/p' b='b/p' " part "/></sarrus>"

// Of nothing but its energy: an asymmetric index, or a moment that is not the gradient, shows at large rotation.
TEST(a_bushing_with_a_full_matrix_and_preload_conserves_energy_and_momentum_at_large_rotation) {
  Bench b = load(PAIR("stiffness='" K_FULL "' preload='0.3 -0.2 0.5 1 2 -1'"), SR_FORMULATION_RELATIVE);
  double before[6], after[6];
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  sr_momentum(b.m, b.d, before, NULL, NULL);
  const srRunResult result = run(&b, "dopri5", 8, 1e-11);
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  sr_momentum(b.m, b.d, after, NULL, NULL);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-9);
  for (int i = 0; i < SR_ACCOUNTS; i++) ENSURE(result.energy.work[i] == 0.0);
  for (int i = 0; i < 6; i++) ENSURE_NEAR(after[i], before[i], 1e-9);
  unload(&b);
}

TEST(full_damping_of_a_bushing_is_booked_as_dissipated_and_closes_the_energy_balance) {
  Bench b = load(PAIR("stiffness='" K_UPPER "' damping='" C_UPPER "' preload='0.3 -0.2 0.5 1 2 -1'"),
                 SR_FORMULATION_RELATIVE);
  const srRunResult result = run(&b, "dopri5", 2, 1e-10);
  ENSURE(result.energy.work[SR_ACCOUNT_DISSIPATED] < -0.1);
  ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-8);
  unload(&b);
}

// A free body on the ground where both frames coincide: f = F0 - C x', power -x' . C x'. Displaced: f = F0 - K x.
TEST(entries_of_the_matrices_couple_the_directions_that_they_name) {
  static const double v[6] = {0.3, -0.7, 0.2, 1.1, -0.4, 0.9}, F0[6] = {1, 2, 3, 4, 5, 6};
  static const char* const forms[] = {K_UPPER, K_FULL};
  for (int form = 0; form < 2; form++) {
    char text[1500];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/><body name='m'><joint type='free'/><inertial mass='1' "
             "inertia='1 1 1'/></body><bushing a='ground' b='m' stiffness='%s' damping='" C_UPPER
             "' preload='1 2 3 4 5 6'/></sarrus>",
             forms[form]);
    Bench b = load(text, SR_FORMULATION_RELATIVE);
    double power = 0;
    memcpy(b.d->v, v, sizeof v);
    b.d->stage = SR_STAGE_NONE;
    ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
    for (int i = 0; i < 6; i++) {
      double want = F0[i];
      for (int j = 0; j < 6; j++) {
        want -= C[i][j] * v[j];
        power += v[i] * C[i][j] * v[j];
      }
      ENSURE_NEAR(b.d->f[i], want, 1e-13);
    }
    ENSURE_NEAR(b.d->power[SR_ACCOUNT_DISSIPATED], -power, 1e-12);
    memset(b.d->v, 0, sizeof v);
    for (int j = 0; j < 3; j++) {
      memset(b.d->q, 0, 3 * sizeof(double));
      b.d->q[j] = 0.25;
      b.d->stage = SR_STAGE_NONE;
      ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
      for (int i = 0; i < 6; i++) ENSURE_NEAR(b.d->f[i], F0[i] - K[i][3 + j] * 0.25, 1e-13);
    }
    unload(&b);
  }
}

TEST(a_diagonal_matrix_is_the_six_numbers) {
  static const char* const forms[] = {
      "stiffness='1 20 5 40 50 10' damping='0.1 0.2 0.3 1 2 3'",
      "stiffness='1 0 0 0 0 0  20 0 0 0 0  5 0 0 0  40 0 0  50 0  10' damping='0.1 0.2 0.3 1 2 3'",
      "stiffness='1 20 5 40 50 10' damping='0.1 0.2 0.3 1 2 3' preload='0 0 0 0 0 0'"};
  double f[3][12];
  for (int k = 0; k < 3; k++) {
    char text[1500];
    snprintf(text, sizeof text, PAIR("%s"), forms[k]);
    Bench b = load(text, SR_FORMULATION_RELATIVE);
    ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
    memcpy(f[k], b.d->f, sizeof f[k]);
    for (int i = 0; i < 12; i++) ENSURE_NEAR(f[k][i], f[0][i], 1e-13);
    unload(&b);
  }
}

TEST(relative_and_absolute_agree_on_a_bushing_with_full_matrices) {
  double end[2][14];
  BOTH(formulation) {
    Bench b = load(
        "<sarrus version='1'><body name='arm'><joint type='revolute' axis='0 1 0' v='2'/><inertial mass='1' com='0.3 0 "
        "0' "
        "inertia='0.1 0.1 0.1'/><point name='p' at='0.5 0 0.1' rpy='0.4 0.2 -0.3'/></body>"
        "<body name='load' parent='ground'><joint type='free' q='0.6 0.1 0.1 1 0 0 0'/><inertial mass='2' inertia='0.3 "
        "0.2 "
        "0.25'/></body><bushing a='arm/p' b='load' stiffness='" K_UPPER "' damping='" C_UPPER
        "' preload='0.3 -0.2 0.5 1 2 -1'/></sarrus>",
        formulation);
    const srRunResult result = run(&b, formulation == SR_FORMULATION_RELATIVE ? "radau5" : "hem5", 0.5, 1e-9);
    ENSURE_SMALL(result.energy.residual / result.energy.scale, 1e-6);
    memcpy(end[formulation], b.d->jq, 8 * sizeof(double));
    unload(&b);
  }
  for (int i = 0; i < 8; i++) ENSURE_NEAR(end[0][i], end[1][i], 1e-7);
}

static void refuse(const char* attributes, const char* words) {
  char text[1500];
  Bench b;
  snprintf(text, sizeof text,
           "<sarrus version='1'>\n<body name='a'><inertial mass='1' inertia='1 1 1'/></body>\n"
           "<bushing a='a' b='ground' %s/></sarrus>",
           attributes);
  ENSURE(open_text(text, SR_FORMULATION_RELATIVE, &b) == SR_INPUT);
  if (!strstr(said, words)) printf("expected '%s' in: %s\n", words, said);
  ENSURE(strstr(said, words) != NULL);
  unload(&b);
}

TEST(matrices_of_bushings_that_would_supply_energy_are_refused_at_their_place) {
  refuse("stiffness='1 1 1 1 1'", "test:3:38: error: 'stiffness' of <bushing> takes 6, 21 or 36 values, got 5");
  refuse(
      "stiffness='4 4 -2 2 -4 -2  4 20 -2 10 0 2  -2 -2 17 -9 2 9  2 10 -9 25 8 5  -4 0 2 8.1 13 9  -2 2 9 5 9 20'",
      "test:3:38: error: 'stiffness' of <bushing> must be symmetric: entry 5 of row 4 is 8, entry 4 of row 5 is 8.1");
  refuse("stiffness='" K_UPPER "' damping='1 0 0 0 0 0  1 0 0 0 0  1 0 0 0  1 0 2  1 0  1'",
         "'damping' of <bushing> must be positive semidefinite");
  refuse("stiffness='0 1 0 0 0 0  1 0 0 0 0  1 0 0 0  1 0 0  1 0  1'", "must be positive semidefinite");
  refuse("stiffness='1 0 0 0 0 0  1 0 0 0 0  1 0 0 0  -3 0 0  1 0  1'", "must not be negative, got -3");
  refuse("stiffness='1e-10 0 0 2e-5 0 0  1 0 0 0 0  1 0 0 0  1 0 0  1 0  1'", "must be positive semidefinite");
  refuse("stiffness='1 1 1 1 1 1' preload='1 2 3'", "'preload' of <bushing> takes 6 values, got 3");
}

// Rounded to few digits a matrix of less than full rank is neither quite symmetric nor quite semidefinite.
TEST(a_singular_matrix_with_rounded_entries_is_accepted) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><inertial mass='1' inertia='1 1 1'/></body><bushing a='ground' b='a' "
      "stiffness='"
      "1e8/3 0 0 0 1e5/3 0  0 0 0 0 0 0  0 0 0 0 0 0  0 0 0 7 0 0  33333.3333333334 0 0 0 1e2/3 0  0 0 0 0 0 "
      "0'/></sarrus>",
      SR_FORMULATION_RELATIVE);
  unload(&b);
}
