// The restitution that a normal law really gives: by integrating one impact, and in closed form for the power laws.
//
// Closed form, for f = K d^n (1 + D ddot/ddot0) (derivation in normal_exact.c): e and D belong together by
//   0 = I(D, e) = integral of u/(1 + D u) from -e to 1 = (1 + e)/D - ln((1 + D)/(1 - e D))/D^2
// whatever K, n, mass and speed. I falls in D and in e, from I(0, e) = (1 - e^2)/2 >= 0 and I(D, 0) > 0 to minus infinity as
// e D -> 1: bisection finds either.
//
// By integration, for any law: m d'' = -f(d, d'), dissipation alongside; fourth-order Runge-Kutta, each step also in two halves
// (error estimate, and one order more by extrapolation). The last step ends where d = 0.
#include <float.h>
#include <math.h>

#include "law/normal.h"

// --------------------------------------------------------------------------------------------------------- closed form
static double imbalance(double D, double e) {
  if (D >= 0.1) return ((1.0 + e) * D - log1p(D) + log1p(-e * D)) / (D * D);
  // Its power series, free of cancellation: sum of (-D)^k (1 - (-e)^(k+2))/(k+2). At D < 0.1, 16 terms leave 1e-17.
  double sum = 0.0, Dk = 1.0, ek = e * e;
  for (int k = 0; k < 16; ++k) {
    sum += Dk * (1.0 - ek) / (k + 2);
    Dk *= -D;
    ek *= -e;
  }
  return sum;
}

// 200 halvings reach the last bit from any bracket: this is called once for a pair of bodies.
double sr_restitution_factor(double e) {
  e = fmax(e, 1e-3);
  if (e >= 1.0) return 0.0;
  double low = 0.0, high = 1.0 / e;
  for (int i = 0; i < 200; ++i) {
    const double D = 0.5 * (low + high);
    if (imbalance(D, e) > 0.0)
      low = D;
    else
      high = D;
  }
  return low;
}

double sr_factor_restitution(double D) {
  if (D <= 0.0) return 1.0;
  double low = 0.0, high = fmin(1.0, 1.0 / D);
  for (int i = 0; i < 200; ++i) {
    const double e = 0.5 * (low + high);
    if (imbalance(D, e) > 0.0)
      low = e;
    else
      high = e;
  }
  return low;
}

// -------------------------------------------------------------------------------------------------------- integration
enum { PENETRATION, RATE, DISSIPATION, STATES };
#define TOLERANCE 1e-13  // of a step, relative to speed, largest penetration and energy at first
#define MOST_STEPS 1000000

typedef struct Fall {
  const srNormalLaw* law;
  const srNormalParameters* p;
  double m, speed;
  double d_max;
  bool clamped;
} Fall;

static srNormalOut force(const Fall* fall, const double* y) {
  // At d = 0 the bodies are in contact: laws that jump there have jumped.
  const srNormalIn in = {fmax(y[PENETRATION], DBL_MIN), y[RATE], fall->speed, fall->p};
  srNormalOut out = {0};
  if (fall->law->evaluate(&in, &out) != 0) out.f = (double)NAN;
  return out;
}

static void rates(const Fall* fall, const double* y, double* ydot) {
  const srNormalOut out = force(fall, y);
  ydot[PENETRATION] = y[RATE];
  ydot[RATE] = -out.f / fall->m;
  ydot[DISSIPATION] = out.dissipation;
}

static void rk4(const Fall* fall, const double* y, double h, double* out) {
  static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  double k[STATES] = {0}, stage[STATES], sum[STATES] = {0};
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < STATES; ++i) stage[i] = y[i] + at[r] * h * k[i];
    rates(fall, stage, k);
    for (int i = 0; i < STATES; ++i) sum[i] += weight[r] * k[i];
  }
  for (int i = 0; i < STATES; ++i) out[i] = y[i] + h * sum[i];
}

// One step and its error, in units of what is allowed.
static double step(const Fall* fall, const double* y, double h, double* out) {
  double whole[STATES], half[STATES], error = 0.0;
  rk4(fall, y, h, whole);
  rk4(fall, y, 0.5 * h, half);
  rk4(fall, half, 0.5 * h, out);
  const double scale[STATES] = {fmax(fall->d_max, fall->speed * h), fall->speed,
                                0.5 * fall->m * fall->speed * fall->speed};
  for (int i = 0; i < STATES; ++i) {
    const double difference = (out[i] - whole[i]) / 15.0;
    const double here = fabs(difference) / (TOLERANCE * scale[i]);
    if (!(here <= error)) error = here;  // NaN counts
    out[i] += difference;
  }
  return error;
}

// The step that ends at d = 0: Newton's method on its length, from a step that ends beyond.
static double last_step(const Fall* fall, const double* y, double h, double* out) {
  for (int i = 0; i < 50 && fabs(out[PENETRATION]) > 1e-15 * fall->d_max; ++i) {
    const double next = h - out[PENETRATION] / out[RATE];
    h = next > 0.0 ? next : 0.5 * h;
    step(fall, y, h, out);
  }
  return h;
}

// A first step within which the force changes the speed by about 1 %, taken from the law itself: nothing is known of its scale.
static double first_step(const Fall* fall) {
  double h = 1.0;
  for (int i = 0; i < 200; ++i) {
    const double change = force(fall, (const double[STATES]){fall->speed * h, fall->speed}).f * h / fall->m;
    if (change <= 0.01 * fall->speed) break;
    h *= 0.5;
  }
  return h;
}

static void report(const Fall* fall, double t, const double* y, void (*visit)(void*, const srImpactPoint*), void* user,
                   srImpact* out) {
  const double f = force(fall, y).f;
  out->d_max = fmax(out->d_max, y[PENETRATION]);
  out->f_max = fmax(out->f_max, f);
  if (visit != NULL) visit(user, &(srImpactPoint){t, fmax(y[PENETRATION], 0.0), y[RATE], f});
}

srStatus sr_impact(const srNormalLaw* law, const srNormalParameters* p, double m, double speed,
                   void (*visit)(void* user, const srImpactPoint* point), void* user, srImpact* out) {
  Fall fall = {.law = law, .p = p, .m = m, .speed = speed};
  double y[STATES] = {0.0, speed, 0.0}, next[STATES], t = 0.0, h = first_step(&fall);
  *out = (srImpact){0};
  report(&fall, t, y, visit, user, out);
  bool last = false;
  for (int tries = 0; !last; ++tries) {
    if (tries == MOST_STEPS || !(t + h > t) || isinf(h)) return SR_FAILED;
    double error = step(&fall, y, h, next);
    last = error <= 1.0 && next[PENETRATION] <= 0.0 && next[RATE] < 0.0;
    if (last) h = last_step(&fall, y, h, next);
    if (error <= 1.0) {
      for (int i = 0; i < STATES; ++i) y[i] = next[i];
      t += h;
      out->steps++;
      out->clamped = out->clamped || force(&fall, y).clamped;
      fall.d_max = fmax(fall.d_max, y[PENETRATION]);
      report(&fall, t, y, visit, user, out);
    }
    error = isnan(error) ? 1e9 : fmax(error, 1e-9);
    h *= fmin(4.0, fmax(0.1, 0.9 * pow(error, -0.2)));
  }
  out->restitution = -y[RATE] / speed;
  out->duration = t;
  out->residual = 1.0 - out->restitution * out->restitution - y[DISSIPATION] / (0.5 * m * speed * speed);
  return SR_OK;
}
