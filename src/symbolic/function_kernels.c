// What the program itself calls in place of its recursions (src/generated), beside the functions of function_dynamics.c: the bias alone, and the mass matrix by its pattern.
#include "symbolic/function.h"

static int count_entries(const srSymContext* context) {
  return context->m->M_row != NULL ? context->m->M_row[context->m->nv] : 0;
}

static const char* no_pattern(const srSymContext* context) {
  return context->m->M_row == NULL ? "is of models with constraint equations: generate mass" : NULL;
}

static void build_bias(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_invdyna(x, NULL, false, out);
}

static void build_entries(srSymPass* x, const void* user, srNode* out) {
  const srModel* m = ((const srSymContext*)user)->m;
  const int nv = m->nv;
  srNode* M = sr_pool_alloc(x->tree->pool, (size_t)(nv * nv + 1) * sizeof *M);
  sr_sym_mass(x, M);
  for (int i = 0; i < nv; i++) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; k++) {
      const int j = m->M_column[k];
      out[k] = j < i ? M[i * nv + j] : M[j * nv + i];
    }
  }
}

const srSymFunction sr_function_bias = {.name = "bias",
                                        .about = "Bias c of M a + c = tau, with gravity.",
                                        .in = SR_SYM_IN(SR_VAR_Q) | SR_SYM_IN(SR_VAR_V),
                                        .out = {{"c", sr_count_v, NULL, "bias", false}},
                                        .build = {build_bias},
                                        .in_vector = true,
                                        .on_demand = true};

const srSymFunction sr_function_entries = {
    .name = "entries",
    .about = "Entries of the mass matrix that are not 0 by the topology, row by row.",
    .in = SR_SYM_IN(SR_VAR_Q),
    .out = {{"M", count_entries, NULL, "entries of the mass matrix", false}},
    .build = {build_entries},
    .on_demand = true,
    .missing = no_pattern};
