// The shipped models against values that do not come from this program: closed forms, published solutions, and textbook
// equations integrated here by a Runge-Kutta of a few lines.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>

#include "loading.h"
#include "runner.h"

static const double pi = 3.14159265358979323846;
static const double g = 9.81;

static void run_to(Loaded* x, double t_end, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.method = "dopri5";
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
  ENSURE(x->result.t == t_end);
}

// The classic fourth-order Runge-Kutta, for reference solutions.
typedef void (*Rates)(double t, const double* x, double* rate);
static void reference(Rates rates, int n, double* x, double t_end, int steps) {
  enum { MAX = 8 };
  double k[4][MAX], stage[MAX];
  const double h = t_end / steps;
  for (int s = 0; s < steps; s++) {
    for (int r = 0; r < 4; r++) {
      const double c = r == 0 ? 0 : r == 3 ? h : h / 2;
      for (int i = 0; i < n; i++) stage[i] = x[i] + (r ? c * k[r - 1][i] : 0);
      rates(s * h + c, stage, k[r]);
    }
    for (int i = 0; i < n; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

// ------------------------------------------------------------------------------------------------------------ pendulum
// IFToMM benchmark A01: Taylor series with 22 digits.
TEST(pendulum_agrees_with_the_iftomm_benchmark_after_ten_seconds) {
  Loaded x = open_model("pendulum", "l=1");
  run_to(&x, 10, 1e-12);
  const srFrameMotion p = sensor(&x, "P1");
  ENSURE_NEAR(p.position[0], -0.27508746257611685693, 1e-8);
  ENSURE_SMALL(p.position[1], 1e-15);
  ENSURE_NEAR(p.position[2], -0.96141920509912506516, 1e-8);
  ENSURE_SMALL(energy_residual(&x), 1e-9);
  close_model(&x);
}

static double agm(double a, double b) {  // arithmetic-geometric mean
  while (fabs(a - b) > 1e-15 * a) {
    const double mean = (a + b) / 2;
    b = sqrt(a * b);
    a = mean;
  }
  return a;
}

// T = 4 K(sin(theta0/2)) sqrt(l/g),  K(k) = pi / (2 agm(1, sqrt(1 - k^2)))
TEST(pendulum_is_back_after_the_period_of_the_elliptic_integral) {
  Loaded x = open_model("pendulum", "theta0=2.5 l=0.7");
  const double period = 2 * pi * sqrt(0.7 / g) / agm(1, cos(1.25));
  run_to(&x, period, 1e-12);
  ENSURE_NEAR(x.d->q[0], 2.5, 1e-9);
  ENSURE_SMALL(x.d->v[0], 1e-8);
  close_model(&x);
}

// ----------------------------------------------------------------------------------------------------- double pendulum
// Lagrange's equations of two uniform rods (1 kg, 1 m) in the angles from the vertical.
static void two_rods(double t, const double* x, double* rate) {
  (void)t;
  const double c = cos(x[0] - x[1]), s = sin(x[0] - x[1]);
  const double a = 4.0 / 3, b = c / 2, d = 1.0 / 3;
  const double r1 = -s / 2 * x[3] * x[3] - 1.5 * g * sin(x[0]);
  const double r2 = +s / 2 * x[2] * x[2] - 0.5 * g * sin(x[1]);
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = (d * r1 - b * r2) / (a * d - b * b);
  rate[3] = (a * r2 - b * r1) / (a * d - b * b);
}

TEST(double_pendulum_follows_the_textbook_equations) {
  Loaded x = open_model("double-pendulum", "angle1=2");
  double y[4] = {2, 2.5, 0, 0};
  reference(two_rods, 4, y, 2, 20000);
  run_to(&x, 2, 1e-12);
  ENSURE_NEAR(x.d->q[0], y[0], 1e-9);
  ENSURE_NEAR(x.d->q[0] + x.d->q[1], y[1], 1e-9);
  ENSURE_NEAR(x.d->v[0], y[2], 1e-8);
  ENSURE_NEAR(x.d->v[0] + x.d->v[1], y[3], 1e-8);
  ENSURE_SMALL(energy_residual(&x), 1e-10);
  close_model(&x);
}

// Small angles: lambda = (3 -+ 6/sqrt(7)) g/l, from det(K - lambda M) = 0 with M = [4/3 1/2; 1/2 1/3] and
// K = g/l [3/2 0; 0 1/2].
TEST(double_pendulum_has_the_two_frequencies_of_small_angles) {
  Loaded x = open_model("double-pendulum", "angle1=0");
  for (int sign = -1; sign <= 1; sign += 2) {
    const double lambda = 3 + sign * 6 / sqrt(7), e = 1e-5;
    const double phi2 = (1.5 - 4.0 / 3 * lambda) / (lambda / 2);
    x.d->q[0] = e;
    x.d->q[1] = e * (phi2 - 1);
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    for (int i = 0; i < 2; i++) ENSURE_NEAR(x.d->a[i], -lambda * g * x.d->q[i], 1e-8 * lambda * g * e);
  }
  close_model(&x);
}

// ----------------------------------------------------------------------------------------------------- spring pendulum
static void bob_on_spring(double t, const double* x, double* rate) {
  (void)t;
  const double r = hypot(x[0], x[1]), k = 3 * g, pull = k * (r - 1) / r;
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = -pull * x[0];
  rate[3] = -pull * x[1] - g;
}

TEST(spring_pendulum_moves_as_a_point_in_a_plane) {
  Loaded x = open_model("spring-pendulum", "m=1");
  double y[4] = {0.02, -1 - 1.0 / 3 - 0.2, 0, 0};
  reference(bob_on_spring, 4, y, 6, 60000);
  run_to(&x, 6, 1e-12);
  for (int i = 0; i < 2; i++) {
    ENSURE_NEAR(x.d->q[i], y[i], 1e-9);
    ENSURE_NEAR(x.d->v[i], y[2 + i], 1e-9);
  }
  ENSURE_SMALL(x.result.energy.residual, 1e-9);
  close_model(&x);
}

TEST(spring_pendulum_without_swing_bounces_as_a_cosine) {
  Loaded x = open_model("spring-pendulum", "dx=0 m=2");
  run_to(&x, 5, 1e-12);
  ENSURE_NEAR(x.d->q[1], -4.0 / 3 - 0.2 * cos(sqrt(3 * g) * 5), 1e-10);
  close_model(&x);
}

// ----------------------------------------------------------------------------------------------------------------- top
TEST(top_precesses_steadily_at_the_speed_of_the_closed_form) {
  Loaded x = open_model("top", "Omega=5");
  const double theta = 0.5, r = 0.2;
  for (int k = 1; k <= 3; k++) {
    const double t = 0.3 * k;
    run_to(&x, t, 1e-12);
    const srFrameMotion nose = sensor(&x, "nose");
    ENSURE_NEAR(nose.position[0], r * sin(theta) * cos(5 * t), 1e-9);
    ENSURE_NEAR(nose.position[1], r * sin(theta) * sin(5 * t), 1e-9);
    ENSURE_NEAR(nose.position[2], r * cos(theta), 1e-9);
  }
  close_model(&x);
}

// ----------------------------------------------------------------------------------------------------------- free body
// Landau and Lifshitz, section 37, for L^2 < 2 E I2:  w2 ~ sn, w3 ~ cn, w1 ~ dn of  s t + K.
//   s^2 = (I2-I1)(2 E I3 - L^2)/(I1 I2 I3),  k^2 = (I3-I2)(L^2 - 2 E I1)/((I2-I1)(2 E I3 - L^2))
TEST(free_body_flips_after_the_time_of_the_elliptic_integral) {
  Loaded x = open_model("free-body", "disturbance=0.01");
  const double I1 = 1, I2 = 2, I3 = 3, w1 = 0.01, w2 = 6;
  const double E2 = I1 * w1 * w1 + I2 * w2 * w2, LL = I1 * I1 * w1 * w1 + I2 * I2 * w2 * w2;
  const double s = sqrt((I2 - I1) * (E2 * I3 - LL) / (I1 * I2 * I3));
  const double kk = (I3 - I2) * (LL - E2 * I1) / ((I2 - I1) * (E2 * I3 - LL));
  const double K = pi / (2 * agm(1, sqrt(1 - kk)));
  run_to(&x, 2 * K / s, 1e-12);
  ENSURE_NEAR(x.d->v[0], w1, 1e-7);
  ENSURE_NEAR(x.d->v[1], -w2, 1e-7);
  ENSURE_SMALL(x.d->v[2], 1e-6);  // it passes zero here, fast compared with the others
  ENSURE_NEAR(x.d->q[0], 0.1 * 2 * K / s, 1e-9);
  close_model(&x);
}

// ------------------------------------------------------------------------------------------------------------ DC motor
// x' = A x + b:  x(t) = x8 - exp(A t) x8,  exp(A t) = e^(s t) (cosh(r t) I + sinh(r t)/r (A - s I)),  s = tr A/2,
// r^2 = s^2 - det A
TEST(dc_motor_follows_the_exact_solution_of_the_linear_system) {
  Loaded x = open_model("dc-motor", "u=24");
  const double u = 24, R = 1.2, L = 0.01, kt = 0.08, J = 0.0021, d = 1e-4, t = 0.05;
  const double A[4] = {-R / L, -kt / L, kt / J, -d / J};
  const double det = A[0] * A[3] - A[1] * A[2], s = (A[0] + A[3]) / 2, r = sqrt(s * s - det);
  const double i8 = u * d / (R * d + kt * kt), w8 = u * kt / (R * d + kt * kt);
  const double C = exp(s * t) * cosh(r * t), S = exp(s * t) * sinh(r * t) / r;
  const double current = i8 - (C * i8 + S * ((A[0] - s) * i8 + A[1] * w8));
  const double speed = w8 - (C * w8 + S * (A[2] * i8 + (A[3] - s) * w8));
  run_to(&x, t, 1e-12);
  ENSURE_NEAR(x.d->y[0], current, 1e-9);
  ENSURE_NEAR(x.d->v[0], speed, 1e-9);
  ENSURE_NEAR(x.result.energy.kinetic, 0.5 * J * speed * speed, 1e-9);
  ENSURE_SMALL(energy_residual(&x), 1e-8);
  close_model(&x);
}

// ----------------------------------------------------------------------------------------------------------- cart-pole
// Textbook equations; x = place, angle, their rates, integral.
static void cart_and_pole(double t, const double* x, double* rate) {
  (void)t;
  const double mc = 1, mp = 0.1, h = 0.5, s = sin(x[1]), c = cos(x[1]);
  const double demand = 17 * x[0] + 8 * x[4] + 15 * x[2] + 80 * x[1] + 20 * x[3];
  const double a = mc + mp, b = mp * h * c, d = 4.0 / 3 * mp * h * h;
  const double r1 = fmax(-20, fmin(20, demand)) + 1 - 0.1 * x[2] + mp * h * s * x[3] * x[3];
  const double r2 = mp * g * h * s - 0.001 * x[3];
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = (d * r1 - b * r2) / (a * d - b * b);
  rate[3] = (a * r2 - b * r1) / (a * d - b * b);
  rate[4] = x[0];
}

TEST(cart_pole_follows_the_textbook_equations) {
  Loaded x = open_model("cart-pole", "push=1");
  double y[5] = {0, 0.15, 0, 0, 0};
  reference(cart_and_pole, 5, y, 3, 30000);
  run_to(&x, 3, 1e-11);
  for (int i = 0; i < 2; i++) {
    ENSURE_NEAR(x.d->q[i], y[i], 1e-8);
    ENSURE_NEAR(x.d->v[i], y[2 + i], 1e-8);
  }
  ENSURE_NEAR(x.d->y[0], y[4], 1e-8);
  close_model(&x);
}

TEST(cart_pole_comes_to_rest_with_the_integral_against_the_push) {
  Loaded x = open_model("cart-pole", "push=1");
  run_to(&x, 20, 1e-9);
  ENSURE_SMALL(x.d->q[0], 1e-6);
  ENSURE_SMALL(x.d->q[1], 1e-6);
  ENSURE_NEAR(x.d->y[0], -1.0 / 8, 1e-6);
  close_model(&x);
}

// -------------------------------------------------------------------------------------------------------------- chains
// The first mode of a hanging rope is J0(j sqrt(1 - z/l)), j = 2.404825557695773 its first zero, lambda = j^2 g/(4 l).
// A chain of N rods in that shape accelerates by -lambda times the shape, up to terms in 1/N.
static double bessel_j1(double x) {  // series; x is small here
  double term = x / 2, sum = term;
  for (int k = 1; k < 30; k++) sum += term *= -x * x / 4 / (k * (k + 1));
  return sum;
}

TEST(planar_chain_of_many_links_swings_as_the_hanging_rope) {
  enum { N = 400 };
  Loaded x = open_model("chain-planar", "N=400 angle=0");
  const double zero = 2.404825557695773, lambda = zero * zero * g / 4, e = 1e-6;
  double before = 0;
  for (int i = 0; i < N; i++) {  // slopes of the shape at the middle of the links
    const double u = sqrt(1 - (i + 0.5) / N);
    const double slope = e * bessel_j1(zero * u) * zero / (2 * u);
    x.d->q[i] = slope - before;
    before = slope;
  }
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  sr_acceleration(x.m, x.d);
  const srFrameMotion tip = sensor(&x, "tip");
  ENSURE_NEAR(fabs(tip.position[0]), e, 0.01 * e);
  ENSURE_NEAR(tip.acceleration[0], -lambda * tip.position[0], 0.01 * lambda * e);
  ENSURE_EQUAL(x.m->nv, N);
  close_model(&x);
}

TEST(planar_chain_conserves_energy) {
  Loaded x = open_model("chain-planar", "N=6");
  run_to(&x, 1, 1e-11);
  const srEnergy* e = &x.result.energy;
  ENSURE_SMALL(e->kinetic + e->potential - e->kinetic0 - e->potential0, 1e-8);
  ENSURE(e->kinetic > 0.1);
  close_model(&x);
}

// One bar alone is a compound pendulum about each of its two axes:  lambda = m g l/2 / (I + m l^2/4).
TEST(spatial_chain_of_one_bar_is_a_compound_pendulum_about_both_axes) {
  Loaded x = open_model("chain-spatial", "N=1");
  const double edge[2] = {0.01, 0.02}, l = 0.1, e = 1e-5;  // b is across the first axis, a across the second
  for (int i = 0; i < 2; i++) {
    const double lambda = g * l / 2 / ((edge[i] * edge[i] + l * l) / 12 + l * l / 4);
    x.d->q[i] = e;
    x.d->q[1 - i] = x.d->v[0] = x.d->v[1] = 0;
    ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
    ENSURE_NEAR(x.d->a[i], -lambda * e, 1e-8 * lambda * e);
    ENSURE_SMALL(x.d->a[1 - i], 1e-8 * lambda * e);
  }
  close_model(&x);
}

TEST(spatial_chain_has_the_mass_of_its_boxes_and_balances_its_energy) {
  Loaded x = open_model("chain-spatial", "N=5");
  double momentum[8], mass, com[4];
  sr_kinematics(x.m, x.d);
  sr_velocity(x.m, x.d);
  sr_momentum(x.m, x.d, momentum, &mass, com);
  ENSURE_NEAR(mass, 5 * 2700 * 0.02 * 0.01 * 0.1, 1e-12);
  run_to(&x, 1, 1e-11);
  const srEnergy* e = &x.result.energy;
  ENSURE_SMALL(energy_residual(&x), 1e-8);
  ENSURE(e->work[SR_ACCOUNT_DISSIPATED] < 0);
  ENSURE_NEAR(e->kinetic + e->potential - e->kinetic0 - e->potential0, e->work[SR_ACCOUNT_DISSIPATED], 1e-8);
  close_model(&x);
}

// ---------------------------------------------------------------------------------------------------------------- tree
// Accelerations by articulated bodies, M and c by the other two recursions.
static double equation_residual(const Loaded* x) {
  const int n = x->m->nv;
  double* M = calloc((size_t)(n * n + 2 * n), sizeof *M);
  double *c = M + n * n, *zero = c + n, worst = 0, scale = 0;
  ENSURE_EQUAL(sr_forward(x->m, x->d, SR_TAU_ELEMENT), 0);
  srData* work = sr_data_create(x->m);
  sr_crba(x->m, work, x->d->q, M);
  sr_rnea(x->m, work, x->d->q, x->d->v, zero, c);
  for (int i = 0; i < n; i++) {
    double r = x->m->dof_armature[i] * x->d->a[i] + c[i] - x->d->f[i], s = fabs(c[i]);
    for (int j = 0; j < n; j++) r += M[i * n + j] * x->d->a[j], s += fabs(M[i * n + j] * x->d->a[j]);
    worst = fmax(worst, fabs(r));
    scale = fmax(scale, s);
  }
  sr_data_destroy(work);
  free(M);
  return worst / scale;
}

TEST(tree_has_the_bodies_asked_for_and_satisfies_its_equations) {
  const char* const seeds[] = {"N=40 seed=1", "N=40 seed=2", "N=40 seed=3", "N=40 seed=4"};
  for (int k = 0; k < 4; k++) {
    Loaded x = open_model("tree", seeds[k]);
    // Of ten joints in turn: 1 1 3 1 2 1 2 3 0 6 degrees of freedom.
    ENSURE_EQUAL(x.m->nbody, 41);
    ENSURE_EQUAL(x.m->nv, 4 * 20);
    ENSURE_EQUAL(x.m->nq, 4 * 22);
    for (int i = 1; i <= x.m->nbody; i++) ENSURE(x.m->body_parent[i] < i);
    ENSURE_SMALL(equation_residual(&x), 1e-13);
    close_model(&x);
  }
}

TEST(tree_keeps_the_energy_balance) {
  Loaded x = open_model("tree", "N=12");
  run_to(&x, 0.3, 1e-10);
  ENSURE_SMALL(energy_residual(&x), 1e-8);
  close_model(&x);
}

// ------------------------------------------------------------------------------------------------- arms and humanoid
// At rest, c is the gradient of the weight: with the joints turned one by one, c_i dq is the change of sum(m g h). Then
// energy over a run.
static double height_of_weight(const Loaded* x) {
  double momentum[8], mass, com[4];
  sr_kinematics(x->m, x->d);
  sr_velocity(x->m, x->d);
  sr_momentum(x->m, x->d, momentum, &mass, com);
  return mass * g * com[2];
}

static void check_arm(const char* file, int n, double mass) {
  Loaded x = open_model(file, "damping=0");
  double c[8], zero[8] = {0}, total = 0;
  ENSURE_EQUAL(x.m->nv, n);
  for (int i = 1; i <= n; i++) total += x.m->body_mass[i];
  ENSURE_NEAR(total, mass, 1e-12);
  sr_rnea(x.m, x.d, x.d->q, zero, zero, c);
  for (int i = 0; i < n; i++) {
    const double e = 1e-5, q = x.d->q[i];
    x.d->q[i] = q + e;
    const double above = height_of_weight(&x);
    x.d->q[i] = q - e;
    const double slope = (above - height_of_weight(&x)) / (2 * e);
    x.d->q[i] = q;
    ENSURE_NEAR(c[i], slope, 1e-6);  // of some 100 Nm: differences lose half the digits
  }
  ENSURE_SMALL(equation_residual(&x), 1e-13);
  run_to(&x, 1, 1e-11);
  const srEnergy* e = &x.result.energy;
  ENSURE_SMALL(e->kinetic + e->potential - e->kinetic0 - e->potential0, 1e-7);
  ENSURE(e->kinetic > 1);
  close_model(&x);
}

TEST(arm2_carries_its_weight_and_conserves_energy) { check_arm("paper1/arm2", 2, 9.6 + 6.1); }
TEST(arm4_carries_its_weight_and_conserves_energy) { check_arm("paper1/arm4", 4, 11.8 + 9.6 + 6.1 + 3.4); }
TEST(arm6_carries_its_weight_and_conserves_energy) { check_arm("paper1/arm6", 6, 30.9 + 1.7 + 0.62); }

TEST(humanoid_falls_freely_as_a_whole) {
  Loaded x = open_model("humanoid", "");
  double before[8], after[8], mass, c0[4], c1[4];
  ENSURE_EQUAL(x.m->nv, 38);
  ENSURE_EQUAL(x.m->nbody, 33);
  for (int i = 6; i < x.m->nv; i++) x.d->v[i] = 0.3 * sin(i);
  ENSURE_SMALL(equation_residual(&x), 1e-13);
  sr_momentum(x.m, x.d, before, &mass, c0);
  ENSURE_NEAR(mass, 95.4, 1e-10);
  const double t = 0.3;
  run_to(&x, t, 1e-11);
  sr_momentum(x.m, x.d, after, &mass, c1);
  for (int k = 0; k < 3; k++) {
    const double fall = k == 2 ? -g * t * t / 2 : 0;
    ENSURE_NEAR(c1[k], c0[k] + before[3 + k] / mass * t + fall, 1e-9);
    ENSURE_NEAR(after[3 + k], before[3 + k] - (k == 2 ? mass * g * t : 0), 1e-7);
  }
  close_model(&x);
}
