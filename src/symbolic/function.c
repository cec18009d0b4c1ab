// The table of functions that can be generated, and of their arguments.
#include "symbolic/function.h"

#include "symbolic/rows.h"

extern const srSymFunction sr_function_accel, sr_function_invdyna, sr_function_dirdyna, sr_function_mass,
    sr_function_qdot, sr_function_dinvdyna, sr_function_daccel, sr_function_link, sr_function_extforce,
    sr_function_contact, sr_function_force, sr_function_rates, sr_function_sensor, sr_function_cons_hJ,
    sr_function_cons_jdq, sr_function_accelred, sr_function_invdynared, sr_function_regressor,
    sr_function_regressor_full, sr_function_bias, sr_function_entries;

const srSymFunction* const sr_sym_functions[] = {
    &sr_function_accel,      &sr_function_invdyna,   &sr_function_dirdyna,        &sr_function_mass,
    &sr_function_qdot,       &sr_function_dinvdyna,  &sr_function_daccel,         &sr_function_link,
    &sr_function_extforce,   &sr_function_contact,   &sr_function_force,          &sr_function_rates,
    &sr_function_sensor,     &sr_function_cons_hJ,   &sr_function_cons_jdq,       &sr_function_accelred,
    &sr_function_invdynared, &sr_function_regressor, &sr_function_regressor_full, &sr_function_bias,
    &sr_function_entries,
};
const int sr_sym_nfunction = SR_COUNT(sr_sym_functions);

int sr_count_q(const srSymContext* context) { return context->m->nq; }
int sr_count_v(const srSymContext* context) { return context->m->nv; }
int sr_count_y(const srSymContext* context) { return context->m->ny; }

static int count_motion(const srSymContext* context) {
  return sr_sym_motion_given(context->m) ? 3 * context->m->ndriver : 0;
}
int sr_count_p(const srSymContext* context) { return context->symbols ? context->symbols->n : 0; }

const srSymInput sr_sym_inputs[] = {
    {.kind = SR_VAR_TIME, .array = {.name = "t", .about = "time"}},
    {.kind = SR_VAR_Q, .array = {.name = "q", .rows = sr_count_q, .about = "positions"}},
    {.kind = SR_VAR_V, .array = {.name = "v", .rows = sr_count_v, .about = "velocities"}},
    {.kind = SR_VAR_STATE, .array = {.name = "y", .rows = sr_count_y, .about = "states"}},
    {.kind = SR_VAR_A, .array = {.name = "a", .rows = sr_count_v, .about = "accelerations dv/dt"}},
    {.kind = SR_VAR_TAU, .array = {.name = "tau", .rows = sr_count_v, .about = "forces on the coordinates"}},
    {.kind = SR_VAR_STAGE,
     .array = {.name = "stage", .about = "stage length that friction with memory takes, s; < 0: that of the model"}},
    {.kind = SR_VAR_MOTION,
     .array = {.name = "motion",
               .rows = count_motion,
               .about = "value, rate and second derivative of the motion of each driver"},
     .optional = true},
};
const int sr_sym_ninput = SR_COUNT(sr_sym_inputs);

static int size_of(const srSymArray* a, const srSymContext* context) {
  const int rows = a->rows ? a->rows(context) : 0;
  return a->triangle ? rows * (rows + 1) / 2 : rows * (a->columns ? a->columns(context) : 1);
}

int sr_sym_outputs(const srSymFunction* f, const srSymContext* context) {
  int n = 0;
  for (int i = 0; i < SR_SYM_OUTPUTS; i++) n += size_of(&f->out[i], context);
  return n;
}

const char* sr_sym_no_mass(const srSymContext* context) {
  return context->m->nmassless > 0 ? "divides by inertia, and some joints move nothing with mass: lock them" : NULL;
}

srNode* sr_sym_leaves(srSymPass* x, srVarKind kind) {
  const int nv = x->tree->m->nv;
  srNode* out = sr_pool_alloc(x->tree->pool, ((size_t)nv + 1) * sizeof *out);
  for (int i = 0; i < nv; i++) out[i] = sr_graph_var(x->g, kind, i);
  return out;
}
