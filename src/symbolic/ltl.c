// Forward dynamics on the graph: M and c, then M = L^T D L along the branches of the tree (Featherstone 2008, section 6.5).
#include "symbolic/tree.h"

void sr_sym_factor(srSymPass* x, srNode* M, srNode* inverse) {
  srGraph* g = x->g;
  const int nv = x->tree->m->nv, *up = x->tree->m->dof_parent;
  for (int k = nv - 1; k >= 0; k--) {
    sr_sym_note(x, x->tree->m->dof_link[k], "factors of M");
    inverse[k] = srx_div(g, srx_number(g, 1), M[k * nv + k]);
    for (int i = up[k]; i >= 0; i = up[i]) {
      const srNode l = srx_mul(g, M[k * nv + i], inverse[k]);
      for (int j = i; j >= 0; j = up[j]) M[i * nv + j] = srx_sub(g, M[i * nv + j], srx_mul(g, l, M[k * nv + j]));
      M[k * nv + i] = l;  // below it only the entries further up are used again
    }
  }
}

void sr_sym_solve(srSymPass* x, const srNode* L, const srNode* inverse, srNode* a) {
  srGraph* g = x->g;
  const int nv = x->tree->m->nv, *up = x->tree->m->dof_parent;
  for (int k = nv - 1; k >= 0; k--) {
    for (int i = up[k]; i >= 0; i = up[i]) a[i] = srx_sub(g, a[i], srx_mul(g, L[k * nv + i], a[k]));
  }
  for (int k = 0; k < nv; k++) {
    a[k] = srx_mul(g, a[k], inverse[k]);
    for (int i = up[k]; i >= 0; i = up[i]) a[k] = srx_sub(g, a[k], srx_mul(g, L[k * nv + i], a[i]));
  }
}

void sr_sym_ltl(srSymPass* x, const srNode* tau, srNode* a) {
  const int nv = x->tree->m->nv;
  srNode* M = sr_pool_alloc(x->tree->pool, (size_t)(nv * nv + 1) * sizeof *M);
  srNode* inverse = sr_pool_alloc(x->tree->pool, (size_t)(nv + 1) * sizeof *inverse);
  sr_sym_invdyna(x, NULL, false, a);
  for (int k = 0; k < nv; k++) a[k] = srx_sub(x->g, tau[k], a[k]);
  sr_sym_mass(x, M);
  sr_sym_factor(x, M, inverse);
  sr_sym_solve(x, M, inverse, a);
}
