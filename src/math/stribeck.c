// x + a exp(-x^delta) = b by Newton's method between bounds: the root is between b - a and b.
#include "math/stribeck.h"

#include <math.h>

double srm_stribeck_root(double a, double b, double delta) {
  if (!(b > a)) return 0.0;
  if (a == 0.0) return b;
  double low = b - a, high = b, x = low;
  for (int i = 0; i < 60; ++i) {
    const double power = pow(x, delta), fall = a * exp(-power), residual = x + fall - b;
    if (residual > 0.0)
      high = x;
    else
      low = x;
    const double derivative = 1.0 - (x > 0.0 ? delta * power / x * fall : 0.0);
    double next = x - residual / derivative;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (fabs(next - x) <= 1e-15 * high) return next;
    x = next;
  }
  return x;
}
