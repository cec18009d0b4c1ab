// A point mass that slides under friction with two coefficients: Coulomb's law on an ellipse, integrated on its own.
#ifndef SR_TEST_SLIDING_H
#define SR_TEST_SLIDING_H

#include <math.h>

#define G 9.81
#define DEGREE (3.14159265358979323846 / 180)

// v' = -g A A v/|A v| times mu, A = diag(mu2/mu, 1) about the direction at `angle`: most dissipation on the ellipse of forces.
static inline void coulomb(const double* v, double mu, double mu2, double angle, double* a) {
  const double c = cos(angle), s = sin(angle), along = (c * v[0] + s * v[1]) * mu2, across = (c * v[1] - s * v[0]) * mu;
  const double size = hypot(along, across);
  a[0] = -G * (c * mu2 * along - s * mu * across) / size;
  a[1] = -G * (s * mu2 * along + c * mu * across) / size;
}

// Classical Runge-Kutta over x, y, v.
static inline void slide(double mu, double mu2, double angle, double t_end, double* x) {
  const int n = 20000;
  const double h = t_end / n, at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int i = 0; i < n; i++) {
    double k[4] = {0}, sum[4] = {0};
    for (int r = 0; r < 4; r++) {
      double y[4];
      for (int j = 0; j < 4; j++) y[j] = x[j] + h * at[r] * k[j];
      k[0] = y[2];
      k[1] = y[3];
      coulomb(y + 2, mu, mu2, angle, k + 2);
      for (int j = 0; j < 4; j++) sum[j] += weight[r] * k[j];
    }
    for (int j = 0; j < 4; j++) x[j] += h / 6 * sum[j];
  }
}

#endif
