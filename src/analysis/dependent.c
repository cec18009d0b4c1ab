// Dependent coordinates by coordinate partitioning.                               ROBOTRAN manual, sections 3.2.2 and 5.1, equations 16 to 22 and 59
//
//   positions       g(t, q) = 0          Newton for q_v:   G_v dq_v = -g
//   velocities      G_v v_v = -(G_u v_u + b)
//   accelerations   G_v a_v = gamma - G_u a_u
//   forces          M a + c - f = Q + G^T lambda,  Q_v = 0:   G_v^T lambda = (M a + c - f)_v,  Q_u = (M a + c - f)_u - G_u^T lambda
//
// u: coordinates that are given (driven, held), v: those that follow. G_v is square: as many independent equations as dependent coordinates. With redundant equations the
// multipliers are those of least norm, as in a run: lambda = G_:v y, (G_:v^T G_:v) y = (M a + c - f)_v over all equations. Everything is dense.
#include "analysis/dependent.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "math/dense.h"
#include "math/pivots.h"

#define ITERATIONS 20
#define SHORTEST 1e-2     // of the longest equation
#define ROUNDING 1e-15    // of a scaled equation
#define STAGNATION 1e-11  // of a scaled equation: below it a residual that no longer falls is rounding
#define KEPT 1e-9  // residual of an equation, and of its tolerance, up to which it holds (as in integrate/drift.c)
#define TOLERANCES_MOST 1e3

struct srDependent {
  const srModel* m;
  srData* d;
  int nrow;            // equations: all but the drivers of relative coordinates
  int np, n;           // dependent coordinates: of positions, of velocities
  int* equation;       // nrow: rows of the model
  int *row, *column;   // nrow, nv: those of the pivots first; row counts in `equation`
  signed char* role;   // nv
  int *pivot, *place;  // n; nv: which of the dependent coordinates, -1: none

  double *A, *LU;      // nrow x nv, scaled; n x n
  double* S;           // n x n: G_:v^T G_:v; NULL: no equation is redundant
  double *length, *x;  // nrow; max(nv, ng)
  double *r, *dx;      // ng; nv
  double* memory;
  double determinant;
  long iterations;
};

// ---- memory -------------------------------------------------------------------------------------------------------------

static bool allocate(srDependent* x) {
  const size_t nv = (size_t)x->m->nv, ng = (size_t)x->m->ng, n = ng < nv ? ng : nv;
  unsigned char* bytes;
  const srPart parts[] = {{&x->A, ng * nv}, {&x->LU, n * n}, {&x->S, n * n}, {&x->length, ng},
                          {&x->x, nv + ng}, {&x->r, ng},     {&x->dx, nv}};
  if (!sr_take_parts(parts, SR_COUNT(parts), nv + (2 * ng + 2 * nv + n + 1) * sizeof(int), &x->memory, &bytes))
    return false;
  x->equation = (int*)(void*)bytes;  // behind doubles, so aligned
  x->row = x->equation + ng;
  x->column = x->row + ng;
  x->pivot = x->column + nv;
  x->place = x->pivot + n;
  x->role = (signed char*)(x->place + nv + 1);
  return true;
}

// drivers: those of absolute coordinates are equations.
static srDependent* create(const srModel* m, srData* d, bool drivers) {
  srDependent* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  x->m = m;
  x->d = d;
  if (!allocate(x)) {
    sr_dependent_destroy(x);
    return NULL;
  }
  for (int i = 0; i < m->ng; ++i) {
    if (m->row[i].kind != SR_ROW_DRIVER || (drivers && m->absolute)) x->equation[x->nrow++] = i;
  }
  return x;
}

srDependent* sr_dependent_create_undriven(const srModel* m, srData* d) { return create(m, d, false); }

srDependent* sr_dependent_create(const srModel* m, srData* d, const unsigned char* fixed) {
  srDependent* x = create(m, d, true);
  if (x == NULL) return NULL;

  for (int i = 0; i < m->nv; ++i) x->role[i] = (signed char)(fixed != NULL && fixed[i] != 0 ? SRM_NEVER : 0);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) x->role[m->driver[i].dof] = SRM_NEVER;
  return x;
}

void sr_dependent_destroy(srDependent* x) {
  if (x == NULL) return;
  sr_free(x->memory);
  sr_free(x);
}

void sr_dependent_bind(srDependent* x, const srModel* m, srData* d) {
  x->m = m;
  x->d = d;
}

int sr_dependent_count(const srDependent* x) { return x->n; }
int sr_dependent_count_positions(const srDependent* x) { return x->np; }
const int* sr_dependent_columns(const srDependent* x) { return x->column; }
long sr_dependent_iterations(const srDependent* x) { return x->iterations; }

// ---- choice -------------------------------------------------------------------------------------------------------------

// Equation i into a full line of nv, scaled.
static void spread(const srDependent* x, int i, double* line) {
  const srModel* m = x->m;
  const int row = x->equation[i];
  memset(line, 0, (size_t)m->nv * sizeof *line);
  for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) line[m->G_index[k]] = x->d->G[k] / x->length[i];
}

// Equations are scaled by their length where the choice was made, so that one that vanishes in a singular position is seen to; very short ones less (as in
// constraint/rank.c).
static void measure(srDependent* x) {
  const srModel* m = x->m;
  double longest = 0.0;
  for (int i = 0; i < x->nrow; ++i) {
    double square = 0.0;
    for (int k = m->G_start[x->equation[i]]; k < m->G_start[x->equation[i] + 1]; ++k) square += x->d->G[k] * x->d->G[k];
    x->length[i] = sqrt(square);
    longest = fmax(longest, x->length[i]);
  }
  for (int i = 0; i < x->nrow; ++i) x->length[i] = longest > 0.0 ? fmax(x->length[i], SHORTEST * longest) : 1.0;
}

// An equation beyond the pivots that given coordinates enter, -1: none.
static int left_over(const srDependent* x) {
  for (int i = x->n; i < x->nrow; ++i) {
    const double* line = x->A + (size_t)x->row[i] * (size_t)x->m->nv;
    for (int j = 0; j < x->m->nv; ++j) {
      if (x->role[j] == SRM_NEVER && fabs(line[j]) > 10 * SRM_PIVOT_TAU) return x->equation[x->row[i]];
    }
  }
  return -1;
}

bool sr_dependent_choose(srDependent* x, int* row) {
  const int before = x->n;
  int np = 0;
  measure(x);
  for (int i = 0; i < x->nrow; ++i) {
    spread(x, i, x->A + (size_t)i * (size_t)x->m->nv);

    np += x->equation[i] < x->m->np;
  }
  srmPivots pivots = {
      .nrow = x->nrow, .ncol = x->m->nv, .A = x->A, .role = x->role, .row = x->row, .column = x->column};
  x->n = srm_pivots_choose(&pivots, np, &x->np);
  for (int j = 0; j < x->m->nv; ++j) x->place[x->column[j]] = j < x->n ? j : -1;
  *row = left_over(x);
  if (*row < 0 && x->n < before) *row = x->equation[x->row[x->n]];
  return *row < 0;
}

// ---- motion ---------------------------------------------------------------------------------------------------------------

// G_v at d's G, scaled: the first n equations and coordinates. False: singular.
static bool factor(srDependent* x, int n) {
  double sign = 1.0, least = 1.0;
  for (int i = 0; i < n; ++i) {
    spread(x, x->row[i], x->dx);
    for (int j = 0; j < n; ++j) x->LU[i * n + j] = x->dx[x->column[j]];
  }
  if (!srm_lu(n, x->LU, x->pivot)) return false;
  for (int i = 0; i < n; ++i) {
    const double pivot = x->LU[i * n + i];
    sign = (pivot < 0.0) == (x->pivot[i] != i) ? sign : -sign;
    least = fmin(least, fabs(pivot));
  }
  x->determinant = sign * least;
  return true;
}

// x->x of the first n equations: -r/length, solved for the dependent coordinates.
static void solve(srDependent* x, int n, const double* r) {
  for (int i = 0; i < n; ++i) x->x[i] = -r[x->equation[x->row[i]]] / x->length[x->row[i]];
  srm_lu_solve(n, x->LU, x->pivot, x->x);
}

static bool evaluate(srDependent* x, int n) {
  (void)sr_evaluate(x->m, x->d, x->d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_driver_motion(x->m, x->d);
  return sr_constraints(x->m, x->d) == 0 && factor(x, n);
}

bool sr_dependent_put(srDependent* x) { return evaluate(x, x->n); }

int sr_dependent_broken(const srDependent* x) {
  for (int i = 0; i < x->m->np; ++i) {
    if (fabs(x->d->g[i]) > fmax(KEPT, TOLERANCES_MOST * x->m->row[i].tolerance)) return i;
  }
  return -1;
}

double sr_dependent_determinant(const srDependent* x) { return x->determinant; }

bool sr_dependent_positions(srDependent* x, double* corrected) {
  srData* d = x->d;
  double before = (double)INFINITY;
  const int n = x->np;
  *corrected = 0.0;
  for (int k = 0; k < ITERATIONS; ++k, ++x->iterations) {
    if (!evaluate(x, n)) return false;
    double worst = 0.0;
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(d->g[x->equation[x->row[i]]]) / x->length[x->row[i]]);
    if (worst <= ROUNDING || (worst < STAGNATION && worst > 0.5 * before)) return true;
    if (!isfinite(worst)) return false;
    solve(x, n, d->g);
    memset(x->dx, 0, (size_t)x->m->nv * sizeof *x->dx);
    double longest = 0.0;
    for (int i = 0; i < n; ++i) {
      x->dx[x->column[i]] = x->x[i];
      longest = fmax(longest, fabs(x->x[i]));
    }
    sr_retract(x->m, d->q, x->dx, d->q);
    *corrected += longest;
    before = worst;
  }
  return false;
}

void sr_dependent_velocities(srDependent* x) {
  srData* d = x->d;
  const int n = x->n;

  for (int i = 0; i < n; ++i) d->v[x->column[i]] = 0.0;
  sr_constraint_velocity(x->m, d, d->v, x->r);
  solve(x, n, x->r);
  for (int i = 0; i < n; ++i) d->v[x->column[i]] = x->x[i];
}

bool sr_dependent_accelerations(srDependent* x, double* a) {
  const srModel* m = x->m;
  srData* d = x->d;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  if (sr_constraint_gamma(m, d) != 0) return false;
  for (int i = 0; i < x->n; ++i) a[x->column[i]] = 0.0;
  sr_constraint_velocity(m, d, a, x->r);
  for (int i = 0; i < m->ng; ++i) x->r[i] -= d->b[i] + d->gamma[i];
  solve(x, x->n, x->r);
  for (int i = 0; i < x->n; ++i) a[x->column[i]] = x->x[i];
  return true;
}

// ---- forces ---------------------------------------------------------------------------------------------------------------

void sr_required_force(const srModel* m, srData* d, const double* a, double* out) {
  if (!m->absolute) {
    sr_rnea(m, d, d->q, d->v, a, out);
    for (int i = 0; i < m->nv; ++i) out[i] += m->joint_armature[i] * a[i] - d->f[i];
    return;
  }
  sr_bias_force(m, d);
  sr_mass(m, d);
  for (int i = 0; i < m->nv; ++i) {
    out[i] = d->bias[i] - d->f[i];
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) out[i] += d->M[k] * a[m->M_column[k]];
  }
}

// y of G_v^T y = right, in place: the transposed of G_v = P^-1 L U.
static void solve_transposed(const srDependent* x, double* y) {
  const int n = x->n;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) y[i] -= x->LU[k * n + i] * y[k];
    y[i] /= x->LU[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) y[i] -= x->LU[k * n + i] * y[k];
  }
  for (int i = n - 1; i >= 0; --i) {
    const double t = y[i];
    y[i] = y[x->pivot[i]];
    y[x->pivot[i]] = t;
  }
}

// G_:v^T G_:v of all equations, unscaled, factored. False: singular.
static bool factor_normal(srDependent* x) {
  const int n = x->n;
  const srModel* m = x->m;
  const double* G = x->d->G;
  memset(x->S, 0, (size_t)n * (size_t)n * sizeof *x->S);
  for (int i = 0; i < x->nrow; ++i) {
    const int first = m->G_start[x->equation[i]], last = m->G_start[x->equation[i] + 1];
    for (int k = first; k < last; ++k) {
      const int a = x->place[m->G_index[k]];
      for (int l = first; l < last && a >= 0; ++l) {
        const int b = x->place[m->G_index[l]];
        if (b >= 0 && b <= a) x->S[a * n + b] += G[k] * G[l];
      }
    }
  }
  return srm_cholesky(n, x->S);
}

// Adds to lambda what least norm makes of the dependent part of force, and takes it off force.
static void take_least(srDependent* x, double* force, double* lambda) {
  const srModel* m = x->m;
  const int n = x->n;
  for (int i = 0; i < n; ++i) x->x[i] = force[x->column[i]];
  srm_cholesky_solve(n, x->S, x->x);
  for (int i = 0; i < x->nrow; ++i) {
    const int row = x->equation[i];
    double part = 0.0;
    for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) {
      const int at = x->place[m->G_index[k]];
      if (at >= 0) part += x->d->G[k] * x->x[at];
    }
    lambda[row] += part;
    for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) force[m->G_index[k]] -= x->d->G[k] * part;
  }
}

static void take_square(srDependent* x, double* force, double* lambda) {
  const int n = x->n;
  for (int i = 0; i < n; ++i) x->x[i] = force[x->column[i]];
  solve_transposed(x, x->x);
  for (int i = 0; i < n; ++i) {
    const double part = x->x[i] / x->length[x->row[i]];
    const int row = x->equation[x->row[i]];
    lambda[row] += part;
    for (int k = x->m->G_start[row]; k < x->m->G_start[row + 1]; ++k) force[x->m->G_index[k]] -= x->d->G[k] * part;
  }
}

bool sr_dependent_forces(srDependent* x, double* force, double* lambda) {
  memset(lambda, 0, (size_t)x->m->ng * sizeof *lambda);
  if (x->n < x->nrow) {  // twice: the second pass corrects what the squared condition has cost
    if (!factor_normal(x)) return false;
    take_least(x, force, lambda);
    take_least(x, force, lambda);
  } else {
    take_square(x, force, lambda);
  }
  return true;
}

void sr_dependent_basis(const srDependent* x, double* B) {
  const srModel* m = x->m;
  const int nu = m->nv - x->n;
  memset(B, 0, (size_t)m->nv * (size_t)nu * sizeof *B);
  int at = 0;
  for (int j = 0; j < m->nv; ++j) {
    if (x->place[j] >= 0) continue;
    B[j * nu + at] = 1.0;
    for (int i = 0; i < x->n; ++i) {
      const int row = x->equation[x->row[i]];
      x->x[i] = 0.0;
      for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) {
        if (m->G_index[k] == j) x->x[i] = -x->d->G[k] / x->length[x->row[i]];
      }
    }
    srm_lu_solve(x->n, x->LU, x->pivot, x->x);
    for (int i = 0; i < x->n; ++i) B[x->column[i] * nu + at] = x->x[i];
    ++at;
  }
}
