// Functions along a step. Of three samples with the same sign, the middle one nearest to zero, a parabola tells how near to zero the function comes between them:
//   f = f1 + b (t - t1) + a (t - t1)^2;   at t1 - b/(2 a):  f1 - b^2/(4 a)
// Where that is less than half of f1 the function is evaluated there, again with the nearest three samples, until it is beyond zero or stays away from it.
// Two more samples close to both ends show a function that turns back next to them.
#include "simulate/scan.h"

#include <math.h>
#include <string.h>

#define TRIES 8         // of one function between three samples
#define END (1.0 / 16)  // of a piece: the samples close to both ends

typedef struct Three {
  double t[3], f[3];
} Three;

// Where the function comes nearest to zero; NaN: it stays away from it.
static double nearest(const Three* x) {
  const double *t = x->t, *f = x->f, s = f[1] > 0 ? 1 : -1;
  if (!(s * f[0] >= s * f[1] && s * f[2] >= s * f[1] && s * f[1] > 0)) return (double)NAN;
  const double d1 = s * (f[1] - f[0]) / (t[1] - t[0]), d2 = s * (f[2] - f[1]) / (t[2] - t[1]);
  const double a = (d2 - d1) / (t[2] - t[0]), b = (d1 * (t[2] - t[1]) + d2 * (t[1] - t[0])) / (t[2] - t[0]);
  if (!(a > 0 && s * f[1] - b * b / (4 * a) < 0.5 * s * f[1])) return (double)NAN;
  const double at = t[1] - b / (2 * a);
  return at > t[0] && at < t[2] && at != t[1] ? at : (double)NAN;
}

// One more sample: the nearest to zero stays in the middle.
static void narrow(Three* x, double t, double f) {
  const int side = t < x->t[1] ? 0 : 2;
  if (fabs(f) < fabs(x->f[1])) {
    x->t[2 - side] = x->t[1];
    x->f[2 - side] = x->f[1];
    x->t[1] = t;
    x->f[1] = f;
  } else {
    x->t[side] = t;
    x->f[side] = f;
  }
}

// May function i, of one sign at the last three samples, come nearer to zero between them than at the middle one?
static bool turns_back(const srScan* scan, int i) {
  const double middle = scan->middle[i], before = scan->before[i], last = scan->value[i];
  return middle > 0 ? before >= middle && last >= middle : before <= middle && last <= middle;
}

// A time between the last three samples at which function i is beyond zero, with all functions in scan->trial; NaN: none is found.
static double beyond(srScan* scan, int i, const double t[3]) {
  Three x = {{t[0], t[1], t[2]}, {scan->before[i], scan->middle[i], scan->value[i]}};
  for (int k = 0; k < TRIES; ++k) {
    const double at = nearest(&x);
    if (isnan(at) || scan->evaluate(scan->user, at, scan->trial) != 0) break;
    if (scan->trial[i] * x.f[1] < 0) return at;
    narrow(&x, at, scan->trial[i]);
  }
  return (double)NAN;
}

// Sample k of pieces + 3.
static double time_of(double a, double b, int pieces, int k) {
  const double h = (b - a) / pieces;
  if (k <= 1) return k == 0 ? a : a + END * h;
  if (k > pieces) return k == pieces + 1 ? b - END * h : b;
  return a + h * (k - 1);
}

double sr_scan_step(srScan* scan, double a, double b, int pieces, double* left) {
  const size_t size = (size_t)scan->n * sizeof(double);
  double t[3] = {a, a, a};
  *left = a;
  for (int k = 0; k < pieces + 3; ++k) {
    t[2] = time_of(a, b, pieces, k);
    if (scan->evaluate(scan->user, t[2], scan->value) != 0) return HUGE_VAL;
    for (int i = 0; k > 1 && i < scan->n; ++i) {
      if (!turns_back(scan, i)) continue;
      const double found = beyond(scan, i, t);
      if (!isnan(found) && scan->visit(scan->user, found, scan->trial)) return found;
    }
    *left = t[1];
    if (scan->visit(scan->user, t[2], scan->value)) return t[2];
    memcpy(scan->before, scan->middle, size);
    memcpy(scan->middle, scan->value, size);
    t[0] = t[1];
    t[1] = t[2];
  }
  return HUGE_VAL;
}
