// A motor and a controller on a closed loop (models/mechanisms/motor-slider-crank.xml): the states of the user keep the order of
// every method. The reference is the same machine in one coordinate, made here from the geometry of the slider-crank:
//   (J(s) + Jr) s'' = kt i - J'(s)/2 s'^2 - V'(s),   L i' = u - R i - kt s',   integral' = speed - s'
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"

enum { STATES = 4 };  // s, s', i, integral

static const double l1 = 0.15, l2 = 0.35, m1 = 0.4, m2 = 0.9, m3 = 1.2, gravity = 9.81;
static const double ends[] = {0.15, 0.2, 0.25,
                              0.3};  // errors are the largest at these times: at one alone they may cross 0
enum { ENDS = sizeof ends / sizeof ends[0] };

// Angle of the rod and its first two derivatives by s: l1 sin s + l2 sin a = 0.
static void rod(double s, double* a, double* a1, double* a2) {
  const double r = l1 / l2;
  *a = -asin(r * sin(s));
  *a1 = -r * cos(s) / cos(*a);
  *a2 = (r * sin(s) + sin(*a) * *a1 * *a1) / cos(*a);
}

// J(s), J'(s), V'(s).
static void reduced(double s, double* J, double* dJ, double* dV) {
  double a, a1, a2;
  rod(s, &a, &a1, &a2);
  // Centre of the rod and the slider: velocities and accelerations by s.
  const double cx = -l1 * sin(s) - l2 / 2 * sin(a) * a1, cy = l1 * cos(s) + l2 / 2 * cos(a) * a1;
  const double dx = -l1 * cos(s) - l2 / 2 * (cos(a) * a1 * a1 + sin(a) * a2);
  const double dy = -l1 * sin(s) + l2 / 2 * (-sin(a) * a1 * a1 + cos(a) * a2);
  const double bx = -l1 * sin(s) - l2 * sin(a) * a1, ex = -l1 * cos(s) - l2 * (cos(a) * a1 * a1 + sin(a) * a2);
  *J = m1 * l1 * l1 / 3 + m2 * (cx * cx + cy * cy) + m2 * l2 * l2 / 12 * a1 * a1 + m3 * bx * bx;
  *dJ = 2 * (m2 * (cx * dx + cy * dy) + m2 * l2 * l2 / 12 * a1 * a2 + m3 * bx * ex);
  *dV = gravity * (m1 * l1 / 2 * cos(s) + m2 * cy);
}

static void rates(const double* x, double* k) {
  const double R = 0.8, L = 0.02, kt = 0.5, Jr = 0.01, speed = 20, kp = 2, ki = 12;
  double J, dJ, dV;
  reduced(x[0], &J, &dJ, &dV);
  k[0] = x[1];
  k[1] = (kt * x[2] - dJ / 2 * x[1] * x[1] - dV) / (J + Jr);
  k[2] = (kp * (speed - x[1]) + ki * x[3] - R * x[2] - kt * x[1]) / L;
  k[3] = speed - x[1];
}

static void classic_steps(double t_end, int steps, double* x) {
  const double h = t_end / steps;
  for (int n = 0; n < steps; ++n) {
    double k[4][STATES], y[STATES];
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < STATES; ++i) y[i] = x[i] + (r == 0 ? 0 : r == 3 ? h : h / 2) * (r > 0 ? k[r - 1][i] : 0);
      rates(y, k[r]);
    }
    for (int i = 0; i < STATES; ++i) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

// Extrapolated: good to 1e-13.
static void reference(double t_end, double* x) {
  double coarse[STATES] = {0.4}, fine[STATES] = {0.4};
  classic_steps(t_end, 2000, coarse);
  classic_steps(t_end, 4000, fine);
  for (int i = 0; i < STATES; ++i) x[i] = fine[i] + (fine[i] - coarse[i]) / 15;
}

// ---- errors and orders ------------------------------------------------------------------------------------------------

typedef struct Errors {
  double q, v, y;
} Errors;

static Errors errors_at(double t_end, const char* method, srControlRule control, double step, double rtol) {
  Loaded x = open_model("mechanisms/motor-slider-crank", "");
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  options.control = control;
  options.step = step;
  options.rtol = rtol;
  options.atol = 1e-2 * rtol;
  options.t_end = t_end;
  const srStatus status = sr_run(x.m, x.d, &options, NULL, &x.result);
  if (status != SR_OK) printf("%s: %s\n", method, x.result.error_message);
  ENSURE_EQUAL(status, SR_OK);
  double exact[STATES];
  reference(t_end, exact);
  const Errors e = {fabs(x.d->q[0] - exact[0]), fabs(x.d->v[0] - exact[1]),
                    fmax(fabs(x.d->y[0] - exact[2]), fabs(x.d->y[1] - exact[3]))};
  close_model(&x);
  return e;
}

static Errors run(const char* method, srControlRule control, double step, double rtol) {
  Errors most = {0};
  for (int i = 0; i < ENDS; ++i) {
    const Errors e = errors_at(ends[i], method, control, step, rtol);
    most = (Errors){fmax(most.q, e.q), fmax(most.v, e.v), fmax(most.y, e.y)};
  }
  return most;
}

static double order(double coarse, double fine) { return log2(coarse / fine); }

// Is the order of the finer pair that of the method? Of order 2 within 0.15, as the generalized-alpha methods shall be.
static bool keeps(const srMethod* method, const char* what, double coarse, double fine) {
  const double p = order(coarse, fine), least = method->order - (method->order == 2 ? 0.15 : 0.3);
  const double most = method->order == 2 ? 2.15 : HUGE_VAL;  // of the others more is no fault: a small leading term
  if (p >= least && p <= most) return true;
  printf("%s: order %.3f in %s (errors %.3g, %.3g)\n", method->name, p, what, coarse, fine);
  return false;
}

TEST(motor_reference_is_the_model_to_twelve_digits) {
  const Errors e = run("dopri5", SR_CONTROL_DEFAULT, 0, 1e-13);
  ENSURE_SMALL(e.q, 1e-11);
  ENSURE_SMALL(e.v, 1e-10);
  ENSURE_SMALL(e.y, 1e-10);
}

TEST(motor_states_keep_the_order_of_every_method) {
  int wrong = 0;
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (method->impulses || method->order > 5 || strcmp(method->name, "cvode") == 0 || strcmp(method->name, "ida") == 0)
      continue;
    const double step = method->order == 5 ? 1e-3 : method->order == 4 ? 5e-4 : 2.5e-4;
    const srControlRule control = method->adaptive ? SR_CONTROL_FIXED : SR_CONTROL_DEFAULT;
    const Errors coarse = run(method->name, control, 2 * step, 1e-12), fine = run(method->name, control, step, 1e-12);
    wrong += !keeps(method, "q", coarse.q, fine.q);
    wrong += !keeps(method, "v", coarse.v, fine.v);
    wrong += !keeps(method, "y", coarse.y, fine.y);
  }
  ENSURE_EQUAL(wrong, 0);
}

// Methods of variable order have none to measure: their errors follow the tolerance.
TEST(motor_errors_follow_the_tolerance_of_every_adaptive_method) {
  int wrong = 0;
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!method->adaptive || method->order < 3) continue;
    const Errors loose = run(method->name, SR_CONTROL_DEFAULT, 0, 1e-6),
                 tight = run(method->name, SR_CONTROL_DEFAULT, 0, 1e-10);
    const bool good = loose.q < 1e-3 && loose.v < 1e-2 && loose.y < 1e-2 && tight.q < 1e-7 && tight.v < 1e-6 &&
                      tight.y < 1e-6 && tight.v < 1e-2 * loose.v;
    if (!good) {
      printf("%s: %.2g %.2g %.2g, then %.2g %.2g %.2g\n", method->name, loose.q, loose.v, loose.y, tight.q, tight.v,
             tight.y);
      wrong++;
    }
  }
  ENSURE_EQUAL(wrong, 0);
}
