// Dynamics of the tree of joints as functions: forward and inverse dynamics, mass matrix, their derivatives.
#include "symbolic/function.h"
#include "symbolic/rows.h"

extern const srSymFunction sr_function_accelred;

enum { Q = SR_SYM_IN(SR_VAR_Q), V = SR_SYM_IN(SR_VAR_V), A = SR_SYM_IN(SR_VAR_A), TAU = SR_SYM_IN(SR_VAR_TAU) };

// The inertia of armature between free bodies is not that of single coordinates.
static const char* no_armature(const srSymContext* context) {
  return context->m->absolute && context->m->armature_place
             ? "is of free bodies here, and the model has armature: generate it in relative coordinates"
             : NULL;
}

static const char* no_accel(const srSymContext* context) {
  if (!context->m->constrained) return sr_sym_no_mass(context);
  if (sr_sym_rows_of_time(context->m))
    return "has no argument t, and the constraint equations depend on time: generate accelred";
  return sr_function_accelred.missing(context);
}

static bool constrained(const srSymContext* context) {
  return context->m->constrained && context->m->elimination == NULL;
}

static const char* not_a_tree(const srSymContext* context) {
  return context->m->constrained ? "is of trees, and the model has constraint equations: generate dirdyna or invdyna, "
                                   "of the tree without them"
                                 : sr_sym_no_mass(context);
}

static void build_invdyna(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_invdyna(x, sr_sym_leaves(x, SR_VAR_A), false, out);
}

static void lower_triangle(const srNode* M, int nv, srNode* out) {
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k <= i; k++) *out++ = M[i * nv + k];
  }
}

static void build_mass(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  srNode* M = sr_pool_alloc(x->tree->pool, (size_t)(nv * nv + 1) * sizeof *M);
  (void)user;
  sr_sym_mass(x, M);
  lower_triangle(M, nv, out);
}

static void build_dirdyna(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  (void)user;
  sr_sym_mass(x, out);
  for (int i = 0; i < nv; i++) {
    for (int k = 0; k < i; k++) out[k * nv + i] = out[i * nv + k];
  }
  sr_sym_invdyna(x, NULL, false, out + nv * nv);
}

static void build_accel(srSymPass* x, const void* user, srNode* out) {
  const srSymContext* context = user;
  if (context->m->constrained)
    sr_function_accelred.build[0](x, user, out);
  else
    sr_sym_aba(x, sr_sym_leaves(x, SR_VAR_TAU), out);
}

static void build_ltl(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_ltl(x, sr_sym_leaves(x, SR_VAR_TAU), out);
}

static void build_qdot(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  sr_sym_qdot(x, true, out);
}

static void build_dinvdyna(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv;
  (void)user;
  sr_sym_invdyna_derivatives(x, sr_sym_leaves(x, SR_VAR_A), out, out + nv * nv, out + 2 * nv * nv);
}

static void build_daccel(srSymPass* x, const void* user, srNode* out) {
  const int nv = x->tree->m->nv, n = nv * nv;
  (void)user;
  sr_sym_accel_derivatives(x, sr_sym_leaves(x, SR_VAR_TAU), out, out + nv, out + nv + n, out + nv + 2 * n,
                           out + nv + 3 * n);
}

const srSymFunction sr_function_accel = {.name = "accel",
                                         .parametric = true,
                                         .in_lanes = true,
                                         .in_vector = true,
                                         .about = "Forward dynamics: a = M^-1 (tau - c).",
                                         .in = Q | V | TAU,
                                         .out = {{"a", sr_count_v, NULL, "accelerations dv/dt", false}},
                                         .build = {build_accel, build_ltl},
                                         .partitioned = constrained,
                                         .missing = no_accel};

const srSymFunction sr_function_invdyna = {.name = "invdyna",
                                           .parametric = true,
                                           .in_vector = true,
                                           .about = "Inverse dynamics: tau = M a + c, c with gravity.",
                                           .in = Q | V | A,
                                           .out = {{"tau", sr_count_v, NULL, "forces on the coordinates", false}},
                                           .build = {build_invdyna},
                                           .missing = no_armature};

const srSymFunction sr_function_dirdyna = {
    .name = "dirdyna",
    .parametric = true,
    .in_vector = true,
    .about = "Mass matrix M and bias c of M a + c = tau, c with gravity.",
    .in = Q | V,
    .out = {{"M", sr_count_v, sr_count_v, "mass matrix", false}, {"c", sr_count_v, NULL, "bias", false}},
    .build = {build_dirdyna},
    .missing = no_armature};

const srSymFunction sr_function_mass = {
    .name = "mass",
    .parametric = true,
    .in_vector = true,
    .about = "Mass matrix, below and on the diagonal; entries above are not written.",
    .in = Q,
    .out = {{"M", sr_count_v, sr_count_v, "mass matrix", .triangle = true}},
    .build = {build_mass},
    .missing = no_armature};

const srSymFunction sr_function_qdot = {.name = "qdot",
                                        .parametric = true,
                                        .in_lanes = true,
                                        .about = "Rates of positions, q' = H(q) v.",
                                        .in = Q | V,
                                        .out = {{"qdot", sr_count_q, NULL, "rates of positions", false}},
                                        .build = {build_qdot}};

const srSymFunction sr_function_dinvdyna = {
    .name = "dinvdyna",
    .parametric = true,
    .about =
        "Derivatives of the inverse dynamics, a held; by positions along the velocities: the change for q' = H(q) "
        "v with a unit velocity.",
    .in = Q | V | A,
    .out = {{"tau_q", sr_count_v, sr_count_v, "dtau/dq", false},
            {"tau_v", sr_count_v, sr_count_v, "dtau/dv", false},
            {"tau_p", sr_count_v, sr_count_p, "dtau/dp", false}},
    .build = {build_dinvdyna},
    .frames = build_invdyna,
    .on_demand = true,
    .missing = no_armature};

const srSymFunction sr_function_daccel = {
    .name = "daccel",
    .parametric = true,
    .about =
        "Forward dynamics and its derivatives, tau held; by positions along the velocities: the change for q' = "
        "H(q) v with a unit velocity.",
    .in = Q | V | TAU,
    .out = {{"a", sr_count_v, NULL, "accelerations dv/dt", false},
            {"a_q", sr_count_v, sr_count_v, "da/dq", false},
            {"a_v", sr_count_v, sr_count_v, "da/dv", false},
            {"a_tau", sr_count_v, sr_count_v, "da/dtau, the inverse of M", false},
            {"a_p", sr_count_v, sr_count_p, "da/dp", false}},
    .build = {build_daccel},
    .frames = build_ltl,
    .on_demand = true,
    .missing = not_a_tree};
