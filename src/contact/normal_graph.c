// Normal laws on the expression graph: exact derivatives of f by d and ddot. The approach velocity is the largest
// since the contact closed: the recorded one, or the present one; where it is unknown, the present one is used.
#include "contact/normal_graph.h"

typedef struct Row {
  const srNormalLaw* law;
  void (*define)(srNormalGraph* x);
} Row;

static const Row rows[] = {
#define NORMAL_ROW(name, word) {&sr_normal_##name, sr_normal_##name##_graph},
    SR_NORMAL_LIST(NORMAL_ROW)
#undef NORMAL_ROW
};

enum { ARG_D, ARG_RATE, ARG_SPEED, ARG_CHI, ARG_PARAMETERS };

static srNode argument(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_ARG, i); }

static srNode first_speed(const srNormalGraph* x, srNode kept) {
  srGraph* g = x->g;
  const srNode unknown = srx_max(g, x->p[SR_NORMAL_floor], srx_1(g, SR_OP_ABS, x->ddot));
  return srx_if(g, srx_positive(g, kept), srx_max(g, kept, x->ddot), unknown);
}

bool sr_normal_graph(const srNormalLaw* law, srGraph* g, srNormalGraph* x) {
  *x = (srNormalGraph){.g = g, .d = argument(g, ARG_D), .ddot = argument(g, ARG_RATE), .chi = argument(g, ARG_CHI)};
  for (int i = 0; i < SR_NORMAL_PARAMETERS; i++) x->p[i] = argument(g, ARG_PARAMETERS + i);
  x->ddot0 = first_speed(x, argument(g, ARG_SPEED));
  for (int i = 0; i < SR_COUNT(rows); i++) {
    if (rows[i].law != law) continue;
    rows[i].define(x);
    return true;
  }
  return false;
}

void sr_normal_arguments(const srNormalParameters* p, double d, double ddot, double speed, double* out) {
  out[ARG_D] = d;
  out[ARG_RATE] = ddot;
  out[ARG_SPEED] = speed;
  out[ARG_CHI] = p->chi;
#define NORMAL_PARAMETER(field, value, unit, doc) out[ARG_PARAMETERS + SR_NORMAL_##field] = p->field;
  SR_NORMAL_PARAMETER_LIST(NORMAL_PARAMETER)
#undef NORMAL_PARAMETER
}

const srProgram* sr_normal_derivative(srPool* pool, const srNormalLaw* law) {
  srNormalGraph x;
  srGraph* g = sr_graph_create(pool);
  if (!sr_normal_graph(law, g, &x)) return NULL;
  const srNode by[2] = {sr_graph_derive(g, x.f, x.d), sr_graph_derive(g, x.f, x.ddot)};
  return sr_program_create(pool, g, by, 2);
}
