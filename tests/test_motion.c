// Motions: splines, trapezoid, sweep.
#include "expr/motion.h"

#include <math.h>
#include <string.h>

#include "runner.h"

static srPool pool;
static char reason[256];

static double at(const srFunction* f, double x, int order) { return f->evaluate(f->self, x, order); }

static const double X[] = {-1, 0, 0.4, 1.5, 1.7, 3, 4.2}, Y[] = {2, -1, 0.5, 0.5, 3, -2, 1};
#define N ((int)(sizeof X / sizeof X[0]))

// The derivative of this order by extrapolated central differences of the one below.
static double difference(const srFunction* f, double x, int order) {
  double D[4][4];
  for (int i = 0; i < 4; i++) {
    double s = 0.01 / (1 << i);
    D[i][0] = (at(f, x + s, order - 1) - at(f, x - s, order - 1)) / (2 * s);
    for (int j = 1; j <= i; j++) D[i][j] = D[i][j - 1] + (D[i][j - 1] - D[i - 1][j - 1]) / ((1 << 2 * j) - 1);
  }
  return D[3][3];
}

// Derivatives 1 to 3 against differences at points that keep clear of the knots.
static void compare_derivatives(const srFunction* f, double begin, double end, const double* knots, int nknot) {
  for (int i = 0; i <= 200; i++) {
    double x = begin + (end - begin) * i / 200;
    bool clear = true;
    for (int k = 0; k < nknot; k++) clear = clear && fabs(x - knots[k]) > 0.011;
    for (int order = 1; clear && order <= 3; order++) {
      double d = at(f, x, order);
      ENSURE_NEAR(d, difference(f, x, order), 1e-9 * (1 + fabs(d) + fabs(at(f, x, order - 1))));
    }
  }
}

// Both sides of each inner knot agree up to this derivative; taken by Taylor from a little to the left and right.
static void ensure_smooth(const srFunction* f, const double* knots, int nknot, int degree, int smooth) {
  for (int k = 1; k < nknot - 1; k++) {
    for (int order = 0; order <= smooth; order++) {
      double e = 1e-3, left = 0, right = at(f, knots[k], order), power = 1, scale = 1;
      for (int j = 0; order + j <= degree; j++) {  // exact: the piece is a polynomial
        left += at(f, knots[k] - e, order + j) * power;
        power *= e / (j + 1);
        scale = fmax(scale, fabs(at(f, knots[k] - e, order + j)));
      }
      ENSURE_NEAR(left, right, 1e-12 * scale);
    }
  }
}

TEST(splines_pass_through_their_points) {
  srFunction natural = {0}, clamped = {0}, quintic = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_cubic(&pool, X, Y, N, SRM_ENDS_NATURAL, &natural, reason, sizeof reason));
  ENSURE(sr_motion_cubic(&pool, X, Y, N, SRM_ENDS_CLAMPED, &clamped, reason, sizeof reason));
  ENSURE(sr_motion_quintic(&pool, X, Y, N, &quintic, reason, sizeof reason));
  for (int i = 0; i < N; i++) {
    ENSURE_NEAR(at(&natural, X[i], 0), Y[i], 1e-14);
    ENSURE_NEAR(at(&clamped, X[i], 0), Y[i], 1e-14);
    ENSURE_NEAR(at(&quintic, X[i], 0), Y[i], 1e-13);
  }
  ensure_smooth(&natural, X, N, 3, 2);
  ensure_smooth(&clamped, X, N, 3, 2);
  ensure_smooth(&quintic, X, N, 5, 4);
  compare_derivatives(&natural, -2, 5, X, N);
  compare_derivatives(&clamped, -2, 5, X, N);
  compare_derivatives(&quintic, -2, 5, X, N);
  sr_pool_free(&pool);
}

TEST(splines_end_with_the_given_derivatives) {
  srFunction natural = {0}, clamped = {0}, quintic = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_cubic(&pool, X, Y, N, SRM_ENDS_NATURAL, &natural, reason, sizeof reason));
  ENSURE(sr_motion_cubic(&pool, X, Y, N, SRM_ENDS_CLAMPED, &clamped, reason, sizeof reason));
  ENSURE(sr_motion_quintic(&pool, X, Y, N, &quintic, reason, sizeof reason));
  for (int i = 0; i < 2; i++) {
    double x = i == 0 ? X[0] : X[N - 1], y = i == 0 ? Y[0] : Y[N - 1], out = i == 0 ? -2 : 2;
    ENSURE_SMALL(at(&natural, x, 2), 1e-12);
    ENSURE_SMALL(at(&clamped, x, 1), 1e-12);
    ENSURE_SMALL(at(&quintic, x, 1), 1e-11);
    ENSURE_SMALL(at(&quintic, x, 2), 1e-10);
    // outside
    ENSURE_NEAR(at(&natural, x + out, 0), y + out * at(&natural, x, 1), 1e-13);
    ENSURE_NEAR(at(&natural, x + out, 1), at(&natural, x, 1), 1e-13);
    ENSURE(at(&natural, x + out, 2) == 0);
    ENSURE(at(&clamped, x + out, 0) == y && at(&clamped, x + out, 1) == 0);
    ENSURE(at(&quintic, x + out, 0) == y && at(&quintic, x + out, 1) == 0 && at(&quintic, x + out, 3) == 0);
  }
  ENSURE(isnan(at(&quintic, (double)NAN, 0)));
  sr_pool_free(&pool);
}

// No end condition: every cubic is its own spline, to the ends; of three points it is the parabola through them, of two the line.
TEST(a_spline_without_end_conditions_reproduces_cubics) {
  sr_pool_init(&pool);
  for (int n = 2; n <= N; n++) {
    const double c[] = {0.7, -1.2, n > 2 ? 0.4 : 0, n > 3 ? -0.3 : 0};  // of degree n - 1, at most 3
    double y[N];
    srFunction f = {0};
    for (int i = 0; i < n; i++) y[i] = c[0] + X[i] * (c[1] + X[i] * (c[2] + X[i] * c[3]));
    ENSURE(sr_motion_cubic(&pool, X, y, n, SRM_ENDS_NOT_A_KNOT, &f, reason, sizeof reason));
    for (int k = 0; k <= 40; k++) {
      const double x = fmin(X[0] + (X[n - 1] - X[0]) * k / 40, X[n - 1]);
      ENSURE_NEAR(at(&f, x, 0), c[0] + x * (c[1] + x * (c[2] + x * c[3])), 1e-13);
      ENSURE_NEAR(at(&f, x, 2), 2 * c[2] + 6 * c[3] * x, 1e-11);
    }
    ENSURE_NEAR(at(&f, X[n - 1] + 1, 0), y[n - 1] + at(&f, X[n - 1], 1), 1e-12);  // beyond: along the tangent
  }
  srFunction rough = {0};
  ENSURE(sr_motion_cubic(&pool, X, Y, N, SRM_ENDS_NOT_A_KNOT, &rough, reason, sizeof reason));
  ensure_smooth(&rough, X, N, 3, 2);
  ENSURE_NEAR(at(&rough, X[0], 3), at(&rough, X[1], 3), 1e-11);
  ENSURE_NEAR(at(&rough, X[N - 3], 3), at(&rough, X[N - 2], 3), 1e-11);
  sr_pool_free(&pool);
}

// Where the ends meet it is as smooth as inside, and it repeats. A sine of 2 knots per period has y'' = -12/h^2 y at them (h = 1/2 of the
// period, from the cyclic equations 4 h M_i + 2 h M_i+1 = 6 (-4/h), M_i+1 = -M_i); of N knots of a sine the error is h^4/384 y''''.
TEST(a_periodic_spline_repeats_as_smoothly_as_it_is_inside) {
  const double P = 2.6, x[] = {-0.4, 0.1, 0.9, 1.1, 2.2}, y[] = {0.3, 1.5, -0.7, 0.4, 0.3};
  const double x2[] = {0, 0.5, 1}, y2[] = {1, -1, 1}, x1[] = {2, 5}, y1[] = {4, 4};
  srFunction f = {0}, two = {0}, one = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_cubic(&pool, x, y, 5, SRM_ENDS_PERIODIC, &f, reason, sizeof reason));
  ENSURE(sr_motion_cubic(&pool, x2, y2, 3, SRM_ENDS_PERIODIC, &two, reason, sizeof reason));
  ENSURE(sr_motion_cubic(&pool, x1, y1, 2, SRM_ENDS_PERIODIC, &one, reason, sizeof reason));
  ensure_smooth(&f, x, 5, 3, 2);
  const double eps = 1e-9;
  for (int i = 0; i < 5; i++) ENSURE_NEAR(at(&f, x[i] - 3 * P, 0), y[i], 1e-13);
  for (int order = 0; order <= 2; order++) {
    ENSURE_NEAR(at(&f, x[4] - eps, order), at(&f, x[4] + eps, order), 2e-6);
    ENSURE_NEAR(at(&f, 0.73 + 5 * P, order), at(&f, 0.73, order), 1e-12);
  }
  for (int i = -4; i <= 4; i++) {
    ENSURE_NEAR(at(&two, 0.5 * i, 0), i % 2 ? -1 : 1, 1e-14);
    ENSURE_NEAR(at(&two, 0.5 * i, 2), i % 2 ? 48 : -48, 1e-12);
    ENSURE_NEAR(at(&two, 0.5 * i + 0.25, 0), 0, 1e-14);
  }
  ENSURE(at(&one, 17.3, 0) == 4 && at(&one, 17.3, 1) == 0);
  ENSURE(isnan(at(&f, (double)NAN, 0)));
  double error[2];
  for (int k = 0; k < 2; k++) {
    const int n = 12 << k;
    double sx[25], sy[25];
    for (int i = 0; i <= n; i++) sx[i] = (double)i / n, sy[i] = sin(2 * acos(-1.0) * i / n);
    ENSURE(sr_motion_cubic(&pool, sx, sy, n + 1, SRM_ENDS_PERIODIC, &f, reason, sizeof reason));
    error[k] = 0;
    for (int i = 0; i < 97; i++) error[k] = fmax(error[k], fabs(at(&f, i / 97.0, 0) - sin(2 * acos(-1.0) * i / 97)));
  }
  ENSURE(error[1] < 1.05 * pow(2 * acos(-1.0) / 24, 4) / 384);  // h^4/384 of the fourth derivative
  ENSURE(error[0] / error[1] > 14 && error[0] / error[1] < 18);
  ENSURE(!sr_motion_cubic(&pool, x, x, 5, SRM_ENDS_PERIODIC, &f, reason, sizeof reason));
  ENSURE(strstr(reason, "a periodic spline ends with the value it begins with, -0.4; its last point has 2.2") != NULL);
  sr_pool_free(&pool);
}

TEST(two_points_give_the_closed_forms) {
  const double x[] = {1, 3}, y[] = {5, 9};
  srFunction line = {0}, smooth = {0}, minimum_jerk = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_cubic(&pool, x, y, 2, SRM_ENDS_NATURAL, &line, reason, sizeof reason));
  ENSURE(sr_motion_cubic(&pool, x, y, 2, SRM_ENDS_CLAMPED, &smooth, reason, sizeof reason));
  ENSURE(sr_motion_quintic(&pool, x, y, 2, &minimum_jerk, reason, sizeof reason));
  for (int i = 0; i <= 10; i++) {
    double s = i / 10.0, u = 1 + 2 * s;
    ENSURE_NEAR(at(&line, u, 0), 5 + 4 * s, 1e-14);
    ENSURE_NEAR(at(&smooth, u, 0), 5 + 4 * (3 * s * s - 2 * s * s * s), 1e-14);
    ENSURE_NEAR(at(&minimum_jerk, u, 0), 5 + 4 * s * s * s * (10 - 15 * s + 6 * s * s), 1e-13);
  }
  sr_pool_free(&pool);
}

TEST(a_clamped_cubic_through_a_cubic_is_that_cubic) {
  double x[9], y[9];
  const double knots[] = {0, 0.1, 0.15, 0.3, 0.5, 0.55, 0.8, 0.95, 1};
  srFunction f = {0};
  sr_pool_init(&pool);
  for (int i = 0; i < 9; i++) x[i] = knots[i], y[i] = x[i] * x[i] * (3 - 2 * x[i]);  // slope 0 at 0 and 1
  ENSURE(sr_motion_cubic(&pool, x, y, 9, SRM_ENDS_CLAMPED, &f, reason, sizeof reason));
  for (int i = 0; i <= 50; i++) {
    double s = i / 50.0;
    ENSURE_NEAR(at(&f, s, 0), s * s * (3 - 2 * s), 1e-14);
    ENSURE_NEAR(at(&f, s, 3), -12, 1e-9);
  }
  sr_pool_free(&pool);
}

TEST(a_quintic_through_a_quintic_is_that_quintic) {
  double x[9], y[9];
  const double knots[] = {0, 0.1, 0.15, 0.3, 0.5, 0.55, 0.8, 0.95, 1};
  srFunction f = {0};
  sr_pool_init(&pool);
  for (int i = 0; i < 9; i++) {
    x[i] = knots[i];
    y[i] = x[i] * x[i] * x[i] * (10 - 15 * x[i] + 6 * x[i] * x[i]);  // first and second derivative 0 at 0 and 1
  }
  ENSURE(sr_motion_quintic(&pool, x, y, 9, &f, reason, sizeof reason));
  for (int i = 0; i <= 50; i++) {
    double s = i / 50.0;
    ENSURE_NEAR(at(&f, s, 0), s * s * s * (10 - 15 * s + 6 * s * s), 1e-13);
    ENSURE_NEAR(at(&f, s, 2), 60 * s - 180 * s * s + 120 * s * s * s, 1e-9);
  }
  sr_pool_free(&pool);
}

// Largest error of the spline through m+1 points of sin^3 on [0, pi] (first and second derivative 0 at both ends).
static double spline_error(bool quintic, int m) {
  double x[129], y[129], worst = 0, pi = acos(-1.0);
  srFunction f = {0};
  sr_pool_init(&pool);
  for (int i = 0; i <= m; i++) x[i] = pi * i / m, y[i] = pow(sin(x[i]), 3);
  if (quintic) {
    ENSURE(sr_motion_quintic(&pool, x, y, m + 1, &f, reason, sizeof reason));
  } else {
    ENSURE(sr_motion_cubic(&pool, x, y, m + 1, SRM_ENDS_CLAMPED, &f, reason, sizeof reason));
  }
  for (int i = 0; i <= 1000; i++) worst = fmax(worst, fabs(at(&f, pi * i / 1000, 0) - pow(sin(pi * i / 1000), 3)));
  sr_pool_free(&pool);
  return worst;
}

TEST(splines_converge_with_their_order) {
  ENSURE_NEAR(log2(spline_error(false, 32) / spline_error(false, 64)), 4, 0.3);
  ENSURE_NEAR(log2(spline_error(true, 32) / spline_error(true, 64)), 6, 0.4);
}

TEST(a_spline_does_not_mind_units) {
  double x[N], y[N];
  srFunction plain = {0}, scaled = {0};
  sr_pool_init(&pool);
  for (int i = 0; i < N; i++) x[i] = 1e-6 * X[i], y[i] = 1e5 * Y[i];
  ENSURE(sr_motion_quintic(&pool, X, Y, N, &plain, reason, sizeof reason));
  ENSURE(sr_motion_quintic(&pool, x, y, N, &scaled, reason, sizeof reason));
  for (int i = 0; i <= 100; i++) {
    double u = -1 + 5.2 * i / 100;
    ENSURE_NEAR(at(&scaled, 1e-6 * u, 0), 1e5 * at(&plain, u, 0), 1e-6);
  }
  sr_pool_free(&pool);
}

TEST(points_that_allow_no_spline_are_refused) {
  const double same[] = {0, 1, 1, 2}, back[] = {0, 2, 1.5, 3}, y[] = {0, 1, 2, 3};
  const double lost[] = {0, (double)NAN, 2, 3}, near[] = {0, 1e-200, 1, 2};
  srFunction f = {0};
  sr_pool_init(&pool);
  ENSURE(!sr_motion_cubic(&pool, same, y, 4, SRM_ENDS_NATURAL, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "the points must be in increasing order: point 3 is at 1, after one at 1");
  ENSURE(!sr_motion_quintic(&pool, back, y, 4, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "the points must be in increasing order: point 3 is at 1.5, after one at 2");
  ENSURE(!sr_motion_cubic(&pool, y, y, 1, SRM_ENDS_CLAMPED, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "a spline needs at least 2 points, got 1");
  ENSURE(!sr_motion_cubic(&pool, y, lost, 4, SRM_ENDS_CLAMPED, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "point 2 is not a pair of finite numbers");
  ENSURE(!sr_motion_quintic(&pool, near, y, 4, &f, reason, sizeof reason));
  ENSURE(strstr(reason, "too close") != NULL);
  ENSURE(!f.evaluate);
  sr_pool_free(&pool);
}

// -------------------------------------------------------------------------------------------------------- trapezoid

TEST(a_trapezoid_keeps_its_limits_and_arrives) {
  static const double ways[] = {10, -10, 0.5, -0.5, 2, 4, 1e-9};  // from 1; vmax^2/amax = 2
  for (int k = 0; k < SR_COUNT(ways); k++) {
    const double vmax = 2, amax = 2, x0 = 3;
    double y1 = 1 + ways[k], D = fabs(ways[k]), peak = 0;
    double T = D >= 2 ? D / vmax + vmax / amax : 2 * sqrt(D / amax);
    srFunction f = {0};
    sr_pool_init(&pool);
    ENSURE(sr_motion_trapezoid(&pool, x0, 1, y1, vmax, amax, &f, reason, sizeof reason));
    ENSURE(at(&f, x0 - 1, 0) == 1 && at(&f, x0 - 1, 1) == 0);
    ENSURE(at(&f, x0 + T + 1, 0) == y1 && at(&f, x0 + T + 1, 1) == 0);
    ENSURE_NEAR(at(&f, x0 + T, 0), y1, 1e-14);
    ENSURE_SMALL(at(&f, x0 + T, 1), 1e-8);  // sqrt of the rounding of x
    ENSURE_NEAR(at(&f, x0 + T / 2, 0), 1 + ways[k] / 2, 1e-14 * (1 + D));
    for (int i = 0; i <= 1000; i++) {
      double x = x0 + T * i / 1000;
      ENSURE(fabs(at(&f, x, 1)) <= vmax * (1 + 1e-14) && fabs(at(&f, x, 2)) <= amax);
      ENSURE((at(&f, x, 0) - 1) * ways[k] >= -1e-14 && fabs(at(&f, x, 0) - 1) <= D * (1 + 1e-14) + 1e-15);
      peak = fmax(peak, fabs(at(&f, x, 1)));
    }
    ENSURE_NEAR(peak, fmin(vmax, sqrt(D * amax)), 0.01 * peak);
    if (D >= 0.5)
      compare_derivatives(&f, x0 - 1, x0 + T + 1, (double[]){x0, x0 + fmin(1, T / 2), x0 + T - fmin(1, T / 2), x0 + T},
                          4);
    sr_pool_free(&pool);
  }
}

TEST(a_trapezoid_of_zero_distance_does_not_move) {
  srFunction f = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_trapezoid(&pool, 1, 4, 4, 1, 1, &f, reason, sizeof reason));
  for (int i = 0; i < 10; i++) ENSURE(at(&f, i, 0) == 4 && at(&f, i, 1) == 0);
  ENSURE(!sr_motion_trapezoid(&pool, 1, 4, 5, 0, 1, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "the speed must be a positive number, got 0");
  ENSURE(!sr_motion_trapezoid(&pool, 1, 4, 5, 1, -2.5, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "the acceleration must be a positive number, got -2.5");
  sr_pool_free(&pool);
}

// ------------------------------------------------------------------------------------------------------------ sweep

TEST(a_sweep_runs_through_its_frequencies) {
  const double pi = acos(-1.0), A = 0.3, f0 = 0.5, f1 = 2, T = 4, x0 = 1;
  srFunction f = {0};
  sr_pool_init(&pool);
  ENSURE(sr_motion_sweep(&pool, x0, T, A, f0, f1, &f, reason, sizeof reason));
  ENSURE(at(&f, 0.5, 0) == 0 && at(&f, 0.5, 1) == 0);
  ENSURE_NEAR(at(&f, x0, 1), A * 2 * pi * f0, 1e-14);
  for (int i = 0; i < 100; i++) {
    double s = T * i / 100;
    ENSURE_NEAR(at(&f, x0 + s, 0), A * sin(2 * pi * (f0 * s + (f1 - f0) / T * s * s / 2)), 1e-14);
    // 5 s in all the mean frequency is 1.25: phase 5 turns, then the tone f1
    ENSURE_NEAR(at(&f, x0 + T + s, 0), A * sin(2 * pi * f1 * s), 1e-12);
  }
  compare_derivatives(&f, 0, 7, (double[]){x0, x0 + T}, 2);
  double e = 1e-9;  // value and slope go on at the end of the sweep
  ENSURE_NEAR(at(&f, x0 + T - e, 0), at(&f, x0 + T + e, 0), 1e-7);
  ENSURE_NEAR(at(&f, x0 + T - e, 1), at(&f, x0 + T + e, 1), 1e-6);
  ENSURE(!sr_motion_sweep(&pool, 0, 0, 1, 1, 2, &f, reason, sizeof reason));
  ENSURE_TEXT(reason, "the duration must be a positive number, got 0");
  sr_pool_free(&pool);
}
