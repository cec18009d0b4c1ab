// Static equilibrium with rigid contacts (docs/theory/rest.md).
//
//   c - f = G^T lambda + W^T p,   g = 0,   gap = 0 of closed contacts,   |p_T| <= mu p_N
//
// W: normals of closed contacts, tangents where friction may hold them. First the position. All closed contacts are taken to stick: along the motions Z that they and the constraints allow, the forces
// vanish, Z^T (c - f) = 0, by Levenberg and Marquardt's method as in equilibrium.c, here with
//   J = Z^T (Kq - d(W^T p)/dq) Z        p: of least norm; how a normal turns and a contact rolls are in the last term, by differences of fourth order of W^T p along Z
// Bristles of joints that stick follow the displacement. Gaps and loops are closed again after each step. Then the forces: p of least norm, or where that leaves a cone another one (cone_forces.c). There may be none: a body
// would slide or tip. Then the same from the equilibrium with force laws, at which bodies have fallen on what bears them.
#include "analysis/rigid_rest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cone_forces.h"
#include "analysis/dependent.h"
#include "analysis/numbers.h"
#include "math/dense.h"
#include "system/bristle.h"
#include "system/system.h"
#include "system/tangent.h"

#define GAP 1e-5      // m: contacts that are nearer are closed
#define PLACED 1e-13  // m or rad: gaps and constraint equations that are 0
#define NEAR 1e-9     // ... where rounding ends it
#define PLACES 30     // corrections of a position
#define ITERATIONS 100
#define BALANCED 1e-14    // of the largest force: rounding
#define GOOD 1e-9         // ... where rounding ends the iteration
#define LONGEST_STEP 0.2  // rad or m
#define STICKS 1e-6       // 1/s: rates of a bristle by position and deflection, which are 0 where it sticks
#define DIFFERENCE 2e-4   // rad or m of the differences
#define CONTINUES 20      // times that: change of a row of length 1 that is no jump
#define UNIQUE 1e-9       // of a unit vector: part in forces that keep the balance by themselves
#define MOVES 1e-9        // m/s: of the surface of a belt
#define OPEN 1e-9         // of the largest force: a closed contact without force

typedef struct Closed {
  long id;
  double gap, mu;
  double limit;   // > 0: dry friction of a joint, at most this force
  double factor;  // of the second tangent
  int first, tangents;
  int of[3];  // which rows of the contact they are
  long pair;
} Closed;

typedef struct Work {
  srRestMemory* out;
  srPool* pool;
  srPool scratch;  // cleared at every position that is tried
  const srModel* m;
  srData* d;
  srMessages* messages;
  srModelSystem user;
  srSystem s;
  srUnilateral* list;
  int count;
  double within;  // gaps of closed contacts
  int nv, ny, ng, np, n;
  Closed* closed;
  int nclosed, capacity;
  int nrow;           // rows of closed contacts
  double *W, *G, *g;  // nrow x nv; ng x nv; ng
  double *q, *y, *q_try, *y_try, *q_near, *force, *p, *lambda, *v;
  double *Kq, *Kv, *turned, *raw;
  double *rows, *right;  // all equations over v; their right-hand sides
  double *R, *J, *JJ, *S, *step;
  double *Z, *Z_here, *R_here;  // nv x nz at the position tried last; both at q
  int nz;
  double scale;
  long belt;        // closed contact with friction whose surface moves; -1: none
  int worst;        // closed contact outside of its cone
  bool tips;        // its force would have to pull
  double needs[2];  // normal and tangential force that it would need
  double limit;     // coefficient of friction along the latter
} Work;

static double* reals(Work* w, size_t n) { return sr_pool_alloc(w->pool, (n + 1) * sizeof(double)); }
static double* matrix(Work* w, int rows, int columns) { return reals(w, (size_t)rows * (size_t)columns); }
static double* passing(Work* w, size_t n) { return sr_pool_alloc(&w->scratch, (n + 1) * sizeof(double)); }

static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

// ---- contacts -----------------------------------------------------------------------------------------------------------

static int list(Work* w, const double* q) {
  int answer = w->s.contacts(w->s.user, w->d->t, q, w->list, &w->count);
  if (answer == 0 && w->s.nclamp > 0) answer = w->s.clamps(w->s.user, w->d->t, q, NULL, w->list + w->count, NULL);
  if (answer == 0) w->count += w->s.nclamp;
  return answer;
}

static const srUnilateral* find(const Work* w, const Closed* c) {
  for (int i = 0; i < w->count; i++) {
    if (w->list[i].id == c->id && (w->list[i].clamp > 0) == (c->limit > 0)) return &w->list[i];
  }
  return NULL;
}

// Of a contact with two coefficients the rows have tangents of different length, and so have the forces along them (system/contact_tangents.c).
static double factor_of(const srUnilateral* c) {
  return c->across[0] == 0 && c->across[1] == 0 && c->across[2] == 0 ? 1 : c->factor;
}

static double row_size(const srUnilateral* c, int k) { return largest(c->W + (size_t)k * (size_t)c->n, c->n); }

static void put_row(const Work* w, const srUnilateral* c, int k, double* row) {
  memset(row, 0, (size_t)w->nv * sizeof *row);
  for (int i = 0; i < c->n; i++) row[c->column[i]] = c->W[(size_t)k * (size_t)c->n + (size_t)i];
}

static int by_gap(const void* a, const void* b) {
  const Closed *x = a, *y = b;
  return x->gap != y->gap ? (x->gap > y->gap) - (x->gap < y->gap) : (x->id > y->id) - (x->id < y->id);
}

// Closed: what touches, the deepest first, so that the others of redundant normals are apart. Contacts that nothing can open or close are left out.
static void close_contacts(Work* w) {
  w->nclosed = w->nrow = 0;
  w->belt = -1;
  for (int i = 0; i < w->count; i++) {
    const srUnilateral* c = &w->list[i];
    const bool clamp = c->clamp > 0;
    if (!clamp && (c->gap > w->within || !(row_size(c, 0) > 0))) continue;
    Closed* to = &w->closed[w->nclosed++];
    *to = (Closed){.id = c->id, .pair = c->pair, .gap = c->gap, .mu = fmax(c->mu, c->mu_static)};
    to->factor = factor_of(c);
    to->limit = clamp ? c->clamp : 0;
    to->of[0] = clamp ? 1 : 0;
    for (int k = 1; k < 3 && !clamp && to->mu > 0; k++) {
      if (row_size(c, k) > 0) to->of[++to->tangents] = k;
      if (row_size(c, k) > 0 && fabs(c->b[k]) > MOVES) w->belt = c->id;
    }
  }
  qsort(w->closed, (size_t)w->nclosed, sizeof *w->closed, by_gap);
  for (int i = 0; i < w->nclosed; i++) {
    w->closed[i].first = w->nrow;
    w->nrow += 1 + w->closed[i].tangents;
  }
  const int n = w->nrow + w->ng;
  w->W = matrix(w, w->nrow, w->nv), w->p = reals(w, (size_t)w->nrow);
  w->rows = matrix(w, n, w->nv), w->right = reals(w, (size_t)n);
}

// Rows of the closed contacts at the position listed. False: one of them is not there.
static bool put_rows(const Work* w, double* W) {
  for (int i = 0; i < w->nclosed; i++) {
    const Closed* c = &w->closed[i];
    const srUnilateral* at = find(w, c);
    if (at == NULL) return false;
    for (int k = 0; k <= c->tangents; k++) put_row(w, at, c->of[k], W + (size_t)(c->first + k) * (size_t)w->nv);
  }
  return true;
}

static int constraints(Work* w, const double* q) {
  if (w->ng == 0) return 0;
  const int answer = w->s.constraint(w->s.user, w->d->t, q, w->g, w->raw, NULL);
  if (answer == 0) sr_spread(w->s.G_sparsity, w->ng, w->nv, w->raw, w->G);
  return answer;
}

// ---- position -----------------------------------------------------------------------------------------------------------

// All equations: constraints with a position form, normals; then velocity equations, tangents and joints that friction holds.
static void stack_rows(Work* w) {
  const size_t nv = (size_t)w->nv;
  int n = 0;
  for (int i = 0; i < w->np; i++, n++) {
    memcpy(w->rows + (size_t)n * nv, w->G + (size_t)i * nv, nv * sizeof(double));
    w->right[n] = -w->g[i];
  }
  for (int i = 0; i < w->nclosed; i++) {
    const Closed* c = &w->closed[i];
    if (c->limit > 0) continue;
    memcpy(w->rows + (size_t)n * nv, w->W + (size_t)c->first * nv, nv * sizeof(double));
    w->right[n++] = -c->gap;
  }
  const int position = n;
  for (int i = w->np; i < w->ng; i++) memcpy(w->rows + (size_t)n++ * nv, w->G + (size_t)i * nv, nv * sizeof(double));
  for (int i = 0; i < w->nclosed; i++) {
    const Closed* c = &w->closed[i];
    for (int k = c->limit > 0 ? 0 : 1; k <= c->tangents; k++)
      memcpy(w->rows + (size_t)n++ * nv, w->W + (size_t)(c->first + k) * nv, nv * sizeof(double));
  }
  for (int i = position; i < n; i++) w->right[i] = 0;
}

static int row_count(const Work* w) { return w->ng + w->nrow; }

// Lists contacts and constraints at q, with gaps of the closed ones. False: not defined there, or a closed contact is not among them.
static bool look(Work* w, const double* q) {
  if (list(w, q) != 0 || !put_rows(w, w->W)) return false;
  for (int i = 0; i < w->nclosed; i++) w->closed[i].gap = find(w, &w->closed[i])->gap;
  return constraints(w, q) == 0;
}

// The least motion without slip that closes gaps and loops; redundant gaps may stay, up to `within`. The basis of the rows at the end is returned in *basis.
static bool place(Work* w, double* q, srRowBasis* basis) {
  double before = (double)INFINITY, moved = 0;
  for (int round = 0; round < PLACES; round++) {
    if (!look(w, q)) return false;
    stack_rows(w);
    *basis = sr_row_basis(&w->scratch, w->nv);
    sr_row_basis_add(basis, w->rows, row_count(w), 0, row_count(w));
    sr_row_basis_solve(basis, w->right, w->step, w->v);
    moved = largest(w->v, w->nv);
    if (moved <= PLACED || (round > 4 && moved >= before)) break;
    before = moved;
    sr_retract(w->m, q, w->v, w->q_near);
    memcpy(q, w->q_near, (size_t)w->m->nq * sizeof *q);
  }
  for (int i = 0; i < w->nclosed; i++) {
    if (w->closed[i].limit == 0 && fabs(w->closed[i].gap) > w->within) return false;
  }
  return moved <= NEAR;
}

// c - f at (q, y), and y'.
static bool put_force(Work* w, const double* q, const double* y) {
  srData* d = w->d;
  memset(w->v, 0, (size_t)w->nv * sizeof *w->v);
  if (sr_evaluate(w->m, d, d->t, q, w->v, y, SR_STAGE_FORCE) != 0) return false;
  sr_required_force(w->m, d, w->v, w->force);
  w->scale = fmax(w->scale, fmax(largest(w->force, w->nv), largest(d->f, w->nv)));
  return true;
}

static void clear_scratch(Work* w) {
  jmp_buf* out = w->scratch.on_fail;
  sr_pool_free(&w->scratch);
  sr_pool_init(&w->scratch);
  w->scratch.on_fail = out;
}

// R = [Z^T (c - f); -y'] at q, which is placed, and y; its square, or infinity.
static double residual(Work* w, double* q, const double* y) {
  srRowBasis basis;
  double* Z;
  clear_scratch(w);
  if (!place(w, q, &basis) || !put_force(w, q, y)) return (double)INFINITY;
  w->nz = sr_null_basis(&w->scratch, &basis, &Z);
  memcpy(w->Z, Z, (size_t)w->nv * (size_t)w->nz * sizeof *Z);
  w->n = w->nz + w->ny;
  double sum = 0;
  for (int j = 0; j < w->nz; j++) {
    w->R[j] = 0;
    for (int k = 0; k < w->nv; k++) w->R[j] += w->Z[(size_t)k * (size_t)w->nz + (size_t)j] * w->force[k];
  }
  for (int i = 0; i < w->ny; i++) w->R[w->nz + i] = -w->d->ydot[i];
  for (int i = 0; i < w->n; i++) sum += w->R[i] * w->R[i];
  return isfinite(sum) ? sum : (double)INFINITY;
}

// Row k of contact c at a position next to q: of itself, or of the same surfaces where other features touch, if it is about the same there. NULL: none.
static const srUnilateral* heir(Work* w, const Closed* c, double* row) {
  const double* here = w->W + (size_t)c->first * (size_t)w->nv;
  const srUnilateral* at = find(w, c);
  for (int i = 0; i < w->count && at == NULL && c->limit == 0; i++) {
    if (w->list[i].pair != c->pair || w->list[i].clamp > 0) continue;
    double off = 0;
    put_row(w, &w->list[i], 0, row);
    for (int k = 0; k < w->nv; k++) off = fmax(off, fabs(row[k] - here[k]));
    if (off <= CONTINUES * DIFFERENCE * fmax(1, largest(here, w->nv))) at = &w->list[i];
  }
  return at;
}

// out += by W^T p at the position listed.
static bool add_forces(Work* w, double by, double* out) {
  double* row = passing(w, (size_t)w->nv);
  for (int i = 0; i < w->nclosed; i++) {
    const Closed* c = &w->closed[i];
    const srUnilateral* at = heir(w, c, row);
    if (at == NULL) return false;
    for (int k = 0; k <= c->tangents; k++) {
      put_row(w, at, c->of[k], row);
      for (int j = 0; j < w->nv; j++) out[j] += by * w->p[c->first + k] * row[j];
    }
  }
  return true;
}

// d(W^T p)/dq along Z by differences of fourth order, as a matrix over v that is 0 across it. False: features change.
static bool turn_rows(Work* w, const double* q) {
  static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  const size_t nv = (size_t)w->nv, nz = (size_t)w->nz;
  double *move = passing(w, nv), *change = passing(w, nv);
  memset(w->turned, 0, nv * nv * sizeof *w->turned);
  bool good = true;
  for (size_t j = 0; j < nz && w->nrow > 0 && good; j++) {
    memset(change, 0, nv * sizeof *change);
    for (int i = 0; i < 4 && good; i++) {
      for (size_t k = 0; k < nv; k++) move[k] = at[i] * DIFFERENCE * w->Z[k * nz + j];
      sr_retract(w->m, q, move, w->q_near);
      good = list(w, w->q_near) == 0 && add_forces(w, weight[i] / DIFFERENCE, change);
    }
    for (size_t k = 0; k < nv; k++) {
      for (size_t l = 0; l < nv; l++) w->turned[k * nv + l] += change[k] * w->Z[l * nz + j];
    }
  }
  if (!good) memset(w->turned, 0, nv * nv * sizeof *w->turned);
  return look(w, q) && good;
}

// lambda and p of least norm with G^T lambda + W^T p = c - f but for its part along Z.
static void put_multipliers(Work* w) {
  const int n = row_count(w), nv = w->nv;
  double* across = passing(w, (size_t)nv);
  for (int k = 0; k < nv; k++) {
    across[k] = w->force[k];
    for (int j = 0; j < w->nz; j++) across[k] -= w->Z[(size_t)k * (size_t)w->nz + (size_t)j] * w->R[j];
  }
  double *T = passing(w, (size_t)nv * (size_t)n), *x = passing(w, (size_t)n), *work = passing(w, (size_t)(n + nv));
  for (int i = 0; i < n; i++) {
    const double* row = i < w->ng ? w->G + (size_t)i * (size_t)nv : w->W + (size_t)(i - w->ng) * (size_t)nv;
    for (int k = 0; k < nv; k++) T[(size_t)k * (size_t)n + (size_t)i] = row[k];
  }
  srRowBasis basis = sr_row_basis(&w->scratch, n);
  sr_row_basis_add(&basis, T, nv, 0, nv);
  sr_row_basis_solve(&basis, across, work, x);
  memcpy(w->lambda, x, (size_t)w->ng * sizeof *x);
  memcpy(w->p, x + w->ng, (size_t)w->nrow * sizeof *x);
}

// dy = S Z du of bristles of joints that stick, as in equilibrium.c.
static void follow(Work* w) {
  const size_t nv = (size_t)w->nv, size = nv + (size_t)w->ny;
  const int n = w->n, nz = w->nz;
  unsigned char* is = sr_pool_alloc(&w->scratch, (size_t)w->ny + 1);
  memset(w->S, 0, (size_t)w->ny * (size_t)(nz + 1) * sizeof *w->S);
  sr_bristle_states(w->m, w->d, is);
  for (int i = 0; i < w->ny; i++) {
    double* S = w->S + (size_t)i * (size_t)nz;
    if (!is[i] || w->R[nz + i] != 0 || largest(w->J + (size_t)(nz + i) * (size_t)n, n) > STICKS) continue;
    for (size_t k = 0; k < nv; k++) {
      for (int j = 0; j < nz; j++) S[j] -= w->Kv[(nv + (size_t)i) * size + k] * w->Z[k * (size_t)nz + (size_t)j];
    }
    for (int k = 0; k < n; k++) {
      for (int j = 0; j < nz; j++) w->J[k * n + j] += w->J[k * n + nz + i] * S[j];
      w->J[k * n + nz + i] = 0;
    }
  }
}

// J of R at the state where it was evaluated last.
static bool jacobian(Work* w, const double* q, const double* y) {
  const size_t nv = (size_t)w->nv, size = nv + (size_t)w->ny, nz = (size_t)w->nz, n = (size_t)w->n;
  srTangent out = {.Kq = w->raw, .Kv = w->raw + size * size};
  put_multipliers(w);
  (void)turn_rows(w, q);  // without it the iteration is slower
  memset(w->v, 0, nv * sizeof *w->v);
  double* a = passing(w, nv);
  if (w->s.tangent(w->s.user, w->d->t, q, w->v, y, SR_TAU_ELEMENT, a, w->lambda, &out) != 0) return false;
  sr_spread(w->s.K_sparsity, (int)size, (int)size, out.Kq, w->Kq);
  sr_spread(w->s.K_sparsity, (int)size, (int)size, out.Kv, w->Kv);
  double* KZ = passing(w, size * n);  // derivatives along Z, and by y
  for (size_t k = 0; k < size; k++) {
    for (size_t l = 0; l < nv; l++) {
      const double by = w->Kq[k * size + l] - (k < nv ? w->turned[k * nv + l] : 0);
      for (size_t j = 0; j < nz; j++) KZ[k * n + j] += by * w->Z[l * nz + j];
    }
    for (size_t i = nz; i < n; i++) KZ[k * n + i] = w->Kv[k * size + nv + i - nz];
  }
  memset(w->J, 0, n * n * sizeof *w->J);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < nz; i++) {
      for (size_t k = 0; k < nv; k++) w->J[i * n + j] += w->Z[k * nz + i] * KZ[k * n + j];
    }
    for (size_t i = nz; i < n; i++) w->J[i * n + j] = KZ[(nv + i - nz) * n + j];
  }
  follow(w);
  return true;
}

// step = -(J^T J + mu)^-1 J^T R.
static bool solve(Work* w, double mu) {
  const int n = w->n;
  for (int i = 0; i < n; i++) {
    w->step[i] = 0;
    for (int k = 0; k < n; k++) w->step[i] -= w->J[k * n + i] * w->R_here[k];
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? mu : 0;
      for (int k = 0; k < n; k++) sum += w->J[k * n + i] * w->J[k * n + j];
      w->JJ[i * n + j] = sum;
    }
  }
  if (!srm_cholesky(n, w->JJ)) return false;
  srm_cholesky_solve(n, w->JJ, w->step);
  return true;
}

static void try_state(Work* w) {
  const double longest = largest(w->step, w->nz), by = longest > LONGEST_STEP ? LONGEST_STEP / longest : 1;
  for (int k = 0; k < w->nv; k++) {
    w->v[k] = 0;
    for (int j = 0; j < w->nz; j++) w->v[k] += by * w->Z_here[(size_t)k * (size_t)w->nz + (size_t)j] * w->step[j];
  }
  sr_retract(w->m, w->q, w->v, w->q_try);
  for (int i = 0; i < w->ny; i++) {
    w->y_try[i] = w->y[i] + by * w->step[w->nz + i];
    for (int j = 0; j < w->nz; j++) w->y_try[i] += by * w->S[(size_t)i * (size_t)w->nz + (size_t)j] * w->step[j];
  }
}

// Z^T (c - f) = 0 from q, y.
static bool balance(Work* w) {
  double phi = residual(w, w->q, w->y), damping = 1e-3;
  for (int k = 0; k < ITERATIONS && isfinite(phi) && !sr_stop_requested(w->d); k++, w->out->shown.iterations++) {
    if (w->n == 0 || largest(w->R, w->n) <= BALANCED * w->scale) return true;
    const double first = phi;
    if (!jacobian(w, w->q, w->y)) return false;
    const double most = largest(w->J, w->n * w->n);
    const int nz = w->nz;
    memcpy(w->R_here, w->R, (size_t)w->n * sizeof *w->R);
    memcpy(w->Z_here, w->Z, (size_t)w->nv * (size_t)nz * sizeof *w->Z);
    for (; damping < 1e12; damping *= 10) {
      const double relative = phi / fmax(w->scale * w->scale, 1e-300);
      w->nz = nz, w->n = nz + w->ny;
      if (!solve(w, most * most * fmax(damping * fmin(relative, 1), 1e-30))) continue;
      try_state(w);
      const double next = residual(w, w->q_try, w->y_try);
      if (!(next < phi)) continue;
      memcpy(w->q, w->q_try, (size_t)w->m->nq * sizeof *w->q);
      if (w->ny > 0) memcpy(w->y, w->y_try, (size_t)w->ny * sizeof *w->y);
      phi = next;
      damping = fmax(damping / 16, 1e-9);
      break;
    }
    if (phi == first) break;
  }
  phi = residual(w, w->q, w->y);
  return isfinite(phi) && largest(w->R, w->n) <= GOOD * w->scale;
}

// ---- forces -------------------------------------------------------------------------------------------------------------

// W seen along the motions that the constraints allow, as a matrix over the forces p: A = (W Z)^T, b = Z^T (c - f).
static int reduce(Work* w, double** A, double** b) {
  srRowBasis basis = sr_row_basis(w->pool, w->nv);
  double* Z;
  sr_row_basis_add(&basis, w->G, w->ng, 0, w->ng);
  const int nz = sr_null_basis(w->pool, &basis, &Z);
  w->out->shown.indeterminate = w->ng - basis.n;
  *A = matrix(w, nz, w->nrow);
  *b = reals(w, (size_t)nz);
  for (int k = 0; k < w->nv; k++) {
    for (int j = 0; j < nz; j++) {
      const double z = Z[(size_t)k * (size_t)nz + (size_t)j];
      (*b)[j] += z * w->force[k];
      for (int i = 0; i < w->nrow; i++)
        (*A)[(size_t)j * (size_t)w->nrow + (size_t)i] += z * w->W[(size_t)i * (size_t)w->nv + (size_t)k];
    }
  }
  return nz;
}

// lambda of least norm for what the contacts leave; the largest force that stays.
static double constraint_forces(Work* w) {
  const int nv = w->nv, ng = w->ng;
  double *T = matrix(w, nv, ng), *left = reals(w, (size_t)nv), *work = reals(w, (size_t)(nv + ng));
  memcpy(left, w->force, (size_t)nv * sizeof *left);
  for (int i = 0; i < w->nrow; i++) {
    for (int k = 0; k < nv; k++) left[k] -= w->p[i] * w->W[(size_t)i * (size_t)nv + (size_t)k];
  }
  for (int i = 0; i < ng; i++) {
    for (int k = 0; k < nv; k++) T[(size_t)k * (size_t)ng + (size_t)i] = w->G[(size_t)i * (size_t)nv + (size_t)k];
  }
  srRowBasis basis = sr_row_basis(w->pool, ng);
  sr_row_basis_add(&basis, T, nv, 0, nv);
  sr_row_basis_solve(&basis, left, work, w->lambda);
  for (int i = 0; i < ng; i++) {
    for (int k = 0; k < nv; k++) left[k] -= w->lambda[i] * w->G[(size_t)i * (size_t)nv + (size_t)k];
  }
  return largest(left, nv);
}

static void mark_unique(Work* w, const srRowBasis* basis, unsigned char* unique) {
  double* N;
  const int n = sr_null_basis(w->pool, basis, &N);
  w->out->shown.indeterminate += n;
  for (int i = 0; i < w->nclosed; i++) unique[i] = largest(N + (size_t)w->closed[i].first * (size_t)n, n) <= UNIQUE;
}

// factor: of the second tangent; 1: as long as the first one, the force that mu limits.
static double friction_of(const Closed* c, const double* p, double factor) {
  if (c->tangents < 2) return c->tangents == 0 ? 0 : fabs(p[1]) * (c->of[1] == 2 ? factor : 1);
  return hypot(p[1], factor * p[2]);
}

static void keep_violation(Work* w) {
  const Closed* c = &w->closed[w->worst];
  const double* p = w->p + c->first;
  w->needs[0] = p[0];
  w->needs[1] = friction_of(c, p, c->factor);
  w->limit = w->needs[1] > 0 ? c->mu * w->needs[1] / friction_of(c, p, 1) : c->mu;
  w->tips = c->limit == 0 && p[0] < 0;
}

// Admissible forces at the position. False: none.
static bool forces(Work* w, unsigned char* unique) {
  double *A, *b;
  srForceCone* cone = sr_pool_alloc(w->pool, ((size_t)w->nclosed + 1) * sizeof *cone);
  const int nz = reduce(w, &A, &b);
  srRowBasis basis = sr_row_basis(w->pool, w->nrow);
  sr_row_basis_add(&basis, A, nz, 0, nz);
  for (int i = 0; i < w->nclosed; i++) {
    const Closed* c = &w->closed[i];
    cone[i] = (srForceCone){.first = c->first, .tangents = c->tangents, .mu = c->mu, .limit = c->limit};
  }
  w->worst = -1;
  if (w->nrow > 0 && !sr_cone_forces(w->pool, &basis, A, nz, b, cone, w->nclosed, w->scale, w->p, &w->worst)) {
    keep_violation(w);
    return false;
  }
  mark_unique(w, &basis, unique);
  w->out->shown.residual = w->scale > 0 ? constraint_forces(w) / w->scale : constraint_forces(w);
  w->worst = -1;
  return w->out->shown.residual <= GOOD * 10;
}

// ---- result -------------------------------------------------------------------------------------------------------------

static void put_contact(Work* w, const Closed* c, bool unique) {
  srRestContact* to = sr_rest_add(w->out, w->count);
  const double* p = w->p + c->first;
  const double friction = c->limit > 0 ? fabs(p[0]) : friction_of(c, p, c->factor);
  *to = (srRestContact){.gap = c->gap, .normal_force = c->limit > 0 ? c->limit : p[0], .friction_force = friction};
  to->unique = unique;
  if (c->limit > 0) {
    to->a = w->m->force[c->id].name;
    to->status = SR_REST_STICKS;
  } else {
    sr_contact_names(w->m, c->id, &to->a, &to->b);
    to->status =
        c->tangents == 0 || friction_of(c, p, 1) >= (1 - 1e-9) * c->mu * p[0] ? SR_REST_SLIDES : SR_REST_STICKS;
    if (c->tangents > 0 && p[0] <= OPEN * w->scale) to->status = SR_REST_STICKS;  // it touches
  }
  w->out->shown.closed++;
}

// Contacts without force that hold what the others leave free: a motion away from them is not one of the linear equations. The first of them is named.
static bool find_loose(Work* w) {
  srRowBasis basis = sr_row_basis(w->pool, w->nv);
  sr_row_basis_add(&basis, w->G, w->ng, 0, w->ng);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < w->nclosed; i++) {
      const Closed* c = &w->closed[i];
      const bool bears = c->limit > 0 || w->p[c->first] > OPEN * w->scale;
      if (bears != (pass == 0)) continue;
      const int before = basis.n;
      sr_row_basis_add(&basis, w->W + (size_t)c->first * (size_t)w->nv, 1 + c->tangents, 0, 1 + c->tangents);
      if (bears || basis.n == before) continue;
      const char *a = NULL, *b = NULL;
      sr_contact_names(w->m, c->id, &a, &b);
      sr_messages_add(w->messages, SR_SEVERITY_NOTE, (srPlace){0},
                      "the contact of '%.80s' and '%.80s' touches without force, and no other holds what it holds: the "
                      "linear equations are those of its closed side, which cannot tell that it is stable",
                      a, b != NULL ? b : "its end");
      return true;
    }
  }
  return false;
}

static void put_result(Work* w, const unsigned char* unique) {
  const srModel* m = w->m;
  srRigidRows* rows = sr_pool_alloc(w->pool, sizeof *rows);
  for (int i = 0; i < w->nclosed; i++) put_contact(w, &w->closed[i], unique[i] != 0);
  const bool turned = turn_rows(w, w->q);
  *rows = (srRigidRows){.n = w->nrow, .W = w->W, .p = w->p, .lambda = w->lambda, .turned = turned ? w->turned : NULL};
  rows->loose = find_loose(w);
  w->out->rigid = rows;
  memcpy(w->d->q, w->q, (size_t)m->nq * sizeof *w->q);
  if (m->ny > 0) memcpy(w->d->y, w->y, (size_t)m->ny * sizeof *w->y);
  memset(w->d->v, 0, (size_t)m->nv * sizeof *w->d->v);
  (void)sr_evaluate(m, w->d, w->d->t, NULL, NULL, NULL, SR_STAGE_FORCE);
  memcpy(w->d->lambda, w->lambda, (size_t)w->ng * sizeof *w->lambda);
}

const srRigidRows* sr_rigid_rows(const srRest* rest) {
  return rest != NULL ? ((const srRestMemory*)(const void*)rest)->rigid : NULL;
}

// ---- search -------------------------------------------------------------------------------------------------------------

// At rest near w->q? Contacts that would interpenetrate join the closed ones.
static bool rests(Work* w, const double* q) {
  enum { ROUNDS = 10 };
  unsigned char* unique = NULL;
  memcpy(w->q, q, (size_t)w->m->nq * sizeof *w->q);
  w->worst = -1;
  w->nclosed = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (list(w, w->q) != 0) return false;
    const int before = w->nclosed;
    close_contacts(w);
    if (w->belt >= 0) return false;
    if (round > 0 && w->nclosed <= before) break;
    if (!balance(w)) return false;
  }
  if (!look(w, w->q) || !put_force(w, w->q, w->y)) return false;
  unique = sr_pool_alloc(w->pool, (size_t)w->nclosed + 1);
  if (!forces(w, unique)) return false;
  put_result(w, unique);
  return true;
}

// Why it does not rest.
static void put_reason(const Work* w, char* out, size_t size) {
  const char *a = NULL, *b = NULL;
  if (w->belt >= 0) {
    sr_contact_names(w->m, w->belt, &a, &b);
    (void)snprintf(out, size,
                   "a surface of '%.80s' and '%.80s' moves (surface-velocity): what rests there slides, and rigid "
                   "contacts at rest stick; leave out --contact event, force laws slide",
                   a, b != NULL ? b : "its gap");
    return;
  }
  if (w->worst < 0) {
    (void)snprintf(out, size, "the contacts that touch do not bear all that moves");
    return;
  }
  const Closed* c = &w->closed[w->worst];
  if (c->limit > 0) {
    (void)snprintf(out, size, "the friction '%.80s' cannot hold its joint: that takes %.6g, and it has %.6g",
                   w->m->force[c->id].name, fabs(w->needs[0]), c->limit);
    return;
  }
  sr_contact_names(w->m, c->id, &a, &b);
  if (w->tips)
    (void)snprintf(
        out, size,
        "it tips, and the contact of '%.80s' and '%.80s' opens: to keep the balance it would have to pull by "
        "%.6g N",
        a, b != NULL ? b : "its end", -w->needs[0]);
  else
    (void)snprintf(
        out, size,
        "'%.80s' slides on '%.80s': to keep the balance takes friction of %.6g N under a normal force of %.6g N, "
        "and mu is %.6g",
        b != NULL ? b : a, b != NULL ? a : "its gap", w->needs[1], w->needs[0], w->limit);
}

// The position with force laws, from the start.
static bool fall(Work* w, double* q) {
  srMessages* quiet = sr_messages_create();
  srEquilibrium* e = NULL;
  const srModel* m = w->m;
  if (quiet == NULL) return false;
  w->d->rigid = false;
  memcpy(w->d->q, q, (size_t)m->nq * sizeof *q);
  const srStatus status = sr_equilibrium_create(m, w->d, NULL, quiet, &e);
  w->d->rigid = true;
  if (status == SR_OK) memcpy(q, w->d->q, (size_t)m->nq * sizeof *q);
  sr_equilibrium_destroy(e);
  sr_messages_destroy(quiet);
  return status == SR_OK;
}

static void prepare(Work* w) {
  const srModel* m = w->m;
  const size_t nv = (size_t)m->nv, size = nv + (size_t)m->ny, nq = (size_t)m->nq, ny = (size_t)m->ny;
  w->nv = m->nv, w->ny = m->ny, w->ng = m->ng, w->np = m->np;
  w->closed = sr_pool_alloc(w->pool, ((size_t)w->capacity + 1) * sizeof *w->closed);
  w->G = matrix(w, m->ng, m->nv), w->g = reals(w, (size_t)m->ng);
  w->q = reals(w, nq), w->q_try = reals(w, nq), w->q_near = reals(w, nq);
  w->y = reals(w, ny), w->y_try = reals(w, ny), w->v = reals(w, nv), w->force = reals(w, nv);
  w->lambda = reals(w, (size_t)m->ng), w->turned = reals(w, nv * nv);
  w->Kq = reals(w, size * size), w->Kv = reals(w, size * size);
  w->raw = reals(w, 2 * size * size + (size_t)m->ng * nv);
  w->R = reals(w, size), w->J = reals(w, size * size), w->JJ = reals(w, size * size);
  w->S = reals(w, ny * (nv + 1)), w->step = reals(w, size + nv);
  w->Z = reals(w, nv * nv), w->Z_here = reals(w, nv * nv), w->R_here = reals(w, size);
  if (ny > 0) memcpy(w->y, w->d->y, ny * sizeof *w->y);
  for (int i = 1; i <= m->nbody; i++)
    w->scale += m->body_mass[i] *
                sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
}

static srStatus search(Work* w) {
  char reason[512];
  double *start = reals(w, (size_t)w->m->nq), *q = reals(w, (size_t)w->m->nq);
  memcpy(start, w->d->q, (size_t)w->m->nq * sizeof *start);
  memcpy(q, start, (size_t)w->m->nq * sizeof *q);
  if (rests(w, start)) return SR_OK;
  put_reason(w, reason, sizeof reason);
  if (fall(w, q)) {
    if (rests(w, q)) {
      sr_messages_add(w->messages, SR_SEVERITY_NOTE, (srPlace){0},
                      "it does not rest at the start: %s; this is where it rests by the force laws of its contacts",
                      reason);
      return SR_OK;
    }
    put_reason(w, reason, sizeof reason);
  }
  sr_messages_add(w->messages, SR_SEVERITY_ERROR, (srPlace){0}, "no equilibrium with rigid contacts: %s", reason);
  return SR_FAILED;
}

static srStatus in_pool(Work* w) {
  srRestMemory* x = w->out;
  if (setjmp(x->out_of_memory) != 0) return SR_MEMORY;
  x->pool.on_fail = w->scratch.on_fail = &x->out_of_memory;
  prepare(w);
  return search(w);
}

srStatus sr_rest_rigid_create(const srModel* m, srData* d, double gap, srMessages* messages, srRest** out) {
  *out = NULL;
  srRestMemory* x = sr_rest_memory();
  if (x == NULL) return SR_MEMORY;
  Work w = {.out = x, .pool = &x->pool, .m = m, .d = d, .messages = messages, .within = gap > 0 ? gap : GAP};
  sr_pool_init(&w.scratch);
  sr_rigid_warn(m, true, messages);
  d->rigid = true;
  w.user = (srModelSystem){.m = m, .d = d, .tangent = sr_tangent_create_as(m, SR_SOLVE_REST)};
  srStatus status = SR_MEMORY;
  if (w.user.tangent != NULL) {
    w.s = sr_system(&w.user);
    w.list = sri_contacts_create(&w.s);
    w.capacity = w.s.ncontact + w.s.nclamp;
    if (w.list != NULL) status = in_pool(&w);
  }
  x->pool.on_fail = NULL;
  sr_pool_free(&w.scratch);
  sri_contacts_destroy(w.list);
  sr_tangent_destroy(w.user.tangent);
  d->rigid = false;
  if (status == SR_MEMORY)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the equilibrium");
  if (status == SR_OK)
    *out = &x->shown;
  else
    sr_rest_destroy(&x->shown);
  return status;
}
