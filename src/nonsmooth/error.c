// The error measure that all solvers share: velocities from the problem's own numbers and the impulses alone, never from what a solver has
// accumulated, and the natural map of each contact (Acary, Bremond and Huber 2018).
#include <math.h>
#include <string.h>

#include "math/vector3.h"
#include "nonsmooth/operator.h"

// ---- velocities ---------------------------------------------------------------------------------------------------------

// Impulse of a contact on its bodies: moment about the center of mass, then force. Added to those in `wrench`.
static void add_contact(const srContactProblem* p, int i, const double* x, double* wrench) {
  const srContactPoint* c = &p->point[i];
  double frame[9], f[3], moment[3];
  for (int side = 0; side < 2 && p->row != NULL; ++side) {
    double(*row)[6] = p->row[i][side];
    for (int k = 0; k < 6 && c->body[side] >= 0; ++k)
      wrench[6 * (size_t)c->body[side] + (size_t)k] += row[0][k] * x[0] + row[1][k] * x[1] + row[2][k] * x[2];
  }
  if (p->row != NULL) return;
  sr_contact_frame(c->normal, frame);
  for (int k = 0; k < 3; ++k) f[k] = frame[k] * x[0] + frame[3 + k] * x[1] + frame[6 + k] * x[2];
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] < 0) continue;
    double* to = wrench + 6 * (size_t)c->body[side];
    srm_cross3(c->arm[side], f, moment);
    for (int k = 0; k < 3; ++k) {
      to[k] += side == 0 ? -moment[k] : moment[k];
      to[3 + k] += side == 0 ? -f[k] : f[k];
    }
  }
}

// v: the sum of all impulses on each body, then v_free + M^-1 of that.
void sr_contact_body_velocity(const srContactProblem* p, const double* impulse, double* v) {
  memset(v, 0, 6 * (size_t)p->nbody * sizeof *v);
  for (int i = 0; i < p->nequation; ++i) {
    for (int side = 0; side < 2; ++side) {
      const int b = p->equation[i].body[side];
      for (int k = 0; k < 6 && b >= 0; ++k) v[6 * (size_t)b + (size_t)k] += p->equation[i].row[side][k] * impulse[i];
    }
  }
  for (int i = 0; i < p->ncontact; ++i) add_contact(p, i, impulse + p->nequation + 3 * (size_t)i, v);
  for (int i = 0; i < p->nbody; ++i) {
    const srContactBody* b = &p->body[i];
    double *at = v + 6 * (size_t)i, turn[3];
    sr_times_inertia(b->inverse_inertia, at, turn);
    for (int k = 0; k < 3; ++k) {
      at[k] = b->velocity[k] + turn[k];
      at[3 + k] = b->velocity[3 + k] + b->inverse_mass * at[3 + k];
    }
  }
}

static double row_velocity(const double row[6], const double* v, int body) {
  if (body < 0) return 0;
  double sum = 0;
  for (int k = 0; k < 6; ++k) sum += row[k] * v[6 * (size_t)body + (size_t)k];
  return sum;
}

static void contact_velocity(const srContactProblem* p, int i, const double* v, double u[3]) {
  const srContactPoint* c = &p->point[i];
  double frame[9], at[2][3] = {{0}};
  for (int k = 0; k < 3; ++k) u[k] = k == 0 ? p->cone[i].shift : p->cone[i].slip[k - 1];
  if (p->row != NULL) {
    for (int k = 0; k < 3; ++k)
      u[k] += row_velocity(p->row[i][0][k], v, c->body[0]) + row_velocity(p->row[i][1][k], v, c->body[1]);
    return;
  }
  sr_contact_frame(c->normal, frame);
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] >= 0) sr_point_velocity(v + 6 * (size_t)c->body[side], c->arm[side], at[side]);
  }
  srm_sub3(at[1], at[0], at[1]);
  for (int k = 0; k < 3; ++k) u[k] += srm_dot3(frame + 3 * k, at[1]);
}

static void system_velocity(const srContactProblem* p, const double* impulse, double* v, double* u) {
  sr_contact_body_velocity(p, impulse, v);
  for (int i = 0; i < p->nequation; ++i) {
    const srContactEquation* e = &p->equation[i];
    u[i] = row_velocity(e->row[0], v, e->body[0]) + row_velocity(e->row[1], v, e->body[1]) + e->shift;
  }
  for (int i = 0; i < p->ncontact; ++i) contact_velocity(p, i, v, u + p->nequation + 3 * (size_t)i);
}

void sr_contact_velocity(srContactSolver* s, const srContactProblem* p, const double* impulse, double* u) {
  if (p->W == NULL) {
    system_velocity(p, impulse, s->before, u);
    return;
  }
  const size_t n = (size_t)sr_contact_rows(p);
  for (size_t i = 0; i < n; ++i) {
    u[i] = p->q[i];
    for (size_t j = 0; j < n; ++j) u[i] += p->W[i * n + j] * impulse[j];
  }
  size_t row = (size_t)p->nequation;
  for (int i = 0; i < p->ncontact; row += (size_t)p->cone[i++].rows) {
    u[row] += p->cone[i].shift;
    for (int k = 1; k < p->cone[i].rows; ++k) u[row + (size_t)k] += p->cone[i].slip[k - 1];
  }
}

double sr_contact_mobility(const srContactProblem* p, int i) {
  const srContactPoint* c = &p->point[i];
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] < 0) continue;
    const srContactBody* b = &p->body[c->body[side]];
    const double* linear = p->row != NULL ? p->row[i][side][0] + 3 : c->normal;
    double torque[3], turn[3];
    if (p->row != NULL) {
      srm_set3(torque, p->row[i][side][0]);
    } else {
      srm_cross3(c->arm[side], c->normal, torque);
    }
    sr_times_inertia(b->inverse_inertia, torque, turn);
    sum += srm_dot3(torque, turn) + b->inverse_mass * srm_dot3(linear, linear);
  }
  return sum;
}

// ---- error --------------------------------------------------------------------------------------------------------------

static void raise(double* most, double x) {
  if (!(x <= *most)) *most = x;
}

srContactError sr_contact_error(srContactSolver* s, const srContactProblem* p, const double* impulse) {
  srContactError e = {.worst = -1};
  double* u = s->velocity;
  sr_contact_velocity(s, p, impulse, u);
  for (int i = 0; i < p->nequation; ++i) raise(&e.bilateral, fabs(u[i]));
  const size_t n = (size_t)sr_contact_rows(p);
  size_t row = (size_t)p->nequation;
  for (int i = 0; i < p->ncontact; row += (size_t)p->cone[i++].rows) {
    const srContactCone* c = &p->cone[i];
    const double W = p->W != NULL ? fabs(p->W[row * (n + 1)]) : sr_contact_mobility(p, i);
    double x[3] = {0}, y[3] = {0};
    for (int k = 0; k < c->rows; ++k) x[k] = impulse[row + (size_t)k], y[k] = u[row + (size_t)k];
    y[0] += p->compliance * W * x[0];
    for (int k = 0; k < c->rows; ++k) y[k] += c->compliance[k > 0] * x[k];
    const double r = sr_cone_residual(&(srCone){c->mu, c->lower}, 1 / W, x, y);
    if (!(r <= e.residual)) e.worst = i;
    raise(&e.residual, r);
    raise(&e.penetration, -y[0]);
    raise(&e.cone, sqrt(x[1] * x[1] + x[2] * x[2]) - c->mu * x[0]);
    raise(&e.cone, c->lower - x[0]);
    raise(&e.complementarity, fabs((x[0] - c->lower) * y[0]));
  }
  return e;
}
