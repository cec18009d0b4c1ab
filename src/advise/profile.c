// Performance profiles: the fraction of the problems that a solver solves at most tau times as expensively as the best one.
//   r_ps = t_ps / min_s t_ps,   rho_s(tau) = size{p: r_ps <= tau} / np
// E.D. Dolan, J.J. More: Benchmarking optimization software with performance profiles. Mathematical Programming 91 (2002);
// Haddouni et al. (2017), eq 37 to 39. A problem that no solver solves stays in np: it lowers all profiles alike.
#include <math.h>
#include <sarrus/compare.h>
#include <stdlib.h>

static bool is_solved(double cost) { return isfinite(cost) && cost > 0.0; }

void sr_profile_ratios(int np, int ns, const double* cost, double* ratio) {
  for (int p = 0; p < np; ++p) {
    const double* c = cost + (size_t)p * (size_t)ns;
    double best = (double)INFINITY;
    for (int s = 0; s < ns; ++s) {
      if (is_solved(c[s]) && c[s] < best) best = c[s];
    }
    for (int s = 0; s < ns; ++s)
      ratio[(size_t)p * (size_t)ns + (size_t)s] = is_solved(c[s]) ? c[s] / best : (double)INFINITY;
  }
}

double sr_profile(int np, int ns, const double* ratio, int s, double tau) {
  int within = 0;
  for (int p = 0; p < np; ++p) {
    const double r = ratio[(size_t)p * (size_t)ns + (size_t)s];
    within += isfinite(r) && r <= tau;
  }
  return np > 0 ? (double)within / (double)np : 0.0;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int sr_profile_steps(int np, int ns, const double* ratio, double* tau) {
  size_t n = 0;
  int kept = 1;
  tau[n++] = 1.0;
  for (size_t i = 0; i < (size_t)np * (size_t)ns; ++i) {
    if (isfinite(ratio[i])) tau[n++] = ratio[i];
  }
  qsort(tau, n, sizeof *tau, ascending);
  for (size_t i = 1; i < n; ++i) {
    if (tau[i] > tau[kept - 1]) tau[kept++] = tau[i];
  }
  return kept;
}
