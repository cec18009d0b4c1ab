// Reduced equations of motion (ROBOTRAN manual, equations 17 to 24; Wehage and Haug 1982): coordinates u independent, v dependent, c driven.
//
//   B = -J_v^-1 J_u,   a_v = B a_u + a_v0,   a_v0 = -J_v^-1 (jdq + J_c a_c),   a_c of the drivers
//   phi0 = M a0 + c - tau   with a0 = (0, a_v0, a_c), by the inverse dynamics;   Z = (1; B)
//   Z^T M Z a_u = -(phi0_u + B^T phi0_v)
//   forces   Q_u = phi_u - J_u^T lambda,  Q_c = phi_c - J_c^T lambda,  J_v^T lambda = phi_v,   phi = M a + c - tau
//
// J_v = L U without exchanges: its pivots are chosen once, at a state, by the fewest entries (Markowitz 1957) among those that are not small there. The code holds where they are not 0: near states
// in which the dependent block is regular.
#include "symbolic/reduced.h"

#include <math.h>
#include <sarrus/analysis.h>
#include <sarrus/constraint.h>
#include <string.h>

#include "symbolic/rows.h"

#define SMALL 0.05    // of the largest entry of its equation: no pivot
#define NOTHING 1e-7  // of the largest entry that the equation had: it is redundant

static bool is_zero(const srGraph* g, srNode node) {
  double value;
  return sr_graph_constant(g, node, &value) && value == 0;
}

// ---- pivots -----------------------------------------------------------------------------------------------------------------

typedef struct Choice {
  int ng, nv;
  double* G;                         // ng x nv, eliminated
  unsigned char* entry;              // ng x nv: not 0 by structure
  unsigned char *row_done, *column;  // column: 1 dependent and not yet a pivot
  double* size;                      // ng: largest entry of the equation
} Choice;

static double largest(const Choice* c, int i) {
  double most = 0;
  for (int j = 0; j < c->nv; j++) {
    if (c->column[j]) most = fmax(most, fabs(c->G[i * c->nv + j]));
  }
  return most;
}

static int entries_of_row(const Choice* c, int i) {
  int n = 0;
  for (int j = 0; j < c->nv; j++) n += c->column[j] && c->entry[i * c->nv + j];
  return n;
}

static int entries_of_column(const Choice* c, int j) {
  int n = 0;
  for (int i = 0; i < c->ng; i++) n += !c->row_done[i] && c->entry[i * c->nv + j];
  return n;
}

// The pivot with the least fill, the larger one of two; false: none is left.
static bool choose(const Choice* c, int* row, int* column) {
  int least = -1;
  double size = 0;
  for (int i = 0; i < c->ng; i++) {
    if (c->row_done[i]) continue;
    const double most = largest(c, i);
    if (!(most > NOTHING * c->size[i])) continue;
    const int others = entries_of_row(c, i) - 1;
    for (int j = 0; j < c->nv; j++) {
      const double x = fabs(c->G[i * c->nv + j]) / most;
      if (!c->column[j] || !c->entry[i * c->nv + j] || x < SMALL) continue;
      const int price = others * (entries_of_column(c, j) - 1);
      if (least >= 0 && (price > least || (price == least && x <= size * (1 + 1e-9)))) continue;
      least = price, size = x, *row = i, *column = j;
    }
  }
  return least >= 0;
}

static void eliminate(Choice* c, int row, int column) {
  const double* pivot = c->G + row * c->nv;
  c->row_done[row] = 1;
  for (int i = 0; i < c->ng; i++) {
    if (c->row_done[i] || !c->entry[i * c->nv + column]) continue;
    const double factor = c->G[i * c->nv + column] / pivot[column];
    for (int j = 0; j < c->nv; j++) {
      if (!c->entry[row * c->nv + j]) continue;
      c->G[i * c->nv + j] -= factor * pivot[j];
      c->entry[i * c->nv + j] = 1;
    }
    c->entry[i * c->nv + column] = 0;
  }
  c->column[column] = 0;
}

static Choice begin(const srSymTree* tree, const srData* d, const srCoordinatePartition* p) {
  const srModel* m = tree->m;
  const size_t n = (size_t)m->ng * (size_t)m->nv;
  Choice c = {.ng = m->ng, .nv = m->nv};
  c.G = sr_pool_alloc(tree->pool, (n + 1) * sizeof *c.G), c.entry = sr_pool_alloc(tree->pool, n + 1);
  c.row_done = sr_pool_alloc(tree->pool, (size_t)m->ng + 1), c.column = sr_pool_alloc(tree->pool, (size_t)m->nv + 1);
  c.size = sr_pool_alloc(tree->pool, ((size_t)m->ng + 1) * sizeof *c.size);
  sr_constraint_matrix(m, d, c.G);
  srGraph* g = sr_graph_create(tree->pool);
  const srSymRows rows = sr_sym_rows(sr_sym_pass(g, tree->pool, tree), false);
  for (size_t i = 0; i < n; i++) c.entry[i] = !is_zero(g, rows.J[i]);
  for (int j = 0; j < p->ndependent; j++) c.column[p->dependent[j]] = 1;
  for (int i = 0; i < m->ng; i++) {
    for (int j = 0; j < m->nv; j++) c.size[i] = fmax(c.size[i], fabs(c.G[i * m->nv + j]));
    c.row_done[i] = m->row[i].kind == SR_ROW_DRIVER && !m->absolute;
  }
  return c;
}

static int* copied(srPool* pool, const int* x, int n) {
  int* out = sr_pool_alloc(pool, ((size_t)n + 1) * sizeof *out);
  for (int i = 0; i < n; i++) out[i] = x[i];
  return out;
}

static srSymPartition* pivots(const srSymTree* tree, const srData* d, const srCoordinatePartition* p) {
  const srModel* m = tree->m;
  srSymPartition* out = sr_pool_alloc(tree->pool, sizeof *out);
  *out = (srSymPartition){.nindependent = p->nindependent, .ndriven = p->ndriven};
  out->independent = copied(tree->pool, p->independent, p->nindependent);
  out->driven = copied(tree->pool, p->driven, p->ndriven);
  int *dependent = copied(tree->pool, p->dependent, p->ndependent),
      *row = copied(tree->pool, p->dependent, p->ndependent);
  int* driver = copied(tree->pool, p->driven, p->ndriven);
  for (int k = 0; k < p->ndriven; k++) {
    for (int i = 0; i < m->ndriver; i++) {
      if (m->driver[i].dof == p->driven[k]) driver[k] = m->row_driver + i;
    }
  }
  Choice c = begin(tree, d, p);
  for (; out->ndependent < p->ndependent; out->ndependent++) {
    int i, j;
    if (!choose(&c, &i, &j)) return NULL;
    row[out->ndependent] = i, dependent[out->ndependent] = j;
    eliminate(&c, i, j);
  }
  out->dependent = dependent, out->row = row, out->driver = driver;
  return out;
}

srStatus sr_sym_partition(const srSymTree* tree, srData* d, const unsigned char* independent, srMessages* messages,
                          srSymPartition** out) {
  srCoordinatePartition* p = NULL;
  const srStatus status =
      sr_partition_create(tree->m, d, &(srPartitionOptions){.independent = independent}, messages, &p);
  if (status != SR_OK) return status;
  *out = pivots(tree, d, p);
  sr_partition_destroy(p);
  if (*out != NULL) return SR_OK;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "the equations of the dependent coordinates of '%s' are singular at this position", tree->m->name);
  return SR_FAILED;
}

// ---- LU on the graph --------------------------------------------------------------------------------------------------------

typedef struct Reduced {
  srSymPass* x;
  srGraph* g;
  const srSymPartition* p;
  srSymRows rows;
  int n, nv;
  srNode *LU, *inverse;  // n x n; of the pivots
} Reduced;

static srNode* nodes(const Reduced* r, int n) {
  srNode* out = sr_pool_alloc(r->x->tree->pool, ((size_t)n + 1) * sizeof *out);
  for (int i = 0; i < n; i++) out[i] = srx_number(r->g, 0);
  return out;
}

static void factor(Reduced* r) {
  srGraph* g = r->g;
  const int n = r->n;
  srNode* A = r->LU;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) A[i * n + j] = r->rows.J[r->p->row[i] * r->nv + r->p->dependent[j]];
  }
  for (int k = 0; k < n; k++) {
    r->inverse[k] = srx_div(g, srx_number(g, 1), A[k * n + k]);
    for (int i = k + 1; i < n; i++) {
      if (is_zero(g, A[i * n + k])) continue;
      const srNode l = A[i * n + k] = srx_mul(g, A[i * n + k], r->inverse[k]);
      for (int j = k + 1; j < n; j++) A[i * n + j] = srx_sub(g, A[i * n + j], srx_mul(g, l, A[k * n + j]));
    }
  }
}

// J_v x = b
static void solve(const Reduced* r, srNode* b) {
  srGraph* g = r->g;
  const int n = r->n;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] = srx_sub(g, b[i], srx_mul(g, r->LU[i * n + k], b[k]));
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] = srx_sub(g, b[i], srx_mul(g, r->LU[i * n + k], b[k]));
    b[i] = srx_mul(g, b[i], r->inverse[i]);
  }
}

// J_v^T x = b
static void solve_transposed(const Reduced* r, srNode* b) {
  srGraph* g = r->g;
  const int n = r->n;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] = srx_sub(g, b[i], srx_mul(g, r->LU[k * n + i], b[k]));
    b[i] = srx_mul(g, b[i], r->inverse[i]);
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] = srx_sub(g, b[i], srx_mul(g, r->LU[k * n + i], b[k]));
  }
}

static Reduced reduce(srSymPass* x, const srSymPartition* p, bool accelerations) {
  Reduced r = {.x = x, .g = x->g, .p = p, .n = p->ndependent, .nv = x->tree->m->nv};
  r.rows = sr_sym_rows(x, accelerations);
  r.LU = nodes(&r, r.n * r.n), r.inverse = nodes(&r, r.n);
  factor(&r);
  return r;
}

// ---- equations of motion ------------------------------------------------------------------------------------------------------

// Z, nv x nu.
static srNode* directions(const Reduced* r) {
  const int nu = r->p->nindependent;
  srNode *Z = nodes(r, r->nv * nu), *b = nodes(r, r->n);
  for (int j = 0; j < nu; j++) {
    const int u = r->p->independent[j];
    for (int i = 0; i < r->n; i++) b[i] = srx_neg(r->g, r->rows.J[r->p->row[i] * r->nv + u]);
    solve(r, b);
    for (int i = 0; i < r->n; i++) Z[r->p->dependent[i] * nu + j] = b[i];
    Z[u * nu + j] = srx_number(r->g, 1);
  }
  return Z;
}

// a0
static srNode* held(const Reduced* r) {
  srGraph* g = r->g;
  srNode *a = nodes(r, r->nv), *b = nodes(r, r->n);
  for (int k = 0; k < r->p->ndriven; k++) a[r->p->driven[k]] = srx_neg(g, r->rows.jdq[r->p->driver[k]]);
  for (int i = 0; i < r->n; i++) {
    const srNode* J = r->rows.J + r->p->row[i] * r->nv;
    b[i] = srx_neg(g, r->rows.jdq[r->p->row[i]]);
    for (int k = 0; k < r->p->ndriven; k++) b[i] = srx_sub(g, b[i], srx_mul(g, J[r->p->driven[k]], a[r->p->driven[k]]));
  }
  solve(r, b);
  for (int i = 0; i < r->n; i++) a[r->p->dependent[i]] = b[i];
  return a;
}

// Z^T M Z below and on the diagonal, nu x nu.
static srNode* reduced_mass(const Reduced* r, const srNode* Z) {
  srGraph* g = r->g;
  const int nv = r->nv, nu = r->p->nindependent;
  srNode *M = nodes(r, nv * nv), *MZ = nodes(r, nv * nu), *out = nodes(r, nu * nu);
  sr_sym_mass(r->x, M);
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < nv; k++) {
      const srNode entry = M[i >= k ? i * nv + k : k * nv + i];
      for (int j = 0; j < nu && !is_zero(g, entry); j++)
        MZ[i * nu + j] = srx_add(g, MZ[i * nu + j], srx_mul(g, entry, Z[k * nu + j]));
    }
  }
  for (int k = 0; k < nv; k++) {
    for (int i = 0; i < nu; i++) {
      for (int j = 0; j <= i && !is_zero(g, Z[k * nu + i]); j++)
        out[i * nu + j] = srx_add(g, out[i * nu + j], srx_mul(g, Z[k * nu + i], MZ[k * nu + j]));
    }
  }
  return out;
}

// A x = b by A = L^T D L, from the last coordinate on: branches of a tree do not fill.
static void solve_symmetric(const Reduced* r, srNode* A, srNode* b, int n) {
  srGraph* g = r->g;
  srNode* inverse = nodes(r, n);
  for (int k = n - 1; k >= 0; k--) {
    inverse[k] = srx_div(g, srx_number(g, 1), A[k * n + k]);
    for (int i = k - 1; i >= 0; i--) {
      if (is_zero(g, A[k * n + i])) continue;
      const srNode l = srx_mul(g, A[k * n + i], inverse[k]);
      for (int j = 0; j <= i; j++) A[i * n + j] = srx_sub(g, A[i * n + j], srx_mul(g, l, A[k * n + j]));
      A[k * n + i] = l;
      b[i] = srx_sub(g, b[i], srx_mul(g, l, b[k]));
    }
  }
  for (int k = 0; k < n; k++) {
    b[k] = srx_mul(g, b[k], inverse[k]);
    for (int i = 0; i < k; i++) b[k] = srx_sub(g, b[k], srx_mul(g, A[k * n + i], b[i]));
  }
}

void sr_sym_accelred(srSymPass* x, const srSymPartition* p, const srNode* tau, srNode* a) {
  srGraph* g = x->g;
  const Reduced r = reduce(x, p, true);
  const int nv = r.nv, nu = p->nindependent;
  const srNode *Z = directions(&r), *a0 = held(&r);
  srNode *phi = nodes(&r, nv), *b = nodes(&r, nu);
  sr_sym_invdyna(x, a0, false, phi);
  for (int i = 0; i < nv; i++) {
    const srNode rest = srx_sub(g, tau[i], phi[i]);
    for (int j = 0; j < nu; j++) b[j] = srx_add(g, b[j], srx_mul(g, Z[i * nu + j], rest));
  }
  solve_symmetric(&r, reduced_mass(&r, Z), b, nu);
  for (int i = 0; i < nv; i++) {
    a[i] = a0[i];
    for (int j = 0; j < nu; j++) a[i] = srx_add(g, a[i], srx_mul(g, Z[i * nu + j], b[j]));
  }
}

void sr_sym_invdynared(srSymPass* x, const srSymPartition* p, const srNode* a, const srNode* tau, srNode* Q) {
  srGraph* g = x->g;
  const Reduced r = reduce(x, p, false);
  srNode *phi = nodes(&r, r.nv), *lambda = nodes(&r, r.n);
  sr_sym_invdyna(x, a, false, phi);
  for (int i = 0; i < r.nv; i++) phi[i] = srx_sub(g, phi[i], tau[i]), Q[i] = srx_number(g, 0);
  for (int i = 0; i < r.n; i++) lambda[i] = phi[p->dependent[i]];
  solve_transposed(&r, lambda);
  for (int k = 0; k < p->nindependent + p->ndriven; k++) {
    const int at = k < p->nindependent ? p->independent[k] : p->driven[k - p->nindependent];
    Q[at] = phi[at];
    for (int i = 0; i < r.n; i++) Q[at] = srx_sub(g, Q[at], srx_mul(g, r.rows.J[p->row[i] * r.nv + at], lambda[i]));
  }
}
