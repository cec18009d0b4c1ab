// Friction laws on the expression graph: exact derivatives of (f, edot) by (v, e, N), where the limits are Fs = s N, Fk = k N and the
// viscous coefficient is D N. One program for all elements with the same law, directions and states: the numbers of an element are its
// arguments.
#include "contact/friction_graph.h"

#include <string.h>

typedef struct Row {
  const srFrictionLaw* law;
  void (*define)(srFrictionGraph* x);
} Row;

static const Row rows[] = {
#define FRICTION_ROW(name, word) {&sr_friction_##name, sr_friction_##name##_graph},
    SR_FRICTION_LIST(FRICTION_ROW)
#undef FRICTION_ROW
};

// Arguments: v, e, N, tau, s, k, then the parameters.
enum { ARG_N, ARG_TAU, ARG_STATIC, ARG_KINETIC, ARG_PARAMETERS };

static srNode argument(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_ARG, i); }

srNode sr_friction_graph_normal(const srFrictionGraph* x) { return argument(x->g, x->n + x->n * x->ne + ARG_N); }

bool sr_friction_graph(const srFrictionLaw* law, int n, int ne, srGraph* g, srFrictionGraph* x) {
  const int first = n + n * ne;
  *x = (srFrictionGraph){.g = g, .n = n, .ne = ne};
  for (int i = 0; i < n; i++) x->v[i] = argument(g, i);
  for (int i = 0; i < n * ne; i++) x->e[i] = argument(g, n + i);
  for (int i = 0; i < SR_FRICTION_PARAMETERS; i++) x->p[i] = argument(g, first + ARG_PARAMETERS + i);
  const srNode N = argument(g, first + ARG_N);
  x->tau = argument(g, first + ARG_TAU);
  x->Fs = srx_mul(g, argument(g, first + ARG_STATIC), N);
  x->Fk = srx_mul(g, argument(g, first + ARG_KINETIC), N);
  x->D = srx_mul(g, x->p[SR_FRICTION_D], N);
  for (int i = 0; i < SR_COUNT(rows); i++) {
    if (rows[i].law != law) continue;
    rows[i].define(x);
    return true;
  }
  return false;
}

void sr_friction_arguments(const srDryFriction* x, const double* v, const double* e, double N, double tau,
                           double* out) {
  double* rest = out + x->n + x->ne;
  memcpy(out, v, (size_t)x->n * sizeof *out);
  if (x->ne > 0) memcpy(out + x->n, e, (size_t)x->ne * sizeof *out);
  rest[ARG_N] = N;
  rest[ARG_TAU] = tau;
  rest[ARG_STATIC] = x->s;
  rest[ARG_KINETIC] = x->k;
#define FRICTION_PARAMETER(field, value, sliding, turning, doc) rest[ARG_PARAMETERS + SR_FRICTION_##field] = x->p.field;
  SR_FRICTION_PARAMETER_LIST(FRICTION_PARAMETER)
#undef FRICTION_PARAMETER
}

const srProgram* sr_friction_derivative(srPool* pool, const srFrictionLaw* law, int n, int ne) {
  srFrictionGraph* x = sr_pool_alloc(pool, sizeof *x);
  srGraph* g = sr_graph_create(pool);
  if (!sr_friction_graph(law, n, ne, g, x)) return NULL;
  const int count = n + n * ne;
  srNode* by = sr_pool_alloc(pool, (size_t)(count * (count + 1)) * sizeof *by);
  for (int r = 0; r < count; r++) {
    const srNode row = r < n ? x->f[r] : x->edot[r - n];
    for (int j = 0; j < count; j++) by[r * (count + 1) + j] = sr_graph_derive(g, row, j < n ? x->v[j] : x->e[j - n]);
    by[r * (count + 1) + count] = sr_graph_derive(g, row, sr_friction_graph_normal(x));
  }
  return sr_program_create(pool, g, by, count * (count + 1));
}
