// Derivatives of inverse and forward dynamics on the graph, exact.
//
//   inverse dynamics   dtau/dq, dtau/dv with a held: every node of the recursion is derived by every angle, and shared where equal
//   forward dynamics   da/dx = -M^-1 dtau/dx at a(q, v, tau),  da/dtau = M^-1, x also a parameter that is an argument: the factors of M serve all right-hand sides
//
// By a quaternion, along the motions of its joint: df/dxi_j = sum_i df/dq_i H_ij, with q' = H v (qdot.c); so the columns are those of v.
#include "expr/graph.h"
#include "symbolic/symbols.h"

// H, nq x nv: q' is linear in v, so its entries are derivatives by v.
static srNode* rates_of_positions(srSymPass* x) {
  const srModel* m = x->tree->m;
  srPool* pool = x->tree->pool;
  srNode *H = sr_pool_alloc(pool, ((size_t)(m->nq * m->nv) + 1) * sizeof *H),
         *qdot = sr_pool_alloc(pool, ((size_t)m->nq + 1) * sizeof *qdot),
         *column = sr_pool_alloc(pool, ((size_t)m->nq + 1) * sizeof *column);
  sr_sym_qdot(x, false, qdot);
  for (int j = 0; j < m->nv; j++) {
    sr_graph_derive_all(x->g, qdot, m->nq, sr_sym_v(x, j), column);
    for (int i = 0; i < m->nq; i++) H[i * m->nv + j] = column[i];
  }
  return H;
}

static unsigned char* below(srSymPass* x, const srNode* roots, int nroot) {
  const srGraph* g = x->g;
  unsigned char* needed = sr_pool_alloc(x->tree->pool, (size_t)g->n + 1);
  for (int i = 0; i < nroot; i++) needed[roots[i]] = 1;
  for (int i = g->n - 1; i >= 0; i--) {
    for (int k = 0; needed[i] && k < sr_op_arity(g->nodes[i].op); k++) needed[g->nodes[i].child[k]] = 1;
  }
  return needed;
}

// The roots with some nodes replaced: variables of a kind by others.
static void substitute(srSymPass* x, srVarKind kind, const srNode* by, srNode* roots, int nroot) {
  srGraph* g = x->g;
  const int n = g->n;
  const unsigned char* needed = below(x, roots, nroot);
  srNode* map = sr_pool_alloc(x->tree->pool, ((size_t)n + 1) * sizeof *map);
  for (int i = 0; i < n; i++) {
    if (!needed[i]) continue;
    const srGraphNode node = g->nodes[i];  // a copy: the array may move
    srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
    bool same = true;
    for (int k = 0; k < sr_op_arity(node.op); k++) same = (child[k] = map[node.child[k]]) == node.child[k] && same;
    map[i] = same ? i : sr_graph_op(g, node.op, child[0], child[1], child[2]);
    if (node.op == SR_OP_VAR && node.detail == (int)kind) map[i] = by[node.index];
  }
  for (int i = 0; i < nroot; i++) roots[i] = map[roots[i]];
}

// The roots with arguments of sines and cosines as variables of their own, and these arguments: how many.
static int take_angles_apart(srSymPass* x, srNode* roots, int nroot, srNode** angles) {
  srGraph* g = x->g;
  const int n = g->n;
  const unsigned char* needed = below(x, roots, nroot);
  srNode *map = sr_pool_alloc(x->tree->pool, ((size_t)n + 1) * sizeof *map), *list = NULL;
  int* number = sr_pool_alloc(x->tree->pool, ((size_t)n + 1) * sizeof *number);
  int nangle = 0, capacity = 0;
  for (int i = 0; i < n; i++) {
    if (!needed[i]) continue;
    const srGraphNode node = g->nodes[i];
    srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
    for (int k = 0; k < sr_op_arity(node.op); k++) child[k] = map[node.child[k]];
    if (node.op == SR_OP_SIN || node.op == SR_OP_COS) {
      int* at = &number[node.child[0]];
      if (*at == 0) SR_PUSH(x->tree->pool, list, nangle, capacity) = node.child[0], *at = nangle;
      child[0] = sr_graph_var(g, SR_VAR_ARG, *at - 1);
    }
    map[i] = sr_op_arity(node.op) == 0 ? i : sr_graph_op(g, node.op, child[0], child[1], child[2]);
  }
  for (int i = 0; i < nroot; i++) roots[i] = map[roots[i]];
  *angles = list;
  return nangle;
}

// Columns by the angles, which are sums of positions where axes are parallel, each found once; then those by positions: sums of them and what depends on positions themselves.
static srNode* by_coordinates(srSymPass* x, const srNode* f) {
  srGraph* g = x->g;
  srPool* pool = x->tree->pool;
  const int nv = x->tree->m->nv, nq = x->tree->m->nq;
  srNode *roots = sr_pool_alloc(pool, ((size_t)nv + 1) * sizeof *roots), *angle,
         *out = sr_pool_alloc(pool, ((size_t)(nq * nv) + 1) * sizeof *out);
  for (int k = 0; k < nv; k++) roots[k] = f[k];
  const int n = take_angles_apart(x, roots, nv, &angle);
  srNode* column = sr_pool_alloc(pool, ((size_t)(n * nv) + 1) * sizeof *column);
  for (int j = 0; j < n; j++) sr_graph_derive_all(g, roots, nv, sr_graph_var(g, SR_VAR_ARG, j), column + j * nv);
  for (int i = 0; i < nq; i++) {
    sr_graph_derive_all(g, roots, nv, sr_sym_q(x, i), out + i * nv);
    for (int j = n - 1; j >= 0; j--) {
      const srNode factor = sr_graph_derive(g, angle[j], sr_sym_q(x, i));
      for (int k = 0; k < nv; k++)
        out[i * nv + k] = srx_add(g, out[i * nv + k], srx_mul(g, factor, column[j * nv + k]));
    }
  }
  substitute(x, SR_VAR_ARG, angle, out, nq * nv);
  return out;
}

static void by_positions(srSymPass* x, const srNode* f, srNode* out) {
  srGraph* g = x->g;
  const srModel* m = x->tree->m;
  const int nv = m->nv;
  const srNode *H = rates_of_positions(x), *columns = by_coordinates(x, f);
  for (int k = 0; k < nv * nv; k++) out[k] = srx_number(g, 0);
  for (int i = 0; i < m->nq; i++) {
    for (int j = 0; j < nv; j++) {
      for (int k = 0; k < nv; k++)
        out[k * nv + j] = srx_add(g, out[k * nv + j], srx_mul(g, columns[i * nv + k], H[i * nv + j]));
    }
  }
}

static void by_velocities(srSymPass* x, const srNode* f, srNode* out) {
  const int nv = x->tree->m->nv;
  srNode* column = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *column);
  for (int j = 0; j < nv; j++) {
    sr_graph_derive_all(x->g, f, nv, sr_sym_v(x, j), column);
    for (int k = 0; k < nv; k++) out[k * nv + j] = column[k];
  }
}

static void by_parameters(srSymPass* x, const srNode* f, srNode* out) {
  const int nv = x->tree->m->nv, n = sr_sym_nparameter(x->tree);
  srNode* column = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *column);
  for (int j = 0; j < n; j++) {
    const srNode p = sr_graph_param(x->g, x->tree->symbols->name[j], x->tree->symbols->value[j]);
    sr_graph_derive_all(x->g, f, nv, p, column);
    for (int k = 0; k < nv; k++) out[k * n + j] = column[k];
  }
}

void sr_sym_invdyna_derivatives(srSymPass* x, const srNode* a, srNode* by_q, srNode* by_v, srNode* by_p) {
  srNode* tau = sr_pool_alloc(x->tree->pool, ((size_t)x->tree->m->nv + 1) * sizeof *tau);
  sr_sym_invdyna(x, a, false, tau);
  by_positions(x, tau, by_q);
  by_velocities(x, tau, by_v);
  by_parameters(x, tau, by_p);
}

static void solve_columns(srSymPass* x, const srNode* L, const srNode* inverse, bool minus, int n, srNode* A) {
  const int nv = x->tree->m->nv;
  srNode* b = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *b);
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < nv; k++) b[k] = minus ? srx_neg(x->g, A[k * n + j]) : A[k * n + j];
    sr_sym_solve(x, L, inverse, b);
    for (int k = 0; k < nv; k++) A[k * n + j] = b[k];
  }
}

void sr_sym_accel_derivatives(srSymPass* x, const srNode* tau, srNode* a, srNode* by_q, srNode* by_v, srNode* by_tau,
                              srNode* by_p) {
  srGraph* g = x->g;
  srPool* pool = x->tree->pool;
  const int nv = x->tree->m->nv, np = sr_sym_nparameter(x->tree);
  srNode *M = sr_pool_alloc(pool, ((size_t)(nv * nv) + 1) * sizeof *M),
         *inverse = sr_pool_alloc(pool, ((size_t)nv + 1) * sizeof *inverse),
         *given = sr_pool_alloc(pool, ((size_t)nv + 1) * sizeof *given);
  for (int k = 0; k < nv; k++) given[k] = sr_graph_var(g, SR_VAR_A, k);
  sr_sym_invdyna_derivatives(x, given, by_q, by_v, by_p);
  sr_sym_invdyna(x, NULL, false, a);
  for (int k = 0; k < nv; k++) a[k] = srx_sub(g, tau[k], a[k]);
  sr_sym_mass(x, M);
  sr_sym_factor(x, M, inverse);
  sr_sym_solve(x, M, inverse, a);
  substitute(x, SR_VAR_A, a, by_q, nv * nv);
  substitute(x, SR_VAR_A, a, by_v, nv * nv);
  substitute(x, SR_VAR_A, a, by_p, nv * np);
  for (int k = 0; k < nv * nv; k++) by_tau[k] = srx_number(g, k / nv == k % nv ? 1 : 0);
  solve_columns(x, M, inverse, true, nv, by_q);
  solve_columns(x, M, inverse, true, nv, by_v);
  solve_columns(x, M, inverse, true, np, by_p);
  solve_columns(x, M, inverse, false, nv, by_tau);
  for (int i = 0; i < nv; i++) {  // symmetric: of column j rows up to j alone, which are the first that are known
    for (int j = 0; j < i; j++) by_tau[i * nv + j] = by_tau[j * nv + i];
  }
}
