// <tyre>: the law against an independent writing of the Magic Formula, its derivatives against differences, limits, continuity, energy, and motion by closed forms.
#include <math.h>
#include <string.h>

#include "force/derivative.h"
#include "force/laws.h"
#include "math/pose.h"
#include "random_tree.h"
#include "surface_scene.h"

static Random random_numbers;
static double uniform(double low, double high) { return random_in(&random_numbers, low, high); }

// In the order of the law. A passenger car's tyre: 205/55 R16.
typedef struct Tyre {
  double axis[3], R, K, D, N0, mu[2], slip[2], C[2], E[2], fall, q[2], v0, L[2], T;
} Tyre;
static const Tyre car = {{0, 1, 0},   0.316,       2e5,  300,        4000, {1.1, 1.0}, {9e4, 7e4},
                         {1.65, 1.3}, {0.3, -0.8}, 0.15, {0.3, 0.5}, 0.5,  {0.2, 0.4}, 0.02};
enum { PARAMETERS = sizeof(Tyre) / sizeof(double) };

typedef struct State {
  double x[6], xdot[6], y[2];
} State;

typedef struct Answer {
  double f[6], ydot[2], dissipated, friction;
} Answer;

static Answer answer(const srImpedance* law, const Tyre* p, const State* s) {
  Answer a = {{0}, {0}, 0, 0};
  const srImpedanceIn in = {.x = s->x, .xdot = s->xdot, .y = s->y, .p = (const double*)p};
  srImpedanceOut out = {.f = a.f, .ydot = a.ydot};
  ENSURE_EQUAL(law->evaluate(&in, &out), 0);
  a.dissipated = out.dissipated;
  a.friction = out.friction_dissipation;
  return a;
}

static double stored(const Tyre* p, const State* s) {
  return sr_law_tyre.energy(&(srImpedanceIn){.x = s->x, .xdot = s->xdot, .p = (const double*)p});
}

// An upright wheel along x: rolls with the speed V, its surface slips by kappa V along and by tan(alpha) V across.
static State rolling(const Tyre* p, double N, double V, double kappa, double tan_alpha) {
  const double r = p->R - N / p->K;
  return (State){{0, 0, 0, 0.3, -0.2, r}, {0, (1 - kappa) * V / r, 0, V, tan_alpha * V, 0}, {0, 0}};
}

// ---- the formula ----------------------------------------------------------------------------------------------------------

// As in the book: slip stiffness by c1 sin(2 atan(N/c2)), force of pure slip.
static double magic(const Tyre* p, int i, double N, double slip) {
  const double D = p->mu[i] * N / (1 + p->fall * (N - p->N0) / p->N0), c2 = p->N0 / p->q[i];
  const double c1 = p->slip[i] / sin(2 * atan(p->N0 / c2)), B = c1 * sin(2 * atan(N / c2)) / (p->C[i] * D);
  return D * sin(p->C[i] * atan(B * slip - p->E[i] * (B * slip - atan(B * slip))));
}

TEST(pure_slip_is_the_magic_formula) {
  random_numbers = (Random){1};
  for (int k = 0; k < 200; k++) {
    const double N = uniform(200, 9000), V = uniform(1, 50) * (k % 3 == 0 ? -1 : 1);
    const double slip = uniform(-1, 1) * (k % 4 == 0 ? 1e-4 : k % 4 == 1 ? 0.05 : 1);
    const State along = rolling(&car, N, V, slip, 0), across = rolling(&car, N, V, 0, slip);
    const double sign = V > 0 ? 1 : -1;  // slip is over |V|
    const Answer a = answer(&sr_law_tyre, &car, &along), b = answer(&sr_law_tyre, &car, &across);
    ENSURE_NEAR(a.f[3], -sign * magic(&car, 0, N, slip), 1e-9 * N);
    ENSURE_SMALL(a.f[4], 1e-9 * N);
    ENSURE_NEAR(b.f[4], -sign * magic(&car, 1, N, slip), 1e-9 * N);
    ENSURE_SMALL(b.f[3], 1e-9 * N);
    ENSURE_NEAR(a.f[5], N, 1e-9 * N);
    ENSURE_NEAR(b.f[5], N, 1e-9 * N);
  }
}

// The largest force of pure slip is mu N, and for C > 1 it is reached; small slips have the slip stiffness; at the load of the parameters both are the given ones.
TEST(pure_slip_has_the_peak_mu_n_and_the_given_stiffness) {
  for (int i = 0; i < 2; i++) {
    double most = 0;
    for (double slip = 0; slip < 1; slip += 1e-5) {
      const State s = rolling(&car, car.N0, 20, i == 0 ? slip : 0, i == 1 ? slip : 0);
      most = fmax(most, -answer(&sr_law_tyre, &car, &s).f[3 + i]);
    }
    ENSURE_NEAR(most, car.mu[i] * car.N0, 1e-6 * car.N0);
    const State s = rolling(&car, car.N0, 20, i == 0 ? 1e-6 : 0, i == 1 ? 1e-6 : 0);
    ENSURE_NEAR(-answer(&sr_law_tyre, &car, &s).f[3 + i] / 1e-6, car.slip[i], 1e-5 * car.slip[i]);
  }
}

// Any pose and motion: the place of contact by geometry (the lowest point of the disc, along its plane onto the road), forces by components.
TEST(camber_steer_and_spin_give_the_forces_of_the_contact_place) {
  random_numbers = (Random){2};
  for (int k = 0; k < 100; k++) {
    const double steer = uniform(-3, 3), camber = uniform(-0.5, 0.5), spin = uniform(-3, 3);
    // R = Rz(steer) Rx(camber) Ry(spin) by columns; the axis is the second one.
    const double cs = cos(steer), ss = sin(steer), cc = cos(camber), sc = sin(camber);
    const double forward[3] = {cs, ss, 0}, side[3] = {-ss, cs, 0};
    const double down[3] = {-ss * sc, cs * sc, -cc};
    double q[4] = {cos(steer / 2), 0, 0, sin(steer / 2)};
    const double turns[2][4] = {{cos(camber / 2), sin(camber / 2), 0, 0}, {cos(spin / 2), 0, sin(spin / 2), 0}};
    for (int i = 0; i < 2; i++) {
      const double* b = turns[i];
      const double c[4] = {
          q[0] * b[0] - q[1] * b[1] - q[2] * b[2] - q[3] * b[3], q[0] * b[1] + q[1] * b[0] + q[2] * b[3] - q[3] * b[2],
          q[0] * b[2] - q[1] * b[3] + q[2] * b[0] + q[3] * b[1], q[0] * b[3] + q[1] * b[2] - q[2] * b[1] + q[3] * b[0]};
      memcpy(q, c, sizeof q);
    }
    const double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), angle = 2 * atan2(s, q[0]);
    const double r = car.R - uniform(0.005, 0.04), N = car.K * (car.R - r) / cc;
    State x = {{0, 0, 0, 1, 2, r * cc}, {uniform(-1, 1), uniform(-40, 40), uniform(-1, 1), 0, 0, 0}, {0, 0}};
    for (int i = 0; i < 3; i++) x.x[i] = angle * q[1 + i] / s;
    for (int i = 0; i < 2; i++) x.xdot[3 + i] = uniform(-20, 20);
    double c[3], v[3], V = 0, slip[2] = {0, 0};
    for (int i = 0; i < 3; i++) c[i] = r * down[i];
    srm_cross3(x.xdot, c, v);
    x.xdot[5] = -v[2];  // the load is that of the spring alone
    for (int i = 0; i < 3; i++) {
      v[i] += x.xdot[3 + i];
      V += forward[i] * x.xdot[3 + i];
      slip[0] += forward[i] * v[i];
      slip[1] += side[i] * v[i];
    }
    double Bk[2], rho, F[2], want[3], moment[3];
    for (int i = 0; i < 2; i++) {
      const double D = car.mu[i] * N / (1 + car.fall * (N / car.N0 - 1)), q2 = car.q[i] * car.q[i], y = N / car.N0;
      Bk[i] = car.slip[i] * y * (1 + q2) / (1 + q2 * y * y) / (car.C[i] * D) * slip[i] / fmax(fabs(V), car.v0);
    }
    rho = hypot(Bk[0], Bk[1]);
    for (int i = 0; i < 2; i++) {
      const double D = car.mu[i] * N / (1 + car.fall * (N / car.N0 - 1));
      F[i] = D * Bk[i] / rho * sin(car.C[i] * atan(rho - car.E[i] * (rho - atan(rho))));
    }
    for (int i = 0; i < 3; i++) want[i] = (i == 2) * N - F[0] * forward[i] - F[1] * side[i];
    srm_cross3(c, want, moment);
    const Answer a = answer(&sr_law_tyre, &car, &x);
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(a.f[3 + i], want[i], 1e-9 * N);
      ENSURE_NEAR(a.f[i], moment[i], 1e-9 * N);
    }
  }
}

// (Fx/Dx)^2 + (Fy/Dy)^2 <= 1, and the ellipse is reached in every direction: this curve has its peak at one rho only where both shapes are the same.
TEST(combined_slip_stays_within_the_friction_ellipse_and_reaches_it) {
  Tyre same = car;
  same.C[0] = same.C[1] = 1.4;
  same.E[0] = same.E[1] = -0.5;
  const double D[2] = {car.mu[0] * car.N0, car.mu[1] * car.N0};
  for (double angle = 0; angle < 6.3; angle += 0.1) {
    double most[2] = {0, 0};
    for (double size = 0.001; size < 2; size *= 1.01) {
      const State s = rolling(&car, car.N0, 20, size * cos(angle), size * sin(angle));
      const Answer a = answer(&sr_law_tyre, &car, &s), b = answer(&sr_law_tyre, &same, &s);
      most[0] = fmax(most[0], hypot(a.f[3] / D[0], a.f[4] / D[1]));
      most[1] = fmax(most[1], hypot(b.f[3] / D[0], b.f[4] / D[1]));
    }
    ENSURE(most[0] <= 1 + 1e-12);
    ENSURE_NEAR(most[1], 1, 1e-4);  // steps of a hundredth beside the peak
    ENSURE(most[1] <= 1 + 1e-12);
  }
}

// ---- graph ------------------------------------------------------------------------------------------------------------------

static State any_state(int k) {
  State s;
  const double angle = k % 4 == 0 ? 1e-3 : k % 4 == 1 ? 0.058 : 1.3;  // within the series, at its end, and far from it
  for (int i = 0; i < 6; i++) {
    s.x[i] = uniform(-1, 1) * (i < 3 ? angle : 1);
    s.xdot[i] = uniform(-1, 1) * (i < 3 ? 20 : 10);
  }
  if (k % 4 > 1) s.x[0] = uniform(-0.2, 0.2), s.x[2] = uniform(-0.2, 0.2);
  s.x[5] = 0.29;
  if (k % 5 == 4) s.xdot[3] = 0.01, s.xdot[4] = 0.02, s.xdot[5] = 0;  // slow
  for (int i = 0; i < 2; i++) s.y[i] = uniform(-0.03, 0.03);
  return s;
}

static double* entry(State* s, int j) { return j < 6 ? &s->x[j] : j < 12 ? &s->xdot[j - 6] : &s->y[j - 12]; }

TEST(tyres_on_the_graph_are_those_of_the_kernels_with_derivatives_by_differences) {
  static const srImpedance* const laws[] = {&sr_law_tyre, &sr_law_tyre_transient};
  srPool pool;
  sr_pool_init(&pool);
  random_numbers = (Random){3};
  int compared = 0, all = 0;
  for (int l = 0; l < 2; l++) {
    const srImpedance* law = laws[l];
    const int ny = law->ny, rows = 6 + ny, columns = 12 + ny;
    srGraph* g = sr_graph_create(&pool);
    srImpedanceGraph x;
    ENSURE(sr_law_graph(law, g, &x));
    srNode root[8];
    memcpy(root, x.f, sizeof x.f);
    memcpy(root + 6, x.ydot, (size_t)ny * sizeof *root);
    const srProgram *program = sr_program_create(&pool, g, root, rows), *derivative = sr_law_derivative(&pool, law);
    const srForceElement element = {.law = law, .formula = -1, .ny = ny};
    double* work = sr_pool_alloc(&pool, (size_t)sr_law_jacobian_work(&element, derivative) * sizeof *work);
    double* value_work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
    for (int k = 0; k < 40; k++) {
      State s = any_state(k);
      double have[8], J[8 * 14];
      const Answer want = answer(law, &car, &s);
      const srImpedanceIn in = {.x = s.x, .xdot = s.xdot, .y = s.y, .p = (const double*)&car};
      sr_program_evaluate(program, &(srInputs){.q = s.x, .v = s.xdot, .state = s.y, .arg = in.p}, value_work, have);
      for (int r = 0; r < rows; r++) ENSURE_NEAR(have[r], r < 6 ? want.f[r] : want.ydot[r - 6], 1e-8);
      ENSURE_EQUAL(sr_law_jacobian(&element, derivative, &in, work, J), 0);
      for (int j = 0; j < columns; j++) {
        double value[4][8], *at = entry(&s, j);
        const double h = j >= 12 ? 1e-6 : j < 6 ? 1e-6 : 1e-5, centre = *at;
        for (int i = 0; i < 4; i++) {
          *at = centre + (i < 2 ? i - 2 : i - 1) * h;
          const Answer a = answer(law, &car, &s);
          memcpy(value[i], a.f, sizeof a.f);
          memcpy(value[i] + 6, a.ydot, sizeof a.ydot);
        }
        *at = centre;
        for (int r = 0; r < rows; r++) {
          const double coarse = (value[3][r] - value[0][r]) / (4 * h), fine = (value[2][r] - value[1][r]) / (2 * h);
          const double scale = r < 6 ? 2e4 / (h * 1e4) : 20;
          all++;
          if (fabs(coarse - fine) > 1e-5 * scale) continue;  // a kink nearby
          compared++;
          ENSURE_NEAR(J[r * columns + j], fine + (fine - coarse) / 3, 3e-7 * scale);
        }
      }
    }
  }
  ENSURE(compared > 0.95 * all);
  sr_pool_free(&pool);
}

// ---- continuity ---------------------------------------------------------------------------------------------------------------

// The force is a Lipschitz continuous function of the motion, through a standstill and where the tyre leaves the road: half the step, half the change.
static double largest_change(const srImpedance* law, const State* from, const State* to, int steps) {
  double most = 0;
  Answer before = answer(law, &car, from);
  for (int k = 1; k <= steps; k++) {
    State s = *from;
    for (int j = 0; j < 14; j++) *entry(&s, j) += (*entry((State*)to, j) - *entry((State*)from, j)) * k / steps;
    const Answer now = answer(law, &car, &s);
    for (int r = 0; r < 6; r++) most = fmax(most, fabs(now.f[r] - before.f[r]));
    before = now;
  }
  return most;
}

TEST(forces_are_continuous_at_a_standstill_and_where_the_tyre_leaves_the_road) {
  static const srImpedance* const laws[] = {&sr_law_tyre, &sr_law_tyre_transient};
  for (int l = 0; l < 2; l++) {
    State from = rolling(&car, 4000, -2, 0, 0.1), to = rolling(&car, 4000, 2, 0.2, -0.1), air = to;
    from.y[0] = to.y[0] = air.y[0] = 0.01;
    air.x[5] = car.R + 0.01;
    air.xdot[5] = to.xdot[5] = 3;
    const double through = largest_change(laws[l], &from, &to, 2000), off = largest_change(laws[l], &to, &air, 2000);
    ENSURE(through < 60);  // of 8000 N
    ENSURE(off < 60);
    ENSURE(largest_change(laws[l], &from, &to, 4000) < 0.55 * through);
    ENSURE(largest_change(laws[l], &to, &air, 4000) < 0.55 * off);
    const Answer a = answer(laws[l], &car, &air);
    for (int r = 0; r < 6; r++) ENSURE_SMALL(a.f[r], 0);
  }
}

// ---- energy -------------------------------------------------------------------------------------------------------------------

// Power of the port = -(change of the stored energy) - dissipated; without relaxation the dissipated power is not negative in any state.
TEST(a_tyre_without_relaxation_never_supplies_energy) {
  random_numbers = (Random){4};
  for (int k = 0; k < 2000; k++) {
    Tyre p = car;
    for (int i = 0; i < 2; i++) {
      p.C[i] = uniform(0.1, 2);
      p.E[i] = uniform(-5, 1);
      p.mu[i] = uniform(0.1, 2);
    }
    State s = any_state(k);
    const Answer a = answer(&sr_law_tyre, &p, &s);
    ENSURE(a.friction >= 0);
    ENSURE(a.dissipated >= a.friction * (1 - 1e-14));
    double power = 0;
    for (int i = 0; i < 6; i++) power += a.f[i] * s.xdot[i];
    if (s.x[0] * s.x[0] + s.x[1] * s.x[1] + s.x[2] * s.x[2] > 1) continue;
    double A[9], change[2];
    sr_rotation_jacobian(s.x, A);
    for (int i = 0; i < 2; i++) {
      State moved = s;
      const double h = (i == 0 ? -1 : 1) * 1e-6;
      for (int j = 0; j < 3; j++) {
        moved.x[3 + j] += h * s.xdot[3 + j];
        for (int m = 0; m < 3; m++) moved.x[j] += h * A[3 * j + m] * s.xdot[m];
      }
      change[i] = stored(&p, &moved);
    }
    ENSURE_NEAR(power + a.dissipated, -(change[1] - change[0]) / 2e-6, 1e-8 * (100 + fabs(power) + a.dissipated));
  }
}

// At a constant load, in one direction: the deflection stores, and what it has given back never exceeds what it has taken.
TEST(a_deflection_gives_back_no_more_than_it_took) {
  Tyre p = car;
  p.T = 0;
  for (int i = 0; i < 2; i++) {
    double e = 0, work = 0, least = 0, given = 0;
    const double h = 1e-4;
    for (int k = 0; k < 40000; k++) {
      const double t = h * k, V = 3 * sin(1.3 * t), slip = 2 * sin(7 * t) * sin(0.9 * t) + 0.3 * cos(31 * t);
      double rate[2], old = e;
      for (int stage = 0; stage < 2; stage++) {  // Heun's method
        State s = rolling(&p, 4000, 1, 0, 0);
        s.xdot[1] = (V - (i == 0 ? slip : 0)) / s.x[5];
        s.xdot[3] = V;
        s.xdot[4] = i == 1 ? slip : 0;
        s.y[i] = e;
        const Answer a = answer(&sr_law_tyre_transient, &p, &s);
        rate[stage] = a.ydot[i];
        work += 0.5 * h * a.friction;
        if (a.friction < 0) given -= 0.5 * h * a.friction;
        e = old + h * rate[0];
      }
      e = old + 0.5 * h * (rate[0] + rate[1]);
      least = fmin(least, work);
    }
    ENSURE(given > 10);  // J: it does give back
    ENSURE(least > -1e-2);
    ENSURE(work > given);
  }
}

#define ROAD_TYRE                                                                                                      \
  "<tyre name='tyre' wheel='wheel' radius='0.316' stiffness='2e5' damping='300' load='4000' mu='1.1 1' "               \
  "slip-stiffness='9e4 7e4' curvature='0.3 -0.8' mu-fall='0.15' peak-load='13000 8000' "

// A wheel that is thrown on the road with spin, slip and lean bounces, slides and rolls: with its tread undeformed its energy never exceeds what it had.
TEST(a_thrown_wheel_only_loses_energy) {
  static const char* const more[] = {"/>", "relaxation-length='0.2 0.4' tread-damping='0.02'/>"};
  for (int l = 0; l < 2; l++) {
    char text[1500];
    snprintf(text, sizeof text,
             "<sarrus version='1'><body name='wheel'><joint name='wheel' type='free' q='0 0 0.5 1 0.05 0 0.1' v='0 -30 "
             "0 4 3 -1'/><inertial mass='20' inertia='0.6 1 0.6'/></body>" ROAD_TYRE
             "%s<run rtol='1e-8' atol='1e-10'/></sarrus>",
             more[l]);
    Loaded x = open_text(text);
    double least = HUGE_VAL, first = 0;
    for (int k = 0; k <= 20; k++) {
      if (k > 0) run_scene(&x, 0.05 * k);
      double kinetic, potential;
      ENSURE_EQUAL(sr_evaluate(x.m, x.d, x.d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY), 0);
      sr_energy(x.m, x.d, &kinetic, &potential);
      const double total = kinetic + potential;
      if (k == 0) first = total;
      ENSURE(total <= first + 1e-6);
      if (l == 0) ENSURE(total <= least + 1e-4);  // the deflection of a transient tyre gives back what it has taken
      least = fmin(least, total);
      if (k > 0) ENSURE_SMALL(energy_residual(&x), 1e-6);
    }
    ENSURE(least < 0.7 * first);
    close_model(&x);
  }
}

// ---- motion -------------------------------------------------------------------------------------------------------------------

// A carriage with one wheel: prismatic x, y, z, and the spin; 400 kg, of which the tyre carries all. gy: gravity across the road, V its speed, spin that of its surface.
static Loaded open_carriage(double gy, double V, double spin, const char* tyre, const char* more) {
  char text[2500];
  const double N = 400 * 9.81;
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 %.17g -9.81'/>"
           "<body name='x'><joint name='x' type='prismatic' axis='1 0 0' v='%.17g'/></body>"
           "<body name='y' parent='x'><joint name='y' type='prismatic' axis='0 1 0'/></body>"
           "<body name='z' parent='y'><joint name='z' type='prismatic' axis='0 0 1' q='%.17g'/>"
           "<inertial mass='380'/></body>"
           "<body name='wheel' parent='z'><joint name='spin' type='revolute' axis='0 1 0' v='%.17g'/>"
           "<inertial mass='20' inertia='0.6 1 0.6'/></body>%s" ROAD_TYRE "%s<run rtol='1e-9' atol='1e-11'/></sarrus>",
           gy, V, 0.316 - N / 2e5, spin / (0.316 - N / 2e5), more, tyre);
  return open_text(text);
}
#define TRANSIENT "relaxation-length='0.2 0.4' tread-damping='0.02'/>"

// On a side slope the wheel drifts with the slip whose force is m g_y, with and without relaxation; with it, e/L is that slip.
TEST(a_wheel_on_a_side_slope_drifts_with_the_slip_of_its_force) {
  for (int l = 0; l < 2; l++) {
    Loaded x = open_carriage(2, 10, 10, l == 0 ? "/>" : TRANSIENT, "<driver joint='x' motion='10*t'/>");
    run_scene(&x, 6);
    const double slip = x.d->v[1] / 10;
    Tyre p = car;
    p.q[0] = 4000 / 13000.;
    p.q[1] = 0.5;
    ENSURE_NEAR(magic(&p, 1, 400 * 9.81, slip), 400 * 2, 1e-4);
    if (l == 1) ENSURE_NEAR(x.d->y[1] / 0.4, slip, 1e-8);
    close_model(&x);
  }
}

// From a standstill with a constant torque T: at the constant slip k of the force m x'', r w = (1 + k) x', so that x'' (m + J (1 + k)/r^2) = T/r.
TEST(a_wheel_starts_from_a_standstill) {
  for (int l = 0; l < 2; l++) {
    Loaded x = open_carriage(0, 0, 0, l == 0 ? "/>" : TRANSIENT, "<torque joint='spin' law='300'/>");
    const double r = 0.316 - 400 * 9.81 / 2e5;
    run_scene(&x, 3);
    const double v = x.d->v[0];
    run_scene(&x, 4);
    Tyre p = car;
    p.q[0] = 4000 / 13000.;
    const double slip = x.d->v[3] * r / x.d->v[0] - 1, a = 300 / r / (400 + (1 + slip) / (r * r));
    ENSURE_NEAR(x.d->v[0] - v, a, 2e-6);
    ENSURE_NEAR(magic(&p, 0, 400 * 9.81, slip), 400 * a, 0.05);  // relaxation: the force lags by L slip'/V
    close_model(&x);
  }
}

// Parked across a slope the transient tyre holds: it has moved by the deflection of its force and stays there. Without relaxation it creeps.
TEST(a_parked_wheel_with_relaxation_does_not_creep) {
  Loaded x = open_carriage(1, 0, 0, TRANSIENT, "<driver joint='spin' motion='0'/><driver joint='x' motion='0'/>");
  run_scene(&x, 5);
  const double y = x.d->q[1];
  ENSURE_NEAR(y, 0.4 * 400 * 1 / 7e4, 5e-5);  // L F/(slip stiffness), the curve bends little here
  run_scene(&x, 60);
  ENSURE_NEAR(x.d->q[1], y, 1e-8);
  close_model(&x);
}

// A locked wheel slides with the force of the slip 1, and recovers when it is released.
TEST(a_locked_wheel_slides_with_the_force_of_slip_one) {
  Loaded x = open_carriage(0, 20, 0, TRANSIENT, "<driver joint='spin' motion='0'/>");
  run_scene(&x, 1);
  const double v = x.d->v[0];
  run_scene(&x, 1.5);
  Tyre p = car;
  p.q[0] = 4000 / 13000.;
  ENSURE_NEAR((v - x.d->v[0]) / 0.5, magic(&p, 0, 400 * 9.81, 1) / 400, 1e-5);
  close_model(&x);
}

TEST(tyres_move_alike_in_absolute_coordinates) {
  char text[1500];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><body name='frame'><joint name='frame' type='free' q='0 0 0.3 1 0 0 0' v='0 0 0.3 5 0.2 0'/>"
      "<inertial mass='200' inertia='10 20 20'/></body>"
      "<body name='wheel' parent='frame'><joint name='spin' type='revolute' axis='0 1 0.02' v='15'/>"
      "<inertial mass='20' inertia='0.6 1 0.6'/></body>"
      "<torque joint='spin' law='50'/>" ROAD_TYRE TRANSIENT "<run rtol='1e-10' atol='1e-12'/></sarrus>");
  Loaded x = open_text(text), y = open_absolute(text);
  run_scene(&x, 0.3);
  run_scene(&y, 0.3);
  for (int i = 0; i < 3; i++) ENSURE_NEAR(x.d->q[i], y.d->q[i], 1e-7);
  for (int i = 0; i < 2; i++) ENSURE_NEAR(x.d->y[i], y.d->y[i], 1e-8);
  close_model(&x);
  close_model(&y);
}

TEST(numbers_that_no_tyre_has_are_refused_at_their_place) {
#define WITH(attributes)                                                                                               \
  "<sarrus version='1'><body name='w'><joint name='w' type='free'/><inertial mass='1' inertia='1 1 1'/></body>"        \
  "<tyre wheel='w' radius='0.3' stiffness='2e5' load='4000' mu='1' slip-stiffness='8e4' " attributes "/></sarrus>"
  ensure_refused(WITH("shape='1.3 2.1'"),
                 "test:1:200: error: 'shape' of <tyre> must be above 0 and at most 2, got 2.1");
  ensure_refused(WITH("curvature='1.5'"), "'curvature' of <tyre> must be at most 1, got 1.5");
  ensure_refused(WITH("mu-fall='1'"), "'mu-fall' of <tyre> must be from 0 to less than 1, got 1");
  ensure_refused(WITH("peak-load='0'"), "'peak-load' of <tyre> must be above 0, got 0");
  ensure_refused(WITH("damping='-1'"), "'damping' of <tyre> must be 0 or more, got -1");
  ensure_refused(WITH("axis='0 0 0'"), "'axis' of <tyre> must not be zero");
  ensure_refused(WITH("relaxation-length='0 0.3'"), "above 0 along and across, or 0 for both, got 0 0.3");
  ensure_refused(WITH("road='w'"), "cannot move against each other");
  ensure_refused(WITH("shape='1 1 1'"), "'shape' of <tyre> takes 1 or 2 values, got 3");
}
