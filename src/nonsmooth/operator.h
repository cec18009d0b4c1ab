// A contact as an operator on velocities, inline for the loop over all of them:  u = H v + s,  v += M^-1 H^T dp.
#ifndef SR_NONSMOOTH_OPERATOR_H
#define SR_NONSMOOTH_OPERATOR_H

#include "math/pose.h"
#include "nonsmooth/solver.h"

static inline void sr_times_inertia(const double I[6], const double x[3], double out[3]) {
  out[0] = I[0] * x[0] + I[3] * x[1] + I[4] * x[2];
  out[1] = I[3] * x[0] + I[1] * x[1] + I[5] * x[2];
  out[2] = I[4] * x[0] + I[5] * x[1] + I[2] * x[2];
}

// Velocity of a point of the body.
static inline void sr_point_velocity(const double v[6], const double arm[3], double out[3]) {
  srm_cross3(v, arm, out);
  for (int k = 0; k < 3; ++k) out[k] += v[3 + k];
}

// An impulse f at the end of the arm.
static inline void sr_push(srLoadedBody* b, const double arm[3], double sign, const double f[3]) {
  double torque[3], turn[3];
  srm_cross3(arm, f, torque);
  sr_times_inertia(b->inverse_inertia, torque, turn);
  for (int k = 0; k < 3; ++k) {
    b->v[k] += sign * turn[k];
    b->v[3 + k] += sign * b->inverse_mass * f[k];
  }
}

// Without shift and compliance; of bodies alone.
static inline void sr_relative_velocity(const srContactSolver* s, const srLoadedContact* c, double u[3]) {
  double a[3], b[3];
  sr_point_velocity(s->body[c->a].v, c->arm[0], a);
  sr_point_velocity(s->body[c->b].v, c->arm[1], b);
  for (int k = 0; k < 3; ++k) b[k] -= a[k];
  for (int k = 0; k < 3; ++k) u[k] = srm_dot3(c->frame + 3 * k, b);
}

// Shift and compliance included; 0 in the rows that it does not have.
static inline void sr_loaded_velocity(const srContactSolver* s, const srLoadedContact* c, double u[3]) {
  if (s->matrix) {
    for (int k = 0; k < 3; ++k) u[k] = k < c->rows ? s->dense.u[c->first + k] : 0;
    return;
  }
  sr_relative_velocity(s, c, u);
  u[0] += c->shift + c->soft * c->p[0];
}

static inline void sr_loaded_change(srContactSolver* s, const srLoadedContact* c, const double dp[3]) {
  if (s->matrix) {
    const int n = s->dense.n;
    for (int k = 0; k < c->rows; ++k) {
      const double* column = s->dense.At + (size_t)(c->first + k) * (size_t)n;
      for (int i = 0; i < n; ++i) s->dense.u[i] += column[i] * dp[k];
    }
    return;
  }
  double f[3];
  for (int k = 0; k < 3; ++k) f[k] = c->frame[k] * dp[0] + c->frame[3 + k] * dp[1] + c->frame[6 + k] * dp[2];
  sr_push(&s->body[c->a], c->arm[0], -1, f);
  sr_push(&s->body[c->b], c->arm[1], 1, f);
}

#endif
