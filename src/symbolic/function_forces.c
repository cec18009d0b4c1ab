// Force elements as functions, and the rates that a run integrates.
#include "symbolic/elements.h"
#include "symbolic/function.h"

enum {
  T = SR_SYM_IN(SR_VAR_TIME),
  Q = SR_SYM_IN(SR_VAR_Q),
  V = SR_SYM_IN(SR_VAR_V),
  Y = SR_SYM_IN(SR_VAR_STATE),
  TAU = SR_SYM_IN(SR_VAR_TAU),
  STAGE = SR_SYM_IN(SR_VAR_STAGE)
};

static void put_forces(srSymPass* x, unsigned which, srNode* tau, srNode* ydot) {
  srSymForces* forces = sr_sym_forces(x, which);
  sr_sym_gather(x, forces);
  for (int i = 0; i < x->tree->m->nv; i++) tau[i] = forces->tau[i];
  for (int i = 0; ydot != NULL && i < x->tree->m->ny; i++) ydot[i] = forces->ydot[i];
}

static void build_link(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  put_forces(x, SR_SYM_LINKS, out, NULL);
}

static void build_extforce(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  put_forces(x, SR_SYM_EXTERNAL, out, NULL);
}

static void build_contact(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  put_forces(x, SR_SYM_CONTACTS, out, out + x->tree->m->nv);
}

static void build_force(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  put_forces(x, SR_SYM_ALL, out, out + x->tree->m->nv);
}

// Wrenches of the elements are subtracted from those of the links: they are not turned to forces on the coordinates first.
static void build_rates(srSymPass* x, srNode* out, void (*forward)(srSymPass*, const srNode*, srNode*)) {
  const srModel* m = x->tree->m;
  srSymForces* forces = sr_sym_forces(x, SR_SYM_ALL);
  for (int i = 0; i < m->nv; i++) forces->tau[i] = srx_add(x->g, forces->tau[i], sr_graph_var(x->g, SR_VAR_TAU, i));
  x->load_F = forces->F, x->load_N = forces->N;
  forward(x, forces->tau, out);
  for (int i = 0; i < m->ny; i++) out[m->nv + i] = forces->ydot[i];
}

static void aba(srSymPass* x, const srNode* tau, srNode* a) {
  if (x->tree->m->elimination != NULL)
    sr_sym_aba_coupled(x, tau, NULL, a);
  else
    sr_sym_aba(x, tau, a);
}

static void build_rates_aba(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  build_rates(x, out, aba);
}

static void build_rates_ltl(srSymPass* x, const void* user, srNode* out) {
  (void)user;
  build_rates(x, out, sr_sym_ltl);
}

static const char* no_link(const srSymContext* c) { return sr_sym_forces_missing(c->pool, c->m, SR_SYM_LINKS); }
static const char* no_extforce(const srSymContext* c) { return sr_sym_forces_missing(c->pool, c->m, SR_SYM_EXTERNAL); }
static const char* no_contact(const srSymContext* c) { return sr_sym_forces_missing(c->pool, c->m, SR_SYM_CONTACTS); }
static const char* no_force(const srSymContext* c) { return sr_sym_forces_missing(c->pool, c->m, SR_SYM_ALL); }

static const char* no_rates(const srSymContext* c) {
  if (c->m->ndriver > 0 || (c->m->ng > 0 && c->m->elimination == NULL) || c->m->absolute)
    return "is of trees and couplings, and the model has other constraint equations or drivers: generate force, and "
           "dirdyna of the tree "
           "without them";
  return c->m->nmassless > 0 ? sr_sym_no_mass(c) : no_force(c);
}

const srSymFunction sr_function_link = {
    .name = "link",
    .about = "Springs, dampers, stops, bushings, tyres and laws of joints and between points.",
    .in = T | Q | V | Y,
    .out = {{"tau", sr_count_v, NULL, "forces on the coordinates", false}},
    .build = {build_link},
    .on_demand = true,
    .parametric = true,
    .elements = true,
    .missing = no_link};

const srSymFunction sr_function_extforce = {.name = "extforce",
                                            .about = "External forces and moments at points of bodies.",
                                            .in = T | Q | V | Y,
                                            .out = {{"tau", sr_count_v, NULL, "forces on the coordinates", false}},
                                            .build = {build_extforce},
                                            .on_demand = true,
                                            .parametric = true,
                                            .elements = true,
                                            .missing = no_extforce};

const srSymFunction sr_function_contact = {
    .name = "contact",
    .about = "Friction and contact. Rates of states that are not of friction are 0.",
    .in = T | Q | V | Y | STAGE,
    .out = {{"tau", sr_count_v, NULL, "forces on the coordinates", false},
            {"ydot", sr_count_y, NULL, "rates of states", false}},
    .build = {build_contact},
    .on_demand = true,
    .parametric = true,
    .elements = true,
    .missing = no_contact};

const srSymFunction sr_function_force = {.name = "force",
                                         .about = "All force elements, and rates of all states.",
                                         .in = T | Q | V | Y | STAGE,
                                         .out = {{"tau", sr_count_v, NULL, "forces on the coordinates", false},
                                                 {"ydot", sr_count_y, NULL, "rates of states", false}},
                                         .build = {build_force},
                                         .on_demand = true,
                                         .parametric = true,
                                         .elements = true,
                                         .missing = no_force};

const srSymFunction sr_function_rates = {
    .name = "rates",
    .about = "The model as a run integrates it: accelerations with all force elements and tau, and rates of states.",
    .in = T | Q | V | Y | TAU | STAGE,
    .out = {{"a", sr_count_v, NULL, "accelerations dv/dt", false},
            {"ydot", sr_count_y, NULL, "rates of states", false}},
    .build = {build_rates_aba, build_rates_ltl},
    .in_lanes = true,
    .on_demand = true,
    .parametric = true,
    .elements = true,
    .missing = no_rates};
