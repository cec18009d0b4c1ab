// Tests of phem56 by itself: coefficients, order in positions, velocities, states and multipliers, embedded method, dense output, the
// stage that is carried over. What it shares with the other methods for constraints is in test_half_explicit.c, on
// mechanisms in test_mechanisms.c.
#include "constrained.h"
#include "integrate/dopri5.h"
#include "integrate/phem56.h"

// ---- coefficients -----------------------------------------------------------------------------------------------------

TEST(coefficients_of_phem56_satisfy_the_simplifying_conditions) {
  const srPhem56Tableau* tilde = &sri_phem56_tableau;
  const double* b = sri_dopri5_tableau.a[6];
  const double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  for (int i = 1; i < 7; ++i) {
    // Stages see their constraint at places of order 2, from the third row on of order 3: sum_j a~_ij c_j^k = c~_i^(k+1)/(k+1).
    for (int k = 0; k < (i == 1 ? 2 : 3); ++k) {
      double sum = 0;
      for (int j = 0; j <= i; ++j) sum += tilde->a[i][j] * (k == 0 ? 1 : pow(c[j], k));
      ENSURE_NEAR(sum, pow(tilde->c[i], k + 1) / (k + 1), 1e-15);
    }
    ENSURE(tilde->a[i][i] != 0);
  }
  for (int j = 0; j < 6; ++j) ENSURE_NEAR(tilde->a[5][j], b[j], 1e-16);
  // An error of A_1 along the constraints: sum_j a~_ij d_j = 0 in every stage, and what reaches A_7 is nothing.
  double d[7] = {1};
  for (int i = 1; i < 7; ++i) {
    for (int j = 0; j < i; ++j) d[i] -= tilde->a[i][j] * d[j] / tilde->a[i][i];
  }
  ENSURE_NEAR(d[3], -11.0 / 5, 1e-13);
  ENSURE_SMALL(d[6], 1e-12);
}

TEST(dense_output_of_phem56_has_weights_of_order_4) {
  const double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  for (int i = 1; i < 10; ++i) {
    const double theta = i / 10.0, left = 1 - theta;
    for (int k = 0; k < 4; ++k) {  // of x' = t^k: theta^(k+1)/(k+1)
      double sum = theta * theta * (3 - 2 * theta) / (k + 1);
      if (k == 0) sum += theta * left * left;
      sum -= theta * theta * left;
      for (int j = 0; j < 7; ++j) {
        sum += theta * theta * left * left * sri_phem56_dense[j] * (k == 0 ? 1 : pow(c[j], k));
      }
      ENSURE_NEAR(sum, pow(theta, k + 1) / (k + 1), 1e-14);
    }
  }
}

// ---- order ------------------------------------------------------------------------------------------------------------

static srIntegratorOptions steps_of(double h) {
  srIntegratorOptions o = sri_default_options();
  o.control = SR_CONTROL_FIXED;
  o.step = h;
  return o;
}

typedef struct Errors {
  double q, v, lambda;
} Errors;

// Errors at t = 1 after n steps.
static Errors errors_of(const srSystem* s, const double* x0, const double* exact, double lambda, int n) {
  double x[6], multiplier;
  srIntegrator* integrator = create("phem56", s, steps_of(1.0 / n));
  memcpy(x, x0, (size_t)(2 * s->nq) * sizeof *x);
  ENSURE(run(integrator, s, 1, x));
  ENSURE_EQUAL(sri_stats(integrator)->steps, n);
  ENSURE_SMALL(sri_stats(integrator)->violation_velocity, 1e-14);
  ENSURE_SMALL(sri_stats(integrator)->violation_position, 1e-14);
  ENSURE(sri_multipliers(integrator, &multiplier, NULL) == SR_OK);
  sri_destroy(integrator);
  return (Errors){distance(s->nq, x, exact), distance(s->nv, x + s->nq, exact + s->nq), fabs(multiplier - lambda)};
}

static void ensure_order(const srSystem* s, const double* x0, const double* exact, double lambda, int n) {
  const Errors a = errors_of(s, x0, exact, lambda, n), b = errors_of(s, x0, exact, lambda, 2 * n);
  const double q = log2(a.q / b.q), v = log2(a.v / b.v), l = log2(a.lambda / b.lambda);
  if (verbose())
    printf("  %d steps: q %.2e v %.2e lambda %.2e, orders %.3f %.3f %.3f\n", n, a.q, a.v, a.lambda, q, v, l);
  ENSURE(q > 4.7 && v > 4.7 && l > 4.7);
}

TEST(phem56_has_order_5_in_positions_velocities_and_multipliers) {
  const srSystem p = pendulum(&one_row);
  const double* v = pendulum_end + 2;
  const double lambda = 9.81 * pendulum_end[1] - v[0] * v[0] - v[1] * v[1];
  ensure_order(&p, pendulum_start, pendulum_end, lambda, 40);
  ensure_order(&p, pendulum_start, pendulum_end, lambda, 80);

  const srSystem s = surface();
  double x0[6], known;
  surface_start(x0);
  // The multiplier at the end follows from the exact state there.
  srIntegrator* integrator = create("phem56", &s, tolerance(1e-6));
  ENSURE(sri_start(integrator, 1, surface_end, surface_end + 3, NULL) == SR_OK);
  ENSURE(sri_multipliers(integrator, &known, NULL) == SR_OK);
  sri_destroy(integrator);
  ensure_order(&s, x0, surface_end, known, 10);
  ensure_order(&s, x0, surface_end, known, 20);
}

// A state that the forces feel, and that feels positions and velocities.
static int coupled_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* M, double* f, double* ydot, double* D) {
  (void)pendulum_dynamics(user, t, q, v, y, tau, M, f, ydot, D);
  f[0] += 2 * y[0] + 0.3 * y[0] * v[1];
  f[1] -= 0.5 * y[0] * y[0];
  ydot[0] = -0.7 * y[0] + q[0] * v[1] + cos(2 * t);
  return 0;
}

TEST(a_state_coupled_both_ways_keeps_order_5) {
  srSystem s = pendulum(&one_row);
  s.ny = 1;
  s.dynamics = coupled_dynamics;
  const double y0 = 0.2;
  double end[5], before = 0, order = 0;
  for (int i = 0; i < 4; ++i) {  // first the reference, by another method and form
    srIntegrator* integrator =
        i == 0 ? create("mdop5", &s, tolerance(1e-13)) : create("phem56", &s, steps_of(0.1 * pow(0.5, i)));
    double x[5];
    ENSURE(sri_start(integrator, 0, pendulum_start, pendulum_start + 2, &y0) == SR_OK);
    while (sri_time(integrator) < 1) ENSURE(sri_step(integrator, 1) == SR_OK);
    get(integrator, &s, x);
    x[4] = sri_y(integrator)[0];
    if (i == 0) memcpy(end, x, sizeof end);
    const double error = distance(5, x, end);
    order = i > 1 ? log2(before / error) : 0;
    if (verbose()) printf("  h %.4g error %.2e order %.3f\n", 0.1 * pow(0.5, i), error, order);
    before = error;
    sri_destroy(integrator);
  }
  ENSURE(order > 4.7);
}

// ---- embedded method --------------------------------------------------------------------------------------------------

// A_i = f + G^T L with G at q, and G A = r at the place `next`: the pendulum has M = 1, G = q.
static void half_solve(const double* q, const double* next, double r, double* A) {
  const double L = (r + 9.81 * next[1]) / (next[0] * q[0] + next[1] * q[1]);
  A[0] = L * q[0];
  A[1] = -9.81 + L * q[1];
}

static void sum_up(double h, int n, const double* a, double k[7][2], const double* x, double* out) {
  for (int i = 0; i < 2; ++i) {
    out[i] = x[i];
    for (int j = 0; j < n; ++j) out[i] += h * a[j] * k[j][i];
  }
}

// One step of the pendulum written out: (q, v) of the embedded method, v also projected.
static void embedded_step(double h, double* q_hat, double* v_hat, double* v_projected) {
  const double *q0 = pendulum_start, *v0 = pendulum_start + 2;
  double V[7][2], A[7][2], Q[2], next[2], known[2];
  memcpy(V[0], v0, sizeof V[0]);
  half_solve(q0, q0, -(v0[0] * v0[0] + v0[1] * v0[1]), A[0]);
  for (int i = 1; i < 7; ++i) {
    const double *a = sri_dopri5_tableau.a[i], *tilde = sri_phem56_tableau.a[i];
    sum_up(h, i, a, V, q0, Q);
    sum_up(h, i, a, A, v0, V[i]);
    sum_up(h, i + 1, tilde, V, q0, next);
    sum_up(h, i, tilde, A, v0, known);
    half_solve(Q, next, -(next[0] * known[0] + next[1] * known[1]) / (h * tilde[i]), A[i]);
  }
  double weight[7];
  for (int j = 0; j < 7; ++j) weight[j] = (j < 6 ? sri_dopri5_tableau.a[6][j] : 0) - sri_dopri5_error[j];
  sum_up(h, 7, weight, V, q0, q_hat);
  sum_up(h, 7, weight, A, v0, v_hat);
  // dv = Q L with next . dv = -q_hat . v_hat, the matrix of stage 7
  const double L = -(q_hat[0] * v_hat[0] + q_hat[1] * v_hat[1]) / (next[0] * Q[0] + next[1] * Q[1]);
  for (int i = 0; i < 2; ++i) v_projected[i] = v_hat[i] + L * Q[i];
}

TEST(the_embedded_velocity_of_phem56_needs_its_projection) {
  const srSystem s = pendulum(&one_row);
  double before[3] = {0}, order[3] = {0};
  for (double h = 0.04; h > 0.004; h /= 2) {
    double x[4], q[2], v[2], projected[2];
    memcpy(x, pendulum_start, sizeof x);
    srIntegrator* integrator = create("hem5", &s, tolerance(1e-14));
    ENSURE(run(integrator, &s, h, x));
    sri_destroy(integrator);
    embedded_step(h, q, v, projected);
    const double error[3] = {distance(2, q, x), distance(2, v, x + 2), distance(2, projected, x + 2)};
    for (int i = 0; i < 3; ++i) {
      order[i] = before[i] > 0 ? log2(before[i] / error[i]) : 0;
      before[i] = error[i];
    }
    if (verbose()) printf("  h %.4g powers of h: q %.2f, v %.2f, projected %.2f\n", h, order[0], order[1], order[2]);
  }
  ENSURE(order[0] > 4.8);
  ENSURE(order[1] > 3.8 && order[1] < 4.3);
  ENSURE(order[2] > 4.8);
}

TEST(the_steps_of_phem56_follow_an_estimate_of_h5) {
  const srSystem s = pendulum(&one_row);
  long steps[2];
  for (int i = 0; i < 2; ++i) {
    double x[4];
    const double tol = i == 0 ? 1e-7 : 1e-12;
    memcpy(x, pendulum_start, sizeof x);
    srIntegrator* integrator = create("phem56", &s, tolerance(tol));
    ENSURE(run(integrator, &s, 1, x));
    ENSURE_SMALL(distance(4, x, pendulum_end), 30 * tol);
    steps[i] = sri_stats(integrator)->steps;
    if (verbose()) printf("  %.0e: %ld steps, error %.1e\n", tol, steps[i], distance(4, x, pendulum_end));
    sri_destroy(integrator);
  }
  // (1e5)^(1/5) = 10; an estimate of h^4 would give 17.8.
  const double ratio = (double)steps[1] / (double)steps[0];
  ENSURE(ratio > 8.5 && ratio < 11.5);
}

// ---- carrying over, restarts ------------------------------------------------------------------------------------------

static int nudge(void* user, double t, double* q, double* v, double* y) {
  (void)user, (void)t, (void)q, (void)y;
  // Along the circle, by far more than a tolerance, within the error of nothing: the rates before do not hold.
  v[0] *= 1 + 1e-3;
  v[1] *= 1 + 1e-3;
  return 0;
}

TEST(the_last_stage_is_carried_over_where_the_state_has_not_been_moved) {
  srSystem s = pendulum(&one_row);
  long evaluations[2];
  for (int i = 0; i < 2; ++i) {
    double x[4];
    memcpy(x, pendulum_start, sizeof x);
    if (i == 1) s.accepted = nudge;
    srIntegrator* integrator = create("phem56", &s, steps_of(0.01));
    ENSURE(run(integrator, &s, 1, x));
    evaluations[i] = sri_stats(integrator)->evaluations;
    sri_destroy(integrator);
  }
  // The choice of equations and the first stage, and 6 a step; 7 where it must be solved anew.
  ENSURE_EQUAL(evaluations[0], 2 + 6 * 100);
  ENSURE_EQUAL(evaluations[1], 1 + 7 * 100);
}

static int oscillator_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = -q[0];
  return 0;
}

TEST(phem56_without_constraints_is_dopri5) {
  const srSystem s = {.nq = 1, .nv = 1, .rates = oscillator_rates};
  const char* methods[] = {"dopri5", "phem56"};
  double x[2][2];
  long steps[2];
  for (int i = 0; i < 2; ++i) {
    x[i][0] = 1;
    x[i][1] = 0;
    srIntegrator* integrator = create(methods[i], &s, tolerance(1e-9));
    ENSURE(run(integrator, &s, 10, x[i]));
    steps[i] = sri_stats(integrator)->steps;
    sri_destroy(integrator);
  }
  ENSURE_EQUAL(steps[1], steps[0]);
  ENSURE_SMALL(distance(2, x[0], x[1]), 1e-13);
  ENSURE_NEAR(x[1][0], cos(10), 1e-7);
}
