// A parametric surface at a point: frame and curvature, in the parameters or, about a pole, in coordinates that are regular there.
//
//   e = [t b] T,  W = -T^T (n.x_ij) T           t, b: tangents of the chart; T by Gram and Schmidt
//
// About a pole r = 0 of (theta, r) the chart is (xi, eta) = r (cos theta, sin theta), c = cos theta, s = sin theta:
//   x_xi = c x_r - s x_theta/r,  x_eta = s x_r + c x_theta/r,  and the second derivatives by the same rule; of these the terms with x_r and
//   x_theta are left out: they are tangent, and W needs n.x_ij alone.
// Quotients by r lose digits as eps/r and eps/r^2. At the pole x_r(theta) = J e, x_rr(theta) = e^T H e with e = (cos theta, sin theta), so
// three angles give J and H exactly; nearer than SMALL these are used, with an error of order r^2 in the tangents.
#include "collide/smooth.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

#define PI 3.14159265358979323846
#define SMALL 6e-6     // of the range: cube root of the rounding error
#define ABOUT 0.25     // of the range: the chart of the pole is used
#define FLAT 1e-10     // sine of the angle of the tangents
#define CLOSED 1e-9    // of the size: the same point
#define SAME 1e-6      // derivatives at a pole agree
#define GRID 32        // intervals in which faults are looked for
#define HALVINGS 40    // of an interval with a normal that turns over
#define POLE_ANGLES 8  // at which a pole is examined

const char* const sr_smooth_fault_texts[SR_SMOOTH_FAULTS] = {
    "is good",
    "has an empty or infinite range",
    "or a derivative of it is not finite",
    "is said to be periodic and does not close",
    "has no normal: x_u and x_v are parallel or zero",
    "folds: its normal turns over to the other side",
};

typedef struct Chart {
  double x[3], t[2][3], second[3][3];  // second: up to tangent vectors
  double side;                         // +1: t[0] x t[1] has the direction of x_u x x_v
} Chart;

// ----------------------------------------------------------------------------------------------------------------- poles
typedef struct PolePlace {
  const srSmoothPole* pole;  // NULL: none is near
  int along, around;         // the parameter that ends at the pole, and the other one
  double sign;               // dr = sign d(parameter)
  double r, theta, rate;     // rate: d theta/d(parameter)
} PolePlace;

static double range_of(const srSmooth* s, int k) { return s->high[k] - s->low[k]; }

static PolePlace place_at_end(const srSmooth* s, int along, int end, const double at[2]) {
  PolePlace p = {.pole = &s->pole[along][end], .along = along, .around = 1 - along, .sign = end == 0 ? 1 : -1};
  p.r = end == 0 ? at[along] - s->low[along] : s->high[along] - at[along];
  p.rate = 2 * PI / range_of(s, p.around);
  p.theta = p.rate * (at[p.around] - s->low[p.around]);
  return p;
}

static PolePlace near_pole(const srSmooth* s, const double at[2]) {
  for (int along = 0; along < 2; along++)
    for (int end = 0; end < 2; end++) {
      if (!s->pole[along][end].is) continue;
      const PolePlace p = place_at_end(s, along, end, at);
      if (p.r < ABOUT * range_of(s, along)) return p;
    }
  return (PolePlace){.pole = NULL};
}

// The derivatives of the point by r and theta.
static void polar_derivatives(const PolePlace* p, const srSmoothPoint* y, double r1[3], double th1[3], double rr[3],
                              double rth[3], double thth[3]) {
  srm_scale3(p->sign, y->first[p->along], r1);
  srm_scale3(1 / p->rate, y->first[p->around], th1);
  srm_set3(rr, y->second[p->along == 0 ? 0 : 2]);
  srm_scale3(p->sign / p->rate, y->second[1], rth);
  srm_scale3(1 / (p->rate * p->rate), y->second[p->around == 0 ? 0 : 2], thth);
}

static void chart_about_pole(const PolePlace* p, const srSmoothPoint* y, double small, Chart* out) {
  const double c = cos(p->theta), s = sin(p->theta), r = p->r, xi = r * c, eta = r * s;
  const srSmoothPole* at = p->pole;
  double r1[3], th1[3], rr[3], rth[3], thth[3];
  out->side = p->sign * (p->along == 0 ? 1 : -1);
  if (r < small) {
    memcpy(out->second, at->second, sizeof out->second);
    for (int k = 0; k < 3; k++) {
      out->t[0][k] = at->first[0][k] + at->second[0][k] * xi + at->second[1][k] * eta;
      out->t[1][k] = at->first[1][k] + at->second[1][k] * xi + at->second[2][k] * eta;
    }
    return;
  }
  polar_derivatives(p, y, r1, th1, rr, rth, thth);
  for (int k = 0; k < 3; k++) {
    const double th = th1[k] / r, cross = rth[k] / r, round = thth[k] / (r * r);
    out->t[0][k] = c * r1[k] - s * th;
    out->t[1][k] = s * r1[k] + c * th;
    out->second[0][k] = c * c * rr[k] - 2 * c * s * cross + s * s * round;
    out->second[1][k] = c * s * (rr[k] - round) + (c * c - s * s) * cross;
    out->second[2][k] = s * s * rr[k] + 2 * c * s * cross + c * c * round;
  }
}

static void chart_at(const srSmooth* s, const double at[2], Chart* out) {
  srSmoothPoint y;
  s->at(s->self, at, &y);
  const PolePlace p = near_pole(s, at);
  srm_set3(out->x, y.x);
  if (p.pole != NULL) {
    chart_about_pole(&p, &y, SMALL * range_of(s, p.along), out);
    return;
  }
  out->side = 1;
  memcpy(out->t, y.first, sizeof out->t);
  memcpy(out->second, y.second, sizeof out->second);
}

// ----------------------------------------------------------------------------------------------------------------- frame
bool sr_smooth_frame(const srSmooth* s, const double at[2], srSmoothFrame* out) {
  Chart c;
  double II[3];
  chart_at(s, at, &c);
  srm_set3(out->x, c.x);
  srm_cross3(c.t[0], c.t[1], out->n);
  const double t = srm_norm3(c.t[0]), b = srm_norm3(c.t[1]), area = srm_norm3(out->n);
  if (!(area > FLAT * t * b) || !isfinite(area) || !(area > 0) || !isfinite(srm_dot3(c.x, c.x))) return false;
  srm_scale3((s->inward ? -1 : 1) * c.side / area, out->n, out->n);
  const double along = srm_dot3(c.t[1], c.t[0]) / t, across = area / t;
  for (int k = 0; k < 3; k++) {
    out->e[0][k] = c.t[0][k] / t;
    out->e[1][k] = (c.t[1][k] - along * out->e[0][k]) / across;
  }
  const double T[3] = {1 / t, -along / (t * across), 1 / across};
  for (int k = 0; k < 3; k++) II[k] = srm_dot3(out->n, c.second[k]);
  out->W[0] = -T[0] * T[0] * II[0];
  out->W[1] = -T[0] * (T[1] * II[0] + T[2] * II[1]);
  out->W[2] = -(T[1] * T[1] * II[0] + 2 * T[1] * T[2] * II[1] + T[2] * T[2] * II[2]);
  memcpy(out->T, T, sizeof T);
  return isfinite(out->W[0] + out->W[1] + out->W[2]);
}

static double wrapped(const srSmooth* s, int k, double value) {
  const double range = range_of(s, k);
  if (s->periodic[k]) value -= range * floor((value - s->low[k]) / range);
  return fmin(fmax(value, s->low[k]), s->high[k]);
}

void sr_smooth_step(const srSmooth* s, const srSmoothFrame* f, const double delta[2], double at[2]) {
  const double step[2] = {f->T[0] * delta[0] + f->T[1] * delta[1], f->T[2] * delta[1]};
  const PolePlace p = near_pole(s, at);
  double to[2] = {at[0] + step[0], at[1] + step[1]};
  if (p.pole != NULL) {
    const double xi = p.r * cos(p.theta) + step[0], eta = p.r * sin(p.theta) + step[1], r = hypot(xi, eta);
    to[p.along] = p.sign > 0 ? s->low[p.along] + r : s->high[p.along] - r;
    to[p.around] = s->low[p.around] + atan2(eta, xi) / p.rate;
  }
  for (int k = 0; k < 2; k++) at[k] = wrapped(s, k, to[k]);
}

// --------------------------------------------------------------------------------------------------------------- prepare
static bool is_finite_point(const srSmoothPoint* y) {
  double sum = 0;
  for (int k = 0; k < 3; k++) {
    sum += fabs(y->x[k]) + fabs(y->first[0][k]) + fabs(y->first[1][k]);
    for (int i = 0; i < 3; i++) sum += fabs(y->second[i][k]);
  }
  return sum <= 1e100;
}

static void grid_point(const srSmooth* s, int i, int j, double at[2]) {
  at[0] = i == GRID ? s->high[0] : s->low[0] + range_of(s, 0) * i / GRID;
  at[1] = j == GRID ? s->high[1] : s->low[1] + range_of(s, 1) * j / GRID;
}

static srSmoothFault find_size(srSmooth* s, double place[2]) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  srSmoothPoint y;
  for (int i = 0; i <= GRID; i++)
    for (int j = 0; j <= GRID; j++) {
      grid_point(s, i, j, place);
      s->at(s->self, place, &y);
      if (!is_finite_point(&y)) return SR_SMOOTH_NOT_FINITE;
      for (int k = 0; k < 3; k++) low[k] = fmin(low[k], y.x[k]), high[k] = fmax(high[k], y.x[k]);
    }
  double diagonal[3];
  srm_sub3(high, low, diagonal);
  for (int k = 0; k < 3; k++) s->centre[k] = 0.5 * (low[k] + high[k]);
  s->size = 0.5 * srm_norm3(diagonal);
  return s->size > 0 ? SR_SMOOTH_GOOD : SR_SMOOTH_DEGENERATE;
}

static srSmoothFault find_open(const srSmooth* s, double place[2]) {
  for (int k = 0; k < 2; k++)
    for (int i = 0; i <= GRID && s->periodic[k]; i++) {
      srSmoothPoint first, last;
      double gap[3];
      grid_point(s, i, i, place);
      place[k] = s->low[k];
      s->at(s->self, place, &first);
      place[k] = s->high[k];
      s->at(s->self, place, &last);
      for (int part = 0; part < 2; part++) {  // x, and the tangent across: a crease is no period
        srm_sub3(part == 0 ? first.x : first.first[k], part == 0 ? last.x : last.first[k], gap);
        const double unit = part == 0 ? s->size : s->size / range_of(s, k);
        if (srm_norm3(gap) > CLOSED * unit) return SR_SMOOTH_OPEN;
      }
    }
  return SR_SMOOTH_GOOD;
}

// Does the whole end have one point, with derivatives that belong to a smooth surface there?
static srSmoothFault find_pole(srSmooth* s, int along, int end, double place[2]) {
  srSmoothPole pole = {.is = true};
  double first[POLE_ANGLES][3], second[POLE_ANGLES][3], gap[3];
  srSmoothPoint y;
  for (int i = 0; i < POLE_ANGLES; i++) {
    place[along] = end == 0 ? s->low[along] : s->high[along];
    place[1 - along] = s->low[1 - along] + range_of(s, 1 - along) * i / POLE_ANGLES;
    s->at(s->self, place, &y);
    if (srm_norm3(y.first[1 - along]) * range_of(s, 1 - along) > CLOSED * s->size) return SR_SMOOTH_GOOD;
    srm_scale3(end == 0 ? 1 : -1, y.first[along], first[i]);
    srm_set3(second[i], y.second[along == 0 ? 0 : 2]);
  }
  const int quarter = POLE_ANGLES / 4, eighth = POLE_ANGLES / 8;
  for (int k = 0; k < 3; k++) {
    pole.first[0][k] = first[0][k];
    pole.first[1][k] = first[quarter][k];
    pole.second[0][k] = second[0][k];
    pole.second[2][k] = second[quarter][k];
    pole.second[1][k] = second[eighth][k] - 0.5 * (second[0][k] + second[quarter][k]);
  }
  const double unit = s->size / range_of(s, along);
  for (int i = 0; i < POLE_ANGLES; i++) {
    const double c = cos(2 * PI * i / POLE_ANGLES), d = sin(2 * PI * i / POLE_ANGLES);
    for (int k = 0; k < 3; k++) gap[k] = c * pole.first[0][k] + d * pole.first[1][k] - first[i][k];
    if (srm_norm3(gap) > SAME * unit) return SR_SMOOTH_DEGENERATE;
    for (int k = 0; k < 3; k++)
      gap[k] = c * c * pole.second[0][k] + 2 * c * d * pole.second[1][k] + d * d * pole.second[2][k] - second[i][k];
    if (srm_norm3(gap) > SAME * unit / range_of(s, along)) return SR_SMOOTH_DEGENERATE;
  }
  s->pole[along][end] = pole;
  return SR_SMOOTH_GOOD;
}

// Does the normal turn over between two points, however near they are taken? Then `to` is the place.
static bool turns_over(const srSmooth* s, const double from[2], double to[2]) {
  double p[2] = {from[0], from[1]}, q[2] = {to[0], to[1]}, middle[2];
  srSmoothFrame a, b, c;
  if (!sr_smooth_frame(s, p, &a) || !sr_smooth_frame(s, q, &b)) return false;
  for (int i = 0; i < HALVINGS; i++) {
    if (srm_dot3(a.n, b.n) >= 0) return false;
    for (int k = 0; k < 2; k++) middle[k] = 0.5 * (p[k] + q[k]);
    if (!sr_smooth_frame(s, middle, &c)) break;
    const bool first = srm_dot3(a.n, c.n) < srm_dot3(c.n, b.n);
    memcpy(first ? q : p, middle, sizeof p);
    *(first ? &b : &a) = c;
  }
  memcpy(to, q, sizeof q);
  return true;
}

static srSmoothFault find_degenerate(const srSmooth* s, double place[2]) {
  double n[GRID + 1][GRID + 1][3], from[2];
  srSmoothFrame f;
  for (int i = 0; i <= GRID; i++)
    for (int j = 0; j <= GRID; j++) {
      grid_point(s, i, j, place);
      if (!sr_smooth_frame(s, place, &f)) return SR_SMOOTH_DEGENERATE;
      srm_set3(n[i][j], f.n);
      grid_point(s, i - 1, j, from);
      if (i > 0 && srm_dot3(n[i][j], n[i - 1][j]) < 0 && turns_over(s, from, place)) return SR_SMOOTH_FOLD;
      grid_point(s, i, j - 1, from);
      if (j > 0 && srm_dot3(n[i][j], n[i][j - 1]) < 0 && turns_over(s, from, place)) return SR_SMOOTH_FOLD;
    }
  return SR_SMOOTH_GOOD;
}

srSmoothFault sr_smooth_prepare(srSmooth* s, double place[2]) {
  memset(s->pole, 0, sizeof s->pole);
  for (int k = 0; k < 2; k++) {
    place[k] = s->low[k];
    if (!(s->high[k] > s->low[k]) || !isfinite(range_of(s, k)) || !isfinite(s->low[k])) return SR_SMOOTH_RANGE;
  }
  srSmoothFault fault = find_size(s, place);
  if (fault == SR_SMOOTH_GOOD) fault = find_open(s, place);
  for (int i = 0; i < 4 && fault == SR_SMOOTH_GOOD; i++)
    if (s->periodic[1 - i / 2]) fault = find_pole(s, i / 2, i % 2, place);
  return fault == SR_SMOOTH_GOOD ? find_degenerate(s, place) : fault;
}
