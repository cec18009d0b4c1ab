// models/vehicles/car.xml: masses and statics by hand, lateral dynamics against the single-track model (Riekert and Schunck 1940) in its limit, ride against the rates at the wheels, steady
// cornering, formulations.
#include <complex.h>
#include <math.h>
#include <sarrus/modes.h>
#include <stdlib.h>

#include "force/force.h"
#include "force/ports.h"
#include "loading.h"

#define CAR "vehicles/car"
static const double pi = 3.14159265358979323846, g = 9.81;
// Parameters of the file.
static const double m = 1500, a = 1.2, b = 1.5, L = 2.7, h = 0.55, Jx = 540, Jy = 2300, Jz = 2500;
static const double C_f = 110e3, C_r = 120e3;  // cornering stiffness of the axles

static Loaded open_car(const char* settings) {
  Loaded x = open_model(CAR, settings);
  srAssembly assembly;
  ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &assembly), SR_OK);
  return x;
}

static void run_car(Loaded* x, double t_end, double rtol) {
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.every = t_end;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  ENSURE_EQUAL(sr_run(x->m, x->d, &options, NULL, &x->result), SR_OK);
}

// Value of a sensor by formula.
static double value(const Loaded* x, const char* name) {
  const int i = sr_sensor_find(x->m, name);
  ENSURE(i >= 0);
  ENSURE_EQUAL(sr_evaluate(x->m, x->d, x->d->t, NULL, NULL, NULL, SR_STAGE_FORCE), 0);
  return x->d->formula[x->m->sensor[i].formula];
}

// ---- the whole car --------------------------------------------------------------------------------------------------------

// The chassis carries everything: its block of the mass matrix is that of the whole car about a point on the road.
TEST(the_whole_car_has_the_given_mass_centre_and_inertia) {
  Loaded x = open_car("h=0.6");
  double* M = malloc(sizeof *M * (size_t)(x.m->nv * x.m->nv));
  sr_crba(x.m, x.d, x.d->q, M);
  const double z = 0.6;
  const double want[6][6] = {{Jx + m * z * z, 0, 0, 0, -m * z, 0},
                             {0, Jy + m * z * z, 0, m * z, 0, 0},
                             {0, 0, Jz},
                             {0, m * z, 0, m, 0, 0},
                             {-m * z, 0, 0, 0, m, 0},
                             {0, 0, 0, 0, 0, m}};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) ENSURE_NEAR(M[i * x.m->nv + j], want[i][j], 1e-9);
  free(M);
  close_model(&x);
}

TEST(the_car_runs_straight_in_its_static_equilibrium) {
  Loaded x = open_car("speed=25 a=1.4 h=0.5 spring_1=40000");
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  for (int i = 0; i < x.m->nv; i++) ENSURE_SMALL(x.d->a[i], 1e-9);  // of forces of 7 kN
  for (int i = 0; i < x.m->ny; i++) ENSURE_SMALL(x.d->ydot[i], 1e-12);
  close_model(&x);
}

// ---- single-track model ---------------------------------------------------------------------------------------------------

typedef struct Found {
  srLinear* l;
  srModes* m;
} Found;

static Found find_modes(Loaded* x) {
  Found f = {0};
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_linearize(x->m, x->d, messages, &f.l);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(sr_modes_create(f.l, messages, &f.m), SR_OK);
  sr_messages_destroy(messages);
  return f;
}

static void drop(Found* f) {
  sr_modes_destroy(f->m);
  sr_linear_destroy(f->l);
}

static double away(const srModes* modes, double complex lambda) {
  double best = HUGE_VAL;
  for (int i = 0; i < modes->n; i++)
    best = fmin(best, cabs(modes->mode[i].re + modes->mode[i].im * (double complex)I - lambda));
  return best;
}

// Relative distance of the nearest natural frequency, the modulus of an eigenvalue.
static double frequency_away(const srModes* modes, double w) {
  double best = HUGE_VAL;
  for (int i = 0; i < modes->n; i++)
    if (modes->mode[i].im > 0) best = fmin(best, fabs(hypot(modes->mode[i].re, modes->mode[i].im) / w - 1));
  return best;
}

// Eigenvalues of v' = -(C_f + C_r)/(m V) v - (V + (a C_f - b C_r)/(m V)) r,  r' = -(a C_f - b C_r)/(J V) v - (a^2 C_f + b^2 C_r)/(J V) r
static double complex single_track(double V, double C_front) {
  const double s = a * C_front - b * C_r;
  const double trace = -(C_front + C_r) / (m * V) - (a * a * C_front + b * b * C_r) / (Jz * V);
  const double det =
      (C_front + C_r) * (a * a * C_front + b * b * C_r) / (m * Jz * V * V) - (V + s / (m * V)) * s / (Jz * V);
  return trace / 2 + csqrt(trace * trace / 4 - det);
}

// With its centre of mass on the road the car does not roll, and without spin inertia and relaxation the tyres act as in the single-track model: what is left goes with Jw.
TEST(the_car_has_the_eigenvalues_of_the_single_track_model_in_its_limit) {
  static const double speeds[] = {10, 20, 45};
  for (int i = 0; i < 3; i++) {
    double error[2];
    for (int k = 0; k < 2; k++) {
      char settings[200];
      snprintf(settings, sizeof settings, "speed=%g relaxation=0 h=0 Jw=%g", speeds[i], k == 0 ? 1e-3 : 1e-4);
      Loaded x = open_car(settings);
      Found f = find_modes(&x);
      error[k] = away(f.m, single_track(speeds[i], C_f));
      drop(&f);
      close_model(&x);
    }
    ENSURE(error[1] < 1e-5);
    ENSURE_NEAR(error[0] / error[1], 10, 0.1);
  }
}

// A car with softer rear tyres than it needs is unstable above its critical speed, sqrt(-L/K): with C_f = 200 kN at 30.0 m/s.
TEST(an_oversteering_car_is_unstable_above_its_critical_speed) {
  const double critical = sqrt(-L / (m / L * (b / 200e3 - a / C_r)));
  for (int k = 0; k < 2; k++) {
    char settings[200];
    const double V = critical * (k == 0 ? 0.999 : 1.001);
    snprintf(settings, sizeof settings, "speed=%.17g relaxation=0 h=0 Jw=1e-4 corner_1=100000", V);
    Loaded x = open_car(settings);
    Found f = find_modes(&x);
    const double complex wanted = single_track(V, 200e3);
    ENSURE((creal(wanted) > 0) == (k == 1));
    ENSURE_SMALL(away(f.m, wanted), 1e-5);
    double most = -HUGE_VAL;
    for (int i = 0; i < f.m->n; i++) most = fmax(most, f.m->mode[i].re);
    ENSURE((most > 1e-4) == (k == 1));
    drop(&f);
    close_model(&x);
  }
}

// ---- ride -------------------------------------------------------------------------------------------------------------------

// Rate at the wheel, k (dl/dz)^2 - F d2l/dz2: the end of the strut moves on a circle about the hinge, the wheel with the ball of the arm; F: preload.
static double wheel_rate(double spring, double load) {
  const double arm = 0.4, part = 0.7, dy = 0.35 + part * arm - 0.5, dz = 0.75 - 0.2, l = hypot(dy, dz);
  const double first = -part * dz / l, unsprung = 20 + 12 + 0.6 * 9;
  const double second = (part * part - first * first) / l - dy / l * part / arm;
  return spring * first * first + (load - unsprung * g) / first * second;
}

// Undamped natural frequencies by rates at the wheels in series with tyres: heave and pitch of what is sprung, roll about the road; bounce of the wheels. What the estimates leave
// out (masses of the wheels below the springs, weights that act at other heights) is two parts in a hundred here.
TEST(ride_frequencies_are_those_of_the_rates_at_the_wheels) {
  const double N[2] = {m * g * b / (2 * L), m * g * a / (2 * L)}, tyre = 200e3, unsprung = 20 + 12 + 0.6 * 9;
  const double k[2] = {wheel_rate(48e3, N[0]), wheel_rate(47e3, N[1])}, bar[2] = {14e3, 6e3};
  double series[2], roll = 0;
  for (int i = 0; i < 2; i++) {
    series[i] = 2 * k[i] * tyre / (k[i] + tyre);
    roll += 2 * 0.78 * 0.78 * (k[i] + 2 * bar[i]) * tyre / (k[i] + 2 * bar[i] + tyre);
  }
  const double sprung = m - 4 * unsprung, J = Jy - 2 * unsprung * (a * a + b * b),
               couple = a * series[0] - b * series[1];
  const double one = (series[0] + series[1]) / sprung, two = (a * a * series[0] + b * b * series[1]) / J;
  const double split = sqrt((one - two) * (one - two) / 4 + couple * couple / (sprung * J));
  const double hop =
      20 + 12 + 0.36 * 9 + 0.06 / (0.4 * 0.4) + 0.02 / (0.28 * 0.28);  // moving mass of a wheel and its arms
  const double wanted[] = {sqrt((one + two) / 2 - split), sqrt((one + two) / 2 + split),
                           sqrt((roll - m * g * h) / (Jx + m * h * h - 4 * unsprung * 0.78 * 0.78)),
                           sqrt((k[0] + tyre) / hop), sqrt((k[1] + tyre) / hop)};
  // Slowly, so that the tyres hold the road sideways.
  Loaded x = open_car("speed=1 relaxation=0 damper_1=1 damper_2=1 radial_damping=0");
  Found f = find_modes(&x);
  for (int i = 0; i < 5; i++) ENSURE_SMALL(frequency_away(f.m, wanted[i]), 0.02);
  ENSURE_NEAR(wanted[0] / (2 * pi), 1.24, 0.01);  // Hz: what the head of the file says
  drop(&f);
  close_model(&x);
}

// ---- steady cornering -------------------------------------------------------------------------------------------------------

// The car turned into its steady motion, from straight ahead.
static Loaded corner(const char* settings) {
  Loaded x = open_car(settings);
  srMessages* messages = sr_messages_create();
  srEquilibrium* found = NULL;
  const srStatus status = sr_equilibrium_create(x.m, x.d, &(srEquilibriumOptions){.steady = true}, messages, &found);
  loading_print(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE(found->residual < 1e-9);
  ENSURE(found->iterations < 60);  // 10 to 25
  sr_equilibrium_destroy(found);
  sr_messages_destroy(messages);
  return x;
}

// Force of the tyre of a corner on its wheel, in the axes of the road.
static void tyre_force(Loaded* x, const char* name, double* f) {
  srPortMotion motion;
  srElementForce force;
  int i = 0;
  while (i < x->m->nforce && strcmp(x->m->force[i].name, name) != 0) i++;
  ENSURE(i < x->m->nforce);
  ENSURE_EQUAL(sr_evaluate(x->m, x->d, x->d->t, NULL, NULL, NULL, SR_STAGE_FORCE), 0);
  ENSURE_EQUAL(sr_element_force(x->m, x->d, &x->m->force[i], &motion, &force), 0);
  memcpy(f, force.f + 3, 3 * sizeof *f);
}
static const char* const tyres[] = {"tyre-11", "tyre-12", "tyre-21", "tyre-22"};

// (delta - L/R)/a_y = m/L (b/C_f - a/C_r) in the limit; the car is symmetric, so that the difference goes with the square of a_y: half the angle, a quarter of it.
TEST(the_understeer_gradient_is_that_of_the_single_track_model_for_small_accelerations) {
  const double K = m / L * (b / C_f - a / C_r);
  static const double speeds[] = {10, 30};
  for (int i = 0; i < 2; i++) {
    const double V = speeds[i];
    double error[2], gain[2];
    for (int k = 0; k < 2; k++) {
      char settings[100];
      snprintf(settings, sizeof settings, "speed=%g steer=%g", V, k == 0 ? 4e-3 : 2e-3);
      Loaded x = corner(settings);
      const double r = value(&x, "yaw rate"), delta = value(&x, "steer");
      error[k] = (delta - L * r / V) / (V * r) / K - 1;
      gain[k] = r / delta / (V / (L + K * V * V)) - 1;
      close_model(&x);
    }
    ENSURE_NEAR(error[0] / error[1], 4, 0.02);
    ENSURE_SMALL(error[1] - (error[0] - error[1]) / 3, 4e-6);  // what is left goes with the fourth power
    ENSURE_NEAR(gain[0] / gain[1], 4, 0.02);
    ENSURE_SMALL(gain[1] - (gain[0] - gain[1]) / 3, 4e-6);
  }
}

// Over half of g: equilibrium and a run of 12 s, whose slowest mode has decayed to 1e-8.
TEST(steady_cornering_by_equilibrium_is_where_a_run_ends) {
  Loaded x = corner("steer=0.05"), y = open_car("steer=0.05");
  run_car(&y, runner_sanitized() ? 0.1 : 12, 1e-8);
  static const char* const sensors[] = {"yaw rate", "lateral acceleration", "side slip", "roll", "pitch", "steer",
                                        "speed"};
  if (!runner_sanitized()) {
    for (int i = 0; i < 7; i++) ENSURE_NEAR(value(&x, sensors[i]), value(&y, sensors[i]), 1e-6);
    for (int i = 0; i < 4; i++) {
      double one[3], two[3];
      tyre_force(&x, tyres[i], one);
      tyre_force(&y, tyres[i], two);
      ENSURE_NEAR(one[2], two[2], 1e-6 * one[2]);
    }
    for (int i = 0; i < x.m->ny; i++) ENSURE_NEAR(x.d->y[i], y.d->y[i], 1e-6 * fmax(1, fabs(x.d->y[i])));
  }
  ENSURE(value(&x, "lateral acceleration") > 5);
  ENSURE_SMALL(energy_residual(&y), 1e-9);
  close_model(&x);
  close_model(&y);
}

// Forces of the road on the car in a circle: the weight, and Omega x P of its momentum P.
TEST(the_loads_of_steady_cornering_carry_the_car_and_turn_its_momentum) {
  Loaded x = corner("steer=0.06 speed=15 relaxation=0");
  double sum[3] = {0, 0, 0}, momentum[6], loads[4];
  for (int i = 0; i < 4; i++) {
    double f[3];
    tyre_force(&x, tyres[i], f);
    loads[i] = f[2];
    for (int k = 0; k < 3; k++) sum[k] += f[k];
  }
  sr_momentum(x.m, x.d, momentum, NULL, NULL);
  const double turn = sensor(&x, "chassis").angular_velocity[2];
  ENSURE_NEAR(sum[0], -turn * momentum[4], 1e-5);
  ENSURE_NEAR(sum[1], turn * momentum[3], 1e-5);
  ENSURE_NEAR(sum[2], m * g, 1e-5);
  ENSURE(turn > 0 && loads[1] > loads[0] && loads[3] > loads[2]);  // a left turn: the right wheels
  close_model(&x);
}

TEST(left_and_right_turns_are_mirror_images) {
  Loaded x = corner("steer=0.05 relaxation=0"), y = corner("steer=-0.05 relaxation=0");
  static const char* const sensors[] = {"yaw rate", "side slip", "roll", "steer"};
  for (int i = 0; i < 4; i++) ENSURE_NEAR(value(&x, sensors[i]), -value(&y, sensors[i]), 1e-9);
  ENSURE(value(&x, "yaw rate") > 0.25 && value(&x, "roll") > 0.05 && value(&x, "side slip") < 0);
  close_model(&x);
  close_model(&y);
}

// About a wide circle the eigenvalues are those of straight driving, and differ by the square of the angle; about a narrow one the car is stable too.
TEST(modes_about_steady_cornering_continue_those_of_straight_driving) {
  Loaded x = open_car("");
  Found straight = find_modes(&x);
  double apart[2];
  for (int k = 0; k < 2; k++) {
    Loaded y = corner(k == 0 ? "steer=0.004" : "steer=0.002");
    Found f = find_modes(&y);
    ENSURE_EQUAL(f.m->n, straight.m->n);
    apart[k] = 0;
    for (int i = 0; i < f.m->n; i++) {
      const double complex lambda = straight.m->mode[i].re + straight.m->mode[i].im * (double complex)I;
      if (fabs(straight.m->mode[i].im) > 1 && cabs(lambda) < 20) apart[k] = fmax(apart[k], away(f.m, lambda));
    }
    drop(&f);
    close_model(&y);
  }
  ENSURE(apart[1] < 0.02);
  ENSURE_NEAR(apart[0] / apart[1], 4, 0.2);
  Loaded y = corner("steer=0.06");
  Found f = find_modes(&y);
  double most = -HUGE_VAL;
  for (int i = 0; i < f.m->n; i++) most = fmax(most, f.m->mode[i].re);
  ENSURE(most < 1e-4);  // 0: its place and its heading, the angles of the wheels
  drop(&straight);
  drop(&f);
  close_model(&x);
  close_model(&y);
}

TEST(the_car_moves_alike_in_absolute_coordinates) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/" CAR ".xml", SARRUS_SOURCE_DIR);
  srSetting set[] = {{"steer", "0.05"}, {"bump", "0.03"}, {"far", "1"}};
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  Loaded x = open_car("steer=0.05 bump=0.03 far=1"), y = {0};
  ENSURE_EQUAL(sr_load(path, &(srLoadOptions){.settings = set, .nsetting = 3}, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, SR_FORMULATION_ABSOLUTE, messages, &y.m, &y.d), SR_OK);
  const double t = runner_sanitized() ? 0.02 : 0.2;
  run_car(&x, t, 1e-8);
  run_car(&y, t, 1e-8);
  const srFrameMotion one = sensor(&x, "chassis"), two = sensor(&y, "chassis");
  for (int i = 0; i < 3; i++) {
    ENSURE_NEAR(one.position[i], two.position[i], 1e-7);
    ENSURE_NEAR(one.angular_velocity[i], two.angular_velocity[i], 1e-6);
  }
  ENSURE_SMALL(energy_residual(&x), 1e-8);
  ENSURE_SMALL(energy_residual(&y), 1e-8);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  close_model(&x);
  close_model(&y);
}

// With the wheels at rest and turned, the drive takes it up to its speed, with all its torque at first, and into the circle.
TEST(the_car_starts_from_a_standstill) {
  Loaded x = open_car("start=0 speed=5 steer=0.1 reset=0");
  run_car(&x, 1, 1e-5);
  const double moving = m + 4 * 1 / (0.3 * 0.3), K = m / L * (b / C_f - a / C_r);  // with the spin of the wheels
  ENSURE_NEAR(value(&x, "speed"), 2 * 800 / 0.3 / moving, 0.15);
  run_car(&x, 6, 1e-5);
  const double V = value(&x, "speed");
  ENSURE_NEAR(V, 5, 0.02);
  ENSURE_NEAR(value(&x, "yaw rate"), V * value(&x, "steer") / (L + K * V * V), 0.01 * 0.18);
  ENSURE_SMALL(energy_residual(&x), 1e-5);
  close_model(&x);
}
