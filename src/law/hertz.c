// Hertz's stiffness of any point contact: Johnson (1985), Contact Mechanics, sections 4.1 and 4.2(c).
//
// Two surfaces with principal curvatures k (convex > 0), their first directions at the angle t, are apart by A x^2 + B y^2:
//   A + B = (k_1 + k_2 + k'_1 + k'_2)/2,   B - A = sqrt(D^2 + D'^2 + 2 D D' cos 2t)/2,   D = k_1 - k_2
// The patch is an ellipse of semi-axes a >= b. With e^2 = 1 - (b/a)^2 and complete elliptic integrals K(e), E(e)
//   B/A = [(a/b)^2 E - K]/(K - E),   a^2 = d (K - E)/(e^2 A K),   force = 2 pi/3 E* a d/K,   1/E* = s_i + s_j,  s = (1 - nu^2)/E
// so that the force is K_h d^(3/2); A = B is the circle of eq 39 of Rodrigues da Silva et al. (2024). A = 0, a line, has no such law: its depth depends on how far the
// bodies reach.
#include <math.h>
#include <sarrus/laws.h>

#define PI 3.14159265358979323846

// K and (K - E)/e^2, (E/g^2 - K)/e^2 with g = b/a: by the arithmetic-geometric mean, K = pi/2/M(1, g), E = K (1 - sum 2^(n-1) c_n^2), c_0 = e.
typedef struct Integrals {
  double K, along, across;
} Integrals;

static Integrals integrals_of(double g) {
  double m = 1, h = g, sum = 0, power = 1;  // sum of 2^(n-1) c_n^2 from n = 1 on
  const double e2 = (1 - g) * (1 + g);
  for (int i = 0; i < 40 && fabs(m - h) > 1e-16 * m; i++) {
    const double c = 0.5 * (m - h), next = 0.5 * (m + h);
    h = sqrt(m * h);
    m = next;
    sum += power * c * c;
    power *= 2;
  }
  const double K = 0.5 * PI / m;
  if (e2 < 1e-6)
    return (Integrals){K, PI / 4 * (1 + 0.375 * e2), PI / 4 * (1 + 1.125 * e2)};  // series about the circle
  const double lost = 0.5 * e2 + sum;                                             // 1 - E/K
  return (Integrals){K, K * lost / e2, K * ((1 - lost) / (g * g) - 1) / e2};
}

void sr_relative_curvatures(const double i[2], const double j[2], double angle, double out[2]) {
  const double sum = i[0] + i[1] + j[0] + j[1], one = i[0] - i[1], two = j[0] - j[1];
  const double apart = sqrt(fmax(0, one * one + two * two + 2 * one * two * cos(2 * angle)));
  out[0] = 0.5 * (sum + apart);
  out[1] = 0.5 * (sum - apart);
}

// The ratio b/a where across/along = B/A, which falls from infinity at 0 to 1 at 1: halving of its logarithm.
static double axes_ratio(double ratio) {
  double low = -350, high = 0;
  for (int i = 0; i < 100; i++) {
    const double middle = 0.5 * (low + high);
    const Integrals x = integrals_of(exp(middle));
    *(x.across > ratio * x.along ? &low : &high) = middle;
  }
  return exp(0.5 * (low + high));
}

double sr_hertz_ellipse(srElastic i, srElastic j, const double curvature[2]) {
  const double most = fmax(curvature[0], curvature[1]), least = fmin(curvature[0], curvature[1]);
  const double sigma = (1 - i.nu * i.nu) / i.E + (1 - j.nu * j.nu) / j.E;
  if (!(least > 0) || !isfinite(most) || !(sigma > 0)) return (double)NAN;
  const Integrals x = integrals_of(axes_ratio(most / least));
  return 2 * PI / 3 / sigma / x.K * sqrt(x.along / (0.5 * least * x.K));
}
