// Semismooth Newton on the function of Alart and Curnier (1991), for islands of some dozen contacts; the matrix is dense. Of each contact
//   F_N = A_NN (p_N - max(lower, p_N - u_N/A_NN))
//   F_T = a_T (p_T - P_disc(mu max(lower, p_N - u_N/A_NN)) (p_T - u_T/a_T)),     a_T the larger eigenvalue of A_TT;  u = A p + b
// with a line search on |F|. A may be singular (redundant contacts): the Jacobian has a small part of the diagonal added, F has not.
// Attempts in this order until the residual is within the tolerance; the best one is returned:
//   from the start value; from 0; on A + eps diag(A), eps = 1, 0.1, ..., each from the last, then without; from 20, 200, 2000 sweeps
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "nonsmooth/solver.h"

enum { STEPS = 40, HALVINGS = 12 };
#define REGULAR 1e-9  // part of the diagonal that is added to the Jacobian
#define LEAST 1e-9    // part of W_NN that A_NN has at least: joints may hold a contact

typedef struct Newton {
  srContactSolver* s;
  srDense* d;
  const srIsland* island;
  double eps;   // compliance of all rows
  int steps;    // of all attempts
  double best;  // residual of d->best
} Newton;

// What F and its Jacobian have in common at one contact.
typedef struct State {
  double w[2];    // A_NN, a_T
  double N;       // max(lower, p_N - u_N/A_NN)
  bool active;    // its second argument is the larger one
  double x[2];    // p_T - u_T/a_T
  double length;  // of x
  double limit;   // mu N
} State;

static const double* entry(const srDense* d, int i, int j) { return d->A + (size_t)i * (size_t)d->n + (size_t)j; }

static void weights(const Newton* w, const srLoadedContact* c, double out[2]) {
  const srDense* d = w->d;
  const int i = c->first;
  const double least = LEAST / c->rho;
  out[0] = fmax(*entry(d, i, i), least);
  out[1] = out[0];
  if (c->rows == 2) out[1] = fmax(*entry(d, i + 1, i + 1), least);
  if (c->rows == 3) {
    const double a = *entry(d, i + 1, i + 1), b = *entry(d, i + 2, i + 2), ab = *entry(d, i + 1, i + 2);
    out[1] = fmax(0.5 * (a + b) + hypot(0.5 * (a - b), ab), least);
  }
}

static void contact_state(const Newton* w, const srLoadedContact* c, const double* p, const double* u, State* out) {
  weights(w, c, out->w);
  const double trial = p[c->first] - u[c->first] / out->w[0];
  out->active = trial > c->cone.lower;
  out->N = out->active ? trial : c->cone.lower;
  out->limit = c->cone.mu * out->N;
  out->x[0] = out->x[1] = 0;
  for (int k = 1; k < c->rows; ++k) out->x[k - 1] = p[c->first + k] - u[c->first + k] / out->w[1];
  out->length = hypot(out->x[0], out->x[1]);
}

// u = (A + eps w) p + b and F; returns |F|^2.
static double evaluate(const Newton* w, const double* p, double* u, double* F) {
  const srDense* d = w->d;
  double sum = 0;
  for (int i = 0; i < d->n; ++i) {
    const double* row = entry(d, i, 0);
    u[i] = d->b[i];
    for (int j = 0; j < d->n; ++j) u[i] += row[j] * p[j];
  }
  for (int i = w->island->contact[0]; i < w->island->contact[1]; ++i) {
    const srLoadedContact* c = &w->s->contact[i];
    State x;
    weights(w, c, x.w);
    for (int k = 0; k < c->rows; ++k) u[c->first + k] += w->eps * x.w[0] * p[c->first + k];
    contact_state(w, c, p, u, &x);
    F[c->first] = x.w[0] * (p[c->first] - x.N);
    const double scale = x.length > x.limit ? x.limit / x.length : 1;
    for (int k = 1; k < c->rows; ++k) F[c->first + k] = x.w[1] * (p[c->first + k] - scale * x.x[k - 1]);
    for (int k = 0; k < c->rows; ++k) sum += F[c->first + k] * F[c->first + k];
  }
  return sum;
}

// d u_i/d p over the rows, with what is added to the diagonal.
static void copy_row(const Newton* w, int i, double added, double scale, double* out) {
  const double* row = entry(w->d, i, 0);
  for (int j = 0; j < w->d->n; ++j) out[j] = scale * row[j];
  out[i] += scale * added;
}

static void add_row(const Newton* w, int i, double added, double scale, double* out) {
  const double* row = entry(w->d, i, 0);
  for (int j = 0; j < w->d->n; ++j) out[j] += scale * row[j];
  out[i] += scale * added;
}

// Rows of the tangential components where the contact slips: w (p_T - limit d), d = x/|x|.
static void slip_rows(const Newton* w, const srLoadedContact* c, const State* x, double added, double* J) {
  const int n = w->d->n, i = c->first;
  const double turn = x->limit / x->length;
  const double dir[2] = {x->x[0] / x->length, x->x[1] / x->length};
  for (int k = 1; k < c->rows; ++k) {
    double* row = J + (size_t)(i + k) * (size_t)n;
    memset(row, 0, (size_t)n * sizeof *row);
    row[i + k] += x->w[1];
    if (x->active) {  // the limit changes by mu (dp_N - du_N/A_NN)
      const double f = x->w[1] * c->cone.mu * dir[k - 1];
      row[i] -= f;
      add_row(w, i, added, f / x->w[0], row);
    }
    for (int l = 1; l < c->rows; ++l) {  // the direction turns
      const double f = turn * ((k == l ? 1 : 0) - dir[k - 1] * dir[l - 1]);
      row[i + l] -= x->w[1] * f;
      add_row(w, i + l, added, f, row);
    }
  }
}

static void jacobian(const Newton* w, const double* p, const double* u) {
  const int n = w->d->n;
  double* J = w->d->J;
  for (int k = w->island->contact[0]; k < w->island->contact[1]; ++k) {
    const srLoadedContact* c = &w->s->contact[k];
    const int i = c->first;
    State x;
    contact_state(w, c, p, u, &x);
    const double added = (w->eps + REGULAR) * x.w[0];
    if (x.active) {
      copy_row(w, i, added, 1, J + (size_t)i * (size_t)n);
    } else {
      memset(J + (size_t)i * (size_t)n, 0, (size_t)n * sizeof *J);
      J[(size_t)i * (size_t)n + (size_t)i] = x.w[0];
    }
    if (x.length > x.limit) {
      slip_rows(w, c, &x, added, J);
    } else {
      for (int l = 1; l < c->rows; ++l) copy_row(w, i + l, added, 1, J + (size_t)(i + l) * (size_t)n);
    }
  }
}

// One step with line search; false: no further.
static bool advance(const Newton* w, double* value) {
  srDense* d = w->d;
  const int n = d->n;
  double* step = d->F;  // F itself, then the step
  jacobian(w, d->p, d->residual_u);
  if (!srm_lu(n, d->J, d->pivot)) return false;
  srm_lu_solve(n, d->J, d->pivot, step);
  double length = 1;
  for (int k = 0; k < HALVINGS; ++k, length *= 0.5) {
    for (int i = 0; i < n; ++i) d->trial[i] = d->p[i] - length * step[i];
    const double next = evaluate(w, d->trial, d->residual_u, d->right);
    if (!(next < (1 - 1e-4 * length) * *value) && k + 1 < HALVINGS) continue;
    if (!isfinite(next)) return false;
    memcpy(d->p, d->trial, (size_t)n * sizeof *d->p);
    memcpy(d->F, d->right, (size_t)n * sizeof *d->F);
    *value = next;
    return true;
  }
  return false;
}

static double keep_best(Newton* w) {
  const double r = sr_dense_residual(w->s, w->island, w->d->p);
  if (r < w->best) {
    w->best = r;
    memcpy(w->d->best, w->d->p, (size_t)w->d->n * sizeof *w->d->p);
  }
  return r;
}

// Newton's method from d->p. True: the residual is within the tolerance.
static bool attempt(Newton* w, const srContactOptions* o) {
  double value = evaluate(w, w->d->p, w->d->residual_u, w->d->F);
  const int most = o->iterations < STEPS ? o->iterations : STEPS;
  for (int k = 0; k < most; ++k) {
    if (w->eps == 0 ? keep_best(w) <= o->tolerance : value <= o->tolerance * o->tolerance) return w->eps == 0;
    if (!advance(w, &value)) return false;
    ++w->steps;
  }
  return w->eps == 0 && keep_best(w) <= o->tolerance;
}

static bool continuation(Newton* w, const srContactOptions* o) {
  memset(w->d->p, 0, (size_t)w->d->n * sizeof *w->d->p);
  for (double eps = 1; eps > 1e-10; eps *= 0.1) {
    w->eps = eps;
    (void)attempt(w, o);
  }
  w->eps = 0;
  return attempt(w, o);
}

static bool after_sweeps(Newton* w, const srContactOptions* o, int sweeps) {
  const srContactOptions few = {.tolerance = o->tolerance, .iterations = sweeps};
  bool solved;
  memset(w->d->p, 0, (size_t)w->d->n * sizeof *w->d->p);
  sr_dense_store(w->s, w->island);
  (void)sr_contact_sweep(w->s, w->island, &few, false, &solved);
  for (int i = w->island->contact[0]; i < w->island->contact[1]; ++i) {
    const srLoadedContact* c = &w->s->contact[i];
    memcpy(w->d->p + c->first, c->p, (size_t)c->rows * sizeof *c->p);
  }
  return attempt(w, o);
}

void sr_solve_newton(srContactSolver* s, srIsland* island, const srContactOptions* options) {
  srContactOptions half = *options;
  half.tolerance *= 0.5;  // the error of the result is measured with other roundings
  const srContactOptions* o = &half;
  sr_dense_load(s, island);
  Newton w = {.s = s, .d = &s->dense, .island = island, .best = INFINITY};
  memcpy(s->dense.best, s->dense.p, (size_t)s->dense.n * sizeof *s->dense.p);
  bool solved = attempt(&w, o);
  if (!solved) {
    memset(s->dense.p, 0, (size_t)s->dense.n * sizeof *s->dense.p);
    solved = attempt(&w, o);
  }
  if (!solved) solved = continuation(&w, o);
  for (int sweeps = 20; !solved && sweeps <= 2000 && sweeps <= o->iterations; sweeps *= 10)
    solved = after_sweeps(&w, o, sweeps);
  memcpy(s->dense.p, s->dense.best, (size_t)s->dense.n * sizeof *s->dense.p);
  sr_dense_store(s, island);
  island->iterations = w.steps;
  island->solved = solved;
}
