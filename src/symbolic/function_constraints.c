// Constraint equations as functions, and dynamics with them: reduced to independent coordinates.
#include "symbolic/function.h"

#include <string.h>

#include "symbolic/reduced.h"
#include "symbolic/rows.h"

enum {
  T = SR_SYM_IN(SR_VAR_TIME),
  Q = SR_SYM_IN(SR_VAR_Q),
  V = SR_SYM_IN(SR_VAR_V),
  A = SR_SYM_IN(SR_VAR_A),
  TAU = SR_SYM_IN(SR_VAR_TAU),
  MOTION = SR_SYM_IN(SR_VAR_MOTION)
};

static int count_h(const srSymContext* context) { return context->m->np; }
static int count_rows(const srSymContext* context) { return context->m->ng; }

static const char* no_rows(const srSymContext* context) {
  if (context->m->ng == 0) return "is of constraint equations, and the model has none";
  return sr_sym_rows_missing(context->pool, context->m);
}

static const char* no_reduction(const srSymContext* context) {
  const srModel* m = context->m;
  if (m->absolute && m->armature_place)
    return "is of free bodies here, and the model has armature: generate it in relative coordinates";
  return m->nmassless > 0 ? sr_sym_no_mass(context) : no_rows(context);
}

static bool always(const srSymContext* context) { return context != NULL; }
static bool not_coupled(const srSymContext* context) { return context->m->elimination == NULL; }

static void build_hJ(srSymPass* x, const void* user, srNode* out) {
  const srModel* m = x->tree->m;
  const srSymRows rows = sr_sym_rows(x, false);
  (void)user;
  memcpy(out, rows.h, (size_t)m->np * sizeof *out), out += m->np;
  memcpy(out, rows.J, (size_t)m->ng * (size_t)m->nv * sizeof *out), out += m->ng * m->nv;
  memcpy(out, rows.b, (size_t)m->ng * sizeof *out);
}

static void build_jdq(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  memcpy(out, sr_sym_rows(x, true).jdq, (size_t)x->tree->m->ng * sizeof *out);
}

// Couplings alone: by the recursion, at any state.
static void build_coupled(srSymPass* x, srNode* out) {
  const srModel* m = x->tree->m;
  srNode* driven = sr_pool_alloc(x->tree->pool, ((size_t)m->ndriver + 1) * sizeof *driven);
  const srNode* jdq = m->ndriver > 0 ? sr_sym_rows(x, true).jdq : NULL;
  for (int i = 0; i < m->ndriver; i++) driven[i] = srx_neg(x->g, jdq[m->row_driver + i]);
  sr_sym_aba_coupled(x, sr_sym_leaves(x, SR_VAR_TAU), driven, out);
}

static void build_accelred(srSymPass* x, const void* user, srNode* out) {
  const srSymContext* context = user;
  if (context->m->elimination != NULL)
    build_coupled(x, out);
  else
    sr_sym_accelred(x, context->partition, sr_sym_leaves(x, SR_VAR_TAU), out);
}

static void build_invdynared(srSymPass* x, const void* user, srNode* out) {
  const srSymContext* context = user;
  sr_sym_invdynared(x, context->partition, sr_sym_leaves(x, SR_VAR_A), sr_sym_leaves(x, SR_VAR_TAU), out);
}

const srSymFunction sr_function_cons_hJ = {
    .name = "cons_hJ",
    .about =
        "Constraint equations h = 0 and J v + b = 0: the position equations in the order of h, then the velocity "
        "equations, which have no h.",
    .in = T | Q | MOTION,
    .out = {{"h", count_h, NULL, "residuals of the position equations", false},
            {"J", count_rows, sr_count_v, "Jacobian", false},
            {"b", count_rows, NULL, "explicit rate", false}},
    .build = {build_hJ},
    .missing = no_rows};

const srSymFunction sr_function_cons_jdq = {.name = "cons_jdq",
                                            .about = "Constraint equations J a + jdq = 0: jdq = (dJ/dt) v + db/dt.",
                                            .in = T | Q | V | MOTION,
                                            .out = {{"jdq", count_rows, NULL, "what J a is the opposite of", false}},
                                            .build = {build_jdq},
                                            .missing = no_rows};

const srSymFunction sr_function_accelred = {
    .name = "accelred",
    .about =
        "Forward dynamics with the constraint equations, reduced to independent coordinates; valid near states "
        "where the equations of the dependent ones are regular.",
    .in = T | Q | V | TAU | MOTION,
    .out = {{"a", sr_count_v, NULL, "accelerations dv/dt", false}},
    .build = {build_accelred},
    .on_demand = true,
    .partitioned = not_coupled,
    .missing = no_reduction};

const srSymFunction sr_function_invdynared = {
    .name = "invdynared",
    .about =
        "Inverse dynamics with the constraint equations: the forces on independent and driven coordinates that "
        "give the accelerations a, which satisfy J a + jdq = 0, beside known forces tau.",
    .in = T | Q | V | A | TAU | MOTION,
    .out = {{"Q", sr_count_v, NULL, "forces; of dependent coordinates 0", false}},
    .build = {build_invdynared},
    .on_demand = true,
    .partitioned = always,
    .missing = no_reduction};
