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

static inline double sr_times_row(const double row[6], const double v[6]) {
  return srm_dot3(row, v) + srm_dot3(row + 3, v + 3);
}

// v += M^-1 row^T x.
static inline void sr_push_row(srLoadedBody* b, const double row[6], double x) {
  double turn[3];
  sr_times_inertia(b->inverse_inertia, row, turn);
  for (int k = 0; k < 3; ++k) {
    b->v[k] += turn[k] * x;
    b->v[3 + k] += b->inverse_mass * row[3 + k] * x;
  }
}

// Without shift and compliance; of bodies alone.
static inline void sr_relative_velocity(const srContactSolver* s, const srLoadedContact* c, double u[3]) {
  if (c->row != NULL) {
    for (int k = 0; k < 3; ++k)
      u[k] = sr_times_row(c->row[0][k], s->body[c->a].v) + sr_times_row(c->row[1][k], s->body[c->b].v);
    return;
  }
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
  for (int k = 0; k < 3; ++k) u[k] += c->shift[k] + c->soft[k > 0] * c->p[k];
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
  if (c->row != NULL) {
    for (int k = 0; k < 3; ++k) {
      sr_push_row(&s->body[c->a], c->row[0][k], dp[k]);
      sr_push_row(&s->body[c->b], c->row[1][k], dp[k]);
    }
    return;
  }
  double f[3];
  for (int k = 0; k < 3; ++k) f[k] = c->frame[k] * dp[0] + c->frame[3 + k] * dp[1] + c->frame[6 + k] * dp[2];
  sr_push(&s->body[c->a], c->arm[0], -1, f);
  sr_push(&s->body[c->b], c->arm[1], 1, f);
}

#endif
