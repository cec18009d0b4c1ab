// Derivatives of inverse and forward dynamics on the graph, exact.
//
//   inverse dynamics   dtau/dq, dtau/dv with a held: every node of the recursion is derived, and shared where equal
//   forward dynamics   da/dx = -M^-1 dtau/dx at a(q, v, tau),  da/dtau = M^-1: the factors of M serve all right-hand sides
//
// By a quaternion, along the motions of its joint: df/dxi_j = sum_i df/dq_i H_ij, with q' = H v (qdot.c); so the columns are those of v.
#include "expr/graph.h"
#include "symbolic/tree.h"

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

static void by_positions(srSymPass* x, const srNode* f, srNode* out) {
  srGraph* g = x->g;
  const srModel* m = x->tree->m;
  const int nv = m->nv;
  const srNode* H = rates_of_positions(x);
  srNode* column = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *column);
  for (int k = 0; k < nv * nv; k++) out[k] = srx_number(g, 0);
  for (int i = 0; i < m->nq; i++) {
    sr_graph_derive_all(g, f, nv, sr_sym_q(x, i), column);
    for (int j = 0; j < nv; j++) {
      for (int k = 0; k < nv; k++) out[k * nv + j] = srx_add(g, out[k * nv + j], srx_mul(g, column[k], H[i * nv + j]));
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

void sr_sym_invdyna_derivatives(srSymPass* x, const srNode* a, srNode* by_q, srNode* by_v) {
  srNode* tau = sr_pool_alloc(x->tree->pool, ((size_t)x->tree->m->nv + 1) * sizeof *tau);
  sr_sym_invdyna(x, a, false, tau);
  by_positions(x, tau, by_q);
  by_velocities(x, tau, by_v);
}

// The roots with accelerations replaced by what they are.
static void substitute(srSymPass* x, const srNode* a, srNode* roots, int nroot) {
  srGraph* g = x->g;
  const int n = g->n;
  unsigned char* needed = sr_pool_alloc(x->tree->pool, (size_t)n + 1);
  srNode* map = sr_pool_alloc(x->tree->pool, ((size_t)n + 1) * sizeof *map);
  for (int i = 0; i < nroot; i++) needed[roots[i]] = 1;
  for (int i = n - 1; i >= 0; i--) {
    for (int k = 0; needed[i] && k < sr_op_arity(g->nodes[i].op); k++) needed[g->nodes[i].child[k]] = 1;
  }
  for (int i = 0; i < n; i++) {
    if (!needed[i]) continue;
    const srGraphNode node = g->nodes[i];  // a copy: the array may move
    srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
    bool same = true;
    for (int k = 0; k < sr_op_arity(node.op); k++) same = (child[k] = map[node.child[k]]) == node.child[k] && same;
    map[i] = same ? i : sr_graph_op(g, node.op, child[0], child[1], child[2]);
    if (node.op == SR_OP_VAR && node.detail == SR_VAR_A) map[i] = a[node.index];
  }
  for (int i = 0; i < nroot; i++) roots[i] = map[roots[i]];
}

static void solve_columns(srSymPass* x, const srNode* L, const srNode* inverse, bool minus, srNode* A) {
  const int nv = x->tree->m->nv;
  srNode* b = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *b);
  for (int j = 0; j < nv; j++) {
    for (int k = 0; k < nv; k++) b[k] = minus ? srx_neg(x->g, A[k * nv + j]) : A[k * nv + j];
    sr_sym_solve(x, L, inverse, b);
    for (int k = 0; k < nv; k++) A[k * nv + j] = b[k];
  }
}

void sr_sym_accel_derivatives(srSymPass* x, const srNode* tau, srNode* a, srNode* by_q, srNode* by_v, srNode* by_tau) {
  srGraph* g = x->g;
  srPool* pool = x->tree->pool;
  const int nv = x->tree->m->nv;
  srNode *M = sr_pool_alloc(pool, ((size_t)(nv * nv) + 1) * sizeof *M),
         *inverse = sr_pool_alloc(pool, ((size_t)nv + 1) * sizeof *inverse),
         *given = sr_pool_alloc(pool, ((size_t)nv + 1) * sizeof *given);
  for (int k = 0; k < nv; k++) given[k] = sr_graph_var(g, SR_VAR_A, k);
  sr_sym_invdyna_derivatives(x, given, by_q, by_v);
  sr_sym_invdyna(x, NULL, false, a);
  for (int k = 0; k < nv; k++) a[k] = srx_sub(g, tau[k], a[k]);
  sr_sym_mass(x, M);
  sr_sym_factor(x, M, inverse);
  sr_sym_solve(x, M, inverse, a);
  substitute(x, a, by_q, nv * nv);
  substitute(x, a, by_v, nv * nv);
  for (int k = 0; k < nv * nv; k++) by_tau[k] = srx_number(g, k / nv == k % nv ? 1 : 0);
  solve_columns(x, M, inverse, true, by_q);
  solve_columns(x, M, inverse, true, by_v);
  solve_columns(x, M, inverse, false, by_tau);
}
