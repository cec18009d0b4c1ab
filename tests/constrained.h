// Small constrained systems with known solutions, and what tests of integrators do with them.
#ifndef SR_TEST_CONSTRAINED_H
#define SR_TEST_CONSTRAINED_H

#include <float.h>
#include <math.h>
#include <sarrus/integrate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "surface.h"

#define PI 3.14159265358979323846
#define MOST 16

static inline bool verbose(void) { return getenv("SARRUS_TEST_VERBOSE") != NULL; }

// ---- systems --------------------------------------------------------------------------------------------------------

// Pendulum in the plane, m = L = 1, g = 9.81. user: number of copies of its constraint equation (NULL: 1), the second with an error.
typedef struct Pendulum {
  int copies;
  double error;  // of the length in every second copy
} Pendulum;

static inline int pendulum_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                                    double* M, double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  M[0] = M[3] = 1;
  M[1] = M[2] = 0;
  f[0] = 0;
  f[1] = -9.81;
  return 0;
}

static inline int pendulum_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const Pendulum* p = user;
  (void)t;
  for (int k = 0; k < p->copies; ++k) {
    // The copy is the same circle seen from a point that is off by the error, with another factor.
    const double x = q[0] - (k % 2 == 1 ? p->error : 0), factor = k == 0 ? 1 : 1.7 + k;
    if (g != NULL) g[k] = factor * 0.5 * (x * x + q[1] * q[1] - 1);
    if (G != NULL) {
      G[2 * k] = factor * x;
      G[2 * k + 1] = factor * q[1];
    }
    if (b != NULL) b[k] = 0;
  }
  return 0;
}

static inline int pendulum_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  const Pendulum* p = user;
  (void)t, (void)q;
  for (int k = 0; k < p->copies; ++k) gamma[k] = -(k == 0 ? 1 : 1.7 + k) * (v[0] * v[0] + v[1] * v[1]);
  return 0;
}

__attribute__((unused)) static Pendulum one_row = {.copies = 1};

static inline srSystem pendulum(Pendulum* p) {
  return (srSystem){.nq = 2,
                    .nv = 2,
                    .ng = p->copies,
                    .np = p->copies,
                    .user = p,
                    .dynamics = pendulum_dynamics,
                    .constraint = pendulum_constraint,
                    .gamma = pendulum_gamma};
}

// ---- running --------------------------------------------------------------------------------------------------------

static inline srIntegrator* create(const char* method, const srSystem* system, srIntegratorOptions options) {
  srIntegrator* integrator = NULL;
  srMessages* messages = sr_messages_create();
  if (sri_create(method, system, &options, messages, &integrator) != SR_OK) {
    printf("%s: %s\n", method, sr_messages_count(messages) > 0 ? sr_messages_get(messages, 0)->text : "?");
  }
  sr_messages_destroy(messages);
  ENSURE(integrator != NULL);
  return integrator;
}

// A fixed step of an adaptive method.
static inline srIntegratorOptions fixed(double h) {
  return (srIntegratorOptions){.step = h, .step_max = h, .rtol = 1e30, .atol = 1e30};
}

static inline srIntegratorOptions tolerance(double tol) { return (srIntegratorOptions){.rtol = tol, .atol = tol}; }

static inline void get(const srIntegrator* integrator, const srSystem* s, double* x) {
  memcpy(x, sri_q(integrator), (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, sri_v(integrator), (size_t)s->nv * sizeof *x);
}

// From x to t_end; x becomes the end. False: a step failed.
static inline bool run(srIntegrator* integrator, const srSystem* s, double t_end, double* x) {
  ENSURE(sri_start(integrator, 0, x, x + s->nq, NULL) == SR_OK);
  while (sri_time(integrator) < t_end) {
    if (sri_step(integrator, t_end) != SR_OK) {
      if (verbose()) printf("  %s\n", sri_error_message(integrator));
      return false;
    }
  }
  get(integrator, s, x);
  return true;
}

static inline double distance(int n, const double* a, const double* b) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

// Orders from halved steps; the finest pair with an error above 1e-12. Prints them when asked to.
static inline double measured_order(const char* method, const srSystem* s, srIntegratorOptions more, const double* x0,
                                    const double* exact, double t_end, double h, int halvings, double* finest) {
  double before = 0, order = 0;
  for (int i = 0; i <= halvings; ++i, h /= 2) {
    double x[2 * MOST];
    srIntegratorOptions o = fixed(h);
    o.project = more.project;
    o.metric = more.metric;
    srIntegrator* integrator = create(method, s, o);
    memcpy(x, x0, (size_t)(s->nq + s->nv) * sizeof *x);
    ENSURE(run(integrator, s, t_end, x));
    const double error = distance(s->nq + s->nv, x, exact);
    const srIntegratorStats* stats = sri_stats(integrator);
    if (verbose()) {
      printf("  %s h %-9.3g error %.2e order %5.2f  g %.1e gv %.1e\n", method, h, error,
             i > 0 ? log2(before / error) : 0.0, stats->violation_position, stats->violation_velocity);
    }
    if (i > 0 && error > 1e-12) order = log2(before / error);
    if (finest != NULL) *finest = error;
    before = error;
    sri_destroy(integrator);
  }
  return order;
}

#endif
