// One contact whose slip direction turns during the impact (Routh; Keller 1986): with the normal impulse P as independent variable
//   u_N' = W_NN - mu W_NT d,   s' = W_TN - mu W_TT d,   d = s/|s|,   p_T' = -mu d                              s: slip
// until s = 0; then stick, if |W_TT^-1 W_TN| <= mu, else slip along a direction d with W_TN - mu W_TT d = kappa d, kappa > 0. Both have
// constant derivatives. While it slips the equations are integrated over tau, dP = |s| dtau, where they are regular and s tends to 0
// exponentially; slip that does not turn (a planar contact, or the end of the turn) has constant derivatives too. The end: u_N = -e u_N- (Newton), P = (1 + e) P_c (Poisson), or the work of the normal impulse in the expansion is
// e^2 of that in the compression (Stronge 1990); P_c is the impulse where u_N = 0.
#include <math.h>
#include <string.h>

#include "nonsmooth/solver.h"

enum { UN, ST, SB, P, PT, PB, WORK, STATE };  // u_N, slip, impulses, work of the normal impulse
enum { STEPS = 100000 };
#define STEP 0.1        // of tau, times the reciprocal of the rates: the error of a step of order 8 is rounding
#define STRAIGHT 1e-13  // of the rates of the slip: it turns no more
#define STOPPED 1e-14   // part of the first slip (or of u_N) that is 0

typedef struct Shock {
  const double* W;
  double mu, e, approach;  // u_N-, < 0
  srImpactLaw law;
  double p_c, work_c;  // at the end of the compression
  bool expands;
} Shock;

// ---- the end ------------------------------------------------------------------------------------------------------------

// Increases through 0 at the end of the phase of the impact: compression first.
static double end_function(const Shock* k, const double y[STATE]) {
  if (!k->expands) return y[UN];
  switch (k->law) {
    case SR_IMPACT_NEWTON: return y[UN] + k->e * k->approach;
    case SR_IMPACT_POISSON: return y[P] - (1 + k->e) * k->p_c;
    case SR_IMPACT_STRONGE: return y[WORK] - (1 - k->e * k->e) * k->work_c;
  }
  return 0;
}

static void begin_expansion(Shock* k, const double y[STATE]) {
  k->expands = true;
  k->p_c = y[P];
  k->work_c = y[WORK];
}

// ---- constant derivatives -----------------------------------------------------------------------------------------------

// The state after dP more; rate: derivatives by P.
static void glide(const double y[STATE], const double rate[STATE], double dP, double out[STATE]) {
  for (int i = 0; i < STATE; ++i) out[i] = y[i] + rate[i] * dP;
  out[WORK] = y[WORK] + dP * (y[UN] + 0.5 * rate[UN] * dP);
}

// dP to the end of the phase where u_N has a constant derivative; NaN: it is never reached.
static double glide_length(const Shock* k, const double y[STATE], double rate) {
  if (!(rate > 0)) return NAN;
  if (!k->expands) return -y[UN] / rate;
  if (k->law == SR_IMPACT_NEWTON) return (-k->e * k->approach - y[UN]) / rate;
  if (k->law == SR_IMPACT_POISSON) return (1 + k->e) * k->p_c - y[P];
  const double missing = (1 - k->e * k->e) * k->work_c - y[WORK];  // >= 0: the work that is still to be done
  return 2 * missing / (y[UN] + sqrt(fmax(y[UN] * y[UN] + 2 * rate * missing, 0)));
}

// Stick, or slip along a ray; what the slip becomes then follows from the impulse.
static void stopped_rate(const Shock* k, double rate[STATE]) {
  const double *W = k->W, A[3] = {W[4], W[5], W[8]}, b[2] = {W[3], W[6]}, none[2] = {0, 0};
  const double mA[3] = {k->mu * A[0], k->mu * A[1], k->mu * A[2]};
  double x[2], alpha;
  memset(rate, 0, STATE * sizeof *rate);
  rate[P] = 1;
  if (k->mu > 0) {
    // x = -d: |(mu A + kappa)^-1 b| = 1, or shorter with kappa = 0: stick, p_T' = -A^-1 b = mu x
    (void)sr_secular_solve(mA, b, 1, none, x, &alpha);
    rate[PT] = k->mu * x[0];
    rate[PB] = k->mu * x[1];
  }
  rate[UN] = W[0] + W[1] * rate[PT] + W[2] * rate[PB];
}

// ---- slip ---------------------------------------------------------------------------------------------------------------

// Derivatives by tau.
static void slip_rate(const Shock* k, const double y[STATE], double f[STATE]) {
  const double r = hypot(y[ST], y[SB]), *W = k->W;
  f[P] = r;
  f[PT] = -k->mu * y[ST];
  f[PB] = -k->mu * y[SB];
  f[UN] = W[0] * r + W[1] * f[PT] + W[2] * f[PB];
  f[ST] = W[3] * r + W[4] * f[PT] + W[5] * f[PB];
  f[SB] = W[6] * r + W[7] * f[PT] + W[8] * f[PB];
  f[WORK] = y[UN] * r;
}

// The modified midpoint rule with 2, 4, 6, 8 substeps, extrapolated: order 8 (Hairer, Norsett and Wanner 1993, section II.9).
static void slip_step(const Shock* k, const double y[STATE], double h, double out[STATE]) {
  enum { LEVELS = 4 };
  double T[LEVELS][STATE], f[STATE];
  for (int level = 0; level < LEVELS; ++level) {
    const int n = 2 * (level + 1);
    double a[STATE], b[STATE];
    slip_rate(k, y, f);
    for (int i = 0; i < STATE; ++i) {
      a[i] = y[i];
      b[i] = y[i] + h / n * f[i];
    }
    for (int j = 1; j < n; ++j) {
      slip_rate(k, b, f);
      for (int i = 0; i < STATE; ++i) {
        const double next = a[i] + 2 * h / n * f[i];
        a[i] = b[i];
        b[i] = next;
      }
    }
    memcpy(T[level], b, sizeof b);
    for (int j = level - 1; j >= 0; --j) {
      const double ratio = (double)(level + 1) / (j + 1), gain = 1 / (ratio * ratio - 1);
      for (int i = 0; i < STATE; ++i) T[j][i] = T[j + 1][i] + (T[j + 1][i] - T[j][i]) * gain;
    }
  }
  memcpy(out, T[0], sizeof T[0]);
}

// The part of the step at which the phase ends: regula falsi with halving (Illinois), end_function < 0 at y and >= 0 after h.
static void slip_to_end(const Shock* k, const double y[STATE], double h, double out[STATE]) {
  double low = 0, high = h, f_low = end_function(k, y), f_high;
  slip_step(k, y, h, out);
  f_high = end_function(k, out);
  for (int i = 0; i < 100 && high - low > 1e-16 * h && f_high != 0; ++i) {
    const double middle = i % 8 == 7 ? 0.5 * (low + high) : (low * f_high - high * f_low) / (f_high - f_low);
    slip_step(k, y, middle, out);
    const double f = end_function(k, out);
    if (f < 0) {
      low = middle;
      f_low = f;
      f_high *= 0.5;
    } else {
      if (f == 0 || middle == high) return;
      high = middle;
      f_high = f;
      f_low *= 0.5;
    }
  }
}

// Rate of the slip by P where it has the direction d. Returns how fast it turns.
static double straight_rate(const Shock* k, const double d[2], double rate[2]) {
  const double *W = k->W, mu = k->mu;
  rate[0] = W[3] - mu * (W[4] * d[0] + W[5] * d[1]);
  rate[1] = W[6] - mu * (W[7] * d[0] + W[8] * d[1]);
  return fabs(d[0] * rate[1] - d[1] * rate[0]);
}

// As `slip`, in closed form, where the slip keeps its direction d: planar contacts (Wang and Mason 1992), and slip that has turned as far as it does.
static int slip_straight(Shock* k, double y[STATE], const double d[2]) {
  double turn[2];
  (void)straight_rate(k, d, turn);
  const double kappa = d[0] * turn[0] + d[1] * turn[1], *W = k->W;
  const double rate[STATE] = {[UN] = W[0] - k->mu * (W[1] * d[0] + W[2] * d[1]),
                              [ST] = kappa * d[0],
                              [SB] = kappa * d[1],
                              [P] = 1,
                              [PT] = -k->mu * d[0],
                              [PB] = -k->mu * d[1]};
  const double stop = y[P] + (kappa < 0 ? hypot(y[ST], y[SB]) / -kappa : (double)INFINITY);
  while (true) {
    const double end = glide_length(k, y, rate[UN]), left = stop - y[P];
    double next[STATE];
    const bool ends = end >= 0 && end <= left;
    if (!ends && !isfinite(left)) return -1;
    glide(y, rate, ends ? end : left, next);
    memcpy(y, next, sizeof next);
    if (!ends) return 0;
    if (k->expands) return 1;
    begin_expansion(k, y);
    y[UN] = 0;
    if (k->e == 0) return 1;
  }
}

// Slips to the end of the impact or of the slip. 1: ended; 0: slip is 0; -1: neither.
static int slip(Shock* k, double y[STATE]) {
  const double start = fmax(hypot(y[ST], y[SB]), -k->approach);
  const double scale = k->mu * (fabs(k->W[4]) + fabs(k->W[8])) + hypot(k->W[3], k->W[6]);
  for (int i = 0; i < STEPS; ++i) {
    double next[STATE];
    const double h = STEP / scale, size = hypot(y[ST], y[SB]), d[2] = {y[ST] / size, y[SB] / size};
    double rate[2];
    if (straight_rate(k, d, rate) <= STRAIGHT * scale) return slip_straight(k, y, d);
    slip_step(k, y, h, next);
    if (end_function(k, next) >= 0) {
      slip_to_end(k, y, h, next);
      memcpy(y, next, sizeof next);
      if (k->expands) return 1;
      begin_expansion(k, y);
      y[UN] = 0;
      if (k->e == 0) return 1;
      continue;
    }
    memcpy(y, next, sizeof next);
    if (!isfinite(y[UN])) return -1;
    if (hypot(y[ST], y[SB]) <= STOPPED * start) return 0;
  }
  return -1;
}

// ---- impact -------------------------------------------------------------------------------------------------------------

static bool glide_to_end(Shock* k, double y[STATE]) {
  double rate[STATE], next[STATE];
  y[ST] = y[SB] = 0;
  stopped_rate(k, rate);
  while (true) {
    const double dP = glide_length(k, y, rate[UN]);
    if (!(dP >= 0)) return false;
    glide(y, rate, dP, next);
    memcpy(y, next, sizeof next);
    if (k->expands) return true;
    begin_expansion(k, y);
    y[UN] = 0;
    if (k->e == 0) return true;
  }
}

bool sr_contact_shock(const double W[9], const double u[3], double mu, double e, srImpactLaw law, srShock* out) {
  Shock k = {.W = W, .mu = mu, .e = e, .approach = u[0], .law = law};
  double y[STATE] = {[UN] = u[0], [ST] = u[1], [SB] = u[2]};
  int ended = 0;
  *out = (srShock){0};
  if (!(u[0] < 0) || !(W[0] > 0)) return false;
  if (mu > 0 && hypot(u[1], u[2]) > 0) {
    ended = slip(&k, y);
    ++out->phases;
  }
  if (ended == 0) {
    ++out->phases;
    if (mu == 0) {  // slip has no effect on the impulse
      const double rate = W[0], p = (1 + e) * -u[0] / rate;
      y[P] = p;
      y[UN] = u[0] + rate * p;
      y[WORK] = 0.5 * p * (u[0] + y[UN]);
      k.p_c = -u[0] / rate;
    } else if (!glide_to_end(&k, y)) {
      ended = -1;
    }
  }
  if (ended < 0) return false;
  out->p[0] = y[P];
  out->p[1] = y[PT];
  out->p[2] = y[PB];
  out->compression = k.p_c;
  out->normal = y[WORK];
  for (int i = 0; i < 3; ++i) {
    out->u[i] = u[i] + W[3 * i] * out->p[0] + W[3 * i + 1] * out->p[1] + W[3 * i + 2] * out->p[2];
    out->energy += 0.5 * out->p[i] * (u[i] + out->u[i]);
  }
  return true;
}
