// Numbers of force elements as functions of parameters: stiffnesses, dampings, coefficients of friction.
//
// The model compiled for another value of each parameter shows which numbers change. Such a number must be a constant times a formula that the model file has for its element, or times a
// parameter, at all these values: then it is that function. Formulas of elements hold parameters themselves (import.h); here they are compared, too. What is not explained is refused.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "contact/friction_graph.h"
#include "contact/normal_graph.h"
#include "expr/graph.h"
#include "model/private.h"
#include "symbolic/code.h"
#include "symbolic/symbols.h"

#define SAME 1e-10
#define MOST_FORMULAS 256  // of one element

static bool same(double a, double b) { return a == b || fabs(a - b) <= SAME * fabs(b) || (isnan(a) && isnan(b)); }

// ---- numbers of an element ----------------------------------------------------------------------------------------------

static int friction_count(const srDryFriction* x) { return x->law ? x->n + x->ne + SR_FRICTION_ARGUMENTS : 0; }

int sr_sym_friction_numbers(const srForceElement* e, int part) {
  const srDryFriction* x[] = {&e->contact->slip, &e->contact->roll, &e->contact->spin};
  int at = e->np + SR_NORMAL_ARGUMENTS;
  for (int i = 0; i < part; i++) at += friction_count(x[i]);
  return at;
}

static int count_of(const srForceElement* e) { return e->contact ? sr_sym_friction_numbers(e, 3) : e->np; }

// Those that its laws have: parameters, then arguments of the normal law and of the three frictions.
static void law_numbers(srPool* pool, const srForceElement* e, double* out) {
  for (int i = 0; i < e->np; i++) out[i] = e->p[i];
  if (e->contact == NULL) return;
  const srDryFriction* x[] = {&e->contact->slip, &e->contact->roll, &e->contact->spin};
  sr_normal_arguments(&e->contact->p, 0, 0, 0, out + e->np);
  for (int i = 0; i < 3; i++) {
    if (x[i]->law == NULL) continue;
    const double* none = sr_pool_alloc(pool, (size_t)friction_count(x[i]) * sizeof *none);
    sr_friction_arguments(x[i], none, none, 0, 0, out + sr_sym_friction_numbers(e, i));
  }
}

enum { REST = 48 };
// Those that stay numbers: places and shapes.
static void other_numbers(const srModel* m, const srForceElement* e, double out[REST]) {
  memset(out, 0, REST * sizeof *out);
  double* at = out;
  const int points = e->law->port == SR_PORT_POINT ? 1 : 2;
  if (e->law->port == SR_PORT_POINT || e->law->port == SR_PORT_DISTANCE || e->law->port == SR_PORT_FRAMES)
    for (int k = 0; k < points; k++) memcpy(at + 16 * k, m->point_pose + 16 * e->point[k], 16 * sizeof *at);
  at += 32;
  *at++ = e->tau;
  const srSurfaceLaws* c = e->contact;
  if (c == NULL) return;
  *at++ = c->lever, *at++ = c->side, *at++ = c->end;
  for (int k = 0; k < 2 && c->pair; k++) {
    *at++ = c->radius[k];
    if (c->shape[k]) memcpy(at, c->shape[k]->convex.size, 3 * sizeof *at), at[3] = c->shape[k]->convex.radius;
    at += 4;
  }
  *at++ = c->patch ? c->patch->area : 0;
}

// ---- formulas -----------------------------------------------------------------------------------------------------------

static bool uses_sensors(const srGraph* g) {
  for (int i = 0; i < g->n; i++) {
    if (g->nodes[i].op == SR_OP_VAR && g->nodes[i].detail == SR_VAR_SENSOR) return true;
  }
  return false;
}

typedef struct Match {
  srPool* pool;
  const srModel* m;
  srSymSymbols* s;
  int n;
  const srSymOther* other;
  const char** fault;
  bool* enters;
} Match;

// Values of nodes at the parameters p.
static void values_of(const Match* x, const srNode* node, int n, const double* p, double* out) {
  const srCode* code = sr_code_create(x->pool, x->s->g, node, n);
  const double* input[SR_VAR_KINDS + 1] = {[SR_VAR_KINDS] = p};
  sr_code_evaluate(code, input, sr_pool_alloc(x->pool, (size_t)code->work * sizeof(double)), out);
}

// Parameters of formulas must be what the symbols say.
static void check_formulas(const Match* x) {
  const srGraph* g = x->m->priv->graph;
  for (int i = 0; i < g->nparam; i++) {
    const srNode mine = sr_graph_find_param(g, g->params[i]), symbol = sr_names_find(&x->s->names, g->params[i]);
    for (int k = 0; k < x->n; k++) {
      const srGraph* then = x->other[k].m->priv->graph;
      const srNode other = sr_graph_find_param(then, g->params[i]);
      double value = g->nodes[mine].value;
      if (symbol >= 0) values_of(x, &symbol, 1, x->other[k].p, &value);
      if (other < 0 || !same(value, then->nodes[other].value))
        x->fault[k] =
            sr_pool_printf(x->pool, "the parameter '%s' depends on it in a way that is not known here", g->params[i]);
      else if (x->m->nformula > 0 && !same(g->nodes[mine].value, then->nodes[other].value))
        x->enters[k] = true;
    }
  }
  for (int i = 0; i < x->m->nsensor && uses_sensors(g); i++) {
    const int point = x->m->sensor[i].point;
    for (int k = 0; k < x->n && point >= 0; k++) {
      for (int j = 0; j < 16; j++) {
        if (!same(x->m->point_pose[16 * point + j], x->other[k].m->point_pose[16 * point + j]))
          x->fault[k] = "the place of a sensor, which formulas may use, depends on it";
      }
    }
  }
}

// ---- elements -----------------------------------------------------------------------------------------------------------

// The formula that number j is a multiple of; SR_NO_NODE: none. now, then: values of the formulas.
static srNode explain(const Match* x, double number, const double* changed, const srNode* formula, int n,
                      const double* now, const double* then) {
  for (int i = 0; i < n; i++) {
    const double factor = number / now[i];
    bool good = now[i] != 0 && isfinite(factor);
    for (int k = 0; k < x->n && good; k++) good = same(factor * then[k * n + i], changed[k]);
    if (!good) continue;
    return same(factor, 1) ? formula[i] : srx_mul(x->s->g, srx_number(x->s->g, factor), formula[i]);
  }
  return SR_NO_NODE;
}

static void match_element(const Match* x, int i, srSymFormulas formulas, void* user) {
  const srForceElement* e = &x->m->force[i];
  const int count = count_of(e);
  double *now = sr_pool_alloc(x->pool, ((size_t)count + 1) * sizeof *now),
         *then = sr_pool_alloc(x->pool, ((size_t)(count * x->n) + 1) * sizeof *then),
         *changed = sr_pool_alloc(x->pool, ((size_t)x->n + 1) * sizeof *changed), rest[REST], others[REST];
  srNode formula[MOST_FORMULAS], *out = sr_pool_alloc(x->pool, ((size_t)count + 1) * sizeof *out);
  const int n = formulas(user, e->place, formula, MOST_FORMULAS);
  double *value = sr_pool_alloc(x->pool, ((size_t)n + 1) * sizeof *value),
         *values = sr_pool_alloc(x->pool, ((size_t)(n * x->n) + 1) * sizeof *values);
  x->s->element[i] = out;
  other_numbers(x->m, e, rest);
  law_numbers(x->pool, e, now);
  values_of(x, formula, n, x->s->value, value);
  for (int k = 0; k < x->n; k++) {
    const srForceElement* same_one = &x->other[k].m->force[i];
    const char* what = sr_pool_printf(
        x->pool, "the place or shape of the element '%s' depends on it, which stays a number", e->name ? e->name : "");
    values_of(x, formula, n, x->other[k].p, values + k * n);
    if (count_of(same_one) != count) {
      x->fault[k] = what;
      return;
    }
    law_numbers(x->pool, same_one, then + k * count);
    other_numbers(x->other[k].m, same_one, others);
    for (int j = 0; j < REST; j++) {
      if (!same(rest[j], others[j])) x->fault[k] = what;
    }
  }
  for (int j = 0; j < count; j++) {
    bool any = false;
    for (int k = 0; k < x->n; k++) changed[k] = then[k * count + j], any = any || !same(changed[k], now[j]);
    out[j] = any ? explain(x, now[j], changed, formula, n, value, values) : SR_NO_NODE;
    for (int k = 0; k < x->n && any; k++) {
      if (same(changed[k], now[j])) continue;
      x->enters[k] = true;
      if (out[j] == SR_NO_NODE)
        x->fault[k] =
            sr_pool_printf(x->pool, "a number of the element '%s' depends on it in a way that is not known here",
                           e->name ? e->name : "");
    }
  }
}

void sr_sym_element_symbols(srPool* pool, const srModel* m, srSymSymbols* s, int n, const srSymOther* other,
                            srSymFormulas formulas, void* user, const char** fault, bool* enters) {
  const Match x = {pool, m, s, n, other, fault, enters};
  s->element = sr_pool_alloc(pool, ((size_t)m->nforce + 1) * sizeof *s->element);
  for (int k = 0; k < n; k++) {
    const srModel* o = other[k].m;
    if (o->nforce != m->nforce || o->ny != m->ny || o->nq != m->nq || o->priv->graph->nparam != m->priv->graph->nparam)
      fault[k] = "the force elements depend on it";
    if (fault[k] != NULL) return;
    for (int i = 0; i < m->nq; i++) enters[k] = enters[k] || !same(m->q0[i], o->q0[i]);
    for (int i = 0; i < m->nv; i++) enters[k] = enters[k] || !same(m->v0[i], o->v0[i]);
    for (int i = 0; i < m->ny; i++) enters[k] = enters[k] || !same(m->y0[i], o->y0[i]);
  }
  check_formulas(&x);
  for (int i = 0; i < m->nforce; i++) match_element(&x, i, formulas, user);
}

srNode sr_sym_element_number(const srSymPass* x, const srForceElement* e, int at, double value) {
  const srSymSymbols* s = x->tree->symbols;
  const srNode node = s && s->element ? s->element[e - x->tree->m->force][at] : SR_NO_NODE;
  return node == SR_NO_NODE ? srx_number(x->g, value) : x->symbol[node];
}
