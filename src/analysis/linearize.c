// Linear equations of small motions about a steady motion (t, q, v, y) with a = 0.      docs/theory/modes.md
//
// xi: displacement along sr_retract; dv, dy: changes of velocities and states. To first order
//   xi' = dv - ad(v) xi                                      ad: velocities of ball and free joints are in axes that turn
//   G_p xi = 0,   G dv + D xi = 0                            D = d(G v + b)/dq
//   M dv' + Kv dv + Ky dy + Kq xi = G^T dlambda,   dy' = -(K xi + K dv + K dy)_y
// with Kq, Kv of the exact tangent (system.h), which has -d(G^T lambda)/dq. Allowed motions in terms of independent ones
//   xi = Bp x,   dv = B w + S x                              J, N: dv_joint = J dv + N xi,   x = (J xi)_u,   w = dv_joint of u
// are constant along the motion; that is checked. So dv' = B w' + S x' and
//   x' = J_u (B w + (S - ad Bp) x),   B^T M B w' = -B^T [M S x' + Kv (B w + S x) + Ky dy + Kq Bp x]
//
// Rows of D: G^T e_i has the derivative T_i, the tangent's part of a multiplier 1, so D_i xi = v^T T_i xi + db_i/dq xi. gamma(v) = -(v^T T v + L v + c)
// gives L = db/dq + dG/dt, without the quadratic part by its odd part.
//
// Friction that sticks at rest: dy' = R dv of its bristles, so dy = R xi but for a constant, which is another equilibrium. They are no states: their stiffness Ky R is part of Kq. Neither are those of
// contacts that are open.
//
// Rigid contacts at rest (rigid_rest.c): the rows W of closed ones are further equations, W xi = 0 and W dv = 0, with the multipliers p; Kq has -d(W^T p)/dq besides. Rolling is nonholonomic, but about rest W xi
// is constant to first order: what it is is another equilibrium.
#include <float.h>
#include <math.h>
#include <string.h>

#include "analysis/linear_basis.h"
#include "analysis/modes.h"
#include "analysis/numbers.h"
#include "analysis/rigid_rest.h"
#include "constraint/constraint.h"
#include "dynamics/measurement.h"
#include "math/dense.h"
#include "model/private.h"

#include "system/bristle.h"
#include "system/tangent.h"

#define STEADY 1e-6               // accelerations of a steady motion, relative to the gravity or to 1
#define CONSTANT 1e-7             // relative change of the linear equations along it
#define LATER 0.3                 // rad or m that the fastest coordinate moves until they are compared
#define LATEST 0.7                // s
#define STICKS 1e-6               // 1/s: rates of a bristle by position and deflection, which are 0 where it sticks
#define BRANCH 1e-5               // of the equations: an acceleration that they do not allow
#define NOISE (64 * DBL_EPSILON)  // of the size of the terms of a sum: below it the sum is 0

// What A is made of, at one point of the motion.
typedef struct Point {
  double t;
  double *q, *v, *y;
  double *Bp, *B, *S, *J;  // nv x npos, nv x nvel, nv x npos, nj x nv
  double *A, *M, *C, *K;
  double* inverse;  // of M
} Point;

typedef struct Work {
  srLinearMemory* out;
  srPool* pool;
  const srModel* m;
  srData* d;
  srModelSystem user;
  srSystem s;
  int nv, ny, ng, n;  // n = nv + ny
  int nj;             // coordinates among which independent ones are: joint coordinates, or nv of penalty
  bool joints;        // joint coordinates that are measured
  double *a, *lambda, *ydot;
  double *M, *G, *Kq, *Kv, *D, *ad, *N;  // dense
  double* raw;                           // numbers by a pattern
  int *position, *velocity, *state;
  const srRigidRows* rigid;   // closed rigid contacts; NULL: none
  unsigned char* is_bristle;  // ny: that sticks, or is that of an open contact
  unsigned char *taken_p, *taken_v;
  srMessages* messages;
} Work;

static double* reals(Work* w, size_t n) { return sr_pool_alloc(w->pool, (n + 1) * sizeof(double)); }
static double* matrix(Work* w, int rows, int columns) { return reals(w, (size_t)rows * (size_t)columns); }

// C += by A B, row-major: A is ni x nk, B nk x nj.
static void add_product(int ni, int nk, int nj, double by, const double* A, const double* B, double* C) {
  for (int i = 0; i < ni; i++) {
    double* c = C + (size_t)i * (size_t)nj;
    for (int k = 0; k < nk; k++) {
      const double a = by * A[(size_t)i * (size_t)nk + (size_t)k];
      if (a == 0) continue;
      const double* b = B + (size_t)k * (size_t)nj;
      for (int j = 0; j < nj; j++) c[j] += a * b[j];
    }
  }
}

// C += by A^T B: A is nk x ni, B nk x nj.
static void add_transposed(int ni, int nk, int nj, double by, const double* A, const double* B, double* C) {
  for (int k = 0; k < nk; k++) {
    const double *a = A + (size_t)k * (size_t)ni, *b = B + (size_t)k * (size_t)nj;
    for (int i = 0; i < ni; i++) {
      if (a[i] == 0) continue;
      for (int j = 0; j < nj; j++) C[(size_t)i * (size_t)nj + (size_t)j] += by * a[i] * b[j];
    }
  }
}

// The rows `index` of A (n columns).
static double* rows_of(Work* w, int n, const double* A, const int* index, int count) {
  double* out = matrix(w, count, n);
  for (int i = 0; i < count; i++)
    memcpy(out + (size_t)i * (size_t)n, A + (size_t)index[i] * (size_t)n, (size_t)n * sizeof *out);
  return out;
}

// A sum that is not above the rounding error of its terms is 0. Otherwise balancing, which scales by what is not 0, makes much of it.
static void clean(size_t n, double* A, const double* terms) {
  for (size_t i = 0; i < n; i++) {
    if (fabs(A[i]) <= NOISE * terms[i]) A[i] = 0;
  }
}

// The same for columns that are solutions of linear equations: relative to their largest entry.
static void clean_columns(int rows, int columns, double* A) {
  for (int j = 0; j < columns; j++) {
    double most = 0;
    for (int i = 0; i < rows; i++) most = fmax(most, fabs(A[(size_t)i * (size_t)columns + (size_t)j]));
    for (int i = 0; i < rows; i++) {
      double* a = &A[(size_t)i * (size_t)columns + (size_t)j];
      if (fabs(*a) <= NOISE * most) *a = 0;
    }
  }
}

static double* moduli(Work* w, int rows, int columns, const double* A) {
  double* out = matrix(w, rows, columns);
  for (size_t i = 0; i < (size_t)rows * (size_t)columns; i++) out[i] = fabs(A[i]);
  return out;
}

static void error(Work* w, const char* format, ...) SR_PRINTF(2, 3);
static void error(Work* w, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(w->messages, SR_SEVERITY_ERROR, (srPlace){0}, format, arguments);
  va_end(arguments);
}

// ---- numbers at a point -----------------------------------------------------------------------------------------------

static int tangent(Work* w, const Point* at, const double* lambda, double* Kq, double* Kv) {
  memset(w->a, 0, (size_t)w->nv * sizeof *w->a);
  double* raw_v = w->raw + (size_t)w->n * (size_t)w->n;
  srTangent out = {.Kq = w->raw, .Kv = raw_v};
  const int answer = w->s.tangent(w->s.user, at->t, at->q, at->v, at->y, SR_TAU_ELEMENT, w->a, lambda, &out);
  if (answer != 0) return answer;
  sr_spread(w->s.K_sparsity, w->n, w->n, w->raw, Kq);
  sr_spread(w->s.K_sparsity, w->n, w->n, raw_v, Kv);
  return 0;
}

static bool is_moving(const Work* w, const Point* at) {
  for (int i = 0; i < w->nv; i++) {
    if (at->v[i] != 0) return true;
  }
  return false;
}

static double total(int n, const double* x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

// v^T T_i for all rows whose Jacobian changes with q. A large multiplier, so that the other parts of the tangent cost no digits.
static int rows_along_motion(Work* w, const Point* at) {
  const int nv = w->nv, n = w->n;
  double *K0 = matrix(w, n, n), *K1 = matrix(w, n, n), *Kv = matrix(w, n, n), *lambda = reals(w, (size_t)w->ng);
  int answer = tangent(w, at, lambda, K0, Kv);
  double most = 1;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) most = fmax(most, fabs(K0[i]));
  const double scale = exp2(ceil(log2(most))), noise = NOISE * total(nv, at->v);
  for (int row = 0; row < w->ng && answer == 0; row++) {
    const srRowKind kind = w->m->row[row].kind;
    if (!w->m->absolute && (kind == SR_ROW_DRIVER || kind == SR_ROW_COUPLING)) continue;  // constant
    lambda[row] = scale;
    answer = tangent(w, at, lambda, K1, Kv);
    lambda[row] = 0;
    double* out = w->D + (size_t)row * (size_t)nv;
    for (int i = 0; i < nv; i++) {
      if (at->v[i] == 0) continue;
      const double *k0 = K0 + (size_t)i * (size_t)n, *k1 = K1 + (size_t)i * (size_t)n;
      for (int j = 0; j < nv; j++) out[j] -= at->v[i] * (k1[j] - k0[j]) / scale;
    }
    for (int j = 0; j < nv; j++) out[j] = fabs(out[j]) > noise ? out[j] : 0;
  }
  return answer;
}

// Velocity equations alone: position equations whose b depends on q have a G that depends on the time, and no constant linear equations.
static int rows_of_time(Work* w, const Point* at) {
  const int nv = w->nv, ng = w->ng;
  double *unit = reals(w, (size_t)nv), *plus = reals(w, (size_t)ng), *minus = reals(w, (size_t)ng);
  int answer = 0;
  for (int j = 0; j < nv && answer == 0; j++) {
    unit[j] = 1;
    answer = w->s.gamma(w->s.user, at->t, at->q, unit, plus);
    unit[j] = -1;
    if (answer == 0) answer = w->s.gamma(w->s.user, at->t, at->q, unit, minus);
    unit[j] = 0;
    for (int i = w->m->np; i < ng; i++) w->D[(size_t)i * (size_t)nv + (size_t)j] += (minus[i] - plus[i]) / 2;
  }
  return answer;
}

static bool has_formula_rows(const srModel* m) {
  if (m->nformula_row > 0) return true;
  for (int i = 0; i < m->nclosure; i++) {
    if (m->closure[i].law) return true;
  }
  return false;
}

static int constraint_rows(Work* w, const Point* at) {
  if (w->ng == 0) return 0;
  int answer = w->s.constraint(w->s.user, at->t, at->q, NULL, w->raw, NULL);
  if (answer != 0) return answer;
  sr_spread(w->s.G_sparsity, w->ng, w->nv, w->raw, w->G);
  memset(w->D, 0, (size_t)w->ng * (size_t)w->nv * sizeof *w->D);
  if (is_moving(w, at)) answer = rows_along_motion(w, at);
  if (answer == 0 && has_formula_rows(w->m)) answer = rows_of_time(w, at);
  return answer;
}

// ad(v) x of one ball or free joint with velocities v, placed at `at`: (w x xi_w; w x xi_u + u x xi_w).
static void put_ad(double* ad, int n, int at, bool is_free, const double* v) {
  static const int next[3] = {1, 2, 0}, after[3] = {2, 0, 1};
  for (int i = 0; i < 3; i++) {
    for (int part = 0; part < (is_free ? 2 : 1); part++) {
      double* row = ad + (size_t)(at + 3 * part + i) * (size_t)n + (size_t)(at + 3 * part);
      row[after[i]] = v[next[i]];  // (w x x)_i = w_j x_k - w_k x_j
      row[next[i]] = -v[after[i]];
    }
    if (!is_free) continue;
    double* row = ad + (size_t)(at + 3 + i) * (size_t)n + (size_t)at;
    row[after[i]] = v[3 + next[i]];
    row[next[i]] = -v[3 + after[i]];
  }
}

static void turning_axes(Work* w, const double* v) {
  const srModel* m = w->m;
  memset(w->ad, 0, (size_t)w->nv * (size_t)w->nv * sizeof *w->ad);
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i], at = m->link_v[i];
    if (type == SR_LINK_BALL || type == SR_LINK_FREE) put_ad(w->ad, w->nv, at, type == SR_LINK_FREE, v + at);
  }
}

// J and N of measured joint coordinates: dv_joint = J (dv - ad xi) + ad_joint J xi, where J is constant.
static void joint_rows(Work* w, Point* at) {
  const srModel* m = w->m;
  const int nv = w->nv, nj = m->njv;
  double* ad_joint = matrix(w, nj, nj);
  memset(at->J, 0, (size_t)nj * (size_t)nv * sizeof *at->J);
  memset(w->N, 0, (size_t)nj * (size_t)nv * sizeof *w->N);
  for (int k = 0; k < nj; k++) sr_measurement_row(m, w->d, k, 1, at->J + (size_t)k * (size_t)nv);
  for (int j = 0; j < m->njoint; j++) {
    const int type = m->joint_type[j], first = m->joint_v[j];
    if (type == SR_JOINT_BALL || type == SR_JOINT_FREE)
      put_ad(ad_joint, nj, first, type == SR_JOINT_FREE, w->d->jv + first);
  }
  add_product(nj, nv, nv, -1, at->J, w->ad, w->N);
  add_product(nj, nj, nv, 1, ad_joint, at->J, w->N);
}

static double largest(size_t n, const double* x) {
  double most = 0;
  for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

// The tangent is a sum of forces times lengths and directions, and of masses times velocities, whose sizes are not in the sum: forces and inertias that it is
// made of, for lengths near 1. Rates of states are not touched.
static void clean_tangent(Work* w, const Point* at) {
  const size_t n = (size_t)w->n, nv = (size_t)w->nv;
  const double speed = largest(nv, at->v);
  double force = fmax(largest(nv, w->d->f), largest(nv, w->d->bias));
  for (size_t i = 0; i < (size_t)w->ng; i++) force = fmax(force, fabs(w->lambda[i]) * largest(nv, w->G + i * nv));
  for (size_t i = 0; i < nv; i++) {
    for (size_t j = 0; j < nv; j++) {
      const double mass = sqrt(fabs(w->M[i * nv + i] * w->M[j * nv + j]));
      double *q = &w->Kq[i * n + j], *v = &w->Kv[i * n + j];
      if (fabs(*q) <= NOISE * (force + mass * speed * speed)) *q = 0;
      if (fabs(*v) <= NOISE * mass * speed) *v = 0;
    }
  }
}

static bool sticks(const Work* w, int i) {
  const double *q = w->Kq + (size_t)(w->nv + i) * (size_t)w->n, *v = w->Kv + (size_t)(w->nv + i) * (size_t)w->n;
  double most = fabs(w->ydot[i]);
  for (int k = 0; k < w->nv; k++) most = fmax(most, fabs(q[k]));
  for (int k = w->nv; k < w->n; k++) most = fmax(most, fabs(v[k]));
  return most <= STICKS;
}

// Of a contact that is open nothing depends on them but themselves. most: the largest derivative of all, against which rounding is none.
static bool is_idle(const Work* w, int i, double most) {
  for (int k = 0; k < w->n; k++) {
    if (k >= w->nv && w->is_bristle[k - w->nv]) continue;
    if (fabs(w->Kv[(size_t)k * (size_t)w->n + (size_t)(w->nv + i)]) > NOISE * most) return false;
  }
  return true;
}

// Kq += Ky R of bristles that stick. What slides stays a state.
static void stick(Work* w) {
  const size_t nv = (size_t)w->nv, n = (size_t)w->n;
  const double most = largest(n * n, w->Kv);
  for (int i = 0; i < w->ny; i++) {
    if (!w->is_bristle[i] || is_idle(w, i, most)) continue;
    if (!sticks(w, i)) {
      w->is_bristle[i] = 0;
      continue;
    }
    const double* rate = w->Kv + (nv + (size_t)i) * n;
    for (size_t k = 0; k < nv; k++) {
      const double by = w->Kv[k * n + nv + (size_t)i];
      for (size_t j = 0; j < nv && by != 0; j++) w->Kq[k * n + j] -= by * rate[j];
    }
  }
}

static int numbers(Work* w, Point* at) {
  srData* d = w->d;
  int answer = sr_evaluate(w->m, d, at->t, at->q, at->v, at->y, w->rigid ? SR_STAGE_FORCE : SR_STAGE_ACCELERATION);
  if (answer != 0) return answer;
  memcpy(w->lambda, w->rigid ? w->rigid->lambda : d->lambda, (size_t)w->ng * sizeof *w->lambda);
  sr_measure_joints(w->m, d);
  turning_axes(w, at->v);
  if (w->m->absolute) joint_rows(w, at);
  double* f = reals(w, (size_t)w->nv);
  answer = w->s.dynamics(w->s.user, at->t, at->q, at->v, at->y, SR_TAU_ELEMENT, w->raw, f, w->ydot, NULL);
  if (answer != 0) return answer;
  sr_spread(w->s.M_sparsity, w->nv, w->nv, w->raw, w->M);
  answer = constraint_rows(w, at);
  if (answer == 0) answer = tangent(w, at, w->lambda, w->Kq, w->Kv);
  if (answer != 0) return answer;
  const size_t nv = (size_t)w->nv, n = (size_t)w->n;
  for (size_t i = 0; w->rigid && i < nv * nv; i++) w->Kq[i / nv * n + i % nv] -= w->rigid->turned[i];
  clean_tangent(w, at);
  stick(w);
  return 0;
}

// ---- independent coordinates --------------------------------------------------------------------------------------------

// J Z; relative: Z itself.
static double* joint_motions(Work* w, const Point* at, int nz, double* Z) {
  if (!w->joints) return Z;
  double* out = matrix(w, w->nj, nz);
  add_product(w->nj, w->nv, nz, 1, at->J, Z, out);
  return out;
}

static signed char* wishes(Work* w) {
  const srModel* m = w->m;
  signed char* out = sr_pool_alloc(w->pool, (size_t)w->nj + 1);
  for (int j = 0; j < m->njoint && (w->joints || !m->absolute); j++) {
    for (int k = 0; k < m->joint_nv[j]; k++)
      out[m->joint_v[j] + k] = (signed char)(m->joint_role[j] == SR_ROLE_INDEPENDENT ? 1
                                             : m->joint_role[j] == SR_ROLE_DEPENDENT ? -1
                                                                                     : 0);
  }
  return out;
}

static int list(int nj, const unsigned char* taken, int* out) {
  int n = 0;
  for (int i = 0; i < nj; i++) {
    if (taken[i]) out[n++] = i;
  }
  return n;
}

// Independent velocities first; the displacements have them all, and more where constraints are nonholonomic.
static bool select_coordinates(Work* w, const double* Yp, int np, const double* Yv, int nvel) {
  const signed char* wish = wishes(w);
  if (!sr_select_coordinates(w->pool, w->nj, nvel, Yv, wish, w->taken_v)) return false;
  memcpy(w->taken_p, w->taken_v, (size_t)w->nj);
  if (!sr_select_coordinates(w->pool, w->nj, np, Yp, wish, w->taken_p)) return false;
  w->out->shown.npos = list(w->nj, w->taken_p, w->position);
  w->out->shown.nvel = list(w->nj, w->taken_v, w->velocity);
  return true;
}

// B = Z (rows u of Y)^-1. False: singular.
static bool allowed_motions(Work* w, int nz, const double* Z, const double* Y, const int* u, double* B) {
  double *T = matrix(w, nz, nz), *x = reals(w, (size_t)nz);
  int* pivot = sr_pool_alloc(w->pool, ((size_t)nz + 1) * sizeof *pivot);
  for (int i = 0; i < nz; i++) {
    for (int j = 0; j < nz; j++) T[(size_t)j * (size_t)nz + (size_t)i] = Y[(size_t)u[i] * (size_t)nz + (size_t)j];
  }
  if (nz > 0 && !srm_lu(nz, T, pivot)) return false;
  for (int i = 0; i < w->nv; i++) {  // T^T B_i^T = Z_i^T
    memcpy(x, Z + (size_t)i * (size_t)nz, (size_t)nz * sizeof *x);
    if (nz > 0) srm_lu_solve(nz, T, pivot, x);
    memcpy(B + (size_t)i * (size_t)nz, x, (size_t)nz * sizeof *x);
  }
  clean_columns(w->nv, nz, B);
  return true;
}

// S: least solution of G S = -D Bp, plus allowed motions so that independent velocities do not change with x.
static void dependent_velocities(Work* w, Point* at, const srRowBasis* rows, int ng, const double* D) {
  const srLinear* l = &w->out->shown;
  const int nv = w->nv, np = l->npos, nvel = l->nvel;
  double *DB = matrix(w, ng, np), *r = reals(w, (size_t)ng), *x = reals(w, (size_t)nv), *work = reals(w, (size_t)nv);
  add_product(ng, nv, np, -1, D, at->Bp, DB);
  for (int k = 0; k < np; k++) {
    for (int i = 0; i < ng; i++) r[i] = DB[(size_t)i * (size_t)np + (size_t)k];
    sr_row_basis_solve(rows, r, work, x);
    for (int i = 0; i < nv; i++) at->S[(size_t)i * (size_t)np + (size_t)k] = x[i];
  }
  double* free = matrix(w, nvel, np);
  if (w->joints) {
    add_product(nvel, nv, np, 1, rows_of(w, nv, at->J, l->velocity, nvel), at->S, free);
    add_product(nvel, nv, np, 1, rows_of(w, nv, w->N, l->velocity, nvel), at->Bp, free);
  } else {
    memcpy(free, rows_of(w, np, at->S, l->velocity, nvel), (size_t)nvel * (size_t)np * sizeof *free);
  }
  add_product(nv, nvel, np, -1, at->B, free, at->S);
  clean_columns(nv, np, at->S);
}

// The rows of rigid contacts among those of A, behind the position equations.
static double* with_contacts(Work* w, const double* A, const double* contacts) {
  const size_t nv = (size_t)w->nv, np = (size_t)w->m->np, ng = (size_t)w->ng, n = (size_t)w->rigid->n;
  double* out = matrix(w, w->ng + w->rigid->n, w->nv);
  memcpy(out, A, np * nv * sizeof *out);
  if (contacts) memcpy(out + np * nv, contacts, n * nv * sizeof *out);
  memcpy(out + (np + n) * nv, A + np * nv, (ng - np) * nv * sizeof *out);
  return out;
}

static bool motions(Work* w, Point* at, bool select) {
  const srLinear* l = &w->out->shown;
  srRowBasis rows = sr_row_basis(w->pool, w->nv);
  const int more = w->rigid ? w->rigid->n : 0, ng = w->ng + more, first = w->m->np + more;
  const double* G = w->rigid ? with_contacts(w, w->G, w->rigid->W) : w->G;
  const double* D = w->rigid ? with_contacts(w, w->D, NULL) : w->D;
  double *Zp, *Zv;
  sr_row_basis_add(&rows, G, ng, 0, first);
  const int np = sr_null_basis(w->pool, &rows, &Zp);
  sr_row_basis_add(&rows, G, ng, first, ng);
  const int nvel = sr_null_basis(w->pool, &rows, &Zv);
  const double *Yp = joint_motions(w, at, np, Zp), *Yv = joint_motions(w, at, nvel, Zv);
  if (select && !select_coordinates(w, Yp, np, Yv, nvel)) return false;
  if (np != l->npos || nvel != l->nvel) return false;
  at->Bp = matrix(w, w->nv, np);
  at->B = matrix(w, w->nv, nvel);
  at->S = matrix(w, w->nv, np);
  if (!allowed_motions(w, np, Zp, Yp, l->position, at->Bp) || !allowed_motions(w, nvel, Zv, Yv, l->velocity, at->B))
    return false;
  dependent_velocities(w, at, &rows, ng, D);
  return true;
}

// Equations that depend on each other everywhere hold along any allowed velocity u: G a = gamma(u) has a solution a. At a position where branches of the motion meet they
// depend on each other there alone, most u belong to none of the branches, and G a = gamma(u) cannot be solved. The quadratic part of gamma, for one u in no special direction.
static bool branches_meet(Work* w, const Point* at) {
  const int nv = w->nv, ng = w->ng;
  double *Z, *u = matrix(w, 3, nv), *r = matrix(w, 3, ng), *x = reals(w, (size_t)nv), *work = reals(w, (size_t)nv);
  srRowBasis rows = sr_row_basis(w->pool, nv);
  sr_row_basis_add(&rows, w->G, ng, 0, ng);
  const int n = sr_null_basis(w->pool, &rows, &Z);
  if (rows.n == ng || n == 0) return false;
  for (int i = 0; i < nv; i++) {
    double along = 0;
    for (int k = 0; k < n; k++) along += Z[(size_t)i * (size_t)n + (size_t)k] * sr_scatter((unsigned)k);
    for (int k = 0; k < 3; k++) u[k * nv + i] = at->v[i] + (k - 1) * along;
  }
  for (int k = 0; k < 3; k++) {
    if (w->s.gamma(w->s.user, at->t, at->q, u + (size_t)k * (size_t)nv, r + (size_t)k * (size_t)ng) != 0) return false;
  }
  double size = largest((size_t)ng * (size_t)nv, w->G);
  for (int i = 0; i < ng; i++) {
    r[i] = (r[i] + r[2 * ng + i]) / 2 - r[ng + i];
    size = fmax(size, fabs(r[i]));
  }
  sr_row_basis_solve(&rows, r, work, x);
  add_product(ng, nv, 1, -1, w->G, x, r);
  return largest((size_t)ng, r) > BRANCH * size;
}

// ---- A ------------------------------------------------------------------------------------------------------------------

// x' = J_u (B w + (S - ad Bp) x) over all states.
static double* position_rates(Work* w, const Point* at) {
  const srLinear* l = &w->out->shown;
  const int nv = w->nv, np = l->npos, nvel = l->nvel, nx = l->nx;
  double *R = matrix(w, nv, nx), *adB = matrix(w, nv, np), *out = matrix(w, np, nx);
  add_product(nv, nv, np, 1, w->ad, at->Bp, adB);
  for (int i = 0; i < nv; i++) {
    double* r = R + (size_t)i * (size_t)nx;
    for (int j = 0; j < np; j++)
      r[j] = at->S[(size_t)i * (size_t)np + (size_t)j] - adB[(size_t)i * (size_t)np + (size_t)j];
    memcpy(r + np, at->B + (size_t)i * (size_t)nvel, (size_t)nvel * sizeof *r);
  }
  if (!w->joints) return rows_of(w, nx, R, l->position, np);
  double *J = rows_of(w, nv, at->J, l->position, np), *terms = matrix(w, np, nx);
  add_product(np, nv, nx, 1, J, R, out);
  add_product(np, nv, nx, 1, moduli(w, np, nv, J), moduli(w, nv, nx, R), terms);
  clean((size_t)np * (size_t)nx, out, terms);
  return out;
}

// All changes as combinations of the states: X = [Bp 0 0], V = [S B 0; 0 0 1] over (v, y).
static void changes(Work* w, const Point* at, double* X, double* V) {
  const srLinear* l = &w->out->shown;
  const size_t nx = (size_t)l->nx, np = (size_t)l->npos, nvel = (size_t)l->nvel;
  for (size_t i = 0; i < (size_t)w->nv; i++) {
    memcpy(X + i * nx, at->Bp + i * np, np * sizeof *X);
    memcpy(V + i * nx, at->S + i * np, np * sizeof *V);
    memcpy(V + i * nx + np, at->B + i * nvel, nvel * sizeof *V);
  }
  for (int i = 0; i < l->nstate; i++) V[(size_t)(w->nv + l->state[i]) * nx + np + nvel + (size_t)i] = 1;
}

// M^-1 (n x n). False: M is not positive definite.
static bool invert_mass(Work* w, int n, const double* M, double* inverse) {
  double *L = matrix(w, n, n), *x = reals(w, (size_t)n);
  memcpy(L, M, (size_t)n * (size_t)n * sizeof *L);
  if (n > 0 && !srm_cholesky(n, L)) return false;
  for (int j = 0; j < n; j++) {
    memset(x, 0, (size_t)n * sizeof *x);
    x[j] = 1;
    srm_cholesky_solve(n, L, x);
    for (int i = 0; i < n; i++) inverse[(size_t)i * (size_t)n + (size_t)j] = x[i];
  }
  return true;
}

// With x' = F x + w:  M x" + (Cw - M F) x' + (Kx - Cw F) x = 0.   R = [Kx | Cw]
static void second_order(Work* w, Point* at, const double* rates, const double* R) {
  const srLinear* l = &w->out->shown;
  const int n = l->npos, nx = l->nx;
  if (l->npos != l->nvel || l->nstate > 0) return;
  double *F = matrix(w, n, n), *Cw = matrix(w, n, n);
  at->C = matrix(w, n, n);
  at->K = matrix(w, n, n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const size_t k = (size_t)i * (size_t)n + (size_t)j, kx = (size_t)i * (size_t)nx + (size_t)j;
      F[k] = rates[kx];
      at->K[k] = R[kx];
      at->C[k] = Cw[k] = R[kx + (size_t)n];
    }
  }
  add_product(n, n, n, -1, at->M, F, at->C);
  add_product(n, n, n, -1, Cw, F, at->K);
}

// E = Kq X + Kv V + M S x', the terms of the motion but for M B w'; moduli: the sum of the sizes of its terms.
static double* remainder_of(Work* w, const Point* at, const double* X, const double* V, const double* x1, bool sizes) {
  const srLinear* l = &w->out->shown;
  const int nv = w->nv, n = w->n, np = l->npos, nx = l->nx;
  double *E = matrix(w, n, nx), *Kx = matrix(w, n, nv), *MS = matrix(w, nv, np);
  for (int i = 0; i < n; i++)
    memcpy(Kx + (size_t)i * (size_t)nv, w->Kq + (size_t)i * (size_t)n, (size_t)nv * sizeof *Kx);
  add_product(nv, nv, np, 1, w->M, at->S, MS);
  if (!sizes) {
    add_product(n, nv, nx, 1, Kx, X, E);
    add_product(n, n, nx, 1, w->Kv, V, E);
    add_product(nv, np, nx, 1, MS, x1, E);
    return E;
  }
  add_product(n, nv, nx, 1, moduli(w, n, nv, Kx), moduli(w, nv, nx, X), E);
  add_product(n, n, nx, 1, moduli(w, n, n, w->Kv), moduli(w, n, nx, V), E);
  add_product(nv, np, nx, 1, moduli(w, nv, np, MS), moduli(w, np, nx, x1), E);
  return E;
}

// w' = -(B^T M B)^-1 B^T E into A.
static bool put_velocity_rates(Work* w, Point* at, const double* x1, const double* E, const double* terms) {
  const srLinear* l = &w->out->shown;
  const int nv = w->nv, nvel = l->nvel, nx = l->nx;
  double *MB = matrix(w, nv, nvel), *R = matrix(w, nvel, nx), *sizes = matrix(w, nvel, nx);
  double *all = matrix(w, nvel, nx), *a = at->A + (size_t)l->npos * (size_t)nx;
  const double* B1 = moduli(w, nv, nvel, at->B);
  at->M = matrix(w, nvel, nvel);
  add_product(nv, nv, nvel, 1, w->M, at->B, MB);
  add_transposed(nvel, nv, nvel, 1, at->B, MB, at->M);
  add_transposed(nvel, nv, nx, 1, at->B, E, R);
  add_transposed(nvel, nv, nx, 1, B1, terms, sizes);
  clean((size_t)nvel * (size_t)nx, R, sizes);
  second_order(w, at, x1, R);
  at->inverse = matrix(w, nvel, nvel);
  if (!invert_mass(w, nvel, at->M, at->inverse)) return false;
  add_product(nvel, nvel, nx, -1, at->inverse, R, a);
  add_product(nvel, nvel, nx, 1, moduli(w, nvel, nvel, at->inverse), sizes, all);
  clean((size_t)nvel * (size_t)nx, a, all);
  return true;
}

static bool assemble(Work* w, Point* at) {
  const srLinear* l = &w->out->shown;
  const int nv = w->nv, np = l->npos, nx = l->nx;
  double *X = matrix(w, nv, nx), *V = matrix(w, w->n, nx), *x1 = position_rates(w, at);
  changes(w, at, X, V);
  const double *E = remainder_of(w, at, X, V, x1, false), *terms = remainder_of(w, at, X, V, x1, true);
  at->A = matrix(w, nx, nx);
  memcpy(at->A, x1, (size_t)np * (size_t)nx * sizeof *x1);
  if (!put_velocity_rates(w, at, x1, E, terms)) return false;
  for (int i = 0; i < l->nstate; i++) {
    const size_t from = (size_t)(nv + l->state[i]) * (size_t)nx;
    double* a = at->A + (size_t)(np + l->nvel + i) * (size_t)nx;
    for (int j = 0; j < nx; j++) a[j] = -E[from + (size_t)j];
    clean((size_t)nx, a, terms + from);
  }
  return true;
}

// ---- steady? ------------------------------------------------------------------------------------------------------------

static double steady_bound(const srModel* m) {
  return STEADY *
         fmax(1, sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]));
}

// Largest acceleration of a coordinate, after `numbers`; *which: the coordinate. Of the bodies where springs represent joints: they may fall together.
static double largest_acceleration(Work* w, int* which) {
  const srModel* m = w->m;
  const bool bodies = m->absolute && !w->joints;
  const int n = bodies ? m->nv : m->njv;
  double *a = reals(w, (size_t)n), most = 0;
  *which = 0;
  if (bodies)
    memcpy(a, w->d->a, (size_t)n * sizeof *a);
  else
    sr_joint_accelerations(m, w->d, a);
  for (int i = 0; i < n; i++) {
    if (fabs(a[i]) <= most) continue;
    most = fabs(a[i]);
    *which = i;
  }
  return most;
}

static const char* coordinate_name(Work* w, int i) {
  static const char* const component[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};
  const srModel* m = w->m;
  if (w->joints || !m->absolute) return m->v_name[i];
  const int link = m->dof_link[i];
  return sr_pool_printf(w->pool, "%s.%s", m->body_name[m->link_body[link]], component[i - m->link_v[link]]);
}

static const char* coordinate_unit(const Work* w, int i) {
  if (w->joints || !w->m->absolute) return w->m->v_unit[i];
  return i - w->m->link_v[w->m->dof_link[i]] < 3 ? "rad/s" : "m/s";
}

static void use_states(Work* w) {
  const srModel* m = w->m;
  double* slot = reals(w, (size_t)w->ny);
  if (m->ny_slot > 0 && w->d->instances) sr_bristle_slots(m, w->d, slot);
  for (int i = 0; i < w->ny; i++) {
    if (slot[i] != SR_Y_UNUSED && !w->is_bristle[i]) w->state[w->out->shown.nstate++] = i;
  }
}

// The same with the forces of rigid contacts: d's accelerations have them from now on.
static int accelerate(Work* w, const Point* at) {
  const srModel* m = w->m;
  double* force = reals(w, (size_t)w->nv);
  if (w->rigid) add_transposed(w->nv, w->rigid->n, 1, 1, w->rigid->W, w->rigid->p, force);
  w->d->stage = SR_STAGE_NONE;
  w->d->contact_force = w->rigid ? force : NULL;
  const int answer = sr_evaluate(m, w->d, at->t, at->q, at->v, at->y, SR_STAGE_ACCELERATION);
  w->d->contact_force = NULL;
  return answer;
}

static srStatus evaluate(Work* w, Point* at, bool select) {
  const srModel* m = w->m;
  int which;
  if (numbers(w, at) != 0 || accelerate(w, at) != 0) {
    error(w, "no linear equations at this state: %s", w->d->error_message);
    return SR_FAILED;
  }
  const double most = largest_acceleration(w, &which);
  if (!(most <= steady_bound(m))) {
    error(w,
          "the state%s is neither an equilibrium nor a steady motion: the acceleration of '%s' is %.3g %s/s, where at "
          "most %.1g is taken as 0; "
          "start where all accelerations are 0 (sarrus equilibrium), or drive or lock joints that are to keep their "
          "velocity",
          select ? "" : " a moment later", coordinate_name(w, which), most, coordinate_unit(w, which), steady_bound(m));
    return SR_INPUT;
  }
  if (select) w->out->shown.acceleration = most;
  if (select) use_states(w);
  if (select && branches_meet(w, at)) {
    error(
        w,
        "branches of the motion meet at this position, which is singular: the loops allow other motions than near by, "
        "and there are no linear equations");
    return SR_FAILED;
  }
  if (motions(w, at, select)) {
    w->out->shown.nx = w->out->shown.npos + w->out->shown.nvel + w->out->shown.nstate;
    if (assemble(w, at)) return SR_OK;
    error(w,
          "no linear equations: some motion that the constraints allow has no inertia (sarrus check names joints "
          "without mass)");
    return SR_FAILED;
  }
  error(w, select ? "the joint coordinates do not describe the motions that the constraints allow at this position, "
                    "which is singular"
                  : "the rank of the constraints changes along the motion: there are no linear equations at a singular "
                    "position");
  return SR_FAILED;
}

// Largest difference relative to the largest number, which is at least `size`.
static double change(size_t n, const double* a, const double* b, double size) {
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    size = fmax(size, fabs(a[i]));
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most / size;
}

static Point point(Work* w) {
  return (Point){.q = reals(w, (size_t)w->m->nq),
                 .v = reals(w, (size_t)w->nv),
                 .y = reals(w, (size_t)w->ny),
                 .J = w->m->absolute ? matrix(w, w->m->njv, w->nv) : NULL};
}

// The motion continues with constant v and y'.
static Point later(Work* w, const Point* at, double h) {
  Point p = point(w);
  double* xi = reals(w, (size_t)w->nv);
  p.t = at->t + h;
  for (int i = 0; i < w->nv; i++) xi[i] = h * at->v[i];
  sr_retract(w->m, at->q, xi, p.q);
  memcpy(p.v, at->v, (size_t)w->nv * sizeof *p.v);
  for (int i = 0; i < w->ny; i++) p.y[i] = at->y[i] + h * w->ydot[i];
  return p;
}

static srStatus check_constant(Work* w, const Point* at) {
  const srLinear* l = &w->out->shown;
  double speed = LATER / LATEST;
  for (int i = 0; i < w->nv; i++) speed = fmax(speed, fabs(at->v[i]));
  Point p = later(w, at, LATER / speed);
  const srStatus status = evaluate(w, &p, false);
  if (status != SR_OK) return status;
  const size_t nv = (size_t)w->nv, np = (size_t)l->npos, nx = (size_t)l->nx;
  double most = change(nx * nx, at->A, p.A, DBL_MIN);
  most = fmax(most, change(nv * np, at->Bp, p.Bp, 1));
  most = fmax(most, change(nv * (size_t)l->nvel, at->B, p.B, 1));
  most = fmax(most, change(nv * np, at->S, p.S, fmax(1, largest(nv, at->v))));
  if (w->m->absolute) most = fmax(most, change((size_t)w->m->njv * nv, at->J, p.J, 1));
  if (most <= CONSTANT) return SR_OK;
  error(w,
        "the linear equations change along the motion (by %.2g of their largest number in %.2g s): there are modes "
        "only where they are constant%s",
        most, p.t - at->t,
        w->m->absolute ? "; in relative coordinates they may be, since the axes of bodies that spin are not used there"
                       : "");
  return SR_INPUT;
}

// ---- result -------------------------------------------------------------------------------------------------------------

static void put_names(Work* w) {
  srLinear* l = &w->out->shown;
  const srModel* m = w->m;
  const char** name = sr_pool_alloc(w->pool, ((size_t)l->nx + 1) * sizeof *name);
  for (int i = 0; i < l->npos + l->nvel; i++) {
    const int k = i < l->npos ? l->position[i] : l->velocity[i - l->npos];
    name[i] = coordinate_name(w, k);
  }
  for (int i = 0; i < l->nstate; i++) {
    const int k = l->state[i];
    name[l->npos + l->nvel + i] = k < m->ny - m->ny_slot ? m->y_name[k] : "bristle";
  }
  l->name = name;
}

static double* unit_matrix(Work* w, int n) {
  double* out = matrix(w, n, n);
  for (int i = 0; i < n; i++) out[(size_t)i * (size_t)n + (size_t)i] = 1;
  return out;
}

// Joint coordinates: displacements J Bp x; velocities J (B w + S x) + N Bp x; forces on them give B^T M B w' = B^T J^T tau.
static void put_joints(Work* w, const Point* at) {
  srLinear* l = &w->out->shown;
  const int njv = w->m->njv, nv = w->nv, np = l->npos, nvel = l->nvel, nx = l->nx;
  double *X = matrix(w, nv, nx), *V = matrix(w, w->n, nx), *BJ = matrix(w, nvel, njv), *f = matrix(w, nx, njv);
  double *shape = matrix(w, njv, nx), *rate = matrix(w, njv, nx), *J = at->J ? at->J : unit_matrix(w, nv);
  changes(w, at, X, V);
  add_product(njv, nv, nx, 1, J, X, shape);
  add_product(njv, nv, nx, 1, J, V, rate);
  if (w->N) add_product(njv, nv, nx, 1, w->N, X, rate);
  for (int i = 0; i < nvel; i++) {
    for (int k = 0; k < njv; k++) {
      for (int j = 0; j < nv; j++)
        BJ[i * njv + k] += at->B[(size_t)j * (size_t)nvel + (size_t)i] * J[(size_t)k * (size_t)nv + (size_t)j];
    }
  }
  add_product(nvel, nvel, njv, 1, at->inverse, BJ, f + (size_t)np * (size_t)njv);
  l->shape = shape;
  l->rate = rate;
  l->force = f;
}

static void prepare(Work* w) {
  const srModel* m = w->m;
  const size_t n = (size_t)w->n, ng = (size_t)w->ng, nv = (size_t)w->nv;
  w->a = reals(w, nv);
  w->lambda = reals(w, ng);
  w->ydot = reals(w, (size_t)w->ny);
  w->M = matrix(w, w->nv, w->nv);
  w->G = matrix(w, w->ng, w->nv);
  w->D = matrix(w, w->ng, w->nv);
  w->Kq = matrix(w, w->n, w->n);
  w->Kv = matrix(w, w->n, w->n);
  w->ad = matrix(w, w->nv, w->nv);
  w->N = m->absolute ? matrix(w, m->njv, w->nv) : NULL;
  w->raw = reals(w, 2 * n * n + ng * nv);
  w->position = sr_pool_alloc(w->pool, ((size_t)w->nj + 1) * sizeof(int));
  w->velocity = sr_pool_alloc(w->pool, ((size_t)w->nj + 1) * sizeof(int));
  w->state = sr_pool_alloc(w->pool, ((size_t)w->ny + 1) * sizeof(int));
  w->is_bristle = sr_pool_alloc(w->pool, (size_t)w->ny + 1);
  w->taken_p = sr_pool_alloc(w->pool, (size_t)w->nj + 1);
  w->taken_v = sr_pool_alloc(w->pool, (size_t)w->nj + 1);
  w->out->shown = (srLinear){.m = m, .t = w->d->t, .position = w->position, .velocity = w->velocity, .state = w->state};
  w->out->shown.loose = w->rigid != NULL && w->rigid->loose;
}

static srStatus linearize(Work* w) {
  srLinear* l = &w->out->shown;
  prepare(w);
  Point at = point(w);
  at.t = w->d->t;
  memcpy(at.q, w->d->q, (size_t)w->m->nq * sizeof *at.q);
  memcpy(at.v, w->d->v, (size_t)w->nv * sizeof *at.v);
  memcpy(at.y, w->d->y, (size_t)w->ny * sizeof *at.y);
  if (!is_moving(w, &at)) sr_bristle_states(w->m, w->d, w->is_bristle);
  srStatus status = evaluate(w, &at, true);
  if (status != SR_OK) return status;
  put_names(w);
  put_joints(w, &at);
  l->A = at.A;
  l->M = at.C ? at.M : NULL;
  l->C = at.C;
  l->K = at.K;
  return check_constant(w, &at);
}

static srStatus in_pool(Work* w) {
  srLinearMemory* l = w->out;
  if (setjmp(l->out_of_memory) != 0) return SR_MEMORY;
  l->pool.on_fail = &l->out_of_memory;
  return linearize(w);
}

static const char* massless(const srModel* m) {
  for (int i = 0; i < m->nv; i++) {
    if (m->dof_massless[i]) return m->v_name[i];
  }
  return "";
}

srStatus sr_linearize(const srModel* m, srData* d, srMessages* messages, srLinear** out) {
  return sr_linearize_rest(m, d, NULL, messages, out);
}

srStatus sr_linearize_rest(const srModel* m, srData* d, const srRest* rest, srMessages* messages, srLinear** out) {
  *out = NULL;
  srLinearMemory* l = sr_alloc(sizeof *l);
  Work w = {.out = l, .m = m, .nv = m->nv, .ny = m->ny, .ng = m->ng, .n = m->nv + m->ny, .messages = messages};
  if (m->nmassless > 0) {
    error(&w, "joint coordinate '%s' moves nothing with mass: lock it (--lock-massless) for modes", massless(m));
    sr_free(l);
    return SR_INPUT;
  }
  w.rigid = sr_rigid_rows(rest);
  if (w.rigid && !w.rigid->turned) {
    error(&w,
          "other features of the closed contacts touch wherever it moves (edges that are flush): there are no linear "
          "equations");
    sr_free(l);
    return SR_FAILED;
  }
  w.joints = m->formulation == SR_FORMULATION_ABSOLUTE;
  w.nj = w.joints ? m->njv : m->nv;
  srData* copy = sr_data_create(m);
  srModelTangent* tangent = sr_tangent_create_as(m, w.rigid ? SR_SOLVE_REST : SR_SOLVE_MATRIX);
  srStatus status = l && copy && tangent ? SR_OK : SR_MEMORY;
  if (status == SR_OK) {
    sr_data_copy(m, d, copy);
    copy->rigid = w.rigid != NULL;
    sr_pool_init(&l->pool);
    w.pool = &l->pool;
    w.d = copy;
    w.user = (srModelSystem){.m = m, .d = copy, .tangent = tangent};
    w.s = sr_system(&w.user);
    status = in_pool(&w);
    l->pool.on_fail = NULL;
  }
  sr_tangent_destroy(tangent);
  sr_data_destroy(copy);
  if (status == SR_MEMORY) error(&w, "out of memory");
  if (status == SR_OK)
    *out = &l->shown;
  else if (l)
    sr_linear_destroy(&l->shown);
  return status;
}

void sr_linear_destroy(srLinear* linear) {
  if (!linear) return;
  srLinearMemory* l = (srLinearMemory*)(void*)linear;
  sr_pool_free(&l->pool);
  sr_free(l);
}
