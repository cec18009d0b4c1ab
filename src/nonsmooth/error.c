// The error measure that all solvers share: velocities from the problem's own numbers and the impulses alone, never from what a solver has
// accumulated, and the natural map of each contact (Acary, Bremond and Huber 2018).
#include <math.h>
#include <string.h>

#include "math/vector3.h"
#include "nonsmooth/solver.h"

// ---- velocities ---------------------------------------------------------------------------------------------------------

static void add_inertia(const srContactBody* b, const double wrench[6], double* v) {
  const double* I = b->inverse_inertia;
  v[0] += I[0] * wrench[0] + I[3] * wrench[1] + I[4] * wrench[2];
  v[1] += I[3] * wrench[0] + I[1] * wrench[1] + I[5] * wrench[2];
  v[2] += I[4] * wrench[0] + I[5] * wrench[1] + I[2] * wrench[2];
  for (int k = 3; k < 6; ++k) v[k] += b->inverse_mass * wrench[k];
}

// Row k of contact i over the velocity of its body 0 or 1.
static void contact_row(const srContactProblem* p, int i, const double frame[9], int side, int k, double row[6]) {
  if (p->row != NULL) {
    memcpy(row, p->row[i][side][k], 6 * sizeof *row);
    return;
  }
  srm_cross3(p->point[i].arm[side], frame + 3 * k, row);
  srm_set3(row + 3, frame + 3 * k);
  for (int l = 0; l < 6 && side == 0; ++l) row[l] = -row[l];
}

void sr_contact_body_velocity(const srContactProblem* p, const double* impulse, double* v) {
  for (int i = 0; i < p->nbody; ++i) memcpy(v + 6 * (size_t)i, p->body[i].velocity, 6 * sizeof *v);
  for (int i = 0; i < p->nequation; ++i) {
    for (int side = 0; side < 2; ++side) {
      const int b = p->equation[i].body[side];
      double wrench[6];
      for (int k = 0; k < 6; ++k) wrench[k] = p->equation[i].row[side][k] * impulse[i];
      if (b >= 0) add_inertia(&p->body[b], wrench, v + 6 * (size_t)b);
    }
  }
  for (int i = 0; i < p->ncontact; ++i) {
    const double* x = impulse + p->nequation + 3 * (size_t)i;
    double frame[9];
    sr_contact_frame(p->point[i].normal, frame);
    for (int side = 0; side < 2; ++side) {
      const int b = p->point[i].body[side];
      double row[6], wrench[6] = {0};
      for (int k = 0; k < 3; ++k) {
        contact_row(p, i, frame, side, k, row);
        for (int l = 0; l < 6; ++l) wrench[l] += row[l] * x[k];
      }
      if (b >= 0) add_inertia(&p->body[b], wrench, v + 6 * (size_t)b);
    }
  }
}

static double row_velocity(const double row[6], const double* v, int body) {
  if (body < 0) return 0;
  double sum = 0;
  for (int k = 0; k < 6; ++k) sum += row[k] * v[6 * (size_t)body + (size_t)k];
  return sum;
}

static void system_velocity(const srContactProblem* p, const double* impulse, double* v, double* u) {
  sr_contact_body_velocity(p, impulse, v);
  for (int i = 0; i < p->nequation; ++i) {
    const srContactEquation* e = &p->equation[i];
    u[i] = row_velocity(e->row[0], v, e->body[0]) + row_velocity(e->row[1], v, e->body[1]) + e->shift;
  }
  for (int i = 0; i < p->ncontact; ++i) {
    double frame[9], *out = u + p->nequation + 3 * (size_t)i;
    sr_contact_frame(p->point[i].normal, frame);
    for (int k = 0; k < 3; ++k) {
      out[k] = k == 0 ? p->cone[i].shift : p->cone[i].slip[k - 1];
      for (int side = 0; side < 2; ++side) {
        double row[6];
        contact_row(p, i, frame, side, k, row);
        out[k] += row_velocity(row, v, p->point[i].body[side]);
      }
    }
  }
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
  double sum = 0, frame[9];
  sr_contact_frame(p->point[i].normal, frame);
  for (int side = 0; side < 2; ++side) {
    const int b = p->point[i].body[side];
    double row[6], v[6] = {0};
    if (b < 0) continue;
    contact_row(p, i, frame, side, 0, row);
    add_inertia(&p->body[b], row, v);
    for (int k = 0; k < 6; ++k) sum += row[k] * v[k];
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
    raise(&e.cone, hypot(x[1], x[2]) - c->mu * x[0]);
    raise(&e.cone, c->lower - x[0]);
    raise(&e.complementarity, fabs((x[0] - c->lower) * y[0]));
  }
  return e;
}
