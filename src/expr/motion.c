// Motions: splines through points (math/spline.c), the trapezoidal velocity profile, the linear sine sweep.
// All but the sweep are piecewise polynomials, evaluated by one function.
//
// Trapezoid, over D = |y1 - y0|: accelerate with amax for ta, cruise for tc, brake for ta, where
//   ta = vmax/amax,  tc = D/vmax - ta      when D >= vmax^2/amax;   else ta = sqrt(D/amax),  tc = 0  (triangle)
// Its acceleration jumps; the derivative of order 3 is 0, without the impulses.
//
// Sweep, with s = x - x0, duration T, frequency f(s) = f0 + (f1 - f0) s/T:
//   y = A sin(phi),   phi = 2 pi (f0 s + (f1 - f0) s^2 / (2 T));   w = phi',  w' constant
// Derivatives of any order by Leibniz's rule on S' = w C, C' = -w S  (S = sin phi, C = cos phi):
//   S^(n+1) = w C^(n) + n w' C^(n-1),   C^(n+1) = -(w S^(n) + n w' S^(n-1))
#include "expr/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"

static const double two_pi = 6.28318530717958647692;

// --------------------------------------------------------------------------------------------- piecewise polynomials

typedef struct Motion {
  srPiecewise pieces;
  double first, last;  // values held before and after, when hold is set
  bool hold;           // else: along the end tangents
  double period;       // > 0: repeats
  bool jerks;          // its acceleration jumps at every knot
} Motion;

static double evaluate_pieces(const void* self, double x, int order) {
  const Motion* m = self;
  const srPiecewise* p = &m->pieces;
  double begin = p->x[0], end = p->x[p->n - 1];
  if (m->period > 0) return srm_piecewise(p, x - m->period * floor((x - begin) / m->period), order);
  if (x >= begin && x <= end) return srm_piecewise(p, x, order);
  if (isnan(x)) return x;
  if (m->hold) return order > 0 ? 0 : x < begin ? m->first : m->last;
  double edge = x < begin ? begin : end;
  if (order > 1) return 0;
  double derivative = srm_piecewise(p, edge, 1);
  return order == 1 ? derivative : (x < begin ? m->first : m->last) + derivative * (x - edge);
}

static void set_motion(srFunction* out, const Motion* motion) {
  *out = (srFunction){.name = out->name, .evaluate = evaluate_pieces, .self = motion};
}

static const double* copy(srPool* pool, const double* x, int n) {
  double* made = sr_pool_alloc(pool, (size_t)n * sizeof *made);
  memcpy(made, x, (size_t)n * sizeof *made);
  return made;
}

static bool all_finite(const double* x, int n) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

// Splines require two points or more, finite, x strictly increasing.
static bool check_points(const double* x, const double* y, int n, char* reason, size_t size) {
  char before[SR_NUMBER_TEXT], here[SR_NUMBER_TEXT];
  if (n < 2) {
    snprintf(reason, size, "a spline needs at least 2 points, got %d", n);
    return false;
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i]) || !isfinite(y[i])) {
      snprintf(reason, size, "point %d is not a pair of finite numbers", i + 1);
      return false;
    }
    if (i == 0 || x[i] > x[i - 1]) continue;
    sr_number_text(x[i - 1], before, sizeof before);
    sr_number_text(x[i], here, sizeof here);
    snprintf(reason, size, "the points must be in increasing order: point %d is at %s, after one at %s", i + 1, here,
             before);
    return false;
  }
  return true;
}

// A periodic spline repeats from its last point on: the same value as at the first, up to the rounding of formulas.
static bool check_closed(const double* y, int n, char* reason, size_t size) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(y[i]));
  if (fabs(y[n - 1] - y[0]) <= 1e-12 * most) return true;
  char first[SR_NUMBER_TEXT], last[SR_NUMBER_TEXT];
  sr_number_text(y[0], first, sizeof first);
  sr_number_text(y[n - 1], last, sizeof last);
  snprintf(reason, size, "a periodic spline ends with the value it begins with, %s; its last point has %s", first,
           last);
  return false;
}

static bool spline(srPool* pool, const double* x, const double* y, int n, Motion form, srmSplineEnds ends,
                   srFunction* out, char* reason, size_t size) {
  if (!check_points(x, y, n, reason, size)) return false;
  if (ends == SRM_ENDS_PERIODIC && !check_closed(y, n, reason, size)) return false;
  int degree = form.pieces.degree, nc = (n - 1) * (degree + 1);
  double* c = sr_pool_alloc(pool, (size_t)nc * sizeof *c);
  double* work = sr_pool_alloc(pool, 5 * (size_t)n * sizeof *work);
  if (degree == 3) {
    srm_spline_cubic(n, x, y, ends, work, c);
  } else {
    srm_spline_quintic(n, x, y, work, c);
  }
  if (!all_finite(c, nc)) {
    snprintf(reason, size, "the points are too close to each other, or too large, for a spline through them");
    return false;
  }
  Motion* motion = sr_pool_alloc(pool, sizeof *motion);
  *motion = form;
  motion->pieces.n = n;
  motion->pieces.x = copy(pool, x, n);
  motion->pieces.c = c;
  motion->first = y[0];
  motion->last = y[n - 1];
  motion->period = ends == SRM_ENDS_PERIODIC ? x[n - 1] - x[0] : 0;
  set_motion(out, motion);
  return true;
}

bool sr_motion_cubic(srPool* pool, const double* x, const double* y, int n, srmSplineEnds ends, srFunction* out,
                     char* reason, size_t size) {
  const Motion form = {.pieces.degree = 3, .hold = ends == SRM_ENDS_CLAMPED};
  return spline(pool, x, y, n, form, ends, out, reason, size);
}

bool sr_motion_quintic(srPool* pool, const double* x, const double* y, int n, srFunction* out, char* reason,
                       size_t size) {
  return spline(pool, x, y, n, (Motion){.pieces.degree = 5, .hold = true}, SRM_ENDS_CLAMPED, out, reason, size);
}

// -------------------------------------------------------------------------------------------------------- trapezoid

// Numbers that a profile is made of: finite, and positive where they must be.
static bool check_number(const char* name, double value, bool positive, char* reason, size_t size) {
  char text[SR_NUMBER_TEXT];
  if (isfinite(value) && (value > 0 || !positive)) return true;
  sr_number_text(value, text, sizeof text);
  snprintf(reason, size, "%s must be %s number, got %s", name, positive ? "a positive" : "a finite", text);
  return false;
}

// Knots and coefficients {y, y', y''/2} of up to three pieces; pieces without length are left out.
typedef struct Profile {
  double x[4], c[9];
  int n;
} Profile;

static void add_piece(Profile* p, double length, double y, double v, double half_a) {
  double end = p->x[p->n] + length;
  if (!(end > p->x[p->n])) return;
  double* c = p->c + 3 * p->n;
  c[0] = y, c[1] = v, c[2] = half_a;
  p->x[++p->n] = end;
}

bool sr_motion_trapezoid(srPool* pool, double x0, double y0, double y1, double vmax, double amax, srFunction* out,
                         char* reason, size_t size) {
  if (!check_number("the start time", x0, false, reason, size) ||
      !check_number("the start value", y0, false, reason, size) ||
      !check_number("the end value", y1, false, reason, size) || !check_number("the speed", vmax, true, reason, size) ||
      !check_number("the acceleration", amax, true, reason, size))
    return false;
  double D = fabs(y1 - y0), sign = y1 < y0 ? -1 : 1;
  bool cruise = D >= vmax * vmax / amax;
  double ta = cruise ? vmax / amax : sqrt(D / amax);
  double tc = cruise ? fmax(D / vmax - ta, 0) : 0;
  double v = sign * (cruise ? vmax : amax * ta), a = sign * amax, rise = a * ta * ta / 2;
  Profile p = {.x = {x0}};
  add_piece(&p, ta, y0, 0, a / 2);
  add_piece(&p, tc, y0 + rise, v, 0);
  add_piece(&p, ta, y1 - rise, v, -a / 2);
  if (!isfinite(p.x[p.n]) || !all_finite(p.c, 9)) {
    snprintf(reason, size, "the way from start to end is too long for this speed and acceleration");
    return false;
  }
  if (p.n == 0) {  // no distance to cover, or none that x can resolve
    p.x[++p.n] = x0 + fmax(1, fabs(x0));
    p.c[0] = y1;
  }
  Motion* motion = sr_pool_alloc(pool, sizeof *motion);
  *motion = (Motion){{p.n + 1, 2, copy(pool, p.x, p.n + 1), copy(pool, p.c, 3 * p.n)}, y0, y1, true, 0, true};
  set_motion(out, motion);
  return true;
}

// ------------------------------------------------------------------------------------------------------------ sweep

typedef struct Sweep {
  double x0, duration, amplitude, f0, f1;
} Sweep;

// Derivative of this order of sin(phase), where phase' = w and phase'' = dw, constant.
static double sine_derivative(double phase, double w, double dw, int order) {
  double S = sin(phase), C = cos(phase), S_before = 0, C_before = 0;
  for (int n = 0; n < order; n++) {
    double S_next = w * C + n * dw * C_before;
    double C_next = -(w * S + n * dw * S_before);
    S_before = S, C_before = C;
    S = S_next, C = C_next;
  }
  return S;
}

// Piece -1: rest, 0: the sweep, 1: the tone.
static double sweep_piece(const Sweep* m, int piece, double x, int order) {
  double s = x - m->x0, T = m->duration, rate = (m->f1 - m->f0) / T;
  if (piece < 0) return 0;
  if (piece == 0) {
    double phase = two_pi * (m->f0 + rate * s / 2) * s;
    return m->amplitude * sine_derivative(phase, two_pi * (m->f0 + rate * s), two_pi * rate, order);
  }
  double phase = two_pi * ((m->f0 + m->f1) / 2 * T + m->f1 * (s - T));
  return m->amplitude * sine_derivative(phase, two_pi * m->f1, 0, order);
}

static double evaluate_sweep(const void* self, double x, int order) {
  const Sweep* m = self;
  const double s = x - m->x0;
  return sweep_piece(m, s < 0 ? -1 : s <= m->duration ? 0 : 1, x, order);
}

bool sr_motion_sweep(srPool* pool, double x0, double duration, double amplitude, double f0, double f1, srFunction* out,
                     char* reason, size_t size) {
  if (!check_number("the start time", x0, false, reason, size) ||
      !check_number("the duration", duration, true, reason, size) ||
      !check_number("the amplitude", amplitude, false, reason, size) ||
      !check_number("the first frequency", f0, false, reason, size) ||
      !check_number("the last frequency", f1, false, reason, size))
    return false;
  Sweep* sweep = sr_pool_alloc(pool, sizeof *sweep);
  *sweep = (Sweep){x0, duration, amplitude, f0, f1};
  *out = (srFunction){.name = out->name, .evaluate = evaluate_sweep, .self = sweep};
  return true;
}

// ----------------------------------------------------------------------------------------------------------- corners

// Of a distance s >= 0 beyond the last corner: within 0 .. 1, so that there is no further one.
static double beyond(double s) { return 0.5 * s / (1 + s); }

double sr_place(int n, const double* x, bool endless, double at) {
  const int last = endless ? n - 2 : n - 1;
  if (at < x[0] && !endless) return -beyond((x[0] - at) / (x[1] - x[0]));
  if (at < x[1] && endless) return 1 - beyond((x[1] - at) / (x[1] - x[0]));
  if (at >= x[last]) return last + beyond((at - x[last]) / (x[n - 1] - x[n - 2]));
  const int i = srm_piece(n, x, at);
  return i + (at - x[i]) / (x[i + 1] - x[i]);
}

// The whole part of a place is all that formulas use: its derivatives are never needed.
static double place_in_pieces(const void* self, double x, int order) {
  const Motion* m = self;
  const srPiecewise* p = &m->pieces;
  const double ends[2] = {p->x[0], p->x[p->n - 1]};
  if (order > 0 || isnan(x)) return order > 0 ? 0 : x;
  return m->jerks ? sr_place(p->n, p->x, false, x) : sr_place(2, ends, false, x);
}

static double place_in_sweep(const void* self, double x, int order) {
  const Sweep* m = self;
  const double ends[2] = {m->x0, m->x0 + m->duration};
  return order > 0 ? 0 : isnan(x) ? x : sr_place(2, ends, false, x);
}

static double piece_of_motion(const void* self, double k, double x, int order_k, int order) {
  const Motion* m = self;
  const srPiecewise* p = &m->pieces;
  const int last = m->jerks ? p->n - 2 : 0;
  if (order_k > 0 || isnan(k)) return order_k > 0 ? 0 : k;
  if (k < 0 || k > last) return order > 0 ? 0 : k < 0 ? m->first : m->last;
  if (!m->jerks) return srm_piecewise(p, x, order);
  return srm_polynomial(p->degree, p->c + (int)k * (p->degree + 1), x - p->x[(int)k], order);
}

static double piece_of_sweep(const void* self, double k, double x, int order_k, int order) {
  if (order_k > 0 || isnan(k)) return order_k > 0 ? 0 : k;
  return sweep_piece(self, k < 0 ? -1 : k > 0, x, order);
}

static srMotionView view_of(const void* self, bool is_sweep) {
  const Motion* m = self;
  const Sweep* s = self;
  if (is_sweep)
    return (srMotionView){.x0 = s->x0, .duration = s->duration, .amplitude = s->amplitude, .f0 = s->f0, .f1 = s->f1};
  return (srMotionView){.pieces = &m->pieces, .first = m->first, .last = m->last, .hold = m->hold, .period = m->period};
}

bool sr_motion_view(const srFunction* motion, srMotionView* out) {
  if (motion->evaluate != evaluate_sweep && motion->evaluate != evaluate_pieces) return false;
  *out = view_of(motion->self, motion->evaluate == evaluate_sweep);
  return true;
}

bool sr_motion_piece_view(const srFunction2* piece, srMotionView* out) {
  if (piece->evaluate != piece_of_sweep && piece->evaluate != piece_of_motion) return false;
  *out = view_of(piece->self, piece->evaluate == piece_of_sweep);
  return true;
}

bool sr_motion_corners(const srFunction* motion, srFunction* place, srFunction2* piece) {
  const Motion* m = motion->self;
  const bool sweep = motion->evaluate == evaluate_sweep;
  if (!sweep && !(motion->evaluate == evaluate_pieces && m->hold)) return false;
  *place = (srFunction){.evaluate = sweep ? place_in_sweep : place_in_pieces, .self = m};
  *piece = (srFunction2){.evaluate = sweep ? piece_of_sweep : piece_of_motion, .self = m};
  return true;
}
