// A rheonomic problem (a moving surface) and a pendulum, with start and end: what all tests of constrained integrators
// measure orders on.
#ifndef SR_TEST_SURFACE_H
#define SR_TEST_SURFACE_H

#include <math.h>
#include <sarrus/integrate.h>
#include <string.h>

static const double pendulum_start[4] = {0.6, -0.8, 1.6, 1.2};
// At t = 1, computed apart from this program to 20 digits
static const double pendulum_end[4] = {-0.49047068070706596375, -0.87145769338892599589, -2.0254596505720380865,
                                       1.1399619064667579558};

// The rheonomic problem: a moving surface, a mass matrix that depends on the place.
static inline int surface_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                                   double* M, double* f, double* ydot, double* D) {
  (void)user, (void)y, (void)tau, (void)ydot, (void)D;
  const double m[9] = {2 + sin(q[0]) / 2, q[1] / 5, 0, q[1] / 5, 1 + q[0] * q[0] / 10, 0.1, 0, 0.1, 1 + cos(q[2]) / 4};
  memcpy(M, m, sizeof m);
  f[0] = -q[0] + 0.3 * v[1] * v[2] - 0.2 * v[0];
  f[1] = -0.5 * q[1] * v[0] + cos(t) - 0.2 * v[1];
  f[2] = -2 + 0.25 * v[0] * v[1] - 0.1 * q[2] * v[2];
  return 0;
}

static inline int surface_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user;
  const double x = q[0], y = q[1], z = q[2];
  if (g != NULL) g[0] = x * x / 4 + y * y + z * z / 2 + x * y * z / 10 - 1 - sin(t) / 5;
  if (G != NULL) {
    G[0] = x / 2 + y * z / 10;
    G[1] = 2 * y + x * z / 10;
    G[2] = z + x * y / 10;
  }
  if (b != NULL) b[0] = -cos(t) / 5;
  return 0;
}

static inline int surface_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  (void)user;
  gamma[0] = -(v[0] * v[0] / 2 + 2 * v[1] * v[1] + v[2] * v[2] +
               0.2 * (v[0] * v[1] * q[2] + v[0] * q[1] * v[2] + q[0] * v[1] * v[2]) + sin(t) / 5);
  return 0;
}

static inline srSystem surface(void) {
  return (srSystem){.nq = 3,
                    .nv = 3,
                    .ng = 1,
                    .np = 1,
                    .dynamics = surface_dynamics,
                    .constraint = surface_constraint,
                    .gamma = surface_gamma};
}

static inline void surface_start(double x[6]) {
  x[0] = x[1] = 0.5;
  // z^2/2 + z/40 + 1/16 + 1/4 - 1 = 0
  x[2] = -1.0 / 40 + sqrt(1.0 / 1600 + 2 * (1 - 5.0 / 16));
  double G[3], b;
  surface_constraint(NULL, 0, x, NULL, G, &b);
  x[3] = 1;
  x[4] = -0.5;
  x[5] = -(G[0] * x[3] + G[1] * x[4] + b) / G[2];
}

static const double surface_end[6] = {1.3033415160648623282,  0.62058768903950989903, 0.76971770244646196892,
                                      0.53929496481012848186, 0.52672036638811400466, -1.1471134594543471219};

#endif
