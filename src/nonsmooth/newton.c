// Semismooth Newton on the function of Alart and Curnier (1991), for islands of some dozen contacts; the matrix is dense. Of each contact
//   F_N = A_NN (p_N - max(lower, p_N - u_N/A_NN))
//   F_T = a_T (p_T - P_disc(mu max(lower, p_N - u_N/A_NN)) (p_T - u_T/a_T)),     a_T the larger eigenvalue of A_TT;  u = A p + b
// Rows whose impulse is given (open contacts) are not in the linear system.
// A is singular where contacts are redundant, and their solutions are a continuum. The Jacobian has a part of the diagonal added that is proportional to |F|, as in the method of
// Levenberg and Marquardt, so that a step is no longer than the error allows, and Newton's order stays (Yamashita and Fukushima 2001); F has not.
// Between slip and stick |F| has to rise before it falls: a step is measured by the largest |F| of the last ones (Grippo, Lampariello and Lucidi 1986), and the first ones may raise it.
// Attempts in this order until the residual is within the tolerance; the best one is returned:
//   from the start value; from 20 and 100 sweeps; from 0; on A + eps diag(A), eps = 1, 0.1, ..., each from the last, then without; from 2000 sweeps
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "nonsmooth/solver.h"

enum { STEPS = 40, HALVINGS = 12, WINDOW = 5, FREE = 20 };
#define START 1e-3      // of the tolerance: residual of a start value that is taken as it is
#define GROWTH 100.0    // of |F|^2 in the first FREE steps of an attempt, at the most
#define LEVENBERG 0.03  // times |F| over the largest velocity: part of the diagonal that is added to the Jacobian ...
#define REGULAR 1e-9    // ... at least
#define REGULAR_MOST 1e-3  // ... at the most
#define LEAST 1e-9         // part of W_NN that A_NN has at least: joints may hold a contact

typedef struct Newton {
  srContactSolver* s;
  srDense* d;
  const srIsland* island;
  double eps;              // compliance of all rows
  double regular;          // added to the Jacobian
  double scale;            // largest velocity without impulses
  double history[WINDOW];  // |F|^2 of the last steps of an attempt
  int taken;               // steps of an attempt
  int steps;               // of all attempts
  double best;             // residual of d->best
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

// Faster than hypot, which guards against numbers that no impulse or velocity has.
static double length2(double x, double y) { return sqrt(x * x + y * y); }

static const double* row_of(const srDense* d, int i) { return d->A + (size_t)i * (size_t)d->n; }

static double entry(const srDense* d, int i, int j) { return row_of(d, i)[j]; }

static const double* weights_of(const Newton* w, const srLoadedContact* c) { return w->d->weight + 2 * c->first; }

static void set_weights(const Newton* w) {
  const srDense* d = w->d;
  for (int k = w->island->contact[0]; k < w->island->contact[1]; ++k) {
    const srLoadedContact* c = &w->s->contact[k];
    const int i = c->first;
    const double least = LEAST / c->rho;
    double* out = d->weight + 2 * i;
    out[0] = fmax(entry(d, i, i), least);
    out[1] = out[0];
    if (c->rows == 2) out[1] = fmax(entry(d, i + 1, i + 1), least);
    if (c->rows == 3) {
      const double a = entry(d, i + 1, i + 1), b = entry(d, i + 2, i + 2), ab = entry(d, i + 1, i + 2);
      out[1] = fmax(0.5 * (a + b) + length2(0.5 * (a - b), ab), least);
    }
  }
}

static void contact_state(const Newton* w, const srLoadedContact* c, const double* p, const double* u, State* out) {
  const double* weight = weights_of(w, c);
  out->w[0] = weight[0];
  out->w[1] = weight[1];
  const double trial = p[c->first] - u[c->first] / out->w[0];
  out->active = trial > c->cone.lower;
  out->N = out->active ? trial : c->cone.lower;
  out->limit = c->cone.mu * out->N;
  out->x[0] = out->x[1] = 0;
  for (int k = 1; k < c->rows; ++k) out->x[k - 1] = p[c->first + k] - u[c->first + k] / out->w[1];
  out->length = length2(out->x[0], out->x[1]);
}

// (A + eps w) p.
static void multiply(const Newton* w, const double* p, double* u) {
  const srDense* d = w->d;
  const size_t n = (size_t)d->n;
  memset(u, 0, n * sizeof *u);
  for (size_t j = 0; j < n; ++j) {
    if (p[j] == 0) continue;
    const double* column = d->At + j * n;
    for (size_t i = 0; i < n; ++i) u[i] += column[i] * p[j];
  }
  if (w->eps == 0) return;
  for (int k = w->island->contact[0]; k < w->island->contact[1]; ++k) {
    const srLoadedContact* c = &w->s->contact[k];
    for (int i = c->first; i < c->first + c->rows; ++i) u[i] += w->eps * weights_of(w, c)[0] * p[i];
  }
}

// F of impulses and their velocities; returns |F|^2.
static double evaluate(const Newton* w, const double* p, const double* u, double* F) {
  double sum = 0;
  for (int i = w->island->contact[0]; i < w->island->contact[1]; ++i) {
    const srLoadedContact* c = &w->s->contact[i];
    State x;
    contact_state(w, c, p, u, &x);
    F[c->first] = x.w[0] * (p[c->first] - x.N);
    const double scale = x.length > x.limit ? x.limit / x.length : 1;
    for (int k = 1; k < c->rows; ++k) F[c->first + k] = x.w[1] * (p[c->first + k] - scale * x.x[k - 1]);
    for (int k = 0; k < c->rows; ++k) sum += F[c->first + k] * F[c->first + k];
  }
  return sum;
}

// The velocities of d->p anew, and F; returns |F|^2.
static double evaluate_anew(const Newton* w) {
  srDense* d = w->d;
  multiply(w, d->p, d->residual_u);
  for (int i = 0; i < d->n; ++i) d->residual_u[i] += d->b[i];
  return evaluate(w, d->p, d->residual_u, d->F);
}

// ---- the linear system ----------------------------------------------------------------------------------------------------

// Columns of the linear system, d->column: its unknowns, then rows whose step is given and not 0; d->place of each row: its column, or -1.
typedef struct Columns {
  int unknown, all;
} Columns;

// The step of rows whose impulse is given is in d->step.
static Columns choose_columns(const Newton* w) {
  srDense* d = w->d;
  Columns c = {0};
  for (int k = w->island->contact[0]; k < w->island->contact[1]; ++k) {
    const srLoadedContact* contact = &w->s->contact[k];
    State x;
    contact_state(w, contact, d->p, d->residual_u, &x);
    for (int l = 0; l < contact->rows; ++l) {
      const int i = contact->first + l;
      const bool given = l == 0 ? !x.active : x.limit == 0;
      d->place[i] = given ? -1 : c.unknown;
      d->step[i] = given ? d->F[i] / x.w[l > 0] : 0;
      if (!given) d->column[c.unknown++] = i;
    }
  }
  c.all = c.unknown;
  for (int i = 0; i < d->n; ++i) {
    if (d->place[i] < 0 && d->step[i] != 0) d->column[c.all++] = i;
  }
  return c;
}

// d u_i/d p over the columns, with what is added to the diagonal, times `scale`.
static void add_row(const Newton* w, const Columns* c, int i, double added, double scale, double* out) {
  const double* row = row_of(w->d, i);
  const int* column = w->d->column;
  for (int j = 0; j < c->all; ++j) out[j] += scale * row[column[j]];
  if (w->d->place[i] >= 0) out[w->d->place[i]] += scale * added;
}

// The row of component k > 0 where the contact slips: w (p_T - limit d), d = x/|x|.
static void slip_row(const Newton* w, const Columns* columns, const srLoadedContact* c, const State* x, double added,
                     int k, double* row) {
  const int i = c->first, *place = w->d->place;
  const double turn = x->limit / x->length;
  const double dir[2] = {x->x[0] / x->length, x->x[1] / x->length};
  row[place[i + k]] += x->w[1];
  if (x->active) {  // the limit changes by mu (dp_N - du_N/A_NN)
    const double f = x->w[1] * c->cone.mu * dir[k - 1];
    row[place[i]] -= f;
    add_row(w, columns, i, added, f / x->w[0], row);
  }
  for (int l = 1; l < c->rows; ++l) {  // the direction turns
    const double f = turn * ((k == l ? 1 : 0) - dir[k - 1] * dir[l - 1]);
    row[place[i + l]] -= x->w[1] * f;
    add_row(w, columns, i + l, added, f, row);
  }
}

// The Jacobian over the unknowns, and the right side less the given steps.
static void assemble(const Newton* w, const Columns* columns, double* right) {
  srDense* d = w->d;
  double* row = d->trial;
  for (int k = w->island->contact[0]; k < w->island->contact[1]; ++k) {
    const srLoadedContact* c = &w->s->contact[k];
    State x;
    contact_state(w, c, d->p, d->residual_u, &x);
    const double added = (w->eps + w->regular) * x.w[0];
    for (int l = 0; l < c->rows; ++l) {
      const int at = d->place[c->first + l];
      if (at < 0) continue;
      memset(row, 0, (size_t)columns->all * sizeof *row);
      if (l > 0 && x.length > x.limit) {
        slip_row(w, columns, c, &x, added, l, row);
      } else {
        add_row(w, columns, c->first + l, added, 1, row);
      }
      memcpy(d->J + (size_t)at * (size_t)columns->unknown, row, (size_t)columns->unknown * sizeof *row);
      right[at] = d->F[c->first + l];
      for (int j = columns->unknown; j < columns->all; ++j) right[at] -= row[j] * d->step[d->column[j]];
    }
  }
}

// Newton's step in d->step.
static bool find_step(const Newton* w) {
  srDense* d = w->d;
  const Columns columns = choose_columns(w);
  assemble(w, &columns, d->right);
  if (!srm_lu(columns.unknown, d->J, d->pivot)) return false;
  srm_lu_solve(columns.unknown, d->J, d->pivot, d->right);
  for (int j = 0; j < columns.unknown; ++j) d->step[d->column[j]] = d->right[j];
  return true;
}

// ---- iteration ------------------------------------------------------------------------------------------------------------

// What |F|^2 must be below after a step.
static double reference(Newton* w, double value) {
  w->history[w->taken % WINDOW] = value;
  double most = value;
  for (int k = 0; k < WINDOW && k <= w->taken; ++k) most = fmax(most, w->history[k]);
  return w->taken++ < FREE ? GROWTH * most : most;
}

// One step with line search, the velocities being linear in it; false: no further.
static bool advance(Newton* w, double* value) {
  srDense* d = w->d;
  const int n = d->n;
  const double least = reference(w, *value);
  w->regular = w->scale > 0 ? fmin(fmax(LEVENBERG * sqrt(*value) / w->scale, REGULAR), REGULAR_MOST) : REGULAR;
  if (!find_step(w)) return false;
  double *change = d->right, *u = d->trial_u;
  multiply(w, d->step, change);
  double length = 1;
  for (int k = 0; k < HALVINGS; ++k, length *= 0.5) {
    for (int i = 0; i < n; ++i) {
      d->trial[i] = d->p[i] - length * d->step[i];
      u[i] = d->residual_u[i] - length * change[i];
    }
    const double next = evaluate(w, d->trial, u, d->F);
    if (!(next < (1 - 1e-4 * length) * least) && k + 1 < HALVINGS) continue;
    if (!isfinite(next)) return false;
    memcpy(d->p, d->trial, (size_t)n * sizeof *d->p);
    *value = evaluate_anew(w);
    return true;
  }
  return false;
}

// The residual of d->p, whose velocities are those without eps.
static double residual_of(const Newton* w) {
  const srDense* d = w->d;
  double most = 0;
  for (int i = w->island->contact[0]; i < w->island->contact[1]; ++i) {
    const srLoadedContact* c = &w->s->contact[i];
    double u[3] = {0, 0, 0}, p[3] = {0, 0, 0};
    for (int k = 0; k < c->rows; ++k) {
      u[k] = d->residual_u[c->first + k];
      p[k] = d->p[c->first + k];
    }
    const double r = sr_cone_residual(&c->cone, c->rho, p, u);
    if (!(r <= most)) most = r;
  }
  return most;
}

static void keep_best(Newton* w) {
  const double r = residual_of(w);
  if (r < w->best) {
    w->best = r;
    memcpy(w->d->best, w->d->p, (size_t)w->d->n * sizeof *w->d->p);
  }
}

// Newton's method from d->p. True: the residual is within the tolerance. A start value has to be much better than that, or gets one step: what rests would be left with the error of its last step in
// every step, and creep with it.
static bool attempt(Newton* w, const srContactOptions* o) {
  double value = evaluate_anew(w);
  const int most = o->iterations < STEPS ? o->iterations : STEPS;
  w->taken = 0;
  for (int k = 0; k < most; ++k) {
    const double wanted = k == 0 ? START * o->tolerance : o->tolerance;
    if (w->eps == 0) keep_best(w);
    const bool good = w->eps == 0 ? w->best <= wanted : value <= o->tolerance * o->tolerance;
    if (good && k >= o->least_iterations) return w->eps == 0;
    if (!advance(w, &value)) return w->eps == 0 && w->best <= o->tolerance;
    ++w->steps;
  }
  if (w->eps == 0) keep_best(w);
  return w->eps == 0 && w->best <= o->tolerance;
}

static bool from_zero(Newton* w, const srContactOptions* o) {
  memset(w->d->p, 0, (size_t)w->d->n * sizeof *w->d->p);
  return attempt(w, o);
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

// From the best one.
static bool after_sweeps(Newton* w, const srContactOptions* o, int sweeps) {
  const srContactOptions few = {.tolerance = o->tolerance, .iterations = sweeps};
  bool solved;
  if (sweeps > o->iterations) return false;
  memcpy(w->d->p, w->d->best, (size_t)w->d->n * sizeof *w->d->p);
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
  for (int i = 0; i < s->dense.n; ++i) w.scale = fmax(w.scale, fabs(s->dense.b[i]));
  set_weights(&w);
  memcpy(s->dense.best, s->dense.p, (size_t)s->dense.n * sizeof *s->dense.p);
  const bool again = o->iterations >= STEPS;  // who gives it fewer steps has other ways
  const bool solved =
      attempt(&w, o) || (again && (after_sweeps(&w, o, 20) || after_sweeps(&w, o, 100) || from_zero(&w, o) ||
                                   continuation(&w, o) || after_sweeps(&w, o, 2000)));
  memcpy(s->dense.p, s->dense.best, (size_t)s->dense.n * sizeof *s->dense.p);
  sr_dense_store(s, island);
  island->iterations = w.steps;
  island->solved = solved;
}
