// Lemke's method for w = M z + q, z >= 0, w >= 0, z.w = 0 (Cottle, Pang and Stone 1992, section 4.4), with the lexicographic ratio test
// against cycling, on a tableau. What rounding does to it was measured on contact problems with dependent rows: ties of the ratio test
// need a relative tolerance of 1e-12, some problems 1e-9; a ray found is no proof that there is no solution. So every answer is computed
// anew from its basis and tested, and after a failure the rows and columns are scaled by random factors.
//
// Planar friction as such a problem (Pfeiffer and Glocker 1996, chapter 8), p_N = lower + nu, p_R = p_T + mu p_N, u_T = u+ - u-:
//   z = (nu, p_R, u-),  w = (u_N, u+, 2 mu p_N - p_R)
//   M = [A_NN - A_NT mu, A_NT, 0;  A_TN - A_TT mu, A_TT, 1;  2 mu, -1, 0],  q = (b_N, b_T, 0) + column of nu times lower
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/dense.h"
#include "nonsmooth/solver.h"

enum { RETRIES = 20 };
#define PIVOT 1e-11  // smallest entry of a scaled tableau that is a pivot
#define ACCEPT 1e-8  // largest violation of z, w >= 0 and z w = 0 of a solution, relative to q

// ---- tableau ------------------------------------------------------------------------------------------------------------

// Columns: w (n), z (n), z0, right side. Row i has the basic variable basis[i].
typedef struct Tableau {
  int n, width;
  double* T;
  int* basis;
  double ties;
} Tableau;

static double* at(const Tableau* t, int i, int j) { return t->T + (size_t)i * (size_t)t->width + (size_t)j; }

static void pivot(Tableau* t, int row, int column) {
  const double scale = 1 / *at(t, row, column);
  for (int j = 0; j < t->width; ++j) *at(t, row, j) *= scale;
  *at(t, row, column) = 1;
  for (int i = 0; i < t->n; ++i) {
    const double f = *at(t, i, column);
    if (i == row || f == 0) continue;
    for (int j = 0; j < t->width; ++j) *at(t, i, j) -= f * *at(t, row, j);
    *at(t, i, column) = 0;
  }
  t->basis[row] = column;
}

// Does row i precede row k in the lexicographic ratio test? Right side first, then the columns of w, whose part is the inverse basis.
static bool precedes(const Tableau* t, int i, int k, int column) {
  const double a = *at(t, i, column), b = *at(t, k, column);
  for (int j = -1; j < t->n; ++j) {
    const int c = j < 0 ? 2 * t->n + 1 : j;
    const double x = *at(t, i, c) / a, y = *at(t, k, c) / b;
    if (fabs(x - y) > t->ties * (1 + fabs(x) + fabs(y))) return x < y;
  }
  return false;
}

// The row that leaves when a column enters; -1: a ray. z0 leaves as soon as it can.
static int leaving(const Tableau* t, int column) {
  int best = -1;
  for (int i = 0; i < t->n; ++i) {
    if (*at(t, i, column) > PIVOT && (best < 0 || precedes(t, i, best, column))) best = i;
  }
  if (best < 0) return best;
  const double least = *at(t, best, 2 * t->n + 1) / *at(t, best, column);
  for (int i = 0; i < t->n; ++i) {
    if (t->basis[i] != 2 * t->n || !(*at(t, i, column) > PIVOT)) continue;
    if (*at(t, i, 2 * t->n + 1) / *at(t, i, column) <= least + t->ties * (1 + fabs(least))) return i;
  }
  return best;
}

static void fill(Tableau* t, const double* M, const double* q) {
  const int n = t->n;
  memset(t->T, 0, (size_t)n * (size_t)t->width * sizeof *t->T);
  for (int i = 0; i < n; ++i) {
    *at(t, i, i) = 1;
    for (int j = 0; j < n; ++j) *at(t, i, n + j) = -M[(size_t)i * (size_t)n + (size_t)j];
    *at(t, i, 2 * n) = -1;
    *at(t, i, 2 * n + 1) = q[i];
    t->basis[i] = i;
  }
}

// True: z0 has left the basis. *pivots counts on.
static bool run(Tableau* t, int most, int* pivots) {
  const int n = t->n;
  int row = 0;
  for (int i = 1; i < n; ++i) {
    if (*at(t, i, 2 * n + 1) < *at(t, row, 2 * n + 1)) row = i;
  }
  if (*at(t, row, 2 * n + 1) >= 0) return true;
  int column = 2 * n;
  for (int k = 0; k < most; ++k) {
    const int out = t->basis[row];
    pivot(t, row, column);
    ++*pivots;
    if (out == 2 * n) return true;
    column = out < n ? out + n : out - n;  // the complement enters
    row = leaving(t, column);
    if (row < 0) return false;
  }
  return false;
}

// ---- solution -----------------------------------------------------------------------------------------------------------

// Memory: scaled M and q, tableau, a matrix to factor, row and column factors, a right side.
typedef struct Lemke {
  int n;
  double *M, *q, *T, *LU, *row, *column, *x;
  int *basis, *pivot;
} Lemke;

size_t sr_lemke_numbers(int n) {
  const size_t k = (size_t)n;
  return 4 * k * k + 8 * k + 1;  // M, tableau 2 n + 2 wide, LU; q, factors, x
}

static Lemke divide(int n, double* memory, int* index) {
  const size_t k = (size_t)n;
  Lemke l = {.n = n, .M = memory, .basis = index, .pivot = index + n};
  l.T = l.M + k * k;
  l.LU = l.T + k * (2 * k + 2);
  l.q = l.LU + k * k;
  l.row = l.q + k;
  l.column = l.row + k;
  l.x = l.column + k;
  return l;
}

// z from the basic variables alone, by a direct solution: column j of the basis is that of w_j (1) or of z_j (-M). False: it is singular.
static bool from_basis(const Lemke* l, const double* M, const double* q, double* z) {
  const int n = l->n;
  memset(l->LU, 0, (size_t)n * (size_t)n * sizeof *l->LU);
  for (int k = 0; k < n; ++k) {
    const int v = l->basis[k];
    if (v >= 2 * n) return false;
    for (int i = 0; i < n; ++i)
      l->LU[i * n + k] = v < n ? (i == v ? 1 : 0) : -M[(size_t)i * (size_t)n + (size_t)(v - n)];
    l->x[k] = q[k];
  }
  if (!srm_lu(n, l->LU, l->pivot)) return false;
  srm_lu_solve(n, l->LU, l->pivot, l->x);
  memset(z, 0, (size_t)n * sizeof *z);
  for (int k = 0; k < n; ++k) {
    if (l->basis[k] >= n) z[l->basis[k] - n] = fmax(l->x[k], 0);
  }
  return true;
}

// Largest violation |min(z, w)| where both have the unit of q: of M scaled to entries of about 1.
static double violation(int n, const double* M, const double* q, const double* z) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    double w = q[i];
    for (int j = 0; j < n; ++j) w += M[(size_t)i * (size_t)n + (size_t)j] * z[j];
    const double v = fabs(fmin(z[i], w));
    if (!(v <= most)) most = v;
  }
  return most;
}

static double random_factor(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return 0.5 + (double)(*state >> 11) / 9007199254740992.0;  // 0.5 .. 1.5
}

bool sr_lemke(int n, const double* M, const double* q, int most, double* memory, int* index, double* z, int* pivots) {
  const Lemke l = divide(n, memory, index);
  double size = 0, best = INFINITY;
  uint64_t seed = 1;
  for (int i = 0; i < n; ++i) size = fmax(size, fabs(q[i]));
  *pivots = 0;
  memset(z, 0, (size_t)n * sizeof *z);
  if (n == 0) return true;
  for (int k = 0; k < 2 + RETRIES; ++k) {
    for (int i = 0; i < n; ++i) {
      l.row[i] = k < 2 ? 1 : random_factor(&seed);
      l.column[i] = k < 2 ? 1 : random_factor(&seed);
    }
    for (int i = 0; i < n; ++i) {
      l.q[i] = fabs(q[i]) < 1e-13 * size ? 0 : l.row[i] * q[i];
      for (int j = 0; j < n; ++j)
        l.M[(size_t)i * (size_t)n + (size_t)j] = l.row[i] * M[(size_t)i * (size_t)n + (size_t)j] * l.column[j];
    }
    Tableau t = {.n = n, .width = 2 * n + 2, .T = l.T, .basis = l.basis, .ties = k == 1 ? 1e-9 : 1e-12};
    fill(&t, l.M, l.q);
    if (!run(&t, most, pivots)) continue;
    double* trial = l.q;  // no longer needed
    if (!from_basis(&l, M, q, trial)) continue;
    const double v = violation(n, M, q, trial);
    if (v < best) {
      best = v;
      memcpy(z, trial, (size_t)n * sizeof *z);
    }
    if (best <= ACCEPT * size) return true;
  }
  return false;
}

// ---- contacts -----------------------------------------------------------------------------------------------------------

// Entries of the problem of an island, with impulses times sigma.
typedef struct Planar {
  const srContactSolver* s;
  const srIsland* island;
  double sigma;
  int n;
  double *M, *q;
  int* place;  // of each contact: its first variable
} Planar;

static double planar_entry(const Planar* x, int i, int j) {
  return x->s->dense.A[(size_t)i * (size_t)x->s->dense.n + (size_t)j] / x->sigma;
}

static bool rubs(const srLoadedContact* c) { return c->rows == 2 && c->cone.mu > 0; }

// Rows of contact c against the columns of contact e.
static void fill_block(const Planar* x, const srLoadedContact* c, int row, const srLoadedContact* e, int column) {
  const double mu = rubs(e) ? e->cone.mu : 0;
  const int rows = rubs(c) ? 2 : 1;
  for (int k = 0; k < rows; ++k) {
    double* out = x->M + (size_t)(row + k) * (size_t)x->n + (size_t)column;
    const double N = planar_entry(x, c->first + k, e->first);
    const double T = rubs(e) ? planar_entry(x, c->first + k, e->first + 1) : 0;
    out[0] = N - mu * T;
    x->q[row + k] += out[0] * e->cone.lower * x->sigma;
    if (rubs(e)) out[1] = T;
  }
}

static void fill_planar(const Planar* x) {
  memset(x->M, 0, (size_t)x->n * (size_t)x->n * sizeof *x->M);
  memset(x->q, 0, (size_t)x->n * sizeof *x->q);
  for (int i = x->island->contact[0]; i < x->island->contact[1]; ++i) {
    const srLoadedContact* c = &x->s->contact[i];
    const int row = x->place[i - x->island->contact[0]];
    for (int j = x->island->contact[0]; j < x->island->contact[1]; ++j)
      fill_block(x, c, row, &x->s->contact[j], x->place[j - x->island->contact[0]]);
    x->q[row] += x->s->dense.b[c->first];
    if (!rubs(c)) continue;
    double* M = x->M + (size_t)row * (size_t)x->n + (size_t)row;
    x->q[row + 1] += x->s->dense.b[c->first + 1];
    M[x->n + 2] = 1;               // u_T = u+ - u-
    M[2 * x->n] = 2 * c->cone.mu;  // 2 mu nu - p_R
    M[2 * x->n + 1] = -1;
    x->q[row + 2] = 2 * c->cone.mu * c->cone.lower * x->sigma;
  }
}

static void take_planar(const Planar* x, const double* z, double* p) {
  for (int i = x->island->contact[0]; i < x->island->contact[1]; ++i) {
    const srLoadedContact* c = &x->s->contact[i];
    const double* v = z + x->place[i - x->island->contact[0]];
    p[c->first] = c->cone.lower + v[0] / x->sigma;
    for (int k = 1; k < c->rows; ++k) p[c->first + k] = 0;
    if (rubs(c)) p[c->first + 1] = v[1] / x->sigma - c->cone.mu * p[c->first];
  }
}

void sr_solve_lemke(srContactSolver* s, srIsland* island, const srContactOptions* o) {
  sr_dense_load(s, island);
  srDense* d = &s->dense;
  Planar x = {.s = s, .island = island, .place = d->lcp_index};
  double sum = 0;
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    const srLoadedContact* c = &s->contact[i];
    x.place[i - island->contact[0]] = x.n;
    x.n += rubs(c) ? 3 : 1;
    sum += 1 / c->rho;
  }
  x.sigma = d->ncontact > 0 ? sum / d->ncontact : 1;
  x.M = d->lcp;
  x.q = x.M + (size_t)x.n * (size_t)x.n;
  double* z = x.q + x.n;
  fill_planar(&x);
  (void)sr_lemke(x.n, x.M, x.q, o->iterations, z + x.n, d->lcp_index + d->ncontact, z, &island->iterations);
  take_planar(&x, z, d->p);
  island->solved = sr_dense_residual(s, island, d->p) <= o->tolerance;
  sr_dense_store(s, island);
}
